//! Memory that the program maps: whoever looks at its accesses has to know that it begins a new life,
//! and who mapped it.

mod change;
pub mod files;

use crate::gate::{self, Fatal};
use crate::intercept;
use crate::os;
use crate::serial::Serial;
use crate::shadow::changes;
use crate::states;
use change::Change;
use core::ffi::{c_int, c_void};
use files::Mapping;
use libc::{off_t, off64_t, size_t};
use raddle_protocol::effects::{self, Direct};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags::SYMBOLIC;
use raddle_protocol::uses::Uses;

/// Where pages begin, and how many bytes they have.
type Pages = (u64, usize);

/// The program has got these bytes, unless the call failed.
fn mapped(at: *mut c_void, len: usize, pc: usize) -> *mut c_void {
    if at != libc::MAP_FAILED {
        gate::log_callers(pc);
        gate::log_full(Event {
            kind: Kind::Mapped as u8,
            object: at as u64,
            value: len as u64,
            pc: pc as u64,
            ..Event::default()
        });
    }
    at
}

/// A mmap has returned `at`: the same.
fn mapped_by(
    at: *mut c_void,
    len: usize,
    [flags, fd]: [c_int; 2],
    from: i64,
    pc: usize,
) -> *mut c_void {
    if at != libc::MAP_FAILED && flags & libc::MAP_ANONYMOUS == 0 {
        if let Some(mapping) = Mapping::of_file(fd, from, len, at as usize, flags) {
            files::add(mapping);
        }
        comes_from_elsewhere(at, len);
    }
    mapped(at, len, pc)
}

/// A file or a segment lies here now: nobody knows whose writes its content comes from.
fn comes_from_elsewhere(at: *const c_void, len: usize) {
    let is_followed = gate::flags() & SYMBOLIC != 0 && gate::threads_created() > 1;
    if is_followed && changes::is_shared(at as u64, len as u64) {
        gate::uncontrolled("what is in a file or a segment that is mapped over other memory");
    }
}

/// The pages of a mapping that was to be made, unless it has failed.
fn pages_at(at: *mut c_void, len: usize) -> Option<Pages> {
    (at != libc::MAP_FAILED).then_some((at as u64, len))
}

/// How large the shared segment of this id is.
fn size_of_segment(id: c_int) -> usize {
    // SAFETY: numbers, which any bits are.
    let mut data: libc::shmid_ds = unsafe { core::mem::zeroed() };
    // SAFETY: the kernel fills it in.
    match unsafe { libc::shmctl(id, libc::IPC_STAT, &mut data) } {
        0 => data.shm_segsz,
        _ => 0,
    }
}

/// A program that takes away all that is mapped, or protects it, takes away what it is controlled
/// by: the execution ends there, by name.
fn leaves_ours(call: &str, at: *const c_void, len: usize, pc: usize) {
    if gate::shares(at as usize, len) {
        gate::finish(Fatal {
            end: End::Unsupported,
            code: 0,
            message: format_args!(
                "{call} of memory that is raddle's: it controls the program by it"
            ),
            detail: [0; 4],
            pc,
            stack: true,
        })
    }
}

/// Does this advice of madvise change what lies in the memory?
fn empties(advice: c_int) -> bool {
    // MADV_DONTNEED_LOCKED, MADV_GUARD_INSTALL, MADV_GUARD_REMOVE.
    let others = [24, 102, 103];
    [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE]
        .iter()
        .chain(&others)
        .any(|&other| other == advice)
}

/// The pages that a call of the function with this name and these arguments acts on: where, how many
/// bytes.
fn pages_of(name: &str, arguments: &[u64]) -> Option<Pages> {
    let argument = |n: usize| arguments.get(n).copied().unwrap_or(0);
    let acts = match name {
        // What mincore says depends on who has used them.
        "munmap" | "mprotect" | "pkey_mprotect" | "mremap" | "mincore" => true,
        // With an address it is there, or where nothing was.
        "mmap" | "mmap64" => argument(0) != 0 || argument(3) as c_int & libc::MAP_FIXED != 0,
        "madvise" => empties(argument(2) as c_int),
        "shmat" if argument(1) != 0 => {
            return Some((argument(1), size_of_segment(argument(0) as c_int)));
        }
        "shmdt" => return Some((argument(0), files::attached(argument(0) as usize))),
        "brk" => return up_to_break(argument(0)),
        "sbrk" => return up_to_break(program_break().wrapping_add(argument(0))),
        _ => false,
    };
    acts.then(|| (argument(0), argument(1) as usize))
}

/// Other pages that it acts on, in a step of their own: where memory is moved to.
fn pages_over(name: &str, arguments: &[u64]) -> Option<Pages> {
    match (name, arguments) {
        ("mremap", &[_, _, new, flags, to, ..]) if flags & libc::MREMAP_FIXED as u64 != 0 => {
            Some((to, new as usize))
        }
        _ => None,
    }
}

