//! One module: which functions get which bodies.

use crate::access::Access;
use crate::assembly;
use crate::choice::Choice;
use crate::hooks::Hooks;
use crate::ir::{Block, Emit, Kind, Linkage, Module, Opcode, Phase, Place, TailCall, Value};
use crate::locations;
use crate::schedule::{self, Schedule};
use crate::sharing::{self, Sharing};
use crate::symbolic;
use crate::variables;
use raddle_protocol::hooks::{
    CALLS, HARNESS, HOOKED, LEFT_OUT, MODE_SYMBOLIC, PREFIX, SECTION, SYMBOLIC_BODY, TABLE, UNKNOWN,
};
use std::collections::BTreeSet;

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

/// Instruments the module, at `-O0` or, if it is to `optimise`, at a higher level.
pub fn instrument(module: Module, optimise: bool) {
    variables::mark(module);
    for function in module.functions() {
        if is_ours(function) {
            assembly::call_library(module, function);
        }
    }
    let mut calls = calls(module);
    let mut unknown: BTreeSet<String> = schedule::called_by_pointer(module).collect();
    let hooks = Hooks::new(module);
    let resolvers: Vec<Value> = module.ifuncs().into_iter().map(Value::resolver).collect();
    for function in module.functions() {
        drop_copy(function);
        withdraw_promises(function);
        promise(function);
    }
    let mut ours = module.functions();
    ours.retain(|function| is_ours(*function) && !resolvers.contains(function));
    let mut candidates = ours.clone();
    candidates.retain(|&function| can_be_cloned(function));
    let choice = Choice::new(module, &candidates, optimise);
    // What one function does with a thread-local variable tells what others see of it, before hooks are
    // given its address.
    let phase = Phase::begin("raddle: what is private");
    for function in &ours {
        expand_updates(*function);
        let instructions = function.instructions().into_iter();
        instructions.for_each(schedule::keep_private);
    }
    for function in &ours {
        prepare(module, *function);
    }
    drop(phase);
    for function in ours {
        let called = function.instructions().into_iter();
        unknown.extend(called.filter_map(|i| schedule::unknown_called(module.context(), i)));
        let symbolic = choice
            .has(function)
            .then(|| clone_of(module, function, choice.optimised));
        let phase = Phase::begin("raddle: scheduling bodies");
        let mut schedule = Schedule::new(module, &hooks, function, symbolic.is_none());
        schedule.instrument();
        clean(module, function);
        drop(phase);
        if let Some(symbolic) = symbolic {
            let _phase = Phase::begin("raddle: symbolic bodies");
            symbolic::instrument(module, &hooks, function, symbolic);
            clean(module, symbolic);
            dispatch(module, &hooks, function, symbolic);
            sign(module, symbolic, HOOKED);
        }
        sign(
            module,
            function,
            if symbolic.is_some() { PREFIX } else { HOOKED },
        );
    }
    calls.extend(unknown.iter().flat_map(|name| [UNKNOWN, name, "\0"]));
    if choice.left_out > 0 {
        let left_out = choice.left_out.to_string();
        calls.extend([LEFT_OUT, &left_out, " ", &module.source_file(), "\0"]);
    }
    mark(module, &calls);
    if cfg!(debug_assertions) {
        module.verify();
    }
}

/// Notes what is private, and brings the function into a form that both bodies can be made from.
fn prepare(module: Module, function: Value) {
    let mut sharing = Sharing::new(module);
    Access::note_all(function, &mut sharing);
    for instruction in function.instructions() {
        if leaves_the_module(instruction) {
            instruction.forbid_tail_call();
        }
        let atomic = matches!(
            instruction.opcode(),
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg
        );
        if atomic && sharing::is_private(module.context(), instruction, 0) {
            instruction.lower_atomic();
        }
    }
    Access::note_all(function, &mut sharing);
    gather_variables(function);
}

/// Does the instruction call a function that this file only declares, and can the call keep its frame?
/// Then what the function does, if it is intercepted, has the place of the call; behind a tail call it
/// had that of the caller's call.
fn leaves_the_module(i: Value) -> bool {
    i.opcode() == Opcode::LLVMCall
        && !i.is_must_tail()
        && i.intrinsic_called().is_none()
        && i.callee().as_function().is_some_and(Value::is_declaration)
}

/// Moves the variables of fixed size to the start of the function, where they stay static when
/// blocks are split.
fn gather_variables(function: Value) {
    let Some(entry) = function.first_block() else {
        return;
    };
    let mut instructions = entry.instructions().into_iter();
    let is_alloca = |i: &Value| i.opcode() == Opcode::LLVMAlloca;
    let Some(place) = instructions.find(|i| !is_alloca(i)) else {
        return;
    };
    for alloca in instructions.filter(is_alloca) {
        if alloca.operand(0).as_int_constant().is_some() {
            alloca.move_before(place);
        }
    }
}

/// Can the function have a second body? Not if somebody holds the address of one of its blocks, if
/// it will be taken apart as a coroutine, or if it is variadic: only a guaranteed tail call can hand
/// variadic arguments on, and LLVM 19 overwrites the stack before one on processors with AVX.
fn can_be_cloned(function: Value) -> bool {
    !function.has_attribute(Place::Function, "presplitcoroutine")
        && !function.blocks().any(Block::address_taken)
        && !function.value_type().is_variadic()
}

