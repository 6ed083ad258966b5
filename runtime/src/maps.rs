//! Memory that the program maps: whoever looks at its accesses has to know that it begins a new life,
//! and who mapped it.

use crate::gate;
use crate::intercept;
use core::ffi::{c_int, c_void};
use libc::{off_t, off64_t, size_t};
use raddle_protocol::event::{Event, Kind};

/// The program has got these bytes, unless the call failed.
fn mapped(at: *mut c_void, len: usize, pc: usize) -> *mut c_void {
    if at != libc::MAP_FAILED {
        gate::log_callers(pc);
        gate::log_full(Event {
            kind: Kind::Mapped as u8,
            object: at as u64,
            value: len as u64,
            pc: pc as u64,
            ..Event::default()
        });
    }
    at
}

/// How large the shared segment of this id is.
fn size_of_segment(id: c_int) -> usize {
    // SAFETY: numbers, which any bits are.
    let mut data: libc::shmid_ds = unsafe { core::mem::zeroed() };
    // SAFETY: the kernel fills it in.
    match unsafe { libc::shmctl(id, libc::IPC_STAT, &mut data) } {
        0 => data.shm_segsz,
        _ => 0,
    }
}

intercept! {
    fn mremap(at: *mut c_void, len: size_t, new: size_t, flags: c_int, to: *mut c_void) -> *mut c_void,
        pc => {
            let moved = real::mremap(at, len, new, flags, to);
            if moved != at {
                return mapped(moved, new, pc);
            }
            if let Some(more) = new.checked_sub(len).filter(|&more| more > 0) {
                mapped(moved.wrapping_byte_add(len), more, pc);
            }
            moved
        };
    fn shmat(id: c_int, at: *const c_void, flags: c_int) -> *mut c_void,
        pc => mapped(real::shmat(id, at, flags), size_of_segment(id), pc);
}

crate::intercept6! {
    fn mmap(at: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, from: off_t)
        -> *mut c_void, pc => mapped(real6::mmap(at, len, protection, flags, fd, from), len, pc);
    fn mmap64(at: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, from: off64_t)
        -> *mut c_void, pc => mapped(real6::mmap64(at, len, protection, flags, fd, from), len, pc);
}
