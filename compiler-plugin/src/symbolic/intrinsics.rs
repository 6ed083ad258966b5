//! Intrinsic functions that have an expression, in terms of plain operations.

use super::Body;
use super::floats::Format;
use super::leaf::{MAX_WIDTH, leaves, width};
use super::terms::{Term, Terms};
use crate::access::{Access, sets_rounding};
use crate::ir::{Emit, Layout, Value};
use raddle_protocol::expr::{Op, Why};

/// What an intrinsic computes, as far as it is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    /// Its first operand.
    Same,
    /// The smaller or greater of two, by this comparison of the chosen with the other.
    Choice(Op),
    Abs,
    ByteSwap,
    BitReverse,
    Population,
    /// Zeros above (or, `false`, below) the outermost bit.
    Zeros(bool),
    /// A shift of two words side by side; left or right.
    Funnel(bool),
    /// Result and whether it overflowed; signed or not.
    Overflow(Op, bool),
    /// Addition, subtraction or shift to the left that stops at the bounds; signed or not.
    Saturating(Op, bool),
    /// -1, 0 or 1; signed or not.
    ThreeWay(bool),
    Mask,
    /// The floating point number without its sign.
    Magnitude,
    /// The first floating point number with the sign of the second.
    Sign(Format),
    /// Is the floating point number of one of these classes?
    Class(Format, u64),
    /// Says something about its operands and changes nothing.
    Silent,
    /// A variable argument list is written.
    List,
}

fn meaning(layout: Layout, call: Value, name: &str) -> Option<Meaning> {
    // `smax.i32`: the name proper ends where the types begin.
    let mut proper = name;
    while let Some((base, last)) = proper.rsplit_once('.') {
        let digits = last.trim_start_matches(|c: char| c.is_ascii_lowercase());
        if digits.len() == last.len() || !digits.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        proper = base;
    }
    let scalar = call.argument_count() > 0 && width(layout, call.operand(0).ty()).is_some();
    let bits = if scalar {
        width(layout, call.operand(0).ty()).unwrap_or(0)
    } else {
        0
    };
    Some(match proper {
        "assume" | "donothing" | "sideeffect" | "trap" | "debugtrap" | "ubsantrap"
        | "is.constant" | "var.annotation" => Meaning::Silent,
        // Known when it is compiled, unless its last operand says otherwise.
        "objectsize" if call.operand(3).int_value() == 0 => Meaning::Silent,
        _ if [
            "dbg.",
            "lifetime.",
            "invariant.",
            "experimental.noalias",
            "prefetch",
            "stack",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix)) =>
        {
            Meaning::Silent
        }
        "va_start" | "va_copy" => Meaning::List,
        "va_end" => Meaning::Silent,
        _ if !scalar => return None,
        "expect"
        | "expect.with.probability"
        | "ssa.copy"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "annotation"
        | "ptr.annotation"
        | "arithmetic.fence" => Meaning::Same,
        "umin" => Meaning::Choice(Op::Ult),
        "smin" => Meaning::Choice(Op::Slt),
        "umax" => Meaning::Choice(Op::Ule),
        "smax" => Meaning::Choice(Op::Sle),
        "abs" => Meaning::Abs,
        "bswap" => Meaning::ByteSwap,
        "ctpop" => Meaning::Population,
        "ctlz" => Meaning::Zeros(true),
        "cttz" => Meaning::Zeros(false),
        "fshl" if bits > 1 => Meaning::Funnel(true),
        "fshr" if bits > 1 => Meaning::Funnel(false),
        "uadd.with.overflow" => Meaning::Overflow(Op::Add, false),
        "sadd.with.overflow" => Meaning::Overflow(Op::Add, true),
        "usub.with.overflow" => Meaning::Overflow(Op::Sub, false),
        "ssub.with.overflow" => Meaning::Overflow(Op::Sub, true),
        "umul.with.overflow" if bits <= 64 || bits == MAX_WIDTH => {
            Meaning::Overflow(Op::Mul, false)
        }
        "smul.with.overflow" if bits <= 64 || bits == MAX_WIDTH => Meaning::Overflow(Op::Mul, true),
        "uadd.sat" => Meaning::Saturating(Op::Add, false),
        "usub.sat" => Meaning::Saturating(Op::Sub, false),
        "sadd.sat" => Meaning::Saturating(Op::Add, true),
        "ssub.sat" => Meaning::Saturating(Op::Sub, true),
        "ushl.sat" => Meaning::Saturating(Op::Shl, false),
        "sshl.sat" => Meaning::Saturating(Op::Shl, true),
        "bitreverse" => Meaning::BitReverse,
        "ucmp" => Meaning::ThreeWay(false),
        "scmp" => Meaning::ThreeWay(true),
        "ptrmask" => Meaning::Mask,
        "fabs" => Meaning::Magnitude,
        "copysign" => Meaning::Sign(Format::of(call.ty())?),
        "is.fpclass" => Meaning::Class(
            Format::of(call.operand(0).ty())?,
            call.operand(1).int_value(),
        ),
        _ => return None,
    })
}

