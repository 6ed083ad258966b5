//! Read-write locks.

use super::destroyed::Kept;
use super::model::rwlock::{Reader, Readers, RwLock, says};
use super::model::verdict::{DONE, Verdict};
use super::models::Models;
use super::{
    adopted_from, check_alive, conclude, conclude_with, misuse, pending, returning, shared,
};
use crate::gate::{self, Pending, Wake};
use crate::numbers::of as thread_id;
use crate::serial::Serial;
use crate::time::{self, Clock};
use crate::{export, intercept, os};
use core::ffi::{c_int, c_uint};
use libc::{
    EAGAIN, EBUSY, EINVAL, ETIMEDOUT, clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec,
};
use raddle_protocol::event::{Kind, RW_READ, RW_TIMED, RW_WRITERS_FIRST};
use raddle_protocol::{Slot, slot};

/// The word is the first one of `padding`.
const OBJECT: Kept = Kept {
    what: "a read-write lock",
    word: 16,
};

/// How many pairs of a reading thread and a lock there can be at a time.
const RECORDS: usize = 1 << 20;

/// glibc's `pthread_rwlock_t` on x86-64.
#[repr(C)]
struct Native {
    readers: c_uint,
    writers: c_uint,
    phase: c_uint,
    queue: c_uint,
    padding: [c_uint; 2],
    writer: c_int,
    shared: c_int,
    more: [u64; 2],
    flags: c_uint,
}

/// Where glibc's count of readers begins in `readers`.
const READER: u32 = 3;
/// Of `readers`: somebody writes, or waits to and bars readers.
pub const WRITER: u32 = 2;
/// The value of `flags` that lets waiting writers bar new readers.
const WRITERS_FIRST: c_uint = 2;

static MODELS: Models<RwLock> = Models::new();
static READERS: Serial<Option<Readers<'static>>> = Serial::new(None);

/// Not to be kept over a switch.
fn readers() -> &'static mut Readers<'static> {
    // SAFETY: the running thread; no reference is kept over a switch.
    unsafe { READERS.get() }.get_or_insert_with(|| {
        let memory = os::map_memory(RECORDS * size_of::<Reader>()).cast::<Reader>();
        // SAFETY: fresh memory of this size; all-zero bytes are a record.
        Readers::new(unsafe { core::slice::from_raw_parts_mut(memory, RECORDS) })
    })
}

/// Reserves the memory of [`READERS`] before the process is cloned.
pub fn prepare() {
    readers();
}

/// Forgets the locks in `from..to`.
pub fn forget(from: u64, to: u64) {
    MODELS
        .table()
        .remove_range(from, to, |_, mut lock| readers().clear(&mut lock));
}

/// Does `who` hold one?
pub fn holds_any(who: Slot) -> bool {
    let mut any = false;
    MODELS.table().for_each(|_, lock| {
        let reads = || readers().some(lock, who).is_some_and(|it| it.who == who);
        any |= lock.writer == who || reads();
    });
    any
}

impl Native {
    /// # Safety
    /// `l` points to a lock.
    unsafe fn of<'a>(l: *mut pthread_rwlock_t) -> &'a mut Native {
        // SAFETY: the caller's promise; the layout is glibc's.
        unsafe { &mut *l.cast::<Native>() }
    }

    /// Writes something of the kind that glibc would have written.
    fn mirror(&mut self, model: &RwLock) {
        self.readers = model.reading << READER;
        if model.writer != slot::NONE || model.writers_waiting > 0 {
            self.readers |= WRITER;
        }
        self.writer = match model.writer {
            slot::NONE => 0,
            writer => thread_id(writer),
        };
    }
}

/// The model of the lock as its bytes show it now.
///
/// # Safety
/// As [`Native::of`].
unsafe fn observe(l: *mut pthread_rwlock_t, pc: usize) -> &'static mut RwLock {
    let object = l as u64;
    // SAFETY: the caller's promise, also below.
    unsafe { OBJECT.check(object, pc) };
    // SAFETY: as above.
    let native = unsafe { Native::of(l) };
    let model = MODELS.entry(object, || RwLock::FREE);
    let reading = native.readers >> READER;
    match (model.held(), native.writer != 0 || reading != 0) {
        (true, false) => {
            readers().clear(model);
            model.writer = slot::NONE;
        }
        (false, true) if native.writer != 0 => model.writer = adopted_from(native.writer),
        // Locked before threads were controlled, when main was the only one.
        (false, true) => {
            for _ in 0..reading {
                model.read(readers(), slot::MAIN, 0);
            }
        }
        _ => {}
    }
    model
}

