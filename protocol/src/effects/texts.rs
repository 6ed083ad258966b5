//! Texts and blocks of bytes.

use super::Extent::*;
use super::ResultIs::*;
use super::{Effect, NONE, Place, Row, clears, counts, counts_list, reads, row, writes};

const WHOLE: Effect = reads(0, Text(NONE));
const SECOND: Effect = reads(1, Text(NONE));

pub const ROWS: &[Row] = &[
    row(
        "strlen strdup __strdup strrchr rindex puts fputs fputs_unlocked",
        &[WHOLE],
    ),
    row("strnlen strndup __strndup", &[reads(0, Text(1))]),
    row("strchr index strchrnul", &[reads(0, TextUntil(1))]),
    row("memchr", &[reads(0, Until(1, 2))]),
    row("rawmemchr", &[reads(0, Until(1, NONE))]),
    row("memrchr", &[reads(0, Bytes(2)).may()]),
    row(
        "strcmp",
        &[reads(0, Common(1, NONE)), reads(1, Common(0, NONE))],
    ),
    row("strncmp", &[reads(0, Common(1, 2)), reads(1, Common(0, 2))]),
    row(
        "strcasecmp strcasecmp_l",
        &[
            reads(0, CommonFolded(1, NONE)),
            reads(1, CommonFolded(0, NONE)),
        ],
    ),
    row(
        "strncasecmp strncasecmp_l",
        &[reads(0, CommonFolded(1, 2)), reads(1, CommonFolded(0, 2))],
    ),
    row("strcoll strcoll_l fnmatch", &[WHOLE, SECOND]),
    row(
        "strverscmp",
        &[WHOLE.at_least_first(), SECOND.at_least_first()],
    ),
    row(
        "memcmp bcmp __memcmpeq",
        &[reads(0, Bytes(2)), reads(1, Bytes(2))],
    ),
    row(
        "strcpy stpcpy __stpcpy __strcpy_chk __stpcpy_chk",
        &[SECOND, writes(0, Copy(1, NONE))],
    ),
    row(
        "strncpy stpncpy __stpncpy __strncpy_chk __stpncpy_chk",
        &[reads(1, Text(2)), writes(0, Bytes(2))],
    ),
    row(
        "strcat __strcat_chk",
        &[SECOND, WHOLE, writes(0, Append(1, NONE))],
    ),
    row(
        "strncat __strncat_chk",
        &[reads(1, Text(2)), WHOLE, writes(0, Append(1, 2))],
    ),
    row(
        "mempcpy __mempcpy __mempcpy_chk",
        &[reads(1, Bytes(2)), writes(0, Bytes(2))],
    ),
    row("bcopy", &[reads(0, Bytes(2)), writes(1, Bytes(2))]),
    row("swab", &[reads(0, Bytes(2)), writes(1, Bytes(2))]),
    row(
        "bzero explicit_bzero __explicit_bzero_chk",
        &[writes(0, Bytes(1))],
    ),
    row("memfrob", &[reads(0, Bytes(1)), writes(0, Bytes(1))]),
    row("arc4random_buf", &[writes(0, Bytes(1))]),
    row(
        "memccpy",
        &[reads(1, Until(2, 3)), writes(0, CopyUntil(1, 2, 3))],
    ),
    row(
        "memmem",
        &[reads(0, Bytes(1)).may(), reads(2, Bytes(3)).may()],
    ),
    row("strstr", &[SECOND, reads(0, Find(1))]),
    row("strcasestr", &[SECOND, reads(0, FindFolded(1))]),
    row("strspn", &[SECOND, reads(0, Within(1))]),
    row("strcspn strpbrk", &[SECOND, reads(0, Without(1))]),
    row(
        "strtok_r __strtok_r",
        &[
            SECOND,
            reads(2, Size(8)).may(),
            Effect::of(Place::Either(0, 2), false, Token(1)),
            Effect::of(Place::Either(0, 2), true, TokenEnd(1)),
            writes(2, Size(8)),
        ],
    ),
    row(
        "strtok",
        &[
            SECOND,
            Effect::of(Place::Kept(0), false, Token(1)),
            // With the step by which it moves on.
            Effect::of(Place::Kept(0), true, TokenEnd(1)).opaque(),
        ],
    ),
    row(
        "strsep __strsep_g",
        &[
            reads(0, Size(8)),
            SECOND,
            Effect::of(Place::Behind(0), false, Field(1)),
            Effect::of(Place::Behind(0), true, FieldEnd(1)),
            writes(0, Size(8)),
        ],
    ),
    row(
        "getsubopt",
        &[
            reads(0, Size(8)),
            Effect::of(Place::Behind(0), false, Text(NONE)),
            reads(1, Texts(NONE)).may(),
            Effect::of(Place::Behind(0), true, Text(NONE)).may(),
            writes(0, Size(8)),
            writes(2, Size(8)),
        ],
    ),
    row("strxfrm strxfrm_l", &[SECOND, writes(0, Printed(2))]),
    row("strfry", &[WHOLE, writes(0, Text(NONE))]),
    row(
        "dirname __xpg_basename",
        &[WHOLE.may(), writes(0, Text(NONE)).may()],
    ),
    row("basename", &[WHOLE]),
    row(
        "strerror_r __xpg_strerror_r __strerror_r_chk",
        &[writes(1, Written(2)).may()],
    ),
    // Formats.
    row("perror", &[WHOLE]),
    row("printf warn warnx", &[reads(0, Format(1)), counts(0, 1)]),
    row(
        "__printf_chk fprintf dprintf syslog err errx",
        &[reads(1, Format(2)), counts(1, 2)],
    ),
    row(
        "__fprintf_chk __dprintf_chk",
        &[reads(2, Format(3)), counts(2, 3)],
    ),
    row(
        "vprintf vwarn vwarnx",
        &[reads(0, List(1)), counts_list(0, 1)],
    ),
    row(
        "__vprintf_chk vfprintf vdprintf vsyslog verr verrx",
        &[reads(1, List(2)), counts_list(1, 2)],
    ),
    row("__vfprintf_chk", &[reads(2, List(3)), counts_list(2, 3)]),
    row(
        "snprintf",
        &[
            clears(0, 1),
            reads(2, Format(3)),
            counts(2, 3),
            writes(0, Printed(1)),
        ],
    ),
    row("error", &[reads(2, Format(3)), counts(2, 3)]),
    row(
        "error_at_line",
        &[reads(2, Text(NONE)), reads(4, Format(5)), counts(4, 5)],
    ),
    row(
        "__snprintf_chk",
        &[
            clears(0, 1),
            reads(4, Format(5)),
            counts(4, 5),
            writes(0, Printed(1)),
        ],
    ),
    row(
        "vsnprintf",
        &[
            clears(0, 1),
            reads(2, List(3)),
            counts_list(2, 3),
            writes(0, Printed(1)),
        ],
    ),
    row(
        "__vsnprintf_chk",
        &[
            clears(0, 1),
            reads(4, List(5)),
            counts_list(4, 5),
            writes(0, Printed(1)),
        ],
    ),
    row(
        "sprintf",
        &[reads(1, Format(2)), counts(1, 2), writes(0, Printed(NONE))],
    ),
    row(
        "__sprintf_chk",
        &[
            clears(0, 2),
            reads(3, Format(4)),
            counts(3, 4),
            writes(0, Printed(NONE)),
        ],
    ),
    row(
        "vsprintf",
        &[
            reads(1, List(2)),
            counts_list(1, 2),
            writes(0, Printed(NONE)),
        ],
    ),
    row(
        "__vsprintf_chk",
        &[
            clears(0, 2),
            reads(3, List(4)),
            counts_list(3, 4),
            writes(0, Printed(NONE)),
        ],
    ),
    row(
        "asprintf __asprintf",
        &[
            reads(1, Format(2)),
            counts(1, 2),
            writes(0, Size(8)).if_result(NotNegative),
        ],
    ),
    row(
        "__asprintf_chk",
        &[
            reads(2, Format(3)),
            counts(2, 3),
            writes(0, Size(8)).if_result(NotNegative),
        ],
    ),
    row(
        "vasprintf",
        &[
            reads(1, List(2)),
            counts_list(1, 2),
            writes(0, Size(8)).if_result(NotNegative),
        ],
    ),
    row(
        "__vasprintf_chk",
        &[
            reads(2, List(3)),
            counts_list(2, 3),
            writes(0, Size(8)).if_result(NotNegative),
        ],
    ),
    row(
        "sscanf __isoc99_sscanf __isoc23_sscanf",
        &[WHOLE, SECOND, writes(1, Scanned(2))],
    ),
    row(
        "vsscanf __isoc99_vsscanf __isoc23_vsscanf",
        &[WHOLE, SECOND, writes(1, ScannedList(2))],
    ),
    // Between multibyte and wide characters.
    row("mblen", &[reads(0, Text(1)).at_least_first()]),
    row(
        "mbrlen",
        &[
            reads(2, Size(8)),
            reads(0, Text(1)).at_least_first(),
            writes(2, Size(8)),
        ],
    ),
    row(
        "mbtowc",
        &[
            reads(1, Text(2)).at_least_first(),
            writes(0, Size(4)).if_result(NotNegative),
        ],
    ),
    row(
        "mbrtowc mbrtoc32",
        &[
            reads(3, Size(8)),
            reads(1, Text(2)).at_least_first(),
            writes(0, Size(4)).if_result(NotNegative),
            writes(3, Size(8)),
        ],
    ),
    row(
        "mbrtoc16",
        &[
            reads(3, Size(8)),
            reads(1, Text(2)).at_least_first(),
            writes(0, Size(2)),
            writes(3, Size(8)),
        ],
    ),
    row(
        "mbrtoc8",
        &[
            reads(3, Size(8)),
            reads(1, Text(2)).at_least_first(),
            writes(0, Size(1)),
            writes(3, Size(8)),
        ],
    ),
    row("mbsinit", &[reads(0, Size(8))]),
    row(
        "mbstowcs",
        &[
            reads(1, Text(NONE)).at_least_first(),
            writes(0, Printed(2)).wide(),
        ],
    ),
    row(
        "wcstombs",
        &[
            reads(1, Text(NONE)).wide().at_least_first(),
            writes(0, Printed(2)),
        ],
    ),
    row(
        "mbsrtowcs",
        &[
            reads(3, Size(8)),
            reads(1, Size(8)),
            Effect::of(Place::Behind(1), false, Text(NONE)).at_least_first(),
            writes(0, Printed(2)).wide(),
            writes(1, Size(8)),
            writes(3, Size(8)),
        ],
    ),
    row(
        "mbsnrtowcs",
        &[
            reads(4, Size(8)),
            reads(1, Size(8)),
            Effect::of(Place::Behind(1), false, Text(2)).at_least_first(),
            writes(0, Printed(3)).wide(),
            writes(1, Size(8)),
            writes(4, Size(8)),
        ],
    ),
    row(
        "wcsrtombs",
        &[
            reads(3, Size(8)),
            reads(1, Size(8)),
            Effect::of(Place::Behind(1), false, Text(NONE))
                .wide()
                .at_least_first(),
            writes(0, Printed(2)),
            writes(1, Size(8)),
            writes(3, Size(8)),
        ],
    ),
    row(
        "wcsnrtombs",
        &[
            reads(4, Size(8)),
            reads(1, Size(8)),
            Effect::of(Place::Behind(1), false, Text(2))
                .wide()
                .at_least_first(),
            writes(0, Printed(3)),
            writes(1, Size(8)),
            writes(4, Size(8)),
        ],
    ),
    row("wctomb", &[writes(0, Result(NONE))]),
    row(
        "wcrtomb c16rtomb c32rtomb c8rtomb",
        &[
            reads(2, Size(8)),
            writes(0, Result(NONE)),
            writes(2, Size(8)),
        ],
    ),
    row(
        "iconv",
        &[
            reads(1, Size(8)),
            reads(2, Size(8)).may(),
            reads(3, Size(8)).may(),
            reads(4, Size(8)).may(),
            Effect::of(Place::Behind(1), false, SizeAt(2, 8)).at_least_first(),
            Effect::of(Place::Behind(3), true, SizeAt(4, 8)).may(),
            writes(1, Size(8)),
            writes(2, Size(8)),
            writes(3, Size(8)),
            writes(4, Size(8)),
        ],
    ),
    row("iconv_open", &[WHOLE, SECOND]),
    row("regcomp", &[SECOND, writes(0, Size(64)).opaque()]),
    row(
        "regexec",
        &[
            reads(0, Size(64)).opaque(),
            SECOND,
            writes(3, Bytes(2)).units(8).may(),
        ],
    ),
    row(
        "regerror",
        &[reads(1, Size(64)).opaque(), writes(2, Written(3))],
    ),
    row("regfree", &[writes(0, Size(64)).may()]),
];
