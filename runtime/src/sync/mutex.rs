//! Mutexes.

use super::model::mutex::{Kind as NativeKind, Mutex, SHARED, Type, says};
use super::model::verdict::Verdict;
use super::models::Models;
use super::{adopted_from, check_alive, conclude, misuse, pending, returning, shared};
use crate::gate::{self, Pending, Wake};
use crate::numbers::of as thread_id;
use crate::objects::Table;
use crate::serial::Serial;
use crate::time::{self, Clock};
use crate::{export, intercept, process};
use core::ffi::{c_int, c_uint};
use libc::{EBUSY, EINVAL, ETIMEDOUT, clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

const WHAT: &str = "a mutex";

/// The head of glibc's `pthread_mutex_t` on x86-64.
#[repr(C)]
struct Native {
    lock: c_int,
    count: c_uint,
    owner: c_int,
    users: c_uint,
    kind: c_int,
}

/// Where a mutex with a priority ceiling keeps the ceiling, in its lock word.
const CEILING: c_int = !0x7_ffff;

/// In the lock word of a robust mutex whose owner has ended.
const OWNER_DIED: c_int = libc::FUTEX_OWNER_DIED as c_int;

static MODELS: Models<Mutex> = Models::new();

/// Has a robust mutex been used? Otherwise nothing needs to be done when a thread ends.
static ROBUST: Serial<bool> = Serial::new(false);

/// Has there been a robust mutex?
pub fn any_robust() -> bool {
    // SAFETY: the running thread.
    unsafe { *ROBUST.get() }
}

/// Does `who` hold a robust mutex?
pub fn leaves_any(who: Slot) -> bool {
    let mut any = false;
    if any_robust() {
        MODELS
            .table()
            .for_each(|_, model| any |= model.is_robust_of(who));
    }
    any
}

/// Does `who` hold a mutex?
pub fn holds_any(who: Slot) -> bool {
    let mut any = false;
    MODELS
        .table()
        .for_each(|_, model| any |= model.is_held_by(who));
    any
}

/// `who` takes its last step: the robust mutexes that it holds are orphaned.
pub fn thread_ended(who: Slot) {
    if !any_robust() {
        return;
    }
    MODELS.table().for_each(|object, model| {
        if model.orphan(who) {
            gate::writes(object, size_of::<c_int>() as u64);
            // SAFETY: a mutex that a thread holds is there. The kernel leaves this bit, too: who
            // looks at the word in a loop sees that it is another one.
            let native = unsafe { Native::of(object as *mut pthread_mutex_t) };
            if !native.shared() {
                native.lock |= OWNER_DIED;
            }
            gate::log(Kind::Orphaned, object, 0, 0);
            gate::touch(object);
        }
    });
}

/// Forgets the mutexes in `from..to`.
pub fn forget(from: u64, to: u64) {
    MODELS.forget(from, to);
}

impl Native {
    /// # Safety
    /// `m` points to a mutex, or at least to memory of its size.
    unsafe fn of<'a>(m: *mut pthread_mutex_t) -> &'a mut Native {
        // SAFETY: the caller's promise; the layout is glibc's.
        unsafe { &mut *m.cast::<Native>() }
    }

    fn locked(&self) -> bool {
        if NativeKind(self.kind).protects() {
            self.lock & !CEILING != 0
        } else {
            self.lock != 0
        }
    }

    /// May another process use it?
    fn shared(&self) -> bool {
        shared::in_use(NativeKind(self.kind).shared())
    }

    /// Writes what glibc would have written.
    fn mirror(&mut self, model: &Mutex) {
        let ceiling = if NativeKind(self.kind).protects() {
            self.lock & CEILING
        } else {
            0
        };
        let held = model.held();
        self.count = model.depth;
        // Another process may have a thread of this number.
        let named = held && !NativeKind(self.kind).shared();
        self.owner = if named { thread_id(model.owner) } else { 0 };
        self.users = c_uint::from(held);
        if !self.shared() {
            self.lock = ceiling | c_int::from(held);
        } else if !held {
            // SAFETY: the program's word.
            unsafe { shared::give_back(&mut self.lock) };
        }
    }
}

/// The model of the mutex as its bytes show it now.
///
/// # Safety
/// As [`Native::of`].
unsafe fn observe(m: *mut pthread_mutex_t, pc: usize) -> &'static mut Mutex {
    let object = m as u64;
    check_alive(WHAT, object, pc);
    // SAFETY: the caller's promise.
    let native = unsafe { Native::of(m) };
    let kind = NativeKind(native.kind);
    let Some(fresh) = Mutex::of_kind(kind) else {
        misuse(
            if kind == NativeKind::DESTROYED {
                says::DEAD
            } else {
                says::UNINITIALISED
            },
            object,
            pc,
        )
    };
    let model = MODELS.entry(object, || {
        if let Some(name) = kind.not_modelled() {
            gate::uncontrolled(name);
        }
        if kind.robust() {
            // SAFETY: the running thread.
            unsafe { *ROBUST.get() = true };
        }
        fresh
    });
    match (model.held(), native.locked()) {
        (true, false) => *model = fresh,
        // Another process has it.
        (false, true) if native.shared() => {}
        (false, true) => {
            *model = Mutex {
                owner: adopted_from(native.owner),
                depth: native.count.max(1),
                ..fresh
            }
        }
        (false, false) => model.mutex_type = fresh.mutex_type,
        (true, true) => {}
    }
    model
}

