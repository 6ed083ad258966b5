//! Is everything that may differ from execution to execution the same in all of them, or named? Do
//! functions and system calls that take numbers of threads and processes answer as they do without
//! raddle?

mod common;

use common::{Compiler, compile, in_parallel, output, raddle, replay_fails, root, run, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SOURCES: &str = "tests/sources/sources.c";

fn sources(flags: &[&str]) -> PathBuf {
    let flags = [&["-O1", "-w"], flags].concat();
    compile(Compiler::Gcc, SOURCES, &flags)
}

/// The names of all sources.
fn names() -> Vec<String> {
    let text = std::fs::read_to_string(root().join(SOURCES)).expect("the program");
    let rows = text.lines().filter_map(|line| line.strip_prefix(" K("));
    let names: Vec<String> = rows
        .map(|row| row.split(')').next().unwrap_or_default().into())
        .collect();
    assert!(names.len() > 100, "only {} found", names.len());
    names
}

/// Is it the same in 20 executions, and in a replay by another process, or named?
fn is_controlled_or_named(program: &Path, name: &str) -> Result<bool, String> {
    let options = ["run", "-n", "20", "--same-output", "--no-shrink"];
    let same = run(&options, program, &[name]);
    if same.output.status == 99 {
        return Err(format!("{name}: the program does not know it"));
    }
    if !same.summary.uncontrolled.is_empty() {
        return Ok(false);
    }
    if same.output.status != 0 {
        return Err(format!("{name}: {}", same.output.all()));
    }
    let fails = run(
        &["run", "-n", "1", "--no-shrink"],
        program,
        &[name, "status"],
    );
    let [finding] = &fails.summary.findings[..] else {
        return Err(format!("{name} is not found: {}", fails.output.all()));
    };
    replay_fails(finding, &["-n", "3"]).map_err(|why| format!("{name}: {why}"))?;
    Ok(true)
}

/// Those of the machine as it is, and of files that are made meanwhile.
const NAMED: [&str; 19] = [
    "statfs",
    "proc_stat",
    "proc_status",
    "proc_maps",
    "proc_uptime",
    "proc_loadavg",
    "proc_meminfo",
    "proc_interrupts",
    "proc_uuid",
    "proc_boot_id",
    "proc_io",
    "proc_sched",
    "proc_fopen",
    "proc_list",
    "proc_list_fd",
    "proc_task",
    "adjtimex",
    "mtime",
    "statx",
];

#[test]
fn every_source_is_the_same_or_named() {
    // A loop next to such an instruction would be done step by step.
    let (program, draws) = (sources(&[]), sources(&["-DDRAWS"]));
    in_parallel(&names(), |name| {
        let program = match name.as_str() {
            "rdrand" | "rdrand_once" | "rdrand_short" | "rdseed" => &draws,
            _ => &program,
        };
        let controlled = is_controlled_or_named(program, name)?;
        let may_be_named = NAMED.contains(&name.as_str())
            || name.starts_with("inode_memfd")
            || name.starts_with("link_pipe")
            || name == "link_socket"
            || name == "inode"
            || name == "stat_dir";
        match controlled || may_be_named {
            true => Ok(()),
            false => Err(format!("{name} can be controlled, and is only named")),
        }
    });
}

#[test]
fn numbers_of_threads_and_processes_answer_as_natively() {
    let program = compile(Compiler::Gcc, "tests/sources/numbers.c", &["-w"]);
    let dir = scratch("numbers");
    let natively = dir.join("natively");
    // Executions are in a session of their own, too. That of the tests may have no number here: in
    // a container, its leader can be outside.
    let session = ["--wait", "sh", "-c", r#""$0" "$1""#];
    let mut command = Command::new("setsid");
    command.args(session).arg(&program).arg(&natively);
    let ran = output(&mut command, Duration::from_secs(60));
    assert_eq!(ran.status, 0, "{}", ran.all());
    let natively = std::fs::read_to_string(&natively).expect("what it wrote");
    assert!(natively.lines().count() > 300);
    for options in [&["--threads", "fiber"][..], &["--threads", "kernel"]] {
        let here = dir.join(options[1]);
        let options = [&["run", "-n", "1"], options].concat();
        let mut command = Command::new(raddle());
        command.args(&options).arg("--").arg(&program).arg(&here);
        let ran = output(&mut command, Duration::from_secs(120));
        assert_eq!(ran.status, 0, "{}", ran.all());
        let here = std::fs::read_to_string(&here).expect("what it wrote");
        let different: Vec<(&str, &str)> = natively
            .lines()
            .zip(here.lines())
            .filter(|(a, b)| a != b)
            .collect();
        assert!(
            different.is_empty(),
            "natively, and by {options:?}: {different:?}"
        );
        assert_eq!(natively.lines().count(), here.lines().count());
    }
}

/// What an exhaustive search says of a source of random numbers (the start of the name in
/// `sources.c`).
const DRAWN: [(&str, &str); 7] = [
    ("urandom", "/dev/urandom"),
    ("random", "/dev/urandom"),
    ("getrandom", "getrandom"),
    ("getentropy", "getentropy"),
    ("arc4random", "arc4random"),
    ("at_random", "AT_RANDOM"),
    ("rd", "rdrand"),
];

#[test]
fn random_numbers_come_from_the_seed_and_are_told_of() {
    let (program, draws) = (sources(&[]), sources(&["-DDRAWS"]));
    in_parallel(&names(), |name| {
        let drawn = DRAWN.iter().find(|(start, _)| name.starts_with(start));
        let drawn = drawn.filter(|_| !name.starts_with("rdtsc"));
        let program = match name.as_str() {
            "rdrand" | "rdrand_once" | "rdrand_short" | "rdseed" => &draws,
            _ => &program,
        };
        let with = |seed: &[&str]| {
            let options = [&["run", "--policy", "dpor", "-n", "1"], seed].concat();
            run(&options, program, &[name])
        };
        let usual = with(&[]);
        let told = usual
            .summary
            .notes
            .iter()
            .find(|note| note.contains("random numbers"));
        let Some((_, source)) = drawn else {
            return match told {
                None => Ok(()),
                Some(note) => Err(format!("{name} draws nothing: {note}")),
            };
        };
        let bound = format!("bound: random numbers ({source}) were those of seed 1 only");
        let (seven, eight) = (with(&["--seed", "7"]), with(&["--seed", "8"]));
        let assumed =
            format!("assumes: the program runs with the random numbers of seed 7 ({source})");
        let says = |notes: &[String], text: &str| notes.iter().any(|note| note.starts_with(text));
        if !told.is_some_and(|note| note.starts_with(&bound))
            || !says(&seven.summary.notes, &assumed)
            || says(&seven.summary.notes, "bound: random")
        {
            return Err(format!(
                "{name}: {}{}",
                usual.output.all(),
                seven.output.all()
            ));
        }
        let outputs = [&usual, &seven, &eight].map(|run| &run.output.stdout);
        let differ = outputs[0] != outputs[1] && outputs[1] != outputs[2];
        match differ && *outputs[1] == with(&["--seed", "7"]).output.stdout {
            true => Ok(()),
            false => Err(format!("{name}: {outputs:?}")),
        }
    });
}

#[test]
fn a_verdict_about_all_executions_says_what_each_was_given() {
    let program = compile(Compiler::RaddleCc, "tests/sources/given.c", &["-O0"]);
    let searches: [&[&str]; 5] = [
        &["run", "--policy", "dpor"],
        &["run", "--policy", "dpor:source"],
        &["run", "--policy", "pcb"],
        &["run", "--policy", "dfs"],
        &["verify"],
    ];
    for search in searches {
        for (what, seed, status, bound, assumed) in [
            ("nothing", None, 0, false, false),
            ("clock", None, 0, false, true),
            ("memory", None, 0, false, true),
            // A thread frees what main had before, which gets another block beside it; main frees, and a
            // thread gets one.
            ("there", None, 0, false, true),
            ("before", None, 0, false, true),
            // Nothing is allocated that might lie where something was.
            ("last", None, 0, false, false),
            ("once", None, 0, false, false),
            ("random", None, 69, true, false),
            ("random", Some("3"), 0, false, true),
        ] {
            // (Searches of all interleavings take 20 s for these.)
            let many = ["there", "before", "last"].contains(&what);
            if many && search.iter().any(|policy| ["pcb", "dfs"].contains(policy)) {
                continue;
            }
            let seed = seed.map_or(Vec::new(), |seed| vec!["--seed", seed]);
            let options = [search, &["--races=off"], &seed].concat();
            let ran = run(&options, &program, &[what]);
            let said = ran.output.all();
            assert_eq!(ran.output.status, status, "{options:?} {what}: {said}");
            assert_eq!(
                said.contains("bound: random numbers (getrandom)"),
                bound,
                "{said}"
            );
            let seed = said.contains("random numbers of seed 3 (getrandom)");
            let clock = said.contains("assumes: clocks show virtual time");
            let expected = (assumed && what == "random", assumed && what == "clock");
            assert_eq!((seed, clock), expected, "{said}");
            let memory = said.contains("assumes: memory that was freed is not given out again");
            let where_something_was = ["memory", "there", "before"].contains(&what);
            assert_eq!(memory, where_something_was, "{options:?} {what}: {said}");
        }
    }
}

/// What executions find is what others have left behind: all that a verdict about all of them knows is
/// about a program that found something else.
#[test]
fn what_executions_leave_for_later_ones_is_a_bound() {
    let program = compile(Compiler::RaddleCc, "tests/sources/left.c", &["-O1"]);
    let searches: [&[&str]; 3] = [
        &["run", "--policy", "dpor"],
        &["run", "--policy", "dfs"],
        &["verify"],
    ];
    let modes = [
        ("created", true),
        ("directory", true),
        ("counter", true),
        ("asked", true),
        ("log", false),
        ("emptied", false),
        ("removed", false),
    ];
    let mut cases = Vec::new();
    for (number, search) in (0..).zip(searches) {
        cases.extend(modes.map(|(mode, bound)| (number, search, mode, bound)));
    }
    in_parallel(&cases, |&(number, search, mode, bound)| {
        let place = scratch(&format!("left-{number}-{mode}")).join("file");
        let _ = std::fs::remove_file(&place);
        let _ = std::fs::remove_dir(&place);
        // Two at the same time find what the other has not removed yet, or read what it has emptied.
        let jobs: &[&str] = match search.contains(&"dfs") {
            true if bound && mode != "counter" => &["-j", "2"],
            true => &["-j", "1"],
            false => &[],
        };
        let options = [search, jobs, &["--races=off"]].concat();
        let found = run(&options, &program, &[&place.to_string_lossy(), mode]);
        let all = found.output.all();
        let says = all.contains("went another way when it was run again at the end");
        let says_where = all.contains("at the end, beginning at left.c:") || search == ["verify"];
        let status = if bound { 69 } else { 0 };
        match found.output.status == status && says == bound && (says_where || !bound) {
            true => Ok(()),
            false => Err(format!("{search:?} {mode}: {all}")),
        }
    });
}
