//! The database layer, with a fault at every step.

use super::batch::{Batch, PairSeen};
use super::database::{Database, FILE, is_whole};
use super::identity::Key;
use super::series::{Corpus, Verdict};
use super::view::View;
use super::write::{NewFinding, Progress};
use crate::error::{Error, Result};
use crate::exit::Exit;
use raddle_analyzer::hapset::knowledge::{Line, Statement};
use raddle_analyzer::sampling::seed_of;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

fn key(build: &str, policy: &str, exhaustive: bool) -> Key {
    Key {
        program: "/p/prog".to_string(),
        build: build.to_string(),
        circumstances: "c".to_string(),
        command: "./prog x".to_string(),
        policy: policy.to_string(),
        seed: u64::MAX,
        exhaustive,
    }
}

fn at(line: u32) -> Statement {
    let line = Line {
        file: "a.c".to_string(),
        line,
        function: "f".to_string(),
    };
    Statement {
        context: vec![line.clone(); line.line as usize % 2],
        place: line,
    }
}

fn finding(fingerprint: &str, preemptions: u64) -> NewFinding {
    NewFinding {
        fingerprint: fingerprint.to_string(),
        class: "crash".to_string(),
        message: "boom".to_string(),
        policy: "random".to_string(),
        seed: 1,
        execution: 5,
        preemptions,
        path: None,
        witness: format!("witness with {preemptions}").into_bytes(),
    }
}

/// Stores 10 executions with two pairs, three interleavings and one finding.
fn store(corpus: &mut Corpus) -> Result<Vec<Option<super::Known>>> {
    let mut batch = Batch {
        executions: 10,
        recorded: 4,
        ..Batch::default()
    };
    batch.schedules.extend([(1, 1), (u64::MAX, 2), (3, 7)]);
    batch.findings.push(finding("f1", 3));
    let seen = |times, first| PairSeen { times, first };
    let lease = corpus.lease(10)?;
    let done = super::numbers::Lease {
        start: lease.stop,
        ..lease
    };
    corpus.write(&Progress {
        batch: &batch,
        pairs: BTreeMap::from([((at(1), at(2)), seen(1, 2)), ((at(2), at(1)), seen(3, 9))]),
        leases: &[done],
        frontier: Some(vec![10, 2, u64::MAX]),
        expected_output: Some(u64::MAX),
    })
}

fn filled() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (mut corpus, series) =
        Corpus::open(dir.path(), &key("b1", "random", false), false).unwrap();
    assert_eq!(series, super::series::Series::default());
    assert_eq!(store(&mut corpus).unwrap(), [None]);
    corpus.leave(&[]).unwrap();
    dir
}

fn content(dir: &Path) -> Vec<u8> {
    std::fs::read(dir.join(FILE)).unwrap()
}

/// What an error must be: one line, the documented exit code, and a way out.
fn is_clear(error: &Error) {
    assert_eq!(error.exit, Exit::InputOutput, "{error}");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    assert!(!error.remedy.is_empty(), "{error}");
}

#[test]
fn what_was_stored_is_there_for_the_next_run() {
    let dir = filled();
    let (mut corpus, series) =
        Corpus::open(dir.path(), &key("b1", "random", false), false).unwrap();
    assert_eq!(series.executions, 10);
    assert_eq!(series.frontier, Some(vec![2, u64::MAX]));
    assert_eq!(series.expected_output, Some(u64::MAX));
    assert_eq!((series.totals.pairs, series.totals.interleavings), (2, 3));
    let knowledge = corpus.knowledge().unwrap();
    assert!(knowledge.contains(&at(1), &at(2)) && knowledge.contains(&at(2), &at(1)));
    let known = store(&mut corpus).unwrap();
    assert_eq!(known[0].as_ref().unwrap().seen, 1);
    let view = View::read(dir.path()).unwrap();
    let program = &view.programs[0];
    assert_eq!((program.executions, program.recorded), (20, 8));
    assert_eq!(
        (program.pairs.seen, program.pairs.once, program.pairs.twice),
        (2, 0, 1)
    );
    assert_eq!(program.findings[0].seen, 2);
    assert_eq!(program.tests[0].series[0].seed, u64::MAX);
    assert_eq!(program.growth.last().unwrap().pairs, 2);
    assert_eq!(program.growth[0].pairs, 0);
}

#[test]
fn another_build_starts_from_zero_and_knows_pairs_and_findings() {
    let dir = filled();
    let (corpus, series) = Corpus::open(dir.path(), &key("b2", "random", false), false).unwrap();
    assert_eq!((series.executions, series.frontier), (0, None));
    assert_eq!((series.totals.pairs, series.totals.findings), (2, 1));
    assert!(corpus.known().unwrap().contains_key("f1"));
}

