//! Floating point numbers have expressions as bits, and arithmetic on them has none: before it, it
//! is decided whether an operand is one of a few numbers. If so, nothing is lost.

use super::nodes::Expr;
use super::simplify::Operand;
use super::{branch, built, lost, world};
use raddle_protocol::expr::{Op, Why};

const SINGLE: [f32; 8] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    f32::MAX,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

const DOUBLE: [f64; 8] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Was the number computed, such as from an integer? (Its sign may have been changed besides.)
fn is_computed(expr: Expr) -> bool {
    let nodes = &world().nodes;
    let node = nodes.get(expr);
    match node.op() {
        Some(Op::Add | Op::Sub) => true,
        Some(Op::And | Op::Or) => ![node.a, node.b]
            .into_iter()
            .any(|one| nodes.constant_of(one).is_some()),
        _ => false,
    }
}

/// See `raddle_sym_number`. What is computed has too many values for a few to be worth a path each.
pub fn decide(expr: u32, value: u64, width: u8, pc: usize) {
    if is_computed(expr) {
        return lost(Why::Float, pc);
    }
    for i in 0..SINGLE.len() {
        let bits = match width {
            32 => SINGLE[i].to_bits().into(),
            _ => DOUBLE[i].to_bits(),
        };
        let (own, one) = (
            Operand { expr, value },
            Operand {
                expr: 0,
                value: bits,
            },
        );
        let same = world().nodes.binary(Op::Eq, width, own, one);
        branch(built(same, pc), u64::from(value == bits), Why::Float, pc);
        if value == bits {
            return;
        }
    }
    lost(Why::Float, pc);
}
