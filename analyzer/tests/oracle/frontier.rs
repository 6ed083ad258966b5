//! The strategy `frontier` finds exactly what brute force finds, in few executions.

use crate::machine::{Decision, Ending};
use crate::player::{Behaviour, all_schedules, brute_force, play};
use crate::program::{MEMORY, Program};
use crate::random::{self, Family, INPUT_BOUND, Menu};
use crate::recorder::Recorder;
use raddle_analyzer::verify::{Bounds, Next, Noted, Report, Strategy, Verdict, Verifier};
use raddle_protocol::Slot;
use raddle_protocol::outcome::End;
use std::collections::BTreeSet;
use std::ops::Range;

/// What an exploration saw.
pub struct Explored {
    pub behaviour: Behaviour,
    pub report: Report,
    /// What was known to be shared in the end.
    pub ranges: Vec<(u64, u64)>,
    /// Executions that left their schedule, but for those that thereby showed what is shared.
    pub diverged: u64,
    /// Executions until it began again, as something else turned out to be shared.
    pub lost: u64,
    /// The execution (from 1) that showed the first failure.
    pub first_failure: Option<u64>,
    /// Data races between statements, the lower one first.
    pub races: BTreeSet<(u64, u64)>,
    /// Executions that taught nothing, and the formula from whose model the last of them came.
    pub misses: u64,
    pub missed: Option<String>,
}

/// Runs an exploration to its end.
pub fn explore(program: &Program, strategy: Strategy, bounds: Bounds) -> Explored {
    explore_by(program, Verifier::new(strategy, bounds))
}

