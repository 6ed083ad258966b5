//! Deadlocks: threads that wait for each other in a cycle, and executions where nobody can go on.

use super::core::{Gate, Stop};
use super::{Fatal, Pending};
use crate::pages::Os;
use raddle_protocol::event::Kind;
use raddle_protocol::outcome::{End, Wait};
use raddle_protocol::{Slot, slot};

impl<O: Os> Gate<O> {
    /// Whom `s` waits for with no way out (no deadline, no cancellation); `slot::NONE` if it does
    /// not wait or nobody in particular holds the object.
    fn waits_for(&self, s: Slot) -> Slot {
        if !self.is_alive(s) || self.is_ready(s) {
            return slot::NONE;
        }
        let p = self.pending(s);
        if p.deadline != 0 || p.cancellable {
            return slot::NONE;
        }
        (p.holder)(p).0
    }

    /// Does following the holders from `s` come back to `s`?
    fn in_cycle(&self, s: Slot) -> bool {
        let mut at = s;
        for _ in 0..self.alive() {
            at = self.waits_for(at);
            if at == slot::NONE {
                return false;
            }
            if at == s {
                return true;
            }
        }
        false
    }

    /// Ends the execution if `s`, which has just blocked, closes a cycle.
    pub(super) fn check_cycle(&mut self, s: Slot) -> Result<(), Stop> {
        if !self.in_cycle(s) {
            return Ok(());
        }
        let mut members = 1;
        let mut at = self.waits_for(s);
        while at != s {
            members += 1;
            at = self.waits_for(at);
        }
        let message = match members {
            1 => format_args!("a thread waits for itself"),
            _ => format_args!("{members} threads wait for each other in a cycle"),
        };
        Err(self.report(message))
    }

    /// Ends the execution: nobody can go on.
    pub(super) fn deadlock(&mut self) -> Stop {
        if self.has_given_up() {
            return self.give_up();
        }
        match self.alive() - self.alive_threads().filter(|&s| self.is_timer(s)).count() {
            1 => self.report(format_args!("the only thread waits for ever")),
            n => self.report(format_args!("all {n} threads wait for ever")),
        }
    }

    /// Does a thread go no further since an assumption does not hold? Whoever waits may wait for that one.
    pub(super) fn has_given_up(&self) -> bool {
        let mut pending = self.alive_threads().map(|s| self.pending(s).kind);
        pending.any(|kind| kind == Kind::Assume)
    }

    /// Ends the execution: nobody can go on, and somebody could but for an assumption.
    pub(super) fn give_up(&mut self) -> Stop {
        let message = format_args!("an assumption does not hold");
        self.stuck(End::Assumed, message, |_, _| false)
    }

    /// Does `s` wait for nothing but the expiry of a timer? That is the runtime's own thread.
    fn is_timer(&self, s: Slot) -> bool {
        self.pending(s).kind == Kind::TimerExpire
    }

    fn report(&mut self, message: core::fmt::Arguments) -> Stop {
        self.stuck(End::Deadlock, message, |gate, s| {
            !gate.is_ready(s) && !gate.is_timer(s)
        })
    }

    /// Ends the execution for what the threads that are `shown` wait for.
    pub(super) fn stuck(
        &mut self,
        end: End,
        message: core::fmt::Arguments,
        shown: fn(&Gate<O>, Slot) -> bool,
    ) -> Stop {
        let running = self.running();
        self.log_announced(true);
        // Nobody runs when a thread has ended and the others wait.
        let runs = self.is_alive(running);
        let outcome = Fatal {
            end,
            code: 0,
            message,
            detail: [0; 4],
            pc: match runs {
                true => self.pending(running).pc,
                false => 0,
            },
            stack: runs,
        };
        let gate: *const Gate<O> = self;
        // SAFETY: the iterator reads the threads, `record` writes the pages; they are disjoint.
        let gate = unsafe { &*gate };
        let shown = gate.alive_threads().filter(|&s| shown(gate, s));
        let waits = shown.map(|s| gate.wait(s));
        self.pages.record(&outcome, running, waits);
        Stop
    }

    pub(super) fn wait(&self, s: Slot) -> Wait {
        let p: &Pending = self.pending(s);
        let (holder, holder_pc) = (p.holder)(p);
        Wait {
            thread: s,
            holder,
            kind: p.kind as u8,
            in_cycle: u8::from(self.in_cycle(s)),
            object: p.object,
            pc: p.pc as u64,
            holder_pc: holder_pc as u64,
            ..Wait::default()
        }
    }
}
