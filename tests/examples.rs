//! The examples do what their comments say.

mod common;

use common::{Compiler, Run, compile, run};

fn expect(run: &Run, verdict: &str, status: i32) {
    assert_eq!(
        (run.summary.verdict.as_str(), run.output.status),
        (verdict, status),
        "{}\n{}",
        run.shown,
        run.output.all()
    );
}

#[test]
fn the_flaky_test_fails_and_its_repair_does_not() {
    let flaky = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let found = run(&["run", "-n", "1000", "--seed", "1"], &flaky, &[]);
    expect(&found, "finding", 66);
    let finding = &found.summary.findings[0];
    assert_eq!(finding.class, "assertion");
    assert!(finding.message.contains("balance >= 0"), "{finding:?}");
    assert!(finding.preemptions <= 2, "it was shrunk: {finding:?}");
    for text in ["flaky.c", "pthread_mutex_lock(&a->lock)", "raddle replay"] {
        assert!(
            found.output.stderr.contains(text),
            "{text}\n{}",
            found.output.all()
        );
    }

    let fixed = compile(Compiler::Gcc, "examples/flaky.c", &["-DFIXED"]);
    let clean = run(&["run", "-n", "1000", "--seed", "1"], &fixed, &[]);
    expect(&clean, "nothing-found", 0);
}

#[test]
fn figure_1_is_found_in_the_second_execution() {
    let program = compile(Compiler::RaddleCc, "examples/mpc_figure1.c", &[]);
    let found = run(&["verify"], &program, &[]);
    expect(&found, "finding", 66);
    assert_eq!(found.summary.findings[0].class, "assertion");
    assert_eq!(found.summary.executions, 2);
}

/// Added threads of Figure 2's variants (the paper's M0 to M9), executions until the crash, and
/// executions of the proof that without it there is none.
const FIGURE_2: [(&str, u64, u64); 3] = [
    ("-DEXTRA=0", 4, 3),
    ("-DEXTRA=3", 4, 3),
    ("-DEXTRA=9", 4, 3),
];

#[test]
fn figure_2_crashes_with_the_right_inputs() {
    for (extra, executions, _) in FIGURE_2 {
        let program = compile(Compiler::RaddleCc, "examples/mpc_figure2.c", &[extra]);
        let found = run(&["verify"], &program, &[]);
        expect(&found, "finding", 66);
        let finding = &found.summary.findings[0];
        assert_eq!(finding.class, "crash");
        assert_eq!(input(finding, "i"), 3);
        assert!(input(finding, "j") >= 2);
        assert_eq!(found.summary.executions, executions, "{extra}");
    }
}

fn input(finding: &common::Finding, name: &str) -> i64 {
    let inputs = finding.inputs.as_array().expect("inputs are listed");
    let found = inputs.iter().find(|input| input["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no input {name} in {inputs:?}"));
    found["value"].as_i64().expect("a number")
}

#[test]
fn figure_2_without_its_crash_is_verified() {
    for (extra, _, executions) in FIGURE_2 {
        let flags = [extra, "-DFIXED"];
        let program = compile(Compiler::RaddleCc, "examples/mpc_figure2.c", &flags);
        // Races, of which there are, take executions of their own.
        let proof = run(&["verify", "--races", "off"], &program, &[]);
        expect(&proof, "verified", 0);
        assert!(proof.summary.queries.is_some_and(|queries| queries > 0));
        assert_eq!(proof.summary.executions, executions, "{extra}");
    }
}

#[test]
fn strategy_1_misses_the_crash_of_figure_2() {
    let program = compile(Compiler::RaddleCc, "examples/mpc_figure2.c", &[]);
    let missed = run(&["verify", "--strategy", "mpc-s1"], &program, &[]);
    expect(&missed, "verified-within-bounds", 69);
}

