//! One execution as a sequence of steps with their footprints, and which step happens before which.

use super::awaited::has_changed;
use super::touched::Touched;
use crate::inuse::{self, Operation};
use crate::stop;
use raddle_protocol::conflict::{Footprint, Unrecorded, look, marks, passes_bytes};
use raddle_protocol::event::{Event, Kind, PENDING_ENABLED, PENDING_TIMED};
use raddle_protocol::outcome::End;
use raddle_protocol::trace::Trace;
use raddle_protocol::update::Operands;
use raddle_protocol::{Slot, slot};
use std::collections::HashMap;

/// What was chosen within a step, and of how many: the waiter that a signal wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    pub value: u16,
    pub of: u16,
}

/// One step, or an operation that was announced and did not happen.
#[derive(Clone, Debug)]
pub struct Step {
    pub thread: Slot,
    pub picks: Vec<Pick>,
    pub foot: Footprint,
    /// Its footprint but for its having ended the process.
    pub plain: Footprint,
    /// Its record. Of an operation that did not happen: what is known.
    pub event: Event,
    /// Of an access that may change memory: what it computes, and what it found; as far as recorded.
    pub operands: Option<(Operands, Option<u64>)>,
    /// What else its record does not say.
    pub beside: Unrecorded,
    /// It looked at the clock, which had moved since the thread's last look. Where that was not so, it
    /// moves the clock.
    pub looked_later: bool,
    /// It had a deadline, so that it could be taken at any time.
    pub timed: bool,
    /// It is possible from this step on, a request to cancel its thread, without what enabled it.
    pub cancel: Option<usize>,
    /// Of a [`Kind::Cancelled`]: what it is where there is no request, which is its `enabler`.
    pub uncancelled: Option<Box<Uncancelled>>,
    /// The step behind it is another thread's, unless none could be taken ([`Kind::PassedOver`]).
    pub gives_way: bool,
    /// It was taken because nobody else could take a step: all that came before it makes it possible.
    pub last_resort: bool,
    /// The step that made this one possible, where that is no matter of a lock's state.
    pub enabler: Option<usize>,
    /// When else it was possible, and was not taken.
    pub chances: Vec<Chance>,
    /// It waits for what no record of a lock or a thread tells, and was not possible at some time; an
    /// operation that did not happen: where the execution ended.
    pub blocked: bool,
    /// The thread was parked before it: what it awaited, any of which makes it possible. All of it
    /// is in the footprint, so there is no `enabler`.
    pub awaited: Vec<Awaited>,
    /// Of the end of a thread: the robust mutexes that it leaves without an owner.
    pub orphans: Vec<u64>,
    /// The step of the same thread before it.
    pub previous: Option<usize>,
    /// Place among the steps of its thread, from 1.
    pub number: u32,
}

/// A while in which an operation was possible that waits for what no record of a lock or a thread
/// tells, until another took it away: the byte of a pipe, for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The step that made it possible; `None`: it was from the start.
    pub enabler: Option<usize>,
    /// The step that made it impossible.
    pub until: usize,
}

/// The operation that a thread had announced when a request to cancel it acted.
#[derive(Clone, Debug)]
pub struct Uncancelled {
    pub step: Step,
    /// When it is possible, no record tells; it was in the end.
    pub uncertain: bool,
}

/// A word that a parked thread found as it is not to stay, or a thread that is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Of the word; of a thread the slot.
    pub at: u64,
    /// At most eight; of a thread 0.
    pub bytes: u8,
    pub value: u64,
    /// The step that read it.
    pub read: usize,
}

/// The steps of one execution, in the order in which they happened.
#[derive(Debug, Default)]
pub struct Execution {
    pub steps: Vec<Step>,
    /// Operations that were announced and did not happen, of an execution that ended before all
    /// threads did.
    pub announced: Vec<Step>,
    /// For each step: how many steps of each thread (by [`Execution::dense`]) happen before it,
    /// itself included.
    clocks: Vec<Vec<u32>>,
    /// Steps of two threads of which the second directly depends on the first: nothing else
    /// orders them.
    pub dependent: Vec<(usize, usize)>,
    dense: HashMap<Slot, usize>,
    /// Somebody looked at the clock.
    pub looks: bool,
    /// Do operations that move the clock conflict with each other?
    pub clock: bool,
}

const CANCELLED: u64 = 125;

