//! `__VERIFIER_atomic_begin` and `__VERIFIER_atomic_end`: sections that exclude each other, by a
//! lock of our own. In a run that is not symbolic the accesses inside are no scheduling points
//! either, so that nothing at all comes between them; in a symbolic run accesses outside of
//! sections may, and the verdict names that.

use crate::gate;
use crate::serial::Serial;
use crate::sync::mutex;
use core::cell::UnsafeCell;
use libc::pthread_mutex_t;
use raddle_protocol::event::Kind;
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

unsafe extern "C-unwind" fn begin(_: usize, _: usize, _: usize, _: usize, _: usize, pc: usize) {
    let lock = LOCK.0.get();
    if !gate::active() {
        // SAFETY: the lock lives as long as the process.
        unsafe { real::pthread_mutex_lock(lock) };
        return;
    }
    if crate::vars::symbolic() {
        gate::uncontrolled("accesses outside __VERIFIER_atomic sections");
    }
    // SAFETY: as above.
    unsafe { mutex::lock(lock, Kind::MutexLock, 0, pc) };
    // SAFETY: the running thread; the reference is not kept.
    let inside = unsafe { INSIDE.get() };
    *inside = (gate::me(), inside.1 + 1);
}

unsafe extern "C-unwind" fn end(_: usize, _: usize, _: usize, _: usize, _: usize, pc: usize) {
    let lock = LOCK.0.get();
    if !gate::active() {
        // SAFETY: the lock lives as long as the process.
        unsafe { real::pthread_mutex_unlock(lock) };
        return;
    }
    // SAFETY: the running thread; the reference is not kept.
    let inside = unsafe { INSIDE.get() };
    inside.1 = inside.1.saturating_sub(1);
    // SAFETY: as above.
    unsafe { mutex::unlock(lock, pc) };
}
