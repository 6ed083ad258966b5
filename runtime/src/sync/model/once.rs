//! The state machine of a once control.

use raddle_protocol::Slot;
use raddle_protocol::slot::NONE;

/// What the thread that enters has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enter {
    /// Call the routine.
    Run,
    /// Nothing: it has been called.
    Skip,
}

/// One control. That the routine has returned stands in the object itself, where glibc keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Once {
    /// Who runs the routine; [`NONE`]: nobody.
    pub runner: Slot,
    /// Where it entered.
    pub entered_at: usize,
}

impl Once {
    /// Nobody runs the routine.
    pub const IDLE: Once = Once {
        runner: NONE,
        entered_at: 0,
    };

    /// Can a thread enter now? A runner that calls itself waits for ever.
    pub fn may_enter(&self) -> bool {
        self.runner == NONE
    }

    /// `who` enters; [`Once::may_enter`] holds. `done`: the object says that the routine returned.
    pub fn enter(&mut self, done: bool, who: Slot, pc: usize) -> Enter {
        if done {
            return Enter::Skip;
        }
        self.runner = who;
        self.entered_at = pc;
        Enter::Run
    }

    /// The routine returned, or was left by an exception or a cancellation.
    pub fn leave(&mut self) {
        *self = Once::IDLE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_runs_at_a_time() {
        let mut once = Once::IDLE;
        assert!(once.may_enter());
        assert_eq!(once.enter(false, 3, 9), Enter::Run);
        assert!(!once.may_enter());
        once.leave();
        assert!(once.may_enter());
        for (done, expected) in [(false, Enter::Run), (true, Enter::Skip)] {
            let mut next = once;
            assert_eq!(next.enter(done, 4, 9), expected);
            assert_eq!(next.may_enter(), done);
        }
    }
}
