//! Findings other than failures and races: deadlocks foreseen, outputs that differ, threads left
//! behind, waits that end for no reason; and which failures are the same.

mod common;

use common::{Compiler, LIMIT, Run, compile, empty, in_parallel, output, raddle, run};
use std::path::{Path, PathBuf};
use std::process::Command;

fn program(file: &str, flags: &[&str]) -> PathBuf {
    let compiler = match file.ends_with(".rs") {
        true => Compiler::Rustc,
        false => Compiler::Gcc,
    };
    compile(compiler, &format!("tests/findings/{file}"), flags)
}

fn classes(run: &Run) -> Vec<&str> {
    let findings = run.summary.findings.iter();
    findings.map(|f| f.class.as_str()).collect()
}

fn command(name: &str, options: &[&str], witness: &Path) -> common::Output {
    let mut command = Command::new(raddle());
    output(command.arg(name).args(options).arg(witness), LIMIT)
}

/// Exit status of an exhaustive search that found nothing in a program whose accesses are no steps.
const WITHIN_BOUNDS: i32 = 69;

/// One execution, without a preemption, shows the orders of the locks; the deadlock that it
/// foresees is found by being led there.
#[test]
fn a_deadlock_is_foreseen_and_confirmed() {
    let options = ["run", "-n", "1", "--policy", "rr"];
    let found = run(&options, &program("lock_order.c", &[]), &[]);
    assert_eq!(classes(&found), ["deadlock"], "{}", found.output.all());
    let witness = found.summary.findings[0].witness.clone().expect("written");
    let replayed = command("replay", &["-q", "-n", "3"], &witness);
    assert_eq!(replayed.status, 66, "{}", replayed.all());
    let fixed = run(&options, &program("lock_order.c", &["-DFIXED"]), &[]);
    assert_eq!(fixed.output.status, 0, "{}", fixed.output.all());
    assert!(fixed.summary.possibilities.is_empty());
    let off = [&options[..], &["--no-lock-order"]].concat();
    let off = run(&off, &program("lock_order.c", &[]), &[]);
    assert_eq!(off.output.status, 0, "{}", off.output.all());
}

/// Code without hooks keeps blocks in order by what nobody sees.
#[test]
fn allocations_alone_do_not_race() {
    let options = ["run", "-n", "100", "--races", "fail"];
    let run = run(&options, &program("counted.c", &[]), &[]);
    assert_eq!(run.output.status, 0, "{}", run.output.all());
}

#[test]
fn what_no_execution_confirms_is_only_possible() {
    let options = ["run", "-n", "20", "--policy", "random", "--seed", "1"];
    let run = run(&options, &program("kept_apart.c", &[]), &[]);
    let summary = &run.summary;
    assert_eq!(
        (run.output.status, summary.findings.len()),
        (0, 0),
        "{}",
        run.output.all()
    );
    let possible: Vec<&str> = summary
        .possibilities
        .iter()
        .map(|p| p.class.as_str())
        .collect();
    assert_eq!(possible, ["deadlock"]);
    assert!(
        summary.possibilities[0]
            .places
            .iter()
            .all(|p| p.contains("kept_apart.c"))
    );
    assert!(summary.possibilities[0].message.contains("takes a lock at"));
    let source = "tests/findings/kept_apart.c";
    let steps = compile(Compiler::RaddleCc, source, &[]);
    for (options, refuted) in [
        (["run", "--policy", "dpor"], true),
        (["run", "--policy", "pcb:0"], false),
    ] {
        let all = common::run(&options, &steps, &[]);
        assert_eq!(all.summary.complete, Some(true), "{}", all.output.all());
        assert_eq!(
            all.summary.possibilities.is_empty(),
            refuted,
            "{}",
            all.output.all()
        );
    }
}

#[test]
fn outputs_that_differ_are_shown_line_by_line() {
    let options = ["run", "--policy", "dfs", "-n", "2000", "--same-output"];
    let found = run(&options, &program("output.c", &[]), &[]);
    assert_eq!(classes(&found), ["output"], "{}", found.output.all());
    let witness = found.summary.findings[0].witness.clone().expect("written");
    let shown = command("show", &[], &witness);
    let line = shown
        .stdout
        .contains("line 2: `one` expected, `two` printed");
    assert!(line, "{}", shown.all());
    assert_eq!(command("replay", &["-q"], &witness).status, 66);
    let other = command("replay", &["--other"], &witness);
    assert_eq!(other.status, 0, "{}", other.all());
    assert!(other.stdout.starts_with("begin\none\n"), "{}", other.all());
    let fixed = run(&options, &program("output.c", &["-DFIXED"]), &[]);
    assert_eq!(fixed.output.status, WITHIN_BOUNDS, "{}", fixed.output.all());
}

