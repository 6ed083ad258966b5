//! Holds a folder of C programs against raddle: what `dpor` and `verify` say of each, how many executions
//! that takes, how long, and whether it contradicts the folder's table (`../suites/mod.rs` says what that
//! is). Ends with 1 where anything does.
//!
//! `cargo bench --bench suites -- DIR [--time SECONDS] [--all-threads] [--peer COMMAND] [WORD…]`: only
//! programs whose name has one of the words. `--all-threads`: main's end waits for all other threads, as
//! checkers have it that explore every thread to its end. `--peer`: a shell command that gets the flags and
//! the file behind it, and is timed side by side.

#[path = "../common/mod.rs"]
mod common;
#[path = "../suites/mod.rs"]
mod suites;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use suites::{Answer, Row, Said};

struct Wishes {
    folder: PathBuf,
    seconds: u64,
    all_threads: bool,
    peer: Option<String>,
    words: Vec<String>,
}

impl Wishes {
    fn of_arguments() -> Option<Wishes> {
        let mut wishes = Wishes {
            folder: PathBuf::new(),
            seconds: 10,
            all_threads: false,
            peer: None,
            words: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--bench" => {}
                "--time" => wishes.seconds = arguments.next()?.parse().ok()?,
                "--all-threads" => wishes.all_threads = true,
                "--peer" => wishes.peer = Some(arguments.next()?),
                _ if wishes.folder.as_os_str().is_empty() => wishes.folder = argument.into(),
                _ => wishes.words.push(argument),
            }
        }
        (!wishes.folder.as_os_str().is_empty()).then_some(wishes)
    }

    fn wants(&self, row: &Row) -> bool {
        self.words.is_empty()
            || self
                .words
                .iter()
                .any(|word| row.file.contains(word.as_str()))
    }
}

/// How long the other checker takes; `None` where it does not end in time.
fn time_of_peer(command: &str, folder: &Path, row: &Row, seconds: u64) -> Option<f64> {
    let mut peer = Command::new("sh");
    let line = format!("exec {command} {} '{}'", row.flags.join(" "), row.file);
    peer.args(["-c", &line]).current_dir(folder);
    peer.stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = peer.spawn().expect("a shell starts");
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > Duration::from_secs(seconds) {
            child.kill().expect("a child can be killed");
            child.wait().expect("a child");
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Some(begun.elapsed().as_secs_f64())
}

fn cell(row: &Row, answer: &Answer) -> String {
    let said = match &answer.said {
        _ if row.is_contradicted(answer) => "**WRONG**",
        Said::Decided(true) => "fails",
        Said::Decided(false) => "ok",
        Said::Open => "open",
        Said::Trouble(_) => "trouble",
    };
    format!("{said} {} in {:.2} s", answer.executions, answer.seconds)
}

fn main() -> ExitCode {
    let Some(wishes) = Wishes::of_arguments() else {
        eprintln!("name a folder with a TABLE (tests/suites/mod.rs says what is in it)");
        return ExitCode::from(64);
    };
    let folder = std::path::absolute(&wishes.folder).expect("there is a working directory");
    let rows = match suites::read(&folder) {
        Ok(rows) => rows,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(74);
        }
    };
    println!("| program | table | dpor | verify | peer |\n|---|---|---|---|---|");
    let (mut wrong, mut open, mut all) = (0, [0; 2], 0);
    for row in rows.iter().filter(|row| wishes.wants(row)) {
        all += 1;
        let known = match row.fails {
            Some(true) => "fails",
            Some(false) => "ok",
            None => "-",
        };
        let count = row.count.map_or("-".to_string(), |count| count.to_string());
        let name = format!("{} {}", row.file, row.flags.join(" "));
        let program = match row.build(&folder, wishes.all_threads) {
            Ok(program) => program,
            Err(why) => {
                let why = why.lines().next().unwrap_or_default();
                println!("| {name} | {known} {count} | does not compile: {why} | | |");
                open.iter_mut().for_each(|one| *one += 1);
                continue;
            }
        };
        let cells = [false, true].map(|verify| {
            let answer = suites::ask(&program, verify, wishes.seconds);
            wrong += u64::from(row.is_contradicted(&answer));
            open[usize::from(verify)] += u64::from(!matches!(answer.said, Said::Decided(_)));
            cell(row, &answer)
        });
        let peer = wishes.peer.as_ref().map(|command| {
            match time_of_peer(command, &folder, row, wishes.seconds) {
                Some(seconds) => format!("{seconds:.2} s"),
                None => "open".to_string(),
            }
        });
        let [dpor, verify] = cells;
        println!(
            "| {} | {known} {count} | {dpor} | {verify} | {} |",
            name.trim(),
            peer.unwrap_or_default()
        );
    }
    println!(
        "\n{all} programs: {wrong} verdicts contradict the table; dpor does not decide {}, verify {}",
        open[0], open[1]
    );
    ExitCode::from(u8::from(wrong > 0))
}
