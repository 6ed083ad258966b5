//! memcpy, memmove, memset, and memory that changed without a hook. What is shared inside is
//! accessed piece by piece, as large as alignment allows.

use super::access::{Access, decide, fit};
use super::atomic;
use super::nodes::Expr;
use super::{built, touch, world};
use crate::access::pieces::{self, Part, Pieces, WORD, is_backwards};
use crate::access::staged;
use crate::access::{check, most_steps};
use crate::gate;
use crate::gone;
use crate::serial::Serial;
use crate::{os, states};
use core::cell::Cell;
use core::ffi::c_char;
use raddle_protocol::effects;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Why;
use raddle_protocol::hooks::{STORE_ANY, STORE_EARLY, STORE_TEXT, STORE_ZEROED};

fn access(kind: Kind, at: u64, size: u64, pc: usize) -> Access {
    Access::new(kind, at, size as u32, pc)
}

/// The largest of 8, 4, 2 and 1 that is at most `len` and divides all of `addresses`.
fn piece(len: u64, addresses: &[u64]) -> u64 {
    let fits = |n: &u64| *n <= len && addresses.iter().all(|a| a.is_multiple_of(*n));
    [8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// A copy as `memmove` does it.
pub fn copy(to: u64, from: u64, len: u64, pc: usize) {
    if len == 0 {
        return;
    }
    check(Kind::ReadRange, from, len, pc);
    check(Kind::WriteRange, to, len, pc);
    if is_backwards(to, from, len) {
        return copy_from_the_end(to, from, len, pc);
    }
    let mut done = 0;
    while done < len {
        let (source, target) = (from + done, to + done);
        let (source_shared, a) = world().cells.run(source, len - done);
        let (target_shared, b) = world().cells.run(target, len - done);
        let run = a.min(b);
        done += match (source_shared, target_shared) {
            (false, false) => {
                copy_local(target, source, run, pc);
                run
            }
            (true, false) => copy_piece(target, source, piece(run, &[source]), pc),
            (false, true) => copy_piece(target, source, piece(run, &[target]), pc),
            (true, true) if (source ^ target).is_multiple_of(WORD) => {
                copy_piece(target, source, piece(run, &[source]), pc)
            }
            (true, true) => copy_parts(Pieces::new(target, source, run), pc),
        };
    }
}

/// A copy where both sides are shared; how much.
fn copy_parts(parts: Pieces, pc: usize) -> u64 {
    let (to, from, len) = (parts.to(), parts.from(), parts.len());
    // The bytes that were read and are not yet written, and their expressions.
    let (mut bytes, mut exprs) = ([0u8; 16], [0 as Expr; 16]);
    let place = |offset: u64| offset as usize % 16;
    for part in parts {
        match part {
            Part::Read { offset, size } => {
                let (value, expr) = access(Kind::Read, from + offset, size, pc).read();
                for i in 0..size {
                    bytes[place(offset + i)] = value.to_le_bytes()[i as usize];
                    exprs[place(offset + i)] = world().nodes.extract(expr, 8 * i as u8, 8);
                }
            }
            Part::Write { offset, size } => {
                let mut value = [0; 8];
                let symbolic = (0..size).any(|i| exprs[place(offset + i)] != 0);
                let mut whole = 0;
                for i in 0..size {
                    let byte = bytes[place(offset + i)];
                    value[i as usize] = byte;
                    if symbolic {
                        let nodes = &mut world().nodes;
                        let expr = match exprs[place(offset + i)] {
                            0 => nodes.constant(8, byte.into()),
                            expr => expr,
                        };
                        whole = match i {
                            0 => expr,
                            _ => nodes.concat(expr, whole),
                        };
                    }
                }
                let value = u64::from_le_bytes(value);
                access(Kind::Write, to + offset, size, pc).write(value, whole);
            }
        }
    }
    len
}

/// For overlapping blocks: from high to low addresses.
fn copy_from_the_end(to: u64, from: u64, len: u64, pc: usize) {
    let shared = world().cells.any_shared(from, len) || world().cells.any_shared(to, len);
    if !shared {
        return copy_local(to, from, len, pc);
    }
    copy_parts(Pieces::new(to, from, len), pc);
}

fn copy_piece(to: u64, from: u64, size: u64, pc: usize) -> u64 {
    let (value, expr) = access(Kind::Read, from, size, pc).read();
    access(Kind::Write, to, size, pc).write(value, expr);
    size
}

fn copy_local(to: u64, from: u64, len: u64, pc: usize) {
    touch(from, len, false, pc);
    touch(to, len, true, pc);
    // SAFETY: the program asked for this copy.
    unsafe { core::ptr::copy(from as *const u8, to as *mut u8, len as usize) };
    world().cells.copy(from, to, len);
}

/// A fill as `memset` does it.
pub fn set(to: u64, byte: u8, len: u64, expr: Expr, pc: usize) {
    if len == 0 {
        return;
    }
    check(Kind::WriteRange, to, len, pc);
    let expr = built(fit(&mut world().nodes, expr, 8), pc);
    let mut done = 0;
    while done < len {
        let target = to + done;
        let (shared, run) = world().cells.run(target, len - done);
        if shared {
            let n = piece(run, &[target]);
            let value = u64::from_le_bytes([byte; 8]);
            access(Kind::Write, target, n, pc).write(value, repeated(expr, n));
            done += n;
            continue;
        }
        touch(target, run, true, pc);
        // SAFETY: the program asked for this.
        unsafe { core::ptr::write_bytes(target as *mut u8, byte, run as usize) };
        if expr == 0 {
            world().cells.forget(target, run);
        } else {
            (0..run).for_each(|i| world().cells.store(target + i, 1, expr, Some(byte.into())));
        }
        done += run;
    }
}

/// `n` times the byte `expr` in a row.
fn repeated(expr: Expr, n: u64) -> Expr {
    if expr == 0 {
        return 0;
    }
    let mut result = expr;
    for _ in 1..n {
        result = world().nodes.concat(expr, result);
    }
    result
}

/// The latest announcements of writes: where, how long. An atomic may write its result besides.
static ANNOUNCED: Serial<[(u64, u64); 2]> = Serial::new([(0, 0); 2]);

/// Calls `each` for the pieces of a block; those that are not shared come whole.
pub fn pieces(at: u64, len: u64, mut each: impl FnMut(bool, u64, u64)) {
    let mut done = 0;
    while done < len {
        let here = at + done;
        let (shared, run) = world().cells.run(here, len - done);
        let n = if shared { piece(run, &[here]) } else { run };
        each(shared, here, n);
        done += n;
    }
}

/// The program is about to read a block without a hook for its expressions: decides on the values.
pub fn will_read(at: u64, len: u64, pc: usize) {
    check(Kind::ReadRange, at, len, pc);
    as_one(core::iter::once((at, len)), pc, || {
        pieces(at, len, |shared, here, n| {
            let mut done = 0;
            while done < n {
                let size = if shared {
                    n
                } else {
                    piece(n - done, &[here + done])
                };
                access(Kind::Read, here + done, size, pc).read_and_decide();
                done += size;
            }
            world().cells.forget(here, n);
        });
    });
}

/// Reads or writes (`reads` false) a block as the program does, whose other side is a variable that
/// only this thread knows and that no expression is kept of. `whole`: nobody comes in between.
///
/// # Safety
/// Both have so many bytes.
pub unsafe fn by_variable(to: u64, from: u64, len: u64, reads: bool, whole: bool, pc: usize) {
    let (block, kind) = match reads {
        true => (from, Kind::ReadRange),
        false => (to, Kind::WriteRange),
    };
    check(kind, block, len, pc);
    let each = || {
        pieces(block, len, |_, here, n| {
            let mut done = 0;
            while done < n {
                let at = here + done;
                let size = piece(n - done, &[at]);
                let offset = at - block;
                let mut bytes = [0; 8];
                if reads {
                    let value = access(Kind::Read, at, size, pc).read_and_decide();
                    bytes = value.to_le_bytes();
                    // SAFETY: the caller's promise; a piece has eight bytes at most.
                    unsafe {
                        ((to + offset) as *mut u8).copy_from(bytes.as_ptr(), size as usize);
                    }
                } else {
                    // SAFETY: as above.
                    unsafe {
                        ((from + offset) as *const u8).copy_to(bytes.as_mut_ptr(), size as usize);
                    }
                    access(Kind::Write, at, size, pc).write(u64::from_le_bytes(bytes), 0);
                }
                done += size;
            }
            if reads {
                world().cells.forget(here, n);
            }
        });
    };
    match whole {
        true => as_one(core::iter::once((block, len)), pc, each),
        false => each(),
    }
}

/// What a function of the C library reads.
#[derive(Clone, Copy)]
pub enum Block {
    /// From here on so many bytes.
    Bytes(u64, u64),
    /// From here on a text with its NUL, of no more bytes than that.
    Text(u64, u64),
}

impl Default for Block {
    fn default() -> Block {
        Block::Bytes(0, 0)
    }
}

impl Block {
    /// Reads it for this call, and decides on what is shared. Is there anything that depends on inputs?
    /// There are too many of those to decide on.
    fn look(self, call: UnderWay, pc: usize) -> bool {
        let any = Cell::new(false);
        let look = |at: u64, size: u64| {
            let found = call.look(at, size, false, pc);
            any.set(any.get() | found.depends);
            if !found.is_kept {
                gate::uncontrolled(effects::LONG);
            }
            found.value
        };
        match self {
            Block::Bytes(at, len) => {
                check(Kind::ReadRange, at, len, pc);
                pieces(at, len, |shared, here, n| match shared {
                    true => {
                        look(here, n);
                    }
                    false => any.set(any.get() | call.look_alone(here, n, false, pc)),
                });
            }
            Block::Text(at, most) => {
                let mut bytes = at..at.saturating_add(most);
                bytes.find(|&here| call.is_gone(here) || look(here, 1) == 0);
            }
        }
        any.get()
    }
}

/// What a call finds at a place that was read for it.
pub struct Found {
    value: u64,
    /// It depends on inputs, and was not decided upon.
    pub depends: bool,
    /// It is shared, and there was place for it: that is what the call finds; or it is not shared.
    pub is_kept: bool,
}

/// A call of a function of the C library, which reads and stores without hooks. Others may come between two
/// of its reads, and between two of its stores, each of a word at most.
#[derive(Clone, Copy)]
pub struct UnderWay {
    /// An address in the caller's frame that stands for it.
    key: usize,
    /// The kernel does it, which finds out that memory is not there; and that may be.
    kernel: bool,
}

impl UnderWay {
    /// The call that this address in the caller's frame stands for.
    pub fn with(key: usize) -> UnderWay {
        UnderWay { key, kernel: false }
    }

    /// A call of the function with this name. The address in the caller's frame stands for it.
    pub fn of(name: &str, key: usize) -> UnderWay {
        let kernel = states::needs_pages(name);
        UnderWay { key, kernel }
    }

    /// Reads a piece for it, of a word at most, and decides on it if it is shared. `unsure`: it may be that the
    /// call does not read there.
    pub fn look(self, at: u64, size: u64, unsure: bool, pc: usize) -> Found {
        let here = self.access(Kind::Read, at, size, pc).unsure(unsure);
        let (value, expr) = here.read();
        let shared = world().cells.any_shared(at, size);
        let mut depends = false;
        match shared && !here.depends_on_inputs() {
            true => decide(expr, value, Why::Memory, pc),
            false => depends = expr != 0,
        }
        // The call would find the same both times, though others may write in between.
        if shared && self.record().is_some_and(|of| of.keeps(at, size)) {
            gate::uncontrolled(effects::TWICE);
        }
        let kept = || self.record().is_some_and(|of| of.found(at, size, value));
        Found {
            value,
            depends,
            is_kept: !shared || kept(),
        }
    }

    /// It writes 0 here before it goes on to read.
    pub fn clear(self, at: u64, size: u64, pc: usize) {
        if !self.is_gone(at) {
            self.access(Kind::Write, at, size, pc).write(0, 0);
        }
    }

    /// It accesses so much here, as far as that is not shared. Does anything there depend on inputs?
    pub fn look_alone(self, at: u64, len: u64, writes: bool, pc: usize) -> bool {
        let mut any = false;
        pieces(at, len, |shared, here, n| {
            if !shared {
                touch(here, n, writes, pc);
                any |= world().cells.any_symbolic(here, n);
            }
        });
        any
    }

    /// It is about to write so much here, of which will be told when it has.
    pub fn will_write_all(self, at: u64, len: u64, pc: usize) {
        self.will_store(at, len, false, pc);
        pieces(at, len, |shared, here, n| {
            if !shared {
                touch(here, n, true, pc);
                world().cells.forget(here, n);
            }
        });
        if let Some(record) = self.found() {
            record.will_write_all(at, len);
        }
    }

    /// It has.
    pub fn has_written_all(self, pc: usize) {
        let all = (0..).map_while(|n| self.found()?.has_written_all(n));
        all.for_each(|(at, len)| self.has_written(at, len, false, pc));
    }

    /// It accesses so much here, which nobody will tell of. Is anything there shared, or does it depend on
    /// inputs?
    pub fn is_unfollowed(self, at: u64, len: u64, writes: bool, pc: usize) -> bool {
        touch(at, len, writes, pc);
        world().cells.any_symbolic(at, len)
    }

    /// The first piece that is shared here, of so many bytes at most, and was not read for it.
    pub fn unread(self, at: u64, len: u64, most: u64) -> Option<(u64, u64)> {
        let (record, mut found) = (self.found(), None);
        pieces(at, len, |shared, here, n| {
            if shared && found.is_none() {
                found = record.map_or(Some((here, n)), |record| record.unread(here, n));
            }
        });
        found.map(|(at, len)| (at, pieces::size(at, len, most)))
    }

    /// Was any of these bytes read for it?
    pub fn has_read(self, at: u64, len: u64) -> bool {
        self.found().is_some_and(|record| record.has_read(at, len))
    }

    /// Looks at memory as it finds it.
    pub fn as_found(self, look: impl FnOnce()) {
        match self.found() {
            Some(record) => record.as_found(look),
            None => look(),
        }
    }

    /// So many bytes are there of those that it accesses, or only may access (`exact` false).
    pub fn there(self, at: u64, len: u64, exact: bool) -> u64 {
        let len = len.min(MOST_AHEAD);
        match exact {
            _ if self.is_gone(at) => 0,
            true => len,
            false => staged::readable(at, len),
        }
    }

    /// It is made now, and finds what was read for it.
    pub fn make(self) {
        if let Some(record) = self.found() {
            record.make();
        }
    }

    /// Is it the kernel's, and nothing there?
    fn is_gone(self, at: u64) -> bool {
        self.kernel && !os::try_read(at as usize, &mut [0])
    }

    /// An access that it makes.
    fn access(self, kind: Kind, at: u64, size: u64, pc: usize) -> Access {
        access(kind, at, size, pc).of_kernel(self.kernel)
    }

    /// What it finds and what it has stored; `None`: there is no place for it. Made when first asked for.
    fn record(self) -> Option<staged::Call> {
        self.found()
            .or_else(|| staged::open(self.key, most_steps(), self.kernel))
    }

    fn found(self) -> Option<staged::Call> {
        staged::find(self.key)
    }

    /// It is about to be made, and reads these blocks: decides on what is shared. Does anything there depend
    /// on inputs? The call finds what was read, until it has [returned](UnderWay::returned).
    ///
    /// # Safety
    /// They are there.
    pub unsafe fn will_look(self, blocks: &[Block], pc: usize) -> bool {
        let mut any = false;
        for block in blocks {
            any |= block.look(self, pc);
        }
        self.make();
        any
    }

    /// Does it find anything that was read for it?
    pub fn has_looked(self) -> bool {
        self.found().is_some()
    }

    /// It is about to store so much here; [`UnderWay::stored`] or [`UnderWay::has_written`] follows when it
    /// has. Others may come in between.
    pub fn will_store(self, at: u64, len: u64, early: bool, pc: usize) {
        let len = stored_at_most(at, len).min(MOST_AHEAD);
        let mut any = false;
        pieces(at, len, |shared, here, n| {
            if shared {
                self.access(Kind::Write, here, n, pc).will_be_written();
                any = true;
            }
        });
        if !any || early {
            return;
        }
        let is_new = self.found().is_none();
        let Some(record) = self.record() else {
            return gate::uncontrolled(effects::LONG);
        };
        if is_new {
            record.make();
        }
        pieces(at, len, |shared, here, n| {
            if shared {
                record.may_write(here, n);
            }
        });
    }

    /// It has: a step for others, after the call.
    ///
    /// # Safety
    /// So much can be read there, or up to a NUL.
    pub unsafe fn stored(self, at: u64, len: u64, how: u32, pc: usize) {
        let mut len = stored_at_most(at, len);
        if self.is_gone(at) {
            len = 0;
        }
        if how & STORE_TEXT != 0 && len != 0 {
            // SAFETY: by the contract above.
            len = unsafe { self.text(at, len) };
        }
        if how & STORE_ZEROED != 0 {
            pieces(at, len, |shared, here, n| {
                if shared {
                    self.access(Kind::Write, here, n, pc).was_zero();
                }
            });
        }
        self.has_written(at, len, how & STORE_EARLY != 0, pc);
    }

    /// The length, with its NUL, of a text of so many bytes at most that it has stored here.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn text(self, at: u64, most: u64) -> u64 {
        let Some(record) = self.found() else {
            return text(at, most);
        };
        record.returned();
        let len = (0..most).find(|&n| record.left(at + n, 1) == 0);
        len.map_or(most, |len| len + 1)
    }

    /// It has written these bytes; `early` as [`Access::was_written`] has it.
    pub fn has_written(self, at: u64, len: u64, early: bool, pc: usize) {
        let record = self.found();
        if let Some(record) = record {
            record.returned();
        }
        pieces(at, len, |shared, here, n| match shared {
            true => {
                let kept = record.filter(|record| record.keeps(here, n));
                if record.is_some_and(|record| kept.is_none() && record.is_full()) {
                    gate::uncontrolled(effects::LONG);
                }
                let written = kept.map(|record| {
                    record.tell(here, n);
                    record.left(here, n)
                });
                self.access(Kind::Write, here, n, pc)
                    .was_written(early, written);
            }
            false => {
                touch(here, n, true, pc);
                world().cells.forget(here, n);
            }
        });
    }

    /// It has returned, and what it has stored was told of: writes what else has changed.
    pub fn has_changed(self, pc: usize) {
        let Some(record) = self.found() else {
            return;
        };
        record.returned();
        while let Some((at, size)) = record.changed() {
            self.has_written(at, size, false, pc);
        }
    }

    /// It has returned, and all that it has stored was told of.
    pub fn returned(self) {
        if let Some(record) = self.found() {
            record.returned();
            record.close();
        }
    }
}

/// The length, with its NUL, of a text of so many bytes at most; where its memory ends it ends: a call that
/// has failed has not stored any.
fn text(at: u64, most: u64) -> u64 {
    let mut len = 0;
    while len < most && !gone::is_gone((at + len) as *const u8) {
        let here = (most - len).min(os::PAGE as u64 - (at + len) % os::PAGE as u64);
        // SAFETY: so much of the page is there.
        let found = unsafe { libc::strnlen((at + len) as *const c_char, here as usize) } as u64;
        if found < here {
            return len + found + 1;
        }
        len += here;
    }
    len
}

/// Reads what the program is then to read without a hook, in these places: where that takes several
/// steps, nobody comes between them.
fn as_one(places: impl Iterator<Item = (u64, u64)>, pc: usize, read: impl FnOnce()) {
    let mut steps = 0;
    for (at, len) in places {
        pieces(at, len, |shared, _, _| steps += u32::from(shared));
    }
    if steps < 2 {
        return read();
    }
    atomic::enter(pc);
    read();
    atomic::leave(pc);
}

/// The program is about to write a block without a hook; [`forget`] follows when it has.
pub fn will_write(at: u64, len: u64, pc: usize) {
    check(Kind::WriteRange, at, len, pc);
    pieces(at, len, |shared, here, n| {
        if shared {
            access(Kind::Write, here, n, pc).will_be_written();
        }
    });
    // SAFETY: the running thread, and nothing in here switches.
    let announced = unsafe { ANNOUNCED.get() };
    *announced = [(at, len), announced[0]];
}

/// Where no limit is known of what a function of the C library stores, the bytes up to the next multiple
/// of this are looked at.
const LONGEST_STORE: u64 = 4096;

/// How much that is, at most. Nothing where no argument leads anywhere.
fn stored_at_most(at: u64, len: u64) -> u64 {
    match (at, len) {
        (0, _) => 0,
        (_, STORE_ANY) => LONGEST_STORE - at % LONGEST_STORE,
        _ => len,
    }
}

/// Of a longer store the first bytes are looked at before the call.
const MOST_AHEAD: u64 = 1 << 20;

/// The bytes were written without a hook: others see each piece only after its step.
fn were_written(at: u64, len: u64, pc: usize) {
    let mut count = 0;
    pieces(at, len, |shared, _, _| count += u32::from(shared));
    let key = (&raw const count).addr();
    let call = UnderWay::with(key);
    if count > 1 {
        match call.record() {
            Some(record) => pieces(at, len, |shared, here, n| {
                if shared && record.may_write(here, n) {
                    access(Kind::Write, here, n, pc).hold_back();
                }
            }),
            None => gate::uncontrolled(effects::LONG),
        }
    }
    call.has_written(at, len, false, pc);
    call.returned();
}

/// The bytes have changed without a hook: a write that was announced has happened, or a new
/// variable lies here.
pub fn forget(at: u64, len: u64, pc: usize) {
    // SAFETY: as in `will_write`.
    let announced = unsafe { ANNOUNCED.get() };
    let Some(found) = announced.iter_mut().find(|one| **one == (at, len)) else {
        *announced = [(0, 0); 2];
        // SAFETY: the program's own variable.
        return unsafe { super::renew(at, len) };
    };
    *found = (0, 0);
    were_written(at, len, pc);
}
