//! Races: the vector clocks against the definitions. The oracle writes down every edge of
//! happens-before that the definitions name, closes them transitively, and looks at every pair of
//! accesses; the traces are random, but such as a program could leave.

use crate::random::Dice;
use raddle_analyzer::races;
use raddle_protocol::event::{Event, Kind};
use std::collections::{BTreeMap, BTreeSet};

const RELAXED: u64 = 0;
const ACQUIRE: u64 = 2;
const RELEASE: u64 = 3;
const ACQ_REL: u64 = 4;
const SEQ_CST: u64 = 5;

fn event(thread: u16, kind: Kind, object: u64, value: u64) -> Event {
    Event {
        kind: kind as u8,
        thread,
        object,
        value,
        ..Event::default()
    }
}

/// Writes a trace step by step, as a scheduler would.
struct Recorder {
    dice: Dice,
    events: Vec<Event>,
    /// Threads: alive, ended, joined.
    alive: Vec<u16>,
    ended: Vec<u16>,
    threads: u16,
    /// Last value of each atomic object.
    values: BTreeMap<u64, u64>,
    mutexes: [Option<u16>; 2],
    writer: Option<u16>,
    readers: Vec<u16>,
    semaphore: u32,
    /// Arrived at the barrier of two; released from it.
    arrived: Option<u16>,
    leaving: Vec<u16>,
    waiting: BTreeMap<u16, usize>,
    once: Option<u16>,
    once_done: bool,
    blocks: Vec<u64>,
    clock: u64,
}

impl Recorder {
    fn new(seed: u64) -> Recorder {
        Recorder {
            dice: Dice::new(seed),
            events: Vec::new(),
            alive: vec![0],
            ended: Vec::new(),
            threads: 1,
            values: BTreeMap::new(),
            mutexes: [None; 2],
            writer: None,
            readers: Vec::new(),
            semaphore: 0,
            arrived: None,
            leaving: Vec::new(),
            waiting: BTreeMap::new(),
            once: None,
            once_done: false,
            blocks: Vec::new(),
            clock: 0,
        }
    }

    fn log(&mut self, thread: u16, kind: Kind, object: u64, value: u64) {
        self.events.push(event(thread, kind, object, value));
    }

    fn access(&mut self, thread: u16, kind: Kind, object: u64, size: u8, value: u64) {
        self.events.push(Event {
            size,
            ..event(thread, kind, object, value)
        });
    }

    fn order(&mut self, thread: u16, order: u64, failed: bool) {
        if order < SEQ_CST || failed {
            self.events.push(Event {
                aux: u32::from(failed),
                ..event(thread, Kind::Order, 0, order)
            });
        }
    }

    /// One step of some thread that can take one.
    fn step(&mut self) {
        let thread = self.alive[self.dice.roll(self.alive.len())];
        if self.arrived == Some(thread) || self.waits(thread) {
            return;
        }
        match self.dice.roll(16) {
            0..=3 => self.plain(thread),
            4..=7 => self.atomic(thread),
            8 => self.fence(thread),
            9 => self.mutex(thread),
            10 => self.rwlock(thread),
            11 => self.semaphore(thread),
            12 => self.rendezvous(thread),
            13 => self.memory(thread),
            14 => self.life(thread),
            _ => self.odds(thread),
        }
    }

    /// A thread in a condition wait comes back when its mutex is free.
    fn waits(&mut self, thread: u16) -> bool {
        if let Some(at) = self.leaving.iter().position(|&t| t == thread) {
            self.leaving.remove(at);
            self.log(thread, Kind::BarrierLeave, 500, 0);
            return true;
        }
        let Some(&mutex) = self.waiting.get(&thread) else {
            return false;
        };
        if self.mutexes[mutex].is_none() {
            self.mutexes[mutex] = Some(thread);
            self.waiting.remove(&thread);
            self.log(thread, Kind::CondWake, 700, 0);
        }
        true
    }

    fn plain(&mut self, thread: u16) {
        let size = [1, 2, 4, 8][self.dice.roll(4)];
        let object = 64 + self.dice.roll(12) as u64;
        match self.dice.roll(6) {
            0 => self.log(thread, Kind::ReadRange, object, 5),
            1 => self.log(thread, Kind::WriteRange, object, 11),
            2 | 3 => self.access(thread, Kind::Write, object, size, 0),
            _ => self.access(thread, Kind::Read, object, size, 0),
        }
    }