/// The pages of which it changes the content.
fn changed_by(name: &str, arguments: &[u64]) -> [Option<Pages>; 2] {
    let moves = |len: u64, new: u64, flags: u64| {
        let flag = |flag: c_int| flags & flag as u64 != 0;
        let leaves = flag(libc::MREMAP_FIXED) || flag(libc::MREMAP_DONTUNMAP);
        leaves || flag(libc::MREMAP_MAYMOVE) && new > len
    };
    let changes = match (name, arguments) {
        ("mremap", &[_, len, new, flags, ..]) => moves(len, new, flags),
        ("mmap" | "mmap64" | "madvise" | "shmat" | "brk" | "sbrk", _) => true,
        _ => false,
    };
    match changes {
        true => [pages_of(name, arguments), pages_over(name, arguments)],
        false => [None; 2],
    }
}

/// Where the data segment ends.
fn program_break() -> u64 {
    // SAFETY: an address that the kernel does not take: it only tells.
    unsafe { os::syscall(libc::SYS_brk, 0, 0, 0, 0, 0, 0) as u64 }
}

/// The pages that come or go when the data segment is to end here.
fn up_to_break(end: u64) -> Option<Pages> {
    let page = os::PAGE as u64;
    let [new, old] = [end, program_break()].map(|end| end.checked_next_multiple_of(page));
    let (new, old) = (new?, old?);
    // An end of 0 is a question.
    (end > 0 && new != old).then(|| (new.min(old), new.abs_diff(old) as usize))
}

/// The data segment ended here before a call, which has moved that up or down: what is there since then.
fn moved_break(before: u64, pc: usize) -> Option<Pages> {
    let more = program_break()
        .checked_sub(before)
        .filter(|&more| more > 0)? as usize;
    mapped(before as *mut c_void, more, pc);
    Some((before, more))
}

/// The step of a call that acts on pages, as [`Kind::Remap`] tells it, with what else it uses; `None`: it
/// acts on none, or uses too much for one record.
pub fn whole_step(name: &str, arguments: &[u64], uses: Uses) -> Option<(u64, u64)> {
    step_of(pages_of(name, arguments)?, uses)
}

/// The same of these pages.
fn step_of((at, len): Pages, uses: Uses) -> Option<(u64, u64)> {
    Some((at, uses.with_pages(len.div_ceil(os::PAGE) as u64)?))
}

/// The step of the call that was announced.
static ANNOUNCED: Serial<Option<(u64, u64)>> = Serial::new(None);

/// Does a call of the function with this name and these arguments act on pages?
pub fn acts_on_pages(name: &str, arguments: &[u64]) -> bool {
    pages_of(name, arguments).is_some()
}

/// In symbolic runs: this call comes next, and nobody in between. If it acts on pages, that is its step.
pub fn announce(name: &str, arguments: &[u64], pc: usize) {
    if change::begins(name, arguments, pc) {
        return;
    }
    let step = whole_step(name, arguments, Uses::NONE);
    if let Some((at, value)) = step {
        gate::remaps(at, value, pc);
        // SAFETY: the running thread; the reference is not kept.
        unsafe { *ANNOUNCED.get() = step };
    }
}

/// The program calls the function with this name and these arguments.
fn called(name: &'static str, arguments: &[u64], pc: usize) {
    let Some((at, len)) = pages_of(name, arguments) else {
        return;
    };
    if name != "mincore" {
        crate::gone::pages_change();
        leaves_ours(name, at as *const c_void, len, pc);
        crate::threads::gives_back(at, len as u64);
    }
    // SAFETY: the running thread; the reference is not kept.
    let announced = unsafe { ANNOUNCED.get() }.take();
    let alone = whole_step(name, arguments, Uses::NONE);
    if announced.is_some() && announced == alone {
        return;
    }
    let uses = match gate::exhaustive() {
        true => states::used_by(name, arguments).uses(),
        false => Uses::NONE,
    };
    if let Some((at, value)) = whole_step(name, arguments, uses).or(alone) {
        gate::remaps(at, value, pc);
    }
}

