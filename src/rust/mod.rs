//! Rust programs: `raddle cargo` builds them with a scheduling point at every atomic operation,
//! `raddle test` runs the tests of a test binary one by one.

pub mod cargo;
pub mod suite;
