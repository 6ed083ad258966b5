//! The accesses themselves. They are truly atomic, because a process that is not controlled has
//! parallel threads.
#![allow(
    clippy::useless_conversion,
    reason = "the same text serves four widths, and one of them is u64 already"
)]

use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};
pub use raddle_protocol::update::{Update, cut};

/// A C11 order.
pub fn order(code: u32) -> Ordering {
    match code {
        0 => Relaxed,
        1 | 2 => Acquire,
        3 => Release,
        4 => AcqRel,
        _ => SeqCst,
    }
}

/// The order of a fence; relaxed ones do not exist.
pub fn fence_order(code: u32) -> Ordering {
    match order(code) {
        Relaxed => Acquire,
        other => other,
    }
}

macro_rules! sized {
    ($at:ident, $size:ident, |$cell:ident, $ty:ident| $body:expr) => {
        match $size {
            1 => {
                type $ty = u8;
                // SAFETY: the caller's promise; one byte is always aligned.
                let $cell = unsafe { AtomicU8::from_ptr($at as *mut u8) };
                $body
            }
            2 => {
                type $ty = u16;
                // SAFETY: the caller's promise.
                let $cell = unsafe { AtomicU16::from_ptr($at as *mut u16) };
                $body
            }
            4 => {
                type $ty = u32;
                // SAFETY: the caller's promise.
                let $cell = unsafe { AtomicU32::from_ptr($at as *mut u32) };
                $body
            }
            _ => {
                type $ty = u64;
                // SAFETY: the caller's promise.
                let $cell = unsafe { AtomicU64::from_ptr($at as *mut u64) };
                $body
            }
        }
    };
}

/// Reads `size` bytes.
///
/// # Safety
/// They are readable, and `at` is a multiple of `size`.
pub unsafe fn load(at: u64, size: u32, order: Ordering) -> u64 {
    let order = match order {
        Release | AcqRel => SeqCst,
        order => order,
    };
    sized!(at, size, |cell, _Int| u64::from(cell.load(order)))
}

/// Writes `size` bytes.
///
/// # Safety
/// They are writable, and `at` is a multiple of `size`.
pub unsafe fn store(at: u64, value: u64, size: u32, order: Ordering) {
    let order = match order {
        Acquire | AcqRel => SeqCst,
        order => order,
    };
    sized!(at, size, |cell, Int| cell.store(value as Int, order))
}

/// Updates `size` bytes; the old and the new content.
///
/// # Safety
/// They are writable, and `at` is a multiple of `size`.
pub unsafe fn update(at: u64, operand: u64, update: Update, size: u32) -> (u64, u64) {
    sized!(at, size, |cell, Int| {
        let mut old = cell.load(Relaxed);
        loop {
            let new = update.apply(u64::from(old), operand, size);
            match cell.compare_exchange_weak(old, new as Int, SeqCst, Relaxed) {
                Ok(_) => return (u64::from(old), new),
                Err(found) => old = found,
            }
        }
    })
}

/// Writes `new` if the content is `expected`; the old content and the content afterwards.
///
/// # Safety
/// As [`update`].
pub unsafe fn compare_exchange(at: u64, expected: u64, new: u64, size: u32) -> (u64, u64) {
    sized!(at, size, |cell, Int| {
        match cell.compare_exchange(expected as Int, new as Int, SeqCst, SeqCst) {
            Ok(old) => (u64::from(old), cut(new, size)),
            Err(old) => (u64::from(old), u64::from(old)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::hooks::rmw;

    #[test]
    fn updates() {
        let table: &[(u32, u64, u64, u32, u64)] = &[
            (rmw::XCHG, 1, 0x1ff, 1, 0xff),
            (rmw::ADD, 0xff, 1, 1, 0),
            (rmw::ADD, u64::MAX, 2, 8, 1),
            (rmw::SUB, 0, 1, 4, 0xffff_ffff),
            (rmw::AND, 0xc, 0xa, 2, 8),
            (rmw::NAND, 0xc, 0xa, 2, 0xfff7),
            (rmw::OR, 0xc, 0xa, 2, 0xe),
            (rmw::XOR, 0xc, 0xa, 2, 6),
            (rmw::MAX, 0xff, 1, 1, 1),
            (rmw::MIN, 0xff, 1, 1, 0xff),
            (rmw::UMAX, 0xff, 1, 1, 0xff),
            (rmw::UMIN, 0xff, 1, 1, 1),
            (rmw::MAX, 1 << 63, 5, 8, 5),
        ];
        for &(op, old, operand, size, new) in table {
            let mut cell = old;
            let at = &raw mut cell as u64;
            // SAFETY: `cell` is ours.
            let (found, written) = unsafe { update(at, operand, Update::from_code(op), size) };
            assert_eq!((found, written), (cut(old, size), new), "{op}");
            // SAFETY: as above.
            assert_eq!(unsafe { load(at, size, order(5)) }, new, "{op}");
        }
    }

    #[test]
    fn compare_and_exchange() {
        for (content, expected, new, size, result) in [
            (7u64, 7u64, 9u64, 4, (7, 9)),
            (7, 8, 9, 4, (7, 7)),
            (0x1_0007, 7, 0x3_0009, 2, (7, 9)),
        ] {
            let mut cell = content;
            // SAFETY: `cell` is ours.
            let got = unsafe { compare_exchange(&raw mut cell as u64, expected, new, size) };
            assert_eq!(got, result);
        }
    }
}
