//! The toy language: threads over a few bytes of shared memory, registers of 16 bits.

/// Address of the first byte of memory.
pub const MEMORY: u64 = 0x1000;
/// Address of the first mutex; they lie 64 bytes apart.
pub const MUTEXES: u64 = 0x9000;

/// An expression over the registers of a thread.
#[derive(Clone, Debug)]
pub enum Expr {
    Const(u16),
    Reg(usize),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    Xor(Box<Expr>, Box<Expr>),
    /// `if a == b { c } else { d }` without a branch.
    Select(Box<[Expr; 4]>),
}

/// A condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmp {
    Eq,
    Ne,
    Ult,
    Sle,
}

#[derive(Clone, Debug)]
pub struct Cond(pub Cmp, pub Expr, pub Expr);

/// A statement. Memory operands are (byte, size 1 or 2).
#[derive(Clone, Debug)]
pub enum Stmt {
    Let(usize, Expr),
    /// An input of one byte below the bound.
    Input(usize, u8),
    Read(usize, (u8, u8)),
    Write((u8, u8), Expr),
    /// Reads the byte at a computed offset, one of the first so many.
    ReadAt(usize, Expr, u8),
    /// Writes the byte at a computed offset, one of the first so many.
    WriteAt(Expr, u8, Expr),
    /// The register gets the old value; the new one is the expression.
    Update(usize, (u8, u8), Expr),
    /// (register for the old value, place, expected, new)
    Cas(usize, (u8, u8), Expr, Expr),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// Repeats an access (a read or a compare-exchange) until the condition holds. A round that
    /// changes nothing hands nothing on to the next.
    Await(Cond, Box<Stmt>),
    While(Cond, Vec<Stmt>),
    Lock(u8),
    Unlock(u8),
    /// Nobody may hold or use the mutex from then on.
    Destroy(u8),
    /// The register gets 0 or EBUSY.
    TryLock(usize, u8),
    /// The register gets the handle of a new thread that runs this body with the expression in its
    /// register 0.
    Create(usize, usize, Expr),
    /// Joins the handle in the second register; the first gets the result.
    Join(usize, usize),
    /// An operation on a synchronisation object; the register gets its result.
    Sync(usize, Sync),
    /// Ends the thread with this result.
    Return(u16),
    Assert(Cond),
    Assume(Cond),
    Exit(u8),
}

/// How long an operation waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// For ever.
    Waits,
    /// Until a deadline, which can pass at any time.
    Timed,
    /// Not at all.
    Tries,
}

/// Operations on synchronisation objects, which are numbered per kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Waits for a condition (the first), giving up a mutex (the second) that the thread holds.
    Wait(u8, u8, Patience),
    Signal(u8),
    Broadcast(u8),
    TimedLock(u8),
    SemWait(u8, Patience),
    SemPost(u8),
    SemValue(u8),
    Read(u8, Patience),
    Write(u8, Patience),
    RwUnlock(u8),
    /// The register gets 1 in one thread of each round.
    Barrier(u8),
    /// The register gets 1 if this thread is to run the routine, which [`Sync::OnceDone`] ends.
    Once(u8),
    /// Has it returned, or was it left by an exception?
    OnceDone(u8, bool),
    /// Writes so many bytes (the last number) to a pipe: this one and those that follow it.
    Send(u8, u8, u8),
    /// Reads so many bytes at most, at least one; the register gets them.
    Receive(u8, u8),
    /// Adds to an event counter.
    Add(u8, u16),
    /// The register gets what an event counter has come to, which then is 0.
    Take(u8),
    /// Until [`Sync::End`] nobody else takes a step.
    Begin,
    End,
}

