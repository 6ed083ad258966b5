//! Names of POSIX semaphores and shared memory, and the files below `/dev/shm` in which the C library
//! keeps what they stand for.

use crate::os::syscall;
use core::ffi::{CStr, c_int};
use core::fmt;
use libc::{EINVAL, ENAMETOOLONG, mode_t};
use std::io::Write;

/// A file's name is no longer.
const LONGEST: usize = 255;

/// Where the C library keeps the objects of one kind.
#[derive(Clone, Copy)]
pub struct Files {
    path: &'static str,
    /// So long may a name be.
    pub longest: usize,
}

const fn files(path: &'static str, prefix: usize) -> Files {
    Files {
        path,
        longest: LONGEST - prefix,
    }
}

pub const SEMAPHORES: Files = files("/dev/shm/sem.", "sem.".len());
pub const SHARED_MEMORY: Files = files("/dev/shm/", 0);

impl Files {
    /// A name without the slashes in front, which it may have; or an errno.
    pub fn bare(self, name: &CStr) -> Result<&[u8], c_int> {
        let name = name.to_bytes();
        let start = name.iter().position(|&b| b != b'/').unwrap_or(name.len());
        match &name[start..] {
            rest if rest.is_empty() || rest.contains(&b'/') => Err(EINVAL),
            rest if rest.len() > self.longest => Err(ENAMETOOLONG),
            rest => Ok(rest),
        }
    }

    /// Is there an object of this name outside the execution?
    pub fn exists(self, bare: &[u8]) -> bool {
        let mut path = [0u8; 16 + LONGEST + 1];
        let len = path.len();
        let mut rest = &mut path[..len - 1];
        let written = rest
            .write_all(self.path.as_bytes())
            .and(rest.write_all(bare));
        let (path, mode) = (path.as_ptr() as usize, libc::F_OK as usize);
        // SAFETY: the path ends with NUL.
        written.is_ok() && unsafe { syscall(libc::SYS_access, path, mode, 0, 0, 0, 0) } == 0
    }
}

/// The mode of what is made with `mode` asked for.
pub fn masked(mode: mode_t) -> mode_t {
    const ALL: mode_t = 0o777;
    // SAFETY: nobody else runs while the mask is another one.
    let mask = unsafe {
        let mask = libc::umask(ALL);
        libc::umask(mask);
        mask
    };
    mode & ALL & !mask
}

/// A name for the kernel, or a path, without an allocation.
pub struct Text {
    pub bytes: [u8; 48],
    len: usize,
}

impl Text {
    pub fn of(what: fmt::Arguments) -> Text {
        let mut text = Text {
            bytes: [0; 48],
            len: 0,
        };
        // Two numbers and some letters always fit.
        let _ = fmt::Write::write_fmt(&mut text, what);
        text
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + s.len());
        room.ok_or(fmt::Error)?.copy_from_slice(s.as_bytes());
        self.len += s.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_posix_has_them() {
        let long = |len: usize| [vec![b'/'], vec![b'x'; len], vec![0]].concat();
        let (fits, is_too_long) = (long(251), long(252));
        for (name, expected) in [
            (&b"/a\0"[..], Ok(&b"a"[..])),
            (b"//a\0", Ok(b"a")),
            (b"a\0", Ok(b"a")),
            (b"\0", Err(EINVAL)),
            (b"/\0", Err(EINVAL)),
            (b"/a/b\0", Err(EINVAL)),
            (&fits, Ok(&fits[1..252])),
            (&is_too_long, Err(ENAMETOOLONG)),
        ] {
            let name = CStr::from_bytes_with_nul(name).unwrap();
            assert_eq!(SEMAPHORES.bare(name), expected, "{name:?}");
        }
    }
}
