//! The modules that were built with `-fsanitize=thread`: the constructor of each calls
//! `__tsan_init`. Block operations count as accesses when such a module asks for them; other
//! libraries copy for themselves.

use crate::serial::Serial;
use core::ffi::{c_int, c_void};
use core::ops::Range;

/// Most modules that are known; block operations of further ones are not seen.
const MOST: usize = 64;

struct Modules {
    ranges: [Range<usize>; MOST],
    len: usize,
}

static MODULES: Serial<Modules> = Serial::new(Modules {
    ranges: [const { 0..0 }; MOST],
    len: 0,
});

crate::export! {
    fn __tsan_init() = register;
}

/// Does `pc` lie in a module that was built with `-fsanitize=thread`?
pub fn holds(pc: usize) -> bool {
    // SAFETY: constructors write it, before the program has threads or in the one that runs.
    let modules = unsafe { MODULES.get() };
    modules.ranges[..modules.len]
        .iter()
        .any(|range| range.contains(&pc))
}

unsafe extern "C-unwind" fn register(pc: usize) {
    if !holds(pc) {
        // SAFETY: the callback has the declared type and takes an address.
        unsafe { crate::process::loader::visit(Some(look_at), pc as *mut c_void) };
    }
}

unsafe extern "C" fn look_at(info: *mut libc::dl_phdr_info, _: usize, pc: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid description of a module.
    let range = unsafe { crate::heap::range_of(&*info) };
    if !range.contains(&(pc as usize)) {
        return 0;
    }
    // SAFETY: as in `holds`.
    let modules = unsafe { MODULES.get() };
    if modules.len < MOST {
        modules.ranges[modules.len] = range;
        modules.len += 1;
    }
    1
}
