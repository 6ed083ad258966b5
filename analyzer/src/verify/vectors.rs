//! Bit vectors as truths, and operations on them as circuits; with the meanings of SMT-LIB's theory
//! of bit vectors.

use super::circuit::{Bool, all, any};
use super::terms::{Term, TermId, Terms};
use raddle_protocol::expr::Op;
use std::rc::Rc;

/// Truths, the lowest bit first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BV(Rc<[Bool]>);

impl BV {
    /// A variable of `width` bits.
    pub fn new_const(name: String, width: u32) -> BV {
        BV(Bool::several(name, width).collect())
    }

    /// The bits, the lowest first.
    pub fn truths(&self) -> &[Bool] {
        &self.0
    }

    /// How many bits.
    pub fn size(&self) -> u32 {
        self.0.len() as u32
    }

    fn sign(&self) -> Bool {
        self.0.last().cloned().unwrap_or(Bool::from_bool(false))
    }

    fn pairs<'v>(&'v self, other: &'v BV) -> impl DoubleEndedIterator<Item = (&'v Bool, &'v Bool)> {
        self.0.iter().zip(other.0.iter())
    }

    fn each(&self, with: &BV, of: impl Fn(&Bool, &Bool) -> Bool) -> BV {
        BV(self.pairs(with).map(|(a, b)| of(a, b)).collect())
    }

    /// Bits `low` to `high`, both included.
    pub fn extract(&self, high: u32, low: u32) -> BV {
        BV(self.0[low as usize..=high as usize].into())
    }

    /// This above `low`.
    pub fn concat(&self, low: &BV) -> BV {
        BV(low.0.iter().chain(self.0.iter()).cloned().collect())
    }

    fn extended(&self, by: u32, with: &Bool) -> BV {
        let more = (0..by).map(|_| with);
        BV(self.0.iter().chain(more).cloned().collect())
    }

    pub fn zero_ext(&self, by: u32) -> BV {
        self.extended(by, &Bool::from_bool(false))
    }

    pub fn sign_ext(&self, by: u32) -> BV {
        self.extended(by, &self.sign())
    }

    fn complement(&self) -> BV {
        BV(self.0.iter().map(Bool::not).collect())
    }

    /// The sum with a carry into the lowest bit.
    fn sum(&self, other: &BV, mut carry: Bool) -> BV {
        let bits = self.pairs(other).map(|(a, b)| {
            let sum = a.xor(b).xor(&carry);
            carry = Bool::majority(a, b, &carry);
            sum
        });
        BV(bits.collect())
    }

    pub fn add(&self, other: &BV) -> BV {
        self.sum(other, Bool::from_bool(false))
    }

    pub fn sub(&self, other: &BV) -> BV {
        self.sum(&other.complement(), Bool::from_bool(true))
    }

    fn negated(&self) -> BV {
        constant(0, self.size() as u8).sub(self)
    }

    fn absolute(&self) -> BV {
        self.sign().ite(&self.negated(), self)
    }

    fn mul(&self, other: &BV) -> BV {
        // The one with more constant bits says what is added.
        let known = |v: &BV| v.0.iter().filter(|b| b.is_constant()).count();
        let (adds, added) = match known(self) > known(other) {
            true => (self, other),
            false => (other, self),
        };
        let width = self.size();
        let mut sum = constant(0, width as u8);
        for (bit, shift) in adds.0.iter().zip(0..) {
            if *bit != Bool::from_bool(false) {
                let zeros = (0..shift).map(|_| Bool::from_bool(false));
                let moved = added.0.iter().take((width - shift) as usize);
                let part = zeros.chain(moved.map(|b| all(&[bit.clone(), b.clone()])));
                sum = sum.add(&BV(part.collect()));
            }
        }
        sum
    }

    /// Quotient and remainder of the division without signs, digit by digit; by zero: all ones, and
    /// the dividend.
    fn divided(&self, by: &BV) -> (BV, BV) {
        let by = by.zero_ext(1);
        let mut rest = constant(0, by.size() as u8);
        let mut quotient = Vec::new();
        for bit in self.0.iter().rev() {
            let kept = rest.0.iter().take(self.0.len()).cloned();
            rest = BV(std::iter::once(bit.clone()).chain(kept).collect());
            let fits = rest.ult(&by).not();
            rest = fits.ite(&rest.sub(&by), &rest);
            quotient.push(fits);
        }
        quotient.reverse();
        (BV(quotient.into()), rest.extract(self.size() - 1, 0))
    }

    pub fn udiv(&self, other: &BV) -> BV {
        self.divided(other).0
    }

    pub fn urem(&self, other: &BV) -> BV {
        self.divided(other).1
    }

    fn sdiv(&self, other: &BV) -> BV {
        let quotient = self.absolute().udiv(&other.absolute());
        let negative = self.sign().xor(other.sign());
        negative.ite(&quotient.negated(), &quotient)
    }

    fn srem(&self, other: &BV) -> BV {
        let rest = self.absolute().urem(&other.absolute());
        self.sign().ite(&rest.negated(), &rest)
    }

    /// Moved up or down by `by` bits, with `fill` in what becomes free.
    fn shifted(&self, by: &BV, up: bool, fill: &Bool) -> BV {
        let width = self.0.len();
        let stages = width.next_power_of_two().trailing_zeros() as usize;
        let mut moved = self.clone();
        for (stage, bit) in by.0.iter().enumerate().take(stages) {
            let far = 1 << stage;
            let from = |n: usize| match up {
                true => n.checked_sub(far),
                false => Some(n + far).filter(|&m| m < width),
            };
            let shifted = (0..width).map(|n| from(n).map_or(fill, |m| &moved.0[m]));
            moved = BV(shifted
                .zip(moved.0.iter())
                .map(|(then, stays)| bit.choose(then, stays))
                .collect());
        }
        let high: Vec<Bool> = by.0.iter().skip(stages).cloned().collect();
        let filled = BV(self.0.iter().map(|_| fill.clone()).collect());
        any(&high).ite(&filled, &moved)
    }

    pub fn ult(&self, other: &BV) -> Bool {
        let less = |less, (a, b): (&Bool, &Bool)| Bool::majority(&a.not(), b, &less);
        self.pairs(other).fold(Bool::from_bool(false), less)
    }

    pub fn slt(&self, other: &BV) -> Bool {
        let flip = |v: &BV| {
            let mut bits = v.0.to_vec();
            if let Some(sign) = bits.last_mut() {
                *sign = sign.not();
            }
            BV(bits.into())
        };
        flip(self).ult(&flip(other))
    }
}

