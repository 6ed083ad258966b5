//! Which races are worth turning round: those whose statements did not follow each other that way in
//! any good execution (papers/hapset.txt, section 5.1).

use super::knowledge::{Code, Id, Knowledge, Places};
use super::operation::{Operation, operations};
use super::pairs::predecessors;
use crate::dpor::{Execution, Guide, Race, Step};
use crate::fast::FastMap;
use crate::stop;
use crate::words::{Row, put_list};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::trace::Trace;
use std::collections::BTreeSet;

/// Statements of which the first preceded the second.
type Order = (Id, Id);

/// See the module.
pub struct Tested {
    /// Calling contexts are told apart by so many callers.
    context: usize,
    /// Predecessor sets without a history: accesses to memory alone.
    memory_only: bool,
    places: Box<dyn Places>,
    /// The HaPSets of good executions.
    pub knowledge: Knowledge,
    /// Of steps that are in no HaPSet, such as unlocking: which directly depended on which.
    others: BTreeSet<Order>,
    ids: FastMap<Code, Id>,
    /// Of the execution that was read last.
    run: Run,
    /// Races that were not turned round.
    pub left_out: u64,
}

/// What [`Tested::save`] saves.
pub struct Saved {
    left_out: u64,
    knowledge: Knowledge,
    others: BTreeSet<Order>,
}

impl Saved {
    /// Inverse of [`Tested::save`].
    pub fn take(row: &mut Row<'_>) -> Option<Saved> {
        Some(Saved {
            left_out: row.number()?,
            knowledge: Knowledge::take(row)?,
            others: row
                .list(|row| Some((row.number()?, row.number()?)))?
                .into_iter()
                .collect(),
        })
    }
}

/// One execution, as far as what it shows is not known yet.
#[derive(Default)]
struct Run {
    /// By number, as in [`Race`].
    steps: Vec<Place>,
    /// What it shows if it is a good one: from which step on.
    pairs: FastMap<Order, usize>,
    others: FastMap<Order, usize>,
}

struct Place {
    id: Id,
    operation: Option<Operation>,
    /// The step of the same thread before it.
    previous: Option<usize>,
}

impl Tested {
    pub fn new(context: usize, memory_only: bool, places: Box<dyn Places>) -> Tested {
        Tested {
            context,
            memory_only,
            places,
            knowledge: Knowledge::default(),
            others: BTreeSet::new(),
            ids: FastMap::default(),
            run: Run::default(),
            left_out: 0,
        }
    }

    /// Adds what the execution that was read last shows to what passes for tested.
    pub fn learn(&mut self) {
        let run = std::mem::take(&mut self.run);
        for (before, after) in run.pairs.into_keys() {
            stop::point();
            self.knowledge.count(before, after, 1);
        }
        self.others.extend(run.others.into_keys());
    }

    /// What passes for tested, as a row of numbers.
    pub fn save(&self) -> Vec<u64> {
        let mut row = vec![self.left_out];
        self.knowledge.put(&mut row);
        let others: Vec<Order> = self.others.iter().copied().collect();
        put_list(&mut row, &others, |row, &(before, after)| {
            row.extend([before, after].map(u64::from));
        });
        row
    }

    /// Goes on from what was saved.
    pub fn restore(&mut self, saved: Saved) {
        (self.left_out, self.knowledge) = (saved.left_out, saved.knowledge);
        self.others = saved.others;
        self.ids.clear();
    }

    fn id(&mut self, code: &Code) -> Id {
        if let Some(&known) = self.ids.get(code) {
            return known;
        }
        let id = self.knowledge.id_of(code, &mut *self.places);
        self.ids.insert(code.clone(), id);
        id
    }

    /// Would HaPSets have a pair of these two?
    fn is_of_sets(&self, one: &Place, other: &Place) -> bool {
        match (&one.operation, &other.operation) {
            (Some(one), Some(other)) => one.conflicts(other),
            _ => false,
        }
    }

