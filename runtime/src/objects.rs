//! Addresses to model states: an open-addressing hash table in memory of the shim's own.

use crate::spare;
use core::mem::{MaybeUninit, size_of};

/// A map from object addresses (never 0) to `T`, without the program's heap.
pub struct Table<T: Copy> {
    /// `mask + 1` entries; null until the first insertion.
    entries: *mut Entry<T>,
    mask: usize,
    len: usize,
}

#[derive(Clone, Copy)]
struct Entry<T: Copy> {
    key: u64,
    value: MaybeUninit<T>,
}

// SAFETY: the table owns its memory.
unsafe impl<T: Copy + Send> Send for Table<T> {}

const FIRST_CAPACITY: usize = 64;

impl<T: Copy> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Table<T> {
    /// An empty table.
    pub const fn new() -> Table<T> {
        Table {
            entries: core::ptr::null_mut(),
            mask: 0,
            len: 0,
        }
    }

    /// How many objects are known.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        ((key >> 2).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & self.mask
    }

    fn slots(&mut self) -> &mut [Entry<T>] {
        if self.entries.is_null() {
            return &mut [];
        }
        // SAFETY: allocated with this many entries; all-zero bytes are valid (key 0: empty).
        unsafe { core::slice::from_raw_parts_mut(self.entries, self.mask + 1) }
    }

    /// Index of `key`, or of the empty entry where it would go.
    #[inline]
    fn find(&mut self, key: u64) -> Result<usize, usize> {
        let (mask, mut i) = (self.mask, self.home(key));
        let slots = self.slots();
        loop {
            match slots[i].key {
                0 => return Err(i),
                k if k == key => return Ok(i),
                _ => i = (i + 1) & mask,
            }
        }
    }

    /// The state of the object at `address`, if it is known.
    #[inline]
    pub fn get(&mut self, address: u64) -> Option<&mut T> {
        if self.len == 0 {
            return None;
        }
        let i = self.find(address).ok()?;
        // SAFETY: an entry with a key has a value.
        Some(unsafe { self.slots()[i].value.assume_init_mut() })
    }

    /// The state of the object at `address`, made by `make` if it is not known yet.
    #[inline]
    pub fn entry(&mut self, address: u64, make: impl FnOnce() -> T) -> &mut T {
        if self.entries.is_null() || self.len * 4 > (self.mask + 1) * 3 {
            self.grow();
        }
        let i = match self.find(address) {
            Ok(i) => i,
            Err(i) => {
                self.slots()[i] = Entry {
                    key: address,
                    value: MaybeUninit::new(make()),
                };
                self.len += 1;
                i
            }
        };
        // SAFETY: an entry with a key has a value.
        unsafe { self.slots()[i].value.assume_init_mut() }
    }

    /// Sets the state of the object at `address`; returns the former one.
    pub fn insert(&mut self, address: u64, value: T) -> Option<T> {
        let former = self.get(address).copied();
        *self.entry(address, || value) = value;
        former
    }

    /// Forgets the object at `address`.
    pub fn remove(&mut self, address: u64) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let mut hole = self.find(address).ok()?;
        // SAFETY: an entry with a key has a value.
        let value = unsafe { self.slots()[hole].value.assume_init() };
        self.len -= 1;
        // Close the gap: move every later entry of the run that would no longer be found.
        let mask = self.mask;
        let mut i = hole;
        loop {
            i = (i + 1) & mask;
            let key = self.slots()[i].key;
            if key == 0 {
                break;
            }
            let home = self.home(key);
            if (i.wrapping_sub(home) & mask) >= (i.wrapping_sub(hole) & mask) {
                self.slots()[hole] = self.slots()[i];
                hole = i;
            }
        }
        self.slots()[hole].key = 0;
        Some(value)
    }

    /// Forgets every object in `from..to` and hands it to `each`.
    pub fn remove_range(&mut self, from: u64, to: u64, mut each: impl FnMut(u64, T)) {
        if self.len == 0 {
            return;
        }
        if to - from <= self.mask as u64 {
            for key in from..to {
                if let Some(value) = self.remove(key) {
                    each(key, value);
                }
            }
            return;
        }
        let mut i = 0;
        while i <= self.mask {
            let key = self.slots()[i].key;
            if key != 0
                && (from..to).contains(&key)
                && let Some(value) = self.remove(key)
            {
                each(key, value);
                continue; // another entry may have moved here
            }
            i += 1;
        }
    }

    /// Every known object, in no particular order.
    pub fn for_each(&mut self, mut each: impl FnMut(u64, &mut T)) {
        for entry in self.slots() {
            if entry.key != 0 {
                // SAFETY: an entry with a key has a value.
                each(entry.key, unsafe { entry.value.assume_init_mut() });
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = if self.entries.is_null() {
            FIRST_CAPACITY
        } else {
            (self.mask + 1) * 2
        };
        let entries = spare::take(capacity * size_of::<Entry<T>>()).cast();
        let mut bigger = Table {
            entries,
            mask: capacity - 1,
            len: 0,
        };
        self.for_each(|key, value| {
            bigger.entry(key, || *value);
        });
        if !self.entries.is_null() {
            spare::give_back(self.entries.cast(), (self.mask + 1) * size_of::<Entry<T>>());
        }
        *self = bigger;
    }
}

/// A heap block was freed: the models forget what lay in it.
pub fn block_freed(address: u64, len: u64) {
    crate::sync::block_freed(address, len);
    crate::threads::gives_back(address, len);
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn a_table_agrees_with_a_map() {
        let mut rng = Rng::new(4);
        let mut table = Table::new();
        let mut map = BTreeMap::new();
        for step in 0..60_000u32 {
            // Crowded addresses, so that runs of entries form and wrap round the end.
            let address = 8 * (1 + rng.below(900) as u64) + 0x5555_0000_0000;
            match rng.below(8) {
                0..3 => assert_eq!(table.insert(address, step), map.insert(address, step)),
                3 => {
                    let made = *table.entry(address, || step);
                    assert_eq!(made, *map.entry(address).or_insert(step));
                }
                4..7 => assert_eq!(table.remove(address), map.remove(&address)),
                _ => {
                    let longest = [12, 12, 12, 1000][rng.below(4)];
                    let range = address..address + 8 * rng.below(longest) as u64;
                    let mut gone = Vec::new();
                    table.remove_range(range.start, range.end, |k, v| gone.push((k, v)));
                    gone.sort();
                    let expected: Vec<_> = map.range(range).map(|(k, v)| (*k, *v)).collect();
                    assert_eq!(gone, expected);
                    for (k, _) in &expected {
                        map.remove(k);
                    }
                }
            }
            assert_eq!(table.get(address).copied(), map.get(&address).copied());
            assert_eq!(table.len(), map.len());
        }
        let mut all = Vec::new();
        table.for_each(|k, v| all.push((k, *v)));
        all.sort();
        assert!(all.into_iter().eq(map));
    }

    #[test]
    fn an_empty_table_has_nothing() {
        let mut table: Table<u8> = Table::new();
        assert_eq!(table.get(8), None);
        assert_eq!(table.remove(8), None);
        assert_eq!(table.len(), 0);
        table.remove_range(0, u64::MAX, |_, _| panic!());
        table.for_each(|_, _| panic!());
    }
}
