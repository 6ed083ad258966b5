//! A machine with threads, memory and synchronisation objects that runs small programs by the plans
//! of a search and writes the records that the runtime writes.

mod locks;
mod loops;
pub mod swaps;

use loops::Word;
use raddle_analyzer::search::Plan;
use raddle_protocol::conflict::{Footprint, Unrecorded, look, marks};
use raddle_protocol::event::{Event, Kind, PENDING_ENABLED, PENDING_TIMED};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::CHOICE_BIT;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::{Outcome, Trace};
use raddle_protocol::update::{Operands, Update};

/// One line of a thread's program. Numbers name objects; `acc` is a register of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// acc = variable.
    Read(usize),
    /// variable = constant.
    Write(usize, u64),
    /// acc = variable; variable += 1, in one step.
    Add(usize),
    /// acc = variable; variable = what comes of it, in one step.
    Update(usize, Operands),
    Lock(usize),
    Unlock(usize),
    /// acc = was it taken; an `UnlockIf` gives it back.
    TryLock(usize),
    UnlockIf(usize),
    SemWait(usize),
    /// acc = was it there.
    SemTry(usize),
    SemPost(usize),
    ReadLock(usize),
    WriteLock(usize),
    /// acc = was it taken; an `RwUnlockIf` gives it back.
    TryRead(usize),
    /// acc = was it taken; an `RwUnlockIf` gives it back.
    TryWrite(usize),
    RwUnlock(usize),
    RwUnlockIf(usize),
    /// Waits with mutex 0 held (it takes and gives it); with a deadline acc = did time run out.
    Wait(usize, bool),
    Signal(usize),
    Broadcast(usize),
    /// Barrier of two.
    Barrier(usize),
    Sleep,
    /// acc = the clock.
    Look,
    Yield,
    /// Reads the variables of this set, lowest first, again and again until their sum is at least
    /// so much; acc = the sum. After a round in vain the thread is parked until one of them is
    /// another than it read.
    Poll(u8, u64),
    /// A loop begins: what follows until its [`Op::Retry`] is a round of it.
    Loop,
    /// The round was in vain if acc is below the second number; then so many lines are gone back.
    /// The thread is parked until something that the round read is another, unless another thread
    /// noticed that the round held a lock.
    Retry(usize, u64),
    /// Leaves out the next line unless acc is this.
    If(u64),
    /// Ends the process, as a step of its own, if acc is this.
    ExitIf(u64),
    /// Ends the process at once if acc is this.
    CrashIf(u64),
    /// Main only.
    Create(usize),
    /// Main only.
    Join(usize),
}

impl Op {
    /// Of an access that may change memory: its kind, and what it computes.
    fn operands(self) -> Option<(Kind, Operands)> {
        match self {
            Op::Write(_, value) => Some((Kind::Write, Operands::store(value))),
            Op::Add(_) => Some((Kind::Rmw, Operands::update(Update::Add, 1))),
            Op::Update(_, operands) => Some((Kind::Rmw, operands)),
            _ => None,
        }
    }
}

/// Threads by number; 0 is main. Those that nobody creates are alive from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub threads: Vec<Vec<Op>>,
    pub tokens: u32,
    /// Loops are not parked, but cut off after so many rounds: the thread waits for ever.
    pub rounds: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Line,
    /// In the queue of a condition.
    Waits,
    /// Signalled.
    Woken,
    /// Gave up, waits for the mutex.
    Left,
    /// Arrived at a barrier.
    Arrived,
    /// Its last step is due.
    Last,
    Ended,
    Absent,
    /// Its first step is due.
    First,
    /// It went round a loop too often.
    Cut,
}

#[derive(Clone, Debug)]
struct Thread {
    line: usize,
    acc: u64,
    phase: Phase,
    released: bool,
    held: Vec<usize>,
    /// What this round of a loop read so far.
    round: Vec<(Word, u64)>,
    /// It was in vain.
    parked: bool,
    /// Mutexes that the round took.
    taken: Vec<usize>,
    /// Another thread found one of them held.
    noticed: bool,
    /// It is within a [`Op::Loop`], of so many rounds so far.
    looping: bool,
    vain: u32,
    /// What the clock showed it last.
    looked: Option<u64>,
    /// What its step under way awaited: words (address, bytes).
    awaited: Vec<(u64, u64)>,
}

