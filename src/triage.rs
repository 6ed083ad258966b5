//! From a failing execution to a finding: run it again with records, shrink it, write it down.

mod again;
mod depth;
mod endless;
mod inputs;
mod late;
mod marks;
mod paths;
mod returns;
mod shrink;

pub use endless::is_doubtful;
pub use marks::Sighted;
pub use shrink::Effort;

use crate::class::{Class, Meaning, label, meaning};
use crate::corpus::{Keeper, Known, NewFinding};
use crate::describe::{self, Failure, Story};
use crate::error::Result;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::report::{Style, place, report};
use crate::setup::Setup;
use crate::store::{Place, write_witness};
use crate::summary::{Found, Possibility};
use crate::suppress::{Case, Suppressions};
use crate::symbols::{Symbols, readable};
use crate::terminal::{Printed, tell};
use crate::watch::{Treatment, Watch};
use endless::{DOUBTED_STEPS, Fair, cut_short, is_long_way};
use raddle_analyzer::stop;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::{Job, push_step, total_steps};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{CHOICE_BIT, Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::{self, Bytes, Finding, Note, Recipe, Witness};
use raddle_scheduler::{Module, RunError, Session};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What becomes of findings.
pub struct Wishes {
    pub place: Place,
    /// Where what does not fail the run goes, if elsewhere.
    pub reports: Option<Place>,
    pub shrink: Effort,
    /// Print reports.
    pub print: bool,
    pub style: Style,
    pub policy: String,
    pub seed: u64,
    pub watch: Watch,
    pub suppressions: Suppressions,
    /// Where findings are stored before they are told.
    pub keeper: Option<Arc<Keeper>>,
}

/// What triage has gathered.
pub struct Gathered {
    pub findings: Vec<Found>,
    /// Races and leaked threads that do not fail the run.
    pub reports: Vec<Found>,
    pub possibilities: Vec<Possibility>,
    /// Rules of the suppression file that were of use, with how many findings each kept quiet.
    pub suppressed: Vec<(String, u64)>,
    pub notes: Vec<String>,
    /// The first witness that could not be written.
    pub trouble: Option<crate::error::Error>,
    /// The standard output of the first finding.
    pub output: Option<Printed>,
}

/// What an execution should have printed, and how that was printed.
#[derive(Clone, Debug)]
pub struct Reference {
    /// What it is, in words.
    pub what: String,
    /// Of the output ([`Trace::output_hash`]).
    pub hash: u64,
    /// The output, as far as it was kept; `None` where only the hash is remembered.
    pub stdout: Option<Vec<u8>>,
    /// The schedule; empty where it was no execution of this run.
    pub taken: Vec<Step>,
}

impl Reference {
    /// Of an earlier run.
    pub fn remembered(hash: u64) -> Arc<Reference> {
        Arc::new(Reference {
            what: "an execution of an earlier run".to_string(),
            hash,
            stdout: None,
            taken: Vec::new(),
        })
    }
}

/// A failing execution as the search hands it over.
pub struct Seen {
    /// Number of the execution, from 1.
    pub execution: u64,
    pub class: Class,
    pub job: Job,
    pub trace: Arc<Trace>,
    /// With `--same-output`: what it should have printed.
    pub reference: Option<Arc<Reference>>,
}

impl Seen {
    fn expected_output(&self) -> Option<u64> {
        self.reference.as_ref().map(|r| r.hash)
    }
}

/// What became of a failing execution.
#[derive(Debug)]
pub struct Examination {
    pub examined: Examined,
    /// It seemed to have no end, and came to one.
    pub refuted: Option<Refuted>,
}

/// An end that an execution came to when it was run on fairly.
#[derive(Debug)]
pub struct Refuted {
    /// As the summary counts it.
    pub label: String,
    /// Where loops are that seemed to wait for ever; nothing if its schedule was unfair.
    pub loops: Vec<String>,
    /// It was run in doubt of its loops already.
    pub doubted: bool,
}

/// What a failing execution turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// A finding of this run, for the first time or again.
    Finding,
    /// With `--new-only`: a finding of an earlier run.
    Known,
    /// It needs a time-out to come early, and does not fail the run.
    Early,
    /// It only failed because its schedule was unfair.
    Unfair,
    /// It reached the limit of steps, and nothing says that it would have no end.
    Endless,
    /// A rule of the suppression file keeps it quiet.
    Suppressed,
}

