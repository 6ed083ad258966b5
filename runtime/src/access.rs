//! Scheduling hooks of instrumented code: announce the access, perform it at the chosen instant,
//! record it.

mod copy;
mod library;
mod memory;
mod noted;
pub mod pieces;
mod spans;
pub mod staged;
mod table;
pub mod wide;

pub use copy::{
    copied, copied_between, filled, most_steps, read, tell_long, try_read, try_write,
    vectors_are_atomic, write,
};
pub use library::{attributes_given, begin, end};
pub use memory::{Update, cut, load, order, store};
pub use spans::{Call, Span, is_address};
pub use table::{Byte, Half};
#[cfg(test)]
pub use table::{HookType, Row};

use crate::foreign::sanitizers;
use crate::gate::{self, Fatal};
use crate::heap::{self, Operation};
use crate::shadow::one_body;
use core::ffi::{CStr, c_char, c_void};
use core::fmt;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::update::Operands;
use raddle_protocol::{Slot, slot, stack};

type Address = *mut c_void;

/// `memory_order_seq_cst`.
pub const SEQ_CST: u32 = 5;

crate::hooks! { ROWS:
    fn raddle_read1(at: Address) -> u8 = read1;
    fn raddle_read2(at: Address) -> u16 = read2;
    fn raddle_read4(at: Address) -> u32 = read4;
    fn raddle_read8(at: Address) -> u64 = read8;
    fn raddle_write1(at: Address, value: Byte) = write1;
    fn raddle_write2(at: Address, value: Half) = write2;
    fn raddle_write4(at: Address, value: u32) = write4;
    fn raddle_write8(at: Address, value: u64) = write8;
    fn raddle_range_read(at: Address, len: u64) = range_read;
    fn raddle_range_write(at: Address, len: u64) = range_write;
    fn raddle_atomic_load(at: Address, size: u32, order: u32) -> u64 = atomic_load;
    fn raddle_atomic_store(at: Address, value: u64, size: u32, order: u32) = atomic_store;
    fn raddle_atomic_rmw(at: Address, value: u64, op: u32, size: u32, order: u32) -> u64 = atomic_rmw;
    fn raddle_atomic_cas(at: Address, expected: u64, new: u64, size: u32, order: u32) -> u64
        = atomic_cas;
    fn raddle_fence(order: u32) = fence;
    fn raddle_asm(what: u32, which: u64, name: Address) = assembly;
}

/// Is this access a step of the schedule?
#[inline]
pub fn scheduled() -> bool {
    if !crate::vars::accesses() {
        return false;
    }
    if !gate::active() {
        crate::vars::not_controlled();
        return false;
    }
    !crate::shadow::in_atomic_section()
}

/// Does the shadow follow this access? (A function without a symbolic body in a symbolic run.)
#[inline]
pub fn shadowed() -> bool {
    crate::vars::symbolic() && gate::active()
}

/// Waits for the access's turn, then looks whether the memory may be accessed.
#[inline]
fn enter(kind: Kind, at: Address, size: u64, pc: usize) {
    gate::access(kind, at as u64, size, pc);
    check(kind, at as u64, size, pc);
    if !matches!(kind, Kind::Read | Kind::AtomicRead | Kind::ReadRange) {
        gate::writes(at as u64, size);
    }
}

/// [`enter`] for an access that may change memory: it computes this.
#[inline]
fn enter_update(kind: Kind, at: Address, size: u64, operands: Operands, pc: usize) {
    gate::intends(at as u64, size, operands);
    enter(kind, at, size, pc);
}

/// Ends the execution if the access at `at` leaves the heap block or hits a freed one.
#[inline]
pub fn check(kind: Kind, at: u64, size: u64, pc: usize) {
    sanitizers::check_access(kind, at, size, pc);
    if let Err(fault) = heap::check_access(at, size)
        && gate::active()
    {
        let operation = Operation::Access {
            name: kind.text(),
            address: at,
            size,
        };
        heap::report(fault, operation, pc)
    }
    if let Some(whose) = other_stack(at) {
        check_stack(kind, at, size, whose, pc);
    }
}

