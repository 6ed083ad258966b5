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
            Ended::Signal(n) => write!(f, "was ended by {}", signal_name(*n)),
        }
    }
}

/// The name of the signal with this number.
pub fn signal_name(number: i32) -> String {
    match (Signal::try_from(number), number - libc::SIGRTMIN()) {
        (Ok(signal), _) => signal.as_str().to_string(),
        (Err(_), 0) => "SIGRTMIN".to_string(),
        (Err(_), n) if n > 0 && number <= libc::SIGRTMAX() => format!("SIGRTMIN+{n}"),
        (Err(_), _) => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names() {
        let table = [
            (libc::SIGUSR1, "SIGUSR1"),
            (libc::SIGPROF, "SIGPROF"),
            (libc::SIGRTMIN(), "SIGRTMIN"),
            (libc::SIGRTMIN() + 3, "SIGRTMIN+3"),
            (libc::SIGRTMAX() + 1, "signal 65"),
            (0, "signal 0"),
        ];
        for (number, name) in table {
            assert_eq!(signal_name(number), name);
        }
    }
}
