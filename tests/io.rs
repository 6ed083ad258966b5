//! Are descriptors under control: is every bug of `io/` found, replayed, and absent from the fixed
//! twin; is what comes from outside said; do faults happen where they are asked for and only there?

mod common;

use common::{Compiler, compile, in_parallel, output, raddle, run, scratch};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

/// A program of `io/` and how its bug shows.
struct Case {
    file: &'static str,
    flags: &'static [&'static str],
    class: &'static str,
    /// Part of the message.
    message: &'static str,
}

const fn case(file: &'static str, class: &'static str, message: &'static str) -> Case {
    Case {
        file,
        flags: &[],
        class,
        message,
    }
}

const CASES: &[Case] = &[
    case("pipe_queue.c", "deadlock", "2 threads wait"),
    case("echo.c", "deadlock", "wait for ever"),
    case("reactor.c", "deadlock", "waits for ever"),
    case("poll_workers.c", "deadlock", "wait for ever"),
    case("passing.c", "assertion", "mark"),
    case("udp.c", "assertion", "10 * request"),
    case("select_timeout.c", "assertion", "gave_up"),
    case("http.cpp", "assertion", "200 OK"),
    case("mpsc.rs", "exit", "3"),
    case("stdio.c", "assertion", "strcmp"),
    case("streams.cpp", "deadlock", "wait for ever"),
    case("fifo.c", "deadlock", "wait for ever"),
    case("flock.c", "deadlock", "2 threads wait for each other"),
    Case {
        flags: &["-DRECORDS"],
        ..case("flock.c", "deadlock", "wait")
    },
    case("signalfd.c", "assertion", "ones == 2"),
    case("message_queue.c", "deadlock", "wait for ever"),
    case("semaphore_set.c", "deadlock", "wait for ever"),
];

/// So many executions are tried at most; the seed is fixed, and so is what happens.
const EXECUTIONS: &str = "3000";

fn program(file: &str, flags: &[&str], fixed: bool) -> PathBuf {
    let (compiler, repaired): (_, &[&str]) = match file.rsplit_once('.').map(|(_, end)| end) {
        Some("rs") => (Compiler::Rustc, &["--cfg", "fixed"]),
        Some("cpp") => (Compiler::Gxx, &["-DFIXED"]),
        _ => (Compiler::Gcc, &["-DFIXED"]),
    };
    let more: &[&str] = if fixed { repaired } else { &[] };
    let all: Vec<&str> = flags.iter().chain(more).copied().collect();
    compile(compiler, &format!("tests/io/{file}"), &all)
}

fn found(case: &Case) -> Result<(), String> {
    let program = program(case.file, case.flags, false);
    let random = ["run", "--policy", "random", "--seed", "1", "-n", EXECUTIONS];
    let options = [&random[..], &["--early-timeouts=fail"]].concat();
    let run = run(&options, &program, &[]);
    let wrong = |what: &str| {
        let text = run.output.all();
        Err(format!("{} {:?}: {what}\n{text}", case.file, case.flags))
    };
    let [finding] = &run.summary.findings[..] else {
        return wrong("no finding");
    };
    if finding.class != case.class || !finding.message.contains(case.message) {
        return wrong("another finding");
    }
    let Some(witness) = &finding.witness else {
        return wrong("no witness");
    };
    let mut replay = Command::new(raddle());
    replay.args(["replay", "-q", "-n", "5"]).arg(witness);
    let replayed = output(&mut replay, common::LIMIT);
    match replayed.status {
        66 => Ok(()),
        _ => wrong(&format!("another replay: {}", replayed.all())),
    }
}

fn clean(case: &Case) -> Result<(), String> {
    let program = program(case.file, case.flags, true);
    let options = ["run", "--seed", "2", "-n", "200"];
    let run = run(&options, &program, &[]);
    let text = run.output.all();
    match run.output.status {
        0 if !text.contains("not under control") => Ok(()),
        status => Err(format!("{} {:?}: {status}\n{text}", case.file, case.flags)),
    }
}

#[test]
fn bugs_are_found_and_replayed() {
    in_parallel(CASES, found);
}

#[test]
fn fixed_twins_have_none_and_are_closed() {
    in_parallel(CASES, clean);
}

#[test]
fn kernel_threads_do_the_same() {
    for file in ["stdio.c", "echo.c", "fifo.c"] {
        for (fixed, status) in [(false, 66), (true, 0)] {
            let program = program(file, &[], fixed);
            let options = [
                "run",
                "-n",
                "100",
                "--no-shrink",
                "--threads",
                "kernel",
                "--policy",
                "random",
                "--seed",
                "1",
            ];
            let run = run(&options, &program, &[]);
            assert_eq!(run.output.status, status, "{file}\n{}", run.output.all());
        }
    }
}

