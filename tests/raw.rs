//! Futex calls by inline assembly are under control: in programs, libraries, loaded libraries, at
//! any address, on both substrates; and programs that the target executes are left alone.

mod common;

use common::{Compiler, Run, compile, run};

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
