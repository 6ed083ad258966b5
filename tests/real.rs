//! Real programs: pbzip2 as Debian ships it, unmodified, and the same built from source with
//! `raddle c++`. Every output must be right.

mod common;

use common::{LIMIT, Run, output, raddle, root, run, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Executions in a test; `tests/bench.sh` does 1,000.
const EXECUTIONS: u32 = 100;
/// At memory granularity an execution has many more steps.
const INSTRUMENTED_EXECUTIONS: u32 = 25;

/// Two threads, blocks of 100 kB.
const COMPRESS: [&str; 4] = ["-k", "-c", "-p2", "-b1"];
const DECOMPRESS: [&str; 4] = ["-k", "-c", "-p2", "-d"];

/// A real file of four blocks, and what plain pbzip2 makes of it.
fn files(dir: &Path) -> (PathBuf, PathBuf) {
    let bash = std::fs::read("/bin/bash").expect("/bin/bash can be read");
    let original = dir.join("original");
    std::fs::write(&original, &bash[..380_000]).expect("the file can be written");
    let compressed = dir.join("original.bz2");
    std::fs::write(&compressed, plain("pbzip2", &COMPRESS, &original)).expect("it can be written");
    assert_eq!(
        plain("pbzip2", &DECOMPRESS, &compressed),
        &bash[..380_000],
        "plain pbzip2 works"
    );
    (original, compressed)
}

fn plain(program: &str, options: &[&str], file: &Path) -> Vec<u8> {
    let result = Command::new(program)
        .args(options)
        .arg(file)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(result.status.success(), "{program}: {:?}", result.status);
    result.stdout
}

/// Executions a second of the same command without raddle.
fn plain_rate(program: &str, options: &[&str], file: &Path) -> f64 {
    const TIMES: u32 = 20;
    let start = Instant::now();
    for _ in 0..TIMES {
        plain(program, options, file);
    }
    f64::from(TIMES) / start.elapsed().as_secs_f64()
}

/// Runs it `n` times under control; every output must be what the file `expected` holds.
fn controlled(program: &Path, options: &[&str], file: &Path, expected: &Path, n: u32) -> Run {
    let n = n.to_string();
    let expected = expected.to_str().expect("a plain path");
    let mut args = options.to_vec();
    args.push(file.to_str().expect("a plain path"));
    let raddle_options = ["run", "-n", &n, "--seed", "3", "--expect-output", expected];
    run(&raddle_options, program, &args)
}

fn expect_clean(run: &Run, n: u32, plain: f64) {
    assert_eq!(
        (run.output.status, run.summary.executions),
        (0, u64::from(n)),
        "{}\n{}",
        run.shown,
        run.output.all()
    );
    println!(
        "{}: {:.1} executions a second under control, {plain:.1} plain",
        run.shown, run.summary.executions_per_second
    );
}

#[test]
fn pbzip2_from_debian_is_right_under_control() {
    let dir = scratch("pbzip2");
    let (original, compressed) = files(&dir);
    let program = Path::new("/usr/bin/pbzip2");
    let cases: [(&[&str], &Path, &Path); 2] = [
        (&COMPRESS, &original, &compressed),
        (&DECOMPRESS, &compressed, &original),
    ];
    for (options, input, expected) in cases {
        let run = controlled(program, options, input, expected, EXECUTIONS);
        expect_clean(&run, EXECUTIONS, plain_rate("pbzip2", options, input));
    }
}

#[test]
fn a_wrong_output_is_a_finding() {
    let dir = scratch("pbzip2-wrong");
    let (original, _) = files(&dir);
    let run = controlled(
        Path::new("/usr/bin/pbzip2"),
        &COMPRESS,
        &original,
        &original,
        5,
    );
    assert_eq!(run.output.status, 66, "{}", run.output.all());
    assert_eq!(run.summary.findings[0].class, "output");
}

/// Builds Debian's source package with the instrumenting compiler, the way its makefile does.
fn build_from_source(dir: &Path) -> PathBuf {
    let source = root().join(".deps/pbzip2");
    let build = dir.join("build");
    if build.exists() {
        std::fs::remove_dir_all(&build).expect("the old build can be removed");
    }
    let copied = output(
        Command::new("cp").arg("-rL").arg(&source).arg(&build),
        LIMIT,
    );
    assert_eq!(copied.status, 0, "{}", copied.all());
    let made = output(
        Command::new("make")
            .current_dir(&build)
            .env("CXXFLAGS", "-g -O2 -std=gnu++98")
            .arg(format!("CXX={} c++", raddle().display()))
            .arg("pbzip2"),
        LIMIT,
    );
    assert_eq!(made.status, 0, "{}", made.all());
    build.join("pbzip2")
}

#[test]
fn pbzip2_from_source_is_right_at_memory_granularity() {
    let dir = scratch("pbzip2-source");
    let (original, compressed) = files(&dir);
    let program = build_from_source(&dir);
    let cases: [(&[&str], &Path, &Path); 2] = [
        (&COMPRESS, &original, &compressed),
        (&DECOMPRESS, &compressed, &original),
    ];
    for (options, input, expected) in cases {
        let run = controlled(&program, options, input, expected, INSTRUMENTED_EXECUTIONS);
        let rate = plain_rate(program.to_str().expect("a plain path"), options, input);
        expect_clean(&run, INSTRUMENTED_EXECUTIONS, rate);
    }
}
