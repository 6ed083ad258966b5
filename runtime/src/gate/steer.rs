//! Ordering constraints at work: who may not go on yet ([`raddle_protocol::constraint`]).
//!
//! A pure state machine. The gate tells it what was announced and what was performed and asks
//! whom of the ready threads the tail rule may choose from.

use super::Pending;
use super::core::Gate;
use crate::pages::Os;
use crate::policy::reads_only;
use crate::slots::SlotSet;
use raddle_protocol::constraint::{Constraint, MOST, Point, Rule};
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};

/// So often a constraint of [`Rule::InTurn`] lets somebody pass out of turn before it is given up.
const PARDONS: u32 = 64;

/// An operation that was announced.
#[derive(Clone, Copy)]
pub struct Operation {
    pub thread: Slot,
    pub kind: Kind,
    pub object: u64,
    pub pc: u64,
}

/// One constraint and what has happened to it.
#[derive(Clone, Copy)]
struct Active {
    constraint: Constraint,
    rule: Rule,
    /// How often operations that agree with `first` and `then` were performed.
    firsts: u32,
    thens: u32,
    /// Who performed `first`: nobody, one thread, or ([`MANY`]) several.
    by: Slot,
    /// The object whose last operation was `first`; 0: none is known.
    fresh: u64,
    /// Steps during which it held somebody.
    held: u32,
    /// Whom it held last.
    whom: Slot,
    pardons: u32,
    over: bool,
}

/// More than one thread.
const MANY: Slot = slot::NONE - 1;

impl Active {
    const IDLE: Active = Active {
        constraint: Constraint::new(Rule::After, Point::ANY, Point::ANY, 0),
        rule: Rule::After,
        firsts: 0,
        thens: 0,
        by: slot::NONE,
        fresh: 0,
        held: 0,
        whom: slot::NONE,
        pardons: 0,
        over: true,
    };

    fn names(point: &Point, op: &Operation) -> bool {
        point.agrees(op.thread, op.kind, op.object, op.pc)
    }

    /// Must `op`, which agrees with `then`, wait?
    fn holds(&self, op: &Operation) -> bool {
        let then = &self.constraint.then;
        if self.over || (then.nth != 0 && then.nth != self.thens.saturating_add(1)) {
            return false;
        }
        let by_another = self.by != slot::NONE && self.by != op.thread;
        match self.rule {
            Rule::After | Rule::AtOnce => !by_another,
            Rule::InTurn => {
                let early = self.constraint.credit.saturating_add(self.pardons);
                self.thens >= self.firsts.saturating_add(early)
            }
            Rule::RightAfter => !(by_another && self.fresh == op.object),
            Rule::NotRightAfter => by_another && op.object != 0 && self.fresh == op.object,
        }
    }

    /// `op` was performed.
    fn performed(&mut self, op: &Operation) {
        if Active::names(&self.constraint.then, op) {
            self.thens = self.thens.saturating_add(1);
        }
        if Active::names(&self.constraint.first, op) {
            self.firsts = self.firsts.saturating_add(1);
            let nth = self.constraint.first.nth;
            if nth == 0 || nth == self.firsts {
                self.happened(op);
                return;
            }
        }
        if op.object != 0 && op.object == self.fresh && !reads_only(op.kind) {
            self.fresh = 0;
        }
    }

    /// `op` is the `first` that counts.
    fn happened(&mut self, op: &Operation) {
        let immediate = matches!(self.rule, Rule::RightAfter | Rule::NotRightAfter);
        self.by = match self.by {
            _ if immediate => op.thread,
            slot::NONE => op.thread,
            one if one == op.thread => one,
            _ => MANY,
        };
        self.fresh = op.object;
    }

    /// Nobody else can go on.
    fn give_up(&mut self) {
        self.pardons += 1;
        self.over |= self.rule != Rule::InTurn || self.pardons > PARDONS;
    }

    /// It held somebody for one more step.
    fn count(&mut self) {
        self.held = self.held.saturating_add(1);
        let patience = self.constraint.patience;
        self.over |= patience != 0 && self.held > patience;
    }
}

/// The constraints of a job.
pub struct Steer {
    active: [Active; MOST],
    len: usize,
    /// Alive threads whose announced operation some constraint is about.
    concerned: SlotSet,
    held: SlotSet,
    free: SlotSet,
    /// Who was held by a constraint of [`Rule::AtOnce`] that is fulfilled now.
    released: Slot,
}

impl Steer {
    /// No constraints.
    pub const NONE: Steer = Steer {
        active: [Active::IDLE; MOST],
        len: 0,
        concerned: SlotSet::EMPTY,
        held: SlotSet::EMPTY,
        free: SlotSet::EMPTY,
        released: slot::NONE,
    };