/// All marks that are about the clock.
const CLOCKS: u16 = marks::CLOCK | marks::LOOKS;

/// What is known while the records are read.
#[derive(Default)]
struct Reader {
    steps: Vec<Step>,
    announced: Vec<Step>,
    last: HashMap<Slot, usize>,
    counts: HashMap<Slot, u32>,
    /// Where each thread waits: its condition, the mutex, and who released it (or that it gave up).
    waits: HashMap<Slot, Wait>,
    /// Threads in the queue of each condition.
    queues: HashMap<u64, Vec<Slot>>,
    /// What threads that are parked await.
    awaited: HashMap<Slot, Vec<Awaited>>,
    cancels: HashMap<Slot, usize>,
    exits: HashMap<Slot, usize>,
    /// Before each step: who was enabled, in order.
    enabled: Vec<Vec<Slot>>,
    gathering: Vec<Slot>,
    timed: Option<Slot>,
    /// The record of operands that came last.
    operands: Option<Event>,
    looks: bool,
    others_enabled: bool,
}

#[derive(Clone, Copy, Default)]
struct Wait {
    mutex: u64,
    timed: bool,
    released_by: Option<usize>,
    gave_up: bool,
}

impl Step {
    /// The footprint of the same operation where it would leave another record than its own, or what
    /// that does not say is another (but for its ending the process).
    pub fn foot_if(&self, (event, beside): &(Event, Unrecorded), clock: bool) -> Footprint {
        let mut foot = Footprint::of(event, *beside).awaiting(words(&self.awaited));
        foot.marks |= self.plain.marks & CLOCKS;
        if !clock {
            foot.marks &= !CLOCKS;
        }
        foot
    }
}

impl Execution {
    /// Reads a trace with records of events and of who was enabled. `clock`: see
    /// [`Execution::clock`].
    pub fn new(trace: &Trace, clock: bool) -> Execution {
        let mut reader = Reader::default();
        for event in &trace.events {
            stop::point();
            reader.take(event);
        }
        let mut execution = Execution {
            looks: reader.looks,
            clock,
            ..Execution::default()
        };
        let abrupt = match trace.outcome.end {
            End::Redundant | End::Divergence => false,
            End::Deadlock | End::Livelock | End::Assumed => reader.others_enabled,
            End::Exit => reader.steps.last().is_some_and(|last| {
                let kind = last.event.kind();
                ![Some(Kind::ProcessEnd), Some(Kind::ThreadExit)].contains(&kind)
            }),
            _ => true,
        };
        let Reader {
            mut steps,
            mut announced,
            ..
        } = reader;
        // What ends the process comes before or after all that others do.
        if abrupt && let Some(last) = steps.last_mut() {
            last.foot.marks |= marks::EVERYTHING;
        }
        if !clock {
            for step in steps.iter_mut().chain(&mut announced) {
                step.foot.marks &= !CLOCKS;
                step.plain.marks &= !CLOCKS;
            }
        }
        for step in &steps {
            let next = execution.dense.len();
            execution.dense.entry(step.thread).or_insert(next);
        }
        execution.steps = steps;
        execution.announced = announced;
        execution.order();
        execution
    }

    /// Computes the clocks.
    fn order(&mut self) {
        let mut touched = Touched::default();
        let mut latest: HashMap<Slot, usize> = HashMap::new();
        let threads = self.dense.len();
        for j in 0..self.steps.len() {
            stop::point();
            let step = &self.steps[j];
            let mut clock = match step.previous {
                Some(previous) => self.clocks[previous].clone(),
                None => vec![0; threads],
            };
            if let Some(enabler) = step.enabler {
                join(&mut clock, &self.clocks[enabler]);
            }
            if step.last_resort {
                let others = latest.values().map(|&i: &usize| &self.clocks[i]);
                others.for_each(|other| join(&mut clock, other));
            }
            latest.insert(step.thread, j);
            for i in touched.candidates(&step.foot) {
                stop::point();
                if !self.reached(i, &clock) && self.steps[i].foot.conflicts(&step.foot) {
                    join(&mut clock, &self.clocks[i]);
                    self.dependent.push((i, j));
                }
            }
            clock[self.dense[&step.thread]] = step.number;
            self.clocks.push(clock);
            touched.add(j, &self.steps[j].foot);
        }
    }

