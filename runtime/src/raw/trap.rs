//! SIGSYS: performs the call that the filter trapped.

use crate::serial::Serial;
use crate::{ends, futex, gate, io, os, threads};
use core::ffi::{c_int, c_void};

/// `si_code` of a call that a filter trapped.
const SYS_SECCOMP: c_int = 1;
/// `si_code` of a call from outside of this library (`io::streams`).
const SYS_USER_DISPATCH: c_int = 2;

static INSTALLED: Serial<bool> = Serial::new(false);

/// Is the handler in place?
pub fn installed() -> bool {
    // SAFETY: a plain flag of the running thread.
    unsafe { *INSTALLED.get() }
}

/// Installs the handler, once. It may go on in another thread.
pub fn install() {
    // SAFETY: the running thread.
    if core::mem::replace(unsafe { INSTALLED.get() }, true) {
        return;
    }
    handle(&Action::new(on_trap as *const () as usize, 0));
}

/// Installs a handler that takes a siginfo and a context, for another signal. It runs on the
/// thread's own stack and blocks nothing, and returns within this library.
pub fn handle_signal(signal: c_int, handler: usize, more: c_int) {
    let ours = Action::new(handler, more);
    let (signal, at, bytes) = (signal as usize, &raw const ours as usize, size_of::<u64>());
    // SAFETY: the handler is made for this signal, the structure is the kernel's.
    unsafe { os::syscall(libc::SYS_rt_sigaction, signal, at, 0, bytes, 0, 0) };
}

/// The kernel's own `struct sigaction`.
#[repr(C)]
pub struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

impl Action {
    /// What the kernel does by itself.
    pub const DEFAULT: Action = Action {
        handler: libc::SIG_DFL,
        flags: 0,
        restorer: 0,
        mask: 0,
    };

    fn new(handler: usize, flags: c_int) -> Action {
        const SA_RESTORER: c_int = 0x0400_0000;
        Action {
            handler,
            flags: (libc::SA_SIGINFO | libc::SA_NODEFER | SA_RESTORER | flags) as u64,
            restorer: restorer(),
            mask: 0,
        }
    }
}

/// Has SIGSYS handled by `action`; how it was handled before.
pub fn handle(action: &Action) -> Action {
    let mut former = Action::DEFAULT;
    let (new, old) = (&raw const *action as usize, &raw mut former as usize);
    let (signal, bytes) = (libc::SIGSYS as usize, size_of::<u64>());
    // SAFETY: the handler is made for this signal, the structures are the kernel's.
    unsafe { os::syscall(libc::SYS_rt_sigaction, signal, new, old, bytes, 0, 0) };
    former
}

/// As [`handle`], by `handler`, which runs on the stack for signals and leaves the mask alone.
pub fn handle_by(handler: usize) -> Action {
    handle(&Action::new(handler, libc::SA_ONSTACK))
}

/// First address and length of the code by which handlers return.
pub fn way_back() -> (usize, usize) {
    const BYTES: usize = 9;
    (restorer(), BYTES + 1)
}

// The way back from a handler, within this library, whose system calls are never trapped. The
// bytes are those by which unwinders know a signal's frame; they ask for what lies just before.
core::arch::global_asm!(
    ".pushsection .text.raddle_restore, \"ax\", @progbits",
    ".p2align 4",
    "nop",
    "nop",
    ".hidden raddle_restore",
    ".globl raddle_restore",
    "raddle_restore:",
    ".byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00",
    "syscall",
    ".popsection",
);

unsafe extern "C" {
    fn raddle_restore();
}

fn restorer() -> usize {
    raddle_restore as *const () as usize
}

extern "C-unwind" fn on_trap(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo and context to an SA_SIGINFO handler.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let number = registers[libc::REG_RAX as usize];
    // SAFETY: as above.
    let code = unsafe { (*info).si_code };
    let known = code == SYS_SECCOMP && futex::CALLS.contains(&number) || code == SYS_USER_DISPATCH;
    if !known {
        // SAFETY: as above.
        unsafe { ends::fatal_signal(signal, info, context) };
        return;
    }
    let argument = |register: c_int| registers[register as usize] as usize;
    let args = [
        argument(libc::REG_RDI),
        argument(libc::REG_RSI),
        argument(libc::REG_RDX),
        argument(libc::REG_R10),
        argument(libc::REG_R8),
        argument(libc::REG_R9),
    ];
    let pc = argument(libc::REG_RIP);
    // SAFETY: the program's arguments, as the kernel would take them.
    let result = unsafe {
        if code == SYS_USER_DISPATCH {
            let Some(result) = io::dispatched(number, args, registers, restorer()) else {
                return;
            };
            result
        } else if gate::active() && threads::is_running() {
            futex::trapped(number, args, pc)
        } else {
            let [a, b, c, d, e, f] = args;
            os::syscall(number, a, b, c, d, e, f)
        }
    };
    registers[libc::REG_RAX as usize] = result as i64;
    // SAFETY: the context is this handler's.
    unsafe { keep_mask(context) };
}

/// The handler that was given `context` returns to the mask that is in force now: another thread's
/// may have come and gone meanwhile.
///
/// # Safety
/// The context is that of a handler that is running.
pub unsafe fn keep_mask(context: *mut c_void) {
    // SAFETY: the kernel's set is the first eight bytes of the library's.
    unsafe {
        let mask = &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask;
        mask.cast::<u64>().write(os::current_signal_mask());
    }
}
