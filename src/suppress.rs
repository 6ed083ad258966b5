//! Suppression files, in the syntax of ThreadSanitizer: a line `race:pattern` keeps races quiet
//! whose stacks name a function, file, module or variable that the pattern fits.

use crate::class::Class;
use crate::error::{Error, Result};
use raddle_protocol::witness::{Module, Site};
use std::path::Path;

/// Rules that always hold, for races inside the C++ library that no program can help: the lock in
/// libstdc++ 12's `std::atomic<std::shared_ptr>` is released by a load in relaxed order.
const BUILT_IN: &str = "race_top:std::_Sp_atomic<";

/// A list of rules has no more bytes.
const MOST_BYTES: u64 = 16 << 20;

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// Any frame of a race's stacks.
    Race,
    /// The innermost frame of one of them.
    RaceTop,
    /// Wrong use of a synchronisation object.
    Mutex,
    /// Deadlocks and possible ones.
    Deadlock,
    /// Threads left behind.
    Thread,
    /// The module of the innermost frame of a race.
    CalledFromLib,
    /// Findings in signal handlers, of which there are none.
    Signal,
}

const SUBJECTS: [(&str, Subject); 7] = [
    ("race", Subject::Race),
    ("race_top", Subject::RaceTop),
    ("mutex", Subject::Mutex),
    ("deadlock", Subject::Deadlock),
    ("thread", Subject::Thread),
    ("called_from_lib", Subject::CalledFromLib),
    ("signal", Subject::Signal),
];

/// One line of the file.
#[derive(Clone, Debug)]
struct Rule {
    text: String,
    subject: Subject,
    pattern: String,
    matched: u64,
}

/// The rules, with how often each was of use.
#[derive(Clone, Debug)]
pub struct Suppressions(Vec<Rule>);

impl Default for Suppressions {
    /// Those that always hold.
    fn default() -> Suppressions {
        Suppressions::parse(BUILT_IN).expect("the rules are well formed")
    }
}

/// What a rule is held against.
pub struct Case<'a> {
    pub class: Class,
    /// Each innermost first.
    pub stacks: &'a [Vec<u32>],
    /// Names besides those of the frames: the variable.
    pub names: &'a [String],
    pub sites: &'a [Site],
    pub modules: &'a [Module],
}

impl Suppressions {
    /// Reads a file; the rules that always hold come first.
    pub fn read(path: &Path) -> Result<Suppressions> {
        let content = crate::store::read(path, MOST_BYTES)?;
        let text = String::from_utf8(content).map_err(|_| {
            Error::usage(
                format!("{} is no text in UTF-8", path.display()),
                "name a suppression file",
            )
        })?;
        let rules = Suppressions::parse(&text).map_err(|(line, what)| {
            Error::usage(
                format!("{}:{line}: {what}", path.display()),
                "write for example race:function, race:file.c or deadlock:lock_*",
            )
        })?;
        let mut all = Suppressions::default();
        all.0.extend(rules.0);
        Ok(all)
    }

    /// The rules in a text; on an error the number of the line.
    fn parse(text: &str) -> std::result::Result<Suppressions, (usize, String)> {
        let mut rules = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, pattern) = line
                .split_once(':')
                .ok_or_else(|| (number + 1, format!("`{line}` is no rule")))?;
            let subject = SUBJECTS.iter().find(|s| s.0 == name);
            let subject = subject.ok_or_else(|| (number + 1, format!("unknown kind `{name}`")))?;
            if pattern.is_empty() {
                return Err((number + 1, format!("`{line}` has no pattern")));
            }
            rules.push(Rule {
                text: line.to_string(),
                subject: subject.1,
                pattern: pattern.to_string(),
                matched: 0,
            });
        }
        Ok(Suppressions(rules))
    }

    /// Does a rule keep this quiet? The first one that does is counted.
    pub fn cover(&mut self, case: &Case) -> bool {
        let rule = self.0.iter_mut().find(|rule| rule.covers(case));
        rule.map(|rule| rule.matched += 1).is_some()
    }

    /// The rules that were of use, with how many different findings each kept quiet.
    pub fn used(&self) -> impl Iterator<Item = (&str, u64)> {
        let used = self.0.iter().filter(|rule| rule.matched > 0);
        used.map(|rule| (rule.text.as_str(), rule.matched))
    }
}

impl Rule {
    fn covers(&self, case: &Case) -> bool {
        let fits = |text: &str| fits(&self.pattern, text);
        let all = || case.stacks.iter().flatten();
        let tops = || case.stacks.iter().filter_map(|stack| stack.first());
        let any_frame = || all().any(|&s| names(case, s).any(fits));
        match (self.subject, case.class) {
            (Subject::Race, Class::Race) => any_frame() || case.names.iter().any(|name| fits(name)),
            (Subject::RaceTop, Class::Race) => tops().any(|&s| top(case, s).any(fits)),
            (Subject::CalledFromLib, Class::Race) => {
                tops().any(|&s| module(case, s).is_some_and(fits))
            }
            (Subject::Mutex, Class::Misuse)
            | (Subject::Deadlock, Class::Deadlock)
            | (Subject::Thread, Class::Leak) => any_frame(),
            _ => false,
        }
    }
}