    /// Does step `i` happen before what has this clock?
    pub fn reached(&self, i: usize, clock: &[u32]) -> bool {
        let step = &self.steps[i];
        clock[self.dense[&step.thread]] >= step.number
    }

    /// Does step `i` happen before step `j`, or is it the same?
    pub fn before(&self, i: usize, j: usize) -> bool {
        self.reached(i, &self.clocks[j])
    }

    /// See [`inuse::is_written`]: here, or in an execution with the same order of conflicts.
    pub fn writes_what_is_in_use(&self) -> bool {
        let done = self.steps.iter().enumerate();
        let announced = self.announced.iter().map(|step| (self.steps.len(), step));
        let all: Vec<Operation<'_>> = done
            .chain(announced)
            .map(|(at, step)| Operation {
                thread: step.thread,
                event: &step.event,
                at,
                previous: step.previous,
            })
            .collect();
        inuse::is_written(&all, |first, second| self.before(first, second))
    }

    /// The clock of step `i`.
    pub fn clock(&self, i: usize) -> &[u32] {
        &self.clocks[i]
    }

    /// A clock that nothing reaches.
    pub fn no_clock(&self) -> Vec<u32> {
        vec![0; self.dense.len()]
    }

    /// Two numbers that are the same for executions with the same steps in the same partial order
    /// (the same Mazurkiewicz trace), and practically never for others.
    pub fn class(&self) -> [u64; 2] {
        let mut threads: Vec<(Slot, usize)> = self.dense.iter().map(|(&s, &d)| (s, d)).collect();
        threads.sort_unstable();
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        order.sort_unstable_by_key(|&i| (self.steps[i].thread, self.steps[i].number));
        let mut hash = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344];
        let mut add = |n: u64| {
            for (word, factor) in hash
                .iter_mut()
                .zip([0x9E37_79B9_7F4A_7C15_u64, 0xC2B2_AE3D_27D4_EB4F])
            {
                *word = (*word ^ n).wrapping_mul(factor);
                *word ^= *word >> 29;
            }
        };
        for i in order {
            let step = &self.steps[i];
            add(u64::from(step.thread) << 32 | u64::from(step.event.kind));
            for pick in &step.picks {
                add(1 << 40 | u64::from(pick.value));
            }
            for &(slot, dense) in &threads {
                stop::point();
                add(u64::from(slot) << 32 | u64::from(self.clocks[i][dense]));
            }
        }
        hash
    }
}

/// The later of both, thread by thread.
pub fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, &its) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(its);
    }
}

impl Reader {
    fn take(&mut self, event: &Event) {
        match event.kind() {
            Some(Kind::Enabled) => self.gathering.extend(event.enabled_slots()),
            Some(Kind::Timed) => self.timed = Some(event.thread),
            Some(Kind::ClockRead) => {
                self.looks |= event.value != look::BEGINS;
                if let Some(&last) = self.last.get(&event.thread) {
                    let step = &mut self.steps[last];
                    step.foot.marks |= marks::of_look(event.value);
                    step.plain.marks |= marks::of_look(event.value);
                    step.looked_later |= event.value == look::LATER;
                }
            }
            Some(Kind::Operands) => self.operands = Some(*event),
            Some(Kind::Choice) => self.pick(event),
            Some(Kind::Orphaned) => {
                if let Some(&last) = self.last.get(&event.thread) {
                    self.steps[last].orphans.push(event.object);
                }
            }
            Some(Kind::Parked) => self.park(event),
            Some(Kind::PassedOver) if event.value != 0 => {
                if let Some(&last) = self.last.get(&event.thread) {
                    self.steps[last].gives_way = true;
                }
            }
            Some(Kind::Pending) => self.announce(event),
            Some(kind) if kind.is_step() => self.step(event, kind),
            _ => {}
        }
    }

    fn pick(&mut self, event: &Event) {
        let Some(last) = self.steps.last_mut() else {
            return;
        };
        last.picks.push(Pick {
            value: event.value as u16,
            of: event.aux as u16,
        });
        // Signalled, and asked to be cancelled before it returned.
        if last.event.kind() == Some(Kind::CondWake) {
            last.cancel = self.cancels.get(&last.thread).copied();
        }
        // A wait that will end for no reason.
        if last.event.kind() == Some(Kind::CondWait) && event.value == 1 {
            let (who, queue) = (last.thread, last.event.object);
            if let Some(queue) = self.queues.get_mut(&queue) {
                queue.retain(|&s| s != who);
            }
            if let Some(wait) = self.waits.get_mut(&who) {
                wait.timed = false;
            }
            self.release(who, self.steps.len() - 1);
        }
    }

