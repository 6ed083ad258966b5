//! Named pipes: an open for one side waits until the other side has been opened.

use super::table::{self, Object};
use super::wait::{Condition, Operation, Waiting, answer};
use super::{places, random, raw};
use crate::objects::Table;
use crate::os::syscall;
use crate::serial::Serial;
use crate::start::effects;
use crate::{intercept, numbers};
use core::ffi::{CStr, c_char, c_int};
use libc::{O_ACCMODE, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY, POLLHUP, POLLIN};
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;

/// How often each side has been opened, or its opening has begun.
#[derive(Clone, Copy, Default)]
struct Sides {
    readers: u64,
    writers: u64,
    /// Opens for writing that wait for a reader.
    waiting_writers: u64,
}

static SIDES: Serial<Table<Sides>> = Serial::new(Table::new());

fn sides(object: &Object) -> &'static mut Sides {
    // SAFETY: the running thread; the reference is dropped before anything switches.
    unsafe { SIDES.get() }.entry(object.number << 3 | 1 << 2, Sides::default)
}

/// `openat` as the program calls it.
#[derive(Clone, Copy)]
pub struct Open {
    pub directory: c_int,
    pub path: *const c_char,
    pub flags: c_int,
    pub mode: libc::mode_t,
}

impl Open {
    /// The system call with other flags.
    unsafe fn call(&self, flags: c_int) -> isize {
        let (directory, path) = (self.directory as usize, self.path as usize);
        // SAFETY: the program's arguments.
        unsafe {
            syscall(
                libc::SYS_openat,
                directory,
                path,
                flags as usize,
                self.mode as usize,
                0,
                0,
            )
        }
    }

    fn stat(&self) -> Option<libc::stat> {
        // SAFETY: the structure is as large as the kernel's; the path is the program's.
        unsafe {
            let mut stat: libc::stat = core::mem::zeroed();
            let (directory, path) = (self.directory as usize, self.path as usize);
            let into = &raw mut stat as usize;
            let result = syscall(libc::SYS_newfstatat, directory, path, into, 0, 0, 0);
            (result == 0).then_some(stat)
        }
    }
}

/// Is there a named pipe at `path`?
///
/// # Safety
/// `path` is a string.
pub unsafe fn is_fifo(path: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let stat = unsafe { raw::stat_path(path) };
    stat.is_some_and(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFIFO)
}

/// Opens a file; a named pipe waits for its other side.
///
/// # Safety
/// As `openat`.
pub unsafe fn open(open: Open, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    let path = unsafe { numbers::Path::of(open.path) };
    let open = Open {
        path: path.as_ptr(),
        ..open
    };
    if open.flags & effects::CHANGES != 0 {
        effects::note();
    }
    let fifo = open
        .stat()
        .filter(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFIFO);
    let Some(stat) = fifo else {
        // SAFETY: the caller's promise, also below.
        let fd = unsafe { open.call(open.flags) };
        if fd >= 0 && open.flags & O_ACCMODE != O_WRONLY {
            random::opened(fd as c_int);
        }
        return fd;
    };
    // SAFETY: as above.
    let path = unsafe { CStr::from_ptr(open.path) };
    let outside = !places::is_private(path.to_bytes());
    let object = table::of_inode(&stat, What::Fifo, outside);
    let operation = Operation::on(Kind::FifoOpen, -1, &object, pc);
    match open.flags & O_ACCMODE {
        // SAFETY: as above.
        O_RDONLY => unsafe { open_for_reading(&open, &object, &operation) },
        // SAFETY: as above.
        O_WRONLY => unsafe { open_for_writing(&open, &object, &operation) },
        _ => operation.at_once(|| {
            // SAFETY: as above.
            let fd = unsafe { open.call(open.flags) };
            if fd >= 0 {
                sides(&object).readers += 1;
                sides(&object).writers += 1;
            }
            fd
        }),
    }
}

