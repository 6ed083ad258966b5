//! Who touched which bytes that are not known to be shared, over all executions.

use super::forest::TreeId;
use raddle_protocol::conflict::Access;
use std::collections::BTreeMap;

/// Stands for any thread.
pub const ANYONE: TreeId = TreeId::MAX;
/// Instead of a tree: the C library, in memory that it keeps, beside any thread.
pub const LIBRARY: TreeId = TreeId::MAX - 1;

/// Touches of one run of bytes: by whom, and what it did. Operations on the object that lies there
/// commute as far as memory is concerned: what becomes of their order is another matter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    end: u64,
    touches: Vec<(TreeId, Access)>,
}

/// Disjoint runs of bytes, by first byte.
#[derive(Debug, Default)]
pub struct Footprint {
    runs: BTreeMap<u64, Run>,
}

impl Footprint {
    /// Notes that a thread touched `[first, end)`. Returns the runs that it thereby shares with
    /// another thread: the two conflict, and `coexist` says that one execution can have both.
    pub fn touch(
        &mut self,
        first: u64,
        end: u64,
        tree: TreeId,
        access: Access,
        coexist: impl Fn(TreeId, TreeId) -> bool,
    ) -> Vec<(u64, u64)> {
        if first >= end {
            return Vec::new();
        }
        self.cut(first);
        self.cut(end);
        let mut shared = Vec::new();
        let mut at = first;
        while at < end {
            let next = self.runs.range(at..end).next().map(|(s, r)| (*s, r.end));
            let (start, stop) = next.unwrap_or((end, end));
            if at < start {
                let touches = vec![(tree, access)];
                self.runs.insert(
                    at,
                    Run {
                        end: start,
                        touches,
                    },
                );
            }
            if start < end
                && let Some(run) = self.runs.get_mut(&start)
            {
                let clash = |&(other, its): &(TreeId, Access)| {
                    access.conflicts(its)
                        && (tree == ANYONE
                            || other == ANYONE
                            || (other != tree
                                && ([tree, other].contains(&LIBRARY) || coexist(other, tree))))
                };
                if run.touches.iter().any(clash) {
                    shared.push((start, stop));
                }
                match run.touches.iter_mut().find(|t| t.0 == tree) {
                    Some(own) => own.1 = own.1.and(access),
                    None => run.touches.push((tree, access)),
                }
            }
            at = stop;
        }
        shared
    }

    /// Makes `at` the first byte of a run if it lies within one.
    fn cut(&mut self, at: u64) {
        if let Some((_, run)) = self.runs.range_mut(..at).next_back()
            && run.end > at
        {
            let tail = run.clone();
            run.end = at;
            self.runs.insert(at, tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ANYONE, Footprint};
    use raddle_protocol::conflict::Access::{self, Adds, Changes, Looks};

    /// First, end, thread, what it does.
    type Touch = (u64, u64, u32, Access);
    /// Touches, and what the last of them turns out to share.
    type Case = (&'static [Touch], &'static [(u64, u64)]);

    #[test]
    fn clashes() {
        let table: &[Case] = &[
            (&[(0, 8, 1, Changes), (8, 16, 2, Changes)], &[]),
            (&[(0, 8, 1, Changes), (4, 12, 1, Changes)], &[]),
            (&[(0, 8, 1, Changes), (4, 12, 2, Looks)], &[(4, 8)]),
            (&[(0, 8, 1, Looks), (4, 12, 2, Looks)], &[]),
            (&[(0, 8, 1, Looks), (4, 12, 2, Changes)], &[(4, 8)]),
            (
                &[(0, 2, 1, Changes), (4, 6, 1, Changes), (0, 9, 2, Changes)],
                &[(0, 2), (4, 6)],
            ),
            (&[(0, 8, ANYONE, Looks), (2, 3, 2, Changes)], &[(2, 3)]),
            (&[(0, 8, ANYONE, Looks), (2, 3, 2, Looks)], &[]),
            // 3 and 4 exclude each other, but 1 does not exclude 4.
            (&[(0, 8, 3, Changes), (0, 8, 4, Changes)], &[]),
            (
                &[(0, 8, 3, Changes), (0, 8, 4, Changes), (0, 1, 1, Looks)],
                &[(0, 1)],
            ),
            // Operations on an object, and what is done to its memory besides.
            (&[(0, 8, 1, Adds), (0, 8, 2, Adds)], &[]),
            (&[(0, 8, 1, Adds), (4, 8, 2, Looks)], &[(4, 8)]),
            (&[(0, 8, 1, Changes), (0, 4, 2, Adds)], &[(0, 4)]),
            (
                &[(0, 8, 1, Adds), (0, 8, 1, Looks), (0, 8, 2, Adds)],
                &[(0, 8)],
            ),
            (&[(5, 5, 1, Changes), (5, 5, 2, Changes)], &[]),
        ];
        for (touches, shared) in table {
            let mut footprint = Footprint::default();
            let mut last = Vec::new();
            for &(first, end, tree, access) in *touches {
                let coexist = |a, b| (a, b) != (3, 4) && (a, b) != (4, 3);
                last = footprint.touch(first, end, tree, access, coexist);
            }
            assert_eq!(last, *shared, "{touches:?}");
        }
    }
}
