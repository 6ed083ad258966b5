//! Atomics of sixteen bytes, by `cmpxchg16b`.
//!
//! Their arguments take more than one register each, so the caller's address goes round by a
//! variable: it is read before anybody else can run.

use super::atomic::plain_order;
use crate::access::released;
use crate::access::wide::{Turn, Wide};
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};
use raddle_protocol::event::Kind;

type Address = *mut c_void;

/// Return address of the call under way. Controlled threads run one at a time; others do not use
/// it.
static CALLER: AtomicUsize = AtomicUsize::new(0);

macro_rules! wide {
    ($(fn $name:ident($($ty:ty),*) $(-> $ret:ty)? = $imp:path;)*) => {$(
        const _: unsafe extern "C-unwind" fn($($ty),*) $(-> $ret)? = $imp;

        #[cfg(not(test))]
        const _: () = {
            /// See `sanitizer/tsan_interface_atomic.h`.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    "mov rax, [rsp]",
                    "mov [rip + {caller}], rax",
                    "jmp {imp}",
                    caller = sym CALLER,
                    imp = sym $imp,
                )
            }
        };
    )*};
}

wide! {
    fn __tsan_atomic128_load(Address, u32) -> u128 = load;
    fn __tsan_atomic128_store(Address, u128, u32) = store;
    fn __tsan_atomic128_exchange(Address, u128, u32) -> u128 = exchange;
    fn __tsan_atomic128_fetch_add(Address, u128, u32) -> u128 = fetch_add;
    fn __tsan_atomic128_fetch_sub(Address, u128, u32) -> u128 = fetch_sub;
    fn __tsan_atomic128_fetch_and(Address, u128, u32) -> u128 = fetch_and;
    fn __tsan_atomic128_fetch_or(Address, u128, u32) -> u128 = fetch_or;
    fn __tsan_atomic128_fetch_xor(Address, u128, u32) -> u128 = fetch_xor;
    fn __tsan_atomic128_fetch_nand(Address, u128, u32) -> u128 = fetch_nand;
    fn __tsan_atomic128_compare_exchange_strong(Address, *mut u128, u128, u32, u32) -> u8
        = compare_exchange;
    fn __tsan_atomic128_compare_exchange_weak(Address, *mut u128, u128, u32, u32) -> u8
        = compare_exchange;
    fn __tsan_atomic128_compare_exchange_val(Address, u128, u128, u32, u32) -> u128
        = compare_exchange_val;
}

/// Writes `new` if the content is `expected`; the old content.
///
/// # Safety
/// Sixteen bytes that can be written, at a multiple of sixteen.
unsafe fn exchange_if(at: Address, expected: u128, new: u128) -> u128 {
    let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
    // SAFETY: the caller's promise; rbx, which the compiler keeps for itself and may choose for a
    // register that is not named, is put back.
    unsafe {
        core::arch::asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            inout("rsi") new as u64 => _,
            in("rdi") at,
            inout("rax") low,
            inout("rdx") high,
            in("rcx") (new >> 64) as u64,
        );
    }
    u128::from(high) << 64 | u128::from(low)
}

/// One atomic step: announces it, computes the new content from the old one (`None`: leaves it, with
/// the second order), records it. The old content.
///
/// # Safety
/// As [`exchange_if`].
unsafe fn step(
    kind: Kind,
    at: Address,
    (order, other): (u32, u32),
    change: impl Fn(u128) -> Option<u128>,
) -> u128 {
    let pc = CALLER.load(Ordering::Relaxed);
    let access = Wide {
        kind,
        at,
        len: 16,
        pc,
    };
    let turn = access.announce();
    // SAFETY: the caller's promise.
    unsafe {
        // A guess that need not be true: it is checked below.
        let mut old = at.cast::<u128>().read_unaligned();
        let changed = loop {
            let changed = change(old);
            let found = exchange_if(at, old, changed.unwrap_or(old));
            if found == old {
                break changed;
            }
            old = found;
        };
        match turn {
            Turn::Nobody => {}
            Turn::Schedule => {
                let failed = changed.is_none() && kind == Kind::Rmw;
                access.record(plain_order(if failed { other } else { order }), failed);
                if changed.is_some() {
                    released(plain_order(order), pc);
                }
            }
            Turn::Shadow => access.done(),
        }
        old
    }
}