#[test]
fn the_witness_with_fewer_preemptions_is_kept() {
    let dir = filled();
    let (mut corpus, _) = Corpus::open(dir.path(), &key("b1", "random", false), false).unwrap();
    for (preemptions, kept) in [(4, 3), (1, 1), (2, 1)] {
        let mut batch = Batch::default();
        batch.findings.push(finding("f1", preemptions));
        corpus.write(&plain(&batch)).unwrap();
        let witness = corpus.witnesses().unwrap().remove(0).1;
        assert_eq!(witness, format!("witness with {kept}").as_bytes());
    }
}

fn plain(batch: &Batch) -> Progress<'_> {
    Progress {
        batch,
        pairs: BTreeMap::new(),
        leases: &[],
        frontier: None,
        expected_output: None,
    }
}

#[test]
fn numbers_are_never_given_twice_and_none_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let key = key("b1", "random", false);
    let open = || Corpus::open(dir.path(), &key, false).unwrap().0;
    let (mut one, mut two) = (open(), open());
    let range = |corpus: &mut Corpus, wanted| {
        let lease = corpus.lease(wanted).unwrap();
        (lease.start, lease.stop)
    };
    assert_eq!(range(&mut one, 10), (0, 10));
    assert_eq!(range(&mut two, 5), (10, 15));
    assert_eq!(range(&mut one, 1), (15, 16));
    // It dies without a word: as a killed process does, it loses its lock.
    drop(one);
    assert_eq!(range(&mut two, 4), (0, 4));
    assert_eq!(range(&mut two, 100), (4, 10));
    assert_eq!(range(&mut two, 100), (15, 16));
    assert_eq!(range(&mut two, 2), (16, 18));
    // This one says what it has not done.
    let left = super::numbers::Lease {
        id: 0,
        start: 5,
        stop: 7,
    };
    two.leave(&[left]).unwrap();
    let mut three = open();
    assert_eq!(range(&mut three, 9), (5, 7));
    assert_eq!(range(&mut three, 1), (18, 19));
}

#[test]
fn an_exhaustive_search_is_one_runs_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let key = key("b1", "dfs", true);
    let verdict = |executions| Verdict {
        executions,
        classes: Some(2),
        within_bounds: false,
        notes: vec!["n".to_string()],
        uncontrolled: Vec::new(),
    };
    let (mut one, series) = Corpus::open(dir.path(), &key, false).unwrap();
    assert!(!series.shared);
    let (mut two, series) = Corpus::open(dir.path(), &key, false).unwrap();
    assert!(series.shared);
    two.conclude(&verdict(1)).unwrap();
    let progress = |frontier| Progress {
        frontier: Some(vec![10, frontier]),
        ..plain(Box::leak(Box::default()))
    };
    one.write(&progress(7)).unwrap();
    two.write(&progress(8)).unwrap();
    drop((one, two));
    let (mut three, series) = Corpus::open(dir.path(), &key, false).unwrap();
    assert_eq!((series.shared, series.verdict), (false, None));
    assert_eq!(series.frontier, Some(vec![7]));
    three.conclude(&verdict(9)).unwrap();
    drop(three);
    let (four, series) = Corpus::open(dir.path(), &key, false).unwrap();
    assert_eq!(series.verdict, Some(verdict(9)));
    drop(four);
    let (_, series) = Corpus::open(dir.path(), &key, true).unwrap();
    assert_eq!((series.verdict, series.frontier), (None, None));
}

/// Every table in turn is missing when a transaction comes to it: an error, and nothing of the
/// transaction is there.
#[test]
fn a_transaction_that_fails_at_any_step_leaves_nothing() {
    let tables = [
        "program",
        "test",
        "series",
        "run",
        "lease",
        "schedule",
        "statement",
        "pair",
        "finding",
        "sighting",
    ];
    for table in tables {
        let dir = filled();
        let key = key("b1", "random", false);
        let (mut corpus, _) = Corpus::open(dir.path(), &key, false).unwrap();
        let rename = |from: &str, to: &str| {
            let mut other = Database::open(dir.path()).unwrap();
            let sql = format!("PRAGMA legacy_alter_table = ON; ALTER TABLE {from} RENAME TO {to}");
            other.change(|t| t.execute_batch(&sql)).unwrap();
        };
        rename(table, "gone");
        is_clear(&store(&mut corpus).unwrap_err());
        rename("gone", table);
        drop(corpus);
        let program = View::read(dir.path()).unwrap().programs.remove(0);
        assert_eq!(
            (program.executions, program.findings[0].seen),
            (10, 1),
            "{table}"
        );
        assert_eq!(program.pairs.once, 1, "{table}");
    }
}

#[test]
fn a_full_disk_is_said_and_what_was_there_stays() {
    let dir = filled();
    let mut database = Database::open(dir.path()).unwrap();
    database
        .ask(|c| c.pragma_query_value(None, "page_count", |r| r.get::<_, i64>(0)))
        .and_then(|pages| {
            database.ask(|c| c.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())))
        })
        .unwrap();
    let big = vec![0u8; 1 << 20];
    let error = database
        .change(|t| t.execute("UPDATE finding SET witness = ?", [&big]))
        .unwrap_err();
    is_clear(&error);
    assert!(error.cause.contains("full"), "{error}");
    drop(database);
    assert_eq!(View::read(dir.path()).unwrap().programs[0].executions, 10);
}

