//! The strategy `mpc-s2`: papers/mpc.txt, sections 3.3 and 3.4.2; and `mcr` (section 2.2), which is
//! the same search over what reads return, with inputs that stay zero ([`Forest::by_value`]).
//!
//! A path prefix says how far each thread has come, and which outcomes its next branch does not
//! have. An execution that follows a prefix splits it: every combination of "the thread keeps its
//! new branches" and "the thread leaves at its k-th new branch" is a prefix, and one question. Where
//! the answer is no, threads that contribute to an unsatisfiable core are let off what the prefix
//! asks of them (biggest sets first), the others are extended by an execution, and the prefix is
//! split by what they did then.
//!
//! Other than in the paper, a question is about the trees of all executions, and a thread that is
//! let off need not even come as far as the prefix that was split: the execution in which a thread
//! takes an unknown step first may have it still on the way there. What remains reachable when no
//! prefix is left, because an execution ended before a thread was extended, is found by the question
//! of the strategy `frontier`, which so confirms the end.

use super::circuit::{Bool, all, any};
use super::forest::{Forest, NodeId, TreeId, What};
use super::formula::{Aim, Ends, Formula, Target};
use super::frontier::{Decision, SOLVER, TOO_LARGE};
use super::insert::Positions;
use super::plan::to_unknown;
use super::refuted::{Refuted, Reply};
use super::sat::Model;
use super::solver::{Context, Effort, Limits};
use std::collections::BTreeSet;

/// More threads than these are not let off in every combination.
const MOST_THREADS: usize = 6;

/// How far a thread has come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reach {
    tree: TreeId,
    node: NodeId,
    /// If there are any: the thread has left the node, by none of these outcomes.
    not: Vec<u64>,
}

/// At most one entry for each thread.
type Prefix = Vec<Reach>;

/// A prefix that is to be explored.
#[derive(Clone, Debug, Default)]
struct Item {
    prefix: Prefix,
    /// The prefix that was split.
    before: Prefix,
    /// Sets of threads that were let off, and the others were not extended.
    tried: BTreeSet<BTreeSet<TreeId>>,
}

/// What the job under way is for.
enum Purpose {
    /// It follows the prefix.
    Follow(Item),
    /// It follows the prefix but for these threads.
    Extend(Item, BTreeSet<TreeId>),
}

/// The way of one thread: its branches with their outcomes, and where it stands after the last.
struct Way {
    tree: TreeId,
    branches: Vec<(NodeId, u64)>,
    last: NodeId,
}

/// State of the strategy over one forest.
pub struct Cores {
    context: Context,
    /// Not asked yet.
    open: Vec<Item>,
    purpose: Option<Purpose>,
    /// How the threads of the last execution stood at its end.
    seen: Option<Positions>,
}

impl Default for Cores {
    fn default() -> Cores {
        Cores {
            context: Context::default(),
            open: Vec::new(),
            purpose: Some(Purpose::Follow(Item::default())),
            seen: None,
        }
    }
}

impl Cores {
    /// Takes note of the execution of the last job.
    pub fn observed(&mut self, positions: Option<Positions>) {
        self.seen = positions;
    }

    /// Splits what the last execution followed, then asks for prefixes until one can be run.
    pub fn decide(&mut self, forest: &Forest, limits: Limits<'_>, effort: &mut Effort) -> Decision {
        let mut context = std::mem::take(&mut self.context);
        let formula = Formula::new(forest, &mut context, Ends::Last, effort);
        if formula.too_large {
            return Decision::GaveUp(TOO_LARGE);
        }
        formula.exclude_idle_rounds();
        if let (Some(purpose), Some(positions)) = (self.purpose.take(), self.seen.take()) {
            self.split(&formula, purpose, &positions);
        }
        let mut decision = Decision::Exhausted;
        let mut questions = Questions {
            formula: &formula,
            limits,
            effort,
            refuted: Refuted::default(),
        };
        while let Some(item) = self.open.pop() {
            match self.ask(&mut questions, item) {
                Ok(None) => {}
                Ok(Some(run)) => {
                    decision = run;
                    break;
                }
                Err(why) => {
                    decision = Decision::GaveUp(why);
                    break;
                }
            }
        }
        drop(formula);
        self.context = context;
        decision
    }

