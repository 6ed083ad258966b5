//! Whatever calls the threads of a program make: does it reach exactly the outcomes that it has?
//! Each mode of a program in `calls/` ends with an exit status that says what happened.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much of a mode is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Every interleaving of its calls by brute force, and one of each class: the outcomes are
    /// exactly these.
    All,
    /// As before, by brute force only: threads also meet in memory, which is not seen in code
    /// without instrumentation, so that fewer executions seem to be enough.
    Brute,
    /// One of each class only: brute force takes too long where accesses to memory are steps.
    Classes,
    /// A few at random, since what it does depends on other processes: no other outcome.
    Few,
}

use How::{All, Brute, Classes, Few};

/// Name, how much of it is run, outcomes: exit statuses, or 128 plus the signal that ends it.
type Mode = (&'static str, How, &'static [i32]);

/// A file of `calls/`, how it is built, its modes.
struct Program {
    file: &'static str,
    compiler: Compiler,
    flags: &'static [&'static str],
    modes: &'static [Mode],
}

const USER_SIGNAL: i32 = 128 + 10;

const WAITS: &[Mode] = &[
    ("ppoll_open", All, &[1]),
    ("pselect_open", All, &[1]),
    ("epoll_pwait_open", All, &[1]),
    ("epoll_pwait2_open", All, &[1]),
    ("ppoll_call_open", All, &[1]),
    ("pselect_call_open", All, &[1]),
    ("epoll_pwait_call_open", All, &[1]),
    ("epoll_pwait2_call_open", All, &[1]),
    ("ppoll_first", All, &[1, 2]),
    ("pselect_first", All, &[1, 2]),
    ("epoll_pwait_first", All, &[1, 2]),
    ("ppoll_call_first", All, &[1, 2]),
    ("ready_before", All, &[1]),
    ("at_once", All, &[0b0011_0011]),
    ("two_signals", All, &[3]),
    ("fatal", All, &[USER_SIGNAL]),
    ("blocked_in_wait", All, &[1, 2]),
    ("jump_out_of_wait", All, &[1]),
    ("semaphore_wait", All, &[1, 2]),
    ("sleep_ends", All, &[1, 2]),
];

const FUTEXES: &[Mode] = &[
    ("lock_pi_timed", All, &[0, 1]),
    ("trylock_pi", All, &[0, 1]),
    ("wait_for_two", Brute, &[1, 2]),
    ("wake_op", Brute, &[0, 1, 2]),
    ("requeue", All, &[0, 10, 21]),
    ("bits", All, &[1, 2]),
    ("inherit_mutex", All, &[0, 1]),
];

/// The same where accesses to memory are steps.
const FUTEXES_SEEN: &[Mode] = &[
    ("lock_pi_timed", All, &[0, 1]),
    ("trylock_pi", All, &[0, 1]),
    ("wait_for_two", All, &[1, 2]),
    ("wake_op", Classes, &[0, 1, 2]),
    ("requeue", Classes, &[0, 10, 21]),
    ("bits", All, &[1, 2]),
    ("inherit_mutex", All, &[0, 1]),
];

const SHARED: &[Mode] = &[
    ("condition_from_child", Few, &[5]),
    ("condition_from_parent", Few, &[7]),
    ("condition_times_out", Few, &[1]),
    ("contended_lock", Few, &[9]),
    ("contended_recursive", Few, &[9]),
    ("held_by_child", Few, &[1]),
    ("semaphore_from_child", Few, &[6]),
    ("semaphores_both_ways", Few, &[12]),
    ("afterwards", Few, &[6]),
];

const PROGRAMS: &[Program] = &[
    program("waits.c", &[], WAITS),
    program("futexes.c", &[], FUTEXES),
    program("futexes.c", &["-DRAW"], FUTEXES),
    Program {
        compiler: Compiler::RaddleCc,
        ..program("futexes.c", &[], FUTEXES_SEEN)
    },
    program("shared.c", &[], SHARED),
];

const fn program(
    file: &'static str,
    flags: &'static [&'static str],
    modes: &'static [Mode],
) -> Program {
    Program {
        file,
        compiler: Compiler::Gcc,
        flags,
        modes,
    }
}

impl Program {
    fn built(&self) -> PathBuf {
        let file = format!("tests/calls/{}", self.file);
        compile(self.compiler, &file, self.flags)
    }

    /// Runs one mode without control, then under it.
    fn reaches(&self, &(mode, how, expected): &Mode) -> Result<(), String> {
        let program = self.built();
        let native = output(Command::new(&program).arg(mode), LIMIT).status;
        if !expected.contains(&native) {
            return Err(format!("{} {mode} natively: {native}", self.file));
        }
        let policies: &[&str] = match how {
            All => &["dfs", "dpor"],
            Brute => &["dfs"],
            Classes => &["dpor"],
            Few => &["random"],
        };
        policies
            .iter()
            .try_for_each(|policy| check(&program, mode, how, policy, expected))
    }
}

fn check(
    program: &Path,
    mode: &str,
    how: How,
    policy: &str,
    expected: &[i32],
) -> Result<(), String> {
    let options = ["run", "--keep-going", "--no-shrink", "--races", "off"];
    let most = if how == Few { "15" } else { "20000" };
    let limits = ["--policy", policy, "-n", most];
    let run = run(&[&options[..], &limits[..]].concat(), program, &[mode]);
    let seen: BTreeSet<String> = run.summary.outcomes.keys().cloned().collect();
    let wanted: BTreeSet<String> = expected.iter().map(|&status| label(status)).collect();
    let right = match how {
        All | Brute | Classes => seen == wanted && run.summary.complete == Some(true),
        Few => !seen.is_empty() && seen.is_subset(&wanted),
    };
    let signals = expected.iter().filter(|&&status| status > 128);
    let named = |status: &i32| {
        let signal = format!("signal {}", status - 128);
        let findings = &run.summary.findings;
        findings.iter().any(|found| found.message.contains(&signal))
    };
    match right && (how == Few || signals.into_iter().all(named)) {
        true => Ok(()),
        false => Err(format!(
            "{}
{}",
            run.shown,
            run.output.all()
        )),
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
