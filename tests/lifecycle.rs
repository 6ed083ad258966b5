//! However a run ends, it ends in time and nothing of it is left: time limits, Ctrl-C, the death of
//! the command itself.

mod common;

use common::{Compiler, compile, raddle, scratch};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Arguments that make the processes of one test recognisable.
fn mark(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

fn program() -> std::path::PathBuf {
    compile(Compiler::Gcc, "tests/hostile/hang.c", &[])
}

/// Live processes of the program itself (not of raddle) with this mark.
fn living(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc is there");
    let is_one = |path: &Path| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        let own = std::fs::read_link(path.join("exe")).is_ok_and(|exe| exe == raddle());
        !own && line.split('\0').any(|word| word == mark)
    };
    entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_one(path))
        .map(|path| path.display().to_string())
        .collect()
}

/// Waits until `done`, at most for `limit`.
fn within(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if done() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_execution_that_hangs_is_a_finding_that_says_where() {
    let cases = [
        ("compute", "computing"),
        ("block", "blocked in the system call pause"),
        ("lineage", "blocked in the system call pause"),
    ];
    for (mode, text) in cases {
        let mark = mark(&format!("limit-{mode}"));
        let options = ["run", "-n", "5", "--timeout", "1s", "--no-shrink"];
        let run = common::run(&options, &program(), &[mode, &mark]);
        assert_eq!(run.output.status, 66, "{mode}: {}", run.output.all());
        let finding = run.summary.findings.first().expect("a finding");
        assert_eq!(finding.class, "timeout", "{mode}: {}", run.output.all());
        let message = &finding.message;
        assert!(message.contains(text), "{mode}: {message}");
        assert!(living(&mark).is_empty(), "{mode}");
    }
}

#[test]
fn no_process_outlives_the_run() {
    let mark = mark("family");
    let run = common::run(&["run", "-n", "30"], &program(), &["family", &mark]);
    assert_eq!(run.summary.executions, 30, "{}", run.output.all());
    assert!(living(&mark).is_empty(), "{:?}", living(&mark));
}

/// `raddle run` of the program in this mode, once it is at work.
fn at_work(mode: &str, mark: &str) -> Child {
    let child = Command::new(raddle())
        .current_dir(scratch(mark))
        .args([
            "run",
            "-n",
            "1000000",
            "-j",
            "2",
            "--timeout",
            "100s",
            "--json",
            "summary.json",
        ])
        .arg("--")
        .arg(program())
        .args([mode, mark])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("raddle starts");
    // Two zygotes, and an execution of at least one of them.
    assert!(
        within(Duration::from_secs(60), || living(mark).len() >= 3),
        "{mode}: not at work"
    );
    child
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: a number of a child that has not been waited for, so it is nobody else's.
    unsafe { libc::kill(child.id() as i32, signal) };
}

#[test]
fn ctrl_c_ends_in_a_summary() {
    for mode in ["compute", "block", "family", "lineage"] {
        let mark = mark(&format!("interrupt-{mode}"));
        let mut child = at_work(mode, &mark);
        signal(&child, libc::SIGINT);
        let ended = within(Duration::from_secs(30), || {
            child.try_wait().expect("a child").is_some()
        });
        if !ended {
            signal(&child, libc::SIGKILL);
        }
        let status = child.wait().expect("a child");
        assert!(ended, "{mode}: does not end");
        assert!(status.code().is_some(), "{mode}: {status}");
        let summary = std::fs::read_to_string(scratch(&mark).join("summary.json"));
        assert!(
            summary.is_ok_and(|text| text.contains("\"verdict\"")),
            "{mode}: no summary"
        );
        assert!(living(&mark).is_empty(), "{mode}: {:?}", living(&mark));
    }
}

#[test]
fn the_targets_die_with_the_command() {
    for mode in ["compute", "block"] {
        let mark = mark(&format!("killed-{mode}"));
        let mut child = at_work(mode, &mark);
        signal(&child, libc::SIGKILL);
        child.wait().expect("a child");
        let gone = within(Duration::from_secs(10), || living(&mark).is_empty());
        assert!(gone, "{mode}: {:?}", living(&mark));
    }
}

#[test]
fn a_test_that_is_under_way_ends_with_the_suite() {
    let program = compile(Compiler::Rustc, "tests/lifecycle/suite.rs", &["--test"]);
    let mark = "goes_on_and_on";
    for (number, status) in [(libc::SIGTERM, Some(130)), (libc::SIGKILL, None)] {
        let mut child = Command::new(raddle())
            .current_dir(scratch(&format!("suite-{number}")))
            .args(["test", "-n", "1000000000", "--"])
            .arg(&program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("raddle starts");
        let at_work = within(Duration::from_secs(60), || living(mark).len() >= 2);
        signal(&child, number);
        let ended = within(Duration::from_secs(30), || {
            child.try_wait().expect("a child").is_some()
        });
        signal(&child, libc::SIGKILL);
        let ended_with = child.wait().expect("a child").code();
        assert!(at_work && ended, "{number}: {at_work} {ended}");
        assert_eq!(ended_with, status, "{number}");
        let gone = within(Duration::from_secs(10), || living(mark).is_empty());
        assert!(gone, "{number}: {:?}", living(mark));
    }
}

/// A program that lists no tests is run as one, whatever it prints, also if it would not end by itself.
#[test]
fn a_program_that_lists_no_tests_is_one() {
    let mut command = Command::new(raddle());
    let options = ["test", "--timeout", "1s", "-n", "1", "--no-shrink", "--"];
    command.current_dir(scratch("no-tests")).args(options);
    let output = common::output(command.arg(program()).arg("block"), common::LIMIT);
    assert_eq!(output.status, 66, "{}", output.all());
}

#[test]
fn a_function_that_is_missing_but_not_called_does_no_harm() {
    let source = "tests/hostile/unbound.c";
    let library = compile(Compiler::Gcc, source, &["-DLIBRARY", "-shared", "-fPIC"]);
    let library = format!("-Wl,-z,lazy,--allow-shlib-undefined,{}", library.display());
    let program = compile(Compiler::Gcc, source, &["-Wl,--no-as-needed", &library]);
    let run = common::run(&["run", "-n", "10"], &program, &[]);
    assert_eq!(run.summary.verdict, "nothing-found", "{}", run.output.all());
    assert_eq!(run.summary.executions, 10);
    // The dynamic linker itself ends a program that calls it.
    let called = common::run(&["run", "-n", "10"], &program, &["call"]);
    assert!(
        called.summary.outcomes.contains_key("exit 127"),
        "{}",
        called.output.all()
    );
}

/// A limit of time ends the execution that is under way, too, keeps what was found, and is told of.
#[test]
fn a_search_ends_when_its_time_is_up() {
    let instrumented = compile(Compiler::RaddleCc, "tests/hostile/hang.c", &[]);
    let cases: [(&str, &Path, i32, &str); 2] = [
        ("run", &program(), 69, "no execution came to its end"),
        ("verify", &instrumented, 69, "the time was limited"),
    ];
    for (command, program, status, text) in cases {
        let mark = mark(&format!("late-{command}"));
        let started = Instant::now();
        let options = [command, "--timeout", "300s", "--time", "2s"];
        let run = common::run(&options, program, &["block", &mark]);
        assert_eq!(run.output.status, status, "{}", run.output.all());
        assert!(run.output.all().contains(text), "{}", run.output.all());
        assert!(started.elapsed() < Duration::from_secs(100));
        assert!(living(&mark).is_empty(), "{command}");
    }
}
