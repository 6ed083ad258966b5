//! OpenMP programs by gcc and by clang run under control, barriers and locks included: bugs of
//! their synchronisation are found and replay, repaired twins show nothing.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, raddle, run};
use std::process::Command;

/// Program, by whom, and the class of its bug.
const BUGS: &[(&str, Compiler, &str)] = &[
    ("lock_order", Compiler::Gcc, "deadlock"),
    ("check_then_act", Compiler::Gcc, "assertion"),
    ("missing_barrier", Compiler::Gcc, "assertion"),
    ("lost_update", Compiler::RaddleCc, "assertion"),
    ("lock_order", Compiler::RaddleCc, "deadlock"),
    ("check_then_act", Compiler::RaddleCc, "assertion"),
    ("missing_barrier", Compiler::RaddleCc, "assertion"),
];

/// Executions of a program without a bug, over the substrates.
const CLEAN: &[(&str, Compiler)] = &[
    ("lock_order", Compiler::Gcc),
    ("check_then_act", Compiler::Gcc),
    ("missing_barrier", Compiler::Gcc),
    ("lost_update", Compiler::Gcc),
    ("constructs", Compiler::Gcc),
    ("lost_update", Compiler::RaddleCc),
    ("lock_order", Compiler::RaddleCc),
    ("check_then_act", Compiler::RaddleCc),
    ("missing_barrier", Compiler::RaddleCc),
];

fn program(name: &str, compiler: Compiler, more: &[&str]) -> std::path::PathBuf {
    let flags = [&["-fopenmp"], more].concat();
    compile(compiler, &format!("tests/openmp/{name}.c"), &flags)
}

#[test]
fn bugs_are_found_and_replay() {
    in_parallel(BUGS, |&(name, compiler, class)| {
        let program = program(name, compiler, &[]);
        let run = run(&["run", "-n", "2000", "--seed", "1"], &program, &[]);
        let Some(finding) = run.summary.findings.first() else {
            return Err(format!("{}: nothing\n{}", run.shown, run.output.all()));
        };
        if finding.class != class {
            return Err(format!("{}: {finding:?}\n{}", run.shown, run.output.all()));
        }
        let witness = finding.witness.as_ref().ok_or("no witness")?;
        let mut again = Command::new(raddle());
        again.args(["replay", "-q", "-n", "20"]).arg(witness);
        let again = output(&mut again, LIMIT);
        match again.status {
            66 => Ok(()),
            _ => Err(format!("{name}: {}", again.all())),
        }
    });
}

/// Threads of clang's OpenMP spin in it although they are told to sleep.
#[test]
fn waits_in_the_library_end() {
    let program = program("constructs", Compiler::RaddleCc, &["-DFIXED"]);
    let options = ["-n", "10", "--seed", "3", "--races", "off"];
    let run = run(
        &[&["run", "--timeout", "120s"], &options[..]].concat(),
        &program,
        &[],
    );
    let clean = run.summary.outcomes.keys().eq(["exit 0"].iter());
    assert!(clean, "{}\n{}", run.shown, run.output.all());
}

#[test]
fn programs_without_a_bug_show_nothing() {
    let cases: Vec<_> = CLEAN
        .iter()
        .flat_map(|case| ["fiber", "kernel"].map(|threads| (case, threads)))
        .collect();
    in_parallel(&cases, |&((name, compiler), threads)| {
        let program = program(name, *compiler, &["-DFIXED"]);
        let options = ["-n", "150", "--seed", "3", "--threads", threads];
        let leaks = ["run", "--leaked-threads", "fail"];
        let run = run(&[&leaks[..], &options].concat(), &program, &[]);
        let clean = run.summary.verdict == "nothing-found"
            && run.summary.outcomes.keys().eq(["exit 0"].iter())
            && run.output.status == 0;
        match clean {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

/// OpenMP's library may order what no record shows: a race beside it is possible, never a finding.
#[test]
fn races_beside_the_library_are_only_possible() {
    for mode in ["report", "fail"] {
        let program = program("lost_update", Compiler::RaddleCc, &[]);
        let options = [
            "run", "-n", "1", "--policy", "rr", "--races", mode, "--seed", "1",
        ];
        let run = run(&options, &program, &[]);
        let summary = &run.summary;
        let sure = summary.findings.iter().chain(&summary.reports);
        assert_eq!(
            sure.filter(|f| f.class == "race").count(),
            0,
            "{}",
            run.output.all()
        );
        let possible: Vec<_> = summary
            .possibilities
            .iter()
            .filter(|p| p.class == "race")
            .collect();
        assert!(!possible.is_empty(), "{}", run.output.all());
        for race in possible {
            let places = race.places.iter().all(|p| p.starts_with("lost_update.c:"));
            assert!(places, "{race:?}");
            let why = race
                .message
                .ends_with("may order them in a way that is not seen");
            assert!(why, "{race:?}");
        }
    }
}
