//! Atomics that no word holds, and those that are left to libatomic: sections of plain accesses, in
//! which nobody else goes on, so that what they write and find keeps its expressions.

use crate::access::{Access, Cell};
use crate::hooks::Hooks;
use crate::ir::{Context, Emit, Kind, Layout, Module, Predicate, Type, Value};
use crate::wide::Wide;
use crate::{locations, sharing};
use raddle_protocol::hooks::rmw;

/// Bytes of an atomic that is taken apart at most.
const MOST: u64 = 128;

/// Does all of it in a function.
pub fn run(module: Module, hooks: &Hooks, function: Value) {
    let context = module.context();
    for i in function.instructions() {
        let wide = match Access::of(i) {
            Some(Access::Wide(wide)) => Some(wide),
            Some(access) => of_instruction(&access, module.layout()),
            None => None,
        };
        let Some(wide) = wide.filter(|wide| wide.length <= MOST) else {
            continue;
        };
        let section = Section {
            context,
            hooks,
            private: sharing::is_private(context, i, 0),
            wide: wide.in_parts(),
            i,
            emit: Emit::new(context, i, locations::of(context, i)),
        };
        section.replace();
    }
}

/// An atomic on an integer that no word holds.
fn of_instruction(access: &Access, layout: Layout) -> Option<Wide> {
    let ty = match *access {
        Access::AtomicLoad { ty, .. } => ty,
        Access::AtomicStore { value, .. } | Access::Update { value, .. } => value.ty(),
        Access::Exchange { new, .. } => new.ty(),
        _ => return None,
    };
    let is_integer = ty.kind() == Kind::LLVMIntegerTypeKind;
    let wide = Wide::of_instruction(access, layout)?;
    (is_integer && Cell::of(layout, ty).is_none()).then_some(wide)
}

fn mark(context: Context) -> u32 {
    context.metadata_kind("raddle.part")
}

/// Is it a store that an atomic became?
pub fn is_part(store: Value) -> bool {
    let context = store.operand(0).ty().context();
    store.metadata(mark(context)).is_some()
}

/// Takes it over to another store that the first one was one.
pub fn copy_mark(context: Context, from: Value, to: Value) {
    to.set_metadata(mark(context), from.metadata(mark(context)));
}

/// The pointer and the bytes that a section is about, if this is the call at its begin.
pub fn begins(call: Value) -> Option<(Value, u64)> {
    is_hook(call, "raddle_wide_begin").then(|| (call.operand(0), call.operand(1).int_value()))
}

/// Is this the call at the end of a section?
pub fn ends(call: Value) -> bool {
    is_hook(call, "raddle_wide_end")
}

fn is_hook(call: Value, name: &str) -> bool {
    let callee = call.callee().as_function();
    callee.is_some_and(|callee| callee.name() == name)
}

/// An integer, or several that lie side by side in memory.
type Content = Vec<Value>;

/// An atomic that becomes a section.
struct Section<'a> {
    context: Context,
    hooks: &'a Hooks,
    i: Value,
    wide: Wide,
    /// Nobody else sees the memory.
    private: bool,
    emit: Emit,
}

