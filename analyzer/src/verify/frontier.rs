//! The strategy `frontier`: one question over all trees, until nothing unseen is reachable.

use super::circuit::{Bool, any};
use super::deadlock;
use super::forest::{Forest, NodeId, Pattern, What};
use super::formula::{Aim, Ends, Formula, Target};
use super::hazards::{self, Hazard};
use super::later::Later;
use super::plan::{Found, Plan, to_frontiers};
use super::racing::{self, Races};
use super::report::Unreached;
use super::sat::Model;
use super::solver::{Answer, Context, Effort, Limits};
use super::together::Hope;
use super::untested;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// How often an execution may miss its frontier before that is given up.
const ATTEMPTS: u32 = 2;

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

/// How often executions missed what they were aimed at.
type Attempts = HashMap<(NodeId, Aim), u32>;

/// After so many jobs, a question gives as many more as there were since then. Before that each job
/// is chosen with all that the others have shown, and it takes fewer until there is an error.
const SINGLE: u64 = 16;

/// What a job was for.
enum Purpose {
    Frontiers(Vec<(NodeId, Aim)>),
    Deadlock(Pattern),
    Hazard(Hazard),
    Race,
}

/// State of the strategy over one forest.
#[derive(Default)]
pub struct Frontier {
    context: Context,
    attempts: Attempts,
    /// Deadlocks that were predicted and did not happen.
    unconfirmed: Vec<Pattern>,
    /// Wrong orders that executions have shown.
    hazards: HashSet<Hazard>,
    /// Locations whose first content differs between executions, and can be read.
    unsteady: usize,
    /// What of pipes and event counters is beyond the formula.
    channel_bounds: BTreeSet<&'static str>,
    /// More waits can end for no reason than are allowed.
    wakes_left_out: bool,
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
    /// deadlock and a wrong order first ([`Due`]).
    pub fn decide(
        &mut self,
        forest: &Forest,
        races: Option<&mut Races>,
        limits: Limits<'_>,
        effort: &mut Effort,
    ) -> Decision {
        self.begin(forest);
        if let Some(plan) = self.later.next(forest) {
            return self.run(plan);
        }
        let due = self.due();
        self.context.untested = due.untested;
        let mut formula = Formula::new(forest, &mut self.context, Ends::Excluded, effort);
        self.unsteady = formula.unsteady.len();
        if formula.too_large {
            return Decision::GaveUp(TOO_LARGE);
        }
        self.channel_bounds = formula.channel_bounds();
        let targets = std::mem::take(&mut formula.targets);
        let missed = Missed {
            attempts: &self.attempts,
            deadlocks: &self.unconfirmed,
            hazards: &self.hazards,
        };
        let wanted = missed.wanted(&formula, &targets);
        if !wanted.is_empty() {
            let times = effort_of(self.decisions);
            if due.urgent {
                let found = missed.wrong_end(&formula, |f| f.glance(limits, effort, times));
                if let Found::Yes(..) = found {
                    return decided(found, &mut self.purposes);
                }
            }
            formula.solver.push();
            formula.exclude_idle_rounds();
            let first = match due.urgent {
                true => urgent(forest, &wanted),
                false => Vec::new(),
            };
            let before = Before {
                first: &first,
                wanted: &wanted,
            };
            let answer = match before.ask(&formula, limits, (effort, times)) {
                Some(model) => Answer::Sat(model),
                None => {
                    formula.solver.assert(&reached(&wanted));
                    formula.check(limits, effort)
                }
            };
            if let (Answer::Sat(_), Some(kept)) = (&answer, &mut self.kept) {
                *kept = formula.solver.text();
            }
            match answer {
                Answer::Sat(model) => {
                    let model = (self.hope).together(&formula, &wanted, model, (limits, effort));
                    let plan = to_frontiers(&formula, &model, &wanted);
                    let rest = (due.more, &mut self.hope, limits, effort);
                    self.later = Later::of(&formula, &wanted, &plan, rest);
                    formula.solver.pop();
                    drop(formula);
                    return self.run(plan);
                }
                Answer::Unsat => formula.solver.pop(),
                Answer::Unknown => return Decision::GaveUp(SOLVER),
            }
        }
        let mut found = missed.wrong_end(&formula, |f| f.check(limits, effort));
        if let (Found::No, Some(races)) = (&found, races) {
            let race = racing::query(&formula, races, limits, effort);
            found = race.map(|()| Purpose::Race);
        }
        let decision = decided(found, &mut self.purposes);
        if forest.spurious && matches!(decision, Decision::Exhausted) {
            formula.solver.assert(&formula.more_could_end_alone());
            let none = matches!(formula.check(limits, effort), Answer::Unsat);
            self.wakes_left_out = !none;
        }
        decision
    }

