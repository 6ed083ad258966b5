//! Loops that read memory which nobody knows to be shared, and take no step: what they wait for may
//! be written by a thread that never gets its turn. After many such accesses in a row, what is read
//! next is treated as shared, and so is a step, at which others may come.

use crate::gate;

/// So many accesses are suspicious; a prime, so that a loop with several reads comes to each of them.
const FIRST: u64 = 20_011;
/// So far above the stack pointer lies what the thread keeps for itself.
const OWN_STACK: u64 = 1 << 16;

/// Counts the accesses of a symbolic run that are no steps.
pub struct Suspicion {
    /// Steps that had been taken at the last one.
    steps: u64,
    accesses: u64,
    /// So many are too many. Doubled each time, since most programs that compute for long do not wait.
    most: u64,
}

impl Suspicion {
    /// Nothing has been accessed.
    pub const NONE: Suspicion = Suspicion {
        steps: 0,
        accesses: 0,
        most: FIRST,
    };

    /// The running thread accesses private memory at `at`: is it to be treated as shared?
    pub fn falls_on(&mut self, at: u64, reads: bool) -> bool {
        let steps = gate::steps();
        if self.steps != steps {
            (self.steps, self.accesses) = (steps, 0);
        }
        self.accesses += 1;
        if self.accesses < self.most || !reads || gate::threads_alive() < 2 {
            return false;
        }
        let local = 0u8;
        let stack = &raw const local as u64;
        if (stack..stack + OWN_STACK).contains(&at) {
            return false;
        }
        self.accesses = 0;
        self.most *= 2;
        true
    }
}
