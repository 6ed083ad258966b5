//! What the workers of a run share of the corpus: numbers to run, and a batch to fill.

use super::batch::Batch;
use super::identity::Key;
use super::names::Names;
use super::numbers::{Lease, Numbers};
use super::series::{Corpus, Series, Verdict};
use super::view::Totals;
use super::write::{Known, NewFinding, Progress};
use crate::cli::CorpusOptions;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::policy::History;
use crate::summary::{self, Found, Summary, count};
use crate::terminal::visible;
use raddle_analyzer::hapset::knowledge::{Knowledge, Places};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A run that is killed loses at most so much of what it has not reported.
const INTERVAL: Duration = Duration::from_secs(1);
/// A run that is killed early loses no more than a part of its time, either: the first transactions
/// follow each other after this time, and after a quarter of the time of the run.
const FIRST_INTERVAL: Duration = Duration::from_millis(20);
/// Of the first executions every one is looked at for pairs, later one in [`RECORDED`].
const FIRST_RECORDED: u64 = 64;
const RECORDED: u64 = 16;
/// The first lease of a run without a known end, and the largest one.
const LEASES: (u64, u64) = (1024, 1 << 16);

/// Shared by the workers, which count executions, and the triage, which stores findings.
pub struct Keeper {
    account: Mutex<Ledger>,
    corpus: Mutex<Corpus>,
    names: Mutex<Names>,
    /// Predecessor pairs that earlier runs of this program have seen.
    pub knowledge: Knowledge,
    /// What earlier runs left of this search.
    pub series: Series,
    /// Findings of this program that earlier runs stored, by fingerprint.
    pub known: BTreeMap<String, Known>,
    /// `--new-only`: those are no findings of this run.
    pub new_only: bool,
}

/// Not in the database yet.
struct Ledger {
    batch: Batch,
    numbers: Numbers,
    /// Executions of this run so far.
    observed: u64,
    /// The next lease; how many numbers are still wanted, if that is known.
    lease: u64,
    wanted: Option<u64>,
    /// Failing executions that have not been examined.
    unexamined: u64,
    expected_output: Option<u64>,
    /// Transactions collected and, of those, the last one written.
    collected: u64,
    done: u64,
    begun: Instant,
    written: Instant,
    /// The last transaction failed.
    trouble: Option<Error>,
}

/// What one transaction is to write.
pub struct Pending {
    /// Their order, from 1.
    order: u64,
    batch: Batch,
    leases: Vec<Lease>,
    frontier: Option<Vec<u64>>,
    expected_output: Option<u64>,
}

/// What a run has added to the corpus, for the summary.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Account {
    pub directory: String,
    /// Executions of the same search in earlier runs.
    pub resumed_after: u64,
    pub before: Totals,
    pub after: Totals,
}

impl Account {
    /// Lines of the summary.
    pub fn text(&self) -> String {
        let (before, after) = (&self.before, &self.after);
        let new = |after: u64, before: u64| after.saturating_sub(before);
        let resumed = match self.resumed_after {
            0 => String::new(),
            n => format!(", resumed after {}", count(n, "execution")),
        };
        format!(
            "  corpus {}{resumed}: {} ({} new), {} ({} new)\n",
            visible(&self.directory),
            count(after.interleavings, "interleaving"),
            new(after.interleavings, before.interleavings),
            count(after.pairs, "predecessor pair"),
            new(after.pairs, before.pairs),
        )
    }
}

