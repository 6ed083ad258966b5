//! Settings of kernel threads: processors, scheduling classes, clocks. The C library asks the
//! kernel about a thread by its id; a fiber has none, so the id of the thread that runs them all
//! stands in. What a program sets for one fiber would hold for all of them: it is accepted, where
//! the kernel would accept it, and has no effect, since the schedule is raddle's; a scheduling class
//! and its priority are shown again.

use super::slot_of;
use crate::os::syscall;
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use crate::{gate, substrate};
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
        let set = |class: Class| {
            let at = &raw const class.priority as usize;
            // SAFETY: `sched_param` is its priority.
            unsafe {
                syscall(
                    libc::SYS_sched_setscheduler,
                    0,
                    class.policy as usize,
                    at,
                    0,
                    0,
                    0,
                )
            }
        };
        let result = set(self);
        if result == 0 {
            set(Class::default());
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
    let mut class = classes()[parent];
    if class.policy & libc::SCHED_RESET_ON_FORK != 0 {
        class = Class::default();
    }
    // SAFETY: the caller's promise.
    classes()[child] = unsafe { asked_for(attr) }.unwrap_or(class);
}

/// Gives a fiber this class, if it can be had.
fn put(thread: pthread_t, class: Class) -> c_int {
    let refused = class.refused();
    if let (0, Some(slot)) = (refused, slot_of(thread)) {
        classes()[slot] = class;
    }
    refused
}

/// The class of a fiber.
fn class_of(thread: pthread_t) -> Class {
    slot_of(thread).map_or(Class::default(), |slot| classes()[slot])
}

unsafe extern "C-unwind" fn get_scheduling(
    thread: pthread_t,
    policy: *mut c_int,
    param: *mut sched_param,
    _: usize,
    _: usize,
    _: usize,
) -> c_int {
    // SAFETY: the program's arguments, also below.
    unsafe {
        if !is_fiber(thread) {
            return real::pthread_getschedparam(thread, policy, param);
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
    _: usize,
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
        put(thread, Class { policy, priority })
    })
}

unsafe extern "C-unwind" fn set_priority(
    thread: pthread_t,
    priority: c_int,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
) -> c_int {
    if !is_fiber(thread) {
        // SAFETY: passed on.
        return unsafe { real::pthread_setschedprio(thread, priority) };
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

/// Defines an implementation that asks the C library with the running kernel thread's id.
macro_rules! asking {
    ($($name:ident = $real:ident($($arg:ident: $ty:ty),*; $($pad:ident),*);)*) => {$(
        unsafe extern "C-unwind" fn $name(thread: pthread_t, $($arg: $ty,)* $($pad: usize),*) -> c_int {
            $(let _ = $pad;)*
            // SAFETY: passed on.
            let ask = || unsafe { real::$real(thread, $($arg),*) };
            if is_fiber(thread) { substrate::asking(thread, ask) } else { ask() }
        }
    )*};
}

/// Defines an implementation that does nothing for a fiber.
macro_rules! accepting {
    ($($name:ident = $real:ident($($arg:ident: $ty:ty),*; $($pad:ident),*);)*) => {$(
        unsafe extern "C-unwind" fn $name(thread: pthread_t, $($arg: $ty,)* $($pad: usize),*) -> c_int {
            $(let _ = $pad;)*
            if is_fiber(thread) {
                return 0;
            }
            // SAFETY: passed on.
            unsafe { real::$real(thread, $($arg),*) }
        }
    )*};
}

asking! {
    get_affinity = pthread_getaffinity_np(size: usize, set: *mut c_void; a, b, c);
    get_clock = pthread_getcpuclockid(clock: *mut clockid_t; a, b, c, d);
}

accepting! {
    set_affinity = pthread_setaffinity_np(size: usize, set: *const c_void; a, b, c);
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
