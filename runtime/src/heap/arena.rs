//! One thread's arena: chunks, slots, large blocks. Everything it knows lies at its own start, so
//! that the address of a block depends on the history of its arena alone.
//!
//! An arena is handled through a raw base address and is not synchronised: either one thread of
//! the program runs at a time, or the caller holds the heap's lock.

use super::block::{self, HEADER, Header, RED_ZONE, State};
use super::chunks::{Entry, Table};
use super::classes::{self, CHUNK};
use super::map;
use super::quarantine::Ring;
use raddle_protocol::{Slot, arena::LOW_END, arena::SPAN};

/// Blocks of at least this many bytes lose their pages and become inaccessible when freed.
pub const HUGE: usize = 256 << 10;
/// Bytes of quarantine per arena.
pub const QUARANTINE: u64 = 64 << 20;
/// Address space is mapped in steps of this many bytes.
pub const STEP: usize = 16 << 20;
const PAGE: usize = 4096;

/// What is known about a block; addresses are absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// First byte.
    pub start: usize,
    /// Bytes that the program asked for.
    pub size: usize,
    pub state: State,
    /// Who allocated it, or freed it once it is freed; meaningless when `Reusable`.
    pub slot: Slot,
    /// Where that happened; meaningless when `Reusable`.
    pub place: u64,
}

/// What a call of the program, or a check, found to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The address is in no block.
    Wild,
    /// The address lies inside this block but is not its start.
    Interior(Info),
    /// The block was freed already.
    Freed(Info),
    /// The byte at `at` behind (or before) the block was overwritten.
    Overflow { block: Info, at: usize },
    /// The header of the slot at this address was overwritten.
    Header { slot: usize },
    /// The freed block was written at `at`.
    WrittenAfterFree { block: Info, at: usize },
}

/// A slot: its place and its header.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub at: usize,
    pub len: usize,
}

impl Slots {
    fn info(self, header: &Header) -> Info {
        Info {
            start: self.at + header.offset,
            size: header.size,
            state: header.state,
            slot: header.slot,
            place: header.place,
        }
    }

