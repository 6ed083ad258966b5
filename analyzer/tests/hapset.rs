//! HaPSets against the worked examples of the paper, and guided searches against brute force.

mod machine;

use machine::Instruction::*;
use machine::{Instruction, Lines, Program};
use raddle_analyzer::bounds::Bound;
use raddle_analyzer::dfs::Dfs;
use raddle_analyzer::dpor::{Algorithm, Dpor};
use raddle_analyzer::hapset::guided::{Base, Guided, Settings};
use raddle_analyzer::hapset::knowledge::{Knowledge, Statement};
use raddle_analyzer::sampling::seed_of;
use raddle_analyzer::search::{Next, Plan, Search};
use raddle_analyzer::steer::Steer;
use raddle_protocol::schedule::{Step, Tail};
use std::collections::BTreeMap;

const PLAIN: Settings = Settings {
    base: Base::Dpor,
    context: 0,
    learn: 0,
    memory_only: false,
};

fn guided(settings: Settings) -> Guided {
    Guided::new(settings, 1, Box::new(Lines))
}

fn at(line: u32) -> Statement {
    Statement {
        place: raddle_analyzer::hapset::knowledge::Line {
            file: "paper".to_string(),
            line,
            function: String::new(),
        },
        context: Vec::new(),
    }
}

/// The HaPSet of a line, as lines.
fn set(knowledge: &Knowledge, line: u32) -> Vec<u32> {
    let mut lines: Vec<u32> = knowledge
        .set(&at(line))
        .iter()
        .map(|s| s.place.line)
        .collect();
    lines.sort_unstable();
    lines
}

fn sets(knowledge: &Knowledge, lines: &[u32]) -> Vec<Vec<u32>> {
    lines.iter().map(|&l| set(knowledge, l)).collect()
}

const P: u64 = 64;
const X: u64 = 128;
const A: u64 = 192;

/// Figure 1. Lines 1 to 4 are e1 to e4; using the null pointer fails.
fn figure1() -> Program {
    let user = vec![(2, Read(P)), (0, EndIfZero), (3, Read(P)), (0, Assert)];
    let owner = vec![(1, Write(P, 1)), (4, Write(P, 0))];
    Program {
        threads: vec![user, owner],
        memory: BTreeMap::new(),
    }
}

/// Figure 2. Lines 1 to 8 are a to h; `x` is 1 at first. Line 3 is the read of `x` (c), 7 the
/// write (g); 2 and 6 are the locks (b, f).
fn figure2() -> Program {
    let t1 = vec![
        (1, Write(256, 0)),
        (2, Lock(A)),
        (3, Read(X)),
        (4, Unlock(A)),
        (0, JumpIf(1)),
    ];
    let t2 = vec![(6, Lock(A)), (7, Write(X, 0)), (8, Unlock(A))];
    Program {
        threads: vec![t1, t2],
        memory: BTreeMap::from([(X, 1)]),
    }
}

/// A plan of this schedule, and then whoever can go on.
fn by(prefix: Vec<Step>) -> Plan {
    Plan {
        prefix,
        ..Plan::tail(Tail::RunUntilBlocked)
    }
}

/// The sets that a search of one execution, with this schedule, has learnt.
fn learnt(program: &Program, schedule: &[Step]) -> Knowledge {
    let mut search = guided(PLAIN);
    search.next(0);
    let (trace, _) = program.run(&by(schedule.to_vec()));
    search.observe(0, &trace);
    search.knowledge().clone()
}

#[test]
fn figure_1_gives_the_sets_of_the_paper() {
    let [user, owner] = [0, 1].map(|t| move |n| Step::thread(t, n));
    let serial = learnt(&figure1(), &[owner(1), user(2), owner(1)]);
    assert_eq!(
        sets(&serial, &[1, 2, 3, 4]),
        [vec![], vec![1], vec![], vec![3]]
    );
    // After the other good order the atomicity still shows: nothing ever precedes e3.
    let mut good = learnt(&figure1(), &[owner(2), user(1)]);
    good.merge(&serial);
    assert_eq!(sets(&good, &[2, 3, 4]), [vec![1, 4], vec![], vec![3]]);
    // And e2 precedes e1 where the pointer is looked at before it is set.
    good.merge(&learnt(&figure1(), &[user(1), owner(2)]));
    let all = [vec![2], vec![1, 4], vec![], vec![3]];
    assert_eq!(sets(&good, &[1, 2, 3, 4]), all);
}

#[test]
fn figure_2_gives_the_sets_of_the_paper() {
    // a b c d e … f g h a b c d e: the loop first, then the other thread, then the loop again.
    let schedule = [Step::thread(0, 7), Step::thread(1, 3), Step::thread(0, 3)];
    let knowledge = learnt(&figure2(), &schedule);
    assert_eq!(
        sets(&knowledge, &[2, 3, 6, 7]),
        [vec![6], vec![7], vec![2], vec![3]]
    );
}

/// Section 5.2: the first interleaving is a f g … b c …, the second a b …; then nothing is left.
/// How many there are of at most 100.
fn busy_wait(search: &mut dyn Search) -> u64 {
    let program = figure2();
    let mut schedule = vec![Step::thread(0, 1), Step::thread(1, 3)];
    for n in 0..100 {
        let mut plan = match search.next(n) {
            Next::Run(plan) => plan,
            other => {
                assert_eq!(other, Next::Done);
                let standing = search.standing();
                assert!(standing.complete && !standing.bounds.is_empty());
                return n;
            }
        };
        schedule.append(&mut plan.prefix);
        plan.prefix = std::mem::take(&mut schedule);
        let (trace, _) = program.run(&plan);
        search.observe(n, &trace);
    }
    100
}

