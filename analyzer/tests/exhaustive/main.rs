//! Every exhaustive search against brute force, on programs of a machine in memory: the same
//! results, and exactly one execution for each Mazurkiewicz trace.

mod machine;
mod programs;

use machine::{Machine, Program};
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::dpor::{Algorithm, Dpor, Execution};
use raddle_analyzer::search::{Next, Search, Standing};
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
            return None;
        }
        // In another order than they were handed out.
        let (number, plan) = out.remove(n as usize % out.len());
        let (trace, result) = Machine::run(program, &plan);
        found.executions += 1;
        if trace.outcome.end != raddle_protocol::outcome::End::Redundant {
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
    Some(found)
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
            assert_eq!(search.redundant(), 0, "{label}");
            if !all.looks {
                assert_eq!(found.executions, classes, "{label}");
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

#[test]
fn optimal_and_source_on_random_programs() {
    let seeds = std::env::var("RADDLE_RANDOM_SEEDS").ok();
    let (from, to) = seeds.as_ref().map_or((0, 500), |text| {
        let (low, high) = text.split_once("..").expect("LOW..HIGH");
        (low.parse().expect("low"), high.parse().expect("high"))
    });
    let compared =
        (from..to).filter(|&seed| compare(&programs::random(seed), &format!("seed {seed}")));
    let compared = compared.count() as u64;
    println!("compared {compared}");
    assert!(
        compared * 2 > to - from,
        "only {compared} were small enough"
    );
}
