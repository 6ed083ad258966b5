//! Decisions: branches and switches.

use super::Body;
use super::terms::{Term, is_zero};
use crate::ir::{Block, Opcode, Value};
use raddle_protocol::expr::{Op, Why};

/// Blocks that [`only_ends`] looks at.
const FEW: usize = 32;

/// Do the ways from here all end in a call that does not return?
fn only_ends(block: Block) -> bool {
    let mut blocks = vec![block];
    let mut next = 0;
    while let Some(&block) = blocks.get(next) {
        let successors = block.successors();
        let dead = block.terminator().map(|end| end.opcode()) == Some(Opcode::LLVMUnreachable);
        if blocks.len() > FEW || successors.is_empty() && !dead {
            return false;
        }
        for successor in successors {
            if !blocks.contains(&successor) {
                blocks.push(successor);
            }
        }
        next += 1;
    }
    true
}

impl Body<'_> {
    pub(super) fn branch(&mut self, i: Value) {
        if i.is_conditional() {
            let condition = self.term(i.operand(0));
            let checks = (0..i.successor_count()).any(|n| only_ends(i.successor(n)));
            let why = if checks { Why::Check } else { Why::Branch };
            self.terms.decide(&mut self.before(i), condition, why);
        }
    }

    /// One decision per case, in order, up to the one that matches.
    pub(super) fn switch(&mut self, i: Value) {
        let value = self.term(i.operand(0));
        let cases: Vec<Value> = (2..i.operand_count())
            .step_by(2)
            .map(|n| i.operand(n))
            .collect();
        if is_zero(value.expr) || cases.is_empty() {
            return self.lose_all(i, &[i.operand(0)], Why::Type);
        }
        let ty = value.value.ty();
        let table = self.context.constant_array(ty, &cases);
        let table = self.module.constant("raddle_cases", table, None);
        let step = self.layout.alloc_size(ty);
        let mut emit = self.before(i);
        let Some(symbolic) = self.terms.any(&emit, [value.expr]) else {
            return;
        };
        emit.when(symbolic, |emit| {
            emit.repeat(cases.len() as u64, |emit, index| {
                let offset = emit.mul(index, emit.c64(step));
                let case = emit.load(ty, emit.offset(table, offset));
                let case = Term::concrete(emit, case, value.width);
                let taken = self.terms.binary(emit, Op::Eq, value, case);
                self.terms.decide(emit, taken, Why::Switch);
                taken.value
            });
        });
    }
}