/// A difference is one wherever it is, and what is not kept of an output is said.
#[test]
fn long_outputs_are_compared_to_their_end() {
    let program = program("long_output.c", &[]);
    let dir = empty("findings-long-output");
    let kib = "17000";
    let native = output(Command::new(&program).arg(kib), LIMIT);
    let expected = dir.join("expected");
    assert!(native.stdout.len() > 16 << 20);
    let end = native.stdout.len() - 2;
    for (last, findings) in [("1", 0), ("3", 1)] {
        let text = format!("{}{last}\n", &native.stdout[..end]);
        std::fs::write(&expected, text).expect("the file can be written");
        let expected = expected.to_str().expect("a path of ours is text");
        let options = ["run", "--policy", "rr", "--expect-output", expected];
        let run = run(&options, &program, &[kib]);
        let said = &run.output.stderr;
        assert_eq!(run.summary.findings.len(), findings, "{last}: {said}");
    }
    let options = [
        "run",
        "--policy",
        "dfs",
        "-n",
        "100",
        "--same-output",
        "--no-shrink",
    ];
    let run = run(&options, &program, &[kib]);
    let said = &run.output.stderr;
    assert_eq!(classes(&run), ["output"], "{said}");
    assert!(said.contains("they differ after 16777216 bytes"), "{said}");
    assert!(
        said.contains("cut off after 16777216 bytes: 630786 more"),
        "{said}"
    );
    assert_eq!(run.output.stdout.len(), 16 << 20);
}

#[test]
fn threads_left_behind() {
    let leaky = program("leak.c", &[]);
    let modes: [(&str, i32, usize, usize); 3] =
        [("report", 0, 0, 1), ("fail", 66, 1, 0), ("off", 0, 0, 0)];
    for (mode, status, findings, reports) in modes {
        let options = [
            "run",
            "-n",
            "5",
            "--policy",
            "random",
            "--leaked-threads",
            mode,
        ];
        let run = run(&options, &leaky, &[]);
        run.expect(status, findings, reports);
        if let Some(finding) = run.summary.findings.first() {
            assert_eq!(finding.class, "leak");
            let witness = finding.witness.clone().expect("written");
            let replayed = command("replay", &["-n", "3"], &witness);
            assert_eq!(replayed.status, 66, "{}", replayed.all());
            assert!(
                replayed.stderr.contains("T1 was created by main"),
                "{}",
                replayed.all()
            );
        }
    }
    let options = ["run", "-n", "5", "--leaked-threads", "fail"];
    let fixed = run(&options, &program("leak.c", &["-DFIXED"]), &[]);
    assert_eq!(fixed.output.status, 0, "{}", fixed.output.all());
}

/// Every interleaving: so nothing here depends on luck.
#[test]
fn waits_that_end_for_no_reason() {
    let table: [(&[&str], &[&str], i32); 4] = [
        (&[], &[], WITHIN_BOUNDS),
        (&[], &["--spurious"], 66),
        (&["-DFIXED"], &[], WITHIN_BOUNDS),
        (&["-DFIXED"], &["--spurious"], WITHIN_BOUNDS),
    ];
    for (flags, options, status) in table {
        let all = [&["run", "--policy", "dfs"], options].concat();
        let run = run(&all, &program("spurious.c", flags), &[]);
        assert_eq!(
            run.output.status,
            status,
            "{}\n{}",
            run.shown,
            run.output.all()
        );
        if status == 66 {
            assert_eq!(classes(&run), ["assertion"]);
            needs_a_wait_to_end(&run);
        }
    }
}

/// The finding replays, and says that a wait had to end for no reason.
fn needs_a_wait_to_end(run: &Run) {
    let witness = run.summary.findings[0].witness.clone().expect("written");
    let replayed = command("replay", &["-n", "3"], &witness);
    assert_eq!(replayed.status, 66, "{}", replayed.all());
    let text = "needs this wait to end although nobody signalled";
    assert!(replayed.stderr.contains(text), "{}", replayed.all());
}

