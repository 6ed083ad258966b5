//! Calls of small functions in loops that would only wait without them, which are put in the place
//! of the calls. That is what -O0 leaves of `while (!flag.load()) std::this_thread::yield();`, and
//! only a loop without calls is known to hand nothing on (`symbolic/rounds.rs`).

use crate::ir::{Block, Linkage, Module, Opcode, Value};
use crate::module::is_ours;
use crate::symbolic::{is_sleep, loops_of, only_waits, writes_constants};
use std::collections::HashMap;

/// Instructions of a function that is small, with those of the functions that it calls.
const SMALL: usize = 200;
/// Calls inside each other.
const DEPTH: usize = 8;

/// The instructions of functions, with those that they call, if they are small.
type Sizes = HashMap<Value, Option<usize>>;

/// Does so in all functions of the module.
pub fn put_in_place(module: Module) {
    let mut sizes = Sizes::new();
    for function in module.functions() {
        if !is_ours(function) {
            continue;
        }
        for _ in 0..DEPTH {
            let calls = calls_in_waits(function, &mut sizes);
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
fn calls_in_waits(function: Value, sizes: &mut Sizes) -> Vec<Value> {
    let mut calls = Vec::new();
    for body in loops_of(function) {
        let all = body.iter().all(|&i| match callee_of(i) {
            Some(callee) => callee != function && size_of(callee, sizes).is_some(),
            None => only_waits(i) || is_sleep(i) || is_variable(i) || writes_constants(i),
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

/// The function of the module that is called here, if one is.
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

/// The size of a function that is small, and does nothing but what such a loop may do and to write
/// memory. Then it throws nothing.
fn size_of(function: Value, sizes: &mut Sizes) -> Option<usize> {
    if let Some(&size) = sizes.get(&function) {
        return size;
    }
    // One that calls itself is not small.
    sizes.insert(function, None);
    let fits = is_ours(function) && is_exact(function) && !function.value_type().is_variadic();
    let size = fits.then(|| count(function, sizes)).flatten();
    sizes.insert(function, size);
    size
}

fn count(function: Value, sizes: &mut Sizes) -> Option<usize> {
    let mut blocks: Vec<Block> = function.first_block().into_iter().collect();
    let (mut next, mut count) = (0, 0);
    while let Some(block) = blocks.get(next).copied() {
        next += 1;
        for i in block.instructions() {
            count += match (i.opcode(), callee_of(i)) {
                (_, Some(callee)) => size_of(callee, sizes)?,
                (Opcode::LLVMAlloca | Opcode::LLVMRet | Opcode::LLVMStore, _) => 1,
                (Opcode::LLVMUnreachable, _) => 1,
                _ if only_waits(i) || is_sleep(i) || writes_constants(i) => 1,
                _ => return None,
            };
        }
        if count > SMALL {
            return None;
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
    Some(count)
}