/// Records after which a program goes round loops for ever.
const LONGEST: usize = 400;
const NOBODY: usize = usize::MAX;
const TIMED_OUT: u64 = 110;

/// A program at work.
#[derive(Clone)]
pub struct Machine<'a> {
    program: &'a Program,
    threads: Vec<Thread>,
    memory: [u64; 4],
    mutexes: [usize; 4],
    tokens: [u32; 4],
    writers: [usize; 2],
    readers: [Vec<usize>; 2],
    queues: [Vec<usize>; 2],
    arrived: [Vec<usize>; 2],
    clock: u64,
    events: Vec<Event>,
    /// Somebody ended the process.
    ended: Option<End>,
    running: usize,
    asked: std::collections::VecDeque<u16>,
    tolerant: bool,
    sleepers: Vec<Footprint>,
    sleeping: bool,
}

fn variable(n: usize) -> u64 {
    0x1000 + 8 * n as u64
}

fn accesses(kind: Kind) -> bool {
    matches!(kind, Kind::Read | Kind::Write | Kind::Rmw | Kind::Parked)
}

fn object(kind: u64, n: usize) -> u64 {
    kind << 16 | (64 * n as u64)
}

const MUTEX: u64 = 2;
const SEM: u64 = 3;
const RWLOCK: u64 = 4;
const COND: u64 = 5;
const BARRIER: u64 = 6;

