//! The [states](State) of names, files, descriptors and streams.

use super::super::states::{Of, State, Streams};
use super::requests::*;
use super::{
    ASSIGNS_STREAMS, DATABASES, Variable, all_in, any_in, by_stream, of_program, only_with,
    ordered, state,
};
use crate::effects::states::Use::{Adds, Changes, Looks, Writes};
use crate::effects::states::When::{
    Always, Command, Creates, CreatesAs, Empties, EmptiesAs, Given, Null, OtherCommand,
};
use Of::{
    Argument, Descriptor, File, FileOfStream, OfDirectory, OfStream, Open, Path, PathAt, Plain,
    Position, PositionOfStream, Process, Stream,
};

// Functions of streams, by the argument that the stream is.

/// From standard input.
const FROM_INPUT: &str = "getchar getwchar scanf vscanf wscanf vwscanf gets";
/// To standard output.
const TO_OUTPUT: &str = "printf vprintf puts putchar wprintf vwprintf putwchar error error_at_line";
/// To standard error.
const TO_ERRORS: &str = "perror psignal psiginfo warn warnx vwarn vwarnx err errx verr verrx error \
                         error_at_line herror";

/// They read.
const READING: Streams = &[
    (Of::STANDARD_INPUT, FROM_INPUT),
    (
        0,
        "fgetc getc fgetwc getwc fscanf vfscanf fwscanf vfwscanf getw",
    ),
    (2, "fgets getline fgetws"),
    (
        3,
        "fread getdelim __fgets_chk __fgets_unlocked_chk __fgetws_chk",
    ),
    (4, "__fread_chk __fread_unlocked_chk"),
];
/// They write.
const WRITING: Streams = &[
    (Of::STANDARD_OUTPUT, TO_OUTPUT),
    (Of::STANDARD_ERRORS, TO_ERRORS),
    (0, "fprintf vfprintf fwprintf vfwprintf"),
    (1, "putc fputc fputs putwc fputwc fputws putw"),
    (3, "fwrite"),
];
/// They go elsewhere.
const SEEKING: Streams = &[(0, "fseek fseeko rewind fsetpos")];
/// They tell where it is.
const TELLING: Streams = &[(0, "ftell ftello fgetpos")];
/// They change how it is buffered, and write what it holds.
const UNBUFFERING: Streams = &[(0, "setvbuf setbuf setbuffer")];
/// They write what it holds.
const FLUSHING: Streams = &[(0, "fflush")];
const CLOSING: Streams = &[(0, "fclose")];
const REOPENING: Streams = &[(2, "freopen")];

// Functions of descriptors.

/// They write to their first argument.
const WRITTEN: &str = "write writev pwrite pwritev pwritev2 pwritev64v2 dprintf vdprintf sendfile";
/// They change the size of their first argument.
const RESIZED: &str = "ftruncate fallocate posix_fallocate";

pub const NAMES: State = state(
    "the names of files",
    &[
        (
            Process,
            Looks,
            Always,
            "access eaccess euidaccess faccessat stat lstat fstatat statx opendir scandir scandirat \
                 readlink readlinkat realpath canonicalize_file_name glob ftw nftw ftok pathconf statvfs \
                 statfs getxattr lgetxattr listxattr llistxattr readdir readdir_r getdents getdirentries \
                 fts_open fts_read fts_children fts64_open fts64_read fts64_children \
                 tmpnam tempnam mktemp chdir open openat fopen freopen shm_open sem_open mq_open \
                 inotify_add_watch name_to_handle_at dlopen execv execve fstat truncate utime utimes \
                 lutimes utimensat futimesat posix_openpt getpt openpty gethostid acct",
        ),
        (
            Process,
            Changes,
            Always,
            "unlink unlinkat remove rename renameat renameat2 link linkat symlink symlinkat mkdir \
                 mkdirat rmdir mkfifo mkfifoat mknod mknodat creat mkstemp mkostemp mkstemps mkostemps \
                 mkdtemp tmpfile chmod lchmod fchmod fchmodat chown lchown fchown fchownat setxattr \
                 lsetxattr removexattr lremovexattr shm_unlink sem_unlink mq_unlink bind mount umount chroot",
        ),
        (
            Process,
            Changes,
            Creates(1),
            "open shm_open sem_open mq_open",
        ),
        (Process, Looks, Always, DATABASES),
        (Process, Changes, Creates(2), "openat"),
        (Process, Changes, CreatesAs(1), "fopen freopen"),
    ],
);

