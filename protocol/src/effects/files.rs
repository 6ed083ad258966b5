//! Descriptors, streams, the names of files, addresses of networks.

use super::Extent::*;
use super::ResultIs::*;
use super::{Effect, NONE, Place, Row, reads, row, stepping, writes};

const PATH: Effect = reads(0, Text(NONE));
const SECOND: Effect = reads(1, Text(NONE));
const THIRD: Effect = reads(2, Text(NONE));
const OWN_ENTRY: Effect = Effect::of(Place::Own, true, Size(280)).may();

pub const ROWS: &[Row] = &[
    stepping(
        "read recv pread pread64 __read_chk __recv_chk __pread_chk __pread64_chk",
        &[writes(1, Result(2))],
    ),
    stepping(
        "recvfrom __recvfrom_chk",
        &[
            reads(5, Size(4)).may(),
            writes(1, Result(2)),
            writes(4, SizeAt(5, 4)).may(),
            writes(5, Size(4)).may(),
        ],
    ),
    stepping("write send pwrite pwrite64", &[reads(1, Bytes(2))]),
    stepping("sendto", &[reads(1, Bytes(2)), reads(4, Bytes(5))]),
    stepping(
        "readv preadv preadv64 preadv2 preadv64v2",
        &[reads(1, Bytes(2)).units(16), writes(1, Vector(2))],
    ),
    stepping(
        "writev pwritev pwritev64 pwritev2 pwritev64v2 vmsplice",
        &[reads(1, Bytes(2)).units(16), reads(1, Vector(2))],
    ),
    stepping(
        "process_vm_readv",
        &[
            reads(1, Bytes(2)).units(16),
            reads(3, Bytes(4)).units(16),
            reads(3, Vector(4)).may(),
            writes(1, Vector(2)).may(),
        ],
    ),
    stepping(
        "process_vm_writev",
        &[
            reads(1, Bytes(2)).units(16),
            reads(3, Bytes(4)).units(16),
            reads(1, Vector(2)).may(),
            writes(3, Vector(4)).may(),
        ],
    ),
    stepping(
        "recvmsg",
        &[
            reads(1, Size(56)),
            writes(1, Message),
            writes(1, Size(56)).may(),
        ],
    ),
    stepping("sendmsg", &[reads(1, Size(56)), reads(1, Message)]),
    stepping(
        "recvmmsg",
        &[
            reads(1, Bytes(2)).units(64),
            reads(4, Size(16)),
            writes(1, Messages(2)),
            writes(1, Bytes(2)).units(64).may(),
            writes(4, Size(16)).may(),
        ],
    ),
    stepping(
        "sendmmsg",
        &[
            reads(1, Bytes(2)).units(64),
            reads(1, Messages(2)),
            writes(1, Bytes(2)).units(64).may(),
        ],
    ),
    stepping(
        "accept accept4",
        &[
            reads(2, Size(4)).may(),
            writes(1, SizeAt(2, 4)).may(),
            writes(2, Size(4)).may(),
        ],
    ),
    row(
        "getsockname getpeername",
        &[
            reads(2, Size(4)),
            writes(1, SizeAt(2, 4)).may(),
            writes(2, Size(4)).if_result(NotNegative),
        ],
    ),
    row(
        "getsockopt",
        &[
            reads(4, Size(4)),
            writes(3, SizeAt(4, 4)).may(),
            writes(4, Size(4)).if_result(NotNegative),
        ],
    ),
    row("setsockopt", &[reads(3, Bytes(4))]),
    stepping("connect", &[reads(1, Bytes(2))]),
    row("bind", &[reads(1, Bytes(2))]),
    row("pipe pipe2", &[writes(0, Size(8)).if_result(NotNegative)]),
    row("socketpair", &[writes(3, Size(8)).if_result(NotNegative)]),
    stepping("eventfd_read", &[writes(1, Size(8)).if_result(NotNegative)]),
    stepping(
        "poll",
        &[reads(0, Bytes(1)).units(8), writes(0, Bytes(1)).units(8)],
    ),
    stepping(
        "ppoll",
        &[
            reads(0, Bytes(1)).units(8),
            writes(0, Bytes(1)).units(8),
            reads(2, Size(16)),
            reads(3, Size(8)),
        ],
    ),
    stepping(
        "select",
        &[
            reads(1, Size(128)).may(),
            reads(2, Size(128)).may(),
            reads(3, Size(128)).may(),
            reads(4, Size(16)),
            writes(1, Size(128)).may(),
            writes(2, Size(128)).may(),
            writes(3, Size(128)).may(),
            writes(4, Size(16)).may(),
        ],
    ),
    stepping(
        "pselect",
        &[
            reads(1, Size(128)).may(),
            reads(2, Size(128)).may(),
            reads(3, Size(128)).may(),
            writes(1, Size(128)).may(),
            writes(2, Size(128)).may(),
            writes(3, Size(128)).may(),
            reads(4, Size(16)),
            reads(5, Size(8)),
        ],
    ),
    row("epoll_ctl", &[reads(3, Size(12))]),
    stepping("epoll_wait epoll_pwait", &[writes(1, Result(2)).units(12)]),
    stepping(
        "mq_receive",
        &[
            writes(1, Result(2)),
            writes(3, Size(4)).if_result(NotNegative),
        ],
    ),
    stepping(
        "mq_timedreceive",
        &[
            reads(4, Size(16)),
            writes(1, Result(2)),
            writes(3, Size(4)).if_result(NotNegative),
        ],
    ),
    stepping("mq_send", &[reads(1, Bytes(2))]),
    stepping("mq_timedsend", &[reads(1, Bytes(2)), reads(4, Size(16))]),
    row("mq_notify", &[reads(1, Size(64))]),
    row("mq_getattr", &[writes(1, Size(64)).if_result(NotNegative)]),
    row(
        "mq_setattr",
        &[
            reads(1, Size(64)),
            writes(2, Size(64)).if_result(NotNegative),
        ],
    ),
    stepping(
        "msgrcv",
        &[writes(1, Size(8)).may(), writes(1, Bytes(2)).may()],
    ),
    stepping("msgsnd", &[reads(1, Size(8)), reads(1, Bytes(2)).may()]),
    stepping("semop", &[reads(1, Bytes(2)).units(6)]),
    stepping(
        "semtimedop",
        &[reads(1, Bytes(2)).units(6), reads(3, Size(16))],
    ),
    // Streams.
    stepping("fread fread_unlocked", &[writes(0, ResultTimes(1, 2))]),
    stepping(
        "__fread_chk __fread_unlocked_chk",
        &[writes(0, ResultTimes(2, 3))],
    ),
    row("fwrite fwrite_unlocked", &[reads(0, Product(1, 2))]),
    stepping("fgets fgets_unlocked", &[writes(0, Line(1))]),
    stepping("__fgets_chk __fgets_unlocked_chk", &[writes(0, Line(2))]),
    stepping(
        "getline getdelim __getdelim",
        &[
            reads(0, Size(8)),
            reads(1, Size(8)).may(),
            writes(0, Size(8)),
            writes(1, Size(8)),
            Effect::of(Place::Behind(0), true, ResultAndOne),
        ],
    ),
    stepping(
        "scanf __isoc99_scanf __isoc23_scanf",
        &[PATH, writes(0, Scanned(1))],
    ),
    stepping(
        "fscanf __isoc99_fscanf __isoc23_fscanf",
        &[SECOND, writes(1, Scanned(2))],
    ),
    stepping(
        "vscanf __isoc99_vscanf __isoc23_vscanf",
        &[PATH, writes(0, ScannedList(1))],
    ),
    stepping(
        "vfscanf __isoc99_vfscanf __isoc23_vfscanf",
        &[SECOND, writes(1, ScannedList(2))],
    ),
    row(
        "fgetpos fgetpos64",
        &[writes(1, Size(16)).opaque().if_result(Zero)],
    ),
    row("fsetpos fsetpos64", &[reads(1, Size(16)).opaque()]),
    stepping("fopen fopen64 popen freopen freopen64", &[PATH, SECOND]),
    row("fdopen", &[SECOND]),
    row("tmpnam tmpnam_r", &[writes(0, Line(NONE))]),
    row("ctermid cuserid", &[writes(0, Line(NONE))]),
    row("tempnam", &[PATH, SECOND]),
    // Names of files.
    row(
        "getenv secure_getenv unsetenv putenv system unlink remove rmdir mkdir chdir chmod lchmod chown \
         lchown truncate truncate64 mkfifo mknod access eaccess euidaccess opendir dlopen shm_open \
         shm_unlink sem_open sem_unlink mq_open mq_unlink creat creat64 open open64 __open_2 __open64_2 \
         pathconf acct chroot revoke openlog if_nametoindex inet_addr inet_network ftok memfd_create \
         setlogin wctype wctrans wctype_l wctrans_l herror catopen sethostname setdomainname canonicalize_file_name ftw ftw64 \
         nftw nftw64 rpmatch utmpxname glob_pattern_p getpass setnetgrent",
        &[PATH],
    ),
    row(
        "openat openat64 __openat_2 __openat64_2 unlinkat mkdirat mkfifoat mknodat fchmodat fchownat \
         faccessat dlmopen setlocale dlsym psignal newlocale addseverity",
        &[SECOND],
    ),
    row("dlvsym", &[SECOND, THIRD]),
    row(
        "fmtmsg",
        &[
            SECOND,
            reads(3, Text(NONE)),
            reads(4, Text(NONE)),
            reads(5, Text(NONE)),
        ],
    ),
    row("rename link symlink setenv", &[PATH, SECOND]),
    row("renameat renameat2 linkat", &[SECOND, reads(3, Text(NONE))]),
    row("symlinkat", &[PATH, THIRD]),
    row(
        "stat stat64 lstat lstat64",
        &[PATH, writes(1, Size(144)).if_result(NotNegative)],
    ),
    row(
        "fstat fstat64",
        &[writes(1, Size(144)).if_result(NotNegative)],
    ),
    row(
        "fstatat fstatat64",
        &[SECOND, writes(2, Size(144)).if_result(NotNegative)],
    ),
    row(
        "statx",
        &[SECOND, writes(4, Size(256)).if_result(NotNegative)],
    ),
    row(
        "statvfs statvfs64",
        &[PATH, writes(1, Size(112)).if_result(NotNegative)],
    ),
    row(
        "fstatvfs fstatvfs64",
        &[writes(1, Size(112)).if_result(NotNegative)],
    ),
    row("readlink", &[PATH, writes(1, Result(2))]),
    row("readlinkat", &[SECOND, writes(2, Result(3))]),
    row("realpath", &[PATH, writes(1, Line(NONE))]),
    row("getcwd", &[writes(0, Line(1))]),
    row("getwd", &[writes(0, Line(NONE))]),
    row("utime", &[PATH, reads(1, Size(16))]),
    row("utimes lutimes", &[PATH, reads(1, Size(32))]),
    row("futimes futimens", &[reads(1, Size(32))]),
    row("utimensat futimesat", &[SECOND, reads(2, Size(32))]),
    row(
        "mkstemp mkstemp64 mkostemp mkostemp64 mkstemps mkstemps64 mkostemps mkostemps64 mkdtemp mktemp",
        &[PATH, writes(0, Text(NONE)).may()],
    ),
    row(
        "glob glob64",
        &[PATH, reads(3, Size(72)).may(), writes(3, Size(72))],
    ),
    row(
        "globfree globfree64",
        &[reads(0, Size(72)).may(), writes(0, Size(72)).may()],
    ),
    row(
        "wordexp",
        &[PATH, reads(1, Size(24)).may(), writes(1, Size(24))],
    ),
    row(
        "wordfree",
        &[reads(0, Size(24)).may(), writes(0, Size(24)).may()],
    ),
    row(
        "scandir scandir64",
        &[PATH, writes(1, Size(8)).if_result(NotNegative)],
    ),
    row(
        "scandirat scandirat64",
        &[SECOND, writes(2, Size(8)).if_result(NotNegative)],
    ),
    row("readdir readdir64", &[OWN_ENTRY]),
    row(
        "readdir_r readdir64_r",
        &[writes(1, Size(280)).may(), writes(2, Size(8))],
    ),
    row("getdents64", &[writes(1, Result(2))]),
    row(
        "alphasort alphasort64 versionsort versionsort64",
        &[
            reads(0, Size(8)),
            reads(1, Size(8)),
            Effect::of(Place::Behind(0), false, Size(280)).may(),
            Effect::of(Place::Behind(1), false, Size(280)).may(),
        ],
    ),
    row(
        "splice copy_file_range",
        &[
            reads(1, Size(8)).may(),
            reads(3, Size(8)).may(),
            writes(1, Size(8)).may(),
            writes(3, Size(8)).may(),
        ],
    ),
    stepping(
        "sendfile sendfile64",
        &[reads(2, Size(8)).may(), writes(2, Size(8)).may()],
    ),
    row(
        "name_to_handle_at",
        &[
            SECOND,
            reads(2, Size(4)),
            writes(2, Size(136)).may(),
            writes(3, Size(4)),
        ],
    ),
    row("open_by_handle_at", &[reads(1, Size(136)).may()]),
    row("tcgetattr", &[writes(1, Size(60)).if_result(NotNegative)]),
    row("tcsetattr", &[reads(2, Size(60))]),
    row("tcgetwinsize", &[writes(1, Size(8)).if_result(NotNegative)]),
    row("tcsetwinsize", &[reads(1, Size(8))]),
    row(
        "cfsetispeed cfsetospeed cfsetspeed cfmakeraw",
        &[reads(0, Size(60)), writes(0, Size(60))],
    ),
    row("cfgetispeed cfgetospeed", &[reads(0, Size(60))]),
    row("ttyname_r", &[writes(1, Written(2))]),
    row("ptsname_r", &[writes(1, Written(2))]),
    row(
        "ttyname ptsname getlogin strsignal nl_langinfo",
        &[Effect::of(Place::Own, true, Text(NONE)).may()],
    ),
    // Networks.
    row(
        "inet_pton",
        &[SECOND, writes(2, Family(0)).if_result(Positive)],
    ),
    row("inet_ntop", &[reads(1, Family(0)), writes(2, Line(3))]),
    row("inet_aton", &[PATH, writes(1, Size(4)).if_result(NotZero)]),
    row("inet_ntoa", &[Effect::of(Place::Own, true, Text(NONE))]),
    row(
        "getaddrinfo",
        &[PATH, SECOND, reads(2, Size(48)), writes(3, Size(8))],
    ),
    row(
        "getnameinfo",
        &[
            reads(0, Bytes(1)),
            writes(2, Written(3)),
            writes(4, Written(5)),
        ],
    ),
    row("if_indextoname", &[writes(1, Line(NONE))]),
];
