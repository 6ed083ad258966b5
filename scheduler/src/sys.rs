//! The few system calls that `std` and `nix` do not wrap, and small helpers around them.

use crate::ended::Ended;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::Duration;

/// An empty file in memory that can be sealed.
pub fn memory_file(name: &CStr) -> io::Result<File> {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    Ok(File::from(memfd_create(name, flags)?))
}

/// Path by which this process opens what `fd` refers to anew.
pub fn fd_path(fd: RawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{fd}"))
}

/// Which of `fds` are readable (or at their end, or broken) within `timeout` (`None`: for ever).
/// An interruption by a signal counts as "none yet".
pub fn poll_in<const N: usize>(
    fds: [BorrowedFd<'_>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    let timeout = match timeout {
        None => PollTimeout::NONE,
        // Rounded up, so that a caller with a deadline does not spin through its last millisecond.
        Some(t) => {
            let millis = t.as_micros().div_ceil(1000);
            PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX)
        }
    };
    match nix::poll::poll(&mut polled, timeout) {
        Ok(_) => Ok(polled.map(|p| p.any().unwrap_or(true))),
        Err(nix::errno::Errno::EINTR) => Ok([false; N]),
        Err(e) => Err(e.into()),
    }
}

/// A descriptor for the process `pid`, readable once it has ended.
pub fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers; the result is checked before it is owned.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor (close-on-exec) for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Wakes everything that waits on the futex word at `word`.
pub fn futex_wake_all(word: *const u32) {
    // SAFETY: FUTEX_WAKE only uses the address as a key; it reads and writes no memory.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX) };
}

/// Does this descriptor survive an exec? `None` when it is not open.
pub fn survives_exec(fd: RawFd) -> Option<bool> {
    // SAFETY: F_GETFD takes no pointer.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    (flags >= 0).then_some(flags & libc::FD_CLOEXEC == 0)
}

/// Makes every write to `file` go to its end, wherever its shared position stands.
pub fn append_only(file: &File) -> io::Result<()> {
    // SAFETY: F_SETFL takes a number.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Waits for the child behind `process` and reaps it.
pub fn reap(process: BorrowedFd<'_>) -> io::Result<Ended> {
    loop {
        let id = process.as_raw_fd() as libc::id_t;
        // SAFETY: all zeros is a valid siginfo_t.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is a valid place for the answer.
        if unsafe { libc::waitid(libc::P_PIDFD, id, &mut info, libc::WEXITED) } == 0 {
            // SAFETY: waitid has filled in the fields of SIGCHLD.
            let status = unsafe { info.si_status() };
            return Ok(match info.si_code {
                libc::CLD_EXITED => Ended::Exit(status),
                _ => Ended::Signal(status),
            });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
