//! Random numbers of a search: the same for the same seed.

use crate::sampling::seed_of;

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Draw {
    seed: u64,
    drawn: u64,
}

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw { seed, drawn: 0 }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.drawn += 1;
        seed_of(self.seed, self.drawn)
    }

    /// A number below `n` (0 if `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// True in `yes` of `of` cases.
    pub fn chance(&mut self, yes: usize, of: usize) -> bool {
        self.below(of) < yes
    }

    /// One of the indices, the more often the greater its weight; `None` if all are 0.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> Option<usize> {
        let sum: u64 = weights.clone().map(u64::from).sum();
        let mut left = ((u128::from(self.bits()) * u128::from(sum)) >> 64) as u64;
        for (i, weight) in weights.enumerate() {
            if left < u64::from(weight) {
                return Some(i);
            }
            left -= u64::from(weight);
        }
        None
    }
}
