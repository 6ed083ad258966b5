//! Functions with a scheduling body only, in a symbolic run: what they read is decided upon, what
//! they write is concrete. The same goes for accesses that are too wide for an expression.

use super::access::{Access, decide};
use super::atomic;
pub use super::atomic::{enter as enter_section, leave as leave_section};
use super::simplify::Operand;
use crate::access::Update;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::{Op, Why};

pub use super::blocks::{will_read, will_write};

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

/// Does the word hold this?
pub fn is(at: u64, size: u32, expected: u64, pc: usize) -> bool {
    let (value, expr) = Access::new(Kind::AtomicRead, at, size, pc).read();
    let operands = [(expr, value), (0, expected)].map(|(expr, value)| Operand { expr, value });
    let width = (8 * size) as u8;
    let equal = super::world()
        .nodes
        .binary(Op::Eq, width, operands[0], operands[1]);
    let holds = value == expected;
    decide(super::built(equal, pc), holds.into(), Why::Branch, pc);
    holds
}

/// Writes.
pub fn write(kind: Kind, at: u64, size: u32, value: u64, pc: usize) {
    Access::new(kind, at, size, pc).write(value, 0);
}

/// Updates; the old content.
pub fn update(at: u64, size: u32, op: Update, operand: u64, pc: usize) -> u64 {
    change(at, size, pc, |old| op.apply(old, operand, size))
}

/// Compares and exchanges; the old content.
pub fn compare_exchange(at: u64, size: u32, expected: u64, new: u64, pc: usize) -> u64 {
    let expected = expected & super::mask((8 * size) as u8);
    change(at, size, pc, |old| if old == expected { new } else { old })
}

fn change(at: u64, size: u32, pc: usize, new: impl FnOnce(u64) -> u64) -> u64 {
    let kind = Kind::Rmw;
    let access = Access::new(kind, at, size, pc);
    let (old, expr) = access.update(|_, old| (new(old.value), 0));
    decide(expr, old, Why::Memory, pc);
    old
}
