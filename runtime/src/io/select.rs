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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_all_sets_in_order() {
        // SAFETY: the sets are as large as libc says; descriptors below 1024.
        unsafe {
            let mut sets: [fd_set; 2] = core::mem::zeroed();
            for fd in [3, 64, 1023] {
                libc::FD_SET(fd, &mut sets[0]);
            }
            libc::FD_SET(5, &mut sets[1]);
            let pointers = [&raw const sets[0], core::ptr::null(), &raw const sets[1]];
            for (count, expected) in [
                (1024, &[3, 5, 64, 1023][..]),
                (65, &[3, 5, 64]),
                (4, &[3]),
                (0, &[]),
                (-1, &[]),
                (9999, &[3, 5, 64, 1023]),
            ] {
                let found: Vec<c_int> = members(count, pointers).collect();
                assert_eq!(found, expected, "{count}");
            }
        }
    }

    #[test]
    fn what_is_ready_is_found_and_the_question_stays() {
        // SAFETY: our own pipe and set.
        unsafe {
            let mut ends = [0; 2];
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let mut set: fd_set = core::mem::zeroed();
            libc::FD_SET(ends[0], &mut set);
            let (count, sets) = (
                ends[0] + 1,
                [&raw const set, core::ptr::null(), core::ptr::null()],
            );
            assert!(!any(count, sets));
            assert_eq!(libc::write(ends[1], b"x".as_ptr().cast(), 1), 1);
            assert!(any(count, sets) && libc::FD_ISSET(ends[0], &set));
            libc::close(ends[0]);
            libc::close(ends[1]);
        }
    }
}
