//! Has the execution done anything that outlasts it? Then it cannot be copied: its copies would
//! find the files, sockets or links that an execution from the start would make anew.
//!
//! Seen are: descriptors that were not there before `main`, shared mappings, bytes written to
//! anything but standard output and standard error, the calls below, and what `io` notes.

use crate::os;
use crate::serial::Serial;
use core::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};

/// Descriptors that are looked at; a program that has more open before `main` is not copied.
pub const DESCRIPTORS: usize = 256;

/// How the process was before `main`.
struct Before {
    open: [bool; DESCRIPTORS],
    shared: Option<u64>,
}

static BEFORE: Serial<Before> = Serial::new(Before {
    open: [false; DESCRIPTORS],
    shared: None,
});
static CALLED: Serial<bool> = Serial::new(false);

/// To be called before the process is cloned for the first time. `socket` will be closed in the
/// clones.
pub fn begin(socket: c_int) {
    // SAFETY: only one thread exists.
    let before = unsafe { BEFORE.get() };
    before.open = open_descriptors();
    if let Some(open) = before.open.get_mut(socket as usize) {
        *open = false;
    }
    before.shared = shared_mappings();
}

/// See the module.
pub fn any() -> bool {
    // SAFETY: plain data; the running thread alone looks.
    let (before, called) = unsafe { (BEFORE.get(), *CALLED.get()) };
    called
        || !highest_is_below(DESCRIPTORS)
        || open_descriptors() != before.open
        || before.shared.is_none()
        || shared_mappings() != before.shared
        || !wrote_only_output()
}

fn open_descriptors() -> [bool; DESCRIPTORS] {
    core::array::from_fn(|fd| os::is_open(fd as c_int))
}

/// Is the lowest free descriptor below `limit`? Then hardly any can lie above.
fn highest_is_below(limit: usize) -> bool {
    let fd = os::open(c"/proc/self/io");
    if fd >= 0 {
        os::close(fd);
    }
    (0..limit as c_int).contains(&fd)
}

/// Did all bytes that were written go to standard output and standard error, which are files that
/// only grow?
fn wrote_only_output() -> bool {
    let Some(written) = bytes_written() else {
        return false;
    };
    match (os::file_size(1), os::file_size(2)) {
        (Some(out), Some(err)) => written == out + err,
        _ => false,
    }
}

/// The kernel's count for this process.
fn bytes_written() -> Option<u64> {
    let mut number = None;
    each_line(c"/proc/self/io", |line| {
        if let Some(rest) = line.strip_prefix(b"wchar: ") {
            let text = core::str::from_utf8(rest).ok();
            number = text.and_then(|text| text.trim().parse().ok());
        }
    })?;
    number
}

/// How many shared mappings there are.
fn shared_mappings() -> Option<u64> {
    let mut count = 0;
    each_line(c"/proc/self/maps", |line| {
        let mut fields = line.split(|&b| b == b' ');
        let permissions = fields.nth(1).unwrap_or_default();
        count += u64::from(permissions.get(3) == Some(&b's'));
    })?;
    Some(count)
}

/// Calls `look` for the first 256 bytes of each line of a file; `None` if it cannot be read.
pub fn each_line(path: &CStr, mut look: impl FnMut(&[u8])) -> Option<()> {
    let fd = os::open(path);
    if fd < 0 {
        return None;
    }
    let mut buffer = [0u8; 512];
    let mut line = [0u8; 256];
    let mut len = 0;
    let result = loop {
        let n = os::read(fd, &mut buffer);
        let Some(part) = usize::try_from(n).ok().and_then(|n| buffer.get(..n)) else {
            break None;
        };
        if part.is_empty() {
            break Some(());
        }
        for &byte in part {
            if byte == b'\n' {
                look(&line[..len]);
                len = 0;
            } else if len < line.len() {
                line[len] = byte;
                len += 1;
            }
        }
    };
    os::close(fd);
    result
}

/// The program calls something that changes the file system or another process, or that a copy of
/// this process would share with it.
pub fn note() {
    // SAFETY: a plain flag, set by the running thread.
    unsafe { *CALLED.get() = true };
}

/// [`note`], then the real function.
macro_rules! effects {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        crate::intercept! {$(
            fn $name($($arg: $ty),*) -> $ret, _pc => {
                note();
                real::$name($($arg),*)
            };
        )*}
    };
}

type Path = *const c_char;

effects! {
    fn unlink(path: Path) -> c_int;
    fn unlinkat(at: c_int, path: Path, flags: c_int) -> c_int;
    fn remove(path: Path) -> c_int;
    fn rename(from: Path, to: Path) -> c_int;
    fn renameat(at: c_int, from: Path, to_at: c_int, to: Path) -> c_int;
    fn renameat2(at: c_int, from: Path, to_at: c_int, to: Path, flags: c_uint) -> c_int;
    fn mkdir(path: Path, mode: c_uint) -> c_int;
    fn mkdirat(at: c_int, path: Path, mode: c_uint) -> c_int;
    fn rmdir(path: Path) -> c_int;
    fn link(from: Path, to: Path) -> c_int;
    fn linkat(at: c_int, from: Path, to_at: c_int, to: Path, flags: c_int) -> c_int;
    fn symlink(from: Path, to: Path) -> c_int;
    fn symlinkat(from: Path, at: c_int, to: Path) -> c_int;
    fn mknod(path: Path, mode: c_uint, device: c_ulong) -> c_int;
    fn tmpfile() -> *mut c_void;
    fn truncate(path: Path, length: c_long) -> c_int;
    fn ftruncate(fd: c_int, length: c_long) -> c_int;
    fn chmod(path: Path, mode: c_uint) -> c_int;
    fn fchmod(fd: c_int, mode: c_uint) -> c_int;
    fn chown(path: Path, owner: c_uint, group: c_uint) -> c_int;
    fn utimensat(at: c_int, path: Path, times: *const c_void, flags: c_int) -> c_int;
    fn creat(path: Path, mode: c_uint) -> c_int;
    fn creat64(path: Path, mode: c_uint) -> c_int;
}

/// Flags of an opening that may make a file or empty one.
pub const CHANGES: c_int = libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE;

/// Does a mode of `fopen` change files?
///
/// # Safety
/// `mode` is a string.
pub unsafe fn mode_writes(mode: *const c_char) -> bool {
    // SAFETY: promised.
    let mode = unsafe { CStr::from_ptr(mode) };
    mode.to_bytes().iter().any(|b| b"wa+".contains(b))
}
