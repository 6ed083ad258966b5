//! Numbers of processes that sockets carry, or know of the other end.

use crate::gone::Memory;
use crate::intercept;
use crate::numbers;
use core::ffi::{c_int, c_void};
use libc::{msghdr, pid_t, socklen_t, ucred};

/// Calls `change` for each number of a process that travels with `message`.
///
/// # Safety
/// The message is the program's, as for `recvmsg` and `sendmsg`.
unsafe fn each(message: *const msghdr, mut change: impl FnMut(&mut pid_t)) {
    // SAFETY: the caller's promise; CMSG_FIRSTHDR and its kin stay within the message.
    unsafe {
        if message.is_null() || (*message).msg_control.is_null() {
            return;
        }
        let control = (*message).msg_control as usize;
        if Memory::written(control, (*message).msg_controllen).is_gone() {
            return;
        }
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(one) = header.as_ref() {
            let known = one.cmsg_level == libc::SOL_SOCKET
                && one.cmsg_type == libc::SCM_CREDENTIALS
                && one.cmsg_len >= libc::CMSG_LEN(size_of::<ucred>() as u32) as usize;
            if known {
                let at = libc::CMSG_DATA(header).cast::<ucred>();
                let mut who = at.read_unaligned();
                change(&mut who.pid);
                at.write_unaligned(who);
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
}

/// What has come is made to be as the program sees processes.
///
/// # Safety
/// See [`each`].
pub unsafe fn shown(message: *const msghdr) {
    // SAFETY: the caller's promise.
    unsafe { each(message, |pid| *pid = numbers::shown(*pid)) };
}

/// Calls `send` while the numbers in `message` are the kernel's.
///
/// # Safety
/// See [`each`].
pub unsafe fn sent(message: *const msghdr, send: impl FnOnce() -> isize) -> isize {
    // SAFETY: the caller's promise, also below.
    unsafe { each(message, |pid| *pid = numbers::process(*pid)) };
    let result = send();
    // SAFETY: as above.
    unsafe { shown(message) };
    result
}

intercept! {
    kernel;
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int,
        _pc => {
            let result = real::getsockopt(fd, level, name, value, len);
            let peer = level == libc::SOL_SOCKET && name == libc::SO_PEERCRED;
            if result == 0 && peer && *len as usize >= size_of::<pid_t>() {
                let pid = value.cast::<pid_t>();
                pid.write_unaligned(numbers::shown(pid.read_unaligned()));
            }
            result
        };
}
