//! The searches that learn: `steer` and `hapset`.

mod common;

use common::{Compiler, Run, compile, in_parallel, run};
use std::path::PathBuf;

/// Programs of the corpus and whether they need scheduling points at accesses.
const PROGRAMS: [(&str, bool); 8] = [
    ("lock_order.c", false),
    ("string_buffer.c", false),
    ("check_then_act.c", false),
    ("token_ring.c", false),
    ("lost_update.c", true),
    ("use_before_init.c", true),
    ("bluetooth.c", true),
    ("reorder.c", true),
];

fn program(&(file, memory): &(&str, bool), flags: &[&str]) -> PathBuf {
    let compiler = match memory {
        true => Compiler::RaddleCc,
        false => Compiler::Gcc,
    };
    compile(compiler, &format!("tests/corpus/{file}"), flags)
}

fn failed(run: &Run) -> Result<(), String> {
    match run.summary.findings.is_empty() {
        false => Ok(()),
        true => Err(format!("{}\n{}", run.shown, run.output.all())),
    }
}

#[test]
fn every_guided_search_finds_the_bugs_of_small_programs() {
    let searches: [&[&str]; 4] = [
        &["--policy", "hapset"],
        &["--policy", "hapset:pcb:2"],
        &["--policy", "hapset", "--context", "2"],
        &["--policy", "steer", "-j", "2", "-n", "1000"],
    ];
    let tries: Vec<_> = PROGRAMS
        .iter()
        .flat_map(|program| searches.iter().map(move |search| (program, search)))
        .collect();
    in_parallel(&tries, |&(which, search)| {
        let options = [&["run", "-q", "--no-shrink"], *search].concat();
        failed(&run(&options, &program(which, &[]), &[]))
    });
}

/// A guided search ends, and where it has left something out it does not claim all.
#[test]
fn a_guided_search_of_a_fixed_twin_ends_within_bounds() {
    in_parallel(&PROGRAMS, |which| {
        for policy in ["hapset", "hapset:pcb:1", "pset"] {
            let options = ["run", "-q", "--policy", policy];
            let run = run(&options, &program(which, &["-DFIXED"]), &[]);
            let notes = &run.summary.notes;
            let left_out = notes.iter().any(|n| n.contains("not turned round"));
            let may_claim_all = !left_out && run.output.status == 0;
            if run.output.status != 69 && !may_claim_all {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

/// What is learnt from random executions is not tried again.
#[test]
fn learning_first_leaves_less_to_the_search() {
    let program = compile(Compiler::Gcc, "tests/corpus/token_ring.c", &["-DFIXED"]);
    let options = ["run", "-q", "--policy", "hapset", "--learn", "5"];
    let run = run(&options, &program, &[]);
    assert_eq!(run.output.status, 69, "{}", run.output.all());
    assert!(run.summary.executions > 5);
}

/// In the first two executions threads give way, whatever the seed.
#[test]
fn the_adversary_comes_first() {
    let programs = [
        ("tests/marks/work_stealing_state.c", true, 1),
        ("tests/corpus/ring_buffer.c", false, 1),
        ("tests/marks/work_stealing_the.c", true, 2),
        ("tests/corpus/token_ring.c", false, 2),
    ];
    in_parallel(&programs, |&(file, memory, most)| {
        let compiler = if memory {
            Compiler::RaddleCc
        } else {
            Compiler::Gcc
        };
        let program = compile(compiler, file, &[]);
        for seed in ["1", "9"] {
            let options = ["run", "-q", "--no-shrink", "-n", "9", "--seed", seed];
            let run = run(&options, &program, &[]);
            failed(&run)?;
            if run.summary.executions != most {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

/// What others are to print is what an execution without preemptions does.
#[test]
fn the_output_that_is_expected_is_an_ordinary_one() {
    let program = compile(Compiler::Gcc, "tests/corpus/ring_buffer.c", &[]);
    let found = |options: &[&str]| {
        let run = run(&[options, &["-n", "1"]].concat(), &program, &[]);
        run.summary.findings.len()
    };
    let options = ["run", "-q", "--no-shrink"];
    assert_eq!(found(&options), 1);
    assert_eq!(found(&[&options[..], &["--same-output"]].concat()), 0);
}

#[test]
fn the_same_seed_gives_the_same_executions() {
    in_parallel(&PROGRAMS, |which| {
        let seen = |seed: &str| {
            let options = [
                "run",
                "-q",
                "--no-shrink",
                "--keep-going",
                "--policy",
                "steer",
                "-n",
                "150",
                "--seed",
                seed,
            ];
            let run = run(&options, &program(which, &[]), &[]);
            let mut findings: Vec<(u64, String)> = run
                .summary
                .findings
                .iter()
                .map(|f| (f.execution, f.fingerprint.clone()))
                .collect();
            findings.sort();
            (run.summary.outcomes, findings)
        };
        let (first, again) = (seen("7"), seen("7"));
        match first == again {
            true => Ok(()),
            false => Err(format!("{which:?}: {first:?} and then {again:?}")),
        }
    });
}

#[test]
fn options_of_guided_searches_mean_nothing_to_others() {
    let program = compile(Compiler::Gcc, "tests/corpus/token_ring.c", &[]);
    for option in [["--context", "1"], ["--learn", "5"]] {
        let options = [&["run", "--policy", "random"], &option[..]].concat();
        let run = std::process::Command::new(common::raddle())
            .args(options)
            .arg("--")
            .arg(&program)
            .output()
            .expect("the command starts");
        assert_eq!(run.status.code(), Some(64));
    }
}
