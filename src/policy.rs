//! Which schedule each execution follows.

use crate::error::{Error, Result};
use raddle_protocol::schedule::Tail;
use std::fmt;

/// `--policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Random, PCT of depth 3 and POS in turn.
    Mix,
    Random,
    Pct(u32),
    Pos,
    /// Run until blocked: one execution without preemptions.
    RunUntilBlocked,
    /// Every interleaving, one after the other.
    Dfs,
}

/// PCT's depth in the mix: two preemptions at chosen moments suffice for most known bugs
/// (Burckhardt et al., ASPLOS 2010, §4).
const MIX_DEPTH: u32 = 3;

impl Policy {
    /// The rule for execution number `n` (from 0). `steps` is how long the executions so far
    /// were at most.
    pub fn tail(self, seed: u64, n: u64, steps: u64) -> Tail {
        let seed = mix(seed, n);
        let pct = |depth| Tail::Pct {
            seed,
            depth,
            steps: steps.max(1),
        };
        match self {
            Policy::Random => Tail::Random { seed },
            Policy::Pct(depth) => pct(depth),
            Policy::Pos => Tail::Pos { seed },
            Policy::RunUntilBlocked | Policy::Dfs => Tail::RunUntilBlocked,
            Policy::Mix => match n {
                0 => Tail::RunUntilBlocked,
                _ if n % 3 == 1 => Tail::Random { seed },
                _ if n % 3 == 2 => pct(MIX_DEPTH),
                _ => Tail::Pos { seed },
            },
        }
    }
}

impl std::str::FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Policy> {
        let depth = text.strip_prefix("pct:").map(str::parse);
        Ok(match text {
            "mix" => Policy::Mix,
            "random" => Policy::Random,
            "pos" => Policy::Pos,
            "rr" => Policy::RunUntilBlocked,
            "dfs" => Policy::Dfs,
            "pct" => Policy::Pct(MIX_DEPTH),
            _ => match depth {
                Some(Ok(depth @ 1..=1000)) => Policy::Pct(depth),
                Some(_) => {
                    return Err(Error::usage(
                        format!("the depth in `{text}` is not a number from 1 to 1000"),
                        "write for example pct:3",
                    ));
                }
                None => {
                    return Err(Error::usage(
                        format!("unknown policy `{text}`"),
                        "choose one of mix, random, pct:D, pos, rr, dfs",
                    ));
                }
            },
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Mix => f.write_str("mix"),
            Policy::Random => f.write_str("random"),
            Policy::Pct(depth) => write!(f, "pct:{depth}"),
            Policy::Pos => f.write_str("pos"),
            Policy::RunUntilBlocked => f.write_str("rr"),
            Policy::Dfs => f.write_str("dfs"),
        }
    }
}

/// A seed of its own for every execution (the finaliser of SplitMix64).
fn mix(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_parsing() {
        for name in ["mix", "random", "pct:1", "pct:12", "pos", "rr", "dfs"] {
            assert_eq!(name.parse::<Policy>().unwrap().to_string(), name);
        }
        for name in ["", "Random", "pct:", "pct:0", "pct:x", "pct:1001", "bfs"] {
            assert!(name.parse::<Policy>().is_err(), "{name}");
        }
    }

    #[test]
    fn the_mix_uses_every_rule_and_never_the_same_seed_twice() {
        let tails: Vec<Tail> = (0..100).map(|n| Policy::Mix.tail(7, n, 50)).collect();
        for rule in 0..4 {
            assert!(tails.iter().any(|t| t.to_words()[0] == rule), "rule {rule}");
        }
        let mut seeds: Vec<u64> = tails.iter().skip(1).map(|t| t.to_words()[1]).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 99);
    }
}
