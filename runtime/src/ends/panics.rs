//! Panics of Rust programs. A program that panicked exits with a status that says nothing of the
//! place, long after the panicking thread has gone; so the stack is kept when the panic begins to
//! unwind. (With `panic=abort` it ends in `abort`, which has its stack anyway.)

use crate::gate;
use crate::real::Entry;

/// The class of Rust's exceptions (`library/panic_unwind` of Rust's sources), which some versions
/// write as bytes and some as a number.
const RUST: [u64; 2] = [
    u64::from_le_bytes(*b"MOZ\0RUST"),
    u64::from_be_bytes(*b"MOZ\0RUST"),
];

#[used]
#[unsafe(link_section = "raddle_real")]
static ENTRY: Entry = Entry::new(c"_Unwind_RaiseException");

/// Notes where a panic began. Returns the unwinder's own function.
///
/// # Safety
/// `exception` is what the unwinder is called with: its first word is the class.
unsafe extern "C-unwind" fn note(exception: *const u64) -> usize {
    // SAFETY: the caller's promise.
    if RUST.contains(unsafe { &*exception }) && gate::active() {
        gate::fails_here();
    }
    ENTRY.address()
}

/// As the unwinder's, which looks at its caller's frame: it is entered as if nobody had been here.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(test, allow(non_snake_case))]
#[unsafe(naked)]
unsafe extern "C-unwind" fn _Unwind_RaiseException(exception: *const u64) -> core::ffi::c_int {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "call {note}",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp rax",
        ".cfi_endproc",
        note = sym note,
    )
}
#[cfg(test)]
const _: unsafe extern "C-unwind" fn(*const u64) -> core::ffi::c_int = _Unwind_RaiseException;
