//! Threads that pass bytes to each other, in `verify` (`messages/`): what is read was written, in
//! order, whatever the interleaving.

mod common;

use common::{Compiler, compile, in_parallel, replay_fails, run};

const SOURCE: &str = "tests/messages/programs.c";

/// The class of the bug of each scenario, and the verdict of the repaired program.
const SCENARIOS: [(&str, &str); 8] = [
    ("assertion", "verified"),
    ("assertion", "verified"),
    ("assertion", "verified"),
    ("deadlock", "verified"),
    ("assertion", "verified"),
    ("assertion", "verified"),
    ("assertion", "verified"),
    ("assertion", "verified"),
];

#[test]
fn what_threads_pass_on_is_followed() {
    let all = 0..SCENARIOS.len();
    let cases: Vec<(usize, bool)> = all.flat_map(|n| [(n, false), (n, true)]).collect();
    in_parallel(&cases, |&(scenario, fixed)| {
        let number = format!("-DSCENARIO={scenario}");
        let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
        let flags = [&["-O1", number.as_str()], repair].concat();
        let program = compile(Compiler::RaddleCc, SOURCE, &flags);
        // What one of them writes is read while another thread changes it, which is a race.
        let options = ["verify", "--no-shrink", "--races", "off"];
        let found = run(&options, &program, &[]);
        let summary = &found.summary;
        let wrong = || Err(format!("{flags:?}: {}", found.output.all()));
        if summary.outcomes.contains_key("diverged") {
            return wrong();
        }
        match (fixed, &summary.findings[..]) {
            (true, []) if summary.verdict == SCENARIOS[scenario].1 => Ok(()),
            (false, [finding]) if finding.class == SCENARIOS[scenario].0 => {
                replay_fails(finding, &[])
            }
            _ => wrong(),
        }
    });
}

/// What is not followed is named.
#[test]
fn what_is_not_followed_bounds_the_verdict() {
    let cases = [
        ("-DCLOSES", "closed while others use it"),
        ("-DNO_WAITING", "not modelled: read"),
        ("-DSTREAM", "not modelled: "),
        ("-DPAIR", "not modelled: "),
        ("-DMUCH", "more than 4096 bytes in a pipe"),
        ("-DWIDE", "not modelled: write"),
        ("-DSEMAPHORE", "not modelled: read"),
        ("-DINPUT", "on symbolic values not followed"),
    ];
    in_parallel(&cases, |&(flag, says)| {
        let program = compile(
            Compiler::RaddleCc,
            "tests/messages/others.c",
            &["-O1", flag],
        );
        let found = run(&["verify"], &program, &[]);
        let text = found.output.all();
        match found.summary.verdict == "verified-within-bounds" && text.contains(says) {
            true => Ok(()),
            false => Err(format!("{flag}: {text}")),
        }
    });
}
