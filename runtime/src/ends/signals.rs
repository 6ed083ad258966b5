//! Fatal signals: the outcome is written, then the signal takes its default course.

use crate::gate::{self, Fatal};
use crate::heap::{self, Freed};
use crate::os;
use core::ffi::{c_int, c_void};
use core::fmt;
use raddle_protocol::outcome::End;
use raddle_protocol::slot;

/// The C library's, whatever the program sees of them.
mod real {
    use core::ffi::c_int;
    crate::real! {
        fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
        fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int;
    }
}

const FATAL: [(c_int, &str); 7] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGSYS, "SIGSYS"),
];

/// Others that would leave a core behind. Nobody looks at where they come.
const DUMPING: [c_int; 3] = [libc::SIGQUIT, libc::SIGXCPU, libc::SIGXFSZ];

/// Room for the handler and for unwinding.
const STACK: usize = 64 << 10;
/// A fault this near to the stack pointer is taken for a stack overflow.
const NEAR_STACK: u64 = 64 << 10;
/// `si_code` of faults without an address (a pointer that is not canonical).
const SI_KERNEL: c_int = 0x80;

/// Gives the calling kernel thread a stack for signals, unless it has one. Needed once per kernel
/// thread that runs code of the program.
pub fn use_alternate_stack() {
    // SAFETY: the stack is fresh memory that is never unmapped.
    unsafe {
        let mut old: libc::stack_t = core::mem::zeroed();
        real::sigaltstack(core::ptr::null(), &mut old);
        if old.ss_flags & libc::SS_DISABLE == 0 {
            return;
        }
        let stack = libc::stack_t {
            ss_sp: os::map_memory(STACK).cast(),
            ss_flags: 0,
            ss_size: STACK,
        };
        real::sigaltstack(&stack, core::ptr::null_mut());
    }
}

/// Installs the handler wherever the disposition is the default.
pub(super) fn install() {
    use_alternate_stack();
    // SAFETY: the handler is async-signal-safe but for the unwinder, whose library the first call
    // of backtrace loads here and now.
    unsafe {
        let mut frames = [core::ptr::null_mut(); 4];
        libc::backtrace(frames.as_mut_ptr(), frames.len() as c_int);
        for signal in FATAL.map(|(signal, _)| signal).into_iter().chain(DUMPING) {
            let mut old: libc::sigaction = core::mem::zeroed();
            real::sigaction(signal, core::ptr::null(), &mut old);
            if old.sa_sigaction == libc::SIG_DFL {
                watch(signal);
            }
        }
    }
}

/// Is this one of [`install`]'s handlers?
pub fn is_handler(handler: usize) -> bool {
    [
        on_signal as *const () as usize,
        on_dumping as *const () as usize,
    ]
    .contains(&handler)
}

/// Installs the handler for `signal`; false if that is not one of those that are watched.
pub fn watch(signal: c_int) -> bool {
    let fatal = FATAL.iter().any(|f| f.0 == signal);
    let watched = fatal || DUMPING.contains(&signal);
    if watched {
        // SAFETY: the handler is async-signal-safe but for the unwinder, which is loaded.
        unsafe {
            let mut ours: libc::sigaction = core::mem::zeroed();
            ours.sa_sigaction = match fatal {
                true => on_signal as *const () as usize,
                false => on_dumping as *const () as usize,
            };
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
            real::sigaction(signal, &ours, core::ptr::null_mut());
        }
    }
    watched
}

/// Sends `signal` to the calling thread with the default disposition, unblocked. Returns only if
/// that does not end the process.
pub(super) fn raise_natively(signal: c_int) {
    leave_no_core();
    // SAFETY: changes only how this signal is handled.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        real::sigaction(signal, &action, core::ptr::null_mut());
        let set: u64 = 1 << (signal - 1);
        let unblock = libc::SIG_UNBLOCK as usize;
        let set_at = &raw const set as usize;
        os::syscall(libc::SYS_rt_sigprocmask, unblock, set_at, 0, 8, 0, 0);
        let pid = os::syscall(libc::SYS_getpid, 0, 0, 0, 0, 0, 0) as usize;
        let tid = os::syscall(libc::SYS_gettid, 0, 0, 0, 0, 0, 0) as usize;
        os::syscall(libc::SYS_tgkill, pid, tid, signal as usize, 0, 0, 0);
    }
}

/// Neither a file nor a pipe gets a core of this process, which is about to end: an execution has large
/// mappings of the runtime's own, and a search may have thousands that crash.
fn leave_no_core() {
    let option = libc::PR_SET_DUMPABLE as usize;
    // SAFETY: numbers only.
    unsafe { os::syscall(libc::SYS_prctl, option, 0, 0, 0, 0, 0) };
}

extern "C" fn on_dumping(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    raise_natively(signal);
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo and context to an SA_SIGINFO handler.
    unsafe {
        if crate::raw::performed(signal, info, context) {
            // It was reset to the default.
            watch(signal);
            return;
        }
        fatal_signal(signal, info, context);
    }
}

/// Records a fatal signal and lets it take its default course.
///
/// # Safety
/// `info` and `context` are those that the handler of `signal` was given.
pub unsafe fn fatal_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if gate::active() {
        // SAFETY: the caller's promise.
        let crash = unsafe { Crash::read(signal, &*info, &*context.cast::<libc::ucontext_t>()) };
        crash.record();
    }
    // Back in the program a fault happens again and a signal that was sent is still pending by
    // then: both meet the default disposition (SA_RESETHAND).
    // SAFETY: as above.
    let sent = unsafe { (*info).si_code } <= 0 || signal == libc::SIGABRT;
    let trap = signal == libc::SIGTRAP || signal == libc::SIGSYS;
    leave_no_core();
    if sent || trap {
        raise_natively(signal);
    }
}

