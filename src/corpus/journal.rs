//! What `verify` has executed, as a file that only grows: a run that goes on executes those jobs
//! again, which takes little beside finding them, and so knows what the one before knew.
//!
//! A line for each job: its [`Recipe`] as JSON, and the checksum of that. A line that was cut off by
//! a kill, and whatever stands below it, counts for nothing.

use super::locks::Locks;
use crate::error::{Error, Result};
use crate::exit::Exit;
use raddle_protocol::job::Job;
use raddle_protocol::witness::{Bytes, Input, Recipe, fnv1a};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The journal of one search, which this process alone writes.
pub struct Journal {
    file: File,
    path: PathBuf,
    _lock: Locks,
}

impl Journal {
    /// Opens the journal of the search `key` in a corpus directory, which is made if it is not
    /// there; with the jobs that are in it.
    ///
    /// # Errors
    /// The directory or the file cannot be used; another process verifies the same with it.
    pub fn open(dir: &Path, key: u64) -> Result<(Journal, Vec<Recipe>)> {
        std::fs::create_dir_all(dir).map_err(|e| Error::file("make", dir, &e))?;
        let lock = Locks::open(dir)?;
        // Runs have small numbers.
        let byte = (key >> 2 | 1 << 61) as i64;
        if !lock.take(byte).map_err(|e| Error::file("lock", dir, &e))? {
            return Err(Error::new(
                Exit::InputOutput,
                format!("{}: another run verifies the same with it", dir.display()),
                "wait for its end or name another directory",
            ));
        }
        let path = dir.join(format!("verify-{key:016x}.journal"));
        let failed = |e: std::io::Error| Error::file("read", &path, &e);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let (recipes, len) = decode(&content);
        file.set_len(len).map_err(failed)?;
        file.seek(SeekFrom::Start(len)).map_err(failed)?;
        let journal = Journal {
            file,
            path,
            _lock: lock,
        };
        Ok((journal, recipes))
    }

    /// Adds a job that was executed. It is there when this returns, whatever comes then.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, job: &Job) -> Result<()> {
        let line = encode(&recipe(job));
        let written = self.file.write_all(line.as_bytes());
        let written = written.and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::file("write", &self.path, &e))
    }
}

fn recipe(job: &Job) -> Recipe {
    let inputs = job.inputs.iter().map(|input| Input {
        thread: input.thread,
        index: input.index,
        name: None,
        bytes: Bytes(input.bytes.clone()),
        site: None,
    });
    Recipe {
        steps: job.prefix.iter().map(|s| (s.what, s.count)).collect(),
        inputs: inputs.collect(),
        ranges: job.ranges.clone(),
        flags: job.flags,
        max_steps: job.max_steps,
        timeout_ms: 0,
        clock_base: job.clock_base,
        entropy: job.entropy,
        expected_output: None,
        accepted_exits: Vec::new(),
    }
}

fn encode(recipe: &Recipe) -> String {
    let text = serde_json::to_string(recipe).expect("plain data has a JSON form");
    format!("{text} {:016x}\n", fnv1a(text.as_bytes()))
}

/// The recipes of whole lines, and how many bytes those take.
fn decode(content: &[u8]) -> (Vec<Recipe>, u64) {
    let mut recipes = Vec::new();
    let mut len = 0;
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        let Some(recipe) = decode_line(line) else {
            break;
        };
        recipes.push(recipe);
        len += line.len() as u64;
    }
    (recipes, len)
}

fn decode_line(line: &[u8]) -> Option<Recipe> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (text, sum) = line.rsplit_once(' ')?;
    let sum = u64::from_str_radix(sum, 16).ok()?;
    (sum == fnv1a(text.as_bytes()))
        .then(|| serde_json::from_str(text).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::schedule::{Step, Tail};

    fn job(n: u16) -> Job {
        let mut job = Job::new(Tail::RunUntilBlocked);
        job.prefix = vec![Step { what: n, count: 3 }];
        job.inputs = vec![raddle_protocol::job::Input {
            thread: n,
            index: 1,
            bytes: vec![7, 0],
        }];
        job.ranges = vec![(16, 24)];
        job
    }

    #[test]
    fn what_was_written_whole_is_there_however_the_file_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let (mut journal, recipes) = Journal::open(dir.path(), 5).unwrap();
        assert!(recipes.is_empty());
        journal.add(&job(1)).unwrap();
        journal.add(&job(2)).unwrap();
        let path = journal.path.clone();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let first = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
        for len in 0..=whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let (mut journal, recipes) = Journal::open(dir.path(), 5).unwrap();
            let expected = usize::from(len >= first) + usize::from(len == whole.len());
            assert_eq!(recipes.len(), expected, "{len}");
            journal.add(&job(3)).unwrap();
            drop(journal);
            let (_, recipes) = Journal::open(dir.path(), 5).unwrap();
            assert_eq!(recipes.len(), expected + 1, "{len}");
            assert_eq!(recipes.last(), Some(&recipe(&job(3))));
        }
    }

    #[test]
    fn only_one_process_writes_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = Journal::open(dir.path(), 5).unwrap();
        assert!(Journal::open(dir.path(), 5).is_err());
        assert!(Journal::open(dir.path(), 50).is_ok());
        drop(first);
        assert!(Journal::open(dir.path(), 5).is_ok());
    }
}
