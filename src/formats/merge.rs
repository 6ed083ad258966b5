//! Many commands in one file: what `raddle test` makes of the files of its tests.

use super::{junit, sarif};
use crate::cli::OutputOptions;
use crate::error::{Error, Result};
use crate::report::base_name;
use crate::store;
use quick_junit::{Report, TestSuite};
use serde_sarif::sarif::Run;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Files that grow by a test at a time.
pub struct Merge {
    /// Where each test's own files go.
    parts: TempDir,
    junit: Option<(PathBuf, TestSuite)>,
    sarif: Option<(PathBuf, Vec<Run>)>,
}

const JUNIT: &str = "junit.xml";
const SARIF: &str = "sarif.json";

impl Merge {
    /// For the tests of `program`, as the options want it.
    ///
    /// # Errors
    /// There is no place for temporary files.
    pub fn new(output: &OutputOptions, program: &OsStr) -> Result<Merge> {
        let parts =
            tempfile::tempdir().map_err(|e| Error::file("write to", &std::env::temp_dir(), &e))?;
        let program = program.to_string_lossy();
        let suite = TestSuite::new(base_name(&program));
        Ok(Merge {
            parts,
            junit: output.junit.clone().map(|path| (path, suite)),
            sarif: output.sarif.clone().map(|path| (path, Vec::new())),
        })
    }

    /// The options with which a test writes its own files; they override earlier ones.
    pub fn options(&self) -> Vec<OsString> {
        let mut options = Vec::new();
        let wanted = [
            (self.junit.is_some(), "--junit", JUNIT),
            (self.sarif.is_some(), "--sarif", SARIF),
        ];
        for (_, option, name) in wanted.iter().filter(|(wanted, ..)| *wanted) {
            options.extend([OsString::from(option), self.parts.path().join(name).into()]);
        }
        options
    }

    /// Takes up what the test `name` wrote, and writes the files that were asked for
    /// with all tests so far. A test that wrote nothing ended before it came to a verdict.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn take(&mut self, name: &str) -> Result<()> {
        if let Some((path, suite)) = &mut self.junit {
            let part = read(&self.parts.path().join(JUNIT));
            let part = part.and_then(|text| Report::deserialize_from_str(&text).ok());
            if let Some(part) = part {
                add(suite, part, name);
                store::write(path, junit::text(suite.clone()).as_bytes())?;
            }
        }
        if let Some((path, runs)) = &mut self.sarif {
            let part = read(&self.parts.path().join(SARIF));
            let part = part.and_then(|text| sarif::read(&text));
            if let Some(part) = part {
                runs.extend(part.into_iter().map(|run| sarif::renamed(run, name)));
                store::write(path, sarif::text(&sarif::log(runs.clone())).as_bytes())?;
            }
        }
        Ok(())
    }
}

/// The text of a file, which is removed.
fn read(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    std::fs::remove_file(path).ok()?;
    Some(text)
}

/// Adds the only test of `part` to `suite`, under the name that it has among the others.
fn add(suite: &mut TestSuite, part: Report, name: &str) {
    for mut case in part
        .test_suites
        .into_iter()
        .flat_map(|part| part.test_cases)
    {
        case.name = name.into();
        suite.set_time(suite.time.unwrap_or_default() + case.time.unwrap_or_default());
        suite.add_test_case(case);
    }
}
