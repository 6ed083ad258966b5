//! Families of calls: is a mistake in their use found, and nothing in the repaired twin?

mod common;

use common::{Compiler, compile, in_parallel, root, run};

/// One program of `families/`, and what is found in it.
struct Case {
    file: &'static str,
    compiler: Compiler,
    flags: &'static [&'static str],
    /// The finding may be of any of these classes.
    classes: &'static [&'static str],
}

const fn case(file: &'static str, compiler: Compiler, classes: &'static [&'static str]) -> Case {
    Case {
        file,
        compiler,
        flags: &[],
        classes,
    }
}

use Compiler::{Gcc, Gxx, Rustc};

const CASES: &[Case] = &[
    // Signals.
    case("pause_race.c", Gcc, &["deadlock"]),
    case("handler_lock.c", Gcc, &["deadlock"]),
    case("interrupted_wait.c", Gcc, &["assertion"]),
    case("signal_values.c", Gcc, &["assertion"]),
    // Timers.
    case("timer_thread.c", Gcc, &["assertion"]),
    case("timers.c", Gcc, &["assertion"]),
    // Objects that are more than their simplest kind.
    case("robust.c", Gcc, &["assertion"]),
    case("named_semaphore.c", Gcc, &["assertion"]),
    case("futex_inherit.c", Gcc, &["deadlock"]),
    case("join_ring.c", Gcc, &["deadlock"]),
    case("static_guard.cpp", Gxx, &["deadlock"]),
    // Libraries of other languages.
    Case {
        flags: &["-std=c++20"],
        ..case("cpp20.cpp", Gxx, &["assertion"])
    },
    case("rust_std.rs", Rustc, &["deadlock"]),
];

/// Executions within which the mistake must be found, far more than are needed with any seed.
const WITHIN: &str = "20000";
/// Executions of a repaired twin.
const TWIN: &str = "300";
/// How threads are switched.
const SUBSTRATES: [&str; 2] = ["fiber", "kernel"];

/// Every case on every substrate.
fn on_both() -> Vec<(&'static Case, &'static str)> {
    let both = |case| SUBSTRATES.map(|threads| (case, threads));
    CASES.iter().flat_map(both).collect()
}

impl Case {
    fn program(&self, fixed: bool) -> std::path::PathBuf {
        let mut flags = self.flags.to_vec();
        if fixed {
            flags.extend(match self.compiler {
                Rustc => &["--cfg", "fixed"][..],
                _ => &["-DFIXED"],
            });
        }
        compile(
            self.compiler,
            &format!("tests/families/{}", self.file),
            &flags,
        )
    }
}

#[test]
fn every_file_is_in_the_table() {
    let files = std::fs::read_dir(root().join("tests/families")).expect("the folder is there");
    for file in files {
        let name = file.expect("it can be read").file_name();
        assert!(
            CASES.iter().any(|case| *case.file == *name),
            "{name:?} has no row"
        );
    }
}

#[test]
fn mistakes_are_found() {
    in_parallel(&on_both(), |(case, threads)| {
        let options = [
            "run",
            "-n",
            WITHIN,
            "--seed",
            "1",
            "--no-shrink",
            "--early-timeouts=fail",
            "--threads",
            threads,
        ];
        let run = run(&options, &case.program(false), &[]);
        match run.summary.findings.first() {
            Some(finding) if case.classes.contains(&finding.class.as_str()) => Ok(()),
            _ => Err(format!("{}: {}", run.shown, run.output.all())),
        }
    });
}

#[test]
fn repaired_twins_show_nothing() {
    in_parallel(&on_both(), |(case, threads)| {
        let options = ["run", "-n", TWIN, "--seed", "1", "--threads", threads];
        let run = run(&options, &case.program(true), &[]);
        match run.output.status {
            0 => Ok(()),
            _ => Err(format!("{}: {}", run.shown, run.output.all())),
        }
    });
}

#[test]
fn a_finding_with_handlers_and_timers_replays() {
    for file in ["pause_race.c", "timer_thread.c"] {
        let found = CASES.iter().find(|case| case.file == file);
        let program = found.expect("a row").program(false);
        for threads in SUBSTRATES {
            let options = ["run", "-n", WITHIN, "--seed", "3", "--threads", threads];
            let options = [&options[..], &["--early-timeouts=fail"]].concat();
            let run = run(&options, &program, &[]);
            let finding = run.summary.findings.first().expect("a finding");
            let witness = finding.witness.clone().expect("a witness");
            let mut command = std::process::Command::new(common::raddle());
            command.args(["replay", "-q", "-n", "20"]).arg(&witness);
            let replayed = common::output(&mut command, common::LIMIT);
            assert_eq!(replayed.status, 66, "{}", replayed.all());
        }
    }
}
