//! What functions of the C library do to the memory of a caller that was built with
//! `-fsanitize=thread`. Such code has no hooks for that, since ThreadSanitizer intercepts the
//! functions; here the stand-in for its library does, and tells of each call.

use super::modules;
use crate::access;
use crate::serial::Serial;
use core::ffi::{CStr, c_char, c_void};
use raddle_protocol::effects::{self, Effect, Extent, keeps_state};
use raddle_protocol::hooks::call::{ARGUMENTS, Frame, STATE, TOLD};

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
) {
    // SAFETY: the stand-in's arguments.
    unsafe { tell(name, arguments, caller, Some(result)) };
}

/// Calls that are under way: where their arguments lie, what was told of them.
struct Calls {
    next: usize,
    all: [(usize, Frame); 16],
}

const NO_FRAME: Frame = Frame {
    count: 0,
    arguments: [0; ARGUMENTS],
    end: 0,
    told: 0,
    list: [[0; 2]; TOLD],
    what: 0,
};

static CALLS: Serial<Calls> = Serial::new(Calls {
    next: 0,
    all: [(0, NO_FRAME); 16],
});

/// # Safety
/// The name is a text; the arguments are those of a call of the function.
unsafe fn tell(name: *const c_char, arguments: Arguments, caller: usize, result: Option<usize>) {
    if !modules::holds(caller) || !crate::gate::active() {
        return;
    }
    // SAFETY: the caller's promise.
    let (name, given) = unsafe { (CStr::from_ptr(name), &*arguments) };
    let text = name.to_str().unwrap_or_default();
    let row = effects::find(text).map_or(0, |found| u64::from(found.0) + 1);
    let state = if keeps_state(text).is_some() {
        STATE
    } else {
        0
    };
    let (what, key) = (row | state, arguments as usize);
    // SAFETY: the running thread; not kept over a switch.
    let calls = || unsafe { CALLS.get() };
    let Some(result) = result else {
        let mut frame = NO_FRAME;
        frame.count = given.len() as u64;
        frame.arguments[..given.len()].copy_from_slice(&given.map(|word| word as u64));
        // SAFETY: the caller's promise.
        unsafe { access::begin(what, name, &mut frame, key, caller) };
        // Of some no result is seen.
        if given[0] != 0 && prints(text) {
            // SAFETY: the program's buffer; nothing is touched.
            unsafe { access::range_write(given[0] as *mut c_void, 1, caller) };
        }
        let calls = calls();
        calls.all[calls.next] = (key, frame);
        calls.next = (calls.next + 1) % calls.all.len();
        return;
    };
    let found = calls().all.iter_mut().find(|call| call.0 == key);
    let Some((_, mut frame)) = found.map(|call| core::mem::replace(call, (0, NO_FRAME))) else {
        return;
    };
    let result = match prints(text) {
        true => i64::from(result as i32),
        false => result as i64,
    };
    // SAFETY: as above.
    unsafe { access::end(&mut frame, key, result, caller) };
}

/// Does the function with this name print where its first argument leads, and return an `int`?
fn prints(name: &str) -> bool {
    let is_printed = |effect: &Effect| matches!(effect.extent, Extent::Printed(_));
    effects::of(name).iter().any(is_printed)
}

/// A call from `caller` with this result has written that many bytes.
pub fn filled(into: *mut c_void, result: isize, caller: usize) -> isize {
    if result > 0 && modules::holds(caller) {
        // SAFETY: the program's buffer; nothing is touched.
        unsafe { access::range_write(into, result as u64, caller) };
    }
    result
}

/// A call from `caller` is about to read so many bytes.
pub fn reads(from: *const c_void, len: usize, caller: usize) {
    if modules::holds(caller) {
        // SAFETY: as above.
        unsafe { access::range_read(from.cast_mut(), len as u64, caller) };
    }
}