pub const DIRECTORY: State = all_in(
    MANY_DESCRIPTORS,
    state(
        "a directory",
        &[
            (Argument(0), Looks, Always, "dirfd telldir"),
            (
                Argument(0),
                Changes,
                Always,
                "readdir readdir_r rewinddir seekdir closedir",
            ),
        ],
    ),
);

pub const NUMBERS: State = state(
    State::NUMBERS,
    &[
        (
            Process,
            Changes,
            Always,
            "open openat creat dup dup2 dup3 pipe pipe2 socket socketpair accept accept4 epoll_create \
                 epoll_create1 eventfd signalfd timerfd_create inotify_init inotify_init1 fanotify_init \
                 memfd_create shm_open mq_open posix_openpt getpt openpty open_by_handle_at pidfd_open \
                 pidfd_getfd fopen freopen tmpfile popen mkstemp mkostemp mkstemps mkostemps opendir \
                 userfaultfd openlog",
        ),
        (Process, Changes, Always, DATABASES),
        (
            Process,
            Changes,
            Command(1, &[F_DUPFD, F_DUPFD_CLOEXEC]),
            "fcntl",
        ),
        (
            Process,
            Adds,
            Always,
            "close close_range closefrom fclose fcloseall closedir pclose mq_close closelog",
        ),
    ],
);

pub const DESCRIPTOR: State = all_in(
    MANY_DESCRIPTORS,
    by_stream(
        OfStream,
        &[
            (Looks, READING),
            (Looks, WRITING),
            (Looks, SEEKING),
            (Looks, TELLING),
            (Looks, FLUSHING),
            (Changes, REOPENING),
        ],
        state(
            State::DESCRIPTOR,
            &[
                (
                    Plain(0),
                    Looks,
                    Always,
                    "read readv write writev sendfile splice tee",
                ),
                (
                    Descriptor(0),
                    Looks,
                    Always,
                    "fcntl statx fstat fstatfs fstatvfs isatty lseek pread preadv preadv2 preadv64v2 pwrite pwritev \
                 pwritev2 pwritev64v2 ftruncate fallocate posix_fallocate fsync \
                 fdatasync syncfs fchmod fchown futimens futimes fchdir fdopen fdopendir dup dup2 dup3 \
                 getsockopt setsockopt getsockname getpeername listen bind ioctl tcgetattr tcsetattr \
                 tcgetpgrp tcsetpgrp ttyname ttyname_r flock lockf posix_fadvise readahead dprintf \
                 vdprintf fgetxattr flistxattr fsetxattr fremovexattr getdents getdirentries copy_file_range \
                 sync_file_range vmsplice fpathconf isfdtype sockatmark ptsname ptsname_r grantpt unlockpt tcdrain \
                 tcflow tcflush tcsendbreak tcgetsid login_tty inotify_add_watch inotify_rm_watch fanotify_mark \
                 setns pidfd_getfd pidfd_send_signal process_madvise process_mrelease execveat fexecve bindresvport",
                ),
                // The directory that a path begins at.
                (
                    Descriptor(0),
                    Looks,
                    Always,
                    "openat fstatat faccessat readlinkat scandirat fchmodat fchownat futimesat utimensat mkdirat \
                 mkfifoat mknodat unlinkat linkat renameat renameat2 name_to_handle_at open_by_handle_at",
                ),
                (Descriptor(1), Looks, Always, "symlinkat"),
                (
                    Descriptor(2),
                    Looks,
                    Always,
                    "linkat renameat renameat2 backtrace_symbols_fd",
                ),
                (Descriptor(3), Looks, Always, "fanotify_mark"),
                (
                    Descriptor(0),
                    Looks,
                    Always,
                    "send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg shutdown accept accept4 connect",
                ),
                (Plain(1), Looks, Always, "sendfile tee"),
                (Plain(2), Looks, Always, "copy_file_range splice"),
                (Descriptor(4), Looks, Always, "mmap"),
                (Descriptor(0), Changes, Command(1, &[F_SETFD]), "fcntl"),
                (
                    Descriptor(0),
                    Changes,
                    Command(1, &[FIONCLEX, FIOCLEX]),
                    "ioctl",
                ),
                (Descriptor(0), Changes, Always, "close"),
                (Descriptor(1), Changes, Always, "dup2 dup3"),
                (OfStream(0), Changes, Always, "fclose pclose"),
                (OfDirectory(0), Changes, Always, "closedir"),
                (
                    OfDirectory(0),
                    Looks,
                    Always,
                    "readdir readdir_r rewinddir seekdir",
                ),
                (OfStream(0), Looks, Always, "fileno"),
            ],
        ),
    ),
);

