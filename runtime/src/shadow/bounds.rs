//! Accesses that leave the block from which their address was computed.

use super::nodes::Nodes;
use super::simplify::Operand;
use super::{branch, built, world};
use crate::ends;
use crate::gate::{self, Fatal};
use crate::heap::{self, Fault, Operation, State};
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::outcome::End;

/// Decides whether `len` bytes at `at` lie in a block; the execution ends if they do not. `block`:
/// address and bytes of a variable, or (0 bytes) an address that may be in a block of the heap.
pub fn check(block: (u64, u64), at: Operand, len: Operand, pc: usize) {
    if !crate::vars::symbolic() {
        return;
    }
    let on_heap = match block {
        (base, 0) => match heap::block_of(base) {
            Some(Ok(info)) if info.state == State::Live => Some(info),
            // Not known, or for another check to find.
            _ => return,
        },
        _ => None,
    };
    let (start, size) = on_heap.map_or(block, |info| (info.start as u64, info.size as u64));
    let inside = inside(&mut world().nodes, (start, size), at, len);
    branch(built(inside.expr, pc), inside.value, Why::Bounds, pc);
    if inside.value != 0 {
        return;
    }
    // Others may come before it.
    ends::announce(0, pc);
    let operation = Operation::Access {
        name: "access",
        address: at.value,
        size: len.value,
    };
    if let Some(block) = on_heap {
        let end = block.start + block.size;
        let at = match at.value {
            inside if inside.wrapping_sub(start) < size => end,
            outside => outside as usize,
        };
        heap::report(Fault::Overflow { block, at }, operation, pc);
    }
    gate::finish(Fatal {
        end: End::HeapOverflow,
        code: 0,
        message: format_args!(
            "{operation} at offset {} of a variable of {size} bytes",
            at.value.wrapping_sub(start) as i64
        ),
        detail: [0; 4],
        pc,
        stack: true,
    })
}

/// Do `len` bytes at `at` lie in the block `(start, size)`?
fn inside(nodes: &mut Nodes, (start, size): (u64, u64), at: Operand, len: Operand) -> Operand {
    let constant = |value| Operand { expr: 0, value };
    let mut binary = |op, a: Operand, b: Operand, value| Operand {
        expr: match a.expr | b.expr {
            0 => 0,
            _ => nodes.binary(op, if op == Op::And { 1 } else { 64 }, a, b),
        },
        value,
    };
    let offset = at.value.wrapping_sub(start);
    let from = binary(Op::Sub, at, constant(start), offset);
    let begins = binary(Op::Ule, from, constant(size), u64::from(offset <= size));
    let rest = size.wrapping_sub(offset);
    let room = binary(Op::Sub, constant(size), from, rest);
    let fits = binary(Op::Ule, len, room, u64::from(len.value <= rest));
    binary(Op::And, begins, fits, begins.value & fits.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_of_a_block() {
        let operand = |value: u64| Operand { expr: 0, value };
        let mut nodes = Nodes::none();
        let table: &[(u64, u64, bool)] = &[
            (100, 8, true),
            (108, 0, true),
            (104, 4, true),
            (104, 5, false),
            (109, 0, false),
            (99, 1, false),
            (0, 4, false),
            (u64::MAX, 4, false),
            (104, u64::MAX, false),
            (104, 0, true),
        ];
        for &(at, len, holds) in table {
            let found = inside(&mut nodes, (100, 8), operand(at), operand(len));
            assert_eq!(found.value != 0, holds, "{len} bytes at {at}");
        }
    }
}
