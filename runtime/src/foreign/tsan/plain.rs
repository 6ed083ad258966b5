//! Plain accesses.

use super::modules;
use crate::access::{copied, filled, range_read, range_write, read1, read2, read4, read8};
use core::ffi::c_void;

type Address = *mut c_void;

crate::export! {
    fn __tsan_read1(at: Address) -> u8 = read1;
    fn __tsan_read2(at: Address) -> u16 = read2;
    fn __tsan_read4(at: Address) -> u32 = read4;
    fn __tsan_read8(at: Address) -> u64 = read8;
    fn __tsan_read16(at: Address) = read_16;
    fn __tsan_write1(at: Address) = write_1;
    fn __tsan_write2(at: Address) = write_2;
    fn __tsan_write4(at: Address) = write_4;
    fn __tsan_write8(at: Address) = write_8;
    fn __tsan_write16(at: Address) = write_16;
    fn __tsan_unaligned_read2(at: Address) -> u16 = read2;
    fn __tsan_unaligned_read4(at: Address) -> u32 = read4;
    fn __tsan_unaligned_read8(at: Address) -> u64 = read8;
    fn __tsan_unaligned_read16(at: Address) = read_16;
    fn __tsan_unaligned_write2(at: Address) = write_2;
    fn __tsan_unaligned_write4(at: Address) = write_4;
    fn __tsan_unaligned_write8(at: Address) = write_8;
    fn __tsan_unaligned_write16(at: Address) = write_16;
    fn __tsan_volatile_read1(at: Address) -> u8 = read1;
    fn __tsan_volatile_read2(at: Address) -> u16 = read2;
    fn __tsan_volatile_read4(at: Address) -> u32 = read4;
    fn __tsan_volatile_read8(at: Address) -> u64 = read8;
    fn __tsan_volatile_read16(at: Address) = read_16;
    fn __tsan_volatile_write1(at: Address) = write_1;
    fn __tsan_volatile_write2(at: Address) = write_2;
    fn __tsan_volatile_write4(at: Address) = write_4;
    fn __tsan_volatile_write8(at: Address) = write_8;
    fn __tsan_volatile_write16(at: Address) = write_16;
    fn __tsan_unaligned_volatile_read2(at: Address) -> u16 = read2;
    fn __tsan_unaligned_volatile_read4(at: Address) -> u32 = read4;
    fn __tsan_unaligned_volatile_read8(at: Address) -> u64 = read8;
    fn __tsan_unaligned_volatile_read16(at: Address) = read_16;
    fn __tsan_unaligned_volatile_write2(at: Address) = write_2;
    fn __tsan_unaligned_volatile_write4(at: Address) = write_4;
    fn __tsan_unaligned_volatile_write8(at: Address) = write_8;
    fn __tsan_unaligned_volatile_write16(at: Address) = write_16;
    fn __tsan_read_write1(at: Address) = update_1;
    fn __tsan_read_write2(at: Address) = update_2;
    fn __tsan_read_write4(at: Address) = update_4;
    fn __tsan_read_write8(at: Address) = update_8;
    fn __tsan_read_write16(at: Address) = update_16;
    fn __tsan_unaligned_read_write2(at: Address) = update_2;
    fn __tsan_unaligned_read_write4(at: Address) = update_4;
    fn __tsan_unaligned_read_write8(at: Address) = update_8;
    fn __tsan_unaligned_read_write16(at: Address) = update_16;
    fn __tsan_read_range(at: Address, len: u64) = range_read;
    fn __tsan_write_range(at: Address, len: u64) = range_write;
    fn __tsan_vptr_read(at: Address) -> u64 = read8;
    fn __tsan_vptr_update(at: Address, new: u64) = vptr_update;
    fn __tsan_read1_pc(at: Address, pc: usize) = read_1_at;
    fn __tsan_read2_pc(at: Address, pc: usize) = read_2_at;
    fn __tsan_read4_pc(at: Address, pc: usize) = read_4_at;
    fn __tsan_read8_pc(at: Address, pc: usize) = read_8_at;
    fn __tsan_read16_pc(at: Address, pc: usize) = read_16_at;
    fn __tsan_write1_pc(at: Address, pc: usize) = write_1_at;
    fn __tsan_write2_pc(at: Address, pc: usize) = write_2_at;
    fn __tsan_write4_pc(at: Address, pc: usize) = write_4_at;
    fn __tsan_write8_pc(at: Address, pc: usize) = write_8_at;
    fn __tsan_write16_pc(at: Address, pc: usize) = write_16_at;
    fn __tsan_read_range_pc(at: Address, len: u64, pc: usize) = range_read_at;
    fn __tsan_write_range_pc(at: Address, len: u64, pc: usize) = range_write_at;
    fn __tsan_external_read(at: Address, caller: usize, tag: Address) = read_1_at_caller;
    fn __tsan_external_write(at: Address, caller: usize, tag: Address) = write_1_at_caller;
    fn __tsan_memcpy(to: Address, from: Address, len: usize) -> Address = copy;
    fn __tsan_memmove(to: Address, from: Address, len: usize) -> Address = copy;
    fn __tsan_memset(to: Address, value: i32, len: usize) -> Address = set;
}

