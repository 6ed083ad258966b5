//! Functions with a scheduling body only, in symbolic runs: what scheduling hooks do not tell the
//! shadow. See `raddle_protocol::hooks`, "Functions with one body".

use super::Schedule;
use crate::access::{Access, Cell, sets_rounding};
use crate::convert::{to_cell, widened};
use crate::ir::{Emit, Kind, Opcode, Predicate, Type, Value};
use crate::locations;
use crate::outside::{self, Foreign};
use crate::sharing;
use crate::stored;
use crate::wide::Wide;
use raddle_protocol::expr::Why;
use raddle_protocol::hooks::{ARGS_LEN, CALLEE, MODE_SYMBOLIC, RESULT, Ty};
use raddle_protocol::library::Model;

impl Schedule<'_> {
    /// The function's start, in symbolic runs: its variables are concrete, and the bytes of arguments
    /// that were passed by value have the expressions of the caller's copy.
    pub(super) fn enter(&self, variables: &[Value]) {
        let function = self.function;
        let copied: Vec<(u32, Type)> = (0..function.param_count())
            .filter_map(|index| Some((index, function.type_attribute(index, "byval")?)))
            .collect();
        let entry = function.first_block().map(|block| block.instructions());
        let new: Vec<Value> = variables
            .iter()
            .copied()
            .filter(|i| !self.plain.contains(i))
            .collect();
        let at = entry.and_then(|entry| entry.into_iter().find(|&i| !is_variable(i)));
        let Some(at) = at.filter(|_| !(copied.is_empty() && new.is_empty())) else {
            return;
        };
        let line = function
            .subprogram()
            .map(|subprogram| locations::start_of(self.context, subprogram));
        let mut emit = Emit::new(self.context, at, line);
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        emit.when(symbolic, |emit| {
            for &variable in &new {
                let one = self.layout.alloc_size(variable.allocated_type());
                let count = variable.operand(0).int_value();
                let arguments = [variable, emit.c64(one.wrapping_mul(count))];
                self.hooks.call(emit, "raddle_sym_forget", &arguments);
            }
            if copied.is_empty() {
                return;
            }
            let callee = self.hooks.read_variable(emit, CALLEE, emit.int(64));
            let address = emit.ptr_to_int(function, emit.int(64));
            let given = emit.compare(Predicate::LLVMIntEQ, callee, address);
            self.hooks.write_variable(emit, CALLEE, emit.c64(0));
            let null = self.context.pointer().null();
            let place = |&(index, ty): &(u32, Type)| {
                let from = match (index as usize) < ARGS_LEN {
                    true => self.hooks.read_copy(emit, index),
                    false => null,
                };
                let length = emit.c64(self.layout.store_size(ty));
                (function.param(index), from, length)
            };
            let places: Vec<(Value, Value, Value)> = copied.iter().map(place).collect();
            // Only now: these hooks may switch threads.
            for &(to, _, length) in &places {
                self.hooks.call(emit, "raddle_sym_forget", &[to, length]);
            }
            emit.when(given, |emit| {
                for &(to, from, length) in places.iter().filter(|place| place.1 != null) {
                    let arguments = [to, from, length, emit.c32(0)];
                    self.hooks.call(emit, "raddle_sym_copy", &arguments);
                }
            });
        });
    }

    /// Tells the shadow of an instruction, in symbolic runs, what scheduling hooks do not.
    pub(super) fn tell_shadow(&self, i: Value, access: Option<&Access>) {
        if starts_list(i) {
            self.list(i);
        }
        match access {
            Some(access) => self.shadow(i, access),
            None if self.is_fixed(i) => {}
            None if is_variable(i) => self.grow(i),
            None => self.outside(i),
        }
    }

    /// Is it a variable that comes into being at the function's start?
    pub(super) fn is_fixed(&self, i: Value) -> bool {
        is_variable(i)
            && Some(i.block()) == self.function.first_block()
            && i.operand(0).as_int_constant().is_some()
    }

    /// A variable that comes into being later.
    fn grow(&self, i: Value) {
        let count = i.operand(0);
        let Some(at) = i.next().filter(|_| !self.plain.contains(&i)) else {
            return;
        };
        let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        emit.when(symbolic, |emit| {
            let one = emit.c64(self.layout.alloc_size(i.allocated_type()));
            let arguments = [i, emit.mul(widened(emit, count), one)];
            self.hooks.call(emit, "raddle_sym_forget", &arguments);
        });
    }

    fn shadow(&self, i: Value, access: &Access) {
        let private = Access::is_private(self.context, i, 0);
        match *access {
            Access::Load { pointer, .. } | Access::Store { pointer, .. }
                if self.plain.contains(&pointer) => {}
            Access::Load { .. } if sharing::is_constant(i) => {}
            Access::Load { pointer, ty } | Access::AtomicLoad { pointer, ty, .. } if private => {
                self.private_load(i, pointer, ty)
            }
            Access::Store { pointer, value } | Access::AtomicStore { pointer, value, .. }
                if private =>
            {
                self.forget_after(i, pointer, self.layout.store_size(value.ty()))
            }
            Access::Copy {
                to,
                from,
                length,
                limit,
            } => self.in_symbolic_runs(i, to, length, limit, |emit| {
                let arguments = [to, from, widened(emit, length), emit.c32(0)];
                self.hooks.call(emit, "raddle_sym_copy", &arguments);
            }),
            Access::Set {
                to,
                byte,
                length,
                limit,
            } => self.in_symbolic_runs(i, to, length, limit, |emit| {
                let byte = if byte.ty().int_width() > 8 {
                    emit.trunc(byte, emit.int(8))
                } else {
                    byte
                };
                let zero = emit.c32(0);
                let arguments = [to, byte, widened(emit, length), zero, zero];
                self.hooks.call(emit, "raddle_sym_set", &arguments);
            }),
            Access::ByValue(_) => self.outside(i),
            _ => {}
        }
    }

    /// A call of code that may have no symbolic body: its arguments are concrete, but it may read
    /// symbolic memory.
    fn outside(&self, i: Value) {
        let assembly = i.is_call() && i.callee().as_inline_asm().is_some();
        if !i.is_call() || assembly {
            return;
        }
        if let Some(name) = i.intrinsic_called() {
            if sets_rounding(i, &name) {
                self.lose_rounding(i);
            }
            return;
        }
        if let Some(model) = outside::model(i) {
            return self.library(i, model);
        }
        // After an invoke there is no place where it is known that it returned.
        let behind = i.next().filter(|_| !i.is_must_tail());
        let Some(foreign) = Foreign::of(i, behind.is_some()) else {
            return;
        };
        let mut emit = self.emit_before(i);
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        let null = self.context.pointer().null();
        let name = foreign.name.as_deref();
        let name = name.map_or(null, |name| self.module.text(name));
        let stored = behind.and_then(|at| Some((at, stored::Call::of(i)?)));
        let mut key = null;
        emit.when(symbolic, |emit| {
            let (values, count) = self.list_arguments(emit, i);
            let shape = emit.c64(foreign.shape | u64::from(count) << 32);
            let arguments = [i.callee(), name, shape, values, null];
            self.hooks.call(emit, "raddle_sym_foreign", &arguments);
            if let Some((_, stored)) = &stored {
                stored.before(self.hooks, emit, values);
            }
            key = values;
        });
        if let Some((at, stored)) = stored {
            let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
            let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
            emit.when(symbolic, |emit| stored.after(self.hooks, emit, name, key));
        }
    }

    /// Before another way of rounding than to the nearest.
    fn lose_rounding(&self, i: Value) {
        let mut emit = self.emit_before(i);
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        emit.when(symbolic, |emit| {
            let why = emit.c32(Why::Float as u32);
            self.hooks.call(emit, "raddle_sym_lost", &[why]);
        });
    }

    /// The runtime computes the function; a symbolic result is decided upon.
    fn library(&self, i: Value, model: Model) {
        let emit = self.emit_before(i);
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        self.instead_when(emit, i, symbolic, |emit| {
            let (values, count) = self.list_arguments(emit, i);
            let code = emit.c32(model as u32 | count << 16);
            let exprs = self.context.pointer().null();
            let arguments = [i.callee(), code, values, exprs];
            let result = self.hooks.call(emit, "raddle_sym_library", &arguments);
            let expr = self.hooks.read_variable(emit, RESULT, emit.int(32));
            let there = emit.compare(Predicate::LLVMIntNE, expr, emit.c32(0));
            emit.when(there, |emit| {
                let arguments = [expr, result, emit.c32(Why::Memory as u32)];
                self.hooks.call(emit, "raddle_sym_branch", &arguments);
            });
            Some(match model.result() {
                Ty::Void => return None,
                Ty::Ptr => emit.int_to_ptr(result, i.ty()),
                Ty::I64 => result,
                _ => emit.trunc(result, i.ty()),
            })
        });
    }

    /// Writes the arguments that are integers or pointers to an array on the stack; the array, and
    /// how many there are.
    fn list_arguments(&self, emit: &Emit, i: Value) -> (Value, u32) {
        let arguments: Vec<Value> = i.arguments().take(ARGS_LEN).collect();
        let values = self.variable(emit.int(64).array(arguments.len().max(1) as u64));
        for (index, &argument) in (0..).zip(&arguments) {
            let value = match argument.ty().kind() {
                Kind::LLVMIntegerTypeKind => widened(emit, argument),
                Kind::LLVMPointerTypeKind if argument.ty().address_space() == 0 => {
                    emit.ptr_to_int(argument, emit.int(64))
                }
                _ => emit.c64(0),
            };
            emit.store(value, emit.offset(values, emit.c64(8 * index)));
        }
        (values, arguments.len() as u32)
    }

    /// What a private variable holds is decided upon.
    fn private_load(&self, i: Value, pointer: Value, ty: Type) {
        let Some(at) = i.next() else { return };
        let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        emit.when(symbolic, |emit| {
            let Some(cell) = Cell::of(self.layout, ty) else {
                let length = emit.c64(self.layout.store_size(ty));
                self.hooks
                    .call(emit, "raddle_range_read", &[pointer, length]);
                return;
            };
            let size = emit.c32(cell.size);
            let expr = self
                .hooks
                .call(emit, "raddle_sym_local_load", &[pointer, size]);
            let there = emit.compare(Predicate::LLVMIntNE, expr, emit.c32(0));
            emit.when(there, |emit| {
                let value = widened(emit, to_cell(emit, i, cell));
                let arguments = [expr, value, emit.c32(Why::Memory as u32)];
                self.hooks.call(emit, "raddle_sym_branch", &arguments);
            });
        });
    }

    /// Before a wide atomic: what else it reads is decided upon.
    pub(super) fn tell_operands(&self, i: Value, wide: &Wide) {
        let mut emit = self.emit_before(i);
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        emit.when(symbolic, |emit| {
            for &operand in &wide.operands {
                self.range(emit, "raddle_range_read", operand, emit.c64(wide.length));
            }
        });
    }

    /// After it: what it wrote is concrete.
    pub(super) fn tell_results(&self, i: Value, wide: &Wide) {
        for &result in &wide.results {
            self.forget_after(i, result, wide.length);
        }
    }

    fn forget_after(&self, i: Value, pointer: Value, length: u64) {
        let Some(at) = i.next() else { return };
        let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        emit.when(symbolic, |emit| {
            let arguments = [pointer, emit.c64(length)];
            self.hooks.call(emit, "raddle_sym_forget", &arguments);
        });
    }

    /// The registers' arguments were stored by the function's entry, out of sight. System V ABI for
    /// x86-64: the third word of a list points to these 176 bytes.
    fn list(&self, i: Value) {
        let Some(at) = i.next() else { return };
        let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
        let symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        emit.when(symbolic, |emit| {
            let place = emit.offset(i.operand(0), emit.c64(16));
            let area = emit.load(self.context.pointer(), place);
            let arguments = [area, emit.c64(176)];
            self.hooks.call(emit, "raddle_sym_forget", &arguments);
        });
    }

    /// Calls a hook in place of a block operation on `to` in symbolic runs, unless the operation
    /// will refuse the length.
    fn in_symbolic_runs(
        &self,
        i: Value,
        to: Value,
        length: Value,
        limit: Option<Value>,
        hook: impl FnOnce(&mut Emit),
    ) {
        let Some(at) = i.next() else { return };
        let location = locations::of(self.context, i);
        let mut emit = Emit::new(self.context, at, location);
        if i.first_use().is_some() {
            i.replace_uses(to);
        }
        let mut symbolic = self.hooks.mode_has(&emit, MODE_SYMBOLIC);
        if let Some(limit) = limit {
            let (length, limit) = (widened(&emit, length), widened(&emit, limit));
            let within = emit.compare(Predicate::LLVMIntULE, length, limit);
            symbolic = emit.and(symbolic, within);
        }
        let (rare, usual) = emit.fork(symbolic);
        i.move_before(usual);
        emit.inside(rare, hook);
    }
}

fn is_variable(i: Value) -> bool {
    i.opcode() == Opcode::LLVMAlloca
}

/// Is this a variable that nothing but its own function's loads and stores accesses? What a function
/// with one body has at hand is concrete, so such a variable always is.
pub fn is_plain(i: Value) -> bool {
    let only_accessed = |user: Value| match user.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => user.operand(0) != i,
        Opcode::LLVMCall => user
            .intrinsic_called()
            .is_some_and(|name| name.starts_with("lifetime.") || name.starts_with("dbg.")),
        _ => false,
    };
    is_variable(i) && i.users().all(only_accessed)
}

fn starts_list(i: Value) -> bool {
    i.is_call()
        && i.intrinsic_called()
            .is_some_and(|name| name.starts_with("va_start"))
}
