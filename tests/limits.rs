//! Limits: a search that is to stop does so at any moment, whatever it is doing, and says what it did
//! not do.
//!
//! `RADDLE_STOPS=N` stops every phase N times, at random moments, and tells the worst overrun.

mod common;

use common::{Compiler, Random, Run, compile, empty, raddle};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn built(way: &str) -> PathBuf {
    let flags = ["-O0", way];
    compile(Compiler::RaddleCc, "tests/limits/work.c", &flags)
}

fn run(command: &str, options: &str, way: &str) -> Run {
    let options: Vec<&str> = options.split_whitespace().collect();
    common::run(&[&[command], &options[..]].concat(), &built(way), &[])
}

/// A command that would take very long, and how it may end when it is stopped: with nothing, or with
/// what it has found by then.
const PHASES: &[(&str, &str, &str)] = &[
    ("an execution", "run --no-shrink", "-DRACES"),
    ("an execution with records", "run --races=fail", "-DRACES"),
    ("steps", "run --max-steps 0 --timeout 100s -j 2", "-DCOUNTS"),
    ("a livelock", "run", "-DWAITS"),
    ("creation", "run --policy dpor", "-DCREATES"),
    ("creation and formulas", "verify", "-DCREATES"),
    ("locks", "run -n 1000000", "-DLOCKS"),
    (
        "shrinking",
        "run --keep-going -n 1000000 --shrink-executions 1000000",
        "-DFAILS",
    ),
    ("all interleavings", "run --policy dfs -j 2", "-DFAILS"),
    ("classes", "run --policy dpor", "-DFAILS"),
    ("questions", "verify --races=off", "-DSOLVES"),
    ("questions of two", "verify -j 2", "-DSOLVES"),
    ("explicit paths", "verify --strategy mpc-s2", "-DSOLVES"),
    ("long paths", "verify --races=off", "-DCOUNTS"),
    (
        "long executions of classes",
        "run --policy dpor",
        "-DCOUNTS",
    ),
    (
        "races of long executions",
        "run --policy dpor --races=fail",
        "-DSLEEPS",
    ),
];

/// What a command may take beyond its time: what is asked for, for a machine that does nothing else.
fn allowed(time: Duration) -> Duration {
    Duration::from_secs(2) + time / 20
}

/// How a command is stopped.
#[derive(Clone, Copy, Debug)]
enum Way {
    Time,
    Signal(i32),
}

/// Stops a command after so long: its exit status, how much longer it took, and whether there was nothing to
/// stop any more.
fn stopped(command: &str, program: &str, way: Way, after: Duration) -> (i32, Duration, bool) {
    let dir = empty(&format!("limits-{}", std::process::id()));
    let mut child = Command::new(raddle());
    child.current_dir(dir).args(command.split_whitespace());
    if let Way::Time = way {
        child.arg("--time").arg(format!("{}ms", after.as_millis()));
    }
    child.arg("--quiet").arg("--").arg(built(program));
    let quiet = || Stdio::null();
    child.stdin(quiet()).stdout(quiet()).stderr(quiet());
    let started = Instant::now();
    let mut child = child.spawn().expect("raddle starts");
    let mut was_over = false;
    if let Way::Signal(signal) = way {
        std::thread::sleep(after);
        was_over = child.try_wait().expect("a child").is_some();
        if !was_over {
            // SAFETY: a number of a child that has not been waited for, so it is nobody else's.
            unsafe { libc::kill(child.id() as i32, signal) };
        }
    }
    // A command that does not end at all fails the test, too.
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status.code().unwrap_or(-1);
        }
        if started.elapsed() > after + Duration::from_secs(120) {
            child.kill().expect("a child");
            child.wait().expect("a child");
            break -1;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let over = started.elapsed().saturating_sub(after);
    (status, over, was_over)
}

