//! What `verify` has executed, as a file that only grows: a run that goes on executes those jobs
//! again, which takes little beside finding them, and so knows what the one before knew.
//!
//! A line for each job: its [`Recipe`] and tail as JSON, and the checksum of that. A line that was
//! cut off by a kill, and whatever stands below it, counts for nothing.

use super::locks::Locks;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::replay::job_of;
use crate::store;
use raddle_protocol::job::Job;
use raddle_protocol::schedule::Tail;
use raddle_protocol::witness::{Bytes, Input, Recipe, fnv1a};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// One job.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    recipe: Recipe,
    /// As in [`Tail::to_words`].
    #[serde(default)]
    tail: [u64; 4],
}

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
    pub fn open(dir: &Path, key: u64) -> Result<(Journal, Vec<Job>)> {
        store::folder(dir, "make the corpus in")?;
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
        let mut file = store::open_own(&path).map_err(failed)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let (jobs, len) = decode(&content);
        file.set_len(len).map_err(failed)?;
        file.seek(SeekFrom::Start(len)).map_err(failed)?;
        let journal = Journal {
            file,
            path,
            _lock: lock,
        };
        Ok((journal, jobs))
    }

    /// Adds a job that was executed. It is there when this returns, whatever comes then.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, job: &Job) -> Result<()> {
        let line = encode(&entry(job));
        let written = self.file.write_all(line.as_bytes());
        let written = written.and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::file("write", &self.path, &e))
    }
}

fn entry(job: &Job) -> Entry {
    Entry {
        recipe: recipe(job),
        tail: job.tail.to_words(),
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

fn encode(entry: &Entry) -> String {
    let text = serde_json::to_string(entry).expect("plain data has a JSON form");
    format!("{text} {:016x}\n", fnv1a(text.as_bytes()))
}

/// The jobs of whole lines, and how many bytes those take.
fn decode(content: &[u8]) -> (Vec<Job>, u64) {
    let mut jobs = Vec::new();
    let mut len = 0;
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        let Some(job) = decode_line(line) else {
            break;
        };
        jobs.push(job);
        len += line.len() as u64;
    }
    (jobs, len)
}

fn decode_line(line: &[u8]) -> Option<Job> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (text, sum) = line.rsplit_once(' ')?;
    let sum = u64::from_str_radix(sum, 16).ok()?;
    let text = Some(text).filter(|text| sum == fnv1a(text.as_bytes()));
    let entry: Entry = serde_json::from_str(text?).ok()?;
    let tail = Tail::from_words(entry.tail)?;
    Some(Job {
        tail,
        ..job_of(&entry.recipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::schedule::Step;

    fn job(n: u16) -> Job {
        let mut job = Job::new(Tail::Sparing { threads: 4 });
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
        let (mut journal, jobs) = Journal::open(dir.path(), 5).unwrap();
        assert!(jobs.is_empty());
        journal.add(&job(1)).unwrap();
        journal.add(&job(2)).unwrap();
        let path = journal.path.clone();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let first = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
        for len in 0..=whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let (mut journal, jobs) = Journal::open(dir.path(), 5).unwrap();
            let expected = usize::from(len >= first) + usize::from(len == whole.len());
            assert_eq!(jobs.len(), expected, "{len}");
            journal.add(&job(3)).unwrap();
            drop(journal);
            let (_, jobs) = Journal::open(dir.path(), 5).unwrap();
            assert_eq!(jobs.len(), expected + 1, "{len}");
            assert_eq!(jobs.last(), Some(&job(3)));
        }
    }

    #[test]
    fn jobs_without_a_tail_are_from_before() {
        let text = serde_json::to_string(&recipe(&job(1))).unwrap();
        let line = format!("{text} {:016x}\n", fnv1a(text.as_bytes()));
        let tail = Tail::RunUntilBlocked;
        assert_eq!(decode_line(line.as_bytes()), Some(Job { tail, ..job(1) }));
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
