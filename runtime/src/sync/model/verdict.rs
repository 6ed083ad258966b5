//! What a model answers.

use core::ffi::c_int;

/// The result of an operation at the instant when its thread was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call returns this (0 or an errno).
    Returns(c_int),
    /// The program used the object wrongly: a finding with this message.
    Misuse(&'static str),
}

/// Success.
pub const DONE: Verdict = Verdict::Returns(0);
