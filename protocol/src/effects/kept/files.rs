//! The [states](State) of names, files, descriptors and streams.

use super::super::states::{Of, State};
use super::{DATABASES, all_in, any_in, only_with, ordered, state};
use crate::effects::states::Use::{Adds, Changes, Looks, Writes};
use crate::effects::states::When::{
    Always, Command, Creates, CreatesAs, Empties, EmptiesAs, Given, Null, OtherCommand,
};
use Of::{
    Argument, Descriptor, File, FileOfStream, OfDirectory, OfStream, Open, Path, PathAt, Plain,
    Position, PositionOfStream, Process, Stream,
};

// Functions of streams.

/// They write to standard output.
const PRINTED: &str = "printf vprintf puts putchar wprintf vwprintf putwchar error";
/// They write to standard error.
const COMPLAINED: &str =
    "perror psignal psiginfo warn warnx vwarn vwarnx err errx verr verrx error herror";
/// They read standard input.
const INPUT: &str = "getchar getwchar scanf vscanf wscanf vwscanf";
/// They read a stream, their first argument.
const TAKEN: &str = "fgetc getc fgetwc getwc fscanf vfscanf fwscanf vfwscanf getw";
/// They go elsewhere in a stream, which is their first argument.
const SOUGHT: &str = "fseek fseeko rewind fsetpos";
/// They change how a stream is buffered, and write what it holds.
const UNBUFFERED: &str = "setvbuf setbuf setbuffer";
/// They write to a stream, their first argument.
const PRINTED_TO: &str = "fprintf vfprintf fwprintf vfwprintf";
/// They write to a stream, their second argument.
const PUT: &str = "putc fputc fputs putwc fputwc fputws putw";
/// They read a stream, their third argument.
const LINES: &str = "fgets getline fgetws";
/// They read a stream, their fourth argument.
const BLOCKS: &str = "fread getdelim __fgets_chk __fgets_unlocked_chk __fgetws_chk";
/// They read a stream, their fifth argument.
const CHECKED: &str = "__fread_chk __fread_unlocked_chk";

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
    state(
        State::DESCRIPTOR,
        &[
            (OfStream(Of::STANDARD_INPUT), Looks, Always, INPUT),
            (OfStream(Of::STANDARD_OUTPUT), Looks, Always, PRINTED),
            (OfStream(Of::STANDARD_ERRORS), Looks, Always, COMPLAINED),
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
                 vdprintf fgetxattr flistxattr fsetxattr fremovexattr getdents copy_file_range openat fstatat \
                 sync_file_range",
            ),
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
            (OfStream(2), Changes, Always, "freopen"),
            (OfStream(0), Looks, Always, TAKEN),
            (OfStream(0), Looks, Always, SOUGHT),
            (OfStream(0), Looks, Always, PRINTED_TO),
            (
                OfStream(0),
                Looks,
                Always,
                "fileno ftell ftello fgetpos fflush",
            ),
            (OfStream(1), Looks, Always, PUT),
            (OfStream(2), Looks, Always, LINES),
            (OfStream(3), Looks, Always, BLOCKS),
            (OfStream(3), Looks, Always, "fwrite"),
            (OfStream(4), Looks, Always, CHECKED),
        ],
    ),
);

