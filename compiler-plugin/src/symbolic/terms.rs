//! Builds expressions beside concrete values. A hook is called only where an operand is symbolic.

use crate::convert::{to_int, widened};
use crate::hooks::Hooks;
use crate::ir::{Emit, Predicate, Value};
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::hooks::RESULT;

/// A value of the program or one computed for an expression's sake, with its expression.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// An `i32`; 0: concrete.
    pub expr: Value,
    /// An integer, pointer or floating point value of `width` bits.
    pub value: Value,
    pub width: u32,
}

/// Is it known that there is no expression?
pub fn is_zero(expr: Value) -> bool {
    expr.as_int_constant().is_some_and(|c| c.int_value() == 0)
}

impl Term {
    /// A constant.
    pub fn constant(emit: &Emit, width: u32, value: u64) -> Term {
        Term {
            expr: emit.c32(0),
            value: emit.int(width).constant(value),
            width,
        }
    }

    /// The constant whose bits are all 1.
    pub fn ones(emit: &Emit, width: u32) -> Term {
        let value = emit.int(width).all_ones();
        Term::concrete(emit, value, width)
    }

    /// The least signed number.
    pub fn least(emit: &Emit, width: u32) -> Term {
        let int = emit.int(width);
        let value = emit.shl(int.constant(1), int.constant(u64::from(width) - 1));
        Term::concrete(emit, value, width)
    }

    /// A value without an expression.
    pub fn concrete(emit: &Emit, value: Value, width: u32) -> Term {
        let expr = emit.c32(0);
        Term { expr, value, width }
    }

    /// The value as an integer of `width` bits.
    pub fn int(self, emit: &Emit) -> Value {
        to_int(emit, self.value, self.width)
    }

    /// The halves of a value of more than 64 bits as hooks take them, the low one first.
    pub fn halves(self, emit: &Emit) -> [Value; 2] {
        let int = self.int(emit);
        let above = emit.lshr(int, int.ty().constant(64));
        [int, above].map(|half| widened(emit, half))
    }

    /// The value as hooks take it; of a wide one the low half.
    pub fn wide(self, emit: &Emit) -> Value {
        widened(emit, self.int(emit))
    }
}

/// The hooks by which expressions come into being and are decided upon.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    pub hooks: &'a Hooks,
}

