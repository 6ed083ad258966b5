//! What goes wrong outside the program under test: one line for people, one exit code.

use crate::exit::Exit;
use crate::terminal::visible;
use raddle_scheduler::{RunError, StartError, Unsuitable};
use std::fmt::Display;
use std::path::Path;

/// An error of the command. Shown as `raddle: error: cause; remedy`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}{}{remedy}", if .remedy.is_empty() { "" } else { "; " })]
pub struct Error {
    pub exit: Exit,
    /// What is wrong, and with what.
    pub cause: String,
    /// What to do about it; empty where the cause says it.
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
            _ if error.raw_os_error() == Some(libc::EMFILE) => {
                "raise the limit of open files (ulimit -n)"
            }
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::PermissionDenied => "check its permissions",
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                "free some space or name another place"
            }
            _ => "",
        };
        Error::new(
            Exit::InputOutput,
            format!("cannot {what} {}: {error}", path.display()),
            remedy,
        )
    }

    /// What failed at a limit of the machine's or the user's, which `source` names, and is no defect.
    pub fn of_limit(source: &std::io::Error, cause: &impl Display) -> Option<Error> {
        let remedy = match source.raw_os_error()? {
            libc::EMFILE => "raise the limit of open files (ulimit -n)",
            libc::ENFILE => "the whole machine has too many open files: close some",
            libc::EAGAIN => {
                "raise the limit of processes (ulimit -u), or ask for fewer at a time (-j)"
            }
            libc::ENOMEM => "free some memory, or raise its limit (ulimit -v)",
            _ => return None,
        };
        Some(Error::new(Exit::InputOutput, cause.to_string(), remedy))
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

impl From<Unsuitable> for Error {
    fn from(error: Unsuitable) -> Error {
        Error::new(Exit::Unsupported, error.to_string(), "")
    }
}

impl From<StartError> for Error {
    fn from(error: StartError) -> Error {
        if let StartError::Os { source, .. } = &error
            && source.raw_os_error() == Some(libc::EFBIG)
        {
            return Error::new(
                Exit::InputOutput,
                format!(
                    "{error}: the limit of the size of files is smaller than what raddle shares with the program"
                ),
                "raise it (ulimit -f unlimited)",
            );
        }
        if let StartError::Os { source, .. } = &error
            && let Some(of_limit) = Error::of_limit(source, &error)
        {
            return of_limit;
        }
        let exit = match &error {
            StartError::Unsuitable(_)
            | StartError::Stale(_)
            | StartError::Ended { .. }
            | StartError::Silent { .. }
            | StartError::Deaf
            | StartError::Garbage { .. }
            | StartError::Randomisation(_) => Exit::Unsupported,
            StartError::Stopped => Exit::Interrupted,
            StartError::Runtime { .. } | StartError::Version { .. } | StartError::Os { .. } => {
                Exit::ToolFault
            }
        };
        Error::new(exit, error.to_string(), "")
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        if let RunError::Os { source, .. } | RunError::Clone(source) = &error
            && let Some(of_limit) = Error::of_limit(source, &error)
        {
            return of_limit;
        }
        let exit = match error {
            RunError::Start(start) => return start.into(),
            RunError::Stopped => Exit::Interrupted,
            RunError::PagesCorrupt { .. }
            | RunError::Garbage
            | RunError::TooManyRecords { .. }
            | RunError::JobTooBig { .. } => Exit::Unsupported,
            RunError::ServerGone { .. }
            | RunError::ServerSilent
            | RunError::Clone(_)
            | RunError::Os { .. } => Exit::ToolFault,
        };
        Error::new(exit, error.to_string(), "")
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.lines().map(str::trim).collect();
    visible(words.join(" ").trim())
}
