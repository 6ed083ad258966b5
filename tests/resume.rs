//! The corpus directory: runs go on from earlier ones, whatever ended those, and lose nothing.

mod common;

use common::{Compiler, LIMIT, Output, compile, output, raddle};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Arguments of a program with so few interleavings that all can be run.
const SMALL: [&str; 2] = ["1", "2"];

/// A place of a test's own, empty.
fn empty(name: &str) -> PathBuf {
    common::empty(&format!("resume/{name}"))
}

fn command(dir: &Path, options: &str, program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(raddle());
    command
        .current_dir(dir)
        .args(["run", "--corpus", "corpus", "--no-shrink"])
        .args(options.split_whitespace())
        .arg("--")
        .arg(program)
        .args(args);
    command
}

fn run(dir: &Path, options: &str, program: &Path, args: &[&str], status: i32) -> Output {
    let mut command = command(dir, options, program, args);
    let result = output(&mut command, LIMIT);
    assert_eq!(result.status, status, "{command:?}\n{}", result.all());
    result
}

fn coverage(dir: &Path) -> serde_json::Value {
    let mut command = Command::new(raddle());
    command
        .current_dir(dir)
        .args(["coverage", "corpus", "--json"]);
    let result = output(&mut command, LIMIT);
    assert_eq!(result.status, 0, "{}", result.all());
    serde_json::from_str(&result.stdout).expect("it is JSON")
}

/// The only program's part of [`coverage`].
fn only_program(dir: &Path) -> serde_json::Value {
    let mut view = coverage(dir);
    let programs = view["programs"].as_array_mut().expect("programs");
    assert_eq!(programs.len(), 1);
    programs.remove(0)
}

/// The interleavings in the corpus, and how often each was taken.
fn interleavings(dir: &Path) -> BTreeMap<i64, i64> {
    let database = rusqlite::Connection::open(dir.join("corpus/corpus.db")).expect("it opens");
    let mut statement = database
        .prepare("SELECT hash, seen FROM schedule")
        .expect("the table is there");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.expect("it can be read")
        .collect::<rusqlite::Result<_>>()
        .expect("rows are numbers")
}

fn assert_disjoint(seen: &BTreeMap<i64, i64>, executions: usize) {
    assert_eq!(seen.len(), executions, "different interleavings");
    assert!(seen.values().all(|&times| times == 1));
}

fn many() -> PathBuf {
    compile(Compiler::Gcc, "tests/resume/ends.c", &[])
}

fn failing() -> PathBuf {
    compile(Compiler::Gcc, "tests/resume/ends.c", &["-DENDS"])
}

#[test]
fn a_run_goes_on_where_the_one_before_ended() {
    for policy in ["random", "pos"] {
        let options = |n: u32, more: &str| format!("-q -n {n} --policy {policy} --seed 9 {more}");
        let cut = empty(&format!("cut-{policy}"));
        let mut known = BTreeSet::new();
        for (n, more) in [(70, ""), (50, "-j 2"), (80, "")] {
            run(&cut, &options(n, more), &many(), &["12"], 0);
            let now = interleavings(&cut);
            assert_disjoint(&now, known.len() + n as usize);
            assert!(
                now.keys()
                    .collect::<BTreeSet<_>>()
                    .is_superset(&known.iter().collect())
            );
            known = now.into_keys().collect();
        }
        let whole = empty(&format!("whole-{policy}"));
        run(&whole, &options(200, ""), &many(), &["12"], 0);
        assert_eq!(interleavings(&whole), interleavings(&cut), "{policy}");
        // Another seed is another series.
        run(
            &whole,
            &options(200, "--seed 10").replace("--seed 9", ""),
            &many(),
            &["12"],
            0,
        );
        assert_disjoint(&interleavings(&whole), 400);
        let program = only_program(&whole);
        assert_eq!(program["executions"], 400);
        assert_eq!(
            program["tests"][0]["series"].as_array().map(Vec::len),
            Some(2)
        );
    }
}

