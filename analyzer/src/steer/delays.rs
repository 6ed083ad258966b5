//! Delays: an execution is repeated up to a step of one thread, which waits there until another
//! thread has performed what came later, or has ended.
//!
//! A delay turns a conflict round. Where the held thread has passed a conflict with the other one
//! before, it also puts the other one between two operations of the held thread, which is how
//! atomicity violations come about (Lu et al., ASPLOS 2006, section 2).

use super::order::Order;
use super::table::StatementId;
use crate::fast::{FastMap, Multiply};
use crate::hapset::operation::{Class, Operation};
use crate::stop;
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
    pub sort: Sort,
    pub tries: u32,
}

/// How a delay lies in what the held thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// It has just read what the other one is known to write, and has released the locks that it
    /// held then: what it knows gets old until it acts.
    Stale,
    /// Right before a conflict with the other one, after an earlier one.
    Inside,
    /// Any other.
    Plain,
}

/// Which threads have written a word of memory, in any execution, and by which statements.
pub type Writers = FastMap<u64, Vec<(Slot, StatementId)>>;

/// One execution, as far as delays depend on it.
pub struct Seen<'a> {
    pub ops: &'a [Operation],
    /// The statements of the operations.
    pub ids: &'a [StatementId],
    pub order: &'a Order,
    pub taken: &'a [Step],
    pub writers: &'a Writers,
}

