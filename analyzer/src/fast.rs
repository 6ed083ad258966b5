//! Hash maps for keys of a few numbers that nobody chooses with evil intent.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map; the order of its entries means nothing.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Multiply>>;

/// Multiplies and rotates: two instructions a number.
#[derive(Default)]
pub struct Multiply(u64);

impl Multiply {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Multiply {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.add(u64::from(byte));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.add(u64::from(n));
    }

    fn write_u16(&mut self, n: u16) {
        self.add(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.add(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.add(n);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
