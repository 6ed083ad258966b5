//! What a program tells ThreadSanitizer of synchronisation that it would not see. Each such call is
//! a step of its own, so that an analysis of the trace can order by it.

use crate::gate;
use core::ffi::c_void;
use raddle_protocol::event::Kind;

type Address = *mut c_void;

crate::export! {
    fn __tsan_acquire(at: Address) = acquire;
    fn __tsan_release(at: Address) = release;
    fn __tsan_mutex_create(at: Address, flags: u32) = nothing;
    fn __tsan_mutex_destroy(at: Address, flags: u32) = nothing;
    fn __tsan_mutex_pre_lock(at: Address, flags: u32) = nothing;
    fn __tsan_mutex_post_lock(at: Address, flags: u32, recursion: i32) = locked;
    fn __tsan_mutex_pre_unlock(at: Address, flags: u32) -> i32 = unlocks;
    fn __tsan_mutex_post_unlock(at: Address, flags: u32) = nothing;
    fn __tsan_mutex_pre_signal(at: Address, flags: u32) = nothing;
    fn __tsan_mutex_post_signal(at: Address, flags: u32) = nothing;
    fn __tsan_mutex_pre_divert(at: Address, flags: u32) = nothing;
    fn __tsan_mutex_post_divert(at: Address, flags: u32) = nothing;
    fn __tsan_java_acquire(at: Address) = acquire;
    fn __tsan_java_release(at: Address) = release;
    fn __tsan_java_release_store(at: Address) = release;
    fn __tsan_java_mutex_lock(at: Address) = acquire;
    fn __tsan_java_mutex_unlock(at: Address) = release;
    fn __tsan_java_mutex_read_lock(at: Address) = acquire;
    fn __tsan_java_mutex_read_unlock(at: Address) = release;
    fn __tsan_java_mutex_lock_rec(at: Address, recursion: i32) = acquire_again;
    fn __tsan_java_mutex_unlock_rec(at: Address) -> i32 = release_all;
    fn AnnotateHappensBefore(file: Address, line: i32, at: Address) = happens_before;
    fn AnnotateHappensAfter(file: Address, line: i32, at: Address) = happens_after;
    fn AnnotateRWLockAcquired(file: Address, line: i32, at: Address, write: usize) = lock_acquired;
    fn AnnotateRWLockReleased(file: Address, line: i32, at: Address, write: usize) = lock_released;
}

/// `__tsan_mutex_try_lock_failed` of `sanitizer/tsan_interface.h`.
const TRY_LOCK_FAILED: u32 = 1 << 5;

fn annotate(kind: Kind, at: Address, pc: usize) {
    if crate::vars::accesses() && gate::active() {
        gate::simple(kind, at as u64, pc);
        gate::log(kind, at as u64, 0, pc);
    }
}

unsafe extern "C-unwind" fn acquire(
    at: Address,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) {
    annotate(Kind::Acquire, at, pc);
}

unsafe extern "C-unwind" fn release(
    at: Address,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) {
    annotate(Kind::Release, at, pc);
}

unsafe extern "C-unwind" fn acquire_again(
    at: Address,
    _recursion: i32,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) {
    annotate(Kind::Acquire, at, pc);
}

/// How deep the lock was held is for the caller to know.
unsafe extern "C-unwind" fn release_all(
    at: Address,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) -> i32 {
    annotate(Kind::Release, at, pc);
    1
}

unsafe extern "C-unwind" fn locked(
    at: Address,
    flags: u32,
    _recursion: i32,
    _: usize,
    _: usize,
    pc: usize,
) {
    if flags & TRY_LOCK_FAILED == 0 {
        annotate(Kind::Acquire, at, pc);
    }
}

unsafe extern "C-unwind" fn unlocks(
    at: Address,
    _flags: u32,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) -> i32 {
    annotate(Kind::Release, at, pc);
    1
}

unsafe extern "C-unwind" fn nothing(
    _at: Address,
    _flags: u32,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
) {
}

unsafe extern "C-unwind" fn happens_before(
    _file: Address,
    _line: i32,
    at: Address,
    _: usize,
    _: usize,
    pc: usize,
) {
    annotate(Kind::Release, at, pc);
}

unsafe extern "C-unwind" fn happens_after(
    _file: Address,
    _line: i32,
    at: Address,
    _: usize,
    _: usize,
    pc: usize,
) {
    annotate(Kind::Acquire, at, pc);
}

unsafe extern "C-unwind" fn lock_acquired(
    _file: Address,
    _line: i32,
    at: Address,
    _write: usize,
    _: usize,
    pc: usize,
) {
    annotate(Kind::Acquire, at, pc);
}

unsafe extern "C-unwind" fn lock_released(
    _file: Address,
    _line: i32,
    at: Address,
    _write: usize,
    _: usize,
    pc: usize,
) {
    annotate(Kind::Release, at, pc);
}
