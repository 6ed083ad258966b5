//! Named semaphores. They belong to the execution, so that executions do not meet in them and
//! nothing is left behind: a name that no execution made, but that exists, is another process's
//! and is handed on to the C library. Children share the memory.

use crate::io::names::{SEMAPHORES, masked};
use crate::serial::Serial;
use crate::{export, gate, intercept, os, time};
use core::ffi::{CStr, c_char, c_int, c_uint};
use libc::{EACCES, EEXIST, EINVAL, ENOENT, gid_t, mode_t, sem_t, uid_t};
use raddle_protocol::event::Kind;

/// How many names there can be at a time, and how long one is.
const MOST: usize = 64;
const LONGEST: usize = SEMAPHORES.longest;

/// What `sem_open` returns when it fails.
const FAILED: *mut sem_t = core::ptr::null_mut();

#[derive(Clone, Copy)]
struct Named {
    /// Without the slash; empty once it is unlinked.
    name: [u8; LONGEST],
    len: usize,
    semaphore: *mut sem_t,
    /// How often it is open.
    open: u32,
    /// Who made it (user and group), and what the bits of its mode allow whom.
    owner: (uid_t, gid_t),
    mode: mode_t,
}

static NAMED: Serial<[Option<Named>; MOST]> = Serial::new([None; MOST]);

/// Not to be kept over a switch.
fn all() -> &'static mut [Option<Named>; MOST] {
    // SAFETY: the running thread.
    unsafe { NAMED.get() }
}

impl Named {
    fn is(&self, name: &[u8]) -> bool {
        self.len != 0 && &self.name[..self.len] == name
    }

    /// May `user` with this group read and write it, as it must be to be opened?
    fn admits(&self, user: uid_t, group: gid_t) -> bool {
        const READ_AND_WRITE: mode_t = 6;
        const ROOT: uid_t = 0;
        let allowed = match () {
            _ if user == ROOT => READ_AND_WRITE,
            _ if user == self.owner.0 => self.mode >> 6,
            _ if group == self.owner.1 => self.mode >> 3,
            _ => self.mode,
        };
        allowed & READ_AND_WRITE == READ_AND_WRITE
    }
}

