//! Whatever calls the threads of a program make: does it reach exactly the outcomes that it has?
//! Each mode of a program in `calls/` ends with an exit status that says what happened.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, replay_fails, run};
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
    /// A few at random, since what it does depends on other processes, or they take long: no other
    /// outcome.
    Few,
    /// As before, also by the policy whose executions go the ways of earlier ones for a while: none
    /// of them leaves its schedule, nor does a replay, whatever other processes do meanwhile.
    Followed,
    /// Some hundreds at random: exactly the outcomes. Threads meet in memory, which is not seen, so
    /// that the exhaustive policies promise less.
    Sampled,
}

use How::{All, Brute, Classes, Few, Followed, Sampled};

/// Name, how much of it is run, outcomes: exit statuses, or 128 plus the signal that ends it.
type Mode = (&'static str, How, &'static [i32]);

/// A file of `calls/`, how it is built, its modes.
struct Program {
    file: &'static str,
    compiler: Compiler,
    flags: &'static [&'static str],
    modes: &'static [Mode],
}

const CPP20: &[&str] = &["-std=c++20"];

const USER_SIGNAL: i32 = 128 + libc::SIGUSR1;

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
    ("woken_and_handled", All, &[1, 2]),
    ("taken_by_other", All, &[2]),
    ("blocked_first", All, &[1, 2]),
    ("blocked_after_telling", All, &[1, 2]),
    ("fatal_unless_blocked", All, &[2, USER_SIGNAL]),
    ("blocked_by_jump", All, &[1, 2]),
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
    ("condition_from_parent", Followed, &[7]),
    ("condition_times_out", Followed, &[1]),
    ("contended_lock", Followed, &[9]),
    ("contended_recursive", Followed, &[9]),
    ("held_by_child", Followed, &[1]),
    ("semaphore_from_child", Followed, &[6]),
    ("semaphores_both_ways", Followed, &[12]),
    ("afterwards", Followed, &[6]),
    ("great_count", Followed, &[1]),
    ("orphaned_by_child", Followed, &[1]),
    ("orphaned_condition", Followed, &[1]),
    ("barrier_with_child", Few, &[3]),
    ("written_by_child", Followed, &[60]),
    ("named_by_child", Followed, &[1]),
];

const CHILDREN: &[Mode] = &[
    ("suspended", Followed, &[3]),
    ("posted_by_handler", Followed, &[3]),
    ("waited_for", Followed, &[3]),
    ("waited_with_limit", Followed, &[3]),
    ("descriptor", Followed, &[3]),
    ("answered", Followed, &[3]),
    ("polled", Followed, &[3]),
    ("first_of_two", Followed, &[3, 4]),
    // The kernel may make one signal of two, at another moment in a replay.
    ("signals_of_two", Few, &[3]),
    ("inherited", Followed, &[3]),
];

const ASYNCHRONOUS: &[Mode] = &[
    ("suspended", Sampled, &[1]),
    ("polled", Sampled, &[1]),
    ("by_thread", Sampled, &[1]),
    ("by_signal", Sampled, &[1]),
    ("from_pipe", Sampled, &[1]),
    ("cancelled", Sampled, &[1]),
    ("cancel_tells", Sampled, &[1]),
    ("listed", Sampled, &[1]),
    ("list_tells", Sampled, &[1]),
    ("refused", Sampled, &[1]),
    ("synchronised", Sampled, &[1]),
];

const EXITS: &[Mode] = &[
    ("returns", Sampled, &[0, 1]),
    ("exits", Sampled, &[0, 1]),
    ("exits_quickly", Sampled, &[0, 1]),
    ("exits_at_once", Sampled, &[0, 1]),
    ("leaves", All, &[1, 2]),
    ("leaves_children", Classes, &[1, 2]),
    ("leaves_alone", All, &[1]),
    ("keeps_locals", All, &[0]),
    ("joined", All, &[1]),
    ("joined_then_exits", Sampled, &[0, 1]),
];

