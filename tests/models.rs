//! Functions of the C library, wide integers and vectors in symbolic runs (`models/`): `verify` must reach exactly the exit
//! statuses that all inputs together have, and name what it cannot follow.

mod common;

use common::{Compiler, Run, compile, in_parallel, output, run};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

const SOURCE: &str = "tests/models/scenarios.c";

/// Scenarios with the number of input bytes.
const SCENARIOS: [(u32, u32); 20] = [
    (1, 3),
    (2, 2),
    (3, 3),
    (4, 3),
    (5, 2),
    (6, 3),
    (7, 2),
    (8, 1),
    (9, 2),
    (10, 3),
    (12, 3),
    (13, 3),
    (16, 2),
    (17, 2),
    (18, 2),
    (19, 3),
    (20, 2),
    (22, 2),
    (23, 2),
    (24, 2),
];

fn brute_force(flags: &[&str]) -> BTreeSet<String> {
    let program = compile(
        Compiler::Gcc,
        SOURCE,
        &[flags, &["-DBRUTE", "-w", "-Wl,--no-as-needed", "-latomic"]].concat(),
    );
    let ran = output(&mut Command::new(program), Duration::from_secs(100));
    assert_eq!(ran.status, 0, "{}", ran.all());
    let (_, last) = ran
        .stdout
        .rsplit_once("statuses:\n")
        .expect("they are told");
    last.lines().map(str::to_owned).collect()
}

/// How executions ended, those that an assumption ended aside.
fn statuses(run: &Run) -> BTreeSet<String> {
    let labels = run.summary.outcomes.keys();
    labels
        .filter(|label| *label != "assumption")
        .cloned()
        .collect()
}

fn verify(flags: &[&str]) -> Run {
    let program = compile(
        Compiler::RaddleCc,
        SOURCE,
        &[flags, &["-w", "-latomic"]].concat(),
    );
    run(&["verify", "--keep-going", "--no-shrink"], &program, &[])
}

/// What distributions build programs with.
const FORTIFIED: &[&str] = &["-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"];

#[test]
fn verify_reaches_what_all_inputs_reach() {
    let mut cases: Vec<(u32, u32, &[&str])> = Vec::new();
    for (scenario, bytes) in SCENARIOS {
        cases.push((scenario, bytes, &["-O0"]));
        cases.push((scenario, bytes, &["-O2"]));
    }
    cases.extend([7, 19, 20].map(|scenario| (scenario, 2, FORTIFIED)));
    in_parallel(&cases, |&(scenario, bytes, options)| {
        let (scenario, bytes) = (format!("-DSCENARIO={scenario}"), format!("-DBYTES={bytes}"));
        let flags = [&[scenario.as_str(), &bytes], options].concat();
        let all = brute_force(&flags);
        let found = verify(&flags);
        let seen = statuses(&found);
        let limits = (&found.summary.bounds, &found.summary.concretised);
        if seen != all || limits != (&vec![], &vec![]) {
            return Err(format!(
                "{}: {seen:?} instead of {all:?}, {limits:?}",
                found.shown
            ));
        }
        Ok(())
    });
}

/// A text of as many bytes as there is room for has no room for its end.
#[test]
fn what_fortified_functions_refuse_is_found() {
    let flags = [&["-DSCENARIO=21", "-DBYTES=2"], FORTIFIED].concat();
    let found = verify(&flags);
    let seen = statuses(&found);
    let all = ["crash", "exit 0", "exit 1"].map(str::to_owned);
    assert_eq!(seen, all.into(), "{}", found.shown);
}

#[test]
fn a_function_without_a_model_is_named() {
    let named = [
        (11, "strverscmp"),
        (14, "sscanf"),
        (15, "argp_parse"),
        (25, "getsubopt"),
        (26, "mbsrtowcs"),
    ];
    for (scenario, name) in named {
        let scenario = format!("-DSCENARIO={scenario}");
        let found = verify(&[&scenario, "-DBYTES=1", "-O1"]);
        assert_eq!(found.summary.verdict, "verified-within-bounds");
        let named = format!("{:?}", found.summary.concretised);
        assert!(named.contains(name), "{named}\n{}", found.output.all());
    }
}

