//! Calls under way of functions of the C library that access more than a word: others may come between
//! two of their reads, and between two of their writes. So what a call reads is read before it, piece by
//! piece, each a step; the call finds in memory what was read, and when it has returned, memory is put
//! back, and what it wrote is written piece by piece, each a step.
//!
//! While a call is under way others run only if it waits, or calls something of the program's. They find
//! memory as it is for them: without what the call alone is to find, and with what it has written by then
//! where it does not read.

use super::pieces::{self, WORD};
use super::{read, tell_long, try_read, try_write, write};
use crate::gate;
use crate::gone;
use crate::heap::{self, State};
use crate::os;
use crate::serial::Serial;
use crate::shadow::is_mapped;
use crate::spare;
use core::ops::Range;
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

/// Most calls under way at the same time; of more, what they access is told of as a whole.
const CALLS: usize = 32;
/// Most places that a call accesses.
const PLACES: usize = 24;
/// Most of those that it is sure to write, as far as it is known before.
const SURE: usize = 16;
/// Most bytes of them.
const ROOM: usize = 8192;
const PAGE: u64 = 4096;
/// Of a large structure so many bytes are written word by word, the others in so many pieces.
const SINGLE: u64 = 4 * WORD;
const LONGER: u64 = 4;

/// Memory that a call accesses.
#[derive(Clone, Copy, Default)]
struct Place {
    at: u64,
    len: u64,
    /// Where its bytes lie in those of the call.
    first: usize,
    /// The call reads there, and what it finds is for it alone.
    own: bool,
    /// The effect by which it writes there.
    effect: u8,
}

impl Place {
    fn bytes(&self) -> Range<usize> {
        self.first..self.first + self.len as usize
    }

    fn end(&self) -> u64 {
        self.at + self.len
    }

    fn holds(&self, at: u64) -> bool {
        (self.at..self.end()).contains(&at)
    }
}

/// A call that is under way, or about to be made.
struct Record {
    /// Address in the caller's frame that stands for the call.
    key: usize,
    slot: Slot,
    /// It has been made, and has not returned.
    made: bool,
    /// The kernel does it, which finds out that memory is not there; and that may be, since others act on
    /// pages.
    kernel: bool,
    count: usize,
    places: [Place; PLACES],
    used: usize,
    /// So many accesses are steps by themselves yet.
    left: u64,
    /// There was no room for something that it may write.
    full: bool,
    /// What it is sure to write: where, how many bytes.
    sure: [(u64, u64); SURE],
    sure_count: usize,
    /// What others find.
    others: [u8; ROOM],
    /// What the call finds, or has left.
    own: [u8; ROOM],
    /// What it has found at first, or what others know that it has left.
    known: [u8; ROOM],
}

struct World {
    /// Made when first needed.
    records: [*mut Record; CALLS],
    /// A bit for each that is in use.
    used: u32,
}

static WORLD: Serial<World> = Serial::new(World {
    records: [core::ptr::null_mut(); CALLS],
    used: 0,
});

/// A call of the running thread's.
#[derive(Clone, Copy)]
pub struct Call(usize);

fn world() -> &'static mut World {
    // SAFETY: the running thread; callers keep no reference over a switch.
    unsafe { WORLD.get() }
}

fn record(n: usize) -> &'static mut Record {
    // SAFETY: those in use were made; as above.
    unsafe { &mut *world().records[n] }
}

/// The calls of this thread.
fn calls_of(slot: Slot) -> impl Iterator<Item = usize> {
    let used = world().used;
    (0..CALLS).filter(move |n| used >> n & 1 != 0 && record(*n).slot == slot)
}

/// Is any call under way?
#[inline]
fn any() -> bool {
    world().used != 0
}

/// Lets others run: they find what is theirs.
#[inline]
pub fn aside(slot: Slot, run: impl FnOnce()) {
    if !any() {
        return run();
    }
    leave(slot);
    run();
    resume(slot);
}

#[cold]
fn leave(slot: Slot) {
    for n in calls_of(slot).filter(|&n| record(n).made) {
        record(n).take_out();
    }
}

#[cold]
fn resume(slot: Slot) {
    for n in calls_of(slot).filter(|&n| record(n).made) {
        record(n).put_in();
    }
}

