//! What a program said about its failure before it ended: the test that failed, and the line that
//! tells this failure from others, as it stands and as it stays from execution to execution.

use crate::report::base_name;
use std::path::Path;

/// So much of each stream is looked at, from its end.
const TAIL: usize = 256 << 10;
/// Characters of a line that count.
const LONGEST: usize = 200;

/// What was said; both parts as they stand in the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The name of the failing test, as test frameworks print it.
    pub test: Option<String>,
    pub line: Option<String>,
}

impl Said {
    /// The first line that speaks of a failure, of standard error before standard output, or, if
    /// that is a mere heading, the first one behind it that is none; where there is none, the last
    /// line. The first: what fails later may be a consequence, and its failing may depend on the
    /// interleaving.
    pub fn of(stdout: &[u8], stderr: &[u8]) -> Said {
        let streams = [stderr, stdout].map(lines);
        let first = |lines: &Vec<String>| {
            let from = lines.iter().position(|line| tells_of_failure(line))?;
            let mut others = lines[from..].iter();
            others.find(|line| !is_heading(line)).cloned()
        };
        let last = || streams.iter().find_map(|lines| lines.last().cloned());
        Said {
            test: failed_test(&streams.concat()),
            line: streams.iter().find_map(first).or_else(last),
        }
    }

    /// The parts that two executions with the same defect have in common, wherever they ran:
    /// `directory` is where these did.
    pub fn stable(&self, directory: &Path) -> impl Iterator<Item = String> {
        let directory = directory.to_string_lossy().into_owned();
        let parts = [("test", &self.test), ("said", &self.line)];
        let parts = parts.map(|(what, text)| {
            let text = text.as_ref()?;
            // All paths begin with the root.
            let elsewhere = match directory.len() > 1 {
                true => text.replace(&directory, "."),
                false => text.clone(),
            };
            Some(format!("{what} {}", masked(&elsewhere)))
        });
        parts.into_iter().flatten()
    }

    /// For people; nothing if nothing was said.
    pub fn text(&self) -> Option<String> {
        match (&self.test, &self.line) {
            (Some(test), Some(line)) if !line.contains(test.as_str()) => {
                Some(format!("{test}: {line}"))
            }
            (test, line) => line.clone().or(test.clone()),
        }
    }
}

/// The lines at the end of a stream that have any text, without colours. An indented line goes on
/// with the one before, if that speaks of a failure.
fn lines(output: &[u8]) -> Vec<String> {
    let tail = &output[output.len().saturating_sub(TAIL)..];
    let text = String::from_utf8_lossy(tail);
    let text = console::strip_ansi_codes(&text).into_owned();
    let mut lines: Vec<String> = Vec::new();
    let mut may_go_on = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let content = line.trim();
        match lines.last_mut() {
            Some(before) if may_go_on && line.starts_with([' ', '\t']) => {
                before.push(' ');
                before.push_str(content);
                may_go_on = false;
            }
            _ => {
                may_go_on = tells_of_failure(content) && !is_heading(content);
                lines.push(content.to_string());
            }
        }
    }
    let short = |line: &String| line.chars().take(LONGEST).collect();
    lines.iter().map(short).collect()
}

/// The first test that failed, or else the one that was running.
fn failed_test(lines: &[String]) -> Option<String> {
    let name = |text: &str| {
        let end = text
            .find(" (")
            .or_else(|| text.find(", where"))
            .unwrap_or(text.len());
        Some(text[..end].trim().to_string()).filter(|name| !name.is_empty())
    };
    let failed = |line: &String| {
        // GoogleTest; libtest; Boost.Test; doctest.
        let google = line.strip_prefix("[  FAILED  ] ").and_then(name);
        let rust = || {
            let test = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
            name(test)
        };
        let boost = || {
            let (_, rest) = line.split_once("error: in \"")?;
            name(rest.split_once('"')?.0)
        };
        let doctest = || name(line.strip_prefix("TEST CASE:")?);
        google.or_else(rust).or_else(boost).or_else(doctest)
    };
    let running = || {
        let run = |line: &&String| line.starts_with("[ RUN      ]");
        let at = lines.iter().rposition(|line| run(&line))?;
        name(lines[at].strip_prefix("[ RUN      ]")?)
    };
    lines.iter().find_map(failed).or_else(running)
}

