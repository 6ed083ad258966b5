//! Test frameworks: which one a program was built with, and whether it is asked for the list of its
//! tests. Build systems and test runners ask so, and read the answer; a search is not for that.

use crate::error::Error;
use crate::exit::Exit;
use crate::store::read_regular;
use goblin::elf::Elf;
use raddle_scheduler::inspect;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One framework.
#[derive(Debug, PartialEq, Eq)]
pub struct Framework {
    pub name: &'static str,
    /// Arguments by which a program is asked for a list, each alone or with `=` and more.
    lists: &'static [&'static str],
    /// A variable that does the same.
    variable: Option<&'static str>,
    /// A text that every program of this framework has in it, or in a library whose name begins so.
    mark: &'static str,
    libraries: &'static [&'static str],
}

pub const GOOGLE_TEST: &str = "GoogleTest";
pub const LIBTEST: &str = "libtest";

static ALL: [Framework; 5] = [
    Framework {
        name: GOOGLE_TEST,
        lists: &["--gtest_list_tests", "-gtest_list_tests"],
        variable: Some("GTEST_LIST_TESTS"),
        mark: "gtest_list_tests",
        libraries: &["libgtest", "libgmock"],
    },
    Framework {
        name: "Catch2",
        lists: &[
            "--list-tests",
            "--list-test-names-only",
            "--list-tags",
            "--list-reporters",
            "--list-listeners",
        ],
        variable: None,
        mark: "list-tests",
        libraries: &["libCatch2"],
    },
    Framework {
        name: "doctest",
        lists: &[
            "--list-test-cases",
            "-ltc",
            "--dt-list-test-cases",
            "-dt-ltc",
            "--list-test-suites",
            "-lts",
            "--dt-list-test-suites",
            "-dt-lts",
            "--list-reporters",
            "-lr",
        ],
        variable: None,
        mark: "list-test-cases",
        libraries: &[],
    },
    Framework {
        name: "Boost.Test",
        lists: &["--list_content", "--list_labels"],
        variable: Some("BOOST_TEST_LIST_CONTENT"),
        mark: "list_content",
        libraries: &["libboost_unit_test_framework", "libboost_prg_exec_monitor"],
    },
    Framework {
        name: LIBTEST,
        lists: &["--list"],
        variable: None,
        mark: "include-ignored",
        libraries: &[],
    },
];

impl Framework {
    /// The argument or variable that asks for a list.
    fn asked(&self, args: &[OsString]) -> Option<String> {
        let asks = |arg: &&OsString| {
            let arg = arg.as_bytes();
            self.lists.iter().any(|list| {
                let rest = arg.strip_prefix(list.as_bytes());
                rest.is_some_and(|rest| match rest.split_first() {
                    None => true,
                    Some((b'=', value)) => is_on(value),
                    Some(_) => false,
                })
            })
        };
        let arg = args.iter().find(asks);
        let variable = || {
            let name = self.variable?;
            let value = std::env::var_os(name)?;
            is_on(value.as_bytes()).then(|| name.to_string())
        };
        arg.map(|arg| arg.to_string_lossy().into_owned())
            .or_else(variable)
    }

    fn is_in(&self, content: &[u8], libraries: &[&str]) -> bool {
        let uses = |library: &&str| self.libraries.iter().any(|name| library.starts_with(name));
        libraries.iter().any(uses) || contains(content, self.mark.as_bytes())
    }
}

fn is_on(value: &[u8]) -> bool {
    !matches!(value.first(), None | Some(b'0' | b'f' | b'F' | b'n' | b'N'))
}

fn contains(content: &[u8], text: &[u8]) -> bool {
    let first = text[0];
    let mut at = 0;
    while let Some(found) = content[at..].iter().position(|&byte| byte == first) {
        at += found;
        if content[at..].starts_with(text) {
            return true;
        }
        at += 1;
    }
    false
}

/// The frameworks that this program was built with, and its file; nothing of what is no program.
fn of(program: &OsStr) -> Option<(PathBuf, Vec<&'static Framework>)> {
    let path = inspect(Path::new(program)).ok()?.path;
    let content = read_regular(&path).ok()?;
    let elf = Elf::parse(&content).ok()?;
    let found = ALL.iter().filter(|f| f.is_in(&content, &elf.libraries));
    Some((path, found.collect()))
}

/// The framework that a program was built with, if it is only one.
pub fn framework(program: &OsStr) -> Option<&'static Framework> {
    match of(program)?.1[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// If this command asks a program for the list of its tests, becomes that program: it runs once, not
/// under control, and what it prints and returns is the answer. Returns only if it does not ask, or
/// cannot be started.
pub fn answer_list(command: &[OsString], quiet: bool) -> Option<Error> {
    let [program, args @ ..] = command else {
        return None;
    };
    let asked = |f: &&Framework| f.asked(args).is_some();
    if !ALL.iter().any(|f| asked(&f)) {
        return None;
    }
    let (path, found) = of(program)?;
    let framework = found.into_iter().find(asked)?;
    if !quiet {
        crate::terminal::tell(&format!(
            "raddle: {} asks for the list of {} tests: the program runs once, not under control\n",
            framework.asked(args)?,
            framework.name
        ));
    }
    let failure = Command::new(&path).arg0(program).args(args).exec();
    Some(Error::new(
        Exit::Unsupported,
        format!("cannot start {}: {failure}", path.display()),
        "",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_told_from_other_arguments() {
        let table = [
            ("--gtest_list_tests", Some(GOOGLE_TEST)),
            ("--gtest_list_tests=1", Some(GOOGLE_TEST)),
            ("--gtest_list_tests=false", None),
            ("--gtest_list_tests_not", None),
            ("--list-test-names-only", Some("Catch2")),
            ("-ltc", Some("doctest")),
            ("--list_content=DOT", Some("Boost.Test")),
            ("--list", Some(LIBTEST)),
            ("--lists", None),
            ("list", None),
        ];
        for (arg, expected) in table {
            let args = [OsString::from("x"), arg.into()];
            let framework = ALL.iter().find(|f| f.asked(&args).is_some());
            assert_eq!(framework.map(|f| f.name), expected, "{arg}");
        }
    }

    #[test]
    fn a_text_is_found_wherever_it_is() {
        for (content, expected) in [("", false), ("aab", true), ("xaa", false), ("aaab", true)] {
            assert_eq!(contains(content.as_bytes(), b"aab"), expected, "{content}");
        }
    }
}
