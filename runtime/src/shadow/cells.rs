//! What is known of every byte of the program's memory: its expression, who touched it, whether it
//! is shared, and what it held when that was last recorded. One cache line for eight bytes, in
//! pages that are made when they are first needed.

use super::nodes::{Expr, Nodes};
use crate::objects::Table;
use core::ops::Range;
use raddle_protocol::{Slot, slot};

/// Bytes of the program that a cell stands for.
pub const SPAN: u64 = 8;
/// Bytes of the program that a page of cells stands for.
const PAGE: u64 = 4096;
const CELLS: usize = (PAGE / SPAN) as usize;
/// Behind them is one more: where it is `known`, a byte of the page has, or had, an expression.
const HEAD: usize = CELLS;
/// Pages of cells are mapped so many at a time.
const BATCH: usize = 64;
/// So many pages that were met last are found without the table.
const RECENT: usize = 64;

/// Who touched a byte: the first slot plus one, and the bits below. 0: nobody.
type Touch = u16;
/// Somebody wrote it.
const WRITTEN: Touch = 1 << 14;
/// A second thread touched it.
const SECOND: Touch = 1 << 15;
/// It was reported.
const REPORTED: Touch = Touch::MAX;

/// Eight bytes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Cell {
    /// Per byte `expression << 3 | byte number`; 0: concrete.
    bytes: [u32; 8],
    touch: [Touch; 8],
    /// What the bytes held at the last recorded access or symbolic store.
    pub content: [u8; 8],
    /// Per byte a bit: known to be shared.
    pub shared: u8,
    /// Per byte a bit: `content` holds what was recorded of a shared byte.
    pub known: u8,
    /// Per byte a bit: `content` holds what a local byte with an expression must hold.
    checked: u8,
    /// Per byte a bit: what is recorded of a shared byte depends on an input.
    pub inputs: u8,
}

impl Cell {
    /// Are the `N` bytes from `from` on in this cell, and concrete?
    #[inline]
    fn is_concrete<const N: usize>(&self, from: usize) -> bool {
        let bytes = self.bytes.get(from..from + N);
        bytes.is_some_and(|bytes| bytes.iter().fold(0, |any, e| any | e) == 0)
    }

    /// See [`Cells::is_settled`].
    #[inline]
    fn is_settled<const N: usize>(&self, from: usize, slot: Slot, write: bool) -> bool {
        let (wanted, counts) = match write {
            true => ((slot + 1) | WRITTEN, Touch::MAX),
            false => (slot + 1, !WRITTEN),
        };
        let Some(touch) = self.touch.get(from..from + N) else {
            return false;
        };
        let differ = touch.iter().fold(0, |any, t| any | (t & counts) ^ wanted);
        let bits = (((1u16 << N) - 1) << from) as u8;
        differ == 0 && self.shared & bits == 0 && self.is_concrete::<N>(from)
    }

    /// See [`Cells::settle`].
    fn settle(&mut self, range: Range<usize>, visit: Visit) -> bool {
        for i in range {
            if self.bytes[i] != 0 || self.shared >> i & 1 != 0 {
                return false;
            }
            let old = self.touch[i];
            let new = after_touch(old, visit.slot + 1, visit.write);
            if visit.local || new == old && old != REPORTED {
                continue;
            }
            if !visit.always || new == REPORTED {
                return false;
            }
            self.touch[i] = new;
        }
        true
    }

    /// Who touched a byte that is not shared, and whether it was written.
    fn owner(&self, i: usize) -> Option<(Slot, bool)> {
        let touch = self.touch[i];
        if touch == 0 || touch == REPORTED || self.shared >> i & 1 != 0 {
            return None;
        }
        let slot = match touch & SECOND {
            0 => (touch & !WRITTEN) - 1,
            _ => slot::NONE,
        };
        Some((slot, touch & WRITTEN != 0))
    }
}

