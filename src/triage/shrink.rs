//! Schedules that are easy to read: with the same failure and as few preemptions as there are.

use super::{
    CANDIDATES_OF_A_REPORT, Failure, Job, Result, Seen, Tail, Trace, Triage, flags, most_steps,
    records_for,
};
use raddle_analyzer::bounds::{Point, points};
use raddle_analyzer::ddmin::Ddmin;
use raddle_analyzer::fewer::{self, Fewer};
use raddle_analyzer::shrink::Shrinker;
use raddle_analyzer::wander::Walk;
use raddle_protocol::job::total_steps;
use raddle_protocol::schedule::Step;
use raddle_protocol::witness::Note;
use std::time::{Duration, Instant};

/// What shrinking one finding may cost.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Executions; 0: schedules stay as they were found.
    pub executions: u64,
    /// Wall-clock time.
    pub time: Duration,
}

/// What came of it.
pub(super) struct Shrunk {
    pub steps: Vec<Step>,
    /// So many preemptions it has, and no schedule with fewer fails in the same way.
    pub fewest: Option<u64>,
    /// Why there may be a simpler schedule.
    pub note: Option<Note>,
}

/// The search for schedules with fewer preemptions looks at so many steps in all.
const STEPS_LOOKED_AT: u64 = 10_000_000;
/// Of the executions of a whole shrinking that search may have one in so many.
const SHARE_OF_SEARCH: u64 = 10;
/// Executions with more steps are not recorded with who was enabled while they are shrunk.
const STEPS_WITH_ENABLED: u64 = 200_000;
/// What does not fail the run is simplified for so long at most.
const TIME_FOR_A_REPORT: Duration = Duration::from_secs(2);
/// Schedules with so few preemptions have nothing to gain from leaving out many at once.
const FEW_PREEMPTIONS: u64 = 2;
/// So long a random walk may take that has found nothing better, and so many executions.
const WALK: (Duration, u64) = (Duration::from_secs(3), 10_000);
/// So many schedules are tried that owe nothing to the one that was found.
const FRESH_STARTS: u64 = 400;

/// Their changes of priorities lie within the whole length, or a fourth, a sixteenth … of it.
const SPANS: u64 = 6;
const SHORTEST_SPAN: u64 = 32;

/// What is left of an [`Effort`].
struct Budget {
    executions: u64,
    /// Of these, for the search for fewer preemptions.
    search: u64,
    deadline: Instant,
    /// The time was up before the executions were.
    late: bool,
}

impl Budget {
    /// May there be one more execution? Counts it.
    fn spend(&mut self) -> bool {
        self.late |= self.executions > 0 && Instant::now() >= self.deadline;
        let more = self.executions > 0 && !self.late;
        self.executions -= u64::from(more);
        more
    }
}

/// What is shrunk.
struct Case<'a> {
    seen: &'a Seen,
    failure: &'a Failure,
    /// For schedules that may be simpler: with a limit of steps.
    job: Job,
}

impl Case<'_> {
    fn records(&self, steps: &[Step]) -> u32 {
        records_for(self.failure, steps)
    }
}

/// A schedule that may not be the simplest.
struct Known<'a> {
    case: &'a Case<'a>,
    steps: &'a [Step],
    preemptions: u64,
}