pub const OPEN_FILE: State = all_in(
    ALL_STREAMS,
    by_stream(
        PositionOfStream,
        &[
            (Changes, READING),
            (Writes, WRITING),
            (Changes, SEEKING),
            (Looks, TELLING),
            (Writes, UNBUFFERING),
            (Writes, FLUSHING),
            (Changes, CLOSING),
            (Changes, REOPENING),
        ],
        state(
            "an open file",
            &[
                (
                    Open(0),
                    Looks,
                    Command(
                        1,
                        &[
                            F_GETFL,
                            F_GETOWN,
                            F_GETSIG,
                            F_GETOWN_EX,
                            F_GETLEASE,
                            F_GETPIPE_SZ,
                            F_GET_SEALS,
                        ],
                    ),
                    "fcntl",
                ),
                (
                    Open(0),
                    Changes,
                    Command(
                        1,
                        &[
                            F_SETFL,
                            F_SETOWN,
                            F_SETSIG,
                            F_SETOWN_EX,
                            F_SETLEASE,
                            F_SETPIPE_SZ,
                            F_ADD_SEALS,
                        ],
                    ),
                    "fcntl",
                ),
                (
                    Open(0),
                    Looks,
                    Always,
                    "getsockopt getsockname getpeername tcgetattr fdopen sockatmark isfdtype ptsname ptsname_r",
                ),
                (
                    Open(0),
                    Changes,
                    Always,
                    "setsockopt bind listen connect tcsetattr tcflow tcflush tcsendbreak grantpt unlockpt \
                 inotify_add_watch inotify_rm_watch posix_fadvise readahead",
                ),
                // What they do by a pipe is no step of its own.
                (Open(0), Adds, Always, "dprintf vdprintf"),
                (Open(0), Looks, Command(1, QUESTIONS), "ioctl"),
                (Open(0), Changes, OtherCommand(1, QUESTIONS), "ioctl"),
                (
                    Position(0),
                    Changes,
                    Always,
                    "lseek read readv getdents fdopendir copy_file_range splice",
                ),
                (Position(0), Changes, Always, "preadv2 preadv64v2"),
                (
                    Position(0),
                    Writes,
                    Always,
                    "write writev dprintf vdprintf pwritev2 pwritev64v2 sendfile",
                ),
                (Position(1), Changes, Null(2), "sendfile"),
                (Position(2), Changes, Always, "copy_file_range splice"),
            ],
        ),
    ),
);

/// What is written at a place of its own goes to the end where all that is written does.
pub const APPENDS: State = only_with(
    "fcntl fcntl64 syscall",
    state(
        "whether an open file appends",
        &[
            (
                Open(0),
                Looks,
                Always,
                "pwrite pwritev pwritev2 pwritev64v2",
            ),
            (Open(0), Changes, Command(1, &[F_SETFL]), "fcntl"),
        ],
    ),
);

/// Both ends of a terminal have one.
pub const TERMINALS: State = state(
    "the settings of terminals",
    &[
        (Process, Looks, Always, "tcgetattr tcgetpgrp tcgetsid"),
        (
            Process,
            Changes,
            Always,
            "tcsetattr tcsetpgrp tcflow tcflush tcsendbreak grantpt unlockpt openpty login_tty",
        ),
        (Process, Looks, Command(1, TERMINAL_QUESTIONS), "ioctl"),
        (Process, Changes, Command(1, TERMINAL_ORDERS), "ioctl"),
    ],
);

