//! Semaphores, barriers, once controls and event counters in the formula: small machines whose
//! operations follow one another.
//!
//! Each operation finds what the operation before it left behind, or the first content. What is
//! found decides whether it can happen, how it comes out and what it leaves. The content is the
//! count of a semaphore or an event counter; how many threads have ever arrived at a barrier; 0, 1
//! or 2 for a once control whose routine has not begun (or was left by an exception), runs, has
//! returned; how many handlers of exit have not begun.

use super::channels;
use super::circuit::{Bool, all, any};
use super::forest::{Action, Forest, NodeId, TreeId};
use super::formula::Formula;
use super::kinds::{EAGAIN, ETIMEDOUT};
use super::places::Place;
use super::vectors::{BV, constant, equal};
use raddle_protocol::event::Kind;
use std::collections::BTreeMap;

/// Bits of a content. Larger ones are not modelled.
pub const WIDTH: u8 = 16;

/// The routine of a once control runs.
pub const RUNNING: u64 = 1;
/// The routine of a once control has returned.
pub const RETURNED: u64 = 2;

/// The operations on one object that some execution has shown, by place.
type Operations = BTreeMap<Place, Vec<NodeId>>;

/// All objects, by address.
pub type Objects = BTreeMap<u64, Operations>;

/// Is this an operation on such an object?
pub fn operates(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        SemWait | SemTryWait | SemTimedWait | SemPost | SemGetValue | SemDestroy | BarrierArrive
    ) || matches!(kind, OnceEnter | OnceDone | ExitNext | AtExit)
}

/// The operations in the forest.
pub fn collect(forest: &Forest) -> Objects {
    let mut objects = Objects::new();
    for (id, node) in (0..).zip(&forest.nodes) {
        if let Some(action) = node.action()
            && (operates(action.kind)
                || channels::counts(action) && forest.messages.follows(action.object))
        {
            // A step that was never taken only finds: nobody comes after it.
            let operations = objects.entry(action.object).or_default();
            operations.entry(forest.place(id)).or_default().push(id);
        }
    }
    objects
}

/// How an operation comes out.
pub enum Result {
    /// In one way only.
    One,
    /// In one of these ways.
    Few(Vec<(u64, Bool)>),
    /// As this value.
    Value(BV),
    /// In one of these ways, or in others that are not known yet.
    Seen(Vec<(u64, Bool)>),
}

fn number(value: u64) -> BV {
    constant(value, WIDTH)
}

fn is(content: &BV, value: u64) -> Bool {
    equal(content, &number(value))
}

/// The variable of what an operation at this place finds.
fn found(place: Place) -> BV {
    BV::new_const(format!("u{}_{}", place.tree, place.step), WIDTH.into())
}

/// The variable of what an object holds at the end of the prefix.
fn at_last(object: u64) -> BV {
    BV::new_const(format!("l{object}"), WIDTH.into())
}

/// What the operation leaves.
fn left(action: &Action, found: &BV) -> BV {
    let one = number(1);
    match action.kind {
        Kind::DescriptorRead => number(0),
        Kind::DescriptorWrite => found.add(&number(action.value)),
        Kind::SemWait => found.sub(&one),
        Kind::SemTryWait | Kind::SemTimedWait => is(found, 0).ite(found, &found.sub(&one)),
        Kind::SemPost | Kind::BarrierArrive | Kind::AtExit => found.add(&one),
        Kind::ExitNext => is(found, 0).ite(found, &found.sub(&one)),
        Kind::OnceEnter => is(found, 0).ite(&number(RUNNING), found),
        Kind::OnceDone if action.value == 0 => number(RETURNED),
        Kind::OnceDone => number(0),
        _ => found.clone(),
    }
}

/// With this content the operation has to wait.
fn waits_with(kind: Kind, content: &BV) -> Bool {
    match kind {
        Kind::SemWait | Kind::DescriptorRead => is(content, 0),
        Kind::OnceEnter => is(content, RUNNING),
        _ => Bool::from_bool(false),
    }
}

