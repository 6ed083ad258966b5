//! Runs toy programs: the state, and one step of one thread.

use crate::program::{Cmp, Cond, Expr, MEMORY, MUTEXES, Op, Program, Stmt, flatten};
use crate::recorder::{Recorder, Value};
use crate::sync::{Half, Objects};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Op as Node, Why};
use raddle_protocol::outcome::End;
use raddle_protocol::slot;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub const EBUSY: u64 = 16;
const REGS: usize = 10;

/// Programs in their flat form.
#[derive(Debug)]
pub struct Code {
    pub program: Program,
    bodies: Vec<Vec<Op>>,
}

impl Code {
    pub fn new(program: &Program) -> Rc<Code> {
        Rc::new(Code {
            bodies: program.bodies.iter().map(|b| flatten(b)).collect(),
            program: program.clone(),
        })
    }

    /// The address of an instruction.
    fn pc(body: usize, at: usize) -> u64 {
        0x40_0000 + (body as u64) * 0x1000 + at as u64
    }
}

/// One decision of a thread: where, and how it came out.
pub type Decision = (u64, u64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The step before the body.
    Starting,
    Running,
    /// In the middle of an operation of two steps.
    Half(Half),
    /// About to end the process.
    Ending(Ending),
    Ended(u64),
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub slot: Slot,
    body: usize,
    pub at: usize,
    pub regs: [Value; REGS],
    pub status: Status,
    children: u32,
    inputs: u32,
    /// The round of a loop that only waits, if it is in one.
    round: Option<Round>,
    /// What it found in memory in a round that was in vain, and waits for a change of.
    parked: Option<((u8, u8), u16)>,
    /// All decisions so far: the local path.
    pub path: Vec<Decision>,
}

/// A round of a loop that only waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Round {
    /// Of the path when it began.
    length: usize,
    saw: Option<((u8, u8), u16)>,
    changed: bool,
}

/// How the program ended, in comparable form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    Exit(i32),
    /// The instruction.
    Assertion(u64),
    /// Thread and instruction of those that wait (only the cycle, if there is one).
    Deadlock(Vec<(Slot, u64)>),
    /// The same where some go round loops.
    Livelock(Vec<(Slot, u64)>),
    /// The instruction that used or destroyed a mutex when it should not.
    Misuse(u64),
    /// An assumption did not hold.
    Assumed,
}

/// What the next visible operation of a thread is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    pub kind: Kind,
    pub object: u64,
    pub value: u64,
    pub pc: u64,
    /// As in the record of an announced operation.
    pub aux: u32,
}

/// A running program.
#[derive(Clone, Debug)]
pub struct Machine {
    pub code: Rc<Code>,
    pub threads: Vec<Thread>,
    memory: Vec<u8>,
    /// Owner and depth.
    pub mutexes: BTreeMap<u8, (Slot, u32)>,
    pub objects: Objects,
    destroyed: BTreeSet<u8>,
    inputs: Rc<dyn Inputs>,
    pub ending: Option<(Slot, Ending)>,
}

/// Where inputs come from.
pub trait Inputs: std::fmt::Debug {
    fn byte(&self, thread: Slot, index: u32) -> u8;
}

impl Machine {
    /// At the first announcement of main.
    pub fn new(code: Rc<Code>, inputs: Rc<dyn Inputs>, rec: &mut Recorder) -> Machine {
        let status = match code.program.main_starts {
            true => Status::Starting,
            false => Status::Running,
        };
        let mut machine = Machine {
            memory: code.program.memory.clone(),
            code,
            threads: vec![Thread::new(slot::MAIN, 0, Value::default(), status)],
            mutexes: BTreeMap::new(),
            objects: Objects::default(),
            destroyed: BTreeSet::new(),
            inputs,
            ending: None,
        };
        machine.initialise_objects(rec);
        machine.run_locally(0, rec);
        machine
    }

