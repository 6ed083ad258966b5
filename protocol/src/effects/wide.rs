//! Texts of wide characters.

use super::Extent::*;
use super::{Effect, NONE, Place, Row, clears, counts, counts_list, reads, row, writes};

const WHOLE: Effect = reads(0, Text(NONE)).wide();
const SECOND: Effect = reads(1, Text(NONE)).wide();

pub const ROWS: &[Row] = &[
    row("wcslen wcsdup wcsrchr fputws fputws_unlocked", &[WHOLE]),
    row("wcsnlen wcswidth", &[reads(0, Text(1)).wide()]),
    row("wcschr wcschrnul", &[reads(0, TextUntil(1)).wide()]),
    row("wmemchr", &[reads(0, Until(1, 2)).wide()]),
    row(
        "wcscmp",
        &[
            reads(0, Common(1, NONE)).wide(),
            reads(1, Common(0, NONE)).wide(),
        ],
    ),
    row(
        "wcsncmp",
        &[reads(0, Common(1, 2)).wide(), reads(1, Common(0, 2)).wide()],
    ),
    row(
        "wcscasecmp wcscasecmp_l",
        &[
            reads(0, CommonFolded(1, NONE)).wide(),
            reads(1, CommonFolded(0, NONE)).wide(),
        ],
    ),
    row(
        "wcsncasecmp wcsncasecmp_l",
        &[
            reads(0, CommonFolded(1, 2)).wide(),
            reads(1, CommonFolded(0, 2)).wide(),
        ],
    ),
    row("wcscoll wcscoll_l", &[WHOLE, SECOND]),
    row(
        "wmemcmp",
        &[reads(0, Bytes(2)).wide(), reads(1, Bytes(2)).wide()],
    ),
    row("wcscpy wcpcpy", &[SECOND, writes(0, Copy(1, NONE)).wide()]),
    row(
        "wcsncpy wcpncpy",
        &[reads(1, Text(2)).wide(), writes(0, Bytes(2)).wide()],
    ),
    row(
        "wcscat",
        &[SECOND, WHOLE, writes(0, Append(1, NONE)).wide()],
    ),
    row(
        "wcsncat",
        &[
            reads(1, Text(2)).wide(),
            WHOLE,
            writes(0, Append(1, 2)).wide(),
        ],
    ),
    row(
        "wmemcpy wmemmove wmempcpy __wmemcpy_chk __wmemmove_chk __wmempcpy_chk",
        &[reads(1, Bytes(2)).wide(), writes(0, Bytes(2)).wide()],
    ),
    row("wmemset __wmemset_chk", &[writes(0, Bytes(2)).wide()]),
    row("wcsstr wcswcs", &[SECOND, reads(0, Find(1)).wide()]),
    row("wcsspn", &[SECOND, reads(0, Within(1)).wide()]),
    row("wcscspn wcspbrk", &[SECOND, reads(0, Without(1)).wide()]),
    row(
        "wcstok",
        &[
            SECOND,
            reads(2, Size(8)).may(),
            Effect::of(Place::Either(0, 2), false, Token(1)).wide(),
            Effect::of(Place::Either(0, 2), true, TokenEnd(1)).wide(),
            writes(2, Size(8)),
        ],
    ),
    row("wcsxfrm wcsxfrm_l", &[SECOND, writes(0, Printed(2)).wide()]),
    row(
        "wcstol wcstoll wcstoul wcstoull wcstoimax wcstoumax wcstoq wcstouq wcstol_l wcstoll_l \
         wcstoul_l wcstoull_l __isoc23_wcstol __isoc23_wcstoll __isoc23_wcstoul __isoc23_wcstoull",
        &[reads(0, Number(2)).wide(), writes(1, Size(8))],
    ),
    row(
        "wcstod wcstof wcstold wcstof32 wcstof32x wcstof64 wcstof64x wcstof128 wcstof128_l wcstod_l wcstof_l wcstold_l \
         wcstof32_l wcstof32x_l wcstof64_l wcstof64x_l",
        &[reads(0, Floating).wide(), writes(1, Size(8))],
    ),
    row(
        "wprintf",
        &[reads(0, Format(1)).wide(), counts(0, 1).wide()],
    ),
    row(
        "fwprintf __wprintf_chk",
        &[reads(1, Format(2)).wide(), counts(1, 2).wide()],
    ),
    row(
        "vwprintf",
        &[reads(0, List(1)).wide(), counts_list(0, 1).wide()],
    ),
    row(
        "vfwprintf",
        &[reads(1, List(2)).wide(), counts_list(1, 2).wide()],
    ),
    row(
        "swprintf",
        &[
            clears(0, 1).wide(),
            reads(2, Format(3)).wide(),
            counts(2, 3).wide(),
            writes(0, Printed(1)).wide(),
        ],
    ),
    row(
        "__swprintf_chk",
        &[
            clears(0, 1).wide(),
            reads(4, Format(5)).wide(),
            counts(4, 5).wide(),
            writes(0, Printed(1)).wide(),
        ],
    ),
    row(
        "vswprintf",
        &[
            clears(0, 1).wide(),
            reads(2, List(3)).wide(),
            counts_list(2, 3).wide(),
            writes(0, Printed(1)).wide(),
        ],
    ),
    row(
        "__vswprintf_chk",
        &[
            clears(0, 1).wide(),
            reads(4, List(5)).wide(),
            counts_list(4, 5).wide(),
            writes(0, Printed(1)).wide(),
        ],
    ),
    row(
        "swscanf __isoc99_swscanf __isoc23_swscanf",
        &[WHOLE, SECOND, writes(1, Scanned(2)).wide()],
    ),
    row(
        "vswscanf __isoc99_vswscanf __isoc23_vswscanf",
        &[WHOLE, SECOND, writes(1, ScannedList(2)).wide()],
    ),
    row(
        "wcsftime wcsftime_l",
        &[
            reads(2, Text(NONE)).wide(),
            reads(3, Size(56)),
            reads(3, super::numbers::ZONE).may(),
            writes(0, Printed(1)).wide(),
        ],
    ),
    row("fgetws fgetws_unlocked", &[writes(0, Line(1)).wide()]),
    row(
        "wscanf __isoc99_wscanf __isoc23_wscanf",
        &[WHOLE, writes(0, Scanned(1)).wide()],
    ),
    row(
        "fwscanf __isoc99_fwscanf __isoc23_fwscanf",
        &[SECOND, writes(1, Scanned(2)).wide()],
    ),
    row(
        "vwscanf __isoc99_vwscanf __isoc23_vwscanf",
        &[WHOLE, writes(0, ScannedList(1)).wide()],
    ),
    row(
        "vfwscanf __isoc99_vfwscanf __isoc23_vfwscanf",
        &[SECOND, writes(1, ScannedList(2)).wide()],
    ),
];
