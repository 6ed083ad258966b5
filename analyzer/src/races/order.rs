//! Which events happen before which: the clocks of the threads, moved on by everything that
//! orders them.

use super::atomics::{Atomics, Strength};
use super::clock::Clock;
use crate::fast::FastMap;
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::descriptor::{self, What};
use raddle_protocol::event::{Event, Kind, handlers};

/// The clocks of an execution up to some event.
#[derive(Default)]
pub struct Order {
    threads: Vec<Thread>,
    /// By slot; [`UNKNOWN`] where there is none yet.
    numbers: Vec<u32>,
    /// What releases of an object hand on to its acquires.
    objects: FastMap<u64, Clock>,
    /// The same for releases by readers, which only writers take over.
    readers: FastMap<u64, Clock>,
    barriers: FastMap<u64, Barrier>,
    /// Who had a mutex last.
    owners: FastMap<u64, u32>,
    atomics: Atomics,
    announced: Option<Announced>,
    /// Locks order nothing: what is left holds whoever gets them first.
    without_locks: bool,
    /// Operations on descriptors order nothing.
    without_descriptors: bool,
}

/// No number.
const UNKNOWN: u32 = u32::MAX;

/// The C11 order of the atomic operation whose record comes next; `failed`: a compare-exchange
/// that wrote nothing.
#[derive(Clone, Copy)]
struct Announced {
    thread: Slot,
    order: u64,
    failed: bool,
}

/// What is known of a thread.
#[derive(Default)]
struct Thread {
    clock: Clock,
    /// What relaxed loads have found, for an acquire fence to take over.
    unfenced: Clock,
    /// The clock at the last release fence.
    fence: Option<Clock>,
    /// The mutex of the condition wait that it is in.
    mutex: u64,
    /// Rwlocks that it holds as a reader.
    reading: Vec<u64>,
    /// The round of each barrier that it has arrived in.
    rounds: FastMap<u64, usize>,
    /// It has ended with a robust mutex.
    died: bool,
}

/// Arrivals, one clock per round.
struct Barrier {
    rounds: Vec<Clock>,
}

/// How an access counts for races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    pub write: bool,
    pub atomic: bool,
}

impl Order {
    /// An order in which locks play no part.
    pub fn without_locks() -> Order {
        Order {
            without_locks: true,
            ..Order::default()
        }
    }

    /// An order in which descriptors play no part.
    pub fn without_descriptors() -> Order {
        Order {
            without_descriptors: true,
            ..Order::default()
        }
    }

    /// Any record, where nobody asks how accesses count.
    pub fn take_in(&mut self, kind: Kind, event: &Event) {
        use Kind::*;
        match kind {
            Kind::Order => self.announce(event),
            Read | Write | AtomicRead | AtomicWrite | Rmw | ReadRange | WriteRange => {
                let me = self.number(event.thread);
                self.access(kind, me, event);
                self.accessed(kind, me);
            }
            Malloc | Mapped => self.renewed(event.object, event.object.saturating_add(event.value)),
            _ => self.step(kind, event),
        }
    }

    /// The number of a thread in the clocks.
    #[inline]
    pub fn number(&mut self, thread: Slot) -> u32 {
        let slot = usize::from(thread);
        if slot >= self.numbers.len() {
            self.numbers.resize(slot + 1, UNKNOWN);
        }
        if self.numbers[slot] != UNKNOWN {
            return self.numbers[slot];
        }
        let number = self.threads.len() as u32;
        let mut fresh = Thread::default();
        fresh.clock.set(number, 1);
        self.threads.push(fresh);
        self.numbers[slot] = number;
        number
    }

    /// The clock of a thread.
    pub fn clock(&self, number: u32) -> &Clock {
        &self.threads[number as usize].clock
    }

    /// A record about the one that comes next.
    pub fn announce(&mut self, record: &Event) {
        self.announced = Some(Announced {
            thread: record.thread,
            order: record.value,
            failed: record.aux != 0,
        });
    }

