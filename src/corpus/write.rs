//! Writing down what was learnt: counts, interleavings, pairs, findings.

use super::batch::{Batch, PairSeen};
use super::now;
use super::numbers::Lease;
use super::series::{Corpus, bytes};
use crate::error::Result;
use raddle_analyzer::hapset::knowledge::{Line, Statement};
use rusqlite::{OptionalExtension, Transaction, params};
use std::collections::BTreeMap;

/// So many different interleavings of one test are kept; of more it is only known how many
/// executions there were.
pub const MOST_SCHEDULES: i64 = 1_000_000;

/// One transaction's worth.
pub struct Progress<'a> {
    pub batch: &'a Batch,
    /// The batch's pairs, by statements.
    pub pairs: BTreeMap<(Statement, Statement), PairSeen>,
    pub leases: &'a [Lease],
    pub frontier: Option<Vec<u64>>,
    pub expected_output: Option<u64>,
}

/// A finding as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFinding {
    pub fingerprint: String,
    pub class: String,
    pub message: String,
    pub policy: String,
    pub seed: u64,
    /// Number of the execution, from 1.
    pub execution: u64,
    pub preemptions: u64,
    /// Where the witness was written, if that was possible.
    pub path: Option<String>,
    /// The witness itself.
    pub witness: Vec<u8>,
}

/// What the corpus knew of a finding before.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Known {
    /// When it was seen first, in UTC: "2026-11-22 00:40".
    pub since: String,
    /// In how many executions it was seen before this run.
    pub seen: u64,
    /// Was a witness of it written anywhere but here?
    pub delivered: bool,
}

impl Corpus {
    /// Writes down progress, and with it new findings: all or nothing. What was known of each
    /// finding before.
    pub(super) fn write(&mut self, progress: &Progress<'_>) -> Result<Vec<Option<Known>>> {
        let place = Place {
            program: self.program,
            test: self.test,
            series: self.series,
            run: self.run,
            owner: self.owner,
        };
        self.database.change(|t| {
            place.counts(t, progress)?;
            place.schedules(t, progress.batch)?;
            place.sightings(t, progress.batch)?;
            let findings = progress.batch.findings.iter();
            findings.map(|finding| place.finding(t, finding)).collect()
        })
    }

    /// What the corpus knows of each finding of this program, by fingerprint.
    pub fn known(&self) -> Result<BTreeMap<String, Known>> {
        self.database.ask(|c| {
            let sql = format!(
                "SELECT fingerprint, {SINCE}, seen, path IS NOT NULL FROM finding
                 WHERE program = ?"
            );
            let mut statement = c.prepare(&sql)?;
            let rows = statement.query_map([self.program], |row| {
                let known = Known {
                    since: row.get(1)?,
                    seen: row.get::<_, i64>(2)? as u64,
                    delivered: row.get(3)?,
                };
                Ok((row.get(0)?, known))
            })?;
            rows.collect()
        })
    }
}

/// The calls that led to a statement, as they are stored.
fn context(statement: &Statement) -> String {
    match statement.context.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&statement.context).expect("plain data has a JSON form"),
    }
}

/// First sight of a finding, for people.
pub const SINCE: &str = "strftime('%Y-%m-%d %H:%M', first_seen, 'unixepoch')";

/// The rows that a run writes to.
struct Place {
    program: i64,
    test: i64,
    series: i64,
    run: i64,
    owner: bool,
}

impl Place {
    fn counts(&self, t: &Transaction<'_>, progress: &Progress<'_>) -> rusqlite::Result<()> {
        let n = progress.batch.executions as i64;
        let before = "SELECT executions FROM program WHERE id = ?";
        let before: i64 = t.query_row(before, [self.program], |r| r.get(0))?;
        self.pairs(t, progress, before)?;
        t.execute(
            "UPDATE program SET executions = executions + ?, recorded = recorded + ? WHERE id = ?",
            params![n, progress.batch.recorded as i64, self.program],
        )?;
        let tables = [
            ("test", self.test),
            ("series", self.series),
            ("run", self.run),
        ];
        for (table, id) in tables {
            let sql = format!("UPDATE {table} SET executions = executions + ? WHERE id = ?");
            t.execute(&sql, params![n, id])?;
        }
        if let (true, Some(frontier)) = (self.owner, &progress.frontier) {
            let sql = "UPDATE series SET frontier = ? WHERE id = ?";
            t.execute(sql, params![bytes(frontier), self.series])?;
        }
        if let Some(hash) = progress.expected_output {
            let sql =
                "UPDATE series SET expected_output = coalesce(expected_output, ?) WHERE id = ?";
            t.execute(sql, params![hash as i64, self.series])?;
        }
        // A lease that another run took over, because this one was taken for dead, is its own.
        let mut lease =
            t.prepare("UPDATE lease SET start = max(start, ?) WHERE id = ? AND run = ?")?;
        for l in progress.leases {
            lease.execute(params![l.start as i64, l.id, self.run])?;
        }
        let done = "DELETE FROM lease WHERE run = ? AND start >= stop";
        t.execute(done, [self.run])?;
        Ok(())
    }

