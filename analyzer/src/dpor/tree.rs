//! The part of the exploration tree that is not finished: which branches were started, which are
//! still to come (the wakeup trees), and who sleeps.
//!
//! Source: Abdulla, Aronis, Jonsson, Sagonas, JACM 64(4), 2017, sections 5 (source sets) and 6
//! (wakeup trees). Differently from there, branches of different nodes can be under way at the same
//! time: a branch that has been *started* counts as one that has been explored, for the sleep sets
//! of its later siblings and for what is inserted beside it: its subtree holds everything that
//! begins with it, whenever that is run. But a sequence that lacks its step and commutes with it is
//! covered only if what the subtree turns round beside the branch is known before the branches of
//! its later siblings are explored. So from then on that several executions are under way at a time
//! it is not covered, as among source sets. The price are executions that are given up because all
//! that is left to do in them sleeps.
//!
//! The paper looks at the state to tell what commutes. Here the last step of a sequence has never
//! been seen where it is to be taken ([`Item::seen`]): it may read another value than it did
//! elsewhere, and end the process. What only such a guess makes superfluous is kept until an
//! execution has shown the step, and no branch is started beside one that nobody has seen.
//!
//! A step that ends the process while others could go on ([`Last::Ends`]) conflicts with all before
//! it. Where it is guessed to end nothing, a sequence may be taken to be covered by a sleeping step
//! `q` that in truth it conflicts with. The subtree of `q`, which is explored before, shows what the
//! step does (with `q` or without it reads the same), so what it turns round beside `q` is kept to
//! the end: a branch to come that would cover it is lengthened by what is left of it. And what else
//! commutes with the earlier step of a race may come after the end of an execution that was cut off,
//! or in another execution: so all races of each are looked at, whether or not an earlier one has
//! shown them.

mod saved;

use super::races::{Item, Last, weak_initial};
use crate::stop;
use std::collections::BTreeSet;

/// What is to be explored from one state.
type Sequence = (Vec<Item>, Last);

/// Sequences that are to be explored from one state, as an ordered tree.
#[derive(Debug)]
struct Wakeup {
    item: Item,
    /// Of the sequence that ends here; [`Last::Possible`] if none does.
    last: Last,
    children: Vec<Wakeup>,
    /// See [`Branch::deferred`].
    deferred: Vec<Sequence>,
}

/// One state on the way of an execution.
#[derive(Debug)]
struct Node {
    parent: usize,
    depth: usize,
    /// The step that leads here.
    item: Item,
    /// Steps that were explored before, and that nothing has woken since.
    sleep: Vec<Item>,
    /// Branches under way or finished.
    started: Vec<Branch>,
    /// Branches to come, in order.
    pending: Vec<Wakeup>,
    /// Executions under way that end in this node's first run.
    running: bool,
}

#[derive(Debug)]
struct Branch {
    item: Item,
    /// `None`: finished.
    node: Option<usize>,
    /// Sequences that need no exploring beside this branch if its step is what it is taken for.
    deferred: Vec<Sequence>,
}

/// The end of what is prescribed to an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub node: usize,
    /// A step on the way is tentative.
    pub tentative: bool,
    /// So many steps of the way were there before. The races of the others are not known: they were
    /// seen in other states at most, and what turns them round was inserted there.
    pub from: usize,
}

/// The nodes of an execution.
#[derive(Debug)]
pub struct Ran {
    /// One before each step, as far as it went the way that it was told to.
    pub nodes: Vec<usize>,
    /// It left that way, and counts for nothing from there on.
    pub astray: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Option<Node>>,
    free: Vec<usize>,
    /// Nodes with pending branches, the deepest last.
    ready: BTreeSet<(usize, usize)>,
    /// Leaves that were started and are to be run once more.
    again: Vec<Leaf>,
    /// Only one step of each sequence is kept: source sets instead of wakeup trees.
    source: bool,
    /// What lacks a step is not covered by it.
    occurring: bool,
}

/// What to run: a way from the root.
#[derive(Debug)]
pub struct Start {
    pub leaf: Leaf,
    pub way: Vec<Item>,
    /// Who sleeps at its end.
    pub sleep: Vec<Item>,
}

pub const ROOT: usize = 0;

