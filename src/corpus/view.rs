//! Reading a corpus: what `raddle coverage` shows.

use super::database::Database;
use super::series::Corpus;
use crate::error::Result;
use raddle_analyzer::estimate::Sightings;
use raddle_analyzer::hapset::knowledge::{Knowledge, Line, Statement};
use rusqlite::{Connection, params};
use serde::Serialize;
use std::path::Path;

/// What there is of one program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub executions: u64,
    pub pairs: u64,
    pub findings: u64,
    /// Different interleavings of this build under these circumstances.
    pub interleavings: u64,
}

impl Corpus {
    /// Of this run's program.
    pub fn totals(&self) -> Result<Totals> {
        let sql = "SELECT program.executions,
                 (SELECT count(*) FROM pair WHERE program = ?1),
                 (SELECT count(*) FROM finding WHERE program = ?1),
                 (SELECT schedules FROM test WHERE id = ?2)
             FROM program WHERE id = ?1";
        self.database.ask(|c| {
            c.query_row(sql, params![self.program, self.test], |row| {
                let number = |i: usize| row.get::<_, i64>(i).map(|n| n as u64);
                Ok(Totals {
                    executions: number(0)?,
                    pairs: number(1)?,
                    findings: number(2)?,
                    interleavings: number(3)?,
                })
            })
        })
    }

    /// The predecessor pairs seen in this run's program, of whatever build.
    pub fn knowledge(&self) -> Result<Knowledge> {
        let sql = "SELECT b.file, b.function, b.line, b.context, a.file, a.function, a.line,
                 a.context, pair.seen
             FROM pair JOIN statement AS b ON b.id = pair.before
                 JOIN statement AS a ON a.id = pair.after
             WHERE program = ? ORDER BY pair.before, pair.after";
        let mut knowledge = Knowledge::default();
        self.database.ask(|c| {
            let mut statement = c.prepare(sql)?;
            let mut rows = statement.query([self.program])?;
            while let Some(row) = rows.next()? {
                let before = knowledge.id(statement_at(row, 0)?);
                let after = knowledge.id(statement_at(row, 4)?);
                knowledge.count(before, after, unsigned(row, 8)?);
            }
            Ok(())
        })?;
        Ok(knowledge)
    }

    /// The witnesses of the findings that this series saw: the path of each, and its content.
    pub fn witnesses(&self) -> Result<Vec<(Option<String>, Vec<u8>)>> {
        let sql = "SELECT path, witness FROM finding JOIN sighting ON finding.id = sighting.finding
             WHERE sighting.series = ? ORDER BY finding.id";
        self.database.ask(|c| {
            let mut statement = c.prepare(sql)?;
            let rows = statement.query_map([self.series], |r| Ok((r.get(0)?, r.get(1)?)))?;
            rows.collect()
        })
    }
}

/// Everything that a corpus holds, for people and for `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    pub programs: Vec<ProgramView>,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramView {
    pub program: String,
    pub executions: u64,
    /// Executions whose events were looked at for pairs.
    pub recorded: u64,
    pub pairs: Seen,
    /// Pairs known after so many executions, of which a part was looked at.
    pub growth: Vec<GrowthPoint>,
    pub tests: Vec<TestView>,
    pub findings: Vec<FindingView>,
}

/// How many members there are, and an estimate of what is left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seen {
    pub seen: u64,
    pub once: u64,
    pub twice: u64,
    /// [`Sightings::unseen_mass`]; `null` where nothing was looked at, or not all was kept.
    pub unseen_mass: Option<f64>,
    /// [`Sightings::richness`]
    pub estimated_total: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GrowthPoint {
    pub executions: u64,
    pub pairs: u64,
}

/// One build of a program under one set of circumstances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestView {
    pub command: String,
    pub build: String,
    pub last_used: String,
    pub executions: u64,
    pub interleavings: Seen,
    pub series: Vec<SeriesView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeriesView {
    pub policy: String,
    pub seed: u64,
    pub executions: u64,
    /// When the search ended with everything explored.
    pub explored: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingView {
    pub class: String,
    pub message: String,
    pub fingerprint: String,
    pub seen: u64,
    pub first_seen: String,
    pub last_seen: String,
    pub policy: String,
    pub seed: u64,
    pub execution: u64,
    pub preemptions: u64,
    pub witness: Option<String>,
}

/// Points of a growth curve.
const POINTS: u64 = 40;

impl View {
    /// Reads all that is in a corpus directory; writes nothing.
    pub fn read(dir: &Path) -> Result<View> {
        let database = Database::view(dir)?;
        database.ask(|c| {
            let sql = "SELECT id, path, executions, recorded FROM program ORDER BY path";
            let mut statement = c.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                let id: i64 = row.get(0)?;
                program(c, id, row)
            })?;
            Ok(View {
                programs: rows.collect::<rusqlite::Result<_>>()?,
            })
        })
    }
}

