//! Waits for child processes. What these do happens in real time, so that it must not decide more
//! than it has to: while others can go on, nobody looks at them for [`PATIENCE`] steps; when nobody
//! can, the execution waits, but no longer in real time than until the next virtual deadline.
//! Children send signals, too: SIGCHLD at least.

use super::core::Gate;
use crate::pages::Os;
use crate::policy::PATIENCE;
use crate::slots::SlotSet;
use raddle_protocol::{Slot, slot};

/// Longest rest between two looks, in nanoseconds.
const LONGEST: u64 = 1_000_000;
/// Shortest one.
const SHORTEST: u64 = 50_000;
/// So long a signal is waited for where nobody can go on and children are alive, in nanoseconds.
const SIGNAL: u64 = 2_000_000_000;
/// So long a step of the prefix that waits for a child may take, in nanoseconds.
const PREFIX: u64 = 5_000_000_000;

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
        let earliest = self.earliest();
        let mut left = match earliest {
            slot::NONE => u64::MAX,
            s => self.pending(s).deadline.saturating_sub(self.clock()),
        };
        let mut rest = SHORTEST;
        self.ask_for_children();
        while self.ready.is_empty() && left > 0 {
            let now = rest.min(left);
            let open = self.pages.os.rest(now);
            if !open {
                self.ask_for_children();
                break;
            }
            if left != u64::MAX {
                left -= now;
            }
            rest = (rest * 2).min(LONGEST);
            self.look_again();
            self.ask_for_children();
            self.take_in_signals();
        }
        self.children.looked = self.steps;
    }

    /// If a signal has come from outside, somebody's next step is to take it in, whoever it is for.
    pub(super) fn take_in_signals(&mut self) -> bool {
        if !self.pages.os.signalled() {
            return false;
        }
        let Some(s) = self.next_alive(0) else {
            return false;
        };
        self.threads[s].signalled = true;
        self.unpark(s);
        self.evaluate(s)
    }

    /// Was the running thread chosen only for a signal to be taken in, which was not for it?
    pub fn called_in_vain(&self) -> bool {
        let thread = &self.threads[self.running()];
        let p = thread.pending();
        thread.signalled && !(p.ready)(p, self.running()) && !self.expired(p)
    }

    /// Nobody can go on: waits for a signal that a child may send. True when there is one.
    pub(super) fn await_signals(&mut self) -> bool {
        let (mut left, mut rest) = (SIGNAL, SHORTEST);
        while !self.take_in_signals() {
            if left == 0 || !self.pages.os.has_children() {
                return false;
            }
            self.pages.os.rest(rest);
            left = left.saturating_sub(rest);
            rest = (rest * 2).min(LONGEST);
        }
        true
    }

    /// The prefix wants a step of `s`, which cannot go on. If a child may let it, then wait: true
    /// when it can.
    pub(super) fn child_lets_go_on(&mut self, s: Slot) -> bool {
        if !self.is_alive(s) || !self.pending(s).outside {
            return false;
        }
        let (mut left, mut rest) = (PREFIX, SHORTEST);
        while !self.evaluate(s) && left > 0 {
            if !self.pages.os.rest(rest) {
                return self.evaluate(s);
            }
            left = left.saturating_sub(rest);
            rest = (rest * 2).min(LONGEST);
        }
        self.is_ready(s)
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
