//! What a program tells ThreadSanitizer of synchronisation that it would not see. Each such call is
//! a step of its own, so that an analysis of the trace can order by it.

use crate::gate;
use core::ffi::c_void;
use raddle_protocol::event::Kind;

type Address = *mut c_void;

// The registers that an implementation does not look at are of no type.
crate::export! {
    fn __tsan_acquire(at: Address) = acquire;
    fn __tsan_release(at: Address) = release;
    fn __tsan_mutex_create() = nothing;
    fn __tsan_mutex_destroy() = nothing;
    fn __tsan_mutex_pre_lock() = nothing;
    fn __tsan_mutex_post_lock(at: Address, flags: u32) = locked;
    fn __tsan_mutex_pre_unlock(at: Address) -> i32 = unlocks;
    fn __tsan_mutex_post_unlock() = nothing;
    fn __tsan_mutex_pre_signal() = nothing;
    fn __tsan_mutex_post_signal() = nothing;
    fn __tsan_mutex_pre_divert() = nothing;
    fn __tsan_mutex_post_divert() = nothing;
    fn __tsan_java_acquire(at: Address) = acquire;
    fn __tsan_java_release(at: Address) = release;
    fn __tsan_java_release_store(at: Address) = release;
    fn __tsan_java_mutex_lock(at: Address) = acquire;
    fn __tsan_java_mutex_unlock(at: Address) = release;
    fn __tsan_java_mutex_read_lock(at: Address) = acquire;
    fn __tsan_java_mutex_read_unlock(at: Address) = release;
    fn __tsan_java_mutex_lock_rec(at: Address) = acquire;
    fn __tsan_java_mutex_unlock_rec(at: Address) -> i32 = unlocks;
    fn AnnotateHappensBefore(file: usize, line: usize, at: Address) = released_here;
    fn AnnotateHappensAfter(file: usize, line: usize, at: Address) = acquired_here;
    fn AnnotateRWLockAcquired(file: usize, line: usize, at: Address) = acquired_here;
    fn AnnotateRWLockReleased(file: usize, line: usize, at: Address) = released_here;
}

/// `__tsan_mutex_try_lock_failed` of `sanitizer/tsan_interface.h`.
const TRY_LOCK_FAILED: u32 = 1 << 5;

fn annotate(kind: Kind, at: Address, pc: usize) {
    if crate::vars::accesses() && gate::active() {
        gate::simple(kind, at as u64, pc);
        gate::log(kind, at as u64, 0, pc);
    }
}

unsafe extern "C-unwind" fn acquire(at: Address, pc: usize) {
    annotate(Kind::Acquire, at, pc);
}

unsafe extern "C-unwind" fn release(at: Address, pc: usize) {
    annotate(Kind::Release, at, pc);
}

unsafe extern "C-unwind" fn locked(at: Address, flags: u32, pc: usize) {
    if flags & TRY_LOCK_FAILED == 0 {
        annotate(Kind::Acquire, at, pc);
    }
}

/// Answers how deep the lock was held, which the caller gives back when it locks again.
unsafe extern "C-unwind" fn unlocks(at: Address, pc: usize) -> i32 {
    annotate(Kind::Release, at, pc);
    1
}

unsafe extern "C-unwind" fn nothing(_: usize) {}

unsafe extern "C-unwind" fn released_here(_file: usize, _line: usize, at: Address, pc: usize) {
    annotate(Kind::Release, at, pc);
}

unsafe extern "C-unwind" fn acquired_here(_file: usize, _line: usize, at: Address, pc: usize) {
    annotate(Kind::Acquire, at, pc);
}
