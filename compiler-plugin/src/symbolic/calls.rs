//! Expressions across calls: see `raddle_protocol::hooks`, "Around every call".

use super::leaf::{leaves, packed_width, width};
use super::terms::{Term, is_zero};
use super::{Body, atomics};
use crate::access::Access;
use crate::assembly::Assembly;
use crate::convert::{to_int, widened};
use crate::ir::{Emit, Opcode, Predicate, Type, Value};
use crate::{locations, stored};
use raddle_protocol::expr::Why;
use raddle_protocol::hooks::{ARGS_LEN, CALLEE, RESULT, RETURNER};

/// Is this empty inline assembly that gives its operand back, an obstacle for the optimiser?
pub fn passes_through(call: Value) -> bool {
    let Some(assembly) = call.callee().as_inline_asm() else {
        return false;
    };
    let constraints = assembly.asm_constraints();
    let mut parts = constraints.split(',');
    assembly.asm_text().trim().is_empty()
        && call.opcode() == Opcode::LLVMCall
        && call.argument_count() == 1
        && call.operand(0).ty() == call.ty()
        && parts.next().is_some_and(|output| output.starts_with('='))
        && parts.next() == Some("0")
}

impl Body<'_> {
    /// The function's start: takes the arguments' expressions.
    pub(super) fn enter(&mut self) {
        let function = self.function;
        let entry = function.first_block().expect("a body has a block");
        let instructions = entry.instructions();
        let at = instructions
            .iter()
            .copied()
            .find(|i| i.opcode() != Opcode::LLVMAlloca)
            .expect("a block has an end");
        let start = function
            .subprogram()
            .map(|subprogram| locations::start_of(self.context, subprogram));
        let mut emit = Emit::new(self.context, at, start);
        let callee = self.hooks.read_variable(&emit, CALLEE, emit.int(64));
        let address = emit.ptr_to_int(self.original, emit.int(64));
        self.own = emit.compare(Predicate::LLVMIntEQ, callee, address);
        self.hooks.write_variable(&emit, CALLEE, emit.c64(0));
        let mut copies = Vec::new();
        for index in 0..function.param_count() {
            let param = function.param(index);
            let taken = index < ARGS_LEN as u32;
            if let Some(ty) = function.type_attribute(index, "byval") {
                let from = taken.then(|| self.hooks.read_copy(&emit, index));
                copies.push((param, ty, from));
            } else if taken && self.tainted.contains(&param) {
                let given = self.hooks.read_argument(&emit, index);
                let expr = emit.select(self.own, given, emit.c32(0));
                self.take_argument(&mut emit, param, expr);
            }
        }
        // Only now: these hooks may switch threads.
        for (param, ty, from) in copies {
            self.take_copy(&mut emit, param, ty, from);
        }
        let constant_size = |i: &&Value| {
            i.opcode() == Opcode::LLVMAlloca && i.operand(0).as_int_constant().is_some()
        };
        for alloca in instructions.iter().filter(constant_size) {
            let one = self.layout.alloc_size(alloca.allocated_type());
            let count = alloca.operand(0).int_value();
            let length = emit.c64(one.wrapping_mul(count));
            self.hooks
                .call(&emit, "raddle_sym_forget", &[*alloca, length]);
        }
    }

    /// A scalar argument, or a vector whose elements lie side by side in its expression.
    fn take_argument(&mut self, emit: &mut Emit, param: Value, expr: Value) {
        let parts = leaves(self.layout, param.ty());
        if width(self.layout, param.ty()).is_some() {
            return self.set_expr(param, expr);
        }
        let bits = packed_width(self.layout, param.ty()).unwrap_or(0);
        let value = to_int(emit, param, bits);
        let whole = Term {
            expr,
            value,
            width: bits,
        };
        let mut at = 0;
        let mut shadow = Vec::new();
        for leaf in parts {
            let count = leaf.width.unwrap_or(0);
            let part = match count == bits {
                true => whole,
                false => self.terms.bits(emit, whole, at, count),
            };
            shadow.push(part.expr);
            at += count;
        }
        self.set_shadow(param, shadow);
    }

    /// An argument passed by value: the caller says where the same bytes lie.
    fn take_copy(&self, emit: &mut Emit, param: Value, ty: Type, from: Option<Value>) {
        let length = emit.c64(self.layout.store_size(ty));
        self.hooks.call(emit, "raddle_sym_forget", &[param, length]);
        let Some(from) = from else { return };
        emit.when(self.own, |emit| {
            let arguments = [param, from, length, emit.c32(0)];
            self.hooks.call(emit, "raddle_sym_copy", &arguments);
        });
    }

    /// Leaves the result's expression for a caller that takes it.
    pub(super) fn ret(&mut self, i: Value) {
        if i.operand_count() == 0 {
            return;
        }
        let value = i.operand(0);
        let parts = leaves(self.layout, value.ty());
        if parts.iter().all(|leaf| leaf.width.is_none()) {
            return;
        }
        let shadow = self.shadow(value);
        let mut emit = self.before(i);
        let no_one = emit.c64(0);
        if shadow.iter().all(|&expr| is_zero(expr)) {
            self.hooks.write_variable(&emit, RETURNER, no_one);
            return;
        }
        // For a caller that does not take expressions the value is concrete.
        let symbolic = self.terms.any(&emit, shadow.iter().copied());
        if let Some(symbolic) = symbolic {
            let foreign = emit.xor(self.own, emit.int(1).constant(1));
            let lost = emit.and(symbolic, foreign);
            emit.when(lost, |emit| {
                for (number, leaf) in parts.iter().enumerate() {
                    let Some(width) = leaf.width else { continue };
                    let part = if parts.len() == 1 {
                        value
                    } else {
                        let path = super::prepare::paths(value.ty());
                        emit.extract_at(value, &path[number])
                    };
                    let term = Term {
                        expr: shadow[number],
                        value: part,
                        width,
                    };
                    self.terms.decide(emit, term, Why::Call);
                }
            });
        }
        self.hooks.write_variable(&emit, RESULT, shadow[0]);
        for (index, &expr) in shadow.iter().enumerate().skip(1) {
            self.hooks.write_argument(&emit, index as u32, expr);
        }
        let address = emit.ptr_to_int(self.original, emit.int(64));
        let returner = emit.select(self.own, address, no_one);
        self.hooks.write_variable(&emit, RETURNER, returner);
    }

    pub(super) fn call(&mut self, i: Value) {
        if i.callee().as_inline_asm().is_some() {
            return self.assembly(i);
        }
        if let Some((pointer, length)) = atomics::begins(i) {
            let mut emit = self.before(i);
            self.check_fixed(&mut emit, pointer, length);
            return self.decide_address(&mut emit, pointer);
        }
        if atomics::ends(i) {
            return;
        }
        match Access::of(i) {
            Some(Access::Copy {
                to,
                from,
                length,
                limit,
            }) => {
                self.check_limit(i, length, limit);
                self.copy(i, to, from, length)
            }
            Some(Access::Set {
                to,
                byte,
                length,
                limit,
            }) => {
                self.check_limit(i, length, limit);
                self.set(i, to, byte, length)
            }
            Some(Access::Opaque(instruction)) => {
                let emit = self.before(i);
                instruction.tell(self.hooks, self.module, &emit);
                self.not_followed(i);
            }
            Some(Access::Fence { order }) => {
                let emit = self.before(i);
                self.hooks.call(&emit, "raddle_fence", &[emit.c32(order)]);
            }
            Some(Access::Wide(wide)) => {
                self.wide_atomic(i, &wide);
                self.function_call(i);
            }
            _ => match i.intrinsic_called() {
                Some(name) => self.intrinsic(i, &name),
                None => self.function_call(i),
            },
        }
    }

    /// A checked library function ends the program when the operation is larger than the object.
    fn check_limit(&mut self, i: Value, length: Value, limit: Option<Value>) {
        let Some(limit) = limit else { return };
        if limit
            .as_int_constant()
            .is_some_and(|c| c.int_value() == u64::MAX)
        {
            return;
        }
        let (ty, callee) = (i.callee_type(), i.callee());
        let arguments: Vec<Value> = i.arguments().collect();
        let mut emit = self.before(i);
        let length = widened(&emit, length);
        let limit = widened(&emit, limit);
        let beyond = emit.compare(Predicate::LLVMIntUGT, length, limit);
        emit.when(beyond, |emit| {
            emit.call(ty, callee, &arguments);
        });
    }

    fn assembly(&mut self, i: Value) {
        if passes_through(i) {
            let shadow = self.shadow(i.operand(0));
            return self.set_shadow(i, shadow);
        }
        let arguments: Vec<Value> = i.arguments().collect();
        if let Some(assembly) = Assembly::of(i) {
            let emit = self.before(i);
            assembly.tell(self.hooks, self.module, &emit);
        }
        self.lose_all(i, &arguments, Why::Asm);
        if i.opcode() != Opcode::LLVMCall {
            return;
        }
        for (index, pointer) in (0..).zip(arguments) {
            if let Some(ty) = i.call_type_attribute(index, "elementtype") {
                let emit = self.after(i);
                let length = emit.c64(self.layout.store_size(ty));
                self.hooks
                    .call(&emit, "raddle_sym_forget", &[pointer, length]);
            }
        }
    }

    fn function_call(&mut self, i: Value) {
        if self.library(i) {
            return;
        }
        let mut emit = self.before(i);
        let callee = i.callee();
        self.terms
            .decide(&mut emit, self.term(callee), Why::Address);
        let copies = self.copy_arguments(&mut emit, i);
        let output = self.foreign(&mut emit, i);
        if let Some(told) = stored::Call::of(i) {
            let key = self.call_under_way();
            told.before(self.hooks, &emit, key);
            let name = self.name_called(i);
            told.after(self.hooks, &self.after(i), name, key);
        }
        // From here to the call no hook switches threads.
        self.give_arguments(&mut emit, i, callee, output);
        for (index, copy) in copies {
            self.hooks.write_copy(&emit, index, copy);
        }
        let address = emit.ptr_to_int(callee, emit.int(64));
        self.hooks.write_variable(&emit, CALLEE, address);
        self.hooks.write_variable(&emit, RETURNER, emit.c64(0));
        if self.tainted.contains(&i) {
            self.take_result(i, callee);
        }
    }

    /// The arguments that can have an expression. What others hold of expressions is lost.
    fn followed_arguments(&self, emit: &mut Emit, i: Value) -> Vec<(u32, Term)> {
        let mut followed = Vec::new();
        for index in 0..i.argument_count() {
            if i.call_type_attribute(index, "byval").is_some() {
                continue;
            }
            let value = i.operand(index);
            match packed_width(self.layout, value.ty()) {
                Some(width) => followed.push((index, self.packed(emit, value, width))),
                None => self.terms.lose(emit, self.shadow(value), Why::Type),
            }
        }
        followed
    }

    /// A scalar, or the elements of a vector side by side.
    fn packed(&self, emit: &mut Emit, value: Value, bits: u32) -> Term {
        let shadow = self.shadow(value);
        if width(self.layout, value.ty()).is_some() {
            return self.term(value);
        }
        if shadow.iter().all(|&expr| is_zero(expr)) {
            let value = to_int(emit, value, bits);
            return Term::concrete(emit, value, bits);
        }
        let leaves = leaves(self.layout, value.ty());
        let parts: Vec<Term> = (0..)
            .zip(shadow.iter().zip(&leaves))
            .map(|(index, (&expr, leaf))| Term {
                expr,
                value: emit.extract_element(value, emit.c32(index)),
                width: leaf.width.unwrap_or(0),
            })
            .collect();
        self.terms.joined(emit, &parts, bits)
    }

    /// `output`: what they are decides nothing.
    fn give_arguments(&self, emit: &mut Emit, i: Value, callee: Value, output: bool) {
        let fixed = i.callee_type().param_count().min(ARGS_LEN as u32);
        let arguments = self.followed_arguments(emit, i);
        for (index, _) in arguments.iter().filter(|(index, _)| *index < fixed) {
            self.hooks.write_argument(emit, *index, emit.c32(0));
        }
        let exprs = arguments.iter().map(|(_, term)| term.expr);
        let Some(symbolic) = self.terms.any(emit, exprs).filter(|_| !output) else {
            return;
        };
        emit.when(symbolic, |emit| {
            for (index, term) in arguments {
                let Some(symbolic) = self.terms.any(emit, [term.expr]) else {
                    continue;
                };
                // A variadic argument has no place: the callee cannot take it.
                let place = if index < fixed {
                    index
                } else {
                    ARGS_LEN as u32
                };
                let place = emit.c32(place);
                emit.when(symbolic, |emit| {
                    if term.width > 64 {
                        let [low, high] = term.halves(emit);
                        let arguments = [callee, place, term.expr, low, high];
                        self.hooks.call(emit, "raddle_sym_call_wide", &arguments);
                    } else {
                        let arguments = [callee, place, term.expr, term.wide(emit)];
                        self.hooks.call(emit, "raddle_sym_call", &arguments);
                    }
                });
            }
        });
    }

    /// Arguments passed by value are copied by the call itself, out of sight: the copy is made
    /// from a copy of our own, whose address the callee gets.
    fn copy_arguments(&self, emit: &mut Emit, i: Value) -> Vec<(u32, Value)> {
        let mut copies = Vec::new();
        for index in 0..i.argument_count() {
            let Some(ty) = i.call_type_attribute(index, "byval") else {
                continue;
            };
            let entry = self.function.first_block().and_then(|block| block.first());
            let first = entry.expect("a block has an end");
            let own = Emit::new(self.context, first, None).alloca(ty);
            own.set_alignment(16);
            let from = i.operand(index);
            let length = self.layout.store_size(ty);
            self.terms.decide(emit, self.term(from), Why::Address);
            let arguments = [own, from, emit.c64(length), emit.c32(0)];
            self.hooks.call(emit, "raddle_sym_copy", &arguments);
            i.set_operand(index, own);
            if index < ARGS_LEN as u32 && index < i.callee_type().param_count() {
                copies.push((index, own));
            } else {
                self.lose_memory(emit, own, length);
            }
        }
        copies
    }

    fn take_result(&mut self, i: Value, callee: Value) {
        let emit = self.after(i);
        let returner = self.hooks.read_variable(&emit, RETURNER, emit.int(64));
        let address = emit.ptr_to_int(callee, emit.int(64));
        let given = emit.compare(Predicate::LLVMIntEQ, returner, address);
        let zero = emit.c32(0);
        let shadow = leaves(self.layout, i.ty())
            .iter()
            .enumerate()
            .map(|(number, leaf)| {
                if leaf.width.is_none() {
                    return zero;
                }
                let expr = match number {
                    0 => self.hooks.read_variable(&emit, RESULT, emit.int(32)),
                    _ => self.hooks.read_argument(&emit, number as u32),
                };
                emit.select(given, expr, zero)
            })
            .collect();
        self.set_shadow(i, shadow);
    }
}
