//! Addresses that more than one thread touches.

use super::insert::{ends_announced, ends_in_a_step, is_access};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::trace::Trace;
use std::collections::HashMap;
use std::ops::Range;

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

    fn meets(&self, first: u64, end: u64) -> bool {
        self.0.iter().any(|&(lo, hi)| lo < end && first < hi)
    }

    /// As a job lists them.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Adds what a trace showed to be shared; returns what of it was new. An access that
    /// covers a range in part belongs to it as a whole. A place where an access failed is one of
    /// them: the failure is to be a step of its own, so that others may come before it.
    pub fn learn(&mut self, trace: &Trace) -> Vec<Range<u64>> {
        let shared = trace.events.iter().filter_map(bytes_of);
        let failed = place_of_failure(trace);
        let all = shared.chain(failed.map(|at| at..at.saturating_add(1)));
        all.filter(|bytes| self.add(bytes.start, bytes.end))
            .collect()
    }

    /// The same of a trace that records all accesses to what was `expected` to be shared. Returns in
    /// how much it differs from one that records just what is in the ranges now; 0: it is one. Then
    /// there may be more in them than this trace shows to be shared, which goes to `proven`.
    pub fn learn_expected(
        &mut self,
        expected: &Ranges,
        trace: &Trace,
        proven: &mut Ranges,
    ) -> usize {
        let touches = Touches::of(trace);
        let in_vain = |event: &Event| is_plain(event) && !touches.conflict(event);
        let vain = trace.events.iter().filter(|e| in_vain(e)).count();
        let keeps_all = is_little(vain, trace);
        let mut differ = usize::from(trace.outcome.end == End::StepLimit);
        for event in &trace.events {
            let Some(bytes) = bytes_of(event) else {
                continue;
            };
            let vain = in_vain(event);
            if vain && !keeps_all {
                differ += 1;
                continue;
            }
            if !vain {
                proven.add(bytes.start, bytes.end);
            }
            differ += usize::from(!expected.holds(bytes.start, bytes.end));
            self.add(bytes.start, bytes.end);
        }
        if keeps_all {
            // What is touched later does not come as news then.
            for &(first, end) in &expected.0 {
                self.add(first, end);
            }
        }
        // A thread that stood before such an access would have gone on to its next step.
        let stood = trace.events.iter().filter(|e| announces_access(e));
        differ += stood
            .filter(|e| !self.holds(e.object, e.object.saturating_add(1)))
            .count();
        if let Some(at) = place_of_failure(trace) {
            let end = at.saturating_add(1);
            differ += usize::from(!expected.holds(at, end));
            self.add(at, end);
            proven.add(at, end);
        }
        differ
    }

    /// Adds what more than one thread touched in this trace.
    pub fn prove(&mut self, trace: &Trace) {
        let touches = Touches::of(trace);
        for event in trace.events.iter().filter(|e| touches.conflict(e)) {
            if let Some(bytes) = bytes_of(event) {
                self.add(bytes.start, bytes.end);
            }
        }
    }

    /// Of a trace that records more than these ranges, is nearly all in them?
    pub fn are_worth(&self, trace: &Trace) -> bool {
        let outside = |event: &&Event| {
            let bytes = bytes_of(event).filter(|_| is_plain(event));
            bytes.is_some_and(|b| !self.meets(b.start, b.end))
        };
        is_little(trace.events.iter().filter(outside).count(), trace)
    }
}

/// So many accesses to what is not shared are as good as none, and so is this part of all events.
const IN_VAIN: usize = 8;

fn is_little(vain: usize, trace: &Trace) -> bool {
    vain <= IN_VAIN.max(trace.events.len() / IN_VAIN)
}

/// What this event says is shared.
fn bytes_of(event: &Event) -> Option<Range<u64>> {
    let bytes = match event.kind()? {
        Kind::Shared => event.value.max(1),
        kind if is_access(kind) => event.size.into(),
        _ => return None,
    };
    Some(event.object..event.object.saturating_add(bytes))
}

/// Is this what a thread was about to do to memory when the execution ended?
fn announces_access(event: &Event) -> bool {
    event.kind() == Some(Kind::Pending) && Kind::from_u8(event.size).is_some_and(is_access)
}

/// The address of the access that ended the process, if that was no step of its own.
fn place_of_failure(trace: &Trace) -> Option<u64> {
    let outcome = &trace.outcome;
    let failed = matches!(
        outcome.end,
        End::Signal | End::UseAfterFree | End::HeapOverflow
    );
    (failed && !ends_in_a_step(trace) && !ends_announced(trace)).then_some(outcome.detail[0])
}

fn is_plain(event: &Event) -> bool {
    matches!(event.kind(), Some(Kind::Read | Kind::Write))
}

/// Who accessed each byte.
struct Touches(HashMap<u64, Touch>);

struct Touch {
    first: Slot,
    by_others: bool,
    written: bool,
}

impl Touches {
    fn of(trace: &Trace) -> Touches {
        let mut touches = HashMap::new();
        for event in &trace.events {
            for byte in bytes_of(event).into_iter().flatten() {
                let touch = touches.entry(byte).or_insert(Touch {
                    first: event.thread,
                    by_others: false,
                    written: false,
                });
                touch.by_others |= touch.first != event.thread;
                touch.written |= event.kind() != Some(Kind::Read);
            }
        }
        Touches(touches)
    }

    /// Is a byte of this access written by one thread and accessed by another?
    fn conflict(&self, access: &Event) -> bool {
        let mut bytes = bytes_of(access).into_iter().flatten();
        bytes.any(|byte| {
            let touch = self.0.get(&byte);
            touch.is_some_and(|t| t.by_others && t.written)
        })
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
