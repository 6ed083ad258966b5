//! Systematic search under the guidance of HaPSets (section 5 of the paper): an interleaving is run
//! only if it turns round two events whose statements did not follow each other that way in any
//! good execution before.

use super::knowledge::{Code, Counted, Id, Knowledge, Places};
use super::operation::{Operation, operations};
use super::pairs::{Pair, predecessors};
use super::stack::{Point, backtrack, points};
use crate::fast::FastMap;
use crate::sampling::seed_of;
use crate::search::{Next, Plan, Search, Standing};
use crate::steer::order::Order;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;

/// How the threads to try at a state are chosen (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Dynamic partial order reduction: Algorithm 4.
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
    /// Leave out what is tested; without it the base alone is at work, to compare with.
    pub guided: bool,
}

/// See the module.
pub struct Guided {
    settings: Settings,
    seed: u64,
    places: Box<dyn Places>,
    knowledge: Knowledge,
    ids: FastMap<Code, Id>,
    /// Pairs by addresses, for keeping.
    counted: FastMap<(Code, Code), u64>,
    stack: Vec<Point>,
    started: bool,
    out: bool,
    ended: bool,
    lost: bool,
    mismatches: u64,
}

/// One execution as the search sees it.
struct Run {
    operations: Vec<Operation>,
    codes: Vec<Code>,
    ids: Vec<Id>,
    order: Order,
    /// By step: the operation, if it counts.
    at: Vec<Option<usize>>,
}

impl Guided {
    pub fn new(settings: Settings, seed: u64, places: Box<dyn Places>) -> Guided {
        Guided {
            settings,
            seed,
            places,
            knowledge: Knowledge::default(),
            ids: FastMap::default(),
            counted: FastMap::default(),
            stack: Vec::new(),
            started: false,
            out: false,
            ended: false,
            lost: false,
            mismatches: 0,
        }
    }

    /// What `knowledge` holds passes for tested.
    pub fn knowing(mut self, knowledge: Knowledge) -> Guided {
        self.knowledge = knowledge;
        self
    }

    /// What executions have shown so far, as statements.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    fn stacks(&self) -> u32 {
        match self.settings.context {
            0 => 0,
            _ => flags::STACKS,
        }
    }

    fn next_prefix(&mut self) -> Option<Vec<raddle_protocol::schedule::Step>> {
        if !self.started {
            self.started = true;
            return Some(Vec::new());
        }
        backtrack(&mut self.stack)
    }

    fn run(&mut self, events: &[Event]) -> Run {
        let mut operations = operations(events);
        if self.settings.memory_only {
            operations.retain(|op| op.class.is_memory());
        }
        let callers = callers(events, self.settings.context);
        let code = |op: &Operation| Code {
            pc: op.pc,
            callers: callers.get(&op.event).cloned().unwrap_or_default(),
        };
        let codes: Vec<Code> = operations.iter().map(code).collect();
        let ids = codes.iter().map(|code| self.id(code)).collect();
        let steps = events
            .iter()
            .filter(|e| e.kind().is_some_and(Kind::is_step));
        let mut at = vec![None; steps.count()];
        for (i, op) in operations.iter().enumerate() {
            at[op.step as usize] = Some(i);
        }
        Run {
            operations,
            codes,
            ids,
            order: Order::of(events),
            at,
        }
    }

    fn id(&mut self, code: &Code) -> Id {
        if let Some(&known) = self.ids.get(code) {
            return known;
        }
        let id = self.knowledge.id_of(code, &mut *self.places);
        self.ids.insert(code.clone(), id);
        id
    }

    fn learn(&mut self, run: &Run, pair: Pair) {
        let (before, after) = (pair.before as usize, pair.after as usize);
        self.knowledge.count(run.ids[before], run.ids[after], 1);
        let codes = (run.codes[before].clone(), run.codes[after].clone());
        *self.counted.entry(codes).or_default() += 1;
    }

    /// Algorithm 6 over the part of the execution that is new: after each step it learns, then it
    /// updates the sets of what to try.
    fn walk(&mut self, run: &Run, from: usize, good: bool) {
        let pairs = predecessors(&run.operations);
        let mut pairs = pairs.iter().copied().peekable();
        let mut states = Pendings::new(run);
        for point in 0..self.stack.len() {
            let step = self.stack[point].step;
            if self.stack[point].taken & raddle_protocol::schedule::CHOICE_BIT != 0 {
                continue;
            }
            for s in self.stack[point].enabled.clone() {
                if let Some((earlier, next)) = states.race(run, s)
                    && point >= from
                {
                    self.update(run, earlier, next, step);
                }
            }
            let Some(now) = run.at[step] else { continue };
            states.performed(run, now);
            while let Some(pair) = pairs.next_if(|p| p.after as usize <= now) {
                if good {
                    self.learn(run, pair);
                }
            }
        }
    }

    /// Algorithm 5: `next`, announced at `step`, is to be tried before the operation `earlier`,
    /// unless an execution has shown that already.
    fn update(&mut self, run: &Run, earlier: usize, next: usize, step: usize) {
        if self.settings.guided && self.knowledge.holds(run.ids[next], run.ids[earlier]) {
            return;
        }
        let wanted = run.operations[earlier].step as usize;
        let found = |p: &Point| p.step == wanted && p.taken == run.operations[earlier].thread;
        let Some(point) = self.stack.iter().position(found) else {
            return;
        };
        let threads = match self.settings.base {
            Base::Dpor => run.threads_to_try(&self.stack[point], next, step),
            Base::Preemptions(most) => {
                let before = &self.stack[..point];
                let so_far = before.iter().filter(|p| p.preempts(p.taken)).count() as u32;
                let here = &self.stack[point];
                let fits = |&s: &u16| so_far + u32::from(here.preempts(s)) <= most;
                here.enabled.iter().copied().filter(fits).collect()
            }
        };
        threads.into_iter().for_each(|s| self.stack[point].add(s));
    }
}