/// `verify` finds what only a wait that ends for no reason shows, and says that there are more such
/// ends than it tries only where there are.
#[test]
fn verify_lets_waits_end_for_no_reason() {
    let table: [(&[&str], &[&str], i32); 6] = [
        (&[], &[], 0),
        (&[], &["--spurious"], 66),
        (&["-DENDURED"], &["--spurious"], 0),
        (&["-DENDURED"], &["--spurious", "-j", "2"], 0),
        (&["-DFIXED"], &["--spurious"], WITHIN_BOUNDS),
        (&["-DFIXED"], &["--spurious", "-j", "2"], WITHIN_BOUNDS),
    ];
    for (flags, options, status) in table {
        let source = "tests/findings/spurious.c";
        let program = compile(Compiler::RaddleCc, source, flags);
        let run = run(&[&["verify"], options].concat(), &program, &[]);
        let text = run.output.all();
        assert_eq!(run.output.status, status, "{} {flags:?}\n{text}", run.shown);
        let bounded = text.contains("at most four condition waits");
        assert_eq!(bounded, status == WITHIN_BOUNDS, "{text}");
        assert!(!run.summary.outcomes.contains_key("diverged"), "{text}");
        if status == 66 {
            needs_a_wait_to_end(&run);
        }
    }
    let program = compile(Compiler::RaddleCc, "tests/findings/spurious.c", &[]);
    let mut command = Command::new(raddle());
    let options = ["verify", "--spurious", "--strategy", "mcr", "--"];
    let other = output(command.args(options).arg(program), LIMIT);
    assert!(
        other.all().contains("exclude each other"),
        "{}",
        other.all()
    );
}

/// Faults and wake-ups for no reason are a few in each execution, and with `--lazy-time` waits end
/// late: no search goes through all that there is then.
#[test]
fn what_an_option_leaves_out_bounds_the_verdict() {
    let program = compile(
        Compiler::RaddleCc,
        "tests/findings/spurious.c",
        &["-DFIXED"],
    );
    let table: [(&[&str], Option<&str>); 7] = [
        (&["run", "--policy", "dfs"], None),
        (&["run", "--policy", "dfs", "--spurious"], Some("signalled")),
        (&["run", "--policy", "dpor", "--faults"], Some("faults")),
        (&["run", "--policy", "pcb", "--lazy-time"], Some("sleeps")),
        (&["verify"], None),
        (&["verify", "--faults"], Some("faults")),
        (&["verify", "--lazy-time"], Some("sleeps")),
    ];
    for (options, bound) in table {
        let run = run(options, &program, &[]);
        let text = run.output.all();
        let status = bound.map_or(0, |_| WITHIN_BOUNDS);
        assert_eq!(run.output.status, status, "{}\n{text}", run.shown);
        let told = bound.is_none_or(|bound| text.contains(bound));
        assert!(told, "{}\n{text}", run.shown);
    }
}

/// A wake-up for no reason that a failure does not need is not in its witness.
#[test]
fn shrinking_drops_what_is_not_needed() {
    let program = program("spurious.c", &["-DFIXED", "-DALWAYS"]);
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let options = [
            "run",
            "-n",
            "1",
            "--policy",
            "random",
            "--seed",
            seed,
            "--spurious",
        ];
        let run = run(&options, &program, &[]);
        assert_eq!(run.output.status, 66, "{}", run.output.all());
        let says = run.output.stderr.contains("although nobody signalled");
        assert!(!says, "{}", run.output.all());
    }
}

#[test]
fn deadlocks_inside_a_library_are_told_apart() {
    let options = [
        "run",
        "-n",
        "400",
        "--policy",
        "random",
        "--seed",
        "1",
        "--keep-going",
    ];
    let run = run(&options, &program("standard_library.rs", &[]), &[]);
    let mut prints: Vec<&str> = run
        .summary
        .findings
        .iter()
        .map(|f| f.fingerprint.as_str())
        .collect();
    prints.sort_unstable();
    prints.dedup();
    let of_class = run
        .summary
        .findings
        .iter()
        .filter(|f| f.class == "deadlock")
        .count();
    assert_eq!((prints.len(), of_class), (2, 2), "{}", run.output.all());
}

