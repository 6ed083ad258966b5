//! The corpus: every bug is found, by every policy, and no fixed twin shows one.

mod common;
#[path = "corpus/mod.rs"]
mod table;

use common::{in_parallel, root, run};
use table::{CASES, Case, POLICIES};

/// How many executions a fixed twin must survive, over all policies.
const TWIN_EXECUTIONS: u32 = 10_000;

#[test]
fn every_file_is_in_the_table() {
    let mut files: Vec<String> = std::fs::read_dir(root().join("tests/corpus"))
        .expect("the folder can be read")
        .map(|entry| entry.expect("it can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".c") || name.ends_with(".cpp"))
        .collect();
    files.sort();
    let mut listed: Vec<String> = CASES.iter().map(|case| case.file.to_string()).collect();
    listed.sort();
    listed.dedup();
    assert_eq!(files, listed);
    assert!(listed.len() >= 28);
}

#[test]
fn every_bug_is_found_by_every_policy() {
    let tries: Vec<(&Case, usize)> = CASES
        .iter()
        .flat_map(|case| (0..POLICIES.len()).map(move |policy| (case, policy)))
        .collect();
    in_parallel(&tries, |&(case, policy)| {
        let limit = case.within[policy].to_string();
        let options = [
            "run",
            "-n",
            &limit,
            "--policy",
            POLICIES[policy],
            "--seed",
            "1",
            "--early-timeouts=fail",
        ];
        let run = run(&options, &case.program(&[]), case.args);
        let Some(finding) = run.summary.findings.first() else {
            return Err(format!(
                "{}: nothing found\n{}",
                run.shown,
                run.output.all()
            ));
        };
        let as_expected = case.classes.contains(&finding.class.as_str())
            && run.summary.verdict == "finding"
            && run.output.status == 66;
        if as_expected {
            Ok(())
        } else {
            Err(format!(
                "{}: {:?}\n{}",
                run.shown,
                finding,
                run.output.all()
            ))
        }
    });
}

#[test]
fn no_fixed_twin_shows_anything() {
    in_parallel(CASES, |case| {
        for (i, policy) in POLICIES.iter().enumerate() {
            let share = TWIN_EXECUTIONS / 3 + u32::from(i == 0);
            let limit = share.to_string();
            let options = [
                "run", "-n", &limit, "--policy", policy, "--seed", "7", "-j", "1",
            ];
            let run = run(&options, &case.program(&["-DFIXED"]), case.args);
            let as_expected = run.summary.verdict == "nothing-found"
                && run.output.status == 0
                && run.summary.executions == u64::from(share);
            if !as_expected {
                return Err(format!(
                    "{}: {} after {} executions\n{}",
                    run.shown,
                    run.summary.verdict,
                    run.summary.executions,
                    run.output.all()
                ));
            }
        }
        Ok(())
    });
}
