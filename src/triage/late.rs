//! Failures that need a time-out to come early: to end a wait while others could go on. Nobody knows
//! how fast those are, but to be outrun by a time-out they have to be slow beyond what machines are. So
//! before such a failure is told, the same one is looked for with all time-outs late
//! ([`flags::LATE_TIMEOUTS`]).

use super::{
    Failure, Job, Result, Seen, Step, Tail, Trace, Treatment, Triage, flags, most_steps,
    records_for, schedule_of,
};
use crate::report::place;
use crate::summary::{Found, count};
use crate::watch::Weight;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::total_steps;
use raddle_protocol::outcome::End;
use raddle_protocol::witness::Note;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So many executions are tried at most, and for so long.
const ATTEMPTS: u64 = 100;
const TIME: Duration = Duration::from_secs(3);
/// When the same failure comes again, so many times it is asked about again, with so many attempts.
const ASKED_AGAIN: u64 = 8;
const ATTEMPTS_AGAIN: u64 = 2;
/// Changes of priorities in attempts.
const DEPTH: u32 = 3;

/// What is known of failures that need an early time-out.
#[derive(Default)]
pub(super) struct Late {
    /// Executions with late time-outs in which the last one did not come.
    attempts: u64,
    /// How many more there were than are told.
    pub left_out: u64,
}