const OUTSIDE: &str = "tests/models/outside.c";

/// A file with two bytes.
const TWO_BYTES: &str = "tests/models/two-bytes";

/// Scenario, options, arguments and the exit statuses that there are.
type Outside = (
    u32,
    &'static [&'static str],
    &'static [&'static str],
    &'static [u32],
);

const OUTSIDES: &[Outside] = &[
    (1, &["--symbolic-stdin", "2"], &[], &[0, 1, 2, 3]),
    // A text of one to three bytes (none where it begins with a zero), and whether a line follows.
    (2, &["--symbolic-stdin", "3"], &[], &[0, 1, 2, 3, 4, 5, 6]),
    (3, &["--symbolic-stdin", "3"], &[], &[1, 2, 3, 7]),
    (4, &["--symbolic-stdin", "3"], &[], &[0, 3, 12]),
    (5, &["--symbolic-stdin", "3"], &[], &[0, 1]),
    (6, &["--symbolic-arg", "1:2"], &["x"], &[0, 1, 2, 3]),
    (6, &["--symbolic-arg", "1"], &["x"], &[0, 2, 3]),
    (
        7,
        &["--symbolic-env", "RADDLE_TEST_LEVEL:1"],
        &[],
        &[0, 1, 2, 3, 4],
    ),
    (8, &["--symbolic-file", TWO_BYTES], &[TWO_BYTES], &[0, 1]),
    (
        8,
        &["--symbolic-file", "tests/models/two-bytes:1"],
        &[TWO_BYTES],
        &[0],
    ),
    (9, &["--symbolic-file", TWO_BYTES], &[TWO_BYTES], &[0, 1]),
    (11, &[], &[], &[0, 1, 2, 3, 4]),
    (12, &[], &[], &[0, 1, 2, 3, 4, 5, 6, 7]),
    // Nothing to the options, -a, -b that takes the next one, --, -z, another letter.
    (
        13,
        &["--symbolic-arg", "1:2"],
        &["x", "-b", "7"],
        &[3, 8, 9, 16, 18, 20],
    ),
    // --al, --at, --at=, --at=7, --si=, --si=7, --si, what is wrong or ambiguous, no option.
    (
        14,
        &["--symbolic-arg", "1:6"],
        &["x"],
        &[4, 8, 9, 10, 13, 14, 20, 21, 22],
    ),
    (15, &["--symbolic-stdin", "3"], &[], &[1, 2, 3, 4]),
    (
        16,
        &["--symbolic-file", TWO_BYTES],
        &[TWO_BYTES],
        &[0, 1, 2, 3, 4, 5],
    ),
    (17, &["--symbolic-stdin", "2"], &[], &[1, 2, 3]),
    (
        19,
        &["--symbolic-stdin", "3"],
        &[],
        &[0, 1, 2, 3, 4, 5, 6, 7],
    ),
];

/// Paths of the checkout, in full.
fn in_full(words: &[&str]) -> Vec<String> {
    let whole = |word: &&str| match word.starts_with("tests/") {
        true => common::root().join(word).display().to_string(),
        false => (*word).to_owned(),
    };
    words.iter().map(whole).collect()
}

fn verify_outside((scenario, options, args, _): &Outside, flags: &[&str]) -> Run {
    let scenario = format!("-DSCENARIO={scenario}");
    let flags = [&[scenario.as_str(), "-w"], flags].concat();
    let program = compile(Compiler::RaddleCc, OUTSIDE, &flags);
    let (options, args) = (in_full(options), in_full(args));
    let mut all = vec!["verify", "--keep-going", "--no-shrink"];
    all.extend(options.iter().map(String::as_str));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    run(&all, &program, &args)
}