/// The effective user and group.
fn identity() -> (uid_t, gid_t) {
    // SAFETY: they ask the kernel.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

fn find(name: &[u8]) -> Option<usize> {
    all().iter().position(|n| n.is_some_and(|n| n.is(name)))
}

fn at(semaphore: *mut sem_t) -> Option<usize> {
    let is = |n: &Option<Named>| n.is_some_and(|n| n.semaphore == semaphore && n.open > 0);
    all().iter().position(is)
}

/// May the caller open what is at this place?
fn is_admitted(place: usize) -> bool {
    let (user, group) = identity();
    all()[place].is_some_and(|n| n.admits(user, group))
}

/// Makes a new one.
fn make(name: &[u8], mode: mode_t, value: c_uint) -> Result<*mut sem_t, c_int> {
    const MOST_VALUE: c_uint = c_int::MAX as c_uint;
    if value > MOST_VALUE {
        return Err(EINVAL);
    }
    let place = all().iter().position(Option::is_none).ok_or(libc::EMFILE)?;
    let semaphore = os::map_shared_memory(os::PAGE).cast::<sem_t>();
    // SAFETY: fresh memory that is large enough.
    gate::passively(|| unsafe { libc::sem_init(semaphore, 1, value) });
    let mut named = Named {
        name: [0; LONGEST],
        len: name.len(),
        semaphore,
        open: 1,
        owner: identity(),
        mode: masked(mode),
    };
    named.name[..name.len()].copy_from_slice(name);
    all()[place] = Some(named);
    Ok(semaphore)
}

/// `sem_open`; `None`: a semaphore of other processes.
///
/// # Safety
/// `name` is a text.
unsafe fn open(
    name: *const c_char,
    flags: c_int,
    mode: mode_t,
    value: c_uint,
    pc: usize,
) -> Option<Result<*mut sem_t, c_int>> {
    gate::simple(Kind::SemName, 0, pc);
    // SAFETY: the caller's promise.
    let result = match SEMAPHORES.bare(unsafe { CStr::from_ptr(name) }) {
        Err(errno) => Err(errno),
        Ok(name) => match (find(name), flags & libc::O_CREAT, flags & libc::O_EXCL) {
            (Some(_), libc::O_CREAT, libc::O_EXCL) => Err(EEXIST),
            (Some(place), ..) if !is_admitted(place) => Err(EACCES),
            (Some(place), ..) => Ok(all()[place].as_mut().map_or(FAILED, |n| {
                n.open += 1;
                n.semaphore
            })),
            (None, ..) if SEMAPHORES.exists(name) => return None,
            (None, libc::O_CREAT, _) => make(name, mode, value),
            _ => Err(ENOENT),
        },
    };
    let object = result.map_or(0, |semaphore| semaphore as u64);
    gate::log(Kind::SemName, object, 0, pc);
    Some(result)
}

/// Gives the place back when nobody can reach the semaphore any more.
fn drop_if_gone(place: usize) {
    if let Some(n) = all()[place].filter(|n| n.open == 0 && n.len == 0) {
        all()[place] = None;
        super::sem::forget(n.semaphore as u64, n.semaphore as u64 + os::PAGE as u64);
        os::unmap(n.semaphore.cast(), os::PAGE);
    }
}

/// `sem_close`; `None`: not one of ours.
fn close(semaphore: *mut sem_t, pc: usize) -> Option<c_int> {
    let place = at(semaphore)?;
    gate::simple(Kind::SemName, semaphore as u64, pc);
    gate::log(Kind::SemName, semaphore as u64, 0, pc);
    if let Some(n) = all()[place].as_mut() {
        n.open = n.open.saturating_sub(1);
    }
    drop_if_gone(place);
    Some(0)
}

/// `sem_unlink`: 0 or an errno; `None`: not one of ours.
///
/// # Safety
/// `name` is a text.
unsafe fn unlink(name: *const c_char, pc: usize) -> Option<c_int> {
    gate::simple(Kind::SemName, 0, pc);
    gate::log(Kind::SemName, 0, 0, pc);
    // SAFETY: the caller's promise.
    match SEMAPHORES.bare(unsafe { CStr::from_ptr(name) }) {
        Err(EINVAL) => Some(ENOENT),
        Err(errno) => Some(errno),
        Ok(name) => {
            let Some(place) = find(name) else {
                return (!SEMAPHORES.exists(name)).then_some(ENOENT);
            };
            if let Some(n) = all()[place].as_mut() {
                n.len = 0;
            }
            drop_if_gone(place);
            Some(0)
        }
    }
}

/// What belongs to other processes is left to the C library, and said.
const OUTSIDE: &str = "a named semaphore of other processes";

mod library {
    use core::ffi::{c_char, c_int, c_uint};
    use libc::{mode_t, sem_t};
    crate::real! {
        fn sem_open(name: *const c_char, flags: c_int, mode: mode_t, value: c_uint) -> *mut sem_t;
        fn sem_close(semaphore: *mut sem_t) -> c_int;
    }
}

/// In a child of an execution, which nobody controls: the semaphore of this name, in memory that
/// the child shares; `None`: there is none, or a new one is wanted.
///
/// # Safety
/// `name` is a text.
unsafe fn inherited(name: *const c_char, flags: c_int) -> Option<*mut sem_t> {
    // SAFETY: the caller's promise.
    let name = SEMAPHORES.bare(unsafe { CStr::from_ptr(name) }).ok()?;
    let place = find(name).filter(|_| flags & libc::O_EXCL == 0)?;
    Some(all()[place]?.semaphore)
}

unsafe extern "C-unwind" fn open_from(
    name: *const c_char,
    flags: c_int,
    mode: mode_t,
    value: c_uint,
    pc: usize,
) -> *mut sem_t {
    // SAFETY: the caller's arguments.
    unsafe {
        if !gate::active() {
            let known = inherited(name, flags);
            return known.unwrap_or_else(|| library::sem_open(name, flags, mode, value));
        }
        match open(name, flags, mode, value, pc) {
            Some(Ok(semaphore)) => semaphore,
            Some(Err(errno)) => {
                time::errno_result(errno);
                FAILED
            }
            None => {
                gate::uncontrolled(OUTSIDE);
                library::sem_open(name, flags, mode, value)
            }
        }
    }
}

unsafe extern "C-unwind" fn close_from(semaphore: *mut sem_t, pc: usize) -> c_int {
    let ours = match gate::active() {
        true => close(semaphore, pc),
        false => at(semaphore).map(|_| 0),
    };
    // SAFETY: the caller's argument.
    ours.unwrap_or_else(|| unsafe { library::sem_close(semaphore) })
}

export! {
    /// Two of the arguments are there only for a new semaphore; they are handed on in any case.
    fn sem_open(name: *const c_char, flags: c_int, mode: mode_t, value: c_uint) -> *mut sem_t = open_from;
    fn sem_close(semaphore: *mut sem_t) -> c_int = close_from;
}

intercept! {
    fn sem_unlink(name: *const c_char) -> c_int, pc => match unlink(name, pc) {
        Some(errno) => time::errno_result(errno),
        None => real::sem_unlink(name),
    };
}
