//! Races: found where they are, whatever the memory orders, and nowhere else; replayed, reported,
//! suppressed.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, raddle, root, run, scratch};
use std::path::PathBuf;
use std::process::Command;

/// The programs of `races/`. Every one has a race that some execution of those below shows, and a
/// twin without.
const PROGRAMS: [&str; 31] = [
    "barrier_late.c",
    "before_join.c",
    "closed_early.c",
    "condition_outside.c",
    "counted_owner.c",
    "ends_of_objects.c",
    "failed_exchange.c",
    "fences.c",
    "free_too_early.c",
    "freed_by_other.c",
    "guessed_read.c",
    "heap_handoff.cpp",
    "library_calls.c",
    "mixed_access.c",
    "neighbours.c",
    "on_stack.c",
    "once_skipped.c",
    "places.c",
    "plain_counter.c",
    "reader_writes.c",
    "relaxed_flag.c",
    "relaxed_load.c",
    "release_sequence.c",
    "remapped.c",
    "semaphore_count.c",
    "semop_attempt.c",
    "slept.c",
    "spin_forgotten.c",
    "static_guard.cpp",
    "timer_set.c",
    "wide_flag.c",
];

fn program(file: &str, flags: &[&str]) -> PathBuf {
    let compiler = match file.ends_with(".cpp") {
        true => Compiler::RaddleCxx,
        false => Compiler::RaddleCc,
    };
    let more: &[&str] = match file {
        "guessed_read.c" => &["-O2"],
        "wide_flag.c" => &["-latomic"],
        _ => &[],
    };
    let flags = [flags, more].concat();
    compile(compiler, &format!("tests/races/{file}"), &flags)
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

/// What functions of the C library do to the memory of an instrumented caller counts, also of one
/// that gcc instrumented.
#[test]
fn races_by_library_calls_are_found() {
    let one = |n| [(n, false), (n, true)].map(|(n, fixed)| [(n, fixed, false), (n, fixed, true)]);
    let cases: Vec<(usize, bool, bool)> = (0..12).flat_map(one).flatten().collect();
    in_parallel(&cases, |&(number, fixed, foreign)| {
        let number = format!("-DCASE={number}");
        let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
        let hooks: &[&str] = if foreign { &["-fsanitize=thread"] } else { &[] };
        let flags = [&[number.as_str(), "-fno-builtin"], repair, hooks].concat();
        let options = ["run", "-n", "20", "--policy", "random", "--races", "fail"];
        let compiler = if foreign {
            Compiler::Gcc
        } else {
            Compiler::RaddleCc
        };
        let program = compile(compiler, "tests/races/library_calls.c", &flags);
        let run = run(&options, &program, &[]);
        let races = run.summary.findings.iter().filter(|f| f.class == "race");
        match (races.count() > 0, run.summary.findings.is_empty()) {
            (true, _) if !fixed => Ok(()),
            (_, true) if fixed => Ok(()),
            _ => Err(format!("{flags:?} {}", run.output.all())),
        }
    });
}

/// The beginning or end of a synchronisation object, or the end of a descriptor, beside its use: in
/// programs with hooks and without, and nothing where they are in order.
#[test]
fn ends_beside_uses_are_races() {
    // File, cases, how many of the first have a race.
    let table: [(&str, usize, usize); 3] = [
        ("ends_of_objects.c", 14, 14),
        ("closed_early.c", 9, 6),
        ("counted_owner.c", 1, 1),
    ];
    let mut cases = Vec::new();
    for (file, all, racy) in table {
        // Both free, and destroy nothing.
        let all = (0..all).filter(|n| (file, *n) != ("ends_of_objects.c", 12));
        for (n, compiler) in all.flat_map(|n| [(n, Compiler::RaddleCc), (n, Compiler::Gcc)]) {
            // What keeps owners in order is not seen without hooks, so nothing is claimed.
            // A spinlock of zeros is held, so it is not taken before it is initialised.
            let odd = [("counted_owner.c", 0), ("ends_of_objects.c", 8)];
            let unseen = odd.contains(&(file, n)) && compiler == Compiler::Gcc;
            cases.push((file, n, compiler, false, n < racy && !unseen));
            cases.push((file, n, compiler, true, false));
        }
    }
    in_parallel(&cases, |&(file, n, compiler, fixed, races)| {
        let case = format!("-DCASE={n}");
        let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
        let flags = [&[case.as_str()], repair].concat();
        let program = compile(compiler, &format!("tests/races/{file}"), &flags);
        let options = [
            "run",
            "-n",
            "60",
            "--policy",
            "random",
            "--seed",
            "2",
            "--keep-going",
            "--no-shrink",
        ];
        let run = run(&options, &program, &[]);
        let reports = &run.summary.reports;
        let as_it_should = match races {
            true => reports.iter().any(|report| report.class == "race"),
            false => reports.is_empty() && run.summary.findings.is_empty(),
        };
        match as_it_should {
            true => Ok(()),
            false => Err(format!(
                "{compiler:?} {flags:?} {file}\n{}",
                run.output.all()
            )),
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

/// What `verify` does not look for in these: objects that end in their use (whose wrong order it finds
/// by itself), and atomics that are weaker than its sections.
const NOT_VERIFIED: [&str; 2] = ["ends_of_objects.c", "wide_flag.c"];

#[test]
fn verify_finds_them_and_invents_none() {
    in_parallel(&PROGRAMS, |file| {
        let options = [
            "verify",
            "-q",
            "--no-shrink",
            "--time",
            "20s",
            "--races",
            "fail",
            "--keep-going",
        ];
        for flags in [&[][..], &["-DFIXED"]] {
            let run = run(&options, &program(file, flags), &[]);
            let told = |class: &str| class == "race" || class == "use-after-free";
            let found = run.summary.findings.iter().any(|f| told(&f.class));
            let expected = flags.is_empty() && !NOT_VERIFIED.contains(file);
            if found != expected || (run.output.status == 66) != expected {
                return Err(format!("{flags:?}: {}\n{}", run.shown, run.output.all()));
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
    for place in [": the stack of main", ": the stack of T1"] {
        let mut reports = run.summary.reports.iter();
        let found = reports.any(|report| report.message.ends_with(place));
        assert!(found, "{place}\n{}", run.output.all());
    }
    let all = run.output.all();
    assert!(all.contains(" by T1.1 are in no order"), "{all}");
}

/// Of each sort of memory; with an argument the owner is not main.
#[test]
fn a_race_says_which_memory_it_is_about() {
    let table: [(usize, &str, &[&str]); 6] = [
        (
            0,
            "thread-local `own` of main",
            &["thread-local `own` of T1"],
        ),
        (
            1,
            "byte 0 of a block of 16 bytes",
            &["the block of 16 bytes was allocated by T1"],
        ),
        (
            2,
            "byte 0 of a mapping of 4096 bytes",
            &["the mapping of 4096 bytes was made by T1"],
        ),
        (3, "`optind`", &[]),
        (4, "on_page`", &[]),
        (5, "byte 4 of `global`", &[]),
    ];
    for (case, message, nested) in table {
        let program = program("places.c", &[&format!("-DCASE={case}")]);
        let options = ["run", "-n", "20", "--policy", "random"];
        let one = run(&options, &program, &[]);
        let mut reports = one.summary.reports.iter();
        let found = reports.any(|report| report.message.contains(message));
        assert!(found, "{message}\n{}", one.output.all());
        let other = run(&options, &program, &["nested"]).output.all();
        for text in nested {
            assert!(other.contains(text), "{text}\n{other}");
        }
    }
}

/// A variable has one report, whether it has a name or is a part of a block, however many pairs of
/// accesses to it race.
#[test]
fn a_variable_is_reported_once() {
    for case in [1, 2, 5] {
        let program = program("places.c", &[&format!("-DCASE={case}"), "-DTWICE"]);
        let options = ["run", "-n", "100", "--policy", "random"];
        let run = run(&options, &program, &[]);
        let said = run.output.all();
        assert_eq!(run.summary.reports.len(), 1, "{case}: {said}");
        assert!(said.contains("on variables that are reported"), "{said}");
    }
}

#[test]
fn the_other_order_is_in_the_witness() {
    let options = ["run", "-n", "10", "--policy", "random", "--races", "fail"];
    // An access after the free ends the execution.
    for (file, end) in [
        ("plain_counter.c", "exit 0"),
        ("freed_by_other.c", "use-after-free"),
    ] {
        let run = run(&options, &program(file, &[]), &[]);
        let witness = run.summary.findings[0].witness.clone().expect("written");
        let mut other = Command::new(raddle());
        let replayed = output(other.args(["replay", "--other"]).arg(&witness), LIMIT);
        assert_eq!(replayed.status, 0, "{}", replayed.all());
        let text = format!("in the other order: {end}");
        assert!(replayed.stderr.contains(&text), "{}", replayed.all());
    }
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
