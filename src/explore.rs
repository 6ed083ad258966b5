//! `raddle run`: many executions of one program, each under another schedule.

mod conclude;

use crate::again::Before;
use crate::class::{Class, Meaning, STEP_LIMIT, label, meaning};
use crate::corpus::names::Names;
use crate::corpus::{Keeper, Verdict as Remembered};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::limits::{Limits, shares_long_blocks, unseen_modules};
use crate::policy::{Executions, Policy};
use crate::progress::Progress;
use crate::setup::Setup;
use crate::summary::{Summary, instrumented, recount, sees_accesses, sees_memory};
use crate::symbols::{Symbols, readable};
use crate::terminal::Printed;
use crate::triage::{
    Examination, Examined, Reference, Refuted, Seen, Sighted, Triage, class_of, counted,
};
use crate::unhooked;
use crate::watch::{Key, Lookout, Mark, Watch};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use raddle_analyzer::hapset::knowledge::Places;
use raddle_analyzer::search::{Next, Search};
use raddle_analyzer::stop;
use raddle_protocol::effects;
use raddle_protocol::event::Kind;
use raddle_protocol::job::Job;
use raddle_protocol::libraries::RUNTIMES;
use raddle_protocol::shared::{WRITE_ORDER, flags};
use raddle_protocol::trace::Trace;
use raddle_scheduler::{Module, RunError, Session, Stuck};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Which executions are wanted.
pub struct Campaign {
    pub policy: Policy,
    pub seed: u64,
    /// `None`: no limit.
    pub executions: Option<u64>,
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
    let search = Shared::new(setup, campaign, interrupt)?;
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
    let waited = explored()?;
    progress.aside(|| triage.look_into_the_rest())?;
    let nothing_ran = search.first_execution(&mut triage);
    let gathered = triage.done();
    let trouble = gathered.trouble.clone();
    let mut summary = Summary::new(campaign.policy.to_string(), campaign.seed);
    summary.gathered(gathered);
    summary.notes.extend(nothing_ran);
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
    // A worker that waits until what it has found is looked into does not search.
    let waited = waited / u32::from(campaign.workers.max(1));
    summary.took(started.elapsed(), started.elapsed().saturating_sub(waited));
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

/// Examines what the workers report until all of them have ended; how long they have waited for
/// that, together. On an error the inbox is dropped, which releases the workers that wait for an
/// answer.
fn attend(
    inbox: Receiver<Report>,
    search: &Shared<'_>,
    triage: &mut Triage<'_>,
    campaign: &Campaign,
    progress: &Progress,
) -> Result<Duration> {
    let mut found = 0u64;
    let mut waited = Duration::ZERO;
    loop {
        {
            let state = search.state();
            progress.executions(state.executions);
            progress.pairs(state.search.pairs_seen());
        }
        let Report {
            what,
            since,
            proceed,
        } = match inbox.recv_timeout(Duration::from_millis(200)) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(waited),
        };
        if let Some(modules) = search.modules.get() {
            triage.know(modules);
        }
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
        waited += since.elapsed();
        if let (Some(keeper), Some(n)) = (&campaign.keeper, n) {
            keeper.examined(n);
        }
        {
            let mut state = search.state();
            state.unexamined -= u64::from(n.is_some());
            match examined {
                Examined::Finding => found += 1,
                Examined::Known => state.known += 1,
                Examined::Endless => {
                    let (from, to) = (Class::Livelock, STEP_LIMIT.to_string());
                    recount(&mut state.outcomes, from, to);
                    state.limits.step_limited += 1;
                }
                Examined::Early => state.early = true,
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
    since: Instant,
    proceed: Sender<()>,
}

enum What {
    /// An execution that failed.
    Failed(Seen),
    /// One that shows something besides.
    Shown(Sighted),
}

/// Has something examined; `false` when nobody does so any more.
fn report(reports: &Sender<Report>, what: What) -> bool {
    let (proceed, answer) = bounded(1);
    let since = Instant::now();
    let report = Report {
        what,
        since,
        proceed,
    };
    reports.send(report).is_ok() && answer.recv().is_ok()
}

/// One worker: takes jobs from the search until there are no more.
fn work(setup: &Setup, search: &Shared<'_>, interrupt: &Interrupt, reports: Sender<Report>) {
    let mut session = match setup.session(&interrupt.search) {
        Ok(session) => session,
        Err(error) => return search.failed(error),
    };
    search.modules.get_or_init(|| session.modules().to_vec());
    let exhaustive = search.campaign.policy.executions() == Some(Executions::All);
    let is_all_seen = {
        let mut state = search.state();
        state.instrumented = instrumented(session.modules());
        state.sees_memory = sees_memory(session.modules());
        state.unseen_modules = unseen_modules(session.modules(), &RUNTIMES, sees_accesses);
        if exhaustive {
            let files = unhooked::files(session.modules());
            state.unseen_modules.extend(unhooked::bounds(&files));
            let unknown = unhooked::unknown_calls(session.modules(), &files);
            state.unseen_modules.extend(unknown);
        }
        state.sees_memory && state.unseen_modules.is_empty()
    };
    let more = match search.campaign.policy.executions() {
        // What the systematic searches promise is about calls alone.
        None if !sees_memory(session.modules()) => flags::RETURNS,
        _ if exhaustive && is_all_seen => flags::STOPS_THREADS,
        _ => 0,
    };
    while let Some((n, mut job)) = search.next() {
        job.flags |= more;
        let started = Instant::now();
        let trace = match search.run(&mut session, &job) {
            Ok(trace) => trace,
            Err(RunError::Stopped) => return search.lost(n, session.cut_off()),
            Err(error) => return search.failed(error.into()),
        };
        let took = started.elapsed();
        let Some(failed) = search.observe(n, &trace) else {
            return;
        };
        search.remember(&job, &trace);
        let marks = search.new_marks(n, &trace, took);
        let trace = Arc::new(trace);
        // What it was asked for besides is in the steps that it took.
        let repeatable = || Job {
            constraints: Vec::new(),
            sleepers: Vec::new(),
            ..job.clone()
        };
        let failure = failed.map(|(class, reference)| {
            What::Failed(Seen {
                execution: n + 1,
                class,
                job: repeatable(),
                trace: Arc::clone(&trace),
                reference,
            })
        });
        let shown = marks.into_iter().map(|mark| {
            What::Shown(Sighted {
                execution: n + 1,
                mark,
                job: repeatable(),
                trace: Arc::clone(&trace),
            })
        });
        let all: Vec<What> = failure.into_iter().chain(shown).collect();
        // It may have millions of records: the last to need them has them alone.
        drop(trace);
        let mut all = all.into_iter();
        if !all.all(|what| report(&reports, what)) {
            return;
        }
    }
    search.run_the_first_again(&mut session);
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

/// Learning from an execution with fewer records takes no time worth mentioning.
const LONG: usize = 20_000;
/// Once executions have failed only by early time-outs, so many may have such, then as many not: other
/// failures are not to be hidden by those.
const IN_TURN: u64 = 32;
/// So often in a row the program is started anew when the process that is cloned went away.
const RETRIES: u32 = 3;

/// What all workers share.
struct Shared<'a> {
    setup: &'a Setup,
    campaign: &'a Campaign,
    interrupt: &'a Interrupt,
    /// Of the program, once a session has begun.
    modules: OnceLock<Vec<Module>>,
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
    /// Every order in which threads write to a file is tried.
    ordered_writes: bool,
    instrumented: BTreeMap<String, String>,
    /// Some module's accesses to memory are steps.
    sees_memory: bool,
    /// Modules whose accesses are not, as bounds.
    unseen_modules: BTreeSet<String>,
    /// Findings of earlier runs, with `--new-only`.
    known: u64,
    /// What executions were doing that were under way when the search was stopped, and how many
    /// there were.
    cut_off: Vec<Stuck>,
    cut_short: u64,
    unsupported: Option<String>,
    /// How an execution left its schedule.
    astray: Option<String>,
    fault: Option<Error>,
    reference: Option<Arc<Reference>>,
    /// What the first execution printed.
    output: Option<Printed>,
    /// Executions have failed only by time-outs that came early.
    early: bool,
    /// The first execution, where a verdict about all is wanted.
    first: Option<Before>,
    /// What executions have shown besides their ends.
    marks: BTreeMap<Key, u32>,
    /// The search is half way through an execution, where it was stopped; the frontier before.
    torn: Option<Option<Vec<u64>>>,
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
            modules: OnceLock::new(),
            state: Mutex::new(State {
                search,
                next: 0,
                finished: false,
                out: BTreeSet::new(),
                stale: BTreeSet::new(),
                unexamined: 0,
                in_vain: None,
                ordered_writes: false,
                executions: 0,
                outcomes: BTreeMap::new(),
                limits,
                instrumented: BTreeMap::new(),
                sees_memory: false,
                unseen_modules: BTreeSet::new(),
                known: 0,
                cut_off: Vec::new(),
                cut_short: 0,
                unsupported: None,
                astray: None,
                fault: None,
                reference,
                output: None,
                early: false,
                first: None,
                marks: BTreeMap::new(),
                torn: None,
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
            if state.finished || enough || self.interrupt.stopped() {
                return None;
            }
            if self.begins_alone(&state) {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
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
                    // What is to be followed may hold early ones.
                    let late = state.early && (n / IN_TURN) % 2 == 1 && plan.prefix.is_empty();
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
                    if late {
                        job.flags |= flags::LATE_TIMEOUTS;
                    }
                    if state.ordered_writes {
                        job.flags |= flags::ORDERED_WRITES;
                    }
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

    /// Is the first execution under way, which is to be compared at the end? Others at the same time might
    /// change what it finds outside.
    fn begins_alone(&self, state: &State) -> bool {
        self.is_exhaustive() && state.executions == 0 && !state.out.is_empty()
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

    /// Several threads have written to a file that is read later: a search that takes none of their
    /// orders for equivalent begins, once. Is it under way?
    fn orders_writes(&self, state: &mut State, uncontrolled: &[String]) -> bool {
        let met = uncontrolled
            .iter()
            .any(|name| name.starts_with(WRITE_ORDER));
        if met && !state.ordered_writes && self.campaign.keeper.is_none() {
            let Ok(search) = begin(self.setup, self.campaign, self.interrupt) else {
                return false;
            };
            state.search = search;
            state.stale = state.out.clone();
            state.ordered_writes = true;
        }
        state.ordered_writes
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

    fn is_exhaustive(&self) -> bool {
        self.campaign.policy.executions() == Some(Executions::All)
    }

    /// Keeps the first execution for [`Shared::run_the_first_again`].
    fn remember(&self, job: &Job, trace: &Trace) {
        if self.is_exhaustive() {
            let first = &mut self.state().first;
            first.get_or_insert_with(|| Before::of(job, trace));
        }
    }

    /// All have been run: does the first one go as it did?
    fn run_the_first_again(&self, session: &mut Session) {
        let first = {
            let mut state = self.state();
            let is_told = state.limits.diverged > 0 || !state.limits.uncontrolled.is_empty();
            let matters = state.search.standing().complete && !is_told;
            state.first.take_if(|_| matters)
        };
        let Some(first) = first else { return };
        let modules = session.modules().to_vec();
        let symbols = || Symbols::new(&modules, &self.setup.program.path);
        let changed = first.changed(|job| self.run(session, job).ok(), symbols);
        self.state().limits.changed.extend(changed);
    }

    /// What an execution shows besides its end and none before it has shown.
    fn new_marks(&self, n: u64, trace: &Trace, took: Duration) -> Vec<Mark> {
        let look = || self.lookout.look(n, trace, took);
        let mut marks = stop::unless(&self.interrupt.asked_of_search(), look).unwrap_or_default();
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

    /// Counts an execution; its class and the output that was expected if it failed. `None`: the
    /// search was stopped before it had learnt from it, so that it counts for nothing.
    #[allow(clippy::option_option)]
    fn observe(&self, n: u64, trace: &Trace) -> Option<Option<(Class, Option<Arc<Reference>>)>> {
        let shows = |kind| trace.events.iter().any(|e| e.kind() == Some(kind));
        let (passed_over, inputs) = (shows(Kind::PassedOver), shows(Kind::Input));
        let mut state = self.state();
        if !state.stale.remove(&n) && !self.learn(&mut state, n, trace) {
            drop(state);
            self.finish();
            return None;
        }
        state.executions += 1;
        state.output.get_or_insert_with(|| Printed::of(trace));
        state.out.remove(&n);
        let mut names: Vec<String> = trace.uncontrolled.iter().map(|n| readable(n)).collect();
        if self.orders_writes(&mut state, &names) {
            names.retain(|name| !name.starts_with(WRITE_ORDER));
        }
        state.limits.uncontrolled.extend(names.iter().cloned());
        state.limits.fair_only |= passed_over;
        state.limits.inputs |= inputs;
        state.limits.given |= trace.counters.given;
        let exhaustive = self.is_exhaustive();
        if exhaustive && shares_long_blocks(&trace.events) {
            state.limits.uncontrolled.insert(effects::LONG.into());
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
                hash: trace.output_hash(),
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
        Some(class.map(|class| (class, reference)))
    }

    /// Lets the search learn from an execution. `false`: it was stopped in the middle of that, and
    /// knows what it knew before.
    fn learn(&self, state: &mut State, n: u64, trace: &Trace) -> bool {
        if trace.events.len() < LONG {
            state.search.observe(n, trace);
            return true;
        }
        // What is left half done is not to be saved.
        let before = state.frontier();
        let search = &mut state.search;
        let learnt = stop::unless(&self.interrupt.asked_of_search(), || {
            search.observe(n, trace)
        });
        if learnt.is_none() {
            state.torn = Some(before);
            state.cut_short += 1;
        }
        learnt.is_some()
    }

    /// Execution `n` came to nothing, since the search was stopped while it was `doing` this.
    fn lost(&self, n: u64, doing: Option<&Stuck>) {
        let mut state = self.state();
        state.out.remove(&n);
        if !state.stale.remove(&n) {
            state.search.lost(n);
        }
        state.cut_off.extend(doing.cloned());
        state.cut_short += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// A worker could not go on.
    fn failed(&self, error: Error) {
        self.state().fault.get_or_insert(error);
        self.finish();
    }
}

impl State {
    /// Where a later run is to go on; `None`: from where it could before. What made the tool give up
    /// is to come up again.
    fn frontier(&self) -> Option<Vec<u64>> {
        if let Some(before) = &self.torn {
            return before.clone();
        }
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
}
