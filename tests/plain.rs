//! A symbolic run is a plain run with expressions beside it: 64 algorithms (`plain/`), whose input
//! is symbolic and holds a fixed text, print and return under `verify` what they do natively.

mod common;

use common::{Compiler, compile, in_parallel, output, root, run, scratch};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const SOURCES: [&str; 4] = ["sorting", "numbers", "text", "wide"];

/// The names in a source's table.
fn programs(source: &str) -> Vec<String> {
    let path = root().join(format!("tests/plain/{source}.c"));
    let text = std::fs::read_to_string(path).expect("the source is there");
    let (_, table) = text
        .split_once("struct program all[] = {")
        .expect("it has a table");
    let (table, _) = table.split_once("};").expect("the table ends");
    let named = table.split('{').skip(1);
    named
        .filter_map(|row| row.split('"').nth(1))
        .map(str::to_owned)
        .collect()
}

struct Case {
    source: &'static str,
    program: String,
    level: &'static str,
}

impl Case {
    /// A file of the case's own.
    fn file(&self, kind: &str) -> PathBuf {
        let Case {
            source,
            program,
            level,
        } = self;
        scratch("plain").join(format!("{source}-{program}{level}-{kind}"))
    }

    /// What the program prints and returns natively.
    fn natively(&self, path: &str) -> (String, i32) {
        let program = compile(Compiler::Gcc, path, &["-DPLAIN", "-w"]);
        let file = self.file("natively");
        let mut command = Command::new(program);
        let ran = output(
            command.arg(&file).arg(&self.program),
            Duration::from_secs(60),
        );
        (
            std::fs::read_to_string(file).unwrap_or_default(),
            ran.status,
        )
    }

    fn check(&self) -> Result<(), String> {
        let path = format!("tests/plain/{}.c", self.source);
        let (printed, status) = self.natively(&path);
        let program = compile(Compiler::RaddleCc, &path, &[self.level, "-w"]);
        let file = self.file("symbolic");
        let shown = file.display().to_string();
        let options = ["verify", "--no-shrink", "--max-executions", "1"];
        let found = run(&options, &program, &[&shown, &self.program]);
        let symbolic = std::fs::read_to_string(file).unwrap_or_default();
        let ends: Vec<&String> = found.summary.outcomes.keys().collect();
        if printed.is_empty() || symbolic != printed || ends != [&format!("exit {status}")] {
            return Err(format!(
                "{}: {ends:?} and {symbolic:?} instead of {status} and {printed:?}\n{}",
                found.shown,
                found.output.all()
            ));
        }
        Ok(())
    }
}

#[test]
fn symbolic_runs_do_what_plain_runs_do() {
    let mut cases = Vec::new();
    for source in SOURCES {
        for program in programs(source) {
            cases.extend(["-O0", "-O2"].map(|level| Case {
                source,
                program: program.clone(),
                level,
            }));
        }
    }
    assert_eq!(cases.len(), 2 * 64);
    in_parallel(&cases, Case::check);
}
