//! Loops that poll a bounded number of times, as a lock does that spins before it sleeps.
//!
//! The rounds of such a loop hand on nothing but their count. Each reads one place, which ends the loop
//! if it holds what was waited for. What comes of many rounds in vain comes of the last one alone; and
//! one round in vain could be repeated at once until the count is over, and nobody would see a
//! difference. So where `raddle_sym_polled` says so, which it does in symbolic runs, the count is over
//! after one round in vain.

use super::Body;
use super::rounds::{Natural, again, natural, only_waits};
use super::settled::is_marked;
use crate::ir::{Block, Emit, Opcode, Predicate, Value};
use crate::{locations, sharing};
use std::collections::HashSet;

/// A loop.
pub struct Poll {
    header: Block,
    latches: HashSet<Value>,
    /// The branch that ends it when the count is over.
    end: Value,
    /// Does it end it where the condition holds?
    on_true: bool,
    /// Does a round begin with it?
    first: bool,
}

/// The loops of a function that are ones. `order`: its blocks in reverse postorder.
pub fn find(order: &[Block]) -> Vec<Poll> {
    let loops = natural(order);
    let headers: HashSet<Block> = loops.iter().map(|natural| natural.header).collect();
    let innermost = loops.iter().filter(|natural| {
        let inside = natural
            .blocks
            .iter()
            .filter(|block| headers.contains(block));
        inside.count() == 1 && !natural.header.terminator().is_some_and(is_marked)
    });
    innermost.filter_map(poll).collect()
}

fn poll(natural: &Natural) -> Option<Poll> {
    let instructions = natural.instructions();
    let inside: HashSet<Block> = natural.blocks.iter().copied().collect();
    if !instructions.iter().all(|&i| only_waits(i)) {
        return None;
    }
    let accesses = instructions.into_iter().filter(|&i| is_access(i));
    let accesses: Vec<Value> = accesses.collect();
    let is_alone = |&access: &Value| {
        let block = access.block();
        let others = accesses.iter().filter(|&&other| other != access);
        let mut behind = block.successors().into_iter();
        others.clone().all(|other| other.block() != block)
            && !behind.any(|next| {
                let mut others = others.clone();
                others.any(|other| reaches(next, natural.header, other.block()))
            })
    };
    let plain =
        |access: &Value| leaves_memory(*access, natural.header, &inside) && is_alone(access);
    if accesses.is_empty() || !accesses.iter().all(plain) {
        return None;
    }
    let counts = Counts::of(natural, &inside)?;
    let mut end = None;
    for &branch in &counts.branches {
        let outside = (0..2).filter(|&n| !inside.contains(&branch.successor(n)));
        let condition = branch.operand(0);
        match outside.collect::<Vec<u32>>().as_slice() {
            [] if counts.values.contains(&condition) && is_quiet(branch, natural.header) => {}
            [way] if end.is_none() && counts.end_alone(condition, *way == 0) => {
                end = Some((branch, *way == 0));
            }
            _ => return None,
        }
    }
    let (end, on_true) = end?;
    let first = end.block() == natural.header;
    let stays = end.successor(u32::from(on_true));
    let mut later = accesses.iter();
    let is_late = later.any(|access| reaches(stays, natural.header, access.block()));
    ((first || !is_late) && natural.header.is_counted(end.block())).then(|| Poll {
        header: natural.header,
        latches: natural.ends(),
        end,
        on_true,
        first,
    })
}

/// Does it access what another thread may use, too?
fn is_access(i: Value) -> bool {
    use Opcode::*;
    match i.opcode() {
        LLVMLoad => !sharing::is_constant(i) && !sharing::is_private(i.ty().context(), i, 0),
        LLVMStore | LLVMAtomicCmpXchg | LLVMAtomicRMW => true,
        LLVMCall => super::atomics::begins(i).is_some(),
        _ => false,
    }
}

/// Is it a read, or an exchange after which the loop ends unless it found something else?
fn leaves_memory(access: Value, header: Block, inside: &HashSet<Block>) -> bool {
    if access.opcode() != Opcode::LLVMAtomicCmpXchg {
        return access.opcode() == Opcode::LLVMLoad;
    }
    let is_success =
        |part: &Value| part.opcode() == Opcode::LLVMExtractValue && part.indices() == [1];
    let Some(success) = access.users().find(is_success) else {
        return false;
    };
    let ends_with_it = |block: &&Block| {
        let end = block.terminator();
        end.is_some_and(|end| {
            let asks = end.opcode() == Opcode::LLVMBr && end.is_conditional();
            asks && same_truth(end.operand(0)) == success && !inside.contains(&end.successor(0))
        })
    };
    // No round begins without that branch.
    let first = access.block();
    inside.iter().filter(ends_with_it).any(|&branch| {
        let mut behind = first.successors().into_iter();
        branch == first || !behind.any(|next| next == header || reaches(next, branch, header))
    })
}

/// What a truth value was made from by going through other types.
fn same_truth(value: Value) -> Value {
    let mut value = value;
    while let Some(i) = value.as_instruction()
        && matches!(
            i.opcode(),
            Opcode::LLVMZExt | Opcode::LLVMTrunc | Opcode::LLVMFreeze
        )
    {
        value = i.operand(0);
    }
    value
}

/// What depends on how many rounds there were.
struct Counts {
    values: HashSet<Value>,
    branches: Vec<Value>,
}

