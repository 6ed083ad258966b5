//! What functions of the C library read and store where their arguments lead.

use crate::cpp::START_THREAD;

/// Instead of the number of an argument: the result, which leads to memory of the library's own that
/// is zero at first.
pub const OWN: u32 = u32::MAX;

/// How much a function stores where an argument leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// So many bytes.
    Bytes(u64),
    /// As many as this argument says.
    Argument(u32),
    /// A text with its NUL, of no more bytes than the argument says (`None`: no limit).
    Text(Option<u32>),
}

/// The functions of the C library that store where an argument leads, and do no more to the program's
/// memory: names, argument, how much. Others have a model, or lie in [`crate::touches`]. (What else the
/// one of libstdc++ does, says [`crate::cpp::touches`].)
const STORES: &[(&[&str], u32, Stored)] = {
    use Stored::{Argument, Bytes, Text};
    &[
        (
            &["pthread_create", "thrd_create", START_THREAD],
            0,
            Bytes(8),
        ),
        (
            &[
                "pthread_join",
                "pthread_tryjoin_np",
                "pthread_timedjoin_np",
                "pthread_clockjoin_np",
            ],
            1,
            Bytes(8),
        ),
        (&["thrd_join"], 1, Bytes(4)),
        (&["pthread_key_create", "tss_create"], 0, Bytes(4)),
        (&["sem_getvalue"], 1, Bytes(4)),
        (
            &["pthread_setcancelstate", "pthread_setcanceltype"],
            1,
            Bytes(4),
        ),
        (
            &[
                "pthread_mutexattr_gettype",
                "pthread_mutexattr_getpshared",
                "pthread_mutexattr_getrobust",
                "pthread_mutexattr_getprotocol",
                "pthread_mutexattr_getprioceiling",
                "pthread_mutex_getprioceiling",
                "pthread_condattr_getclock",
                "pthread_condattr_getpshared",
                "pthread_rwlockattr_getpshared",
                "pthread_rwlockattr_getkind_np",
                "pthread_barrierattr_getpshared",
                "pthread_attr_getdetachstate",
                "pthread_attr_getscope",
                "pthread_attr_getinheritsched",
                "pthread_attr_getschedpolicy",
                "pthread_attr_getschedparam",
                "pthread_getschedparam",
                "pthread_getcpuclockid",
            ],
            1,
            Bytes(4),
        ),
        (&["pthread_getschedparam"], 2, Bytes(4)),
        (
            &["pthread_attr_getstacksize", "pthread_attr_getguardsize"],
            1,
            Bytes(8),
        ),
        (&["pthread_attr_getstack"], 1, Bytes(8)),
        (&["pthread_attr_getstack"], 2, Bytes(8)),
        (&["pthread_getname_np"], 1, Text(Some(2))),
        (&["pthread_sigmask", "sigprocmask"], 2, Bytes(128)),
        (&["sigaction"], 2, Bytes(152)),
        (
            &[
                "sigpending",
                "sigemptyset",
                "sigfillset",
                "sigaddset",
                "sigdelset",
            ],
            0,
            Bytes(128),
        ),
        (&["pipe", "pipe2"], 0, Bytes(8)),
        (&["socketpair"], 3, Bytes(8)),
        (&["eventfd_read"], 1, Bytes(8)),
        (&["gettimeofday", "timespec_get"], 0, Bytes(16)),
        (
            &["clock_gettime", "clock_getres", "nanosleep"],
            1,
            Bytes(16),
        ),
        (&["clock_nanosleep"], 3, Bytes(16)),
        (&["time"], 0, Bytes(8)),
        (&["localtime_r", "gmtime_r"], 1, Bytes(56)),
        (&["localtime", "gmtime"], OWN, Bytes(56)),
        (&["asctime", "ctime"], OWN, Text(None)),
        (&["asctime_r", "ctime_r"], 1, Text(None)),
        (&["strftime"], 0, Text(Some(1))),
        (&["strerror_r", "__xpg_strerror_r"], 1, Text(Some(2))),
        (&["getcwd", "gethostname"], 0, Text(Some(1))),
        (&["posix_memalign"], 0, Bytes(8)),
        (&["rand_r"], 0, Bytes(4)),
        (&["frexp"], 1, Bytes(4)),
        (&["modf"], 1, Bytes(8)),
        (&["modff", "lgamma_r", "lgammaf_r", "frexpf"], 1, Bytes(4)),
        (&["remquo", "remquof"], 2, Bytes(4)),
        (&["sincos"], 1, Bytes(8)),
        (&["sincos"], 2, Bytes(8)),
        (&["sincosf"], 1, Bytes(4)),
        (&["sincosf"], 2, Bytes(4)),
        (&["getrlimit", "getrlimit64"], 1, Bytes(16)),
        (
            &[
                "getrusage",
                "stat",
                "fstat",
                "lstat",
                "stat64",
                "fstat64",
                "lstat64",
            ],
            1,
            Bytes(144),
        ),
        (&["fstatat", "fstatat64"], 2, Bytes(144)),
        (&["uname"], 0, Bytes(390)),
        (&["times"], 0, Bytes(32)),
        (&["getrandom", "getentropy"], 0, Argument(1)),
        (
            &["snprintf", "vsnprintf", "__snprintf_chk", "__vsnprintf_chk"],
            0,
            Text(Some(1)),
        ),
        (
            &["sprintf", "vsprintf", "__sprintf_chk", "__vsprintf_chk"],
            0,
            Text(None),
        ),
        (
            &["asprintf", "vasprintf", "__asprintf_chk", "__vasprintf_chk"],
            0,
            Bytes(8),
        ),
    ]
};