    fn end(self) -> usize {
        self.at + self.len
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Class {
    /// First slot never handed out, as an offset into the arena; 0: no chunk yet.
    fresh: u32,
    /// How many such slots the chunk has left.
    left: u32,
    /// First reusable slot, in units of 16 bytes; 0: none.
    free: u32,
}

#[repr(C)]
struct Head {
    /// Bytes of the arena that are mapped.
    mapped: u64,
    next_chunk: u32,
    class: [Class; classes::COUNT],
    ring: Ring,
}

/// Chunks that hold the arena's own data.
const OWN: usize = {
    let bytes = size_of::<Head>() + Table::BYTES + Ring::BYTES;
    bytes.div_ceil(CHUNK)
};

/// A handle on the arena at `base`.
#[derive(Clone, Copy)]
pub struct Arena {
    base: usize,
}

impl Arena {
    /// The arena of a slot, whether it has been used or not.
    pub fn of(slot: Slot) -> Arena {
        Arena::at(raddle_protocol::arena::BASE as usize + slot as usize * SPAN as usize)
    }

    /// The arena that begins at `base`, a multiple of [`STEP`].
    pub fn at(base: usize) -> Arena {
        Arena { base }
    }

    /// Its first byte.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Bytes of address space that it may use.
    fn span(&self) -> usize {
        match self.is_low() {
            true => LOW_END as usize - self.base,
            false => SPAN as usize,
        }
    }

    /// Is it that of [`super::low`]?
    pub fn is_low(&self) -> bool {
        self.base < LOW_END as usize
    }

    fn head(&self) -> &'static mut Head {
        // SAFETY: `base` starts with a mapped Head (see `prepare`), and the module comment says
        // why nobody else uses it now; no caller keeps the reference over another call.
        unsafe { &mut *(self.base as *mut Head) }
    }

    fn table(&self) -> Table {
        Table::at(self.base + size_of::<Head>())
    }

    fn ring(&self) -> (&'static mut Ring, usize) {
        let entries = self.base + size_of::<Head>() + Table::BYTES;
        (&mut self.head().ring, entries)
    }

    /// Maps the arena's own data at the first use; `false` when there is no memory.
    pub fn prepare(&self) -> bool {
        if !map::reserve(self.base, STEP) {
            return false;
        }
        let head = self.head();
        head.mapped = STEP as u64;
        head.next_chunk = OWN as u32;
        true
    }

    fn chunk_at(&self, index: usize) -> usize {
        self.base + index * CHUNK
    }

    /// Room for `count` chunks in a row: where, and whether the memory is known to be zero.
    fn take_chunks(&self, count: usize) -> Option<(usize, bool)> {
        if let Some(index) = self.table().take_run(count) {
            return Some((index, false));
        }
        let head = self.head();
        let first = head.next_chunk as usize;
        let end = (first + count).checked_mul(CHUNK)?;
        if end > self.span() {
            return None;
        }
        if end > head.mapped as usize {
            let from = head.mapped as usize;
            let to = end.next_multiple_of(STEP).min(self.span());
            if !map::reserve(self.base + from, to - from) {
                return None;
            }
            head.mapped = to as u64;
        }
        head.next_chunk = (first + count) as u32;
        Some((first, true))
    }

    /// Allocates. `align` is a power of two, at most [`CHUNK`] ([`Arena::allocate_aligned`] takes
    /// larger ones). The second part says whether the block is known to be zero.
    pub fn allocate(
        &self,
        size: usize,
        align: usize,
        slot: Slot,
        place: u64,
    ) -> Result<Option<(usize, bool)>, Fault> {
        let slack = if align > 16 { align } else { 0 };
        let Some(total) = size.checked_add(HEADER + RED_ZONE + slack) else {
            return Ok(None);
        };
        let taken = match classes::class_of(total) {
            Some(class) => self.take_slot(class)?,
            None => self.take_large(total),
        };
        let Some((at, zero)) = taken else {
            return Ok(None);
        };
        let start = (at.at + HEADER).next_multiple_of(align.max(16));
        self.dress(at, start, size, slot, place);
        Ok(Some((start, zero)))
    }

    /// Allocates with an alignment above [`CHUNK`].
    pub fn allocate_aligned(
        &self,
        size: usize,
        align: usize,
        slot: Slot,
        place: u64,
    ) -> Option<usize> {
        let total = size.checked_add(CHUNK + RED_ZONE)?;
        let slack = align.checked_add(total)?.div_ceil(CHUNK);
        if slack > SPAN as usize / CHUNK {
            return None;
        }
        let (first, _) = self.take_chunks(slack)?;
        let start = (self.chunk_at(first) + CHUNK).next_multiple_of(align);
        let head = (start - CHUNK - self.base) / CHUNK;
        let count = total.div_ceil(CHUNK);
        let table = self.table();
        table.give_run(first, head - first);
        table.give_run(head + count, first + slack - head - count);
        table.mark_large(head, count);
        let at = Slots {
            at: self.chunk_at(head),
            len: count * CHUNK,
        };
        self.dress(at, start, size, slot, place);
        Some(start)
    }

    fn dress(&self, at: Slots, start: usize, size: usize, slot: Slot, place: u64) {
        let header = Header {
            size,
            offset: start - at.at,
            state: State::Live,
            slot,
            place,
        };
        // SAFETY: the slot was just taken from this arena and is mapped.
        unsafe {
            header.write(at.at);
            block::paint_red_zone(start + size, at.end());
        }
    }

    fn take_large(&self, total: usize) -> Option<(Slots, bool)> {
        let count = total.div_ceil(CHUNK);
        if count > SPAN as usize / CHUNK {
            return None;
        }
        let (first, zero) = self.take_chunks(count)?;
        self.table().mark_large(first, count);
        let at = self.chunk_at(first);
        let len = count * CHUNK;
        Some((Slots { at, len }, zero))
    }

    fn take_slot(&self, class: usize) -> Result<Option<(Slots, bool)>, Fault> {
        let len = classes::SLOT[class] as usize;
        let state = &mut self.head().class[class];
        if state.free != 0 {
            let at = self.base + state.free as usize * 16;
            let slots = Slots { at, len };
            let header = self.clean_header(slots)?;
            state.free = header.place as u32;
            return Ok(Some((slots, false)));
        }
        if state.left == 0 {
            let Some((chunk, zero)) = self.take_chunks(1) else {
                return Ok(None);
            };
            self.table().mark_small(chunk, class, zero);
            let state = &mut self.head().class[class];
            state.fresh = (chunk * CHUNK) as u32;
            state.left = classes::per_chunk(class) as u32;
        }
        let state = &mut self.head().class[class];
        let at = self.base + state.fresh as usize;
        state.left -= 1;
        state.fresh = state.fresh.wrapping_add(len as u32);
        let zero = self.table().is_zero((at - self.base) / CHUNK);
        Ok(Some((Slots { at, len }, zero)))
    }

    /// The header of a freed slot whose pattern and red zone are checked first.
    fn clean_header(&self, at: Slots) -> Result<Header, Fault> {
        // SAFETY: slots lie in mapped memory; those of huge blocks have been made accessible.
        unsafe {
            let header = Header::read(at.at).ok_or(Fault::Header { slot: at.at })?;
            let info = at.info(&header);
            let readable = if info.size >= HUGE {
                map::page_up(info.start) - info.start
            } else {
                info.size
            };
            match block::written_after_free(info.start, readable) {
                Some(offset) => Err(Fault::WrittenAfterFree {
                    block: info,
                    at: info.start + offset,
                }),
                None => Ok(header),
            }
        }
    }

    /// The slot that holds `address`, if it has ever been handed out.
    fn locate(&self, address: usize) -> Option<Slots> {
        let offset = address - self.base;
        match self.table().get(offset / CHUNK) {
            Entry::Small { class, .. } => {
                let index = classes::index_of(class, offset % CHUNK);
                let len = classes::SLOT[class] as usize;
                let at = self.base + offset / CHUNK * CHUNK + index * len;
                (index < self.used_slots(offset / CHUNK, class)).then_some(Slots { at, len })
            }
            Entry::Large { count } => Some(Slots {
                at: self.chunk_at(offset / CHUNK),
                len: count * CHUNK,
            }),
            Entry::Inside { back } => {
                let first = offset / CHUNK - back;
                match self.table().get(first) {
                    Entry::Large { count } => Some(Slots {
                        at: self.chunk_at(first),
                        len: count * CHUNK,
                    }),
                    _ => None,
                }
            }
            Entry::Unused => None,
        }
    }

    fn used_slots(&self, chunk: usize, class: usize) -> usize {
        let state = &self.head().class[class];
        let all = classes::per_chunk(class);
        let current = state.left > 0 && state.fresh as usize / CHUNK == chunk;
        if current {
            all - state.left as usize
        } else {
            all
        }
    }

    /// One past the last byte of the arena's address space.
    #[cfg(test)]
    pub fn end(&self) -> usize {
        self.base + self.span()
    }

    /// The block whose slot holds `address`: a live or a freed one.
    pub fn block_of(&self, address: usize) -> Option<Result<Info, Fault>> {
        let at = self.locate(address)?;
        // SAFETY: handed-out slots start with a readable header.
        Some(match unsafe { Header::read(at.at) } {
            Some(header) => Ok(at.info(&header)),
            None => Err(Fault::Header { slot: at.at }),
        })
    }

    /// Do these bytes lie in one live block?
    pub fn check_access(&self, address: usize, len: usize) -> Result<(), Fault> {
        let info = self.block_of(address).unwrap_or(Err(Fault::Wild))?;
        let end = info.start + info.size;
        if info.state != State::Live {
            return Err(Fault::Freed(info));
        }
        if address < info.start || address + len > end {
            let at = if address < info.start {
                address
            } else {
                address.max(end)
            };
            return Err(Fault::Overflow { block: info, at });
        }
        Ok(())
    }

    /// The live block that starts at `address`, with its slot.
    fn live(&self, address: usize) -> Result<(Slots, Header), Fault> {
        let at = self.locate(address).ok_or(Fault::Wild)?;
        // SAFETY: handed-out slots start with a readable header.
        let header = unsafe { Header::read(at.at) }.ok_or(Fault::Header { slot: at.at })?;
        let info = at.info(&header);
        if header.state != State::Live {
            return Err(Fault::Freed(info));
        }
        if info.start != address {
            return Err(Fault::Interior(info));
        }
        Ok((at, header))
    }

    /// The live block that starts at `address`, unharmed.
    pub fn live_block(&self, address: usize) -> Result<Info, Fault> {
        let (at, header) = self.live(address)?;
        self.check_red_zone(at, &header)?;
        Ok(at.info(&header))
    }

    fn check_red_zone(&self, at: Slots, header: &Header) -> Result<(), Fault> {
        let block = at.info(header);
        let end = block.start + block.size;
        if end + RED_ZONE > at.end() {
            return Err(Fault::Header { slot: at.at });
        }
        // SAFETY: the red zone lies in the slot, which is mapped.
        match unsafe { block::damage(end, at.end()) } {
            Some(offset) => Err(Fault::Overflow {
                block,
                at: end + offset,
            }),
            None => Ok(()),
        }
    }

    /// Changes the size of a live block where it lies, if its slot is large enough and not far too
    /// large.
    pub fn resize(&self, address: usize, size: usize) -> Result<bool, Fault> {
        let (at, header) = self.live(address)?;
        self.check_red_zone(at, &header)?;
        let room = at.len - header.offset - RED_ZONE;
        if size > room || (at.len > CHUNK && size < room / 2) {
            return Ok(false);
        }
        self.dress(at, address, size, header.slot, header.place);
        Ok(true)
    }

    /// Frees the block that starts at `address`: it goes to quarantine, and what leaves quarantine
    /// for it is checked and can be reused. Returns the block's size.
    pub fn free(&self, address: usize, slot: Slot, place: u64) -> Result<usize, Fault> {
        let (at, header) = self.live(address)?;
        self.check_red_zone(at, &header)?;
        let freed = Header {
            state: State::Freed,
            slot,
            place,
            ..header
        };
        // SAFETY: the slot is the arena's own now.
        unsafe {
            freed.write(at.at);
            if header.size >= HUGE {
                let from = map::page_up(address);
                block::fill(address, from - address);
                map::retire(from, at.end() - from);
            } else {
                block::fill(address, header.size);
            }
        }
        let (ring, entries) = self.ring();
        ring.push(entries, at.at - self.base, Self::weight(at, &header));
        self.evict(QUARANTINE)?;
        Ok(header.size)
    }

    fn weight(at: Slots, header: &Header) -> u64 {
        if at.len >= CHUNK {
            (header.offset + header.size + RED_ZONE).next_multiple_of(PAGE) as u64
        } else {
            at.len as u64
        }
    }

    /// Lets the oldest blocks leave quarantine until `limit` bytes remain. The first block that
    /// was written after its free ends it.
    fn evict(&self, limit: u64) -> Result<(), Fault> {
        loop {
            let (ring, entries) = self.ring();
            if ring.bytes() <= limit || ring.len() <= 1 {
                return Ok(());
            }
            let Some(offset) = ring.oldest(entries) else {
                return Ok(());
            };
            let Some(at) = self.locate(self.base + offset) else {
                return Err(Fault::Wild);
            };
            let header = self.clean_header(at)?;
            ring.drop_oldest(Self::weight(at, &header));
            self.recycle(at, header);
        }
    }

    fn recycle(&self, at: Slots, header: Header) {
        let index = (at.at - self.base) / CHUNK;
        let Entry::Small { class, .. } = self.table().get(index) else {
            if header.size >= HUGE {
                let from = map::page_up(at.at + header.offset);
                map::restore(from, at.end() - from);
            }
            self.table().give_run(index, at.len / CHUNK);
            return;
        };
        let state = &mut self.head().class[class];
        let reusable = Header {
            state: State::Reusable,
            place: u64::from(state.free),
            ..header
        };
        // SAFETY: the slot is the arena's own.
        unsafe { reusable.write(at.at) };
        state.free = ((at.at - self.base) / 16) as u32;
    }

    /// Checks every block that is live or in quarantine.
    pub fn verify(&self) -> Result<(), Fault> {
        let mut chunk = OWN;
        while chunk < self.head().next_chunk as usize {
            match self.table().get(chunk) {
                Entry::Small { class, .. } => {
                    let len = classes::SLOT[class] as usize;
                    for index in 0..self.used_slots(chunk, class) {
                        let at = self.chunk_at(chunk) + index * len;
                        self.verify_slot(Slots { at, len })?;
                    }
                    chunk += 1;
                }
                Entry::Large { count } => {
                    let at = self.chunk_at(chunk);
                    let len = count * CHUNK;
                    self.verify_slot(Slots { at, len })?;
                    chunk += count;
                }
                Entry::Inside { .. } | Entry::Unused => chunk += 1,
            }
        }
        Ok(())
    }

    fn verify_slot(&self, at: Slots) -> Result<(), Fault> {
        // SAFETY: handed-out slots start with a readable header.
        let header = unsafe { Header::read(at.at) }.ok_or(Fault::Header { slot: at.at })?;
        match header.state {
            State::Live => self.check_red_zone(at, &header),
            State::Freed | State::Reusable => self.clean_header(at).map(|_| ()),
        }
    }
}
