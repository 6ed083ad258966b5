//! Settings of kernel threads: processors, scheduling classes, clocks. The C library asks the
//! kernel about a thread by its id; a fiber has none, so the id of the thread that runs them all
//! stands in. What a program sets for one fiber would hold for all of them: it is accepted and
//! has no effect, since the schedule is raddle's.

use super::slot_of;
use crate::{gate, substrate};
use core::ffi::{c_int, c_void};
use libc::{clockid_t, pthread_t, sched_param};

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
    get_scheduling = pthread_getschedparam(policy: *mut c_int, param: *mut sched_param; a, b, c);
    get_clock = pthread_getcpuclockid(clock: *mut clockid_t; a, b, c, d);
}

accepting! {
    set_affinity = pthread_setaffinity_np(size: usize, set: *const c_void; a, b, c);
    set_scheduling = pthread_setschedparam(policy: c_int, param: *const sched_param; a, b, c);
    set_priority = pthread_setschedprio(priority: c_int; a, b, c, d);
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
