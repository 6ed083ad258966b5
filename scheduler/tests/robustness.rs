//! Whatever a target does, the controller gets a trace or a typed error, and nothing is left.

mod fake;

use raddle_protocol::constraint::{Constraint, Point, Rule};
use raddle_protocol::job::{Input, Job};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::trace::Trace;
use raddle_scheduler::{Ended, Limits, RunError, Session, StartError, Stdin, StopFlag};
use std::time::{Duration, Instant};

fn job() -> Job {
    Job::new(Tail::RunUntilBlocked)
}

/// A session for an execution that may take long in a slow build.
fn patient(role: &str, record_bytes: usize) -> Session {
    let limits = Limits {
        wall: Duration::from_secs(60),
        record_bytes,
        ..fake::limits()
    };
    let stop = StopFlag::new().expect("a flag");
    Session::start(&fake::target(role), &limits, &stop).unwrap_or_else(|e| panic!("{role}: {e}"))
}

/// The error of an execution that must have one.
fn error(session: &mut Session, role: &str) -> RunError {
    match session.run(&job()) {
        Ok(trace) => panic!("{role}: a trace with the outcome {:?}", trace.outcome),
        Err(error) => error,
    }
}

fn session(role: &str) -> Session {
    fake::start(role).unwrap_or_else(|e| panic!("{role}: {e}"))
}

fn trace(role: &str) -> Trace {
    session(role)
        .run(&job())
        .unwrap_or_else(|e| panic!("{role}: {e}"))
}

/// Processes that were started in this role and still live.
fn players(role: &str) -> Vec<i32> {
    let text = format!("{}={role}\0", fake::ROLE);
    let own = std::process::id() as i32;
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    all.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&pid| pid != own)
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .windows(text.len())
                .any(|w| w == text.as_bytes())
        })
        .collect()
}

#[test]
fn a_bad_start_is_a_typed_error() {
    type Expected = fn(&StartError) -> bool;
    let cases: &[(&str, Expected, &str)] = &[
        (
            "exit-early",
            |e| matches!(e, StartError::Ended { ended: Ended::Exit(7), stderr } if stderr == "fake: no such symbol"),
            "ended before its main (ended with status 7); it said: fake: no such symbol",
        ),
        (
            "hang-early",
            |e| matches!(e, StartError::Silent { .. }),
            "did not reach its main within 2.5s",
        ),
        (
            "close-early",
            |e| matches!(e, StartError::Deaf),
            "closed the descriptors",
        ),
        (
            "short-hello",
            |e| {
                matches!(
                    e,
                    StartError::Ended {
                        ended: Ended::Exit(0),
                        ..
                    }
                )
            },
            "run it without raddle",
        ),
        (
            "garbage-hello",
            |e| matches!(e, StartError::Garbage { .. }),
            "belongs to raddle",
        ),
        (
            "old-hello",
            |e| matches!(e, StartError::Version { theirs, ours } if *theirs == ours + 1),
            "speaks version",
        ),
        (
            "other-hello",
            |e| matches!(e, StartError::Garbage { .. }),
            "another process",
        ),
    ];
    for (role, expected, text) in cases {
        let error = fake::start(role).expect_err(role);
        assert!(expected(&error), "{role}: {error:?}");
        assert!(error.to_string().contains(text), "{role}: {error}");
        assert!(!error.to_string().contains('\n'), "{role}: {error}");
        assert!(players(role).is_empty(), "{role}");
    }
}

#[test]
fn a_bad_answer_is_a_typed_error_and_the_server_starts_again() {
    type Expected = fn(&RunError) -> bool;
    let cases: &[(&str, Expected)] = &[
        ("die-at-go", |e| {
            matches!(
                e,
                RunError::ServerGone {
                    ended: Ended::Exit(5)
                }
            )
        }),
        ("mute", |e| matches!(e, RunError::ServerSilent)),
        ("answer-init", |e| matches!(e, RunError::Garbage)),
        ("answer-parent", |e| matches!(e, RunError::Garbage)),
        ("answer-self", |e| matches!(e, RunError::Garbage)),
        ("answer-nobody", |e| matches!(e, RunError::Garbage)),
        (
            "answer-errno",
            |e| matches!(e, RunError::Clone(e) if e.raw_os_error() == Some(libc::EAGAIN)),
        ),
        ("answer-least", |e| matches!(e, RunError::Clone(_))),
    ];
    for (role, expected) in cases {
        let mut session = session(role);
        for _ in 0..2 {
            let error = error(&mut session, role);
            assert!(expected(&error), "{role}: {error:?}");
        }
        drop(session);
        assert!(players(role).is_empty(), "{role}");
    }
    // An execution that answers in the name of the server costs one execution.
    let mut session = session("serve:misdirect");
    assert!(session.run(&job()).is_ok());
    assert!(matches!(session.run(&job()), Err(RunError::Garbage)));
    assert!(session.run(&job()).is_ok());
}

