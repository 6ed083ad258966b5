//! Do threads that are cancelled end where they do natively? For each function of
//! `runtime/src/threads/points.rs`, and for each kind of wait, in all states of cancellation: `dpor` comes to
//! all ends that exist, and neither it nor a sample of all interleavings to another one.

mod common;

use common::{Compiler, compile, in_parallel, root, run};
use std::collections::BTreeSet;
use std::path::Path;

/// Who asks for the cancellation, the state of the thread, and its ends: 1 cancelled, 2 it returned.
type Case = (&'static str, &'static str, &'static [i32]);

/// Of a call that need not wait.
const AT_ONCE: [Case; 4] = [
    ("self", "deferred", &[1]),
    ("main", "deferred", &[1, 2]),
    ("main", "disabled", &[2]),
    ("main", "asynchronous", &[1, 2]),
];

/// Of waits that end only after the request. A thread whose end nobody has to wait for is joined although
/// there is a request, and one that has been signalled may have left its wait.
const WAITS: [(&str, &[Case]); 8] = [
    (
        "join",
        &[
            ("self", "deferred", &[1, 2]),
            ("main", "deferred", &[1, 2]),
            ("main", "disabled", &[2]),
        ],
    ),
    (
        "cond_wait",
        &[
            ("self", "deferred", &[1, 2]),
            ("main", "deferred", &[1, 2]),
            ("main", "disabled", &[2]),
        ],
    ),
    ("pause", CANCELLED),
    ("sigsuspend", CANCELLED),
    ("sigwait", ENDED),
    ("sigwaitinfo", ENDED),
    ("sem_wait", ENDED),
    ("read", ENDED),
];

const CANCELLED: &[Case] = &[
    ("self", "deferred", &[1]),
    ("main", "deferred", &[1]),
    ("main", "asynchronous", &[1]),
];
const ENDED: &[Case] = &[
    ("self", "deferred", &[1]),
    ("main", "deferred", &[1]),
    ("main", "disabled", &[2]),
    ("main", "asynchronous", &[1]),
];

/// Functions of which it is not followed what they do to memory: the verdict says so.
const UNSEEN: [&str; 3] = ["epoll_pwait2", "recvmmsg", "sendmmsg"];
/// Functions that bound the verdict where they are called and the thread was not cancelled before.
const BOUNDING: [&str; 3] = ["getrandom", "tcdrain", "vmsplice"];

/// The ends of a case, in order.
fn ends(policy: &[&str], program: &Path, arguments: &[&str]) -> Result<Vec<i32>, String> {
    let options = [
        "-q",
        "--races=off",
        "--leaked-threads=off",
        "--accept-exit",
        "1,2",
    ];
    let seen = run(&[&["run"], policy, &options].concat(), program, arguments);
    let number = |end: &String| end.strip_prefix("exit ").and_then(|n| n.parse().ok());
    let ends: Option<Vec<i32>> = seen.summary.outcomes.keys().map(number).collect();
    let returned = ends.as_ref().is_some_and(|ends| ends.contains(&2));
    let bounded = UNSEEN.contains(&arguments[0]) || returned && BOUNDING.contains(&arguments[0]);
    let status = match policy.contains(&"dpor") && bounded {
        true => 69,
        false => 0,
    };
    match (seen.output.status, ends) {
        (got, Some(ends)) if got == status => Ok(ends),
        _ => Err(format!("{arguments:?}: {}", seen.output.all())),
    }
}

/// `dpor` comes to all ends of the case, and neither it nor a sample of all interleavings to another one.
fn check(program: &Path, name: &str, case: &Case) -> Result<(), String> {
    let &(who, state, expected) = case;
    let arguments = [name, who, state];
    let explored = ends(&["--policy", "dpor"], program, &arguments)?;
    let sampled = ends(&["-n", "100"], program, &arguments)?;
    match explored == expected && sampled.iter().all(|end| expected.contains(end)) {
        true => Ok(()),
        false => Err(format!(
            "{arguments:?}: {explored:?} by dpor, {sampled:?} in a sample, instead of {expected:?}"
        )),
    }
}

#[test]
fn waits_end_by_cancellation_as_natively() {
    let program = compile(
        Compiler::RaddleCc,
        "tests/cancellation/waits.c",
        &["-O0", "-w"],
    );
    let all = WAITS
        .iter()
        .flat_map(|(name, cases)| cases.iter().map(move |case| (*name, case)));
    let all: Vec<(&str, &Case)> = all.collect();
    in_parallel(&all, |(name, case)| check(&program, name, case));
}

#[test]
fn cancellation_points_act_also_where_they_need_not_wait() {
    let table = std::fs::read_to_string(root().join("runtime/src/threads/points.rs")).expect("it");
    let (_, table) = table
        .split_once("const TABLE: &str = \"")
        .expect("the table");
    let (table, _) = table.split_once("\";").expect("its end");
    // Those of _FORTIFY_SOURCE are called in place of others.
    let points: BTreeSet<&str> = table
        .split_ascii_whitespace()
        .filter(|name| !name.starts_with("__"))
        .collect();
    let source = "tests/cancellation/points.c";
    let program = |flags: &[&str]| {
        let flags = [&["-O0", "-w"], flags].concat();
        compile(Compiler::RaddleCc, source, &flags)
    };
    let (seen, unseen) = (program(&[]), program(&["-DUNSEEN"]));
    let all: Vec<(&str, &Case)> = points
        .iter()
        .enumerate()
        // All of them once, and each state with some.
        .flat_map(|(n, name)| [(*name, &AT_ONCE[0]), (*name, &AT_ONCE[1 + n % 3])])
        .collect();
    in_parallel(&all, |(name, case)| {
        let program = match UNSEEN.contains(name) {
            true => &unseen,
            false => &seen,
        };
        check(program, name, case)
    });
}

/// An asynchronous request is acted upon behind each thing that the thread does.
#[test]
fn a_thread_is_cancelled_at_any_moment() {
    let program = compile(Compiler::RaddleCc, "tests/cancellation/moments.c", &["-O1"]);
    let cancelled = ["exit 1", "exit 3", "exit 5"];
    for (mode, returned) in [("type", "exit 6"), ("state", "exit 6"), ("end", "exit 4")] {
        let mut expected = [&cancelled[..], &[returned]].concat();
        expected.sort_unstable();
        let options = [
            "run",
            "--policy",
            "dpor",
            "--races=off",
            "--accept-exit",
            "1,3,4,5,6",
        ];
        let found = run(&options, &program, &[mode]);
        let ends: Vec<&str> = found.summary.outcomes.keys().map(String::as_str).collect();
        assert_eq!(ends, expected, "{mode}: {}", found.output.all());
    }
}
