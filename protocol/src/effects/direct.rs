//! Which function of the C library does the same as a system call that a program makes by its number
//! (x86-64).

/// The function by which that is done.
pub const FUNCTION: &str = "syscall";

/// What is known of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// It does what the function with this name does, which gets the same arguments.
    As(&'static str),
    /// It accesses no memory that others see, or that is told of in another way, and keeps nothing.
    Nothing,
    Unknown,
}

/// What the system call with this number does.
pub fn direct(number: u64) -> Direct {
    let name = match number as usize {
        n if n < FIRST.len() => FIRST[n],
        n => n
            .checked_sub(LATER_FROM)
            .and_then(|n| LATER.get(n))
            .copied()
            .unwrap_or("?"),
    };
    match name {
        "." => Direct::Nothing,
        "?" => Direct::Unknown,
        name => Direct::As(name),
    }
}

/// Functions of system calls that have no row, and get numbers alone, or only hand over what lies there: names
/// that others may not write meanwhile.
const NUMBERS: &str = "close lseek shmget dup dup2 dup3 alarm socket shutdown listen kill semget msgget \
    flock fsync fdatasync ftruncate fchdir fchmod fchown umask getuid getgid setuid setgid geteuid getegid \
    setpgid getpgrp setsid setreuid setregid setresuid setresgid getpgid setfsuid setfsgid getsid personality \
    getpriority setpriority mlockall munlockall vhangup iopl ioperm readahead epoll_create epoll_create1 \
    posix_fadvise inotify_init inotify_init1 inotify_rm_watch unshare tee sync_file_range timerfd_create \
    eventfd fallocate fanotify_init syncfs setns userfaultfd pkey_alloc pkey_free pidfd_open close_range \
    pidfd_getfd mmap munmap brk mremap shmat shmdt remap_file_pages mprotect msync madvise mlock munlock \
    mlock2 pkey_mprotect";

/// Requests are told of by their numbers.
const REQUESTS: &str = "ioctl fcntl";

/// Is it known what the system call with this number and these arguments does to memory? What it may be given is
/// an address; all that has to be known of others is that they are none.
pub fn is_known(number: u64, arguments: &[u64]) -> bool {
    /// No pointer leads to the first page.
    const FIRST: u64 = 4096;
    let is_in = |names: &str, name| names.split_ascii_whitespace().any(|one| one == name);
    match direct(number) {
        Direct::Nothing => true,
        Direct::Unknown => false,
        Direct::As(name) => {
            super::find(name).is_some()
                || is_in(NUMBERS, name)
                || is_in(REQUESTS, name)
                || arguments.iter().all(|&argument| argument < FIRST)
        }
    }
}

/// The function that is called, and its arguments, where a call of this function with these arguments may
/// be a system call by number; `None`: nothing is known of that, or there is nothing to know.
pub fn through<'a>(name: &'a str, values: &'a [u64]) -> Option<(&'a str, &'a [u64])> {
    match (name, values) {
        (FUNCTION, []) => None,
        (FUNCTION, [number, values @ ..]) => match direct(*number) {
            Direct::As(name) => Some((name, values)),
            Direct::Nothing | Direct::Unknown => None,
        },
        _ => Some((name, values)),
    }
}

