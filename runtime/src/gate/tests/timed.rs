//! Time-outs that come early.

use super::*;

fn wait(world: &mut World, deadline: u64) -> Result<Slot, Stop> {
    world.gate.announce(&Pending {
        ready: |_, _| false,
        deadline,
        ..Pending::always(Kind::CondWait, 0x80, 0x60)
    })
}

fn early(world: &World) -> u64 {
    world.gate.pages.control().early.load(Ordering::Relaxed)
}

#[test]
fn a_time_out_is_early_where_others_could_go_on() {
    // Main waits until 100, thread 1 works, or sleeps.
    for (prefix, sleeps, expected) in [
        (vec![t(1, 1), t(0, 1)], None, 1),
        // Nobody can go on: the time passes in any case.
        (vec![t(1, 1), t(0, 1)], Some(500), 0),
        // A sleep that ends early takes the time of others with it.
        (vec![t(1, 1), t(2, 1), t(1, 1), t(0, 1)], Some(500), 1),
        (
            vec![t(1, 1), t(2, 1), t(1, 1), t(2, 1), t(0, 1)],
            Some(50),
            1,
        ),
    ] {
        let others = if prefix.len() > 2 { 2 } else { 1 };
        let mut world = World::new(0, Tail::RunUntilBlocked, &prefix).children(others);
        let mut next = wait(&mut world, 100);
        while next != Ok(slot::MAIN) {
            next = match (next.unwrap(), sleeps) {
                (1, Some(deadline)) if world.gate.clock() < deadline => world.sleep(deadline),
                _ => world.work(),
            };
        }
        assert_eq!(early(&world), 0, "it has not arrived yet");
        assert_eq!(world.gate.arrive(), Wake::TimedOut);
        assert_eq!(early(&world), expected, "{prefix:?} {sleeps:?}");
    }
}

#[test]
fn late_time_outs_wait_for_everybody_else() {
    for flags in [0, flags::EAGER_TIME, flags::EXHAUSTIVE] {
        let late = flags | flags::LATE_TIMEOUTS;
        let mut world = World::new(late, Tail::Random { seed: 3 }, &[]).children(1);
        let mut next = world.work().unwrap();
        while next == 1 {
            next = world.work().unwrap();
        }
        let mut next = wait(&mut world, 100).unwrap();
        for _ in 0..500 {
            assert_eq!(next, 1, "it waits");
            next = world.work().unwrap();
        }
        // Neither does a sleep take the clock past it; a short one does not.
        assert_eq!(world.sleep(50), Ok(1));
        assert_eq!(world.gate.clock(), 50);
        assert_eq!(world.sleep(700), Ok(slot::MAIN), "the first deadline");
        assert_eq!((world.gate.arrive(), early(&world)), (Wake::TimedOut, 0));
    }
}

/// Whether a child of the process has ended yet is nothing that an execution decides.
#[test]
fn late_time_outs_do_not_wait_for_what_another_process_lets_go_on() {
    for (outside, expected) in [(true, Ok(1)), (false, Err(()))] {
        let prefix = [t(1, 3)];
        let mut world =
            World::new(flags::LATE_TIMEOUTS, Tail::RunUntilBlocked, &prefix).children(1);
        let main = Pending {
            outside,
            ..Pending::always(Kind::Yield, 0, 0x10)
        };
        assert_eq!(world.gate.announce(&main), Ok(1));
        assert_eq!(world.sleep(10), Ok(1), "the first one may end");
        world.gate.arrive();
        assert_eq!(world.sleep(20).map_err(drop), expected, "{outside}");
    }
}
