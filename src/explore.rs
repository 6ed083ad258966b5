//! `raddle run`: many executions of one program, each under another schedule.

use crate::class::{Class, Meaning, label, meaning};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::policy::Policy;
use crate::progress::Progress;
use crate::setup::Setup;
use crate::summary::{Summary, Verdict};
use crate::triage::{Seen, Triage, class_of};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use raddle_analyzer::dfs::Dfs;
use raddle_protocol::job::Job;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::fnv1a;
use raddle_scheduler::RunError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    /// Hash of the standard output that every execution must have.
    pub expected_output: Option<u64>,
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
    let search = Search::new(setup, campaign, started);
    let (reports, inbox) = bounded(usize::from(campaign.workers));
    let examining = std::thread::scope(|scope| {
        for _ in 0..campaign.workers {
            let reports = reports.clone();
            scope.spawn(|| work(setup, &search, interrupt, reports));
        }
        drop(reports);
        let result = attend(inbox, &search, &mut triage, campaign, progress);
        search.state().finished = true;
        result
    })?;
    let (findings, notes, trouble) = triage.done();
    let mut summary = Summary::new(campaign.policy.to_string(), campaign.seed);
    summary.findings = findings;
    summary.notes = notes;
    summary.interrupted = interrupt.requested();
    let fault = search.conclude(&mut summary);
    // With one worker, which waits meanwhile, looking at findings is not searching.
    let aside = match campaign.workers {
        1 => examining,
        _ => Duration::ZERO,
    };
    summary.took(started.elapsed(), started.elapsed().saturating_sub(aside));
    Ok((summary, trouble.or(fault)))
}

/// Examines what the workers report until all of them have ended; how long that took. On an error
/// the inbox is dropped, which releases the workers that wait for an answer.
fn attend(
    inbox: Receiver<Report>,
    search: &Search<'_>,
    triage: &mut Triage<'_>,
    campaign: &Campaign,
    progress: &Progress,
) -> Result<Duration> {
    let mut found = 0u64;
    let mut examining = Duration::ZERO;
    loop {
        progress.executions(search.state().executions);
        let Report { seen, proceed } = match inbox.recv_timeout(Duration::from_millis(200)) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(examining),
        };
        let started = Instant::now();
        let is_finding = progress.aside(|| triage.examine(seen))?;
        examining += started.elapsed();
        {
            let mut state = search.state();
            match is_finding {
                true => found += 1,
                false => state.unfair += 1,
            }
            state.finished |= is_finding && !campaign.keep_going;
        }
        progress.say(format!("{found} failing"));
        // A worker that waits for the answer is still there; any other outcome is fine as well.
        let _ = proceed.send(());
    }
}

/// A failing execution; the worker waits until it has been examined.
struct Report {
    seen: Seen,
    proceed: Sender<()>,
}

/// One worker: takes jobs from the search until there are no more.
fn work(setup: &Setup, search: &Search<'_>, interrupt: &Interrupt, reports: Sender<Report>) {
    let mut session = match setup.session(&interrupt.search) {
        Ok(session) => session,
        Err(error) => return search.failed(error),
    };
    let mut failures = 0;
    while let Some((n, job)) = search.next() {
        let trace = match session.run(&job) {
            Ok(trace) => trace,
            Err(RunError::Stopped) => return,
            Err(RunError::ServerGone { .. } | RunError::ServerSilent) if failures < RETRIES => {
                failures += 1;
                continue;
            }
            Err(error) => return search.failed(error.into()),
        };
        failures = 0;
        if let Some((class, expected_output)) = search.observe(n, &trace) {
            let (proceed, answer) = bounded(1);
            let seen = Seen {
                execution: n + 1,
                class,
                job,
                trace,
                expected_output,
            };
            let delivered = reports.send(Report { seen, proceed }).is_ok();
            if !delivered || answer.recv().is_err() {
                return;
            }
        }
    }
}

/// So often in a row the program is started anew when the process that is cloned went away.
const RETRIES: u32 = 3;

/// What all workers share.
struct Search<'a> {
    setup: &'a Setup,
    campaign: &'a Campaign,
    deadline: Option<Instant>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    finished: bool,
    executions: u64,
    longest: u64,
    outcomes: BTreeMap<String, u64>,
    uncontrolled: BTreeSet<String>,
    /// Livelocks that ended once every thread got its turn.
    unfair: u64,
    diverged: u64,
    unsupported: Option<String>,
    fault: Option<Error>,
    expected_output: Option<u64>,
    dfs: Option<Dfs>,
    explored: bool,
}

