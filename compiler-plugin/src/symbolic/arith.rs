//! Integer arithmetic, comparisons, conversions, address computations.

use super::Body;
use super::leaf::width;
use super::terms::{Term, is_zero};
use crate::ir::{Emit, Kind, Opcode, Predicate, Value};
use raddle_protocol::expr::{Op, Why};

/// Can the instruction's result be expressed, if its operands are scalars with a width?
pub fn follows(opcode: Opcode) -> bool {
    operation(opcode).is_some()
        || matches!(
            opcode,
            Opcode::LLVMICmp
                | Opcode::LLVMZExt
                | Opcode::LLVMSExt
                | Opcode::LLVMTrunc
                | Opcode::LLVMPtrToInt
                | Opcode::LLVMIntToPtr
                | Opcode::LLVMBitCast
        )
}

fn operation(opcode: Opcode) -> Option<Op> {
    Some(match opcode {
        Opcode::LLVMAdd => Op::Add,
        Opcode::LLVMSub => Op::Sub,
        Opcode::LLVMMul => Op::Mul,
        Opcode::LLVMUDiv => Op::UDiv,
        Opcode::LLVMSDiv => Op::SDiv,
        Opcode::LLVMURem => Op::URem,
        Opcode::LLVMSRem => Op::SRem,
        Opcode::LLVMShl => Op::Shl,
        Opcode::LLVMLShr => Op::LShr,
        Opcode::LLVMAShr => Op::AShr,
        Opcode::LLVMAnd => Op::And,
        Opcode::LLVMOr => Op::Or,
        Opcode::LLVMXor => Op::Xor,
        _ => return None,
    })
}

/// The comparison as an operation, and whether its operands change places.
fn comparison(predicate: Predicate) -> (Op, bool) {
    match predicate {
        Predicate::LLVMIntEQ => (Op::Eq, false),
        Predicate::LLVMIntNE => (Op::Ne, false),
        Predicate::LLVMIntULT => (Op::Ult, false),
        Predicate::LLVMIntULE => (Op::Ule, false),
        Predicate::LLVMIntUGT => (Op::Ult, true),
        Predicate::LLVMIntUGE => (Op::Ule, true),
        Predicate::LLVMIntSLT => (Op::Slt, false),
        Predicate::LLVMIntSLE => (Op::Sle, false),
        Predicate::LLVMIntSGT => (Op::Slt, true),
        Predicate::LLVMIntSGE => (Op::Sle, true),
    }
}

/// Why an instruction is not followed.
pub fn why_not(i: Value) -> Why {
    let floating = |value: Value| {
        matches!(
            value.ty().kind(),
            Kind::LLVMHalfTypeKind
                | Kind::LLVMBFloatTypeKind
                | Kind::LLVMFloatTypeKind
                | Kind::LLVMDoubleTypeKind
                | Kind::LLVMX86_FP80TypeKind
                | Kind::LLVMFP128TypeKind
        )
    };
    if floating(i) || i.operands().any(floating) {
        Why::Float
    } else {
        Why::Type
    }
}

/// Is it a floating point number of which some values are tried?
pub fn is_number(value: Value) -> bool {
    let kind = value.ty().kind();
    matches!(kind, Kind::LLVMFloatTypeKind | Kind::LLVMDoubleTypeKind)
}