    /// What decides the rest of the execution, for memoisation.
    pub fn state(&self) -> impl Eq + std::hash::Hash + use<> {
        let threads: Vec<_> = self
            .threads
            .iter()
            .map(|t| {
                let regs: Vec<u16> = t.regs.iter().map(|r| r.value).collect();
                let waiting = (t.round, t.parked);
                (
                    t.slot,
                    t.at,
                    t.status.clone(),
                    regs,
                    t.path.clone(),
                    waiting,
                )
            })
            .collect();
        (
            threads,
            self.memory.clone(),
            self.mutexes.clone(),
            self.objects.clone(),
            self.destroyed.clone(),
        )
    }

    pub fn op(&self, t: usize) -> &Op {
        let thread = &self.threads[t];
        &self.code.bodies[thread.body][thread.at]
    }

    pub fn pc(&self, t: usize) -> u64 {
        Code::pc(self.threads[t].body, self.threads[t].at)
    }

    pub fn index_of(&self, slot: Slot) -> Option<usize> {
        self.threads.iter().position(|t| t.slot == slot)
    }

    /// The operation at which thread `t` stands; `None` when it has ended.
    pub fn announced(&self, t: usize) -> Option<Announced> {
        let thread = &self.threads[t];
        let announce = |kind, object, value| {
            Some(Announced {
                kind,
                object,
                value,
                pc: self.pc(t),
                aux: 0,
            })
        };
        match thread.status {
            Status::Half(half) => {
                let (kind, object) = half.announced();
                return announce(kind, object, 0).map(|a| Announced { pc: a.pc - 1, ..a });
            }
            Status::Ended(_) => return None,
            Status::Starting => return announce(Kind::ThreadStart, 0, 0),
            Status::Ending(_) => return announce(Kind::ProcessEnd, 0, 0),
            Status::Running => {}
        }
        let mutex = |m: &u8| MUTEXES + 64 * u64::from(*m);
        match self.op(t) {
            Op::Do(Stmt::Read(_, place)) => announce(Kind::Read, MEMORY + u64::from(place.0), 0),
            Op::Do(Stmt::ReadAt(_, e, n)) => {
                let offset = self.concrete(t, e) % u16::from(*n);
                announce(Kind::Read, MEMORY + u64::from(offset), 0)
            }
            Op::Do(Stmt::WriteAt(e, n, _)) => {
                let offset = self.concrete(t, e) % u16::from(*n);
                announce(Kind::Write, MEMORY + u64::from(offset), 0)
            }
            Op::Do(Stmt::Write(place, _)) => announce(Kind::Write, MEMORY + u64::from(place.0), 0),
            Op::Do(Stmt::Update(_, place, _) | Stmt::Cas(_, place, _, _)) => {
                announce(Kind::Rmw, MEMORY + u64::from(place.0), 0)
            }
            Op::Do(Stmt::Lock(m)) => announce(Kind::MutexLock, mutex(m), 0),
            Op::Do(Stmt::TryLock(_, m)) => announce(Kind::MutexTryLock, mutex(m), 0),
            Op::Do(Stmt::Unlock(m)) => announce(Kind::MutexUnlock, mutex(m), 0),
            Op::Do(Stmt::Destroy(m)) => announce(Kind::MutexDestroy, mutex(m), 0),
            Op::Do(Stmt::Create(_, body, _)) => announce(Kind::ThreadCreate, Code::pc(*body, 0), 0),
            Op::Do(Stmt::Join(_, handle)) => {
                let target = u64::from(thread.regs[*handle].value);
                announce(Kind::ThreadJoin, 0, target)
            }
            Op::Do(Stmt::Return(_)) => announce(Kind::ThreadExit, 0, 0),
            Op::Do(Stmt::Sync(_, op)) => Some(Announced {
                kind: op.kind(),
                object: op.object(),
                value: op.announced_value(),
                pc: self.pc(t),
                aux: op.announced_aux(),
            }),
            other => unreachable!("{other:?} is not visible"),
        }
    }

    /// Must thread `t` wait, without a deadline?
    fn waits(&self, t: usize) -> bool {
        let parked = self.threads[t].parked;
        if parked.is_some_and(|(place, value)| self.raw(place) == value) {
            return true;
        }
        match (&self.threads[t].status, self.op(t)) {
            (Status::Half(half), _) => self.half_waits(self.threads[t].slot, *half),
            (Status::Running, Op::Do(Stmt::Sync(_, op))) => self.sync_waits(t, *op),
            _ => self.blocker(t).is_some(),
        }
    }

