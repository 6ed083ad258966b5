//! Fibers and kernel threads are the same to a program and to its schedule: the same job gives the
//! same events, steps, output and outcome on both, and a schedule taken on one can be taken on the
//! other.

mod common;
#[path = "corpus/mod.rs"]
mod table;

use common::{Compiler, compile, in_parallel, raddle};
use raddle_protocol::job::Job;
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_scheduler::{Limits, Session, Stdin, StopFlag, Target};
use std::path::{Path, PathBuf};
use std::time::Duration;
use table::CASES;

/// Random programs, by their argument.
const RANDOM: std::ops::Range<u32> = 0..40;
const TAILS: [Tail; 3] = [
    Tail::Random { seed: 5 },
    Tail::Pct {
        seed: 6,
        depth: 3,
        steps: 50,
    },
    Tail::Pos { seed: 7 },
];

fn session(program: &Path, args: &[&str]) -> Result<Session, String> {
    let target = Target {
        program: program.to_owned(),
        name: None,
        args: args.iter().map(Into::into).collect(),
        env: Vec::new(),
        cwd: None,
        stdin: Stdin::Null,
        runtime: raddle().with_file_name("libraddle.so"),
    };
    let limits = Limits {
        wall: Duration::from_secs(60),
        ..Limits::default()
    };
    let stop = StopFlag::new().map_err(|error| error.to_string())?;
    Session::start(&target, &limits, &stop).map_err(|error| error.to_string())
}

/// What must be the same, in words.
fn compare(a: &Trace, b: &Trace) -> Result<(), String> {
    let differ = a.events.iter().zip(&b.events).position(|(a, b)| a != b);
    if let Some(i) = differ {
        return Err(format!("event {i}: {:?} {:?}", a.events[i], b.events[i]));
    }
    let facts = |t: &Trace| {
        let o = &t.outcome;
        let outcome = (o.end, o.code, o.thread, o.message.clone(), o.waits.clone());
        (t.events.len(), t.taken.clone(), outcome, t.stdout.clone())
    };
    match facts(a) == facts(b) {
        true => Ok(()),
        false => Err(format!("{:?}\n{:?}", facts(a), facts(b))),
    }
}

fn same_on_both(program: &Path, args: &[&str]) -> Result<(), String> {
    let mut on_fibers = session(program, args)?;
    let mut on_kernel_threads = session(program, args)?;
    let run = |session: &mut Session, mut job: Job, substrate: u32| {
        job.flags |= flags::EVENTS | substrate;
        job.max_steps = 20_000;
        session.run(&job).map_err(|error| error.to_string())
    };
    for tail in TAILS {
        let fibers = run(&mut on_fibers, Job::new(tail), 0)?;
        let kernel = run(
            &mut on_kernel_threads,
            Job::new(tail),
            flags::KERNEL_THREADS,
        )?;
        compare(&fibers, &kernel).map_err(|text| format!("{tail:?}: {text}"))?;
        let mut again = Job::new(Tail::RunUntilBlocked);
        again.prefix = kernel.taken.clone();
        let again = run(&mut on_fibers, again, 0)?;
        compare(&fibers, &again).map_err(|text| format!("{tail:?}, schedule: {text}"))?;
    }
    Ok(())
}

fn check(programs: &[(PathBuf, Vec<String>)]) {
    in_parallel(programs, |(program, args)| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        same_on_both(program, &args)
            .map_err(|text| format!("{} {args:?}: {text}", program.display()))
    });
}

#[test]
fn the_corpus_is_the_same_on_both() {
    let programs: Vec<_> = CASES
        .iter()
        .flat_map(|case| {
            let args: Vec<String> = case.args.iter().map(|arg| arg.to_string()).collect();
            let twins: [&[&str]; 2] = [&[], &["-DFIXED"]];
            twins.map(|flags| (case.program(flags), args.clone()))
        })
        .collect();
    check(&programs);
}

#[test]
fn random_programs_are_the_same_on_both() {
    let program = compile(Compiler::RaddleCc, "tests/substrates/random.c", &[]);
    let programs: Vec<_> = RANDOM
        .map(|n| (program.clone(), vec![n.to_string()]))
        .collect();
    check(&programs);
}
