//! The state machine of one spinlock.

use super::verdict::{DONE, Verdict};
use libc::EBUSY;
use raddle_protocol::Slot;
use raddle_protocol::slot::NONE;

/// Messages of the findings.
pub mod says {
    pub const NOT_HELD: &str = "a spinlock that nobody holds was unlocked";
    pub const NOT_OWNER: &str = "a spinlock that another thread holds was unlocked";
    pub const DESTROYED_HELD: &str = "a spinlock was destroyed while it was locked";
}

/// One spinlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spin {
    /// Who holds it; [`NONE`]: nobody.
    pub owner: Slot,
    /// Where it was taken.
    pub taken_at: usize,
}

impl Spin {
    /// A free lock.
    pub const FREE: Spin = Spin {
        owner: NONE,
        taken_at: 0,
    };

    /// Does somebody hold it?
    pub fn held(&self) -> bool {
        self.owner != NONE
    }

    /// `who` tries: 0 or EBUSY.
    pub fn try_lock(&mut self, who: Slot, pc: usize) -> Verdict {
        if self.held() {
            return Verdict::Returns(EBUSY);
        }
        *self = Spin {
            owner: who,
            taken_at: pc,
        };
        DONE
    }

    /// `who` unlocks.
    pub fn unlock(&mut self, who: Slot) -> Verdict {
        if self.owner == who {
            *self = Spin::FREE;
            return DONE;
        }
        Verdict::Misuse(if self.held() {
            says::NOT_OWNER
        } else {
            says::NOT_HELD
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions() {
        let mine = Spin {
            owner: 1,
            taken_at: 9,
        };
        let other = Spin {
            owner: 2,
            taken_at: 9,
        };
        for (state, attempt, unlock) in [
            (Spin::FREE, DONE, Verdict::Misuse(says::NOT_HELD)),
            (mine, Verdict::Returns(EBUSY), DONE),
            (
                other,
                Verdict::Returns(EBUSY),
                Verdict::Misuse(says::NOT_OWNER),
            ),
        ] {
            let mut s = state;
            assert_eq!(s.try_lock(1, 9), attempt, "{state:?}");
            assert!(s.held());
            let mut s = state;
            assert_eq!(s.unlock(1), unlock, "{state:?}");
        }
    }
}
