//! The strategy `frontier`: one question over all trees, until nothing unseen is reachable.

use super::bytes;
use super::forest::{Forest, Pattern};
use super::formula::{Aim, Ends, Formula};
use super::hazards::Hazard;
use super::later::Later;
use super::plan::{Found, Plan};
use super::question::{self, Attempts, Lead, Missed, Purpose, Question, Share};
use super::racing::{self, Races};
use super::report::Unreached;
use super::solver::{Answer, Context, Effort, Limits};
use super::together::Hope;
use super::untested;
use crate::stop;
use std::collections::{BTreeSet, HashSet, VecDeque};

/// What to do next.
pub enum Decision {
    /// Run this. `tolerant`: an earlier attempt missed.
    Run { plan: Plan, tolerant: bool },
    /// Nothing unseen is reachable.
    Exhausted,
    /// Out of time or space, for this reason.
    GaveUp(&'static str),
}

/// Why a question has no answer.
pub const SOLVER: &str = "the solver gave up";
/// Why a question cannot be asked.
pub const TOO_LARGE: &str = "the formula would be too large";

/// After so many jobs, a question gives as many more as there were since then. Before that each job
/// is chosen with all that the others have shown, and it takes fewer until there is an error.
const SINGLE: u64 = 16;

/// State of the strategy over one forest.
#[derive(Default)]
pub struct Frontier {
    context: Context,
    attempts: Attempts,
    /// Deadlocks that were predicted and did not happen.
    unconfirmed: Vec<Pattern>,
    /// Wrong orders that executions have shown, or were to show.
    hazards: HashSet<Hazard>,
    /// Of these, those whose execution left its schedule.
    not_shown: Vec<Hazard>,
    /// Locations whose first content differs between executions, and can be read.
    unsteady: usize,
    /// What of pipes and event counters is beyond the formula.
    channel_bounds: BTreeSet<&'static str>,
    /// More waits can end for no reason than are allowed.
    wakes_left_out: bool,
    /// See [`bytes::query`].
    accessed_plainly: bool,
    /// What the jobs under way are for, in the order in which they will be observed.
    purposes: VecDeque<Purpose>,
    /// What was known when they were made.
    facts: u64,
    /// How many jobs it gave, and how many at the last question.
    decisions: u64,
    asked_at: u64,
    /// More jobs from the last question.
    later: Later,
    hope: Hope,
    /// The formula of the last question that had a model, where it is wanted.
    pub kept: Option<String>,
    /// Each question gives several jobs, also the first ones.
    pub ahead: bool,
}

impl Frontier {
    /// The same strategy before it has seen anything.
    pub fn anew(&self) -> Frontier {
        Frontier {
            kept: self.kept.as_ref().map(|_| String::new()),
            ahead: self.ahead,
            ..Frontier::default()
        }
    }

    /// Looks for a frontier, then for a deadlock, a wrong order, and a race; from time to time for a
    /// deadlock and a wrong order first.
    pub fn decide(
        &mut self,
        forest: &Forest,
        races: Option<&mut Races>,
        limits: Limits<'_>,
        effort: &mut Effort,
    ) -> Decision {
        self.begin(forest);
        if let Some(plan) = self.later.next(forest) {
            return self.run(to_its_frontiers(plan));
        }
        let due = self.due();
        self.context.untested = due.untested;
        let mut formula = Formula::new(forest, &mut self.context, Ends::Excluded, effort);
        self.unsteady = formula.unsteady.len();
        if formula.too_large {
            return Decision::GaveUp(TOO_LARGE);
        }
        self.channel_bounds = formula.channel_bounds();
        let missed = Missed {
            attempts: &self.attempts,
            deadlocks: &self.unconfirmed,
            hazards: &self.hazards,
        };
        let mut question = Question {
            missed,
            share: due,
            limits,
            hope: &mut self.hope,
            kept: self.kept.as_mut(),
        };
        match question.ask(&mut formula, effort) {
            Ok(Some(lead)) => {
                drop(formula);
                self.later = lead.later;
                return self.run((lead.plan, lead.purpose));
            }
            Ok(None) => {}
            Err(why) => return Decision::GaveUp(why),
        }
        let mut found = missed.wrong_end(&formula, |f| f.check(limits, effort));
        if let (Found::No, Some(races)) = (&found, races) {
            let race = racing::query(&formula, races, limits, effort);
            found = race.map(|()| Purpose::Race);
        }
        match found {
            Found::Yes(plan, purpose) => {
                drop(formula);
                return self.run((plan, purpose));
            }
            Found::No => {}
            Found::Unknown => return Decision::GaveUp(SOLVER),
        }
        match bytes::query(&formula, |f| f.check(limits, effort)) {
            Some(found) => self.accessed_plainly = found,
            None => return Decision::GaveUp(SOLVER),
        }
        if forest.spurious {
            formula.solver.assert(&formula.more_could_end_alone());
            let none = matches!(formula.check(limits, effort), Answer::Unsat);
            self.wakes_left_out = !none;
        }
        Decision::Exhausted
    }

