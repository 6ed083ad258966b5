//! A clone of a copy that has come to its end is put back to where it was cloned, and runs the next
//! job: making and reaping a process costs more than all else that a short execution does.
//!
//! Its memory is put back page by page ([`memory`]). What lies in the kernel cannot be put back,
//! but for mappings of memory ([`mappings`]). So every system call raises SIGSYS (syscall user
//! dispatch), this library's own included; those that leave nothing behind, or what can be undone,
//! are performed, and at any other one the process gives up being put back: it ends as others do,
//! and the next execution is another clone.

mod mappings;
mod memory;

use crate::os;
use crate::raw;
use crate::serial::Serial;
use crate::substrate::{restore, save};
use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU8, Ordering};
use libc::{REG_R8, REG_R9, REG_R10, REG_RAX, REG_RDI, REG_RDX, REG_RIP, REG_RSI};
use mappings::{Mappings, Undone};
use memory::Memory;
use raddle_protocol::shared::{Control, freeze};

/// Where the block lies: above the shadow memory of AddressSanitizer, below the stacks, where no
/// mapping of the program's is moved by it.
const PLACE: usize = 0x1080_0000_0000;
/// Bytes of the part of the block that stays writable: the structure, then the stack.
const HEAD: usize = 64 << 10;
/// Bytes of the whole: what comes behind the pages is the list of mappings.
const BYTES: usize = HEAD + memory::BYTES + size_of::<Mappings>().next_multiple_of(os::PAGE);
/// Bytes of a system call's instruction.
const CALL: i64 = 2;

const DISPATCH: usize = 59;
const OFF: usize = 0;
const ON: usize = 1;
const ALLOW: u8 = 0;
const BLOCK: u8 = 1;

/// What is not put back: it lies in memory of its own.
#[repr(C)]
struct Block {
    /// Of the thread that was cloned, with its registers on its stack.
    rsp: usize,
    fs: usize,
    /// The kernel reads it at every system call.
    selector: AtomicU8,
    /// Page faults when the memory was last as it was in the beginning.
    faults: u64,
    /// The signal mask in the beginning.
    mask: u64,
    /// How SIGSYS was handled before.
    former: raw::Action,
    control: *const Control,
    notify: c_int,
    slot: usize,
    memory: Memory,
    mappings: &'static mut Mappings,
}

/// Null unless this process is to be put back.
static AT: Serial<*mut Block> = Serial::new(core::ptr::null_mut());

/// From here on this clone is put back at its end, to return from here again. It is not where it
/// cannot be; `slot`: of the copy that it comes from.
pub fn begin(control: &Control, notify: c_int, slot: u32) {
    let mask = os::current_signal_mask();
    let blocked = mask & 1 << (libc::SIGSYS - 1) != 0;
    if raw::trap_installed() || blocked {
        return;
    }
    let Some(place) = os::map_fixed(PLACE, BYTES) else {
        return;
    };
    let block = place.cast::<Block>();
    // SAFETY: the mapping is new, and large enough; zeros are a list of mappings; only one thread
    // exists.
    unsafe {
        block.write(Block {
            rsp: 0,
            fs: 0,
            selector: AtomicU8::new(ALLOW),
            faults: 0,
            mask,
            former: raw::Action::DEFAULT,
            control,
            notify,
            slot: slot as usize % freeze::COPIES,
            memory: Memory::new(PLACE + HEAD, PLACE..PLACE + BYTES),
            mappings: &mut *place.add(HEAD + memory::BYTES).cast(),
        });
        *AT.get() = block;
        mark(block);
    }
}

/// Remembers the caller's registers and calls [`arm`]; returns again after each [`resume`].
///
/// # Safety
/// The block is written.
#[unsafe(naked)]
unsafe extern "C" fn mark(_block: *mut Block) {
    naked_asm!(
        save!(),
        "mov [rdi + {rsp}], rsp",
        "mov rax, fs:[0x10]", // the descriptor's pointer to itself
        "mov [rdi + {fs}], rax",
        "call {arm}",
        restore!(),
        rsp = const offset_of!(Block, rsp),
        fs = const offset_of!(Block, fs),
        arm = sym arm,
    )
}

/// Goes on where [`mark`] returned; memory is as it was there.
#[unsafe(naked)]
unsafe extern "C" fn resume(_block: *mut Block) -> ! {
    naked_asm!(
        "mov rsp, [rdi + {rsp}]",
        restore!(),
        rsp = const offset_of!(Block, rsp),
    )
}