    fn atomic(&mut self, thread: u16) {
        let object = 128 + 8 * self.dice.roll(3) as u64;
        let old = self.values.get(&object).copied().unwrap_or(0);
        self.clock += 1;
        let new = self.clock;
        match self.dice.roll(9) {
            0..=2 => {
                let order = [RELAXED, ACQUIRE, SEQ_CST][self.dice.roll(3)];
                self.order(thread, order, false);
                self.access(thread, Kind::AtomicRead, object, 8, old);
            }
            3..=5 => {
                let order = [RELAXED, RELEASE, SEQ_CST][self.dice.roll(3)];
                self.order(thread, order, false);
                self.access(thread, Kind::AtomicWrite, object, 8, new);
                self.values.insert(object, new);
            }
            6 => {
                let order = [RELAXED, ACQUIRE][self.dice.roll(2)];
                self.order(thread, order, true);
                self.access(thread, Kind::Rmw, object, 8, old);
            }
            7 => {
                let order = [RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST][self.dice.roll(5)];
                self.order(thread, order, false);
                self.access(thread, Kind::Rmw, object, 8, new);
                self.values.insert(object, new);
            }
            // Not atomic, now and then.
            _ => {
                self.access(thread, Kind::Write, object, 8, new);
                self.values.insert(object, new);
            }
        }
    }

    fn fence(&mut self, thread: u16) {
        let orders = [ACQUIRE, RELEASE, ACQ_REL, SEQ_CST, Event::ASSEMBLY];
        let order = orders[self.dice.roll(5)];
        self.log(thread, Kind::Fence, 0, order);
    }

    fn mutex(&mut self, thread: u16) {
        let n = self.dice.roll(2);
        let object = 300 + n as u64;
        match self.mutexes[n] {
            None => {
                self.mutexes[n] = Some(thread);
                let kinds = [Kind::MutexLock, Kind::MutexTryLock, Kind::MutexTimedLock];
                let kind = kinds[self.dice.roll(3)];
                let died = 130 * u64::from(self.dice.roll(8) == 0);
                self.log(thread, kind, object, died);
            }
            Some(owner) if owner == thread => {
                self.mutexes[n] = None;
                if self.dice.roll(3) == 0 {
                    self.waiting.insert(thread, n);
                    self.log(thread, Kind::CondWait, 700, object);
                } else {
                    self.log(thread, Kind::MutexUnlock, object, 0);
                }
            }
            Some(_) => self.log(thread, Kind::MutexTryLock, object, 16),
        }
    }

    fn rwlock(&mut self, thread: u16) {
        if self.writer == Some(thread) {
            self.writer = None;
            return self.log(thread, Kind::RwUnlock, 400, 0);
        }
        if let Some(at) = self.readers.iter().position(|&r| r == thread) {
            self.readers.remove(at);
            return self.log(thread, Kind::RwUnlock, 400, 0);
        }
        if self.writer.is_some() {
            return self.log(thread, Kind::RwTryRead, 400, 16);
        }
        if self.readers.is_empty() && self.dice.roll(2) == 0 {
            self.writer = Some(thread);
            return self.log(thread, Kind::RwWrite, 400, 0);
        }
        self.readers.push(thread);
        self.log(thread, Kind::RwRead, 400, 0);
    }

    fn semaphore(&mut self, thread: u16) {
        if self.semaphore == 0 || self.dice.roll(2) == 0 {
            self.semaphore += 1;
            return self.log(thread, Kind::SemPost, 450, 0);
        }
        self.semaphore -= 1;
        self.log(thread, Kind::SemWait, 450, 0);
    }

    fn rendezvous(&mut self, thread: u16) {
        match self.arrived.take() {
            None => {
                self.arrived = Some(thread);
                self.log(thread, Kind::BarrierArrive, 500, 0);
            }
            Some(first) => {
                self.leaving.extend([first, thread]);
                self.log(thread, Kind::BarrierArrive, 500, 1);
            }
        }
    }

    fn memory(&mut self, thread: u16) {
        let free = self.dice.roll(2) == 0 && !self.blocks.is_empty();
        if free {
            let at = self.dice.roll(self.blocks.len());
            let block = self.blocks.remove(at);
            return self.log(thread, Kind::Free, block, 16);
        }
        let block = 64 + 16 * self.dice.roll(2) as u64;
        if !self.blocks.contains(&block) {
            self.blocks.push(block);
            self.log(thread, Kind::Malloc, block, 16);
        }
    }