/// [`Pending::ready`] of whoever wants the mutex `object`.
pub fn ready(p: &Pending, who: Slot) -> bool {
    MODELS
        .get(p.object)
        .is_none_or(|m| m.may_lock(who) && (m.held() || !held_outside(p.object)))
}

/// Has another process taken the mutex `object`, which none of our threads holds?
fn held_outside(object: u64) -> bool {
    // SAFETY: the program waits for this mutex.
    let native = unsafe { Native::of(object as *mut pthread_mutex_t) };
    native.shared() && native.locked()
}

/// Where other processes use the mutex, and none of our threads holds it: takes it from them.
/// False if one of them has it.
///
/// # Safety
/// As [`Native::of`].
unsafe fn taken_from_outside(m: *mut pthread_mutex_t, pc: usize) -> bool {
    // SAFETY: the caller's promise; the lock word is the program's.
    unsafe {
        let (model, native) = (observe(m, pc), Native::of(m));
        let word = &raw mut native.lock;
        !native.shared() || model.held() || shared::attempt(|| shared::take(word))
    }
}

/// [`Pending::holder`] for the mutex `object`.
pub fn holder(p: &Pending) -> (Slot, usize) {
    match MODELS.get(p.object) {
        Some(m) if m.held() => (m.owner, m.taken_at),
        _ => super::nobody(p),
    }
}

/// Applies `change` to the mutex at the instant of the running thread's step.
///
/// # Safety
/// As [`Native::of`].
unsafe fn perform(
    m: *mut pthread_mutex_t,
    pc: usize,
    change: impl FnOnce(&mut Mutex, Slot) -> Verdict,
) -> Verdict {
    // SAFETY: the caller's promise.
    let model = unsafe { observe(m, pc) };
    let held = model.held();
    let verdict = change(model, gate::me());
    // SAFETY: as above.
    let native = unsafe { Native::of(m) };
    if held || model.held() {
        gate::writes(m as u64, size_of::<Native>() as u64);
        native.mirror(model);
    }
    gate::touch(m as u64);
    verdict
}

