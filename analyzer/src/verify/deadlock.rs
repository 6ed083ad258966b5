//! Is a deadlock reachable that no execution has shown?

use super::circuit::{Bool, all, any};
use super::forest::{Forest, NodeId, Pattern, TreeId};
use super::formula::Formula;
use super::locks::{Entry, Section, lock_of};
use super::plan::{Found, follow};
use super::sat::{Model, holds};
use super::solver::Answer;
use raddle_protocol::event::Kind;

/// First threads that wait for each other, then a state in which every thread waits or has ended;
/// none of those that were predicted and did not happen. `check` asks the formula.
pub fn query(
    formula: &Formula<'_>,
    unconfirmed: &[Pattern],
    mut check: impl FnMut(&Formula<'_>) -> Answer,
) -> Found<Pattern> {
    for cycle in [true, false] {
        let stuck: Vec<Bool> = (0..formula.forest.trees.len())
            .map(|t| Bool::new_const(format!("stuck{t}")))
            .collect();
        formula.solver.push();
        let facts = match cycle {
            true => waiting_for_each_other(formula, &stuck),
            false => nothing_left(formula, &stuck),
        };
        if cycle {
            formula.exclude_idle_rounds();
        }
        for fact in facts.into_iter().chain(elsewhere(formula, cycle)) {
            formula.solver.assert(&fact);
        }
        for pattern in unconfirmed {
            let waits: Vec<_> = pattern.stuck.iter().map(|&n| formula.waits_at(n)).collect();
            formula.solver.assert(&all(&waits).not());
        }
        formula.solver.assert(&any(&stuck));
        let answer = check(formula);
        formula.solver.pop();
        match answer {
            Answer::Sat(model) => {
                let pattern = pattern(formula, &model, &stuck, cycle);
                let steps = formula.sequence(&model);
                return Found::Yes(follow(formula, &model, &steps), pattern);
            }
            Answer::Unsat => {}
            Answer::Unknown => return Found::Unknown,
        }
    }
    Found::No
}

/// Not at the statements of a known deadlock, by whichever paths the threads came there. That they
/// wait for each other is another deadlock than that nothing is left, also at the same statements.
fn elsewhere(formula: &Formula<'_>, cycle: bool) -> Vec<Bool> {
    let forest = formula.forest;
    let mut facts = Vec::new();
    for pattern in forest.deadlocks.iter().filter(|p| p.cycle || !cycle) {
        let mut parts = Vec::new();
        for &stuck in &pattern.stuck {
            let tree = forest.node(stuck).tree;
            let nodes = waiting_places(formula, tree).into_iter();
            let same = nodes.filter(|&n| statement(forest, n) == statement(forest, stuck));
            let stuck: Vec<Bool> = same.map(|n| formula.stuck_as_in(pattern, n)).collect();
            parts.push(any(&stuck));
        }
        if !pattern.cycle {
            parts.extend(formula.others_ended(pattern));
        }
        facts.push(all(&parts).not());
    }
    facts
}

/// A set of threads each of which waits for one of them.
fn waiting_for_each_other(formula: &Formula<'_>, stuck: &[Bool]) -> Vec<Bool> {
    let mut facts = Vec::new();
    for tree in 0..stuck.len() as TreeId {
        let waits: Vec<Bool> = waiting_nodes(formula, tree)
            .into_iter()
            .map(|n| {
                let held = holders(formula, n).into_iter().map(|(other, held)| {
                    let stuck = stuck[other as usize].clone();
                    all(&[stuck, held])
                });
                let held: Vec<Bool> = held.collect();
                all(&[formula.waits_at(n), any(&held)])
            })
            .collect();
        facts.push(stuck[tree as usize].implies(any(&waits)));
    }
    facts
}

impl Formula<'_> {
    /// The thread waits at this step, or in the loop whose round ends here, and somebody or something
    /// stands in its way.
    pub fn stuck_at(&self, id: NodeId) -> Bool {
        if self.idle.contains_key(&id) {
            return self.spins_at(id);
        }
        let held = holders(self, id).into_iter().map(|h| h.1);
        let unsignalled = match self.forest.node(id).action() {
            Some(a) if a.kind == Kind::CondWake => self.needs_signal(id),
            _ => Bool::from_bool(false),
        };
        let blocked: Vec<Bool> = held.chain([unsignalled, self.object_blocks(id)]).collect();
        all(&[self.waits_at(id), any(&blocked)])
    }

    /// The thread is stuck at this step as one of those in a deadlock are. Where they wait for each
    /// other, it is one of them that stands in its way: that nobody has signalled yet ends nothing.
    pub fn stuck_as_in(&self, pattern: &Pattern, id: NodeId) -> Bool {
        if !pattern.cycle {
            return self.stuck_at(id);
        }
        let among = |tree| {
            pattern
                .stuck
                .iter()
                .any(|&n| self.forest.node(n).tree == tree)
        };
        let held = holders(self, id).into_iter().filter(|h| among(h.0));
        let held: Vec<Bool> = held.map(|h| h.1).collect();
        all(&[self.waits_at(id), any(&held)])
    }
}