    /// Another job is asked for.
    fn begin(&mut self, forest: &Forest) {
        self.facts = forest.facts;
        self.decisions += 1;
        self.purposes.clear();
    }

    /// See [`Due`], of a question that is asked now.
    fn due(&mut self) -> Due {
        let jobs = self.asked_at + 1..self.decisions + 1;
        self.asked_at = self.decisions;
        let single = if self.ahead { 0 } else { SINGLE };
        Due {
            more: self.decisions.saturating_sub(single),
            urgent: (jobs.clone()).any(|n| n.is_power_of_two() || untested::is_due(n)),
            untested: jobs.into_iter().any(untested::is_due),
        }
    }

    /// Has a job with one of its aims missed?
    fn is_tolerant(&self, plan: &Plan) -> bool {
        plan.aims.iter().any(|aim| self.attempts.contains_key(aim))
    }

    fn run(&mut self, plan: Plan) -> Decision {
        let tolerant = self.is_tolerant(&plan);
        let (plan, purpose) = to_its_frontiers(plan);
        self.purposes.push_back(purpose);
        Decision::Run { plan, tolerant }
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

    /// Wrong orders of steps on one object that are reachable.
    pub fn wrong_orders(&self) -> usize {
        self.hazards.len()
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
        let give = |(plan, purpose): (Plan, Purpose)| {
            let tolerant = self.is_tolerant(&plan);
            self.purposes.push_back(purpose);
            (plan, tolerant)
        };
        Ok(plans.into_iter().map(give).collect())
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
        let decisions = self.decisions;
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let ask = |n| {
                let share = Share {
                    n,
                    of: workers,
                    urgent: due.urgent && n == 0,
                    untested: due.untested,
                    decisions,
                    more: due.more / workers as u64,
                    hope: self.hope,
                };
                scope.spawn(move || part(missed, forest, limits, share))
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
            self.later.append(part.later);
            self.hope = part.hope.unwrap_or(self.hope);
            match part.plan {
                Ok(Some((plan, purpose))) => {
                    // Two parts may come upon the same execution.
                    let same =
                        |p: &(Plan, _)| p.0.prefix == plan.prefix && p.0.inputs == plan.inputs;
                    if !plans.iter().any(same) {
                        plans.push((plan, purpose));
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
    /// What others have learnt since it was made may be what it was for.
    pub fn observed(&mut self, forest: &Forest) {
        let learnt = forest.facts > self.facts;
        match self.purposes.pop_front() {
            Some(Purpose::Frontiers(aims)) if !learnt => {
                for aim in aims {
                    *self.attempts.entry(aim).or_default() += 1;
                }
            }
            Some(Purpose::Hazard(hazard)) => {
                self.hazards.insert(hazard);
            }
            Some(Purpose::Deadlock(pattern)) if !learnt => self.unconfirmed.push(pattern),
            _ => {}
        }
    }

    /// What is reachable in the formula and was not reached.
    pub fn unreached(&self, forest: &Forest) -> Vec<Unreached> {
        let given_up = self.attempts.iter().filter(|a| *a.1 >= ATTEMPTS);
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
        all.sort();
        all
    }
}

/// What executions were made for and did not show, or showed: it is not to be asked for again.
#[derive(Clone, Copy)]
struct Missed<'a> {
    attempts: &'a Attempts,
    deadlocks: &'a [Pattern],
    hazards: &'a HashSet<Hazard>,
}

impl Missed<'_> {
    /// The targets without those that are given up; what is reached by way of these is not asked for.
    fn wanted<'t>(&self, formula: &Formula<'_>, targets: &'t [Target]) -> Vec<&'t Target> {
        let (dropped, wanted): (Vec<&Target>, Vec<&Target>) =
            targets.iter().partition(|t| given_up(self.attempts, t));
        for target in dropped {
            formula.solver.assert(&target.condition.not());
        }
        wanted
    }

    /// Looks for a deadlock, then for a wrong order of steps. `check` asks the formula.
    fn wrong_end(
        &self,
        formula: &Formula<'_>,
        mut check: impl FnMut(&Formula<'_>) -> Answer,
    ) -> Found<Purpose> {
        match deadlock::query(formula, self.deadlocks, &mut check) {
            Found::No => hazards::query(formula, self.hazards, check).map(Purpose::Hazard),
            found => found.map(Purpose::Deadlock),
        }
    }
}

fn to_its_frontiers(plan: Plan) -> (Plan, Purpose) {
    let aims = plan.aims.clone();
    (plan, Purpose::Frontiers(aims))
}

/// What follows from the answer to a question.
fn decided(found: Found<Purpose>, purposes: &mut VecDeque<Purpose>) -> Decision {
    match found {
        Found::Yes(plan, purpose) => {
            purposes.push_back(purpose);
            Decision::Run {
                plan,
                tolerant: false,
            }
        }
        Found::No => Decision::Exhausted,
        Found::Unknown => Decision::GaveUp(SOLVER),
    }
}

/// What a question asks for alone, before all frontiers together, and what it gives.
struct Due {
    /// What is urgent: after 1 job, 2, 3, 4, 6, 8, 12, ..., so that it does not wait until all is seen,
    /// and a proof costs little more.
    urgent: bool,
    /// What is behind untested predecessor pairs.
    untested: bool,
    /// So many more jobs may come from it.
    more: u64,
}

/// What came of the question about a part of the targets.
struct Part {
    plan: Result<Option<(Plan, Purpose)>, &'static str>,
    later: Later,
    /// What it has come to, if it was needed.
    hope: Option<Hope>,
    effort: Effort,
}

impl Part {
    fn alone(plan: Result<Option<(Plan, Purpose)>, &'static str>, effort: Effort) -> Part {
        let later = Later::default();
        Part {
            plan,
            later,
            hope: None,
            effort,
        }
    }
}

/// The targets that a part is about.
#[derive(Clone, Copy)]
struct Share {
    /// Those with this number in each group.
    n: usize,
    /// The size of a group.
    of: usize,
    /// First, what is urgent alone, of all.
    urgent: bool,
    /// Then, what is behind untested predecessor pairs.
    untested: bool,
    /// So many jobs were given.
    decisions: u64,
    /// So many more may come from this question.
    more: u64,
    hope: Hope,
}

/// Looks for a frontier among the targets of a share.
fn part(missed: Missed<'_>, forest: &Forest, limits: Limits<'_>, share: Share) -> Part {
    let mut effort = Effort::default();
    // The solver's terms belong to a thread.
    let mut context = Context::new(share.untested);
    let mut formula = Formula::new(forest, &mut context, Ends::Excluded, &mut effort);
    if formula.too_large {
        return Part::alone(Err(TOO_LARGE), effort);
    }
    let targets = std::mem::take(&mut formula.targets);
    let every = missed.wanted(&formula, &targets);
    let times = match share.urgent {
        true => effort_of(share.decisions),
        false => 1,
    };
    if share.urgent && !every.is_empty() {
        let found = missed.wrong_end(&formula, |f| f.glance(limits, &mut effort, times));
        if let Found::Yes(plan, purpose) = found {
            return Part::alone(Ok(Some((plan, purpose))), effort);
        }
    }
    let first = match share.urgent {
        true => urgent(forest, &every),
        false => Vec::new(),
    };
    let wanted = every.iter().copied().skip(share.n).step_by(share.of);
    let wanted: Vec<&Target> = wanted.collect();
    if wanted.is_empty() && first.iter().all(Vec::is_empty) {
        return Part::alone(Ok(None), effort);
    }
    formula.exclude_idle_rounds();
    let before = Before {
        first: &first,
        wanted: &wanted,
    };
    let answer = match before.ask(&formula, limits, (&mut effort, times)) {
        Some(model) => Answer::Sat(model),
        None => {
            formula.solver.assert(&reached(&wanted));
            formula.check(limits, &mut effort)
        }
    };
    let mut hope = share.hope;
    // What is urgent may be of another share.
    let targets = if share.urgent { &every } else { &wanted };
    let plan = match answer {
        Answer::Sat(model) => {
            let model = hope.together(&formula, targets, model, (limits, &mut effort));
            to_frontiers(&formula, &model, targets)
        }
        Answer::Unsat => return Part::alone(Ok(None), effort),
        Answer::Unknown => return Part::alone(Err(SOLVER), effort),
    };
    let rest = (share.more, &mut hope, limits, &mut effort);
    let later = Later::of(&formula, &wanted, &plan, rest);
    Part {
        plan: Ok(Some(to_its_frontiers(plan))),
        later,
        hope: Some(hope),
        effort,
    }
}

/// As much effort for a few targets alone as so many questions had together, were all of them small.
fn effort_of(decisions: u64) -> u32 {
    u32::try_from(decisions).unwrap_or(u32::MAX)
}

/// The targets that are asked for alone now and then: those that may be errors, and after them the
/// steps of statements that were never executed. What follows these may show that more is shared, and
/// then all that was seen before has to be seen again.
fn urgent<'t>(forest: &Forest, targets: &[&'t Target]) -> Vec<Vec<&'t Target>> {
    let guards = |t: &&&Target| match forest.node(t.node).what {
        What::Decide(_, why) => why.guards(),
        _ => false,
    };
    let executed = forest.nodes.iter().filter(|n| !n.next.is_empty());
    let executed: HashSet<u64> = executed.map(|n| n.pc).collect();
    let is_new =
        |t: &&&Target| t.aim == Aim::Execute && !executed.contains(&forest.node(t.node).pc);
    let errors = targets.iter().filter(guards).copied().collect();
    let new = targets.iter().filter(is_new).copied().collect();
    vec![errors, new]
}

/// What is asked for before all frontiers together.
struct Before<'w, 't> {
    /// One of these alone, group after group.
    first: &'w [Vec<&'t Target>],
    /// Then, of these, what is behind untested predecessor pairs, where the formula has them.
    wanted: &'w [&'t Target],
}