fn program(c: &Connection, id: i64, row: &rusqlite::Row<'_>) -> rusqlite::Result<ProgramView> {
    let executions = unsigned(row, 2)?;
    let recorded = unsigned(row, 3)?;
    let mut statement = c.prepare("SELECT seen, first_at FROM pair WHERE program = ?")?;
    let rows = statement.query_map([id], |r| Ok((unsigned(r, 0)?, unsigned(r, 1)?)))?;
    let pairs: Vec<(u64, u64)> = rows.collect::<rusqlite::Result<_>>()?;
    let sightings = Sightings::count(recorded, pairs.iter().map(|p| p.0));
    let mut first: Vec<u64> = pairs.iter().map(|p| p.1).collect();
    first.sort_unstable();
    Ok(ProgramView {
        program: row.get(1)?,
        executions,
        recorded,
        pairs: seen(sightings, true),
        growth: growth(executions, &first),
        tests: tests(c, id)?,
        findings: findings(c, id)?,
    })
}

fn seen(sightings: Sightings, all_kept: bool) -> Seen {
    let known = all_kept && sightings.samples > 0;
    Seen {
        seen: sightings.seen,
        once: sightings.once,
        twice: sightings.twice,
        unseen_mass: sightings.unseen_mass().filter(|_| known),
        estimated_total: known.then(|| sightings.richness()),
    }
}

/// How many pairs were known after equal shares of the executions. `first`: when each was seen
/// first, sorted.
fn growth(executions: u64, first: &[u64]) -> Vec<GrowthPoint> {
    let points = POINTS.min(executions);
    (1..=points)
        .map(|k| {
            let at = (u128::from(executions) * u128::from(k) / u128::from(points)) as u64;
            GrowthPoint {
                executions: at,
                pairs: first.partition_point(|&f| f <= at) as u64,
            }
        })
        .collect()
}

fn tests(c: &Connection, program: i64) -> rusqlite::Result<Vec<TestView>> {
    let sql = "SELECT id, command, build, strftime('%Y-%m-%d %H:%M', last_used, 'unixepoch'),
             executions, not_kept, schedules
         FROM test WHERE program = ? ORDER BY last_used, id";
    let mut statement = c.prepare(sql)?;
    let rows = statement.query_map([program], |row| {
        let id: i64 = row.get(0)?;
        let executions = unsigned(row, 4)?;
        let not_kept = unsigned(row, 5)?;
        let counts = "SELECT sum(seen = 1), sum(seen = 2) FROM schedule WHERE test = ?";
        let (once, twice): (Option<i64>, Option<i64>) =
            c.query_row(counts, [id], |r| Ok((r.get(0)?, r.get(1)?)))?;
        let sightings = Sightings {
            samples: executions,
            seen: unsigned(row, 6)?,
            once: once.unwrap_or(0) as u64,
            twice: twice.unwrap_or(0) as u64,
        };
        Ok(TestView {
            command: row.get(1)?,
            build: row.get(2)?,
            last_used: row.get(3)?,
            executions,
            interleavings: seen(sightings, not_kept == 0),
            series: series(c, id)?,
        })
    })?;
    rows.collect()
}

fn series(c: &Connection, test: i64) -> rusqlite::Result<Vec<SeriesView>> {
    let sql = "SELECT policy, seed, executions,
             strftime('%Y-%m-%d %H:%M', concluded, 'unixepoch')
         FROM series WHERE test = ? ORDER BY id";
    let mut statement = c.prepare(sql)?;
    let rows = statement.query_map([test], |row| {
        Ok(SeriesView {
            policy: row.get(0)?,
            seed: unsigned(row, 1)?,
            executions: unsigned(row, 2)?,
            explored: row.get(3)?,
        })
    })?;
    rows.collect()
}

fn findings(c: &Connection, program: i64) -> rusqlite::Result<Vec<FindingView>> {
    let sql = "SELECT class, message, fingerprint, seen,
             strftime('%Y-%m-%d %H:%M', first_seen, 'unixepoch'),
             strftime('%Y-%m-%d %H:%M', last_seen, 'unixepoch'),
             policy, seed, execution, preemptions, path
         FROM finding WHERE program = ? ORDER BY first_seen, id";
    let mut statement = c.prepare(sql)?;
    let rows = statement.query_map([program], |row| {
        Ok(FindingView {
            class: row.get(0)?,
            message: row.get(1)?,
            fingerprint: row.get(2)?,
            seen: unsigned(row, 3)?,
            first_seen: row.get(4)?,
            last_seen: row.get(5)?,
            policy: row.get(6)?,
            seed: unsigned(row, 7)?,
            execution: unsigned(row, 8)?,
            preemptions: unsigned(row, 9)?,
            witness: row.get(10)?,
        })
    })?;
    rows.collect()
}

/// The statement in four columns from this one on.
fn statement_at(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Statement> {
    let context: String = row.get(column + 3)?;
    Ok(Statement {
        place: Line {
            file: row.get(column)?,
            function: row.get(column + 1)?,
            line: row.get(column + 2)?,
        },
        context: serde_json::from_str(&context).unwrap_or_default(),
    })
}

fn unsigned(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|n| n as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_counts_what_was_seen_first_until_then() {
        let points = |executions, first: &[u64]| {
            let points = growth(executions, first);
            let points = points.iter().map(|p| (p.executions, p.pairs));
            points.collect::<Vec<_>>()
        };
        assert_eq!(points(0, &[]), []);
        assert_eq!(points(3, &[1, 1, 3]), [(1, 2), (2, 2), (3, 3)]);
        let long = points(1_000_000, &[1, 500_000, 1_000_000]);
        assert_eq!(long.len() as u64, POINTS);
        assert_eq!(long[19], (500_000, 2));
        assert_eq!(long[39], (1_000_000, 3));
    }
}
