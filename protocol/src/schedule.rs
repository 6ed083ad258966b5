//! A schedule is data: a prefix of choices and a tail rule for what comes after them.

use crate::Slot;

/// Marks a [`Step`] that is a choice among `n` alternatives instead of a thread.
pub const CHOICE_BIT: u16 = 0x8000;

/// Alternatives from here on were not chosen: the rest of the number is what the step before found
/// another process to have done. No schedule can have it otherwise, only wait until it is so.
pub const FACT: u16 = 0x4000;

/// Facts from here on: with the step before, the signal arrived from outside whose number is the
/// rest. The number 0, before others: the step also let the time of a wait run out.
pub const ARRIVAL: u16 = 0x7f00;

/// One run of equal choices: `count` steps by the same thread, or one choice of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Step {
    /// A slot, or [`CHOICE_BIT`] with the chosen alternative.
    pub what: u16,
    /// How many times in a row; never 0.
    pub count: u16,
}

impl Step {
    /// `count` steps of `thread`.
    pub const fn thread(thread: Slot, count: u16) -> Step {
        Step {
            what: thread,
            count,
        }
    }

    /// Alternative `n` of a choice that is not of a thread.
    pub const fn choice(n: u16) -> Step {
        Step {
            what: n | CHOICE_BIT,
            count: 1,
        }
    }

    /// Is this a choice of a value (not of a thread)?
    pub const fn is_choice(self) -> bool {
        self.what & CHOICE_BIT != 0
    }

    /// Is this what another process did ([`FACT`])?
    pub const fn is_fact(self) -> bool {
        self.is_choice() && self.what & FACT != 0
    }
}

/// Who runs once the prefix is used up. Decided in the shim; no round trip per event.
///
/// So that loops which wait for another thread's write come to an end, `RunUntilBlocked` and `Pct`
/// let others go first after a yield, and after 1000 consecutive steps of one thread; in symbolic
/// runs also before the end of the process. A thread whose only way on is a time-out is passed over
/// while others are ready, except now and then: one choice in some ten (`Random`), one in 128
/// (`Pct`, `Pos`), or after 1000 steps (`RunUntilBlocked`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Keep running the same thread until it blocks or ends, then the enabled one with the lowest
    /// slot above it (cyclically).
    RunUntilBlocked,
    /// Uniform among the ready threads at every step.
    Random { seed: u64 },
    /// PCT (Burckhardt et al., ASPLOS 2010): random priorities, `depth - 1` change points drawn
    /// from `1..=steps`. Depths above 64 count as 64.
    Pct { seed: u64, depth: u32, steps: u64 },
    /// Partial order sampling (Yuan et al., CAV 2018): a random priority per announced event,
    /// redrawn for events that race with the one that ran.
    Pos { seed: u64 },
    /// An adversary: a thread goes on until the moment to give way comes, time and again.
    GiveWay { moment: Moment },
    /// As `RunUntilBlocked`, but these threads (bit = slot; those below 64 only) go when nobody else
    /// is ready. After others went first 1000 times there are none of these any more.
    Sparing { threads: u64 },
}

/// When a thread gives way, and to whom ([`Tail::GiveWay`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Moment {
    /// Before and after each change of an object, to who has waited longest: others come by while
    /// work is half done.
    Changes = 0,
    /// After it has read an object, and before it locks one, to who has taken no step yet, otherwise
    /// to who took one last: what a thread knows gets old.
    Looks = 1,
}

impl Tail {
    /// [`Tail::Sparing`] these; [`Tail::RunUntilBlocked`] if there are none.
    pub fn sparing(slots: impl Iterator<Item = Slot>) -> Tail {
        let bits = slots.filter_map(|slot| 1u64.checked_shl(slot.into()));
        match bits.fold(0, |all, bit| all | bit) {
            0 => Tail::RunUntilBlocked,
            threads => Tail::Sparing { threads },
        }
    }

    /// Is this one of those that others go before?
    pub fn spares(self, slot: Slot) -> bool {
        match self {
            Tail::Sparing { threads } => threads.checked_shr(slot.into()).unwrap_or(0) & 1 != 0,
            _ => false,
        }
    }

    /// The form in the shared pages: kind, seed, depth, steps.
    pub const fn to_words(self) -> [u64; 4] {
        match self {
            Tail::RunUntilBlocked => [0, 0, 0, 0],
            Tail::Random { seed } => [1, seed, 0, 0],
            Tail::Pct { seed, depth, steps } => [2, seed, depth as u64, steps],
            Tail::Pos { seed } => [3, seed, 0, 0],
            Tail::GiveWay { moment } => [4, moment as u64, 0, 0],
            Tail::Sparing { threads } => [5, threads, 0, 0],
        }
    }

    /// Inverse of [`Tail::to_words`]; `None` for an unknown kind.
    pub const fn from_words(w: [u64; 4]) -> Option<Tail> {
        match w[0] {
            0 => Some(Tail::RunUntilBlocked),
            1 => Some(Tail::Random { seed: w[1] }),
            2 => Some(Tail::Pct {
                seed: w[1],
                depth: w[2] as u32,
                steps: w[3],
            }),
            3 => Some(Tail::Pos { seed: w[1] }),
            4 => Some(Tail::GiveWay {
                moment: match w[1] {
                    0 => Moment::Changes,
                    1 => Moment::Looks,
                    _ => return None,
                },
            }),
            5 => Some(Tail::Sparing { threads: w[1] }),
            _ => None,
        }
    }
}
