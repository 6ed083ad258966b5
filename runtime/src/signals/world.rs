//! Masks, pending signals and dispositions, apart from how anything is delivered.

use crate::timers::MOST as TIMERS;
use core::ffi::c_int;
use raddle_protocol::{Slot, slot};

/// A set of signals; bit `n - 1` is signal `n`, as in the kernel's own form.
pub type Set = u64;

/// Highest signal number.
pub const LAST: c_int = 64;
/// The first real-time signal of the kernel: from here on, every sending counts.
const REAL_TIME: c_int = 32;
/// Most signals that are pending at a time.
const MOST: usize = 1024;

/// The set of one signal.
pub fn bit(signal: c_int) -> Set {
    1 << (signal - 1)
}

/// Is this the number of a signal?
pub fn valid(signal: c_int) -> bool {
    (1..=LAST).contains(&signal)
}

/// How `sigprocmask` combines; `None` for an unknown `how`.
pub fn combine(how: c_int, old: Set, set: Set) -> Option<Set> {
    match how {
        libc::SIG_BLOCK => Some(old | set),
        libc::SIG_UNBLOCK => Some(old & !set),
        libc::SIG_SETMASK => Some(set),
        _ => None,
    }
}

/// What the default action of a signal does to the process (signal(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    Ends,
    Stops,
    Nothing,
}

/// See [`Default`].
pub fn default_of(signal: c_int) -> Default {
    match signal {
        libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT => Default::Nothing,
        libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => Default::Stops,
        _ => Default::Ends,
    }
}

/// One signal on its way, with what its receiver is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    pub number: c_int,
    /// `si_code`.
    pub code: c_int,
    /// `si_value`; for SI_USER and its kin the sender's user id lies behind.
    pub value: u64,
    /// `si_pid`; of a timer its id.
    pub sender: c_int,
    /// `si_overrun` of a timer, `si_uid` of others, `si_status` of a child.
    pub more: c_int,
}

impl Signal {
    /// A signal of which nothing is known but how it was sent.
    pub const fn plain(number: c_int, code: c_int) -> Signal {
        Signal {
            number,
            code,
            value: 0,
            sender: 0,
            more: 0,
        }
    }
}

/// Where a signal is pending: at this thread, or ([`slot::NONE`]) at the process.
#[derive(Clone, Copy)]
struct Place {
    at: Slot,
    signal: Signal,
}

#[derive(Clone, Copy)]
struct Thread {
    /// Has `mask` been set? Otherwise it is the one that `main` had when threads came up.
    known: bool,
    mask: Set,
}

/// What `sigaction` asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// SIG_DFL, SIG_IGN or a function.
    pub handler: usize,
    /// The SA_ flags.
    pub flags: c_int,
    /// Blocked while the handler runs.
    pub mask: Set,
}

impl Action {
    /// SIG_DFL.
    pub const DEFAULT: Action = Action {
        handler: libc::SIG_DFL,
        flags: 0,
        mask: 0,
    };

    /// What is left of it once a handler that runs only once has run.
    pub fn reset(self) -> Action {
        Action {
            handler: libc::SIG_DFL,
            ..self
        }
    }

    /// Does nothing come of this signal?
    pub fn ignores(&self, signal: c_int) -> bool {
        let by_default = default_of(signal) == Default::Nothing;
        self.handler == libc::SIG_IGN || self.handler == libc::SIG_DFL && by_default
    }

    /// Is there a function to call?
    pub fn handles(&self) -> bool {
        self.handler != libc::SIG_DFL && self.handler != libc::SIG_IGN
    }
}

/// Everything about signals that the kernel cannot know of fibers.
pub struct World {
    threads: [Thread; slot::COUNT],
    /// Mask of a thread that was made before any was changed.
    inherited: Set,
    pending: [Place; MOST],
    pending_len: usize,
    /// By number; `None`: ask the kernel.
    pub actions: [Option<Action>; LAST as usize + 1],
    /// Mask that the kernel holds for the fibers' kernel thread.
    pub kernel: Set,
    /// Some mask or pending signal matters.
    pub busy: bool,
    /// By timer: the expiries that its last signal to be taken stood for, beyond the first.
    pub overruns: [c_int; TIMERS],
}

impl World {
    /// No masks, nothing pending.
    pub const fn new() -> World {
        World {
            threads: [Thread {
                known: false,
                mask: 0,
            }; slot::COUNT],
            inherited: 0,
            pending: [Place {
                at: slot::NONE,
                signal: Signal::plain(0, 0),
            }; MOST],
            pending_len: 0,
            actions: [None; LAST as usize + 1],
            kernel: 0,
            busy: false,
            overruns: [0; TIMERS],
        }
    }

    /// What `slot` blocks.
    pub fn mask(&self, slot: Slot) -> Set {
        let thread = &self.threads[usize::from(slot)];
        if thread.known {
            thread.mask
        } else {
            self.inherited
        }
    }

    /// Sets what `slot` blocks; nobody blocks SIGKILL and SIGSTOP.
    pub fn set_mask(&mut self, slot: Slot, mask: Set) {
        self.busy = true;
        let thread = &mut self.threads[usize::from(slot)];
        thread.known = true;
        thread.mask = mask & !(bit(libc::SIGKILL) | bit(libc::SIGSTOP));
    }

    /// What the process was started with, and with it each thread that is made before any mask is
    /// changed.
    pub fn starts_with(&mut self, mask: Set) {
        self.inherited = mask;
        self.set_mask(slot::MAIN, mask);
    }

