//! A low arena for programs that lie at fixed addresses (not position-independent).
//!
//! Natively the blocks of their main thread come from the program break, right behind their own data:
//! far below 4 GiB, so that some keep pointers in 32 bits. Those of other threads, large blocks and
//! stacks lie high in any case. So main's arena is a low one there; what does not fit in goes to the
//! arena that main has in other programs.

use super::arena::{Arena, STEP};
use crate::os;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_protocol::arena::{LOW_BASE, LOW_END};

/// Room that is left to the program for a break of its own.
const BREAK: usize = 64 << 20;
/// With less room there is no low arena.
const LEAST: usize = 16 * STEP;

/// Where the low arena is; 0: there is none.
static BASE: AtomicUsize = AtomicUsize::new(0);
/// One was asked for.
static ASKED: AtomicBool = AtomicBool::new(false);
/// The program should have a low arena, and has none, or none with room.
static MISSING: AtomicBool = AtomicBool::new(false);

/// The low arena, where there is one.
#[inline]
pub fn arena() -> Option<Arena> {
    match BASE.load(Ordering::Relaxed) {
        0 => None,
        base => Some(Arena::at(base)),
    }
}

/// The low arena, if `address` may lie in it.
#[inline]
pub fn owner(address: usize) -> Option<Arena> {
    let base = BASE.load(Ordering::Relaxed);
    (base != 0 && (base..LOW_END as usize).contains(&address)).then(|| Arena::at(base))
}

/// Makes the low arena where the program is one for it: at main's first use of the heap.
#[cold]
pub fn prepare() -> Option<Arena> {
    if ASKED.swap(true, Ordering::Relaxed) {
        return arena();
    }
    // SAFETY: reads what the kernel gave the process.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
    if headers == 0 || headers >= 1 << 32 {
        return None;
    }
    match base(program_break()).map(Arena::at).filter(Arena::prepare) {
        Some(arena) => {
            BASE.store(arena.base(), Ordering::Relaxed);
            Some(arena)
        }
        None => {
            MISSING.store(true, Ordering::Relaxed);
            None
        }
    }
}

/// The end of the program's data.
fn program_break() -> usize {
    // SAFETY: asks, and changes nothing.
    unsafe { os::syscall(libc::SYS_brk, 0, 0, 0, 0, 0, 0) }.unsigned_abs()
}

/// Where the low arena of a program goes whose data end there; `None`: there is no room.
fn base(program_break: usize) -> Option<usize> {
    let base = (program_break + BREAK).next_multiple_of(STEP);
    let base = base.max(LOW_BASE as usize);
    (base + LEAST <= LOW_END as usize).then_some(base)
}

/// A block did not fit into the low arena.
#[cold]
pub fn overflows() {
    MISSING.store(true, Ordering::Relaxed);
    tell();
}

/// Names it where a program at fixed addresses gets blocks that are not low.
pub fn tell() {
    if MISSING.load(Ordering::Relaxed) {
        crate::gate::uncontrolled("a heap above 4 GiB in a program at fixed addresses");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arena_lies_behind_the_break_and_below_the_end() {
        const MIB: usize = 1 << 20;
        for (program_break, expected) in [
            (4 * MIB, Some(256 * MIB)),
            (192 * MIB, Some(256 * MIB)),
            (193 * MIB, Some(272 * MIB)),
            (1024 * MIB + 1, Some(1104 * MIB)),
            (1472 * MIB, Some(1536 * MIB)),
            (1473 * MIB, None),
            (3000 * MIB, None),
        ] {
            assert_eq!(base(program_break), expected, "{program_break:#x}");
        }
    }
}
