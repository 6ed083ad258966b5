//! Calls of functions of the C library: the scheduling body tells what they do to the memory that
//! their arguments lead to ([`raddle_protocol::touches`]).

use super::{Schedule, range_hook};
use crate::access::Access;
use crate::convert::widened;
use crate::ir::{Emit, Kind, Opcode, Value};
use crate::locations;
use raddle_protocol::hooks::MODE_ACCESSES;
use raddle_protocol::touches::{self, Extent, Touch, UNLIMITED};

/// What a call does to the memory that its arguments lead to; nothing if it is not one of a known
/// function with its usual types.
pub fn touches(call: Value) -> &'static [Touch] {
    let is_call = matches!(call.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke);
    if !is_call || call.intrinsic_called().is_some() || call.is_must_tail() {
        return &[];
    }
    let Some(callee) = call.callee().as_function() else {
        return &[];
    };
    if !callee.is_declaration() {
        return &[];
    }
    let known = touches::of(&callee.name());
    match known.iter().all(|touch| fits(call, touch)) {
        true => known,
        false => &[],
    }
}

/// Has the call arguments of the types that the access needs?
fn fits(call: Value, touch: &Touch) -> bool {
    let is = |argument: u8, kind: Kind| {
        u32::from(argument) < call.argument_count()
            && call.operand(argument.into()).ty().kind() == kind
    };
    let number = |argument: u8| argument == UNLIMITED || is(argument, Kind::LLVMIntegerTypeKind);
    let (numbers, text) = touch.extent.arguments();
    let result = call.ty().kind() == Kind::LLVMIntegerTypeKind;
    is(touch.argument, Kind::LLVMPointerTypeKind)
        && numbers.into_iter().all(number)
        && text.is_none_or(|text| is(text, Kind::LLVMPointerTypeKind))
        && (!touch.extent.is_after() || result && call.opcode() == Opcode::LLVMCall)
}

impl Schedule<'_> {
    /// Tells of what the call does to memory that others may see. In symbolic runs other hooks do.
    pub(super) fn library_call(&self, i: Value) {
        let seen: Vec<&Touch> = (0..)
            .zip(touches(i))
            .filter(|(index, _)| !Access::is_private(self.context, i, *index))
            .map(|(_, touch)| touch)
            .collect();
        let (after, before): (Vec<&Touch>, Vec<&Touch>) =
            seen.into_iter().partition(|touch| touch.extent.is_after());
        let printed = |touch: &&&Touch| matches!(touch.extent, Extent::Printed(_));
        let first: Vec<&Touch> = after.iter().filter(printed).copied().collect();
        if !after.is_empty() {
            let at = i.next().expect("it does not end a block");
            let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
            let mode = self.hooks.mode_has(&emit, MODE_ACCESSES);
            emit.when(mode, |emit| {
                for touch in after {
                    self.tell_after(emit, i, touch);
                }
            });
        }
        if !before.is_empty() || !first.is_empty() {
            let mut emit = self.emit_before(i);
            let mode = self.hooks.mode_has(&emit, MODE_ACCESSES);
            emit.when(mode, |emit| {
                for touch in before {
                    self.tell(emit, i, touch);
                }
                for touch in first {
                    let most = limit(emit, i, touch.extent.arguments().0[0]);
                    let arguments = [i.operand(touch.argument.into()), emit.c64(0), most];
                    self.hooks.call(emit, "raddle_printed", &arguments);
                }
            });
        }
    }

    fn tell(&self, emit: &Emit, i: Value, touch: &Touch) {
        let argument = |index: u8| i.operand(index.into());
        let number = |index: u8| widened(emit, argument(index));
        let at = argument(touch.argument);
        let hook = range_hook(touch.writes);
        match touch.extent {
            Extent::Bytes(length) => self.range(emit, hook, at, number(length)),
            Extent::Product(a, b) => {
                self.range(emit, hook, at, emit.mul(number(a), number(b)));
            }
            Extent::Text(most) => {
                let arguments = [at, limit(emit, i, most), emit.c32(0)];
                self.hooks.call(emit, "raddle_text_read", &arguments);
            }
            Extent::TextUntil(byte) => {
                let arguments = [at, emit.c64(u64::MAX), number_32(emit, argument(byte))];
                self.hooks.call(emit, "raddle_text_read", &arguments);
            }
            Extent::BytesUntil(byte, most) => {
                let arguments = [at, number(most), number_32(emit, argument(byte))];
                self.hooks.call(emit, "raddle_bytes_read", &arguments);
            }
            Extent::Common(other, most) => {
                let arguments = [at, argument(other), limit(emit, i, most)];
                self.hooks.call(emit, "raddle_text_compared", &arguments);
            }
            Extent::Copy(text, most) => {
                let arguments = [at, argument(text), limit(emit, i, most)];
                self.hooks.call(emit, "raddle_text_copied", &arguments);
            }
            Extent::Append(text, most) => {
                let arguments = [at, argument(text), limit(emit, i, most)];
                self.hooks.call(emit, "raddle_text_appended", &arguments);
            }
            Extent::Result | Extent::ResultTimes(_) | Extent::Printed(_) => {}
        }
    }

    fn tell_after(&self, emit: &Emit, i: Value, touch: &Touch) {
        let at = i.operand(touch.argument.into());
        let result = match i.ty().int_width() {
            64 => i,
            _ => emit.sext(i, emit.int(64)),
        };
        match touch.extent {
            Extent::Printed(most) => {
                let arguments = [at, result, limit(emit, i, most)];
                self.hooks.call(emit, "raddle_printed", &arguments);
            }
            Extent::ResultTimes(size) => {
                let size = widened(emit, i.operand(size.into()));
                let arguments = [at, emit.mul(result, size)];
                self.hooks.call(emit, "raddle_filled", &arguments);
            }
            _ => {
                self.hooks.call(emit, "raddle_filled", &[at, result]);
            }
        }
    }
}

/// The most bytes that an access may have.
fn limit(emit: &Emit, call: Value, argument: u8) -> Value {
    match argument {
        UNLIMITED => emit.c64(u64::MAX),
        argument => widened(emit, call.operand(argument.into())),
    }
}

fn number_32(emit: &Emit, value: Value) -> Value {
    match value.ty().int_width() {
        0..32 => emit.zext(value, emit.int(32)),
        32 => value,
        _ => emit.trunc(value, emit.int(32)),
    }
}
