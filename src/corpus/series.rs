//! A run's place in the corpus: its test, its series, the numbers that it takes.

use super::database::Database;
use super::identity::Key;
use super::locks::Locks;
use super::now;
use super::numbers::Lease;
use super::view::Totals;
use crate::error::{Error, Result};
use crate::summary::{self, Summary};
use rusqlite::{Transaction, params};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// An open corpus directory with this run's place in it.
pub struct Corpus {
    pub(super) database: Database,
    pub(super) dir: PathBuf,
    locks: Locks,
    pub(super) program: i64,
    pub(super) test: i64,
    pub(super) series: i64,
    pub(super) run: i64,
    /// This run may write the frontier.
    pub(super) owner: bool,
}

/// What earlier runs have left of the same search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Executions of the series so far.
    pub executions: u64,
    /// Of the program so far, in whatever build, with whatever policy.
    pub totals: Totals,
    /// With `--same-output`: hash of the output of the first execution.
    pub expected_output: Option<u64>,
    /// From [`crate::limits::Limits::put`].
    pub frontier: Option<Vec<u64>>,
    /// An exhaustive search has ended.
    pub verdict: Option<Verdict>,
    /// When that was, in UTC.
    pub concluded: Option<String>,
    /// Another process is exploring the same, and is the one that writes the frontier.
    pub shared: bool,
    pub begun: Begun,
}

/// How an exhaustive search begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begun {
    /// Where an earlier run stopped, or where there is nothing to go on from.
    #[default]
    AsExpected,
    /// An earlier run was ended before it had stored where to go on.
    Over,
    /// An earlier run of another build, or with other options, did not come to its end.
    Changed,
}

impl Begun {
    /// What is to be said of it.
    pub fn text(self) -> Option<&'static str> {
        match self {
            Begun::AsExpected => None,
            Begun::Over => Some(
                "an earlier run was ended before it had stored where to go on: this one began at \
                 the start",
            ),
            Begun::Changed => Some(
                "what an earlier run left to explore is of another build or of other options: this \
                 one began at the start",
            ),
        }
    }
}

/// What an exhaustive search claimed at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub executions: u64,
    pub classes: Option<u64>,
    pub within_bounds: bool,
    pub notes: Vec<String>,
    pub uncontrolled: Vec<String>,
}

impl Verdict {
    /// Of a search that has ended now, after so many executions in earlier runs.
    pub fn of(summary: &Summary, earlier: u64) -> Verdict {
        Verdict {
            executions: earlier + summary.executions,
            classes: summary.classes,
            within_bounds: summary.verdict == summary::Verdict::ExploredWithinBounds,
            notes: summary.notes.clone(),
            uncontrolled: summary.uncontrolled.clone(),
        }
    }
}

impl Corpus {
    /// Opens the directory, makes it if need be, and finds or makes the series of `key`. `anew`:
    /// what earlier runs did of this series counts for nothing; findings and pairs stay.
    pub fn open(dir: &Path, key: &Key, anew: bool) -> Result<(Corpus, Series)> {
        let mut database = Database::open(dir)?;
        let locks = Locks::open(dir)?;
        let (program, test, series, run) = database.change(|t| {
            let program = program(t, key)?;
            let test = test(t, program, key)?;
            let series = series(t, test, key)?;
            let run = "INSERT INTO run (series, started) VALUES (?, ?)";
            t.execute(run, params![series, now()])?;
            Ok((program, test, series, t.last_insert_rowid()))
        })?;
        let failed = |e: std::io::Error| Error::file("lock a file in", dir, &e);
        locks.take(run).map_err(failed)?;
        let mut corpus = Corpus {
            database,
            dir: dir.to_owned(),
            locks,
            program,
            test,
            series,
            run,
            owner: true,
        };
        corpus.claim(key.exhaustive)?;
        if anew && corpus.owner {
            corpus.start_over()?;
        }
        let begun = match anew {
            true => Begun::AsExpected,
            false => corpus.begin(key)?,
        };
        let known = corpus.read(begun)?;
        Ok((corpus, known))
    }

    /// The directory, for messages.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// An exhaustive search is one run's at a time.
    fn claim(&mut self, exhaustive: bool) -> Result<()> {
        if !exhaustive {
            return Ok(());
        }
        let (series, run, locks) = (self.series, self.run, &self.locks);
        self.owner = self.database.change(|t| {
            let owner = "SELECT owner FROM series WHERE id = ?";
            let owner: Option<i64> = t.query_row(owner, [series], |r| r.get(0))?;
            if owner.is_some_and(|owner| is_alive(locks, owner)) {
                return Ok(false);
            }
            let claim = "UPDATE series SET owner = ? WHERE id = ?";
            t.execute(claim, params![run, series])?;
            Ok(true)
        })?;
        Ok(())
    }

