//! Variables of the C library that a module may access as few do: it refers to what says so, and the runtime
//! looks for that.

use crate::ir::{Module, Opcode, Value};
use crate::module::is_ours;
use raddle_protocol::hooks::{ASSIGNS_STREAMS, ENVIRONMENT};

/// Said of a module as its source has it.
pub fn mark(module: Module) {
    let names = ["stdin", "stdout", "stderr"];
    let mut streams = names.into_iter().filter_map(|name| module.variable(name));
    if streams.any(may_be_assigned) {
        refer(module, ASSIGNS_STREAMS);
    }
    let main = module.function("main").filter(|&main| is_ours(main));
    if main.is_some_and(|main| main.param_count() > 2 && main.param(2).first_use().is_some()) {
        refer(module, ENVIRONMENT);
    }
}

/// Does the module do anything but read this variable of another one?
fn may_be_assigned(variable: Value) -> bool {
    let is_read = |user: Value| user.opcode() == Opcode::LLVMLoad;
    let reads = |user: Value| user.as_instruction().is_some_and(is_read);
    variable.is_declaration() && !variable.users().all(reads)
}

fn refer(module: Module, name: &str) {
    let variable = module.external(name, module.context().int(8));
    let reference = module.constant(&format!("raddle_reference.{name}"), variable, None);
    module.keep(reference);
}
