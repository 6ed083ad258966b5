//! When do waits end by their time? Those of over a second (watchdogs, time-outs of tests) only where
//! nobody else can go on, shorter ones and sleeps at any step.

mod common;

use common::{Compiler, LIMIT, compile, empty, in_parallel, output, replay_fails, run};
use std::collections::BTreeSet;
use std::process::Command;

const PROGRAM: &str = "tests/timeouts/watchdog.c";
const BY_SLEEPING: &str = "tests/timeouts/by_sleeping.c";
const WAITS: [&str; 13] = [
    "cond",
    "clockcond",
    "sem",
    "futex",
    "poll",
    "select",
    "epoll",
    "mutex",
    "timerfd",
    "alarm",
    "setitimer",
    "timer",
    "timerthread",
];
const SAMPLING: [&str; 4] = ["steer", "random", "pct:3", "pos"];

#[test]
fn a_time_out_of_over_a_second_comes_only_where_nobody_else_goes_on() {
    let program = compile(Compiler::Gcc, PROGRAM, &["-DSECONDS=5", "-w"]);
    in_parallel(&WAITS, |wait| {
        for policy in SAMPLING {
            let quiet = run(&["run", "-n", "40", "--policy", policy], &program, &[wait]);
            if quiet.output.status != 0 {
                return Err(format!("{wait} by {policy}: {}", quiet.output.all()));
            }
        }
        // It does come then.
        let comes = match *wait {
            // Nobody holds the lock any more.
            "mutex" | "timerthread" => return Ok(()),
            _ => run(&["run", "-n", "40"], &program, &[wait, "never"]),
        };
        match comes.output.status {
            0 => Ok(()),
            _ => Err(format!("{wait}, where it is right: {}", comes.output.all())),
        }
    });
}

#[test]
fn whoever_asks_for_it_and_shorter_waits_have_it_at_any_step() {
    let long = compile(Compiler::Gcc, PROGRAM, &["-DSECONDS=5", "-w"]);
    let short = compile(Compiler::Gcc, PROGRAM, &["-DSECONDS=1", "-w"]);
    in_parallel(&WAITS, |wait| {
        for (program, option) in [(&short, "--early-timeouts=fail"), (&long, "--eager-time")] {
            let options = ["run", "-n", "1000", "--no-shrink", option];
            let found = run(&options, program, &[wait]);
            let time_out = found.summary.findings.first().map(|f| f.time_out.clone());
            if found.output.status != 66 || time_out != Some(None) {
                return Err(format!("{wait} {options:?}: {}", found.output.all()));
            }
        }
        Ok(())
    });
}

/// What fails only by such a time-out is told with it, and fails no run.
#[test]
fn what_needs_an_early_time_out_is_told_apart() {
    let program = compile(Compiler::Gcc, PROGRAM, &["-DSECONDS=1", "-w"]);
    let cpp = compile(Compiler::Gxx, "tests/timeouts/wait_for.cpp", &[]);
    let timers = ["timerfd", "alarm", "setitimer", "timer", "timerthread"];
    let c = WAITS.map(|wait| {
        let what = match timers.contains(&wait) {
            true => "timer",
            false => "wait",
        };
        (
            &program,
            vec![wait],
            format!("a {what} of 1 s (watchdog.c:"),
        )
    });
    let told = "a wait of 20 ms (wait_for.cpp:".to_string();
    // The sleeper's time comes first, however short: that the wait ends before is early as well.
    let sleeps = (&cpp, vec!["sleeps"], told.clone());
    let cpp = (&cpp, Vec::new(), told);
    let by_hand = compile(Compiler::RaddleCc, BY_SLEEPING, &[]);
    let told = "a wait of 10 ms (by_sleeping.c:".to_string();
    let poll = (&by_hand, vec!["poll"], told);
    let cases: Vec<_> = c.into_iter().chain([cpp, sleeps, poll]).collect();
    in_parallel(&cases, |(program, args, told)| {
        let found = run(&["run", "-n", "300"], program, args);
        let all = found.output.all();
        let [report] = &found.summary.reports[..] else {
            return Err(format!("{args:?}: {all}"));
        };
        let needs = report.time_out.as_deref().unwrap_or_default();
        let said = format!("fails only if {told}");
        let claim = "no other failure, 1 failure by an early time-out reported (does not fail the \
                     run; --early-timeouts=fail)";
        let fine = found.output.status == 0
            && found.summary.findings.is_empty()
            && needs.starts_with(&said)
            && needs.contains(" outlasts its limit while other threads could go on (not in ")
            && report.message.ends_with(needs)
            && all.contains(claim);
        if !fine {
            return Err(format!("{args:?}, {needs}: {all}"));
        }
        // Its witness is one like any other.
        replay_fails(report, &["-n", "3"])
    });
}

