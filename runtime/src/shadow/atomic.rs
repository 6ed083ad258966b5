//! `__VERIFIER_atomic_begin` and `__VERIFIER_atomic_end`: sections that exclude each other, by a
//! lock of our own, and nothing comes between whose accesses. In a run that is not symbolic they are
//! no scheduling points; in a symbolic run they are steps, and the gate lets nobody else go on
//! until the section ends. Only if it waits for others do these go on, and the verdict names that.
//!
//! The compiler plugin has functions called `__VERIFIER_atomic_…` begin and end such a section; in
//! symbolic runs atomics that are too wide for a word are sections, too.

use crate::gate;
use crate::serial::Serial;
use crate::sync::mutex;
use core::cell::UnsafeCell;
use libc::pthread_mutex_t;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

mod real {
    use core::ffi::c_int;
    use libc::pthread_mutex_t;
    crate::real! {
        fn pthread_mutex_lock(m: *mut pthread_mutex_t) -> c_int;
        fn pthread_mutex_unlock(m: *mut pthread_mutex_t) -> c_int;
    }
}

crate::export! {
    /// As SV-COMP defines it.
    fn __VERIFIER_atomic_begin() = begin;
    /// As SV-COMP defines it.
    fn __VERIFIER_atomic_end() = end;
}

struct Lock(UnsafeCell<pthread_mutex_t>);

// SAFETY: only its address is used here; what is behind it belongs to the C library or to the
// model of mutexes.
unsafe impl Sync for Lock {}

static LOCK: Lock = Lock(UnsafeCell::new(
    libc::PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
));
/// Who is in a section, how deep.
static INSIDE: Serial<(Slot, u32)> = Serial::new((slot::NONE, 0));

/// Is the running thread in a section whose accesses are no scheduling points?
#[inline]
pub fn inside() -> bool {
    // SAFETY: the running thread; the reference is not kept.
    let (who, depth) = *unsafe { INSIDE.get() };
    depth > 0 && who == gate::me() && !crate::vars::symbolic()
}

/// The running thread begins a section.
pub fn enter(pc: usize) {
    let lock = LOCK.0.get();
    if crate::vars::symbolic() {
        gate::log_full(Event {
            kind: Kind::Section as u8,
            object: lock as u64,
            pc: pc as u64,
            ..Event::default()
        });
    } else if gate::flags() & flags::EXHAUSTIVE != 0 {
        gate::uncontrolled("accesses in __VERIFIER_atomic sections");
    }
    // SAFETY: the lock lives as long as the process.
    unsafe { mutex::lock(lock, Kind::MutexLock, 0, pc) };
    // SAFETY: the running thread; the reference is not kept.
    let inside = unsafe { INSIDE.get() };
    *inside = (gate::me(), inside.1 + 1);
    if inside.1 == 1 && crate::vars::symbolic() {
        gate::enter_section();
    }
}

/// The running thread ends a section.
pub fn leave(pc: usize) {
    // SAFETY: the running thread; the reference is not kept.
    let inside = unsafe { INSIDE.get() };
    let last = inside.1 == 1;
    inside.1 = inside.1.saturating_sub(1);
    // SAFETY: as above.
    unsafe { mutex::unlock(LOCK.0.get(), pc) };
    if last && crate::vars::symbolic() && !gate::leave_section() {
        gate::uncontrolled("others while an atomic section waits");
    }
}

unsafe extern "C-unwind" fn begin(pc: usize) {
    match gate::active() {
        true => enter(pc),
        // SAFETY: the lock lives as long as the process.
        false => unsafe {
            real::pthread_mutex_lock(LOCK.0.get());
        },
    }
}

unsafe extern "C-unwind" fn end(pc: usize) {
    match gate::active() {
        true => leave(pc),
        // SAFETY: the lock lives as long as the process.
        false => unsafe {
            real::pthread_mutex_unlock(LOCK.0.get());
        },
    }
}
