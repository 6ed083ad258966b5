//! `raddle test`: every test of a Rust test binary by itself, each under many schedules.

use crate::cli::RunOptions;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::formats::Merge;
use crate::setup::own_command;
use crate::summary::count;
use crate::terminal::print;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// The tests that a test binary's own arguments choose.
struct Suite<'a> {
    program: &'a OsStr,
    args: &'a [OsString],
}

/// Arguments of test binaries that say what becomes of tests that are marked to be left out.
const IGNORED: [&str; 2] = ["--ignored", "--include-ignored"];

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
    let suite = Suite { program, args };
    let mut own = own_options(command_line).to_vec();
    let Some(names) = suite.names()? else {
        // Not a test binary after all: what cargo runs for a test may be any program.
        return one(&own, program, args);
    };
    let mut files = Merge::new(&options.output, program)?;
    own.extend(files.options());
    let (mut failed, mut worst) = (Vec::new(), Exit::Clean);
    for name in &names {
        print(&format!("test {name}\n"));
        let exit = one(&own, program, &suite.arguments(name))?;
        files.take(name, exit)?;
        match exit {
            Exit::Clean | Exit::WithinBounds => {}
            Exit::Interrupted => return Ok(exit),
            _ => failed.push(name.as_str()),
        }
        if worst != Exit::Finding && exit != Exit::Clean {
            worst = exit;
        }
    }
    let failures = match failed.len() {
        0 => "nothing found".to_string(),
        n => format!("{n} failed: {}", failed.join(", ")),
    };
    let tests = count(names.len() as u64, "test");
    print(&format!("raddle: {tests}: {failures}\n"));
    Ok(worst)
}

/// The options between `raddle test` and the program.
fn own_options(command_line: &[OsString]) -> &[OsString] {
    let options = command_line.get(2..).unwrap_or_default();
    let end = options.iter().position(|arg| arg == "--");
    &options[..end.unwrap_or(options.len())]
}

/// `raddle run` of one test. Panics show their place in the report; writing the stack out would
/// only make executions longer.
fn one(options: &[OsString], program: &OsStr, args: &[OsString]) -> Result<Exit> {
    let status = Command::new(own_command()?)
        .arg("run")
        .args(options)
        .arg("--")
        .arg(program)
        .args(args)
        .env("RUST_BACKTRACE", "0")
        .status()
        .map_err(|e| Error::fault(format!("the raddle command cannot be started: {e}")))?;
    Ok(Exit::of_code(status.code()))
}

impl Suite<'_> {
    /// The names of the tests to run; `None` if the program is no test binary.
    fn names(&self) -> Result<Option<Vec<String>>> {
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
        let output = Command::new(self.program)
            .args(self.args)
            .args(["--list", "--format", "terse"])
            .args(more)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| Error::file("start", self.program.as_ref(), &e))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(tests(&text).filter(|_| output.status.success()))
    }

    /// What the binary is told for one test.
    fn arguments(&self, name: &str) -> Vec<OsString> {
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
    fn own_options_end_before_the_program() {
        let words = |text: &str| -> Vec<OsString> { text.split(' ').map(Into::into).collect() };
        let line = words("raddle test -n 5 --policy pos -- bin -- x");
        assert_eq!(own_options(&line), words("-n 5 --policy pos"));
    }
}
