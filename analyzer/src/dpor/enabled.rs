//! Could a step have been taken earlier? Locks and semaphores, looked at in another context: a
//! subset of an execution's steps in their order.

use super::awaited::has_changed;
use super::execution::{Execution, Step};
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::conflict::passes_bytes;
use raddle_protocol::descriptor::{What, what_of};
use raddle_protocol::event::{Kind, RW_WRITERS_FIRST};
use std::collections::HashMap;

/// The history of every lock and semaphore of one execution.
#[derive(Debug, Default)]
pub struct Locks {
    changes: HashMap<u64, Vec<(usize, Change)>>,
}

/// What a step does to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Acquire,
    AcquireToRead,
    Release,
    /// Its holder has ended, which lets others have it.
    Orphan,
    /// A writer waits, and bars readers.
    Queue,
    /// A writer waits no more.
    GiveUp,
    /// A semaphore: its count before and after.
    Count(u32, u32),
    /// So many bytes are put into a pipe, or taken from it.
    Bytes(i64),
    /// Something is added to an event counter, or all of it is taken.
    Filled(bool),
}

/// Is there what a read of a pipe or an event counter waits for?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    There,
    Lacking,
    /// The records do not tell.
    Unknown,
}

/// Who holds a lock.
#[derive(Debug, Default)]
pub struct Holders {
    /// Exclusively; once for each time.
    pub writer: Vec<Slot>,
    pub readers: Vec<Slot>,
    /// Writers that wait and bar readers.
    queued: Vec<Slot>,
}

impl Holders {
    fn change(&mut self, who: Slot, change: Change) {
        match change {
            Change::Acquire => {
                self.writer.push(who);
                self.leave_queue(who);
            }
            Change::AcquireToRead => self.readers.push(who),
            Change::Release if !self.writer.is_empty() => {
                self.writer.pop();
            }
            Change::Release => {
                if let Some(at) = self.readers.iter().position(|&s| s == who) {
                    self.readers.swap_remove(at);
                }
            }
            Change::Orphan => self.writer.retain(|&s| s != who),
            Change::Queue => self.queued.push(who),
            Change::GiveUp => self.leave_queue(who),
            Change::Count(..) | Change::Bytes(_) | Change::Filled(_) => {}
        }
    }

    fn leave_queue(&mut self, who: Slot) {
        self.queued.retain(|&s| s != who);
    }

    /// Does somebody write, or wait to and bar readers?
    pub fn bar_readers(&self) -> bool {
        !self.writer.is_empty() || !self.queued.is_empty()
    }

    fn others_write(&self, who: Slot) -> bool {
        self.writer.iter().any(|&s| s != who)
    }
}

const TAKEN: [u64; 2] = [0, 130];

impl Locks {
    /// Reads all steps.
    pub fn new(execution: &Execution) -> Locks {
        let mut locks = Locks::default();
        for (i, step) in execution.steps.iter().enumerate() {
            stop::point();
            for (object, change) in changes_of(step) {
                locks.changes.entry(object).or_default().push((i, change));
            }
        }
        locks
    }

    /// Could `step` be taken where exactly the steps `in_context` have happened (that of its own
    /// thread before it among them)? Where the records do not tell, it is taken that it could.
    pub fn allow(
        &self,
        execution: &Execution,
        step: &Step,
        in_context: &dyn Fn(usize) -> bool,
    ) -> bool {
        let enabled_by = || step.enabler.is_none_or(in_context);
        if step.event.kind() == Some(Kind::Cancelled) {
            return enabled_by();
        }
        // Once it is signalled, a wait for a condition has no deadline any more.
        let signalled =
            step.event.kind() == Some(Kind::CondWake) && step.enabler.is_some_and(in_context);
        let cancelled = step.cancel.is_some_and(in_context);
        if (step.timed || cancelled) && !signalled {
            return true;
        }
        if !step.awaited.is_empty()
            && has_changed(step.thread, &step.awaited, &execution.steps, in_context) == Some(false)
        {
            return false;
        }
        let me = step.thread;
        let at = step.event.object;
        match step.event.kind() {
            Some(Kind::MutexLock | Kind::SpinLock) => {
                !self.holders(execution, at, in_context).others_write(me)
            }
            // Only a thread that runs the routine holds it.
            Some(Kind::OnceEnter) => !self.holders(execution, at, in_context).others_write(me),
            Some(Kind::CondWake) => {
                let mutex = self.holders(execution, step.beside.mutex, in_context);
                enabled_by() && !mutex.others_write(me)
            }
            Some(Kind::RwRead) => {
                let holders = self.holders(execution, at, in_context);
                let barred = step.event.aux & RW_WRITERS_FIRST != 0 && !holders.queued.is_empty();
                !holders.others_write(me) && !barred
            }
            Some(Kind::RwWrite) => {
                let holders = self.holders(execution, at, in_context);
                !holders.others_write(me) && holders.readers.is_empty()
            }
            Some(Kind::SemWait) => self.count(at, in_context).is_some_and(|count| count > 0),
            _ => enabled_by(),
        }
    }

