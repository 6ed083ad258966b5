//! The strategy `mpc-s1`: papers/mpc.txt, sections 3.3 and 3.4.1.
//!
//! From the path of one execution, every combination of "the thread keeps its new branches" and
//! "the thread takes the other side of its k-th new branch" is a path prefix, and one question to
//! the solver, over the events of that execution alone. It can miss paths (section 3.4.2).

use super::circuit::Bool;
use super::forest::{Forest, NodeId, TreeId, What};
use super::formula::{Ends, Formula};
use super::frontier::{Decision, SOLVER, TOO_LARGE};
use super::insert::insert;
use super::locks::{Taking, taking};
use super::plan::{Plan, follow};
use super::refuted::{Refuted, Reply};
use super::solver::{Context, Effort, Limits};
use raddle_protocol::Slot;
use raddle_protocol::trace::Trace;
use std::collections::{HashMap, VecDeque};

/// How many branches of each thread are fixed.
type Prefix = HashMap<Slot, usize>;

/// One thread of an execution.
struct Path {
    tree: TreeId,
    slot: Slot,
    /// All branches, in order; those before `fixed` belong to the prefix.
    branches: Vec<NodeId>,
    fixed: usize,
    /// Where the thread stands after its last branch.
    last: Option<NodeId>,
}

impl Path {
    fn new_branches(&self) -> usize {
        self.branches.len() - self.fixed
    }
}

/// The combinations of one execution that are still to be asked for.
struct Split {
    forest: Forest,
    paths: Vec<Path>,
    /// Per path how many of its new branches are kept; the next combination. `None`: no more.
    next: Option<Vec<usize>>,
}

/// State of the strategy.
#[derive(Default)]
pub struct Mpc {
    queue: VecDeque<(Plan, Prefix)>,
    split: Option<Split>,
    /// Prefix of the job under way.
    prefix: Prefix,
}

impl Mpc {
    /// Asks for all combinations of the last execution, then takes the next job from the list.
    pub fn decide(&mut self, limits: Limits<'_>, effort: &mut Effort) -> Decision {
        if let Some(mut split) = self.split.take()
            && let Err(why) = split.ask(&mut self.queue, limits, effort)
        {
            return Decision::GaveUp(why);
        }
        match self.queue.pop_front() {
            Some((plan, prefix)) => {
                self.prefix = prefix;
                Decision::Run {
                    plan,
                    tolerant: false,
                }
            }
            None => Decision::Exhausted,
        }
    }

    /// Splits the path of an execution.
    pub fn observed(&mut self, trace: &Trace, max_decisions: u32) {
        let mut forest = Forest::new();
        if insert(&mut forest, trace, max_decisions).is_ok() {
            let paths = (0..forest.trees.len() as TreeId)
                .map(|tree| path(&forest, tree, &self.prefix))
                .collect();
            self.split = Some(Split::new(forest, paths));
        }
    }
}

/// The only path of a tree.
fn path(forest: &Forest, tree: TreeId, prefix: &Prefix) -> Path {
    let slot = forest.tree(tree).slot;
    let mut branches = Vec::new();
    let mut last = None;
    let mut at = Some(forest.tree(tree).root);
    while let Some(id) = at {
        let node = forest.node(id);
        let taken = node.next.first();
        match node.what {
            What::Decide(..) => branches.push(id),
            What::Step(_) if taken.is_some() && tries(forest, id) => branches.push(id),
            _ => {}
        }
        at = taken.map(|n| n.1);
        if branches.last() == Some(&id) {
            last = at;
        }
    }
    let fixed = prefix.get(&slot).map_or(0, |&n| n.min(branches.len()));
    Path {
        tree,
        slot,
        branches,
        fixed,
        last,
    }
}

impl Split {
    fn new(forest: Forest, paths: Vec<Path>) -> Split {
        let first = vec![0; paths.len()];
        let mut split = Split {
            forest,
            paths,
            next: Some(first),
        };
        if !split.is_new() {
            split.advance();
        }
        split
    }