/// A wait whose time is over before it begins is an attempt: that it fails needs nobody to be slow.
#[test]
fn attempts_are_no_waits() {
    let program = compile(Compiler::RaddleCc, "tests/timeouts/attempts.c", &["-w"]);
    let listed = output(&mut Command::new(&program), LIMIT).stdout;
    let modes: Vec<&str> = listed.lines().collect();
    assert!(modes.len() >= 10, "{listed}");
    let cases: Vec<(&str, &str, i32)> = modes
        .iter()
        .flat_map(|mode| [(*mode, "0", 66), (*mode, "10", 0)])
        .collect();
    in_parallel(&cases, |&(mode, ms, status)| {
        let found = run(&["run", "--races=off"], &program, &[mode, ms]);
        match found.output.status == status {
            true => Ok(()),
            false => Err(format!("{mode} {ms}: {}", found.output.all())),
        }
    });
}

/// A failure that can be had without is one, however many of its executions have early time-outs, and
/// its witness has none; so is one that needs a sleep to be over.
#[test]
fn what_does_not_need_an_early_time_out_fails() {
    let program = compile(Compiler::Gcc, PROGRAM, &["-DSECONDS=1", "-w"]);
    let cpp = compile(Compiler::Gxx, "tests/timeouts/wait_for.cpp", &[]);
    let bugs = WAITS.iter().map(|&wait| (&program, vec![wait, "bug"]));
    let by_hand = compile(Compiler::RaddleCc, BY_SLEEPING, &[]);
    let others = [
        (&cpp, vec!["bug"]),
        (&program, vec!["sleep"]),
        (&by_hand, vec!["jitter"]),
    ];
    let cases: Vec<_> = bugs.chain(others).collect();
    in_parallel(&cases, |(program, args)| {
        for policy in ["steer", "random"] {
            let found = run(&["run", "--policy", policy], program, args);
            let all = found.output.all();
            let [finding] = &found.summary.findings[..] else {
                return Err(format!("{args:?} by {policy}: {all}"));
            };
            if found.output.status != 66 || finding.time_out.is_some() {
                return Err(format!("{args:?} by {policy}: {all}"));
            }
            replay_fails(finding, &[])?;
        }
        Ok(())
    });
}

/// Seconds do not pass while a thread that could go on gets no step, however short the sleeps are.
#[test]
fn sleeps_in_a_row_are_no_time_for_others_to_starve() {
    let program = compile(Compiler::RaddleCc, BY_SLEEPING, &[]);
    for policy in ["steer", "random", "pct:3"] {
        let options = ["run", "-n", "1000", "--policy", policy];
        let found = run(&options, &program, &["watchdog"]);
        found.expect(0, 0, 0);
    }
    let asked = run(&["run", "--eager-time"], &program, &["watchdog"]);
    assert_eq!(asked.output.status, 66, "{}", asked.output.all());
}

/// A process that waits uses no processor.
#[test]
fn processor_time_does_not_pass_in_waits() {
    let program = compile(Compiler::RaddleCc, "tests/timeouts/processor.c", &["-w"]);
    assert_eq!(output(&mut Command::new(&program), LIMIT).status, 0);
    let sampling = SAMPLING.map(|policy| ["run", "-n", "30", "--policy", policy]);
    let exhaustive = [
        &["run", "--policy", "dpor"][..],
        &["run", "--policy", "dfs"],
        &["verify"],
    ];
    for options in sampling
        .iter()
        .map(|options| &options[..])
        .chain(exhaustive)
    {
        let made = run(options, &program, &[]);
        assert_eq!(made.output.status, 0, "{options:?}: {}", made.output.all());
    }
}

