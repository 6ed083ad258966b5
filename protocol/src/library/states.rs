//! What functions of the C library, and of the kernel behind it, keep between calls: whoever calls one
//! finds what others have left there, though no memory of the program is shared.

/// What a call does to such a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It depends on it.
    Looks,
    /// It depends on it, or its place among other changes matters.
    Changes,
    /// It adds to what nobody has to look at.
    Adds,
}

/// Whose state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// There is one in the process.
    Process,
    /// That of what this argument stands for.
    Argument(u32),
    /// That of the stream that is this argument, but for standard output and standard error.
    Stream(u32),
    /// That of the file that this argument, a descriptor, leads to, if threads do not pass on bytes
    /// by it.
    File(u32),
}

/// A kind of state.
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    /// What people call it.
    pub name: &'static str,
    pub of: Of,
    /// Names in the C library.
    functions: &'static [(Use, &'static [&'static str])],
}

const STATES: &[State] = {
    use Use::{Adds, Changes, Looks};
    &[
        State {
            name: "the state of rand",
            of: Of::Process,
            functions: &[(
                Changes,
                &[
                    "rand",
                    "srand",
                    "random",
                    "srandom",
                    "initstate",
                    "setstate",
                ],
            )],
        },
        State {
            name: "the state of drand48",
            of: Of::Process,
            functions: &[(
                Changes,
                &[
                    "drand48", "lrand48", "mrand48", "srand48", "seed48", "lcong48",
                ],
            )],
        },
        State {
            name: "the environment",
            of: Of::Process,
            functions: &[
                (Looks, &["getenv", "secure_getenv"]),
                (Changes, &["setenv", "putenv", "unsetenv", "clearenv"]),
            ],
        },
        State {
            name: "the names of files",
            of: Of::Process,
            functions: &[
                (
                    Looks,
                    &[
                        "access",
                        "faccessat",
                        "stat",
                        "stat64",
                        "lstat",
                        "lstat64",
                        "fstatat",
                        "fstatat64",
                        "statx",
                        "opendir",
                        "readlink",
                        "realpath",
                        "glob",
                        "scandir",
                    ],
                ),
                (
                    Changes,
                    &[
                        "unlink",
                        "unlinkat",
                        "remove",
                        "rename",
                        "renameat",
                        "link",
                        "symlink",
                        "mkdir",
                        "mkdirat",
                        "rmdir",
                        "truncate",
                        "truncate64",
                        "chmod",
                        "chown",
                        "mkfifo",
                        "mknod",
                        "creat",
                        "creat64",
                        "mkstemp",
                        "mkdtemp",
                        "utime",
                        "utimes",
                        "utimensat",
                    ],
                ),
            ],
        },
        State {
            name: "the working directory",
            of: Of::Process,
            functions: &[
                (Looks, &["getcwd", "get_current_dir_name"]),
                (Changes, &["chdir", "fchdir"]),
            ],
        },
        State {
            name: "the mask of new files",
            of: Of::Process,
            functions: &[(Changes, &["umask"])],
        },
        State {
            name: "the locale",
            of: Of::Process,
            functions: &[(Looks, &["localeconv"]), (Changes, &["setlocale"])],
        },
        State {
            name: "the action of a signal",
            of: Of::Argument(0),
            functions: &[(Changes, &["signal", "sigaction", "sigset", "bsd_signal"])],
        },
        State {
            name: "what is done at exit",
            of: Of::Process,
            functions: &[(Changes, &["atexit", "on_exit", "at_quick_exit"])],
        },
        State {
            name: "the keys of thread-local data",
            of: Of::Process,
            functions: &[(
                Changes,
                &[
                    "pthread_key_create",
                    "pthread_key_delete",
                    "tss_create",
                    "tss_delete",
                ],
            )],
        },
        State {
            name: "the table of hsearch",
            of: Of::Process,
            functions: &[(Changes, &["hcreate", "hsearch", "hdestroy"])],
        },
        State {
            name: "a search tree",
            of: Of::Argument(1),
            functions: &[(Looks, &["tfind"]), (Changes, &["tsearch", "tdelete"])],
        },
        State {
            name: "a directory",
            of: Of::Argument(0),
            functions: &[(
                Changes,
                &["readdir", "readdir64", "rewinddir", "seekdir", "telldir"],
            )],
        },
        State {
            name: "a file",
            of: Of::File(0),
            functions: &[
                (Looks, &["fstat", "fstat64", "fcntl", "fcntl64", "isatty"]),
                (
                    Changes,
                    &[
                        "lseek",
                        "lseek64",
                        "read",
                        "readv",
                        "ftruncate",
                        "ftruncate64",
                        "close",
                        "__read_chk",
                    ],
                ),
                (Adds, &["write", "writev"]),
            ],
        },
        State {
            name: "a stream",
            of: Of::Stream(0),
            functions: &[
                (
                    Looks,
                    &["ftell", "ftello", "ftello64", "feof", "ferror", "fgetpos"],
                ),
                (
                    Changes,
                    &[
                        "fgetc",
                        "getc",
                        "_IO_getc",
                        "getc_unlocked",
                        "fgetc_unlocked",
                        "fseek",
                        "fseeko",
                        "fseeko64",
                        "rewind",
                        "fsetpos",
                        "clearerr",
                        "fclose",
                        "setvbuf",
                        "setbuf",
                        "fscanf",
                        "__isoc99_fscanf",
                        "__isoc23_fscanf",
                        "getw",
                    ],
                ),
                (
                    Adds,
                    &[
                        "fprintf",
                        "vfprintf",
                        "__fprintf_chk",
                        "__vfprintf_chk",
                        "fflush",
                    ],
                ),
            ],
        },
        State {
            name: "a stream",
            of: Of::Stream(1),
            functions: &[
                (Changes, &["ungetc"]),
                (
                    Adds,
                    &["putc", "fputc", "_IO_putc", "fputs", "putc_unlocked"],
                ),
            ],
        },
        State {
            name: "a stream",
            of: Of::Stream(2),
            functions: &[
                (Changes, &["fgets", "fgets_unlocked", "getline"]),
                (Adds, &[]),
            ],
        },
        State {
            name: "a stream",
            of: Of::Stream(3),
            functions: &[
                (
                    Changes,
                    &[
                        "fread",
                        "fread_unlocked",
                        "getdelim",
                        "__getdelim",
                        "__fgets_chk",
                    ],
                ),
                (Adds, &["fwrite", "fwrite_unlocked"]),
            ],
        },
        State {
            name: "standard input",
            of: Of::Process,
            functions: &[(
                Changes,
                &[
                    "getchar",
                    "getchar_unlocked",
                    "scanf",
                    "__isoc99_scanf",
                    "__isoc23_scanf",
                ],
            )],
        },
    ]
};

impl State {
    /// The states that a function of this name uses, each with its number, and how.
    pub fn used_by(name: &str) -> impl Iterator<Item = (usize, &'static State, Use)> {
        let all = STATES.iter().enumerate();
        all.filter_map(move |(number, state)| {
            let used = state.functions.iter().find(|row| row.1.contains(&name))?;
            Some((number, state, used.0))
        })
    }
}

/// Does the function with this name open a file, which its arguments may make?
pub fn opens_files(name: &str) -> bool {
    const NAMES: &[&str] = &["open", "open64", "openat", "openat64", "fopen", "fopen64"];
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_uses_a_state_in_one_way() {
        for state in STATES {
            let names = state.functions.iter().flat_map(|row| row.1);
            for name in names {
                let uses = State::used_by(name).filter(|used| used.1 == state);
                let rows = state.functions.iter().filter(|row| row.1.contains(name));
                assert_eq!((uses.count(), rows.count()), (1, 1), "{name}");
            }
        }
        assert_eq!(State::used_by("malloc").count(), 0);
    }
}
