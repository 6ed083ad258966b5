//! Are programs asked for the list of their tests left alone, is standard output the program's, and
//! are GoogleTest's tests run one by one?

mod common;

use common::{Compiler, LIMIT, Output, compile, output, raddle, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that gives a list when it is asked by `list`, and holds `mark`.
fn stand_in(list: &str, mark: &str) -> PathBuf {
    let defines = [("LIST", list), ("MARK", mark)];
    let defines = defines.map(|(name, value)| format!("-D{name}=\"{value}\""));
    let defines = [defines[0].as_str(), defines[1].as_str()];
    compile(Compiler::Gcc, "tests/frameworks/stand_in.c", &defines)
}

fn told(options: &[&str], program: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(raddle());
    command
        .current_dir(scratch("frameworks"))
        .args(options)
        .arg("--");
    output(command.arg(program).args(args), LIMIT)
}

#[test]
fn a_list_of_tests_goes_through() {
    // The argument that asks; another text that programs of the framework hold.
    let table = [
        ("--gtest_list_tests", ""),
        ("--list-test-names-only", "list-tests"),
        ("--list-tests", ""),
        ("--list-test-cases", ""),
        ("-ltc", "list-test-cases"),
        ("--list_content", ""),
        ("--list", "include-ignored"),
    ];
    for (list, mark) in table {
        let program = stand_in(list, mark);
        let native = output(Command::new(&program).arg(list), LIMIT);
        for command in ["run", "verify", "test"] {
            let got = told(&[command], &program, &[list]);
            let wanted = (native.status, &native.stdout);
            assert_eq!((got.status, &got.stdout), wanted, "{list}: {}", got.all());
            assert!(
                got.stderr.contains("not under control"),
                "{list}: {}",
                got.all()
            );
        }
    }
    // The same argument in a program of no framework that is known.
    let own = stand_in("--list", "");
    let got = told(&["run", "-q", "-n", "5"], &own, &["--list"]);
    assert_eq!(got.status, 66, "{}", got.all());
    assert!(got.stderr.contains("exit status 3"), "{}", got.all());
}

#[test]
fn standard_output_is_the_programs() {
    let program = stand_in("--gtest_list_tests", "");
    let one = ["--gtest_filter=Bank.Rest"];
    let native = output(Command::new(&program).args(one), LIMIT);
    for options in [
        &["run", "-n", "5"][..],
        &["run", "-q", "-n", "5", "--policy", "dfs"],
    ] {
        let got = told(options, &program, &one);
        assert_eq!(got.stdout, native.stdout, "{}", got.all());
        assert!(
            got.stderr.contains("5 executions") || got.status == 69,
            "{}",
            got.all()
        );
    }
    // Of an execution that failed, if one did.
    let failing = ["--gtest_filter=Bank.Pay"];
    let got = told(&["run", "-n", "200"], &program, &failing);
    assert_eq!(got.status, 66, "{}", got.all());
    let says = "[ RUN      ] Bank.Pay\nstand_in.c:9: Failure\n[  FAILED  ] Bank.Pay\n";
    assert_eq!(got.stdout, says);
    assert!(
        got.stderr.contains("(Bank.Pay: stand_in.c:9: Failure)"),
        "{}",
        got.all()
    );
}

#[test]
fn tests_of_google_test_run_one_by_one() {
    let program = stand_in("--gtest_list_tests", " ");
    let tests = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(raddle());
        command.current_dir(scratch("frameworks"));
        command.envs(variables.iter().copied());
        command
            .args(["test", "-q", "-n", "200", "--"])
            .arg(&program);
        let got = output(command.args(args), LIMIT);
        let lines = got.stderr.lines();
        let names = lines.filter_map(|line| line.strip_prefix("test "));
        (got.status, names.collect::<Vec<_>>().join(" "))
    };
    let parts = [("GTEST_TOTAL_SHARDS", "2"), ("GTEST_SHARD_INDEX", "1")];
    type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], i32, &'a str);
    let table: [Row; 5] = [
        (&[], &[], 66, "Bank.Pay Bank.Rest Shop.Sell"),
        (&["Rest", "Sell"], &[], 0, "Bank.Rest Shop.Sell"),
        (
            &["--gtest_also_run_disabled_tests", "Old"],
            &[],
            0,
            "Bank.DISABLED_Old",
        ),
        (&[], &parts, 0, "Bank.Rest"),
        (&["Nothing"], &[], 64, ""),
    ];
    for (args, variables, status, names) in table {
        let wanted = (status, names.to_string());
        assert_eq!(tests(args, variables), wanted, "{args:?} {variables:?}");
    }
    let other = stand_in("--list-tests", "");
    let got = told(&["test"], &other, &["Pay"]);
    assert_eq!(got.status, 64, "{}", got.all());
    assert!(got.stderr.contains("Catch2"), "{}", got.all());
}
