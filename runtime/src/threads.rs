//! The pthread_* functions that make, join, cancel and end threads.

mod cancel;
mod leaving;
mod names;
pub mod points;
pub mod settings;
mod storage;
mod task;

pub use cancel::cancel_now;
pub use names::about as ask_about;
pub use storage::note as note_storage;
pub use task::{identity_changes, perform};

use crate::access::{self, staged};
use crate::foreign::sanitizers;
use crate::gate::{self, Pending, State, Wake};
use crate::io::stream_locks;
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use crate::substrate::{self, Attributes};
use crate::time::{self, Clock};
use crate::{keys, vars};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use libc::{pthread_attr_t, pthread_t, timespec};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::{Slot, slot};

mod real {
    use super::Routine;
    use libc::{pthread_attr_t, pthread_t, timespec};
    crate::real! {
        fn pthread_create(
            thread: *mut pthread_t,
            attr: *const pthread_attr_t,
            routine: Routine,
            argument: *mut core::ffi::c_void,
        ) -> core::ffi::c_int;
        fn pthread_join(thread: pthread_t, value: *mut *mut core::ffi::c_void) -> core::ffi::c_int;
        fn pthread_tryjoin_np(
            thread: pthread_t,
            value: *mut *mut core::ffi::c_void,
        ) -> core::ffi::c_int;
        fn pthread_timedjoin_np(
            thread: pthread_t,
            value: *mut *mut core::ffi::c_void,
            limit: *const timespec,
        ) -> core::ffi::c_int;
        fn pthread_clockjoin_np(
            thread: pthread_t,
            value: *mut *mut core::ffi::c_void,
            clock: libc::clockid_t,
            limit: *const timespec,
        ) -> core::ffi::c_int;
        fn pthread_detach(thread: pthread_t) -> core::ffi::c_int;
        fn pthread_exit(value: *mut core::ffi::c_void) -> !;
        fn pthread_getattr_np(thread: pthread_t, attr: *mut pthread_attr_t) -> core::ffi::c_int;
    }
}

crate::export! {
    fn pthread_create(
        thread: *mut pthread_t,
        attr: *const pthread_attr_t,
        routine: Routine,
        argument: *mut c_void,
    ) -> c_int = create_from;
    fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int = join_from;
    fn pthread_tryjoin_np(thread: pthread_t, value: *mut *mut c_void) -> c_int = try_join_from;
    fn pthread_timedjoin_np(
        thread: pthread_t,
        value: *mut *mut c_void,
        limit: *const timespec,
    ) -> c_int = timed_join_from;
    fn pthread_clockjoin_np(
        thread: pthread_t,
        value: *mut *mut c_void,
        clock: libc::clockid_t,
        limit: *const timespec,
    ) -> c_int = clock_join_from;
    fn pthread_detach(thread: pthread_t) -> c_int = detach_from;
    fn pthread_exit(value: *mut c_void) -> ! = exit_from;
    fn pthread_getattr_np(thread: pthread_t, attr: *mut pthread_attr_t) -> c_int = attributes_from;
}

/// A thread's start routine.
pub type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// May a request act on the running thread?
fn may_be_cancelled() -> bool {
    let info = info(gate::me());
    !info.exiting && !info.cancel_disabled
}

/// What is known of a thread besides what the gate knows.
struct Info {
    pthread: pthread_t,
    routine: Option<Routine>,
    argument: *mut c_void,
    /// Expression of the argument (0: concrete).
    expression: u32,
    result: *mut c_void,
    detached: bool,
    joined: bool,
    /// Main only: has left by `pthread_exit`, see [`leaving`].
    leaving: bool,
    /// The threads that it has made, see [`leaving::adopt`].
    family: leaving::Family,
    /// Has begun to end: cancellation has no effect any more.
    exiting: bool,
    cancel_requested: bool,
    cancel_disabled: bool,
    cancel_async: bool,
    named: bool,
    name: [u8; names::LEN],
    /// Bytes of the guard below its stack, as the program was promised.
    guard: usize,
}

// SAFETY: integers, pointers, `Option<fn>`, false.
unsafe impl Zero for Info {}

