//! The formula over all trees: which prefixes of executions are consistent (DESIGN §8).
//!
//! The partial-order encoding. For each place of a thread (its n-th step): does the thread come
//! that far, and for pairs of places their order (`order`). A node is *reached* when its thread stands
//! at it; what is local after a step happens together with it; a step node is executed when it is
//! reached and the thread comes that far. The constraints: program order and creation; a join
//! after an end of the joined thread; sections of one lock one after the other, a failed attempt
//! within another's section (`exclusion`); a wait for a condition ends by a signal (`conditions`);
//! operations on semaphores, barriers, once controls and event counters follow one another
//! (`objects`); what is read from a pipe was written to it before (`channels`); each read
//! gets the value of the last write before it (`memory`). The process has not ended: a prefix is what
//! happens before that. An order is asked for only between steps that are executed.

use super::channels::{self, Pipes};
use super::circuit::{Bool, all, any};
use super::conditions::{self, Conditions};
use super::counters::{self, Location};
use super::flow;
use super::forest::{Forest, NodeId, Pattern, TreeId, What};
use super::intervals::Interval;
use super::kinds::{EDEADLK, ETIMEDOUT, NOT_JOINED, UNKNOWN, fails_with};
use super::locks::{Locks, Sections, Taking};
use super::memory;
use super::objects::{self, Objects};
use super::order::Order;
use super::places::Place;
use super::sat::{Model, holds};
use super::solver::{Answer, Context, Effort, Limits, Solver};
use super::sums;
use super::terms::{Term, TermId};
use super::untested::Tested;
use super::vectors::{self, BV, equal};
use raddle_protocol::event::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// What is asked for at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aim {
    /// An outcome of a decision that was never taken.
    Decide,
    /// An assumption that never held.
    Hold,
    /// The first execution of an announced step.
    Execute,
    /// The next step of a thread of which that is not known.
    Enter,
    /// A step that comes out as it never did: like this, or (`None`) anyhow else.
    Outcome(Option<u64>),
    /// A join of a thread with a result not seen there.
    Result,
}

/// What becomes of the paths that end the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A prefix lies before the end of the process.
    Excluded,
    /// The step that leads to the end is the last of all.
    Last,
}

/// A frontier.
pub struct Target {
    pub node: NodeId,
    pub aim: Aim,
    pub condition: Bool,
}

/// A forest as constraints.
pub struct Formula<'f> {
    pub forest: &'f Forest,
    pub locks: Locks,
    pub conditions: Conditions,
    pub objects: Objects,
    pub pipes: Pipes,
    order: Order,
    pub solver: Solver,
    /// The thread stands, or has stood, at the node.
    pub at: Vec<Bool>,
    /// Per step node: it is executed.
    exec: Vec<Option<Bool>>,
    /// Per tree: the last steps of the thread.
    exits: Vec<Vec<NodeId>>,
    /// Per pair of trees: one execution can have both.
    coexist: Vec<Vec<bool>>,
    /// Per end of a round that may have been in vain: it was.
    pub idle: BTreeMap<NodeId, Bool>,
    context: &'f mut Context,
    pub targets: Vec<Target>,
    /// Cells that some read can find as they were at first, which was not always the same.
    pub unsteady: BTreeSet<u64>,
    /// Reads, and what holds if they find what a certain write of another thread has left, where no
    /// execution has shown the two statements one after the other.
    pub untested: Vec<(NodeId, Bool)>,
    /// It would take too many constraints: the formula is not complete.
    pub too_large: bool,
}

/// The variable of one byte of an input.
pub fn input_byte(tree: TreeId, index: u32, byte: u32) -> BV {
    BV::new_const(format!("i{tree}_{index}_{byte}"), 8)
}

/// The variable of what a read returns.
pub fn read_value(place: Place, width: u8) -> BV {
    let name = format!("r{}_{}_{width}", place.tree, place.step);
    BV::new_const(name, width.into())
}

/// Would pairs of threads, or of sections of a lock, take more time than anybody waits?
fn has_too_many_pairs(forest: &Forest, locks: &Locks) -> bool {
    const THREADS: usize = 1000;
    const SECTIONS: usize = 4_000_000;
    // Each node may know of each thread how far it was.
    const CLOCKS: usize = 50_000_000;
    let pairs = |s: &Sections| s.len().pow(2);
    let sections = locks.sections.values().map(pairs).sum::<usize>();
    let threads = forest.trees.len();
    threads > THREADS || threads * forest.nodes.len() > CLOCKS || sections > SECTIONS
}