    /// Keeps a signal for `at` ([`slot::NONE`]: the process); false when there is no room. An
    /// ordinary signal that is pending there already is not kept twice.
    pub fn send(&mut self, at: Slot, signal: Signal) -> bool {
        self.busy = true;
        let number = signal.number;
        let kept = self.pending[..self.pending_len]
            .iter()
            .any(|p| p.at == at && p.signal.number == number);
        if number < REAL_TIME && kept {
            return true;
        }
        if self.pending_len == MOST {
            return false;
        }
        self.pending[self.pending_len] = Place { at, signal };
        self.pending_len += 1;
        true
    }

    /// What is pending for `slot`: its own and the process's.
    pub fn pending(&self, slot: Slot) -> Set {
        self.pending[..self.pending_len]
            .iter()
            .filter(|p| p.at == slot || p.at == slot::NONE)
            .fold(0, |set, p| set | bit(p.signal.number))
    }

    /// Pending for this thread, and not for the process.
    pub fn pending_at(&self, slot: Slot) -> Set {
        let own = |p: &&Place| p.at == slot;
        let places = self.pending[..self.pending_len].iter().filter(own);
        places.fold(0, |set, p| set | bit(p.signal.number))
    }

    /// Takes one pending signal of `wanted` for `slot`: its own first, then the process's; the
    /// lowest number first, the oldest of that.
    pub fn take(&mut self, slot: Slot, wanted: Set) -> Option<Signal> {
        [slot, slot::NONE].into_iter().find_map(|at| {
            let here = |p: &Place| p.at == at && bit(p.signal.number) & wanted != 0;
            let places = &self.pending[..self.pending_len];
            let lowest = places
                .iter()
                .filter(|p| here(p))
                .map(|p| p.signal.number)
                .min()?;
            let index = places
                .iter()
                .position(|p| p.at == at && p.signal.number == lowest)?;
            let signal = places[index].signal;
            // A program can claim to be a timer, whatever number it gives.
            if signal.code == libc::SI_TIMER {
                self.overruns[signal.sender as usize % TIMERS] = signal.more;
            }
            self.pending.copy_within(index + 1..self.pending_len, index);
            self.pending_len -= 1;
            Some(signal)
        })
    }

    /// Is a signal of this timer pending? Then it also stands for so many expiries more.
    pub fn overrun(&mut self, timer: c_int, times: c_int) -> bool {
        let pending = &mut self.pending[..self.pending_len];
        let own = |p: &&mut Place| p.signal.code == libc::SI_TIMER && p.signal.sender == timer;
        match pending.iter_mut().find(own) {
            Some(place) => {
                place.signal.more = place.signal.more.saturating_add(times);
                true
            }
            None => false,
        }
    }

    /// A signal that is ignored from now on is not pending any more.
    pub fn discard(&mut self, signal: c_int) {
        let mut kept = 0;
        for i in 0..self.pending_len {
            if self.pending[i].signal.number != signal {
                self.pending[kept] = self.pending[i];
                kept += 1;
            }
        }
        self.pending_len = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(number: c_int) -> Signal {
        Signal::plain(number, 0)
    }

    #[test]
    fn masks_combine_as_posix_says() {
        let table = [
            (libc::SIG_BLOCK, 0b0110, 0b0011, Some(0b0111)),
            (libc::SIG_UNBLOCK, 0b0110, 0b0011, Some(0b0100)),
            (libc::SIG_SETMASK, 0b0110, 0b0011, Some(0b0011)),
            (77, 0b0110, 0b0011, None),
        ];
        for (how, old, set, expected) in table {
            assert_eq!(combine(how, old, set), expected, "how {how}");
        }
    }

    #[test]
    fn a_thread_takes_its_own_signals_before_the_process_s() {
        let mut w = Box::new(World::new());
        for (at, number) in [(slot::NONE, 10), (slot::NONE, 12), (3, 12)] {
            assert!(w.send(at, plain(number)));
        }
        let wanted = bit(10) | bit(12);
        assert_eq!(w.pending(3), wanted);
        assert_eq!(w.pending(4), wanted);
        let mut take = |slot| w.take(slot, wanted).map(|s| s.number);
        assert_eq!(take(3), Some(12));
        assert_eq!(take(3), Some(10));
        assert_eq!(take(4), Some(12));
        assert_eq!(take(4), None);
    }

    #[test]
    fn ordinary_signals_are_kept_once_and_real_time_ones_queue_in_order() {
        let mut w = Box::new(World::new());
        for value in 1..=3 {
            for number in [libc::SIGUSR1, 40] {
                let signal = Signal {
                    value,
                    ..plain(number)
                };
                assert!(w.send(2, signal));
            }
        }
        let mut seen = Vec::new();
        while let Some(signal) = w.take(2, Set::MAX) {
            seen.push((signal.number, signal.value));
        }
        assert_eq!(seen, [(libc::SIGUSR1, 1), (40, 1), (40, 2), (40, 3)]);
    }

    #[test]
    fn the_queue_has_an_end() {
        let mut w = Box::new(World::new());
        let kept = (0..2 * MOST).filter(|_| w.send(1, plain(40))).count();
        assert_eq!(kept, MOST);
        w.discard(40);
        assert_eq!(w.pending(1), 0);
    }

    #[test]
    fn threads_without_a_mask_have_that_of_the_process() {
        let mut w = Box::new(World::new());
        w.starts_with(bit(2));
        w.set_mask(slot::MAIN, bit(4));
        w.set_mask(9, bit(3) | bit(libc::SIGKILL));
        assert_eq!(
            (w.mask(slot::MAIN), w.mask(9), w.mask(8)),
            (bit(4), bit(3), bit(2))
        );
    }
}