    /// Who stands in the way of thread `t`; `None`: nobody in particular.
    pub fn blocker(&self, t: usize) -> Option<Slot> {
        let me = self.threads[t].slot;
        match self.threads[t].status {
            Status::Half(half) => return self.half_blocker(me, half),
            Status::Running => {}
            _ => return None,
        }
        match self.op(t) {
            Op::Do(Stmt::Sync(_, op)) if self.sync_waits(t, *op) => self.sync_blocker(t, *op),
            Op::Do(Stmt::Lock(m)) => match self.mutexes.get(m) {
                Some(&(owner, _)) if owner == me && self.code.program.recursive.contains(m) => None,
                Some(&(owner, _)) => Some(owner),
                None => None,
            },
            Op::Do(Stmt::Join(_, handle)) => {
                let target = self.threads[t].regs[*handle].value;
                let index = self.index_of(target);
                let ended =
                    index.is_none_or(|i| matches!(self.threads[i].status, Status::Ended(_)));
                (!ended).then_some(target)
            }
            _ => None,
        }
    }

    /// Slots that can take a step, ascending.
    pub fn enabled(&self) -> Vec<Slot> {
        let mut slots: Vec<Slot> = (0..self.threads.len())
            .filter(|&t| !matches!(self.threads[t].status, Status::Ended(_)))
            .filter(|&t| self.ending.is_none() && !self.waits(t) && !self.is_kept_out(t))
            .map(|t| self.threads[t].slot)
            .collect();
        slots.sort_unstable();
        slots
    }

    /// One step of thread `t`, which must be enabled, and everything local after it. Where there are
    /// [choices](Machine::choices), the first.
    pub fn step(&mut self, t: usize, rec: &mut Recorder) {
        self.step_with(t, 0, rec);
    }

    /// As [`Machine::step`], with this choice.
    pub fn step_with(&mut self, t: usize, choice: usize, rec: &mut Recorder) {
        let slot = self.threads[t].slot;
        self.threads[t].parked = None;
        match self.threads[t].status.clone() {
            Status::Starting => {
                rec.step(slot, Kind::ThreadStart, 0, 0, 0, 0, self.pc(t));
                self.threads[t].status = Status::Running;
            }
            Status::Ending(ending) => {
                rec.step(slot, Kind::ProcessEnd, 0, 0, 0, 0, self.pc(t));
                self.ending = Some((slot, ending));
            }
            Status::Half(half) => self.finish_half(t, half, rec),
            _ => self.perform(t, choice, rec),
        }
        if self.ending.is_some() {
            return;
        }
        self.run_locally(t, rec);
        self.find_deadlock(t);
    }

