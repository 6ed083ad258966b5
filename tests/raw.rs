//! Futex calls by inline assembly are under control: in programs, libraries, loaded libraries, at
//! any address, on both substrates; and programs that the target executes are left alone. In programs
//! built by `raddle cc` all system calls by inline assembly are, and what else may differ is named.

mod common;

use common::{Compiler, Run, compile, in_parallel, run};

const SOURCE: &str = "tests/raw/own_event.c";

/// Flags of the program, flags of the library that it loads (`None`: it loads none).
const SHAPES: &[(&[&str], Option<&[&str]>)] = &[
    (&["-fPIE", "-pie"], None),
    (&["-fno-pie", "-no-pie"], None),
    (&["-DLOAD"], Some(&["-DLIBRARY", "-shared", "-fPIC"])),
];

fn run_shape(shape: (&[&str], Option<&[&str]>), fixed: bool, options: &[&str]) -> Run {
    let twin: &[&str] = if fixed { &["-DFIXED"] } else { &[] };
    let build = |flags: &[&str]| compile(Compiler::Gcc, SOURCE, &[flags, twin].concat());
    let program = build(shape.0);
    let library = shape.1.map(build);
    let library = library.as_ref().map(|path| path.to_string_lossy());
    let args: Vec<&str> = library.as_deref().into_iter().collect();
    run(
        &[&["run", "-n", "300", "--seed", "1"], options].concat(),
        &program,
        &args,
    )
}

#[test]
fn a_lost_wake_up_is_found() {
    for &shape in SHAPES {
        for threads in ["fiber", "kernel"] {
            let run = run_shape(shape, false, &["--threads", threads]);
            let class = run.summary.findings.first().map(|f| f.class.as_str());
            assert_eq!(
                class,
                Some("deadlock"),
                "{}\n{}",
                run.shown,
                run.output.all()
            );
            let text = run.output.all();
            assert!(text.contains("own_event.c:"), "{text}");
        }
    }
}

#[test]
fn the_repaired_event_shows_nothing() {
    for &shape in SHAPES {
        for threads in ["fiber", "kernel"] {
            let run = run_shape(shape, true, &["--threads", threads]);
            assert_eq!(
                run.summary.verdict,
                "nothing-found",
                "{}\n{}",
                run.shown,
                run.output.all()
            );
            assert_eq!(run.summary.executions, 300, "{}", run.shown);
        }
    }
}

const SYSTEM_CALL: &str = "a system call by inline assembly";

/// What `assembly.c` does, with which flags; what is not under control then (empty: nothing), and the exit
/// codes of `dpor`, `verify` (which has no model of `read` and `write` by number) and a run that samples.
const ASSEMBLY: &[(&str, &[&str], &str, [i32; 3])] = &[
    ("PIPE", &[], "", [66, 69, 66]),
    ("PIPE", &["-DFORGETFUL"], "", [66, 69, 66]),
    ("TWO_PIPES", &[], "", [0, 69, 0]),
    ("IDS", &[], "", [0, 0, 0]),
    ("IDS", &["-DFORGETFUL"], "", [0, 0, 0]),
    ("ERRORS", &[], "", [0, 0, 0]),
    ("MEMORY", &[], "", [66, 66, 66]),
    ("FORKS", &["-DALONE"], "a new process", [69, 69, 0]),
    ("BARRIERS", &[], "", [0, 0, 0]),
    ("REGISTERS", &[], "", [0, 0, 0]),
    ("KNOWN_CPU", &[], "", [0, 0, 0]),
    ("WHICH_CPU", &[], "inline assembly: cpuid", [69, 69, 0]),
    (
        "WHICH_CPU",
        &["-DALONE"],
        "inline assembly: cpuid",
        [69, 69, 0],
    ),
    ("UNKNOWN", &[], "inline assembly: .byte", [69, 69, 0]),
    (
        "UNKNOWN",
        &["-DALONE"],
        "inline assembly: .byte",
        [69, 69, 0],
    ),
    ("CALLS", &[], SYSTEM_CALL, [69, 69, 0]),
    ("CALLS", &["-DALONE"], SYSTEM_CALL, [69, 69, 0]),
    ("LOCK", &[], "inline assembly", [69, 69, 0]),
];

#[test]
fn inline_assembly_is_followed_or_named() {
    let modes: [&[&str]; 3] = [
        &["run", "--policy", "dpor"],
        &["verify"],
        &["run", "-n", "60", "--races=off"],
    ];
    let levels = ["-O0", "-O2"];
    let cases: Vec<_> = ASSEMBLY
        .iter()
        .flat_map(|case| levels.map(|level| (case, level)))
        .collect();
    in_parallel(&cases, |&(&(what, flags, name, expected), level)| {
        let what = format!("-DWHAT={what}");
        let flags = [&[what.as_str(), level, "-w"], flags].concat();
        let program = compile(Compiler::RaddleCc, "tests/raw/assembly.c", &flags);
        for (mode, expected) in modes.iter().zip(expected) {
            let seen = run(&[mode, &["--no-shrink"][..]].concat(), &program, &[]);
            let told = &seen.summary.uncontrolled;
            let right = match name {
                "" => told.is_empty(),
                name => told.iter().any(|one| one.starts_with(name)),
            };
            if !right || seen.output.status != expected {
                return Err(format!(
                    "{flags:?} {mode:?}: {told:?} {}",
                    seen.output.all()
                ));
            }
        }
        Ok(())
    });
}
