//! OpenMP's locks, critical sections, and gcc's lock for atomic constructs: mutexes of their own,
//! whose library functions are never called.

#![allow(non_snake_case, reason = "the names are the libraries' own")]

use crate::gate::{self, Pending};
use crate::intercept;
use crate::sync::models::Models;
use crate::sync::{check_alive, misuse, nobody, pending, tried};
use core::ffi::{c_int, c_void};
use core::sync::atomic::AtomicU32;
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};

const WHAT: &str = "an OpenMP lock";

/// One lock. It may be held only by a thread, as often as `depth` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock {
    owner: Slot,
    depth: c_int,
    taken_at: usize,
}

const FREE: Lock = Lock {
    owner: slot::NONE,
    depth: 0,
    taken_at: 0,
};

impl Lock {
    /// May `who` take it now?
    fn open_to(&self, who: Slot, nests: bool) -> bool {
        self.owner == slot::NONE || nests && self.owner == who
    }

    /// How deep `who` holds it then; 0 if it is another's.
    fn take(&mut self, who: Slot, nests: bool, pc: usize) -> c_int {
        if !self.open_to(who, nests) {
            return 0;
        }
        if self.depth == 0 {
            self.taken_at = pc;
        }
        self.owner = who;
        self.depth += 1;
        self.depth
    }

    /// `who` gives it back once: false if it does not hold it.
    fn give(&mut self, who: Slot) -> bool {
        if self.owner != who || self.depth == 0 {
            return false;
        }
        self.depth -= 1;
        if self.depth == 0 {
            *self = FREE;
        }
        true
    }
}

static LOCKS: Models<Lock> = Models::new();

/// Forgets the locks in `from..to`.
pub fn forget(from: u64, to: u64) {
    LOCKS.forget(from, to);
}

fn held_by(p: &Pending) -> (Slot, usize) {
    match LOCKS.get(p.object) {
        Some(l) if l.owner != slot::NONE => (l.owner, l.taken_at),
        _ => nobody(p),
    }
}

/// Waits for the lock at `object` and takes it.
fn set(object: u64, nests: bool, pc: usize) {
    check_alive(WHAT, object, pc);
    let ready: fn(&Pending, Slot) -> bool = match nests {
        true => |p, s| LOCKS.get(p.object).is_none_or(|l| l.open_to(s, true)),
        false => |p, s| LOCKS.get(p.object).is_none_or(|l| l.open_to(s, false)),
    };
    gate::point(Pending {
        ready,
        holder: held_by,
        ..pending(Kind::MutexLock, object, pc)
    });
    take(Kind::MutexLock, object, nests, pc);
}

/// Tries to take it: the depth, or 0.
fn test(object: u64, nests: bool, pc: usize) -> c_int {
    check_alive(WHAT, object, pc);
    gate::simple(Kind::MutexTryLock, object, pc);
    take(Kind::MutexTryLock, object, nests, pc)
}

fn take(kind: Kind, object: u64, nests: bool, pc: usize) -> c_int {
    let depth = LOCKS.entry(object, || FREE).take(gate::me(), nests, pc);
    let result = if depth == 0 { libc::EBUSY } else { 0 };
    show(object);
    if kind == Kind::MutexTryLock {
        tried(depth != 0, object);
    }
    gate::touch(object);
    gate::log(kind, object, result as u64, pc);
    depth
}

/// Writes into the object's first word whether the lock is held, for threads that wait in loops.
fn show(object: u64) {
    let held = LOCKS.get(object).is_some_and(|l| l.owner != slot::NONE);
    // SAFETY: the program's lock, which only the calls here use, or one of the two below.
    unsafe { (object as *mut u32).write_volatile(u32::from(held)) };
}

fn unset(object: u64, pc: usize) {
    check_alive(WHAT, object, pc);
    gate::simple(Kind::MutexUnlock, object, pc);
    let given = LOCKS.entry(object, || FREE).give(gate::me());
    show(object);
    gate::touch(object);
    gate::log(Kind::MutexUnlock, object, 0, pc);
    if !given {
        misuse(
            "an OpenMP lock was released by a thread that does not hold it",
            object,
            pc,
        );
    }
    gate::returns(pc);
}

