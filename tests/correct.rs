//! Programs without a bug that synchronise in unusual ways (`correct/`): no search finds anything in
//! them, in any mode.

mod common;

use common::{Compiler, LIMIT, compile, in_parallel, output, raddle};
use std::path::PathBuf;
use std::process::Command;

struct File {
    name: &'static str,
    /// As it is, and by `raddle cc`.
    compilers: [Compiler; 2],
    flags: &'static [&'static str],
}

const fn c(name: &'static str) -> File {
    File {
        name,
        compilers: [Compiler::Gcc, Compiler::RaddleCc],
        flags: &[],
    }
}

const FILES: [File; 4] = [
    c("locks.c"),
    c("structures.c"),
    c("system.c"),
    File {
        name: "standard.cpp",
        compilers: [Compiler::Gxx, Compiler::RaddleCxx],
        flags: &["-std=c++20"],
    },
];

/// There are at least so many cases.
const CASES: usize = 60;

/// A way to search, with the compiler's place in [`File::compilers`] and whether the search may say
/// that it was bounded.
struct Mode {
    name: &'static str,
    compiler: usize,
    options: &'static str,
    may_be_bounded: bool,
}

const fn mode(name: &'static str, compiler: usize, options: &'static str, bounded: bool) -> Mode {
    Mode {
        name,
        compiler,
        options,
        may_be_bounded: bounded,
    }
}

const MODES: [Mode; 6] = [
    mode("without hooks", 0, "run -n 30", false),
    mode("steer", 1, "run -n 100 --races=fail", false),
    mode("pct", 1, "run -n 100 --policy pct:3 --races=fail", false),
    mode("pos", 1, "run -n 100 --policy pos --races=fail", false),
    mode(
        "dpor",
        1,
        "run -n 2000 --policy dpor --time 2s --races=fail",
        true,
    ),
    mode("verify", 1, "verify --time 2s --races fail", true),
];

impl File {
    fn program(&self, compiler: usize) -> PathBuf {
        let source = format!("tests/correct/{}", self.name);
        compile(self.compilers[compiler], &source, self.flags)
    }

    fn cases(&self) -> Vec<String> {
        let listed = output(&mut Command::new(self.program(0)), LIMIT);
        assert_eq!(listed.status, 0, "{}", listed.all());
        listed.stdout.lines().map(String::from).collect()
    }
}

#[test]
fn nothing_is_found() {
    let mut runs = Vec::new();
    let mut cases = 0;
    for file in &FILES {
        let programs = [file.program(0), file.program(1)];
        for case in file.cases() {
            cases += 1;
            let of = |mode| (mode, programs.clone(), case.clone());
            runs.extend(MODES.iter().map(of));
        }
    }
    assert!(cases >= CASES, "only {cases} cases");
    in_parallel(&runs, |(mode, programs, case)| {
        let mut command = Command::new(raddle());
        command.args(mode.options.split(' ')).arg("--");
        command.arg(&programs[mode.compiler]).arg(case);
        let ended = output(&mut command, LIMIT);
        match ended.status {
            0 => Ok(()),
            69 if mode.may_be_bounded => Ok(()),
            status => Err(format!(
                "{case}, {}: exit status {status}: {}",
                mode.name,
                ended.all()
            )),
        }
    });
}

#[test]
fn they_pass_by_themselves() {
    for file in &FILES {
        for compiler in 0..2 {
            let program = file.program(compiler);
            for case in file.cases() {
                let ended = output(Command::new(&program).arg(&case), LIMIT);
                assert_eq!(ended.status, 0, "{case}: {}", ended.all());
            }
        }
    }
}