    /// A job for the prefix, or one that extends it; `None`: nothing follows it.
    fn ask(
        &mut self,
        questions: &mut Questions<'_, '_>,
        item: Item,
    ) -> Result<Option<Decision>, &'static str> {
        let formula = questions.formula;
        let Some(parts) = conditions(formula, &item.prefix) else {
            return Ok(None);
        };
        if let Some(model) = questions.ask(&parts)? {
            self.purpose = Some(Purpose::Follow(item));
            return Ok(Some(job(formula, &model)));
        }
        for off in off(&questions.cores(&item.prefix, &parts)?) {
            let stays = |r: &&Reach| !off.contains(&r.tree);
            let some_left = item.prefix.iter().filter(stays).any(|r| grows(formula, r));
            if !some_left || item.tried.contains(&off) {
                continue;
            }
            let mut extended = parts.clone();
            for (reach, part) in item.prefix.iter().zip(&mut extended) {
                if off.contains(&reach.tree) {
                    let before = item.before.iter().find(|b| b.tree == reach.tree);
                    *part = before
                        .and_then(|b| condition(formula, b))
                        .unwrap_or(all(&[]));
                }
            }
            let mut model = questions.ask(&extended)?;
            if model.is_none() {
                for (reach, part) in item.prefix.iter().zip(&mut extended) {
                    if off.contains(&reach.tree) {
                        *part = all(&[]);
                    }
                }
                model = questions.ask(&extended)?;
            }
            if let Some(model) = model {
                self.purpose = Some(Purpose::Extend(item, off));
                return Ok(Some(job(formula, &model)));
            }
        }
        Ok(None)
    }

    /// Queues what is left of a prefix after an execution.
    fn split(&mut self, formula: &Formula<'_>, purpose: Purpose, positions: &Positions) {
        let mut ways: Vec<Way> = positions.values().map(|&at| way(formula, at)).collect();
        ways.sort_by_key(|way| way.tree);
        let (mut item, off) = match purpose {
            Purpose::Follow(item) => (item, BTreeSet::new()),
            Purpose::Extend(item, off) => (item, off),
        };
        let Some(choices) = choices(&item.prefix, &ways, &off) else {
            // It went another way than it was sent.
            if !off.is_empty() {
                item.tried.insert(off);
                self.open.push(item);
            }
            return;
        };
        let extended = choices.iter().any(|c| c.len() > 1);
        if !off.is_empty() && !extended {
            item.tried.insert(off);
            self.open.push(item);
            return;
        }
        for (prefix, all_kept) in combinations(formula, &choices) {
            if !all_kept || !off.is_empty() {
                self.open.push(Item {
                    prefix,
                    before: item.prefix.clone(),
                    tried: BTreeSet::new(),
                });
            }
        }
    }
}

fn job(formula: &Formula<'_>, model: &Model) -> Decision {
    Decision::Run {
        plan: to_unknown(formula, model),
        tolerant: false,
    }
}

/// Questions to the solver about one formula.
struct Questions<'a, 'f> {
    formula: &'a Formula<'f>,
    limits: Limits<'a>,
    effort: &'a mut Effort,
    refuted: Refuted,
}

impl Questions<'_, '_> {
    /// A model in which all parts hold, or those (by their indices) that cannot hold together.
    fn look(&mut self, parts: &[Bool]) -> Result<Result<Model, Vec<usize>>, &'static str> {
        let (formula, limits) = (self.formula, self.limits);
        match self.refuted.ask(formula, parts, limits, self.effort) {
            Reply::Yes(model) => Ok(Ok(model)),
            Reply::No(core) => Ok(Err(core)),
            Reply::Unknown => Err(SOLVER),
        }
    }

    fn ask(&mut self, parts: &[Bool]) -> Result<Option<Model>, &'static str> {
        Ok(self.look(parts)?.ok())
    }

    /// The threads of disjoint minimal cores of conditions that cannot hold together; what is left
    /// without them can.
    fn cores(&mut self, prefix: &Prefix, parts: &[Bool]) -> Result<Vec<TreeId>, &'static str> {
        let mut left: Vec<usize> = (0..parts.len()).collect();
        let mut threads = Vec::new();
        let some = |of: &[usize]| of.iter().map(|&i| parts[i].clone()).collect::<Vec<_>>();
        while let Err(found) = self.look(&some(&left))? {
            let mut core: Vec<usize> = found.into_iter().map(|i| left[i]).collect();
            let mut at = 0;
            while at < core.len() {
                let without = [&core[..at], &core[at + 1..]].concat();
                match self.look(&some(&without))? {
                    // Those before are in every core of these.
                    Err(smaller) => core = smaller.into_iter().map(|i| without[i]).collect(),
                    Ok(_) => at += 1,
                }
            }
            if core.is_empty() {
                break;
            }
            left.retain(|i| !core.contains(i));
            threads.extend(core.into_iter().map(|i| prefix[i].tree));
        }
        Ok(threads)
    }
}

