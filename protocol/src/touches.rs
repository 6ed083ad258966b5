//! What functions of the C library do to their caller's memory. Its accesses there are told of by
//! the hooks of the code that calls it, since the library has none, as those of `memcpy` are.

/// How far an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As many bytes as this argument says.
    Bytes(u8),
    /// As many as these two say, multiplied.
    Product(u8, u8),
    /// A text with its NUL; no more bytes than the argument says ([`UNLIMITED`]: there is none).
    Text(u8),
    /// A text with its NUL, or up to the first byte of this value.
    TextUntil(u8),
    /// As many bytes as the argument says, or up to the first byte of this value: argument of the
    /// value, of the limit.
    BytesUntil(u8, u8),
    /// Two texts up to where they differ, this one and the one that the first argument leads to; no
    /// more bytes than the second one says ([`UNLIMITED`]: there is none).
    Common(u8, u8),
    /// As many bytes as the text has, with its NUL, to which this argument leads; no more than the
    /// second one says ([`UNLIMITED`]: there is none).
    Copy(u8, u8),
    /// As [`Extent::Copy`], behind the text that is there, whose NUL is overwritten; where a limit
    /// cuts the text short, a NUL follows.
    Append(u8, u8),
    /// After the call: as many bytes as its result says, if that is above 0.
    Result,
    /// As before, times this argument.
    ResultTimes(u8),
    /// After the call, a text of as many bytes as its result says, and a NUL; no more than the
    /// argument says ([`UNLIMITED`]: there is none). The first byte is written before as well, so
    /// that there is a step before the call.
    Printed(u8),
}

/// In the place of an argument: there is no limit.
pub const UNLIMITED: u8 = u8::MAX;

/// One access by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The argument that leads there.
    pub argument: u8,
    /// Written, not read.
    pub writes: bool,
    pub extent: Extent,
}

const fn reads(argument: u8, extent: Extent) -> Touch {
    Touch {
        argument,
        writes: false,
        extent,
    }
}

const fn writes(argument: u8, extent: Extent) -> Touch {
    Touch {
        argument,
        writes: true,
        extent,
    }
}

use Extent::*;

/// Names in the C library, and what these functions do, in order.
const TABLE: &[(&[&str], &[Touch])] = &[
    (
        &[
            "strlen", "strdup", "__strdup", "puts", "fputs", "strrchr", "rindex",
        ],
        &[reads(0, Text(UNLIMITED))],
    ),
    (&["strnlen", "strndup", "__strndup"], &[reads(0, Text(1))]),
    (&["strchr", "index", "strchrnul"], &[reads(0, TextUntil(1))]),
    (&["memchr"], &[reads(0, BytesUntil(1, 2))]),
    (
        &["strcmp"],
        &[
            reads(0, Common(1, UNLIMITED)),
            reads(1, Common(0, UNLIMITED)),
        ],
    ),
    (
        &["strncmp"],
        &[reads(0, Common(1, 2)), reads(1, Common(0, 2))],
    ),
    (
        &["memcmp", "bcmp"],
        &[reads(0, Bytes(2)), reads(1, Bytes(2))],
    ),
    (
        &["strcpy", "stpcpy", "__strcpy_chk", "__stpcpy_chk"],
        &[reads(1, Text(UNLIMITED)), writes(0, Copy(1, UNLIMITED))],
    ),
    (
        &["strncpy", "stpncpy", "__strncpy_chk", "__stpncpy_chk"],
        &[reads(1, Text(2)), writes(0, Bytes(2))],
    ),
    (
        &["strcat", "__strcat_chk"],
        &[
            reads(1, Text(UNLIMITED)),
            reads(0, Text(UNLIMITED)),
            writes(0, Append(1, UNLIMITED)),
        ],
    ),
    (
        &["strncat", "__strncat_chk"],
        &[
            reads(1, Text(2)),
            reads(0, Text(UNLIMITED)),
            writes(0, Append(1, 2)),
        ],
    ),
    (
        &["mempcpy", "__mempcpy_chk"],
        &[reads(1, Bytes(2)), writes(0, Bytes(2))],
    ),
    (&["bzero", "explicit_bzero"], &[writes(0, Bytes(1))]),
    (
        &["qsort"],
        &[reads(0, Product(1, 2)), writes(0, Product(1, 2))],
    ),
    (
        &[
            "read",
            "recv",
            "pread",
            "pread64",
            "recvfrom",
            "__read_chk",
            "__recv_chk",
        ],
        &[writes(1, Result)],
    ),
    (
        &["write", "send", "pwrite", "pwrite64", "sendto"],
        &[reads(1, Bytes(2))],
    ),
    (&["fread", "fread_unlocked"], &[writes(0, ResultTimes(1))]),
    (
        &["__fread_chk", "__fread_unlocked_chk"],
        &[writes(0, ResultTimes(2))],
    ),
    (&["fwrite", "fwrite_unlocked"], &[reads(0, Product(1, 2))]),
    (
        &["snprintf", "vsnprintf", "__snprintf_chk", "__vsnprintf_chk"],
        &[writes(0, Printed(1))],
    ),
    (
        &["sprintf", "vsprintf", "__sprintf_chk", "__vsprintf_chk"],
        &[writes(0, Printed(UNLIMITED))],
    ),
];

/// What the function with this name does to the memory that its arguments lead to; nothing of one
/// that is not known.
pub fn of(name: &str) -> &'static [Touch] {
    let known = TABLE.iter().find(|row| row.0.contains(&name));
    known.map_or(&[], |row| row.1)
}

impl Extent {
    /// Is it told of after the call, since the result says how far it goes?
    pub const fn is_after(self) -> bool {
        matches!(self, Result | ResultTimes(_) | Printed(_))
    }

    /// The arguments that say how far it goes: those that are numbers, and one that leads to a text.
    pub const fn arguments(self) -> ([u8; 2], Option<u8>) {
        const NONE: u8 = UNLIMITED;
        match self {
            Bytes(n) | Text(n) | TextUntil(n) | ResultTimes(n) | Printed(n) => ([n, NONE], None),
            Product(a, b) | BytesUntil(a, b) => ([a, b], None),
            Common(text, most) | Copy(text, most) | Append(text, most) => {
                ([most, NONE], Some(text))
            }
            Result => ([NONE, NONE], None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_row() {
        let names = TABLE.iter().flat_map(|row| row.0);
        for name in names {
            let rows = TABLE.iter().filter(|row| row.0.contains(name)).count();
            let twice = TABLE.iter().flat_map(|row| row.0).filter(|n| *n == name);
            assert_eq!((rows, twice.count()), (1, 1), "{name}");
            assert!(!of(name).is_empty());
        }
        assert!(of("rand").is_empty());
    }
}
