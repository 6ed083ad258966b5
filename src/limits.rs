//! What limits a verdict besides the search itself. An exhaustive search that goes on from an earlier
//! run takes over what limited that one.

use crate::report::base_name;
use crate::summary::count;
use raddle_analyzer::races;
use raddle_analyzer::words::{Row, put_list, put_text};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::libraries::{SYSTEM, is_among};
use raddle_protocol::shared::{flags, given};
use raddle_scheduler::Module;
use std::collections::BTreeSet;

/// Where random numbers begin: those that choose schedules, and those that the program draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    pub number: u64,
    /// By the user: verdicts are about the numbers that the program draws then.
    pub chosen: bool,
}

impl Seed {
    /// The one that `--seed` names, or the usual one.
    pub fn new(chosen: Option<u64>) -> Seed {
        const USUAL: u64 = 1;
        Seed {
            number: chosen.unwrap_or(USUAL),
            chosen: chosen.is_some(),
        }
    }
}

/// Facts about executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// What was not under control, by name.
    pub uncontrolled: BTreeSet<String>,
    /// A schedule was left out in which a thread that waits in a loop is never passed over.
    pub fair_only: bool,
    /// Livelocks that ended once every thread got its turn.
    pub unfair: u64,
    /// Loops that seemed to wait for ever and did not, by place: all are doubted from then on.
    pub doubted: BTreeSet<String>,
    /// Executions that left their schedule.
    pub diverged: u64,
    /// Executions that reached the limit of steps, and of which it is not known how they end.
    pub step_limited: u64,
    /// The program asked for inputs, which are all 0.
    pub inputs: bool,
    /// How the first execution went another way at the end.
    pub changed: BTreeSet<String>,
    /// What executions learnt that is the same in all of them: bits of [`raddle_protocol::shared::given`].
    pub given: u64,
}

impl Limits {
    /// A row of numbers that says where to go on: these limits, then the search.
    pub fn put(&self, mut search: Vec<u64>) -> Vec<u64> {
        let names: Vec<&String> = self.uncontrolled.iter().collect();
        let mut row = Vec::new();
        put_list(&mut row, &names, |row, name| put_text(row, name));
        let doubted: Vec<&String> = self.doubted.iter().collect();
        put_list(&mut row, &doubted, |row, at| put_text(row, at));
        let changed: Vec<&String> = self.changed.iter().collect();
        put_list(&mut row, &changed, |row, how| put_text(row, how));
        row.extend([u64::from(self.fair_only), self.unfair, self.diverged]);
        row.extend([self.step_limited, u64::from(self.inputs)]);
        row.push(self.given);
        row.append(&mut search);
        row
    }

    /// Inverse of [`Limits::put`].
    pub fn take(row: &[u64]) -> Option<(Limits, &[u64])> {
        let mut row = Row(row);
        let limits = Limits {
            uncontrolled: row.list(Row::text)?.into_iter().collect(),
            doubted: row.list(Row::text)?.into_iter().collect(),
            changed: row.list(Row::text)?.into_iter().collect(),
            fair_only: row.flag()?,
            unfair: row.number()?,
            diverged: row.number()?,
            step_limited: row.number()?,
            inputs: row.flag()?,
            given: row.number()?,
        };
        Some((limits, row.0))
    }

    /// What they keep an exhaustive search from.
    pub fn bounds(&self) -> Vec<String> {
        let mut bounds = Vec::new();
        if !self.doubted.is_empty() {
            bounds.push(format!(
                "{} may depend on what no hook tells: where loops seem to wait for ever they go \
                 round again only when nobody else can go on (`--busy-waits run` runs every round)",
                self.doubted_loops()
            ));
        } else if self.fair_only {
            bounds.push(FAIR_ONLY.into());
        }
        if self.unfair > 0 {
            bounds.push(UNFAIR.into());
        }
        if self.inputs {
            bounds.push(INPUTS.into());
        }
        bounds.extend(self.changed.iter().cloned());
        bounds
    }

    /// The executions that reached the limit of `steps`, in words; `None` where there are none.
    pub fn step_limit(&self, steps: u64) -> Option<String> {
        let executions = count(self.step_limited, "execution");
        (self.step_limited > 0).then(|| {
            format!(
                "step limit reached: {executions} did not come to an end within {steps} steps \
                 (`--max-steps N` sets another limit, 0 none)"
            )
        })
    }

    /// The loops that are doubted, in words.
    pub fn doubted_loops(&self) -> String {
        let places: Vec<&str> = self.doubted.iter().map(String::as_str).collect();
        match places[..] {
            [one] => format!("the loop at {one}"),
            _ => format!("the loops at {}", places.join(", ")),
        }
    }
}

/// The bound that [`Limits::fair_only`] is.
const FAIR_ONLY: &str = "a thread that waits in a loop of calls lets another one go first after two \
                         rounds, and one that counts its rounds after many";
/// The bound that [`Limits::unfair`] is.
const UNFAIR: &str =
    "executions that seemed to have no end, and have one, were not followed further";

