//! Which arena serves whom, and who keeps whom out.
//!
//! Controlled threads run one at a time and each allocates from its own arena. Anything else (the
//! time before the program's first code, a process that is not controlled) uses the arena of slot
//! 0 under a lock, because its threads may be truly parallel.

use super::arena::{Arena, Fault, Info};
use super::low;
use crate::gate;
use crate::os;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use raddle_protocol::{Slot, arena as layout, slot};

const WORDS: usize = slot::COUNT / 64;

/// Which arenas are in use, a bit each.
static USED: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
/// 1 while a thread that is not controlled is in the heap.
static LOCK: AtomicU32 = AtomicU32::new(0);

/// Keeps others out of the heap until dropped.
pub struct Guard(bool);

impl Guard {
    /// Waits until the heap is free.
    #[inline]
    pub fn enter() -> Guard {
        let locked = !gate::active();
        if locked {
            lock();
        }
        Guard(locked)
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if self.0 {
            unlock();
        }
    }
}

fn lock() {
    while LOCK
        .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        // SAFETY: no memory is involved.
        unsafe { os::syscall(libc::SYS_sched_yield, 0, 0, 0, 0, 0, 0) };
    }
}

fn unlock() {
    LOCK.store(0, Ordering::Release);
}

extern "C" fn before_fork() {
    lock();
}

extern "C" fn after_fork() {
    unlock();
}

/// Called once before the program's first code: lets `fork` find the heap at rest, and finds the
/// C library.
pub fn prepare() {
    // SAFETY: the three functions are async-signal-safe and live as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
    super::callers::find();
}

/// Is the arena of `slot` in use?
#[inline]
fn used(slot: Slot) -> bool {
    let word = USED[slot as usize / 64].load(Ordering::Relaxed);
    word >> (slot % 64) & 1 != 0
}

/// The running thread and its arena; `None` when there is no memory for one.
#[inline]
pub fn own() -> Option<(Slot, Arena)> {
    let slot = gate::me();
    if slot == slot::MAIN
        && let Some(arena) = low::arena()
    {
        return Some((slot, arena));
    }
    if used(slot) {
        return Some((slot, Arena::of(slot)));
    }
    first_use(slot)
}

#[cold]
fn first_use(slot: Slot) -> Option<(Slot, Arena)> {
    if slot == slot::MAIN
        && let Some(arena) = low::prepare()
    {
        return Some((slot, arena));
    }
    Some((slot, high(slot)?))
}

/// The arena at a high address that the thread has, or has besides.
pub fn high(slot: Slot) -> Option<Arena> {
    if slot as usize >= slot::COUNT {
        return None;
    }
    let arena = Arena::of(slot);
    if !used(slot) {
        if !arena.prepare() {
            return None;
        }
        USED[slot as usize / 64].fetch_or(1 << (slot % 64), Ordering::Relaxed);
    }
    Some(arena)
}

/// The arena that owns `address`, if it is in use.
#[inline]
pub fn owner(address: usize) -> Option<Arena> {
    if address < layout::LOW_END as usize {
        return low::owner(address);
    }
    let slot = layout::slot_of(address as u64)?;
    used(slot).then(|| Arena::of(slot))
}

/// The block, live or freed, whose slot (header and red zone included) holds `address`.
pub fn block_of(address: u64) -> Option<Result<Info, Fault>> {
    let address = address as usize;
    let arena = owner(address)?;
    let _guard = Guard::enter();
    arena.block_of(address)
}

/// May the program access these bytes? Everything outside the heap may be.
#[inline]
pub fn check_access(address: u64, len: u64) -> Result<(), Fault> {
    match owner(address as usize) {
        Some(arena) => arena.check_access(address as usize, len as usize),
        None => Ok(()),
    }
}

/// Checks every block of every arena: what the end of an execution does.
pub fn verify() -> Result<(), Fault> {
    if let Some(arena) = low::arena() {
        arena.verify()?;
    }
    for (word, bits) in USED.iter().enumerate() {
        let mut bits = bits.load(Ordering::Relaxed);
        while bits != 0 {
            Arena::of((word * 64) as Slot + bits.trailing_zeros() as Slot).verify()?;
            bits &= bits - 1;
        }
    }
    Ok(())
}
