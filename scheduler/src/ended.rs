//! How a process ended, as the kernel tells it.

use nix::sys::signal::Signal;
use std::fmt;

/// A wait status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By an exit system call, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl Ended {
    pub(crate) fn of_status(status: std::process::ExitStatus) -> Ended {
        use std::os::unix::process::ExitStatusExt;
        match status.signal() {
            Some(signal) => Ended::Signal(signal),
            None => Ended::Exit(status.code().unwrap_or(0)),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Exit(code) => write!(f, "ended with status {code}"),
            Ended::Signal(n) => match Signal::try_from(*n) {
                Ok(signal) => write!(f, "was ended by {}", signal.as_str()),
                Err(_) => write!(f, "was ended by signal {n}"),
            },
        }
    }
}