/// Does a call of this thread that is under way find in all of these bytes what was read for it?
pub fn finds(slot: Slot, at: u64, len: u64) -> bool {
    any() && calls_of(slot).any(|n| record(n).made && Call(n).unread(at, len).is_none())
}

/// Calls of this thread whose frames lie below `limit` will not return: a jump, or the end of the thread,
/// leads out of them.
pub fn abandon(slot: Slot, limit: usize) {
    if any() {
        for n in calls_of(slot).filter(|&n| record(n).key < limit) {
            Call(n).close();
        }
    }
}

/// The call with this key of the running thread's.
pub fn find(key: usize) -> Option<Call> {
    if !any() {
        return None;
    }
    calls_of(gate::me())
        .find(|&n| record(n).key == key)
        .map(Call)
}

/// A call is about to be made; `kernel`: by the kernel, while pages may be taken away. `None`: there is no
/// place for it.
pub fn open(key: usize, most: u64, kernel: bool) -> Option<Call> {
    let me = gate::me();
    // Stacks grow downwards: others with frames here or below are no more.
    abandon(me, key + 1);
    let world = world();
    let n = world.used.trailing_ones() as usize;
    let place = world.records.get_mut(n)?;
    if place.is_null() {
        *place = spare::take(size_of::<Record>()).cast();
    }
    world.used |= 1 << n;
    // SAFETY: memory for one, of which all bytes have values; nobody else has it.
    let record = unsafe { &mut **place };
    (record.key, record.slot) = (key, me);
    (record.made, record.count, record.used, record.left) = (false, 0, 0, most);
    (record.full, record.kernel, record.sure_count) = (false, kernel, 0);
    Some(Call(n))
}

/// Bytes of the program from here on.
///
/// # Safety
/// They are there, and nobody else has them while the slice is used.
unsafe fn memory<'a>(place: &Place) -> &'a mut [u8] {
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts_mut(place.at as *mut u8, place.len as usize) }
}

/// May this memory not be there, though a call of the C library is given it? A call that fails may not
/// access it at all.
fn may_be_gone(kernel: bool) -> bool {
    kernel || gone::have_pages_changed()
}

/// Is this byte not there?
fn is_gone(at: u64) -> bool {
    gone::have_pages_changed() && gone::is_gone(at as *const u8)
}

/// Writes only what differs: some memory can be read only. Nobody finds anything in what was freed, which
/// may be because of the call itself. `kernel`: the call is the kernel's.
fn put(place: &Place, from: &[u8], kernel: bool) {
    if may_be_gone(kernel) {
        if kernel || !is_freed(place.at) {
            // SAFETY: nobody has a reference; the call may write there.
            unsafe { os::try_write(place.at as usize, from) };
        }
        return;
    }
    // SAFETY: the call accesses the place.
    let to = unsafe { memory(place) };
    if to != from && !is_freed(place.at) {
        to.copy_from_slice(from);
    }
}

/// Copies what is there; `kernel`: as [`put`].
fn look(place: &Place, into: &mut [u8], kernel: bool) {
    match may_be_gone(kernel) {
        true => {
            os::try_read(place.at as usize, into);
        }
        // SAFETY: the call accesses the place.
        false => into.copy_from_slice(unsafe { memory(place) }),
    }
}

fn is_freed(at: u64) -> bool {
    matches!(heap::block_of(at), Some(Ok(block)) if block.state != State::Live)
}

impl Record {
    /// The places' bytes become what the call is to find.
    fn put_in(&mut self) {
        let places = &self.places[..self.count];
        for place in places {
            look(place, &mut self.others[place.bytes()], self.kernel);
        }
        for place in places.iter().filter(|place| place.own) {
            put(place, &self.own[place.bytes()], self.kernel);
        }
    }

    /// They become what others are to find; what the call has left is kept.
    fn take_out(&mut self) {
        self.keep();
        for place in self.places[..self.count].iter().filter(|place| place.own) {
            put(place, &self.others[place.bytes()], self.kernel);
        }
    }

    fn keep(&mut self) {
        for place in &self.places[..self.count] {
            look(place, &mut self.own[place.bytes()], self.kernel);
        }
    }

