//! What the threads of a deadlock wait for, in words and places: where each one waits, which locks
//! it holds and where it took them, and who was the last to do what it waits for.

use crate::callers::{self, Callers};
use crate::describe::record;
use crate::objects::{Objects, noun};
use crate::symbols::Symbols;
use raddle_analyzer::locks::{self, Held};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::Wait as Raw;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::{Hold, NO_OBJECT, Record, Wait};
use raddle_protocol::{Slot, slot};

/// The threads that wait for each other in a cycle. The runtime marks those that nothing can free
/// any more; where nobody could go on, these are also the ones that only a cancellation could.
fn cycle(waits: &[Raw]) -> Vec<Slot> {
    let marked = waits.iter().filter(|w| w.in_cycle != 0);
    let marked: Vec<Slot> = marked.map(|w| w.thread).collect();
    if !marked.is_empty() {
        return marked;
    }
    let after = |thread: Slot| {
        let wait = waits.iter().find(|w| w.thread == thread)?;
        Some(wait.holder).filter(|&holder| holder != slot::NONE)
    };
    let comes_back = |&thread: &Slot| {
        let path = std::iter::successors(after(thread), |&at| after(at));
        path.take(waits.len()).any(|at| at == thread)
    };
    let threads = waits.iter().map(|w| w.thread);
    threads.filter(comes_back).collect()
}

/// The cycle of a deadlock in words, if it has one.
pub fn cycle_message(waits: &[Raw]) -> Option<String> {
    match cycle(waits)[..] {
        [] => None,
        [reader] if waits.iter().any(|w| bars(w, reader, waits)) => {
            Some("a reader waits behind a writer that waits for it".to_string())
        }
        [_] => Some("a thread waits for itself".to_string()),
        ref all => Some(format!(
            "{} threads wait for each other in a cycle",
            all.len()
        )),
    }
}

/// Is this the wait of a writer that `reader`, which has the lock, comes behind to read it again?
fn bars(writer: &Raw, reader: Slot, waits: &[Raw]) -> bool {
    let reads = |w: &Raw| {
        let kind = Kind::from_u8(w.kind);
        w.thread == reader && kind == Some(Kind::RwRead) && w.object == writer.object
    };
    Kind::from_u8(writer.kind) == Some(Kind::RwWrite) && waits.iter().any(reads)
}

/// Puts the waits at the end of a trace into a witness's form. `callers`: up to that end.
pub fn describe(
    trace: &Trace,
    callers: &Callers,
    objects: &mut Objects,
    symbols: &mut Symbols,
) -> Vec<Wait> {
    let waits = &trace.outcome.waits;
    if waits.is_empty() {
        return Vec::new();
    }
    let mut held = locks::held(&trace.events);
    held.retain(|thread, _| waits.iter().any(|w| w.thread == *thread));
    let earlier = |raw: &Raw| match trace.events.is_empty() {
        true => None,
        false => earlier(raw, &trace.events),
    };
    let earlier: Vec<Option<Vec<usize>>> = waits.iter().map(earlier).collect();
    let mut wanted: Vec<usize> = held.values().flatten().map(|h| h.event).collect();
    wanted.extend(earlier.iter().flatten().flatten());
    let mut writer = Writer {
        events: &trace.events,
        at: callers::at(&trace.events, &wanted),
        objects,
        symbols,
    };
    let cycle = cycle(waits);
    let wait = |(raw, earlier): (&Raw, Option<Vec<usize>>)| Wait {
        in_cycle: cycle.contains(&raw.thread),
        holds: held
            .get(&raw.thread)
            .map_or(Vec::new(), |held| writer.holds(held)),
        earlier: earlier.map(|all| all.iter().map(|&index| writer.record(index)).collect()),
        ..writer.wait(raw, callers)
    };
    waits.iter().zip(earlier).map(wait).collect()
}

struct Writer<'a> {
    events: &'a [Event],
    /// Callers of the events that are named.
    at: callers::At,
    objects: &'a mut Objects,
    symbols: &'a mut Symbols,
}

impl Writer<'_> {
    fn wait(&mut self, raw: &Raw, callers: &Callers) -> Wait {
        let kind = Kind::from_u8(raw.kind).unwrap_or(Kind::Yield);
        let above = callers.of_waiting(raw.thread);
        Wait {
            thread: raw.thread,
            holder: raw.holder,
            kind: kind as u8,
            in_cycle: false,
            object: match noun(kind) {
                "thread" => NO_OBJECT,
                _ => self.objects.index(kind, raw.object, self.symbols),
            },
            site: self.symbols.site_called_from(raw.pc, above),
            holder_site: (raw.holder_pc != 0).then(|| {
                let taken = callers.of_step(raw.holder, raw.holder_pc, raw.object);
                self.symbols.site_called_from(raw.holder_pc, taken)
            }),
            stack: callers::stack(raw.pc, above, self.symbols),
            holds: Vec::new(),
            earlier: None,
        }
    }

    fn holds(&mut self, held: &[Held]) -> Vec<Hold> {
        let hold = |held: &Held| {
            let event = &self.events[held.event];
            let kind = event.kind().unwrap_or(Kind::MutexLock);
            Hold {
                kind: kind as u8,
                // What a wait takes back is not the object of the wait.
                object: self.objects.index(lock_of(kind), held.lock, self.symbols),
                stack: callers::stack(event.pc, self.at.of(held.event), self.symbols),
            }
        };
        held.iter().map(hold).collect()
    }

    fn record(&mut self, index: usize) -> Record {
        let event = &self.events[index];
        let kind = event.kind().unwrap_or(Kind::Yield);
        let above = self.at.of(index);
        let site = self.symbols.site_called_from(event.pc, above);
        record(kind, event, site, self.objects, self.symbols)
    }
}

