//! Every exhaustive search against brute force, on programs of a machine in memory: the same
//! results, and exactly one execution for each Mazurkiewicz trace.

mod machine;
mod programs;

use machine::{Machine, Op, Program, swaps};
use raddle_analyzer::bounds::Bound;
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::dpor::{Algorithm, Dpor, Execution};
use raddle_analyzer::hapset::guided::{Base, Guided, Settings};
use raddle_analyzer::hapset::knowledge::{Line, Places};
use raddle_analyzer::search::{Next, Search, Standing};
use raddle_protocol::outcome::End;
use raddle_protocol::update::{Operands, Update};
use std::collections::BTreeSet;

/// What a search found.
#[derive(Debug, Default)]
struct Found {
    results: BTreeSet<String>,
    /// Mazurkiewicz traces; where nobody reads the clock, and where somebody does.
    classes: [BTreeSet<[u64; 2]>; 2],
    looks: bool,
    executions: u64,
    standing: Standing,
}

/// Runs a search to its end, `workers` executions at a time. `None` after more than `most`
/// executions.
fn explore(search: &mut dyn Search, program: &Program, workers: usize, most: u64) -> Option<Found> {
    let mut found = Found::default();
    go_on(search, program, workers, most, &mut found).then_some(found)
}

/// Adds to `found` until the search ends; false, with executions under way, after more
/// than `most`, or after one that does not end.
fn go_on(
    search: &mut dyn Search,
    program: &Program,
    workers: usize,
    most: u64,
    found: &mut Found,
) -> bool {
    let mut out = Vec::new();
    let mut n = 0;
    loop {
        while out.len() < workers
            && let Next::Run(plan) = search.next(n)
        {
            out.push((n, plan));
            n += 1;
        }
        if out.is_empty() {
            assert_eq!(search.next(n), Next::Done);
            break;
        }
        if n > most {
            return false;
        }
        // In another order than they were handed out.
        let (number, plan) = out.remove(n as usize % out.len());
        let (trace, result) = Machine::run(program, &plan);
        found.executions += 1;
        if trace.outcome.end == End::StepLimit {
            return false;
        }
        if trace.outcome.end != End::Redundant {
            found.results.insert(result);
            for (clock, classes) in [false, true].into_iter().zip(&mut found.classes) {
                let execution = Execution::new(&trace, clock);
                found.looks |= execution.looks;
                classes.insert(execution.class());
            }
        }
        search.observe(number, &trace);
    }
    found.standing = search.standing();
    true
}

const MOST: u64 = 4000;

/// Compares both algorithms with brute force; false if the program is too big for it.
fn compare(program: &Program, label: &str) -> bool {
    let Some(all) = explore(&mut Dfs::new(), program, 1, MOST) else {
        return false;
    };
    let classes = all.classes[usize::from(all.looks)].len() as u64;
    for (algorithm, workers) in [
        (Algorithm::Optimal, 1),
        (Algorithm::Optimal, 3),
        (Algorithm::Source, 1),
        (Algorithm::Source, 3),
    ] {
        let label = format!("{label}, {algorithm:?}, {workers} at a time: {program:?}");
        let mut search = Dpor::new(algorithm);
        let found = explore(&mut search, program, workers, 10 * MOST);
        let found = found.unwrap_or_else(|| panic!("{label}: no end"));
        assert_eq!(found.results, all.results, "{label}");
        assert_eq!(found.standing.mismatches, 0, "{label}");
        assert!(found.standing.complete, "{label}");
        assert_eq!(found.standing.classes, Some(classes), "{label}");
        if algorithm == Algorithm::Optimal {
            if workers == 1 {
                assert_eq!(search.redundant(), 0, "{label}");
            }
            if !all.looks {
                let executions = classes + search.redundant();
                assert_eq!(found.executions, executions, "{label}");
            }
        }
    }
    true
}

#[test]
fn optimal_and_source_on_known_programs() {
    for (name, program, classes) in programs::known() {
        let all = explore(&mut Dfs::new(), &program, 1, 100_000).expect("small");
        let counted = all.classes[usize::from(all.looks)].len();
        if let Some(classes) = classes {
            assert_eq!(counted, classes, "{name}");
        }
        assert!(compare(&program, name) || all.executions > MOST, "{name}");
    }
}

/// Seeds of random programs: the first `count`, or those that somebody asks for.
fn seeds(count: u64) -> (u64, u64) {
    let asked = std::env::var("RADDLE_RANDOM_SEEDS").ok();
    asked.as_ref().map_or((0, count), |text| {
        let (low, high) = text.split_once("..").expect("LOW..HIGH");
        (low.parse().expect("low"), high.parse().expect("high"))
    })
}