    /// One more place of so many bytes at most; how many there was room for.
    fn add(&mut self, at: u64, len: u64, own: bool, effect: u8) -> u64 {
        let len = len.min((ROOM - self.used) as u64).min(WORD * self.left);
        if len == 0 || self.count == PLACES {
            return 0;
        }
        self.places[self.count] = Place {
            at,
            len,
            first: self.used,
            own,
            effect,
        };
        self.count += 1;
        self.used += len as usize;
        len
    }

    /// The first bytes from here on that no place has, of those that `counts`.
    fn missing(&self, at: u64, len: u64, counts: impl Fn(&Place) -> bool) -> Option<(u64, u64)> {
        let places = || {
            self.places[..self.count]
                .iter()
                .filter(|place| counts(place))
        };
        let (mut from, end) = (at, at + len);
        while from < end {
            let Some(place) = places().find(|place| place.holds(from)) else {
                let next = places().map(|place| place.at).filter(|&next| next > from);
                return Some((from, next.min().unwrap_or(end).min(end) - from));
            };
            from = place.end();
        }
        None
    }
}

impl Call {
    /// What [`Record::put_in`] does, while `look` looks at memory as the call will find it.
    pub fn as_found<R>(self, look: impl FnOnce() -> R) -> R {
        record(self.0).put_in();
        let result = look();
        record(self.0).take_out();
        result
    }

    /// The first part of a block that the call reads and that was not read yet.
    pub fn unread(self, at: u64, len: u64) -> Option<(u64, u64)> {
        record(self.0).missing(at, len, |place| place.own)
    }

    /// Reads a block, in pieces of so many bytes at most, each a step; only up to where others have run in
    /// between, if it is a `text`, whose end may be somewhere else then. `exact`: the call is sure to read
    /// there. `false`: there is no room.
    pub fn read(self, at: u64, len: u64, piece: u64, exact: bool, text: bool, pc: usize) -> bool {
        let (mut done, switches) = (0, gate::asking::switches());
        while done < len {
            if record(self.0).left == 0 {
                return false;
            }
            let size = pieces::size(at + done, len - done, piece);
            gate::within_call(super::most_steps() + 1 - record(self.0).left);
            let value = match record(self.0).kernel {
                true => try_read(at + done, size, pc),
                // The call may be about to fail without a look at it.
                false if done == 0 && is_gone(at) => None,
                false => Some(read_piece(at + done, size, exact, pc)),
            };
            gate::within_call(0);
            if !value.is_some_and(|value| self.found(at + done, size, value)) {
                return false;
            }
            done += size;
            if text && gate::asking::switches() != switches {
                break;
            }
        }
        true
    }

    /// Reads a block once more, of which the call is to find the same both times. Is it the same?
    pub fn read_again(self, at: u64, len: u64, piece: u64, pc: usize) -> bool {
        let (mut done, mut same) = (0, true);
        while done < len && same {
            let size = pieces::size(at + done, len - done, piece);
            // No longer the first one of the call.
            gate::within_call(2);
            same = match record(self.0).kernel {
                true => {
                    try_read(at + done, size, pc).is_none_or(|it| it == self.left(at + done, size))
                }
                false => read_piece(at + done, size, true, pc) == self.left(at + done, size),
            };
            gate::within_call(0);
            done += size;
        }
        same
    }

    /// The call finds this piece here, which was read for it. `false`: there is no room.
    pub fn found(self, at: u64, size: u64, value: u64) -> bool {
        let record = record(self.0);
        let first = record.used;
        if record.add(at, size, true, 0) < size {
            return false;
        }
        record.left -= 1;
        let range = first..first + size as usize;
        record.own[range.clone()].copy_from_slice(&value.to_le_bytes()[..size as usize]);
        record.known[range.clone()].copy_from_slice(&record.own[range]);
        record.join_last();
        true
    }

    /// The call, which is made, may write here, or has written: until it has returned, others find what is
    /// there now, or will be when they have run. `false`: there is no room.
    pub fn may_write(self, at: u64, len: u64) -> bool {
        let record = record(self.0);
        while let Some((at, len)) = record.missing(at, len, |_| true) {
            let first = record.used;
            if record.add(at, len, false, 0) < len {
                record.full = true;
                return false;
            }
            let place = record.places[record.count - 1];
            let range = first..first + len as usize;
            look(&place, &mut record.others[range.clone()], record.kernel);
            record.own[range.clone()].copy_from_slice(&record.others[range]);
            record.join_last();
        }
        true
    }

