//! Executions to the first finding for every program of `tests/marks`: the mean over twenty seeds,
//! for each policy, beside the best number that is published; executions a second of the repaired
//! twin on one core; and how the number grows with the threads of the program.
//!
//! `cargo bench --bench marks -- [--seeds N] [--limit N] [--policy P]… [--to FILE] [WORD…]`: only marks
//! whose name has one of the words. `./dev marks` writes `docs/marks.md`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../marks/mod.rs"]
mod marks;

use common::Run;
use marks::{MARKS, Mark};
use std::process::Command;
use std::sync::Mutex;

/// Those that are compared, where no others are named.
const POLICIES: [&str; 2] = ["steer", "mix"];
/// Rates are taken over so many executions, or so long.
const RATE: [&str; 4] = ["-n", "20000", "--time", "3s"];
/// Where so many seeds in a row found nothing, the others are not tried.
const PATIENCE: u64 = 3;
/// Bugs that are so deep that tests do not look for them may take so many times as many executions.
const DEEP: u64 = 50;
/// Threads of the growth table.
const THREADS: [&str; 6] = ["2", "4", "8", "16", "32", "64"];

/// What is measured.
struct Wishes {
    seeds: u64,
    /// Most executions of one run.
    limit: u64,
    policies: Vec<String>,
    words: Vec<String>,
    /// The file for the tables.
    to: Option<String>,
}

impl Wishes {
    fn of_arguments() -> Wishes {
        let mut wishes = Wishes {
            seeds: 20,
            limit: 2000,
            policies: Vec::new(),
            words: Vec::new(),
            to: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let text = arguments.next().unwrap_or_default();
                text.parse().expect("a number follows")
            };
            match argument.as_str() {
                "--bench" => {}
                "--seeds" => wishes.seeds = number(),
                "--limit" => wishes.limit = number(),
                "--to" => wishes.to = arguments.next(),
                "--policy" => wishes.policies.extend(arguments.next()),
                _ => wishes.words.push(argument),
            }
        }
        if wishes.policies.is_empty() {
            wishes.policies = POLICIES.map(String::from).to_vec();
        }
        wishes.policies.retain(|policy| knows(policy));
        wishes
    }

    fn wants(&self, mark: &Mark) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| mark.name.contains(word))
    }
}

fn run(mark: &Mark, flags: &[&str], policy: &str, options: &[&str]) -> Run {
    let all = ["run", "-q", "--no-shrink", "-j", "1", "--policy", policy];
    let options = [&all, options].concat();
    common::run(&options, &mark.program(flags), mark.args)
}

/// Mean executions to the finding, as text: `>` where some seeds found nothing within the limit
/// (which then counts as their number), and how many did.
fn mean(mark: &Mark, policy: &str, wishes: &Wishes) -> String {
    let (mut tried, mut found, mut executions) = (0, 0, 0);
    // The search that has no seed is run once.
    let seeds = if policy == "dpor" { 1 } else { wishes.seeds };
    let limit = match mark.within {
        Some(_) => wishes.limit,
        None => DEEP * wishes.limit,
    };
    let limit = limit.to_string();
    while tried < seeds && !(found == 0 && tried == PATIENCE) {
        tried += 1;
        let seed = tried.to_string();
        let run = run(mark, &[], policy, &["--seed", &seed, "-n", &limit]);
        executions += run.summary.executions;
        let first = run.summary.findings.first();
        found += u64::from(first.is_some_and(|finding| finding.class == mark.class));
    }
    let mean = executions as f64 / tried as f64;
    match found {
        0 => format!("- (0/{tried})"),
        _ if found < tried => format!(">{mean:.0} ({found}/{tried})"),
        _ => format!("{mean:.1}"),
    }
}

/// Executions a second where nothing is found.
fn rate(mark: &Mark, policy: &str) -> String {
    let run = run(mark, &["-DFIXED"], policy, &RATE);
    format!("{:.0}", run.summary.executions_per_second)
}

fn title(mark: &Mark) -> String {
    format!("{} {}", mark.name, mark.args.join(" "))
        .trim()
        .to_string()
}

/// Does the command know this policy?
fn knows(policy: &str) -> bool {
    let mut command = Command::new(common::raddle());
    command.args(["run", "--policy", policy, "-n", "1", "--", "/bin/true"]);
    common::output(&mut command, common::LIMIT).status != 64
}

/// Prints a line that goes into the file, too.
fn say(text: &mut String, line: &str) {
    println!("{line}");
    text.push_str(line);
    text.push('\n');
}

fn table(wishes: &Wishes, text: &mut String) {
    let policies = &wishes.policies;
    let names = policies.join(" | ");
    say(
        text,
        &format!("| program | published | {names} | steer/s | random/s |"),
    );
    say(text, &format!("|---{}|", "|---".repeat(policies.len() + 3)));
    for mark in MARKS.iter().filter(|mark| wishes.wants(mark)) {
        let cells = Mutex::new(vec![String::new(); policies.len()]);
        let numbers: Vec<usize> = (0..policies.len()).collect();
        common::in_parallel(&numbers, |&i| {
            let text = mean(mark, &policies[i], wishes);
            cells.lock().expect("no worker panics here")[i] = text;
            Ok(())
        });
        let cells = cells.into_inner().expect("no worker panics here");
        let published = mark.published.map_or("-".to_string(), |n| n.to_string());
        let row = [
            title(mark),
            published,
            cells.join(" | "),
            rate(mark, "steer"),
            rate(mark, "random"),
        ];
        say(text, &format!("| {} |", row.join(" | ")));
    }
}

/// The programs whose number of threads is an argument.
fn growth(wishes: &Wishes, text: &mut String) {
    say(
        text,
        &format!("\n| threads, policy steer | {} |", THREADS.join(" | ")),
    );
    say(text, &format!("|---{}|", "|---".repeat(THREADS.len())));
    for name in ["reorder", "twostage"] {
        let sized = |mark: &&Mark| mark.name == name && wishes.wants(mark);
        let Some(mark) = MARKS.iter().find(sized) else {
            continue;
        };
        let cells = THREADS.map(|threads| {
            let args: &'static [&'static str] = Box::leak(Box::new([threads]));
            mean(&Mark { args, ..*mark }, "steer", wishes)
        });
        say(text, &format!("| {name} | {} |", cells.join(" | ")));
    }
}

fn main() {
    let wishes = Wishes::of_arguments();
    let mut text = format!(
        "# Executions until the bug\n\nWritten by `./dev marks`: the programs of `tests/marks`, of \
         which others have published how many executions their best search needs (a dash: nobody \
         has). Mean executions to the first finding over {} seeds, at most {} each ({DEEP} times as \
         many for the three deepest), with the options that users get and `--no-shrink`; of those that found \
         nothing the limit counts, `>` tells of that, and how many found it stands behind. With a dash \
         three seeds found nothing, and no others were tried. A deadlock counts also where a trace \
         predicted it and an execution confirmed it. Then executions a second of \
         the repaired program on one core, with everything that is looked for.\n\n",
        wishes.seeds, wishes.limit
    );
    table(&wishes, &mut text);
    growth(&wishes, &mut text);
    if let Some(path) = &wishes.to {
        std::fs::write(path, text).expect("the tables can be written");
    }
}