/// Goes on in [`put_back`], on the block's own stack.
#[unsafe(naked)]
unsafe extern "C" fn leave(_block: *mut Block, _status: c_int) -> ! {
    naked_asm!(
        "lea rsp, [rdi + {top}]",
        "call {put_back}",
        "ud2",
        top = const HEAD,
        put_back = sym put_back,
    )
}

/// Has all system calls trapped and takes the picture of the memory.
///
/// # Safety
/// The block is written; only one thread exists.
unsafe extern "C" fn arm(block: *mut Block) {
    // SAFETY: the caller's promise; the block is not touched by anybody else meanwhile.
    unsafe {
        let block = &mut *block;
        // Huge pages would be put in place of small ones without a fault.
        os::set_huge_pages(false);
        block.former = raw::set_trap(on_call as *const () as usize);
        let (start, len) = raw::way_back();
        let selector = block.selector.as_ptr() as usize;
        let dispatched = os::syscall(libc::SYS_prctl, DISPATCH, ON, start, len, selector, 0) == 0;
        // Faults from here on have the memory looked at again at the first end.
        block.faults = os::page_faults();
        if dispatched && block.memory.picture(|mapping| block.mappings.add(mapping)) {
            block.selector.store(BLOCK, Ordering::Relaxed);
        } else {
            give_up(block);
        }
    }
}

/// From here on this process is like any other.
///
/// # Safety
/// The block is armed, and the caller is not on its stack.
unsafe fn give_up(block: &mut Block) {
    block.selector.store(ALLOW, Ordering::Relaxed);
    // SAFETY: nobody uses the block any more.
    unsafe {
        os::syscall(libc::SYS_prctl, DISPATCH, OFF, 0, 0, 0, 0);
        raw::put_trap(&block.former);
        os::set_huge_pages(true);
        *AT.get() = core::ptr::null_mut();
        os::unmap((block as *mut Block).cast(), BYTES);
    }
}

/// A system call that was trapped.
extern "C" fn on_call(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid context to an SA_SIGINFO handler; the handler is there only
    // while there is a block.
    let (registers, block) = unsafe {
        let context = &mut *context.cast::<libc::ucontext_t>();
        (&mut context.uc_mcontext.gregs, &mut **AT.get())
    };
    let number = registers[REG_RAX as usize];
    let args = [REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9]
        .map(|register| registers[register as usize] as usize);
    block.selector.store(ALLOW, Ordering::Relaxed);
    // SAFETY: the program's arguments, as the kernel would take them; the alternate stack is not
    // the block's.
    unsafe {
        if number == libc::SYS_exit_group {
            leave(block, args[0] as c_int & 0xff);
        }
        if let Some(answer) = perform(block, number, &args) {
            registers[REG_RAX as usize] = answer as i64;
            block.selector.store(BLOCK, Ordering::Relaxed);
        } else {
            give_up(block);
            // Made again, and let through.
            registers[REG_RIP as usize] -= CALL;
            registers[REG_RAX as usize] = number;
        }
    }
}

/// Performs a call, unless it leaves something that is not undone.
///
/// # Safety
/// As the call's own manual page says.
unsafe fn perform(block: &mut Block, number: i64, args: &[usize; 6]) -> Option<isize> {
    if leaves_nothing(number, args) {
        let [a, b, c, d, e, f] = *args;
        // SAFETY: the caller's promise.
        return Some(unsafe { os::syscall(number, a, b, c, d, e, f) });
    }
    let here = &raw const number as usize;
    let never = [PLACE..PLACE + BYTES, here..here + 1];
    block.mappings.perform(number, args, never)
}

