//! Synchronisation objects other than mutexes of toy programs, as the runtime's models say.

use crate::machine::{EBUSY, Machine, Status, record};
use crate::program::{MUTEXES, Op, Patience, Stmt, Sync};
use crate::recorder::{Recorder, Value};
use raddle_protocol::Slot;
use raddle_protocol::descriptor::{self, What};
use raddle_protocol::event::{Event, Kind, RW_TIMED};
use raddle_protocol::shared::SPURIOUS_WAKE_UPS;
use raddle_protocol::slot;
use std::collections::BTreeMap;

const EAGAIN: u64 = 11;
const EDEADLK: u64 = 35;
const ETIMEDOUT: u64 = 110;
/// In a local path: the time of a wait ran out while another thread had the mutex. The thread takes a
/// step more than if the mutex had been free, so this is an outcome of its own.
const LEFT: u64 = 1 << 32;
/// What the serial thread of a barrier gets.
const SERIAL: u64 = u64::MAX;

/// The mutex of atomic sections.
const SECTION: u8 = 40;

/// The second half of an operation of two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// A thread waits for a condition, or has been woken, or its time has run out (`left`).
    Wait {
        register: usize,
        condition: u8,
        mutex: u8,
        timed: bool,
        woken: bool,
        left: bool,
    },
    /// A thread has arrived at a barrier, whose round is complete (`released`).
    Barrier {
        register: usize,
        barrier: u8,
        last: bool,
        released: bool,
    },
}

/// A read-write lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct RwLock {
    writer: Option<Slot>,
    /// Who reads, and how often, in the order in which they came.
    readers: Vec<(Slot, u32)>,
}

/// All objects but mutexes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Objects {
    /// Who waits, longest first.
    conditions: BTreeMap<u8, Vec<Slot>>,
    /// How many waits have begun, where they may end for no reason, and how many do.
    waits: (u32, u32),
    semaphores: Vec<u16>,
    counters: Vec<u16>,
    /// What was written and not read.
    pipes: BTreeMap<u8, Vec<u8>>,
    locks: BTreeMap<u8, RwLock>,
    /// Who has arrived in the current round.
    barriers: BTreeMap<u8, Vec<Slot>>,
    /// Who runs the routine; `None`: it has returned.
    once: BTreeMap<u8, Option<Slot>>,
}

fn mutex(m: u8) -> u64 {
    MUTEXES + 64 * u64::from(m)
}

fn condition(c: u8) -> u64 {
    0xa000 + 64 * u64::from(c)
}

fn barrier(b: u8) -> u64 {
    0xd000 + 64 * u64::from(b)
}

impl Sync {
    pub fn kind(self) -> Kind {
        use Patience::{Timed, Tries, Waits};
        match self {
            Sync::Wait(..) => Kind::CondWait,
            Sync::Signal(_) => Kind::CondSignal,
            Sync::Broadcast(_) => Kind::CondBroadcast,
            Sync::TimedLock(_) => Kind::MutexTimedLock,
            Sync::SemWait(_, Waits) => Kind::SemWait,
            Sync::SemWait(_, Timed) => Kind::SemTimedWait,
            Sync::SemWait(_, Tries) => Kind::SemTryWait,
            Sync::SemPost(_) => Kind::SemPost,
            Sync::SemValue(_) => Kind::SemGetValue,
            Sync::Read(_, Tries) => Kind::RwTryRead,
            Sync::Read(..) => Kind::RwRead,
            Sync::Write(_, Tries) => Kind::RwTryWrite,
            Sync::Write(..) => Kind::RwWrite,
            Sync::RwUnlock(_) => Kind::RwUnlock,
            Sync::Barrier(_) => Kind::BarrierArrive,
            Sync::Once(_) => Kind::OnceEnter,
            Sync::OnceDone(..) => Kind::OnceDone,
            Sync::Send(..) | Sync::Add(..) => Kind::DescriptorWrite,
            Sync::Receive(..) | Sync::Take(_) => Kind::DescriptorRead,
            Sync::Begin => Kind::MutexLock,
            Sync::End => Kind::MutexUnlock,
        }
    }

