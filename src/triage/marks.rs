//! Marks: what executions show besides their ends. Races and leaked threads are made findings or
//! reports, orders of locks that may meet are tried until they deadlock, or listed as possible.

use super::{
    Class, Examined, Failure, Job, Result, Seen, Step, Trace, Treatment, Triage, class_of, flags,
    last_bytes, witness_records,
};
use crate::marks::{describe_cycle, part_of_block};
use crate::report::{base_name, place};
use crate::same;
use crate::summary::{Possibility, count};
use crate::suppress::Case;
use crate::symbols::Symbols;
use crate::watch::{Key, Mark};
use raddle_analyzer::direct;
use raddle_analyzer::fingerprint;
use raddle_analyzer::locks::Cycle;
use raddle_analyzer::races::{Race, Subject};
use raddle_analyzer::stop;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::witness::{Note, Other};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An execution that shows something.
pub struct Sighted {
    /// Number of the execution, from 1.
    pub execution: u64,
    pub mark: Mark,
    pub job: Job,
    pub trace: Arc<Trace>,
}

/// What became of marks.
#[derive(Default)]
pub struct Marked {
    pub possibilities: Vec<Possibility>,
    /// Attempts to make a deadlock of a cycle.
    attempts: BTreeMap<Key, u32>,
    /// Races and leaks that were not looked into any more.
    left_out: u64,
    /// Marks that were not there when the same schedule was run again.
    vanished: u64,
    /// Those that the corpus knows, which fail the run no more (`--new-only`).
    known: u64,
    /// Time spent on what does not fail the run.
    spent: Duration,
    /// What there was no time for yet.
    later: Vec<Sighted>,
    /// Variables with a report of a race, and how many races there were besides on one of them.
    variables: BTreeSet<String>,
    others: u64,
}

/// So many executions are taken as a start to make a deadlock of the same cycle.
const ATTEMPTS: u32 = 3;
/// Before the first finding, what does not fail the run takes one part in so many of the time at
/// most, and a moment.
const SHARE: u32 = 10;
const MOMENT: Duration = Duration::from_millis(500);
/// At the end of a run without a finding it may take so long, whatever the run took.
const AT_THE_END: Duration = Duration::from_secs(10);
/// So much is kept for the end: sightings, and records of all of them.
const MOST_LATER: usize = 64;
const MOST_RECORDS: usize = 4_000_000;
/// So many reports are made that do not fail the run.
pub(super) const MOST_REPORTS: usize = 50;
/// Libraries whose own synchronisation is not seen, and whose threads live as long as the process.
const OWN_WAYS: [&str; 4] = ["libgomp", "libomp", "libiomp", "libtbb"];

/// Is the library of this name one of [`OWN_WAYS`]?
fn has_own_ways(name: &str) -> bool {
    OWN_WAYS.iter().any(|known| name.starts_with(known))
}

impl Marked {
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            notes.push(format!(
                "races and leaked threads that were not looked into: {}",
                self.left_out
            ));
        }
        if self.others > 0 {
            let races = count(self.others, "more race");
            notes.push(format!("{races} on variables that are reported"));
        }
        if self.known > 0 {
            notes.push(format!(
                "{} races or leaked threads were findings that the corpus knows (--new-only)",
                self.known
            ));
        }
        if self.vanished > 0 {
            notes.push(format!(
                "{} races or leaked threads were not seen again under the same schedule: \
                 something is not under control",
                self.vanished
            ));
        }
        notes
    }
}

