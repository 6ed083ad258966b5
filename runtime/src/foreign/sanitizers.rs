//! AddressSanitizer's and UndefinedBehaviorSanitizer's runtimes beside ours: their reports become
//! outcomes, their heap serves the program, and what they do under locks of their own is no place
//! to switch.

use crate::gate::{self, Fatal};
use crate::serial::Serial;
use core::ffi::{CStr, c_char, c_int, c_void};
use raddle_protocol::event::Kind;
use raddle_protocol::outcome::End;
use raddle_protocol::{Slot, slot};

/// Frames that are looked at to find who frees a block.
const DEPTH: usize = 12;

/// What messages begin with.
const ADDRESS: &[u8] = b"AddressSanitizer: ";

/// Freed blocks of which it is known who freed them.
const FREED: usize = 4096;

/// Functions by which a program frees, in whichever module the runtime is.
const FREEING: [&CStr; 14] = [
    c"free",
    c"cfree",
    c"realloc",
    c"reallocarray",
    c"__interceptor_free",
    c"__interceptor_realloc",
    c"_ZdlPv",
    c"_ZdaPv",
    c"_ZdlPvm",
    c"_ZdaPvm",
    c"_ZdlPvSt11align_val_t",
    c"_ZdaPvSt11align_val_t",
    c"_ZdlPvmSt11align_val_t",
    c"_ZdaPvmSt11align_val_t",
];

/// `__asan_locate_address`.
type Locate = unsafe extern "C" fn(
    address: usize,
    name: *mut c_char,
    name_size: usize,
    start: *mut usize,
    size: *mut usize,
) -> *const c_char;

/// What is found of the runtimes in this process.
struct Found {
    /// Addresses of [`FREEING`].
    freeing: [usize; FREEING.len()],
    /// AddressSanitizer is there.
    address: bool,
    /// Code of the unwinder's library.
    unwinder: usize,
    /// The latest blocks that were freed, and by whom.
    freed: [(u64, Slot); FREED],
    /// How many there have been.
    frees: usize,
    /// Another `pthread_create`, `pthread_detach` stands in front of ours.
    wrapped: bool,
    poisoned: Option<unsafe extern "C" fn(usize, usize) -> usize>,
    report_read: Option<unsafe extern "C" fn(usize, usize)>,
    report_write: Option<unsafe extern "C" fn(usize, usize)>,
    /// Where the access is that we report ourselves; 0: it is not ours.
    access_pc: usize,
    report_pc: Option<unsafe extern "C" fn() -> usize>,
    locate: Option<Locate>,
    report_address: Option<unsafe extern "C" fn() -> usize>,
    free_stack: Option<unsafe extern "C" fn(usize, *mut usize, usize, *mut c_int) -> usize>,
    /// The module of AddressSanitizer's runtime. It may be the program, whose calls of `clock_gettime`
    /// come by the runtime's then.
    runtime: usize,
}

static FOUND: Serial<Found> = Serial::new(Found {
    freeing: [0; FREEING.len()],
    address: false,
    unwinder: 0,
    freed: [(0, 0); FREED],
    frees: 0,
    wrapped: false,
    poisoned: None,
    report_read: None,
    report_write: None,
    access_pc: 0,
    report_pc: None,
    locate: None,
    report_address: None,
    free_stack: None,
    runtime: 0,
});

fn found() -> &'static mut Found {
    // SAFETY: written once, before the program has threads.
    unsafe { FOUND.get() }
}

/// The address of a function by the order in which the program's modules are searched; 0: none.
fn look_up(name: &CStr) -> usize {
    // SAFETY: a plain look-up of a NUL-terminated name.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize }
}

/// First byte of the module that holds `address`.
fn module(address: usize) -> usize {
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: fills the structure if the result is not 0.
    unsafe {
        match libc::dladdr(address as *const c_void, info.as_mut_ptr()) {
            0 => 0,
            _ => info.assume_init().dli_fbase as usize,
        }
    }
}

