//! Waits that something besides the threads' own steps may end: other processes, the network.

use super::core::Gate;
use crate::io::{self, Watch};
use crate::pages::Os;
use raddle_protocol::Slot;

/// While somebody waits for the outside, others take so many steps between two looks.
const BETWEEN_LOOKS: u64 = 256;
/// Most milliseconds between two looks of a wait.
const LOOK: u64 = 10;
/// So long a step of the prefix that waits for the outside may take, in milliseconds.
const PREFIX: u64 = 10_000;
/// What the summary says.
const OUTSIDE: &str = "not closed: waits for the outside";

impl<O: Os> Gate<O> {
    /// Evaluates anew every thread that waits in a descriptor operation.
    pub fn touch_descriptors(&mut self) {
        let mut next = self.next_alive(0);
        while let Some(s) = next {
            if s != self.running() && self.pending(s).kind.is_descriptor() {
                self.touch_thread(s);
            }
            next = self.next_alive(s + 1);
        }
    }

    /// [`Gate::touch_descriptors`] between steps, when the thread that ran last waits as well.
    pub(super) fn look_again(&mut self) {
        self.touch_descriptors();
        let last = self.running();
        if self.is_alive(last) && self.pending(last).kind.is_descriptor() {
            self.evaluate_last();
        }
    }

    /// Somebody is about to wait for the outside: look there now and then.
    pub fn expect_outside(&mut self) {
        self.look_after(BETWEEN_LOOKS);
    }

    /// Somebody may wait for the outside: looks there, and waits for real if nobody can go on.
    #[cold]
    pub(super) fn look_outside(&mut self) {
        let mut watch = self.watch();
        let nobody = self.nobody_is_ready();
        if watch.outside {
            self.look_after(BETWEEN_LOOKS);
            io::change();
            self.look_again();
        } else if nobody && !watch.is_empty() && self.pages.names_any_uncontrolled() {
            // A call that is not followed may have moved bytes, and nobody was told.
            self.look_again();
        }
        if self.nobody_is_ready() {
            self.await_outside(watch);
        } else if nobody && watch.tried > 0 && self.count_ready() <= watch.tried {
            // Each may try again, which alone makes it ready.
            super::uncontrolled(OUTSIDE);
            watch.wait(LOOK as i32);
        }
    }

    fn count_ready(&self) -> usize {
        self.alive_threads().filter(|&s| self.is_ready(s)).count()
    }

    fn watch(&self) -> Watch {
        let mut watch = Watch::new();
        for s in self.alive_threads() {
            let p = self.pending(s);
            // What the thread that ran last announced before it ended is over.
            if p.kind.is_descriptor() && !self.is_ready(s) {
                watch.add(p);
            }
        }
        watch
    }

    /// Nobody can go on: waits until the outside changes that, or the earliest deadline is due.
    fn await_outside(&mut self, mut watch: Watch) {
        let most = match watch.outside {
            true => u64::MAX,
            false if watch.is_empty() => return,
            false => io::under_way(),
        };
        if most == 0 {
            return;
        }
        if watch.outside {
            super::uncontrolled(OUTSIDE);
        }
        let due = self.earliest_deadline();
        let most = match due {
            Some(at) => most.min(at.saturating_sub(self.clock()).div_ceil(1_000_000)),
            None => most,
        };
        let until = io::real_time().saturating_add(most);
        loop {
            let left = until.saturating_sub(io::real_time());
            watch.wait(left.min(LOOK) as i32);
            self.look_again();
            self.take_in_signals();
            let over = left == 0 || !watch.outside && io::under_way() == 0;
            if over || !self.nobody_is_ready() {
                return;
            }
        }
    }

    /// The prefix wants a step of `s`, which cannot go on. If it waits for the outside, then wait:
    /// true when it can.
    pub(super) fn outside_lets_go_on(&mut self, s: Slot) -> bool {
        if !self.is_alive(s) || !self.pending(s).kind.is_descriptor() {
            return false;
        }
        let mut watch = Watch::new();
        watch.add(self.pending(s));
        if !watch.outside {
            return false;
        }
        let until = io::real_time() + PREFIX;
        while !self.is_ready(s) && io::real_time() < until {
            watch.wait(LOOK as i32);
            self.look_again();
        }
        self.is_ready(s)
    }
}