/// Does this line speak of something that is not as it should be? Sums ("2 tests failed") do not:
/// they are the same for all.
fn tells_of_failure(line: &str) -> bool {
    const WORDS: [&str; 16] = [
        "fail",
        "error",
        "expect",
        "mismatch",
        "assert",
        "panic",
        "wrong",
        "invalid",
        "violat",
        "corrupt",
        "fatal",
        "incorrect",
        "differ",
        "broken",
        "not ok",
        "!=",
    ];
    // What GoogleTest says of every test, with its name.
    const FRAMES: [&str; 5] = [
        "Note: Google Test filter",
        "[ RUN",
        "[---",
        "[===",
        "Running main",
    ];
    if FRAMES.iter().any(|frame| line.starts_with(frame)) {
        return false;
    }
    let line = line.to_lowercase();
    WORDS.iter().any(|word| line.contains(word)) && !is_sum(&masked(&line))
}

/// Does a line say no more than that something has failed, or how often?
fn is_heading(line: &str) -> bool {
    const WORDS: [&str; 18] = [
        "assertion",
        "assertions",
        "check",
        "checks",
        "detected",
        "error",
        "errors",
        "fail",
        "failed",
        "failure",
        "failures",
        "of",
        "passed",
        "results",
        "run",
        "summary",
        "test",
        "tests",
    ];
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_plain = |word: &str| {
        let is_number = word.bytes().all(|b| b.is_ascii_digit());
        is_number || WORDS.contains(&word.to_lowercase().as_str())
    };
    words.into_iter().all(is_plain)
}

/// Does a masked line in small letters count failures?
fn is_sum(line: &str) -> bool {
    const COUNTS: [&str; 4] = ["failures: N", "errors: N", "failed: N", "failures = N"];
    let counted = |what: &str| {
        line.match_indices(what).any(|(at, _)| {
            let before = line[..at].trim_end();
            let alone = ["of", "/", ";", ",", "(", ":", ".", "]"];
            before.is_empty() || alone.iter().any(|end| before.ends_with(end))
        })
    };
    COUNTS.iter().any(|count| line.contains(count))
        || ["N fail", "N error", "N test", "N check", "N assertion"]
            .into_iter()
            .any(counted)
}

/// A text without what may differ between two executions with the same defect: numbers and
/// addresses, also in names, and the directories of paths. The line of a place in a source file
/// stays.
pub fn masked(text: &str) -> String {
    let mut result = String::new();
    for word in text.split_inclusive(|c: char| c.is_whitespace() || "'\"`()[]{}<>,;=".contains(c)) {
        let end =
            word.trim_end_matches(|c: char| c.is_whitespace() || "'\"`()[]{}<>,;=".contains(c));
        let name = match end.contains('/') && end.len() > 1 {
            true => base_name(end.trim_end_matches('/')),
            false => end,
        };
        match place_in_source(name) {
            Some((place, rest)) => {
                result.push_str(place);
                result.push_str(&without_numbers(rest));
            }
            None => result.push_str(&without_numbers(name)),
        }
        result.push_str(&word[end.len()..]);
    }
    let words: Vec<&str> = result.split_whitespace().collect();
    words.join(" ")
}