#[test]
fn inputs_from_outside_take_every_value() {
    let mut cases = Vec::new();
    for outside in OUTSIDES {
        cases.extend([&["-O0"], &["-O2"], FORTIFIED].map(|flags| (outside, flags)));
    }
    in_parallel(&cases, |&(outside, flags)| {
        let found = verify_outside(outside, flags);
        let all: BTreeSet<String> = outside.3.iter().map(|n| format!("exit {n}")).collect();
        let seen = statuses(&found);
        let limits = (&found.summary.bounds, &found.summary.concretised);
        if seen != all || limits != (&vec![], &vec![]) {
            return Err(format!(
                "{}: {seen:?} instead of {all:?}, {limits:?}",
                found.shown
            ));
        }
        // Every failure is one that its witness shows again, inputs included.
        for finding in &found.summary.findings {
            let witness = finding
                .witness
                .as_ref()
                .ok_or("a finding without a witness")?;
            let mut replay = Command::new(common::raddle());
            let again = output(replay.arg("replay").arg(witness), Duration::from_secs(100));
            if again.status != 66 {
                return Err(format!("{witness:?} is not replayed: {}", again.all()));
            }
        }
        Ok(())
    });
}

#[test]
fn reads_that_are_not_followed_are_named() {
    for (scenario, name) in [(10, "scanf"), (18, "ungetc")] {
        let case = (scenario, &["--symbolic-stdin", "2"][..], &[][..], &[][..]);
        let found = verify_outside(&case, &["-O1"]);
        is_named(&found, name);
    }
}

fn is_named(found: &Run, name: &str) {
    let all = found.output.all();
    assert_eq!(found.summary.verdict, "verified-within-bounds", "{all}");
    let named = format!("{:?}", found.summary.concretised);
    assert!(named.contains(name), "{named}\n{all}");
}

/// C++ streams, and calls of the C library where an exception may be caught.
#[test]
fn reads_of_cpp_that_are_not_followed_are_named() {
    let cases = [
        (&["-DSCENARIO=1", "-O0"][..], "getchar"),
        (&["-DSCENARIO=2", "-O0"], "std::basic_istream::operator>>"),
        (&["-DSCENARIO=3", "-O0"], "getline"),
    ];
    for (flags, name) in cases {
        let source = "tests/models/streams.cpp";
        let program = compile(Compiler::RaddleCxx, source, &[flags, &["-w"]].concat());
        let options = [
            "verify",
            "--keep-going",
            "--no-shrink",
            "--symbolic-stdin",
            "2",
        ];
        is_named(&run(&options, &program, &[]), name);
    }
}

/// What a string does with a symbolic byte, in the object itself or in a block of its own.
#[test]
fn strings_of_cpp_are_followed() {
    for length in ["-DLENGTH=4", "-DLENGTH=40"] {
        for flags in [
            ["-O0", "-std=c++17"],
            ["-O2", "-std=c++11"],
            ["-O1", "-std=c++20"],
        ] {
            let source = "tests/models/streams.cpp";
            let flags = [&["-DSCENARIO=4", length], &flags[..]].concat();
            let program = compile(Compiler::RaddleCxx, source, &flags);
            let options = [
                "verify",
                "--keep-going",
                "--no-shrink",
                "--symbolic-stdin",
                "2",
            ];
            let found = run(&options, &program, &[]);
            let all = ["exit 0", "exit 1", "exit 2"].map(String::from);
            assert_eq!(statuses(&found), BTreeSet::from(all), "{}", found.shown);
            let limits = (&found.summary.bounds, &found.summary.concretised);
            assert!(
                limits.0.is_empty() && limits.1.is_empty(),
                "{flags:?} {limits:?}"
            );
        }
    }
}

const ONE_BODY: &str = "tests/models/one_body.c";

/// Scenario, the exit statuses, and the function that the verdict has to name.
const ONE_BODIES: &[(u32, &[u32], Option<&str>)] = &[
    (1, &[0, 1], None),
    (2, &[0, 1, 2], None),
    (3, &[0], Some("strverscmp")),
    (4, &[0], Some("vsnprintf")),
    (5, &[0], None),
    (6, &[0, 1, 3], None),
    (7, &[0], Some("peek")),
    (8, &[3, 4], None),
];

