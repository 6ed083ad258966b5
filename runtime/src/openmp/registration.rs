//! LLVM's library registers itself by a named shared memory object, which it removes only if the
//! process comes to its own end. Executions are often killed: theirs has no name.

use crate::intercept;
use crate::serial::Serial;
use crate::start::effects;
use crate::time::errno_result;
use core::ffi::{CStr, c_char, c_int};
use libc::mode_t;

const NAME: &[u8] = b"/__KMP_REGISTERED_LIB_";

/// # Safety
/// `name` is a string.
unsafe fn registers(name: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_bytes().starts_with(NAME)
}

/// The object; -1: there is none.
static OBJECT: Serial<c_int> = Serial::new(-1);

/// Opens the object as `shm_open` opens a named one.
fn open(flags: c_int) -> c_int {
    // SAFETY: the running thread; the calls take numbers and a string.
    unsafe {
        let object = OBJECT.get();
        match (*object >= 0, flags & libc::O_CREAT != 0) {
            (true, _) if flags & libc::O_EXCL != 0 => return errno_result(libc::EEXIST),
            (false, false) => return errno_result(libc::ENOENT),
            (true, _) => {}
            (false, true) => {
                *object = libc::memfd_create(c"openmp".as_ptr(), libc::MFD_CLOEXEC);
            }
        }
        libc::fcntl(*object, libc::F_DUPFD_CLOEXEC, 0)
    }
}

fn unlink() -> c_int {
    // SAFETY: the running thread; the descriptor is ours.
    unsafe {
        match core::mem::replace(OBJECT.get(), -1) {
            -1 => errno_result(libc::ENOENT),
            object => libc::close(object),
        }
    }
}

intercept! {
    fn shm_open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int, pc => {
        effects::note();
        match registers(name) {
            true => open(flags),
            false => real::shm_open(name, flags, mode),
        }
    };
    fn shm_unlink(name: *const c_char) -> c_int, pc => {
        effects::note();
        match registers(name) {
            true => unlink(),
            false => real::shm_unlink(name),
        }
    };
}
