//! What other processes do, which nobody controls, as part of the schedule: that a signal has
//! arrived, and what an operation found that depends on them ([`FACT`]). It is written down with the
//! step that takes it in. Whoever runs the schedule again waits with that step until it is so, and
//! sees nothing that the schedule does not have, although it may have happened.

use super::core::{Gate, Stop};
use super::prefix::Wanted;
use super::{Pending, Wake, gate, stop};
use crate::pages::Os;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::Divergence;
use raddle_protocol::schedule::{ARRIVAL, CHOICE_BIT, FACT};
use raddle_protocol::shared::flags;

/// Numbers of facts go from 0 to this.
pub const HIGHEST: u16 = ARRIVAL - FACT - 1;
/// So many records of choices may wait for that of their step.
const MOST_LATE: usize = 16;

/// See the module.
pub struct Facts {
    /// Records of choices that were made before that of their step: what was picked, of how many.
    pub(super) late: Late,
    /// The step with which a signal arrived last.
    arrived: u64,
}

impl Facts {
    /// Nothing has happened.
    pub const NONE: Facts = Facts {
        late: Late {
            choices: [(0, 0); MOST_LATE],
            len: 0,
        },
        arrived: 0,
    };
}

/// A short list.
pub(super) struct Late {
    choices: [(usize, usize); MOST_LATE],
    len: usize,
}

impl Late {
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// How a thread that was chosen goes on whose wait another process may end: numbers of facts.
mod outcome {
    pub const READY: u16 = 0;
    pub const TIMED_OUT: u16 = 1;
    /// It was chosen only to take in a signal, which was not for it.
    pub const IN_VAIN: u16 = 2;
}

/// Which signals the running thread's step may take in.
enum Arrivals {
    None,
    This(u16),
    Any,
}

impl<O: Os> Gate<O> {
    /// Is there a prefix left that says of everything whether it happens?
    pub(super) fn follows_strictly(&self) -> bool {
        self.flags & flags::TOLERANT == 0 && self.prefix.wanted().is_some()
    }

    /// Is the step that is due one that another process enables?
    pub(super) fn outside_is_prescribed(&self) -> bool {
        match self.prefix.wanted() {
            Some(Wanted::Thread(s)) if self.follows_strictly() && self.is_alive(s) => {
                self.pending(s).outside || matches!(self.prefix.choice_behind(), Some(ARRIVAL..))
            }
            _ => false,
        }
    }

    /// The prefix wants a step of `s`. If that takes in a signal, or is the end of a wait that does
    /// not end by its time, and nothing else enables it: sees to it that it can be taken.
    pub(super) fn outside_enables(&mut self, s: Slot) -> bool {
        if !self.is_alive(s) || self.is_ready(s) {
            return false;
        }
        match self.prefix.choice_behind() {
            Some(k) if k > ARRIVAL => {
                self.call_for_signal(s);
                true
            }
            Some(k) if k == FACT | outcome::READY && self.timed.contains(s) => {
                self.child_lets_go_on(s)
            }
            _ => false,
        }
    }

    /// The next step of `s` is to take in a signal, whatever it has announced.
    pub(super) fn call_for_signal(&mut self, s: Slot) -> bool {
        self.threads[s].signalled = true;
        self.unpark(s);
        self.evaluate(s)
    }

    /// The fact that the schedule has for the step just taken; `None`: it does not say.
    pub(super) fn wanted_fact(&mut self) -> Result<Option<u16>, Stop> {
        match self.prefix.wanted() {
            Some(Wanted::Choice(k @ FACT..ARRIVAL)) => Ok(Some(k - FACT)),
            Some(wanted) if self.follows_strictly() => {
                Err(self.diverge(wanted, Divergence::KindOfStep))
            }
            _ => Ok(None),
        }
    }

    /// Writes the fact `found` down.
    pub(super) fn take_fact(&mut self, wanted: Option<u16>, found: u16) -> Result<(), Stop> {
        if let Some(fact) = wanted {
            if fact != found && self.follows_strictly() {
                let wanted = Wanted::Choice(fact | FACT);
                return Err(self.diverge(wanted, Divergence::NoSuchChoice));
            }
            self.advance_prefix();
        }
        self.note(found | FACT);
        Ok(())
    }

    fn note(&mut self, choice: u16) {
        self.choices += 1;
        self.pages.take(choice | CHOICE_BIT);
        self.log_choice(usize::from(choice), 0);
    }

    fn wanted_arrivals(&self) -> Arrivals {
        match self.prefix.wanted() {
            Some(Wanted::Choice(k @ ARRIVAL..)) => Arrivals::This(k - ARRIVAL),
            Some(_) if self.follows_strictly() => Arrivals::None,
            _ => Arrivals::Any,
        }
    }

    /// The wanted signal has arrived (`found`), or does not.
    pub(super) fn take_arrival(&mut self, wanted: u16, found: bool) -> Result<(), Stop> {
        if !found && self.follows_strictly() {
            let wanted = Wanted::Choice(wanted + ARRIVAL);
            return Err(self.diverge(wanted, Divergence::NoSuchChoice));
        }
        self.advance_prefix();
        Ok(())
    }

