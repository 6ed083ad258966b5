//! Jumps by `longjmp`: out of handlers, where the mask that `sigsetjmp` saved is the model's business too, and to
//! other threads, where nobody may jump.

use super::deliver;
use crate::access::staged;
use crate::gate::{self, Fatal};
use crate::intercept;
use crate::io::stream_locks;
use core::ffi::c_int;
use raddle_protocol::outcome::End;
use raddle_protocol::stack;

/// glibc's `jmp_buf` on x86-64.
#[repr(C)]
struct Buffer {
    registers: [u64; 8],
    mask_was_saved: c_int,
    mask: u64,
}

/// Where the stack pointer is, and how glibc hides it: exclusive or with a word of the thread
/// control block, then a rotation.
const STACK_POINTER: usize = 6;
const ROTATION: u32 = 17;

fn guard() -> u64 {
    let guard: u64;
    // SAFETY: the C library's thread control block has the word at this place (tcbhead_t).
    unsafe { core::arch::asm!("mov {}, fs:[0x30]", out(reg) guard, options(nostack, readonly)) };
    guard
}

/// The jump is about to be taken. On the stack of another thread, whose frames are in use or gone, what comes
/// of it is chance (POSIX: undefined): such a jump ends the execution.
///
/// # Safety
/// `buffer` was filled by a setjmp.
unsafe fn note(buffer: *const Buffer, pc: usize) {
    // SAFETY: the caller's promise.
    let buffer = unsafe { &*buffer };
    let hidden = buffer.registers[STACK_POINTER];
    let stack_pointer = hidden.rotate_right(ROTATION) ^ guard();
    if gate::active()
        && let Some(whose) = stack::slot_of(stack_pointer).filter(|&s| s != gate::me())
    {
        gate::finish(Fatal {
            end: End::Misuse,
            code: 0,
            message: format_args!("longjmp to where T{whose} called setjmp"),
            detail: [buffer as *const Buffer as u64, 0, 0, 0],
            pc,
            stack: true,
        });
    }
    let mask = (buffer.mask_was_saved != 0).then_some(buffer.mask);
    if let Some(mask) = mask.filter(|_| gate::active()) {
        super::before_blocking(mask, pc);
    }
    deliver::leave(stack_pointer as usize, mask);
    if gate::active() {
        staged::abandon(gate::me(), stack_pointer as usize);
        stream_locks::abandon(gate::me(), stack_pointer as usize);
    }
}

intercept! {
    fn longjmp(buffer: *const Buffer, value: c_int) -> (), pc => {
        note(buffer, pc);
        real::longjmp(buffer, value)
    };
    fn _longjmp(buffer: *const Buffer, value: c_int) -> (), pc => {
        note(buffer, pc);
        real::_longjmp(buffer, value)
    };
    fn siglongjmp(buffer: *const Buffer, value: c_int) -> (), pc => {
        note(buffer, pc);
        real::siglongjmp(buffer, value)
    };
    fn __longjmp_chk(buffer: *const Buffer, value: c_int) -> (), pc => {
        note(buffer, pc);
        real::__longjmp_chk(buffer, value)
    };
}
