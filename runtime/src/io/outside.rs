//! Waits that only another process, or the network, can end: then the execution waits for real.

use super::raw;
use super::table;
use super::wait::{self, Condition};
use crate::gate::Pending;
use core::ffi::c_int;
use libc::pollfd;

/// Descriptors that are watched at once; with more, all are looked at now and then.
const MOST: usize = 64;
/// So long the watch looks at conditions that cannot be polled, in milliseconds.
const LOOK: c_int = 10;

/// What the waiting threads wait for.
pub struct Watch {
    fds: [pollfd; MOST],
    len: usize,
    /// Some wait can be ended from outside.
    pub outside: bool,
    /// Some of what is waited for is not in `fds`.
    unpolled: bool,
    /// So many waits for the outside can only be tried again.
    pub tried: usize,
}

impl Watch {
    pub fn new() -> Watch {
        Watch {
            fds: [pollfd {
                fd: -1,
                events: 0,
                revents: 0,
            }; MOST],
            len: 0,
            outside: false,
            unpolled: false,
            tried: 0,
        }
    }

    /// Adds what the thread that announced `p` waits for.
    pub fn add(&mut self, p: &Pending) {
        // SAFETY: announced and waiting, so its operation lives.
        let Some(waiting) = (unsafe { wait::of(p) }) else {
            return;
        };
        self.outside |= waiting.outside;
        match waiting.condition {
            Condition::One(one) => self.push(one),
            Condition::Many { fds, count } => {
                for i in 0..count {
                    // SAFETY: the waiting call's array.
                    self.push(unsafe { *fds.add(i) });
                }
            }
            Condition::Sets { .. }
            | Condition::Change
            | Condition::ChangeOf(_)
            | Condition::Asked(..) => self.unpolled = true,
        }
        if waiting.outside
            && matches!(
                waiting.condition,
                Condition::Change | Condition::ChangeOf(_)
            )
        {
            self.tried += 1;
        }
    }

    fn push(&mut self, entry: pollfd) {
        match self.fds.get_mut(self.len) {
            Some(place) => {
                *place = entry;
                self.len += 1;
            }
            None => self.unpolled = true,
        }
    }

    /// Does nobody wait on a descriptor?
    pub fn is_empty(&self) -> bool {
        self.len == 0 && !self.unpolled
    }

    /// Waits in real time until something may have changed, at most `most` milliseconds (negative:
    /// no limit).
    pub fn wait(&mut self, most: c_int) {
        let limit = match self.unpolled {
            true if most < 0 => LOOK,
            true => most.min(LOOK),
            false => most,
        };
        // SAFETY: the entries are our own.
        unsafe { raw::poll(self.fds.as_mut_ptr(), self.len, limit) };
        table::change();
    }
}

/// Milliseconds of a clock that only waits for the outside look at.
pub fn real_time() -> u64 {
    // SAFETY: the structure is as large as the kernel's.
    unsafe {
        let mut now: libc::timespec = core::mem::zeroed();
        let (clock, into) = (libc::CLOCK_MONOTONIC as usize, &raw mut now as usize);
        crate::os::syscall(libc::SYS_clock_gettime, clock, into, 0, 0, 0, 0);
        now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
    }
}
