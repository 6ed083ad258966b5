//! fork, vfork, exec, system, popen, posix_spawn, daemon, clone, the setuid family: each does what
//! the README says, and the summary names it.

mod common;

use common::{Compiler, compile, run};

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
    }
}
