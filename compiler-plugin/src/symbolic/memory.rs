//! Loads, stores, atomics and block operations.

use super::Body;
use super::leaf::width;
use super::terms::{Term, pack};
use crate::access::{Access, Cell};
use crate::convert::{from_cell, to_cell, widened};
use crate::ir::{Emit, Predicate, Type, Value};
use crate::schedule::blocks;
use crate::sharing;
use crate::wide::Wide;
use raddle_protocol::expr::{Op, Why};
use raddle_protocol::hooks::sized_order;

impl Body<'_> {
    fn is_private(&self, i: Value) -> bool {
        Access::is_private(self.context, i, 0)
    }

    /// A symbolic address is a decision.
    pub(super) fn decide_address(&self, emit: &mut Emit, pointer: Value) {
        self.terms.decide(emit, self.term(pointer), Why::Address);
    }

    pub(super) fn access(&mut self, i: Value) {
        match Access::of(i) {
            Some(Access::Load { pointer, ty } | Access::AtomicLoad { pointer, ty, .. })
                if self.is_private(i) =>
            {
                self.private_load(i, pointer, ty)
            }
            Some(Access::Store { pointer, value } | Access::AtomicStore { pointer, value, .. })
                if self.is_private(i) =>
            {
                self.private_store(i, pointer, value)
            }
            Some(access) => self.shared(i, &access),
            None => {}
        }
    }

    fn private_load(&mut self, i: Value, pointer: Value, ty: Type) {
        let mut emit = self.before(i);
        self.check_fixed(&mut emit, pointer, self.layout.store_size(ty));
        self.decide_address(&mut emit, pointer);
        if sharing::is_constant(i) {
            return;
        }
        match Cell::of(self.layout, ty) {
            Some(cell) if width(self.layout, ty).is_some() => {
                let mut emit = self.after(i);
                let size = emit.c32(cell.size);
                let expr = self
                    .hooks
                    .call(&emit, "raddle_sym_local_load", &[pointer, size]);
                let expr = self.narrow(&mut emit, expr, cell);
                self.set_expr(i, expr);
            }
            _ => self.lose_memory(&mut emit, pointer, self.layout.store_size(ty)),
        }
    }

    fn private_store(&mut self, i: Value, pointer: Value, value: Value) {
        let ty = value.ty();
        let mut emit = self.before(i);
        self.check_fixed(&mut emit, pointer, self.layout.store_size(ty));
        self.decide_address(&mut emit, pointer);
        let mut emit = self.after(i);
        match Cell::of(self.layout, ty) {
            Some(cell) if width(self.layout, ty).is_some() => {
                let expr = self.widen(&mut emit, value, cell);
                let arguments = [pointer, emit.c32(cell.size), expr];
                self.hooks.call(&emit, "raddle_sym_local_store", &arguments);
            }
            _ => {
                let length = emit.c64(self.layout.store_size(ty));
                self.hooks
                    .call(&emit, "raddle_sym_forget", &[pointer, length]);
            }
        }
    }

    /// From the expression of a cell in memory to that of the value.
    fn narrow(&self, emit: &mut Emit, expr: Value, cell: Cell) -> Value {
        let memory = Term {
            expr,
            value: emit.int(8 * cell.size).constant(0),
            width: 8 * cell.size,
        };
        self.terms.cast_expr(emit, Op::Extract, memory, cell.bits)
    }

    /// From the expression of a value to that of its cell in memory.
    fn widen(&self, emit: &mut Emit, value: Value, cell: Cell) -> Value {
        let term = self.term(value);
        if term.width == 0 {
            return emit.c32(0);
        }
        self.terms.cast_expr(emit, Op::ZExt, term, 8 * cell.size)
    }

    /// What is read has no expressions: a symbolic content of the memory is lost.
    pub(super) fn lose_memory(&self, emit: &mut Emit, pointer: Value, length: u64) {
        let mut offset = 0;
        let mut exprs = Vec::new();
        while offset < length {
            let size = [8, 4, 2, 1]
                .into_iter()
                .find(|&size| size <= length - offset)
                .unwrap_or(1);
            let at = emit.offset(pointer, emit.c64(offset));
            let size32 = emit.c32(size as u32);
            exprs.push(
                self.hooks
                    .call(emit, "raddle_sym_local_load", &[at, size32]),
            );
            offset += size;
        }
        self.terms.lose(emit, exprs, Why::Type);
    }

    fn shared(&mut self, i: Value, access: &Access) {
        let (pointer, ty) = match *access {
            Access::Load { pointer, ty } | Access::AtomicLoad { pointer, ty, .. } => (pointer, ty),
            Access::Store { pointer, value }
            | Access::AtomicStore { pointer, value, .. }
            | Access::Update { pointer, value, .. } => (pointer, value.ty()),
            Access::Exchange { pointer, new, .. } => (pointer, new.ty()),
            Access::Fence { order } => {
                let emit = self.before(i);
                self.hooks.call(&emit, "raddle_fence", &[emit.c32(order)]);
                return;
            }
            _ => return,
        };
        let size = self.layout.store_size(ty);
        self.check_fixed(&mut self.before(i), pointer, size);
        match (
            Cell::of(self.layout, ty),
            Wide::of_instruction(access, self.layout),
        ) {
            (Some(cell), _) => self.shared_cell(i, access, cell, ty),
            (None, None) => self.shared_block(i, access, pointer),
            (None, Some(wide)) => {
                let operands: Vec<Value> = i.operands().collect();
                let values = operands.iter().filter(|&&one| one != pointer);
                let exprs: Vec<Value> = values.flat_map(|&one| self.shadow(one)).collect();
                let mut emit = self.before(i);
                self.terms.lose(&mut emit, exprs, Why::Type);
                self.wide_atomic(i, &wide);
            }
        }
    }

    /// Too large for a cell: by a variable.
    fn shared_block(&mut self, i: Value, access: &Access, pointer: Value) {
        let mut emit = self.before(i);
        self.decide_address(&mut emit, pointer);
        if matches!(access, Access::Load { .. }) {
            let value = blocks::load(self.hooks, self.layout, &emit, i);
            self.replace(i, value);
        } else {
            blocks::store(self.hooks, self.layout, &emit, i);
            self.erase(i);
        }
    }

    fn shared_cell(&mut self, i: Value, access: &Access, cell: Cell, ty: Type) {
        let mut emit = self.before(i);
        let emit = &mut emit;
        let size = emit.c32(cell.size);
        match *access {
            Access::Load { pointer, .. } => {
                let address = self.expr(pointer);
                let arguments = [pointer, size, address];
                let read = self.hooks.call(emit, "raddle_sym_read", &arguments);
                self.yields(emit, i, read, cell, ty);
            }
            Access::AtomicLoad { pointer, order, .. } => {
                let arguments = [pointer, size, emit.c32(order), self.expr(pointer)];
                let read = self.hooks.call(emit, "raddle_sym_atomic_load", &arguments);
                self.yields(emit, i, read, cell, ty);
            }
            Access::Store { pointer, value } => {
                let expr = self.widen(emit, value, cell);
                let value = self.wide(emit, value, cell);
                let arguments = [pointer, value, size, self.expr(pointer), expr];
                self.hooks.call(emit, "raddle_sym_write", &arguments);
                self.erase(i);
            }
            Access::AtomicStore {
                pointer,
                value,
                order,
            } => {
                self.decide_address(emit, pointer);
                let expr = self.widen(emit, value, cell);
                let value = self.wide(emit, value, cell);
                let arguments = [pointer, value, size, emit.c32(order), expr];
                self.hooks.call(emit, "raddle_sym_atomic_store", &arguments);
                self.erase(i);
            }
            Access::Update {
                pointer,
                value,
                operation,
                order,
            } => {
                self.decide_address(emit, pointer);
                let expr = self.widen(emit, value, cell);
                let value = self.wide(emit, value, cell);
                let manner = emit.c32(sized_order(cell.size, order));
                let arguments = [pointer, value, emit.c32(operation), manner, expr];
                let old = self.hooks.call(emit, "raddle_sym_atomic_rmw", &arguments);
                self.yields(emit, i, old, cell, ty);
            }
            Access::Exchange {
                pointer,
                expected,
                new,
                order,
            } => {
                self.decide_address(emit, pointer);
                self.exchange(emit, i, (pointer, order), [expected, new], cell);
            }
            _ => {}
        }
    }

    fn wide(&self, emit: &Emit, value: Value, cell: Cell) -> Value {
        widened(emit, to_cell(emit, value, cell))
    }

    /// The instruction's value is what the hook gave.
    fn yields(&mut self, emit: &mut Emit, i: Value, read: Value, cell: Cell, ty: Type) {
        let expr = self.terms.result(emit);
        let value = from_cell(emit, read, cell, ty);
        let followed = width(self.layout, ty).is_some();
        let expr = if followed {
            self.narrow(emit, expr, cell)
        } else {
            self.terms.lose(emit, [expr], Why::Type);
            expr
        };
        self.replace(i, value);
        if followed {
            self.set_expr(value, expr);
        }
    }

    fn exchange(
        &mut self,
        emit: &mut Emit,
        i: Value,
        (pointer, order): (Value, u32),
        [expected, new]: [Value; 2],
        cell: Cell,
    ) {
        let ty = new.ty();
        let expected_expr = self.widen(emit, expected, cell);
        let new_expr = self.widen(emit, new, cell);
        let (expected, new) = (self.wide(emit, expected, cell), self.wide(emit, new, cell));
        let exprs = pack(emit, expected_expr, new_expr);
        let manner = emit.c32(sized_order(cell.size, order));
        let arguments = [pointer, expected, new, manner, exprs];
        let old = self.hooks.call(emit, "raddle_sym_atomic_cas", &arguments);
        let old_expr = self.terms.result(emit);
        // Compared as they lie in memory.
        let bits = 8 * cell.size;
        let in_memory = |emit: &Emit, value: Value| {
            if bits == 64 {
                value
            } else {
                emit.trunc(value, emit.int(bits))
            }
        };
        let old_term = Term {
            expr: old_expr,
            value: in_memory(emit, old),
            width: bits,
        };
        let expected_term = Term {
            expr: expected_expr,
            value: in_memory(emit, expected),
            width: bits,
        };
        let success_expr = self
            .terms
            .binary_expr(emit, Op::Eq, old_term, expected_term);
        let success = emit.compare(Predicate::LLVMIntEQ, old, expected);
        let old_expr = self.narrow(emit, old_expr, cell);
        let old = from_cell(emit, old, cell, ty);
        let pair = emit.insert_value(i.ty().poison(), old, 0);
        let pair = emit.insert_value(pair, success, 1);
        self.replace(i, pair);
        self.set_shadow(pair, vec![old_expr, success_expr]);
    }

    /// An atomic that is done as it stands: its content is decided upon, and so is what else it reads
    /// in memory; what it writes is concrete.
    pub(super) fn wide_atomic(&mut self, i: Value, wide: &Wide) {
        let mut emit = self.before(i);
        self.check_fixed(&mut emit, wide.pointer, wide.length);
        self.decide_address(&mut emit, wide.pointer);
        let length = emit.c64(wide.length);
        for (hook, places) in [
            ("raddle_range_read", &wide.operands),
            ("raddle_range_write", &wide.results),
        ] {
            for &place in places {
                self.decide_address(&mut emit, place);
                self.hooks.call(&emit, hook, &[place, length]);
            }
        }
        wide.begin(self.hooks, &emit, None);
        let emit = self.after(i);
        wide.end(self.hooks, &emit);
        for &result in &wide.results {
            self.hooks
                .call(&emit, "raddle_sym_forget", &[result, length]);
        }
    }

    /// memcpy and memmove.
    pub(super) fn copy(&mut self, i: Value, to: Value, from: Value, length: Value) {
        let mut emit = self.before(i);
        let length = self.terms.cast(&mut emit, Op::ZExt, self.term(length), 64);
        for pointer in [to, from] {
            self.check_bounds(&mut emit, pointer, length);
        }
        self.decide_address(&mut emit, to);
        self.decide_address(&mut emit, from);
        let arguments = [to, from, length.value, length.expr];
        self.hooks.call(&emit, "raddle_sym_copy", &arguments);
        self.finish_block(i, to);
    }

    /// memset.
    pub(super) fn set(&mut self, i: Value, to: Value, byte: Value, length: Value) {
        let mut emit = self.before(i);
        let length = self.terms.cast(&mut emit, Op::ZExt, self.term(length), 64);
        self.check_bounds(&mut emit, to, length);
        self.decide_address(&mut emit, to);
        let term = self.term(byte);
        let byte = self.terms.cast(&mut emit, Op::Extract, term, 8);
        let arguments = [to, byte.value, length.value, byte.expr, length.expr];
        self.hooks.call(&emit, "raddle_sym_set", &arguments);
        self.finish_block(i, to);
    }

    /// The operation was done by a hook; a library function's value is its first argument.
    fn finish_block(&mut self, i: Value, to: Value) {
        if i.first_use().is_some() {
            i.replace_uses(to);
        }
        self.erase(i);
    }

    pub(super) fn alloca(&mut self, i: Value) {
        let count = i.operand(0);
        let one = self.layout.alloc_size(i.allocated_type());
        let first_block = self.function.first_block();
        if count.as_int_constant().is_none() || Some(i.block()) != first_block {
            self.decide_size(i, count);
            let emit = self.after(i);
            let length = emit.mul(widened(&emit, count), emit.c64(one));
            self.hooks.call(&emit, "raddle_sym_forget", &[i, length]);
        }
        // Those of the entry block were seen to in `enter`.
    }

    fn decide_size(&self, i: Value, count: Value) {
        self.terms
            .decide(&mut self.before(i), self.term(count), Why::Size);
    }
}
