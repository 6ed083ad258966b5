//! LLVM's library registers itself by a named shared memory object, which it removes only if the
//! process comes to its own end. Executions are often killed: theirs has no name.

use crate::intercept;
use crate::start::effects;
use core::ffi::{CStr, c_char, c_int};
use libc::mode_t;

const NAME: &[u8] = b"/__KMP_REGISTERED_LIB_";

/// # Safety
/// `name` is a string.
unsafe fn registers(name: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_bytes().starts_with(NAME)
}

intercept! {
    fn shm_open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int, pc => {
        effects::note();
        match registers(name) {
            true => libc::memfd_create(c"openmp".as_ptr(), libc::MFD_CLOEXEC),
            false => real::shm_open(name, flags, mode),
        }
    };
    fn shm_unlink(name: *const c_char) -> c_int, pc => {
        effects::note();
        match registers(name) {
            true => 0,
            false => real::shm_unlink(name),
        }
    };
}