/// The bound that [`Limits::inputs`] is.
pub const INPUTS: &str =
    "the program asks for inputs, and each was 0: `raddle verify` explores all";

/// Is a block copied, filled or accessed by a call that is too long to be taken piece by piece, and
/// accessed by another thread, in no order with that?
pub fn shares_long_blocks(events: &[Event]) -> bool {
    let is_long = |event: &Event| {
        event.aux != 0 && matches!(event.kind(), Some(Kind::ReadRange | Kind::WriteRange))
    };
    let mut shares = false;
    if events.iter().any(is_long) {
        races::each(events, |race| {
            let sides = [race.first.event, race.second.event];
            shares |= sides.iter().any(|&n| is_long(&events[n]));
        });
    }
    shares
}

/// What a verdict about all executions says of what each of them was given (bits of
/// [`raddle_protocol::shared::given`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    pub bounds: Vec<String>,
    pub assumptions: Vec<String>,
}

impl Given {
    /// Random numbers of one seed are a bound, unless the user has chosen the seed.
    pub fn of(given: u64, seed: Seed) -> Given {
        let mut said = Given::default();
        let drawn = given::RANDOM.iter().filter(|(bit, _)| given & bit != 0);
        let drawn: Vec<&str> = drawn.map(|&(_, name)| name).collect();
        let (drawn, number) = (drawn.join(", "), seed.number);
        if !drawn.is_empty() && seed.chosen {
            let text =
                format!("the program runs with the random numbers of seed {number} ({drawn})");
            said.assumptions.push(text);
        } else if !drawn.is_empty() {
            said.bounds.push(format!(
                "random numbers ({drawn}) were those of seed {number} only; `--seed N` takes the \
                 numbers of seed N as given"
            ));
        }
        if given & given::CLOCK != 0 {
            let text = "clocks show virtual time, which passes in waits and a little where a thread looks again";
            said.assumptions.push(text.to_string());
        }
        if given & given::MEMORY != 0 {
            let text =
                "memory that was freed is not given out again: no two blocks have one address";
            said.assumptions.push(text.to_string());
        }
        said
    }
}

/// What the flags of a run's jobs keep an exhaustive search from.
pub fn left_out(job_flags: u32) -> impl Iterator<Item = &'static str> {
    let bounds = [
        (
            flags::SPURIOUS,
            "at most four condition waits of an execution end although nobody signalled",
        ),
        (flags::FAULTS, "at most four faults in an execution"),
        (flags::LAZY_TIME, LAZY_TIME),
    ];
    let asked = move |&(flag, _): &(u32, _)| job_flags & flag != 0;
    bounds.into_iter().filter(asked).map(|(_, bound)| bound)
}

/// The bound that `--lazy-time` is.
pub const LAZY_TIME: &str = "timed waits and sleeps end only when nothing else can go on";

/// A bound for each loaded module that is not one of the system, nor `known`, and whose accesses to
/// memory are not seen.
pub fn unseen_modules(
    modules: &[Module],
    known: &[&str],
    sees: impl Fn(&Module) -> bool,
) -> BTreeSet<String> {
    let names = modules
        .iter()
        .filter(|module| !sees(module))
        .map(|module| base_name(&module.path.to_string_lossy()).to_string());
    names
        .filter(|name| {
            ![&SYSTEM, known]
                .iter()
                .any(|list| is_among(name.as_bytes(), list))
        })
        .map(|name| {
            format!("{name} is not instrumented: what it does to shared memory is not seen")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_bound_unless_their_seed_was_chosen() {
        let said = |given, seed| {
            let said = Given::of(given, Seed::new(seed));
            (said.bounds.join("; "), said.assumptions.join("; "))
        };
        assert_eq!(said(0, None), (String::new(), String::new()));
        let both = given::GETRANDOM | given::PROCESSOR;
        let (bounds, assumptions) = said(both, None);
        assert!(bounds.starts_with("random numbers (getrandom, rdrand) were those of seed 1 only"));
        assert_eq!(assumptions, "");
        let (bounds, assumptions) = said(both | given::CLOCK, Some(7));
        assert_eq!(bounds, "");
        assert!(assumptions.contains("of seed 7 (getrandom, rdrand); clocks"));
    }

    #[test]
    fn what_is_put_is_taken() {
        let limits = Limits {
            uncontrolled: ["getrandom", "a clock"].map(String::from).into(),
            fair_only: true,
            unfair: 3,
            doubted: ["wait.c:7".to_string()].into(),
            diverged: u64::MAX,
            step_limited: 7,
            inputs: true,
            changed: ["it went another way".to_string()].into(),
            given: given::CLOCK | given::DEVICE,
        };
        let row = limits.put(vec![8, 9]);
        assert_eq!(Limits::take(&row), Some((limits, &[8, 9][..])));
        assert_eq!(Limits::take(&row[..4]), None);
        assert_eq!(Limits::take(&[]), None);
    }
}
