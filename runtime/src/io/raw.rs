//! The system calls that descriptor operations are made of. Results are the kernel's own
//! (negative: minus an errno); nothing here waits unless it says so.

use crate::os::syscall;
use core::ffi::{c_int, c_short};
use libc::{msghdr, pollfd};

/// `fstat`; `None` for a descriptor that is not open.
pub fn stat(fd: c_int) -> Option<libc::stat> {
    // SAFETY: the structure is as large as the kernel's.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let into = &raw mut stat as usize;
        (syscall(libc::SYS_fstat, fd as usize, into, 0, 0, 0, 0) == 0).then_some(stat)
    }
}

/// `stat` of a path.
///
/// # Safety
/// `path` is a string.
pub unsafe fn stat_path(path: *const libc::c_char) -> Option<libc::stat> {
    // SAFETY: the structure is as large as the kernel's; the path is the caller's promise.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let (path, into) = (path as usize, &raw mut stat as usize);
        (syscall(libc::SYS_stat, path, into, 0, 0, 0, 0) == 0).then_some(stat)
    }
}

/// The path of the file behind `fd`, as far as `into` has room.
pub fn path_of(fd: c_int, into: &mut [u8]) -> Option<&[u8]> {
    use std::io::Write;
    let mut path = [0u8; 32];
    // The rest of the buffer is the NUL.
    write!(&mut path[..], "/proc/self/fd/{fd}").ok()?;
    // SAFETY: the path ends with NUL, the buffer is as large as said.
    let len = unsafe {
        let (path, at) = (path.as_ptr() as usize, into.as_mut_ptr() as usize);
        syscall(libc::SYS_readlink, path, at, into.len(), 0, 0, 0)
    };
    usize::try_from(len).ok().and_then(|len| into.get(..len))
}

/// `fcntl` with a number.
pub fn fcntl(fd: c_int, command: c_int, argument: usize) -> isize {
    // SAFETY: used for commands that take numbers only.
    unsafe {
        syscall(
            libc::SYS_fcntl,
            fd as usize,
            command as usize,
            argument,
            0,
            0,
            0,
        )
    }
}

/// The file status flags; 0 for a descriptor that is not open.
pub fn status_flags(fd: c_int) -> c_int {
    fcntl(fd, libc::F_GETFL, 0).max(0) as c_int
}

/// Runs `attempt` while `fd` does not block. No other thread runs meanwhile.
pub fn without_blocking(fd: c_int, attempt: impl FnOnce() -> isize) -> isize {
    let flags = status_flags(fd);
    if flags & libc::O_NONBLOCK != 0 {
        return attempt();
    }
    fcntl(fd, libc::F_SETFL, (flags | libc::O_NONBLOCK) as usize);
    let result = attempt();
    fcntl(fd, libc::F_SETFL, flags as usize);
    result
}

/// How many of the descriptors are ready now (a negative errno counts as one, so that whoever
/// waits sees the error itself).
///
/// # Safety
/// `fds` points to `count` entries.
pub unsafe fn poll(fds: *mut pollfd, count: usize, timeout_ms: c_int) -> usize {
    let timeout = timeout_ms as usize;
    // SAFETY: the caller's promise.
    match unsafe { syscall(libc::SYS_poll, fds as usize, count, timeout, 0, 0, 0) } {
        n if n == -(libc::EINTR as isize) => 0,
        n if n < 0 => 1,
        n => n as usize,
    }
}

/// Is one of `events` true of `fd` now (or an error, or a hang-up)?
pub fn is_ready(fd: c_int, events: c_short) -> bool {
    let mut one = pollfd {
        fd,
        events,
        revents: 0,
    };
    // SAFETY: one entry.
    unsafe { poll(&mut one, 1, 0) > 0 }
}

/// An integer option of a socket; `None` if it has none such.
pub fn socket_option(fd: c_int, level: c_int, name: c_int) -> Option<c_int> {
    let mut value: c_int = 0;
    let mut len = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the buffer is as large as said.
    let result = unsafe {
        let (value, len) = (&raw mut value as usize, &raw mut len as usize);
        let (level, name) = (level as usize, name as usize);
        syscall(
            libc::SYS_getsockopt,
            fd as usize,
            level,
            name,
            value,
            len,
            0,
        )
    };
    (result == 0).then_some(value)
}

/// Sets an integer option of a socket.
pub fn set_socket_option(fd: c_int, level: c_int, name: c_int, value: c_int) -> isize {
    // SAFETY: the buffer is as large as said.
    unsafe {
        let (level, name, len) = (level as usize, name as usize, size_of::<c_int>());
        let value = &raw const value as usize;
        syscall(
            libc::SYS_setsockopt,
            fd as usize,
            level,
            name,
            value,
            len,
            0,
        )
    }
}

/// The name of a socket (`call`: `SYS_getsockname`) or of its peer (`SYS_getpeername`), and how
/// many bytes of it count.
pub fn name_of(call: libc::c_long, fd: c_int) -> Option<(libc::sockaddr_storage, usize)> {
    // SAFETY: the buffer is as large as said.
    unsafe {
        let mut name: libc::sockaddr_storage = core::mem::zeroed();
        let mut len = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let (to, size) = (&raw mut name as usize, &raw mut len as usize);
        let result = syscall(call, fd as usize, to, size, 0, 0, 0);
        (result == 0).then_some((name, len as usize))
    }
}

/// `sendmsg`.
///
/// # Safety
/// As the system call.
pub unsafe fn send_message(fd: c_int, message: *const msghdr, flags: c_int) -> isize {
    let (message, flags) = (message as usize, flags as usize);
    // SAFETY: the caller's promise.
    unsafe { syscall(libc::SYS_sendmsg, fd as usize, message, flags, 0, 0, 0) }
}

/// `recvmsg`.
///
/// # Safety
/// As the system call.
pub unsafe fn receive_message(fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
    let (message, flags) = (message as usize, flags as usize);
    // SAFETY: the caller's promise.
    unsafe { syscall(libc::SYS_recvmsg, fd as usize, message, flags, 0, 0, 0) }
}
