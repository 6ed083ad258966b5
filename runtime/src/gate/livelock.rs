//! Threads wait in loops ([`super::spin`]) and nobody else can go on: will anything ever change, or is
//! it a livelock?

use super::core::{Gate, Stop};
use super::spin::{Role, is_closed, role};
use crate::pages::Os;
use raddle_protocol::Slot;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;

/// Where loops are doubted, a livelock is told after so many iterations without effect.
const DOUBTED: u32 = 200_000;
/// The same where the search is to end.
const EXACT_DOUBTED: u32 = 500;
/// Nanoseconds between two looks at what children may have changed.
const MOMENT: u64 = 100_000;

impl<O: Os> Gate<O> {
    /// Nobody can go on: is there a thread that is parked and looks at the world again?
    pub(super) fn looks_again(&mut self) -> bool {
        self.looks_behind_locks() || self.looks_in_doubt() || self.looks_behind_children()
    }

    /// Children may change memory that they share. As long as there are any, whoever waits in a loop
    /// looks at the world again now and then.
    fn looks_behind_children(&mut self) -> bool {
        if !self.anybody_spins() || self.follows_strictly() || !self.pages.os.has_children() {
            return false;
        }
        self.pages.os.rest(MOMENT);
        let mut any = false;
        let mut next = self.next_alive(0);
        while let Some(s) = next {
            next = self.next_alive(s + 1);
            if self.is_spinning(s) {
                self.unpark(s);
                any |= self.evaluate(s);
            }
        }
        any
    }

    /// If others have done anything since a thread was parked that takes locks, it looks at the world
    /// again, since those locks may protect what no hook sees. Not where the search is to end.
    fn looks_behind_locks(&mut self) -> bool {
        let exact = self.flags & flags::EXACT_SPINS != 0;
        let mut next = self.next_alive(0).filter(|_| !exact);
        while let Some(s) = next {
            next = self.next_alive(s + 1);
            let track = &self.spins.tracks[s];
            if self.is_spinning(s) && track.takes && track.since < self.spins.operations {
                self.unpark(s);
                if self.evaluate(s) {
                    return true;
                }
            }
        }
        false
    }

    /// Is it too early to say that nothing will change any more?
    pub(super) fn doubts(&mut self) -> bool {
        if self.flags & flags::DOUBT_SPINS == 0 {
            return false;
        }
        let (changes, iterations) = &mut self.spins.doubted;
        if *changes != self.spins.changes {
            (*changes, *iterations) = (self.spins.changes, 0);
        }
        *iterations += 1;
        *iterations
            <= match self.flags & flags::EXACT_SPINS {
                0 => DOUBTED,
                _ => EXACT_DOUBTED,
            }
    }

    /// Has nothing changed since it was last too early to say so?
    pub(super) fn is_in_doubt(&self) -> bool {
        let (changes, iterations) = self.spins.doubted;
        iterations > 0 && changes == self.spins.changes
    }

    /// Where loops are doubted, the next thread that is parked goes round once more.
    fn looks_in_doubt(&mut self) -> bool {
        if !self.anybody_spins() || !self.doubts() {
            return false;
        }
        let last = self.spins.doubter.0;
        for (from, to) in [(last + 1, Slot::MAX), (0, last)] {
            let mut next = self.next_alive(from);
            while let Some(s) = next.filter(|&s| s <= to) {
                next = self.next_alive(s + 1);
                if self.is_spinning(s) {
                    self.unpark(s);
                    if self.evaluate(s) {
                        self.spins.doubter = (s, self.spins.changes);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Will nobody that is alive ever change anything again?
    pub(super) fn nothing_will_change(&self) -> bool {
        let idle =
            |s: Slot| self.still_spins(s) || self.spins.tracks[s].idle == self.spins.changes + 1;
        let for_good = |s: Slot| {
            let p = self.pending(s);
            let holder = (p.holder)(p).0;
            // A lock that is held during an iteration only is free after it.
            let soon = matches!(role(p.kind), Role::Lock) && self.is_alive(holder) && idle(holder);
            !self.is_ready(s) && p.deadline == 0 && !soon && is_closed(p.kind)
        };
        self.alive_threads().all(|s| idle(s) || for_good(s)) && !self.may_miss_each_other(idle)
    }

    /// Does a lock that one of these threads tries in its loop belong, perhaps, to another one for a
    /// part of an iteration only? Then an attempt may succeed at another moment, as in `std::lock`,
    /// which gives back what it has and begins again.
    fn may_miss_each_other(&self, loops: impl Fn(Slot) -> bool) -> bool {
        let tracks = &self.spins.tracks;
        let mut tries = self
            .alive_threads()
            .filter(|&s| loops(s) && tracks[s].tries);
        tries.any(|s| {
            let mut others = self.alive_threads().filter(|&other| other != s);
            others.any(|other| loops(other) && tracks[other].takes)
        })
    }

    /// Ends the execution: some threads go round loops that nothing will ever end.
    pub(super) fn livelock(&mut self) -> Stop {
        if self.has_given_up() {
            return self.give_up();
        }
        let message = match self.alive() {
            1 => format_args!("the only thread waits in a loop for what nobody will change"),
            _ => format_args!("threads wait in loops for what nobody will change"),
        };
        self.stuck(End::Livelock, message, |_, _| true)
    }
}