/// Does this call leave nothing in the kernel but what was written to standard output and standard
/// error, which the controller empties? They are what they were before: closing them is not such a
/// call.
fn leaves_nothing(number: i64, args: &[usize; 6]) -> bool {
    let output = [libc::STDOUT_FILENO as usize, libc::STDERR_FILENO as usize];
    match number {
        libc::SYS_write | libc::SYS_writev => output.contains(&args[0]),
        libc::SYS_futex => args[1] as c_int & !libc::FUTEX_PRIVATE_FLAG == libc::FUTEX_WAKE,
        libc::SYS_clock_gettime => {
            let clock = args[0] as c_int;
            [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC].contains(&clock)
        }
        libc::SYS_prctl => args[0] as c_int == libc::PR_GET_NAME,
        // Its own memory alone, as any code reads and writes it.
        libc::SYS_process_vm_readv | libc::SYS_process_vm_writev => {
            args[0] == os::process() as usize
        }
        libc::SYS_madvise => args[2] == os::MADV_POPULATE_WRITE,
        libc::SYS_getpid
        | libc::SYS_gettid
        | libc::SYS_getppid
        | libc::SYS_getuid
        | libc::SYS_geteuid
        | libc::SYS_getgid
        | libc::SYS_getegid
        | libc::SYS_sched_yield
        | libc::SYS_sched_getaffinity
        | libc::SYS_uname
        | libc::SYS_fstat
        | libc::SYS_statfs
        | libc::SYS_fstatfs
        | libc::SYS_newfstatat => true,
        _ => false,
    }
}

/// The execution has ended: tells the controller, makes the memory as it was in the beginning, and
/// goes on from there with the next job. Runs on the block's stack.
unsafe extern "C" fn put_back(block: *mut Block, status: c_int) -> ! {
    // SAFETY: the block and the pages are mapped for ever; only this thread exists.
    unsafe {
        let block = &mut *block;
        let control = &*block.control;
        let undone = block.mappings.undo(&mut block.memory);
        let faults = os::page_faults() != block.faults;
        let look = faults || matches!(undone, Undone::New(_));
        if undone == Undone::Failed || look && !block.memory.look_again() {
            os::exit_group(status);
        }
        if let Undone::New(digest) = undone {
            block.mappings.prove(digest);
        }
        let word = &control.again[block.slot];
        let seen = word.load(Ordering::Acquire);
        control.status.store(status, Ordering::Relaxed);
        control.frozen.store(freeze::REWOUND, Ordering::Release);
        os::write(block.notify, &1u64.to_ne_bytes());
        block.memory.put_back();
        os::restore_signals(block.mask);
        block.faults = os::page_faults();
        while word.load(Ordering::Acquire) == seen {
            os::futex_wait(word, seen);
        }
        control.thawed.store(os::process(), Ordering::Release);
        const ARCH_SET_FS: usize = 0x1002;
        os::syscall(libc::SYS_arch_prctl, ARCH_SET_FS, block.fs, 0, 0, 0, 0);
        block.selector.store(BLOCK, Ordering::Relaxed);
        resume(block)
    }
}

#[cfg(test)]
mod tests {
    use super::leaves_nothing;
    use crate::os;

    #[test]
    fn calls_that_leave_something_are_not_let_pass() {
        let (futex, write) = (libc::SYS_futex, libc::SYS_write);
        let wake = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
        let wait = libc::FUTEX_WAIT as usize;
        let own = os::process() as usize;
        let table = [
            (write, [1, 0], true),
            (write, [2, 0], true),
            (write, [0, 0], false),
            (write, [3, 0], false),
            (futex, [0, wake], true),
            (futex, [0, wait], false),
            (libc::SYS_clock_gettime, [1, 0], true),
            (libc::SYS_clock_gettime, [2, 0], false),
            (libc::SYS_getpid, [0, 0], true),
            (libc::SYS_close, [1, 0], false),
            (libc::SYS_mmap, [0, 0], false),
            (libc::SYS_process_vm_readv, [own, 0], true),
            (libc::SYS_process_vm_writev, [own, 0], true),
            (libc::SYS_process_vm_readv, [1, 0], false),
            (libc::SYS_process_vm_writev, [1, 0], false),
            (libc::SYS_prctl, [libc::PR_GET_NAME as usize, 0], true),
            (libc::SYS_prctl, [libc::PR_SET_NAME as usize, 0], false),
            (libc::SYS_clone, [0, 0], false),
            (libc::SYS_rt_sigprocmask, [0, 0], false),
        ];
        for (number, [a, b], expected) in table {
            let passes = leaves_nothing(number, &[a, b, 0, 0, 0, 0]);
            assert_eq!(passes, expected, "call {number} with {a}, {b}");
        }
        for (advice, expected) in [
            (os::MADV_POPULATE_WRITE, true),
            (libc::MADV_FREE as usize, false),
        ] {
            let args = [0x1000, 0x1000, advice, 0, 0, 0];
            assert_eq!(leaves_nothing(libc::SYS_madvise, &args), expected);
        }
    }
}