    pub fn object(self) -> u64 {
        match self {
            Sync::Wait(c, ..) | Sync::Signal(c) | Sync::Broadcast(c) => condition(c),
            Sync::TimedLock(m) => mutex(m),
            Sync::Begin | Sync::End => mutex(SECTION),
            Sync::Send(p, ..) | Sync::Receive(p, _) => {
                descriptor::object(What::Pipe, slot::MAIN, p.into())
            }
            Sync::Add(e, _) | Sync::Take(e) => {
                descriptor::object(What::Event, slot::MAIN, u32::from(e) + 16)
            }
            Sync::SemWait(s, _) | Sync::SemPost(s) | Sync::SemValue(s) => {
                0xb000 + 64 * u64::from(s)
            }
            Sync::Read(l, _) | Sync::Write(l, _) | Sync::RwUnlock(l) => 0xc000 + 64 * u64::from(l),
            Sync::Barrier(b) => barrier(b),
            Sync::Once(o) | Sync::OnceDone(o, _) => 0xe000 + 64 * u64::from(o),
        }
    }

    /// `value` of an announced operation.
    pub fn announced_value(self) -> u64 {
        match self {
            Sync::Wait(_, m, _) => mutex(m),
            Sync::OnceDone(_, returned) => u64::from(!returned),
            _ => 0,
        }
    }

    /// `aux` of an announced operation.
    pub fn announced_aux(self) -> u32 {
        match self {
            Sync::Read(_, Patience::Timed) | Sync::Write(_, Patience::Timed) => RW_TIMED,
            _ => 0,
        }
    }
}

impl Half {
    /// Kind and object of the step to come.
    pub fn announced(self) -> (Kind, u64) {
        match self {
            Half::Wait {
                mutex: m,
                woken,
                left,
                condition: c,
                ..
            } => {
                let object = if woken || left {
                    mutex(m)
                } else {
                    condition(c)
                };
                (Kind::CondWake, object)
            }
            Half::Barrier { barrier: b, .. } => (Kind::BarrierLeave, barrier(b)),
        }
    }
}

impl Machine {
    /// The objects at the start.
    pub fn initialise_objects(&mut self, rec: &mut Recorder) {
        self.objects
            .semaphores
            .clone_from(&self.code.program.semaphores);
        for (s, &count) in (0u8..).zip(&self.code.program.semaphores) {
            let object = Sync::SemPost(s).object();
            rec.step(slot::MAIN, Kind::Init, 0, 0, object, count.into(), 0);
        }
        self.objects
            .counters
            .clone_from(&self.code.program.counters);
        for (e, &count) in (0u8..).zip(&self.code.program.counters) {
            let object = Sync::Take(e).object();
            rec.step(slot::MAIN, Kind::Init, 0, 0, object, count.into(), 0);
        }
        for (b, &count) in (0u8..).zip(&self.code.program.barriers) {
            rec.step(slot::MAIN, Kind::Init, 0, 0, barrier(b), count.into(), 0);
        }
    }

    /// In how many ways the next step of a thread can be taken, at least one.
    pub fn choices(&self, who: Slot) -> usize {
        let waiting = self.index_of(who).map_or(0, |t| match self.op(t) {
            Op::Do(Stmt::Sync(_, Sync::Signal(c))) if self.threads[t].status == Status::Running => {
                self.objects.conditions.get(c).map_or(0, Vec::len)
            }
            Op::Do(Stmt::Sync(_, Sync::Wait(..)))
                if self.threads[t].status == Status::Running && self.may_end_alone() =>
            {
                2
            }
            _ => 0,
        });
        waiting.max(1)
    }

    /// May the next wait end for no reason?
    fn may_end_alone(&self) -> bool {
        self.code.program.spurious && self.objects.waits.1 < SPURIOUS_WAKE_UPS
    }

    /// Have so many waits ended for no reason that another one could not?
    pub fn leaves_out(&self) -> bool {
        let (begun, alone) = self.objects.waits;
        alone == SPURIOUS_WAKE_UPS && begun > alone
    }

