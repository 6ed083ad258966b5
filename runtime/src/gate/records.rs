//! Records about several threads at once: who could go on, and what did not happen.

use super::Pending;
use super::core::Gate;
use crate::pages::Os;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind, PENDING_ENABLED, PENDING_TIMED, RW_WRITERS_FIRST};
use raddle_protocol::shared::flags;

/// An access in which a handler of the program's runs.
#[derive(Clone, Copy)]
pub struct Interrupted {
    kind: Kind,
    object: u64,
    bytes: u64,
    pc: usize,
}

impl Interrupted {
    /// The access of the running thread that has just faulted, if others are to know of it.
    pub fn now() -> Option<Interrupted> {
        super::gate().interrupted()
    }

    /// The handler has returned: the access is made again, a step of its own.
    pub fn again(self) {
        super::access(self.kind, self.object, self.bytes, self.pc);
    }
}

impl<O: Os> Gate<O> {
    /// One record for each thread that has announced an operation which did not happen; nothing
    /// after the outcome was written.
    pub(super) fn log_announced(&mut self, running_too: bool) {
        if self.flags & (flags::SYMBOLIC | flags::ENABLED | flags::EXHAUSTIVE) == 0
            || self.pages.recorded()
        {
            return;
        }
        let running = self.running();
        let mut next = self.next_alive(0);
        while let Some(s) = next {
            if running_too || s != running {
                let mut record = announced_record(s, self.pending(s));
                if self.flags & flags::EXHAUSTIVE != 0 {
                    record = self.record_of_announced(s, self.pending(s));
                    if let Some(operands) = self.announced_operands(s, self.pending(s)) {
                        self.pages.log(operands);
                    }
                }
                self.pages.log(record);
            }
            next = self.next_alive(s + 1);
        }
    }

    /// The record of a step in which the execution ends, before its own record was made: a search
    /// has to know that there was a choice. What the operation would have read or written is not
    /// in it.
    pub(super) fn log_owed(&mut self) {
        let running = self.running();
        let wanted = self.flags & (flags::ENABLED | flags::EXHAUSTIVE) != 0
            && self.flags & flags::SYMBOLIC == 0;
        if !self.owed || !wanted || self.pages.recorded() || !self.is_alive(running) {
            return;
        }
        let pending = self.pending(running);
        // Its record would name the child.
        if pending.kind == Kind::ThreadCreate {
            return;
        }
        let size = self.state_of_announced(running, pending) as u8;
        let announced = announced_record(running, pending);
        self.log(Event {
            kind: announced.size,
            size,
            ..announced
        });
    }

    /// The running thread's access faults, and a handler of the program's runs within it. Where schedules
    /// are explored the handler's own steps come behind the access, whose record this makes
    /// ([`Gate::log_owed`]). What is to be announced once more when the handler has returned and the access
    /// is made again.
    pub(super) fn interrupted(&mut self) -> Option<Interrupted> {
        let pending = self.pending(self.running());
        let (kind, object, pc) = (pending.kind, pending.object, pending.pc);
        let bytes = pending.aux;
        let explored = self.flags & (flags::EXHAUSTIVE | flags::SYMBOLIC) == flags::EXHAUSTIVE;
        (self.owed && explored && kind.accesses()).then(|| {
            self.log_owed();
            Interrupted {
                kind,
                object,
                bytes,
                pc,
            }
        })
    }

    /// The [`Kind::Pending`] record of what `s` has announced.
    pub(super) fn record_of_announced(&self, s: Slot, p: &Pending) -> Event {
        Event {
            aux: self.state_of_announced(s, p),
            ..announced_record(s, p)
        }
    }

    /// See [`Kind::Pending`].
    fn state_of_announced(&self, s: Slot, p: &Pending) -> u32 {
        let bytes = match p.kind {
            Kind::Read
            | Kind::Write
            | Kind::Rmw
            | Kind::AtomicRead
            | Kind::AtomicWrite
            | Kind::FutexWait
            | Kind::FutexResume => p.aux as u32 & 0xff,
            Kind::RwRead => crate::sync::announced_aux(p) & RW_WRITERS_FIRST,
            Kind::RwUnlock => crate::sync::unlock_aux(p.object, s),
            _ => 0,
        };
        let timed = if p.deadline != 0 { PENDING_TIMED } else { 0 };
        let enabled = if self.enabled(s) { PENDING_ENABLED } else { 0 };
        bytes | timed | enabled
    }

    /// Records that the thread that takes the next step could have taken it at any time.
    pub(super) fn log_timed(&mut self, next: Slot) {
        if self.flags & flags::EXHAUSTIVE != 0 && self.pending(next).deadline != 0 {
            self.pages.log(Event {
                kind: Kind::Timed as u8,
                thread: next,
                ..Event::default()
            });
        }
    }

    pub(super) fn log_enabled(&mut self) {
        let mut rest = self.alive_threads().filter(|&s| self.enabled(s)).count();
        let mut event = self.enabled_record();
        let mut next = self.next_alive(0);
        while let Some(this) = next {
            if self.enabled(this) {
                let (word, shift) = (event.size / 4, 16 * (event.size % 4));
                let bits = u64::from(this) << shift;
                match word {
                    0 => event.object |= bits,
                    1 => event.value |= bits,
                    _ => event.pc |= bits,
                }
                event.size += 1;
                rest -= 1;
                if event.size == 12 || rest == 0 {
                    event.aux = rest as u32;
                    self.pages.log(event);
                    event = self.enabled_record();
                }
            }
            next = self.next_alive(this + 1);
        }
    }

    fn enabled_record(&self) -> Event {
        Event {
            kind: Kind::Enabled as u8,
            thread: self.running(),
            ..Event::default()
        }
    }
}

/// The record of an operation that was announced and did not happen.
fn announced_record(thread: Slot, p: &Pending) -> Event {
    // Their own records name no object.
    let object = match p.kind {
        Kind::ThreadExit | Kind::ThreadLeave => 0,
        kind if kind.joins() => 0,
        _ => p.object,
    };
    Event {
        kind: Kind::Pending as u8,
        size: p.kind as u8,
        thread,
        aux: crate::sync::announced_aux(p),
        object,
        value: match p.kind {
            Kind::ThreadJoin
            | Kind::ThreadTryJoin
            | Kind::ThreadTimedJoin
            | Kind::CondWait
            | Kind::OnceDone
            | Kind::Free
            | Kind::Remap
            | Kind::ReadRange
            | Kind::WriteRange
            | Kind::StateUse => p.aux,
            _ => 0,
        },
        pc: p.pc as u64,
    }
}
