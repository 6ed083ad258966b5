//! Raw system calls: no errno, no cancellation, no C library state.

use crate::gate::{Known, LoopState};
use crate::pages::Os;
use crate::start::effects::each_line;
use core::arch::asm;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};
use raddle_protocol::outcome::STACK;
use raddle_protocol::shared::Control;
use std::io::Write;

/// Calls the kernel; the result is its own (negative: errno).
///
/// # Safety
/// As the call's own manual page says.
#[inline]
pub unsafe fn syscall(n: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let result;
    // SAFETY: the kernel clobbers rcx and r11 only; the rest is the caller's promise.
    unsafe {
        asm!("syscall", inlateout("rax") n as isize => result, in("rdi") a, in("rsi") b,
            in("rdx") c, in("r10") d, in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _,
            options(nostack));
    }
    result
}

/// Ends the process at once.
pub fn exit_group(status: i32) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall(libc::SYS_exit_group, status as usize, 0, 0, 0, 0, 0) };
    }
}

/// Writes `bytes`, as far as one call goes.
pub fn write(fd: i32, bytes: &[u8]) -> isize {
    // SAFETY: the slice is readable.
    unsafe {
        syscall(
            libc::SYS_write,
            fd as usize,
            bytes.as_ptr() as usize,
            bytes.len(),
            0,
            0,
            0,
        )
    }
}

/// Complains on standard error and ends the process: for faults before the pages are there.
pub fn die(what: &str, detail: &[u8]) -> ! {
    write(2, what.as_bytes());
    write(2, detail);
    write(2, b"\n");
    exit_group(127)
}

/// Fresh zeroed private memory; ends the process when there is none.
pub fn map_memory(len: usize) -> *mut u8 {
    map(libc::MAP_PRIVATE | libc::MAP_NORESERVE, len)
}

fn map(flags: i32, len: usize) -> *mut u8 {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (flags | libc::MAP_ANONYMOUS) as usize;
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let address = unsafe { syscall(libc::SYS_mmap, 0, len, protection, flags, usize::MAX, 0) };
    if address < 0 {
        die("raddle: out of memory", b"");
    }
    address as *mut u8
}

/// As [`map_memory`], shared with the processes that are cloned from this one.
pub fn map_shared_memory(len: usize) -> *mut u8 {
    map(libc::MAP_SHARED, len)
}

/// Gives back what [`map_memory`] gave.
pub fn unmap(address: *mut u8, len: usize) {
    // SAFETY: the caller gives up the whole mapping.
    unsafe { syscall(libc::SYS_munmap, address as usize, len, 0, 0, 0, 0) };
}

/// Gives back the private memory in a range, holes included; it reads as zero afterwards.
pub fn forget_memory(address: usize, len: usize) {
    let advice = libc::MADV_DONTNEED as usize;
    // SAFETY: nobody needs the content any more, which is the caller's promise.
    unsafe { syscall(libc::SYS_madvise, address, len, advice, 0, 0, 0) };
}

/// The number of the event counter that this descriptor leads to, 0 where the kernel gives them none;
/// `None`: it leads to none.
fn event_counter(fd: i32) -> Option<u64> {
    let mut path = [0u8; 32];
    let mut rest = &mut path[..];
    write!(rest, "/proc/self/fdinfo/{fd}\0").ok()?;
    let mut number = None;
    each_line(CStr::from_bytes_until_nul(&path).ok()?, |line| {
        if line.starts_with(b"eventfd-count:") {
            number = number.or(Some(0));
        }
        if let Some(rest) = line.strip_prefix(b"eventfd-id:") {
            let text = core::str::from_utf8(rest).ok();
            number = text.and_then(|text| text.trim().parse().ok());
        }
    })?;
    number
}

/// How the runtime reaches the controller.
pub struct Kernel {
    notify: i32,
    /// See [`event_counter`].
    counter: Option<u64>,
}

impl Kernel {
    /// Not connected.
    pub const fn new() -> Kernel {
        Kernel {
            notify: -1,
            counter: None,
        }
    }

    /// Uses this eventfd.
    pub fn set_notify(&mut self, fd: i32) {
        self.notify = fd;
        self.counter = event_counter(fd);
    }

