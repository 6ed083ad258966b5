//! `raddle verify` on programs with threads and static objects of C++.

mod common;

use common::{Compiler, compile, in_parallel, run};
use std::path::PathBuf;

fn program(scenario: u32, level: &str, broken: bool) -> PathBuf {
    let scenario = format!("-DSCENARIO={scenario}");
    let bug = if broken { "-DBUG" } else { "-DFIXED" };
    let flags = [scenario.as_str(), level, bug, "-std=c++20"];
    compile(Compiler::RaddleCxx, "tests/cpp/threads.cpp", &flags)
}

/// Number in threads.cpp, and what of the library limits the verdict, if anything does.
const SCENARIOS: &[(u32, Option<&str>)] = &[
    (1, None),
    (2, None),
    (3, None),
    (4, None),
    (5, None),
    (6, Some("basic_ostringstream")),
    (7, None),
    (8, None),
    (9, None),
    (10, None),
    (11, None),
    (12, None),
    (13, None),
    (14, None),
];

#[test]
fn threads_of_cpp_are_verified_or_what_is_not_followed_is_named() {
    let mut cases = Vec::new();
    for row in SCENARIOS {
        for level in ["-O0", "-O2"] {
            cases.extend([false, true].map(|broken| (row, level, broken)));
        }
    }
    in_parallel(&cases, |&(&(scenario, named), level, broken)| {
        let program = program(scenario, level, broken);
        let run = run(&["verify", "--races", "off"], &program, &[]);
        let summary = &run.summary;
        let limits = format!("{:?} {:?}", summary.bounds, summary.concretised);
        let right = match (broken, named) {
            (true, _) => summary.verdict == "finding",
            (false, None) => summary.verdict == "verified",
            (false, Some(name)) => {
                summary.verdict == "verified-within-bounds" && limits.contains(name)
            }
        };
        match right {
            true => Ok(()),
            false => Err(format!("{scenario} {level} {broken}: {}", run.output.all())),
        }
    });
}

#[test]
fn verify_sees_the_outcomes_of_all_interleavings() {
    let mut cases = Vec::new();
    for (scenario, named) in SCENARIOS {
        if named.is_none() {
            cases.extend([false, true].map(|broken| (*scenario, broken)));
        }
    }
    in_parallel(&cases, |&(scenario, broken)| {
        let program = program(scenario, "-O1", broken);
        let outcomes = |command: &[&str]| {
            let options = [
                command,
                &["--races", "off", "--keep-going", "--no-shrink"][..],
            ]
            .concat();
            let run = run(&options, &program, &[]);
            let seen: Vec<String> = run.summary.outcomes.keys().cloned().collect();
            let whole = ["explored", "verified", "finding"].contains(&run.summary.verdict.as_str());
            (seen, whole, run.output.all())
        };
        let all = outcomes(&["run", "--policy", "dpor", "-n", "100000"]);
        let seen = outcomes(&["verify"]);
        match all.0 == seen.0 && all.1 && seen.1 {
            true => Ok(()),
            false => Err(format!("{scenario} {broken}: {}\n{}", all.2, seen.2)),
        }
    });
}
