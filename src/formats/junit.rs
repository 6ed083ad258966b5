//! JUnit XML: a command is one test, whatever it finds, so that its name stays the same from night
//! to night.

use super::{Content, Told};
use crate::report::{self, Style};
use crate::summary::{Found, Verdict, count};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// For reports in a file.
const STYLE: Style = Style {
    width: 120,
    colour: false,
    full: false,
    brief: false,
};

/// The suite of the program, with one test, the command.
pub fn suite(content: &Content) -> TestSuite {
    let (subject, summary) = (content.subject, content.summary);
    let mut test = TestCase::new(subject.test.as_str(), status(content));
    test.set_classname(subject.suite.as_str())
        .set_time(Duration::from_secs_f64(summary.seconds))
        .set_system_out(summary.text(STYLE, true));
    let properties = [
        ("verdict", summary.verdict.name()),
        ("executions", summary.executions.to_string()),
        ("policy", summary.policy.clone()),
        ("seed", summary.seed.to_string()),
    ];
    test.add_properties(properties.map(|(name, value)| Property::new(name, value)));
    let mut suite = TestSuite::new(subject.suite.as_str());
    suite.set_time(Duration::from_secs_f64(summary.seconds));
    suite.add_test_case(test);
    suite
}

/// The text of a file with this suite.
pub fn text(suite: TestSuite) -> String {
    let mut report = Report::new("raddle");
    report.set_time(suite.time.unwrap_or_default());
    report.add_test_suite(suite);
    report.to_string().expect("text has an XML form")
}

fn status(content: &Content) -> TestCaseStatus {
    let summary = content.summary;
    match summary.verdict {
        Verdict::Finding => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            if let Some((first, _)) = content.findings.first() {
                status.set_type(first.class.as_str());
            }
            status.set_message(headline(&content.findings));
            status.set_description(details(&content.findings));
            status
        }
        Verdict::Diverged | Verdict::Unsupported | Verdict::ToolFault => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            let name = summary.verdict.name();
            let message = summary.notes.first().cloned();
            status.set_message(message.unwrap_or_else(|| name.clone()));
            status.set_type(name);
            status.set_description(summary.notes.join("\n"));
            status
        }
        _ if summary.interrupted => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("stopped by a signal, nothing found so far");
            status
        }
        _ => TestCaseStatus::success(),
    }
}

fn headline(findings: &[Told]) -> String {
    let line = |found: &Found| format!("{}: {}", found.class, found.message);
    match findings {
        [] => String::new(),
        [(only, _)] => line(only),
        [(first, _), rest @ ..] => {
            let more = count(rest.len() as u64, "more finding");
            format!("{} (and {more})", line(first))
        }
    }
}

fn details(findings: &[Told]) -> String {
    let texts = findings.iter().map(|(found, witness)| match witness {
        Some(witness) => report::report(witness, found.witness.as_deref(), STYLE),
        None => format!(
            "{}: {}\n  fingerprint {}\n",
            found.class, found.message, found.fingerprint
        ),
    });
    texts.collect::<Vec<_>>().join("\n")
}
