//! Schedules that lead an execution elsewhere: derived from one that was run, for runs that skip
//! what cannot be taken (`flags::TOLERANT`) with the tail `RunUntilBlocked`.

use crate::locks::Cycle;
use crate::races::{Access, Race, Subject, objects};
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Step;
use raddle_protocol::trace::Outcome;

/// One step of an execution: the thread, and the entries of the schedule (its choices follow it).
struct Single {
    thread: Slot,
    entries: Vec<u16>,
}

fn singles(taken: &[Step]) -> Vec<Single> {
    let mut all: Vec<Single> = Vec::new();
    for step in taken {
        stop::point();
        if step.is_choice() {
            if let Some(last) = all.last_mut() {
                last.entries.push(step.what);
            }
            continue;
        }
        let single = |_| Single {
            thread: step.what,
            entries: vec![step.what],
        };
        all.extend((0..step.count).map(single));
    }
    all
}

fn encode<'a>(steps: impl Iterator<Item = &'a Single>) -> Vec<Step> {
    let mut encoded = Vec::new();
    for what in steps.flat_map(|single| &single.entries) {
        stop::point();
        push_step(&mut encoded, *what);
    }
    encoded
}

/// How many steps come before the event at this index.
fn steps_before(events: &[Event], index: usize) -> usize {
    let is_step = |event: &&Event| event.kind().is_some_and(|kind| kind.is_step());
    events[..index].iter().filter(is_step).count()
}

/// Schedules that may make the threads of `cycle` stand before their locks at the same time, the
/// most promising first: each of them stops before the step that took the lock that the next one
/// holds.
pub fn toward_cycle(taken: &[Step], events: &[Event], cycle: &Cycle) -> Vec<Vec<Step>> {
    let all = singles(taken);
    let stops: Vec<(Slot, usize)> = cycle
        .0
        .iter()
        .map(|nested| (nested.thread, steps_before(events, nested.wanted.event)))
        .collect();
    let stop = |thread| stops.iter().find(|stop| stop.0 == thread);
    let goes = |(at, single): &(usize, &Single)| stop(single.thread).is_none_or(|s| *at < s.1);
    let kept: Vec<&Single> = all.iter().enumerate().filter(goes).map(|x| x.1).collect();
    let mut schedules = vec![encode(kept.iter().copied())];
    // One thread of the cycle after the other, each as far as it gets.
    for turn in 0..stops.len() {
        let order = (0..stops.len()).map(|i| stops[(turn + i) % stops.len()].0);
        let outside = kept.iter().filter(|s| stop(s.thread).is_none());
        let inside = order.flat_map(|t| kept.iter().filter(move |s| s.thread == t));
        schedules.push(encode(outside.chain(inside).copied()));
    }
    schedules
}

/// Where what leads to an access begins: it is a step, or comes with the one before of its thread.
fn begin(events: &[Event], access: &Access) -> usize {
    let is_step = |event: &Event| event.kind().is_some_and(Kind::is_step);
    let own = |event: &Event| event.thread == access.thread && is_step(event);
    match is_step(&events[access.event]) {
        true => access.event,
        false => events[..access.event]
            .iter()
            .rposition(own)
            .unwrap_or(access.event),
    }
}

/// A schedule on which the second access of `race` may come before the first.
pub fn other_order(taken: &[Step], events: &[Event], race: &Race) -> Vec<Step> {
    let all = singles(taken);
    let first = steps_before(events, begin(events, &race.first)).min(all.len());
    let second = steps_before(events, race.second.event).min(all.len().saturating_sub(1));
    if first > second {
        return taken.to_vec();
    }
    let (before, rest) = all.split_at(first);
    let (between, after) = rest.split_at(second + 1 - first);
    let held = |single: &&Single| single.thread == race.first.thread;
    let others = between.iter().filter(|single| !held(single));
    let steps = before
        .iter()
        .chain(others)
        .chain(between.iter().filter(held))
        .chain(after);
    encode(steps)
}

/// Did the accesses of `race`, found in `events`, come in the other order in `other`, which ended
/// like this? They are the same if their threads do the same at the same places. An access that the
/// other one has made an error ends the execution instead of being recorded.
pub fn is_other_order(events: &[Event], race: &Race, other: &[Event], end: &Outcome) -> bool {
    let place = |access: &Access| {
        let here = &events[access.event];
        let same = |event: &&Event| {
            let alike = match race.subject {
                // The call may fail now, or find another object.
                Subject::Descriptor => {
                    event.aux == here.aux && objects::descriptor(event).is_some()
                }
                _ => event.kind == access.kind as u8 && event.object == here.object,
            };
            alike && event.thread == access.thread && event.pc == access.pc
        };
        let nth = events[..access.event].iter().filter(same).count();
        let mut found = other.iter().enumerate().filter(|(_, event)| same(event));
        found.nth(nth).map(|(index, _)| index)
    };
    match (place(&race.first), place(&race.second)) {
        (Some(first), Some(second)) => {
            second < first && !begins_anew(race, &other[second + 1..first])
        }
        (None, Some(second)) => {
            end.thread == race.first.thread
                && is_stopped(race, &events[race.second.event], end)
                && !begins_anew(race, &other[second + 1..])
        }
        // The use of an object that has not begun ends the execution before the beginning.
        (None, None) => {
            race.subject == Subject::Object
                && (end.end, end.thread) == (End::Misuse, race.second.thread)
                && end.detail[0] == race.address
        }
        _ => false,
    }
}

