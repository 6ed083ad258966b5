//! `raddle cc` and `raddle c++`: clang 19 with raddle's plugin, a drop-in for `CC=` and `CXX=`.
//!
//! The command becomes clang, with options added in front of and behind the user's. Where clang
//! would only look, preprocess or list dependencies nothing is added, so that its output is
//! clang's own.

mod arguments;
mod tools;

use crate::error::{Error, Result};
use crate::exit::Exit;
use arguments::{Invocation, Stage};
use raddle_protocol::compile::{SYMBOLIC, Symbolic};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

/// Files of raddle that compiled programs need.
#[derive(Clone, Debug)]
pub struct Libraries {
    /// `libraddle_plugin.so`.
    pub plugin: PathBuf,
    /// `libraddle.so`.
    pub runtime: PathBuf,
}

/// Which compiler a command line of raddle itself asks for (`raddle cc …`, `raddle c++ …`, or a
/// link to raddle with a name that ends in `-cc` or `-c++`), and its arguments. `None` for other
/// commands.
///
/// The arguments are clang's: nothing in them, `--help` included, is for raddle, but for `--symbolic` and
/// `--no-symbolic`.
pub fn requested(command_line: &[OsString]) -> Option<(Language, &[OsString])> {
    let (own, rest) = command_line.split_first()?;
    let name = Path::new(own).file_name().unwrap_or_default();
    if name == "raddle-cc" {
        return Some((Language::C, rest));
    }
    if name == "raddle-c++" {
        return Some((Language::Cxx, rest));
    }
    let (command, rest) = rest.split_first()?;
    match command.to_str()? {
        "cc" => Some((Language::C, rest)),
        "c++" => Some((Language::Cxx, rest)),
        _ => None,
    }
}

/// Becomes the compiler. Returns only if that is not possible.
pub fn run(language: Language, args: &[OsString], libraries: &Libraries) -> Error {
    let (args, asked) = arguments::take_own(args);
    let prepared = symbolic(asked).and_then(|symbolic| {
        let clang = tools::clang()?;
        let args = complete(language, &args, libraries, || tools::lld(&clang))?;
        Ok((clang, args, symbolic))
    });
    match prepared {
        Ok((clang, args, symbolic)) => {
            let mut command = Command::new(&clang);
            command.args(args).env(SYMBOLIC, symbolic.value());
            let failure = command.exec();
            Error::new(
                Exit::MissingTool,
                format!("cannot start {}: {failure}", clang.display()),
                tools::REMEDY,
            )
        }
        Err(error) => error,
    }
}

/// Which functions get symbolic bodies: as an option asked, or else the variable.
fn symbolic(asked: Option<Symbolic>) -> Result<Symbolic> {
    if let Some(asked) = asked {
        return Ok(asked);
    }
    let value = std::env::var_os(SYMBOLIC).unwrap_or_default();
    let value = value.to_string_lossy();
    Symbolic::parse(&value).ok_or_else(|| {
        Error::new(
            Exit::Usage,
            format!("{SYMBOLIC} is {value}, which means nothing"),
            format!("set {SYMBOLIC} to 1 (as --symbolic) or 0 (as --no-symbolic)"),
        )
    })
}

/// Clang's whole command line for what the user asked for. `lld` finds the option that chooses
/// LLVM's linker.
fn complete(
    language: Language,
    args: &[OsString],
    libraries: &Libraries,
    lld: impl FnOnce() -> Result<OsString>,
) -> Result<Vec<OsString>> {
    let invocation = Invocation::parse(args);
    let mut line: Vec<OsString> = Vec::new();
    if language == Language::Cxx {
        line.push("--driver-mode=g++".into());
    }
    if invocation.stage == Stage::Look {
        line.extend_from_slice(args);
        return Ok(line);
    }
    line.extend(quietly([
        joined("-fpass-plugin=", &libraries.plugin),
        // Any -g of the user comes later and wins.
        "-gline-tables-only".into(),
    ]));
    let (options, inputs_only) = args.split_at(invocation.options_end);
    line.extend_from_slice(options);
    if invocation.thread_sanitizer {
        // Raddle's own instrumentation takes its place, and its runtime must not be linked in.
        line.push("-fno-sanitize=thread".into());
    }
    if invocation.stage == Stage::Link {
        if let Some(option) = invocation.static_option {
            return Err(Error::new(
                Exit::Unsupported,
                format!("{option} links a static program, which raddle cannot control"),
                format!("link without {option}"),
            ));
        }
        line.extend(quietly(link_options(&invocation, &libraries.runtime, lld)?));
    }
    line.extend_from_slice(inputs_only);
    Ok(line)
}

