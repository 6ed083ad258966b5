//! Threads that only spin, and schedules that let them go on.

use super::{World, t};
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::slot;

#[test]
fn a_prefix_lets_those_go_on_who_only_spin() {
    for (flags, follows) in [(0, true), (flags::EXACT_SPINS, false)] {
        let mut world = World::new(flags, Tail::RunUntilBlocked, &[t(0, 2)]).children(1);
        world.gate.pass_over();
        assert_eq!(world.work().ok(), follows.then_some(slot::MAIN));
        if follows {
            assert_eq!(world.work().ok(), Some(slot::MAIN));
            // What nobody prescribes, nobody has to do.
            world.gate.pass_over();
            assert_eq!(world.work().ok(), Some(1));
        }
    }
}