intercept! {
    fn munmap(at: *mut c_void, len: size_t) -> c_int, pc => {
        called("munmap", &[at as u64, len as u64], pc);
        real::munmap(at, len)
    };
    fn mprotect(at: *mut c_void, len: size_t, protection: c_int) -> c_int, pc => {
        called("mprotect", &[at as u64, len as u64], pc);
        real::mprotect(at, len, protection)
    };
    fn pkey_mprotect(at: *mut c_void, len: size_t, protection: c_int, key: c_int) -> c_int, pc => {
        called("pkey_mprotect", &[at as u64, len as u64], pc);
        real::pkey_mprotect(at, len, protection, key)
    };
    fn madvise(at: *mut c_void, len: size_t, advice: c_int) -> c_int, pc => {
        let change = Change::by("madvise", &[at as u64, len as u64, advice as u64], pc);
        let result = real::madvise(at, len, advice);
        change.over(None, pc);
        result
    };
    fn mincore(at: *mut c_void, len: size_t, into: *mut u8) -> c_int, pc => {
        called("mincore", &[at as u64, len as u64], pc);
        let result = real::mincore(at, len, into);
        if result == 0 && gate::flags() & SYMBOLIC != 0 {
            // The shadow has read pages that the program has not.
            gate::uncontrolled("which pages are in memory (mincore)");
        }
        result
    };
    fn shmdt(at: *const c_void) -> c_int, pc => {
        called("shmdt", &[at as u64], pc);
        real::shmdt(at)
    };
    fn mremap(at: *mut c_void, len: size_t, new: size_t, flags: c_int, to: *mut c_void) -> *mut c_void,
        pc => {
            let change = Change::by("mremap", &[at as u64, len as u64, new as u64, flags as u64, to as u64], pc);
            let moved = real::mremap(at, len, new, flags, to);
            change.over(remapped(at, len, new, moved, pc), pc);
            moved
        };
    fn shmat(id: c_int, at: *const c_void, flags: c_int) -> *mut c_void, pc => {
        let change = Change::by("shmat", &[id as u64, at as u64, flags as u64], pc);
        let got = real::shmat(id, at, flags);
        change.over(attached_at(id, got, pc), pc);
        got
    };
    fn brk(end: *mut c_void) -> c_int, pc => {
        let change = Change::by("brk", &[end as u64], pc);
        let before = program_break();
        let result = real::brk(end);
        moved_break(before, pc);
        change.over(None, pc);
        result
    };
    fn sbrk(more: isize) -> *mut c_void, pc => {
        let change = Change::by("sbrk", &[more as u64], pc);
        let before = program_break();
        let result = real::sbrk(more);
        moved_break(before, pc);
        change.over(None, pc);
        result
    };
}

/// A mremap of this block to `new` bytes has returned `moved`: what is there since then.
fn remapped(
    at: *mut c_void,
    len: usize,
    new: usize,
    moved: *mut c_void,
    pc: usize,
) -> Option<Pages> {
    if moved == libc::MAP_FAILED {
        return None;
    }
    if moved != at {
        files::moved(at as usize, len, moved as usize);
        return pages_at(mapped(moved, new, pc), new);
    }
    let more = new.checked_sub(len).filter(|&more| more > 0)?;
    pages_at(mapped(moved.wrapping_byte_add(len), more, pc), more)
}

/// A shmat has returned `got`: what is there since then.
fn attached_at(id: c_int, got: *mut c_void, pc: usize) -> Option<Pages> {
    let len = size_of_segment(id);
    if got != libc::MAP_FAILED {
        files::add(Mapping::of_segment(id, len, got as usize));
        comes_from_elsewhere(got, len);
    }
    pages_at(mapped(got, len, pc), len)
}

/// A system call by its number, if it maps memory or acts on pages.
///
/// # Safety
/// As the system call.
pub unsafe fn direct(number: i64, arguments: [usize; 6], pc: usize) -> Option<isize> {
    let name = match effects::direct(number as u64) {
        Direct::As(name) => name,
        _ => return None,
    };
    let maps = matches!(name, "mmap" | "mremap" | "shmat" | "brk");
    let words = arguments.map(|word| word as u64);
    if !maps && !acts_on_pages(name, &words) {
        return None;
    }
    let change = Change::by(name, &words, pc);
    let [a, b, c, d, e, f] = arguments;
    let before = program_break();
    // SAFETY: the caller's promise.
    let result = unsafe { os::syscall(number, a, b, c, d, e, f) };
    let got = result as *mut c_void;
    let new = match name {
        _ if (-4095..0).contains(&result) => None,
        "mmap" => pages_at(mapped_by(got, b, [d as c_int, e as c_int], f as i64, pc), b),
        "mremap" => remapped(a as *mut c_void, b, c, got, pc),
        "shmat" => attached_at(a as c_int, got, pc),
        "brk" => {
            moved_break(before, pc);
            None
        }
        _ => None,
    };
    change.over(new, pc);
    Some(result)
}

crate::intercept6! {
    fn mmap(at: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, from: off_t)
        -> *mut c_void, pc => {
            let change = Change::by("mmap", &[at as u64, len as u64, protection as u64, flags as u64], pc);
            let got = real6::mmap(at, len, protection, flags, fd, from);
            change.over(pages_at(mapped_by(got, len, [flags, fd], from, pc), len), pc);
            got
        };
    fn mmap64(at: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, from: off64_t)
        -> *mut c_void, pc => {
            let change = Change::by("mmap64", &[at as u64, len as u64, protection as u64, flags as u64], pc);
            let got = real6::mmap64(at, len, protection, flags, fd, from);
            change.over(pages_at(mapped_by(got, len, [flags, fd], from, pc), len), pc);
            got
        };
}
