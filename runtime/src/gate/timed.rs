//! Waits that end by their time: when they may.
//!
//! A short one may end at any step, since nobody knows how fast the others are. One of over a second
//! is there for when something has gone wrong (a watchdog, a time-out of a test): it ends only when
//! nobody else can go on, and no short one can end. Sleeps always count as short: what a sleeper
//! does afterwards is part of the test. An exhaustive search tries all ends, as does a job with
//! [`flags::EAGER_TIME`]. What ended by its time while others could go on is counted: a failure may
//! need that ([`flags::LATE_TIMEOUTS`] asks).

use super::Pending;
use super::core::Gate;
use crate::pages::Os;
use crate::slots::SlotSet;
use core::sync::atomic::Ordering;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// The longest short wait, in nanoseconds.
const SHORT: u64 = 1_000_000_000;
/// So many steps after the clock has moved, and after anybody began to sleep, whoever sleeps goes on,
/// though others could: they may do nothing but wait for that, in loops that count something.
const LONG_SLEEP: u64 = 100_000;

/// Who waits long, and can go on only by letting the time run out. [`Gate::timed`] has the others.
pub struct Patient {
    waiting: SlotSet,
}

impl Patient {
    /// Nobody waits.
    pub const NOBODY: Patient = Patient {
        waiting: SlotSet::EMPTY,
    };
}

/// How far the clock is ahead of where it would be if it had only moved while nobody could go on.
pub struct Hurry {
    /// Nanoseconds. Whose deadline lies within them has been overtaken by no more than the policy's
    /// choice.
    ahead: u64,
    /// Time-outs that came early, so far.
    pub(super) early: u64,
}

impl Hurry {
    /// No time has passed.
    pub const NONE: Hurry = Hurry { ahead: 0, early: 0 };
}

impl<O: Os> Gate<O> {
    /// `s` has announced a wait, or its deadline has been changed: is it a long one from here?
    #[inline]
    pub(super) fn measure(&mut self, s: Slot) {
        let p = self.pending(s);
        let every_end = flags::EXHAUSTIVE | flags::SYMBOLIC | flags::EAGER_TIME;
        let long = p.deadline > self.clock().saturating_add(SHORT) && self.flags & every_end == 0;
        let patient = p.kind != Kind::Sleep && (long || self.late_only());
        self.threads[s].patient = patient;
        self.threads[s].since = self.clock();
    }

    /// Sorts a thread that is alive by whether its time is what it waits for.
    #[inline]
    pub(super) fn wait_for_time(&mut self, s: Slot, waits: bool) {
        let patient = self.threads[s].patient;
        self.timed.set(s, waits && !patient);
        if patient {
            self.patient.waiting.set(s, waits);
        }
    }

    /// May no time-out come early?
    fn late_only(&self) -> bool {
        self.flags & flags::LATE_TIMEOUTS != 0
    }

    /// With [`flags::LATE_TIMEOUTS`]: would the time of `s` take the clock past the deadline of
    /// somebody who waits patiently, while others can go on?
    #[inline]
    pub(super) fn overtakes(&self, s: Slot) -> bool {
        self.late_only() && !self.nobody_is_ready() && self.passes_patient(s)
    }

    fn passes_patient(&self, s: Slot) -> bool {
        let first = self.earliest_of(&self.patient.waiting);
        first != slot::NONE && self.pending(first).deadline <= self.pending(s).deadline
    }

    /// Nobody can go on. If nobody waits for a short time either, the first of the long waits may end;
    /// where no time-out may come early, whoever is first.
    pub(super) fn end_patience(&mut self) {
        if !self.nobody_is_ready() {
            return;
        }
        let first_sleeper = self.earliest();
        if first_sleeper != slot::NONE && !(self.late_only() && self.passes_patient(first_sleeper))
        {
            return;
        }
        let first = self.earliest_of(&self.patient.waiting);
        if first != slot::NONE {
            self.patient.waiting.set(first, false);
            self.threads[first].patient = false;
            self.timed.set(first, true);
        }
    }

    /// Has the time come for which `p` waits?
    #[inline]
    pub(super) fn expired(&self, p: &Pending) -> bool {
        p.deadline != 0 && p.deadline <= self.clock()
    }

    /// The moment at which the first wait ends by its time-out.
    pub(super) fn earliest_deadline(&self) -> Option<u64> {
        let firsts = [&self.timed, &self.patient.waiting].map(|set| self.earliest_of(set));
        let alive = firsts.into_iter().filter(|&s| s != slot::NONE);
        alive.map(|s| self.pending(s).deadline).min()
    }

    /// Who of these has the earliest deadline.
    pub(super) fn earliest_of(&self, timed: &SlotSet) -> Slot {
        let deadline = |s: &Slot| self.threads[*s].pending().deadline;
        timed.iter().min_by_key(deadline).unwrap_or(slot::NONE)
    }

    /// Has `s`, which has the earliest deadline, slept while others took very many steps? Timed waits
    /// are not meant: that one of them ends by its time-out may be a failure.
    #[inline]
    pub(super) fn oversleeps(&self, s: Slot) -> bool {
        self.steps - self.ticked > LONG_SLEEP
            && self.timed.contains(s)
            && self.pending(s).kind == Kind::Sleep
            && s == self.earliest()
    }

    /// `s` goes on because its time is over: the clock moves.
    pub(super) fn let_time_pass(&mut self, s: Slot) {
        let deadline = self.pending(s).deadline;
        self.hurry.ahead = match self.nobody_is_ready() {
            // Up to the first deadline the time would have passed in any case.
            true => deadline.saturating_sub(self.earliest_deadline().unwrap_or(deadline)),
            false => self.hurry.ahead + deadline.saturating_sub(self.clock()),
        };
        self.advance_to(deadline);
    }

    /// The wait of the running thread ended by its time: notes whether that was early.
    #[cold]
    pub(super) fn note_early(&mut self) {
        let me = self.running();
        let p = *self.pending(me);
        let due = self.clock() - self.hurry.ahead.min(self.clock());
        if p.kind == Kind::Sleep || p.deadline <= due {
            return;
        }
        self.hurry.early += 1;
        let early = &self.pages.control().early;
        early.store(self.hurry.early, Ordering::Relaxed);
        if self.flags & flags::ENABLED != 0 {
            let record = Event {
                kind: Kind::Early as u8,
                size: p.kind as u8,
                object: p.object,
                value: p.deadline.saturating_sub(self.threads[me].since),
                pc: p.pc as u64,
                ..Event::default()
            };
            self.log(record);
        }
    }

    /// Who of `timed` has the earliest deadline.
    pub(super) fn earliest(&self) -> Slot {
        self.earliest_of(&self.timed)
    }

    /// Moves the clock; waits whose time has come are ready.
    pub fn advance_to(&mut self, ns: u64) {
        if ns <= self.clock() {
            return;
        }
        self.set_clock(ns);
        self.ticked = self.steps;
        self.pages.control().clock.store(ns, Ordering::Relaxed);
        self.evaluate_all(|gate| &gate.timed);
        self.evaluate_all(|gate| &gate.patient.waiting);
    }

    /// Evaluates all members of a set anew.
    fn evaluate_all(&mut self, set: impl Fn(&Self) -> &SlotSet) {
        let mut next = set(self).next(0);
        while let Some(s) = next {
            if s != self.running() {
                self.evaluate(s);
            }
            next = set(self).next(s + 1);
        }
    }
}
