//! Does an execution that reaches the limit of steps go round in circles, so that it would for ever?
//!
//! [`super::spin`] finds loops whose every iteration is like the one before, as soon as there are
//! some. Others come back to a state after several iterations (they back off, or fill a buffer round
//! and round); that is asked only in the second half of the steps that an execution may take, since
//! nearly all end before (Brent, An Improved Monte Carlo Factorization Algorithm, 1980, section 2).

use super::core::Gate;
use super::spin::State;
use crate::pages::Os;
use raddle_protocol::Slot;

/// A loop whose iterations are all alike does so for ever if there were so many.
const ALIKE: u32 = 1000;
/// A loop does so for ever that has come back so often to a state in which it was.
const TIMES: u32 = 100;
/// Longer circles are not found.
const LONGEST: u32 = 1024;

/// What a loop came back to.
#[derive(Clone, Copy)]
pub struct Circle {
    anchor: State,
    /// So many iterations the anchor is kept for; 0: there is none.
    span: u32,
    /// Iterations since it was taken, or was come back to.
    since: u32,
    /// How often it was come back to.
    times: u32,
}

impl Circle {
    /// Another loop begins.
    pub fn begin(&mut self) {
        (self.span, self.times) = (0, 0);
    }

    /// An iteration begins in this state.
    pub fn iterated(&mut self, now: Option<State>) {
        let Some(now) = now else {
            return self.begin();
        };
        self.since += 1;
        if self.span > 0 && self.anchor == now {
            self.times += 1;
            self.since = 0;
        } else if self.since >= self.span {
            self.span = (2 * self.span).clamp(1, LONGEST);
            (self.anchor, self.since, self.times) = (now, 0, 0);
        }
    }
}

impl<O: Os> Gate<O> {
    /// Is the limit of steps near enough to ask?
    pub(super) fn is_near_the_limit(&self) -> bool {
        self.limit != u64::MAX && self.steps >= self.limit / 2
    }

    /// Does every thread that is alive go round a loop that has come back to the same state very
    /// often, or wait for one that does? Not so of what only takes very many steps.
    pub(super) fn comes_back(&self) -> bool {
        let circles = |s: Slot| {
            let track = &self.spins.tracks[s];
            track.rounds() >= ALIKE || track.circle.times >= TIMES
        };
        let goes_round = |s: Slot| self.is_spinning(s) || circles(s);
        let waits = |s: Slot| !self.is_ready(s) && self.pending(s).deadline == 0;
        self.spins.is_on()
            && self.alive_threads().all(|s| goes_round(s) || waits(s))
            && self.alive_threads().any(goes_round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Periods of a loop's states, and whether it is found to go round in circles.
    #[test]
    fn circles_are_found_whatever_their_length() {
        for (period, found) in [
            (1, true),
            (2, true),
            (7, true),
            (900, true),
            (1 << 20, false),
        ] {
            let mut circle = Circle {
                anchor: State::default(),
                span: 0,
                since: 0,
                times: 0,
            };
            for n in 0..200_000u64 {
                circle.iterated(Some(State {
                    content: n % period,
                    ..State::default()
                }));
            }
            assert_eq!(circle.times >= TIMES, found, "{period}");
        }
    }
}
