//! Settings of kernel threads: processors, scheduling classes, clocks. The C library asks the
//! kernel about a thread by its id. A fiber's is that of its stand-in (`numbers`), which keeps what
//! is set; none of it has an effect, since the schedule is raddle's. Scheduling classes, which
//! threads inherit, are kept here as long as there is no stand-in.

use super::{names, slot_of};
use crate::os::syscall;
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use crate::{gate, numbers, substrate};
use core::ffi::{c_int, c_void};
use libc::{EINVAL, clockid_t, pthread_attr_t, pthread_t, sched_param};
use raddle_protocol::Slot;

/// The scheduling class of a thread, and its priority there; zero: as any.
#[derive(Clone, Copy, Default)]
struct Class {
    policy: c_int,
    priority: c_int,
}

// SAFETY: numbers.
unsafe impl Zero for Class {}

static CLASSES: Serial<PerSlot<Class>> = Serial::new(PerSlot::new());

fn classes() -> &'static mut PerSlot<Class> {
    // SAFETY: the running thread; nothing below switches.
    let classes = unsafe { CLASSES.get() };
    classes.map();
    classes
}

impl Class {
    /// Is it one that sched_setscheduler(2) knows, with a priority that it has?
    fn is_valid(self) -> bool {
        let most = match self.policy & !libc::SCHED_RESET_ON_FORK {
            libc::SCHED_FIFO | libc::SCHED_RR => 1..=99,
            libc::SCHED_OTHER | libc::SCHED_BATCH | libc::SCHED_IDLE => 0..=0,
            _ => return false,
        };
        most.contains(&self.priority)
    }

    /// Whether the kernel lets this process have it, 0 or an errno: it is asked with the kernel
    /// thread that there is, which is then as it was.
    fn refused(self) -> c_int {
        if !self.is_valid() {
            return EINVAL;
        }
        if self.priority == 0 {
            return 0;
        }
        let result = give(0, self);
        if result == 0 {
            give(0, Class::default());
        }
        -result as c_int
    }
}

/// The class that the attributes of a new thread ask for, if they do; whatever the creator's is.
///
/// # Safety
/// `attr` is null or initialised.
unsafe fn asked_for(attr: *const pthread_attr_t) -> Option<Class> {
    unsafe extern "C" {
        fn pthread_attr_getinheritsched(attr: *const pthread_attr_t, how: *mut c_int) -> c_int;
        fn pthread_attr_getschedpolicy(attr: *const pthread_attr_t, policy: *mut c_int) -> c_int;
        fn pthread_attr_getschedparam(attr: *const pthread_attr_t, to: *mut sched_param) -> c_int;
    }
    /// glibc's PTHREAD_EXPLICIT_SCHED.
    const EXPLICIT: c_int = 1;
    let (mut how, mut class) = (0, Class::default());
    let mut param = sched_param { sched_priority: 0 };
    // SAFETY: the caller's promise.
    unsafe {
        let asked = !attr.is_null() && pthread_attr_getinheritsched(attr, &mut how) == 0;
        if !asked || how != EXPLICIT {
            return None;
        }
        pthread_attr_getschedpolicy(attr, &mut class.policy);
        pthread_attr_getschedparam(attr, &mut param);
    }
    class.priority = param.sched_priority;
    Some(class)
}

/// Whether a thread with these attributes can be had: 0 or an errno.
///
/// # Safety
/// `attr` is null or initialised.
pub unsafe fn refused(attr: *const pthread_attr_t) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { asked_for(attr) }.map_or(0, Class::refused)
}

/// A thread begins with the class of its creator, unless its attributes have another one.
///
/// # Safety
/// `attr` is null or initialised.
pub unsafe fn inherit(parent: Slot, child: Slot, attr: *const pthread_attr_t) {
    let mut class = current(parent);
    if class.policy & libc::SCHED_RESET_ON_FORK != 0 {
        class = Class::default();
    }
    // SAFETY: the caller's promise.
    let class = unsafe { asked_for(attr) }.unwrap_or(class);
    classes()[child] = class;
    numbers::inherit(parent, child);
    if let Some(id) = numbers::given(child).filter(|_| !substrate::kernel_threads()) {
        give(id, class);
    }
}

/// Gives a fiber this class, if it can be had.
fn put(thread: pthread_t, class: Class) -> c_int {
    let refused = class.refused();
    if let (0, Some(slot)) = (refused, slot_of(thread)) {
        classes()[slot] = class;
        if let Some(id) = numbers::given(slot) {
            give(id, class);
        }
    }
    refused
}

/// The class of a fiber.
fn class_of(thread: pthread_t) -> Class {
    slot_of(thread).map_or(Class::default(), current)
}

/// The class that a thread has now.
fn current(slot: Slot) -> Class {
    let Some(id) = numbers::given(slot).filter(|_| !substrate::kernel_threads()) else {
        return classes()[slot];
    };
    let mut param = sched_param { sched_priority: 0 };
    // SAFETY: the kernel writes the structure.
    let policy = unsafe {
        let into = &raw mut param as usize;
        syscall(libc::SYS_sched_getparam, id as usize, into, 0, 0, 0, 0);
        syscall(libc::SYS_sched_getscheduler, id as usize, 0, 0, 0, 0, 0)
    };
    Class {
        policy: policy as c_int,
        priority: param.sched_priority,
    }
}

/// Has the kernel give this class to one of its threads.
fn give(id: libc::pid_t, class: Class) -> isize {
    let at = &raw const class.priority as usize;
    let call = libc::SYS_sched_setscheduler;
    // SAFETY: `sched_param` is its priority.
    unsafe { syscall(call, id as usize, class.policy as usize, at, 0, 0, 0) }
}

