//! Exploration of all paths over schedules and inputs, with a proof at its end.
//!
//! Several executions may be under way at a time ([`Verifier::next_several`]): each is aimed at a
//! frontier of its own, and what they show is learnt in one order, so the trees are the same.

mod atomic;
mod blocks;
#[cfg(test)]
mod by_hand;
mod bytes;
mod channels;
mod circuit;
mod conditions;
mod contents;
mod cores;
mod counters;
mod deadlock;
mod exclusion;
mod flow;
mod footprint;
mod forest;
mod formula;
mod frontier;
mod hazards;
mod insert;
mod intervals;
mod kinds;
mod later;
mod locks;
mod memory;
mod mpc;
mod objects;
mod order;
mod places;
mod plan;
mod question;
mod racing;
mod ranges;
mod refuted;
mod report;
mod rounds;
mod sat;
mod solver;
mod sums;
mod terms;
mod together;
mod untested;
mod vectors;
mod word_locks;

pub use report::{Bounds, Concretised, Next, Noted, Report, Several, Strategy, Unreached, Verdict};

use crate::inuse;
use crate::stop::{self, Asked};
use cores::Cores;
use forest::{Forest, What};
use frontier::{Decision, Frontier};
use mpc::Mpc;
use plan::Plan;
use racing::Races;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Why;
use raddle_protocol::job::{Input, Job};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{Moment, Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use ranges::{Ranges, suspects_in_vain};
use solver::{Effort, Limits};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use untested::Tested;

/// Explores one program: [`Verifier::next`] or [`Verifier::next_several`], run the jobs,
/// [`Verifier::observe`] each of them.
pub struct Verifier {
    strategy: Strategy,
    bounds: Bounds,
    /// See [`Verifier::allow_spurious`].
    spurious: bool,
    /// `None`: they are not looked for.
    races: Option<Races>,
    start: Instant,
    forest: Forest,
    frontier: Frontier,
    mpc: Mpc,
    cores: Cores,
    left_over: u64,
    ranges: Ranges,
    /// See [`Verifier::expect_shared`]; until the first execution.
    expected: Option<Ranges>,
    /// What is known to be shared, where `ranges` holds more that was expected to be.
    proven: Option<Ranges>,
    /// A thread was suspected to wait, in vain: see [`flags::PATIENT`].
    patient: bool,
    /// Where the first execution after a restart goes, as far as it can, and its inputs.
    again: Plan,
    effort: Effort,
    /// When the job under way was given.
    given: Option<Instant>,
    /// Time that jobs, or rounds of them, were under way.
    executing: Duration,
    executions: u64,
    /// Executions since the last restart.
    observed: u64,
    restarts: u64,
    diverged: u64,
    corrupt: u64,
    uncontrolled: BTreeSet<String>,
    stopped: Option<String>,
    asked: Option<Arc<Asked>>,
    /// What the forest and the strategy know is half done.
    torn: bool,
}

impl Verifier {
    /// Starts an exploration.
    pub fn new(strategy: Strategy, bounds: Bounds) -> Verifier {
        Verifier {
            strategy,
            bounds,
            spurious: false,
            races: None,
            start: Instant::now(),
            forest: forest(strategy, false),
            frontier: Frontier::default(),
            mpc: Mpc::default(),
            cores: Cores::default(),
            left_over: 0,
            ranges: Ranges::default(),
            expected: None,
            proven: None,
            patient: false,
            again: Plan::default(),
            effort: Effort::default(),
            given: None,
            executing: Duration::ZERO,
            executions: 0,
            observed: 0,
            restarts: 0,
            diverged: 0,
            corrupt: 0,
            uncontrolled: BTreeSet::new(),
            stopped: None,
            asked: None,
            torn: false,
        }
    }

    /// From the first execution on, condition waits may end although nobody signalled, as
    /// [`flags::SPURIOUS`] says. Only [`Strategy::Frontier`] explores that.
    pub fn allow_spurious(&mut self) {
        self.spurious = true;
        self.forest.spurious = true;
    }

    /// From the first execution on, data races are looked for: in each execution, and by
    /// [`Strategy::Frontier`] also those that no execution has shown. [`Noted::Race`] tells them.
    pub fn look_for_races(&mut self) {
        self.races = Some(Races::default());
    }

    /// From the first execution on, [`Strategy::Frontier`] prefers no frontier: what lies behind an
    /// untested predecessor pair (papers/hapset.txt) is not asked for first. For comparison.
    pub fn ignore_pairs(&mut self) {
        self.forest.tested = None;
    }

    /// The first execution records what happens in these ranges of addresses, too. If (nearly) all
    /// of it turns out to be shared, it counts; otherwise it only shows what is.
    pub fn expect_shared(&mut self, ranges: impl IntoIterator<Item = (u64, u64)>) {
        let mut expected = Ranges::default();
        for (first, end) in ranges {
            expected.add(first, end);
        }
        self.expected = (!expected.as_slice().is_empty()).then_some(expected);
    }

    /// Lets each question give several jobs from the first one on, to compare with fewer.
    pub fn plan_ahead(&mut self) {
        self.frontier.ahead = true;
    }

    /// Ends the exploration: the next [`Verifier::next`] is [`Next::Done`], with this reason.
    pub fn stop(&mut self, why: &str) {
        self.stopped.get_or_insert_with(|| why.to_string());
    }

    /// Was it [stopped](Verifier::stop) before it came to its end?
    pub fn was_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Keeps the text of formulas; for finding out why an execution missed what it was made for.
    pub fn keep_formulas(&mut self) {
        self.frontier.kept = Some(String::new());
    }

    /// The formula, in SMT-LIB's form, from whose model [`Strategy::Frontier`] made the last job.
    pub fn formula(&self) -> Option<&str> {
        self.frontier
            .kept
            .as_deref()
            .filter(|text| !text.is_empty())
    }

    /// Ends the exploration when `asked` says why, also in the middle of a question or of what is
    /// done with an execution.
    pub fn stop_when(&mut self, asked: Arc<Asked>) {
        self.asked = Some(asked);
    }

    /// Up to so many jobs that can be run at the same time, or the end. Only the strategy `frontier`
    /// has more than one at a time; it looks for them at the same time, too (papers/mpc.txt,
    /// section 3.5).
    pub fn next_several(&mut self, workers: usize) -> Several {
        match self.unless_stopped(|verifier| verifier.find_several(workers)) {
            Some(several) => several,
            None => Several::Done(self.report()),
        }
    }

    /// Does a part of the exploration. `None`: it was stopped in the middle of that, which ends it.
    fn unless_stopped<T>(&mut self, part: impl FnOnce(&mut Verifier) -> T) -> Option<T> {
        if self.torn {
            return None;
        }
        let Some(asked) = self.asked.clone() else {
            return Some(part(self));
        };
        let done = stop::unless(&asked, || part(self));
        if done.is_none() {
            self.torn = true;
            self.stop(asked().unwrap_or("it was interrupted"));
        }
        done
    }

    fn find_several(&mut self, workers: usize) -> Several {
        self.look_at_bounds();
        let alone = workers < 2 || self.strategy != Strategy::Frontier || self.observed == 0;
        if !alone && self.stopped.is_none() {
            let limits = Limits {
                deadline: self.deadline(),
                asked: self.asked.as_deref(),
            };
            let forest = &self.forest;
            let effort = &mut self.effort;
            let plans = self
                .frontier
                .decide_several(forest, limits, effort, workers);
            if let Ok(mut plans) = plans
                && !plans.is_empty()
            {
                if self.bounds.executions != 0 {
                    plans.truncate((self.bounds.executions - self.executions) as usize);
                }
                let jobs = plans
                    .into_iter()
                    .map(|(plan, tolerant)| self.job(plan, tolerant));
                let jobs = jobs.collect();
                self.given = Some(Instant::now());
                return Several::Run(jobs);
            }
        }
        match self.find_next() {
            Next::Run(job) => Several::Run(vec![job]),
            Next::Done(report) => Several::Done(report),
        }
    }

    fn look_at_bounds(&mut self) {
        if self.bounds.executions != 0 && self.executions >= self.bounds.executions {
            self.stop("the number of executions was limited");
        }
        if self.deadline().is_some_and(|d| Instant::now() >= d) {
            self.stop("the time was limited");
        }
        if let Some(why) = self.asked.as_ref().and_then(|asked| asked()) {
            self.stop(why);
        }
    }

    /// The next job or the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Next {
        match self.unless_stopped(Verifier::find_next) {
            Some(next) => next,
            None => Next::Done(self.report()),
        }
    }

    fn find_next(&mut self) -> Next {
        let next = self.choose();
        self.given = Some(Instant::now());
        next
    }

    fn choose(&mut self) -> Next {
        self.look_at_bounds();
        if self.stopped.is_some() {
            return Next::Done(self.report());
        }
        if self.observed == 0 {
            return Next::Run(self.first_job());
        }
        let limits = Limits {
            deadline: self.deadline(),
            asked: self.asked.as_deref(),
        };
        let initialisers = self.has_initialisers();
        let effort = &mut self.effort;
        let decision = match self.strategy {
            Strategy::Frontier => {
                let races = self.races.as_mut().filter(|_| !initialisers);
                self.frontier.decide(&self.forest, races, limits, effort)
            }
            Strategy::MpcS1 => self.mpc.decide(limits, effort),
            Strategy::MpcS2 | Strategy::Mcr => {
                match self.cores.decide(&self.forest, limits, effort) {
                    Decision::Exhausted => {
                        let last = self.frontier.decide(&self.forest, None, limits, effort);
                        self.left_over += u64::from(matches!(last, Decision::Run { .. }));
                        last
                    }
                    decision => decision,
                }
            }
        };
        let too_large = matches!(decision, Decision::GaveUp(frontier::TOO_LARGE));
        let over = matches!(decision, Decision::Exhausted) && self.is_in_trouble();
        if (too_large || over) && self.only_what_is_shared() {
            self.restart(Vec::new(), Vec::new());
            return Next::Run(self.first_job());
        }
        match decision {
            Decision::Run { plan, tolerant } => Next::Run(self.job(plan, tolerant)),
            Decision::Exhausted => Next::Done(self.report()),
            Decision::GaveUp(why) => {
                // It gives up where the time is over, too.
                self.look_at_bounds();
                self.stop(why);
                Next::Done(self.report())
            }
        }
    }

    /// The job before which nothing is known.
    fn first_job(&self) -> Job {
        let mut job = self.job(self.again.clone(), true);
        if self.strategy == Strategy::Frontier && job.prefix.is_empty() {
            job.tail = OPENING;
        }
        job
    }

    /// All that orders the threads is among the records, but for the fast path of an initialiser
    /// that the formula does not know. Has one been seen?
    fn has_initialisers(&self) -> bool {
        self.forest.unmodelled.contains(&Kind::OnceEnter)
    }

    /// Why races were not looked for everywhere.
    pub fn races_left_out(&self) -> Vec<&'static str> {
        let Some(races) = &self.races else {
            return Vec::new();
        };
        let mut why = Vec::new();
        if self.has_initialisers() {
            why.push(racing::INITIALISERS);
        }
        if races.left_out {
            why.push(racing::UNSEEN);
        }
        why
    }

    /// When the time is over; `None`: no limit.
    fn deadline(&self) -> Option<Instant> {
        self.start.checked_add(self.bounds.time?)
    }

    fn job(&self, plan: Plan, tolerant: bool) -> Job {
        let mut job = Job::new(self.tail());
        job.prefix = plan.prefix;
        job.inputs = plan.inputs;
        job.ranges = self.ranges_to_record().as_slice().to_vec();
        job.flags = flags::SYMBOLIC | flags::EVENTS | flags::ACCESSES;
        if tolerant {
            job.flags |= flags::TOLERANT;
        }
        if self.spurious {
            job.flags |= flags::SPURIOUS;
        }
        if self.patient {
            job.flags |= flags::PATIENT;
        }
        job.max_steps = match (&self.expected, self.bounds.steps) {
            (None, steps) => steps,
            (Some(_), 0) => EXPECTED_STEPS,
            (Some(_), steps) => steps.min(EXPECTED_STEPS),
        };
        job
    }

    /// Who goes on behind the prefix. Threads that wait for each other end the execution at once, and
    /// hide what the others do: those that do so most easily, the fewest together, go last.
    fn tail(&self) -> Tail {
        let forest = &self.forest;
        let circles = forest.deadlocks.iter().filter(|p| p.cycle);
        let fewest = circles.clone().map(|p| p.stuck.len()).min();
        let stuck = circles.filter(|p| Some(p.stuck.len()) == fewest);
        let trees = stuck.flat_map(|p| &p.stuck).map(|&n| forest.node(n).tree);
        match self.strategy {
            Strategy::Frontier => Tail::sparing(trees.map(|tree| forest.tree(tree).slot)),
            _ => Tail::RunUntilBlocked,
        }
    }

    fn ranges_to_record(&self) -> &Ranges {
        self.expected.as_ref().unwrap_or(&self.ranges)
    }

    /// Learns from the execution of the job that [`Verifier::next`] gave.
    pub fn observe(&mut self, job: &Job, trace: &Trace) -> Vec<Noted> {
        let noted = self.unless_stopped(|verifier| verifier.learn(job, trace));
        noted.unwrap_or_else(|| vec![Noted::Nothing])
    }

    fn learn(&mut self, job: &Job, trace: &Trace) -> Vec<Noted> {
        let given = self.given.take();
        self.executing += given.map_or(Duration::ZERO, |given| given.elapsed());
        self.executions += 1;
        self.uncontrolled.extend(trace.uncontrolled.iter().cloned());
        let mut noted = Vec::new();
        let diverged = trace.outcome.end == End::Divergence;
        if diverged {
            self.diverged += 1;
            noted.push(Noted::Diverged);
        }
        self.follow(job);
        let patient = job.flags & flags::PATIENT != 0;
        if job.ranges != self.ranges_to_record().as_slice() || patient != self.patient {
            noted.push(Noted::Stale);
            return noted;
        }
        self.observed += 1;
        let before = self.forest.facts;
        if let Some(tested) = &mut self.forest.tested {
            tested.learn(&trace.events);
        }
        let mut shared = self.learn_ranges(trace);
        let mut positions = None;
        if shared == 0 {
            let inserted = insert::insert(&mut self.forest, trace, self.bounds.branches);
            match inserted {
                Ok(at) => positions = Some(at),
                Err(corrupt) => {
                    self.corrupt += 1;
                    noted.push(Noted::Corrupt(corrupt));
                }
            }
            for (first, end) in std::mem::take(&mut self.forest.shared) {
                shared += usize::from(self.ranges.add(first, end));
                self.prove(first, end);
            }
        }
        if shared == 0 && self.is_in_trouble() {
            shared += usize::from(self.only_what_is_shared());
        }
        if shared > 0 {
            noted.push(Noted::NewShared(shared));
            self.restart(job.prefix.clone(), job.inputs.clone());
            return noted;
        }
        let initialisers = self.has_initialisers();
        if let Some(races) = &mut self.races
            && !diverged
            && !initialisers
        {
            noted.extend(races.learn(&trace.events).map(Noted::Race));
        }
        match self.strategy {
            Strategy::Frontier => self.frontier.observed(&self.forest, diverged),
            Strategy::MpcS1 => self.mpc.observed(trace, self.bounds.branches),
            Strategy::MpcS2 | Strategy::Mcr => {
                self.frontier.observed(&self.forest, diverged);
                self.cores.observed(positions);
            }
        }
        noted.push(match self.forest.facts - before {
            0 => Noted::Nothing,
            new => Noted::NewPaths(new),
        });
        noted
    }

    /// Returns by how much the trace differs from one that records what is in the ranges now.
    fn learn_ranges(&mut self, trace: &Trace) -> usize {
        let Some(expected) = self.expected.take() else {
            if !self.patient && suspects_in_vain(trace) {
                self.patient = true;
                return 1;
            }
            let new = self.ranges.learn(trace);
            for bytes in &new {
                self.prove(bytes.start, bytes.end);
            }
            let in_vain = self.proven.as_mut().is_some_and(|proven| {
                proven.prove(trace);
                trace.outcome.end == End::StepLimit || !proven.are_worth(trace)
            });
            return new.len() + usize::from(in_vain && self.only_what_is_shared());
        };
        let mut proven = Ranges::default();
        let differ = self.ranges.learn_expected(&expected, trace, &mut proven);
        self.proven = (proven != self.ranges).then_some(proven);
        differ
    }

    /// From now on nothing is recorded only because it was expected to be shared. `false`: nothing is.
    fn only_what_is_shared(&mut self) -> bool {
        let Some(proven) = self.proven.take().filter(|p| *p != self.ranges) else {
            return false;
        };
        self.ranges = proven;
        true
    }

    /// A job of an earlier run, which is executed again, was chosen after nothing was recorded only
    /// because it was expected to be shared: then that is so from now on.
    fn follow(&mut self, job: &Job) {
        let proven = self.proven.as_ref().map(Ranges::as_slice);
        if proven == Some(&job.ranges) && self.only_what_is_shared() {
            self.restart(Vec::new(), Vec::new());
        }
    }

    /// Has something gone otherwise than foreseen that may have to do with memory that is recorded and
    /// not shared? What is not recorded is not symbolic either, and its first content does not matter.
    fn is_in_trouble(&self) -> bool {
        self.proven.is_some()
            && (self.corrupt > 0
                || !self.forest.lost.is_empty()
                || !self.forest.unstable.is_empty()
                || self.frontier.unsteady() > 0
                || self.frontier.has_given_up())
    }

    fn prove(&mut self, first: u64, end: u64) {
        if let Some(proven) = &mut self.proven {
            proven.add(first, end);
        }
    }

    /// What was learnt with other ranges is worth nothing.
    fn restart(&mut self, prefix: Vec<Step>, inputs: Vec<Input>) {
        let tested = self.forest.tested.take();
        self.forest = forest(self.strategy, self.spurious);
        self.forest.tested = tested;
        self.frontier = self.frontier.anew();
        self.mpc = Mpc::default();
        self.cores = Cores::default();
        self.left_over = 0;
        // What the job was for is seen again at once, if the steps that it did not count do not come in
        // between. That helps the frontier; the others depend on where they start, and start from
        // zeros.
        self.again = match self.strategy {
            Strategy::Frontier => Plan {
                prefix,
                inputs,
                ..Plan::default()
            },
            _ => Plan::default(),
        };
        self.observed = 0;
        self.restarts += 1;
        self.corrupt = 0;
    }

    fn report(&self) -> Report {
        let unreached = match self.torn {
            true => Vec::new(),
            false => self.frontier.unreached(&self.forest),
        };
        let limits = self.limits(&unreached);
        let verdict = match limits.is_empty() {
            true => Verdict::Verified,
            false => Verdict::VerifiedWithinBounds(limits.join("; ")),
        };
        Report {
            verdict,
            executions: self.executions,
            queries: self.effort.queries,
            spared: self.effort.spared,
            local_paths: self.forest.local_paths(),
            solver_ms: self.effort.time.as_secs_f64() * 1e3,
            encoding_ms: self.effort.encoding.as_secs_f64() * 1e3,
            executing_ms: self.executing.as_secs_f64() * 1e3,
            longest_ms: self.effort.longest.as_secs_f64() * 1e3,
            assumptions: self.assumptions(),
            concretised: self.concretised(),
            unreached,
            bounded_at: self.forest.bounded_at.iter().copied().collect(),
            left_over: self.left_over,
            settled: self.observed,
            restarts: self.restarts,
            diverged: self.diverged,
        }
    }

    /// Why the verdict is not the full one.
    fn limits(&self, unreached: &[Unreached]) -> Vec<String> {
        let mut limits: Vec<String> = self.stopped.iter().cloned().collect();
        if self.strategy == Strategy::MpcS1 {
            limits.push("the strategy mpc-s1 can miss paths".into());
        }
        let mut nodes = self.forest.nodes.iter();
        if self.forest.by_value && nodes.any(|n| matches!(n.what, What::Input(..))) {
            limits.push("the strategy mcr leaves all inputs zero".into());
        }
        let bounds = self.forest.bounds_hit.iter();
        limits.extend(bounds.map(|b| format!("bound reached: {b}")));
        limits.extend(self.forest.refused.iter().cloned());
        let kinds = self.forest.unmodelled.iter();
        limits.extend(kinds.map(|k| format!("not modelled: {}", k.text())));
        if self.forest.deadlocks.iter().any(|d| d.cycle) {
            limits.push("what others do while threads wait for each other is not explored".into());
        }
        if self.spurious && self.strategy != Strategy::Frontier {
            limits.push("this strategy lets no condition wait end for no reason".into());
        }
        let channels = self.frontier.channel_bounds();
        limits.extend(channels.map(|b| format!("bound reached: {b}")));
        if self.frontier.wakes_left_out() {
            limits.push(MORE_WAKE_UPS.into());
        }
        if self.frontier.accessed_plainly() {
            limits.push(inuse::WRITTEN.into());
        }
        if self.forest.clock_matters() {
            limits.push("what the clock shows at other moments is not explored".into());
        }
        let lost: u64 = self.forest.lost.values().sum();
        let unstable = self.forest.unstable.len();
        let counted = [
            (lost, "operation", "on symbolic values not followed"),
            (
                unstable as u64,
                "statement",
                "depending on something not recorded",
            ),
            (
                unreached.len() as u64,
                "frontier",
                "not reached by executions",
            ),
            (
                self.frontier.wrong_orders() as u64,
                "wrong order",
                "of steps on one object (see the findings)",
            ),
            (
                self.frontier.unsteady() as u64,
                "location",
                "whose first content differs between executions",
            ),
            (self.corrupt, "trace", "not well-formed"),
            (
                self.uncontrolled.len() as u64,
                "kind",
                "of operations not controlled",
            ),
        ];
        limits.extend(
            counted
                .into_iter()
                .filter(|c| c.0 > 0)
                .map(|(n, noun, which)| {
                    let plural = if n == 1 { "" } else { "s" };
                    format!("{n} {noun}{plural} {which}")
                }),
        );
        limits
    }

    fn assumptions(&self) -> Vec<String> {
        let mut all = vec![
            "memory is sequentially consistent".to_string(),
            "threads influence each other only through instrumented accesses and intercepted calls"
                .to_string(),
            "variables that were never initialised hold what they held in the executions"
                .to_string(),
        ];
        all.extend(
            self.forest
                .unmodelled
                .iter()
                .map(|k| format!("{} leaves nothing to explore", k.text())),
        );
        all.extend(
            self.uncontrolled
                .iter()
                .map(|u| format!("{u} does not matter")),
        );
        all.extend(
            self.forest
                .unstable
                .iter()
                .map(|pc| format!("what happens at {pc:#x} does not matter")),
        );
        all
    }

    fn concretised(&self) -> Vec<Concretised> {
        let lost = self.forest.lost.iter();
        lost.map(|(&(pc, why, ref function), &count)| Concretised {
            pc,
            why: Why::from_u8(why).unwrap_or(Why::Type),
            function: function.clone(),
            count,
        })
        .collect()
    }
}

/// Why the verdict is not the full one where condition waits may end for no reason.
const MORE_WAKE_UPS: &str =
    "at most four condition waits of an execution end although nobody signalled";

/// Who goes on in an execution before which nothing is known: what a thread knows gets old, which shows
/// more of what threads do to each other than threads that run one after the other.
const OPENING: Tail = Tail::GiveWay {
    moment: Moment::Looks,
};

/// Step limit of an execution that records what is only expected to be shared: a loop over what is
/// not may have many.
const EXPECTED_STEPS: u64 = 10_000;

/// An empty forest, as the strategy sees programs.
fn forest(strategy: Strategy, spurious: bool) -> Forest {
    Forest {
        spurious,
        by_value: strategy == Strategy::Mcr,
        folds: strategy != Strategy::MpcS1,
        tested: (strategy == Strategy::Frontier).then(Tested::default),
        ..Forest::new()
    }
}
