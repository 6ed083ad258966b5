//! Inputs of `verify` that the program does not name itself: what the options ask for, as the
//! runtime reads it.

use crate::cli::OutsideOptions;
use crate::error::{Error, Result};
use crate::setup::Setup;
use crate::trust;
use raddle_protocol::shared::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes of one input at most.
const MOST: u64 = 1 << 16;
/// Standard input and files at most.
const FILES: usize = 8;

/// Makes the program's executions take these inputs.
pub fn apply(options: &OutsideOptions, setup: &mut Setup) -> Result<()> {
    let mut lines: Vec<OsString> = Vec::new();
    if let Some(len) = options.symbolic_stdin {
        lines.push(line(
            "file",
            checked(len, "standard input")?,
            OsStr::new(""),
        ));
    }
    for wanted in &options.symbolic_file {
        let (name, len) = split(wanted);
        let failed = |e: std::io::Error| Error::file("read", name.as_ref(), &e);
        let path = std::path::absolute(&name).map_err(failed)?;
        let metadata = path.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(std::io::Error::other("it is no regular file")));
        }
        let len = checked(len.unwrap_or(metadata.len()), &name.to_string_lossy())?;
        lines.push(line("file", len, path.as_os_str()));
    }
    if lines.len() > FILES {
        return Err(refused(OsStr::new("input"), "too many files are symbolic"));
    }
    for wanted in &options.symbolic_arg {
        let (name, len) = split(wanted);
        let index = name.to_str().and_then(|name| name.parse::<usize>().ok());
        let held = index.and_then(|index| setup.target.args.get(index.checked_sub(1)?));
        let held =
            held.ok_or_else(|| refused(wanted, "the program has no argument of this number"))?;
        let len = checked(len.unwrap_or(held.len() as u64), &name.to_string_lossy())?;
        lines.push(line("arg", len, &name));
    }
    for wanted in &options.symbolic_env {
        let (name, len) = split(wanted);
        if trust::is_obeyed(&name) {
            return Err(refused(
                wanted,
                "loaders or interpreters obey it before the program can read it",
            ));
        }
        let held = std::env::var_os(&name);
        let len = len.or(held.as_ref().map(|held| held.len() as u64));
        let len = len.ok_or_else(|| refused(wanted, "is not set; say how long it is (NAME:N)"))?;
        // A witness keeps what is set here.
        let held = held.unwrap_or_default();
        setup.target.env.push((name.clone(), held));
        lines.push(line("env", checked(len, &name.to_string_lossy())?, &name));
    }
    if !lines.is_empty() {
        let all = lines.join(OsStr::new("\n"));
        setup.target.env.push((env::SYMBOLIC.into(), all));
    }
    Ok(())
}

/// What a witness has to keep of the target's environment, as `NAME=value`.
pub fn kept(environment: &[(OsString, OsString)]) -> impl Iterator<Item = Vec<u8>> {
    let is_set = environment.iter().any(|(name, _)| name == env::SYMBOLIC);
    let kept = environment.iter().filter(move |_| is_set);
    kept.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
}

fn line(kind: &str, len: u64, name: &OsStr) -> OsString {
    let mut line = OsString::from(format!("{kind}:{len}:"));
    line.push(name);
    line
}

/// `NAME:N` or `NAME`.
fn split(text: &OsStr) -> (OsString, Option<u64>) {
    let bytes = text.as_bytes();
    let split = bytes.iter().rposition(|&byte| byte == b':').and_then(|at| {
        let len = std::str::from_utf8(&bytes[at + 1..]).ok()?.parse().ok()?;
        Some((OsStr::from_bytes(&bytes[..at]).to_owned(), Some(len)))
    });
    split.unwrap_or_else(|| (text.to_owned(), None))
}

fn checked(len: u64, what: &str) -> Result<u64> {
    match len {
        1..=MOST => Ok(len),
        _ => Err(Error::usage(
            format!("{what}: {len} symbolic bytes are not between 1 and {MOST}"),
            "say how many after a colon, or after --symbolic-stdin",
        )),
    }
}

fn refused(what: &OsStr, why: &str) -> Error {
    Error::usage(
        format!("{}: {why}", Path::new(what).display()),
        "see `raddle verify --help`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_after_the_last_colon() {
        let cases = [
            ("1:8", ("1", Some(8))),
            ("PATH", ("PATH", None)),
            ("/a:b:3", ("/a:b", Some(3))),
            ("/a:b", ("/a:b", None)),
        ];
        for (text, (name, len)) in cases {
            assert_eq!(split(OsStr::new(text)), (name.into(), len), "{text}");
        }
        assert!(checked(0, "x").is_err() && checked(MOST + 1, "x").is_err());
    }
}
