//! Addresses that more than one thread touches.

use super::insert::{ends_announced, ends_in_a_step, is_access};
use raddle_protocol::event::Kind;
use raddle_protocol::outcome::End;
use raddle_protocol::trace::Trace;

/// Sorted, disjoint, half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds `[first, end)`; `false` if it was there.
    pub fn add(&mut self, mut first: u64, mut end: u64) -> bool {
        if first >= end || self.holds(first, end) {
            return false;
        }
        self.0.retain(|&(lo, hi)| {
            let touches = lo <= end && first <= hi;
            if touches {
                first = first.min(lo);
                end = end.max(hi);
            }
            !touches
        });
        let at = self.0.partition_point(|r| r.0 < first);
        self.0.insert(at, (first, end));
        true
    }

    fn holds(&self, first: u64, end: u64) -> bool {
        self.0.iter().any(|&(lo, hi)| lo <= first && end <= hi)
    }

    /// As a job lists them.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Adds what a trace showed to be shared; returns how many ranges were new. An access that
    /// covers a range in part belongs to it as a whole. A place where an access failed is one of
    /// them: the failure is to be a step of its own, so that others may come before it.
    pub fn learn(&mut self, trace: &Trace) -> usize {
        let mut new = 0;
        for event in &trace.events {
            let bytes = match event.kind() {
                Some(Kind::Shared) => event.value.max(1),
                Some(kind) if is_access(kind) => event.size.into(),
                _ => continue,
            };
            let end = event.object.saturating_add(bytes);
            new += usize::from(self.add(event.object, end));
        }
        let outcome = &trace.outcome;
        let failed = matches!(
            outcome.end,
            End::Signal | End::UseAfterFree | End::HeapOverflow
        );
        if failed && !ends_in_a_step(trace) && !ends_announced(trace) {
            let address = outcome.detail[0];
            new += usize::from(self.add(address, address.saturating_add(1)));
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    /// Ranges to add, and what comes of them.
    type Case = (&'static [(u64, u64)], &'static [(u64, u64)]);

    #[test]
    fn merge() {
        let table: &[Case] = &[
            (&[(4, 8), (0, 2)], &[(0, 2), (4, 8)]),
            (&[(4, 8), (8, 9)], &[(4, 9)]),
            (&[(4, 8), (5, 6)], &[(4, 8)]),
            (&[(0, 1), (2, 3), (1, 2)], &[(0, 3)]),
            (&[(3, 3)], &[]),
        ];
        for (added, result) in table {
            let mut ranges = Ranges::default();
            for &(first, end) in *added {
                ranges.add(first, end);
            }
            assert_eq!(ranges.as_slice(), *result);
        }
    }
}