    fn life(&mut self, thread: u16) {
        if self.threads < 4 {
            let child = self.threads;
            self.threads += 1;
            self.alive.push(child);
            return self.log(thread, Kind::ThreadCreate, 0, u64::from(child));
        }
        if let Some(target) = self.ended.pop() {
            return self.log(thread, Kind::ThreadJoin, 0, u64::from(target));
        }
        let free = !self.mutexes.contains(&Some(thread)) && self.once != Some(thread);
        if thread != 0 && free && self.writer != Some(thread) && !self.readers.contains(&thread) {
            self.alive.retain(|&t| t != thread);
            self.ended.push(thread);
            self.log(thread, Kind::ThreadExit, 0, 0);
        }
    }

    fn odds(&mut self, thread: u16) {
        match self.dice.roll(4) {
            0 => self.log(thread, Kind::Yield, 0, 0),
            1 => self.log(thread, Kind::FutexWake, 900, 0),
            _ if self.once == Some(thread) => {
                self.once = None;
                self.once_done = true;
                self.log(thread, Kind::OnceDone, 800, 0);
            }
            _ if self.once.is_none() => {
                let runs = !self.once_done;
                if runs {
                    self.once = Some(thread);
                }
                self.log(thread, Kind::OnceEnter, 800, u64::from(runs));
            }
            _ => self.log(thread, Kind::CondSignal, 700, 0xffff),
        }
    }
}

/// An event with what the record before it says of its order.
#[derive(Clone, Copy)]
struct Told {
    event: Event,
    kind: Kind,
    order: u64,
    failed: bool,
}

impl Told {
    fn is(&self, kinds: &[Kind]) -> bool {
        kinds.contains(&self.kind)
    }

    fn acquires(&self) -> bool {
        [ACQUIRE, ACQ_REL, SEQ_CST].contains(&self.order)
    }

    fn releases(&self) -> bool {
        [RELEASE, ACQ_REL, SEQ_CST].contains(&self.order)
    }

    fn reads_atomically(&self) -> bool {
        self.is(&[Kind::AtomicRead, Kind::Rmw])
    }

    fn writes_atomically(&self) -> bool {
        self.is(&[Kind::AtomicWrite, Kind::Rmw]) && !self.failed
    }

    fn writes(&self) -> bool {
        let plain = [Kind::Write, Kind::WriteRange, Kind::Malloc, Kind::Free];
        self.is(&plain) || self.writes_atomically()
    }

    fn is_atomic(&self) -> bool {
        self.reads_atomically() || self.writes_atomically()
    }

    /// The bytes that it accesses.
    fn bytes(&self) -> std::ops::Range<u64> {
        let len = match self.kind {
            Kind::Read | Kind::Write | Kind::AtomicRead | Kind::AtomicWrite | Kind::Rmw => {
                u64::from(self.event.size)
            }
            Kind::ReadRange | Kind::WriteRange | Kind::Malloc | Kind::Free => self.event.value,
            _ => 0,
        };
        self.event.object..self.event.object + len
    }
}

fn told(events: &[Event]) -> Vec<Told> {
    let mut order = (SEQ_CST, false);
    let mut all = Vec::new();
    for &event in events {
        let kind = event.kind().unwrap();
        let mut told = Told {
            event,
            kind,
            order: SEQ_CST,
            failed: false,
        };
        if kind == Kind::Fence {
            told.order = event.value.min(SEQ_CST);
        } else if told.is_atomic() {
            (told.order, told.failed) = std::mem::replace(&mut order, (SEQ_CST, false));
        } else if kind == Kind::Order {
            order = (event.value, event.aux != 0);
        }
        all.push(told);
    }
    all
}

/// Does the value that `j` reads belong to the release sequence (real or hypothetical) that the
/// write `x` heads?
fn in_sequence(all: &[Told], x: usize, j: usize) -> bool {
    let object = all[j].event.object;
    let touches = |k: usize| all[k].writes() && all[k].bytes().contains(&object);
    (x + 1..j).filter(|&k| touches(k)).all(|k| {
        let plain = !all[k].is_atomic();
        !plain && (all[k].kind == Kind::Rmw || all[k].event.thread == all[x].event.thread)
    })
}

