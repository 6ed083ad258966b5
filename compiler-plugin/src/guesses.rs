//! Reads that the program does not do: where a branch decides whether something is read, LLVM may read
//! it before, and throw away what came of it. For the processor that is no difference; a detector of
//! races would find one that the program does not have. LLVM leaves it in functions that are
//! instrumented by ThreadSanitizer, so ours look like those while they are simplified.

use crate::ir::{Module, Place, Value};

const ATTRIBUTE: &str = "sanitize_thread";
/// Says that the attribute is ours.
const MARK: &str = "raddle-guesses";

/// Forbids such reads in all functions of the module. One that ThreadSanitizer will see is left alone:
/// there the attribute says which functions.
pub fn forbid(module: Module) {
    if definitions(module).any(|function| function.has_attribute(Place::Function, ATTRIBUTE)) {
        return;
    }
    for function in definitions(module) {
        function.add_attribute(Place::Function, ATTRIBUTE);
        function.set_text_attribute(MARK, Some("none"));
    }
}

/// Ends what [`forbid`] began.
pub fn allow(module: Module) {
    for function in definitions(module) {
        if function.has_text_attribute(MARK, "none") {
            function.remove_attribute(Place::Function, ATTRIBUTE);
            function.set_text_attribute(MARK, None);
        }
    }
}

fn definitions(module: Module) -> impl Iterator<Item = Value> {
    let functions = module.functions().into_iter();
    functions.filter(|function| !function.is_declaration())
}