    /// Another job is asked for.
    fn begin(&mut self, forest: &Forest) {
        self.facts = forest.facts;
        self.decisions += 1;
        self.purposes.clear();
    }

    /// A question that is asked now, about all frontiers. What is urgent is due after 1 job, 2, 3, 4,
    /// 6, 8, 12, ..., so that it does not wait until all is seen, and a proof costs little more.
    fn due(&mut self) -> Share {
        let jobs = self.asked_at + 1..self.decisions + 1;
        self.asked_at = self.decisions;
        let single = if self.ahead { 0 } else { SINGLE };
        Share {
            n: 0,
            of: 1,
            urgent: (jobs.clone()).any(|n| n.is_power_of_two() || untested::is_due(n)),
            untested: jobs.into_iter().any(untested::is_due),
            decisions: self.decisions,
            more: self.decisions.saturating_sub(single),
        }
    }

    fn run(&mut self, job: (Plan, Purpose)) -> Decision {
        let (plan, tolerant) = self.give(job);
        Decision::Run { plan, tolerant }
    }

    /// Gives a job, and says whether an earlier one with one of its aims has missed.
    fn give(&mut self, (plan, purpose): (Plan, Purpose)) -> (Plan, bool) {
        let tolerant = plan.aims.iter().any(|aim| self.attempts.contains_key(aim));
        self.purposes.push_back(purpose);
        (plan, tolerant)
    }

    /// Locations that were changed without a record before they were first recorded.
    pub fn unsteady(&self) -> usize {
        self.unsteady
    }

    /// What of pipes and event counters was left out.
    pub fn channel_bounds(&self) -> impl Iterator<Item = &'static str> {
        self.channel_bounds.iter().copied()
    }

    /// Did the number of waits that may end for no reason leave something out?
    pub fn wakes_left_out(&self) -> bool {
        self.wakes_left_out
    }

    /// Is memory of a synchronisation object accessed while others use it?
    pub fn accessed_plainly(&self) -> bool {
        self.accessed_plainly
    }

    /// Wrong orders of steps on one object that are reachable.
    pub fn wrong_orders(&self) -> usize {
        self.hazards.iter().filter(|hazard| !hazard.right).count()
    }