    /// Does the combination differ from the execution?
    fn is_new(&self) -> bool {
        let kept = self.next.iter().flatten();
        kept.zip(&self.paths).any(|(k, p)| *k < p.new_branches())
    }

    /// Goes on to the next combination.
    fn advance(&mut self) {
        loop {
            let Some(kept) = &mut self.next else { return };
            let mut carried = true;
            for (k, path) in kept.iter_mut().zip(&self.paths) {
                if *k < path.new_branches() {
                    *k += 1;
                    carried = false;
                    break;
                }
                *k = 0;
            }
            if carried {
                self.next = None;
            } else if self.is_new() {
                return;
            }
        }
    }

    /// Asks for each combination and queues the jobs. An error says why there is no answer.
    fn ask(
        &mut self,
        queue: &mut VecDeque<(Plan, Prefix)>,
        limits: Limits<'_>,
        effort: &mut Effort,
    ) -> Result<(), &'static str> {
        let forest = std::mem::replace(&mut self.forest, Forest::new());
        let mut context = Context::default();
        let formula = Formula::new(&forest, &mut context, Ends::Last, effort);
        if formula.too_large {
            return Err(TOO_LARGE);
        }
        let mut refuted = Refuted::default();
        while let Some(kept) = self.next.clone() {
            if let Some(conditions) = self.conditions(&formula, &kept) {
                match refuted.ask(&formula, &conditions, limits, effort) {
                    Reply::Yes(model) => {
                        let steps = formula.sequence(&model);
                        let plan = follow(&formula, &model, &steps);
                        queue.push_back((plan, self.prefix(&kept)));
                    }
                    Reply::No(_) => {}
                    Reply::Unknown => return Err(SOLVER),
                }
            }
            self.advance();
        }
        Ok(())
    }

    /// How many branches are fixed after a combination: the other side of a branch is.
    fn prefix(&self, kept: &[usize]) -> Prefix {
        let fixed = |(k, p): (&usize, &Path)| {
            let other = usize::from(*k < p.new_branches());
            (p.slot, p.fixed + k + other)
        };
        kept.iter().zip(&self.paths).map(fixed).collect()
    }

    /// What a combination asks for; `None` if it asks something of a thread that does not exist
    /// in it.
    fn conditions(&self, formula: &Formula<'_>, kept: &[usize]) -> Option<Vec<Bool>> {
        let mut conditions = Vec::new();
        for (k, path) in kept.iter().zip(&self.paths) {
            let cut = path.branches.get(path.fixed + k);
            if !self.exists(formula, kept, path.tree) {
                if cut.is_some() {
                    return None;
                }
                continue;
            }
            if let Some(&branch) = cut {
                let other = formula.targets.iter().find(|t| t.node == branch);
                conditions.push(other?.condition.clone());
            } else if let Some(last) = path.last {
                conditions.push(formula.at[last as usize].clone());
            }
        }
        Some(conditions)
    }

    /// Is the thread created before its ancestors leave their paths?
    fn exists(&self, formula: &Formula<'_>, kept: &[usize], tree: TreeId) -> bool {
        let Some(create) = formula.forest.tree(tree).create else {
            return true;
        };
        let parent = formula.forest.node(create).tree;
        let mut all = kept.iter().zip(&self.paths);
        let Some((k, path)) = all.find(|(_, p)| p.tree == parent) else {
            return false;
        };
        let cut = path.branches.get(path.fixed + k);
        let reached = cut.is_none_or(|&branch| above(formula.forest, create, branch));
        reached && self.exists(formula, kept, parent)
    }
}

/// Does one node of a path lie above the other?
fn above(forest: &Forest, a: NodeId, b: NodeId) -> bool {
    // On a single path, nodes stand in their order.
    forest.node(a).tree == forest.node(b).tree && a < b
}

fn tries(forest: &Forest, id: NodeId) -> bool {
    matches!(taking(forest, id), Some(Taking::Tries(_)))
}
