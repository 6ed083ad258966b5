//! What a piece of the target's memory is: a variable, of the program or of a thread, a block of the
//! heap, a mapping, a stack.

use crate::report::{Names, base_name};
use crate::symbols::Symbols;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::{Slot, slot, stack};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Its name, and the distance from its start.
    Variable(String, u64),
    /// A thread-local one of this thread; no name where the symbols do not tell.
    ThreadLocal(Slot, Option<(String, u64)>),
    /// A block of the heap: index of the record of its allocation.
    Block(usize),
    /// The same of a mapping.
    Mapping(usize),
    Stack(Slot),
    /// The same where it is not known which part of it is thread-local storage.
    StackOrLocal(Slot),
    /// Data of the module at this path.
    Data(String),
    Unknown(u64),
}

impl Memory {
    /// What lies at `address` when the event with the index `at` happens.
    pub fn at(address: u64, events: &[Event], at: usize, symbols: &Symbols) -> Memory {
        if let Some((name, within)) = symbols.variable(address) {
            return Memory::Variable(name.to_string(), within);
        }
        let holds = |e: &Event| address.checked_sub(e.object).is_some_and(|at| at < e.value);
        let last = |kinds: &[Kind]| {
            let before = &events[..=at.min(events.len() - 1)];
            before
                .iter()
                .rposition(|e| kinds.iter().any(|&k| e.kind == k as u8) && holds(e))
        };
        if let Some(index) = last(&[Kind::ThreadLocal]) {
            let record = &events[index];
            let named = symbols.thread_local(record.pc, address - record.object);
            let named = named.map(|(name, within)| (name.to_string(), within));
            return Memory::ThreadLocal(record.thread, named);
        }
        match last(&[Kind::Malloc, Kind::Mapped]) {
            Some(index) if events[index].kind == Kind::Malloc as u8 => Memory::Block(index),
            Some(index) => Memory::Mapping(index),
            None => match (stack::slot_of(address), symbols.data_of(address)) {
                (Some(owner), _) => {
                    let told = |e: &Event| e.kind == Kind::ThreadLocal as u8 && e.thread == owner;
                    match owner == slot::MAIN || events.iter().any(told) {
                        true => Memory::Stack(owner),
                        false => Memory::StackOrLocal(owner),
                    }
                }
                (None, Some(path)) => Memory::Data(path.to_string_lossy().into_owned()),
                (None, None) => Memory::Unknown(address),
            },
        }
    }

    /// In a sentence; `address` is what was asked for.
    pub fn text(&self, address: u64, events: &[Event], names: &Names) -> String {
        let part = |name: String, within: u64| match within {
            0 => name,
            _ => format!("byte {within} of {name}"),
        };
        match self {
            Memory::Variable(name, within) => part(format!("`{name}`"), *within),
            Memory::ThreadLocal(owner, Some((name, within))) => part(
                format!("thread-local `{name}` of {}", names.of(*owner)),
                *within,
            ),
            Memory::ThreadLocal(owner, None) => {
                format!("a thread-local variable of {}", names.of(*owner))
            }
            Memory::Block(index) | Memory::Mapping(index) => {
                let (within, size) = (address - events[*index].object, events[*index].value);
                format!("byte {within} of a {} of {size} bytes", self.noun())
            }
            Memory::Stack(owner) => format!("the stack of {}", names.of(*owner)),
            Memory::StackOrLocal(owner) => {
                format!("the stack or thread-local storage of {}", names.of(*owner))
            }
            Memory::Data(path) => format!("data of {}", base_name(path)),
            Memory::Unknown(address) => format!("memory at {address:#x}"),
        }
    }

    /// The record of where it came into being.
    pub fn origin(&self) -> Option<usize> {
        match self {
            Memory::Block(index) | Memory::Mapping(index) => Some(*index),
            _ => None,
        }
    }

    /// What that record says.
    pub fn origin_text(&self, record: &Event, names: &Names) -> String {
        let verb = match self {
            Memory::Mapping(_) => "made",
            _ => "allocated",
        };
        let (size, by) = (record.value, names.of(record.thread));
        format!("the {} of {size} bytes was {verb} by {by}", self.noun())
    }

    fn noun(&self) -> &'static str {
        match self {
            Memory::Mapping(_) => "mapping",
            _ => "block",
        }
    }

    /// The name by which suppressions may mean it.
    pub fn name(&self) -> Option<&str> {
        match self {
            Memory::Variable(name, _) | Memory::ThreadLocal(_, Some((name, _))) => Some(name),
            _ => None,
        }
    }
}