#[test]
fn what_functions_with_one_body_call_is_followed_or_named() {
    let mut cases = Vec::new();
    for row in ONE_BODIES {
        cases.extend(["-O0", "-O2"].map(|level| (row, level)));
    }
    in_parallel(&cases, |&(&(scenario, all, named), level)| {
        let scenario = format!("-DSCENARIO={scenario}");
        let program = compile(Compiler::RaddleCc, ONE_BODY, &[&scenario, level, "-w"]);
        let found = run(&["verify", "--keep-going", "--no-shrink"], &program, &[]);
        let all: BTreeSet<String> = all.iter().map(|n| format!("exit {n}")).collect();
        let (seen, concretised) = (statuses(&found), &found.summary.concretised);
        let said = match named {
            Some(name) => format!("{concretised:?}").contains(name),
            None => concretised.is_empty() && found.summary.bounds.is_empty(),
        };
        match seen == all && said {
            true => Ok(()),
            false => Err(format!(
                "{}: {seen:?} instead of {all:?}, {concretised:?}, {:?}",
                found.shown, found.summary.bounds
            )),
        }
    });
}

const ROUNDING: &str = "tests/models/rounding.c";

/// Scenario, option of the compiler, and what the verdict has to name.
const ROUNDINGS: &[(u32, &str, Option<&str>)] = &[
    (0, "-O1", None),
    (0, "-ffast-math", Some("before main")),
    (1, "-O1", None),
    (2, "-O1", Some("fesetround")),
    (3, "-O1", None),
    (4, "-O1", Some("fesetenv")),
    (5, "-O1", None),
    (6, "-O1", Some("feupdateenv")),
    (7, "-O1", Some("feenableexcept")),
    (8, "-O1", Some("inline assembly")),
    (9, "-O1", None),
    (10, "-O1", Some("floating point")),
    (11, "-O1", Some("floating point")),
    (12, "-O1", Some("fesetmode")),
];

/// Another way of rounding than to the nearest; only `verify` depends on it.
#[test]
fn another_way_of_rounding_is_named() {
    in_parallel(ROUNDINGS, |&(scenario, option, named)| {
        let scenario = format!("-DSCENARIO={scenario}");
        let flags = [&scenario, option, "-w", "-lm"];
        let program = compile(Compiler::RaddleCc, ROUNDING, &flags);
        let found = run(&["verify", "--keep-going", "--no-shrink"], &program, &[]);
        let all: BTreeSet<String> = [0, 1, 2].map(|n| format!("exit {n}")).into();
        let (bounds, concretised) = (&found.summary.bounds, &found.summary.concretised);
        let right = match named {
            Some(name) => format!("{bounds:?} {concretised:?}").contains(name),
            None => bounds.is_empty() && concretised.is_empty() && statuses(&found) == all,
        };
        let sampled = run(&["run", "-n", "1"], &program, &[]);
        let silent = scenario.ends_with("=8") || sampled.summary.uncontrolled.is_empty();
        match right && silent {
            true => Ok(()),
            false => Err(format!(
                "{}: {:?}, {bounds:?}, {concretised:?}, {:?}",
                found.shown,
                statuses(&found),
                sampled.summary.uncontrolled
            )),
        }
    });
}

/// What a program defines in the place of the C library's functions is called by itself alone.
#[test]
fn own_functions_of_a_program_are_its_own() {
    let flags = ["-O0", "-fno-builtin", "-w"];
    let program = compile(Compiler::RaddleCc, "tests/models/own_functions.c", &flags);
    for options in [&["verify"][..], &["run", "-n", "20"]] {
        let seen = run(options, &program, &[]).output;
        assert_eq!(seen.status, 0, "{}", seen.all());
    }
    // The accesses of its allocator while the library makes a thread are no steps.
    for (flag, right) in [("-DALONE", 0), ("-DTWO", 69)] {
        let program = compile(
            Compiler::RaddleCc,
            "tests/models/own_heap.c",
            &["-O0", "-w", flag],
        );
        for options in [
            &["verify", "--time", "10s"][..],
            &["run", "--policy", "dpor"],
        ] {
            let run = run(options, &program, &[]);
            let (seen, named) = (run.output, run.summary.uncontrolled);
            let is_named = named
                .iter()
                .any(|name| name.starts_with("an allocator of the program's"));
            assert_eq!(
                (seen.status, is_named),
                (right, right == 69),
                "{}",
                seen.all()
            );
        }
        let seen = run(&["run", "-n", "20", "--strict"], &program, &[]).output;
        assert_eq!(seen.status, 0, "{}", seen.all());
    }
}
