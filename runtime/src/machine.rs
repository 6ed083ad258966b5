//! What the machine tells of itself and of what the process uses: the same in every execution, where
//! a program may ask for it to decide; else named.

use crate::{gate, intercept, time};
use core::ffi::{c_int, c_long, c_void};
use libc::{rusage, sysinfo};

/// Largest use of memory is told in multiples of so many KiB: by the page it differs from execution to
/// execution.
const MEMORY: c_long = 256 << 10;

/// `getrusage`: all processor time is this process's own, in user mode, as for `times`; what the
/// kernel counts besides is not told. 0 or a negative errno.
///
/// # Safety
/// `into` is writable.
pub unsafe fn usage(who: c_int, into: *mut rusage) -> isize {
    if ![
        libc::RUSAGE_SELF,
        libc::RUSAGE_THREAD,
        libc::RUSAGE_CHILDREN,
    ]
    .contains(&who)
    {
        return -(libc::EINVAL as isize);
    }
    // SAFETY: a structure of numbers; the caller's promise.
    unsafe {
        let mut told: rusage = core::mem::zeroed();
        if who != libc::RUSAGE_CHILDREN {
            let mut real: rusage = core::mem::zeroed();
            let at = &raw mut real as usize;
            crate::os::syscall(libc::SYS_getrusage, who as usize, at, 0, 0, 0, 0);
            told.ru_maxrss = (real.ru_maxrss as u64).next_multiple_of(MEMORY as u64) as c_long;
            told.ru_utime = time::processor_time();
        }
        into.write(told);
    }
    0
}

/// `sysinfo`: half of the memory is free, and nothing runs. 0 or a negative errno.
///
/// # Safety
/// `into` is writable.
pub unsafe fn state(into: *mut sysinfo) -> isize {
    // SAFETY: a structure of numbers; the caller's promise.
    unsafe {
        let mut told: sysinfo = core::mem::zeroed();
        let at = &raw mut told as usize;
        let result = crate::os::syscall(libc::SYS_sysinfo, at, 0, 0, 0, 0, 0);
        if result == 0 {
            told.uptime = time::uptime();
            told.loads = [0; 3];
            told.freeram = told.totalram / 2;
            (told.sharedram, told.bufferram) = (0, 0);
            told.freeswap = told.totalswap;
            told.freehigh = told.totalhigh;
            told.procs = 1;
            into.write(told);
        }
        result
    }
}

fn result(result: isize) -> c_int {
    match result {
        0.. => result as c_int,
        errno => time::errno_result(-errno as c_int),
    }
}

intercept! {
    kernel;
    fn getrusage(who: c_int, into: *mut rusage) -> c_int, _pc => result(usage(who, into));
    fn sysinfo(into: *mut sysinfo) -> c_int, _pc => result(state(into));
    fn get_avphys_pages() -> c_long, _pc => libc::sysconf(libc::_SC_PHYS_PAGES) / 2;
    fn sysconf(name: c_int) -> c_long, _pc => match name {
        libc::_SC_AVPHYS_PAGES => real::sysconf(libc::_SC_PHYS_PAGES) / 2,
        _ => real::sysconf(name),
    };
    fn getloadavg(into: *mut f64, count: c_int) -> c_int, _pc => {
        let count = count.min(3);
        for i in 0..count.max(0) as usize {
            into.add(i).write(0.0);
        }
        count
    };
    fn adjtimex(change: *mut c_void) -> c_int, _pc => {
        gate::uncontrolled("adjtimex");
        real::adjtimex(change)
    };
    fn ntp_gettime(into: *mut c_void) -> c_int, _pc => {
        gate::uncontrolled("ntp_gettime");
        real::ntp_gettime(into)
    };
}
