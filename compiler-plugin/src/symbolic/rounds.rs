//! Loops that only wait: where their rounds begin.
//!
//! A loop is one if nothing is handed on from round to round (its header has no phi; what is handed to
//! the test alone is tested at the end instead) and all that a round does is to compute, to read
//! memory, to update it atomically, to yield, and to sleep. Whether a round
//! changed memory is seen when it is over: if it did not, the thread is where it was when the round
//! began (but for the clock, which the analyzer minds).

use super::{Body, atomics};
use crate::assembly::Assembly;
use crate::ir::{Block, Emit, Opcode, Value};
use crate::locations;
use std::collections::{HashMap, HashSet};

/// A loop.
pub struct Loop {
    header: Block,
    /// The ends of the blocks from which the next round begins.
    latches: HashSet<Value>,
}

/// A loop of any kind.
pub struct Natural {
    pub header: Block,
    latches: Vec<Block>,
    pub blocks: Vec<Block>,
}

impl Natural {
    pub fn instructions(&self) -> Vec<Value> {
        let blocks = self.blocks.iter();
        blocks.flat_map(|block| block.instructions()).collect()
    }

    /// What rounds hand on to the next.
    pub fn phis(&self) -> Vec<Value> {
        let instructions = self.header.instructions().into_iter();
        instructions
            .take_while(|i| i.opcode() == Opcode::LLVMPHI)
            .collect()
    }

    /// The ends of the blocks from which the next round begins.
    pub fn ends(&self) -> HashSet<Value> {
        let latches = self.latches.iter();
        latches.filter_map(|block| block.terminator()).collect()
    }

    /// Does it only wait?
    fn waits(&self) -> bool {
        let first = self.header.first();
        let mut instructions = self.instructions().into_iter();
        first.is_some_and(|first| first.opcode() != Opcode::LLVMPHI)
            && instructions.all(|i| only_waits(i) || is_sleep(i) || is_for_sleep(i))
    }
}

/// The instructions of all loops of a function that only wait.
pub fn waiting(function: Value) -> HashSet<Value> {
    let mut loops = natural(&super::reverse_postorder(function));
    loops.retain(Natural::waits);
    loops.iter().flat_map(Natural::instructions).collect()
}

/// The loops of a function that only wait. `order`: its blocks in reverse postorder.
pub fn find(order: &[Block]) -> Vec<Loop> {
    let loops = natural(order).into_iter().filter(Natural::waits);
    loops
        .map(|natural| Loop {
            header: natural.header,
            latches: natural.ends(),
        })
        .collect()
}

/// Loops that only wait, but for a count and what a round hands to the test before the next one, as
/// `while (!done) done = …` does: tests at the end instead.
pub fn test_at_the_end(function: Value) {
    let waits = |natural: &Natural| {
        let is_elsewhere =
            |user: Value| user.block() != natural.header && natural.blocks.contains(&user.block());
        let is_tested = |phi: &Value| !phi.users().any(is_elsewhere);
        natural.phis().iter().any(is_tested) && natural.instructions().into_iter().all(only_waits)
    };
    let loops = natural(&super::reverse_postorder(function));
    for natural in loops.into_iter().filter(waits) {
        natural.header.rotate();
    }
}

/// The instructions of each loop of a function.
pub fn loops_of(function: Value) -> Vec<Vec<Value>> {
    let loops = natural(&super::reverse_postorder(function));
    loops.iter().map(Natural::instructions).collect()
}

/// All loops of a function with these blocks, in reverse postorder.
pub fn natural(order: &[Block]) -> Vec<Natural> {
    let number: HashMap<Block, usize> = order.iter().enumerate().map(|(n, b)| (*b, n)).collect();
    let mut before = vec![Vec::new(); order.len()];
    for (n, block) in order.iter().enumerate() {
        for next in block.successors() {
            before[number[&next]].push(n);
        }
    }
    let dominators = dominators(&before);
    let mut loops = Vec::new();
    for (header, &block) in order.iter().enumerate() {
        let latches: Vec<usize> = before[header]
            .iter()
            .copied()
            .filter(|&latch| dominates(&dominators, header, latch))
            .collect();
        if !latches.is_empty() {
            let of = |numbers: Vec<usize>| numbers.into_iter().map(|n| order[n]).collect();
            let mut blocks: Vec<usize> = body_of(header, &latches, &before).into_iter().collect();
            blocks.sort_unstable();
            loops.push(Natural {
                header: block,
                blocks: of(blocks),
                latches: of(latches),
            });
        }
    }
    loops
}

/// The immediate dominator of each block, given those before each (Cooper, Harvey, Kennedy, A
/// Simple, Fast Dominance Algorithm, 2001, figure 3). Block 0 is the entry, which is its own.
fn dominators(before: &[Vec<usize>]) -> Vec<usize> {
    let mut dominators: Vec<Option<usize>> = vec![None; before.len()];
    if let Some(entry) = dominators.first_mut() {
        *entry = Some(0);
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for n in 1..before.len() {
            let known = before[n]
                .iter()
                .copied()
                .filter(|&p| dominators[p].is_some());
            let common = known.reduce(|mut a, mut b| {
                while a != b {
                    match a > b {
                        true => a = dominators[a].unwrap_or(0),
                        false => b = dominators[b].unwrap_or(0),
                    }
                }
                a
            });
            changed |= dominators[n] != common;
            dominators[n] = common;
        }
    }
    dominators.into_iter().map(|d| d.unwrap_or(0)).collect()
}