/// Accesses that [`Cells::settle`] is asked about.
#[derive(Clone, Copy)]
pub struct Visit {
    pub slot: Slot,
    pub write: bool,
    /// Only the running function sees the memory: nobody notes who touches it.
    pub local: bool,
    /// They will happen.
    pub always: bool,
    /// Is this page there? Asked of pages that nothing is known of.
    pub is_there: fn(u64) -> bool,
}

/// Part of an access that lies in one cell.
pub struct Part<'a> {
    pub cell: &'a mut Cell,
    /// First byte in the cell.
    pub from: usize,
    /// Bytes.
    pub len: usize,
    /// First byte in the access.
    pub at: usize,
}

impl Part<'_> {
    /// The bits of these bytes in the cell's masks.
    pub fn bits(&self) -> u8 {
        (((1u16 << self.len) - 1) << self.from) as u8
    }
}

/// All cells.
pub struct Cells {
    pages: Table<*mut Cell>,
    /// By the low bits of their numbers: where the page begins, and its cells.
    recent: [(u64, *mut Cell); RECENT],
    fresh: *mut Cell,
    left: usize,
    /// Known to be shared: sorted, disjoint, first and one past the last.
    ranges: &'static [[u64; 2]],
}

// SAFETY: the pointers are to memory of its own.
unsafe impl Send for Cells {}

impl Cells {
    /// No cells yet.
    pub const fn new(ranges: &'static [[u64; 2]]) -> Cells {
        Cells {
            pages: Table::new(),
            recent: [(0, core::ptr::null_mut()); RECENT],
            fresh: core::ptr::null_mut(),
            left: 0,
            ranges,
        }
    }

    #[inline]
    fn page(&mut self, address: u64) -> *mut Cell {
        let page = address & !(PAGE - 1);
        match self.is_recent(page) {
            true => self.recent[(page / PAGE) as usize % RECENT].1,
            false => self.find_page(page),
        }
    }

    #[inline]
    fn is_recent(&self, page: u64) -> bool {
        let (met, cells) = self.recent[(page / PAGE) as usize % RECENT];
        met == page && !cells.is_null()
    }

    #[cold]
    fn find_page(&mut self, page: u64) -> *mut Cell {
        // Key 0 is not allowed, and nothing of the program lies there.
        let key = page | 1;
        let cells = match self.pages.get(key) {
            Some(cells) => *cells,
            None => self.make_page(page, key),
        };
        self.recent[(page / PAGE) as usize % RECENT] = (page, cells);
        cells
    }

    #[cold]
    fn make_page(&mut self, page: u64, key: u64) -> *mut Cell {
        if self.left == 0 {
            let bytes = BATCH * (CELLS + 1) * size_of::<Cell>();
            self.fresh = crate::os::map_memory(bytes).cast();
            self.left = BATCH;
        }
        let cells = self.fresh;
        // SAFETY: within the mapping, or one past its end.
        self.fresh = unsafe { cells.add(CELLS + 1) };
        self.left -= 1;
        self.pages.insert(key, cells);
        self.mark_shared(page, cells);
        cells
    }

    fn mark_shared(&mut self, page: u64, cells: *mut Cell) {
        let end = page.saturating_add(PAGE);
        let first = self.ranges.partition_point(|r| r[1] <= page);
        for &[from, to] in self.ranges[first..].iter().take_while(|r| r[0] < end) {
            for address in from.max(page)..to.min(end) {
                let offset = (address - page) as usize;
                // SAFETY: a page has `CELLS` cells.
                let cell = unsafe { &mut *cells.add(offset / SPAN as usize) };
                cell.shared |= 1 << (offset % SPAN as usize);
            }
        }
    }

    #[inline]
    fn cell(&mut self, address: u64) -> &mut Cell {
        let cells = self.page(address);
        let index = (address % PAGE / SPAN) as usize;
        // SAFETY: a page has `CELLS` cells, and the borrow of `self` covers them.
        unsafe { &mut *cells.add(index) }
    }

