//! Atomics that no other hook does: too wide for a word, or left to a function of a library. They
//! are announced, and then done as they stand; nobody else goes on in between.

use super::{Address, enter, log_order, scheduled, shadowed, vectors_are_atomic};
use crate::gate;
use crate::serial::Serial;
use crate::shadow::one_body;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::hooks::{cas_orders, wide};

crate::hooks! { ROWS:
    fn raddle_wide_begin(at: Address, len: u64, what: u32, expected: Address) = begin;
    fn raddle_wide_end(at: Address, len: u64, what: u32) = end;
}

/// Most bytes that a record can tell of.
const MOST: u64 = 248;

/// An atomic of `len` bytes at `at`.
#[derive(Clone, Copy)]
pub struct Wide {
    pub kind: Kind,
    pub at: Address,
    pub len: u64,
    pub pc: usize,
}

/// Who wants to know of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Nobody,
    /// It is a step, and comes next.
    Schedule,
    /// An atomic section has begun, which [`Wide::done`] ends.
    Shadow,
}

impl Wide {
    /// The access of a hook; no bytes are no access.
    fn of(at: Address, len: u64, what: u32, pc: usize) -> Option<Wide> {
        let kind = match (what & wide::READS != 0, what & wide::WRITES != 0) {
            (true, false) => Kind::AtomicRead,
            (false, _) => Kind::AtomicWrite,
            (true, true) => Kind::Rmw,
        };
        (len > 0).then_some(Wide { kind, at, len, pc })
    }

    /// Waits for the turn.
    pub fn announce(self) -> Turn {
        let (at, len) = (self.at as u64, self.len);
        if shadowed() {
            let (reads, writes) = (
                self.kind != Kind::AtomicWrite,
                self.kind != Kind::AtomicRead,
            );
            one_body::begin_section(at, len, reads, writes, self.pc);
            return Turn::Shadow;
        }
        if !scheduled() {
            return Turn::Nobody;
        }
        gate::intends_something();
        enter(self.kind, self.at, len, self.pc);
        Turn::Schedule
    }

    /// Records the step; `failed`: it is a compare-exchange that finds something else.
    pub fn record(self, order: u32, failed: bool) {
        if self.len > MOST {
            gate::uncontrolled("atomics of more than 248 bytes");
        }
        log_order(order, failed);
        if self.kind == Kind::AtomicRead || failed {
            self.words()
                .for_each(|(at, size, value)| gate::saw(at, size, value));
        } else {
            gate::changed();
        }
        gate::log_full(Event {
            kind: self.kind as u8,
            size: self.len.min(MOST) as u8,
            object: self.at as u64,
            value: self.words().next().map_or(0, |(_, _, value)| value),
            pc: self.pc as u64,
            ..Event::default()
        });
    }

    /// It was done.
    pub fn done(self) {
        let writes = self.kind != Kind::AtomicRead;
        one_body::end_section(self.at as u64, self.len, writes, self.pc);
    }

    /// Its content in pieces of up to eight bytes: address, size, value.
    fn words(self) -> impl Iterator<Item = (u64, u32, u64)> {
        let mut done = 0;
        core::iter::from_fn(move || {
            let size = [8, 4, 2, 1].into_iter().find(|&n| n <= self.len - done)?;
            let at = self.at as u64 + done;
            let mut bytes = [0; 8];
            // SAFETY: the program accesses these bytes, and nobody else goes on.
            unsafe { (at as *const u8).copy_to(bytes.as_mut_ptr(), size as usize) };
            done += size;
            Some((at, size as u32, u64::from_le_bytes(bytes)))
        })
    }
}

/// Does the memory hold what a compare-exchange expects?
///
/// # Safety
/// Both have so many bytes.
unsafe fn is_expected(access: Wide, expected: Address) -> bool {
    // SAFETY: by the contract above; nobody else goes on.
    unsafe { libc::memcmp(access.at, expected, access.len as usize) == 0 }
}

/// Is a library function under way whose calls are no steps?
static IN_LIBRARY: Serial<bool> = Serial::new(false);

/// Does nobody come between the parts?
fn is_section(what: u32) -> bool {
    what & wide::VECTOR == 0 || vectors_are_atomic()
}

unsafe extern "C-unwind" fn begin(at: Address, len: u64, what: u32, expected: Address, pc: usize) {
    if what & wide::PARTS != 0 {
        if shadowed() && is_section(what) {
            one_body::enter_section(pc);
        }
        return;
    }
    let Some(access) = Wide::of(at, len, what, pc) else {
        return;
    };
    if access.announce() == Turn::Schedule {
        let (success, failure) = cas_orders(what & wide::ORDERS);
        // SAFETY: the program is about to compare them.
        let failed = !expected.is_null() && !unsafe { is_expected(access, expected) };
        access.record(if failed { failure } else { success }, failed);
    }
    if what & wide::CALL != 0 {
        // SAFETY: the running thread; nothing in here switches.
        *unsafe { IN_LIBRARY.get() } = gate::suspend();
    }
}

unsafe extern "C-unwind" fn end(at: Address, len: u64, what: u32, pc: usize) {
    if what & wide::PARTS != 0 {
        if shadowed() && is_section(what) {
            one_body::leave_section(pc);
        }
        return;
    }
    // SAFETY: the running thread; nothing in here switches.
    if core::mem::take(unsafe { IN_LIBRARY.get() }) {
        gate::resume();
    }
    if let Some(access) = Wide::of(at, len, what, pc).filter(|_| shadowed()) {
        access.done();
    }
}
