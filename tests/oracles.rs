//! Brute force as the judge: `dfs` runs every schedule of a small program, for every input of a
//! small range, and so knows its set of outcomes. The sampling policies must stay within that set,
//! `verify` must reach exactly it.

mod common;

use common::{Compiler, Run, compile, in_parallel, root, run};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

/// One outcome program and its golden numbers.
struct Program {
    name: &'static str,
    /// Low and high of each input.
    inputs: &'static [(i32, i32)],
    /// Executions of `dfs`, summed over all inputs.
    dfs: u64,
    /// Mazurkiewicz traces among them; so many executions `dpor` needs.
    classes: u64,
    /// Executions of `verify`; `None` for programs with operations that it does not model.
    verify: Option<u64>,
}

const fn program(
    name: &'static str,
    inputs: &'static [(i32, i32)],
    dfs: u64,
    classes: u64,
    verify: Option<u64>,
) -> Program {
    Program {
        name,
        inputs,
        dfs,
        classes,
        verify,
    }
}

const PROGRAMS: &[Program] = &[
    program("store_buffer", &[], 126, 3, Some(3)),
    program("message_passing", &[], 126, 3, Some(3)),
    program("load_buffering", &[], 126, 3, Some(3)),
    program("coherence", &[], 126, 6, Some(6)),
    program("lost_update", &[], 3043, 4, Some(2)),
    program("three_writers", &[], 1907, 6, Some(3)),
    program("locked_order", &[], 37, 2, Some(2)),
    program("trylock", &[], 96, 4, Some(3)),
    program("compare_exchange", &[], 13, 2, Some(2)),
    program("atomic_updates", &[], 35, 2, Some(2)),
    program("wide_exchange", &[], 28, 3, Some(3)),
    program("large_exchange", &[], 28, 3, Some(3)),
    program("word_lock", &[], 201, 4, Some(4)),
    program("word_lock_misused", &[], 232, 8, Some(5)),
    program("references", &[], 55, 4, Some(2)),
    program("nested_create", &[], 1320, 6, Some(6)),
    program("join_between", &[], 50, 2, Some(2)),
    program("nested_branches", &[], 70, 6, Some(4)),
    program("switch_value", &[], 35, 3, Some(3)),
    program("shared_index", &[], 35, 3, Some(3)),
    program("lock_order", &[], 65, 3, Some(2)),
    program("input_branch", &[(0, 4)], 100, 10, Some(4)),
    program("two_inputs", &[(0, 2), (0, 2)], 321, 19, Some(3)),
    program("input_locked", &[(-2, 3)], 432, 12, Some(4)),
    program("input_narrow", &[(0, 3)], 43, 7, Some(3)),
    program("input_atomic", &[(0, 3)], 42, 7, Some(3)),
    program("input_exchange", &[(0, 3)], 42, 8, Some(6)),
    program("figure2_small", &[(2, 4)], 350, 8, Some(5)),
    program("input_assert", &[(0, 3)], 64, 10, Some(4)),
    program("condition", &[], 31, 2, Some(2)),
    program("semaphore", &[], 71, 3, Some(3)),
    program("timed_wait", &[], 138, 4, Some(4)),
    program("lost_signal", &[], 32, 2, Some(2)),
    program("handover", &[], 176, 2, Some(2)),
    program("timed_semaphore", &[], 15, 2, Some(2)),
    program("readers_writer", &[], 42, 2, Some(2)),
    program("try_read_write", &[], 83, 4, Some(3)),
    program("writer_first", &[], 54, 7, None),
    program("barrier_serial", &[], 126, 2, Some(2)),
    program("cancelled_wait", &[], 371, 14, None),
    program("cancelled_anywhere", &[], 200, 15, None),
    program("cancelled_at_point", &[], 441, 12, None),
    program("cancelled_spinning", &[], 55, 10, None),
    program("timed_lock", &[], 49, 3, Some(3)),
    program("spinlock", &[], 49, 3, Some(3)),
    program("once_only", &[], 22, 2, Some(2)),
    program("early_exit", &[], 35, 10, Some(3)),
    program("late_use", &[], 15, 8, Some(4)),
    program("late_crash", &[], 10, 7, Some(6)),
    program("fault_left", &[], 210, 4, Some(5)),
    program("fault_mended", &[], 3003, 6, Some(5)),
    program("ended_stack", &[], 24, 4, Some(5)),
    program("sleepers", &[], 462, 4, Some(4)),
    program("polled_words", &[], 126, 6, None),
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
    seen.filter(|label| !["assumption", "redundant"].contains(&label.as_str()))
        .collect()
}

/// What `dfs` finds, over all inputs.
#[derive(Clone, Debug, Default)]
struct Everything {
    outcomes: BTreeSet<String>,
    executions: u64,
    classes: u64,
    /// Executions that were given up.
    given_up: u64,
}

/// [`Everything`] of a program, computed once.
fn brute_force(program: &Program) -> Result<Everything, String> {
    type Known = BTreeMap<&'static str, Arc<OnceLock<Result<Everything, String>>>>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no test panics here");
    let entry = known.entry(program.name).or_default().clone();
    drop(known);
    entry.get_or_init(|| search_everything(program)).clone()
}