/// The same where accesses to memory are steps.
const EXITS_SEEN: &[Mode] = &[
    ("returns", Sampled, &[0, 1]),
    ("exits", Sampled, &[0, 1]),
    ("exits_quickly", Sampled, &[0, 1]),
    ("exits_at_once", Sampled, &[0, 1]),
    ("leaves", Classes, &[1, 2]),
    ("leaves_children", Classes, &[1, 2]),
    ("leaves_alone", All, &[1]),
    ("keeps_locals", Classes, &[0]),
    ("joined", All, &[1]),
    ("joined_then_exits", Classes, &[0, 1]),
];

const KERNEL: &[Mode] = &[
    ("stack_again", Sampled, &[1]),
    ("stack_unmapped", Sampled, &[1]),
    ("timer_seen", Sampled, &[1]),
    ("two_families", Sampled, &[1]),
    ("shared_first", Sampled, &[1]),
    ("signal_told", Sampled, &[1]),
    ("number", Sampled, &[1]),
    ("overrun", Sampled, &[1]),
    ("refused", Sampled, &[1]),
    ("scheduling_class", Sampled, &[1]),
    ("class_refused", Sampled, &[1]),
    ("semaphore_modes", Sampled, &[1]),
    ("locked_from_here", Sampled, &[1]),
    ("vector_from_pipe", Sampled, &[1]),
];

const MEMORY: &[Mode] = &[
    ("left", Few, &[1, 2]),
    ("removed", Few, &[1, 2]),
    ("opened", Few, &[1]),
    ("in_child", Few, &[5]),
];

/// What opens and removes names is a step in code that is seen.
const MEMORY_SEEN: &[Mode] = &[
    ("left", Classes, &[1, 2]),
    ("removed", Classes, &[1, 2]),
    ("opened", Classes, &[1]),
    ("in_child", Few, &[5]),
];

const QUEUES: &[Mode] = &[
    ("put_by_two", All, &[1, 2]),
    ("urgent", All, &[5, 7]),
    ("full", All, &[27]),
    ("timed", All, &[0, 1]),
    ("timed_send", All, &[1]),
    ("nonblocking", All, &[1, 2]),
    ("told_by_thread", All, &[1]),
    ("told_by_signal", All, &[1]),
    ("told_or_received", All, &[1, 2]),
    ("names", All, &[1]),
    ("locked", All, &[1, 2]),
    ("zero", All, &[1]),
    ("several", All, &[1]),
    ("sem_timed", All, &[0, 1]),
    ("sem_nowait", All, &[0, 1]),
    ("sem_removed", All, &[1, 2]),
    ("counted", All, &[0, 1]),
    ("types", All, &[9]),
    ("any_type", All, &[1, 3]),
    ("message_full", All, &[6]),
    ("keys", All, &[1]),
    ("interrupted", All, &[1, 2]),
    ("from_child", Followed, &[14]),
];

const PUBLISHED: &[Mode] = &[
    ("created", Sampled, &[0, 1]),
    ("posted", Sampled, &[0, 1]),
    ("unlocked", Sampled, &[0, 1]),
    ("write_unlocked", Sampled, &[0, 1]),
    ("spin_unlocked", Sampled, &[0, 1]),
    ("c11_unlocked", Sampled, &[0, 1]),
    ("signalled", Sampled, &[0, 1]),
    ("broadcast", Sampled, &[0, 1]),
    ("woken", Sampled, &[0, 1]),
    ("once_done", Sampled, &[0, 1]),
    ("written", Sampled, &[0, 1]),
    ("written_in_parts", Sampled, &[0, 1]),
    ("sent", Sampled, &[0, 1]),
    ("counted", Sampled, &[0, 1]),
];

