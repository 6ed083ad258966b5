//! The pthread_* functions that make, join and end threads.

use core::ffi::{c_int, c_void};
use libc::{pthread_attr_t, pthread_t};

/// A thread's start routine.
pub type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Creates a controlled thread as `pthread_create` does (the events included). `pc`: where the
/// program asks for it. Returns 0 or an errno.
pub fn spawn(
    _thread: *mut pthread_t,
    _attr: *const pthread_attr_t,
    _routine: Routine,
    _argument: *mut c_void,
    _pc: usize,
) -> c_int {
    libc::EAGAIN
}

/// Ends the calling thread with `value`, as `pthread_exit` does.
pub fn exit(_value: *mut c_void) -> ! {
    crate::os::exit_group(0)
}

/// Acts on a cancellation request: what a model does after [`crate::gate::Wake::Cancelled`].
pub fn cancel_now() -> ! {
    exit(usize::MAX as *mut c_void)
}

/// Joins as `pthread_join` does; the events included. Returns 0 or an errno.
pub fn join(_thread: pthread_t, _value: Option<&mut *mut c_void>, _pc: usize) -> c_int {
    libc::EINVAL
}

/// Detaches as `pthread_detach` does; the events included. Returns 0 or an errno.
pub fn detach(_thread: pthread_t, _pc: usize) -> c_int {
    libc::EINVAL
}