impl Terms<'_> {
    /// Is any of the expressions there? `None` when certainly not.
    pub fn any(&self, emit: &Emit, exprs: impl IntoIterator<Item = Value>) -> Option<Value> {
        let together = exprs
            .into_iter()
            .filter(|&expr| !is_zero(expr))
            .reduce(|a, b| emit.or(a, b))?;
        Some(emit.compare(Predicate::LLVMIntNE, together, emit.c32(0)))
    }

    /// The expression of an operand as hooks take it: a wide one has one in any case, because hooks
    /// have no room for its value.
    fn operand(&self, emit: &Emit, term: Term) -> Value {
        if term.width <= 64 {
            return term.expr;
        }
        let [low, high] = term.halves(emit);
        let arguments = [emit.c32(term.width), term.expr, low, high];
        self.hooks.call(emit, "raddle_sym_wide", &arguments)
    }

    /// The expression of `op`, one of two operands.
    pub fn binary_expr(&self, emit: &mut Emit, op: Op, a: Term, b: Term) -> Value {
        let zero = emit.c32(0);
        let Some(symbolic) = self.any(emit, [a.expr, b.expr]) else {
            return zero;
        };
        emit.value_when(symbolic, zero, |emit| {
            let code = emit.c32(op as u32 | a.width << 8);
            let (av, bv) = (a.wide(emit), b.wide(emit));
            let (a, b) = (self.operand(emit, a), self.operand(emit, b));
            let arguments = [code, a, b, av, bv];
            self.hooks.call(emit, "raddle_sym_binary", &arguments)
        })
    }

    /// The expression of `op`, one of ZExt, SExt and Extract (from bit 0), to `to` bits.
    pub fn cast_expr(&self, emit: &mut Emit, op: Op, a: Term, to: u32) -> Value {
        let zero = emit.c32(0);
        if a.width == to {
            return a.expr;
        }
        let Some(symbolic) = self.any(emit, [a.expr]) else {
            return zero;
        };
        emit.value_when(symbolic, zero, |emit| {
            let code = emit.c32(op as u32 | a.width << 8 | to << 16);
            self.hooks.call(emit, "raddle_sym_cast", &[code, a.expr])
        })
    }

    /// The expression of `condition ? a : b`.
    pub fn ite_expr(&self, emit: &mut Emit, condition: Term, a: Term, b: Term) -> Value {
        let chosen = if is_zero(a.expr) && is_zero(b.expr) {
            emit.c32(0)
        } else {
            emit.select(condition.value, a.expr, b.expr)
        };
        let Some(symbolic) = self.any(emit, [condition.expr]) else {
            return chosen;
        };
        emit.value_when(symbolic, chosen, |emit| {
            let held = emit.zext(condition.value, emit.int(32));
            let held = emit.shl(held, emit.c32(8));
            let code = emit.or(held, emit.c32(a.width));
            let exprs = pack(emit, self.operand(emit, a), self.operand(emit, b));
            let (av, bv) = (a.wide(emit), b.wide(emit));
            let arguments = [code, condition.expr, exprs, av, bv];
            self.hooks.call(emit, "raddle_sym_ite", &arguments)
        })
    }

    /// A computation with both its value and its expression.
    pub fn binary(&self, emit: &mut Emit, op: Op, a: Term, b: Term) -> Term {
        let expr = self.binary_expr(emit, op, a, b);
        let (x, y) = (a.int(emit), b.int(emit));
        let compare = |predicate| (emit.compare(predicate, x, y), 1);
        let (value, width) = match op {
            Op::Add => (emit.add(x, y), a.width),
            Op::Sub => (emit.sub(x, y), a.width),
            Op::Mul => (emit.mul(x, y), a.width),
            Op::URem => (emit.urem(x, y), a.width),
            Op::Shl => (emit.shl(x, y), a.width),
            Op::LShr => (emit.lshr(x, y), a.width),
            Op::AShr => (emit.ashr(x, y), a.width),
            Op::And => (emit.and(x, y), a.width),
            Op::Or => (emit.or(x, y), a.width),
            Op::Xor => (emit.xor(x, y), a.width),
            Op::Eq => compare(Predicate::LLVMIntEQ),
            Op::Ne => compare(Predicate::LLVMIntNE),
            Op::Ult => compare(Predicate::LLVMIntULT),
            Op::Ule => compare(Predicate::LLVMIntULE),
            Op::Slt => compare(Predicate::LLVMIntSLT),
            Op::Sle => compare(Predicate::LLVMIntSLE),
            _ => unreachable!("{op:?} is not computed beside the program"),
        };
        Term { expr, value, width }
    }

    /// A widening or narrowing with both its value and its expression.
    pub fn cast(&self, emit: &mut Emit, op: Op, a: Term, to: u32) -> Term {
        if a.width == to {
            return a;
        }
        let expr = self.cast_expr(emit, op, a, to);
        let (x, ty) = (a.int(emit), emit.int(to));
        let value = match op {
            Op::ZExt => emit.zext(x, ty),
            Op::SExt => emit.sext(x, ty),
            _ => emit.trunc(x, ty),
        };
        Term {
            expr,
            value,
            width: to,
        }
    }

    /// So many bits from bit `from` upwards, fewer than there are.
    pub fn bits(&self, emit: &mut Emit, a: Term, from: u32, count: u32) -> Term {
        let by = Term::constant(emit, a.width, u64::from(from));
        let down = self.binary(emit, Op::LShr, a, by);
        self.cast(emit, Op::Extract, down, count)
    }

    /// Values side by side, the first lowest, in `width` bits.
    pub fn joined(&self, emit: &mut Emit, parts: &[Term], width: u32) -> Term {
        let mut whole = Term::constant(emit, width, 0);
        let mut at = 0;
        for &part in parts {
            let wide = self.cast(emit, Op::ZExt, part, width);
            let by = Term::constant(emit, width, at);
            let up = self.binary(emit, Op::Shl, wide, by);
            whole = self.binary(emit, Op::Or, whole, up);
            at += u64::from(part.width);
        }
        whole
    }

    /// A choice with both its value and its expression.
    pub fn ite(&self, emit: &mut Emit, condition: Term, a: Term, b: Term) -> Term {
        let expr = self.ite_expr(emit, condition, a, b);
        let (x, y) = (a.int(emit), b.int(emit));
        Term {
            expr,
            value: emit.select(condition.value, x, y),
            width: a.width,
        }
    }

    /// Records that the value was decided upon, if it is symbolic.
    pub fn decide(&self, emit: &mut Emit, term: Term, why: Why) {
        if term.width > 64 {
            let low = self.cast(emit, Op::Extract, term, 64);
            let high = self.bits(emit, term, 64, term.width - 64);
            self.decide(emit, low, why);
            return self.decide(emit, high, why);
        }
        if let Some(symbolic) = self.any(emit, [term.expr]) {
            emit.when(symbolic, |emit| {
                let arguments = [term.expr, term.wide(emit), emit.c32(why as u32)];
                self.hooks.call(emit, "raddle_sym_branch", &arguments);
            });
        }
    }

    /// Records that an operation on these is not followed, if any is symbolic.
    pub fn lose(&self, emit: &mut Emit, exprs: impl IntoIterator<Item = Value>, why: Why) {
        if let Some(symbolic) = self.any(emit, exprs) {
            emit.when(symbolic, |emit| {
                self.hooks
                    .call(emit, "raddle_sym_lost", &[emit.c32(why as u32)]);
            });
        }
    }

    /// A floating point number that goes into what is not followed.
    pub fn try_number(&self, emit: &mut Emit, number: Term) {
        if let Some(symbolic) = self.any(emit, [number.expr]) {
            emit.when(symbolic, |emit| {
                let arguments = [number.expr, number.wide(emit), emit.c32(number.width)];
                self.hooks.call(emit, "raddle_sym_number", &arguments);
            });
        }
    }

    /// The expression that the hook just called left behind.
    pub fn result(&self, emit: &Emit) -> Value {
        self.hooks.read_variable(emit, RESULT, emit.int(32))
    }
}

/// Two expressions in one word, the first below.
pub fn pack(emit: &Emit, low: Value, high: Value) -> Value {
    let low = emit.zext(low, emit.int(64));
    let high = emit.zext(high, emit.int(64));
    let high = emit.shl(high, emit.c64(32));
    emit.or(low, high)
}
