//! Calls of functions of the C library: the scheduling body tells what they do to the memory that
//! their arguments lead to, and with what the library keeps ([`raddle_protocol::effects`]).

use super::Schedule;
use crate::access::Access;
use crate::convert::word;
use crate::ir::{Context, Emit, Kind, Module, Opcode, Place, Value};
use crate::locations;
use raddle_protocol::cpp;
use raddle_protocol::effects::{self, DIRECT, Effect, Extent, Known, Lent, NONE, Row, keeps_state};
use raddle_protocol::hooks::call::{ARGUMENTS, PRIVATE, PRIVATE_LEN, STATE, WORDS};
use raddle_protocol::hooks::{MODE_ACCESSES, MODE_LENT, MODE_STATES};
use raddle_protocol::library::stores_early;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What there is to tell of a call.
struct Told {
    name: String,
    /// Its number and what it says.
    row: Option<(u32, &'static Row)>,
    /// It uses what the library keeps; not `Some(true)`: what few programs change.
    state: Option<bool>,
}

fn row_of(name: &str) -> Option<(u32, &'static Row)> {
    static ROWS: OnceLock<HashMap<&str, (u32, &Row)>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let rows = (0..).zip(Row::all());
        rows.flat_map(|(number, row)| row.names().map(move |name| (name, (number, row))))
            .collect()
    });
    rows.get(name).copied()
}

/// `None`: it is not a call of a known function with its usual types.
fn told(call: Value) -> Option<Told> {
    let is_call = matches!(call.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke);
    if !is_call || call.intrinsic_called().is_some() || call.is_must_tail() {
        return None;
    }
    let callee = call.callee().as_function().filter(|f| f.is_declaration())?;
    let name = callee.name();
    let fits = |(_, row): &(u32, &Row)| row.effects.iter().all(|effect| fits(call, effect));
    let row = row_of(&name).filter(fits);
    let state = keeps_state(&name);
    (row.is_some() || state.is_some()).then_some(Told { name, row, state })
}

/// Is this effect of the function told of around its call? The thread that is made does not begin before
/// its name is written.
fn is_around(name: &str, effect: &Effect) -> bool {
    !(effect.writes && stores_early(name))
}

/// Is it told of what the call does to memory?
fn is_told(call: Value) -> bool {
    told(call).is_some_and(|told| told.row.is_some())
}

fn has_kind(call: Value, argument: u32, kind: Kind) -> bool {
    argument < call.argument_count() && call.operand(argument).ty().kind() == kind
}

/// Has the call arguments of the types that the access needs?
fn fits(call: Value, effect: &Effect) -> bool {
    let is = |argument: u8, kind: Kind| argument == NONE || has_kind(call, argument.into(), kind);
    let (pointers, numbers) = effect.arguments();
    let result = call.ty().kind();
    let known = [Kind::LLVMIntegerTypeKind, Kind::LLVMPointerTypeKind].contains(&result);
    pointers
        .into_iter()
        .all(|argument| is(argument, Kind::LLVMPointerTypeKind))
        && numbers
            .into_iter()
            .all(|argument| is(argument, Kind::LLVMIntegerTypeKind))
        && (known || !effect.is_after())
}

/// The pointers among the arguments of a call of a function that lies elsewhere, by number.
pub fn pointers_given(call: Value) -> Vec<(u32, Value)> {
    match lies_elsewhere(call) {
        Some(_) => given(call)
            .filter(|(_, argument)| argument.ty().kind() == Kind::LLVMPointerTypeKind)
            .take_while(|(index, _)| *index < PRIVATE_LEN)
            .collect(),
        None => Vec::new(),
    }
}

/// The function that is called, if this file only declares it.
fn lies_elsewhere(call: Value) -> Option<Value> {
    let is_call = matches!(call.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke);
    let function = is_call && call.intrinsic_called().is_none();
    let callee = function.then(|| call.callee().as_function()).flatten();
    callee.filter(|callee| callee.is_declaration())
}

