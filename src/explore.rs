//! `raddle run`: many executions of one program, each under another schedule.

use crate::class::{Class, Meaning, label, meaning};
use crate::corpus::names::Names;
use crate::corpus::{Keeper, Verdict as Remembered};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::limits::{LONG_BLOCKS, Limits, left_out, shares_long_blocks, unseen_modules};
use crate::policy::{Executions, Policy};
use crate::progress::Progress;
use crate::setup::Setup;
use crate::summary::{
    Found, Summary, Verdict, count, instrumented, recount, sees_accesses, sees_memory,
};
use crate::symbols::readable;
use crate::triage::{
    Examination, Examined, Reference, Refuted, Seen, Sighted, Triage, class_of, counted,
};
use crate::unhooked;
use crate::watch::{Key, Lookout, Mark, Treatment, Watch};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use raddle_analyzer::hapset::knowledge::Places;
use raddle_analyzer::search::{Next, Search, Standing};
use raddle_protocol::event::Kind;
use raddle_protocol::job::Job;
use raddle_protocol::libraries::RUNTIMES;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::fnv1a;
use raddle_scheduler::{RunError, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Which executions are wanted.
pub struct Campaign {
    pub policy: Policy,
    pub seed: u64,
    /// `None`: no limit.
    pub executions: Option<u64>,
    pub time: Option<Duration>,
    pub workers: u16,
    pub keep_going: bool,
    pub same_output: bool,
    /// The standard output that every execution must have.
    pub reference: Option<Arc<Reference>>,
    pub watch: Watch,
    /// What is not under control is an error.
    pub strict: bool,
    /// The corpus that the search goes on from and adds to.
    pub keeper: Option<Arc<Keeper>>,
}

impl Campaign {
    /// Hash of the standard output that every execution must have.
    pub fn expected_output(&self) -> Option<u64> {
        self.reference.as_ref().map(|reference| reference.hash)
    }
}

/// Runs the campaign and says what came of it.
pub fn explore(
    setup: &Setup,
    campaign: &Campaign,
    mut triage: Triage<'_>,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<(Summary, Option<Error>)> {
    let started = Instant::now();
    let search = Shared::new(setup, campaign, started, interrupt)?;
    let (reports, inbox) = bounded(usize::from(campaign.workers));
    let explored = || {
        std::thread::scope(|scope| {
            for _ in 0..campaign.workers {
                let reports = reports.clone();
                scope.spawn(|| work(setup, &search, interrupt, reports));
            }
            drop(reports);
            let result = attend(inbox, &search, &mut triage, campaign, progress);
            search.finish();
            result
        })
    };
    let left = search
        .deadline
        .map(|d| d.saturating_duration_since(Instant::now()));
    let examining = interrupt.within(left, explored)?;
    let gathered = triage.done();
    let trouble = gathered.trouble.clone();
    let mut summary = Summary::new(campaign.policy.to_string(), campaign.seed);
    summary.gathered(gathered);
    summary.interrupted = interrupt.requested();
    let keeper = campaign.keeper.as_deref();
    let (frontier, complete) = {
        let state = search.state();
        (state.frontier(), state.search.standing().complete)
    };
    if let Some(keeper) = keeper.filter(|_| complete) {
        keeper.add_findings(&mut summary)?;
    }
    let fault = search.conclude(&mut summary);
    let unsaved = keeper.and_then(|keeper| settle(keeper, frontier, &mut summary));
    // With one worker, which waits meanwhile, looking at findings is not searching.
    let aside = match campaign.workers {
        1 => examining,
        _ => Duration::ZERO,
    };
    summary.took(started.elapsed(), started.elapsed().saturating_sub(aside));
    Ok((summary, trouble.or(unsaved).or(fault)))
}

/// Stores the end of the run in the corpus.
fn settle(keeper: &Keeper, frontier: Option<Vec<u64>>, summary: &mut Summary) -> Option<Error> {
    let verdict = summary
        .complete
        .then(|| Remembered::of(summary, keeper.series.executions));
    let (account, trouble) = keeper.finish(frontier, verdict);
    summary.corpus = account;
    let begun = keeper.series.begun;
    summary.notes.extend(begun.text().map(str::to_string));
    if keeper.series.shared {
        summary.notes.push(
            "another run explores the same with this corpus; what is left to explore is noted by \
             that one"
                .to_string(),
        );
    }
    trouble
}

/// Examines what the workers report until all of them have ended; how long that took. On an error
/// the inbox is dropped, which releases the workers that wait for an answer.
fn attend(
    inbox: Receiver<Report>,
    search: &Shared<'_>,
    triage: &mut Triage<'_>,
    campaign: &Campaign,
    progress: &Progress,
) -> Result<Duration> {
    let mut found = 0u64;
    let mut examining = Duration::ZERO;
    loop {
        {
            let state = search.state();
            progress.executions(state.executions);
            progress.pairs(state.search.pairs_seen());
        }
        let Report { what, proceed } = match inbox.recv_timeout(Duration::from_millis(200)) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(examining),
        };
        let started = Instant::now();
        let n = match &what {
            What::Failed(seen) => Some(seen.execution - 1),
            What::Shown(_) => None,
        };
        let examination = progress.aside(|| match what {
            What::Failed(seen) => triage.examine(seen),
            What::Shown(sighted) => Ok(Examination {
                examined: match triage.look_into(sighted)? {
                    true => Examined::Finding,
                    false => Examined::Suppressed,
                },
                refuted: None,
            }),
        })?;
        let examined = examination.examined;
        examining += started.elapsed();
        if let (Some(keeper), Some(n)) = (&campaign.keeper, n) {
            keeper.examined(n);
        }
        {
            let mut state = search.state();
            state.unexamined -= u64::from(n.is_some());
            match examined {
                Examined::Finding => found += 1,
                Examined::Known => state.known += 1,
                Examined::Unfair | Examined::Suppressed => {}
            }
            if examined == Examined::Finding && !campaign.keep_going {
                state.finished = true;
            }
            if let Some(refuted) = examination.refuted {
                search.refuted(&mut state, refuted)?;
            }
            search.changed.notify_all();
        }
        progress.say(format!("{found} failing"));
        // A worker that waits for the answer is still there; any other outcome is fine as well.
        let _ = proceed.send(());
    }
}

