//! Frontiers behind untested predecessor pairs are asked for first from time to time: that finds the
//! same, and needs no more.

use crate::frontier::{EVERYTHING, Explored, MENU, explore, explore_by};
use crate::random::{self, Menu};
use raddle_analyzer::verify::{Bounds, Strategy, Verifier};

/// Executions of all programs together.
#[derive(Debug, Default)]
struct Sums {
    executions: u64,
    /// Until the first failure, of programs that have one.
    to_failure: u64,
    /// Programs that were explored in another number of executions than without.
    others: u64,
}

fn compare(seeds: std::ops::Range<u64>, menu: Menu) -> [Sums; 2] {
    let mut sums: [Sums; 2] = Default::default();
    for seed in seeds {
        let program = random::program(seed, menu);
        let mut plain = Verifier::new(Strategy::Frontier, Bounds::default());
        plain.ignore_pairs();
        let both = [
            explore_by(&program, plain),
            explore(&program, Strategy::Frontier, Bounds::default()),
        ];
        let context = || format!("seed {seed}\n{program:#?}");
        let [a, b] = &both;
        assert_eq!(a.behaviour.endings, b.behaviour.endings, "{}", context());
        assert_eq!(a.behaviour.paths, b.behaviour.paths, "{}", context());
        assert_eq!(a.report.verdict, b.report.verdict, "{}", context());
        for (sums, explored) in sums.iter_mut().zip(&both) {
            sums.executions += explored.report.executions;
            sums.to_failure += explored.first_failure.unwrap_or(0);
        }
        let count = |e: &Explored| (e.report.executions, e.first_failure);
        sums[1].others += u64::from(count(a) != count(b));
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
    ];
    let (mut few, mut many, mut others) = (0, 0, 0);
    for (n, menu) in (0..).zip(menus) {
        let sums = compare(n * 1000..n * 1000 + 150, menu);
        eprintln!("without: {:?}, with: {:?}", sums[0], sums[1]);
        few += sums[1].executions + sums[1].to_failure;
        many += sums[0].executions + sums[0].to_failure;
        others += sums[1].others;
    }
    assert!(others > 0, "it never made a difference");
    assert!(few * 100 <= many * 102, "{few} and {many}");
}
