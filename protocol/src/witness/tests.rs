use super::super::*;
use super::*;
use alloc::vec;
use alloc::vec::Vec;

fn sample() -> Witness {
    let site = Site {
        module: Some(0),
        offset: 0x1234,
        frames: vec![Frame {
            function: Some("main".into()),
            file: Some("/src/a.c".into()),
            line: Some(7),
        }],
        shown: 0,
        source: Some("counter++;".into()),
    };
    Witness {
        raddle: "0.1.0".into(),
        command: Command {
            program: Bytes(b"/bin/prog".to_vec()),
            args: vec![Bytes(b"-x".to_vec()), Bytes(vec![0xff, 0xfe])],
            env: vec![],
            cwd: Bytes(b"/".to_vec()),
            stdin: Some(Bytes(vec![])),
        },
        modules: vec![Module {
            path: Bytes(b"/bin/prog".to_vec()),
            base: 0x5555_5555_4000,
            identity: "build-id:00".into(),
            instrumented: true,
        }],
        recipe: Recipe {
            steps: vec![(0, 3), (1, 1), (0x8001, 1)],
            inputs: vec![Input {
                thread: 0,
                index: 0,
                name: Some("i".into()),
                bytes: Bytes(vec![3, 0, 0, 0]),
                site: Some(0),
            }],
            ranges: vec![(16, 24)],
            flags: 4,
            max_steps: 0,
            timeout_ms: 0,
            clock_base: u64::MAX,
            entropy: 1,
            expected_output: None,
            accepted_exits: Vec::new(),
        },
        finding: Finding {
            class: "deadlock".into(),
            message: "all threads wait".into(),
            fingerprint: "f00".into(),
            thread: 1,
            stack: vec![0],
            waits: vec![Wait {
                thread: 1,
                holder: crate::slot::NONE,
                kind: 10,
                in_cycle: true,
                object: 0,
                site: 0,
                holder_site: None,
                stack: vec![0],
                holds: vec![Hold {
                    kind: 10,
                    object: 0,
                    stack: vec![0],
                }],
                earlier: Some(vec![Record {
                    kind: 11,
                    thread: 0,
                    site: 0,
                    object: 0,
                    value: 0,
                    preempts: false,
                }]),
            }],
            notes: vec![Note {
                text: "freed here".into(),
                site: Some(0),
            }],
            execution: 4,
            preemptions: 1,
            found_preemptions: 9,
            fewest: true,
            reproduced: true,
            policy: "random".into(),
            seed: 1,
            uncontrolled: vec![],
            stdout: Bytes(vec![]),
            stderr: Bytes(b"oops\n".to_vec()),
            accesses: vec![Access {
                what: "write of 4 bytes".into(),
                thread: 1,
                object: 0,
                stack: vec![0],
            }],
            threads: vec![Creation {
                thread: 1,
                creator: 0,
                stack: vec![0],
            }],
            other: Some(Other {
                what: "the accesses in the other order".into(),
                steps: vec![(0, 2)],
                stdout: Some(Bytes(b"1\n".to_vec())),
            }),
            time_out: None,
        },
        sites: vec![site],
        objects: vec![Object {
            address: 0x10,
            name: "m".into(),
            block: Some(Block {
                site: 0,
                thread: 0,
                size: 8,
            }),
        }],
        events: vec![Record {
            kind: 10,
            thread: 1,
            site: 0,
            object: 0,
            value: 0,
            preempts: true,
        }],
        events_left_out: 0,
    }
}

/// Puts a fitting checksum under any content.
fn signed(content: &str) -> Vec<u8> {
    let mut file = content.as_bytes().to_vec();
    let sum = fnv1a(&file);
    file.extend(format!("checksum {sum:016x}\n").bytes());
    file
}

#[test]
fn a_witness_survives_the_file() {
    let witness = sample();
    assert_eq!(decode(encode(&witness).as_bytes()), Ok(witness));
}