/// The kind of object that such an operation leaves a thread with.
fn lock_of(kind: Kind) -> Kind {
    match kind {
        Kind::CondWake => Kind::MutexLock,
        kind => kind,
    }
}

/// Indices of the last operations of each sort on what is waited for by which a thread could have
/// gone on, or took what this one waits for; `None` where somebody holds it, or there is no such
/// operation.
fn earlier(raw: &Raw, events: &[Event]) -> Option<Vec<usize>> {
    if raw.holder != slot::NONE {
        return None;
    }
    let sorts: &[&[Kind]] = match Kind::from_u8(raw.kind)? {
        Kind::CondWait | Kind::CondWake => &[&[Kind::CondSignal, Kind::CondBroadcast]],
        Kind::SemWait | Kind::SemTimedWait => &[
            &[Kind::SemWait, Kind::SemTryWait, Kind::SemTimedWait],
            &[Kind::SemPost],
        ],
        Kind::FutexWait | Kind::FutexResume => &[&[Kind::FutexWake]],
        _ => return None,
    };
    let last = |sort: &&[Kind]| {
        events.iter().rposition(|event| {
            let kind = event.kind().filter(|kind| sort.contains(kind));
            // Taking one fails with an error number.
            let took = kind.is_some_and(|kind| kind == Kind::FutexWake || event.value == 0);
            let signals = matches!(kind, Some(Kind::CondSignal | Kind::CondBroadcast));
            event.object == raw.object && (took || signals)
        })
    };
    let mut last: Vec<usize> = sorts.iter().filter_map(last).collect();
    last.sort_unstable();
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(thread: Slot, holder: Slot, in_cycle: u8) -> Raw {
        Raw {
            thread,
            holder,
            in_cycle,
            ..Raw::default()
        }
    }

    #[test]
    fn cycles_are_told_from_those_who_wait_for_them() {
        let none = slot::NONE;
        let table: [(&[Raw], &[Slot]); 5] = [
            (&[], &[]),
            (&[wait(0, none, 0), wait(1, 0, 0)], &[]),
            (&[wait(0, 1, 0), wait(1, 2, 0), wait(2, 1, 0)], &[1, 2]),
            (&[wait(0, 1, 0), wait(1, 1, 0)], &[1]),
            (&[wait(0, 1, 0), wait(1, 2, 1), wait(2, 1, 1)], &[1, 2]),
        ];
        for (waits, members) in table {
            assert_eq!(cycle(waits), members, "{waits:?}");
        }
    }

    #[test]
    fn the_last_operations_on_what_is_waited_for() {
        let event = |kind: Kind, object, value| Event {
            kind: kind as u8,
            object,
            value,
            ..Event::default()
        };
        let waits = |kind: Kind, holder| Raw {
            kind: kind as u8,
            object: 8,
            holder,
            ..Raw::default()
        };
        let events = [
            event(Kind::SemPost, 8, 0),
            event(Kind::SemWait, 8, 0),
            event(Kind::SemPost, 9, 0),
            event(Kind::SemTryWait, 8, libc::EAGAIN as u64),
            event(Kind::CondSignal, 8, u64::from(slot::NONE)),
            event(Kind::FutexWake, 8, 3),
        ];
        let none = slot::NONE;
        let table = [
            (waits(Kind::SemWait, none), Some(vec![0, 1])),
            (waits(Kind::CondWake, none), Some(vec![4])),
            (waits(Kind::CondWake, 1), None),
            (waits(Kind::FutexResume, none), Some(vec![5])),
            (waits(Kind::MutexLock, none), None),
        ];
        for (raw, expected) in table {
            assert_eq!(earlier(&raw, &events), expected, "{raw:?}");
        }
        let none_yet = earlier(&waits(Kind::SemWait, none), &events[2..]);
        assert_eq!(none_yet, Some(vec![]));
    }

    #[test]
    fn cycles_in_words() {
        let waits = |thread, kind: Kind, holder| Raw {
            kind: kind as u8,
            object: 0x100,
            ..wait(thread, holder, u8::from(holder != slot::NONE))
        };
        let behind = "a reader waits behind a writer that waits for it";
        let itself = "a thread waits for itself";
        let two = "2 threads wait for each other in a cycle";
        let writer = Raw {
            in_cycle: 0,
            ..waits(2, Kind::RwWrite, 1)
        };
        let elsewhere = Raw {
            object: 0x200,
            ..writer
        };
        let table: [(&[Raw], Option<&str>); 5] = [
            (&[waits(1, Kind::SemWait, slot::NONE)], None),
            (&[waits(1, Kind::MutexLock, 1)], Some(itself)),
            (&[waits(1, Kind::RwRead, 1), writer], Some(behind)),
            (&[waits(1, Kind::RwRead, 1), elsewhere], Some(itself)),
            (
                &[waits(1, Kind::MutexLock, 2), waits(2, Kind::MutexLock, 1)],
                Some(two),
            ),
        ];
        for (waits, expected) in table {
            assert_eq!(cycle_message(waits).as_deref(), expected, "{waits:?}");
        }
    }
}
