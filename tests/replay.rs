//! Record = replay: the same options give the same witness, byte for byte, and a witness fails in
//! the same way every time.

mod common;

use common::{Compiler, LIMIT, Output, compile, empty, in_parallel, output, raddle, scratch};
use raddle_protocol::shared::flags::KERNEL_THREADS;
use raddle_protocol::witness::decode;
use std::path::{Path, PathBuf};
use std::process::Command;

const POLICIES: [&str; 3] = ["random", "pct:3", "pos"];
const SEEDS: [u32; 3] = [1, 20, 300];

/// Programs of every kind: locks, conditions, time, memory, C++, Rust.
const PROGRAMS: &[(Compiler, &str, &[&str])] = &[
    (Compiler::Gcc, "tests/corpus/bank_transfer.c", &[]),
    (Compiler::Gcc, "tests/corpus/philosophers.c", &[]),
    (Compiler::Gcc, "tests/corpus/missed_wakeup.c", &[]),
    (Compiler::Gcc, "tests/corpus/timed_wait.c", &[]),
    (Compiler::Gcc, "tests/corpus/double_free.c", &[]),
    (Compiler::RaddleCc, "tests/corpus/use_before_init.c", &[]),
    (Compiler::Gcc, "tests/corpus/exit_code.c", &[]),
    (Compiler::RaddleCc, "tests/corpus/reorder.c", &[]),
    (Compiler::RaddleCc, "tests/corpus/use_after_free.c", &[]),
    (Compiler::RaddleCc, "tests/corpus/work_stealing.c", &[]),
    (Compiler::Gxx, "tests/corpus/async_order.cpp", &[]),
    (Compiler::Gxx, "examples/cpp17.cpp", &["-DBUG"]),
    (Compiler::Rustc, "tests/findings/freed_twice.rs", &[]),
    (
        Compiler::Rustc,
        "examples/rust/pipeline.rs",
        &["--cfg", "bug"],
    ),
];

/// Runs until the bug shows and returns the witness.
fn record(program: &Path, policy: &str, seed: u32, witness: PathBuf) -> Result<PathBuf, String> {
    record_on("fiber", program, policy, seed, witness)
}

/// The same with threads switched like this.
fn record_on(
    threads: &str,
    program: &Path,
    policy: &str,
    seed: u32,
    witness: PathBuf,
) -> Result<PathBuf, String> {
    let mut command = Command::new(raddle());
    command
        .args([
            "run",
            "-n",
            "5000",
            "--no-shrink",
            "--early-timeouts=fail",
            "--threads",
            threads,
            "--policy",
            policy,
            "--seed",
        ])
        .arg(seed.to_string())
        .arg("-o")
        .arg(&witness)
        .arg("--")
        .arg(program);
    let result = output(&mut command, LIMIT);
    if result.status == 66 && witness.exists() {
        return Ok(witness);
    }
    Err(format!("{command:?}: {}\n{}", result.status, result.all()))
}

fn replay(witness: &Path, times: u32) -> Output {
    let mut command = Command::new(raddle());
    command
        .args(["replay", "-n", &times.to_string()])
        .arg(witness);
    output(&mut command, LIMIT)
}

#[test]
fn recording_is_deterministic_and_replay_agrees() {
    let dir = scratch("replay");
    let mut tries = Vec::new();
    for program in PROGRAMS {
        for policy in POLICIES {
            for seed in SEEDS {
                tries.push((program, policy, seed));
            }
        }
    }
    in_parallel(&tries, |&(&(compiler, source, flags), policy, seed)| {
        let program = compile(compiler, source, flags);
        let stem = Path::new(source).file_stem().expect("it has a name");
        let name = format!(
            "{}-{}-{seed}",
            stem.to_string_lossy(),
            policy.replace(':', "-")
        );
        let first = record(&program, policy, seed, dir.join(format!("{name}-1.raddle")))?;
        let second = record(&program, policy, seed, dir.join(format!("{name}-2.raddle")))?;
        let bytes = |path: &Path| std::fs::read(path).expect("the witness can be read");
        if bytes(&first) != bytes(&second) {
            return Err(format!("{name}: two recordings differ"));
        }
        let result = replay(&first, 20);
        if result.status != 66 {
            return Err(format!("{name}: {}\n{}", result.status, result.all()));
        }
        Ok(())
    });
}

