//! Does each way of ordering two threads count for races: those of C and C++, of POSIX and of Linux
//! (`edges/edges.c` has a row for each, those that go by way of the system in `edges/system.h`)? No search
//! calls the accesses a race that it keeps in order, and each finds the race where the access comes after
//! the release.

mod common;

use common::{Compiler, LIMIT, Run, compile, in_parallel, output, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a row's program behaves (`within` in `edges.c`).
struct Row {
    name: String,
    /// There is a twin that writes too late.
    has_twin: bool,
}

fn program() -> PathBuf {
    let flags = ["-shared", "-fPIC", "-O0"];
    let library = compile(Compiler::RaddleCc, "tests/edges/library.c", &flags);
    let library = format!("-DLIBRARY=\"{}\"", library.display());
    let flags = ["-O0", "-lrt", &library];
    compile(Compiler::RaddleCc, "tests/edges/edges.c", &flags)
}

/// What the program says that it has.
fn rows(program: &Path) -> Vec<Row> {
    let listed = output(&mut Command::new(program), LIMIT);
    let row = |line: &str| {
        let (name, within) = line.split_once(' ').expect("a name and a number");
        Row {
            name: name.to_string(),
            has_twin: matches!(within, "0" | "2"),
        }
    };
    let rows: Vec<Row> = listed.stdout.lines().map(row).collect();
    assert!(rows.len() > 80, "{}", listed.all());
    rows
}

fn races(run: &Run) -> bool {
    run.summary.findings.iter().any(|f| f.class == "race")
}

#[test]
fn no_edge_is_missing() {
    let program = program();
    let searches: [&[&str]; 3] = [
        &["run", "-n", "30", "--leaked-threads", "off"],
        &[
            "run",
            "--policy",
            "dpor",
            "-n",
            "30",
            "--leaked-threads",
            "off",
        ],
        &["verify", "--time", "5s"],
    ];
    in_parallel(&rows(&program), |row| {
        for search in searches {
            let options = [search, &["--no-shrink", "--races", "fail"]].concat();
            let run = run(&options, &program, &[&row.name]);
            if run.output.status == 66 || !run.summary.findings.is_empty() {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

#[test]
fn an_access_after_the_release_races() {
    let program = program();
    let rows = rows(&program);
    let twins: Vec<&Row> = rows.iter().filter(|row| row.has_twin).collect();
    in_parallel(&twins, |row| {
        let options = ["run", "-n", "100", "--no-shrink", "--races", "fail"];
        let run = run(&options, &program, &[&row.name, "late"]);
        match run.output.status == 66 && races(&run) {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

/// The first thread to come initialises the variable, and each of the others only looks at its guard.
#[test]
fn a_guard_orders_every_thread_that_looks_at_it() {
    for level in ["-O0", "-O1", "-O2"] {
        let program = compile(Compiler::RaddleCxx, "tests/edges/guard.cpp", &[level]);
        for search in [&["run", "-n", "300"][..], &["verify"]] {
            let options = [search, &["--races", "fail"]].concat();
            run(&options, &program, &[]).expect(0, 0, 0);
        }
    }
}
