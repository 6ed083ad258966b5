//! Copies and fills of blocks in a run that is not symbolic, by instructions of the program or by
//! functions of the C library: one step for each word that is read or written, since no processor and
//! no library promises more. The one promise there is: on processors with AVX an instruction that
//! accesses 16 bytes aligned to as many does so at once (Intel, Software Developer's Manual, volume
//! 3A, section 9.1.1, "Guaranteed Atomic Operations"; AMD, Architecture Programmer's Manual, volume 2,
//! section 7.3.2).
//!
//! Of a long block only the first words are steps by themselves ([`most`]); the rest is one, which its
//! record says: a search that is to miss nothing looks whether others access it.

use super::pieces::{self, Carry, Part, Pieces, WORD};
use super::{Address, Byte, check, enter, log, scheduled, shadowed};
use crate::gate;
use crate::os;
use crate::serial::Serial;
use crate::shadow::one_body;
use core::arch::x86_64::__cpuid;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::hooks::copy as how;
use raddle_protocol::shared::flags;

crate::hooks! { ROWS:
    fn raddle_copy(to: Address, from: Address, len: u64, how: u32) = copy;
    fn raddle_fill(to: Address, byte: Byte, len: u64) = fill;
}

/// So many bytes of a block are steps word by word where schedules are sampled: a long copy is not to
/// drown all else that happens.
const SAMPLED: u64 = 64 * WORD;
/// The same where all schedules are explored.
const EXPLORED: u64 = 1024 * WORD;

/// So many accesses of one block or call are steps by themselves.
pub fn most_steps() -> u64 {
    most() / WORD
}

fn most() -> u64 {
    match gate::flags() & flags::EXHAUSTIVE {
        0 => SAMPLED,
        _ => EXPLORED,
    }
}

/// Does the processor access 16 aligned bytes at once?
pub fn vectors_are_atomic() -> bool {
    /// Bit of the third result: AVX.
    const AVX: u32 = 1 << 28;
    static KNOWN: Serial<Option<bool>> = Serial::new(None);
    // SAFETY: the running thread; the reference is not kept.
    *unsafe { KNOWN.get() }.get_or_insert_with(|| __cpuid(1).ecx & AVX != 0)
}

/// One side of a copy.
#[derive(Clone, Copy)]
struct Side {
    at: u64,
    len: u64,
    private: bool,
    /// The whole block was looked at.
    checked: bool,
    pc: usize,
}

impl Side {
    fn new(at: Address, len: u64, private: bool, pc: usize) -> Side {
        let (at, checked) = (at as u64, false);
        Side {
            at,
            len,
            private,
            checked,
            pc,
        }
    }

    /// Waits for the turn of an access to a part. With the first one the whole block is looked at.
    fn enter(&mut self, kind: Kind, offset: u64, size: u64) {
        enter(kind, (self.at + offset) as Address, size, self.pc);
        if !self.checked {
            self.checked = true;
            let whole = match kind {
                Kind::Read => Kind::ReadRange,
                _ => Kind::WriteRange,
            };
            check(whole, self.at, self.len, self.pc);
        }
    }

    /// Reads a piece, as one step if others see it.
    ///
    /// # Safety
    /// The program reads there.
    unsafe fn read(&mut self, offset: u64, size: u64) -> u64 {
        let at = self.at + offset;
        if !self.private {
            self.enter(Kind::Read, offset, size);
        }
        let mut bytes = [0; 8];
        // SAFETY: the caller's promise; a piece has eight bytes at most.
        unsafe { (at as *const u8).copy_to(bytes.as_mut_ptr(), size as usize) };
        let value = u64::from_le_bytes(bytes);
        if !self.private {
            log(Kind::Read, at as Address, size as u32, value, self.pc);
        }
        value
    }

    /// Writes a piece, as one step if others see it.
    ///
    /// # Safety
    /// The program writes there.
    unsafe fn write(&mut self, offset: u64, size: u64, value: u64) {
        let at = self.at + offset;
        if !self.private {
            self.enter(Kind::Write, offset, size);
        }
        // SAFETY: the caller's promise; a piece has eight bytes at most.
        unsafe { (at as *mut u8).copy_from(value.to_le_bytes().as_ptr(), size as usize) };
        if !self.private {
            log(Kind::Write, at as Address, size as u32, value, self.pc);
        }
    }