/// Every thread that was created has ended or waits for something that is not free.
fn nothing_left(formula: &Formula<'_>, stuck: &[Bool]) -> Vec<Bool> {
    let mut facts = Vec::new();
    for tree in 0..stuck.len() as TreeId {
        let waits: Vec<Bool> = waiting_places(formula, tree)
            .into_iter()
            .map(|n| formula.stuck_at(n))
            .collect();
        let root = formula.forest.tree(tree).root;
        let absent = formula.at[root as usize].not();
        let stands = stuck[tree as usize].clone();
        facts.push(stands.implies(any(&waits)));
        facts.push(any(&[absent, formula.finished(tree), stands]));
    }
    facts
}

/// The steps at which the thread can wait, and the rounds in which it can.
fn waiting_places(formula: &Formula<'_>, tree: TreeId) -> Vec<NodeId> {
    let rounds = formula.rounds_of(tree);
    waiting_nodes(formula, tree)
        .into_iter()
        .chain(rounds)
        .collect()
}

/// Where a thread waits in the program.
fn statement(forest: &Forest, id: NodeId) -> u64 {
    forest
        .node(forest.rounds.get(&id).copied().unwrap_or(id))
        .pc
}

fn waiting_nodes(formula: &Formula<'_>, tree: TreeId) -> Vec<NodeId> {
    let of_tree = |id: &NodeId| formula.forest.node(*id).tree == tree && formula.can_wait(*id);
    (0..formula.forest.nodes.len() as NodeId)
        .filter(of_tree)
        .collect()
}

/// The threads that stand in the way of a waiting step, and when they do.
fn holders(formula: &Formula<'_>, id: NodeId) -> Vec<(TreeId, Bool)> {
    let Some(action) = formula.forest.node(id).action().copied() else {
        return Vec::new();
    };
    if action.kind == Kind::ThreadJoin {
        let tree = action.value as TreeId;
        let known = (tree as usize) < formula.forest.trees.len();
        return known
            .then(|| (tree, formula.finished(tree).not()))
            .into_iter()
            .collect();
    }
    let here = formula.forest.place(id);
    let can_hold = |tree| tree != here.tree && formula.coexist(tree, here.tree);
    if action.kind == Kind::OnceEnter {
        let runners = formula.runners(action.object).into_iter();
        return runners.filter(|r| can_hold(r.0)).collect();
    }
    let signalled = match action.kind {
        Kind::CondWake => formula.wants_mutex(id),
        _ => Bool::from_bool(true),
    };
    let reads = action.kind == Kind::RwRead;
    let sections = formula.locks.sections.get(&lock_of(&action));
    let barring: Vec<(&Entry, &Section)> = sections
        .into_iter()
        .flatten()
        .filter(|(entry, _)| can_hold(entry.place.tree) && !(reads && entry.shared))
        .collect();
    let mut holders = Vec::new();
    for &(entry, section) in &barring {
        let mut parts = vec![signalled.clone(), formula.holds(entry, section)];
        // Of several readers the one who came last is the holder.
        for &(other, later) in barring.iter().filter(|_| entry.shared) {
            if other.shared && other.place.tree != entry.place.tree {
                let gone = formula.holds(other, later).not();
                parts.push(any(&[gone, formula.precedes(other.place, entry.place)]));
            }
        }
        holders.push((entry.place.tree, all(&parts)));
    }
    holders
}

/// Who waits where in the model.
fn pattern(formula: &Formula<'_>, model: &Model, stuck: &[Bool], cycle: bool) -> Pattern {
    let mut positions = Vec::new();
    for (tree, stands) in (0..).zip(stuck) {
        if holds(model, stands) {
            let spins = formula
                .idle
                .iter()
                .find(|i| formula.forest.node(*i.0).tree == tree && holds(model, i.1));
            let here = spins.map(|i| *i.0).or_else(|| {
                let waiting = waiting_nodes(formula, tree);
                waiting
                    .into_iter()
                    .find(|&n| holds(model, &formula.waits_at(n)))
            });
            positions.extend(here.map(|n| (tree, n)));
        }
    }
    if cycle && let Some(&(start, _)) = positions.first() {
        // Follow who waits for whom until a thread comes again: from there on it is the cycle.
        let mut walk: Vec<TreeId> = vec![start];
        while let Some(&last) = walk.last() {
            let Some(&(_, node)) = positions.iter().find(|p| p.0 == last) else {
                break;
            };
            let next = holders(formula, node)
                .into_iter()
                .find(|(tree, held)| positions.iter().any(|p| p.0 == *tree) && holds(model, held));
            let Some((next, _)) = next else { break };
            if let Some(from) = walk.iter().position(|&t| t == next) {
                positions.retain(|p| walk[from..].contains(&p.0));
                break;
            }
            walk.push(next);
        }
    }
    let mut stuck: Vec<NodeId> = positions.into_iter().map(|p| p.1).collect();
    stuck.sort_unstable();
    Pattern { stuck, cycle }
}
