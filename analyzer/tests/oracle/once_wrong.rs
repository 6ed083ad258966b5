//! Programs that were explored wrongly once.

use crate::frontier::{
    DEADLOCKS, EVERYTHING, GUARDED, OBJECTS, SPURIOUS, SPURIOUS_CROWD, SYNC, WAITS, agree, check,
    explore,
};
use crate::random::{self, Family, Menu};
use raddle_analyzer::verify::{Bounds, Strategy};
use raddle_protocol::Slot;

/// The seed, the menu, and what the program has.
const ONCE_WRONG: &[(u64, Menu, &str)] = &[
    (
        10_132,
        Menu {
            sync: &[Family::Barriers, Family::Once],
            ..SYNC
        },
        "a once control that a thread has only come to when the process ends",
    ),
    (
        6914,
        Menu {
            sync: &[Family::Conditions],
            threads: 3,
            ..SYNC
        },
        "a thread without a signal where, with one, it is in a circle of threads",
    ),
    (
        50_341,
        SPURIOUS,
        "a circle of threads where, without a signal, all wait for one",
    ),
    (
        12_668,
        Menu {
            sync: &[Family::Sections],
            ..SYNC
        },
        "a step that comes into an atomic section in a model, and does nothing to its memory",
    ),
    (
        4758,
        EVERYTHING,
        "an assertion of main that fails before other threads have done anything",
    ),
    (
        5535,
        DEADLOCKS,
        "locations that turn out to be shared one after the other",
    ),
    (
        52_749,
        SPURIOUS,
        "a statement that is reached late, and shows what is shared",
    ),
    (
        50_795,
        SPURIOUS,
        "waits whose time runs out while another thread has the mutex",
    ),
    (
        53_415,
        SPURIOUS_CROWD,
        "a path that others take while a thread is about to end because an assumption fails",
    ),
    (
        32_913,
        WAITS,
        "a word that its thread takes, and finds taken in the next round of a loop",
    ),
    (
        42_166,
        GUARDED,
        "all that was expected to be shared turns out to be",
    ),
    (
        451_213,
        SPURIOUS_CROWD,
        "an execution that leaves its schedule for what it shows to be shared",
    ),
];

/// What other strategies did wrong.
const OTHERS: &[(Strategy, u64, Menu, &str)] = &[
    (
        Strategy::MpcS2,
        17_048,
        OBJECTS,
        "a thread at a once control that another has just come to for the first time",
    ),
    (Strategy::Mcr, 13_563, OBJECTS, "the same"),
];

/// This program's statement that shows what is shared would be the last of 27 executions, were it not
/// asked for alone now and then.
#[test]
fn statements_that_were_never_executed_come_early() {
    let late = ONCE_WRONG.iter().find(|case| case.0 == 52_749);
    let &(seed, menu, _) = late.expect("it is listed");
    let program = random::program(seed, menu);
    let explored = explore(&program, Strategy::Frontier, Bounds::default());
    let executions = explored.report.executions;
    assert!(executions <= 24, "{executions}");
}

#[test]
fn programs_that_were_wrong_once() {
    for &(seed, menu, what) in ONCE_WRONG {
        let inputs: Vec<(Slot, u32)> = (1..=3).map(|thread| (thread, 0)).collect();
        let inputs = if menu.inputs > 0 { &inputs[..] } else { &[] };
        assert!(check(seed, menu, inputs).is_some(), "{what}");
    }
}

#[test]
fn programs_that_others_explored_wrongly_once() {
    for &(strategy, seed, menu, what) in OTHERS {
        let program = random::program(seed, menu);
        assert!(agree(strategy, &program, seed, &[]).is_some(), "{what}");
    }
}
