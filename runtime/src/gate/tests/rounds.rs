//! Rounds of loops that only wait.

use super::*;

/// What a thread does in a round.
type Body = fn(&mut World);

/// What it is, the flags of the job, what the first round does, whether that is about shared memory,
/// the loop of the second round, and what is to be known then.
type Case = (&'static str, u32, Body, bool, usize, (bool, bool));

const LOOP: usize = 0x1000;
const CELL: u64 = 0x2000;

fn read(world: &mut World) {
    world.gate.round_saw(CELL, 4, 0);
}

fn step(world: &mut World) {
    assert_eq!(world.work(), Ok(slot::MAIN));
}

/// Is the second round known to go on for ever, and is what was read to be treated as shared?
fn second_round(flags: u32, body: Body, shared: bool, next: usize) -> (bool, bool) {
    let mut world = World::new(flags, Tail::RunUntilBlocked, &[]);
    assert!(!world.gate.round(false, LOOP, |_| shared));
    body(&mut world);
    let endless = world.gate.round(true, next, |_| shared);
    (endless, world.gate.round_exposes())
}

#[test]
fn a_round_that_did_nothing_goes_on_for_ever() {
    let table: &[Case] = &[
        (
            "nothing",
            flags::SYMBOLIC,
            |_| (),
            false,
            LOOP,
            (true, false),
        ),
        (
            "a read of one's own",
            flags::SYMBOLIC,
            read,
            false,
            LOOP,
            (false, true),
        ),
        (
            "a shared read",
            flags::SYMBOLIC,
            read,
            true,
            LOOP,
            (false, false),
        ),
        ("a step", flags::SYMBOLIC, step, false, LOOP, (false, false)),
        (
            "a change",
            flags::SYMBOLIC,
            |world| world.gate.round_changed(),
            false,
            LOOP,
            (false, false),
        ),
        (
            "another loop",
            flags::SYMBOLIC,
            |_| (),
            false,
            LOOP + 8,
            (false, false),
        ),
        ("no symbolic run", 0, |_| (), false, LOOP, (false, false)),
        (
            "rounds are run",
            flags::SYMBOLIC | flags::RUN_SPINS,
            |_| (),
            false,
            LOOP,
            (false, false),
        ),
    ];
    for &(what, flags, body, shared, next, expected) in table {
        assert_eq!(second_round(flags, body, shared, next), expected, "{what}");
    }
}