    /// The thread waits in a loop until this word changes, or another one, or a thread ends.
    fn park(&mut self, event: &Event) {
        let thread = event.thread;
        let mut last = self.last.get(&thread).copied();
        // A lock's word is read by an attempt at it.
        let reads = |step: &Event| match step.kind() {
            Some(Kind::MutexUnlock | Kind::SpinUnlock) => false,
            Some(Kind::ThreadTryJoin) => event.size == 0 && step.value == event.object,
            _ => event.size != 0 && step.object == event.object,
        };
        while let Some(step) = last
            && !reads(&self.steps[step].event)
        {
            last = self.steps[step].previous;
        }
        if let Some(read) = last {
            self.awaited.entry(thread).or_default().push(Awaited {
                at: event.object,
                bytes: event.size.min(8),
                value: event.value,
                read,
            });
        }
    }

    fn step(&mut self, event: &Event, kind: Kind) {
        let index = self.steps.len();
        let mut enabled = std::mem::take(&mut self.gathering);
        enabled.sort_unstable();
        self.enabled.push(enabled);
        let waits = matches!(kind, Kind::CondWake | Kind::FutexResume);
        let previous = self.last.insert(event.thread, index);
        let number = self.counts.entry(event.thread).or_default();
        *number += 1;
        let number = *number;
        let wait = self.waits.get(&event.thread).copied().unwrap_or_default();
        let timed =
            self.timed.take() == Some(event.thread) || (waits && wait.timed && !wait.gave_up);
        let cancel = match kind.joins() && event.size != 0 {
            true => self.cancels.get(&event.thread).copied(),
            false => None,
        };
        let mut awaited = self.awaited.remove(&event.thread).unwrap_or_default();
        let unchanged =
            || has_changed(event.thread, &awaited, &self.steps, &|_| true) == Some(false);
        // A request to cancel the thread is a reason of its own.
        let mut last_resort = kind != Kind::Cancelled && !awaited.is_empty() && unchanged();
        if last_resort {
            awaited.clear();
        }
        last_resort |= index > 0 && previous == Some(index - 1) && self.steps[index - 1].gives_way;
        let enabler = match awaited.is_empty() || kind == Kind::Cancelled {
            true => self.enabler(event, kind, &wait, previous, index),
            false => None,
        };
        self.note(event, kind, index);
        let (operands, beside) = self.beside(event, &wait);
        let foot = Footprint::of(event, beside).awaiting(words(&awaited));
        let mut step = Step {
            thread: event.thread,
            picks: Vec::new(),
            foot,
            plain: foot,
            event: *event,
            operands,
            beside,
            looked_later: false,
            timed: timed && kind != Kind::Cancelled,
            cancel,
            uncancelled: None,
            gives_way: false,
            last_resort,
            enabler,
            chances: Vec::new(),
            blocked: false,
            awaited,
            orphans: Vec::new(),
            previous,
            number,
        };
        if waits_unseen(kind) && !step.timed && !last_resort && step.awaited.is_empty() {
            match of_content(event, Some(kind)) {
                true => step.blocked = self.unblocked(event.thread, previous, index).is_some(),
                false => step.chances = self.chances(event.thread, previous, index, false),
            }
        }
        step.uncancelled = self.uncancelled(&step).map(Box::new);
        self.steps.push(step);
    }

    /// See [`Step::uncancelled`].
    fn uncancelled(&self, cancelled: &Step) -> Option<Uncancelled> {
        let record = &cancelled.event;
        let event = record.announced()?;
        let kind = event
            .kind()
            .filter(|_| record.kind() == Some(Kind::Cancelled))?;
        let timed = record.aux & PENDING_TIMED != 0;
        let (enabler, uncertain) = match kind {
            Kind::ThreadJoin | Kind::ThreadTimedJoin => {
                let exit = self.exits.get(&(event.value as Slot)).copied();
                (exit, exit.is_none() && !timed)
            }
            _ => (None, !timed && waits_unseen(kind)),
        };
        let foot = foot_ahead(&event, cancelled.beside).awaiting(words(&cancelled.awaited));
        // What never became possible was not in part of what happened either.
        let never = uncertain && record.aux & PENDING_ENABLED == 0;
        (!never).then(|| Uncancelled {
            step: Step {
                event,
                foot,
                plain: foot,
                timed,
                enabler,
                ..cancelled.clone()
            },
            uncertain,
        })
    }