#[test]
fn figure_8_needs_a_branch_and_a_schedule() {
    let program = compile(Compiler::RaddleCc, "examples/mpc_figure8.c", &[]);
    let found = run(&["verify"], &program, &[]);
    expect(&found, "finding", 66);
    let finding = &found.summary.findings[0];
    assert!(input(finding, "i") <= 0);
    assert!(input(finding, "j") > 0);
    // As in the paper, section 3.3: it is on the path that strategy 1 misses.
    let by = |strategy| {
        let options = ["verify", "--races", "off", "--strategy", strategy];
        run(&options, &program, &[])
    };
    expect(&by("mpc-s2"), "finding", 66);
    for strategy in ["mpc-s1", "mcr"] {
        expect(&by(strategy), "verified-within-bounds", 69);
    }
}

#[test]
fn cpp17_is_right_and_its_bug_is_found() {
    let right = compile(Compiler::Gxx, "examples/cpp17.cpp", &[]);
    let clean = run(&["run", "-n", "500", "--seed", "1"], &right, &[]);
    expect(&clean, "nothing-found", 0);
    let wrong = compile(Compiler::Gxx, "examples/cpp17.cpp", &["-DBUG"]);
    let found = run(&["run", "-n", "2000", "--seed", "1"], &wrong, &[]);
    expect(&found, "finding", 66);
    assert_eq!(found.summary.findings[0].class, "assertion");
}

#[test]
fn rust_is_right_and_its_bug_is_found() {
    let right = compile(Compiler::Rustc, "examples/rust/pipeline.rs", &[]);
    let clean = run(&["run", "-n", "500", "--seed", "1"], &right, &[]);
    expect(&clean, "nothing-found", 0);
    let wrong = compile(
        Compiler::Rustc,
        "examples/rust/pipeline.rs",
        &["--cfg", "bug"],
    );
    let found = run(&["run", "-n", "1000", "--seed", "1"], &wrong, &[]);
    expect(&found, "finding", 66);
    assert_eq!(found.summary.findings[0].class, "deadlock");
    rows_name(&found, &["worker.join()", "in receiver"]);
}

/// Every place of the report, stacks left out, is a line of the program and not of a library
/// under it; these are among them.
fn rows_name(found: &Run, lines: &[&str]) {
    let report = &found.output.stderr;
    let (_, rows) = report.split_once("who waits for whom").unwrap_or_else(|| {
        let split = report.split_once("the interleaving");
        split.expect("a report has an interleaving")
    });
    for line in lines {
        assert!(rows.contains(line), "{line}\n{report}");
    }
    for library in ["futex.rs", "unix.rs", "threads.rs", "gthr-default.h"] {
        // Stacks hold it all. Who allocates is not asked: that is no step.
        let is_frame = |row: &str| row.trim_start().starts_with('#');
        let told = |row: &&str| !is_frame(row) && !row.contains("allocated by");
        let mut rows = rows.lines().filter(told);
        assert!(
            !rows.any(|row| row.contains(library)),
            "{library}\n{report}"
        );
    }
}

#[test]
fn operations_inside_a_library_are_shown_where_the_program_calls_it() {
    let waits: &[&str] = &[
        "waits in mutex_lock second at lock_order.cpp:9 ",
        "held by T2, which took it at lock_order.cpp:13 ",
        "waits in mutex_lock first at lock_order.cpp:14 ",
        "held by T1, which took it at lock_order.cpp:8 ",
        "waits in pthread_join at lock_order.cpp:19 ",
    ];
    let steps: &[&str] = &["10  std::lock", "15  std::lock", "24  two.join"];
    let cases = [
        ("lock_order", "deadlock", waits),
        ("lost_update", "assertion", steps),
    ];
    for (name, class, lines) in cases {
        let source = format!("tests/libraries/{name}.cpp");
        // Not optimised, so that nothing is inlined.
        let program = compile(Compiler::Gxx, &source, &["-O0"]);
        let found = run(&["run", "-n", "1000", "--seed", "1"], &program, &[]);
        expect(&found, "finding", 66);
        assert_eq!(found.summary.findings[0].class, class);
        rows_name(&found, lines);
    }
}
