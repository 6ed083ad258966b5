//! Names of temporary files: made of the job's random numbers, so that they are the same in every
//! execution. Where such a file is there already, left behind or another worker's, the next name is
//! tried, and that is named.

use crate::start::effects;
use crate::{entropy, gate, intercept, os, time};
use core::ffi::{CStr, c_char, c_int};
use libc::{EEXIST, EINVAL, ENOENT, O_ACCMODE, O_CREAT, O_EXCL, O_RDWR};

/// What is to come into being at a name.
#[derive(Clone, Copy)]
enum What {
    /// A file, opened with these further flags.
    File(c_int),
    Directory,
    /// Nothing: the name is free when it is looked at.
    Name,
}

/// How many characters are chosen.
const CHOSEN: usize = 6;
/// So many names are tried.
const TRIES: usize = 10_000;

/// Makes it at a name of which the last `CHOSEN` characters before the last `suffix` ones are chosen
/// here: a descriptor, 0, or a negative errno.
///
/// # Safety
/// `template` is a string that may be written.
unsafe fn make(template: *mut c_char, suffix: c_int, what: What) -> isize {
    effects::note();
    // SAFETY: the caller's promise.
    let len = unsafe { CStr::from_ptr(template) }.count_bytes();
    // SAFETY: as above.
    let text = unsafe { core::slice::from_raw_parts_mut(template.cast::<u8>(), len) };
    let end = usize::try_from(suffix)
        .ok()
        .and_then(|suffix| len.checked_sub(suffix));
    let Some(chosen) = end.and_then(|end| text.get_mut(end.checked_sub(CHOSEN)?..end)) else {
        return -(EINVAL as isize);
    };
    if chosen != b"XXXXXX" {
        return -(EINVAL as isize);
    }
    for _ in 0..TRIES {
        entropy::letters(chosen);
        // SAFETY: the template is a string still.
        match unsafe { attempt(template, what) } {
            taken if taken == -(EEXIST as isize) => {
                gate::uncontrolled("a name for a temporary file, where another one was taken");
            }
            result => return result,
        }
    }
    -(EEXIST as isize)
}

/// # Safety
/// `path` is a string.
unsafe fn attempt(path: *const c_char, what: What) -> isize {
    let path = path as usize;
    // SAFETY: the caller's promise.
    unsafe {
        match what {
            What::File(flags) => {
                let flags = flags & !O_ACCMODE | O_RDWR | O_CREAT | O_EXCL;
                let (here, mode) = (libc::AT_FDCWD as usize, 0o600);
                os::syscall(libc::SYS_openat, here, path, flags as usize, mode, 0, 0)
            }
            What::Directory => os::syscall(libc::SYS_mkdir, path, 0o700, 0, 0, 0, 0),
            What::Name => {
                let mut stat: libc::stat = core::mem::zeroed();
                let into = &raw mut stat as usize;
                match os::syscall(libc::SYS_lstat, path, into, 0, 0, 0, 0) {
                    0 => -(EEXIST as isize),
                    errno if errno == -(ENOENT as isize) => 0,
                    errno => errno,
                }
            }
        }
    }
}

/// A new file: its descriptor, or -1.
///
/// # Safety
/// See [`make`].
unsafe fn file(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { make(template, suffix, What::File(flags)) } {
        fd @ 0.. => fd as c_int,
        errno => time::errno_result(-errno as c_int),
    }
}

/// A free name: whether there is one.
///
/// # Safety
/// See [`make`].
unsafe fn name(template: *mut c_char) -> bool {
    // SAFETY: the caller's promise.
    let result = unsafe { make(template, 0, What::Name) };
    if result < 0 {
        time::errno_result(-result as c_int);
    }
    result == 0
}

/// The template of `tmpnam`, with room as the manual says (L_tmpnam).
const TEMPLATE: &[u8; 17] = b"/tmp/fileXXXXXX\0\0";
const ROOM: usize = 20;
static SPACE: crate::serial::Serial<[c_char; ROOM]> = crate::serial::Serial::new([0; ROOM]);

