//! The schedule's prefix, step by step.

use super::core::{Gate, State, Stop};
use crate::pages::Os;
use raddle_protocol::outcome::{Divergence, End};
use raddle_protocol::schedule::{ARRIVAL, CHOICE_BIT, Step};
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// What the schedule asks for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A step of this thread.
    Thread(u16),
    /// This alternative of a choice.
    Choice(u16),
}

/// A cursor over run-length coded steps.
pub struct Prefix {
    steps: &'static [Step],
    index: usize,
    /// Steps already used of the entry at `index`.
    used: u16,
}

impl Prefix {
    /// Nothing is prescribed.
    pub const EMPTY: Prefix = Prefix::new(&[]);

    /// All of `steps`, in order.
    pub const fn new(steps: &'static [Step]) -> Prefix {
        Prefix {
            steps,
            index: 0,
            used: 0,
        }
    }

    /// What is due; `None` at the end.
    #[inline]
    pub fn wanted(&self) -> Option<Wanted> {
        let what = self.steps.get(self.index)?.what;
        Some(if what & CHOICE_BIT != 0 {
            Wanted::Choice(what & !CHOICE_BIT)
        } else {
            Wanted::Thread(what)
        })
    }

    /// One step was taken. Does the arrival of a signal follow?
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.used += 1;
        let over = self.used >= self.steps[self.index].count;
        if over {
            self.skip_run();
        }
        over && matches!(self.wanted(), Some(Wanted::Choice(ARRIVAL..)))
    }

    /// The choice that belongs to the step that is due, if there is one.
    pub fn choice_behind(&self) -> Option<u16> {
        let due = self.steps.get(self.index)?;
        let last = self.used + 1 >= due.count;
        let behind = self.steps.get(self.index + 1).filter(|_| last)?;
        behind.is_choice().then_some(behind.what & !CHOICE_BIT)
    }

    /// `n` steps and choices were taken before.
    pub fn skip(&mut self, n: u64) {
        for _ in 0..n {
            if self.wanted().is_none() {
                return;
            }
            self.advance();
        }
    }

    /// Leaves out the rest of the current entry.
    pub fn skip_run(&mut self) {
        self.index += 1;
        self.used = 0;
    }
}

impl<O: Os> Gate<O> {
    /// See [`super::choose`]; `rarely`: the policy prefers 0.
    pub fn choose(&mut self, n: usize, rarely: bool) -> Result<usize, Stop> {
        if n < 2 {
            return Ok(0);
        }
        if self.freeze.is_due() {
            self.look_whether_to_freeze(false)?;
        }
        self.choices += 1;
        let tolerant = self.flags & flags::TOLERANT != 0;
        let picked = match self.prefix.wanted() {
            None if rarely => self.policy.choose_rarely(n),
            None => self.policy.choose(n),
            Some(Wanted::Choice(k)) if usize::from(k) < n => {
                self.advance_prefix();
                usize::from(k)
            }
            Some(Wanted::Choice(_)) if tolerant => {
                self.advance_prefix();
                0
            }
            Some(Wanted::Thread(_)) if tolerant => 0,
            Some(wanted @ Wanted::Choice(_)) => {
                return Err(self.diverge(wanted, Divergence::NoSuchChoice));
            }
            Some(wanted) => return Err(self.diverge(wanted, Divergence::KindOfStep)),
        };
        self.pages.take(picked as u16 | CHOICE_BIT);
        Ok(picked)
    }

    /// The thread that the prefix wants; `None` when the prefix is used up.
    #[inline]
    pub(super) fn follow_prefix(&mut self) -> Result<Option<Slot>, Stop> {
        let tolerant = self.flags & flags::TOLERANT != 0;
        while let Some(wanted) = self.prefix.wanted() {
            let why = match wanted {
                Wanted::Thread(s) if self.outside_enables(s) || self.enabled(s) => {
                    self.advance_prefix();
                    return Ok(Some(s));
                }
                Wanted::Thread(s) if self.only_spins(s) => {
                    self.advance_prefix();
                    return Ok(Some(s));
                }
                Wanted::Thread(s) if usize::from(s) >= slot::COUNT => Divergence::NoSuchThread,
                Wanted::Thread(s) if self.outside_lets_go_on(s) => continue,
                Wanted::Thread(s) if self.child_lets_go_on(s) => continue,
                Wanted::Thread(s) => match self.threads[s].state {
                    State::Free => Divergence::NoSuchThread,
                    State::Alive => Divergence::Blocked,
                    State::Ended => Divergence::Ended,
                },
                Wanted::Choice(_) => Divergence::KindOfStep,
            };
            if !tolerant {
                return Err(self.diverge(wanted, why));
            }
            self.prefix.skip_run();
        }
        Ok(None)
    }

    /// Does the prefix want a thread next that is kept from its step only because it spins?
    pub(super) fn prescribes_spinner(&self) -> bool {
        matches!(self.prefix.wanted(), Some(Wanted::Thread(s)) if self.only_spins(s))
    }

    /// An entry of the prefix was taken.
    #[inline]
    pub(super) fn advance_prefix(&mut self) {
        if self.prefix.advance() {
            self.pages.os.expect_signal();
        }
    }

    /// The schedule cannot be followed: the outcome says so.
    pub(super) fn diverge(&mut self, wanted: Wanted, why: Divergence) -> Stop {
        let (step, running) = (self.steps, self.running());
        let (what, text) = match wanted {
            Wanted::Thread(s) => (s, "thread"),
            Wanted::Choice(n) => (n | CHOICE_BIT, "alternative"),
        };
        let detail = [step, u64::from(what), why as u64, u64::from(running)];
        let number = what & !CHOICE_BIT;
        let reason = match why {
            Divergence::NoSuchThread => "it does not exist",
            Divergence::Ended => "it has ended",
            Divergence::Blocked => "it is blocked",
            Divergence::KindOfStep => "another kind of step is due",
            Divergence::NoSuchChoice => "there are not so many",
        };
        let message = format_args!("step {step}: the schedule wants {text} {number}, but {reason}");
        self.fault(End::Divergence, message, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_unrolled() {
        static STEPS: [Step; 3] = [Step::thread(0, 2), Step::choice(3), Step::thread(5, 1)];
        let mut prefix = Prefix::new(&STEPS);
        let mut seen = Vec::new();
        while let Some(wanted) = prefix.wanted() {
            seen.push(wanted);
            prefix.advance();
        }
        use Wanted::*;
        assert_eq!(seen, [Thread(0), Thread(0), Choice(3), Thread(5)]);
        let mut prefix = Prefix::new(&STEPS);
        prefix.skip_run();
        assert_eq!(prefix.wanted(), Some(Choice(3)));
        let mut prefix = Prefix::new(&STEPS);
        prefix.skip(3);
        assert_eq!(prefix.wanted(), Some(Thread(5)));
        prefix.skip(3);
        assert_eq!(prefix.wanted(), None);
        // A count of 0 in pages that someone scribbled over is one step, not a hang.
        static ZERO: [Step; 1] = [Step { what: 1, count: 0 }];
        let mut prefix = Prefix::new(&ZERO);
        prefix.advance();
        assert_eq!(prefix.wanted(), None);
    }
}
