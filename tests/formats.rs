//! The files that other programs read: JUnit XML and SARIF say the same as the summary, about every
//! kind of end.

mod common;

use common::{Compiler, LIMIT, Run, compile, empty, output, raddle, run, scratch};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus};
use serde_sarif::sarif::{Location, Result as Outcome, Run as Log, Sarif};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where a command is to write, and its options for that.
struct Written {
    junit: PathBuf,
    sarif: PathBuf,
}

impl Written {
    fn new(name: &str) -> Written {
        let dir = empty(name).join("new folder");
        Written {
            junit: dir.join("junit.xml"),
            sarif: dir.join("raddle.sarif"),
        }
    }

    fn options(&self) -> [&str; 4] {
        let [junit, sarif] = [&self.junit, &self.sarif].map(|p| p.to_str().expect("plain"));
        ["--junit", junit, "--sarif", sarif]
    }

    fn cases(&self) -> Vec<TestCase> {
        let text = std::fs::read_to_string(&self.junit).expect("JUnit was asked for");
        let report = Report::deserialize_from_str(&text).expect("JUnit XML");
        report
            .test_suites
            .into_iter()
            .flat_map(|suite| suite.test_cases)
            .collect()
    }

    fn runs(&self) -> Vec<Log> {
        let text = std::fs::read_to_string(&self.sarif).expect("SARIF was asked for");
        let log: Sarif = serde_json::from_str(&text).expect("SARIF");
        log.runs
    }

    fn results(&self) -> Vec<Outcome> {
        let runs = self.runs();
        runs.into_iter()
            .flat_map(|run| run.results.unwrap_or_default())
            .collect()
    }
}

/// How a test ended, in a word, and what kind of trouble it was.
fn status(case: &TestCase) -> (&'static str, Option<String>) {
    match &case.status {
        TestCaseStatus::Success { .. } => ("success", None),
        TestCaseStatus::Skipped { .. } => ("skipped", None),
        TestCaseStatus::NonSuccess { kind, ty, .. } => {
            let kind = match kind {
                NonSuccessKind::Failure => "failure",
                NonSuccessKind::Error => "error",
            };
            (kind, ty.as_ref().map(|ty| ty.as_str().to_string()))
        }
    }
}

/// Runs with both files, which must agree with the summary; gives the only test and all results.
fn written(options: &[&str], program: &Path) -> (Run, TestCase, Vec<Outcome>) {
    let name = program
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    let files = Written::new(&format!("formats-{name}"));
    let options = [&["run"], options, &files.options()].concat();
    let run = run(&options, program, &["an argument"]);
    let mut cases = files.cases();
    assert_eq!(cases.len(), 1, "{}", run.shown);
    let case = cases.remove(0);
    assert_eq!(
        case.name.as_str(),
        format!("{} 'an argument'", program.display())
    );
    let results = files.results();
    let told = |level: &str| -> Vec<String> {
        let of_level = results
            .iter()
            .filter(|result| result.level.is_some_and(|l| l.to_string() == level));
        let fingerprints = of_level.map(|result| result.partial_fingerprints.clone());
        fingerprints
            .map(|all| all.expect("it has one")["raddle/v1"].clone())
            .collect()
    };
    let summary = &run.summary;
    let ids = |all: &[common::Finding]| -> Vec<String> {
        all.iter()
            .map(|finding| finding.fingerprint.clone())
            .collect()
    };
    assert_eq!(told("error"), ids(&summary.findings), "{}", run.shown);
    assert_eq!(told("warning"), ids(&summary.reports), "{}", run.shown);
    assert_eq!(
        told("note").len(),
        summary.possibilities.len(),
        "{}",
        run.shown
    );
    let runs = files.runs();
    let invocation = &runs[0].invocations.as_ref().expect("it says what was run")[0];
    assert_eq!(invocation.exit_code, Some(i64::from(run.output.status)));
    (run, case, results)
}

/// File and line of a place, and what is said there.
fn place(location: &Location) -> (String, i64, String) {
    let physical = location.physical_location.as_ref().expect("a file");
    let artifact = physical.artifact_location.as_ref().expect("a file");
    let uri = artifact.uri.clone().expect("a path");
    let line = physical
        .region
        .as_ref()
        .and_then(|region| region.start_line);
    let message = location
        .message
        .as_ref()
        .and_then(|message| message.text.clone());
    (uri, line.expect("a line"), message.unwrap_or_default())
}

