//! `raddle cargo` and `raddle test` on a package as users have them, built by the rustc that is
//! there: the locks, atomics and channels of Rust's library are places to switch.

mod common;

use common::{LIMIT, Output, Run, empty, output, raddle, root, run, scratch};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

fn package() -> PathBuf {
    root().join("tests/rust")
}

/// `raddle cargo ARGS` for the package.
fn cargo(args: &[&str]) -> Output {
    output(&mut cargo_command(args), LIMIT)
}

fn cargo_command(args: &[&str]) -> Command {
    let mut command = Command::new(raddle());
    command
        .current_dir(scratch("rust"))
        .arg("cargo")
        .args(args)
        .arg("--offline")
        .arg("--manifest-path")
        .arg(package().join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target())
        .env_remove("RUSTFLAGS");
    command
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust")
}

/// The package's test binary and its program.
fn built() -> &'static (PathBuf, PathBuf) {
    static BUILT: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    BUILT.get_or_init(|| {
        let tests = cargo(&["test", "--lib", "--no-run", "--message-format=json"]);
        let program = cargo(&["build", "--message-format=json"]);
        (executable(&tests), executable(&program))
    })
}

/// What cargo says that it has made.
fn executable(said: &Output) -> PathBuf {
    assert_eq!(said.status, 0, "{}", said.all());
    let messages = said.stdout.lines();
    let mut paths = messages.filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["executable"].as_str()?))
    });
    paths
        .next_back()
        .unwrap_or_else(|| panic!("{}", said.all()))
}

/// One test under `raddle run`.
fn one(options: &[&str], name: &str) -> Run {
    let options = [&["run"], options].concat();
    let args = ["--exact", name, "--test-threads=1", "--nocapture"];
    run(&options, &built().0, &args)
}

#[test]
fn every_test_is_run_by_itself() {
    let said = cargo(&["test", "--lib"]);
    let text = said.all();
    assert_eq!(said.status, 66, "{text}");
    let last = "raddle: 8 tests: 3 failed: tests::count_is_lost, tests::payment_is_lost, \
                tests::payment_is_taken_twice";
    assert!(text.contains(last), "{text}");
    for (file, name) in [("payment", "the balance"), ("count", "the count")] {
        assert!(
            text.contains(&format!("`left == right` failed: {name}")),
            "{file}: {text}"
        );
    }
}

#[test]
fn filters_choose_tests() {
    let table: [(&[&str], i32, &str); 4] = [
        (&["messages"], 0, "test tests::messages_arrive\n"),
        (&["no_such_test"], 64, "no test has such a name"),
        (&["--ignored"], 66, "1 failed: tests::not_asked_for"),
        (
            &["wrong", "lost", "--skip", "count"],
            66,
            "raddle: 1 test: 1 failed: tests::payment_is_lost",
        ),
    ];
    for (args, status, expected) in table {
        let mut command = Command::new(raddle());
        command
            .current_dir(scratch("rust-filters"))
            .args(["test", "-n", "100", "--"])
            .arg(&built().0)
            .args(args);
        let said = output(&mut command, LIMIT);
        let text = said.all();
        assert_eq!(said.status, status, "{args:?}\n{text}");
        assert!(text.contains(expected), "{args:?}\n{text}");
    }
}

