//! Functions with a scheduling body only, in a symbolic run: what they read is decided upon, what
//! they write is concrete, but for what updates make of what they find. The same goes for accesses that are too wide for an expression.

use super::access::{Access, decide, updated};
use super::atomic;
pub use super::atomic::{enter as enter_section, leave as leave_section};
use super::nodes::{Expr, Nodes};
use super::simplify::Operand;
use crate::access::{Update, shadowed};
use crate::states;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::{Op, Why};

pub use super::blocks::{by_variable, will_read, will_write};

/// The program is about to read or write a block, or to do both, as one atomic access.
pub fn begin_section(at: u64, len: u64, reads: bool, writes: bool, pc: usize) {
    atomic::enter(pc);
    if reads {
        will_read(at, len, pc);
    }
    if writes {
        will_write(at, len, pc);
    }
}

/// It has done so.
pub fn end_section(at: u64, len: u64, writes: bool, pc: usize) {
    if writes {
        super::blocks::forget(at, len, pc);
    }
    atomic::leave(pc);
}

/// Inline assembly may do anything to memory.
pub fn lose_assembly(pc: usize) {
    super::lost(Why::Asm, pc);
}

/// Reads.
pub fn read(kind: Kind, at: u64, size: u32, pc: usize) -> u64 {
    Access::new(kind, at, size, pc).read_and_decide()
}

/// Reads a byte for the kernel; if it is not there, any.
pub fn read_by_kernel(at: u64, pc: usize) -> u8 {
    let access = Access::new(Kind::Read, at, 1, pc);
    access.of_kernel(states::pages_may_go()).read_and_decide() as u8
}

/// Writes a byte for the kernel, if it is there.
pub fn write_by_kernel(at: u64, byte: u8, pc: usize) {
    let access = Access::new(Kind::Write, at, 1, pc);
    access
        .of_kernel(states::pages_may_go())
        .write(byte.into(), 0);
}

/// Has `write`, code without hooks, write a block.
pub fn written_by<R>(at: u64, len: u64, pc: usize, write: impl FnOnce() -> R) -> R {
    if !shadowed() {
        return write();
    }
    will_write(at, len, pc);
    let result = write();
    super::blocks::forget(at, len, pc);
    result
}

/// Does the word hold this?
pub fn is(at: u64, size: u32, expected: u64, pc: usize) -> bool {
    let (value, expr) = Access::new(Kind::AtomicRead, at, size, pc).read();
    let (found, expected_is) = (Operand { expr, value }, concrete(expected));
    let width = (8 * size) as u8;
    let equal = super::world()
        .nodes
        .binary(Op::Eq, width, found, expected_is);
    let holds = value == expected;
    decide(super::built(equal, pc), holds.into(), Why::Branch, pc);
    holds
}

/// Writes.
pub fn write(kind: Kind, at: u64, size: u32, value: u64, pc: usize) {
    Access::new(kind, at, size, pc).write(value, 0);
}

/// Updates; the old content. What is written is an expression of it: in the tree of the thread's paths
/// the decision on the old content comes after this step.
pub fn update(at: u64, size: u32, op: Update, operand: u64, pc: usize) -> u64 {
    change(at, size, pc, |nodes, old| {
        let by = concrete(operand);
        let expr = updated(nodes, op, (8 * size) as u8, old, by);
        (op.apply(old.value, operand, size), expr)
    })
}

/// Compares and exchanges; the old content.
pub fn compare_exchange(at: u64, size: u32, expected: u64, new: u64, pc: usize) -> u64 {
    let width = (8 * size) as u8;
    let expected = concrete(expected & super::mask(width));
    change(at, size, pc, |nodes, old| {
        let equal = Operand {
            expr: nodes.binary(Op::Eq, width, old, expected),
            value: u64::from(old.value == expected.value),
        };
        let written = match old.value == expected.value {
            true => new,
            false => old.value,
        };
        (written, nodes.ite(width, equal, concrete(new), old))
    })
}

fn concrete(value: u64) -> Operand {
    Operand { expr: 0, value }
}

fn change(
    at: u64,
    size: u32,
    pc: usize,
    new: impl FnOnce(&mut Nodes, Operand) -> (u64, Expr),
) -> u64 {
    let access = Access::new(Kind::Rmw, at, size, pc);
    let (old, expr) = access.update(new);
    decide(expr, old, Why::Memory, pc);
    old
}
