//! Atomics of one to eight bytes, and fences.

use crate::access::{
    Byte, Half, atomic_cas, atomic_load, atomic_rmw, atomic_store, cut, fence, released,
};
use core::ffi::c_void;
use raddle_protocol::hooks::{cas_order, rmw};

type Address = *mut c_void;

crate::export! {
    fn __tsan_atomic8_load(at: Address, order: u32) -> u8 = load8;
    fn __tsan_atomic8_store(at: Address, value: Byte, order: u32) = store8;
    fn __tsan_atomic8_exchange(at: Address, value: Byte, order: u32) -> u8 = exchange8;
    fn __tsan_atomic8_fetch_add(at: Address, value: Byte, order: u32) -> u8 = fetch_add8;
    fn __tsan_atomic8_fetch_sub(at: Address, value: Byte, order: u32) -> u8 = fetch_sub8;
    fn __tsan_atomic8_fetch_and(at: Address, value: Byte, order: u32) -> u8 = fetch_and8;
    fn __tsan_atomic8_fetch_or(at: Address, value: Byte, order: u32) -> u8 = fetch_or8;
    fn __tsan_atomic8_fetch_xor(at: Address, value: Byte, order: u32) -> u8 = fetch_xor8;
    fn __tsan_atomic8_fetch_nand(at: Address, value: Byte, order: u32) -> u8 = fetch_nand8;
    fn __tsan_atomic8_compare_exchange_strong(at: Address, expected: *mut u8, new: Byte, order: u32, failure: u32) -> u8
        = compare_exchange8;
    fn __tsan_atomic8_compare_exchange_weak(at: Address, expected: *mut u8, new: Byte, order: u32, failure: u32) -> u8
        = compare_exchange8;
    fn __tsan_atomic8_compare_exchange_val(at: Address, expected: Byte, new: Byte, order: u32, failure: u32) -> u8
        = compare_exchange_val8;
    fn __tsan_atomic16_load(at: Address, order: u32) -> u16 = load16;
    fn __tsan_atomic16_store(at: Address, value: Half, order: u32) = store16;
    fn __tsan_atomic16_exchange(at: Address, value: Half, order: u32) -> u16 = exchange16;
    fn __tsan_atomic16_fetch_add(at: Address, value: Half, order: u32) -> u16 = fetch_add16;
    fn __tsan_atomic16_fetch_sub(at: Address, value: Half, order: u32) -> u16 = fetch_sub16;
    fn __tsan_atomic16_fetch_and(at: Address, value: Half, order: u32) -> u16 = fetch_and16;
    fn __tsan_atomic16_fetch_or(at: Address, value: Half, order: u32) -> u16 = fetch_or16;
    fn __tsan_atomic16_fetch_xor(at: Address, value: Half, order: u32) -> u16 = fetch_xor16;
    fn __tsan_atomic16_fetch_nand(at: Address, value: Half, order: u32) -> u16 = fetch_nand16;
    fn __tsan_atomic16_compare_exchange_strong(at: Address, expected: *mut u16, new: Half, order: u32, failure: u32) -> u8
        = compare_exchange16;
    fn __tsan_atomic16_compare_exchange_weak(at: Address, expected: *mut u16, new: Half, order: u32, failure: u32) -> u8
        = compare_exchange16;
    fn __tsan_atomic16_compare_exchange_val(at: Address, expected: Half, new: Half, order: u32, failure: u32) -> u16
        = compare_exchange_val16;
    fn __tsan_atomic32_load(at: Address, order: u32) -> u32 = load32;
    fn __tsan_atomic32_store(at: Address, value: u32, order: u32) = store32;
    fn __tsan_atomic32_exchange(at: Address, value: u32, order: u32) -> u32 = exchange32;
    fn __tsan_atomic32_fetch_add(at: Address, value: u32, order: u32) -> u32 = fetch_add32;
    fn __tsan_atomic32_fetch_sub(at: Address, value: u32, order: u32) -> u32 = fetch_sub32;
    fn __tsan_atomic32_fetch_and(at: Address, value: u32, order: u32) -> u32 = fetch_and32;
    fn __tsan_atomic32_fetch_or(at: Address, value: u32, order: u32) -> u32 = fetch_or32;
    fn __tsan_atomic32_fetch_xor(at: Address, value: u32, order: u32) -> u32 = fetch_xor32;
    fn __tsan_atomic32_fetch_nand(at: Address, value: u32, order: u32) -> u32 = fetch_nand32;
    fn __tsan_atomic32_compare_exchange_strong(at: Address, expected: *mut u32, new: u32, order: u32, failure: u32) -> u8
        = compare_exchange32;
    fn __tsan_atomic32_compare_exchange_weak(at: Address, expected: *mut u32, new: u32, order: u32, failure: u32) -> u8
        = compare_exchange32;
    fn __tsan_atomic32_compare_exchange_val(at: Address, expected: u32, new: u32, order: u32, failure: u32) -> u32
        = compare_exchange_val32;
    fn __tsan_atomic64_load(at: Address, order: u32) -> u64 = load64;
    fn __tsan_atomic64_store(at: Address, value: u64, order: u32) = store64;
    fn __tsan_atomic64_exchange(at: Address, value: u64, order: u32) -> u64 = exchange64;
    fn __tsan_atomic64_fetch_add(at: Address, value: u64, order: u32) -> u64 = fetch_add64;
    fn __tsan_atomic64_fetch_sub(at: Address, value: u64, order: u32) -> u64 = fetch_sub64;
    fn __tsan_atomic64_fetch_and(at: Address, value: u64, order: u32) -> u64 = fetch_and64;
    fn __tsan_atomic64_fetch_or(at: Address, value: u64, order: u32) -> u64 = fetch_or64;
    fn __tsan_atomic64_fetch_xor(at: Address, value: u64, order: u32) -> u64 = fetch_xor64;
    fn __tsan_atomic64_fetch_nand(at: Address, value: u64, order: u32) -> u64 = fetch_nand64;
    fn __tsan_atomic64_compare_exchange_strong(at: Address, expected: *mut u64, new: u64, order: u32, failure: u32) -> u8
        = compare_exchange64;
    fn __tsan_atomic64_compare_exchange_weak(at: Address, expected: *mut u64, new: u64, order: u32, failure: u32) -> u8
        = compare_exchange64;
    fn __tsan_atomic64_compare_exchange_val(at: Address, expected: u64, new: u64, order: u32, failure: u32) -> u64
        = compare_exchange_val64;
    fn __tsan_atomic_thread_fence(order: u32) = thread_fence;
    fn __tsan_atomic_signal_fence(order: u32) = signal_fence;
}