static INFOS: Serial<PerSlot<Info>> = Serial::new(PerSlot::new());

fn info(s: Slot) -> &'static mut Info {
    // SAFETY: serialised; no caller keeps it over a switch.
    unsafe { &mut INFOS.get()[s] }
}

/// Prepares for threads: main's own entry. To be called in the process that obeys the job.
pub fn begin() {
    // SAFETY: only one thread exists.
    unsafe {
        INFOS.get().map();
        info(slot::MAIN).pthread = libc::pthread_self();
    }
    keys::arm();
}

/// Is the caller the running thread (not a kernel thread that nobody controls)?
pub fn is_running() -> bool {
    // SAFETY: asks for the caller's own id.
    info(gate::me()).pthread == unsafe { libc::pthread_self() }
}

/// The C library's name of a thread: the address of its descriptor.
pub fn descriptor(s: Slot) -> pthread_t {
    info(s).pthread
}

/// The slot of `thread`; `None` if there is no such thread.
pub fn slot_of(thread: pthread_t) -> Option<Slot> {
    let is = |s: &Slot| gate::state(*s) != State::Free && info(*s).pthread == thread;
    let likely = substrate::slot_of_pthread(thread).filter(is);
    // Threads on one stack of the program's, one after another, have the same descriptor.
    let alive = |s: &Slot| is(s) && gate::state(*s) == State::Alive;
    let open = |s: &Slot| is(s) && !info(*s).joined;
    let all = || 0..slot::COUNT as Slot;
    let likely = likely.or_else(|| all().find(alive));
    likely
        .or_else(|| all().find(open))
        .or_else(|| all().find(is))
}

/// Is there another thread that nobody has joined? What it does, or has done, may come before what the
/// running thread does now, or behind it.
pub fn any_unjoined() -> bool {
    let me = gate::me();
    let there = |s: &Slot| *s != me && gate::state(*s) != State::Free && !info(*s).joined;
    gate::threads_created() > 1 && (0..slot::COUNT as Slot).any(|s| there(&s))
}

/// Has the program given a thread its stack?
static GIVES_STACKS: AtomicBool = AtomicBool::new(false);

/// The program gives this memory back. If it is the stack of a thread that nobody has joined (the thread's
/// descriptor lies on it), that may not have ended by then, and what it does there is not all followed.
pub fn gives_back(at: u64, len: u64) {
    if !GIVES_STACKS.load(Ordering::Relaxed) || !gate::asking::explores() {
        return;
    }
    let is_there = |&s: &Slot| {
        let there = info(s).pthread.wrapping_sub(at) < len;
        there && gate::state(s) != State::Free && !info(s).joined
    };
    if (0..slot::COUNT as Slot).any(|s| is_there(&s)) {
        gate::uncontrolled(
            "memory given back that is the stack of a thread which nobody has joined",
        );
    }
}

/// Has somebody joined `s`?
pub fn is_joined(s: Slot) -> bool {
    info(s).joined
}

/// The slot of `thread`; ends the execution if it is none, or none any more.
fn known(thread: pthread_t, what: &str, pc: usize) -> Slot {
    match slot_of(thread) {
        Some(s) if info(s).joined => misuse(what, "a thread that has been joined", thread, pc),
        Some(s) => s,
        None => misuse(what, "something that is not a thread", thread, pc),
    }
}

fn misuse(what: &str, of: &str, thread: pthread_t, pc: usize) -> ! {
    gate::finish(gate::Fatal {
        end: End::Misuse,
        code: 0,
        message: format_args!("{what} of {of}"),
        detail: [thread, 0, 0, 0],
        pc,
        stack: true,
    })
}

unsafe extern "C-unwind" fn create_from(
    thread: *mut pthread_t,
    attr: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_create(thread, attr, routine, argument) };
    }
    let expression = crate::shadow::argument(c"pthread_create", 3);
    spawn_with(thread, attr, routine, argument, expression, pc)
}