#[test]
fn every_end_is_told() {
    let cases = [
        ("serve:ok", End::Exit, 0),
        ("serve:raw-exit:3", End::Exit, 3),
        ("serve:late-exit:4", End::Exit, 4),
        ("serve:assert", End::Assertion, 0),
        ("serve:signal:9", End::Signal, 9),
        ("serve:signal:11", End::Signal, 11),
        ("serve:signal:40", End::Signal, 40),
        ("serve:close-all", End::Exit, 0),
    ];
    for (role, end, code) in cases {
        let outcome = trace(role).outcome;
        assert_eq!((outcome.end, outcome.code), (end, code), "{role}");
        assert!(!outcome.timed_out, "{role}");
    }
    assert_eq!(trace("serve:assert").outcome.message, "as \u{fffd} said");
}

#[test]
fn time_runs_out() {
    let cases = [
        (
            "serve:spin",
            "main is in uncontrolled code since its start, computing",
        ),
        ("serve:block", "blocked in the system call pause"),
        ("serve:stop", "stopped by a signal"),
        ("serve:steps", "its threads go on taking steps"),
        ("serve:family:1", "blocked in the system call pause"),
    ];
    for (role, text) in cases {
        let mut session = session(role);
        let begin = Instant::now();
        let outcome = session
            .run(&job())
            .unwrap_or_else(|e| panic!("{role}: {e}"))
            .outcome;
        let took = begin.elapsed();
        assert!(outcome.timed_out, "{role}");
        assert_eq!(
            (outcome.end, outcome.code),
            (End::Signal, libc::SIGKILL),
            "{role}"
        );
        assert!(
            outcome.message.contains(text),
            "{role}: {}",
            outcome.message
        );
        // What computes is run a second time, watched for busy waits.
        assert!(
            took >= fake::limits().wall && took < Duration::from_secs(12),
            "{role}: {took:?}"
        );
        assert_eq!(players(role).len(), 1, "{role}: only the server lives");
        drop(session);
        assert!(players(role).is_empty(), "{role}");
    }
}

#[test]
fn nothing_is_left_of_a_family() {
    let role = "serve:family:0";
    let mut session = session(role);
    for _ in 0..5 {
        assert_eq!(session.run(&job()).expect(role).uncontrolled, ["fork"]);
        assert_eq!(players(role).len(), 1, "only the server lives");
    }
    drop(session);
    assert!(players(role).is_empty());
}

#[test]
fn a_stop_ends_it_at_once() {
    for role in ["serve:spin", "serve:ok"] {
        let stop = StopFlag::new().expect("a flag");
        let limits = Limits {
            wall: Duration::from_secs(60),
            ..fake::limits()
        };
        let mut session = Session::start(&fake::target(role), &limits, &stop).expect(role);
        let begin = Instant::now();
        let setter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            stop.set();
        });
        let error = loop {
            if let Err(error) = session.run(&job()) {
                break error;
            }
        };
        assert!(matches!(error, RunError::Stopped), "{role}: {error}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{role}");
        setter.join().expect("the setter ends");
    }
    let stop = StopFlag::new().expect("a flag");
    stop.set();
    let early = Session::start(&fake::target("hang-early"), &fake::limits(), &stop);
    assert!(matches!(early, Err(StartError::Stopped)));
}

#[test]
fn full_regions_are_drained_and_nothing_is_lost() {
    let times = 3;
    let mut session = patient(&format!("serve:fill:{times}"), 256 << 20);
    let trace = session.run(&job()).expect("a trace");
    let capacity = raddle_protocol::shared::LOG.capacity::<raddle_protocol::event::Event>();
    assert_eq!(trace.events.len(), times * capacity);
    assert!(trace.events.iter().zip(0..).all(|(e, n)| e.value == n));
    assert_eq!(
        raddle_protocol::job::total_steps(&trace.taken),
        40 * 1000 * times as u64
    );
}

#[test]
fn endless_records_end_at_the_limit() {
    let mut session = patient("serve:fill:1000000", 80 << 20);
    let error = error(&mut session, "fill");
    assert!(matches!(error, RunError::TooManyRecords { .. }), "{error}");
}

#[test]
fn output_is_kept_up_to_its_limit() {
    let mut session = session("serve:output:10");
    for _ in 0..3 {
        let trace = session.run(&job()).expect("a trace");
        assert_eq!(trace.stdout, b"out ".repeat(10));
        assert_eq!(trace.stderr, b"err ".repeat(10));
    }
    let trace = trace("serve:output:5000");
    assert_eq!(trace.stdout, b"out ".repeat(1024));
    let endless = self::trace("serve:endless-output");
    assert!(endless.outcome.timed_out);
    assert_eq!(endless.stdout, vec![b'x'; 4096]);
}

