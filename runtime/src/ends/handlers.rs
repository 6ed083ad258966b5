//! What the program has asked for at its end: handlers (`atexit`, `on_exit`, `at_quick_exit`) and the
//! destructors of static objects.
//!
//! `exit` takes them off a list, one after the other, and so does another thread that calls `exit`
//! meanwhile: who gets which is a matter of the schedule. So going on to the next one is a step, and so
//! is a registration once there are several threads.

use crate::gate::{self, hooked::asks_for};
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use core::ffi::{CStr, c_int, c_void};
use raddle_protocol::event::{Kind, handlers as lists};

mod real {
    use core::ffi::{c_int, c_void};
    crate::real! {
        fn __cxa_atexit(
            handler: super::WithArgument,
            argument: *mut c_void,
            module: *mut c_void,
        ) -> c_int;
        fn __cxa_at_quick_exit(handler: super::WithArgument, module: *mut c_void) -> c_int;
        fn on_exit(handler: super::WithStatus, argument: *mut c_void) -> c_int;
    }
}

crate::export! {
    /// What `atexit` and the constructors of static objects call.
    fn __cxa_atexit(handler: WithArgument, argument: *mut c_void, module: *mut c_void) -> c_int
        = at_exit_from;
    /// What `at_quick_exit` calls.
    fn __cxa_at_quick_exit(handler: WithArgument, module: *mut c_void) -> c_int
        = at_quick_exit_from;
    /// As in glibc.
    fn on_exit(handler: WithStatus, argument: *mut c_void) -> c_int = on_exit_from;
}

pub(super) type WithArgument = unsafe extern "C-unwind" fn(*mut c_void);
pub(super) type WithStatus = unsafe extern "C-unwind" fn(c_int, *mut c_void);

/// Most handlers that are told apart; further ones are named as uncontrolled.
const MOST: usize = 1024;

/// Which list of the C library.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum List {
    Exit = 1,
    QuickExit = 2,
}

impl List {
    /// What records of hand-overs call it.
    fn number(self) -> u64 {
        match self {
            List::Exit => lists::EXIT,
            List::QuickExit => lists::QUICK_EXIT,
        }
    }
}

/// The running thread runs what others have registered, and comes after that.
pub(super) fn taken_over(pc: usize) {
    for list in [List::Exit, List::QuickExit] {
        gate::log(Kind::TakenOver, list.number(), 0, pc);
    }
}

#[derive(Clone, Copy)]
enum Call {
    WithArgument(WithArgument),
    WithStatus(WithStatus),
}

#[derive(Clone, Copy)]
struct Handler {
    call: Call,
    argument: *mut c_void,
    list: List,
    /// It is the first one of its list, and runs last.
    last: bool,
}

struct Handlers {
    all: [Option<Handler>; MOST],
    registered: usize,
    /// By list: how many have ever been there, and how many have not begun.
    ever: [u64; 3],
    left: [u64; 3],
    /// What runs at the very end is registered, by list.
    installed: [bool; 3],
}

// SAFETY of the pointers in it: they are handed back to the program, and nobody else looks.
static HANDLERS: Serial<Handlers> = Serial::new(Handlers {
    all: [None; MOST],
    registered: 0,
    ever: [0; 3],
    left: [0; 3],
    installed: [false; 3],
});

/// In which list's handlers a thread is.
#[derive(Clone, Copy)]
struct Inside(u8);

// SAFETY: 0 is a value.
unsafe impl Zero for Inside {}

static INSIDE: Serial<PerSlot<Inside>> = Serial::new(PerSlot::new());

fn handlers() -> &'static mut Handlers {
    // SAFETY: serialised; no caller keeps it over a switch.
    unsafe { HANDLERS.get() }
}

fn inside() -> &'static mut Inside {
    // SAFETY: as above.
    unsafe { &mut INSIDE.get()[gate::me()] }
}

/// To be called in the process that obeys the job.
pub(super) fn begin() {
    // SAFETY: only one thread exists.
    unsafe { INSIDE.get().map() };
}

