//! Atomics that no word-sized hook does: too wide for one, or left to a function of libatomic. They
//! are done as they stand, between two hooks.

use crate::access::Access;
use crate::hooks::Hooks;
use crate::ir::{Emit, Kind, Layout, Opcode, Value};
use raddle_protocol::hooks::{cas_order, wide};

/// One such atomic.
#[derive(Clone, Debug)]
pub struct Wide {
    pub pointer: Value,
    /// Bytes.
    pub length: u64,
    /// What the hooks are told: [`raddle_protocol::hooks::wide`].
    what: u32,
    /// Where it finds what a compare-exchange expects.
    expected: Option<Value>,
    /// Further memory of as many bytes that it reads.
    pub operands: Vec<Value>,
    /// The same that it writes.
    pub results: Vec<Value>,
}

impl Wide {
    /// An atomic instruction on a type that no word holds.
    pub fn of_instruction(access: &Access, layout: Layout) -> Option<Wide> {
        let (pointer, ty, what) = match *access {
            Access::AtomicLoad { pointer, ty, order } => (pointer, ty, wide::READS | order),
            Access::AtomicStore {
                pointer,
                value,
                order,
            } => (pointer, value.ty(), wide::WRITES | order),
            Access::Update {
                pointer,
                value,
                order,
                ..
            } => (pointer, value.ty(), wide::READS | wide::WRITES | order),
            Access::Exchange {
                pointer,
                new,
                order,
                ..
            } => (pointer, new.ty(), wide::READS | wide::WRITES | order),
            _ => return None,
        };
        Some(Wide {
            pointer,
            length: layout.store_size(ty),
            what,
            expected: None,
            operands: vec![],
            results: vec![],
        })
    }

    /// A plain access to a vector, whose parts other hooks access.
    pub fn vector(pointer: Value, length: u64) -> Wide {
        Wide {
            pointer,
            length,
            what: wide::PARTS | wide::VECTOR,
            expected: None,
            operands: vec![],
            results: vec![],
        }
    }

    /// A call of `__atomic_load` or one of its kin.
    pub fn of_call(call: Value) -> Option<Wide> {
        let (operation, sized) = named(call)?;
        let operation = operation.as_str();
        // Without a size in its name the function takes it as its first argument, and values by
        // their addresses.
        let first = u32::from(sized.is_none());
        let (reads, writes, orders) = match operation {
            "load" => (wide::READS, 0, 1),
            "store" => (0, wide::WRITES, 1),
            "exchange" => (wide::READS, wide::WRITES, 1),
            "compare_exchange" => (wide::READS, wide::WRITES, 2),
            _ if operation.starts_with("fetch_") || operation.ends_with("_fetch") => {
                (wide::READS, wide::WRITES, 1)
            }
            _ => return None,
        };
        let count = call.argument_count();
        if count < first + 1 + orders {
            return None;
        }
        let length = match sized {
            Some(length) => length,
            None => call.operand(0).as_int_constant()?.int_value(),
        };
        let is_pointer = |value: &Value| value.ty().kind() == Kind::LLVMPointerTypeKind;
        let pointer = Some(call.operand(first)).filter(is_pointer)?;
        let values: Vec<Value> = (first + 1..count - orders)
            .map(|index| call.operand(index))
            .filter(is_pointer)
            .collect();
        let last = order_of(call.operand(count - 1));
        let mut found = Wide {
            pointer,
            length,
            what: wide::CALL | reads | writes | last,
            expected: None,
            operands: values.clone(),
            results: vec![],
        };
        match (operation, values.as_slice()) {
            ("load", &[result]) => {
                found.operands.clear();
                found.results.push(result);
            }
            ("exchange", &[_, result]) => {
                found.operands.pop();
                found.results.push(result);
            }
            ("compare_exchange", &[expected, ..]) => {
                let success = order_of(call.operand(count - 2));
                found.what = wide::CALL | reads | writes | cas_order(success, last);
                found.expected = Some(expected);
                found.results.push(expected);
            }
            _ => {}
        }
        Some(found)
    }

    /// The same as a section of other accesses, which a symbolic body has in its place.
    pub fn in_parts(&self) -> Wide {
        Wide {
            what: self.what & !wide::CALL | wide::PARTS,
            expected: None,
            ..self.clone()
        }
    }

    /// Before the instruction. `expected`: where what a compare-exchange expects lies, if not where
    /// the call says.
    pub fn begin(&self, hooks: &Hooks, emit: &Emit, expected: Option<Value>) {
        let null = self.pointer.ty().context().pointer().null();
        let expected = expected.or(self.expected).unwrap_or(null);
        let (length, what) = (emit.c64(self.length), emit.c32(self.what));
        let arguments = [self.pointer, length, what, expected];
        hooks.call(emit, "raddle_wide_begin", &arguments);
    }

    /// Does the hook after it belong to all runs?
    pub fn always_ends(&self) -> bool {
        self.what & wide::CALL != 0
    }

    /// After it.
    pub fn end(&self, hooks: &Hooks, emit: &Emit) {
        let arguments = [self.pointer, emit.c64(self.length), emit.c32(self.what)];
        hooks.call(emit, "raddle_wide_end", &arguments);
    }
}

/// Which of libatomic's functions is called: without `__atomic_` and the size, and that size.
fn named(call: Value) -> Option<(String, Option<u64>)> {
    let callee = call.callee().as_function()?;
    if !callee.is_declaration() || call.opcode() != Opcode::LLVMCall || call.is_must_tail() {
        return None;
    }
    let name = callee.name();
    let operation = name.strip_prefix("__atomic_")?;
    Some(match operation.rsplit_once('_') {
        Some((base, digits)) if digits.bytes().all(|c| c.is_ascii_digit()) => {
            (base.to_owned(), digits.parse().ok())
        }
        _ => (operation.to_owned(), None),
    })
}

/// What a call that [`Wide::of_call`] knows does, and whether the size is in its name.
pub fn operation(call: Value) -> Option<(String, bool)> {
    let (operation, sized) = named(call)?;
    Some((operation, sized.is_some()))
}

/// A memory order that a call names by a number; the strongest where it is not known.
fn order_of(value: Value) -> u32 {
    match value.as_int_constant().map(Value::int_value) {
        Some(1) => 2,
        Some(known @ 0..=5) => known as u32,
        _ => 5,
    }
}