impl Bool {
    /// `a` if this holds, otherwise `b`.
    pub fn ite(&self, a: &BV, b: &BV) -> BV {
        a.each(b, |a, b| self.choose(a, b))
    }
}

/// `a == b`.
pub fn equal(a: &BV, b: &BV) -> Bool {
    let same: Vec<Bool> = a.pairs(b).map(|(a, b)| a.iff(b)).collect();
    all(&same)
}

/// A constant of `width` bits.
pub fn constant(value: u64, width: u8) -> BV {
    let bit = |n: u8| Bool::from_bool(n < 64 && value >> n & 1 == 1);
    BV((0..width).map(bit).collect())
}

/// Terms as circuits. Each is built once.
#[derive(Default)]
pub struct Values {
    built: Vec<Option<BV>>,
}

impl Values {
    /// The form of a term; `leaf` gives that of inputs and reads.
    pub fn get(&mut self, terms: &Terms, id: TermId, leaf: &mut dyn FnMut(Term) -> BV) -> BV {
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            let index = top as usize;
            if self.built.len() <= index {
                self.built.resize(index + 1, None);
            }
            if self.built[index].is_some() {
                stack.pop();
                continue;
            }
            let term = terms.get(top);
            let built = match term {
                Term::Const { width, value } => constant(value, width),
                Term::Input { .. } | Term::Read { .. } => leaf(term),
                Term::Op {
                    op,
                    width,
                    extra,
                    args,
                } => {
                    let have =
                        |a: &&TermId| self.built.get(**a as usize).is_none_or(Option::is_none);
                    if let Some(&missing) = args[..op.arity()].iter().find(have) {
                        stack.push(missing);
                        continue;
                    }
                    let used = |i: usize| if i < op.arity() { args[i] } else { args[0] };
                    let arg = |i: usize| self.built[used(i) as usize].as_ref();
                    match (arg(0), arg(1), arg(2)) {
                        (Some(a), Some(b), Some(c)) => apply(op, width, extra, a, b, c),
                        _ => constant(0, width),
                    }
                }
            };
            self.built[index] = Some(built);
            stack.pop();
        }
        match &self.built[id as usize] {
            Some(value) => value.clone(),
            None => constant(0, terms.get(id).width()),
        }
    }
}

