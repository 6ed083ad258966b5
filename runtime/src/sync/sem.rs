//! Semaphores. The count lies in the object, where glibc keeps it, also for children of this
//! process with which it is shared.

use super::destroyed::Kept;
use super::model::semaphore::Semaphore;
use super::model::verdict::Verdict;
use super::models::Models;
use super::{check_alive, conclude, conclude_with, pending, returning, shared};
use crate::gate::{self, Interrupt, Pending, Wake};
use crate::intercept;
use crate::time::{self, Clock};
use core::ffi::{c_int, c_uint};
use libc::{EINVAL, ETIMEDOUT, clockid_t, sem_t, timespec};
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

/// The word says whether other processes use it.
const OBJECT: Kept = Kept {
    what: "a semaphore",
    word: 8,
};

static MODELS: Models<Semaphore> = Models::new();

/// Forgets the semaphores in `from..to`.
pub fn forget(from: u64, to: u64) {
    MODELS.forget(from, to);
}

/// The count's word in glibc's `sem_t` on x86-64.
fn count(s: *mut sem_t) -> *mut c_uint {
    s.cast()
}

/// The model with the count that the object holds now.
///
/// # Safety
/// `s` points to a semaphore.
unsafe fn observe(s: *mut sem_t, pc: usize) -> &'static mut Semaphore {
    check_alive(OBJECT.what, s as u64, pc);
    let model = MODELS.entry(s as u64, || Semaphore {
        value: 0,
        waiting: 0,
    });
    // SAFETY: the caller's promise.
    model.value = unsafe { count(s).read() };
    model
}

fn ready(p: &Pending, _: Slot) -> bool {
    if crate::process::has_forked() {
        // A child may have posted. SAFETY: the program waits on a semaphore that exists.
        return unsafe { count(p.object as *mut sem_t).read_volatile() } > 0;
    }
    MODELS.get(p.object).is_none_or(|s| s.value > 0)
}

/// May another process use it?
///
/// # Safety
/// `s` points to a semaphore.
unsafe fn is_shared(s: *mut sem_t) -> bool {
    // SAFETY: within glibc's `sem_t` on x86-64.
    shared::in_use(unsafe { s.byte_add(OBJECT.word).cast::<c_int>().read() } != 0)
}

/// Takes one if there is one; where other processes do, too, what became of that is a fact.
///
/// # Safety
/// As [`is_shared`].
unsafe fn attempt(s: *mut sem_t, pc: usize) -> Verdict {
    // SAFETY: the caller's promise.
    let attempt = || unsafe { perform(s, pc, Semaphore::try_wait) };
    // SAFETY: as above.
    if !unsafe { is_shared(s) } {
        return attempt();
    }
    let taken = Verdict::Returns(0);
    match shared::attempt(|| attempt() == taken) {
        true => taken,
        false => Verdict::Returns(libc::EAGAIN),
    }
}

unsafe fn perform(s: *mut sem_t, pc: usize, change: impl Fn(&mut Semaphore) -> Verdict) -> Verdict {
    gate::writes(s as u64, size_of::<c_uint>() as u64);
    let verdict = loop {
        // SAFETY: the program's semaphore.
        let model = unsafe { observe(s, pc) };
        let before = model.value;
        let verdict = change(model);
        // SAFETY: as above.
        if unsafe { shared::replace_count(count(s), before, model.value) } {
            break verdict;
        }
    };
    gate::touch(s as u64);
    verdict
}

/// As [`super::conclude`], with the count in the record.
fn conclude_counted(kind: Kind, verdict: Verdict, object: u64, pc: usize) -> c_int {
    let count = MODELS.get(object).map_or(0, |model| model.value);
    if kind == Kind::SemTryWait {
        super::tried(verdict == Verdict::Returns(0), object);
    }
    conclude_with(count, kind, verdict, object, pc)
}

unsafe fn wait(s: *mut sem_t, kind: Kind, deadline: u64, pc: usize) -> c_int {
    let object = s as u64;
    // Who waits may go on after a post and a destruction. SAFETY: the program's semaphore, also
    // below.
    unsafe {
        OBJECT.check(object, pc);
        observe(s, pc).waiting += 1;
    }
    let code = loop {
        let wake = gate::point(Pending {
            deadline,
            ready,
            cancellable: true,
            interrupt: Interrupt::UnlessRestart,
            outside: crate::process::has_forked(),
            ..pending(kind, object, pc)
        });
        if wake == Wake::Cancelled {
            stops_waiting(object);
            crate::threads::cancel_now();
        }
        let (interrupted, record) = crate::io::interrupts_wait(wake == Wake::Ready);
        let verdict = match wake {
            Wake::Ready if interrupted => Verdict::Returns(libc::EINTR),
            // SAFETY: as above.
            Wake::Ready => unsafe { attempt(s, pc) },
            Wake::TimedOut | Wake::Cancelled => Verdict::Returns(ETIMEDOUT),
            Wake::Interrupted => Verdict::Returns(libc::EINTR),
        };
        // Another process may have been faster.
        let again = verdict == Verdict::Returns(libc::EAGAIN);
        let done = if again { Kind::SemTryWait } else { kind };
        let code = conclude_counted(done, verdict, object, pc);
        record.write();
        if !again {
            break code;
        }
    };
    stops_waiting(object);
    time::errno_result(code)
}

