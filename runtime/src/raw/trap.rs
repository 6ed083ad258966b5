//! SIGSYS: performs the call that the filter trapped.

use crate::serial::Serial;
use crate::{ends, futex, gate, os, threads};
use core::ffi::{c_int, c_void};

/// `si_code` of a call that a filter trapped.
const SYS_SECCOMP: c_int = 1;

static INSTALLED: Serial<bool> = Serial::new(false);

/// Is the handler in place?
pub fn installed() -> bool {
    // SAFETY: a plain flag of the running thread.
    unsafe { *INSTALLED.get() }
}

/// Installs the handler, once. It runs on the thread's own stack and blocks nothing, because it
/// may go on in another thread.
pub fn install() {
    // SAFETY: the running thread.
    if core::mem::replace(unsafe { INSTALLED.get() }, true) {
        return;
    }
    // SAFETY: the handler is made for this signal.
    gate::passively(|| unsafe {
        let mut ours: libc::sigaction = core::mem::zeroed();
        ours.sa_sigaction = on_trap as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSYS, &ours, core::ptr::null_mut());
    });
}

extern "C-unwind" fn on_trap(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo and context to an SA_SIGINFO handler.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let number = registers[libc::REG_RAX as usize];
    // SAFETY: as above.
    if unsafe { (*info).si_code } != SYS_SECCOMP || number != libc::SYS_futex {
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
        if gate::active() && threads::is_running() {
            futex::trapped(args, pc)
        } else {
            let [a, b, c, d, e, f] = args;
            os::syscall(number, a, b, c, d, e, f)
        }
    };
    registers[libc::REG_RAX as usize] = result as i64;
    // Another thread's mask may have come and gone meanwhile.
    // SAFETY: the kernel's set is the first eight bytes of the library's.
    unsafe {
        let mask = &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask;
        mask.cast::<u64>().write(os::current_signal_mask());
    }
}