/// A function of the runtime's, if it is there.
///
/// # Safety
/// `F` is the type of the function of that name.
unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    let address = look_up(name);
    // SAFETY: the caller's promise; a pointer has the size of an address.
    (address != 0).then(|| unsafe { core::mem::transmute_copy::<usize, F>(&address) })
}

/// Registers with the runtimes that are there. To be called once, before the program runs.
pub fn install() {
    type SetReport = unsafe extern "C" fn(unsafe extern "C" fn(*const c_char));
    type SetDeath = unsafe extern "C" fn(extern "C" fn());
    type SetHooks = unsafe extern "C" fn(
        extern "C" fn(*const c_void, usize),
        extern "C" fn(*const c_void),
    ) -> c_int;
    let all = found();
    all.wrapped = module(look_up(c"pthread_create")) != module(install as *const () as usize);
    // SAFETY: the types are those of `sanitizer/asan_interface.h` and
    // `sanitizer/common_interface_defs.h`.
    unsafe {
        if let Some(set) = function::<SetDeath>(c"__sanitizer_set_death_callback") {
            set(on_death);
        }
        let Some(set) = function::<SetReport>(c"__asan_set_error_report_callback") else {
            return;
        };
        set(on_report);
        all.address = true;
        all.unwinder = module(_Unwind_FindEnclosingFunction as *const () as usize);
        all.locate = function(c"__asan_locate_address");
        all.poisoned = function(c"__asan_region_is_poisoned");
        all.report_read = function(c"__asan_report_load_n");
        all.report_write = function(c"__asan_report_store_n");
        all.report_pc = function(c"__asan_get_report_pc");
        all.report_address = function(c"__asan_get_report_address");
        all.free_stack = function(c"__asan_get_free_stack");
        all.freeing = FREEING.map(look_up);
        let runtime = module(set as *const () as usize);
        let program = module(libc::getauxval(libc::AT_ENTRY) as usize);
        if runtime != program || runtime == module(look_up(c"clock_gettime")) {
            all.runtime = runtime;
        }
        if let Some(set) = function::<SetHooks>(c"__sanitizer_install_malloc_and_free_hooks") {
            set(on_malloc, on_free);
        }
    }
}

/// [`gate::simple`] for what a sanitizer may do with a lock of its own held, around our call:
/// then nobody else runs at this point. Nothing is lost by that where the operation commutes with
/// those of all other threads. `about`: the thread that it is about, if it is about one.
pub fn point(kind: Kind, object: u64, about: Slot, pc: usize) {
    match found().wrapped {
        true => gate::alone(kind, object, pc),
        false => gate::access(kind, object, about.into(), pc),
    }
}

/// May others come by in such a call?
pub fn lets_others_go() -> bool {
    !found().wrapped
}

/// [`gate::returns`] from such a call.
pub fn returns(pc: usize) {
    if lets_others_go() {
        gate::returns(pc);
    }
}

/// Does AddressSanitizer take part?
pub fn is_address() -> bool {
    found().address
}

/// Does AddressSanitizer call here, by way of the unwinder, to make a report? It holds locks then.
pub fn reports(pc: usize) -> bool {
    found().address && module(pc) == found().unwinder
}