fn stops_waiting(object: u64) {
    if let Some(model) = MODELS.get(object) {
        model.waiting = model.waiting.saturating_sub(1);
    }
}

unsafe fn wait_until(s: *mut sem_t, clock: Option<Clock>, at: *const timespec, pc: usize) -> c_int {
    // SAFETY: the program's arguments.
    match clock.and_then(|clock| time::deadline(clock, unsafe { &*at })) {
        // SAFETY: as above.
        Some(deadline) => unsafe { wait(s, Kind::SemTimedWait, deadline, pc) },
        None => time::errno_result(EINVAL),
    }
}

unsafe fn try_wait(s: *mut sem_t, pc: usize) -> c_int {
    gate::simple(Kind::SemTryWait, s as u64, pc);
    // SAFETY: the program's semaphore.
    let verdict = unsafe {
        OBJECT.check(s as u64, pc);
        attempt(s, pc)
    };
    time::errno_result(conclude_counted(Kind::SemTryWait, verdict, s as u64, pc))
}

unsafe fn post(s: *mut sem_t, pc: usize) -> c_int {
    gate::simple(Kind::SemPost, s as u64, pc);
    // SAFETY: the program's semaphore.
    let verdict = unsafe {
        OBJECT.check(s as u64, pc);
        let verdict = perform(s, pc, Semaphore::post);
        shared::wake(count(s).cast());
        verdict
    };
    let result = conclude_counted(Kind::SemPost, verdict, s as u64, pc);
    time::errno_result(returning(result, pc))
}

unsafe fn get_value(s: *mut sem_t, into: *mut c_int, pc: usize) -> c_int {
    gate::simple(Kind::SemGetValue, s as u64, pc);
    // SAFETY: the program's semaphore and variable.
    unsafe {
        OBJECT.check(s as u64, pc);
        let mut value = observe(s, pc).value;
        if is_shared(s) {
            // Of a greater count only that it is one is a fact.
            let most = u32::from(gate::HIGHEST);
            match gate::fact(|wanted| wanted.unwrap_or(value.min(most) as u16)) {
                gate::HIGHEST => {}
                fact => value = fact.into(),
            }
            gate::changed();
        }
        gate::saw(s as u64, size_of::<u32>() as u32, value.into());
        gate::log(Kind::SemGetValue, s as u64, u64::from(value), pc);
        into.write(value as c_int);
    }
    0
}

unsafe fn init(s: *mut sem_t, pc: usize, initialise: impl FnOnce() -> c_int) -> c_int {
    gate::renews(s as u64, size_of::<sem_t>(), pc);
    check_alive(OBJECT.what, s as u64, pc);
    let code = super::initialising(s as u64, size_of::<sem_t>(), pc, initialise);
    if code == 0 {
        // SAFETY: the program's semaphore. Threads that wait stay counted.
        let model = unsafe { observe(s, pc) };
        super::initialised(s as u64, model.value.into());
        super::note(Kind::SemInit, s as u64, pc);
        gate::touch(s as u64);
    }
    code
}

unsafe fn destroy(s: *mut sem_t, pc: usize) -> c_int {
    let object = s as u64;
    gate::simple(Kind::SemDestroy, object, pc);
    // SAFETY: the program's semaphore.
    let verdict = unsafe {
        OBJECT.check(object, pc);
        observe(s, pc).destroy()
    };
    let code = conclude(Kind::SemDestroy, verdict, object, pc);
    MODELS.remove(object);
    // SAFETY: as above.
    unsafe {
        if !is_shared(s) {
            OBJECT.bury(object);
        }
    }
    code
}

intercept! {
    fn sem_init(s: *mut sem_t, shared: c_int, value: c_uint) -> c_int,
        pc => init(s, pc, || real::sem_init(s, shared, value));
    fn sem_destroy(s: *mut sem_t) -> c_int, pc => destroy(s, pc);
    fn sem_wait(s: *mut sem_t) -> c_int, pc => wait(s, Kind::SemWait, 0, pc);
    fn sem_trywait(s: *mut sem_t) -> c_int, pc => try_wait(s, pc);
    fn sem_timedwait(s: *mut sem_t, at: *const timespec) -> c_int,
        pc => wait_until(s, Some(Clock::Wall), at, pc);
    fn sem_clockwait(s: *mut sem_t, clock: clockid_t, at: *const timespec) -> c_int,
        pc => wait_until(s, Clock::for_waiting(clock), at, pc);
    fn sem_post(s: *mut sem_t) -> c_int, pc => post(s, pc);
    fn sem_getvalue(s: *mut sem_t, into: *mut c_int) -> c_int, pc => get_value(s, into, pc);
}