unsafe extern "C-unwind" fn load(at: Address, order: u32) -> u128 {
    // SAFETY: the program reads this, atomically.
    unsafe { step(Kind::AtomicRead, at, (order, order), |_| None) }
}

unsafe extern "C-unwind" fn store(at: Address, value: u128, order: u32) {
    // SAFETY: the program writes this, atomically.
    unsafe { step(Kind::AtomicWrite, at, (order, order), |_| Some(value)) };
}

macro_rules! updates {
    ($($name:ident: |$old:ident, $value:ident| $new:expr;)*) => {$(
        unsafe extern "C-unwind" fn $name(at: Address, $value: u128, order: u32) -> u128 {
            // SAFETY: the program updates this, atomically.
            unsafe { step(Kind::Rmw, at, (order, order), |$old| { let _ = $old; Some($new) }) }
        }
    )*};
}

updates! {
    exchange: |old, value| value;
    fetch_add: |old, value| old.wrapping_add(value);
    fetch_sub: |old, value| old.wrapping_sub(value);
    fetch_and: |old, value| old & value;
    fetch_or: |old, value| old | value;
    fetch_xor: |old, value| old ^ value;
    fetch_nand: |old, value| !(old & value);
}

unsafe extern "C-unwind" fn compare_exchange(
    at: Address,
    expected: *mut u128,
    new: u128,
    order: u32,
    failure: u32,
) -> u8 {
    // SAFETY: the program updates this, atomically; `expected` is its variable, which only this
    // thread uses.
    unsafe {
        let wanted = expected.read_unaligned();
        let old = compare_exchange_val(at, wanted, new, order, failure);
        if old != wanted {
            expected.write_unaligned(old);
        }
        u8::from(old == wanted)
    }
}

unsafe extern "C-unwind" fn compare_exchange_val(
    at: Address,
    expected: u128,
    new: u128,
    order: u32,
    failure: u32,
) -> u128 {
    // SAFETY: the program updates this, atomically.
    unsafe {
        step(Kind::Rmw, at, (order, failure), |old| {
            (old == expected).then_some(new)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(16))]
    struct Cell(u128);

    #[test]
    fn sixteen_bytes_are_updated_as_one() {
        const ONE: u128 = 1 << 64 | 1;
        type Operation = unsafe extern "C-unwind" fn(Address, u128, u32) -> u128;
        let table: [(Operation, u128, u128, u128); 8] = [
            (exchange, 3, ONE, ONE),
            (fetch_add, u64::MAX as u128, 1, 1 << 64),
            (fetch_add, u128::MAX, 2, 1),
            (fetch_sub, 1 << 64, 1, u64::MAX as u128),
            (fetch_and, ONE | 6, ONE, ONE),
            (fetch_or, ONE, 2, ONE | 2),
            (fetch_xor, ONE, ONE, 0),
            (fetch_nand, ONE, ONE, !ONE),
        ];
        for (i, (operation, old, value, new)) in table.into_iter().enumerate() {
            let mut cell = Cell(old);
            let at: Address = (&raw mut cell).cast();
            // SAFETY: `cell` is ours and aligned.
            unsafe {
                assert_eq!(operation(at, value, 5), old, "{i}");
                assert_eq!(load(at, 5), new, "{i}");
                store(at, ONE, 5);
                assert_eq!(load(at, 0), ONE, "{i}");
            }
        }
    }

    #[test]
    fn sixteen_bytes_are_exchanged_only_if_all_are_as_expected() {
        for (content, expected, new) in [
            (7u128 << 64 | 1, 7 << 64 | 1, 9),
            (7 << 64 | 1, 1, 9),
            (7 << 64 | 1, 7 << 64, 9),
        ] {
            let mut cell = Cell(content);
            let at: Address = (&raw mut cell).cast();
            let mut wanted = expected;
            // SAFETY: `cell` is ours and aligned.
            let done = unsafe { compare_exchange(at, &raw mut wanted, new, 5, 5) };
            assert_eq!(done == 1, content == expected);
            assert_eq!(wanted, content);
            assert_eq!(cell.0, if done == 1 { new } else { content });
        }
    }
}
