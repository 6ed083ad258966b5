//! The only place that speaks to the solver's library: facts about a circuit as clauses.
//!
//! A gate has a variable from the first fact on that needs it, and says by clauses what it computes,
//! only for those of its two values that matter (Plaisted and Greenbaum). That stays true whatever is
//! asked next, so it is said once. Facts belong to a question; their clauses hold as long as a guard,
//! a variable of its own, is assumed. What the solver has learnt from gates alone it keeps.

use super::circuit::{Bool, Circuit, Gate, Shared};
use super::vectors::BV;
use crate::stop;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Facts hold while this is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard(i32);

/// When the search for an answer ends.
#[derive(Default)]
struct Stop {
    deadline: Option<Instant>,
    asked: Arc<AtomicBool>,
}

impl cadical::Callbacks for Stop {
    fn terminate(&mut self) -> bool {
        let late = self.deadline.is_some_and(|d| Instant::now() >= d);
        late || self.asked.load(Ordering::Relaxed)
    }
}

/// Its value matters where it holds, where it does not, or both.
const HOLDS: u8 = 1;
const FAILS: u8 = 2;

/// The configuration without simplification before and during the search. There are hundreds of
/// questions, each with a few new facts, and what is simplified for one has to be undone for the
/// next: seconds in the solver with and without it for the queue of Michael and Scott with 5 tries:
/// 21.7 and 13.3, for Fibonacci with 10 additions 3.1 and 1.8, for the red-black tree 4.0 and 2.1, for
/// the spinlock with 3 threads 11.4 and 12.8.
const PLAIN: &str = "plain";

/// What a solver has been told about a circuit.
pub struct Sat {
    circuit: Shared,
    solver: cadical::Solver<Stop>,
    /// By gate: its variable, or 0.
    variables: Vec<i32>,
    /// By gate: for which of its values it is said what follows.
    told: Vec<u8>,
    last: i32,
    /// Of these truths it is still to be said what follows.
    open: Vec<u32>,
}

impl Sat {
    /// A solver that knows nothing yet of the circuit.
    pub fn new(circuit: Shared) -> Sat {
        Sat {
            circuit,
            // The name is one that the solver knows.
            solver: cadical::Solver::with_config(PLAIN).unwrap_or_default(),
            variables: Vec::new(),
            told: Vec::new(),
            last: 0,
            open: Vec::new(),
        }
    }

    fn fresh(&mut self) -> i32 {
        self.last += 1;
        self.last
    }

    /// A guard for facts.
    pub fn guard(&mut self) -> Guard {
        Guard(self.fresh())
    }

    /// Are the facts of this guard among those that cannot hold together, as [`Sat::ask`] has just
    /// said?
    pub fn is_needed(&self, guard: Guard) -> bool {
        self.solver.failed(guard.0)
    }

    /// The facts of this guard will not be asked about again.
    pub fn retire(&mut self, guard: Guard) {
        self.solver.add_clause([-guard.0]);
    }

    /// The solver's literal. Its variables are true where ours are false: it tries true first, and
    /// few steps and gates need be taken.
    fn literal(&mut self, truth: u32) -> i32 {
        let gate = (truth / 2) as usize;
        if self.variables.len() <= gate {
            self.variables.resize(gate + 1, 0);
        }
        if self.variables[gate] == 0 {
            self.variables[gate] = self.fresh();
        }
        match truth & 1 {
            0 => -self.variables[gate],
            _ => self.variables[gate],
        }
    }

    fn clause(&mut self, truths: &[u32], guard: Option<Guard>) {
        let mut clause: Vec<i32> = guard.iter().map(|g| -g.0).collect();
        for &truth in truths {
            self.open.push(truth);
            clause.push(self.literal(truth));
        }
        self.solver.add_clause(clause);
    }

    /// The fact holds under the guard.
    pub fn tell(&mut self, guard: Guard, fact: &Bool) {
        let circuit = self.circuit.clone();
        self.among(&circuit.borrow(), guard, &mut Vec::new(), fact.0);
        self.define(&circuit.borrow());
    }

    /// One of these holds.
    fn among(&mut self, circuit: &Circuit, guard: Guard, others: &mut Vec<u32>, fact: u32) {
        match circuit.gate(fact / 2) {
            Gate::True if fact & 1 == 0 => {}
            Gate::True => self.clause(others, Some(guard)),
            Gate::And(parts) if fact & 1 == 0 => {
                for &part in parts.iter() {
                    self.among(circuit, guard, others, part);
                }
            }
            Gate::And(_) => self.disjunction(circuit, guard, others, fact),
            Gate::Xor(a, b) => {
                let length = others.len();
                for flip in [0, 1] {
                    others.extend([a ^ flip, b ^ flip ^ (fact & 1)]);
                    self.clause(others, Some(guard));
                    others.truncate(length);
                }
            }
            _ => {
                others.push(fact);
                self.clause(others, Some(guard));
                others.pop();
            }
        }
    }

    fn disjunction(&mut self, circuit: &Circuit, guard: Guard, others: &mut Vec<u32>, fact: u32) {
        /// So many others are repeated for each part of a conjunction among them.
        const REPEATED: usize = 3;
        let length = others.len();
        let mut parts = vec![fact];
        let mut complex = Vec::new();
        while let Some(part) = parts.pop() {
            match circuit.gate(part / 2) {
                Gate::And(of) if part & 1 == 1 => parts.extend(of.iter().map(|p| p ^ 1)),
                Gate::And(_) | Gate::Xor(..) => complex.push(part),
                _ => others.push(part),
            }
        }
        match complex[..] {
            [only] if others.len() <= REPEATED => self.among(circuit, guard, others, only),
            _ => {
                others.extend(complex);
                self.clause(others, Some(guard));
            }
        }
        others.truncate(length);
    }

