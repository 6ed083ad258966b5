//! What an access makes of the content that it finds.
//!
//! Exhaustive searches ask what an access would do where other steps lie before it than did when it
//! was seen: whether it changes the memory at all decides what it commutes with
//! ([`crate::conflict`]). So the runtime records what it computes ([`Kind::Operands`]).

use crate::Slot;
use crate::event::{Event, Kind};
use crate::hooks::rmw;

/// The low `size` bytes of `value`.
pub const fn cut(value: u64, size: u32) -> u64 {
    match size {
        1 => value & 0xff,
        2 => value & 0xffff,
        4 => value & 0xffff_ffff,
        _ => value,
    }
}

/// `value` of `size` bytes as a signed number.
const fn signed(value: u64, size: u32) -> i64 {
    let unused = 64 - 8 * if size > 8 { 8 } else { size };
    (value << unused) as i64 >> unused
}

/// What an atomic update computes: [`rmw`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Update {
    Exchange = rmw::XCHG as u8,
    Add = rmw::ADD as u8,
    Sub = rmw::SUB as u8,
    And = rmw::AND as u8,
    Nand = rmw::NAND as u8,
    Or = rmw::OR as u8,
    Xor = rmw::XOR as u8,
    Max = rmw::MAX as u8,
    Min = rmw::MIN as u8,
    UMax = rmw::UMAX as u8,
    UMin = rmw::UMIN as u8,
}

impl Update {
    /// Decodes; the plugin emits no other codes, and they would exchange.
    pub const fn from_code(code: u32) -> Update {
        match code {
            rmw::ADD => Update::Add,
            rmw::SUB => Update::Sub,
            rmw::AND => Update::And,
            rmw::NAND => Update::Nand,
            rmw::OR => Update::Or,
            rmw::XOR => Update::Xor,
            rmw::MAX => Update::Max,
            rmw::MIN => Update::Min,
            rmw::UMAX => Update::UMax,
            rmw::UMIN => Update::UMin,
            _ => Update::Exchange,
        }
    }

    /// The new content of `size` bytes that held `old`.
    pub fn apply(self, old: u64, operand: u64, size: u32) -> u64 {
        let (old, operand) = (cut(old, size), cut(operand, size));
        let less = signed(old, size) < signed(operand, size);
        let new = match self {
            Update::Exchange => operand,
            Update::Add => old.wrapping_add(operand),
            Update::Sub => old.wrapping_sub(operand),
            Update::And => old & operand,
            Update::Nand => !(old & operand),
            Update::Or => old | operand,
            Update::Xor => old ^ operand,
            Update::Max if less => operand,
            Update::Min if !less => operand,
            Update::Max | Update::Min => old,
            Update::UMax => old.max(operand),
            Update::UMin => old.min(operand),
        };
        cut(new, size)
    }
}

/// An access that may change memory: a store, an exchange, an update, a compare-exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    pub update: Update,
    pub operand: u64,
    /// It changes nothing unless it finds this.
    pub expected: Option<u64>,
}

/// In `size` of a [`Kind::Operands`] record: there is something expected.
const EXPECTS: u8 = 0x80;
/// In `size` of a [`Kind::Operands`] record: the content is not known.
const UNKNOWN: u8 = 0x40;

impl Operands {
    /// Of a store.
    pub const fn store(value: u64) -> Operands {
        Operands::update(Update::Exchange, value)
    }

    /// Of an atomic update.
    pub const fn update(update: Update, operand: u64) -> Operands {
        Operands {
            update,
            operand,
            expected: None,
        }
    }

    /// Of a compare-exchange.
    pub const fn compare_exchange(expected: u64, new: u64) -> Operands {
        Operands {
            update: Update::Exchange,
            operand: new,
            expected: Some(expected),
        }
    }

    /// Of a wait at a futex: it changes the queue if a word holds `expected`.
    pub const fn wait(expected: u32) -> Operands {
        Operands::compare_exchange(expected as u64, !expected as u64)
    }

    /// Are `size` bytes that hold `old` the same afterwards?
    pub fn leaves(&self, old: u64, size: u32) -> bool {
        self.after(old, size) == cut(old, size)
    }

    /// What `size` bytes hold afterwards that hold `old`.
    pub fn after(&self, old: u64, size: u32) -> u64 {
        let old = cut(old, size);
        match self.expected.is_none_or(|it| cut(it, size) == old) {
            true => self.update.apply(old, self.operand, size),
            false => old,
        }
    }

    /// How many bytes the step of this record looks at.
    pub fn size_of(step: &Event) -> u32 {
        match step.kind() {
            Some(Kind::FutexWait) => 4,
            _ => u32::from(step.size),
        }
    }

    /// The record that stands before that of the access by `thread`; `found`: the content before it.
    pub fn record(&self, thread: Slot, found: Option<u64>) -> Event {
        let expects = if self.expected.is_some() { EXPECTS } else { 0 };
        let unknown = if found.is_none() { UNKNOWN } else { 0 };
        Event {
            kind: Kind::Operands as u8,
            size: self.update as u8 | expects | unknown,
            thread,
            object: found.unwrap_or(0),
            value: self.operand,
            pc: self.expected.unwrap_or(0),
            ..Event::default()
        }
    }

    /// What such a record says: the operands, and the content before the access.
    pub fn of_record(record: &Event) -> (Operands, Option<u64>) {
        let flags = EXPECTS | UNKNOWN;
        let operands = Operands {
            update: Update::from_code(u32::from(record.size & !flags)),
            operand: record.value,
            expected: (record.size & EXPECTS != 0).then_some(record.pc),
        };
        (
            operands,
            (record.size & UNKNOWN == 0).then_some(record.object),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_memory_as_it_was() {
        let table = [
            (Operands::store(7), 7, 4, true),
            (Operands::store(7), 8, 4, false),
            (Operands::store(0x107), 7, 1, true),
            (Operands::update(Update::Add, 0), 9, 8, true),
            (Operands::update(Update::Add, 0x100), 9, 1, true),
            (Operands::update(Update::Or, 6), 7, 4, true),
            (Operands::update(Update::Or, 6), 5, 4, false),
            (Operands::update(Update::And, 6), 2, 4, true),
            (Operands::update(Update::Max, u64::MAX), 0, 8, true),
            (Operands::update(Update::UMax, u64::MAX), 0, 8, false),
            (Operands::compare_exchange(0, 5), 1, 4, true),
            (Operands::compare_exchange(0, 5), 0, 4, false),
            (Operands::compare_exchange(3, 3), 3, 4, true),
            (Operands::compare_exchange(0x1_0000_0000, 5), 0, 4, false),
        ];
        for (operands, old, size, expected) in table {
            assert_eq!(operands.leaves(old, size), expected, "{operands:?} {old}");
            for found in [None, Some(old)] {
                let record = operands.record(3, found);
                assert_eq!(Operands::of_record(&record), (operands, found));
            }
        }
        assert!(!Kind::Operands.is_step());
    }
}
