//! What `stat` and its kin tell. Numbers of inodes and times of what was there before are the same in
//! every execution. Those of pipes, sockets and their like are given by raddle. Those of a file that
//! was made or changed meanwhile are the file system's, and named.

use super::random;
use super::table::{self, Sort};
use crate::numbers::Path;
use crate::os::syscall;
use crate::serial::Serial;
use crate::{gate, intercept, time};
use core::ffi::{c_char, c_int, c_uint};
use libc::stat;

/// Since when (nanoseconds since 1970, by the clock of the file system) files count as new.
static START: Serial<i128> = Serial::new(i128::MAX);

/// To be called once, before the process is cloned.
pub fn begin() {
    let mut now = [0i64; 2];
    let (clock, into) = (
        libc::CLOCK_REALTIME_COARSE as usize,
        now.as_mut_ptr() as usize,
    );
    // SAFETY: the kernel writes two words; only one thread exists.
    unsafe {
        syscall(libc::SYS_clock_gettime, clock, into, 0, 0, 0, 0);
        *START.get() = nanoseconds(now[0], now[1]);
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// What becomes of an answer.
enum Verdict {
    /// It is as it was.
    Same,
    /// Its times are set; its inode is `Some`, or stays.
    Set(Option<u64>),
}

/// Which answer is it, about a file of this kind that was changed last at `changed`?
fn judge(fd: Option<c_int>, kind: u32, changed: i128) -> Verdict {
    let blocks = matches!(kind, libc::S_IFIFO | libc::S_IFSOCK | 0);
    if let (Some(fd), true) = (fd, blocks)
        && let Sort::Object(object) = table::sort(fd)
    {
        return Verdict::Set(Some(object.number));
    }
    // SAFETY: the running thread.
    if changed < unsafe { *START.get() } {
        return Verdict::Same;
    }
    match fd {
        // Standard input, output and error are the controller's.
        Some(fd @ 0..=2) => Verdict::Set(Some(fd as u64 + 1)),
        _ if kind == libc::S_IFCHR => Verdict::Set(None),
        _ => {
            gate::uncontrolled(
                "inode number and times of a file that was made or changed meanwhile",
            );
            Verdict::Same
        }
    }
}

/// Makes what was told about `fd`, or about a path, the same in every execution, or names it.
fn settle(fd: Option<c_int>, told: &mut stat, of_kernel: impl FnOnce() -> bool) {
    let changed = nanoseconds(told.st_ctime, told.st_ctime_nsec);
    // SAFETY: the running thread.
    let verdict = match changed >= unsafe { *START.get() } && of_kernel() {
        true => Verdict::Set(None),
        false => judge(fd, told.st_mode & libc::S_IFMT, changed),
    };
    if let Verdict::Set(inode) = verdict {
        told.st_ino = inode.unwrap_or(told.st_ino);
        let base = time::timespec_of(time::wall_base());
        (told.st_atime, told.st_atime_nsec) = (base.tv_sec, base.tv_nsec);
        (told.st_mtime, told.st_mtime_nsec) = (base.tv_sec, base.tv_nsec);
        (told.st_ctime, told.st_ctime_nsec) = (base.tv_sec, base.tv_nsec);
    }
}

/// After a call that told of `fd`.
unsafe fn of_descriptor(result: c_int, fd: c_int, told: *mut stat) -> c_int {
    if result == 0 {
        // SAFETY: the call wrote there.
        settle(Some(fd), unsafe { &mut *told }, || random::is_of_kernel(fd));
    }
    result
}

/// After a call that told of a path.
unsafe fn of_path(result: c_int, path: *const c_char, told: *mut stat) -> c_int {
    if result == 0 {
        // SAFETY: the call wrote there, and the kernel has read the path.
        unsafe { settle(None, &mut *told, || random::is_path_of_kernel(path)) };
    }
    result
}

/// After `fstatat` and its kin, which tell of a descriptor where there is no path.
unsafe fn of_either(result: c_int, fd: c_int, path: *const c_char, told: *mut stat) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        match path.is_null() || path.read() == 0 {
            true => of_descriptor(result, fd, told),
            false => of_path(result, path, told),
        }
    }
}

/// As [`of_either`], for `statx`.
unsafe fn of_extended(result: c_int, fd: c_int, path: *const c_char, told: *mut libc::statx) {
    if result != 0 {
        return;
    }
    // SAFETY: the call wrote there; a structure of numbers.
    unsafe {
        let told = &mut *told;
        let mut short: stat = core::mem::zeroed();
        short.st_mode = told.stx_mode.into();
        short.st_ino = told.stx_ino;
        (short.st_ctime, short.st_ctime_nsec) =
            (told.stx_ctime.tv_sec, told.stx_ctime.tv_nsec.into());
        (short.st_mtime, short.st_atime) = (i64::MIN, i64::MIN);
        of_either(0, fd, path, &mut short);
        if short.st_mtime != i64::MIN {
            told.stx_ino = short.st_ino;
            for at in [
                &mut told.stx_atime,
                &mut told.stx_mtime,
                &mut told.stx_ctime,
                &mut told.stx_btime,
            ] {
                (at.tv_sec, at.tv_nsec) = (short.st_mtime, short.st_mtime_nsec as u32);
            }
        }
    }
}

intercept! {
    kernel;
    fn stat(path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::stat(Path::of(path).as_ptr(), into), path, into);
    fn stat64(path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::stat64(Path::of(path).as_ptr(), into), path, into);
    fn lstat(path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::lstat(Path::of(path).as_ptr(), into), path, into);
    fn lstat64(path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::lstat64(Path::of(path).as_ptr(), into), path, into);
    fn fstat(fd: c_int, into: *mut stat) -> c_int, _pc => of_descriptor(real::fstat(fd, into), fd, into);
    fn fstat64(fd: c_int, into: *mut stat) -> c_int, _pc => of_descriptor(real::fstat64(fd, into), fd, into);
    fn fstatat(fd: c_int, path: *const c_char, into: *mut stat, flags: c_int) -> c_int,
        _pc => of_either(real::fstatat(fd, path, into, flags), fd, path, into);
    fn fstatat64(fd: c_int, path: *const c_char, into: *mut stat, flags: c_int) -> c_int,
        _pc => of_either(real::fstatat64(fd, path, into, flags), fd, path, into);
    fn statx(fd: c_int, path: *const c_char, flags: c_int, mask: c_uint, into: *mut libc::statx) -> c_int, _pc => {
        let result = real::statx(fd, path, flags, mask, into);
        of_extended(result, fd, path, into);
        result
    };
    fn __xstat(version: c_int, path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::__xstat(version, path, into), path, into);
    fn __xstat64(version: c_int, path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::__xstat64(version, path, into), path, into);
    fn __lxstat(version: c_int, path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::__lxstat(version, path, into), path, into);
    fn __lxstat64(version: c_int, path: *const c_char, into: *mut stat) -> c_int,
        _pc => of_path(real::__lxstat64(version, path, into), path, into);
    fn __fxstat(version: c_int, fd: c_int, into: *mut stat) -> c_int,
        _pc => of_descriptor(real::__fxstat(version, fd, into), fd, into);
    fn __fxstat64(version: c_int, fd: c_int, into: *mut stat) -> c_int,
        _pc => of_descriptor(real::__fxstat64(version, fd, into), fd, into);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_there_before_are_left_alone() {
        assert!(matches!(judge(None, libc::S_IFREG, 5), Verdict::Same));
    }
}
