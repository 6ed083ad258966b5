//! The sets of `select`.

use crate::os::syscall;
use core::ffi::c_int;
use libc::fd_set;

const BITS: usize = 64;
/// Words of a set.
const WORDS: usize = size_of::<fd_set>() / size_of::<u64>();

/// The descriptors below `count` that are in any set, in order.
///
/// # Safety
/// The sets are null or hold `count` descriptors; so for all functions here.
pub unsafe fn members(count: c_int, sets: [*const fd_set; 3]) -> impl Iterator<Item = c_int> {
    (0..count.clamp(0, (WORDS * BITS) as c_int)).filter(move |&fd| {
        let (word, bit) = (fd as usize / BITS, fd as usize % BITS);
        // SAFETY: within the set.
        let holds =
            |set: &*const fd_set| unsafe { set.cast::<u64>().add(word).read() >> bit & 1 != 0 };
        sets.iter().any(|set| !set.is_null() && holds(set))
    })
}

/// `select` without waiting: fills the sets in.
///
/// # Safety
/// See [`members`].
pub unsafe fn now(count: c_int, sets: [*mut fd_set; 3]) -> isize {
    let mut zero = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let [read, write, except] = sets.map(|set| set as usize);
    let limit = &raw mut zero as usize;
    // SAFETY: the caller's promise.
    unsafe {
        syscall(
            libc::SYS_select,
            count as usize,
            read,
            write,
            except,
            limit,
            0,
        )
    }
}

/// Would [`now`] find anything (or fail)? The sets stay as they are.
///
/// # Safety
/// See [`members`].
pub unsafe fn any(count: c_int, sets: [*const fd_set; 3]) -> bool {
    // SAFETY: the copies are as large as the kernel may write.
    unsafe {
        let mut copies: [fd_set; 3] = core::mem::zeroed();
        let mut pointers = [core::ptr::null_mut(); 3];
        for ((set, copy), pointer) in sets.iter().zip(&mut copies).zip(&mut pointers) {
            if !set.is_null() {
                let bytes = (count.clamp(0, (WORDS * BITS) as c_int) as usize).div_ceil(BITS) * 8;
                core::ptr::copy_nonoverlapping(set.cast::<u8>(), (&raw mut *copy).cast(), bytes);
                *pointer = &raw mut *copy;
            }
        }
        now(count, pointers) != 0
    }
}
