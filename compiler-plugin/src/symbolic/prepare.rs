//! Makes a function simpler to follow without changing what it does.

use super::leaf::leaves;
use super::{atomics, expand};
use crate::hooks::Hooks;
use crate::ir::{Emit, Kind, Module, Opcode, TailCall, Type, Value};
use crate::{locations, sharing};

/// Takes aggregates apart where they meet memory, gives the value of every `invoke` a block where
/// it is known, turns guaranteed tail calls into plain ones, and wide atomics into sections.
pub fn run(module: Module, hooks: &Hooks, function: Value) {
    for instruction in function.instructions() {
        match instruction.opcode() {
            Opcode::LLVMLoad => split_load(module, instruction),
            Opcode::LLVMStore => split_store(module, instruction),
            Opcode::LLVMInvoke => instruction.split_normal_edge(),
            // The caller has to take the result's expression after the call.
            Opcode::LLVMCall if instruction.is_must_tail() => {
                instruction.set_tail_call(TailCall::LLVMTailCallKindNone)
            }
            _ => {}
        }
    }
    atomics::run(module, hooks, function);
    expand::run(module, hooks, function);
}

fn is_aggregate(value: Value) -> bool {
    matches!(
        value.ty().kind(),
        Kind::LLVMStructTypeKind | Kind::LLVMArrayTypeKind
    )
}

/// The parts of an aggregate as paths of indices, in the order of `leaves`.
pub fn paths(ty: Type) -> Vec<Vec<u32>> {
    let below = |index: u32, inner| {
        paths(inner).into_iter().map(move |mut path| {
            path.insert(0, index);
            path
        })
    };
    match ty.kind() {
        Kind::LLVMStructTypeKind => (0..ty.field_count())
            .flat_map(|index| below(index, ty.field(index)))
            .collect(),
        Kind::LLVMArrayTypeKind => (0..ty.array_length() as u32)
            .flat_map(|index| below(index, ty.element()))
            .collect(),
        Kind::LLVMVectorTypeKind => (0..ty.vector_length()).map(|index| vec![index]).collect(),
        _ => vec![vec![]],
    }
}

fn split_load(module: Module, load: Value) {
    let ty = load.ty();
    let parts = leaves(module.layout(), ty);
    if !is_aggregate(load) || parts.is_empty() {
        return;
    }
    let context = module.context();
    let emit = Emit::new(context, load, locations::of(context, load));
    let mut whole = ty.poison();
    for (leaf, path) in parts.iter().zip(paths(ty)) {
        let at = emit.offset(load.operand(0), emit.c64(leaf.offset));
        let part = emit.load(leaf.ty, at);
        part.set_alignment(1);
        sharing::copy_note(context, load, part);
        whole = emit.insert_at(whole, part, &path);
    }
    load.replace_uses(whole);
    load.erase();
}

fn split_store(module: Module, store: Value) {
    let value = store.operand(0);
    let parts = leaves(module.layout(), value.ty());
    if !is_aggregate(value) || parts.is_empty() {
        return;
    }
    let context = module.context();
    let emit = Emit::new(context, store, locations::of(context, store));
    for (leaf, path) in parts.iter().zip(paths(value.ty())) {
        let part = emit.extract_at(value, &path);
        let at = emit.offset(store.operand(1), emit.c64(leaf.offset));
        let part = emit.store(part, at);
        part.set_alignment(1);
        sharing::copy_note(context, store, part);
    }
    store.erase();
}