fn may_read(p: &Pending, who: Slot) -> bool {
    MODELS
        .get(p.object)
        .is_none_or(|l| l.may_read(who, p.aux & 1 != 0))
}

fn may_write(p: &Pending, who: Slot) -> bool {
    MODELS.get(p.object).is_none_or(|l| l.may_write(who))
}

/// What the pending operation needs to know: who waits, and whether writers come first.
fn aux(who: Slot, writers_first: bool) -> u64 {
    u64::from(who) << 1 | u64::from(writers_first)
}

/// `aux` of its record: see [`Kind::RwRead`].
pub fn record_aux(p: &Pending) -> u32 {
    let timed = if p.deadline != 0 { RW_TIMED } else { 0 };
    let first = if p.aux & 1 != 0 { RW_WRITERS_FIRST } else { 0 };
    timed | first
}

/// `aux` of the record of an unlock by `who`: see [`Kind::RwUnlock`].
pub fn unlock_aux(object: u64, who: Slot) -> u32 {
    let reads = |l: &mut RwLock| {
        l.writer == slot::NONE && readers().some(l, who).is_some_and(|r| r.who == who)
    };
    if MODELS.get(object).is_some_and(reads) {
        RW_READ
    } else {
        0
    }
}

/// The writer, or one of the readers; the one who waits itself, if it reads.
fn holder(p: &Pending) -> (Slot, usize) {
    match MODELS.get(p.object) {
        Some(l) if l.writer != slot::NONE => (l.writer, l.taken_at),
        Some(l) => readers()
            .some(l, (p.aux >> 1) as Slot)
            .map_or((slot::NONE, 0), |r| (r.who, r.taken_at)),
        None => super::nobody(p),
    }
}

/// Applies `change` to the lock at the instant of the running thread's step.
///
/// # Safety
/// As [`Native::of`].
unsafe fn perform(
    l: *mut pthread_rwlock_t,
    pc: usize,
    change: impl FnOnce(&mut RwLock, &mut Readers<'static>, Slot) -> Verdict,
) -> Verdict {
    // SAFETY: the caller's promise.
    let model = unsafe { observe(l, pc) };
    let verdict = change(model, readers(), gate::me());
    gate::writes(l as u64, size_of::<Native>() as u64);
    // SAFETY: as above.
    unsafe { Native::of(l) }.mirror(model);
    gate::touch(l as u64);
    verdict
}

/// How many writers wait and bar readers.
///
/// # Safety
/// As [`Native::of`].
unsafe fn count_waiting(l: *mut pthread_rwlock_t, pc: usize, change: impl FnOnce(u32) -> u32) {
    // SAFETY: the caller's promise, also below.
    let model = unsafe { observe(l, pc) };
    model.writers_waiting = change(model.writers_waiting);
    gate::writes(l as u64, size_of::<Native>() as u64);
    // SAFETY: as above.
    unsafe { Native::of(l) }.mirror(model);
}

fn enter(model: &mut RwLock, readers: &mut Readers, me: Slot, write: bool, pc: usize) -> Verdict {
    Verdict::Returns(if write {
        model.write(me, pc)
    } else {
        model.read(readers, me, pc).unwrap_or(EAGAIN)
    })
}

/// Is the lock one that other processes use, and that none of our threads took before they did?
///
/// # Safety
/// As [`Native::of`].
unsafe fn is_foreign(l: *mut pthread_rwlock_t) -> bool {
    // SAFETY: the caller's promise.
    let used = shared::in_use(unsafe { Native::of(l) }.shared != 0);
    used && MODELS.get(l as u64).is_none_or(|model| !model.held())
}

/// The C library's attempt.
///
/// # Safety
/// As [`Native::of`].
unsafe fn attempt(l: *mut pthread_rwlock_t, write: bool) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match write {
            true => real::pthread_rwlock_trywrlock(l),
            false => real::pthread_rwlock_tryrdlock(l),
        }
    }
}

