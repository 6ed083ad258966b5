//! The part of the exploration tree that is not finished: which branches were started, which are
//! still to come (the wakeup trees), and who sleeps.
//!
//! Source: Abdulla, Aronis, Jonsson, Sagonas, JACM 64(4), 2017, sections 5 (source sets) and 6
//! (wakeup trees). Differently from there, branches of different nodes can be under way at the same
//! time: a branch that has been *started* counts as one that has been explored, for the sleep sets
//! of its later siblings and for what is inserted beside it. That keeps both guarantees: the
//! subtree of a started branch holds everything that begins with it, whenever that is run.

mod saved;

use super::races::{Item, initials, weak_initial};
use std::collections::BTreeSet;

/// Sequences that are to be explored from one state, as an ordered tree.
#[derive(Debug)]
pub struct Wakeup {
    item: Item,
    /// The last step is not certain to be possible.
    tentative: bool,
    children: Vec<Wakeup>,
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
}

/// See the module.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Option<Node>>,
    free: Vec<usize>,
    /// Nodes with pending branches, the deepest last.
    ready: BTreeSet<(usize, usize)>,
    /// Leaves that were started and are to be run once more, and whether they are tentative.
    again: Vec<(usize, bool)>,
    /// Only one step of each sequence is kept: source sets instead of wakeup trees.
    source: bool,
}

/// What to run: a way from the root.
#[derive(Debug)]
pub struct Start {
    /// The node at the end of the way.
    pub leaf: usize,
    pub way: Vec<Item>,
    /// Who sleeps there.
    pub sleep: Vec<Item>,
    pub tentative: bool,
}

const ROOT: usize = 0;

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
            again: vec![(ROOT, false)],
            source,
        }
    }

    /// Is everything explored?
    pub fn finished(&self) -> bool {
        self.nodes[ROOT].is_none()
    }

    /// Starts what is to be run again, or else the deepest pending branch; `None` if none is pending
    /// now.
    pub fn start(&mut self) -> Option<Start> {
        if let Some((leaf, tentative)) = self.again.pop() {
            return Some(self.way_to(leaf, tentative));
        }
        let &(_, node) = self.ready.last()?;
        let mut tentative = false;
        let mut leaf = node;
        while !self.node(leaf).pending.is_empty() {
            let branch = self.node(leaf).pending.remove(0);
            self.ready_again(leaf);
            tentative |= branch.tentative;
            leaf = self.child(leaf, branch.item);
            self.node(leaf).pending = branch.children;
            self.ready_again(leaf);
        }
        self.node(leaf).running = true;
        Some(self.way_to(leaf, tentative))
    }

    /// The run that was started at `leaf` came to nothing: it is to be started again.
    pub fn lost(&mut self, leaf: usize, tentative: bool) {
        self.again.push((leaf, tentative));
    }

    fn way_to(&mut self, leaf: usize, tentative: bool) -> Start {
        let mut way = Vec::new();
        let mut at = leaf;
        while at != ROOT {
            way.push(self.node(at).item.clone());
            at = self.node(at).parent;
        }
        way.reverse();
        Start {
            leaf,
            way,
            sleep: self.node(leaf).sleep.clone(),
            tentative,
        }
    }

    /// The nodes of a run that was started at `leaf` and took `steps`, one before each step;
    /// `None`, and the run counts for nothing, if it did not go the way that it was told to.
    pub fn ran(&mut self, leaf: usize, steps: &[Item]) -> Option<Vec<usize>> {
        self.node(leaf).running = false;
        let mut way = vec![leaf];
        while let Some(&at) = way.last()
            && at != ROOT
        {
            way.push(self.node(at).parent);
        }
        way.reverse();
        let known = way.len() - 1;
        let astray = steps.len() < known
            || (0..known).any(|i| !self.node(way[i + 1]).item.agrees(&steps[i]));
        if astray {
            return None;
        }
        for (i, step) in steps.iter().enumerate() {
            if i < known {
                self.learn(way[i], way[i + 1], step);
            } else {
                let next = self.child(way[i], step.clone());
                way.push(next);
            }
        }
        Some(way)
    }

    /// The step from `parent` to `child` is known with all of its choices now.
    fn learn(&mut self, parent: usize, child: usize, step: &Item) {
        if self.node(child).item.picks.len() == step.picks.len() {
            return;
        }
        let item = &mut self.node(child).item;
        (item.picks, item.outcomes) = (step.picks.clone(), step.outcomes);
        let branches = &mut self.node(parent).started;
        if let Some(branch) = branches.iter_mut().find(|b| b.node == Some(child)) {
            (branch.item.picks, branch.item.outcomes) = (step.picks.clone(), step.outcomes);
        }
    }

    /// Adds a sequence to what is to be explored from `node`, unless something that is there
    /// already covers it.
    pub fn insert(&mut self, node: usize, sequence: Vec<Item>, tentative: bool) {
        let source = self.source;
        let here = self.node(node);
        let asleep = here.sleep.iter();
        let mut explored = asleep.chain(here.started.iter().map(|b| &b.item));
        if source {
            let first = initials(&sequence);
            let mut known = explored.chain(here.pending.iter().map(|w| &w.item));
            if known.any(|item| first.iter().any(|f| f.agrees(item))) {
                return;
            }
            let Some(&first) = first.first() else { return };
            let branch = Wakeup {
                item: first.clone(),
                tentative: tentative && sequence.len() == 1,
                children: Vec::new(),
            };
            here.pending.push(branch);
        } else {
            if explored.any(|item| weak_initial(item, &sequence).is_some()) {
                return;
            }
            insert(&mut here.pending, sequence, tentative);
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
    fn child(&mut self, parent: usize, item: Item) -> usize {
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

/// JACM 2017, section 6.1: `insert[E](v, B)`.
fn insert(branches: &mut Vec<Wakeup>, mut sequence: Vec<Item>, tentative: bool) {
    for branch in branches.iter_mut() {
        let Some(place) = weak_initial(&branch.item, &sequence) else {
            continue;
        };
        if let Some(place) = place {
            sequence.remove(place);
        }
        if branch.children.is_empty() || sequence.is_empty() {
            return;
        }
        return insert(&mut branch.children, sequence, tentative);
    }
    let mut chain = Vec::new();
    let mut last = tentative;
    for item in sequence.into_iter().rev() {
        chain = vec![Wakeup {
            item,
            tentative: std::mem::take(&mut last),
            children: chain,
        }];
    }
    branches.extend(chain);
}
