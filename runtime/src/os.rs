//! Raw system calls: no errno, no cancellation, no C library state.

use core::arch::asm;

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
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let address = unsafe {
        syscall(
            libc::SYS_mmap,
            0,
            len,
            (libc::PROT_READ | libc::PROT_WRITE) as usize,
            (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize,
            usize::MAX,
            0,
        )
    };
    if address < 0 {
        die("raddle: out of memory", b"");
    }
    address as *mut u8
}

/// Gives back what [`map_memory`] gave.
pub fn unmap(address: *mut u8, len: usize) {
    // SAFETY: the caller gives up the whole mapping.
    unsafe { syscall(libc::SYS_munmap, address as usize, len, 0, 0, 0, 0) };
}