    /// What a read of a pipe or an event counter finds, where exactly the steps `in_context` have
    /// happened.
    pub fn content(&self, object: u64, in_context: &dyn Fn(usize) -> bool) -> Content {
        let (mut here, mut there) = (0, 0);
        let mut any = false;
        for &(i, change) in self.changes.get(&object).into_iter().flatten() {
            stop::point();
            let after = |before: i64| match change {
                Change::Bytes(n) => before + n,
                Change::Filled(true) => 1,
                // All is taken; there was nothing unless it began with something or gives it out one
                // by one.
                Change::Filled(false) => before - 1,
                _ => before,
            };
            there = after(there);
            if in_context(i) {
                here = after(here).max(0);
                any |= matches!(change, Change::Filled(_));
            }
            // What no step has put in was taken.
            if there < 0 {
                return Content::Unknown;
            }
        }
        let counter = what_of(object) == Some(What::Event);
        match here > 0 {
            true => Content::There,
            false if counter && !any => Content::Unknown,
            false => Content::Lacking,
        }
    }

    /// Steps that hold `object` for reading, in the context.
    pub fn readers(
        &self,
        execution: &Execution,
        object: u64,
        in_context: &dyn Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut holding: Vec<usize> = Vec::new();
        for &(i, change) in self.changes.get(&object).into_iter().flatten() {
            stop::point();
            if !in_context(i) {
                continue;
            }
            let who = execution.steps[i].thread;
            match change {
                Change::AcquireToRead => holding.push(i),
                Change::Release => {
                    let mine = |&k: &usize| execution.steps[k].thread == who;
                    if let Some(at) = holding.iter().position(mine) {
                        holding.remove(at);
                    }
                }
                _ => {}
            }
        }
        holding
    }

    /// Who holds a lock where exactly the steps `in_context` have happened.
    pub fn holders(
        &self,
        execution: &Execution,
        object: u64,
        in_context: &dyn Fn(usize) -> bool,
    ) -> Holders {
        let mut holders = Holders::default();
        for &(i, change) in self.changes.get(&object).into_iter().flatten() {
            stop::point();
            if in_context(i) {
                holders.change(execution.steps[i].thread, change);
            }
        }
        holders
    }

    /// A semaphore's count.
    pub fn count(&self, object: u64, in_context: &dyn Fn(usize) -> bool) -> Option<u32> {
        let mut counted = Counted::default();
        for &(i, change) in self.changes.get(&object).into_iter().flatten() {
            stop::point();
            counted.change(change, in_context(i));
        }
        counted.count()
    }
}

/// What is known of the count of a semaphore where some of its operations have happened.
#[derive(Default)]
struct Counted {
    /// The count then, and the one that the execution had at the same place.
    here: Option<(i64, u32)>,
}

impl Counted {
    /// The next operation of the execution; is it one of those that have happened?
    fn change(&mut self, change: Change, happens: bool) {
        let Change::Count(before, after) = change else {
            return;
        };
        let (here, there) = self.here.unwrap_or((before.into(), before));
        // It was initialised again meanwhile.
        let anew = i64::from(before) - i64::from(there);
        let own = if happens {
            i64::from(after) - i64::from(before)
        } else {
            0
        };
        self.here = Some((here + anew + own, after));
    }

    /// `None` if the records do not tell.
    fn count(&self) -> Option<u32> {
        let (here, _) = self.here?;
        Some(u32::try_from(here).unwrap_or(0))
    }
}

