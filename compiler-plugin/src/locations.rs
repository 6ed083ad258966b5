//! A source line for every hook: the return address of a hook names the statement.

use crate::ir::{Context, Meta, Value};

fn with_line(instruction: Value) -> Option<Meta> {
    instruction
        .location()
        .filter(|location| location.line() != 0)
}

/// The location of an instruction; without one that of the nearest instruction before or after it
/// in its block, else the first line of the function. `None` without debug information.
pub fn of(context: Context, instruction: Value) -> Option<Meta> {
    let subprogram = instruction.block().function().subprogram()?;
    let before = core::iter::successors(Some(instruction), |one| one.previous());
    let after = core::iter::successors(instruction.next(), |one| one.next());
    before
        .chain(after)
        .find_map(with_line)
        .or_else(|| Some(start_of(context, subprogram)))
}

/// The first line of a function.
pub fn start_of(context: Context, subprogram: Meta) -> Meta {
    context.location(subprogram.subprogram_line(), subprogram, None)
}
