//! Executions until the bug, for each program of the corpus and each policy: median and most over
//! twenty seeds, and the limit that `tests/corpus/mod.rs` sets after these.

#[path = "../common/mod.rs"]
mod common;
#[path = "../corpus/mod.rs"]
mod table;

use std::sync::Mutex;
use table::{CASES, POLICIES};

const SEEDS: u64 = 20;
const LIMIT: &str = "20000";

/// Executions until the finding; `None` when there was none.
fn until_found(case: &table::Case, policy: &str, seed: u64) -> Option<u64> {
    let seed = seed.to_string();
    let options = [
        "run",
        "-n",
        LIMIT,
        "--policy",
        policy,
        "--seed",
        &seed,
        "--no-shrink",
        "--early-timeouts=fail",
        "-q",
    ];
    let run = common::run(&options, &case.program(&[]), case.args);
    let finding = run.summary.findings.first()?;
    case.classes
        .contains(&finding.class.as_str())
        .then_some(run.summary.executions)
}

fn main() {
    let rows = Mutex::new(Vec::new());
    common::in_parallel(CASES, |case| {
        let mut row = format!("{:24}", format!("{} {}", case.file, case.args.join(" ")));
        for (policy, limit) in POLICIES.iter().zip(case.within) {
            let mut found: Vec<Option<u64>> = (1..=SEEDS)
                .map(|seed| until_found(case, policy, seed))
                .collect();
            found.sort_by_key(|n| n.unwrap_or(u64::MAX));
            let text = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
            let (median, most) = (found[found.len() / 2], found[found.len() - 1]);
            row.push_str(&format!(
                " {:>7} {:>7} {limit:>7}",
                text(median),
                text(most)
            ));
        }
        rows.lock().expect("no worker panics here").push(row);
        Ok(())
    });
    let mut rows = rows.into_inner().expect("no worker panics here");
    rows.sort();
    println!(
        "{:24} {}",
        "",
        POLICIES
            .map(|p| format!("{p:>7} {:>7} {:>7}", "most", "limit"))
            .join(" ")
    );
    for row in rows {
        println!("{row}");
    }
}
