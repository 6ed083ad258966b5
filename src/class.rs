//! What kind of failure an execution is: the one place that maps an outcome to a finding.

use raddle_protocol::outcome::End;
use raddle_protocol::trace::Outcome;
use std::fmt;

/// The class of a finding, as it stands in reports, witnesses and summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Assertion,
    Crash,
    Exit,
    Deadlock,
    UseAfterFree,
    DoubleFree,
    Misuse,
    Race,
    Livelock,
    Timeout,
    /// A thread that nobody joined or detached was alive at the end.
    Leak,
    /// `--same-output`, `--expect-output`: the program printed something else than expected.
    Output,
}

impl Class {
    pub const ALL: [Class; 12] = [
        Class::Assertion,
        Class::Crash,
        Class::Exit,
        Class::Deadlock,
        Class::UseAfterFree,
        Class::DoubleFree,
        Class::Misuse,
        Class::Race,
        Class::Livelock,
        Class::Timeout,
        Class::Leak,
        Class::Output,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Class::Assertion => "assertion",
            Class::Crash => "crash",
            Class::Exit => "exit",
            Class::Deadlock => "deadlock",
            Class::UseAfterFree => "use-after-free",
            Class::DoubleFree => "double-free",
            Class::Misuse => "misuse",
            Class::Race => "race",
            Class::Livelock => "livelock",
            Class::Timeout => "timeout",
            Class::Leak => "leak",
            Class::Output => "output",
        }
    }

    /// What it is, for people.
    pub const fn description(self) -> &'static str {
        match self {
            Class::Assertion => "A failed assertion",
            Class::Crash => "A fatal signal or abort",
            Class::Exit => "An exit status other than 0",
            Class::Deadlock => "Threads that wait for each other, or for what nobody will do",
            Class::UseAfterFree => "Use of a block of the heap that was freed",
            Class::DoubleFree => "A block of the heap that is freed twice",
            Class::Misuse => "Wrong use of a synchronisation object; a write outside a block",
            Class::Race => "Two accesses to the same memory in no order, one of them a write",
            Class::Livelock => "No end: threads run and nothing changes",
            Class::Timeout => "No end within the limit of time",
            Class::Leak => "A thread at exit that nobody joined or detached",
            Class::Output => "Other output than in the first execution, or than was expected",
        }
    }

    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an execution's end means for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It ended well.
    Fine,
    Finding(Class),
    /// An assumption did not hold: counts for nothing.
    Void,
    /// It left its schedule.
    Diverged,
    /// It needs something that cannot be controlled.
    Unsupported,
    ToolFault,
}

/// Maps an outcome to its meaning. An execution that has reached the limit of steps is a livelock
/// only if it goes round in circles, for which it has to be looked into.
pub fn meaning(outcome: &Outcome) -> Meaning {
    if outcome.timed_out {
        return Meaning::Finding(Class::Timeout);
    }
    match outcome.end {
        End::Exit if outcome.is_success() => Meaning::Fine,
        End::Exit => Meaning::Finding(Class::Exit),
        End::Assertion => Meaning::Finding(Class::Assertion),
        End::Abort | End::Signal => Meaning::Finding(Class::Crash),
        End::Deadlock => Meaning::Finding(Class::Deadlock),
        End::Misuse | End::HeapOverflow => Meaning::Finding(Class::Misuse),
        End::UseAfterFree => Meaning::Finding(Class::UseAfterFree),
        End::DoubleFree => Meaning::Finding(Class::DoubleFree),
        End::StepLimit | End::Livelock => Meaning::Finding(Class::Livelock),
        End::Divergence => Meaning::Diverged,
        End::Assumed | End::Redundant => Meaning::Void,
        End::Unsupported => Meaning::Unsupported,
        End::ToolFault | End::None => Meaning::ToolFault,
    }
}

/// The label of an execution that reached the limit of steps and is no livelock.
pub const STEP_LIMIT: &str = "step limit";

/// The label under which the summary counts an execution: the exit status for a normal end, the
/// class for a finding.
pub fn label(outcome: &Outcome) -> String {
    match meaning(outcome) {
        _ if outcome.end == End::Redundant => "redundant".to_string(),
        Meaning::Fine | Meaning::Finding(Class::Exit) => format!("exit {}", outcome.code),
        Meaning::Finding(class) => class.name().to_string(),
        Meaning::Void => "assumption".to_string(),
        Meaning::Diverged => "diverged".to_string(),
        Meaning::Unsupported => "unsupported".to_string(),
        Meaning::ToolFault => "tool-fault".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_meaning() {
        let finding = Meaning::Finding;
        let table = [
            (End::Exit, 0, Meaning::Fine, "exit 0"),
            (End::Exit, 3, finding(Class::Exit), "exit 3"),
            (End::Assertion, 0, finding(Class::Assertion), "assertion"),
            (End::Abort, 0, finding(Class::Crash), "crash"),
            (End::Signal, 11, finding(Class::Crash), "crash"),
            (End::Deadlock, 0, finding(Class::Deadlock), "deadlock"),
            (End::Misuse, 0, finding(Class::Misuse), "misuse"),
            (
                End::UseAfterFree,
                0,
                finding(Class::UseAfterFree),
                "use-after-free",
            ),
            (
                End::DoubleFree,
                0,
                finding(Class::DoubleFree),
                "double-free",
            ),
            (End::HeapOverflow, 0, finding(Class::Misuse), "misuse"),
            (End::Livelock, 0, finding(Class::Livelock), "livelock"),
            (End::StepLimit, 0, finding(Class::Livelock), "livelock"),
            (End::Divergence, 0, Meaning::Diverged, "diverged"),
            (End::Assumed, 0, Meaning::Void, "assumption"),
            (End::Redundant, 0, Meaning::Void, "redundant"),
            (End::Unsupported, 0, Meaning::Unsupported, "unsupported"),
            (End::ToolFault, 0, Meaning::ToolFault, "tool-fault"),
            (End::None, 0, Meaning::ToolFault, "tool-fault"),
        ];
        for end in End::ALL {
            assert!(table.iter().any(|row| row.0 == *end), "{end:?} is missing");
        }
        for (end, code, expected, text) in table {
            let outcome = Outcome::new(end, code);
            assert_eq!(meaning(&outcome), expected, "{end:?}");
            assert_eq!(label(&outcome), text);
        }
    }

    #[test]
    fn names_survive_parsing() {
        for class in Class::ALL {
            assert_eq!(Class::from_name(class.name()), Some(class));
        }
    }
}