/// By number, from 0 on. `.` and `?`: see [`Direct::Nothing`] and [`Direct::Unknown`], the latter where the
/// kernel's structures are not those of the C library, too.
const FIRST: [&str; 335] = words(
    "read write open close stat fstat lstat poll lseek mmap mprotect munmap brk ? ? . ioctl pread \
     pwrite readv writev access pipe select . mremap msync mincore madvise shmget shmat shmctl dup \
     dup2 . nanosleep getitimer alarm setitimer . sendfile socket connect accept sendto recvfrom \
     sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt . \
     . . . . wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv msgctl fcntl flock fsync \
     fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat link unlink \
     symlink readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage ? \
     times ? getuid klogctl getgid setuid setgid geteuid getegid setpgid . getpgrp setsid setreuid \
     setregid getgroups setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid \
     getsid capget capset ? ? ? ? ? utime mknod ? personality ? statfs fstatfs ? getpriority \
     setpriority sched_setparam sched_getparam sched_setscheduler . . . \
     sched_rr_get_interval mlock munlock mlockall munlockall vhangup ? ? ? prctl ? adjtimex setrlimit \
     chroot . acct settimeofday mount umount2 swapon swapoff reboot sethostname setdomainname iopl \
     ioperm ? ? ? ? ? quotactl nfsservctl ? ? ? ? ? . readahead setxattr lsetxattr fsetxattr getxattr \
     lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr . time \
     . ? ? ? ? ? ? ? ? ? ? epoll_create ? ? remap_file_pages getdents ? ? ? posix_fadvise ? ? ? ? ? \
     clock_settime clock_gettime clock_getres clock_nanosleep . epoll_wait epoll_ctl . utimes ? ? ? ? \
     ? ? ? ? ? ? ? waitid ? ? ? ? ? inotify_init inotify_add_watch inotify_rm_watch ? openat mkdirat \
     mknodat fchownat futimesat fstatat unlinkat renameat linkat symlinkat readlinkat fchmodat \
     faccessat ? ? unshare . ? splice tee sync_file_range vmsplice ? utimensat epoll_pwait ? \
     timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 ? eventfd epoll_create1 \
     dup3 pipe2 inotify_init1 preadv pwritev ? ? recvmmsg fanotify_init fanotify_mark prlimit \
     name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv \
     process_vm_writev ? ? sched_setattr sched_getattr renameat2 ? getrandom memfd_create ? ? . userfaultfd . mlock2 \
     copy_file_range ? ? pkey_mprotect pkey_alloc pkey_free statx ? .",
);

const LATER_FROM: usize = 424;
/// The same from [`LATER_FROM`] on.
const LATER: [&str; 27] =
    words("? ? ? ? ? ? ? ? ? ? pidfd_open . close_range ? pidfd_getfd ? ? ? ? ? ? ? ? ? ? . ?");

/// The words of a text, which has as many.
const fn words<const N: usize>(text: &'static str) -> [&'static str; N] {
    let (mut found, mut count, mut from, mut at) = ([""; N], 0, 0, 0);
    let bytes = text.as_bytes();
    while at <= bytes.len() {
        if at == bytes.len() || bytes[at] == b' ' {
            let word = bytes.split_at(at).0.split_at(from).1;
            found[count] = match core::str::from_utf8(word) {
                Ok(word) => word,
                Err(_) => panic!("words are text"),
            };
            count += 1;
            from = at + 1;
        }
        at += 1;
    }
    assert!(count == N, "so many words");
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::{Known, keeps_state};
    use std::vec::Vec;

    #[test]
    fn numbers_and_names_agree() {
        let cases = [
            (0, Direct::As("read")),
            (11, Direct::As("munmap")),
            (12, Direct::As("brk")),
            (25, Direct::As("mremap")),
            (33, Direct::As("dup2")),
            (39, Direct::Nothing),
            (67, Direct::As("shmdt")),
            (72, Direct::As("fcntl")),
            (95, Direct::As("umask")),
            (141, Direct::As("setpriority")),
            (161, Direct::As("chroot")),
            (186, Direct::Nothing),
            (202, Direct::Nothing),
            (231, Direct::Nothing),
            (257, Direct::As("openat")),
            (269, Direct::As("faccessat")),
            (293, Direct::As("pipe2")),
            (302, Direct::As("prlimit")),
            (318, Direct::As("getrandom")),
            (329, Direct::As("pkey_mprotect")),
            (332, Direct::As("statx")),
            (334, Direct::Nothing),
            (335, Direct::Unknown),
            (434, Direct::As("pidfd_open")),
            (436, Direct::As("close_range")),
            (449, Direct::Nothing),
            (u64::MAX, Direct::Unknown),
        ];
        for (number, expected) in cases {
            assert_eq!(direct(number), expected, "{number}");
        }
    }

    #[test]
    fn of_each_function_it_is_known_what_it_does() {
        let is_known = |name: &&str| Known::of(name).is_some() || keeps_state(name).is_some();
        let names = FIRST.into_iter().chain(LATER).filter(|name| name.len() > 1);
        let unknown: Vec<&str> = names.filter(|name| !is_known(name)).collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn calls_by_number_are_those_of_functions() {
        let values = [11, 4096, 8192];
        assert_eq!(through(FUNCTION, &values), Some(("munmap", &values[1..])));
        assert_eq!(through("munmap", &values), Some(("munmap", &values[..])));
        assert_eq!(through(FUNCTION, &[202]), None);
        assert_eq!(through(FUNCTION, &[]), None);
    }
}