unsafe fn open_for_reading(open: &Open, object: &Object, operation: &Operation) -> isize {
    let mut before = 0;
    let mut met = false;
    let fd = operation.at_once(|| {
        let has_writer = has_writer(open);
        // SAFETY: the program's arguments.
        let fd = unsafe { open.call(open.flags | O_NONBLOCK) };
        let sides = sides(object);
        before = sides.writers;
        met = sides.waiting_writers > 0 || has_writer;
        sides.readers += u64::from(fd >= 0);
        fd
    });
    if fd < 0 || open.flags & O_NONBLOCK != 0 {
        return fd;
    }
    if !met {
        let result = operation.until_done(
            Waiting::new(Condition::Change, object.is_outside()).after_attempt(),
            || match sides(object).writers != before || raw::is_ready(fd as c_int, POLLIN) {
                true => fd,
                false => super::wait::WOULD_BLOCK,
            },
        );
        if result < 0 {
            // SAFETY: our own descriptor, which the program has not seen.
            unsafe { syscall(libc::SYS_close, fd as usize, 0, 0, 0, 0, 0) };
            return result;
        }
    }
    let flags = raw::status_flags(fd as c_int) & !O_NONBLOCK;
    raw::fcntl(fd as c_int, libc::F_SETFL, flags as usize);
    fd
}

/// Does somebody have the pipe open for writing? A writer that comes and goes makes the hang-up show
/// at a reader, unless there is another writer. The reader is one of our own, since it could not
/// notice a later writer any more.
fn has_writer(open: &Open) -> bool {
    // SAFETY: the program's path; our own descriptors; one entry.
    unsafe {
        let reader = open.call(open.flags | O_NONBLOCK);
        if reader < 0 {
            return false;
        }
        let writer = open.call(open.flags & !O_ACCMODE | O_WRONLY | O_NONBLOCK);
        syscall(libc::SYS_close, writer as usize, 0, 0, 0, 0, 0);
        let mut one = libc::pollfd {
            fd: reader as c_int,
            events: POLLIN,
            revents: 0,
        };
        raw::poll(&mut one, 1, 0);
        syscall(libc::SYS_close, reader as usize, 0, 0, 0, 0, 0);
        writer >= 0 && one.revents & POLLHUP == 0
    }
}

unsafe fn open_for_writing(open: &Open, object: &Object, operation: &Operation) -> isize {
    // SAFETY: the program's arguments.
    let attempt = || unsafe { open.call(open.flags | O_NONBLOCK) };
    let mut before = 0;
    let none = -(libc::ENXIO as isize);
    let waits = open.flags & O_NONBLOCK == 0;
    let mut fd = operation.at_once(|| {
        let fd = attempt();
        let sides = sides(object);
        before = sides.readers;
        sides.writers += u64::from(fd >= 0 || fd == none && waits);
        sides.waiting_writers += u64::from(fd == none && waits);
        fd
    });
    if fd == none && waits {
        let waiting = Waiting::new(Condition::Change, object.is_outside()).after_attempt();
        fd = operation.until_done(waiting, || match attempt() {
            n if n != none => n,
            // A reader came and went: the opening is over all the same.
            _ if sides(object).readers != before => without_reader(open),
            _ => super::wait::WOULD_BLOCK,
        });
        sides(object).waiting_writers -= 1;
    }
    if fd >= 0 && waits {
        let flags = raw::status_flags(fd as c_int) & !O_NONBLOCK;
        raw::fcntl(fd as c_int, libc::F_SETFL, flags as usize);
    }
    fd
}

/// Opens for writing although nobody reads.
fn without_reader(open: &Open) -> isize {
    // SAFETY: the program's arguments; the reader is our own and closed at once.
    unsafe {
        let reader = open.call(open.flags & !O_ACCMODE | O_RDWR | O_NONBLOCK);
        let fd = open.call(open.flags | O_NONBLOCK);
        if reader >= 0 {
            syscall(libc::SYS_close, reader as usize, 0, 0, 0, 0, 0);
        }
        fd
    }
}

/// The call with the descriptor of the working directory.
///
/// # Safety
/// As `open`.
pub unsafe fn here(path: *const c_char, flags: c_int, mode: libc::mode_t, pc: usize) -> c_int {
    let directory = libc::AT_FDCWD;
    // SAFETY: the program's arguments.
    unsafe { at(directory, path, flags, mode, pc) }
}

unsafe fn at(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mode: libc::mode_t,
    pc: usize,
) -> c_int {
    let call = Open {
        directory,
        path,
        flags,
        mode,
    };
    // SAFETY: the program's arguments.
    answer(unsafe { crate::io::fifo::open(call, pc) }) as c_int
}

intercept! {
    kernel;
    fn open(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, pc => here(path, flags, mode, pc);
    fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, pc => here(path, flags, mode, pc);
    fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int,
        pc => at(directory, path, flags, mode, pc);
    fn openat64(directory: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int,
        pc => at(directory, path, flags, mode, pc);
    fn __open_2(path: *const c_char, flags: c_int) -> c_int, pc => here(path, flags, 0, pc);
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int, pc => here(path, flags, 0, pc);
}
