//! Memory that the program maps: whoever looks at its accesses has to know that it begins a new life,
//! and who mapped it.

use crate::gate::{self, Fatal};
use crate::intercept;
use crate::io;
use crate::os;
use crate::serial::Serial;
use crate::shadow::{changes, is_mapped};
use crate::states;
use core::ffi::{c_int, c_void};
use libc::{off_t, off64_t, size_t};
use raddle_protocol::effects::{self, Direct};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags::SYMBOLIC;
use raddle_protocol::uses::Uses;

/// The program has got these bytes, unless the call failed.
fn mapped(at: *mut c_void, len: usize, pc: usize) -> *mut c_void {
    if at != libc::MAP_FAILED {
        if Change::is_followed() && changes::is_shared(at as u64, len as u64) {
            changes::begin_change(pc);
            changes::changed(at as u64, len as u64, false, pc);
            changes::end_change(pc);
        }
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

/// Memory that was mapped so that others see what is written.
#[derive(Clone, Copy)]
struct Shared {
    /// Device and inode; of a segment `u64::MAX` and its id.
    whose: (u64, u64),
    /// First byte in the file, bytes.
    from: u64,
    len: u64,
    at: usize,
}

static SHARED: Serial<[Option<Shared>; 32]> = Serial::new([None; 32]);

/// The program has got this. What lies at two places at a time is memory of which nobody here knows
/// that it is the same.
fn shared(new: Shared) {
    // SAFETY: the running thread; the reference is not kept.
    let all = unsafe { SHARED.get() };
    for slot in all.iter_mut() {
        *slot = slot.filter(|old| old.at != new.at && is_mapped(old.at));
    }
    let overlaps = |old: &Shared| {
        old.whose == new.whose
            && old.from < new.from.saturating_add(new.len)
            && new.from < old.from.saturating_add(old.len)
    };
    if all.iter().flatten().any(overlaps) {
        gate::uncontrolled("memory that is mapped at two places");
    }
    match all.iter_mut().find(|slot| slot.is_none()) {
        Some(free) => *free = Some(new),
        None => gate::uncontrolled("very many mappings of files"),
    }
}

/// Is the file with this device and inode mapped so that others see what is written?
pub fn is_shared(device: u64, inode: u64) -> bool {
    // SAFETY: as above.
    let mut all = unsafe { SHARED.get() }.iter().flatten();
    all.any(|old| old.whose == (device, inode) && is_mapped(old.at))
}

/// A mmap has returned `at`: the same.
fn mapped_by(
    at: *mut c_void,
    len: usize,
    [flags, fd]: [c_int; 2],
    from: i64,
    pc: usize,
) -> *mut c_void {
    let is_shared = matches!(
        flags & libc::MAP_TYPE,
        libc::MAP_SHARED | libc::MAP_SHARED_VALIDATE
    );
    if at != libc::MAP_FAILED
        && is_shared
        && flags & libc::MAP_ANONYMOUS == 0
        && let Some(data) = io::status(fd)
    {
        shared(Shared {
            whose: (data.st_dev, data.st_ino),
            from: from as u64,
            len: len as u64,
            at: at as usize,
        });
    }
    if flags & libc::MAP_ANONYMOUS == 0 {
        comes_from_elsewhere(at, len);
    }
    mapped(at, len, pc)
}

/// A file or a segment lies here now, of whose content nobody knows which writes it is from.
fn comes_from_elsewhere(at: *const c_void, len: usize) {
    let is_there = at != libc::MAP_FAILED.cast_const() && Change::is_followed();
    if is_there && changes::is_shared(at as u64, len as u64) {
        gate::uncontrolled(
            "what lies in files and segments that are mapped where other memory was",
        );
    }
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

/// How much of the shared segment that was mapped there is known.
fn attached(at: *const c_void) -> usize {
    // SAFETY: the running thread; the reference is not kept.
    let all = unsafe { SHARED.get() };
    let here = all.iter().flatten().find(|old| old.at == at as usize);
    here.map_or(0, |old| old.len as usize)
}

/// Does this advice of madvise change what lies in the memory?
fn empties(advice: c_int) -> bool {
    let locked = 24; // MADV_DONTNEED_LOCKED
    [
        libc::MADV_DONTNEED,
        libc::MADV_FREE,
        libc::MADV_REMOVE,
        locked,
    ]
    .contains(&advice)
}

/// The pages that a call of the function with this name and these arguments acts on: where, how many
/// bytes.
fn pages_of(name: &str, arguments: &[u64]) -> Option<(u64, usize)> {
    let argument = |n: usize| arguments.get(n).copied().unwrap_or(0);
    let acts = match name {
        // What mincore says depends on who has used them.
        "munmap" | "mprotect" | "pkey_mprotect" | "mremap" | "mincore" => true,
        "mmap" | "mmap64" => argument(3) as c_int & libc::MAP_FIXED != 0,
        "madvise" => empties(argument(2) as c_int),
        "shmdt" => return Some((argument(0), attached(argument(0) as *const c_void))),
        "brk" => return up_to_break(argument(0)),
        "sbrk" => return up_to_break(program_break().wrapping_add(argument(0))),
        _ => false,
    };
    acts.then(|| (argument(0), argument(1) as usize))
}

/// Where the data segment ends.
fn program_break() -> u64 {
    // SAFETY: an address that the kernel does not take: it only tells.
    unsafe { os::syscall(libc::SYS_brk, 0, 0, 0, 0, 0, 0) as u64 }
}

/// The pages that come or go when the data segment is to end here.
fn up_to_break(end: u64) -> Option<(u64, usize)> {
    let page = os::PAGE as u64;
    let [new, old] = [end, program_break()].map(|end| end.checked_next_multiple_of(page));
    let (new, old) = (new?, old?);
    // An end of 0 is a question.
    (end > 0 && new != old).then(|| (new.min(old), new.abs_diff(old) as usize))
}

/// The data segment ended here before a call, which has moved that up or down.
fn moved_break(before: u64, pc: usize) {
    if let Some(more) = program_break().checked_sub(before).filter(|&more| more > 0) {
        mapped(before as *mut c_void, more as usize, pc);
    }
}

/// The step of a call that acts on pages, as [`Kind::Remap`] tells it, with what else it uses; `None`: it
/// acts on none, or uses too much for one record.
pub fn whole_step(name: &str, arguments: &[u64], uses: Uses) -> Option<(u64, u64)> {
    let (at, len) = pages_of(name, arguments)?;
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
    let step = whole_step(name, arguments, Uses::NONE);
    // With what such a call leaves behind it is one section.
    if Change::is_followed() && changed_by(name, arguments).is_some() {
        return;
    }
    if let Some((at, value)) = step {
        gate::remaps(at, value, pc);
        // SAFETY: the running thread; the reference is not kept.
        unsafe { *ANNOUNCED.get() = step };
    }
}

/// The pages whose content is another one after a call of the function with this name and these arguments,
/// which are still there: where, how many bytes.
fn changed_by(name: &str, arguments: &[u64]) -> Option<(u64, usize)> {
    match name {
        "mmap" | "mmap64" | "madvise" | "mremap" => pages_of(name, arguments),
        _ => None,
    }
}

/// In symbolic runs: a call that gives pages another content is under way, and nobody else goes on until it
/// is [over](Change::over).
struct Change(Option<(u64, usize)>);

impl Change {
    /// Does anybody follow what lies in pages, and may others look?
    fn is_followed() -> bool {
        gate::flags() & SYMBOLIC != 0 && gate::threads_created() > 1 && crate::vars::symbolic()
    }

    /// The program calls the function with this name and these arguments.
    fn by(name: &'static str, arguments: &[u64], pc: usize) -> Change {
        let change = Change::is_followed().then(|| changed_by(name, arguments));
        let Some((at, len)) = change.flatten() else {
            called(name, arguments, pc);
            return Change(None);
        };
        changes::begin_change(pc);
        called(name, arguments, pc);
        match name {
            "madvise" if arguments.get(2) == Some(&(libc::MADV_FREE as u64)) => {
                gate::uncontrolled("when the kernel empties pages (MADV_FREE)");
            }
            // What they leave follows from what lies there now: that is decided on.
            "madvise" | "mremap" => changes::will_change(at, len as u64, pc),
            _ => {}
        }
        Change(Some((at, len)))
    }

    /// The call has returned.
    fn over(self, pc: usize) {
        if let Some((at, len)) = self.0 {
            changes::changed(at, len as u64, true, pc);
            changes::end_change(pc);
        }
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
        change.over(pc);
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
            let change = Change::by("mremap", &[at as u64, len as u64], pc);
            let moved = remapped(at, len, new, real::mremap(at, len, new, flags, to), pc);
            change.over(pc);
            moved
        };
    fn shmat(id: c_int, at: *const c_void, flags: c_int) -> *mut c_void,
        pc => attached_at(id, real::shmat(id, at, flags), pc);
    fn brk(end: *mut c_void) -> c_int, pc => {
        called("brk", &[end as u64], pc);
        let before = program_break();
        let result = real::brk(end);
        moved_break(before, pc);
        result
    };
    fn sbrk(more: isize) -> *mut c_void, pc => {
        called("sbrk", &[more as u64], pc);
        let before = program_break();
        let result = real::sbrk(more);
        moved_break(before, pc);
        result
    };
}

/// A mremap of this block to `new` bytes has returned `moved`.
fn remapped(at: *mut c_void, len: usize, new: usize, moved: *mut c_void, pc: usize) -> *mut c_void {
    if moved != at {
        return mapped(moved, new, pc);
    }
    if let Some(more) = new.checked_sub(len).filter(|&more| more > 0) {
        mapped(moved.wrapping_byte_add(len), more, pc);
    }
    moved
}

/// A shmat has returned `got`.
fn attached_at(id: c_int, got: *mut c_void, pc: usize) -> *mut c_void {
    let len = size_of_segment(id);
    if got != libc::MAP_FAILED {
        shared(Shared {
            whose: (u64::MAX, id as u64),
            from: 0,
            len: len as u64,
            at: got as usize,
        });
    }
    comes_from_elsewhere(got, len);
    mapped(got, len, pc)
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
    match name {
        _ if (-4095..0).contains(&result) => {}
        "mmap" => _ = mapped_by(got, b, [d as c_int, e as c_int], f as i64, pc),
        "mremap" => _ = remapped(a as *mut c_void, b, c, got, pc),
        "shmat" => _ = attached_at(a as c_int, got, pc),
        "brk" => moved_break(before, pc),
        _ => {}
    }
    change.over(pc);
    Some(result)
}

crate::intercept6! {
    fn mmap(at: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, from: off_t)
        -> *mut c_void, pc => {
            let change = Change::by("mmap", &[at as u64, len as u64, protection as u64, flags as u64], pc);
            let got = real6::mmap(at, len, protection, flags, fd, from);
            let got = mapped_by(got, len, [flags, fd], from, pc);
            change.over(pc);
            got
        };
    fn mmap64(at: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, from: off64_t)
        -> *mut c_void, pc => {
            let change = Change::by("mmap64", &[at as u64, len as u64, protection as u64, flags as u64], pc);
            let got = real6::mmap64(at, len, protection, flags, fd, from);
            let got = mapped_by(got, len, [flags, fd], from, pc);
            change.over(pc);
            got
        };
}