/// Makes a thread of the runtime's own, detached, in the slot `s`; false if that fails.
pub fn spawn_helper(s: Slot, routine: Routine, pc: usize) -> bool {
    gate::simple(Kind::ThreadCreate, 0, pc);
    let none = core::ptr::null_mut();
    let mut thread = 0;
    let given = Given {
        routine,
        argument: none,
        expression: 0,
        object: 0,
        detached: true,
        pc,
    };
    make(s, &mut thread, core::ptr::null(), &given) == 0
}

/// Makes the thread that a timer asks for, detached whatever its attributes say.
pub fn spawn_notified(routine: Routine, attr: *const pthread_attr_t, value: u64) {
    let pc = routine as usize;
    gate::simple(Kind::ThreadCreate, 0, pc);
    let Some(s) = gate::name_child() else {
        too_many(pc);
    };
    let mut thread = 0;
    let given = Given {
        routine,
        argument: value as *mut c_void,
        expression: 0,
        object: 0,
        detached: true,
        pc,
    };
    make(s, &mut thread, attr, &given);
}

/// Creates a controlled thread as `pthread_create` does (the events included). `pc`: where the
/// program asks for it. Returns 0 or an errno.
pub fn spawn(
    thread: *mut pthread_t,
    attr: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    spawn_with(thread, attr, routine, argument, 0, pc)
}

fn spawn_with(
    thread: *mut pthread_t,
    attr: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    expression: u32,
    pc: usize,
) -> c_int {
    let found = find_attributes(attr, pc);
    let attr = found.as_ref().map_or(attr, core::ptr::from_ref);
    // Where nobody comes by, the order of this write and those of others is not to be changed.
    let object = match sanitizers::lets_others_go() {
        true => thread as u64,
        false => 0,
    };
    sanitizers::point(Kind::ThreadCreate, object, slot::MAIN, pc);
    crate::raw::look_at_modules();
    let Some(s) = gate::name_child() else {
        too_many(pc);
    };
    let given = Given {
        routine,
        argument,
        expression,
        object,
        detached: false,
        pc,
    };
    let result = make(s, thread, attr, &given);
    sanitizers::returns(pc);
    result
}

/// Reads the attributes of a new thread, a step of its own where there are others who may write there: it
/// is made with what was found. In symbolic runs other hooks tell of that.
fn find_attributes(attr: *const pthread_attr_t, pc: usize) -> Option<pthread_attr_t> {
    let given = access::attributes_given();
    let may_change = !attr.is_null() && attr as u64 == given && gate::several();
    if !may_change || !sanitizers::lets_others_go() {
        return None;
    }
    let at = attr.cast_mut().cast();
    // SAFETY: the program's attributes, which are initialised.
    unsafe {
        access::range_read(at, size_of::<pthread_attr_t>() as u64, pc);
        Some(attr.read())
    }
}

/// What a new thread is to do, and where it was asked for.
struct Given {
    routine: Routine,
    argument: *mut c_void,
    expression: u32,
    /// Where the program is given its name; 0: it is not.
    object: u64,
    /// Whatever its attributes say.
    detached: bool,
    pc: usize,
}

/// Makes the thread of `s`, and the record of the step: 0 or an errno.
fn make(s: Slot, thread: *mut pthread_t, attr: *const pthread_attr_t, given: &Given) -> c_int {
    // SAFETY: the program's attributes are initialised.
    let attributes = unsafe { Attributes::read(attr) };
    // SAFETY: as above.
    let made = match unsafe { settings::refused(attr) } {
        0 => gate::as_thread(s, || substrate::spawn(s, &attributes)),
        error => Err(error),
    };
    if attributes.user_stack {
        GIVES_STACKS.store(true, Ordering::Relaxed);
    }
    // Its memory is that of others, too.
    if gate::asking::explores() && crate::vars::called_back() && any_unjoined() {
        gate::uncontrolled("an allocator of the program's, when it makes a thread");
    }
    let mut event = Event {
        kind: Kind::ThreadCreate as u8,
        size: u8::from(attributes.detached || given.detached),
        value: u64::from(slot::NONE),
        aux: given.expression,
        pc: given.pc as u64,
        ..Event::default()
    };
    let pthread = match made {
        Ok(pthread) => pthread,
        Err(error) => {
            gate::log_full(event);
            return error;
        }
    };
    let creator = gate::me();
    names::inherit(s, creator);
    task::inherit(creator, s);
    // SAFETY: as above.
    unsafe {
        crate::signals::inherit(creator, s, attr);
        settings::inherit(creator, s, attr);
    }
    leaving::adopt(creator, s);
    let info = info(s);
    info.pthread = pthread;
    info.routine = Some(given.routine);
    info.argument = given.argument;
    info.expression = given.expression;
    info.detached = attributes.detached || given.detached;
    info.guard = attributes.guard;
    gate::writes(thread as u64, size_of::<pthread_t>() as u64);
    // SAFETY: the program's variable, as `pthread_create` says.
    unsafe { thread.write(pthread) };
    (event.object, event.value) = (given.object, s.into());
    gate::log_full(event);
    gate::add_thread(s, given.routine as usize, given.pc);
    0
}