/// All delays that an execution suggests, in the order of their steps. Of many threads that do the
/// same only the first few count.
pub fn delays(seen: &Seen) -> Vec<Delay> {
    let mut walk = Walk::new(seen);
    let mut found = Vec::new();
    for i in 0..seen.ops.len() {
        stop::point();
        if found.len() >= MOST || walk.effort == 0 {
            break;
        }
        if walk.is_one_of_many(i) {
            continue;
        }
        let conflicts = walk.conflicts(i);
        walk.suggest(i, &conflicts.turnable, &mut found);
        walk.suggest_stale(i, &mut found);
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
    /// What each thread has read since a stale delay of it was possible.
    reads: FastMap<Slot, Vec<u32>>,
    /// The last operation of each thread.
    last: FastMap<Slot, u32>,
    effort: usize,
}

impl<'a> Walk<'a> {
    fn new(seen: &'a Seen<'a>) -> Walk<'a> {
        let mut by_word: FastMap<u64, Vec<u32>> = FastMap::default();
        let mut last = FastMap::default();
        for (i, op) in seen.ops.iter().enumerate() {
            stop::point();
            last.insert(op.thread, i as u32);
            by_word.entry(op.object / 8).or_default().push(i as u32);
        }
        Walk {
            seen,
            threads: threads(seen.taken),
            by_word,
            doers: FastMap::default(),
            inside: FastMap::default(),
            next: FastMap::default(),
            reads: FastMap::default(),
            last,
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
            stop::point();
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
            stop::point();
            let other = ops[j as usize].thread;
            let again = others[..nth]
                .iter()
                .any(|&k| ops[k as usize].thread == other);
            let inside = self.inside.contains_key(&(a.thread, other));
            let ends = (!again).then_some(None);
            for until in [Some(Some(j)), ends].into_iter().flatten() {
                stop::point();
                for (step, after) in places.into_iter().flatten() {
                    stop::point();
                    let (first, then) = (ids[j as usize], ids[i]);
                    let at = after.unwrap_or(then);
                    let sort = match inside && after.is_none() {
                        true => Sort::Inside,
                        false => Sort::Plain,
                    };
                    found.push(Delay {
                        step,
                        held: a.thread,
                        other,
                        until,
                        class: class((after.is_some(), at, first, until.is_some(), inside)),
                        pair: (first, then),
                        sort,
                        tries: 0,
                    });
                }
            }
        }
        for &j in others {
            stop::point();
            self.inside.insert((a.thread, ops[j as usize].thread), ());
        }
    }

    /// Delays of operation `i` until another thread ends that is known to write what this one has
    /// read before.
    fn suggest_stale(&mut self, i: usize, found: &mut Vec<Delay>) {
        let Seen { ops, ids, .. } = *self.seen;
        let a = &ops[i];
        let reads = self.reads.entry(a.thread).or_default();
        let mut old = Vec::new();
        reads.retain(|&r| {
            let released = ops[r as usize].locks & a.locks == 0;
            if released {
                old.push(r as usize);
            }
            !released
        });
        if a.class == Class::Read {
            reads.push(i as u32);
        }
        for r in old {
            stop::point();
            for (other, write) in self.writers_after(r, i) {
                stop::point();
                found.push(Delay {
                    step: a.step,
                    held: a.thread,
                    other,
                    until: None,
                    class: class((Sort::Stale, ids[r], ids[i], write)),
                    pair: (write, ids[i]),
                    sort: Sort::Stale,
                    tries: 0,
                });
            }
        }
    }

    /// Others that are known to write what was read at `read`, and that may do so between that and
    /// operation `i`: the first few of each statement.
    fn writers_after(&mut self, read: usize, i: usize) -> Vec<(Slot, StatementId)> {
        let Seen {
            ops,
            order,
            writers,
            ..
        } = *self.seen;
        let known = writers.get(&(ops[read].object / 8));
        let mut found: Vec<(Slot, StatementId)> = Vec::new();
        for &(other, write) in known.into_iter().flatten() {
            stop::point();
            self.effort = self.effort.saturating_sub(1);
            let Some(&last) = self.last.get(&other) else {
                continue;
            };
            let acts = last as usize > i && !order.is_certain(&ops[i], &ops[last as usize]);
            let alike = found.iter().filter(|f| f.1 == write).count();
            if self.effort > 0 && other != ops[i].thread && acts && alike < THREADS {
                found.push((other, write));
            }
        }
        found
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

/// The number of delays of this manner.
fn class(manner: impl Hash) -> u64 {
    let mut hasher = Multiply::default();
    manner.hash(&mut hasher);
    hasher.finish()
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

    /// Step, held thread, other thread, `until`, sort of all delays.
    fn of(events: &[Event]) -> Vec<(u32, Slot, Slot, Option<u32>, Sort)> {
        knowing(events, &Writers::default())
    }

    fn knowing(events: &[Event], writers: &Writers) -> Vec<(u32, Slot, Slot, Option<u32>, Sort)> {
        let ops = operations(events);
        let ids: Vec<StatementId> = ops.iter().map(|op| op.pc as StatementId).collect();
        let taken: Vec<Step> = events.iter().map(|e| Step::thread(e.thread, 1)).collect();
        let order = Order::of(events);
        let seen = Seen {
            ops: &ops,
            ids: &ids,
            order: &order,
            taken: &taken,
            writers,
        };
        let found = delays(&seen);
        found
            .iter()
            .map(|d| (d.step, d.held, d.other, d.until, d.sort))
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
            (0, 1, 2, Some(2), Sort::Plain),
            (0, 1, 2, None, Sort::Plain),
            (2, 1, 2, Some(2), Sort::Inside),
            (1, 1, 2, Some(2), Sort::Plain),
            (2, 1, 2, None, Sort::Inside),
            (1, 1, 2, None, Sort::Plain),
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
        let locks = [
            (3, 3, 2, Some(4), Sort::Plain),
            (3, 3, 2, None, Sort::Plain),
        ];
        assert_eq!(found, locks);
    }

    /// A thread reads what another one has written in some other execution; it is held once it has
    /// released the lock, if there was one.
    #[test]
    fn what_was_read_gets_old() {
        let acts = event(Kind::Write, 1, 128);
        let other = event(Kind::Read, 2, 256);
        let read = event(Kind::Read, 1, 64);
        let bare = vec![read, acts, other];
        let lock = event(Kind::MutexLock, 1, 512);
        let unlock = event(Kind::MutexUnlock, 1, 512);
        let locked = vec![lock, read, event(Kind::Write, 1, 72), unlock, acts, other];
        let mut writers = Writers::default();
        for events in [&bare, &locked] {
            assert_eq!(knowing(events, &writers), [], "nobody is known to write it");
        }
        writers.insert(64 / 8, vec![(1, 90), (2, 91), (3, 92)]);
        assert_eq!(knowing(&bare, &writers), [(1, 1, 2, None, Sort::Stale)]);
        assert_eq!(knowing(&locked, &writers), [(4, 1, 2, None, Sort::Stale)]);
        let over = [other, read, acts];
        assert_eq!(
            knowing(&over, &writers),
            [],
            "the other one has done its work"
        );
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
            let wanted = |d: &&(u32, Slot, Slot, Option<u32>, Sort)| d.1 == thread && d.2 == 100;
            assert_eq!(found.iter().filter(wanted).count(), 2);
        }
    }
}
