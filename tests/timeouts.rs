//! When do waits end by their time? Those of over a second (watchdogs, time-outs of tests) only where
//! nobody else can go on, shorter ones and sleeps at any step.

mod common;

use common::{Compiler, compile, in_parallel, run};

const PROGRAM: &str = "tests/timeouts/watchdog.c";
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
        for (program, options) in [(&short, &[][..]), (&long, &["--eager-time"])] {
            let options = [&["run", "-n", "1000", "--no-shrink"], options].concat();
            let found = run(&options, program, &[wait]);
            if found.output.status != 66 {
                return Err(format!("{wait} {options:?}: {}", found.output.all()));
            }
        }
        Ok(())
    });
}
