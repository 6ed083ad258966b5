//! The state machine of one semaphore.

use super::verdict::{DONE, Verdict};
use core::ffi::c_int;
use libc::{EAGAIN, EOVERFLOW};

/// Messages of the findings.
pub mod says {
    pub const DESTROYED_WAITING: &str = "a semaphore was destroyed while threads wait for it";
}

/// POSIX's SEM_VALUE_MAX.
pub const MAX: u32 = c_int::MAX as u32;

/// One semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semaphore {
    /// The count.
    pub value: u32,
    /// How many threads are about to wait or do.
    pub waiting: u32,
}

impl Semaphore {
    /// Takes one, or EAGAIN.
    pub fn try_wait(&mut self) -> Verdict {
        match self.value.checked_sub(1) {
            Some(less) => {
                self.value = less;
                DONE
            }
            None => Verdict::Returns(EAGAIN),
        }
    }

    /// Adds one, or EOVERFLOW.
    pub fn post(&mut self) -> Verdict {
        if self.value >= MAX {
            return Verdict::Returns(EOVERFLOW);
        }
        self.value += 1;
        DONE
    }

    /// Destruction: threads that can go on at once do not count as waiting.
    pub fn destroy(&self) -> Verdict {
        if self.waiting > self.value {
            return Verdict::Misuse(says::DESTROYED_WAITING);
        }
        DONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions() {
        for (value, wait, after_wait, post, after_post) in [
            (0, Verdict::Returns(EAGAIN), 0, DONE, 1),
            (1, DONE, 0, DONE, 2),
            (MAX, DONE, MAX - 1, Verdict::Returns(EOVERFLOW), MAX),
        ] {
            let state = Semaphore { value, waiting: 0 };
            let mut s = state;
            assert_eq!(s.try_wait(), wait, "{value}");
            assert_eq!(s.value, after_wait, "{value}");
            let mut s = state;
            assert_eq!(s.post(), post, "{value}");
            assert_eq!(s.value, after_post, "{value}");
        }
    }

    #[test]
    fn destruction() {
        for (value, waiting, expected) in [
            (0, 0, DONE),
            (5, 0, DONE),
            (1, 1, DONE),
            (0, 1, Verdict::Misuse(says::DESTROYED_WAITING)),
            (1, 2, Verdict::Misuse(says::DESTROYED_WAITING)),
        ] {
            assert_eq!(Semaphore { value, waiting }.destroy(), expected);
        }
    }
}
