//! The table of [states](State): whose they are, and which function does what to them. Names as
//! [`State::used_by`] looks them up.

use super::states::{Of, State, Use, Variable, When};
use Of::{
    Argument, Descriptor, File, FileOfStream, OfStream, Open, Path, PathAt, Plain, Position,
    PositionOfStream, Process, Relative, Stream,
};
use Use::{Adds, Changes, Looks, Writes};
use When::{Always, Command, Creates, CreatesAs, Empties, EmptiesAs, Given, Null};

type Row = (Of, Use, When, &'static str);

/// One that every program may change, and that does not show who came when.
const fn state(name: &'static str, functions: &'static [Row]) -> State {
    State {
        name,
        ordered: false,
        only_with: "",
        variables: &[],
        functions,
    }
}

/// One that is the same for ever where no module asks for these.
const fn only_with(only_with: &'static str, state: State) -> State {
    State { only_with, ..state }
}

const fn ordered(state: State) -> State {
    State {
        ordered: true,
        ..state
    }
}

const fn shown_by(variables: &'static [Variable], state: State) -> State {
    State { variables, ..state }
}

pub const STATES: &[State] = &[
    // Numbers.
    state(
        "the state of rand",
        &[(
            Process,
            Changes,
            Always,
            "rand srand random srandom initstate setstate",
        )],
    ),
    state(
        "the state of drand48",
        &[
            (
                Process,
                Changes,
                Always,
                "drand48 lrand48 mrand48 srand48 seed48 lcong48",
            ),
            (Process, Looks, Always, "erand48 nrand48 jrand48"),
        ],
    ),
    // The process.
    shown_by(
        &[Variable::Environment],
        state(
            "the environment",
            &[
                (
                    Process,
                    Looks,
                    Always,
                    "getenv secure_getenv tzset localtime mktime timelocal ctime strftime wcsftime setlocale \
                 newlocale tempnam catopen system popen execlp execvp execvpe posix_spawnp wordexp \
                 gettext dgettext dcgettext ngettext fmtmsg getdate",
                ),
                (Process, Changes, Always, "setenv putenv unsetenv clearenv"),
            ],
        ),
    ),
    state(
        "the working directory",
        &[
            (Process, Looks, Always, "getcwd get_current_dir_name getwd"),
            (
                Relative(0),
                Looks,
                Always,
                "access eaccess euidaccess stat lstat opendir scandir readlink realpath \
                 canonicalize_file_name glob ftw nftw ftok pathconf statvfs statfs getxattr lgetxattr \
                 listxattr llistxattr unlink remove rename link mkdir rmdir truncate chmod lchmod chown \
                 lchown mkfifo mknod creat mkstemp mkostemp mkstemps mkostemps mkdtemp mktemp utime \
                 utimes lutimes setxattr lsetxattr removexattr lremovexattr open fopen freopen symlink",
            ),
            (
                Relative(1),
                Looks,
                Always,
                "rename link symlink inotify_add_watch fstatat statx faccessat fchmodat fchownat utimensat \
                 futimesat unlinkat mkdirat mkfifoat mknodat openat readlinkat",
            ),
            (Process, Changes, Always, "chdir fchdir chroot"),
        ],
    ),
    state(
        "the mask of new files",
        &[
            (Process, Changes, Always, "umask"),
            (
                Process,
                Looks,
                Always,
                "getumask creat mkdir mkdirat mkfifo mkfifoat mknod mknodat shm_open sem_open mq_open bind",
            ),
            (Process, Looks, Creates(1), "open"),
            (Process, Looks, Creates(2), "openat"),
            (Process, Looks, CreatesAs(1), "fopen freopen"),
        ],
    ),
    state(
        "what the kernel keeps of the process",
        &[
            (
                Process,
                Looks,
                Always,
                "getrlimit getpriority getgroups getuid geteuid getgid getegid getresuid getresgid getpgid \
                 getpgrp getsid tcgetpgrp tcgetsid gethostname getdomainname gethostid uname getlogin \
                 getlogin_r getdtablesize sysconf group_member capget",
            ),
            (
                Process,
                Changes,
                Always,
                "setrlimit prlimit ulimit vlimit setpriority nice setgroups initgroups setuid seteuid setgid \
                 setegid setreuid setregid setresuid setresgid setfsuid setfsgid setpgid setpgrp setsid \
                 tcsetpgrp prctl personality sethostname setdomainname sethostid setlogin unshare setns \
                 capset ioperm iopl acct mount umount umount2 swapon swapoff quotactl reboot vhangup \
                 settimeofday stime clock_settime adjtime adjtimex ntp_adjtime clock_adjtime klogctl \
                 nfsservctl bdflush",
            ),
        ],
    ),
    state(
        "how threads are made by default",
        &[
            (
                Process,
                Looks,
                Always,
                "pthread_getconcurrency pthread_getattr_default_np",
            ),
            (
                Process,
                Changes,
                Always,
                "pthread_setconcurrency pthread_setattr_default_np",
            ),
        ],
    ),
    state(
        "the action of a signal",
        &[(
            Argument(0),
            Changes,
            Always,
            "signal sigaction sigset bsd_signal ssignal sysv_signal sigignore siginterrupt sigvec",
        )],
    ),
    state(
        "what is done at exit",
        &[(Process, Changes, Always, "atexit on_exit at_quick_exit")],
    ),
    state(
        "the keys of thread-local data",
        &[(
            Process,
            Changes,
            Always,
            "pthread_key_create pthread_key_delete tss_create tss_delete",
        )],
    ),
    state(
        "the mappings of memory",
        &[
            (
                Process,
                Looks,
                Always,
                "msync mincore madvise posix_madvise",
            ),
            (
                Process,
                Changes,
                Always,
                "mmap munmap mprotect pkey_mprotect mremap mlock mlock2 munlock mlockall munlockall \
                 remap_file_pages shmat shmdt pkey_alloc pkey_free",
            ),
        ],
    ),
    state(
        "the end of the data segment",
        &[(Process, Changes, Always, "brk sbrk")],
    ),
    state(
        "the settings of the allocator",
        &[
            (
                Process,
                Looks,
                Always,
                "mallinfo mallinfo2 malloc_stats malloc_info",
            ),
            (Process, Changes, Always, "mallopt malloc_trim"),
        ],
    ),
    state(
        "which libraries are loaded",
        &[
            (
                Process,
                Looks,
                Always,
                "dlsym dlvsym dladdr dladdr1 dlinfo dl_iterate_phdr backtrace_symbols backtrace_symbols_fd",
            ),
            (Process, Changes, Always, "dlopen dlmopen dlclose"),
        ],
    ),
    state(
        "the segments of shared memory",
        &[(Process, Changes, Always, "shmget shmctl shmat shmdt")],
    ),
    // The library.
    only_with(
        "setlocale",
        state(
            "the locale",
            &[
                (
                    Process,
                    Looks,
                    Always,
                    "localeconv nl_langinfo ctype_get_mb_cur_max ctype_b_loc ctype_tolower_loc \
                     ctype_toupper_loc isalnum isalpha isblank iscntrl isctype isdigit isgraph islower \
                     isprint ispunct isspace isupper isxdigit tolower toupper iswalnum iswalpha iswblank \
                     iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper \
                     iswxdigit towctrans towlower towupper wctrans wctype mblen mbtowc wctomb mbstowcs \
                     wcstombs mbrlen mbrtowc wcrtomb mbsrtowcs wcsrtombs mbsnrtowcs wcsnrtombs btowc \
                     wctob mbrtoc8 mbrtoc16 mbrtoc32 c8rtomb c16rtomb c32rtomb strcoll strxfrm wcscoll \
                     wcsxfrm strcasecmp strncasecmp strcasestr wcscasecmp wcsncasecmp strtod strtof \
                     strtold atof wcstod wcstof wcstold printf fprintf dprintf sprintf snprintf asprintf \
                     vprintf vfprintf vdprintf vsprintf vsnprintf vasprintf wprintf fwprintf swprintf \
                     vwprintf vfwprintf vswprintf scanf fscanf sscanf vscanf vfscanf vsscanf wscanf \
                     fwscanf swscanf vwscanf vfwscanf vswscanf strftime wcsftime strptime strfmon \
                     strerror strerror_r perror psignal psiginfo strsignal regcomp regexec regerror \
                     fnmatch glob gettext dgettext dcgettext ngettext dngettext dcngettext ecvt fcvt \
                     gcvt rpmatch wcwidth wcswidth strverscmp iconv_open getdate fgetwc getwc getwchar \
                     fgetws fputwc putwc putwchar fputws catopen herror hstrerror gai_strerror error \
                     err errx warn warnx getopt getopt_long getopt_long_only duplocale uselocale",
                ),
                (Process, Looks, Always, "__fgetws_chk"),
                (Process, Changes, Always, "setlocale"),
            ],
        ),
    ),
    only_with(
        "setenv putenv unsetenv clearenv tzset timezone daylight tzname environ",
        shown_by(
            &[Variable::Zone, Variable::ZoneNames, Variable::Daylight],
            state(
                "the time zone",
                &[
                    (Process, Looks, Always, "localtime_r ctime_r"),
                    (
                        Process,
                        Adds,
                        Always,
                        "localtime mktime timelocal ctime strftime wcsftime",
                    ),
                    (Process, Changes, Always, "tzset"),
                ],
            ),
        ),
    ),
    state(
        "what is left of a wide character",
        &[
            (Process, Changes, Always, "mblen mbtowc wctomb"),
            (Process, Changes, Null(2), "mbrlen"),
            (
                Process,
                Changes,
                Null(2),
                "wcrtomb c8rtomb c16rtomb c32rtomb",
            ),
            (
                Process,
                Changes,
                Null(3),
                "mbrtowc mbsrtowcs wcsrtombs mbrtoc8 mbrtoc16 mbrtoc32",
            ),
            (Process, Changes, Null(4), "mbsnrtowcs wcsnrtombs"),
        ],
    ),
    only_with(
        Variable::Sign.names(),
        shown_by(
            &[Variable::Sign],
            state(
                "the sign of lgamma",
                &[(
                    Process,
                    Adds,
                    Always,
                    "lgamma lgammaf lgammal gamma gammaf gammal",
                )],
            ),
        ),
    ),
    state(
        "the domain of messages",
        &[
            (
                Process,
                Looks,
                Always,
                "gettext dgettext dcgettext ngettext dngettext dcngettext",
            ),
            (
                Process,
                Changes,
                Always,
                "textdomain bindtextdomain bind_textdomain_codeset addseverity",
            ),
            (Process, Looks, Always, "fmtmsg"),
        ],
    ),
    state(
        "the table of hsearch",
        &[(Process, Changes, Always, "hcreate hsearch hdestroy")],
    ),
    state(
        "a search tree",
        &[
            (Process, Looks, Always, "tfind twalk twalk_r"),
            (Process, Changes, Always, "tsearch tdelete tdestroy"),
        ],
    ),
    state(
        "where a database of the system is read",
        &[(
            Process,
            Changes,
            Always,
            "getpwent getpwent_r setpwent endpwent getgrent getgrent_r setgrent endgrent gethostent \
             gethostent_r sethostent endhostent getnetent getnetent_r setnetent endnetent getprotoent \
             getprotoent_r setprotoent endprotoent getservent getservent_r setservent endservent \
             getrpcent getrpcent_r setrpcent endrpcent getspent getspent_r setspent endspent getsgent \
             getsgent_r setsgent endsgent getnetgrent getnetgrent_r setnetgrent endnetgrent getaliasent \
             getaliasent_r setaliasent endaliasent getfsent getfsspec getfsfile setfsent endfsent \
             getttyent getttynam setttyent endttyent getusershell setusershell endusershell getutent \
             getutent_r getutid getutid_r getutline getutline_r getutxent getutxid getutxline pututline \
             pututxline setutent setutxent endutent endutxent utmpname utmpxname updwtmp updwtmpx \
             lckpwdf ulckpwdf res_init",
        )],
    ),
    state(
        "what syslog is set to",
        &[
            (Process, Looks, Always, "syslog vsyslog"),
            (Process, Changes, Always, "openlog closelog setlogmask"),
        ],
    ),
    state(
        "what else the C library keeps",
        &[
            (Process, Looks, Always, "re_compile_pattern"),
            (
                Process,
                Changes,
                Always,
                "re_set_syntax register_printf_function register_printf_specifier \
                 register_printf_modifier register_printf_type tmpnam tempnam mktemp argp_parse \
                 set_new_handler fesetmode profil monstartup moncontrol",
            ),
        ],
    ),
    // Names.
    state(
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
                 inotify_add_watch name_to_handle_at dlopen execv execve",
            ),
            (
                Process,
                Changes,
                Always,
                "unlink unlinkat remove rename renameat renameat2 link linkat symlink symlinkat mkdir \
                 mkdirat rmdir mkfifo mkfifoat mknod mknodat creat mkstemp mkostemp mkstemps mkostemps \
                 mkdtemp tmpfile chmod lchmod fchmod fchmodat chown lchown fchown fchownat setxattr \
                 lsetxattr removexattr lremovexattr shm_unlink sem_unlink mq_unlink bind mount umount",
            ),
            (
                Process,
                Changes,
                Creates(1),
                "open shm_open sem_open mq_open",
            ),
            (Process, Changes, Creates(2), "openat"),
            (Process, Changes, CreatesAs(1), "fopen freopen"),
        ],
    ),
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
    // Descriptors.
    state(
        "which descriptors are open",
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
    ),
    state(
        "a descriptor",
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
                 vdprintf fgetxattr flistxattr fsetxattr fremovexattr getdents copy_file_range openat fstatat \
                 sync_file_range",
            ),
            (Plain(1), Looks, Always, "sendfile tee"),
            (Plain(2), Looks, Always, "copy_file_range splice"),
            (Descriptor(4), Looks, Always, "mmap"),
            (Descriptor(0), Changes, Command(1, &[F_SETFD]), "fcntl"),
            (Descriptor(0), Changes, Always, "close"),
            (Descriptor(1), Changes, Always, "dup2 dup3"),
            (OfStream(0), Changes, Always, "fclose pclose"),
            (OfStream(2), Changes, Always, "freopen"),
            (OfStream(0), Looks, Always, "fileno"),
        ],
    ),
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
                "getsockopt getsockname getpeername tcgetattr fdopen sockatmark isfdtype ptsname ptsname_r \
                 inotify_add_watch",
            ),
            (
                Open(0),
                Changes,
                Always,
                "setsockopt bind listen connect ioctl tcsetattr tcflow tcflush tcsendbreak grantpt unlockpt \
                 inotify_rm_watch posix_fadvise readahead",
            ),
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
    ),
    ordered(state(
        "what is in a file",
        &[
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
    )),
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
    ),
    // Streams.
    state(
        "a stream",
        &[
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
    ),
];

// Commands of fcntl.
const F_DUPFD: i32 = 0;
const F_SETFD: i32 = 2;
const F_GETFL: i32 = 3;
const F_SETFL: i32 = 4;
const F_SETOWN: i32 = 8;
const F_GETOWN: i32 = 9;
const F_SETSIG: i32 = 10;
const F_GETSIG: i32 = 11;
const F_SETOWN_EX: i32 = 15;
const F_GETOWN_EX: i32 = 16;
const F_SETLEASE: i32 = 1024;
const F_GETLEASE: i32 = 1025;
const F_DUPFD_CLOEXEC: i32 = 1030;
const F_SETPIPE_SZ: i32 = 1031;
const F_GETPIPE_SZ: i32 = 1032;
const F_ADD_SEALS: i32 = 1033;
const F_GET_SEALS: i32 = 1034;
