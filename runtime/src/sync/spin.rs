//! Spinlocks: a thread that would spin waits instead.

use super::destroyed::Kept;
use super::model::spin::{Spin, says};
use super::model::verdict::Verdict;
use super::models::Models;
use super::{check_alive, conclude, misuse, pending, returning};
use crate::gate::{self, Pending};
use crate::intercept;
use core::ffi::c_int;
use libc::pthread_spinlock_t;
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};

const OBJECT: Kept = Kept {
    what: "a spinlock",
    word: 0,
};
/// What glibc keeps in a free spinlock on x86-64; anything less is a held one.
pub const FREE: c_int = 1;
const HELD: c_int = 0;

static MODELS: Models<Spin> = Models::new();

/// Forgets the locks in `from..to`.
pub fn forget(from: u64, to: u64) {
    MODELS.forget(from, to);
}

/// Does `who` hold one?
pub fn holds_any(who: Slot) -> bool {
    let mut any = false;
    MODELS.table().for_each(|_, lock| any |= lock.owner == who);
    any
}

/// The model of the lock as its word shows it now.
///
/// # Safety
/// `l` points to a spinlock.
unsafe fn observe(l: *mut pthread_spinlock_t, pc: usize) -> &'static mut Spin {
    let object = l as u64;
    // SAFETY: the caller's promise, also below.
    unsafe { OBJECT.check(object, pc) };
    let model = MODELS.entry(object, || Spin::FREE);
    // SAFETY: as above.
    let free = unsafe { l.read() } == FREE;
    match (model.held(), free) {
        (true, true) => *model = Spin::FREE,
        // Locked before threads were controlled, when main was the only one.
        (false, false) => model.owner = slot::MAIN,
        _ => {}
    }
    model
}

fn ready(p: &Pending, _: Slot) -> bool {
    MODELS.get(p.object).is_none_or(|l| !l.held())
}

fn holder(p: &Pending) -> (Slot, usize) {
    match MODELS.get(p.object) {
        Some(l) if l.held() => (l.owner, l.taken_at),
        _ => super::nobody(p),
    }
}

unsafe fn perform(
    l: *mut pthread_spinlock_t,
    kind: Kind,
    pc: usize,
    change: impl FnOnce(&mut Spin, Slot) -> Verdict,
) -> c_int {
    // SAFETY: the caller passes the program's lock, here and below.
    let model = unsafe { observe(l, pc) };
    let verdict = change(model, gate::me());
    gate::writes(l as u64, size_of::<pthread_spinlock_t>() as u64);
    // SAFETY: as above.
    unsafe { l.write(if model.held() { HELD } else { FREE }) };
    gate::touch(l as u64);
    conclude(kind, verdict, l as u64, pc)
}

unsafe fn lock(l: *mut pthread_spinlock_t, pc: usize) -> c_int {
    // SAFETY: the caller passes the program's lock, here and below.
    unsafe { observe(l, pc) };
    gate::point(Pending {
        ready,
        holder,
        ..pending(Kind::SpinLock, l as u64, pc)
    });
    // SAFETY: as above.
    unsafe { perform(l, Kind::SpinLock, pc, |model, me| model.try_lock(me, pc)) }
}

unsafe fn try_lock(l: *mut pthread_spinlock_t, pc: usize) -> c_int {
    gate::simple(Kind::SpinTryLock, l as u64, pc);
    // SAFETY: the program's lock.
    unsafe { perform(l, Kind::SpinTryLock, pc, |model, me| model.try_lock(me, pc)) }
}

unsafe fn unlock(l: *mut pthread_spinlock_t, pc: usize) -> c_int {
    gate::simple(Kind::SpinUnlock, l as u64, pc);
    // SAFETY: the program's lock.
    let result = unsafe { perform(l, Kind::SpinUnlock, pc, |model, me| model.unlock(me)) };
    returning(result, pc)
}

unsafe fn init(l: *mut pthread_spinlock_t, pc: usize) -> c_int {
    gate::renews(l as u64, size_of::<pthread_spinlock_t>(), pc);
    check_alive(OBJECT.what, l as u64, pc);
    MODELS.remove(l as u64);
    super::begins(l as u64);
    super::initialising(l as u64, size_of::<pthread_spinlock_t>(), pc, || {
        // SAFETY: the program's lock.
        unsafe { l.write(FREE) }
    });
    super::note(Kind::SpinInit, l as u64, pc);
    gate::touch(l as u64);
    0
}

unsafe fn destroy(l: *mut pthread_spinlock_t, pc: usize) -> c_int {
    let object = l as u64;
    gate::simple(Kind::SpinDestroy, object, pc);
    // SAFETY: the program's lock, also below.
    let held = unsafe { observe(l, pc) }.held();
    let code = conclude(Kind::SpinDestroy, Verdict::Returns(0), object, pc);
    if held {
        misuse(says::DESTROYED_HELD, object, pc);
    }
    MODELS.remove(object);
    // SAFETY: as above.
    unsafe { OBJECT.bury(object) };
    code
}

intercept! {
    fn pthread_spin_init(l: *mut pthread_spinlock_t, shared: c_int) -> c_int, pc => init(l, pc);
    fn pthread_spin_destroy(l: *mut pthread_spinlock_t) -> c_int, pc => destroy(l, pc);
    fn pthread_spin_lock(l: *mut pthread_spinlock_t) -> c_int, pc => lock(l, pc);
    fn pthread_spin_trylock(l: *mut pthread_spinlock_t) -> c_int, pc => try_lock(l, pc);
    fn pthread_spin_unlock(l: *mut pthread_spinlock_t) -> c_int, pc => unlock(l, pc);
}
