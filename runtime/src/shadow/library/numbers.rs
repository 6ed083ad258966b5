//! strtol and its kin, in the C locale: the digits are decided upon, their value is an expression.

use super::machine::{Machine, Val};
use crate::shadow::nodes::Nodes;
use raddle_protocol::expr::Op;

/// What a text is read as.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// 0: as the text's prefix says.
    pub base: u32,
    pub signed: bool,
}

/// A number in a text, and where it ends: at its start if there is none. `None`: there is no such
/// base.
pub fn read(m: &mut impl Machine, text: u64, reading: Reading) -> Option<(Val, u64)> {
    if reading.base == 1 || reading.base > 36 {
        m.fail(libc::EINVAL);
        return None;
    }
    let mut at = text;
    loop {
        let byte = m.read(at);
        if !is_space(m, byte) {
            break;
        }
        at += 1;
    }
    let sign = m.read(at);
    let negative = m.with(Op::Eq, sign, b'-'.into());
    let plus = m.with(Op::Eq, sign, b'+'.into());
    let signed = m.choose(negative, Val::of(1, 1), plus);
    let negative = if m.holds(signed) {
        at += 1;
        negative
    } else {
        Val::of(1, 0)
    };
    let (base, start) = prefix(m, at, reading.base);
    Some(
        match digits(m, start, u64::MAX, base, negative, reading.signed) {
            // "0x" without a digit behind: the 0 is the number.
            None if start != at => (Val::word(0), at + 1),
            None => (Val::word(0), text),
            Some(found) => found,
        },
    )
}

/// The number with its bytes in the reverse order.
pub fn swapped(m: &mut impl Machine, number: Val) -> Val {
    let bytes = number.width / 8;
    let expr = match number.expr {
        0 => 0,
        _ => {
            let nodes = m.nodes();
            let byte = |nodes: &mut Nodes, n: u8| nodes.extract(number.expr, 8 * n, 8);
            let lowest = byte(nodes, 0);
            (1..bytes).fold(lowest, |high, n| {
                let low = byte(nodes, n);
                nodes.concat(high, low)
            })
        }
    };
    let value = number.value.swap_bytes() >> (64 - number.width);
    Val {
        expr,
        ..Val::of(number.width, value)
    }
}

/// Decides whether it is white space.
pub fn is_space(m: &mut impl Machine, byte: Val) -> bool {
    let blank = m.with(Op::Eq, byte, b' '.into());
    let from = m.with(Op::Sub, byte, 9);
    let control = m.with(Op::Ule, from, 4);
    let space = m.choose(blank, Val::of(1, 1), control);
    m.holds(space)
}

/// The base, and where the digits begin.
fn prefix(m: &mut impl Machine, at: u64, base: u32) -> (u32, u64) {
    if base != 0 && base != 16 {
        return (base, at);
    }
    let zero = m.read(at);
    if m.is(zero, b'0'.into()) {
        let mark = m.read(at + 1);
        if m.is(mark, b'x'.into()) || m.is(mark, b'X'.into()) {
            return (16, at + 2);
        }
        return (if base == 0 { 8 } else { base }, at);
    }
    (if base == 0 { 10 } else { base }, at)
}

/// The value of the digits, `room` at most, with its sign, and where they end. `None`: there is no
/// digit.
pub fn digits(
    m: &mut impl Machine,
    start: u64,
    room: u64,
    base: u32,
    negative: Val,
    signed: bool,
) -> Option<(Val, u64)> {
    // The greatest that does not overflow: one more below zero than above.
    let limit = match (signed, negative.value) {
        (false, _) => u64::MAX,
        (true, 0) => i64::MAX as u64,
        (true, _) => 1 << 63,
    };
    let base = u64::from(base);
    let mut value = Val::word(0);
    // The greatest that so many digits can be.
    let mut most = 0u128;
    let mut over = false;
    let mut at = start;
    while at - start < room {
        let byte = m.read(at);
        let Some(digit) = digit(m, byte, base) else {
            break;
        };
        at += 1;
        if over {
            continue;
        }
        most = most
            .saturating_mul(base.into())
            .saturating_add(u128::from(base - 1));
        if most > i64::MAX as u128 {
            m.holds(negative);
            let fits = m.with(Op::Ult, value, limit / base);
            let below = m.holds(fits);
            let edge = !below && m.is(value, limit / base);
            let last = m.with(Op::Ule, digit, limit % base);
            over = !(below || edge && m.holds(last));
        }
        let tens = m.with(Op::Mul, value, base);
        value = m.binary(Op::Add, tens, digit);
    }
    if at == start {
        return None;
    }
    if over {
        m.fail(libc::ERANGE);
        return Some((Val::word(limit), at));
    }
    let negated = m.binary(Op::Sub, Val::word(0), value);
    Some((m.choose(negative, negated, value), at))
}

/// The value of a digit, of 64 bits; that it is one is the only decision.
fn digit(m: &mut impl Machine, byte: Val, base: u64) -> Option<Val> {
    let ten = base.min(10);
    let mut digit = m.with(Op::Sub, byte, b'0'.into());
    let mut is_digit = m.with(Op::Ult, digit, ten);
    for first in [b'a', b'A'] {
        let from = m.with(Op::Sub, byte, first.into());
        let is_letter = m.with(Op::Ult, from, base - ten);
        let letter = m.with(Op::Add, from, 10);
        digit = m.choose(is_letter, letter, digit);
        is_digit = m.choose(is_letter, Val::of(1, 1), is_digit);
    }
    m.holds(is_digit).then(|| m.extend(Op::ZExt, digit, 64))
}