/// The names of functions of which there is something to tell where they are called, and which may be
/// called by a pointer, where nothing does.
pub fn called_by_pointer(module: Module) -> impl Iterator<Item = String> {
    let functions = module.functions().into_iter();
    let declared = functions.filter(|function| function.is_declaration());
    let by_pointer = declared.filter(|&function| {
        function.users().any(|user| {
            let call = user.as_instruction().filter(|user| user.is_call());
            !call.is_some_and(|call| {
                call.callee() == function && call.arguments().all(|argument| argument != function)
            })
        })
    });
    let names = by_pointer.map(Value::name);
    names.filter(|name| row_of(name).is_some() || keeps_state(name).is_some())
}

/// The name of the function that is called, if it may access memory that others see, and nothing tells
/// how.
pub fn unknown_called(context: Context, call: Value) -> Option<String> {
    let name = lies_elsewhere(call)?.name();
    match Known::of(&name) {
        // Called in another way than it is declared in the C library, or in such a way that nothing
        // can be told.
        Some(Known::Row) if is_told(call) || stores_early(&name) => return None,
        Some(Known::Nothing | Known::Otherwise) => return None,
        Some(Known::Unknown) => return Some(name),
        Some(Known::Row) | None => {}
    }
    let is_shared = |&(index, pointer): &(u32, Value)| {
        pointer != pointer.ty().null() && !Access::is_private(context, call, index)
    };
    let pointers = pointers_given(call);
    // Of libstdc++, what is given no memory may keep something.
    let may_keep = pointers.is_empty() && cpp::is_of_library(&name) && !cpp::is_known(&name);
    (may_keep || pointers.iter().any(is_shared)).then_some(name)
}

fn given(call: Value) -> impl Iterator<Item = (u32, Value)> {
    (0..).zip(call.arguments())
}

/// They keep where their first argument leads for the calling thread alone: what pthread_cleanup_push makes.
const FOR_THREAD: &[&str] = &[
    "__pthread_register_cancel",
    "__pthread_register_cancel_defer",
    "__pthread_unregister_cancel",
    "__pthread_unregister_cancel_restore",
    "__pthread_unwind_next",
];

/// Says of the pointers that the call is given that nobody knows of them afterwards: a variable whose
/// address only such calls get stays the function's own.
pub fn keep_private(call: Value) {
    let is_for_thread = |callee: Value| FOR_THREAD.contains(&callee.name().as_str());
    if lies_elsewhere(call).is_some_and(is_for_thread)
        && has_kind(call, 0, Kind::LLVMPointerTypeKind)
    {
        call.add_call_attribute(Place::Param(0), "nocapture");
    }
    let Some((name, (_, row))) = told(call).and_then(|told| Some((told.name, told.row?))) else {
        return;
    };
    let returns = call.ty().kind() == Kind::LLVMPointerTypeKind && call.first_use().is_some();
    // Where such a text is read, the address of a part of it is written somewhere.
    let hands_on = row.effects.iter().any(|effect| {
        use Extent::*;
        effect.leads_on() || matches!(effect.extent, Number(_) | Floating | Token(_) | Field(_))
    });
    let keeps = name == "strtok" || Lent::of(&name).is_some();
    if returns || keeps {
        return;
    }
    let formatted = row.effects.iter().find_map(Effect::variadic);
    for (index, argument) in given(call) {
        let known = row.effects.iter().any(|effect| {
            let direct = effect.argument() == Some(index as u8);
            let size = matches!(effect.extent, Extent::Size(_) | Extent::Bytes(_));
            direct && is_around(&name, effect) && (!hands_on || size && effect.writes)
        });
        let asked_for = formatted.is_some_and(|first| index >= first.into());
        if argument.ty().kind() == Kind::LLVMPointerTypeKind && (known || asked_for) {
            call.add_call_attribute(Place::Param(index), "nocapture");
        }
    }
}

