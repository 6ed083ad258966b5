//! Brute force as the judge: `dfs` runs every schedule of a small program, for every input of a
//! small range, and so knows its set of outcomes. The sampling policies must stay within that set,
//! `verify` must reach exactly it.

mod common;

use common::{Compiler, Run, compile, in_parallel, root, run};
use std::collections::BTreeSet;

/// One outcome program and its golden numbers.
struct Program {
    name: &'static str,
    /// Low and high of each input.
    inputs: &'static [(i32, i32)],
    /// Executions of `dfs`, summed over all inputs.
    dfs: u64,
    /// Executions of `verify`; `None` for programs with operations that it does not model.
    verify: Option<u64>,
}

const fn program(
    name: &'static str,
    inputs: &'static [(i32, i32)],
    dfs: u64,
    verify: Option<u64>,
) -> Program {
    Program {
        name,
        inputs,
        dfs,
        verify,
    }
}

const PROGRAMS: &[Program] = &[
    program("store_buffer", &[], 126, Some(4)),
    program("message_passing", &[], 126, Some(4)),
    program("load_buffering", &[], 126, Some(4)),
    program("coherence", &[], 126, Some(7)),
    program("lost_update", &[], 3043, Some(3)),
    program("three_writers", &[], 1907, Some(4)),
    program("locked_order", &[], 37, Some(3)),
    program("trylock", &[], 96, Some(4)),
    program("compare_exchange", &[], 13, Some(3)),
    program("atomic_updates", &[], 35, Some(3)),
    program("nested_create", &[], 1320, Some(7)),
    program("join_between", &[], 50, Some(3)),
    program("nested_branches", &[], 70, Some(5)),
    program("switch_value", &[], 35, Some(4)),
    program("shared_index", &[], 35, Some(4)),
    program("lock_order", &[], 65, Some(2)),
    program("input_branch", &[(0, 4)], 100, Some(4)),
    program("two_inputs", &[(0, 2), (0, 2)], 321, Some(4)),
    program("input_locked", &[(-2, 3)], 432, Some(5)),
    program("input_narrow", &[(0, 3)], 43, Some(4)),
    program("input_atomic", &[(0, 3)], 42, Some(4)),
    program("figure2_small", &[(2, 4)], 350, Some(9)),
    program("input_assert", &[(0, 3)], 62, Some(7)),
    program("condition", &[], 31, None),
    program("semaphore", &[], 71, None),
    program("timed_wait", &[], 293, None),
];

/// Every combination of inputs as compiler flags; one empty list for a program without inputs.
fn input_flags(inputs: &[(i32, i32)]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for (k, &(low, high)) in inputs.iter().enumerate() {
        all = all
            .iter()
            .flat_map(|flags| {
                (low..=high).map(move |value| {
                    let mut flags: Vec<String> = flags.clone();
                    flags.push(format!("-DINPUT{k}={value}"));
                    flags
                })
            })
            .collect();
    }
    all
}

fn outcomes(run: &Run) -> BTreeSet<String> {
    let seen = run.summary.outcomes.keys().cloned();
    seen.filter(|label| label != "assumption").collect()
}

/// The outcomes over all schedules and inputs, and how many executions that took.
fn brute_force(program: &Program) -> Result<(BTreeSet<String>, u64), String> {
    let (mut all, mut executions) = (BTreeSet::new(), 0);
    for flags in input_flags(program.inputs) {
        let run = run_with(
            program,
            &flags,
            &["run", "--policy", "dfs", "-n", "1000000"],
        );
        if !["explored", "finding"].contains(&run.summary.verdict.as_str()) {
            return Err(format!(
                "{}: {}\n{}",
                run.shown,
                run.summary.verdict,
                run.output.all()
            ));
        }
        all.extend(outcomes(&run));
        executions += run.summary.executions;
    }
    Ok((all, executions))
}

fn run_with(program: &Program, flags: &[String], options: &[&str]) -> Run {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let source = format!("tests/outcomes/{}.c", program.name);
    let target = compile(Compiler::RaddleCc, &source, &flags);
    let mut options = options.to_vec();
    options.push("--keep-going");
    run(&options, &target, &[])
}

#[test]
fn every_file_is_in_the_table() {
    let mut files: Vec<String> = std::fs::read_dir(root().join("tests/outcomes"))
        .expect("the folder can be read")
        .map(|entry| entry.expect("it can be read").file_name())
        .filter_map(|name| Some(name.to_str()?.strip_suffix(".c")?.to_string()))
        .collect();
    files.sort();
    let mut listed: Vec<String> = PROGRAMS.iter().map(|p| p.name.to_string()).collect();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn dfs_runs_as_many_schedules_as_ever() {
    in_parallel(PROGRAMS, |program| {
        let (_, executions) = brute_force(program)?;
        if executions == program.dfs {
            return Ok(());
        }
        Err(format!(
            "{}: {executions} executions instead of {}",
            program.name, program.dfs
        ))
    });
}

#[test]
fn sampling_stays_within_the_outcomes_of_dfs() {
    in_parallel(PROGRAMS, |program| {
        let (all, _) = brute_force(program)?;
        for flags in input_flags(program.inputs) {
            for policy in ["random", "pct:3", "pos", "steer", "hapset", "hapset:pcb:2"] {
                let options = ["run", "--policy", policy, "-n", "300", "--seed", "5"];
                let run = run_with(program, &flags, &options);
                let seen = outcomes(&run);
                if seen.is_empty() || !seen.is_subset(&all) {
                    return Err(format!("{}: {seen:?} not within {all:?}", run.shown));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn verify_reaches_exactly_the_outcomes_of_dfs() {
    let modelled: Vec<&Program> = PROGRAMS.iter().filter(|p| p.verify.is_some()).collect();
    assert!(modelled.len() >= 15);
    in_parallel(&modelled, |program| {
        let (all, _) = brute_force(program)?;
        let run = run_with(program, &[], &["verify"]);
        let seen = outcomes(&run);
        if seen != all {
            return Err(format!("{}: {seen:?} instead of {all:?}", run.shown));
        }
        if Some(run.summary.executions) != program.verify {
            return Err(format!(
                "{}: {} executions of verify instead of {:?}",
                program.name, run.summary.executions, program.verify
            ));
        }
        Ok(())
    });
}
