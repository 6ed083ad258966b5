//! The quarantine of an arena: a ring of the slots that were freed, oldest first. The ring is kept
//! apart from the blocks, so that nothing a program does to a freed block can break it.

use super::classes::SLOT;

/// Head of the ring; the entries lie elsewhere in the arena.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Ring {
    /// Entries ever pushed.
    pushed: u64,
    /// Entries ever dropped.
    dropped: u64,
    bytes: u64,
}

/// More than fit into the quarantine limit with the smallest slots.
const CAPACITY: usize = (super::arena::QUARANTINE / SLOT[0] as u64).next_power_of_two() as usize;

impl Ring {
    /// Bytes of the entries.
    pub const BYTES: usize = CAPACITY * size_of::<u32>();

    fn entry(entries: usize, n: u64) -> *mut u32 {
        (entries + (n as usize % CAPACITY) * size_of::<u32>()) as *mut u32
    }

    /// How many slots are in quarantine.
    pub fn len(&self) -> u64 {
        self.pushed - self.dropped
    }

    /// The sum of their weights.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the slot at `offset` of the arena. The caller keeps the sum of the weights near the
    /// limit, so that the ring is never full.
    pub fn push(&mut self, entries: usize, offset: usize, weight: u64) {
        // SAFETY: the arena has `BYTES` bytes at `entries`.
        unsafe { Self::entry(entries, self.pushed).write((offset / 16) as u32) };
        self.pushed += 1;
        self.bytes += weight;
    }

    /// The offset of the slot that has been here longest.
    pub fn oldest(&self, entries: usize) -> Option<usize> {
        if self.len() == 0 {
            return None;
        }
        // SAFETY: as in `push`.
        Some(unsafe { Self::entry(entries, self.dropped).read() } as usize * 16)
    }

    /// Lets the oldest go.
    pub fn drop_oldest(&mut self, weight: u64) {
        self.dropped += 1;
        self.bytes = self.bytes.saturating_sub(weight);
    }
}
