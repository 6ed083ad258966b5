//! Loops that read memory which nobody knows to be shared, and take no step: what they wait for may
//! be written by a thread that never gets its turn. After many such accesses in a row, what is read
//! next, and read again before the thread has written it, is treated as shared, and so is a step, at
//! which others may come.

use crate::gate;
use raddle_protocol::shared::flags;

/// So many accesses are suspicious.
const FIRST: u64 = 20_011;
/// So many times as many are where the job asks for patience.
const PATIENT: u64 = 1_000;
/// So many accesses in loops that are known to end count for one.
const LOOPS: u64 = 256;
/// So far above the stack pointer lies what the thread keeps for itself.
const OWN_STACK: u64 = 1 << 16;

/// Counts the accesses of a symbolic run that are no steps.
pub struct Suspicion {
    /// Steps that had been taken at the last one.
    steps: u64,
    accesses: u64,
    /// So many are too many. Doubled each time, since most programs that compute for long do not wait.
    most: u64,
    /// What the thread has read since then and may wait for; 0: nothing.
    read: u64,
    /// How many accesses there were when it read that.
    when: u64,
}

impl Suspicion {
    /// Nothing has been accessed.
    pub const NONE: Suspicion = Suspicion {
        steps: 0,
        accesses: 0,
        most: FIRST,
        read: 0,
        when: 0,
    };

    /// Nothing has been accessed in the execution of a job with these flags.
    pub fn new(job: u32) -> Suspicion {
        let times = if job & flags::PATIENT != 0 {
            PATIENT
        } else {
            1
        };
        Suspicion {
            most: FIRST * times,
            ..Suspicion::NONE
        }
    }

    /// So many accesses are to come that are no steps, in loops that are known to end: should each be
    /// looked at? If not, they have happened. They count for few, since it can only be what is around
    /// these loops that waits.
    pub fn would_fall(&mut self, accesses: u64) -> bool {
        let steps = gate::steps();
        if self.steps != steps {
            (self.steps, self.accesses, self.read) = (steps, 0, 0);
        }
        let all = self.accesses + 1 + accesses / LOOPS;
        let falls = all >= self.most && gate::threads_alive() >= 2;
        if !falls {
            self.accesses = all;
        }
        falls
    }

    /// The running thread accesses private memory at `at`: is it to be treated as shared?
    pub fn falls_on(&mut self, at: u64, reads: bool) -> bool {
        let steps = gate::steps();
        if self.steps != steps {
            (self.steps, self.accesses, self.read) = (steps, 0, 0);
        }
        self.accesses += 1;
        if self.accesses < self.most || gate::threads_alive() < 2 {
            return false;
        }
        if self.read != 0 && self.accesses - self.when > self.most {
            self.read = 0;
        }
        match (self.read == at, reads) {
            (true, true) => {
                (self.accesses, self.read) = (0, 0);
                self.most *= 2;
                return true;
            }
            // Nobody waits for what changes by itself.
            (true, false) => self.read = 0,
            (false, true) if self.read == 0 && !is_own(at) => {
                (self.read, self.when) = (at, self.accesses);
            }
            _ => {}
        }
        false
    }
}

/// Does this lie on the stack, where only the thread itself uses it?
fn is_own(at: u64) -> bool {
    let local = 0u8;
    let stack = &raw const local as u64;
    (stack..stack + OWN_STACK).contains(&at)
}
