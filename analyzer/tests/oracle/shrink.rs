//! The shrinker reaches the fewest preemptions that a failure needs.

use crate::machine::Ending;
use crate::player::{fewest_preemptions, interleavings, plain_job, play};
use crate::program::{Program, Stmt, make::*};
use crate::random::{self, Dice, Menu};
use raddle_analyzer::fewer::{self, Fewer};
use raddle_analyzer::shrink::{MAX_CANDIDATES, Shrinker};
use raddle_protocol::job::push_step;
use raddle_protocol::shared::flags;

/// Shrinks one failing interleaving; returns (preemptions, candidates).
fn shrink(program: &Program, order: &[u16], wanted: &Ending) -> (u64, usize) {
    let mut prefix = Vec::new();
    order.iter().for_each(|&s| push_step(&mut prefix, s));
    let first = play(program, &plain_job(prefix, 0));
    assert_eq!(first.ending.as_ref(), Some(wanted));
    let mut shrinker = Shrinker::new(first.trace.taken);
    let mut candidates = 0;
    while let Some(candidate) = shrinker.next() {
        candidates += 1;
        let run = play(program, &plain_job(candidate, flags::TOLERANT));
        let same = run.ending.as_ref() == Some(wanted);
        shrinker.observe(same, &run.trace.taken, run.trace.counters.preemptions);
    }
    // The result repeats the failure without tolerance.
    let last = play(program, &plain_job(shrinker.best().to_vec(), 0));
    assert_eq!(last.ending.as_ref(), Some(wanted));
    let claimed = shrinker.preemptions().expect("the first candidate fails");
    assert_eq!(claimed, last.trace.counters.preemptions);
    (claimed, candidates)
}

/// Shrinks one failing interleaving until no schedule has fewer preemptions; how many are left.
fn shrink_to_the_end(program: &Program, order: &[u16], wanted: &Ending) -> u64 {
    let mut prefix = Vec::new();
    order.iter().for_each(|&s| push_step(&mut prefix, s));
    let mut best = play(program, &plain_job(prefix, fewer::RECORDS)).trace;
    while best.counters.preemptions > 0 {
        let preemptions = best.counters.preemptions;
        let mut search = Fewer::new(&best, preemptions);
        let mut found = None;
        while let Some(prefix) = search.next() {
            let run = play(program, &plain_job(prefix, fewer::RECORDS));
            if run.ending.as_ref() == Some(wanted) && run.trace.counters.preemptions < preemptions {
                found = Some(run.trace);
                break;
            }
            search.observe(&run.trace);
        }
        match found {
            Some(trace) => best = trace,
            None => {
                assert!(search.exhausted());
                break;
            }
        }
    }
    best.counters.preemptions
}

fn lost_update() -> Program {
    let body = vec![
        read(1, 0),
        write(0, add(r(1), c(1))),
        write(1, c(1)),
        write(2, c(1)),
    ];
    let end = vec![read(1, 0), Stmt::Assert(eq(r(1), c(2)))];
    fork_join(vec![body.clone(), body], end, 3)
}

fn crossed_locks() -> Program {
    let body = |a, b| {
        vec![
            Stmt::Lock(a),
            Stmt::Lock(b),
            Stmt::Unlock(b),
            Stmt::Unlock(a),
        ]
    };
    fork_join(vec![body(0, 1), body(1, 0)], vec![], 1)
}

#[test]
fn known_minimum() {
    for (name, program) in [("lost update", lost_update()), ("locks", crossed_locks())] {
        let all = interleavings(&program);
        let bad: Vec<_> = all.iter().filter(|i| i.1 != Ending::Exit(0)).collect();
        assert!(bad.len() >= 4, "{name}: {}", bad.len());
        for (order, ending) in bad.iter().step_by(bad.len() / 50 + 1) {
            let (preemptions, candidates) = shrink(&program, order, ending);
            assert_eq!(
                Some(preemptions),
                fewest_preemptions(&program, ending),
                "{name}"
            );
            assert!(candidates <= MAX_CANDIDATES);
        }
    }
}

#[test]
fn random_programs() {
    let menu = Menu {
        threads: 3,
        statements: 6,
        inputs: 0,
        locks: 2,
        nested_threads: true,
        exits: true,
        wide: false,
        unjoined: true,
        destroys: false,
        lock_heavy: false,
        guarded: false,
        loops: false,
        waits: false,
        spurious: false,
        sync: &[],
    };
    let (mut failures, mut optimal) = (0, 0);
    for seed in 0..1500 {
        let program = random::program(seed, menu);
        let mut dice = Dice::new(seed);
        let random_order: Vec<u16> = (0..400).map(|_| dice.roll(4) as u16).collect();
        let mut prefix = Vec::new();
        random_order.iter().for_each(|&s| push_step(&mut prefix, s));
        let run = play(&program, &plain_job(prefix, flags::TOLERANT));
        let ending = run.ending.expect("toy programs end");
        if matches!(ending, Ending::Exit(0) | Ending::Assumed)
            || run.trace.counters.preemptions == 0
        {
            continue;
        }
        let order: Vec<u16> = run
            .trace
            .taken
            .iter()
            .flat_map(|s| std::iter::repeat_n(s.what, s.count.into()))
            .collect();
        let (preemptions, candidates) = shrink(&program, &order, &ending);
        let fewest = fewest_preemptions(&program, &ending).expect("it happened");
        assert!(candidates <= MAX_CANDIDATES);
        failures += 1;
        optimal += usize::from(preemptions == fewest);
        assert!(preemptions <= fewest + 1, "seed {seed}");
        assert_eq!(
            shrink_to_the_end(&program, &order, &ending),
            fewest,
            "seed {seed}"
        );
    }
    assert!(failures > 100, "{failures}");
    assert!(optimal * 100 >= failures * 99, "{optimal} of {failures}");
}