    /// Does an access of these bytes (1, 2, 4 or 8) by `slot` change nothing that is known of them,
    /// and find nothing? They lie in one cell, are concrete and not known to be shared, and `slot`
    /// alone touched them, in this way too. Wrong answers are never "yes".
    #[inline(never)]
    pub fn is_settled(&mut self, address: u64, len: u64, slot: Slot, write: bool) -> bool {
        let from = (address % SPAN) as usize;
        let cell = self.cell(address);
        match len {
            1 => cell.is_settled::<1>(from, slot, write),
            2 => cell.is_settled::<2>(from, slot, write),
            4 => cell.is_settled::<4>(from, slot, write),
            _ => cell.is_settled::<8>(from, slot, write),
        }
    }

    /// Would a visit of these bytes find and change nothing, or, if it always happens, nothing but that
    /// they are noted as touched? That is done then.
    pub fn settle(&mut self, address: u64, len: u64, visit: Visit) -> bool {
        let end = address + len;
        let mut here = address;
        while here < end {
            let page_end = (here & !(PAGE - 1)) + PAGE;
            let stop = end.min(page_end);
            let page = here & !(PAGE - 1);
            if !self.is_recent(page) && !self.is_known(page) && !(visit.is_there)(page) {
                return false;
            }
            let cells = self.page(here);
            while here < stop {
                // SAFETY: a page has `CELLS` cells, and the borrow of `self` covers them.
                let cell = unsafe { &mut *cells.add((here % PAGE / SPAN) as usize) };
                let from = (here % SPAN) as usize;
                let n = (SPAN - here % SPAN).min(stop - here);
                let known =
                    n == SPAN && !visit.local && cell.is_settled::<8>(0, visit.slot, visit.write);
                if !known && !cell.settle(from..from + n as usize, visit) {
                    return false;
                }
                here += n;
            }
        }
        true
    }

    /// Are these bytes (1, 2, 4 or 8) concrete? "No" may also mean that they lie in two cells.
    #[inline]
    pub fn is_concrete(&mut self, address: u64, len: u64) -> bool {
        let from = (address % SPAN) as usize;
        let cells = self.page(address);
        // SAFETY: a page has so many cells, and the borrow of `self` covers them.
        let (head, cell) = unsafe {
            let index = (address % PAGE / SPAN) as usize;
            (&*cells.add(HEAD), &*cells.add(index))
        };
        if head.known == 0 && address % PAGE + len <= PAGE {
            return true;
        }
        match len {
            1 => cell.is_concrete::<1>(from),
            2 => cell.is_concrete::<2>(from),
            4 => cell.is_concrete::<4>(from),
            _ => cell.is_concrete::<8>(from),
        }
    }

    /// Calls `each` for the parts of the bytes, from low to high addresses.
    #[inline]
    pub fn parts(&mut self, address: u64, len: u64, mut each: impl FnMut(Part)) {
        let mut done = 0;
        while done < len {
            let here = address.wrapping_add(done);
            let from = here % SPAN;
            let n = (SPAN - from).min(len - done);
            each(Part {
                cell: self.cell(here),
                from: from as usize,
                len: n as usize,
                at: done as usize,
            });
            done += n;
        }
    }

    /// May one of the bytes have an expression?
    fn may_have_expression(&mut self, address: u64, len: u64) -> bool {
        let pages = (address & !(PAGE - 1)..address + len).step_by(PAGE as usize);
        pages.into_iter().any(|page| {
            let cells = self.page(page);
            // SAFETY: as in `note_expression`.
            unsafe { (*cells.add(HEAD)).known != 0 }
        })
    }

    /// The bytes get an expression.
    fn note_expression(&mut self, address: u64, len: u64) {
        for end in [address, address + len.max(1) - 1] {
            let cells = self.page(end);
            // SAFETY: behind the cells of a page there is one more, and the borrow of `self` covers it.
            unsafe { (*cells.add(HEAD)).known = 1 };
        }
    }

    /// Is one of the bytes known to be shared?
    #[inline]
    pub fn any_shared(&mut self, address: u64, len: u64) -> bool {
        let mut any = false;
        self.parts(address, len, |p| any |= p.cell.shared & p.bits() != 0);
        any
    }