/// Does AddressSanitizer read a clock for itself, as its allocator does with its locks held? The
/// program's own calls come by an exported function of the runtime's.
pub fn reads_clock() -> bool {
    let runtime = found().runtime;
    if runtime == 0 {
        return false;
    }
    let own = module(reads_clock as fn() -> bool as usize);
    let mut frames = [core::ptr::null_mut(); DEPTH];
    gate::passively(|| {
        // SAFETY: as in `who_frees`.
        let len = unsafe { libc::backtrace(frames.as_mut_ptr(), DEPTH as c_int) } as usize;
        // The byte before a return address is the call's.
        let calls = frames[..len].iter().map(|frame| *frame as usize - 1);
        let is_own = |&pc: &usize| module(pc) == own;
        // The runtime has a `backtrace` of its own, too.
        let calls = calls.skip_while(|pc| !is_own(pc));
        let mut calls = calls.skip_while(is_own);
        let mut caller = calls.next();
        if caller.is_some_and(|pc| {
            crate::heap::is_c_library(pc) && is_named(pc, |name| name.ends_with(b"clock_gettime"))
        }) {
            caller = calls.next();
        }
        caller.is_some_and(|pc| module(pc) == runtime && !is_named(pc, |_| true))
    })
}

/// Is the function at `pc` one that its library exports, and is its name `right`?
fn is_named(pc: usize, right: impl Fn(&[u8]) -> bool) -> bool {
    // SAFETY: looks up tables only; the name lives as long as the library.
    unsafe {
        let start = _Unwind_FindEnclosingFunction(pc as *mut c_void);
        let mut info: libc::Dl_info = core::mem::zeroed();
        libc::dladdr(start, &mut info) != 0
            && info.dli_saddr == start
            && !info.dli_sname.is_null()
            && right(CStr::from_ptr(info.dli_sname).to_bytes())
    }
}

/// Does a sanitizer want to know of every access?
pub fn watch() -> bool {
    found().poisoned.is_some()
}

/// Has AddressSanitizer look at an access that one of our hooks performs: the compiler does not
/// check what has become a call. Returns if all is well, or if its report is not the end.
#[inline]
pub fn check_access(kind: Kind, at: u64, size: u64, pc: usize) {
    if let Some(poisoned) = found().poisoned {
        ask(poisoned, kind, at, size, pc);
    }
}

/// Asks AddressSanitizer, whose function is `poisoned`.
#[cold]
fn ask(
    poisoned: unsafe extern "C" fn(usize, usize) -> usize,
    kind: Kind,
    at: u64,
    size: u64,
    pc: usize,
) {
    let all = found();
    let reads = matches!(kind, Kind::Read | Kind::AtomicRead | Kind::ReadRange);
    let report = if reads {
        all.report_read
    } else {
        all.report_write
    };
    // SAFETY: looks at the shadow of any address; the report needs no more than that.
    unsafe {
        let first = poisoned(at as usize, size as usize);
        if let (true, Some(report)) = (first != 0, report) {
            all.access_pc = pc;
            report(at as usize, size as usize);
            all.access_pc = 0;
        }
    }
}

/// A block was allocated; who asked is not known, so there is nothing to record.
extern "C" fn on_malloc(_block: *const c_void, _size: usize) {}

/// A block is about to be freed: nothing is locked, nothing has changed.
extern "C" fn on_free(block: *const c_void) {
    if !gate::active() {
        return;
    }
    let all = found();
    all.freed[all.frees % FREED] = (block as u64, gate::me());
    all.frees += 1;
    if gate::threads_alive() < 2 {
        return;
    }
    // The C library frees with locks of its own held; so do others that are not known.
    let pc = who_frees();
    if pc != 0 && !crate::heap::is_c_library(pc) {
        gate::simple(Kind::Free, block as u64, pc);
        gate::log(Kind::Free, block as u64, 0, pc);
    }
}

unsafe extern "C" {
    fn _Unwind_FindEnclosingFunction(pc: *mut c_void) -> *mut c_void;
}

/// Where the program calls the function that frees; 0: not found.
fn who_frees() -> usize {
    let mut frames = [core::ptr::null_mut(); DEPTH];
    gate::passively(|| {
        // SAFETY: the buffer is as large as said; the unwinder was loaded at the start.
        let len = unsafe { libc::backtrace(frames.as_mut_ptr(), DEPTH as c_int) } as usize;
        let starts_there = |frame: &*mut c_void| {
            // SAFETY: looks up tables only; the byte before a return address is the call's.
            let start = unsafe { _Unwind_FindEnclosingFunction(frame.wrapping_byte_sub(1)) };
            !start.is_null() && found().freeing.contains(&(start as usize))
        };
        let inner = frames[..len].iter().rposition(starts_there);
        inner
            .and_then(|i| frames[..len].get(i + 1))
            .map_or(0, |&frame| frame as usize)
    })
}

