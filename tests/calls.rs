//! Whatever calls the threads of a program make: does it reach exactly the outcomes that it has?
//! Each mode of a program in `calls/` ends with an exit status that says what happened.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name, and the outcomes that all interleavings together have: exit statuses, or 128 plus the signal that ends it.
type Mode = (&'static str, &'static [i32]);

/// A file of `calls/`, how it is built, its modes.
struct Program {
    file: &'static str,
    compiler: Compiler,
    flags: &'static [&'static str],
    modes: &'static [Mode],
}

const USER_SIGNAL: i32 = 128 + 10;

const WAITS: &[Mode] = &[
    ("ppoll_open", &[1]),
    ("pselect_open", &[1]),
    ("epoll_pwait_open", &[1]),
    ("epoll_pwait2_open", &[1]),
    ("ppoll_call_open", &[1]),
    ("pselect_call_open", &[1]),
    ("epoll_pwait_call_open", &[1]),
    ("epoll_pwait2_call_open", &[1]),
    ("ppoll_first", &[1, 2]),
    ("pselect_first", &[1, 2]),
    ("epoll_pwait_first", &[1, 2]),
    ("ppoll_call_first", &[1, 2]),
    ("ready_before", &[1]),
    ("at_once", &[0b0011_0011]),
    ("two_signals", &[3]),
    ("fatal", &[USER_SIGNAL]),
    ("blocked_in_wait", &[1, 2]),
    ("jump_out_of_wait", &[1]),
    ("semaphore_wait", &[1, 2]),
    ("sleep_ends", &[1, 2]),
];

const PROGRAMS: &[Program] = &[Program {
    file: "waits.c",
    compiler: Compiler::Gcc,
    flags: &[],
    modes: WAITS,
}];

impl Program {
    fn built(&self) -> PathBuf {
        let file = format!("tests/calls/{}", self.file);
        compile(self.compiler, &file, self.flags)
    }

    /// Runs one mode without control, by brute force and once for each class of interleavings.
    fn reaches(&self, &(mode, expected): &Mode) -> Result<(), String> {
        let program = self.built();
        let native = output(Command::new(&program).arg(mode), LIMIT).status;
        if !expected.contains(&native) {
            return Err(format!("{} {mode} natively: {native}", self.file));
        }
        for policy in ["dfs", "dpor"] {
            check(&program, mode, policy, expected)?;
        }
        Ok(())
    }
}

fn check(program: &Path, mode: &str, policy: &str, expected: &[i32]) -> Result<(), String> {
    let options = ["run", "--keep-going", "--no-shrink", "--races", "off"];
    let limits = ["--policy", policy, "-n", "20000"];
    let run = run(&[&options[..], &limits[..]].concat(), program, &[mode]);
    let seen: BTreeSet<String> = run.summary.outcomes.keys().cloned().collect();
    let wanted: BTreeSet<String> = expected.iter().map(|&status| label(status)).collect();
    match seen == wanted && run.summary.complete == Some(true) {
        true => Ok(()),
        false => Err(format!("{}\n{}", run.shown, run.output.all())),
    }
}

fn label(status: i32) -> String {
    match status {
        128.. => "crash".to_string(),
        _ => format!("exit {status}"),
    }
}

/// What the program says its modes are, one a line.
fn told(program: &Path) -> BTreeSet<String> {
    let told = output(&mut Command::new(program), LIMIT).stdout;
    told.lines().map(str::to_string).collect()
}

#[test]
fn every_mode_is_in_the_table() {
    for program in PROGRAMS {
        let listed = program.modes.iter().map(|mode| mode.0.to_string());
        let listed: BTreeSet<String> = listed.collect();
        assert_eq!(told(&program.built()), listed, "{}", program.file);
    }
}

#[test]
fn programs_reach_exactly_their_outcomes() {
    let all: Vec<(&Program, &Mode)> = PROGRAMS
        .iter()
        .flat_map(|program| program.modes.iter().map(move |mode| (program, mode)))
        .collect();
    in_parallel(&all, |(program, mode)| program.reaches(mode));
}
