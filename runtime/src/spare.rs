//! Memory of the shim's own without a system call, which would keep an execution from being put back
//! (`start::rewind`).

use crate::os;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Lines of [`SPARE`].
const LINES: usize = 1 << 15;
/// Longer pieces are mapped.
const MOST: usize = 128 << 10;

static mut SPARE: [Line; LINES] = [Line([0; 64]); LINES];
/// How many lines were handed out.
static USED: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Zeroed memory.
pub fn take(len: usize) -> *mut u8 {
    if len > MOST {
        return os::map_memory(len);
    }
    let lines = len.div_ceil(size_of::<Line>());
    let first = USED.fetch_add(lines, Ordering::Relaxed);
    if first + lines > LINES {
        return os::map_memory(len);
    }
    // SAFETY: within the array.
    unsafe { (&raw mut SPARE).cast::<Line>().add(first) }.cast()
}

/// Gives back what [`take`] gave; what is spare is not used twice.
pub fn give_back(memory: *mut u8, len: usize) {
    let start = (&raw const SPARE).addr();
    if !(start..start + LINES * size_of::<Line>()).contains(&memory.addr()) {
        os::unmap(memory, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_zero_and_do_not_overlap() {
        let lengths = [1, 64, 65, 4096, MOST, MOST + 1, MOST];
        for round in 0..4u8 {
            let taken = lengths.map(|len| (take(len), len));
            for (memory, len) in taken {
                // SAFETY: a piece of this length.
                let bytes = unsafe { core::slice::from_raw_parts_mut(memory, len) };
                assert!(bytes.iter().all(|&b| b == 0));
                bytes.fill(round + 1);
            }
            for (memory, len) in taken {
                give_back(memory, len);
            }
        }
    }
}
