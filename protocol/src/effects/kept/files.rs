//! The [states](State) of names, files, descriptors and streams.

use super::super::states::{Of, State};
use super::{DATABASES, only_with, ordered, state};
use crate::effects::states::Use::{Adds, Changes, Looks, Writes};
use crate::effects::states::When::{
    Always, Command, Creates, CreatesAs, Empties, EmptiesAs, Given, Null, OtherCommand,
};
use Of::{
    Argument, Descriptor, File, FileOfStream, OfStream, OneOfStreams, Open, Path, PathAt, Plain,
    Position, PositionOfStream, Process, Stream,
};

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

pub const DIRECTORY: State = state(
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

pub const DESCRIPTOR: State = state(
    State::DESCRIPTOR,
    &[
        (
            OfStream(Of::STANDARD_INPUT),
            Looks,
            Always,
            "getchar getwchar scanf vscanf wscanf vwscanf",
        ),
        (
            OfStream(Of::STANDARD_OUTPUT),
            Looks,
            Always,
            "printf vprintf puts putchar wprintf vwprintf putwchar error",
        ),
        (
            OfStream(Of::STANDARD_ERRORS),
            Looks,
            Always,
            "perror psignal psiginfo warn warnx vwarn vwarnx err errx verr verrx error herror",
        ),
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
        (OfStream(2), Changes, Always, "freopen"),
        (
            OfStream(0),
            Looks,
            Always,
            "fileno fgetc getc fgetwc getwc fseek fseeko rewind fsetpos fscanf vfscanf fwscanf vfwscanf \
                 getw ftell ftello fgetpos fprintf vfprintf fwprintf vfwprintf fflush",
        ),
        (
            OfStream(1),
            Looks,
            Always,
            "putc fputc fputs putwc fputwc fputws putw",
        ),
        (OfStream(2), Looks, Always, "fgets getline fgetws"),
        (
            OfStream(3),
            Looks,
            Always,
            "fread getdelim fwrite __fgets_chk __fgets_unlocked_chk __fgetws_chk",
        ),
        (
            OfStream(4),
            Looks,
            Always,
            "__fread_chk __fread_unlocked_chk",
        ),
    ],
);

pub const OPEN_FILE: State = state(
    "an open file",
    &[
        (
            PositionOfStream(Of::STANDARD_INPUT),
            Changes,
            Always,
            "getchar getwchar scanf vscanf wscanf vwscanf",
        ),
        (
            PositionOfStream(Of::STANDARD_OUTPUT),
            Writes,
            Always,
            "printf vprintf puts putchar wprintf vwprintf putwchar error",
        ),
        (
            PositionOfStream(Of::STANDARD_ERRORS),
            Writes,
            Always,
            "perror psignal psiginfo warn warnx vwarn vwarnx err errx verr verrx error herror",
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
        (
            PositionOfStream(0),
            Changes,
            Always,
            "fgetc getc fgetwc getwc fseek fseeko rewind fsetpos fclose fscanf vfscanf fwscanf vfwscanf \
                 getw",
        ),
        (PositionOfStream(0), Looks, Always, "ftell ftello fgetpos"),
        (
            PositionOfStream(0),
            Writes,
            Always,
            "fprintf vfprintf fwprintf vfwprintf fflush",
        ),
        (
            PositionOfStream(1),
            Writes,
            Always,
            "putc fputc fputs putwc fputwc fputws putw",
        ),
        (
            PositionOfStream(2),
            Changes,
            Always,
            "fgets getline fgetws freopen",
        ),
        (
            PositionOfStream(3),
            Changes,
            Always,
            "fread getdelim __fgets_chk __fgets_unlocked_chk __fgetws_chk",
        ),
        (PositionOfStream(3), Writes, Always, "fwrite"),
        (
            PositionOfStream(4),
            Changes,
            Always,
            "__fread_chk __fread_unlocked_chk",
        ),
    ],
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

pub const CONTENT: State = ordered(state(
    "what is in a file",
    &[
        (
            FileOfStream(Of::STANDARD_OUTPUT),
            Writes,
            Always,
            "printf vprintf puts putchar wprintf vwprintf putwchar error",
        ),
        (
            FileOfStream(Of::STANDARD_ERRORS),
            Writes,
            Always,
            "perror psignal psiginfo warn warnx vwarn vwarnx err errx verr verrx error herror",
        ),
        (
            File(0),
            Looks,
            Always,
            "read readv pread preadv preadv2 preadv64v2 copy_file_range splice",
        ),
        (File(1), Looks, Always, "sendfile"),
        (File(4), Looks, Given(4), "mmap"),
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
        (
            FileOfStream(0),
            Looks,
            Always,
            "fgetc getc fgetwc getwc fscanf vfscanf fwscanf vfwscanf getw",
        ),
        (
            FileOfStream(0),
            Writes,
            Always,
            "fprintf vfprintf fwprintf vfwprintf fflush fclose fseek fseeko rewind fsetpos",
        ),
        (
            FileOfStream(1),
            Writes,
            Always,
            "putc fputc fputs putwc fputwc fputws putw",
        ),
        (FileOfStream(2), Looks, Always, "fgets getline fgetws"),
        (
            FileOfStream(3),
            Looks,
            Always,
            "fread getdelim __fgets_chk __fgets_unlocked_chk __fgetws_chk",
        ),
        (FileOfStream(3), Writes, Always, "fwrite"),
        (
            FileOfStream(4),
            Looks,
            Always,
            "__fread_chk __fread_unlocked_chk",
        ),
        (
            FileOfStream(Of::STANDARD_INPUT),
            Looks,
            Always,
            "getchar getwchar scanf vscanf wscanf vwscanf",
        ),
    ],
));

pub const KNOWN: State = state(
    "what is known of a file",
    &[
        (
            FileOfStream(Of::STANDARD_OUTPUT),
            Adds,
            Always,
            "printf vprintf puts putchar wprintf vwprintf putwchar error",
        ),
        (
            FileOfStream(Of::STANDARD_ERRORS),
            Adds,
            Always,
            "perror psignal psiginfo warn warnx vwarn vwarnx err errx verr verrx error herror",
        ),
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
        (
            FileOfStream(0),
            Adds,
            Always,
            "fprintf vfprintf fwprintf vfwprintf fflush fclose fseek fseeko rewind fsetpos",
        ),
        (
            FileOfStream(1),
            Adds,
            Always,
            "putc fputc fputs putwc fputwc fputws putw",
        ),
        (FileOfStream(3), Adds, Always, "fwrite"),
    ],
);

pub const STREAM: State = state(
    "a stream",
    &[
        (
            Stream(Of::STANDARD_OUTPUT),
            Writes,
            Always,
            "printf vprintf puts putchar wprintf vwprintf putwchar error",
        ),
        (
            Stream(Of::STANDARD_ERRORS),
            Writes,
            Always,
            "perror psignal psiginfo warn warnx vwarn vwarnx err errx verr verrx error herror",
        ),
        (
            Stream(0),
            Looks,
            Always,
            "ftell ftello feof ferror fgetpos fileno fbufsize freadable fwritable freading fwriting \
                 fpending flbf",
        ),
        (
            Stream(0),
            Changes,
            Always,
            "fgetc getc fgetwc getwc fseek fseeko rewind fsetpos clearerr fclose pclose setvbuf setbuf \
                 setbuffer setlinebuf fscanf vfscanf fwscanf vfwscanf getw fwide fpurge",
        ),
        (
            Stream(0),
            Writes,
            Always,
            "fprintf vfprintf fwprintf vfwprintf fflush",
        ),
        (Stream(1), Changes, Always, "ungetc ungetwc"),
        (
            Stream(1),
            Writes,
            Always,
            "putc fputc fputs putwc fputwc fputws putw",
        ),
        (Stream(2), Changes, Always, "fgets getline fgetws freopen"),
        (
            Stream(3),
            Changes,
            Always,
            "fread getdelim __fgets_chk __fgets_unlocked_chk __fgetws_chk",
        ),
        (Stream(3), Writes, Always, "fwrite"),
        (
            Stream(4),
            Changes,
            Always,
            "__fread_chk __fread_unlocked_chk",
        ),
        (
            Stream(Of::STANDARD_INPUT),
            Changes,
            Always,
            "getchar getwchar scanf vscanf wscanf vwscanf",
        ),
    ],
);

pub const LOCKS: State = state(
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
    ],
);

/// As of descriptors, for those that are closed by ranges.
pub const RANGES: State = only_with(
    "close_range closefrom",
    state(
        "ranges of descriptors",
        &[
            (
                Process,
                Looks,
                Always,
                "read readv write writev sendfile splice tee fcntl statx fstat fstatfs fstatvfs isatty \
                 lseek pread preadv preadv2 preadv64v2 pwrite pwritev pwritev2 pwritev64v2 ftruncate \
                 fallocate posix_fallocate fsync fdatasync syncfs fchmod fchown futimens futimes \
                 fchdir fdopen fdopendir dup dup2 dup3 getsockopt setsockopt getsockname getpeername \
                 listen bind ioctl tcgetattr tcsetattr tcgetpgrp tcsetpgrp ttyname ttyname_r flock \
                 lockf posix_fadvise readahead dprintf vdprintf fgetxattr flistxattr fsetxattr \
                 fremovexattr getdents copy_file_range openat fstatat sync_file_range close send \
                 sendto sendmsg recv recvfrom recvmsg shutdown accept accept4 connect closedir readdir",
            ),
            (
                OneOfStreams(0),
                Looks,
                Always,
                "fgetc getc fgetwc getwc fseek fseeko rewind fsetpos clearerr fclose fscanf vfscanf \
                 fwscanf vfwscanf getw fwide fpurge ftell ftello feof ferror fgetpos fpending fprintf \
                 vfprintf fwprintf vfwprintf",
            ),
            (OneOfStreams(0), Looks, Always, "fileno fflush"),
            (
                OneOfStreams(1),
                Looks,
                Always,
                "putc fputc fputs putwc fputwc fputws putw ungetc ungetwc",
            ),
            (
                OneOfStreams(2),
                Looks,
                Always,
                "fgets getline fgetws freopen",
            ),
            (OneOfStreams(3), Looks, Always, "fread getdelim fwrite"),
            (Process, Changes, Always, "close_range closefrom"),
        ],
    ),
);

/// As of a stream, for calls that concern all.
pub const STREAMS: State = only_with(
    "fcloseall _flushlbf fflush fflush_unlocked",
    state(
        "all streams",
        &[
            (
                OneOfStreams(0),
                Looks,
                Always,
                "fgetc getc fgetwc getwc fseek fseeko rewind fsetpos clearerr fclose fscanf vfscanf \
                 fwscanf vfwscanf getw fwide fpurge ftell ftello feof ferror fgetpos fpending fprintf \
                 vfprintf fwprintf vfwprintf setvbuf setbuf setbuffer setlinebuf",
            ),
            (
                OneOfStreams(1),
                Looks,
                Always,
                "putc fputc fputs putwc fputwc fputws putw ungetc ungetwc",
            ),
            (
                OneOfStreams(2),
                Looks,
                Always,
                "fgets getline fgetws freopen",
            ),
            (OneOfStreams(3), Looks, Always, "fread getdelim fwrite"),
            (Process, Changes, Always, "fcloseall flushlbf"),
            (Process, Changes, Null(0), "fflush"),
        ],
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