fn dominates(dominators: &[usize], above: usize, mut below: usize) -> bool {
    // A dominator comes first in the order.
    while below > above {
        below = dominators[below];
    }
    below == above
}

/// The blocks of the natural loop with these ends.
fn body_of(header: usize, latches: &[usize], before: &[Vec<usize>]) -> HashSet<usize> {
    let mut blocks = HashSet::from([header]);
    let mut open = latches.to_vec();
    while let Some(block) = open.pop() {
        if blocks.insert(block) {
            open.extend(&before[block]);
        }
    }
    blocks
}

/// Functions of the C library that let others go first, and do nothing else.
const YIELDS: &[&str] = &["sched_yield", "pthread_yield", "thrd_yield"];

/// Functions of the C library that sleep, and do nothing else unless a signal ends that.
const SLEEPS: &[&str] = &[
    "usleep",
    "sleep",
    "nanosleep",
    "clock_nanosleep",
    "thrd_sleep",
];

/// Intrinsics that do nothing that others, or a later round, could see.
const QUIET: &[&str] = &[
    "assume",
    "dbg.",
    "expect.",
    "lifetime.",
    "threadlocal.address",
    "x86.sse2.pause",
];

/// May this be in a loop that only waits?
pub fn only_waits(i: Value) -> bool {
    use Opcode::*;
    match i.opcode() {
        LLVMPHI | LLVMBr | LLVMSwitch | LLVMSelect | LLVMICmp | LLVMFreeze | LLVMGetElementPtr
        | LLVMExtractValue | LLVMInsertValue => true,
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMAnd
        | LLVMOr | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr => true,
        LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast => true,
        LLVMLoad | LLVMFence | LLVMAtomicCmpXchg | LLVMAtomicRMW => true,
        LLVMStore => atomics::is_part(i),
        LLVMCall if atomics::begins(i).is_some() || atomics::ends(i) => true,
        LLVMCall => match i.intrinsic_called() {
            Some(name) => QUIET.iter().any(|quiet| name.starts_with(quiet)),
            None => calls_one_of(i, YIELDS) || Assembly::only_pauses(i),
        },
        _ => false,
    }
}

fn calls_one_of(call: Value, names: &[&str]) -> bool {
    let callee = call.callee().as_function();
    callee.is_some_and(|f| f.is_declaration() && names.contains(&&*f.name()))
}

/// Does it sleep (which a cancellation may end), or ask whether a signal has ended that?
pub fn is_sleep(i: Value) -> bool {
    matches!(i.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke)
        && (calls_one_of(i, SLEEPS) || calls_one_of(i, &["__errno_location"]))
}

/// Does it write how long to sleep, where nothing else is? What is the same in each round is handed on to none.
fn is_for_sleep(i: Value) -> bool {
    writes_constants(i) && base(i.operand(written(i))).is_some_and(is_only_for_sleep)
}

/// Is it a store of a constant, or a copy of constants?
pub fn writes_constants(i: Value) -> bool {
    match i.opcode() {
        Opcode::LLVMStore => i.operand(0).as_instruction().is_none(),
        Opcode::LLVMCall => {
            let name = i.intrinsic_called();
            let copies = name.is_some_and(|name| name.starts_with("memcpy."));
            copies && (i.operand(1).as_global_variable()).is_some_and(Value::is_constant_global)
        }
        _ => false,
    }
}

/// The operand of such an instruction that says where it writes.
fn written(i: Value) -> u32 {
    u32::from(i.opcode() == Opcode::LLVMStore)
}

/// The variable of the function's frame that an address leads into.
fn base(address: Value) -> Option<Value> {
    let i = address.as_instruction()?;
    match i.opcode() {
        Opcode::LLVMAlloca => Some(i),
        Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast => base(i.operand(0)),
        _ => None,
    }
}

/// Is what lies at this address given its value in such writes, and used by sleeps alone?
fn is_only_for_sleep(address: Value) -> bool {
    address.users().all(|user| match user.opcode() {
        Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast => is_only_for_sleep(user),
        _ if writes_constants(user) => user.operand(written(user)) == address,
        Opcode::LLVMCall | Opcode::LLVMInvoke => match user.intrinsic_called() {
            Some(name) => name.starts_with("lifetime.") || name.starts_with("dbg."),
            None => calls_one_of(user, SLEEPS),
        },
        _ => false,
    })
}

/// Inserts the hooks, when all others are there.
pub fn mark(body: &Body, loops: &[Loop]) {
    for Loop { header, latches } in loops {
        let (Some(again), Some(at)) = (again(body, *header, latches), header.first_non_phi())
        else {
            continue;
        };
        let emit = Emit::new(body.context, at, locations::of(body.context, at));
        body.hooks.call(&emit, "raddle_sym_round", &[again]);
    }
}

/// At the beginning of a round: 1 if there was one before, else 0.
pub fn again(body: &Body, header: Block, latches: &HashSet<Value>) -> Option<Value> {
    let (first, at) = (header.first()?, header.first_non_phi()?);
    let location = locations::of(body.context, at);
    let again = Emit::new(body.context, first, location).phi(body.context.int(32));
    for block in header.function().blocks() {
        let end = block.terminator();
        let value = u64::from(end.is_some_and(|end| latches.contains(&end)));
        let value = body.context.int(32).constant(value);
        let edges = block.successors().into_iter();
        for _ in edges.filter(|next| *next == header) {
            again.add_incoming(value, block);
        }
    }
    Some(again)
}