/// cargo gives a filter to all test binaries, so one without such a test is none of the user's
/// mistakes. A signal ends the tests, and the exit code is as ever.
#[test]
fn cargo_is_attended_to_its_end() {
    let said = cargo(&["test", "--lib", "no_such_test"]);
    assert_eq!(said.status, 0, "{}", said.all());
    for (signal, name) in [(libc::SIGTERM, "right"), (libc::SIGHUP, "count_is_lost")] {
        let mut command = cargo_command(&["test", "--lib", name]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("raddle starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut lines = lines.map(|line| line.expect("text"));
        let begun = lines.any(|line| line.starts_with("test tests::"));
        assert!(begun, "no test began");
        // SAFETY: a number of a child that has not been waited for, so it is nobody else's.
        unsafe { libc::kill(child.id() as i32, signal) };
        // What the tests say comes before the end of cargo's attendant.
        let rest: Vec<String> = lines.collect();
        let status = child.wait().expect("a child").code();
        let found = rest.iter().any(|line| line.starts_with("exit in "));
        let expected = if found { [66, 66] } else { [130, 0] };
        assert!(
            status.is_some_and(|s| expected.contains(&s)),
            "{status:?}: {rest:?}"
        );
    }
}

/// Each test is one in the files, too, under its own name.
#[test]
fn all_tests_are_in_one_file() {
    let dir = empty("rust-formats");
    let (junit, sarif) = (dir.join("junit.xml"), dir.join("raddle.sarif"));
    let mut command = Command::new(raddle());
    command
        .current_dir(&dir)
        .args(["test", "-n", "100", "--junit"]);
    command.arg(&junit).arg("--sarif").arg(&sarif).arg("--");
    command.arg(&built().0).args(["payment", "messages"]);
    let said = output(&mut command, LIMIT);
    assert_eq!(said.status, 66, "{}", said.all());
    let text = std::fs::read_to_string(&junit).expect("written");
    let report = quick_junit::Report::deserialize_from_str(&text).expect("JUnit XML");
    assert_eq!(
        (report.tests, report.failures, report.errors),
        (5, 2, 0),
        "{text}"
    );
    let cases = report
        .test_suites
        .iter()
        .flat_map(|suite| &suite.test_cases);
    let names: Vec<&str> = cases.map(|case| case.name.as_str()).collect();
    let expected = [
        "messages_arrive",
        "payment_arrives",
        "payment_is_lost",
        "payment_is_taken_once",
        "payment_is_taken_twice",
    ];
    assert_eq!(names, expected.map(|name| format!("tests::{name}")));
    let text = std::fs::read_to_string(&sarif).expect("written");
    let log: serde_sarif::sarif::Sarif = serde_json::from_str(&text).expect("SARIF");
    let results = log
        .runs
        .iter()
        .map(|run| run.results.as_ref().map_or(0, Vec::len));
    assert_eq!(results.collect::<Vec<_>>(), [0, 0, 1, 0, 1]);
}

/// A filter that no test matches leaves files without tests; a test of which no verdict came is an
/// error by name.
#[test]
fn tests_without_a_verdict_are_in_the_file() {
    let junit = empty("rust-no-verdict").join("junit.xml");
    let table: [(&[&str], i32, usize, usize); 2] = [
        (&["--", "no_such_test"], 64, 0, 0),
        (&["--policy", "nonsense", "--", "payment_arrives"], 64, 1, 1),
    ];
    for (options, exit, tests, errors) in table {
        let mut command = Command::new(raddle());
        command.args(["test", "--junit"]).arg(&junit);
        let at = options.iter().position(|option| *option == "--");
        let (own, filter) = options.split_at(at.expect("it has one"));
        command
            .args(own)
            .arg("--")
            .arg(&built().0)
            .args(&filter[1..]);
        let said = output(&mut command, LIMIT);
        assert_eq!(said.status, exit, "{}", said.all());
        let text = std::fs::read_to_string(&junit).expect("written");
        let report = quick_junit::Report::deserialize_from_str(&text).expect("JUnit XML");
        assert_eq!((report.tests, report.errors), (tests, errors), "{text}");
    }
}

/// Others come by between an atomic write and the plain code behind it, which has no hooks.
#[test]
fn what_follows_an_atomic_write_is_a_step_of_its_own() {
    for policy in ["steer", "random"] {
        let options = ["--policy", policy, "-n", "300"];
        one(&options, "tests::payment_is_taken_twice").expect(66, 1, 0);
        one(&options, "tests::payment_is_taken_once").expect(0, 0, 0);
    }
}

#[test]
fn one_file_for_many_tests_is_refused() {
    for option in ["--json", "-o"] {
        let mut command = Command::new(raddle());
        command.args(["test", option, "x", "--"]).arg(&built().0);
        let said = output(&mut command, LIMIT);
        assert_eq!(said.status, 64, "{}", said.all());
        assert!(said.stderr.contains("raddle run --"), "{}", said.all());
    }
}

#[test]
fn a_panic_is_told_where_it_began_and_replayed() {
    let run = one(&["--policy", "random"], "tests::payment_is_lost");
    run.expect(66, 1, 0);
    let finding = &run.summary.findings[0];
    let message = &finding.message;
    assert!(message.starts_with("panicked at src/lib.rs:"), "{message}");
    assert!(message.ends_with("failed: the balance"), "{message}");
    let text = run.output.all();
    let top = "#0  accounts::tests::payment_is_lost at";
    assert!(text.contains(top), "{text}");
    let witness = finding.witness.as_ref().expect("written");
    let mut replay = Command::new(raddle());
    replay.args(["replay", "-n", "20"]).arg(witness);
    let said = output(&mut replay, LIMIT);
    assert_eq!(said.status, 66, "{}", said.all());
    assert!(said.all().contains("20 of 20"), "{}", said.all());
}

/// Without the dependence relation, which does not know what Rust's library does inside.
#[test]
fn what_is_right_is_explored_but_only_atomics_are_steps() {
    for name in ["tests::count_is_right", "tests::payment_arrives"] {
        let run = one(&["--policy", "pcb:1", "--races", "fail"], name);
        run.expect(69, 0, 0);
        let text = run.output.all();
        let bound = "only atomic operations are steps";
        assert!(text.contains(bound), "{text}");
        assert!(text.contains("races were not looked for"), "{text}");
        let seen: Vec<_> = run.summary.instrumented.values().collect();
        assert_eq!(seen, ["raddle cargo (atomic operations)"]);
    }
}

#[test]
fn programs_run_alone_and_under_raddle() {
    let program = &built().1;
    let alone = output(&mut Command::new(program), LIMIT);
    assert_eq!(alone.status, 0, "{}", alone.all());
    run(&["run", "-n", "50"], program, &[]).expect(0, 0, 0);
    run(&["run"], program, &["wrongly"]).expect(66, 1, 0);
    let said = cargo(&["run", "--quiet"]);
    assert_eq!(said.status, 0, "{}", said.all());
    assert!(said.all().contains("nothing found"), "{}", said.all());
}

/// What `cargo nextest` builds has hooks, and each test is run by raddle: a tool of this name gets what tells
/// cargo so.
#[test]
fn nextest_is_told_of_hooks_and_runner() {
    let tools = scratch("nextest");
    let tool = tools.join("cargo-nextest");
    let script = "#!/bin/sh\necho \"$CARGO_BUILD_TARGET\"\necho \"$CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS\"\nenv | grep _RUNNER=\necho \"$*\"\n";
    std::fs::write(&tool, script).expect("the directory is ours");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&tool, executable).expect("the file is ours");
    let path = std::env::var("PATH").expect("there is one");
    let with_tool = |args: &[&str]| {
        let mut command = Command::new(raddle());
        command
            .current_dir(&tools)
            .env("PATH", format!("{}:{path}", tools.display()))
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .arg("cargo")
            .args(args);
        output(&mut command, LIMIT)
    };
    let said = with_tool(&["nextest", "run", "--offline"]);
    assert_eq!(said.status, 0, "{}", said.all());
    let lines: Vec<&str> = said.stdout.lines().collect();
    let [target, flags, runner, args] = lines[..] else {
        panic!("{}", said.all());
    };
    assert_eq!(target, "x86_64-unknown-linux-gnu");
    assert!(flags.contains("libraddle"), "{flags}");
    assert!(runner.ends_with("raddle run --"), "{runner}");
    assert_eq!(args, "nextest run --offline");
    // Another tool would build without hooks.
    let said = with_tool(&["expand"]);
    assert_eq!(said.status, 64, "{}", said.all());
    assert!(
        said.stderr.contains("would have no hooks"),
        "{}",
        said.all()
    );
}