/// The program is not built with raddle cc, so that the verdict is one within bounds (69).
#[test]
fn an_exhaustive_search_goes_on_and_its_end_is_remembered() {
    let whole = empty("dfs-whole");
    let result = run(&whole, "-q --policy dfs", &many(), &SMALL, 69);
    assert!(
        result.stderr.contains("explored within bounds"),
        "{}",
        result.all()
    );
    let all = interleavings(&whole);
    let cut = empty("dfs-cut");
    let mut pieces = 0;
    while interleavings_of(&cut).len() < all.len() {
        let piece = output(
            &mut command(&cut, "-q -n 100 --policy dfs", &many(), &SMALL),
            LIMIT,
        );
        assert!([0, 69].contains(&piece.status), "{}", piece.all());
        pieces += 1;
        assert!(pieces <= all.len() / 100 + 1, "a piece brought nothing");
    }
    run(&cut, "-q --policy dfs", &many(), &SMALL, 69);
    assert_eq!(interleavings(&cut), all);
    assert_disjoint(&all, all.len());
    for dir in [&whole, &cut] {
        let again = run(dir, "-q --policy dfs", &many(), &SMALL, 69);
        assert!(
            again.stderr.contains("explored before, until 2"),
            "{}",
            again.all()
        );
        assert!(
            again.stderr.contains(&format!("{} executions", all.len())),
            "{}",
            again.all()
        );
        assert_eq!(interleavings(dir), all, "nothing was run");
    }
    run(&whole, "-q --policy dfs --corpus-anew", &many(), &SMALL, 69);
    assert_eq!(
        interleavings(&whole),
        all,
        "what was forgotten was run again"
    );
    assert_eq!(only_program(&whole)["executions"], 2 * all.len());
}

