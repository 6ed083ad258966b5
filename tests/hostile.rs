//! A target may do anything to the memory that it shares with the controller; the controller ends
//! with a documented exit code, in time, and leaves no process behind.

mod common;

use common::{Compiler, compile, in_parallel, output, raddle, scratch};
use std::process::Command;
use std::time::Duration;

/// Which part is overwritten, and how many writes.
const ATTACKS: &[(&str, &str)] = &[
    ("head", "1"),
    ("head", "20"),
    ("head", "2000"),
    ("control", "50"),
    ("control", "100000"),
    ("logs", "1000"),
    ("all", "100000"),
];

#[test]
fn scribbling_over_the_shared_pages_takes_nothing_down() {
    let target = compile(Compiler::Gcc, "tests/hostile/scribble.c", &[]);
    let codes: Vec<i32> = raddle_cli::exit::Exit::ALL
        .iter()
        .map(|exit| i32::from(exit.code()))
        .collect();
    in_parallel(ATTACKS, |(part, writes)| {
        let mut command = Command::new(raddle());
        command
            .current_dir(scratch(&format!("hostile-{part}-{writes}")))
            .args(["run", "-n", "40", "--keep-going", "--timeout", "2s", "--"])
            .arg(&target)
            .args([part, writes]);
        let result = output(&mut command, Duration::from_secs(200));
        let text = result.all();
        let panicked = text.contains("panicked at");
        let reached = !text.contains("exit status 3");
        let noticed = *writes != "100000" || *part != "control" || text.contains("shared pages");
        if codes.contains(&result.status) && !panicked && reached && noticed {
            Ok(())
        } else {
            Err(format!(
                "{part} {writes}: {}\n{}",
                result.status,
                result.all()
            ))
        }
    });
    let left = processes_of(&target);
    assert!(left.is_empty(), "still running: {left:?}");
}

/// By whichever function or system call, with whichever signal: the parent is the controller.
#[test]
fn signals_to_the_parent_are_named_and_not_sent() {
    let target = compile(Compiler::Gcc, "tests/hostile/parent.c", &[]);
    let modes: Vec<String> = (0..8).map(|mode| mode.to_string()).collect();
    in_parallel(&modes, |mode| {
        let mut command = Command::new(raddle());
        command
            .current_dir(scratch(&format!("hostile-parent-{mode}")))
            .args(["run", "-n", "2", "--"])
            .arg(&target)
            .arg(mode);
        let result = output(&mut command, Duration::from_secs(60));
        let named = result.all().contains("a signal to the parent process");
        match result.status == 0 && named {
            true => Ok(()),
            false => Err(format!("{mode}: {}\n{}", result.status, result.all())),
        }
    });
}

/// It cannot be run again, but it was seen to fail.
#[test]
fn what_has_removed_its_own_file_is_told_to_fail() {
    let built = compile(Compiler::Gcc, "tests/hostile/removed.c", &[]);
    for options in [&["run", "-q"][..], &["run", "-q", "--no-shrink", "-n", "1"]] {
        let dir = scratch("hostile-removed");
        let target = dir.join("target");
        std::fs::copy(&built, &target).expect("the program can be copied");
        let mut command = Command::new(raddle());
        command
            .current_dir(&dir)
            .args(options)
            .arg("--")
            .arg(&target);
        let result = output(&mut command, Duration::from_secs(60));
        let text = result.all();
        let told = text.contains("abort() was called") || text.contains("ended with crash: 1");
        assert!(result.status == 66 && told, "{}: {text}", result.status);
    }
}

/// Ids of live processes that run this program.
fn processes_of(program: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc is there");
    entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| std::fs::read_link(path.join("exe")).is_ok_and(|exe| exe == program))
        .map(|path| path.display().to_string())
        .collect()
}

/// None of the executions has hung.
const ALL: &str = "nothing found: 20 executions";
/// What a program does to descriptors and memory that are not its own; exit code, what is said.
const OUTSIDE: &[(&str, i32, &str)] = &[
    ("close", 0, ALL),
    ("close_range", 0, ALL),
    ("closefrom", 0, ALL),
    ("close_all", 0, ALL),
    ("syscall", 0, ALL),
    ("write", 0, ALL),
    ("truncate", 0, ALL),
    ("unmap", 68, "munmap of memory that is raddle's"),
    ("protect", 68, "mprotect of memory that is raddle's"),
    ("move", 68, "mremap of memory that is raddle's"),
    ("replace", 68, "mmap of memory that is raddle's"),
];

#[test]
fn no_crash_is_invented_of_what_a_program_takes_away() {
    let target = compile(Compiler::Gcc, "tests/hostile/outside.c", &[]);
    in_parallel(OUTSIDE, |&(what, status, says)| {
        let mut command = Command::new(raddle());
        command
            .current_dir(scratch(&format!("hostile-outside-{what}")))
            .args(["run", "-q", "-n", "20", "--timeout", "5s", "--"])
            .arg(&target)
            .arg(what);
        let got = output(&mut command, Duration::from_secs(200));
        match got.status == status && got.stderr.contains(says) {
            true => Ok(()),
            false => Err(format!("{what}: {}\n{}", got.status, got.all())),
        }
    });
}