    /// Of an exhaustive search, those executions count of which the frontier knows: others, that came
    /// later, are run again.
    fn begin(&mut self, key: &Key) -> Result<Begun> {
        if !key.exhaustive || !self.owner {
            return Ok(Begun::AsExpected);
        }
        let (series, test, program) = (self.series, self.test, self.program);
        self.database.change(|t| {
            let sql = "SELECT executions, frontier FROM series WHERE id = ?";
            let (executions, frontier): (i64, Option<Vec<u8>>) =
                t.query_row(sql, [series], |r| Ok((r.get(0)?, r.get(1)?)))?;
            let frontier = frontier.map(|bytes| words(&bytes));
            let counted = frontier.as_ref().and_then(|words| words.first());
            let sql = "UPDATE series SET executions = ? WHERE id = ?";
            let counted = counted.copied().unwrap_or(0);
            t.execute(sql, params![counted as i64, series])?;
            if frontier.is_some() {
                return Ok(Begun::AsExpected);
            }
            let sql = "SELECT count(*) FROM series JOIN test ON test.id = series.test
                 WHERE program = ? AND test.id <> ? AND policy = ? AND series.executions > 0
                   AND verdict IS NULL";
            let others: i64 = t.query_row(sql, params![program, test, key.policy], |r| r.get(0))?;
            Ok(match (executions > 0, others > 0) {
                (true, _) => Begun::Over,
                (false, true) => Begun::Changed,
                (false, false) => Begun::AsExpected,
            })
        })
    }

    fn start_over(&mut self) -> Result<()> {
        let (series, test) = (self.series, self.test);
        self.database.change(|t| {
            t.execute(
                "UPDATE series SET next = 0, executions = 0, expected_output = NULL, \
                 frontier = NULL, verdict = NULL, concluded = NULL WHERE id = ?",
                [series],
            )?;
            t.execute("DELETE FROM lease WHERE series = ?", [series])?;
            t.execute("DELETE FROM sighting WHERE series = ?", [series])?;
            t.execute("DELETE FROM schedule WHERE test = ?", [test])?;
            t.execute(
                "UPDATE test SET schedules = 0, not_kept = 0 WHERE id = ?",
                [test],
            )?;
            Ok(())
        })
    }

    fn read(&self, begun: Begun) -> Result<Series> {
        let sql = "SELECT executions, expected_output, frontier, verdict,
                 strftime('%Y-%m-%d %H:%M', concluded, 'unixepoch')
             FROM series WHERE id = ?";
        let totals = self.totals()?;
        self.database.ask(|c| {
            c.query_row(sql, [self.series], |row| {
                let verdict: Option<String> = row.get(3)?;
                let frontier: Option<Vec<u8>> = row.get(2)?;
                Ok(Series {
                    executions: row.get::<_, i64>(0)? as u64,
                    totals,
                    expected_output: row.get::<_, Option<i64>>(1)?.map(|h| h as u64),
                    frontier: frontier.map(|bytes| words(&bytes).into_iter().skip(1).collect()),
                    verdict: verdict.and_then(|text| serde_json::from_str(&text).ok()),
                    concluded: row.get(4)?,
                    shared: !self.owner,
                    begun,
                })
            })
        })
    }

    /// Takes at most `wanted` numbers of executions that no other run has done or is doing: first
    /// what runs before have left, then new ones.
    pub fn lease(&mut self, wanted: u64) -> Result<Lease> {
        let wanted = wanted.clamp(1, i64::MAX as u64) as i64;
        let (series, run, locks) = (self.series, self.run, &self.locks);
        self.database.change(|t| {
            let free = free_lease(t, series, run, locks)?;
            let (id, start, stop) = match free {
                Some(lease) => lease,
                None => new_lease(t, series, wanted)?,
            };
            let end = stop.min(start.saturating_add(wanted));
            if end < stop {
                let rest = "INSERT INTO lease (series, start, stop) VALUES (?, ?, ?)";
                t.execute(rest, params![series, end, stop])?;
            }
            let take = "UPDATE lease SET stop = ?, run = ? WHERE id = ?";
            t.execute(take, params![end, run, id])?;
            Ok(Lease {
                id,
                start: start as u64,
                stop: end as u64,
            })
        })
    }