impl Triage<'_> {
    /// Looks into a mark. `true`: it is a finding that fails the run. What does not fail it may have
    /// to wait until there is time for it.
    pub fn look_into(&mut self, sighted: Sighted) -> Result<bool> {
        if self.fails(&sighted.mark) || !self.findings.is_empty() {
            return self.look(&sighted);
        }
        let allowed = self.started.elapsed() / SHARE + MOMENT;
        self.look_within(allowed.saturating_sub(self.marked.spent), sighted)
    }

    fn fails(&self, mark: &Mark) -> bool {
        let treatment = self.wishes.watch.treatment(mark.class());
        !matches!(mark, Mark::Cycle(_)) && treatment == Treatment::Fail
    }

    /// Looks into a mark for so long at most; what takes longer is kept for the end.
    fn look_within(&mut self, time: Duration, sighted: Sighted) -> Result<bool> {
        let started = Instant::now();
        let deadline = started + time;
        let before = self.reports.len();
        let mut fails = false;
        if !time.is_zero() {
            self.deadline = Some(deadline);
            let looked = self.look(&sighted);
            self.deadline = None;
            self.marked.spent += started.elapsed();
            fails = looked?;
        }
        let told = fails || self.reports.len() > before;
        if Instant::now() >= deadline && !told {
            let later = &mut self.marked.later;
            let records = later.iter().chain([&sighted]).map(|s| s.trace.events.len());
            let records: usize = records.sum();
            match later.len() < MOST_LATER && records < MOST_RECORDS {
                true => later.push(sighted),
                false => self.marked.left_out += 1,
            }
        }
        Ok(fails)
    }

    /// The search is over: looks into what there was no time for, as long as that is short beside the
    /// search, or nothing else is told. The rest is listed as possible.
    ///
    /// # Errors
    /// The program cannot be started again.
    pub fn look_into_the_rest(&mut self) -> Result<()> {
        let most = AT_THE_END.max(self.started.elapsed() / SHARE);
        let end = Instant::now() + most;
        for sighted in std::mem::take(&mut self.marked.later) {
            let left = end.saturating_duration_since(Instant::now());
            let time = match self.interrupt.stopped() || !self.findings.is_empty() {
                true => Duration::ZERO,
                false => left,
            };
            self.look_within(time, sighted)?;
        }
        for sighted in std::mem::take(&mut self.marked.later) {
            let key = sighted.mark.key(&sighted.trace);
            let class = sighted.mark.class();
            let failures = match &sighted.mark {
                Mark::Cycle(cycle) => {
                    self.list_cycle(&sighted.trace, cycle, &sighted.trace)?;
                    continue;
                }
                Mark::Race(_) | Mark::Leak(_) => self.failures(class, &sighted.trace, None)?,
            };
            let same = |m: &Mark| m.key(&sighted.trace) == key;
            let is_it = |f: &Failure| f.mark.as_ref().is_some_and(same);
            if let Some(failure) = failures.into_iter().find(is_it)
                && !self.is_suppressed(&failure, &sighted.trace)?
            {
                let places = self.places_of(&failure)?;
                self.possible(Possibility {
                    class: class.to_string(),
                    message: format!("{}; there was no time to look into it", failure.message),
                    fingerprint: failure.fingerprint.clone(),
                    places,
                });
            }
        }
        Ok(())
    }

    fn look(&mut self, sighted: &Sighted) -> Result<bool> {
        match &sighted.mark {
            Mark::Cycle(cycle) => self.confirm(sighted, cycle),
            Mark::Race(_) | Mark::Leak(_) => self.keep_mark(sighted),
        }
    }

    /// Where the accesses of a race are, or the creation of a thread.
    fn places_of(&mut self, failure: &Failure) -> Result<Vec<String>> {
        let symbols = self.symbols()?;
        let mut stacks: Vec<&Vec<u32>> = failure.accesses.iter().map(|a| &a.stack).collect();
        if stacks.is_empty() {
            stacks.extend(failure.threads.iter().map(|t| &t.stack));
        }
        let tops = stacks.into_iter().filter_map(|stack| stack.first());
        Ok(tops.map(|&s| place(&symbols.sites()[s as usize])).collect())
    }

    /// Has a race on this variable been reported? Then it is counted.
    fn is_reported(&mut self, variable: &Option<String>) -> bool {
        let reported = |name| self.marked.variables.contains(name);
        let is_reported = variable.as_ref().is_some_and(reported);
        self.marked.others += u64::from(is_reported);
        is_reported
    }

    fn keep_mark(&mut self, sighted: &Sighted) -> Result<bool> {
        let class = sighted.mark.class();
        let fails = self.fails(&sighted.mark);
        if !fails && self.reports.len() >= MOST_REPORTS {
            self.marked.left_out += 1;
            return Ok(false);
        }
        let of_memory = |mark: &Mark| match mark {
            Mark::Race(race) if !fails && race.subject == Subject::Memory => Some(*race),
            _ => None,
        };
        let mut variable = match of_memory(&sighted.mark) {
            Some(race) => {
                let variable = self.symbols()?.variable(race.address);
                variable.map(|(name, _)| name.to_string())
            }
            None => None,
        };
        if self.is_reported(&variable) {
            return Ok(false);
        }
        let key = sighted.mark.key(&sighted.trace);
        let mut seen = Seen {
            execution: sighted.execution,
            class,
            job: sighted.job.clone(),
            trace: sighted.trace.clone(),
            reference: None,
        };
        let records = witness_records(&seen.trace.taken);
        let Some(again) = self.rerun(&seen.job, &seen.trace.taken, records)? else {
            return Ok(false);
        };
        let failures = self.failures(class, &again, None)?;
        let is_it = |f: &Failure| f.mark.as_ref().is_some_and(|m| m.key(&again) == key);
        let Some(failure) = failures.into_iter().find(is_it) else {
            self.marked.vanished += 1;
            return Ok(false);
        };
        if let Some(race) = failure.mark.as_ref().and_then(of_memory)
            && variable.is_none()
        {
            variable = part_of_block(&race, &again, self.symbols()?);
        }
        if self.is_reported(&variable) || self.is_suppressed(&failure, &again)? {
            return Ok(false);
        }
        if let Some(Mark::Race(race)) = &failure.mark
            && match self.is_shown_by_records(race, &failure)? {
                true => self.is_only_possible(&failure)?,
                false => self.turned_round(&seen, &again, race)?.is_none(),
            }
        {
            return Ok(false);
        }
        if class == Class::Leak && self.is_of_a_pool(&failure)? {
            return Ok(false);
        }
        if let Some(known) = self.count_again(&mut seen, &failure)? {
            self.marked.known += u64::from(known == Examined::Known);
            return Ok(fails && known == Examined::Finding);
        }
        let told = |triage: &Self| triage.reports.len() + triage.findings.len();
        let before = told(self);
        let fails = self.keep(seen, failure)?;
        // It may be that there was no time for it.
        if told(self) > before {
            self.marked.variables.extend(variable);
        }
        Ok(fails)
    }

    /// What keeps two operations in order may be in code without instrumentation, and of descriptors
    /// it may be what they hand on: then they are a race only if both orders were run. Of all others
    /// the records tell.
    fn is_shown_by_records(&mut self, race: &Race, failure: &Failure) -> Result<bool> {
        let symbols = self.symbols()?;
        let modules = symbols.modules();
        let mut tops = failure.accesses.iter().filter_map(|a| a.stack.first());
        let instrumented = tops.all(|&site| {
            let module = symbols.sites()[site as usize].module;
            module.is_some_and(|module| modules[module as usize].instrumented)
        });
        Ok(match race.subject {
            Subject::Memory => true,
            Subject::Object => instrumented,
            Subject::Descriptor => false,
        })
    }

    /// In a program with a library that synchronises in ways that are not seen, a race is only
    /// possible: lists it so.
    fn is_only_possible(&mut self, failure: &Failure) -> Result<bool> {
        let modules = self.symbols()?.modules();
        let names = modules
            .iter()
            .map(|m| base_name(&m.path.to_text()).to_string());
        let Some(library) = names.into_iter().find(|name| has_own_ways(name)) else {
            return Ok(false);
        };
        let places = self.places_of(failure)?;
        self.possible(Possibility {
            class: Class::Race.to_string(),
            message: format!(
                "{}; {library} may order them in a way that is not seen",
                failure.message
            ),
            fingerprint: failure.fingerprint.clone(),
            places,
        });
        Ok(true)
    }

    /// Did a library make the thread that keeps its threads until the process ends?
    fn is_of_a_pool(&mut self, failure: &Failure) -> Result<bool> {
        let symbols = self.symbols()?;
        let creator = failure.threads.first().and_then(|t| t.stack.first());
        let module = creator.and_then(|&site| symbols.sites()[site as usize].module);
        let path = module.and_then(|module| symbols.module_path(module));
        Ok(path.is_some_and(|path| has_own_ways(base_name(&path.to_string_lossy()))))
    }

    fn possible(&mut self, possibility: Possibility) {
        let known = &mut self.marked.possibilities;
        if !known
            .iter()
            .any(|p| p.fingerprint == possibility.fingerprint)
        {
            known.push(possibility);
        }
    }

    /// Tries to make a deadlock of a cycle of locks. `true`: there is one now among the findings.
    fn confirm(&mut self, sighted: &Sighted, cycle: &Cycle) -> Result<bool> {
        let key = sighted.mark.key(&sighted.trace);
        let attempts = self.marked.attempts.entry(key).or_default();
        *attempts += 1;
        if *attempts > ATTEMPTS {
            return Ok(false);
        }
        let trace = &sighted.trace;
        for schedule in direct::toward_cycle(&trace.taken, &trace.events, cycle) {
            let Some(run) = self.rerun(&sighted.job, &schedule, flags::TOLERANT)? else {
                break;
            };
            if class_of(&run, None) != Some(Class::Deadlock) {
                continue;
            }
            let seen = Seen {
                execution: sighted.execution,
                class: Class::Deadlock,
                job: sighted.job.clone(),
                trace: Arc::new(run),
                reference: None,
            };
            return Ok(self.examine(seen)?.examined == Examined::Finding);
        }
        let records = witness_records(&trace.taken);
        let again = self.rerun(&sighted.job, &trace.taken, records)?;
        self.list_cycle(again.as_ref().unwrap_or(trace), cycle, trace)?;
        Ok(false)
    }

    /// Lists a cycle that made no deadlock as possible. `again`: the same execution with all
    /// records.
    fn list_cycle(&mut self, again: &Trace, cycle: &Cycle, trace: &Trace) -> Result<()> {
        let wanted = Mark::Cycle(cycle.clone()).key(trace);
        let cycles = raddle_analyzer::locks::cycles(&again.events).into_iter();
        let same = |c: &Cycle| Mark::Cycle(c.clone()).key(again) == wanted;
        let found = cycles.into_iter().find(same);
        let symbols = self.symbols()?;
        let (message, places) = match &found {
            Some(cycle) => describe_cycle(cycle, again, symbols),
            None => describe_cycle(cycle, trace, symbols),
        };
        let sites = symbols.sites().to_vec();
        let modules = symbols.modules();
        let texts: Vec<String> = places.iter().map(|&s| place(&sites[s as usize])).collect();
        let names = places
            .iter()
            .flat_map(|&place| same::names(&[place], symbols));
        let names: Vec<String> = names.collect();
        let stacks: Vec<Vec<u32>> = places.iter().map(|&s| vec![s]).collect();
        let class = Class::Deadlock;
        let case = Case {
            class,
            stacks: &stacks,
            names: &[],
            sites: &sites,
            modules: &modules,
        };
        if !self.wishes.suppressions.cover(&case) {
            self.possible(Possibility {
                class: class.to_string(),
                message,
                fingerprint: fingerprint::of("possible deadlock", &names),
                places: texts,
            });
        }
        Ok(())
    }

    /// Another execution to compare a finding with, and what there is to say about it.
    pub(super) fn other(
        &mut self,
        seen: &Seen,
        failure: &mut Failure,
        trace: &Trace,
    ) -> Result<Option<Other>> {
        if let (Class::Output, Some(reference)) = (seen.class, &seen.reference) {
            let expected = reference.stdout.as_deref();
            let notes = expected.map(|expected| differences(expected, &trace.stdout));
            failure.notes.extend(notes.unwrap_or_default());
            return Ok(Some(Other {
                what: reference.what.clone(),
                steps: in_pairs(&reference.taken),
                stdout: expected.map(last_bytes),
            }));
        }
        let Some(Mark::Race(race)) = failure.mark.clone() else {
            return Ok(None);
        };
        let turned = self.turned_round(seen, trace, &race)?;
        if turned.is_none() {
            let text = "no execution was found with the accesses in the other order";
            failure.notes.push(Note {
                text: text.to_string(),
                site: None,
            });
        }
        Ok(turned.map(|steps| Other {
            what: "the accesses in the other order".to_string(),
            steps: in_pairs(&steps),
            stdout: None,
        }))
    }

    /// A schedule on which the accesses of a race come in the other order.
    fn turned_round(
        &mut self,
        seen: &Seen,
        trace: &Trace,
        race: &Race,
    ) -> Result<Option<Vec<Step>>> {
        let asked = self.interrupt.asked_of_all();
        let schedule = || direct::other_order(&trace.taken, &trace.events, race);
        let Some(schedule) = stop::unless(&asked, schedule) else {
            return Ok(None);
        };
        let run = self.rerun(&seen.job, &schedule, flags::TOLERANT | flags::EVENTS)?;
        let turned =
            |run: &Trace| direct::is_other_order(&trace.events, race, &run.events, &run.outcome);
        Ok(run.filter(turned).map(|run| run.taken))
    }
}

