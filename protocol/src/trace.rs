//! What one execution left behind.

use crate::Slot;
use crate::event::{Event, Kind};
use crate::expr::{Node, Op};
use crate::outcome::{End, Wait};
use crate::schedule::Step;
use alloc::string::String;
use alloc::vec::Vec;

/// How the execution ended: the decoded [`crate::outcome::Raw`] joined with the wait status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended. The scheduler never returns [`End::None`]: it is replaced by what the wait
    /// status says.
    pub end: End,
    /// Exit status or signal number.
    pub code: i32,
    /// Who was running.
    pub thread: Slot,
    /// See [`End`].
    pub detail: [u64; 4],
    /// What the program or the runtime said.
    pub message: String,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    /// Waiting threads, for a deadlock.
    pub waits: Vec<Wait>,
    /// The controller killed it: wall-clock limit. Unless the runtime had written how the execution
    /// ended, `thread` then is the one that ran last, `message` says what it was doing, and
    /// `detail` holds its last announced operation (a [`Kind`] as a number, 0: none), the pc of
    /// that, the number of the system call that it was blocked in (`u64::MAX`: none), and the
    /// number of steps.
    pub timed_out: bool,
}

/// Sums over one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub steps: u64,
    pub events: u64,
    pub switches: u64,
    pub preemptions: u64,
    pub threads: u64,
    /// Virtual nanoseconds.
    pub clock: u64,
}

/// Events, taken steps, expressions and outcome of one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Empty unless the job asked for events.
    pub events: Vec<Event>,
    /// The complete schedule that was taken; as a prefix it reproduces the execution.
    pub taken: Vec<Step>,
    /// Expression nodes; index 0 is unused.
    pub nodes: Vec<Node>,
    pub outcome: Outcome,
    pub counters: Counters,
    /// What was not controlled, by name.
    pub uncontrolled: Vec<String>,
    /// What the target wrote to standard output and standard error.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// What is wrong with a record that came from the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// An event of an unknown kind at this index.
    Kind(usize),
    /// A node with an unknown operation, a bad width or an operand that is not before it.
    Node(usize),
    /// An event that names a node which does not exist.
    Expression(usize),
    /// A step with a count of 0.
    Step(usize),
}

impl core::fmt::Display for Corrupt {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Corrupt::Kind(i) => write!(f, "event {i} is of no known kind"),
            Corrupt::Node(i) => write!(f, "expression {i} is malformed"),
            Corrupt::Expression(i) => {
                write!(f, "event {i} names an expression that does not exist")
            }
            Corrupt::Step(i) => write!(f, "step {i} has a count of 0"),
        }
    }
}

/// Checks all that the rest of raddle takes for granted about records that a target wrote.
pub fn validate(events: &[Event], nodes: &[Node], taken: &[Step]) -> Result<(), Corrupt> {
    for (i, step) in taken.iter().enumerate() {
        if step.count == 0 {
            return Err(Corrupt::Step(i));
        }
    }
    for (i, node) in nodes.iter().enumerate().skip(1) {
        let op = node.op().ok_or(Corrupt::Node(i))?;
        let operands = [node.a, node.b, node.c];
        let bad_operand = operands[..op.arity()]
            .iter()
            .any(|&x| x == 0 || x as usize >= i);
        let bad_event = op == Op::Read && node.a as usize >= events.len();
        if node.width == 0 || node.width > 64 || bad_operand || bad_event {
            return Err(Corrupt::Node(i));
        }
    }
    for (i, event) in events.iter().enumerate() {
        let kind = event.kind().ok_or(Corrupt::Kind(i))?;
        let names_node = matches!(
            kind,
            Kind::Write
                | Kind::AtomicWrite
                | Kind::Rmw
                | Kind::Branch
                | Kind::Assume
                | Kind::Input
                | Kind::ThreadCreate
        );
        if names_node && event.aux != 0 && event.aux as usize >= nodes.len() {
            return Err(Corrupt::Expression(i));
        }
    }
    Ok(())
}
