//! What other processes do.

use super::*;
use raddle_protocol::schedule::{ARRIVAL, FACT};

const TAIL: Tail = Tail::RunUntilBlocked;

fn following(prefix: &[Step]) -> World {
    let mut world = World::new(flags::EVENTS, TAIL, prefix).children(1);
    let next = world.gate.announce_ready(Kind::SemPost, 0, 0x20);
    assert_eq!(next, Ok(slot::MAIN));
    world
}

/// The running thread waits for another process, or until this time (0: for ever).
fn waits(world: &mut World, deadline: u64) -> Result<Slot, Stop> {
    world.gate.announce(&Pending {
        ready: |_, _| false,
        outside: true,
        deadline,
        ..Pending::always(Kind::ChildWait, 0, 0x40)
    })
}

#[test]
fn what_was_found_once_is_asked_for_again() {
    let mut first = following(&[]);
    assert_eq!(first.gate.wanted_fact(), Ok(None));
    assert_eq!(first.gate.take_fact(None, 7), Ok(()));
    let taken = first.drained().taken.clone();
    assert_eq!(taken, [Step::thread(0, 1), Step::choice(FACT + 7)]);

    let mut again = following(&taken);
    assert_eq!(again.gate.wanted_fact(), Ok(Some(7)));
    assert_eq!(again.gate.take_fact(Some(7), 7), Ok(()));
    assert_eq!(again.drained().taken, taken);
}

#[test]
fn what_cannot_be_found_again_is_a_divergence() {
    let mut world = following(&[Step::thread(0, 1), Step::choice(FACT + 7)]);
    assert_eq!(world.gate.take_fact(Some(7), 6), Err(Stop));
    assert_eq!(world.end(), End::Divergence);
    // The schedule has a step there, or nothing but steps.
    let mut world = following(&[Step::thread(0, 2)]);
    assert_eq!(world.gate.wanted_fact(), Err(Stop));
}

#[test]
fn a_signal_that_the_schedule_has_lets_a_thread_go_on_that_waits() {
    let arrival = Step::choice(ARRIVAL + 17);
    let mut world = following(&[Step::thread(0, 2), arrival, Step::thread(1, 1)]);
    assert_eq!(waits(&mut world, 0), Ok(slot::MAIN));
    assert!(world.gate.wants_arrival());
    assert_eq!(world.gate.take_arrival(17, true), Ok(()));
    world.gate.arrived(17);
    assert!(world.gate.has_just_arrived());
    assert_eq!(world.work(), Ok(1));
    assert!(!world.gate.has_just_arrived() && !world.gate.wants_arrival());
    // Without the signal the step cannot be taken.
    let mut world = following(&[Step::thread(0, 2), Step::thread(1, 1)]);
    assert_eq!(waits(&mut world, 0), Err(Stop));
    assert_eq!(world.end(), End::Divergence);
}

#[test]
fn time_passes_only_where_it_did() {
    let signal = Step::choice(ARRIVAL + 17);
    for (behind, clock) in [(signal, 0), (Step::choice(ARRIVAL), 50)] {
        let mut world = following(&[Step::thread(0, 2), behind, signal]);
        assert_eq!(waits(&mut world, 50), Ok(slot::MAIN));
        assert_eq!(world.gate.clock(), clock);
    }
    let mut world = following(&[]);
    world.gate.children.announced(1, false);
    assert_eq!(waits(&mut world, 50), Ok(1));
    assert_eq!(world.gate.retire(0), Ok(slot::MAIN));
    world.gate.arrived(17);
    let end = [Step::choice(ARRIVAL), signal];
    let taken = &world.drained().taken;
    assert!(taken.ends_with(&end), "{taken:?}");
}

#[test]
fn a_fact_is_recorded_behind_its_step() {
    let mut world = following(&[]);
    assert_eq!(world.gate.take_fact(None, 3), Ok(()));
    let step = Event {
        kind: Kind::MutexTryLock as u8,
        ..Event::default()
    };
    world.gate.log(step);
    let events = world.drained().events.clone();
    let kinds: Vec<Kind> = events.iter().filter_map(Event::kind).collect();
    assert_eq!(kinds, [Kind::MutexTryLock, Kind::Choice]);
    assert_eq!((events[1].value, events[1].aux), (u64::from(FACT) + 3, 0));
}