/// Stop tokens spin on atomics in their headers, `std::scoped_lock` tries until it has both locks.
const CPP: &[Mode] = &[
    ("condition_any", Brute, &[7]),
    ("stopped_wait", Sampled, &[1, 2]),
    ("stop_callback", Few, &[1, 2, 3]),
    ("latch", Brute, &[2]),
    ("barrier", Brute, &[21]),
    ("barrier_drop", Brute, &[1]),
    ("semaphore_try", Sampled, &[1, 2]),
    ("semaphore_timed", Brute, &[0, 1]),
    ("once_throws", Brute, &[21, 22]),
    ("async_tasks", Brute, &[31]),
    ("future_timed", Brute, &[0, 1]),
    ("promises", Brute, &[14]),
    ("at_thread_exit", Brute, &[21]),
    ("notify_at_thread_exit", Brute, &[1]),
    ("timed_shared", Brute, &[0, 1, 3]),
    ("scoped_locks", Sampled, &[3]),
    ("atomic_wait", Brute, &[1]),
    ("atomic_wait_proxy", Brute, &[1]),
    ("shared_pointer", Sampled, &[1, 2]),
    ("function_static", Brute, &[1]),
    ("sleeps", Brute, &[1, 2]),
    ("polled_stop", Few, &[1]),
    ("packaged", Brute, &[5]),
    ("recursive", Brute, &[0, 1]),
    ("condition_timed", Brute, &[0, 1]),
    ("timed_mutex", Brute, &[0, 1]),
    ("recursive_timed_mutex", Brute, &[0, 1]),
    ("shared_timed_mutex", Brute, &[0, 1]),
];

/// The same where accesses to memory are steps.
const CPP_SEEN: &[Mode] = &[
    ("condition_any", Classes, &[7]),
    ("stopped_wait", Few, &[1, 2]),
    ("stop_callback", Few, &[1, 2, 3]),
    ("latch", Classes, &[2]),
    ("barrier", Few, &[21]),
    ("barrier_drop", Classes, &[1]),
    ("semaphore_try", Classes, &[1, 2]),
    ("semaphore_timed", Classes, &[0, 1]),
    ("once_throws", Classes, &[21, 22]),
    ("async_tasks", Classes, &[31]),
    ("future_timed", Classes, &[0, 1]),
    ("promises", Classes, &[14]),
    ("at_thread_exit", Classes, &[21]),
    ("notify_at_thread_exit", Classes, &[1]),
    ("timed_shared", Classes, &[0, 1, 3]),
    ("scoped_locks", Few, &[3]),
    ("atomic_wait", Classes, &[1]),
    ("atomic_wait_proxy", Classes, &[1]),
    ("shared_pointer", Classes, &[1, 2]),
    ("function_static", Classes, &[1]),
    ("sleeps", Classes, &[1, 2]),
    ("polled_stop", Classes, &[1]),
    ("packaged", Classes, &[5]),
    ("recursive", Classes, &[0, 1]),
    ("condition_timed", Classes, &[0, 1]),
    ("timed_mutex", Classes, &[0, 1]),
    ("recursive_timed_mutex", Classes, &[0, 1]),
    ("shared_timed_mutex", Classes, &[0, 1]),
];

/// The locks of Rust's library are atomics, of which only the futex calls are seen.
const RUST: &[Mode] = &[
    ("scope", Sampled, &[3]),
    ("poison", Sampled, &[1, 2]),
    ("panic_value", Sampled, &[7]),
    ("park", Sampled, &[1]),
    ("park_timeout", Sampled, &[0, 1]),
    ("channel", Sampled, &[12, 21]),
    ("rendezvous", Sampled, &[11]),
    ("try_receive", Sampled, &[0, 2]),
    ("receive_timeout", Sampled, &[0, 2]),
    ("barrier", Sampled, &[1, 2]),
    ("once", Sampled, &[1, 2]),
    ("once_poisoned", Sampled, &[3]),
    ("once_lock", Sampled, &[1, 2]),
    ("lazy", Sampled, &[1]),
    ("read_write", Sampled, &[0, 11]),
    ("condvar", Sampled, &[6]),
    ("condvar_timeout", Sampled, &[0, 1]),
    ("local_dropped", Sampled, &[1]),
    ("weak", Sampled, &[0, 1]),
    ("builder", Sampled, &[1]),
];

