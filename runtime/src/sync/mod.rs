//! Models of the synchronisation objects: the real primitive is never waited on.
//!
//! A model's state lives in a [`crate::objects::Table`], keyed by the object's address. The object
//! itself is kept as the C library would write it, as far as the models need it to notice that
//! memory begins a new life: an object whose bytes say "free" is free, whatever an object that
//! lay there before and was never destroyed had been through; and one that was locked before the
//! models took over is found locked.

pub mod barrier;
pub mod cond;
mod destroyed;
mod guards;
pub mod model;
pub mod models;
pub mod mutex;
mod named;
pub mod once;
pub mod rwlock;
pub mod sem;
mod shared;
pub mod spin;
mod spurious;

use crate::access;
use crate::gate::{self, Fatal, Interrupt, Pending};
use crate::heap::{self, Fault, Operation};
use crate::serial::Serial;
use crate::shadow::one_body;
use core::ffi::c_int;
use libc::ETIMEDOUT;
use model::queue::Waiters;
use model::verdict::Verdict;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// The places of all threads in the queues of conditions, barriers and futexes.
pub static WAITERS: Serial<Waiters> = Serial::new(Waiters::new());

/// A heap block was freed: forget the objects inside it.
pub fn block_freed(address: u64, len: u64) {
    let end = address + len;
    if !models::may_hold(address, end) {
        return;
    }
    mutex::forget(address, end);
    cond::forget(address, end);
    rwlock::forget(address, end);
    barrier::forget(address, end);
    sem::forget(address, end);
    spin::forget(address, end);
    once::forget(address, end);
    crate::openmp::forget(address, end);
    crate::futex::forget(address, end);
}

/// Does `who` hold a lock?
pub fn holds_any_lock(who: Slot) -> bool {
    mutex::holds_any(who) || rwlock::holds_any(who) || spin::holds_any(who)
}

/// [`Pending::ready`] of an operation that can always complete.
pub fn always(_: &Pending, _: Slot) -> bool {
    true
}

/// [`Pending::ready`] of a wait that only time or [`gate::amend`] ends.
pub fn never(_: &Pending, _: Slot) -> bool {
    false
}

/// [`Pending::holder`] where nobody is to blame.
pub fn nobody(_: &Pending) -> (Slot, usize) {
    (slot::NONE, 0)
}

/// `aux` of the records of an announced operation, where it is known before.
pub fn announced_aux(p: &Pending) -> u32 {
    match p.kind {
        Kind::RwRead | Kind::RwWrite => rwlock::record_aux(p),
        _ => 0,
    }
}

/// `aux` of the record of an unlock of the read-write lock by `who`.
pub fn unlock_aux(object: u64, who: Slot) -> u32 {
    rwlock::unlock_aux(object, who)
}

/// In a symbolic run: the record of an object that is initialised with this content.
pub fn initialised(object: u64, content: u64) {
    if gate::flags() & flags::SYMBOLIC != 0 {
        gate::log(Kind::Init, object, content, 0);
    }
}

/// The record of an initialisation, or another one that is no step, by the call at `pc`.
pub fn note(kind: Kind, object: u64, pc: usize) {
    gate::note(Event {
        kind: kind as u8,
        object,
        pc: pc as u64,
        ..Event::default()
    });
}

/// Lets the C library initialise an object of so many bytes, by `initialise`. In a symbolic run these are
/// written as others are: the program may keep other things there.
fn initialising<R>(object: u64, bytes: usize, pc: usize, initialise: impl FnOnce() -> R) -> R {
    gate::writes(object, bytes as u64);
    one_body::written_by(object, bytes as u64, pc, initialise)
}

/// [`initialised`] for an object without a count.
fn begins(object: u64) {
    if gate::flags() & flags::SYMBOLIC != 0 {
        gate::log_full(Event {
            kind: Kind::Init as u8,
            aux: 1,
            object,
            ..Event::default()
        });
    }
}

/// An operation that never ends by itself, to be filled in.
pub fn pending(kind: Kind, object: u64, pc: usize) -> Pending {
    Pending {
        kind,
        object,
        pc,
        aux: 0,
        deadline: 0,
        ready: never,
        holder: nobody,
        cancellable: false,
        interrupt: Interrupt::Never,
        outside: false,
    }
}

/// Whose is a lock that was found held: that of the thread whose id it carries (a held lock that
/// was moved), or main's, which was the only thread before threads were controlled.
pub fn adopted_from(id: libc::pid_t) -> Slot {
    crate::numbers::slot_of(id)
        .filter(|&s| gate::state(s) == gate::State::Alive)
        .unwrap_or(slot::MAIN)
}

/// The program used `object` wrongly: ends the execution.
pub fn misuse(message: &str, object: u64, pc: usize) -> ! {
    misuse_of(message, "", object, pc)
}