/// The sets of threads to let off, biggest first.
fn off(threads: &[TreeId]) -> Vec<BTreeSet<TreeId>> {
    let most = threads.len().min(MOST_THREADS);
    let mut sets: Vec<BTreeSet<TreeId>> = (1..1u32 << most)
        .map(|bits| {
            let chosen = (0..most).filter(|i| bits & 1 << i != 0);
            chosen.map(|i| threads[i]).collect()
        })
        .collect();
    if threads.len() > most {
        sets.push(threads.iter().copied().collect());
    }
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    sets
}

/// Can an execution show more of the thread than is in the prefix?
fn grows(formula: &Formula<'_>, reach: &Reach) -> bool {
    if !reach.not.is_empty() {
        return true;
    }
    let mut at = reach.node;
    loop {
        let node = formula.forest.node(at);
        if is_branch(formula, at) {
            return true;
        }
        match (node.what, node.next.first()) {
            (What::Gone | What::End | What::Bound, _) => return false,
            (_, Some(next)) => at = next.1,
            (_, None) => return true,
        }
    }
}

/// Is this a node that can come out in several ways?
fn is_branch(formula: &Formula<'_>, id: NodeId) -> bool {
    let node = formula.forest.node(id);
    match node.what {
        What::Decide(..) => true,
        // Only whether it holds at last is of interest.
        What::Assume(_) => node.after(0).is_some(),
        // What a join returns is another thread's decision, as far as is known.
        What::Step(action) if action.kind.joins() => {
            let asks = |aim| matches!(aim, Aim::Result | Aim::Outcome(_));
            let other = |t: &Target| t.node == id && asks(t.aim);
            node.next.len() > 1 || formula.targets.iter().any(other)
        }
        What::Step(_) => formula.has_results(id),
        _ => false,
    }
}

/// The way that led to a node.
fn way(formula: &Formula<'_>, at: NodeId) -> Way {
    let forest = formula.forest;
    let tree = forest.node(at).tree;
    let mut way = Way {
        tree,
        branches: Vec::new(),
        last: forest.tree(tree).root,
    };
    let mut below = at;
    while let Some((id, outcome)) = forest.node(below).parent {
        let is_assumed = matches!(forest.node(id).what, What::Assume(_)) && outcome != 0;
        if is_branch(formula, id) && !is_assumed {
            if way.branches.is_empty() {
                way.last = below;
            }
            way.branches.push((id, outcome));
        }
        below = id;
    }
    way.branches.reverse();
    way
}

/// For each thread of the prefix and of the execution what it can do in the next prefixes, to keep
/// all its branches last. `None`: the execution does not follow the prefix.
fn choices(prefix: &Prefix, ways: &[Way], off: &BTreeSet<TreeId>) -> Option<Vec<Vec<Reach>>> {
    let mut all = Vec::new();
    for reach in prefix {
        let way = ways.iter().find(|w| w.tree == reach.tree);
        all.push(match way {
            _ if off.contains(&reach.tree) => vec![reach.clone()],
            Some(way) => suffix(reach, way)?,
            None => return None,
        });
    }
    for way in ways {
        if !prefix.iter().any(|r| r.tree == way.tree) {
            let cut = |&(node, outcome): &(NodeId, u64)| Reach {
                tree: way.tree,
                node,
                not: vec![outcome],
            };
            let mut reaches: Vec<Reach> = way.branches.iter().map(cut).collect();
            reaches.push(way.end());
            all.push(reaches);
        }
    }
    Some(all)
}

impl Way {
    fn end(&self) -> Reach {
        Reach {
            tree: self.tree,
            node: self.last,
            not: Vec::new(),
        }
    }
}

