//! Everything random that the program asks the system for. Every thread has a stream of its own,
//! so that what it gets does not depend on the interleaving.

use crate::gate;
use crate::gone::Memory;
use crate::rng::Rng;
use crate::serial::Serial;
use crate::{os, time};
use core::ffi::{c_int, c_uint, c_ulong, c_void};
use raddle_protocol::shared::given;
use raddle_protocol::{Slot, slot};

mod real {
    use core::ffi::{c_int, c_ulong, c_void};
    crate::real! {
        fn getauxval(kind: c_ulong) -> c_ulong;
        fn getentropy(buffer: *mut c_void, len: usize) -> c_int;
        fn arc4random() -> u32;
        fn arc4random_uniform(bound: u32) -> u32;
        fn arc4random_buf(buffer: *mut c_void, len: usize);
        #[allow(non_snake_case)]
        fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32;
    }
}

crate::export! {
    /// As in the C library.
    fn getauxval(kind: c_ulong) -> c_ulong = getauxval_from;
    /// As in Linux.
    fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize = getrandom_from;
    /// As in POSIX.
    fn getentropy(buffer: *mut c_void, len: usize) -> c_int = getentropy_from;
    /// As in BSD.
    fn arc4random() -> u32 = arc4random_from;
    /// As in BSD.
    fn arc4random_uniform(bound: u32) -> u32 = arc4random_uniform_from;
    /// As in BSD.
    fn arc4random_buf(buffer: *mut c_void, len: usize) = arc4random_buf_from;
    /// `std::random_device::_M_getval()`.
    fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32 = random_device_from;
}

/// Largest request that `getentropy` serves.
const MOST: usize = 256;

static STREAMS: Serial<[Option<Rng>; slot::COUNT]> = Serial::new([None; slot::COUNT]);

/// The start of a thread's stream.
fn stream(entropy: u64, thread: Slot) -> Rng {
    Rng::new(Rng::new(Rng::new(entropy).next() ^ u64::from(thread)).next())
}

/// The next number for the running thread, which it draws by `source` (of [`given::RANDOM`]).
fn draw(source: u64) -> u64 {
    gate::gives(source);
    next()
}

fn next() -> u64 {
    let me = gate::me();
    // SAFETY: the running thread, and nothing in here switches.
    let streams = unsafe { STREAMS.get() };
    streams[me as usize % slot::COUNT]
        .get_or_insert_with(|| stream(gate::pages().job().entropy, me))
        .next()
}

/// Fills a buffer from the running thread's stream, by which `source` it draws (of
/// [`given::RANDOM`]).
///
/// # Safety
/// `len` bytes are writable at `buffer`. The thread is controlled.
pub unsafe fn fill(source: u64, buffer: *mut u8, len: usize) {
    if len > 0 {
        gate::gives(source);
    }
    for at in (0..len).step_by(8) {
        let bytes = next().to_le_bytes();
        // SAFETY: `at..at + n` lies in the buffer.
        unsafe { buffer.add(at).copy_from(bytes.as_ptr(), (len - at).min(8)) };
    }
}

/// Letters and digits from the running thread's stream.
pub fn letters(into: &mut [u8]) {
    const ALL: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    for byte in into {
        *byte = ALL[next() as usize % ALL.len()];
    }
}

/// `getrandom`: so many bytes, or a negative errno.
///
/// # Safety
/// `len` bytes are writable at `buffer`.
pub unsafe fn getrandom(buffer: *mut u8, len: usize, flags: c_uint) -> isize {
    if !gate::active() {
        let call = libc::SYS_getrandom;
        // SAFETY: passed on.
        return unsafe { os::syscall(call, buffer as usize, len, flags as usize, 0, 0, 0) };
    }
    if Memory::written(buffer as usize, len).is_missing() {
        // What there is of it is filled. SAFETY: passed on, and so many bytes are there.
        return unsafe {
            let call = libc::SYS_getrandom;
            let filled = os::syscall(call, buffer as usize, len, flags as usize, 0, 0, 0);
            fill(given::GETRANDOM, buffer, filled.max(0) as usize);
            filled
        };
    }
    // SAFETY: by the contract above.
    unsafe { fill(given::GETRANDOM, buffer, len) };
    len as isize
}

unsafe extern "C-unwind" fn getrandom_from(
    buffer: *mut c_void,
    len: usize,
    flags: c_uint,
    pc: usize,
) -> isize {
    crate::threads::points::enter(pc);
    // SAFETY: the caller's buffer.
    match unsafe { getrandom(buffer.cast(), len, flags) } {
        errno @ -4095..0 => time::errno_result(-errno as c_int) as isize,
        filled => filled,
    }
}

unsafe extern "C-unwind" fn getentropy_from(buffer: *mut c_void, len: usize, _: usize) -> c_int {
    if !gate::active() || len > MOST || Memory::written(buffer as usize, len).is_missing() {
        // SAFETY: passed on, to fail.
        return unsafe { real::getentropy(buffer, len) };
    }
    // SAFETY: the caller's buffer.
    unsafe { fill(given::GETENTROPY, buffer.cast(), len) };
    0
}

/// The 16 bytes that AT_RANDOM points to are constants until somebody asks where they are.
unsafe extern "C-unwind" fn getauxval_from(kind: c_ulong, _: usize) -> c_ulong {
    const LEN: usize = 16;
    // SAFETY: passed on.
    let value = unsafe { real::getauxval(kind) };
    if kind == libc::AT_RANDOM && value != 0 && gate::active() {
        gate::gives(given::AUXILIARY);
        let mut bytes = stream(gate::pages().job().entropy, slot::NONE);
        for at in (0..LEN).step_by(8) {
            // SAFETY: the kernel has put so many bytes there, on the stack of main.
            unsafe {
                (value as *mut u8)
                    .add(at)
                    .cast::<u64>()
                    .write_unaligned(bytes.next())
            };
        }
    }
    value
}

unsafe extern "C-unwind" fn arc4random_from(_: usize) -> u32 {
    if gate::active() {
        draw(given::ARC4RANDOM) as u32
    } else {
        // SAFETY: passed on.
        unsafe { real::arc4random() }
    }
}

unsafe extern "C-unwind" fn arc4random_uniform_from(bound: u32, _: usize) -> u32 {
    if gate::active() {
        ((u128::from(draw(given::ARC4RANDOM)) * u128::from(bound)) >> 64) as u32
    } else {
        // SAFETY: passed on.
        unsafe { real::arc4random_uniform(bound) }
    }
}

unsafe extern "C-unwind" fn arc4random_buf_from(buffer: *mut c_void, len: usize, _: usize) {
    if gate::active() {
        // SAFETY: the caller's buffer.
        unsafe { fill(given::ARC4RANDOM, buffer.cast(), len) };
    } else {
        // SAFETY: passed on.
        unsafe { real::arc4random_buf(buffer, len) };
    }
}

unsafe extern "C-unwind" fn random_device_from(device: *mut c_void, _: usize) -> u32 {
    if gate::active() {
        draw(given::RANDOM_DEVICE) as u32
    } else {
        // SAFETY: passed on.
        unsafe { real::_ZNSt13random_device9_M_getvalEv(device) }
    }
}

#[cfg(test)]
mod tests {
    use super::stream;

    #[test]
    fn streams_differ_by_seed_and_thread_and_repeat() {
        let first = |seed, thread| stream(seed, thread).next();
        assert_eq!(first(1, 2), first(1, 2));
        let all = [
            first(0, 0),
            first(0, 1),
            first(1, 0),
            first(1, 1),
            first(2, 1),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }
}
