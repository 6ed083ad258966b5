//! Functions of the program whose names say what they mean, in SV-COMP's programs and in libstdc++'s
//! headers. Done before anything is inlined.
//!
//! A function `__VERIFIER_atomic_…` is atomic: its body lies between `__VERIFIER_atomic_begin` and
//! `__VERIFIER_atomic_end`. `assume_abort_if_not` calls abort to give an execution up, which is no
//! error: it begins with `__VERIFIER_assume`.
//!
//! `std::__detail::__atomic_spin` polls 16 times before its caller sleeps. Once is as good
//! (`symbolic/polls.rs` says why), and there each time would be a path.

use crate::ir::{Emit, Kind, Module, Opcode, Predicate, Type, Value};
use crate::locations;

const PREFIX: &str = "__VERIFIER_atomic_";
const BEGIN: &str = "__VERIFIER_atomic_begin";
const END: &str = "__VERIFIER_atomic_end";

const ASSUME: &str = "__VERIFIER_assume";

const SPIN: &str = "_ZNSt8__detail13__atomic_spinI";
const SPINS: u64 = 16;

/// Gives the functions of the module with such names their meaning.
pub fn give_meaning(module: Module) {
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        match function.name().as_str() {
            BEGIN | END => {}
            "assume_abort_if_not" => assume(module, function),
            name if name.starts_with(PREFIX) => enclose(module, function),
            name if name.starts_with(SPIN) => spin_once(function),
            _ => {}
        }
    }
}

fn enclose(module: Module, function: Value) {
    let context = module.context();
    let callee = |name| declared(module, name, context.void().function(&[]));
    let (begin, end) = (callee(BEGIN), callee(END));
    for at in function.instructions() {
        if at.opcode() == Opcode::LLVMRet {
            call(module, function, at, end, |_| Vec::new());
        }
    }
    if let Some(first) = first(function) {
        call(module, function, first, begin, |_| Vec::new());
    }
}

fn assume(module: Module, function: Value) {
    let context = module.context();
    let Some(first) = first(function).filter(|_| function.param_count() == 1) else {
        return;
    };
    let condition = function.param(0);
    if condition.ty().kind() != Kind::LLVMIntegerTypeKind {
        return;
    }
    let word = context.int(32);
    let callee = declared(module, ASSUME, context.void().function(&[word]));
    call(module, function, first, callee, |emit| {
        let zero = condition.ty().constant(0);
        let holds = emit.compare(Predicate::LLVMIntNE, condition, zero);
        vec![emit.zext(holds, word)]
    });
}

fn spin_once(function: Value) {
    for i in function.instructions() {
        if i.opcode() != Opcode::LLVMICmp {
            continue;
        }
        let bound = i.operand(1);
        let is_bound = |constant: Value| constant.int_value() == SPINS;
        if bound.as_int_constant().is_some_and(is_bound) {
            i.set_operand(1, bound.ty().constant(1));
        }
    }
}

/// The first instruction behind the variables.
fn first(function: Value) -> Option<Value> {
    let mut instructions = function.instructions().into_iter();
    instructions.find(|i| i.opcode() != Opcode::LLVMAlloca)
}

fn declared(module: Module, name: &str, ty: Type) -> (Type, Value) {
    let callee = module.function(name);
    (
        ty,
        callee.unwrap_or_else(|| module.declare_function(name, ty)),
    )
}

/// Calls `callee` before `at`.
fn call(
    module: Module,
    function: Value,
    at: Value,
    callee: (Type, Value),
    arguments: impl FnOnce(&Emit) -> Vec<Value>,
) {
    let context = module.context();
    let start = || {
        let subprogram = function.subprogram();
        subprogram.map(|subprogram| locations::start_of(context, subprogram))
    };
    let emit = Emit::new(context, at, at.location().or_else(start));
    emit.call(callee.0, callee.1, &arguments(&emit));
}