impl Formula<'_> {
    /// How an operation comes out; [`Result::One`] for all other steps.
    pub fn result(&self, id: NodeId) -> Result {
        let Some(action) = self.forest.node(id).action() else {
            return Result::One;
        };
        let found = found(self.forest.place(id));
        let either =
            |truth: Bool, yes, no| Result::Few(vec![(yes, truth.clone()), (no, truth.not())]);
        match action.kind {
            Kind::SemTryWait => either(is(&found, 0), EAGAIN, 0),
            Kind::SemTimedWait => either(is(&found, 0), ETIMEDOUT, 0),
            Kind::BarrierArrive => either(self.completes(action.object, &found), 1, 0),
            Kind::OnceEnter => either(is(&found, 0), 1, 0),
            Kind::SemGetValue | Kind::ExitNext => Result::Value(found),
            Kind::DescriptorRead if self.objects.contains_key(&action.object) => {
                Result::Value(found)
            }
            Kind::DescriptorRead if channels::is_channel(action.object) => {
                self.received(id, action)
            }
            _ => Result::One,
        }
    }

    /// The threads that make a round of a barrier.
    fn round(&self, barrier: u64) -> u64 {
        let threads = self.forest.contents.get(&barrier).copied();
        threads.unwrap_or(1).max(1)
    }

    /// Whoever finds so many arrivals is the last of a round.
    fn completes(&self, barrier: u64, found: &BV) -> Bool {
        let round = self.round(barrier);
        is(&found.urem(&number(round)), round - 1)
    }

    /// The constraints of all objects.
    pub fn machines(&self) {
        for (&object, operations) in &self.objects {
            let mut writes: Vec<(Place, Bool, BV)> = Vec::new();
            for (&place, nodes) in operations {
                let nodes: Vec<NodeId> = nodes
                    .iter()
                    .copied()
                    .filter(|&n| !self.forest.node(n).is_stub() && self.changes(n))
                    .collect();
                if !nodes.is_empty() {
                    let left = self.left_at(object, place, &nodes);
                    writes.push((place, self.any_executed(&nodes), left));
                }
            }
            for (&place, nodes) in operations {
                let executed = self.any_executed(nodes);
                let source = self.source(object, Some(place), &found(place), &writes);
                self.solver.assert(&executed.implies(&source));
                for &id in nodes {
                    self.goes_on(id, place);
                }
            }
            let last = self.source(object, None, &at_last(object), &writes);
            self.solver.assert(&last);
        }
        self.rounds();
    }

    fn changes(&self, id: NodeId) -> bool {
        let kind = self.forest.node(id).action().map(|a| a.kind);
        kind != Some(Kind::SemGetValue)
    }

    /// An operation that waits happens when it need not.
    fn goes_on(&self, id: NodeId, place: Place) {
        if let Some(action) = self.forest.node(id).action() {
            let stuck = waits_with(action.kind, &found(place));
            self.solver
                .assert(&any(&[self.executed(id).not(), stuck.not()]));
        }
    }

    /// What the operations of one place leave, one of which is executed at most.
    fn left_at(&self, object: u64, place: Place, nodes: &[NodeId]) -> BV {
        let found = found(place);
        let mut lefts: Vec<(Bool, BV)> = Vec::new();
        for &id in nodes {
            let action = self.forest.node(id).action();
            let value = match action {
                // It begins anew with what every semaphore here begins with (see `contents`); nobody
                // uses it in between (see `hazards`).
                Some(action) if action.kind == Kind::SemDestroy => {
                    number(self.forest.contents.get(&object).copied().unwrap_or(0))
                }
                Some(action) => left(action, &found),
                None => found.clone(),
            };
            match lefts.iter_mut().find(|l| l.1 == value) {
                Some(same) => same.0 = any(&[same.0.clone(), self.executed(id)]),
                None => lefts.push((self.executed(id), value)),
            }
        }
        if let [(_, only)] = &lefts[..] {
            return only.clone();
        }
        let name = format!("v{}_{}_{object}", place.tree, place.step);
        let variable = BV::new_const(name, WIDTH.into());
        for (executed, value) in &lefts {
            let fact = executed.implies(equal(&variable, value));
            self.solver.assert(&fact);
        }
        variable
    }

    /// The value is what the last operation before `place` (`None`: the end) left.
    fn source(
        &self,
        object: u64,
        place: Option<Place>,
        value: &BV,
        writes: &[(Place, Bool, BV)],
    ) -> Bool {
        let earlier = |w: &Place| match place {
            Some(p) => *w != p && !self.before(p, *w) && self.coexist(w.tree, p.tree),
            None => true,
        };
        let later = |other: Place| place.map(|p| self.precedes(p, other));
        let possible: Vec<&(Place, Bool, BV)> = writes.iter().filter(|w| earlier(&w.0)).collect();
        let mut options = Vec::new();
        for (i, (source, executed, left)) in possible.iter().copied().enumerate() {
            let mut parts = vec![executed.clone(), equal(value, left)];
            parts.extend(place.map(|p| self.precedes(*source, p)));
            for (j, (other, executed, _)) in possible.iter().copied().enumerate() {
                if i != j && !self.before(*other, *source) && self.coexist(other.tree, source.tree)
                {
                    let mut undisturbed = vec![executed.not(), self.precedes(*other, *source)];
                    undisturbed.extend(later(*other));
                    parts.push(any(&undisturbed));
                }
            }
            options.push(all(&parts));
        }
        let first = match self.forest.contents.get(&object) {
            Some(_) if self.is_barrier(object) => is(value, 0),
            Some(&content) => is(value, content),
            None => Bool::from_bool(true),
        };
        let mut untouched = vec![first];
        for (other, executed, _) in possible.iter().copied() {
            let mut undisturbed = vec![executed.not()];
            undisturbed.extend(later(*other));
            untouched.push(any(&undisturbed));
        }
        options.push(all(&untouched));
        any(&options)
    }

    fn is_barrier(&self, object: u64) -> bool {
        let operations = self.objects.get(&object).into_iter().flatten();
        let mut kinds = operations.flat_map(|(_, nodes)| nodes);
        kinds.any(|&n| {
            let action = self.forest.node(n).action();
            action.is_some_and(|a| a.kind == Kind::BarrierArrive)
        })
    }

    /// Whoever leaves a barrier, and has not completed the round, leaves after the one who has.
    fn rounds(&self) {
        for id in 0..self.forest.nodes.len() as NodeId {
            let action = self.forest.node(id).action();
            if action.is_some_and(|a| a.kind == Kind::BarrierLeave) {
                let here = Some(self.forest.place(id));
                let complete = self.round_is_complete(id, here);
                self.solver.assert(&self.executed(id).implies(&complete));
            }
        }
    }

    /// The round of the thread that stands at this departure from a barrier is complete, at `here`
    /// or at last.
    fn round_is_complete(&self, leave: NodeId, here: Option<Place>) -> Bool {
        let forest = self.forest;
        let Some((arrival, 0)) = forest.node(leave).parent else {
            return Bool::from_bool(true);
        };
        let Some(object) = forest.node(arrival).action().map(|a| a.object) else {
            return Bool::from_bool(true);
        };
        let own = forest.place(arrival);
        let round = number(self.round(object));
        let same_round = |other: Place| equal(&found(own).udiv(&round), &found(other).udiv(&round));
        let mut options = Vec::new();
        for (&place, nodes) in self.objects.get(&object).into_iter().flatten() {
            if place.tree == own.tree || !self.coexist(place.tree, own.tree) {
                continue;
            }
            let mut parts = vec![
                self.any_executed(nodes),
                self.completes(object, &found(place)),
                same_round(place),
            ];
            parts.extend(here.map(|here| self.precedes(place, here)));
            options.push(all(&parts));
        }
        any(&options)
    }

    /// The object at which the thread stands does not let it go on.
    pub fn object_blocks(&self, id: NodeId) -> Bool {
        match self.forest.node(id).action() {
            Some(a) if a.kind == Kind::BarrierLeave => self.round_is_complete(id, None).not(),
            Some(a) if channels::transfers(a.kind) && !self.objects.contains_key(&a.object) => {
                self.is_drained(a)
            }
            Some(a) => waits_with(a.kind, &at_last(a.object)),
            None => Bool::from_bool(false),
        }
    }

    /// The threads that may run the routine of a once control, and when they do.
    pub fn runners(&self, object: u64) -> Vec<(TreeId, Bool)> {
        let operations = self.objects.get(&object).into_iter().flatten();
        let mut runners = Vec::new();
        for (&place, nodes) in operations.clone() {
            let entries = self.of_kind(Kind::OnceEnter, nodes);
            if entries.is_empty() {
                continue;
            }
            let left: Vec<NodeId> = operations
                .clone()
                .filter(|(later, _)| later.tree == place.tree && later.step > place.step)
                .flat_map(|(_, nodes)| self.of_kind(Kind::OnceDone, nodes))
                .collect();
            let runs = [
                self.any_executed(&entries),
                is(&found(place), 0),
                self.any_executed(&left).not(),
            ];
            runners.push((place.tree, all(&runs)));
        }
        runners
    }

    fn of_kind(&self, kind: Kind, nodes: &[NodeId]) -> Vec<NodeId> {
        let is_one = |id: &NodeId| {
            self.forest
                .node(*id)
                .action()
                .is_some_and(|a| a.kind == kind)
        };
        nodes.iter().copied().filter(is_one).collect()
    }
}
