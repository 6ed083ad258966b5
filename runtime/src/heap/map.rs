//! Address space for arenas.

use crate::os;
use libc::{
    MADV_DONTNEED, MADV_NOHUGEPAGE, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE, MAP_NORESERVE, MAP_PRIVATE,
    PROT_NONE, PROT_READ, PROT_WRITE,
};

const PAGE: usize = 4096;

/// The next multiple of the page size.
pub fn page_up(address: usize) -> usize {
    address.next_multiple_of(PAGE)
}

/// A system call on an address range. Its failure changes nothing.
///
/// # Safety
/// As the call's own manual page says.
unsafe fn call(number: i64, at: usize, len: usize, how: i32) {
    // SAFETY: by the contract above.
    unsafe { os::syscall(number, at, len, how as usize, 0, 0, 0) };
}

/// Maps zeroed memory at exactly `at`; `false` when the system has none or the place is taken.
pub fn reserve(at: usize, len: usize) -> bool {
    let kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE harms no existing mapping.
    let got = unsafe {
        let access = (PROT_READ | PROT_WRITE) as usize;
        os::syscall(
            libc::SYS_mmap,
            at,
            len,
            access,
            kind as usize,
            usize::MAX,
            0,
        )
    };
    if got != at as isize {
        return false;
    }
    // An execution touches a few pages of an arena; clearing 2 MiB for each would cost more than
    // the rest of it.
    // SAFETY: the range was just mapped.
    unsafe { call(libc::SYS_madvise, at, len, MADV_NOHUGEPAGE) };
    true
}

/// Gives the pages back to the system and makes the range inaccessible.
///
/// # Safety
/// The range is page-aligned, the arena's own, and its content is of no more use.
pub unsafe fn retire(at: usize, len: usize) {
    // SAFETY: by the contract above. Failure leaves the memory accessible, which is harmless.
    unsafe {
        call(libc::SYS_madvise, at, len, MADV_DONTNEED);
        call(libc::SYS_mprotect, at, len, PROT_NONE);
    }
}

/// Undoes [`retire`]; the content is zero.
pub fn restore(at: usize, len: usize) {
    // SAFETY: the range was retired, so it is the arena's own.
    unsafe { call(libc::SYS_mprotect, at, len, PROT_READ | PROT_WRITE) };
}
