//! Threads, signals, processes, users.

use super::Extent::*;
use super::ResultIs::*;
use super::{Effect, NONE, Place, Row, reads, row, stepping, writes};
use crate::cpp::START_THREAD;

const PATH: Effect = reads(0, Text(NONE));
const SIGNALS: Effect = reads(0, Size(128)).opaque();

pub const ROWS: &[Row] = &[
    stepping(
        "pthread_create",
        &[reads(1, Size(56)).opaque(), writes(0, Size(8))],
    ),
    stepping("thrd_create", &[writes(0, Size(8))]),
    stepping(START_THREAD, &[writes(0, Size(8))]),
    row(
        "_ZNSt18condition_variableC1Ev _ZNSt18condition_variableC2Ev",
        &[writes(0, Size(48)).opaque()],
    ),
    stepping(
        "pthread_join pthread_tryjoin_np",
        &[writes(1, Size(8)).if_result(Zero)],
    ),
    stepping(
        "pthread_timedjoin_np",
        &[writes(1, Size(8)).if_result(Zero), reads(2, Size(16))],
    ),
    stepping(
        "pthread_clockjoin_np",
        &[writes(1, Size(8)).if_result(Zero), reads(3, Size(16))],
    ),
    stepping("thrd_join", &[writes(1, Size(4)).if_result(Zero)]),
    row(
        "pthread_key_create tss_create",
        &[writes(0, Size(4)).if_result(Zero)],
    ),
    stepping("sem_getvalue", &[writes(1, Size(4))]),
    stepping(
        "pthread_mutex_timedlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock sem_timedwait \
         mtx_timedlock",
        &[reads(1, Size(16))],
    ),
    stepping(
        "pthread_cond_timedwait pthread_mutex_clocklock pthread_rwlock_clockrdlock \
         pthread_rwlock_clockwrlock sem_clockwait cnd_timedwait",
        &[reads(2, Size(16))],
    ),
    stepping("pthread_cond_clockwait", &[reads(3, Size(16))]),
    row(
        "pthread_mutex_init pthread_cond_init pthread_barrier_init",
        &[reads(1, Size(4))],
    ),
    row("pthread_rwlock_init", &[reads(1, Size(8))]),
    row(
        "pthread_setcancelstate pthread_setcanceltype",
        &[writes(1, Size(4)).if_result(Zero)],
    ),
    // Attributes.
    row(
        "pthread_attr_init pthread_getattr_default_np",
        &[writes(0, Size(56)).opaque()],
    ),
    row("pthread_getattr_np", &[writes(1, Size(56)).opaque()]),
    row("pthread_setattr_default_np", &[reads(0, Size(56)).opaque()]),
    row(
        "pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_setguardsize \
         pthread_attr_setinheritsched pthread_attr_setschedpolicy pthread_attr_setscope \
         pthread_attr_setstack pthread_attr_setstackaddr pthread_attr_setstacksize",
        &[
            reads(0, Size(56)).opaque(),
            writes(0, Size(56)).opaque().if_result(Zero),
        ],
    ),
    row(
        "pthread_attr_setschedparam",
        &[
            reads(0, Size(56)).opaque(),
            reads(1, Size(4)),
            writes(0, Size(56)).opaque().if_result(Zero),
        ],
    ),
    row(
        "pthread_attr_setaffinity_np",
        &[
            reads(0, Size(56)).opaque(),
            reads(2, Bytes(1)),
            writes(0, Size(56)).opaque().if_result(Zero),
        ],
    ),
    row(
        "pthread_attr_setsigmask_np",
        &[
            reads(0, Size(56)).opaque(),
            reads(1, Size(128)).opaque(),
            writes(0, Size(56)).opaque().if_result(Zero),
        ],
    ),
    row(
        "pthread_attr_getdetachstate pthread_attr_getscope pthread_attr_getinheritsched \
         pthread_attr_getschedpolicy pthread_attr_getschedparam",
        &[reads(0, Size(56)).opaque(), writes(1, Size(4))],
    ),
    row(
        "pthread_attr_getstacksize pthread_attr_getguardsize pthread_attr_getstackaddr",
        &[reads(0, Size(56)).opaque(), writes(1, Size(8))],
    ),
    row(
        "pthread_attr_getstack",
        &[
            reads(0, Size(56)).opaque(),
            writes(1, Size(8)),
            writes(2, Size(8)),
        ],
    ),
    row(
        "pthread_attr_getaffinity_np",
        &[
            reads(0, Size(56)).opaque(),
            writes(2, Bytes(1)).if_result(Zero),
        ],
    ),
    row(
        "pthread_attr_getsigmask_np",
        &[reads(0, Size(56)).opaque(), writes(1, Size(128)).opaque()],
    ),
    row(
        "pthread_mutexattr_init pthread_condattr_init pthread_barrierattr_init",
        &[writes(0, Size(4))],
    ),
    row(
        "pthread_mutexattr_destroy pthread_mutexattr_setprioceiling pthread_mutexattr_setprotocol \
         pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_setrobust_np \
         pthread_mutexattr_settype pthread_condattr_destroy pthread_condattr_setclock \
         pthread_condattr_setpshared pthread_barrierattr_destroy pthread_barrierattr_setpshared",
        &[reads(0, Size(4)), writes(0, Size(4)).if_result(Zero)],
    ),
    row(
        "pthread_mutexattr_gettype pthread_mutexattr_getpshared pthread_mutexattr_getrobust \
         pthread_mutexattr_getrobust_np pthread_mutexattr_getprotocol pthread_mutexattr_getprioceiling \
         pthread_condattr_getclock pthread_condattr_getpshared pthread_barrierattr_getpshared",
        &[reads(0, Size(4)), writes(1, Size(4))],
    ),
    row("pthread_rwlockattr_init", &[writes(0, Size(8))]),
    row(
        "pthread_rwlockattr_destroy pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared",
        &[reads(0, Size(8)), writes(0, Size(8)).if_result(Zero)],
    ),
    row(
        "pthread_rwlockattr_getpshared pthread_rwlockattr_getkind_np",
        &[reads(0, Size(8)), writes(1, Size(4))],
    ),
    row(
        "pthread_mutex_getprioceiling",
        &[writes(1, Size(4)).if_result(Zero)],
    ),
    row(
        "pthread_mutex_setprioceiling",
        &[writes(2, Size(4)).if_result(Zero)],
    ),
    row(
        "pthread_getschedparam",
        &[
            writes(1, Size(4)).if_result(Zero),
            writes(2, Size(4)).if_result(Zero),
        ],
    ),
    row("pthread_setschedparam", &[reads(2, Size(4))]),
    row("pthread_getname_np", &[writes(1, Written(2))]),
    row("pthread_setname_np", &[reads(1, Text(NONE))]),
    row(
        "pthread_getaffinity_np sched_getaffinity",
        &[writes(2, Bytes(1)).if_result(Zero)],
    ),
    row(
        "pthread_setaffinity_np sched_setaffinity",
        &[reads(2, Bytes(1))],
    ),
    row(
        "sched_getparam",
        &[writes(1, Size(4)).if_result(NotNegative)],
    ),
    row("sched_setparam", &[reads(1, Size(4))]),
    row("sched_setscheduler", &[reads(2, Size(4))]),
    row(
        "sched_rr_get_interval",
        &[writes(1, Size(16)).if_result(NotNegative)],
    ),
    row("sched_setattr", &[reads(1, Size(48))]),
    row(
        "sched_getattr",
        &[writes(1, Bytes(2)).if_result(NotNegative)],
    ),
    row(
        "getcpu",
        &[
            writes(0, Size(4)).if_result(NotNegative),
            writes(1, Size(4)).if_result(NotNegative),
        ],
    ),
    row("__sched_cpucount", &[reads(1, Bytes(0))]),
    // Jumps: the registers, whether there is a mask, and room for that.
    row(
        "setjmp _setjmp __sigsetjmp",
        &[writes(0, Size(80)).opaque()],
    ),
    stepping(
        "longjmp _longjmp siglongjmp __longjmp_chk",
        &[reads(0, Size(80)).opaque()],
    ),
    // Signals.
    row(
        "pthread_sigmask sigprocmask",
        &[
            reads(1, Size(128)).opaque(),
            writes(2, Size(128)).opaque().if_result(Zero),
        ],
    ),
    row(
        "sigaction",
        &[
            reads(1, Size(152)),
            writes(2, Size(152)).if_result(NotNegative),
        ],
    ),
    row(
        "sigpending sigemptyset sigfillset",
        &[writes(0, Size(128)).opaque().if_result(NotNegative)],
    ),
    row(
        "sigaddset sigdelset",
        &[
            SIGNALS,
            writes(0, Size(128)).opaque().if_result(NotNegative),
        ],
    ),
    row("sigismember sigisemptyset", &[SIGNALS]),
    row(
        "sigandset sigorset",
        &[
            reads(1, Size(128)).opaque(),
            reads(2, Size(128)).opaque(),
            writes(0, Size(128)).opaque(),
        ],
    ),
    stepping("sigsuspend", &[SIGNALS]),
    stepping("sigwait", &[SIGNALS, writes(1, Size(4)).if_result(Zero)]),
    stepping(
        "sigwaitinfo",
        &[
            SIGNALS,
            writes(1, Size(128)).opaque().if_result(NotNegative),
        ],
    ),
    stepping(
        "sigtimedwait",
        &[
            SIGNALS,
            reads(2, Size(16)),
            writes(1, Size(128)).opaque().if_result(NotNegative),
        ],
    ),
    row(
        "sigaltstack",
        &[
            reads(0, Size(24)),
            writes(1, Size(24)).if_result(NotNegative),
        ],
    ),
    row(
        "sigstack",
        &[
            reads(0, Size(16)),
            writes(1, Size(16)).if_result(NotNegative),
        ],
    ),
    row(
        "psiginfo",
        &[reads(0, Size(128)).opaque(), reads(1, Text(NONE))],
    ),
    // Processes.
    stepping("wait", &[writes(0, Size(4)).may()]),
    stepping("waitpid", &[writes(1, Size(4)).may()]),
    stepping("waitid", &[writes(2, Size(128)).may()]),
    stepping(
        "wait3",
        &[writes(0, Size(4)).may(), writes(2, Size(144)).may()],
    ),
    stepping(
        "wait4",
        &[writes(1, Size(4)).may(), writes(3, Size(144)).may()],
    ),
    row(
        "getrlimit getrlimit64",
        &[writes(1, Size(16)).if_result(NotNegative)],
    ),
    row("setrlimit setrlimit64", &[reads(1, Size(16))]),
    row(
        "prlimit prlimit64",
        &[
            reads(2, Size(16)),
            writes(3, Size(16)).if_result(NotNegative),
        ],
    ),
    row("getrusage", &[writes(1, Size(144)).if_result(NotNegative)]),
    row("uname", &[writes(0, Size(390)).if_result(NotNegative)]),
    row("gethostname getdomainname", &[writes(0, Written(1))]),
    row("confstr", &[writes(1, Written(2))]),
    row("getloadavg", &[writes(0, Result(1)).units(8)]),
    row("getgroups", &[writes(1, Result(0)).units(4)]),
    row("setgroups", &[reads(1, Bytes(0)).units(4)]),
    row(
        "getgrouplist",
        &[
            PATH,
            reads(3, Size(4)),
            writes(2, SizeAt(3, 4)).units(4).may(),
            writes(3, Size(4)),
        ],
    ),
    row("initgroups", &[PATH]),
    row(
        "getresuid getresgid",
        &[
            writes(0, Size(4)).if_result(NotNegative),
            writes(1, Size(4)).if_result(NotNegative),
            writes(2, Size(4)).if_result(NotNegative),
        ],
    ),
    row("getlogin_r", &[writes(0, Written(1))]),
    row("mincore", &[writes(2, Bytes(1)).may()]),
    row("posix_memalign", &[writes(0, Size(8)).if_result(Zero)]),
    row("dladdr", &[writes(1, Size(32)).if_result(NotZero)]),
    row(
        "dladdr1",
        &[
            writes(1, Size(32)).if_result(NotZero),
            writes(2, Size(8)).if_result(NotZero),
        ],
    ),
    row(
        "getpwnam_r",
        &[
            PATH,
            writes(1, Size(48)),
            writes(2, Bytes(3)).may(),
            writes(4, Size(8)),
        ],
    ),
    row(
        "getgrnam_r",
        &[
            PATH,
            writes(1, Size(32)),
            writes(2, Bytes(3)).may(),
            writes(4, Size(8)),
        ],
    ),
    row(
        "getpwuid_r",
        &[
            writes(1, Size(48)),
            writes(2, Bytes(3)).may(),
            writes(4, Size(8)),
        ],
    ),
    row(
        "getgrgid_r",
        &[
            writes(1, Size(32)),
            writes(2, Bytes(3)).may(),
            writes(4, Size(8)),
        ],
    ),
    row(
        "getpwent_r",
        &[
            writes(0, Size(48)),
            writes(1, Bytes(2)).may(),
            writes(3, Size(8)),
        ],
    ),
    row(
        "getgrent_r",
        &[
            writes(0, Size(32)),
            writes(1, Bytes(2)).may(),
            writes(3, Size(8)),
        ],
    ),
    row(
        "getopt __posix_getopt",
        &[
            reads(2, Text(NONE)),
            Effect::of(Place::Options, false, Size(8)),
            reads(1, Texts(0)).may(),
            Effect::of(Place::Options, true, Size(8)),
            writes(1, Bytes(0)).units(8).may(),
        ],
    ),
    row(
        "getopt_long getopt_long_only",
        &[
            reads(2, Text(NONE)),
            Effect::of(Place::Options, false, Size(8)),
            reads(1, Texts(0)).may(),
            reads(3, LongOptions).may(),
            Effect::of(Place::Options, true, Size(8)),
            writes(1, Bytes(0)).units(8).may(),
            writes(3, LongOptions).may(),
            writes(4, Size(4)).may(),
        ],
    ),
    // Attributes of new processes.
    row("posix_spawnattr_init", &[writes(0, Size(336)).opaque()]),
    row(
        "posix_spawnattr_destroy posix_spawnattr_setflags posix_spawnattr_setpgroup \
         posix_spawnattr_setschedpolicy",
        &[
            reads(0, Size(336)).opaque(),
            writes(0, Size(336)).opaque().if_result(Zero),
        ],
    ),
    row(
        "posix_spawnattr_setschedparam",
        &[
            reads(0, Size(336)).opaque(),
            reads(1, Size(4)),
            writes(0, Size(336)).opaque().if_result(Zero),
        ],
    ),
    row(
        "posix_spawnattr_setsigdefault posix_spawnattr_setsigmask",
        &[
            reads(0, Size(336)).opaque(),
            reads(1, Size(128)).opaque(),
            writes(0, Size(336)).opaque().if_result(Zero),
        ],
    ),
    row(
        "posix_spawnattr_getflags",
        &[reads(0, Size(336)).opaque(), writes(1, Size(2))],
    ),
    row(
        "posix_spawnattr_getpgroup posix_spawnattr_getschedparam posix_spawnattr_getschedpolicy",
        &[reads(0, Size(336)).opaque(), writes(1, Size(4))],
    ),
    row(
        "posix_spawnattr_getsigdefault posix_spawnattr_getsigmask",
        &[reads(0, Size(336)).opaque(), writes(1, Size(128)).opaque()],
    ),
    row(
        "posix_spawn_file_actions_init",
        &[writes(0, Size(80)).opaque()],
    ),
    row(
        "posix_spawn_file_actions_destroy posix_spawn_file_actions_addclose \
         posix_spawn_file_actions_adddup2 posix_spawn_file_actions_addclosefrom_np \
         posix_spawn_file_actions_addfchdir_np posix_spawn_file_actions_addtcsetpgrp_np",
        &[
            reads(0, Size(80)).opaque(),
            writes(0, Size(80)).opaque().if_result(Zero),
        ],
    ),
    row(
        "posix_spawn_file_actions_addchdir_np",
        &[
            reads(0, Size(80)).opaque(),
            reads(1, Text(NONE)),
            writes(0, Size(80)).opaque().if_result(Zero),
        ],
    ),
    row(
        "posix_spawn_file_actions_addopen",
        &[
            reads(0, Size(80)).opaque(),
            reads(2, Text(NONE)),
            writes(0, Size(80)).opaque().if_result(Zero),
        ],
    ),
];
