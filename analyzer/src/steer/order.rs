//! The order that no schedule can change: creation before the child's steps, these before the join.

use crate::fast::FastMap;
use crate::hapset::operation::Operation;
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};

/// Where threads were created and joined, as indices of events.
#[derive(Default)]
pub struct Order {
    threads: FastMap<Slot, Life>,
}

#[derive(Clone, Copy)]
struct Life {
    creator: Slot,
    created: u32,
    /// Who joined it, and when.
    joined: Option<(Slot, u32)>,
}

/// How far chains of creation and join are followed.
const DEPTH: u32 = 8;

impl Order {
    /// Of one execution.
    pub fn of(events: &[Event]) -> Order {
        let mut order = Order::default();
        for (i, event) in events.iter().enumerate() {
            stop::point();
            let other = event.value as Slot;
            match event.kind() {
                Some(Kind::ThreadCreate) => {
                    let life = Life {
                        creator: event.thread,
                        created: i as u32,
                        joined: None,
                    };
                    order.threads.insert(other, life);
                }
                Some(Kind::ThreadJoin) if event.aux == 0 => {
                    if let Some(life) = order.threads.get_mut(&other) {
                        life.joined = Some((event.thread, i as u32));
                    }
                }
                _ => {}
            }
        }
        order
    }

    /// Does `a` come before `b` whatever the schedule?
    pub fn is_certain(&self, a: &Operation, b: &Operation) -> bool {
        self.precedes((a.thread, a.event), (b.thread, b.event), DEPTH)
    }

    fn precedes(&self, a: (Slot, u32), b: (Slot, u32), depth: u32) -> bool {
        if a.0 == b.0 {
            return a.1 <= b.1;
        }
        if depth == 0 {
            return false;
        }
        let created = self.threads.get(&b.0);
        if created.is_some_and(|l| self.precedes(a, (l.creator, l.created), depth - 1)) {
            return true;
        }
        let joined = self.threads.get(&a.0).and_then(|l| l.joined);
        joined.is_some_and(|j| self.precedes(j, b, depth - 1))
    }
}
