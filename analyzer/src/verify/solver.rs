//! The only place that speaks to the solver's library.

use super::terms::{Term, TermId, Terms};
use raddle_protocol::expr::Op;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use z3::Model;
pub use z3::ast::{BV, Bool};

/// What came of a question.
pub enum Answer {
    Sat(Model),
    Unsat,
    /// Out of time or out of its depth.
    Unknown,
}

/// Says that the exploration is to end; asked from another thread.
pub type Asked = dyn Fn() -> bool + Send + Sync;

/// When to give up a question.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub time: Option<Duration>,
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
}

impl Effort {
    /// Adds what was asked elsewhere.
    pub fn add(&mut self, other: Effort) {
        self.queries += other.queries;
        self.time += other.time;
        self.encoding += other.encoding;
        self.longest = self.longest.max(other.longest);
    }

    /// Asks until there is an answer, each time with what is left of the time, and counts that as
    /// one question.
    pub fn ask(
        &mut self,
        limits: Limits<'_>,
        mut question: impl FnMut(Limits<'_>) -> Option<Answer>,
    ) -> Answer {
        let start = Instant::now();
        let answer = loop {
            let time = limits.time.map(|t| t.saturating_sub(start.elapsed()));
            if time == Some(Duration::ZERO) {
                break Answer::Unknown;
            }
            if let Some(answer) = question(Limits { time, ..limits }) {
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

/// Assertions, about which questions are asked.
///
/// Most questions have a model that Z3's core for theories finds at once (in 0.04 to 0.2 s where SAT
/// takes 0.1 to 0.4 s). What it does not decide with little effort goes to SAT, which is faster on
/// the long ones, and gets all assertions at once: so they are simplified together, which they are
/// not when some of them are to be taken back. Measured by SAT on the last question of figure 9 with
/// 5 passes and on one in the middle, and on Fibonacci with 6 additions, in seconds of processor
/// time: 3.7, 0.1, 1.3; with push and pop 4.9, 3.5, 3.1; with assumptions 7.8, 1.0, 2.5.
#[derive(Default)]
pub struct Solver {
    facts: RefCell<Vec<Bool>>,
    scopes: RefCell<Vec<usize>>,
    /// The core for theories.
    quick: z3::Solver,
}

/// Effort of the core for theories on one question, in Z3's own count (about half a second): not by
/// the clock, so that the same questions get the same answers everywhere.
const QUICK: u32 = 2_000_000;
/// How often the core for theories is asked again when the steps of its model cannot be put in
/// order.
const ROUNDS: u32 = 8;

impl Solver {
    pub fn assert(&self, fact: &Bool) {
        self.quick.assert(fact);
        self.facts.borrow_mut().push(fact.clone());
    }

    /// All assertions, in SMT-LIB's form.
    pub fn text(&self) -> String {
        self.quick.to_string()
    }

    pub fn push(&self) {
        let facts = self.facts.borrow().len();
        self.scopes.borrow_mut().push(facts);
        self.quick.push();
    }

    /// Takes back what was asserted since the last [`Solver::push`].
    pub fn pop(&self) {
        if let Some(facts) = self.scopes.borrow_mut().pop() {
            self.facts.borrow_mut().truncate(facts);
            self.quick.pop(1);
        }
    }

    /// The question whether all assertions can hold together.
    pub fn question(&self) -> Question<'_> {
        Question {
            solver: self,
            rounds: 0,
            thorough: None,
        }
    }
}

/// One question.
pub struct Question<'s> {
    solver: &'s Solver,
    /// How often the core for theories was asked.
    rounds: u32,
    /// SAT on the bits, once it is needed.
    thorough: Option<z3::Solver>,
}

impl Question<'_> {
    /// Adds what always holds.
    pub fn learn(&self, fact: &Bool) {
        self.solver.assert(fact);
        if let Some(thorough) = &self.thorough {
            thorough.assert(fact);
        }
    }

    /// Is there a model? `None`: that takes more than little effort.
    pub fn glance(&mut self, limits: Limits<'_>) -> Option<Answer> {
        if self.rounds == ROUNDS {
            return None;
        }
        self.rounds += 1;
        let mut params = z3::Params::new();
        // Measured on formulas of this kind: 5 to 50 times faster than the defaults.
        params.set_u32("relevancy", 0);
        params.set_u32("case_split", 1);
        params.set_u32("phase_selection", 0);
        params.set_u32("rlimit", QUICK);
        let quick = &self.solver.quick;
        // An assumption makes Z3 use this core in any case.
        let core = [Bool::new_const("core")];
        let answer = ask(quick, params, limits, || quick.check_assumptions(&core));
        let known = !matches!(answer, Answer::Unknown);
        if !known {
            self.rounds = ROUNDS;
        }
        known.then_some(answer)
    }

    /// Is there a model? Gives up at the limits.
    pub fn check(&mut self, limits: Limits<'_>) -> Answer {
        let start = Instant::now();
        if let Some(answer) = self.glance(limits) {
            return answer;
        }
        let time = limits.time.map(|t| t.saturating_sub(start.elapsed()));
        if time == Some(Duration::ZERO) {
            return Answer::Unknown;
        }
        let thorough = self.thorough.get_or_insert_with(|| {
            // Bit vectors and truths only.
            let bits = z3::Solver::new_for_logic("QF_FD").unwrap_or_default();
            for fact in self.solver.facts.borrow().iter() {
                bits.assert(fact);
            }
            bits
        });
        let limits = Limits { time, ..limits };
        ask(thorough, z3::Params::new(), limits, || thorough.check())
    }
}

/// Asks, within the limits.
fn ask(
    solver: &z3::Solver,
    mut params: z3::Params,
    limits: Limits<'_>,
    check: impl FnOnce() -> z3::SatResult,
) -> Answer {
    let millis = limits.time.map_or(u32::MAX, |l| {
        u32::try_from(l.as_millis()).unwrap_or(u32::MAX).max(1)
    });
    params.set_u32("timeout", millis);
    solver.set_params(&params);
    let result = match limits.asked {
        None => check(),
        Some(asked) => unless(asked, solver, check),
    };
    match result {
        z3::SatResult::Sat => solver.get_model().map_or(Answer::Unknown, Answer::Sat),
        z3::SatResult::Unsat => Answer::Unsat,
        z3::SatResult::Unknown => Answer::Unknown,
    }
}

/// Interrupts the solver when asked to.
fn unless(
    asked: &Asked,
    solver: &z3::Solver,
    check: impl FnOnce() -> z3::SatResult,
) -> z3::SatResult {
    let context = solver.get_context();
    let handle = context.handle();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                if asked() {
                    handle.interrupt();
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

/// The value of a truth in a model; what the model leaves open is false.
pub fn holds(model: &Model, what: &Bool) -> bool {
    model
        .eval(what, true)
        .and_then(|b| b.as_bool())
        .unwrap_or(false)
}

/// The value of a bit vector in a model.
pub fn bits(model: &Model, what: &BV) -> u64 {
    model.eval(what, true).and_then(|b| b.as_u64()).unwrap_or(0)
}

/// Conjunction of any number of truths.
pub fn all(parts: &[Bool]) -> Bool {
    match parts {
        [] => Bool::from_bool(true),
        [one] => one.clone(),
        many => Bool::and(many),
    }
}

/// Disjunction of any number of truths.
pub fn any(parts: &[Bool]) -> Bool {
    match parts {
        [] => Bool::from_bool(false),
        [one] => one.clone(),
        many => Bool::or(many),
    }
}

/// `a == b`.
pub fn equal(a: &BV, b: &BV) -> Bool {
    a.eq(b)
}

/// A constant of `width` bits.
pub fn constant(value: u64, width: u8) -> BV {
    BV::from_u64(value, width.into())
}

/// Terms in the solver's form. Each is built once.
#[derive(Default)]
pub struct Values {
    built: Vec<Option<BV>>,
}

impl Values {
    /// The form of a term; `leaf` gives that of inputs and reads.
    pub fn get(&mut self, terms: &Terms, id: TermId, leaf: &mut dyn FnMut(Term) -> BV) -> BV {
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            let index = top as usize;
            if self.built.len() <= index {
                self.built.resize(index + 1, None);
            }
            if self.built[index].is_some() {
                stack.pop();
                continue;
            }
            let term = terms.get(top);
            let built = match term {
                Term::Const { width, value } => constant(value, width),
                Term::Input { .. } | Term::Read { .. } => leaf(term),
                Term::Op {
                    op,
                    width,
                    extra,
                    args,
                } => {
                    let have =
                        |a: &&TermId| self.built.get(**a as usize).is_none_or(Option::is_none);
                    if let Some(&missing) = args[..op.arity()].iter().find(have) {
                        stack.push(missing);
                        continue;
                    }
                    let used = |i: usize| if i < op.arity() { args[i] } else { args[0] };
                    let arg = |i: usize| self.built[used(i) as usize].as_ref();
                    match (arg(0), arg(1), arg(2)) {
                        (Some(a), Some(b), Some(c)) => apply(op, width, extra, a, b, c),
                        _ => constant(0, width),
                    }
                }
            };
            self.built[index] = Some(built);
            stack.pop();
        }
        match &self.built[id as usize] {
            Some(value) => value.clone(),
            None => constant(0, terms.get(id).width()),
        }
    }
}

/// One operation; `b` and `c` are only looked at where the operation has them.
fn apply(op: Op, width: u8, extra: u16, a: &BV, b: &BV, c: &BV) -> BV {
    let wider = u32::from(width).saturating_sub(a.get_size());
    let truth = |t: Bool| t.ite(&constant(1, 1), &constant(0, 1));
    match op {
        Op::Const | Op::Input | Op::Read => a.clone(),
        Op::Add => a.bvadd(b),
        Op::Sub => a.bvsub(b),
        Op::Mul => a.bvmul(b),
        Op::UDiv => a.bvudiv(b),
        Op::SDiv => a.bvsdiv(b),
        Op::URem => a.bvurem(b),
        Op::SRem => a.bvsrem(b),
        Op::Shl => a.bvshl(b),
        Op::LShr => a.bvlshr(b),
        Op::AShr => a.bvashr(b),
        Op::And => a.bvand(b),
        Op::Or => a.bvor(b),
        Op::Xor => a.bvxor(b),
        Op::Eq => truth(a.eq(b)),
        Op::Ne => truth(a.eq(b).not()),
        Op::Ult => truth(a.bvult(b)),
        Op::Ule => truth(a.bvule(b)),
        Op::Slt => truth(a.bvslt(b)),
        Op::Sle => truth(a.bvsle(b)),
        Op::Ite => equal(a, &constant(1, 1)).ite(b, c),
        Op::ZExt => a.zero_ext(wider),
        Op::SExt => a.sign_ext(wider),
        Op::Extract => a.extract(u32::from(extra) + u32::from(width) - 1, extra.into()),
        Op::Concat => a.concat(b),
    }
}
