//! Do symbolic bodies build the right expressions? Random programs are run on a concrete input;
//! what their expressions say about other inputs must be what the programs do on those.

mod common;
#[path = "common/dump.rs"]
mod dump;
#[path = "common/random.rs"]
mod random;

use common::{Build, Workshop, keep, number, run};
use dump::Dump;
use raddle_protocol::compile::Symbolic;
use random::Random;

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];
/// Programs a run of the test; RADDLE_TEST_PROGRAMS asks for another number.
const PROGRAMS: u64 = 24;
const INPUT: usize = 32;

fn programs() -> u64 {
    number("RADDLE_TEST_PROGRAMS", PROGRAMS)
}

#[test]
fn expressions_predict_other_inputs() {
    let (predictions, changed) = predict(Symbolic::All, programs());
    assert!(
        predictions > 20 * programs(),
        "only {predictions} predictions"
    );
    assert!(changed > 5 * programs(), "only {changed} of another output");
}

/// What functions with one body decide upon has to be true, and all that the outputs depend on.
#[test]
fn decisions_of_functions_with_one_body_predict_other_inputs() {
    let programs = programs().div_ceil(3);
    let (predictions, changed) = predict(Symbolic::None, programs);
    assert!(predictions > programs, "only {predictions} predictions");
    assert_eq!(changed, 0, "all outputs are decided upon");
}

/// Makes random programs and compares; how many predictions there were of outputs for other inputs, and
/// how many of them of other outputs.
fn predict(bodies: Symbolic, programs: u64) -> (u64, u64) {
    let first = number("RADDLE_TEST_SEED", 1);
    let mut predictions = 0;
    let mut changed = 0;
    for seed in first..first + programs {
        let workshop = Workshop::new();
        let text = random::program(&mut Random::new(seed));
        keep(seed, &text);
        let source = workshop.write("random.c", &text);
        let plain = workshop.build(
            &source,
            Build {
                options: &["-O0", "-fwrapv"],
                plugin: None,
            },
        );
        let options = [LEVELS[seed as usize % LEVELS.len()], "-fwrapv", "-g"];
        let program = workshop.build(
            &source,
            Build {
                options: &options,
                plugin: Some(bodies),
            },
        );
        let mut random = Random::new(seed ^ 0x5eed);
        for _ in 0..3 {
            let input: Vec<u8> = (0..INPUT).map(|_| random.byte()).collect();
            let expected = run(&plain, 0, &input, None);
            assert_eq!(expected.status, Some(0), "seed {seed}: {}", expected.errors);
            let file = workshop.path("dump");
            for mode in [0, 1, 2, 3] {
                let ran = run(&program, mode, &input, Some(&file));
                assert_eq!(
                    ran, expected,
                    "seed {seed}, mode {mode}, {}: {input:?}",
                    options[0]
                );
            }
            let dump = Dump::read(&file);
            assert!(dump.len() > INPUT, "seed {seed}: nothing was symbolic");
            let own: Vec<u64> = dump.outputs.iter().map(|&(_, value)| value).collect();
            assert_eq!(dump.predict(&input), Some(own.clone()), "seed {seed}");
            if dump.losses > 0 {
                continue;
            }
            for other in neighbours(&mut random, &input) {
                let Some(predicted) = dump.predict(&other) else {
                    continue;
                };
                let text: String = predicted.iter().map(|value| format!("{value}\n")).collect();
                let ran = run(&plain, 0, &other, None);
                assert_eq!(
                    ran.output, text,
                    "seed {seed}, {}: {input:?} and {other:?}",
                    options[0]
                );
                predictions += 1;
                changed += u64::from(predicted != own);
            }
        }
    }
    eprintln!("{predictions} predictions, {changed} of another output");
    (predictions, changed)
}

/// Inputs that differ in few bits.
fn neighbours(random: &mut Random, input: &[u8]) -> Vec<Vec<u8>> {
    (0..60)
        .map(|turn| {
            let mut other = input.to_vec();
            for _ in 0..=turn % 4 {
                let at = random.below(INPUT as u64) as usize;
                other[at] ^= match turn % 3 {
                    0 => 1 << random.below(8),
                    1 => random.byte(),
                    _ => 0x80,
                };
            }
            other
        })
        .collect()
}
