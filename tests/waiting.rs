//! Loops that only wait, in `verify` (`waiting/`): a round in vain is no path, so the proof ends, and
//! who waits for what nobody will change is found.

mod common;

use common::{Compiler, compile, in_parallel, replay_fails, run};

const SOURCE: &str = "tests/waiting/programs.c";

/// The class of a bug of each scenario, which may have others as well, and the most executions that
/// the proof for the repaired program may take.
const SCENARIOS: [(&str, u64); 13] = [
    ("assertion", 6),
    ("assertion", 10),
    ("livelock", 6),
    ("assertion", 12),
    ("assertion", 10),
    ("assertion", 16),
    ("assertion", 10),
    ("assertion", 10),
    ("assertion", 10),
    ("livelock", 6),
    ("assertion", 10),
    ("assertion", 6),
    ("livelock", 6),
];

type Case = (usize, &'static str, bool);

fn check(&(scenario, level, fixed): &Case) -> Result<(), String> {
    let (class, most) = SCENARIOS[scenario];
    let number = format!("-DSCENARIO={scenario}");
    let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
    let flags = [&[number.as_str(), level, "-w", "-latomic"], repair].concat();
    let program = compile(Compiler::RaddleCc, SOURCE, &flags);
    let found = run(&["verify", "--no-shrink", "--keep-going"], &program, &[]);
    let summary = &found.summary;
    let wrong = || Err(format!("{flags:?}: {}", found.output.all()));
    if fixed {
        return match summary.verdict == "verified" && summary.executions <= most {
            true => Ok(()),
            false => wrong(),
        };
    }
    let mut classes = summary.findings.iter().map(|finding| &finding.class);
    if !classes.any(|found| found == class) {
        return wrong();
    }
    let replayed = |finding| replay_fails(finding, &[]).map_err(|text| format!("{flags:?} {text}"));
    summary.findings.iter().try_for_each(replayed)
}

#[test]
fn waiting_ends_in_a_proof_or_a_finding() {
    let levels = ["-O0", "-O1", "-O2"].into_iter();
    let both = |level| [(level, true), (level, false)];
    let ways: Vec<_> = levels.flat_map(both).collect();
    let of = |scenario| {
        ways.iter()
            .map(move |&(level, fixed)| (scenario, level, fixed))
    };
    let cases: Vec<Case> = (0..SCENARIOS.len()).flat_map(of).collect();
    in_parallel(&cases, check);
}

/// A loop of which no two rounds are alike is unrolled, and ends, although nobody knows at first that
/// it waits for another thread.
#[test]
fn loops_that_count_their_rounds_are_unrolled() {
    let levels = ["-O0", "-O1", "-O2"].into_iter();
    let cases: Vec<_> = levels
        .flat_map(|level| {
            [
                ("verified-within-bounds", vec![level, "-DFIXED"]),
                ("finding", vec![level]),
            ]
        })
        .collect();
    in_parallel(&cases, |(verdict, flags)| {
        let program = compile(Compiler::RaddleCc, "tests/waiting/counted.c", flags);
        let found = run(&["verify", "--loop-bound", "5"], &program, &[]);
        let summary = &found.summary;
        match summary.verdict == *verdict && summary.executions <= 12 {
            true => Ok(()),
            false => Err(format!("{flags:?}: {}", found.output.all())),
        }
    });
}
