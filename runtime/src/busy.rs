//! Busy waits in code without instrumentation: loops of loads that no hook sees. All threads run
//! on one kernel thread, so nobody would ever end such a wait.
//!
//! Where a job asks for it ([`flags::WATCH_LOOPS`]), a timer of that kernel thread's CPU time looks
//! whether a thread computes for long without an operation. If it is found in the very same state
//! again and again (registers and the top of its stack), it goes round a loop that changes nothing
//! of its own: it yields where it is, and others go first. A preemption at any place is a legal
//! one; that only such loops are preempted keeps executions the same from run to run, whatever else
//! the machine does. A thread that computes for very long without an operation, in whatever states,
//! may wait in a loop that counts: it yields as well, at the next look. Only fibers need this, and
//! AddressSanitizer's own loops are left alone.
//!
//! Where such a loop has been found, it is known to all later executions ([`Known`]), and a second timer,
//! of real time, looks for the known ones alone, much more often: a timer of CPU time comes with the
//! kernel's tick, some milliseconds apart.
//!
//! A process that is put back must have no such timer: the kernel cannot write a signal's frame to
//! pages that are watched. The controller asks for one or the other.

use crate::serial::Serial;
use crate::{foreign, gate, os, raw, threads};
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};
use raddle_protocol::Slot;
use raddle_protocol::shared::{BUSY_WAIT, flags};

/// Nothing else uses it on x86-64.
const SIGNAL: c_int = libc::SIGSTKFLT;
/// Nanoseconds of CPU time between two looks; the kernel rounds up to its tick.
const LOOK: i64 = 4_000_000;
/// Nanoseconds between two looks for loops that are known.
const SHORT_LOOK: i64 = 100_000;
/// Instructions of a loop lie within so many bytes of each other.
const LOOP: usize = 32;
/// Most loops that are known.
const LOOPS: usize = 64;
/// So often in the same state it waits.
const AGAIN: u32 = 3;
/// So many looks in a row, in whatever states, are very long: 0.3 s.
const VERY_LONG: u32 = 75;
/// How many states are remembered.
const STATES: usize = 64;
/// Bytes of the stack that belong to a state.
const TOP: usize = 256;
/// Most segments of libraries in which no thread is stopped.
const LIBRARIES: usize = 32;

/// What the looks have seen.
struct Watch {
    armed: bool,
    /// The timer for known loops is set.
    often: bool,
    /// So many of its signals have come since it last stood for the other timer.
    short: i64,
    /// The running thread and the number of steps at the last look.
    last: (Slot, u64),
    /// So many looks before that one found the same.
    looks: u32,
    /// States, and how often each was seen; written round and round.
    states: [(u64, u32); STATES],
    next: usize,
    /// Code that may hold locks of its own: first address, end.
    libraries: [(usize, usize); LIBRARIES],
    known: usize,
}

/// The loops that any execution has found to wait, by an instruction of each; 0: no more. In memory that
/// all executions share: it only says where to look more often.
struct Known([AtomicUsize; LOOPS]);

/// Null until [`prepare`].
static KNOWN: Serial<*const Known> = Serial::new(core::ptr::null());

/// See [`Known`].
fn known() -> Option<&'static Known> {
    // SAFETY: written before the process is cloned; the memory is never unmapped.
    unsafe { (*KNOWN.get()).as_ref() }
}

impl Known {
    fn any(&self) -> bool {
        self.0[0].load(Ordering::Relaxed) != 0
    }

    fn has(&self, pc: usize) -> bool {
        let at = |place: &AtomicUsize| place.load(Ordering::Relaxed);
        let mut loops = self.0.iter().map(at).take_while(|&at| at != 0);
        loops.any(|at| at.abs_diff(pc) < LOOP)
    }

    fn add(&self, pc: usize) {
        if !self.has(pc) {
            let free = |place: &&AtomicUsize| place.load(Ordering::Relaxed) == 0;
            if let Some(place) = self.0.iter().find(free) {
                place.store(pc, Ordering::Relaxed);
            }
        }
    }
}

static WATCH: Serial<Watch> = Serial::new(Watch {
    armed: false,
    often: false,
    short: 0,
    last: (0, 0),
    looks: 0,
    states: [(0, 0); STATES],
    next: 0,
    libraries: [(0, 0); LIBRARIES],
    known: 0,
});

fn watch() -> &'static mut Watch {
    // SAFETY: the running thread, or its own signal handler outside of this library; not kept over
    // a switch.
    unsafe { WATCH.get() }
}

/// Called once before the process is cloned: remembers where the libraries are whose code is never
/// interrupted.
pub fn prepare() {
    let shared = os::map_shared_memory(size_of::<Known>()).cast::<Known>();
    // SAFETY: the function is made for it; zeros are no known loops; only one thread exists.
    unsafe {
        crate::process::loader::visit(Some(add), core::ptr::null_mut());
        *KNOWN.get() = shared;
    }
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid entry.
    let (info, name, headers) = unsafe {
        let info = &*info;
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (info, name, headers)
    };
    if !raw::is_library(name) {
        return 0;
    }
    let is_code = |h: &&libc::Elf64_Phdr| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0;
    for header in headers.iter().filter(is_code) {
        let watch = watch();
        if let Some(place) = watch.libraries.get_mut(watch.known) {
            let first = (info.dlpi_addr + header.p_vaddr) as usize;
            *place = (first, first + header.p_memsz as usize);
            watch.known += 1;
        }
    }
    0
}

