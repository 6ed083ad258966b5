//! Which memory only the running function can see.
//!
//! The answer is worked out once, on the function as it comes, and written onto its instructions
//! as metadata, so that the scheduling body and the symbolic body agree in what is visible.

use crate::ir::{Context, Kind, Linkage, Module, Opcode, Place, Value};
use std::collections::HashMap;

/// Uses of one object that are looked at before it counts as known to others.
const MAX_USES: u32 = 10_000;

/// Bit of a note: the first pointer leads to constants only.
const CONSTANT: u64 = 1 << 31;

/// Section and name prefixes of counters that the compiler itself added.
const OWN_SECTIONS: &[&str] = &["__llvm_prf_", "__llvm_covmap", "__sancov_"];
const OWN_NAMES: &[&str] = &["__llvm_gcov", "__llvm_gcda", "__profc_", "__sancov_"];

/// Functions whose result points to memory of the calling thread alone.
const THREAD_PRIVATE: &[&str] = &["__errno_location", "__ctype_b_loc", "__cxa_get_globals"];

/// Remembers what is known of the objects of one function.
pub struct Sharing {
    context: Context,
    private: HashMap<Value, bool>,
}

impl Sharing {
    /// Knows nothing yet.
    pub fn new(module: Module) -> Sharing {
        Sharing {
            context: module.context(),
            private: HashMap::new(),
        }
    }

    /// Notes on `instruction` which of these pointers, each with a number below 31, lead to private
    /// memory only.
    pub fn note(&mut self, instruction: Value, pointers: &[(u32, Value)]) {
        let mut mask = 0;
        for &(index, pointer) in pointers {
            if self.is_private(pointer) {
                mask |= 1 << index;
            }
        }
        if let Some(&(0, pointer)) = pointers.first()
            && leads_to_constants(pointer)
        {
            mask |= CONSTANT;
        }
        if mask != 0 {
            let constant = self.context.int(32).constant(mask);
            let node = self.context.node(&[self.context.meta(constant)]);
            instruction.set_metadata(kind(self.context), Some(node));
        }
    }

    fn is_private(&mut self, pointer: Value) -> bool {
        if pointer.ty().kind() == Kind::LLVMPointerTypeKind && pointer.ty().address_space() != 0 {
            // Segment-relative: memory of the thread.
            return true;
        }
        match pointer.objects() {
            Some(objects) => objects.into_iter().all(|object| self.object(object)),
            None => false,
        }
    }

    fn object(&mut self, object: Value) -> bool {
        if let Some(&known) = self.private.get(&object) {
            return known;
        }
        let answer = object_is_private(object);
        self.private.insert(object, answer);
        answer
    }
}

/// Does the pointer lead to memory that nobody ever writes?
fn leads_to_constants(pointer: Value) -> bool {
    let constant = |object: Value| {
        object
            .as_global_variable()
            .is_some_and(Value::is_constant_global)
    };
    pointer
        .objects()
        .is_some_and(|objects| objects.into_iter().all(constant))
}

fn object_is_private(object: Value) -> bool {
    if object.is_swift_error() {
        return true;
    }
    if let Some(global) = object.as_global_variable() {
        return global_is_private(global);
    }
    if let Some(argument) = object.as_argument() {
        return is_by_value(argument) && !argument.captured(MAX_USES);
    }
    let Some(instruction) = object.as_instruction() else {
        return false;
    };
    match instruction.opcode() {
        Opcode::LLVMAlloca => !instruction.captured(MAX_USES),
        Opcode::LLVMCall | Opcode::LLVMInvoke => {
            let name = instruction.callee().as_function().map(Value::name);
            match name.as_deref() {
                Some("llvm.threadlocal.address.p0") => {
                    is_unshared_thread_local(instruction.operand(0))
                }
                Some(name) if THREAD_PRIVATE.contains(&name) => true,
                _ => {
                    instruction.call_has_attribute(Place::Result, "noalias")
                        && !instruction.captured(MAX_USES)
                }
            }
        }
        _ => false,
    }
}

fn is_by_value(argument: Value) -> bool {
    let function = argument.argument_of();
    (0..function.param_count())
        .find(|&index| function.param(index) == argument)
        .is_some_and(|index| function.has_attribute(Place::Param(index), "byval"))
}

fn global_is_private(global: Value) -> bool {
    let name = global.name();
    let section = global.section();
    global.is_constant_global()
        || is_unshared_thread_local(global)
        || OWN_NAMES.iter().any(|prefix| name.starts_with(prefix))
        || OWN_SECTIONS
            .iter()
            .any(|prefix| section.starts_with(prefix))
}

/// Is this a thread-local variable that no other file names and whose address is never given away?
fn is_unshared_thread_local(variable: Value) -> bool {
    variable
        .as_global_variable()
        .is_some_and(Value::is_thread_local)
        && matches!(
            variable.linkage(),
            Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
        )
        && variable.users().all(|user| {
            user.as_instruction().is_some_and(|user| {
                user.is_call()
                    && user.intrinsic_called().as_deref() == Some("threadlocal.address.p0")
                    && !user.captured(MAX_USES)
            })
        })
}

fn kind(context: Context) -> u32 {
    context.metadata_kind("raddle.private")
}

fn noted(context: Context, instruction: Value) -> u64 {
    // A node as a value has its constants as operands.
    instruction
        .metadata(kind(context))
        .map_or(0, |node| node.operand(0).int_value())
}

/// Does the `index`-th pointer that was noted on the instruction lead to private memory only?
pub fn is_private(context: Context, instruction: Value, index: u32) -> bool {
    noted(context, instruction) & (1 << index) != 0
}

/// Does the first pointer that was noted on the instruction lead to constants only?
pub fn is_constant(instruction: Value) -> bool {
    noted(instruction.ty().context(), instruction) & CONSTANT != 0
}

/// Takes the notes of one instruction over to another.
pub fn copy_note(context: Context, from: Value, to: Value) {
    to.set_metadata(kind(context), from.metadata(kind(context)));
}

/// Takes the notes away from an instruction.
pub fn forget(context: Context, instruction: Value) {
    instruction.set_metadata(kind(context), None);
}
