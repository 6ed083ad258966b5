//! Searches that draw each schedule at random, and the one schedule without preemptions.

use crate::search::{Next, Plan, Search, Standing};
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;

/// How schedules are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Run until blocked first; then random, PCT of depth 3 and POS in turn.
    Mix,
    Random,
    /// PCT of this depth.
    Pct(u32),
    Pos,
    RunUntilBlocked,
}

/// PCT's depth in the mix: two preemptions at chosen moments suffice for most known bugs
/// (Burckhardt et al., ASPLOS 2010, §4).
pub const MIX_DEPTH: u32 = 3;

impl Rule {
    /// The tail rule of execution `n` (from 0). `steps` is how long the executions so far were at
    /// most.
    pub fn tail(self, seed: u64, n: u64, steps: u64) -> Tail {
        let seed = seed_of(seed, n);
        let pct = |depth| Tail::Pct {
            seed,
            depth,
            steps: steps.max(1),
        };
        match self {
            Rule::Random => Tail::Random { seed },
            Rule::Pct(depth) => pct(depth),
            Rule::Pos => Tail::Pos { seed },
            Rule::RunUntilBlocked => Tail::RunUntilBlocked,
            Rule::Mix => match n {
                0 => Tail::RunUntilBlocked,
                _ if n % 3 == 1 => Tail::Random { seed },
                _ if n % 3 == 2 => pct(MIX_DEPTH),
                _ => Tail::Pos { seed },
            },
        }
    }
}

/// What is added to the flags of execution `n`: in most of them nobody ends the process while others go
/// on, and in some anybody may, since that may be what fails.
pub(crate) fn ends(n: u64) -> u32 {
    match n % 4 {
        3 => 0,
        _ => flags::HOLD_ENDS,
    }
}

/// A seed of its own for every execution (the finaliser of SplitMix64).
pub fn seed_of(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Draws schedules without end.
#[derive(Clone, Debug)]
pub struct Sampling {
    rule: Rule,
    seed: u64,
    /// Steps of the longest execution so far.
    longest: u64,
}

impl Sampling {
    pub fn new(rule: Rule, seed: u64) -> Sampling {
        Sampling {
            rule,
            seed,
            longest: 0,
        }
    }
}

impl Search for Sampling {
    fn next(&mut self, n: u64) -> Next {
        let tail = self.rule.tail(self.seed, n, self.longest);
        let held = match self.rule {
            Rule::RunUntilBlocked => 0,
            _ => ends(n),
        };
        Next::Run(Plan {
            flags: held,
            ..Plan::tail(tail)
        })
    }

    fn observe(&mut self, _: u64, trace: &Trace) {
        self.longest = self.longest.max(trace.counters.steps);
    }

    fn lost(&mut self, _: u64) {}

    fn standing(&self) -> Standing {
        Standing::default()
    }

    fn save(&self) -> Option<Vec<u64>> {
        Some(vec![self.longest])
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let &[longest] = saved else { return false };
        self.longest = longest;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_uses_every_rule_and_never_the_same_seed_twice() {
        let tails: Vec<Tail> = (0..100).map(|n| Rule::Mix.tail(7, n, 50)).collect();
        for rule in 0..4 {
            assert!(tails.iter().any(|t| t.to_words()[0] == rule), "rule {rule}");
        }
        let mut seeds: Vec<u64> = tails.iter().skip(1).map(|t| t.to_words()[1]).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 99);
    }

    #[test]
    fn a_restored_search_goes_on_with_the_same_plans() {
        let mut old = Sampling::new(Rule::Pct(3), 5);
        old.longest = 77;
        let mut new = Sampling::new(Rule::Pct(3), 5);
        assert!(!new.restore(&[]) && !new.restore(&[1, 2]));
        assert!(new.restore(&old.save().unwrap()));
        for n in 10..20 {
            assert_eq!(new.next(n), old.next(n));
        }
    }
}
