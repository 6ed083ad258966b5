//! Calls of code that may have no symbolic body: functions of the C library and what else this file
//! only declares, function pointers.

use crate::ir::{Kind, Opcode, Type, Value};
use crate::module::is_ours;
use crate::wide::Wide;
use raddle_protocol::cpp::is_known;
use raddle_protocol::effects::{DIRECT, Known, keeps_state};
use raddle_protocol::hooks::{
    ARGS_LEN, FOREIGN_BLIND, FOREIGN_MORE, FOREIGN_OUTPUT, FOREIGN_READS, FOREIGN_STATE,
    FOREIGN_STORES, FOREIGN_USED, FOREIGN_WRITTEN, FOREIGN_WRITTEN_LEN, Ty,
};
use raddle_protocol::library::{Model, Output, is_silent, reads, reads_files, rest, stores};

/// A call that has to be announced (`raddle_sym_foreign`).
pub struct Foreign {
    /// The function, if the file knows it.
    pub name: Option<String>,
    /// Bit `i`: argument `i` is a pointer; [`FOREIGN_OUTPUT`], [`FOREIGN_BLIND`],
    /// [`FOREIGN_READS`], [`FOREIGN_STORES`], [`FOREIGN_MORE`], [`FOREIGN_STATE`], [`FOREIGN_USED`],
    /// [`FOREIGN_WRITTEN`].
    pub shape: u64,
}

impl Foreign {
    /// What there is to announce of a call; `None` if its callee has hooks of its own, reads nothing
    /// that could be symbolic, or is followed in another way. `told`: the caller tells of what is stored.
    pub fn of(call: Value, told: bool) -> Option<Foreign> {
        let callee = call.callee().as_function();
        if callee.is_some_and(is_ours) || Wide::of_call(call).is_some() {
            return None;
        }
        let name = callee.map(Value::name);
        let outside = name
            .as_deref()
            .filter(|_| callee.is_some_and(Value::is_declaration));
        let flag = |is: bool, flag: u64| if is { flag } else { 0 };
        let is_given_any = || {
            let mut given = call.arguments();
            given.any(|one| one.ty().kind() == Kind::LLVMPointerTypeKind)
        };
        let more = |name: &str| match Known::of(name) {
            Some(Known::Unknown) => true,
            // Perhaps one of the C library.
            None if !is_silent(name) && !is_known(name) => is_given_any(),
            // It may do what any other does.
            _ if name == DIRECT => true,
            _ => rest(name, told).next().is_some(),
        };
        let known = flag(
            outside.is_some_and(|name| reads(name).next().is_some()),
            FOREIGN_READS,
        ) | flag(outside.and_then(keeps_state).is_some(), FOREIGN_STATE)
            | flag(outside.is_some_and(more), FOREIGN_MORE)
            | flag(told, FOREIGN_STORES);
        if name.as_deref().is_some_and(is_silent) {
            let tells = known & !FOREIGN_STORES != 0;
            return tells.then_some(Foreign { name, shape: known });
        }
        let unused = call.first_use().is_none();
        let output = name.as_deref().and_then(Output::find).filter(|_| unused);
        // Where it only stores it reads nothing.
        let targets = name.as_deref().into_iter().flat_map(stores);
        let targets: Vec<usize> = targets.map(|(target, ..)| target as usize).collect();
        let pointers: u64 = call
            .arguments()
            .take(32)
            .enumerate()
            .filter(|(_, argument)| argument.ty().kind() == Kind::LLVMPointerTypeKind)
            .filter(|(index, _)| !targets.contains(index))
            .map(|(index, _)| 1 << index)
            .sum();
        // A member function that is const in C++ leaves its object as it is.
        let is_const = name.as_deref().is_some_and(|name| name.starts_with("_ZNK"));
        let written: u64 = (0..FOREIGN_WRITTEN_LEN.min(call.argument_count()))
            .filter(|index| pointers >> index & 1 != 0)
            .filter(|&index| !(is_const && index == 0 || call.only_reads(index)))
            .map(|index| 1 << (FOREIGN_WRITTEN + index))
            .sum();
        let blind = callee.is_some_and(|callee| !callee.is_declaration());
        let shape = pointers
            | flag(output.is_some(), FOREIGN_OUTPUT)
            | flag(blind, FOREIGN_BLIND)
            | known
            | written;
        let used = flag(!unused, FOREIGN_USED);
        let reads = name.as_deref().is_some_and(reads_files);
        // What is called by a pointer is known when it is called.
        let tells = shape & !FOREIGN_STORES != 0;
        (tells || reads || callee.is_none()).then_some(Foreign {
            name,
            shape: shape | used,
        })
    }

    /// Does what it is given leave the program?
    pub fn is_output(&self) -> bool {
        self.shape & FOREIGN_OUTPUT != 0
    }
}

fn is(ty: Ty, found: Type) -> bool {
    match ty {
        Ty::Void => found.kind() == Kind::LLVMVoidTypeKind,
        Ty::Ptr => found.kind() == Kind::LLVMPointerTypeKind && found.address_space() == 0,
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => {
            let bits = match ty {
                Ty::I8 => 8,
                Ty::I16 => 16,
                Ty::I32 => 32,
                _ => 64,
            };
            found.kind() == Kind::LLVMIntegerTypeKind && found.int_width() == bits
        }
    }
}

/// The model of the function that is called, with the types that it has in the C library.
pub fn model(call: Value) -> Option<Model> {
    if call.opcode() != Opcode::LLVMCall
        || call.is_must_tail()
        || call.argument_count() > ARGS_LEN as u32
    {
        return None;
    }
    let callee = call.callee().as_function()?;
    let model = Model::find(&callee.name()).filter(|_| callee.is_declaration())?;
    let params = model.params();
    let ty = call.callee_type();
    let fits = ty.is_variadic() == model.is_variadic()
        && ty.param_count() as usize == params.len()
        && params
            .iter()
            .zip(call.arguments())
            .all(|(&param, argument)| is(param, argument.ty()))
        && is(model.result(), call.ty());
    fits.then_some(model)
}
