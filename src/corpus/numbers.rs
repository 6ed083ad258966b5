//! Which numbers of executions this run has taken for itself, and which of those are done.

use std::collections::BTreeSet;

/// A range of numbers that belongs to this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its row in the database.
    pub id: i64,
    /// The first number that is not done.
    pub start: u64,
    /// One past the last.
    pub stop: u64,
}

/// Hands out numbers from leases and keeps account of those that are under way.
#[derive(Debug, Default)]
pub struct Numbers {
    leases: Vec<Lease>,
    /// The next number of the last lease.
    next: u64,
    under_way: BTreeSet<u64>,
}

impl Numbers {
    /// The number that is to be handed out next; `None` when a new lease is needed.
    pub fn next(&self) -> Option<u64> {
        let lease = self.leases.last()?;
        (self.next < lease.stop).then_some(self.next)
    }

    /// Adds a lease; the numbers of the ones before it have been handed out.
    pub fn lease(&mut self, lease: Lease) {
        self.next = lease.start;
        self.leases.push(lease);
    }

    /// [`Numbers::next`] is handed out.
    pub fn take(&mut self) {
        self.under_way.insert(self.next);
        self.next += 1;
    }

    /// All that is to be known about execution `n` is in the current batch, or in the database.
    pub fn done(&mut self, n: u64) {
        self.under_way.remove(&n);
    }

    /// The leases, beginning with the first number that is not done. Numbers behind it may be done
    /// as well: they are run again if this process ends without having said so.
    pub fn progress(&self) -> Vec<Lease> {
        let last = self.leases.len().saturating_sub(1);
        let leases = self.leases.iter().enumerate();
        leases
            .map(|(i, lease)| {
                let handed_out = if i == last { self.next } else { lease.stop };
                let waiting = self.under_way.range(lease.start..handed_out).next();
                Lease {
                    start: waiting.copied().unwrap_or(handed_out),
                    ..*lease
                }
            })
            .collect()
    }

    /// Nothing more is handed out or done: the ranges that are left over.
    pub fn end(&mut self) -> Vec<Lease> {
        let mut left = Vec::new();
        let last = self.leases.len().saturating_sub(1);
        for (i, lease) in self.leases.drain(..).enumerate() {
            let handed_out = if i == last { self.next } else { lease.stop };
            let lost = self.under_way.range(lease.start..handed_out);
            left.extend(lost.map(|&n| Lease {
                start: n,
                stop: n + 1,
                ..lease
            }));
            left.extend((handed_out < lease.stop).then_some(Lease {
                start: handed_out,
                ..lease
            }));
        }
        self.under_way.clear();
        left
    }

    /// The database knows this progress: what is done is forgotten.
    pub fn known(&mut self, progress: &[Lease]) {
        for lease in progress {
            let own = self.leases.iter_mut().find(|l| l.id == lease.id);
            own.into_iter().for_each(|own| own.start = lease.start);
        }
        self.leases.retain(|lease| lease.start < lease.stop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(id: i64, start: u64, stop: u64) -> Lease {
        Lease { id, start, stop }
    }

    fn take(numbers: &mut Numbers, count: usize) -> Vec<u64> {
        let mut taken = Vec::new();
        while taken.len() < count
            && let Some(n) = numbers.next()
        {
            numbers.take();
            taken.push(n);
        }
        taken
    }

    #[test]
    fn progress_stops_at_what_is_under_way() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.next(), None);
        numbers.lease(lease(1, 10, 14));
        assert_eq!(take(&mut numbers, 3), [10, 11, 12]);
        assert_eq!(numbers.progress(), [lease(1, 10, 14)]);
        numbers.done(11);
        assert_eq!(numbers.progress(), [lease(1, 10, 14)]);
        numbers.done(10);
        assert_eq!(numbers.progress(), [lease(1, 12, 14)]);
        numbers.known(&[lease(1, 12, 14)]);
        assert_eq!(take(&mut numbers, 9), [13]);
        // A second lease, of a gap that another run left before.
        numbers.lease(lease(2, 3, 5));
        assert_eq!(take(&mut numbers, 9), [3, 4]);
        assert_eq!(numbers.progress(), [lease(1, 12, 14), lease(2, 3, 5)]);
        for n in [12, 13, 4] {
            numbers.done(n);
        }
        let progress = numbers.progress();
        assert_eq!(progress, [lease(1, 14, 14), lease(2, 3, 5)]);
        numbers.known(&progress);
        assert_eq!(numbers.progress(), [lease(2, 3, 5)]);
        numbers.done(3);
        numbers.known(&numbers.progress());
        assert!(numbers.progress().is_empty());
        assert_eq!(numbers.next(), None);
    }

    #[test]
    fn what_is_left_at_the_end_is_exactly_what_was_not_done() {
        let mut numbers = Numbers::default();
        numbers.lease(lease(1, 0, 4));
        take(&mut numbers, 4);
        numbers.lease(lease(2, 8, 20));
        take(&mut numbers, 3);
        for n in [0, 1, 3, 8, 10] {
            numbers.done(n);
        }
        let left = numbers.end();
        assert_eq!(left, [lease(1, 2, 3), lease(2, 9, 10), lease(2, 11, 20)]);
        assert_eq!(numbers.next(), None);
        assert_eq!(Numbers::default().end(), []);
    }
}
