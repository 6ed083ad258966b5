//! fork, vfork, exec, system, popen, posix_spawn, daemon, clone, the setuid family: each does what
//! the README says, and the summary names it.

mod common;

use common::{Compiler, compile, in_parallel, run};

/// Mode of `processes/calls.c`, exit status of the command, what the summary must name.
const MODES: &[(&str, i32, &[&str])] = &[
    ("fork", 0, &["fork"]),
    ("vfork", 0, &["vfork"]),
    ("posix_spawn", 0, &["posix_spawn"]),
    ("system", 0, &["system", "popen"]),
    ("clone", 0, &["clone"]),
    ("clone-vfork", 0, &["clone"]),
    ("clone-shared", 68, &["clone() with shared memory"]),
    ("setuid", 0, &[]),
    ("daemon", 0, &["daemon"]),
    ("exec", 0, &["execlp"]),
];

#[test]
fn each_call_is_defined_and_named() {
    let program = compile(Compiler::Gcc, "tests/processes/calls.c", &[]);
    for (mode, status, names) in MODES {
        let run = run(&["run", "-n", "10", "--seed", "1"], &program, &[mode]);
        let all = run.output.all();
        assert_eq!(run.output.status, *status, "{mode}: {all}");
        for name in *names {
            assert!(all.contains(name), "{mode}: {name} is not named\n{all}");
        }
    }
}

/// What a child does takes real time; how much must not decide which steps there are.
#[test]
fn a_wait_for_a_child_does_not_change_the_schedule() {
    let program = compile(Compiler::Gcc, "tests/processes/calls.c", &[]);
    for mode in ["fork", "vfork", "posix_spawn"] {
        let run = run(&["run", "-n", "150", "--seed", "1"], &program, &[mode]);
        assert_eq!(run.output.status, 0, "{mode}: {}", run.output.all());
        let outcomes = run.summary.outcomes;
        assert!(!outcomes.contains_key("diverged"), "{mode}: {outcomes:?}");
    }
}

/// Where a search goes back to an earlier execution, and the child answers sooner or later than it
/// did then, that is nothing against the program.
#[test]
fn a_child_that_answers_at_another_time_is_no_failure() {
    let program = compile(Compiler::Rustc, "tests/processes/output.rs", &["--test"]);
    let test = ["--exact", "a_child_says_what_it_was_told"];
    for policy in ["steer", "random"] {
        let options = ["run", "-n", "150", "--seed", "1", "--policy", policy];
        let run = run(&options, &program, &test);
        let all = run.output.all();
        assert_eq!(run.output.status, 0, "{policy}: {all}");
        assert!(all.contains("posix_spawn"), "{policy}: {all}");
    }
}

/// The ways of `processes/children.c`.
const CHILDREN: &[&str] = &[
    "fork",
    "_Fork",
    "syscall",
    "clone-syscall",
    "fork-twice",
    "fork-exits",
    "fork-aborts",
    "fork-thread",
    "fork-execs",
    "fork-signals",
    "fork-handlers",
    "fork-key",
    "fork-maps",
    "fork-writes",
    "vfork-execs",
    "vfork-exits",
    "vfork-stores",
    "clone",
    "clone-vfork",
    "posix_spawn",
    "system",
    "popen-reads",
    "popen-writes",
    "daemon",
];

/// Nothing of raddle is at work in a child: neither the model of its parent's threads nor the shadow of
/// its values. So what the parent learns of it is as it is by itself, and nothing is a finding.
#[test]
fn children_are_as_by_themselves() {
    let program = compile(Compiler::RaddleCc, "tests/processes/children.c", &["-O0"]);
    let searches: [(&[&str], i32); 4] = [
        (&["verify", "--time", "10s"], 69),
        (&["run", "-n", "20"], 0),
        (&["run", "--policy", "dpor", "-n", "20"], 0),
        (
            &[
                "run",
                "-n",
                "8",
                "--policy",
                "random",
                "--threads",
                "kernel",
            ],
            0,
        ),
    ];
    let all: Vec<&[&str]> = CHILDREN.iter().map(core::slice::from_ref).collect();
    let in_threads: Vec<[&str; 2]> = CHILDREN.iter().map(|way| [*way, "thread"]).collect();
    let ways: Vec<&[&str]> = all
        .into_iter()
        .chain(in_threads.iter().map(|way| &way[..]))
        .collect();
    in_parallel(&ways, |way| {
        for (search, status) in searches {
            let options = [search, &["-q", "--no-shrink"]].concat();
            let run = run(&options, &program, way);
            // All that there is may have been explored, but for what the child does.
            let expected = [status, if search.contains(&"dpor") { 69 } else { status }];
            if !expected.contains(&run.output.status) || !run.summary.findings.is_empty() {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}
