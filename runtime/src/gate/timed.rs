//! Waits that end by their time: when they may.
//!
//! A short one may end at any step, since nobody knows how fast the others are. One of over a second
//! is there for when something has gone wrong (a watchdog, a time-out of a test): it ends only when
//! nobody else can go on, and no short one can end. Sleeps always count as short: what a sleeper
//! does afterwards is part of the test. But short ones in a row are a long one: no more than
//! [`SHORT`] passes while a thread that could go on does not get a step. An exhaustive search tries
//! all ends, as does a job with [`flags::EAGER_TIME`]. What ended by its time while others could go
//! on is counted, unless its time was over when it began: a failure may need that
//! ([`flags::LATE_TIMEOUTS`] asks). So is a sleep in a row with another one of the same thread, without
//! a step of anybody else: that is a timed wait made by hand.

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
    /// Who could go on when the clock was moved all the same, and has not got a step since.
    overtaken: SlotSet,
    /// Nanoseconds that have passed since the first of them could go on.
    starved: u64,
    /// Whose sleep was over last, and [`Gate::switches`] then.
    slept: (Slot, u64),
    /// See [`idle`].
    idle: u64,
}

impl Hurry {
    /// No time has passed.
    pub const NONE: Hurry = Hurry {
        ahead: 0,
        early: 0,
        overtaken: SlotSet::EMPTY,
        starved: 0,
        slept: (slot::NONE, 0),
        idle: 0,
    };

    /// `s` takes a step.
    #[inline]
    pub(super) fn steps(&mut self, s: Slot) {
        if !self.overtaken.is_empty() {
            self.overtaken.set(s, false);
        }
    }
}

/// Nanoseconds of the virtual time so far that passed because somebody waited for that: the process used no
/// processor meanwhile, also if others could have gone on, who had none either.
pub fn idle() -> u64 {
    super::gate().hurry.idle
}

/// Is the time over when the clock shows `now`? A wait of which that is so when it begins is none but an
/// attempt, which no other thread can be too slow for. (Deadlines before the clock's beginning are at 1.)
fn is_over(deadline: u64, now: u64) -> bool {
    deadline <= now.max(1)
}

impl<O: Os> Gate<O> {
    /// `s` has announced a wait, or its deadline has been changed: is it a long one from here?
    #[inline]
    pub(super) fn measure(&mut self, s: Slot) {
        let p = self.pending(s);
        let long = p.deadline > self.clock().saturating_add(SHORT) && !self.tries_every_end();
        let over = is_over(p.deadline, self.clock());
        let patient = p.kind != Kind::Sleep && (long || self.late_only() && !over);
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

    /// Is whatever waits for its time to end at any step?
    fn tries_every_end(&self) -> bool {
        self.flags & (flags::EXHAUSTIVE | flags::SYMBOLIC | flags::EAGER_TIME) != 0
    }

    /// While others can go on, would the time of `s` starve one of them? With
    /// [`flags::LATE_TIMEOUTS`] also: would it take the clock past the deadline of somebody who waits
    /// patiently, or is it another sleep in a row?
    #[inline]
    pub(super) fn overtakes(&self, s: Slot) -> bool {
        // Whoever another process lets go on could as well have been let go on later.
        let others = || self.ready.iter().any(|other| !self.pending(other).outside);
        let too_early = || self.passes_patient(s) || self.sleeps_on(s);
        let late = || self.late_only() && too_early() && others();
        !self.nobody_is_ready() && (late() || self.starves(s)) && !self.oversleeps(s)
    }

    /// Would more than [`SHORT`] pass while somebody who can go on gets no step?
    fn starves(&self, s: Slot) -> bool {
        let hurry = &self.hurry;
        let more = self.pending(s).deadline.saturating_sub(self.clock());
        !hurry.overtaken.is_empty()
            && hurry.starved.saturating_add(more) > SHORT
            && !self.tries_every_end()
            && hurry
                .overtaken
                .iter()
                .any(|other| self.ready.contains(other))
    }

    /// Has nobody else got a step since another sleep of `s` was over?
    fn sleeps_on(&self, s: Slot) -> bool {
        self.pending(s).kind == Kind::Sleep && self.hurry.slept == (s, self.switches)
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
        p.deadline != 0 && is_over(p.deadline, self.clock())
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
        let in_time = self.nobody_is_ready();
        let passed = match in_time {
            // Up to the first deadline the time would have passed in any case.
            true => deadline.saturating_sub(self.earliest_deadline().unwrap_or(deadline)),
            false => deadline.saturating_sub(self.clock()),
        };
        self.hurry.idle += deadline.saturating_sub(self.clock());
        self.hurry.ahead = passed + if in_time { 0 } else { self.hurry.ahead };
        self.advance_to(deadline);
        if in_time || self.hurry.overtaken.is_empty() {
            self.hurry.starved = 0;
            self.hurry
                .overtaken
                .difference(&self.ready, &SlotSet::EMPTY);
            self.hurry.overtaken.set(s, false);
        }
        self.hurry.starved += passed;
    }

    /// The wait of the running thread ended by its time: notes whether that was early.
    #[cold]
    pub(super) fn note_early(&mut self) {
        let me = self.running();
        let p = *self.pending(me);
        let due = self.clock() - self.hurry.ahead.min(self.clock());
        let is_sleep = p.kind == Kind::Sleep;
        let in_a_row = self.sleeps_on(me);
        if is_sleep {
            self.hurry.slept = (me, self.switches);
        }
        let over = is_over(p.deadline, self.threads[me].since);
        if is_sleep && !in_a_row || p.deadline <= due || over {
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
