//! Executions of every repaired program of `tests/corpus` and `tests/marks`, in which nothing may
//! be found; `./dev soak` calls it.
//!
//! `cargo bench --bench twins -- [N]`: N executions of each program (100,000), shared out evenly
//! among the policies.

#[path = "../common/mod.rs"]
mod common;
#[path = "../marks/mod.rs"]
mod marks;
#[path = "../corpus/mod.rs"]
mod table;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The default one comes first, under its own name: none.
const POLICIES: [&str; 4] = ["", "random", "pct:3", "pos"];
/// One command runs so many, so that it stays far below its time limit.
const PIECE: u64 = 1000;

/// Runs the program so often; the commands that found something.
fn wrong(program: &Path, args: &[&str], executions: u64, done: &AtomicU64) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut left, mut seed) = (executions, 0);
    while left > 0 {
        let count = left.min(PIECE);
        let policy = POLICIES[seed as usize % POLICIES.len()];
        seed += 1;
        let (n, s) = (count.to_string(), seed.to_string());
        let mut options = vec!["run", "-q", "-n", &n, "--seed", &s];
        if !policy.is_empty() {
            options.extend(["--policy", policy]);
        }
        let run = common::run(&options, program, args);
        done.fetch_add(run.summary.executions, Ordering::Relaxed);
        if run.summary.verdict != "nothing-found" || run.output.status != 0 {
            wrong.push(format!("{}\n{}", run.shown, run.output.all()));
        }
        left -= count;
    }
    wrong
}

fn main() {
    let executions = std::env::args().skip(1).find_map(|n| n.parse().ok());
    let executions: u64 = executions.unwrap_or(100_000);
    let fixed = ["-DFIXED"];
    let corpus = table::CASES.iter().map(|c| (c.program(&fixed), c.args));
    let marks = marks::MARKS.iter().map(|m| (m.program(&fixed), m.args));
    let programs: Vec<(PathBuf, &[&str])> = corpus.chain(marks).collect();
    let done = AtomicU64::new(0);
    common::in_parallel(&programs, |(program, args)| {
        let wrong = wrong(program, args, executions, &done);
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("\n")),
        }
    });
    println!(
        "{} fixed programs, {} executions, nothing found",
        programs.len(),
        done.into_inner()
    );
}
