//! `raddle cargo`: cargo, with atomic operations as scheduling points.
//!
//! The locks, channels and reference counts of Rust's library are atomic operations that the
//! compiler puts into the user's own code. LLVM's ThreadSanitizer pass, which every rustc has, makes
//! them visible: it gives each a hook, and leaves the rest of a function alone unless that is
//! compiled for the sanitizer. `libraddle.so` has the hooks; without raddle they do the operation
//! and nothing else.

use crate::child::attend_family;
use crate::error::{Error, Result};
use crate::exit::Exit;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What code is built for. It is named to cargo so that build scripts and macros, which cargo runs
/// itself, stay as they are.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// What names another program to run what was built.
const RUNNER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";
/// Flags for rustc, as its configuration files have them.
const RUSTFLAGS: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS";

/// Which cargo a command line asks for: `raddle cargo …`, and its arguments; `None` for others.
pub fn requested(command_line: &[OsString]) -> Option<&[OsString]> {
    let [_, command, rest @ ..] = command_line else {
        return None;
    };
    (command == "cargo").then_some(rest)
}

/// What cargo is told.
#[derive(Debug, Default, PartialEq, Eq)]
struct Orders {
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
}

/// Runs cargo; its exit status, or that of this command where it was asked to end: cargo itself does
/// not wait for the tests that it runs.
pub fn run(args: &[OsString], raddle: &Path, runtime: &Path) -> Result<u8> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let orders = orders(args, raddle, runtime, |name| std::env::var_os(name))?;
    let mut command = Command::new(&cargo);
    command.args(orders.args).envs(orders.env);
    let (status, asked, tests) = attend_family(&mut command).map_err(|failure| {
        Error::new(
            Exit::MissingTool,
            format!("cannot start {}: {failure}", PathBuf::from(cargo).display()),
            "install Rust, or put cargo into PATH",
        )
    })?;
    let found = Some(i32::from(Exit::Finding.code()));
    Ok(match (asked, status.signal()) {
        (true, _) if tests.contains(&found) || status.code() == found => Exit::Finding.code(),
        (true, _) => Exit::Interrupted.code(),
        // As a shell has it.
        (false, Some(signal)) => 128 | signal as u8,
        (false, None) => status.code().unwrap_or_default() as u8,
    })
}

/// Cargo's arguments and variables for what the user asked for.
fn orders(
    args: &[OsString],
    raddle: &Path,
    runtime: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Orders> {
    // A toolchain (`+nightly`) comes first.
    let toolchains = args.iter().take_while(|arg| begins(arg, "+")).count();
    let (toolchain, rest) = args.split_at(toolchains);
    let command = command(rest);
    if let Some(command) = command.filter(|command| !is_known(command)) {
        return Err(Error::usage(
            format!(
                "`cargo {}` is not cargo's own: what it builds would have no hooks",
                command.display()
            ),
            "use `raddle cargo test`, `run`, `build` or `nextest`",
        ));
    }
    let mut orders = Orders::default();
    if command.is_some_and(|command| command == NEXTEST) {
        orders.args.extend_from_slice(args);
        orders.env = for_nextest(raddle, runtime, &variable)?;
        return Ok(orders);
    }
    if variable("CARGO_BUILD_TARGET").is_none() {
        orders.env.push(("CARGO_BUILD_TARGET", TARGET.into()));
    }
    let flags = flags(runtime);
    let mut config = Vec::new();
    // Flags in a variable outweigh those in files, so they go where the user's are.
    match given_flags(&variable) {
        Some(given) => {
            let all = encoded(given, &flags);
            orders.env.push(("CARGO_ENCODED_RUSTFLAGS", all));
        }
        None => config.push(setting("rustflags", &flags)),
    }
    config.push(setting("rustdocflags", &flags));
    let raddle = raddle.to_string_lossy().into_owned();
    let runs = match command.and_then(OsStr::to_str) {
        Some("test" | "t") => Some("test"),
        Some("run" | "r") => Some("run"),
        _ => None,
    };
    if let (Some(runs), None) = (runs, variable(RUNNER)) {
        config.push(setting("runner", &[raddle, runs.into(), "--".into()]));
    }
    orders.args.extend_from_slice(toolchain);
    for setting in config {
        orders.args.extend(["--config".into(), setting.into()]);
    }
    orders.args.extend_from_slice(rest);
    Ok(orders)
}

/// The subcommand, behind cargo's own options.
fn command(args: &[OsString]) -> Option<&OsStr> {
    const WITH_VALUE: [&str; 4] = ["--config", "--color", "-C", "-Z"];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if WITH_VALUE.iter().any(|option| arg == option) {
            args.next();
        } else if !begins(arg, "-") {
            return Some(arg);
        }
    }
    None
}