#[test]
fn the_busy_wait_ends_after_two_interleavings() {
    for base in [Base::Dpor, Base::Preemptions(9)] {
        let mut search = guided(Settings { base, ..PLAIN });
        assert_eq!(busy_wait(&mut search), 2, "{base:?}");
    }
}

#[test]
fn without_guidance_the_busy_wait_is_tried_again_and_again() {
    assert_eq!(busy_wait(&mut Dpor::new(Algorithm::Optimal)), 100);
    // With sets of memory accesses alone, "there will be no pruning possible".
    let memory = Settings {
        memory_only: true,
        ..PLAIN
    };
    assert_eq!(busy_wait(&mut guided(memory)), 100);
}

/// Predecessor sets without a history know memory alone: no lock is in any of them.
#[test]
fn memory_alone_gives_predecessor_sets() {
    let mut search = guided(Settings {
        memory_only: true,
        ..PLAIN
    });
    search.next(0);
    let schedule = [Step::thread(0, 7), Step::thread(1, 3), Step::thread(0, 3)];
    let (trace, _) = figure2().run(&by(schedule.to_vec()));
    search.observe(0, &trace);
    let known = sets(search.knowledge(), &[2, 3, 6, 7]);
    assert_eq!(known, [vec![], vec![7], vec![], vec![3]]);
}

#[test]
fn the_atomicity_violation_of_figure_1_is_found() {
    for base in [Base::Dpor, Base::Preemptions(3)] {
        for memory_only in [false, true] {
            let mut search = guided(Settings {
                base,
                memory_only,
                ..PLAIN
            });
            let (executions, outcomes) = figure1().search(&mut search, 100);
            let failed = outcomes.iter().any(|o| o.starts_with("Assertion"));
            assert!(failed, "{base:?} {executions} {outcomes:?}");
        }
    }
}

#[test]
fn good_executions_are_learnt_from_before_the_search() {
    let mut search = guided(Settings { learn: 20, ..PLAIN });
    let (executions, _) = figure2().search(&mut search, 200);
    assert_eq!(executions, 21, "all was seen in the 20");
}

/// A program drawn at random: two or three threads, two variables, a lock.
fn random_program(seed: u64) -> Program {
    let mut drawn = 0;
    let mut below = |n: u64| {
        drawn += 1;
        seed_of(seed, drawn) % n
    };
    let mut line = 0;
    let mut threads = Vec::new();
    for _ in 0..2 + below(2) {
        let mut thread: Vec<(u64, Instruction)> = Vec::new();
        for _ in 0..1 + below(2) {
            let x = P + 64 * below(2);
            let locked = below(2) == 0;
            let mut push = |i| {
                line += 1;
                thread.push((line, i));
            };
            if locked {
                push(Lock(A));
            }
            match below(3) {
                0 => push(Write(x, 1 + below(3))),
                1 => {
                    push(Read(x));
                    push(WriteSum(x, 1));
                }
                _ => {
                    push(Read(x));
                    push(WriteSum(P + 64 * below(2), 2));
                }
            }
            if locked {
                push(Unlock(A));
            }
        }
        threads.push(thread);
    }
    Program {
        threads,
        memory: BTreeMap::new(),
    }
}

/// The bases alone miss nothing; guided they find a part of it, in no more executions, and say what
/// they left out.
#[test]
fn guided_searches_agree_with_brute_force() {
    let (mut whole, mut found, mut needed, mut spared) = (0, 0, 0, 0);
    for seed in 0..150 {
        let program = random_program(seed);
        let (all, expected) = program.search(&mut Dfs::new(), 10_000);
        if all == 10_000 {
            continue;
        }
        let (classes, _) = program.search(&mut Dpor::new(Algorithm::Optimal), 10_000);
        for (base, algorithm) in [
            (Base::Dpor, Algorithm::Optimal),
            (Base::Preemptions(9), Algorithm::Baseline(Bound::None)),
        ] {
            let label = format!("seed {seed} {base:?} {program:?}");
            let mut plain = Dpor::new(algorithm);
            let (executions, outcomes) = program.search(&mut plain, 100_000);
            assert_eq!(outcomes, expected, "{label}");
            assert!(plain.standing().complete, "{label}");
            assert!(executions <= all, "{label}: {executions} of {all}");
            let mut search = guided(Settings { base, ..PLAIN });
            let (fewer, some) = program.search(&mut search, 100_000);
            assert!(fewer <= executions, "{label}: {fewer} of {executions}");
            assert!(some.is_subset(&expected), "{label}");
            let standing = search.standing();
            assert!(standing.complete, "{label}");
            if standing.bounds.is_empty() {
                assert_eq!((fewer, &some), (classes, &expected), "{label}");
            }
            (whole, found) = (whole + expected.len(), found + some.len());
            (needed, spared) = (needed + executions, spared + executions - fewer);
        }
    }
    assert!(found * 2 > whole, "{found} of {whole}");
    assert!(spared * 4 > needed, "{spared} of {needed}");
}

/// Steering stays within what brute force reaches, and reaches all of it in the end.
#[test]
fn steer_reaches_what_brute_force_does() {
    for seed in 0..60 {
        let program = random_program(seed);
        let (all, expected) = program.search(&mut Dfs::new(), 500);
        if all == 500 {
            continue;
        }
        let (_, outcomes) = program.search(&mut Steer::new(seed), 4_000);
        assert_eq!(outcomes, expected, "seed {seed}");
    }
}