    /// The controller's eventfd, unless the program has closed it, or put something else in its place.
    fn controller(&self) -> Option<i32> {
        let counter = event_counter(self.notify);
        (counter.is_some() && counter == self.counter).then_some(self.notify)
    }
}

impl Os for Kernel {
    fn drain(&mut self, control: &Control) -> bool {
        let Some(notify) = self.controller() else {
            return false;
        };
        let before = control.drains.load(Ordering::Acquire);
        control.drain_wanted.store(1, Ordering::Release);
        if write(notify, &1u64.to_ne_bytes()) != 8 {
            return false;
        }
        while control.drains.load(Ordering::Acquire) == before {
            futex_wait(&control.drains, before);
        }
        true
    }

    fn freeze(&mut self, control: &Control, slot: u32, state: u32) -> bool {
        crate::start::freeze(control, self.controller(), slot, state)
    }

    fn stack(&mut self, into: &mut [usize; STACK]) -> usize {
        // SAFETY: the buffer holds STACK pointers; the unwinder was loaded at the start.
        let walk = || unsafe { backtrace(into.as_mut_ptr().cast(), STACK as i32) as usize };
        crate::gate::passively(walk)
    }

    fn state(&mut self, pc: usize, known: Known) -> Option<LoopState> {
        crate::gate::passively(|| crate::gate::capture(pc, known))
    }

    fn rest(&mut self, ns: u64) -> bool {
        rest(ns);
        crate::process::any_alive()
    }

    fn has_children(&mut self) -> bool {
        crate::process::has_children() && crate::process::any_alive()
    }

    fn signalled(&mut self) -> bool {
        crate::signals::have_arrived()
    }

    fn expect_signal(&mut self) {
        crate::signals::expect();
    }
}

/// Lets so many nanoseconds of real time pass, fewer when a signal comes.
pub fn rest(ns: u64) {
    let time = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    let at = &raw const time as usize;
    // SAFETY: the kernel reads the structure.
    unsafe { syscall(libc::SYS_nanosleep, at, 0, 0, 0, 0, 0) };
}

unsafe extern "C" {
    fn backtrace(buffer: *mut *mut core::ffi::c_void, size: i32) -> i32;
}

/// Waits until the word is no longer `value` or somebody wakes it; may return early. Works across
/// processes.
pub fn futex_wait(word: &AtomicU32, value: u32) {
    let address = word.as_ptr() as usize;
    // SAFETY: the word is alive.
    unsafe {
        syscall(
            libc::SYS_futex,
            address,
            libc::FUTEX_WAIT as usize,
            value as usize,
            0,
            0,
            0,
        )
    };
}

/// Wakes one waiter.
pub fn futex_wake(word: &AtomicU32) {
    let address = word.as_ptr() as usize;
    // SAFETY: the word is alive.
    unsafe {
        syscall(
            libc::SYS_futex,
            address,
            libc::FUTEX_WAKE as usize,
            1,
            0,
            0,
            0,
        )
    };
}

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Fresh zeroed private memory at exactly this address; `None` if something is there.
pub fn map_fixed(address: usize, len: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE
        | libc::MAP_ANONYMOUS
        | libc::MAP_NORESERVE
        | libc::MAP_STACK
        | libc::MAP_FIXED_NOREPLACE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    map_at(address, len, protection, flags).then_some(address as *mut u8)
}

/// Maps memory at exactly this place; false: it is not there. `flags`: either nothing else may be
/// there, or its content is of no more use.
pub fn map_at(address: usize, len: usize, protection: libc::c_int, flags: libc::c_int) -> bool {
    let (protection, flags) = (protection as usize, flags as usize);
    // SAFETY: replaces nothing that is needed, which is the caller's promise.
    let got = unsafe {
        syscall(
            libc::SYS_mmap,
            address,
            len,
            protection,
            flags,
            usize::MAX,
            0,
        )
    };
    got as usize == address
}

/// Ends the calling kernel thread only.
pub fn exit_thread() -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { syscall(libc::SYS_exit, 0, 0, 0, 0, 0, 0) };
    }
}

