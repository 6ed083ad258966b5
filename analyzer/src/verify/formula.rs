//! The formula over all trees: which prefixes of executions are consistent (DESIGN §8).
//!
//! The partial-order encoding. For each step node: is it executed, and an integer for its place
//! in the order. A node is *reached* when its thread stands at it; what is local after a step
//! happens together with it. The constraints:
//! program order and creation; a join after an end of the joined thread; sections of one mutex one
//! after the other, a failed trylock within another's section; each read gets the value of the
//! last write before it (`memory`). The process has not ended: a prefix is what happens before
//! that. All order constraints are strict and appear positively, so steps
//! with equal numbers may be taken in any order.

use super::forest::{Forest, NodeId, TreeId, What};
use super::insert::{EBUSY, EDEADLK};
use super::locks::{Locks, Section, tries, waits};
use super::memory;
use super::shape::Shape;
use super::solver::{self, BV, Bool, Int, Solver, Values, all, any, equal};
use super::terms::{Term, TermId};
use raddle_protocol::event::Kind;
use std::collections::BTreeMap;

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
    /// A trylock that succeeds.
    Free,
    /// A trylock that fails.
    Busy,
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
    pub shape: Shape<'f>,
    pub locks: Locks,
    pub solver: Solver,
    /// The thread stands, or has stood, at the node.
    pub at: Vec<Bool>,
    /// Per step: it is executed.
    pub exec: Vec<Option<Bool>>,
    /// Per step: its place.
    pub order: Vec<Option<Int>>,
    /// Per tree: the last steps of the thread.
    ends: Vec<Vec<NodeId>>,
    /// Per trylock: it succeeds.
    success: BTreeMap<NodeId, Bool>,
    pub values: &'f mut Values,
    pub targets: Vec<Target>,
}

/// The variable of one byte of an input.
pub fn input_byte(tree: TreeId, index: u32, byte: u32) -> BV {
    BV::new_const(format!("i{tree}_{index}_{byte}"), 8)
}

/// The variable of what a read step returns.
pub fn read_value(node: NodeId, width: u8) -> BV {
    BV::new_const(format!("r{node}"), width.into())
}

fn leaf(term: Term) -> BV {
    match term {
        Term::Input {
            tree,
            index,
            offset,
            width,
        } => {
            let mut bytes =
                (offset..offset + u32::from(width / 8)).map(|b| input_byte(tree, index, b));
            let first = bytes.next();
            let joined = first.map(|low| bytes.fold(low, |low, high| high.concat(&low)));
            joined.unwrap_or_else(|| solver::constant(0, width))
        }
        Term::Read { node, width } => read_value(node, width),
        Term::Const { width, value } => solver::constant(value, width),
        Term::Op { width, .. } => solver::constant(0, width),
    }
}