impl Tree {
    /// A tree whose root is to be run for the first time.
    pub fn new(source: bool) -> Tree {
        let root = Node {
            parent: ROOT,
            depth: 0,
            item: Item {
                thread: 0,
                picks: Vec::new(),
                outcomes: 1,
                foot: Default::default(),
                seen: true,
            },
            sleep: Vec::new(),
            started: Vec::new(),
            pending: Vec::new(),
            running: true,
        };
        Tree {
            nodes: vec![Some(root)],
            free: Vec::new(),
            ready: BTreeSet::new(),
            again: vec![Leaf {
                node: ROOT,
                tentative: false,
                from: 0,
            }],
            source,
            occurring: false,
        }
    }

    /// From now on steps cover only what they occur in: several executions are under way at a time.
    pub fn cover_less(&mut self) {
        self.occurring = true;
    }

    /// Is everything explored?
    pub fn finished(&self) -> bool {
        self.nodes[ROOT].is_none()
    }

    /// Starts what is to be run again, or else the deepest pending branch beside which all that was
    /// started has been seen; `None` if there is none now.
    pub fn start(&mut self) -> Option<Start> {
        if let Some(leaf) = self.again.pop() {
            return Some(self.way_to(leaf));
        }
        let mut ready = self.ready.iter().rev();
        let &(from, node) = ready.find(|&&(_, node)| self.all_seen(node))?;
        let mut tentative = false;
        let mut leaf = node;
        while !self.node(leaf).pending.is_empty() {
            let branch = self.node(leaf).pending.remove(0);
            self.ready_again(leaf);
            tentative |= branch.last == Last::Tentative;
            leaf = self.child(leaf, branch.item, branch.deferred);
            self.node(leaf).pending = branch.children;
            self.ready_again(leaf);
        }
        self.node(leaf).running = true;
        Some(self.way_to(Leaf {
            node: leaf,
            tentative,
            from,
        }))
    }

    fn all_seen(&self, node: usize) -> bool {
        let here = self.nodes[node].as_ref();
        here.is_some_and(|here| here.started.iter().all(|branch| branch.item.seen))
    }

    /// The run that was started at `leaf` came to nothing: it is to be started again.
    pub fn lost(&mut self, leaf: Leaf) {
        self.again.push(leaf);
    }

    fn way_to(&mut self, leaf: Leaf) -> Start {
        let mut way = Vec::new();
        let mut at = leaf.node;
        while at != ROOT {
            way.push(self.node(at).item.clone());
            at = self.node(at).parent;
        }
        way.reverse();
        Start {
            leaf,
            way,
            sleep: self.node(leaf.node).sleep.clone(),
        }
    }

    /// Enters a run that was started at `leaf` and took `steps`.
    pub fn ran(&mut self, leaf: usize, steps: &[Item]) -> Ran {
        self.node(leaf).running = false;
        let mut way = vec![leaf];
        while let Some(&at) = way.last()
            && at != ROOT
        {
            way.push(self.node(at).parent);
        }
        way.reverse();
        let known = way.len() - 1;
        let as_told = |&i: &usize| {
            let told = &self.nodes[way[i + 1]];
            let taken = steps.get(i).zip(told.as_ref());
            taken.is_some_and(|(step, told)| told.item.agrees(step))
        };
        let followed = (0..known).take_while(as_told).count();
        let mut longer = Vec::new();
        for i in 0..known {
            let step = (i < followed).then(|| &steps[i]);
            let deferred = self.learn(way[i], way[i + 1], step);
            longer.extend(deferred.into_iter().map(|sequence| (way[i], sequence)));
        }
        let astray = followed < known;
        if astray {
            way.truncate(followed + 1);
        } else {
            for step in &steps[known..] {
                let last = way[way.len() - 1];
                way.push(self.child(last, step.clone(), Vec::new()));
            }
        }
        for (node, (sequence, last)) in longer {
            self.insert(node, sequence, last);
        }
        Ran { nodes: way, astray }
    }

