//! The hooks of `-fsanitize=thread`, as gcc 12 and clang 19 insert them, mapped to the accesses
//! that `raddle cc` would announce (`crate::access`).
//!
//! Gcc's programs ask for `libtsan.so.2`; the controller has the dynamic linker load an empty
//! library of that name (`runtime/stand-in`), so that these functions are found here. Clang's
//! objects are linked with `raddle cc`, which brings this library instead of ThreadSanitizer's.
//!
//! A hook of a plain access comes before the access, which the program then performs itself. Nobody
//! else runs in between: so what a read hook finds is what the program will read. What will be
//! written is not known, so plain writes are recorded as blocks of so many bytes.

mod annotations;
mod atomic;
mod library;
pub use library::{filled, reads};
mod modules;
mod plain;
mod rest;
mod wide;
