//! Steps at which nobody else may run, because the caller holds a lock that is not ours.

use super::core::{Gate, Stop};
use crate::pages::Os;
use crate::slots::SlotSet;
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

impl<O: Os> Gate<O> {
    /// [`Gate::announce_access`] of no access.
    #[inline]
    pub fn announce_ready(&mut self, kind: Kind, object: u64, pc: usize) -> Result<Slot, Stop> {
        self.announce_access(kind, object, 0, pc)
    }

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

#[cfg(test)]
mod tests {
    use crate::gate::tests::World;
    use raddle_protocol::event::Kind;
    use raddle_protocol::schedule::Tail;
    use raddle_protocol::slot;

    #[test]
    fn nobody_else_is_chosen_and_everybody_is_there_afterwards() {
        for seed in 0..50 {
            let mut world = World::new(0, Tail::Random { seed }, &[]).children(3);
            for _ in 0..5 {
                assert!(
                    world
                        .gate
                        .announce_alone(Kind::ThreadCreate, 0, 0x20)
                        .is_ok()
                );
                assert_eq!(world.gate.running(), slot::MAIN);
            }
            let others = (0..50).any(|_| world.work().is_ok_and(|next| next != slot::MAIN));
            assert!(others, "{seed}");
        }
    }
}