const PROGRAMS: &[Program] = &[
    program("published.c", &[], PUBLISHED),
    Program {
        compiler: Compiler::Gxx,
        ..program("cpp20.cpp", CPP20, CPP)
    },
    Program {
        compiler: Compiler::RaddleCxx,
        ..program("cpp20.cpp", CPP20, CPP_SEEN)
    },
    Program {
        compiler: Compiler::Rustc,
        ..program("rust.rs", &[], RUST)
    },
    program("waits.c", &[], WAITS),
    program("futexes.c", &[], FUTEXES),
    program("futexes.c", &["-DRAW"], FUTEXES),
    Program {
        compiler: Compiler::RaddleCc,
        ..program("futexes.c", &[], FUTEXES_SEEN)
    },
    program("shared.c", &[], SHARED),
    program("children.c", &[], CHILDREN),
    program("kernel.c", &[], KERNEL),
    program("asynchronous.c", &[], ASYNCHRONOUS),
    program("queues.c", &[], QUEUES),
    program("memory.c", &[], MEMORY),
    Program {
        compiler: Compiler::RaddleCc,
        ..program("memory.c", &[], MEMORY_SEEN)
    },
    program("exits.c", &[], EXITS),
    Program {
        compiler: Compiler::RaddleCc,
        ..program("exits.c", &[], EXITS_SEEN)
    },
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
            Followed => &["random", "steer"],
            Sampled => &["random", "steer"],
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
    let most = match how {
        Few => "15",
        Followed => "40",
        Sampled => "500",
        All | Brute | Classes => "20000",
    };
    let limits = ["--policy", policy, "-n", most];
    let run = run(&[&options[..], &limits[..]].concat(), program, &[mode]);
    let seen: BTreeSet<String> = run.summary.outcomes.keys().cloned().collect();
    let wanted: BTreeSet<String> = expected.iter().map(|&status| label(status)).collect();
    let findings = &run.summary.findings;
    let kept = || findings.iter().filter(|found| found.witness.is_some());
    let replays = || kept().all(|found| replay_fails(found, &["-q", "-n", "40"]).is_ok());
    let right = match how {
        All | Brute | Classes => seen == wanted && run.summary.complete == Some(true),
        Sampled => seen == wanted,
        Few => !seen.is_empty() && seen.is_subset(&wanted),
        Followed => !seen.is_empty() && seen.is_subset(&wanted) && replays(),
    };
    let signals = expected.iter().filter(|&&status| status > 128);
    let named = |status: &i32| {
        let signal = match *status {
            USER_SIGNAL => "SIGUSR1",
            other => panic!("which signal is {other}?"),
        };
        findings.iter().any(|found| found.message.contains(signal))
    };
    match right && (matches!(how, Few | Followed) || signals.into_iter().all(named)) {
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

/// `verify` shows no outcome that a mode has not; and all of them, unless it says what bounded it.
#[test]
fn verify_reaches_no_other_outcome() {
    let written_in_c =
        |program: &&Program| program.file.ends_with(".c") && program.flags.is_empty();
    let all: Vec<(&Program, &Mode)> = PROGRAMS
        .iter()
        .filter(written_in_c)
        .flat_map(|program| program.modes.iter().map(move |mode| (program, mode)))
        .filter(|(_, mode)| !matches!(mode.1, Few | Followed))
        .collect();
    in_parallel(&all, |&(program, &(mode, _, expected))| {
        let program = Program {
            compiler: Compiler::RaddleCc,
            ..*program
        };
        let options = [
            "verify",
            "--keep-going",
            "--no-shrink",
            "--races",
            "off",
            "--time",
            "3s",
        ];
        let run = run(&options, &program.built(), &[mode]);
        let mut seen: BTreeSet<String> = run.summary.outcomes.keys().cloned().collect();
        seen.remove("diverged");
        let wanted: BTreeSet<String> = expected.iter().map(|&status| label(status)).collect();
        let is_bounded = run.summary.complete != Some(true);
        match seen.is_subset(&wanted) && (is_bounded || seen == wanted) {
            true => Ok(()),
            false => Err(format!("{} {mode}: {}", program.file, run.output.all())),
        }
    });
}