    fn counts(&self, operation: &Operation) -> bool {
        !self.memory_only || operation.class.is_memory()
    }

    /// What a good execution shows: predecessor pairs, and the other dependences.
    fn look(&self, operations: &[Operation], execution: &Execution, run: &mut Run) {
        let step = |operation: u32| operations[operation as usize].step as usize;
        for pair in predecessors(operations) {
            stop::point();
            let (before, after) = (step(pair.before), step(pair.after));
            let order = (run.steps[before].id, run.steps[after].id);
            run.pairs.entry(order).or_insert(after);
        }
        for &(before, after) in &execution.dependent {
            stop::point();
            let (one, other) = (&run.steps[before], &run.steps[after]);
            if !self.is_of_sets(one, other) {
                run.others.entry((one.id, other.id)).or_insert(after);
            }
        }
    }
}

impl Guide for Tested {
    fn read(&mut self, trace: &Trace, execution: &Execution) {
        let codes = codes(&trace.events, execution, self.context);
        let mut operations = operations(&trace.events);
        operations.retain(|operation| self.counts(operation));
        let place = |(step, code): (&Step, &Code)| Place {
            id: self.id(code),
            operation: None,
            previous: step.previous,
        };
        let steps = execution.steps.iter().chain(&execution.announced);
        let mut run = Run {
            steps: steps.zip(&codes).map(place).collect(),
            ..Run::default()
        };
        for operation in &operations {
            stop::point();
            run.steps[operation.step as usize].operation = Some(*operation);
        }
        let done = execution.steps.len();
        for (step, place) in execution.announced.iter().zip(&mut run.steps[done..]) {
            stop::point();
            let operation = Operation::announced(&step.event);
            place.operation = operation.filter(|operation| self.counts(operation));
        }
        let outcome = &trace.outcome;
        if outcome.is_success() {
            self.look(&operations, execution, &mut run);
        }
        self.run = run;
    }

    /// Algorithm 5. What an execution has shown by the time when its race comes about counts, too
    /// (Algorithm 6). A race of two steps of which HaPSets know nothing is judged by what directly
    /// depended on what; with memory alone it is always turned round, as the paper does.
    fn wants(&mut self, race: Race) -> bool {
        let [earlier, later] = [race.earlier, race.later].map(|n| &self.run.steps[n]);
        let turned = (later.id, earlier.id);
        let seen = later.previous.map_or(race.earlier, |p| p.max(race.earlier));
        let shown = |by: &FastMap<Order, usize>| by.get(&turned).is_some_and(|&step| step <= seen);
        let tested = if self.is_of_sets(earlier, later) {
            self.knowledge.holds(turned.0, turned.1) || shown(&self.run.pairs)
        } else {
            !self.memory_only && (self.others.contains(&turned) || shown(&self.run.others))
        };
        self.left_out += u64::from(tested);
        !tested
    }
}

/// The statements of an execution's steps, and of what was announced in the end, by addresses; with
/// the `most` innermost callers.
fn codes(events: &[Event], execution: &Execution, most: usize) -> Vec<Code> {
    let mut callers: FastMap<Slot, Vec<u64>> = FastMap::default();
    let mut codes = Vec::new();
    for event in events {
        stop::point();
        match event.kind() {
            Some(Kind::Stack) if most > 0 => {
                let own = callers.entry(event.thread).or_default();
                if event.aux == 0 {
                    own.clear();
                }
                own.extend(event.callers().filter(|&c| c != 0));
                own.truncate(most);
            }
            Some(kind) if kind.is_step() => codes.push(Code {
                pc: event.pc,
                callers: callers.remove(&event.thread).unwrap_or_default(),
            }),
            _ => {}
        }
    }
    codes.extend(execution.announced.iter().map(|step| Code {
        pc: step.event.pc,
        callers: callers.remove(&step.thread).unwrap_or_default(),
    }));
    codes
}
