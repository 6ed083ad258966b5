//! Kernel threads that stand in for fibers where the kernel is asked about one: they wait until the
//! fiber has ended, with all signals blocked. A fiber gets one at the first such question.

use crate::serial::Serial;
use crate::slots::PerSlot;
use crate::start::effects;
use crate::{os, substrate};
use core::arch::naked_asm;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::pid_t;
use raddle_protocol::Slot;

/// The kernel's number of each thread's own kernel thread, or stand-in; 0: none yet.
static NUMBERS: Serial<PerSlot<u64>> = Serial::new(PerSlot::new());
/// The word at which each stand-in waits, in [`WORDS`]; 0: it has no stand-in.
static PLACES: Serial<PerSlot<u64>> = Serial::new(PerSlot::new());
/// Has any thread a number of its own?
static ANY: Serial<bool> = Serial::new(false);

fn tables() -> (&'static mut PerSlot<u64>, &'static mut PerSlot<u64>) {
    // SAFETY: the running thread; not kept over a switch.
    unsafe {
        let (numbers, places) = (NUMBERS.get(), PLACES.get());
        numbers.map();
        places.map();
        *ANY.get() = true;
        (numbers, places)
    }
}

/// The running thread has a kernel thread of its own (`--threads kernel`).
pub fn begins(thread: Slot) {
    if substrate::kernel_threads() {
        tables().0[thread] = os::thread_id() as u64;
    }
}

/// The number of the kernel thread, or stand-in, that `thread` has got already.
pub fn given(thread: Slot) -> Option<pid_t> {
    // SAFETY: a plain flag.
    if !unsafe { *ANY.get() } {
        return None;
    }
    match tables().0[thread] {
        0 => None,
        number => Some(number as pid_t),
    }
}

/// The kernel's number of a kernel thread that is `thread`'s alone; the running one's where none
/// can be had.
pub fn number(thread: Slot) -> pid_t {
    given(thread).unwrap_or_else(|| match substrate::kernel_threads() {
        true => os::thread_id(),
        false => make(thread).unwrap_or_else(os::thread_id),
    })
}

/// `child` begins with what was set for `parent`, which had to be set for a kernel thread.
pub fn inherit(parent: Slot, child: Slot) {
    if substrate::kernel_threads() {
        return;
    }
    if let Some(from) = given(parent) {
        let to = number(child);
        copy(from, to);
    }
}

/// Gives one kernel thread the settings of another.
fn copy(from: pid_t, to: pid_t) {
    let (from, to) = (from as usize, to as usize);
    // A `struct sched_attr` of 56 bytes, whose first word is its size; a set of 8192 processors.
    let (mut attributes, mut set) = ([0u32; 14], [0u64; 128]);
    const THREAD: usize = 1;
    // SAFETY: the buffers are as large as said.
    unsafe {
        let at = attributes.as_mut_ptr() as usize;
        let bytes = size_of_val(&attributes);
        os::syscall(libc::SYS_sched_getattr, from, at, bytes, 0, 0, 0);
        os::syscall(libc::SYS_sched_setattr, to, at, 0, 0, 0, 0);
        let (at, bytes) = (set.as_mut_ptr() as usize, size_of_val(&set));
        let got = os::syscall(libc::SYS_sched_getaffinity, from, bytes, at, 0, 0, 0);
        if got > 0 {
            os::syscall(libc::SYS_sched_setaffinity, to, got as usize, at, 0, 0, 0);
        }
        let class = os::syscall(libc::SYS_ioprio_get, THREAD, from, 0, 0, 0, 0);
        if class > 0 {
            os::syscall(libc::SYS_ioprio_set, THREAD, to, class as usize, 0, 0, 0);
        }
    }
}

/// `thread` ends: its stand-in does, too.
pub fn ended(thread: Slot) {
    if given(thread).is_none() {
        return;
    }
    let (numbers, places) = tables();
    numbers[thread] = 0;
    let place = core::mem::replace(&mut places[thread], 0);
    if place != 0 {
        // SAFETY: the word lives for ever.
        let word = unsafe { &*(place as *const AtomicU32) };
        word.store(1, Ordering::Release);
        os::futex_wake(word);
    }
}

fn make(thread: Slot) -> Option<pid_t> {
    // Copies of this process would not have it.
    effects::note();
    let word = os::map_memory(os::PAGE);
    let mask = os::block_signals();
    // SAFETY: the new kernel thread touches nothing but the word, which is never unmapped.
    let number = unsafe { start(word.cast()) };
    os::restore_signals(mask);
    if number <= 0 {
        os::unmap(word, os::PAGE);
        return None;
    }
    let (numbers, places) = tables();
    numbers[thread] = number as u64;
    places[thread] = word as u64;
    crate::threads::settings::settle(thread, number as pid_t);
    Some(number as pid_t)
}

/// Makes a kernel thread of this process that waits until the word is not 0; its number, or a
/// negative errno. It needs no stack.
///
/// # Safety
/// The word stays mapped; all signals are blocked.
#[unsafe(naked)]
unsafe extern "C" fn start(_word: *mut u32) -> isize {
    const FLAGS: i32 = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM;
    naked_asm!(
        "push rbx",
        "mov rbx, rdi",
        "mov edi, {flags}",
        "mov rsi, rsp",
        "xor edx, edx",
        "xor r10d, r10d",
        "xor r8d, r8d",
        "mov eax, {clone}",
        "syscall",
        "test rax, rax",
        "jz 2f",
        "pop rbx",
        "ret",
        "2:",
        "mov rdi, rbx",
        "mov esi, {wait}",
        "xor edx, edx",
        "xor r10d, r10d",
        "mov eax, {futex}",
        "syscall",
        "cmp dword ptr [rbx], 0",
        "je 2b",
        "xor edi, edi",
        "mov eax, {exit}",
        "syscall",
        "ud2",
        flags = const FLAGS,
        clone = const libc::SYS_clone,
        wait = const libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
        futex = const libc::SYS_futex,
        exit = const libc::SYS_exit,
    )
}
