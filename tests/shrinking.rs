//! Witnesses have as few preemptions as there are: the known minimum of every bug of `corpus/` and
//! `marks/`, and what a witness says of itself.

mod common;
#[path = "marks/mod.rs"]
mod marks;
#[path = "corpus/mod.rs"]
mod table;

use common::{Finding, Run, compile, in_parallel, run};
use marks::MARKS;
use std::path::PathBuf;
use table::CASES;

/// A bug whose depth is known.
struct Bug {
    name: &'static str,
    program: PathBuf,
    args: &'static [&'static str],
    preemptions: u64,
}

/// Those of `corpus/` and of `marks/`.
fn bugs() -> Vec<Bug> {
    let cases = CASES.iter().map(|case| Bug {
        name: case.file,
        program: case.program(&[]),
        args: case.args,
        preemptions: case.preemptions,
    });
    let own = MARKS
        .iter()
        .filter(|mark| mark.source.starts_with("tests/marks/"));
    let marks = own.filter_map(|mark| {
        Some(Bug {
            name: mark.name,
            program: mark.program(&[]),
            args: mark.args,
            preemptions: mark.preemptions?,
        })
    });
    cases.chain(marks).collect()
}

/// Steps after which an execution counts as a livelock; all others of the corpus are far shorter.
const LONGEST: &str = "100000";

/// What `pcb` with at most so many preemptions finds, each finding once. An error where it did not
/// run all of them.
fn within(bug: &Bug, preemptions: u64) -> Result<Vec<Finding>, String> {
    let policy = format!("pcb:{preemptions}");
    let run = run(
        &[
            "run",
            "--policy",
            &policy,
            "--keep-going",
            "--no-shrink",
            "--no-lock-order",
            "--races",
            "off",
            "--max-steps",
            LONGEST,
        ],
        &bug.program,
        bug.args,
    );
    let all = format!(
        "all interleavings with at most {preemptions} preemption{} explored",
        if preemptions == 1 { "" } else { "s" }
    );
    match run.summary.notes.contains(&all) {
        true => Ok(run.summary.findings),
        false => Err(format!("{}\n{}", run.shown, run.output.all())),
    }
}

#[test]
fn fewer_preemptions_do_not_do() {
    let mut bugs = bugs();
    bugs.retain(|bug| bug.preemptions > 0);
    assert!(bugs.len() >= 45);
    in_parallel(&bugs, |bug| {
        let found = within(bug, bug.preemptions - 1)?;
        match found.is_empty() {
            true => Ok(()),
            false => Err(format!("{}: {found:?}", bug.name)),
        }
    });
}

/// The first finding of the default policy.
fn witness(bug: &Bug, seed: &str) -> (Run, Option<Finding>) {
    let options = [
        "run",
        "-n",
        "30000",
        "--seed",
        seed,
        "--races",
        "off",
        "--early-timeouts=fail",
        "--shrink-time",
        "1h",
        "--max-steps",
        LONGEST,
    ];
    let run = run(&options, &bug.program, bug.args);
    let finding = run.summary.findings.first().cloned();
    (run, finding)
}

#[test]
fn a_witness_has_the_fewest_preemptions() {
    let bugs = bugs();
    let tries: Vec<(&Bug, &str)> = bugs.iter().flat_map(|b| [(b, "1"), (b, "2")]).collect();
    in_parallel(&tries, |&(bug, seed)| {
        let (run, finding) = witness(bug, seed);
        let Some(finding) = finding else {
            return Err(format!("{}: nothing\n{}", run.shown, run.output.all()));
        };
        let n = finding.preemptions;
        if n == bug.preemptions {
            return Ok(());
        }
        // One mistake may fail in several ways, some of which need more.
        let fewer = within(bug, n - 1)?;
        match n > bug.preemptions && fewer.iter().all(|f| f.fingerprint != finding.fingerprint) {
            true => Ok(()),
            false => Err(format!("{}: {finding:?}, {fewer:?}", run.shown)),
        }
    });
}

#[test]
fn a_witness_says_whether_fewer_would_do() {
    let table: [(&str, &[&str], bool, &str); 4] = [
        (
            "reader_writer.c",
            &[],
            true,
            "2 preemptions (no fewer will do)",
        ),
        (
            "lost_update.c",
            &[],
            true,
            "1 preemption (no fewer will do)",
        ),
        // As it was found: nobody has looked.
        ("lost_update.c", &["--no-shrink"], false, "1 preemption\n"),
        (
            "reader_writer.c",
            &["--shrink-executions", "1"],
            false,
            " preemptions\n",
        ),
    ];
    for (file, more, fewest, text) in table {
        let case = CASES.iter().find(|c| c.file == file).expect("a row");
        let options = [&["run", "--policy", "pcb", "--races", "off"], more].concat();
        let run = run(&options, &case.program(&[]), case.args);
        let finding = run.summary.findings.first().expect("a finding");
        assert_eq!(finding.fewest, fewest, "{}", run.output.all());
        assert!(run.output.stderr.contains(text), "{}", run.output.all());
    }
}

/// Of hundreds of preemptions at random those are left that matter.
#[test]
fn long_interleavings_get_short() {
    let source = "tests/shrinking/noise.c";
    let plain = compile(common::Compiler::Gcc, source, &[]);
    let hooked = compile(common::Compiler::RaddleCc, source, &[]);
    let table = [
        (&plain, ["8", "80"], 300),
        (&plain, ["8", "12"], 50),
        (&hooked, ["4", "50"], 100),
    ];
    let tries: Vec<_> = table.iter().flat_map(|t| [(t, "1"), (t, "2")]).collect();
    in_parallel(&tries, |((program, args, at_least), seed)| {
        let options = |more: &'static str| {
            let options = "run -n 3000 --policy random --races off --no-lock-order";
            let options = options.split(' ').chain(["--seed", *seed]);
            options.chain(more.split_whitespace()).collect::<Vec<_>>()
        };
        let found = run(&options("--no-shrink"), program, args);
        let shrunk = run(&options(""), program, args);
        let preemptions = |run: &Run| run.summary.findings.first().map(|f| f.preemptions);
        match (preemptions(&found), preemptions(&shrunk)) {
            (Some(before), Some(1)) if before >= *at_least => Ok(()),
            _ => Err(format!("{}{}", found.output.all(), shrunk.output.all())),
        }
    });
}

/// A time that is over at once: the witness is what was found, and says that it was not shrunk.
#[test]
fn shrinking_that_was_cut_off_is_said() {
    let program = compile(
        common::Compiler::RaddleCc,
        "tests/corpus/lost_update.c",
        &[],
    );
    let options = [
        "run",
        "-n",
        "1000",
        "--races",
        "off",
        "--shrink-time",
        "1ms",
    ];
    let run = run(&options, &program, &[]);
    let says = run.output.stderr.contains("shrinking ended after 1ms");
    assert!(says, "{}", run.output.all());
    assert!(!run.summary.findings[0].fewest);
}
