//! Addresses that more than one thread touches.

use super::insert::{ends_announced, ends_in_a_step};
use super::kinds::is_access;
use crate::stop;
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
        let after = self.0.partition_point(|r| r.0 <= first);
        after > 0 && end <= self.0[after - 1].1
    }

    fn meets(&self, first: u64, end: u64) -> bool {
        let next = self.0.partition_point(|r| r.1 <= first);
        self.0.get(next).is_some_and(|r| r.0 < end)
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
        let touches = Touches::of(trace.events.iter());
        let in_vain = |event: &Event| is_plain(event) && !touches.conflict(event);
        let vain = trace.events.iter().filter(|e| in_vain(e)).count();
        let keeps_all = is_little(vain, trace);
        let mut differ = usize::from(trace.outcome.end == End::StepLimit);
        for event in &trace.events {
            stop::point();
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
        let is_new = |e: &&Event| bytes_of(e).is_some_and(|b| !self.holds(b.start, b.end));
        let new: Vec<&Event> = trace.events.iter().filter(is_new).collect();
        let touches = Touches::of(new.iter().copied());
        for bytes in new
            .iter()
            .filter(|e| touches.conflict(e))
            .filter_map(|e| bytes_of(e))
        {
            self.add(bytes.start, bytes.end);
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

/// Was anything treated as shared because a thread seemed to wait for it, and no other thread touched
/// it?
pub fn suspects_in_vain(trace: &Trace) -> bool {
    let suspected = |e: &&Event| e.kind() == Some(Kind::Shared) && e.aux != 0;
    let touched = |s: &Event| {
        let bytes = s.object..s.object.saturating_add(s.value);
        let others = trace.events.iter().filter(|e| e.thread != s.thread);
        let mut theirs = others.filter_map(bytes_of);
        theirs.any(|b| b.start < bytes.end && bytes.start < b.end)
    };
    let mut suspected = trace.events.iter().filter(suspected);
    suspected.any(|s| !touched(s))
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
    fn of<'e>(events: impl Iterator<Item = &'e Event>) -> Touches {
        let mut touches = HashMap::new();
        for event in events {
            stop::point();
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
    use super::{Ranges, suspects_in_vain};
    use crate::verify::{Bounds, Next, Noted, Strategy, Verdict, Verifier};
    use raddle_protocol::Slot;
    use raddle_protocol::event::{Event, Kind};
    use raddle_protocol::outcome::End;
    use raddle_protocol::schedule::Step;
    use raddle_protocol::trace::{Outcome, Trace};

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

    /// So many accesses of this kind by this thread, 4 bytes each, one after the other from there.
    type Accesses = (Slot, Kind, u64, u64);

    fn trace(accesses: &[Accesses]) -> Trace {
        let each = |&(thread, kind, at, n): &Accesses| {
            (0..n).map(move |i| Event {
                kind: kind as u8,
                size: 4,
                thread,
                object: at + 4 * i,
                ..Event::default()
            })
        };
        let events = accesses.iter().flat_map(each).collect();
        Trace::new(events, Vec::new(), Outcome::new(End::Exit, 0))
    }

    #[test]
    fn what_is_expected_stays_if_little_is_in_vain() {
        use Kind::{Read, Rmw, Write};
        let expected = [(0x100, 0x200), (0x1000, 0x9000)];
        // What is recorded from now on, in how much the trace differs from one that records that, and
        // what of it is known to be shared.
        type Kept = (&'static [(u64, u64)], usize, &'static [(u64, u64)]);
        let table: &[(&[Accesses], Kept)] = &[
            (
                &[
                    (0, Write, 0x100, 1),
                    (1, Read, 0x100, 1),
                    (0, Write, 0x1000, 7),
                ],
                (&[(0x100, 0x200), (0x1000, 0x9000)], 0, &[(0x100, 0x104)]),
            ),
            (
                &[
                    (0, Write, 0x100, 1),
                    (1, Read, 0x100, 1),
                    (0, Write, 0x1000, 9),
                ],
                (&[(0x100, 0x104)], 9, &[(0x100, 0x104)]),
            ),
            (
                &[
                    (0, Read, 0x100, 9),
                    (1, Read, 0x100, 1),
                    (0, Rmw, 0x1000, 1),
                ],
                (&[(0x1000, 0x1004)], 10, &[(0x1000, 0x1004)]),
            ),
        ];
        for &(accesses, (kept, differ, proven)) in table {
            let (mut ranges, mut known) = (Ranges::default(), Ranges::default());
            let all = Ranges(expected.to_vec());
            let trace = trace(accesses);
            assert_eq!(ranges.learn_expected(&all, &trace, &mut known), differ);
            assert_eq!(ranges.as_slice(), kept);
            assert_eq!(known.as_slice(), proven);
        }
    }

    #[test]
    fn what_is_recorded_in_vain_later_is_worth_nothing() {
        let mut known = Ranges(vec![(0x100, 0x104)]);
        let shared = (0, Kind::Write, 0x100, 1);
        assert!(known.are_worth(&trace(&[shared, (0, Kind::Read, 0x1000, 8)])));
        let much = trace(&[shared, (0, Kind::Read, 0x1000, 9)]);
        assert!(!known.are_worth(&much));
        known.prove(&much);
        assert_eq!(known.as_slice(), [(0x100, 0x104)]);
        let both = trace(&[(0, Kind::Write, 0x1000, 9), (1, Kind::Read, 0x1000, 9)]);
        known.prove(&both);
        assert!(known.are_worth(&both));
    }

    #[test]
    fn a_thread_waits_for_what_others_touch() {
        let suspected = Event {
            kind: Kind::Shared as u8,
            aux: 1,
            object: 0x100,
            value: 4,
            ..Event::default()
        };
        for (aux, other, in_vain) in [
            (1, (0, Kind::Read, 0x100, 5), true),
            (1, (1, Kind::Write, 0x104, 5), true),
            (1, (1, Kind::Write, 0xfc, 2), false),
            (0, (0, Kind::Read, 0x100, 5), false),
        ] {
            let mut trace = trace(&[other]);
            trace.events.insert(0, Event { aux, ..suspected });
            assert_eq!(suspects_in_vain(&trace), in_vain, "{aux} {other:?}");
        }
    }

    /// Memory that only main touches, and that holds something else each time at first.
    fn unsteady(content: u64) -> Trace {
        let mut trace = trace(&[(0, Kind::Init, 0x100, 1), (0, Kind::Read, 0x100, 1)]);
        for event in &mut trace.events {
            event.value = content;
        }
        trace.taken = vec![Step { what: 0, count: 1 }];
        trace
    }

    /// What differs from execution to execution is recorded only if it is shared; also where an
    /// earlier run has found that out.
    #[test]
    fn what_is_only_expected_to_be_shared_is_not_held_against_a_proof() {
        for again in [false, true] {
            let mut verifier = Verifier::new(Strategy::Frontier, Bounds::default());
            verifier.expect_shared([(0x100, 0x200)]);
            let Next::Run(job) = verifier.next() else {
                panic!("nothing was executed yet");
            };
            assert_eq!(job.ranges, [(0x100, 0x200)]);
            for content in [1, 2] {
                let noted = verifier.observe(&job, &unsteady(content));
                assert!(!noted.contains(&Noted::NewShared(1)), "{noted:?}");
            }
            let mut fewer = job.clone();
            fewer.ranges.clear();
            if !again {
                let Next::Run(job) = verifier.next() else {
                    panic!("what differs is still recorded");
                };
                assert_eq!(job.ranges, fewer.ranges);
            }
            let nothing = Trace::new(Vec::new(), Vec::new(), Outcome::new(End::Exit, 0));
            let noted = verifier.observe(&fewer, &nothing);
            assert!(!noted.contains(&Noted::Stale), "{noted:?}");
            let Next::Done(report) = verifier.next() else {
                panic!("there is nothing to decide");
            };
            assert_eq!(report.verdict, Verdict::Verified);
            assert_eq!(report.restarts, 1);
        }
    }
}