/// Compares the programs of `count` seeds; more than half of them must be small enough.
fn compare_seeds(count: u64, kind: &str, program: fn(u64) -> Program) {
    let (from, to) = seeds(count);
    let small = |&seed: &u64| compare(&program(seed), &format!("{kind}, seed {seed}"));
    let compared = (from..to).filter(small).count() as u64;
    assert!(
        compared * 2 > to - from,
        "only {compared} were small enough"
    );
}

#[test]
fn optimal_and_source_on_random_programs() {
    compare_seeds(500, "random", programs::random);
}

#[test]
fn optimal_and_source_on_programs_that_end_abruptly() {
    compare_seeds(120, "abrupt", programs::abrupt);
}

#[test]
fn optimal_and_source_on_programs_that_poll() {
    compare_seeds(400, "polling", programs::polling);
}

#[test]
fn optimal_and_source_on_programs_that_wait_in_loops_with_locks() {
    compare_seeds(200, "locking", programs::locking);
}

#[test]
fn optimal_and_source_on_programs_that_change_nothing() {
    compare_seeds(500, "idle", |seed| programs::idle(seed, false));
    compare_seeds(300, "idle and abrupt", |seed| programs::idle(seed, true));
}

/// The classes are those that come of swapping what commutes, which is tried.
#[test]
fn classes_are_those_of_swaps() {
    let (from, to) = seeds(300);
    let mut compared = 0;
    for seed in from..to {
        let program = programs::idle(seed, seed % 4 == 0);
        let Some(classes) = swaps::classes(&program, 2000) else {
            continue;
        };
        let label = format!("seed {seed}: {program:?}");
        let found = explore(&mut Dpor::new(Algorithm::Optimal), &program, 1, 10 * MOST);
        let found = found.unwrap_or_else(|| panic!("{label}: no end"));
        assert_eq!(found.executions, classes as u64, "{label}");
        compared += 1;
    }
    assert!(2 * compared > to - from, "only {compared}");
}

/// Threads that do the same to one variable, which holds 0.
#[test]
fn threads_that_change_nothing_have_one_class() {
    let zero = |update, operand| Op::Update(0, Operands::update(update, operand));
    let swap = |expected, new| Op::Update(0, Operands::compare_exchange(expected, new));
    for n in 2..7 {
        for (op, classes) in [
            (Op::Write(0, 0), 1),
            (swap(1, 2), 1),
            (swap(0, 0), 1),
            (zero(Update::Add, 0), 1),
            (zero(Update::Or, 0), 1),
            (zero(Update::And, 3), 1),
            (zero(Update::Exchange, 0), 1),
            (Op::Signal(0), 1),
            (Op::Broadcast(0), 1),
            // One succeeds, and the others find what it wrote.
            (swap(0, 1), n),
            (Op::TryLock(0), n),
            (Op::TryWrite(0), n),
            (Op::SemTry(0), n),
            (zero(Update::Or, 1), n),
            (zero(Update::UMax, 2), n),
            (zero(Update::Exchange, 5), n),
        ] {
            let program = programs::alike(n, op);
            let found = explore(&mut Dpor::new(Algorithm::Optimal), &program, 1, MOST);
            let executions = found.expect("few").executions;
            assert_eq!(executions, classes as u64, "{n} times {op:?}");
        }
    }
}

/// What a program computes where every thread comes to its end.
fn results(program: &Program, rounds: Option<u32>, most: u64) -> Option<BTreeSet<String>> {
    let program = Program {
        rounds,
        ..program.clone()
    };
    let found = explore(&mut Dfs::new(), &program, 1, most)?;
    let ended = |result: &String| !result.starts_with("in a loop");
    Some(found.results.into_iter().filter(ended).collect())
}

/// Whoever parks threads after rounds that nobody noticed reaches all that is reached by going round.
#[test]
fn nothing_is_lost_by_parking() {
    let (from, to) = seeds(60);
    let programs = (from..to).map(|seed| (programs::locking(seed), 2, MOST));
    let noticed = (programs::noticed(), 3, 100_000);
    let mut compared = 0;
    for (program, rounds, most) in programs.chain([noticed]) {
        let parked = results(&program, None, most);
        let cut = results(&program, Some(rounds), most);
        assert!(cut.is_some() || most == MOST, "the known one is small");
        if let (Some(parked), Some(cut)) = (parked, cut) {
            let lost: Vec<&String> = cut.difference(&parked).collect();
            assert!(lost.is_empty(), "{lost:?} {program:?}");
            compared += 1;
        }
    }
    assert!(3 * compared > to - from, "only {compared}");
}

