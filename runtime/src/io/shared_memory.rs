//! Named shared memory. The names belong to the execution: behind them is memory without a name, so
//! that executions do not meet there and nothing is left behind, however they end. A name that no
//! execution made, but that exists, is another process's. Children have what was there when they came
//! into being, unless they execute another program; what they make themselves is the machine's.

use super::names::{SHARED_MEMORY, Text, masked};
use super::raw;
use crate::serial::Serial;
use crate::start::effects;
use crate::time::errno_result;
use crate::{export, gate, os};
use core::ffi::{CStr, c_char, c_int};
use libc::{
    EEXIST, EINVAL, ENOENT, ENOSPC, O_ACCMODE, O_CLOEXEC, O_CREAT, O_EXCL, O_TRUNC, SYS_openat,
    mode_t,
};

/// How many names there can be at a time, and how long one is.
const MOST: usize = 256;
const LONGEST: usize = SHARED_MEMORY.longest;
/// The kernel takes so much of a name for what `/proc/self/maps` shows.
const SHOWN: usize = 240;

/// Descriptors by which the memory is kept have numbers from here on.
const OWN: usize = 902;

#[derive(Clone, Copy)]
struct Named {
    /// Without the slash.
    name: [u8; LONGEST],
    len: usize,
    /// Keeps the memory.
    fd: c_int,
}

static NAMED: Serial<[Option<Named>; MOST]> = Serial::new([None; MOST]);

fn all() -> &'static mut [Option<Named>; MOST] {
    // SAFETY: the running thread; nothing below switches.
    unsafe { NAMED.get() }
}

fn find(name: &[u8]) -> Option<usize> {
    let is = |n: &Option<Named>| n.as_ref().is_some_and(|n| &n.name[..n.len] == name);
    all().iter().position(is)
}

/// Has the execution any such name now?
pub fn any() -> bool {
    all().iter().any(Option::is_some)
}

mod library {
    use core::ffi::{c_char, c_int};
    use libc::mode_t;
    crate::real! {
        fn shm_open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        fn shm_unlink(name: *const c_char) -> c_int;
    }
}

/// New memory of this name: its descriptor, or an errno.
fn make(name: &[u8], flags: c_int, mode: mode_t) -> Result<c_int, c_int> {
    let place = all().iter().position(Option::is_none).ok_or(ENOSPC)?;
    let mut shown = [0u8; SHOWN + 1];
    let len = name.len().min(SHOWN);
    shown[..len].copy_from_slice(&name[..len]);
    // SAFETY: the name ends with a NUL; the descriptor is new.
    let fd = unsafe {
        let fd = libc::memfd_create(shown.as_ptr().cast(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(*libc::__errno_location());
        }
        libc::fchmod(fd, masked(mode));
        fd
    };
    let mut named = Named {
        name: [0; LONGEST],
        len: name.len(),
        fd: raw::fcntl(fd, libc::F_DUPFD_CLOEXEC, OWN) as c_int,
    };
    named.name[..name.len()].copy_from_slice(name);
    if named.fd < 0 {
        os::close(fd);
        return Err(-named.fd);
    }
    all()[place] = Some(named);
    if flags & O_ACCMODE == libc::O_RDONLY {
        // Who makes it may read it, whatever its mode says of others.
        os::close(fd);
        return again(place, flags);
    }
    Ok(fd)
}

/// Another descriptor of the memory in this place, or an errno.
fn again(place: usize, flags: c_int) -> Result<c_int, c_int> {
    let kept = all()[place].map_or(-1, |n| n.fd);
    let path = Text::of(format_args!("/proc/self/fd/{kept}"));
    let flags = (flags & (O_ACCMODE | O_TRUNC) | O_CLOEXEC) as usize;
    let (at, path) = (libc::AT_FDCWD as usize, path.bytes.as_ptr() as usize);
    // SAFETY: the path ends with a NUL.
    match unsafe { os::syscall(SYS_openat, at, path, flags, 0, 0, 0) } {
        fd @ 0.. => Ok(fd as c_int),
        errno => Err(-errno as c_int),
    }
}

/// `shm_open`: a descriptor or an errno; `None`: memory of other processes.
fn open(name: &CStr, flags: c_int, mode: mode_t) -> Option<Result<c_int, c_int>> {
    let name = match SHARED_MEMORY.bare(name) {
        Err(errno) => return Some(Err(errno)),
        Ok(name) => name,
    };
    Some(match (find(name), flags & O_CREAT, flags & O_EXCL) {
        (Some(_), O_CREAT, O_EXCL) => Err(EEXIST),
        (Some(place), ..) => again(place, flags),
        (None, ..) if SHARED_MEMORY.exists(name) => return None,
        (None, O_CREAT, _) => make(name, flags, mode),
        _ => Err(ENOENT),
    })
}

/// Takes the name away: 0 or an errno; `None`: it is none of ours.
fn unlink(name: &CStr) -> Option<Result<c_int, c_int>> {
    let name = match SHARED_MEMORY.bare(name) {
        Err(EINVAL) => return Some(Err(ENOENT)),
        Err(errno) => return Some(Err(errno)),
        Ok(name) => name,
    };
    match find(name) {
        None if SHARED_MEMORY.exists(name) => None,
        None => Some(Err(ENOENT)),
        Some(place) => {
            if let Some(named) = all()[place].take() {
                os::close(named.fd);
            }
            Some(Ok(0))
        }
    }
}

/// What came of it for the caller: of ours, or else of what the C library does.
fn answer(ours: Option<Result<c_int, c_int>>, theirs: impl FnOnce() -> c_int) -> c_int {
    match ours {
        Some(result) => result.unwrap_or_else(errno_result),
        None => {
            if gate::active() {
                gate::uncontrolled("shared memory of other processes");
            }
            theirs()
        }
    }
}

/// In a child of an execution, which nobody controls: the place of what it has inherited by this name.
fn inherited(name: &CStr) -> Option<usize> {
    find(SHARED_MEMORY.bare(name).ok()?)
}

unsafe extern "C-unwind" fn open_from(
    name: *const c_char,
    flags: c_int,
    mode: mode_t,
    _pc: usize,
) -> c_int {
    // SAFETY: the caller's promise: a text.
    let text = unsafe { CStr::from_ptr(name) };
    let ours = match gate::active() {
        true => {
            effects::note();
            open(text, flags, mode)
        }
        false => inherited(text)
            .filter(|_| flags & O_EXCL == 0)
            .map(|place| again(place, flags)),
    };
    // SAFETY: the caller's arguments.
    answer(ours, || unsafe { library::shm_open(name, flags, mode) })
}

unsafe extern "C-unwind" fn unlink_from(name: *const c_char, _pc: usize) -> c_int {
    // SAFETY: the caller's promise: a text.
    let text = unsafe { CStr::from_ptr(name) };
    let ours = match gate::active() {
        true => {
            effects::note();
            unlink(text)
        }
        false => inherited(text).and_then(|_| unlink(text)),
    };
    // SAFETY: the caller's argument.
    answer(ours, || unsafe { library::shm_unlink(name) })
}

export! {
    /// The mode is there only for new memory; it is handed on in any case.
    fn shm_open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int = open_from;
    fn shm_unlink(name: *const c_char) -> c_int = unlink_from;
}
