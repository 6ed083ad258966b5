//! Futex calls that do not go through the C library's `syscall`: OpenMP's run-time library, inline
//! assembly, static code.
//!
//! A seccomp filter traps them, at the very instructions that make them, and the handler performs
//! them as [`crate::futex`] performs the others. Only modules that hold such instructions cost
//! anything, and a program without one gets no filter. The filter names instructions, not the
//! whole module, because it also holds in programs that the target executes.

mod draws;
mod filter;
mod instructions;
mod sites;
mod trap;
mod vdso;

use crate::serial::Serial;

pub use draws::begin;
pub use instructions::{let_go, performed};
pub use sites::is_library;
pub use trap::{
    Action, handle as put_trap, handle_by as set_trap, installed as trap_installed, way_back,
};
pub use trap::{handle_signal, install as install_trap, keep_mask};
pub use vdso::redirect as redirect_vdso;

/// How many modules the dynamic linker had loaded in all when they were last looked at.
static LOADED: Serial<u64> = Serial::new(0);

/// To be called once before the process is cloned, and again whenever modules may have been loaded
/// since: has the raw futex calls of new modules trapped.
pub fn look_at_modules() {
    let loaded = sites::loaded();
    // SAFETY: the running thread.
    if core::mem::replace(unsafe { LOADED.get() }, loaded) != loaded {
        let found = sites::find();
        if !found.is_empty() {
            trap::install();
            filter::install(found);
        }
        instructions::look();
    }
}

/// Signals that must never be blocked, as the kernel's set.
pub fn unblockable() -> u64 {
    taken() | instructions::unblockable()
}

/// Signals that are not the program's, as the kernel's set.
pub fn taken() -> u64 {
    let trap = match trap::installed() {
        true => 1 << (libc::SIGSYS - 1),
        false => 0,
    };
    trap | crate::busy::unblockable()
}
