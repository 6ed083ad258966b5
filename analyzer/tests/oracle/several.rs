//! Executions that are under way at the same time.

use crate::frontier::{MENU, explore};
use crate::machine::Ending;
use crate::player::{Behaviour, brute_force, play};
use crate::program::Program;
use crate::random::{self, Family, INPUT_BOUND, Menu};
use raddle_analyzer::verify::{Bounds, Report, Several, Strategy, Verdict, Verifier};

/// With several workers the same is found, and the same is claimed.
#[test]
fn several_jobs_at_a_time() {
    let menu = Menu {
        locks: 2,
        inputs: 1,
        threads: 3,
        statements: 6,
        sync: &[Family::Conditions, Family::Semaphores],
        ..MENU
    };
    let (mut programs, mut together) = (0, 0);
    for seed in 30_000..30_130 {
        let program = random::program(seed, menu);
        let inputs = [(1, 0), (2, 0), (3, 0)];
        if brute_force(&program, &inputs, INPUT_BOUND, 20_000).is_none() {
            continue;
        }
        let alone = explore(&program, Strategy::Frontier, Bounds::default());
        let (behaviour, report, most) = explore_with(&program, 3);
        let context = || format!("seed {seed}\n{program:#?}\n{report:#?}");
        assert_eq!(behaviour.paths, alone.behaviour.paths, "{}", context());
        let endings = |b: &Behaviour| {
            let mut endings = b.endings.clone();
            endings.remove(&Ending::Assumed);
            endings
        };
        let same = endings(&behaviour) == endings(&alone.behaviour);
        let deadlock = |e: &Ending| matches!(e, Ending::Deadlock(_));
        // Which of several deadlocks comes first cuts off others.
        assert!(
            same || behaviour.endings.iter().any(deadlock),
            "{}",
            context()
        );
        assert_eq!(
            report.local_paths,
            alone.report.local_paths,
            "{}",
            context()
        );
        assert_eq!(
            report.verdict == Verdict::Verified,
            alone.report.verdict == Verdict::Verified,
            "{}",
            context()
        );
        together += usize::from(most > 1);
        programs += 1;
    }
    eprintln!("{programs} programs, {together} with several jobs at a time");
    assert!(programs > 50 && together > programs / 20);
}

/// As [`explore`], with several jobs at a time; how many there were at most.
fn explore_with(program: &Program, workers: usize) -> (Behaviour, Report, usize) {
    let mut verifier = Verifier::new(Strategy::Frontier, Bounds::default());
    let mut behaviour = Behaviour::default();
    let mut most = 0;
    loop {
        match verifier.next_several(workers) {
            Several::Done(report) => return (behaviour, report, most),
            Several::Run(jobs) => {
                most = most.max(jobs.len());
                for job in jobs {
                    let played = play(program, &job);
                    behaviour.add(played.ending.as_ref(), &played.paths);
                    verifier.observe(&job, &played.trace);
                }
            }
        }
    }
}