/// What a worker has come upon; it waits until that has been examined.
struct Report {
    what: What,
    proceed: Sender<()>,
}

enum What {
    /// An execution that failed.
    Failed(Seen),
    /// One that shows something besides.
    Shown(Sighted),
}

/// Said where races are asked for and cannot be judged.
const NO_RACES: &str = "races were not looked for: of the accesses to memory only atomic \
                        operations are seen";

/// Said where nothing was found in a program without hooks.
const ONLY_CALLS: &str = "only calls were places to switch: no module was built with `raddle cc` or \
                          `raddle cargo`";

/// Has something examined; `false` when nobody does so any more.
fn report(reports: &Sender<Report>, what: What) -> bool {
    let (proceed, answer) = bounded(1);
    reports.send(Report { what, proceed }).is_ok() && answer.recv().is_ok()
}

/// One worker: takes jobs from the search until there are no more.
fn work(setup: &Setup, search: &Shared<'_>, interrupt: &Interrupt, reports: Sender<Report>) {
    let mut session = match setup.session(&interrupt.search) {
        Ok(session) => session,
        Err(error) => return search.failed(error),
    };
    {
        let mut state = search.state();
        state.instrumented = instrumented(session.modules());
        state.sees_memory = sees_memory(session.modules());
        state.unseen_modules = unseen_modules(session.modules(), &RUNTIMES, sees_accesses);
        if search.campaign.policy.executions() == Some(Executions::All) {
            let files = unhooked::files(session.modules());
            state.unseen_modules.extend(unhooked::bounds(&files));
            let unknown = unhooked::unknown_calls(session.modules(), &files);
            state.unseen_modules.extend(unknown);
        }
    }
    // What the systematic searches promise is about calls alone.
    let returns = match search.campaign.policy.executions() {
        None if !sees_memory(session.modules()) => flags::RETURNS,
        _ => 0,
    };
    while let Some((n, mut job)) = search.next() {
        job.flags |= returns;
        let started = Instant::now();
        let trace = match search.run(&mut session, &job) {
            Ok(trace) => trace,
            Err(RunError::Stopped) => return search.lost(n, !interrupt.requested()),
            Err(error) => return search.failed(error.into()),
        };
        let took = started.elapsed();
        let failed = search.observe(n, &trace);
        let marks = search.new_marks(n, &trace, took);
        let mut proceed = true;
        // What it was asked for besides is in the steps that it took.
        let repeatable = || Job {
            constraints: Vec::new(),
            sleepers: Vec::new(),
            ..job.clone()
        };
        if let Some((class, reference)) = failed {
            let seen = Seen {
                execution: n + 1,
                class,
                job: repeatable(),
                trace: trace.clone(),
                reference,
            };
            proceed = report(&reports, What::Failed(seen));
        }
        for mark in marks {
            let sighted = Sighted {
                execution: n + 1,
                mark,
                job: repeatable(),
                trace: trace.clone(),
            };
            proceed = proceed && report(&reports, What::Shown(sighted));
        }
        if !proceed {
            return;
        }
    }
}