/// What is known about a fatal signal.
struct Crash {
    signal: c_int,
    /// Was it sent by some process (kill, raise), or is it a fault?
    sent: bool,
    /// The kernel knows no address of this fault.
    no_address: bool,
    address: u64,
    pc: usize,
    registers: [i64; 23],
}

impl Crash {
    /// # Safety
    /// `info` and `context` are those of `signal`.
    unsafe fn read(signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t) -> Crash {
        let registers = context.uc_mcontext.gregs;
        let sent = info.si_code <= 0;
        Crash {
            signal,
            sent,
            no_address: info.si_code == SI_KERNEL,
            address: match sent {
                true => 0,
                // SAFETY: by the contract above; faults carry an address.
                false => unsafe { info.si_addr() as u64 },
            },
            pc: registers[libc::REG_RIP as usize] as usize,
            registers,
        }
    }

    fn general(&self) -> impl Iterator<Item = u64> + '_ {
        self.registers[..=libc::REG_RSP as usize]
            .iter()
            .map(|&r| r as u64)
    }

    fn memory_fault(&self) -> bool {
        !self.sent && (self.signal == libc::SIGSEGV || self.signal == libc::SIGBUS)
    }

    /// Evidence that the fault comes from memory that was freed.
    fn use_after_free(&self) -> Option<Evidence> {
        if !self.memory_fault() {
            return None;
        }
        if !self.no_address {
            let freed = heap::freed_block(self.address)?;
            return Some(Evidence::InBlock(freed));
        }
        let block = self.general().find_map(heap::freed_block);
        match self.general().find(|&r| heap::looks_freed(r)) {
            Some(value) => Some(Evidence::Pointer(value, block)),
            None => block.map(Evidence::Through),
        }
    }

    fn stack_overflow(&self) -> bool {
        let stack_pointer = self.registers[libc::REG_RSP as usize] as u64;
        self.memory_fault() && !self.no_address && self.address.abs_diff(stack_pointer) < NEAR_STACK
    }

    fn record(&self) {
        let name = FATAL.iter().find(|f| f.0 == self.signal);
        let name = name.map_or("signal", |f| f.1);
        let fatal = |end, detail, message: fmt::Arguments| {
            gate::record(&Fatal {
                end,
                code: self.signal,
                message,
                detail,
                // Looks like a return address, so that the statement is found by the byte before.
                pc: self.pc.wrapping_add(1),
                stack: true,
            });
        };
        if let Some(evidence) = self.use_after_free() {
            let detail = evidence.detail(self.address);
            fatal(
                End::UseAfterFree,
                detail,
                format_args!("{name}: {evidence}"),
            );
            return;
        }
        let end = match self.signal {
            libc::SIGABRT => End::Abort,
            _ => End::Signal,
        };
        let more = if self.signal == libc::SIGABRT {
            "SIGABRT was raised"
        } else if self.sent {
            "the signal was sent, it is no fault"
        } else if self.stack_overflow() {
            "stack overflow"
        } else if self.no_address {
            "the real address is not a valid one"
        } else {
            ""
        };
        fatal(end, [self.address, 0, 0, 0], format_args!("{more}"));
    }
}

/// Why a fault is taken for a use after free.
enum Evidence {
    /// The address lies in a freed block.
    InBlock(Freed),
    /// A register holds a pointer made of the pattern that fills freed blocks; another one may
    /// still point to the block.
    Pointer(u64, Option<Freed>),
    /// The pointer used was loaded from this block.
    Through(Freed),
}

impl Evidence {
    fn detail(&self, address: u64) -> [u64; 4] {
        let (address, block) = match self {
            Evidence::InBlock(block) => (address, Some(block)),
            Evidence::Pointer(value, block) => (block.map_or(*value, |b| b.block), block.as_ref()),
            Evidence::Through(block) => (block.block, Some(block)),
        };
        match block {
            Some(b) => [address, b.block, b.pc as u64, u64::from(b.thread)],
            None => [address, 0, 0, u64::from(slot::NONE)],
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::InBlock(block) => {
                write!(
                    f,
                    "the address lies in a freed block of {} bytes",
                    block.size
                )
            }
            Evidence::Pointer(value, _) => write!(
                f,
                "{value:#x} was used as a pointer, which is what freed memory is filled with"
            ),
            Evidence::Through(block) => write!(
                f,
                "an invalid pointer was used while a register points into a freed block of {} bytes",
                block.size
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash(signal: c_int, address: u64) -> Crash {
        Crash {
            signal,
            sent: false,
            no_address: false,
            address,
            pc: 0x1000,
            registers: [0; 23],
        }
    }

    #[test]
    fn evidence() {
        let mut c = crash(libc::SIGSEGV, 8);
        assert!(c.use_after_free().is_none() && !c.stack_overflow_at(0x7000_0000));
        c.address = 0x7000_0010;
        assert!(c.stack_overflow_at(0x7000_0000));
        c.no_address = true;
        c.registers[libc::REG_RAX as usize] = 0xdbdb_dbdb_dbdb_dbe3_u64 as i64;
        let evidence = c.use_after_free();
        assert!(matches!(
            evidence,
            Some(Evidence::Pointer(0xdbdb_dbdb_dbdb_dbe3, None))
        ));
        c.signal = libc::SIGFPE;
        assert!(c.use_after_free().is_none());
    }

    impl Crash {
        fn stack_overflow_at(&mut self, stack_pointer: i64) -> bool {
            self.registers[libc::REG_RSP as usize] = stack_pointer;
            self.stack_overflow()
        }
    }
}