/// Names are not used twice, so their number is the limit of an execution.
fn too_many(pc: usize) -> ! {
    gate::finish(gate::Fatal {
        end: End::Unsupported,
        code: 0,
        message: format_args!("more than {} threads in one execution", slot::COUNT - 1),
        detail: [0; 4],
        pc,
        stack: true,
    })
}

/// What a new thread does once it is chosen for the first time.
extern "C-unwind" fn body() -> *mut c_void {
    let info = info(gate::me());
    let (argument, expression) = (info.argument, info.expression);
    let Some(routine) = info.routine else {
        // SAFETY: what a thread does whose start routine is the null pointer: it calls it, and the
        // signal ends the process.
        unsafe { core::arch::asm!("xor eax, eax", "call rax", options(noreturn)) }
    };
    crate::io::thread_begins();
    crate::numbers::begins(gate::me());
    gate::log(Kind::ThreadStart, routine as usize as u64, 0, 0);
    storage::note();
    keys::arm();
    vars::prepare_call(routine as usize, expression);
    let result = routine(argument);
    let pc = routine as usize;
    crate::shadow::concretise_result(routine as usize, result as u64, pc);
    self::info(gate::me()).result = result;
    if gate::active() {
        keys::will_run();
    }
    result
}

/// To be called once before the process is cloned for executions.
pub fn prepare() {
    substrate::prepare(body);
    keys::install(ending);
}

/// Where main's stack ended when it left by `pthread_exit`; 0: it has not.
static LEFT_AT: Serial<usize> = Serial::new(0);

/// The very end of a thread: after all of its destructors. Returns only in a process that is not
/// controlled (a fork of the target).
///
/// Others may still look at main's variables, which natively are there until the process ends: what is
/// left to do is done below them.
fn ending() {
    if !gate::active() {
        return;
    }
    // SAFETY: the running thread; the reference is not kept.
    match core::mem::take(unsafe { LEFT_AT.get() }) {
        // SAFETY: main's own stack, of which nothing below is in use any more; the call leaves it as it was.
        left @ 1.. if gate::me() == slot::MAIN => unsafe {
            core::arch::asm!(
                "mov r12, rsp",
                "mov rsp, {low}",
                "call {end}",
                "mov rsp, r12",
                low = in(reg) (left - 1024) & !15,
                end = sym end,
                out("r12") _,
                clobber_abi("C"),
            );
        },
        _ => end(),
    }
}

/// What is left to do for the running thread.
extern "C" fn end() {
    let me = gate::me();
    info(me).exiting = true;
    gate::set_cancel(me, gate::Cancel::No);
    if leaving::stays() {
        leaving::outlive_all();
    }
    staged::abandon(me, usize::MAX);
    stream_locks::abandon(me, usize::MAX);
    gate::simple(Kind::ThreadExit, info(me).pthread, 0);
    gate::log_full(Event {
        kind: Kind::ThreadExit as u8,
        aux: u32::from(crate::sync::mutex::leaves_any(me)),
        value: info(me).result as u64,
        ..Event::default()
    });
    crate::sync::mutex::thread_ended(me);
    if gate::threads_alive() == 1 + crate::timers::helpers() {
        crate::ends::exit(0);
    }
    crate::numbers::ended(me);
    substrate::ends(info(me).pthread);
    gate::end_thread(info(me).pthread)
}