/// The line of an address is the address.
struct Lines;

impl Places for Lines {
    fn line(&mut self, pc: u64) -> Line {
        Line {
            line: pc as u32,
            ..Line::default()
        }
    }
}

fn guided(base: Base) -> Guided {
    let settings = Settings {
        base,
        context: 0,
        learn: 0,
        memory_only: false,
    };
    Guided::new(settings, 1, Box::new(Lines))
}

#[test]
fn guided_searches_stay_within_their_bases() {
    let mut spared = 0;
    for seed in 0..200 {
        let program = programs::random(seed);
        let Some(all) = explore(&mut Dfs::new(), &program, 1, 1000) else {
            continue;
        };
        let classes = all.classes[usize::from(all.looks)].len() as u64;
        let label = format!("seed {seed}: {program:?}");
        let mut baseline = Dpor::new(Algorithm::Baseline(Bound::None));
        let found = explore(&mut baseline, &program, 1, 1000).expect("no more than brute force");
        assert_eq!(found.results, all.results, "{label}");
        assert!(found.standing.complete, "{label}");
        for (base, most) in [
            (Base::Dpor, classes),
            (Base::Preemptions(99), found.executions),
        ] {
            for workers in [1, 3] {
                let label = format!("{base:?}, {workers} at a time, {label}");
                let mut search = guided(base);
                let some = explore(&mut search, &program, workers, 1000).expect("fewer");
                assert!(some.results.is_subset(&all.results), "{label}");
                assert!(some.standing.complete, "{label}");
                assert_eq!(some.standing.mismatches, 0, "{label}");
                // The clock may turn out to be read after some executions, and then all begins again;
                // and what a baseline needs depends on the order in which it learns.
                if !all.looks && (base == Base::Dpor || workers == 1) {
                    assert!(
                        some.executions <= most,
                        "{label}: {} {most}",
                        some.executions
                    );
                    spared += most - some.executions;
                }
                if some.standing.bounds.is_empty() {
                    assert_eq!(some.results, all.results, "{label}");
                }
            }
        }
    }
    assert!(spared > 0);
}

/// A search that is stopped after every so many executions, with others under way, and gone on
/// with from what it saved, does what it would have done without.
#[test]
fn searches_that_were_cut_in_pieces_are_the_same() {
    type Make = fn() -> Box<dyn Search>;
    let searches: [(&str, Make); 8] = [
        ("dfs", || Box::new(Dfs::new())),
        ("pcb", || Box::new(Dfs::bounded(Bound::Preemptions(None)))),
        ("pcb:1", || {
            Box::new(Dfs::bounded(Bound::Preemptions(Some(1))))
        }),
        ("delay:2", || Box::new(Dfs::bounded(Bound::Delays(2)))),
        ("dpor", || Box::new(Dpor::new(Algorithm::Optimal))),
        ("dpor:source", || Box::new(Dpor::new(Algorithm::Source))),
        ("hapset", || Box::new(guided(Base::Dpor))),
        ("hapset:pcb:2", || Box::new(guided(Base::Preemptions(2)))),
    ];
    let ordinary = (0..60).map(|seed| (seed, programs::random(seed)));
    let abrupt = (0..60).map(|seed| (seed, programs::abrupt(seed)));
    for (seed, program) in ordinary.chain(abrupt) {
        for (name, make) in searches {
            let Some(whole) = explore(&mut *make(), &program, 1, 400) else {
                continue;
            };
            for (piece, workers) in [(1, 1), (2, 1), (6, 1), (4, 3)] {
                let label = format!("{name}, {piece} and {workers}, seed {seed}: {program:?}");
                let mut search = make();
                let mut found = Found::default();
                while !go_on(&mut *search, &program, workers, piece, &mut found) {
                    let saved = search.save().expect(&label);
                    search = make();
                    assert!(search.restore(&saved), "{label}");
                    assert_eq!(search.save(), Some(saved), "{label}");
                    assert!(found.executions <= 10_000, "{label}: no end");
                }
                if name.starts_with("hapset") && workers > 1 {
                    continue;
                }
                assert_eq!(found.results, whole.results, "{label}");
                // With several at a time, some may be given up.
                if workers == 1 || !name.starts_with("dpor") {
                    assert_eq!(found.executions, whole.executions, "{label}");
                }
                assert_eq!(found.standing.complete, whole.standing.complete, "{label}");
                assert_eq!(found.standing.classes, whole.standing.classes, "{label}");
                if workers == 1 {
                    assert_eq!(found.standing, whole.standing, "{label}");
                }
            }
        }
    }
}
