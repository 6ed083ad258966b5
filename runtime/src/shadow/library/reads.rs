//! What functions of the C library that have no model read where their arguments lead, as far as
//! that is known ([`raddle_protocol::library::reads`]). What is shared there is read by steps of their
//! own before the call, and decided upon.

use super::formats::{Given, List, texts};
use crate::gate;
use crate::shadow::blocks::{Block, UnderWay};
use crate::shadow::world;
use core::ffi::{CStr, c_char};
use raddle_protocol::library::{Read, reads};

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// The arguments that lead to what was read, a bit for each.
    pub arguments: u64,
    /// Something depends on inputs: that is not followed.
    pub lost: bool,
}

/// The blocks of one call.
#[derive(Default)]
struct Blocks {
    all: [Block; 16],
    len: usize,
    /// The arguments that lead to them, a bit for each.
    arguments: u64,
    /// There was no place for one.
    full: bool,
}

impl Blocks {
    /// One more, to which this argument leads. What has no place is looked at as what any other
    /// function may read.
    fn add(&mut self, argument: u32, block: Block) {
        let (Block::Bytes(at, len) | Block::Text(at, len)) = block;
        if at != 0 && len != 0 {
            let Some(free) = self.all.get_mut(self.len) else {
                self.full = true;
                return;
            };
            *free = block;
            self.len += 1;
        }
        self.arguments |= 1 << argument;
    }

    /// One of them is a format. Where others may change it, what is read after it is not known.
    fn format(&self, at: u64) {
        // SAFETY: the function that is called reads it, too.
        let len = unsafe { bytes(at) }.len() as u64;
        if world().cells.any_shared(at, len + 1) {
            gate::uncontrolled("what a format asks for");
        }
    }
}

/// The function of this name is about to be called with these arguments.
pub fn look(call: UnderWay, name: &str, values: &[u64], pc: usize) -> Looked {
    let mut blocks = Blocks::default();
    for (argument, read) in reads(name) {
        let at = |index: u32| values.get(index as usize).copied().unwrap_or(0);
        let place = at(argument);
        match read {
            Read::Bytes(len) => blocks.add(argument, Block::Bytes(place, len)),
            Read::Items(n, size) => {
                blocks.add(argument, Block::Bytes(place, at(n).saturating_mul(size)));
            }
            Read::Text => blocks.add(argument, Block::Text(place, u64::MAX)),
            Read::Format(_) | Read::List(_) if place == 0 => {}
            Read::Format(first) => {
                blocks.format(place);
                blocks.add(argument, Block::Text(place, u64::MAX));
                let mut given = Given::new(values.get(first as usize..).unwrap_or_default());
                // SAFETY: the function that is called reads the format, too. Of what is not known of
                // it the pointers are looked at as of any other function.
                texts(unsafe { bytes(place) }, &mut given, |index, at, most| {
                    blocks.add(first + index as u32, Block::Text(at, most));
                });
            }
            Read::List(list) => {
                blocks.format(place);
                blocks.add(argument, Block::Text(place, u64::MAX));
                // SAFETY: as above; the list stays as it is.
                let (format, mut given) =
                    unsafe { (bytes(place), (at(list) as *const List).read()) };
                let known = texts(format, &mut given, |_, at, most| {
                    blocks.add(argument, Block::Text(at, most));
                });
                if known && !blocks.full {
                    blocks.arguments |= 1 << list;
                }
            }
        }
    }
    Looked {
        arguments: blocks.arguments,
        // SAFETY: the function that is called reads them, too.
        lost: unsafe { call.will_look(&blocks.all[..blocks.len], pc) },
    }
}

/// A text, without its NUL.
///
/// # Safety
/// There is one.
unsafe fn bytes<'a>(text: u64) -> &'a [u8] {
    // SAFETY: by the contract above.
    unsafe { CStr::from_ptr(text as *const c_char) }.to_bytes()
}