unsafe extern "C-unwind" fn exit_from(value: *mut c_void, _: usize) -> ! {
    exit(value)
}

/// Ends the calling thread with `value`, as `pthread_exit` does.
pub fn exit(value: *mut c_void) -> ! {
    if gate::active() {
        if gate::me() == slot::MAIN {
            // SAFETY: the running thread; the reference is not kept.
            unsafe { *LEFT_AT.get() = (&raw const value).addr() };
        }
        info(gate::me()).result = value;
        staged::abandon(gate::me(), usize::MAX);
        stream_locks::abandon(gate::me(), usize::MAX);
        cancel::disarm();
        keys::will_run();
    }
    // SAFETY: frames of ours hold nothing that has a destructor.
    unsafe { real::pthread_exit(value) }
}

unsafe extern "C-unwind" fn join_from(
    thread: pthread_t,
    value: *mut *mut c_void,
    pc: usize,
) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_join(thread, value) };
    }
    // SAFETY: null or the program's variable.
    join(thread, unsafe { value.as_mut() }, pc)
}

/// Joins as `pthread_join` does; the events included. Returns 0 or an errno.
pub fn join(thread: pthread_t, value: Option<&mut *mut c_void>, pc: usize) -> c_int {
    join_until(thread, value, 0, pc)
}

/// [`join`] that gives up with ETIMEDOUT at the virtual time `deadline` (0: never).
fn join_until(
    thread: pthread_t,
    value: Option<&mut *mut c_void>,
    deadline: u64,
    pc: usize,
) -> c_int {
    let target = known(thread, "pthread_join", pc);
    if target == gate::me() {
        return libc::EDEADLK;
    }
    if joins_me(target) && !leaving::has_ended(target) {
        // Which of the two is told so is decided by no step.
        gate::uncontrolled("pthread_join of each other");
        return libc::EDEADLK;
    }
    let kind = match deadline {
        0 => Kind::ThreadJoin,
        _ => Kind::ThreadTimedJoin,
    };
    let wake = gate::point(Pending {
        aux: u64::from(target),
        deadline,
        ready: |p, _| leaving::has_ended(p.aux as Slot),
        holder: |p| (p.aux as Slot, 0),
        cancellable: true,
        ..Pending::always(kind, thread, pc)
    });
    match wake {
        Wake::Cancelled => cancel_now(),
        Wake::TimedOut => log_join(kind, target, libc::ETIMEDOUT, pc),
        Wake::Ready | Wake::Interrupted => reap(kind, thread, target, value, pc),
    }
}

/// Does `target` wait for the end of the running thread?
fn joins_me(target: Slot) -> bool {
    let me = info(gate::me()).pthread;
    [Kind::ThreadJoin, Kind::ThreadTimedJoin]
        .into_iter()
        .any(|kind| gate::waits_in(target, kind, me))
}

/// The target has ended: takes its result.
fn reap(
    kind: Kind,
    thread: pthread_t,
    target: Slot,
    value: Option<&mut *mut c_void>,
    pc: usize,
) -> c_int {
    known(thread, "pthread_join", pc);
    let stays = leaving::note_join_of(target);
    let info = info(target);
    if info.detached {
        misuse("pthread_join", "a detached thread", thread, pc);
    }
    info.joined = true;
    if !stays {
        substrate::release(target, thread);
    }
    if let Some(value) = value {
        *value = info.result;
    }
    log_join(kind, target, 0, pc)
}

fn log_join(kind: Kind, target: Slot, result: c_int, pc: usize) -> c_int {
    let cancels = kind != Kind::ThreadTryJoin && gate::cancel_of(gate::me()) != gate::Cancel::No;
    gate::log_full(Event {
        kind: kind as u8,
        size: u8::from(cancels),
        value: u64::from(target),
        aux: result as u32,
        pc: pc as u64,
        ..Event::default()
    });
    result
}