/// Is there an edge from `i` to the later `j` by the definitions?
fn edge(all: &[Told], i: usize, j: usize) -> bool {
    let (a, b) = (&all[i], &all[j]);
    if a.event.thread == b.event.thread {
        return true;
    }
    let same = a.event.object == b.event.object;
    let got = [0, 130].contains(&b.event.value);
    match (a.kind, b.kind) {
        (Kind::ThreadCreate, _) if a.event.value == u64::from(b.event.thread) => true,
        (_, Kind::ThreadJoin) if b.event.value == u64::from(a.event.thread) => true,
        (Kind::MutexUnlock, Kind::MutexLock | Kind::MutexTryLock | Kind::MutexTimedLock) => {
            same && got
        }
        (Kind::CondWait, Kind::MutexLock | Kind::MutexTryLock | Kind::MutexTimedLock) => {
            a.event.value == b.event.object && got
        }
        (Kind::MutexUnlock | Kind::CondWait, Kind::CondWake) => {
            let own = |k: &usize| {
                all[*k].kind == Kind::CondWait && all[*k].event.thread == b.event.thread
            };
            let wait = (0..j).rev().find(own).expect("a wake has its wait");
            let released = match a.kind {
                Kind::CondWait => a.event.value,
                _ => a.event.object,
            };
            released == all[wait].event.value
        }
        (Kind::RwUnlock, Kind::RwWrite) => true,
        (Kind::RwUnlock, Kind::RwRead) => {
            let own = |k: &usize| {
                let takes = all[*k].is(&[Kind::RwRead, Kind::RwWrite]);
                takes && all[*k].event.thread == a.event.thread
            };
            let taken = (0..i).rev().find(own).expect("it was taken");
            all[taken].kind == Kind::RwWrite
        }
        (Kind::SemPost, Kind::SemWait) => true,
        (Kind::BarrierArrive, Kind::BarrierLeave) => {
            // The round of the leaving thread began at its own last arrival or one before it.
            let round = |upto: usize| {
                let full = (0..upto)
                    .filter(|&k| all[k].kind == Kind::BarrierArrive && all[k].event.value == 1);
                full.count()
            };
            let own = |k: &usize| {
                all[*k].kind == Kind::BarrierArrive && all[*k].event.thread == b.event.thread
            };
            let arrival = (0..j).rev().find(own).expect("who leaves has arrived");
            round(i) == round(arrival)
        }
        (Kind::OnceDone, Kind::OnceEnter) => true,
        (Kind::FutexWake, Kind::FutexWake) => true,
        (Kind::Fence, Kind::Fence)
            if a.event.value == Event::ASSEMBLY && b.event.value == Event::ASSEMBLY =>
        {
            true
        }
        _ => synchronises(all, i, j),
    }
}

/// Release operations and fences with acquire operations and fences (C11, 5.1.2.4 and 7.17.4).
fn synchronises(all: &[Told], i: usize, j: usize) -> bool {
    let of = |n: usize| all[n].event.thread;
    // The writes by which `i` releases, the reads by which `j` acquires.
    let writes: Vec<usize> = match all[i].kind {
        Kind::Fence if all[i].releases() => (i + 1..j)
            .filter(|&x| of(x) == of(i) && all[x].writes_atomically())
            .collect(),
        _ if all[i].writes_atomically() && all[i].releases() => vec![i],
        _ => return false,
    };
    let reads: Vec<usize> = match all[j].kind {
        Kind::Fence if all[j].acquires() => (i + 1..j)
            .filter(|&r| of(r) == of(j) && all[r].reads_atomically())
            .collect(),
        _ if all[j].reads_atomically() && all[j].acquires() => vec![j],
        _ => return false,
    };
    writes.iter().any(|&x| {
        reads
            .iter()
            .any(|&r| x < r && all[x].event.object == all[r].event.object && in_sequence(all, x, r))
    })
}

/// All pairs of racing accesses.
fn oracle(events: &[Event]) -> BTreeSet<(usize, usize)> {
    let all = told(events);
    let n = all.len();
    let mut before = vec![vec![false; n]; n];
    for j in 0..n {
        for i in (0..j).rev() {
            if before[j][i] || edge(&all, i, j) {
                before[j][i] = true;
                let (earlier, later) = before.split_at_mut(j);
                for (mine, theirs) in later[0].iter_mut().zip(&earlier[i]) {
                    *mine |= *theirs;
                }
            }
        }
    }
    let mut races = BTreeSet::new();
    for j in 0..n {
        for i in 0..j {
            let (a, b) = (&all[i], &all[j]);
            let conflict = (a.writes() || b.writes()) && !(a.is_atomic() && b.is_atomic());
            let renewed = |byte: &u64| {
                let mallocs = (i + 1..=j).filter(|&k| all[k].kind == Kind::Malloc);
                mallocs.into_iter().any(|k| all[k].bytes().contains(byte))
            };
            let meet = a
                .bytes()
                .any(|byte| b.bytes().contains(&byte) && !renewed(&byte));
            let seen = [a, b]
                .iter()
                .any(|one| !one.is(&[Kind::Malloc, Kind::Free]));
            if conflict && seen && meet && a.event.thread != b.event.thread && !before[j][i] {
                races.insert((i, j));
            }
        }
    }
    races
}

