//! Is an execution from a copy of an earlier one the same as from the start, and is none copied
//! that has left something outside of its process?

mod common;

use common::{Compiler, compile, in_parallel, raddle, scratch};
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::sampling::{Rule, Sampling};
use raddle_analyzer::search::{Next, Search};
use raddle_analyzer::steer::Steer;
use raddle_protocol::constraint::{Constraint, Point, Rule as Order};
use raddle_protocol::event::Kind;
use raddle_protocol::job::Job;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_scheduler::{Limits, Reuse, Session, Stdin, StopFlag, Target};
use std::path::Path;
use std::time::Duration;

const PROGRAM: &str = "tests/snapshots/start_up.c";

/// A session in a folder of its own.
fn session(program: &Path, args: &[&str], reuse: Reuse) -> Session {
    let name = format!("snapshots-{}-{reuse:?}", args.join("-"));
    let target = Target {
        program: program.to_owned(),
        name: None,
        args: args.iter().map(Into::into).collect(),
        env: Vec::new(),
        cwd: Some(scratch(&name)),
        stdin: Stdin::bytes(b"abcdef").expect("a memory file"),
        runtime: raddle().with_file_name("libraddle.so"),
    };
    let limits = Limits {
        wall: Duration::from_secs(60),
        reuse,
        ..Limits::default()
    };
    Session::start(&target, &limits, &StopFlag::new().expect("a flag")).expect("it starts")
}

/// The traces of a search's first `n` executions, and how many copies there were.
fn traces(program: &Path, mut search: impl Search, n: u64, reuse: Reuse) -> (Vec<Trace>, usize) {
    let mut session = session(program, &[], reuse);
    let mut copies = 0;
    let mut all = Vec::new();
    while let Next::Run(plan) = search.next(all.len() as u64) {
        let mut job = Job::new(plan.tail);
        job.prefix = plan.prefix;
        job.flags |= plan.flags;
        let trace = session.run(&job).expect("it runs");
        search.observe(all.len() as u64, &trace);
        copies = copies.max(session.snapshots());
        all.push(trace);
        if all.len() as u64 == n {
            break;
        }
    }
    (all, copies)
}

/// With what other executions are compared that start from the beginning.
const WAYS: [Reuse; 2] = [Reuse::Copies, Reuse::Processes];

fn same(anew: &[Trace], copied: &[Trace]) {
    assert_eq!(anew.len(), copied.len());
    for (i, (a, c)) in anew.iter().zip(copied).enumerate() {
        assert!(a == c, "execution {i} differs:\n{a:?}\n{c:?}");
    }
}

#[test]
fn every_rule_does_the_same_from_a_copy() {
    let program = compile(Compiler::Gcc, PROGRAM, &[]);
    for rule in [Rule::Mix, Rule::Random, Rule::Pct(3), Rule::Pos] {
        let search = || Sampling::new(rule, 3);
        let (anew, none) = traces(&program, search(), 40, Reuse::Nothing);
        assert_eq!(none, 0);
        for way in WAYS {
            let (copied, copies) = traces(&program, search(), 40, way);
            assert!(copies > 0, "{rule:?} made no copy");
            same(&anew, &copied);
        }
        let outputs: std::collections::BTreeSet<_> = anew.iter().map(|t| &t.stdout).collect();
        assert!(outputs.len() > 1, "{rule:?}: the schedules differ");
    }
}

#[test]
fn constraints_count_what_was_before_the_copy() {
    let program = compile(Compiler::Gcc, PROGRAM, &[]);
    let lock = |nth| Point {
        kind: Kind::MutexLock as u8,
        nth,
        ..Point::ANY
    };
    let jobs = |n: u64| {
        let mut job = Job::new(Tail::Random { seed: n });
        job.flags |= flags::EVENTS;
        if n > 4 {
            let created = Point {
                kind: Kind::ThreadCreate as u8,
                thread: 0,
                ..Point::ANY
            };
            let rules = [Order::After, Order::InTurn];
            let rule = rules[n as usize % 2];
            job.constraints = vec![Constraint::new(rule, created, lock(n as u32 % 3), 50)];
        }
        job
    };
    let all = |reuse| -> Vec<Trace> {
        let mut session = session(&program, &["constraints"], reuse);
        (0..30)
            .map(|n| session.run(&jobs(n)).expect("it runs"))
            .collect()
    };
    let anew = all(Reuse::Nothing);
    for way in WAYS {
        same(&anew, &all(way));
    }
}