impl Section<'_> {
    /// Puts the section in the place of the atomic, if that is one that can be followed.
    fn replace(mut self) {
        let done = match Access::of(self.i) {
            Some(Access::AtomicLoad { .. }) => {
                let old = self.exchange(|_, _| None);
                Some(Some(old[0]))
            }
            Some(Access::AtomicStore { value, .. }) => {
                self.store(vec![value]);
                Some(None)
            }
            Some(Access::Update {
                value, operation, ..
            }) => {
                let old = self.update(operation, value).0;
                Some(Some(old))
            }
            Some(Access::Exchange { expected, new, .. }) => {
                let (old, equal) = self.compare_exchange(vec![expected], vec![new]);
                let pair = self.i.ty().poison();
                let pair = self.emit.insert_value(pair, old[0], 0);
                Some(Some(self.emit.insert_value(pair, equal, 1)))
            }
            _ => self.call(),
        };
        let Some(result) = done else { return };
        if let Some(result) = result
            && self.i.first_use().is_some()
        {
            self.i.replace_uses(result);
        }
        self.i.erase();
    }

    /// A call of `__atomic_load` or one of its kin; its value.
    fn call(&mut self) -> Option<Option<Value>> {
        let (operation, sized) = crate::wide::operation(self.i)?;
        let compares = operation == "compare_exchange";
        if compares && self.i.ty().kind() != Kind::LLVMIntegerTypeKind {
            return None;
        }
        let orders = if compares { 2 } else { 1 };
        let first = if sized { 1 } else { 2 };
        let last = self.i.argument_count() - orders;
        let arguments: Vec<Value> = (first..last).map(|n| self.i.operand(n)).collect();
        match sized {
            true => self.call_by_value(&operation, &arguments),
            false => self.call_by_address(&operation, &arguments),
        }
    }

    fn call_by_address(&mut self, operation: &str, places: &[Value]) -> Option<Option<Value>> {
        let pointer = |place: &Value| place.ty().kind() == Kind::LLVMPointerTypeKind;
        if !places.iter().all(pointer) {
            return None;
        }
        match (operation, places) {
            ("load", &[result]) => {
                let old = self.exchange(|_, _| None);
                self.put(result, old);
                Some(None)
            }
            ("store", &[value]) => {
                let new = self.get(value);
                self.store(new);
                Some(None)
            }
            ("exchange", &[value, result]) => {
                let new = self.get(value);
                let old = self.exchange(|_, _| Some(new));
                self.put(result, old);
                Some(None)
            }
            ("compare_exchange", &[expected, desired]) => {
                let new = self.get(desired);
                let equal = self.compare_exchange_in_memory(expected, new);
                Some(Some(self.truth(equal)))
            }
            _ => None,
        }
    }

    fn call_by_value(&mut self, operation: &str, arguments: &[Value]) -> Option<Option<Value>> {
        let gives_number = operation != "compare_exchange" && self.i.first_use().is_some();
        if !matches!(self.wide.length, 1 | 2 | 4 | 8 | 16)
            || (gives_number && !self.holds(self.i.ty()))
        {
            return None;
        }
        let result = match (operation, arguments) {
            ("load", []) => self.exchange(|_, _| None)[0],
            ("store", value) => {
                let value = self.number(value)?;
                self.store(vec![value]);
                return Some(None);
            }
            ("exchange", value) => {
                let value = self.number(value)?;
                self.exchange(|_, _| Some(vec![value]))[0]
            }
            ("compare_exchange", [expected, value @ ..]) => {
                let value = self.number(value)?;
                let equal = self.compare_exchange_in_memory(*expected, vec![value]);
                return Some(Some(self.truth(equal)));
            }
            (update, value) => {
                let new = update.ends_with("_fetch");
                let update = update
                    .trim_start_matches("fetch_")
                    .trim_end_matches("_fetch");
                let code = match update {
                    "add" => rmw::ADD,
                    "sub" => rmw::SUB,
                    "and" => rmw::AND,
                    "or" => rmw::OR,
                    "xor" => rmw::XOR,
                    "nand" => rmw::NAND,
                    _ => return None,
                };
                let value = self.number(value)?;
                let (before, after) = self.update(code, value);
                if new { after } else { before }
            }
        };
        Some(gives_number.then(|| self.returned(result)))
    }

    /// The integer of the atomic's size.
    fn int(&self) -> Type {
        self.context.int(8 * self.wide.length as u32)
    }

    /// Can a value of this type be the result? One of 16 bytes is returned in two registers.
    fn holds(&self, ty: Type) -> bool {
        let halves = || {
            let word = self.context.int(64);
            ty.kind() == Kind::LLVMStructTypeKind
                && ty.field_count() == 2
                && (0..2).all(|index| ty.field(index) == word)
        };
        ty == self.int() || (self.wide.length == 16 && halves())
    }

    fn returned(&self, number: Value) -> Value {
        let ty = self.i.ty();
        if ty == self.int() {
            return number;
        }
        let word = self.context.int(64);
        let above = self.emit.lshr(number, self.int().constant(64));
        let pair = ty.poison();
        let pair = self
            .emit
            .insert_value(pair, self.emit.trunc(number, word), 0);
        self.emit
            .insert_value(pair, self.emit.trunc(above, word), 1)
    }

    /// The number that was handed over, in two registers if it has 16 bytes.
    fn number(&self, arguments: &[Value]) -> Option<Value> {
        let word = self.context.int(64);
        match *arguments {
            [one] if one.ty() == self.int() => Some(one),
            [low, high] if self.wide.length == 16 && low.ty() == word && high.ty() == word => {
                let [low, high] = [low, high].map(|half| self.emit.zext(half, self.int()));
                let high = self.emit.shl(high, self.int().constant(64));
                Some(self.emit.or(low, high))
            }
            _ => None,
        }
    }

    /// What tells whether a compare-exchange succeeded, as the call gives it.
    fn truth(&self, equal: Value) -> Value {
        let ty = self.i.ty();
        match ty.int_width() {
            1 => equal,
            _ => self.emit.zext(equal, ty),
        }
    }

    /// Offset and bytes of the integers of a content.
    fn pieces(&self) -> Vec<(u64, u32)> {
        let length = self.wide.length;
        if length == 16 {
            return vec![(0, 16)];
        }
        super::expand::pieces(length).collect()
    }

    fn load(&self, from: Value, mut note: impl FnMut(Value)) -> Content {
        let piece = |(offset, bytes)| {
            let at = self.emit.offset(from, self.emit.c64(offset));
            let piece = self.emit.load(self.context.int(8 * bytes), at);
            piece.set_alignment(1);
            note(piece);
            piece
        };
        self.pieces().into_iter().map(piece).collect()
    }

    fn save(&self, to: Value, content: Content, emit: &Emit, mut note: impl FnMut(Value)) {
        for ((offset, _), piece) in self.pieces().into_iter().zip(content) {
            let at = emit.offset(to, emit.c64(offset));
            let store = emit.store(piece, at);
            store.set_alignment(1);
            note(store);
        }
    }

    /// Reads other memory than the atomic.
    fn get(&self, from: Value) -> Content {
        self.load(from, |_| {})
    }

    /// Writes other memory than the atomic.
    fn put(&self, to: Value, content: Content) {
        self.save(to, content, &self.emit, |_| {});
    }

    fn begin(&self) {
        if !self.private {
            self.wide.begin(self.hooks, &self.emit, None);
        }
    }

    fn end(&self) {
        if !self.private {
            self.wide.end(self.hooks, &self.emit);
        }
    }

    fn read(&self) -> Content {
        self.load(self.wide.pointer, |load| {
            sharing::copy_note(self.context, self.i, load)
        })
    }

    fn write(&self, content: Content, emit: &Emit) {
        self.save(self.wide.pointer, content, emit, |store| {
            sharing::copy_note(self.context, self.i, store);
            store.set_metadata(mark(self.context), Some(self.context.node(&[])));
        });
    }

    fn store(&self, new: Content) {
        self.begin();
        self.write(new, &self.emit);
        self.end();
    }

    /// Reads, and writes what `change` makes of it, if anything.
    fn exchange(&self, change: impl FnOnce(&Emit, &Content) -> Option<Content>) -> Content {
        self.begin();
        let old = self.read();
        if let Some(new) = change(&self.emit, &old) {
            self.write(new, &self.emit);
        }
        self.end();
        old
    }

    /// The old number and the new one.
    fn update(&self, operation: u32, operand: Value) -> (Value, Value) {
        let mut new = operand;
        let old = self.exchange(|emit, old| {
            new = updated(emit, operation, old[0], operand);
            Some(vec![new])
        });
        (old[0], new)
    }

    /// Writes only if the content is the expected one; the old one, and whether it was.
    fn compare_exchange(&mut self, expected: Content, new: Content) -> (Content, Value) {
        self.begin();
        let old = self.read();
        let same = old
            .iter()
            .zip(expected)
            .map(|(&old, expected)| self.emit.compare(Predicate::LLVMIntEQ, old, expected));
        let same = same.reduce(|a, b| self.emit.and(a, b));
        let same = same.unwrap_or_else(|| self.context.int(1).constant(1));
        self.when(same, |section, emit| section.write(new, emit));
        self.end();
        (old, same)
    }

    /// The same where the expected content lies in memory, which gets the old one.
    fn compare_exchange_in_memory(&mut self, expected: Value, new: Content) -> Value {
        let content = self.get(expected);
        let (old, same) = self.compare_exchange(content, new);
        let other = self.emit.xor(same, self.context.int(1).constant(1));
        self.when(other, |section, emit| {
            section.save(expected, old, emit, |_| {});
        });
        same
    }

    /// Emits something that is only done where `condition` holds.
    fn when(&mut self, condition: Value, body: impl FnOnce(&Self, &Emit)) {
        let location = locations::of(self.context, self.i);
        let spare = Emit::new(self.context, self.i, location);
        let mut emit = std::mem::replace(&mut self.emit, spare);
        emit.when(condition, |emit| body(self, emit));
        self.emit = emit;
    }
}

/// What an update writes.
fn updated(emit: &Emit, operation: u32, old: Value, operand: Value) -> Value {
    let choose = |predicate| {
        let kept = emit.compare(predicate, old, operand);
        emit.select(kept, old, operand)
    };
    match operation {
        rmw::ADD => emit.add(old, operand),
        rmw::SUB => emit.sub(old, operand),
        rmw::AND => emit.and(old, operand),
        rmw::NAND => emit.xor(emit.and(old, operand), old.ty().all_ones()),
        rmw::OR => emit.or(old, operand),
        rmw::XOR => emit.xor(old, operand),
        rmw::MAX => choose(Predicate::LLVMIntSGT),
        rmw::MIN => choose(Predicate::LLVMIntSLT),
        rmw::UMAX => choose(Predicate::LLVMIntUGT),
        rmw::UMIN => choose(Predicate::LLVMIntULT),
        _ => operand,
    }
}