fn try_kind(write: bool) -> Kind {
    match write {
        true => Kind::RwTryWrite,
        false => Kind::RwTryRead,
    }
}

/// Locks; `deadline`: virtual nanoseconds, 0: waits for ever.
///
/// # Safety
/// As [`Native::of`].
unsafe fn lock(l: *mut pthread_rwlock_t, write: bool, deadline: u64, pc: usize) -> c_int {
    let object = l as u64;
    let kind = if write { Kind::RwWrite } else { Kind::RwRead };
    // SAFETY: the caller's promise.
    if unsafe { is_foreign(l) } {
        let kinds = [kind, try_kind(write)];
        // SAFETY: the program's lock.
        let code = shared::until(kinds, object, deadline, pc, || unsafe { attempt(l, write) });
        return conclude(kind, Verdict::Returns(code), object, pc);
    }
    // SAFETY: the caller's promise, also below.
    let writers_first = unsafe { Native::of(l) }.flags == WRITERS_FIRST;
    // SAFETY: as above.
    unsafe { observe(l, pc) };
    // That a writer waits bars others, so to begin to wait is a step.
    let queues = write && writers_first;
    if queues {
        gate::simple(Kind::RwQueue, object, pc);
        // SAFETY: as above.
        unsafe { count_waiting(l, pc, |n| n + 1) };
        gate::touch(object);
        conclude(Kind::RwQueue, DONE, object, pc);
    }
    let announced = Pending {
        aux: aux(gate::me(), writers_first),
        deadline,
        ready: if write { may_write } else { may_read },
        holder,
        ..pending(kind, object, pc)
    };
    let wake = gate::point(announced);
    if queues {
        // SAFETY: as above.
        unsafe { count_waiting(l, pc, |n| n.saturating_sub(1)) };
    }
    let verdict = match wake {
        Wake::Ready => {
            // SAFETY: as above.
            unsafe {
                perform(l, pc, |model, readers, me| {
                    enter(model, readers, me, write, pc)
                })
            }
        }
        _ => {
            gate::touch(object);
            Verdict::Returns(ETIMEDOUT)
        }
    };
    conclude_with(record_aux(&announced), kind, verdict, object, pc)
}

unsafe fn try_lock(l: *mut pthread_rwlock_t, write: bool, pc: usize) -> c_int {
    let kind = try_kind(write);
    gate::simple(kind, l as u64, pc);
    // SAFETY: the program's lock.
    if unsafe { is_foreign(l) } {
        // SAFETY: as above.
        let code = shared::attempt_native(|| unsafe { attempt(l, write) });
        gate::changed();
        return conclude(kind, Verdict::Returns(code), l as u64, pc);
    }
    // SAFETY: the program's lock, also below.
    let writers_first = unsafe { Native::of(l) }.flags == WRITERS_FIRST;
    // SAFETY: as above.
    let verdict = unsafe {
        perform(l, pc, |model, readers, me| {
            let own = model.writer == me;
            if !write && !model.may_read(me, writers_first) {
                return Verdict::Returns(EBUSY);
            }
            match enter(model, readers, me, write, pc) {
                Verdict::Returns(code) if own && code != 0 => Verdict::Returns(EBUSY),
                verdict => verdict,
            }
        })
    };
    conclude(kind, verdict, l as u64, pc)
}

unsafe fn lock_until(
    l: *mut pthread_rwlock_t,
    write: bool,
    clock: Option<Clock>,
    at: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the program's lock and time.
    match clock.and_then(|clock| time::deadline(clock, unsafe { &*at })) {
        // SAFETY: as above.
        Some(deadline) => unsafe { lock(l, write, deadline, pc) },
        None => EINVAL,
    }
}

unsafe fn unlock(l: *mut pthread_rwlock_t, pc: usize) -> c_int {
    gate::simple(Kind::RwUnlock, l as u64, pc);
    // SAFETY: the program's lock.
    if unsafe { is_foreign(l) } {
        // SAFETY: as above.
        let code = gate::passively(|| unsafe { real::pthread_rwlock_unlock(l) });
        shared::given_back(l as u64);
        return conclude(Kind::RwUnlock, Verdict::Returns(code), l as u64, pc);
    }
    let aux = unlock_aux(l as u64, gate::me());
    // SAFETY: the program's lock.
    let verdict = unsafe { perform(l, pc, |model, readers, me| model.unlock(readers, me)) };
    let result = conclude_with(aux, Kind::RwUnlock, verdict, l as u64, pc);
    returning(result, pc)
}

