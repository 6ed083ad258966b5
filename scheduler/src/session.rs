//! One started target and the executions cloned from it.

use crate::error::{RunError, StartError};
use crate::stop::StopFlag;
use crate::target::{Limits, Target};
use raddle_protocol::job::Job;
use raddle_protocol::trace::Trace;
use std::path::PathBuf;

/// One executable mapping of a file in the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The file.
    pub path: PathBuf,
    /// First address.
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// Offset in the file of the byte at `start`.
    pub file_offset: u64,
    /// Was it built by `raddle cc`?
    pub instrumented: bool,
}

/// A target that has been started up to its `main`; see the crate's text.
#[derive(Debug)]
pub struct Session {
    modules: Vec<Module>,
}

impl Session {
    /// Starts `target`.
    pub fn start(_: &Target, _: &Limits, _: &StopFlag) -> Result<Session, StartError> {
        Ok(Session {
            modules: Vec::new(),
        })
    }

    /// Runs one job to its end.
    pub fn run(&mut self, _: &Job) -> Result<Trace, RunError> {
        Err(RunError::ServerSilent)
    }

    /// The executable mappings of the target when it reached its `main`.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }
}
