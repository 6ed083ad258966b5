//! What is known of the program: for each thread the tree of its local paths (DESIGN §8).
//!
//! A node is a *position* of a thread and what it does there. What a thread does next is a
//! function of its local path, so each outcome of a node leads to exactly one next node. A node
//! about which nothing is known yet is [`What::Open`].

use super::channels::Messages;
use super::footprint::Footprint;
use super::terms::{TermId, Terms};
use super::untested::Tested;
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::conflict::Access;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Why;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Index of a node in the forest.
pub type NodeId = u32;
/// Index of a tree in the forest. Tree 0 is main's.
pub type TreeId = u32;

/// What a thread does at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Not known yet.
    Open,
    /// One step of the schedule.
    Step(Action),
    /// A decision on the value of a term; the outcomes are values.
    Decide(TermId, Why),
    /// An assumption; only the outcome 1 is of interest.
    Assume(TermId),
    /// An input comes into being: index in its thread, bytes.
    Input(u32, u32),
    /// The thread has ended.
    Gone,
    /// The process ends here, by what this thread did alone.
    End,
    /// Exploration stops here on purpose.
    Bound,
}

/// A step, as far as it does not depend on the interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    pub kind: Kind,
    /// Bytes of an access; 1 for a wait with a deadline.
    pub size: u8,
    pub object: u64,
    /// Slot-free form of the event's `value` where that is no outcome: the tree created or joined,
    /// the mutex of a wait, the bytes of a block, 1 for the end of a routine that an exception left.
    pub value: u64,
    /// Written value.
    pub term: Option<TermId>,
}

/// One position.
#[derive(Clone, Debug)]
pub struct Node {
    pub tree: TreeId,
    /// The node and the outcome that lead here.
    pub parent: Option<(NodeId, u64)>,
    pub what: What,
    /// Next node for each outcome seen. A step without any has never been executed.
    pub next: Vec<(u64, NodeId)>,
    /// Statement.
    pub pc: u64,
    /// Steps above this node in its tree.
    pub step: u32,
    /// Decisions above this node.
    pub decisions: u32,
    /// The execution of this step ends the process, whatever else happened (a deadlock with
    /// itself, the unlocking of a mutex that is not held).
    pub fatal: bool,
}

impl Action {
    /// Can the step, which waits for others, also end because its time runs out?
    pub fn timed(&self) -> bool {
        matches!(self.kind, Kind::RwRead | Kind::RwWrite | Kind::CondWake) && self.size == 1
    }
}

impl Node {
    /// The action of a step.
    pub fn action(&self) -> Option<&Action> {
        match &self.what {
            What::Step(action) => Some(action),
            _ => None,
        }
    }

    /// A step that was announced and never executed.
    pub fn is_stub(&self) -> bool {
        matches!(self.what, What::Step(_)) && self.next.is_empty()
    }

    /// The node that follows an outcome.
    pub fn after(&self, outcome: u64) -> Option<NodeId> {
        self.next.iter().find(|n| n.0 == outcome).map(|n| n.1)
    }
}

/// All local paths of one thread.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The parent's node that creates the thread: its name. `None` for main.
    pub create: Option<NodeId>,
    pub root: NodeId,
    /// Slot in the last execution that had it.
    pub slot: Slot,
}

/// The trees of all threads.
#[derive(Debug)]
pub struct Forest {
    pub nodes: Vec<Node>,
    pub trees: Vec<Tree>,
    pub terms: Terms,
    /// The values with which each byte was seen before any recorded access.
    pub init: HashMap<u64, BTreeSet<u8>>,
    /// Positions that were filled in and outcomes that were added, ever.
    pub facts: u64,
    /// What synchronisation objects hold at first: the count of a semaphore, the threads that a
    /// barrier waits for, the state of a once control.
    pub contents: BTreeMap<u64, u64>,
    /// Where threads stand once they have initialised an object other than a mutex, whose
    /// initialisation is a step.
    pub begins: BTreeMap<u64, BTreeSet<NodeId>>,
    /// Objects whose memory is recorded as variables are: the guards of static variables.
    pub followed: BTreeSet<u64>,
    /// What was passed on by pipes and event counters.
    pub messages: Messages,
    /// Who looked at the clock, and who moved it.
    pub clock: Clock,
    /// Deadlocks seen: see [`Pattern`].
    pub deadlocks: Vec<Pattern>,
    /// Rounds of loops that only wait, by the positions at their ends: see [`super::rounds`].
    pub rounds: BTreeMap<NodeId, NodeId>,
    /// Losses per statement and reason.
    pub lost: BTreeMap<(u64, u8, String), u64>,
    /// Statements at which two executions with the same local path did different things.
    pub unstable: BTreeSet<u64>,
    /// Kinds of steps whose conditions the formula does not know.
    pub unmodelled: BTreeSet<Kind>,
    /// As maximal causality reduction sees the program (papers/mpc.txt, section 2.2): what a read
    /// returns is a decision, and all inputs are zero.
    pub by_value: bool,
    /// Condition waits may end although nobody signalled: see [`super::conditions`].
    pub spurious: bool,
    /// The lock that is held in atomic sections, if there are any.
    pub section: Option<u64>,
    /// A round of a loop that was in vain leaves its thread where it was.
    pub folds: bool,
    /// Who has run which list of handlers of exit.
    pub exits: BTreeSet<(u64, TreeId)>,
    /// Who registered handlers of exit once there were several threads.
    pub registrants: BTreeSet<TreeId>,
    /// The end of the process is announced as a step, so that others may come before it.
    pub announces_end: bool,
    /// Who touched what is not known to be shared.
    pub footprint: Footprint,
    /// Bytes that turned out to be shared.
    pub shared: Vec<(u64, u64)>,
    /// Where the bounds cut a path.
    pub bounds_hit: BTreeSet<&'static str>,
    /// The statements at which threads were followed no further because of their decisions.
    pub bounded_at: BTreeSet<u64>,
    /// What the runtime refused, in its words.
    pub refused: BTreeSet<String>,
    /// The predecessor pairs of all executions; `None`: they do not matter.
    pub tested: Option<Tested>,
}