/// The kernel thread `id` has been made to stand in for `thread`: it gets what was set before.
pub fn settle(thread: Slot, id: libc::pid_t) {
    let class = classes()[thread];
    if class.policy != 0 || class.priority != 0 {
        give(id, class);
    }
}

unsafe extern "C-unwind" fn get_scheduling(
    thread: pthread_t,
    policy: *mut c_int,
    param: *mut sched_param,
    _: usize,
) -> c_int {
    // SAFETY: the program's arguments, also below.
    unsafe {
        if !is_fiber(thread) {
            return real::pthread_getschedparam(thread, policy, param);
        }
        if !names::about(slot_of(thread).unwrap_or(gate::me()), false) {
            return libc::ESRCH;
        }
        let class = class_of(thread);
        policy.write(class.policy);
        (*param).sched_priority = class.priority;
    }
    0
}

unsafe extern "C-unwind" fn set_scheduling(
    thread: pthread_t,
    policy: c_int,
    param: *const sched_param,
    _: usize,
) -> c_int {
    // SAFETY: the program's arguments.
    let given = unsafe {
        if !is_fiber(thread) {
            return real::pthread_setschedparam(thread, policy, param);
        }
        param.as_ref()
    };
    given.map_or(EINVAL, |param| {
        let priority = param.sched_priority;
        if !names::about(slot_of(thread).unwrap_or(gate::me()), true) {
            return libc::ESRCH;
        }
        put(thread, Class { policy, priority })
    })
}

unsafe extern "C-unwind" fn set_priority(thread: pthread_t, priority: c_int, _: usize) -> c_int {
    if !is_fiber(thread) {
        // SAFETY: passed on.
        return unsafe { real::pthread_setschedprio(thread, priority) };
    }
    if !names::about(slot_of(thread).unwrap_or(gate::me()), true) {
        return libc::ESRCH;
    }
    let policy = class_of(thread).policy;
    put(thread, Class { policy, priority })
}

mod real {
    use super::*;
    crate::real! {
        fn pthread_getaffinity_np(thread: pthread_t, size: usize, set: *mut c_void) -> c_int;
        fn pthread_setaffinity_np(thread: pthread_t, size: usize, set: *const c_void) -> c_int;
        fn pthread_getschedparam(
            thread: pthread_t,
            policy: *mut c_int,
            param: *mut sched_param,
        ) -> c_int;
        fn pthread_setschedparam(
            thread: pthread_t,
            policy: c_int,
            param: *const sched_param,
        ) -> c_int;
        fn pthread_setschedprio(thread: pthread_t, priority: c_int) -> c_int;
        fn pthread_getcpuclockid(thread: pthread_t, clock: *mut clockid_t) -> c_int;
    }
}

/// Is this a thread whose kernel thread is not its own?
fn is_fiber(thread: pthread_t) -> bool {
    gate::active() && !substrate::kernel_threads() && slot_of(thread).is_some()
}

/// Asks the C library about `thread`, with the number of the kernel thread that is its own, as a step
/// if threads are under control: constructors of libraries ask before that.
fn ask(thread: pthread_t, changes: bool, ask: impl FnOnce() -> c_int) -> c_int {
    if !gate::active() {
        return ask();
    }
    names::about(slot_of(thread).unwrap_or(gate::me()), changes);
    match slot_of(thread).filter(|_| is_fiber(thread)) {
        Some(slot) => substrate::asking(thread, numbers::own_kernel_thread(slot), ask),
        None => ask(),
    }
}

unsafe extern "C-unwind" fn get_affinity(
    thread: pthread_t,
    size: usize,
    set: *mut c_void,
    _: usize,
) -> c_int {
    // SAFETY: passed on.
    ask(thread, false, || unsafe {
        real::pthread_getaffinity_np(thread, size, set)
    })
}

unsafe extern "C-unwind" fn set_affinity(
    thread: pthread_t,
    size: usize,
    set: *const c_void,
    _: usize,
) -> c_int {
    // SAFETY: passed on.
    ask(thread, true, || unsafe {
        real::pthread_setaffinity_np(thread, size, set)
    })
}

unsafe extern "C-unwind" fn get_clock(thread: pthread_t, clock: *mut clockid_t, _: usize) -> c_int {
    let known = if gate::active() {
        slot_of(thread)
    } else {
        None
    };
    match known {
        Some(slot) if !numbers::is_alive(slot) => libc::ESRCH,
        // SAFETY: the program's argument, also below.
        Some(slot) => unsafe {
            clock.write(numbers::calls::clock_of(numbers::of(slot), true));
            0
        },
        // SAFETY: the program's own arguments.
        None => unsafe { real::pthread_getcpuclockid(thread, clock) },
    }
}

crate::export! {
    fn pthread_getaffinity_np(thread: pthread_t, size: usize, set: *mut c_void) -> c_int
        = get_affinity;
    fn pthread_setaffinity_np(thread: pthread_t, size: usize, set: *const c_void) -> c_int
        = set_affinity;
    fn pthread_getschedparam(
        thread: pthread_t,
        policy: *mut c_int,
        param: *mut sched_param,
    ) -> c_int = get_scheduling;
    fn pthread_setschedparam(
        thread: pthread_t,
        policy: c_int,
        param: *const sched_param,
    ) -> c_int = set_scheduling;
    fn pthread_setschedprio(thread: pthread_t, priority: c_int) -> c_int = set_priority;
    fn pthread_getcpuclockid(thread: pthread_t, clock: *mut clockid_t) -> c_int = get_clock;
}