impl Schedule<'_> {
    /// Tells of what the call does to memory that others may see. In symbolic runs other hooks do.
    pub(super) fn library_call(&self, i: Value) {
        let Some(told) = told(i) else { return };
        // What lies behind memory of its own may be anybody's.
        let leads_on = |index: u32| {
            let mut effects = told.row.iter().flat_map(|(_, row)| row.effects);
            effects.any(|effect| effect.leads_on() && effect.argument() == Some(index as u8))
        };
        let private = |index: u32| {
            let fits = index < PRIVATE_LEN && !leads_on(index);
            fits && Access::is_private(self.context, i, index)
        };
        let row = told.row.filter(|(_, row)| {
            let mut effects = row.effects.iter();
            effects.any(|one| is_around(&told.name, one) && accesses(i, one, private) > 0)
        });
        if row.is_none() && told.state.is_none() {
            return;
        }
        let wanted = match (row, told.state) {
            (None, Some(false)) => MODE_STATES,
            _ => MODE_ACCESSES,
        };
        let is_lent = Lent::of(&told.name).is_some() || Lent::ends(&told.name);
        let keeps = row.is_some_and(|(_, row)| row.keeps_place());
        let wanted = wanted | if is_lent || keeps { MODE_LENT } else { 0 };
        let number = row.map_or(0, |(number, _)| u64::from(number) + 1);
        let state = if told.state.is_some() { STATE } else { 0 };
        let private = (0..PRIVATE_LEN).filter(|&index| private(index));
        let private: u64 = private.map(|index| 1 << (PRIVATE + index)).sum();
        let what = number | state | private;
        let frame = *self
            .frame
            .get_or_init(|| self.variable(self.context.int(64).array(WORDS)));
        // What a system call does is known when it is made. One that may return again has nothing to tell
        // behind it, nor has one that makes a thread.
        let ends = !i.returns_twice() && !stores_early(&told.name);
        let holds = told.name == DIRECT || effects::locked_stream(&told.name).is_some();
        let follows = (row.is_some() || holds) && ends;
        let end = match i.opcode() {
            Opcode::LLVMInvoke if follows => {
                i.split_normal_edge();
                i.normal_destination().first_non_phi()
            }
            _ => i.next(),
        };
        if let Some(at) = end.filter(|_| follows) {
            let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
            let mode = self.hooks.mode_has(&emit, wanted);
            emit.when(mode, |emit| {
                let result = word(emit, i, true);
                let arguments = [emit.c64(what), frame, result];
                self.hooks.call(emit, "raddle_called", &arguments);
            });
        }
        let mut emit = self.emit_before(i);
        if follows {
            // The hook before the call may be left out where the one behind it is not.
            let told = emit.c64(8 * (ARGUMENTS as u64 + 2));
            emit.store(emit.c64(0), emit.offset(frame, told));
        }
        let mode = self.hooks.mode_has(&emit, wanted);
        emit.when(mode, |emit| {
            let count = i.argument_count().min(ARGUMENTS as u32);
            emit.store(emit.c64(count.into()), frame);
            for (index, argument) in given(i).take(count as usize) {
                let word = word(emit, argument, false);
                emit.store(
                    word,
                    emit.offset(frame, emit.c64(8 * (u64::from(index) + 1))),
                );
            }
            let name = self.module.text(&told.name);
            self.hooks
                .call(emit, "raddle_call", &[emit.c64(what), name, frame]);
        });
    }
}

/// How many accesses of this effect others may see, so far as that is known here.
fn accesses(call: Value, effect: &Effect, private: impl Fn(u32) -> bool) -> u32 {
    let own = match effect.place {
        effects::Place::Argument(argument) => {
            let argument = u32::from(argument);
            let pointer = call.operand(argument);
            let null = pointer == pointer.ty().null();
            u32::from(!null && !private(argument) && !effect.is_elsewhere())
        }
        _ => 1,
    };
    let others = effect.variadic().map_or(0, |first| {
        let others = given(call).filter(|&(index, argument)| {
            index >= first.into()
                && argument.ty().kind() == Kind::LLVMPointerTypeKind
                && !private(index)
        });
        others.count() as u32
    });
    own + others
}
