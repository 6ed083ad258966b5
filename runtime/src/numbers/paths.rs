//! Paths below `/proc` that name a process or a thread by its number.

use super::{PROCESS, kernel_thread, own, process, slot_of, thread};
use crate::{gate, gone, intercept};
use core::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;

/// Longest path that is translated, its NUL included.
const LONGEST: usize = 256;

/// A path as the kernel knows it.
pub struct Path {
    text: [u8; LONGEST],
    given: *const c_char,
    translated: bool,
}

impl Path {
    /// The file that the program calls `path`.
    ///
    /// # Safety
    /// `path` is null or a string that outlives the result.
    pub unsafe fn of(path: *const c_char) -> Path {
        let mut result = Path {
            text: [0; LONGEST],
            given: path,
            translated: false,
        };
        const START: &[u8] = b"/proc/";
        let mut start = [0; START.len()];
        // The string, or memory, may end before.
        let known = gone::try_read(path as usize, &mut start) && start == *START;
        let bytes = match known {
            // SAFETY: the caller's promise.
            true => unsafe { CStr::from_ptr(path) }.to_bytes(),
            false => &[],
        };
        if let Some(rest) = bytes.strip_prefix(START) {
            result.translated = translate(rest, &mut result.text).is_some();
        }
        result
    }

    /// The string.
    pub fn as_ptr(&self) -> *const c_char {
        if self.translated {
            self.text.as_ptr().cast()
        } else {
            self.given
        }
    }
}

/// The number that `text` begins with, and what follows it, which is nothing or a slash.
fn number(text: &[u8]) -> Option<(libc::pid_t, &[u8])> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    let id = core::str::from_utf8(digits).ok()?.parse().ok()?;
    matches!(rest.first(), None | Some(b'/')).then_some((id, rest))
}

/// Writes the whole path for what follows `/proc/`, if that has a number of ours.
fn translate(rest: &[u8], into: &mut [u8; LONGEST]) -> Option<()> {
    let (whose, rest) = match rest.strip_prefix(b"self/") {
        Some(_) => (PROCESS, &rest[b"self".len()..]),
        None => number(rest)?,
    };
    let mut out = &mut into[..LONGEST - 1];
    // A thread's number as a process: the same as that thread's process.
    let whose = if thread(whose).is_some() {
        PROCESS
    } else {
        whose
    };
    write!(out, "/proc/{}", process(whose)).ok()?;
    let task = rest.strip_prefix(b"/task/").and_then(number);
    match task.filter(|&(id, _)| slot_of(id).is_some()) {
        Some((id, rest)) => {
            write!(out, "/task/{}", kernel_thread(id)).ok()?;
            out.write_all(rest).ok()?;
        }
        None => out.write_all(rest).ok()?,
    }
    Some(())
}

intercept! {
    kernel;
    fn opendir(path: *const c_char) -> *mut c_void, _pc => {
        if !path.is_null() {
            crate::io::opened_directory(CStr::from_ptr(path).to_bytes());
        }
        real::opendir(Path::of(path).as_ptr())
    };
    fn fdopendir(fd: c_int) -> *mut c_void, _pc => {
        if let Some(path) = crate::io::path_of(fd, &mut [0; 128]) {
            crate::io::opened_directory(path);
        }
        real::fdopendir(fd)
    };
    fn scandir(path: *const c_char, list: usize, wanted: usize, order: usize) -> c_int, _pc => {
        if !path.is_null() {
            crate::io::opened_directory(CStr::from_ptr(path).to_bytes());
        }
        real::scandir(Path::of(path).as_ptr(), list, wanted, order)
    };
    fn scandir64(path: *const c_char, list: usize, wanted: usize, order: usize) -> c_int, _pc => {
        if !path.is_null() {
            crate::io::opened_directory(CStr::from_ptr(path).to_bytes());
        }
        real::scandir64(Path::of(path).as_ptr(), list, wanted, order)
    };
    fn access(path: *const c_char, mode: c_int) -> c_int,
        _pc => real::access(Path::of(path).as_ptr(), mode);
    fn readlink(path: *const c_char, into: *mut c_char, room: usize) -> isize, _pc => {
        match link(path, core::slice::from_raw_parts_mut(into.cast(), room)) {
            Some(len) => len as isize,
            None => {
                let len = real::readlink(Path::of(path).as_ptr(), into, room);
                shows_inode(into, len);
                shown_link(path, into, room, len)
            }
        }
    };
    fn readlinkat(at: c_int, path: *const c_char, into: *mut c_char, room: usize) -> isize, _pc => {
        if let Some(len) = link(path, core::slice::from_raw_parts_mut(into.cast(), room)) {
            return len as isize;
        }
        let len = real::readlinkat(at, Path::of(path).as_ptr(), into, room);
        shows_inode(into, len);
        shown_link(path, into, room, len)
    };
    fn realpath(path: *const c_char, into: *mut c_char) -> *mut c_char, _pc => {
        let found = real::realpath(Path::of(path).as_ptr(), into);
        if !found.is_null() {
            shows_inode(found, libc::strlen(found) as isize);
            shows_process(found);
        }
        found
    };
    fn canonicalize_file_name(path: *const c_char) -> *mut c_char, _pc => {
        let found = real::canonicalize_file_name(Path::of(path).as_ptr());
        if !found.is_null() {
            shows_inode(found, libc::strlen(found) as isize);
            shows_process(found);
        }
        found
    };
}

