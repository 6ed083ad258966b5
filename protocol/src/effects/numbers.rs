//! Numbers, dates, sorting.

use super::Extent::*;
use super::ResultIs::*;
use super::{Effect, NONE, Place, Row, clears, reads, row, stepping, writes};

const OWN: Effect = Effect::of(Place::Own, true, Size(56));
const OWN_TEXT: Effect = Effect::of(Place::Own, true, Text(NONE));

/// The name of the time zone of a `struct tm`.
pub(super) const ZONE: super::Extent = TextAt(48);

pub const ROWS: &[Row] = &[
    row("atoi atol atoll", &[reads(0, Number(NONE))]),
    row("atof", &[reads(0, Floating)]),
    row(
        "strtol strtoll strtoul strtoull strtoimax strtoumax strtoq strtouq strtol_l strtoll_l \
         strtoul_l strtoull_l __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull \
         __isoc23_strtoimax __isoc23_strtoumax",
        &[reads(0, Number(2)), writes(1, Size(8))],
    ),
    row(
        "strtod strtof strtold strtof32 strtof32x strtof64 strtof64x strtof128 strtof128_l strtod_l strtof_l strtold_l \
         strtof32_l strtof32x_l strtof64_l strtof64x_l",
        &[reads(0, Floating), writes(1, Size(8))],
    ),
    row(
        "nan nanf nanl nanf32 nanf32x nanf64 nanf64x nanf128 a64l",
        &[reads(0, Text(NONE))],
    ),
    row("l64a", &[OWN_TEXT]),
    row(
        "strfromd strfromf strfroml strfromf32 strfromf32x strfromf64 strfromf64x strfromf128",
        &[reads(2, Text(NONE)), writes(0, Printed(1))],
    ),
    row("strfmon", &[reads(2, Text(NONE)), writes(0, Printed(1))]),
    row("strfmon_l", &[reads(3, Text(NONE)), writes(0, Printed(1))]),
    row("gcvt qgcvt", &[writes(2, Written(NONE))]),
    row(
        "ecvt fcvt qecvt qfcvt",
        &[writes(2, Size(4)), writes(3, Size(4)), OWN_TEXT],
    ),
    row(
        "ecvt_r fcvt_r qecvt_r qfcvt_r",
        &[
            writes(2, Size(4)),
            writes(3, Size(4)),
            writes(4, Written(5)),
        ],
    ),
    row(
        "frexp frexpf frexpl frexpf128 __frexp __frexpf __frexpl frexpf32 frexpf32x frexpf64 frexpf64x lgamma_r lgammaf_r lgammal_r \
         lgammaf32_r lgammaf32x_r lgammaf64_r lgammaf64x_r lgammaf128_r",
        &[writes(1, Size(4))],
    ),
    row("modf __modf modff32x modff64", &[writes(1, Size(8))]),
    row("modff __modff modff32", &[writes(1, Size(4))]),
    row("modfl modff128 __modfl", &[writes(1, Size(16))]),
    row(
        "remquo remquof remquol remquof32 remquof32x remquof64 remquof64x remquof128",
        &[writes(2, Size(4))],
    ),
    row(
        "sincos sincosf32x sincosf64",
        &[writes(1, Size(8)), writes(2, Size(8))],
    ),
    row(
        "sincosf sincosf32",
        &[writes(1, Size(4)), writes(2, Size(4))],
    ),
    row(
        "sincosl sincosf128",
        &[writes(1, Size(16)), writes(2, Size(16))],
    ),
    row(
        "canonicalize canonicalizef32x canonicalizef64",
        &[reads(1, Size(8)), writes(0, Size(8))],
    ),
    row(
        "canonicalizef canonicalizef32",
        &[reads(1, Size(4)), writes(0, Size(4))],
    ),
    row(
        "canonicalizel canonicalizef128",
        &[reads(1, Size(16)), writes(0, Size(16))],
    ),
    row(
        "setpayload setpayloadf32x setpayloadf64 setpayloadsig setpayloadsigf32x setpayloadsigf64",
        &[writes(0, Size(8))],
    ),
    row(
        "setpayloadf setpayloadf32 setpayloadsigf setpayloadsigf32",
        &[writes(0, Size(4))],
    ),
    row(
        "setpayloadl setpayloadf128 setpayloadsigl setpayloadsigf128",
        &[writes(0, Size(16))],
    ),
    row(
        "getpayload getpayloadf32x getpayloadf64",
        &[reads(0, Size(8))],
    ),
    row("getpayloadf getpayloadf32", &[reads(0, Size(4))]),
    row("getpayloadl getpayloadf128", &[reads(0, Size(16))]),
    row(
        "totalorder totalorderf32x totalorderf64 totalordermag totalordermagf32x totalordermagf64",
        &[reads(0, Size(8)), reads(1, Size(8))],
    ),
    row(
        "totalorderf totalorderf32 totalordermagf totalordermagf32",
        &[reads(0, Size(4)), reads(1, Size(4))],
    ),
    row(
        "totalorderl totalordermagl totalorderf128 totalordermagf128",
        &[reads(0, Size(16)), reads(1, Size(16))],
    ),
    row("fegetenv feholdexcept", &[writes(0, Size(32)).opaque()]),
    row("fesetenv feupdateenv", &[reads(0, Size(32)).opaque()]),
    row("fegetexceptflag", &[writes(0, Size(2))]),
    row("fesetexceptflag fetestexceptflag", &[reads(0, Size(2))]),
    row("fegetmode", &[writes(0, Size(8))]),
    row("fesetmode", &[reads(0, Size(8))]),
    // Random numbers.
    row("rand_r", &[reads(0, Size(4)), writes(0, Size(4))]),
    row(
        "erand48 nrand48 jrand48",
        &[reads(0, Size(6)), writes(0, Size(6))],
    ),
    row("lcong48", &[reads(0, Size(14))]),
    row(
        "seed48",
        &[reads(0, Size(6)), Effect::of(Place::Own, true, Size(6))],
    ),
    row(
        "drand48_r lrand48_r mrand48_r",
        &[reads(0, Size(24)), writes(0, Size(24)), writes(1, Size(8))],
    ),
    row(
        "erand48_r nrand48_r jrand48_r",
        &[
            reads(0, Size(6)),
            writes(0, Size(6)),
            reads(1, Size(24)),
            writes(1, Size(24)),
            writes(2, Size(8)),
        ],
    ),
    row("srand48_r", &[writes(1, Size(24))]),
    row(
        "seed48_r lcong48_r",
        &[reads(0, Size(6)), writes(1, Size(24))],
    ),
    row("getrandom", &[writes(0, Result(1))]),
    row("getentropy", &[writes(0, Bytes(1)).if_result(NotNegative)]),
    // Dates.
    row("time", &[writes(0, Size(8))]),
    row(
        "clock_gettime clock_getres",
        &[writes(1, Size(16)).if_result(NotNegative)],
    ),
    row("clock_settime", &[reads(1, Size(16))]),
    row("gettimeofday", &[writes(0, Size(16)), writes(1, Size(8))]),
    row("settimeofday", &[reads(0, Size(16)), reads(1, Size(8))]),
    row(
        "timespec_get timespec_getres",
        &[writes(0, Size(16)).if_result(NotZero)],
    ),
    row(
        "adjtime",
        &[
            reads(0, Size(16)),
            writes(1, Size(16)).if_result(NotNegative),
        ],
    ),
    row(
        "localtime_r gmtime_r",
        &[reads(0, Size(8)), writes(1, Size(56))],
    ),
    row("localtime gmtime", &[reads(0, Size(8)), OWN]),
    row("asctime", &[reads(0, Size(56)), OWN_TEXT]),
    row(
        "ctime",
        &[
            reads(0, Size(8)),
            Effect::of(Place::Date, true, Size(56)),
            OWN_TEXT,
        ],
    ),
    row(
        "asctime_r",
        &[
            reads(0, Size(56)),
            clears(1, NONE),
            writes(1, Written(NONE)),
        ],
    ),
    row(
        "ctime_r",
        &[reads(0, Size(8)), clears(1, NONE), writes(1, Written(NONE))],
    ),
    row(
        "mktime timegm timelocal",
        &[reads(0, Size(56)), writes(0, Size(56))],
    ),
    row(
        "strftime strftime_l",
        &[
            reads(2, Text(NONE)),
            reads(3, Size(56)),
            reads(3, ZONE).may(),
            writes(0, Printed(1)),
        ],
    ),
    row(
        "strptime strptime_l",
        &[
            reads(0, Text(NONE)).at_least_first(),
            reads(1, Text(NONE)),
            writes(2, Size(56)).may(),
        ],
    ),
    row("times", &[writes(0, Size(32))]),
    stepping(
        "nanosleep thrd_sleep",
        &[reads(0, Size(16)), writes(1, Size(16)).if_result(Negative)],
    ),
    stepping(
        "clock_nanosleep",
        &[reads(2, Size(16)), writes(3, Size(16)).if_result(NotZero)],
    ),
    row("getitimer", &[writes(1, Size(32)).if_result(NotNegative)]),
    row(
        "setitimer",
        &[
            reads(1, Size(32)),
            writes(2, Size(32)).if_result(NotNegative),
        ],
    ),
    row(
        "timer_create",
        &[
            reads(1, Size(64)).may(),
            writes(2, Size(8)).if_result(NotNegative),
        ],
    ),
    row(
        "timer_gettime timerfd_gettime",
        &[writes(1, Size(32)).if_result(NotNegative)],
    ),
    row(
        "timer_settime timerfd_settime",
        &[
            reads(2, Size(32)),
            writes(3, Size(32)).if_result(NotNegative),
        ],
    ),
    row(
        "clock_getcpuclockid pthread_getcpuclockid",
        &[writes(1, Size(4)).if_result(Zero)],
    ),
    // Sorting: what a function of the program compares, its own hooks tell.
    row(
        "qsort qsort_r",
        &[reads(0, Product(1, 2)), writes(0, Product(1, 2)).restless()],
    ),
    row("lfind", &[reads(2, Size(8))]),
    row("tsearch tdelete", &[reads(1, Size(8)), writes(1, Size(8))]),
    row("tfind", &[reads(1, Size(8))]),
];