/// Where a thread can leave the way that it took beyond its prefix; at last, its end.
fn suffix(reach: &Reach, way: &Way) -> Option<Vec<Reach>> {
    // Nodes of a tree that lie further below have higher numbers.
    let below = |b: &&(NodeId, u64)| b.0 >= reach.node;
    let new: Vec<&(NodeId, u64)> = way.branches.iter().filter(below).collect();
    let mut reaches = Vec::new();
    for (i, &&(node, outcome)) in new.iter().enumerate() {
        let mut not = vec![outcome];
        if i == 0 && !reach.not.is_empty() {
            if node != reach.node || reach.not.contains(&outcome) {
                return None;
            }
            not.extend(&reach.not);
        }
        reaches.push(Reach {
            tree: way.tree,
            node,
            not,
        });
    }
    if new.is_empty() {
        return reach.not.is_empty().then(|| vec![reach.clone()]);
    }
    reaches.push(way.end());
    Some(reaches)
}

/// All prefixes that choose for each thread, and whether all threads keep their branches. A thread
/// that its parent does not create in a prefix is not in it.
fn combinations(formula: &Formula<'_>, choices: &[Vec<Reach>]) -> Vec<(Prefix, bool)> {
    let mut found = Vec::new();
    let mut next = vec![0; choices.len()];
    loop {
        let chosen = || {
            next.iter()
                .zip(choices)
                .map(|(&i, c)| (&c[i], i + 1 == c.len()))
        };
        let exists = |tree| {
            exists(
                formula,
                &|t| chosen().find(|c| c.0.tree == t).map(|c| c.0),
                tree,
            )
        };
        // Of those that do not exist, one combination is enough.
        if chosen().all(|(reach, kept)| kept || exists(reach.tree)) {
            let there = chosen().filter(|(reach, _)| exists(reach.tree));
            found.push((
                there.map(|c| c.0.clone()).collect(),
                chosen().all(|(_, kept)| kept),
            ));
        }
        let Some(at) = (0..next.len()).find(|&i| next[i] + 1 < choices[i].len()) else {
            return found;
        };
        next[..at].fill(0);
        next[at] += 1;
    }
}

/// Is the thread created before its ancestors leave their ways?
fn exists<'r>(
    formula: &Formula<'_>,
    reach: &dyn Fn(TreeId) -> Option<&'r Reach>,
    tree: TreeId,
) -> bool {
    let Some(create) = formula.forest.tree(tree).create else {
        return true;
    };
    let parent = formula.forest.node(create).tree;
    let far = reach(parent).is_some_and(|r| leads_to(formula, r, create));
    far && exists(formula, reach, parent)
}

/// Does the thread come to this node, or can nothing but others keep it from that?
fn leads_to(formula: &Formula<'_>, reach: &Reach, node: NodeId) -> bool {
    if formula.forest.is_above(node, reach.node) {
        return node != reach.node || reach.not.is_empty();
    }
    let mut at = node;
    while let Some((above, _)) = formula.forest.node(at).parent {
        if is_branch(formula, above) {
            return false;
        }
        if above == reach.node {
            return true;
        }
        at = above;
    }
    false
}

/// What a prefix asks of each of its threads; `None` if a thread has no other way to go.
fn conditions(formula: &Formula<'_>, prefix: &Prefix) -> Option<Vec<Bool>> {
    prefix.iter().map(|r| condition(formula, r)).collect()
}

fn condition(formula: &Formula<'_>, reach: &Reach) -> Option<Bool> {
    if reach.not.is_empty() {
        return Some(formula.at[reach.node as usize].clone());
    }
    let node = formula.forest.node(reach.node);
    let known = node.next.iter().filter(|n| !reach.not.contains(&n.0));
    let known = known.map(|n| formula.at[n.1 as usize].clone());
    let asks = |aim| matches!(aim, Aim::Decide | Aim::Hold | Aim::Outcome(_) | Aim::Result);
    let unknown = formula.targets.iter();
    let unknown = unknown.filter(|t| t.node == reach.node && asks(t.aim));
    let parts: Vec<Bool> = known.chain(unknown.map(|t| t.condition.clone())).collect();
    // A step may come out otherwise when more is known of other threads.
    let never = parts.is_empty() && !matches!(node.what, What::Step(_));
    (!never).then(|| any(&parts))
}