    /// An access by `me`, before it is looked at for races: what it acquires. How it counts.
    pub fn access(&mut self, kind: Kind, me: u32, event: &Event) -> Manner {
        let announced = self.announced.take();
        let announced = announced.filter(|a| a.thread == event.thread);
        let (order, failed) = announced.map_or((5, false), |a| (a.order, a.failed));
        let strength = Strength::of(order);
        let manner = |write, atomic| Manner { write, atomic };
        match kind {
            Kind::AtomicRead => {
                let explained = self.atomics.explains(event.object, event.size, event.value);
                self.load(me, event.object, strength, explained);
                manner(false, true)
            }
            Kind::Rmw if failed => {
                let explained = self.atomics.explains(event.object, event.size, event.value);
                self.load(me, event.object, strength, explained);
                manner(false, true)
            }
            Kind::Rmw => {
                self.load(me, event.object, strength, true);
                let released = self.released(me, strength);
                self.atomics.update(event.object, me, released.as_ref());
                self.atomics.holds(event.object, event.size, event.value);
                manner(true, true)
            }
            Kind::AtomicWrite => {
                let released = self.released(me, strength);
                self.atomics.store(event.object, me, released.as_ref());
                self.atomics.holds(event.object, event.size, event.value);
                manner(true, true)
            }
            Kind::Write => {
                let end = event.object.saturating_add(u64::from(event.size));
                self.atomics.plain_write(event.object, end);
                self.atomics.changes(event.object, event.size, event.value);
                manner(true, false)
            }
            Kind::WriteRange => {
                let end = event.object.saturating_add(event.value);
                self.atomics.forget(event.object, end);
                manner(true, false)
            }
            _ => manner(false, false),
        }
    }

    /// An access, after it was looked at: a release begins a new time.
    pub fn accessed(&mut self, kind: Kind, me: u32) {
        if matches!(kind, Kind::AtomicWrite | Kind::Rmw) {
            self.tick(me);
        }
    }

    /// The memory belongs to a new block.
    pub fn renewed(&mut self, from: u64, to: u64) {
        self.atomics.forget(from, to);
    }

    fn load(&mut self, me: u32, object: u64, strength: Strength, explained: bool) {
        let mut found = Clock::default();
        for clock in self.atomics.handed_on(object) {
            found.join(clock);
        }
        if !explained {
            // Code that is not instrumented wrote this, whoever ran it: no order is ruled out, for
            // whoever reads it from now on.
            self.all(&mut found);
            self.atomics.store(object, UNKNOWN, Some(&found));
        }
        let thread = &mut self.threads[me as usize];
        match strength.acquires {
            true => thread.clock.join(&found),
            false => thread.unfenced.join(&found),
        }
    }

    /// All that any thread has done so far.
    fn all(&mut self, into: &mut Clock) {
        for other in 0..self.threads.len() {
            stop::point();
            into.join(&self.threads[other].clock);
            self.tick(other as u32);
        }
    }

    fn acquire_all(&mut self, me: u32) {
        let mut all = Clock::default();
        self.all(&mut all);
        self.threads[me as usize].clock.join(&all);
    }

    /// What an atomic write of this strength hands on.
    fn released(&self, me: u32, strength: Strength) -> Option<Clock> {
        let thread = &self.threads[me as usize];
        match strength.releases {
            true => Some(thread.clock.clone()),
            false => thread.fence.clone(),
        }
    }

    fn tick(&mut self, me: u32) {
        let clock = &mut self.threads[me as usize].clock;
        clock.set(me, clock.of(me) + 1);
    }

    fn acquire(&mut self, me: u32, object: u64) {
        if let Some(clock) = self.objects.get(&object) {
            self.threads[me as usize].clock.join(clock);
        }
    }

    fn release(&mut self, me: u32, object: u64) {
        let clock = &self.threads[me as usize].clock;
        self.objects.entry(object).or_default().join(clock);
        self.tick(me);
    }

    /// What `me` has done happens before all that `other` does from now on.
    fn hand_over(&mut self, me: u32, other: u32) {
        let clock = self.threads[me as usize].clock.clone();
        self.threads[other as usize].clock.join(&clock);
        self.tick(me);
    }

