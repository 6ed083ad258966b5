use super::*;
use raddle_protocol::event::Kind;
use raddle_protocol::witness::{
    Bytes, Command, Finding, Frame, Hold, Module, NO_OBJECT, Note, Object, Recipe, Record, Site,
    Wait,
};

/// A small deadlock: main makes T1; T1 takes m and waits for itself.
pub fn sample() -> Witness {
    let site = |offset, line, function: &str, source: &str| Site {
        module: Some(0),
        offset,
        frames: vec![Frame {
            function: Some(function.into()),
            file: Some("/src/a.c".into()),
            line: Some(line),
        }],
        shown: 0,
        source: Some(source.into()),
    };
    let record = |kind: Kind, thread, site, object, value| Record {
        kind: kind as u8,
        thread,
        site,
        object,
        value,
        preempts: false,
    };
    Witness {
        raddle: "0.1.0".into(),
        command: Command {
            program: Bytes(b"./prog".to_vec()),
            args: vec![],
            env: vec![],
            cwd: Bytes(b"/src".to_vec()),
            stdin: None,
        },
        modules: vec![Module {
            path: Bytes(b"/src/prog".to_vec()),
            base: 0,
            identity: "build-id:00".into(),
            instrumented: false,
        }],
        recipe: Recipe {
            steps: vec![(0, 1), (1, 2), (0, 1)],
            inputs: vec![],
            ranges: vec![],
            flags: 0,
            max_steps: 0,
            timeout_ms: 0,
            clock_base: 0,
            entropy: 0,
            expected_output: None,
            accepted_exits: Vec::new(),
        },
        finding: Finding {
            class: "deadlock".into(),
            message: "a thread waits for itself".into(),
            fingerprint: "0123456789abcdef".into(),
            thread: 1,
            stack: vec![3],
            waits: vec![Wait {
                thread: 1,
                holder: 1,
                kind: Kind::MutexLock as u8,
                in_cycle: true,
                object: 0,
                site: 3,
                holder_site: Some(2),
                stack: vec![3, 4],
                holds: vec![Hold {
                    kind: Kind::MutexLock as u8,
                    object: 0,
                    stack: vec![2],
                }],
                earlier: None,
            }],
            notes: vec![],
            execution: 7,
            preemptions: 1,
            found_preemptions: 4,
            fewest: true,
            reproduced: true,
            policy: "random".into(),
            seed: 9,
            uncontrolled: vec![],
            stdout: Bytes(vec![]),
            stderr: Bytes(b"bad\x1b[31m\n".to_vec()),
            accesses: vec![],
            threads: vec![],
            other: None,
            time_out: None,
        },
        sites: vec![
            site(0x10, 10, "main", "pthread_create(&t, 0, f, 0);"),
            site(0x20, 19, "f", "{"),
            site(0x30, 20, "f", "pthread_mutex_lock(&m);"),
            site(0x40, 21, "f", "lock_again();"),
            site(0x50, 11, "main", "count++;"),
        ],
        objects: vec![
            Object {
                address: 0x1000,
                name: "m".into(),
                block: None,
            },
            Object {
                address: 0x1040,
                name: "count".into(),
                block: None,
            },
        ],
        events: vec![
            record(Kind::ThreadCreate, 0, 0, NO_OBJECT, 1),
            record(Kind::ThreadStart, 1, 1, NO_OBJECT, 0),
            record(Kind::MutexLock, 1, 2, 0, 0),
            Record {
                preempts: true,
                ..record(Kind::Read, 0, 4, 1, 5)
            },
        ],
        events_left_out: 0,
    }
}

fn plain(width: usize) -> Style {
    Style {
        width,
        colour: false,
        full: false,
        brief: false,
    }
}