    /// Says what follows from all truths that have come up.
    fn define(&mut self, circuit: &Circuit) {
        self.told.resize(circuit.len(), 0);
        while let Some(truth) = self.open.pop() {
            stop::point();
            let (gate, sign) = (truth / 2, truth & 1);
            let matters = if sign == 0 { HOLDS } else { FAILS };
            if self.told[gate as usize] & matters != 0 {
                continue;
            }
            self.told[gate as usize] |= matters;
            let not = truth ^ 1;
            match *circuit.gate(gate) {
                Gate::True | Gate::Variable => {}
                Gate::And(ref parts) if sign == 0 => {
                    for &part in parts.iter() {
                        self.follows(&[not, part]);
                    }
                }
                Gate::And(ref parts) => {
                    let fails = parts.iter().map(|p| p ^ 1);
                    let clause: Vec<u32> = std::iter::once(not).chain(fails).collect();
                    self.follows(&clause);
                }
                Gate::Xor(a, b) => {
                    self.follows(&[not, a, b ^ sign]);
                    self.follows(&[not, a ^ 1, b ^ sign ^ 1]);
                }
                Gate::Ite(c, a, b) => {
                    self.follows(&[not, c ^ 1, a ^ sign]);
                    self.follows(&[not, c, b ^ sign]);
                    self.follows(&[not, a ^ sign, b ^ sign]);
                }
                Gate::Majority(a, b, c) => {
                    for (a, b) in [(a, b), (a, c), (b, c)] {
                        self.follows(&[not, a ^ sign, b ^ sign]);
                    }
                }
            }
        }
    }

    /// One of these holds, of which the first is the negation of what they follow from.
    fn follows(&mut self, clause: &[u32]) {
        let literals: Vec<i32> = clause.iter().map(|&t| self.literal(t)).collect();
        self.solver.add_clause(literals);
        self.open.extend(&clause[1..]);
    }

    /// Can the facts of these guards hold together? `None`: not found out within so many conflicts,
    /// by the deadline, or before `asked` was set.
    pub fn ask(
        &mut self,
        guards: &[Guard],
        conflicts: Option<u32>,
        deadline: Option<Instant>,
        asked: &Arc<AtomicBool>,
    ) -> Option<bool> {
        let asked = asked.clone();
        self.solver.set_callbacks(Some(Stop { deadline, asked }));
        if let Some(conflicts) = conflicts {
            // The name is one that the solver knows.
            let _ = self.solver.set_limit("conflicts", conflicts as i32);
        }
        self.solver.solve_with(guards.iter().map(|g| g.0))
    }

    /// What makes the facts hold, after [`Sat::ask`] has said that they can.
    pub fn model(&self) -> Model {
        let holds = |&variable: &i32| match variable {
            0 => false,
            _ => self.solver.value(variable) == Some(false),
        };
        Model {
            circuit: self.circuit.clone(),
            variables: self.variables.iter().map(holds).collect(),
            values: RefCell::default(),
        }
    }
}

/// Values of all variables: false where the facts do not depend on it.
#[derive(Clone)]
pub struct Model {
    circuit: Shared,
    /// By gate; of meaning for variables only.
    variables: Rc<[bool]>,
    /// By gate, as far as it was asked for.
    values: RefCell<Vec<Option<bool>>>,
}

impl Model {
    fn value(&self, truth: u32) -> bool {
        let circuit = self.circuit.borrow();
        let mut values = self.values.borrow_mut();
        values.resize(circuit.len(), None);
        let mut open = vec![truth / 2];
        while let Some(&gate) = open.last() {
            if values[gate as usize].is_none() {
                let known = |truth: u32| values[(truth / 2) as usize].map(|v| v ^ (truth & 1 == 1));
                match self.computed(&circuit, gate, known) {
                    Ok(value) => values[gate as usize] = Some(value),
                    Err(missing) => {
                        open.push(missing / 2);
                        continue;
                    }
                }
            }
            open.pop();
        }
        values[(truth / 2) as usize] == Some(truth & 1 == 0)
    }

    /// The value of a gate, or what has to be known first.
    fn computed(
        &self,
        circuit: &Circuit,
        gate: u32,
        known: impl Fn(u32) -> Option<bool>,
    ) -> Result<bool, u32> {
        let value = |truth| known(truth).ok_or(truth);
        Ok(match *circuit.gate(gate) {
            Gate::True => true,
            Gate::Variable => self.variables.get(gate as usize) == Some(&true),
            Gate::And(ref parts) => {
                let mut holds = true;
                for &part in parts.iter() {
                    holds &= value(part)?;
                    if !holds {
                        break;
                    }
                }
                holds
            }
            Gate::Xor(a, b) => value(a)? ^ value(b)?,
            Gate::Ite(c, a, b) => value(if value(c)? { a } else { b })?,
            Gate::Majority(a, b, c) => {
                let (a, b, c) = (value(a)?, value(b)?, value(c)?);
                a & b | a & c | b & c
            }
        })
    }
}

/// The value of a truth in a model.
pub fn holds(model: &Model, what: &Bool) -> bool {
    model.value(what.0)
}

/// The value of a bit vector of up to 64 bits in a model.
pub fn bits(model: &Model, what: &BV) -> u64 {
    let bit = |(truth, n): (&Bool, u32)| u64::from(model.value(truth.0)) << n;
    what.truths().iter().zip(0..64).map(bit).sum()
}