#[test]
fn an_exhaustive_search_goes_on_half_way() {
    let program = compile(Compiler::Gcc, "tests/snapshots/slow_steps.c", &[]);
    let (anew, _) = traces(&program, Dfs::new(), 60, Reuse::Nothing);
    for way in WAYS {
        let (copied, copies) = traces(&program, Dfs::new(), 60, way);
        assert!(copies > 0, "no copy was made");
        same(&anew, &copied);
    }
}

#[test]
fn what_left_something_outside_is_not_copied() {
    let program = compile(Compiler::Gcc, "tests/snapshots/effects.c", &[]);
    let table = [
        ("none", true),
        ("append", false),
        ("truncate", false),
        ("folder", false),
        ("mapping", false),
        ("stdio", false),
    ];
    for (effect, copied) in table {
        let mut session = session(&program, &[effect], Reuse::Processes);
        for seed in 0..12 {
            let trace = session
                .run(&Job::new(Tail::Random { seed }))
                .expect("it runs");
            assert_eq!(trace.outcome.code, 0, "{effect}: {:?}", trace.outcome);
            assert!(trace.stderr.is_empty(), "{effect}");
        }
        assert_eq!(session.snapshots() > 0, copied, "{effect}");
    }
}

/// Does the kernel say which pages of a process are its own (Linux 6.7)?
fn can_put_back() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    let mut numbers = release
        .split(['.', '-'])
        .map_while(|n| n.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(7))
}

#[test]
fn a_process_that_was_put_back_does_the_same() {
    let program = compile(Compiler::Gcc, "tests/snapshots/state.c", &[]);
    // What it does, and whether its process can be put back afterwards.
    let table = [
        ("memory", true),
        ("umask", false),
        ("folder", false),
        ("descriptor", false),
        ("closed", false),
        ("input", false),
        ("limit", false),
        ("signal", false),
        ("anywhere", true),
        ("window", true),
        ("remapped", false),
        ("advised", false),
        ("undumped", false),
        ("file", false),
        ("shared", false),
    ];
    for (what, expected) in table {
        let run = |reuse| -> (Vec<Trace>, u64) {
            let mut session = session(&program, &[what], reuse);
            let job = |seed| Job::new(Tail::Random { seed });
            let run = |seed| session.run(&job(seed)).expect("it runs");
            let seeds = if what == "window" { 100 } else { 25 };
            let traces = (0..seeds).map(run).collect();
            (traces, session.rewinds())
        };
        let (anew, none) = run(Reuse::Nothing);
        let (cloned, no_rewinds) = run(Reuse::Copies);
        let (copied, rewinds) = run(Reuse::Processes);
        for trace in anew.iter().chain(&copied) {
            assert!([0, 3].contains(&trace.outcome.code), "{what}: {trace:?}");
        }
        same(&anew, &cloned);
        same(&anew, &copied);
        assert_eq!((none, no_rewinds), (0, 0), "{what}");
        assert_eq!(rewinds > 0, expected && can_put_back(), "{what}: {rewinds}");
        let codes: std::collections::BTreeSet<_> = copied.iter().map(|t| t.outcome.code).collect();
        assert_eq!(codes.len(), 2, "{what}: the schedules differ");
    }
}

