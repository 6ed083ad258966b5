//! What one execution left behind.

use crate::Slot;
use crate::event::{Event, Kind};
use crate::expr::{MAX_WIDTH, Node, Op};
use crate::hash::{Fnv1a, LongHash};
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
    /// The exit status is not 0, but one with which all is well.
    pub accepted: bool,
}

impl Outcome {
    /// An execution that ended like this in its first thread, and said nothing.
    pub fn new(end: End, code: i32) -> Outcome {
        Outcome {
            end,
            code,
            thread: 0,
            detail: [0; 4],
            message: String::new(),
            stack: Vec::new(),
            waits: Vec::new(),
            timed_out: false,
            accepted: false,
        }
    }

    /// Did the program say that all is well?
    pub fn is_success(&self) -> bool {
        self.end == End::Exit && (self.code == 0 || self.accepted) && !self.timed_out
    }
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
    /// Waits that ended by their time though others could go on ([`crate::event::Kind::Early`]).
    pub early: u64,
    /// Bits of [`crate::shared::given`].
    pub given: u64,
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
    /// Libraries that the program loaded by itself, in order: what is added to a file's own
    /// addresses, its path.
    pub loaded: Vec<(u64, Vec<u8>)>,
    /// What the target wrote to standard output and standard error, as far as it was kept.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// What it wrote to standard output after that.
    pub stdout_rest: LongHash,
}

impl Trace {
    /// The trace of an execution of which nothing else is known.
    pub fn new(events: Vec<Event>, taken: Vec<Step>, outcome: Outcome) -> Trace {
        Trace {
            events,
            taken,
            nodes: Vec::new(),
            outcome,
            counters: Counters::default(),
            uncontrolled: Vec::new(),
            loaded: Vec::new(),
            stdout: Vec::new(),
            stderr: Vec::new(),
            stdout_rest: LongHash::default(),
        }
    }

    /// A hash of all that the target wrote to standard output: [`output_hash`].
    pub fn output_hash(&self) -> u64 {
        output_hash(&self.stdout, &self.stdout_rest)
    }
}

/// A hash of a whole output, of which the beginning was kept.
pub fn output_hash(kept: &[u8], rest: &LongHash) -> u64 {
    let mut hash = Fnv1a::default();
    hash.add(kept);
    if rest.bytes() > 0 {
        hash.add(&rest.finish().to_le_bytes());
    }
    hash.finish()
}

/// What is wrong with a record that came from the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// An event of an unknown kind at this index.
    Kind(usize),
    /// A node with an unknown operation, widths that do not fit, or an operand that is not before
    /// it.
    Node(usize),
    /// An event that names a node which does not exist or is of another width than its value.
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
                write!(
                    f,
                    "event {i} names an expression that does not exist or does not fit"
                )
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
    for i in 1..nodes.len() {
        if !node_is_sound(i, nodes, events) {
            return Err(Corrupt::Node(i));
        }
    }
    for (i, event) in events.iter().enumerate() {
        let kind = event.kind().ok_or(Corrupt::Kind(i))?;
        let width = match kind {
            Kind::Write | Kind::AtomicWrite | Kind::Rmw => Some(u32::from(event.size) * 8),
            Kind::ThreadCreate => Some(64),
            Kind::Assume => Some(1),
            Kind::Branch | Kind::Input => None,
            _ => continue,
        };
        if event.aux != 0 {
            let node = nodes
                .get(event.aux as usize)
                .ok_or(Corrupt::Expression(i))?;
            // What is decided upon has at most 64 bits.
            if width.is_some_and(|width| width != u32::from(node.width)) || node.width > 64 {
                return Err(Corrupt::Expression(i));
            }
        }
    }
    Ok(())
}