/// Examines failing executions of one program and keeps the findings.
pub struct Triage<'a> {
    setup: &'a Setup,
    wishes: Wishes,
    interrupt: &'a Interrupt,
    /// Started when first needed.
    session: Option<Session>,
    symbols: Option<Symbols>,
    depths: depth::Depths,
    findings: Vec<Found>,
    reports: Vec<Found>,
    /// Witness files so far.
    written: usize,
    /// What became of marks: see [`marks`].
    marked: marks::Marked,
    late: late::Late,
    paths: paths::Paths,
    notes: Vec<String>,
    trouble: Option<crate::error::Error>,
    output: Option<Printed>,
    /// Of the program, where they are known without a session.
    modules: Option<Vec<Module>>,
    /// Executions that were [`Examined::Endless`].
    endless: u64,
    started: Instant,
    /// What is being looked into is given up then: it does not fail the run.
    deadline: Option<Instant>,
}

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
            depths: depth::Depths::default(),
            findings: Vec::new(),
            reports: Vec::new(),
            written: 0,
            marked: marks::Marked::default(),
            late: late::Late::default(),
            paths: paths::Paths::default(),
            notes: Vec::new(),
            trouble: None,
            output: None,
            modules: None,
            endless: 0,
            started: Instant::now(),
            deadline: None,
        }
    }

    /// The program has these modules.
    pub fn know(&mut self, modules: &[Module]) {
        self.modules.get_or_insert_with(|| modules.to_vec());
    }

    /// Where this instruction is in the source; `None` where that is not known.
    pub fn place_of(&mut self, pc: u64) -> Option<String> {
        let symbols = self.symbols().ok().filter(|_| pc != 0)?;
        let site = symbols.site(pc);
        Some(place(&symbols.sites()[site as usize]))
    }

    /// [`Symbols::without_hooks`].
    pub fn without_hooks(&mut self, pc: u64) -> Option<String> {
        self.symbols().ok()?.without_hooks(pc)
    }

    /// All that was found.
    pub fn done(mut self) -> Gathered {
        self.notes.extend(self.marked.notes());
        self.notes.extend(self.late_note());
        self.notes.extend(self.paths.notes());
        let used = self.wishes.suppressions.used();
        Gathered {
            suppressed: used.map(|(rule, n)| (rule.to_string(), n)).collect(),
            findings: self.findings,
            reports: self.reports,
            possibilities: self.marked.possibilities,
            notes: self.notes,
            trouble: self.trouble,
            output: self.output,
        }
    }

    /// Examines one failing execution.
    pub fn examine(&mut self, mut seen: Seen) -> Result<Examination> {
        let mut refuted = None;
        let endless = seen.trace.outcome.end == End::StepLimit;
        if seen.class == Class::Livelock && (endless || is_doubtful(&seen)) {
            let ended = match self.ends_anyway(&seen)? {
                // What came behind the limit was one way to go on.
                Fair::GoesOn { in_circles: false } | Fair::Ends(_) if endless => {
                    self.endless += 1;
                    let examined = Examined::Endless;
                    return Ok(Examination { examined, refuted });
                }
                Fair::GoesOn { .. } => None,
                Fair::Ends(outcome) => Some((label(&outcome), None)),
                Fair::Fails(other) => Some((counted(other.class, &other.trace), Some(other))),
            };
            if let Some((label, other)) = ended {
                refuted = Some(Refuted {
                    label,
                    loops: self.loops(&seen)?,
                    doubted: seen.job.flags & flags::DOUBT_SPINS != 0,
                });
                let Some(other) = other else {
                    let examined = Examined::Unfair;
                    return Ok(Examination { examined, refuted });
                };
                seen = *other;
            }
        }
        let examined = self.judge(seen)?;
        Ok(Examination { examined, refuted })
    }

    /// What an execution that failed for sure means for the run.
    fn judge(&mut self, mut seen: Seen) -> Result<Examined> {
        let failure = self.describe_in_depth(&seen)?;
        if let Some(known) = self.count_again(&mut seen, &failure)? {
            return Ok(known);
        }
        if self.is_suppressed(&failure, &seen.trace)? {
            return Ok(Examined::Suppressed);
        }
        if seen.trace.outcome.end == End::StepLimit {
            cut_short(&mut seen);
        }
        Ok(match self.keep(seen, failure)? {
            true => Examined::Finding,
            false => Examined::Early,
        })
    }

    /// Counts a finding that is known already; `None` when it is not, or is to be told again.
    fn count_again(&mut self, seen: &mut Seen, failure: &Failure) -> Result<Option<Examined>> {
        if self.comes_early_again(seen, failure)? {
            return Ok(Some(Examined::Early));
        }
        let fails = self.wishes.watch.treatment(failure.class) == Treatment::Fail;
        let list = match fails {
            true => &mut self.findings,
            false => &mut self.reports,
        };
        let keeper = self.wishes.keeper.as_deref().filter(|_| fails);
        let same = |f: &&mut Found| f.fingerprint == failure.fingerprint;
        let examined = match list.iter_mut().find(same) {
            Some(found) => {
                found.seen += 1;
                Examined::Finding
            }
            None => {
                // Of one whose witness could not be written nobody has been told for good.
                let is_known = |k: &Keeper| {
                    k.known
                        .get(&failure.fingerprint)
                        .is_some_and(|f| f.delivered)
                };
                let passed = |k: &&Keeper| k.new_only && is_known(k);
                if keeper.filter(passed).is_none() {
                    return Ok(None);
                }
                Examined::Known
            }
        };
        if let Some(keeper) = keeper {
            keeper.seen_again(&failure.fingerprint);
        }
        Ok(Some(examined))
    }

    /// Reproduces, shrinks, writes and prints a new finding. `true`: it fails the run.
    fn keep(&mut self, mut seen: Seen, failure: Failure) -> Result<bool> {
        let mut fails = self.wishes.watch.treatment(failure.class) == Treatment::Fail;
        let needs_time_out = self.needs_time_out(&mut seen, &failure)?;
        let weight = fails && !needs_time_out;
        if needs_time_out && self.reports.len() >= marks::MOST_REPORTS {
            self.late.left_out += 1;
            return Ok(false);
        }
        let shrinks = self.wishes.shrink.executions > 0;
        // A run that does not end takes as long as the limit.
        let cut_off = seen.trace.outcome.end != End::Livelock;
        let endless = matches!(seen.class, Class::Timeout | Class::Livelock) && cut_off;
        let records = match endless {
            true => witness_records(&seen.trace.taken),
            false if !shrinks => witness_records(&seen.trace.taken),
            false => flags::EVENTS | records_for(&failure, &seen.trace.taken),
        };
        let again = self.rerun(&seen.job, &seen.trace.taken, records)?;
        let reproduced = self.is_same(again.as_ref(), &seen, &failure)?;
        let (mut fewest, mut note) = (false, None);
        let (trace, reproduced) = match again {
            Some(again) if reproduced && (seen.class == Class::Timeout || !shrinks) => {
                (again, true)
            }
            Some(again) if reproduced => {
                let again = match endless {
                    true => again,
                    false => self.with_small_inputs(&mut seen, &failure, again)?,
                };
                let again = self.without_returns(&mut seen, &failure, again)?;
                let shrunk = self.shrink(&seen, &failure, &again, weight)?;
                let last = self.rerun(&seen.job, &shrunk.steps, witness_records(&shrunk.steps))?;
                // What is still running where a witness of it is cut short may yet end.
                let asked = is_long_way(&seen) && shrunk.steps == seen.trace.taken;
                let stays = match (endless || is_doubtful(&seen)) && !asked {
                    true => matches!(
                        self.fairly(&seen, &shrunk.steps, DOUBTED_STEPS)?,
                        Fair::GoesOn { .. }
                    ),
                    false => true,
                };
                match last {
                    Some(last) if stays && self.is_same(Some(&last), &seen, &failure)? => {
                        fewest = shrunk.fewest == Some(last.counters.preemptions);
                        note = shrunk.note;
                        (last, true)
                    }
                    _ => self.as_found(&seen, &failure, again)?,
                }
            }
            _ => (Trace::clone(&seen.trace), false),
        };
        let reproduced = reproduced && (endless || self.replays(&seen, &failure, &trace)?);
        // That it could not be run again in the time that there was says nothing.
        if !reproduced && !fails && self.deadline.is_some_and(|end| Instant::now() >= end) {
            return Ok(false);
        }
        if reproduced && !endless {
            inputs::keep_asked(&mut seen.job.inputs, &trace);
        }
        let mut witness = self.witness(&seen, &failure, &trace, reproduced)?;
        witness.finding.fewest = fewest;
        witness.finding.notes.extend(note);
        // A simpler schedule may do without.
        if needs_time_out && trace.counters.early > 0 {
            witness.finding.time_out = Some(self.early_time_out(&trace)?);
            witness.sites = self.symbols()?.sites().to_vec();
            fails = false;
        }
        if fails {
            self.output.get_or_insert_with(|| Printed::of(&trace));
        }
        self.publish(&witness, fails);
        Ok(fails)
    }

    /// Writes and prints a witness, and puts it on its list.
    fn publish(&mut self, witness: &Witness, fails: bool) {
        // The file that was asked for is for what fails.
        let number = if fails {
            self.findings.len()
        } else {
            self.written + 1
        };
        let place = self.wishes.reports.as_ref().filter(|_| !fails);
        let place = place.unwrap_or(&self.wishes.place);
        let path = place.path(number, witness);
        let written = write_witness(&path, witness);
        let file = written.is_ok().then_some(path.as_path());
        self.written += 1;
        let known = match fails {
            true => self.store(witness, file),
            false => None,
        };
        if self.wishes.print {
            let style = Style {
                brief: !fails,
                ..self.wishes.style
            };
            tell(&report(witness, file, style));
        }
        let found = Found {
            known_since: known.map(|known| known.since),
            ..Found::new(witness, file.map(Into::into))
        };
        match fails {
            true => self.findings.push(found),
            false => self.reports.push(found),
        }
        if let Err(error) = written {
            self.trouble.get_or_insert(error);
        }
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
        let deadline = self.deadline;
        let session = match self.session() {
            Ok(session) => session,
            Err(error) if error.exit == Exit::Interrupted => return Ok(None),
            // It may have removed its own file: what was found is told all the same.
            Err(error) => return Ok(self.not_repeated(&error)),
        };
        session.until(deadline);
        match session.run(job) {
            Ok(trace) => Ok(Some(trace)),
            Err(RunError::Stopped) => Ok(None),
            Err(error) => Ok(self.not_repeated(&error)),
        }
    }

    fn not_repeated(&mut self, why: &dyn std::fmt::Display) -> Option<Trace> {
        let note = format!("an execution was not repeated: {why}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        None
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
            let modules = match &self.modules {
                Some(modules) => modules.clone(),
                None => self.session()?.modules().to_vec(),
            };
            self.symbols = Some(Symbols::new(&modules, &program));
        }
        Ok(self.symbols.as_mut().expect("it has just been put there"))
    }

    /// What of the class of a finding a run shows.
    fn failures(
        &mut self,
        class: Class,
        trace: &Trace,
        expected_output: Option<u64>,
    ) -> Result<Vec<Failure>> {
        let asked = self.interrupt.asked_of_all();
        let symbols = self.symbols()?;
        Ok(match class {
            Class::Race | Class::Leak => {
                let look = || crate::marks::failures(class, trace, symbols);
                stop::unless(&asked, look).unwrap_or_default()
            }
            _ => match class_of(trace, expected_output) {
                Some(class) => vec![describe::failure(class, trace, symbols)],
                None => Vec::new(),
            },
        })
    }

    /// Describes how an execution failed. Where the fingerprint needs to know who called a library,
    /// it is run again for that.
    fn describe_in_depth(&mut self, seen: &Seen) -> Result<Failure> {
        let plain = describe::failure(seen.class, &seen.trace, self.symbols()?);
        let wanted = records_for(&plain, &seen.trace.taken);
        if wanted & !seen.job.flags == 0 {
            return Ok(plain);
        }
        if let Some(known) = self.depths.known(&plain) {
            return Ok(known.clone());
        }
        let Some(again) = self.rerun(&seen.job, &seen.trace.taken, wanted)? else {
            return Ok(plain);
        };
        let found = self.failures(seen.class, &again, seen.expected_output())?;
        let same = found.into_iter().find(|f| f.class == seen.class);
        let failure = same.unwrap_or_else(|| plain.clone());
        self.depths.learn(&plain, &failure);
        Ok(failure)
    }

    /// Did this run fail in the same way?
    fn is_same(&mut self, trace: Option<&Trace>, seen: &Seen, failure: &Failure) -> Result<bool> {
        let Some(trace) = trace else {
            return Ok(false);
        };
        let found = self.failures(seen.class, trace, seen.expected_output())?;
        Ok(found.iter().any(|f| f.is_same(failure)))
    }

    /// Does a rule of the suppression file keep this quiet?
    fn is_suppressed(&mut self, failure: &Failure, trace: &Trace) -> Result<bool> {
        let symbols = self.symbols()?;
        let (stacks, names) = crate::marks::of_failure(failure, trace, symbols);
        let modules = symbols.modules();
        let sites = symbols.sites().to_vec();
        Ok(self.wishes.suppressions.cover(&Case {
            class: failure.class,
            stacks: &stacks,
            names: &names,
            sites: &sites,
            modules: &modules,
        }))
    }

    fn witness(
        &mut self,
        seen: &Seen,
        failure: &Failure,
        trace: &Trace,
        reproduced: bool,
    ) -> Result<Witness> {
        let found = self.failures(seen.class, trace, seen.expected_output())?;
        let same = found.into_iter().find(|f| f.is_same(failure));
        let message = failure.message.clone();
        let mut failure = same.unwrap_or_else(|| failure.clone());
        if seen.class == Class::Livelock {
            // Of the long execution, not of the short one that stands for it.
            failure.message = message;
        }
        let other = self.other(seen, &mut failure, trace)?;
        let asked = self.interrupt.asked_of_all();
        let (policy, seed) = (self.wishes.policy.clone(), self.wishes.seed);
        let symbols = self.symbols()?;
        if seen.job.flags & flags::SPURIOUS != 0 {
            failure.notes.extend(marks::spurious(trace, symbols));
        }
        let told = stop::unless(&asked, || describe::story(trace, symbols));
        let end = told.is_none().then(|| end_of(trace));
        let told_of = end.as_ref().unwrap_or(trace);
        let mut story = told.unwrap_or_else(|| describe::story(told_of, symbols));
        story.place(&mut failure, trace);
        let before = trace.events.len() - told_of.events.len();
        let left_out = before as u64 + leave_out_middle(&mut story.records);
        let faults = crate::faults::notes(&story.records);
        failure.notes.extend(cut_off(trace));
        let finding = Finding {
            class: failure.class.to_string(),
            message: failure.message,
            fingerprint: failure.fingerprint,
            thread: failure.thread.unwrap_or(trace.outcome.thread),
            stack: failure.stack,
            waits: std::mem::take(&mut story.waits),
            notes: [failure.notes, faults, std::mem::take(&mut story.path)].concat(),
            execution: seen.execution,
            preemptions: trace.counters.preemptions,
            found_preemptions: seen.trace.counters.preemptions,
            fewest: false,
            reproduced,
            policy,
            seed,
            uncontrolled: trace.uncontrolled.iter().map(|n| readable(n)).collect(),
            stdout: last_bytes(&trace.stdout),
            stderr: last_bytes(&trace.stderr),
            accesses: failure.accesses,
            threads: failure.threads,
            other,
            time_out: None,
        };
        let recipe = Recipe {
            expected_output: seen.expected_output(),
            ..self.recipe(&seen.job, trace, &story)
        };
        self.assemble(recipe, finding, story, left_out)
    }

    /// What makes an execution repeatable.
    fn recipe(&self, job: &Job, trace: &Trace, story: &Story) -> Recipe {
        Recipe {
            steps: trace.taken.iter().map(|s| (s.what, s.count)).collect(),
            inputs: describe::inputs(&job.inputs, &story.inputs),
            ranges: job.ranges.clone(),
            flags: job.flags & !RECORDING,
            max_steps: job.max_steps,
            timeout_ms: self.setup.limits.wall.as_millis() as u64,
            clock_base: job.clock_base,
            entropy: job.entropy,
            expected_output: None,
            accepted_exits: self.setup.limits.accepted.iter().collect(),
        }
    }

    fn assemble(
        &mut self,
        recipe: Recipe,
        finding: Finding,
        story: Story,
        left_out: u64,
    ) -> Result<Witness> {
        let command = self.setup.command()?;
        let symbols = self.symbols()?;
        Ok(Witness {
            raddle: env!("CARGO_PKG_VERSION").to_string(),
            command,
            modules: symbols.modules(),
            recipe,
            finding,
            sites: symbols.sites().to_vec(),
            objects: story.objects,
            events: story.records,
            events_left_out: left_out,
        })
    }
}