/// One line per event.
fn listed(events: &[Event]) -> String {
    let line = |(i, e): (usize, &Event)| {
        let (kind, size) = (e.kind().map_or("?", Kind::text), e.size);
        let (object, value, aux) = (e.object, e.value, e.aux);
        format!(
            "{i}: T{} {kind} {object} size {size} value {value} aux {aux}\n",
            e.thread
        )
    };
    events.iter().enumerate().map(line).collect()
}

#[test]
fn random_traces_against_the_definitions() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..6000 {
        let mut recorder = Recorder::new(seed);
        let length = 10 + recorder.dice.roll(70);
        for _ in 0..length {
            recorder.step();
        }
        let events = recorder.events;
        let expected = oracle(&events);
        let mut found = BTreeSet::new();
        races::each(&events, |race| {
            found.insert((race.first.event, race.second.event));
        });
        for pair in &found {
            assert!(
                expected.contains(pair),
                "seed {seed}: {pair:?} is no race\n{}",
                listed(&events)
            );
        }
        let second = |pairs: &BTreeSet<(usize, usize)>| -> BTreeSet<usize> {
            pairs.iter().map(|pair| pair.1).collect()
        };
        assert_eq!(
            second(&found),
            second(&expected),
            "seed {seed}\n{}",
            listed(&events)
        );
        match found.is_empty() {
            true => without += 1,
            false => with += 1,
        }
    }
    assert!(
        with > 1000 && without > 100,
        "{with} with, {without} without"
    );
}

/// Whatever the records say, the detector ends.
#[test]
fn arbitrary_records_do_no_harm() {
    for seed in 0..3000 {
        let mut dice = Dice::new(seed);
        let events: Vec<Event> = (0..dice.roll(60))
            .map(|_| {
                let wild = dice.roll(8) == 0;
                let word = |dice: &mut Dice, small: usize| match wild {
                    true => (dice.roll(usize::MAX) as u64) << dice.roll(32),
                    false => dice.roll(small) as u64,
                };
                Event {
                    kind: Kind::ALL[dice.roll(Kind::ALL.len())] as u8,
                    size: dice.roll(if wild { 256 } else { 9 }) as u8,
                    thread: word(&mut dice, 4) as u16,
                    aux: word(&mut dice, 3) as u32,
                    object: word(&mut dice, 40),
                    value: word(&mut dice, 24),
                    pc: dice.roll(5) as u64,
                }
            })
            .collect();
        races::distinct(&events);
    }
}

/// Where its name is written a thread is ordered behind that, and nobody else is.
#[test]
fn who_makes_a_thread_writes_its_name() {
    let create = |object, child| event(0, Kind::ThreadCreate, object, child);
    let read = |thread, object| Event {
        size: 8,
        ..event(thread, Kind::Read, object, 0)
    };
    for (reader, object, races) in [(1, 64, 1), (2, 64, 0), (1, 72, 0), (1, 60, 1)] {
        let events = [create(0, 1), create(64, 2), read(reader, object)];
        assert_eq!(races::distinct(&events).len(), races, "{reader} {object}");
    }
}

/// A value that nobody was seen to write: what was done before is taken to be ordered.
#[test]
fn values_from_code_that_is_not_seen_order_everything() {
    let create = event(0, Kind::ThreadCreate, 0, 1);
    let access = |thread, kind, object, value| Event {
        size: 8,
        ..event(thread, kind, object, value)
    };
    for (value, races) in [(0, 1), (1, 0)] {
        let events = [
            create,
            access(1, Kind::AtomicRead, 8, 0),
            access(0, Kind::Write, 64, 7),
            access(1, Kind::AtomicRead, 8, value),
            access(1, Kind::Read, 64, 7),
        ];
        assert_eq!(races::distinct(&events).len(), races, "{value}");
    }
}
