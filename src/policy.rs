//! The names of searches.

use crate::error::{Error, Result};
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::hapset::knowledge::{Knowledge, Places};
use raddle_analyzer::sampling::{MIX_DEPTH, Rule, Sampling};
use raddle_analyzer::search::Search;
use raddle_analyzer::steer::Steer;
use std::fmt;

/// `--policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Sampling(Rule),
    /// Drives executions to what was not tested yet.
    Steer,
    /// Every interleaving, one after the other.
    Dfs,
}

impl Policy {
    /// The search of this name, at its start. `history`: what earlier runs have tested.
    pub fn search(self, seed: u64, history: Option<History>) -> Box<dyn Search> {
        match self {
            Policy::Sampling(rule) => Box::new(Sampling::new(rule, seed)),
            Policy::Steer => Box::new(match history {
                Some((knowledge, places)) => Steer::new(seed).knowing(knowledge, places),
                None => Steer::new(seed),
            }),
            Policy::Dfs => Box::new(Dfs::new()),
        }
    }

    /// How many executions it has by itself when no number is given; `None`: a search that samples.
    pub fn executions(self) -> Option<Executions> {
        match self {
            Policy::Dfs => Some(Executions::All),
            Policy::Sampling(Rule::RunUntilBlocked) => Some(Executions::One),
            Policy::Sampling(_) | Policy::Steer => None,
        }
    }
}

/// Pairs that were tested, and what finds them in the program as it is now.
pub type History = (Knowledge, Box<dyn Places>);

/// See [`Policy::executions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executions {
    One,
    /// Until the search ends.
    All,
}

/// Reads the number after `name:`; `None` when `text` does not begin so.
fn number(text: &str, name: &str, most: u32) -> Option<Result<u32>> {
    let digits = text.strip_prefix(name)?.strip_prefix(':')?;
    let error = || {
        Error::usage(
            format!("the number in `{text}` is not one from 1 to {most}"),
            format!("write for example {name}:3"),
        )
    };
    let number = digits.parse().ok().filter(|n| (1..=most).contains(n));
    Some(number.ok_or_else(error))
}

impl std::str::FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Policy> {
        let sampling = |rule| Ok(Policy::Sampling(rule));
        if let Some(depth) = number(text, "pct", 1000) {
            return sampling(Rule::Pct(depth?));
        }
        match text {
            "mix" => sampling(Rule::Mix),
            "random" => sampling(Rule::Random),
            "pos" => sampling(Rule::Pos),
            "rr" => sampling(Rule::RunUntilBlocked),
            "pct" => sampling(Rule::Pct(MIX_DEPTH)),
            "steer" => Ok(Policy::Steer),
            "dfs" => Ok(Policy::Dfs),
            _ => Err(Error::usage(
                format!("unknown policy `{text}`"),
                "choose one of steer, mix, random, pct:D, pos, rr, dfs",
            )),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Sampling(Rule::Mix) => f.write_str("mix"),
            Policy::Sampling(Rule::Random) => f.write_str("random"),
            Policy::Sampling(Rule::Pct(depth)) => write!(f, "pct:{depth}"),
            Policy::Sampling(Rule::Pos) => f.write_str("pos"),
            Policy::Sampling(Rule::RunUntilBlocked) => f.write_str("rr"),
            Policy::Steer => f.write_str("steer"),
            Policy::Dfs => f.write_str("dfs"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_parsing() {
        for name in [
            "steer", "mix", "random", "pct:1", "pct:12", "pos", "rr", "dfs",
        ] {
            assert_eq!(name.parse::<Policy>().unwrap().to_string(), name);
        }
        for name in ["", "Random", "pct:", "pct:0", "pct:x", "pct:1001", "bfs"] {
            assert!(name.parse::<Policy>().is_err(), "{name}");
        }
    }
}