impl<'a> Machine<'a> {
    fn new(program: &'a Program, plan: &Plan) -> Machine<'a> {
        let created = |t: usize| {
            let lines = program.threads[0].iter();
            lines.into_iter().any(|op| *op == Op::Create(t))
        };
        let thread = |t: usize| Thread {
            line: 0,
            acc: 0,
            phase: if created(t) {
                Phase::Absent
            } else {
                Phase::Line
            },
            released: false,
            held: Vec::new(),
            round: Vec::new(),
            parked: false,
            taken: Vec::new(),
            noticed: false,
            looping: false,
            vain: 0,
            looked: None,
            awaited: Vec::new(),
        };
        let steps = plan.prefix.iter();
        let asked = steps.flat_map(|s| std::iter::repeat_n(s.what, usize::from(s.count)));
        let mut machine = Machine {
            program,
            threads: (0..program.threads.len()).map(thread).collect(),
            memory: [0; 4],
            mutexes: [NOBODY; 4],
            tokens: [program.tokens; 4],
            writers: [NOBODY; 2],
            readers: Default::default(),
            queues: Default::default(),
            arrived: Default::default(),
            clock: 0,
            events: Vec::new(),
            ended: None,
            running: 0,
            asked: asked.collect(),
            tolerant: plan.flags & flags::TOLERANT != 0,
            sleepers: plan.sleepers.clone(),
            sleeping: false,
        };
        for t in 0..machine.threads.len() {
            machine.settle(t);
        }
        machine
    }

    /// Runs the program; the trace, and what it computed.
    pub fn run(program: &Program, plan: &Plan) -> (Trace, String) {
        let mut machine = Machine::new(program, plan);
        let end = loop {
            if let Some(end) = machine.ended {
                break end;
            }
            if machine.events.len() > LONGEST {
                break End::StepLimit;
            }
            let enabled: Vec<usize> = (0..program.threads.len())
                .filter(|&t| machine.enabled(t))
                .collect();
            if enabled.is_empty() {
                let all = machine.threads.iter();
                let over = |t: &Thread| matches!(t.phase, Phase::Ended | Phase::Absent);
                break match all.clone().all(over) {
                    true => End::Exit,
                    false => End::Deadlock,
                };
            }
            machine.log_enabled(&enabled);
            match machine.choose(&enabled) {
                Ok(next) => machine.step(next),
                Err(end) => break end,
            }
        };
        machine.announce_all();
        let result = machine.result(end);
        (machine.trace(end), result)
    }

    fn result(&self, end: End) -> String {
        let accs: Vec<u64> = self.threads.iter().map(|t| t.acc).collect();
        let waits = |t: &Thread| t.parked || t.phase == Phase::Cut;
        let waits = if self.threads.iter().any(waits) {
            "in a loop "
        } else {
            ""
        };
        format!("{waits}{end:?} {:?} {accs:?}", self.memory)
    }

    fn choose(&mut self, enabled: &[usize]) -> Result<usize, End> {
        while let Some(wanted) = self.asked.pop_front() {
            if enabled.contains(&usize::from(wanted)) {
                return Ok(usize::from(wanted));
            }
            if !self.tolerant {
                return Err(End::Divergence);
            }
        }
        self.sleeping = true;
        let asleep = |t: &usize| self.sleepers.iter().any(|s| usize::from(s.thread) == *t);
        let awake: Vec<usize> = enabled.iter().copied().filter(|t| !asleep(t)).collect();
        let after = |t: &usize| (*t + self.threads.len() - self.running) % self.threads.len();
        awake.into_iter().min_by_key(after).ok_or(End::Redundant)
    }

    /// Chooses a value below `n`.
    fn pick(&mut self, n: usize) -> usize {
        match self.asked.front() {
            Some(&what) if what & CHOICE_BIT != 0 => {
                self.asked.pop_front();
                usize::from(what & !CHOICE_BIT)
            }
            _ => 0,
        }
        .min(n - 1)
    }

    fn op(&self, t: usize) -> Op {
        self.program.threads[t][self.threads[t].line]
    }

    /// Goes on to the next line that is a step.
    fn settle(&mut self, t: usize) {
        if self.threads[t].phase != Phase::Line {
            return;
        }
        loop {
            let Some(op) = self.program.threads[t].get(self.threads[t].line) else {
                self.threads[t].phase = Phase::Last;
                return;
            };
            let acc = self.threads[t].acc;
            match *op {
                Op::If(n) => self.threads[t].line += if acc == n { 1 } else { 2 },
                Op::ExitIf(n) if acc != n => self.threads[t].line += 1,
                Op::CrashIf(n) if acc == n => return self.ended = Some(End::Signal),
                Op::CrashIf(_) => self.threads[t].line += 1,
                Op::Loop => {
                    self.new_round(t);
                    let thread = &mut self.threads[t];
                    (thread.looping, thread.vain) = (true, 0);
                    thread.line += 1;
                }
                Op::Retry(back, enough) => {
                    self.retry(t, back, enough);
                    if self.threads[t].phase == Phase::Cut {
                        return;
                    }
                }
                Op::UnlockIf(m) if !self.threads[t].held.contains(&m) => {
                    self.threads[t].line += 1;
                }
                Op::Look => {
                    let value = match self.threads[t].looked {
                        None => look::FIRST,
                        Some(last) if last == self.clock => look::MOVED,
                        Some(_) => look::LATER,
                    };
                    self.clock += u64::from(value == look::MOVED);
                    self.threads[t].looked = Some(self.clock);
                    self.threads[t].acc = self.clock;
                    self.threads[t].line += 1;
                    self.log(t, Kind::ClockRead, 0, value, 0);
                }
                Op::RwUnlockIf(r) if self.writers[r] != t && !self.readers[r].contains(&t) => {
                    self.threads[t].line += 1;
                }
                _ => return,
            }
        }
    }

    fn timed(&self, t: usize) -> bool {
        match self.threads[t].phase {
            Phase::Line => matches!(self.op(t), Op::Sleep),
            Phase::Waits => matches!(self.op(t), Op::Wait(_, true)),
            _ => false,
        }
    }

    fn enabled(&self, t: usize) -> bool {
        let free = |m: usize| self.mutexes[m] == NOBODY;
        let changed = |&(word, value): &(Word, u64)| self.value(word) != value;
        if self.threads[t].parked && !self.threads[t].round.iter().any(changed) {
            return false;
        }
        match self.threads[t].phase {
            Phase::Ended | Phase::Absent | Phase::Cut => false,
            Phase::First | Phase::Last => true,
            Phase::Waits => self.timed(t),
            Phase::Woken | Phase::Left => free(0),
            Phase::Arrived => self.threads[t].released,
            Phase::Line => match self.op(t) {
                Op::Lock(m) => free(m),
                Op::SemWait(s) => self.tokens[s] > 0,
                Op::ReadLock(r) => self.writers[r] == NOBODY,
                Op::WriteLock(r) => self.writers[r] == NOBODY && self.readers[r].is_empty(),
                Op::Join(other) => self.threads[other].phase == Phase::Ended,
                _ => true,
            },
        }
    }

    fn step(&mut self, t: usize) {
        self.running = t;
        if self.timed(t) {
            let timed = Event {
                kind: Kind::Timed as u8,
                thread: t as u16,
                ..Event::default()
            };
            self.events.push(timed);
        }
        let thread = &mut self.threads[t];
        if std::mem::take(&mut thread.parked) {
            let round = thread.round.drain(..);
            thread.awaited = round.map(|(word, _)| (word.address(), 4)).collect();
        }
        match self.threads[t].phase {
            Phase::First => {
                self.threads[t].phase = Phase::Line;
                self.log(t, Kind::ThreadStart, 0, 0, 0);
            }
            Phase::Last => {
                self.threads[t].phase = Phase::Ended;
                self.log(t, Kind::ThreadExit, 0, 0, 0);
            }
            Phase::Line => self.line(t),
            _ => self.second(t),
        }
        self.threads[t].awaited.clear();
        self.settle(t);
    }

    /// The second half of a wait.
    fn second(&mut self, t: usize) {
        let phase = self.threads[t].phase;
        let mut over = true;
        match (self.op(t), phase) {
            (Op::Wait(c, _), Phase::Waits) => {
                self.queues[c].retain(|&other| other != t);
                self.clock = self.clock.max(100);
                self.threads[t].acc = 1;
                if self.mutexes[0] == NOBODY {
                    self.log(t, Kind::CondWake, object(COND, c), TIMED_OUT, 0);
                } else {
                    over = false;
                    self.threads[t].phase = Phase::Left;
                    self.log(t, Kind::CondLeave, object(COND, c), TIMED_OUT, 0);
                }
            }
            (Op::Wait(c, _), _) => {
                let value = if phase == Phase::Left { TIMED_OUT } else { 0 };
                self.log(t, Kind::CondWake, object(COND, c), value, 0);
            }
            (Op::Barrier(b), _) => {
                self.threads[t].released = false;
                self.log(t, Kind::BarrierLeave, object(BARRIER, b), 0, 0);
            }
            (op, phase) => unreachable!("{op:?} {phase:?}"),
        }
        if over {
            if matches!(self.op(t), Op::Wait(..)) {
                self.mutexes[0] = t;
            }
            self.threads[t].phase = Phase::Line;
            self.threads[t].line += 1;
        }
    }

    fn line(&mut self, t: usize) {
        let op = self.op(t);
        let mut next = true;
        match op {
            Op::Read(v) => {
                self.threads[t].acc = self.memory[v];
                self.saw(t, Word::Variable(v), self.memory[v]);
                self.log(t, Kind::Read, variable(v), self.memory[v], 0);
            }
            Op::Write(v, _) | Op::Add(v) | Op::Update(v, _) => {
                let (kind, operands) = op.operands().expect("it has some");
                let old = self.memory[v];
                let record = operands.record(t as u16, Some(old));
                self.events.push(record);
                self.memory[v] = operands.after(old, 4);
                if kind == Kind::Rmw {
                    self.threads[t].acc = old;
                }
                let idle = operands.leaves(old, 4);
                self.log_access(t, kind, variable(v), self.memory[v], idle);
            }
            Op::Poll(set, enough) => next = self.poll(t, set, enough),
            Op::Lock(_) | Op::Unlock(_) | Op::TryLock(_) | Op::UnlockIf(_) => self.mutex(t, op),
            Op::SemWait(_) | Op::SemTry(_) | Op::SemPost(_) => self.semaphore(t, op),
            Op::ReadLock(_) | Op::WriteLock(_) | Op::RwUnlock(_) | Op::RwUnlockIf(_) => {
                self.rwlock(t, op);
            }
            Op::TryRead(_) | Op::TryWrite(_) => self.rwlock_attempt(t, op),
            Op::Wait(..) | Op::Signal(_) | Op::Broadcast(_) => {
                next = !matches!(op, Op::Wait(..));
                self.condition(t, op);
            }
            Op::Barrier(b) => {
                next = false;
                self.threads[t].phase = Phase::Arrived;
                self.arrived[b].push(t);
                let last = self.arrived[b].len() == 2;
                self.log(t, Kind::BarrierArrive, object(BARRIER, b), last.into(), 0);
                if last {
                    for other in std::mem::take(&mut self.arrived[b]) {
                        self.threads[other].released = true;
                    }
                }
            }
            Op::Sleep => {
                self.clock += 10;
                self.log(t, Kind::Sleep, 0, self.clock, 0);
            }
            Op::Yield => self.log(t, Kind::Yield, 0, 0, 0),
            Op::ExitIf(_) => {
                self.ended = Some(End::Exit);
                self.log(t, Kind::ProcessEnd, 0, 0, 0);
            }
            Op::Create(other) => {
                self.threads[other].phase = Phase::First;
                self.log(t, Kind::ThreadCreate, 0, other as u64, 0);
            }
            Op::Join(other) => self.log(t, Kind::ThreadJoin, 0, other as u64, 0),
            Op::If(_) | Op::CrashIf(_) | Op::Look | Op::Loop | Op::Retry(..) => {
                unreachable!("no steps")
            }
        }
        self.threads[t].line += usize::from(next);
    }

    /// One read of a loop; true if it is the last.
    fn poll(&mut self, t: usize, set: u8, enough: u64) -> bool {
        let read = self.threads[t].round.len();
        let variables = || (0..self.memory.len()).filter(|v| set & 1 << v != 0);
        let v = variables().nth(read).expect("one is left");
        let (last, value) = (variables().count() == read + 1, self.memory[v]);
        self.log(t, Kind::Read, variable(v), value, 0);
        self.threads[t].round.push((Word::Variable(v), value));
        if !last {
            return false;
        }
        self.threads[t].acc = self.threads[t].round.iter().map(|&(_, value)| value).sum();
        if self.threads[t].acc >= enough {
            self.threads[t].round.clear();
            return true;
        }
        self.park(t);
        false
    }

    fn mutex(&mut self, t: usize, op: Op) {
        match op {
            Op::Lock(m) => {
                self.mutexes[m] = t;
                self.threads[t].taken.push(m);
                self.log(t, Kind::MutexLock, object(MUTEX, m), 0, 0);
            }
            Op::TryLock(m) => {
                let free = self.mutexes[m] == NOBODY;
                self.threads[t].acc = u64::from(free);
                self.saw(t, Word::Mutex(m), u64::from(!free));
                if free {
                    self.mutexes[m] = t;
                    self.threads[t].held.push(m);
                    self.threads[t].taken.push(m);
                } else if self.threads[t].vain == 0 {
                    for other in self.threads.iter_mut() {
                        other.noticed |= other.taken.contains(&m);
                    }
                }
                let value = if free { 0 } else { 16 };
                self.log(t, Kind::MutexTryLock, object(MUTEX, m), value, 0);
            }
            Op::Unlock(m) | Op::UnlockIf(m) => {
                self.threads[t].held.retain(|&held| held != m);
                if self.mutexes[m] == t {
                    self.mutexes[m] = NOBODY;
                }
                self.log(t, Kind::MutexUnlock, object(MUTEX, m), 0, 0);
            }
            _ => unreachable!(),
        }
    }

    fn condition(&mut self, t: usize, op: Op) {
        match op {
            Op::Wait(c, timed) => {
                self.mutexes[0] = NOBODY;
                self.queues[c].push(t);
                self.threads[t].phase = Phase::Waits;
                let (at, mutex) = (object(COND, c), object(MUTEX, 0));
                self.log(t, Kind::CondWait, at, mutex, u32::from(timed));
            }
            Op::Signal(c) => {
                let waiting = self.queues[c].len();
                let picked = if waiting < 2 { 0 } else { self.pick(waiting) };
                let mut value = u64::from(u16::MAX);
                if waiting > 0 {
                    let who = self.queues[c].remove(picked);
                    self.threads[who].phase = Phase::Woken;
                    value = who as u64;
                }
                self.log(t, Kind::CondSignal, object(COND, c), value, 0);
                if waiting >= 2 {
                    self.log(t, Kind::Choice, 0, picked as u64, waiting as u32);
                }
            }
            Op::Broadcast(c) => {
                let woken = std::mem::take(&mut self.queues[c]);
                for &who in &woken {
                    self.threads[who].phase = Phase::Woken;
                }
                let count = woken.len() as u64;
                self.log(t, Kind::CondBroadcast, object(COND, c), count, 0);
            }
            _ => unreachable!(),
        }
    }

    fn log(&mut self, t: usize, kind: Kind, object: u64, value: u64, aux: u32) {
        self.log_step(t, kind, object, value, aux, false);
    }

    fn log_access(&mut self, t: usize, kind: Kind, object: u64, value: u64, idle: bool) {
        self.log_step(t, kind, object, value, 0, idle);
    }

    fn log_step(&mut self, t: usize, kind: Kind, object: u64, value: u64, aux: u32, idle: bool) {
        let event = Event {
            kind: kind as u8,
            size: 4 * u8::from(accesses(kind)),
            thread: t as u16,
            aux,
            object,
            value,
            pc: self.pc(t),
        };
        self.events.push(event);
        if !self.sleeping {
            return;
        }
        let done = if kind == Kind::ClockRead {
            Footprint {
                thread: event.thread,
                marks: marks::of_look(value),
                ..Footprint::default()
            }
        } else if kind.is_step() {
            let beside = Unrecorded {
                idle,
                mutex: self::object(MUTEX, 0),
                released: matches!(self.threads[t].phase, Phase::Woken | Phase::Left)
                    && kind == Kind::CondWake,
            };
            let awaited = self.threads[t].awaited.iter().copied();
            Footprint::of(&event, beside).awaiting(awaited)
        } else {
            return;
        };
        self.sleepers.retain(|s| !s.conflicts(&done));
    }

    fn log_enabled(&mut self, enabled: &[usize]) {
        let word = |from: usize| {
            let slots = enabled.iter().skip(from).take(4).enumerate();
            slots.fold(0, |word, (i, &t)| word | (t as u64) << (16 * i))
        };
        self.events.push(Event {
            kind: Kind::Enabled as u8,
            size: enabled.len() as u8,
            thread: self.running as u16,
            object: word(0),
            value: word(4),
            pc: word(8),
            ..Event::default()
        });
    }

    /// What was announced and did not happen.
    fn announce_all(&mut self) {
        for t in 0..self.threads.len() {
            let Some((kind, at, value)) = self.announced(t) else {
                continue;
            };
            let operands = match self.threads[t].phase {
                Phase::Line => self.op(t).operands(),
                _ => None,
            };
            if let Some((_, operands)) = operands {
                let content = self.memory[(at - variable(0)) as usize / 8];
                self.events.push(operands.record(t as u16, Some(content)));
            }
            let bytes = 4 * u32::from(accesses(kind));
            let timed = u32::from(self.timed(t)) * PENDING_TIMED;
            let enabled = u32::from(self.enabled(t)) * PENDING_ENABLED;
            let held = match (self.threads[t].phase, kind) {
                (Phase::Line, Kind::RwUnlock) => match self.op(t) {
                    Op::RwUnlock(r) | Op::RwUnlockIf(r) => self.unlock_aux(t, r),
                    _ => 0,
                },
                _ => 0,
            };
            self.events.push(Event {
                kind: Kind::Pending as u8,
                size: kind as u8,
                thread: t as u16,
                aux: bytes | timed | enabled | held,
                object: at,
                value,
                pc: self.pc(t),
            });
        }
    }

    /// The line that a thread is at, as a number among those of all.
    fn pc(&self, t: usize) -> u64 {
        (t as u64 + 1) << 16 | self.threads[t].line as u64
    }

    fn announced(&self, t: usize) -> Option<(Kind, u64, u64)> {
        let plain = |kind, at| Some((kind, at, 0));
        match self.threads[t].phase {
            Phase::Ended | Phase::Absent | Phase::Cut => None,
            Phase::First => plain(Kind::ThreadStart, 0),
            Phase::Last => plain(Kind::ThreadExit, 0),
            Phase::Waits | Phase::Woken | Phase::Left => plain(Kind::CondWake, object(MUTEX, 0)),
            Phase::Arrived => plain(Kind::BarrierLeave, 0),
            Phase::Line => match self.op(t) {
                Op::Read(v) => plain(Kind::Read, variable(v)),
                Op::Poll(set, _) => {
                    let thread = &self.threads[t];
                    let read = if thread.parked { 0 } else { thread.round.len() };
                    let next = (0..self.memory.len())
                        .filter(|v| set & 1 << v != 0)
                        .nth(read);
                    plain(Kind::Read, variable(next.expect("one is left")))
                }
                Op::Write(v, _) => plain(Kind::Write, variable(v)),
                Op::Add(v) | Op::Update(v, _) => plain(Kind::Rmw, variable(v)),
                Op::Lock(m) => plain(Kind::MutexLock, object(MUTEX, m)),
                Op::TryLock(m) => plain(Kind::MutexTryLock, object(MUTEX, m)),
                Op::Unlock(m) | Op::UnlockIf(m) => plain(Kind::MutexUnlock, object(MUTEX, m)),
                Op::SemWait(s) => plain(Kind::SemWait, object(SEM, s)),
                Op::SemTry(s) => plain(Kind::SemTryWait, object(SEM, s)),
                Op::SemPost(s) => plain(Kind::SemPost, object(SEM, s)),
                Op::ReadLock(r) => plain(Kind::RwRead, object(RWLOCK, r)),
                Op::WriteLock(r) => plain(Kind::RwWrite, object(RWLOCK, r)),
                Op::RwUnlock(r) | Op::RwUnlockIf(r) => plain(Kind::RwUnlock, object(RWLOCK, r)),
                Op::TryRead(r) => plain(Kind::RwTryRead, object(RWLOCK, r)),
                Op::TryWrite(r) => plain(Kind::RwTryWrite, object(RWLOCK, r)),
                Op::Wait(c, _) => Some((Kind::CondWait, object(COND, c), object(MUTEX, 0))),
                Op::Signal(c) => plain(Kind::CondSignal, object(COND, c)),
                Op::Broadcast(c) => plain(Kind::CondBroadcast, object(COND, c)),
                Op::Barrier(b) => plain(Kind::BarrierArrive, object(BARRIER, b)),
                Op::Sleep => plain(Kind::Sleep, 0),
                Op::Yield => plain(Kind::Yield, 0),
                Op::ExitIf(_) => plain(Kind::ProcessEnd, 0),
                Op::Create(_) => plain(Kind::ThreadCreate, 0),
                Op::Join(other) => Some((Kind::ThreadJoin, 0, other as u64)),
                // It ended the process.
                Op::CrashIf(_) => None,
                Op::If(_) | Op::Look | Op::Loop | Op::Retry(..) => unreachable!("no steps"),
            },
        }
    }

    fn trace(self, end: End) -> Trace {
        Trace::new(self.events, Vec::new(), Outcome::new(end, 0))
    }
}
