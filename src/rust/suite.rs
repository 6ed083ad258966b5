//! `raddle test`: every test of a test binary by itself, each under many schedules: of Rust's own
//! harness, and of GoogleTest.

use crate::child::{Printed, attend, printed, run_by_cargo};
use crate::cli::RunOptions;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::formats::Merge;
use crate::frameworks::{GOOGLE_TEST, LIBTEST, framework};
use crate::setup::own_command;
use crate::summary::count;
use crate::terminal::{tell, visible};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The tests that a test binary's own arguments choose.
struct Suite<'a> {
    program: &'a OsStr,
    args: &'a [OsString],
    harness: Harness,
}

/// Who lists and runs the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harness {
    Rust,
    Google,
}

/// Arguments of test binaries that say what becomes of tests that are marked to be left out.
const IGNORED: [&str; 2] = ["--ignored", "--include-ignored"];

/// A test binary has so long to list its tests.
const LISTING: Duration = Duration::from_secs(60);

/// Runs them. `command_line` is raddle's own, `options` what it says.
pub fn run(command_line: &[OsString], options: &RunOptions) -> Result<Exit> {
    for (file, option) in [
        (&options.output.json, "--json"),
        (&options.findings.witness, "-o"),
    ] {
        if file.is_some() {
            return Err(Error::usage(
                format!("{option} names one file, and there are many tests"),
                "leave it out, or use `raddle run -- BINARY --exact NAME` for one test",
            ));
        }
    }
    let [program, args @ ..] = &options.target.command[..] else {
        return Err(Error::usage("no program is named", "name a test binary"));
    };
    let harness = match framework(program).map(|framework| framework.name) {
        Some(GOOGLE_TEST) => Harness::Google,
        Some(LIBTEST) => Harness::Rust,
        // Not a test binary: what cargo runs for a test may be any program.
        None => {
            let own = own_options(command_line);
            return Ok(run_one(own, program, args, Stdio::inherit(), None)?.0);
        }
        Some(other) => {
            return Err(Error::usage(
                format!(
                    "{}: raddle test does not know how to run single tests of {other}",
                    program.display()
                ),
                "run each with `raddle run -- BINARY ITS-NAME`",
            ));
        }
    };
    let suite = Suite {
        program,
        args,
        harness,
    };
    let mut own = own_options(command_line).to_vec();
    let Some(names) = suite.names()? else {
        // Not a test binary after all.
        return Ok(suite.one(&own, args, Stdio::inherit())?.0);
    };
    let mut files = Merge::new(&options.output, program)?;
    // cargo gives its filters to all binaries, and a part of few tests may be empty.
    if names.is_empty() && suite.chooses() && !run_by_cargo() && number(SHARDS[0]).is_none() {
        return Err(Error::usage(
            format!("{}: no test has such a name", program.display()),
            match harness {
                Harness::Google => "see BINARY --gtest_list_tests",
                Harness::Rust => "see BINARY --list",
            },
        ));
    }
    own.extend(files.options());
    let (mut failed, mut worst, mut done) = (Vec::new(), Exit::Clean, 0);
    for name in &names {
        tell(&format!("test {}\n", visible(name)));
        // What the harness prints of one test says no more than the verdict.
        let (exit, asked) = suite.one(&own, &suite.arguments(name), Stdio::null())?;
        files.take(name, exit)?;
        match exit {
            Exit::Clean | Exit::WithinBounds | Exit::Interrupted => {}
            _ => failed.push(name.as_str()),
        }
        if worst != Exit::Finding && exit != Exit::Clean {
            worst = exit;
        }
        if asked || exit == Exit::Interrupted {
            worst = if failed.is_empty() {
                Exit::Interrupted
            } else {
                worst
            };
            break;
        }
        done += 1;
    }
    let failures = match failed.len() {
        0 => "none failed".to_string(),
        n => format!("{n} failed: {}", visible(&failed.join(", "))),
    };
    let tests = count(names.len() as u64, "test");
    let stopped = match names.len() - done {
        0 => String::new(),
        _ => format!(" (stopped after {done})"),
    };
    tell(&format!("raddle: {tests}{stopped}: {failures}\n"));
    Ok(worst)
}

/// The options between `raddle test` and the program.
fn own_options(command_line: &[OsString]) -> &[OsString] {
    let options = command_line.get(2..).unwrap_or_default();
    let end = options.iter().position(|arg| arg == "--");
    &options[..end.unwrap_or(options.len())]
}

