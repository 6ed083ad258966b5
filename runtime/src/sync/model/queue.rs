//! Queues of waiting threads, linked through one record per slot: a thread waits for one thing at
//! a time, so that no queue ever needs memory of its own.

use raddle_protocol::Slot;
use raddle_protocol::slot::{self, NONE};

/// Where a thread stands in a two-step wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Does not wait.
    Idle,
    /// Stands in a queue.
    Queued,
    /// Was taken out of the queue by another thread and has not gone on yet.
    Released,
}

/// The record of one thread.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    next: Slot,
    previous: Slot,
    /// See [`Stage`].
    pub stage: Stage,
    /// Of a futex waiter: the bits of which a waker must name one.
    pub bits: u32,
    /// Address of the object in whose queue the thread stands or stood.
    pub object: u64,
}

const IDLE: Waiter = Waiter {
    next: NONE,
    previous: NONE,
    stage: Stage::Idle,
    bits: 0,
    object: 0,
};

/// A queue, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    head: Slot,
    tail: Slot,
    len: u32,
}

impl Queue {
    /// Nobody waits.
    pub const EMPTY: Queue = Queue {
        head: NONE,
        tail: NONE,
        len: 0,
    };

    /// How many wait.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Does nobody wait?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The records of all threads.
pub struct Waiters {
    slots: [Waiter; slot::COUNT],
}

impl Waiters {
    /// Nobody waits.
    pub const fn new() -> Waiters {
        Waiters {
            slots: [IDLE; slot::COUNT],
        }
    }

    /// The record of `who`.
    pub fn of(&self, who: Slot) -> &Waiter {
        &self.slots[usize::from(who)]
    }

    fn at(&mut self, who: Slot) -> &mut Waiter {
        &mut self.slots[usize::from(who)]
    }

    /// Puts `who` at the end of the queue of `object`.
    pub fn push(&mut self, queue: &mut Queue, who: Slot, object: u64, bits: u32) {
        let tail = queue.tail;
        *self.at(who) = Waiter {
            next: NONE,
            previous: tail,
            stage: Stage::Queued,
            bits,
            object,
        };
        if tail == NONE {
            queue.head = who;
        } else {
            self.at(tail).next = who;
        }
        queue.tail = who;
        queue.len += 1;
    }

    fn unlink(&mut self, queue: &mut Queue, who: Slot) {
        let Waiter { next, previous, .. } = *self.of(who);
        if previous == NONE {
            queue.head = next;
        } else {
            self.at(previous).next = next;
        }
        if next == NONE {
            queue.tail = previous;
        } else {
            self.at(next).previous = previous;
        }
        queue.len -= 1;
    }

    /// Another thread takes `who`, which stands in `queue`, out of it.
    pub fn release(&mut self, queue: &mut Queue, who: Slot) {
        self.unlink(queue, who);
        self.at(who).stage = Stage::Released;
    }

    /// `who`, which stands in `queue`, gives up.
    pub fn leave(&mut self, queue: &mut Queue, who: Slot) {
        self.unlink(queue, who);
        *self.at(who) = IDLE;
    }

    /// Moves `who`, which stands in `from`, to the end of `to`, which belongs to `object`.
    pub fn move_over(&mut self, from: &mut Queue, to: &mut Queue, who: Slot, object: u64) {
        let bits = self.of(who).bits;
        self.unlink(from, who);
        self.push(to, who, object, bits);
    }

    /// `who` has gone on.
    pub fn done(&mut self, who: Slot) {
        *self.at(who) = IDLE;
    }

    /// The `n`-th of the waiters of `queue` that share a bit with `bits`.
    pub fn nth(&self, queue: &Queue, bits: u32, n: usize) -> Option<Slot> {
        self.matching(queue, bits).nth(n)
    }

    /// How many of the waiters of `queue` share a bit with `bits`.
    pub fn count(&self, queue: &Queue, bits: u32) -> usize {
        self.matching(queue, bits).count()
    }

    /// The waiters of `queue` that share a bit with `bits`, oldest first.
    fn matching(&self, queue: &Queue, bits: u32) -> impl Iterator<Item = Slot> + '_ {
        let mut at = queue.head;
        core::iter::from_fn(move || {
            (at != NONE).then(|| {
                let who = at;
                at = self.of(who).next;
                who
            })
        })
        .filter(move |&who| self.of(who).bits & bits != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = u32::MAX;

    fn filled(whos: &[Slot]) -> (Box<Waiters>, Queue) {
        let mut waiters = Box::new(Waiters::new());
        let mut queue = Queue::EMPTY;
        for &who in whos {
            waiters.push(&mut queue, who, 64, 1 << (who % 32));
        }
        (waiters, queue)
    }

    fn listed(waiters: &Waiters, queue: &Queue) -> Vec<Slot> {
        waiters.matching(queue, ALL).collect()
    }

    #[test]
    fn any_one_can_leave() {
        for (gone, rest) in [
            (3, vec![5, 0, 8191]),
            (5, vec![3, 0, 8191]),
            (0, vec![3, 5, 8191]),
            (8191, vec![3, 5, 0]),
        ] {
            let (mut waiters, mut queue) = filled(&[3, 5, 0, 8191]);
            waiters.leave(&mut queue, gone);
            assert_eq!(listed(&waiters, &queue), rest);
            assert_eq!(queue.len(), 3);
            assert_eq!(waiters.of(gone).stage, Stage::Idle);
            waiters.push(&mut queue, gone, 64, 1);
            assert_eq!(listed(&waiters, &queue).last(), Some(&gone));
        }
    }

    #[test]
    fn the_last_one_leaves_an_empty_queue() {
        let (mut waiters, mut queue) = filled(&[7]);
        waiters.release(&mut queue, 7);
        assert_eq!(queue, Queue::EMPTY);
        assert_eq!(waiters.of(7).stage, Stage::Released);
        waiters.done(7);
        assert_eq!(waiters.of(7).stage, Stage::Idle);
    }

    #[test]
    fn bits_select() {
        let (waiters, queue) = filled(&[1, 2, 33, 4]);
        assert_eq!(waiters.count(&queue, 1 << 1), 2);
        for (n, who) in [(0, Some(1)), (1, Some(33)), (2, None)] {
            assert_eq!(waiters.nth(&queue, 1 << 1, n), who);
        }
    }

    #[test]
    fn moving_keeps_bits_and_order() {
        let (mut waiters, mut from) = filled(&[1, 2, 3]);
        let mut to = Queue::EMPTY;
        for who in [2, 1] {
            waiters.move_over(&mut from, &mut to, who, 128);
        }
        assert_eq!(listed(&waiters, &from), [3]);
        assert_eq!(listed(&waiters, &to), [2, 1]);
        assert_eq!(waiters.of(2).object, 128);
        assert_eq!(waiters.of(2).bits, 4);
    }
}