/// A sanitizer ends the process. What it has found, if it has not told us by [`on_report`], is in
/// the standard error, which in an execution is a file.
extern "C" fn on_death() {
    let mut tail = [0u8; 2048];
    let len = crate::os::read_end(2, &mut tail);
    if let Some(text) = runtime_error(&tail[..len]) {
        let mut line = [0u8; 200];
        let message = join(&mut line, b"UndefinedBehaviorSanitizer: ", text, b"");
        return record(End::Abort, 0, [0; 4], message);
    }
    record(
        End::Abort,
        0,
        [0; 4],
        "a sanitizer ended the program; standard error has its report",
    );
}

/// AddressSanitizer has written `report`.
unsafe extern "C" fn on_report(report: *const c_char) {
    // SAFETY: a string, as the interface says.
    let report = unsafe { CStr::from_ptr(report) }.to_bytes();
    let (text, access) = summary(report);
    let all = found();
    // SAFETY: the functions answer for the report that is being made.
    let (pc, address) = unsafe {
        (
            match (all.access_pc, all.report_pc) {
                (0, Some(get)) => get(),
                (own, _) => own,
            },
            all.report_address.map_or(0, |get| get()),
        )
    };
    let mut trace = [0usize; DEPTH];
    let mut thread = 0;
    // SAFETY: the buffer is as large as said.
    let len = all.free_stack.map_or(0, |get| unsafe {
        get(address, trace.as_mut_ptr(), trace.len(), &mut thread)
    });
    // The innermost entry is the function that frees, in the runtime.
    let freed_at = trace[..len.min(DEPTH)].get(1).map_or(0, |&pc| pc as u64);
    let block = start_of(address);
    let by = all.freed.iter().cycle().skip(all.frees % FREED).take(FREED);
    let by = by.filter(|entry| entry.0 == block && block != 0).last();
    let thread = by.map_or(slot::NONE, |entry| entry.1);
    let detail = [address as u64, block, freed_at, u64::from(thread)];
    let mut line = [0u8; 200];
    let message = join(&mut line, ADDRESS, text, access);
    record(end_of(text), pc, detail, message);
}

/// First byte of the block at `address`; 0 if it is none of the heap's.
fn start_of(address: usize) -> u64 {
    let (mut start, mut size, mut name) = (0, 0, [0; 8]);
    let Some(locate) = found().locate else {
        return 0;
    };
    // SAFETY: the results have their places; the name that it returns is constant.
    unsafe {
        let what = locate(
            address,
            name.as_mut_ptr(),
            name.len(),
            &mut start,
            &mut size,
        );
        match !what.is_null() && CStr::from_ptr(what) == c"heap" {
            true => start as u64,
            false => 0,
        }
    }
}

/// What stands behind the last "runtime error" of a text, to the end of the line.
fn runtime_error(text: &[u8]) -> Option<&[u8]> {
    const START: &[u8] = b": runtime error: ";
    let at = text
        .windows(START.len())
        .rposition(|window| window == START)?;
    text[at + START.len()..].split(|&b| b == b'\n').next()
}

/// What the outcome is called: as where our own heap finds it.
fn end_of(text: &[u8]) -> End {
    const KNOWN: [(&[u8], End); 3] = [
        (b"heap-use-after-free", End::UseAfterFree),
        (b"attempting double-free", End::DoubleFree),
        (b"heap-buffer-overflow", End::HeapOverflow),
    ];
    let known = KNOWN.iter().find(|row| text.starts_with(row.0));
    known.map_or(End::Abort, |row| row.1)
}

