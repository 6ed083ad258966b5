//! Bounds of values, in signed arithmetic; a truth is 0 or 1. Of values of more than 64 bits nothing
//! is known, nor of what is computed from them.

use super::terms::mask;
use raddle_protocol::expr::Op;

/// All values from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub low: i128,
    pub high: i128,
}

impl Interval {
    /// Nothing is known.
    pub const UNKNOWN: Interval = Interval {
        low: i128::MIN,
        high: i128::MAX,
    };

    /// Every value of `width` bits.
    pub fn full(width: u8) -> Interval {
        match width {
            0 | 1 => Interval { low: 0, high: 1 },
            65.. => Interval::UNKNOWN,
            w => Interval {
                low: -(1 << (w - 1)),
                high: (1 << (w - 1)) - 1,
            },
        }
    }

    /// One value of `width` bits.
    pub fn one(value: u64, width: u8) -> Interval {
        let full = Interval::full(width);
        let unsigned = i128::from(value & mask(width));
        let value = match unsigned > full.high {
            true => unsigned - (1 << width),
            false => unsigned,
        };
        Interval {
            low: value,
            high: value,
        }
    }

    /// The smallest interval that holds both.
    pub fn join(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The values that lie in both.
    pub fn meet(self, other: Interval) -> Option<Interval> {
        let low = self.low.max(other.low);
        let high = self.high.min(other.high);
        (low <= high).then_some(Interval { low, high })
    }

    /// Is the value between the bounds?
    pub fn contains(self, value: i128) -> bool {
        self.low <= value && value <= self.high
    }

    fn is_one(self) -> bool {
        self.low == self.high
    }

    fn lies_in(self, other: Interval) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Bits that tell all values apart: the sign is one of them if there are negative values.
    pub fn bits(self) -> u32 {
        let length = |n: i128| i128::BITS - n.leading_zeros();
        match self.low < 0 {
            true => 1 + length(self.high.max(0)).max(length(!self.low)),
            false => length(self.high),
        }
    }

    /// These bounds where no value wraps round in `width` bits, else all values.
    fn fit(self, width: u8) -> Interval {
        let full = Interval::full(width);
        if self.lies_in(full) { self } else { full }
    }

    /// As if the value of `width` bits had no sign.
    fn unsigned(self, width: u8) -> Interval {
        match self.low < 0 {
            true => Interval {
                low: 0,
                high: mask(width).into(),
            },
            false => self,
        }
    }
}

/// Bounds of what an operation gives, from those of its operands; `widths` are those of the
/// operands.
pub fn apply(op: Op, width: u8, extra: u16, args: &[Interval], widths: &[u8]) -> Interval {
    let known = match (op, args) {
        _ if width > 64 || widths.iter().any(|&w| w > 64) => None,
        (Op::Ite, &[condition, a, b]) => match (condition.low, condition.high) {
            (1, _) => Some(a),
            (_, 0) => Some(b),
            _ => Some(a.join(b)),
        },
        (Op::ZExt, &[a]) if width > widths[0] => Some(a.unsigned(widths[0])),
        (Op::SExt, &[a]) if widths[0] > 1 => Some(a),
        (Op::Extract, &[a]) if extra == 0 && a.lies_in(Interval::full(width)) => Some(a),
        (Op::Concat, &[a, b]) if (a.low, a.high) == (0, 0) => Some(b.unsigned(widths[1])),
        (_, &[a, b]) if a.is_one() && b.is_one() => {
            let value = |n: Interval| u128::from(n.low as u64 & mask(widths[0]));
            let result = op.compute(widths[0], value(a), value(b));
            result.map(|n| Interval::one(n as u64, width))
        }
        (_, &[a, b]) if op.is_comparison() => compared(op, a, b, widths[0]),
        (_, &[a, b]) => of_two(op, a, b),
        _ => None,
    };
    known.map_or(Interval::full(width), |known| known.fit(width))
}

/// The truth of a comparison, if all values agree.
fn compared(op: Op, a: Interval, b: Interval, width: u8) -> Option<Interval> {
    let natural = a.low >= 0 && b.low >= 0;
    let (below, above) = (a.high < b.low, b.high < a.low);
    let truth = match op {
        Op::Eq if below || above => false,
        Op::Ne if below || above => true,
        Op::Slt | Op::Sle if width == 1 => return None,
        Op::Ult | Op::Ule if !natural => return None,
        Op::Ult | Op::Slt if below => true,
        Op::Ult | Op::Slt if b.high <= a.low => false,
        Op::Ule | Op::Sle if a.high <= b.low => true,
        Op::Ule | Op::Sle if above => false,
        _ => return None,
    };
    Some(Interval::one(truth.into(), 1))
}

fn of_two(op: Op, a: Interval, b: Interval) -> Option<Interval> {
    let natural = a.low >= 0 && b.low >= 0;
    let constant = (b.low == b.high).then_some(b.low);
    let (low, high) = match op {
        Op::Add => (a.low + b.low, a.high + b.high),
        Op::Sub => (a.low - b.high, a.high - b.low),
        Op::Mul if natural => (a.low * b.low, a.high.checked_mul(b.high)?),
        Op::And if natural => (0, a.high.min(b.high)),
        Op::Or | Op::Xor if natural => (0, (1 << a.bits().max(b.bits())) - 1),
        Op::LShr | Op::AShr if natural && constant? < 64 => (a.low >> b.low, a.high >> b.low),
        Op::UDiv | Op::SDiv if natural && constant? > 0 => (a.low / b.low, a.high / b.low),
        Op::URem | Op::SRem if natural && constant? > 0 => (0, a.high.min(b.low - 1)),
        _ => return None,
    };
    Some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::{Interval, apply, mask};
    use raddle_protocol::expr::Op;

    const WIDTH: u8 = 3;

    fn intervals(width: u8) -> Vec<Interval> {
        let full = Interval::full(width);
        let from = |low| (low..=full.high).map(move |high| Interval { low, high });
        (full.low..=full.high).flat_map(from).collect()
    }

    fn members(interval: Interval) -> impl Iterator<Item = i128> {
        interval.low..=interval.high
    }

    #[test]
    fn no_result_lies_outside() {
        let cut = |value: i128| value as u64 & mask(WIDTH);
        for op in Op::BINARY {
            let width = if op.is_comparison() { 1 } else { WIDTH };
            for a in intervals(WIDTH) {
                for b in intervals(WIDTH) {
                    let bounds = apply(op, width, 0, &[a, b], &[WIDTH, WIDTH]);
                    for (x, y) in members(a).flat_map(|x| members(b).map(move |y| (x, y))) {
                        let got = op.compute(WIDTH, cut(x).into(), cut(y).into());
                        let result = Interval::one(got.expect("it is binary") as u64, width);
                        assert!(result.lies_in(bounds), "{op:?} {a:?} {b:?}: {result:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn changes_of_width_keep_all_values() {
        for from in 1..=4u8 {
            for a in intervals(from) {
                for x in members(a) {
                    let x = x as u64 & mask(from);
                    let check = |op, width, result: u64| {
                        let bounds = apply(op, width, 0, &[a], &[from]);
                        let result = Interval::one(result, width);
                        assert!(result.lies_in(bounds), "{op:?} {from} {width} {a:?}");
                    };
                    for width in from..=5 {
                        check(Op::ZExt, width, x);
                        let sign = x >> (from - 1) == 1;
                        check(Op::SExt, width, if sign { x | !mask(from) } else { x });
                    }
                    for width in 1..=from {
                        check(Op::Extract, width, x & mask(width));
                    }
                    let zero = Interval::one(0, 2);
                    let bounds = apply(Op::Concat, from + 2, 0, &[zero, a], &[2, from]);
                    assert!(Interval::one(x, from + 2).lies_in(bounds), "{from} {a:?}");
                }
            }
        }
    }

    #[test]
    fn bits_tell_values_apart() {
        for (low, high, bits) in [
            (0, 0, 0),
            (0, 1, 1),
            (3, 8, 4),
            (-1, 0, 1),
            (-1, 1, 2),
            (-8, 7, 4),
            (-9, 0, 5),
        ] {
            assert_eq!(Interval { low, high }.bits(), bits, "{low} {high}");
        }
    }

    #[test]
    fn nothing_is_known_of_wide_values() {
        let rows: &[(Op, u8, &[u8])] = &[
            (Op::Add, 65, &[65, 65]),
            (Op::Mul, 128, &[128, 128]),
            (Op::UDiv, 128, &[128, 128]),
            (Op::LShr, 128, &[128, 128]),
            (Op::Or, 96, &[96, 96]),
            (Op::Ule, 1, &[128, 128]),
            (Op::Ite, 128, &[1, 128, 128]),
            (Op::ZExt, 128, &[64]),
            (Op::ZExt, 128, &[65]),
            (Op::SExt, 65, &[32]),
            (Op::SExt, 128, &[128]),
            (Op::Extract, 64, &[65]),
            (Op::Extract, 1, &[128]),
            (Op::Concat, 128, &[64, 64]),
            (Op::Concat, 66, &[1, 65]),
        ];
        for &(op, width, widths) in rows {
            let zeros: Vec<Interval> = widths.iter().map(|&w| Interval::one(0, w)).collect();
            let wide: Vec<Interval> = widths.iter().map(|&w| Interval::full(w)).collect();
            for args in [zeros, wide] {
                let bounds = apply(op, width, 0, &args, widths);
                assert_eq!(bounds, Interval::full(width), "{op:?} {width} {args:?}");
            }
        }
        for width in [65, 127, 128] {
            assert_eq!(Interval::full(width), Interval::UNKNOWN);
            assert_eq!(Interval::full(width).bits(), 128);
        }
        assert_eq!(Interval::full(64).bits(), 64);
    }

    #[test]
    fn sums_are_bounded() {
        let a = Interval { low: 1, high: 20 };
        let sum = apply(Op::Add, 32, 0, &[a, a], &[32, 32]);
        assert_eq!(sum, Interval { low: 2, high: 40 });
        assert_eq!(apply(Op::Add, 6, 0, &[a, a], &[6, 6]), Interval::full(6));
    }
}
