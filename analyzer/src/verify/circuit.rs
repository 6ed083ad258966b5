//! Truths as a circuit of gates, each of which exists once.
//!
//! A truth is a gate or its negation. Gates are made in the circuit that the thread is in
//! ([`Circuit::enter`]); what is the same is the same gate, so a formula that is built again after
//! it has grown shares all with the one before that did not change, and the solver is told of the
//! rest alone (`sat`).

use crate::stop;
use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// A gate, twice its number, plus one if negated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bool(pub(super) u32);

const TRUE: u32 = 0;
const FALSE: u32 = 1;

/// What a gate computes of truths, which are older.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    True,
    /// Anything. Each is another one.
    Variable,
    /// At least two, in order, none twice, none beside its negation.
    And(Rc<[u32]>),
    /// Neither is negated.
    Xor(u32, u32),
    /// If, then, else. The first two are not negated.
    Ite(u32, u32, u32),
    /// At least two of three.
    Majority(u32, u32, u32),
}

/// All gates of the formulas about one forest.
#[derive(Debug)]
pub struct Circuit {
    gates: Vec<Gate>,
    ids: HashMap<Gate, u32>,
    /// The first of the variables with this name, which follow one another.
    names: HashMap<String, u32>,
}

impl Default for Circuit {
    fn default() -> Circuit {
        Circuit {
            gates: vec![Gate::True],
            ids: HashMap::new(),
            names: HashMap::new(),
        }
    }
}

/// A circuit to which several hold on.
pub type Shared = Rc<RefCell<Circuit>>;

thread_local! {
    /// Not given up when the thread ends: where that is the end of the command, to free millions of gates would
    /// take seconds.
    static CURRENT: RefCell<ManuallyDrop<Shared>> = RefCell::default();
}

/// Makes this circuit the one of the thread.
pub fn enter(circuit: &Shared) {
    let before = CURRENT.replace(ManuallyDrop::new(circuit.clone()));
    drop(ManuallyDrop::into_inner(before));
}

/// All formulas are made by this, so it is where making them is stopped.
fn with<T>(change: impl FnOnce(&mut Circuit) -> T) -> T {
    stop::point();
    CURRENT.with_borrow(|current| change(&mut current.borrow_mut()))
}

impl Circuit {
    /// How many gates there are.
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// The gate with this number.
    pub fn gate(&self, number: u32) -> &Gate {
        &self.gates[number as usize]
    }

    /// Facts as text: a line for each, and for each gate that they need.
    pub fn text(&self, facts: &[Bool]) -> String {
        let names: HashMap<u32, &String> = self.names.iter().map(|n| (*n.1, n.0)).collect();
        let show = |truth: u32| match truth & 1 {
            0 => format!("g{}", truth / 2),
            _ => format!("!g{}", truth / 2),
        };
        let mut lines = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<u32> = facts.iter().map(|f| f.0).collect();
        while let Some(truth) = open.pop() {
            let gate = truth / 2;
            if !seen.insert(gate) {
                continue;
            }
            let (what, of) = match self.gate(gate) {
                Gate::True => ("true", Vec::new()),
                Gate::Variable => (
                    names.get(&(2 * gate)).map_or("bit", |n| n.as_str()),
                    Vec::new(),
                ),
                Gate::And(parts) => ("and", parts.to_vec()),
                Gate::Xor(a, b) => ("xor", vec![*a, *b]),
                Gate::Ite(c, a, b) => ("ite", vec![*c, *a, *b]),
                Gate::Majority(a, b, c) => ("majority", vec![*a, *b, *c]),
            };
            let shown: Vec<String> = of.iter().map(|&t| show(t)).collect();
            lines.push((
                gate,
                format!("{} = {what} {}", show(2 * gate), shown.join(" ")),
            ));
            open.extend(of);
        }
        lines.sort();
        let lines = lines.into_iter().map(|line| line.1);
        let facts = facts.iter().map(|f| show(f.0));
        lines.chain(facts).map(|line| line + "\n").collect()
    }

    fn id(&mut self, gate: Gate) -> u32 {
        if let Some(&id) = self.ids.get(&gate) {
            return id;
        }
        let id = 2 * self.gates.len() as u32;
        self.gates.push(gate.clone());
        self.ids.insert(gate, id);
        id
    }

    /// `count` variables under one name.
    fn named(&mut self, name: String, count: u32) -> u32 {
        if let Some(&first) = self.names.get(&name) {
            return first;
        }
        let first = 2 * self.gates.len() as u32;
        for _ in 0..count {
            self.gates.push(Gate::Variable);
        }
        self.names.insert(name, first);
        first
    }