/// Exhaustive policies are asked for all ends of waits, unless they are told otherwise.
#[test]
fn exhaustive_policies_count_them() {
    let program = compile(Compiler::Gxx, "tests/timeouts/wait_for.cpp", &[]);
    for (options, status) in [(&[][..], 66), (&["--early-timeouts=report"], 69)] {
        let options = [&["run", "--policy", "dpor", "--no-shrink"], options].concat();
        let found = run(&options, &program, &[]);
        assert_eq!(found.output.status, status, "{}", found.output.all());
    }
}

/// The same in the files: a warning in SARIF, no failure in JUnit.
#[test]
fn files_say_the_same() {
    let program = compile(Compiler::Gcc, PROGRAM, &["-DSECONDS=1", "-w"]);
    let dir = common::scratch("timeouts-files");
    let (junit, sarif) = (dir.join("junit.xml"), dir.join("sarif.json"));
    let files = [&junit, &sarif].map(|path| path.to_str().expect("a path in UTF-8"));
    let options = ["run", "-n", "100", "--junit", files[0], "--sarif", files[1]];
    let found = run(&options, &program, &["sem"]);
    found.expect(0, 0, 1);
    let text = |path| std::fs::read_to_string(path).expect("a file was written");
    assert!(!text(&junit).contains("<failure"), "{}", text(&junit));
    let log: serde_json::Value = serde_json::from_str(&text(&sarif)).expect("JSON");
    let results = &log["runs"][0]["results"];
    let level = results[0]["level"].as_str().unwrap_or("warning");
    let message = results[0]["message"]["text"].as_str().unwrap_or_default();
    assert!(
        level == "warning" && message.contains("fails only if a wait of 1 s"),
        "{results}"
    );
}

/// Threads of `moments.c`: what they wait for, and when they look at the clock.
const MOMENTS: [&str; 11] = [
    "uL,LL", "LnL,LL", "L,c,L", "pL,LL", "sL,L,u", "eL,LuL", "fL,LL", "tL,LL", "mL,LL", "dL,L,u",
    "uu,n,L",
];
/// The same with timers, which conflict with all that others do: without hooks there is less of that.
const TIMERS: [&str; 5] = ["aLg,Lu", "arr,u", "ag,n", "gu,auL", "rr,ap"];

/// When a wait of so long begins decides when it ends, also before the wait itself is a step.
#[test]
fn exhaustive_searches_see_all_that_clocks_show() {
    let source = "tests/timeouts/moments.c";
    let compiled = |compiler| compile(compiler, source, &["-O0", "-w"]);
    let (hooked, plain) = (compiled(Compiler::RaddleCc), compiled(Compiler::Gcc));
    let all = MOMENTS.iter().map(|threads| (&hooked, threads));
    let all: Vec<_> = all
        .chain(TIMERS.iter().map(|threads| (&plain, threads)))
        .collect();
    in_parallel(&all, |&(program, threads)| {
        let dir = empty(&format!("moments-{}", threads.replace(',', "-")));
        let seen = |policy, limit| {
            let file = dir.join(policy);
            let place = file.to_string_lossy().into_owned();
            let options = ["run", "-q", "--races=off", "--policy", policy, "-n", limit];
            let done = run(&options, program, &[threads, &place]);
            let lines = std::fs::read_to_string(&file).unwrap_or_default();
            let lines: BTreeSet<String> = lines.lines().map(str::to_owned).collect();
            (done, lines)
        };
        let (sampled, some) = seen("random", "500");
        let (explored, all) = seen("dpor", "3000");
        let missing: Vec<&String> = some.difference(&all).collect();
        let complete = explored.summary.complete == Some(true);
        match !some.is_empty() && missing.is_empty() && complete {
            true => Ok(()),
            false => Err(format!(
                "{threads}: {missing:?}\n{}\n{}",
                sampled.output.all(),
                explored.output.all()
            )),
        }
    });
}
