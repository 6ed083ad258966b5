//! Pseudo-random numbers: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Fast and repeatable, no
//! more.

/// A stream of numbers.
#[derive(Clone, Copy)]
pub struct Rng(u64);

impl Rng {
    /// Equal seeds give equal streams.
    pub const fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 random bits.
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n` (0 if `n` is 0). The bias is below 2⁻⁴⁰ for the small `n` used here.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn numbers_below_n_are_even_and_repeatable() {
        let mut counts = [0u32; 7];
        let (mut a, mut b) = (Rng::new(1), Rng::new(1));
        for _ in 0..70_000 {
            let n = a.below(7);
            assert_eq!(n, b.below(7));
            counts[n] += 1;
        }
        assert!(
            counts.iter().all(|c| (9_500..10_500).contains(c)),
            "{counts:?}"
        );
        assert_eq!(a.below(0), 0);
        assert_eq!(a.below(1), 0);
    }
}