/// The steps of all threads in their order: thread, order, words.
fn flow(result: &Outcome) -> Vec<(String, i64, String)> {
    let flows = result.code_flows.as_ref().expect("an interleaving");
    let mut steps = Vec::new();
    for thread in &flows[0].thread_flows {
        let id = thread.id.clone().expect("threads have names");
        for step in &thread.locations {
            let location = step.location.as_ref().expect("a place");
            let text = location.message.as_ref().and_then(|m| m.text.clone());
            let order = step.execution_order.expect("an order");
            steps.push((id.clone(), order, text.expect("words")));
        }
    }
    steps.sort_by_key(|(_, order, _)| *order);
    steps
}

#[test]
fn a_deadlock_has_its_places_and_its_interleaving() {
    let program = compile(Compiler::Gcc, "tests/corpus/lock_order.c", &["-g"]);
    let (run, case, results) = written(&[], &program);
    run.expect(66, 1, 0);
    assert_eq!(status(&case), ("failure", Some("deadlock".to_string())));
    let text = case.system_out.expect("the verdict");
    assert!(text.as_str().contains("raddle: failed"), "{text:?}");
    let result = &results[0];
    assert_eq!(result.rule_id.as_deref(), Some("deadlock"));
    let waits = result.locations.as_ref().expect("where they wait");
    assert_eq!(waits.len(), 2, "{waits:?}");
    let stacks = result.stacks.as_ref().expect("of waits and locks");
    let stacks: Vec<String> = stacks
        .iter()
        .filter_map(|stack| stack.message.as_ref()?.text.clone())
        .collect();
    for expected in ["where T1 waits", "where T1 took a", "where T2 took b"] {
        assert!(stacks.iter().any(|text| text == expected), "{stacks:?}");
    }
    let related = result.related_locations.as_ref().expect("who waits");
    let words: Vec<String> = related.iter().map(|location| place(location).2).collect();
    for expected in ["T1 waits for b", "T2 took b", "T2 waits for a", "T1 took a"] {
        assert!(
            words.iter().any(|text| text == expected),
            "{expected}: {words:?}"
        );
    }
    let steps = flow(result);
    let threads = ["main", "T1", "T2"];
    assert!(
        threads
            .iter()
            .all(|name| steps.iter().any(|(id, ..)| id == name)),
        "{steps:?}"
    );
    let of_events = steps.iter().filter(|(.., text)| text != "waits for ever");
    let orders: Vec<i64> = of_events.map(|(_, order, _)| *order).collect();
    assert!(orders.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    let interrupted = steps
        .iter()
        .filter(|(.., text)| text.contains("interrupted"));
    assert_eq!(
        interrupted.count() as u64,
        run.summary.findings[0].preemptions
    );
}

#[test]
fn a_race_is_a_warning_or_a_failure_with_both_accesses() {
    let program = compile(Compiler::RaddleCc, "tests/races/plain_counter.c", &["-g"]);
    let table = [
        ("report", 0, "success", "warning"),
        ("fail", 66, "failure", "error"),
    ];
    for (races, exit, ends, level) in table {
        let (run, case, results) = written(&["--races", races, "-n", "50"], &program);
        assert_eq!(run.output.status, exit, "{}", run.output.all());
        assert_eq!(status(&case).0, ends);
        let race = results
            .iter()
            .find(|result| result.rule_id.as_deref() == Some("race"))
            .expect("the race");
        assert_eq!(
            race.level.map(|level| level.to_string()).as_deref(),
            Some(level)
        );
        let (uri, line, _) = place(&race.locations.as_ref().expect("an access")[0]);
        assert!(
            uri.ends_with("tests/races/plain_counter.c") && line > 1,
            "{uri}:{line}"
        );
        let related = race.related_locations.as_ref().expect("both accesses");
        let accesses = related
            .iter()
            .map(place)
            .filter(|(.., text)| text.contains(" by T"));
        assert!(accesses.count() >= 2, "{related:?}");
        assert!(race.stacks.as_ref().is_some_and(|stacks| stacks.len() >= 2));
    }
}

#[test]
fn nothing_found_and_what_cannot_be_run() {
    let program = compile(
        Compiler::Gcc,
        "tests/corpus/lock_order.c",
        &["-g", "-DFIXED"],
    );
    let (run, case, results) = written(&["-n", "20"], &program);
    run.expect(0, 0, 0);
    assert_eq!(status(&case), ("success", None));
    assert!(results.is_empty());

    let script = scratch("formats-script").join("script.sh");
    std::fs::write(&script, "#!/bin/sh\nexit 0\n").expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).expect("executable");
    let (run, case, results) = written(&[], &script);
    assert_eq!(run.output.status, 68, "{}", run.output.all());
    assert_eq!(status(&case), ("error", Some("unsupported".to_string())));
    assert!(results.is_empty());
}

