//! Delays: an execution is repeated up to a step of one thread, which waits there until another
//! thread has performed what came later, or has ended.
//!
//! A delay turns a conflict round. Where the held thread has passed a conflict with the other one
//! before, it also puts the other one between two operations of the held thread, which is how
//! atomicity violations come about (Lu et al., ASPLOS 2006, section 2).

use super::order::Order;
use super::table::StatementId;
use crate::fast::{FastMap, Multiply};
use crate::hapset::operation::Operation;
use raddle_protocol::Slot;
use raddle_protocol::schedule::Step;
use std::hash::{Hash, Hasher};

/// Most delays of one execution.
const MOST: usize = 500;
/// Looks at pairs of operations that one execution is worth.
const EFFORT: usize = 20_000;
/// Threads that are told apart in what they do at one statement.
const THREADS: usize = 3;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// The step before which the thread is held.
    pub step: u32,
    pub held: Slot,
    pub other: Slot,
    /// What the other thread is to have performed, as an index of operations; `None`: its end.
    pub until: Option<u32>,
    /// Delays of the same statements in the same manner have the same number.
    pub class: u64,
    /// The pair that it brings about: the other thread's statement, then the held one's.
    pub pair: (StatementId, StatementId),
    /// The held thread has passed a conflict with the other one.
    pub inside: bool,
    pub tries: u32,
}

/// One execution, as far as delays depend on it.
pub struct Seen<'a> {
    pub ops: &'a [Operation],
    /// The statements of the operations.
    pub ids: &'a [StatementId],
    pub order: &'a Order,
    pub taken: &'a [Step],
}

/// All delays that an execution suggests, in the order of their steps. Of many threads that do the
/// same only the first few count.
pub fn delays(seen: &Seen) -> Vec<Delay> {
    let mut walk = Walk::new(seen);
    let mut found = Vec::new();
    for i in 0..seen.ops.len() {
        if found.len() >= MOST || walk.effort == 0 {
            break;
        }
        if walk.is_one_of_many(i) {
            continue;
        }
        let conflicts = walk.conflicts(i);
        walk.suggest(i, &conflicts.turnable, &mut found);
        if conflicts.any {
            walk.passed(i);
        }
    }
    found
}

/// Later operations of other threads that conflict with one.
struct Conflicts {
    /// Those that may come first, the first one of each thread at each statement.
    turnable: Vec<u32>,
    /// There are some, be it that a common lock keeps the two apart.
    any: bool,
}

struct Walk<'a> {
    seen: &'a Seen<'a>,
    threads: Vec<Slot>,
    /// Operations on each word of memory, in order.
    by_word: FastMap<u64, Vec<u32>>,
    doers: FastMap<StatementId, Vec<Slot>>,
    /// Pairs of threads of which the first has passed a conflict with the second.
    inside: FastMap<(Slot, Slot), ()>,
    /// The first step of each thread after its last conflict, and the statement of that.
    next: FastMap<Slot, (u32, StatementId)>,
    effort: usize,
}

impl<'a> Walk<'a> {
    fn new(seen: &'a Seen<'a>) -> Walk<'a> {
        let mut by_word: FastMap<u64, Vec<u32>> = FastMap::default();
        for (i, op) in seen.ops.iter().enumerate() {
            by_word.entry(op.object / 8).or_default().push(i as u32);
        }
        Walk {
            seen,
            threads: threads(seen.taken),
            by_word,
            doers: FastMap::default(),
            inside: FastMap::default(),
            next: FastMap::default(),
            effort: EFFORT,
        }
    }

    /// Have enough other threads done the same?
    fn is_one_of_many(&mut self, i: usize) -> bool {
        let doers = self.doers.entry(self.seen.ids[i]).or_default();
        let thread = self.seen.ops[i].thread;
        if !doers.contains(&thread) && doers.len() < THREADS {
            doers.push(thread);
        }
        !doers.contains(&thread)
    }

    fn conflicts(&mut self, i: usize) -> Conflicts {
        let Seen {
            ops, ids, order, ..
        } = *self.seen;
        let a = &ops[i];
        let mut found = Conflicts {
            turnable: Vec::new(),
            any: false,
        };
        let same = &self.by_word[&(a.object / 8)];
        let from = same.partition_point(|&j| j as usize <= i);
        for &j in &same[from..] {
            self.effort = self.effort.saturating_sub(1);
            if self.effort == 0 {
                break;
            }
            let b = &ops[j as usize];
            if b.thread == a.thread || !a.conflicts(b) || order.is_certain(a, b) {
                continue;
            }
            found.any = true;
            if a.locks & b.locks != 0 {
                continue;
            }
            let known = found.turnable.iter().map(|&k| k as usize);
            let alike = known.filter(|&k| ids[k] == ids[j as usize]);
            let own = alike.clone().any(|k| ops[k].thread == b.thread);
            if !own && alike.count() < THREADS {
                found.turnable.push(j);
            }
        }
        found
    }

    /// Delays of operation `i` until each of `others`, or until the end of its thread: right
    /// before it, and right after the thread's last conflict.
    fn suggest(&mut self, i: usize, others: &[u32], found: &mut Vec<Delay>) {
        let Seen { ops, ids, .. } = *self.seen;
        let a = &ops[i];
        let next = self.next.get(&a.thread).filter(|next| next.0 < a.step);
        let places = [Some((a.step, None)), next.map(|&(s, id)| (s, Some(id)))];
        for (nth, &j) in others.iter().enumerate() {
            let other = ops[j as usize].thread;
            let again = others[..nth]
                .iter()
                .any(|&k| ops[k as usize].thread == other);
            let inside = self.inside.contains_key(&(a.thread, other));
            let ends = (!again).then_some(None);
            for until in [Some(Some(j)), ends].into_iter().flatten() {
                for (step, after) in places.into_iter().flatten() {
                    let (first, then) = (ids[j as usize], ids[i]);
                    let at = after.unwrap_or(then);
                    let manner = (after.is_some(), at, first, until.is_some(), inside);
                    let mut hasher = Multiply::default();
                    manner.hash(&mut hasher);
                    found.push(Delay {
                        step,
                        held: a.thread,
                        other,
                        until,
                        class: hasher.finish(),
                        pair: (first, then),
                        inside,
                        tries: 0,
                    });
                }
            }
        }
        for &j in others {
            self.inside.insert((a.thread, ops[j as usize].thread), ());
        }
    }

    /// The thread of operation `i` has passed a conflict.
    fn passed(&mut self, i: usize) {
        let a = &self.seen.ops[i];
        let from = a.step as usize + 1;
        let later = self.threads.get(from..).unwrap_or_default();
        match later.iter().position(|&t| t == a.thread) {
            Some(ahead) => {
                let step = (from + ahead) as u32;
                self.next.insert(a.thread, (step, self.seen.ids[i]));
            }
            None => {
                self.next.remove(&a.thread);
            }
        }
    }
}