#[test]
fn every_execution_reads_the_same_input() {
    let file = std::env::temp_dir().join(format!("raddle-stdin-{}", std::process::id()));
    std::fs::write(&file, "from a file").expect("a file");
    let opened = std::fs::File::open(&file).expect("the file");
    let regular = Stdin::File {
        file: opened.into(),
        start: Some(5),
    };
    let inputs = [
        (Stdin::bytes(b"from memory").expect("memory"), "from memory"),
        (regular, "a file"),
        (Stdin::Null, ""),
    ];
    for (stdin, expected) in inputs {
        let mut target = fake::target("serve:echo");
        target.stdin = stdin;
        let stop = StopFlag::new().expect("a flag");
        let mut a = Session::start(&target, &fake::limits(), &stop).expect("a session");
        let mut b = Session::start(&target, &fake::limits(), &stop).expect("another");
        for _ in 0..3 {
            for session in [&mut a, &mut b] {
                let trace = session.run(&job()).expect("a trace");
                assert_eq!(String::from_utf8_lossy(&trace.stdout), expected);
            }
        }
    }
    std::fs::remove_file(file).expect("removed");
}

#[test]
fn the_job_arrives() {
    let mut session = session("serve:inputs");
    let first = Point {
        pc: 77,
        ..Point::ANY
    };
    let constraint = Constraint::new(Rule::After, first, Point::ANY, 0);
    let job = Job {
        prefix: vec![Step::thread(1, 2), Step::choice(3)],
        inputs: vec![
            Input {
                thread: 4,
                index: 5,
                bytes: vec![6, 7, 8],
            },
            Input {
                thread: 9,
                index: 10,
                bytes: vec![11; 8],
            },
        ],
        ranges: vec![(16, 32)],
        constraints: vec![constraint; 2],
        sleepers: Vec::new(),
        flags: 6,
        max_steps: 100,
        clock_base: 200,
        entropy: 300,
        tail: Tail::Pct {
            seed: 1,
            depth: 2,
            steps: 3,
        },
    };
    for _ in 0..2 {
        let trace = session.run(&job).expect("a trace");
        let expected: &[&[u8]] = &[
            &[1, 0, 2, 0, 3, 0x80, 1, 0],
            &[4, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 6, 7, 8],
        ];
        let expected = expected.concat();
        assert_eq!(trace.stdout[..expected.len()], expected);
        // Padding of the first input, the second one, the range.
        // The constraints.
        let size = size_of::<Constraint>();
        assert_eq!(trace.stdout.len(), 8 + 24 + 24 + 16 + 2 * size);
        assert_eq!(trace.stdout[32..36], [9, 0, 0, 0]);
        assert_eq!(
            trace.stdout[56..72],
            [16u64.to_le_bytes(), 32u64.to_le_bytes()].concat()
        );
        assert_eq!(trace.stdout[72..80], 77u64.to_le_bytes());
        assert_eq!(trace.stdout[72 + size..][..8], 77u64.to_le_bytes());
        assert_eq!(
            String::from_utf8_lossy(&trace.stderr),
            "6 [2, 1, 2, 3] 100 200 300"
        );
    }
    let too_long = Job {
        inputs: vec![Input {
            thread: 0,
            index: 0,
            bytes: vec![0; 2 << 20],
        }],
        ..job
    };
    assert!(matches!(
        session.run(&too_long),
        Err(RunError::JobTooBig { .. })
    ));
}

#[test]
fn each_corrupt_field_is_found() {
    for which in 0..=16 {
        let role = format!("serve:corrupt:{which}");
        let mut session = session(&role);
        let error = error(&mut session, &role);
        assert!(
            matches!(error, RunError::PagesCorrupt { .. }),
            "{role}: {error}"
        );
        assert!(!error.to_string().contains('\n'), "{role}: {error}");
    }
}

#[test]
fn scribbling_never_takes_the_controller_down() {
    let (mut traces, mut corrupt) = (0, 0);
    for seed in 0..400 {
        let mut session = session(&format!("serve:scribble:{seed}"));
        match session.run(&job()) {
            Ok(_) => traces += 1,
            Err(RunError::PagesCorrupt { .. } | RunError::TooManyRecords { .. }) => corrupt += 1,
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(
        traces > 20 && corrupt > 20,
        "{traces} traces, {corrupt} corrupt"
    );
}

#[test]
fn sessions_outlive_the_threads_that_made_them() {
    let sessions: Vec<Session> = (0..4)
        .map(|_| std::thread::spawn(|| session("serve:ok")))
        .map(|thread| thread.join().expect("made"))
        .collect();
    let users: Vec<_> = sessions
        .into_iter()
        .map(|mut session| std::thread::spawn(move || (0..50).all(|_| session.run(&job()).is_ok())))
        .collect();
    assert!(users.into_iter().all(|user| user.join().expect("used")));
}
