//! What the fuzz targets share: raw bytes into the forms that the decoders expect.

use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Node, Op};
use raddle_protocol::hash::fnv1a;
use raddle_protocol::schedule::Step;
use raddle_protocol::witness::FORMAT;

/// A witness file with `body` as its body and a checksum that fits.
pub fn sealed(body: &[u8]) -> Vec<u8> {
    let mut file = format!("raddle witness {FORMAT}\n").into_bytes();
    file.extend_from_slice(body);
    file.push(b'\n');
    let sum = fnv1a(&file);
    file.extend_from_slice(format!("checksum {sum:016x}\n").as_bytes());
    file
}

/// Reads numbers from the front of a byte string; 0 once it is used up.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    /// The next `n` (at most 8) bytes as a little-endian number.
    pub fn number(&mut self, n: usize) -> u64 {
        let (now, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        now.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b))
    }

    /// Is anything left?
    pub fn more(&self) -> bool {
        !self.0.is_empty()
    }
}

/// Records as a hostile target could write them: kinds, threads, addresses and expressions are
/// drawn from small ranges half of the time, so that they meet each other.
pub fn records(bytes: &[u8]) -> (Vec<Event>, Vec<Node>, Vec<Step>) {
    let mut bytes = Bytes(bytes);
    let (mut events, mut nodes, mut steps) = (Vec::new(), vec![Node::default()], Vec::new());
    while bytes.more() && events.len() + nodes.len() + steps.len() < 200 {
        let tame = bytes.number(1);
        let (kinds, ops) = (Kind::ALL.len() as u64, Op::ALL.len() as u64);
        let below =
            |tame: u64, wild: u64, range: u64| if tame & 4 == 0 { wild % range } else { wild };
        match tame & 3 {
            0 | 1 => events.push(Event {
                kind: match tame & 8 {
                    0 => Kind::ALL[(bytes.number(1) % kinds) as usize] as u8,
                    _ => bytes.number(1) as u8,
                },
                size: below(tame, bytes.number(1), 9) as u8,
                thread: below(tame, bytes.number(2), 4) as u16,
                aux: below(tame, bytes.number(4), nodes.len() as u64) as u32,
                object: below(tame, bytes.number(8), 16),
                value: below(tame, bytes.number(8), 4),
                pc: below(tame, bytes.number(2), 8),
            }),
            2 => nodes.push(Node {
                op: match tame & 8 {
                    0 => Op::ALL[(bytes.number(1) % ops) as usize] as u8,
                    _ => bytes.number(1) as u8,
                },
                width: below(tame, bytes.number(1), 65) as u8,
                extra: below(tame, bytes.number(2), 64) as u16,
                a: below(tame, bytes.number(4), nodes.len() as u64) as u32,
                b: below(tame, bytes.number(4), nodes.len() as u64) as u32,
                c: below(tame, bytes.number(4), nodes.len() as u64) as u32,
            }),
            _ => steps.push(Step {
                what: bytes.number(2) as u16,
                count: bytes.number(2) as u16,
            }),
        }
    }
    (events, nodes, steps)
}
