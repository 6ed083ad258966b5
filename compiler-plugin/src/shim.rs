//! The functions of `shim/shim.cpp`.

use core::ffi::{c_char, c_uint, c_void};
use llvm_sys::prelude::*;
use llvm_sys::target::LLVMTargetDataRef;

unsafe extern "C" {
    /// Registers the passes with a `PassBuilder`.
    pub fn raddle_shim_register(builder: *mut c_void);
    /// Does the call write nothing where this argument, a pointer, leads?
    pub fn raddle_shim_only_reads(call: LLVMValueRef, argument: c_uint) -> bool;
    /// May the pointer be known outside its function? Looks at so many uses at most.
    pub fn raddle_shim_captured(pointer: LLVMValueRef, max_uses: c_uint) -> bool;
    /// Writes the objects that the pointer may point into; a result above `capacity` means that
    /// there are more.
    pub fn raddle_shim_objects(
        pointer: LLVMValueRef,
        out: *mut LLVMValueRef,
        capacity: c_uint,
    ) -> c_uint;
    /// Is the pointer so many bytes, which it writes, from `base`, whatever runs?
    pub fn raddle_shim_offset(
        pointer: LLVMValueRef,
        base: LLVMValueRef,
        layout: LLVMTargetDataRef,
        out: *mut i64,
    ) -> bool;
    pub fn raddle_shim_swift_error(value: LLVMValueRef) -> bool;
    /// Splits the block before the instruction; returns the second half.
    pub fn raddle_shim_split_before(instruction: LLVMValueRef) -> LLVMBasicBlockRef;
    pub fn raddle_shim_move_before(instruction: LLVMValueRef, other: LLVMValueRef);
    /// A copy of the function that says nothing of where variables are.
    pub fn raddle_shim_clone(function: LLVMValueRef) -> LLVMValueRef;
    /// From here on, time counts for this phase in what `-ftime-trace` writes.
    pub fn raddle_shim_phase_begins(name: *const c_char, length: usize);
    /// To here.
    pub fn raddle_shim_phase_ends();
    /// Gives a call the calling convention and attributes of the function that it calls.
    pub fn raddle_shim_take_conventions(call: LLVMValueRef, function: LLVMValueRef);
    pub fn raddle_shim_delete_body(function: LLVMValueRef);
    /// Removes unreachable blocks, promotes allocas to values, removes those that nobody uses.
    pub fn raddle_shim_simplify(function: LLVMValueRef);
    /// Makes second copies of loops, as `symbolic/settled.rs` says.
    pub fn raddle_shim_copy_settled(function: LLVMValueRef, told: *const Nests);
    /// Is the loop that this block begins left by the other one after some rounds, whatever else
    /// happens in it?
    pub fn raddle_shim_is_counted(header: LLVMBasicBlockRef, end: LLVMBasicBlockRef) -> bool;
    /// Moves the test of the loop that this block begins to the loop's end, and in front of it.
    pub fn raddle_shim_rotate(header: LLVMBasicBlockRef);
    /// Puts the body of the function that is called in the place of the call; `false`: it cannot.
    pub fn raddle_shim_inline(call: LLVMValueRef) -> bool;
    /// Operations on vectors become operations on their elements; accesses stay.
    pub fn raddle_shim_scalarize(function: LLVMValueRef);
    /// Adds those functions of the bitcode that the module calls and does not define, if both are for
    /// the same machine; `false`: it cannot be read.
    pub fn raddle_shim_add_bodies(
        module: LLVMModuleRef,
        bitcode: *const c_char,
        length: usize,
    ) -> bool;
    /// Makes what was added so functions of the module's own, which other bodies can refer to no more.
    pub fn raddle_shim_own_bodies(module: LLVMModuleRef);
    /// Adds the global to `llvm.used`.
    pub fn raddle_shim_keep(module: LLVMModuleRef, global: LLVMValueRef);
    /// Puts a block between an invoke and its normal destination.
    pub fn raddle_shim_split_normal_edge(invoke: LLVMValueRef);
    /// Replaces an atomic update or compare-exchange by plain instructions.
    pub fn raddle_shim_lower_atomic(atomic: LLVMValueRef);
    /// Expands an atomic update into a loop of compare-exchanges.
    pub fn raddle_shim_rmw_to_cas(rmw: LLVMValueRef);
}

/// A [`crate::ir::Touch`] as the shim takes it; `base` may be null.
#[repr(C)]
pub struct Touch {
    pub pointer: LLVMValueRef,
    pub base: LLVMValueRef,
    pub size: u64,
    pub room: u64,
    pub manner: u64,
}

/// What [`raddle_shim_copy_settled`] has to be told.
#[repr(C)]
pub struct Nests {
    pub context: *mut c_void,
    /// `false`: the load or store may not be in such a loop.
    pub describe: unsafe extern "C" fn(*mut c_void, LLVMValueRef, *mut Touch) -> bool,
    /// What is called before such a loop.
    pub hook: LLVMValueRef,
    /// The bit of an access that happens in every round.
    pub always: u64,
    /// Words of a [`raddle_protocol::hooks::Stretch`].
    pub words: u32,
    /// Levels of one.
    pub levels: u32,
    /// So many that `hook` is asked about at most.
    pub most: u32,
}
