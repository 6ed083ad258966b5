//! Calls of functions that are neither instrumented nor modelled: what symbolic bytes they can
//! read is not followed, and said so with their name.

use super::Address;
use crate::gate;
use crate::heap;
use crate::shadow::calls::has_symbolic_body;
use crate::shadow::outside::Source;
use crate::shadow::{lost, world};
use core::ffi::{CStr, c_char};
use raddle_protocol::event::Event;
use raddle_protocol::expr::Why;
use raddle_protocol::library::{Output, reads_files};

/// Bytes that a function may look at behind a pointer that is not to a block of the heap, at least
/// and at most.
const LEAST: u64 = 16;
const MOST: u64 = 1 << 16;

/// See `raddle_sym_foreign`.
pub unsafe extern "C-unwind" fn call(
    callee: Address,
    name: Address,
    shape: u64,
    values: Address,
    exprs: Address,
    pc: usize,
) {
    if has_symbolic_body(callee as usize) {
        return;
    }
    let count = (shape >> 32) as usize;
    // SAFETY: by the contract of the hook.
    let values = unsafe { core::slice::from_raw_parts(values.cast::<u64>(), count) };
    // SAFETY: as above; a string of the compiler plugin.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name.cast::<c_char>()) });
    let known = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
    let is_lost = if exprs.is_null() {
        // A number that is an argument may be a size.
        let is_pointer = |i: usize| shape >> i & 1 != 0;
        let sizes = (0..count).filter(|&i| !is_pointer(i)).map(|i| values[i]);
        let size = sizes.filter(|&n| n <= MOST).max().unwrap_or(0);
        let mut pointers = (0..count.min(32)).filter(|&i| is_pointer(i));
        (reads_files(known) && Source::any()) || pointers.any(|i| is_symbolic(values[i], size))
    } else {
        // SAFETY: as above.
        let exprs = unsafe { core::slice::from_raw_parts(exprs.cast::<u32>(), count) };
        Output::find(known).is_none_or(|output| comes_back(output, values, exprs))
    };
    if is_lost {
        lost(Why::Call, pc);
        let name = name.map_or(b"a function" as &[u8], CStr::to_bytes);
        gate::log_full(Event::name(gate::me(), name));
    }
}

/// Does what is written decide anything? A format does, and the program may read again what it
/// wrote to a stream of its own.
fn comes_back(output: Output, values: &[u64], exprs: &[u32]) -> bool {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
        static stderr: *mut libc::FILE;
    }
    let argument = |index: u8| values.get(usize::from(index)).copied().unwrap_or(0);
    if output
        .format
        .is_some_and(|format| is_symbolic(argument(format), 0))
    {
        return true;
    }
    let Some(stream) = output.stream.map(argument) else {
        return false;
    };
    // SAFETY: variables of the C library.
    let usual = unsafe { [stdout as u64, stderr as u64] };
    let (pointer, symbolic) = (usual.contains(&stream), exprs.iter().any(|&expr| expr != 0));
    let text =
        (0..values.len() as u8).any(|i| Some(i) != output.stream && is_symbolic(argument(i), 0));
    !pointer && (symbolic || text)
}

/// May a function find symbolic or shared bytes behind this pointer? It can look at all of a block
/// of the heap; elsewhere as far as a text, `size` or [`LEAST`] bytes go.
fn is_symbolic(pointer: u64, size: u64) -> bool {
    let cells = &mut world().cells;
    if !cells.is_known(pointer) {
        return false;
    }
    let len = match heap::block_of(pointer) {
        Some(Ok(block)) => {
            (block.start + block.size) as u64 - pointer.min((block.start + block.size) as u64)
        }
        Some(Err(_)) => return false,
        None => text_length(pointer).max(size).max(LEAST),
    };
    cells.any_symbolic(pointer, len.min(MOST))
}

/// Up to the first NUL, within the page.
fn text_length(text: u64) -> u64 {
    let end = (text | 4095) + 1;
    // SAFETY: bytes of a page of which the program has used some.
    let byte = |at: u64| unsafe { *(at as *const u8) };
    (text..end).find(|&at| byte(at) == 0).unwrap_or(end) - text
}