/// Locks; `deadline`: virtual nanoseconds, 0: waits for ever.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn lock(m: *mut pthread_mutex_t, kind: Kind, deadline: u64, pc: usize) -> c_int {
    let object = m as u64;
    if is_foreign(m) {
        let kinds = [kind, Kind::MutexTryLock];
        // SAFETY: the caller's promise.
        let attempt = || unsafe { real::pthread_mutex_trylock(m) };
        let code = shared::until(kinds, object, deadline, pc, attempt);
        return conclude(kind, Verdict::Returns(code), object, pc);
    }
    // SAFETY: the caller's promise, also below.
    unsafe { observe(m, pc) };
    let wake = loop {
        let wake = gate::point(Pending {
            deadline,
            ready,
            holder,
            outside: process::has_forked(),
            ..pending(kind, object, pc)
        });
        // SAFETY: as above.
        if wake != Wake::Ready || unsafe { taken_from_outside(m, pc) } {
            break wake;
        }
        gate::log(Kind::MutexTryLock, object, EBUSY as u64, pc);
    };
    let verdict = match wake {
        // SAFETY: as above.
        Wake::Ready => unsafe { perform(m, pc, |model, me| model.lock(me, pc)) },
        _ => Verdict::Returns(ETIMEDOUT),
    };
    conclude(kind, verdict, object, pc)
}

/// Tries to lock: 0 or an errno.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn try_lock(m: *mut pthread_mutex_t, pc: usize) -> c_int {
    let object = m as u64;
    gate::simple(Kind::MutexTryLock, object, pc);
    if is_foreign(m) {
        // SAFETY: the caller's promise.
        let code = shared::attempt_native(|| unsafe { real::pthread_mutex_trylock(m) });
        return conclude(Kind::MutexTryLock, Verdict::Returns(code), object, pc);
    }
    // SAFETY: the caller's promise.
    let verdict = unsafe {
        match taken_from_outside(m, pc) {
            true => {
                let relock = NativeKind(Native::of(m).kind).relock();
                perform(m, pc, |model, me| model.try_lock(me, pc, relock))
            }
            false => Verdict::Returns(EBUSY),
        }
    };
    conclude(Kind::MutexTryLock, verdict, object, pc)
}

/// Unlocks.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn unlock(m: *mut pthread_mutex_t, pc: usize) -> c_int {
    gate::simple(Kind::MutexUnlock, m as u64, pc);
    if is_foreign(m) {
        // SAFETY: the caller's promise.
        let code = gate::passively(|| unsafe { real::pthread_mutex_unlock(m) });
        shared::given_back(m as u64);
        return conclude(Kind::MutexUnlock, Verdict::Returns(code), m as u64, pc);
    }
    // SAFETY: the caller's promise.
    let verdict = unsafe { perform(m, pc, |model, me| model.unlock(me)) };
    returning(conclude(Kind::MutexUnlock, verdict, m as u64, pc), pc)
}

/// What a thread that is about to wait with this mutex must hear first: 0, or an errno, or a
/// finding when it does not hold the mutex.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn check_held(m: *mut pthread_mutex_t, wrong: &str, pc: usize) -> c_int {
    const OWNER: c_int = 0x3fff_ffff;
    if is_foreign(m) {
        // Whose it is, the C library says when it is given up. SAFETY: the caller's promise.
        return match unsafe { Native::of(m) }.lock & OWNER {
            0 => misuse(wrong, m as u64, pc),
            _ => 0,
        };
    }
    // SAFETY: the caller's promise.
    let model = unsafe { observe(m, pc) };
    if model.held() && model.owner == gate::me() {
        return 0;
    }
    match model.mutex_type {
        Type::Normal => misuse(wrong, m as u64, pc),
        Type::Recursive | Type::ErrorCheck => libc::EPERM,
    }
}

/// A condition wait gives the mutex up, within its own step. Like the C library it undoes one
/// lock only.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn give_up(m: *mut pthread_mutex_t, pc: usize) {
    if is_foreign(m) {
        // SAFETY: the caller's promise.
        if gate::passively(|| unsafe { real::pthread_mutex_unlock(m) }) != 0 {
            misuse(super::cond::says::NOT_HELD, m as u64, pc);
        }
        return shared::given_back(m as u64);
    }
    // SAFETY: the caller's promise.
    let verdict = unsafe { perform(m, pc, |model, me| model.unlock(me)) };
    super::settle(verdict, m as u64, pc);
}

/// Can the running thread take the mutex at once? If so, it must do so in the same step.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn available(m: *mut pthread_mutex_t, pc: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { observe(m, pc).may_lock(gate::me()) && taken_from_outside(m, pc) }
}

