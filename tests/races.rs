//! Races: found where they are, whatever the memory orders, and nowhere else; replayed, reported,
//! suppressed.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, raddle, root, run, scratch};
use std::path::PathBuf;
use std::process::Command;

/// The programs of `races/`. Every one has a race that some execution of those below shows, and a
/// twin without.
const PROGRAMS: [&str; 23] = [
    "barrier_late.c",
    "before_join.c",
    "condition_outside.c",
    "failed_exchange.c",
    "fences.c",
    "free_too_early.c",
    "heap_handoff.cpp",
    "library_calls.c",
    "mixed_access.c",
    "neighbours.c",
    "on_stack.c",
    "once_skipped.c",
    "plain_counter.c",
    "reader_writes.c",
    "relaxed_flag.c",
    "relaxed_load.c",
    "release_sequence.c",
    "semaphore_count.c",
    "semop_attempt.c",
    "slept.c",
    "spin_forgotten.c",
    "static_guard.cpp",
    "timer_set.c",
];

fn program(file: &str, flags: &[&str]) -> PathBuf {
    let compiler = match file.ends_with(".cpp") {
        true => Compiler::RaddleCxx,
        false => Compiler::RaddleCc,
    };
    compile(compiler, &format!("tests/races/{file}"), flags)
}

#[test]
fn every_file_is_in_the_table() {
    let mut files: Vec<String> = std::fs::read_dir(root().join("tests/races"))
        .expect("the folder can be read")
        .map(|entry| entry.expect("it can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut listed = PROGRAMS.map(str::to_string).to_vec();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn every_race_is_found_and_replayed() {
    in_parallel(&PROGRAMS, |file| {
        // The same seed gives the same executions: found once, it is found always.
        let options = [
            "run", "-n", "64", "--policy", "random", "--seed", "3", "--races", "fail",
        ];
        let run = run(&options, &program(file, &[]), &[]);
        let found = run.summary.findings.first();
        let Some(finding) = found.filter(|f| f.class == "race") else {
            return Err(format!("{}: no race\n{}", run.shown, run.output.all()));
        };
        let witness = finding.witness.clone().expect("there is a witness");
        let mut replay = Command::new(raddle());
        replay.args(["replay", "-q", "-n", "3"]).arg(&witness);
        let replayed = output(&mut replay, LIMIT);
        let mut show = Command::new(raddle());
        let shown = output(show.arg("show").arg(&witness), LIMIT);
        let says = |text: &str| shown.stdout.contains(text);
        let complete = says("are in no order") && says("was created by main") && says(file);
        match (run.output.status, replayed.status, complete) {
            (66, 66, true) => Ok(()),
            got => Err(format!(
                "{}: {got:?}\n{}{}",
                run.shown,
                replayed.all(),
                shown.all()
            )),
        }
    });
}

/// What functions of the C library do to the memory of an instrumented caller counts.
#[test]
fn races_by_library_calls_are_found() {
    let cases: Vec<(usize, bool)> = (0..12).flat_map(|n| [(n, false), (n, true)]).collect();
    in_parallel(&cases, |&(number, fixed)| {
        let number = format!("-DCASE={number}");
        let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
        let flags = [&[number.as_str(), "-fno-builtin"], repair].concat();
        let options = ["run", "-n", "20", "--policy", "random", "--races", "fail"];
        let run = run(&options, &program("library_calls.c", &flags), &[]);
        let races = run.summary.findings.iter().filter(|f| f.class == "race");
        match (races.count() > 0, run.summary.findings.is_empty()) {
            (true, _) if !fixed => Ok(()),
            (_, true) if fixed => Ok(()),
            _ => Err(format!("{flags:?} {}", run.output.all())),
        }
    });
}

#[test]
fn no_race_is_invented() {
    in_parallel(&PROGRAMS, |file| {
        for policy in ["random", "pos", "mix"] {
            let options = [
                "run", "-n", "100", "--policy", policy, "--seed", "5", "--races", "fail",
            ];
            let run = run(&options, &program(file, &["-DFIXED"]), &[]);
            let clean = run.output.status == 0
                && run.summary.verdict == "nothing-found"
                && run.summary.reports.is_empty();
            if !clean {
                return Err(format!("{}\n{}", run.shown, run.output.all()));
            }
        }
        Ok(())
    });
}

/// `plain_counter.c` races in every execution, so what each mode does with it is certain.
#[test]
fn what_becomes_of_a_race() {
    let counter = program("plain_counter.c", &[]);
    let modes: [(&[&str], i32, usize, usize); 4] = [
        (&[], 0, 0, 1),
        (&["--races", "report"], 0, 0, 1),
        (&["--races", "fail"], 66, 1, 0),
        (&["--races", "off"], 0, 0, 0),
    ];
    for (options, status, findings, reports) in modes {
        let all = [&["run", "-n", "10", "--policy", "random"], options].concat();
        run(&all, &counter, &[]).expect(status, findings, reports);
    }
}

#[test]
fn a_race_on_a_stack_says_whose_it_is() {
    let options = ["run", "-n", "20", "--policy", "random"];
    let run = run(&options, &program("on_stack.c", &[]), &[]);
    for place in [
        ": the stack of main",
        ": the stack or thread-local storage of T1",
    ] {
        let mut reports = run.summary.reports.iter();
        let found = reports.any(|report| report.message.ends_with(place));
        assert!(found, "{place}\n{}", run.output.all());
    }
    let all = run.output.all();
    assert!(all.contains(" by T1.1 are in no order"), "{all}");
}

#[test]
fn the_other_order_is_in_the_witness() {
    let options = ["run", "-n", "10", "--policy", "random", "--races", "fail"];
    let run = run(&options, &program("plain_counter.c", &[]), &[]);
    let witness = run.summary.findings[0].witness.clone().expect("written");
    let mut other = Command::new(raddle());
    let replayed = output(other.args(["replay", "--other"]).arg(&witness), LIMIT);
    assert_eq!(replayed.status, 0, "{}", replayed.all());
    assert!(
        replayed.stdout.contains("in the other order"),
        "{}",
        replayed.all()
    );
}

#[test]
fn suppressions_keep_races_quiet_and_are_counted() {
    let counter = program("plain_counter.c", &[]);
    let table = [
        ("race:^add$", true),
        ("race:counter", true),
        ("race:plain_counter.c", true),
        ("race_top:add", true),
        ("race:nothing", false),
        ("thread:add", false),
    ];
    for (n, (rule, covers)) in table.into_iter().enumerate() {
        let file = scratch("suppressions").join(format!("rules-{n}"));
        std::fs::write(&file, format!("# quiet\n{rule}\n")).expect("it can be written");
        let file = file.to_str().expect("a plain path");
        let options = [
            "run",
            "-n",
            "5",
            "--policy",
            "random",
            "--races",
            "fail",
            "--suppressions",
            file,
        ];
        let run = run(&options, &counter, &[]);
        let expected = if covers { (0, 1) } else { (66, 0) };
        let got = (run.output.status, run.summary.suppressed.len());
        assert_eq!(got, expected, "{rule}\n{}", run.output.all());
    }
}
