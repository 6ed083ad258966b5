//! Waits for child processes. What these do happens in real time, so that it must not decide more
//! than it has to: while others can go on, nobody looks at them for [`PATIENCE`] steps; when nobody
//! can, the execution waits, but no longer in real time than until the next virtual deadline.
//! Children send signals, too: SIGCHLD at least.

use super::core::Gate;
use crate::pages::Os;
use crate::policy::PATIENCE;
use crate::slots::SlotSet;
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// Longest rest between two looks, in nanoseconds.
const LONGEST: u64 = 1_000_000;
/// Shortest one.
const SHORTEST: u64 = 50_000;
/// So long a signal is waited for where nobody can go on and children are alive, in nanoseconds.
const SIGNAL: u64 = 2_000_000_000;
/// So long what the prefix asks of a child is waited for, in nanoseconds.
const PREFIX: u64 = 5_000_000_000;
/// The same where what does not come is left out.
const TOLERANT: u64 = 200_000_000;

/// A wait in real time with ever longer rests.
pub(super) struct Patience {
    /// Nanoseconds.
    left: u64,
    rest: u64,
}

impl Patience {
    /// So many nanoseconds in all.
    pub fn new(ns: u64) -> Patience {
        Patience {
            left: ns,
            rest: SHORTEST,
        }
    }

    /// Rests; false when nothing is left, or nothing outside can change any more.
    pub fn rest(&mut self, os: &mut impl Os) -> bool {
        let now = self.rest.min(self.left);
        let open = os.rest(now);
        self.left -= now;
        self.rest = (self.rest * 2).min(LONGEST);
        open && self.left > 0
    }
}

/// The threads that wait for a child process.
pub struct Children {
    threads: SlotSet,
    /// The number of the step at which somebody looked last.
    looked: u64,
}

impl Children {
    /// Nobody does.
    pub const NOTHING: Children = Children {
        threads: SlotSet::EMPTY,
        looked: 0,
    };

    /// Does nobody wait?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// `s` has announced an operation that waits for a child process, or another one.
    #[inline]
    pub fn announced(&mut self, s: Slot, waits: bool) {
        if waits || !self.is_empty() {
            self.threads.set(s, waits);
        }
    }
}

impl<O: Os> Gate<O> {
    /// Lets the threads that wait for children see whether they have ended.
    #[cold]
    pub(super) fn look_at_children(&mut self) {
        if !self.ready.is_empty() {
            if self.steps.wrapping_sub(self.children.looked) >= u64::from(PATIENCE) {
                self.children.looked = self.steps;
                self.ask_for_children();
            }
            return;
        }
        if self.follows_strictly() {
            return;
        }
        let clock = self.clock();
        let first = self.earliest_deadline();
        let mut patience = Patience::new(first.map_or(u64::MAX, |at| at.saturating_sub(clock)));
        self.ask_for_children();
        while self.ready.is_empty() && patience.left > 0 {
            let open = patience.rest(&mut self.pages.os);
            self.look_again();
            self.ask_for_children();
            self.take_in_signals();
            if !open {
                break;
            }
        }
        self.children.looked = self.steps;
    }

    /// If a signal has come from outside, somebody's next step is to take it in, whoever it is for.
    pub(super) fn take_in_signals(&mut self) -> bool {
        if self.follows_strictly() || !self.pages.os.signalled() {
            return false;
        }
        let Some(s) = self.next_alive(0) else {
            return false;
        };
        self.call_for_signal(s)
    }

    /// Nobody can go on: waits for a signal that a child may send. True when there is one.
    pub(super) fn await_signals(&mut self) -> bool {
        let mut patience = Patience::new(SIGNAL);
        while !self.take_in_signals() {
            let waits = patience.left > 0 && !self.follows_strictly();
            if !waits || !self.pages.os.has_children() {
                return false;
            }
            patience.rest(&mut self.pages.os);
        }
        true
    }

    /// For what the prefix asks of a child.
    pub(super) fn patience(&self) -> Patience {
        Patience::new(match self.flags & flags::TOLERANT {
            0 => PREFIX,
            _ => TOLERANT,
        })
    }

    /// The prefix wants a step of `s`, which cannot go on. If a child may let it, then wait: true
    /// when it can.
    pub(super) fn child_lets_go_on(&mut self, s: Slot) -> bool {
        if !self.is_alive(s) || !self.pending(s).outside {
            return false;
        }
        // One of our own threads has what it waits for.
        if (self.pending(s).holder)(self.pending(s)).0 != slot::NONE {
            return false;
        }
        let mut patience = self.patience();
        while !self.evaluate(s) {
            if !patience.rest(&mut self.pages.os) {
                return self.evaluate(s);
            }
        }
        true
    }

    fn ask_for_children(&mut self) {
        let mut next = self.children.threads.next(0);
        while let Some(s) = next {
            if self.is_alive(s) {
                self.evaluate(s);
            }
            next = self.children.threads.next(s + 1);
        }
    }

    /// A signal is due for `s`: its next step is that of the handler, whatever it has announced.
    pub fn set_signalled(&mut self, s: Slot, due: bool) {
        self.threads[s].signalled = due;
        self.touch_thread(s);
    }
}
