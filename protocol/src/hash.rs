//! Hashes of 64 bits, FNV-1a and one for long texts: the same in every build and on every machine,
//! unlike `std`'s hasher. For identities and checksums, not against anyone who means harm.

/// A running hash.
#[derive(Clone, Copy, Debug)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Goes on over `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &b| {
            (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    }

    /// The hash of all that was added.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

/// The hash of `bytes`.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::default();
    hash.add(bytes);
    hash.finish()
}

/// A running hash of texts that may be very long, several bytes at a time; how it is put together
/// from pieces makes no difference. As with [`Fnv1a`], for identities only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongHash {
    state: u64,
    len: u64,
    /// The last bytes, which fill no word yet, and zeros.
    pending: [u8; 8],
}

impl LongHash {
    /// Goes on over `bytes`.
    pub fn add(&mut self, mut bytes: &[u8]) {
        let held = (self.len % 8) as usize;
        self.len += bytes.len() as u64;
        if held > 0 {
            let taken = bytes.len().min(8 - held);
            self.pending[held..held + taken].copy_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if held + taken < 8 {
                return;
            }
            self.state = mixed(self.state, self.pending);
        }
        let (words, rest) = bytes.as_chunks::<8>();
        self.state = words.iter().fold(self.state, |state, &w| mixed(state, w));
        self.pending = [0; 8];
        self.pending[..rest.len()].copy_from_slice(rest);
    }

    /// How many bytes were added.
    pub const fn bytes(&self) -> u64 {
        self.len
    }

    /// The hash of all that was added.
    pub fn finish(&self) -> u64 {
        mixed(mixed(self.state, self.pending), self.len.to_le_bytes())
    }
}

/// The two halves of a product with an odd constant, so that every bit counts in every later one.
fn mixed(state: u64, word: [u8; 8]) -> u64 {
    let word = state ^ u64::from_le_bytes(word) ^ 0xa076_1d64_78bd_642f;
    let product = u128::from(word) * 0x9e37_79b9_7f4a_7c15;
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn a_long_hash_depends_on_the_text_alone() {
        let text: Vec<u8> = (1..101u8).collect();
        let whole = |text: &[u8]| {
            let mut hash = LongHash::default();
            hash.add(text);
            hash
        };
        for first in 0..20 {
            for second in first..40 {
                let mut hash = whole(&text[..first]);
                hash.add(&text[first..second]);
                hash.add(&text[second..]);
                assert_eq!(hash.finish(), whole(&text).finish(), "{first} {second}");
                assert_eq!(hash.bytes(), 100);
            }
        }
        let mut seen = BTreeSet::new();
        for len in 0..100 {
            assert!(seen.insert(whole(&text[..len]).finish()));
            assert!(seen.insert(whole(&vec![0; len + 1]).finish()));
        }
        for at in 0..100 {
            for bit in [1, 0x80] {
                let mut other = text.clone();
                other[at] ^= bit;
                assert!(seen.insert(whole(&other).finish()), "{at} {bit}");
            }
        }
    }
}
