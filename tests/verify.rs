//! `raddle verify` beyond its verdict: what it keeps.

mod common;

use common::{Compiler, LIMIT, Output, compile, empty, output, raddle, run};
use std::path::{Path, PathBuf};
use std::process::Command;

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
    let mut lines = said.stdout.lines();
    for file in files {
        let named = lines.any(|line| line == file.to_string_lossy());
        let verdict = lines.next().unwrap_or_default();
        assert!(named && verdict.starts_with("raddle: "), "{}", said.all());
    }
    assert_eq!(said.stdout.lines().last(), Some(last), "{}", said.all());
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
    // Of the three local paths of thread 1 one is met with the failure of thread 2.
    assert_eq!((paths.len(), findings.len()), (2, 1), "{files:?}");

    let last = "raddle: 3 witnesses, 2 without a failure, 1 failed";
    expect(&replay(&[], &files), 66, &files, last);
    let last = "raddle: 2 witnesses, 2 without a failure";
    expect(&replay(&["-n", "3"], &paths), 0, &paths, last);

    let alone = replay(&[], &paths[..1]);
    assert_eq!(alone.status, 0, "{}", alone.all());
    let says = "took the same path again, without a failure (1 of 1 replays";
    assert!(alone.stdout.contains(says), "{}", alone.all());

    let broken = dir.join("broken");
    std::fs::write(&broken, "no witness").expect("the file can be written");
    let with_broken = [&[broken][..], &paths].concat();
    let last = "raddle: 3 witnesses, 2 without a failure, 1 could not be replayed";
    let said = replay(&[], &with_broken);
    assert_eq!(said.status, 65, "{}", said.all());
    assert_eq!(said.stdout.lines().last(), Some(last), "{}", said.all());
    for option in ["--gdb", "--other", "--json=x"] {
        let refused = replay(&[option], &paths);
        assert_eq!(refused.status, 64, "{}", refused.all());
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
        said.stdout.contains("raddle: failed: assertion: "),
        "{}",
        said.all()
    );
    let xml = std::fs::read_to_string(&junit).expect("the file is written");
    assert_eq!(xml.matches("<testcase ").count(), files.len(), "{xml}");
    assert!(xml.contains("<failure "), "{xml}");
}
