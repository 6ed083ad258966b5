//! Accesses that may leave the variable or block that their address was computed from: at a symbolic
//! address, or of a symbolic length, whether they do is a decision; others are compared with the
//! bounds of a variable.

use super::Body;
use super::terms::{Term, is_zero, pack};
use crate::ir::{Emit, Layout, Linkage, Opcode, Predicate, Value};

/// What an address was computed from.
pub enum Root {
    /// A variable of the function or the file, of so many bytes.
    Variable(Value, u64),
    /// Another pointer: the block of the heap that it leads to, if it does.
    Pointer(Value),
}

impl Body<'_> {
    /// Before an access of `length` (64 bits) at `pointer`.
    pub(super) fn check_bounds(&self, emit: &mut Emit, pointer: Value, length: Term) {
        let at = self.term(pointer);
        let symbolic = self.terms.any(emit, [at.expr, length.expr]);
        let (base, size, wanted) = match (root(self.layout, pointer), symbolic) {
            (Root::Variable(base, size), symbolic) => {
                let outside = self.outside(emit, pointer, (base, size), length.value);
                let either = match (symbolic, outside) {
                    (Some(symbolic), Some(outside)) => Some(emit.or(symbolic, outside)),
                    (one, other) => one.or(other),
                };
                (base, size, either)
            }
            // Of a pointer that is symbolic itself the block is not known.
            (Root::Pointer(base), _) if base == pointer && is_zero(length.expr) => return,
            (Root::Pointer(base), symbolic) => {
                let known = emit.compare(Predicate::LLVMIntEQ, self.expr(base), emit.c32(0));
                (base, 0, symbolic.map(|symbolic| emit.and(symbolic, known)))
            }
        };
        let Some(wanted) = wanted else {
            return;
        };
        emit.when(wanted, |emit| {
            let exprs = pack(emit, at.expr, length.expr);
            let arguments = [base, emit.c64(size), pointer, length.value, exprs];
            self.hooks.call(emit, "raddle_sym_bounds", &arguments);
        });
    }

    /// Do `length` bytes at `pointer` leave a variable? `None`: never.
    fn outside(
        &self,
        emit: &Emit,
        pointer: Value,
        (base, size): (Value, u64),
        length: Value,
    ) -> Option<Value> {
        let known = length.as_int_constant().map(Value::int_value);
        if let (Some(from), Some(length)) = (pointer.fixed_offset(base, self.layout), known) {
            let room = u64::try_from(from)
                .ok()
                .and_then(|from| size.checked_sub(from));
            let inside = room.is_some_and(|room| length <= room);
            return (!inside).then(|| emit.int(1).constant(1));
        }
        let word = emit.int(64);
        let [at, from] = [pointer, base].map(|p| emit.ptr_to_int(p, word));
        let offset = emit.sub(at, from);
        let beyond = emit.compare(Predicate::LLVMIntUGT, offset, emit.c64(size));
        let room = emit.sub(emit.c64(size), offset);
        let long = emit.compare(Predicate::LLVMIntUGT, length, room);
        Some(emit.or(beyond, long))
    }

    /// Before an access of so many bytes at `pointer`.
    pub(super) fn check_fixed(&self, emit: &mut Emit, pointer: Value, length: u64) {
        let length = Term::constant(emit, 64, length);
        self.check_bounds(emit, pointer, length);
    }
}

/// What the pointer was computed from.
pub fn root(layout: Layout, pointer: Value) -> Root {
    let base = match pointer.objects().as_deref() {
        Some([one]) => *one,
        _ => pointer,
    };
    match size_of(layout, base) {
        0 => Root::Pointer(base),
        size => Root::Variable(base, size),
    }
}

/// The bytes of a variable; 0: it is none, or of a size that this file does not know.
fn size_of(layout: Layout, base: Value) -> u64 {
    if let Some(instruction) = base.as_instruction() {
        let local = instruction.is_call()
            && instruction
                .intrinsic_called()
                .is_some_and(|name| name.starts_with("threadlocal.address"));
        return match instruction.opcode() {
            Opcode::LLVMAlloca => {
                let one = layout.alloc_size(base.allocated_type());
                let count = base.operand(0).as_int_constant();
                count.map_or(0, |count| one.saturating_mul(count.int_value()))
            }
            _ if local => size_of(layout, instruction.operand(0)),
            _ => 0,
        };
    }
    // A definition that another file may replace can be of another size there.
    let fixed = |global: &Value| {
        !global.is_declaration()
            && matches!(
                global.linkage(),
                Linkage::LLVMExternalLinkage
                    | Linkage::LLVMInternalLinkage
                    | Linkage::LLVMPrivateLinkage
            )
    };
    let global = base.as_global_variable().filter(fixed);
    global.map_or(0, |global| layout.alloc_size(global.value_type()))
}
