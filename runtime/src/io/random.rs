//! `/dev/random` and `/dev/urandom`: what is read from them comes from the job, by whatever path,
//! descriptor or stream. And files below `/proc` and `/sys`, which tell of the machine as it is: those
//! that may differ from execution to execution are named.

use super::raw;
use crate::gone::Memory;
use crate::os::syscall;
use crate::{entropy, gate, intercept};
use core::ffi::{c_char, c_int, c_void};
use libc::{iovec, off_t};
use raddle_protocol::shared::given;

const MEMORY: u32 = 1;
const RANDOM: u32 = 8;
const URANDOM: u32 = 9;

/// Is this a device of random numbers?
pub fn is_source(stat: &libc::stat) -> bool {
    let (major, minor) = (libc::major(stat.st_rdev), libc::minor(stat.st_rdev));
    stat.st_mode & libc::S_IFMT == libc::S_IFCHR
        && major == MEMORY
        && [RANDOM, URANDOM].contains(&minor)
}

/// Is there a device of random numbers behind this descriptor?
pub fn is_random(fd: c_int) -> bool {
    raw::stat(fd).is_some_and(|stat| is_source(&stat))
}

/// Can `fd` be read, as it was opened?
fn is_readable(fd: c_int) -> bool {
    raw::status_flags(fd) & libc::O_ACCMODE != libc::O_WRONLY
}

/// `read` of such a device: the number of bytes, or a negative errno.
///
/// # Safety
/// As `read`.
pub unsafe fn read(fd: c_int, into: *mut c_void, len: usize) -> isize {
    if !is_readable(fd) {
        return -(libc::EBADF as isize);
    }
    if len != 0 && (into.is_null() || Memory::written(into as usize, len).is_gone()) {
        return -(libc::EFAULT as isize);
    }
    // SAFETY: the caller's promise; the thread is controlled.
    unsafe { entropy::fill(given::DEVICE, into.cast(), len) };
    len as isize
}

/// `readv` of such a device.
///
/// # Safety
/// As `readv`.
pub unsafe fn read_vector(fd: c_int, parts: *const iovec, count: c_int) -> isize {
    let mut all = 0;
    for i in 0..count.max(0) as usize {
        // SAFETY: the caller's promise.
        let result = unsafe {
            let part = &*parts.add(i);
            read(fd, part.iov_base, part.iov_len)
        };
        if result < 0 {
            return result;
        }
        all += result;
    }
    all
}