/// On whose stack this lies, or in whose thread-local storage: a thread's other than main and the running
/// one.
#[inline]
fn other_stack(at: u64) -> Option<Slot> {
    stack::slot_of(at).filter(|&s| s != slot::MAIN && s != gate::me())
}

#[cold]
fn check_stack(kind: Kind, at: u64, size: u64, whose: Slot, pc: usize) {
    if has_ended(whose) {
        let (name, s) = (kind.text(), if size == 1 { "" } else { "s" });
        ended_stack(format_args!("{name} of {size} byte{s}"), at, whose, pc);
    }
}

/// The thread that has ended on whose stack this lies; `None`: it lies on none.
pub fn ended_owner(at: u64) -> Option<Slot> {
    other_stack(at).filter(|&whose| has_ended(whose))
}

fn has_ended(thread: Slot) -> bool {
    gate::active() && gate::state(thread) == gate::State::Ended
}

/// Something on the stack of a thread that has ended is used: ends the execution, as whatever lay there
/// has ended with the thread. What the bytes are is chance then: here they stay, elsewhere they are
/// another thread's, or gone.
pub fn ended_stack(how: fmt::Arguments<'_>, at: u64, whose: Slot, pc: usize) -> ! {
    gate::finish(Fatal {
        end: End::UseAfterFree,
        code: 0,
        message: format_args!("{how} on the stack of T{whose}, which has ended"),
        detail: [at, 0, 0, u64::from(slot::NONE)],
        pc,
        stack: true,
    })
}

#[inline]
fn log(kind: Kind, at: Address, size: u32, value: u64, pc: usize) {
    if matches!(kind, Kind::Read | Kind::AtomicRead) {
        gate::saw(at as u64, size, value);
    }
    gate::log_full(Event {
        kind: kind as u8,
        size: size as u8,
        object: at as u64,
        value,
        pc: pc as u64,
        ..Event::default()
    });
}

/// The record of an atomic update of `old` to `new`.
#[inline]
fn log_update(at: Address, size: u32, old: u64, new: u64, pc: usize) {
    match old == new {
        true => gate::saw(at as u64, size, old),
        false => gate::changed(),
    }
    log(Kind::Rmw, at, size, new, pc);
}

/// The C11 order of the atomic operation whose record comes next.
#[inline]
pub fn log_order(order: u32, failed: bool) {
    if failed || order < SEQ_CST {
        gate::log_full(Event {
            kind: Kind::Order as u8,
            value: u64::from(order),
            aux: u32::from(failed),
            ..Event::default()
        });
    }
}

macro_rules! plain {
    ($($read:ident, $write:ident: $ty:ty, $given:ty, $value:ident => $get:expr;)*) => {$(
        /// Reads, as one step.
        ///
        /// # Safety
        /// Readable memory.
        pub unsafe extern "C-unwind" fn $read(at: Address, pc: usize) -> $ty {
            if shadowed() {
                return one_body::read(Kind::Read, at as u64, size_of::<$ty>() as u32, pc) as $ty;
            }
            let scheduled = scheduled();
            if scheduled {
                let size = size_of::<$ty>() as u64;
                if let Some(first) = pieces::torn(at as u64, size) {
                    // SAFETY: the program reads here.
                    return unsafe { copy::read_torn(at, size, first, pc) } as $ty;
                }
                enter(Kind::Read, at, size, pc);
            }
            // SAFETY: the program reads here.
            let value = unsafe { at.cast::<$ty>().read_unaligned() };
            if scheduled {
                log(Kind::Read, at, size_of::<$ty>() as u32, u64::from(value), pc);
            }
            value
        }

        unsafe extern "C-unwind" fn $write(at: Address, $value: $given, pc: usize) {
            let value: $ty = $get;
            if shadowed() {
                let size = size_of::<$ty>() as u32;
                return one_body::write(Kind::Write, at as u64, size, value.into(), pc);
            }
            let scheduled = scheduled();
            if scheduled {
                let size = size_of::<$ty>() as u64;
                if let Some(first) = pieces::torn(at as u64, size) {
                    // SAFETY: the program writes here.
                    return unsafe { copy::write_torn(at, size, first, value.into(), pc) };
                }
                let operands = Operands::store(value.into());
                enter_update(Kind::Write, at, size, operands, pc);
                if gate::exhaustive() {
                    // SAFETY: what is written can be read: no memory of this machine can be
                    // written only.
                    let found = unsafe { at.cast::<$ty>().read_unaligned() };
                    gate::found(found.into(), operands);
                }
            }
            // SAFETY: the program writes here.
            unsafe { at.cast::<$ty>().write_unaligned(value) };
            if scheduled {
                log(Kind::Write, at, size_of::<$ty>() as u32, u64::from(value), pc);
            }
        }
    )*};
}