/// Where no execution came to its end nothing was tested.
#[test]
fn no_execution_is_no_success() {
    let program = compile(Compiler::Gcc, "tests/formats/endless.c", &[]);
    let (run, case, results) = written(&["--time", "1s"], &program);
    assert_eq!(run.output.status, 69, "{}", run.output.all());
    assert_eq!(status(&case).0, "skipped");
    assert!(results.is_empty());
}

/// What an earlier run wrote is not left for the result of one that an error ended early.
#[test]
fn an_early_error_leaves_no_file_of_an_earlier_run() {
    let program = compile(
        Compiler::Gcc,
        "tests/corpus/lock_order.c",
        &["-g", "-DFIXED"],
    );
    let files = Written::new("formats-stale");
    let program = program.to_str().expect("a plain path");
    let no_witness = scratch("formats-stale-witness").join("no.raddle");
    std::fs::write(&no_witness, "no witness").expect("written");
    let no_witness = no_witness.to_str().expect("a plain path");
    let early = [
        (vec!["run", "--stdin", "/nonexistent", "--", program], 74),
        (vec!["replay", no_witness], 65),
    ];
    for (command, code) in early {
        let ended = |args: &[&str]| {
            let mut raddle = Command::new(raddle());
            raddle.arg(args[0]).args(files.options()).args(&args[1..]);
            output(&mut raddle, LIMIT)
        };
        let clean = ended(&["run", "-n", "5", "--", program]);
        assert_eq!(clean.status, 0, "{}", clean.all());
        assert_eq!(status(&files.cases()[0]).0, "success");
        let said = ended(&command);
        assert_eq!(said.status, code, "{}", said.all());
        assert_eq!(status(&files.cases()[0]).0, "error", "{command:?}");
    }
}

/// A run that could not come to its verdict is no success, though it has found nothing.
#[test]
fn what_strict_forbids_is_an_error_in_both_files() {
    let program = compile(Compiler::RaddleCc, "tests/watchdog/assembly.c", &["-g"]);
    let (run, case, _) = written(&["-n", "3", "--strict"], &program);
    assert_eq!(run.output.status, 68, "{}", run.output.all());
    assert_eq!(status(&case).0, "error");
}

/// A replay is a regression test: its name is that of the witness.
#[test]
fn a_replay_is_a_test_of_its_own() {
    let program = compile(Compiler::Gcc, "tests/corpus/lock_order.c", &["-g"]);
    let found = run(&["run", "--no-shrink"], &program, &[]);
    let witness = found.summary.findings[0].witness.as_ref().expect("written");
    let files = Written::new("formats-replay");
    let mut replay = Command::new(raddle());
    replay.arg("replay").args(files.options()).arg(witness);
    let said = output(&mut replay, LIMIT);
    assert_eq!(said.status, 66, "{}", said.all());
    let cases = files.cases();
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0].name.as_str(), witness.to_string_lossy());
    assert_eq!(status(&cases[0]).0, "failure");
    assert_eq!(files.results().len(), 1);
}

/// What a corpus knows from before is no news.
#[test]
fn a_known_finding_is_unchanged() {
    let program = compile(Compiler::Gcc, "tests/corpus/lock_order.c", &["-g"]);
    let corpus = empty("formats-corpus").join("corpus");
    let corpus = corpus.to_str().expect("a plain path");
    for (seed, expected) in [("1", "new"), ("2", "unchanged")] {
        let files = Written::new("formats-known");
        let options = ["run", "--corpus", corpus, "--seed", seed];
        let run = run(&[&options[..], &files.options()].concat(), &program, &[]);
        run.expect(66, 1, 0);
        assert_eq!(files.results()[0].baseline_state, Some(expected.into()));
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_the_others_are_there() {
    let program = compile(Compiler::Gcc, "tests/corpus/lock_order.c", &["-g"]);
    let files = Written::new("formats-full");
    let mut options = vec!["run", "--sarif", "/dev/full"];
    options.extend(&files.options()[..2]);
    let run = run(&options, &program, &[]);
    assert_eq!(run.output.status, 74, "{}", run.output.all());
    assert!(
        run.output.stderr.contains("/dev/full"),
        "{}",
        run.output.all()
    );
    assert_eq!(run.summary.findings.len(), 1);
    assert_eq!(status(&files.cases()[0]).0, "failure");
}
