//! Finds clang 19 and its linker.

use crate::error::{Error, Result};
use crate::exit::Exit;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Names clang 19 where it is not found by itself.
const VARIABLE: &str = "RADDLE_CLANG";
/// Where Debian's packages put LLVM 19.
const DEBIAN: &str = "/usr/lib/llvm-19/bin";
/// What to do without clang.
pub const REMEDY: &str =
    "install the package clang-19, or name clang 19 in the variable RADDLE_CLANG";

/// The compiler.
pub fn clang() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let found = if named.as_encoded_bytes().contains(&b'/') {
            Some(PathBuf::from(&named)).filter(|path| is_program(path))
        } else {
            in_path(&named.to_string_lossy())
        };
        return found.ok_or_else(|| {
            Error::new(
                Exit::MissingTool,
                format!(
                    "{VARIABLE} names {}, which is no program",
                    Path::new(&named).display()
                ),
                REMEDY,
            )
        });
    }
    in_path("clang-19")
        .or_else(|| Some(Path::new(DEBIAN).join("clang")).filter(|path| is_program(path)))
        .ok_or_else(|| Error::new(Exit::MissingTool, "clang-19 is not installed", REMEDY))
}

/// The option that chooses LLVM's linker, which link-time optimisation needs.
pub fn lld(clang: &Path) -> Result<OsString> {
    let real = std::fs::canonicalize(clang).unwrap_or_else(|_| clang.to_owned());
    if is_program(&real.with_file_name("ld.lld")) || in_path("ld.lld").is_some() {
        return Ok("-fuse-ld=lld".into());
    }
    let linker = in_path("ld.lld-19").ok_or_else(|| {
        Error::new(
            Exit::MissingTool,
            "link-time optimisation needs LLVM's linker, which is not installed",
            "install the package lld-19, or choose another linker with -fuse-ld=",
        )
    })?;
    let mut option = OsString::from("--ld-path=");
    option.push(linker);
    Ok(option)
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
