//! The scheduling body: every access that others may see goes through a hook while
//! [`MODE_ACCESSES`] is set, and is done as it stands while not.

mod alone;
pub mod blocks;
mod library;

pub use library::{called_by_pointer, keep_private, pointers_given, unknown_called};

use crate::access::{Access, Cell};
use crate::convert::{from_cell, to_cell, widened};
use crate::hooks::Hooks;
use crate::ir::{Context, Emit, Layout, Module, Opcode, Place, Predicate, Type, Value};
use crate::locations;
use crate::wide::Wide;
use core::cell::OnceCell;
use raddle_protocol::hooks::{MODE_ACCESSES, MODE_SYMBOLIC};
use std::collections::HashSet;

/// Inserts scheduling hooks into one function.
pub struct Schedule<'a> {
    context: Context,
    layout: Layout,
    hooks: &'a Hooks,
    module: Module,
    function: Value,
    /// The function has no symbolic body: this one runs in symbolic runs, too, and tells the
    /// shadow of everything.
    alone: bool,
    /// Variables of such a function that hold no expression ever ([`alone::is_plain`]).
    plain: HashSet<Value>,
    /// The variable that calls of the C library share with the hooks around them.
    frame: OnceCell<Value>,
}

impl<'a> Schedule<'a> {
    /// For a function of the module.
    pub fn new(module: Module, hooks: &'a Hooks, function: Value, alone: bool) -> Schedule<'a> {
        Schedule {
            context: module.context(),
            layout: module.layout(),
            hooks,
            module,
            function,
            alone,
            plain: HashSet::new(),
            frame: OnceCell::new(),
        }
    }

    /// Inserts the hooks.
    pub fn instrument(&mut self) {
        let has = |name| self.function.has_attribute(Place::Function, name);
        let checked = has("sanitize_address") || has("sanitize_hwaddress");
        let instructions = self.function.instructions();
        let mut variables = Vec::new();
        if self.alone {
            let plain = instructions.iter().copied();
            self.plain = plain.filter(|&i| alone::is_plain(i)).collect();
            variables.extend(instructions.iter().filter(|i| self.is_fixed(**i)));
        }
        // From the end, so that a split moves what little stands behind it.
        for instruction in instructions.into_iter().rev() {
            let access = Access::of(instruction);
            if self.alone {
                self.tell_shadow(instruction, access.as_ref());
            }
            match access {
                Some(access) => self.access(instruction, &access, checked),
                None => {
                    self.stepwise(instruction);
                    self.library_call(instruction);
                }
            }
        }
        if self.alone {
            self.enter(&variables);
        }
    }

    /// Is a hook called now? An `i1`.
    fn guard(&self, emit: &Emit) -> Value {
        let symbolic = if self.alone { MODE_SYMBOLIC } else { 0 };
        self.hooks.mode_has(emit, MODE_ACCESSES | symbolic)
    }

    fn access(&self, i: Value, access: &Access, checked: bool) {
        let private = |index| Access::is_private(self.context, i, index);
        match access {
            Access::Load { pointer, ty } if !private(0) => match Cell::of(self.layout, *ty) {
                Some(cell) => self.instead(i, |emit| {
                    if checked {
                        self.probe(emit, *pointer, *ty);
                    }
                    let name = format!("raddle_read{}", cell.size);
                    let read = self.hooks.call(emit, &name, &[*pointer]);
                    Some(from_cell(emit, read, cell, *ty))
                }),
                None => self.instead(i, |emit| {
                    if checked {
                        self.probe(emit, *pointer, *ty);
                    }
                    Some(blocks::load(self.hooks, self.layout, emit, i))
                }),
            },
            Access::Store { pointer, value } if !private(0) => {
                let ty = value.ty();
                match Cell::of(self.layout, ty) {
                    Some(cell) => self.instead(i, |emit| {
                        if checked {
                            self.probe(emit, *pointer, ty);
                        }
                        let value = to_cell(emit, *value, cell);
                        let name = format!("raddle_write{}", cell.size);
                        self.hooks.call(emit, &name, &[*pointer, value]);
                        None
                    }),
                    None => self.instead(i, |emit| {
                        if checked {
                            self.probe(emit, *pointer, ty);
                        }
                        blocks::store(self.hooks, self.layout, emit, i);
                        None
                    }),
                }
            }
            Access::AtomicLoad { .. }
            | Access::AtomicStore { .. }
            | Access::Update { .. }
            | Access::Exchange { .. }
                if !private(0) =>
            {
                self.atomic(i, access)
            }
            Access::Wide(wide) if !private(0) || self.alone => self.wide(i, wide, None),
            Access::Fence { order } => self.announce(i, |emit| {
                self.hooks.call(emit, "raddle_fence", &[emit.c32(*order)]);
            }),
            Access::Opaque(assembly) if assembly.may_differ() => {
                assembly.tell(self.hooks, self.module, &self.emit_before(i));
            }
            Access::Opaque(assembly) => self.announce(i, |emit| {
                assembly.tell(self.hooks, self.module, emit);
            }),
            Access::Copy { .. } if !(private(0) && private(1)) => self.block(i, access),
            Access::Set { .. } if !private(0) => self.block(i, access),
            Access::ByValue(arguments) if !i.is_must_tail() => {
                for (index, &(argument, ty)) in (0..).zip(arguments) {
                    if !private(index) {
                        self.by_value(i, argument, ty);
                    }
                }
            }
            _ => {}
        }
    }

    fn atomic(&self, i: Value, access: &Access) {
        let (ty, pointer, expected) = match *access {
            Access::AtomicLoad { pointer, ty, .. } => (ty, pointer, None),
            Access::AtomicStore { pointer, value, .. } | Access::Update { pointer, value, .. } => {
                (value.ty(), pointer, None)
            }
            Access::Exchange {
                pointer,
                expected,
                new,
                ..
            } => (new.ty(), pointer, Some(expected)),
            _ => return,
        };
        let Some(cell) = Cell::of(self.layout, ty) else {
            if let Some(wide) = Wide::of_instruction(access, self.layout) {
                self.wide(i, &wide, expected);
            }
            return;
        };
        self.instead(i, |emit| {
            let size = emit.c32(cell.size);
            let wide = |emit: &Emit, value| widened(emit, to_cell(emit, value, cell));
            match *access {
                Access::AtomicLoad { order, .. } => {
                    let arguments = [pointer, size, emit.c32(order)];
                    let old = self.hooks.call(emit, "raddle_atomic_load", &arguments);
                    Some(from_cell(emit, old, cell, ty))
                }
                Access::AtomicStore { value, order, .. } => {
                    let arguments = [pointer, wide(emit, value), size, emit.c32(order)];
                    self.hooks.call(emit, "raddle_atomic_store", &arguments);
                    None
                }
                Access::Update {
                    value,
                    operation,
                    order,
                    ..
                } => {
                    let value = wide(emit, value);
                    let (code, order) = (emit.c32(operation), emit.c32(order));
                    let arguments = [pointer, value, code, size, order];
                    let old = self.hooks.call(emit, "raddle_atomic_rmw", &arguments);
                    Some(from_cell(emit, old, cell, ty))
                }
                Access::Exchange {
                    expected,
                    new,
                    order,
                    ..
                } => {
                    let expected = wide(emit, expected);
                    let order = emit.c32(order);
                    let arguments = [pointer, expected, wide(emit, new), size, order];
                    let old = self.hooks.call(emit, "raddle_atomic_cas", &arguments);
                    let success = emit.compare(Predicate::LLVMIntEQ, old, expected);
                    let old = from_cell(emit, old, cell, ty);
                    let pair = emit.insert_value(i.ty().poison(), old, 0);
                    Some(emit.insert_value(pair, success, 1))
                }
                _ => None,
            }
        });
    }

    /// Announced, and done as it stands. `expected`: what an instruction compares with.
    fn wide(&self, i: Value, wide: &Wide, expected: Option<Value>) {
        let room = expected.map(|expected| self.variable(expected.ty()));
        self.announce(i, |emit| {
            if let (Some(expected), Some(room)) = (expected, room) {
                emit.store(expected, room);
            }
            wide.begin(self.hooks, emit, room);
        });
        if self.alone {
            self.tell_operands(i, wide);
            // What is put behind an instruction comes before what was put there earlier.
            self.tell_results(i, wide);
        }
        if (self.alone || wide.always_ends())
            && let Some(at) = i.next()
        {
            let mut emit = Emit::new(self.context, at, locations::of(self.context, i));
            let mode = self.guard(&emit);
            emit.when(mode, |emit| wide.end(self.hooks, emit));
        }
    }

    /// A variable of the function.
    fn variable(&self, ty: Type) -> Value {
        blocks::variable(self.function, ty)
    }

    fn range(&self, emit: &Emit, name: &str, pointer: Value, length: Value) {
        let length = widened(emit, length);
        self.hooks.call(emit, name, &[pointer, length]);
    }

    /// Touches the cell, so that an address sanitizer sees the access that the hook will do.
    fn probe(&self, emit: &Emit, pointer: Value, ty: Type) {
        emit.load(ty, pointer).set_volatile(true);
    }

    fn emit_before(&self, i: Value) -> Emit {
        Emit::new(self.context, i, locations::of(self.context, i))
    }

    /// Calls hooks before the instruction.
    fn announce(&self, i: Value, hook: impl FnOnce(&mut Emit)) {
        let mut emit = self.emit_before(i);
        let mode = self.guard(&emit);
        emit.when(mode, hook);
    }

    /// Calls a hook in place of the instruction; it yields the value if there is one.
    fn instead(&self, i: Value, hook: impl FnOnce(&mut Emit) -> Option<Value>) {
        let emit = self.emit_before(i);
        let mode = self.guard(&emit);
        self.instead_when(emit, i, mode, hook);
    }

    /// Calls a hook in place of the instruction where `mode` holds. `emit` is before it.
    fn instead_when(
        &self,
        mut emit: Emit,
        i: Value,
        mode: Value,
        hook: impl FnOnce(&mut Emit) -> Option<Value>,
    ) {
        let at = i.next().expect("it does not end a block");
        emit.move_to(at, locations::of(self.context, i));
        let (rare, usual) = emit.fork(mode);
        i.move_before(usual);
        let hooked = emit.inside(rare, hook);
        if let Some(hooked) = hooked
            && i.first_use().is_some()
        {
            let phi = emit.phi(i.ty());
            i.replace_uses(phi);
            phi.add_incoming(hooked, rare.block());
            phi.add_incoming(i, usual.block());
        }
    }
}

/// The hook that announces an access of any length.
pub fn range_hook(writes: bool) -> &'static str {
    if writes {
        "raddle_range_write"
    } else {
        "raddle_range_read"
    }
}

/// Is the instruction one whose atomic update has no code of its own?
pub fn needs_loop(i: Value) -> bool {
    i.opcode() == Opcode::LLVMAtomicRMW && crate::access::update_code(i.rmw_operation()).is_none()
}