    /// Can the thread have the mutex now?
    fn may_lock(&self, who: Slot, m: u8) -> bool {
        self.mutexes
            .get(&m)
            .is_none_or(|&(owner, _)| owner == who && self.code.program.recursive.contains(&m))
    }

    pub fn half_waits(&self, who: Slot, half: Half) -> bool {
        match half {
            Half::Wait {
                mutex,
                timed,
                woken,
                left,
                ..
            } => match woken || left {
                true => !self.may_lock(who, mutex),
                false => !timed,
            },
            Half::Barrier { released, .. } => !released,
        }
    }

    pub fn half_blocker(&self, who: Slot, half: Half) -> Option<Slot> {
        match half {
            Half::Wait {
                mutex, woken, left, ..
            } if (woken || left) && !self.may_lock(who, mutex) => {
                self.mutexes.get(&mutex).map(|m| m.0)
            }
            _ => None,
        }
    }

    fn lock(&self, l: u8) -> RwLock {
        self.objects.locks.get(&l).cloned().unwrap_or_default()
    }

    /// Is another thread than `t` in an atomic section?
    pub fn is_kept_out(&self, t: usize) -> bool {
        let section = self.mutexes.get(&SECTION);
        section.is_some_and(|s| s.0 != self.threads[t].slot)
    }

    /// Could the operation succeed (or fail for good) now?
    fn is_ready(&self, who: Slot, op: Sync) -> bool {
        match op {
            Sync::TimedLock(m) => self.may_lock(who, m),
            Sync::SemWait(s, _) => self.objects.semaphores[usize::from(s)] > 0,
            Sync::Take(e) => self.objects.counters[usize::from(e)] > 0,
            Sync::Receive(p, _) => self.objects.pipes.get(&p).is_some_and(|p| !p.is_empty()),
            Sync::Read(l, _) => self.lock(l).writer.is_none_or(|w| w == who),
            Sync::Write(l, _) => {
                let lock = self.lock(l);
                lock.writer == Some(who) || lock.writer.is_none() && lock.readers.is_empty()
            }
            Sync::Once(o) => !matches!(self.objects.once.get(&o), Some(Some(_))),
            _ => true,
        }
    }

    pub fn sync_waits(&self, t: usize, op: Sync) -> bool {
        let patient = match op {
            Sync::SemWait(_, p) | Sync::Read(_, p) | Sync::Write(_, p) => p == Patience::Waits,
            Sync::Once(_) | Sync::Receive(..) | Sync::Take(_) => true,
            _ => false,
        };
        patient && !self.is_ready(self.threads[t].slot, op)
    }

    /// Whom a thread that has to wait waits for.
    pub fn sync_blocker(&self, t: usize, op: Sync) -> Option<Slot> {
        let me = self.threads[t].slot;
        match op {
            Sync::Read(l, _) | Sync::Write(l, _) => {
                let lock = self.lock(l);
                let own = lock.readers.iter().find(|r| r.0 == me);
                let reader = own.or(lock.readers.last()).map(|r| r.0);
                lock.writer.or(reader)
            }
            Sync::Once(o) => self.objects.once.get(&o).copied().flatten(),
            _ => None,
        }
    }