/// A link was read, so many bytes. Those of descriptors to pipes, sockets and namespaces hold the number of
/// an inode, which another execution has not.
///
/// # Safety
/// So much lies there.
pub unsafe fn shows_inode(link: *const c_char, len: isize) {
    let Ok(len) = usize::try_from(len) else {
        return;
    };
    // SAFETY: the caller's promise.
    let link = unsafe { core::slice::from_raw_parts(link.cast::<u8>(), len) };
    let last = link.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let mut parts = last.splitn(2, |&byte| byte == b':');
    let named = [&b"pipe"[..], b"socket"].contains(&parts.next().unwrap_or_default());
    // It may be cut off.
    if named
        && parts
            .next()
            .is_some_and(|rest| matches!(rest.first(), Some(b'[')))
    {
        gate::uncontrolled("inode number in the name of a pipe or a socket");
    }
}

/// The links to the caller's own process and thread, which a path that begins somewhere below `/proc`
/// leads to as well, hold the kernel's numbers: `into` has so many bytes of what `path` holds, and is
/// to hold ours. Returns how many these are.
///
/// # Safety
/// `path` is null or a string; so much may be written.
pub unsafe fn shown_link(path: *const c_char, into: *mut c_char, room: usize, len: isize) -> isize {
    if path.is_null() || len <= 0 {
        return len;
    }
    // SAFETY: the caller's promise.
    let (name, held) = unsafe {
        let held = core::slice::from_raw_parts(into.cast::<u8>(), len as usize);
        (CStr::from_ptr(path).to_bytes(), held)
    };
    let last = name.rsplit(|&byte| byte == b'/').next();
    let whole = match last {
        Some(b"self") => c"/proc/self",
        Some(b"thread-self") => c"/proc/thread-self",
        _ => return len,
    };
    let mut digits = [0; 12];
    let mut rest = &mut digits[..];
    let _ = write!(rest, "{}", crate::os::process());
    let left = rest.len();
    let known = &digits[..digits.len() - left];
    // It may be cut off.
    let of_kernel = match number(held) {
        Some((id, _)) if held.len() > known.len() => id == crate::os::process(),
        _ => known.starts_with(held) && (held.len() == known.len() || held.len() == room),
    };
    // SAFETY: as above.
    let room = unsafe { core::slice::from_raw_parts_mut(into.cast(), room) };
    // SAFETY: a string.
    match of_kernel.then(|| unsafe { link(whole.as_ptr(), room) }) {
        Some(Some(len)) => len as isize,
        _ => len,
    }
}

/// Names the number of the process in a path of the kernel's.
///
/// # Safety
/// `path` is a string.
unsafe fn shows_process(path: *const c_char) {
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let below = path.strip_prefix(b"/proc/").and_then(number);
    if below.is_some_and(|(id, _)| id == crate::os::process()) {
        gate::uncontrolled("number of the process in a path below /proc");
    }
}

/// What the links to the caller's own process and thread hold; `None`: `path` is neither.
///
/// # Safety
/// `path` is null or a string.
unsafe fn link(path: *const c_char, mut into: &mut [u8]) -> Option<usize> {
    if path.is_null() {
        return None;
    }
    let room = into.len();
    // SAFETY: the caller's promise. What does not fit is cut off, as by the kernel.
    let _ = match unsafe { CStr::from_ptr(path) }.to_bytes() {
        b"/proc/self" => write!(into, "{PROCESS}"),
        b"/proc/thread-self" => write!(into, "{PROCESS}/task/{}", own()),
        _ => return None,
    };
    Some(room - into.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(path: &CStr) -> String {
        // SAFETY: a string.
        let path = unsafe { Path::of(path.as_ptr()) };
        // SAFETY: as above.
        unsafe { CStr::from_ptr(path.as_ptr()) }
            .to_str()
            .expect("text")
            .into()
    }

    #[test]
    fn paths_without_numbers_stay() {
        for path in [
            c"/proc",
            c"/proc/",
            c"/proc/cpuinfo",
            c"/proc/1/maps",
            c"/tmp/8388608",
            c"",
        ] {
            assert_eq!(translated(path), path.to_str().expect("text"));
        }
    }

    #[test]
    fn numbers_end_at_a_slash() {
        assert_eq!(number(b"12/x"), Some((12, &b"/x"[..])));
        assert_eq!(number(b"12"), Some((12, &b""[..])));
        assert_eq!(number(b"12a"), None);
        assert_eq!(number(b""), None);
    }
}
