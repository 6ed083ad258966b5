//! Atomic sections in symbolic runs: who is in one, and who has to wait for its end.

use super::core::Gate;
use crate::pages::Os;
use raddle_protocol::{Slot, slot};

/// The section under way.
pub struct Section {
    /// Who is in it.
    owner: Slot,
    /// Somebody else took a step, because the owner had to wait.
    broken: bool,
}

impl Section {
    /// Nobody is in a section.
    pub const NONE: Section = Section {
        owner: slot::NONE,
        broken: false,
    };

    /// `s` is in a section from now on.
    pub fn enter(&mut self, s: Slot) {
        *self = Section {
            owner: s,
            broken: false,
        };
    }

    /// The section ends. `false`: it was not atomic.
    pub fn leave(&mut self) -> bool {
        !core::mem::replace(self, Section::NONE).broken
    }

    /// `s` takes a step.
    pub fn step(&mut self, s: Slot) {
        self.broken |= self.owner != slot::NONE && s != self.owner;
    }
}

impl<O: Os> Gate<O> {
    /// Who is in a section and can go on, so that nobody else may.
    #[inline]
    pub(super) fn in_section(&self) -> Option<Slot> {
        let owner = self.section.owner;
        (owner != slot::NONE && self.is_ready(owner)).then_some(owner)
    }
}
