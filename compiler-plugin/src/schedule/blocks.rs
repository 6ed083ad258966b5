//! Copies and fills of blocks, and accesses to values that no word holds: a hook does them in the place
//! of the instruction, in steps of a word at most (`raddle_copy`, `raddle_fill`).

use super::{Schedule, range_hook};
use crate::access::Access;
use crate::convert::widened;
use crate::hooks::Hooks;
use crate::ir::{Emit, Kind, Layout, Opcode, Predicate, Type, Value};
use crate::outside;
use raddle_protocol::hooks::{MODE_ACCESSES, copy};

/// Alignment of a variable that takes the place of an argument, which may ask for as much.
const MOST_ALIGNED: u32 = 64;

/// A new variable of the function.
pub fn variable(function: Value, ty: Type) -> Value {
    let entry = function.first_block().and_then(|block| block.first());
    let first = entry.expect("a body has a block");
    Emit::new(ty.context(), first, None).alloca(ty)
}

/// Is it a load or store of this type that processors with AVX do at once? (Then LLVM chooses one of
/// the instructions for aligned operands.)
pub fn is_whole(layout: Layout, access: Value, ty: Type) -> bool {
    let vector = matches!(
        ty.kind(),
        Kind::LLVMVectorTypeKind | Kind::LLVMFP128TypeKind
    );
    vector && layout.store_size(ty) == 16 && access.alignment() >= 16
}

/// How the hook accesses the memory of a load or store of this type.
fn manner(layout: Layout, access: Value, ty: Type) -> u32 {
    let whole = match is_whole(layout, access, ty) {
        true => copy::VECTOR,
        false => 0,
    };
    let piece = match ty.kind() {
        Kind::LLVMVectorTypeKind => layout.store_size(ty.element()) as u32,
        _ => 0,
    };
    match piece {
        1 | 2 | 4 | 8 => whole | (copy::PIECE * piece),
        _ => whole,
    }
}

/// In the place of a load of a value that no word holds; the value.
pub fn load(hooks: &Hooks, layout: Layout, emit: &Emit, i: Value) -> Value {
    let ty = i.ty();
    let room = variable(i.block().function(), ty);
    let how = emit.c32(copy::TO_PRIVATE | manner(layout, i, ty));
    let length = emit.c64(layout.store_size(ty));
    hooks.call(emit, "raddle_copy", &[room, i.operand(0), length, how]);
    emit.load(ty, room)
}

/// In the place of a store of such a value.
pub fn store(hooks: &Hooks, layout: Layout, emit: &Emit, i: Value) {
    let value = i.operand(0);
    let room = variable(i.block().function(), value.ty());
    emit.store(value, room);
    let how = emit.c32(copy::FROM_PRIVATE | manner(layout, i, value.ty()));
    let length = emit.c64(layout.store_size(value.ty()));
    hooks.call(emit, "raddle_copy", &[i.operand(1), room, length, how]);
}

impl Schedule<'_> {
    /// memcpy, memmove, memset.
    pub(super) fn block(&self, i: Value, access: &Access) {
        let private = |index| Access::is_private(self.context, i, index);
        let (to, from, length, limit) = match *access {
            Access::Copy {
                to,
                from,
                length,
                limit,
            } => (to, Some(from), length, limit),
            Access::Set {
                to, length, limit, ..
            } => (to, None, length, limit),
            _ => return,
        };
        let plain = |pointer: Value| pointer.ty().address_space() == 0;
        if i.opcode() != Opcode::LLVMCall || !plain(to) || !from.is_none_or(plain) {
            return self.announce(i, |emit| {
                if let Some(from) = from.filter(|_| !private(1)) {
                    self.range(emit, range_hook(false), from, length);
                }
                if !private(0) {
                    self.range(emit, range_hook(true), to, length);
                }
            });
        }
        let emit = self.emit_before(i);
        let mut mode = self.guard(&emit);
        // A length that the function will refuse is left to it.
        if let Some(limit) = limit {
            let (length, limit) = (widened(&emit, length), widened(&emit, limit));
            let within = emit.compare(Predicate::LLVMIntULE, length, limit);
            mode = emit.and(mode, within);
        }
        self.instead_when(emit, i, mode, |emit| {
            let length = widened(emit, length);
            match *access {
                Access::Set { byte, .. } => {
                    let byte = match byte.ty().int_width() {
                        8 => byte,
                        _ => emit.trunc(byte, emit.int(8)),
                    };
                    self.hooks.call(emit, "raddle_fill", &[to, byte, length]);
                }
                _ => {
                    let bit = |index, bit| if private(index) { bit } else { 0 };
                    let how = bit(0, copy::TO_PRIVATE) | bit(1, copy::FROM_PRIVATE);
                    let from = from.expect("a copy has a source");
                    let arguments = [to, from, length, emit.c32(how)];
                    self.hooks.call(emit, "raddle_copy", &arguments);
                }
            }
            Some(to)
        });
    }

    /// A call of a function that does no more than access memory: a hook does it, step by step, or
    /// leaves it to the function.
    pub(super) fn stepwise(&self, i: Value) {
        let Some(model) = outside::model(i).filter(|model| model.is_stepwise()) else {
            return;
        };
        let is_pointer = |value: Value| value.ty().kind() == Kind::LLVMPointerTypeKind;
        let pointers = (0..i.argument_count()).filter(|&index| is_pointer(i.operand(index)));
        let private = |index: &u32| Access::is_private(self.context, i, *index);
        let (private, shared): (Vec<u32>, Vec<u32>) = pointers.partition(private);
        if shared.is_empty() {
            return;
        }
        let private: u32 = private.iter().map(|index| 1 << (24 + index)).sum();
        let room = self.variable(self.context.int(64).array(i.argument_count().into()));
        let place = |emit: &Emit, index: u32| emit.offset(room, emit.c64(8 * u64::from(index)));
        let mut emit = self.emit_before(i);
        let mode = self.hooks.mode_has(&emit, MODE_ACCESSES);
        let not_done = emit.c32(0);
        let done = emit.value_when(mode, not_done, |emit| {
            for (index, argument) in (0..).zip(i.arguments()) {
                let word = match is_pointer(argument) {
                    true => emit.ptr_to_int(argument, emit.int(64)),
                    false => widened(emit, argument),
                };
                emit.store(word, place(emit, index));
            }
            let code = model as u32 | i.argument_count() << 16 | private;
            self.hooks
                .call(emit, "raddle_stepwise", &[emit.c32(code), room])
        });
        let done = emit.compare(Predicate::LLVMIntNE, done, not_done);
        self.instead_when(emit, i, done, |emit| {
            (i.ty().kind() != Kind::LLVMVoidTypeKind).then(|| emit.load(i.ty(), place(emit, 0)))
        });
    }

    /// The call copies an argument from memory that others see: it gets a copy that was made before.
    pub(super) fn by_value(&self, i: Value, argument: u32, ty: Type) {
        let given = i.operand(argument);
        if given.ty().address_space() != 0 {
            return;
        }
        let room = self.variable(ty);
        room.set_alignment(MOST_ALIGNED);
        let mut emit = self.emit_before(i);
        let mode = self.guard(&emit);
        let taken = emit.value_when(mode, given, |emit| {
            let length = emit.c64(self.layout.store_size(ty));
            let arguments = [room, given, length, emit.c32(copy::TO_PRIVATE)];
            self.hooks.call(emit, "raddle_copy", &arguments);
            room
        });
        i.set_operand(argument, taken);
    }
}