    /// Obeys `constraints` from now on (the first [`MOST`]; those with an unknown rule are left
    /// out).
    pub fn start(&mut self, constraints: &[Constraint]) {
        self.len = 0;
        for constraint in constraints.iter().take(MOST) {
            if let Some(rule) = Rule::from_u32(constraint.rule) {
                self.active[self.len] = Active {
                    constraint: *constraint,
                    rule,
                    over: false,
                    ..Active::IDLE
                };
                self.len += 1;
            }
        }
    }

    /// Are there any?
    #[inline]
    pub fn is_active(&self) -> bool {
        self.len != 0
    }

    /// A thread announced `op`.
    pub fn announced(&mut self, op: &Operation) {
        let concerns = |a: &Active| !a.over && Active::names(&a.constraint.then, op);
        let concerned = self.active[..self.len].iter().any(concerns);
        self.concerned.set(op.thread, concerned);
    }

    /// `op` is performed now.
    pub fn performed(&mut self, op: &Operation) {
        self.concerned.set(op.thread, false);
        for active in &mut self.active[..self.len] {
            let waits = active.by == slot::NONE;
            active.performed(op);
            if waits && active.by != slot::NONE && active.rule == Rule::AtOnce && !active.over {
                self.released = active.whom;
            }
        }
    }

    /// Those of `ready` who are not held back, for the next step. Empty only if `others`:
    /// somebody else can go on.
    pub fn free<'a>(
        &'a mut self,
        ready: &'a SlotSet,
        others: bool,
        operation: impl Fn(Slot) -> Operation,
    ) -> &'a SlotSet {
        if self.concerned.is_empty() || ready.is_empty() {
            return ready;
        }
        let released = core::mem::replace(&mut self.released, slot::NONE);
        loop {
            let holding = self.sort(ready, &operation);
            if self.held.is_empty() && released == slot::NONE {
                return ready;
            }
            if others || self.held.len() < ready.len() {
                for (i, active) in self.active[..self.len].iter_mut().enumerate() {
                    if holding >> i & 1 != 0 {
                        active.count();
                    }
                }
                self.free.difference(ready, &self.held);
                if let Some(s) = self.first_of_all(released, holding) {
                    self.free.clear();
                    self.free.set(s, true);
                }
                return &self.free;
            }
            // Those that were given first are kept longest.
            let last = u32::BITS - 1 - holding.leading_zeros();
            self.active[last as usize].give_up();
        }
    }

    /// Who of the free threads goes before the others.
    fn first_of_all(&self, released: Slot, holding: u32) -> Option<Slot> {
        let active = self.active[..self.len].iter().enumerate();
        let waited_for = active.filter(|(i, a)| holding >> i & 1 != 0 && a.rule == Rule::AtOnce);
        let mut candidates = waited_for.map(|(_, a)| a.constraint.first.thread);
        let is_free = |&s: &Slot| s != slot::NONE && self.free.contains(s);
        Some(released)
            .filter(is_free)
            .or_else(|| candidates.find(is_free))
    }

    /// Finds who of `ready` is held; the constraints that hold somebody, a bit each.
    fn sort(&mut self, ready: &SlotSet, operation: impl Fn(Slot) -> Operation) -> u32 {
        self.held.clear();
        let mut holding = 0;
        for s in self.concerned.iter().filter(|&s| ready.contains(s)) {
            let op = operation(s);
            for (i, active) in self.active[..self.len].iter_mut().enumerate() {
                if Active::names(&active.constraint.then, &op) && active.holds(&op) {
                    holding |= 1 << i;
                    active.whom = s;
                    self.held.set(s, true);
                }
            }
        }
        holding
    }
}

const _: () = assert!(MOST <= u32::BITS as usize);

impl<O: Os> Gate<O> {
    /// `s`, whose announcement is new or has changed.
    #[cold]
    pub(super) fn steer_announced(&mut self, s: Slot) {
        let p = self.pending(s);
        let op = operation(s, p);
        self.steer.announced(&op);
    }

    /// `s` performs what it announced.
    #[cold]
    pub(super) fn steer_performed(&mut self, s: Slot) {
        let p = self.pending(s);
        let op = operation(s, p);
        self.steer.performed(&op);
    }
}

/// What `p`, announced by `s`, is for a constraint.
pub(super) fn operation(thread: Slot, p: &Pending) -> Operation {
    Operation {
        thread,
        kind: p.kind,
        object: p.object,
        pc: p.pc as u64,
    }
}

#[cfg(test)]
#[path = "steer_tests.rs"]
mod tests;