impl Keeper {
    /// Opens the corpus for one run. `wanted`: how many executions there will be, if that is known.
    pub fn open(
        dir: &Path,
        key: &Key,
        options: &CorpusOptions,
        wanted: Option<u64>,
        names: Names,
    ) -> Result<Keeper> {
        let (corpus, series) = Corpus::open(dir, key, options.corpus_anew)?;
        let known = corpus.known()?;
        let knowledge = corpus.knowledge()?;
        Ok(Keeper {
            account: Mutex::new(Ledger {
                batch: Batch::default(),
                numbers: Numbers::default(),
                observed: 0,
                lease: LEASES.0,
                wanted,
                unexamined: 0,
                expected_output: None,
                collected: 0,
                done: 0,
                begun: Instant::now(),
                written: Instant::now(),
                trouble: None,
            }),
            names: Mutex::new(names),
            knowledge,
            corpus: Mutex::new(corpus),
            series,
            known,
            new_only: options.new_only,
        })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn corpus(&self) -> MutexGuard<'_, Corpus> {
        self.corpus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a search that learns is to know from earlier runs.
    pub fn history(&self) -> Option<History> {
        // A search that goes on knows what it had learnt.
        let useful = !self.knowledge.is_empty() && self.series.frontier.is_none();
        let places = Box::new(self.names().again());
        useful.then(|| (self.knowledge.clone(), places as Box<dyn Places>))
    }

    /// The number of the next execution.
    pub fn number(&self) -> Result<u64> {
        let wanted = {
            let ledger = self.ledger();
            if let Some(n) = ledger.numbers.next() {
                return Ok(n);
            }
            ledger.wanted.unwrap_or(ledger.lease).min(LEASES.1)
        };
        // Whoever writes locks the corpus first and the ledger then.
        let lease = self.corpus().lease(wanted)?;
        let mut ledger = self.ledger();
        ledger.lease = (ledger.lease * 2).min(LEASES.1);
        let got = lease.stop - lease.start;
        ledger.wanted = ledger.wanted.map(|wanted| wanted.saturating_sub(got));
        ledger.numbers.lease(lease);
        Ok(lease.start)
    }

    /// That number is run.
    pub fn take(&self) {
        self.ledger().numbers.take();
    }

    /// Flags by which execution `n` records what is looked at.
    pub fn flags(&self, n: u64) -> u32 {
        match self.records(n) {
            true => flags::EVENTS,
            false => 0,
        }
    }

    /// Are the events of this execution looked at? Depends on nothing but its number.
    fn records(&self, n: u64) -> bool {
        n < FIRST_RECORDED || n.is_multiple_of(RECORDED)
    }

    /// Counts execution `n`. One that failed is not done until it is [`Keeper::examined`].
    /// `true`: it is time to write.
    pub fn observed(&self, n: u64, trace: &Trace, failed: bool) -> bool {
        let mut ledger = self.ledger();
        ledger.batch.add(trace, self.records(n));
        ledger.observed += 1;
        match failed {
            true => ledger.unexamined += 1,
            false => ledger.numbers.done(n),
        }
        let share = ledger.begun.elapsed() / 4;
        ledger.written.elapsed() >= share.clamp(FIRST_INTERVAL, INTERVAL)
    }

    /// All that execution `n` told has been stored or told.
    pub fn examined(&self, n: u64) {
        let mut ledger = self.ledger();
        ledger.unexamined = ledger.unexamined.saturating_sub(1);
        ledger.numbers.done(n);
    }

    /// What every execution has to print (`--same-output`).
    pub fn expect(&self, output: u64) {
        self.ledger().expected_output = Some(output);
    }

    /// A stored finding was seen once more.
    pub fn seen_again(&self, fingerprint: &str) {
        let mut ledger = self.ledger();
        let times = ledger.batch.sightings.entry(fingerprint.to_string());
        *times.or_default() += 1;
    }

    /// Takes out what is not written yet. `frontier` belongs to the same moment; it counts only
    /// where it leaves out no failing execution that might be lost.
    pub fn collect(&self, frontier: Option<Vec<u64>>) -> Pending {
        let mut ledger = self.ledger();
        ledger.written = Instant::now();
        ledger.collected += 1;
        let counted = self.series.executions + ledger.observed;
        let frontier = frontier.map(|row| [&[counted], &row[..]].concat());
        Pending {
            order: ledger.collected,
            batch: std::mem::take(&mut ledger.batch),
            leases: ledger.numbers.progress(),
            frontier: frontier.filter(|_| ledger.unexamined == 0),
            expected_output: ledger.expected_output,
        }
    }

    /// Writes; what could not be written is kept, and tried again with what follows.
    pub fn write(&self, pending: Pending) -> Vec<Option<Known>> {
        let mut corpus = self.corpus();
        let overtaken = pending.order < self.ledger().done;
        let pairs = self.names().statements(&pending.batch.pairs);
        let progress = Progress {
            batch: &pending.batch,
            pairs,
            leases: &pending.leases,
            frontier: pending.frontier.filter(|_| !overtaken),
            expected_output: pending.expected_output,
        };
        let result = corpus.write(&progress);
        let mut ledger = self.ledger();
        match result {
            Ok(known) => {
                ledger.trouble = None;
                ledger.done = ledger.done.max(pending.order);
                ledger.numbers.known(&pending.leases);
                known
            }
            Err(error) => {
                ledger.trouble = Some(error);
                ledger.batch.put_back(pending.batch);
                Vec::new()
            }
        }
    }

    /// Stores a finding, with all that went before it, so that it may be told. What the corpus knew
    /// of it.
    pub fn finding(&self, finding: NewFinding) -> Option<Known> {
        self.ledger().batch.findings.push(finding);
        self.write(self.collect(None)).pop().flatten()
    }

    /// The run is over. `verdict`: an exhaustive search has ended.
    pub fn finish(
        &self,
        frontier: Option<Vec<u64>>,
        verdict: Option<Verdict>,
    ) -> (Option<Account>, Option<Error>) {
        self.write(self.collect(frontier));
        if let Some(error) = self.ledger().trouble.take() {
            return (None, Some(error));
        }
        let unused = self.ledger().numbers.end();
        let mut corpus = self.corpus();
        let end = || {
            if let Some(verdict) = verdict {
                corpus.conclude(&verdict)?;
            }
            corpus.leave(&unused)?;
            Result::Ok(Account {
                directory: corpus.dir().to_string_lossy().into_owned(),
                resumed_after: self.series.executions,
                before: self.series.totals,
                after: corpus.totals()?,
            })
        };
        match end() {
            Ok(account) => (Some(account), None),
            Err(error) => (None, Some(error)),
        }
    }

    /// An error for a frontier that the search refuses.
    pub fn unusable(&self) -> Error {
        Error::new(
            Exit::InputOutput,
            format!(
                "what is left to explore is not readable in the corpus {}",
                self.corpus().dir().display()
            ),
            "explore from the start with --corpus-anew",
        )
    }

    /// The summary of an exhaustive search that an earlier run ended; `None` where none did.
    pub fn remembered(&self, policy: String, seed: u64) -> Result<Option<Summary>> {
        let Some(verdict) = &self.series.verdict else {
            return Ok(None);
        };
        let mut summary = Summary::new(policy, seed);
        summary.findings = self.findings()?;
        summary.executions = verdict.executions;
        summary.classes = verdict.classes;
        summary.complete = true;
        summary.uncontrolled = verdict.uncontrolled.clone();
        summary.notes = verdict.notes.clone();
        summary.notes.push(format!(
            "all this was explored before, until {} UTC; --corpus-anew explores again",
            self.series.concluded.as_deref().unwrap_or("?")
        ));
        summary.verdict = match (summary.findings.is_empty(), verdict.within_bounds) {
            (false, _) => summary::Verdict::Finding,
            (true, true) => summary::Verdict::ExploredWithinBounds,
            (true, false) => summary::Verdict::Explored,
        };
        Ok(Some(summary))
    }

    /// Adds what earlier runs of the same exhaustive search have found: its verdict is about all of
    /// it.
    pub fn add_findings(&self, summary: &mut Summary) -> Result<()> {
        if self.new_only || self.series.executions == 0 {
            return Ok(());
        }
        let own = |found: &Found| {
            summary
                .findings
                .iter()
                .any(|f| f.fingerprint == found.fingerprint)
        };
        let mut earlier = self.findings()?;
        earlier.retain(|found| !own(found));
        summary.findings.extend(earlier);
        Ok(())
    }

    /// The findings of this search in earlier runs.
    fn findings(&self) -> Result<Vec<Found>> {
        let mut findings = Vec::new();
        for (path, content) in self.corpus().witnesses()? {
            let Ok(witness) = witness::decode(&content) else {
                continue;
            };
            let found = Found::new(&witness, path.map(PathBuf::from));
            let known = self.known.get(&found.fingerprint);
            findings.push(Found {
                known_since: known.map(|known| known.since.clone()),
                seen: known.map_or(1, |known| known.seen),
                ..found
            });
        }
        Ok(findings)
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
