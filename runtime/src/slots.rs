//! Sets of threads, and tables with one entry a thread.

use core::ops::{Index, IndexMut};
use raddle_protocol::{Slot, slot};

const WORDS: usize = slot::COUNT / 64;

/// A set of slots: a bit each, and a summary of the words that are not empty. Walks in slot order.
pub struct SlotSet {
    summary: [u64; WORDS / 64],
    words: [u64; WORDS],
    len: usize,
}

impl SlotSet {
    /// No slots.
    pub const EMPTY: SlotSet = SlotSet {
        summary: [0; WORDS / 64],
        words: [0; WORDS],
        len: 0,
    };

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// None?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Is `s` in it? (`slot::NONE` never is.)
    #[inline]
    pub fn contains(&self, s: Slot) -> bool {
        usize::from(s) < slot::COUNT && self.words[usize::from(s) / 64] >> (s % 64) & 1 != 0
    }

    /// Puts `s` in or takes it out.
    #[inline]
    pub fn set(&mut self, s: Slot, member: bool) {
        let (word, bit) = (usize::from(s) / 64, 1u64 << (s % 64));
        let was = self.words[word] & bit != 0;
        if was == member {
            return;
        }
        if member {
            self.words[word] |= bit;
            self.summary[word / 64] |= 1 << (word % 64);
            self.len += 1;
        } else {
            self.words[word] &= !bit;
            if self.words[word] == 0 {
                self.summary[word / 64] &= !(1 << (word % 64));
            }
            self.len -= 1;
        }
    }

    /// Takes all out.
    pub fn clear(&mut self) {
        for (half, summary) in self.summary.iter_mut().enumerate() {
            let mut filled = core::mem::take(summary);
            while filled != 0 {
                self.words[half * 64 + filled.trailing_zeros() as usize] = 0;
                filled &= filled - 1;
            }
        }
        self.len = 0;
    }

    /// Becomes `all` without `without`.
    pub fn difference(&mut self, all: &SlotSet, without: &SlotSet) {
        self.clear();
        for (half, &summary) in all.summary.iter().enumerate() {
            let mut filled = summary;
            while filled != 0 {
                let index = half * 64 + filled.trailing_zeros() as usize;
                let word = all.words[index] & !without.words[index];
                if word != 0 {
                    self.words[index] = word;
                    self.summary[half] |= 1 << (index % 64);
                    self.len += word.count_ones() as usize;
                }
                filled &= filled - 1;
            }
        }
    }

    /// The lowest member that is at least `from`.
    #[inline]
    pub fn next(&self, from: Slot) -> Option<Slot> {
        let mut word = usize::from(from) / 64;
        if word >= WORDS {
            return None;
        }
        let rest = self.words[word] & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some((word * 64) as Slot + rest.trailing_zeros() as Slot);
        }
        word += 1;
        while word < WORDS {
            let rest = self.summary[word / 64] & (u64::MAX << (word % 64));
            if rest != 0 {
                word = word / 64 * 64 + rest.trailing_zeros() as usize;
                let bit = self.words[word].trailing_zeros();
                return Some((word * 64) as Slot + bit as Slot);
            }
            word = (word / 64 + 1) * 64;
        }
        None
    }

    /// The lowest member above `s`, cyclically; `s` itself only if it is the only one.
    pub fn next_after(&self, s: Slot) -> Option<Slot> {
        self.next(s.saturating_add(1)).or_else(|| self.next(0))
    }

    /// The member with `n` members below it.
    #[inline]
    pub fn nth(&self, mut n: usize) -> Option<Slot> {
        for (half, &summary) in self.summary.iter().enumerate() {
            let mut summary = summary;
            while summary != 0 {
                let index = half * 64 + summary.trailing_zeros() as usize;
                let mut word = self.words[index];
                let here = word.count_ones() as usize;
                if n < here {
                    for _ in 0..n {
                        word &= word - 1;
                    }
                    return Some((index * 64) as Slot + word.trailing_zeros() as Slot);
                }
                n -= here;
                summary &= summary - 1;
            }
        }
        None
    }

    /// All members, lowest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Slot> + '_ {
        let mut next = self.next(0);
        core::iter::from_fn(move || {
            let this = next?;
            next = self.next(this + 1);
            Some(this)
        })
    }
}

/// Types for which all-zero bytes are a value.
///
/// # Safety
/// As said.
pub unsafe trait Zero {}

// SAFETY: 0.
unsafe impl Zero for u64 {}
// SAFETY: 0.
unsafe impl Zero for i64 {}

/// One `T` a slot, zero at first; memory is used only for slots that are touched.
pub struct PerSlot<T: Zero>(*mut T);

impl<T: Zero> PerSlot<T> {
    /// Not usable before [`PerSlot::map`].
    pub const fn new() -> PerSlot<T> {
        PerSlot(core::ptr::null_mut())
    }

    /// Reserves the memory, once.
    pub fn map(&mut self) {
        if self.0.is_null() {
            self.0 = crate::spare::take(slot::COUNT * size_of::<T>()).cast();
        }
    }

    /// The entry's address, for code that may not hold a reference.
    pub fn at(&self, s: Slot) -> *mut T {
        assert!(usize::from(s) < slot::COUNT);
        // SAFETY: in bounds.
        unsafe { self.0.add(usize::from(s)) }
    }
}

impl<T: Zero> Index<Slot> for PerSlot<T> {
    type Output = T;
    #[inline]
    fn index(&self, s: Slot) -> &T {
        assert!(usize::from(s) < slot::COUNT);
        // SAFETY: in bounds; zero or written.
        unsafe { &*self.0.add(usize::from(s)) }
    }
}

impl<T: Zero> IndexMut<Slot> for PerSlot<T> {
    #[inline]
    fn index_mut(&mut self, s: Slot) -> &mut T {
        assert!(usize::from(s) < slot::COUNT);
        // SAFETY: as above.
        unsafe { &mut *self.0.add(usize::from(s)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_agrees_with_a_sorted_list() {
        let mut rng = crate::rng::Rng::new(7);
        let mut set = SlotSet::EMPTY;
        let mut list = std::collections::BTreeSet::new();
        for _ in 0..5_000 {
            let spread = [8, 200, slot::COUNT][rng.below(3)];
            let s = rng.below(spread) as Slot;
            let member = rng.below(3) == 0;
            set.set(s, member);
            if member {
                list.insert(s);
            } else {
                list.remove(&s);
            }
            assert_eq!(set.contains(s), member);
            assert_eq!(set.len(), list.len());
            let probe = rng.below(slot::COUNT) as Slot;
            assert_eq!(set.next(probe), list.range(probe..).next().copied());
            let n = rng.below(list.len() + 1);
            assert_eq!(set.nth(n), list.iter().nth(n).copied());
        }
        assert!(set.iter().eq(list.iter().copied()));
        assert!(!set.contains(slot::NONE));
    }

    #[test]
    fn the_next_after_wraps() {
        let mut set = SlotSet::EMPTY;
        assert_eq!(set.next_after(3), None);
        set.set(3, true);
        assert_eq!(set.next_after(3), Some(3));
        set.set(8191, true);
        assert_eq!(set.next_after(3), Some(8191));
        assert_eq!(set.next_after(8191), Some(3));
        assert_eq!(set.next_after(slot::NONE), Some(3));
    }
}