macro_rules! sized {
    ($($size:literal: $read:ident, $write:ident, $update:ident, $read_at:ident, $write_at:ident;)*) => {$(
        #[allow(dead_code, reason = "reads of up to eight bytes have hooks of their own")]
        unsafe extern "C-unwind" fn $read(at: Address, pc: usize) {
            // SAFETY: the program reads there next.
            unsafe { range_read(at, $size, pc) }
        }

        unsafe extern "C-unwind" fn $write(at: Address, pc: usize) {
            // SAFETY: the program writes there next.
            unsafe { range_write(at, $size, pc) }
        }

        unsafe extern "C-unwind" fn $update(at: Address, pc: usize) {
            // SAFETY: the program reads and writes there next.
            unsafe {
                range_read(at, $size, pc);
                range_write(at, $size, pc);
            }
        }

        unsafe extern "C-unwind" fn $read_at(at: Address, pc: usize, _: usize) {
            // SAFETY: as above.
            unsafe { $read(at, pc) }
        }

        unsafe extern "C-unwind" fn $write_at(at: Address, pc: usize, _: usize) {
            // SAFETY: as above.
            unsafe { $write(at, pc) }
        }
    )*};
}

sized! {
    1: read_1, write_1, update_1, read_1_at, write_1_at;
    2: read_2, write_2, update_2, read_2_at, write_2_at;
    4: read_4, write_4, update_4, read_4_at, write_4_at;
    8: read_8, write_8, update_8, read_8_at, write_8_at;
    16: read_16, write_16, update_16, read_16_at, write_16_at;
}

/// A constructor or destructor sets the pointer to the virtual table; where that changes nothing it
/// is no access.
unsafe extern "C-unwind" fn vptr_update(at: Address, new: u64, pc: usize) {
    // SAFETY: the program writes there next.
    unsafe {
        if at.cast::<u64>().read_unaligned() != new {
            range_write(at, 8, pc);
        }
    }
}

unsafe extern "C-unwind" fn range_read_at(at: Address, len: u64, pc: usize, _: usize) {
    // SAFETY: the program reads there next.
    unsafe { range_read(at, len, pc) }
}

unsafe extern "C-unwind" fn range_write_at(at: Address, len: u64, pc: usize, _: usize) {
    // SAFETY: the program writes there next.
    unsafe { range_write(at, len, pc) }
}

unsafe extern "C-unwind" fn read_1_at_caller(at: Address, caller: usize, _tag: Address, _: usize) {
    // SAFETY: the program reads there next.
    unsafe { range_read(at, 1, caller) }
}

unsafe extern "C-unwind" fn write_1_at_caller(at: Address, caller: usize, _tag: Address, _: usize) {
    // SAFETY: the program writes there next.
    unsafe { range_write(at, 1, caller) }
}

/// `memcpy` and `memmove`; the areas may overlap.
unsafe extern "C-unwind" fn copy(to: Address, from: Address, len: usize, pc: usize) -> Address {
    // SAFETY: the program's arguments.
    unsafe {
        match modules::holds(pc) {
            true => copied(to, from, len as u64, pc),
            false => core::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len),
        }
    }
    to
}

unsafe extern "C-unwind" fn set(to: Address, value: i32, len: usize, pc: usize) -> Address {
    // SAFETY: the program's arguments.
    unsafe {
        match modules::holds(pc) {
            true => filled(to, value as u8, len as u64, pc),
            false => core::ptr::write_bytes(to.cast::<u8>(), value as u8, len),
        }
    }
    to
}
