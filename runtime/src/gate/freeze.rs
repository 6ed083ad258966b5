//! Copies of a running execution: the gate's part ([`raddle_protocol::shared::freeze`]).
//!
//! A copy is made where nothing that differs between jobs has been looked at yet: before the first
//! step that has an alternative, or within the prefix.

use super::core::{Gate, Stop};
use super::steer::{self, Operation};
use crate::pages::Os;
use raddle_protocol::event::Kind;
use raddle_protocol::shared::freeze;
use raddle_protocol::slot;

/// Operations before the copy that constraints of later jobs may count.
const OPERATIONS: usize = 256;

/// Whether and where this execution is to freeze.
pub struct Freeze {
    at: u64,
    slot: u32,
    /// What was performed so far, by the only thread that there was.
    operations: [Operation; OPERATIONS],
    /// More than [`OPERATIONS`]: not all of them are there.
    performed: usize,
}

impl Freeze {
    pub const NEVER: Freeze = Freeze {
        at: freeze::NEVER,
        slot: 0,
        operations: [Operation {
            thread: slot::NONE,
            kind: Kind::ThreadStart,
            object: 0,
            pc: 0,
        }; OPERATIONS],
        performed: 0,
    };

    /// Is it to freeze at all, and has it not yet?
    #[inline]
    pub fn is_due(&self) -> bool {
        self.at != freeze::NEVER
    }

    fn remember(&mut self, operation: Operation) {
        if let Some(place) = self.operations.get_mut(self.performed) {
            *place = operation;
        }
        self.performed = (self.performed + 1).min(OPERATIONS + 1);
    }
}

impl<O: Os> Gate<O> {
    /// Reads from the job whether this execution is to freeze.
    pub(super) fn begin_freeze(&mut self, at: u64, slot: u32) {
        self.freeze.at = at;
        self.freeze.slot = slot;
    }

    /// Freezes if it is time. To be called before each choice while [`Freeze::is_due`]; `of_step`:
    /// of a thread.
    #[cold]
    pub(super) fn look_whether_to_freeze(&mut self, of_step: bool) -> Result<(), Stop> {
        let first = self.freeze.at == freeze::FIRST_CHOICE;
        let due = match first {
            true => !of_step || self.alive() >= 2,
            false => self.entries() >= self.freeze.at,
        };
        if !due {
            let alone = self.next_alive(0);
            if let (true, Some(s)) = (first, alone) {
                let operation = steer::operation(s, self.pending(s));
                self.freeze.remember(operation);
            }
            return Ok(());
        }
        self.freeze.at = freeze::NEVER;
        let state = match first && self.freeze.performed <= OPERATIONS {
            true => freeze::FROZEN,
            false => freeze::FROZEN_FREE,
        };
        let slot = self.freeze.slot;
        if self.pages.freeze(slot, state) {
            self.thaw()?;
        }
        Ok(())
    }

    /// This is a clone of the copy: it obeys the job that lies in the pages now.
    fn thaw(&mut self) -> Result<(), Stop> {
        self.pages.restart();
        self.publish_all();
        self.obey()?;
        let taken = self.entries();
        self.skip(taken);
        for i in 0..self.freeze.performed.min(OPERATIONS) {
            let operation = self.freeze.operations[i];
            self.steer.performed(&operation);
        }
        let mut next = self.next_alive(0);
        while let Some(s) = next {
            self.introduce(s);
            next = self.next_alive(s + 1);
        }
        Ok(())
    }
}