#[test]
fn the_first_version_is_read_too() {
    let mut old = sample();
    old.finding.accesses.clear();
    old.finding.threads.clear();
    old.finding.other = None;
    let text = encode(&old);
    let body = text.lines().nth(1).unwrap();
    let lacking = body.replace(r#","accesses":[],"threads":[],"other":null"#, "");
    assert!(lacking.len() < body.len());
    let file = signed(&format!("raddle witness 1\n{lacking}\n"));
    assert_eq!(decode(&file), Ok(old));
}

#[test]
fn every_truncation_is_called_one() {
    let file = encode(&sample());
    assert_eq!(decode(b""), Err(DecodeError::NotAWitness));
    for len in 1..file.len() {
        let result = decode(&file.as_bytes()[..len]);
        assert_eq!(result, Err(DecodeError::Truncated), "cut at {len}");
    }
}

#[test]
fn foreign_files_are_told_apart() {
    let body = "{}\n";
    let future = signed(&format!("raddle witness {}\n{body}", FORMAT + 1));
    let table: Vec<(Vec<u8>, DecodeError)> = vec![
        (b"\x7fELF".to_vec(), DecodeError::NotAWitness),
        (b"raddle witness x\n".to_vec(), DecodeError::NotAWitness),
        (b"raddle witness 1x\n".to_vec(), DecodeError::NotAWitness),
        (
            b"raddle witness 99999999999\n".to_vec(),
            DecodeError::NotAWitness,
        ),
        (future, DecodeError::Version(FORMAT + 1)),
        (
            b"raddle witness 7\nno more".to_vec(),
            DecodeError::Version(7),
        ),
    ];
    for (file, expected) in table {
        assert_eq!(decode(&file), Err(expected));
    }
    assert!(matches!(
        decode(&signed("raddle witness 1\n{}\n")),
        Err(DecodeError::Malformed(_))
    ));
}

#[test]
fn an_index_out_of_its_table_is_refused() {
    let spoil: &[fn(&mut Witness)] = &[
        |w| w.events[0].site = 1,
        |w| w.events[0].object = 1,
        |w| w.events[0].kind = 255,
        |w| w.events[0].thread = 30_000,
        |w| w.sites[0].frames.clear(),
        |w| w.modules.clear(),
        |w| w.recipe.steps[0].1 = 0,
        |w| w.recipe.inputs[0].thread = 30_000,
        |w| w.recipe.inputs[0].site = Some(1),
        |w| w.objects[0].block.as_mut().unwrap().site = 1,
        |w| w.sites[0].shown = 1,
        |w| w.sites[0].module = Some(1),
        |w| w.finding.stack[0] = 1,
        |w| w.finding.waits[0].site = 1,
        |w| w.finding.waits[0].object = 1,
        |w| w.finding.waits[0].kind = 0,
        |w| w.finding.waits[0].holder_site = Some(1),
        |w| w.finding.waits[0].stack[0] = 1,
        |w| w.finding.waits[0].holds[0].kind = 0,
        |w| w.finding.waits[0].holds[0].object = 1,
        |w| w.finding.waits[0].holds[0].stack[0] = 1,
        |w| w.finding.waits[0].earlier.as_mut().unwrap()[0].site = 1,
        |w| w.finding.notes[0].site = Some(1),
        |w| w.finding.accesses[0].stack[0] = 1,
        |w| w.finding.accesses[0].thread = 30_000,
        |w| w.finding.accesses[0].object = 1,
        |w| w.finding.threads[0].stack[0] = 1,
        |w| w.finding.threads[0].creator = 30_000,
        |w| w.finding.other.as_mut().unwrap().steps[0].1 = 0,
        |w| w.command.program.0.push(0),
        |w| w.command.cwd.0.push(0),
        |w| w.command.args.push(Bytes(b"x\0y".to_vec())),
        |w| w.command.env.push(Bytes(b"LANG=x\0y".to_vec())),
    ];
    for (i, spoil) in spoil.iter().enumerate() {
        let mut witness = sample();
        spoil(&mut witness);
        let result = decode(encode(&witness).as_bytes());
        assert!(matches!(result, Err(DecodeError::Malformed(_))), "case {i}");
    }
}

#[test]
fn random_damage_is_an_error_and_never_a_panic() {
    let good = encode(&sample()).into_bytes();
    let mut state = 1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for round in 0..20_000 {
        let mut file = good.clone();
        for _ in 0..1 + random() % 4 {
            let at = random() % file.len();
            match random() % 3 {
                0 => file[at] = random() as u8,
                1 => file.truncate(at.max(1)),
                _ => file.insert(at, random() as u8),
            }
        }
        // Half of the rounds get a fitting checksum, so that the damage reaches the inner decoder.
        if round % 2 == 0
            && let Ok(text) = core::str::from_utf8(&file[..file.len().saturating_sub(FOOT_LEN)])
        {
            file = signed(text);
        }
        if let Ok(witness) = decode(&file) {
            assert_eq!(witness.consistent(), Ok(()), "round {round}");
        }
    }
}