impl<'a> Search<'a> {
    fn new(setup: &'a Setup, campaign: &'a Campaign, started: Instant) -> Search<'a> {
        let dfs = (campaign.policy == Policy::Dfs).then(Dfs::new);
        Search {
            setup,
            campaign,
            deadline: campaign.time.map(|time| started + time),
            state: Mutex::new(State {
                dfs,
                expected_output: campaign.expected_output,
                ..State::default()
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job and its number, from 0.
    fn next(&self) -> Option<(u64, Job)> {
        let mut state = self.state();
        let n = state.next;
        let enough = self.campaign.executions.is_some_and(|most| n >= most);
        let late = self.deadline.is_some_and(|d| Instant::now() >= d);
        if state.finished || enough || late {
            return None;
        }
        let mut job = self.setup.base.clone();
        job.tail = self
            .campaign
            .policy
            .tail(self.campaign.seed, n, state.longest);
        if let Some(dfs) = &mut state.dfs {
            let Some(prefix) = dfs.next_prefix() else {
                state.explored = true;
                return None;
            };
            job.prefix = prefix;
            job.flags |= flags::EVENTS | flags::ENABLED;
        }
        state.next += 1;
        Some((n, job))
    }

    /// Counts an execution; its class and the output that was expected if it failed.
    fn observe(&self, n: u64, trace: &Trace) -> Option<(Class, Option<u64>)> {
        let mut state = self.state();
        state.executions += 1;
        state.longest = state.longest.max(trace.counters.steps);
        let names = trace.uncontrolled.iter().cloned();
        state.uncontrolled.extend(names);
        if let Some(dfs) = &mut state.dfs {
            dfs.observe(trace);
        }
        let means = meaning(&trace.outcome);
        let fine = means == Meaning::Fine;
        if self.campaign.same_output && fine && state.expected_output.is_none() {
            state.expected_output = Some(fnv1a(&trace.stdout));
        }
        let class = class_of(trace, state.expected_output);
        let label = match class {
            Some(Class::Output) => Class::Output.to_string(),
            _ => label(&trace.outcome),
        };
        *state.outcomes.entry(label).or_default() += 1;
        let message = &trace.outcome.message;
        match means {
            Meaning::Diverged => state.diverged += 1,
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
        class.map(|class| (class, state.expected_output))
    }

    /// A worker could not go on.
    fn failed(&self, error: Error) {
        let mut state = self.state();
        state.fault.get_or_insert(error);
        state.finished = true;
    }

    /// Fills in the summary; an error that is to be shown besides.
    fn conclude(self, summary: &mut Summary) -> Option<Error> {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        summary.executions = state.executions;
        summary.outcomes = state.outcomes;
        summary.uncontrolled = state.uncontrolled.into_iter().collect();
        let astray = state.dfs.as_ref().map_or(0, Dfs::mismatches) + state.diverged;
        if astray > 0 {
            summary.notes.push(format!(
                "{astray} executions left their schedule: something is not under control"
            ));
        }
        if state.unfair > 0 {
            summary.notes.push(format!(
                "{} executions reached the step limit under an unfair schedule and end under a \
                 fair one; they are no findings",
                state.unfair
            ));
        }
        if let Some(what) = &state.unsupported {
            summary.notes.push(what.clone());
        }
        summary.complete = state.explored && astray == 0 && state.unfair == 0;
        let unsupported = state.unsupported.is_some()
            || state
                .fault
                .as_ref()
                .is_some_and(|e| e.exit == Exit::Unsupported);
        summary.verdict = if !summary.findings.is_empty() {
            Verdict::Finding
        } else if unsupported {
            Verdict::Unsupported
        } else if state
            .fault
            .as_ref()
            .is_some_and(|e| e.exit != Exit::Interrupted)
        {
            Verdict::ToolFault
        } else if astray > 0 {
            Verdict::Diverged
        } else if summary.complete {
            Verdict::Explored
        } else {
            Verdict::NothingFound
        };
        let fault = state.fault.filter(|e| e.exit != Exit::Interrupted)?;
        if summary.verdict == Verdict::Finding {
            summary
                .notes
                .push(format!("the search ended early: {fault}"));
            return None;
        }
        Some(fault)
    }
}