unsafe fn init(l: *mut pthread_rwlock_t, pc: usize, initialise: impl FnOnce() -> c_int) -> c_int {
    let object = l as u64;
    gate::renews(object, size_of::<pthread_rwlock_t>(), pc);
    check_alive(OBJECT.what, object, pc);
    let code = super::initialising(object, size_of::<pthread_rwlock_t>(), pc, initialise);
    if code == 0 {
        forget(object, object + 1);
        super::note(Kind::RwInit, object, pc);
        super::begins(object);
        gate::touch(object);
    }
    code
}

unsafe fn destroy(l: *mut pthread_rwlock_t, pc: usize) -> c_int {
    let object = l as u64;
    gate::simple(Kind::RwDestroy, object, pc);
    // SAFETY: the program's lock; what others hold is not known here.
    let held = unsafe { !is_foreign(l) && observe(l, pc).held() };
    let code = conclude(Kind::RwDestroy, DONE, object, pc);
    if held {
        misuse(says::DESTROYED_HELD, object, pc);
    }
    forget(object, object + 1);
    // SAFETY: as above.
    unsafe {
        if !shared::in_use(Native::of(l).shared != 0) {
            OBJECT.bury(object);
        }
    }
    code
}

intercept! {
    fn pthread_rwlock_init(l: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t) -> c_int,
        pc => init(l, pc, || real::pthread_rwlock_init(l, attr));
    fn pthread_rwlock_destroy(l: *mut pthread_rwlock_t) -> c_int, pc => destroy(l, pc);
    fn pthread_rwlock_rdlock(l: *mut pthread_rwlock_t) -> c_int, pc => lock(l, false, 0, pc);
    fn pthread_rwlock_wrlock(l: *mut pthread_rwlock_t) -> c_int, pc => lock(l, true, 0, pc);
    fn pthread_rwlock_tryrdlock(l: *mut pthread_rwlock_t) -> c_int, pc => try_lock(l, false, pc);
    fn pthread_rwlock_trywrlock(l: *mut pthread_rwlock_t) -> c_int, pc => try_lock(l, true, pc);
    fn pthread_rwlock_timedrdlock(l: *mut pthread_rwlock_t, at: *const timespec) -> c_int,
        pc => lock_until(l, false, Some(Clock::Wall), at, pc);
    fn pthread_rwlock_timedwrlock(l: *mut pthread_rwlock_t, at: *const timespec) -> c_int,
        pc => lock_until(l, true, Some(Clock::Wall), at, pc);
    fn pthread_rwlock_clockrdlock(l: *mut pthread_rwlock_t, clock: clockid_t, at: *const timespec) -> c_int,
        pc => lock_until(l, false, Clock::for_waiting(clock), at, pc);
    fn pthread_rwlock_clockwrlock(l: *mut pthread_rwlock_t, clock: clockid_t, at: *const timespec) -> c_int,
        pc => lock_until(l, true, Clock::for_waiting(clock), at, pc);
    fn pthread_rwlock_unlock(l: *mut pthread_rwlock_t) -> c_int, pc => unlock(l, pc);
}

export! {
    /// Older names that the C library still offers.
    fn __pthread_rwlock_init(l: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t) -> c_int = on::pthread_rwlock_init;
    fn __pthread_rwlock_destroy(l: *mut pthread_rwlock_t) -> c_int = on::pthread_rwlock_destroy;
    fn __pthread_rwlock_rdlock(l: *mut pthread_rwlock_t) -> c_int = on::pthread_rwlock_rdlock;
    fn __pthread_rwlock_wrlock(l: *mut pthread_rwlock_t) -> c_int = on::pthread_rwlock_wrlock;
    fn __pthread_rwlock_tryrdlock(l: *mut pthread_rwlock_t) -> c_int = on::pthread_rwlock_tryrdlock;
    fn __pthread_rwlock_trywrlock(l: *mut pthread_rwlock_t) -> c_int = on::pthread_rwlock_trywrlock;
    fn __pthread_rwlock_unlock(l: *mut pthread_rwlock_t) -> c_int = on::pthread_rwlock_unlock;
}