/// Blocks every signal, the C library's own included; returns the former mask.
pub fn block_signals() -> u64 {
    signal_mask(u64::MAX)
}

/// Sets the mask that [`block_signals`] returned.
pub fn restore_signals(mask: u64) {
    signal_mask(mask);
}

/// The calling kernel thread's mask.
pub fn current_signal_mask() -> u64 {
    let mut mask = 0u64;
    // SAFETY: asks only, and the kernel writes eight bytes.
    unsafe {
        syscall(
            libc::SYS_rt_sigprocmask,
            0,
            0,
            &raw mut mask as usize,
            8,
            0,
            0,
        )
    };
    mask
}

fn signal_mask(mask: u64) -> u64 {
    let mut former = 0u64;
    let (new, old) = (&raw const mask as usize, &raw mut former as usize);
    // SAFETY: both point to eight bytes.
    unsafe {
        let how = libc::SIG_SETMASK as usize;
        syscall(libc::SYS_rt_sigprocmask, how, new, old, 8, 0, 0)
    };
    former
}

/// Keeps the calling thread, and the threads it makes, on the core where it runs.
pub fn pin_to_one_core() {
    let mut cpu = 0u32;
    let mut mask = [0u64; 128];
    // SAFETY: the buffers are as large as said.
    unsafe {
        syscall(libc::SYS_getcpu, &raw mut cpu as usize, 0, 0, 0, 0, 0);
        mask[cpu as usize / 64 % 128] = 1 << (cpu % 64);
        syscall(
            libc::SYS_sched_setaffinity,
            0,
            size_of_val(&mask),
            mask.as_ptr() as usize,
            0,
            0,
            0,
        );
    }
}

/// The calling process's id.
pub fn process() -> i32 {
    // SAFETY: no memory is involved.
    unsafe { syscall(libc::SYS_getpid, 0, 0, 0, 0, 0, 0) as i32 }
}

/// Its parent's.
pub fn parent() -> i32 {
    // SAFETY: no memory is involved.
    unsafe { syscall(libc::SYS_getppid, 0, 0, 0, 0, 0, 0) as i32 }
}

/// The calling kernel thread's id.
pub fn thread_id() -> i32 {
    // SAFETY: no memory is involved.
    unsafe { syscall(libc::SYS_gettid, 0, 0, 0, 0, 0, 0) as i32 }
}

/// Closes a descriptor.
pub fn close(fd: i32) {
    // SAFETY: the caller owns it.
    unsafe { syscall(libc::SYS_close, fd as usize, 0, 0, 0, 0, 0) };
}

/// Maps a shared file; ends the process if that fails.
pub fn map_shared(fd: i32, len: usize) -> *mut u8 {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: a new mapping.
    let address = unsafe {
        syscall(
            libc::SYS_mmap,
            0,
            len,
            protection,
            libc::MAP_SHARED as usize,
            fd as usize,
            0,
        )
    };
    if address < 0 {
        die("raddle: the shared pages cannot be mapped", b"");
    }
    address as *mut u8
}

/// The next byte of a descriptor; `None` at its end.
pub fn read_byte(fd: i32) -> Option<u8> {
    let mut byte = 0u8;
    loop {
        let to = &raw mut byte as usize;
        // SAFETY: one byte of room.
        match unsafe { syscall(libc::SYS_read, fd as usize, to, 1, 0, 0, 0) } {
            1 => return Some(byte),
            n if n == -(libc::EINTR as isize) => {}
            _ => return None,
        }
    }
}

/// Copies the process, as a child of its parent; 0 in the copy, else its id or minus an errno.
pub fn clone_sibling() -> isize {
    let flags = (libc::CLONE_PARENT | libc::SIGCHLD) as usize;
    // SAFETY: without CLONE_VM the copy has its own memory and the same stack.
    unsafe { syscall(libc::SYS_clone, flags, 0, 0, 0, 0, 0) }
}

/// Makes the process the leader of a group of its own.
pub fn lead_group() {
    // SAFETY: no memory is involved.
    unsafe { syscall(libc::SYS_setpgid, 0, 0, 0, 0, 0, 0) };
}

