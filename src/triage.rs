//! From a failing execution to a finding: run it again with records, shrink it, write it down.

use crate::class::{Class, Meaning, meaning};
use crate::corpus::{Keeper, Known, NewFinding};
use crate::describe::{self, Failure};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::report::{Style, report};
use crate::setup::Setup;
use crate::store::{Place, write_witness};
use crate::summary::Found;
use crate::symbols::Symbols;
use crate::terminal::print;
use raddle_analyzer::shrink::Shrinker;
use raddle_protocol::job::{Job, total_steps};
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::{self, Bytes, Finding, Recipe, Witness};
use raddle_scheduler::{RunError, Session};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What becomes of findings.
pub struct Wishes {
    pub place: Place,
    pub shrink: bool,
    /// Print reports.
    pub print: bool,
    pub style: Style,
    pub policy: String,
    pub seed: u64,
    /// Where findings are stored before they are told.
    pub keeper: Option<Arc<Keeper>>,
}

/// A failing execution as the search hands it over.
pub struct Seen {
    /// Number of the execution, from 1.
    pub execution: u64,
    pub class: Class,
    pub job: Job,
    pub trace: Trace,
    /// With `--same-output`: the hash of what it should have printed.
    pub expected_output: Option<u64>,
}

/// What a failing execution turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// A finding of this run, for the first time or again.
    Finding,
    /// With `--new-only`: a finding of an earlier run.
    Known,
    /// It only failed because its schedule was unfair.
    Unfair,
}

/// Examines failing executions of one program and keeps the findings.
pub struct Triage<'a> {
    setup: &'a Setup,
    wishes: Wishes,
    interrupt: &'a Interrupt,
    /// Started when first needed.
    session: Option<Session>,
    symbols: Option<Symbols>,
    findings: Vec<Found>,
    notes: Vec<String>,
    trouble: Option<crate::error::Error>,
}

/// No longer than this is spent on shrinking one finding.
const SHRINK_TIME: Duration = Duration::from_secs(20);
/// What never ends does not end within so many fair steps either.
const FAIR_STEPS: u64 = 1_000_000;
/// The witness of a livelock holds so many steps.
const LIVELOCK_STEPS: u64 = 20_000;
/// So much of what the program printed goes into the witness, from the end.
const OUTPUT_KEPT: usize = 16 << 10;