/// Which of the tests are to be run, as GoogleTest's variables say: of so many parts the how-manyth,
/// from 0.
const SHARDS: [&str; 2] = ["GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"];
/// By which names.
const FILTER: &str = "GTEST_FILTER";

/// A number in the environment.
fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// `raddle run` of one test, and whether raddle was asked to end meanwhile.
fn run_one(
    options: &[OsString],
    program: &OsStr,
    args: &[OsString],
    stdout: Stdio,
    harness: Option<Harness>,
) -> Result<(Exit, bool)> {
    let mut command = Command::new(own_command()?);
    command
        .arg("run")
        .args(options)
        .arg("--")
        .arg(program)
        .args(args)
        .stdout(stdout);
    if harness == Some(Harness::Google) {
        without_choice(&mut command);
    }
    let (status, asked) = attend(&mut command)?;
    Ok((Exit::of_code(status.code()), asked))
}

/// Names in a list of GoogleTest's.
fn google_tests(list: &str) -> Vec<String> {
    let mut suite = None;
    let mut names = Vec::new();
    for line in list.lines() {
        // What follows are a type or the values of parameters.
        let name = line
            .split_once("  # ")
            .map_or(line, |(name, _)| name)
            .trim_end();
        match name.strip_prefix("  ") {
            Some(test) => {
                let suite = suite.into_iter();
                names.extend(suite.map(|suite| format!("{suite}{test}")));
            }
            None => suite = Some(name).filter(|name| name.ends_with('.')),
        }
    }
    names
}

impl Suite<'_> {
    /// [`run_one`] of one test.
    fn one(&self, options: &[OsString], args: &[OsString], stdout: Stdio) -> Result<(Exit, bool)> {
        run_one(options, self.program, args, stdout, Some(self.harness))
    }

    /// The names of the tests to run; `None` if the program is no test binary.
    fn names(&self) -> Result<Option<Vec<String>>> {
        match self.harness {
            Harness::Rust => self.rust_names(),
            Harness::Google => self.google_names().map(Some),
        }
    }

    /// Arguments that are no options, by which tests are chosen.
    fn filters(&self) -> impl Iterator<Item = &OsString> {
        let is_filter = |arg: &&OsString| !arg.as_encoded_bytes().starts_with(b"-");
        self.args.iter().filter(is_filter)
    }

    /// Do the arguments or variables choose some of the tests?
    fn chooses(&self) -> bool {
        let is_filter = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"--gtest_filter");
        let google = self.harness == Harness::Google;
        self.filters().next().is_some()
            || google && (self.args.iter().any(is_filter) || std::env::var_os(FILTER).is_some())
    }

    /// The tests that GoogleTest's own filter chooses, and those whose names contain an argument, as
    /// with Rust's harness; of these the part that its variables ask for.
    fn google_names(&self) -> Result<Vec<String>> {
        let options = self
            .args
            .iter()
            .filter(|arg| !self.filters().any(|f| f == *arg));
        let mut command = Command::new(self.program);
        command.args(options).arg("--gtest_list_tests");
        let output = self.printed(command.env_remove(SHARDS[0]).env_remove(SHARDS[1]))?;
        if !output.success {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Error::new(
                Exit::Unsupported,
                format!("{} does not list its tests: {said}", self.program.display()),
                "",
            ));
        }
        let mut names = google_tests(&String::from_utf8_lossy(&output.stdout));
        let disabled = "--gtest_also_run_disabled_tests";
        let also = self.args.iter().any(|arg| arg == disabled)
            || std::env::var_os("GTEST_ALSO_RUN_DISABLED_TESTS").is_some_and(|v| v == "1");
        let is_disabled = |name: &String| {
            let mut parts = name.split(['.', '/']);
            parts.any(|part| part.starts_with("DISABLED_"))
        };
        names.retain(|name| also || !is_disabled(name));
        let filters: Vec<String> = self.filters().map(|f| f.to_string_lossy().into()).collect();
        names.retain(|name| filters.is_empty() || filters.iter().any(|f| name.contains(f)));
        if let (Some(parts), Some(part)) = (number(SHARDS[0]), number(SHARDS[1]))
            && parts > 0
        {
            let mut n = 0;
            names.retain(|_| {
                n += 1;
                (n - 1) % parts == part
            });
        }
        Ok(names)
    }

    fn rust_names(&self) -> Result<Option<Vec<String>>> {
        let Some(all) = self.list(&[])? else {
            return Ok(None);
        };
        let asks = |arg: &OsString| IGNORED.iter().any(|ignored| arg == ignored);
        let ignored: BTreeSet<String> = match self.args.iter().any(asks) {
            true => BTreeSet::new(),
            false => self.list(&["--ignored"])?.into_iter().flatten().collect(),
        };
        let names = all.into_iter().filter(|name| !ignored.contains(name));
        Ok(Some(names.collect()))
    }

    fn list(&self, more: &[&str]) -> Result<Option<Vec<String>>> {
        let mut command = Command::new(self.program);
        command
            .args(self.args)
            .args(["--list", "--format", "terse"]);
        let output = self.printed(command.args(more))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(tests(&text).filter(|_| output.success))
    }

    /// What the program prints, which is to be a list of its tests.
    fn printed(&self, command: &mut Command) -> Result<Printed> {
        let printed = printed(command, LISTING);
        let printed = printed.map_err(|e| Error::file("start", self.program.as_ref(), &e))?;
        printed.ok_or_else(|| {
            let program = self.program.display();
            let most = LISTING.as_secs();
            Error::new(
                Exit::Unsupported,
                format!("{program} does not list its tests within {most} s"),
                "run it as one with `raddle run -- BINARY`",
            )
        })
    }

    /// What the binary is told for one test.
    fn arguments(&self, name: &str) -> Vec<OsString> {
        if self.harness == Harness::Google {
            let chooses = |arg: &OsString| {
                let chosen = ["--gtest_filter", "--gtest_list_tests", "--gtest_repeat"];
                let arg = arg.as_encoded_bytes();
                chosen
                    .iter()
                    .any(|option| arg.starts_with(option.as_bytes()))
            };
            let kept = self.args.iter().filter(|arg| !chooses(arg));
            let kept = kept.filter(|arg| !self.filters().any(|f| f == *arg));
            let only = OsString::from(format!("--gtest_filter={name}"));
            return kept.cloned().chain([only]).collect();
        }
        let mut args: Vec<OsString> = ["--exact", name, "--test-threads=1", "--nocapture"]
            .map(Into::into)
            .to_vec();
        let ignored = self.args.iter().filter(|arg| {
            let arg = arg.as_os_str();
            IGNORED.iter().any(|ignored| arg == *ignored)
        });
        args.extend(ignored.cloned());
        args
    }
}

