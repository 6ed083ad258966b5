//! Methods of blocks, types, contexts and modules that are more than one call of LLVM-C.

use super::{Block, Context, Linkage, Meta, Module, Opcode, Raw, Type, Value, bytes};
use crate::shim;
use core::ffi::{CStr, c_uint};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

impl Block {
    /// Its instructions, as the list is now.
    pub fn instructions(self) -> Vec<Value> {
        core::iter::successors(self.first(), |one| one.next()).collect()
    }

    /// The blocks that its terminator leads to.
    pub fn successors(self) -> Vec<Block> {
        self.terminator().map_or(Vec::new(), |end| {
            (0..end.successor_count())
                .map(|index| end.successor(index))
                .collect()
        })
    }

    /// Does somebody hold its address?
    pub fn address_taken(self) -> bool {
        self.as_value()
            .users()
            .any(|user| user.as_block_address().is_some())
    }

    /// Of a block that begins a loop: moves the loop's test to its end, and in front of it.
    pub fn rotate(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_rotate(self.0) }
    }

    /// Of a block that begins a loop: is the loop left at the end of this block after some number of
    /// rounds, if it is not left before?
    pub fn is_counted(self, end: Block) -> bool {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_is_counted(self.0, end.0) }
    }

    /// The first instruction that is not a phi.
    pub fn first_non_phi(self) -> Option<Value> {
        core::iter::successors(self.first(), |one| one.next())
            .find(|one| one.opcode() != Opcode::LLVMPHI)
    }
}

impl Type {
    /// The constant `value`, cut to the type. Integers only.
    pub fn constant(self, value: u64) -> Value {
        // SAFETY: as the module's documentation says.
        Value(unsafe { LLVMConstInt(self.0, value, 0) })
    }

    /// An array type. Sized types only.
    pub fn array(self, length: u64) -> Type {
        // SAFETY: as the module's documentation says.
        Type(unsafe { LLVMArrayType2(self.0, length) })
    }

    /// A function type.
    pub fn function(self, params: &[Type]) -> Type {
        let mut raw: Vec<_> = params.iter().map(|ty| ty.0).collect();
        // SAFETY: as the module's documentation says; pointer and length describe the array.
        Type(unsafe { LLVMFunctionType(self.0, raw.as_mut_ptr(), raw.len() as c_uint, 0) })
    }

    /// A variadic function that returns this.
    pub fn variadic_function(self, params: &[Type]) -> Type {
        let mut raw: Vec<_> = params.iter().map(|ty| ty.0).collect();
        // SAFETY: as above.
        Type(unsafe { LLVMFunctionType(self.0, raw.as_mut_ptr(), raw.len() as c_uint, 1) })
    }
}

impl Context {
    /// `ptr`.
    pub fn pointer(self) -> Type {
        self.pointer_in(0)
    }

    /// Number of a metadata kind.
    pub fn metadata_kind(self, name: &str) -> u32 {
        // SAFETY: pointer and length describe the string.
        unsafe { LLVMGetMDKindIDInContext(self.0, name.as_ptr().cast(), name.len() as c_uint) }
    }

    /// A metadata node of constants and texts, as instructions take it.
    pub fn node(self, items: &[Meta]) -> Value {
        let mut raw: Vec<_> = items.iter().map(|meta| meta.0).collect();
        // SAFETY: as the module's documentation says; pointer and length describe the array.
        unsafe {
            let node = LLVMMDNodeInContext2(self.0, raw.as_mut_ptr(), raw.len());
            Value(LLVMMetadataAsValue(self.0, node))
        }
    }

    /// A text as metadata.
    pub fn text(self, text: &str) -> Meta {
        // SAFETY: pointer and length describe the string.
        Meta(unsafe { LLVMMDStringInContext2(self.0, text.as_ptr().cast(), text.len()) })
    }

    /// A constant as metadata.
    pub fn meta(self, constant: Value) -> Meta {
        // SAFETY: as the module's documentation says.
        Meta(unsafe { LLVMValueAsMetadata(constant.0) })
    }

    /// A source location.
    pub fn location(self, line: u32, scope: Meta, inlined_at: Option<Meta>) -> Meta {
        // SAFETY: as the module's documentation says.
        Meta(unsafe {
            LLVMDIBuilderCreateDebugLocation(self.0, line, 0, scope.0, inlined_at.raw())
        })
    }

    /// An array constant. The elements have the type.
    pub fn constant_array(self, element: Type, items: &[Value]) -> Value {
        let mut raw: Vec<_> = items.iter().map(|item| item.0).collect();
        // SAFETY: as the module's documentation says; pointer and length describe the array.
        Value(unsafe { LLVMConstArray2(element.0, raw.as_mut_ptr(), raw.len() as u64) })
    }
}

impl Module {
    /// The handle of the module that LLVM gave to the pass.
    ///
    /// # Safety
    /// `module` is live and nobody else touches it while handles are used.
    pub unsafe fn new(module: LLVMModuleRef) -> Module {
        Module(module)
    }

    /// Every function, as the list is now.
    pub fn functions(self) -> Vec<Value> {
        core::iter::successors(self.first_function(), |f| f.next_function()).collect()
    }

    /// Every indirect function.
    pub fn ifuncs(self) -> Vec<Value> {
        core::iter::successors(self.first_ifunc(), |f| f.next_ifunc()).collect()
    }

