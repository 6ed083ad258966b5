//! Emits instructions before a given one, and opens blocks there.

use super::{Block, Context, Kind, Meta, Predicate, Raw, Type, Value};
use core::ffi::CStr;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

const NAMELESS: *const core::ffi::c_char = c"".as_ptr();

/// Emits instructions before the instruction `at`, all with one source location.
///
/// The methods that open blocks split the block of `at`; `at` then stands at the start of the
/// second half, and emission goes on before it.
pub struct Emit {
    context: Context,
    builder: LLVMBuilderRef,
    at: Value,
    location: Option<Meta>,
}

impl Drop for Emit {
    fn drop(&mut self) {
        // SAFETY: made in `new`, disposed of only here.
        unsafe { LLVMDisposeBuilder(self.builder) }
    }
}

macro_rules! emitters {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $argty:ty),*) = $f:path;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self $(, $arg: $argty)*) -> Value {
            // SAFETY: as the documentation of `ir` says; the name is NUL-terminated.
            Value::of(unsafe { $f(self.builder $(, $arg.raw())*, NAMELESS) })
        }
    )*};
}

impl Emit {
    /// Emits before `at`.
    pub fn new(context: Context, at: Value, location: Option<Meta>) -> Emit {
        // SAFETY: as the documentation of `ir` says.
        let builder = unsafe { LLVMCreateBuilderInContext(context.raw()) };
        let mut emit = Emit {
            context,
            builder,
            at,
            location,
        };
        emit.position_before(at);
        emit
    }

    /// Emits from now on before `at`.
    pub fn move_to(&mut self, at: Value, location: Option<Meta>) {
        self.location = location;
        self.position_before(at);
    }

