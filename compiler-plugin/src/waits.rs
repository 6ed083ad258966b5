//! Calls of small functions in loops that would only wait without them, which are put in the place
//! of the calls. That is what -O0 leaves of `while (!flag.load()) std::this_thread::yield();`, and
//! only a loop without calls is known to hand nothing on (`symbolic/rounds.rs`).

use crate::ir::{Block, Linkage, Module, Opcode, Value};
use crate::module::is_ours;
use crate::symbolic::{loops_of, only_waits};
use std::collections::HashMap;

/// Instructions of a function that is small.
const SMALL: usize = 200;
/// Calls inside each other.
const DEPTH: usize = 8;

/// Does so in all functions of the module.
pub fn put_in_place(module: Module) {
    let mut known = HashMap::new();
    for function in module.functions() {
        if !is_ours(function) {
            continue;
        }
        for _ in 0..DEPTH {
            let calls = calls_in_waits(function, &mut known);
            // What cannot be put in place (a mismatch of conventions) stays a call.
            if !calls
                .into_iter()
                .fold(false, |any, call| call.inline() | any)
            {
                break;
            }
        }
    }
}

/// The calls in loops of the function that only wait but for them.
fn calls_in_waits(function: Value, known: &mut HashMap<Value, bool>) -> Vec<Value> {
    let mut calls = Vec::new();
    for body in loops_of(function) {
        let all = body.iter().all(|&i| match callee_of(i) {
            Some(callee) if callee != function => is_small(callee, known, 0),
            Some(_) => false,
            None => only_waits(i) || is_variable(i),
        });
        if all {
            // A loop in another one has been there before.
            let new = |i: &Value| callee_of(*i).is_some() && !calls.contains(i);
            let new: Vec<Value> = body.into_iter().filter(new).collect();
            calls.extend(new);
        }
    }
    calls
}

/// A function of the program that is called here, if it lets nobody else come first.
fn callee_of(i: Value) -> Option<Value> {
    let direct = matches!(i.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke);
    let callee = direct.then(|| i.callee().as_function()).flatten()?;
    (!callee.is_declaration()).then_some(callee)
}

/// Is this a write of a variable of the function? It may hand something on from round to round, which
/// is seen when the variable is a value.
fn is_variable(i: Value) -> bool {
    i.opcode() == Opcode::LLVMStore
        && (i.operand(1).as_instruction()).is_some_and(|at| at.opcode() == Opcode::LLVMAlloca)
}

/// Is this what is called, and not what another module has under the name?
fn is_exact(function: Value) -> bool {
    use Linkage::*;
    matches!(
        function.linkage(),
        LLVMExternalLinkage
            | LLVMInternalLinkage
            | LLVMPrivateLinkage
            | LLVMLinkOnceODRLinkage
            | LLVMWeakODRLinkage
    )
}

/// Does the function do little, and nothing but what such a loop may do and to write memory? Then it
/// throws nothing.
fn is_small(function: Value, known: &mut HashMap<Value, bool>, depth: usize) -> bool {
    if let Some(&small) = known.get(&function) {
        return small;
    }
    // One that calls itself is none.
    known.insert(function, false);
    let small = depth < DEPTH
        && is_ours(function)
        && is_exact(function)
        && !function.value_type().is_variadic()
        && does_little(function, known, depth);
    known.insert(function, small);
    small
}

fn does_little(function: Value, known: &mut HashMap<Value, bool>, depth: usize) -> bool {
    let mut blocks: Vec<Block> = function.first_block().into_iter().collect();
    let (mut next, mut count) = (0, 0);
    while let Some(block) = blocks.get(next).copied() {
        next += 1;
        for i in block.instructions() {
            count += 1;
            let fits = match (i.opcode(), callee_of(i)) {
                (_, Some(callee)) => is_small(callee, known, depth + 1),
                (Opcode::LLVMAlloca | Opcode::LLVMRet | Opcode::LLVMStore, _) => true,
                (Opcode::LLVMUnreachable, _) => true,
                _ => only_waits(i),
            };
            if !fits || count > SMALL {
                return false;
            }
        }
        // Where something throws does not matter: what is small does not.
        let throws = block.terminator().map(Value::opcode) == Some(Opcode::LLVMInvoke);
        let ways = if throws { 1 } else { usize::MAX };
        for way in block.successors().into_iter().take(ways) {
            if !blocks.contains(&way) {
                blocks.push(way);
            }
        }
    }
    true
}
