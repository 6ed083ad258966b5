//! Does code tell of its accesses to memory? Said of whole modules.

use crate::heap::range_of;
use crate::serial::Serial;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Range;

/// Most modules that are remembered.
const MOST: usize = 16;

struct Answers {
    of: [(Range<usize>, bool); MOST],
    len: usize,
}

static ANSWERS: Serial<Answers> = Serial::new(Answers {
    of: [const { (0..0, false) }; MOST],
    len: 0,
});

/// Does the module of the code at `pc` have hooks?
pub(super) fn tells(pc: usize) -> bool {
    // SAFETY: the running thread, and no reference is kept.
    let answers = unsafe { ANSWERS.get() };
    let known = answers.of[..answers.len].iter();
    if let Some((_, tells)) = known.into_iter().find(|(range, _)| range.contains(&pc)) {
        return *tells;
    }
    let mut search = Search {
        pc,
        found: (0..0, false),
    };
    // SAFETY: the callback has the declared type and takes the search.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut search).cast()) };
    let tells = search.found.1;
    answers.of[answers.len % MOST] = search.found;
    answers.len = (answers.len + 1).min(MOST);
    tells
}

struct Search {
    pc: usize,
    found: (Range<usize>, bool),
}

unsafe extern "C" fn look_at(
    info: *mut libc::dl_phdr_info,
    _: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the dynamic linker passes a valid description of a module, the caller its search.
    unsafe {
        let (info, search) = (&*info, &mut *search.cast::<Search>());
        let range = range_of(info);
        if !range.contains(&search.pc) {
            return 0;
        }
        search.found = (range, asks_for_hooks(info));
        1
    }
}

/// An entry of a dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

/// Does the module take from others what instrumented code uses?
///
/// # Safety
/// The description is the dynamic linker's.
unsafe fn asks_for_hooks(info: &libc::dl_phdr_info) -> bool {
    const NONE: i64 = 0;
    const STRINGS: i64 = 5;
    const SYMBOLS: i64 = 6;
    const GNU_HASH: i64 = 0x6fff_fef5;
    const HASH: i64 = 4;
    // SAFETY: the tables of a loaded module, as the ELF specification describes them.
    unsafe {
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        let Some(header) = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC) else {
            return false;
        };
        let mut entry = (info.dlpi_addr + header.p_vaddr) as *const Dynamic;
        let [mut strings, mut symbols, mut gnu_hash, mut hash] = [0; 4];
        while (*entry).tag != NONE {
            // The linker leaves addresses alone in a section that it cannot write to.
            let address = match (*entry).value {
                value if value < info.dlpi_addr => value + info.dlpi_addr,
                value => value,
            };
            match (*entry).tag {
                STRINGS => strings = address,
                SYMBOLS => symbols = address,
                GNU_HASH => gnu_hash = address,
                HASH => hash = address,
                _ => {}
            }
            entry = entry.add(1);
        }
        // Of the first table, the number of the first symbol that it holds: those that are asked for
        // come before; of the second one, how many there are.
        let count = match (gnu_hash, hash) {
            (0, 0) => 0,
            (0, table) => *(table as *const u32).add(1),
            (table, _) => *(table as *const u32).add(1),
        };
        let symbols = symbols as *const libc::Elf64_Sym;
        let asked = (1..count as usize).map(|n| &*symbols.add(n));
        asked.filter(|symbol| symbol.st_shndx == 0).any(|symbol| {
            let name = (strings + u64::from(symbol.st_name)) as *const c_char;
            let name = CStr::from_ptr(name).to_bytes();
            name == b"raddle_mode" || name.starts_with(b"__tsan_")
        })
    }
}
