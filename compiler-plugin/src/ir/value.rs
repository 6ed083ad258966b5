//! Methods of values that are more than one call of LLVM-C.

use super::{Block, Layout, Module, Opcode, Raw, TailCall, Use, Value, bytes};
use crate::shim;
use core::ffi::{CStr, c_uint, c_void};
use llvm_sys::LLVMInlineAsmDialect;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use raddle_protocol::hooks::{STRETCH_ALWAYS, STRETCH_LEVELS, STRETCHES, Stretch};

/// What a load or store accesses.
pub struct Touch {
    pub pointer: Value,
    /// The variable that it has to stay in, if one is known.
    pub base: Option<Value>,
    /// Bytes of the access.
    pub size: u64,
    /// Bytes of the variable.
    pub room: u64,
    /// As a [`Stretch`] has it.
    pub manner: u64,
}

impl Value {
    /// Its name; empty without one.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: as the module's documentation says; `length` outlives the call.
        let data = unsafe { LLVMGetValueName2(self.0, &mut length) };
        String::from_utf8_lossy(bytes(data, length)).into_owned()
    }

    /// Names the value; LLVM appends a number when the name is taken.
    pub fn set_name(self, name: &str) {
        // SAFETY: as the module's documentation says; pointer and length describe the string.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    /// Global values only: the section it was put into.
    pub fn section(self) -> String {
        // SAFETY: as the module's documentation says.
        let section = unsafe { LLVMGetSection(self.0) };
        if section.is_null() {
            return String::new();
        }
        // SAFETY: LLVM-C's contract: a NUL-terminated text.
        unsafe { CStr::from_ptr(section) }
            .to_string_lossy()
            .into_owned()
    }

    /// How many operands an instruction or constant has.
    pub fn operand_count(self) -> u32 {
        // SAFETY: as the module's documentation says.
        u32::try_from(unsafe { LLVMGetNumOperands(self.0) }).unwrap_or(0)
    }

    /// Its operands.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    /// Calls only: the arguments.
    pub fn arguments(self) -> impl Iterator<Item = Value> {
        (0..self.argument_count()).map(move |index| self.operand(index))
    }

    /// Instructions that use this value, each once a use; constants that do are left out.
    pub fn users(self) -> impl Iterator<Item = Value> {
        core::iter::successors(self.first_use(), |one| one.next()).map(Use::user)
    }

    /// `extractvalue` and `insertvalue` only: the path to the element.
    pub fn indices(self) -> Vec<u32> {
        let count = self.index_count() as usize;
        // SAFETY: as the module's documentation says: there are `count` of them.
        unsafe { core::slice::from_raw_parts(LLVMGetIndices(self.0), count) }.to_vec()
    }

    /// Calls only: `musttail`?
    pub fn is_must_tail(self) -> bool {
        self.opcode() == Opcode::LLVMCall
            // SAFETY: as the module's documentation says: it is a `call`.
            && unsafe { LLVMGetTailCallKind(self.0) } == TailCall::LLVMTailCallKindMustTail
    }

    /// `call` only.
    pub fn set_tail_call(self, kind: TailCall) {
        // SAFETY: as the module's documentation says: it is a `call`.
        unsafe { LLVMSetTailCallKind(self.0, kind) }
    }

    /// `call` only: it stays a call where a jump would do.
    pub fn forbid_tail_call(self) {
        self.set_tail_call(TailCall::LLVMTailCallKindNoTail);
    }

    /// Inline assembly only: its text.
    pub fn asm_text(self) -> String {
        let mut length = 0;
        // SAFETY: as the module's documentation says; `length` outlives the call.
        let data = unsafe { LLVMGetInlineAsmAsmString(self.0, &mut length) };
        String::from_utf8_lossy(bytes(data, length)).into_owned()
    }

    /// Inline assembly only: its constraints.
    pub fn asm_constraints(self) -> String {
        let mut length = 0;
        // SAFETY: as the module's documentation says; `length` outlives the call.
        let data = unsafe { LLVMGetInlineAsmConstraintString(self.0, &mut length) };
        String::from_utf8_lossy(bytes(data, length)).into_owned()
    }

    /// Inline assembly only: is its text in Intel's dialect?
    pub fn is_intel(self) -> bool {
        // SAFETY: as the module's documentation says.
        let dialect = unsafe { LLVMGetInlineAsmDialect(self.0) };
        matches!(dialect, LLVMInlineAsmDialect::LLVMInlineAsmDialectIntel)
    }

    /// Is this a call of any form?
    pub fn is_call(self) -> bool {
        matches!(
            self.opcode(),
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr
        )
    }

    /// Calls only: the name of the intrinsic that is called, without `llvm.`.
    pub fn intrinsic_called(self) -> Option<String> {
        let callee = self.callee().as_function()?;
        (callee.intrinsic() != 0).then(|| callee.name()["llvm.".len()..].to_owned())
    }

    /// Phis only.
    pub fn add_incoming(self, value: Value, block: Block) {
        // SAFETY: as the module's documentation says; both arrays have one element.
        unsafe { LLVMAddIncoming(self.0, &mut value.raw(), &mut block.raw(), 1) }
    }

    /// Instructions only: moves it.
    pub fn move_before(self, other: Value) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_move_before(self.0, other.0) }
    }

    /// Instructions only: ends its block before it and returns the new block that starts with it.
    /// The old one ends with a branch to the new one.
    pub fn split_before(self) -> Block {
        // SAFETY: as the module's documentation says.
        Block(unsafe { shim::raddle_shim_split_before(self.0) })
    }

    /// Invokes only: gives the edge to the normal destination a block of its own.
    pub fn split_normal_edge(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_split_normal_edge(self.0) }
    }

    /// Atomic updates and compare-exchanges only: replaces it by plain instructions.
    pub fn lower_atomic(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_lower_atomic(self.0) }
    }

    /// Pointers only: can code other than the function that made the pointer know it? `true` when
    /// that would take more than `limit` uses to find out.
    pub fn captured(self, limit: u32) -> bool {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_captured(self.0, limit) }
    }

    /// Calls only: does what is called write nothing where this argument, a pointer, leads?
    pub fn only_reads(self, argument: u32) -> bool {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_only_reads(self.0, argument) }
    }

    /// Pointers only: the objects that it can point into; `None` when they are too many.
    pub fn objects(self) -> Option<Vec<Value>> {
        let mut found = [core::ptr::null_mut(); 16];
        // SAFETY: as the module's documentation says; the array has so many elements.
        let count =
            unsafe { shim::raddle_shim_objects(self.0, found.as_mut_ptr(), found.len() as c_uint) }
                as usize;
        (count <= found.len()).then(|| found[..count].iter().map(|&raw| Value(raw)).collect())
    }

    /// Pointers only: how many bytes it is from `base`, where that is the same in every execution.
    pub fn fixed_offset(self, base: Value, layout: Layout) -> Option<i64> {
        let mut offset = 0;
        // SAFETY: as the module's documentation says; the number outlives the call.
        let fixed =
            unsafe { shim::raddle_shim_offset(self.0, base.0, layout.raw(), &raw mut offset) };
        fixed.then_some(offset)
    }

    /// Is it an alloca or argument of Swift's error register?
    pub fn is_swift_error(self) -> bool {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_swift_error(self.0) }
    }

    /// Functions only: a copy of it beside it.
    pub fn clone_function(self) -> Value {
        // SAFETY: as the module's documentation says.
        Value::of(unsafe { shim::raddle_shim_clone(self.0) })
    }

    /// Functions only: makes it a declaration.
    pub fn delete_body(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_delete_body(self.0) }
    }

    /// Functions only: removes unreachable blocks, turns variables that allow it into values, and
    /// removes those that nobody uses.
    pub fn simplify(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_simplify(self.0) }
    }

    /// Functions only: makes second copies of loops whose accesses `describe` tells of; `hook` is
    /// called before them.
    pub fn copy_settled<F>(self, hook: Value, mut describe: F)
    where
        F: FnMut(Value) -> Option<Touch>,
    {
        unsafe extern "C" fn call<F: FnMut(Value) -> Option<Touch>>(
            describe: *mut c_void,
            instruction: LLVMValueRef,
            out: *mut shim::Touch,
        ) -> bool {
            // SAFETY: what was given below, while the call below lasts.
            let describe = unsafe { &mut *describe.cast::<F>() };
            let touch = describe(Value(instruction));
            let known = touch.is_some();
            if let Some(touch) = touch {
                let touch = shim::Touch {
                    pointer: touch.pointer.0,
                    base: touch.base.map_or(core::ptr::null_mut(), |base| base.0),
                    size: touch.size,
                    room: touch.room,
                    manner: touch.manner,
                };
                // SAFETY: the shim gives room for one.
                unsafe { out.write(touch) };
            }
            known
        }
        let told = shim::Nests {
            context: (&raw mut describe).cast(),
            describe: call::<F>,
            hook: hook.0,
            always: STRETCH_ALWAYS,
            words: (size_of::<Stretch>() / 8) as u32,
            levels: STRETCH_LEVELS as u32,
            most: STRETCHES as u32,
        };
        // SAFETY: as the module's documentation says; `told` outlives the call.
        unsafe { shim::raddle_shim_copy_settled(self.0, &told) }
    }

    /// Calls only: puts the body of what is called in its place; `false`: it cannot.
    pub fn inline(self) -> bool {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_inline(self.0) }
    }

    /// Functions only: operations on vectors become operations on their elements.
    pub fn scalarize(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_scalarize(self.0) }
    }

    /// Atomic updates only: replaces it by a loop of compare-exchanges.
    pub fn expand_rmw(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_rmw_to_cas(self.0) }
    }

    /// Functions only.
    pub fn blocks(self) -> impl Iterator<Item = Block> {
        core::iter::successors(self.first_block(), |block| block.next())
    }

    /// Functions only: every instruction, as the list is now.
    pub fn instructions(self) -> Vec<Value> {
        self.blocks().flat_map(Block::instructions).collect()
    }

    /// Gives the function a comdat of its own name that any copy may stand for.
    pub fn set_own_comdat(self, module: Module) {
        let name = std::ffi::CString::new(self.name()).unwrap_or_default();
        // SAFETY: as the module's documentation says; the name is NUL-terminated.
        unsafe {
            let comdat = llvm_sys::comdat::LLVMGetOrInsertComdat(module.0, name.as_ptr());
            llvm_sys::comdat::LLVMSetComdat(self.0, comdat);
        }
    }

    /// Global values only: no comdat.
    pub fn clear_comdat(self) {
        // SAFETY: as the module's documentation says; null takes it away.
        unsafe { llvm_sys::comdat::LLVMSetComdat(self.0, core::ptr::null_mut()) }
    }

    /// Global values only: not visible outside the linked object.
    pub fn set_hidden(self) {
        // SAFETY: as the module's documentation says.
        unsafe { LLVMSetVisibility(self.0, llvm_sys::LLVMVisibility::LLVMHiddenVisibility) }
    }

    /// Global values only: default visibility.
    pub fn set_default_visibility(self) {
        // SAFETY: as the module's documentation says.
        unsafe { LLVMSetVisibility(self.0, llvm_sys::LLVMVisibility::LLVMDefaultVisibility) }
    }
}
