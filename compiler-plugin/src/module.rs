//! One module: which functions get which bodies.

use crate::access::Access;
use crate::hooks::Hooks;
use crate::ir::{Linkage, Module, Place, Value};
use crate::schedule::{self, Schedule};
use crate::sharing::{self, Sharing};
use raddle_protocol::hooks::{HARNESS, SECTION, TABLE};

/// Promises about a function that hooks inside it break.
const BROKEN_PROMISES: &[&str] = &[
    "memory",
    "nocallback",
    "nofree",
    "norecurse",
    "nosync",
    "speculatable",
    "willreturn",
];

/// Instruments the module.
pub fn instrument(module: Module) {
    let hooks = Hooks::new(module);
    let schedule = Schedule::new(module, &hooks);
    let resolvers: Vec<Value> = module.ifuncs().into_iter().map(Value::resolver).collect();
    for function in module.functions() {
        drop_copy(function);
        withdraw_promises(function);
    }
    for function in module.functions() {
        if !is_ours(function) || resolvers.contains(&function) {
            continue;
        }
        expand_updates(function);
        Access::note_all(function, &mut Sharing::new(module));
        schedule.instrument(function);
        for instruction in function.instructions() {
            sharing::forget(module.context(), instruction);
        }
    }
    mark(module);
}

/// Is this a function that gets hooks?
fn is_ours(function: Value) -> bool {
    if function.is_declaration() {
        return false;
    }
    let excluded = ["naked", "disable_sanitizer_instrumentation"]
        .iter()
        .any(|name| function.has_attribute(Place::Function, name));
    let name = function.name();
    let own = TABLE.iter().chain(HARNESS).any(|hook| hook.name == name);
    !excluded && !own
}

/// A body that only serves inlining would bring accesses without hooks into a caller.
fn drop_copy(function: Value) {
    if !function.is_declaration() && function.linkage() == Linkage::LLVMAvailableExternallyLinkage
    {
        function.delete_body();
    }
}

/// Takes back what LLVM believes of the function and of calls in it: a callee may be instrumented
/// too, and its hooks switch threads, and read and write memory.
fn withdraw_promises(function: Value) {
    if function.intrinsic() != 0 {
        return;
    }
    for name in BROKEN_PROMISES {
        function.remove_attribute(Place::Function, name);
    }
    for instruction in function.instructions() {
        if instruction.is_call()
            && instruction.callee().as_inline_asm().is_none()
            && instruction.intrinsic_called().is_none()
        {
            for name in BROKEN_PROMISES {
                instruction.remove_call_attribute(Place::Function, name);
            }
        }
    }
}

/// Turns atomic updates that hooks have no code for into loops of compare-exchanges.
fn expand_updates(function: Value) {
    for instruction in function.instructions() {
        if schedule::needs_loop(instruction) {
            instruction.expand_rmw();
        }
    }
}

/// Marks the object as instrumented.
fn mark(module: Module) {
    let version = module
        .context()
        .int(32)
        .constant(u64::from(raddle_protocol::VERSION));
    let marker = module.constant("raddle_marker", version, Some(SECTION));
    module.keep(marker);
}
