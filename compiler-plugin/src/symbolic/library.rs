//! Calls of the C library and of other code that has no symbolic body: see
//! `raddle_protocol::library`.

use super::Body;
use super::leaf::width;
use super::terms::Term;
use crate::ir::{Emit, Value};
use crate::outside::{Foreign, model};
use raddle_protocol::effects::keeps_state;
use raddle_protocol::hooks::{ARGS_LEN, LIBRARY_STATE, Ty};

/// Two arrays on the stack, by which hooks get arguments: values and expressions.
pub struct Scratch {
    values: Value,
    exprs: Value,
}

impl Scratch {
    /// Room for the longest call of the function, in front of its first instruction.
    pub fn new(body: &Body, instructions: &[Value]) -> Option<Scratch> {
        let longest = instructions
            .iter()
            .filter(|i| i.is_call())
            .map(|i| i.argument_count().min(ARGS_LEN as u32))
            .max()?;
        let first = body.function.first_block()?.first()?;
        let emit = Emit::new(body.context, first, None);
        Some(Scratch {
            values: emit.alloca(emit.int(64).array(longest.into())),
            exprs: emit.alloca(emit.int(32).array(longest.into())),
        })
    }
}

impl Body<'_> {
    /// A call of a modelled function becomes a hook. `false`: it is another function.
    pub(super) fn library(&mut self, i: Value) -> bool {
        let (Some(model), Some(_)) = (model(i), &self.scratch) else {
            return false;
        };
        let mut emit = self.before(i);
        let count = self.list_arguments(&mut emit, i);
        let Some(Scratch { values, exprs }) = &self.scratch else {
            return false;
        };
        let state = match keeps_state(model.names()[0]) {
            Some(_) => LIBRARY_STATE,
            None => 0,
        };
        let code = emit.c32(model as u32 | state | count << 16);
        let arguments = [i.callee(), code, *values, *exprs];
        let result = self.hooks.call(&emit, "raddle_sym_library", &arguments);
        let expr = self.terms.result(&emit);
        match model.result() {
            Ty::Void => self.erase(i),
            Ty::Ptr => {
                let value = emit.int_to_ptr(result, i.ty());
                self.replace_followed(i, value, expr);
            }
            Ty::I64 => self.replace_followed(i, result, expr),
            _ => {
                let value = emit.trunc(result, i.ty());
                self.replace_followed(i, value, expr);
            }
        }
        true
    }

    fn replace_followed(&mut self, i: Value, value: Value, expr: Value) {
        self.replace(i, value);
        self.tainted.insert(value);
        self.set_expr(value, expr);
    }

    /// Before a call of what may be code without a symbolic body. `true`: the arguments need no
    /// further attention.
    pub(super) fn foreign(&mut self, emit: &mut Emit, i: Value) -> bool {
        let (Some(foreign), true) = (Foreign::of(i, !i.is_must_tail()), self.scratch.is_some())
        else {
            return false;
        };
        let count = self.list_arguments(emit, i);
        let Some(Scratch { values, exprs }) = &self.scratch else {
            return false;
        };
        let null = self.context.pointer().null();
        let name = self.name_called(i);
        let exprs = if foreign.is_output() { *exprs } else { null };
        let shape = emit.c64(foreign.shape | u64::from(count) << 32);
        let arguments = [i.callee(), name, shape, *values, exprs];
        self.hooks.call(emit, "raddle_sym_foreign", &arguments);
        foreign.is_output()
    }

    /// The name of the function that is called, or null.
    pub(super) fn name_called(&self, i: Value) -> Value {
        let name = i.callee().as_function().map(Value::name);
        let null = self.context.pointer().null();
        name.map_or(null, |name| self.module.text(&name))
    }

    /// An address in this frame that stands for the call of which [`Body::foreign`] has told.
    pub(super) fn call_under_way(&self) -> Value {
        let null = self.context.pointer().null();
        self.scratch.as_ref().map_or(null, |scratch| scratch.values)
    }

    /// Writes the arguments to the arrays; how many.
    fn list_arguments(&self, emit: &mut Emit, i: Value) -> u32 {
        let Some(scratch) = &self.scratch else {
            return 0;
        };
        let arguments: Vec<Value> = i.arguments().take(ARGS_LEN).collect();
        for (index, &argument) in (0u64..).zip(&arguments) {
            let (value, expr) = match width(self.layout, argument.ty()) {
                Some(bits) => {
                    let term: Term = self.term(argument);
                    // No function that takes such an argument is modelled.
                    let expr = if bits > 64 { emit.c32(0) } else { term.expr };
                    (term.wide(emit), expr)
                }
                None => (emit.c64(0), emit.c32(0)),
            };
            emit.store(value, emit.offset(scratch.values, emit.c64(8 * index)));
            emit.store(expr, emit.offset(scratch.exprs, emit.c64(4 * index)));
        }
        arguments.len() as u32
    }
}
