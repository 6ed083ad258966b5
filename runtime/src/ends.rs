//! Ways for an execution to end: exit, abort, failed assertions, fatal signals.

/// Called once by `start` in the process that may run the program (the zygote), before the C
/// library's `__libc_start_main`.
pub fn install() {
    crate::heap::prepare();
}

/// What `main` returning does; also runs when the last thread ends after `main` left by
/// `pthread_exit`.
pub fn exit(status: core::ffi::c_int) -> ! {
    // SAFETY: the C library's exit.
    unsafe { libc::exit(status) }
}

/// SIGABRT with its default disposition.
pub fn abort_natively() -> ! {
    crate::os::exit_group(134)
}
