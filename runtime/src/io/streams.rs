//! Streams (`FILE`) on descriptors that can block. The C library reads, writes and locks them by
//! system calls of its own; so once there is such a stream, every system call from outside of this
//! library raises SIGSYS (syscall user dispatch), and those on descriptors and futexes are
//! performed as if the program had made them.

use super::table::Sort;
use super::{direct, fifo, random, stream_locks, table};
use crate::numbers::Path;
use crate::serial::Serial;
use crate::slots::PerSlot;
use crate::start::effects;
use crate::{futex, gate, intercept, os, raw, threads};
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU8, Ordering};
use libc::{FILE, REG_RAX, REG_RIP, dl_phdr_info};

const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;
const PR_SYS_DISPATCH_ON: usize = 1;
/// Values of the selector.
const ALLOW: u8 = 0;
const BLOCK: u8 = 1;

/// The kernel reads it at every system call from outside of this library.
static SELECTOR: AtomicU8 = AtomicU8::new(ALLOW);

static ON: Serial<bool> = Serial::new(false);

fn is_on() -> bool {
    // SAFETY: a plain flag of the running thread.
    unsafe { *ON.get() }
}

/// From now on the C library's own calls are controlled, until the end of the execution.
pub fn control_streams() {
    if !is_on() {
        if !switch_on() {
            gate::uncontrolled("streams on descriptors that block");
            return;
        }
        effects::note();
        // SAFETY: a plain flag of the running thread.
        unsafe { *ON.get() = true };
    }
    SELECTOR.store(BLOCK, Ordering::Relaxed);
}

/// The calls were let through for a new thread or process, or the caller is another kernel thread
/// than before, each of which must ask for the traps itself: has them trapped.
#[inline]
pub fn rearm() {
    if is_on() {
        if crate::substrate::kernel_threads() {
            switch_on_here();
        }
        SELECTOR.store(BLOCK, Ordering::Relaxed);
    }
}

/// Not 0 for threads whose own kernel thread is trapped.
static TRAPPED: Serial<PerSlot<u64>> = Serial::new(PerSlot::new());

/// First thing of a new thread: its kernel thread is a new one.
pub fn thread_begins() {
    if is_on() {
        // SAFETY: the running thread.
        let trapped = unsafe { TRAPPED.get() };
        trapped.map();
        trapped[gate::me()] = 0;
        rearm();
    }
}

#[cold]
fn switch_on_here() {
    // SAFETY: the running thread; nothing switches meanwhile.
    let trapped = unsafe { TRAPPED.get() };
    trapped.map();
    let me = gate::me();
    if trapped[me] == 0 {
        trapped[me] = u64::from(switch_on());
    }
}

/// Runs `f`, whose own calls of the C library concern nobody but this library.
#[inline]
pub fn letting_through<R>(f: impl FnOnce() -> R) -> R {
    let was = SELECTOR.load(Ordering::Relaxed);
    SELECTOR.store(ALLOW, Ordering::Relaxed);
    let result = f();
    SELECTOR.store(was, Ordering::Relaxed);
    result
}

fn switch_on() -> bool {
    raw::install_trap();
    let (start, len) = own_code();
    let selector = SELECTOR.as_ptr() as usize;
    // SAFETY: the range is this library's code, the selector lives for ever.
    unsafe {
        let option = PR_SET_SYSCALL_USER_DISPATCH;
        os::syscall(
            libc::SYS_prctl,
            option,
            PR_SYS_DISPATCH_ON,
            start,
            len,
            selector,
            0,
        ) == 0
    }
}

