//! The heap: stable addresses, use after free, double free, overflow.
//!
//! Every thread slot has an arena at a fixed address ([`raddle_protocol::arena`]); a block's address
//! depends on what its arena did before, not on the interleaving. (Of programs at fixed addresses, main's
//! arena is elsewhere: see [`low`].) The heap serves every process
//! that loads the library, controlled or not, from the first call of the dynamic linker on.

mod arena;
mod block;
pub mod callers;
mod chunks;
mod classes;
mod exports;
mod low;
mod map;
mod quarantine;
mod report;
#[cfg(test)]
mod tests;
mod world;

pub use arena::Fault;
use arena::Info;
pub use block::{State, looks_freed};
pub use callers::{is_c_library, range_of};
pub use low::tell as tell_of_high_blocks;
pub use report::{Operation, report};
pub use world::{block_of, check_access, prepare, verify};

use raddle_protocol::Slot;

/// A block that was freed: where, by whom.
#[derive(Clone, Copy, Debug)]
pub struct Freed {
    /// First byte.
    pub block: u64,
    /// Bytes.
    pub size: u64,
    /// Return address of the call that freed it; 0 when no longer known.
    pub pc: usize,
    /// Who freed it; [`raddle_protocol::slot::NONE`] when no longer known.
    pub thread: Slot,
}

impl Freed {
    /// `None` for a live block.
    pub fn of(info: &Info) -> Option<Freed> {
        let (pc, thread) = match info.state {
            State::Live => return None,
            State::Freed => (info.place as usize, info.slot),
            State::Reusable => (0, raddle_protocol::slot::NONE),
        };
        Some(Freed {
            block: info.start as u64,
            size: info.size as u64,
            pc,
            thread,
        })
    }
}

/// The freed block that `address` lies in.
pub fn freed_block(address: u64) -> Option<Freed> {
    Freed::of(&block_of(address)?.ok()?)
}