/// A C11 order, without the hints for lock elision that gcc puts above it.
pub fn plain_order(order: u32) -> u32 {
    order & 0x7fff
}

trait Value: Copy {
    fn widened(self) -> u64;
}

macro_rules! values {
    ($($ty:ty, |$value:ident| $get:expr;)*) => {$(
        impl Value for $ty {
            #[inline]
            fn widened(self) -> u64 {
                let $value = self;
                $get
            }
        }
    )*};
}

values! {
    Byte, |v| u64::from(v.get());
    Half, |v| u64::from(v.get());
    u32, |v| u64::from(v);
    u64, |v| v;
}

macro_rules! operation {
    ($ty:ty, $given:ty: $($name:ident = $op:ident;)*) => {$(
        unsafe extern "C-unwind" fn $name(at: Address, value: $given, order: u32, pc: usize) -> $ty {
            let size = size_of::<$ty>() as u32;
            // SAFETY: the program updates this, atomically.
            let old = unsafe {
                atomic_rmw(at, value.widened(), rmw::$op, size, plain_order(order), pc) as $ty
            };
            released(plain_order(order), pc);
            old
        }
    )*};
}

macro_rules! atomics {
    ($($ty:ty, $given:ty: $load:ident, $store:ident, $cas:ident, $val:ident,
        [$($name:ident = $op:ident;)*];)*) => {$(
        unsafe extern "C-unwind" fn $load(at: Address, order: u32, pc: usize) -> $ty {
            let size = size_of::<$ty>() as u32;
            // SAFETY: the program reads this, atomically.
            unsafe { atomic_load(at, size, plain_order(order), pc) as $ty }
        }

        unsafe extern "C-unwind" fn $store(at: Address, value: $given, order: u32, pc: usize) {
            let size = size_of::<$ty>() as u32;
            // SAFETY: the program writes this, atomically.
            unsafe { atomic_store(at, value.widened(), size, plain_order(order), pc) };
            released(plain_order(order), pc);
        }

        operation! { $ty, $given: $($name = $op;)* }

        /// Writes the old value to where `expected` points if it was another one; was it equal?
        unsafe extern "C-unwind" fn $cas(
            at: Address, expected: *mut $ty, new: $given, order: u32, failure: u32, pc: usize,
        ) -> u8 {
            let size = size_of::<$ty>() as u32;
            // SAFETY: the program updates this, atomically; `expected` is its variable, which only
            // this thread uses.
            unsafe {
                let wanted = expected.read_unaligned();
                let success = plain_order(order);
                let order = cas_order(success, plain_order(failure));
                let old = atomic_cas(at, wanted.into(), new.widened(), size, order, pc) as $ty;
                match old == wanted {
                    true => released(success, pc),
                    false => expected.write_unaligned(old),
                }
                u8::from(old == wanted)
            }
        }

        unsafe extern "C-unwind" fn $val(
            at: Address, expected: $given, new: $given, order: u32, failure: u32, pc: usize,
        ) -> $ty {
            let size = size_of::<$ty>() as u32;
            // SAFETY: the program updates this, atomically.
            unsafe {
                let success = plain_order(order);
                let order = cas_order(success, plain_order(failure));
                let old = atomic_cas(at, expected.widened(), new.widened(), size, order, pc) as $ty;
                if u64::from(old) == cut(expected.widened(), size) {
                    released(success, pc);
                }
                old
            }
        }
    )*};
}