    /// The same of bytes that may be very many.
    pub fn any_shared_of_many(&mut self, address: u64, len: u64) -> bool {
        let mut any = self.shared_ranges(address, len).next().is_some();
        if !any {
            self.existing_parts(address, len, |p| any |= p.cell.shared & p.bits() != 0);
        }
        any
    }

    /// What is known to be shared of these bytes: first, how many.
    pub fn shared_ranges(
        &self,
        address: u64,
        len: u64,
    ) -> impl Iterator<Item = (u64, u64)> + use<> {
        let (ranges, end) = (self.ranges, address.saturating_add(len));
        let first = ranges.partition_point(|r| r[1] <= address);
        let within = ranges[first..].iter().take_while(move |r| r[0] < end);
        within.map(move |&[from, to]| {
            let from = from.max(address);
            (from, to.min(end) - from)
        })
    }

    /// Was anything recorded of one of these bytes, as of shared ones?
    pub fn any_recorded(&mut self, address: u64, len: u64) -> bool {
        let mut any = false;
        self.existing_parts(address, len, |p| any |= p.cell.known & p.bits() != 0);
        any
    }

    /// Was anything near this address ever touched or given an expression?
    pub fn is_known(&mut self, address: u64) -> bool {
        self.pages.get(address & !(PAGE - 1) | 1).is_some()
    }

    /// Has one of the bytes an expression, or is it known to be shared?
    pub fn any_symbolic(&mut self, address: u64, len: u64) -> bool {
        let mut any = false;
        self.existing_parts(address, len, |p| {
            let range = p.from..p.from + p.len;
            any |= p.cell.shared & p.bits() != 0 || p.cell.bytes[range].iter().any(|&e| e != 0);
        });
        any
    }

    /// From `address` on, how many of the next `len` bytes are all shared or all not shared?
    pub fn run(&mut self, address: u64, len: u64) -> (bool, u64) {
        let first = self.any_shared(address, 1);
        let mut same = 1;
        while same < len {
            let here = address + same;
            let whole = here.is_multiple_of(SPAN) && len - same >= SPAN;
            let shared = self.cell(here).shared;
            if whole && (shared == 0 && !first || shared == 0xff && first) {
                same += SPAN;
            } else if (shared >> (here % SPAN) & 1 != 0) == first {
                same += 1;
            } else {
                break;
            }
        }
        (first, same)
    }

    /// Notes that `slot` touches the bytes. Calls `report` for each run of bytes that thereby turn
    /// out to be shared: offset and length.
    #[inline]
    pub fn touch(
        &mut self,
        address: u64,
        len: u64,
        slot: Slot,
        write: bool,
        mut report: impl FnMut(u64, u64),
    ) {
        let mut run = (0, 0);
        self.parts(address, len, |p| {
            let news = touch_part(p.cell, p.from..p.from + p.len, slot, write);
            for i in 0..p.len {
                if news >> i & 1 == 0 {
                    continue;
                }
                let at = (p.at + i) as u64;
                if run.1 > 0 && run.0 + run.1 == at {
                    run.1 += 1;
                } else {
                    if run.1 > 0 {
                        report(run.0, run.1);
                    }
                    run = (at, 1);
                }
            }
        });
        if run.1 > 0 {
            report(run.0, run.1);
        }
    }

    /// The bytes are another object's now: forgets who touched them and their expressions. What
    /// they hold is taken as it is.
    ///
    /// # Safety
    /// They are readable.
    pub unsafe fn renew(&mut self, address: u64, len: u64) {
        self.existing_parts(address, len, |p| {
            let range = p.from..p.from + p.len;
            p.cell.bytes[range.clone()].fill(0);
            p.cell.touch[range.clone()].fill(0);
            if p.cell.known & p.bits() != 0 {
                let held = &mut p.cell.content[range];
                let now = (address as usize + p.at) as *const u8;
                // SAFETY: by the contract above.
                unsafe { now.copy_to(held.as_mut_ptr(), held.len()) };
            }
        });
    }