/// The test is chosen by its name alone.
fn without_choice(command: &mut Command) {
    for name in SHARDS.into_iter().chain([FILTER, "GTEST_REPEAT"]) {
        command.env_remove(name);
    }
}

/// The names in a terse list; `None` if it is none.
fn tests(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for line in list.lines() {
        match line.rsplit_once(": ")? {
            (name, "test") => names.push(name.to_string()),
            (_, "benchmark" | "bench") => {}
            _ => return None,
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tests_are_told_from_other_output() {
        let names = |names: &[&str]| Some(names.iter().map(|n| n.to_string()).collect());
        let table: [(&str, Option<Vec<String>>); 5] = [
            ("", names(&[])),
            ("a::b: test\nc: benchmark\nd: test\n", names(&["a::b", "d"])),
            (
                "src/lib.rs - f (line 3): test\n",
                names(&["src/lib.rs - f (line 3)"]),
            ),
            ("hello\n", None),
            ("a: test\nsum: 3\n", None),
        ];
        for (list, expected) in table {
            assert_eq!(super::tests(list), expected, "{list}");
        }
    }

    #[test]
    fn tests_in_a_list_of_google_test() {
        let list = "Running main() from gtest_main.cc\nBank.\n  Pay\n  DISABLED_Add\n\
                    Typed/0.  # TypeParam = int\n  Sum\nAll/Values.\n  Fits/0  # GetParam() = 3\n";
        let expected = [
            "Bank.Pay",
            "Bank.DISABLED_Add",
            "Typed/0.Sum",
            "All/Values.Fits/0",
        ];
        assert_eq!(google_tests(list), expected);
    }

    #[test]
    fn own_options_end_before_the_program() {
        let words = |text: &str| -> Vec<OsString> { text.split(' ').map(Into::into).collect() };
        let line = words("raddle test -n 5 --policy pos -- bin -- x");
        assert_eq!(own_options(&line), words("-n 5 --policy pos"));
    }
}