/// One operation; `b` and `c` are only looked at where the operation has them.
fn apply(op: Op, width: u8, extra: u16, a: &BV, b: &BV, c: &BV) -> BV {
    let wider = u32::from(width).saturating_sub(a.size());
    let truth = |t: Bool| BV([t].into());
    let zero = Bool::from_bool(false);
    match op {
        Op::Const | Op::Input | Op::Read => a.clone(),
        Op::Add => a.add(b),
        Op::Sub => a.sub(b),
        Op::Mul => a.mul(b),
        Op::UDiv => a.udiv(b),
        Op::SDiv => a.sdiv(b),
        Op::URem => a.urem(b),
        Op::SRem => a.srem(b),
        Op::Shl => a.shifted(b, true, &zero),
        Op::LShr => a.shifted(b, false, &zero),
        Op::AShr => a.shifted(b, false, &a.sign()),
        Op::And => a.each(b, |a, b| all(&[a.clone(), b.clone()])),
        Op::Or => a.each(b, |a, b| any(&[a.clone(), b.clone()])),
        Op::Xor => a.each(b, |a, b| a.xor(b)),
        Op::Eq => truth(equal(a, b)),
        Op::Ne => truth(equal(a, b).not()),
        Op::Ult => truth(a.ult(b)),
        Op::Ule => truth(b.ult(a).not()),
        Op::Slt => truth(a.slt(b)),
        Op::Sle => truth(b.slt(a).not()),
        Op::Ite => a.truths()[0].ite(b, c),
        Op::ZExt => a.zero_ext(wider),
        Op::SExt => a.sign_ext(wider),
        Op::Extract => a.extract(u32::from(extra) + u32::from(width) - 1, extra.into()),
        Op::Concat => a.concat(b),
    }
}

#[cfg(test)]
mod tests {
    use super::super::circuit::Bool;
    use super::super::sat::bits;
    use super::super::solver::{Answer, Context, Limits};
    use super::{BV, apply, constant, equal};
    use raddle_protocol::expr::Op;