    /// The operation of thread `t`, which stands behind it already.
    pub fn sync(
        &mut self,
        t: usize,
        register: usize,
        op: Sync,
        choice: usize,
        rec: &mut Recorder,
        pc: u64,
    ) {
        let me = self.threads[t].slot;
        let ready = self.is_ready(me, op);
        let mut event = Event {
            aux: op.announced_aux(),
            object: op.object(),
            pc,
            ..record(op.kind(), me)
        };
        let mut choices = 1;
        let mut moved = None;
        match op {
            Sync::Wait(c, m, patience) => {
                let alone = choice == 1;
                if self.may_end_alone() {
                    choices = 2;
                }
                if self.code.program.spurious {
                    self.objects.waits.0 += 1;
                    self.objects.waits.1 += u32::from(alone);
                }
                if !alone {
                    self.objects.conditions.entry(c).or_default().push(me);
                }
                self.release(me, m);
                let timed = patience == Patience::Timed;
                event.aux = u32::from(timed);
                event.value = mutex(m);
                self.threads[t].status = Status::Half(Half::Wait {
                    register,
                    condition: c,
                    mutex: m,
                    timed,
                    woken: alone,
                    left: false,
                });
            }
            Sync::Signal(c) => {
                choices = self.objects.conditions.get(&c).map_or(0, Vec::len);
                event.value = slot::NONE.into();
                if choices > 0 {
                    event.value = self.wake(c, choice).into();
                }
            }
            Sync::Broadcast(c) => {
                while self
                    .objects
                    .conditions
                    .get(&c)
                    .is_some_and(|q| !q.is_empty())
                {
                    self.wake(c, 0);
                    event.value += 1;
                }
            }
            Sync::TimedLock(m) => {
                event.value = if ready { 0 } else { ETIMEDOUT };
                if ready {
                    self.acquire(me, m);
                }
            }
            Sync::SemWait(s, patience) => {
                let count = &mut self.objects.semaphores[usize::from(s)];
                match (ready, patience) {
                    (true, _) => *count -= 1,
                    (false, Patience::Tries) => event.value = EAGAIN,
                    (false, _) => event.value = ETIMEDOUT,
                }
                event.aux = u32::from(*count);
            }
            Sync::SemPost(s) => {
                let count = &mut self.objects.semaphores[usize::from(s)];
                *count += 1;
                event.aux = u32::from(*count);
            }
            Sync::SemValue(s) => event.value = self.objects.semaphores[usize::from(s)].into(),
            Sync::Read(_, patience) | Sync::Write(_, patience) => {
                event.value = self.enter(me, op, ready, patience);
            }
            Sync::RwUnlock(l) => {
                let lock = self.objects.locks.entry(l).or_default();
                if lock.writer == Some(me) {
                    lock.writer = None;
                } else if let Some(at) = lock.readers.iter().position(|r| r.0 == me) {
                    lock.readers[at].1 -= 1;
                    lock.readers.retain(|r| r.1 > 0);
                }
            }
            Sync::Barrier(b) => {
                let round = usize::from(self.code.program.barriers[usize::from(b)]);
                let arrived = self.objects.barriers.entry(b).or_default();
                arrived.push(me);
                let last = arrived.len() == round;
                event.value = last.into();
                self.threads[t].status = Status::Half(Half::Barrier {
                    register,
                    barrier: b,
                    last,
                    released: false,
                });
                if last {
                    self.complete_round(b);
                }
            }
            Sync::Once(o) => {
                let first = !self.objects.once.contains_key(&o);
                self.objects.once.entry(o).or_insert(Some(me));
                event.value = first.into();
            }
            Sync::OnceDone(o, true) => {
                self.objects.once.insert(o, None);
            }
            Sync::OnceDone(o, false) => {
                self.objects.once.remove(&o);
                event.value = 1;
            }
            Sync::Send(p, first, count) => {
                let bytes: Vec<u8> = (first..first + count).collect();
                self.objects.pipes.entry(p).or_default().extend(&bytes);
                event.value = count.into();
                moved = Some((count.into(), bytes));
            }
            Sync::Receive(p, most) => {
                let pipe = self.objects.pipes.entry(p).or_default();
                let count = pipe.len().min(most.into());
                let bytes: Vec<u8> = pipe.drain(..count).collect();
                event.value = count as u64;
                moved = Some((most.into(), bytes));
            }
            Sync::Add(e, by) => {
                self.objects.counters[usize::from(e)] += by;
                event.value = 8;
                moved = Some((8, u64::from(by).to_le_bytes().to_vec()));
            }
            Sync::Take(e) => {
                let count = std::mem::take(&mut self.objects.counters[usize::from(e)]);
                event.value = 8;
                moved = Some((8, u64::from(count).to_le_bytes().to_vec()));
            }
            Sync::Begin => {
                self.acquire(me, SECTION);
                rec.event(Event {
                    object: op.object(),
                    ..record(Kind::Section, me)
                });
            }
            Sync::End => self.release(me, SECTION),
        }
        rec.event(event);
        let mut shown = event.value;
        if let Some((asked, bytes)) = moved {
            Event::moved(me, asked, &bytes).for_each(|record| rec.event(record));
            if event.kind() == Some(Kind::DescriptorRead) {
                let word = bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
                shown = word | (bytes.len() as u64) << 24;
            }
        }
        if choices > 1 {
            let choice = Event {
                aux: choices as u32,
                value: choice as u64,
                ..record(Kind::Choice, me)
            };
            rec.event(choice);
        }
        if matches!(
            op,
            Sync::Wait(..) | Sync::Signal(_) | Sync::Broadcast(_) | Sync::Barrier(_)
        ) {
            return;
        }
        self.result(t, register, pc, shown);
    }

