//! Sleep sets.

use super::*;
use raddle_protocol::conflict::{Footprint, Unrecorded};

/// Main runs by the prefix and ends; thread 1 sleeps on a write to 0x100; thread 2 writes to
/// `address`, then ends. Who goes on then?
fn sleeper_after_write(address: u64) -> (World, Result<Slot, Stop>) {
    let prefix = [Step::thread(slot::MAIN, 1)];
    let mut world = World::new(flags::EXHAUSTIVE, Tail::RunUntilBlocked, &prefix).children(2);
    let write = |thread, object| Event {
        kind: Kind::Write as u8,
        size: 4,
        thread,
        object,
        ..Event::default()
    };
    let asleep = Footprint::of(&write(1, 0x100), Unrecorded::default());
    world.gate.sleep.start(Box::leak(Box::new([asleep])));
    world.gate.logging = true;
    assert_eq!(world.work(), Ok(slot::MAIN));
    // The last step of the prefix wakes nobody: the set counts from there on.
    world.gate.log(write(slot::MAIN, 0x100));
    assert_eq!(world.gate.retire(0), Ok(2));
    assert_eq!(
        world.gate.announce_access(Kind::Write, address, 4, 0x20),
        Ok(2)
    );
    world.gate.log(write(2, address));
    let next = world.gate.retire(0);
    (world, next)
}

#[test]
fn a_sleeper_is_woken_by_a_conflict_only() {
    let (world, next) = sleeper_after_write(0x102);
    assert_eq!(next, Ok(1));
    assert_eq!(world.end(), End::None);
    let (world, next) = sleeper_after_write(0x104);
    assert_eq!(next, Err(Stop));
    assert_eq!(world.end(), End::Redundant);
}
