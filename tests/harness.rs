//! What programs call that were written for SV-COMP's tools or KLEE (`harness/`), in `verify` and
//! in exhaustive searches.

mod common;

use common::{Compiler, compile, in_parallel, replay_fails, run};
use std::collections::BTreeSet;
use std::path::PathBuf;

const SOURCE: &str = "tests/harness/programs.c";

/// Class and a part of the message of the bug of each scenario.
const SCENARIOS: [(&str, &str); 9] = [
    ("assertion", "!z"),
    ("assertion", "sooner - later <= 1"),
    ("assertion", "add(0) == 2"),
    ("assertion", "x == 2"),
    ("assertion", "__VERIFIER_assert() failed"),
    ("assertion", "__VERIFIER_error() reached"),
    ("assertion", "the second part"),
    ("livelock", "decisions and inputs without a step"),
    ("assertion", "klee_assert(v != 1234567) failed"),
];

type Case = (usize, &'static str, bool);

fn program(scenario: usize, level: &str, fixed: bool) -> PathBuf {
    let scenario = format!("-DSCENARIO={scenario}");
    let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
    let flags = [&[scenario.as_str(), level, "-w"], repair].concat();
    compile(Compiler::RaddleCc, SOURCE, &flags)
}

fn check(&(scenario, level, fixed): &Case) -> Result<(), String> {
    // An execution without an end is told from a long one by its time.
    let options = ["verify", "--timeout", "5s"];
    let found = run(&options, &program(scenario, level, fixed), &[]);
    let summary = &found.summary;
    let wrong = |text: &str| {
        let all = found.output.all();
        Err(format!("{scenario} {level} fixed {fixed}: {text} {all}"))
    };
    if fixed {
        return match summary.verdict.as_str() {
            "verified" => Ok(()),
            _ => wrong("not verified"),
        };
    }
    let (class, message) = SCENARIOS[scenario];
    let [finding] = summary.findings.as_slice() else {
        return wrong("not one finding");
    };
    if finding.class != class || !finding.message.contains(message) {
        return wrong("another finding");
    }
    replay_fails(finding, &[]).or_else(|text| wrong(&text))
}

#[test]
fn the_names_of_other_tools_mean_what_they_mean_there() {
    let mut cases: Vec<Case> = Vec::new();
    for scenario in 0..SCENARIOS.len() {
        // An optimiser does at once what the source does in two steps.
        let levels: &[&str] = match scenario {
            0 | 1 => &["-O0"],
            _ => &["-O0", "-O2"],
        };
        for level in levels {
            cases.extend([false, true].map(|fixed| (scenario, *level, fixed)));
        }
    }
    in_parallel(&cases, check);
}

/// Accesses in sections are no steps, by which classes are told apart.
#[test]
fn an_exhaustive_search_does_not_claim_to_have_seen_what_sections_hide() {
    let found = run(&["run", "--policy", "dpor"], &program(0, "-O0", true), &[]);
    let all = found.output.all();
    assert_eq!(found.summary.verdict, "explored-within-bounds", "{all}");
}

/// Scenarios of `numbers.c`, the exit statuses, and whether something is not followed.
const NUMBERS: &[(u32, &[u32], bool)] = &[
    (0, &[0, 1, 2, 3], false),
    (1, &[0, 1, 2], true),
    (2, &[0, 1], true),
    (3, &[0, 1, 2], false),
    (4, &[0, 1, 2, 3], false),
    (5, &[0, 1, 2, 3], false),
];

#[test]
fn inputs_may_be_numbers_of_any_type() {
    let mut cases = Vec::new();
    for row in NUMBERS {
        cases.extend(["-O0", "-O2"].map(|level| (row, level)));
    }
    in_parallel(&cases, |&(&(scenario, statuses, is_lost), level)| {
        let scenario = format!("-DSCENARIO={scenario}");
        let source = "tests/harness/numbers.c";
        let program = compile(Compiler::RaddleCc, source, &[&scenario, level, "-w"]);
        let found = run(&["verify", "--keep-going", "--no-shrink"], &program, &[]);
        let summary = &found.summary;
        let expected: BTreeSet<String> = statuses.iter().map(|n| format!("exit {n}")).collect();
        let seen: BTreeSet<String> = summary.outcomes.keys().cloned().collect();
        let lost = format!("{:?}", summary.concretised);
        let is_said = match is_lost {
            true => lost.contains("floating point"),
            false => summary.concretised.is_empty() && summary.bounds.is_empty(),
        };
        if seen != expected || !is_said {
            let all = found.output.all();
            return Err(format!("{scenario} {level}: {seen:?}, {lost}\n{all}"));
        }
        summary
            .findings
            .iter()
            .try_for_each(|finding| replay_fails(finding, &[]))
    });
}