pub const CONTENT: State = all_in(
    ALL_STREAMS,
    ordered(by_stream(
        FileOfStream,
        &[
            (Looks, READING),
            (Writes, WRITING),
            (Writes, SEEKING),
            (Writes, UNBUFFERING),
            (Writes, FLUSHING),
            (Writes, CLOSING),
            (Writes, REOPENING),
        ],
        state(
            State::CONTENT,
            &[
                (
                    File(0),
                    Looks,
                    Always,
                    "read readv pread preadv preadv2 preadv64v2 copy_file_range splice",
                ),
                (File(1), Looks, Always, "sendfile"),
                (File(4), Looks, Given(4), "mmap"),
                // What may be done to it belongs to the file, too.
                (File(0), Looks, Command(1, &[F_GET_SEALS]), "fcntl"),
                (File(0), Changes, Command(1, &[F_ADD_SEALS]), "fcntl"),
                (File(0), Writes, Always, WRITTEN),
                (File(0), Changes, Always, RESIZED),
                (File(2), Changes, Always, "copy_file_range splice"),
                (Path(0), Changes, Always, "truncate creat"),
                (Path(0), Changes, Empties(1), "open"),
                (Path(0), Changes, EmptiesAs(1), "fopen freopen"),
            ],
        ),
    )),
);

pub const KNOWN: State = any_in(
    ANY_FILE,
    all_in(
        ALL_STREAMS,
        by_stream(
            FileOfStream,
            &[
                (Adds, WRITING),
                (Adds, SEEKING),
                (Adds, UNBUFFERING),
                (Adds, FLUSHING),
                (Adds, CLOSING),
                (Adds, REOPENING),
            ],
            state(
                "what is known of a file",
                &[
                    (File(0), Looks, Always, "fstat fgetxattr flistxattr lseek"),
                    (
                        Path(0),
                        Looks,
                        Always,
                        "stat lstat access eaccess euidaccess getxattr lgetxattr listxattr \
                 llistxattr",
                    ),
                    (PathAt(0, 1), Looks, Always, "fstatat statx faccessat"),
                    (File(0), Adds, Always, WRITTEN),
                    (
                        File(0),
                        Changes,
                        Always,
                        "fchmod fchown futimens futimes fsetxattr fremovexattr",
                    ),
                    (File(0), Changes, Always, RESIZED),
                    (File(2), Adds, Always, "copy_file_range splice"),
                    (
                        Path(0),
                        Changes,
                        Always,
                        "truncate creat chmod lchmod chown lchown utime utimes lutimes setxattr lsetxattr \
                 removexattr lremovexattr link unlink rename remove",
                    ),
                    (
                        PathAt(0, 1),
                        Changes,
                        Always,
                        "fchmodat fchownat utimensat futimesat linkat unlinkat renameat",
                    ),
                    (Path(0), Changes, Empties(1), "open"),
                    (Path(0), Changes, EmptiesAs(1), "fopen freopen"),
                ],
            ),
        ),
    ),
);

pub const STREAM: State = all_in(
    ALL_STREAMS,
    by_stream(
        Stream,
        &[
            (Changes, READING),
            (Writes, WRITING),
            (Changes, SEEKING),
            (Looks, TELLING),
            (Changes, UNBUFFERING),
            (Writes, FLUSHING),
            (Changes, CLOSING),
            (Changes, REOPENING),
        ],
        state(
            "a stream",
            &[
                (
                    Stream(0),
                    Looks,
                    Always,
                    "feof ferror fileno fbufsize freadable fwritable freading fwriting \
                 fpending flbf",
                ),
                (
                    Stream(0),
                    Changes,
                    Always,
                    "clearerr pclose setlinebuf fwide fpurge",
                ),
                (Stream(1), Changes, Always, "ungetc ungetwc"),
            ],
        ),
    ),
);

pub const LOCKS: State = all_in(
    MANY_DESCRIPTORS,
    by_stream(
        FileOfStream,
        &[(Looks, CLOSING), (Looks, REOPENING)],
        state(
            "the locks of a file",
            &[
                (File(0), Looks, Command(1, &[F_GETLK, F_OFD_GETLK]), "fcntl"),
                (
                    File(0),
                    Changes,
                    Command(1, &[F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW]),
                    "fcntl",
                ),
                (File(0), Changes, Always, "flock lockf"),
                (File(0), Looks, Always, "close"),
                (File(1), Looks, Always, "dup2 dup3"),
            ],
        ),
    ),
);

/// The name of [`RANGES`].
const MANY_DESCRIPTORS: &str = "ranges of descriptors";

