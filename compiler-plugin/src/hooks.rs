//! The hooks and variables of `libraddle.so`, declared in the module from the protocol's table.

use crate::ir::{Context, Emit, Module, Place, Predicate, Type, Value};
use core::cell::RefCell;
use raddle_protocol::hooks::{self, Hook, Ty};
use std::collections::HashMap;

/// What instrumented code refers to; declared when first used.
pub struct Hooks {
    module: Module,
    context: Context,
    functions: RefCell<HashMap<&'static str, (Type, Value)>>,
}

impl Hooks {
    /// Declares nothing yet.
    pub fn new(module: Module) -> Hooks {
        Hooks {
            module,
            context: module.context(),
            functions: RefCell::default(),
        }
    }

    fn ty(&self, ty: Ty) -> Type {
        match ty {
            Ty::Void => self.context.void(),
            Ty::I8 => self.context.int(8),
            Ty::I16 => self.context.int(16),
            Ty::I32 => self.context.int(32),
            Ty::I64 => self.context.int(64),
            Ty::Ptr => self.context.pointer(),
        }
    }

    fn declare(&self, hook: &'static Hook) -> (Type, Value) {
        let params: Vec<Type> = hook.params.iter().map(|&ty| self.ty(ty)).collect();
        let ty = self.ty(hook.result).function(&params);
        let function = self.module.function(hook.name).unwrap_or_else(|| {
            let function = self.module.declare_function(hook.name, ty);
            // Only the model of a function that calls the program back is left by unwinding.
            if hook.name != "raddle_sym_library" {
                function.add_attribute(Place::Function, "nounwind");
            }
            // No stub of the procedure linkage table: one jump less, and no lazy binding.
            function.add_attribute(Place::Function, "nonlazybind");
            function
        });
        (ty, function)
    }

    /// A hook of the table: its type and itself.
    ///
    /// # Panics
    /// If the table has no such hook.
    pub fn function(&self, name: &str) -> (Type, Value) {
        let hook = hooks::TABLE
            .iter()
            .find(|hook| hook.name == name)
            .unwrap_or_else(|| panic!("the table has no hook {name}"));
        let mut functions = self.functions.borrow_mut();
        *functions
            .entry(hook.name)
            .or_insert_with(|| self.declare(hook))
    }

    /// Calls a hook of the table.
    ///
    /// # Panics
    /// If the table has no such hook.
    pub fn call(&self, emit: &Emit, name: &str, arguments: &[Value]) -> Value {
        let (ty, function) = self.function(name);
        let call = emit.call(ty, function, arguments);
        // The return address names the statement: no two statements share one call, and it is a
        // call, not a jump.
        call.add_call_attribute(Place::Function, "nomerge");
        call.forbid_tail_call();
        call
    }

    fn variable(&self, name: &str, ty: Type) -> Value {
        self.module.external(name, ty)
    }

    /// Marks an access to the hooks' own variables: sanitizers leave it alone.
    fn own(&self, access: Value) -> Value {
        let kind = self.context.metadata_kind("nosanitize");
        access.set_metadata(kind, Some(self.context.node(&[])));
        access
    }

    /// Is a bit of the mode set? An `i1`.
    ///
    /// The mode changes only inside calls, so the compiler may keep it over anything else.
    pub fn mode_has(&self, emit: &Emit, bit: u32) -> Value {
        let mode = self.own(emit.load(emit.int(32), self.variable(hooks::MODE, emit.int(32))));
        let masked = emit.and(mode, emit.c32(bit));
        emit.compare(Predicate::LLVMIntNE, masked, emit.c32(0))
    }

    /// Reads one of the variables by which calls hand over expressions.
    pub fn read_variable(&self, emit: &Emit, name: &str, ty: Type) -> Value {
        let load = self.own(emit.load(ty, self.variable(name, ty)));
        load.set_volatile(true);
        load
    }

    /// Writes one of the variables by which calls hand over expressions.
    pub fn write_variable(&self, emit: &Emit, name: &str, value: Value) {
        let store = self.own(emit.store(value, self.variable(name, value.ty())));
        // A callee that LLVM believes to leave memory alone reads and writes them nevertheless.
        store.set_volatile(true);
    }

    fn argument_slot(&self, emit: &Emit, index: u32) -> Value {
        let ty = emit.int(32).array(hooks::ARGS_LEN as u64);
        let array = self.variable(hooks::ARGS, ty);
        emit.offset(array, emit.c64(4 * u64::from(index)))
    }

    fn copy_slot(&self, emit: &Emit, index: u32) -> Value {
        let ty = emit.int(64).array(hooks::ARGS_LEN as u64);
        let array = self.variable(hooks::COPIES, ty);
        emit.offset(array, emit.c64(8 * u64::from(index)))
    }

    /// Reads where the bytes of an argument lie that is passed by value.
    pub fn read_copy(&self, emit: &Emit, index: u32) -> Value {
        let load = self.own(emit.load(self.context.pointer(), self.copy_slot(emit, index)));
        load.set_volatile(true);
        load
    }

    /// Writes where the bytes of an argument lie that is passed by value.
    pub fn write_copy(&self, emit: &Emit, index: u32, address: Value) {
        let store = self.own(emit.store(address, self.copy_slot(emit, index)));
        store.set_volatile(true);
    }

    /// Reads the expression of an argument.
    pub fn read_argument(&self, emit: &Emit, index: u32) -> Value {
        let load = self.own(emit.load(emit.int(32), self.argument_slot(emit, index)));
        load.set_volatile(true);
        load
    }

    /// Writes the expression of an argument.
    pub fn write_argument(&self, emit: &Emit, index: u32, expr: Value) {
        let store = self.own(emit.store(expr, self.argument_slot(emit, index)));
        store.set_volatile(true);
    }
}