/// Can the result have an expression, given symbolic operands?
pub fn yields(layout: Layout, call: Value, name: &str) -> bool {
    if Access::of(call).is_some_and(|access| access.is_block()) {
        return false;
    }
    meaning(layout, call, name)
        .is_some_and(|meaning| !matches!(meaning, Meaning::Silent | Meaning::List))
}

impl Body<'_> {
    pub(super) fn intrinsic(&mut self, i: Value, name: &str) {
        if sets_rounding(i, name) {
            let emit = self.before(i);
            let why = emit.c32(Why::Float as u32);
            self.hooks.call(&emit, "raddle_sym_lost", &[why]);
        }
        match meaning(self.layout, i, name) {
            Some(Meaning::Silent) => {}
            Some(Meaning::List) => {
                // Three words on x86-64.
                let emit = self.after(i);
                let arguments = [i.operand(0), emit.c64(24)];
                self.hooks.call(&emit, "raddle_sym_forget", &arguments);
            }
            Some(Meaning::Same) => {
                let shadow = self.shadow(i.operand(0));
                self.set_shadow(i, shadow);
            }
            Some(meaning) if self.tainted.contains(&i) => self.compute(i, meaning),
            Some(_) => {}
            None => {
                let operands: Vec<Value> = i.arguments().collect();
                self.lose_all(i, &operands, super::arith::why_not(i));
            }
        }
    }

    fn compute(&mut self, i: Value, meaning: Meaning) {
        let operands: Vec<Term> = i.arguments().map(|operand| self.term(operand)).collect();
        let mut emit = self.after(i);
        let Some(symbolic) = self.terms.any(&emit, operands.iter().map(|term| term.expr)) else {
            return;
        };
        let parts = leaves(self.layout, i.ty()).len();
        let zero = emit.c32(0);
        // Two parts: a pair of expressions travels as one word out of the guarded block.
        let otherwise = if parts == 2 { emit.c64(0) } else { zero };
        let terms = self.terms;
        let to = width(self.layout, i.ty()).unwrap_or(0);
        let found = emit.value_when(symbolic, otherwise, |emit| {
            let result = terms.meaning(emit, meaning, &operands, to);
            match result.as_slice() {
                [low, high] => super::terms::pack(emit, *low, *high),
                [one] => *one,
                _ => unreachable!("one result or two"),
            }
        });
        if parts == 2 {
            let low = emit.trunc(found, emit.int(32));
            let high = emit.lshr(found, emit.c64(32));
            let high = emit.trunc(high, emit.int(32));
            self.set_shadow(i, vec![low, high]);
        } else {
            self.set_expr(i, found);
        }
    }
}

