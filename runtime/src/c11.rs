//! C11 threads: thrd_*, mtx_*, cnd_*, call_once on the models of their POSIX kin. The C library
//! gives both the same layout, but its C11 functions call each other internally, where nothing
//! would intercept them. `thrd_current`, `thrd_equal` and `tss_*` need no control of their own.

use crate::intercept;
use crate::sync::{cond, mutex, once};
use crate::threads::{self, Routine};
use crate::time::{self, Clock};
use core::ffi::{c_int, c_void};
use libc::{
    EBUSY, ENOMEM, ETIMEDOUT, pthread_cond_t, pthread_mutex_t, pthread_once_t, pthread_t, timespec,
};
use raddle_protocol::event::Kind;

/// `mtx_t`, `cnd_t`, `once_flag` and `thrd_t` are laid out as these.
type Mutex = *mut pthread_mutex_t;
type Condition = *mut pthread_cond_t;
type Flag = *mut pthread_once_t;
type Thread = pthread_t;

/// `thrd_success` and its kin.
mod result {
    pub const SUCCESS: i32 = 0;
    pub const BUSY: i32 = 1;
    pub const ERROR: i32 = 2;
    pub const NO_MEMORY: i32 = 3;
    pub const TIMED_OUT: i32 = 4;
}

/// An errno as C11 has it.
fn result_of(code: c_int) -> c_int {
    match code {
        0 => result::SUCCESS,
        EBUSY => result::BUSY,
        ENOMEM => result::NO_MEMORY,
        ETIMEDOUT => result::TIMED_OUT,
        _ => result::ERROR,
    }
}

unsafe fn join(thread: Thread, into: *mut c_int, pc: usize) -> c_int {
    let mut value = core::ptr::null_mut::<c_void>();
    let code = threads::join(thread, Some(&mut value), pc);
    // SAFETY: null or the program's variable.
    match unsafe { into.as_mut() } {
        Some(into) if code == 0 => *into = value as usize as c_int,
        _ => {}
    }
    result_of(code)
}

unsafe fn sleep(duration: *const timespec, rest: *mut timespec, pc: usize) -> c_int {
    // SAFETY: the program's duration.
    match unsafe { time::sleep_by(libc::CLOCK_REALTIME, 0, duration, rest, pc) } {
        0 => 0,
        libc::EINTR => -1,
        _ => -2,
    }
}

intercept! {
    /// A start routine that returns an int: whoever joins looks at the low half only.
    fn thrd_create(thread: *mut Thread, routine: Routine, argument: *mut c_void) -> c_int,
        pc => result_of(threads::spawn(thread, core::ptr::null(), routine, argument, pc));
    fn thrd_join(thread: Thread, into: *mut c_int) -> c_int, pc => join(thread, into, pc);
    fn thrd_detach(thread: Thread) -> c_int, pc => result_of(threads::detach(thread, pc));
    fn thrd_exit(value: c_int) -> (), pc => threads::exit(value as isize as *mut c_void);
    fn thrd_yield() -> (), pc => {
        time::yield_now(pc);
    };
    fn thrd_sleep(duration: *const timespec, rest: *mut timespec) -> c_int, pc => sleep(duration, rest, pc);

    fn mtx_init(m: Mutex, kind: c_int) -> c_int, pc => mutex::init(m, pc, || real::mtx_init(m, kind));
    fn mtx_destroy(m: Mutex) -> (), pc => {
        mutex::destroy(m, pc);
    };
    fn mtx_lock(m: Mutex) -> c_int, pc => result_of(mutex::lock(m, Kind::MutexLock, 0, pc));
    fn mtx_trylock(m: Mutex) -> c_int, pc => result_of(mutex::try_lock(m, pc));
    fn mtx_timedlock(m: Mutex, at: *const timespec) -> c_int,
        pc => result_of(mutex::lock_until(m, Clock::Wall, at, pc));
    fn mtx_unlock(m: Mutex) -> c_int, pc => result_of(mutex::unlock(m, pc));

    fn cnd_init(c: Condition) -> c_int, pc => cond::init(c, pc, || real::cnd_init(c));
    fn cnd_destroy(c: Condition) -> (), pc => {
        cond::destroy(c, pc);
    };
    fn cnd_wait(c: Condition, m: Mutex) -> c_int, pc => result_of(cond::wait(c, m, 0, pc));
    fn cnd_timedwait(c: Condition, m: Mutex, at: *const timespec) -> c_int,
        pc => result_of(cond::wait_until(c, m, Clock::Wall, at, pc));
    fn cnd_signal(c: Condition) -> c_int, pc => result_of(cond::signal(c, pc));
    fn cnd_broadcast(c: Condition) -> c_int, pc => result_of(cond::broadcast(c, pc));

    fn call_once(flag: Flag, routine: extern "C-unwind" fn()) -> (), pc => {
        once::once(flag, routine, pc);
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errnos_become_results() {
        for (code, expected) in [
            (0, 0),
            (EBUSY, 1),
            (libc::EINVAL, 2),
            (libc::EAGAIN, 2),
            (ENOMEM, 3),
            (ETIMEDOUT, 4),
        ] {
            assert_eq!(result_of(code), expected);
        }
    }
}