impl<'a> Triage<'a> {
    pub fn new(setup: &'a Setup, wishes: Wishes, interrupt: &'a Interrupt) -> Triage<'a> {
        Triage {
            setup,
            wishes,
            interrupt,
            session: None,
            symbols: None,
            findings: Vec::new(),
            notes: Vec::new(),
            trouble: None,
        }
    }

    /// The findings, notes for the summary, and the first witness that could not be written.
    pub fn done(self) -> (Vec<Found>, Vec<String>, Option<crate::error::Error>) {
        (self.findings, self.notes, self.trouble)
    }

    /// Examines one failing execution.
    pub fn examine(&mut self, mut seen: Seen) -> Result<Examined> {
        let failure = self.describe(seen.class, &seen.trace)?;
        if let Some(known) = self.count_again(&failure) {
            return Ok(known);
        }
        if seen.class == Class::Livelock {
            match self.fairly(&seen)? {
                Fair::Ends => return Ok(Examined::Unfair),
                Fair::Fails(other) => {
                    seen = *other;
                    let failure = self.describe(seen.class, &seen.trace)?;
                    if let Some(known) = self.count_again(&failure) {
                        return Ok(known);
                    }
                    self.keep(seen, failure)?;
                    return Ok(Examined::Finding);
                }
                Fair::GoesOn => cut_short(&mut seen),
            }
        }
        self.keep(seen, failure)?;
        Ok(Examined::Finding)
    }

    /// Counts a finding that is known already; `None` when it is not, or is to be told again.
    fn count_again(&mut self, failure: &Failure) -> Option<Examined> {
        let keeper = self.wishes.keeper.as_deref();
        let same = |f: &&mut Found| f.fingerprint == failure.fingerprint;
        let examined = match self.findings.iter_mut().find(same) {
            Some(found) => {
                found.seen += 1;
                Examined::Finding
            }
            None => {
                let passed = |k: &&Keeper| k.new_only && k.known.contains_key(&failure.fingerprint);
                keeper.filter(passed)?;
                Examined::Known
            }
        };
        if let Some(keeper) = keeper {
            keeper.seen_again(&failure.fingerprint);
        }
        Some(examined)
    }

    /// Reproduces, shrinks, writes and prints a new finding.
    fn keep(&mut self, seen: Seen, failure: Failure) -> Result<()> {
        // A run that does not end takes as long as the limit, and is the same for any schedule: one
        // must do.
        let endless = matches!(seen.class, Class::Timeout | Class::Livelock);
        let records = match endless {
            true => witness_records(&seen.trace.taken),
            false => flags::EVENTS,
        };
        let again = self.rerun(&seen.job, &seen.trace.taken, records)?;
        let reproduced = self.is_same(again.as_ref(), &seen, &failure)?;
        let (trace, reproduced) = match again {
            Some(again) if reproduced && endless => (again, true),
            Some(again) if reproduced => {
                let best = self.shrink(&seen, &failure, &again)?;
                let last = self.rerun(&seen.job, &best, witness_records(&best))?;
                match last {
                    Some(last) if self.is_same(Some(&last), &seen, &failure)? => (last, true),
                    _ => (again, true),
                }
            }
            _ => (seen.trace.clone(), false),
        };
        let mut witness = self.witness(&seen, &trace, reproduced)?;
        if seen.class == Class::Livelock {
            witness.finding.message = failure.message;
        }
        let path = self.wishes.place.path(self.findings.len(), &witness);
        let written = write_witness(&path, &witness);
        let file = written.is_ok().then_some(path.as_path());
        let known = self.store(&witness, file);
        if self.wishes.print {
            print(&report(&witness, file, self.wishes.style));
        }
        self.findings.push(Found {
            known_since: known.map(|known| known.since),
            ..Found::new(&witness, file.map(Into::into))
        });
        if let Err(error) = written {
            self.trouble.get_or_insert(error);
        }
        Ok(())
    }

    /// Stores a finding in the corpus, if there is one; what that knew of it.
    fn store(&self, witness: &Witness, file: Option<&Path>) -> Option<Known> {
        let keeper = self.wishes.keeper.as_ref()?;
        let finding = &witness.finding;
        let path = file.and_then(|file| std::path::absolute(file).ok());
        keeper.finding(NewFinding {
            fingerprint: finding.fingerprint.clone(),
            class: finding.class.clone(),
            message: finding.message.clone(),
            policy: finding.policy.clone(),
            seed: finding.seed,
            execution: finding.execution,
            preemptions: finding.preemptions,
            path: path.map(|path| path.to_string_lossy().into_owned()),
            witness: witness::encode(witness).into_bytes(),
        })
    }

    /// Runs a complete schedule again; `None` when that was stopped or gave no trace.
    fn rerun(&mut self, job: &Job, steps: &[Step], extra: u32) -> Result<Option<Trace>> {
        let mut job = job.clone();
        job.prefix = steps.to_vec();
        job.tail = Tail::RunUntilBlocked;
        job.flags |= extra;
        self.run(&job)
    }

    fn run(&mut self, job: &Job) -> Result<Option<Trace>> {
        if self.interrupt.everything.is_set() {
            return Ok(None);
        }
        match self.session()?.run(job) {
            Ok(trace) => Ok(Some(trace)),
            Err(RunError::Stopped) => Ok(None),
            Err(error) => {
                let note = format!("an execution was not repeated: {error}");
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                Ok(None)
            }
        }
    }

    fn session(&mut self) -> Result<&mut Session> {
        if self.session.is_none() {
            self.session = Some(self.setup.session(&self.interrupt.everything)?);
        }
        Ok(self.session.as_mut().expect("it has just been put there"))
    }

    fn symbols(&mut self) -> Result<&mut Symbols> {
        if self.symbols.is_none() {
            let program = self.setup.program.path.clone();
            let modules = self.session()?.modules().to_vec();
            self.symbols = Some(Symbols::new(&modules, &program));
        }
        Ok(self.symbols.as_mut().expect("it has just been put there"))
    }

    fn describe(&mut self, class: Class, trace: &Trace) -> Result<Failure> {
        Ok(describe::failure(class, trace, self.symbols()?))
    }

    /// Did this run fail in the same way?
    fn is_same(&mut self, trace: Option<&Trace>, seen: &Seen, failure: &Failure) -> Result<bool> {
        let Some(trace) = trace else {
            return Ok(false);
        };
        match class_of(trace, seen.expected_output) {
            Some(class) if class == seen.class => {
                Ok(self.describe(class, trace)?.fingerprint == failure.fingerprint)
            }
            _ => Ok(false),
        }
    }

    /// A schedule with the same failure and as few preemptions as can be found.
    fn shrink(&mut self, seen: &Seen, failure: &Failure, trace: &Trace) -> Result<Vec<Step>> {
        if !self.wishes.shrink {
            return Ok(trace.taken.clone());
        }
        let started = Instant::now();
        let mut shrinker = Shrinker::new(trace.taken.clone(), &trace.events);
        while started.elapsed() < SHRINK_TIME
            && !self.interrupt.requested()
            && let Some(candidate) = shrinker.next()
        {
            let tried = self.rerun(&seen.job, &candidate, flags::TOLERANT)?;
            let same = self.is_same(tried.as_ref(), seen, failure)?;
            if let Some(tried) = tried {
                shrinker.observe(same, &tried.taken, tried.counters.preemptions);
            }
        }
        Ok(shrinker.best().to_vec())
    }

    /// A schedule without end may only be unfair: one thread spins while the one that it waits
    /// for is never chosen. Does the execution end when it goes on fairly from here?
    fn fairly(&mut self, seen: &Seen) -> Result<Fair> {
        let mut job = seen.job.clone();
        job.prefix = seen.trace.taken.clone();
        job.tail = Tail::Random { seed: 1 };
        job.flags |= flags::TOLERANT;
        job.max_steps = job.max_steps.saturating_add(FAIR_STEPS);
        let Some(trace) = self.run(&job)? else {
            return Ok(Fair::GoesOn);
        };
        Ok(match class_of(&trace, seen.expected_output) {
            Some(Class::Livelock | Class::Timeout) => Fair::GoesOn,
            None => Fair::Ends,
            Some(class) => Fair::Fails(Box::new(Seen {
                execution: seen.execution,
                class,
                job: seen.job.clone(),
                trace,
                expected_output: seen.expected_output,
            })),
        })
    }

    fn witness(&mut self, seen: &Seen, trace: &Trace, reproduced: bool) -> Result<Witness> {
        let failure = self.describe(seen.class, trace)?;
        let command = self.setup.command()?;
        let timeout = self.setup.limits.wall;
        let (policy, seed) = (self.wishes.policy.clone(), self.wishes.seed);
        let symbols = self.symbols()?;
        let mut story = describe::story(trace, symbols);
        let left_out = leave_out_middle(&mut story.records);
        let outcome = &trace.outcome;
        Ok(Witness {
            raddle: env!("CARGO_PKG_VERSION").to_string(),
            command,
            modules: symbols.modules(),
            recipe: Recipe {
                steps: trace.taken.iter().map(|s| (s.what, s.count)).collect(),
                inputs: describe::inputs(&seen.job.inputs, &story.inputs),
                ranges: seen.job.ranges.clone(),
                flags: seen.job.flags & !RECORDING,
                max_steps: seen.job.max_steps,
                timeout_ms: timeout.as_millis() as u64,
                clock_base: seen.job.clock_base,
                entropy: seen.job.entropy,
                expected_output: seen.expected_output,
            },
            finding: Finding {
                class: failure.class.to_string(),
                message: failure.message,
                fingerprint: failure.fingerprint,
                thread: outcome.thread,
                stack: failure.stack,
                waits: story.waits,
                notes: failure.notes,
                execution: seen.execution,
                preemptions: trace.counters.preemptions,
                found_preemptions: seen.trace.counters.preemptions,
                reproduced,
                policy,
                seed,
                uncontrolled: trace.uncontrolled.clone(),
                stdout: last_bytes(&trace.stdout),
                stderr: last_bytes(&trace.stderr),
            },
            sites: symbols.sites().to_vec(),
            objects: story.objects,
            events: story.records,
            events_left_out: left_out,
        })
    }
}