    fn perform(&mut self, t: usize, choice: usize, rec: &mut Recorder) {
        let Op::Do(stmt) = self.op(t).clone() else {
            unreachable!("a jump is not visible")
        };
        let (slot, pc) = (self.threads[t].slot, self.pc(t));
        if self.is_misuse(&stmt) {
            self.ending = Some((slot, Ending::Misuse(pc)));
            return;
        }
        self.threads[t].at += 1;
        match stmt {
            Stmt::Destroy(m) => {
                self.destroyed.insert(m);
                let object = MUTEXES + 64 * u64::from(m);
                rec.step(slot, Kind::MutexDestroy, 0, 0, object, 0, pc);
            }
            Stmt::Lock(m) => {
                self.acquire(slot, m);
                rec.step(
                    slot,
                    Kind::MutexLock,
                    0,
                    0,
                    MUTEXES + 64 * u64::from(m),
                    0,
                    pc,
                );
            }
            Stmt::TryLock(reg, m) => {
                let mine = self.mutexes.get(&m).is_some_and(|&(owner, _)| {
                    owner == slot && self.code.program.recursive.contains(&m)
                });
                let free = !self.mutexes.contains_key(&m) || mine;
                if free {
                    self.acquire(slot, m);
                }
                let result = if free { 0 } else { EBUSY };
                let object = MUTEXES + 64 * u64::from(m);
                rec.step(slot, Kind::MutexTryLock, 0, 0, object, result, pc);
                self.threads[t].path.push((pc, result));
                self.threads[t].regs[reg] = Value::concrete(result as u16);
            }
            Stmt::Unlock(m) => {
                self.release(slot, m);
                let object = MUTEXES + 64 * u64::from(m);
                rec.step(slot, Kind::MutexUnlock, 0, 0, object, 0, pc);
            }
            Stmt::Create(reg, body, arg) => {
                let argument = self.eval(t, &arg, rec);
                let mut child = slot::preferred(slot, self.threads[t].children);
                while self.index_of(child).is_some() {
                    child += 1;
                }
                self.threads[t].children += 1;
                self.threads[t].regs[reg] = Value::concrete(child);
                let start = Code::pc(body, 0);
                let kind = Kind::ThreadCreate;
                let passed = rec.widened(argument);
                rec.step(slot, kind, 0, passed, start, u64::from(child), pc);
                let thread = Thread::new(child, body, argument, Status::Starting);
                self.threads.push(thread);
            }
            Stmt::Join(reg, handle) => {
                let target = self.threads[t].regs[handle].value;
                rec.step(slot, Kind::ThreadJoin, 0, 0, 0, u64::from(target), pc);
                let index = self
                    .index_of(target)
                    .expect("joins of created threads only");
                let Status::Ended(result) = self.threads[index].status else {
                    unreachable!("the join is enabled")
                };
                self.threads[t].path.push((pc, result));
                self.threads[t].regs[reg] = Value::concrete(result as u16);
            }
            Stmt::Return(value) => {
                rec.step(slot, Kind::ThreadExit, 0, 0, 0, u64::from(value), pc);
                self.threads[t].status = Status::Ended(u64::from(value));
            }
            Stmt::Sync(reg, op) => self.sync(t, reg, op, choice, rec, pc),
            Stmt::ReadAt(reg, _, _) => {
                let offset = self.threads[t].regs[REGS - 1].value as u8;
                self.read(t, reg, (offset, 1), true, rec, pc);
            }
            Stmt::WriteAt(_, _, e) => {
                let offset = self.threads[t].regs[REGS - 1].value as u8;
                self.write(t, (offset, 1), &e, true, rec, pc);
            }
            Stmt::Read(reg, place) => self.read(t, reg, place, true, rec, pc),
            Stmt::Write(place, e) => self.write(t, place, &e, true, rec, pc),
            Stmt::Update(reg, place, e) => {
                let new = |m: &Machine, rec: &mut Recorder| m.eval(t, &e, rec);
                self.update(t, reg, place, &new, true, rec, pc);
            }
            Stmt::Cas(reg, place, expected, new) => {
                let e = Expr::Select(Box::new([Expr::Reg(reg), expected, new, Expr::Reg(reg)]));
                let new = |m: &Machine, rec: &mut Recorder| m.eval(t, &e, rec);
                self.update(t, reg, place, &new, true, rec, pc);
            }
            other => unreachable!("{other:?} is not visible"),
        }
    }