/// The summary that a run with `--json out.json` has left.
fn summary(dir: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(dir.join("out.json")).expect("the summary is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// What a search comes to in the end: how many executions and classes of all runs together, the
/// verdict, and the fingerprints of what was found.
fn conclusion(dir: &Path, options: &str, program: &Path, args: &[&str]) -> [String; 4] {
    let options = format!("-q --json out.json {options}");
    // The first run that finds nothing left to do concludes, the second remembers.
    for _ in 0..2 {
        let result = output(&mut command(dir, &options, program, args), LIMIT);
        assert!([66, 69].contains(&result.status), "{}", result.all());
    }
    let summary = summary(dir);
    let findings = summary["findings"].as_array().expect("findings").iter();
    let mut names: Vec<String> = findings.map(|f| f["fingerprint"].to_string()).collect();
    names.sort();
    let [executions, classes, verdict] =
        ["executions", "classes", "verdict"].map(|name| summary[name].to_string());
    [executions, classes, verdict, names.concat()]
}

/// Exhaustive searches, and whether they need the same executions whatever the order in which they
/// learn.
const EXHAUSTIVE: [(&str, bool); 7] = [
    ("dfs", true),
    ("pcb", true),
    ("delay:3", true),
    ("dpor", true),
    ("dpor:source", false),
    ("hapset", false),
    ("hapset:pcb:2", false),
];

/// Every search is stopped after some executions, many times, and comes to the same as in one go;
/// some are on several workers now and then.
#[test]
fn exhaustive_searches_in_pieces_come_to_the_same() {
    for (policy, fixed) in EXHAUSTIVE {
        for (program, args, name) in [(many(), ["2", "2"], "fine"), (failing(), SMALL, "fails")] {
            let options = format!("--policy {policy} --keep-going");
            let whole = empty(&format!("whole-{policy}-{name}"));
            let expected = conclusion(&whole, &options, &program, &args);
            assert_eq!(
                expected[3].is_empty(),
                name == "fine",
                "{policy}: {expected:?}"
            );
            let cut = empty(&format!("cut-{policy}-{name}"));
            let total: u64 = expected[0].parse().expect("a number");
            for piece in [1, total / 5, 2, total / 4] {
                let workers = 1 + piece % 2 * u64::from(fixed);
                let options = format!("-q {options} -n {} -j {workers}", piece.max(1));
                let run = output(&mut command(&cut, &options, &program, &args), LIMIT);
                assert!([0, 66, 69].contains(&run.status), "{}", run.all());
            }
            let found = conclusion(&cut, &options, &program, &args);
            assert_eq!(found, expected, "{policy} {name}");
        }
    }
}

/// Wherever the kill falls, the next run goes on from what was stored, and the end is the same.
#[test]
fn a_killed_exhaustive_search_comes_to_the_same() {
    for (policy, args) in [
        ("dfs", ["3", "2"]),
        ("pcb", ["3", "2"]),
        ("dpor", ["7", "2"]),
    ] {
        let options = format!("--policy {policy} -j 2");
        let whole = empty(&format!("not-killed-{policy}"));
        let expected = conclusion(&whole, &options, &many(), &args);
        let killed = empty(&format!("killed-{policy}"));
        for pause in [1500, 400, 1200, 50, 1100] {
            let mut command = command(&killed, &options, &many(), &args);
            let command = command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(pause));
            child.kill().expect("it can be killed");
            child.wait().expect("it can be waited for");
        }
        let found = conclusion(&killed, &options, &many(), &args);
        assert_eq!(found, expected, "{policy}");
    }
}

/// What is left of one build means nothing to another one, and is not forgotten.
#[test]
fn another_build_or_other_options_begin_at_the_start_and_say_so() {
    let dir = empty("changed");
    let piece = "-q -n 5 --policy dpor";
    let goes_on = |result: Output| result.stderr.contains("resumed after");
    let begins = |result: Output| result.stderr.contains("this one began at the start");
    assert!(!begins(run(&dir, piece, &many(), &["3", "2"], 0)));
    assert!(goes_on(run(&dir, piece, &many(), &["3", "2"], 0)));
    let other = run(&dir, piece, &many(), &["4", "2"], 0);
    assert!(begins(other), "other arguments");
    let options = format!("{piece} --max-steps 5000");
    assert!(
        begins(run(&dir, &options, &many(), &["3", "2"], 0)),
        "options"
    );
    assert!(goes_on(run(&dir, piece, &many(), &["3", "2"], 0)));
}

fn interleavings_of(dir: &Path) -> BTreeMap<i64, i64> {
    match dir.join("corpus/corpus.db").exists() {
        true => interleavings(dir),
        false => BTreeMap::new(),
    }
}

#[test]
fn findings_are_remembered() {
    let dir = empty("findings");
    let json = |more: &str| format!("-q --policy dfs --keep-going --json out.json {more}");
    run(&dir, &json(""), &failing(), &SMALL, 66);
    let first = summary(&dir);
    assert_eq!(first["findings"].as_array().map(Vec::len), Some(2));
    assert!(first["findings"][0]["known_since"].is_null());
    // The verdict of the search is remembered with its findings, …
    run(&dir, &json(""), &failing(), &SMALL, 66);
    let second = summary(&dir);
    assert_eq!(second["findings"].as_array().map(Vec::len), Some(2));
    assert!(second["findings"][0]["known_since"].is_string());
    // … another search finds one again and says so, or passes over all of them.
    let again = run(&dir, "-q -n 50 --policy random", &failing(), &SMALL, 66);
    assert!(again.stderr.contains("known since 20"), "{}", again.all());
    let passed = run(
        &dir,
        "-q -n 50 --policy random --new-only",
        &failing(),
        &SMALL,
        0,
    );
    assert!(
        passed.stderr.contains("the corpus knows"),
        "{}",
        passed.all()
    );
    let program = only_program(&dir);
    assert_eq!(program["findings"].as_array().map(Vec::len), Some(2));
    let seen = program["findings"].as_array().expect("findings").iter();
    let seen: u64 = seen.map(|f| f["seen"].as_u64().expect("a number")).sum();
    assert_eq!(
        seen,
        program["executions"].as_u64().expect("a number"),
        "all executions fail"
    );
}

/// Known is what somebody was told of: not a finding whose witness could not be written.
#[test]
fn a_finding_without_a_witness_is_new_the_next_time() {
    let dir = empty("unwritten");
    let options = "-q -n 50 --policy random --keep-going --new-only";
    run(
        &dir,
        &format!("{options} -o /dev/full"),
        &failing(),
        &SMALL,
        74,
    );
    run(&dir, options, &failing(), &SMALL, 66);
    run(&dir, &format!("{options} --seed 2"), &failing(), &SMALL, 0);
}

/// A race that fails the run and that the corpus knows is passed over, which is said.
#[test]
fn marks_that_the_corpus_knows_are_passed_over() {
    let dir = empty("marks");
    let program = compile(Compiler::RaddleCc, "tests/races/plain_counter.c", &["-g"]);
    let options = "-q -n 50 --keep-going --races=fail --new-only";
    run(&dir, options, &program, &[], 66);
    let again = run(&dir, options, &program, &[], 0);
    let says = "findings that the corpus knows (--new-only)";
    assert!(again.stderr.contains(says), "{}", again.all());
}

#[test]
fn pairs_and_findings_survive_a_rebuild() {
    let dir = empty("rebuild");
    let source = std::fs::read_to_string(common::root().join("tests/resume/ends.c"));
    let source = source.expect("the source is there");
    let program = dir.join("prog");
    let build = |text: &str| {
        std::fs::write(dir.join("prog.c"), text).expect("the source can be written");
        let mut gcc = Command::new("gcc");
        gcc.current_dir(&dir)
            .args(["-g", "-pthread", "-DENDS", "prog.c", "-o", "prog"]);
        assert_eq!(output(&mut gcc, LIMIT).status, 0);
    };
    let options = "-q -n 300 --keep-going --policy random --json out.json";
    build(&source);
    run(&dir, options, &program, &[], 66);
    let before = only_program(&dir);
    // Another line of another function, and one line more at the end.
    let changed = source.replace("rounds = argc > 1 ?", "rounds = argc > 2 ?") + "\nint more;\n";
    assert_ne!(source.lines().count(), changed.lines().count());
    build(&changed);
    let result = run(&dir, options, &program, &[], 66);
    assert!(
        !result.stderr.contains("resumed"),
        "the executions are others: {}",
        result.all()
    );
    let after = only_program(&dir);
    assert!(before["pairs"]["seen"].as_u64() > Some(0));
    assert_eq!(after["pairs"]["seen"], before["pairs"]["seen"]);
    assert_eq!(
        after["recorded"].as_u64(),
        before["recorded"].as_u64().map(|n| 2 * n)
    );
    assert_eq!(after["findings"].as_array().map(Vec::len), Some(6));
    assert_eq!(after["tests"].as_array().map(Vec::len), Some(2));
    let text = std::fs::read_to_string(dir.join("out.json")).expect("the summary is there");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let findings = summary["findings"].as_array().expect("findings");
    assert!(findings.iter().all(|f| f["known_since"].is_string()));
    assert_eq!(
        summary["corpus"]["before"]["pairs"],
        summary["corpus"]["after"]["pairs"]
    );
}

#[test]
fn several_runs_at_once_share_the_work() {
    for (runs, name) in [(2, "two"), (4, "four")] {
        let dir = empty(name);
        let start = |_| {
            let mut command = command(&dir, "-q -n 150 --policy random", &many(), &["12"]);
            let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("it starts")
        };
        let children: Vec<Child> = (0..runs).map(start).collect();
        for child in children {
            let result = child.wait_with_output().expect("it ends");
            assert!(result.status.success(), "{result:?}");
        }
        let whole = empty(&format!("{name}-whole"));
        let options = format!("-q -n {} --policy random", 150 * runs);
        run(&whole, &options, &many(), &["12"], 0);
        assert_eq!(interleavings(&dir), interleavings(&whole));
        assert_eq!(only_program(&dir)["executions"], 150 * runs);
    }
}

/// The fingerprints that a run has printed.
fn printed(told: &str) -> BTreeSet<String> {
    let lines = told
        .lines()
        .filter_map(|line| line.trim().strip_prefix("fingerprint "));
    lines.map(|name| name.trim().to_string()).collect()
}

/// Kills a run after `pause`; the findings that it had printed.
fn kill_after(dir: &Path, pause: Duration) -> BTreeSet<String> {
    let log = dir.join("printed");
    let file = std::fs::File::create(&log).expect("the file can be made");
    let mut command = command(dir, "--keep-going --policy random", &failing(), &[]);
    let mut child = command
        .args(["1"])
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .expect("it starts");
    std::thread::sleep(pause);
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for");
    printed(&std::fs::read_to_string(log).expect("it can be read"))
}

/// Wherever the kill falls, there is nothing to wait for: the corpus is whole, has what was
/// printed, and the next run goes on. `./dev soak` does this 200 times (RADDLE_KILLS).
#[test]
fn a_killed_run_has_lost_nothing_that_it_had_printed() {
    let kills = std::env::var("RADDLE_KILLS").ok();
    let kills = kills.and_then(|n| n.parse().ok()).unwrap_or(25u64);
    let dir = empty("killed");
    let mut told = BTreeSet::new();
    let mut executions = 0;
    for round in 0..kills {
        // Spread over the first second: before there is a corpus, between and in transactions.
        let pause = raddle_analyzer::sampling::seed_of(round, kills) % 1000;
        told.extend(kill_after(&dir, Duration::from_millis(pause)));
        if !dir.join("corpus/corpus.db").exists() {
            continue;
        }
        // A process killed while it makes the database leaves an empty one.
        run(&dir, "-q -n 1 --policy rr", &many(), &["1"], 0);
        let view = coverage(&dir);
        let programs = view["programs"].as_array().expect("programs").iter();
        let Some(program) = programs.clone().find(|p| p["findings"][0].is_object()) else {
            assert!(told.is_empty(), "round {round}: {told:?} is lost");
            continue;
        };
        let findings = program["findings"].as_array().expect("findings").iter();
        let stored: BTreeSet<String> = findings
            .map(|f| f["fingerprint"].as_str().expect("a name").to_string())
            .collect();
        assert!(
            stored.is_superset(&told),
            "round {round}: {told:?} {stored:?}"
        );
        let now = program["executions"].as_u64().expect("a number");
        assert!(now >= executions, "round {round}: {executions} {now}");
        executions = now;
    }
    // Every number that a killed run had taken is done now, and none twice but those in flight.
    run(
        &dir,
        "-q -n 4000 --keep-going --policy random",
        &failing(),
        &["1"],
        66,
    );
    let database = rusqlite::Connection::open(dir.join("corpus/corpus.db")).expect("it opens");
    let first_not_done: i64 = database
        .query_row(
            "SELECT coalesce((SELECT min(start) FROM lease
                 WHERE lease.series = series.id AND start < stop), next)
             FROM series WHERE policy = 'random'",
            [],
            |row| row.get(0),
        )
        .expect("the series is there");
    assert!(first_not_done >= 4000, "{first_not_done}");
}