/// `mutex:` keeps misuse quiet, `deadlock:` deadlocks, found or only foreseen; each only what its
/// pattern fits, and the summary counts it.
#[test]
fn suppressions_of_misuse_and_deadlocks() {
    let misuse = compile(Compiler::Gcc, "tests/corpus/unlock_not_owner.c", &[]);
    let deadlock = program("lock_order.c", &[]);
    // Program, rule, exit status, findings, rules that were of use.
    let table: [(&Path, &str, i32, usize, usize); 7] = [
        (&misuse, "mutex:^update$", 0, 0, 1),
        (&misuse, "mutex:unlock_not_*.c", 0, 0, 1),
        (&misuse, "mutex:other", 66, 1, 0),
        (&misuse, "deadlock:update", 66, 1, 0),
        (&deadlock, "deadlock:both", 0, 0, 1),
        (&deadlock, "deadlock:^bot$", 66, 1, 0),
        (&deadlock, "mutex:both", 66, 1, 0),
    ];
    for (n, (program, rule, status, findings, used)) in table.into_iter().enumerate() {
        let run = suppressed(&format!("{n}"), program, rule);
        let summary = &run.summary;
        let got = (
            run.output.status,
            summary.findings.len(),
            summary.suppressed.len(),
        );
        assert_eq!(
            got,
            (status, findings, used),
            "{rule}\n{}",
            run.output.all()
        );
    }
    let apart = program("kept_apart.c", &[]);
    for (name, rule, possible) in [
        ("apart", "deadlock:both", 0),
        ("apart-other", "deadlock:enter", 1),
    ] {
        let run = suppressed(name, &apart, rule);
        let got = (
            run.summary.possibilities.len(),
            run.summary.suppressed.len(),
        );
        assert_eq!(
            got,
            (possible, 1 - possible),
            "{rule}\n{}",
            run.output.all()
        );
    }
}

/// 200 random executions, which show all that there is in the small programs here, with one rule.
fn suppressed(name: &str, program: &Path, rule: &str) -> Run {
    let file = common::scratch("findings-suppressions").join(name);
    std::fs::write(&file, format!("{rule}\n")).expect("it can be written");
    let file = file.to_str().expect("a plain path");
    let options = [
        "run",
        "-n",
        "200",
        "--policy",
        "random",
        "--suppressions",
        file,
    ];
    run(&options, program, &[])
}

/// What a solver comes up with is made as small as the failure allows.
#[test]
fn inputs_are_made_small() {
    let program = compile(Compiler::RaddleCc, "examples/mpc_figure1.c", &[]);
    let value = |more: &[&str]| {
        let found = run(&[&["verify"], more].concat(), &program, &[]);
        let inputs = found.summary.findings[0].inputs.clone();
        let inputs = inputs.as_array().expect("inputs are listed").clone();
        let named = inputs.iter().find(|input| input["name"] == "j");
        let value = named.and_then(|input| input["value"].as_i64());
        (inputs.len(), value.expect("a number"))
    };
    // Another thread's input, to which the execution does not come, is left out.
    assert_eq!(value(&[]), (1, 100));
    assert!(value(&["--no-shrink"]).1 >= 100);
}

