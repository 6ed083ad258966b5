//! Floating point numbers have expressions as bits, and arithmetic on them has none: before it, it
//! is decided whether an operand is one of a few numbers. If so, nothing is lost.

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

/// See `raddle_sym_number`.
pub fn decide(expr: u32, value: u64, width: u8, pc: usize) {
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