atomics! {
    u8, Byte: load8, store8, compare_exchange8, compare_exchange_val8, [
        exchange8 = XCHG; fetch_add8 = ADD; fetch_sub8 = SUB; fetch_and8 = AND; fetch_or8 = OR;
        fetch_xor8 = XOR; fetch_nand8 = NAND;
    ];
    u16, Half: load16, store16, compare_exchange16, compare_exchange_val16, [
        exchange16 = XCHG; fetch_add16 = ADD; fetch_sub16 = SUB; fetch_and16 = AND; fetch_or16 = OR;
        fetch_xor16 = XOR; fetch_nand16 = NAND;
    ];
    u32, u32: load32, store32, compare_exchange32, compare_exchange_val32, [
        exchange32 = XCHG; fetch_add32 = ADD; fetch_sub32 = SUB; fetch_and32 = AND; fetch_or32 = OR;
        fetch_xor32 = XOR; fetch_nand32 = NAND;
    ];
    u64, u64: load64, store64, compare_exchange64, compare_exchange_val64, [
        exchange64 = XCHG; fetch_add64 = ADD; fetch_sub64 = SUB; fetch_and64 = AND; fetch_or64 = OR;
        fetch_xor64 = XOR; fetch_nand64 = NAND;
    ];
}

unsafe extern "C-unwind" fn thread_fence(order: u32, pc: usize) {
    // SAFETY: a fence touches no memory.
    unsafe { fence(plain_order(order), pc) }
}

/// Between a thread and its own signal handlers: nothing that another thread could see.
unsafe extern "C-unwind" fn signal_fence(order: u32, _: usize) {
    if plain_order(order) > 0 {
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    }
}
