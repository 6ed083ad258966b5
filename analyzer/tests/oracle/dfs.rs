//! The depth-first search asks for every interleaving exactly once.

use crate::player::{interleavings, plain_job, play};
use crate::program::{Program, Stmt, make::*};
use crate::random::{self, Menu};
use raddle_analyzer::dfs::Dfs;
use raddle_protocol::Slot;
use raddle_protocol::schedule::Step;
use raddle_protocol::shared::flags;

const MENU: Menu = Menu {
    threads: 2,
    statements: 3,
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

fn threads(taken: &[Step]) -> Vec<Slot> {
    let single = taken
        .iter()
        .flat_map(|s| std::iter::repeat_n(s.what, s.count.into()));
    single.collect()
}

/// All interleavings that the search asks for, in its order.
fn searched(program: &Program) -> Vec<Vec<Slot>> {
    let mut dfs = Dfs::new();
    let mut all = Vec::new();
    while let Some(prefix) = dfs.next_prefix() {
        let played = play(program, &plain_job(prefix, flags::ENABLED));
        all.push(threads(&played.trace.taken));
        dfs.observe(&played.trace);
    }
    assert_eq!(dfs.mismatches(), 0);
    all
}

fn check(program: &Program) -> usize {
    let mut expected: Vec<_> = interleavings(program).into_iter().map(|i| i.0).collect();
    let mut found = searched(program);
    let n = found.len();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{program:?}");
    n
}

#[test]
fn known_counts() {
    // Two threads of a and b steps (start and end included) have C(a+b, a) interleavings; main
    // creates both first and joins them last.
    let body = |n: usize| vec![write(0, c(1)); n];
    let table = [(0, 0), (1, 0), (1, 1), (2, 1)];
    for (a, b) in table {
        let n = check(&fork_join(vec![body(a), body(b)], vec![], 1));
        assert!(n > 1, "{a} {b}: {n}");
    }
    assert_eq!(check(&fork_join(vec![], vec![write(0, c(1))], 1)), 1);
    // Main ends without waiting: it has no step after the creation.
    let program = Program {
        bodies: vec![vec![Stmt::Create(0, 1, c(0)), write(0, c(1))], body(2)],
        memory: vec![0],
        ..Program::default()
    };
    // Start, write, write, exit: the end of main comes after k = 0 to 4 of them, its write at one
    // of k + 1 places before that.
    assert_eq!(check(&program), 1 + 2 + 3 + 4 + 5);
}

#[test]
fn random_programs() {
    let mut total = 0;
    let mut programs = 0;
    for seed in 0..400 {
        let program = random::program(seed, MENU);
        let size: usize = program.bodies.iter().map(Vec::len).sum();
        if size <= 9 {
            total += check(&program);
            programs += 1;
        }
    }
    assert!(programs > 100, "{programs}");
    assert!(total > 5_000, "{total}");
}
