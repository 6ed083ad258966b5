//! Floating point numbers by their bits (IEEE 754): comparisons, signs, classes and conversions. They
//! are rounded to the nearest, ties to even.

use super::Body;
use super::leaf::{MAX_WIDTH, width};
use super::terms::{Term, Terms};
use crate::ir::{Emit, Kind, Opcode, Type, Value};
use raddle_protocol::expr::{Op, Why};

/// How the bits of a number are laid out, below its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    width: u32,
    /// Bits of the fraction.
    fraction: u32,
}

impl Format {
    /// That of `float` or `double`.
    pub fn of(ty: Type) -> Option<Format> {
        let (width, fraction) = match ty.kind() {
            Kind::LLVMFloatTypeKind => (32, 23),
            Kind::LLVMDoubleTypeKind => (64, 52),
            _ => return None,
        };
        Some(Format { width, fraction })
    }

    fn sign(self) -> u64 {
        1 << (self.width - 1)
    }

    fn bias(self) -> u64 {
        (1 << (self.width - self.fraction - 2)) - 1
    }

    fn infinity(self) -> u64 {
        (2 * self.bias() + 1) << self.fraction
    }

    /// The bit that tells a quiet NaN.
    fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }

    /// The number 2 to this power.
    fn power(self, exponent: u32) -> u64 {
        (self.bias() + u64::from(exponent)) << self.fraction
    }
}

/// Can the result of this instruction be expressed?
pub fn follows(i: Value) -> bool {
    let integer = |ty: Type| ty.kind() == Kind::LLVMIntegerTypeKind;
    let formats = |from: Type, to: Type| Format::of(from).is_some() && Format::of(to).is_some();
    // The widest number on the way has the bits of both.
    let fits = |int: Type, float: Type| {
        Format::of(float).is_some_and(|f| integer(int) && int.int_width() + f.fraction <= MAX_WIDTH)
    };
    match i.opcode() {
        Opcode::LLVMFNeg | Opcode::LLVMFCmp => Format::of(i.operand(0).ty()).is_some(),
        Opcode::LLVMFPExt | Opcode::LLVMFPTrunc => formats(i.operand(0).ty(), i.ty()),
        Opcode::LLVMUIToFP | Opcode::LLVMSIToFP => fits(i.operand(0).ty(), i.ty()),
        Opcode::LLVMFPToUI | Opcode::LLVMFPToSI => fits(i.ty(), i.operand(0).ty()),
        _ => false,
    }
}

impl Body<'_> {
    pub(super) fn floating(&mut self, i: Value) {
        let a = self.term(i.operand(0));
        let from = Format::of(i.operand(0).ty());
        let to = width(self.layout, i.ty()).unwrap_or(0);
        let signed = matches!(i.opcode(), Opcode::LLVMSIToFP | Opcode::LLVMFPToSI);
        let mut exprs = vec![a.expr];
        if i.opcode() == Opcode::LLVMFCmp {
            exprs.push(self.expr(i.operand(1)));
        }
        let mut emit = self.after(i);
        let Some(symbolic) = self.terms.any(&emit, exprs) else {
            return;
        };
        let terms = self.terms;
        let b = (i.opcode() == Opcode::LLVMFCmp).then(|| self.term(i.operand(1)));
        let zero = emit.c32(0);
        let expr = emit.value_when(symbolic, zero, |emit| {
            let term = match (i.opcode(), from, b, Format::of(i.ty())) {
                (Opcode::LLVMFCmp, Some(f), Some(b), _) => {
                    terms.compared(emit, f, i.float_predicate() as u32, a, b)
                }
                (Opcode::LLVMFNeg, Some(f), ..) => {
                    let sign = Term::constant(emit, f.width, f.sign());
                    terms.binary(emit, Op::Xor, a, sign)
                }
                (Opcode::LLVMFPExt, Some(f), _, Some(to)) => terms.extended(emit, f, a, to),
                (Opcode::LLVMFPTrunc, Some(f), _, Some(to)) => terms.truncated(emit, f, a, to),
                (_, None, _, Some(f)) => terms.float_of_integer(emit, a, signed, f),
                (_, Some(f), ..) => terms.integer_of_float(emit, f, a, signed, to),
                _ => a,
            };
            term.expr
        });
        self.set_expr(i, expr);
    }
}

