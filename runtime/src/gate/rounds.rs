//! Loops that only wait, in symbolic runs: the compiler has found them (the plugin's
//! `symbolic/rounds.rs`), and says when a round begins.
//!
//! Such a loop hands nothing on from round to round, so a round that changed no memory was in vain.
//! The analyzer learns that by a record ([`Kind::Round`]); here the thread is parked, as in
//! [`super::spin`], until something that it read has changed.

use super::core::Gate;
use super::spin::Seen;
use crate::pages::Os;
use crate::slots::Zero;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;

/// Most things that the rounds under way of one thread read.
const READS: usize = 16;
/// Most loops inside each other.
const DEPTH: usize = 4;

/// A round under way.
#[derive(Clone, Copy)]
struct Round {
    /// Return address of the hook: which loop.
    pc: usize,
    /// How much had been read when it began.
    reads: usize,
    /// How many steps had been taken.
    steps: u64,
}

/// The rounds of one thread, outermost first. What changes anything ends all of them.
pub struct Rounds {
    rounds: [Round; DEPTH],
    depth: usize,
    seen: [Seen; READS],
    reads: usize,
    /// What the round reads is to be treated as shared.
    exposes: bool,
    /// The next operation is to be waited before.
    parks: bool,
}

// SAFETY: integers and truth values.
unsafe impl Zero for Rounds {}

impl Rounds {
    fn end_all(&mut self) {
        (self.depth, self.reads, self.exposes) = (0, 0, false);
    }

    fn begin(&mut self, pc: usize, steps: u64) {
        let known = self.rounds[..self.depth].iter().position(|r| r.pc == pc);
        self.depth = known.unwrap_or(self.depth);
        if self.depth == DEPTH {
            self.end_all();
        }
        let reads = self.reads;
        self.rounds[self.depth] = Round { pc, reads, steps };
        self.depth += 1;
    }
}

impl<O: Os> Gate<O> {
    /// Are the rounds of loops that only wait watched?
    pub fn follows_rounds(&self) -> bool {
        self.flags & (flags::SYMBOLIC | flags::RUN_SPINS) == flags::SYMBOLIC
    }

    /// The running thread begins a round of the loop at `pc`, `again` if it comes from the one
    /// before. `is_shared`: does the job take this address for shared?
    ///
    /// The result is whether it has come round without having read anything or taken a step: it will
    /// for ever, and the caller has to make a step of that, before which it is parked.
    pub fn round(&mut self, again: bool, pc: usize, is_shared: impl Fn(u64) -> bool) -> bool {
        if !self.follows_rounds() {
            return false;
        }
        let me = self.running();
        let steps = self.steps;
        let mut empty = false;
        // A child may change memory that it shares at any moment.
        let again = again && !self.pages.os.has_children();
        let own = &mut self.spins.rounds[me];
        let known = own.rounds[..own.depth].iter().find(|r| r.pc == pc);
        let vain = known.filter(|_| again).copied();
        own.exposes = false;
        if let Some(round) = vain {
            let seen = &own.seen[round.reads..own.reads];
            empty = seen.is_empty() && round.steps == steps;
            match seen.is_empty() || seen.iter().any(|s| is_shared(s.at)) {
                true => {
                    own.parks = true;
                    self.spins.tracks[me].take_over(seen);
                }
                false => own.exposes = true,
            }
            own.reads = round.reads;
        }
        own.begin(pc, steps);
        self.log(Event {
            kind: Kind::Round as u8,
            value: u64::from(vain.is_some()),
            pc: pc as u64,
            ..Event::default()
        });
        empty
    }

    /// The running thread found `value` at `at`, and left it there.
    #[inline]
    pub fn round_saw(&mut self, at: u64, size: u32, value: u64) {
        if !self.follows_rounds() {
            return;
        }
        let me = self.running();
        let own = &mut self.spins.rounds[me];
        if own.depth == 0 {
            return;
        }
        if own.reads == READS {
            return own.end_all();
        }
        own.seen[own.reads] = Seen { at, size, value };
        own.reads += 1;
    }

    /// The running thread changed something: no round that is under way is in vain.
    #[inline]
    pub fn round_changed(&mut self) {
        if !self.follows_rounds() {
            return;
        }
        let me = self.running();
        self.spins.rounds[me].end_all();
    }

    /// Is what the running thread reads to be treated as shared, since it waits for a change of it?
    #[inline]
    pub fn round_exposes(&self) -> bool {
        self.follows_rounds() && self.spins.rounds[self.running()].exposes
    }

    /// `me` has announced its first operation after a round in vain: must it wait for a change?
    pub(super) fn waits_after_round(&mut self, me: Slot) -> bool {
        self.follows_rounds()
            && core::mem::take(&mut self.spins.rounds[me].parks)
            && self.spins.park(me)
    }
}