fn destroy(object: u64, pc: usize) {
    check_alive(WHAT, object, pc);
    if LOCKS.remove(object).is_some_and(|l| l.owner != slot::NONE) {
        misuse("an OpenMP lock was destroyed while it was held", object, pc);
    }
}

/// A new lock; memory that held another one begins a new life.
fn init(object: u64, pc: usize) {
    check_alive(WHAT, object, pc);
    LOCKS.remove(object);
    show(object);
    gate::touch(object);
}

/// Stand for sections without an object of their own.
static CRITICAL: AtomicU32 = AtomicU32::new(0);
static ATOMIC: AtomicU32 = AtomicU32::new(0);

fn critical() -> u64 {
    &raw const CRITICAL as u64
}

fn atomic() -> u64 {
    &raw const ATOMIC as u64
}

type Object = *mut c_void;

intercept! {
    fn omp_init_lock(l: Object) -> (), pc => init(l as u64, pc);
    fn omp_init_lock_with_hint(l: Object, hint: c_int) -> (), pc => init(l as u64, pc);
    fn omp_destroy_lock(l: Object) -> (), pc => destroy(l as u64, pc);
    fn omp_set_lock(l: Object) -> (), pc => set(l as u64, false, pc);
    fn omp_unset_lock(l: Object) -> (), pc => unset(l as u64, pc);
    fn omp_test_lock(l: Object) -> c_int, pc => test(l as u64, false, pc);
    fn omp_init_nest_lock(l: Object) -> (), pc => init(l as u64, pc);
    fn omp_init_nest_lock_with_hint(l: Object, hint: c_int) -> (), pc => init(l as u64, pc);
    fn omp_destroy_nest_lock(l: Object) -> (), pc => destroy(l as u64, pc);
    fn omp_set_nest_lock(l: Object) -> (), pc => { set(l as u64, true, pc); };
    fn omp_unset_nest_lock(l: Object) -> (), pc => unset(l as u64, pc);
    fn omp_test_nest_lock(l: Object) -> c_int, pc => test(l as u64, true, pc);

    fn GOMP_critical_start() -> (), pc => set(critical(), false, pc);
    fn GOMP_critical_end() -> (), pc => unset(critical(), pc);
    fn GOMP_critical_name_start(name: Object) -> (), pc => set(name as u64, false, pc);
    fn GOMP_critical_name_end(name: Object) -> (), pc => unset(name as u64, pc);
    fn GOMP_atomic_start() -> (), pc => set(atomic(), false, pc);
    fn GOMP_atomic_end() -> (), pc => unset(atomic(), pc);

    fn __kmpc_critical(place: Object, thread: i32, name: Object) -> (), pc =>
        set(name as u64, false, pc);
    fn __kmpc_critical_with_hint(place: Object, thread: i32, name: Object, hint: u32) -> (), pc =>
        set(name as u64, false, pc);
    fn __kmpc_end_critical(place: Object, thread: i32, name: Object) -> (), pc =>
        unset(name as u64, pc);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_belongs_to_one_thread() {
        let mut lock = FREE;
        assert_eq!(lock.take(1, false, 7), 1);
        assert_eq!((lock.take(2, false, 8), lock.take(1, false, 9)), (0, 0));
        assert_eq!((lock.give(2), lock.taken_at), (false, 7));
        assert!(lock.give(1) && !lock.give(1));
        assert_eq!(lock, FREE);
    }

    #[test]
    fn a_nestable_lock_counts() {
        let mut lock = FREE;
        assert_eq!((lock.take(1, true, 7), lock.take(1, true, 8)), (1, 2));
        assert_eq!(lock.take(2, true, 9), 0);
        assert!(lock.give(1) && lock.owner == 1 && lock.give(1));
        assert_eq!(lock.take(2, true, 9), 1);
    }
}
