//! Programs at fixed addresses (not position-independent) that keep pointers in 32 bits: their main
//! thread's blocks lie low, as natively.

mod common;

use common::{Compiler, compile, in_parallel, replay_fails, run};
use std::path::PathBuf;

const PROGRAM: &str = "tests/low/pointers.c";
const COMPILERS: [Compiler; 2] = [Compiler::Gcc, Compiler::RaddleCc];
const LINKED: [&str; 2] = ["-no-pie", "-Wl,-no-pie"];
const NOT_LOW: &str = "a heap above 4 GiB in a program at fixed addresses";

fn programs(more: &[&str]) -> Vec<PathBuf> {
    let flags = |linked| [&[linked], more].concat();
    let all = COMPILERS.map(|c| LINKED.map(|linked| compile(c, PROGRAM, &flags(linked))));
    all.into_iter().flatten().collect()
}

#[test]
fn pointers_fit_into_32_bits() {
    let ways: [&[&str]; 5] = [
        &[],
        &["--no-snapshots"],
        &["--no-rewind"],
        &["--threads", "kernel"],
        &["--policy", "random"],
    ];
    in_parallel(&programs(&[]), |program| {
        for args in [&[][..], &["signed"], &["large"]] {
            for way in ways {
                let run = run(&[&["run", "-n", "50"], way].concat(), program, args);
                let all = run.output.all();
                if run.output.status != 0 || all.contains(NOT_LOW) {
                    return Err(format!("{args:?} {way:?}: {all}"));
                }
            }
        }
        Ok(())
    });
}

/// With the same accesses to the heap as in a program at other addresses: it is seen as shared.
#[test]
fn such_programs_are_explored_and_verified() {
    for linked in LINKED {
        let program = compile(Compiler::RaddleCc, PROGRAM, &[linked]);
        run(&["run", "--policy", "dpor"], &program, &[]).expect(0, 0, 0);
        run(&["verify"], &program, &[]).expect(0, 0, 0);
    }
}

/// In the same way with and without copies, and again by the witness.
#[test]
fn their_bugs_are_found_and_replayed() {
    let program = compile(Compiler::RaddleCc, PROGRAM, &["-no-pie", "-DBUG"]);
    for command in [&["verify"][..], &["run"], &["run", "--policy", "pcb"]] {
        let all = [&[][..], &["--no-snapshots"], &["--no-rewind"]].map(|way| {
            let found = run(&[command, way].concat(), &program, &[]);
            found.expect(66, 1, 0);
            let finding = &found.summary.findings[0];
            replay_fails(finding, &["-n", "20"]).unwrap();
            (finding.fingerprint.clone(), finding.execution)
        });
        assert!(all.iter().all(|one| *one == all[0]), "{command:?}: {all:?}");
    }
}

/// What does not fit in lies high, as natively, and is named.
#[test]
fn where_there_is_no_room_it_is_named() {
    let full = compile(Compiler::Gcc, PROGRAM, &["-no-pie"]);
    let big = compile(Compiler::Gcc, PROGRAM, &["-no-pie", "-DBIG"]);
    let pie = compile(Compiler::Gcc, PROGRAM, &["-pie", "-fPIE", "-DBIG"]);
    for (program, args, named) in [
        (full, &["full"][..], true),
        (big, &[], true),
        (pie, &[], false),
    ] {
        let run = run(&["run", "-n", "3"], &program, args);
        run.expect(0, 0, 0);
        let told = run
            .summary
            .uncontrolled
            .iter()
            .any(|name| name.starts_with(NOT_LOW));
        assert_eq!(told, named, "{}", run.output.all());
    }
}
