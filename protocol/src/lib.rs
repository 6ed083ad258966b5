//! Everything that crosses a process, file or compiler boundary in raddle.
//!
//! The shim inside the target, the controller, the analyzer and the compiler plugin share no
//! other contract than this crate. It is `no_std`; owned forms ([`job::Job`], [`trace::Trace`])
//! need the feature `alloc`, witness files ([`witness`]) the feature `witness`.
#![no_std]
#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod compile;
pub mod conflict;
pub mod constraint;
pub mod cpp;
pub mod descriptor;
pub mod effects;
pub mod event;
pub mod expr;
pub mod hash;
pub mod hooks;
pub mod libraries;
pub mod library;
pub mod outcome;
pub mod schedule;
pub mod shared;
pub mod update;
pub mod uses;

#[cfg(feature = "alloc")]
pub mod job;
#[cfg(feature = "alloc")]
pub mod trace;
#[cfg(feature = "witness")]
pub mod witness;

/// Version of the shared pages, the events and the hooks. All sides refuse another one: the command, the
/// runtime library, and the objects of `raddle cc`. It holds the names of the hooks, and of the functions
/// whose rows in the table of effects have numbers; [`LAYOUT`] stands for the rest.
pub const VERSION: u32 = {
    let hooks = hooks::fingerprint(LAYOUT as u64);
    let all = effects::fingerprint(hooks);
    (all ^ all >> 32) as u32
};

/// To be raised with each change of the pages, the events, or of what a hook means.
const LAYOUT: u32 = 3;

/// Goes on with a hash (FNV-1a) over these bytes.
const fn hash(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut n = 0;
    while n < bytes.len() {
        hash = (hash ^ bytes[n] as u64).wrapping_mul(0x0100_0000_01b3);
        n += 1;
    }
    hash
}

/// Stable number of a thread within one program: see [`slot`].
pub type Slot = u16;

/// Naming of threads that does not depend on the interleaving (DESIGN §4).
pub mod slot {
    use super::Slot;

    /// The thread that runs `main`.
    pub const MAIN: Slot = 0;
    /// No thread.
    pub const NONE: Slot = Slot::MAX;
    /// How many slots there are; every slot owns one heap arena.
    pub const COUNT: usize = 12288;
    /// The thread that the runtime makes when the first timer is armed: it waits for all of them.
    pub const TIMERS: Slot = COUNT as Slot - 1;
    /// Instead of a thread, where it is told who has touched memory: the C library, in calls of any
    /// thread.
    pub const LIBRARY: Slot = COUNT as Slot;
    /// Slots `1..FIRST_NESTED` are the children of main, by order of creation.
    pub const FIRST_NESTED: Slot = 1024;

    /// The slot that the `k`-th child (from 0) of `parent` wants. Children of main get the slots
    /// 1, 2, 3 …; deeper ones are hashed and the runtime probes upwards from here when the slot is
    /// already taken within the same execution.
    pub const fn preferred(parent: Slot, k: u32) -> Slot {
        if parent == MAIN && k + 1 < FIRST_NESTED as u32 {
            return (k + 1) as Slot;
        }
        let mixed = ((parent as u64) << 32 | k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let span = (COUNT - FIRST_NESTED as usize) as u64;
        FIRST_NESTED + ((mixed >> 33) % span) as Slot
    }
}

/// Where stacks lie: at addresses that depend on the slot alone.
pub mod stack {
    use super::{Slot, slot};

    /// First byte of the stack area of slot 0 (which main does not use). Above the shadow memory of
    /// AddressSanitizer, below the heap.
    pub const BASE: u64 = 0x1100_0000_0000;
    /// The same where a thread that was made ahead of time, and does not fit, lies in the other
    /// area.
    pub const OTHER_BASE: u64 = 0x1900_0000_0000;
    /// Bytes of address space per slot.
    pub const SPAN: u64 = 64 << 20;
    /// The kernel keeps at least these 128 MiB below the end of a process's memory free for the
    /// stack of main, where addresses are not randomised.
    const OF_MAIN: core::ops::Range<u64> = 0x7fff_f800_0000..0x7fff_ffff_f000;

    /// The thread in whose area `address` lies. At the top of a stack other than main's are the
    /// thread's descriptor and its thread-local storage.
    pub fn slot_of(address: u64) -> Option<Slot> {
        let bytes = SPAN * slot::COUNT as u64;
        for base in [BASE, OTHER_BASE] {
            if (base..base + bytes).contains(&address) {
                return Some(((address - base) / SPAN) as Slot);
            }
        }
        OF_MAIN.contains(&address).then_some(slot::MAIN)
    }
}

/// The heap's address map: stable addresses without translation (DESIGN §4).
pub mod arena {
    /// First byte of the arena of slot 0.
    pub const BASE: u64 = 0x2000_0000_0000;
    /// Bytes of address space per slot (4 GiB).
    pub const SPAN: u64 = 1 << 32;
    /// One past the last arena byte.
    pub const END: u64 = BASE + SPAN * super::slot::COUNT as u64;

    /// Where main's arena lies, or begins at a higher address, in programs at fixed addresses (not
    /// position-independent), which may keep pointers in 32 bits, or in 31.
    pub const LOW_BASE: u64 = 0x1000_0000;
    /// One past the last byte of that. (AddressSanitizer's memory begins a little higher.)
    pub const LOW_END: u64 = 0x7000_0000;

    /// The slot whose arena holds `address`.
    pub const fn slot_of(address: u64) -> Option<super::Slot> {
        if address >= LOW_BASE && address < LOW_END {
            Some(super::slot::MAIN)
        } else if address >= BASE && address < END {
            Some(((address - BASE) / SPAN) as super::Slot)
        } else {
            None
        }
    }
}