plain! {
    read1, write1: u8, Byte, given => given.get();
    read2, write2: u16, Half, given => given.get();
    read4, write4: u32, u32, given => given;
    read8, write8: u64, u64, given => given;
}

fn range(kind: Kind, at: Address, len: u64, pc: usize) {
    if len > 0 && scheduled() {
        enter(kind, at, len, pc);
        gate::log(kind, at as u64, len, pc);
    }
}

/// Announces that a block is read; touches nothing.
///
/// # Safety
/// As the program's own access.
pub unsafe extern "C-unwind" fn range_read(at: Address, len: u64, pc: usize) {
    if shadowed() {
        return one_body::will_read(at as u64, len, pc);
    }
    range(Kind::ReadRange, at, len, pc);
}

/// Announces that a block is written; touches nothing.
///
/// # Safety
/// As the program's own access.
pub unsafe extern "C-unwind" fn range_write(at: Address, len: u64, pc: usize) {
    if shadowed() {
        return one_body::will_write(at as u64, len, pc);
    }
    range(Kind::WriteRange, at, len, pc);
}

/// Reads 1, 2, 4 or 8 bytes atomically, as one step.
///
/// # Safety
/// As the program's own access.
pub unsafe extern "C-unwind" fn atomic_load(at: Address, size: u32, order: u32, pc: usize) -> u64 {
    if shadowed() {
        return one_body::read(Kind::AtomicRead, at as u64, size, pc);
    }
    let scheduled = scheduled();
    if scheduled {
        enter(Kind::AtomicRead, at, u64::from(size), pc);
    }
    // SAFETY: the program reads here, atomically.
    let value = unsafe { load(at as u64, size, memory::order(order)) };
    if scheduled {
        log_order(order, false);
        log(Kind::AtomicRead, at, size, value, pc);
    }
    value
}

/// Writes 1, 2, 4 or 8 bytes atomically, as one step.
///
/// # Safety
/// As the program's own access.
pub unsafe extern "C-unwind" fn atomic_store(
    at: Address,
    value: u64,
    size: u32,
    order: u32,
    pc: usize,
) {
    if shadowed() {
        return one_body::write(Kind::AtomicWrite, at as u64, size, value, pc);
    }
    let scheduled = scheduled();
    if scheduled {
        let operands = Operands::store(value);
        enter_update(Kind::AtomicWrite, at, u64::from(size), operands, pc);
        if gate::exhaustive() {
            // SAFETY: as in `write1` and its kin.
            let found = unsafe { load(at as u64, size, memory::order(0)) };
            gate::found(found, operands);
        }
    }
    // SAFETY: the program writes here, atomically.
    unsafe { store(at as u64, value, size, memory::order(order)) };
    if scheduled {
        log_order(order, false);
        log(Kind::AtomicWrite, at, size, memory::cut(value, size), pc);
    }
}