impl Triage<'_> {
    /// Does it matter for this failure whether it needs a time-out to come early?
    fn is_to_be_asked(&self, seen: &Seen) -> bool {
        let endless = seen.trace.outcome.timed_out || seen.trace.outcome.end == End::StepLimit;
        let watch = &self.wishes.watch;
        watch.early_timeouts == Weight::Report
            && watch.treatment(seen.class) == Treatment::Fail
            && !endless
    }

    /// Does this failure need a time-out to come early, as far as can be found out? Where it does
    /// not, `seen` is an execution without any, and stays so.
    pub(super) fn needs_time_out(&mut self, seen: &mut Seen, failure: &Failure) -> Result<bool> {
        self.needs_time_out_by(ATTEMPTS, seen, failure)
    }

    fn needs_time_out_by(
        &mut self,
        attempts: u64,
        seen: &mut Seen,
        failure: &Failure,
    ) -> Result<bool> {
        if !self.is_to_be_asked(seen) || seen.job.flags & flags::LATE_TIMEOUTS != 0 {
            return Ok(false);
        }
        let early = seen.trace.counters.early > 0;
        let mut job = late(&seen.job);
        let taken = seen.trace.taken.clone();
        if !early {
            let again = self.rerun(&job, &taken, records_for(failure, &taken))?;
            if self.fails_in_time(again.as_ref(), seen, failure)? {
                seen.job = job;
            }
            return Ok(false);
        }
        let records = flags::EVENTS | flags::ENABLED;
        let recorded = self.rerun(&seen.job, &taken, records)?;
        let (without, before) = recorded.as_ref().map_or_else(
            || (taken.clone(), Vec::new()),
            |trace| without_early(&trace.events),
        );
        let most = most_steps(total_steps(&taken));
        if job.max_steps == 0 || job.max_steps > most {
            job.max_steps = most;
        }
        job.flags |= flags::TOLERANT | records_for(failure, &taken);
        self.late.attempts = 0;
        let deadline = Instant::now() + TIME;
        for n in 0..attempts {
            if n > 0 && (self.interrupt.stopped() || Instant::now() >= deadline) {
                break;
            }
            let steps = total_steps(&taken).max(1);
            (job.prefix, job.tail) = match n {
                0 => (without.clone(), Tail::RunUntilBlocked),
                1 => (taken.clone(), Tail::RunUntilBlocked),
                // What led up to the time-out may be what matters, or nothing of it.
                n => {
                    let prefix = match n % 4 {
                        0 => before.clone(),
                        1 => without[..without.len() / 2].to_vec(),
                        _ => Vec::new(),
                    };
                    let tail = match n % 2 {
                        0 => Tail::Random { seed: n },
                        _ => Tail::Pct {
                            seed: n,
                            depth: DEPTH,
                            steps,
                        },
                    };
                    (prefix, tail)
                }
            };
            let Some(run) = self.run(&job)? else { break };
            self.late.attempts += 1;
            if self.fails_in_time(Some(&run), seen, failure)? {
                seen.job = late(&seen.job);
                seen.trace = Arc::new(run);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Did this run fail in the same way without an early time-out?
    fn fails_in_time(
        &mut self,
        run: Option<&Trace>,
        seen: &Seen,
        failure: &Failure,
    ) -> Result<bool> {
        let run = run.filter(|run| run.counters.early == 0);
        self.is_same(run, seen, failure)
    }

    /// Counts a failure again that was told as one that needs an early time-out. `false`: it is none of
    /// those, or not any more.
    pub(super) fn comes_early_again(&mut self, seen: &mut Seen, failure: &Failure) -> Result<bool> {
        let told =
            |found: &Found| found.time_out.is_some() && found.fingerprint == failure.fingerprint;
        let Some(at) = self.reports.iter().position(told) else {
            return Ok(false);
        };
        self.reports[at].seen += 1;
        let needs = match self.reports[at].seen <= ASKED_AGAIN {
            true => self.needs_time_out_by(ATTEMPTS_AGAIN, seen, failure)?,
            false => seen.trace.counters.early > 0,
        };
        if !needs {
            self.reports.remove(at);
        }
        Ok(needs)
    }

    /// What is told of a failure that needs an early time-out: which one its execution has.
    pub(super) fn early_time_out(&mut self, trace: &Trace) -> Result<Note> {
        let events = &trace.events;
        let is_early = |&i: &usize| events[i].kind() == Some(Kind::Early);
        let early: Vec<usize> = (0..events.len()).filter(is_early).collect();
        let announced: Vec<usize> = early.iter().map(|&i| announcement(events, i)).collect();
        let callers = crate::callers::at(events, &announced);
        let symbols = self.symbols()?;
        let mut told: Vec<(String, Option<u32>)> = Vec::new();
        for (&i, &at) in early.iter().zip(&announced) {
            let of = callers.of(at);
            let site = match events[at].pc {
                0 => None,
                pc => Some(symbols.site_called_from(pc, of)),
            };
            let what = match events[i].size == Kind::TimerExpire as u8 {
                true => "timer",
                false => "wait",
            };
            let where_ = site.map(|site| place(&symbols.sites()[site as usize]));
            let where_ = where_.map_or(String::new(), |place| format!(" ({place})"));
            let text = format!("a {what} of {}{where_}", length(events[i].value));
            if !told.iter().any(|(known, _)| *known == text) {
                told.push((text, site));
            }
        }
        let (first, site) = match told.first() {
            Some((first, site)) => (first.as_str(), *site),
            None => ("a wait", None),
        };
        let others = match told.len() {
            0 | 1 => String::new(),
            n => format!(", or {} more,", n - 1),
        };
        Ok(Note {
            text: format!(
                "fails only if {first}{others} outlasts its limit while other threads could go on \
                 (not in {} in which none did)",
                count(self.late.attempts, "execution")
            ),
            site,
        })
    }

    /// How much is not told.
    pub(super) fn late_note(&self) -> Option<String> {
        (self.late.left_out > 0).then(|| {
            let failures = count(self.late.left_out, "more failure");
            format!("{failures} by an early time-out, not told")
        })
    }
}

/// The same job with all time-outs late.
fn late(job: &Job) -> Job {
    let mut job = job.clone();
    job.flags |= flags::LATE_TIMEOUTS;
    job
}

/// The schedule of an execution without the steps in which time-outs come early, and its part before
/// the first of them.
fn without_early(events: &[Event]) -> (Vec<Step>, Vec<Step>) {
    let mut early = None;
    let without = schedule_of(events, |event, kind| {
        if kind == Kind::Early {
            early = Some(event.thread);
        }
        kind.is_step() && early.take() != Some(event.thread)
    });
    let first = events.iter().position(|e| e.kind() == Some(Kind::Early));
    let before = &events[..first.unwrap_or(events.len())];
    (without, schedule_of(before, |_, kind| kind.is_step()))
}

/// The record whose place says where a wait that ended early began: of a timer, where it was set.
fn announcement(events: &[Event], early: usize) -> usize {
    if events[early].size != Kind::TimerExpire as u8 {
        return early;
    }
    let later = events[early..].iter();
    let expiry = later.clone().find(|e| e.kind() == Some(Kind::TimerExpire));
    let timer = expiry.map_or(0, |expiry| expiry.object);
    let sets = |e: &Event| e.kind() == Some(Kind::TimerSet) && e.object == timer && e.value != 0;
    events[..early].iter().rposition(sets).unwrap_or(early)
}

/// A duration in nanoseconds, in few digits: what looks at clocks took of it is not meant.
fn length(ns: u64) -> String {
    let rounded = |digits: u32| {
        let unit = 10u64.pow(ns.max(1).ilog10().saturating_sub(digits - 1));
        (ns.saturating_add(unit / 2)) / unit * unit
    };
    let near = |n: &u64| n.abs_diff(ns).saturating_mul(100) <= ns;
    let ns = (1..=3).map(rounded).find(near).unwrap_or(ns);
    let units = [
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
        (1, "ns"),
    ];
    let (unit, name) = units
        .into_iter()
        .find(|&(unit, _)| ns >= unit)
        .unwrap_or((1, "ns"));
    format!("{} {name}", ns as f64 / unit as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::record;

    #[test]
    fn lengths_are_told_in_few_digits() {
        for (ns, text) in [
            (0, "0 ns"),
            (7, "7 ns"),
            (998_000, "1 ms"),
            (9_998_000, "10 ms"),
            (10_000_000, "10 ms"),
            (249_990_000, "250 ms"),
            (999_999_000, "1 s"),
            (1_250_000_000, "1.25 s"),
            (4_999_990_000, "5 s"),
            (60_000_000_000, "60 s"),
            (123_456, "123 µs"),
        ] {
            assert_eq!(length(ns), text, "{ns}");
        }
    }

    #[test]
    fn steps_that_came_early_are_left_out() {
        let events = [
            record(Kind::ThreadCreate, 0, 1),
            record(Kind::ThreadStart, 1, 0),
            record(Kind::Enabled, 1, 0),
            record(Kind::Early, 0, 10),
            record(Kind::SemTimedWait, 0, 110),
            record(Kind::Choice, 0, 1),
            record(Kind::SemPost, 1, 0),
        ];
        let (without, before) = without_early(&events);
        let start = [Step::thread(0, 1), Step::thread(1, 1)];
        assert_eq!(before, start);
        let rest = [Step::choice(1), Step::thread(1, 1)];
        assert_eq!(without, [start, rest].concat());
    }
}
