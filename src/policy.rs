//! The names of searches.

use crate::error::{Error, Result};
use raddle_analyzer::bounds::Bound;
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::dpor::{Algorithm, Dpor};
use raddle_analyzer::hapset::guided::{Base, Guided, Settings};
use raddle_analyzer::hapset::knowledge::{Knowledge, Places};
use raddle_analyzer::sampling::{MIX_DEPTH, Rule, Sampling};
use raddle_analyzer::search::Search;
use raddle_analyzer::steer::Steer;
use raddle_protocol::shared::flags;
use std::fmt;

/// `--policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Sampling(Rule),
    /// Drives executions to what was not tested yet.
    Steer,
    /// Systematic, but only what shows a new predecessor pair.
    Guided(Settings),
    /// Every interleaving, one after the other.
    Dfs,
    /// Every interleaving with at most so many preemptions; with `None` first 0, then 1, …
    Preemptions(Option<u32>),
    /// Every interleaving with at most so many delays.
    Delays(u32),
    /// One interleaving of every equivalence class, by wakeup trees.
    Dpor,
    /// The same by source sets.
    SourceSets,
}

impl Policy {
    /// The search of this name, at its start. `ordinary_first`: what the first execution does is
    /// expected of all others, so it is one as users know it. `history`: what earlier runs have
    /// tested; `places`: makes what knows the program's lines.
    pub fn search(
        self,
        seed: u64,
        ordinary_first: bool,
        history: Option<History>,
        places: impl FnOnce() -> Result<Box<dyn Places>>,
    ) -> Result<Box<dyn Search>> {
        Ok(match self {
            Policy::Sampling(rule) => Box::new(Sampling::new(rule, seed)),
            Policy::Steer => {
                let steer = match ordinary_first {
                    true => Steer::new(seed).ordinary_first(),
                    false => Steer::new(seed),
                };
                Box::new(match history {
                    Some((knowledge, places)) => steer.knowing(knowledge, places),
                    None => steer,
                })
            }
            Policy::Guided(settings) => Box::new(match history {
                Some((known, places)) => Guided::new(settings, seed, places).knowing(known),
                None => Guided::new(settings, seed, places()?),
            }),
            Policy::Dfs => Box::new(Dfs::new()),
            Policy::Preemptions(most) => Box::new(Dfs::bounded(Bound::Preemptions(most))),
            Policy::Delays(most) => Box::new(Dfs::bounded(Bound::Delays(most))),
            Policy::Dpor => Box::new(Dpor::new(Algorithm::Optimal)),
            Policy::SourceSets => Box::new(Dpor::new(Algorithm::Source)),
        })
    }

    /// With `--context` and `--learn`, which only a guided search has.
    pub fn with(self, context: Option<u8>, learn: Option<u64>) -> Result<Policy> {
        match self {
            Policy::Guided(settings) => Ok(Policy::Guided(Settings {
                context: usize::from(context.unwrap_or(0)),
                learn: learn.unwrap_or(0),
                ..settings
            })),
            other if context.is_none() && learn.is_none() => Ok(other),
            other => Err(Error::usage(
                format!("--context and --learn mean nothing to the policy {other}"),
                "choose --policy hapset with them, or leave them out",
            )),
        }
    }

    /// What its jobs ask for: see [`raddle_protocol::shared::flags`].
    pub fn flags(self) -> u32 {
        match self.executions() {
            Some(Executions::All) if self.is_reduced() => flags::EXACT_SPINS,
            Some(Executions::All) => flags::EXACT_SPINS | flags::ORDERED_WRITES,
            Some(Executions::One) | None => 0,
        }
    }

    /// Does it leave out what is equivalent to what it has run?
    pub fn is_reduced(self) -> bool {
        match self {
            Policy::Dpor | Policy::SourceSets => true,
            Policy::Guided(settings) => settings.base == Base::Dpor,
            _ => false,
        }
    }