/// Is node `i` of a known operation, on operands before it whose widths fit?
fn node_is_sound(i: usize, nodes: &[Node], events: &[Event]) -> bool {
    let node = &nodes[i];
    let Some(op) = node.op() else { return false };
    let operands = [node.a, node.b, node.c];
    let before = operands[..op.arity()]
        .iter()
        .all(|&x| x != 0 && (x as usize) < i);
    let widest = if op.arity() == 0 { 64 } else { MAX_WIDTH };
    if !(1..=widest).contains(&node.width) || !before {
        return false;
    }
    let of = |x: u32| u32::from(nodes[x as usize].width);
    let width = u32::from(node.width);
    match op {
        Op::Const => true,
        Op::Input => node
            .b
            .checked_add(width / 8)
            .is_some_and(|end| end <= node.c),
        Op::Read => events.get(node.a as usize).is_some_and(|e| {
            let reads = [Kind::Read, Kind::AtomicRead, Kind::Rmw];
            e.kind().is_some_and(|k| reads.contains(&k)) && u32::from(e.size) * 8 == width
        }),
        Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
            width == 1 && of(node.a) == of(node.b)
        }
        Op::Ite => of(node.a) == 1 && of(node.b) == width && of(node.c) == width,
        Op::ZExt | Op::SExt => of(node.a) <= width,
        Op::Extract => u32::from(node.extra) + width <= of(node.a),
        Op::Concat => of(node.a) + of(node.b) == width,
        _ => of(node.a) == width && of(node.b) == width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(size: u8) -> Event {
        Event {
            kind: Kind::Read as u8,
            size,
            ..Event::default()
        }
    }

    fn node(op: Op, width: u8, extra: u16, operands: [u32; 3]) -> Node {
        let [a, b, c] = operands;
        Node {
            op: op as u8,
            width,
            extra,
            a,
            b,
            c,
        }
    }

    /// Each row's node stands behind: 1 a 32-bit read, 2 a 32-bit constant, 3 a truth value,
    /// 4 eight bits.
    #[test]
    fn a_node_must_fit_its_operands() {
        let table = [
            (node(Op::Add, 32, 0, [1, 2, 0]), true),
            (node(Op::Add, 32, 0, [1, 4, 0]), false),
            (node(Op::Add, 64, 0, [1, 2, 0]), false),
            (node(Op::Add, 32, 0, [1, 0, 0]), false),
            (node(Op::Add, 32, 0, [1, 5, 0]), false),
            (node(Op::Eq, 1, 0, [1, 2, 0]), true),
            (node(Op::Eq, 32, 0, [1, 2, 0]), false),
            (node(Op::Ite, 32, 0, [3, 1, 2]), true),
            (node(Op::Ite, 32, 0, [1, 1, 2]), false),
            (node(Op::ZExt, 64, 0, [1, 0, 0]), true),
            (node(Op::ZExt, MAX_WIDTH, 0, [1, 0, 0]), true),
            (node(Op::ZExt, MAX_WIDTH + 1, 0, [1, 0, 0]), false),
            (node(Op::ZExt, 16, 0, [1, 0, 0]), false),
            (node(Op::Extract, 8, 24, [1, 0, 0]), true),
            (node(Op::Extract, 8, 25, [1, 0, 0]), false),
            (node(Op::Concat, 40, 0, [1, 4, 0]), true),
            (node(Op::Concat, 41, 0, [1, 4, 0]), false),
            (node(Op::Read, 32, 0, [0, 0, 0]), true),
            (node(Op::Read, 64, 0, [0, 0, 0]), false),
            (node(Op::Read, 32, 0, [1, 0, 0]), false),
            (node(Op::Input, 32, 0, [0, 4, 8]), true),
            (node(Op::Input, 32, 0, [0, 5, 8]), false),
            (node(Op::Input, 32, 0, [0, u32::MAX, 8]), false),
            (node(Op::Const, 0, 0, [0, 0, 0]), false),
            (node(Op::Const, 65, 0, [0, 0, 0]), false),
        ];
        let events = [read(4)];
        for (i, (last, sound)) in table.into_iter().enumerate() {
            let nodes = [
                Node::default(),
                node(Op::Read, 32, 0, [0, 0, 0]),
                Node::constant(32, 7),
                node(Op::Ult, 1, 0, [1, 2, 0]),
                Node::constant(8, 7),
                last,
            ];
            let expected = if sound { Ok(()) } else { Err(Corrupt::Node(5)) };
            assert_eq!(validate(&events, &nodes, &[]), expected, "row {i}");
        }
    }

    #[test]
    fn an_event_must_fit_its_expression() {
        let nodes = [Node::default(), Node::constant(32, 7)];
        let event = |kind: Kind, size: u8, aux: u32| Event {
            kind: kind as u8,
            size,
            aux,
            ..Event::default()
        };
        let table = [
            (event(Kind::Write, 4, 1), Ok(())),
            (event(Kind::Write, 4, 0), Ok(())),
            (event(Kind::Write, 8, 1), Err(Corrupt::Expression(0))),
            (event(Kind::Write, 4, 2), Err(Corrupt::Expression(0))),
            (event(Kind::Branch, 0, 1), Ok(())),
            (event(Kind::Assume, 0, 1), Err(Corrupt::Expression(0))),
            (event(Kind::ThreadCreate, 0, 1), Err(Corrupt::Expression(0))),
            (
                Event {
                    kind: 255,
                    ..Event::default()
                },
                Err(Corrupt::Kind(0)),
            ),
        ];
        for (i, (event, expected)) in table.into_iter().enumerate() {
            assert_eq!(validate(&[event], &nodes, &[]), expected, "row {i}");
        }
        let empty = Step { what: 0, count: 0 };
        assert_eq!(validate(&[], &nodes, &[empty]), Err(Corrupt::Step(0)));
    }
}
