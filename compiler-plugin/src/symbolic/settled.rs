//! Loops that run as compiled where nothing is to be followed in them.
//!
//! A nest of loops that calls nothing, whose rounds are counted before it begins, and whose addresses
//! go up and down by steps that do not change, or stay within narrow bounds, gets a second copy without
//! hooks. Before the nest, `raddle_sym_settled` is asked whether all that the nest accesses is settled:
//! concrete, and known to no other thread. If it is, and so is what the nest takes from outside, then
//! all that it computes is concrete, no access in it is a step, and the copy runs. The optimiser
//! treats that as any loop.
//!
//! `shim/loops.cpp` finds and copies the nests. What it marks belongs to copies and questions, and gets
//! no hooks; a branch with the other mark leads to the question, or past it.

use super::Body;
use super::bounds::{Root, root};
use super::terms::is_zero;
use crate::access::Access;
use crate::hooks::Hooks;
use crate::ir::{Block, Context, Layout, Module, Touch, Value};
use crate::sharing;
use raddle_protocol::hooks::{STRETCH_CONSTANT, STRETCH_LOCAL, STRETCH_WRITES};
use std::collections::HashSet;

/// Makes the copies. `waiting`: what is in loops that only wait; their rounds are watched.
pub fn copy(module: Module, hooks: &Hooks, function: Value, waiting: &HashSet<Value>) {
    let (context, layout) = (module.context(), module.layout());
    let (_, hook) = hooks.function("raddle_sym_settled");
    function.copy_settled(hook, |access| {
        let allowed = !waiting.contains(&access);
        allowed.then(|| touch(context, layout, access)).flatten()
    });
}

fn touch(context: Context, layout: Layout, i: Value) -> Option<Touch> {
    let (pointer, ty, writes) = match Access::of(i)? {
        Access::Load { pointer, ty } => (pointer, ty, false),
        Access::Store { pointer, value } => (pointer, value.ty(), true),
        _ => return None,
    };
    if pointer.ty().address_space() != 0 {
        return None;
    }
    let (base, room) = match root(layout, pointer) {
        Root::Variable(base, size) => (Some(base), size),
        Root::Pointer(_) => (None, 0),
    };
    let manner = [
        (writes, STRETCH_WRITES),
        (Access::is_private(context, i, 0), STRETCH_LOCAL),
        (sharing::is_constant(i), STRETCH_CONSTANT),
    ];
    let manner = manner.iter().filter(|(is, _)| *is).map(|(_, bit)| bit);
    Some(Touch {
        pointer,
        base,
        size: layout.store_size(ty),
        room,
        manner: manner.sum(),
    })
}

/// On what belongs to copies and to questions.
const SETTLED: &str = "raddle.settled";
/// On the branches before the questions.
const GUARD: &str = "raddle.guard";

/// Does this belong to a copy, or to the question before it?
pub fn is_marked(i: Value) -> bool {
    has_mark(i, SETTLED)
}

/// Takes the marks away.
pub fn forget(i: Value) {
    for name in [SETTLED, GUARD] {
        i.set_metadata(i.ty().context().metadata_kind(name), None);
    }
}

fn has_mark(i: Value, name: &str) -> bool {
    i.metadata(i.ty().context().metadata_kind(name)).is_some()
}

impl Body<'_> {
    /// Does the branch lead to a question?
    pub(super) fn guards(&self, i: Value) -> bool {
        has_mark(i, GUARD)
    }

    /// Nothing is asked if what the copy takes from outside is symbolic.
    pub(super) fn guard(&mut self, branch: Value) {
        let mut taken = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<Value> = marked_behind(branch);
        while let Some(i) = open.pop() {
            for operand in i.operands().collect::<Vec<Value>>() {
                if !seen.insert(operand) {
                    continue;
                }
                // What the question computes may lie before the guard.
                if operand.as_instruction().is_some_and(is_marked) {
                    open.push(operand);
                }
                taken.extend(
                    self.shadow(operand)
                        .into_iter()
                        .filter(|expr| !is_zero(*expr)),
                );
            }
        }
        let emit = self.before(branch);
        if let Some(symbolic) = self.terms.any(&emit, taken) {
            let past = emit.or(branch.operand(0), symbolic);
            branch.set_operand(0, past);
        }
    }
}

/// The instructions of the question and the copy that the guard leads to.
fn marked_behind(guard: Value) -> Vec<Value> {
    let is_behind = |block: &Block| block.terminator().is_some_and(is_marked);
    let mut blocks: Vec<Block> = guard.block().successors();
    blocks.retain(is_behind);
    let mut next = 0;
    while let Some(block) = blocks.get(next).copied() {
        let successors = block.successors().into_iter().filter(is_behind);
        for successor in successors.collect::<Vec<Block>>() {
            if !blocks.contains(&successor) {
                blocks.push(successor);
            }
        }
        next += 1;
    }
    blocks.into_iter().flat_map(Block::instructions).collect()
}
