//! Libraries without hooks of which it is known what they do to memory that threads share. Names are
//! told by how they begin.

/// The runtime of raddle.
pub const OURS: &str = "libraddle.so";

/// Those of the system: their functions are intercepted, or taken as the manuals describe them.
pub const SYSTEM: [&str; 10] = [
    "libc.so",
    "libdl.so",
    "libresolv.so",
    "librt.so",
    "libm.so",
    "libpthread.so",
    "libgcc_s.so",
    "ld-linux",
    OURS,
    "libatomic.so",
];

/// Those of languages and sanitizers: what threads share in them is locked, or atomic, inside.
pub const RUNTIMES: [&str; 5] = [
    "libstdc++.so",
    "libtsan.so",
    "libraddle_tsan.so",
    "libasan.so",
    "libubsan.so",
];

/// Is the library of this file name one of `known`?
pub fn is_among(name: &[u8], known: &[&str]) -> bool {
    known.iter().any(|known| name.starts_with(known.as_bytes()))
}