#[test]
fn a_report_says_what_where_who_and_how_to_replay() {
    let text = report(&sample(), Some(Path::new("a b.raddle")), plain(120));
    for part in [
        "deadlock in prog: a thread waits for itself",
        "execution 7 (policy random, seed 9), shrunk from 4 to 1 preemption (no fewer will do)",
        "T1 waits in mutex_lock m\n    #0  f at a.c:21    lock_again();\n    #1  main at a.c:11",
        "T1 took what it holds: mutex_lock m\n    #0  f at a.c:20",
        "» T1    waits in mutex_lock m at a.c:21  lock_again();",
        "held by T1, which took it at a.c:20  pthread_mutex_lock(&m);",
        "the interleaving, by lines of a.c (»",
        "pthread_create T1",
        "    4 » 11  count++;",
        "read count = 5",
        "waits for ever",
        // What the program prints cannot steer the terminal.
        "bad\\u{1b}[31m",
        "raddle replay 'a b.raddle'",
    ] {
        let text = text.replace("/src/", "");
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn no_line_of_the_interleaving_is_wider_than_asked_for() {
    for width in [40, 60, 80, 200] {
        let witness = sample();
        let names = Names::new(&witness.events);
        for line in table::table(&witness, &names, plain(width)) {
            let got = console::measure_text_width(&line);
            assert!(got <= width, "{got} columns of {width}: {line}");
        }
    }
}

#[test]
fn reports_fit_a_terminal() {
    let mut witness = sample();
    witness.finding.policy = "hapset:pcb:2, context 3, learnt from 100".to_string();
    for width in [80, 120] {
        let text = report(&witness, None, plain(width));
        for line in text.lines() {
            let got = console::measure_text_width(line);
            assert!(got <= width, "{got} columns of {width}: {line}");
        }
    }
}

#[test]
fn full_is_full() {
    let mut witness = sample();
    let first = witness.events[3];
    let read = |value| Record {
        kind: Kind::Read as u8,
        value,
        preempts: false,
        ..first
    };
    witness.events.extend((1000..1100).map(read));
    for width in [40, 120] {
        let style = |full| Style {
            full,
            ..plain(width)
        };
        let shown = |full, n: &u64| report(&witness, None, style(full)).contains(&format!("= {n}"));
        let all = (1000..1100).filter(|n| shown(true, n)).count();
        let some = (1000..1100).filter(|n| shown(false, n)).count();
        assert!(all == 100 && some < 10, "{width}: {all} and {some}");
    }
}

#[test]
fn steps_inside_a_library_are_told_with_the_users_line() {
    let mut witness = sample();
    let step = witness.events[3];
    let inside = |thread, site| Record {
        thread,
        site,
        preempts: false,
        ..step
    };
    let library = witness.sites.len() as u32;
    let mut site = witness.sites[step.site as usize].clone();
    site.frames[0].file = Some("/rustc/0/library/core/src/sync/atomic.rs".into());
    site.source = None;
    witness.sites.push(site);
    let names = Names::new(&witness.events);
    let rows_of = |steps: &[(u16, u32)]| {
        let mut witness = witness.clone();
        witness.finding.waits.clear();
        witness.events = steps.iter().map(|&(t, s)| inside(t, s)).collect();
        let rows = rows(&witness, &names, false);
        rows.iter()
            .map(|row| (row.thread, row.site))
            .collect::<Vec<_>>()
    };
    let own = step.site;
    assert_eq!(rows_of(&[(0, own), (0, library), (0, own)]), [(0, own)]);
    // Whoever comes next is somewhere else.
    let other = [(0, own), (1, library), (0, library)];
    assert_eq!(rows_of(&other), other);
}

#[test]
fn long_runs_are_shortened_and_preemptions_stay() {
    let mut witness = sample();
    let (first, other) = (witness.events[0], witness.events[3]);
    witness.finding.waits.clear();
    witness.events = (0..5000)
        .map(|i| Record {
            kind: Kind::Read as u8,
            site: i % 2 * 4,
            value: u64::from(i),
            ..first
        })
        .collect();
    witness.events.insert(2500, Record { thread: 1, ..other });
    let names = Names::new(&witness.events);
    let short = table::table(&witness, &names, plain(120));
    assert!(short.len() < 60, "{} lines", short.len());
    assert!(short.iter().any(|l| l.contains(" 2501 »")), "{short:#?}");
    assert!(short.iter().any(|l| l.contains("more lines")), "{short:#?}");
    let full = Style {
        full: true,
        ..plain(120)
    };
    let all = table::table(&witness, &names, full);
    assert!(all.len() > 5000, "{} lines", all.len());
}

#[test]
fn a_report_has_sixty_lines_at_most_and_the_last_step() {
    let mut witness = sample();
    let some = witness.events.clone();
    for _ in 0..500 {
        witness.events.extend(some.iter().cloned());
    }
    witness.events.iter_mut().for_each(|e| e.preempts = true);
    let last = witness.events.len();
    let text = "line\n".repeat(100);
    witness.finding.stdout = Bytes(text.clone().into_bytes());
    witness.finding.stderr = Bytes(text.into_bytes());
    let note = Note {
        text: "a note".to_string(),
        site: None,
    };
    witness.finding.notes = vec![note; 200];
    for width in [40, 120] {
        let lines = |style| report(&witness, None, style).lines().count();
        let short = plain(width);
        assert!(lines(short) <= MOST_LINES, "{}", lines(short));
        let full = Style {
            full: true,
            ..short
        };
        assert!(lines(full) > 10 * MOST_LINES);
        let names = Names::new(&witness.events);
        let rows = rows(&witness, &names, true);
        let number = rows.iter().rev().find_map(|row| row.number).unwrap();
        let text = report(&witness, None, short);
        let shown = text
            .lines()
            .any(|l| l.trim_start().starts_with(&format!("{number} ")));
        assert!(shown && number + 3 > last, "{number} of {last}: {text}");
    }
}

#[test]
fn inputs_are_numbers_where_they_have_a_numbers_size() {
    let table: [(&str, &[u8], &str); 10] = [
        ("x", &[3, 0, 0, 0], "x = 3"),
        ("x", &[0xff; 4], "x = -1"),
        ("x", &[0x80], "x = -128"),
        (
            "x",
            &[1, 0, 0, 0, 0, 0, 0, 0x80],
            "x = -9223372036854775807",
        ),
        ("x", &[1, 2, 3], "x = bytes 01 02 03"),
        ("x", b"a \"b\"\n", r#"x = "a \"b\"\n""#),
        ("x", b"abc\0\0", "x = \"abc\" and 2 zero bytes"),
        ("x", &[0; 3], "x = bytes 00 00 00"),
        ("argument 1", b"-d\0\x03", "argument 1 = \"-d\""),
        ("argument 2", b"\xff\0", r#"argument 2 = "\xff""#),
    ];
    for (name, bytes, expected) in table {
        let input = Input {
            thread: 0,
            index: 0,
            name: Some(name.into()),
            bytes: Bytes(bytes.to_vec()),
            site: None,
        };
        assert_eq!(input_text(&input), expected);
    }
}

#[test]
fn words_for_a_shell_are_quoted() {
    let table = [
        ("a.raddle", "a.raddle"),
        ("a b", "'a b'"),
        ("it's", r"'it'\''s'"),
        ("", "''"),
    ];
    for (word, expected) in table {
        assert_eq!(shell_word(word.as_ref()), expected);
    }
}