/// Bodies of threads; main is body 0.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub bodies: Vec<Vec<Stmt>>,
    /// Content of memory at the start.
    pub memory: Vec<u8>,
    /// Mutexes that their owner may take again.
    pub recursive: Vec<u8>,
    /// Counts of the semaphores at the start.
    pub semaphores: Vec<u16>,
    /// What the event counters hold at the start.
    pub counters: Vec<u16>,
    /// How many threads make a round of each barrier.
    pub barriers: Vec<u16>,
    /// Does main begin with a step of its own?
    pub main_starts: bool,
    /// Condition waits may end although nobody signalled, a few in an execution.
    pub spurious: bool,
}

/// One instruction of the flat form.
#[derive(Clone, Debug)]
pub enum Op {
    Do(Stmt),
    Jump(usize),
    /// Goes on with the next one if the condition holds, else there.
    Unless(Cond, usize),
    /// A round of a loop that only waits begins: the first of them?
    Round(bool),
}

/// Flattens a body; every instruction's index is its identity.
pub fn flatten(body: &[Stmt]) -> Vec<Op> {
    let mut ops = Vec::new();
    block(body, &mut ops);
    ops.push(Op::Do(Stmt::Return(0)));
    ops
}

fn block(body: &[Stmt], ops: &mut Vec<Op>) {
    for stmt in body {
        match stmt {
            Stmt::If(cond, yes, no) => {
                let test = ops.len();
                ops.push(Op::Jump(0));
                block(yes, ops);
                let end = ops.len();
                ops.push(Op::Jump(0));
                ops[test] = Op::Unless(cond.clone(), ops.len());
                block(no, ops);
                ops[end] = Op::Jump(ops.len());
            }
            Stmt::While(cond, inner) => {
                let test = ops.len();
                ops.push(Op::Jump(0));
                block(inner, ops);
                ops.push(Op::Jump(test));
                ops[test] = Op::Unless(cond.clone(), ops.len());
            }
            Stmt::Await(cond, access) => {
                ops.extend([Op::Round(true), Op::Do((**access).clone())]);
                let access = ops.len() - 1;
                ops.extend([Op::Unless(cond.clone(), access + 3), Op::Jump(access + 5)]);
                ops.extend([Op::Round(false), Op::Jump(access)]);
            }
            other => ops.push(Op::Do(other.clone())),
        }
    }
}

/// Short forms for writing programs by hand.
pub mod make {
    use super::*;

    pub fn c(value: u16) -> Expr {
        Expr::Const(value)
    }
    pub fn r(reg: usize) -> Expr {
        Expr::Reg(reg)
    }
    pub fn add(a: Expr, b: Expr) -> Expr {
        Expr::Add(Box::new(a), Box::new(b))
    }
    pub fn eq(a: Expr, b: Expr) -> Cond {
        Cond(Cmp::Eq, a, b)
    }
    pub fn ne(a: Expr, b: Expr) -> Cond {
        Cond(Cmp::Ne, a, b)
    }
    pub fn ult(a: Expr, b: Expr) -> Cond {
        Cond(Cmp::Ult, a, b)
    }
    pub fn read(reg: usize, byte: u8) -> Stmt {
        Stmt::Read(reg, (byte, 1))
    }
    pub fn write(byte: u8, value: Expr) -> Stmt {
        Stmt::Write((byte, 1), value)
    }
    pub fn iff(cond: Cond, yes: Vec<Stmt>) -> Stmt {
        Stmt::If(cond, yes, Vec::new())
    }

    /// Main creates one thread per body, joins them all, and runs `end`.
    pub fn fork_join(bodies: Vec<Vec<Stmt>>, end: Vec<Stmt>, memory: usize) -> Program {
        let n = bodies.len();
        let mut main: Vec<Stmt> = (0..n).map(|i| Stmt::Create(i, i + 1, c(0))).collect();
        main.extend((0..n).map(|i| Stmt::Join(9, i)));
        main.extend(end);
        Program {
            bodies: std::iter::once(main).chain(bodies).collect(),
            memory: vec![0; memory],
            ..Program::default()
        }
    }
}