/// `name.c:12` at the start of a word, and what follows.
fn place_in_source(word: &str) -> Option<(&str, &str)> {
    const ENDINGS: [&str; 9] = ["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "rs", "inc"];
    let (file, line) = word.split_once(':')?;
    let (_, ending) = file.rsplit_once('.')?;
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_place = ENDINGS.contains(&ending) && digits > 0;
    is_place.then(|| word.split_at(file.len() + 1 + digits))
}

/// Every number as `N`: with its sign, fraction and exponent, in hexadecimal too; and those within
/// names.
fn without_numbers(word: &str) -> String {
    let bytes = word.as_bytes();
    let mut result = String::new();
    let mut at = 0;
    while at < word.len() {
        let rest = &word[at..];
        let length = number(rest);
        let after_letter = at > 0 && bytes[at - 1].is_ascii_alphabetic();
        let hex = || {
            let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            let some = rest[..digits].bytes().any(|b| b.is_ascii_digit());
            (digits >= 8 && some && !after_letter).then_some(digits)
        };
        if let Some(length) = hex().or(length) {
            let sign = result.ends_with('-') || result.ends_with('+');
            let before = result.len().saturating_sub(1);
            if sign && !result[..before].ends_with(|c: char| c.is_alphanumeric()) {
                result.truncate(before);
            }
            result.push('N');
            at += length;
        } else {
            let letter = rest.chars().next().unwrap_or_default();
            result.push(letter);
            at += letter.len_utf8();
        }
    }
    result
}

/// The length of the number that a text begins with.
fn number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let run = |from: usize, is: fn(&u8) -> bool| bytes[from..].iter().take_while(|b| is(b)).count();
    if text.starts_with("0x") || text.starts_with("0X") {
        let digits = run(2, u8::is_ascii_hexdigit);
        return (digits > 0).then_some(2 + digits);
    }
    let mut length = run(0, u8::is_ascii_digit);
    if length == 0 {
        return None;
    }
    if bytes.get(length) == Some(&b'.') && bytes.get(length + 1).is_some_and(u8::is_ascii_digit) {
        length += 1 + run(length + 1, u8::is_ascii_digit);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'-' | b'+')));
        let digits = run((length + 1 + sign).min(bytes.len()), u8::is_ascii_digit);
        if digits > 0 {
            length += 1 + sign + digits;
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_executions_is_masked() {
        let table = [
            ("pay: 7, expected 4", "pay: N, expected N"),
            ("pay: -7.5e-3", "pay: N"),
            ("a-b 3-4", "a-b N-N"),
            ("at 0x7fff12 in worker12", "at N in workerN"),
            ("id deadbeef01 and facade", "id N and facade"),
            ("/tmp/x1/bank.c:12: lost 3", "bank.c:12: lost N"),
            ("`/home/me/out-3/log 9'", "`log N'"),
            ("src/lib.rs:59:9:", "lib.rs:59:N:"),
            ("10:00:01.25 é 5µs", "N:N:N é Nµs"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn the_line_that_tells_failures_apart() {
        // Standard output, standard error, test, line.
        type Row<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>);
        let table: [Row; 15] = [
            ("", "", None, None),
            ("ready\n", "", None, Some("ready")),
            ("ready\n\n", "done\n", None, Some("done")),
            (
                "",
                "pay: 7, expected 4\nadd: 13, expected 16\n",
                None,
                Some("pay: 7, expected 4"),
            ),
            ("FAIL: a\n2 of 9 failed\n", "log\n", None, Some("FAIL: a")),
            (
                "passed: 3\nfailures: 1, errors: 0\n",
                "",
                None,
                Some("failures: 1, errors: 0"),
            ),
            (
                "\u{1b}[31merror\u{1b}[0m: it is red\n",
                "",
                None,
                Some("error: it is red"),
            ),
            (
                "[ RUN      ] Bank.Pay\nt.cpp:9: Failure\n[  FAILED  ] Bank.Pay (3 ms)\n",
                "",
                Some("Bank.Pay"),
                Some("t.cpp:9: Failure"),
            ),
            (
                "[ RUN      ] Bank.Pay\n",
                "",
                Some("Bank.Pay"),
                Some("[ RUN      ] Bank.Pay"),
            ),
            (
                "test a::b ... ok\ntest a::c ... FAILED\n",
                "thread 'a::c' panicked at src/lib.rs:5:9:\n",
                Some("a::c"),
                Some("thread 'a::c' panicked at src/lib.rs:5:9:"),
            ),
            (
                "",
                "t.cpp(7): error: in \"Bank/Pay\": check x == 4 has failed\n",
                Some("Bank/Pay"),
                Some("t.cpp(7): error: in \"Bank/Pay\": check x == 4 has failed"),
            ),
            ("ok 1 - a\nnot ok 2 - b\n", "", None, Some("not ok 2 - b")),
            (
                "!!!FAILURES!!!\nTest Results:\nRun:  2   Failures: 1   Errors: 0\n\n1) test: Pay (F) a.cpp\n",
                "",
                None,
                Some("1) test: Pay (F) a.cpp"),
            ),
            ("FAILED!\n  pay\nbye\n", "", None, Some("pay")),
            (
                "",
                "error: not what was sent\n  in pay\n  and so on\n",
                None,
                Some("error: not what was sent in pay"),
            ),
        ];
        for (stdout, stderr, test, line) in table {
            let said = Said::of(stdout.as_bytes(), stderr.as_bytes());
            assert_eq!(
                (said.test.as_deref(), said.line.as_deref()),
                (test, line),
                "{stdout}{stderr}"
            );
        }
    }

    #[test]
    fn sums_tell_nothing() {
        for (line, sum) in [
            ("2 of 5 failed", true),
            ("test result: FAILED. 0 passed; 1 failed", true),
            ("1 FAILED TEST", true),
            ("Checks: 2, Failures: 1, Errors: 0", true),
            ("worker 3 failed", false),
            ("error: 3 is too small", false),
        ] {
            assert_eq!(is_sum(&masked(&line.to_lowercase())), sum, "{line}");
        }
    }
}