    /// What the record of a step does not say.
    fn beside(
        &mut self,
        event: &Event,
        wait: &Wait,
    ) -> (Option<(Operands, Option<u64>)>, Unrecorded) {
        let record = self.operands.take().filter(|r| r.thread == event.thread);
        let operands = record.map(|record| Operands::of_record(&record));
        let idle = operands.is_some_and(|(operands, found)| {
            found.is_some_and(|found| operands.leaves(found, Operands::size_of(event)))
        });
        let beside = Unrecorded {
            mutex: wait.mutex,
            released: wait.released(),
            idle,
        };
        (operands, beside)
    }

    /// The step that made this one possible.
    fn enabler(
        &self,
        event: &Event,
        kind: Kind,
        wait: &Wait,
        previous: Option<usize>,
        index: usize,
    ) -> Option<usize> {
        match kind {
            Kind::Cancelled => self.cancels.get(&event.thread).copied(),
            // One that was signalled waited for its mutex only.
            Kind::CondWake if event.value == CANCELLED && wait.released_by.is_none() => {
                self.cancels.get(&event.thread).copied()
            }
            Kind::CondWake => wait.released_by,
            Kind::ThreadJoin | Kind::ThreadTimedJoin => {
                self.exits.get(&(event.value as Slot)).copied()
            }
            _ if of_state(kind) || of_content(event, Some(kind)) => None,
            _ => self.unblocked(event.thread, previous, index),
        }
    }

    /// The step before number `end` that made possible what `thread` announced in its `previous`
    /// step; `None` if it was possible at once.
    fn unblocked(&self, thread: Slot, previous: Option<usize>, end: usize) -> Option<usize> {
        let first = previous.map_or(0, |p| p + 1);
        let blocked = |&k: &usize| self.enabled[k].binary_search(&thread).is_err();
        (first..end).rev().inspect(|_| stop::point()).find(blocked)
    }

    /// See [`Step::chances`], of what `thread` announced in its `previous` step and had not done before
    /// step number `end`. `blocked`: it is not possible there.
    fn chances(
        &self,
        thread: Slot,
        previous: Option<usize>,
        end: usize,
        blocked: bool,
    ) -> Vec<Chance> {
        let first = previous.map_or(0, |p| p + 1);
        let end_or_past = end + usize::from(blocked);
        let enabled = |k: usize| k < end && self.enabled[k].binary_search(&thread).is_ok();
        let mut chances = Vec::new();
        let mut began = None;
        for k in first..end_or_past {
            stop::point();
            match (enabled(k), began) {
                (true, None) => began = Some(k),
                (false, Some(start)) => {
                    chances.push(Chance {
                        enabler: (start > first).then(|| start - 1),
                        until: k - 1,
                    });
                    began = None;
                }
                _ => {}
            }
        }
        chances
    }

    /// Remembers who waits where and who was released.
    fn note(&mut self, event: &Event, kind: Kind, index: usize) {
        let me = event.thread;
        match kind {
            Kind::CondWait => {
                let wait = Wait {
                    mutex: event.value,
                    timed: event.aux == 1,
                    ..Wait::default()
                };
                self.waits.insert(me, wait);
                self.queues.entry(event.object).or_default().push(me);
            }
            Kind::FutexWait => {
                let wait = Wait {
                    timed: event.aux == 1,
                    ..Wait::default()
                };
                self.waits.insert(me, wait);
            }
            Kind::CondSignal if event.value != u64::from(slot::NONE) => {
                let who = event.value as Slot;
                if let Some(queue) = self.queues.get_mut(&event.object) {
                    queue.retain(|&s| s != who);
                }
                self.release(who, index);
            }
            Kind::CondBroadcast => {
                for who in self.queues.remove(&event.object).unwrap_or_default() {
                    self.release(who, index);
                }
            }
            Kind::CondLeave | Kind::CondWake => {
                if let Some(queue) = self.queues.get_mut(&event.object) {
                    queue.retain(|&s| s != me);
                }
                if let Some(wait) = self.waits.get_mut(&me) {
                    wait.gave_up = true;
                }
            }
            Kind::ThreadExit | Kind::ThreadLeave => {
                self.exits.insert(me, index);
            }
            Kind::ThreadCancel => {
                self.cancels.insert(event.value as Slot, index);
            }
            _ => {}
        }
    }