/// Does the function get arguments as copies in memory? LLVM 19 overwrites saved registers when it
/// hands such arguments on in a guaranteed tail call.
fn copies_arguments(function: Value) -> bool {
    (0..function.param_count()).any(|index| function.has_attribute(Place::Param(index), "byval"))
}

/// Must calls keep the frame of this function? Sanitizers ask for that at -O1, and the address
/// sanitizer will insert code before some returns.
fn keeps_frames(function: Value) -> bool {
    function.has_text_attribute("disable-tail-calls", "true")
        || function.has_attribute(Place::Function, "sanitize_address")
}

/// A copy for the symbolic body.
fn clone_of(module: Module, function: Value, optimised: bool) -> Value {
    let clone = function.clone_function();
    if !optimised {
        for name in ["minsize", "optsize"] {
            clone.remove_attribute(Place::Function, name);
        }
        clone.add_attribute(Place::Function, "optnone");
    }
    clone.set_name(&format!("{}{SYMBOLIC_BODY}", function.name()));
    clone.remove_attribute(Place::Function, "alwaysinline");
    clone.add_attribute(Place::Function, "noinline");
    match function.linkage() {
        // Other files may have inlined the original from here, so the copy may be referred to
        // where the original was dropped: it stands for itself.
        Linkage::LLVMLinkOnceODRLinkage | Linkage::LLVMWeakODRLinkage => {
            clone.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            clone.set_hidden();
            clone.set_own_comdat(module);
        }
        _ => {
            clone.clear_comdat();
            clone.set_default_visibility();
            clone.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    clone
}

fn clean(module: Module, function: Value) {
    for instruction in function.instructions() {
        sharing::forget(module.context(), instruction);
        symbolic::forget(instruction);
    }
}

/// Makes the function go on in its symbolic body while the mode says so.
fn dispatch(module: Module, hooks: &Hooks, function: Value, symbolic: Value) {
    let context = module.context();
    let Some(entry) = function.first_block() else {
        return;
    };
    let Some(at) = entry
        .instructions()
        .into_iter()
        .find(|i| i.opcode() != Opcode::LLVMAlloca)
    else {
        return;
    };
    let start = function
        .subprogram()
        .map(|subprogram| locations::start_of(context, subprogram));
    let mut emit = Emit::new(context, at, start);
    let mode = hooks.mode_has(&emit, MODE_SYMBOLIC);
    let arguments: Vec<Value> = (0..function.param_count())
        .map(|index| function.param(index))
        .collect();
    emit.leave_when(mode, |emit| {
        let call = emit.call(function.value_type(), symbolic, &arguments);
        call.take_conventions(symbolic);
        // Without a tail call the caller's frame stays below: harmless, but the stack grows.
        // Where there is an optimiser it does that by itself, and may add up what a recursive function
        // returns, also after this call, which then can be no jump.
        call.set_tail_call(match copies_arguments(function) || keeps_frames(function) {
            true => TailCall::LLVMTailCallKindNone,
            false if function.has_attribute(Place::Function, "optnone") => {
                TailCall::LLVMTailCallKindMustTail
            }
            false => TailCall::LLVMTailCallKindTail,
        });
        let result = function.value_type().result();
        emit.ret((result.kind() != Kind::LLVMVoidTypeKind).then_some(call));
    });
}

/// Puts a mark before the entry.
fn sign(module: Module, function: Value, mark: u64) {
    if !function.has_prefix() {
        function.set_prefix(module.context().int(64).constant(mark));
    }
}

/// Is this a function that gets hooks?
pub fn is_ours(function: Value) -> bool {
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
    if !function.is_declaration() && function.linkage() == Linkage::LLVMAvailableExternallyLinkage {
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

/// Promises of a function of libatomic that clang does not make: it does not keep the addresses that it
/// gets, so the variables of an atomic expression stay the caller's own.
fn promise(function: Value) {
    if !function.is_declaration() || !function.name().starts_with("__atomic_") {
        return;
    }
    for index in 0..function.param_count() {
        if function.param(index).ty().kind() == Kind::LLVMPointerTypeKind {
            function.add_attribute(Place::Param(index), "nocapture");
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

/// The names of the functions that lie elsewhere, each with a NUL.
fn calls(module: Module) -> String {
    let functions = module.functions().into_iter();
    let elsewhere = functions.filter(|function| {
        function.is_declaration() && function.intrinsic() == 0 && function.first_use().is_some()
    });
    elsewhere.map(|function| function.name() + "\0").collect()
}

/// Marks the object as instrumented, and says what it refers to and what it lacks.
fn mark(module: Module, calls: &str) {
    let version = module
        .context()
        .int(32)
        .constant(u64::from(raddle_protocol::VERSION));
    let marker = module.constant("raddle_marker", version, Some(SECTION));
    module.keep(marker);
    module.keep(module.text_in("raddle_calls", calls, Some(CALLS)));
}