    /// Up to as many jobs as there are `workers`, of the last question or of as many new ones at the
    /// same time, each about a part of the frontiers. Nothing: there are no frontiers. What is urgent is
    /// asked for alone first as often as by [`Frontier::decide`], in the question about the first part.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn decide_several(
        &mut self,
        forest: &Forest,
        limits: Limits<'_>,
        effort: &mut Effort,
        workers: usize,
    ) -> Result<Vec<(Plan, bool)>, &'static str> {
        self.begin(forest);
        let later = self.later.several(forest, workers).into_iter();
        let mut plans: Vec<(Plan, Purpose)> = later.map(to_its_frontiers).collect();
        if plans.is_empty() {
            plans = self.ask_several(forest, limits, effort, workers)?;
        }
        self.decisions += (plans.len() as u64).saturating_sub(1);
        Ok(plans.into_iter().map(|job| self.give(job)).collect())
    }

    fn ask_several(
        &mut self,
        forest: &Forest,
        limits: Limits<'_>,
        effort: &mut Effort,
        workers: usize,
    ) -> Result<Vec<(Plan, Purpose)>, &'static str> {
        let due = self.due();
        let missed = Missed {
            attempts: &self.attempts,
            deadlocks: &self.unconfirmed,
            hazards: &self.hazards,
        };
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let ask = |n| {
                let share = Share {
                    n,
                    of: workers,
                    urgent: due.urgent && n == 0,
                    more: due.more / workers as u64,
                    ..due
                };
                let hope = self.hope;
                let asked = stop::current();
                scope.spawn(move || {
                    stop::under(asked, || part(forest, missed, limits, (share, hope)))
                })
            };
            let threads: Vec<_> = (0..workers).map(ask).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined
                .map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut plans: Vec<(Plan, Purpose)> = Vec::new();
        let mut trouble = None;
        for part in parts {
            effort.add(part.effort);
            match part.lead {
                Ok(Some(lead)) => {
                    self.hope = part.hope;
                    self.later.append(lead.later);
                    // Two parts may come upon the same execution.
                    let same = |p: &(Plan, _)| {
                        p.0.prefix == lead.plan.prefix && p.0.inputs == lead.plan.inputs
                    };
                    if !plans.iter().any(same) {
                        plans.push((lead.plan, lead.purpose));
                    }
                }
                Ok(None) => {}
                Err(why) => trouble = Some(why),
            }
        }
        match trouble {
            Some(why) if plans.is_empty() => Err(why),
            _ => Ok(plans),
        }
    }

    /// Was the first of the jobs under way of use? What it was for is tried again, then given up.
    /// What others have learnt since it was made may be what it was for. `diverged`: it left its
    /// schedule, and so has not shown an order of steps that it was to show.
    pub fn observed(&mut self, forest: &Forest, diverged: bool) {
        let learnt = forest.facts > self.facts;
        match self.purposes.pop_front() {
            Some(Purpose::Frontiers(aims)) if !learnt => {
                for aim in aims {
                    *self.attempts.entry(aim).or_default() += 1;
                }
            }
            Some(Purpose::Hazard(hazard)) => {
                self.hazards.insert(hazard);
                if diverged {
                    self.not_shown.push(hazard);
                }
            }
            Some(Purpose::Deadlock(pattern)) if !learnt => self.unconfirmed.push(pattern),
            _ => {}
        }
    }

    /// Is there anything that is reachable in the formula and was not reached?
    pub fn has_given_up(&self) -> bool {
        let mut attempts = self.attempts.values();
        attempts.any(|n| question::is_given_up(*n))
            || !self.unconfirmed.is_empty()
            || !self.not_shown.is_empty()
    }

    /// What is reachable in the formula and was not reached.
    pub fn unreached(&self, forest: &Forest) -> Vec<Unreached> {
        let given_up = self.attempts.iter().filter(|a| question::is_given_up(*a.1));
        let mut all: Vec<Unreached> = given_up
            .map(|((node, aim), _)| Unreached {
                what: text(*aim),
                at: vec![forest.node(*node).pc],
            })
            .collect();
        all.extend(self.unconfirmed.iter().map(|pattern| Unreached {
            what: "a deadlock",
            at: pattern.stuck.iter().map(|n| forest.node(*n).pc).collect(),
        }));
        all.extend(self.not_shown.iter().map(|hazard| Unreached {
            what: "an order of two steps",
            at: hazard.steps().map(|n| forest.node(n).pc).to_vec(),
        }));
        all.sort();
        all
    }
}

/// What came of the question about a share.
struct Part {
    lead: Result<Option<Lead>, &'static str>,
    hope: Hope,
    effort: Effort,
}

/// Asks about a share, with terms of its own: the solver's belong to a thread.
fn part(
    forest: &Forest,
    missed: Missed<'_>,
    limits: Limits<'_>,
    (share, mut hope): (Share, Hope),
) -> Part {
    let mut effort = Effort::default();
    let mut context = Context::new(share.untested);
    let mut formula = Formula::new(forest, &mut context, Ends::Excluded, &mut effort);
    let mut question = Question {
        missed,
        share,
        limits,
        hope: &mut hope,
        kept: None,
    };
    let lead = match formula.too_large {
        true => Err(TOO_LARGE),
        false => question.ask(&mut formula, &mut effort),
    };
    drop(formula);
    Part { lead, hope, effort }
}

fn to_its_frontiers(plan: Plan) -> (Plan, Purpose) {
    let aims = plan.aims.clone();
    (plan, Purpose::Frontiers(aims))
}

fn text(aim: Aim) -> &'static str {
    match aim {
        Aim::Decide => "another outcome of the decision",
        Aim::Hold => "the assumption holding",
        Aim::Execute => "the step",
        Aim::Enter => "what follows the last known step",
        Aim::Outcome(_) => "another outcome of the step",
        Aim::Result => "another result of the join",
    }
}

#[cfg(test)]
mod tests {
    use super::{Forest, Frontier, Hazard, Purpose};

    /// An order of two steps that an execution was to show: it is not asked for again, and if the execution
    /// left its schedule, that is said.
    #[test]
    fn an_order_that_was_not_shown_is_told() {
        let forest = Forest::new();
        for diverged in [false, true] {
            let mut frontier = Frontier::default();
            let hazard = Hazard::of(0, 0);
            frontier.purposes.push_back(Purpose::Hazard(hazard));
            frontier.observed(&forest, diverged);
            assert!(frontier.hazards.contains(&hazard));
            assert_eq!(frontier.has_given_up(), diverged);
            let unreached = frontier.unreached(&forest);
            assert_eq!(unreached.len(), usize::from(diverged), "{unreached:?}");
        }
    }
}
