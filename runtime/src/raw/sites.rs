//! Where the loaded modules call the kernel's futex by themselves.

use crate::futex;
use crate::serial::Serial;
use core::ffi::{CStr, c_int, c_long, c_void};
use libc::dl_phdr_info;

/// Most instructions that are kept. A byte sequence that only looks like the instruction does no
/// harm, except that it takes a place.
const MOST: usize = 1500;
/// Most modules that are remembered.
const MODULES: usize = 512;
/// How far behind (and before) a `mov` of the call's number the instruction is looked for.
const BEHIND: usize = 2048;
const BEFORE: usize = 512;

const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// Libraries that leave futexes to the C library's functions, and the C library, whose own waits
/// are behind functions that are modelled.
const KNOWN: [&[u8]; 9] = [
    b"libraddle.so",
    b"linux-vdso.so.1",
    b"ld-linux-x86-64.so.2",
    b"libc.so.6",
    b"libm.so.6",
    b"libpthread.so.0",
    b"librt.so.1",
    b"libstdc++.so.6",
    b"libgcc_s.so.1",
];

/// Is the file of this path one of [`KNOWN`]?
pub fn is_library(path: &[u8]) -> bool {
    let file = path.rsplit(|&b| b == b'/').next().unwrap_or(path);
    KNOWN.contains(&file)
}

struct Search {
    /// Addresses behind the instructions, as the kernel reports them.
    sites: [u64; MOST],
    len: usize,
    /// First addresses of the modules that have been looked at.
    seen: [u64; MODULES],
    seen_len: usize,
}

static SEARCH: Serial<Search> = Serial::new(Search {
    sites: [0; MOST],
    len: 0,
    seen: [0; MODULES],
    seen_len: 0,
});

/// How many modules have been loaded since the start.
pub fn loaded() -> u64 {
    unsafe extern "C" fn first(info: *mut dl_phdr_info, _: usize, into: *mut c_void) -> c_int {
        // SAFETY: the caller passes a valid entry and the pointer below.
        unsafe { into.cast::<u64>().write((*info).dlpi_adds) };
        1
    }
    let mut loaded = 0u64;
    // SAFETY: the function writes to the variable and stops.
    unsafe { crate::process::loader::visit(Some(first), (&raw mut loaded).cast()) };
    loaded
}

/// The addresses behind the futex instructions of modules that were not looked at before.
pub fn find() -> &'static [u64] {
    // SAFETY: the running thread; the references do not live over a switch.
    let search = unsafe { SEARCH.get() };
    search.len = 0;
    // SAFETY: the function adds to the search.
    unsafe { crate::process::loader::visit(Some(look_at), (&raw mut *search).cast()) };
    &search.sites[..search.len]
}

unsafe extern "C" fn look_at(info: *mut dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid entry, whose segments are mapped as said.
    unsafe {
        let (info, search) = (&*info, &mut *search.cast::<Search>());
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        if is_library(name) || !search.is_new(info.dlpi_phdr as u64) {
            return 0;
        }
        let code = libc::PF_R | libc::PF_X;
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & code == code {
                let start = (info.dlpi_addr + header.p_vaddr) as *const u8;
                search.add(core::slice::from_raw_parts(start, header.p_filesz as usize));
            }
        }
    }
    0
}

impl Search {
    /// Remembers the module with its program headers at this address; false if it was known.
    fn is_new(&mut self, module: u64) -> bool {
        if self.seen[..self.seen_len].contains(&module) || self.seen_len == MODULES {
            return false;
        }
        self.seen[self.seen_len] = module;
        self.seen_len += 1;
        true
    }

    fn add(&mut self, code: &[u8]) {
        let begin = self.len;
        for number in futex::CALLS {
            futex_calls(code, number, |offset| {
                let site = code.as_ptr() as u64 + offset as u64;
                if self.len < MOST && !self.sites[begin..self.len].contains(&site) {
                    self.sites[self.len] = site;
                    self.len += 1;
                }
            });
        }
        self.sites[begin..self.len].sort_unstable();
    }
}

/// Offsets behind what may be instructions of the call `number`, in ascending order.
fn futex_calls(code: &[u8], number: c_long, mut found: impl FnMut(usize)) {
    // The immediate operand of a 32-bit `mov`.
    let number = (number as u32).to_le_bytes();
    let mut done = 0;
    let mut from = 0;
    while let Some(at) = position(&code[from..], &number) {
        let at = from + at;
        from = at + 1;
        // b8 to bf: `mov` of an immediate to a register.
        if at == 0 || !(0xb8..=0xbf).contains(&code[at - 1]) {
            continue;
        }
        let end = (at + BEHIND).min(code.len());
        let mut next = done.max(at.saturating_sub(BEFORE));
        while let Some(i) = code.get(next..end).and_then(|c| position(c, &SYSCALL)) {
            next += i + SYSCALL.len();
            found(next);
        }
        done = done.max(next);
    }
}

pub fn position(within: &[u8], what: &[u8]) -> Option<usize> {
    // SAFETY: two slices.
    let at = unsafe {
        libc::memmem(
            within.as_ptr().cast(),
            within.len(),
            what.as_ptr().cast(),
            what.len(),
        )
    };
    (!at.is_null()).then(|| at as usize - within.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(code: &[u8]) -> Vec<usize> {
        let mut all = Vec::new();
        futex_calls(code, libc::SYS_futex, |offset| all.push(offset));
        all
    }

    #[test]
    fn instructions_are_found_near_the_number() {
        let mov = [0xb8, 0xca, 0, 0, 0];
        let far = vec![0x90; BEHIND];
        let table: [(Vec<u8>, Vec<usize>); 8] = [
            (vec![], vec![]),
            (vec![0xca, 0, 0, 0, 0x0f, 0x05], vec![]),
            (vec![0x0f, 0x05, 0x90], vec![]),
            ([&mov[..], &SYSCALL].concat(), vec![7]),
            // A loop whose number is loaded behind it, and two instructions for one number.
            ([&SYSCALL[..], &mov, &SYSCALL].concat(), vec![2, 9]),
            ([&mov[..], &far, &SYSCALL].concat(), vec![]),
            // The same instruction is near two numbers.
            ([&mov[..], &mov, &SYSCALL].concat(), vec![12]),
            // Not a mov: the second operand of something else.
            (vec![0x81, 0xca, 0, 0, 0, 0x0f, 0x05], vec![]),
        ];
        for (code, expected) in table {
            assert_eq!(calls(&code), expected, "{code:x?}");
        }
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        let mut rng = crate::rng::Rng::new(3);
        for _ in 0..2_000 {
            let alphabet = [0xb8, 0xca, 0, 0, 0, 0x0f, 0x05, 0x90];
            let len = rng.below(200);
            let code: Vec<u8> = (0..len).map(|_| alphabet[rng.below(8)]).collect();
            let found = calls(&code);
            assert!(found.is_sorted_by(|a, b| a < b));
            assert!(found.iter().all(|&at| code[at - 2..at] == SYSCALL));
        }
    }

    #[test]
    fn the_modules_of_this_process_are_looked_at_once() {
        assert!(loaded() > 0);
        find();
        assert!(find().is_empty());
    }
}
