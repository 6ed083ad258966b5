//! Questions about formulas, and what they cost.

use super::circuit::{self, Bool, Shared};
use super::sat::{Guard, Model, Sat};
use super::vectors::Values;
use crate::stop::Asked;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What came of a question.
pub enum Answer {
    Sat(Model),
    Unsat,
    /// Out of time or out of its depth.
    Unknown,
}

/// When to give up a question.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub deadline: Option<Instant>,
    pub asked: Option<&'a Asked>,
}

/// How often it is looked whether a question is to be given up.
const GLANCE: Duration = Duration::from_millis(20);

/// Questions asked so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    pub queries: u64,
    pub time: Duration,
    /// Time for making the formulas.
    pub encoding: Duration,
    /// The longest question.
    pub longest: Duration,
    /// Questions that another one has answered, or its unsatisfiable core.
    pub spared: u64,
}

impl Effort {
    /// Adds what was asked elsewhere.
    pub fn add(&mut self, other: Effort) {
        self.queries += other.queries;
        self.time += other.time;
        self.encoding += other.encoding;
        self.longest = self.longest.max(other.longest);
        self.spared += other.spared;
    }

    /// Asks until there is an answer, and counts that as one question.
    pub fn ask(
        &mut self,
        limits: Limits<'_>,
        mut question: impl FnMut(Limits<'_>) -> Option<Answer>,
    ) -> Answer {
        let start = Instant::now();
        let answer = loop {
            if limits.deadline.is_some_and(|d| Instant::now() >= d) {
                break Answer::Unknown;
            }
            if let Some(answer) = question(limits) {
                break answer;
            }
        };
        let time = start.elapsed();
        self.queries += 1;
        self.time += time;
        self.longest = self.longest.max(time);
        answer
    }
}

/// What formulas about one forest share: their gates, and what the solver knows.
#[derive(Default)]
pub struct Context {
    circuit: Shared,
    pub values: Values,
    /// The next formulas are asked for what is behind untested predecessor pairs.
    pub untested: bool,
    known: Option<Rc<RefCell<Known>>>,
}

impl Context {
    /// See [`Context::untested`].
    pub fn new(untested: bool) -> Context {
        Context {
            untested,
            ..Context::default()
        }
    }

    /// Starts another formula: gates are made here from now on.
    pub fn solver(&mut self) -> Solver {
        circuit::enter(&self.circuit);
        let start = || Rc::new(RefCell::new(Known::new(self.circuit.clone())));
        let known = self.known.get_or_insert_with(start);
        Solver {
            known: known.clone(),
            facts: RefCell::default(),
            scopes: RefCell::new(vec![Scope::default()]),
            refuted: RefCell::default(),
            needed: RefCell::default(),
            spared: Cell::default(),
        }
    }
}

/// What the solver knows: gates of all formulas so far.
struct Known {
    circuit: Shared,
    sat: Sat,
    /// Facts since it knew nothing.
    told: usize,
}

/// The solver starts anew when it was told so many times as many facts as there are: what it knows
/// of gates that are no longer used costs more than it helps.
const WORN: usize = 4;

impl Known {
    fn new(circuit: Shared) -> Known {
        Known {
            sat: Sat::new(circuit.clone()),
            circuit,
            told: 0,
        }
    }

    /// Comes before the first question about a formula with so many facts.
    fn prepare(&mut self, facts: usize) {
        if self.told > WORN * facts {
            *self = Known::new(self.circuit.clone());
        }
        self.told += facts;
    }
}

/// Facts that are taken back together.
#[derive(Default)]
struct Scope {
    /// Where they begin.
    start: usize,
    /// How many facts the solver knows.
    told: usize,
    /// The guard of its own facts.
    guard: Option<Guard>,
}

/// Facts, about which questions are asked.
pub struct Solver {
    known: Rc<RefCell<Known>>,
    facts: RefCell<Vec<Bool>>,
    scopes: RefCell<Vec<Scope>>,
    /// Questions without a model, and what was needed for that: they are not asked again.
    refuted: RefCell<HashMap<Question, Vec<bool>>>,
    /// See [`Solver::needed`].
    needed: RefCell<Vec<bool>>,
    /// So many were asked again since [`Solver::take_spared`].
    spared: Cell<u64>,
}

/// How many facts there are below each [`Solver::push`], and the facts above the first.
type Question = (Vec<usize>, Vec<Bool>);

/// Conflicts: a second or so of what is hard, where there are few facts.
const LITTLE: u32 = 15_000;

/// So many facts are few. With twice as many a conflict costs twice as much.
const FEW: usize = 2_500;

impl Solver {
    pub fn assert(&self, fact: &Bool) {
        self.facts.borrow_mut().push(fact.clone());
    }

    /// All facts, as text.
    pub fn text(&self) -> String {
        let known = self.known.borrow();
        known.circuit.borrow().text(&self.facts.borrow())
    }

    pub fn push(&self) {
        let start = self.facts.borrow().len();
        self.scopes.borrow_mut().push(Scope {
            start,
            told: start,
            guard: None,
        });
    }

    /// Takes back what was asserted since the last [`Solver::push`].
    pub fn pop(&self) {
        if let Some(scope) = self.scopes.borrow_mut().pop() {
            self.facts.borrow_mut().truncate(scope.start);
            if let Some(guard) = scope.guard {
                self.known.borrow_mut().sat.retire(guard);
            }
        }
    }

