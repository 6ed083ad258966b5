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
pub fn tells(pc: usize) -> bool {
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
    unsafe { crate::process::loader::visit(Some(look_at), (&raw mut search).cast()) };
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

/// Does a module with hooks refer to a function or a variable with one of these names?
pub fn asks_for(names: &str) -> bool {
    let mut search = (names, false);
    // SAFETY: the callback has the declared type and takes the search.
    unsafe { crate::process::loader::visit(Some(look_for), (&raw mut search).cast()) };
    search.1
}

/// Does a module refer to a function with this name that another one defines?
pub fn refers_to(name: &str) -> bool {
    let mut search = (name, false);
    // SAFETY: the callback has the declared type and takes the search.
    unsafe { crate::process::loader::visit(Some(look_for_reference), (&raw mut search).cast()) };
    search.1
}

unsafe extern "C" fn look_for_reference(
    info: *mut libc::dl_phdr_info,
    _: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: as of `look_at`.
    unsafe {
        let (info, search) = (&*info, &mut *search.cast::<(&str, bool)>());
        search.1 = symbols_of(info).is_some_and(|symbols| {
            // Functions whose addresses are taken may stand behind those that are asked for.
            let mut all = (1..symbols.all()).map(|n| symbols.name(n));
            all.any(|(defined, name)| !defined && name == search.0.as_bytes())
        });
        search.1.into()
    }
}

unsafe extern "C" fn look_for(
    info: *mut libc::dl_phdr_info,
    _: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: as of `look_at`.
    unsafe {
        let (info, search) = (&*info, &mut *search.cast::<(&str, bool)>());
        let is_asked = |name: &[u8]| {
            let mut names = search.0.split_ascii_whitespace();
            names.any(|one| one.as_bytes() == name)
        };
        search.1 = asks_for_hooks(info)
            && symbols_of(info).is_some_and(|symbols| {
                // A variable that the program has a copy of is its own.
                (1..symbols.all()).any(|n| is_asked(symbols.name(n).1))
            });
        search.1.into()
    }
}

/// Does the module take from others what instrumented code uses?
///
/// # Safety
/// The description is the dynamic linker's.
unsafe fn asks_for_hooks(info: &libc::dl_phdr_info) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        symbols_of(info).is_some_and(|symbols| {
            let mut asked = (1..symbols.asked()).map(|n| symbols.name(n));
            asked.any(|(defined, name)| {
                !defined && (name == b"raddle_mode" || name.starts_with(b"__tsan_"))
            })
        })
    }
}

/// The tables of a loaded module, as the ELF specification describes them; 0: there is none.
struct Symbols {
    strings: u64,
    symbols: u64,
    gnu_hash: u64,
    hash: u64,
}

/// # Safety
/// The description is the dynamic linker's.
unsafe fn symbols_of(info: &libc::dl_phdr_info) -> Option<Symbols> {
    const NONE: i64 = 0;
    const STRINGS: i64 = 5;
    const SYMBOLS: i64 = 6;
    const GNU_HASH: i64 = 0x6fff_fef5;
    const HASH: i64 = 4;
    let mut found = Symbols {
        strings: 0,
        symbols: 0,
        gnu_hash: 0,
        hash: 0,
    };
    // SAFETY: the dynamic section of a loaded module.
    unsafe {
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        let header = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC)?;
        let mut entry = (info.dlpi_addr + header.p_vaddr) as *const Dynamic;
        while (*entry).tag != NONE {
            // The linker leaves addresses alone in a section that it cannot write to.
            let address = match (*entry).value {
                value if value < info.dlpi_addr => value + info.dlpi_addr,
                value => value,
            };
            match (*entry).tag {
                STRINGS => found.strings = address,
                SYMBOLS => found.symbols = address,
                GNU_HASH => found.gnu_hash = address,
                HASH => found.hash = address,
                _ => {}
            }
            entry = entry.add(1);
        }
    }
    Some(found)
}

impl Symbols {
    /// The number behind the symbols that are asked for.
    ///
    /// # Safety
    /// The tables are those of a loaded module, here and below.
    unsafe fn asked(&self) -> usize {
        // Of the first table, the number of the first symbol that it holds: those that are asked for
        // come before; of the second one, how many there are.
        match (self.gnu_hash, self.hash) {
            (0, 0) => 0,
            // SAFETY: the caller's promise.
            (0, table) | (table, _) => unsafe { *(table as *const u32).add(1) as usize },
        }
    }

    /// How many symbols there are.
    unsafe fn all(&self) -> usize {
        if self.gnu_hash == 0 {
            // SAFETY: the caller's promise.
            return unsafe { self.asked() };
        }
        let table = self.gnu_hash as *const u32;
        // SAFETY: four words, the filter's words of 64 bits, the buckets, the chains.
        unsafe {
            let [count, first, filter] = [0, 1, 2].map(|n| *table.add(n) as usize);
            let buckets = table.add(4 + 2 * filter);
            let mut last = (0..count)
                .map(|n| *buckets.add(n) as usize)
                .max()
                .unwrap_or(0);
            if last < first {
                return first;
            }
            let chains = buckets.add(count);
            while *chains.add(last - first) & 1 == 0 {
                last += 1;
            }
            last + 1
        }
    }

    /// Is the symbol of this number defined here? And its name.
    unsafe fn name(&self, number: usize) -> (bool, &'static [u8]) {
        // SAFETY: the caller's promise.
        unsafe {
            let symbol = &*(self.symbols as *const libc::Elf64_Sym).add(number);
            let name = (self.strings + u64::from(symbol.st_name)) as *const c_char;
            (symbol.st_shndx != 0, CStr::from_ptr(name).to_bytes())
        }
    }
}