/// First address and length of the segment that holds this library's code.
fn own_code() -> (usize, usize) {
    unsafe extern "C" fn look_at(info: *mut dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        let own = look_at as *const () as usize;
        // SAFETY: the dynamic linker passes a valid entry, the caller the pointer below.
        unsafe {
            let info = &*info;
            let headers = core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            for header in headers.iter().filter(|h| h.p_type == libc::PT_LOAD) {
                let start = (info.dlpi_addr + header.p_vaddr) as usize;
                let len = header.p_memsz as usize;
                if (start..start + len).contains(&own) {
                    found.cast::<(usize, usize)>().write((start, len));
                    return 1;
                }
            }
        }
        0
    }
    let mut found = (0usize, 0usize);
    // SAFETY: the function writes to the variable only.
    gate::passively(|| unsafe {
        crate::process::loader::visit(Some(look_at), (&raw mut found).cast())
    });
    found
}

/// A call that was trapped: its result; `None` when the registers say what is to happen instead.
///
/// # Safety
/// The registers are those of the trapped call.
pub unsafe fn dispatched(
    number: i64,
    args: [usize; 6],
    registers: &mut [i64; 23],
    restorer: usize,
) -> Option<isize> {
    let pc = registers[REG_RIP as usize] as usize;
    match number {
        // The end of another signal's handler: its frame lies where the stack pointer is.
        libc::SYS_rt_sigreturn => {
            registers[REG_RIP as usize] = restorer as i64;
            registers[REG_RAX as usize] = number;
            return None;
        }
        // A child must not return into the handler: the call is made again and let through.
        libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork => {
            const CALL: i64 = 2;
            SELECTOR.store(ALLOW, Ordering::Relaxed);
            registers[REG_RIP as usize] -= CALL;
            registers[REG_RAX as usize] = number;
            return None;
        }
        _ => {}
    }
    let controlled = gate::active() && threads::is_running();
    // SAFETY: the program's arguments, as the kernel would take them.
    unsafe {
        if controlled && futex::CALLS.contains(&number) {
            if number == libc::SYS_futex {
                stream_locks::about_to_wait(args[0], args[1] as c_int);
            }
            return Some(futex::trapped(number, args, pc));
        }
        let performed = match controlled {
            true => direct::perform(number, args, pc),
            false => None,
        };
        let [a, mut b, c, d, e, f] = args;
        let mut mask = 0u64;
        if number == libc::SYS_rt_sigprocmask && b != 0 && a as c_int != libc::SIG_UNBLOCK {
            // With its signal blocked the next trap would end the process.
            mask = (b as *const u64).read_unaligned() & !(1 << (libc::SIGSYS - 1));
            b = &raw const mask as usize;
        }
        let _ = mask;
        Some(performed.unwrap_or_else(|| os::syscall(number, a, b, c, d, e, f)))
    }
}

/// Opens a stream, which may block, by `open`, which gets the path as the kernel knows it.
unsafe fn open_stream(
    path: *const c_char,
    mode: *const c_char,
    open: impl FnOnce(*const c_char) -> *mut FILE,
) -> *mut FILE {
    // SAFETY: the program's strings, also below.
    if unsafe { effects::mode_writes(mode) } {
        effects::note();
    }
    // SAFETY: as above.
    let known = unsafe { Path::of(path) };
    let path = known.as_ptr();
    // SAFETY: as above.
    if !path.is_null() && unsafe { fifo::is_fifo(path) } {
        control_streams();
    }
    let stream = open(path);
    if !stream.is_null() {
        // SAFETY: just opened.
        let fd = unsafe { libc::fileno(stream) };
        random::opened(fd);
        if random::is_random(fd) {
            control_streams();
        }
    }
    stream
}

intercept! {
    fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE, pc => {
        if !matches!(table::sort(fd), Sort::Harmless) {
            control_streams();
        }
        real::fdopen(fd, mode)
    };
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE, pc => {
        open_stream(path, mode, |path| real::fopen(path, mode))
    };
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE, pc => {
        open_stream(path, mode, |path| real::fopen64(path, mode))
    };
    fn freopen(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE, pc => {
        open_stream(path, mode, |path| real::freopen(path, mode, stream))
    };
    fn freopen64(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE, pc => {
        open_stream(path, mode, |path| real::freopen64(path, mode, stream))
    };
}