/// Files cut short, and files with bytes changed: an error that says so, or an answer; never a
/// panic, and what an error is said of stays as it was.
#[test]
fn damaged_files_are_told_and_left_alone() {
    let original = content(filled().path());
    let mut refused = 0;
    for round in 0..150u64 {
        let random = |n| seed_of(round, n) as usize;
        let mut bytes = original.clone();
        match round % 2 {
            0 => bytes.truncate(1 + random(0) % (original.len() - 1)),
            _ => (0..1 + random(1) % 40).for_each(|i| {
                let place = random(2 + i as u64) % original.len();
                bytes[place] = random(99 + i as u64) as u8;
            }),
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), &bytes).unwrap();
        let viewed = View::read(dir.path());
        if let Err(error) = &viewed {
            is_clear(error);
            assert_eq!(content(dir.path()), bytes, "round {round}");
        }
        match Corpus::open(dir.path(), &key("b1", "random", false), false) {
            Ok((mut corpus, _)) => drop(store(&mut corpus).map_err(|e| is_clear(&e))),
            Err(error) => is_clear(&error),
        }
        let cut = round % 2 == 0;
        assert!(
            !cut || viewed.is_err(),
            "round {round}: {} bytes",
            bytes.len()
        );
        refused += u32::from(viewed.is_err());
    }
    assert!(refused >= 75, "{refused}");
}

#[test]
fn what_is_no_corpus_of_this_format_is_refused() {
    let sql = |text: &'static str| {
        move |dir: &Path| {
            let mut database = Database::open(dir).unwrap();
            database.change(|t| t.execute_batch(text)).unwrap();
        }
    };
    type Prepare = Box<dyn Fn(&Path)>;
    let bytes = |bytes: &'static [u8]| -> Prepare {
        Box::new(move |dir: &Path| std::fs::write(dir.join(FILE), bytes).unwrap())
    };
    let table: [(Prepare, &str); 5] = [
        (Box::new(sql("PRAGMA user_version = 2")), "format 2"),
        (Box::new(sql("PRAGMA user_version = 0")), "another program"),
        (
            Box::new(sql("PRAGMA application_id = 1")),
            "another program",
        ),
        (
            bytes(b"not a database at all, but long enough to be looked at as one"),
            "damaged",
        ),
        (
            Box::new(|dir: &Path| std::fs::create_dir(dir.join(FILE)).unwrap()),
            "open",
        ),
    ];
    for (prepare, says) in table {
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        let opened = Corpus::open(dir.path(), &key("b1", "random", false), false);
        let error = opened.map(drop).unwrap_err();
        is_clear(&error);
        assert!(error.cause.contains(says), "{says}: {error}");
        is_clear(&View::read(dir.path()).unwrap_err());
    }
    let dir = tempfile::tempdir().unwrap();
    is_clear(&View::read(dir.path()).unwrap_err());
    std::fs::write(dir.path().join(FILE), b"").unwrap();
    is_clear(&View::read(dir.path()).unwrap_err());
    let file = dir.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let error = Database::open(&file).map(drop).unwrap_err();
    assert_eq!(error.exit, Exit::InputOutput);
}

/// Whatever the path is called, and while another process writes.
#[test]
fn a_corpus_can_be_read_beside_a_writer_and_in_any_directory() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("a b%20?mode=ro#ü");
    let key = key("b1", "random", false);
    let (mut corpus, _) = Corpus::open(&odd, &key, false).unwrap();
    store(&mut corpus).unwrap();
    assert_eq!(View::read(&odd).unwrap().programs[0].executions, 10);
    corpus.leave(&[]).unwrap();
    drop(corpus);
    let before = std::fs::read_dir(&odd).unwrap().count();
    assert_eq!(View::read(&odd).unwrap().programs[0].executions, 10);
    assert_eq!(std::fs::read_dir(&odd).unwrap().count(), before);
}

/// A directory that cannot be written is read without the log, in which some of it may be.
#[test]
fn a_log_that_cannot_be_used_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE);
    let key = key("b1", "random", false);
    let (mut corpus, _) = Corpus::open(dir.path(), &key, false).unwrap();
    store(&mut corpus).unwrap();
    is_clear(&is_whole(&file).unwrap_err());
    corpus.leave(&[]).unwrap();
    drop(corpus);
    is_whole(&file).unwrap();
}

/// All of them make the directory, the tables, and their own rows at the same time.
#[test]
fn several_may_begin_at_once() {
    for round in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let key = key("b1", "random", false);
        std::thread::scope(|scope| {
            let open = || Corpus::open(&dir.path().join("new"), &key, false).map(drop);
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            for thread in threads {
                let opened = thread.join().unwrap();
                assert!(opened.is_ok(), "round {round}: {opened:?}");
            }
        });
    }
}
