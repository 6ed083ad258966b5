//! LLVM-C as methods: thin handles for what the pass needs.
//!
//! # Safety of the whole module
//! LLVM-C asks that every handle is live and of the right kind. Handles are made only here, from
//! the module that the pass was given, and the pass has that module for itself while it runs. An
//! instruction dies only by [`Value::erase`], and whoever calls that uses no handle of it again.
//! Kinds are asked for ([`Value::opcode`], [`Type::kind`]) before kind-specific methods are used;
//! such methods say which kind they need.

mod emit;

use crate::shim;
use core::ffi::{CStr, c_char, c_uint, c_ulonglong};
pub use emit::Emit;
pub use llvm_sys::LLVMAtomicOrdering as Ordering;
pub use llvm_sys::LLVMAtomicRMWBinOp as RmwOp;
pub use llvm_sys::LLVMIntPredicate as Predicate;
pub use llvm_sys::LLVMLinkage as Linkage;
pub use llvm_sys::LLVMOpcode as Opcode;
pub use llvm_sys::LLVMTypeKind as Kind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex, LLVMAttributeReturnIndex};

/// What crosses the boundary to LLVM-C, and how.
trait Raw {
    type Raw;
    fn raw(self) -> Self::Raw;
    fn of(raw: Self::Raw) -> Self;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($raw:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name($raw);

        impl Raw for $name {
            type Raw = $raw;
            fn raw(self) -> $raw { self.0 }
            fn of(raw: $raw) -> $name {
                debug_assert!(!raw.is_null());
                $name(raw)
            }
        }

        impl Raw for Option<$name> {
            type Raw = $raw;
            fn raw(self) -> $raw { self.map_or(core::ptr::null_mut(), |handle| handle.0) }
            fn of(raw: $raw) -> Option<$name> { (!raw.is_null()).then_some($name(raw)) }
        }
    )*};
}

handles! {
    /// An instruction, constant, argument, global or function.
    Value(LLVMValueRef);
    /// A type.
    Type(LLVMTypeRef);
    /// A basic block.
    Block(LLVMBasicBlockRef);
    /// Metadata.
    Meta(LLVMMetadataRef);
    /// A module.
    Module(LLVMModuleRef);
    /// A context.
    Context(LLVMContextRef);
    /// Sizes and offsets on the target.
    Layout(LLVMTargetDataRef);
}

macro_rules! plain {
    ($($ty:ty as $raw:ty),*) => {$(
        impl Raw for $ty {
            type Raw = $raw;
            fn raw(self) -> $raw { self as $raw }
            fn of(raw: $raw) -> $ty { raw as $ty }
        }
    )*};
}
plain!(u32 as c_uint, u64 as c_ulonglong);

impl Raw for bool {
    type Raw = LLVMBool;
    fn raw(self) -> LLVMBool {
        LLVMBool::from(self)
    }
    fn of(raw: LLVMBool) -> bool {
        raw != 0
    }
}

macro_rules! same {
    ($($ty:ty),*) => {$(
        impl Raw for $ty {
            type Raw = $ty;
            fn raw(self) -> $ty { self }
            fn of(raw: $ty) -> $ty { raw }
        }
    )*};
}
same!((), Opcode, Kind, Ordering, RmwOp, Predicate, Linkage);

