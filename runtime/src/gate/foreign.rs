//! Words of a thread's stack that others write while it goes round a loop.

use crate::slots::Zero;

/// Deeper stacks are not compared with what they were.
pub const DEEPEST: usize = 256 << 10;
const WORDS: usize = DEEPEST / size_of::<u64>();

/// A set of words of one stack. No two words of a stretch of [`DEEPEST`] bytes have the same place.
pub struct Foreign {
    words: [u64; WORDS / 64],
    any: bool,
}

// SAFETY: integers, and `false`.
unsafe impl Zero for Foreign {}

impl Foreign {
    /// No words.
    pub const EMPTY: Foreign = Foreign {
        words: [0; WORDS / 64],
        any: false,
    };

    fn place(at: u64) -> (usize, u64) {
        let n = (at as usize / size_of::<u64>()) % WORDS;
        (n / 64, 1 << (n % 64))
    }

    /// Is the word at `at` one of them?
    #[inline]
    pub fn contains(&self, at: u64) -> bool {
        let (index, bit) = Foreign::place(at);
        self.any && self.words[index] & bit != 0
    }

    /// Adds the word at `at`; false if it is one of them already.
    pub(super) fn add(&mut self, at: u64) -> bool {
        let (index, bit) = Foreign::place(at);
        let new = self.words[index] & bit == 0;
        self.words[index] |= bit;
        self.any = true;
        new
    }

    /// Takes all out.
    pub(super) fn clear(&mut self) {
        if self.any {
            (self.words, self.any) = ([0; WORDS / 64], false);
        }
    }
}