/// Waits that ended although nobody signalled: what the execution needed to fail.
pub(super) fn spurious(trace: &Trace, symbols: &mut Symbols) -> Vec<Note> {
    let events = &trace.events;
    let chosen = |pair: &[Event]| {
        let wait = pair[0].kind == Kind::CondWait as u8;
        wait && pair[1].kind == Kind::Choice as u8 && pair[1].value == 1
    };
    let waits: Vec<usize> = (1..events.len())
        .filter(|&i| chosen(&events[i - 1..=i]))
        .map(|i| i - 1)
        .collect();
    let callers = crate::callers::at(events, &waits);
    let note = |&index: &usize| Note {
        text: "needs this wait to end although nobody signalled".to_string(),
        site: Some(symbols.site_called_from(events[index].pc, callers.of(index))),
    };
    waits.iter().map(note).collect()
}

fn in_pairs(steps: &[Step]) -> Vec<(u16, u16)> {
    steps.iter().map(|s| (s.what, s.count)).collect()
}

/// Lines that are told of in a difference of outputs.
const MOST_LINES: usize = 5;
/// Characters of each.
const LONGEST_LINE: usize = 100;

/// Where two outputs differ, line by line, as far as they were kept.
fn differences(expected: &[u8], stdout: &[u8]) -> Vec<Note> {
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes);
        text.lines().map(str::to_string).collect()
    };
    let (theirs, ours) = (lines(expected), lines(stdout));
    let shown = |line: Option<&String>| match line {
        Some(line) => {
            let visible = line.chars().map(|c| if c.is_control() { '·' } else { c });
            format!("`{}`", visible.take(LONGEST_LINE).collect::<String>())
        }
        None => "nothing".to_string(),
    };
    let most = theirs.len().max(ours.len());
    let differing = (0..most).filter(|&i| theirs.get(i) != ours.get(i));
    let all: Vec<usize> = differing.collect();
    let mut notes: Vec<String> = all
        .iter()
        .take(MOST_LINES)
        .map(|&i| {
            let (then, now) = (shown(theirs.get(i)), shown(ours.get(i)));
            format!("line {}: {then} expected, {now} printed", i + 1)
        })
        .collect();
    if all.len() > MOST_LINES {
        notes.push(format!(
            "and in {}",
            count((all.len() - MOST_LINES) as u64, "more line")
        ));
    }
    if expected == stdout {
        notes.push(format!("they differ after {} bytes", stdout.len()));
    } else if all.is_empty() {
        notes.push("the lines are the same, their ends are not".to_string());
    }
    let note = |text| Note { text, site: None };
    notes.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_by_lines() {
        let table: [(&str, &str, &[&str]); 5] = [
            ("a\nb\n", "a\nc\n", &["line 2: `b` expected, `c` printed"]),
            ("a\n", "a\nb\n", &["line 2: nothing expected, `b` printed"]),
            ("a\n", "a", &["the lines are the same, their ends are not"]),
            ("a\n", "a\n", &["they differ after 2 bytes"]),
            (
                "1\n2\n3\n4\n5\n6\n7\n",
                "",
                &[
                    "line 1: `1` expected, nothing printed",
                    "line 2: `2` expected, nothing printed",
                    "line 3: `3` expected, nothing printed",
                    "line 4: `4` expected, nothing printed",
                    "line 5: `5` expected, nothing printed",
                    "and in 2 more lines",
                ],
            ),
        ];
        for (expected, printed, texts) in table {
            let notes = differences(expected.as_bytes(), printed.as_bytes());
            let notes: Vec<&str> = notes.iter().map(|n| n.text.as_str()).collect();
            assert_eq!(notes, texts);
        }
    }
}