/// Runs a job, again where the process that is cloned went away.
fn run(session: &mut Session, job: &Job) -> std::result::Result<Trace, RunError> {
    for _ in 0..RETRIES {
        match session.run(job) {
            Err(RunError::ServerGone { .. } | RunError::ServerSilent) => {}
            result => return result,
        }
    }
    session.run(job)
}

/// So often in a row the program is started anew when the process that is cloned went away.
const RETRIES: u32 = 3;

/// What all workers share.
struct Shared<'a> {
    setup: &'a Setup,
    campaign: &'a Campaign,
    interrupt: &'a Interrupt,
    deadline: Option<Instant>,
    state: Mutex<State>,
    /// An execution was observed or lost, or the search is over.
    changed: Condvar,
    lookout: Lookout,
}

struct State {
    search: Box<dyn Search>,
    /// Executions handed out; their numbers, where there is no corpus that gives them.
    next: u64,
    finished: bool,
    executions: u64,
    outcomes: BTreeMap<String, u64>,
    limits: Limits,
    /// Executions under way, and those of them that belong to a search that was begun again.
    out: BTreeSet<u64>,
    stale: BTreeSet<u64>,
    /// Failing executions that are not examined yet.
    unexamined: u64,
    /// Executions before the search was begun again.
    in_vain: Option<u64>,
    instrumented: BTreeMap<String, String>,
    /// Some module's accesses to memory are steps.
    sees_memory: bool,
    /// Modules whose accesses are not, as bounds.
    unseen_modules: BTreeSet<String>,
    /// Findings of earlier runs, with `--new-only`.
    known: u64,
    /// Executions that were under way when the time was up.
    cut_off: u64,
    unsupported: Option<String>,
    /// How an execution left its schedule.
    astray: Option<String>,
    fault: Option<Error>,
    reference: Option<Arc<Reference>>,
    /// What the first execution printed.
    output: Option<Vec<u8>>,
    /// What executions have shown besides their ends.
    marks: BTreeMap<Key, u32>,
}

/// The search that the campaign wants, at its start.
fn begin(setup: &Setup, campaign: &Campaign, interrupt: &Interrupt) -> Result<Box<dyn Search>> {
    let history = campaign.keeper.as_deref().and_then(Keeper::history);
    let places = || -> Result<Box<dyn Places>> {
        let session = setup.session(&interrupt.search)?;
        Ok(Box::new(Names::new(session.modules(), &setup.program.path)))
    };
    let expects = campaign.same_output && campaign.reference.is_none();
    campaign
        .policy
        .search(campaign.seed, expects, history, places)
}