impl<'f> Formula<'f> {
    /// Builds all constraints that hold for every prefix. `values` must belong to the forest.
    pub fn new(forest: &'f Forest, values: &'f mut Values, ends: Ends) -> Formula<'f> {
        let is_step = |id: usize| matches!(forest.nodes[id].what, What::Step(_));
        let ids = 0..forest.nodes.len();
        let exec = |id: usize| is_step(id).then(|| Bool::new_const(format!("x{id}")));
        let order = |id: usize| is_step(id).then(|| Int::new_const(format!("o{id}")));
        let mut exits = vec![Vec::new(); forest.trees.len()];
        for (id, node) in (0..).zip(&forest.nodes) {
            if node.action().is_some_and(|a| a.kind == Kind::ThreadExit) {
                exits[node.tree as usize].push(id);
            }
        }
        let mut formula = Formula {
            forest,
            ends: exits,
            shape: Shape::new(forest),
            locks: Locks::new(forest),
            solver: Solver::new(),
            at: Vec::with_capacity(forest.nodes.len()),
            exec: ids.clone().map(exec).collect(),
            order: ids.map(order).collect(),
            success: BTreeMap::new(),
            values,
            targets: Vec::new(),
        };
        for id in 0..forest.nodes.len() as NodeId {
            formula.position(id);
        }
        for id in 0..forest.nodes.len() as NodeId {
            if forest.node(id).what == What::End {
                formula.process_end(id, ends);
            }
        }
        formula.mutexes();
        memory::constrain(&mut formula);
        formula.known_deadlocks();
        formula
    }

    /// The value of a term.
    pub fn value(&mut self, term: TermId) -> BV {
        self.values.get(&self.forest.terms, term, &mut leaf)
    }

    /// The step is executed; false for nodes that are no steps.
    pub fn executed(&self, id: NodeId) -> Bool {
        let exec = self.exec[id as usize].clone();
        exec.unwrap_or_else(|| Bool::from_bool(false))
    }

    /// Step `a` stands before step `b`.
    pub fn precedes(&self, a: NodeId, b: NodeId) -> Bool {
        match (&self.order[a as usize], &self.order[b as usize]) {
            (Some(a), Some(b)) => a.lt(b),
            _ => Bool::from_bool(false),
        }
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
                    let other =
                        |n: &(u64, NodeId)| equal(&value, &solver::constant(n.0, width)).not();
                    let unseen: Vec<Bool> = node.next.iter().map(other).chain([at]).collect();
                    self.target(id, Aim::Decide, all(&unseen));
                }
            }
            What::Assume(term) => {
                if !self.forest.announces_end {
                    let holds = equal(&self.value(term), &solver::constant(1, 1));
                    self.solver.assert(&at.implies(&holds));
                }
                if node.after(1).is_none() {
                    let holds = equal(&self.value(term), &solver::constant(1, 1));
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
        for step in (0..self.exec.len() as NodeId).filter(|s| *s != last) {
            if self.exec[step as usize].is_some() && !self.shape.before(step, last) {
                let both = all(&[at.clone(), self.executed(step)]);
                self.solver
                    .assert(&both.implies(&self.precedes(step, last)));
            }
        }
    }

    fn step(&mut self, id: NodeId, at: Bool) {
        let exec = self.executed(id);
        self.solver.assert(&exec.implies(&at));
        let node = self.forest.node(id);
        if let Some(above) = self.previous(id) {
            self.solver.assert(&self.precedes(above, id));
        }
        if node.fatal {
            self.solver.assert(&exec.not());
            return;
        }
        let Some(action) = node.action() else { return };
        if action.kind == Kind::ThreadJoin {
            self.join(id, action.value as TreeId, &exec);
        }
        if node.is_stub() {
            if !self.gives_up(id) {
                self.target(id, Aim::Execute, exec);
            }
        } else if tries(action.kind) && !self.locks.owns(id, action.object) {
            let success = self.succeeds(id);
            if node.after(0).is_none() {
                self.target(id, Aim::Free, all(&[exec.clone(), success.clone()]));
            }
            if node.after(EBUSY).is_none() {
                self.target(id, Aim::Busy, all(&[exec, success.not()]));
            }
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

    /// The trylock gets the mutex.
    fn succeeds(&mut self, id: NodeId) -> Bool {
        let fresh = || Bool::new_const(format!("s{id}"));
        self.success.entry(id).or_insert_with(fresh).clone()
    }

    /// The node came out like this.
    fn came_out(&mut self, id: NodeId, outcome: u64) -> Bool {
        let node = self.forest.node(id);
        match node.what {
            What::Step(action) => {
                let exec = self.executed(id);
                if tries(action.kind) && !self.locks.owns(id, action.object) {
                    let success = self.succeeds(id);
                    let success = if outcome == 0 { success } else { success.not() };
                    return all(&[exec, success]);
                }
                match action.kind {
                    Kind::ThreadJoin => {
                        let ends = self.ends(action.value as TreeId);
                        let ends = ends
                            .iter()
                            .filter(|e| self.forest.node(**e).after(outcome).is_some());
                        let ended: Vec<Bool> = ends.map(|&e| self.executed(e)).collect();
                        all(&[exec, any(&ended)])
                    }
                    _ => exec,
                }
            }
            What::Decide(term, _) | What::Assume(term) => {
                let at = self.at[id as usize].clone();
                let width = self.forest.terms.get(term).width();
                let value = self.value(term);
                all(&[at, equal(&value, &solver::constant(outcome, width))])
            }
            _ => self.at[id as usize].clone(),
        }
    }

    /// The last steps of a thread.
    fn ends(&self, tree: TreeId) -> &[NodeId] {
        self.ends.get(tree as usize).map_or(&[], Vec::as_slice)
    }

    /// The thread has taken its last step.
    pub fn finished(&self, tree: TreeId) -> Bool {
        let ends: Vec<Bool> = self.ends(tree).iter().map(|&e| self.executed(e)).collect();
        any(&ends)
    }

    fn join(&mut self, id: NodeId, tree: TreeId, exec: &Bool) {
        let ends = self.ends(tree).to_vec();
        self.solver.assert(&exec.implies(&self.finished(tree)));
        let mut unseen = Vec::new();
        for &end in &ends {
            let both = all(&[exec.clone(), self.executed(end)]);
            self.solver.assert(&both.implies(&self.precedes(end, id)));
            let seen = |n: &(u64, NodeId)| self.forest.node(id).after(n.0).is_some();
            if !self.forest.node(end).next.iter().any(seen) && !self.forest.node(end).is_stub() {
                unseen.push(self.executed(end));
            }
        }
        if !self.forest.node(id).is_stub() && !unseen.is_empty() {
            self.target(id, Aim::Result, all(&[exec.clone(), any(&unseen)]));
        }
    }

    /// The mutex is taken by this section.
    pub fn acquired(&mut self, section: &Section) -> Bool {
        let node = self.forest.node(section.acquire);
        let exec = self.executed(section.acquire);
        match node.action() {
            Some(a) if tries(a.kind) => {
                let success = self.succeeds(section.acquire);
                all(&[exec, success])
            }
            _ => exec,
        }
    }

    /// Some release of the section is executed.
    pub fn released(&self, section: &Section) -> Bool {
        let released: Vec<Bool> = section.releases.iter().map(|&u| self.executed(u)).collect();
        any(&released)
    }

    fn mutexes(&mut self) {
        let sections = self.locks.sections.clone();
        for list in sections.values() {
            for (i, a) in list.iter().enumerate() {
                for b in &list[i + 1..] {
                    self.one_after_the_other(a, b);
                }
            }
        }
        let tried: Vec<NodeId> = self.success.keys().copied().collect();
        for id in tried {
            let Some(action) = self.forest.node(id).action() else {
                continue;
            };
            let list = sections.get(&action.object).map_or(&[][..], Vec::as_slice);
            let busy = self.busy(id, list);
            let failed = all(&[self.executed(id), self.succeeds(id).not()]);
            self.solver.assert(&failed.implies(&busy));
        }
    }

    fn one_after_the_other(&mut self, a: &Section, b: &Section) {
        let ordered = self.forest.node(a.acquire).tree == self.forest.node(b.acquire).tree;
        if ordered || self.shape.exclusive(a.acquire, b.acquire) {
            return;
        }
        let mut options = vec![self.acquired(a).not(), self.acquired(b).not()];
        for (first, second) in [(a, b), (b, a)] {
            for &release in &first.releases {
                let before = self.precedes(release, second.acquire);
                options.push(all(&[self.executed(release), before]));
            }
        }
        self.solver.assert(&any(&options));
    }

    /// Some other thread's section is open when the step is executed.
    fn busy(&mut self, id: NodeId, list: &[Section]) -> Bool {
        let mut options = Vec::new();
        for section in list {
            let own = self.forest.node(section.acquire).tree == self.forest.node(id).tree;
            if own || self.shape.exclusive(section.acquire, id) {
                continue;
            }
            let mut parts = vec![self.acquired(section), self.precedes(section.acquire, id)];
            for &release in &section.releases {
                let later = self.precedes(id, release);
                parts.push(any(&[self.executed(release).not(), later]));
            }
            options.push(all(&parts));
        }
        any(&options)
    }

    /// A deadlock that was seen ends the process: no prefix goes through it.
    fn known_deadlocks(&mut self) {
        for pattern in &self.forest.deadlocks {
            let mut parts: Vec<Bool> = pattern.stuck.iter().map(|&n| self.waits_at(n)).collect();
            if !pattern.cycle {
                for (tree, t) in (0..).zip(&self.forest.trees) {
                    let stuck = |n: &NodeId| self.forest.node(*n).tree == tree;
                    if !pattern.stuck.iter().any(stuck) {
                        let absent = self.at[t.root as usize].not();
                        parts.push(any(&[absent, self.finished(tree)]));
                    }
                }
            }
            self.solver.assert(&all(&parts).not());
        }
    }

    /// Is this a step at which a thread can wait for others?
    pub fn can_wait(&self, id: NodeId) -> bool {
        let node = self.forest.node(id);
        node.action().is_some_and(|a| match a.kind {
            Kind::ThreadJoin => true,
            kind => waits(kind) && !self.locks.owns(id, a.object) && node.after(EDEADLK).is_none(),
        })
    }
}