#[test]
fn what_cannot_be_a_corpus_is_said_in_one_line() {
    let dir = empty("errors");
    std::fs::write(dir.join("file"), "x").expect("it can be written");
    std::fs::create_dir(dir.join("other")).expect("it can be made");
    std::fs::write(
        dir.join("other/corpus.db"),
        "this is no database. ".repeat(60),
    )
    .expect("it can be written");
    run(&dir, "-q -n 10", &many(), &[], 0);
    std::fs::create_dir(dir.join("short")).expect("it can be made");
    let content = std::fs::read(dir.join("corpus/corpus.db")).expect("it can be read");
    let half = &content[..content.len() / 2];
    std::fs::write(dir.join("short/corpus.db"), half).expect("it can be written");
    for (path, says) in [
        ("file", "cannot make the corpus in"),
        ("/proc/none", "cannot make the corpus in"),
        ("other", "is damaged"),
        ("short", "is damaged"),
    ] {
        let mut run = Command::new(raddle());
        run.current_dir(&dir)
            .args(["run", "--corpus", path, "--"])
            .arg(many());
        let mut view = Command::new(raddle());
        view.current_dir(&dir).args(["coverage", path]);
        for (command, says) in [(&mut run, says), (&mut view, "raddle: error: ")] {
            let result = output(command, LIMIT);
            assert_eq!(result.status, 74, "{command:?}: {}", result.all());
            assert_eq!(result.stderr.lines().count(), 1, "{}", result.all());
            assert!(result.stderr.contains(says), "{}", result.all());
        }
    }
    let kept = std::fs::read(dir.join("short/corpus.db")).expect("it can be read");
    assert_eq!(kept, half, "what is damaged is left as it is");
}

#[test]
fn coverage_is_shown_for_people_too() {
    let dir = empty("shown");
    run(
        &dir,
        "-q -n 100 --keep-going --policy random",
        &failing(),
        &[],
        66,
    );
    let mut command = Command::new(raddle());
    command.current_dir(&dir).args(["coverage", "corpus"]);
    let result = output(&mut command, LIMIT);
    assert_eq!(result.status, 0);
    for part in [
        "100 executions",
        "predecessor pair",
        "growth ",
        "next executions expected to show a new",
        "policy random, seed 1: 100 executions",
        "assertion",
    ] {
        assert!(result.stdout.contains(part), "`{part}`: {}", result.stdout);
    }
}
