//! Loops that run as compiled where all in them is concrete: random programs are told so where it is
//! true, and have to build the same expressions as if they never were.

mod common;
#[path = "common/dump.rs"]
#[allow(dead_code, reason = "the other test counts expressions")]
mod dump;
#[path = "common/random.rs"]
#[allow(dead_code, reason = "its numbers are used")]
mod random;
#[path = "common/random_loops.rs"]
mod random_loops;

use common::{Build, Workshop, keep, number, run};
use dump::Dump;
use raddle_protocol::compile::Symbolic;
use random::Random;

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];
const INPUT: usize = 32;
/// The mode in which no loop runs as compiled, and what is told of its accesses is checked.
const REFUSED: u32 = 2 + 4;

#[test]
fn loops_that_run_as_compiled_lose_nothing() {
    let first = number("RADDLE_TEST_SEED", 1);
    let programs = number("RADDLE_TEST_PROGRAMS", 40);
    let (mut ran, mut asked, mut predictions) = (0, 0, 0);
    for seed in first..first + programs {
        let workshop = Workshop::new();
        let text = random_loops::program(&mut Random::new(seed));
        keep(seed, &text);
        let source = workshop.write("random.c", &text);
        let build = |level, plugin: bool| {
            let options = [level, "-fwrapv", "-g"];
            let options = &options[..];
            let plugin = plugin.then_some(Symbolic::All);
            workshop.build(&source, Build { options, plugin })
        };
        let (plain, level) = (build("-O0", false), LEVELS[seed as usize % LEVELS.len()]);
        let program = build(level, true);
        let mut random = Random::new(seed ^ 0x5eed);
        let input: Vec<u8> = (0..INPUT).map(|_| random.byte()).collect();
        let expected = run(&plain, 0, &input, None);
        assert_eq!(expected.status, Some(0), "seed {seed}: {}", expected.errors);
        let mut dumps = Vec::new();
        for mode in [0, 1, REFUSED, 2] {
            let file = workshop.path("dump");
            let own = run(&program, mode, &input, Some(&file));
            assert_eq!(
                own, expected,
                "seed {seed}, mode {mode}, {level}: {input:?}"
            );
            dumps.push(Dump::read(&file));
        }
        let [.., refused, dump] = &dumps[..] else {
            unreachable!("four modes");
        };
        assert_eq!(refused.loops.0, 0);
        assert_eq!(dump.decisions.len(), refused.decisions.len(), "seed {seed}");
        ran += dump.loops.0;
        asked += dump.loops.1;
        for other in 0..INPUT {
            let mut near = input.clone();
            near[other] ^= 1 << random.below(8);
            let predicted = dump.predict(&near);
            assert_eq!(predicted, refused.predict(&near), "seed {seed}, {level}");
            let Some(predicted) = predicted else {
                continue;
            };
            let text: String = predicted.iter().map(|value| format!("{value}\n")).collect();
            let there = run(&plain, 0, &near, None);
            assert_eq!(there.output, text, "seed {seed}, {level}: {near:?}");
            predictions += 1;
        }
    }
    eprintln!("{ran} of {asked} loops as compiled, {predictions} predictions");
    assert!(ran > 5 * programs, "only {ran} loops ran as compiled");
    assert!(
        asked > ran + programs,
        "{asked} questions, {ran} of them with yes"
    );
    assert!(predictions > 5 * programs, "only {predictions} predictions");
}
