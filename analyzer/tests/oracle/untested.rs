//! Frontiers behind untested predecessor pairs are asked for first from time to time: that finds the
//! same, and needs no more. So does a search whose questions give several jobs each from the first one
//! on.

use crate::frontier::{EVERYTHING, Explored, MENU, explore, explore_by};
use crate::machine::Ending;
use crate::random::{self, Menu};
use raddle_analyzer::verify::{Bounds, Strategy, Verifier};

/// Executions of all programs together.
#[derive(Debug, Default)]
struct Sums {
    executions: u64,
    /// Until the first failure, of programs that have one.
    to_failure: u64,
    /// Programs that were explored in another number of executions than first.
    others: u64,
}

/// Without pairs, with them, and with several jobs a question.
fn compare(seeds: std::ops::Range<u64>, menu: Menu) -> [Sums; 3] {
    let mut sums: [Sums; 3] = Default::default();
    for seed in seeds {
        let program = random::program(seed, menu);
        let mut plain = Verifier::new(Strategy::Frontier, Bounds::default());
        plain.ignore_pairs();
        let mut ahead = Verifier::new(Strategy::Frontier, Bounds::default());
        ahead.plan_ahead();
        let all = [
            explore_by(&program, plain),
            explore(&program, Strategy::Frontier, Bounds::default()),
            explore_by(&program, ahead),
        ];
        let context = || format!("seed {seed}\n{program:#?}");
        let a = &all[0];
        let count = |e: &Explored| (e.report.executions, e.first_failure);
        // That an assumption fails ends nothing that anybody looks for.
        let endings = |e: &Explored| {
            let mut endings = e.behaviour.endings.clone();
            endings.remove(&Ending::Assumed);
            endings
        };
        for (sums, b) in sums.iter_mut().zip(&all) {
            assert_eq!(endings(a), endings(b), "{}", context());
            assert_eq!(a.behaviour.paths, b.behaviour.paths, "{}", context());
            assert_eq!(a.report.verdict, b.report.verdict, "{}", context());
            assert_eq!(b.misses, 0, "{}", context());
            sums.executions += b.report.executions;
            sums.to_failure += b.first_failure.unwrap_or(0);
            sums.others += u64::from(count(a) != count(b));
        }
    }
    sums
}

#[test]
fn the_order_of_questions_does_not_matter() {
    let menus = [
        MENU,
        Menu {
            statements: 8,
            ..MENU
        },
        Menu {
            threads: 3,
            statements: 5,
            ..MENU
        },
        Menu {
            locks: 2,
            statements: 6,
            ..MENU
        },
        EVERYTHING,
        Menu {
            threads: 3,
            statements: 9,
            ..MENU
        },
        Menu {
            threads: 4,
            statements: 6,
            loops: true,
            exits: true,
            ..MENU
        },
        Menu {
            threads: 2,
            statements: 14,
            inputs: 1,
            ..MENU
        },
        Menu {
            threads: 4,
            statements: 20,
            inputs: 2,
            ..MENU
        },
    ];
    let (mut needed, mut others) = ([0; 3], [0; 3]);
    for (n, menu) in (0..).zip(menus) {
        let sums = compare(n * 1000..n * 1000 + 150, menu);
        eprintln!("{sums:?}");
        for (n, sums) in sums.iter().enumerate() {
            needed[n] += sums.executions + sums.to_failure;
            others[n] += sums.others;
        }
    }
    let [without, pairs, ahead] = needed;
    assert!(others[1] > 0 && others[2] > 0, "it never made a difference");
    assert!(pairs * 100 <= without * 102, "{needed:?}");
    assert!(ahead * 100 <= without * 105, "{needed:?}");
}
