//! Writes what the runtime would write: events and expression nodes.

use crate::machine::record;
use crate::program::MEMORY;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Node, Op, Why};
use raddle_protocol::{Slot, slot};
use std::collections::{HashMap, HashSet};

/// A register: its value and the expression behind it (0: concrete).
#[derive(Clone, Copy, Debug, Default)]
pub struct Value {
    pub value: u16,
    pub node: u32,
    /// Bits: 16, or 1 for a truth value.
    pub truth: bool,
}

impl Value {
    pub fn concrete(value: u16) -> Value {
        Value {
            value,
            ..Value::default()
        }
    }
}

/// What is written, and what the shadow knows about memory.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    pub events: Vec<Event>,
    pub nodes: Vec<Node>,
    symbolic: bool,
    /// Ranges of the job; `None`: everything is a step.
    ranges: Option<Vec<(u64, u64)>>,
    /// Bytes that some record has named.
    initialised: HashSet<u64>,
    /// Bytes outside the ranges: who touched them first and whether anybody wrote, and their
    /// expressions (8 bits each).
    owner: HashMap<u64, (Slot, bool)>,
    shadow: HashMap<u64, u32>,
}

impl Recorder {
    /// For executions of which only the result matters: every access is a step.
    pub fn silent() -> Recorder {
        Recorder::default()
    }

    /// As [`Recorder::silent`], but only accesses of the ranges are steps.
    pub fn coarse(ranges: &[(u64, u64)]) -> Recorder {
        Recorder {
            ranges: Some(ranges.to_vec()),
            ..Recorder::default()
        }
    }

    /// For an execution with the symbolic shadow.
    pub fn symbolic(ranges: &[(u64, u64)]) -> Recorder {
        Recorder {
            symbolic: true,
            nodes: vec![Node::default()],
            ranges: Some(ranges.to_vec()),
            ..Recorder::default()
        }
    }

    /// Is an access of this place a step?
    pub fn is_visible(&self, address: u64, size: u8) -> bool {
        let (first, end) = (address, address + u64::from(size));
        match &self.ranges {
            None => true,
            Some(ranges) => ranges.iter().any(|&(lo, hi)| first < hi && lo < end),
        }
    }

