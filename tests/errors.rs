//! Errors of arithmetic and of memory (`errors/`), each for one value of an input or in one
//! interleaving only: `verify` must find it and the witness show it, and prove the repaired program.

mod common;

use common::{Compiler, compile, in_parallel, replay_fails, run};

const SOURCE: &str = "tests/errors/programs.c";

const OVERFLOWS: &[&str] = &[
    "-fsanitize=signed-integer-overflow",
    "-fno-sanitize-recover=all",
];

/// Options of the compiler, the class of the finding, and a part of its message. The number of the
/// scenario is the place in this list.
const ERRORS: [(&[&str], &str, &str); 10] = [
    (&[], "crash", "SIGFPE"),
    (&[], "crash", "SIGFPE"),
    (
        &[],
        "misuse",
        "4 bytes at offset 48 of a variable of 48 bytes",
    ),
    (
        &[],
        "misuse",
        "1 byte at offset 201 of a variable of 6 bytes",
    ),
    (
        &[],
        "misuse",
        "1 byte touches offset 100 of a heap block of 8 bytes",
    ),
    (
        &[],
        "misuse",
        "9 bytes at offset 0 of a variable of 8 bytes",
    ),
    (&[], "crash", "SIGSEGV at address 0x0"),
    (&[], "use-after-free", "freed block of 4 bytes"),
    (
        &[],
        "misuse",
        "4 bytes at offset 48 of a variable of 48 bytes",
    ),
    (OVERFLOWS, "crash", "signed integer overflow"),
];

type Case = (usize, &'static str, bool);

fn check(&(scenario, level, fixed): &Case) -> Result<(), String> {
    let (options, class, message) = ERRORS[scenario];
    let scenario = format!("-DSCENARIO={scenario}");
    let repair: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
    let flags = [&[scenario.as_str(), level, "-w"], options, repair].concat();
    let program = compile(Compiler::RaddleCc, SOURCE, &flags);
    let found = run(&["verify", "--no-shrink"], &program, &[]);
    let summary = &found.summary;
    if fixed {
        return match summary.verdict.as_str() {
            "verified" => Ok(()),
            _ => Err(format!("{flags:?}: {}", found.output.all())),
        };
    }
    let [finding] = summary.findings.as_slice() else {
        return Err(format!("{flags:?}: {}", found.output.all()));
    };
    if finding.class != class || !finding.message.contains(message) {
        return Err(format!("{flags:?}: {}", finding.message));
    }
    replay_fails(finding, &[]).map_err(|text| format!("{flags:?} {text}"))
}

#[test]
fn errors_are_found_and_repaired_programs_verified() {
    let mut cases: Vec<Case> = Vec::new();
    for scenario in 0..ERRORS.len() {
        for level in ["-O0", "-O2"] {
            cases.extend([false, true].map(|fixed| (scenario, level, fixed)));
        }
    }
    in_parallel(&cases, check);
}