/// Every phase ends when its time is up and at a signal, and claims nothing that was not done.
#[test]
fn every_phase_stops_when_it_is_asked_to() {
    let stops: usize = match std::env::var("RADDLE_STOPS") {
        Ok(n) => n.parse().expect("RADDLE_STOPS is a number"),
        Err(_) => 1,
    };
    // Others may use the machine at the same time as the suite.
    let patience = if stops > 1 { 1 } else { 10 };
    let mut random = Random(std::process::id().into());
    let mut worst = (Duration::ZERO, "");
    let mut wrong = Vec::new();
    for (number, &(phase, command, program)) in PHASES.iter().enumerate() {
        for stop in 0..stops {
            // What comes after an execution of millions of steps does not begin at once.
            let latest = match program {
                "-DCOUNTS" => 6000,
                "-DSLEEPS" => 12000,
                _ => 2000,
            };
            let after = Duration::from_millis(200 + random.below(latest - 200) as u64);
            let way = match (number + stop) % 3 {
                0 => Way::Signal(libc::SIGINT),
                1 => Way::Signal(libc::SIGTERM),
                _ => Way::Time,
            };
            let (status, over, was_over) = stopped(command, program, way, after);
            worst = worst.max((over, phase));
            let claims = match way {
                // As many executions as there was time for are all that sampling was asked for.
                Way::Time => {
                    let samples = command.starts_with("run") && !command.contains("--policy");
                    [66, 69].contains(&status) || status == 0 && samples
                }
                Way::Signal(_) if was_over => [66, 69].contains(&status),
                // This search has an end of its own, to which it may come at that moment.
                Way::Signal(_) if phase == "long paths" && status == 69 => {
                    over < Duration::from_millis(200)
                }
                Way::Signal(_) => [66, 130].contains(&status),
            };
            if !claims || over > patience * allowed(after) {
                wrong.push(format!(
                    "{phase}: {way:?} after {after:?}: status {status}, {over:?} later"
                ));
            }
        }
    }
    println!("the worst overrun: {:?} in {}", worst.0, worst.1);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A program that takes many steps and would end is no livelock, and nothing is made simple of it.
#[test]
fn the_limit_of_steps_is_no_finding() {
    for way in ["-DCOUNTS", "-DLOADS"] {
        for policy in ["steer", "random", "pct:3"] {
            let options =
                format!("--no-shrink -n 2 --races=off --max-steps 50000 --policy {policy}");
            let run = run("run", &options, way);
            let said = run.output.all();
            assert_eq!(run.output.status, 69, "{way} {policy}: {said}");
            assert!(run.summary.findings.is_empty(), "{said}");
            assert!(run.summary.outcomes.keys().eq(["step limit"]), "{said}");
            assert!(
                said.contains("50000 steps") && said.contains("--max-steps"),
                "{said}"
            );
        }
    }
    // Whether some or all executions are cut off, and although they come to an end behind the limit.
    for (way, policy, all) in [
        ("-DSHORT", "steer", true),
        ("-DSHORT", "random", true),
        ("-DSHORT", "dfs", true),
        ("-DSOME", "random", false),
    ] {
        let options =
            format!("--no-shrink -n 20 --races=off --max-steps 1000 --policy {policy} -j 1");
        let run = run("run", &options, way);
        let said = run.output.all();
        let cut = run.summary.outcomes.get("step limit").copied();
        let cut = cut.unwrap_or(0);
        assert_eq!(run.output.status, 69, "{way} {policy}: {said}");
        assert!(cut > 0 && (cut == 20) == all, "{way} {policy}: {said}");
        let told = format!("{cut} execution{} cut off", if cut == 1 { "" } else { "s" });
        assert!(said.contains(&told), "{way} {policy}: {said}");
    }
    let found = run("run", "--no-shrink -n 30", "-DWAITS");
    let classes: Vec<&str> = found
        .summary
        .findings
        .iter()
        .map(|f| f.class.as_str())
        .collect();
    assert_eq!(classes, ["livelock"], "{}", found.output.all());
}

/// A search that is cut short says so by its exit status, if it set out to explore all.
#[test]
fn an_exhaustive_search_that_is_cut_short_is_within_bounds() {
    for (options, status, bound) in [
        ("--policy dpor --time 1s", 69, "the time was up"),
        // That was all that was asked for.
        ("--policy dfs -n 3", 0, "more interleavings than executions"),
    ] {
        let run = run("run", options, "-DSOLVES");
        let said = run.output.all();
        assert_eq!(run.output.status, status, "{options}: {said}");
        assert!(said.contains(bound), "{options}: {said}");
    }
}

/// Who runs by the clock comes to an end, with hooks and without, also where the others count
/// meanwhile; where no execution ends in time, that is no success.
#[test]
fn programs_that_run_by_the_clock_have_executions() {
    for count in ["1", "2", "3"] {
        let flags = ["-O1".to_string(), format!("-DCLOCK={count}")];
        let flags = [&flags[0][..], &flags[1]];
        for (compiler, policies) in [
            (Compiler::RaddleCc, &["steer", "random", "rr", "pcb:0"][..]),
            (Compiler::Gcc, &["steer", "rr"]),
        ] {
            let program = compile(compiler, "tests/limits/work.c", &flags);
            for policy in policies {
                let options = ["run", "-n", "2", "--policy", policy, "--timeout", "60s"];
                let run = common::run(&options, &program, &[]);
                let seen = run.summary.outcomes.keys().eq(["exit 0"]);
                assert!(seen, "{}: {}", run.shown, run.output.all());
            }
        }
    }
    // A thread that nobody else can interrupt, and that nothing ends.
    for (compiler, could_have_hooks) in [(Compiler::Gcc, true), (Compiler::RaddleCc, false)] {
        let endless = compile(compiler, "tests/hostile/hang.c", &["-g"]);
        let options = [
            "run",
            "--time",
            "2s",
            "--timeout",
            "60s",
            "--policy",
            "dpor",
        ];
        let run = common::run(&options, &endless, &["compute"]);
        let said = run.output.all();
        assert_eq!(run.output.status, 69, "{said}");
        assert!(said.contains("no execution came to its end"), "{said}");
        assert!(
            said.contains("computing") && said.contains("hang.c"),
            "{said}"
        );
        let told = ["with `raddle cc`", "not built with raddle cc"];
        let told = told.map(|text| said.contains(text));
        assert_eq!(told, [could_have_hooks; 2], "{said}");
    }
}

/// Inputs that are all 0 in `run` are a bound of what is explored.
#[test]
fn inputs_bound_what_run_explores() {
    for (policy, status) in [("dpor", 69), ("pcb:1", 69), ("random", 0)] {
        let run = run("run", &format!("-n 20 --policy {policy}"), "-DASKS");
        let said = run.output.all();
        assert_eq!(run.output.status, status, "{policy}: {said}");
        assert!(said.contains("raddle verify"), "{policy}: {said}");
    }
}
