//! Steps at which nobody else may run, because the caller holds a lock that is not ours.

use super::core::{Gate, Stop};
use crate::pages::Os;
use crate::slots::SlotSet;
use raddle_protocol::event::Kind;

impl<O: Os> Gate<O> {
    /// [`Gate::announce_ready`] at which only the running thread can be chosen.
    pub fn announce_alone(&mut self, kind: Kind, object: u64, pc: usize) -> Result<(), Stop> {
        let me = self.running();
        let ready = core::mem::replace(&mut self.ready, SlotSet::EMPTY);
        let timed = core::mem::replace(&mut self.timed, SlotSet::EMPTY);
        let result = self.announce_ready(kind, object, pc);
        self.ready = ready;
        self.timed = timed;
        self.ready.set(me, true);
        self.timed.set(me, false);
        result.map(|_| ())
    }
}
