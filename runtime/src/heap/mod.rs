//! The heap: stable addresses, use after free, double free, overflow.

/// A block that was freed: where, by whom.
#[derive(Clone, Copy, Debug)]
pub struct Freed {
    /// First byte.
    pub block: u64,
    /// Bytes.
    pub size: u64,
    /// Return address of the call that freed it.
    pub pc: usize,
    /// Who freed it.
    pub thread: raddle_protocol::Slot,
}

/// The freed block that `address` lies in.
pub fn freed_block(_address: u64) -> Option<Freed> {
    None
}