#[test]
fn the_stacks_for_signals_of_rust_threads_are_put_back() {
    let program = compile(Compiler::Rustc, "tests/snapshots/threads.rs", &[]);
    let run = |reuse| -> (Vec<Trace>, u64) {
        let mut session = session(&program, &[], reuse);
        let job = |seed| Job::new(Tail::Random { seed });
        let run = |seed| session.run(&job(seed)).expect("it runs");
        let traces = (0..40).map(run).collect();
        (traces, session.rewinds())
    };
    let (anew, _) = run(Reuse::Nothing);
    let (cloned, none) = run(Reuse::Copies);
    let (copied, rewinds) = run(Reuse::Processes);
    same(&anew, &cloned);
    same(&anew, &copied);
    assert_eq!(none, 0);
    assert_eq!(rewinds > 0, can_put_back());
    let outputs: std::collections::BTreeSet<_> = copied.iter().map(|t| &t.stdout).collect();
    assert!(outputs.len() > 10, "the schedules differ");
}

#[test]
fn a_process_is_not_put_back_over_a_stack_that_grew() {
    let program = compile(Compiler::Gcc, "tests/snapshots/state.c", &[]);
    let run = |reuse| -> Vec<Trace> {
        let mut session = session(&program, &["deep"], reuse);
        let job = |seed| Job::new(Tail::Random { seed });
        (0..12)
            .map(|seed| session.run(&job(seed)).expect("it runs"))
            .collect()
    };
    let anew = run(Reuse::Nothing);
    for way in WAYS {
        same(&anew, &run(way));
    }
}

#[test]
fn a_program_with_a_copy_leaves_nothing_behind() {
    let program = compile(Compiler::Gcc, PROGRAM, &[]);
    let mut session = session(&program, &["left"], Reuse::Processes);
    for seed in 0..6 {
        session
            .run(&Job::new(Tail::Random { seed }))
            .expect("it runs");
    }
    assert!(session.snapshots() > 0);
    drop(session);
    let left = std::fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .find(|process| {
            std::fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe == program)
                && std::fs::read(process.path().join("cmdline"))
                    .is_ok_and(|args| args.ends_with(b"\0left\0"))
        });
    assert!(left.is_none(), "{left:?}");
}

/// What an execution of a program with retry loops did is a schedule that another one follows step by
/// step, whether it began anew or from a copy, and whatever either knew of the loops: that some seem to
/// wait for ever and do not is learnt on the way.
#[test]
fn what_is_recorded_is_what_is_replayed() {
    const EACH: u64 = 60;
    let program = compile(Compiler::RaddleCc, "tests/snapshots/retries.c", &["-O1"]);
    let seeds: Vec<String> = (1..=12).map(|seed: u32| seed.to_string()).collect();
    in_parallel(&seeds, |seed| {
        let mut replays = session(&program, &[seed], Reuse::Processes);
        for way in [Reuse::Nothing, Reuse::Copies] {
            let mut session = session(&program, &[seed, ""], way);
            let mut search = Steer::new(seed.parse().expect("a number"));
            let mut n = 0;
            while let Next::Run(plan) = search.next(n) {
                let mut job = Job::new(plan.tail);
                job.prefix = plan.prefix;
                job.constraints = plan.constraints;
                job.flags |= plan.flags;
                job.max_steps = 20_000;
                if n > EACH / 3 {
                    job.flags |= flags::DOUBT_SPINS;
                }
                let trace = session.run(&job).map_err(|error| error.to_string())?;
                search.observe(n, &trace);
                if trace.outcome.end == End::Divergence {
                    return Err(format!("{seed} {way:?} {n}: {:?}", trace.outcome));
                }
                for mode in [job.flags, job.flags ^ flags::DOUBT_SPINS] {
                    let mut again = Job::new(Tail::RunUntilBlocked);
                    again.prefix = trace.taken.clone();
                    again.flags = mode;
                    again.max_steps = job.max_steps;
                    let replay = replays.run(&again).map_err(|error| error.to_string())?;
                    let cut = trace.outcome.end != End::Exit;
                    if replay.outcome.end == End::Divergence
                        || !cut && (replay.taken != trace.taken || replay.outcome != trace.outcome)
                    {
                        let (then, now) = (&trace.outcome, &replay.outcome);
                        return Err(format!("{seed} {way:?} {n}: {then:?}\n{now:?}"));
                    }
                }
                n += 1;
                if n == EACH {
                    break;
                }
            }
        }
        Ok(())
    });
}
