//! Who is still there: every run holds a lock for as long as its process lives.

use crate::error::{Error, Result};
use crate::store;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// The lock file in a corpus directory. Run `id` locks byte `id`; the kernel unlocks it when the
/// process ends in whatever way, and the lock works between containers that share the directory.
pub struct Locks {
    file: File,
}

impl Locks {
    pub fn open(dir: &Path) -> Result<Locks> {
        let path = dir.join("locks");
        let file = store::open_own(&path).map_err(|e| Error::file("open", &path, &e))?;
        Ok(Locks { file })
    }

    /// Locks the byte of this run until the value is dropped. `false`: another process holds it.
    pub fn take(&self, run: i64) -> io::Result<bool> {
        match self.lock(libc::F_OFD_SETLK, run) {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Is the process of this run alive? One's own lock does not count.
    pub fn is_held(&self, run: i64) -> io::Result<bool> {
        let lock = self.lock(libc::F_OFD_GETLK, run)?;
        Ok(i32::from(lock.l_type) != libc::F_UNLCK)
    }

    /// A lock of an open file description on the byte of this run.
    fn lock(&self, command: libc::c_int, run: i64) -> io::Result<libc::flock> {
        // SAFETY: `flock` is plain numbers, for which zeros are values.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = libc::F_WRLCK as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = run;
        lock.l_len = 1;
        // SAFETY: the descriptor is open for as long as `self`, and `lock` outlives the call, which
        // writes nothing else.
        match unsafe { libc::fcntl(self.file.as_raw_fd(), command, &mut lock) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(lock),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_by_others_and_ends_with_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let mine = Locks::open(dir.path()).unwrap();
        let theirs = Locks::open(dir.path()).unwrap();
        assert!(mine.take(3).unwrap());
        assert!(!theirs.take(3).unwrap());
        assert!(theirs.is_held(3).unwrap() && !mine.is_held(3).unwrap());
        assert!(!theirs.is_held(4).unwrap());
        drop(mine);
        assert!(!theirs.is_held(3).unwrap());
        assert!(theirs.take(3).unwrap());
    }
}