/// So many candidates are tried to simplify what does not fail the run.
const CANDIDATES_OF_A_REPORT: usize = 80;

/// The schedule of these steps of an execution, and of all its choices.
fn schedule_of(events: &[Event], mut is_taken: impl FnMut(&Event, Kind) -> bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for event in events {
        match event.kind() {
            Some(Kind::Choice) => push_step(&mut steps, event.value as u16 | CHOICE_BIT),
            Some(kind) if is_taken(event, kind) => push_step(&mut steps, event.thread),
            _ => {}
        }
    }
    steps
}

/// An execution that is to take the place of one with so many steps may take so many.
fn most_steps(steps: u64) -> u64 {
    steps.saturating_mul(4).saturating_add(10_000)
}

/// What a run of this schedule must record so that a failure can be recognised.
fn records_for(failure: &Failure, steps: &[Step]) -> u32 {
    failure.records & (witness_records(steps) | flags::EVENTS)
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

/// The label under which the summary counts an execution.
pub fn counted(class: Class, trace: &Trace) -> String {
    match class {
        Class::Output => Class::Output.to_string(),
        _ => label(&trace.outcome),
    }
}

/// The class of a run's failure; `None` when it ended well or says nothing.
pub fn class_of(trace: &Trace, expected_output: Option<u64>) -> Option<Class> {
    match meaning(&trace.outcome) {
        Meaning::Finding(class) => Some(class),
        Meaning::Fine if expected_output.is_some_and(|h| h != trace.output_hash()) => {
            Some(Class::Output)
        }
        _ => None,
    }
}

/// What there is to say of an output that was not kept to its end.
fn cut_off(trace: &Trace) -> Option<Note> {
    let more = trace.stdout_rest.bytes();
    let kept = trace.stdout.len();
    (more > 0).then(|| Note {
        text: format!(
            "its standard output was kept up to byte {kept}: {more} more came after that"
        ),
        site: None,
    })
}

fn last_bytes(output: &[u8]) -> Bytes {
    let from = output.len().saturating_sub(OUTPUT_KEPT);
    Bytes(output[from..].to_vec())
}

/// The last events of an execution, where there is no time for all of them.
fn end_of(trace: &Trace) -> Trace {
    const LAST: usize = 1000;
    let from = trace.events.len().saturating_sub(LAST);
    let events = trace.events[from..].to_vec();
    Trace {
        loaded: trace.loaded.clone(),
        ..Trace::new(events, trace.taken.clone(), trace.outcome.clone())
    }
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

/// A record as tests write it.
#[cfg(test)]
fn record(kind: Kind, thread: raddle_protocol::Slot, value: u64) -> Event {
    Event {
        kind: kind as u8,
        thread,
        value,
        ..Default::default()
    }
}