    fn position_before(&mut self, at: Value) {
        self.at = at;
        // SAFETY: as the documentation of `ir` says; a null location means none. Positioning
        // takes over the location of `at`, so it is set again.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, at.raw());
            LLVMSetCurrentDebugLocation2(self.builder, self.location.raw());
        }
    }

    fn position_at_end(&self, block: Block) {
        // SAFETY: as the documentation of `ir` says.
        unsafe { LLVMPositionBuilderAtEnd(self.builder, block.raw()) }
    }

    /// The integer type of so many bits.
    pub fn int(&self, bits: u32) -> Type {
        self.context.int(bits)
    }

    /// A 32-bit constant.
    pub fn c32(&self, value: u32) -> Value {
        self.int(32).constant(u64::from(value))
    }

    /// A 64-bit constant.
    pub fn c64(&self, value: u64) -> Value {
        self.int(64).constant(value)
    }

    emitters! {
        add(a: Value, b: Value) = LLVMBuildAdd;
        sub(a: Value, b: Value) = LLVMBuildSub;
        mul(a: Value, b: Value) = LLVMBuildMul;
        urem(a: Value, b: Value) = LLVMBuildURem;
        and(a: Value, b: Value) = LLVMBuildAnd;
        or(a: Value, b: Value) = LLVMBuildOr;
        xor(a: Value, b: Value) = LLVMBuildXor;
        shl(a: Value, b: Value) = LLVMBuildShl;
        lshr(a: Value, b: Value) = LLVMBuildLShr;
        ashr(a: Value, b: Value) = LLVMBuildAShr;
        zext(value: Value, to: Type) = LLVMBuildZExt;
        sext(value: Value, to: Type) = LLVMBuildSExt;
        trunc(value: Value, to: Type) = LLVMBuildTrunc;
        bitcast(value: Value, to: Type) = LLVMBuildBitCast;
        ptr_to_int(value: Value, to: Type) = LLVMBuildPtrToInt;
        int_to_ptr(value: Value, to: Type) = LLVMBuildIntToPtr;
        select(condition: Value, yes: Value, no: Value) = LLVMBuildSelect;
        load(ty: Type, pointer: Value) = LLVMBuildLoad2;
        phi(ty: Type) = LLVMBuildPhi;
        insert_value(aggregate: Value, value: Value, index: u32) = LLVMBuildInsertValue;
        extract_value(aggregate: Value, index: u32) = LLVMBuildExtractValue;
        insert_element(vector: Value, value: Value, index: Value) = LLVMBuildInsertElement;
        extract_element(vector: Value, index: Value) = LLVMBuildExtractElement;
        alloca(ty: Type) = LLVMBuildAlloca;
    }

    /// Stores; the result is the instruction.
    pub fn store(&self, value: Value, pointer: Value) -> Value {
        // SAFETY: as the documentation of `ir` says.
        Value::of(unsafe { LLVMBuildStore(self.builder, value.raw(), pointer.raw()) })
    }

    /// Compares integers or pointers.
    pub fn compare(&self, predicate: Predicate, a: Value, b: Value) -> Value {
        // SAFETY: as the documentation of `ir` says.
        Value::of(unsafe { LLVMBuildICmp(self.builder, predicate, a.raw(), b.raw(), NAMELESS) })
    }

    /// `pointer + offset` bytes.
    pub fn offset(&self, pointer: Value, offset: Value) -> Value {
        let byte = self.int(8);
        // SAFETY: as the documentation of `ir` says; the array has one element.
        Value::of(unsafe {
            LLVMBuildGEP2(
                self.builder,
                byte.raw(),
                pointer.raw(),
                &mut offset.raw(),
                1,
                NAMELESS,
            )
        })
    }

    /// The aggregate with another value at the path.
    pub fn insert_at(&self, whole: Value, part: Value, path: &[u32]) -> Value {
        match path {
            [index] if whole.ty().kind() == Kind::LLVMVectorTypeKind => {
                self.insert_element(whole, part, self.c32(*index))
            }
            [index] => self.insert_value(whole, part, *index),
            [index, rest @ ..] => {
                let inner = self.extract_value(whole, *index);
                let inner = self.insert_at(inner, part, rest);
                self.insert_value(whole, inner, *index)
            }
            [] => part,
        }
    }

    /// The value at the path in an aggregate.
    pub fn extract_at(&self, whole: Value, path: &[u32]) -> Value {
        path.iter().fold(whole, |inner, &index| {
            if inner.ty().kind() == Kind::LLVMVectorTypeKind {
                self.extract_element(inner, self.c32(index))
            } else {
                self.extract_value(inner, index)
            }
        })
    }

    /// Calls a function.
    pub fn call(&self, ty: Type, callee: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<_> = arguments.iter().map(|one| one.raw()).collect();
        // SAFETY: as the documentation of `ir` says; pointer and length describe the array.
        Value::of(unsafe {
            LLVMBuildCall2(
                self.builder,
                ty.raw(),
                callee.raw(),
                raw.as_mut_ptr(),
                raw.len() as u32,
                NAMELESS,
            )
        })
    }

    /// Returns from the function.
    pub fn ret(&self, value: Option<Value>) {
        // SAFETY: as the documentation of `ir` says.
        unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.builder, value.raw()),
                None => LLVMBuildRetVoid(self.builder),
            };
        }
    }

    fn branch(&self, to: Block) -> Value {
        // SAFETY: as the documentation of `ir` says.
        Value::of(unsafe { LLVMBuildBr(self.builder, to.raw()) })
    }

    /// Branches to `yes` where `condition` holds, which is rare.
    fn branch_rarely(&self, condition: Value, yes: Block, no: Block) {
        // SAFETY: as the documentation of `ir` says.
        let branch = Value::of(unsafe {
            LLVMBuildCondBr(self.builder, condition.raw(), yes.raw(), no.raw())
        });
        let weight = |n: u32| self.context.meta(self.c32(n));
        let node = self.context.node(&[
            self.context.text("branch_weights"),
            weight(1),
            weight((1 << 20) - 1),
        ]);
        branch.set_metadata(self.context.metadata_kind("prof"), Some(node));
    }

    fn new_block_before(&self, block: Block, name: &CStr) -> Block {
        self.context.insert_block(block, name)
    }

    /// Does `body` only where `condition` holds, which is rare.
    pub fn when(&mut self, condition: Value, body: impl FnOnce(&mut Emit)) {
        let at = self.at;
        let (_, exit) = self.open(condition);
        self.position_before(exit);
        body(self);
        self.position_before(at);
    }

    /// The value of `body` where `condition` holds (which is rare), else `otherwise`.
    pub fn value_when(
        &mut self,
        condition: Value,
        otherwise: Value,
        body: impl FnOnce(&mut Emit) -> Value,
    ) -> Value {
        let at = self.at;
        let (head, exit) = self.open(condition);
        self.position_before(exit);
        let value = body(self);
        let end = exit.block();
        self.position_before(at);
        let phi = self.phi(value.ty());
        phi.add_incoming(otherwise, head);
        phi.add_incoming(value, end);
        phi
    }

    /// Opens a block that is entered where `condition` holds; returns the block before and the
    /// branch that leaves the new one.
    fn open(&mut self, condition: Value) -> (Block, Value) {
        let head = self.at.block();
        let tail = self.at.split_before();
        let then = self.new_block_before(tail, c"");
        self.position_at_end(then);
        let exit = self.branch(tail);
        self.end_with(head, |emit| emit.branch_rarely(condition, then, tail));
        (head, exit)
    }

    /// Opens two blocks: one entered where `condition` holds (which is rare), one where not.
    /// Returns the branches that leave them; emission goes on before `at`, after both.
    pub fn fork(&mut self, condition: Value) -> (Value, Value) {
        let at = self.at;
        let (head, rare) = self.open(condition);
        let tail = at.block();
        let usual = self.new_block_before(tail, c"");
        self.position_at_end(usual);
        let exit = self.branch(tail);
        self.end_with(head, |emit| {
            emit.branch_rarely(condition, rare.block(), usual)
        });
        self.position_before(at);
        (rare, exit)
    }

    /// Where `condition` holds (which is rare), ends with what `body` emits, which includes a
    /// terminator.
    pub fn leave_when(&mut self, condition: Value, body: impl FnOnce(&mut Emit)) {
        let at = self.at;
        let (_, exit) = self.open(condition);
        self.position_before(exit);
        body(self);
        exit.erase();
        self.position_before(at);
    }

    /// Emits before another instruction for a while.
    pub fn inside<T>(&mut self, at: Value, body: impl FnOnce(&mut Emit) -> T) -> T {
        let before = self.at;
        self.position_before(at);
        let result = body(self);
        self.position_before(before);
        result
    }

    /// A loop that runs `body` with 0, 1, 2 … until that yields true, `count` (at least 1) times
    /// at most.
    pub fn repeat(&mut self, count: u64, body: impl FnOnce(&mut Emit, Value) -> Value) {
        let at = self.at;
        let head = at.block();
        let tail = at.split_before();
        let turn = self.new_block_before(tail, c"");
        self.end_with(head, |emit| {
            emit.branch(turn);
        });
        self.position_at_end(turn);
        let index = self.phi(self.int(64));
        // A place to emit before, until the loop's end is known.
        let place = self.branch(tail);
        self.position_before(place);
        let done = body(self, index);
        let next = self.add(index, self.c64(1));
        let last = self.compare(Predicate::LLVMIntEQ, next, self.c64(count));
        let leave = self.or(done, last);
        let end = place.block();
        self.end_with(end, |emit| emit.branch_rarely(leave, tail, turn));
        index.add_incoming(self.c64(0), head);
        index.add_incoming(next, end);
        self.position_before(at);
    }

    /// Replaces the terminator of a block.
    fn end_with(&mut self, block: Block, terminator: impl FnOnce(&mut Emit)) {
        let old = block.terminator();
        self.position_at_end(block);
        if let Some(old) = old {
            self.position_before(old);
        }
        terminator(self);
        if let Some(old) = old {
            old.erase();
        }
    }
}
