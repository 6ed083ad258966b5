//! A folder of C programs with a table of what is to come out of them, so that anybody's suite can be held
//! against raddle. `TABLE` in the folder has a line for each program, `FILE | FLAGS | VERDICT | COUNT`:
//! flags for the compiler, `ok` or `fails` (`-`: not known), and how many executions another checker needs
//! (`-`: not known). Empty lines, and those that begin with `#`, say nothing.
#![allow(dead_code, reason = "every binary uses a part of it")]

use crate::common::{self, LIMIT, output, raddle, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Another checker's threads run to their end whatever main does: a main that waits for all.
const WAITS: &str = "\
#undef main
#include <pthread.h>
int suite_main(int, char **);
int main(int argc, char **arguments) { suite_main(argc, arguments); pthread_exit(0); }
";

/// One program of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Within the folder.
    pub file: String,
    pub flags: Vec<String>,
    /// Is there a failing execution?
    pub fails: Option<bool>,
    /// Executions that another checker needs.
    pub count: Option<u64>,
}

/// What raddle said of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The search came to its end, or found a failure (`true`).
    Decided(bool),
    /// Not within its limits, or its bounds.
    Open,
    /// It could not be run: why.
    Trouble(String),
}

/// A verdict with what it took.
#[derive(Clone, Debug)]
pub struct Answer {
    pub said: Said,
    pub executions: u64,
    /// Of the whole command.
    pub seconds: f64,
}

impl Row {
    /// Reads a line of the table; `None` where it says nothing.
    pub fn parse(line: &str) -> Result<Option<Row>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [file, flags, verdict, count] = fields[..] else {
            return Err(format!("not FILE | FLAGS | VERDICT | COUNT: {line}"));
        };
        let fails = match verdict {
            "ok" => Some(false),
            "fails" => Some(true),
            "-" => None,
            other => return Err(format!("not `ok`, `fails` or `-`: {other}")),
        };
        let count = match count {
            "-" => None,
            number => Some(number.parse().map_err(|_| format!("no number: {number}"))?),
        };
        Ok(Some(Row {
            file: file.to_string(),
            flags: flags.split_whitespace().map(String::from).collect(),
            fails,
            count,
        }))
    }

    /// Does this answer contradict the table?
    pub fn is_contradicted(&self, answer: &Answer) -> bool {
        matches!((&answer.said, self.fails), (Said::Decided(fails), Some(known)) if *fails != known)
    }

    /// Builds the program with `raddle cc`. `all_threads`: see [`WAITS`].
    pub fn build(&self, folder: &Path, all_threads: bool) -> Result<PathBuf, String> {
        let dir = scratch("suites");
        let name: String = format!("{} {}", self.file, self.flags.join(" "))
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let program = dir.join(name);
        let mut command = Command::new(raddle());
        command.args(["cc", "-g", "-O1", "-w", "-pthread"]);
        command.args(&self.flags).current_dir(folder);
        if all_threads {
            // Of its own: rows are built at the same time.
            let waits = program.with_extension("waits.c");
            std::fs::write(&waits, WAITS).map_err(|error| error.to_string())?;
            command.arg("-Dmain=suite_main").arg(waits);
        }
        command.arg(&self.file).arg("-o").arg(&program);
        let built = output(&mut command, LIMIT);
        match built.status {
            0 => Ok(program),
            _ => Err(built.all()),
        }
    }
}

/// Reads a folder's table.
pub fn read(folder: &Path) -> Result<Vec<Row>, String> {
    let path = folder.join("TABLE");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows = text.lines().map(Row::parse);
    rows.filter_map(Result::transpose).collect()
}

/// Asks `dpor`, or `verify`, about a program, for so many seconds at most.
pub fn ask(program: &Path, verify: bool, seconds: u64) -> Answer {
    let how: &[&str] = match verify {
        true => &["verify"],
        false => &["run", "--policy", "dpor", "--leaked-threads=off"],
    };
    let time = format!("{seconds}s");
    let more = ["-q", "--races=off", "--no-shrink", "--time", &time];
    let begun = std::time::Instant::now();
    let run = common::run(&[how, &more].concat(), program, &[]);
    let said = match run.output.status {
        0 => Said::Decided(false),
        66 => Said::Decided(true),
        69 => Said::Open,
        _ => Said::Trouble(run.output.all()),
    };
    Answer {
        said,
        executions: run.summary.executions,
        seconds: begun.elapsed().as_secs_f64(),
    }
}
