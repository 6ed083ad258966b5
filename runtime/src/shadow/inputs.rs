//! The job's inputs: which bytes a thread gets when it asks.

use super::nodes::Expr;
use super::{built, world};
use crate::gate;
use crate::serial::Serial;
use core::ffi::{CStr, c_char};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Node, Op};
use raddle_protocol::shared::InputHead;
use raddle_protocol::{Slot, slot};

const HEAD: usize = size_of::<InputHead>();

struct Inputs {
    /// As the job lists them.
    region: &'static [u8],
    /// How many inputs each thread has asked for.
    asked: [u32; slot::COUNT],
}

static INPUTS: Serial<Inputs> = Serial::new(Inputs {
    region: &[],
    asked: [0; slot::COUNT],
});

/// Called in the process that obeys a job.
pub fn begin() {
    let pages = gate::pages();
    // SAFETY: no other thread runs yet.
    unsafe { INPUTS.get() }.region = pages.inputs(pages.job().inputs_len as usize);
}

/// The bytes of an input, if `region` lists it.
fn find(mut region: &[u8], thread: Slot, index: u32) -> Option<&[u8]> {
    while region.len() >= HEAD {
        let half = |at: usize| u16::from_le_bytes([region[at], region[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let len = word(core::mem::offset_of!(InputHead, len)) as usize;
        let bytes = region.get(HEAD..HEAD.checked_add(len)?)?;
        let whose = half(core::mem::offset_of!(InputHead, thread));
        if whose == thread && word(core::mem::offset_of!(InputHead, index)) == index {
            return Some(bytes);
        }
        region = region.get(HEAD + len.next_multiple_of(8)..)?;
    }
    None
}

/// One input that the running thread asked for.
#[derive(Clone, Copy)]
pub struct Input {
    thread: Slot,
    index: u32,
    /// Bytes.
    pub len: u64,
    bytes: &'static [u8],
}

impl Input {
    /// The running thread's next one, of `len` bytes.
    pub fn next(len: u64) -> Input {
        let me = gate::me();
        // SAFETY: the running thread; nothing here switches.
        let inputs = unsafe { INPUTS.get() };
        let asked = &mut inputs.asked[me as usize % slot::COUNT];
        let index = *asked;
        *asked += 1;
        Input {
            thread: me,
            index,
            len,
            bytes: find(inputs.region, me, index).unwrap_or(&[]),
        }
    }

    /// The byte at `offset`; 0 where the job lists none.
    pub fn byte(&self, offset: u64) -> u8 {
        self.bytes.get(offset as usize).copied().unwrap_or(0)
    }

    /// The first `size` (at most 8) bytes from `offset`, little-endian.
    pub fn value(&self, offset: u64, size: u64) -> u64 {
        (0..size)
            .rev()
            .fold(0, |v, i| v << 8 | u64::from(self.byte(offset + i)))
    }

    /// The expression of `size` bytes from `offset`.
    pub fn expr(&self, offset: u64, size: u64) -> Expr {
        world().nodes.add(Node {
            op: Op::Input as u8,
            width: (8 * size) as u8,
            extra: self.thread,
            a: self.index,
            b: offset as u32,
            c: self.len as u32,
        })
    }

    /// Records that the input came into being. `first` is its first expression, 0 in a run that is
    /// not symbolic.
    pub fn record(&self, at: u64, first: Expr, name: *const c_char, pc: usize) {
        let first = built(first, pc);
        if crate::vars::symbolic() && (first == 0 || !super::endless::decides(pc)) {
            return;
        }
        gate::log_full(Event {
            kind: Kind::Input as u8,
            object: at,
            value: u64::from(self.index),
            aux: first,
            pc: pc as u64,
            ..Event::default()
        });
        if !name.is_null() {
            // SAFETY: the harness function's contract: a NUL-terminated name.
            let name = unsafe { CStr::from_ptr(name) };
            Event::names(gate::me(), name.to_bytes()).for_each(gate::log_full);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(inputs: &[(u16, u32, &[u8])]) -> Vec<u8> {
        let mut region = Vec::new();
        for (thread, index, bytes) in inputs {
            region.extend(thread.to_le_bytes());
            region.extend([0; 2]);
            region.extend(index.to_le_bytes());
            region.extend((bytes.len() as u32).to_le_bytes());
            region.extend([0; 4]);
            region.extend(*bytes);
            region.resize(region.len().next_multiple_of(8), 0);
        }
        region
    }

    #[test]
    fn inputs_are_found_and_broken_lists_end() {
        let list = region(&[
            (0, 0, &[1, 2, 3]),
            (3, 1, &[]),
            (3, 2, &[9; 8]),
            (0, 1, &[4]),
        ]);
        let table: &[(Slot, u32, Option<&[u8]>)] = &[
            (0, 0, Some(&[1, 2, 3])),
            (0, 1, Some(&[4])),
            (3, 1, Some(&[])),
            (3, 2, Some(&[9; 8])),
            (3, 0, None),
            (1, 0, None),
        ];
        for &(thread, index, bytes) in table {
            assert_eq!(find(&list, thread, index), bytes);
        }
        for cut in 0..list.len() {
            find(&list[..cut], 7, 7);
        }
        let mut broken = list;
        broken[8..12].fill(0xff);
        assert_eq!(find(&broken, 0, 1), None);
    }

    #[test]
    fn missing_bytes_are_zero() {
        let input = Input {
            thread: 0,
            index: 0,
            len: 8,
            bytes: &[1, 2, 3],
        };
        assert_eq!(
            (input.value(0, 4), input.value(1, 2), input.value(4, 4)),
            (0x30201, 0x302, 0)
        );
    }
}