/// As [`misuse`], where two texts make the message.
fn misuse_of(what: &str, how: &str, object: u64, pc: usize) -> ! {
    let space = if how.is_empty() { "" } else { " " };
    gate::finish(Fatal {
        end: End::Misuse,
        code: 0,
        message: format_args!("{what}{space}{how}"),
        detail: [object, 0, 0, 0],
        pc,
        stack: true,
    })
}

/// A use of an object inside a freed heap block, behind the end of one, or on the stack of a thread that has
/// ended, ends the execution. `what`: the kind of object, with its article.
pub fn check_alive(what: &str, object: u64, pc: usize) {
    if let Some(whose) = access::ended_owner(object) {
        let how = format_args!("{what} was used");
        access::ended_stack(how, object, whose, pc);
    }
    if let Err(fault) = heap::check_access(object, WORD) {
        in_no_block(what, object, fault, pc);
    }
}

/// Every object has so many bytes at least.
const WORD: u64 = size_of::<u32>() as u64;

#[cold]
fn in_no_block(what: &str, object: u64, fault: Fault, pc: usize) -> ! {
    if let Some(freed) = heap::freed_block(object) {
        gate::finish(Fatal {
            end: End::UseAfterFree,
            code: 0,
            message: format_args!("{what} was used in memory that had been freed"),
            detail: [
                object,
                freed.block,
                freed.pc as u64,
                u64::from(freed.thread),
            ],
            pc,
            stack: true,
        })
    }
    let operation = Operation::Access {
        name: "an operation on an object",
        address: object,
        size: WORD,
    };
    heap::report(fault, operation, pc)
}

/// An attempt on `object`, whose first word shows whether another one would end otherwise.
pub fn tried(succeeded: bool, object: u64) {
    if succeeded {
        gate::changed();
    } else {
        // SAFETY: the program's object, which begins with its state.
        let word = unsafe { (object as *const u32).read_volatile() };
        gate::saw(object, size_of::<u32>() as u32, u64::from(word));
        gate::found_held(object);
    }
}

/// An attempt on a lock that was free ended so; `free`: what its first word is then.
fn tried_lock(result: u64, object: u64, free: u32) {
    match result as c_int {
        0 => gate::took(object, free),
        // It is another lock from now on.
        libc::EOWNERDEAD => gate::changed(),
        _ => tried(false, object),
    }
}

/// An attempt on a read-write lock ended so. Where a writer kept it out, another one may end
/// otherwise when the lock's first word is another one; where readers did, that word may change, and
/// change back, by steps that nothing orders against the attempt.
fn tried_rwlock(result: u64, object: u64) {
    // SAFETY: the program's lock, which begins with its state.
    let word = unsafe { (object as *const u32).read_volatile() };
    match result as c_int {
        libc::EBUSY if word & rwlock::WRITER != 0 => {
            gate::saw(object, size_of::<u32>() as u32, u64::from(word));
        }
        _ => gate::changed(),
    }
}

/// What the call returns, or the end of the execution.
pub fn settle(verdict: Verdict, object: u64, pc: usize) -> c_int {
    match verdict {
        Verdict::Returns(code) => code,
        Verdict::Misuse(message) => misuse(message, object, pc),
    }
}

/// The result of an operation that lets others go on; see [`gate::returns`].
pub fn returning(result: c_int, pc: usize) -> c_int {
    gate::returns(pc);
    result
}

/// As [`settle`], after writing the record of the step: `value` is the result.
pub fn conclude(kind: Kind, verdict: Verdict, object: u64, pc: usize) -> c_int {
    let code = result(&verdict);
    match kind {
        Kind::MutexTryLock => tried_lock(code, object, 0),
        Kind::SpinTryLock => tried_lock(code, object, spin::FREE as u32),
        Kind::RwTryRead | Kind::RwTryWrite => tried_rwlock(code, object),
        // Whoever holds it may only wait in a loop.
        Kind::MutexTimedLock if code == ETIMEDOUT as u64 => gate::found_held(object),
        _ => {}
    }
    conclude_with(0, kind, verdict, object, pc)
}

/// The result that a verdict stands for in the record of a step.
fn result(verdict: &Verdict) -> u64 {
    match *verdict {
        Verdict::Returns(code) => code as u64,
        Verdict::Misuse(_) => 0,
    }
}

/// As [`settle`], after writing the record of the step with `aux`.
pub fn conclude_with(aux: u32, kind: Kind, verdict: Verdict, object: u64, pc: usize) -> c_int {
    gate::log_full(Event {
        kind: kind as u8,
        aux,
        object,
        value: result(&verdict),
        pc: pc as u64,
        ..Event::default()
    });
    settle(verdict, object, pc)
}
