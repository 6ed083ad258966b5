//! Functions of the C library in symbolic runs (`models/`): `verify` must reach exactly the exit
//! statuses that all inputs together have, and name what it cannot follow.

mod common;

use common::{Compiler, Run, compile, in_parallel, output, run};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

const SOURCE: &str = "tests/models/scenarios.c";

/// Scenarios with the number of input bytes.
const SCENARIOS: [(u32, u32); 10] = [
    (1, 3),
    (2, 2),
    (3, 3),
    (4, 3),
    (5, 2),
    (6, 3),
    (7, 2),
    (8, 1),
    (9, 2),
    (10, 3),
];

fn brute_force(flags: &[&str]) -> BTreeSet<String> {
    let program = compile(Compiler::Gcc, SOURCE, &[flags, &["-DBRUTE", "-w"]].concat());
    let ran = output(&mut Command::new(program), Duration::from_secs(100));
    assert_eq!(ran.status, 0, "{}", ran.all());
    let (_, last) = ran
        .stdout
        .rsplit_once("statuses:\n")
        .expect("they are told");
    last.lines().map(str::to_owned).collect()
}

fn verify(flags: &[&str]) -> Run {
    let program = compile(Compiler::RaddleCc, SOURCE, &[flags, &["-w"]].concat());
    run(&["verify", "--keep-going", "--no-shrink"], &program, &[])
}

#[test]
fn verify_reaches_what_all_inputs_reach() {
    let mut cases = Vec::new();
    for (scenario, bytes) in SCENARIOS {
        for level in ["-O0", "-O2"] {
            cases.push((scenario, bytes, level));
        }
    }
    in_parallel(&cases, |&(scenario, bytes, level)| {
        let (scenario, bytes) = (format!("-DSCENARIO={scenario}"), format!("-DBYTES={bytes}"));
        let flags = [scenario.as_str(), &bytes, level];
        let all = brute_force(&flags);
        let found = verify(&flags);
        let seen: BTreeSet<String> = found.summary.outcomes.keys().cloned().collect();
        let limits = (&found.summary.bounds, &found.summary.concretised);
        if seen != all || limits != (&vec![], &vec![]) {
            return Err(format!(
                "{}: {seen:?} instead of {all:?}, {limits:?}",
                found.shown
            ));
        }
        Ok(())
    });
}

#[test]
fn a_function_without_a_model_is_named() {
    let found = verify(&["-DSCENARIO=11", "-DBYTES=1", "-O1"]);
    assert_eq!(found.summary.verdict, "verified-within-bounds");
    let named = format!("{:?}", found.summary.concretised);
    assert!(
        named.contains("strverscmp"),
        "{named}\n{}",
        found.output.all()
    );
}