impl<'a> Shared<'a> {
    fn new(
        setup: &'a Setup,
        campaign: &'a Campaign,
        started: Instant,
        interrupt: &'a Interrupt,
    ) -> Result<Shared<'a>> {
        let mut search = begin(setup, campaign, interrupt)?;
        let mut reference = campaign.reference.clone();
        let mut limits = Limits::default();
        if let Some(keeper) = &campaign.keeper {
            let series = &keeper.series;
            reference = reference.or_else(|| series.expected_output.map(Reference::remembered));
            if let Some(saved) = &series.frontier {
                let taken = Limits::take(saved).filter(|(_, saved)| search.restore(saved));
                limits = taken.ok_or_else(|| keeper.unusable())?.0;
            }
        }
        Ok(Shared {
            setup,
            campaign,
            interrupt,
            deadline: campaign.time.map(|time| started + time),
            state: Mutex::new(State {
                search,
                next: 0,
                finished: false,
                out: BTreeSet::new(),
                stale: BTreeSet::new(),
                unexamined: 0,
                in_vain: None,
                executions: 0,
                outcomes: BTreeMap::new(),
                limits,
                instrumented: BTreeMap::new(),
                sees_memory: false,
                unseen_modules: BTreeSet::new(),
                known: 0,
                cut_off: 0,
                unsupported: None,
                astray: None,
                fault: None,
                reference,
                output: None,
                marks: BTreeMap::new(),
            }),
            changed: Condvar::new(),
            lookout: Lookout::new(campaign.watch),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing more is to be run.
    fn finish(&self) {
        self.state().finished = true;
        self.changed.notify_all();
    }

    /// The next job and its number, from 0. Waits while the search has to.
    fn next(&self) -> Option<(u64, Job)> {
        let mut state = self.state();
        loop {
            let most = self.campaign.executions;
            let enough = most.is_some_and(|most| state.next >= most);
            let late = self.deadline.is_some_and(|d| Instant::now() >= d);
            if state.finished || enough || late {
                return None;
            }
            let keeper = self.campaign.keeper.as_deref();
            let n = match keeper.map_or(Ok(state.next), Keeper::number) {
                Ok(n) => n,
                Err(error) => {
                    drop(state);
                    self.failed(error);
                    return None;
                }
            };
            match state.search.next(n) {
                Next::Run(plan) => {
                    state.next += 1;
                    let mut job = self.setup.base.clone();
                    job.prefix = plan.prefix;
                    job.tail = plan.tail;
                    job.constraints = plan.constraints;
                    job.sleepers = plan.sleepers;
                    job.flags |= plan.flags | self.campaign.policy.flags();
                    if let Some(keeper) = keeper {
                        keeper.take();
                        job.flags |= keeper.flags(n);
                    }
                    job.flags |= self.lookout.flags(n);
                    if !state.limits.doubted.is_empty() {
                        job.flags |= flags::DOUBT_SPINS;
                    }
                    state.out.insert(n);
                    return Some((n, job));
                }
                Next::Done if state.unexamined == 0 => {
                    drop(state);
                    self.finish();
                    return None;
                }
                // What is being examined may let the search begin again.
                Next::Wait | Next::Done => {
                    let waited = self.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// An execution came to an end that seemed to have none. Where loops were taken for endless that
    /// are not, what comes after them was not explored: a search that is to end begins again.
    fn refuted(&self, state: &mut State, refuted: Refuted) -> Result<()> {
        recount(&mut state.outcomes, Class::Livelock, refuted.label);
        let exhaustive = self.campaign.policy.flags() & flags::EXACT_SPINS != 0;
        let first = state.limits.doubted.is_empty();
        let taken_for_endless = !refuted.loops.is_empty() && !refuted.doubted;
        state.limits.doubted.extend(refuted.loops);
        if !exhaustive || !taken_for_endless {
            state.limits.unfair += 1;
        } else if first {
            state.search = begin(self.setup, self.campaign, self.interrupt)?;
            state.stale = state.out.clone();
            (state.limits.unfair, state.limits.fair_only) = (0, false);
            state.in_vain = Some(state.executions);
        }
        Ok(())
    }

    /// Runs a job; without records where they would be too many.
    fn run(&self, session: &mut Session, job: &Job) -> std::result::Result<Trace, RunError> {
        match run(session, job) {
            Err(RunError::TooManyRecords { .. }) if self.lookout.too_many_records() => {
                let mut plain = job.clone();
                plain.flags &= !flags::EVENTS;
                run(session, &plain)
            }
            result => result,
        }
    }

    /// What an execution shows besides its end and none before it has shown.
    fn new_marks(&self, n: u64, trace: &Trace, took: Duration) -> Vec<Mark> {
        let mut marks = self.lookout.look(n, trace, took);
        let mut state = self.state();
        let judges_races = state.judges_races();
        marks.retain(|mark| match mark {
            Mark::Race(_) if !judges_races => false,
            // Worth another try from another execution.
            Mark::Cycle(_) => !state.finished || self.campaign.keep_going,
            _ => {
                let sightings = state.marks.entry(mark.key(trace)).or_default();
                *sightings += 1;
                *sightings <= mark.attempts()
            }
        });
        marks
    }

    /// Counts an execution; its class and the output that was expected if it failed.
    fn observe(&self, n: u64, trace: &Trace) -> Option<(Class, Option<Arc<Reference>>)> {
        let mut events = trace.events.iter();
        let passed_over = events.any(|e| e.kind() == Some(Kind::PassedOver));
        let mut state = self.state();
        state.executions += 1;
        state.output.get_or_insert_with(|| trace.stdout.clone());
        state.out.remove(&n);
        let names: Vec<String> = trace.uncontrolled.iter().map(|n| readable(n)).collect();
        state.limits.uncontrolled.extend(names.iter().cloned());
        if !state.stale.remove(&n) {
            state.search.observe(n, trace);
        }
        state.limits.fair_only |= passed_over;
        let exhaustive = self.campaign.policy.executions() == Some(Executions::All);
        if exhaustive && shares_long_blocks(&trace.events) {
            state.limits.uncontrolled.insert(LONG_BLOCKS.into());
        }
        self.changed.notify_all();
        if self.campaign.strict && !trace.uncontrolled.is_empty() {
            let names = names.join(", ");
            let what = format!("not under control, which --strict forbids: {names}");
            state.unsupported.get_or_insert(what);
            state.finished = true;
        }
        let means = meaning(&trace.outcome);
        let fine = means == Meaning::Fine;
        if self.campaign.same_output && fine && state.reference.is_none() {
            let reference = Reference {
                what: format!("execution {}, with the output that was expected", n + 1),
                hash: fnv1a(&trace.stdout),
                stdout: Some(trace.stdout.clone()),
                taken: trace.taken.clone(),
            };
            let hash = reference.hash;
            self.campaign.keeper.iter().for_each(|k| k.expect(hash));
            state.reference = Some(Arc::new(reference));
        }
        let expected = state.reference.as_ref().map(|r| r.hash);
        let class = class_of(trace, expected);
        state.unexamined += u64::from(class.is_some());
        let label = class.map_or_else(|| label(&trace.outcome), |class| counted(class, trace));
        *state.outcomes.entry(label).or_default() += 1;
        let message = &trace.outcome.message;
        match means {
            Meaning::Diverged => {
                state.limits.diverged += 1;
                state.astray.get_or_insert_with(|| message.clone());
            }
            Meaning::Unsupported => {
                state.unsupported.get_or_insert_with(|| message.clone());
                state.finished = true;
            }
            Meaning::ToolFault => {
                let text = format!("execution {}: the runtime failed: {message}", n + 1);
                state.fault.get_or_insert_with(|| Error::fault(text));
                state.finished = true;
            }
            Meaning::Fine | Meaning::Finding(_) | Meaning::Void => {}
        }
        let reference = state.reference.clone();
        let due = self.campaign.keeper.as_deref().and_then(|keeper| {
            let due = keeper.observed(n, trace, class.is_some());
            due.then(|| (keeper, keeper.collect(state.frontier())))
        });
        drop(state);
        if let Some((keeper, pending)) = due {
            keeper.write(pending);
        }
        class.map(|class| (class, reference))
    }

    /// Execution `n` came to nothing; `late`: since the time was up.
    fn lost(&self, n: u64, late: bool) {
        let mut state = self.state();
        state.out.remove(&n);
        if !state.stale.remove(&n) {
            state.search.lost(n);
        }
        state.cut_off += u64::from(late);
        drop(state);
        self.changed.notify_all();
    }

    /// A worker could not go on.
    fn failed(&self, error: Error) {
        self.state().fault.get_or_insert(error);
        self.finish();
    }

    /// Fills in the summary; an error that is to be shown besides.
    fn conclude(self, summary: &mut Summary) -> Option<Error> {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut standing = state.search.standing();
        if self.campaign.policy.executions() == Some(Executions::All) {
            standing.bounds.extend(state.limits.bounds());
            standing.bounds.extend(state.unseen());
            let left_out = left_out(self.setup.base.flags);
            standing.bounds.extend(left_out.map(String::from));
        }
        let astray = standing.mismatches.max(state.limits.diverged);
        summary.executions = state.executions;
        summary.complete = standing.complete && astray == 0;
        let unbounded = standing.bounds.is_empty() && state.limits.uncontrolled.is_empty();
        if summary.complete && unbounded {
            let deadlock = Class::Deadlock.to_string();
            summary.possibilities.retain(|p| p.class != deadlock);
        }
        summary.classes = standing.classes;
        summary.notes.extend(state.notes(astray, &standing));
        summary.notes.extend(self.lookout.note());
        let judges_races = state.judges_races();
        summary.outcomes = state.outcomes;
        summary.output = summary.output.take().or(state.output);
        summary.uncontrolled = state.limits.uncontrolled.into_iter().collect();
        summary.instrumented = state.instrumented;
        let fault = state.fault.filter(|e| e.exit != Exit::Interrupted);
        let unsupported = state.unsupported.is_some()
            || fault.as_ref().is_some_and(|e| e.exit == Exit::Unsupported);
        // What is not under control may be why an execution did not end.
        let in_time = |finding: &Found| finding.class != Class::Timeout.to_string();
        let forbidden = self.campaign.strict && !summary.uncontrolled.is_empty();
        let failed = match forbidden {
            true => summary.findings.iter().any(in_time),
            false => !summary.findings.is_empty(),
        };
        summary.verdict = if failed {
            Verdict::Finding
        } else if unsupported {
            Verdict::Unsupported
        } else if fault.as_ref().is_some_and(|e| e.exit != Exit::InputOutput) {
            Verdict::ToolFault
        } else if astray > 0 {
            Verdict::Diverged
        } else if !summary.complete {
            Verdict::NothingFound
        } else if unbounded {
            Verdict::Explored
        } else {
            Verdict::ExploredWithinBounds
        };
        if summary.verdict == Verdict::NothingFound && summary.instrumented.is_empty() {
            summary.notes.push(ONLY_CALLS.to_string());
        }
        if self.campaign.watch.races != Treatment::Off && !judges_races {
            summary.notes.push(NO_RACES.to_string());
        }
        if summary.verdict == Verdict::Finding {
            let early = fault.map(|fault| format!("the search ended early: {fault}"));
            summary.notes.extend(early);
            return None;
        }
        fault
    }
}

impl State {
    /// Where a later run is to go on; `None`: from where it could before. What made the tool give up
    /// is to come up again.
    fn frontier(&self) -> Option<Vec<u64>> {
        let faulty = |error: &Error| error.exit != Exit::Interrupted;
        let gave_up = self.unsupported.is_some() || self.fault.as_ref().is_some_and(faulty);
        let search = self.search.save().filter(|_| !gave_up)?;
        Some(self.limits.put(search))
    }

    /// Can races be told? Where only the atomic operations of some of the code are seen, what the
    /// rest of it orders would pass for races.
    fn judges_races(&self) -> bool {
        self.sees_memory || self.instrumented.is_empty()
    }

    /// What an exhaustive search cannot know of this program.
    fn unseen(&self) -> Vec<String> {
        let mut bounds: Vec<String> = Vec::new();
        if !self.sees_memory {
            let text = match self.instrumented.is_empty() {
                true => {
                    "the program was not built with raddle cc: its accesses to memory are no steps"
                }
                false => "of its accesses to memory only atomic operations are steps",
            };
            bounds.push(text.to_string());
        } else {
            bounds.extend(self.unseen_modules.iter().cloned());
        }
        let uncontrolled = self.limits.uncontrolled.iter();
        bounds.extend(uncontrolled.map(|name| format!("not under control: {name}")));
        bounds
    }

    /// What limits the verdict.
    fn notes(&self, astray: u64, standing: &Standing) -> Vec<String> {
        let mut notes = Vec::new();
        if astray > 0 {
            let how = self.astray.as_ref();
            notes.push(format!(
                "{} left their schedule: something is not under control{}",
                count(astray, "execution"),
                how.map_or(String::new(), |how| format!(" (the first one: {how})"))
            ));
        }
        if self.cut_off > 0 {
            notes.push(format!(
                "the time was up in the middle of {}, which came to nothing",
                count(self.cut_off, "execution")
            ));
        }
        if let Some(executions) = self.in_vain {
            notes.push(format!(
                "{} seemed to wait for ever, and did not: after {} the search began again, in \
                 doubt of such loops",
                self.limits.doubted_loops(),
                count(executions, "execution")
            ));
        } else if self.limits.unfair > 0 {
            let why = match self.limits.doubted.is_empty() {
                true => String::new(),
                false => format!(
                    " ({} may depend on what no hook tells; `--busy-waits run` takes none for one \
                     that waits)",
                    self.limits.doubted_loops()
                ),
            };
            notes.push(format!(
                "{} seemed to have no end, and came to one when run on fairly: no finding{why}",
                count(self.limits.unfair, "execution")
            ));
        }
        if self.known > 0 {
            notes.push(format!(
                "{} failing executions were findings that the corpus knows (--new-only)",
                self.known
            ));
        }
        notes.extend(self.unsupported.clone());
        let bounds = standing.bounds.iter();
        notes.extend(bounds.map(|bound| format!("bound: {bound}")));
        notes.extend(standing.notes.iter().cloned());
        notes
    }
}