impl Run {
    /// Algorithm 4: one thread that has to run before `next` can, if there is one among those that
    /// could run at `point`; else all.
    fn threads_to_try(&self, point: &Point, next: usize, step: usize) -> Vec<u16> {
        let thread = self.operations[next].thread;
        if point.enabled.contains(&thread) {
            return vec![thread];
        }
        let mut needed = vec![next];
        for at in (point.step + 1..step).rev() {
            let Some(op) = self.at[at] else { continue };
            let happens_before = |&n: &usize| {
                let (a, b) = (&self.operations[op], &self.operations[n]);
                a.thread == b.thread || a.conflicts(b)
            };
            if needed.iter().any(happens_before) {
                if point.enabled.contains(&self.operations[op].thread) {
                    return vec![self.operations[op].thread];
                }
                needed.push(op);
            }
        }
        point.enabled.clone()
    }
}

/// What the threads have announced, and the latest operation that each might have come before.
struct Pendings {
    /// Operations of each thread, the next one last.
    to_come: FastMap<Slot, Vec<usize>>,
    /// By thread: its next operation, the latest operation that it races with, and whether that
    /// was told.
    latest: FastMap<Slot, (usize, Option<usize>, bool)>,
    done: Vec<usize>,
}

impl Pendings {
    fn new(run: &Run) -> Pendings {
        let mut to_come: FastMap<Slot, Vec<usize>> = FastMap::default();
        for (i, op) in run.operations.iter().enumerate().rev() {
            to_come.entry(op.thread).or_default().push(i);
        }
        Pendings {
            to_come,
            latest: FastMap::default(),
            done: Vec::new(),
        }
    }

    /// The latest operation that is in conflict with what `s`, which is enabled, does next, and
    /// that; only when it has changed.
    fn race(&mut self, run: &Run, s: Slot) -> Option<(usize, usize)> {
        let next = *self.to_come.get(&s)?.last()?;
        let entry = self.latest.entry(s).or_insert((usize::MAX, None, true));
        if entry.0 != next {
            let races = |&&e: &&usize| may_race(run, e, next);
            *entry = (next, self.done.iter().rev().find(races).copied(), false);
        }
        if entry.2 {
            return None;
        }
        entry.2 = true;
        entry.1.map(|earlier| (earlier, next))
    }