    fn result(&mut self, t: usize, register: usize, pc: u64, result: u64) {
        self.threads[t].path.push((pc, result));
        self.threads[t].regs[register] = Value::concrete(result as u16);
    }

    /// A read-write lock is asked for.
    fn enter(&mut self, me: Slot, op: Sync, ready: bool, patience: Patience) -> u64 {
        let (Sync::Read(l, _) | Sync::Write(l, _)) = op else {
            unreachable!("{op:?} takes no read-write lock")
        };
        let lock = self.objects.locks.entry(l).or_default();
        let own = lock.writer == Some(me);
        match patience {
            Patience::Tries if own || !ready => EBUSY,
            _ if own => EDEADLK,
            _ if !ready => ETIMEDOUT,
            _ if matches!(op, Sync::Write(..)) => {
                lock.writer = Some(me);
                0
            }
            _ => {
                match lock.readers.iter_mut().find(|r| r.0 == me) {
                    Some(reader) => reader.1 += 1,
                    None => lock.readers.push((me, 1)),
                }
                0
            }
        }
    }

    /// Wakes the n-th waiter.
    fn wake(&mut self, c: u8, n: usize) -> Slot {
        let who = self.objects.conditions.entry(c).or_default().remove(n);
        let t = self.index_of(who).expect("waiters exist");
        if let Status::Half(Half::Wait { woken, .. }) = &mut self.threads[t].status {
            *woken = true;
        }
        who
    }

    fn complete_round(&mut self, b: u8) {
        for who in self.objects.barriers.remove(&b).unwrap_or_default() {
            let t = self.index_of(who).expect("whoever arrived exists");
            if let Status::Half(Half::Barrier { released, .. }) = &mut self.threads[t].status {
                *released = true;
            }
        }
    }

    /// The second step of thread `t`, which stands behind the operation already.
    pub fn finish_half(&mut self, t: usize, half: Half, rec: &mut Recorder) {
        let me = self.threads[t].slot;
        // The operation is one instruction.
        let pc = self.pc(t) - 1;
        self.threads[t].status = Status::Running;
        match half {
            Half::Barrier {
                register,
                barrier: b,
                last,
                ..
            } => {
                let value = if last { SERIAL } else { 0 };
                rec.step(me, Kind::BarrierLeave, 0, 0, barrier(b), value, pc);
                self.result(t, register, pc, u64::from(last));
            }
            Half::Wait {
                register,
                condition: c,
                mutex,
                woken,
                left,
                ..
            } => {
                if !woken && !left {
                    let waiting = self.objects.conditions.entry(c).or_default();
                    waiting.retain(|w| *w != me);
                }
                let value = if woken { 0 } else { ETIMEDOUT };
                let object = condition(c);
                if self.may_lock(me, mutex) {
                    self.acquire(me, mutex);
                    rec.step(me, Kind::CondWake, 0, 0, object, value, pc);
                    self.result(t, register, pc, value);
                    return;
                }
                rec.step(me, Kind::CondLeave, 0, 0, object, value, pc);
                self.threads[t].path.push((pc, LEFT));
                self.threads[t].status = Status::Half(match half {
                    Half::Wait {
                        register,
                        condition,
                        mutex,
                        timed,
                        ..
                    } => Half::Wait {
                        register,
                        condition,
                        mutex,
                        timed,
                        woken: false,
                        left: true,
                    },
                    other => other,
                });
            }
        }
    }
}
