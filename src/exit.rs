//! The exit codes of the command: one enum, one table (the README's copy is checked by a test).

/// How the command ends. No number means two things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing was found, everything was explored or verified, or a replay of a program that has
    /// been repaired ran through.
    Clean = 0,
    /// Wrong options or arguments.
    Usage = 64,
    /// The witness file cannot be used.
    BadWitness = 65,
    /// A finding (ThreadSanitizer's number).
    Finding = 66,
    /// A replay left its schedule, or did not fail in the same way.
    Diverged = 67,
    /// The program cannot be run under control.
    Unsupported = 68,
    /// Verified, explored or searched, but only within the bounds that are printed.
    WithinBounds = 69,
    /// A defect of raddle itself.
    ToolFault = 70,
    /// Another program that is needed (a debugger, a compiler) is missing.
    MissingTool = 72,
    /// A file could not be read or written, or a limit of the machine was met.
    InputOutput = 74,
    /// Stopped by Ctrl-C, SIGTERM or a hangup before anything was found.
    Interrupted = 130,
}

impl Exit {
    /// Every code.
    pub const ALL: [Exit; 11] = [
        Exit::Clean,
        Exit::Usage,
        Exit::BadWitness,
        Exit::Finding,
        Exit::Diverged,
        Exit::Unsupported,
        Exit::WithinBounds,
        Exit::ToolFault,
        Exit::MissingTool,
        Exit::InputOutput,
        Exit::Interrupted,
    ];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Does it say that nothing is wrong, as far as was looked?
    pub fn is_good(self) -> bool {
        matches!(self, Exit::Clean | Exit::WithinBounds)
    }

    /// What a raddle process that ended with this code said; `None`, and any other number: that it
    /// is defective.
    pub fn of_code(code: Option<i32>) -> Exit {
        let all = Exit::ALL.into_iter();
        let mut same = all.filter(|exit| Some(i32::from(exit.code())) == code);
        same.next().unwrap_or(Exit::ToolFault)
    }

    /// What it means, for the table.
    pub const fn meaning(self) -> &'static str {
        match self {
            Exit::Clean => "nothing found; or all explored; or verified",
            Exit::Usage => "wrong options or arguments",
            Exit::BadWitness => {
                "the witness file cannot be used (truncated, corrupt, of another version or program)"
            }
            Exit::Finding => "a finding; a replay that failed in the same way",
            Exit::Diverged => {
                "a replay left its schedule or did not fail in the same way; a search did, with nothing named that may be why, or an exhaustive one"
            }
            Exit::Unsupported => {
                "the program cannot be run under control (missing, static, a script, 32-bit, built by another version of `raddle cc`, …)"
            }
            Exit::WithinBounds => {
                "verified, explored or searched, but only within the bounds that are printed"
            }
            Exit::ToolFault => "a defect of raddle itself",
            Exit::MissingTool => "another program that is needed (gdb, clang) is missing",
            Exit::InputOutput => {
                "a file could not be read or written, or a limit of the machine was met"
            }
            Exit::Interrupted => "stopped by Ctrl-C, SIGTERM or a hangup before anything was found",
        }
    }

    /// The table as it stands in the README.
    pub fn table() -> String {
        let mut table = String::from("| code | meaning |\n|---|---|\n");
        for exit in Exit::ALL {
            table.push_str(&format!("| {} | {} |\n", exit.code(), exit.meaning()));
        }
        table
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> std::process::ExitCode {
        std::process::ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_means_two_things() {
        let mut codes: Vec<u8> = Exit::ALL.iter().map(|e| e.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Exit::ALL.len());
    }
}
