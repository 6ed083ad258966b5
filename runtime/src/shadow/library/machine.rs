//! What models are written in: values with expressions, memory, decisions.

use crate::shadow::nodes::{Expr, Nodes, mask};
use crate::shadow::simplify::Operand;
use raddle_protocol::expr::{Op, Why};

/// A value of `width` bits with its expression (0: concrete).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Val {
    pub expr: Expr,
    pub value: u64,
    pub width: u8,
}

impl Val {
    /// A constant.
    pub fn of(width: u8, value: u64) -> Val {
        Val {
            expr: 0,
            value: value & mask(width),
            width,
        }
    }

    /// A constant byte.
    pub fn byte(value: u8) -> Val {
        Val::of(8, value.into())
    }

    /// A constant address or size.
    pub fn word(value: u64) -> Val {
        Val::of(64, value)
    }

    fn operand(self) -> Operand {
        Operand {
            expr: self.expr,
            value: self.value,
        }
    }

    /// The value as a signed number.
    pub fn signed(self) -> i64 {
        let unused = 64 - u32::from(self.width);
        (self.value << unused) as i64 >> unused
    }
}

/// What a model runs on: the program's memory and the shadow, or a stand-in in tests.
pub trait Machine {
    /// Where expressions are built.
    fn nodes(&mut self) -> &mut Nodes;
    /// Reads a byte of the program.
    fn read(&mut self, at: u64) -> Val;
    /// Writes a byte of the program.
    fn write(&mut self, at: u64, byte: Val);
    /// Writes a value of 8, 16, 32 or 64 bits.
    fn write_value(&mut self, at: u64, value: Val);
    /// Writes a word.
    fn write_word(&mut self, at: u64, value: u64);
    /// Reads a value of 8, 16, 32 or 64 bits.
    fn read_value(&mut self, at: u64, width: u8) -> Val;
    /// As `memmove`.
    fn copy(&mut self, to: u64, from: u64, len: u64);
    /// As `memset`.
    fn fill(&mut self, to: u64, byte: Val, len: u64);
    /// Records a decision.
    fn decide(&mut self, on: Val, why: Why);
    /// Calls a function of the program that compares what lies at two addresses.
    fn compare(&mut self, function: u64, a: u64, b: u64) -> Val;
    /// Makes a block of the program with a copy of these bytes and a NUL; 0 if there is no room.
    fn duplicate(&mut self, from: u64, len: u64) -> u64;
    /// Memory for a model's own use.
    fn borrow(&mut self, len: u64) -> u64;
    /// Its end.
    fn give_back(&mut self, at: u64, len: u64);
    /// Sets `errno`.
    fn fail(&mut self, error: i32);
    /// Prints on standard error.
    fn complain(&mut self, text: &[u8]);

    /// Reads an address; a symbolic one is decided upon.
    fn read_word(&mut self, at: u64) -> u64 {
        let word = self.read_value(at, 64);
        self.concrete(word, Why::Address)
    }

    /// Reads an `int`; a symbolic one is decided upon.
    fn read_number(&mut self, at: u64) -> i32 {
        let number = self.read_value(at, 32);
        self.concrete(number, Why::Size) as i32
    }

    /// An operation on two values of equal width.
    fn binary(&mut self, op: Op, a: Val, b: Val) -> Val {
        let (x, y) = (a.value, b.value);
        let (value, width) = match op {
            Op::Add => (x.wrapping_add(y), a.width),
            Op::Sub => (x.wrapping_sub(y), a.width),
            Op::Mul => (x.wrapping_mul(y), a.width),
            Op::And => (x & y, a.width),
            Op::LShr => (x >> y, a.width),
            Op::Eq => (u64::from(x == y), 1),
            Op::Ne => (u64::from(x != y), 1),
            Op::Ult => (u64::from(x < y), 1),
            Op::Ule => (u64::from(x <= y), 1),
            Op::Slt => (u64::from(a.signed() < b.signed()), 1),
            Op::Sle => (u64::from(a.signed() <= b.signed()), 1),
            _ => unreachable!("no model uses it"),
        };
        let expr = match a.expr | b.expr {
            0 => 0,
            _ => self.nodes().binary(op, a.width, a.operand(), b.operand()),
        };
        Val {
            expr,
            ..Val::of(width, value)
        }
    }

    /// An operation with a constant.
    fn with(&mut self, op: Op, a: Val, b: u64) -> Val {
        self.binary(op, a, Val::of(a.width, b))
    }

    /// Zero- or sign-extends (`op`).
    fn extend(&mut self, op: Op, a: Val, width: u8) -> Val {
        let value = match op {
            Op::SExt => a.signed() as u64,
            _ => a.value,
        };
        let expr = self.nodes().extend(op, a.expr, width);
        Val {
            expr,
            ..Val::of(width, value)
        }
    }

    /// The lowest bits.
    fn low(&mut self, a: Val, width: u8) -> Val {
        let expr = self.nodes().extract(a.expr, 0, width);
        Val {
            expr,
            ..Val::of(width, a.value)
        }
    }

    /// `condition ? a : b`, without a decision.
    fn choose(&mut self, condition: Val, a: Val, b: Val) -> Val {
        let chosen = if condition.value != 0 { a } else { b };
        let expr = match condition.expr {
            0 => chosen.expr,
            _ => {
                let (condition, x, y) = (condition.operand(), a.operand(), b.operand());
                self.nodes().ite(a.width, condition, x, y)
            }
        };
        Val { expr, ..chosen }
    }

    /// Decides on a truth value.
    fn holds(&mut self, condition: Val) -> bool {
        self.decide(condition, Why::Branch);
        condition.value != 0
    }

    /// Decides whether it is this.
    fn is(&mut self, a: Val, what: u64) -> bool {
        let equal = self.with(Op::Eq, a, what);
        self.holds(equal)
    }

    /// Decides whether two values are the same.
    fn same(&mut self, a: Val, b: Val) -> bool {
        let equal = self.binary(Op::Eq, a, b);
        self.holds(equal)
    }

    /// An address, a size or a count: concrete by a decision.
    fn concrete(&mut self, a: Val, why: Why) -> u64 {
        self.decide(a, why);
        a.value
    }
}
