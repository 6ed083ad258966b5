//! Words for what the heap finds.

use super::Freed;
use super::arena::{Fault, Info};
use crate::gate::{self, Fatal};
use crate::os;
use core::fmt::{self, Write};
use raddle_protocol::outcome::End;
use raddle_protocol::slot;

/// What was being done when the fault was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A function of the malloc family was called with this address.
    Call { name: &'static str, address: u64 },
    /// The program accessed `size` bytes at `address`.
    Access {
        name: &'static str,
        address: u64,
        size: u64,
    },
    /// The heap looked through its blocks.
    Check,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Call { name, .. } => f.write_str(name),
            Operation::Access { name, size: 1, .. } => write!(f, "{name} of 1 byte"),
            Operation::Access { name, size, .. } => write!(f, "{name} of {size} bytes"),
            Operation::Check => f.write_str("check of the heap"),
        }
    }
}

struct Said {
    operation: Operation,
    fault: Fault,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.operation;
        match (self.fault, operation) {
            (Fault::Wild, Operation::Call { address, .. }) => {
                write!(f, "{operation} of {address:#x}, which is not a heap block")
            }
            (Fault::Wild, _) => write!(f, "{operation} in the heap but outside any block"),
            (Fault::Freed(block), Operation::Access { address, .. }) => write!(
                f,
                "{operation} at offset {} of a freed block of {} bytes",
                address.wrapping_sub(block.start as u64) as i64,
                block.size
            ),
            (Fault::Freed(block), _) => write!(
                f,
                "{operation} of a block of {} bytes that was freed already",
                block.size
            ),
            (Fault::Interior(block), Operation::Call { address, .. }) => write!(
                f,
                "{operation} of an address {} bytes inside a heap block of {} bytes",
                address.wrapping_sub(block.start as u64) as i64,
                block.size
            ),
            (Fault::Interior(block), _) => {
                write!(f, "{operation} inside a block of {} bytes", block.size)
            }
            (Fault::Overflow { block, at }, Operation::Access { .. }) => {
                let offset = at as i64 - block.start as i64;
                write!(
                    f,
                    "{operation} touches offset {offset} of a heap block of {} bytes",
                    block.size
                )
            }
            (Fault::Overflow { block, at }, _) => write!(
                f,
                "a heap block of {} bytes was written at offset {}, noticed by {operation}",
                block.size,
                at as i64 - block.start as i64
            ),
            (Fault::Header { slot }, _) => write!(
                f,
                "the header of the heap block near {slot:#x} was overwritten, \
                 noticed by {operation}"
            ),
            (Fault::WrittenAfterFree { block, at }, _) => write!(
                f,
                "a freed heap block of {} bytes was written at offset {}, noticed by {operation}",
                block.size,
                at - block.start
            ),
        }
    }
}

/// How an execution with this fault ends, and the block that it is about.
fn classify(fault: Fault, operation: Operation) -> (End, Option<Info>, u64) {
    let call = matches!(operation, Operation::Call { .. });
    let asked = match operation {
        Operation::Call { address, .. } | Operation::Access { address, .. } => address,
        Operation::Check => 0,
    };
    match fault {
        Fault::Wild if call => (End::Misuse, None, asked),
        Fault::Wild => (End::HeapOverflow, None, asked),
        Fault::Interior(block) => (End::Misuse, Some(block), asked),
        Fault::Freed(block) if call => (End::DoubleFree, Some(block), asked),
        Fault::Freed(block) => (End::UseAfterFree, Some(block), asked),
        Fault::Overflow { block, at } => (End::HeapOverflow, Some(block), at as u64),
        Fault::Header { slot } => (End::HeapOverflow, None, slot as u64),
        Fault::WrittenAfterFree { block, at } => (End::UseAfterFree, Some(block), at as u64),
    }
}

/// Ends the execution with this finding; a process that is not controlled aborts with a message.
pub fn report(fault: Fault, operation: Operation, pc: usize) -> ! {
    let said = Said { operation, fault };
    let (end, block, address) = classify(fault, operation);
    if !gate::active() {
        let mut line = Line::new();
        let _ = writeln!(line, "raddle: {said}");
        os::write(2, line.text());
        crate::ends::abort_natively();
    }
    let start = block.map_or(0, |b| b.start as u64);
    let (place, who) = match block.as_ref().and_then(Freed::of) {
        Some(freed) => (freed.pc as u64, freed.thread),
        None => (0, slot::NONE),
    };
    gate::finish(Fatal {
        end,
        code: 0,
        message: format_args!("{said}"),
        detail: [address, start, place, u64::from(who)],
        pc,
        // What noticed damage at the end of the program is not what did it.
        stack: operation != Operation::Check,
    })
}

/// Text in a fixed buffer; what does not fit is cut off.
struct Line {
    bytes: [u8; 240],
    len: usize,
}

impl Line {
    fn new() -> Line {
        Line {
            bytes: [0; 240],
            len: 0,
        }
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Write for Line {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let room = self.bytes.len() - self.len;
        let n = s.len().min(room);
        self.bytes[self.len..self.len + n].copy_from_slice(&s.as_bytes()[..n]);
        self.len += n;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn block(state: State) -> Info {
        Info {
            start: 0x1000,
            size: 24,
            state,
            slot: 2,
            place: 0x77,
        }
    }

    #[test]
    fn wording_and_class() {
        let free = Operation::Call {
            name: "free",
            address: 0x1008,
        };
        let read = Operation::Access {
            name: "read",
            address: 0x1008,
            size: 4,
        };
        let freed = Fault::Freed(block(State::Freed));
        let live = block(State::Live);
        let overflow = Fault::Overflow {
            block: live,
            at: 0x1018,
        };
        let table: &[(Fault, Operation, End, &str)] = &[
            (
                Fault::Wild,
                free,
                End::Misuse,
                "free of 0x1008, which is not a heap block",
            ),
            (
                Fault::Interior(live),
                free,
                End::Misuse,
                "free of an address 8 bytes inside a heap block of 24 bytes",
            ),
            (
                freed,
                free,
                End::DoubleFree,
                "free of a block of 24 bytes that was freed already",
            ),
            (
                freed,
                read,
                End::UseAfterFree,
                "read of 4 bytes at offset 8 of a freed block of 24 bytes",
            ),
            (
                overflow,
                read,
                End::HeapOverflow,
                "read of 4 bytes touches offset 24 of a heap block of 24 bytes",
            ),
            (
                overflow,
                Operation::Check,
                End::HeapOverflow,
                "a heap block of 24 bytes was written at offset 24, noticed by check of the heap",
            ),
        ];
        for &(fault, operation, end, text) in table {
            assert_eq!(classify(fault, operation).0, end, "{text}");
            assert_eq!(Said { operation, fault }.to_string(), text);
        }
    }
}