    fn performed(&mut self, run: &Run, now: usize) {
        let thread = run.operations[now].thread;
        if let Some(own) = self.to_come.get_mut(&thread) {
            own.pop();
        }
        self.done.push(now);
        for (&s, entry) in &mut self.latest {
            if s != thread && entry.0 != usize::MAX && may_race(run, now, entry.0) {
                *entry = (entry.0, Some(now), false);
            }
        }
    }
}

/// In conflict, and perhaps enabled at the same time.
fn may_race(run: &Run, earlier: usize, next: usize) -> bool {
    let (a, b) = (&run.operations[earlier], &run.operations[next]);
    a.thread != b.thread && a.conflicts(b) && a.locks & b.locks == 0 && !run.order.is_certain(a, b)
}

/// By event: the `most` innermost callers of steps that have [`Kind::Stack`] records.
fn callers(events: &[Event], most: usize) -> FastMap<u32, Vec<u64>> {
    let mut announced: FastMap<Slot, Vec<u64>> = FastMap::default();
    let mut found = FastMap::default();
    for (i, event) in events.iter().enumerate() {
        match event.kind() {
            Some(Kind::Stack) => {
                let own = announced.entry(event.thread).or_default();
                if event.aux == 0 {
                    own.clear();
                }
                own.extend(event.callers().filter(|&c| c != 0));
                own.truncate(most);
            }
            Some(kind) if kind.is_step() => {
                if let Some(own) = announced.remove(&event.thread) {
                    found.insert(i as u32, own);
                }
            }
            _ => {}
        }
    }
    found
}

impl Search for Guided {
    fn next(&mut self, n: u64) -> Next {
        if n < self.settings.learn {
            let seed = seed_of(self.seed, n);
            let mut plan = Plan::tail(Tail::Random { seed });
            plan.flags = flags::EVENTS | self.stacks();
            return Next::Run(plan);
        }
        if self.out {
            return Next::Wait;
        }
        let Some(prefix) = self.next_prefix() else {
            self.ended = true;
            return Next::Done;
        };
        self.out = true;
        Next::Run(Plan {
            prefix,
            flags: flags::EVENTS | flags::ENABLED | self.stacks(),
            ..Plan::tail(Tail::RunUntilBlocked)
        })
    }

    fn observe(&mut self, n: u64, trace: &Trace) {
        let good = trace.outcome.end == End::Exit && trace.outcome.code == 0;
        let run = self.run(&trace.events);
        if n < self.settings.learn {
            if good {
                let pairs = predecessors(&run.operations);
                pairs.into_iter().for_each(|pair| self.learn(&run, pair));
            }
            return;
        }
        self.out = false;
        let seen = points(&trace.events);
        let agrees = |(old, new): (&Point, &Point)| old.taken == new.taken;
        if seen.len() < self.stack.len() || !self.stack.iter().zip(&seen).all(agrees) {
            self.mismatches += 1;
            return;
        }
        let known = self.stack.len();
        self.stack.extend(seen.into_iter().skip(known));
        self.walk(&run, known, good);
    }

    fn lost(&mut self, n: u64) {
        if n >= self.settings.learn {
            self.out = false;
            self.lost = true;
        }
    }

    fn standing(&self) -> Standing {
        let mut bounds = vec![
            "interleavings in which every predecessor pair had been seen were left out".to_string(),
        ];
        if let Base::Preemptions(most) = self.settings.base {
            bounds.push(format!("at most {most} preemptions"));
        }
        Standing {
            complete: self.ended && !self.lost,
            mismatches: self.mismatches,
            bounds,
            ..Standing::default()
        }
    }

    fn pairs_seen(&self) -> Option<usize> {
        Some(self.knowledge.len())
    }

    fn pairs(&self) -> Vec<Counted> {
        let mut all: Vec<Counted> = self
            .counted
            .iter()
            .map(|((before, after), &executions)| Counted {
                before: before.clone(),
                after: after.clone(),
                executions,
            })
            .collect();
        all.sort_unstable_by(|a, b| (&a.before, &a.after).cmp(&(&b.before, &b.after)));
        all
    }
}