    /// Any step that is no access of memory.
    #[expect(
        clippy::collapsible_match,
        reason = "with a guard, what does not hold would come to the arms below"
    )]
    pub fn step(&mut self, kind: Kind, event: &Event) {
        let me = self.number(event.thread);
        let object = event.object;
        if self.without_locks && is_lock(kind) {
            return;
        }
        match kind {
            Kind::ThreadCreate | Kind::ThreadCancel => self.thread(kind, me, event),
            kind if kind.joins() => self.thread(kind, me, event),
            Kind::SignalSend => self.signal(me, (event.value >> 8) as Slot),
            // Who is told of it, by a signal or at a descriptor, is not in the record.
            Kind::TimerExpire => {
                self.acquire(me, object);
                self.signal(me, raddle_protocol::slot::NONE);
            }
            Kind::Fence | Kind::Fenced => self.fence(me, event),
            Kind::CondWait => {
                self.threads[me as usize].mutex = event.value;
                self.release(me, event.value);
            }
            Kind::CondWake => {
                let mutex = self.threads[me as usize].mutex;
                // Woken or not, the wait may end with a mutex whose owner died.
                self.inherit(me, mutex);
                self.acquire(me, mutex);
                self.owners.insert(mutex, me);
            }
            Kind::RwRead | Kind::RwTryRead | Kind::RwWrite | Kind::RwTryWrite | Kind::RwUnlock => {
                self.rwlock(kind, me, event);
            }
            Kind::BarrierArrive | Kind::BarrierLeave => self.barrier(kind, me, event),
            Kind::MutexUnlock | Kind::SpinUnlock if event.value == 0 => self.release(me, object),
            Kind::SemPost if event.value == 0 => self.release(me, object),
            Kind::OnceDone => self.once_done(me, event),
            Kind::Release | Kind::HandedOn => self.release(me, object),
            Kind::MutexLock
            | Kind::MutexTryLock
            | Kind::MutexTimedLock
            | Kind::SpinLock
            | Kind::SpinTryLock
            | Kind::SemWait
            | Kind::SemTryWait
            | Kind::SemTimedWait => {
                if event.value == OWNER_DEAD {
                    self.inherit(me, object);
                }
                if acquired(event.value) {
                    self.acquire(me, object);
                    self.owners.insert(object, me);
                }
            }
            Kind::OnceEnter | Kind::Acquire | Kind::TakenOver => self.acquire(me, object),
            // Who sent the signal has handed on what the handler sees.
            Kind::SignalHandler => self.acquire(me, handlers::signal(event.value)),
            // The word has changed, and nobody was seen to change it.
            Kind::FutexWait if event.value != 0 => self.acquire_all(me),
            // The kernel has looked at the word, as an atomic read does.
            Kind::FutexWait | Kind::FutexLock | Kind::FutexTryLock if event.value == 0 => {
                self.load(me, object, Strength::of(5), true);
                self.acquire(me, object);
                self.release(me, object);
            }
            // A signal of a condition orders nothing by itself; the mutex does.
            Kind::CondSignal | Kind::CondBroadcast | Kind::CondLeave => {}
            Kind::MutexUnlock | Kind::SpinUnlock | Kind::SemPost => {}
            Kind::MutexInit | Kind::MutexDestroy | Kind::CondDestroy | Kind::RwDestroy => {}
            Kind::RwQueue | Kind::SpinDestroy => {}
            Kind::BarrierDestroy | Kind::SemDestroy | Kind::SemGetValue => {}
            Kind::ThreadExit if event.aux != 0 => self.threads[me as usize].died = true,
            Kind::ThreadStart | Kind::ThreadExit | Kind::ThreadLeave | Kind::ThreadDetach => {}
            Kind::Ask | Kind::Yield | Kind::Sleep | Kind::Return | Kind::ProcessEnd => {}
            Kind::Cancelled | Kind::CancellationPoint => {}
            Kind::ExitNext | Kind::AtExit => {
                self.acquire(me, object);
                self.release(me, object);
            }
            // They are no descriptors; an attempt in vain tells nobody anything.
            kind if kind.is_step() && is_system_v(object) => {
                if event.value as i64 >= 0 {
                    self.acquire(me, object);
                    self.release(me, object);
                }
            }
            // What one changes others see at other descriptors (the other end of a connection, a
            // poll of several), which the trace does not connect: all are ordered.
            kind if kind.is_descriptor() && !matches!(kind, Kind::FileLock | Kind::FileUnlock) => {
                if kind.is_step() && !self.without_descriptors {
                    self.acquire(me, descriptor::BASE);
                    self.release(me, descriptor::BASE);
                }
            }
            // Futexes, whose atomics may lie in code that is not instrumented, and whatever else
            // threads do to each other through one object: no order is ruled out.
            _ if kind.is_step() && object != 0 => {
                self.acquire(me, object);
                self.release(me, object);
            }
            _ => {}
        }
    }

    /// The routine of a once control, or the initialisation of a static variable, has returned: code
    /// that the compiler or a library inlines only looks whether the object says so.
    fn once_done(&mut self, me: u32, event: &Event) {
        self.release(me, event.object);
        if event.value == 0 {
            let released = self.released(me, Strength::of(3));
            self.atomics.store(event.object, me, released.as_ref());
            let (size, content) = match event.size {
                Event::GUARD | Event::FOLLOWED_GUARD => (1, 1),
                _ => (4, 2),
            };
            self.atomics.holds(event.object, size, content);
            self.tick(me);
        }
    }

    /// `me` gets a mutex after an owner that ended with it: all that one did comes before.
    fn inherit(&mut self, me: u32, mutex: u64) {
        let Some(&owner) = self.owners.get(&mutex) else {
            return;
        };
        if self.threads[owner as usize].died {
            let clock = self.threads[owner as usize].clock.clone();
            self.threads[me as usize].clock.join(&clock);
        }
    }

    fn thread(&mut self, kind: Kind, me: u32, event: &Event) {
        let other = event.value as Slot;
        if other == raddle_protocol::slot::NONE {
            return;
        }
        let other = self.number(other);
        match kind {
            Kind::ThreadCreate => {
                self.hand_over(me, other);
                // A slot that is used again: its former thread comes before this one.
                self.tick(other);
                self.threads[other as usize].died = false;
            }
            kind if kind.joins() && event.aux == 0 => self.hand_over(other, me),
            // The target acts on the request.
            Kind::ThreadCancel => self.hand_over(me, other),
            _ => {}
        }
    }

    /// A handler may run in the target at any time from now on; which thread takes a signal to the
    /// process is not known.
    fn signal(&mut self, me: u32, target: Slot) {
        if target != raddle_protocol::slot::NONE {
            let other = self.number(target);
            return self.hand_over(me, other);
        }
        for other in 0..self.threads.len() as u32 {
            self.hand_over(me, other);
        }
    }

    /// Value 6 is inline assembly, which may be any lock: all such places are taken for one.
    fn fence(&mut self, me: u32, event: &Event) {
        const ASSEMBLY: u64 = u64::MAX;
        let strength = Strength::of(event.value);
        let thread = &mut self.threads[me as usize];
        if strength.acquires {
            let unfenced = std::mem::take(&mut thread.unfenced);
            thread.clock.join(&unfenced);
        }
        if event.value == Event::ASSEMBLY {
            self.acquire(me, ASSEMBLY);
            self.release(me, ASSEMBLY);
        }
        if strength.releases {
            let thread = &mut self.threads[me as usize];
            thread.fence = Some(thread.clock.clone());
            self.tick(me);
        }
    }

    fn rwlock(&mut self, kind: Kind, me: u32, event: &Event) {
        let object = event.object;
        let reading = &mut self.threads[me as usize].reading;
        match kind {
            Kind::RwUnlock => match reading.iter().position(|&lock| lock == object) {
                Some(at) => {
                    reading.swap_remove(at);
                    let clock = &self.threads[me as usize].clock;
                    self.readers.entry(object).or_default().join(clock);
                    self.tick(me);
                }
                None => self.release(me, object),
            },
            _ if !acquired(event.value) => {}
            Kind::RwRead | Kind::RwTryRead => {
                reading.push(object);
                self.acquire(me, object);
            }
            _ => {
                self.acquire(me, object);
                if let Some(clock) = self.readers.get(&object) {
                    self.threads[me as usize].clock.join(clock);
                }
            }
        }
    }

    fn barrier(&mut self, kind: Kind, me: u32, event: &Event) {
        let barrier = self.barriers.entry(event.object).or_insert(Barrier {
            rounds: vec![Clock::default()],
        });
        let thread = &mut self.threads[me as usize];
        if kind == Kind::BarrierLeave {
            let round = thread.rounds.remove(&event.object);
            if let Some(clock) = round.and_then(|r| barrier.rounds.get(r)) {
                thread.clock.join(clock);
            }
            return;
        }
        let round = barrier.rounds.len() - 1;
        barrier.rounds[round].join(&thread.clock);
        thread.rounds.insert(event.object, round);
        if event.value != 0 {
            barrier.rounds.push(Clock::default());
        }
        self.tick(me);
    }
}

/// Is it a queue or a set of semaphores of System V?
fn is_system_v(object: u64) -> bool {
    matches!(
        descriptor::what_of(object),
        Some(What::Messages | What::Semaphores)
    )
}

/// Operations of locks, condition waits among them.
fn is_lock(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        MutexLock
            | MutexTryLock
            | MutexTimedLock
            | MutexUnlock
            | CondWait
            | CondWake
            | RwRead
            | RwWrite
            | RwTryRead
            | RwTryWrite
            | RwUnlock
            | SpinLock
            | SpinTryLock
            | SpinUnlock
    )
}

/// Does this result of a lock or wait mean that it was had? An owner that died (EOWNERDEAD) leaves
/// the lock to whoever comes next.
pub(crate) fn acquired(result: u64) -> bool {
    result == 0 || result == OWNER_DEAD
}

/// EOWNERDEAD.
const OWNER_DEAD: u64 = 130;
