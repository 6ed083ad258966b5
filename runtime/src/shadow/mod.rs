//! The symbolic shadow (DESIGN §7): expressions beside values, inputs, harness functions.

/// Called in the process that obeys a job, before the program's first code.
pub fn begin() {}

/// The bytes were given a content without expressions.
pub fn forget(_address: u64, _len: u64) {}

/// The bytes were copied to fresh memory.
pub fn moved(_from: u64, _to: u64, _len: u64) {}

/// The expression of argument `index` of the call of the runtime's function `name` that is under
/// way (0: concrete).
pub fn argument(_name: &core::ffi::CStr, _index: usize) -> u32 {
    0
}

/// The program exits with a status that has this expression.
pub fn exit_status(_expression: u32, _status: u32, _pc: usize) {}