    /// Adds what holds as long as there is this formula; once a question was asked.
    pub fn learn(&self, fact: &Bool) {
        let mut known = self.known.borrow_mut();
        if let Some(guard) = self.scopes.borrow()[0].guard {
            known.sat.tell(guard, fact);
        }
    }

    /// Tells the solver all facts that it does not know.
    fn tell(&self) -> Vec<Guard> {
        let (facts, mut scopes) = (self.facts.borrow(), self.scopes.borrow_mut());
        let known = &mut *self.known.borrow_mut();
        if scopes[0].guard.is_none() {
            known.prepare(facts.len());
        }
        let mut guards = Vec::new();
        let mut end = facts.len();
        for scope in scopes.iter_mut().rev() {
            let guard = *scope.guard.get_or_insert_with(|| known.sat.guard());
            for fact in &facts[scope.told.min(end)..end] {
                known.sat.tell(guard, fact);
            }
            scope.told = end;
            guards.push(guard);
            end = scope.start;
        }
        guards
    }

    /// Is there a model? Gives up at the limits.
    pub fn check(&self, limits: Limits<'_>) -> Answer {
        self.ask(limits, None)
    }

    /// Of each scope, the first being what was asserted before any [`Solver::push`]: is it needed for
    /// the answer? To be asked directly after [`Answer::Unsat`].
    pub fn needed(&self) -> Vec<bool> {
        self.needed.borrow().clone()
    }

    /// How many questions were answered without asking, since this was asked last.
    pub fn take_spared(&self) -> u64 {
        self.spared.take()
    }

    fn question(&self) -> Question {
        let (facts, scopes) = (self.facts.borrow(), self.scopes.borrow());
        let starts = scopes.iter().skip(1).map(|scope| scope.start);
        let starts: Vec<usize> = starts.chain([facts.len()]).collect();
        let above = facts[starts[0]..].to_vec();
        (starts, above)
    }

    /// The same, with little effort so many times. The effort is counted in conflicts and not by the
    /// clock, so that the same questions get the same answers everywhere.
    pub fn glance(&self, limits: Limits<'_>, times: u32) -> Answer {
        let facts = self.facts.borrow().len().max(FEW);
        let little = LITTLE as usize * FEW / facts;
        let conflicts = u32::try_from(little)
            .unwrap_or(LITTLE)
            .saturating_mul(times);
        self.ask(limits, Some(conflicts))
    }

    fn ask(&self, limits: Limits<'_>, conflicts: Option<u32>) -> Answer {
        let question = self.question();
        if let Some(needed) = self.refuted.borrow().get(&question) {
            self.needed.replace(needed.clone());
            self.spared.set(self.spared.get() + 1);
            return Answer::Unsat;
        }
        let guards = self.tell();
        let stop = Arc::new(AtomicBool::new(false));
        let sat = &mut self.known.borrow_mut().sat;
        let mut check = || sat.ask(&guards, conflicts, limits.deadline, &stop);
        let found = match limits.asked {
            None => check(),
            Some(asked) => unless(asked, &stop, check),
        };
        match found {
            Some(true) => Answer::Sat(sat.model()),
            Some(false) => {
                let scopes = self.scopes.borrow();
                let needed = |guard: Guard| sat.is_needed(guard);
                let needed = scopes.iter().map(|s| s.guard.is_some_and(needed));
                let needed: Vec<bool> = needed.collect();
                self.needed.replace(needed.clone());
                self.refuted.borrow_mut().insert(question, needed);
                Answer::Unsat
            }
            None => Answer::Unknown,
        }
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        while !self.scopes.borrow().is_empty() {
            self.pop();
        }
    }
}

/// Sets `stop` when asked to.
fn unless<T>(asked: &Asked, stop: &AtomicBool, check: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                if asked().is_some() {
                    stop.store(true, Ordering::Relaxed);
                }
                std::thread::park_timeout(GLANCE);
            }
        });
        let result = check();
        done.store(true, Ordering::Release);
        watch.thread().unpark();
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_model_is_not_asked_again() {
        let limits = Limits {
            deadline: None,
            asked: None,
        };
        let mut context = Context::default();
        let solver = context.solver();
        let [a, b] = ["a", "b"].map(|name| Bool::new_const(name.to_string()));
        solver.assert(&a);
        // A fact of the formula, and one that holds as long as the question, and what is spared.
        for (fact, assumed, spared) in [
            (None, &b, None),
            (None, &a.not(), Some(0)),
            (None, &b, None),
            (None, &a.not(), Some(1)),
            (Some(&b), &a.not(), Some(0)),
            (None, &a.not(), Some(1)),
            (None, &b.not(), Some(0)),
        ] {
            fact.into_iter().for_each(|fact| solver.assert(fact));
            solver.push();
            solver.assert(assumed);
            match (solver.check(limits), spared) {
                (Answer::Sat(_), None) => {}
                (Answer::Unsat, Some(_)) => assert_eq!(solver.needed(), [true, true]),
                _ => panic!("{assumed:?}"),
            }
            assert_eq!(solver.take_spared(), spared.unwrap_or(0));
            solver.pop();
        }
    }
}
