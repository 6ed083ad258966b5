//! The data races that `verify` finds, against all states of random programs.

use crate::frontier::{EVERYTHING, MENU, explore_by};
use crate::player::brute_force;
use crate::random::{self, Family, INPUT_BOUND, Menu};
use raddle_analyzer::verify::{Bounds, Strategy, Verdict, Verifier};
use raddle_protocol::Slot;

/// What was seen in all programs together.
#[derive(Debug, Default)]
struct Sums {
    programs: u64,
    racy: u64,
    races: usize,
    /// Executions, and those without looking for races.
    executions: [u64; 2],
}

fn verifier() -> Verifier {
    Verifier::new(Strategy::Frontier, Bounds::default())
}

fn check(seed: u64, menu: Menu, inputs: &[(Slot, u32)], sums: &mut Sums) {
    let program = random::program(seed, menu);
    let Some(expected) = brute_force(&program, inputs, INPUT_BOUND, 20_000) else {
        return;
    };
    let mut looking = verifier();
    looking.look_for_races();
    let explored = explore_by(&program, looking);
    let plain = explore_by(&program, verifier());
    let found = &explored.races;
    let context = || format!("seed {seed}\n{program:#?}\n{:#?}", explored.report);
    // Where threads wait for each other, what others do then is not explored, and the verdict says so.
    let verified = explored.report.verdict == Verdict::Verified;
    let missing: Vec<_> = expected.races.difference(found).collect();
    assert!(
        missing.is_empty() || !verified,
        "{missing:x?} is missed: {}",
        context()
    );
    // What one race has made of the order of others may be a race of the definition, too; but not
    // where there is none to begin with.
    let invented = expected.races.is_empty() && !found.is_empty();
    assert!(!invented, "{found:x?} is invented: {}", context());
    assert_eq!(explored.diverged, 0, "{}", context());
    assert_eq!(
        explored.report.verdict,
        plain.report.verdict,
        "{}",
        context()
    );
    assert_eq!(
        explored.behaviour.paths,
        plain.behaviour.paths,
        "{}",
        context()
    );
    let extra = explored.report.executions - plain.report.executions;
    assert!(
        extra <= found.len() as u64 || !verified,
        "{extra}: {}",
        context()
    );
    sums.programs += u64::from(verified);
    sums.racy += u64::from(!found.is_empty());
    sums.races += found.len();
    sums.executions[0] += explored.report.executions;
    sums.executions[1] += plain.report.executions;
}

#[test]
fn races_are_found_wherever_there_are_any() {
    let locks = Menu {
        locks: 2,
        statements: 6,
        ..MENU
    };
    let menus: [(Menu, &[(Slot, u32)]); 6] = [
        (MENU, &[]),
        (locks, &[]),
        (Menu { inputs: 1, ..locks }, &[(1, 0), (2, 0)]),
        (
            Menu {
                guarded: true,
                statements: 3,
                locks: 1,
                ..MENU
            },
            &[],
        ),
        (
            Menu {
                sync: &[Family::Conditions, Family::RwLocks],
                ..locks
            },
            &[],
        ),
        (
            Menu {
                wide: false,
                ..EVERYTHING
            },
            &[(1, 0), (2, 0), (3, 0)],
        ),
    ];
    let mut sums = Sums::default();
    for (n, (menu, inputs)) in (0..).zip(menus) {
        for seed in 70_000 + 1000 * n..70_300 + 1000 * n {
            check(seed, menu, inputs, &mut sums);
        }
    }
    eprintln!("{sums:?}");
    assert!(sums.programs > 1000 && sums.racy > 300 && sums.racy < sums.programs);
    assert!(
        sums.executions[0] > sums.executions[1] + 20,
        "executions show them all"
    );
}
