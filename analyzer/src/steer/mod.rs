//! The steered search: it drives executions to what was not tested yet.
//!
//! From the executions seen it knows which statements may follow which others on the same object
//! in another thread, and which of these predecessor pairs ([`crate::hapset`]) were tested. It picks
//! pairs and asks for executions in which ordering constraints hold threads back until the pair
//! has come about; the rest of the schedule follows one of the tail rules. Pairs whose tries led to
//! new pairs are picked more often. One execution in [`PLAIN`] is drawn without constraints, so
//! that every schedule keeps a positive probability.

mod draw;
pub(crate) mod order;
mod plan;
mod pool;
mod table;

use crate::hapset::knowledge::{Counted, Knowledge, Places};
use crate::hapset::operation::operations;
use crate::hapset::pairs::predecessors;
use crate::sampling::{Rule as Sampled, seed_of};
use crate::search::{Next, Plan, Search, Standing};
use draw::Draw;
use order::Order;
use pool::{Base, Pool};
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use std::collections::BTreeMap;
use table::{Known, PairId, Table};

/// One execution in so many is drawn without constraints.
const PLAIN: usize = 8;

/// See the module.
pub struct Steer {
    seed: u64,
    table: Table,
    pool: Pool,
    draw: Draw,
    /// Steps of the longest execution so far.
    longest: u64,
    /// Steps of the shortest one: a measure of how long it is worth while to hold a thread.
    shortest: u64,
    /// What the executions under way are to show.
    out: BTreeMap<u64, Vec<PairId>>,
}

impl Steer {
    pub fn new(seed: u64) -> Steer {
        Steer {
            seed,
            table: Table::default(),
            pool: Pool::default(),
            draw: Draw::new(seed),
            longest: 0,
            shortest: u64::MAX,
            out: BTreeMap::new(),
        }
    }

    /// What `knowledge` holds passes for tested. `places` knows the lines of the program as it is
    /// now.
    pub fn knowing(mut self, knowledge: Knowledge, places: Box<dyn Places>) -> Steer {
        self.table.know(Known { knowledge, places });
        self
    }
}

impl Search for Steer {
    fn next(&mut self, n: u64) -> Next {
        // By number, so that a run which goes on from an earlier one draws something else.
        self.draw = Draw::new(seed_of(!self.seed, n));
        // The first execution is the same for every seed: nothing is known before it.
        let (mut plan, aims) = match n {
            0 => (Plan::tail(Tail::RunUntilBlocked), Vec::new()),
            _ => self.plan(n),
        };
        plan.flags |= flags::EVENTS;
        self.out.insert(n, aims);
        Next::Run(plan)
    }

    fn observe(&mut self, n: u64, trace: &Trace) {
        let aims = self.out.remove(&n).unwrap_or_default();
        self.longest = self.longest.max(trace.counters.steps);
        self.shortest = self.shortest.min(trace.counters.steps);
        let ops = operations(&trace.events);
        let ids: Vec<_> = ops.iter().map(|op| self.table.statement(op)).collect();
        let found = predecessors(&ops);
        let news = self.table.learn(&ops, &ids, &found);
        let order = Order::of(&trace.events);
        self.table.propose(&ops, &ids, &order);
        for id in aims {
            let pair = &mut self.table.pairs[id as usize];
            pair.tries += 1;
            pair.gains += u32::from(news > 0);
        }
        if (news > 0 || self.draw.chance(1, 16)) && Pool::accepts(&ops) {
            let base = Base {
                taken: trace.taken.clone(),
                operations: ops,
                order,
            };
            self.pool.add(&mut self.draw, base);
        }
    }

    fn lost(&mut self, n: u64) {
        self.out.remove(&n);
    }

    fn standing(&self) -> Standing {
        Standing::default()
    }

    fn pairs(&self) -> Vec<Counted> {
        self.table.counted()
    }

    fn pairs_seen(&self) -> Option<usize> {
        Some(self.table.pairs.iter().filter(|p| p.seen > 0).count())
    }
}

/// A rule of the sampling searches, so that what they find is found here too.
fn plain(seed: u64, n: u64, longest: u64) -> Tail {
    Sampled::Mix.tail(seed, n / PLAIN as u64 * 3 + n % 3 + 1, longest)
}
