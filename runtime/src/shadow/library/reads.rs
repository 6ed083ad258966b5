//! What functions of the C library that have no model read where their arguments lead, as far as
//! that is known ([`raddle_protocol::library::reads`]). What is shared there is read by steps of their
//! own before the call, and decided upon.

use crate::shadow::blocks::{Block, UnderWay};
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
}

impl Blocks {
    /// One more, to which this argument leads. What has no place is looked at as what any other
    /// function may read.
    fn add(&mut self, argument: u32, block: Block) {
        let (Block::Bytes(at, len) | Block::Text(at, len)) = block;
        if at != 0 && len != 0 {
            let Some(free) = self.all.get_mut(self.len) else {
                return;
            };
            *free = block;
            self.len += 1;
        }
        self.arguments |= 1 << argument;
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
        }
    }
    Looked {
        arguments: blocks.arguments,
        // SAFETY: the function that is called reads them, too.
        lost: unsafe { call.will_look(&blocks.all[..blocks.len], pc) },
    }
}