unsafe extern "C-unwind" fn try_join_from(
    thread: pthread_t,
    value: *mut *mut c_void,
    pc: usize,
) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_tryjoin_np(thread, value) };
    }
    let target = known(thread, "pthread_tryjoin_np", pc);
    gate::point(Pending {
        aux: u64::from(target),
        ..Pending::always(Kind::ThreadTryJoin, thread, pc)
    });
    let target = known(thread, "pthread_tryjoin_np", pc);
    if !leaving::has_ended(target) {
        leaving::saw_alive(target);
        return log_join(Kind::ThreadTryJoin, target, libc::EBUSY, pc);
    }
    // SAFETY: null or the program's variable.
    let value = unsafe { value.as_mut() };
    reap(Kind::ThreadTryJoin, thread, target, value, pc)
}

unsafe extern "C-unwind" fn timed_join_from(
    thread: pthread_t,
    value: *mut *mut c_void,
    limit: *const timespec,
    pc: usize,
) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_timedjoin_np(thread, value, limit) };
    }
    // SAFETY: the program's own, as the function says.
    unsafe { join_at(thread, value, libc::CLOCK_REALTIME, limit, pc) }
}

unsafe extern "C-unwind" fn clock_join_from(
    thread: pthread_t,
    value: *mut *mut c_void,
    clock: libc::clockid_t,
    limit: *const timespec,
    pc: usize,
) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_clockjoin_np(thread, value, clock, limit) };
    }
    // SAFETY: the program's own, as the function says.
    unsafe { join_at(thread, value, clock, limit, pc) }
}

unsafe extern "C-unwind" fn detach_from(thread: pthread_t, pc: usize) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_detach(thread) };
    }
    detach(thread, pc)
}

/// Detaches as `pthread_detach` does; the events included. Returns 0 or an errno.
pub fn detach(thread: pthread_t, pc: usize) -> c_int {
    let target = known(thread, "pthread_detach", pc);
    sanitizers::point(Kind::ThreadDetach, thread, target, pc);
    let target = known(thread, "pthread_detach", pc);
    let info = info(target);
    let result = if info.detached { libc::EINVAL } else { 0 };
    info.detached = true;
    gate::log_full(Event {
        kind: Kind::ThreadDetach as u8,
        value: u64::from(target),
        aux: result as u32,
        pc: pc as u64,
        ..Event::default()
    });
    result
}

unsafe extern "C-unwind" fn attributes_from(
    thread: pthread_t,
    attr: *mut pthread_attr_t,
    _: usize,
) -> c_int {
    let s = if gate::active() {
        slot_of(thread)
    } else {
        None
    };
    let Some(s) = s.filter(|&s| s != slot::MAIN) else {
        // SAFETY: passed on.
        return unsafe { real::pthread_getattr_np(thread, attr) };
    };
    if gate::exhaustive() && gate::hooked::refers_to("pthread_detach") {
        gate::uncontrolled("whether pthread_getattr_np tells of a thread that it is detached");
    }
    // SAFETY: passed on; the C library takes our stacks for the program's, without a guard.
    unsafe {
        let error = substrate::asking(thread, crate::os::thread_id(), || {
            real::pthread_getattr_np(thread, attr)
        });
        if error != 0 {
            return error;
        }
        libc::pthread_attr_setguardsize(attr, info(s).guard);
        let detached = match info(s).detached {
            true => libc::PTHREAD_CREATE_DETACHED,
            false => libc::PTHREAD_CREATE_JOINABLE,
        };
        libc::pthread_attr_setdetachstate(attr, detached)
    }
}

/// Waits for `thread` until `limit` on `clock`.
///
/// # Safety
/// The pointers are valid, `value` may be null.
unsafe fn join_at(
    thread: pthread_t,
    value: *mut *mut c_void,
    clock: libc::clockid_t,
    limit: *const timespec,
    pc: usize,
) -> c_int {
    let Some(clock) = Clock::for_waiting(clock) else {
        return libc::EINVAL;
    };
    // SAFETY: the caller's promise.
    let (value, limit) = unsafe { (value.as_mut(), limit.as_ref()) };
    let deadline = match limit.map(|limit| time::deadline(clock, limit)) {
        None => 0, // no limit: wait for ever
        Some(Some(deadline)) => deadline,
        Some(None) => return libc::EINVAL,
    };
    join_until(thread, value, deadline, pc)
}