    /// An exhaustive search has ended.
    pub fn conclude(&mut self, verdict: &Verdict) -> Result<()> {
        if !self.owner {
            return Ok(());
        }
        let text = serde_json::to_string(verdict).expect("plain data has a JSON form");
        let series = self.series;
        self.database.change(|t| {
            let sql = "UPDATE series SET verdict = ?, concluded = ? WHERE id = ?";
            t.execute(sql, params![text, now(), series]).map(drop)
        })
    }

    /// The run is over. `left`: what it leased and has not done, which others may take.
    pub fn leave(&mut self, left: &[Lease]) -> Result<()> {
        let (run, series) = (self.run, self.series);
        self.database.change(|t| {
            t.execute("DELETE FROM lease WHERE run = ?", [run])?;
            let mut free = t.prepare("INSERT INTO lease (series, start, stop) VALUES (?, ?, ?)")?;
            for lease in left {
                free.execute(params![series, lease.start as i64, lease.stop as i64])?;
            }
            t.execute("UPDATE series SET owner = NULL WHERE owner = ?", [run])?;
            let ended = "UPDATE run SET ended = ? WHERE id = ?";
            t.execute(ended, params![now(), run]).map(drop)
        })
    }
}

fn program(t: &Transaction<'_>, key: &Key) -> rusqlite::Result<i64> {
    let insert = "INSERT INTO program (path) VALUES (?) ON CONFLICT DO NOTHING";
    t.execute(insert, [&key.program])?;
    let find = "SELECT id FROM program WHERE path = ?";
    t.query_row(find, [&key.program], |r| r.get(0))
}

fn test(t: &Transaction<'_>, program: i64, key: &Key) -> rusqlite::Result<i64> {
    t.execute(
        "INSERT INTO test (program, build, circumstances, command, first_used, last_used)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5)
         ON CONFLICT DO UPDATE SET last_used = excluded.last_used",
        params![program, key.build, key.circumstances, key.command, now()],
    )?;
    let find = "SELECT id FROM test WHERE program = ? AND build = ? AND circumstances = ?";
    let which = params![program, key.build, key.circumstances];
    t.query_row(find, which, |r| r.get(0))
}

fn series(t: &Transaction<'_>, test: i64, key: &Key) -> rusqlite::Result<i64> {
    let which = params![test, key.policy, key.seed as i64];
    let insert = "INSERT INTO series (test, policy, seed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    t.execute(insert, which)?;
    let find = "SELECT id FROM series WHERE test = ? AND policy = ? AND seed = ?";
    t.query_row(find, which, |r| r.get(0))
}

/// The first range that nobody is working on.
fn free_lease(
    t: &Transaction<'_>,
    series: i64,
    run: i64,
    locks: &Locks,
) -> rusqlite::Result<Option<(i64, i64, i64)>> {
    let sql = "SELECT id, start, stop, run FROM lease
         WHERE series = ? AND start < stop ORDER BY start";
    let mut statement = t.prepare(sql)?;
    let mut rows = statement.query([series])?;
    while let Some(row) = rows.next()? {
        let holder: Option<i64> = row.get(3)?;
        if holder.is_none_or(|holder| holder != run && !is_alive(locks, holder)) {
            return Ok(Some((row.get(0)?, row.get(1)?, row.get(2)?)));
        }
    }
    Ok(None)
}

fn new_lease(t: &Transaction<'_>, series: i64, wanted: i64) -> rusqlite::Result<(i64, i64, i64)> {
    let next = "SELECT next FROM series WHERE id = ?";
    let start: i64 = t.query_row(next, [series], |r| r.get(0))?;
    let stop = start.saturating_add(wanted);
    let moved = "UPDATE series SET next = ? WHERE id = ?";
    t.execute(moved, params![stop, series])?;
    let insert = "INSERT INTO lease (series, start, stop) VALUES (?, ?, ?)";
    t.execute(insert, params![series, start, stop])?;
    Ok((t.last_insert_rowid(), start, stop))
}

/// Where that cannot be found out, the run counts as alive: its numbers are not touched.
fn is_alive(locks: &Locks, run: i64) -> bool {
    locks.is_held(run).unwrap_or(true)
}

/// The form in which a frontier is stored.
pub(super) fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Inverse of [`bytes`]; an incomplete word at the end is left out, and the search refuses the
/// rest.
pub(super) fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