    /// Announces an access to a part as one step. `long`: it is only for its length that it is one.
    fn whole(&self, kind: Kind, offset: u64, len: u64, long: bool) {
        let at = self.at + offset;
        if self.private || len == 0 {
            return;
        }
        enter(kind, at as Address, len, self.pc);
        gate::log_full(Event {
            kind: kind as u8,
            object: at,
            value: len,
            pc: self.pc as u64,
            aux: long.into(),
            ..Event::default()
        });
    }
}

unsafe extern "C-unwind" fn copy(to: Address, from: Address, len: u64, how: u32, pc: usize) {
    let vector = how & how::VECTOR != 0 && len == 16 && vectors_are_atomic();
    if shadowed() {
        // Blocks have a hook of their own in symbolic runs.
        let reads = how & how::TO_PRIVATE != 0;
        // SAFETY: the program's own access, and a variable of as many bytes.
        unsafe { one_body::by_variable(to as u64, from as u64, len, reads, vector, pc) };
        return;
    }
    let most_of_piece = match u64::from(how / how::PIECE) {
        0 => WORD,
        most => most,
    };
    let to_side = Side::new(to, len, how & how::TO_PRIVATE != 0, pc);
    let from_side = Side::new(from, len, how & how::FROM_PRIVATE != 0, pc);
    // SAFETY: the program's own copy.
    unsafe {
        match scheduled() {
            false => core::ptr::copy(from.cast::<u8>(), to.cast(), len as usize),
            true if vector && (to as u64 | from as u64).is_multiple_of(16) => {
                at_once(to_side, from_side, 0, len, false)
            }
            true => in_pieces(to_side, from_side, len, most_of_piece),
        }
    }
}

/// Copies a part as it stands, with one step for each side.
///
/// # Safety
/// As the program's own copy.
unsafe fn at_once(to: Side, from: Side, offset: u64, len: u64, long: bool) {
    from.whole(Kind::ReadRange, offset, len, long);
    to.whole(Kind::WriteRange, offset, len, long);
    let (target, source) = (to.at + offset, from.at + offset);
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy(source as *const u8, target as *mut u8, len as usize) };
}

/// # Safety
/// As the program's own copy.
unsafe fn in_pieces(mut to: Side, mut from: Side, len: u64, most_of_piece: u64) {
    let backwards = pieces::is_backwards(to.at, from.at, len);
    let stepwise = len.min(most());
    let first = if backwards { len - stepwise } else { 0 };
    let mut carry = Carry::default();
    let parts = Pieces::new(to.at + first, from.at + first, stepwise)
        .of_at_most(most_of_piece)
        .in_direction(backwards);
    for part in parts {
        // SAFETY: the caller's promise: parts of the two blocks.
        unsafe {
            match part {
                Part::Read { offset, size } => {
                    let value = from.read(first + offset, size);
                    carry.put(value, size, backwards);
                }
                Part::Write { offset, size } => {
                    to.write(first + offset, size, carry.take(size, backwards));
                }
            }
        }
    }
    if len > stepwise {
        let offset = if backwards { 0 } else { stepwise };
        // SAFETY: as above.
        unsafe { at_once(to, from, offset, len - stepwise, true) };
    }
}

unsafe extern "C-unwind" fn fill(to: Address, byte: Byte, len: u64, pc: usize) {
    // SAFETY: the program's own fill.
    unsafe { filled(to, byte.get(), len, pc) };
}

/// A copy by a function that the program calls from `pc`, as memmove does it.
///
/// # Safety
/// As the program's own copy.
pub unsafe fn copied(to: Address, from: Address, len: u64, pc: usize) {
    let sides = [to, from].map(|at| Side::new(at, len, false, pc));
    // SAFETY: the caller's promise.
    unsafe {
        match scheduled() && !shadowed() {
            true => in_pieces(sides[0], sides[1], len, WORD),
            false => core::ptr::copy(from.cast::<u8>(), to.cast(), len as usize),
        }
    }
}