    /// It is known now what the step from `parent` to `child` is there; `None`: not possible. What
    /// was deferred and is to be entered in `parent` now.
    fn learn(&mut self, parent: usize, child: usize, step: Option<&Item>) -> Vec<Sequence> {
        let told = &mut self.node(child).item;
        if step == Some(&*told) || (step.is_none() && told.seen) {
            return Vec::new();
        }
        let as_guessed = step.is_some_and(|step| step.foot == told.foot);
        let learnt = Item {
            seen: true,
            ..step.unwrap_or(told).clone()
        };
        *told = learnt.clone();
        let below = &mut self.node(child).sleep;
        below.retain(|other| !other.foot.conflicts(&learnt.foot));
        let here = self.node(parent);
        let mut branches = here.started.iter_mut();
        let Some(branch) = branches.find(|b| b.node == Some(child)) else {
            return Vec::new();
        };
        branch.item = learnt;
        let mut deferred = std::mem::take(&mut branch.deferred);
        if as_guessed {
            deferred.retain(|(_, last)| *last == Last::Ends && !self.occurring);
            return deferred;
        }
        let mut pending = sequences(std::mem::take(&mut here.pending));
        self.ready_again(parent);
        pending.append(&mut deferred);
        pending
    }

    /// Adds a sequence to what is to be explored from `node`, unless something that is there
    /// already covers it.
    pub fn insert(&mut self, mut node: usize, mut sequence: Vec<Item>, last: Last) {
        let (source, occurs) = (self.source, self.source || self.occurring);
        loop {
            stop::point();
            let here = self.node(node);
            let cover = |item: &Item| Cover::of(item, &sequence, occurs);
            if here.sleep.iter().any(|item| cover(item) == Cover::Whole) {
                return;
            }
            let mut started = here.started.iter();
            let Some(branch) = started.find(|b| cover(&b.item) == Cover::Whole) else {
                break;
            };
            match branch.node {
                Some(below) if last == Last::Ends && !occurs => {
                    if !take_out(&branch.item, &mut sequence) {
                        return;
                    }
                    node = below;
                }
                _ => return,
            }
        }
        let here = self.node(node);
        let cover = |item: &Item| Cover::of(item, &sequence, occurs);
        let mut started = here.started.iter_mut();
        if let Some(branch) = started.find(|b| cover(&b.item) == Cover::AsGuessed) {
            return branch.deferred.push((sequence, last));
        }
        if source {
            insert_first(&mut here.pending, sequence, last);
        } else {
            insert(&mut here.pending, sequence, last, occurs);
        }
        self.ready_again(node);
    }

    /// Forgets `node` if nothing is left to be done below it, and then those above it.
    pub fn finish(&mut self, mut node: usize) {
        loop {
            let Some(here) = &self.nodes[node] else {
                return;
            };
            let open = here.running
                || !here.pending.is_empty()
                || here.started.iter().any(|b| b.node.is_some());
            if open {
                return;
            }
            let parent = here.parent;
            self.nodes[node] = None;
            if node == ROOT {
                return;
            }
            self.free.push(node);
            let above = &mut self.node(parent).started;
            if let Some(branch) = above.iter_mut().find(|b| b.node == Some(node)) {
                branch.node = None;
            }
            node = parent;
        }
    }

    /// Starts a branch.
    fn child(&mut self, parent: usize, item: Item, deferred: Vec<Sequence>) -> usize {
        let here = self.node(parent);
        let (depth, older) = (here.depth + 1, here.started.iter().map(|b| &b.item));
        let awake = |other: &&Item| other.foot.conflicts(&item.foot);
        let sleep = here.sleep.iter().chain(older);
        let sleep = sleep.filter(|other| !awake(other)).cloned().collect();
        let node = Node {
            parent,
            depth,
            item: item.clone(),
            sleep,
            started: Vec::new(),
            pending: Vec::new(),
            running: false,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.nodes[index] = Some(node);
                index
            }
            None => {
                self.nodes.push(Some(node));
                self.nodes.len() - 1
            }
        };
        self.node(parent).started.push(Branch {
            item,
            node: Some(index),
            deferred,
        });
        index
    }

    fn ready_again(&mut self, node: usize) {
        let here = self.node(node);
        let (key, pending) = ((here.depth, node), !here.pending.is_empty());
        match pending {
            true => self.ready.insert(key),
            false => self.ready.remove(&key),
        };
    }

    fn node(&mut self, node: usize) -> &mut Node {
        self.nodes[node].as_mut().expect("it is not finished")
    }
}

/// Does exploring a step make exploring a sequence superfluous?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cover {
    No,
    /// If the step is what it is taken for.
    AsGuessed,
    Whole,
}