/// `tmpnam` and `tmpnam_r`.
///
/// # Safety
/// `into` has room for [`ROOM`] characters.
unsafe fn name_into(into: *mut c_char) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe {
        into.copy_from(TEMPLATE.as_ptr().cast(), TEMPLATE.len());
        if name(into) {
            into
        } else {
            core::ptr::null_mut()
        }
    }
}

/// Is this a directory?
///
/// # Safety
/// `path` is null or a string.
unsafe fn is_directory(path: *const c_char) -> bool {
    // SAFETY: the caller's promise; the structure is the kernel's.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let into = &raw mut stat as usize;
        !path.is_null()
            && os::syscall(libc::SYS_stat, path as usize, into, 0, 0, 0, 0) == 0
            && stat.st_mode & libc::S_IFMT == libc::S_IFDIR
    }
}

/// `tempnam`.
///
/// # Safety
/// The arguments are null or strings.
unsafe fn name_in(directory: *const c_char, prefix: *const c_char) -> *mut c_char {
    const LONGEST_PREFIX: usize = 5;
    // SAFETY: the caller's promise; the block is large enough for all parts.
    unsafe {
        let variable = libc::getenv(c"TMPDIR".as_ptr());
        let places = [variable.cast_const(), directory, c"/tmp".as_ptr()];
        let place = places.into_iter().find(|&place| is_directory(place));
        let place = CStr::from_ptr(place.unwrap_or(c"/tmp".as_ptr())).to_bytes();
        let prefix = match prefix.is_null() {
            true => b"file",
            false => CStr::from_ptr(prefix).to_bytes(),
        };
        let prefix = &prefix[..prefix.len().min(LONGEST_PREFIX)];
        let parts = [place, b"/", prefix, b"XXXXXX\0"];
        let block = libc::malloc(parts.iter().map(|part| part.len()).sum()).cast::<c_char>();
        if block.is_null() {
            return block;
        }
        let mut at = block;
        for part in parts {
            at.copy_from(part.as_ptr().cast(), part.len());
            at = at.add(part.len());
        }
        if name(block) {
            return block;
        }
        libc::free(block.cast());
        core::ptr::null_mut()
    }
}

intercept! {
    fn mkstemp(template: *mut c_char) -> c_int, _pc => file(template, 0, 0);
    fn mkstemp64(template: *mut c_char) -> c_int, _pc => file(template, 0, 0);
    fn mkostemp(template: *mut c_char, flags: c_int) -> c_int, _pc => file(template, 0, flags);
    fn mkostemp64(template: *mut c_char, flags: c_int) -> c_int, _pc => file(template, 0, flags);
    fn mkstemps(template: *mut c_char, suffix: c_int) -> c_int, _pc => file(template, suffix, 0);
    fn mkstemps64(template: *mut c_char, suffix: c_int) -> c_int, _pc => file(template, suffix, 0);
    fn mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int,
        _pc => file(template, suffix, flags);
    fn mkostemps64(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int,
        _pc => file(template, suffix, flags);
    fn mkdtemp(template: *mut c_char) -> *mut c_char, _pc => {
        match make(template, 0, What::Directory) {
            0 => {
                crate::io::remember_directory(template);
                template
            }
            errno => {
                time::errno_result(-errno as c_int);
                core::ptr::null_mut()
            }
        }
    };
    fn mktemp(template: *mut c_char) -> *mut c_char, _pc => {
        if !name(template) {
            template.write(0);
        }
        template
    };
    fn tmpnam(into: *mut c_char) -> *mut c_char, _pc => match into.is_null() {
        true => name_into(SPACE.get().as_mut_ptr()),
        false => name_into(into),
    };
    fn tmpnam_r(into: *mut c_char) -> *mut c_char, _pc => match into.is_null() {
        true => into,
        false => name_into(into),
    };
    fn tempnam(directory: *const c_char, prefix: *const c_char) -> *mut c_char,
        _pc => name_in(directory, prefix);
}
