//! The steered search: it drives executions to what was not tested yet.
//!
//! In the first two executions an adversary has threads give way, the third one runs each until it
//! blocks ([`OPENING`]). From the executions seen the search knows which operations of two threads
//! are in conflict and might come in another order, and it tries [`delays`]: an execution again up
//! to some step, where one thread waits for another. Of each kind of delay (statements and
//! manner) some are tried before any other is tried again; those are preferred that hold a thread
//! which has just read what another one writes, and those that put one thread between two operations
//! of another. Executions that show new predecessor pairs
//! ([`crate::hapset`]) are in turn a start for others, so that delays add up.
//!
//! The longer nothing is found, the more executions take a step that none has taken yet in the same
//! state ([`states`]).
//!
//! The rest picks pairs by statement, with ordering constraints for all threads that come by. One
//! execution in [`PLAIN`] is drawn without constraints, so that every schedule keeps a positive
//! probability.

mod delays;
pub(crate) mod draw;
pub(crate) mod order;
mod plan;
mod pool;
mod states;
mod table;

use crate::hapset::knowledge::{Counted, Knowledge, Places};
use crate::hapset::operation::operations;
use crate::hapset::pairs::predecessors;
use crate::sampling::{Rule as Sampled, ends, seed_of};
use crate::search::{Next, Plan, Search, Standing};
use delays::{Seen, delays};
use draw::Draw;
use order::Order;
use plan::Made;
use pool::{Base, Pool};
use raddle_protocol::schedule::{Moment, Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use states::States;
use std::collections::BTreeMap;
use table::{Known, PairId, Table};

/// One execution in so many is drawn without constraints.
const PLAIN: usize = 16;

/// The first executions, the same for every seed: nothing is known before them.
const OPENING: [Tail; 3] = [
    Tail::GiveWay {
        moment: Moment::Changes,
    },
    Tail::GiveWay {
        moment: Moment::Looks,
    },
    Tail::RunUntilBlocked,
];

/// What an execution under way is for.
#[derive(Default)]
struct Purpose {
    aims: Vec<PairId>,
    /// How many delays lead to it.
    depth: u32,
    /// The adversary's execution: no start for others, whose delays would crowd out the simple ones
    /// of an execution without preemptions.
    hostile: bool,
}

/// See the module.
pub struct Steer {
    seed: u64,
    table: Table,
    pool: Pool,
    states: States,
    draw: Draw,
    /// Steps of the longest execution so far.
    longest: u64,
    /// Steps of the shortest one: a measure of how long it is worth while to hold a thread.
    shortest: u64,
    /// The executions to begin with.
    opening: [Tail; OPENING.len()],
    /// What the executions under way are to show.
    out: BTreeMap<u64, Purpose>,
}

impl Steer {
    pub fn new(seed: u64) -> Steer {
        Steer {
            seed,
            table: Table::default(),
            pool: Pool::default(),
            states: States::default(),
            draw: Draw::new(seed),
            longest: 0,
            shortest: u64::MAX,
            opening: OPENING,
            out: BTreeMap::new(),
        }
    }

    /// Begins with the execution without preemptions: what it does is what is expected of others.
    pub fn ordinary_first(mut self) -> Steer {
        self.opening.rotate_right(1);
        self
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
        let (mut plan, purpose) = match self.opening.get(n as usize) {
            Some(&tail) => {
                let purpose = Purpose {
                    hostile: tail != Tail::RunUntilBlocked,
                    ..Purpose::default()
                };
                (Plan::tail(tail), purpose)
            }
            None => {
                let Made { plan, aims, depth } = self.plan(n);
                let purpose = Purpose {
                    aims,
                    depth,
                    hostile: false,
                };
                (plan, purpose)
            }
        };
        plan.flags |= flags::EVENTS | ends(n);
        self.out.insert(n, purpose);
        Next::Run(plan)
    }

    fn observe(&mut self, n: u64, trace: &Trace) {
        let Purpose {
            aims,
            depth,
            hostile,
        } = self.out.remove(&n).unwrap_or_default();
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
        self.states
            .learn(&mut self.draw, &trace.events, &trace.taken);
        let opens = n < OPENING.len() as u64;
        let keep = opens || news > 0 || self.draw.chance(1, 16);
        if keep && !hostile && Pool::accepts(&ops) {
            let seen = Seen {
                ops: &ops,
                ids: &ids,
                order: &order,
                taken: &trace.taken,
                writers: &self.table.writers,
            };
            let base = Base {
                delays: delays(&seen),
                taken: trace.taken.clone(),
                operations: ops,
                depth,
            };
            let table = &self.table;
            self.pool
                .add(&mut self.draw, base, |pair| table.is_known(pair));
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

/// An execution with the steps of `prefix`, as far as they can be taken.
fn tolerant(prefix: Vec<Step>, tail: Tail) -> Plan {
    Plan {
        prefix,
        flags: flags::TOLERANT,
        ..Plan::tail(tail)
    }
}

/// A rule of the sampling searches, so that what they find is found here too.
fn plain(seed: u64, n: u64, longest: u64) -> Tail {
    Sampled::Mix.tail(seed, n / PLAIN as u64 * 3 + n % 3 + 1, longest)
}
