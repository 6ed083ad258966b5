//! `system`, `popen`, `pclose`: as the C library does them, but other threads go on while the
//! command runs.

use super::make::{announce, made};
use super::{Cancel, Wanted, wait_until_over};
use crate::serial::Serial;
use crate::{gate, intercept, os, time};
use core::ffi::{CStr, c_char, c_int};
use libc::{EINVAL, FILE, pid_t};

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// How many streams of `popen` there can be at a time.
const MOST: usize = 64;

/// A stream that `popen` made, and its child.
#[derive(Clone, Copy)]
struct Stream {
    file: *mut FILE,
    child: pid_t,
}

static STREAMS: Serial<[Option<Stream>; MOST]> = Serial::new([None; MOST]);

fn streams() -> &'static mut [Option<Stream>; MOST] {
    // SAFETY: the running thread; not kept over a switch.
    unsafe { STREAMS.get() }
}

/// Starts `sh -c command`. `connect` says which descriptor becomes which in the child. The child,
/// or an errno.
unsafe fn start(command: *const c_char, connect: Option<(c_int, c_int)>) -> Result<pid_t, c_int> {
    let argv = [c"sh".as_ptr(), c"-c".as_ptr(), command, core::ptr::null()];
    // SAFETY: all is initialised before it is used and outlives the calls.
    gate::passively(|| unsafe {
        let mut actions: libc::posix_spawn_file_actions_t = core::mem::zeroed();
        libc::posix_spawn_file_actions_init(&mut actions);
        if let Some((from, to)) = connect {
            libc::posix_spawn_file_actions_adddup2(&mut actions, from, to);
        }
        let mut child = 0;
        let (argv, environment) = (argv.as_ptr().cast(), environ.cast());
        let path = c"/bin/sh".as_ptr();
        let none = core::ptr::null();
        let result = libc::posix_spawn(&mut child, path, &actions, none, argv, environment);
        libc::posix_spawn_file_actions_destroy(&mut actions);
        match result {
            0 => Ok(child),
            errno => Err(errno),
        }
    })
}

/// Waits for a child that only we know: its status.
fn finish(child: pid_t, cancel: Cancel, pc: usize) -> c_int {
    wait_until_over(Wanted::of(child, 0), cancel, pc);
    let mut status = 0;
    let at = &raw mut status as usize;
    // SAFETY: the kernel writes a word.
    unsafe { os::syscall(libc::SYS_wait4, child as usize, at, 0, 0, 0, 0) };
    super::log_wait(1, pc);
    status
}

/// `system`.
unsafe fn run(command: *const c_char, pc: usize) -> c_int {
    if command.is_null() {
        return 1;
    }
    announce("system", pc);
    // SAFETY: the caller's command.
    let started = unsafe { start(command, None) };
    made(started.is_ok(), pc);
    match started {
        Ok(child) => finish(child, Cancel::Kills(child), pc),
        // What a shell that cannot be started would return.
        Err(_) => 127 << 8,
    }
}

/// Which end of the pipe the caller keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeps {
    Reading,
    Writing,
}

/// `popen`'s mode: which end, and is it closed by exec?
fn mode_of(mode: &[u8]) -> Option<(Keeps, bool)> {
    let (mut keeps, mut close) = (None, false);
    for letter in mode {
        match letter {
            b'r' if keeps.is_none() => keeps = Some(Keeps::Reading),
            b'w' if keeps.is_none() => keeps = Some(Keeps::Writing),
            b'e' => close = true,
            _ => return None,
        }
    }
    Some((keeps?, close))
}

/// `popen`: null with errno set if it fails.
unsafe fn open(command: *const c_char, mode: *const c_char, pc: usize) -> *mut FILE {
    // SAFETY: the caller's text.
    let parsed = mode_of(unsafe { CStr::from_ptr(mode) }.to_bytes());
    let place = streams().iter().position(Option::is_none);
    let result = match (parsed, place) {
        (None, _) => Err(EINVAL),
        (_, None) => Err(libc::EMFILE),
        (Some((keeps, close)), Some(place)) => {
            announce("popen", pc);
            // SAFETY: as above.
            let opened = unsafe { connect(command, keeps, close) };
            made(opened.is_ok(), pc);
            if let Ok(stream) = opened {
                streams()[place] = Some(stream);
            }
            opened.map(|stream| stream.file)
        }
    };
    result.unwrap_or_else(|errno| {
        time::errno_result(errno);
        core::ptr::null_mut()
    })
}

/// The pipe, the child at its other end, the stream at ours.
unsafe fn connect(command: *const c_char, keeps: Keeps, close: bool) -> Result<Stream, c_int> {
    let mut ends = [0; 2];
    // SAFETY: two descriptors are written; what is closed is ours.
    unsafe {
        let made = os::syscall(
            libc::SYS_pipe2,
            ends.as_mut_ptr() as usize,
            libc::O_CLOEXEC as usize,
            0,
            0,
            0,
            0,
        );
        if made != 0 {
            return Err(-made as c_int);
        }
        let (ours, theirs, to, text) = match keeps {
            Keeps::Reading => (ends[0], ends[1], 1, c"r"),
            Keeps::Writing => (ends[1], ends[0], 0, c"w"),
        };
        let started = start(command, Some((theirs, to)));
        os::close(theirs);
        let child = started.inspect_err(|_| os::close(ours))?;
        if !close {
            libc::fcntl(ours, libc::F_SETFD, 0);
        }
        let file = libc::fdopen(ours, text.as_ptr());
        Ok(Stream { file, child })
    }
}

/// `pclose`; `None`: not a stream of ours.
unsafe fn close(file: *mut FILE, pc: usize) -> Option<c_int> {
    let at = streams()
        .iter()
        .position(|s| s.is_some_and(|s| s.file == file))?;
    let stream = streams()[at].take()?;
    // SAFETY: the stream is the program's to close.
    unsafe { libc::fclose(file) };
    let status = finish(stream.child, Cancel::Never, pc);
    Some(status)
}

intercept! {
    fn system(command: *const c_char) -> c_int, pc => run(command, pc);
    fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE, pc => open(command, mode, pc);
    fn pclose(file: *mut FILE) -> c_int, pc => match close(file, pc) {
        Some(status) => status,
        None => real::pclose(file),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        for (text, expected) in [
            (&b"r"[..], Some((Keeps::Reading, false))),
            (b"w", Some((Keeps::Writing, false))),
            (b"re", Some((Keeps::Reading, true))),
            (b"ew", Some((Keeps::Writing, true))),
            (b"", None),
            (b"rw", None),
            (b"a", None),
        ] {
            assert_eq!(mode_of(text), expected);
        }
    }
}
