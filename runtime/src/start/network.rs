//! A network of the target's own: loopback only, so that no two executions, and nobody else, get
//! in each other's way at a port.

use crate::os::{self, syscall};
use crate::serial::Serial;
use core::ffi::{CStr, c_int};
use core::fmt::Write;
use libc::{CLONE_NEWNET, CLONE_NEWUSER};

static OWN: Serial<bool> = Serial::new(false);

/// Is the process in a network of its own?
pub fn is_own() -> bool {
    // SAFETY: a plain flag, written before any thread was made.
    unsafe { *OWN.get() }
}

/// Moves the process, which has one thread, into a network of its own, if the system allows it.
pub fn isolate() {
    let (user, group) = identity();
    if !unshare(CLONE_NEWNET) {
        if !unshare(CLONE_NEWUSER | CLONE_NEWNET) {
            return;
        }
        map_identity(user, group);
        // A change of credentials withdraws both.
        os::die_with_parent();
        // SAFETY: numbers only.
        unsafe {
            syscall(
                libc::SYS_prctl,
                libc::PR_SET_DUMPABLE as usize,
                1,
                0,
                0,
                0,
                0,
            )
        };
    }
    raise_loopback();
    // Connections that have ended must not keep the next execution from their ports.
    write(c"/proc/sys/net/ipv4/tcp_max_tw_buckets", b"0");
    // SAFETY: a plain flag.
    unsafe { *OWN.get() = true };
}

fn identity() -> (u32, u32) {
    // SAFETY: no arguments.
    unsafe {
        let user = syscall(libc::SYS_geteuid, 0, 0, 0, 0, 0, 0);
        (
            user as u32,
            syscall(libc::SYS_getegid, 0, 0, 0, 0, 0, 0) as u32,
        )
    }
}

fn unshare(what: c_int) -> bool {
    // SAFETY: numbers only; memory and descriptors stay as they are.
    unsafe { syscall(libc::SYS_unshare, what as usize, 0, 0, 0, 0, 0) == 0 }
}

/// The same user and group as before.
fn map_identity(user: u32, group: u32) {
    let mut line = Line::default();
    write(c"/proc/self/setgroups", b"deny");
    for (file, id) in [
        (c"/proc/self/uid_map", user),
        (c"/proc/self/gid_map", group),
    ] {
        line.len = 0;
        // A line always has room for two numbers.
        let _ = write!(line, "{id} {id} 1");
        write(file, &line.bytes[..line.len]);
    }
}

#[derive(Default)]
struct Line {
    bytes: [u8; 32],
    len: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len());
        room.ok_or(core::fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// Writes a small file, if that is allowed.
fn write(path: &CStr, content: &[u8]) {
    let (at, path) = (libc::AT_FDCWD as usize, path.as_ptr() as usize);
    let flags = (libc::O_WRONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: a string and numbers.
    let fd = unsafe { syscall(libc::SYS_openat, at, path, flags, 0, 0, 0) };
    if fd >= 0 {
        os::write(fd as c_int, content);
        os::close(fd as c_int);
    }
}

/// Switches the loopback device on.
fn raise_loopback() {
    // SAFETY: the structure is as large as the kernel's, the name ends with a NUL.
    unsafe {
        let (family, kind) = (libc::AF_INET as usize, libc::SOCK_DGRAM as usize);
        let fd = syscall(libc::SYS_socket, family, kind, 0, 0, 0, 0);
        if fd < 0 {
            return;
        }
        let mut request: libc::ifreq = core::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as _;
        }
        for call in [libc::SIOCGIFFLAGS, libc::SIOCSIFFLAGS] {
            let at = &raw mut request as usize;
            syscall(libc::SYS_ioctl, fd as usize, call as usize, at, 0, 0, 0);
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as i16;
        }
        os::close(fd as c_int);
    }
}