fn link_options(
    invocation: &Invocation,
    runtime: &Path,
    lld: impl FnOnce() -> Result<OsString>,
) -> Result<Vec<OsString>> {
    let folder = runtime.parent().unwrap_or(Path::new("/"));
    let name = runtime.file_name().unwrap_or_default();
    let mut options = vec![
        joined("-L", folder),
        joined("-l:", name),
        "-Xlinker".into(),
        "-rpath".into(),
        "-Xlinker".into(),
        folder.into(),
    ];
    if invocation.lto && !invocation.chooses_linker {
        options.push(lld()?);
    }
    Ok(options)
}

fn joined(option: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut whole = OsString::from(option);
    whole.push(value);
    whole
}

/// The options, with no warning where clang has no use for them.
fn quietly(options: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    core::iter::once("--start-no-unused-arguments".into())
        .chain(options)
        .chain(core::iter::once("--end-no-unused-arguments".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn libraries() -> Libraries {
        Libraries {
            plugin: "/r/libraddle_plugin.so".into(),
            runtime: "/r/libraddle.so".into(),
        }
    }

    fn line(language: Language, args: &str) -> Result<String> {
        let args: Vec<OsString> = args.split_whitespace().map(Into::into).collect();
        let line = complete(language, &args, &libraries(), || Ok("-fuse-ld=lld".into()))?;
        let words: Vec<String> = line
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .filter(|word| !word.ends_with("-no-unused-arguments"))
            .collect();
        Ok(words.join(" "))
    }

    const FRONT: &str = "-fpass-plugin=/r/libraddle_plugin.so -gline-tables-only";
    const BACK: &str = "-L/r -l:libraddle.so -Xlinker -rpath -Xlinker /r";

    #[test]
    fn options_are_added_where_they_have_a_meaning() {
        let cases = [
            ("-c a.c", "F -c a.c"),
            ("a.c -o a", "F a.c -o a B"),
            ("a.o b.o", "F a.o b.o B"),
            ("-shared a.o", "F -shared a.o B"),
            ("-r a.o b.o -o c.o", "F -r a.o b.o -o c.o"),
            ("-S a.c", "F -S a.c"),
            ("-E a.c", "-E a.c"),
            ("-M a.c", "-M a.c"),
            ("-v", "-v"),
            ("", ""),
            ("--version", "--version"),
            ("a.c -flto=thin", "F a.c -flto=thin B -fuse-ld=lld"),
            ("a.c -flto -fuse-ld=gold", "F a.c -flto -fuse-ld=gold B"),
            ("-o a -- a.c", "F -o a B -- a.c"),
            (
                "-fsanitize=thread a.o",
                "F -fsanitize=thread a.o -fno-sanitize=thread B",
            ),
            (
                "-c -fsanitize=undefined,thread a.c",
                "F -c -fsanitize=undefined,thread a.c -fno-sanitize=thread",
            ),
            (
                "-fsanitize=thread -fno-sanitize=all a.c",
                "F -fsanitize=thread -fno-sanitize=all a.c B",
            ),
            ("-fsanitize=address a.c", "F -fsanitize=address a.c B"),
        ];
        for (args, expected) in cases {
            let expected = expected.replace('F', FRONT).replace('B', BACK);
            assert_eq!(line(Language::C, args).unwrap(), expected, "{args}");
        }
    }

    #[test]
    fn cxx_is_a_mode_of_the_driver() {
        assert_eq!(
            line(Language::Cxx, "-E a.cc").unwrap(),
            "--driver-mode=g++ -E a.cc"
        );
    }

    #[test]
    fn static_programs_are_refused_when_they_are_linked() {
        let error = line(Language::C, "-static a.c").unwrap_err();
        assert_eq!(error.exit, Exit::Unsupported);
        assert!(
            error.to_string().contains("link without -static"),
            "{error}"
        );
        assert!(line(Language::C, "-static -c a.c").is_ok());
    }

    #[test]
    fn the_command_or_the_name_says_which_compiler() {
        type Case<'a> = (&'a [&'a str], Option<(Language, usize)>);
        let cases: [Case; 6] = [
            (&["raddle", "cc", "-c", "a.c"], Some((Language::C, 2))),
            (&["raddle", "c++", "--help"], Some((Language::Cxx, 1))),
            (&["/usr/bin/raddle-cc", "a.c"], Some((Language::C, 1))),
            (&["raddle-c++"], Some((Language::Cxx, 0))),
            (&["raddle", "run", "cc"], None),
            (&["raddle"], None),
        ];
        for (words, expected) in cases {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            let found = requested(&words).map(|(language, rest)| (language, rest.len()));
            assert_eq!(found, expected, "{words:?}");
        }
    }
}