fn module<'a>(case: &Case<'a>, site: u32) -> Option<&'a str> {
    let site = case.sites.get(site as usize)?;
    let module = case.modules.get(site.module? as usize)?;
    std::str::from_utf8(&module.path.0).ok()
}

/// Everything that a place is called: functions, files, the module.
fn names<'a>(case: &Case<'a>, site: u32) -> impl Iterator<Item = &'a str> {
    let frames = case.sites.get(site as usize).map(|s| s.frames.iter());
    let frames = frames.into_iter().flatten();
    frames
        .flat_map(|f| [f.function.as_deref(), f.file.as_deref()])
        .flatten()
        .chain(module(case, site))
}

/// The same for the innermost function only.
fn top<'a>(case: &Case<'a>, site: u32) -> impl Iterator<Item = &'a str> {
    let frame = case.sites.get(site as usize).and_then(|s| s.frames.first());
    let named = frame.map(|f| [f.function.as_deref(), f.file.as_deref()]);
    named
        .into_iter()
        .flatten()
        .flatten()
        .chain(module(case, site))
}

/// ThreadSanitizer's patterns: `*` is any text, `^` at the start and `$` at the end are the ends of
/// the text; without them the pattern may lie anywhere in it.
fn fits(pattern: &str, text: &str) -> bool {
    let (anchored, pattern) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (closed, pattern) = match pattern.strip_suffix('$') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let mut parts: Vec<&str> = pattern.split('*').collect();
    let mut rest = text;
    if anchored {
        match rest.strip_prefix(parts.remove(0)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    let last = match closed {
        true => parts.pop(),
        false => None,
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    match (last, closed) {
        (Some(last), _) => rest.ends_with(last),
        // The only part was at the start.
        (None, true) => rest.is_empty(),
        (None, false) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::witness::{Bytes, Frame};

    #[test]
    fn patterns() {
        let table = [
            ("foo", "a_foo_b", true),
            ("foo", "fo", false),
            ("^foo", "foo_b", true),
            ("^foo", "a_foo", false),
            ("foo$", "a_foo", true),
            ("foo$", "foo_b", false),
            ("^foo$", "foo", true),
            ("^foo$", "foofoo", false),
            ("a*b", "xxaYYbzz", true),
            ("a*b", "b a", false),
            ("^a*b$", "aXb", true),
            ("^a*b$", "aXbc", false),
            ("^a*b$", "ab", true),
            ("*", "", true),
            ("^$", "", true),
            ("^$", "x", false),
            ("a*a$", "a", false),
            ("src/*.c", "/home/src/x.c:3", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn files() {
        let good = "# quiet\n\n race:foo \nrace_top:^bar$\nmutex:m\ndeadlock:d\nthread:t\n\
                    called_from_lib:libz.so\nsignal:s\n";
        assert_eq!(Suppressions::parse(good).unwrap().0.len(), 7);
        for (text, line) in [("race", 1), ("\nraces:x", 2), ("race:", 1)] {
            assert_eq!(Suppressions::parse(text).unwrap_err().0, line, "{text:?}");
        }
    }

    #[test]
    fn rules_and_their_cases() {
        let frame = |function: &str, file: &str| Frame {
            function: Some(function.into()),
            file: Some(file.into()),
            line: Some(1),
        };
        let site = |frames, module| Site {
            module: Some(module),
            offset: 0,
            frames,
            shown: 0,
            source: None,
        };
        let sites = [
            site(
                vec![frame("get", "/src/inner.h"), frame("load", "/src/a.c")],
                0,
            ),
            site(vec![frame("main", "/src/main.c")], 0),
            site(vec![frame("deflate", "/src/z.c")], 1),
        ];
        let modules = ["/bin/prog", "/lib/libz.so.1"].map(|path| Module {
            path: Bytes(path.into()),
            base: 0,
            identity: String::new(),
            instrumented: true,
        });
        let table = [
            ("race:load", Class::Race, true),
            ("race:main", Class::Race, true),
            ("race:main.c", Class::Race, true),
            ("race:counter", Class::Race, true),
            ("race:prog", Class::Race, true),
            ("race:nothing", Class::Race, false),
            ("race_top:^get$", Class::Race, true),
            ("race_top:load", Class::Race, false),
            ("race_top:main", Class::Race, false),
            ("called_from_lib:libz", Class::Race, true),
            ("called_from_lib:libq", Class::Race, false),
            ("race:load", Class::Deadlock, false),
            ("deadlock:load", Class::Deadlock, true),
            ("thread:main", Class::Leak, true),
            ("mutex:main", Class::Misuse, true),
            ("signal:main", Class::Race, false),
        ];
        for (rule, class, expected) in table {
            let mut rules = Suppressions::parse(rule).unwrap();
            let case = Case {
                class,
                stacks: &[vec![0, 1], vec![2]],
                names: &["counter".to_string()],
                sites: &sites,
                modules: &modules,
            };
            assert_eq!(rules.cover(&case), expected, "{rule} {class}");
            assert_eq!(rules.used().count(), usize::from(expected));
        }
    }
}
