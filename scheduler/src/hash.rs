//! FNV-1a with 64 bits: stable from build to build, unlike `std`'s hasher.

/// A running hash.
#[derive(Clone, Copy, Debug)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// The hash of nothing.
    pub const fn new() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }

    /// Goes on over `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// The hash of all that was added.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

/// Hash of what an execution wrote, to compare executions by.
pub fn output_hash(stdout: &[u8], stderr: &[u8]) -> u64 {
    let mut hash = Fnv1a::new();
    for stream in [stdout, stderr] {
        hash.add(&(stream.len() as u64).to_le_bytes());
        hash.add(stream);
    }
    hash.finish()
}
