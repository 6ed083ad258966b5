//! Exploration ends, and claims no more than it should, whatever the executions look like.

use crate::frontier::EVERYTHING;
use crate::player::{Behaviour, Played, brute_force, play};
use crate::program::Program;
use crate::random::{self, Dice, INPUT_BOUND, Menu};
use raddle_analyzer::verify::{Bounds, Next, Report, Strategy, Verdict, Verifier};
use raddle_protocol::event::Kind;
use raddle_protocol::job::Job;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Step;
use raddle_protocol::shared::flags;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const MENU: Menu = Menu {
    threads: 2,
    statements: 5,
    ..EVERYTHING
};

/// Explores with executions that `disturb` spoils.
fn explore(
    program: &Program,
    strategy: Strategy,
    mut disturb: impl FnMut(&mut Job, &mut dyn FnMut(&Job) -> Played) -> Played,
) -> Report {
    let bounds = Bounds {
        steps: 2_000,
        ..Bounds::default()
    };
    let mut verifier = Verifier::new(strategy, bounds);
    for _ in 0..3_000 {
        match verifier.next() {
            Next::Run(job) => {
                let mut spoilt = job.clone();
                let played = disturb(&mut spoilt, &mut |job| play(program, job));
                verifier.observe(&job, &played.trace);
            }
            Next::Done(report) => return report,
        }
    }
    panic!("endless: {program:?}");
}

#[test]
fn schedules_that_are_not_followed() {
    let mut missed = 0;
    for seed in 0..60 {
        let program = random::program(seed, MENU);
        let mut dice = Dice::new(seed);
        let report = explore(&program, Strategy::Frontier, |job, play| {
            match dice.roll(3) {
                0 => job.prefix.clear(),
                1 => job.prefix.insert(0, Step::thread(77, 1)),
                _ => {}
            }
            play(job)
        });
        missed += usize::from(!report.unreached.is_empty());
        if !report.unreached.is_empty() {
            assert!(matches!(report.verdict, Verdict::VerifiedWithinBounds(_)));
        }
    }
    assert!(missed > 0);
}

#[test]
fn programs_that_depend_on_the_weather() {
    // Some executions are of another program.
    let mut unstable = 0;
    for seed in 0..80 {
        let (one, other) = (random::program(seed, MENU), random::program(seed + 1, MENU));
        let mut n = 0;
        let report = explore(&one, Strategy::Frontier, |job, here| {
            n += 1;
            job.flags |= flags::TOLERANT;
            if n % 2 == 0 {
                play(&other, job)
            } else {
                here(job)
            }
        });
        unstable += usize::from(matches!(report.verdict, Verdict::VerifiedWithinBounds(_)));
    }
    assert!(unstable > 15, "{unstable}");
}

#[test]
fn nothing_is_known_of_what_was_announced() {
    for seed in 0..60 {
        let program = random::program(seed, MENU);
        explore(&program, Strategy::Frontier, |job, play| {
            let mut played = play(job);
            let kept = |k| k != Some(Kind::Pending);
            played.trace.events.retain(|e| kept(e.kind()));
            played
        });
    }
}

#[test]
fn steps_that_are_limited() {
    let mut verified = 0;
    for seed in 0..40 {
        let program = random::program(seed, MENU);
        let Some(expected) = brute_force(&program, &[(1, 0), (2, 0)], INPUT_BOUND, 20_000) else {
            continue;
        };
        let mut found = Behaviour::default();
        let report = explore(&program, Strategy::Frontier, |job, play| {
            job.max_steps = 6;
            let played = play(job);
            found.add(played.ending.as_ref(), &played.paths);
            played
        });
        if report.verdict == Verdict::Verified {
            verified += 1;
            assert_eq!(found.paths, expected.paths, "seed {seed}");
        }
    }
    assert!((1..40).contains(&verified), "{verified}");
}

/// The verdict of an exploration that is asked to stop when it has looked so many times whether it is.
fn stopped_after(program: &Program, strategy: Strategy, looks: usize) -> Verdict {
    let left = AtomicUsize::new(looks);
    let less = move |left: usize| left.checked_sub(1);
    let asked = move || match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
        Ok(_) => None,
        Err(_) => Some("asked to"),
    };
    let mut verifier = Verifier::new(strategy, Bounds::default());
    verifier.stop_when(Arc::new(asked));
    for _ in 0..3_000 {
        match verifier.next() {
            Next::Run(job) => {
                verifier.observe(&job, &play(program, &job).trace);
            }
            Next::Done(report) => return report.verdict,
        }
    }
    panic!("endless: {program:?}");
}

#[test]
fn an_exploration_can_be_stopped_at_any_moment() {
    let program = random::program(1, MENU);
    // The first of the reasons that are told.
    let is_stopped = |verdict: &Verdict| matches!(verdict, Verdict::VerifiedWithinBounds(why) if why.starts_with("asked to"));
    for strategy in [
        Strategy::Frontier,
        Strategy::MpcS1,
        Strategy::MpcS2,
        Strategy::Mcr,
    ] {
        let unless_stopped = stopped_after(&program, strategy, usize::MAX);
        assert!(!is_stopped(&unless_stopped));
        let (mut looks, mut early) = (0, 0);
        loop {
            let verdict = stopped_after(&program, strategy, looks);
            if verdict == unless_stopped {
                break;
            }
            assert!(is_stopped(&verdict), "{strategy:?}, {looks}: {verdict:?}");
            early += 1;
            looks += 1 + looks / 4;
        }
        assert!(early > 3, "{strategy:?} looked hardly ever: {early}");
    }
}

#[test]
fn records_of_any_content() {
    for seed in 0..300 {
        let program = random::program(seed, MENU);
        let strategies = [
            Strategy::Frontier,
            Strategy::MpcS1,
            Strategy::MpcS2,
            Strategy::Mcr,
        ];
        let strategy = strategies[(seed % 4) as usize];
        let mut dice = Dice::new(seed);
        explore(&program, strategy, |job, play| {
            let mut played = play(job);
            for _ in 0..1 + dice.roll(4) {
                spoil(&mut played, &mut dice);
            }
            played
        });
    }
}

fn spoil(played: &mut Played, dice: &mut Dice) {
    let trace = &mut played.trace;
    let word = [0, 1, 2, 7, 0x1000, 0x1001, u64::MAX, u64::MAX - 3][dice.roll(8)];
    let n = trace.events.len();
    if n > 0 {
        let i = dice.roll(n);
        let kinds = Kind::ALL.len();
        let event = &mut trace.events[i];
        match dice.roll(10) {
            0 => event.kind = Kind::ALL[dice.roll(kinds)] as u8,
            1 => event.kind = word as u8,
            2 => event.size = word as u8,
            3 => event.thread = word as u16,
            4 => event.aux = word as u32,
            5 => event.object = word,
            6 => event.value = word,
            7 => {
                trace.events.remove(i);
            }
            8 => {
                let copy = trace.events[dice.roll(n)];
                trace.events.insert(i, copy);
            }
            _ => trace.outcome.end = End::ALL[dice.roll(End::ALL.len())],
        }
    }
    let n = trace.nodes.len();
    if n > 1 && dice.roll(2) == 0 {
        let node = &mut trace.nodes[1 + dice.roll(n - 1)];
        match dice.roll(6) {
            0 => node.op = word as u8,
            1 => node.width = word as u8,
            2 => node.extra = word as u16,
            3 => node.a = word as u32,
            4 => node.b = word as u32,
            _ => node.c = word as u32,
        }
    }
}