    /// As [`Cells::parts`], without those that nothing is known of.
    fn existing_parts(&mut self, address: u64, len: u64, mut each: impl FnMut(Part)) {
        let end = address.saturating_add(len);
        let mut here = address;
        while here < end {
            let page_end = (here & !(PAGE - 1)).saturating_add(PAGE).min(end);
            if self.pages.get(here & !(PAGE - 1) | 1).is_some() {
                let before = (here - address) as usize;
                self.parts(here, page_end - here, |p| {
                    each(Part {
                        at: p.at + before,
                        ..p
                    });
                });
            }
            here = page_end;
        }
    }

    /// Calls `each` for the runs of bytes that were touched and are not shared: first, how many,
    /// by whom (`slot::NONE`: several, who only read), and whether they were written.
    pub fn private(&mut self, mut each: impl FnMut(u64, u64, Slot, bool)) {
        self.pages.for_each(|key, cells| {
            let page = key & !(PAGE - 1);
            let mut run: (u64, u64, Option<(Slot, bool)>) = (page, 0, None);
            for offset in 0..PAGE {
                // SAFETY: a page has `CELLS` cells.
                let cell = unsafe { &*cells.add((offset / SPAN) as usize) };
                let owner = cell.owner((offset % SPAN) as usize);
                if owner == run.2 {
                    run.1 += 1;
                    continue;
                }
                if let Some((slot, written)) = run.2 {
                    each(run.0, run.1, slot, written);
                }
                run = (page + offset, 1, owner);
            }
            if let Some((slot, written)) = run.2 {
                each(run.0, run.1, slot, written);
            }
        });
    }

    /// Makes the bytes concrete.
    pub fn forget(&mut self, address: u64, len: u64) {
        self.existing_parts(address, len, |p| {
            p.cell.bytes[p.from..p.from + p.len].fill(0);
        });
    }

    /// The same of whole pages, which may be very many. Was one of their bytes none?
    pub fn forget_pages(&mut self, address: u64, len: u64) -> bool {
        let (mut any, end) = (false, address.saturating_add(len));
        self.pages.for_each(|key, cells| {
            if (address..end).contains(&(key & !(PAGE - 1))) {
                // SAFETY: a page has `CELLS` cells, and the borrow of `self` covers them.
                let cells = unsafe { core::slice::from_raw_parts_mut(*cells, CELLS) };
                for cell in cells {
                    any |= cell.bytes != [0; 8];
                    cell.bytes = [0; 8];
                }
            }
        });
        any
    }

    /// Gives `len` (at most 8) bytes the expression `expr` of as many bits; `value` is what they
    /// hold, if that is known. 0: concrete.
    #[inline]
    pub fn store(&mut self, address: u64, len: u64, expr: Expr, value: Option<u64>) {
        if expr == 0 {
            self.parts(address, len, |p| {
                p.cell.bytes[p.from..p.from + p.len].fill(0);
            });
            return;
        }
        self.note_expression(address, len);
        let bytes = value.map(u64::to_le_bytes);
        self.parts(address, len, |p| {
            let bits = p.bits();
            p.cell.checked &= !bits;
            for i in 0..p.len {
                p.cell.bytes[p.from + i] = expr << 3 | (p.at + i) as u32;
            }
            if let Some(bytes) = bytes {
                p.cell.checked |= bits;
                let content = &mut p.cell.content[p.from..p.from + p.len];
                content.copy_from_slice(&bytes[p.at..p.at + p.len]);
            }
        });
    }

