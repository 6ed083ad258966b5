//! Holds back threads that ask to end the process, where schedules are drawn: otherwise most executions
//! of a program whose main does not join its threads end before these have done anything.

use super::core::Gate;
use crate::pages::Os;
use crate::slots::SlotSet;
use raddle_protocol::event::Kind;
use raddle_protocol::shared::flags;

/// So many steps more than were taken before may come before the end: others may go on for ever.
const SURPLUS: u64 = 1000;

/// Who has asked to end the process.
pub struct Ending {
    asked: SlotSet,
    /// Who could take the next step, without those; where that is nobody, it does not count.
    others: SlotSet,
    held: bool,
    /// Somebody has asked, and is held back up to this step.
    until: u64,
}

impl Ending {
    /// Nobody.
    pub const NONE: Ending = Ending {
        asked: SlotSet::EMPTY,
        others: SlotSet::EMPTY,
        held: false,
        until: 0,
    };

    /// A job begins.
    pub(super) fn start(&mut self) {
        if self.until != 0 {
            self.asked.clear();
        }
        (self.held, self.until) = (false, 0);
    }

    #[inline]
    pub(super) fn is_asked_for(&self) -> bool {
        self.until != 0
    }

    /// Who is to be chosen from instead of all that are ready; `None`: nobody is held back.
    #[inline]
    pub(super) fn others(&self) -> Option<&SlotSet> {
        self.held.then_some(&self.others)
    }
}

impl<O: Os> Gate<O> {
    /// The running thread is about to announce that it ends the process, or goes on to a handler of
    /// exit.
    pub(super) fn ask_to_end(&mut self) {
        if self.flags & flags::HOLD_ENDS != 0 {
            let me = self.running();
            self.ending.asked.set(me, true);
            if self.ending.until == 0 {
                self.ending.until = 2 * self.steps + SURPLUS;
            }
        }
    }

    /// To be called before the policy chooses, once somebody has asked.
    #[cold]
    pub(super) fn hold_ends(&mut self) {
        self.ending.held = false;
        if self.steps >= self.ending.until {
            return;
        }
        // Whoever has gone on runs handlers, which is nothing to be held back.
        let mut next = self.ending.asked.next(0);
        while let Some(s) = next {
            let stands = self.is_alive(s) && is_end(self.pending(s).kind);
            if !stands {
                self.ending.asked.set(s, false);
            }
            next = self.ending.asked.next(s + 1);
        }
        let Gate { ready, ending, .. } = self;
        ending.others.difference(ready, &ending.asked);
        ending.held = !ending.others.is_empty();
    }
}

fn is_end(kind: Kind) -> bool {
    matches!(kind, Kind::ProcessEnd | Kind::ExitNext)
}
