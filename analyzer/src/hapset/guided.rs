//! Systematic search under the guidance of HaPSets (papers/hapset.txt, section 5): a race is turned
//! round only if its statements did not follow each other that way in any good execution before.

use super::guide::{Saved, Tested};
use super::knowledge::{Knowledge, Places};
use crate::bounds::Bound;
use crate::dpor::{Algorithm, Dpor, Execution, Guide, RECORDS};
use crate::sampling::seed_of;
use crate::search::{Next, Plan, Search, Standing};
use crate::words::Row;
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;

/// How the threads to try at a state are chosen (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Dynamic partial order reduction. (The paper's Algorithm 4 is a persistent set; wakeup trees
    /// need no more executions.)
    Dpor,
    /// All threads, within so many preemptions.
    Preemptions(u32),
}

/// What there is to choose in a guided search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub base: Base,
    /// Calling contexts are told apart by so many callers.
    pub context: usize,
    /// Executions with random schedules before the search begins.
    pub learn: u64,
    /// Accesses to memory alone, as in predecessor sets without a history.
    pub memory_only: bool,
}

impl Settings {
    fn bound(&self) -> Option<Bound> {
        match self.base {
            Base::Dpor => None,
            Base::Preemptions(most) => Some(Bound::Preemptions(Some(most))),
        }
    }

    /// The search that is guided.
    fn dpor(&self) -> Dpor {
        Dpor::new(self.bound().map_or(Algorithm::Optimal, Algorithm::Baseline))
    }
}

/// See the module.
pub struct Guided {
    settings: Settings,
    seed: u64,
    tested: Tested,
    dpor: Dpor,
}

impl Guided {
    pub fn new(settings: Settings, seed: u64, places: Box<dyn Places>) -> Guided {
        Guided {
            settings,
            seed,
            tested: Tested::new(settings.context, settings.memory_only, places),
            dpor: settings.dpor(),
        }
    }

    /// What `knowledge` holds passes for tested.
    pub fn knowing(mut self, knowledge: Knowledge) -> Guided {
        self.tested.knowledge = knowledge;
        self
    }

    /// What executions have shown so far, as statements.
    pub fn knowledge(&self) -> &Knowledge {
        &self.tested.knowledge
    }

    fn stacks(&self) -> u32 {
        match self.settings.context {
            0 => 0,
            _ => flags::STACKS,
        }
    }
}

impl Search for Guided {
    fn next(&mut self, n: u64) -> Next {
        let mut next = match n < self.settings.learn {
            true => Next::Run(Plan {
                flags: RECORDS,
                ..Plan::tail(Tail::Random {
                    seed: seed_of(self.seed, n),
                })
            }),
            false => self.dpor.next(n),
        };
        if let Next::Run(plan) = &mut next {
            plan.flags |= self.stacks();
        }
        next
    }

    fn observe(&mut self, n: u64, trace: &Trace) {
        match n < self.settings.learn {
            true => self.tested.read(trace, &Execution::new(trace, false)),
            false => self.dpor.observe_guided(n, trace, &mut self.tested),
        }
        self.tested.learn();
    }

    fn lost(&mut self, n: u64) {
        self.dpor.lost(n);
    }

    fn standing(&self) -> Standing {
        let mut standing = self.dpor.standing();
        if self.tested.left_out > 0 {
            standing.bounds.push(format!(
                "{} races were not turned round, because executions had shown their statements in \
                 the other order",
                self.tested.left_out
            ));
        }
        if let (Some(bound), Base::Preemptions(most)) = (self.settings.bound(), self.settings.base)
        {
            standing.bounds.push(bound.text(most));
        }
        standing
    }

    fn pairs_seen(&self) -> Option<usize> {
        Some(self.tested.knowledge.len())
    }

    /// What is tested, and then the search that is guided.
    fn save(&self) -> Option<Vec<u64>> {
        let mut saved = self.tested.save();
        saved.append(&mut self.dpor.save()?);
        Some(saved)
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let mut row = Row(saved);
        let mut dpor = self.settings.dpor();
        let tested = Saved::take(&mut row).filter(|_| dpor.restore(row.0));
        let sensible = tested.is_some();
        if let Some(tested) = tested {
            self.tested.restore(tested);
            self.dpor = dpor;
        }
        sensible
    }
}
