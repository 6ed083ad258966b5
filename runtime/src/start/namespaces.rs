//! Parts of the system that the process has for itself: namespaces(7).

use crate::os::{self, syscall};
use core::ffi::{CStr, c_int};
use core::fmt::Write;
use libc::CLONE_NEWUSER;

/// Moves the process into a new namespace of this kind (`CLONE_NEWNET` …), if the system allows it:
/// without privileges that takes a user namespace as well, and a process of one kernel thread.
pub fn enter(kind: c_int) -> bool {
    let (user, group) = identity();
    if unshare(kind) {
        return true;
    }
    if !unshare(CLONE_NEWUSER | kind) {
        return false;
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
    true
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
pub fn write(path: &CStr, content: &[u8]) {
    let (at, path) = (libc::AT_FDCWD as usize, path.as_ptr() as usize);
    let flags = (libc::O_WRONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: a string and numbers.
    let fd = unsafe { syscall(libc::SYS_openat, at, path, flags, 0, 0, 0) };
    if fd >= 0 {
        os::write(fd as c_int, content);
        os::close(fd as c_int);
    }
}