/// Is there anything in a text that a terminal obeys, or that hides what the text is?
fn obeyed(text: &str) -> Option<char> {
    let hidden = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}')
    };
    text.chars().find(hidden)
}

#[test]
fn texts_of_a_program_are_only_seen() {
    let target = compile(Compiler::Gcc, "tests/hostile/texts.c", &[]);
    let dir = common::empty("hostile-texts");
    let arguments: [&[&str]; 3] = [
        &["\u{1b}[2J\u{202e}"],
        &["a", "b\nc\u{fffe}"],
        // Colours, which our own texts may have.
        &["\u{1b}[31mred"],
    ];
    for (n, arguments) in arguments.into_iter().enumerate() {
        let mut run = Command::new(raddle());
        run.current_dir(&dir)
            .args(["run", "-o", "w", "-n", "20", "--corpus", "corpus"]);
        run.args([
            "--json", "a.json", "--junit", "a.xml", "--sarif", "a.sarif", "--",
        ]);
        let got = output(run.arg(&target).args(arguments), Duration::from_secs(200));
        assert_eq!(got.status, 66, "{}", got.all());
        let mut told = vec![("run", got.stderr)];
        for (command, file) in [("show", "w"), ("coverage", "corpus")] {
            let mut command_line = Command::new(raddle());
            command_line.current_dir(&dir).args([command, file]);
            let shown = output(&mut command_line, Duration::from_secs(200));
            assert_eq!(shown.status, 0, "{}", shown.all());
            told.push((command, shown.all()));
        }
        let mut replay = Command::new(raddle());
        replay.current_dir(&dir).args(["replay", "--trust", "w"]);
        let replayed = output(&mut replay, Duration::from_secs(200));
        assert_eq!(replayed.status, 66, "{}", replayed.all());
        told.push(("replay", replayed.stderr));
        for file in ["a.xml", "a.sarif"] {
            let text = std::fs::read_to_string(dir.join(file)).expect("it was written");
            told.push((file, text));
        }
        for (what, text) in told {
            assert!(!text.lines().any(|line| line == "c"), "{what}: {text}");
            assert_eq!(obeyed(&text), None, "{n}: {what}: {text:?}");
        }
        let sarif = std::fs::read(dir.join("a.sarif")).expect("it was written");
        let sarif: serde_json::Value = serde_json::from_slice(&sarif).expect("it is JSON");
        assert!(obeyed(&sarif.to_string().replace("\\n", "")).is_none());
        let xml = std::fs::read_to_string(dir.join("a.xml")).expect("it was written");
        quick_junit::Report::deserialize_from_str(&xml).expect("it is JUnit");
    }
}

#[test]
fn paths_that_are_no_text_are_paths() {
    use std::os::unix::ffi::OsStrExt;
    let program = compile(Compiler::Gcc, "examples/flaky.c", &[]);
    let names: [&[u8]; 4] = [b"n\xff\xfe", b"new\nline", b"\x1b[2J'\"", b"a b\\012c"];
    for name in names {
        let name = std::ffi::OsStr::from_bytes(name);
        let dir = common::empty("hostile-paths").join(name);
        std::fs::create_dir_all(&dir).expect("the directory can be made");
        let own = dir.join(name);
        std::fs::copy(&program, &own).expect("the program can be copied");
        let mut run = Command::new(raddle());
        run.current_dir(&dir)
            .args(["run", "--corpus", "c", "--json", "a.json"]);
        run.args(["--junit", "a.xml", "--sarif", "a.sarif", "--"])
            .arg(&own);
        let got = output(&mut run, Duration::from_secs(200));
        assert_eq!(got.status, 66, "{name:?}: {}", got.all());
        assert_eq!(obeyed(&got.stderr), None, "{name:?}: {}", got.stderr);
        let entries = std::fs::read_dir(&dir).expect("it can be read");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let mut witnesses = paths.filter(|path| path.extension().is_some_and(|e| e == "raddle"));
        let witness = witnesses.next().expect("a witness");
        // The command that the report gives is one that a shell takes.
        let mut shell = Command::new("bash");
        let command = got
            .stderr
            .lines()
            .find_map(|line| line.split_once("replay it   "));
        let command = command
            .expect("it is told")
            .1
            .replacen("raddle", "\"$RADDLE\"", 1);
        shell
            .current_dir(&dir)
            .env("RADDLE", raddle())
            .arg("-c")
            .arg(command);
        for mut replay in [shell, {
            let mut replay = Command::new(raddle());
            replay
                .current_dir(&dir)
                .args(["replay", "-q"])
                .arg(&witness);
            replay
        }] {
            let again = output(&mut replay, Duration::from_secs(200));
            assert_eq!(again.status, 66, "{name:?}: {replay:?}: {}", again.all());
        }
        for file in ["a.json", "a.sarif"] {
            let text = std::fs::read(dir.join(file)).expect("it was written");
            let _: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
        }
    }
}