/// Called in the process that obeys a job: sets the timer if the job asks for it.
pub fn begin() {
    let asked = gate::flags() & flags::WATCH_LOOPS != 0;
    let fits = gate::flags() & (flags::KERNEL_THREADS | flags::SYMBOLIC) == 0;
    if !asked || !fits || foreign::sanitizers::is_address() {
        return;
    }
    raw::handle_signal(SIGNAL, on_look as *const () as usize, libc::SA_RESTART);
    watch().armed = true;
    set_timer(libc::CLOCK_THREAD_CPUTIME_ID, LOOK);
    look_often();
}

/// If any loop is known, looks for those more often.
fn look_often() {
    if !watch().often && known().is_some_and(Known::any) {
        watch().often = true;
        set_timer(libc::CLOCK_MONOTONIC, SHORT_LOOK);
    }
}

/// Has the calling thread looked at every so many nanoseconds; a signal's value is the clock.
fn set_timer(clock: libc::clockid_t, every: i64) {
    // `struct sigevent` of the kernel: value, signal, kind, thread.
    let mut event = [0u32; 16];
    event[0] = clock as u32;
    event[2] = SIGNAL as u32;
    event[3] = libc::SIGEV_THREAD_ID as u32;
    event[4] = os::thread_id() as u32;
    let mut timer: c_int = -1;
    // An interval and a time: seconds and nanoseconds each.
    let time: [i64; 4] = [0, every, 0, every];
    let clock = clock as usize;
    let (event, into) = (&raw const event as usize, &raw mut timer as usize);
    let at = &raw const time as usize;
    // SAFETY: the kernel reads the structures and writes the timer's number.
    unsafe {
        os::syscall(libc::SYS_timer_create, clock, event, into, 0, 0, 0);
        os::syscall(libc::SYS_timer_settime, timer as usize, 0, at, 0, 0, 0);
    }
}

/// The signal that must never be blocked, as the kernel's set.
pub fn unblockable() -> u64 {
    u64::from(watch().armed) << (SIGNAL - 1)
}

impl Watch {
    fn in_library(&self, pc: usize) -> bool {
        let mut libraries = self.libraries[..self.known].iter();
        libraries.any(|&(first, end)| (first..end).contains(&pc))
    }

    /// A signal of the timer for known loops has come: is it time for a look at any loop?
    fn stands_for_the_other(&mut self) -> bool {
        self.short = (self.short + 1) % (LOOK / SHORT_LOOK);
        self.short == 0
    }

    /// Counts how often this state was seen.
    fn seen(&mut self, state: u64) -> u32 {
        if let Some((_, count)) = self.states.iter_mut().find(|(s, _)| *s == state) {
            *count += 1;
            return *count;
        }
        self.states[self.next] = (state, 1);
        self.next = (self.next + 1) % STATES;
        1
    }
}

/// All by which the thread's next instructions are decided, memory apart.
fn state(registers: &[i64; 23]) -> u64 {
    let top = registers[libc::REG_RSP as usize] as usize & !7;
    // SAFETY: the interrupted thread's own stack; above it lies its descriptor, or main's arguments.
    let stack = unsafe { core::slice::from_raw_parts(top as *const u64, TOP / 8) };
    let registers = registers[..=libc::REG_RIP as usize].iter();
    let words = registers.map(|&r| r as u64).chain(stack.iter().copied());
    words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
        let mixed = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        mixed.rotate_left(23)
    })
}

extern "C-unwind" fn on_look(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid context to an SA_SIGINFO handler.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as usize;
    // What lies in this library, and in others that may hold locks, is not to be looked into.
    if watch().in_library(pc) || !gate::active() || !threads::is_running() {
        return;
    }
    // SAFETY: as above, with the value of the timer.
    let often =
        unsafe { (*info).si_value().sival_ptr as usize as u32 } == libc::CLOCK_MONOTONIC as u32;
    // While one of its signals waits to be handled, none of the other timer's comes.
    let full = !often || watch().stands_for_the_other();
    if !full && !known().is_some_and(|known| known.has(pc)) {
        return;
    }
    let now = (gate::me(), gate::steps());
    if core::mem::replace(&mut watch().last, now) != now {
        watch().looks = 0;
        return;
    }
    watch().looks += u32::from(full);
    let again = watch().seen(state(registers)) >= AGAIN;
    if again && let Some(known) = known() {
        known.add(pc);
        look_often();
    }
    let waits = again || watch().looks >= VERY_LONG;
    if waits && gate::others_go_on() {
        // SAFETY: the running thread's own errno.
        let errno = unsafe { *libc::__errno_location() };
        gate::uncontrolled(BUSY_WAIT);
        gate::pass_over();
        // SAFETY: as above; the context is this handler's.
        unsafe {
            *libc::__errno_location() = errno;
            raw::keep_mask(context);
        }
    }
}
