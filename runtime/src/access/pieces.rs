//! In which pieces a block is copied or filled: as large as a word and the alignment of each side
//! allow. In all kinds of runs they are the same.

/// Bytes of a word.
pub const WORD: u64 = 8;

/// The largest power of two that is at most `most` and `len` and divides `at`.
pub fn size(at: u64, len: u64, most: u64) -> u64 {
    let fits = |n: &u64| *n <= len && *n <= most && at.is_multiple_of(*n);
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// Bytes of a line of the cache.
const LINE: u64 = 64;

/// How many bytes of a plain access lie in its first line, if the others lie in the next one: then it is
/// two accesses (Intel, Software Developer's Manual, volume 3A, section 9.1.1; AMD, Architecture
/// Programmer's Manual, volume 2, section 7.3.2).
#[inline]
pub fn torn(at: u64, size: u64) -> Option<u64> {
    let first = LINE - at % LINE;
    (first < size).then_some(first)
}

/// One access of a copy, to so many bytes behind the first one of its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Read { offset: u64, size: u64 },
    Write { offset: u64, size: u64 },
}

/// The accesses of a copy, in turn. Each side is accessed in pieces of its own, and a piece is written
/// as soon as its bytes are there.
#[derive(Clone, Debug)]
pub struct Pieces {
    to: u64,
    from: u64,
    len: u64,
    /// From high to low addresses.
    backwards: bool,
    most: u64,
    read: u64,
    written: u64,
}

impl Pieces {
    /// Of a copy of `len` bytes as memmove does it.
    pub fn new(to: u64, from: u64, len: u64) -> Pieces {
        Pieces {
            to,
            from,
            len,
            backwards: is_backwards(to, from, len),
            most: WORD,
            read: 0,
            written: 0,
        }
    }

    /// With pieces of no more bytes than that.
    pub fn of_at_most(mut self, most: u64) -> Pieces {
        self.most = most;
        self
    }

    /// Where it writes first or last.
    pub fn to(&self) -> u64 {
        self.to
    }

    /// Where it reads first or last.
    pub fn from(&self) -> u64 {
        self.from
    }

    /// How many bytes it copies.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// In this direction, as a part of a longer copy.
    pub fn in_direction(mut self, backwards: bool) -> Pieces {
        self.backwards = backwards;
        self
    }

    /// Offset and size of the next piece of a side of which so much is done.
    fn next_of(&self, at: u64, done: u64) -> (u64, u64) {
        let left = self.len - done;
        match self.backwards {
            false => (done, size(at.wrapping_add(done), left, self.most)),
            true => {
                let size = size(at.wrapping_add(left), left, self.most);
                (left - size, size)
            }
        }
    }
}

/// Does a copy go from high to low addresses, lest it overwrites what it has not read?
pub fn is_backwards(to: u64, from: u64, len: u64) -> bool {
    to > from && to - from < len
}

impl Iterator for Pieces {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        if self.written == self.len {
            return None;
        }
        let (offset, size) = self.next_of(self.to, self.written);
        if self.read - self.written >= size {
            self.written += size;
            return Some(Part::Write { offset, size });
        }
        let (offset, size) = self.next_of(self.from, self.read);
        self.read += size;
        Some(Part::Read { offset, size })
    }
}

/// Values on their way from the pieces that are read to those that are written: never as much as two
/// words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carry {
    bytes: u128,
    count: u64,
}

impl Carry {
    /// Takes a piece in.
    pub fn put(&mut self, value: u64, size: u64, backwards: bool) {
        let value = u128::from(value);
        match backwards {
            false => self.bytes |= value << (8 * self.count),
            true => self.bytes = self.bytes << (8 * size) | value,
        }
        self.count += size;
    }

    /// Gives a piece out.
    pub fn take(&mut self, size: u64, backwards: bool) -> u64 {
        self.count -= size;
        let mask = u128::MAX >> (128 - 8 * size);
        let value = match backwards {
            false => {
                let value = self.bytes & mask;
                self.bytes >>= 8 * size;
                value
            }
            true => {
                let value = self.bytes >> (8 * self.count) & mask;
                self.bytes &= !(mask << (8 * self.count));
                value
            }
        };
        value as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies by pieces; the memory afterwards.
    fn copied(to: u64, from: u64, len: u64) -> Vec<u8> {
        let mut memory: Vec<u8> = (0..128).collect();
        let backwards = is_backwards(to, from, len);
        let mut carry = Carry::default();
        for part in Pieces::new(to, from, len) {
            match part {
                Part::Read { offset, size } => {
                    let at = from + offset;
                    assert!(at.is_multiple_of(size) && size <= WORD);
                    let mut bytes = [0; 8];
                    let range = at as usize..(at + size) as usize;
                    bytes[..size as usize].copy_from_slice(&memory[range]);
                    carry.put(u64::from_le_bytes(bytes), size, backwards);
                }
                Part::Write { offset, size } => {
                    let at = to + offset;
                    assert!(at.is_multiple_of(size) && size <= WORD);
                    let value = carry.take(size, backwards).to_le_bytes();
                    memory[at as usize..(at + size) as usize]
                        .copy_from_slice(&value[..size as usize]);
                }
            }
        }
        memory
    }

    #[test]
    fn a_copy_in_pieces_is_a_move() {
        for from in 32..48 {
            for to in 20..64 {
                for len in 0..44 {
                    let mut expected: Vec<u8> = (0..128).collect();
                    let (first, last) = (from as usize, (from + len) as usize);
                    expected.copy_within(first..last, to as usize);
                    assert_eq!(copied(to, from, len), expected, "{to} {from} {len}");
                }
            }
        }
    }

    #[test]
    fn sides_of_equal_alignment_take_turns_word_by_word() {
        use Part::{Read, Write};
        let parts: Vec<Part> = Pieces::new(0x1004, 0x2004, 16).collect();
        let expected = [(0, 4), (4, 8), (12, 4)];
        let expected =
            expected.map(|(offset, size)| [Read { offset, size }, Write { offset, size }]);
        assert_eq!(parts, expected.concat());
        let most: Vec<Part> = Pieces::new(0x1000, 0x2000, 8).of_at_most(4).collect();
        assert_eq!(most.len(), 4);
    }
}
