//! The programs with which two papers measure: "Concurrency Verification with Maximal Path
//! Causality" (ESEC/FSE 2018; figures 2, 8 and 9, tables 1 and 2) and "Partial Orders for Efficient
//! Bounded Model Checking of Concurrent Software" (CAV 2013; program 1), with what `verify` must say
//! of each and of its repaired version.
//!
//! How many local paths a program has does not depend on which model the solver finds first; how
//! many executions it takes to see them all does, but each must show a path that is new.

mod common;

use common::{Compiler, Run, compile, in_parallel, run};
use std::fmt::Write;

/// What is to be said of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// A finding of this class within so many executions.
    Found(&'static str, u64),
    /// No bug, and so many local paths in all.
    Proved(u64),
    /// Too much for a test: only the table of `./dev paper` has it.
    Open,
}

use Verdict::{Found, Open, Proved};

/// Source, flags, arguments, verdict.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    Verdict,
);

const FIGURE_2: &str = "examples/mpc_figure2.c";
const FIGURE_8: &str = "examples/mpc_figure8.c";
const FIGURE_9: &str = "tests/paper/figure9.c";
const FIBONACCI: &str = "tests/marks/fibonacci.c";
const RACEY: &str = "tests/paper/racey.c";
const DEKKER: &str = "tests/paper/dekker.c";
const SPINLOCK: &str = "tests/paper/spinlock.c";
const RWLOCK: &str = "tests/paper/rwlock.c";
const SEQLOCK: &str = "tests/paper/seqlock.c";
const MSQUEUE: &str = "tests/paper/msqueue.c";
const REORDER: &str = "tests/corpus/reorder.c";
const TWOSTAGE: &str = "tests/corpus/twostage.c";
const WRONG_LOCK: &str = "tests/paper/wrong_lock.c";
const PHILOSOPHERS: &str = "tests/corpus/philosophers.c";
const LAZY: &str = "tests/paper/lazy.c";

const AGET: &str = "tests/applications/aget.c";
const LOG_BUFFER: &str = "tests/applications/log_buffer.c";
const WORKER_POOL: &str = "tests/applications/worker_pool.c";
const BLUETOOTH: &str = "tests/corpus/bluetooth.c";
const TRACER: &str = "tests/applications/tracer.c";
const FILE_SCAN: &str = "tests/applications/file_scan.c";
const RELAXATION: &str = "tests/applications/relaxation.c";
const RED_BLACK: &str = "tests/applications/red_black_tree.c";
const SPLAY: &str = "tests/applications/splay_tree.c";

const BUG: &[&str] = &["-DBUG"];
const BUG_1: &[&str] = &["-DBUG=1"];
const BUG_2: &[&str] = &["-DBUG=2"];
const BUG_4: &[&str] = &["-DBUG=4"];
const FIXED: &[&str] = &["-DFIXED"];
const AFTER: &[&str] = &["-DAFTER"];
const AFTER_FIXED: &[&str] = &["-DAFTER", "-DFIXED"];