/// Flags that change what is recorded, not what happens.
pub const RECORDING: u32 = flags::EVENTS | flags::ENABLED | flags::TOLERANT | flags::STACKS;

/// In an execution of more steps the records of who called them would be too many.
const STEPS_WITH_STACKS: u64 = 1_000_000;

/// What the last execution of this schedule, of which the witness is made, records. So does a
/// replay: the places of a witness are shown by the user's own lines.
pub fn witness_records(steps: &[Step]) -> u32 {
    let stacks = match total_steps(steps) <= STEPS_WITH_STACKS {
        true => flags::STACKS,
        false => 0,
    };
    flags::EVENTS | flags::ENABLED | stacks
}

/// What a livelock does when every thread gets its turn.
enum Fair {
    GoesOn,
    Ends,
    Fails(Box<Seen>),
}

/// The class of a run's failure; `None` when it ended well or says nothing.
pub fn class_of(trace: &Trace, expected_output: Option<u64>) -> Option<Class> {
    match meaning(&trace.outcome) {
        Meaning::Finding(class) => Some(class),
        Meaning::Fine if expected_output.is_some_and(|h| h != witness::fnv1a(&trace.stdout)) => {
            Some(Class::Output)
        }
        _ => None,
    }
}

/// The start of an execution without end says as much as millions of steps.
fn cut_short(seen: &mut Seen) {
    let limit = match seen.job.max_steps {
        0 => LIVELOCK_STEPS,
        limit => limit.min(LIVELOCK_STEPS),
    };
    seen.job.max_steps = limit;
    let mut left = limit;
    seen.trace.taken.retain_mut(|step| {
        // Choices belong to the step before them and count for nothing themselves.
        if step.is_choice() {
            return left > 0;
        }
        step.count = u64::from(step.count).min(left) as u16;
        left -= u64::from(step.count);
        step.count > 0
    });
}

fn last_bytes(output: &[u8]) -> Bytes {
    let from = output.len().saturating_sub(OUTPUT_KEPT);
    Bytes(output[from..].to_vec())
}

/// Cuts a very long list of events down to its start and its end; how many were left out.
fn leave_out_middle(records: &mut Vec<witness::Record>) -> u64 {
    let most = Witness::HEAD + Witness::TAIL;
    let Some(too_many) = records.len().checked_sub(most) else {
        return 0;
    };
    records.drain(Witness::HEAD..Witness::HEAD + too_many);
    too_many as u64
}