    /// Was there no room for some of what it may write?
    pub fn is_full(self) -> bool {
        record(self.0).full
    }

    /// It is sure to write here.
    pub fn will_write_all(self, at: u64, len: u64) {
        let record = record(self.0);
        match record.sure.get_mut(record.sure_count) {
            Some(free) => {
                *free = (at, len);
                record.sure_count += 1;
            }
            None => record.full = true,
        }
    }

    /// The n-th of the places where it was sure to write.
    pub fn has_written_all(self, n: usize) -> Option<(u64, u64)> {
        let record = record(self.0);
        record.sure[..record.sure_count].get(n).copied()
    }

    /// Is what it has written here kept for steps behind it?
    pub fn keeps(self, at: u64, size: u64) -> bool {
        record(self.0).missing(at, size, |_| true).is_none()
    }

    /// Was any of these bytes read for it?
    pub fn has_read(self, at: u64, len: u64) -> bool {
        let record = record(self.0);
        let mut places = record.places[..record.count].iter();
        places.any(|place| place.own && place.at < at + len && at < place.end())
    }

    /// Others know of what the call, which has returned, has left here.
    pub fn tell(self, at: u64, size: u64) {
        let record = record(self.0);
        for here in at..at + size {
            let mut places = record.places[..record.count].iter();
            if let Some(place) = places.find(|place| place.holds(here)) {
                let n = place.first + (here - place.at) as usize;
                (record.known[n], record.others[n]) = (record.own[n], record.own[n]);
            }
        }
    }

    /// The first piece that the call, which has returned, has changed, and others do not know of: of what it
    /// has read, or else of what they find there.
    pub fn changed(self) -> Option<(u64, u64)> {
        let record = record(self.0);
        record.places[..record.count].iter().find_map(|place| {
            let before = if place.own {
                &record.known
            } else {
                &record.others
            };
            let differs = |at: &u64| {
                let n = place.first + (at - place.at) as usize;
                record.own[n] != before[n]
            };
            let at = (place.at..place.end()).find(differs)?;
            let word = (at & !(WORD - 1)).max(place.at);
            let end = ((at | (WORD - 1)) + 1).min(place.end());
            let size = |from: u64| pieces::size(from, end - from, WORD);
            // The pieces of the word, up to that which holds it.
            let mut from = word;
            while from + size(from) <= at {
                from += size(from);
            }
            Some((from, size(from)))
        })
    }

    /// A piece of what the call, which has returned, has left.
    pub fn left(self, at: u64, size: u64) -> u64 {
        let record = record(self.0);
        let mut bytes = [0; 8];
        for (here, byte) in (at..at + size).zip(&mut bytes) {
            let mut places = record.places[..record.count].iter();
            *byte = match places.find(|place| place.holds(here)) {
                Some(place) => record.own[place.first + (here - place.at) as usize],
                None => {
                    let mut byte = [0];
                    let (len, first) = (1, 0);
                    let place = Place {
                        at: here,
                        len,
                        first,
                        own: false,
                        effect: 0,
                    };
                    look(&place, &mut byte, record.kernel);
                    byte[0]
                }
            };
        }
        u64::from_le_bytes(bytes)
    }

    /// The call may write so many bytes here, by the effect with this number; of how many it will be
    /// known what others find. `sure`: it writes them all.
    pub fn will_write(self, at: u64, len: u64, effect: u8, sure: bool) -> u64 {
        let len = if sure { len } else { readable(at, len) };
        record(self.0).add(at, len, false, effect)
    }

    /// Calls `each` for where the call may write by this effect.
    pub fn writes_of(self, effect: u8, mut each: impl FnMut(u64, u64)) {
        let record = record(self.0);
        let places = record.places[..record.count].iter();
        for place in places.filter(|place| !place.own && place.effect == effect) {
            each(place.at, place.len);
        }
    }

    /// The call is made now.
    pub fn make(self) {
        let record = record(self.0);
        if record.made {
            return;
        }
        record.made = true;
        record.put_in();
    }

    /// Others find what it has left here as soon as it has returned.
    pub fn shows(self, at: u64, len: u64) {
        let record = record(self.0);
        for place in &record.places[..record.count] {
            let (from, to) = (at.max(place.at), (at + len).min(place.end()));
            if from < to {
                let first = place.first + (from - place.at) as usize;
                let part = Place {
                    at: from,
                    len: to - from,
                    first,
                    ..*place
                };
                look(&part, &mut record.others[part.bytes()], record.kernel);
            }
        }
    }