/// Of every second program all memory is expected to be shared, as `raddle verify` does; of the others
/// what is shared is found out.
fn expects_all(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

fn verifier(program: &Program, strategy: Strategy, bounds: Bounds, seed: u64) -> Verifier {
    let mut verifier = Verifier::new(strategy, bounds);
    if expects_all(seed) {
        verifier.expect_shared([(MEMORY, MEMORY + program.memory.len() as u64)]);
    }
    verifier
}

/// Runs this exploration to its end.
pub fn explore_by(program: &Program, mut verifier: Verifier) -> Explored {
    verifier.keep_formulas();
    if program.spurious {
        verifier.allow_spurious();
    }
    let (mut misses, mut missed) = (0, None);
    let mut races = BTreeSet::new();
    let mut behaviour = Behaviour::default();
    let mut diverged = 0;
    let mut ranges = Vec::new();
    let mut first_failure = None;
    let (mut executions, mut lost) = (0, 0);
    loop {
        match verifier.next() {
            Next::Run(job) => {
                if job.ranges != ranges {
                    ranges.clone_from(&job.ranges);
                    lost = executions;
                }
                executions += 1;
                assert!(executions < 20_000, "endless: {program:?}");
                let played = play(program, &job);
                let failed = !matches!(played.ending, Some(Ending::Exit(0) | Ending::Assumed));
                if failed && played.ending.is_some() {
                    first_failure.get_or_insert(executions);
                }
                behaviour.add(played.ending.as_ref(), &played.paths);
                let noted = verifier.observe(&job, &played.trace);
                for note in noted {
                    assert!(!matches!(note, Noted::Corrupt(_)), "{note:?} {program:?}");
                    if let Noted::Race(race) = &note {
                        races.insert(race.key());
                    }
                    if matches!(note, Noted::NewShared(_)) {
                        lost = executions;
                    }
                    if note == Noted::Nothing {
                        misses += 1;
                        missed = verifier.formula().map(str::to_string);
                    }
                }
                // Where it shows what is shared, it was planned without that.
                let left = played.trace.outcome.end == End::Divergence;
                diverged += u64::from(left && lost != executions);
            }
            Next::Done(report) => {
                return Explored {
                    behaviour,
                    ranges,
                    diverged,
                    lost: if report.restarts > 0 { lost } else { 0 },
                    report,
                    first_failure,
                    races,
                    misses,
                    missed,
                };
            }
        }
    }
}

/// One more than there are pairs of a thread and an outcome of a local decision of its. Ends of the
/// process that no decision stands for are outcomes too, ways to wait for ever and codes that main
/// returns with: two threads with two locks and no decision need two executions.
fn most_executions(expected: &Behaviour) -> u64 {
    let counts = |ending: &&Ending| match ending {
        Ending::Deadlock(_) | Ending::Livelock(_) => true,
        Ending::Exit(code) => *code != 0,
        Ending::Assertion(_) | Ending::Misuse(_) | Ending::Assumed => false,
    };
    (1 + expected.outcomes() + expected.endings.iter().filter(counts).count()) as u64
}

pub fn is_deadlock(ending: &Ending) -> bool {
    matches!(ending, Ending::Deadlock(_))
}

/// Compares `frontier` with brute force; `None` when that is too much work.
pub fn check(seed: u64, menu: Menu, inputs: &[(Slot, u32)]) -> Option<Explored> {
    check_program(&random::program(seed, menu), seed, inputs)
}

/// The same of a program that was made from a seed in another way.
fn check_program(program: &Program, seed: u64, inputs: &[(Slot, u32)]) -> Option<Explored> {
    let (expected, explored) = agree(Strategy::Frontier, program, seed, inputs)?;
    let context = || format!("seed {seed}\n{program:#?}\n{:#?}", explored.report);
    // Every model reaches what it was asked for, so no path is taken twice.
    if explored.misses > 0 {
        let file = format!("{}/missed-{seed}.smt2", env!("CARGO_TARGET_TMPDIR"));
        let missed = explored.missed.as_deref().unwrap_or_default();
        std::fs::write(&file, missed).expect("the file is written");
        panic!("{} missed, see {file}: {}", explored.misses, context());
    }
    let bound = most_executions(&expected);
    let counted = explored.report.executions - explored.lost;
    assert!(counted <= bound, "{counted} > {bound}: {}", context());
    // What was seen before it was known what is shared has to be seen again. Meanwhile the process may
    // end before what others would have shown: a thread each.
    let ends = relevant(&expected).len() as u64;
    let again = explored.report.restarts * (1 + program.bodies.len() as u64);
    let most = bound.max(1 + expected.outcomes() as u64 + ends) + again;
    let all = explored.report.executions;
    assert!(all <= most, "{all} > {most}: {}", context());
    Some(explored)
}

/// The endings that count: where an assumption fails, the process was of no use.
pub fn relevant(behaviour: &Behaviour) -> BTreeSet<Ending> {
    let mut endings = behaviour.endings.clone();
    endings.remove(&Ending::Assumed);
    endings
}

/// So many executions of other strategies than `frontier` are enough to say nothing.
pub const MANY: u64 = 300;

/// Paths that were found and that there are not; `None` when that is too much work to say.
pub fn invented(
    program: &Program,
    inputs: &[(Slot, u32)],
    recorder: &Recorder,
    expected: &Behaviour,
    found: &Behaviour,
) -> Option<Vec<(Slot, Vec<Decision>)>> {
    let mut invented: Vec<_> = found.paths.difference(&expected.paths).cloned().collect();
    if !invented.is_empty() {
        // Where an assumption about an input fails, others go on before the process ends.
        let all = all_schedules(program, inputs, INPUT_BOUND + 1, usize::MAX, recorder)?;
        invented.retain(|path| !all.paths.contains(path));
    }
    Some(invented)
}

/// What brute force finds, and what this strategy does, which is the same; `None` when one of them
/// takes too long.
pub fn agree(
    strategy: Strategy,
    program: &Program,
    seed: u64,
    inputs: &[(Slot, u32)],
) -> Option<(Behaviour, Explored)> {
    let expected = brute_force(program, inputs, INPUT_BOUND, 60_000)?;
    let bounds = Bounds {
        executions: if strategy == Strategy::Frontier {
            0
        } else {
            MANY
        },
        ..Bounds::default()
    };
    let explored = explore_by(program, verifier(program, strategy, bounds, seed));
    let found = &explored.behaviour;
    // Waiting for each other ends the process at once, without a step of its own. So what others
    // do between the last step and that depends on which accesses are steps.
    let complete = !expected.endings.iter().any(is_deadlock);
    let coarse = Recorder::coarse(&explored.ranges);
    let expected = match complete {
        true => expected,
        false => all_schedules(program, inputs, INPUT_BOUND, usize::MAX, &coarse)?,
    };
    let context = || format!("seed {seed}\n{program:#?}\n{:#?}", explored.report);
    let usual = Recorder::silent();
    let recorder = if complete { &usual } else { &coarse };
    let invented = invented(program, inputs, recorder, &expected, found)?;
    assert!(
        invented.is_empty(),
        "{invented:?} is invented: {}",
        context()
    );
    assert_eq!(explored.diverged, 0, "{}", context());
    if bounds.executions != 0 && explored.report.executions >= bounds.executions {
        return None;
    }
    let missing: Vec<_> = expected.paths.difference(&found.paths).collect();
    assert!(missing.is_empty(), "{missing:?} is missed: {}", context());
    assert_eq!(relevant(&expected), relevant(found), "{}", context());
    if complete {
        let verified = explored.report.verdict == Verdict::Verified;
        assert_eq!(verified, !expected.leaves_out, "{}", context());
    }
    Some((expected, explored))
}

/// `RADDLE_ORACLE_TIMES=10` tries ten times as many programs, `RADDLE_ORACLE_FROM=1000000` others.
pub fn chosen(seeds: Range<u64>) -> Range<u64> {
    let number = |name, usual| std::env::var(name).map_or(usual, |n| n.parse().expect("a number"));
    let times = number("RADDLE_ORACLE_TIMES", 1);
    let first = seeds.start + number("RADDLE_ORACLE_FROM", 0);
    first..first + (seeds.end - seeds.start) * times
}

fn check_many(seeds: Range<u64>, menu: Menu, inputs: &[(Slot, u32)]) {
    let seeds = chosen(seeds);
    let (mut programs, mut executions, mut failing) = (0, 0, 0);
    let (mut deadlocks, mut livelocks) = (0, 0);
    for seed in seeds.clone() {
        if let Some(explored) = check(seed, menu, inputs) {
            programs += 1;
            executions += explored.report.executions;
            failing += u64::from(explored.first_failure.is_some());
            let endings = explored.behaviour.endings.iter();
            deadlocks += endings.filter(|e| matches!(e, Ending::Deadlock(_))).count();
            let endings = explored.behaviour.endings.iter();
            livelocks += endings.filter(|e| matches!(e, Ending::Livelock(_))).count();
        }
    }
    eprintln!(
        "{programs} programs, {executions} executions, {failing} failing, {deadlocks} deadlocks, \
         {livelocks} livelocks"
    );
    assert!(programs * 4 > seeds.end - seeds.start, "{programs}");
    assert!(failing > 0);
    assert!(!menu.lock_heavy || deadlocks > 50, "{deadlocks}");
    assert!(!menu.waits || livelocks > 50, "{livelocks}");
}

pub const MENU: Menu = Menu {
    threads: 2,
    statements: 5,
    inputs: 0,
    locks: 0,
    nested_threads: false,
    exits: false,
    wide: false,
    unjoined: false,
    destroys: false,
    lock_heavy: false,
    guarded: false,
    loops: false,
    waits: false,
    spurious: false,
    sync: &[],
};

pub const EVERYTHING: Menu = Menu {
    threads: 3,
    statements: 4,
    inputs: 1,
    locks: 2,
    nested_threads: true,
    exits: true,
    wide: true,
    unjoined: true,
    ..MENU
};

#[test]
fn plain() {
    check_many(0..300, MENU, &[]);
}

#[test]
fn with_inputs() {
    let menu = Menu { inputs: 1, ..MENU };
    check_many(0..200, menu, &[(1, 0), (2, 0)]);
}

#[test]
fn with_locks() {
    let menu = Menu {
        locks: 2,
        statements: 6,
        ..MENU
    };
    check_many(1000..1300, menu, &[]);
}

#[test]
fn with_guarded_memory() {
    check_many(40_000..40_200, GUARDED, &[]);
    let menu = Menu {
        threads: 3,
        inputs: 1,
        wide: true,
        unjoined: true,
        loops: true,
        nested_threads: true,
        sync: &[Family::Conditions, Family::RwLocks],
        ..GUARDED
    };
    check_many(41_000..41_100, menu, &[(1, 0), (2, 0), (3, 0)]);
}

pub const GUARDED: Menu = Menu {
    guarded: true,
    statements: 3,
    locks: 1,
    ..MENU
};

pub const DEADLOCKS: Menu = Menu {
    locks: 3,
    statements: 3,
    lock_heavy: true,
    nested_threads: true,
    ..MENU
};

#[test]
fn with_deadlocks() {
    check_many(5000..5200, DEADLOCKS, &[]);
}

#[test]
fn with_everything() {
    check_many(2000..2300, EVERYTHING, &[(1, 0), (2, 0), (3, 0)]);
}

#[test]
fn with_waiting_loops() {
    let menu = Menu {
        waits: true,
        ..MENU
    };
    check_many(30_000..30_200, menu, &[]);
    check_many(31_000..31_150, WAITS, &[(1, 0), (2, 0), (3, 0)]);
}

pub const WAITS: Menu = Menu {
    threads: 3,
    statements: 4,
    locks: 1,
    inputs: 1,
    wide: true,
    waits: true,
    ..MENU
};

pub const SYNC: Menu = Menu {
    locks: 2,
    statements: 4,
    ..MENU
};

#[test]
fn with_conditions() {
    let sync = &[Family::Conditions];
    check_many(6000..6150, Menu { sync, ..SYNC }, &[]);
    let threads = 3;
    check_many(
        6300..6400,
        Menu {
            sync,
            threads,
            ..SYNC
        },
        &[],
    );
}

#[test]
fn with_waits_that_end_for_no_reason() {
    check_many(50_000..50_150, SPURIOUS, &[]);
    check_many(51_000..51_150, SPURIOUS_CROWD, &[(1, 0), (2, 0), (3, 0)]);
}

pub const SPURIOUS: Menu = Menu {
    sync: &[Family::Conditions],
    spurious: true,
    ..SYNC
};

pub const SPURIOUS_CROWD: Menu = Menu {
    threads: 3,
    statements: 3,
    loops: true,
    inputs: 1,
    unjoined: true,
    exits: true,
    ..SPURIOUS
};

#[test]
fn with_pipes_and_event_counters() {
    let sync = &[Family::Pipes];
    check_many(52_000..52_150, Menu { sync, ..SYNC }, &[]);
    let sync = &[Family::Counters];
    check_many(53_000..53_150, Menu { sync, ..SYNC }, &[]);
    let sync = &[Family::Pipes, Family::Counters, Family::Semaphores];
    let menu = Menu {
        sync,
        threads: 3,
        statements: 3,
        inputs: 1,
        loops: true,
        unjoined: true,
        exits: true,
        nested_threads: true,
        ..SYNC
    };
    check_many(54_000..54_150, menu, &[(1, 0), (2, 0), (3, 0)]);
}

/// With an input, and threads that make others, that nobody joins, and that end the process.
const CROWD: Menu = Menu {
    inputs: 1,
    nested_threads: true,
    unjoined: true,
    exits: true,
    ..SYNC
};

#[test]
fn with_semaphores() {
    let sync = &[Family::Semaphores];
    check_many(7000..7150, Menu { sync, ..SYNC }, &[]);
}

#[test]
fn with_read_write_locks() {
    let sync = &[Family::RwLocks];
    check_many(8000..8150, Menu { sync, ..SYNC }, &[]);
}

#[test]
fn with_barriers_and_once() {
    let sync = &[Family::Barriers, Family::Once];
    check_many(9000..9150, Menu { sync, ..SYNC }, &[]);
}

#[test]
fn with_routines_that_are_left_by_exceptions() {
    let sync = &[Family::Throwing];
    check_many(13_000..13_150, Menu { sync, ..SYNC }, &[]);
    let sync = &[Family::Throwing, Family::Barriers, Family::Semaphores];
    let menu = Menu { sync, ..CROWD };
    check_many(13_200..13_300, menu, &[(1, 0), (2, 0)]);
}

#[test]
fn with_timed_locks() {
    let sync = &[Family::TimedLocks];
    check_many(10_000..10_100, Menu { sync, ..SYNC }, &[]);
}

#[test]
fn with_atomic_sections() {
    let sync = &[Family::Sections];
    check_many(12_000..12_150, Menu { sync, ..SYNC }, &[]);
    let sync = &[Family::Sections, Family::Conditions, Family::Semaphores];
    let menu = Menu { sync, ..CROWD };
    check_many(12_200..12_350, menu, &[(1, 0), (2, 0)]);
}

#[test]
fn with_all_kinds_of_objects() {
    check_many(11_000..11_150, OBJECTS, &[]);
}

pub const OBJECTS: Menu = Menu {
    sync: &[
        Family::Conditions,
        Family::Semaphores,
        Family::RwLocks,
        Family::Barriers,
        Family::Once,
        Family::TimedLocks,
    ],
    unjoined: true,
    exits: true,
    nested_threads: true,
    ..SYNC
};

#[test]
fn with_arrays_and_loops() {
    let loops = true;
    check_many(20_000..20_200, Menu { loops, ..MENU }, &[]);
    let menu = Menu {
        loops,
        inputs: 1,
        statements: 4,
        wide: true,
        ..MENU
    };
    check_many(21_000..21_150, menu, &[(1, 0), (2, 0)]);
}

#[test]
fn with_arrays_loops_and_objects() {
    check_many(22_000..22_200, ARRAYS, &[(1, 0), (2, 0)]);
}

pub const ARRAYS: Menu = Menu {
    loops: true,
    inputs: 1,
    statements: 3,
    sync: &[Family::Conditions, Family::Semaphores, Family::RwLocks],
    ..SYNC
};

/// Checks programs that are made by this function.
fn check_made(seeds: Range<u64>, inputs: &[(Slot, u32)], make: fn(u64) -> Program) {
    let (mut programs, mut failing) = (0, 0);
    let seeds = chosen(seeds);
    for seed in seeds.clone() {
        let explored = check_program(&make(seed), seed, inputs);
        programs += u64::from(explored.is_some());
        failing += u64::from(explored.is_some_and(|e| e.first_failure.is_some()));
    }
    eprintln!("{programs} programs, {failing} failing");
    let all = seeds.end - seeds.start;
    assert!(
        programs * 2 > all && failing * 8 > all,
        "{programs} {failing}"
    );
}

/// Threads that count up and down, lose what others have counted, and begin again.
#[test]
fn with_counters() {
    check_made(23_000..23_300, &[(1, 0)], random::counting);
}

#[test]
fn with_words_that_are_locks() {
    check_made(41_000..41_400, &[], random::word_lock);
}

#[test]
fn with_words_that_are_only_added_to() {
    check_made(42_000..42_400, &[], random::totals);
}

/// A mutex that may be destroyed too early: the error is found, and only then is there no proof.
#[test]
fn destroyed_mutexes() {
    let menu = Menu {
        locks: 1,
        destroys: true,
        unjoined: true,
        ..MENU
    };
    let (mut wrong, mut right) = (0, 0);
    for seed in 4000..4300 {
        let program = random::program(seed, menu);
        let Some(expected) = brute_force(&program, &[], INPUT_BOUND, 20_000) else {
            continue;
        };
        let explored = explore(&program, Strategy::Frontier, Bounds::default());
        let found = &explored.behaviour;
        let misuse = |b: &Behaviour| b.endings.iter().any(|e| matches!(e, Ending::Misuse(_)));
        assert!(found.paths.is_subset(&expected.paths), "seed {seed}");
        assert_eq!(misuse(found), misuse(&expected), "seed {seed} {program:#?}");
        if misuse(&expected) {
            wrong += 1;
            assert_ne!(explored.report.verdict, Verdict::Verified, "seed {seed}");
        } else {
            right += 1;
            let deadlock = |e: &Ending| matches!(e, Ending::Deadlock(_));
            assert_eq!(found.endings, expected.endings, "seed {seed}");
            assert!(
                explored.report.verdict == Verdict::Verified
                    || expected.endings.iter().any(deadlock),
                "seed {seed}"
            );
        }
    }
    eprintln!("destroyed: {wrong} wrong, {right} right");
    assert!(wrong > 20 && right > 20);
}
