//! Steps at which nobody else may run: because the caller holds a lock that is not ours, or because
//! all others have ended.

use super::core::{Gate, Stop};
use crate::pages::Os;
use crate::slots::SlotSet;
use crate::vars;
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;
use raddle_protocol::hooks::MODE_ACCESSES;
use raddle_protocol::shared::flags;

/// So many steps a thread goes on to announce what others may see after all others have ended. That
/// shows races with those that ended without being joined, and a loop that waits for one of them;
/// and a long way from there to the end of the program costs no more than these.
const STEPS_ALONE: u32 = 2048;

impl<O: Os> Gate<O> {
    /// Is what others may see a point now? Not where the only thread is at work, before there were
    /// others or a while after the last of them; exhaustive searches want the same points in every
    /// interleaving, whoever has ended.
    pub fn several(&self) -> bool {
        match self.flags & flags::EXHAUSTIVE {
            0 => self.alive() >= 2 || self.alone != 0,
            _ => self.created >= 2,
        }
    }

    /// Is memory that is freed now a step? In symbolic runs also once all others have ended: unless
    /// they were joined, they might not have.
    pub fn frees_are_steps(&self) -> bool {
        self.several() || self.flags & flags::SYMBOLIC != 0 && self.created >= 2
    }

    /// Should accesses of instrumented code be points now?
    pub fn wants_accesses(&self) -> bool {
        self.several() && self.flags & (flags::ACCESSES | flags::SYMBOLIC) != 0
    }

    /// To be called when threads have come or gone.
    pub(super) fn update_mode(&self) {
        vars::set_mode(MODE_ACCESSES, self.wants_accesses());
    }

    /// A thread has ended.
    pub(super) fn may_be_alone(&mut self) {
        if self.alive() == 1 && self.flags & flags::SYMBOLIC == 0 {
            self.alone = STEPS_ALONE;
        }
        self.update_mode();
    }

    /// The last thread takes one of its steps that still count. Those of a loop that is doubted do not: it is
    /// to be seen going round as often as that takes.
    #[cold]
    pub(super) fn step_alone(&mut self) {
        if self.is_in_doubt() {
            return;
        }
        self.alone -= 1;
        if self.alone == 0 {
            self.update_mode();
        }
    }

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
    use super::STEPS_ALONE;
    use crate::gate::tests::World;
    use raddle_protocol::event::Kind;
    use raddle_protocol::schedule::Tail;
    use raddle_protocol::shared::flags;
    use raddle_protocol::slot;

    #[test]
    fn accesses_are_points_while_two_threads_live_and_a_while_after() {
        let table = [
            (0, false, 0),
            (flags::ACCESSES, true, STEPS_ALONE),
            (flags::SYMBOLIC, true, 0),
        ];
        for (flags, on, after) in table {
            // The mode is one global of the process: this is the only test that looks at it.
            let world = World::new(flags, Tail::RunUntilBlocked, &[]);
            assert!(!world.gate.wants_accesses());
            let mut world = world.children(1);
            assert_eq!(world.gate.wants_accesses(), on);
            assert_eq!(world.wait_forever(8, false), Ok(1));
            world.gate.amend(0, |p| p.ready = |_, _| true);
            assert_eq!(world.gate.retire(0), Ok(0));
            // The step that main had announced was one of them.
            for _ in 1..after {
                assert!(world.gate.wants_accesses());
                assert_eq!(world.work(), Ok(slot::MAIN));
            }
            assert!(!world.gate.wants_accesses());
        }
    }

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