    /// The expression of `len` (at most 8) bytes that hold `value`. The second part says that some
    /// of them were changed behind the shadow's back and are concrete now.
    #[inline]
    pub fn load(&mut self, nodes: &mut Nodes, address: u64, len: u64, value: u64) -> (Expr, bool) {
        let mut entries = [0; 8];
        let mut symbolic = 0;
        let mut stale = false;
        let bytes = value.to_le_bytes();
        self.parts(address, len, |p| {
            for i in 0..p.len {
                let entry = p.cell.bytes[p.from + i];
                let checked = p.cell.checked >> (p.from + i) & 1 != 0;
                if entry != 0 && checked && p.cell.content[p.from + i] != bytes[p.at + i] {
                    p.cell.bytes[p.from + i] = 0;
                    stale = true;
                    continue;
                }
                entries[p.at + i] = entry;
                symbolic |= entry;
            }
        });
        if symbolic == 0 {
            return (0, stale);
        }
        (assemble(nodes, &entries[..len as usize], value), stale)
    }

    /// Copies the expressions of `len` bytes; the bytes were or will be copied as `memmove` does.
    pub fn copy(&mut self, from: u64, to: u64, len: u64) {
        if !self.may_have_expression(from, len) && !self.may_have_expression(to, len) {
            return;
        }
        let mut byte = |i: u64| {
            let source = self.cell(from + i);
            let index = ((from + i) % SPAN) as usize;
            let (entry, content) = (source.bytes[index], source.content[index]);
            let checked = source.checked >> index & 1;
            // What is recorded of shared bytes may be of another thread.
            let entry = if source.shared >> index & 1 != 0 {
                0
            } else {
                entry
            };
            if entry != 0 {
                self.note_expression(to + i, 1);
            }
            let target = self.cell(to + i);
            let index = ((to + i) % SPAN) as usize;
            target.bytes[index] = entry;
            if entry != 0 {
                target.checked = target.checked & !(1 << index) | checked << index;
                target.content[index] = content;
            }
        };
        if to <= from {
            (0..len).for_each(&mut byte);
        } else {
            (0..len).rev().for_each(&mut byte);
        }
    }
}

/// Notes a touch of some bytes of a cell; the bits of those that thereby turn out to be shared.
#[inline]
fn touch_part(cell: &mut Cell, range: Range<usize>, slot: Slot, write: bool) -> u8 {
    let mine = slot + 1;
    let touch = &mut cell.touch[range];
    let settled = |&t: &Touch| t == mine | WRITTEN || t == REPORTED || (!write && t == mine);
    if touch.iter().all(settled) {
        return 0;
    }
    let mut news = 0;
    for (i, old) in touch.iter_mut().enumerate() {
        let new = after_touch(*old, mine, write);
        if new == REPORTED && *old != REPORTED {
            news |= 1 << i;
        }
        *old = new;
    }
    news
}

/// What a byte's record becomes.
#[inline]
fn after_touch(old: Touch, mine: Touch, write: bool) -> Touch {
    let mut new = match old {
        REPORTED => return REPORTED,
        0 => mine,
        old if old & !(WRITTEN | SECOND) == mine => old,
        old => old | SECOND,
    };
    if write {
        new |= WRITTEN;
    }
    if new & WRITTEN != 0 && new & SECOND != 0 {
        return REPORTED;
    }
    new
}

/// One expression from entries, low byte first; bytes without one come from `value`.
fn assemble(nodes: &mut Nodes, entries: &[u32], value: u64) -> Expr {
    let mut result = 0;
    let mut at = 0;
    while at < entries.len() {
        let first = entries[at];
        let same = |i: usize| match first {
            0 => entries[i] == 0,
            first => entries[i] == first + (i - at) as u32 && entries[i] >> 3 == first >> 3,
        };
        let end = (at..entries.len())
            .find(|&i| !same(i))
            .unwrap_or(entries.len());
        let bits = 8 * (end - at) as u8;
        let piece = match first {
            0 => nodes.constant(bits, value >> (8 * at)),
            first => nodes.extract(first >> 3, 8 * (first & 7) as u8, bits),
        };
        result = if at == 0 {
            piece
        } else {
            nodes.concat(piece, result)
        };
        if result == 0 {
            return 0;
        }
        at = end;
    }
    if nodes.constant_of(result).is_some() {
        0
    } else {
        result
    }
}