fn leaf(term: Term) -> BV {
    match term {
        Term::Input {
            tree,
            index,
            offset,
            width,
        } => {
            let range = offset..offset + u32::from(width / 8);
            let mut bytes = range.map(|b| input_byte(tree, index, b));
            let first = bytes.next();
            let joined = first.map(|low| bytes.fold(low, |low, high| high.concat(&low)));
            joined.unwrap_or_else(|| vectors::constant(0, width))
        }
        Term::Read { place, width } => read_value(place, width),
        Term::Const { width, value } => vectors::constant(value, width),
        Term::Op { width, .. } => vectors::constant(0, width),
    }
}

impl<'f> Formula<'f> {
    /// Builds all constraints that hold for every prefix. `context` must belong to the forest.
    pub fn new(
        forest: &'f Forest,
        context: &'f mut Context,
        ends: Ends,
        effort: &mut Effort,
    ) -> Formula<'f> {
        let start = Instant::now();
        let locks = Locks::new(forest);
        let too_large = has_too_many_pairs(forest, &locks);
        let mut exits = vec![Vec::new(); forest.trees.len()];
        for (id, node) in (0..).zip(&forest.nodes) {
            if node.action().is_some_and(|a| a.kind == Kind::ThreadExit) {
                exits[node.tree as usize].push(id);
            }
        }
        let mut formula = Formula {
            forest,
            locks,
            conditions: conditions::collect(forest),
            objects: objects::collect(forest),
            pipes: channels::collect(forest),
            order: Order::default(),
            solver: context.solver(),
            at: Vec::with_capacity(forest.nodes.len()),
            exec: vec![None; forest.nodes.len()],
            exits,
            coexist: Vec::new(),
            idle: BTreeMap::new(),
            context,
            targets: Vec::new(),
            unsteady: BTreeSet::new(),
            untested: Vec::new(),
            too_large,
        };
        if !too_large {
            formula.constrain(ends);
        }
        effort.encoding += start.elapsed();
        formula
    }

    fn constrain(&mut self, ends: Ends) {
        let forest = self.forest;
        self.order = Order::new(forest);
        self.coexist = forest.coexisting();
        self.program_order();
        for id in 0..forest.nodes.len() as NodeId {
            self.position(id);
        }
        for id in 0..forest.nodes.len() as NodeId {
            if forest.node(id).what == What::End {
                self.process_end(id, ends);
            }
        }
        self.exclusion();
        self.condition_variables();
        self.machines();
        self.pipes();
        let said = sums::constrain(self);
        self.too_large |= !memory::constrain(self, &said);
        self.values_within_bounds(&said);
        if forest.by_value {
            self.inputs_are_zero();
        }
        self.atomic_sections();
        self.leave_out_rounds();
        self.known_deadlocks();
        for fact in self.order.stairs() {
            self.solver.assert(&fact);
        }
    }

    /// What reads return lies within its bounds. `said`: locations of which it is said already what they
    /// return.
    fn values_within_bounds(&self, said: &BTreeSet<Location>) {
        let mut counters = counters::counters(self.forest);
        counters.retain(|counter| !counter.is_guarded(&self.locks));
        let mut bounds = counters::bounds(self.forest, &self.order, &counters);
        for (place, width, found) in flow::bounds(self.forest, &self.order) {
            let entry = bounds.entry((place, width)).or_insert(found);
            // Of a read that cannot happen they may have nothing in common.
            *entry = entry.meet(found).unwrap_or(found);
        }
        for ((place, width), bounds) in bounds {
            self.lies_within(&read_value(place, width), bounds);
        }
        counters.retain(|counter| !said.contains(&counter.location));
        counters::constrain(self, &counters);
    }

    /// The value needs no more bits than its bounds have, and lies between them.
    fn lies_within(&self, value: &BV, bounds: Interval) {
        let (bits, width) = (bounds.bits(), value.size());
        if bits >= width {
            return;
        }
        let signed = bounds.low < 0;
        let short = match bits {
            0 => vectors::constant(0, width as u8),
            _ if signed => value.extract(bits - 1, 0).sign_ext(width - bits),
            _ => value.extract(bits - 1, 0).zero_ext(width - bits),
        };
        self.solver.assert(&equal(value, &short));
        let constant = |n: i128| vectors::constant(n as u64, width as u8);
        let (low, high) = (constant(bounds.low), constant(bounds.high));
        self.solver.assert(&value.slt(&low).not());
        self.solver.assert(&high.slt(value).not());
    }

    fn inputs_are_zero(&self) {
        let zero = vectors::constant(0, 8);
        for ((tree, index), bytes) in self.forest.terms.inputs() {
            for byte in bytes {
                let fact = equal(&input_byte(tree, index, byte), &zero);
                self.solver.assert(&fact);
            }
        }
    }

    /// The value of a term.
    pub fn value(&mut self, term: TermId) -> BV {
        self.context.values.get(&self.forest.terms, term, &mut leaf)
    }

    /// The step is executed; false for nodes that are no steps.
    pub fn executed(&self, id: NodeId) -> Bool {
        if self.is_exit(id) {
            // Joins refer to exits that stand later in the list: see `position`.
            return Bool::new_const(format!("x{id}"));
        }
        let exec = self.exec.get(id as usize).cloned().flatten();
        exec.unwrap_or_else(|| Bool::from_bool(false))
    }

    fn is_exit(&self, id: NodeId) -> bool {
        let action = self.forest.node(id).action();
        action.is_some_and(|a| a.kind == Kind::ThreadExit)
    }

    /// Does `a`, if it is executed, come before `b` in every execution?
    pub fn before(&self, a: Place, b: Place) -> bool {
        self.order.before(a, b)
    }

    /// Place `a` comes before place `b`, if both are executed.
    pub fn precedes(&self, a: Place, b: Place) -> Bool {
        self.order.precedes(a, b)
    }

    /// Is there a model in which the executed steps can be put in order? Gives up at the limits.
    pub fn check(&self, limits: Limits<'_>, effort: &mut Effort) -> Answer {
        self.ask(limits, effort, Solver::check)
    }

    /// The same, with little effort so many times.
    pub fn glance(&self, limits: Limits<'_>, effort: &mut Effort, times: u32) -> Answer {
        self.ask(limits, effort, |solver, limits| {
            solver.glance(limits, times)
        })
    }

    fn ask(
        &self,
        limits: Limits<'_>,
        effort: &mut Effort,
        check: impl for<'l> Fn(&Solver, Limits<'l>) -> Answer,
    ) -> Answer {
        let answer = effort.ask(limits, |limits| {
            let answer = check(&self.solver, limits);
            let Answer::Sat(model) = &answer else {
                return Some(answer);
            };
            let steps = self.steps(model);
            let units = self.whole_sections(&steps);
            let places = steps.into_keys().collect();
            let cycles = self.order.cycles(model, &places, &units);
            for clause in &cycles {
                self.solver.learn(clause);
            }
            cycles.is_empty().then_some(answer)
        });
        let spared = self.solver.take_spared();
        effort.queries -= spared;
        effort.spared += spared;
        answer
    }

    /// The executed steps of a model, by place.
    fn steps(&self, model: &Model) -> BTreeMap<Place, NodeId> {
        let mut steps = BTreeMap::new();
        for (id, node) in (0..).zip(&self.forest.nodes) {
            if node.action().is_some() && holds(model, &self.executed(id)) {
                steps.insert(self.forest.place(id), id);
            }
        }
        steps
    }

    /// The executed steps of a model of [`Formula::check`] in their order.
    pub fn sequence(&self, model: &Model) -> Vec<NodeId> {
        let steps = self.steps(model);
        let places = steps.keys().copied().collect();
        let units = self.whole_sections(&steps);
        let order = self.order.sequence(model, &places, &units);
        order.iter().map(|place| steps[place]).collect()
    }

    /// The pairs that are tested, where it matters.
    pub fn tested(&self) -> Option<&'f Tested> {
        let forest = self.forest;
        forest.tested.as_ref().filter(|_| self.context.untested)
    }

    /// Can one execution have both threads?
    pub fn coexist(&self, a: TreeId, b: TreeId) -> bool {
        self.coexist[a as usize][b as usize]
    }

    /// The thread waits at this step.
    pub fn waits_at(&self, id: NodeId) -> Bool {
        all(&[self.at[id as usize].clone(), self.executed(id).not()])
    }

    fn target(&mut self, node: NodeId, aim: Aim, condition: Bool) {
        self.targets.push(Target {
            node,
            aim,
            condition,
        });
    }

    /// The thread takes at least its first `place.step + 1` steps.
    pub fn comes_to(&self, place: Place) -> Bool {
        Bool::new_const(format!("c{}_{}", place.tree, place.step))
    }

    /// Whoever takes a step has taken those before it.
    fn program_order(&self) {
        let mut lengths = vec![0; self.forest.trees.len()];
        for node in self.forest.nodes.iter().filter(|n| n.action().is_some()) {
            let length = &mut lengths[node.tree as usize];
            *length = node.step.max(*length);
        }
        for (tree, last) in (0..).zip(&lengths) {
            for step in 0..*last {
                let (a, b) = (
                    Place { tree, step },
                    Place {
                        tree,
                        step: step + 1,
                    },
                );
                let far = self.comes_to(b).implies(self.comes_to(a));
                self.solver.assert(&far);
            }
        }
    }

    /// Defines when the node is reached, and what follows from its execution.
    fn position(&mut self, id: NodeId) {
        let node = self.forest.node(id);
        let at = match (node.parent, self.forest.tree(node.tree).create) {
            (Some((parent, outcome)), _) => self.came_out(parent, outcome),
            (None, Some(create)) => self.executed(create),
            (None, None) => Bool::from_bool(true),
        };
        self.at.push(at.clone());
        match node.what {
            What::Open if !node.fatal => self.target(id, Aim::Enter, at),
            What::Open | What::Input(..) | What::Gone | What::Bound | What::End => {}
            What::Decide(term, _) => {
                let value = self.value(term);
                let width = self.forest.terms.get(term).width();
                let full = width < 32 && node.next.len() as u64 == 1 << width;
                if !full {
                    let constant = |n: &(u64, NodeId)| vectors::constant(n.0, width);
                    let other = |n: &(u64, NodeId)| equal(&value, &constant(n)).not();
                    let unseen: Vec<Bool> = node.next.iter().map(other).chain([at]).collect();
                    self.target(id, Aim::Decide, all(&unseen));
                }
            }
            What::Assume(term) => {
                let holds = equal(&self.value(term), &vectors::constant(1, 1));
                if !self.forest.announces_end {
                    self.solver.assert(&at.implies(&holds));
                }
                if node.after(1).is_none() {
                    self.target(id, Aim::Hold, all(&[at, holds]));
                }
            }
            What::Step(_) => self.step(id, at),
        }
    }

    fn process_end(&self, id: NodeId, ends: Ends) {
        let at = &self.at[id as usize];
        let Some(last) = self.previous(id).filter(|_| ends == Ends::Last) else {
            self.solver.assert(&at.not());
            return;
        };
        let last = self.forest.place(last);
        for step in 0..self.exec.len() as NodeId {
            let place = self.forest.place(step);
            let ordered = place == last || self.before(place, last);
            if self.forest.node(step).action().is_some() && !ordered {
                let both = all(&[at.clone(), self.executed(step)]);
                let fact = both.implies(self.precedes(place, last));
                self.solver.assert(&fact);
            }
        }
    }

    fn step(&mut self, id: NodeId, at: Bool) {
        let node = self.forest.node(id);
        let place = self.forest.place(id);
        let exec = all(&[at, self.comes_to(place)]);
        if self.is_exit(id) {
            self.solver.assert(&self.executed(id).iff(&exec));
        }
        self.exec[id as usize] = Some(exec.clone());
        if node.fatal {
            self.solver.assert(&exec.not());
            return;
        }
        let Some(action) = node.action() else { return };
        if action.kind.joins() && action.value != UNKNOWN {
            self.join(id, action.value as TreeId, &exec);
        }
        if node.is_stub() {
            if !self.gives_up(id) {
                self.target(id, Aim::Execute, exec);
            }
        } else {
            self.outcomes(id, &exec);
        }
    }

    /// The ways to come out that the step never did.
    fn outcomes(&mut self, id: NodeId, exec: &Bool) {
        match self.results(id) {
            objects::Result::One => {}
            objects::Result::Few(results) => {
                for (outcome, when) in results {
                    if self.forest.node(id).after(outcome).is_none() {
                        let aim = Aim::Outcome(Some(outcome));
                        self.target(id, aim, all(&[exec.clone(), when]));
                    }
                }
            }
            objects::Result::Seen(results) => {
                let other = results.into_iter().map(|(_, when)| when.not());
                let unseen: Vec<Bool> = other.chain([exec.clone()]).collect();
                self.target(id, Aim::Outcome(None), all(&unseen));
            }
            objects::Result::Value(value) => {
                let seen = self.forest.node(id).next.iter();
                let other = |n: &(u64, NodeId)| {
                    equal(&value, &vectors::constant(n.0, objects::WIDTH)).not()
                };
                let unseen: Vec<Bool> = seen.map(other).chain([exec.clone()]).collect();
                self.target(id, Aim::Outcome(None), all(&unseen));
            }
        }
    }

    /// Can the step come out in several ways?
    pub fn has_results(&self, id: NodeId) -> bool {
        !matches!(self.results(id), objects::Result::One)
    }

    /// How a step comes out, if that depends on others, and not on what they return or write.
    fn results(&self, id: NodeId) -> objects::Result {
        let takes = self.takes(id);
        let action = self.forest.node(id).action();
        let success = self.succeeds(self.forest.place(id));
        if let Some(wake) = action.filter(|a| a.kind == Kind::CondWake) {
            if !wake.timed() {
                return objects::Result::One;
            }
            let woken = self.is_woken(id);
            let mut results = vec![(0, woken.clone())];
            match takes {
                Some(Taking::Tries(left)) => {
                    results.push((ETIMEDOUT, all(&[success.clone(), woken.not()])));
                    results.push((left, success.not()));
                }
                // A recursive mutex that the wait has not given up.
                _ => results.push((ETIMEDOUT, woken.not())),
            }
            return objects::Result::Few(results);
        }
        match takes {
            Some(Taking::Tries(failure)) => {
                objects::Result::Few(vec![(0, success.clone()), (failure, success.not())])
            }
            _ => self.result(id),
        }
    }

    /// Does the process end here because an assumption does not hold? Nobody asks for that.
    fn gives_up(&self, id: NodeId) -> bool {
        let parent = self.forest.node(id).parent;
        parent.is_some_and(|(p, outcome)| {
            outcome == 0 && matches!(self.forest.node(p).what, What::Assume(_))
        })
    }

    /// The last step before the node in any execution: in its thread, or its creation.
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        let above = self.forest.step_above(id);
        above.or(self.forest.tree(self.forest.node(id).tree).create)
    }

    /// The attempt at this place gets the lock.
    pub fn succeeds(&self, place: Place) -> Bool {
        Bool::new_const(format!("s{}_{}", place.tree, place.step))
    }

    /// The node came out like this.
    fn came_out(&mut self, id: NodeId, outcome: u64) -> Bool {
        let node = self.forest.node(id);
        match node.what {
            What::Step(action) => {
                let exec = self.executed(id);
                let when = match self.results(id) {
                    objects::Result::One => None,
                    objects::Result::Few(results) | objects::Result::Seen(results) => {
                        results.into_iter().find(|r| r.0 == outcome).map(|r| r.1)
                    }
                    objects::Result::Value(value) => {
                        Some(equal(&value, &vectors::constant(outcome, objects::WIDTH)))
                    }
                };
                if let Some(when) = when {
                    return all(&[exec, when]);
                }
                if !action.kind.joins() || action.value == UNKNOWN {
                    return exec;
                }
                let joins = self.joins(id);
                if outcome == NOT_JOINED {
                    return all(&[exec, joins.not()]);
                }
                let exits = self.exits(action.value as TreeId).iter();
                let like_this = exits.filter(|e| self.forest.node(**e).after(outcome).is_some());
                let ended: Vec<Bool> = like_this.map(|&e| self.executed(e)).collect();
                all(&[exec, joins, any(&ended)])
            }
            What::Decide(term, _) | What::Assume(term) => {
                let at = self.at[id as usize].clone();
                let width = self.forest.terms.get(term).width();
                let value = self.value(term);
                all(&[at, equal(&value, &vectors::constant(outcome, width))])
            }
            _ => self.at[id as usize].clone(),
        }
    }

    /// The last steps of a thread.
    fn exits(&self, tree: TreeId) -> &[NodeId] {
        self.exits.get(tree as usize).map_or(&[], Vec::as_slice)
    }

    /// The thread has taken its last step.
    pub fn finished(&self, tree: TreeId) -> Bool {
        let exits = self.exits(tree).iter();
        any(&exits.map(|&e| self.executed(e)).collect::<Vec<_>>())
    }

    /// The join at this node, if it is executed, finds that the thread has ended.
    pub fn joins(&self, id: NodeId) -> Bool {
        let action = self.forest.node(id).action();
        match action.and_then(|a| fails_with(a.kind)) {
            Some(_) => self.succeeds(self.forest.place(id)),
            None => Bool::from_bool(true),
        }
    }

    fn join(&mut self, id: NodeId, tree: TreeId, exec: &Bool) {
        let here = self.forest.place(id);
        let action = self.forest.node(id).action();
        let can_fail = action.is_some_and(|a| fails_with(a.kind).is_some());
        let joins = self.joins(id);
        let joined = all(&[exec.clone(), joins.clone()]);
        let failed = all(&[exec.clone(), joins.not()]);
        self.solver.assert(&joined.implies(self.finished(tree)));
        let mut unseen = Vec::new();
        for &exit in self.exits(tree) {
            let exited = self.executed(exit);
            let end = self.forest.place(exit);
            let both = all(&[joined.clone(), exited.clone()]);
            self.solver.assert(&both.implies(self.precedes(end, here)));
            if can_fail {
                let both = all(&[failed.clone(), exited]);
                self.solver.assert(&both.implies(self.precedes(here, end)));
            }
            let node = self.forest.node(exit);
            let seen = |n: &(u64, NodeId)| self.forest.node(id).after(n.0).is_some();
            if !node.next.iter().any(seen) && !node.is_stub() {
                unseen.push(self.executed(exit));
            }
        }
        let node = self.forest.node(id);
        if node.is_stub() {
            return;
        }
        if !unseen.is_empty() {
            self.target(id, Aim::Result, all(&[joined, any(&unseen)]));
        }
        if can_fail && node.after(NOT_JOINED).is_none() {
            self.target(id, Aim::Outcome(Some(NOT_JOINED)), failed);
        }
    }

    /// That threads wait for each other ends the process: no prefix goes through such a deadlock that
    /// was seen. Where nothing is left to happen, none could go on.
    fn known_deadlocks(&mut self) {
        for pattern in self.forest.deadlocks.iter().filter(|p| p.cycle) {
            let stuck = pattern.stuck.iter();
            let parts: Vec<Bool> = stuck.map(|&n| self.stuck_as_in(pattern, n)).collect();
            self.solver.assert(&all(&parts).not());
        }
    }

    /// The threads that are not stuck in a deadlock have ended, or do not exist.
    pub fn others_ended(&self, pattern: &Pattern) -> Vec<Bool> {
        let mut parts = Vec::new();
        for (tree, t) in (0..).zip(&self.forest.trees) {
            let stuck = |n: &NodeId| self.forest.node(*n).tree == tree;
            if !pattern.stuck.iter().any(stuck) {
                let absent = self.at[t.root as usize].not();
                parts.push(any(&[absent, self.finished(tree)]));
            }
        }
        parts
    }

    /// Is this a step at which a thread can wait for others?
    pub fn can_wait(&self, id: NodeId) -> bool {
        let node = self.forest.node(id);
        node.action().is_some_and(|a| match a.kind {
            Kind::ThreadJoin => a.value != UNKNOWN,
            Kind::SemWait | Kind::BarrierLeave | Kind::OnceEnter | Kind::CondWake => true,
            Kind::DescriptorRead => {
                channels::is_channel(a.object) && self.forest.messages.follows(a.object)
            }
            _ => self.takes(id) == Some(Taking::Waits) && node.after(EDEADLK).is_none(),
        })
    }
}