/// Does somebody hold the lock, or is the semaphore at 0, once exactly the steps `in_context` have
/// happened?
pub fn is_taken(object: u64, steps: &[Step], in_context: &dyn Fn(usize) -> bool) -> bool {
    match count(object, steps, in_context) {
        Some(count) => count == 0,
        None => {
            let holders = holders(object, steps, in_context);
            !holders.writer.is_empty() || !holders.readers.is_empty()
        }
    }
}

/// The count of a semaphore then, if that is one and the records tell.
pub fn count(object: u64, steps: &[Step], in_context: &dyn Fn(usize) -> bool) -> Option<u32> {
    let mut counted = Counted::default();
    for (k, step) in steps.iter().enumerate() {
        stop::point();
        if let Some((at, change)) = change_of(step)
            && at == object
        {
            counted.change(change, in_context(k));
        }
    }
    counted.count()
}

/// The first word of a read-write lock then: how many read, and whether somebody writes, or waits to
/// and bars readers.
pub fn rwlock_word(object: u64, steps: &[Step], in_context: &dyn Fn(usize) -> bool) -> u64 {
    let holders = holders(object, steps, in_context);
    (holders.readers.len() as u64) << 3 | u64::from(holders.bar_readers()) << 1
}

fn holders(object: u64, steps: &[Step], in_context: &dyn Fn(usize) -> bool) -> Holders {
    let mut holders = Holders::default();
    for (k, step) in steps.iter().enumerate() {
        stop::point();
        let of_it = changes_of(step).filter(|&(at, _)| at == object && in_context(k));
        of_it.for_each(|(_, change)| holders.change(step.thread, change));
    }
    holders
}

/// What a step does to locks and semaphores.
fn changes_of(step: &Step) -> impl Iterator<Item = (u64, Change)> + '_ {
    let orphans = step.orphans.iter().map(|&mutex| (mutex, Change::Orphan));
    change_of(step).into_iter().chain(orphans)
}

fn change_of(step: &Step) -> Option<(u64, Change)> {
    let event = &step.event;
    let taken = TAKEN.contains(&event.value);
    let at = event.object;
    let count = |before, after| Some((at, Change::Count(before, after)));
    Some(match event.kind()? {
        Kind::MutexLock | Kind::MutexTryLock | Kind::MutexTimedLock if taken => {
            (at, Change::Acquire)
        }
        Kind::SpinLock | Kind::SpinTryLock | Kind::RwWrite | Kind::RwTryWrite if taken => {
            (at, Change::Acquire)
        }
        Kind::RwQueue => (at, Change::Queue),
        Kind::RwWrite => (at, Change::GiveUp),
        Kind::RwRead | Kind::RwTryRead if taken => (at, Change::AcquireToRead),
        // One that fails leaves the lock to its holder.
        Kind::MutexUnlock | Kind::SpinUnlock | Kind::RwUnlock if event.value != 0 => return None,
        Kind::MutexUnlock | Kind::SpinUnlock | Kind::RwUnlock | Kind::OnceDone => {
            (at, Change::Release)
        }
        Kind::OnceEnter if event.value == 1 => (at, Change::Acquire),
        Kind::CondWake => (step.beside.mutex, Change::Acquire),
        Kind::CondWait => (event.value, Change::Release),
        Kind::SemWait | Kind::SemTryWait | Kind::SemTimedWait if event.value == 0 => {
            return count(event.aux.saturating_add(1), event.aux);
        }
        Kind::SemPost if event.value == 0 => return count(event.aux.saturating_sub(1), event.aux),
        Kind::SemWait | Kind::SemTryWait | Kind::SemTimedWait | Kind::SemPost => {
            return count(event.aux, event.aux);
        }
        kind @ (Kind::DescriptorRead | Kind::DescriptorWrite) if passes_bytes(event) => {
            let (moved, puts) = (event.value as i64, kind == Kind::DescriptorWrite);
            match what_of(at) {
                _ if moved <= 0 => return None,
                Some(What::Event) => (at, Change::Filled(puts)),
                _ if puts => (at, Change::Bytes(moved)),
                _ => (at, Change::Bytes(-moved)),
            }
        }
        _ => return None,
    })
}