/// Registers what runs at the very end of `exit`, because it is the first. What has begun is no longer
/// in the list; another thread that exits meanwhile must find it again.
pub(super) fn install_after(handler: WithStatus) {
    handlers().installed[List::Exit as usize] = true;
    // SAFETY: the handler lives as long as the process.
    unsafe { real::on_exit(handler, core::ptr::null_mut()) };
}

/// The same of `quick_exit`.
pub(super) fn install_after_quick(handler: WithArgument) {
    handlers().installed[List::QuickExit as usize] = true;
    // SAFETY: as above.
    unsafe { real::__cxa_at_quick_exit(handler, core::ptr::null_mut()) };
}

/// The running thread goes on to the next handler of the list. A step, if the program has ever
/// registered one and somebody could be in the way of that.
pub(super) fn next(list: List, pc: usize) {
    let n = list as usize;
    if handlers().ever[n] == 0 && (list == List::QuickExit || !removes_others()) {
        return;
    }
    // Where nothing is left, that is told at the end of the list.
    if !(ends_are_looked_at(list) && handlers().left[n] == 0) {
        take(list, pc);
    }
}

/// The step itself. Was there one?
fn take(list: List, pc: usize) -> bool {
    let n = list as usize;
    inside().0 = list as u8;
    if super::are_ends_steps() {
        gate::ask_to_end();
        gate::simple(Kind::ExitNext, n as u64, pc);
        gate::log(Kind::ExitNext, n as u64, handlers().left[n], pc);
    }
    handlers().left[n] > 0
}

/// The running thread has run all handlers of the list. Has another thread registered one meanwhile, which
/// it has to run as well? Where that may be, a step: what is registered behind it is never run.
pub(super) fn any_more(list: List, pc: usize) -> bool {
    ends_are_looked_at(list) && take(list, pc)
}

/// Functions by which a program registers handlers, by list.
const REGISTRATION: [&str; 3] = [
    "",
    "atexit __cxa_atexit on_exit",
    "at_quick_exit __cxa_at_quick_exit",
];

/// Whether a module asks for them.
static ASKED_FOR: Serial<[bool; 3]> = Serial::new([false; 3]);

/// A library was loaded, or all are that the program begins with.
pub(super) fn look_for_registration() {
    // SAFETY: the running thread; not kept.
    let asked_for = unsafe { ASKED_FOR.get() };
    for (names, asked_for) in REGISTRATION.iter().zip(asked_for) {
        *asked_for = !names.is_empty() && asks_for(names);
    }
}

/// Is it a step of its own that a list is at its end?
fn ends_are_looked_at(list: List) -> bool {
    // SAFETY: a plain flag.
    super::are_explored() && unsafe { ASKED_FOR.get()[list as usize] }
}

/// Behind the last handler of `exit` the modules' own ends follow, with which those of `quick_exit` are
/// taken off their list, unless there are none.
fn removes_others() -> bool {
    handlers().ever[List::QuickExit as usize] != 0
}

/// Notes a handler, and returns what to register in its place; `None`: it is to be registered as it
/// is.
fn register(list: List, call: Call, argument: *mut c_void, pc: usize) -> Option<*mut c_void> {
    let n = list as usize;
    if !handlers().installed[n] {
        // The run-time library of another tool, which is there before all else: it runs behind the end.
        return None;
    }
    if gate::active() && gate::threads_created() > 1 && super::are_ends_steps() {
        gate::simple(Kind::AtExit, n as u64, pc);
        gate::log(Kind::AtExit, n as u64, handlers().left[n], pc);
    }
    gate::log(Kind::HandedOn, list.number(), 0, pc);
    let all = handlers();
    let Some(free) = all.all.get_mut(all.registered) else {
        if gate::active() {
            gate::uncontrolled("very many handlers of exit");
        }
        return None;
    };
    *free = Some(Handler {
        call,
        argument,
        list,
        last: all.ever[n] == 0,
    });
    all.registered += 1;
    all.ever[n] += 1;
    all.left[n] += 1;
    // The number of the handler, from 1, in place of an address.
    Some(all.registered as *mut c_void)
}

