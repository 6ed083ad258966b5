//! `raddle verify`: all schedules and all inputs of an instrumented program.

use crate::again::Before;
use crate::class::{Class, STEP_LIMIT, label};
use crate::cli::{StrategyName, VerifyOptions};
use crate::corpus::{self, Journal};
use crate::cpp;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::limits::{Given, LAZY_TIME, unseen_modules};
use crate::progress::Progress;
use crate::report::place;
use crate::setup::Setup;
use crate::summary::{Summary, Verdict, Verification, count, instrumented, recount};
use crate::symbols::{Symbols, demangle, readable};
use crate::terminal::Printed;
use crate::triage::{Examined, Seen, Sighted, Triage, class_of};
use crate::unhooked::{self, short};
use crate::watch::{Mark, Treatment};
use crossbeam_channel::{Receiver, Sender, unbounded};
use raddle_analyzer::races::Race;
use raddle_analyzer::verify::{
    self as analyzer, Bounds, Noted, Report, Several, Strategy, Verifier,
};
use raddle_protocol::arena;
use raddle_protocol::job::Job;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_scheduler::{Module, Sanitizers, Session};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Step limit of an execution, where the options name none.
pub const MAX_STEPS: u64 = 100_000;

/// Larger variables are not expected to be shared as a whole.
const EXPECTED_BYTES: u64 = 1024;

/// Why exploration stops after a finding.
const ENOUGH: &str = "a finding";

/// Explores and says what came of it.
pub fn verify(
    setup: &Setup,
    options: &VerifyOptions,
    mut triage: Triage<'_>,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<(Summary, Option<Error>)> {
    let started = Instant::now();
    if options.jobs == 0 {
        return Err(Error::usage("`-j 0` asks for no worker", "give at least 1"));
    }
    if options.spurious && options.strategy != StrategyName::Frontier {
        let strategy = strategy_name(options.strategy);
        return Err(Error::usage(
            format!("`--spurious` and `--strategy {strategy}` exclude each other"),
            "only the strategy frontier lets waits end for no reason",
        ));
    }
    let workers = usize::from(options.jobs);
    let modules = setup.session(&interrupt.search)?.modules().to_vec();
    check_instrumented(setup, &modules)?;
    triage.know(&modules);
    let strategy = match options.strategy {
        StrategyName::Frontier => Strategy::Frontier,
        StrategyName::MpcS1 => Strategy::MpcS1,
        StrategyName::MpcS2 => Strategy::MpcS2,
        StrategyName::Mcr => Strategy::Mcr,
    };
    let bounds = Bounds {
        executions: options.max_executions,
        // The whole command has a limit.
        time: None,
        steps: setup.base.max_steps,
        branches: options.loop_bound,
    };
    let (journal, earlier) = match &options.corpus {
        Some(dir) => {
            let (journal, earlier) = journal(dir, setup, options, &modules)?;
            (Some(journal), earlier)
        }
        None => (None, Vec::new()),
    };
    let mut exploration = Exploration {
        options,
        verifier: Verifier::new(strategy, bounds),
        triage,
        progress,
        journal,
        summary: Summary::new(strategy_name(options.strategy).to_string(), 0),
        uncontrolled: BTreeSet::new(),
        given: 0,
        failed: None,
        first: None,
        changed: None,
        found: 0,
        examining: Duration::ZERO,
    };
    if options.spurious {
        exploration.verifier.allow_spurious();
    }
    if options.races.races != Treatment::Off {
        exploration.verifier.look_for_races();
    }
    let mut symbols = Symbols::new(&modules, &setup.program.path);
    let globals = symbols.instrumented_variables(EXPECTED_BYTES);
    // The heap of a program at fixed addresses is at low ones, too.
    let low = globals.iter().any(|&(start, _)| start < arena::LOW_END);
    let low = low.then_some((arena::LOW_BASE, arena::LOW_END));
    let heap = [(arena::BASE, arena::END)].into_iter().chain(low);
    (exploration.verifier).expect_shared(globals.into_iter().chain(heap));
    let verifier = &mut exploration.verifier;
    verifier.stop_when(interrupt.asked_of_search());
    if !earlier.is_empty() {
        let again = count(earlier.len() as u64, "execution");
        let note = format!("{again} of earlier runs were done again");
        exploration.summary.notes.push(note);
    }
    let explore = |crew: &Crew| {
        for some in earlier.chunks(workers) {
            exploration.run(crew, some.to_vec(), Origin::Journal)?;
        }
        loop {
            match exploration.verifier.next_several(workers) {
                Several::Done(report) => {
                    let symbols = || Symbols::new(&modules, &setup.program.path);
                    exploration.run_the_first_again(crew, symbols);
                    return Ok(report);
                }
                Several::Run(jobs) => {
                    let jobs = jobs.into_iter().map(|job| with_base(job, &setup.base));
                    exploration.run(crew, jobs.collect(), Origin::Search)?;
                }
            }
        }
    };
    let explored = || crew(workers, setup, interrupt, explore);
    let report = explored()?;
    let examining = exploration.examining;
    exploration.triage.look_into_the_rest()?;
    let left_out = exploration.verifier.races_left_out();
    let mut given = Given::of(exploration.given, setup.seed);
    given.bounds.extend(exploration.changed.take());
    let (mut summary, trouble, fault) = exploration.done();
    summary.notes.extend(left_out.into_iter().map(String::from));
    summary.note_if_only_assumed();
    summary.instrumented = instrumented(&modules);
    summary.interrupted = interrupt.requested();
    let took = started.elapsed();
    summary.took(took, took.saturating_sub(examining));
    let job_flags = setup.base.flags;
    conclude(
        &mut summary,
        &report,
        job_flags,
        setup.program.sanitizers,
        given,
        &modules,
        &mut symbols,
    );
    if let Some(fault) = &fault
        && summary.verdict != Verdict::Finding
    {
        summary.verdict = match fault.exit {
            Exit::Unsupported => Verdict::Unsupported,
            _ => Verdict::ToolFault,
        };
    }
    Ok((summary, trouble.or(fault)))
}

