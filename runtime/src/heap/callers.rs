//! Is the caller of an intercepted function the C library itself? It calls `free` with locks of
//! its own held, so no other thread may run there. And where the program itself lies.

use crate::serial::Serial;
use core::ffi::{c_int, c_void};
use core::ops::Range;

/// Code of the C library and of the dynamic linker.
static CODE: Serial<[Range<usize>; 2]> = Serial::new([0..0, 0..0]);

/// Does `pc` lie in the C library or the dynamic linker? `false` before [`find`].
#[inline]
pub fn is_c_library(pc: usize) -> bool {
    // SAFETY: written once, before the program's first code.
    let code = unsafe { CODE.get() };
    code[0].contains(&pc) || code[1].contains(&pc)
}

/// The program itself, which is never unloaded.
static PROGRAM: Serial<Range<usize>> = Serial::new(0..0);

/// Does this address lie in the program itself, not in a library? `false` before [`find`].
pub fn is_program(at: usize) -> bool {
    // SAFETY: as above.
    unsafe { PROGRAM.get() }.contains(&at)
}

/// Finds the modules.
pub fn find() {
    // SAFETY: the callback has the declared type; no other thread runs yet.
    unsafe { crate::process::loader::visit(Some(look_at), core::ptr::null_mut()) };
}

/// Where a module lies.
///
/// # Safety
/// The description is the dynamic linker's.
pub unsafe fn range_of(info: &libc::dl_phdr_info) -> Range<usize> {
    // SAFETY: by the contract above.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    let base = info.dlpi_addr as usize;
    let loaded = headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
    let start = loaded.clone().map(|h| h.p_vaddr).min().unwrap_or(0) as usize;
    let end = loaded.map(|h| h.p_vaddr + h.p_memsz).max().unwrap_or(0) as usize;
    base + start..base + end
}

unsafe extern "C" fn look_at(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid description of a module.
    let range = unsafe { range_of(&*info) };
    // SAFETY: reads the auxiliary vector.
    let linker = unsafe { libc::getauxval(libc::AT_BASE) } as usize;
    // SAFETY: no other thread runs yet.
    let (code, program) = unsafe { (CODE.get(), PROGRAM.get()) };
    // The program is the first that is looked at.
    if program.end == 0 {
        *program = range.clone();
    }
    if range.contains(&(libc::gnu_get_libc_version as *const () as usize)) {
        code[0] = range;
    } else if linker != 0 && range.contains(&linker) {
        code[1] = range;
    }
    0
}
