//! Records about several threads at once: who could go on, and what did not happen.

use super::Pending;
use super::core::Gate;
use crate::pages::Os;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;

impl<O: Os> Gate<O> {
    /// At the end of a symbolic run: records what threads have announced that will not happen.
    /// `running_too`: the running thread's operation has not begun either.
    pub(super) fn log_announced(&mut self, running_too: bool) {
        if self.flags & flags::SYMBOLIC == 0 || self.pages.recorded() {
            return;
        }
        let mut next = self.next_alive(0);
        while let Some(s) = next {
            if running_too || s != self.running() {
                let record = announced_record(s, self.pending(s));
                self.pages.log(record);
            }
            next = self.next_alive(s + 1);
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
        Kind::ThreadJoin | Kind::ThreadExit => 0,
        _ => p.object,
    };
    Event {
        kind: Kind::Pending as u8,
        size: p.kind as u8,
        thread,
        aux: 0,
        object,
        value: match p.kind {
            Kind::ThreadJoin | Kind::CondWait | Kind::Free => p.aux,
            _ => 0,
        },
        pc: p.pc as u64,
    }
}
