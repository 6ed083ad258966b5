//! Descriptors that the process has from the controller, or from whoever started that. Their open files
//! outlast an execution; the next one finds their flags and their offsets as this one did.

use super::effects::DESCRIPTORS;
use crate::os::{self, syscall};
use crate::serial::Serial;
use core::ffi::c_int;
use libc::{SYS_dup3, SYS_fcntl, SYS_lseek, SYS_openat};

/// The state of an open file.
#[derive(Clone, Copy)]
struct State {
    fd: c_int,
    /// As F_GETFL has them.
    flags: isize,
    /// In bytes; negative where there is none.
    offset: isize,
}

struct Inherited {
    all: [State; DESCRIPTORS],
    len: usize,
}

static INHERITED: Serial<Inherited> = Serial::new(Inherited {
    all: [State {
        fd: -1,
        flags: 0,
        offset: 0,
    }; DESCRIPTORS],
    len: 0,
});

fn all() -> &'static mut [State] {
    // SAFETY: the running thread; no caller keeps it.
    let inherited = unsafe { INHERITED.get() };
    &mut inherited.all[..inherited.len]
}

fn flags(fd: c_int) -> isize {
    // SAFETY: no memory is involved.
    unsafe { syscall(SYS_fcntl, fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0) }
}

fn seek(fd: c_int, to: isize, whence: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        syscall(
            SYS_lseek,
            fd as usize,
            to as usize,
            whence as usize,
            0,
            0,
            0,
        )
    }
}

impl State {
    fn of(fd: c_int) -> State {
        // The controller reads, and empties, where output goes to.
        let is_output = fd == libc::STDOUT_FILENO || fd == libc::STDERR_FILENO;
        State {
            fd,
            flags: flags(fd),
            offset: match is_output {
                true => -1,
                false => seek(fd, 0, libc::SEEK_CUR),
            },
        }
    }

    fn put_back(self) {
        let (fd, set) = (self.fd as usize, libc::F_SETFL as usize);
        if self.flags >= 0 && flags(self.fd) != self.flags {
            // SAFETY: no memory is involved.
            unsafe { syscall(SYS_fcntl, fd, set, self.flags as usize, 0, 0, 0) };
        }
        if self.offset >= 0 && seek(self.fd, 0, libc::SEEK_CUR) != self.offset {
            seek(self.fd, self.offset, libc::SEEK_SET);
        }
    }
}

/// Does it lead to a file that can be opened any number of times: a regular one, or a device like
/// `/dev/null`?
fn opens_again(fd: c_int) -> bool {
    const MEMORY: u32 = 1;
    // SAFETY: zeros are a valid structure, which the kernel fills.
    let (failed, stat) = unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let into = &raw mut stat as usize;
        let failed = syscall(libc::SYS_fstat, fd as usize, into, 0, 0, 0, 0) != 0;
        (failed, stat)
    };
    let kind = stat.st_mode & libc::S_IFMT;
    let device = kind == libc::S_IFCHR && libc::major(stat.st_rdev) == MEMORY;
    !failed && (kind == libc::S_IFREG || device)
}

/// Gives a descriptor an open file of its own, where that can be, with flags and offset as they are.
fn reopen(fd: c_int) {
    if !opens_again(fd) {
        return;
    }
    let state = State::of(fd);
    let mut path = *b"/proc/self/fd/\0\0\0\0\0\0";
    let (mut end, mut rest) = (path.len() - 1, fd);
    // The digits are put behind as many slashes as are needed.
    loop {
        end -= 1;
        path[end] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    path[14..end].fill(b'/');
    let kept = libc::O_ACCMODE | libc::O_APPEND | libc::O_NONBLOCK | libc::O_DIRECT;
    // SAFETY: the path ends with a NUL; the other calls take numbers only.
    unsafe {
        let (at, path) = (libc::AT_FDCWD as usize, path.as_ptr() as usize);
        let mode = state.flags as usize & kept as usize;
        let own = syscall(
            SYS_openat,
            at,
            path,
            mode | libc::O_CLOEXEC as usize,
            0,
            0,
            0,
        );
        if own < 0 {
            return;
        }
        let get = libc::F_GETFD as usize;
        let closes = syscall(SYS_fcntl, fd as usize, get, 0, 0, 0, 0) as c_int & libc::FD_CLOEXEC;
        let how = if closes != 0 { libc::O_CLOEXEC } else { 0 };
        syscall(SYS_dup3, own as usize, fd as usize, how as usize, 0, 0, 0);
        os::close(own as c_int);
    }
    state.put_back();
}

/// To be called once before the process is cloned. `socket` will be closed in the clones.
pub fn begin(socket: c_int) {
    let open = (0..DESCRIPTORS as c_int).filter(|&fd| fd != socket && os::is_open(fd));
    // SAFETY: only one thread exists.
    let inherited = unsafe { INHERITED.get() };
    for fd in open {
        // Programs that run at the same moment for other workers have those, too.
        if fd > libc::STDERR_FILENO {
            reopen(fd);
        }
        inherited.all[inherited.len].fd = fd;
        inherited.len += 1;
    }
    remember();
}

/// Clones of this process will begin with the state that there is now.
pub fn remember() {
    for state in all() {
        *state = State::of(state.fd);
    }
}

/// To be called first in a clone.
pub fn restore() {
    // Locks of a file belong to the open file.
    if os::file_size(libc::STDIN_FILENO).unwrap_or_default() > 0 {
        reopen(libc::STDIN_FILENO);
    }
    for state in all() {
        state.put_back();
    }
}