impl Cover {
    /// `occurs`: only a step that the sequence has covers it.
    fn of(item: &Item, sequence: &[Item], occurs: bool) -> Cover {
        match weak_initial(item, sequence) {
            None => Cover::No,
            Some(None) if occurs => Cover::No,
            Some(Some(0)) => Cover::Whole,
            _ if item.seen => Cover::Whole,
            _ => Cover::AsGuessed,
        }
    }
}

/// Takes the step from the sequence that has it as a weak initial; false if nothing is left, or it
/// is not in there.
fn take_out(item: &Item, sequence: &mut Vec<Item>) -> bool {
    let place = weak_initial(item, sequence).flatten();
    if let Some(place) = place {
        sequence.remove(place);
    }
    place.is_some() && !sequence.is_empty()
}

/// JACM 2017, section 6.1: `insert[E](v, B)`.
fn insert(mut branches: &mut Vec<Wakeup>, mut sequence: Vec<Item>, last: Last, occurs: bool) {
    let cover = |branch: &Wakeup, sequence: &[Item]| Cover::of(&branch.item, sequence, occurs);
    let covering = |branches: &[Wakeup], sequence: &[Item]| {
        let place = branches
            .iter()
            .position(|b| cover(b, sequence) != Cover::No);
        place.map(|n| (n, cover(&branches[n], sequence)))
    };
    while let Some((n, how)) = covering(branches, &sequence) {
        stop::point();
        let branch = &mut branches[n];
        if how == Cover::AsGuessed {
            return branch.deferred.push((sequence, last));
        }
        if let Some(Some(place)) = weak_initial(&branch.item, &sequence) {
            sequence.remove(place);
        }
        let covers = branch.children.is_empty() && (occurs || last != Last::Ends);
        if covers || sequence.is_empty() {
            return;
        }
        branches = &mut branch.children;
    }
    let mut chain = Vec::new();
    let mut known = last;
    for item in sequence.into_iter().rev() {
        chain = vec![Wakeup {
            item,
            last: std::mem::replace(&mut known, Last::Possible),
            children: chain,
            deferred: Vec::new(),
        }];
    }
    branches.extend(chain);
}

/// JACM 2017, section 5: adds one step to a source set.
fn insert_first(branches: &mut Vec<Wakeup>, sequence: Vec<Item>, last: Last) {
    let cover = |branch: &Wakeup| Cover::of(&branch.item, &sequence, true);
    if branches.iter().any(|b| cover(b) == Cover::Whole) {
        return;
    }
    if let Some(branch) = branches.iter_mut().find(|b| cover(b) == Cover::AsGuessed) {
        return branch.deferred.push((sequence, last));
    }
    let alone = sequence.len() == 1;
    branches.extend(sequence.into_iter().next().map(|item| Wakeup {
        item,
        last: if alone { last } else { Last::Possible },
        children: Vec::new(),
        deferred: Vec::new(),
    }));
}

/// The sequences that a tree was made of, and those that were deferred there. Not by recursion:
/// sequences are as long as executions.
fn sequences(branches: Vec<Wakeup>) -> Vec<Sequence> {
    let mut all = Vec::new();
    let mut way: Vec<Item> = Vec::new();
    let mut open = vec![(branches.into_iter(), Vec::new())];
    while let Some((level, _)) = open.last_mut() {
        let deferred = match level.next() {
            Some(branch) if branch.children.is_empty() => {
                all.push(([&way[..], &[branch.item]].concat(), branch.last));
                branch.deferred
            }
            Some(branch) => {
                way.push(branch.item);
                open.push((branch.children.into_iter(), branch.deferred));
                continue;
            }
            None => {
                way.pop();
                open.pop().map_or_else(Vec::new, |level| level.1)
            }
        };
        let whole = |(sequence, last): Sequence| ([&way[..], &sequence].concat(), last);
        all.extend(deferred.into_iter().map(whole));
    }
    all
}

/// Chains of branches are as long as executions: too long for the recursion of their own drop.
fn dismantle(mut open: Vec<Wakeup>) {
    while let Some(mut branch) = open.pop() {
        open.append(&mut branch.children);
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let nodes = self.nodes.iter_mut().flatten();
        dismantle(nodes.flat_map(|n| std::mem::take(&mut n.pending)).collect());
    }
}
