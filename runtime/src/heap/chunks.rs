//! The chunk table of an arena: what each chunk holds, and the runs of chunks that are free again.

use super::classes::CHUNK;
use raddle_protocol::arena::SPAN;

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Unused,
    /// Slots of a size class. `zero`: slots not handed out yet are known to be zero.
    Small { class: usize, zero: bool },
    /// The start of a block of `count` chunks.
    Large { count: usize },
    /// The inside of a block that starts `back` chunks before.
    Inside { back: usize },
}

const CHUNKS: usize = SPAN as usize / CHUNK;

const UNUSED: u8 = 0;
const SMALL: u8 = 1;
const SMALL_ZERO: u8 = 2;
const LARGE: u8 = 3;
const INSIDE: u8 = 4;
/// First and last chunk of a free run; `len` is that of the run.
const RUN: u8 = 5;

/// One entry. `len` is a count, a distance or a class; `next` and `previous` link free runs.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cell {
    len: u16,
    next: u16,
    previous: u16,
    tag: u8,
    pad: u8,
}

/// The table; entry 0 is a chunk of the arena's own data and serves as the list's anchor.
#[derive(Clone, Copy)]
pub struct Table {
    cells: *mut Cell,
}

impl Table {
    /// Bytes of a table.
    pub const BYTES: usize = CHUNKS * size_of::<Cell>();

    /// The table at `address`: mapped memory, zero at the first use, owned by the arena.
    pub fn at(address: usize) -> Table {
        Table {
            cells: address as *mut Cell,
        }
    }

    #[allow(
        clippy::mut_from_ref,
        reason = "the table is a handle; see the SAFETY comment"
    )]
    fn cell(&self, index: usize) -> &mut Cell {
        debug_assert!(index < CHUNKS);
        // SAFETY: `index % CHUNKS` is within the table that `at` was promised; arenas are not
        // synchronised (see there), and no reference outlives its statement.
        unsafe { &mut *self.cells.add(index % CHUNKS) }
    }

    /// What chunk `index` holds.
    pub fn get(&self, index: usize) -> Entry {
        let cell = *self.cell(index);
        match cell.tag {
            SMALL | SMALL_ZERO => Entry::Small {
                class: cell.len as usize % super::classes::COUNT,
                zero: cell.tag == SMALL_ZERO,
            },
            LARGE => Entry::Large {
                count: cell.len as usize,
            },
            INSIDE => Entry::Inside {
                back: (cell.len as usize).min(index),
            },
            _ => Entry::Unused,
        }
    }

    fn set(&self, index: usize, tag: u8, len: usize) {
        *self.cell(index) = Cell {
            len: len as u16,
            next: 0,
            previous: 0,
            tag,
            pad: 0,
        };
    }

    /// Makes `index` a chunk of slots.
    pub fn mark_small(&self, index: usize, class: usize, zero: bool) {
        self.set(index, if zero { SMALL_ZERO } else { SMALL }, class);
    }

    /// Are the slots of this chunk that were never handed out known to be zero?
    pub fn is_zero(&self, index: usize) -> bool {
        matches!(self.get(index), Entry::Small { zero: true, .. })
    }

    /// Makes `count` chunks from `first` one block.
    pub fn mark_large(&self, first: usize, count: usize) {
        self.set(first, LARGE, count);
        for back in 1..count {
            self.set(first + back, INSIDE, back);
        }
    }

    fn unlink(&self, first: usize) {
        let cell = *self.cell(first);
        self.cell(cell.previous as usize).next = cell.next;
        self.cell(cell.next as usize).previous = cell.previous;
    }

    fn link(&self, first: usize, len: usize) {
        let next = self.cell(0).next;
        self.set(first + len - 1, RUN, len);
        self.set(first, RUN, len);
        self.cell(first).next = next;
        self.cell(next as usize).previous = first as u16;
        self.cell(0).next = first as u16;
    }

    /// Returns `len` chunks from `first`; joins them with free neighbours.
    pub fn give_run(&self, mut first: usize, mut len: usize) {
        if len == 0 {
            return;
        }
        for index in first..first + len {
            self.set(index, UNUSED, 0);
        }
        let before = *self.cell(first - 1);
        if before.tag == RUN {
            let start = first - before.len as usize;
            self.unlink(start);
            self.set(first - 1, UNUSED, 0);
            len += before.len as usize;
            first = start;
        }
        if first + len < CHUNKS {
            let after = *self.cell(first + len);
            if after.tag == RUN {
                self.unlink(first + len);
                self.set(first + len, UNUSED, 0);
                self.set(first + len + after.len as usize - 1, UNUSED, 0);
                len += after.len as usize;
            }
        }
        self.link(first, len);
    }

    /// Takes `count` chunks in a row from the first free run that has them.
    pub fn take_run(&self, count: usize) -> Option<usize> {
        let mut first = self.cell(0).next as usize;
        while first != 0 {
            let cell = *self.cell(first);
            let len = cell.len as usize;
            if len >= count {
                self.unlink(first);
                self.set(first, UNUSED, 0);
                self.set(first + len - 1, UNUSED, 0);
                self.give_rest(first + count, len - count);
                return Some(first);
            }
            first = cell.next as usize;
        }
        None
    }

    fn give_rest(&self, first: usize, len: usize) {
        if len > 0 {
            self.link(first, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random gives and takes against a plain list of which chunks are taken.
    #[test]
    fn runs_join_and_split() {
        let mut memory = vec![0u64; Table::BYTES / 8];
        let table = Table::at(memory.as_mut_ptr() as usize);
        table.mark_large(0, 2);
        let mut taken: Vec<(usize, usize)> = Vec::new();
        table.give_run(2, 300);
        let mut random = 1u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
            let count = (random >> 33) as usize % 12 + 1;
            if (random >> 60) < 8 {
                if let Some(first) = table.take_run(count) {
                    assert!(first >= 2 && first + count <= 302);
                    let apart = |&(f, c): &(usize, usize)| first + count <= f || f + c <= first;
                    assert!(taken.iter().all(apart));
                    table.mark_large(first, count);
                    taken.push((first, count));
                }
            } else if !taken.is_empty() {
                let (first, count) = taken.swap_remove(random as usize % taken.len());
                assert_eq!(table.get(first), Entry::Large { count });
                table.give_run(first, count);
                assert_eq!(table.get(first), Entry::Unused);
            }
        }
        for (first, count) in taken {
            table.give_run(first, count);
        }
        assert_eq!(table.take_run(300), Some(2), "all joined again");
        assert_eq!(table.take_run(1), None);
    }
}