/// Descriptors that are closed by ranges.
pub const RANGES: State = only_with(
    "close_range closefrom syscall",
    state(
        MANY_DESCRIPTORS,
        &[(Process, Changes, Always, "close_range closefrom")],
    ),
);

/// The name of [`STREAMS`].
const ALL_STREAMS: &str = "all streams";

/// Streams, and what is behind them, where calls concern all.
pub const STREAMS: State = only_with(
    "fcloseall _flushlbf fflush fflush_unlocked",
    state(
        ALL_STREAMS,
        &[
            (Process, Changes, Always, "fcloseall flushlbf"),
            (Process, Changes, Null(0), "fflush"),
        ],
    ),
);

/// The name of [`KNOWN_OF_ANY`].
const ANY_FILE: &str = "what is known of any file";

/// What is known of files, where calls look at that of many.
pub const KNOWN_OF_ANY: State = only_with(
    "ftw ftw64 nftw nftw64 fts_read fts64_read fts_children fts64_children",
    state(
        ANY_FILE,
        &[(
            Process,
            Looks,
            Always,
            "ftw nftw fts_read fts_children fts64_read fts64_children",
        )],
    ),
);

/// What is done to files shows where they are watched.
pub const WATCHED: State = only_with(
    "inotify_add_watch fanotify_mark",
    ordered(state(
        "what is told of files",
        &[
            (
                Process,
                Adds,
                Always,
                "unlink unlinkat remove rename renameat renameat2 link linkat symlink symlinkat mkdir \
                 mkdirat rmdir mkfifo mkfifoat mknod mknodat creat mkstemp mkostemp mkstemps mkostemps \
                 mkdtemp chmod fchmod fchmodat chown lchown fchown fchownat setxattr lsetxattr \
                 fsetxattr removexattr lremovexattr fremovexattr utime utimes lutimes futimes \
                 futimesat utimensat futimens open openat fopen freopen close fclose opendir closedir \
                 readdir scandir write writev pwrite pwritev pwritev2 pwritev64v2 pread preadv preadv2 preadv64v2 \
                 dprintf vdprintf sendfile copy_file_range splice ftruncate truncate fallocate \
                 posix_fallocate bind fflush fwrite glob ftw nftw realpath",
            ),
            // What streams write and read, when their buffers do.
            (
                Process,
                Adds,
                Always,
                "printf vprintf puts putchar wprintf vwprintf putwchar perror psignal psiginfo warn warnx \
                 vwarn vwarnx error herror fprintf vfprintf fwprintf vfwprintf putc fputc fputs putwc fputwc \
                 fputws putw fseek fseeko rewind fsetpos setvbuf setbuf setbuffer getchar getwchar scanf \
                 vscanf wscanf vwscanf fgetc getc fgetwc getwc fscanf vfscanf fwscanf vfwscanf getw fgets \
                 getline fgetws fread getdelim",
            ),
            (
                Process,
                Changes,
                Always,
                "inotify_add_watch inotify_rm_watch fanotify_mark read readv poll ppoll select pselect \
                 epoll_wait epoll_pwait ioctl",
            ),
        ],
    )),
);

// Which streams the standard ones are: only programs change that.

pub const INPUT: State = of_program(
    ASSIGNS_STREAMS,
    &[Variable::INPUT],
    "which stream standard input is",
    &[(Process, Looks, Always, FROM_INPUT)],
);

pub const OUTPUT: State = of_program(
    ASSIGNS_STREAMS,
    &[Variable::OUTPUT],
    "which stream standard output is",
    &[(Process, Looks, Always, TO_OUTPUT)],
);

pub const ERRORS: State = of_program(
    ASSIGNS_STREAMS,
    &[Variable::ERRORS],
    "which stream standard error is",
    &[(Process, Looks, Always, TO_ERRORS)],
);

/// The same for functions that may have nothing to tell.
pub const COMPLAINTS: State = of_program(
    ASSIGNS_STREAMS,
    &[Variable::COMPLAINTS],
    "which stream complaints go to",
    &[(
        Process,
        Looks,
        Always,
        "getopt getopt_long getopt_long_only posix_getopt argp_parse argp_state_help argp_usage \
         argp_error argp_failure fmtmsg malloc_stats getpass",
    )],
);