/// Updates 1, 2, 4 or 8 bytes atomically, as one step; the old content.
///
/// # Safety
/// As the program's own access.
pub unsafe extern "C-unwind" fn atomic_rmw(
    at: Address,
    value: u64,
    op: u32,
    size: u32,
    order: u32,
    pc: usize,
) -> u64 {
    let update = Update::from_code(op);
    if shadowed() {
        return one_body::update(at as u64, size, update, value, pc);
    }
    let scheduled = scheduled();
    let operands = Operands::update(update, value);
    if scheduled {
        enter_update(Kind::Rmw, at, u64::from(size), operands, pc);
    }
    // SAFETY: the program updates this, atomically.
    let (old, new) = unsafe { memory::update(at as u64, value, update, size) };
    if scheduled {
        gate::found(old, operands);
        log_order(order, false);
        log_update(at, size, old, new, pc);
    }
    old
}

/// Compares and exchanges 1, 2, 4 or 8 bytes atomically, as one step; the old content.
///
/// # Safety
/// As the program's own access.
pub unsafe extern "C-unwind" fn atomic_cas(
    at: Address,
    expected: u64,
    new: u64,
    size: u32,
    order: u32,
    pc: usize,
) -> u64 {
    if shadowed() {
        return one_body::compare_exchange(at as u64, size, expected, new, pc);
    }
    let scheduled = scheduled();
    let operands = Operands::compare_exchange(expected, new);
    if scheduled {
        enter_update(Kind::Rmw, at, u64::from(size), operands, pc);
    }
    // SAFETY: the program updates this, atomically.
    let (old, written) = unsafe { memory::compare_exchange(at as u64, expected, new, size) };
    if scheduled {
        let failed = old != memory::cut(expected, size);
        let (success, failure) = raddle_protocol::hooks::cas_orders(order);
        gate::found(old, operands);
        log_order(if failed { failure } else { success }, failed);
        log_update(at, size, old, written, pc);
    }
    old
}

/// After an atomic write with this order: where accesses to memory are not seen, others may come by
/// before what follows there.
#[inline]
pub fn released(order: u32, pc: usize) {
    /// `memory_order_release`; those above it release, too.
    const RELEASE: u32 = 3;
    if order >= RELEASE && scheduled() && !shadowed() {
        gate::returns(pc);
    }
}

/// A fence, as one step.
///
/// # Safety
/// As the program's own access.
pub unsafe extern "C-unwind" fn fence(order: u32, pc: usize) {
    let scheduled = scheduled();
    if shadowed() {
        log_fence(u64::from(order), pc);
    } else if scheduled {
        gate::simple(Kind::Fence, 0, pc);
    }
    if order > 0 {
        core::sync::atomic::fence(memory::fence_order(order));
    }
    if scheduled && !shadowed() {
        gate::log(Kind::Fence, 0, u64::from(order), pc);
    }
}

/// A fence in a symbolic run: all there is sequentially consistent, so it is no step, but the order
/// of the threads is also looked at.
fn log_fence(order: u64, pc: usize) {
    gate::log_full(Event {
        kind: Kind::Fenced as u8,
        value: order,
        pc: pc as u64,
        ..Event::default()
    });
}

unsafe extern "C-unwind" fn assembly(what: u32, which: u64, name: Address, pc: usize) {
    use raddle_protocol::hooks::assembly::{DIFFERS, FENCE, MEMORY, answer_differs};
    let is_question = ![FENCE, MEMORY, DIFFERS].contains(&what);
    if (what == DIFFERS || answer_differs(what, which)) && gate::active() {
        // SAFETY: by the contract of the hook, it is a text.
        let name = unsafe { CStr::from_ptr(name.cast::<c_char>()) };
        gate::uncontrolled(name.to_str().unwrap_or_default());
    }
    if is_question {
        return;
    }
    if shadowed() {
        if what != FENCE {
            one_body::lose_assembly(pc);
        }
        log_fence(Event::ASSEMBLY, pc);
    }
    if scheduled() {
        if what == MEMORY {
            gate::uncontrolled("inline assembly");
        }
        gate::simple(Kind::Fence, 0, pc);
        gate::log(Kind::Fence, 0, Event::ASSEMBLY, pc);
    }
}
