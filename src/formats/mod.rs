//! The files that a command writes at its end: the summary (`--json`), JUnit XML for whatever shows
//! tests, SARIF for whatever shows findings. The latter two are made of the summary and of the
//! witnesses that it names.

mod junit;
mod merge;
mod sarif;

pub use merge::Merge;

use crate::cli::OutputOptions;
use crate::error::{Error, Result};
use crate::report::{self, base_name, shell_word};
use crate::store;
use crate::summary::{Found, Summary};
use crate::terminal::visible;
use raddle_protocol::witness::Witness;
use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the files go, and what they are about.
#[derive(Clone, Debug)]
pub struct Files {
    json: Option<PathBuf>,
    junit: Option<PathBuf>,
    sarif: Option<PathBuf>,
    subject: Subject,
    /// Have they been written?
    written: Cell<bool>,
}

/// What was tested.
#[derive(Clone, Debug)]
struct Subject {
    /// The program's name, or what stands for it.
    suite: String,
    /// The command line, as a shell takes it.
    test: String,
}

/// A finding with its witness, which may be missing.
type Told<'a> = (&'a Found, Option<Witness>);

/// What the files are made of.
struct Content<'a> {
    subject: &'a Subject,
    summary: &'a Summary,
    /// What kept the command from its end, whatever the summary says.
    trouble: Option<&'a Error>,
    findings: Vec<Told<'a>>,
    reports: Vec<Told<'a>>,
}

impl Files {
    /// Of a command that runs `command`, a program and its arguments.
    ///
    /// # Errors
    /// The working directory is gone.
    pub fn new(output: &OutputOptions, command: &[OsString]) -> Result<Files> {
        let quoted: Vec<String> = command.iter().map(|word| shell_word(word)).collect();
        let program = command.first().map(|program| program.to_string_lossy());
        let program = program.as_deref().unwrap_or_default();
        Files::about(output, &visible(base_name(program)), &quoted.join(" "))
    }

    /// Of a replay of `witness`: as a regression test, it is known by its file.
    ///
    /// # Errors
    /// As [`Files::new`].
    pub fn of_replay(output: &OutputOptions, witness: &Path) -> Result<Files> {
        Files::about(
            output,
            "raddle replay",
            &visible(&witness.to_string_lossy()),
        )
    }

    fn about(output: &OutputOptions, suite: &str, test: &str) -> Result<Files> {
        // A replay goes to its program's working directory.
        let absolute = |path: &Option<PathBuf>| {
            let path = path.as_deref().map(std::path::absolute).transpose();
            path.map_err(|e| Error::file("find", Path::new("the working directory"), &e))
        };
        Ok(Files {
            json: absolute(&output.json)?,
            junit: absolute(&output.junit)?,
            sarif: absolute(&output.sarif)?,
            subject: Subject {
                suite: suite.to_string(),
                test: test.to_string(),
            },
            written: Cell::new(false),
        })
    }

    /// Where `error` kept the command from its end, and from writing them, they say so: none of an
    /// earlier run is left, which could be taken for the result of this one.
    pub fn write_error(&self, error: &Error) {
        if let Some(summary) = Summary::of_error(error).filter(|_| !self.written.get()) {
            // The error that is told is the first one.
            let _ = self.write(&summary, Some(error));
        }
    }

    /// Writes them, each of them even if another cannot be written. `trouble`: what the command will
    /// be ended with instead of the verdict.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn write(&self, summary: &Summary, trouble: Option<&Error>) -> Result<()> {
        self.written.set(true);
        let mut results = Vec::new();
        if let Some(path) = &self.json {
            results.push(store::write(path, summary.json().as_bytes()));
        }
        if self.junit.is_some() || self.sarif.is_some() {
            let content = Content {
                subject: &self.subject,
                summary,
                trouble,
                findings: told(&summary.findings),
                reports: told(&summary.reports),
            };
            if let Some(path) = &self.junit {
                let text = junit::text(junit::suite(&content));
                results.push(store::write(path, text.as_bytes()));
            }
            if let Some(path) = &self.sarif {
                let text = sarif::text(&sarif::log(vec![sarif::run(&content)]));
                results.push(store::write(path, text.as_bytes()));
            }
        }
        results.into_iter().collect()
    }
}

fn told(found: &[Found]) -> Vec<Told<'_>> {
    // What cannot be read is missing in the file, no more: the report has been printed.
    let witness = |found: &Found| {
        let witness = store::read_witness(found.witness.as_ref()?).ok()?;
        Some(report::clean(&witness, false))
    };
    found.iter().map(|found| (found, witness(found))).collect()
}
