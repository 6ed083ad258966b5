//! Is every result of every modelled operation reached, by `dpor` and by `verify`? Of each function in
//! `runtime/functions.txt` that is modelled the table `results/table.txt` says which results depend on
//! other threads, and each is a mode of `results/results.c`, or why none does.

mod common;

use common::{Compiler, compile, in_parallel, root, run};
use std::collections::{BTreeMap, BTreeSet};

/// A line of the table.
struct Row {
    /// The function, perhaps with an ending after an underscore that tells modes apart.
    name: String,
    /// The exit statuses of the mode: its results.
    results: BTreeSet<String>,
    verify: Verify,
}

/// What `verify` does about a mode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verify {
    /// It reaches all results and nothing bounds it.
    Proves,
    /// It says what bounds it.
    IsBounded,
}

/// The modes, and the functions that have none with the reason.
fn table() -> (Vec<Row>, BTreeMap<String, String>) {
    let text = std::fs::read_to_string(root().join("tests/results/table.txt")).expect("the table");
    let (mut rows, mut others) = (Vec::new(), BTreeMap::new());
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split(" | ").collect::<Vec<_>>()[..] {
            [name, results, how] => rows.push(Row {
                name: name.to_string(),
                results: results.split(' ').map(|n| format!("exit {n}")).collect(),
                verify: match how {
                    "proves" => Verify::Proves,
                    "is bounded" => Verify::IsBounded,
                    _ => panic!("{how}?"),
                },
            }),
            [names, reason] => others.extend(
                names
                    .split(' ')
                    .map(|name| (name.to_string(), reason.to_string())),
            ),
            _ => panic!("a row has two or three columns: {line}"),
        }
    }
    (rows, others)
}

#[test]
fn no_modelled_function_is_left_out() {
    let (rows, others) = table();
    let functions = std::fs::read_to_string(root().join("runtime/functions.txt")).expect("it");
    let modelled: BTreeSet<&str> = functions
        .lines()
        .filter_map(|line| line.split_once(" | "))
        .filter(|(_, rest)| rest.starts_with("modelled | "))
        .map(|(name, _)| name)
        .collect();
    let has_mode = |name: &str| {
        rows.iter()
            .any(|row| function(&row.name, &modelled) == Some(name))
    };
    for &name in &modelled {
        let (mode, other) = (has_mode(name), others.contains_key(name));
        assert!(
            mode || other,
            "{name} is in no row of tests/results/table.txt"
        );
        assert!(
            !mode || !other,
            "{name} has a mode and a reason for having none"
        );
    }
    for name in others.keys() {
        assert!(modelled.contains(name.as_str()), "{name} is not modelled");
    }
}

/// The function that a mode is about: the longest of these that its name begins with.
fn function<'f>(mode: &str, functions: &BTreeSet<&'f str>) -> Option<&'f str> {
    let begins = |name: &&&str| {
        let rest = mode.strip_prefix(**name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    functions
        .iter()
        .filter(begins)
        .max_by_key(|name| name.len())
        .copied()
}

#[test]
fn all_results_are_reached() {
    let source = "tests/results/results.c";
    let program = compile(Compiler::RaddleCc, source, &["-O0", "-w"]);
    let statuses: Vec<String> = (1..64).map(|n| n.to_string()).collect();
    let accepted = statuses.join(",");
    in_parallel(&table().0, |row| {
        let options = ["-q", "--races=off", "--accept-exit", &accepted];
        let dpor = [
            "run",
            "--policy",
            "dpor",
            "--no-lock-order",
            "--leaked-threads=off",
        ];
        let explored = run(&[&dpor[..], &options].concat(), &program, &[&row.name]);
        let verified = run(
            &[&["verify"], &options[..]].concat(),
            &program,
            &[&row.name],
        );
        let wrong = |what: &str, seen: &common::Run| {
            let (name, all) = (&row.name, seen.output.all());
            Err(format!(
                "{name}: {what}: {:?}\n{all}",
                seen.summary.outcomes
            ))
        };
        let found = |seen: &common::Run| seen.summary.outcomes.keys().cloned().collect();
        let all: BTreeSet<String> = found(&explored);
        if all != row.results || explored.output.status != 0 {
            return wrong("not what dpor should reach", &explored);
        }
        let mut some: BTreeSet<String> = found(&verified);
        if row.verify == Verify::IsBounded {
            // What the formula does not know, executions that were planned by it may not follow.
            some.remove("diverged");
        }
        match (row.verify, verified.output.status) {
            (Verify::Proves, 0) if some == row.results => Ok(()),
            (Verify::IsBounded, 69) if some.is_subset(&row.results) => Ok(()),
            _ => wrong("not what verify should say", &verified),
        }
    });
}

/// Between the destruction of an object and its initialisation somebody else may use it, which is a finding.
#[test]
fn the_window_between_destruction_and_initialisation_is_seen() {
    let source = "tests/results/results.c";
    let program = compile(Compiler::RaddleCc, source, &["-O0", "-w"]);
    let kinds = [
        "barrier", "cond", "cnd", "rwlock", "spin", "sem", "mutex", "mtx",
    ];
    let cases: Vec<(&str, &str)> = kinds
        .iter()
        .flat_map(|kind| ["dpor", "dfs", "pcb"].map(|policy| (*kind, policy)))
        .collect();
    in_parallel(&cases, |(kind, policy)| {
        let options = [
            "run",
            "--policy",
            policy,
            "-q",
            "--races=off",
            "--accept-exit=1,2,40",
        ];
        let found = run(&options, &program, &[&format!("window_{kind}")]);
        match found.output.status {
            66 if found.summary.outcomes.contains_key("misuse") => Ok(()),
            _ => Err(format!("{kind}: {}", found.output.all())),
        }
    });
}