    pub(super) fn arrived(&mut self, signal: u16) {
        // Otherwise whoever runs the schedule again could not tell that the time has to pass.
        if !self.has_just_arrived() && self.timed.contains(self.running()) {
            self.note(ARRIVAL);
        }
        self.facts.arrived = self.steps;
        self.note(signal + ARRIVAL);
    }

    /// Did the step just taken take in a signal from outside?
    pub(super) fn has_just_arrived(&self) -> bool {
        self.facts.arrived == self.steps
    }

    /// Does the schedule want the step just taken to take in a signal?
    pub(super) fn wants_arrival(&self) -> bool {
        matches!(self.wanted_arrivals(), Arrivals::This(_))
    }

    /// Was the running thread chosen only for a signal to be taken in, which was not for it?
    fn called_in_vain(&self, p: &Pending) -> bool {
        let s = self.running();
        self.threads[s].signalled && !(p.ready)(p, s) && !self.expired(p)
    }

    /// The record of a choice, behind that of its step; `of` 0: a fact.
    pub(super) fn log_choice(&mut self, picked: usize, of: usize) {
        let Facts { late, .. } = &mut self.facts;
        if self.owed && self.logging && late.len < MOST_LATE {
            late.choices[late.len] = (picked, of);
            late.len += 1;
            return;
        }
        self.log(Event {
            kind: Kind::Choice as u8,
            value: picked as u64,
            aux: of as u32,
            ..Event::default()
        });
    }

    /// The step's own record may be there now.
    #[cold]
    pub(super) fn log_late(&mut self) {
        if self.owed {
            return;
        }
        let choices = self.facts.late.choices;
        for &(picked, of) in &choices[..core::mem::take(&mut self.facts.late.len)] {
            self.log_choice(picked, of);
        }
    }
}

/// What the running thread's step finds another process to have done, as a number (at most
/// [`HIGHEST`]) that `look` tells. Where the schedule knows it, `look` is given that number, and is
/// asked until it agrees: what is seen to have failed need not be attempted.
pub fn fact(mut look: impl FnMut(Option<u16>) -> u16) -> u16 {
    let Ok(wanted) = gate().wanted_fact() else {
        stop()
    };
    let mut found = look(wanted).min(HIGHEST);
    let mut patience = gate().patience();
    while wanted.is_some_and(|wanted| wanted != found) {
        let open = patience.rest(&mut gate().pages.os);
        found = look(wanted).min(HIGHEST);
        if !open {
            break;
        }
    }
    match gate().take_fact(wanted, found) {
        Ok(()) => found,
        Err(Stop) => stop(),
    }
}

/// [`fact`] of something that can be told without looking again.
pub fn told(now: bool) -> bool {
    fact(|wanted| wanted.unwrap_or(u16::from(now))) != 0
}

/// The next signal from outside that the running thread's step takes in. `find` says which one is
/// here: the one asked for, or any.
pub fn arrival(find: impl Fn(Option<u16>) -> Option<u16>) -> Option<u16> {
    loop {
        let signal = match gate().wanted_arrivals() {
            Arrivals::None => return None,
            Arrivals::Any => find(None)?,
            Arrivals::This(0) => {
                gate().advance_prefix();
                continue;
            }
            Arrivals::This(signal) => {
                let mut patience = gate().patience();
                while find(Some(signal)).is_none() && patience.rest(&mut gate().pages.os) {}
                let found = find(Some(signal)).is_some();
                if gate().take_arrival(signal, found) == Err(Stop) {
                    stop();
                }
                if !found {
                    continue;
                }
                signal
            }
        };
        gate().arrived(signal);
        return Some(signal);
    }
}

/// How the running thread goes on, which was chosen to perform `p`; `None`: it was chosen in vain.
pub(super) fn outcome(p: &Pending, wake: Wake) -> Option<Wake> {
    let vain = gate().called_in_vain(p);
    let arrived = gate().has_just_arrived();
    if arrived {
        // Whether it was called for the signal is no longer of interest.
        crate::signals::refresh(gate().running());
    }
    if !p.outside || p.deadline == 0 && !arrived {
        return (!vain).then_some(wake);
    }
    let look = |wanted: Option<u16>| {
        let me = gate().running();
        match wanted {
            Some(wanted @ (outcome::TIMED_OUT | outcome::IN_VAIN)) => wanted,
            Some(_) => [outcome::IN_VAIN, outcome::READY][usize::from((p.ready)(p, me))],
            None if vain => outcome::IN_VAIN,
            None => [outcome::READY, outcome::TIMED_OUT][usize::from(wake == Wake::TimedOut)],
        }
    };
    match fact(look) {
        outcome::READY => Some(Wake::Ready),
        outcome::TIMED_OUT => {
            gate().advance_to(p.deadline);
            Some(Wake::TimedOut)
        }
        _ => None,
    }
}
