//! The symbolic shadow (DESIGN §7): expressions beside values, inputs, harness functions.

/// Called in the process that obeys a job, before the program's first code.
pub fn begin() {}
