//! What stands around a block: a checked header before it, a red zone behind it, and the pattern
//! that fills it once it is freed.

use raddle_protocol::Slot;

/// Bytes of the header at the start of every slot.
pub const HEADER: usize = 16;
/// Least bytes of the red zone behind a block.
pub const RED_ZONE: usize = 16;
/// Most bytes of the red zone that carry the pattern.
const RED_ZONE_CHECKED: usize = 64;
/// What the red zone is filled with.
pub const RED: u8 = 0xcb;
/// What a freed block is filled with. Eight of them are not a canonical address, so that a pointer
/// loaded from a freed block faults.
pub const FREED: u8 = 0xdb;
/// Most bytes of a freed block that are filled.
pub const FILL: usize = 4096;

const FREED_WORD: u64 = u64::from_ne_bytes([FREED; 8]);

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Belongs to the program.
    Live = 0xa1,
    /// Freed, in quarantine.
    Freed = 0xf3,
    /// Out of quarantine, on a free list; the header's `place` is the next one.
    Reusable = 0x5e,
}

/// The decoded header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes that the program asked for.
    pub size: usize,
    /// From the start of the slot to the block, a multiple of 16, at most one chunk.
    pub offset: usize,
    pub state: State,
    /// Who allocated it, or freed it once it is freed.
    pub slot: Slot,
    /// Where that happened.
    pub place: u64,
}

impl Header {
    fn words(&self) -> [u64; 2] {
        let second = (self.place & ((1 << 48) - 1)) | u64::from(self.slot) << 48;
        let first = self.size as u64
            | ((self.offset as u64 / 16) & 0xffff) << 32
            | (self.state as u64) << 48;
        [first, second]
    }

    fn check(at: usize, words: [u64; 2]) -> u64 {
        let mixed =
            (words[0] ^ words[1].rotate_left(23) ^ at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed >> 56
    }

    /// Writes the header of the slot that starts at `at`.
    ///
    /// # Safety
    /// The 16 bytes at `at` are the arena's own.
    pub unsafe fn write(&self, at: usize) {
        let mut words = self.words();
        words[0] |= Header::check(at, words) << 56;
        // SAFETY: by the contract above; slots start at multiples of 16.
        unsafe { (at as *mut [u64; 2]).write(words) };
    }

    /// Reads it back; `None` when something has written over it.
    ///
    /// # Safety
    /// The 16 bytes at `at` are readable.
    pub unsafe fn read(at: usize) -> Option<Header> {
        // SAFETY: by the contract above.
        let mut words = unsafe { (at as *const [u64; 2]).read() };
        let check = words[0] >> 56;
        words[0] &= (1 << 56) - 1;
        if Header::check(at, words) != check {
            return None;
        }
        let state = match (words[0] >> 48) as u8 {
            s if s == State::Live as u8 => State::Live,
            s if s == State::Freed as u8 => State::Freed,
            s if s == State::Reusable as u8 => State::Reusable,
            _ => return None,
        };
        Some(Header {
            size: words[0] as u32 as usize,
            offset: ((words[0] >> 32) & 0xffff) as usize * 16,
            state,
            slot: (words[1] >> 48) as Slot,
            place: words[1] & ((1 << 48) - 1),
        })
    }
}

/// Fills the red zone from `from` to the end of the slot, or as much of it as is checked.
///
/// # Safety
/// The bytes from `from` to `end` are the arena's own.
pub unsafe fn paint_red_zone(from: usize, end: usize) {
    let len = (end - from).min(RED_ZONE_CHECKED);
    // SAFETY: by the contract above.
    unsafe { core::ptr::write_bytes(from as *mut u8, RED, len) };
}

/// The offset from `from` of the first damaged byte of a red zone.
///
/// # Safety
/// The bytes from `from` to `end` are readable.
pub unsafe fn damage(from: usize, end: usize) -> Option<usize> {
    let len = (end - from).min(RED_ZONE_CHECKED);
    // SAFETY: by the contract above.
    let zone = unsafe { core::slice::from_raw_parts(from as *const u8, len) };
    zone.iter().position(|&b| b != RED)
}

/// Fills the first bytes of a freed block.
///
/// # Safety
/// The `len` bytes at `at` are the arena's own.
pub unsafe fn fill(at: usize, len: usize) {
    // SAFETY: by the contract above.
    unsafe { core::ptr::write_bytes(at as *mut u8, FREED, len.min(FILL)) };
}

/// The offset of the first byte of a freed block that was written after the free.
///
/// # Safety
/// The `len` bytes at `at` are readable.
pub unsafe fn written_after_free(at: usize, len: usize) -> Option<usize> {
    let len = len.min(FILL);
    // SAFETY: by the contract above.
    let bytes = unsafe { core::slice::from_raw_parts(at as *const u8, len) };
    // SAFETY: any bytes are a valid u64.
    let (before, words, after) = unsafe { bytes.align_to::<u64>() };
    let clean =
        before.iter().chain(after).all(|&b| b == FREED) && words.iter().all(|&w| w == FREED_WORD);
    if clean {
        return None;
    }
    bytes.iter().position(|&b| b != FREED)
}

/// Does `value` look like a pointer that was loaded from a freed block and then had a small
/// offset added?
pub fn looks_freed(value: u64) -> bool {
    const NEAR: u64 = 1 << 16;
    value.wrapping_sub(FREED_WORD).wrapping_add(NEAR) <= 2 * NEAR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_and_damage_is_seen() {
        let mut words = [0u64; 2];
        let at = words.as_mut_ptr() as usize;
        let header = Header {
            size: 0xffff_fff0,
            offset: 65536,
            state: State::Freed,
            slot: 8191,
            place: 0x7fff_dead_beef,
        };
        // SAFETY: `words` is ours.
        unsafe { header.write(at) };
        // SAFETY: as above.
        assert_eq!(unsafe { Header::read(at) }, Some(header));
        let mut missed = 0;
        for bit in 0..128 {
            words[bit / 64] ^= 1 << (bit % 64);
            // SAFETY: as above.
            missed += usize::from(unsafe { Header::read(core::hint::black_box(at)) }.is_some());
            words[bit / 64] ^= 1 << (bit % 64);
        }
        assert!(missed <= 2, "{missed} single-bit damages missed");
    }

    #[test]
    fn patterns() {
        let mut bytes = [0u8; 200];
        let at = bytes.as_mut_ptr() as usize;
        for (len, dirty) in [
            (200, None),
            (200, Some(7)),
            (13, Some(12)),
            (200, Some(199)),
        ] {
            // SAFETY: `bytes` is ours.
            unsafe { fill(at, len) };
            if let Some(d) = dirty {
                // SAFETY: as above.
                unsafe { ((at + d) as *mut u8).write(1) };
            }
            // SAFETY: as above.
            assert_eq!(unsafe { written_after_free(at, len) }, dirty);
        }
        // SAFETY: as above.
        unsafe { paint_red_zone(at + 5, at + 30) };
        // SAFETY: as above.
        assert_eq!(unsafe { damage(at + 5, at + 30) }, None);
        // SAFETY: as above.
        unsafe { ((at + 9) as *mut u8).write(0) };
        // SAFETY: as above.
        let found = unsafe { damage(at + 5, at + 30) };
        assert_eq!(found, Some(4));
        assert!(looks_freed(FREED_WORD + 24) && !looks_freed(0) && !looks_freed(0x7fff_0000));
    }
}
