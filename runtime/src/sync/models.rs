//! Models by the addresses of their objects, and a quick answer for memory that holds none.

use crate::objects::Table;
use crate::serial::Serial;

/// The models of all objects of one kind.
pub struct Models<T: Copy>(Serial<Table<T>>);

#[allow(clippy::mut_from_ref)] // the serialised world: see `Serial`
impl<T: Copy> Models<T> {
    /// None yet.
    pub const fn new() -> Models<T> {
        Models(Serial::new(Table::new()))
    }

    /// The table. Not to be kept over a switch.
    pub fn table(&'static self) -> &'static mut Table<T> {
        // SAFETY: the running thread; the callers' references end before anything switches.
        unsafe { self.0.get() }
    }

    /// The model of the object, if there is one. Not to be kept over a switch.
    #[inline]
    pub fn get(&'static self, object: u64) -> Option<&'static mut T> {
        self.table().get(object)
    }

    /// The model of the object, made if it is not there. Not to be kept over a switch.
    #[inline]
    pub fn entry(&'static self, object: u64, make: impl FnOnce() -> T) -> &'static mut T {
        self.table().entry(object, || {
            // SAFETY: the running thread.
            unsafe { LINES.get() }.add(object);
            make()
        })
    }

    /// Forgets the object.
    pub fn remove(&'static self, object: u64) -> Option<T> {
        self.table().remove(object)
    }

    /// Forgets the objects in `from..to`.
    pub fn forget(&'static self, from: u64, to: u64) {
        self.table().remove_range(from, to, |_, _| ());
    }
}

/// May there be a model of anything in `from..to`? Most blocks that a program frees hold no
/// object, and no table needs to be searched for them.
pub fn may_hold(from: u64, to: u64) -> bool {
    // SAFETY: the running thread.
    unsafe { LINES.get() }.touch(from, to)
}

static LINES: Serial<Lines> = Serial::new(Lines::NONE);

const BITS: u32 = 16;
/// Bytes of a line, as a power of two.
const LINE: u32 = 6;
/// Longer ranges are not looked at line by line.
const MOST: u64 = 1024;

/// The lines of memory in which objects have ever been seen, hashed: may err on one side only.
struct Lines([u64; 1 << (BITS - 6)]);

impl Lines {
    const NONE: Lines = Lines([0; 1 << (BITS - 6)]);

    fn place(line: u64) -> (usize, u64) {
        let bit = line.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS);
        ((bit >> 6) as usize, 1 << (bit & 63))
    }

    fn add(&mut self, address: u64) {
        let (word, bit) = Lines::place(address >> LINE);
        self.0[word] |= bit;
    }

    fn touch(&self, from: u64, to: u64) -> bool {
        if from >= to {
            return false;
        }
        let (first, last) = (from >> LINE, (to - 1) >> LINE);
        last - first >= MOST
            || (first..=last).any(|line| {
                let (word, bit) = Lines::place(line);
                self.0[word] & bit != 0
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_miss_no_object() {
        let mut lines = Box::new(Lines::NONE);
        for (from, to) in [(0x1000, 0x1000), (0x1000, 0x1001), (0x1000, 0x9000)] {
            assert!(!lines.touch(from, to), "{from:#x}..{to:#x}");
        }
        lines.add(0x2028);
        for (from, to, expected) in [
            (0x2000, 0x2029, true),
            (0x2028, 0x2029, true),
            (0x1000, 0x2040, true),
            (0x2040, 0x2080, false),
            (0x1fc0, 0x2000, false),
            (0, u64::MAX, true),
            (0x2028, 0x2028, false),
        ] {
            assert_eq!(lines.touch(from, to), expected, "{from:#x}..{to:#x}");
        }
    }
}