/// SIGKILL when the parent dies.
pub fn die_with_parent() {
    // SAFETY: no memory is involved.
    unsafe {
        let option = libc::PR_SET_PDEATHSIG as usize;
        syscall(libc::SYS_prctl, option, libc::SIGKILL as usize, 0, 0, 0, 0)
    };
}

/// The last bytes of a regular file, as many as fit; 0: there are none, or it cannot be read.
pub fn read_end(fd: i32, into: &mut [u8]) -> usize {
    let Some(size) = file_size(fd) else {
        return 0;
    };
    let len = into.len().min(size as usize);
    let at = size as usize - len;
    // SAFETY: the slice is writable.
    let got = unsafe {
        let to = into.as_mut_ptr() as usize;
        syscall(libc::SYS_pread64, fd as usize, to, len, at, 0, 0)
    };
    got.max(0) as usize
}

/// As the C library's function, without its help.
///
/// # Safety
/// `into` is writable.
pub unsafe extern "C-unwind" fn clock_gettime(
    clock: libc::clockid_t,
    into: *mut libc::timespec,
) -> libc::c_int {
    let (clock, into) = (clock as usize, into as usize);
    // SAFETY: the caller's promise.
    unsafe { syscall(libc::SYS_clock_gettime, clock, into, 0, 0, 0, 0) as i32 }
}

/// Opens a file for reading; negative: an errno.
pub fn open(path: &core::ffi::CStr) -> i32 {
    let (at, flags) = (
        libc::AT_FDCWD as usize,
        (libc::O_RDONLY | libc::O_CLOEXEC) as usize,
    );
    // SAFETY: the path ends with a NUL.
    unsafe { syscall(libc::SYS_openat, at, path.as_ptr() as usize, flags, 0, 0, 0) as i32 }
}

/// Reads as far as one call goes; negative: an errno.
pub fn read(fd: i32, into: &mut [u8]) -> isize {
    let (to, len) = (into.as_mut_ptr() as usize, into.len());
    // SAFETY: the slice is writable.
    unsafe { syscall(libc::SYS_read, fd as usize, to, len, 0, 0, 0) }
}

/// Fills `into` from an offset of a file, in bytes; false if that fails.
pub fn read_words(fd: i32, into: &mut [u64], offset: usize) -> bool {
    let (to, len) = (into.as_mut_ptr() as usize, size_of_val(into));
    // SAFETY: the slice is writable.
    let got = unsafe { syscall(libc::SYS_pread64, fd as usize, to, len, offset, 0, 0) };
    got == len as isize
}

/// Asks the kernel which pages of a range are present or swapped out (`PAGEMAP_SCAN`, Linux 6.7):
/// `found` takes ranges, as first address and one past the last. How many there are, and where to go
/// on; `None`: the kernel does not say.
pub fn scan_pages(
    pagemap: i32,
    range: core::ops::Range<usize>,
    found: &mut [[u64; 3]],
) -> Option<(usize, usize)> {
    const PAGEMAP_SCAN: usize = 0xc060_6610;
    const PRESENT_OR_SWAPPED: u64 = 1 << 3 | 1 << 4;
    const SIZE: u64 = size_of::<[u64; 12]>() as u64;
    let (start, end) = (range.start as u64, range.end as u64);
    let (at, len) = (found.as_mut_ptr() as u64, found.len() as u64);
    // Size, flags, start, end, where the walk ended, result, its length, most pages; categories:
    // inverted, all of, any of, to be returned.
    let any = PRESENT_OR_SWAPPED;
    let mut query = [SIZE, 0, start, end, 0, at, len, 0, 0, 0, any, any];
    let query_at = query.as_mut_ptr() as usize;
    // SAFETY: the kernel writes to the query and to `found`.
    let count = unsafe {
        syscall(
            libc::SYS_ioctl,
            pagemap as usize,
            PAGEMAP_SCAN,
            query_at,
            0,
            0,
            0,
        )
    };
    let count = usize::try_from(count).ok()?;
    Some((count, query[4] as usize))
}

/// How many page faults this process has had.
pub fn page_faults() -> u64 {
    // SAFETY: zeros are a valid content, and the structure is large enough.
    unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        let at = &raw mut usage as usize;
        syscall(
            libc::SYS_getrusage,
            libc::RUSAGE_SELF as usize,
            at,
            0,
            0,
            0,
            0,
        );
        (usage.ru_minflt + usage.ru_majflt) as u64
    }
}

