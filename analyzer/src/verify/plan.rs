//! From a model of the formula to a job that takes the program there.

use super::forest::{Forest, NodeId, TreeId, What};
use super::formula::{Aim, Formula, Target, input_byte};
use super::places::Place;
use super::sat::{Model, bits, holds};
use raddle_protocol::event::Kind;
use raddle_protocol::job::{Input, push_step};
use raddle_protocol::schedule::Step;
use raddle_protocol::shared::SPURIOUS_WAKE_UPS;
use std::collections::{BTreeSet, HashMap};

/// What a job is to follow, and what it is to reach.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub prefix: Vec<Step>,
    pub inputs: Vec<Input>,
    /// The frontiers that the steps reach.
    pub aims: Vec<(NodeId, Aim)>,
}

/// The answer to a question for something that a job can show.
pub enum Found<T> {
    Yes(Plan, T),
    No,
    /// The solver gave up.
    Unknown,
}

impl<T> Found<T> {
    /// The same with something else about what it shows.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Found::Yes(plan, what) => Found::Yes(plan, to(what)),
            Found::No => Found::No,
            Found::Unknown => Found::Unknown,
        }
    }
}

/// Follows the model up to the last frontier that it reaches: threads at earlier ones stand there
/// until then. What follows a last known step is a step into the unknown, after which the model says
/// nothing: it is reached alone, if it comes first.
pub fn to_frontiers(formula: &Formula<'_>, model: &Model, targets: &[&Target]) -> Plan {
    let steps = formula.sequence(model);
    let mut reached = reached(formula, model, &steps, targets.iter().copied());
    let first = reached.iter().map(|r| r.0).min().unwrap_or(steps.len());
    let enters = |r: &(usize, &Target)| r.1.aim == Aim::Enter;
    let unknown = (reached.iter().find(|r| r.0 == first && enters(r))).map(|r| r.1.node);
    let known = until_unknown(formula, &steps, &reached);
    reached.retain(|r| match unknown {
        Some(_) => r.0 == first,
        None => !enters(r) && r.0 <= known,
    });
    let last = reached.iter().map(|r| r.0).max().unwrap_or(steps.len());
    let mut plan = follow(formula, model, &steps[..last]);
    if let Some(node) = unknown {
        push_step(&mut plan.prefix, slot(formula.forest, node));
    }
    plan.aims = reached.iter().map(|r| (r.1.node, r.1.aim)).collect();
    plan
}

/// Follows the model as far as it says something.
pub fn to_unknown(formula: &Formula<'_>, model: &Model) -> Plan {
    let steps = formula.sequence(model);
    let reached = reached(formula, model, &steps, formula.targets.iter());
    let known = until_unknown(formula, &steps, &reached);
    follow(formula, model, &steps[..known])
}

/// The targets that the model reaches, each with the number of steps after which it does: none, for
/// what main does at once.
fn reached<'t>(
    formula: &Formula<'_>,
    model: &Model,
    steps: &[NodeId],
    targets: impl Iterator<Item = &'t Target>,
) -> Vec<(usize, &'t Target)> {
    let after = |target: &Target| {
        let trigger = match target.aim {
            Aim::Execute | Aim::Outcome(_) | Aim::Result => Some(target.node),
            Aim::Decide | Aim::Hold | Aim::Enter => formula.previous(target.node),
        };
        trigger.map_or(0, |t| {
            let position = steps.iter().position(|&s| s == t);
            position.map_or(steps.len(), |p| p + 1)
        })
    };
    let holding = targets.filter(|t| holds(model, &t.condition));
    holding.map(|target| (after(target), target)).collect()
}

/// So many steps are as in the model: what the first execution of a step does to its object is not
/// known, and so it is not known what others find there behind it.
fn until_unknown(formula: &Formula<'_>, steps: &[NodeId], reached: &[(usize, &Target)]) -> usize {
    let object = |id: NodeId| formula.forest.node(id).action().map(|a| a.object);
    let mut known = steps.len();
    for (after, target) in reached {
        if matches!(target.aim, Aim::Execute | Aim::Outcome(_) | Aim::Result) {
            let mut behind = steps.iter().skip(*after);
            let same = behind.position(|&step| object(step) == object(target.node));
            known = known.min(same.map_or(steps.len(), |n| after + n));
        }
    }
    known
}

fn slot(forest: &Forest, node: NodeId) -> u16 {
    forest.tree(forest.node(node).tree).slot
}

/// Who waits for which condition, longest first, on the way along a model.
#[derive(Default)]
struct Waiting {
    queues: HashMap<u64, Vec<Place>>,
    /// So many waits have ended although nobody signalled.
    alone: u32,
}

impl Waiting {
    /// One step. The result is which of several waiters a signal wakes, or whether a wait is to end
    /// alone.
    fn follow(&mut self, formula: &Formula<'_>, model: &Model, step: NodeId) -> Option<u16> {
        let action = formula.forest.node(step).action()?;
        let place = formula.forest.place(step);
        let queue = self.queues.entry(action.object).or_default();
        match action.kind {
            Kind::CondWait => {
                let asked = formula.forest.spurious && self.alone < SPURIOUS_WAKE_UPS;
                let alone = asked && holds(model, &formula.ends_alone(place));
                self.alone += u32::from(alone);
                if !alone {
                    queue.push(place);
                }
                return asked.then_some(alone.into());
            }
            Kind::CondBroadcast => queue.clear(),
            // Who was woken has left the queue already.
            Kind::CondWake => queue.retain(|w| w.tree != place.tree),
            Kind::CondSignal => {
                let waiting = queue.len();
                let wakes =
                    |w: &Place| holds(model, &formula.wakes(action.object, place, false, *w));
                let woken = queue.iter().position(wakes)?;
                queue.remove(woken);
                return (waiting > 1).then_some(woken as u16);
            }
            _ => {}
        }
        None
    }
}

/// These steps in this order, with the inputs of the model.
pub fn follow(formula: &Formula<'_>, model: &Model, steps: &[NodeId]) -> Plan {
    let mut plan = Plan::default();
    let mut waiting = Waiting::default();
    for &step in steps {
        push_step(&mut plan.prefix, slot(formula.forest, step));
        if let Some(choice) = waiting.follow(formula, model, step) {
            plan.prefix.push(Step::choice(choice));
        }
    }
    let used = formula.forest.terms.inputs();
    for (id, node) in (0..).zip(&formula.forest.nodes) {
        if let What::Input(index, length) = node.what
            && holds(model, &formula.at[id])
        {
            let used = used.get(&(node.tree, index));
            let mut bytes = content(model, node.tree, index, used);
            bytes.resize(bytes.len().max(length.min(SHORT) as usize), 0);
            plan.inputs.push(Input {
                thread: formula.forest.tree(node.tree).slot,
                index,
                bytes,
            });
        }
    }
    plan
}

/// Inputs of at most so many bytes are given whole, longer ones up to their last byte that is not
/// zero.
const SHORT: u32 = 4096;

/// An input up to its last byte that is not zero; bytes that no term is about are.
fn content(model: &Model, tree: TreeId, index: u32, used: Option<&BTreeSet<u32>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &at in used.into_iter().flatten() {
        let byte = bits(model, &input_byte(tree, index, at)) as u8;
        if byte != 0 {
            bytes.resize(at as usize, 0);
            bytes.push(byte);
        }
    }
    bytes
}