    /// How many executions it has by itself when no number is given; `None`: a search that samples.
    pub fn executions(self) -> Option<Executions> {
        match self {
            Policy::Dfs
            | Policy::Guided(_)
            | Policy::Preemptions(_)
            | Policy::Delays(_)
            | Policy::Dpor
            | Policy::SourceSets => Some(Executions::All),
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

/// Reads the number after `name:`, `least` to 1000; `None` when `text` does not begin so.
fn number(text: &str, name: &str, least: u32) -> Option<Result<u32>> {
    let digits = text.strip_prefix(name)?.strip_prefix(':')?;
    const MOST: u32 = 1000;
    let error = || {
        Error::usage(
            format!("the number in `{text}` is not one from {least} to {MOST}"),
            format!("write for example {name}:3"),
        )
    };
    let number = digits.parse().ok().filter(|n| (least..=MOST).contains(n));
    Some(number.ok_or_else(error))
}

impl std::str::FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Policy> {
        let sampling = |rule| Ok(Policy::Sampling(rule));
        if let Some(depth) = number(text, "pct", 1) {
            return sampling(Rule::Pct(depth?));
        }
        if let Some(settings) = guided(text) {
            return settings.map(Policy::Guided);
        }
        if let Some(most) = number(text, "pcb", 0) {
            return Ok(Policy::Preemptions(Some(most?)));
        }
        if let Some(most) = number(text, "delay", 0) {
            return Ok(Policy::Delays(most?));
        }
        match text {
            "pcb" => Ok(Policy::Preemptions(None)),
            "mix" => sampling(Rule::Mix),
            "random" => sampling(Rule::Random),
            "pos" => sampling(Rule::Pos),
            "rr" => sampling(Rule::RunUntilBlocked),
            "pct" => sampling(Rule::Pct(MIX_DEPTH)),
            "steer" => Ok(Policy::Steer),
            "dfs" => Ok(Policy::Dfs),
            "dpor" => Ok(Policy::Dpor),
            "dpor:source" => Ok(Policy::SourceSets),
            _ => Err(Error::usage(
                format!("unknown policy `{text}`"),
                "choose one of steer, mix, random, pct:D, pos, rr, dfs, dpor, dpor:source, pcb, \
                 pcb:K, delay:K, hapset, hapset:pcb:K, pset",
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
            Policy::Guided(settings) => show_guided(settings, f),
            Policy::Dfs => f.write_str("dfs"),
            Policy::Preemptions(None) => f.write_str("pcb"),
            Policy::Preemptions(Some(most)) => write!(f, "pcb:{most}"),
            Policy::Delays(most) => write!(f, "delay:{most}"),
            Policy::Dpor => f.write_str("dpor"),
            Policy::SourceSets => f.write_str("dpor:source"),
        }
    }
}

/// `hapset` or `pset`, then the base. `None`: another policy.
fn guided(text: &str) -> Option<Result<Settings>> {
    let (name, base) = match text.split_once(':') {
        Some((name, base)) => (name, Some(base)),
        None => (text, None),
    };
    let memory_only = match name {
        "hapset" => false,
        "pset" => true,
        _ => return None,
    };
    let base = match base {
        None | Some("dpor") => Some(Base::Dpor),
        Some(base) => base
            .strip_prefix("pcb:")
            .and_then(|k| k.parse().ok())
            .map(Base::Preemptions),
    };
    let settings = base.map(|base| Settings {
        base,
        context: 0,
        learn: 0,
        memory_only,
    });
    Some(settings.ok_or_else(|| {
        Error::usage(
            format!("`{text}` names no search"),
            format!("write {name}, {name}:dpor or for example {name}:pcb:2"),
        )
    }))
}

fn show_guided(settings: &Settings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(if settings.memory_only {
        "pset"
    } else {
        "hapset"
    })?;
    if let Base::Preemptions(most) = settings.base {
        write!(f, ":pcb:{most}")?;
    }
    if settings.context > 0 {
        write!(f, ", context {}", settings.context)?;
    }
    match settings.learn {
        0 => Ok(()),
        n => write!(f, ", learnt from {n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_parsing() {
        for name in [
            "steer",
            "mix",
            "random",
            "pct:1",
            "pct:12",
            "pos",
            "rr",
            "dfs",
            "hapset",
            "hapset:pcb:0",
            "pset",
            "pset:pcb:2",
            "dpor",
            "dpor:source",
            "pcb",
            "pcb:0",
            "pcb:2",
            "delay:3",
        ] {
            assert_eq!(name.parse::<Policy>().unwrap().to_string(), name);
        }
        for name in [
            "",
            "Random",
            "pct:",
            "pct:0",
            "pct:x",
            "pct:1001",
            "bfs",
            "hapset:",
            "hapset:pcb",
            "pset:x",
            "hapset:pcb:-1",
        ] {
            assert!(name.parse::<Policy>().is_err(), "{name}");
        }
    }
}
