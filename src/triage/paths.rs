//! Executions that ended well and took a path that was new, kept as witnesses (`verify --keep`).

use super::{Result, Triage, last_bytes, leave_out_middle, meaning, witness_records};
use crate::class::{Meaning, label};
use crate::describe;
use crate::store::write_witness;
use crate::symbols::readable;
use raddle_protocol::job::Job;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::{Finding, PATH, fnv1a};
use std::path::PathBuf;

/// What was kept.
#[derive(Default)]
pub(super) struct Paths {
    files: Vec<PathBuf>,
    /// Of before the exploration started anew.
    earlier: Vec<PathBuf>,
    /// Executions that did not go the same way again.
    lost: u64,
}

impl Paths {
    /// What the summary says of it.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut files = self.files.iter().chain(&self.earlier);
        if let Some(dir) = files.next().and_then(|file| file.parent()) {
            let n = 1 + files.count();
            notes.push(format!(
                "{n} paths without a failure are kept in {}",
                dir.display()
            ));
        }
        if self.lost > 0 {
            notes.push(format!(
                "{} paths are not kept: they cannot be repeated",
                self.lost
            ));
        }
        notes
    }
}

impl Triage<'_> {
    /// Writes a witness of an execution that took a new path. One that failed is a finding
    /// instead, one whose assumptions did not hold says nothing.
    ///
    /// # Errors
    /// The program cannot be started again. A file that cannot be written is told at the end.
    pub fn keep_path(&mut self, execution: u64, job: &Job, trace: &Trace) -> Result<()> {
        if meaning(&trace.outcome) != Meaning::Fine {
            return Ok(());
        }
        let again = self.rerun(job, &trace.taken, witness_records(&trace.taken))?;
        let same =
            |again: &Trace| meaning(&again.outcome) == Meaning::Fine && again.taken == trace.taken;
        let Some(again) = again.filter(same) else {
            self.paths.lost += 1;
            return Ok(());
        };
        let mut story = describe::story(&again, self.symbols()?);
        let left_out = leave_out_middle(&mut story.records);
        let recipe = self.recipe(job, &again, &story);
        // The same way through the same program has the same name.
        let way = format!("{:?} {:?}", recipe.steps, recipe.inputs);
        let finding = Finding {
            class: PATH.to_string(),
            message: label(&again.outcome),
            fingerprint: format!("{:016x}", fnv1a(way.as_bytes())),
            thread: again.outcome.thread,
            stack: Vec::new(),
            waits: Vec::new(),
            notes: Vec::new(),
            execution,
            preemptions: again.counters.preemptions,
            found_preemptions: again.counters.preemptions,
            fewest: false,
            reproduced: true,
            policy: self.wishes.policy.clone(),
            seed: self.wishes.seed,
            uncontrolled: again.uncontrolled.iter().map(|n| readable(n)).collect(),
            stdout: last_bytes(&again.stdout),
            stderr: last_bytes(&again.stderr),
            accesses: Vec::new(),
            threads: Vec::new(),
            other: None,
            time_out: None,
        };
        let witness = self.assemble(recipe, finding, story, left_out)?;
        let path = self.wishes.place.path(0, &witness);
        match write_witness(&path, &witness) {
            Ok(()) => {
                self.paths.earlier.retain(|earlier| *earlier != path);
                self.paths.files.push(path);
            }
            Err(error) => {
                self.trouble.get_or_insert(error);
            }
        }
        Ok(())
    }

    /// Exploration starts anew: all paths so far will be met again, with more of their steps seen.
    pub fn start_anew(&mut self) {
        self.paths.earlier.append(&mut self.paths.files);
    }

    /// Exploration came to its end: what was kept before it started anew was met again.
    pub fn forget_earlier_paths(&mut self) {
        for file in self.paths.earlier.drain(..) {
            // A file that somebody has taken away is gone as well.
            let _ = std::fs::remove_file(file);
        }
    }
}