const CASES: &[Case] = &[
    (FIGURE_2, &["-DEXTRA=0"], &[], Found("crash", 30)),
    (FIGURE_2, &["-DEXTRA=0", "-DFIXED"], &[], Proved(8)),
    (FIGURE_2, &["-DEXTRA=5"], &[], Found("crash", 30)),
    (FIGURE_2, &["-DEXTRA=5", "-DFIXED"], &[], Proved(18)),
    (FIGURE_2, &["-DEXTRA=9"], &[], Found("crash", 30)),
    (FIGURE_2, &["-DEXTRA=9", "-DFIXED"], &[], Proved(26)),
    (FIGURE_2, &["-DEXTRA=20"], &[], Found("crash", 30)),
    (FIGURE_2, &["-DEXTRA=20", "-DFIXED"], &[], Proved(48)),
    (FIGURE_8, &[], &[], Found("assertion", 5)),
    (FIGURE_9, &[], &["1"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["1"], Proved(4)),
    (FIGURE_9, &[], &["2"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["2"], Proved(6)),
    (FIGURE_9, &[], &["3"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["3"], Proved(10)),
    (FIGURE_9, &[], &["4"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["4"], Proved(18)),
    (FIGURE_9, &[], &["5"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["5"], Proved(34)),
    (FIGURE_9, &[], &["6"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["6"], Proved(66)),
    (FIGURE_9, &[], &["7"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["7"], Proved(130)),
    (FIGURE_9, &[], &["8"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["8"], Open),
    (FIGURE_9, &[], &["9"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["9"], Open),
    (FIGURE_9, &[], &["10"], Found("assertion", 5)),
    (FIGURE_9, FIXED, &["10"], Open),
    (FIGURE_9, AFTER, &["3"], Found("assertion", 5)),
    (FIGURE_9, AFTER_FIXED, &["3"], Proved(10)),
    (FIGURE_9, AFTER, &["5"], Found("assertion", 5)),
    (FIGURE_9, AFTER_FIXED, &["5"], Proved(34)),
    (FIGURE_9, AFTER, &["6"], Found("assertion", 5)),
    (FIGURE_9, AFTER_FIXED, &["6"], Proved(66)),
    (FIGURE_9, AFTER, &["8"], Found("assertion", 5)),
    (FIGURE_9, AFTER_FIXED, &["8"], Open),
    (FIGURE_9, AFTER, &["10"], Found("assertion", 5)),
    (FIGURE_9, AFTER_FIXED, &["10"], Open),
    (FIBONACCI, &[], &["3"], Found("assertion", 5)),
    (FIBONACCI, FIXED, &["3"], Proved(3)),
    (FIBONACCI, &[], &["5"], Found("assertion", 5)),
    (FIBONACCI, FIXED, &["5"], Proved(3)),
    (FIBONACCI, &[], &["6"], Found("assertion", 5)),
    (FIBONACCI, FIXED, &["6"], Proved(3)),
    (FIBONACCI, &[], &["8"], Found("assertion", 5)),
    (FIBONACCI, FIXED, &["8"], Proved(3)),
    (FIBONACCI, &[], &["10"], Found("assertion", 5)),
    (FIBONACCI, FIXED, &["10"], Proved(3)),
    (RACEY, &[], &["1", "3"], Proved(7)),
    (RACEY, &[], &["2", "10"], Proved(10)),
    (DEKKER, BUG, &["6"], Found("assertion", 21)),
    (DEKKER, &[], &["6"], Proved(21)),
    (DEKKER, BUG, &["20"], Found("assertion", 6)),
    (DEKKER, &[], &["20"], Proved(91)),
    (DEKKER, BUG, &["30"], Found("assertion", 6)),
    (DEKKER, &[], &["30"], Open),
    (SPINLOCK, BUG, &["2", "2"], Found("assertion", 9)),
    (SPINLOCK, &[], &["2", "2"], Proved(9)),
    (SPINLOCK, BUG, &["2", "5"], Found("assertion", 6)),
    (SPINLOCK, &[], &["2", "5"], Proved(65)),
    (SPINLOCK, BUG, &["3", "3"], Found("assertion", 6)),
    (SPINLOCK, &[], &["3", "3"], Proved(25)),
    (RWLOCK, BUG, &["2", "2"], Found("assertion", 9)),
    (RWLOCK, &[], &["2", "2"], Proved(9)),
    (RWLOCK, BUG, &["2", "5"], Found("assertion", 6)),
    (RWLOCK, &[], &["2", "5"], Proved(65)),
    (SEQLOCK, BUG, &["2", "2"], Found("assertion", 8)),
    (SEQLOCK, &[], &["2", "2"], Proved(6)),
    (SEQLOCK, BUG, &["3", "3"], Found("assertion", 6)),
    (SEQLOCK, &[], &["3", "3"], Proved(18)),
    (MSQUEUE, BUG, &["2"], Found("assertion", 25)),
    (MSQUEUE, &[], &["2"], Proved(9)),
    (MSQUEUE, BUG, &["5"], Found("assertion", 40)),
    (MSQUEUE, &[], &["5"], Proved(101)),
    (REORDER, &[], &["10"], Found("assertion", 10)),
    (REORDER, FIXED, &["10"], Proved(12)),
    (REORDER, &[], &["20"], Found("assertion", 10)),
    (REORDER, FIXED, &["20"], Proved(22)),
    (TWOSTAGE, &[], &["5"], Found("assertion", 8)),
    (TWOSTAGE, FIXED, &["5"], Proved(8)),
    (TWOSTAGE, &[], &["10"], Found("assertion", 8)),
    (TWOSTAGE, FIXED, &["10"], Proved(13)),
    (TWOSTAGE, &[], &["50"], Found("assertion", 8)),
    (TWOSTAGE, FIXED, &["50"], Proved(53)),
    (WRONG_LOCK, &[], &["3"], Found("assertion", 6)),
    (WRONG_LOCK, FIXED, &["3"], Proved(5)),
    (WRONG_LOCK, &[], &["8"], Found("assertion", 6)),
    (WRONG_LOCK, FIXED, &["8"], Proved(10)),
    (PHILOSOPHERS, &[], &["3"], Found("deadlock", 5)),
    (PHILOSOPHERS, FIXED, &["3"], Proved(4)),
    (PHILOSOPHERS, &[], &["5"], Found("deadlock", 5)),
    (PHILOSOPHERS, FIXED, &["5"], Proved(6)),
    (PHILOSOPHERS, &[], &["7"], Found("deadlock", 5)),
    (PHILOSOPHERS, FIXED, &["7"], Proved(8)),
    (LAZY, BUG, &["2"], Found("assertion", 9)),
    (LAZY, &[], &["2"], Proved(8)),
    (LAZY, BUG, &["4"], Found("assertion", 20)),
    (LAZY, &[], &["4"], Proved(32)),
    (AGET, BUG, &[], Found("assertion", 2)),
    (AGET, &[], &[], Proved(6)),
    (LOG_BUFFER, BUG, &[], Found("assertion", 3)),
    (LOG_BUFFER, &[], &[], Proved(5)),
    (WORKER_POOL, BUG_1, &[], Found("use-after-free", 6)),
    (WORKER_POOL, BUG_2, &[], Found("deadlock", 9)),
    (WORKER_POOL, &[], &[], Proved(8)),
    (BLUETOOTH, &[], &[], Found("assertion", 3)),
    (BLUETOOTH, FIXED, &[], Proved(8)),
    (TRACER, BUG_1, &[], Found("assertion", 1)),
    (TRACER, BUG_2, &[], Found("crash", 3)),
    (TRACER, BUG_4, &[], Found("deadlock", 2)),
    (TRACER, &[], &[], Proved(7)),
    (FILE_SCAN, BUG_1, &[], Found("assertion", 20)),
    (FILE_SCAN, BUG_2, &[], Found("deadlock", 3)),
    (FILE_SCAN, BUG_4, &[], Found("assertion", 1)),
    (FILE_SCAN, &[], &[], Proved(121)),
    (RELAXATION, BUG_1, &[], Found("deadlock", 1)),
    (RELAXATION, BUG_2, &[], Found("assertion", 4)),
    (RELAXATION, BUG_4, &[], Found("assertion", 2)),
    (RELAXATION, &[], &[], Proved(33)),
    (RED_BLACK, BUG, &[], Found("assertion", 30)),
    (RED_BLACK, &[], &[], Proved(24)),
    (SPLAY, BUG, &[], Found("assertion", 8)),
    (SPLAY, &[], &[], Proved(45)),
];

/// The best of other tools: source, a flag or argument, text. Which of several bugs of a program was
/// found in which execution is not published: they stand in the order of ours.
const PUBLISHED: &[(&str, &str, &str)] = &[
    (FIGURE_2, "-DEXTRA=0", "10 paths, 0.8 s"),
    (FIGURE_2, "-DEXTRA=5", "196 paths, 38 s"),
    (FIGURE_2, "-DEXTRA=9", "not in an hour"),
    (FIGURE_9, "1", "4 paths, 0.1 s"),
    (FIGURE_9, "2", "6 paths, 0.4 s"),
    (FIGURE_9, "3", "10 paths, 0.7 s"),
    (FIGURE_9, "4", "18 paths, 1.6 s"),
    (FIGURE_9, "5", "34 paths, 4.3 s"),
    (FIBONACCI, "5", "0.36 s safe, 0.28 s unsafe"),
    (FIBONACCI, "6", "1.1 s safe, 0.51 s unsafe"),
    (FIBONACCI, "8", "6.5 s safe, 3.1 s unsafe"),
    (FIBONACCI, "10", "32 s safe, 16 s unsafe"),
    (RACEY, "10", "432 paths, 459 s"),
    (DEKKER, "20", "929 paths, 84 s"),
    (DEKKER, "30", "2,970 paths, 346 s"),
    (SPINLOCK, "5", "522 paths, 66 s"),
    (SPINLOCK, "3", "1,357 paths, 208 s"),
    (RWLOCK, "5", "1,910 paths, 2,108 s"),
    (SEQLOCK, "3", "3,877 paths, 783 s"),
    (MSQUEUE, "5", "539 paths, 246 s"),
    (REORDER, "20", "2.3 s"),
    (TWOSTAGE, "10", "52 s"),
    (TWOSTAGE, "50", "not in 90 s"),
    (WRONG_LOCK, "8", "0.29 s"),
    (AGET, "-DBUG", "execution 2"),
    (LOG_BUFFER, "-DBUG", "execution 3"),
    (WORKER_POOL, "-DBUG=1", "execution 6"),
    (WORKER_POOL, "-DBUG=2", "execution 37"),
    (BLUETOOTH, "", "execution 3"),
    (TRACER, "-DBUG=1", "execution 1"),
    (TRACER, "-DBUG=2", "execution 3"),
    (TRACER, "-DBUG=4", "execution 2"),
    (FILE_SCAN, "-DBUG=4", "execution 1"),
    (FILE_SCAN, "-DBUG=2", "execution 3"),
    (RELAXATION, "-DBUG=1", "execution 1"),
    (RELAXATION, "-DBUG=2", "execution 4"),
    (RELAXATION, "-DBUG=4", "execution 2"),
    (RED_BLACK, "", "1 path, 0.5 s"),
    (SPLAY, "", "13 paths, 2.3 s"),
];

/// The same of figure 9 with its assertion elsewhere: an argument, text.
const PUBLISHED_AFTER: &[(&str, &str)] = &[
    ("5", "0.20 s"),
    ("6", "0.31 s"),
    ("8", "0.85 s"),
    ("10", "8.1 s"),
];

/// What is published for the program of a case.
fn published((source, flags, arguments, _): &Case) -> &'static str {
    let has = |word: &str| {
        let plain = flags.is_empty() && arguments.is_empty();
        plain && word.is_empty() || flags.contains(&word) || arguments.last() == Some(&word)
    };
    let known = match flags.contains(&"-DAFTER") {
        true => PUBLISHED_AFTER.iter().find(|p| has(p.0)).map(|p| p.1),
        false => (PUBLISHED.iter().find(|p| p.0 == *source && has(p.1))).map(|p| p.2),
    };
    known.unwrap_or_default()
}

fn verify(case: &Case, options: &[&str]) -> Run {
    let (source, flags, arguments, _) = case;
    let program = compile(Compiler::RaddleCc, source, flags);
    // What they are compared with does not look for races.
    let all = [&["verify", "-q", "--races", "off"], options].concat();
    run(&all, &program, arguments)
}

fn check(case: &Case) -> Result<(), String> {
    let proof = verify(case, &[]);
    let summary = &proof.summary;
    let wrong = match case.3 {
        Open => return Ok(()),
        Found(class, executions) => {
            let found = summary.findings.first().map(|f| f.class.as_str());
            found != Some(class) || summary.executions > executions
        }
        // The first execution may only show what is shared.
        Proved(paths) => {
            summary.verdict != "verified"
                || summary.local_paths != Some(paths)
                || summary.executions > paths + 1
        }
    };
    match wrong {
        true => Err(format!(
            "{case:?}: {} executions, local paths: {:?}\n{}\n{}",
            summary.executions,
            summary.local_paths,
            proof.shown,
            proof.output.all()
        )),
        false => Ok(()),
    }
}

#[test]
fn bugs_are_found_and_repaired_programs_verified() {
    let cases: Vec<&Case> = CASES.iter().filter(|case| case.3 != Open).collect();
    in_parallel(&cases, |case| check(case));
}

/// Time for one program of the table, and for one that is too much for a test.
const TIME: &str = "20s";
const LONG: &str = "900s";

/// Writes the table of `./dev paper` to the file that `RADDLE_PAPER` names; without it, there is
/// nothing to do. Each program has [`TIME`] or [`LONG`].
#[test]
fn table() {
    let Ok(path) = std::env::var("RADDLE_PAPER") else {
        return;
    };
    let mut text = format!(
        "# The papers' programs\n\nWritten by `./dev paper` from the cases of `tests/paper.rs`: \
         `verify` with its default strategy and {TIME} for each program ({LONG} for those that the \
         tests leave out), without looking for races or for a schedule with fewer preemptions. \"Not decided\": the time was over. Seconds are those of \
         one machine and of what else it did. The last column is the best that was published or \
         measured for such a program with another tool, on another machine: paths and seconds until \
         all is explored, the execution that shows the bug, or seconds until the verdict.\n\n\
         | program | flags | arguments | verdict | executions | local paths | queries | seconds \
         | in the solver | published |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for case in CASES {
        let time = if case.3 == Open { LONG } else { TIME };
        let done = verify(case, &["--time", time, "--no-shrink"]);
        let summary = &done.summary;
        let verdict = match (summary.findings.first(), summary.verdict.as_str()) {
            (Some(finding), _) => finding.class.as_str(),
            (None, "verified") => "verified",
            (None, _) => "not decided",
        };
        let number = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
        let _ = writeln!(
            text,
            "| {} | {} | {} | {verdict} | {} | {} | {} | {:.2} | {:.2} | {} |",
            case.0,
            case.1.join(" "),
            case.2.join(" "),
            summary.executions,
            number(summary.local_paths),
            number(summary.queries),
            summary.seconds,
            summary.solver_seconds,
            published(case),
        );
        std::fs::write(&path, &text).expect("the table can be written");
    }
}
