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
    /// It depends on it, and changes it if the flags that are this argument say that a file is created.
    Opens(u32),
    /// The same, unless the mode that is this argument, a text, begins with `r`.
    OpensAs(u32),
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
    /// That of standard input, a stream.
    StandardInput,
    /// That of the file that this argument, a descriptor, leads to, if threads do not pass on bytes
    /// by it.
    File(u32),
}

/// A kind of state.
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    /// What people call it.
    pub name: &'static str,
    /// Whose it is for the functions with these names, and what they do to it.
    functions: &'static [(Of, Use, &'static [&'static str])],
}

const STATES: &[State] = {
    use Of::{Argument, File, Process, StandardInput, Stream};
    use Use::{Adds, Changes, Looks, Opens, OpensAs};
    &[
        State {
            name: "the state of rand",
            functions: &[(
                Process,
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
            functions: &[(
                Process,
                Changes,
                &[
                    "drand48", "lrand48", "mrand48", "srand48", "seed48", "lcong48",
                ],
            )],
        },
        State {
            name: "the environment",
            functions: &[
                (Process, Looks, &["getenv", "secure_getenv"]),
                (
                    Process,
                    Changes,
                    &["setenv", "putenv", "unsetenv", "clearenv"],
                ),
            ],
        },
        State {
            name: "the names of files",
            functions: &[
                (
                    Process,
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
                    Process,
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
                (Process, Opens(1), &["open", "open64"]),
                (Process, Opens(2), &["openat", "openat64"]),
                (Process, OpensAs(1), &["fopen", "fopen64"]),
            ],
        },
        State {
            name: "the working directory",
            functions: &[
                (Process, Looks, &["getcwd", "get_current_dir_name"]),
                (Process, Changes, &["chdir", "fchdir"]),
            ],
        },
        State {
            name: "the mask of new files",
            functions: &[(Process, Changes, &["umask"])],
        },
        State {
            name: "the locale",
            functions: &[
                (Process, Looks, &["localeconv"]),
                (Process, Changes, &["setlocale"]),
            ],
        },
        State {
            name: "the action of a signal",
            functions: &[(
                Argument(0),
                Changes,
                &["signal", "sigaction", "sigset", "bsd_signal"],
            )],
        },
        State {
            name: "what is done at exit",
            functions: &[(Process, Changes, &["atexit", "on_exit", "at_quick_exit"])],
        },
        State {
            name: "the keys of thread-local data",
            functions: &[(
                Process,
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
            functions: &[(Process, Changes, &["hcreate", "hsearch", "hdestroy"])],
        },
        State {
            name: "a search tree",
            functions: &[
                (Argument(1), Looks, &["tfind"]),
                (Argument(1), Changes, &["tsearch", "tdelete"]),
            ],
        },
        State {
            name: "a directory",
            functions: &[(
                Argument(0),
                Changes,
                &["readdir", "readdir64", "rewinddir", "seekdir", "telldir"],
            )],
        },
        State {
            name: "a file",
            functions: &[
                (
                    File(0),
                    Looks,
                    &["fstat", "fstat64", "fcntl", "fcntl64", "isatty"],
                ),
                (
                    File(0),
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
                (File(0), Adds, &["write", "writev"]),
            ],
        },
        State {
            name: "a stream",
            functions: &[
                (
                    Stream(0),
                    Looks,
                    &["ftell", "ftello", "ftello64", "feof", "ferror", "fgetpos"],
                ),
                (
                    Stream(0),
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
                    Stream(0),
                    Adds,
                    &[
                        "fprintf",
                        "vfprintf",
                        "__fprintf_chk",
                        "__vfprintf_chk",
                        "fflush",
                    ],
                ),
                (Stream(1), Changes, &["ungetc"]),
                (
                    Stream(1),
                    Adds,
                    &["putc", "fputc", "_IO_putc", "fputs", "putc_unlocked"],
                ),
                (Stream(2), Changes, &["fgets", "fgets_unlocked", "getline"]),
                (
                    Stream(3),
                    Changes,
                    &[
                        "fread",
                        "fread_unlocked",
                        "getdelim",
                        "__getdelim",
                        "__fgets_chk",
                        "__fgets_unlocked_chk",
                    ],
                ),
                (Stream(3), Adds, &["fwrite", "fwrite_unlocked"]),
                (Stream(4), Changes, &["__fread_chk", "__fread_unlocked_chk"]),
                (
                    StandardInput,
                    Changes,
                    &[
                        "getchar",
                        "getchar_unlocked",
                        "scanf",
                        "__isoc99_scanf",
                        "__isoc23_scanf",
                    ],
                ),
            ],
        },
    ]
};

impl State {
    /// The states that a function of this name uses, each with its number, whose it is, and how.
    pub fn used_by(name: &str) -> impl Iterator<Item = (usize, &'static State, Of, Use)> {
        let all = STATES.iter().enumerate();
        all.filter_map(move |(number, state)| {
            let used = state.functions.iter().find(|row| row.2.contains(&name))?;
            Some((number, state, used.0, used.1))
        })
    }
}

/// Does the function with this name keep something between calls that others find?
pub fn keeps_state(name: &str) -> bool {
    State::used_by(name).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_uses_a_state_in_one_way() {
        for (number, state) in STATES.iter().enumerate() {
            let same = STATES.iter().filter(|other| other.name == state.name);
            assert_eq!(same.count(), 1, "{}", state.name);
            for name in state.functions.iter().flat_map(|row| row.2) {
                let rows = state.functions.iter().filter(|row| row.2.contains(name));
                let uses = State::used_by(name).filter(|used| used.0 == number);
                assert_eq!((uses.count(), rows.count()), (1, 1), "{name}");
            }
        }
        assert!(!keeps_state("malloc"));
    }

    #[test]
    fn whoever_uses_a_stream_uses_the_same_state() {
        let number = |name| State::used_by(name).next().map(|used| used.0);
        for name in ["fputc", "fgets", "fread", "ungetc", "getchar", "ftell"] {
            assert_eq!(number(name), number("fgetc"), "{name}");
        }
    }
}
