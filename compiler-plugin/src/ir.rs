//! LLVM-C as methods: thin handles for what the pass needs.
//!
//! # Safety of the whole module
//! LLVM-C asks that every handle is live and of the right kind. Handles are made only here, from
//! the module that the pass was given, and the pass has that module for itself while it runs. An
//! instruction dies only by [`Value::erase`], and whoever calls that uses no handle of it again.
//! Kinds are asked for ([`Value::opcode`], [`Type::kind`]) before kind-specific methods are used;
//! such methods say which kind they need.

mod attributes;
mod emit;
mod module;
mod value;

pub use attributes::Place;
use core::ffi::{c_char, c_uint, c_ulonglong};
pub use emit::Emit;
pub use llvm_sys::LLVMAtomicOrdering as Ordering;
pub use llvm_sys::LLVMAtomicRMWBinOp as RmwOp;
pub use llvm_sys::LLVMIntPredicate as Predicate;
pub use llvm_sys::LLVMLinkage as Linkage;
pub use llvm_sys::LLVMOpcode as Opcode;
pub use llvm_sys::LLVMRealPredicate as FloatPredicate;
pub use llvm_sys::LLVMTailCallKind as TailCall;
pub use llvm_sys::LLVMTypeKind as Kind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
pub use module::Phase;
pub use value::Touch;

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
same!(
    (),
    Opcode,
    Kind,
    Ordering,
    RmwOp,
    Predicate,
    FloatPredicate,
    Linkage
);

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
    /// Structures only.
    field_count() -> u32 = LLVMCountStructElementTypes;
    /// Structures only.
    field(index: u32) -> Type = LLVMStructGetTypeAtIndex;
    /// Arrays only.
    array_length() -> u64 = LLVMGetArrayLength2;
    /// Vectors only.
    vector_length() -> u32 = LLVMGetVectorSize;
    /// Integers only.
    all_ones() -> Value = LLVMConstAllOnes;
    /// Arrays and vectors only.
    element() -> Type = LLVMGetElementType;
    /// Function types only.
    result() -> Type = LLVMGetReturnType;
    /// Function types only.
    is_variadic() -> bool = LLVMIsFunctionVarArg;
    null() -> Value = LLVMConstNull;
    /// Function types only.
    param_count() -> u32 = LLVMCountParamTypes;
    poison() -> Value = LLVMGetPoison;
}

methods! { Block:
    function() -> Value = LLVMGetBasicBlockParent;
    first() -> Option<Value> = LLVMGetFirstInstruction;
    terminator() -> Option<Value> = LLVMGetBasicBlockTerminator;
    next() -> Option<Block> = LLVMGetNextBasicBlock;
    as_value() -> Value = LLVMBasicBlockAsValue;
}

methods! { Value:
    ty() -> Type = LLVMTypeOf;
    first_use() -> Option<Use> = LLVMGetFirstUse;
    replace_uses(by: Value) -> () = LLVMReplaceAllUsesWith;
    operand(index: u32) -> Value = LLVMGetOperand;
    set_operand(index: u32, value: Value) -> () = LLVMSetOperand;
    /// Loads, stores, allocas and globals only.
    set_alignment(bytes: u32) -> () = LLVMSetAlignment;
    /// Bytes; loads, stores, allocas and globals only.
    alignment() -> u32 = LLVMGetAlignment;
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
    is_poison() -> bool = LLVMIsPoison;
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
    /// Loads and stores only.
    set_volatile(volatile: bool) -> () = LLVMSetVolatile;
    /// Loads and stores and fences.
    ordering() -> Ordering = LLVMGetOrdering;
    /// Compare-exchanges only.
    success_ordering() -> Ordering = LLVMGetCmpXchgSuccessOrdering;
    /// Compare-exchanges only.
    failure_ordering() -> Ordering = LLVMGetCmpXchgFailureOrdering;
    /// Atomic instructions only.
    is_single_thread() -> bool = LLVMIsAtomicSingleThread;
    /// Atomic updates only.
    rmw_operation() -> RmwOp = LLVMGetAtomicRMWBinOp;
    /// Comparisons of integers only.
    predicate() -> Predicate = LLVMGetICmpPredicate;
    /// Of a comparison of floating point numbers.
    float_predicate() -> FloatPredicate = LLVMGetFCmpPredicate;
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
    /// Subprograms only.
    subprogram_line() -> u32 = LLVMDISubprogramGetLine;
}

fn bytes<'a>(data: *const c_char, length: usize) -> &'a [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: LLVM-C returned both; the text lives as long as the value that it names, and the
    // callers below use it at once.
    unsafe { core::slice::from_raw_parts(data.cast(), length) }
}
