//! Which functions get a symbolic body?
//!
//! A symbolic body is about ten times as much code as the function itself, and takes the compiler as
//! much longer. All functions of a file get one while that costs up to a second or so. Of a larger file
//! those do that lie nearest to where the program begins and to where it names its inputs, as far as a
//! share of the file's own compile time goes; the others have one body, as variadic functions do. Which
//! ones depends on the file and the options only.

use crate::ir::{Module, Value};
use raddle_protocol::compile::{SYMBOLIC, Symbolic};
use raddle_protocol::hooks::HARNESS;
use std::collections::{HashSet, VecDeque};

/// Instructions of a file's functions up to which all of them get a symbolic body: without and with
/// optimisation, which makes code generation some fifteen times as expensive.
const C: [usize; 2] = [12_000, 2_000];
/// The same of C++, whose headers alone take clang half a second.
const CXX: [usize; 2] = [16_000, 3_500];
/// Of a larger file, one instruction of so many.
const SHARE: usize = 16;

/// Instructions of a file's functions up to which symbolic bodies are optimised. In a larger file that
/// would take more time than all else, and little that symbolic runs do is the quicker for it: a loop
/// over arrays without a symbolic value takes twice as long, calls of hooks as long as before.
const OPTIMISED: usize = 600;

/// The functions of a module that get a symbolic body.
pub struct Choice {
    chosen: HashSet<Value>,
    /// Are the bodies optimised?
    pub optimised: bool,
    /// How many could have one and get none.
    pub left_out: usize,
}

impl Choice {
    /// Chooses among `candidates`.
    pub fn new(module: Module, candidates: &[Value], optimise: bool) -> Choice {
        let chosen = match asked() {
            Symbolic::All => candidates.iter().copied().collect(),
            Symbolic::None => HashSet::new(),
            Symbolic::Cheap => cheap(module, candidates, optimise),
        };
        let sizes = candidates.iter().map(|&function| size(function));
        Choice {
            optimised: sizes.sum::<usize>() <= OPTIMISED,
            left_out: candidates.len() - chosen.len(),
            chosen,
        }
    }

    /// Does the function get one?
    pub fn has(&self, function: Value) -> bool {
        self.chosen.contains(&function)
    }
}

/// What `raddle cc` was told.
fn asked() -> Symbolic {
    let value = std::env::var(SYMBOLIC).unwrap_or_default();
    Symbolic::parse(&value).unwrap_or(Symbolic::Cheap)
}

fn cheap(module: Module, candidates: &[Value], optimise: bool) -> HashSet<Value> {
    let sizes = candidates.iter().map(|&function| size(function));
    let all: usize = sizes.sum();
    let budget = if is_cxx(module) { CXX } else { C }[usize::from(optimise)];
    if all <= budget {
        return candidates.iter().copied().collect();
    }
    nearest(candidates, budget.min(all / SHARE))
}

fn size(function: Value) -> usize {
    function.instructions().len()
}

fn is_cxx(module: Module) -> bool {
    let mut functions = module.functions().into_iter();
    functions.any(|function| function.name().starts_with("_Z"))
}

/// The candidates that fewest references lead to from `main` and from functions that name inputs, as
/// many as have so many instructions together.
fn nearest(candidates: &[Value], mut room: usize) -> HashSet<Value> {
    let known: HashSet<Value> = candidates.iter().copied().collect();
    let roots = candidates.iter().copied().filter(|&one| is_root(one));
    let mut waiting: VecDeque<Value> = roots.collect();
    let mut seen: HashSet<Value> = waiting.iter().copied().collect();
    let mut chosen = HashSet::new();
    while let Some(function) = waiting.pop_front() {
        let instructions = function.instructions();
        if instructions.len() > room {
            continue;
        }
        room -= instructions.len();
        chosen.insert(function);
        for instruction in instructions {
            let operands = instruction.operands().filter_map(Value::as_function);
            waiting.extend(operands.filter(|one| known.contains(one) && seen.insert(*one)));
        }
    }
    chosen
}

fn is_root(function: Value) -> bool {
    let names_input = |callee: Value| {
        let name = callee.name();
        HARNESS.iter().any(|hook| hook.name == name)
    };
    let calls = |i: &Value| i.is_call() && i.callee().as_function().is_some_and(names_input);
    function.name() == "main" || function.instructions().iter().any(calls)
}