/// What the function of this name stores: argument, how much.
pub fn stores(name: &str) -> impl Iterator<Item = (u32, Stored)> {
    let rows = STORES.iter().filter(move |row| row.0.contains(&name));
    let attributes = attributes(name).filter(|used| used.writes);
    let attributes = attributes.map(|used| (0, Stored::Bytes(used.bytes)));
    rows.map(|row| (row.1, row.2)).chain(attributes)
}

/// What a function does to the attributes that are its first argument.
struct Attributes {
    bytes: u64,
    reads: bool,
    writes: bool,
}

/// Of a function with this name that is about attributes.
fn attributes(name: &str) -> Option<Attributes> {
    const FAMILIES: &[(&str, u64)] = &[
        ("pthread_attr_", 56),
        ("pthread_mutexattr_", 4),
        ("pthread_condattr_", 4),
        ("pthread_barrierattr_", 4),
        ("pthread_rwlockattr_", 8),
    ];
    FAMILIES.iter().find_map(|&(family, bytes)| {
        let what = name.strip_prefix(family)?;
        Some(Attributes {
            bytes,
            reads: what != "init",
            writes: !what.starts_with("get"),
        })
    })
}

/// How much a function reads where an argument leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes.
    Bytes(u64),
    /// As many as this argument says, times so many.
    Items(u32, u64),
    /// A text with its NUL.
    Text,
    /// A format with its NUL, and the texts that it asks for, to which the arguments from this one on
    /// lead.
    Format(u32),
    /// The same with a `va_list`, which is this argument.
    List(u32),
}