/// Kernel threads give the same witness, but for the flag that says so, and it replays there.
#[test]
fn recordings_on_kernel_threads_are_the_same() {
    let dir = scratch("replay-kernel");
    let tries: Vec<_> = PROGRAMS
        .iter()
        .flat_map(|program| POLICIES.map(|policy| (program, policy)))
        .collect();
    in_parallel(&tries, |&(&(compiler, source, flags), policy)| {
        let program = compile(compiler, source, flags);
        let stem = Path::new(source).file_stem().expect("it has a name");
        let name = format!("{}-{}", stem.to_string_lossy(), policy.replace(':', "-"));
        let read = |threads: &str| {
            let file = dir.join(format!("{name}-{threads}.raddle"));
            let path = record_on(threads, &program, policy, 7, file)?;
            let bytes = std::fs::read(&path).expect("the witness can be read");
            let witness = decode(&bytes).map_err(|error| error.to_string())?;
            Ok::<_, String>((path, witness))
        };
        let (_, on_fibers) = read("fiber")?;
        let (path, mut on_kernel_threads) = read("kernel")?;
        assert_ne!(on_kernel_threads.recipe.flags & KERNEL_THREADS, 0);
        on_kernel_threads.recipe.flags &= !KERNEL_THREADS;
        if on_fibers != on_kernel_threads {
            return Err(format!("{name}: the witnesses differ"));
        }
        let result = replay(&path, 20);
        match result.status {
            66 => Ok(()),
            _ => Err(format!("{name}: {}\n{}", result.status, result.all())),
        }
    });
}

#[test]
fn a_witness_fails_a_thousand_times_out_of_a_thousand() {
    let dir = scratch("replay-1000");
    in_parallel(PROGRAMS, |&(compiler, source, flags)| {
        let program = compile(compiler, source, flags);
        let stem = Path::new(source).file_stem().expect("it has a name");
        let file = dir.join(stem).with_extension("raddle");
        let witness = record(&program, "random", 4, file)?;
        let result = replay(&witness, 1000);
        if result.status == 66 && result.all().contains("1000 of 1000") {
            return Ok(());
        }
        Err(format!("{source}: {}\n{}", result.status, result.all()))
    });
}

#[test]
fn show_needs_no_program() {
    let dir = scratch("show");
    let source = compile(Compiler::Gcc, "tests/corpus/lock_order.c", &[]);
    let program = dir.join("gone");
    std::fs::copy(&source, &program).expect("the program can be copied");
    let witness = record(&program, "random", 1, dir.join("gone.raddle")).expect("it is found");
    std::fs::remove_file(&program).expect("the program can be removed");
    let shown = output(Command::new(raddle()).arg("show").arg(&witness), LIMIT);
    assert_eq!(shown.status, 0, "{}", shown.all());
    for text in ["deadlock", "lock_order.c:", "mutex_lock"] {
        assert!(shown.stdout.contains(text), "{text}\n{}", shown.stdout);
    }
}

#[test]
fn a_changed_program_is_reported_as_such() {
    let dir = scratch("changed");
    let program = dir.join("changing");
    let copy = |flags: &[&str]| {
        let built = compile(Compiler::Gcc, "tests/corpus/lock_order.c", flags);
        std::fs::copy(built, &program).expect("the program can be copied");
    };
    copy(&[]);
    let witness = record(&program, "random", 1, dir.join("old.raddle")).expect("it is found");
    copy(&["-DFIXED"]);
    let result = replay(&witness, 1);
    assert_ne!(result.status, 66, "{}", result.all());
    assert!(result.all().contains("changed"), "{}", result.all());
}

/// A program that is named by another path has the name and the arguments of the run, where they lay.
#[test]
fn a_program_that_is_named_is_started_as_it_was() {
    let program = compile(Compiler::RaddleCc, "tests/replay/argument.c", &["-O1"]);
    let dir = empty("replay-argument");
    std::fs::copy(&program, dir.join("p")).expect("it was built");
    let lengths: Vec<usize> = (1..=8).collect();
    in_parallel(&lengths, |&length| {
        let argument = "x".repeat(length);
        let witness = format!("{length}.raddle");
        let status = |args: &[&str]| {
            let got = output(Command::new(raddle()).current_dir(&dir).args(args), LIMIT);
            match got.status {
                66 => Ok(()),
                _ => Err(format!("{args:?}: {}", got.all())),
            }
        };
        let rest = ["--no-shrink", "--races=off", "-o", &witness, "--", "./p"];
        status(&[&["run"], &rest[..], &[&argument]].concat())?;
        let absolute = dir.join("p");
        for path in ["./p", absolute.to_str().expect("text")] {
            status(&["replay", "-n", "5", "--program", path, &witness])?;
        }
        Ok(())
    });
}