impl Triage<'_> {
    /// A schedule with the same failure and as few preemptions as can be found: parts are left out
    /// until that helps no more, then all schedules with fewer preemptions are gone through, and
    /// where those are too many, random ones are tried. `fails`: the run fails for it.
    pub(super) fn shrink(
        &mut self,
        seen: &Seen,
        failure: &Failure,
        trace: &Trace,
        fails: bool,
    ) -> Result<Shrunk> {
        let mut effort = self.wishes.shrink;
        if !fails {
            effort.time = effort.time.min(TIME_FOR_A_REPORT);
        }
        let mut shrunk = Shrunk {
            steps: trace.taken.clone(),
            fewest: None,
            note: None,
        };
        if effort.executions == 0 {
            return Ok(shrunk);
        }
        let steps = trace.counters.steps;
        let mut case = Case {
            seen,
            failure,
            job: seen.job.clone(),
        };
        let most = most_steps(steps);
        if case.job.max_steps == 0 || case.job.max_steps > most {
            case.job.max_steps = most;
        }
        let search = effort.executions / SHARE_OF_SEARCH;
        let mut budget = Budget {
            executions: effort.executions,
            search: search.min(STEPS_LOOKED_AT / steps.max(1)),
            deadline: self
                .deadline
                .into_iter()
                .fold(Instant::now() + effort.time, Instant::min),
            late: false,
        };
        if trace.counters.preemptions > FEW_PREEMPTIONS && steps <= STEPS_WITH_ENABLED {
            self.leave_out(&case, &mut shrunk.steps, &mut budget, fails)?;
        }
        loop {
            let mut shrinker = Shrinker::new(std::mem::take(&mut shrunk.steps));
            if !fails {
                shrinker = shrinker.at_most(CANDIDATES_OF_A_REPORT);
            }
            self.reduce(&case, &mut shrinker, &mut budget)?;
            shrunk.steps = shrinker.best().to_vec();
            let found = match shrinker.preemptions() {
                Some(0) => Search::None,
                Some(preemptions) if fails => {
                    let known = Known {
                        case: &case,
                        steps: &shrunk.steps,
                        preemptions,
                    };
                    self.with_fewer(&known, &mut budget)?
                }
                _ => Search::Open,
            };
            match found {
                Search::Found(fewer) => {
                    shrunk.steps = fewer;
                    continue;
                }
                Search::None => shrunk.fewest = shrinker.preemptions(),
                Search::Open => {}
            }
            break;
        }
        let left = budget.executions;
        let why = match (self.interrupt.stopped(), budget.late) {
            (true, _) => Some("shrinking ended with the search".to_string()),
            (false, true) => Some(format!(
                "shrinking ended after {:?}{}",
                effort.time,
                if fails { " (--shrink-time)" } else { "" }
            )),
            (false, false) => None,
        };
        shrunk.note = why.filter(|_| left > 0).map(|why| Note {
            text: format!("{why} with {left} executions to go: a simpler schedule may do"),
            site: None,
        });
        Ok(shrunk)
    }

    /// Leaves out what preemptions it can, many at once.
    fn leave_out(
        &mut self,
        case: &Case,
        steps: &mut Vec<Step>,
        budget: &mut Budget,
        fails: bool,
    ) -> Result<()> {
        let records = flags::TOLERANT | fewer::RECORDS | case.records(steps);
        let Some(start) = self.rerun(&case.job, steps, records)? else {
            return Ok(());
        };
        let Some(known) = decisions(&start) else {
            return Ok(());
        };
        let mut best = start.counters.preemptions;
        let mut search = Ddmin::new(&known);
        let mut candidates = match fails {
            true => usize::MAX,
            false => CANDIDATES_OF_A_REPORT,
        };
        while let Some(candidate) = search.next()
            && candidates > 0
            && !self.interrupt.requested()
            && budget.spend()
        {
            candidates -= 1;
            let run = self.rerun(&case.job, &candidate, records)?;
            let run = run.filter(|run| run.counters.preemptions < best);
            let same = self.is_same(run.as_ref(), case.seen, case.failure)?;
            let run = run.filter(|_| same);
            let better = run.as_ref().and_then(decisions);
            search.observe(better.as_deref());
            if let (Some(run), Some(_)) = (run, better) {
                best = run.counters.preemptions;
                *steps = run.taken;
            }
        }
        Ok(())
    }

    fn reduce(&mut self, case: &Case, shrinker: &mut Shrinker, budget: &mut Budget) -> Result<()> {
        let records = flags::TOLERANT | case.records(shrinker.best());
        while let Some(candidate) = shrinker.next()
            && !self.interrupt.stopped()
            && budget.spend()
        {
            let tried = self.rerun(&case.job, &candidate, records)?;
            let same = self.is_same(tried.as_ref(), case.seen, case.failure)?;
            if let Some(tried) = tried {
                shrinker.observe(same, &tried.taken, tried.counters.preemptions);
            }
        }
        Ok(())
    }

    /// The same failure with fewer preemptions than so many.
    fn with_fewer(&mut self, known: &Known<'_>, budget: &mut Budget) -> Result<Search> {
        let (case, preemptions) = (known.case, known.preemptions);
        let records = fewer::RECORDS | case.records(known.steps);
        let Some(start) = self.rerun(&case.job, known.steps, records)? else {
            return Ok(Search::Open);
        };
        let mut all = Fewer::new(&start, preemptions);
        while budget.search > 0
            && let Some(prefix) = all.next()
            && !self.interrupt.stopped()
            && budget.spend()
        {
            budget.search -= 1;
            let Some(run) = self.rerun(&case.job, &prefix, records)? else {
                continue;
            };
            let fewer = run.counters.preemptions < preemptions;
            if fewer && self.is_same(Some(&run), case.seen, case.failure)? {
                return Ok(Search::Found(run.taken));
            }
            all.observe(&run);
        }
        match all.exhausted() {
            true => Ok(Search::None),
            false => match self.with_fewer_at_random(known, budget)? {
                Search::Open if preemptions > FEW_PREEMPTIONS => {
                    self.with_fewer_on_a_walk(known, budget)
                }
                found => Ok(found),
            },
        }
    }

    /// The same, from the start: schedules with random priorities and one change of them fewer.
    fn with_fewer_at_random(&mut self, known: &Known<'_>, budget: &mut Budget) -> Result<Search> {
        let (case, preemptions) = (known.case, known.preemptions);
        let mut job = case.job.clone();
        job.prefix = Vec::new();
        job.flags |= case.records(known.steps);
        let steps = total_steps(known.steps).max(1);
        for seed in 0..FRESH_STARTS {
            if self.interrupt.stopped() || !budget.spend() {
                break;
            }
            job.tail = Tail::Pct {
                seed,
                depth: preemptions.min(64) as u32,
                // What decides a long schedule is often near its start.
                steps: (steps >> (2 * (seed % SPANS))).max(SHORTEST_SPAN.min(steps)),
            };
            let run = self.run(&job)?;
            let same = self.is_same(run.as_ref(), case.seen, case.failure)?;
            let fewer = |run: &Trace| same && run.counters.preemptions < preemptions;
            if let Some(run) = run.filter(fewer) {
                return Ok(Search::Found(run.taken));
            }
        }
        Ok(Search::Open)
    }

    /// The same, by changing the known schedule here and there.
    fn with_fewer_on_a_walk(&mut self, known: &Known<'_>, budget: &mut Budget) -> Result<Search> {
        let (case, preemptions) = (known.case, known.preemptions);
        let records = flags::TOLERANT | case.records(known.steps);
        let mut walk = Walk::new(known.steps, preemptions);
        let (end, most) = (Instant::now() + WALK.0, WALK.1);
        for _ in 0..most {
            if self.interrupt.stopped() || Instant::now() >= end || !budget.spend() {
                break;
            }
            let candidate = walk.next();
            let run = self.rerun(&case.job, &candidate, records)?;
            let run = run.filter(|run| run.counters.preemptions <= preemptions);
            let same = run.is_some() && self.is_same(run.as_ref(), case.seen, case.failure)?;
            if let Some(run) = run.filter(|_| same) {
                if run.counters.preemptions < preemptions {
                    return Ok(Search::Found(run.taken));
                }
                walk.observe(&run.taken, run.counters.preemptions);
            }
        }
        Ok(Search::Open)
    }
}

/// The decisions of an execution with records of who was enabled, if these say what each switch costs.
fn decisions(trace: &Trace) -> Option<Vec<Point>> {
    let points = points(&trace.events);
    let preemptions = points.iter().filter(|point| point.preempts()).count();
    (preemptions as u64 == trace.counters.preemptions).then_some(points)
}

/// Is there a schedule with fewer preemptions?
enum Search {
    Found(Vec<Step>),
    /// No: all were run.
    None,
    /// That is not known.
    Open,
}
