//! Many commands in one file: what `raddle test` makes of the files of its tests.

use super::{junit, sarif};
use crate::cli::OutputOptions;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::report::base_name;
use crate::store;
use crate::terminal::visible;
use quick_junit::{Report, TestSuite};
use serde_sarif::sarif::Run;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Files that grow by a test at a time.
pub struct Merge {
    /// Where each test's own files go, if any are asked for.
    parts: Option<TempDir>,
    junit: Option<(PathBuf, TestSuite)>,
    sarif: Option<(PathBuf, Vec<Run>)>,
}

const JUNIT: &str = "junit.xml";
const SARIF: &str = "sarif.json";

impl Merge {
    /// For the tests of `program`, as the options want it; the files are written, with no test.
    ///
    /// # Errors
    /// There is no place for temporary files, or a file cannot be written.
    pub fn new(output: &OutputOptions, program: &OsStr) -> Result<Merge> {
        let wanted = output.junit.is_some() || output.sarif.is_some();
        let parts = wanted.then(tempfile::tempdir).transpose();
        let program = program.to_string_lossy();
        let suite = TestSuite::new(visible(base_name(&program)));
        let merge = Merge {
            parts: parts.map_err(|e| Error::file("write to", &std::env::temp_dir(), &e))?,
            junit: output.junit.clone().map(|path| (path, suite)),
            sarif: output.sarif.clone().map(|path| (path, Vec::new())),
        };
        merge.write()?;
        Ok(merge)
    }

    /// The options with which a test writes its own files; they override earlier ones.
    pub fn options(&self) -> Vec<OsString> {
        let mut options = Vec::new();
        let wanted = [
            (self.junit.is_some(), "--junit", JUNIT),
            (self.sarif.is_some(), "--sarif", SARIF),
        ];
        let Some(dir) = &self.parts else {
            return options;
        };
        for (_, option, name) in wanted.iter().filter(|(wanted, ..)| *wanted) {
            options.extend([OsString::from(option), dir.path().join(name).into()]);
        }
        options
    }

    /// Takes up what the test `name`, which ended with `exit`, wrote, and writes the files that
    /// were asked for with all tests so far. Of a test that wrote nothing JUnit has the exit code.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn take(&mut self, name: &str, exit: Exit) -> Result<()> {
        let Some(parts) = &self.parts else {
            return Ok(());
        };
        if let Some((_, suite)) = &mut self.junit {
            let part = read(&parts.path().join(JUNIT));
            match part.and_then(|text| Report::deserialize_from_str(&text).ok()) {
                Some(part) => add(suite, part, name),
                None => {
                    suite.add_test_case(junit::without_verdict(name, exit));
                }
            }
        }
        if let Some((_, runs)) = &mut self.sarif {
            let part = read(&parts.path().join(SARIF));
            let part = part.and_then(|text| sarif::read(&text)).into_iter();
            runs.extend(part.flatten().map(|run| sarif::renamed(run, name)));
        }
        self.write()
    }

    fn write(&self) -> Result<()> {
        if let Some((path, suite)) = &self.junit {
            store::write(path, junit::text(suite.clone()).as_bytes())?;
        }
        if let Some((path, runs)) = &self.sarif {
            store::write(path, sarif::text(&sarif::log(runs.clone())).as_bytes())?;
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
        case.name = visible(name).into();
        suite.set_time(suite.time.unwrap_or_default() + case.time.unwrap_or_default());
        suite.add_test_case(case);
    }
}
