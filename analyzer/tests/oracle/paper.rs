//! The figures of papers/mpc.txt, with golden numbers of executions.

use crate::frontier::{Explored, explore};
use crate::machine::Ending;
use crate::program::{Cmp, Cond, Program, Stmt, make::*};
use raddle_analyzer::verify::{Bounds, Strategy, Verdict};

fn input(reg: usize) -> Stmt {
    Stmt::Input(reg, 255)
}

/// Figure 1: the error needs an input of at least 100 and the right order.
fn figure1() -> Program {
    let t1 = vec![input(1), write(0, r(1)), write(0, c(2))];
    let t2 = vec![input(1), write(0, r(1)), write(0, c(4))];
    let error = Stmt::Assert(ult(r(1), c(100)));
    let t3 = vec![read(1, 0), error, write(1, c(2))];
    fork_join(vec![t1, t2, t3], vec![], 2)
}

/// Figure 2, rebuilt from the text: the crash needs i = 3 and j >= 2, and x = 101 + `extra`.
/// `extra` further threads each do `if (input() == 10) x++`. j is at most 2.
fn figure2(extra: u16, crashes: bool) -> Program {
    let (x, y) = (0, 1);
    let section = vec![
        Stmt::Lock(0),
        write(y, c(5)),
        Stmt::Unlock(0),
        write(y, c(6)),
    ];
    let t1 = vec![write(x, c(2)), input(1), iff(eq(r(1), c(3)), section)];
    let inner = match crashes {
        true => Stmt::Exit(13),
        false => Stmt::Let(5, c(1)),
    };
    let t2 = vec![
        write(x, c(5)),
        Stmt::Lock(0),
        read(3, y),
        Stmt::Unlock(0),
        read(1, x),
        iff(
            eq(r(1), c(101 + extra)),
            vec![read(2, y), iff(eq(r(2), add(r(3), c(8))), vec![inner])],
        ),
    ];
    let increment = |reg| {
        vec![
            Stmt::Update(reg, (x, 1), add(r(reg), c(1))),
            read(4, y),
            write(y, add(r(4), c(1))),
        ]
    };
    let t3 = vec![
        input(1),
        Stmt::Assume(Cond(Cmp::Ult, r(1), c(3))),
        write(x, c(100)),
        Stmt::Let(2, c(0)),
        Stmt::While(
            ult(r(2), r(1)),
            [increment(3), vec![Stmt::Let(2, add(r(2), c(1)))]].concat(),
        ),
    ];
    let more = vec![
        input(1),
        iff(
            eq(r(1), c(10)),
            vec![Stmt::Update(2, (x, 1), add(r(2), c(1)))],
        ),
    ];
    let mut bodies = vec![t1, t2, t3];
    bodies.extend((0..extra).map(|_| more.clone()));
    fork_join(bodies, vec![], 2)
}

/// Figure 8: Strategy 1 misses the error.
fn figure8() -> Program {
    // The first input, 0, takes the branch A.
    let b = iff(ne(r(2), c(0)), vec![write(0, c(2))]);
    let a = Stmt::If(eq(r(1), c(0)), Vec::new(), vec![b]);
    let t1 = vec![input(1), input(2), a];
    let t2 = vec![read(1, 0), Stmt::Assert(ne(r(1), c(2)))];
    let mut program = fork_join(vec![t1, t2], vec![], 1);
    // x is seen to be shared in the first execution.
    program.bodies[0].insert(0, write(0, c(0)));
    program
}

fn run(name: &str, program: &Program, strategy: Strategy) -> Explored {
    let explored = explore(program, strategy, Bounds::default());
    let report = &explored.report;
    eprintln!(
        "{name} {strategy:?}: {} executions, {} settled, {} queries ({} spared), {} restarts, {:.1} ms (longest {:.1})",
        report.executions,
        report.settled,
        report.queries,
        report.spared,
        report.restarts,
        report.solver_ms,
        report.longest_ms
    );
    explored
}

#[test]
fn figure_1() {
    let explored = run("figure 1", &figure1(), Strategy::Frontier);
    assert!(explored.first_failure.is_some_and(|n| n <= 3));
    assert_eq!(explored.report.verdict, Verdict::Verified);
    assert_eq!(explored.report.settled, 2);
    for strategy in [Strategy::MpcS1, Strategy::MpcS2] {
        let explored = run("figure 1", &figure1(), strategy);
        assert_eq!(explored.report.settled, 2);
    }
    // Section 1: 4 executions, one for each value that the only read can return (here 3: both
    // inputs are the same).
    let explored = run("figure 1", &figure1(), Strategy::Mcr);
    assert!(explored.first_failure.is_none());
    assert_eq!(explored.report.settled, 3);
}

