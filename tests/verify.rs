//! `raddle verify` beyond its verdict: what it keeps, and what it goes on from.

mod common;

use common::{Compiler, LIMIT, Output, Random, compile, empty, output, raddle, run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A program under a name of its own: a witness is for programs of its program's name.
fn named(program: &Path, dir: &Path) -> PathBuf {
    std::fs::create_dir_all(dir).expect("the folder can be made");
    let copy = dir.join("program");
    std::fs::copy(program, &copy).expect("the program can be copied");
    copy
}

fn kept(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn is_path(file: &Path) -> bool {
    file.to_string_lossy().contains("program-path-")
}

fn replay(options: &[&str], files: &[PathBuf]) -> Output {
    let mut command = Command::new(raddle());
    output(command.arg("replay").args(options).args(files), LIMIT)
}

/// Expects of a replay this exit code and, for each file, a line with its verdict.
fn expect(said: &Output, status: i32, files: &[PathBuf], last: &str) {
    assert_eq!(said.status, status, "{}", said.all());
    let mut lines = said.stderr.lines();
    for file in files {
        let named = lines.any(|line| line == file.to_string_lossy());
        let verdict = lines.next().unwrap_or_default();
        assert!(named && verdict.starts_with("raddle: "), "{}", said.all());
    }
    assert_eq!(said.stderr.lines().last(), Some(last), "{}", said.all());
}

#[test]
fn findings_and_paths_are_kept_as_tests() {
    let dir = empty("verify-kept");
    let compiled = compile(Compiler::RaddleCc, "examples/mpc_figure8.c", &[]);
    let program = named(&compiled, &dir.join("bin"));
    let tests = dir.join("tests");
    let options = [
        "verify",
        "--keep-going",
        "--keep",
        tests.to_str().expect("text"),
    ];
    let found = run(&options, &program, &[]);
    assert_eq!(found.output.status, 66, "{}", found.output.all());
    let files = kept(&tests);
    let (paths, findings): (Vec<PathBuf>, Vec<PathBuf>) =
        files.iter().cloned().partition(|file| is_path(file));
    // One for each of the three local paths of thread 1: what the finding shows is the third.
    assert_eq!((paths.len(), findings.len()), (2, 1), "{files:?}");

    let last = "raddle: 3 witnesses, 2 without a failure, 1 failed";
    expect(&replay(&[], &files), 66, &files, last);
    let last = "raddle: 2 witnesses, 2 without a failure";
    expect(&replay(&["-n", "3"], &paths), 0, &paths, last);

    let alone = replay(&[], &paths[..1]);
    assert_eq!(alone.status, 0, "{}", alone.all());
    let says = "took the same path again, without a failure (1 of 1 replays";
    assert!(alone.stderr.contains(says), "{}", alone.all());

    let broken = dir.join("broken");
    std::fs::write(&broken, "no witness").expect("the file can be written");
    let with_broken = [&[broken][..], &paths].concat();
    let last = "raddle: 3 witnesses, 2 without a failure, 1 could not be replayed";
    let said = replay(&[], &with_broken);
    assert_eq!(said.status, 65, "{}", said.all());
    assert_eq!(said.stderr.lines().last(), Some(last), "{}", said.all());
    for option in ["--gdb", "--other", "--json=x"] {
        let refused = replay(&[option], &paths);
        assert_eq!(refused.status, 64, "{}", refused.all());
    }
}

/// The second execution shows what is shared. What the first one kept is kept until the search, which
/// begins again, has come to its end.
#[test]
fn what_was_kept_stays_where_a_search_that_began_again_is_stopped() {
    let dir = empty("verify-kept-early");
    let flags = ["-DWHEN=1", "-O0"];
    let program = compile(Compiler::RaddleCc, "tests/verify/late_library.c", &flags);
    for (most, wanted) in [("2", 1), ("100", 2)] {
        let tests = dir.join(most);
        let keep = ["--keep", tests.to_str().expect("text")];
        let options = ["verify", "--races", "off", "--max-executions", most];
        let run = run(&[&options[..], &keep].concat(), &program, &[]);
        assert_eq!(kept(&tests).len(), wanted, "{}", run.output.all());
    }
}

#[test]
fn accepted_exit_statuses_are_no_findings() {
    let dir = empty("verify-accepted");
    let (file, include) = ("tests/verify/statuses.c", "-Iexamples/include");
    let program = named(&compile(Compiler::RaddleCc, file, &[include]), &dir);
    let tests = dir.join("tests");
    // Options; exit code, findings, kept paths.
    let cases: [(&[&str], i32, &[&str], usize); 4] = [
        (
            &[],
            66,
            &["exit status 1", "exit status 2", "exit status 3"],
            1,
        ),
        (
            &["--accept-exit", "2"],
            66,
            &["exit status 1", "exit status 3"],
            2,
        ),
        (&["--accept-exit", "1,3", "--accept-exit", "2"], 0, &[], 4),
        (&["--accept-exit", "1,2,4"], 66, &["exit status 3"], 3),
    ];
    for (accepted, status, messages, paths) in cases {
        let _ = std::fs::remove_dir_all(&tests);
        let keep = tests.to_str().expect("text");
        let options = [&["verify", "--keep-going", "--keep", keep], accepted].concat();
        let found = run(&options, &program, &[]);
        assert_eq!(
            found.output.status,
            status,
            "{accepted:?}\n{}",
            found.output.all()
        );
        let mut said: Vec<&str> = found.summary.findings.iter().map(|f| &*f.message).collect();
        said.sort_unstable();
        assert_eq!(said.len(), messages.len(), "{}", found.output.all());
        assert!(
            said.iter()
                .zip(messages)
                .all(|(said, end)| said.ends_with(end)),
            "{said:?}"
        );
        for n in 0..4 {
            let label = format!("exit {n}");
            assert_eq!(
                found.summary.outcomes.get(&label),
                Some(&1),
                "{}",
                found.output.all()
            );
        }
        let files = kept(&tests);
        let kept: Vec<PathBuf> = files.into_iter().filter(|f| is_path(f)).collect();
        assert_eq!(kept.len(), paths, "{}", found.output.all());
        // What was accepted is known from the file.
        for file in &kept {
            let said = replay(&["--quiet"], std::slice::from_ref(file));
            assert_eq!(said.status, 0, "{}", said.all());
        }
    }
    let plain = compile(Compiler::Gcc, file, &["-DALWAYS", include]);
    for (accepted, status) in [("3", 0), ("0,1,2,255", 66)] {
        let found = run(&["run", "-n", "20", "--accept-exit", accepted], &plain, &[]);
        assert_eq!(found.output.status, status, "{}", found.output.all());
    }
}

/// The paths of the repaired program, taken by the one with the bug.
#[test]
fn a_kept_path_that_fails_later_is_a_finding() {
    let dir = empty("verify-regression");
    let build = |flags: &[&str], name: &str| {
        let compiled = compile(Compiler::RaddleCc, "tests/verify/late.c", flags);
        named(&compiled, &dir.join(name))
    };
    let fixed = build(&[], "fixed");
    let tests = dir.join("tests");
    let options = ["verify", "--keep", tests.to_str().expect("text")];
    let proof = run(&options, &fixed, &[]);
    assert_eq!(proof.output.status, 0, "{}", proof.output.all());
    let files = kept(&tests);
    assert!(files.iter().all(|file| is_path(file)), "{files:?}");
    assert_eq!(files.len(), 2, "{files:?}");
    let passed = replay(&[], &files);
    assert_eq!(passed.status, 0, "{}", passed.all());

    let broken = build(&["-DBUG"], "broken");
    let junit = dir.join("junit.xml");
    let options = ["--program", broken.to_str().expect("text"), "--junit"];
    let options = [&options[..], &[junit.to_str().expect("text")]].concat();
    let said = replay(&options, &files);
    assert_eq!(said.status, 66, "{}", said.all());
    assert!(
        said.stderr.contains("raddle: failed: assertion: "),
        "{}",
        said.all()
    );
    let xml = std::fs::read_to_string(&junit).expect("the file is written");
    assert_eq!(xml.matches("<testcase ").count(), files.len(), "{xml}");
    assert!(xml.contains("<failure "), "{xml}");
}

/// Jobs in the only journal of a corpus directory.
fn jobs(corpus: &Path) -> usize {
    let is_journal = |file: &PathBuf| file.extension().is_some_and(|e| e == "journal");
    let journals: Vec<PathBuf> = match corpus.is_dir() {
        true => kept(corpus).into_iter().filter(is_journal).collect(),
        false => Vec::new(),
    };
    assert!(journals.len() <= 1, "{journals:?}");
    let Some(journal) = journals.first() else {
        return 0;
    };
    let text = std::fs::read_to_string(journal).expect("the journal can be read");
    text.matches('\n').count()
}

#[test]
fn a_killed_verification_goes_on() {
    let program = compile(Compiler::RaddleCc, "tests/paper/figure9.c", &["-DFIXED"]);
    let dir = empty("verify-corpus");
    let whole = run(&["verify"], &program, &["3"]);
    assert_eq!(whole.output.status, 0, "{}", whole.output.all());

    let corpus = dir.join("corpus");
    let options = ["verify", "--corpus", corpus.to_str().expect("text")];
    let mut random = Random(11);
    let mut before = 0;
    for _ in 0..10 {
        let mut child = Command::new(raddle())
            .args(options)
            .arg("--")
            .arg(&program)
            .arg("3")
            .current_dir(&dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("raddle starts");
        std::thread::sleep(Duration::from_millis(random.below(400) as u64));
        // It may have come to its end.
        let _ = child.kill();
        child.wait().expect("it can be waited for");
        let now = jobs(&corpus);
        assert!(now >= before, "{before} jobs have become {now}");
        before = now;
    }
    let end = run(&options, &program, &["3"]);
    assert_eq!(end.output.status, 0, "{}", end.output.all());
    assert_eq!(end.summary.verdict, "verified");
    assert_eq!(end.summary.local_paths, whole.summary.local_paths);
    let all = jobs(&corpus);
    assert_eq!(end.summary.executions, all as u64);

    // At the end there is nothing to add.
    let again = run(&options, &program, &["3"]);
    assert_eq!(again.summary.verdict, "verified");
    assert_eq!((again.summary.executions, jobs(&corpus)), (all as u64, all));
    let said = format!("{all} executions of earlier runs were done again");
    assert!(again.summary.notes.contains(&said), "{:?}", again.summary);
}

#[test]
fn a_verification_in_pieces_finds_the_same() {
    let program = compile(Compiler::RaddleCc, "examples/mpc_figure2.c", &["-DEXTRA=3"]);
    let dir = empty("verify-pieces");
    let corpus = dir.join("corpus");
    let corpus = corpus.to_str().expect("text");
    let mut statuses = Vec::new();
    for n in 1..30 {
        let most = n.to_string();
        let options = ["verify", "--corpus", corpus, "--max-executions", &most];
        let piece = run(&options, &program, &[]);
        statuses.push(piece.output.status);
        if piece.output.status == 66 {
            assert_eq!(piece.summary.findings[0].class, "crash");
            // Another program, and other bounds, are another search.
            let other = [&options[..], &["--loop-bound", "200"]].concat();
            let other = run(&other, &program, &[]);
            let goes_on = |note: &String| note.contains("of earlier runs");
            assert!(
                !other.summary.notes.iter().any(goes_on),
                "{:?}",
                other.summary
            );
            let mixed = ["verify", "--corpus", corpus, "--strategy", "mpc-s2"];
            let mut command = Command::new(raddle());
            command.args(mixed).arg("--").arg(&program);
            assert_eq!(output(&mut command, LIMIT).status, 64);
            assert!(statuses.len() > 2, "{statuses:?}");
            return;
        }
        assert_eq!(piece.output.status, 69, "{}", piece.output.all());
    }
    panic!("the crash is not found: {statuses:?}");
}

/// Verifies a program built with these flags, which ends with this status, in so many executions at
/// most.
fn verify_built(compiler: Compiler, source: &str, flags: &[&str], status: i32, most: u64) {
    let program = compile(compiler, source, flags);
    let run = run(&["verify", "--races", "off", "--no-shrink"], &program, &[]);
    let said = || format!("{source} {flags:?}: {}", run.output.all());
    assert_eq!(run.output.status, status, "{}", said());
    assert!(!run.summary.outcomes.contains_key("livelock"), "{}", said());
    assert!(run.summary.executions <= most, "{}", said());
}

/// Long computations in memory of one thread are neither steps nor waits, whatever was expected.
#[test]
fn what_one_thread_does_alone_bounds_nothing() {
    let source = "tests/verify/long_local.c";
    for (rounds, optimised, most) in [
        (2, "-O1", 2),
        (100, "-O1", 4),
        (300_000, "-O1", 4),
        (300_000, "-O0", 5),
    ] {
        let rounds_are = format!("-DROUNDS={rounds}");
        let flags = [&rounds_are[..], optimised, "-DFIXED"];
        let status = if rounds > 63 { 66 } else { 0 };
        verify_built(Compiler::RaddleCc, source, &flags, 0, most);
        verify_built(Compiler::RaddleCc, source, &flags[..2], status, most);
    }
}

#[test]
fn detached_threads_may_outlive_main() {
    let source = "tests/verify/main_leaves.c";
    verify_built(Compiler::RaddleCc, source, &[], 0, 4);
    verify_built(Compiler::RaddleCc, source, &["-DBUGGY"], 66, 4);
}

#[test]
fn whoever_comes_after_an_exception_initialises() {
    for how in ["-DHOW=0", "-DHOW=1"] {
        for optimised in ["-O0", "-O2"] {
            let flags = [how, optimised, "-DBUGGY"];
            let source = "tests/verify/throwing.cpp";
            verify_built(Compiler::RaddleCxx, source, &flags[..2], 0, 8);
            verify_built(Compiler::RaddleCxx, source, &flags, 66, 8);
        }
    }
}

#[test]
fn futures_hand_over_values_and_exceptions() {
    let source = "tests/verify/futures.cpp";
    let cases = [("-O0", 8), ("-O2", 16), ("-O0", 16), ("-O2", 8), ("-O0", 8)];
    for (how, (optimised, most)) in cases.into_iter().enumerate() {
        let how = format!("-DHOW={how}");
        let flags = [&how[..], optimised, "-DBUGGY"];
        verify_built(Compiler::RaddleCxx, source, &flags[..2], 0, most);
        verify_built(Compiler::RaddleCxx, source, &flags, 66, most);
    }
}

#[test]
fn what_the_c_library_stores_is_a_step() {
    for how in 0..6 {
        let how = format!("-DHOW={how}");
        for optimised in ["-O0", "-O2"] {
            for (wanted, status) in [("-DSEEN=0", 66), ("-DSEEN=1", 66), ("-DFIXED", 0)] {
                let flags = [&how[..], optimised, wanted];
                verify_built(
                    Compiler::RaddleCc,
                    "tests/verify/stored.c",
                    &flags,
                    status,
                    8,
                );
            }
        }
    }
}

#[test]
fn what_the_c_library_reads_is_a_step() {
    for how in 0..=7 {
        let how = format!("-DHOW={how}");
        for optimised in ["-O0", "-O2"] {
            for (wanted, status) in [("-DSEEN=0", 66), ("-DSEEN=1", 66), ("-DFIXED", 0)] {
                let flags = [&how[..], optimised, wanted];
                verify_built(
                    Compiler::RaddleCc,
                    "tests/verify/looked.c",
                    &flags,
                    status,
                    8,
                );
            }
        }
    }
}

#[test]
fn loops_that_wait_by_calling_functions_are_no_paths() {
    // With -O2 the first round is a test before the loop.
    for (how, most) in [(0, 4), (1, 4), (2, 4), (3, 4), (4, 8)] {
        let (how_is, status) = (format!("-DHOW={how}"), if how == 4 { 66 } else { 0 });
        for optimised in ["-O0", "-O2"] {
            let flags = [&how_is[..], optimised, "-std=c++20", "-DBUGGY"];
            let source = "tests/verify/waits.cpp";
            verify_built(Compiler::RaddleCxx, source, &flags[..3], 0, most);
            verify_built(Compiler::RaddleCxx, source, &flags, status, most);
        }
    }
}

#[test]
fn what_was_destroyed_may_be_freed_by_others() {
    for how in ["-DHOW=0", "-DHOW=1", "-DHOW=2"] {
        for (which, status) in [("-DFIXED", 0), ("-DBUGGY", 66)] {
            let source = "tests/verify/destroyed.c";
            verify_built(Compiler::RaddleCc, source, &[how, "-O1", which], status, 8);
        }
    }
}

#[test]
fn what_was_destroyed_may_be_initialised_again_by_others() {
    for object in 0..6 {
        let flags = ["-O1", "-w", &format!("-DOBJECT={object}")];
        let program = compile(Compiler::RaddleCc, "tests/verify/renewed.c", &flags);
        for order in "ajksSrmMPnN".chars() {
            let right = match order {
                'n' | 'N' => [66, 69],
                _ => [0, 0],
            };
            let order = [&order.to_string()[..]];
            let seen = run(&["verify", "--no-shrink"], &program, &order).output;
            assert!(right.contains(&seen.status), "{}", seen.all());
            for policy in ["dpor", "dfs"] {
                let options = ["run", "--races=off", "--policy", policy, "-n", "200"];
                let seen = run(&options, &program, &order).output;
                assert!(right[0] != 0 || seen.status == 0, "{}", seen.all());
            }
        }
    }
}

/// A round in vain stands for all of them, where it does.
#[test]
fn loops_that_poll_a_bounded_number_of_times_poll_once() {
    for how in 0..=12 {
        let (how_is, most) = (format!("-DHOW={how}"), if how <= 5 { 6 } else { 20 });
        for optimised in ["-O0", "-O1", "-O2"] {
            let flags = [&how_is[..], optimised, "-DBUGGY"];
            let source = "tests/verify/polls.c";
            verify_built(Compiler::RaddleCc, source, &flags[..2], 0, most);
            verify_built(Compiler::RaddleCc, source, &flags, 66, most);
        }
    }
}

#[test]
fn what_the_c_library_keeps_is_found_by_others() {
    for how in 0..=12 {
        let (other, joined) = match how {
            10 => (69, 69),
            _ => (66, 0),
        };
        let how = format!("-DHOW={how}");
        for (wanted, status) in [("-DSEEN=0", 66), ("-DSEEN=1", other), ("-DFIXED", joined)] {
            let flags = [&how[..], "-O1", "-w", wanted];
            verify_built(Compiler::RaddleCc, "tests/verify/kept.c", &flags, status, 4);
        }
    }
}

/// Loops that run as compiled hide nothing.
#[test]
fn what_happens_in_loops_over_arrays_is_found() {
    for how in 0..=7 {
        let how_is = format!("-DHOW={how}");
        for optimised in ["-O0", "-O2"] {
            // What is around the loop is no wait where a round hands something on.
            let bounded = how == 2 && optimised == "-O2";
            let fixed = if bounded { 69 } else { 0 };
            for (which, status) in [("-DBUGGY", 66), ("-DFIXED", fixed)] {
                let flags = [&how_is[..], optimised, which];
                let program = compile(Compiler::RaddleCc, "tests/verify/loops.c", &flags);
                let bound = if how == 2 { "--loop-bound=2" } else { "-q" };
                let options = ["verify", "--races=off", "--no-shrink", bound];
                let run = run(&options, &program, &[]);
                let said = || format!("{flags:?}: {}", run.output.all());
                assert_eq!(run.output.status, status, "{}", said());
                let most = if how == 4 { 104 } else { 6 };
                assert!(run.summary.executions <= most, "{}", said());
            }
        }
    }
}

/// There are such loops at all levels of optimisation.
#[test]
fn loops_over_arrays_run_as_compiled() {
    for optimised in ["-O0", "-O1", "-O2", "-O3"] {
        for (counted, status) in [("-DCOUNTED=4", 66), ("-DCOUNTED=1000", 0)] {
            let flags = ["-DHOW=6", "-DFIXED", counted, optimised];
            let source = "tests/verify/loops.c";
            verify_built(Compiler::RaddleCc, source, &flags, status, 2);
        }
    }
}

#[test]
fn attempts_that_fail_are_no_paths() {
    for how in 0..=4 {
        let how = format!("-DHOW={how}");
        for optimised in ["-O0", "-O1", "-O2"] {
            let flags = [&how[..], optimised, "-DBUGGY"];
            let source = "tests/verify/attempts.c";
            verify_built(Compiler::RaddleCc, source, &flags[..2], 0, 16);
            verify_built(Compiler::RaddleCc, source, &flags, 66, 16);
        }
    }
}

#[test]
fn waits_at_words_are_followed() {
    for how in 0..=4 {
        // How many a wake wakes is not known.
        let (right, wrong) = if how == 4 { (69, 69) } else { (0, 66) };
        let how = format!("-DHOW={how}");
        for optimised in ["-O0", "-O2"] {
            let flags = [&how[..], optimised, "-DBUGGY"];
            let source = "tests/verify/futex.c";
            verify_built(Compiler::RaddleCc, source, &flags[..2], right, 16);
            verify_built(Compiler::RaddleCc, source, &flags, wrong, 16);
        }
    }
}

#[test]
fn a_race_is_found_with_its_input_and_its_schedule() {
    let source = "tests/verify/hidden_race.c";
    let racy = compile(Compiler::RaddleCc, source, &[]);
    let fails = run(&["verify", "-q", "--races", "fail"], &racy, &[]);
    assert_eq!(fails.output.status, 66, "{}", fails.output.all());
    let finding = &fails.summary.findings[0];
    assert_eq!(finding.class, "race");
    assert_eq!(finding.inputs[0]["value"], 4711, "{}", fails.output.all());
    assert!(fails.summary.executions <= 6);
    let witness = finding.witness.clone().expect("there is a witness");
    assert_eq!(replay(&["-q"], &[witness]).status, 66);
    // One that is only reported fails nothing; one that is not looked for costs nothing.
    for (how, reports) in [("report", 1), ("off", 0)] {
        let run = run(&["verify", "-q", "--races", how], &racy, &[]);
        assert_eq!(run.summary.verdict, "verified", "{}", run.output.all());
        assert_eq!(run.summary.reports.len(), reports, "{}", run.output.all());
    }
    let fixed = compile(Compiler::RaddleCc, source, &["-DFIXED"]);
    let proof = run(&["verify", "-q", "--races", "fail"], &fixed, &[]);
    assert_eq!(proof.output.status, 0, "{}", proof.output.all());
    assert_eq!(proof.summary.verdict, "verified");
}

/// Where the order of the threads is not seen, no races are told, and a note says so.
#[test]
fn it_is_said_where_no_races_are_looked_for() {
    let cases: [(&str, &[&str], usize, &str); 4] = [
        ("tests/verify/unseen_change.c", &["-O0"], 1, ""),
        (
            "tests/verify/unseen_change.c",
            &["-O0", "-DUNSEEN"],
            0,
            "code that is not seen",
        ),
        ("tests/races/static_guard.cpp", &["-O0"], 1, ""),
        (
            "tests/races/static_guard.cpp",
            &["-O0", "-DUNSEEN"],
            0,
            "static objects of C++",
        ),
    ];
    for (source, flags, reports, note) in cases {
        let compiler = match source.ends_with("cpp") {
            true => Compiler::RaddleCxx,
            false => Compiler::RaddleCc,
        };
        let program = compile(compiler, source, flags);
        for (how, looks) in [("report", true), ("off", false)] {
            let run = run(&["verify", "-q", "--races", how], &program, &[]);
            let notes = run.summary.notes.iter();
            let notes: Vec<_> = notes.filter(|n| n.contains("races were not")).collect();
            let said = notes.len() == 1 && notes[0].contains(note);
            let all = run.output.all();
            assert_eq!(said, looks && !note.is_empty(), "{notes:?} {all}");
            let told = run.summary.reports.len();
            assert_eq!(told > 0, looks && reports > 0, "{all}");
        }
    }
}

#[test]
fn workers_come_to_the_same_verdict() {
    let cases: [(&str, &[&str], &[&str], i32); 3] = [
        ("tests/paper/figure9.c", &["-DFIXED"], &["3"], 0),
        ("examples/mpc_figure2.c", &["-DEXTRA=3", "-DFIXED"], &[], 0),
        ("examples/mpc_figure2.c", &["-DEXTRA=3"], &[], 66),
    ];
    for (source, flags, args, status) in cases {
        let program = compile(Compiler::RaddleCc, source, flags);
        let [one, three] = ["1", "3"].map(|jobs| {
            let run = run(&["verify", "--keep-going", "-j", jobs], &program, args);
            assert_eq!(run.output.status, status, "{}", run.output.all());
            run.summary
        });
        assert_eq!(one.verdict, three.verdict, "{source}");
        assert_eq!(one.local_paths, three.local_paths, "{source}");
        let prints = |summary: &common::Summary| {
            let findings = summary.findings.iter();
            findings.map(|f| f.fingerprint.clone()).collect::<Vec<_>>()
        };
        assert_eq!(prints(&one), prints(&three), "{source}");
        assert!(three.executions > 3, "{source}");
    }
}

/// With other questions before it, an assertion that only one of about a thousand paths fails takes
/// dozens of executions.
#[test]
fn several_workers_ask_for_errors_first_too() {
    let program = compile(Compiler::RaddleCc, "tests/paper/figure9.c", &[]);
    let found = run(
        &["verify", "-j", "2", "--no-shrink", "--races", "off"],
        &program,
        &["8"],
    );
    found.expect(66, 1, 0);
    let executions = found.summary.executions;
    assert!(executions <= 6, "{executions}\n{}", found.output.all());
}

/// A finding tells by what its threads decided, and where.
#[test]
fn the_path_condition_is_told() {
    let program = compile(Compiler::RaddleCc, "tests/verify/path.c", &["-O0"]);
    let found = run(&["verify"], &program, &[]);
    found.expect(66, 1, 0);
    let all = found.output.all();
    let mut lines = all.lines().skip_while(|l| *l != "    the path condition:");
    let expected = [
        "    the path condition:",
        "      main: __VERIFIER_nondet_int#1 > 5 at path.c:26  if (a > 5)",
        "      main: (__VERIFIER_nondet_int#1 + __VERIFIER_nondet_int#2) != 7 at path.c:27",
        "      T1: shared == 12 at path.c:16  if (seen == 12)",
    ];
    for line in expected {
        let seen = lines.next().unwrap_or_default();
        assert!(seen.starts_with(line), "{line}\n{all}");
    }
}

/// A deadlock is asked for before all paths of the threads are seen, of which there are many.
#[test]
fn deadlocks_are_asked_for_early() {
    let options = ["verify", "--no-shrink", "--races", "off", "-j"];
    let source = "tests/verify/early_deadlock.c";
    for workers in ["1", "2"] {
        let options = [&options[..], &[workers]].concat();
        let program = compile(Compiler::RaddleCc, source, &[]);
        let found = run(&options, &program, &["6"]);
        found.expect(66, 1, 0);
        let said = found.output.all();
        assert_eq!(found.summary.findings[0].class, "deadlock", "{said}");
        assert!(found.summary.executions <= 6, "{said}");

        let program = compile(Compiler::RaddleCc, source, &["-DFIXED"]);
        let proof = run(&options, &program, &["6"]);
        let said = proof.output.all();
        assert_eq!(proof.summary.verdict, "verified", "{said}");
        assert!(proof.summary.executions >= 60, "{said}");
    }
}

/// Where the time is over in the middle of a question, that is said, and nothing of the solver.
#[test]
fn it_is_said_that_the_time_was_limited() {
    let flags = ["-DAFTER", "-DFIXED"];
    let program = compile(Compiler::RaddleCc, "tests/paper/figure9.c", &flags);
    for workers in ["1", "2"] {
        let cut = run(
            &["verify", "--races", "off", "--time", "500ms", "-j", workers],
            &program,
            &["12"],
        );
        let said = cut.output.all();
        assert_eq!(cut.output.status, 69, "{said}");
        assert_eq!(cut.summary.bounds, ["the time was limited"], "{said}");
    }
}

/// That a thread's own memory was expected to be shared does no harm where that comes up: in the
/// first execution or in a later one.
#[test]
fn expected_memory_is_given_up_in_any_execution() {
    let mut executions = [1, 0].map(|seen| {
        let seen = format!("-DWHEN={seen}");
        let flags = [seen.as_str(), "-O0"];
        let program = compile(Compiler::RaddleCc, "tests/verify/late_library.c", &flags);
        let run = run(&["verify", "--races", "off"], &program, &[]);
        let said = run.output.all();
        assert_eq!(run.summary.verdict, "verified", "{said}");
        assert!(run.summary.concretised.is_empty(), "{said}");
        run.summary.executions
    });
    executions.sort_unstable();
    // Two paths, and one more execution to begin again with, after the first or after the second.
    assert_eq!(executions, [3, 4]);
}

/// Loops, recursion and creation of threads in a loop end at the bound, which the verdict says; what
/// is wrong before is found.
#[test]
fn what_has_no_end_is_verified_up_to_the_bound() {
    for way in ["-DTHREADS", "-DRECURSION", "-DUPDATES"] {
        for level in ["-O0", "-O1"] {
            let built = |flags: &[&str]| {
                let all = [&[way, level, "-Iexamples/include"], flags].concat();
                compile(Compiler::RaddleCc, "tests/verify/unbounded.c", &all)
            };
            let options = ["verify", "--loop-bound", "6"];
            let bounded = run(&options, &built(&[]), &[]);
            let said = format!("{way} {level}: {}", bounded.output.all());
            assert_eq!(bounded.output.status, 69, "{said}");
            let bounds = &bounded.summary.bounds;
            assert!(
                bounds.iter().any(|b| b.contains("decisions of one thread")),
                "{said}"
            );
            let place = |b: &String| b.contains("last decisions") && b.contains("unbounded.c:");
            assert!(bounds.iter().any(place), "{said}");
            assert!(bounds.iter().all(|b| !b.contains("not modelled")), "{said}");
            let wrong = run(&options, &built(&["-DBUG"]), &[]);
            assert_eq!(
                wrong.output.status,
                66,
                "{way} {level}: {}",
                wrong.output.all()
            );
        }
    }
}

/// Where a thread goes on by decisions alone beyond what is recorded of them, it is run to its end.
#[test]
fn a_long_way_is_no_livelock() {
    let bound = "decisions and inputs without a step";
    for (flags, status, class) in [
        (&[][..], 69, None),
        (&["-DBUG"], 66, Some("assertion")),
        (&["-DENDLESS"], 66, Some("livelock")),
    ] {
        let flags = [&["-O0", "-Iexamples/include"], flags].concat();
        let program = compile(Compiler::RaddleCc, "tests/verify/long_way.c", &flags);
        let found = run(&["verify", "--timeout", "3s"], &program, &[]);
        let said = found.output.all();
        assert_eq!(found.output.status, status, "{flags:?}: {said}");
        assert!(found.summary.bounds[0].contains(bound), "{flags:?}: {said}");
        let findings = &found.summary.findings;
        let classes: Vec<&str> = findings.iter().map(|f| f.class.as_str()).collect();
        assert_eq!(classes, Vec::from_iter(class), "{flags:?}: {said}");
        for witness in findings.iter().flat_map(|f| &f.witness) {
            let again = replay(&[], &[witness.into()]);
            assert_eq!(again.status, 66, "{flags:?}: {}", again.all());
        }
    }
}

/// Where there are too many threads to look at all pairs of them, that is said at once.
#[test]
fn a_crowd_of_threads_is_out_of_bounds_within_the_time() {
    let crowd = compile(Compiler::RaddleCc, "tests/verify/crowd.c", &["-O1"]);
    let found = run(&["verify", "--time", "10s"], &crowd, &[]);
    let said = found.output.all();
    assert_eq!(found.output.status, 69, "{said}");
    assert!(found.summary.bounds[0].contains("too large"), "{said}");
}

/// Bounds of what reads return say nothing of sums that need more than 64 bits.
#[test]
fn two_threads_with_wide_sums_are_decided() {
    for (flags, status) in [(&[][..], 0), (&["-DBUG"][..], 66)] {
        let program = compile(Compiler::RaddleCc, "tests/verify/mean.c", flags);
        for passes in ["1", "2"] {
            let run = run(&["verify"], &program, &[passes]);
            assert_eq!(run.output.status, status, "{}", run.output.all());
        }
    }
}