impl Terms<'_> {
    /// The expressions of the intrinsic's results, the first of `to` bits.
    fn meaning(&self, emit: &mut Emit, meaning: Meaning, operands: &[Term], to: u32) -> Vec<Value> {
        let a = operands[0];
        let b = operands.get(1).copied().unwrap_or(a);
        let term = match meaning {
            Meaning::Choice(op) => self.choice(emit, op, a, b),
            Meaning::Abs => self.absolute(emit, a),
            Meaning::ByteSwap => self.reversed(emit, a, 8),
            Meaning::BitReverse => self.reversed(emit, a, 1),
            Meaning::Population => self.population(emit, a),
            Meaning::Zeros(above) => self.zeros(emit, a, above),
            Meaning::Funnel(left) => self.funnel(emit, operands, left),
            Meaning::Overflow(op, signed) => return self.overflow(emit, op, signed, a, b),
            Meaning::Saturating(op, false) => self.saturating(emit, op, a, b),
            Meaning::Saturating(op, true) => self.saturating_signed(emit, op, a, b),
            Meaning::ThreeWay(signed) => self.three_way(emit, signed, a, b, to),
            Meaning::Mask => {
                let b = self.cast(emit, Op::ZExt, b, a.width);
                self.binary(emit, Op::And, a, b)
            }
            Meaning::Magnitude => {
                let mask = Term::constant(emit, a.width, u64::MAX >> (65 - a.width));
                self.binary(emit, Op::And, a, mask)
            }
            Meaning::Sign(format) => self.with_sign(emit, format, a, b),
            Meaning::Class(format, classes) => self.is_class(emit, format, a, classes),
            Meaning::Same | Meaning::Silent | Meaning::List => a,
        };
        vec![term.expr]
    }

    fn choice(&self, emit: &mut Emit, op: Op, a: Term, b: Term) -> Term {
        // A minimum takes `a` when it is less, a maximum when `b` is not greater.
        let first = match op {
            Op::Ult | Op::Slt => self.binary(emit, op, a, b),
            _ => self.binary(emit, op, b, a),
        };
        self.ite(emit, first, a, b)
    }

    fn absolute(&self, emit: &mut Emit, a: Term) -> Term {
        let zero = Term::constant(emit, a.width, 0);
        let negative = self.binary(emit, Op::Slt, a, zero);
        let negated = self.binary(emit, Op::Sub, zero, a);
        self.ite(emit, negative, negated, a)
    }

    fn shifted(&self, emit: &mut Emit, op: Op, a: Term, by: u32) -> Term {
        let by = Term::constant(emit, a.width, u64::from(by));
        self.binary(emit, op, a, by)
    }

    fn masked(&self, emit: &mut Emit, a: Term, mask: u64) -> Term {
        let mask = Term::constant(emit, a.width, mask);
        self.binary(emit, Op::And, a, mask)
    }

    /// Pieces of so many bits in the opposite order.
    fn reversed(&self, emit: &mut Emit, a: Term, bits: u32) -> Term {
        let pieces = a.width / bits;
        let mut whole = Term::constant(emit, a.width, 0);
        for piece in 0..pieces {
            let down = self.shifted(emit, Op::LShr, a, bits * piece);
            let alone = self.masked(emit, down, (1 << bits) - 1);
            let up = self.shifted(emit, Op::Shl, alone, bits * (pieces - 1 - piece));
            whole = self.binary(emit, Op::Or, whole, up);
        }
        whole
    }

    /// Bit by bit: widths are arbitrary.
    fn population(&self, emit: &mut Emit, a: Term) -> Term {
        let mut sum = Term::constant(emit, a.width, 0);
        for bit in 0..a.width {
            let down = self.shifted(emit, Op::LShr, a, bit);
            let alone = self.masked(emit, down, 1);
            sum = self.binary(emit, Op::Add, sum, alone);
        }
        sum
    }

    fn zeros(&self, emit: &mut Emit, a: Term, above: bool) -> Term {
        // The bit that is looked at last is the one that decides.
        let mut count = Term::constant(emit, a.width, u64::from(a.width));
        for step in 0..a.width {
            let (bit, zeros) = if above {
                (step, a.width - 1 - step)
            } else {
                (a.width - 1 - step, a.width - 1 - step)
            };
            let down = self.shifted(emit, Op::LShr, a, bit);
            let set = self.cast(emit, Op::Extract, down, 1);
            let zeros = Term::constant(emit, a.width, u64::from(zeros));
            count = self.ite(emit, set, zeros, count);
        }
        count
    }

    fn funnel(&self, emit: &mut Emit, operands: &[Term], left: bool) -> Term {
        let [high, low, by] = [operands[0], operands[1], operands[2]];
        let width = Term::constant(emit, high.width, u64::from(high.width));
        let by = match high.width.is_power_of_two() {
            true => self.masked(emit, by, u64::from(high.width - 1)),
            false => self.binary(emit, Op::URem, by, width),
        };
        let last = Term::constant(emit, high.width, u64::from(high.width - 1));
        let rest = self.binary(emit, Op::Sub, last, by);
        // The other word moves by width - by, in two steps because that may be the whole width.
        let (kept, other) = if left {
            let kept = self.binary(emit, Op::Shl, high, by);
            let half = self.shifted(emit, Op::LShr, low, 1);
            (kept, self.binary(emit, Op::LShr, half, rest))
        } else {
            let kept = self.binary(emit, Op::LShr, low, by);
            let half = self.shifted(emit, Op::Shl, high, 1);
            (kept, self.binary(emit, Op::Shl, half, rest))
        };
        self.binary(emit, Op::Or, kept, other)
    }

    /// Did an addition or subtraction of signed numbers leave their range?
    fn left_range(&self, emit: &mut Emit, op: Op, a: Term, b: Term, result: Term) -> Term {
        // The signs of the operands (of the subtrahend's complement) agree, and the result's
        // differs.
        let zero = Term::constant(emit, a.width, 0);
        let (other, one) = if op == Op::Add { (result, b) } else { (b, a) };
        let x = self.binary(emit, Op::Xor, a, other);
        let y = self.binary(emit, Op::Xor, one, result);
        let both = self.binary(emit, Op::And, x, y);
        self.binary(emit, Op::Slt, both, zero)
    }

    fn overflow(&self, emit: &mut Emit, op: Op, signed: bool, a: Term, b: Term) -> Vec<Value> {
        let result = self.binary(emit, op, a, b);
        let flag = match (op, signed) {
            (Op::Add, false) => self.binary(emit, Op::Ult, result, a),
            (Op::Sub, false) => self.binary(emit, Op::Ult, a, b),
            (Op::Add | Op::Sub, true) => self.left_range(emit, op, a, b, result),
            _ if a.width == MAX_WIDTH => self.product_left_range(emit, signed, a, b),
            _ => {
                let extend = if signed { Op::SExt } else { Op::ZExt };
                let (x, y) = (
                    self.cast(emit, extend, a, 2 * a.width),
                    self.cast(emit, extend, b, 2 * a.width),
                );
                let exact = self.binary(emit, Op::Mul, x, y);
                let again = self.cast(emit, extend, result, 2 * a.width);
                self.binary(emit, Op::Ne, exact, again)
            }
        };
        vec![result.expr, flag.expr]
    }

    /// Did a product of 128 bits leave its range? By the products of the halves, which fit.
    fn product_left_range(&self, emit: &mut Emit, signed: bool, a: Term, b: Term) -> Term {
        let zero = Term::constant(emit, a.width, 0);
        let [x, y] = match signed {
            true => [a, b].map(|one| self.absolute(emit, one)),
            false => [a, b],
        };
        let half = a.width / 2;
        let [(x_high, x_low), (y_high, y_low)] = [x, y].map(|one| {
            let high = self.shifted(emit, Op::LShr, one, half);
            let low = self.cast(emit, Op::Extract, one, half);
            (high, self.cast(emit, Op::ZExt, low, a.width))
        });
        let first = self.binary(emit, Op::Ne, x_high, zero);
        let second = self.binary(emit, Op::Ne, y_high, zero);
        let both = self.binary(emit, Op::And, first, second);
        let one = self.binary(emit, Op::Mul, x_high, y_low);
        let other = self.binary(emit, Op::Mul, x_low, y_high);
        let middle = self.binary(emit, Op::Add, one, other);
        let above = self.shifted(emit, Op::LShr, middle, half);
        let above = self.binary(emit, Op::Ne, above, zero);
        let low = self.binary(emit, Op::Mul, x_low, y_low);
        let middle = self.shifted(emit, Op::Shl, middle, half);
        let whole = self.binary(emit, Op::Add, middle, low);
        let carry = self.binary(emit, Op::Ult, whole, low);
        let over = self.binary(emit, Op::Or, both, above);
        let over = self.binary(emit, Op::Or, over, carry);
        if !signed {
            return over;
        }
        // The greatest size below zero is one more than above.
        let signs = self.binary(emit, Op::Xor, a, b);
        let negative = self.binary(emit, Op::Slt, signs, zero);
        let least = Term::least(emit, a.width);
        let below = self.binary(emit, Op::Ult, least, whole);
        let above = self.binary(emit, Op::Ule, least, whole);
        let beyond = self.ite(emit, negative, below, above);
        self.binary(emit, Op::Or, over, beyond)
    }

    /// Did bits get lost on the way to the left?
    fn shifted_out(&self, emit: &mut Emit, back: Op, a: Term, by: Term, shifted: Term) -> Term {
        let again = self.binary(emit, back, shifted, by);
        self.binary(emit, Op::Ne, again, a)
    }

    fn saturating_signed(&self, emit: &mut Emit, op: Op, a: Term, b: Term) -> Term {
        let plain = self.binary(emit, op, a, b);
        let over = match op {
            Op::Shl => self.shifted_out(emit, Op::AShr, a, b, plain),
            _ => self.left_range(emit, op, a, b, plain),
        };
        let zero = Term::constant(emit, a.width, 0);
        let negative = self.binary(emit, Op::Slt, a, zero);
        let least = Term::least(emit, a.width);
        let most = emit.xor(least.value, Term::ones(emit, a.width).value);
        let most = Term::concrete(emit, most, a.width);
        let bound = self.ite(emit, negative, least, most);
        self.ite(emit, over, bound, plain)
    }

    fn saturating(&self, emit: &mut Emit, op: Op, a: Term, b: Term) -> Term {
        let plain = self.binary(emit, op, a, b);
        if matches!(op, Op::Add | Op::Shl) {
            let over = match op {
                Op::Shl => self.shifted_out(emit, Op::LShr, a, b, plain),
                _ => self.binary(emit, Op::Ult, plain, a),
            };
            let most = Term::ones(emit, a.width);
            self.ite(emit, over, most, plain)
        } else {
            let under = self.binary(emit, Op::Ult, a, b);
            let least = Term::constant(emit, a.width, 0);
            self.ite(emit, under, least, plain)
        }
    }

    /// A number of `to` bits.
    fn three_way(&self, emit: &mut Emit, signed: bool, a: Term, b: Term, to: u32) -> Term {
        let op = if signed { Op::Slt } else { Op::Ult };
        let less = self.binary(emit, op, a, b);
        let greater = self.binary(emit, op, b, a);
        let [minus, zero, one] = [u64::MAX, 0, 1].map(|n| Term::constant(emit, to, n));
        let rest = self.ite(emit, greater, one, zero);
        self.ite(emit, less, minus, rest)
    }
}
