//! What goes wrong outside the program under test: one line for people, one exit code.

use crate::exit::Exit;
use std::path::Path;

/// An error of the command. Shown as `raddle: error: cause; remedy`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {remedy}")]
pub struct Error {
    pub exit: Exit,
    /// What is wrong, and with what.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

/// The command's results.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(exit: Exit, cause: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error {
            exit,
            cause: one_line(&cause.into()),
            remedy: one_line(&remedy.into()),
        }
    }

    pub fn usage(cause: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(Exit::Usage, cause, remedy)
    }

    /// A file operation that failed.
    pub fn file(what: &str, path: &Path, error: &std::io::Error) -> Error {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::PermissionDenied => "check its permissions",
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                "free some space or name another place"
            }
            _ => "see the cause above",
        };
        Error::new(
            Exit::InputOutput,
            format!("cannot {what} {}: {error}", path.display()),
            remedy,
        )
    }

    /// A defect of raddle itself.
    pub fn fault(cause: impl Into<String>) -> Error {
        Error::new(
            Exit::ToolFault,
            cause,
            "this is a defect of raddle, please report it",
        )
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.lines().map(str::trim).collect();
    words.join(" ").trim().to_string()
}