intercept! {
    kernel;
    fn pread(fd: c_int, into: *mut c_void, len: usize, at: off_t) -> isize, _pc => match is_random(fd) {
        true => crate::io::wait::answer(crate::io::random::read(fd, into, len)),
        false => real::pread(fd, into, len, at),
    };
    fn pread64(fd: c_int, into: *mut c_void, len: usize, at: off_t) -> isize, _pc => match is_random(fd) {
        true => crate::io::wait::answer(crate::io::random::read(fd, into, len)),
        false => real::pread64(fd, into, len, at),
    };
    fn preadv(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> isize, _pc => match is_random(fd) {
        true => crate::io::wait::answer(crate::io::random::read_vector(fd, parts, count)),
        false => real::preadv(fd, parts, count, at),
    };
    fn preadv64(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> isize, _pc => match is_random(fd) {
        true => crate::io::wait::answer(crate::io::random::read_vector(fd, parts, count)),
        false => real::preadv64(fd, parts, count, at),
    };
}

const PROC_SUPER_MAGIC: i64 = 0x9fa0;
const SYSFS_MAGIC: i64 = 0x6265_6572;
const CGROUP2_SUPER_MAGIC: i64 = 0x6367_7270;

/// Files of a process below `/proc` that are the same in every execution.
const OF_PROCESS: [&[u8]; 12] = [
    b"auxv",
    b"cgroup",
    b"cmdline",
    b"comm",
    b"exe",
    b"fd",
    b"limits",
    b"mountinfo",
    b"mounts",
    b"net",
    b"ns",
    b"uid_map",
];
/// Other entries of `/proc` that do not change while the machine runs.
const OF_MACHINE: [&[u8]; 9] = [
    b"cmdline",
    b"devices",
    b"filesystems",
    b"misc",
    b"modules",
    b"mounts",
    b"self",
    b"sys",
    b"version",
];
/// Below `/proc/sys`, these do.
const CHANGING: [&[u8]; 4] = [b"/random/", b"/file-nr", b"/inode-", b"_last_pid"];

/// Is the file with this path one of the kernel's that tells every execution the same?
fn is_steady(path: &[u8]) -> bool {
    if let Some(rest) = path.strip_prefix(b"/sys/") {
        return rest.starts_with(b"devices/system/") || rest.starts_with(b"fs/");
    }
    let Some(rest) = path.strip_prefix(b"/proc/") else {
        return path == b"/proc" || path == b"/sys";
    };
    let mut parts = rest.splitn(3, |&b| b == b'/');
    let first = parts.next().unwrap_or_default();
    if first.iter().all(u8::is_ascii_digit) {
        return parts.next().is_none_or(|part| OF_PROCESS.contains(&part));
    }
    let changes = |end: &&[u8]| rest.windows(end.len()).any(|part| part == *end);
    OF_MACHINE.contains(&first) && !CHANGING.iter().any(changes)
}

/// Is this a file that the kernel makes up, in a file system of this kind?
fn is_made_up(number: i64, file: usize) -> bool {
    let mut system = [0i64; 16];
    let into = system.as_mut_ptr() as usize;
    // SAFETY: a `struct statfs` has 120 bytes, and its first word is the kind.
    let result = unsafe { syscall(number, file, into, 0, 0, 0, 0) };
    result == 0 && [PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP2_SUPER_MAGIC].contains(&system[0])
}

/// Is there a file of the kernel's own behind `fd`?
pub fn is_of_kernel(fd: c_int) -> bool {
    is_made_up(libc::SYS_fstatfs, fd as usize)
}

/// Is a file of the kernel's own at this path?
///
/// # Safety
/// `path` is a string.
pub unsafe fn is_path_of_kernel(path: *const c_char) -> bool {
    is_made_up(libc::SYS_statfs, path as usize)
}

/// To be called when `fd` was opened for reading: names it if what it says is not under control.
pub fn opened(fd: c_int) {
    if !is_of_kernel(fd) {
        return;
    }
    let mut path = [0u8; 128];
    let Some(path) = raw::path_of(fd, &mut path) else {
        return;
    };
    if !is_steady(path) {
        gate::uncontrolled(general(path).as_str());
    }
}

/// What the summary calls the file: without the numbers of the process and the kernel thread.
fn general(path: &[u8]) -> Name {
    let mut name = Name {
        bytes: [0; 128],
        len: 0,
    };
    name.push(b"what ");
    let is_number = |part: Option<&&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    let mut parts = path.split(|&b| b == b'/').skip(1).peekable();
    let mut before: [&[u8]; 2] = [b""; 2];
    while let Some(part) = parts.next() {
        let own: &[u8] = match (before, part) {
            ([b"", b"proc"], _) if is_number(Some(&part)) => match parts.peek() {
                Some(&b"task") => {
                    parts.next();
                    match is_number(parts.peek()) {
                        true => {
                            parts.next();
                            b"thread-self"
                        }
                        false => b"self/task",
                    }
                }
                _ => b"self",
            },
            _ => part,
        };
        name.push(b"/");
        name.push(own);
        before = [before[1], part];
    }
    name.push(b" says");
    name
}

/// A text of limited length.
struct Name {
    bytes: [u8; 128],
    len: usize,
}

impl Name {
    fn push(&mut self, text: &[u8]) {
        let room = &mut self.bytes[self.len..];
        let len = text.len().min(room.len());
        room[..len].copy_from_slice(&text[..len]);
        self.len += len;
    }

    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or("what a file of the kernel says")
    }
}

/// To be called when the entries of the directory with this path are about to be read: names it if they
/// are not under control.
pub fn opened_directory(path: &[u8]) {
    let end = path.iter().rposition(|&byte| byte != b'/');
    let path = &path[..end.map_or(0, |end| end + 1)];
    if path == b"/proc" {
        gate::uncontrolled("the list of processes in /proc");
    }
    if path.starts_with(b"/proc/") && path.ends_with(b"/task") {
        gate::uncontrolled("the list of kernel threads in /proc");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel() {
        for (path, steady) in [
            ("/proc/12/cmdline", true),
            ("/proc/12/fd/3", true),
            ("/proc/12/environ", false),
            ("/proc/12/maps", false),
            ("/proc/12/stat", false),
            ("/proc/12/task/13/stat", false),
            ("/proc/uptime", false),
            ("/proc/cpuinfo", false),
            ("/proc/version", true),
            ("/proc/sys/kernel/pid_max", true),
            ("/proc/sys/kernel/random/uuid", false),
            ("/proc/sys/fs/file-nr", false),
            ("/sys/devices/system/cpu/online", true),
            ("/sys/class/net/lo/statistics/rx_bytes", false),
            ("/proc/12", true),
        ] {
            assert_eq!(is_steady(path.as_bytes()), steady, "{path}");
        }
        for (path, said) in [
            ("/proc/12/maps", "what /proc/self/maps says"),
            ("/proc/uptime", "what /proc/uptime says"),
            ("/proc/12/task/13/stat", "what /proc/thread-self/stat says"),
            ("/proc/12/task", "what /proc/self/task says"),
            ("/proc/irq/5/spurious", "what /proc/irq/5/spurious says"),
            ("/sys/12/task/13", "what /sys/12/task/13 says"),
        ] {
            assert_eq!(general(path.as_bytes()).as_str(), said);
        }
    }
}