/// May the kernel use huge pages for this process?
pub fn set_huge_pages(allowed: bool) {
    let option = libc::PR_SET_THP_DISABLE as usize;
    // SAFETY: no memory is involved.
    unsafe { syscall(libc::SYS_prctl, option, usize::from(!allowed), 0, 0, 0, 0) };
}

/// Changes what may be done with a range of pages; false: it cannot be.
pub fn set_protection(address: usize, len: usize, protection: libc::c_int) -> bool {
    let protection = protection as usize;
    // SAFETY: the caller's own memory.
    unsafe { syscall(libc::SYS_mprotect, address, len, protection, 0, 0, 0) == 0 }
}

/// Copies a page, without help from anybody.
///
/// # Safety
/// Both pages are mapped, `to` is writable, and they are not the same.
pub unsafe fn copy_page(from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("rep movsq", inout("rcx") PAGE / 8 => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags));
    }
}

/// Copies memory that may not be readable; false: it is not.
pub fn try_read(from: usize, to: &mut [u8]) -> bool {
    let (here, there) = ([to.as_mut_ptr() as usize, to.len()], [from, to.len()]);
    let (here, there) = (here.as_ptr() as usize, there.as_ptr() as usize);
    let call = libc::SYS_process_vm_readv;
    // SAFETY: `to` can be written; the kernel checks the other memory.
    let copied = unsafe { syscall(call, process() as usize, here, 1, there, 1, 0) };
    copied == to.len() as isize
}

/// Makes pages as a write to each would, or fails where one cannot be written; since Linux 5.14.
pub const MADV_POPULATE_WRITE: usize = 23;

/// Copies into memory that may not be writable; false: it is not.
///
/// # Safety
/// Nobody has a reference to what is written.
pub unsafe fn try_write(to: usize, from: &[u8]) -> bool {
    let (here, there) = ([from.as_ptr() as usize, from.len()], [to, from.len()]);
    let (here, there) = (here.as_ptr() as usize, there.as_ptr() as usize);
    let call = libc::SYS_process_vm_writev;
    // SAFETY: the caller's promise; the kernel checks the memory.
    let copied = unsafe { syscall(call, process() as usize, here, 1, there, 1, 0) };
    copied == from.len() as isize
}

/// Copies a page that may not be readable; false: it is not.
///
/// # Safety
/// `to` is a writable page, and nobody has a reference to it.
pub unsafe fn try_copy_page(from: usize, to: usize) -> bool {
    // SAFETY: the caller's promise.
    try_read(from, unsafe {
        core::slice::from_raw_parts_mut(to as *mut u8, PAGE)
    })
}

/// Fills a page with zeros, without help from anybody.
///
/// # Safety
/// The page is mapped and writable.
pub unsafe fn clear_page(at: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("rep stosq", inout("rcx") PAGE / 8 => _, inout("rdi") at => _, in("rax") 0,
            options(nostack, preserves_flags));
    }
}

/// Bytes in a regular file; `None` if it is none.
pub fn file_size(fd: i32) -> Option<u64> {
    // SAFETY: the structure is large enough; zero is a valid content.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let failed = syscall(
            libc::SYS_fstat,
            fd as usize,
            &raw mut stat as usize,
            0,
            0,
            0,
            0,
        ) != 0;
        (!failed && stat.st_mode & libc::S_IFMT == libc::S_IFREG).then_some(stat.st_size as u64)
    }
}

/// Is it an open descriptor?
pub fn is_open(fd: i32) -> bool {
    let get = libc::F_GETFD as usize;
    // SAFETY: no memory is involved.
    unsafe { syscall(libc::SYS_fcntl, fd as usize, get, 0, 0, 0, 0) >= 0 }
}

/// Loads what the C library would load on the first use of its unwinder.
pub fn prime() {
    let mut frames = [core::ptr::null_mut(); 4];
    // SAFETY: the buffer is as large as said.
    unsafe { backtrace(frames.as_mut_ptr(), 4) };
}
