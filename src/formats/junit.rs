//! JUnit XML: a command is one test, whatever it finds, so that its name stays the same from night
//! to night.

use super::{Content, Told};
use crate::error::Error;
use crate::exit::Exit;
use crate::report::{self, Style};
use crate::summary::{Found, Summary, Verdict, count};
use crate::terminal::{visible, visible_lines};
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
        .set_system_out(visible_lines(&summary.text(STYLE, true)));
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

/// A test that ended with `exit` and wrote nothing of its own.
pub fn without_verdict(name: &str, exit: Exit) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(exit.meaning());
    status.set_type(format!("exit {}", exit.code()));
    TestCase::new(visible(name), status)
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
        _ if content.trouble.is_some() => {
            let trouble = content.trouble.map(Error::to_string);
            error(summary, trouble.into_iter().collect())
        }
        Verdict::Diverged | Verdict::Unsupported | Verdict::ToolFault | Verdict::NotRun => {
            error(summary, summary.notes.clone())
        }
        _ if summary.interrupted || !summary.came_to_something() => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(summary.claim().0);
            status
        }
        _ => TestCaseStatus::success(),
    }
}

/// No verdict on the program, for these reasons.
fn error(summary: &Summary, why: Vec<String>) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let name = summary.verdict.name();
    status.set_message(visible(why.first().unwrap_or(&name)));
    status.set_type(name);
    status.set_description(visible_lines(&why.join("\n")));
    status
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
