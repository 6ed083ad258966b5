//! Much of everything, for a while: memory and descriptors of the command stay flat, and nothing is
//! left behind, also when the command is killed at any moment. `RADDLE_SOAK=ROUNDS` makes it longer
//! (`./dev soak`).

mod common;

use common::{Compiler, compile, raddle, run, scratch};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const POLICIES: [&str; 6] = ["mix", "random", "pct:3", "pos", "rr", "steer"];
/// By how much the memory of the command may grow after its first moments, in KiB.
const GROWTH: u64 = 64 << 10;

fn rounds() -> u64 {
    let text = std::env::var("RADDLE_SOAK").unwrap_or_else(|_| "1".into());
    text.parse().expect("RADDLE_SOAK is a number")
}

/// Programs without a bug, of several kinds.
fn programs() -> Vec<PathBuf> {
    let fixed =
        |compiler, source, more: &[&str]| compile(compiler, source, &[&["-DFIXED"], more].concat());
    vec![
        fixed(Compiler::Gcc, "tests/corpus/lock_order.c", &[]),
        fixed(Compiler::Gcc, "tests/corpus/timed_wait.c", &[]),
        fixed(Compiler::RaddleCc, "tests/corpus/lost_update.c", &[]),
        fixed(Compiler::RaddleCc, "tests/spin/cross.c", &["-DYIELD"]),
        fixed(
            Compiler::Gcc,
            "tests/openmp/check_then_act.c",
            &["-fopenmp"],
        ),
        fixed(
            Compiler::RaddleCc,
            "tests/openmp/lock_order.c",
            &["-fopenmp"],
        ),
    ]
}

/// Processes of this program that are alive.
fn living(program: &Path) -> usize {
    let entries = std::fs::read_dir("/proc").expect("/proc is there");
    let exe = |entry: std::fs::DirEntry| std::fs::read_link(entry.path().join("exe"));
    entries
        .filter_map(|entry| exe(entry.ok()?).ok())
        .filter(|exe| exe == program)
        .count()
}

/// Names in /dev/shm that OpenMP's library gives.
fn shared_segments() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/shm").into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter(|name| name.contains("KMP_REGISTERED"))
        .collect()
}

fn nothing_is_left_of(program: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while living(program) > 0 {
        assert!(Instant::now() < deadline, "{} lives", program.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A copy of the program that nobody else runs.
fn own(program: &Path, name: &str) -> PathBuf {
    let file = program.file_name().expect("a program has a name");
    let copy = scratch("soak").join(format!("{name}-{}", file.to_string_lossy()));
    std::fs::copy(program, &copy).expect("the program can be copied");
    std::fs::canonicalize(copy).expect("it is there")
}

#[test]
fn every_policy_leaves_nothing_behind() {
    for round in 0..rounds() {
        for program in programs() {
            let program = own(&program, "policies");
            for policy in POLICIES {
                let seed = (round + 1).to_string();
                let options = [
                    "run", "-n", "60", "--policy", policy, "--seed", &seed, "-j", "2",
                ];
                let run = run(&options, &program, &[]);
                let clean =
                    run.output.status == 0 && run.summary.outcomes.keys().eq(["exit 0"].iter());
                assert!(clean, "{}\n{}", run.shown, run.output.all());
            }
            nothing_is_left_of(&program);
        }
    }
    assert_eq!(shared_segments(), [""; 0]);
}

fn start(program: &Path, executions: &str) -> Child {
    Command::new(raddle())
        .current_dir(scratch("soak"))
        .args(["run", "-q", "-n", executions, "-j", "2", "--"])
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("raddle starts")
}

/// Resident KiB and open descriptors; `None` once it has ended.
fn usage(pid: u32) -> Option<(u64, usize)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib = line.split_whitespace().nth(1)?.parse().ok()?;
    let fds = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    Some((kib, fds))
}

#[test]
fn memory_and_descriptors_stay_flat() {
    let program = own(&programs()[0], "flat");
    let executions = (4_000 * rounds()).to_string();
    let mut child = start(&program, &executions);
    let mut samples = Vec::new();
    while child.try_wait().expect("a child").is_none() {
        samples.extend(usage(child.id()));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.wait().expect("a child").success());
    // What comes before a third of it is start-up.
    let settled = &samples[samples.len() / 3..];
    if let (Some(first), Some(most)) = (settled.first(), settled.iter().max()) {
        assert!(most.0 <= first.0 + GROWTH, "{} to {} KiB", first.0, most.0);
        let fds = settled.iter().map(|sample| sample.1);
        assert!(fds.max() <= Some(first.1 + 32), "descriptors: {settled:?}");
    }
    nothing_is_left_of(&program);
}

#[test]
fn a_killed_command_leaves_nothing_behind() {
    let programs = programs();
    for n in 0..8 * rounds() {
        let program = own(&programs[n as usize % programs.len()], "killed");
        let mut child = start(&program, "1000000");
        // Moments that spread over the start and the first executions.
        std::thread::sleep(Duration::from_millis(n * 7919 % 450));
        child.kill().expect("the child can be killed");
        child.wait().expect("a child");
        nothing_is_left_of(&program);
    }
    assert_eq!(shared_segments(), [""; 0]);
}