    fn is_misuse(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Destroy(m) => self.destroyed.contains(m) || self.mutexes.contains_key(m),
            Stmt::Lock(m) | Stmt::Unlock(m) | Stmt::TryLock(_, m) => self.destroyed.contains(m),
            _ => false,
        }
    }

    pub fn acquire(&mut self, slot: Slot, m: u8) {
        self.mutexes.entry(m).or_insert((slot, 0)).1 += 1;
    }

    pub fn release(&mut self, slot: Slot, m: u8) {
        match self.mutexes.get_mut(&m) {
            Some((owner, depth)) if *owner == slot && *depth > 1 => *depth -= 1,
            Some((owner, _)) if *owner == slot => {
                self.mutexes.remove(&m);
            }
            _ => {}
        }
    }

    /// Runs thread `t` to its next visible operation or to the end of the process.
    fn run_locally(&mut self, t: usize, rec: &mut Recorder) {
        while self.threads[t].status == Status::Running && self.ending.is_none() {
            let (slot, pc) = (self.threads[t].slot, self.pc(t));
            match self.op(t).clone() {
                Op::Jump(to) => self.threads[t].at = to,
                Op::Round(first) => self.round(t, first, rec),
                Op::Unless(cond, to) => {
                    let holds = self.decide(t, &cond, rec, Kind::Branch);
                    self.threads[t].at = if holds { self.threads[t].at + 1 } else { to };
                }
                Op::Do(stmt) => match stmt {
                    Stmt::Let(reg, e) => {
                        let value = self.eval(t, &e, rec);
                        self.threads[t].regs[reg] = value;
                        self.threads[t].at += 1;
                    }
                    Stmt::Input(reg, bound) => {
                        let index = self.threads[t].inputs;
                        let byte = self.inputs.byte(slot, index);
                        self.threads[t].inputs += 1;
                        let value = rec.input(slot, index, byte, pc);
                        self.threads[t].regs[reg] = value;
                        let below = Cond(Cmp::Ult, Expr::Reg(reg), Expr::Const(bound.into()));
                        if !self.decide(t, &below, rec, Kind::Assume) {
                            self.threads[t].status = Status::Ending(Ending::Assumed);
                            return;
                        }
                        self.threads[t].at += 1;
                    }
                    Stmt::Assert(cond) => {
                        if !self.decide(t, &cond, rec, Kind::Branch) {
                            self.threads[t].status = Status::Ending(Ending::Assertion(pc));
                            return;
                        }
                        self.threads[t].at += 1;
                    }
                    Stmt::Assume(cond) => {
                        if !self.decide(t, &cond, rec, Kind::Assume) {
                            self.threads[t].status = Status::Ending(Ending::Assumed);
                            return;
                        }
                        self.threads[t].at += 1;
                    }
                    Stmt::Exit(code) => {
                        self.threads[t].status = Status::Ending(Ending::Exit(code.into()));
                    }
                    Stmt::Return(value) if slot == slot::MAIN => {
                        self.threads[t].status = Status::Ending(Ending::Exit(value.into()));
                    }
                    Stmt::ReadAt(reg, e, n) => {
                        let place = self.address(t, &e, n, rec);
                        if visible(rec, place) {
                            return;
                        }
                        self.read(t, reg, place, false, rec, pc);
                        self.threads[t].at += 1;
                    }
                    Stmt::WriteAt(e, n, value) => {
                        let place = self.address(t, &e, n, rec);
                        if visible(rec, place) {
                            return;
                        }
                        self.write(t, place, &value, false, rec, pc);
                        self.threads[t].at += 1;
                    }
                    Stmt::Read(reg, place) if !visible(rec, place) => {
                        self.read(t, reg, place, false, rec, pc);
                        self.threads[t].at += 1;
                    }
                    Stmt::Write(place, e) if !visible(rec, place) => {
                        self.write(t, place, &e, false, rec, pc);
                        self.threads[t].at += 1;
                    }
                    Stmt::Update(reg, place, e) if !visible(rec, place) => {
                        let new = |m: &Machine, rec: &mut Recorder| m.eval(t, &e, rec);
                        self.update(t, reg, place, &new, false, rec, pc);
                        self.threads[t].at += 1;
                    }
                    Stmt::Cas(reg, place, expected, new) if !visible(rec, place) => {
                        let e =
                            Expr::Select(Box::new([Expr::Reg(reg), expected, new, Expr::Reg(reg)]));
                        let new = |m: &Machine, rec: &mut Recorder| m.eval(t, &e, rec);
                        self.update(t, reg, place, &new, false, rec, pc);
                        self.threads[t].at += 1;
                    }
                    _ => return,
                },
            }
        }
    }

    /// A round of a loop begins. If there was one before that changed nothing, it is as if it had
    /// not been.
    fn round(&mut self, t: usize, first: bool, rec: &mut Recorder) {
        let (slot, at) = (self.threads[t].slot, self.threads[t].at);
        // The loop is known by its access.
        let access = if first { at + 1 } else { at - 3 };
        let pc = Code::pc(self.threads[t].body, access);
        let thread = &mut self.threads[t];
        let vain = thread.round.filter(|r| !first && !r.changed);
        rec.step(slot, Kind::Round, 0, 0, 0, u64::from(vain.is_some()), pc);
        if let Some(round) = vain {
            thread.path.truncate(round.length);
            thread.parked = round.saw.filter(|s| visible(rec, s.0));
            if let (None, Some((place, _))) = (thread.parked, round.saw) {
                rec.expose(slot, place);
            }
        }
        thread.round = Some(Round {
            length: thread.path.len(),
            saw: None,
            changed: false,
        });
        thread.at += 1;
    }

    fn saw(&mut self, t: usize, place: (u8, u8), value: u16, new: u16) {
        if let Some(round) = &mut self.threads[t].round {
            round.saw = Some((place, value));
            round.changed |= value != new;
        }
    }

    /// One of the first `n` bytes, by a computed offset. That becomes concrete; the last register
    /// keeps it.
    fn address(&mut self, t: usize, e: &Expr, n: u8, rec: &mut Recorder) -> (u8, u8) {
        let (slot, pc) = (self.threads[t].slot, self.pc(t));
        let index = self.eval(t, e, rec);
        let offset = index.value % u16::from(n);
        let limited = rec.binary_const(Node::URem, index, u16::from(n));
        let value = u64::from(offset);
        rec.branch(slot, Kind::Branch, limited.node, value, Why::Address, pc);
        self.threads[t].path.push((pc, value));
        self.threads[t].regs[REGS - 1] = Value::concrete(offset);
        (offset as u8, 1)
    }

    fn raw(&self, place: (u8, u8)) -> u16 {
        (0..place.1).fold(0, |v, i| {
            v | u16::from(self.memory[usize::from(place.0 + i)]) << (8 * i)
        })
    }

    fn store(&mut self, place: (u8, u8), value: u16) {
        for i in 0..place.1 {
            self.memory[usize::from(place.0 + i)] = (value >> (8 * i)) as u8;
        }
    }

    fn read(
        &mut self,
        t: usize,
        reg: usize,
        place: (u8, u8),
        step: bool,
        rec: &mut Recorder,
        pc: u64,
    ) {
        let slot = self.threads[t].slot;
        let value = self.raw(place);
        self.threads[t].regs[reg] = rec.read(slot, place, value, step, pc);
        self.saw(t, place, value, value);
    }

    fn write(
        &mut self,
        t: usize,
        place: (u8, u8),
        e: &Expr,
        step: bool,
        rec: &mut Recorder,
        pc: u64,
    ) {
        let slot = self.threads[t].slot;
        let value = self.eval(t, e, rec);
        let before = self.raw(place);
        rec.write(slot, Kind::Write, place, before, value, step, pc);
        self.store(place, value.value);
    }

    #[allow(clippy::too_many_arguments)]
    fn update(
        &mut self,
        t: usize,
        reg: usize,
        place: (u8, u8),
        new: &dyn Fn(&Machine, &mut Recorder) -> Value,
        step: bool,
        rec: &mut Recorder,
        pc: u64,
    ) {
        let slot = self.threads[t].slot;
        let before = self.raw(place);
        self.threads[t].regs[reg] = rec.old_of_update(slot, place, before, step);
        let value = new(self, rec);
        rec.write(slot, Kind::Rmw, place, before, value, step, pc);
        self.store(place, value.value);
        self.saw(t, place, before, self.raw(place));
    }

    fn concrete(&self, t: usize, e: &Expr) -> u16 {
        self.eval(t, e, &mut Recorder::silent()).value
    }

    fn eval(&self, t: usize, e: &Expr, rec: &mut Recorder) -> Value {
        let mut two = |op, a: &Expr, b: &Expr| {
            let (a, b) = (self.eval(t, a, rec), self.eval(t, b, rec));
            rec.binary(op, a, b)
        };
        match e {
            Expr::Const(value) => Value::concrete(*value),
            Expr::Reg(reg) => self.threads[t].regs[*reg],
            Expr::Add(a, b) => two(Node::Add, a, b),
            Expr::Sub(a, b) => two(Node::Sub, a, b),
            Expr::Mul(a, b) => two(Node::Mul, a, b),
            Expr::Xor(a, b) => two(Node::Xor, a, b),
            Expr::Select(parts) => {
                let [a, b, yes, no] = &**parts;
                let condition = two(Node::Eq, a, b);
                let (yes, no) = (self.eval(t, yes, rec), self.eval(t, no, rec));
                rec.select(condition, yes, no)
            }
        }
    }

    /// Evaluates a condition, records the decision, and says whether it holds.
    fn decide(&mut self, t: usize, cond: &Cond, rec: &mut Recorder, kind: Kind) -> bool {
        let (slot, pc) = (self.threads[t].slot, self.pc(t));
        let (a, b) = (self.eval(t, &cond.1, rec), self.eval(t, &cond.2, rec));
        let op = match cond.0 {
            Cmp::Eq => Node::Eq,
            Cmp::Ne => Node::Ne,
            Cmp::Ult => Node::Ult,
            Cmp::Sle => Node::Sle,
        };
        let result = rec.binary(op, a, b);
        let value = u64::from(result.value);
        rec.branch(slot, kind, result.node, value, Why::Branch, pc);
        if kind == Kind::Branch {
            self.threads[t].path.push((pc, value));
        }
        value == 1
    }

    /// The thread and those that it waits for, one by one, until the first comes again.
    fn cycle(&self, start: usize) -> Option<Vec<usize>> {
        let mut cycle = vec![start];
        let mut at = start;
        while let Some(next) = self.blocker(at).and_then(|s| self.index_of(s)) {
            if next == start {
                return Some(cycle);
            }
            if cycle.len() > self.threads.len() {
                return None;
            }
            cycle.push(next);
            at = next;
        }
        None
    }

    /// Does the thread wait for itself, through others or at once?
    pub fn waits_for_itself(&self, t: usize) -> bool {
        self.cycle(t).is_some()
    }

    /// Ends the execution when thread `t`, which has just announced an operation, closes a cycle of
    /// threads that wait for each other, or when none can run.
    fn find_deadlock(&mut self, t: usize) {
        if self.ending.is_some() {
            return;
        }
        let here = |t: usize| (self.threads[t].slot, self.pc(t));
        let all = 0..self.threads.len();
        let nobody = self.enabled().is_empty();
        let cycle = match nobody {
            true => all.clone().find_map(|t| self.cycle(t)),
            false => self.cycle(t),
        };
        let mut stuck: Vec<(Slot, u64)> = match cycle {
            Some(cycle) => cycle.into_iter().map(here).collect::<Vec<_>>(),
            None if nobody => {
                let waiting = all.filter(|&t| self.announced(t).is_some());
                waiting.map(here).collect()
            }
            None => return,
        };
        stuck.sort_unstable();
        let who = stuck.first().map_or(slot::MAIN, |s| s.0);
        let spins = stuck.iter().filter_map(|s| self.index_of(s.0));
        let ending = match spins.into_iter().any(|t| self.threads[t].parked.is_some()) {
            true => Ending::Livelock(stuck),
            false => Ending::Deadlock(stuck),
        };
        self.ending = Some((who, ending));
    }
}

fn visible(rec: &Recorder, place: (u8, u8)) -> bool {
    rec.is_visible(MEMORY + u64::from(place.0), place.1)
}

impl Thread {
    fn new(slot: Slot, body: usize, argument: Value, status: Status) -> Thread {
        let mut regs = [Value::default(); REGS];
        regs[0] = argument;
        Thread {
            slot,
            body,
            at: 0,
            regs,
            status,
            children: 0,
            inputs: 0,
            round: None,
            parked: None,
            path: Vec::new(),
        }
    }
}

impl Ending {
    /// As the protocol says it.
    pub fn end(&self) -> (End, i32) {
        match self {
            Ending::Exit(code) => (End::Exit, *code),
            Ending::Assertion(_) => (End::Assertion, 134),
            Ending::Deadlock(_) => (End::Deadlock, 0),
            Ending::Livelock(_) => (End::Livelock, 0),
            Ending::Misuse(_) => (End::Misuse, 0),
            Ending::Assumed => (End::Assumed, 0),
        }
    }
}

/// A record with everything but the kind-specific fields zero.
pub fn record(kind: Kind, thread: Slot) -> Event {
    Event {
        kind: kind as u8,
        thread,
        ..Event::default()
    }
}