/// A condition wait takes a mutex back that is kept by the C library ([`is_foreign`]), with steps of
/// its own, of which the last one is the caller's to record: 0 or an errno.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn take_back_outside(m: *mut pthread_mutex_t, pc: usize) -> c_int {
    // SAFETY: the caller's promise.
    let attempt = || unsafe { real::pthread_mutex_trylock(m) };
    let kinds = [Kind::CondWake, Kind::MutexTryLock];
    shared::until(kinds, m as u64, 0, pc, attempt)
}

/// A condition wait takes the mutex back, within its own step: 0 or an errno.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn take_back(m: *mut pthread_mutex_t, pc: usize) -> c_int {
    // SAFETY: the caller's promise.
    let verdict = unsafe { perform(m, pc, |model, me| model.lock(me, pc)) };
    super::settle(verdict, m as u64, pc)
}

/// Marks a robust mutex as good again; no event, since only its owner can tell the difference.
unsafe fn consistent(m: *mut pthread_mutex_t, pc: usize) -> c_int {
    if is_foreign(m) {
        // SAFETY: the program's mutex.
        return gate::passively(|| unsafe { real::pthread_mutex_consistent(m) });
    }
    // SAFETY: the program's mutex.
    let verdict = unsafe { perform(m, pc, Mutex::consistent) };
    super::settle(verdict, m as u64, pc)
}

/// Changes the priority ceiling, with the mutex locked meanwhile: 0 or an errno.
///
/// # Safety
/// As [`Native::of`]; `old` is null or writable.
unsafe fn set_ceiling(
    m: *mut pthread_mutex_t,
    ceiling: c_int,
    old: *mut c_int,
    pc: usize,
) -> c_int {
    const SHIFT: u32 = 19;
    // SAFETY: the caller's promise, also below.
    unsafe {
        if !NativeKind(Native::of(m).kind).protects() || !(1..=99).contains(&ceiling) {
            return EINVAL;
        }
        let code = lock(m, Kind::MutexLock, 0, pc);
        if code != 0 {
            return code;
        }
        let native = Native::of(m);
        if let Some(old) = old.as_mut() {
            *old = native.lock >> SHIFT;
        }
        native.lock = native.lock & !CEILING | ceiling << SHIFT;
        unlock(m, pc)
    }
}

/// Initialises: `initialise` lets the C library write the object.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn init(
    m: *mut pthread_mutex_t,
    pc: usize,
    initialise: impl FnOnce() -> c_int,
) -> c_int {
    let object = m as u64;
    gate::simple(Kind::MutexInit, object, pc);
    check_alive(WHAT, object, pc);
    let code = super::initialising(object, size_of::<pthread_mutex_t>(), pc, initialise);
    if code == 0 {
        MODELS.remove(object);
        gate::touch(object);
    }
    conclude(Kind::MutexInit, Verdict::Returns(code), object, pc)
}

/// Says so if other processes may use what is initialised with these attributes.
unsafe fn name_shared(m: *mut pthread_mutex_t, attr: *const pthread_mutexattr_t) {
    let mut shared = libc::PTHREAD_PROCESS_PRIVATE;
    let mut robust = libc::PTHREAD_MUTEX_STALLED;
    if !attr.is_null() {
        // SAFETY: the program's attributes.
        unsafe {
            libc::pthread_mutexattr_getpshared(attr, &mut shared);
            libc::pthread_mutexattr_getrobust(attr, &mut robust);
        }
    }
    if shared == libc::PTHREAD_PROCESS_SHARED {
        gate::uncontrolled(SHARED);
        if robust == libc::PTHREAD_MUTEX_ROBUST {
            robust_and_shared().entry(m as u64, || ());
        }
    }
}

/// Robust mutexes that were made for other processes, too: the object does not say that.
fn robust_and_shared() -> &'static mut Table<()> {
    static ALL: Serial<Table<()>> = Serial::new(Table::new());
    // SAFETY: the running thread; not kept over a switch.
    unsafe { ALL.get() }
}