/// The same where it is known of each side (`to`, `from`) whether it is private.
///
/// # Safety
/// As the program's own copy.
pub unsafe fn copied_between(sides: [(u64, bool); 2], len: u64, pc: usize) {
    let [to, from] = sides.map(|(at, private)| Side::new(at as Address, len, private, pc));
    // SAFETY: the caller's promise.
    unsafe { in_pieces(to, from, len, WORD) };
}

/// The same of a fill, as memset does it.
///
/// # Safety
/// As the program's own fill.
pub unsafe fn filled(to: Address, byte: u8, len: u64, pc: usize) {
    let mut done = 0;
    if scheduled() && !shadowed() {
        let mut side = Side::new(to, len, false, pc);
        let stepwise = len.min(most());
        while done < stepwise {
            let size = pieces::size(to as u64 + done, stepwise - done, WORD);
            let value = u64::from_le_bytes([byte; 8]) >> (64 - 8 * size);
            // SAFETY: the caller's promise.
            unsafe { side.write(done, size, value) };
            done += size;
        }
        side.whole(Kind::WriteRange, done, len - done, true);
    }
    // SAFETY: as above.
    unsafe {
        core::ptr::write_bytes(
            to.cast::<u8>().add(done as usize),
            byte,
            (len - done) as usize,
        )
    };
}

/// A read of up to a word by a function that the program calls from `pc`: one step.
///
/// # Safety
/// The program reads there.
pub unsafe fn read(at: u64, size: u64, pc: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { Side::new(at as Address, size, false, pc).read(0, size) }
}

/// A write, likewise.
///
/// # Safety
/// The program writes there.
pub unsafe fn write(at: u64, size: u64, value: u64, pc: usize) {
    // SAFETY: the caller's promise.
    unsafe { Side::new(at as Address, size, false, pc).write(0, size, value) }
}

/// A plain read of `size` bytes of which only the `first` ones lie in one line of the cache: two steps.
///
/// # Safety
/// The program reads there.
#[cold]
pub unsafe fn read_torn(at: Address, size: u64, first: u64, pc: usize) -> u64 {
    let mut side = Side::new(at, size, false, pc);
    // SAFETY: the caller's promise.
    unsafe {
        let low = side.read(0, first);
        low | side.read(first, size - first) << (8 * first)
    }
}

/// A write, likewise.
///
/// # Safety
/// The program writes there.
#[cold]
pub unsafe fn write_torn(at: Address, size: u64, first: u64, value: u64, pc: usize) {
    let mut side = Side::new(at, size, false, pc);
    // SAFETY: the caller's promise.
    unsafe {
        side.write(0, first, value & ((1 << (8 * first)) - 1));
        side.write(first, size - first, value >> (8 * first));
    }
}

/// The same as [`read`] for a system call, which finds out that the memory is not there: `None`.
pub fn try_read(at: u64, size: u64, pc: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    Side::new(at as Address, size, false, pc).enter(Kind::Read, 0, size);
    let is_there = os::try_read(at as usize, &mut bytes[..size as usize]);
    let value = u64::from_le_bytes(bytes);
    log(Kind::Read, at as Address, size as u32, value, pc);
    is_there.then_some(value)
}

/// The same as [`write`] for a system call: what is not there any more is not written.
///
/// # Safety
/// As [`write`], if it is there.
pub unsafe fn try_write(at: u64, size: u64, value: u64, pc: usize) {
    Side::new(at as Address, size, false, pc).enter(Kind::Write, 0, size);
    // SAFETY: the caller's promise.
    unsafe { os::try_write(at as usize, &value.to_le_bytes()[..size as usize]) };
    log(Kind::Write, at as Address, size as u32, value, pc);
}

/// Announces an access to a block by such a function, which is one step only for its length.
pub fn tell_long(kind: Kind, at: u64, len: u64, pc: usize) {
    let side = Side::new(at as Address, len, false, pc);
    check(kind, at, len, pc);
    side.whole(kind, 0, len, true);
}