impl Body<'_> {
    pub(super) fn arithmetic(&mut self, i: Value) {
        let a = self.term(i.operand(0));
        let to = width(self.layout, i.ty()).unwrap_or(0);
        let expr = match i.opcode() {
            Opcode::LLVMICmp => {
                let b = self.term(i.operand(1));
                let (op, swapped) = comparison(i.predicate());
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                self.terms.binary_expr(&mut self.after(i), op, a, b)
            }
            Opcode::LLVMZExt | Opcode::LLVMIntToPtr if a.width < to => {
                self.terms.cast_expr(&mut self.after(i), Op::ZExt, a, to)
            }
            Opcode::LLVMSExt => self.terms.cast_expr(&mut self.after(i), Op::SExt, a, to),
            Opcode::LLVMTrunc | Opcode::LLVMPtrToInt if a.width > to => {
                self.terms.cast_expr(&mut self.after(i), Op::Extract, a, to)
            }
            opcode => match operation(opcode) {
                Some(op) => {
                    let b = self.term(i.operand(1));
                    if matches!(op, Op::UDiv | Op::SDiv | Op::URem | Op::SRem) {
                        self.divisor(i, op, a, b);
                    }
                    self.terms.binary_expr(&mut self.after(i), op, a, b)
                }
                // The same bits under another type.
                None => a.expr,
            },
        };
        self.set_expr(i, expr);
    }

    /// A division traps for a divisor of 0 and for the least number divided by -1: both are
    /// decisions before it.
    fn divisor(&mut self, i: Value, op: Op, a: Term, b: Term) {
        let mut emit = self.before(i);
        if !is_zero(b.expr) {
            let zero = Term::constant(&emit, b.width, 0);
            let traps = self.terms.binary(&mut emit, Op::Eq, b, zero);
            self.terms.decide(&mut emit, traps, Why::Divisor);
        }
        let minus_one = Term::ones(&emit, b.width);
        let constant = b.value.as_int_constant();
        let signed = matches!(op, Op::SDiv | Op::SRem);
        if signed && b.width > 1 && constant.is_none_or(|c| c == minus_one.value) {
            let Some(symbolic) = self.terms.any(&emit, [a.expr, b.expr]) else {
                return;
            };
            emit.when(symbolic, |emit| {
                let least = Term::least(emit, a.width);
                let least = self.terms.binary(emit, Op::Eq, a, least);
                let by = self.terms.binary(emit, Op::Eq, b, minus_one);
                let traps = self.terms.binary(emit, Op::And, least, by);
                self.terms.decide(emit, traps, Why::Divisor);
            });
        }
    }

    /// `getelementptr` as arithmetic on 64 bits.
    pub(super) fn address(&mut self, i: Value) {
        let base = self.term(i.operand(0));
        let indices: Vec<Value> = i.operands().skip(1).collect();
        let mut emit = self.after(i);
        let zero = emit.c32(0);
        let exprs = i.operands().map(|operand| self.expr(operand));
        let exprs: Vec<Value> = exprs.collect();
        let Some(symbolic) = self.terms.any(&emit, exprs) else {
            return;
        };
        let expr = emit.value_when(symbolic, zero, |emit| self.sum(emit, i, base, &indices));
        self.set_expr(i, expr);
    }

    fn sum(&self, emit: &mut Emit, i: Value, base: Term, indices: &[Value]) -> Value {
        let mut sum = base;
        let mut constant = 0u64;
        let mut ty = i.source_element();
        for (number, &index) in indices.iter().enumerate() {
            if number > 0 && ty.kind() == Kind::LLVMStructTypeKind {
                let field = index.int_value() as u32;
                constant = constant.wrapping_add(self.layout.field_offset(ty, field));
                ty = ty.field(field);
                continue;
            }
            if number > 0 {
                ty = ty.element();
            }
            let step = self.layout.alloc_size(ty);
            let term = self.term(index);
            if let Some(known) = index.as_int_constant().filter(|_| term.width <= 64) {
                let shift = 64 - term.width;
                let known = ((known.int_value() << shift) as i64 >> shift) as u64;
                constant = constant.wrapping_add(known.wrapping_mul(step));
                continue;
            }
            let op = if term.width > 64 {
                Op::Extract
            } else {
                Op::SExt
            };
            let term = self.terms.cast(emit, op, term, 64);
            let scaled = if step == 1 {
                term
            } else {
                let step = Term::constant(emit, 64, step);
                self.terms.binary(emit, Op::Mul, term, step)
            };
            sum = self.terms.binary(emit, Op::Add, sum, scaled);
        }
        if constant != 0 {
            let constant = Term::constant(emit, 64, constant);
            sum = self.terms.binary(emit, Op::Add, sum, constant);
        }
        sum.expr
    }
}