/// Does what the race is about begin a new life in these events? Then what comes after them is
/// about something else.
fn begins_anew(race: &Race, between: &[Event]) -> bool {
    between
        .iter()
        .any(|event| match (race.subject, event.kind()) {
            (Subject::Memory | Subject::Object, Some(Kind::Malloc | Kind::Mapped)) => {
                let within = race.address.checked_sub(event.object);
                within.is_some_and(|within| within < event.value)
            }
            (Subject::Object, Some(kind)) => {
                event.object == race.address && objects::begins_or_ends(kind) == Some(true)
            }
            _ => false,
        })
}

/// Did this end stop an access of what `second` had ended?
fn is_stopped(race: &Race, second: &Event, end: &Outcome) -> bool {
    let [at, block, ..] = end.detail;
    match end.end {
        End::UseAfterFree => second.kind == Kind::Free as u8 && block == second.object,
        End::Misuse => race.subject == Subject::Object && at == race.address,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{locks, races};
    use raddle_protocol::event::Kind;

    fn event(thread: u16, kind: Kind, object: u64, pc: u64) -> Event {
        Event {
            kind: kind as u8,
            size: 4,
            thread,
            object,
            pc,
            ..Event::default()
        }
    }

    fn create(child: u64) -> Event {
        Event {
            value: child,
            size: 0,
            ..event(0, Kind::ThreadCreate, 0, 1)
        }
    }

    fn schedule(events: &[Event]) -> Vec<Step> {
        let mut steps = Vec::new();
        events
            .iter()
            .for_each(|event| push_step(&mut steps, event.thread));
        steps
    }

    #[test]
    fn a_race_turned_round() {
        let write = |thread| event(thread, Kind::Write, 64, 10 + u64::from(thread));
        let events = [create(1), create(2), write(1), write(2)];
        let race = races::distinct(&events)[0];
        let other = other_order(&schedule(&events), &events, &race);
        assert_eq!(
            other,
            [Step::thread(0, 2), Step::thread(2, 1), Step::thread(1, 1)]
        );
        let turned = [create(1), create(2), write(2), write(1)];
        let end = Outcome::new(End::Exit, 0);
        assert!(is_other_order(&events, &race, &turned, &end));
        assert!(!is_other_order(&events, &race, &events, &end));
        assert!(!is_other_order(&events, &race, &turned[..3], &end));
    }

    /// What comes after the end of an object is its use only if it has not begun a new life; where
    /// it ends the execution, that stands for its record.
    #[test]
    fn a_use_after_the_end_is_the_other_order() {
        let create = [create(1), create(2)];
        let block = |kind, thread| Event {
            value: 8,
            ..event(thread, kind, 64, 20 + u64::from(thread))
        };
        let one = |thread, kind| event(thread, kind, 64, 10 + u64::from(thread));
        let stopped = |thread, end, detail| Outcome {
            thread,
            detail,
            ..Outcome::new(end, 0)
        };
        let fine = Outcome::new(End::Exit, 0);
        let freed = stopped(1, End::UseAfterFree, [64, 64, 0, 0]);
        let misused = stopped(1, End::Misuse, [64, 0, 0, 0]);
        let by_other = stopped(2, End::Misuse, [64, 0, 0, 0]);
        let (lock, destroy, init) = (
            one(1, Kind::MutexLock),
            one(2, Kind::MutexDestroy),
            one(2, Kind::MutexInit),
        );
        let (write, free) = (one(1, Kind::Write), block(Kind::Free, 2));
        let fresh = block(Kind::Malloc, 2);
        let table: [([Event; 2], &[Event], &Outcome, bool); 12] = [
            ([lock, destroy], &[destroy, lock], &fine, true),
            ([lock, destroy], &[destroy], &misused, true),
            ([lock, destroy], &[destroy], &by_other, false),
            ([lock, destroy], &[destroy], &fine, false),
            ([lock, destroy], &[destroy, init, lock], &fine, false),
            ([lock, destroy], &[destroy, fresh, lock], &fine, false),
            ([init, lock], &[], &misused, true),
            ([init, lock], &[], &by_other, false),
            ([init, lock], &[], &fine, false),
            ([write, free], &[free], &freed, true),
            ([write, free], &[free], &misused, false),
            ([write, free], &[free, fresh], &freed, false),
        ];
        for (n, (events, other, end, expected)) in table.into_iter().enumerate() {
            let events = [&create[..], &events].concat();
            let other = [&create[..], other].concat();
            let race = races::distinct(&events)[0];
            let got = is_other_order(&events, &race, &other, end);
            assert_eq!(got, expected, "row {n}");
        }
    }

    #[test]
    fn threads_stop_before_their_locks() {
        let lock = |thread, lock| event(thread, Kind::MutexLock, lock, lock + u64::from(thread));
        let unlock = |thread, lock| event(thread, Kind::MutexUnlock, lock, 0);
        let one = [lock(1, 64), lock(1, 80), unlock(1, 80), unlock(1, 64)];
        let two = [lock(2, 80), lock(2, 64), unlock(2, 64), unlock(2, 80)];
        let events: Vec<Event> = [&[create(1), create(2)][..], &one, &two].concat();
        let cycles = locks::cycles(&events);
        let schedules = toward_cycle(&schedule(&events), &events, &cycles[0]);
        assert_eq!(
            schedules[0],
            [Step::thread(0, 2), Step::thread(1, 1), Step::thread(2, 1)]
        );
        assert_eq!(schedules.len(), 3);
    }
}