/// The first line of a report, without what differs between equal failures, and the access.
fn summary(report: &[u8]) -> (&[u8], &[u8]) {
    const START: &[u8] = b"ERROR: AddressSanitizer: ";
    let Some(at) = position(report, START) else {
        return (b"", b"");
    };
    let mut lines = report[at + START.len()..].split(|&b| b == b'\n');
    let first = lines.next().unwrap_or_default();
    let text = &first[..position(first, b"0x").unwrap_or(first.len())];
    let text = [&b" on address "[..], b" on ", b": ", b" "]
        .iter()
        .find_map(|end| text.strip_suffix(*end))
        .unwrap_or(text);
    let next = lines.next().unwrap_or_default();
    let is_access = next.starts_with(b"READ") || next.starts_with(b"WRITE");
    let access = match position(next, b" at 0x") {
        Some(end) if is_access => &next[..end],
        _ => b"",
    };
    (text, access)
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// One line of text, cut where it is too long.
fn join<'b>(line: &'b mut [u8], who: &[u8], text: &[u8], access: &[u8]) -> &'b str {
    let separator: &[u8] = if access.is_empty() { b"" } else { b", " };
    let parts = [who, text, separator, access];
    let mut len = 0;
    for &byte in parts.into_iter().flatten().take(line.len()) {
        line[len] = if byte.is_ascii_graphic() { byte } else { b' ' };
        len += 1;
    }
    core::str::from_utf8(&line[..len]).unwrap_or_default()
}

fn record(end: End, pc: usize, detail: [u64; 4], message: &str) {
    if gate::active() {
        gate::record(&Fatal {
            end,
            code: 0,
            message: format_args!("{message}"),
            detail,
            pc,
            stack: true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_counts() {
        let table: [(&str, Option<&str>); 4] = [
            (
                "a.c:3:5: runtime error: shift exponent 40 is too large\nmore",
                Some("shift exponent 40 is too large"),
            ),
            ("a: runtime error: one\nb: runtime error: two", Some("two")),
            (": runtime error: ", Some("")),
            ("runtime error", None),
        ];
        for (text, expected) in table {
            let found = runtime_error(text.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn a_report_is_known_by_its_first_lines() {
        let table: [(&str, &str, End); 6] = [
            (
                "=====\n==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 \
                 at pc 0x5 bp 0x7\nREAD of size 4 at 0x602000000010 thread T1\n    #0 …",
                "AddressSanitizer: heap-use-after-free, READ of size 4",
                End::UseAfterFree,
            ),
            (
                "==7==ERROR: AddressSanitizer: attempting double-free on 0x602 in thread T2:\n",
                "AddressSanitizer: attempting double-free",
                End::DoubleFree,
            ),
            (
                "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\nWRITE of size 8 at 0x6 thread T0",
                "AddressSanitizer: heap-buffer-overflow, WRITE of size 8",
                End::HeapOverflow,
            ),
            (
                "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x5)\n",
                "AddressSanitizer: SEGV on unknown address",
                End::Abort,
            ),
            (
                "==7==ERROR: AddressSanitizer: attempting free on address which was not malloc()-ed: 0x7 in thread T0",
                "AddressSanitizer: attempting free on address which was not malloc()-ed",
                End::Abort,
            ),
            ("nothing of the sort", "AddressSanitizer: ", End::Abort),
        ];
        for (report, message, end) in table {
            let (text, access) = summary(report.as_bytes());
            let mut line = [0; 200];
            assert_eq!(join(&mut line, ADDRESS, text, access), message);
            assert_eq!(end_of(text), end, "{report}");
        }
        for cut in 0..60 {
            let report = &table[0].0.as_bytes()[..cut];
            let (text, access) = summary(report);
            let mut line = [0; 8];
            assert!(join(&mut line, ADDRESS, text, access).len() <= 8);
        }
    }
}
