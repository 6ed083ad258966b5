//! Executions of every repaired program of `tests/corpus` and `tests/marks`, in which nothing may
//! be found, no race and no thread left behind either; `./dev twins` and `./dev soak` call it.
//!
//! `cargo bench --bench twins -- [N]`: N executions of each program (100,000), shared out evenly
//! among the policies. They go round by round, a thousand of each program at a time, as its row says
//! and built by `raddle cc` in turn; after each round it says how far it is, so that a run that is
//! stopped has its numbers.

#[path = "../common/mod.rs"]
mod common;
#[path = "../marks/mod.rs"]
mod marks;
#[path = "../corpus/mod.rs"]
mod table;

use common::{Compiler, compile};
use std::path::PathBuf;

/// The default one comes first, under its own name: none.
const POLICIES: [&str; 4] = ["", "random", "pct:3", "pos"];
/// Executions of a program in a round.
const PIECE: u64 = 1000;
/// Programs that race on purpose: what their threads share is not protected, only right.
const RACY: [&str; 2] = ["tests/marks/alternation.c", "tests/marks/fibonacci.c"];

/// One repaired program.
struct Twin {
    /// As its table has it, and with all accesses as steps.
    builds: [PathBuf; 2],
    args: &'static [&'static str],
    races: &'static str,
}

impl Twin {
    fn new(source: &str, plain: PathBuf, args: &'static [&'static str]) -> Twin {
        let compiler = match source.ends_with(".cpp") {
            true => Compiler::RaddleCxx,
            false => Compiler::RaddleCc,
        };
        Twin {
            builds: [plain, compile(compiler, source, &["-DFIXED"])],
            args,
            races: match RACY.contains(&source) {
                true => "report",
                false => "fail",
            },
        }
    }

    /// One round; what was found.
    fn round(&self, round: u64) -> Result<(), String> {
        let (n, seed) = (PIECE.to_string(), round.to_string());
        let mut options = vec!["run", "-q", "-n", &n, "--seed", &seed];
        options.extend(["--races", self.races, "--leaked-threads", "fail"]);
        let policy = POLICIES[(round / 2) as usize % POLICIES.len()];
        if !policy.is_empty() {
            options.extend(["--policy", policy]);
        }
        let build = &self.builds[round as usize % self.builds.len()];
        let run = common::run(&options, build, self.args);
        let clean = run.summary.verdict == "nothing-found"
            && run.output.status == 0
            && run.summary.executions == PIECE;
        match clean {
            true => Ok(()),
            false => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    }
}

fn main() {
    let executions = std::env::args().skip(1).find_map(|n| n.parse().ok());
    let executions: u64 = executions.unwrap_or(100_000);
    let fixed = ["-DFIXED"];
    let corpus = table::CASES.iter().map(|case| {
        let source = format!("tests/corpus/{}", case.file);
        Twin::new(&source, case.program(&fixed), case.args)
    });
    let marks = marks::MARKS
        .iter()
        .map(|mark| Twin::new(mark.source, mark.program(&fixed), mark.args));
    let twins: Vec<Twin> = corpus.chain(marks).collect();
    let rounds = executions.div_ceil(PIECE);
    for round in 1..=rounds {
        common::in_parallel(&twins, |twin| twin.round(round));
        println!(
            "{} fixed programs, {} executions of each, nothing found",
            twins.len(),
            round * PIECE
        );
    }
}
