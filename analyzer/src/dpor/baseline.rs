//! Where races are turned round without partial order reduction: whoever could go on instead of the
//! earlier step is tried (the baseline of papers/hapset.txt, section 4.2, and its preemptive context
//! bounding).

use super::races::Item;
use crate::bounds::{Bound, Point, points};
use crate::stop;
use raddle_protocol::conflict::Footprint;
use raddle_protocol::schedule::CHOICE_BIT;
use raddle_protocol::trace::Trace;

/// The decisions of one execution and what each could have been instead.
pub struct Alternatives {
    bound: Bound,
    /// One for each step, and what was spent before it.
    steps: Vec<(Point, u32)>,
}

impl Alternatives {
    /// Of an execution with records of who was enabled.
    pub fn of(trace: &Trace, bound: Bound) -> Alternatives {
        let mut spent = 0;
        let mut steps = Vec::new();
        for point in points(&trace.events) {
            stop::point();
            let before = spent;
            spent += bound.cost(&point, point.taken);
            if point.taken & CHOICE_BIT == 0 {
                steps.push((point, before));
            }
        }
        Alternatives { bound, steps }
    }

    /// What to try instead of step `at`, within the bound.
    pub fn at(&self, at: usize) -> impl Iterator<Item = Item> + '_ {
        let (point, spent) = &self.steps[at];
        let others = point.all.iter().filter(|&&t| t != point.taken);
        let fits = move |t: u16| {
            let cost = spent + self.bound.cost(point, t);
            self.bound.limit().is_none_or(|most| cost <= most)
        };
        others
            .copied()
            .filter(move |&t| fits(t))
            .map(|thread| Item {
                thread,
                picks: Vec::new(),
                outcomes: 1,
                foot: Footprint::everything(thread),
                seen: true,
            })
    }
}