impl Counts {
    /// `None`: a round hands on something else, or the count is used for something else than to end.
    fn of(natural: &Natural, inside: &HashSet<Block>) -> Option<Counts> {
        use Opcode::*;
        let mut open = natural.phis();
        let header: HashSet<Value> = open.iter().copied().collect();
        let mut counts = Counts {
            values: header.clone(),
            branches: Vec::new(),
        };
        let mut joined = Vec::new();
        while let Some(value) = open.pop() {
            for user in value.users() {
                if !inside.contains(&user.block()) {
                    return None;
                }
                match user.opcode() {
                    LLVMBr if !counts.branches.contains(&user) => counts.branches.push(user),
                    LLVMBr => {}
                    _ if is_joint(user) => joined.push(user),
                    LLVMPHI if !header.contains(&user) => return None,
                    _ if !only_computes(user) => return None,
                    _ if counts.values.insert(user) => open.push(user),
                    _ => {}
                }
            }
        }
        // What joins a count with something else may only be what a branch asks.
        while let Some(joint) = joined.pop() {
            for user in joint.users() {
                match user.opcode() {
                    _ if !inside.contains(&user.block()) => return None,
                    LLVMBr if !counts.branches.contains(&user) => counts.branches.push(user),
                    LLVMBr => {}
                    _ if is_joint(user) => joined.push(user),
                    _ => return None,
                }
            }
        }
        let known = |value: &Value| {
            let i = value.as_instruction();
            i.is_none_or(|i| counts.values.contains(value) || !inside.contains(&i.block()))
        };
        let from_outside =
            |phi: &Value| (0..phi.incoming_count()).all(|n| known(&phi.incoming_value(n)));
        let all = counts
            .values
            .iter()
            .all(|value| match header.contains(value) {
                true => from_outside(value),
                false => value.operands().all(|operand| known(&operand)),
            });
        (all && !header.is_empty()).then_some(counts)
    }

    /// Is the condition `holds` whenever some count makes it so, whatever else there is?
    fn end_alone(&self, condition: Value, holds: bool) -> bool {
        if self.values.contains(&condition) {
            return true;
        }
        let Some(i) = condition.as_instruction().filter(|&i| is_joint(i)) else {
            return false;
        };
        let parts = match (i.opcode(), i.operand_count()) {
            (Opcode::LLVMOr, _) if holds => [0, 1],
            (Opcode::LLVMAnd, _) if !holds => [0, 1],
            // select(a, true, b) and select(a, b, false)
            (Opcode::LLVMSelect, _) if holds && is_truth(i.operand(1), 1) => [0, 2],
            (Opcode::LLVMSelect, _) if !holds && is_truth(i.operand(2), 0) => [0, 1],
            _ => return false,
        };
        let parts = parts.map(|n| i.operand(n));
        let counted = parts.iter().filter(|&&part| self.mentions(part));
        counted.clone().count() > 0 && counted.clone().all(|&part| self.end_alone(part, holds))
    }

    /// Does a count bear on it?
    fn mentions(&self, condition: Value) -> bool {
        self.values.contains(&condition)
            || (condition.as_instruction())
                .is_some_and(|i| is_joint(i) && i.operands().any(|part| self.mentions(part)))
    }
}

/// Is it made of two truth values?
fn is_joint(i: Value) -> bool {
    let joins = matches!(
        i.opcode(),
        Opcode::LLVMOr | Opcode::LLVMAnd | Opcode::LLVMSelect
    );
    joins && i.ty() == i.ty().context().int(1)
}

fn is_truth(value: Value, truth: u64) -> bool {
    (value.as_int_constant()).is_some_and(|constant| constant.int_value() == truth)
}

fn only_computes(i: Value) -> bool {
    use Opcode::*;
    matches!(
        i.opcode(),
        LLVMPHI
            | LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMICmp
            | LLVMTrunc
            | LLVMZExt
            | LLVMSExt
            | LLVMSelect
            | LLVMFreeze
    )
}

/// Do both ways of the branch lead to the same without an access?
fn is_quiet(branch: Value, header: Block) -> bool {
    let ways = [0, 1].map(|n| branch.successor(n));
    let behind = |way: Block| match way.successors().as_slice() {
        [next] if way != header && !way.instructions().into_iter().any(is_access) => Some(*next),
        _ => None,
    };
    let joins = [
        (Some(ways[0]), Some(ways[1])),
        (behind(ways[0]), Some(ways[1])),
        (Some(ways[0]), behind(ways[1])),
        (behind(ways[0]), behind(ways[1])),
    ];
    let same = joins.into_iter().find(|(a, b)| a.is_some() && a == b);
    let merge = same.and_then(|(merge, _)| merge);
    // Which way it was is not handed on.
    merge.is_some_and(|merge| {
        merge == header || merge.first().map(Value::opcode) != Some(Opcode::LLVMPHI)
    })
}

/// Does a way lead from one block to the other, before the loop begins again?
fn reaches(from: Block, header: Block, to: Block) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(&block) = seen.get(next) {
        next += 1;
        if block == header {
            continue;
        }
        if block == to {
            return true;
        }
        for successor in block.successors() {
            if !seen.contains(&successor) {
                seen.push(successor);
            }
        }
    }
    false
}

/// Inserts the hooks, when all others are there.
pub fn mark(body: &Body, polls: &[Poll]) {
    for poll in polls {
        let location = locations::of(body.context, poll.end);
        let emit = Emit::new(body.context, poll.end, location);
        let over = match poll.first {
            true => again(body, poll.header, &poll.latches),
            false => Some(emit.c32(1)),
        };
        let Some(round) = over else { continue };
        let polled = body.hooks.call(&emit, "raddle_sym_polled", &[round]);
        let condition = poll.end.operand(0);
        let ends = match poll.on_true {
            true => {
                let over = emit.compare(Predicate::LLVMIntNE, polled, emit.c32(0));
                emit.or(condition, over)
            }
            false => {
                let on = emit.compare(Predicate::LLVMIntEQ, polled, emit.c32(0));
                emit.and(condition, on)
            }
        };
        poll.end.set_operand(0, ends);
    }
}
