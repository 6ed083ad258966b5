//! How many executions `dpor` needs for families of programs, end to end. Where the number of
//! Mazurkiewicz traces has a closed form, that is what is expected; the numbers of the others are
//! what brute force counts on the smallest of each family, and as ever on larger ones.

mod common;

use common::{Compiler, Run, compile, in_parallel, run};
use std::path::Path;

struct Family {
    source: &'static str,
    flags: &'static [&'static str],
    /// The argument, and how many Mazurkiewicz traces there are.
    counts: Vec<(u64, u64)>,
    finds: bool,
}

/// Two threads that read the other's number and write their own, `n` times each: the central
/// coefficient of (1 + x + x²) to the power 2n. (Between two writes of one thread, what the other
/// does in terms of them is one of three.)
fn trinomial(n: u64) -> u64 {
    let mut row = vec![1];
    for _ in 0..2 * n {
        let at = |i: usize, back: usize| i.checked_sub(back).and_then(|i| row.get(i)).unwrap_or(&0);
        row = (0..row.len() + 2)
            .map(|i| at(i, 0) + at(i, 1) + at(i, 2))
            .collect();
    }
    row[2 * n as usize]
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// Writers hold the first lock all the time and take the second inside. The reader takes the first
/// before all of them and ends, or after k of them, and then the second after k writers or more.
fn nested(writers: u64) -> u64 {
    let second = |k| writers - k + 1;
    factorial(writers) * (1 + (1..=writers).map(second).sum::<u64>())
}

fn families() -> Vec<Family> {
    let counts = |to: u64, count: fn(u64) -> u64| (1..=to).map(|n| (n, count(n))).collect();
    vec![
        Family {
            source: "tests/marks/fibonacci.c",
            flags: &["-DFIXED"],
            counts: counts(4, trinomial),
            finds: false,
        },
        // The assertion is looked at when all is over: it fails in one of the classes.
        Family {
            source: "tests/marks/fibonacci.c",
            flags: &[],
            counts: counts(3, trinomial),
            finds: true,
        },
        // Critical sections of all setters and of the checker.
        Family {
            source: "tests/corpus/reorder.c",
            flags: &["-DFIXED"],
            counts: counts(5, |setters| factorial(setters + 1)),
            finds: false,
        },
        Family {
            source: "tests/corpus/twostage.c",
            flags: &["-DFIXED"],
            counts: counts(4, nested),
            finds: false,
        },
        // What others do cannot be told from an assumption that does not hold.
        Family {
            source: "tests/classes/assumed.c",
            flags: &["-DFIXED"],
            counts: vec![(1, 2), (2, 2), (5, 2)],
            finds: false,
        },
        Family {
            source: "tests/classes/assumed.c",
            flags: &[],
            counts: vec![(1, 11), (5, 11)],
            finds: true,
        },
        // An assertion that fails ends the other threads wherever they are.
        Family {
            source: "tests/corpus/reorder.c",
            flags: &[],
            counts: vec![(1, 16), (2, 212)],
            finds: true,
        },
        Family {
            source: "tests/corpus/twostage.c",
            flags: &[],
            counts: vec![(1, 14), (2, 380)],
            finds: true,
        },
    ]
}

fn explore(family: &Family, n: u64, policy: &str, workers: &str) -> Run {
    let program = compile(Compiler::RaddleCc, family.source, family.flags);
    let options = [
        "run",
        "--policy",
        policy,
        "-j",
        workers,
        "--keep-going",
        "--no-shrink",
        "--races",
        "off",
        "-q",
    ];
    run(&options, &program, &[&n.to_string()])
}

fn check(family: &Family, n: u64, classes: u64, policy: &str, workers: &str) -> Result<(), String> {
    let run = explore(family, n, policy, workers);
    let seen = &run.summary;
    let given_up = seen.given_up();
    let executions_fit = match policy {
        "dpor" if workers == "1" => seen.executions == classes,
        "dfs" => seen.executions >= classes,
        _ => seen.executions == classes + given_up && given_up < classes,
    };
    let verdict = if family.finds { "finding" } else { "explored" };
    let right = executions_fit
        && seen.classes == Some(classes)
        && seen.complete == Some(true)
        && seen.verdict == verdict;
    match right {
        true => Ok(()),
        false => Err(format!(
            "{}: not {classes} classes, {verdict}\n{}",
            run.shown,
            run.output.all()
        )),
    }
}

/// `dpor` explores all, finds nothing, and needs so many executions.
fn needs(program: &Path, arguments: &[&str], classes: u64) -> Result<(), String> {
    let options = ["run", "--policy", "dpor", "-j", "1", "-q"];
    let run = run(&options, program, arguments);
    let seen = &run.summary;
    let right = (seen.executions, seen.classes) == (classes, Some(classes))
        && seen.complete == Some(true)
        && seen.verdict == "explored";
    match right {
        true => Ok(()),
        false => Err(format!(
            "not {classes}: {}\n{}",
            run.shown,
            run.output.all()
        )),
    }
}

/// Operations of `classes/alike.c` that leave things as they find them, whoever comes first, or change
/// them to the same in any order; and those of which exactly one changes something: who does that makes
/// the class.
const IDLE: &str = "abcdefghijklmnopqrstuvw";
const ONE_SUCCEEDS: &str = "ABCDEF";

#[test]
fn operations_that_do_the_same_in_any_order_commute() {
    let program = compile(Compiler::RaddleCc, "tests/classes/alike.c", &[]);
    let idle = IDLE.chars().map(|operation| (operation, 4, 1));
    let one = ONE_SUCCEEDS.chars().map(|operation| (operation, 4, 4));
    let all: Vec<(char, u64, u64)> = idle.chain(one).chain([('A', 6, 6)]).collect();
    in_parallel(&all, |&(operation, n, classes)| {
        needs(&program, &[&operation.to_string(), &n.to_string()], classes)
    });
}

/// Who comes first makes two, and what attempts in vain find makes the others.
#[test]
fn locks_of_the_kernel_conflict_by_object() {
    let program = compile(Compiler::RaddleCc, "tests/classes/kernel_locks.c", &[]);
    in_parallel(&[("s", 4), ("o", 12), ("f", 12), ("n", 1)], |&(lock, n)| {
        needs(&program, &[lock], n)
    });
}

#[test]
fn the_closed_forms_are_those_of_known_numbers() {
    let known = [1, 3, 19, 141, 1107, 8953, 73789];
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(trinomial), known);
    assert_eq!([1, 2, 3, 4].map(nested), [2, 8, 42, 264]);
}