    fn pairs(
        &self,
        t: &Transaction<'_>,
        progress: &Progress<'_>,
        before: i64,
    ) -> rusqlite::Result<()> {
        let mut insert = t.prepare(
            "INSERT INTO statement (file, function, line, context) VALUES (?, ?, ?, ?)
             ON CONFLICT DO NOTHING",
        )?;
        let mut find = t.prepare(
            "SELECT id FROM statement
             WHERE file = ? AND function = ? AND line = ? AND context = ?",
        )?;
        let mut id = |s: &Statement| -> rusqlite::Result<i64> {
            let Line {
                file,
                function,
                line,
            } = &s.place;
            let names = params![file, function, line, context(s)];
            if let Some(id) = find.query_row(names, |r| r.get(0)).optional()? {
                return Ok(id);
            }
            insert.execute(names)?;
            Ok(t.last_insert_rowid())
        };
        let mut count = t.prepare(
            "INSERT INTO pair (program, before, after, seen, first_at) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET seen = seen + excluded.seen",
        )?;
        for ((earlier, later), seen) in &progress.pairs {
            let (earlier, later) = (id(earlier)?, id(later)?);
            let first = before + seen.first as i64;
            count.execute(params![
                self.program,
                earlier,
                later,
                seen.times as i64,
                first
            ])?;
        }
        Ok(())
    }

    fn schedules(&self, t: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
        let kept = "SELECT schedules FROM test WHERE id = ?";
        let mut kept: i64 = t.query_row(kept, [self.test], |r| r.get(0))?;
        let mut not_kept = 0;
        let mut again =
            t.prepare("UPDATE schedule SET seen = seen + ? WHERE test = ? AND hash = ?")?;
        let mut insert = t.prepare("INSERT INTO schedule (test, hash, seen) VALUES (?, ?, ?)")?;
        let mut sorted: Vec<(i64, i64)> = batch
            .schedules
            .iter()
            .map(|(h, n)| (*h as i64, *n as i64))
            .collect();
        sorted.sort_unstable();
        for (hash, times) in sorted {
            if again.execute(params![times, self.test, hash])? > 0 {
                continue;
            }
            if kept < MOST_SCHEDULES {
                insert.execute(params![self.test, hash, times])?;
                kept += 1;
            } else {
                not_kept += times;
            }
        }
        let sql = "UPDATE test SET schedules = ?, not_kept = not_kept + ? WHERE id = ?";
        t.execute(sql, params![kept, not_kept, self.test])?;
        Ok(())
    }

    /// Findings that were stored before.
    fn sightings(&self, t: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
        for (fingerprint, times) in &batch.sightings {
            let sql = "SELECT id FROM finding WHERE program = ? AND fingerprint = ?";
            let which = params![self.program, fingerprint];
            let id: Option<i64> = t.query_row(sql, which, |r| r.get(0)).optional()?;
            let Some(id) = id else { continue };
            let sql = "UPDATE finding SET seen = seen + ?, last_seen = ? WHERE id = ?";
            t.execute(sql, params![*times as i64, now(), id])?;
            self.sighted(t, id, *times as i64)?;
        }
        Ok(())
    }

    fn sighted(&self, t: &Transaction<'_>, finding: i64, times: i64) -> rusqlite::Result<()> {
        t.execute(
            "INSERT INTO sighting (series, finding, seen) VALUES (?, ?, ?)
             ON CONFLICT DO UPDATE SET seen = seen + excluded.seen",
            params![self.series, finding, times],
        )
        .map(drop)
    }

    /// Stores a finding, or counts it where it is known; of two witnesses the one with fewer
    /// preemptions is kept, and one that was written anywhere above one that was not.
    fn finding(&self, t: &Transaction<'_>, f: &NewFinding) -> rusqlite::Result<Option<Known>> {
        let which = params![self.program, f.fingerprint];
        let sql = format!(
            "SELECT {SINCE}, seen, path IS NOT NULL FROM finding
             WHERE program = ? AND fingerprint = ?"
        );
        let known = t
            .query_row(&sql, which, |row| {
                Ok(Known {
                    since: row.get(0)?,
                    seen: row.get::<_, i64>(1)? as u64,
                    delivered: row.get(2)?,
                })
            })
            .optional()?;
        let numbers = (f.seed as i64, f.execution as i64, f.preemptions as i64);
        t.execute(
            "INSERT INTO finding (program, fingerprint, class, message, seen, first_seen,
                 last_seen, policy, seed, execution, preemptions, path, witness)
             VALUES (?1, ?2, ?3, ?4, 1, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT DO UPDATE SET seen = seen + 1, last_seen = excluded.last_seen",
            params![
                self.program,
                f.fingerprint,
                f.class,
                f.message,
                now(),
                f.policy,
                numbers.0,
                numbers.1,
                numbers.2,
                f.path,
                f.witness
            ],
        )?;
        t.execute(
            "UPDATE finding SET policy = ?, seed = ?, execution = ?, preemptions = ?, path = ?,
                 witness = ?
             WHERE program = ? AND fingerprint = ?
                 AND (preemptions > ?4 OR path IS NULL AND ?5 IS NOT NULL)",
            params![
                f.policy,
                numbers.0,
                numbers.1,
                numbers.2,
                f.path,
                f.witness,
                self.program,
                f.fingerprint
            ],
        )?;
        let id = "SELECT id FROM finding WHERE program = ? AND fingerprint = ?";
        let id: i64 = t.query_row(id, which, |r| r.get(0))?;
        self.sighted(t, id, 1)?;
        Ok(known)
    }
}