    /// The function or variable of this name.
    pub fn function(self, name: &str) -> Option<Value> {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: as the module's documentation says; the name is NUL-terminated.
        Option::of(unsafe { LLVMGetNamedFunction(self.0, name.as_ptr()) })
    }

    /// Declares a function.
    pub fn declare_function(self, name: &str, ty: Type) -> Value {
        let name = std::ffi::CString::new(name).unwrap_or_default();
        // SAFETY: as the module's documentation says; the name is NUL-terminated.
        Value(unsafe { LLVMAddFunction(self.0, name.as_ptr(), ty.0) })
    }

    /// Finds or declares a variable that another object defines.
    pub fn external(self, name: &str, ty: Type) -> Value {
        let name = std::ffi::CString::new(name).unwrap_or_default();
        // SAFETY: as the module's documentation says; the name is NUL-terminated.
        unsafe {
            let found = LLVMGetNamedGlobal(self.0, name.as_ptr());
            if found.is_null() {
                Value(LLVMAddGlobal(self.0, ty.0, name.as_ptr()))
            } else {
                Value(found)
            }
        }
    }

    /// The variable of this name.
    pub fn variable(self, name: &str) -> Option<Value> {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: as the module's documentation says; the name is NUL-terminated.
        Option::of(unsafe { LLVMGetNamedGlobal(self.0, name.as_ptr()) })
    }

    /// Adds a private constant, in a section if one is named.
    pub fn constant(self, name: &str, value: Value, section: Option<&str>) -> Value {
        let name = std::ffi::CString::new(name).unwrap_or_default();
        // SAFETY: as the module's documentation says; the texts are NUL-terminated.
        unsafe {
            let global = LLVMAddGlobal(self.0, value.ty().0, name.as_ptr());
            LLVMSetInitializer(global, value.0);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, Linkage::LLVMPrivateLinkage);
            if let Some(section) = section {
                let section = std::ffi::CString::new(section).unwrap_or_default();
                LLVMSetSection(global, section.as_ptr());
            }
            Value(global)
        }
    }

    /// A private constant text, NUL-terminated; one for each text.
    pub fn text(self, text: &str) -> Value {
        let name = std::ffi::CString::new(format!("raddle_text.{text}")).unwrap_or_default();
        // SAFETY: as the module's documentation says; the name is NUL-terminated.
        let found: Option<Value> = Option::of(unsafe { LLVMGetNamedGlobal(self.0, name.as_ptr()) });
        found.unwrap_or_else(|| self.text_in(&name.to_string_lossy(), text, None))
    }

    /// A private constant with a text and a NUL.
    pub fn text_in(self, name: &str, text: &str, section: Option<&str>) -> Value {
        let context = self.context().0;
        // SAFETY: as the module's documentation says; pointer and length describe the text.
        let value = Value(unsafe {
            LLVMConstStringInContext2(context, text.as_ptr().cast(), text.len(), 0)
        });
        self.constant(name, value, section)
    }

    /// The name of the source file, as the compiler was given it.
    pub fn source_file(self) -> String {
        let mut length = 0;
        // SAFETY: as the module's documentation says; `length` outlives the call.
        let data = unsafe { LLVMGetSourceFileName(self.0, &mut length) };
        String::from_utf8_lossy(bytes(data, length)).into_owned()
    }

    /// Ends the process with a message if the module is not well-formed.
    pub fn verify(self) {
        let action = llvm_sys::analysis::LLVMVerifierFailureAction::LLVMAbortProcessAction;
        // SAFETY: as the module's documentation says; no message is asked for.
        unsafe { llvm_sys::analysis::LLVMVerifyModule(self.0, action, core::ptr::null_mut()) };
    }

    /// Adds those functions of the bitcodes that the module, or one from a bitcode before, calls and the
    /// module does not define.
    ///
    /// # Panics
    /// If a bitcode is not that of LLVM 19.
    pub fn add_bodies(self, bitcodes: &[&[u8]]) {
        for bitcode in bitcodes {
            let (at, length) = (bitcode.as_ptr().cast(), bitcode.len());
            // SAFETY: as the module's documentation says; pointer and length describe the bytes.
            let added = unsafe { shim::raddle_shim_add_bodies(self.0, at, length) };
            assert!(added, "the bodies for libstdc++ cannot be added");
        }
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_own_bodies(self.0) };
    }

    /// Keeps a global value through every optimisation and section garbage collection.
    pub fn keep(self, global: Value) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_keep(self.0, global.0) }
    }
}

/// While it lives, time counts for this phase in what `-ftime-trace` writes.
pub struct Phase(());

impl Phase {
    /// From here on.
    pub fn begin(name: &'static str) -> Phase {
        // SAFETY: pointer and length describe the text; the profiler is the thread's own.
        unsafe { shim::raddle_shim_phase_begins(name.as_ptr().cast(), name.len()) };
        Phase(())
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        // SAFETY: phases end in the opposite order of their beginnings, as scopes do.
        unsafe { shim::raddle_shim_phase_ends() }
    }
}

impl Context {
    /// A new block before another one.
    pub fn insert_block(self, before: Block, name: &CStr) -> Block {
        // SAFETY: as the module's documentation says.
        Block(unsafe { LLVMInsertBasicBlockInContext(self.0, before.0, name.as_ptr()) })
    }
}