    /// Numbers with something special about them, and others.
    fn numbers(width: u8) -> Vec<u64> {
        let mask = u64::MAX >> (64 - width);
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            random >> 7
        };
        let special = [
            0,
            1,
            2,
            3,
            7,
            u64::MAX,
            mask >> 1,
            (mask >> 1) + 1,
            u64::from(width),
        ];
        let all: Vec<u64> = special.into_iter().chain([next(), next()]).collect();
        all.into_iter().map(|n| n & mask).collect()
    }

    fn computed(op: Op, width: u8, a: u64, b: u64) -> u64 {
        let result = op.compute(width, a.into(), b.into());
        result.expect("the operation is binary") as u64
    }

    fn width_of(op: Op, width: u8) -> u8 {
        if op.is_comparison() { 1 } else { width }
    }

    #[test]
    fn constants_are_computed() {
        for op in Op::BINARY {
            for width in [1, 3, 8, 24, 32, 64] {
                let unused = constant(0, 1);
                for a in numbers(width) {
                    for b in numbers(width) {
                        let (x, y) = (constant(a, width), constant(b, width));
                        let got = apply(op, width_of(op, width), 0, &x, &y, &unused);
                        let expected = constant(computed(op, width, a, b), width_of(op, width));
                        assert_eq!(got, expected, "{op:?} of {a} and {b}, {width} bits");
                    }
                }
            }
        }
    }

    /// One, or none, of the operands is known: the solver finds the result, and no other one.
    #[test]
    fn the_solver_finds_the_same() {
        let limits = Limits {
            deadline: None,
            asked: None,
        };
        for op in Op::BINARY {
            for (width, known) in [(1, 0), (5, 0), (8, 1), (8, 2), (16, 0), (32, 2), (64, 1)] {
                let mut context = Context::default();
                let solver = context.solver();
                let numbers = numbers(width);
                for (n, &a) in numbers.iter().enumerate() {
                    let b = numbers[(n * 5 + 3) % numbers.len()];
                    let side = |name: &str, fixed: bool, value: u64| match fixed {
                        true => constant(value, width),
                        false => BV::new_const(name.into(), width.into()),
                    };
                    let (x, y) = (side("x", known == 1, a), side("y", known == 2, b));
                    let to = width_of(op, width);
                    let got = apply(op, to, 0, &x, &y, &constant(0, 1));
                    solver.push();
                    solver.assert(&equal(&x, &constant(a, width)));
                    solver.assert(&equal(&y, &constant(b, width)));
                    let result = BV::new_const(format!("r{to}"), to.into());
                    solver.assert(&equal(&result, &got));
                    let text = format!("{op:?} of {a} and {b}, {width} bits");
                    let Answer::Sat(model) = solver.check(limits) else {
                        panic!("{text}: nothing found");
                    };
                    let expected = computed(op, width, a, b);
                    assert_eq!(bits(&model, &result), expected, "{text}");
                    assert_eq!(bits(&model, &got), expected, "{text}");
                    solver.assert(&equal(&result, &constant(expected, to)).not());
                    assert!(matches!(solver.check(limits), Answer::Unsat), "{text}");
                    solver.pop();
                }
            }
        }
    }

    /// All gates of three variables against what they mean, by their values and by the solver.
    #[test]
    fn gates_mean_what_they_say() {
        let limits = Limits {
            deadline: None,
            asked: None,
        };
        let mut context = Context::default();
        let solver = context.solver();
        let pick = |n: usize, of: &[Bool; 3]| match n {
            0..3 => of[n].clone(),
            3..6 => of[n - 3].not(),
            n => Bool::from_bool(n == 6),
        };
        for case in 0..8_usize.pow(3) {
            let numbers = [case % 8, case / 8 % 8, case / 64];
            for row in 0..8 {
                let variables = ["a", "b", "c"].map(Bool::new_const);
                let known = [0, 1, 2].map(|n| row >> n & 1 == 1);
                let fixed = known.map(Bool::from_bool);
                let [a, b, c] = numbers.map(|n| pick(n, &variables));
                let [x, y, z] = numbers.map(|n| pick(n, &fixed) == Bool::from_bool(true));
                solver.push();
                for (variable, value) in variables.iter().zip(&fixed) {
                    solver.assert(&variable.iff(value));
                }
                let gates = [
                    (super::all(&[a.clone(), b.clone(), c.clone()]), x & y & z),
                    (super::any(&[a.clone(), b.clone(), c.clone()]), x | y | z),
                    (a.xor(&b).xor(&c), x ^ y ^ z),
                    (a.choose(&b, &c), if x { y } else { z }),
                    (Bool::majority(&a, &b, &c), x & y | x & z | y & z),
                    (a.implies(&b), !x | y),
                ];
                for (gate, value) in gates {
                    solver.push();
                    solver.assert(&gate);
                    let found = matches!(solver.check(limits), Answer::Sat(_));
                    assert_eq!(found, value, "case {case}, row {row}");
                    solver.pop();
                }
                solver.pop();
            }
        }
    }
}