#[test]
fn executions_at_the_same_time_do_not_share_a_port() {
    let program = program("http.cpp", &[], true);
    let run = run(
        &["run", "-n", "100", "-j", "4", "--seed", "3"],
        &program,
        &[],
    );
    assert_eq!(run.output.status, 0, "{}", run.output.all());
    assert_eq!(run.summary.executions, 100);
}

#[test]
fn a_deadlock_says_what_was_waited_for_and_where_it_was_made() {
    let program = program("pipe_queue.c", &[], false);
    let run = run(&["run", "--seed", "1"], &program, &[]);
    let text = run.output.all();
    for part in [
        "waits in read pipe#1",
        "descriptors 3 and 4",
        "pipe_queue.c:",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn a_peer_outside_is_waited_for_and_said() {
    const EXECUTIONS: usize = 20;
    let program = program("outside.c", &[], false);
    let path = scratch("io-outside").join(format!("{}.socket", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).expect("the socket can be made");
    let peer = std::thread::spawn(move || {
        for stream in listener.incoming().take(EXECUTIONS) {
            let mut stream = stream.expect("a connection");
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a copy"));
            reader.read_line(&mut line).expect("a question");
            assert_eq!(line, "question\n");
            stream.write_all(b"ans").expect("half an answer");
            std::thread::sleep(std::time::Duration::from_millis(2));
            stream.write_all(b"wer\n").expect("the other half");
        }
    });
    let executions = EXECUTIONS.to_string();
    let argument = path.to_str().expect("a plain path");
    let run = run(
        &["run", "--seed", "1", "-n", &executions],
        &program,
        &[argument],
    );
    let text = run.output.all();
    assert_eq!(run.output.status, 0, "{text}");
    assert!(text.contains("not closed"), "{text}");
    assert_eq!(run.summary.verdict, "nothing-found");
    peer.join().expect("the peer ends");
    let _ = std::fs::remove_file(&path);
}

/// A wait for the outside that is told of when a thread ends is not that thread's.
#[test]
fn no_thread_is_named_that_has_ended() {
    let program = program("last_thread.c", &[], false);
    let run = run(&["run", "--policy", "rr", "-n", "1"], &program, &[]);
    let text = run.output.all();
    assert_eq!(run.output.status, 0, "{text}");
    assert!(text.contains("not closed"), "{text}");
    assert!(!text.contains("65535"), "{text}");
}

#[test]
fn faults_happen_only_where_they_are_asked_for() {
    for (fixed, options, status) in [
        (false, &["run", "--seed", "1", "-n", "200"][..], 0),
        (false, &["run", "--seed", "1", "-n", "3000", "--faults"], 66),
        (true, &["run", "--seed", "1", "-n", "300", "--faults"], 0),
    ] {
        let program = program("short_read.c", &[], fixed);
        let run = run(options, &program, &[]);
        let text = run.output.all();
        assert_eq!(run.output.status, status, "{options:?}\n{text}");
        if status == 66 {
            assert!(text.contains("injected fault"), "{text}");
            let witness = run.summary.findings[0].witness.as_ref();
            let mut replay = Command::new(raddle());
            let replay = replay
                .args(["replay", "-q"])
                .arg(witness.expect("a witness"));
            assert_eq!(output(replay, common::LIMIT).status, 66);
        }
    }
}

/// What a function of streams locks while it runs, others wait for: whoever has locked it by flockfile, and
/// whom it calls back.
#[test]
fn functions_of_streams_hold_their_locks() {
    let kinds = [
        ("-w", 28),
        ("-DRIGHT", 28),
        ("-DCOOKIE", 3),
        ("-DCANCEL", 2),
    ];
    let cases: Vec<(&str, u32)> = kinds
        .iter()
        .flat_map(|&(kind, calls)| (0..calls).map(move |call| (kind, call)))
        .collect();
    in_parallel(&cases, |&(kind, call)| {
        let number = format!("-DCALL={call}");
        let flags = ["-O1", "-w", kind, &number];
        let program = compile(Compiler::RaddleCc, "tests/io/stream_locks.c", &flags);
        let searches: [&[&str]; 3] = [
            &["run", "--policy", "dpor"],
            &["run", "-n", "100"],
            &["verify"],
        ];
        searches.iter().try_for_each(|search| {
            let options = [search, &["--no-shrink", "--races", "fail"][..]].concat();
            let found = run(&options, &program, &[]);
            let classes = found.summary.findings.iter().map(|f| f.class.as_str());
            let classes: Vec<&str> = classes.collect();
            let statuses: &[i32] = match kind {
                "-w" => &[66],
                // Functions of the program that the library calls bound searches.
                "-DCOOKIE" if !search.contains(&"-n") => &[69],
                // Not modelled: cancellation.
                "-DCANCEL" if search.contains(&"verify") => &[69],
                _ => &[0],
            };
            let wanted: &[&str] = if kind == "-w" { &["deadlock"] } else { &[] };
            match classes == wanted && statuses.contains(&found.output.status) {
                true => Ok(()),
                false => Err(format!("{search:?} {flags:?}: {}", found.output.all())),
            }
        })
    });
}
