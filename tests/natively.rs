//! What programs do without raddle, and must do with it although all their threads run on one kernel
//! thread, their executions are clones, and hooks stand before their accesses.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, raddle, run, scratch};
use std::path::Path;
use std::process::Command;

const LINKED: [&str; 3] = ["-Wl,--no-as-needed", "-lm", "-w"];
const MODES: [&[&str]; 4] = [
    &["run", "-n", "20"],
    &["run", "-n", "20", "--policy", "random"],
    &["run", "--policy", "dpor"],
    &["verify"],
];

/// The rows of a program: their names, and whether what they set is not kept apart, but named.
fn rows(program: &std::path::Path) -> Vec<(String, bool)> {
    let rows = output(&mut Command::new(program), LIMIT).stdout;
    let row = |line: &str| match line.split_once(' ') {
        Some((name, _)) => (name.to_string(), true),
        None => (line.to_string(), false),
    };
    rows.lines().map(row).collect()
}

/// Each thread has its settings for itself, and begins with what it would have from its creator: what
/// the program reads without raddle is what it is to read with it. What cannot be kept apart is named,
/// and kernel threads keep all of it.
#[test]
fn what_is_a_threads_own() {
    let plain = compile(Compiler::Gcc, "tests/natively/settings.c", &LINKED);
    let program = compile(Compiler::RaddleCc, "tests/natively/settings.c", &LINKED);
    let rows = rows(&plain);
    assert!(rows.len() > 35, "{rows:?}");
    in_parallel(&rows, |(name, named)| {
        let natively = output(Command::new(&plain).arg(name), LIMIT).stdout;
        let mut args = vec![name.as_str()];
        args.extend(natively.lines());
        assert_eq!(args.len(), 10, "{name}: {natively}");
        let kernel: &[&str] = &["run", "-n", "3", "--threads", "kernel"];
        for mode in MODES.into_iter().chain([kernel]) {
            let made = run(mode, &program, &args);
            let (status, summary) = (made.output.status, &made.summary);
            let right = match *named && mode != kernel {
                true => !summary.uncontrolled.is_empty(),
                false => status == 0 || status == 69 && summary.findings.is_empty(),
            };
            if !right {
                let all = made.output.all();
                return Err(format!("{mode:?} {name}: status {status}\n{all}"));
            }
        }
        Ok(())
    });
}

/// Calls return and write what they do without raddle.
#[test]
fn results_are_as_natively() {
    let plain = compile(Compiler::Gcc, "tests/natively/results.c", &["-w"]);
    let program = compile(Compiler::RaddleCc, "tests/natively/results.c", &["-w"]);
    let right = output(&mut Command::new(&plain), LIMIT).stdout;
    assert!(right.lines().count() >= 30, "{right}");
    let once: &[&str] = &["run", "-n", "1", "-q"];
    let cases = [
        (&plain, once),
        (&program, once),
        (&program, &["run", "--policy", "dpor", "-q"]),
    ];
    in_parallel(&cases, |&(program, mode)| {
        let made = run(mode, program, &[]).output.stdout;
        match made == right {
            true => Ok(()),
            false => Err(format!("{mode:?}: {made}\nnatively: {right}")),
        }
    });
}

/// Open files outlast an execution, and with `-j` several use them at once; nobody finds what another
/// one did.
#[test]
fn inherited_descriptors_are_as_they_were() {
    let program = compile(Compiler::RaddleCc, "tests/natively/descriptors.c", &["-w"]);
    let dir = scratch("natively");
    let file = dir.join("abc");
    std::fs::write(&file, "abcdef").expect("a file can be written");
    let cases = [
        "/dev/null",
        "$1 5<$1",
        "/dev/null 5<$1",
        "/dev/null 5</dev/null",
    ];
    let modes = [
        "run -n 60",
        "run -n 60 -j 2 --policy random",
        "run --policy dpor",
    ];
    for (case, mode) in cases.iter().flat_map(|case| modes.map(|mode| (case, mode))) {
        let both = if case.contains('5') { "both" } else { "" };
        let script = format!("exec $2 {mode} -- $3 {both} <{case}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).current_dir(&dir);
        shell.arg(&file).arg(raddle()).arg(&program);
        let made = output(&mut shell, LIMIT);
        assert_eq!(made.status, 0, "{script}\n{}", made.all());
    }
}

fn finds_nothing(mode: &[&str], program: &Path, argument: &str) {
    let made = run(mode, program, &[argument]);
    let wrong = !made.summary.findings.is_empty() || ![0, 69].contains(&made.output.status);
    assert!(!wrong, "{mode:?} {argument}: {}", made.output.all());
}

/// A fault that the program handles is none.
#[test]
fn handled_faults_are_no_findings() {
    let program = compile(Compiler::RaddleCc, "tests/natively/barrier.c", &["-w"]);
    for mode in MODES {
        for kind in ["0", "1"] {
            finds_nothing(mode, &program, kind);
        }
    }
}

/// What a child will write may end a loop, also one that it takes long to end.
#[test]
fn loops_that_a_child_ends_are_no_livelocks() {
    let program = compile(Compiler::RaddleCc, "tests/natively/child.c", &["-w"]);
    for mode in [
        &["run", "-n", "1"] as &[_],
        &["run", "--policy", "dpor"],
        &["verify"],
    ] {
        for milliseconds in ["1", "3000"] {
            finds_nothing(mode, &program, milliseconds);
        }
    }
}

/// What lay on the stack of a thread is gone with it.
#[test]
fn stacks_of_threads_that_have_ended_are_not_used() {
    let program = compile(Compiler::RaddleCc, "tests/natively/dead_stack.c", &["-w"]);
    for mode in MODES {
        for (kind, fails) in [("0", true), ("1", true), ("2", true), ("3", false)] {
            let made = run(mode, &program, &[kind]);
            let found = made.summary.findings.first().map(|f| f.class.as_str());
            let expected = fails.then_some("use-after-free");
            assert_eq!(found, expected, "{mode:?} {kind}: {}", made.output.all());
        }
    }
}

/// AddressSanitizer's runtime asks for the time with locks of its own held: that is no place to switch.
#[test]
fn sanitizers_are_no_part_of_the_schedule() {
    let sanitized = "-fsanitize=address";
    for compiler in [Compiler::Gcc, Compiler::RaddleCc] {
        let program = compile(compiler, "tests/natively/two.c", &[sanitized, "-w"]);
        let explored = run(&["run", "--policy", "dpor"], &program, &[]);
        let (status, all) = (explored.output.status, explored.output.all());
        assert!([0, 69].contains(&status), "{compiler:?}: {all}");
        let clock = run(&["run", "--policy", "dpor"], &program, &["clock"]);
        assert!(
            [0, 69].contains(&clock.output.status),
            "{}",
            clock.output.all()
        );
        // What the program itself asks is a step.
        let read = |note: &String| note.starts_with("the clock is read");
        let asked = [&explored, &clock].map(|made| made.summary.notes.iter().any(read));
        assert_eq!(asked, [false, true], "{compiler:?}: {all}");
    }
}