macro_rules! methods {
    ($ty:ident: $($(#[$doc:meta])* $name:ident($($arg:ident: $argty:ty),*) -> $ret:ty = $f:path;)*) => {
        impl $ty {$(
            $(#[$doc])*
            pub fn $name(self $(, $arg: $argty)*) -> $ret {
                // SAFETY: as the module's documentation says.
                <$ret as Raw>::of(unsafe { $f(self.0 $(, $arg.raw())*) })
            }
        )*}
    };
}

methods! { Module:
    context() -> Context = LLVMGetModuleContext;
    first_function() -> Option<Value> = LLVMGetFirstFunction;
    first_ifunc() -> Option<Value> = LLVMGetFirstGlobalIFunc;
    layout() -> Layout = LLVMGetModuleDataLayout;
}

methods! { Context:
    void() -> Type = LLVMVoidTypeInContext;
    int(bits: u32) -> Type = LLVMIntTypeInContext;
    pointer_in(address_space: u32) -> Type = LLVMPointerTypeInContext;
}

methods! { Type:
    kind() -> Kind = LLVMGetTypeKind;
    context() -> Context = LLVMGetTypeContext;
    /// Integers only.
    int_width() -> u32 = LLVMGetIntTypeWidth;
    /// Pointers only.
    address_space() -> u32 = LLVMGetPointerAddressSpace;
    is_sized() -> bool = LLVMTypeIsSized;
    /// Structures only.
    field_count() -> u32 = LLVMCountStructElementTypes;
    /// Structures only.
    field(index: u32) -> Type = LLVMStructGetTypeAtIndex;
    /// Arrays only.
    array_length() -> u64 = LLVMGetArrayLength2;
    /// Arrays and vectors only.
    element() -> Type = LLVMGetElementType;
    /// Function types only.
    result() -> Type = LLVMGetReturnType;
    /// Function types only.
    is_variadic() -> bool = LLVMIsFunctionVarArg;
    /// Function types only.
    param_count() -> u32 = LLVMCountParamTypes;
    null() -> Value = LLVMConstNull;
    poison() -> Value = LLVMGetPoison;
}

methods! { Block:
    function() -> Value = LLVMGetBasicBlockParent;
    first() -> Option<Value> = LLVMGetFirstInstruction;
    terminator() -> Option<Value> = LLVMGetBasicBlockTerminator;
    next() -> Option<Block> = LLVMGetNextBasicBlock;
    as_value() -> Value = LLVMBasicBlockAsValue;
    move_after(other: Block) -> () = LLVMMoveBasicBlockAfter;
}

methods! { Value:
    ty() -> Type = LLVMTypeOf;
    is_constant() -> bool = LLVMIsConstant;
    first_use() -> Option<Use> = LLVMGetFirstUse;
    replace_uses(by: Value) -> () = LLVMReplaceAllUsesWith;
    operand(index: u32) -> Value = LLVMGetOperand;
    set_operand(index: u32, value: Value) -> () = LLVMSetOperand;
    /// Loads, stores, allocas and globals only.
    set_alignment(bytes: u32) -> () = LLVMSetAlignment;
    /// Instructions only.
    opcode() -> Opcode = LLVMGetInstructionOpcode;
    /// Instructions only.
    block() -> Block = LLVMGetInstructionParent;
    /// Instructions only.
    next() -> Option<Value> = LLVMGetNextInstruction;
    /// Instructions only.
    previous() -> Option<Value> = LLVMGetPreviousInstruction;
    /// Instructions only; nobody may use the value or any handle of it afterwards.
    erase() -> () = LLVMInstructionEraseFromParent;
    /// Instructions only.
    location() -> Option<Meta> = LLVMInstructionGetDebugLoc;
    /// Instructions only.
    set_location(location: Option<Meta>) -> () = LLVMInstructionSetDebugLoc;
    /// Instructions only.
    metadata(kind: u32) -> Option<Value> = LLVMGetMetadata;
    /// Instructions only.
    set_metadata(kind: u32, node: Option<Value>) -> () = LLVMSetMetadata;
    as_instruction() -> Option<Value> = LLVMIsAInstruction;
    as_function() -> Option<Value> = LLVMIsAFunction;
    as_argument() -> Option<Value> = LLVMIsAArgument;
    /// Arguments only: whose.
    argument_of() -> Value = LLVMGetParamParent;
    as_global_variable() -> Option<Value> = LLVMIsAGlobalVariable;
    as_inline_asm() -> Option<Value> = LLVMIsAInlineAsm;
    as_block_address() -> Option<Value> = LLVMIsABlockAddress;
    as_int_constant() -> Option<Value> = LLVMIsAConstantInt;
    /// Integer constants of at most 64 bits only.
    int_value() -> u64 = LLVMConstIntGetZExtValue;
    /// Global values only.
    linkage() -> Linkage = LLVMGetLinkage;
    /// Global values only.
    set_linkage(linkage: Linkage) -> () = LLVMSetLinkage;
    /// Global values only.
    is_declaration() -> bool = LLVMIsDeclaration;
    /// Global variables only.
    is_constant_global() -> bool = LLVMIsGlobalConstant;
    /// Global variables only.
    is_thread_local() -> bool = LLVMIsThreadLocal;
    /// Global values only: the type that it was declared with.
    value_type() -> Type = LLVMGlobalGetValueType;
    /// Functions only.
    next_function() -> Option<Value> = LLVMGetNextFunction;
    /// Indirect functions only.
    next_ifunc() -> Option<Value> = LLVMGetNextGlobalIFunc;
    /// Indirect functions only.
    resolver() -> Value = LLVMGetGlobalIFuncResolver;
    /// Functions only.
    intrinsic() -> u32 = LLVMGetIntrinsicID;
    /// Functions only.
    first_block() -> Option<Block> = LLVMGetFirstBasicBlock;
    /// Functions only.
    param_count() -> u32 = LLVMCountParams;
    /// Functions only.
    param(index: u32) -> Value = LLVMGetParam;
    /// Functions only.
    subprogram() -> Option<Meta> = LLVMGetSubprogram;
    /// Functions only.
    has_prefix() -> bool = LLVMHasPrefixData;
    /// Functions only.
    set_prefix(data: Value) -> () = LLVMSetPrefixData;
    /// Calls only: the called value.
    callee() -> Value = LLVMGetCalledValue;
    /// Calls only.
    callee_type() -> Type = LLVMGetCalledFunctionType;
    /// Calls only.
    argument_count() -> u32 = LLVMGetNumArgOperands;
    /// Invokes only.
    normal_destination() -> Block = LLVMGetNormalDest;
    /// Invokes only.
    set_normal_destination(block: Block) -> () = LLVMSetNormalDest;
    /// Loads, stores and other accesses.
    is_volatile() -> bool = LLVMGetVolatile;
    set_volatile(volatile: bool) -> () = LLVMSetVolatile;
    /// Loads and stores and fences.
    ordering() -> Ordering = LLVMGetOrdering;
    /// Compare-exchanges only.
    success_ordering() -> Ordering = LLVMGetCmpXchgSuccessOrdering;
    /// Atomic instructions only.
    is_single_thread() -> bool = LLVMIsAtomicSingleThread;
    /// Atomic updates only.
    rmw_operation() -> RmwOp = LLVMGetAtomicRMWBinOp;
    /// Comparisons of integers only.
    predicate() -> Predicate = LLVMGetICmpPredicate;
    /// Address computations only.
    source_element() -> Type = LLVMGetGEPSourceElementType;
    /// Allocas only.
    allocated_type() -> Type = LLVMGetAllocatedType;
    /// Branches only.
    is_conditional() -> bool = LLVMIsConditional;
    /// Terminators only.
    successor_count() -> u32 = LLVMGetNumSuccessors;
    /// Terminators only.
    successor(index: u32) -> Block = LLVMGetSuccessor;
    /// Phis only.
    incoming_count() -> u32 = LLVMCountIncoming;
    /// Phis only.
    incoming_value(index: u32) -> Value = LLVMGetIncomingValue;
    /// Phis only.
    incoming_block(index: u32) -> Block = LLVMGetIncomingBlock;
    index_count() -> u32 = LLVMGetNumIndices;
}

handles! {
    /// One use of a value.
    Use(LLVMUseRef);
}

methods! { Use:
    next() -> Option<Use> = LLVMGetNextUse;
    user() -> Value = LLVMGetUser;
}

methods! { Layout:
    /// Bytes that a store of the type writes.
    store_size(ty: Type) -> u64 = LLVMStoreSizeOfType;
    /// Bytes from one element of an array to the next.
    alloc_size(ty: Type) -> u64 = LLVMABISizeOfType;
    bits(ty: Type) -> u64 = LLVMSizeOfTypeInBits;
    /// Structures only.
    field_offset(ty: Type, index: u32) -> u64 = LLVMOffsetOfElement;
}

methods! { Meta:
    /// Locations only.
    line() -> u32 = LLVMDILocationGetLine;
    /// Locations only.
    scope() -> Meta = LLVMDILocationGetScope;
    /// Locations only.
    inlined_at() -> Option<Meta> = LLVMDILocationGetInlinedAt;
    /// Subprograms only.
    subprogram_line() -> u32 = LLVMDISubprogramGetLine;
}

/// Where an attribute stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Function,
    Result,
    /// Parameter by index.
    Param(u32),
}

impl Place {
    fn index(self) -> LLVMAttributeIndex {
        match self {
            Place::Function => LLVMAttributeFunctionIndex,
            Place::Result => LLVMAttributeReturnIndex,
            Place::Param(index) => index + 1,
        }
    }
}

/// Number of an attribute kind that LLVM 19 knows by this name.
fn attribute_kind(name: &str) -> c_uint {
    // SAFETY: pointer and length describe the string.
    let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    debug_assert!(kind != 0, "no attribute {name}");
    kind
}

fn bytes<'a>(data: *const c_char, length: usize) -> &'a [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: LLVM-C returned both; the text lives as long as the value that it names, and the
    // callers below use it at once.
    unsafe { core::slice::from_raw_parts(data.cast(), length) }
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

    /// Functions only: has it the attribute?
    pub fn has_attribute(self, place: Place, name: &str) -> bool {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says.
        !unsafe { LLVMGetEnumAttributeAtIndex(self.0, place.index(), kind) }.is_null()
    }

    /// Calls only: has the call the attribute, or the function that it names?
    pub fn call_has_attribute(self, place: Place, name: &str) -> bool {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says.
        let here = unsafe { LLVMGetCallSiteEnumAttribute(self.0, place.index(), kind) };
        !here.is_null()
            || self
                .callee()
                .as_function()
                .is_some_and(|f| f.has_attribute(place, name))
    }

    /// Calls only: the type of a type attribute (`byval`, `elementtype`) of an argument.
    pub fn call_type_attribute(self, argument: u32, name: &str) -> Option<Type> {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says; a type attribute has a type.
        unsafe {
            let found = LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind);
            (!found.is_null()).then(|| Type::of(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// Functions only: the type of a type attribute of a parameter.
    pub fn type_attribute(self, param: u32, name: &str) -> Option<Type> {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says; a type attribute has a type.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.0, param + 1, kind);
            (!found.is_null()).then(|| Type::of(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// Functions only: is it not declared to leave all memory alone?
    pub fn may_touch_memory(self) -> bool {
        // SAFETY: as the module's documentation says; the attribute has a number.
        unsafe {
            let place = LLVMAttributeFunctionIndex;
            let found = LLVMGetEnumAttributeAtIndex(self.0, place, attribute_kind("memory"));
            found.is_null() || LLVMGetEnumAttributeValue(found) != 0
        }
    }

    /// Functions only: has it the attribute `name=value`?
    pub fn has_text_attribute(self, name: &str, value: &str) -> bool {
        let (key, length) = (name.as_ptr().cast(), name.len() as c_uint);
        let mut found_length = 0;
        // SAFETY: as the module's documentation says; the attribute has a text.
        let found = unsafe {
            let place = LLVMAttributeFunctionIndex;
            let found = LLVMGetStringAttributeAtIndex(self.0, place, key, length);
            if found.is_null() {
                return false;
            }
            LLVMGetStringAttributeValue(found, &mut found_length)
        };
        bytes(found, found_length as usize) == value.as_bytes()
    }

    /// Functions only.
    pub fn add_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), 0);
            LLVMAddAttributeAtIndex(self.0, place.index(), attribute);
        }
    }

    /// Calls only.
    pub fn add_call_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), 0);
            LLVMAddCallSiteAttribute(self.0, place.index(), attribute);
        }
    }

    /// Functions only.
    pub fn remove_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says; removing an absent one does nothing.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, place.index(), attribute_kind(name)) }
    }

    /// Calls only.
    pub fn remove_call_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says; removing an absent one does nothing.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, place.index(), attribute_kind(name)) }
    }

    /// Calls only: `musttail`?
    pub fn is_must_tail(self) -> bool {
        self.opcode() == Opcode::LLVMCall
            // SAFETY: as the module's documentation says: it is a `call`.
            && unsafe { LLVMGetTailCallKind(self.0) }
                == llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// `call` only.
    pub fn set_must_tail(self, must: bool) {
        let kind = if must {
            llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
        } else {
            llvm_sys::LLVMTailCallKind::LLVMTailCallKindNone
        };
        // SAFETY: as the module's documentation says: it is a `call`.
        unsafe { LLVMSetTailCallKind(self.0, kind) }
    }

    /// `call` only: it stays a call where a jump would do.
    pub fn forbid_tail_call(self) {
        let kind = llvm_sys::LLVMTailCallKind::LLVMTailCallKindNoTail;
        // SAFETY: as the module's documentation says: it is a `call`.
        unsafe { LLVMSetTailCallKind(self.0, kind) }
    }

    /// Calls only: the calling convention and the attributes of result and parameters of the
    /// function that is called.
    pub fn take_conventions(self, function: Value) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_take_conventions(self.0, function.0) }
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

    /// Pointers only: the objects that it can point into; `None` when they are too many.
    pub fn objects(self) -> Option<Vec<Value>> {
        let mut found = [core::ptr::null_mut(); 16];
        // SAFETY: as the module's documentation says; the array has so many elements.
        let count = unsafe {
            shim::raddle_shim_objects(self.0, found.as_mut_ptr(), found.len() as c_uint)
        } as usize;
        (count <= found.len()).then(|| found[..count].iter().map(|&raw| Value(raw)).collect())
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

    /// Functions only: removes unreachable blocks and turns variables that allow it into values.
    pub fn simplify(self) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_simplify(self.0) }
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

    /// Keeps a global value through every optimisation and section garbage collection.
    pub fn keep(self, global: Value) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_keep(self.0, global.0) }
    }
}

impl Context {
    /// A new block at the end of the function.
    pub fn append_block(self, function: Value, name: &CStr) -> Block {
        // SAFETY: as the module's documentation says.
        Block(unsafe { LLVMAppendBasicBlockInContext(self.0, function.0, name.as_ptr()) })
    }

    /// A new block before another one.
    pub fn insert_block(self, before: Block, name: &CStr) -> Block {
        // SAFETY: as the module's documentation says.
        Block(unsafe { LLVMInsertBasicBlockInContext(self.0, before.0, name.as_ptr()) })
    }
}