fn search_everything(program: &Program) -> Result<Everything, String> {
    let mut all = Everything::default();
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
        all.outcomes.extend(outcomes(&run));
        all.executions += run.summary.executions;
        all.classes += run.summary.classes.unwrap_or(0);
    }
    Ok(all)
}

fn run_with(program: &Program, flags: &[String], options: &[&str]) -> Run {
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    if program.name.ends_with("_exchange") {
        flags.extend(["-latomic", "-w"]);
    }
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
        let all = brute_force(program)?;
        if (all.executions, all.classes) == (program.dfs, program.classes) {
            return Ok(());
        }
        Err(format!(
            "{}: {} executions and {} classes instead of {} and {}",
            program.name, all.executions, all.classes, program.dfs, program.classes
        ))
    });
}

#[test]
fn sampling_stays_within_the_outcomes_of_dfs() {
    in_parallel(PROGRAMS, |program| {
        let all = brute_force(program)?.outcomes;
        for flags in input_flags(program.inputs) {
            for policy in ["random", "pct:3", "pos", "mix", "rr", "steer"] {
                let options = ["run", "--policy", policy, "-n", "100", "--seed", "5"];
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

/// What a policy finds, over all inputs. An error unless it is complete.
fn explored(program: &Program, policy: &str, more: &[&str]) -> Result<Everything, String> {
    let mut found = Everything::default();
    for flags in input_flags(program.inputs) {
        let options = [&["run", "--policy", policy], more].concat();
        let run = run_with(program, &flags, &options);
        if run.summary.complete != Some(true) {
            return Err(format!("{}: incomplete\n{}", run.shown, run.output.all()));
        }
        found.outcomes.extend(outcomes(&run));
        found.executions += run.summary.executions;
        found.classes += run.summary.classes.unwrap_or(0);
        found.given_up += run.summary.given_up();
    }
    Ok(found)
}

/// Compares a policy's outcomes with brute force, and its executions with what `expected` makes of
/// that.
fn agrees(
    policy: &'static str,
    more: &[&str],
    expected: impl Fn(&Everything) -> Option<u64> + Sync,
) {
    in_parallel(PROGRAMS, |program| {
        let all = brute_force(program)?;
        let found = explored(program, policy, more)?;
        let may_give_up = more.contains(&"-j");
        let given_up = if may_give_up { found.given_up } else { 0 };
        let executions = expected(&all).map_or(found.executions, |n| n + given_up);
        let right = found.outcomes == all.outcomes
            && found.classes == all.classes
            && found.executions == executions;
        match right {
            true => Ok(()),
            false => Err(format!(
                "{} {policy} {more:?}: {found:?} instead of {all:?}",
                program.name
            )),
        }
    });
}

#[test]
fn optimal_dpor_runs_each_class_once() {
    agrees("dpor", &[], |all| Some(all.classes));
}

#[test]
fn optimal_dpor_on_several_workers_tells_what_it_gives_up() {
    agrees("dpor", &["-j", "3"], |all| Some(all.classes));
}

/// On kernel threads: the same schedules, so the same numbers and outcomes.
#[test]
fn brute_force_on_kernel_threads_is_the_same() {
    agrees("dfs", &["--threads", "kernel"], |all| Some(all.executions));
}

#[test]
fn optimal_dpor_on_kernel_threads_runs_each_class_once() {
    agrees("dpor", &["--threads", "kernel"], |all| Some(all.classes));
}

#[test]
fn source_dpor_reaches_each_class() {
    agrees("dpor:source", &[], |_| None);
}

/// Guided searches reach a part of what there is, with no more executions than without guidance.
#[test]
fn guided_searches_stay_within_their_bases() {
    in_parallel(PROGRAMS, |program| {
        let all = brute_force(program)?;
        for (policy, workers, most) in [
            ("hapset", "1", all.classes),
            ("hapset", "3", all.classes),
            ("pset", "1", all.classes),
            ("hapset:pcb:2", "1", all.executions),
            ("hapset:pcb:2", "3", all.executions),
        ] {
            let found = explored(program, policy, &["-j", workers])?;
            let within = !found.outcomes.is_empty() && found.outcomes.is_subset(&all.outcomes);
            if !within || found.executions > most {
                return Err(format!(
                    "{} {policy} -j {workers}: {found:?} not within {all:?}",
                    program.name
                ));
            }
        }
        Ok(())
    });
}

#[test]
fn rising_preemption_bounds_reach_everything_once() {
    agrees("pcb", &[], |all| Some(all.executions));
}

#[test]
fn brute_force_on_several_workers_is_the_same() {
    agrees("dfs", &["-j", "3"], |all| Some(all.executions));
}

#[test]
fn verify_reaches_exactly_the_outcomes_of_dfs() {
    let modelled: Vec<&Program> = PROGRAMS.iter().filter(|p| p.verify.is_some()).collect();
    assert!(modelled.len() >= 30);
    in_parallel(&modelled, |program| {
        let all = brute_force(program)?.outcomes;
        let run = run_with(program, &[], &["verify"]);
        let seen = outcomes(&run);
        if seen != all {
            return Err(format!("{}: {seen:?} instead of {all:?}", run.shown));
        }
        let bounds = &run.summary.bounds;
        let cut_short = ["deadlock", "use-after-free"].map(str::to_string);
        if !bounds.is_empty() && !cut_short.iter().any(|end| all.contains(end)) {
            return Err(format!("{}: bounded by {bounds:?}", run.shown));
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
