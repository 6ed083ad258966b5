//! What functions of the C library store where their arguments lead, told around their calls in symbolic
//! runs: steps of their own, after the call.

use crate::convert::{widened, word};
use crate::hooks::Hooks;
use crate::ir::{Emit, Kind, Predicate, Value};
use raddle_protocol::effects::{DIRECT, ResultIs, locked_stream};
use raddle_protocol::hooks::{
    ARGS_LEN, STORE_ANY, STORE_COUNT, STORE_EARLY, STORE_LAST, STORE_REST, STORE_TEXT, STORE_ZEROED,
};
use raddle_protocol::library::{OWN, Stored, reads, rest, stores, stores_early};

/// A call of which there is something to tell.
pub struct Call {
    call: Value,
    /// Argument, how much, with which result; none where the function is known only when it is called.
    stored: Vec<(u32, Stored, ResultIs)>,
    /// [`STORE_EARLY`], or nothing.
    early: u32,
    /// It may store more, which the runtime looks up.
    more: bool,
}

impl Call {
    /// `None`: there is nothing to tell of this call.
    pub fn of(call: Value) -> Option<Call> {
        if call.is_must_tail() {
            return None;
        }
        let Some(callee) = call.callee().as_function() else {
            return Some(Call {
                call,
                stored: Vec::new(),
                early: 0,
                more: true,
            });
        };
        let name = callee.name();
        let stored: Vec<(u32, Stored, ResultIs)> = stores(&name)
            .filter(|&(argument, ..)| pointer(call, argument).is_some())
            .collect();
        let more = name == DIRECT || rest(&name, true).next().is_some();
        let tells = more || !stored.is_empty() || reads(&name).next().is_some();
        let tells = tells || locked_stream(&name).is_some();
        (callee.is_declaration() && tells).then(|| Call {
            call,
            stored,
            early: if stores_early(&name) { STORE_EARLY } else { 0 },
            more,
        })
    }

    /// Before the call, for which `key` stands.
    pub fn before(&self, hooks: &Hooks, emit: &Emit, key: Value) {
        for &(argument, stored, _) in self.stored.iter().filter(|one| one.0 != OWN) {
            let pointer = pointer(self.call, argument).expect("it was looked for");
            // No more is known of a result than its limit.
            let length = self.length(emit, stored);
            let early = emit.c32(self.early);
            let arguments = [self.call.callee(), pointer, length, early, key];
            hooks.call(emit, "raddle_sym_will_store", &arguments);
        }
    }

    /// After it; `name`: a text, or null where it is not known.
    pub fn after(&self, hooks: &Hooks, emit: &Emit, name: Value, key: Value) {
        let (call, callee) = (self.call, self.call.callee());
        // What returns again, and not with 0, has stored nothing then.
        let first = call.returns_twice().then(|| {
            let zero = call.ty().constant(0);
            emit.compare(Predicate::LLVMIntEQ, call, zero)
        });
        let if_first = |value: Value, otherwise: Value| match first {
            Some(first) => emit.select(first, value, otherwise),
            None => value,
        };
        let key = if_first(key, key.ty().null());
        if self.more {
            let count = call.argument_count().min(ARGS_LEN as u32);
            let how = emit.c32(STORE_REST | count << STORE_COUNT);
            let arguments = [callee, name, word(emit, call, true), how, key];
            hooks.call(emit, "raddle_sym_stored", &arguments);
        }
        for &(argument, stored, when) in &self.stored {
            let pointer = pointer(call, argument).expect("it was looked for");
            let text = matches!(stored, Stored::Text(_));
            let how = if text { STORE_TEXT } else { 0 }
                | if argument == OWN { STORE_ZEROED } else { 0 }
                | self.early;
            let length = match stored {
                Stored::Result(_, size) if call.ty().kind() == Kind::LLVMIntegerTypeKind => {
                    let wide = call.ty().int_width() >= 64;
                    let result = if wide {
                        call
                    } else {
                        emit.sext(call, emit.int(64))
                    };
                    let none = emit.compare(Predicate::LLVMIntSLT, result, emit.c64(0));
                    emit.mul(emit.select(none, emit.c64(0), result), emit.c64(size))
                }
                _ => if_first(self.length(emit, stored), emit.c64(0)),
            };
            let length = match holds(emit, call, when) {
                Some(holds) => emit.select(holds, length, emit.c64(0)),
                None => length,
            };
            let arguments = [callee, pointer, length, emit.c32(how), key];
            hooks.call(emit, "raddle_sym_stored", &arguments);
        }
        let null = emit.int_to_ptr(emit.c64(0), callee.ty());
        let arguments = [callee, null, emit.c64(0), emit.c32(STORE_LAST), key];
        hooks.call(emit, "raddle_sym_stored", &arguments);
    }

    /// How much that is at most.
    fn length(&self, emit: &Emit, stored: Stored) -> Value {
        let limit = |argument: u32| {
            let given =
                (argument < self.call.argument_count()).then(|| self.call.operand(argument));
            let number = given.filter(|v| v.ty().kind() == Kind::LLVMIntegerTypeKind);
            number.map_or(emit.c64(STORE_ANY), |number| widened(emit, number))
        };
        let most = |argument: Option<u32>| argument.map_or(emit.c64(STORE_ANY), limit);
        let items = |count: Value, size: u64| match size {
            1 => count,
            size => emit.mul(count, emit.c64(size)),
        };
        match stored {
            Stored::Bytes(bytes) => emit.c64(bytes),
            Stored::Items(argument, size) => items(limit(argument), size),
            Stored::Result(argument, size) => items(most(argument), size),
            Stored::Text(argument) => most(argument),
        }
    }
}

/// Does the result say so? `None`: it need not.
fn holds(emit: &Emit, call: Value, when: ResultIs) -> Option<Value> {
    let predicate = match when {
        ResultIs::Always => return None,
        ResultIs::Zero => Predicate::LLVMIntEQ,
        ResultIs::NotZero => Predicate::LLVMIntNE,
        ResultIs::Positive => Predicate::LLVMIntSGT,
        ResultIs::Negative => Predicate::LLVMIntSLT,
        ResultIs::NotNegative => Predicate::LLVMIntSGE,
    };
    let is_number = call.ty().kind() == Kind::LLVMIntegerTypeKind;
    is_number.then(|| emit.compare(predicate, call, call.ty().constant(0)))
}

/// Where an argument, or the result, leads.
fn pointer(call: Value, argument: u32) -> Option<Value> {
    let pointer = match argument {
        OWN => call,
        argument if argument < call.argument_count() => call.operand(argument),
        _ => return None,
    };
    (pointer.ty().kind() == Kind::LLVMPointerTypeKind).then_some(pointer)
}
