//! What a thread saw of memory in a round of a loop.

/// What the running thread saw at an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub at: u64,
    pub size: u32,
    pub value: u64,
}

impl Seen {
    /// Both as one, if this and the `next` are the halves of a word or of a part of one.
    pub(super) fn with(&self, next: &Seen) -> Option<Seen> {
        let size = self.size;
        let whole = u64::from(2 * size);
        let fits = size == next.size && size < 8 && next.at == self.at + u64::from(size);
        (fits && self.at.is_multiple_of(whole)).then(|| Seen {
            at: self.at,
            size: 2 * size,
            value: self.value | next.value << (8 * size),
        })
    }

    /// Is it there still?
    pub(super) fn is_current(&self) -> bool {
        let at = self.at as *const u8;
        // SAFETY: the thread read it before and would read it again now; it may not be aligned.
        let value = unsafe {
            match self.size {
                1 => u64::from(at.read_volatile()),
                2 => u64::from(at.cast::<u16>().read_unaligned()),
                4 => u64::from(at.cast::<u32>().read_unaligned()),
                _ => at.cast::<u64>().read_unaligned(),
            }
        };
        value == self.value
    }
}