/// The thread of each step.
fn threads(taken: &[Step]) -> Vec<Slot> {
    let steps = taken.iter().filter(|step| !step.is_choice());
    let repeat = |step: &Step| std::iter::repeat_n(step.what, usize::from(step.count));
    steps.flat_map(repeat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hapset::operation::operations;
    use raddle_protocol::event::{Event, Kind};

    fn event(kind: Kind, thread: Slot, object: u64) -> Event {
        Event {
            kind: kind as u8,
            size: 4,
            thread,
            object,
            pc: u64::from(thread) * 100 + kind as u64,
            ..Event::default()
        }
    }

    /// Step, held thread, other thread, `until`, `inside` of all delays.
    fn of(events: &[Event]) -> Vec<(u32, Slot, Slot, Option<u32>, bool)> {
        let ops = operations(events);
        let ids: Vec<StatementId> = ops.iter().map(|op| op.pc as StatementId).collect();
        let taken: Vec<Step> = events.iter().map(|e| Step::thread(e.thread, 1)).collect();
        let order = Order::of(events);
        let seen = Seen {
            ops: &ops,
            ids: &ids,
            order: &order,
            taken: &taken,
        };
        let found = delays(&seen);
        found
            .iter()
            .map(|d| (d.step, d.held, d.other, d.until, d.inside))
            .collect()
    }

    #[test]
    fn every_conflict_is_turned_round_before_it_and_after_the_one_before() {
        let events = [
            event(Kind::Read, 1, 64),
            event(Kind::Yield, 1, 0),
            event(Kind::Write, 1, 64),
            event(Kind::Write, 2, 64),
            event(Kind::Write, 2, 128),
        ];
        let expected = [
            (0, 1, 2, Some(2), false),
            (0, 1, 2, None, false),
            (2, 1, 2, Some(2), true),
            (1, 1, 2, Some(2), true),
            (2, 1, 2, None, true),
            (1, 1, 2, None, true),
        ];
        assert_eq!(of(&events), expected);
    }

    #[test]
    fn what_cannot_come_in_the_other_order_is_no_delay() {
        // A creation, a common lock, and two reads.
        let create = Event {
            value: 2,
            ..event(Kind::ThreadCreate, 1, 8)
        };
        let events = [
            event(Kind::Write, 1, 64),
            create,
            event(Kind::Write, 2, 64),
            event(Kind::MutexLock, 3, 512),
            event(Kind::Write, 3, 128),
            event(Kind::MutexUnlock, 3, 512),
            event(Kind::MutexLock, 2, 512),
            event(Kind::Write, 2, 128),
            event(Kind::Read, 1, 256),
            event(Kind::Read, 2, 256),
        ];
        let found = of(&events);
        let locks = [(3, 3, 2, Some(4), false), (3, 3, 2, None, false)];
        assert_eq!(found, locks);
    }

    /// Of a hundred threads that do the same only some are held, and only some are waited for.
    #[test]
    fn a_crowd_does_not_drown_the_others() {
        let mut events: Vec<Event> = (1..100)
            .map(|thread| Event {
                pc: 7,
                ..event(Kind::Write, thread, 64)
            })
            .collect();
        events.push(event(Kind::Read, 100, 64));
        let found = of(&events);
        assert!(found.len() < 50);
        for thread in 1..=THREADS as Slot {
            let wanted = |d: &&(u32, Slot, Slot, Option<u32>, bool)| d.1 == thread && d.2 == 100;
            assert_eq!(found.iter().filter(wanted).count(), 2);
        }
    }
}