/// The journal of this search, and what is in it.
fn journal(
    dir: &Path,
    setup: &Setup,
    options: &VerifyOptions,
    modules: &[Module],
) -> Result<(Journal, Vec<Job>)> {
    if options.strategy != StrategyName::Frontier {
        return Err(Error::usage(
            format!(
                "`--corpus` and `--strategy {}` exclude each other",
                strategy_name(options.strategy)
            ),
            "only the strategy frontier goes on from what was executed",
        ));
    }
    let key = corpus::verification(setup, modules, options.loop_bound)?;
    Journal::open(dir, key)
}

/// Workers that run jobs, each in a session of its own.
struct Crew {
    jobs: Sender<(usize, Job)>,
    traces: Receiver<(usize, std::result::Result<Trace, Error>)>,
}

impl Crew {
    /// Runs all jobs at the same time; the results in the jobs' order. An [`Exit::Interrupted`]
    /// one was stopped.
    fn run(&self, jobs: &[Job]) -> Vec<std::result::Result<Trace, Error>> {
        let gone = || Err(Error::fault("a worker has ended"));
        let mut results: Vec<_> = jobs.iter().map(|_| gone()).collect();
        let sent = jobs.iter().cloned().enumerate();
        // A worker that cannot be reached leaves its result as it is.
        let sent = sent
            .filter(|job| self.jobs.send(job.clone()).is_ok())
            .count();
        for _ in 0..sent {
            match self.traces.recv() {
                Ok((n, result)) => results[n] = result,
                Err(_) => break,
            }
        }
        results
    }
}

