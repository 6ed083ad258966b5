//! Which values can be symbolic at all: the least set that holds what comes from outside the
//! function and is closed under computation.

use super::leaf::{leaves, packed_width, width};
use super::{intrinsics, settled};
use crate::access::Access;
use crate::ir::{Layout, Opcode, Place, Value};
use crate::sharing;
use std::collections::HashSet;

/// The values of the function that can have an expression.
pub fn find(layout: Layout, function: Value) -> HashSet<Value> {
    let mut found: HashSet<Value> = (0..function.param_count())
        .filter(|&index| !function.has_attribute(Place::Param(index), "byval"))
        .map(|index| function.param(index))
        .filter(|param| packed_width(layout, param.ty()).is_some())
        .collect();
    let mut instructions = function.instructions();
    instructions.retain(|&i| !settled::is_marked(i));
    loop {
        let before = found.len();
        for &instruction in &instructions {
            if !found.contains(&instruction) && can_be(layout, instruction, &found) {
                found.insert(instruction);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn can_be(layout: Layout, i: Value, found: &HashSet<Value>) -> bool {
    let leaves = leaves(layout, i.ty());
    if leaves.iter().all(|leaf| leaf.width.is_none()) {
        return false;
    }
    let any = || i.operands().any(|operand| found.contains(&operand));
    let scalars = || {
        i.operands()
            .all(|operand| width(layout, operand.ty()).is_some())
    };
    match i.opcode() {
        Opcode::LLVMLoad => !sharing::is_constant(i) && width(layout, i.ty()).is_some(),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMCall | Opcode::LLVMInvoke => match i.intrinsic_called() {
            Some(name) => intrinsics::yields(layout, i, &name) && any(),
            None if i.callee().as_inline_asm().is_some() => {
                super::calls::passes_through(i) && any()
            }
            // memcpy and its kin return their first argument.
            None if Access::of(i).is_some_and(|access| access.is_block()) => any(),
            None => !i.returns_twice(),
        },
        Opcode::LLVMPHI
        | Opcode::LLVMSelect
        | Opcode::LLVMFreeze
        | Opcode::LLVMExtractValue
        | Opcode::LLVMInsertValue
        | Opcode::LLVMExtractElement
        | Opcode::LLVMInsertElement => any(),
        Opcode::LLVMGetElementPtr => any() && scalars(),
        opcode => {
            (super::arith::follows(opcode) || super::floats::follows(i)) && any() && scalars()
        }
    }
}
