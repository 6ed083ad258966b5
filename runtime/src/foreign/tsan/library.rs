//! What functions of the C library do to the memory of a caller that was built with
//! `-fsanitize=thread`. Such code has no hooks for that, since ThreadSanitizer intercepts the
//! functions; here the stand-in for its library does, and tells of each call.

use super::modules;
use crate::access;
use core::ffi::{CStr, c_char, c_void};
use raddle_protocol::touches::{self, Extent};

type Arguments = *const [usize; 6];

crate::export! {
    fn raddle_library_call(name: *const c_char, arguments: Arguments, caller: usize) = before;
    fn raddle_library_result(name: *const c_char, arguments: Arguments, caller: usize, result: usize)
        = after;
}

unsafe extern "C-unwind" fn before(
    name: *const c_char,
    arguments: Arguments,
    caller: usize,
    _: usize,
    _: usize,
    _: usize,
) {
    // SAFETY: the stand-in's arguments.
    unsafe { tell(name, arguments, caller, None) };
}

unsafe extern "C-unwind" fn after(
    name: *const c_char,
    arguments: Arguments,
    caller: usize,
    result: usize,
    _: usize,
    _: usize,
) {
    // SAFETY: the stand-in's arguments.
    unsafe { tell(name, arguments, caller, Some(result)) };
}

/// # Safety
/// The name is a text; the arguments are those of a call of the function.
unsafe fn tell(name: *const c_char, arguments: Arguments, caller: usize, result: Option<usize>) {
    if !modules::holds(caller) || !crate::gate::active() {
        return;
    }
    // SAFETY: the caller's promise.
    let (name, arguments) = unsafe { (CStr::from_ptr(name), &*arguments) };
    let touches = name.to_str().map_or(&[][..], touches::of);
    for touch in touches {
        let printed = matches!(touch.extent, Extent::Printed(_));
        if touch.extent.is_after() == result.is_some() || printed {
            // SAFETY: the caller's promise.
            unsafe { access::touched(touch, arguments, result, caller) };
        }
    }
}

/// A call from `caller` with this result has written that many bytes.
pub fn filled(into: *mut c_void, result: isize, caller: usize) -> isize {
    if result > 0 && modules::holds(caller) {
        // SAFETY: the program's buffer; nothing is touched.
        unsafe { access::range_write(into, result as u64, 0, 0, 0, caller) };
    }
    result
}

/// A call from `caller` is about to read so many bytes.
pub fn reads(from: *const c_void, len: usize, caller: usize) {
    if modules::holds(caller) {
        // SAFETY: as above.
        unsafe { access::range_read(from.cast_mut(), len as u64, 0, 0, 0, caller) };
    }
}