#[test]
fn figure_2() {
    let explored = run("figure 2", &figure2(0, true), Strategy::Frontier);
    assert!(explored.behaviour.endings.contains(&Ending::Exit(13)));
    let explored = run(
        "figure 2 without crash",
        &figure2(0, false),
        Strategy::Frontier,
    );
    assert_eq!(explored.report.verdict, Verdict::Verified);
    // Table 1: 6 paths, without the error.
    let explored = run("figure 2", &figure2(0, true), Strategy::MpcS1);
    assert!(!explored.behaviour.endings.contains(&Ending::Exit(13)));
    assert_eq!(explored.report.settled, 6);
    // Strategy 2 finds it.
    let explored = run("figure 2", &figure2(0, true), Strategy::MpcS2);
    assert!(explored.behaviour.endings.contains(&Ending::Exit(13)));
    assert_eq!(explored.report.verdict, Verdict::Verified);
}

#[test]
fn more_threads() {
    // Table 1: the paths of Strategy 1 double with each thread; those of the frontier do not.
    for extra in 0..=3 {
        let explored = run("M", &figure2(extra, true), Strategy::MpcS1);
        assert_eq!(explored.report.settled, 6 << extra);
    }
    for extra in 0..=6 {
        let explored = run("M", &figure2(extra, true), Strategy::Frontier);
        assert!(explored.behaviour.endings.contains(&Ending::Exit(13)));
        assert_eq!(explored.report.verdict, Verdict::Verified);
        assert!(explored.report.settled <= 12, "{}", explored.report.settled);
    }
}

#[test]
fn cores_answer_other_questions() {
    // 28 of 78 questions, and 170 of 703.
    for (strategy, part) in [(Strategy::MpcS1, 4), (Strategy::MpcS2, 6)] {
        let report = run("cores", &figure2(2, true), strategy).report;
        assert!(report.spared * part > report.queries + report.spared);
    }
}

#[test]
fn figure_8() {
    let failed = |e: &Explored| {
        e.behaviour
            .endings
            .iter()
            .any(|e| matches!(e, Ending::Assertion(_)))
    };
    let explored = run("figure 8", &figure8(), Strategy::MpcS1);
    assert!(!failed(&explored));
    assert!(matches!(
        explored.report.verdict,
        Verdict::VerifiedWithinBounds(_)
    ));
    let explored = run("figure 8", &figure8(), Strategy::Frontier);
    assert!(failed(&explored));
    assert_eq!(explored.report.verdict, Verdict::Verified);
    // Section 3.4.2: Strategy 2 explores the 4 reachable paths.
    assert!(explored.report.settled <= 4);
    let explored = run("figure 8", &figure8(), Strategy::MpcS2);
    assert!(failed(&explored));
    assert_eq!(explored.report.verdict, Verdict::Verified);
    assert_eq!(explored.report.left_over, 0);
    // Those 4, and executions that extend thread 1 along the other side of A.
    assert!((5..=8).contains(&explored.report.settled));
    let explored = run("figure 8", &figure8(), Strategy::Mcr);
    assert!(!failed(&explored), "mcr takes the inputs as zero");
}

/// Figure 9: the loop is written out, as the number of rounds is fixed.
fn figure9(rounds: u16) -> Program {
    let mut t1 = Vec::new();
    let mut t2 = Vec::new();
    for _ in 0..rounds {
        let reset = vec![write(0, c(0))];
        t1.extend([
            read(1, 0),
            Stmt::Let(1, add(r(1), c(1))),
            write(0, r(1)),
            read(2, 0),
            iff(eq(r(2), r(1)), reset),
        ]);
        t2.extend([read(1, 0), write(0, add(r(1), c(1)))]);
    }
    t1.extend([read(1, 0), Stmt::Assert(ne(r(1), c(2 * rounds)))]);
    fork_join(vec![t1, t2], vec![], 1)
}

#[test]
fn figure_9() {
    for rounds in 1..=3 {
        let explored = run(
            &format!("figure 9, {rounds}"),
            &figure9(rounds),
            Strategy::Frontier,
        );
        let failed = explored.behaviour.endings.iter();
        assert!(failed.clone().any(|e| matches!(e, Ending::Assertion(_))));
        assert_eq!(explored.report.verdict, Verdict::Verified);
    }
}
