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

/// Ids of live processes that run this program.
fn processes_of(program: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc is there");
    entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| std::fs::read_link(path.join("exe")).is_ok_and(|exe| exe == program))
        .map(|path| path.display().to_string())
        .collect()
}