#[test]
fn dpor_runs_each_class_once() {
    let families = families();
    let all: Vec<_> = families
        .iter()
        .flat_map(|f| f.counts.iter().map(move |&(n, classes)| (f, n, classes)))
        .collect();
    in_parallel(&all, |&(family, n, classes)| {
        check(family, n, classes, "dpor", "1")
    });
}

#[test]
fn several_workers_and_source_sets_come_to_the_same() {
    let families = families();
    in_parallel(&families, |family| {
        let &(n, classes) = family.counts.get(1).expect("two at least");
        check(family, n, classes, "dpor", "3")?;
        check(family, n, classes, "dpor:source", "1")
    });
}

/// Nobody could tell a thread that waits for one that has given up from one that hangs.
#[test]
fn where_code_is_unseen_an_assumption_ends_the_execution() {
    let program = compile(Compiler::Gcc, "tests/classes/assumed_unseen.c", &[]);
    let run = run(
        &["run", "--policy", "dpor", "--timeout", "3s"],
        &program,
        &[],
    );
    let ends: Vec<&String> = run.summary.outcomes.keys().collect();
    assert_eq!(ends, ["assumption"], "{}", run.output.all());
    assert_eq!(run.output.status, 69, "{}", run.output.all());
}

#[test]
fn brute_force_counts_the_same_classes() {
    let mut smallest = families();
    // Of the others brute force has too many interleavings even for the smallest.
    let small = |f: &Family| f.source.ends_with("assumed.c") && !f.finds;
    smallest.retain(|f| f.source.ends_with("reorder.c") || small(f));
    in_parallel(&smallest, |family| {
        let (n, classes) = family.counts[0];
        check(family, n, classes, "dfs", "1")
    });
}

/// Orders of calls of so many threads, so many times each.
fn orders(threads: u64, times: u64) -> u64 {
    factorial(threads * times) / factorial(times).pow(threads as u32)
}

/// Ways to take from a pipe what another thread puts there, so many times: Catalan's number.
fn catalan(times: u64) -> u64 {
    orders(2, times) / (times + 1)
}

/// Operations of `classes/calls.c`, threads and times, classes.
fn calls() -> Vec<(char, [u64; 2], u64)> {
    const SHAPES: [[u64; 2]; 3] = [[2, 1], [2, 2], [3, 1]];
    let conflicting = "wvfpens".chars();
    let conflicting = conflicting.flat_map(|one| {
        SHAPES.map(|[threads, times]| (one, [threads, times], orders(threads, times)))
    });
    let others = "WrtFPEg".chars();
    let others = others.flat_map(|one| SHAPES.map(|shape| (one, shape, 1)));
    let filled = (1..=4).map(|times| ('c', [2, times], catalan(times)));
    let asked = (1..=3).map(|times| ('q', [2, times], orders(2, times)));
    let all = conflicting.chain(others).chain(filled);
    all.chain(asked).collect()
}

#[test]
fn a_call_is_one_step_whatever_it_uses() {
    let program = compile(Compiler::RaddleCc, "tests/classes/calls.c", &["-w"]);
    in_parallel(&calls(), |&(operation, shape, classes)| {
        let [threads, times] = shape.map(|number| number.to_string());
        let arguments = [&operation.to_string()[..], &threads, &times];
        let options = ["run", "--policy", "dpor", "-j", "1", "-q"];
        let run = run(&options, &program, &arguments);
        let seen = &run.summary;
        // Whether there is something to read is found out by trying.
        let tries = u64::from(operation == 'c');
        let fits = (classes..=classes + tries).contains(&seen.executions);
        match fits && (seen.classes, seen.complete) == (Some(classes), Some(true)) {
            true => Ok(()),
            false => Err(format!(
                "{}: not {classes} classes\n{}",
                run.shown,
                run.output.all()
            )),
        }
    });
}