impl Before<'_, '_> {
    /// A model in which one of them is reached, if it takes little to find one.
    fn ask(
        &self,
        formula: &Formula<'_>,
        limits: Limits<'_>,
        (effort, times): (&mut Effort, u32),
    ) -> Option<Model> {
        for targets in self.first.iter().filter(|targets| !targets.is_empty()) {
            let reached = reached(targets);
            if let Some(model) = alone(formula, &reached, limits, (effort, times)) {
                return Some(model);
            }
        }
        let behind = untested::behind(formula, self.wanted)?;
        alone(formula, &behind, limits, (effort, 1))
    }
}

/// Some of these are reached.
pub fn reached(targets: &[&Target]) -> Bool {
    let conditions: Vec<Bool> = targets.iter().map(|t| t.condition.clone()).collect();
    any(&conditions)
}

/// A model in which this holds, if it takes little to find one.
fn alone(
    formula: &Formula<'_>,
    what: &Bool,
    limits: Limits<'_>,
    (effort, times): (&mut Effort, u32),
) -> Option<Model> {
    formula.solver.push();
    formula.solver.assert(what);
    let answer = formula.glance(limits, effort, times);
    formula.solver.pop();
    match answer {
        Answer::Sat(model) => Some(model),
        Answer::Unsat | Answer::Unknown => None,
    }
}

fn given_up(attempts: &Attempts, target: &Target) -> bool {
    let attempts = attempts.get(&(target.node, target.aim));
    attempts.is_some_and(|n| *n >= ATTEMPTS)
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