/// Uses of the virtual clock, which is not in the formula.
#[derive(Debug, Default)]
pub struct Clock {
    pub looked: BTreeSet<TreeId>,
    pub moved: BTreeSet<TreeId>,
    /// A round in vain has moved it: as often as there were such rounds.
    pub moved_in_vain: bool,
}

/// The threads that wait in a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The positions at which they wait, ascending.
    pub stuck: Vec<NodeId>,
    /// They wait for each other; otherwise all other threads must have ended too.
    pub cycle: bool,
}

impl Forest {
    /// Knows nothing but that there is main.
    pub fn new() -> Forest {
        let mut forest = Forest {
            nodes: Vec::new(),
            trees: Vec::new(),
            terms: Terms::default(),
            init: HashMap::new(),
            contents: BTreeMap::new(),
            begins: BTreeMap::new(),
            followed: BTreeSet::new(),
            messages: Messages::default(),
            clock: Clock::default(),
            facts: 0,
            deadlocks: Vec::new(),
            rounds: BTreeMap::new(),
            lost: BTreeMap::new(),
            unstable: BTreeSet::new(),
            unmodelled: BTreeSet::new(),
            by_value: false,
            spurious: false,
            section: None,
            folds: false,
            exits: BTreeSet::new(),
            registrants: BTreeSet::new(),
            announces_end: false,
            footprint: Footprint::default(),
            shared: Vec::new(),
            bounds_hit: BTreeSet::new(),
            bounded_at: BTreeSet::new(),
            refused: BTreeSet::new(),
            tested: None,
        };
        forest.plant(None, raddle_protocol::slot::MAIN, What::Open, 0);
        forest
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn tree(&self, id: TreeId) -> &Tree {
        &self.trees[id as usize]
    }

    /// Adds a tree.
    pub fn plant(&mut self, create: Option<NodeId>, slot: Slot, root: What, pc: u64) -> TreeId {
        let tree = self.trees.len() as TreeId;
        let root = self.grow(tree, None, root, pc);
        self.trees.push(Tree { create, root, slot });
        tree
    }

    fn grow(&mut self, tree: TreeId, parent: Option<(NodeId, u64)>, what: What, pc: u64) -> NodeId {
        let id = self.nodes.len() as NodeId;
        let (step, decisions) = parent.map_or((0, 0), |(p, _)| {
            let parent = self.node(p);
            (
                parent.step + u32::from(matches!(parent.what, What::Step(_))),
                parent.decisions + u32::from(matches!(parent.what, What::Decide(..))),
            )
        });
        self.nodes.push(Node {
            tree,
            parent,
            what,
            next: Vec::new(),
            pc,
            step,
            decisions,
            fatal: false,
        });
        id
    }

    /// The node after an outcome, which is new ([`What::Open`]) if the outcome is.
    pub fn advance(&mut self, from: NodeId, outcome: u64) -> NodeId {
        if let Some(next) = self.node(from).after(outcome) {
            return next;
        }
        let next = self.grow(self.node(from).tree, Some((from, outcome)), What::Open, 0);
        self.nodes[from as usize].next.push((outcome, next));
        self.facts += 1;
        next
    }

    /// Says what happens at a position. `false`: something else is known to happen there.
    pub fn fill(&mut self, at: NodeId, what: What, pc: u64) -> bool {
        let node = &mut self.nodes[at as usize];
        if node.what == What::Open {
            node.what = what;
            node.pc = pc;
            self.facts += 1;
            return true;
        }
        node.what == what && node.pc == pc
    }

    /// The nearest node above that is a step, in the same tree.
    pub fn step_above(&self, id: NodeId) -> Option<NodeId> {
        let mut at = self.node(id).parent;
        while let Some((above, _)) = at {
            if matches!(self.node(above).what, What::Step(_)) {
                return Some(above);
            }
            at = self.node(above).parent;
        }
        None
    }

    /// Notes that a thread touched bytes outside the ranges.
    pub fn touch(&mut self, first: u64, end: u64, tree: TreeId, access: Access) {
        let mut footprint = std::mem::take(&mut self.footprint);
        let coexist = |a, b| self.coexist(a, b);
        let shared = footprint.touch(first, end, tree, access, coexist);
        self.shared.extend(shared);
        self.footprint = footprint;
    }

    /// Can one execution have both threads?
    pub fn coexist(&self, a: TreeId, b: TreeId) -> bool {
        let creations = [self.creations(a), self.creations(b)];
        self.fit(&creations[0], &creations[1], |x, y| self.is_above(x, y))
    }

    /// The answers of [`Forest::coexist`] for all threads.
    pub fn coexisting(&self) -> Vec<Vec<bool>> {
        let spans = self.spans();
        let above = |x: NodeId, y: NodeId| {
            let (x, y) = (&spans[x as usize], &spans[y as usize]);
            x.start <= y.start && y.end <= x.end
        };
        let trees = 0..self.trees.len() as TreeId;
        let creations: Vec<Vec<NodeId>> = trees.map(|t| self.creations(t)).collect();
        let row = |a: &Vec<NodeId>| creations.iter().map(|b| self.fit(a, b, above)).collect();
        creations.iter().map(row).collect()
    }

    /// Can one execution have both creations, each given with those that lead to it?
    fn fit(&self, a: &[NodeId], b: &[NodeId], is_above: impl Fn(NodeId, NodeId) -> bool) -> bool {
        // In the innermost tree that both come from, one creation must lie above the other.
        let common = |x: &&NodeId| {
            b.iter()
                .find(|y| self.node(**y).tree == self.node(**x).tree)
        };
        match a.iter().find_map(|x| Some((*x, *common(&x)?))) {
            Some((x, y)) => is_above(x, y) || is_above(y, x),
            None => true,
        }
    }

    /// Numbers of nodes such that those below a node are within its span.
    fn spans(&self) -> Vec<Range<u32>> {
        let mut spans = vec![0..0; self.nodes.len()];
        let mut number = 0;
        for tree in &self.trees {
            let mut stack = vec![(tree.root, false)];
            while let Some((id, done)) = stack.pop() {
                stop::point();
                let span = &mut spans[id as usize];
                if done {
                    span.end = number;
                    continue;
                }
                span.start = number;
                number += 1;
                stack.push((id, true));
                stack.extend(self.node(id).next.iter().map(|n| (n.1, false)));
            }
        }
        spans
    }

    /// The creations that lead to a thread, its own first.
    fn creations(&self, mut tree: TreeId) -> Vec<NodeId> {
        let mut creations = Vec::new();
        while let Some(create) = self.tree(tree).create {
            stop::point();
            creations.push(create);
            tree = self.node(create).tree;
        }
        creations
    }

    /// Does `a` lie above `b` in its tree, or is it `b`?
    pub fn is_above(&self, a: NodeId, b: NodeId) -> bool {
        let mut at = Some(b);
        while let Some(id) = at {
            stop::point();
            if id == a {
                return true;
            }
            at = self.node(id).parent.map(|p| p.0);
        }
        false
    }

    /// Can what a thread sees on the clock depend on what another one does, or on rounds that are left out?
    pub fn clock_matters(&self) -> bool {
        let others = |a: TreeId| move |b: &TreeId| a != *b && self.coexist(a, *b);
        let moved = &self.clock.moved;
        let mut looked = self.clock.looked.iter();
        looked.any(|&a| self.clock.moved_in_vain || moved.iter().any(others(a)))
    }

    /// Ends of local paths, known to continue or not.
    pub fn local_paths(&self) -> u64 {
        self.nodes.iter().filter(|n| n.next.is_empty()).count() as u64
    }

    /// Notes that a thread that has come from `begin` to `end` may be back where it was.
    pub fn add_round(&mut self, begin: NodeId, end: NodeId) {
        self.facts += u64::from(self.rounds.insert(end, begin).is_none());
    }

    /// Notes a deadlock; `false` if it is known.
    pub fn add_deadlock(&mut self, mut pattern: Pattern) -> bool {
        pattern.stuck.sort_unstable();
        let new = !self.deadlocks.contains(&pattern);
        if new {
            self.deadlocks.push(pattern);
            self.facts += 1;
        }
        new
    }
}
