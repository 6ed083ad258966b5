//! FNV-1a with 64 bits: the same in every build and on every machine, unlike `std`'s hasher. For
//! identities and checksums, not against anyone who means harm.

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