pub const OPEN_FILE: State = all_in(
    ALL_STREAMS,
    state(
        "an open file",
        &[
            (PositionOfStream(Of::STANDARD_INPUT), Changes, Always, INPUT),
            (
                PositionOfStream(Of::STANDARD_OUTPUT),
                Writes,
                Always,
                PRINTED,
            ),
            (
                PositionOfStream(Of::STANDARD_ERRORS),
                Writes,
                Always,
                COMPLAINED,
            ),
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
            (PositionOfStream(0), Changes, Always, TAKEN),
            (PositionOfStream(0), Changes, Always, SOUGHT),
            (PositionOfStream(0), Changes, Always, "fclose"),
            (PositionOfStream(0), Writes, Always, UNBUFFERED),
            (PositionOfStream(0), Looks, Always, "ftell ftello fgetpos"),
            (PositionOfStream(0), Writes, Always, PRINTED_TO),
            (PositionOfStream(0), Writes, Always, "fflush"),
            (PositionOfStream(1), Writes, Always, PUT),
            (PositionOfStream(2), Changes, Always, LINES),
            (PositionOfStream(2), Changes, Always, "freopen"),
            (PositionOfStream(3), Changes, Always, BLOCKS),
            (PositionOfStream(3), Writes, Always, "fwrite"),
            (PositionOfStream(4), Changes, Always, CHECKED),
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
    ordered(state(
        "what is in a file",
        &[
            (FileOfStream(Of::STANDARD_OUTPUT), Writes, Always, PRINTED),
            (
                FileOfStream(Of::STANDARD_ERRORS),
                Writes,
                Always,
                COMPLAINED,
            ),
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
            (
                File(0),
                Writes,
                Always,
                "write writev pwrite pwritev pwritev2 pwritev64v2 dprintf vdprintf sendfile",
            ),
            (
                File(0),
                Changes,
                Always,
                "ftruncate fallocate posix_fallocate",
            ),
            (File(2), Changes, Always, "copy_file_range splice"),
            (Path(0), Changes, Always, "truncate creat"),
            (Path(0), Changes, Empties(1), "open"),
            (Path(0), Changes, EmptiesAs(1), "fopen freopen"),
            (FileOfStream(0), Looks, Always, TAKEN),
            (FileOfStream(0), Writes, Always, SOUGHT),
            (FileOfStream(0), Writes, Always, PRINTED_TO),
            (FileOfStream(0), Writes, Always, "fflush fclose"),
            (FileOfStream(0), Writes, Always, UNBUFFERED),
            (FileOfStream(2), Writes, Always, "freopen"),
            (FileOfStream(1), Writes, Always, PUT),
            (FileOfStream(2), Looks, Always, LINES),
            (FileOfStream(3), Looks, Always, BLOCKS),
            (FileOfStream(3), Writes, Always, "fwrite"),
            (FileOfStream(4), Looks, Always, CHECKED),
            (FileOfStream(Of::STANDARD_INPUT), Looks, Always, INPUT),
        ],
    )),
);

pub const KNOWN: State = any_in(
    ANY_FILE,
    all_in(
        ALL_STREAMS,
        state(
            "what is known of a file",
            &[
                (FileOfStream(Of::STANDARD_OUTPUT), Adds, Always, PRINTED),
                (FileOfStream(Of::STANDARD_ERRORS), Adds, Always, COMPLAINED),
                (File(0), Looks, Always, "fstat fgetxattr flistxattr lseek"),
                (
                    Path(0),
                    Looks,
                    Always,
                    "stat lstat access eaccess euidaccess getxattr lgetxattr listxattr \
                 llistxattr",
                ),
                (PathAt(0, 1), Looks, Always, "fstatat statx faccessat"),
                (
                    File(0),
                    Adds,
                    Always,
                    "write writev pwrite pwritev pwritev2 pwritev64v2 dprintf vdprintf sendfile",
                ),
                (
                    File(0),
                    Changes,
                    Always,
                    "ftruncate fallocate posix_fallocate fchmod fchown futimens futimes fsetxattr fremovexattr",
                ),
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
                (FileOfStream(0), Adds, Always, SOUGHT),
                (FileOfStream(0), Adds, Always, PRINTED_TO),
                (FileOfStream(0), Adds, Always, "fflush fclose"),
                (FileOfStream(0), Adds, Always, UNBUFFERED),
                (FileOfStream(2), Adds, Always, "freopen"),
                (FileOfStream(1), Adds, Always, PUT),
                (FileOfStream(3), Adds, Always, "fwrite"),
            ],
        ),
    ),
);

pub const STREAM: State = all_in(
    ALL_STREAMS,
    state(
        "a stream",
        &[
            (Stream(Of::STANDARD_OUTPUT), Writes, Always, PRINTED),
            (Stream(Of::STANDARD_ERRORS), Writes, Always, COMPLAINED),
            (
                Stream(0),
                Looks,
                Always,
                "ftell ftello feof ferror fgetpos fileno fbufsize freadable fwritable freading fwriting \
                 fpending flbf",
            ),
            (Stream(0), Changes, Always, TAKEN),
            (Stream(0), Changes, Always, SOUGHT),
            (
                Stream(0),
                Changes,
                Always,
                "clearerr fclose pclose setvbuf setbuf setbuffer setlinebuf fwide fpurge",
            ),
            (Stream(0), Writes, Always, PRINTED_TO),
            (Stream(0), Writes, Always, "fflush"),
            (Stream(1), Changes, Always, "ungetc ungetwc"),
            (Stream(1), Writes, Always, PUT),
            (Stream(2), Changes, Always, LINES),
            (Stream(2), Changes, Always, "freopen"),
            (Stream(3), Changes, Always, BLOCKS),
            (Stream(3), Writes, Always, "fwrite"),
            (Stream(4), Changes, Always, CHECKED),
            (Stream(Of::STANDARD_INPUT), Changes, Always, INPUT),
        ],
    ),
);

pub const LOCKS: State = all_in(
    MANY_DESCRIPTORS,
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
            (FileOfStream(0), Looks, Always, "fclose"),
            (FileOfStream(2), Looks, Always, "freopen"),
        ],
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
                 readdir scandir write writev pwrite pwritev pwritev2 dprintf sendfile copy_file_range \
                 splice ftruncate truncate fallocate posix_fallocate bind fflush puts printf putchar \
                 fputs fputc putc fprintf fwrite perror psignal warnx error glob ftw nftw realpath",
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

/// Requests of ioctl that only ask: settings and size of a terminal, its session and group, what can be
/// read and what is still to be sent.
const QUESTIONS: &[i32] = &[0x5401, 0x5413, 0x5429, 0x540f, 0x541b, 0x5411, 0x5460];

/// Those that ask a terminal: settings, size, session and group, mode, lock, exclusive use.
const TERMINAL_QUESTIONS: &[i32] = &[
    0x5401,
    0x5405,
    0x540f,
    0x5411,
    0x5413,
    0x5415,
    0x5419,
    0x541d,
    0x5424,
    0x5429,
    0x542a,
    0x542e,
    0x5456,
    0x8004_5438_u32 as i32,
    0x8004_5439_u32 as i32,
    0x8004_5440_u32 as i32,
];
/// Those that change it (ioctl_tty(2)).
const TERMINAL_ORDERS: &[i32] = &[
    0x5402,
    0x5403,
    0x5404,
    0x5406,
    0x5407,
    0x5408,
    0x5409,
    0x540a,
    0x540b,
    0x540c,
    0x540d,
    0x540e,
    0x5410,
    0x5412,
    0x5414,
    0x5416,
    0x5417,
    0x5418,
    0x541a,
    0x541c,
    0x541e,
    0x5420,
    0x5422,
    0x5423,
    0x5425,
    0x5427,
    0x5428,
    0x542b,
    0x542c,
    0x542d,
    0x5437,
    0x5457,
    0x4004_5431,
];

// Requests of ioctl.
const FIONCLEX: i32 = 0x5450;
const FIOCLEX: i32 = 0x5451;

// Commands of fcntl.
const F_DUPFD: i32 = 0;
const F_SETFD: i32 = 2;
const F_GETFL: i32 = 3;
const F_GETLK: i32 = 5;
const F_SETLK: i32 = 6;
const F_SETLKW: i32 = 7;
const F_SETFL: i32 = 4;
const F_SETOWN: i32 = 8;
const F_GETOWN: i32 = 9;
const F_SETSIG: i32 = 10;
const F_GETSIG: i32 = 11;
const F_SETOWN_EX: i32 = 15;
const F_GETOWN_EX: i32 = 16;
const F_OFD_GETLK: i32 = 36;
const F_OFD_SETLK: i32 = 37;
const F_OFD_SETLKW: i32 = 38;
const F_SETLEASE: i32 = 1024;
const F_GETLEASE: i32 = 1025;
const F_DUPFD_CLOEXEC: i32 = 1030;
const F_SETPIPE_SZ: i32 = 1031;
const F_GETPIPE_SZ: i32 = 1032;
const F_ADD_SEALS: i32 = 1033;
const F_GET_SEALS: i32 = 1034;