/// The functions of the C library that read where an argument leads, and nothing else of the
/// program's memory but what the other rows of the name say: names, argument, how much. Others have
/// a model, are an [`Output`], or are named where they may read what is shared.
const READS: &[(&[&str], u32, Read)] = {
    use Read::{Bytes, Format, Items, List, Text};
    &[
        (&["pthread_create"], 1, Bytes(56)),
        (&["pthread_attr_setschedparam"], 1, Bytes(4)),
        (
            &[
                "pthread_mutex_init",
                "pthread_cond_init",
                "pthread_barrier_init",
            ],
            1,
            Bytes(4),
        ),
        (&["pthread_rwlock_init"], 1, Bytes(8)),
        (
            &[
                "pthread_mutex_timedlock",
                "pthread_rwlock_timedrdlock",
                "pthread_rwlock_timedwrlock",
                "sem_timedwait",
                "mtx_timedlock",
            ],
            1,
            Bytes(16),
        ),
        (
            &[
                "pthread_cond_timedwait",
                "pthread_mutex_clocklock",
                "pthread_rwlock_clockrdlock",
                "pthread_rwlock_clockwrlock",
                "sem_clockwait",
                "cnd_timedwait",
                "pthread_timedjoin_np",
                "clock_nanosleep",
                "sigtimedwait",
            ],
            2,
            Bytes(16),
        ),
        (
            &["pthread_cond_clockwait", "pthread_clockjoin_np"],
            3,
            Bytes(16),
        ),
        (&["nanosleep", "thrd_sleep"], 0, Bytes(16)),
        (&["pthread_setname_np"], 1, Text),
        (&["pthread_setschedparam"], 2, Bytes(4)),
        (&["sem_open", "sem_unlink"], 0, Text),
        (
            &[
                "sigaddset",
                "sigdelset",
                "sigismember",
                "sigisemptyset",
                "sigsuspend",
                "sigwait",
                "sigwaitinfo",
                "sigtimedwait",
            ],
            0,
            Bytes(128),
        ),
        (&["sigprocmask", "pthread_sigmask"], 1, Bytes(128)),
        (&["sigaction"], 1, Bytes(152)),
        (&["setitimer"], 1, Bytes(32)),
        (&["timer_settime", "timerfd_settime"], 2, Bytes(32)),
        (&["settimeofday"], 0, Bytes(16)),
        (
            &[
                "localtime",
                "gmtime",
                "ctime",
                "localtime_r",
                "gmtime_r",
                "ctime_r",
            ],
            0,
            Bytes(8),
        ),
        (&["asctime", "asctime_r", "mktime", "timegm"], 0, Bytes(56)),
        (&["strftime"], 2, Text),
        (&["strftime"], 3, Bytes(56)),
        (&["rand_r"], 0, Bytes(4)),
        (&["setrlimit", "setrlimit64"], 1, Bytes(16)),
        (&["poll"], 0, Items(1, 8)),
        (&["bind", "connect"], 1, Items(2, 1)),
        (&["setsockopt"], 3, Items(4, 1)),
        (&["sched_setaffinity"], 2, Items(1, 1)),
        (&["pthread_setaffinity_np"], 2, Items(1, 1)),
        (
            &[
                "getenv",
                "secure_getenv",
                "setenv",
                "unsetenv",
                "atof",
                "strtod",
                "strtof",
                "strtold",
                "system",
                "unlink",
                "remove",
                "rename",
                "link",
                "symlink",
                "readlink",
                "mkdir",
                "rmdir",
                "chdir",
                "chmod",
                "chown",
                "truncate",
                "mkfifo",
                "access",
                "stat",
                "stat64",
                "lstat",
                "lstat64",
                "opendir",
                "realpath",
                "popen",
                "dlopen",
                "strcoll",
                "shm_open",
                "shm_unlink",
                "inet_addr",
                "inet_aton",
            ],
            0,
            Text,
        ),
        (
            &[
                "setenv",
                "rename",
                "link",
                "symlink",
                "setlocale",
                "popen",
                "dlsym",
                "strcoll",
                "inet_pton",
            ],
            1,
            Text,
        ),
        (&["snprintf"], 2, Format(3)),
        (&["sprintf", "asprintf"], 1, Format(2)),
        (&["__snprintf_chk"], 4, Format(5)),
        (&["__sprintf_chk"], 3, Format(4)),
        (&["__asprintf_chk"], 2, Format(3)),
        (&["vsnprintf"], 2, List(3)),
        (&["vsprintf", "vasprintf"], 1, List(2)),
        (&["__vsnprintf_chk"], 4, List(5)),
        (&["__vsprintf_chk"], 3, List(4)),
        (&["__vasprintf_chk"], 2, List(3)),
    ]
};

/// What the function of this name reads: argument, how much.
pub fn reads(name: &str) -> impl Iterator<Item = (u32, Read)> {
    let rows = READS.iter().filter(move |row| row.0.contains(&name));
    let attributes = attributes(name).filter(|used| used.reads);
    let attributes = attributes.map(|used| (0, Read::Bytes(used.bytes)));
    rows.map(|row| (row.1, row.2)).chain(attributes)
}

/// Does what the function stores have its value before anything begins that the call begins?
pub fn stores_early(name: &str) -> bool {
    matches!(name, "pthread_create" | "thrd_create" | START_THREAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_says_a_thing_twice() {
        fn pairs<T: Copy>(rows: &[(&'static [&'static str], u32, T)]) {
            let mut met: std::vec::Vec<(&str, u32)> = std::vec::Vec::new();
            for (names, argument, _) in rows {
                for name in *names {
                    assert!(!met.contains(&(name, *argument)), "{name} {argument}");
                    met.push((name, *argument));
                }
            }
        }
        pairs(STORES);
        pairs(READS);
    }

    #[test]
    fn attributes_are_read_and_written() {
        let bytes = |name| {
            let reads = reads(name).filter(|row| row.0 == 0).map(|row| row.1);
            let stores = stores(name).filter(|row| row.0 == 0).map(|row| row.1);
            (
                reads.collect::<std::vec::Vec<_>>(),
                stores.collect::<std::vec::Vec<_>>(),
            )
        };
        let (read, stored) = (Read::Bytes(56), Stored::Bytes(56));
        for (name, reads, stores) in [
            ("pthread_attr_init", &[][..], &[stored][..]),
            ("pthread_attr_setstacksize", &[read], &[stored]),
            ("pthread_attr_getstacksize", &[read], &[]),
            ("pthread_attr_destroy", &[read], &[stored]),
            ("pthread_attribute", &[], &[]),
        ] {
            assert_eq!(bytes(name), (reads.to_vec(), stores.to_vec()), "{name}");
        }
    }

    #[test]
    fn what_has_a_model_is_in_no_row() {
        let names = READS.iter().flat_map(|row| row.0);
        for name in names {
            assert_eq!(crate::library::Model::find(name), None, "{name}");
        }
    }
}