/// Is the mutex a robust one that other processes use, and that none of our threads took before they
/// did? The kernel and the C library tell who has died with it.
pub fn is_foreign(m: *mut pthread_mutex_t) -> bool {
    let object = m as u64;
    process::has_forked()
        && robust_and_shared().get(object).is_some()
        && MODELS.get(object).is_none_or(|model| !model.held())
}

/// Destroys.
///
/// # Safety
/// As [`Native::of`].
pub unsafe fn destroy(m: *mut pthread_mutex_t, pc: usize) -> c_int {
    let object = m as u64;
    gate::simple(Kind::MutexDestroy, object, pc);
    // SAFETY: the caller's promise.
    let verdict = unsafe { observe(m, pc) }.destroy();
    let code = conclude(Kind::MutexDestroy, verdict, object, pc);
    gate::writes(object, size_of::<Native>() as u64);
    // SAFETY: as above.
    unsafe { Native::of(m) }.kind = NativeKind::DESTROYED.0;
    MODELS.remove(object);
    code
}

/// Locks until `at` by `clock`.
///
/// # Safety
/// As [`Native::of`]; `at` is readable.
pub unsafe fn lock_until(
    m: *mut pthread_mutex_t,
    clock: Clock,
    at: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    match time::deadline(clock, unsafe { &*at }) {
        // SAFETY: as above.
        Some(deadline) => unsafe { lock(m, Kind::MutexTimedLock, deadline, pc) },
        // An invalid time matters only to whoever would have to wait. SAFETY: as above.
        None => match unsafe { try_lock(m, pc) } {
            EBUSY => EINVAL,
            code => code,
        },
    }
}

intercept! {
    fn pthread_mutex_init(m: *mut pthread_mutex_t, attr: *const pthread_mutexattr_t) -> c_int,
        pc => {
            name_shared(m, attr);
            init(m, pc, || real::pthread_mutex_init(m, attr))
        };
    fn pthread_mutex_destroy(m: *mut pthread_mutex_t) -> c_int, pc => destroy(m, pc);
    fn pthread_mutex_lock(m: *mut pthread_mutex_t) -> c_int, pc => lock(m, Kind::MutexLock, 0, pc);
    fn pthread_mutex_trylock(m: *mut pthread_mutex_t) -> c_int, pc => try_lock(m, pc);
    fn pthread_mutex_timedlock(m: *mut pthread_mutex_t, at: *const timespec) -> c_int,
        pc => lock_until(m, Clock::Wall, at, pc);
    fn pthread_mutex_clocklock(m: *mut pthread_mutex_t, clock: clockid_t, at: *const timespec) -> c_int,
        pc => match Clock::for_waiting(clock) {
            Some(clock) => lock_until(m, clock, at, pc),
            None => EINVAL,
        };
    fn pthread_mutex_unlock(m: *mut pthread_mutex_t) -> c_int, pc => unlock(m, pc);
    fn pthread_mutex_setprioceiling(m: *mut pthread_mutex_t, ceiling: c_int, old: *mut c_int) -> c_int,
        pc => set_ceiling(m, ceiling, old, pc);
    fn pthread_mutex_consistent(m: *mut pthread_mutex_t) -> c_int, pc => consistent(m, pc);
}

export! {
    /// Older names that the C library still offers.
    fn pthread_mutex_consistent_np(m: *mut pthread_mutex_t) -> c_int = on::pthread_mutex_consistent;
    fn __pthread_mutex_init(m: *mut pthread_mutex_t, attr: *const pthread_mutexattr_t) -> c_int = on::pthread_mutex_init;
    fn __pthread_mutex_destroy(m: *mut pthread_mutex_t) -> c_int = on::pthread_mutex_destroy;
    fn __pthread_mutex_lock(m: *mut pthread_mutex_t) -> c_int = on::pthread_mutex_lock;
    fn __pthread_mutex_trylock(m: *mut pthread_mutex_t) -> c_int = on::pthread_mutex_trylock;
    fn __pthread_mutex_unlock(m: *mut pthread_mutex_t) -> c_int = on::pthread_mutex_unlock;
}
