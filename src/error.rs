//! What goes wrong outside the program under test: one line for people, one exit code.

use crate::exit::Exit;
use crate::terminal::visible;
use raddle_scheduler::{RunError, StartError, Unsuitable};
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

    /// Something that has to be done for every run and failed: a defect, unless a limit was met.
    pub fn operation(cause: impl Into<String>, source: &std::io::Error) -> Error {
        let cause = cause.into();
        Error::of_limit(source, &cause).unwrap_or_else(|| Error::fault(cause))
    }

    /// What failed at a limit of the machine's or the user's, no defect: `error`, or what it came from, says
    /// so.
    fn of_limit(error: &(dyn std::error::Error + 'static), cause: &str) -> Option<Error> {
        let source = std::iter::successors(Some(error), |e| e.source())
            .find_map(|e| e.downcast_ref::<std::io::Error>())?;
        let remedy = match source.raw_os_error()? {
            libc::EFBIG => {
                return Some(Error::new(
                    Exit::InputOutput,
                    format!(
                        "{cause}: the limit of the size of files is smaller than what raddle shares with the program"
                    ),
                    "raise it (ulimit -f unlimited)",
                ));
            }
            libc::EMFILE => "raise the limit of open files (ulimit -n)",
            libc::ENFILE => "the whole machine has too many open files: close some",
            libc::EAGAIN => {
                "raise the limit of processes (ulimit -u), or ask for fewer at a time (-j)"
            }
            libc::ENOMEM => "free some memory, or raise its limit (ulimit -v)",
            libc::E2BIG => "give the program fewer or shorter arguments and variables",
            _ => return None,
        };
        Some(Error::new(Exit::InputOutput, cause, remedy))
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
        Error::of_limit(&error, &error.to_string())
            .unwrap_or_else(|| Error::new(Exit::Unsupported, error.to_string(), ""))
    }
}

impl From<StartError> for Error {
    fn from(error: StartError) -> Error {
        if let Some(of_limit) = Error::of_limit(&error, &error.to_string()) {
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
        if let Some(of_limit) = Error::of_limit(&error, &error.to_string()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error as Os;
    use std::path::PathBuf;

    #[test]
    fn limits_are_no_defects_and_no_fault_of_the_program() {
        let path = || PathBuf::from("there");
        let (action, limit) = ("act", std::time::Duration::ZERO);
        let from = |source| -> [(Error, Exit); 7] {
            let [a, b, c, d, e, f, g] = [(); 7].map(|()| Os::from_raw_os_error(source));
            let unreadable = |source| Unsuitable::Unreadable {
                path: path(),
                source,
            };
            [
                (StartError::Os { action, source: a }.into(), Exit::ToolFault),
                (RunError::Os { action, source: b }.into(), Exit::ToolFault),
                (RunError::Clone(c).into(), Exit::ToolFault),
                (
                    StartError::Runtime {
                        path: path(),
                        source: d,
                    }
                    .into(),
                    Exit::ToolFault,
                ),
                (unreadable(e).into(), Exit::Unsupported),
                (
                    StartError::Unsuitable(unreadable(f)).into(),
                    Exit::Unsupported,
                ),
                (Error::operation("cannot act", &g), Exit::ToolFault),
            ]
        };
        for source in [
            libc::EMFILE,
            libc::ENFILE,
            libc::EAGAIN,
            libc::ENOMEM,
            libc::EFBIG,
            libc::E2BIG,
        ] {
            for (error, _) in from(source) {
                assert_eq!(error.exit, Exit::InputOutput, "{error}");
                assert!(!error.remedy.is_empty(), "{error}");
            }
        }
        for (error, exit) in from(libc::EINVAL) {
            assert_eq!(error.exit, exit, "{error}");
        }
        let silent = Error::from(StartError::Silent { limit });
        assert_eq!(silent.exit, Exit::Unsupported);
    }
}
