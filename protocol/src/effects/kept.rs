//! The table of [states](State): whose they are, and which function does what to them. Names as
//! [`State::used_by`] looks them up.

mod files;
mod requests;

use super::Variable;
use super::states::{Of, OfStream, State, Streams, Use, When};
use crate::hooks::ASSIGNS_STREAMS;
use Of::{Process, Relative};
use Use::{Adds, Changes, Looks};
use When::{Always, Creates, CreatesAs, Fixed, Given, Null};

type Row = (Of, Use, When, &'static str);

/// One that every program may change, and that does not show who came when.
const fn state(name: &'static str, functions: &'static [Row]) -> State {
    State {
        name,
        ordered: false,
        only_with: "",
        variables: &[],
        all: "",
        any: "",
        at_once: "",
        functions,
        streams: (Of::Stream, &[]),
    }
}

/// One that functions of streams use, too.
const fn by_stream(of: OfStream, uses: &'static [(Use, Streams)], state: State) -> State {
    State {
        streams: (of, uses),
        ..state
    }
}

/// One that some calls change of everybody's at once.
const fn all_in(all: &'static str, state: State) -> State {
    State { all, ..state }
}

/// One that some calls look at of everybody's at once.
const fn any_in(any: &'static str, state: State) -> State {
    State { any, ..state }
}

/// One that is the same for ever where no module asks for these.
const fn only_with(only_with: &'static str, state: State) -> State {
    State { only_with, ..state }
}

/// One whose functions are not safe for threads, and what is said of two at once.
const fn by_one(at_once: &'static str, state: State) -> State {
    State { at_once, ..state }
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

/// One of variables that programs write: where no module asks for one of these names, it is the same for ever.
const fn of_program(
    only_with: &'static str,
    variables: &'static [Variable],
    name: &'static str,
    functions: &'static [Row],
) -> State {
    self::only_with(only_with, shown_by(variables, state(name, functions)))
}

/// Functions that go on through a database of the system, whose file they may open or close.
const DATABASES: &str = "getpwent getpwent_r setpwent endpwent getgrent getgrent_r setgrent endgrent gethostent \
    gethostent_r sethostent endhostent getnetent getnetent_r setnetent endnetent getprotoent \
    getprotoent_r setprotoent endprotoent getservent getservent_r setservent endservent \
    getrpcent getrpcent_r setrpcent endrpcent getspent getspent_r setspent endspent getsgent \
    getsgent_r setsgent endsgent getnetgrent getnetgrent_r setnetgrent endnetgrent getaliasent \
    getaliasent_r setaliasent endaliasent getfsent getfsspec getfsfile setfsent endfsent \
    getttyent getttynam setttyent endttyent getusershell setusershell endusershell getutent \
    getutent_r getutid getutid_r getutline getutline_r getutxent getutxid getutxline pututline \
    pututxline setutent setutxent endutent endutxent utmpname utmpxname updwtmp updwtmpx \
    lckpwdf ulckpwdf res_init";

/// Functions that hand to the kernel where their arguments lead, and fail where nothing is there.
const OF_KERNEL: &str = "read readv write writev pread preadv preadv2 preadv64v2 pwrite pwritev pwritev2 \
     pwritev64v2 send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg vmsplice process_vm_readv \
     process_vm_writev sendfile splice copy_file_range bind connect getsockname getpeername getsockopt \
     setsockopt socketpair pipe pipe2 poll ppoll select pselect epoll_ctl epoll_wait epoll_pwait \
     epoll_pwait2 timerfd_settime timerfd_gettime signalfd inotify_add_watch open openat creat stat lstat \
     fstat fstatat statx statfs fstatfs access faccessat unlink unlinkat rename renameat renameat2 link \
     linkat symlink symlinkat readlink readlinkat mkdir mkdirat rmdir mkfifo mknod chmod fchmodat chown \
     lchown truncate chdir getcwd utimensat futimens getxattr lgetxattr fgetxattr listxattr llistxattr \
     flistxattr setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr getrandom getentropy \
     uname sysinfo getrusage getrlimit setrlimit prlimit getresuid getresgid clock_getres nanosleep \
     clock_nanosleep getitimer setitimer timer_settime timer_gettime sigpending sigaltstack sigtimedwait \
     sigwaitinfo sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_setscheduler \
     sched_rr_get_interval ioctl fcntl msgsnd msgrcv msgctl semop semtimedop mincore memfd_create \
     getdents wait4 waitid waitpid mq_send mq_timedsend mq_receive mq_timedreceive accept accept4";

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
    by_one(
        "drand48 and its kin by several threads at once, which are not safe for that",
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
    ),
    // The process.
    by_one(
        "the environment used by one thread while another one changes it, which is not safe",
        shown_by(
            &[Variable::ENVIRONMENT],
            state(
                "the environment",
                &[
                    (
                        Process,
                        Looks,
                        Always,
                        "getenv secure_getenv tzset localtime mktime timelocal ctime strftime wcsftime setlocale \
                 newlocale tempnam catopen system popen execl execlp execv execvp execvpe posix_spawnp wordexp \
                 gettext dgettext dcgettext ngettext dngettext dcngettext fmtmsg getdate getdate_r localtime_r \
                 ctime_r gmtime gmtime_r timegm strptime getopt getopt_long getopt_long_only posix_getopt \
                 argp_parse iconv_open fnmatch glob res_init",
                    ),
                    (Process, Changes, Always, "setenv putenv unsetenv clearenv"),
                ],
            ),
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
                "getumask creat mkdir mkdirat mkfifo mkfifoat mknod mknodat shm_open sem_open mq_open bind \
                 mkstemp mkostemp mkstemps mkostemps mkdtemp tmpfile",
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
    only_with(
        "setuid seteuid setgid setegid setreuid setregid setresuid setresgid setfsuid setfsgid \
         setgroups initgroups setrlimit setrlimit64 prlimit prlimit64 ulimit vlimit capset \
         prctl unshare setns",
        state(
            "what the process may do",
            &[
                (
                    Process,
                    Looks,
                    Always,
                    "open openat creat dup dup2 dup3 fcntl pipe pipe2 socket socketpair accept accept4 \
                     epoll_create epoll_create1 eventfd signalfd timerfd_create inotify_init inotify_init1 \
                     fanotify_init memfd_create shm_open sem_open mq_open posix_openpt getpt openpty \
                     open_by_handle_at pidfd_open fopen freopen tmpfile popen mkstemp mkostemp mkstemps \
                     mkostemps mkdtemp opendir scandir userfaultfd access eaccess euidaccess faccessat \
                     stat lstat fstatat statx readlink readlinkat realpath canonicalize_file_name glob ftw \
                     nftw chdir fchdir chroot unlink unlinkat remove rename renameat renameat2 link linkat \
                     symlink symlinkat mkdir mkdirat rmdir mkfifo mkfifoat mknod mknodat chmod lchmod \
                     fchmod fchmodat chown lchown fchown fchownat setxattr lsetxattr fsetxattr getxattr \
                     lgetxattr fgetxattr listxattr llistxattr removexattr lremovexattr fremovexattr utime \
                     utimes lutimes futimes futimesat utimensat futimens truncate ftruncate fallocate \
                     posix_fallocate write writev pwrite pwritev pwritev2 sendfile copy_file_range splice \
                     dprintf shm_unlink sem_unlink mq_unlink bind connect inotify_add_watch acct mount \
                     umount mlock mlock2 mlockall munlockall mmap mremap mprotect brk sbrk setpriority \
                     nice getpriority scandirat pathconf ftok semget semctl semop msgget msgctl msgsnd msgrcv shmget shmctl shmat \
                     setsockopt ioctl kill sched_setscheduler sched_setparam pthread_setschedparam ioperm \
                     iopl setsid setpgid statvfs statfs tcsetattr ttyname grantpt getlogin getlogin_r \
                     gethostid",
                ),
                (Process, Looks, Always, DATABASES),
                (
                    Process,
                    Changes,
                    Always,
                    "setuid seteuid setgid setegid setreuid setregid setresuid setresgid setfsuid setfsgid \
                     setgroups initgroups setrlimit prlimit ulimit vlimit capset prctl unshare setns",
                ),
            ],
        ),
    ),
    state(
        "the timers of the process",
        &[
            (Process, Looks, Always, "getitimer"),
            (Process, Changes, Always, "setitimer alarm ualarm"),
        ],
    ),
    state(
        "how threads are made by default",
        &[
            (
                Process,
                Looks,
                Always,
                "pthread_getconcurrency pthread_getattr_default_np pthread_attr_getstacksize",
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
        "the actions of signals",
        &[
            (
                Process,
                Looks,
                Always,
                "kill raise pthread_kill sigqueue pthread_sigqueue tgkill killpg sigpending sigtimedwait \
                 sigwaitinfo sigwait",
            ),
            (
                Process,
                Changes,
                Always,
                "signal sigaction sigset bsd_signal ssignal sysv_signal sigignore siginterrupt sigvec",
            ),
        ],
    ),
    files::TERMINALS,
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
    only_with(
        "pthread_key_delete tss_delete",
        state(
            "whether a key of thread-local data is there",
            &[
                (
                    Process,
                    Looks,
                    Always,
                    "pthread_setspecific pthread_getspecific tss_set tss_get",
                ),
                (
                    Process,
                    Changes,
                    Always,
                    "pthread_key_create pthread_key_delete tss_create tss_delete",
                ),
            ],
        ),
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
    only_with(
        "mprotect pkey_mprotect munmap mremap shmdt brk sbrk mmap mmap64",
        state(
            State::PAGES,
            &[
                (Process, Looks, Always, OF_KERNEL),
                (
                    Process,
                    Changes,
                    Always,
                    "mprotect pkey_mprotect munmap mremap shmdt brk sbrk",
                ),
                (Process, Changes, Fixed(3), "mmap"),
            ],
        ),
    ),
    shown_by(
        &[Variable::BREAK],
        state(
            "the end of the data segment",
            &[
                (Process, Looks, Null(0), "sbrk"),
                (Process, Changes, Given(0), "sbrk"),
                (Process, Changes, Always, "brk"),
            ],
        ),
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
            // Character sets are modules, and what unwinds is a library.
            (
                Process,
                Changes,
                Always,
                "dlopen dlmopen dlclose iconv_open iconv_close backtrace",
            ),
        ],
    ),
    state(
        "the segments of shared memory",
        &[(Process, Changes, Always, "shmget shmctl shmat shmdt")],
    ),
    // The library.
    by_one(
        "the locale used by one thread while another one sets it, which is not safe",
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
    ),
    only_with(
        "setenv putenv unsetenv clearenv tzset timezone daylight tzname environ __timezone __daylight __tzname \
         __environ _environ",
        shown_by(
            &[Variable::ZONE, Variable::ZONE_NAMES, Variable::DAYLIGHT],
            state(
                "the time zone",
                &[
                    // The first call sets it.
                    (Process, Changes, Always, "localtime_r ctime_r"),
                    (Process, Adds, Always, "gmtime gmtime_r timegm strptime"),
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
    by_one(
        "functions that keep what is left of a wide character, by several threads at once",
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
    ),
    only_with(
        Variable::SIGN.names,
        shown_by(
            &[Variable::SIGN],
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
    // Rows have their own results alone, and these share two.
    state(
        "the date that the library keeps",
        &[(Process, Changes, Always, "gmtime localtime ctime asctime")],
    ),
    shown_by(
        &[Variable::CATALOGUES],
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
    ),
    by_one(
        "hsearch and its kin by several threads at once, which are not safe for that",
        state(
            "the table of hsearch",
            &[(Process, Changes, Always, "hcreate hsearch hdestroy")],
        ),
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
        &[(Process, Changes, Always, DATABASES)],
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
        &[(
            Process,
            Changes,
            Always,
            "register_printf_function register_printf_specifier \
                 register_printf_modifier register_printf_type tmpnam tempnam mktemp argp_parse \
                 set_new_handler fesetmode profil monstartup moncontrol",
        )],
    ),
    by_one(
        "getopt and its kin by several threads at once, which are not safe for that",
        state(
            "where getopt goes on",
            &[(
                Process,
                Changes,
                Always,
                "getopt getopt_long getopt_long_only",
            )],
        ),
    ),
    files::NAMES,
    files::DIRECTORY,
    files::NUMBERS,
    files::DESCRIPTOR,
    files::OPEN_FILE,
    files::APPENDS,
    files::CONTENT,
    files::KNOWN,
    files::KNOWN_OF_ANY,
    files::STREAM,
    files::STREAMS,
    files::LOCKS,
    files::RANGES,
    files::WATCHED,
    // Where programs write variables of the library.
    files::INPUT,
    files::OUTPUT,
    files::ERRORS,
    files::COMPLAINTS,
    of_program(
        "__progname_full program_invocation_name __progname program_invocation_short_name",
        Variable::PROGRAM,
        "the name of the program",
        &[
            (
                Process,
                Looks,
                Always,
                "error error_at_line warn warnx vwarn vwarnx err errx verr verrx syslog vsyslog openlog \
                 argp_help argp_state_help argp_usage argp_error argp_failure",
            ),
            (Process, Changes, Always, "argp_parse"),
        ],
    ),
    of_program(
        "error_one_per_line error_print_progname",
        Variable::ERROR_WAYS,
        "how error tells",
        &[(Process, Looks, Always, "error error_at_line")],
    ),
    of_program(
        "error_message_count",
        &[Variable::ERROR_COUNT],
        "how many errors were told of",
        &[(Process, Adds, Always, "error error_at_line")],
    ),
    of_program(
        "argp_program_version argp_program_version_hook argp_program_bug_address argp_err_exit_status",
        Variable::ARGP,
        "what argp says of the program",
        &[(
            Process,
            Looks,
            Always,
            "argp_parse argp_help argp_state_help argp_usage argp_error argp_failure",
        )],
    ),
    of_program(
        "obstack_alloc_failed_handler obstack_exit_failure",
        Variable::OBSTACKS,
        "what obstacks do without memory",
        &[(
            Process,
            Looks,
            Always,
            "obstack_begin obstack_begin_1 obstack_newchunk obstack_printf obstack_vprintf",
        )],
    ),
    shown_by(
        &[Variable::SYNTAX],
        state(
            "the syntax of re_compile_pattern",
            &[
                (Process, Looks, Always, "re_compile_pattern re_comp"),
                (Process, Changes, Always, "re_set_syntax"),
            ],
        ),
    ),
    of_program(
        "getdate_err",
        &[Variable::DATE_ERROR],
        "the error of getdate",
        &[(Process, Changes, Always, "getdate")],
    ),
    of_program(
        "rexecoptions",
        &[Variable::REMOTE],
        "what rexec is set to",
        &[(Process, Looks, Always, "rexec rexec_af")],
    ),
    of_program(
        "__rcmd_errstr __check_rhosts_file",
        Variable::TRUSTED,
        "how hosts are trusted",
        &[(
            Process,
            Changes,
            Always,
            "ruserok ruserok_af iruserok iruserok_af",
        )],
    ),
    // Texts of messages are looked up where there are other languages than that of the source.
    only_with(
        "setlocale uselocale",
        shown_by(
            &[Variable::ENVIRONMENT],
            state(
                "the language of messages",
                &[
                    (
                        Process,
                        Looks,
                        Always,
                        "strerror strerror_r perror strsignal psignal psiginfo gai_strerror hstrerror herror \
                         regerror error error_at_line err verr warn vwarn getopt getopt_long \
                         getopt_long_only posix_getopt dlerror",
                    ),
                    (Process, Changes, Always, "setenv putenv unsetenv clearenv"),
                ],
            ),
        ),
    ),
];