    fn and(&mut self, mut parts: Vec<u32>) -> u32 {
        parts.sort_unstable();
        parts.dedup();
        if parts.first() == Some(&TRUE) {
            parts.remove(0);
        }
        // A truth and its negation stand side by side.
        let contradict = |pair: &[u32]| pair[0] ^ 1 == pair[1];
        if parts.first() == Some(&FALSE) || parts.windows(2).any(contradict) {
            return FALSE;
        }
        match parts[..] {
            [] => TRUE,
            [one] => one,
            _ => self.id(Gate::And(parts.into())),
        }
    }

    fn or(&mut self, parts: impl IntoIterator<Item = u32>) -> u32 {
        let negated = parts.into_iter().map(|p| p ^ 1).collect();
        self.and(negated) ^ 1
    }

    fn xor(&mut self, a: u32, b: u32) -> u32 {
        let negated = (a ^ b) & 1;
        let (a, b) = (a & !1, b & !1);
        let gate = match (a.min(b), a.max(b)) {
            (TRUE, other) => other ^ 1,
            (a, b) if a == b => FALSE,
            (a, b) => self.id(Gate::Xor(a, b)),
        };
        gate ^ negated
    }

    fn ite(&mut self, c: u32, a: u32, b: u32) -> u32 {
        if c & 1 == 1 {
            return self.ite(c ^ 1, b, a);
        }
        match (c, a, b) {
            (TRUE, a, _) => a,
            _ if a == b => a,
            _ if a == b ^ 1 => self.xor(c, b),
            _ if a == TRUE || a == c => self.or([c, b]),
            _ if a == FALSE || a == c ^ 1 => self.and(vec![c ^ 1, b]),
            _ if b == TRUE || b == c ^ 1 => self.or([c ^ 1, a]),
            _ if b == FALSE || b == c => self.and(vec![c, a]),
            _ => {
                let negated = a & 1;
                self.id(Gate::Ite(c, a ^ negated, b ^ negated)) ^ negated
            }
        }
    }

    fn majority(&mut self, a: u32, b: u32, c: u32) -> u32 {
        let mut of = [a, b, c];
        of.sort_unstable();
        match of {
            [TRUE, b, c] => self.or([b, c]),
            [FALSE, b, c] => self.and(vec![b, c]),
            [a, b, _] if a == b => a,
            [_, b, c] if b == c => b,
            [a, b, c] if a == b ^ 1 => c,
            [a, b, c] if b == c ^ 1 => a,
            [a, b, c] => {
                let negated = (a & b | a & c | b & c) & 1;
                self.id(Gate::Majority(a ^ negated, b ^ negated, c ^ negated)) ^ negated
            }
        }
    }
}

impl Bool {
    /// A variable.
    pub fn new_const(name: impl Into<String>) -> Bool {
        Bool(with(|circuit| circuit.named(name.into(), 1)))
    }

    /// True or false.
    pub fn from_bool(value: bool) -> Bool {
        Bool(if value { TRUE } else { FALSE })
    }

    /// Does it not depend on any variable?
    pub fn is_constant(&self) -> bool {
        self.0 <= FALSE
    }

    /// Variables under one name.
    pub fn several(name: String, count: u32) -> impl Iterator<Item = Bool> {
        let first = with(|circuit| circuit.named(name, count));
        (0..count).map(move |n| Bool(first + 2 * n))
    }

    pub fn not(&self) -> Bool {
        Bool(self.0 ^ 1)
    }

    pub fn implies(&self, other: impl Borrow<Bool>) -> Bool {
        Bool(with(|circuit| circuit.or([self.0 ^ 1, other.borrow().0])))
    }

    pub fn iff(&self, other: impl Borrow<Bool>) -> Bool {
        self.xor(other).not()
    }

    pub fn xor(&self, other: impl Borrow<Bool>) -> Bool {
        Bool(with(|circuit| circuit.xor(self.0, other.borrow().0)))
    }

    /// `a` if this holds, otherwise `b`.
    pub fn choose(&self, a: &Bool, b: &Bool) -> Bool {
        Bool(with(|circuit| circuit.ite(self.0, a.0, b.0)))
    }

    /// Do at least two of three hold?
    pub fn majority(a: &Bool, b: &Bool, c: &Bool) -> Bool {
        Bool(with(|circuit| circuit.majority(a.0, b.0, c.0)))
    }
}

/// Conjunction of any number of truths.
pub fn all(parts: &[Bool]) -> Bool {
    let parts = parts.iter().map(|p| p.0).collect();
    Bool(with(|circuit| circuit.and(parts)))
}

/// Disjunction of any number of truths.
pub fn any(parts: &[Bool]) -> Bool {
    Bool(with(|circuit| circuit.or(parts.iter().map(|p| p.0))))
}
