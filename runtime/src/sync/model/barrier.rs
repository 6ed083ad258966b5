//! The state machine of one barrier.

use super::queue::Queue;
use super::verdict::{DONE, Verdict};

/// Messages of the findings.
pub mod says {
    pub const DESTROYED_WAITING: &str = "a barrier was destroyed while threads wait at it";
    pub const INIT_WAITING: &str = "a barrier was initialised again while threads wait at it";
    pub const UNINITIALISED: &str = "a barrier was used that is not initialised";
}

/// One barrier. A thread that was let through no longer counts as waiting, though it may not have
/// left yet: nothing of the object is touched on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Those who arrived in this round and wait.
    pub waiting: Queue,
}

impl Barrier {
    /// Nobody waits.
    pub const IDLE: Barrier = Barrier {
        waiting: Queue::EMPTY,
    };

    /// Is the thread that arrives now the last of a round of `count`?
    pub fn completes(&self, count: u32) -> bool {
        self.waiting.len() + 1 >= count as usize
    }

    /// Destruction.
    pub fn destroy(&self) -> Verdict {
        self.idle_or(says::DESTROYED_WAITING)
    }

    /// Initialisation over whatever lay there before.
    pub fn init(&self) -> Verdict {
        self.idle_or(says::INIT_WAITING)
    }

    fn idle_or(&self, wrong: &'static str) -> Verdict {
        if self.waiting.is_empty() {
            DONE
        } else {
            Verdict::Misuse(wrong)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::Waiters;
    use super::*;

    #[test]
    fn rounds() {
        let mut waiters = Box::new(Waiters::new());
        for count in [1, 2, 5] {
            let mut barrier = Barrier::IDLE;
            for who in 0..count - 1 {
                assert!(!barrier.completes(count));
                assert_eq!(
                    barrier.destroy() == DONE,
                    who == 0,
                    "{who} wait at a barrier for {count}"
                );
                waiters.push(&mut barrier.waiting, who as u16, 64, 1);
            }
            assert!(barrier.completes(count));
            while let Some(who) = waiters.nth(&barrier.waiting, 1, 0) {
                waiters.release(&mut barrier.waiting, who);
            }
            assert_eq!(barrier, Barrier::IDLE);
            assert_eq!(barrier.init(), DONE);
        }
    }

    #[test]
    fn waiting_threads_forbid_the_end() {
        let mut waiters = Box::new(Waiters::new());
        let mut barrier = Barrier::IDLE;
        waiters.push(&mut barrier.waiting, 3, 64, 1);
        assert_eq!(barrier.destroy(), Verdict::Misuse(says::DESTROYED_WAITING));
        assert_eq!(barrier.init(), Verdict::Misuse(says::INIT_WAITING));
    }
}