/// Runs the handler of this number.
unsafe fn run(number: *mut c_void, status: c_int) {
    let Some(handler) = handlers().all.get(number as usize - 1).copied().flatten() else {
        return;
    };
    // It was registered when the list had come to its end.
    if gate::active() && super::exit::has_ended() {
        return;
    }
    let n = handler.list as usize;
    handlers().left[n] = handlers().left[n].saturating_sub(1);
    // SAFETY: what the program has registered, with its own argument.
    unsafe {
        match handler.call {
            Call::WithArgument(call) => call(handler.argument),
            Call::WithStatus(call) => call(status, handler.argument),
        }
    }
    // A module that is unloaded runs its handlers, too, and then nothing is over.
    let more = !handler.last || handler.list == List::Exit && removes_others();
    if gate::active() && more && inside().0 == handler.list as u8 {
        next(handler.list, super::exit::asked_at());
    }
}

unsafe extern "C-unwind" fn run_with_argument(number: *mut c_void) {
    // SAFETY: only `register` gives such numbers.
    unsafe { run(number, 0) }
}

unsafe extern "C-unwind" fn run_with_status(status: c_int, number: *mut c_void) {
    // SAFETY: as above.
    unsafe { run(number, status) }
}

unsafe extern "C-unwind" fn at_exit_from(
    handler: WithArgument,
    argument: *mut c_void,
    module: *mut c_void,
    pc: usize,
) -> c_int {
    let numbered = (!is_runtime_library(module))
        .then(|| register(List::Exit, Call::WithArgument(handler), argument, pc))
        .flatten();
    match numbered {
        // SAFETY: a number for the program's own arguments.
        Some(number) => unsafe { real::__cxa_atexit(run_with_argument, number, module) },
        // SAFETY: the program's own arguments.
        None => unsafe { real::__cxa_atexit(handler, argument, module) },
    }
}

/// The C library calls these handlers with the argument null, so a number cannot be handed on: each
/// list entry is a function of its own. There are few, and what comes after is told by the order of
/// their calls.
unsafe extern "C-unwind" fn at_quick_exit_from(
    handler: WithArgument,
    module: *mut c_void,
    pc: usize,
) -> c_int {
    let call = Call::WithArgument(handler);
    let numbered = register(List::QuickExit, call, core::ptr::null_mut(), pc);
    match numbered {
        // SAFETY: the number stands for the program's own arguments.
        Some(_) => unsafe { real::__cxa_at_quick_exit(run_quick, module) },
        // SAFETY: the program's own arguments.
        None => unsafe { real::__cxa_at_quick_exit(handler, module) },
    }
}

/// Runs the latest handler of `quick_exit` that has not begun.
unsafe extern "C-unwind" fn run_quick(_: *mut c_void) {
    let all = handlers();
    let of_list = |h: &Option<Handler>| h.is_some_and(|h| h.list == List::QuickExit);
    let left = all.left[List::QuickExit as usize] as usize;
    let numbers = (0..all.registered).filter(|&n| of_list(&all.all[n]));
    if let Some(latest) = left.checked_sub(1).and_then(|n| { numbers }.nth(n)) {
        // SAFETY: a number that `register` gave.
        unsafe { run((latest + 1) as *mut c_void, 0) }
    }
}

unsafe extern "C-unwind" fn on_exit_from(
    handler: WithStatus,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    match register(List::Exit, Call::WithStatus(handler), argument, pc) {
        // SAFETY: a number for the program's own arguments.
        Some(number) => unsafe { real::on_exit(run_with_status, number) },
        // SAFETY: the program's own arguments.
        None => unsafe { real::on_exit(handler, argument) },
    }
}

/// Does this address lie in a library of the C or C++ compiler, whose own objects are no concern of
/// the program's?
fn is_runtime_library(address: *const c_void) -> bool {
    const NAMES: [&[u8]; 5] = [
        b"/libstdc++",
        b"/libc++",
        b"/libgcc_s",
        b"/libc.so",
        b"/libm.so",
    ];
    // SAFETY: fills in the structure if the result is not 0; the name is a string then.
    unsafe {
        let mut info: libc::Dl_info = core::mem::zeroed();
        if libc::dladdr(address, &mut info) == 0 || info.dli_fname.is_null() {
            return false;
        }
        let file = CStr::from_ptr(info.dli_fname).to_bytes();
        let is_in = |name: &&[u8]| file.windows(name.len()).any(|part| part == *name);
        NAMES.iter().any(is_in)
    }
}