    /// It has returned: from now on others find what was there before.
    pub fn returned(self) {
        let record = record(self.0);
        if !record.made {
            return;
        }
        record.made = false;
        record.keep();
        for place in &record.places[..record.count] {
            put(place, &record.others[place.bytes()], record.kernel);
        }
    }

    /// Writes what the call has written here, piece by piece, each a step. `large`: after a few pieces, the
    /// rest in a few longer ones. `sure`: it has written all of it; else what has changed. What is behind
    /// the first part of which that is not known, if any.
    pub fn write(
        self,
        at: u64,
        len: u64,
        large: bool,
        sure: bool,
        pc: usize,
    ) -> Option<(u64, u64)> {
        let (mut here, end) = (at, at + len);
        while here < end {
            let record = record(self.0);
            let mut places = record.places[..record.count].iter();
            let Some(place) = places.find(|place| place.holds(here)).copied() else {
                break;
            };
            let rest = end.min(place.end()) - here;
            let size = match record.left {
                0 => rest,
                _ if large && here >= at + SINGLE => rest.min(len.div_ceil(LONGER * WORD) * WORD),
                _ => pieces::size(here, rest, WORD),
            };
            let first = place.first + (here - place.at) as usize;
            let range = first..first + size as usize;
            let bytes = &record.own[range.clone()];
            if sure || *bytes != record.others[range.clone()] {
                record.left = record.left.saturating_sub(1);
                let told = range.clone();
                if size > WORD {
                    tell_long(Kind::WriteRange, here, size, pc);
                    let at = here as *mut u8;
                    // SAFETY: the call has written there.
                    unsafe {
                        match record.kernel {
                            true => _ = os::try_write(here as usize, &record.own[range]),
                            false => at.copy_from(record.own[range].as_ptr(), size as usize),
                        }
                    };
                } else {
                    let value = bytes
                        .iter()
                        .rev()
                        .fold(0, |value, &byte| value << 8 | u64::from(byte));
                    // SAFETY: as above.
                    unsafe {
                        match record.kernel {
                            true => try_write(here, size, value, pc),
                            false => write(here, size, value, pc),
                        }
                    };
                }
                self.has_told(told);
            }
            here += size;
        }
        (here < end).then_some((here, end - here))
    }

    /// Others know of these bytes now.
    fn has_told(self, range: core::ops::Range<usize>) {
        let record = record(self.0);
        let bytes = &record.own[range.clone()];
        record.others[range].copy_from_slice(bytes);
    }

    /// There is nothing left to do.
    pub fn close(self) {
        let record = record(self.0);
        if record.made {
            record.take_out();
        }
        world().used &= !(1 << self.0);
    }
}

impl Record {
    /// The place that was added last is a part of the one before, if it follows that.
    fn join_last(&mut self) {
        if let [.., before, last] = &mut self.places[..self.count]
            && (before.own, before.effect) == (last.own, last.effect)
            && before.end() == last.at
            && before.bytes().end == last.first
        {
            before.len += last.len;
            self.count -= 1;
        }
    }
}

/// One step that reads.
fn read_piece(at: u64, size: u64, exact: bool, pc: usize) -> u64 {
    if exact {
        // SAFETY: the program calls a function that reads there.
        return unsafe { read(at, size, pc) };
    }
    gate::access_unseen(Kind::ReadRange, at, size, pc);
    let mut bytes = [0; 8];
    // SAFETY: as above, if it does read there; a piece has eight bytes at most.
    unsafe { (at as *const u8).copy_to(bytes.as_mut_ptr(), size as usize) };
    u64::from_le_bytes(bytes)
}

/// So many bytes are there that a call may access, where it is sure to write in the first page if anywhere.
pub fn readable(at: u64, len: u64) -> u64 {
    let len = len.min(ROOM as u64);
    if let Some(block) = heap::block_of(at) {
        return block.map_or(0, |block| len.min((block.start + block.size) as u64 - at));
    }
    let mut page = (at & !(PAGE - 1)) + PAGE;
    while page < at + len {
        if !is_mapped(page as usize) {
            return page - at;
        }
        page += PAGE;
    }
    len
}