/// Calls `work` with so many workers, which end with it.
fn crew<T>(
    workers: usize,
    setup: &Setup,
    interrupt: &Interrupt,
    work: impl FnOnce(&Crew) -> Result<T>,
) -> Result<T> {
    let (jobs, inbox) = unbounded::<(usize, Job)>();
    let (outbox, traces) = unbounded();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (inbox, outbox) = (inbox.clone(), outbox.clone());
            scope.spawn(move || {
                let mut session = None;
                for (n, job) in inbox {
                    let result = run(&mut session, setup, interrupt, &job);
                    if outbox.send((n, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop((inbox, outbox));
        work(&Crew { jobs, traces })
    })
}

/// Runs a job in a session that is started for the first one.
fn run(
    session: &mut Option<Session>,
    setup: &Setup,
    interrupt: &Interrupt,
    job: &Job,
) -> Result<Trace> {
    if session.is_none() {
        *session = Some(setup.session(&interrupt.search)?);
    }
    let session = session.as_mut().expect("it has just been put there");
    Ok(session.run(job)?)
}

/// Where a job comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Search,
    /// An earlier run had it from its search.
    Journal,
}

/// What is learnt from executions.
struct Exploration<'a> {
    options: &'a VerifyOptions,
    verifier: Verifier,
    triage: Triage<'a>,
    progress: &'a Progress,
    journal: Option<Journal>,
    summary: Summary,
    uncontrolled: BTreeSet<String>,
    /// Bits of [`raddle_protocol::shared::given`].
    given: u64,
    /// What keeps the exploration from its end.
    failed: Option<Error>,
    first: Option<Before>,
    /// How that goes another way at the end.
    changed: Option<String>,
    found: u64,
    /// How long it took to look into what was found.
    examining: Duration,
}

impl Exploration<'_> {
    /// Runs jobs and learns from them in their order, up to one that cannot be run, which ends the
    /// exploration.
    fn run(&mut self, crew: &Crew, jobs: Vec<Job>, origin: Origin) -> Result<()> {
        let results = crew.run(&jobs);
        for (job, result) in jobs.into_iter().zip(results) {
            match result {
                Ok(trace) => {
                    if let (Origin::Search, Some(journal)) = (origin, &mut self.journal) {
                        journal.add(&job)?;
                    }
                    self.learn(job, trace)?;
                }
                Err(error) if error.exit == Exit::Interrupted => return Ok(()),
                Err(error) => {
                    self.verifier.stop("an execution could not be run");
                    self.failed = Some(error);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn learn(&mut self, job: Job, trace: Trace) -> Result<()> {
        self.summary.executions += 1;
        self.first.get_or_insert_with(|| Before::of(&job, &trace));
        let mut races = Vec::new();
        let mut comes_again = false;
        for noted in self.verifier.observe(&job, &trace) {
            match noted {
                Noted::Corrupt(what) => {
                    self.verifier
                        .stop("an execution left records that make no sense");
                    self.failed = Some(Error::new(
                        Exit::Unsupported,
                        format!("the program overwrote raddle's records: {what}"),
                        "a wild write; look for it with AddressSanitizer",
                    ));
                }
                Noted::NewPaths(_) if self.options.keep.is_some() => {
                    let number = self.summary.executions;
                    self.triage.keep_path(number, &job, &trace)?;
                }
                Noted::NewShared(_) => {
                    self.triage.start_anew();
                    // The limit of the first execution is not the user's.
                    comes_again = trace.outcome.end == End::StepLimit;
                }
                Noted::Race(race) => races.push(race),
                _ => {}
            }
        }
        for race in races {
            self.tell_race(race, &job, &trace)?;
        }
        if !comes_again {
            let label = label(&trace.outcome);
            let first = || Printed::of(&trace);
            self.summary.output.get_or_insert_with(first);
            *self.summary.outcomes.entry(label).or_default() += 1;
        }
        let names = trace.uncontrolled.iter().map(|name| readable(name));
        self.uncontrolled.extend(names);
        self.given |= trace.counters.given;
        self.progress.executions(self.summary.executions);
        match class_of(&trace, None) {
            Some(class) if !comes_again => self.examine(class, job, trace),
            _ => Ok(()),
        }
    }

    /// All have been run: does the first one go as it did?
    fn run_the_first_again(&mut self, crew: &Crew, symbols: impl FnOnce() -> Symbols) {
        let matters = self.found == 0 && self.failed.is_none() && self.uncontrolled.is_empty();
        let first = self.first.take_if(|_| matters);
        let run = |job: &Job| crew.run(std::slice::from_ref(job)).pop()?.ok();
        self.changed = first.and_then(|first| first.changed(run, symbols));
    }

    fn tell_race(&mut self, race: Race, job: &Job, trace: &Trace) -> Result<()> {
        let sighted = Sighted {
            execution: self.summary.executions,
            mark: Mark::Race(race),
            job: job.clone(),
            trace: Arc::new(trace.clone()),
        };
        let triage = &mut self.triage;
        let started = Instant::now();
        let is_finding = self.progress.aside(|| triage.look_into(sighted))?;
        self.examining += started.elapsed();
        if is_finding {
            self.count_finding();
        }
        Ok(())
    }

    fn count_finding(&mut self) {
        self.found += 1;
        self.progress.say(format!("{} failing", self.found));
        if !self.options.findings.keep_going {
            self.verifier.stop(ENOUGH);
        }
    }

    fn examine(&mut self, class: Class, job: Job, trace: Trace) -> Result<()> {
        let seen = Seen {
            execution: self.summary.executions,
            class,
            job,
            trace: Arc::new(trace),
            reference: None,
        };
        let triage = &mut self.triage;
        let started = Instant::now();
        let examination = self.progress.aside(|| triage.examine(seen))?;
        self.examining += started.elapsed();
        if examination.examined == Examined::Endless {
            recount(&mut self.summary.outcomes, class, STEP_LIMIT.to_string());
        }
        if let Some(refuted) = examination.refuted {
            recount(&mut self.summary.outcomes, class, refuted.label);
        }
        if examination.examined == Examined::Finding {
            self.count_finding();
        }
        Ok(())
    }

    /// All that came of the executions, a witness that could not be written, and what kept the
    /// exploration from its end.
    fn done(mut self) -> (Summary, Option<Error>, Option<Error>) {
        if !self.verifier.was_stopped() {
            self.triage.forget_earlier_paths();
        }
        // The command ends; to free all that a large search knows would take seconds.
        std::mem::forget(self.verifier);
        let mut summary = self.summary;
        let notes = std::mem::take(&mut summary.notes);
        let gathered = self.triage.done();
        let trouble = gathered.trouble.clone();
        let first = summary.output.take();
        summary.gathered(gathered);
        summary.output = summary.output.take().or(first);
        summary.notes.extend(notes);
        summary.uncontrolled = self.uncontrolled.into_iter().collect();
        let fault = self.failed.filter(|e| e.exit != Exit::Interrupted);
        (summary, trouble, fault)
    }
}

fn strategy_name(strategy: StrategyName) -> &'static str {
    match strategy {
        StrategyName::Frontier => "frontier",
        StrategyName::MpcS1 => "mpc-s1",
        StrategyName::MpcS2 => "mpc-s2",
        StrategyName::Mcr => "mcr",
    }
}

/// What the options say about every execution goes into each job of the analyzer.
fn with_base(mut job: Job, base: &Job) -> Job {
    job.flags |= base.flags & (flags::KERNEL_THREADS | flags::LAZY_TIME | flags::RUN_SPINS);
    job.clock_base = base.clock_base;
    job.entropy = base.entropy;
    job
}

fn check_instrumented(setup: &Setup, modules: &[Module]) -> Result<()> {
    if modules.iter().any(|m| m.instrumented) {
        return Ok(());
    }
    Err(Error::new(
        Exit::Unsupported,
        format!(
            "{}: was not built with raddle cc",
            setup.program.path.display()
        ),
        "build it with CC=\"raddle cc\" CXX=\"raddle c++\"; `raddle run` takes it as it is",
    ))
}

fn place_of(pc: u64, symbols: &mut Symbols) -> String {
    let site = symbols.site(pc);
    place(&symbols.sites()[site as usize])
}

/// Where threads were that are followed no further (`--loop-bound`).
fn last_decisions(at: &[u64], symbols: &mut Symbols) -> Option<String> {
    const SHOWN: usize = 5;
    let mut places = Vec::new();
    for &pc in at {
        let place = place_of(pc, symbols);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let more = match places.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    places.truncate(SHOWN);
    match places.is_empty() {
        true => None,
        false => Some(format!(
            "the last decisions followed (--loop-bound): at {}{more}",
            places.join(", ")
        )),
    }
}

fn conclude(
    summary: &mut Summary,
    report: &Report,
    job_flags: u32,
    sanitizers: Sanitizers,
    given: Given,
    modules: &[Module],
    symbols: &mut Symbols,
) {
    let mut bounds: Vec<String> = Vec::new();
    if let analyzer::Verdict::VerifiedWithinBounds(why) = &report.verdict
        && why != ENOUGH
    {
        bounds.push(why.clone());
    }
    if job_flags & flags::FAULTS != 0 {
        bounds.push("`verify` tries no faults".into());
    }
    if job_flags & flags::LAZY_TIME != 0 {
        bounds.push(LAZY_TIME.into());
    }
    let known = [cpp::LIBRARY];
    bounds.extend(unseen_modules(modules, &known, |module| {
        module.instrumented
    }));
    bounds.extend(sanitizers.bound().map(String::from));
    bounds.extend(cpp::unseen_calls(modules));
    let files = unhooked::files(modules);
    bounds.extend(unhooked::bounds(&files));
    bounds.extend(unhooked::left_out(&files));
    for name in &summary.uncontrolled {
        bounds.push(format!("not under control: {name}"));
    }
    for unreached in &report.unreached {
        let at = unreached.at.iter().map(|&pc| place_of(pc, symbols));
        let places: Vec<String> = at.filter(|place| !place.is_empty()).collect();
        let places = match places.is_empty() {
            // Of a timer that expires, for one.
            true => "no line of the program".to_string(),
            false => places.join(" and "),
        };
        let bound = format!("not reached: {} at {places}", unreached.what);
        if !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }
    bounds.extend(given.bounds);
    bounds.extend(last_decisions(&report.bounded_at, symbols));
    summary.verdict = match (summary.findings.is_empty(), bounds.is_empty()) {
        (false, _) => Verdict::Finding,
        // What was stopped by hand claims nothing.
        (true, _) if summary.interrupted => Verdict::NothingFoundWithinBounds,
        (true, true) => Verdict::Verified,
        (true, false) => Verdict::VerifiedWithinBounds,
    };
    summary.complete = report.verdict == analyzer::Verdict::Verified && bounds.is_empty();
    let mut concretised = Vec::new();
    for entry in &report.concretised {
        let what = match entry.function.as_str() {
            "" => entry.why.text().to_string(),
            name => format!("what {} reads", short(&demangle(name))),
        };
        concretised.push(format!(
            "{what} at {} ({})",
            place_of(entry.pc, symbols),
            count(entry.count, "time")
        ));
    }
    summary.verify = Some(Verification {
        queries: report.queries,
        spared_queries: report.spared,
        local_paths: report.local_paths,
        solver_seconds: report.solver_ms / 1e3,
        encoding_seconds: report.encoding_ms / 1e3,
        executing_seconds: report.executing_ms / 1e3,
        assumptions: [&report.assumptions[..], &given.assumptions].concat(),
        concretised,
        bounds,
    });
}