    fn node(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn op(&mut self, op: Op, width: u8, operands: [u32; 3], extra: u16) -> u32 {
        self.node(Node {
            op: op as u8,
            width,
            extra,
            a: operands[0],
            b: operands[1],
            c: operands[2],
        })
    }

    fn operand(&mut self, value: Value) -> u32 {
        match value.node {
            0 => self.node(Node::constant(
                if value.truth { 1 } else { 16 },
                value.value.into(),
            )),
            node => node,
        }
    }

    /// The expression of a value as a machine word.
    pub fn widened(&mut self, value: Value) -> u32 {
        match value.node {
            0 => 0,
            node => self.op(Op::ZExt, 64, [node, 0, 0], 0),
        }
    }

    pub fn binary(&mut self, op: Op, a: Value, b: Value) -> Value {
        let (x, y) = (a.value, b.value);
        let (value, truth) = match op {
            Op::Add => (x.wrapping_add(y), false),
            Op::Sub => (x.wrapping_sub(y), false),
            Op::Mul => (x.wrapping_mul(y), false),
            Op::Xor => (x ^ y, false),
            Op::URem => (x % y, false),
            Op::Eq => (u16::from(x == y), true),
            Op::Ne => (u16::from(x != y), true),
            Op::Ult => (u16::from(x < y), true),
            Op::Sle => (u16::from((x as i16) <= (y as i16)), true),
            other => unreachable!("{other:?} is not used"),
        };
        let mut node = 0;
        if self.symbolic && (a.node != 0 || b.node != 0) {
            let (l, r) = (self.operand(a), self.operand(b));
            node = self.op(op, if truth { 1 } else { 16 }, [l, r, 0], 0);
        }
        Value { value, node, truth }
    }

    pub fn binary_const(&mut self, op: Op, a: Value, b: u16) -> Value {
        self.binary(op, a, Value::concrete(b))
    }

    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let chosen = if condition.value == 1 { yes } else { no };
        if !self.symbolic || condition.node == 0 {
            return chosen;
        }
        let (l, r) = (self.operand(yes), self.operand(no));
        Value {
            node: self.op(Op::Ite, 16, [condition.node, l, r], 0),
            ..chosen
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn step(
        &mut self,
        thread: Slot,
        kind: Kind,
        size: u8,
        aux: u32,
        object: u64,
        value: u64,
        pc: u64,
    ) {
        if self.symbolic {
            self.events.push(Event {
                size,
                aux,
                object,
                value,
                pc,
                ..record(kind, thread)
            });
        }
    }

    /// A record as it is.
    pub fn event(&mut self, event: Event) {
        if self.symbolic {
            self.events.push(event);
        }
    }

    pub fn branch(&mut self, thread: Slot, kind: Kind, aux: u32, value: u64, why: Why, pc: u64) {
        if aux != 0 || (kind == Kind::Assume && value == 0) {
            self.step(thread, kind, why as u8, aux, 0, value, pc);
        }
    }

    pub fn input(&mut self, thread: Slot, index: u32, byte: u8, pc: u64) -> Value {
        let mut node = 0;
        if self.symbolic {
            let input = self.node(Node {
                op: Op::Input as u8,
                width: 8,
                extra: thread,
                a: index,
                b: 0,
                c: 1,
            });
            self.step(thread, Kind::Input, 0, input, 0, index.into(), pc);
            node = self.op(Op::ZExt, 16, [input, 0, 0], 0);
        }
        Value {
            value: byte.into(),
            node,
            truth: false,
        }
    }

    /// The first record that names a byte is preceded by its content.
    fn initialise(&mut self, thread: Slot, place: (u8, u8), before: u16) {
        for i in 0..place.1 {
            let address = MEMORY + u64::from(place.0 + i);
            if self.initialised.insert(address) {
                let byte = u64::from(before >> (8 * i)) & 0xff;
                self.step(thread, Kind::Init, 1, 0, address, byte, 0);
            }
        }
    }

    /// Notes that a thread touches bytes that are not known to be shared.
    fn touch(&mut self, thread: Slot, place: (u8, u8), write: bool) {
        for i in 0..place.1 {
            let address = MEMORY + u64::from(place.0 + i);
            let owner = self.owner.entry(address).or_insert((thread, write));
            owner.1 |= write;
            if owner.0 != thread {
                owner.0 = slot::NONE;
                if owner.1 {
                    self.step(thread, Kind::Shared, 0, 0, address, 1, 0);
                }
            }
        }
    }

    /// A thread that waits for what is not known to be shared: it is from now on.
    pub fn expose(&mut self, thread: Slot, place: (u8, u8)) {
        for i in 0..place.1 {
            let address = MEMORY + u64::from(place.0 + i);
            self.step(thread, Kind::Shared, 0, 0, address, 1, 0);
        }
        if let Some(ranges) = &mut self.ranges {
            let first = MEMORY + u64::from(place.0);
            ranges.push((first, first + u64::from(place.1)));
        }
    }

    /// The records of what was not shared.
    pub fn finish(&mut self) {
        let mut owner: Vec<_> = self.owner.drain().collect();
        owner.sort_unstable();
        for (address, (thread, written)) in owner {
            if thread != slot::NONE || !written {
                let size = u8::from(written);
                self.step(thread, Kind::Private, size, 0, address, 1, 0);
            }
        }
    }

    /// The expression of a place that holds this value.
    fn loaded(&mut self, place: (u8, u8), value: u16) -> u32 {
        let bytes = (0..place.1).map(|i| MEMORY + u64::from(place.0 + i));
        let known = |at| self.shadow.get(&at).copied().unwrap_or_default();
        let mut nodes: Vec<u32> = bytes.map(known).collect();
        if nodes.iter().all(|&node| node == 0) {
            return 0;
        }
        for (node, byte) in nodes.iter_mut().zip(value.to_le_bytes()) {
            if *node == 0 {
                *node = self.node(Node::constant(8, byte.into()));
            }
        }
        match nodes[..] {
            [low, high] => self.op(Op::Concat, 16, [high, low, 0], 0),
            [byte] => self.op(Op::ZExt, 16, [byte, 0, 0], 0),
            _ => 0,
        }
    }

    /// A fresh variable for what the event with this index returned.
    fn variable(&mut self, size: u8, event: usize) -> u32 {
        let read = self.node(Node {
            op: Op::Read as u8,
            width: 8 * size,
            a: event as u32,
            ..Node::default()
        });
        match size {
            1 => self.op(Op::ZExt, 16, [read, 0, 0], 0),
            _ => read,
        }
    }

    pub fn read(
        &mut self,
        thread: Slot,
        place: (u8, u8),
        value: u16,
        step: bool,
        pc: u64,
    ) -> Value {
        let mut result = Value::concrete(value);
        if self.symbolic && step {
            self.initialise(thread, place, value);
            result.node = self.variable(place.1, self.events.len());
            let address = MEMORY + u64::from(place.0);
            self.step(thread, Kind::Read, place.1, 0, address, value.into(), pc);
        } else if self.symbolic {
            self.touch(thread, place, false);
            result.node = self.loaded(place, value);
        }
        result
    }

    /// What an update finds, before its record (of [`Recorder::write`]) is written.
    pub fn old_of_update(
        &mut self,
        thread: Slot,
        place: (u8, u8),
        value: u16,
        step: bool,
    ) -> Value {
        let mut result = Value::concrete(value);
        if self.symbolic && step {
            self.initialise(thread, place, value);
            result.node = self.variable(place.1, self.events.len());
        } else if self.symbolic {
            self.touch(thread, place, true);
            result.node = self.loaded(place, value);
        }
        result
    }

    #[allow(clippy::too_many_arguments)]
    pub fn write(
        &mut self,
        thread: Slot,
        kind: Kind,
        place: (u8, u8),
        before: u16,
        value: Value,
        step: bool,
        pc: u64,
    ) {
        if !self.symbolic {
            return;
        }
        let mask = if place.1 == 1 { 0xff } else { 0xffff };
        let narrowed = match (value.node, place.1) {
            (0, _) => 0,
            (node, 1) => self.op(Op::Extract, 8, [node, 0, 0], 0),
            (node, _) => node,
        };
        if step {
            self.initialise(thread, place, before);
            let address = MEMORY + u64::from(place.0);
            let written = u64::from(value.value & mask);
            self.step(thread, kind, place.1, narrowed, address, written, pc);
            return;
        }
        self.touch(thread, place, true);
        for i in 0..place.1 {
            let node = match (narrowed, place.1) {
                (0, _) => 0,
                (node, 1) => node,
                (node, _) => self.op(Op::Extract, 8, [node, 0, 0], u16::from(8 * i)),
            };
            self.shadow.insert(MEMORY + u64::from(place.0 + i), node);
        }
    }
}