/// The report of a deadlock, as text and in the summary: where each thread waits, where it took
/// what it holds, who was last to do what it waits for.
#[test]
fn deadlocks_say_who_waits_and_holds_what_since_when() {
    let program = program("waits.c", &[]);
    let table: [(&str, &[&str]); 5] = [
        (
            "locks",
            &[
                "2 threads wait for each other in a cycle",
                "» T1    waits in mutex_lock a at waits.c:15",
                "held by T2, which took it at waits.c:15",
                "T1 waits in mutex_lock a\n    #0  take at",
                "T1 took what it holds: mutex_lock b\n    #0  take at",
                "#1  locks at tests/findings/waits.c:20 ",
                "#1  locks at tests/findings/waits.c:22 ",
            ],
        ),
        (
            "readers",
            &[
                "all 4 threads wait for ever",
                "T3    waits in rwlock_wrlock table at waits.c:32",
                "held by T2, which took it at waits.c:28",
                "held by T1, too, which took it at waits.c:28",
                "T1 took what it holds: rwlock_rdlock table\n    #0  readers at",
            ],
        ),
        (
            "condition",
            &[
                "all 2 threads wait for ever",
                "T1    waits in cond_wait ready at waits.c:40",
                "last by main: cond_signal ready: wakes nobody at waits.c:68",
                "and holds a, taken at waits.c:15",
                "T1 took what it holds: mutex_lock a\n    #0  take at",
            ],
        ),
        (
            "semaphore",
            &[
                "the only thread waits for ever",
                "waits in sem_wait items at waits.c:74",
                "last by main: sem_wait items at waits.c:73",
                "nobody has posted it",
                "and holds a, taken at waits.c:15",
                "main waits in sem_wait items\n    #0  main at",
            ],
        ),
        (
            "joins",
            &[
                "3 threads wait for each other in a cycle",
                "» T3    waits in pthread_join at waits.c:46",
                "  main  waits in pthread_join at waits.c:54",
            ],
        ),
    ];
    for (which, says) in table {
        let found = common::run(&["run", "-n", "1", "--policy", "rr"], &program, &[which]);
        assert_eq!(classes(&found), ["deadlock"], "{}", found.output.all());
        let report = found
            .output
            .stderr
            .replace(&format!("{}/", common::root().display()), "");
        for line in says {
            assert!(report.contains(line), "{line}\n{report}");
        }
        let waits = &found.summary.findings[0].waits;
        assert!(waits[0]["stack"][0].is_string(), "{waits:#}");
        if which == "locks" {
            let at = |line| format!("{}/tests/findings/waits.c:{line}", common::root().display());
            let first = &waits[0];
            assert_eq!(first["operation"], "mutex_lock a");
            assert_eq!(first["holder"], "T2");
            assert_eq!(first["stack"], serde_json::json!([at(15), at(22)]));
            let holds = &first["holds"];
            assert_eq!(holds[0]["operation"], "mutex_lock b");
            assert_eq!(holds[0]["stack"], serde_json::json!([at(15), at(20)]));
        }
    }
}

/// Whoever writes out the stack of a panic reads the whole program's debug information, without a step.
#[test]
fn stacks_of_panics_are_not_dear() {
    const NATIVELY: u32 = 5;
    let program = program("panics.rs", &["-g"]);
    let started = std::time::Instant::now();
    for _ in 0..NATIVELY {
        let said = output(Command::new(&program).arg("1"), LIMIT).stderr;
        assert!(said.contains("stack backtrace:"), "{said}");
    }
    let natively = started.elapsed() / NATIVELY;
    let run = run(&["run", "-n", "20", "--races=off"], &program, &["1"]);
    assert_eq!(run.output.status, 0, "{}", run.output.all());
    // It was three hundred times where each step of reading was one of the schedule.
    let rate = run.summary.executions_per_second;
    assert!(
        rate * natively.as_secs_f64() * 30.0 > 1.0,
        "{rate} a second, natively {natively:?} each"
    );
}

/// Whoever allows cores gets none of an execution: thousands of them may crash, and each has large mappings
/// of the runtime's own. (Where the system puts cores elsewhere, this sees none either way.)
#[test]
fn executions_that_crash_leave_no_core() {
    let program = compile(Compiler::Gcc, "tests/findings/signals.c", &[]);
    let signals = [
        libc::SIGQUIT,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGSEGV,
        libc::SIGXCPU,
        libc::SIGXFSZ,
        libc::SIGSYS,
    ];
    in_parallel(&signals, |signal| {
        let dir = empty(&format!("core-{signal}"));
        let mut limited = Command::new("sh");
        let run = "ulimit -c $(ulimit -H -c); exec \"$0\" run -q -n 2 -- \"$1\" \"$2\"";
        limited.args(["-c", run]).arg(raddle()).arg(&program);
        limited.arg(signal.to_string()).current_dir(&dir);
        let got = output(&mut limited, LIMIT);
        let entries = std::fs::read_dir(&dir).expect("a directory of ours");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let cores = names.filter(|name| name.to_string_lossy().starts_with("core"));
        match (got.status, cores.count()) {
            (66, 0) => Ok(()),
            (_, cores) => Err(format!("signal {signal}: {cores} cores\n{}", got.all())),
        }
    });
}