impl Terms<'_> {
    fn with(&self, emit: &mut Emit, op: Op, a: Term, constant: u64) -> Term {
        let constant = Term::constant(emit, a.width, constant);
        self.binary(emit, op, a, constant)
    }

    fn magnitude(&self, emit: &mut Emit, f: Format, a: Term) -> Term {
        self.with(emit, Op::And, a, f.sign() - 1)
    }

    fn sign(&self, emit: &mut Emit, f: Format, a: Term) -> Term {
        self.with(emit, Op::And, a, f.sign())
    }

    fn not(&self, emit: &mut Emit, a: Term) -> Term {
        self.with(emit, Op::Xor, a, 1)
    }

    /// `fcmp`: the predicate's bits say of equal, greater, less and unordered operands whether it
    /// holds.
    fn compared(&self, emit: &mut Emit, f: Format, predicate: u32, a: Term, b: Term) -> Term {
        let [x, y] = [a, b].map(|one| self.magnitude(emit, f, one));
        let [p, q] = [x, y].map(|one| {
            let infinity = Term::constant(emit, f.width, f.infinity());
            self.binary(emit, Op::Ult, infinity, one)
        });
        let unordered = self.binary(emit, Op::Or, p, q);
        // Both zeros are equal.
        let either = self.binary(emit, Op::Or, x, y);
        let zeros = self.with(emit, Op::Eq, either, 0);
        let same = self.binary(emit, Op::Eq, a, b);
        let equal = self.binary(emit, Op::Or, zeros, same);
        // Of negative numbers the greater magnitude is the lesser one.
        let [k, l] = [(a, x), (b, y)].map(|(one, magnitude)| {
            let zero = Term::constant(emit, f.width, 0);
            let negative = self.binary(emit, Op::Slt, one, zero);
            let negated = self.binary(emit, Op::Sub, zero, magnitude);
            self.ite(emit, negative, negated, magnitude)
        });
        let less = self.binary(emit, Op::Slt, k, l);
        let greater = self.binary(emit, Op::Slt, l, k);
        let mut holds = Term::constant(emit, 1, 0);
        for (bit, truth) in [(1, equal), (2, greater), (4, less)] {
            if predicate & bit != 0 {
                holds = self.binary(emit, Op::Or, holds, truth);
            }
        }
        match predicate & 8 {
            0 => {
                let ordered = self.not(emit, unordered);
                self.binary(emit, Op::And, holds, ordered)
            }
            _ => self.binary(emit, Op::Or, holds, unordered),
        }
    }

    /// `copysign`.
    pub fn with_sign(&self, emit: &mut Emit, f: Format, a: Term, b: Term) -> Term {
        let magnitude = self.magnitude(emit, f, a);
        let sign = self.sign(emit, f, b);
        self.binary(emit, Op::Or, magnitude, sign)
    }

    /// `is.fpclass`: signalling and quiet NaN, then, from the least to the greatest, infinity,
    /// normal and subnormal numbers and zero of either sign, by the bits of `classes`.
    pub fn is_class(&self, emit: &mut Emit, f: Format, a: Term, classes: u64) -> Term {
        let x = self.magnitude(emit, f, a);
        let zero = Term::constant(emit, f.width, 0);
        let negative = self.binary(emit, Op::Slt, a, zero);
        let positive = self.not(emit, negative);
        let (normal, infinity) = (1 << f.fraction, f.infinity());
        let quiet = infinity | f.quiet();
        let most = f.sign() - 1;
        let mut holds = Term::constant(emit, 1, 0);
        for (below, above, least, greatest) in [
            (0, 0, infinity + 1, quiet - 1),
            (1, 1, quiet, most),
            (2, 9, infinity, infinity),
            (3, 8, normal, infinity - 1),
            (4, 7, 1, normal - 1),
            (5, 6, 0, 0),
        ] {
            let asked = [below, above].map(|bit| classes & 1 << bit != 0);
            if asked == [false, false] {
                continue;
            }
            let up = Term::constant(emit, f.width, least);
            let up = self.binary(emit, Op::Ule, up, x);
            let down = self.with(emit, Op::Ule, x, greatest);
            let mut inside = self.binary(emit, Op::And, up, down);
            match asked {
                [true, false] => inside = self.binary(emit, Op::And, inside, negative),
                [false, true] => inside = self.binary(emit, Op::And, inside, positive),
                _ => {}
            }
            holds = self.binary(emit, Op::Or, holds, inside);
        }
        holds
    }

    fn resized(&self, emit: &mut Emit, a: Term, to: u32) -> Term {
        let op = if a.width < to { Op::ZExt } else { Op::Extract };
        self.cast(emit, op, a, to)
    }

    /// A natural number; it is `exponent` lower by that many powers of two.
    fn float_of_natural(&self, emit: &mut Emit, a: Term, lower: u64, f: Format) -> Term {
        let exact = a.width <= f.fraction + 1;
        let wide = if exact {
            f.fraction + 1
        } else {
            a.width.max(f.fraction + 2)
        };
        let mut left = self.resized(emit, a, wide);
        let some = self.with(emit, Op::Ne, left, 0);
        let top = f.bias() + u64::from(wide) - 2 - lower;
        let mut exponent = Term::constant(emit, f.width, top);
        for step in [64u32, 32, 16, 8, 4, 2, 1]
            .into_iter()
            .filter(|&s| s < wide)
        {
            let above = self.with(emit, Op::LShr, left, u64::from(wide - step));
            let free = self.with(emit, Op::Eq, above, 0);
            let moved = self.with(emit, Op::Shl, left, u64::from(step));
            left = self.ite(emit, free, moved, left);
            let less = self.with(emit, Op::Sub, exponent, u64::from(step));
            exponent = self.ite(emit, free, less, exponent);
        }
        // The first bit, which the format leaves out, adds 1 to the exponent.
        let mut number = self.with(emit, Op::Shl, exponent, f.fraction.into());
        let drop = wide - 1 - f.fraction;
        let kept = self.with(emit, Op::LShr, left, drop.into());
        let kept = self.resized(emit, kept, f.width);
        number = self.binary(emit, Op::Add, number, kept);
        if !exact {
            let drop = Term::constant(emit, wide, drop.into());
            let up = self.rounds_up(emit, left, drop);
            let up = self.cast(emit, Op::ZExt, up, f.width);
            number = self.binary(emit, Op::Add, number, up);
        }
        // Nothing is left of zero.
        let zero = Term::constant(emit, f.width, 0);
        let some = self.cast(emit, Op::ZExt, some, f.width);
        let mask = self.binary(emit, Op::Sub, zero, some);
        self.binary(emit, Op::And, number, mask)
    }

    /// Is what remains rounded up when the low `drop` bits, at least one, go?
    fn rounds_up(&self, emit: &mut Emit, a: Term, drop: Term) -> Term {
        let one = Term::constant(emit, a.width, 1);
        let unit = self.binary(emit, Op::Shl, one, drop);
        let half = self.with(emit, Op::LShr, unit, 1);
        let below = self.with(emit, Op::Sub, unit, 1);
        let rest = self.binary(emit, Op::And, a, below);
        let more = self.binary(emit, Op::Ult, half, rest);
        let tie = self.binary(emit, Op::Eq, half, rest);
        let kept = self.binary(emit, Op::LShr, a, drop);
        let odd = self.cast(emit, Op::Extract, kept, 1);
        let tie = self.binary(emit, Op::And, tie, odd);
        self.binary(emit, Op::Or, more, tie)
    }

    fn float_of_integer(&self, emit: &mut Emit, a: Term, signed: bool, f: Format) -> Term {
        if !signed {
            return self.float_of_natural(emit, a, 0, f);
        }
        let zero = Term::constant(emit, a.width, 0);
        let negative = self.binary(emit, Op::Slt, a, zero);
        let negated = self.binary(emit, Op::Sub, zero, a);
        let natural = self.ite(emit, negative, negated, a);
        let number = self.float_of_natural(emit, natural, 0, f);
        let sign = self.cast(emit, Op::ZExt, negative, f.width);
        let sign = self.with(emit, Op::Shl, sign, u64::from(f.width) - 1);
        self.binary(emit, Op::Or, number, sign)
    }

    /// Whether the number fits is decided; if not, the result is lost.
    fn integer_of_float(&self, emit: &mut Emit, f: Format, a: Term, signed: bool, to: u32) -> Term {
        let x = self.magnitude(emit, f, a);
        let zero = Term::constant(emit, f.width, 0);
        let negative = self.binary(emit, Op::Slt, a, zero);
        let positive = self.not(emit, negative);
        let small = self.with(emit, Op::Ult, x, f.power(0));
        let power = f.power(to - u32::from(signed));
        let mut fits = self.with(emit, Op::Ult, x, power);
        if signed {
            let least = self.with(emit, Op::Eq, a, power | f.sign());
            fits = self.binary(emit, Op::Or, fits, least);
        } else {
            fits = self.binary(emit, Op::And, fits, positive);
            fits = self.binary(emit, Op::Or, fits, small);
        }
        self.decide(emit, fits, Why::Float);
        let wide = to + f.fraction;
        let fraction = self.with(emit, Op::And, x, (1 << f.fraction) - 1);
        let fraction = self.with(emit, Op::Or, fraction, 1 << f.fraction);
        let fraction = self.resized(emit, fraction, wide);
        let exponent = self.with(emit, Op::LShr, x, f.fraction.into());
        let by = self.with(emit, Op::Sub, exponent, f.bias());
        let by = self.resized(emit, by, wide);
        // Concretely, too far a shift has no value.
        let by = {
            let small = self.resized(emit, small, wide);
            let mask = self.with(emit, Op::Sub, small, 1);
            self.binary(emit, Op::And, by, mask)
        };
        let number = self.binary(emit, Op::Shl, fraction, by);
        let number = self.with(emit, Op::LShr, number, f.fraction.into());
        let number = self.cast(emit, Op::Extract, number, to);
        let zero = Term::constant(emit, to, 0);
        let negated = self.binary(emit, Op::Sub, zero, number);
        let number = self.ite(emit, negative, negated, number);
        let number = self.ite(emit, small, zero, number);
        let found = emit.select(fits.value, number.expr, emit.c32(0));
        let outside = emit.xor(fits.value, emit.int(1).constant(1));
        emit.when(outside, |emit| {
            let why = emit.c32(Why::Float as u32);
            self.hooks.call(emit, "raddle_sym_lost", &[why]);
        });
        Term {
            expr: found,
            ..number
        }
    }

    /// A NaN that becomes one of another format is quiet.
    fn not_a_number(&self, emit: &mut Emit, x: Term, from: Format, to: Format) -> Term {
        let x = match to.fraction.checked_sub(from.fraction) {
            Some(more) => self.with(emit, Op::Shl, x, more.into()),
            None => self.with(emit, Op::LShr, x, (from.fraction - to.fraction).into()),
        };
        let x = self.with(emit, Op::And, x, (1 << to.fraction) - 1);
        self.with(emit, Op::Or, x, to.infinity() | to.quiet())
    }

    fn extended(&self, emit: &mut Emit, f: Format, a: Term, to: Format) -> Term {
        let sign = self.with(emit, Op::LShr, a, u64::from(f.width) - 1);
        let sign = self.resized(emit, sign, to.width);
        let sign = self.with(emit, Op::Shl, sign, u64::from(to.width) - 1);
        let x = self.magnitude(emit, f, a);
        let subnormal = self.with(emit, Op::Ult, x, 1 << f.fraction);
        let finite = self.with(emit, Op::Ult, x, f.infinity());
        let infinite = self.with(emit, Op::Eq, x, f.infinity());
        let fraction = self.cast(emit, Op::Extract, x, f.fraction);
        let lower = f.bias() - 1 + u64::from(f.fraction);
        let low = self.float_of_natural(emit, fraction, lower, to);
        let wide = self.resized(emit, x, to.width);
        let nan = self.not_a_number(emit, wide, f, to);
        let up = self.with(emit, Op::Shl, wide, (to.fraction - f.fraction).into());
        let normal = self.with(emit, Op::Add, up, (to.bias() - f.bias()) << to.fraction);
        let infinity = Term::constant(emit, to.width, to.infinity());
        let other = self.ite(emit, infinite, infinity, nan);
        let number = self.ite(emit, finite, normal, other);
        let number = self.ite(emit, subnormal, low, number);
        self.binary(emit, Op::Or, number, sign)
    }

    fn truncated(&self, emit: &mut Emit, f: Format, a: Term, to: Format) -> Term {
        let sign = self.with(emit, Op::LShr, a, u64::from(f.width) - 1);
        let sign = self.cast(emit, Op::Extract, sign, to.width);
        let sign = self.with(emit, Op::Shl, sign, u64::from(to.width) - 1);
        let x = self.magnitude(emit, f, a);
        let is_nan = {
            let infinity = Term::constant(emit, f.width, f.infinity());
            self.binary(emit, Op::Ult, infinity, x)
        };
        let exponent = self.with(emit, Op::LShr, x, f.fraction.into());
        let fraction = self.with(emit, Op::And, x, (1 << f.fraction) - 1);
        let fraction = self.with(emit, Op::Or, fraction, 1 << f.fraction);
        // The least exponent of a normal number; below it more bits go, at most all.
        let least = f.bias() - to.bias() + 1;
        let low = self.with(emit, Op::Ult, exponent, least);
        let drop = u64::from(f.fraction - to.fraction);
        let usual = Term::constant(emit, f.width, drop);
        let more = Term::constant(emit, f.width, drop + least);
        let more = self.binary(emit, Op::Sub, more, exponent);
        let all = Term::constant(emit, f.width, u64::from(f.fraction) + 3);
        let far = self.binary(emit, Op::Ult, all, more);
        let more = self.ite(emit, far, all, more);
        let drop = self.ite(emit, low, more, usual);
        let kept = self.binary(emit, Op::LShr, fraction, drop);
        let up = self.rounds_up(emit, fraction, drop);
        let up = self.cast(emit, Op::ZExt, up, f.width);
        let own = self.with(emit, Op::Sub, exponent, least);
        let zero = Term::constant(emit, f.width, 0);
        let own = self.ite(emit, low, zero, own);
        let number = self.with(emit, Op::Shl, own, to.fraction.into());
        let number = self.binary(emit, Op::Add, number, kept);
        let number = self.binary(emit, Op::Add, number, up);
        let infinity = Term::constant(emit, f.width, to.infinity());
        let fits = self.binary(emit, Op::Ult, number, infinity);
        let number = self.ite(emit, fits, number, infinity);
        let nan = self.not_a_number(emit, x, f, to);
        let number = self.ite(emit, is_nan, nan, number);
        let number = self.cast(emit, Op::Extract, number, to.width);
        self.binary(emit, Op::Or, number, sign)
    }
}
