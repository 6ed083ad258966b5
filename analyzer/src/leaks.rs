//! Threads that nobody joined or detached and that were alive when the process ended.

use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use std::collections::BTreeMap;

/// A thread that was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    pub thread: Slot,
    /// Index of the event that created it.
    pub created: usize,
}

/// The threads that an execution left behind, lowest slot first.
pub fn leaks(events: &[Event]) -> Vec<Leak> {
    let mut open: BTreeMap<Slot, usize> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        stop::point();
        let other = event.value as Slot;
        match event.kind() {
            Some(Kind::ThreadCreate) if event.size == 0 && other != raddle_protocol::slot::NONE => {
                open.insert(other, index);
            }
            Some(kind) if (kind.joins() || kind == Kind::ThreadDetach) && event.aux == 0 => {
                open.remove(&other);
            }
            Some(Kind::ThreadExit) => {
                open.remove(&event.thread);
            }
            _ => {}
        }
    }
    let leak = |(thread, created)| Leak { thread, created };
    open.into_iter().map(leak).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_alive_and_nobodys() {
        let event = |thread, kind: Kind, value, aux, size| Event {
            kind: kind as u8,
            thread,
            value,
            aux,
            size,
            ..Event::default()
        };
        let create = |child, detached| event(0, Kind::ThreadCreate, child, 0, detached);
        let table = [
            (event(0, Kind::ThreadJoin, 1, 0, 0), false),
            (event(0, Kind::ThreadJoin, 1, 16, 0), true),
            (event(0, Kind::ThreadDetach, 1, 0, 0), false),
            (event(1, Kind::ThreadExit, 0, 0, 0), false),
            (event(0, Kind::Yield, 0, 0, 0), true),
        ];
        for (then, leaked) in table {
            let found = leaks(&[create(1, 0), create(2, 1), then]);
            let expected = Leak {
                thread: 1,
                created: 0,
            };
            assert_eq!(
                found,
                if leaked { vec![expected] } else { vec![] },
                "{then:?}"
            );
        }
    }
}