    fn release(&mut self, who: Slot, by: usize) {
        if let Some(wait) = self.waits.get_mut(&who) {
            wait.released_by = Some(by);
        }
    }

    /// An operation that did not happen.
    fn announce(&mut self, record: &Event) {
        let thread = record.thread;
        let wait = self.waits.get(&thread).copied().unwrap_or_default();
        let Some((kind, event)) = Kind::from_u8(record.size).zip(record.announced()) else {
            return;
        };
        let enabled = record.aux & PENDING_ENABLED != 0;
        self.others_enabled |= enabled;
        let previous = self.last.get(&thread).copied();
        let awaited = self.awaited.remove(&thread).unwrap_or_default();
        let enabler = match kind {
            _ if !awaited.is_empty() => None,
            Kind::CondWake => wait.released_by,
            Kind::ThreadJoin | Kind::ThreadTimedJoin => {
                self.exits.get(&(event.value as Slot)).copied()
            }
            _ if of_state(kind) || of_content(&event, Some(kind)) => None,
            _ => self.unblocked(thread, previous, self.steps.len()),
        };
        let waits_for_lock = of_state(kind) || (kind == Kind::CondWake && wait.released());
        let (operands, beside) = self.beside(&event, &wait);
        let blocked = !enabled && !waits_for_lock && awaited.is_empty();
        let unseen = waits_unseen(kind) && record.aux & PENDING_TIMED == 0 && awaited.is_empty();
        let by_content = unseen && of_content(&event, Some(kind));
        let chances = match unseen && !by_content {
            true => self.chances(thread, previous, self.steps.len(), blocked),
            false => Vec::new(),
        };
        if blocked && chances.is_empty() && !by_content {
            return;
        }
        let foot = match kind {
            // It would be cancelled.
            _ if kind.joins() && kind != Kind::ThreadTryJoin && enabler.is_none() => {
                Footprint::everything(thread)
            }
            _ => foot_ahead(&event, beside).awaiting(words(&awaited)),
        };
        let number = self.counts.get(&thread).copied().unwrap_or_default() + 1;
        self.announced.push(Step {
            thread,
            picks: Vec::new(),
            foot,
            plain: foot,
            event,
            operands,
            beside,
            looked_later: false,
            cancel: None,
            uncancelled: None,
            timed: record.aux & PENDING_TIMED != 0
                || (kind == Kind::CondWake && wait.timed && !wait.gave_up),
            gives_way: false,
            last_resort: false,
            enabler,
            chances,
            blocked,
            awaited,
            orphans: Vec::new(),
            previous,
            number,
        });
    }
}

/// The footprint of an operation that has not happened.
fn foot_ahead(event: &Event, beside: Unrecorded) -> Footprint {
    match event.kind() {
        Some(Kind::ThreadCancel | Kind::ThreadDetach | Kind::FutexWake) => {
            Footprint::everything(event.thread)
        }
        _ => Footprint::of(event, beside),
    }
}

/// Does such an operation wait for what no record of a lock or a thread tells?
fn waits_unseen(kind: Kind) -> bool {
    let waits = matches!(
        kind,
        Kind::BarrierLeave
            | Kind::FutexResume
            | Kind::FutexLock
            | Kind::SignalWait
            | Kind::ChildWait
            | Kind::OpenMpCall
    );
    waits || kind.is_descriptor()
}

fn words(awaited: &[Awaited]) -> impl Iterator<Item = (u64, u64)> + '_ {
    awaited.iter().map(|a| (a.at, u64::from(a.bytes)))
}

/// Does what a pipe or an event counter holds say, as far as it is known, whether such an operation is
/// possible?
pub fn of_content(event: &Event, kind: Option<Kind>) -> bool {
    matches!(kind, Some(Kind::DescriptorRead | Kind::Poll)) && passes_bytes(event)
}

/// Does the state of a lock or a semaphore say whether such an operation is possible?
fn of_state(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::MutexLock
            | Kind::SemWait
            | Kind::RwRead
            | Kind::RwWrite
            | Kind::SpinLock
            | Kind::OnceEnter
    )
}

impl Wait {
    /// Is it out of the queue?
    fn released(&self) -> bool {
        self.released_by.is_some() || self.gave_up
    }
}