/// Is this a command of cargo's own, or one that is told what is needed in another way? Others do not
/// get cargo's `--config`.
fn is_known(command: &OsStr) -> bool {
    const OWN: [&str; 47] = [
        "add",
        "b",
        "bench",
        "build",
        "c",
        "check",
        "clean",
        "clippy",
        "config",
        "d",
        "doc",
        "fetch",
        "fix",
        "fmt",
        "generate-lockfile",
        "git-checkout",
        "help",
        "info",
        "init",
        "install",
        "locate-project",
        "login",
        "logout",
        "metadata",
        "new",
        "owner",
        "package",
        "pkgid",
        "publish",
        "r",
        "read-manifest",
        "remove",
        "report",
        "rm",
        "run",
        "rustc",
        "rustdoc",
        "search",
        "t",
        "test",
        "tree",
        "uninstall",
        "update",
        "vendor",
        "verify-project",
        "version",
        "yank",
    ];
    command == NEXTEST || OWN.iter().any(|own| command == *own)
}

const NEXTEST: &str = "nextest";

/// cargo-nextest does not get cargo's options: it and the cargo that it starts are told by variables.
/// It lists the tests of a binary, and then runs each by itself, as `raddle run`.
fn for_nextest(
    raddle: &Path,
    runtime: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<(&'static str, OsString)>> {
    let spaced = |path: &Path| path.as_os_str().as_encoded_bytes().contains(&b' ');
    if spaced(raddle) || spaced(runtime) {
        return Err(Error::usage(
            format!(
                "cargo nextest cannot be told of a path with a space: {}",
                raddle.display()
            ),
            "install raddle elsewhere",
        ));
    }
    let mut env: Vec<(&'static str, OsString)> = Vec::new();
    if variable("CARGO_BUILD_TARGET").is_none() {
        env.push(("CARGO_BUILD_TARGET", TARGET.into()));
    }
    let flags = flags(runtime);
    env.push(match given_flags(&variable) {
        Some(given) => ("CARGO_ENCODED_RUSTFLAGS", encoded(given, &flags)),
        None => {
            let mut all = variable(RUSTFLAGS).unwrap_or_default();
            all.push(" ");
            all.push(flags.join(" "));
            (RUSTFLAGS, all)
        }
    });
    if variable(RUNNER).is_none() {
        let mut runner = raddle.as_os_str().to_owned();
        runner.push(" run --");
        env.push((RUNNER, runner));
    }
    Ok(env)
}

/// Cargo's encoded form of flags, with more of them.
fn encoded(mut given: OsString, more: &[String]) -> OsString {
    for flag in more {
        given.push("\u{1f}");
        given.push(flag);
    }
    given
}

fn begins(arg: &OsStr, with: &str) -> bool {
    arg.as_encoded_bytes().starts_with(with.as_bytes())
}

/// What rustc is told.
fn flags(runtime: &Path) -> [String; 5] {
    let folder = runtime.parent().unwrap_or(Path::new("/")).display();
    let name = runtime.file_name().unwrap_or_default().to_string_lossy();
    [
        "-Cpasses=tsan-module".into(),
        "-Cpasses=function(tsan)".into(),
        format!("-Clink-arg=-L{folder}"),
        format!("-Clink-arg=-l:{name}"),
        format!("-Clink-arg=-Wl,-rpath,{folder}"),
    ]
}

/// Flags for rustc that the user has in a variable, in cargo's encoded form.
fn given_flags(variable: impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    variable("CARGO_ENCODED_RUSTFLAGS").or_else(|| {
        let plain = variable("RUSTFLAGS")?;
        let words: Vec<&str> = plain.to_str()?.split_whitespace().collect();
        Some(words.join("\u{1f}").into())
    })
}

/// A setting of the target in cargo's configuration language (TOML, whose strings are JSON's).
fn setting(name: &str, values: &[String]) -> String {
    let values = serde_json::to_string(values).expect("strings have a JSON form");
    format!("target.{TARGET}.{name}={values}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command line, then the variables, as text.
    fn told(args: &str, variables: &[(&str, &str)]) -> (String, String) {
        let args: Vec<OsString> = args.split_whitespace().map(Into::into).collect();
        let variable = |name: &str| {
            let found = variables.iter().find(|v| v.0 == name);
            found.map(|v| OsString::from(v.1))
        };
        let runtime = Path::new("/r/libraddle.so");
        let orders = orders(&args, Path::new("/bin/raddle"), runtime, variable);
        let orders = orders.expect("cargo knows the command");
        let args: Vec<_> = orders.args.iter().map(|a| a.to_string_lossy()).collect();
        let env = orders.env.iter();
        let env: Vec<_> = env
            .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
            .collect();
        (args.join(" "), env.join(" "))
    }

    #[test]
    fn commands_that_would_build_without_hooks_are_refused() {
        for (args, refused) in [
            ("tarpaulin", true),
            ("+nightly --color always llvm-cov test", true),
            ("-Z unstable-options miri test", true),
            ("--config build.jobs=1 test", false),
            ("--version", false),
            ("", false),
        ] {
            let args: Vec<OsString> = args.split_whitespace().map(Into::into).collect();
            let path = Path::new("/r/libraddle.so");
            let orders = orders(&args, Path::new("/bin/raddle"), path, |_| None);
            assert_eq!(orders.is_err(), refused, "{args:?}");
        }
    }

    #[test]
    fn cargo_is_told_what_is_needed() {
        let list = r#"["-Cpasses=tsan-module","-Cpasses=function(tsan)","-Clink-arg=-L/r","-Clink-arg=-l:libraddle.so","-Clink-arg=-Wl,-rpath,/r"]"#;
        let rust = format!("--config target.{TARGET}.rustflags={list}");
        let doc = format!("--config target.{TARGET}.rustdocflags={list}");
        let runner = |command| {
            format!(r#"--config target.{TARGET}.runner=["/bin/raddle","{command}","--"]"#)
        };
        let target = format!("CARGO_BUILD_TARGET={TARGET}");
        let encoded: String = flags(Path::new("/r/libraddle.so"))
            .map(|flag| format!("\u{1f}{flag}"))
            .concat();
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let plain = flags(Path::new("/r/libraddle.so")).join(" ");
        let table: [(&str, Variables, String, String); 8] = [
            (
                "+nightly nextest run -E x",
                &[],
                "+nightly nextest run -E x".to_string(),
                format!("{target} {RUSTFLAGS}= {plain} {RUNNER}=/bin/raddle run --"),
            ),
            (
                "--color never nextest list",
                &[("RUSTFLAGS", "-g"), (RUNNER, "mine")],
                "--color never nextest list".to_string(),
                format!("{target} CARGO_ENCODED_RUSTFLAGS=-g{encoded}"),
            ),
            ("build", &[], format!("{rust} {doc} build"), target.clone()),
            (
                "+nightly -q test x -- y",
                &[],
                format!("+nightly {rust} {doc} {} -q test x -- y", runner("test")),
                target.clone(),
            ),
            (
                "run",
                &[],
                format!("{rust} {doc} {} run", runner("run")),
                target.clone(),
            ),
            (
                "test",
                &[(RUNNER, "mine")],
                format!("{rust} {doc} test"),
                target.clone(),
            ),
            (
                "build",
                &[("RUSTFLAGS", "-g  -O")],
                format!("{doc} build"),
                format!("{target} CARGO_ENCODED_RUSTFLAGS=-g\u{1f}-O{encoded}"),
            ),
            (
                "build",
                &[("CARGO_BUILD_TARGET", "other")],
                format!("{rust} {doc} build"),
                String::new(),
            ),
        ];
        for (args, variables, line, env) in table {
            assert_eq!(told(args, variables), (line, env), "{args} {variables:?}");
        }
    }
}
