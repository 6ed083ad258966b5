//! The strategies of the MPC paper against brute force: `mpc-s2` and `mcr` find the same, `mpc-s1`
//! nothing else.

use crate::frontier::{
    ARRAYS, DEADLOCKS, EVERYTHING, MANY, MENU, OBJECTS, SYNC, WAITS, agree, chosen, explore,
    invented, is_deadlock, relevant,
};
use crate::machine::Ending;
use crate::player::brute_force;
use crate::random::{self, INPUT_BOUND, Menu};
use crate::recorder::Recorder;
use raddle_analyzer::verify::{Bounds, Strategy, Verdict};
use raddle_protocol::Slot;

/// Of each menu so many programs are made.
const EACH: u64 = 300;

/// Kinds of programs. Each thread may have a byte of input, where there are inputs.
const MENUS: [(u64, Menu); 7] = [
    (0, Menu { inputs: 1, ..MENU }),
    (
        1000,
        Menu {
            threads: 3,
            nested_threads: true,
            ..SYNC
        },
    ),
    (2000, EVERYTHING),
    (5000, DEADLOCKS),
    (11_000, OBJECTS),
    (22_000, ARRAYS),
    (31_000, WAITS),
];

const INPUTS: &[(Slot, u32)] = &[(1, 0), (2, 0), (3, 0)];

/// Where no program ends early, hardly anything is left to the last question.
fn compare(strategy: Strategy, with_inputs: bool) {
    let (mut made, mut programs, mut deadlocks, mut few, mut many) = (0, 0, 0, 0, 0);
    let (mut calm, mut left) = (0, 0);
    for (first, menu) in MENUS {
        let menu = Menu {
            inputs: if with_inputs { menu.inputs } else { 0 },
            ..menu
        };
        let inputs = if menu.inputs > 0 { INPUTS } else { &[] };
        for seed in chosen(first..first + EACH) {
            made += 1;
            let program = random::program(seed, menu);
            let Some((expected, explored)) = agree(strategy, &program, seed, inputs) else {
                continue;
            };
            let report = &explored.report;
            programs += 1;
            deadlocks += u64::from(expected.endings.iter().any(is_deadlock));
            many += report.executions;
            few += explore(&program, Strategy::Frontier, Bounds::default())
                .report
                .executions;
            let mut ends = relevant(&expected).into_iter();
            if expected.outcomes() > 2 && ends.all(|e| e == Ending::Exit(0)) {
                calm += report.executions;
                left += report.left_over;
            }
        }
    }
    eprintln!(
        "{strategy:?}: {programs} programs, {deadlocks} with deadlocks, {many} executions \
         (frontier {few}); of {calm} in programs that do not end early {left} were left over"
    );
    assert!(
        programs >= 2000 && programs * 8 > made * 7,
        "{programs} of {made}"
    );
    assert!(deadlocks > 100, "{deadlocks}");
    assert!(left * 20 <= calm, "{left} of {calm}");
}

#[test]
fn mpc_s2_reaches_everything() {
    compare(Strategy::MpcS2, true);
}

#[test]
fn mcr_reaches_everything_without_inputs() {
    compare(Strategy::Mcr, false);
}

/// mpc-s1 sees nothing that brute force does not, and claims nothing that it did not do.
#[test]
fn mpc_s1_sees_a_part() {
    let menu = Menu {
        locks: 1,
        inputs: 1,
        nested_threads: true,
        ..MENU
    };
    let bounds = Bounds {
        executions: MANY,
        ..Bounds::default()
    };
    let (mut programs, mut all, mut part) = (0, 0, 0);
    for seed in chosen(3000..5100) {
        let program = random::program(seed, menu);
        let Some(expected) = brute_force(&program, INPUTS, INPUT_BOUND, 20_000) else {
            continue;
        };
        let explored = explore(&program, Strategy::MpcS1, bounds);
        let found = &explored.behaviour;
        let Some(invented) = invented(&program, INPUTS, &Recorder::silent(), &expected, found)
        else {
            continue;
        };
        let context = || format!("seed {seed}\n{program:#?}\n{:#?}", explored.report);
        assert!(invented.is_empty(), "{invented:?}: {}", context());
        let (ends, possible) = (relevant(found), relevant(&expected));
        assert!(ends.is_subset(&possible), "{ends:?}: {}", context());
        let verdict = &explored.report.verdict;
        let bounded = matches!(verdict, Verdict::VerifiedWithinBounds(_));
        assert!(bounded, "{}", context());
        programs += 1;
        all += expected.paths.len();
        part += found.paths.len();
    }
    eprintln!("mpc-s1: {programs} programs, {part} of {all} paths");
    assert!(programs >= 2000, "{programs}");
    assert!(part * 10 > all * 8, "{part} of {all}");
}
