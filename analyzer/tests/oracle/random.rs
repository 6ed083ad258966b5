//! Random toy programs.

use crate::program::{Cmp, Cond, Expr, Patience, Program, Stmt, Sync, make::*};

/// A small generator of numbers (splitmix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }
}

/// What a program may hold.
#[derive(Clone, Copy, Debug)]
pub struct Menu {
    pub threads: usize,
    pub statements: usize,
    /// Inputs per thread at most.
    pub inputs: usize,
    pub locks: usize,
    pub nested_threads: bool,
    pub exits: bool,
    pub wide: bool,
    pub unjoined: bool,
    /// Main destroys a mutex somewhere.
    pub destroys: bool,
    /// Every other statement takes a mutex.
    pub lock_heavy: bool,
    /// What threads do to memory, they do under one mutex.
    pub guarded: bool,
    /// Arrays that are written at computed places, and loops of at most two rounds.
    pub loops: bool,
    /// Loops that wait for a value in memory.
    pub waits: bool,
    /// Condition waits may end for no reason.
    pub spurious: bool,
    /// Operations on these in every other statement.
    pub sync: &'static [Family],
}

/// Kinds of synchronisation objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Conditions,
    Semaphores,
    RwLocks,
    Barriers,
    Once,
    /// Routines of once controls that may be left by an exception.
    Throwing,
    TimedLocks,
    Pipes,
    Counters,
    /// Atomic ones, in which there are accesses only.
    Sections,
}

pub const INPUT_BOUND: u8 = 3;

struct Writer<'a> {
    dice: &'a mut Dice,
    menu: Menu,
    inputs: usize,
    /// Bodies of threads that threads create.
    nested: Vec<Vec<Stmt>>,
    first_nested: usize,
    depth: usize,
    /// Loops around the next statement.
    loops: usize,
    /// The next statement is in a section of [`GUARD`].
    inside: bool,
}

/// The mutex of [`Menu::guarded`].
const GUARD: u8 = 2;

/// A program and how many inputs each top-level thread reads at most.
pub fn program(seed: u64, menu: Menu) -> Program {
    let mut dice = Dice::new(seed);
    let workers = 1 + dice.roll(menu.threads);
    let first_nested = workers + 1;
    let mut nested = Vec::new();
    let mut bodies = vec![Vec::new()];
    for _ in 0..workers {
        let mut writer = Writer {
            dice: &mut dice,
            menu,
            inputs: 0,
            nested: Vec::new(),
            first_nested: first_nested + nested.len(),
            depth: 0,
            loops: 0,
            inside: false,
        };
        let budget = 1 + writer.dice.roll(menu.statements);
        let body = writer.body(budget);
        nested.append(&mut writer.nested);
        bodies.push(body);
    }
    let mut main = Vec::new();
    for i in 0..workers {
        let argument = match dice.roll(3) {
            0 => {
                main.push(read(4, 0));
                r(4)
            }
            _ => c(i as u16),
        };
        main.push(Stmt::Create(i + 5, i + 1, argument));
    }
    let mut writer = Writer {
        dice: &mut dice,
        menu: Menu {
            inputs: 0,
            nested_threads: false,
            loops: false,
            ..menu
        },
        inputs: 0,
        nested: Vec::new(),
        first_nested: 0,
        depth: 0,
        loops: 0,
        inside: false,
    };
    let budget = writer.dice.roll(3);
    main.extend(writer.body(budget));
    for i in 0..workers {
        if !menu.unjoined || dice.roll(4) > 0 {
            main.push(Stmt::Join(4, i + 5));
            if dice.roll(4) == 0 {
                main.push(Stmt::Assert(ne(r(4), c(2))));
            }
        }
    }
    if menu.destroys {
        let at = dice.roll(main.len() + 1);
        main.insert(at, Stmt::Destroy(dice.roll(menu.locks) as u8));
    }
    if dice.roll(2) == 0 {
        main.push(read(1, 0));
        let bad = dice.roll(5) as u16;
        main.push(Stmt::Assert(ne(r(1), c(bad))));
    }
    bodies[0] = main;
    bodies.extend(nested);
    Program {
        bodies,
        memory: vec![0; 3],
        recursive: if dice.roll(2) == 0 {
            vec![1]
        } else {
            Vec::new()
        },
        main_starts: dice.roll(2) == 0,
        semaphores: vec![dice.roll(3) as u16, dice.roll(2) as u16],
        counters: match menu.sync.contains(&Family::Counters) {
            true => vec![dice.roll(2) as u16, 0],
            false => Vec::new(),
        },
        barriers: vec![2],
        spurious: menu.spurious,
    }
}

/// Three threads that count in one byte; it is looked at in the end, and by some
/// threads.
pub fn counting(seed: u64) -> Program {
    let mut dice = Dice::new(seed);
    let mut threads = Vec::new();
    for thread in 0..3 {
        let mut body = Vec::new();
        if thread == 0 && dice.roll(3) == 0 {
            body.push(Stmt::Input(3, INPUT_BOUND));
        }
        for _ in 0..1 + dice.roll(2) {
            let by = match dice.roll(4) {
                0 => Expr::Sub(Box::new(r(1)), Box::new(c(1 + dice.roll(2) as u16))),
                _ => add(r(1), c(1 + dice.roll(2) as u16)),
            };
            body.extend(match dice.roll(6) {
                0 => vec![write(0, c(dice.roll(5) as u16))],
                1 => vec![read(1, 0), iff(ult(r(1), r(3)), vec![write(0, by)])],
                2 | 3 => vec![read(1, 0), write(0, by)],
                _ => vec![Stmt::Update(1, (0, 1), by)],
            });
        }
        if dice.roll(4) == 0 {
            body.extend([read(2, 0), Stmt::Assert(ne(r(2), c(dice.roll(6) as u16)))]);
        }
        threads.push(body);
    }
    let most = dice.roll(8) as u16;
    let end = vec![read(1, 0), iff(ult(c(most), r(1)), vec![Stmt::Exit(1)])];
    fork_join(threads, end, 1)
}

/// Two or three threads that add to byte 0 in one step each, most of them nothing else.
pub fn totals(seed: u64) -> Program {
    let mut dice = Dice::new(seed);
    let slip = dice.roll(6) == 0;
    let count = 2 + dice.roll(3) / 2;
    let mut threads: Vec<Vec<Stmt>> = Vec::new();
    for _ in 0..count {
        let mut body = Vec::new();
        for _ in 0..1 + dice.roll(6 - count) {
            total_step(&mut dice, 0, &mut body);
        }
        if slip && dice.roll(2) == 0 {
            let at = dice.roll(body.len() + 1);
            let value = c(dice.roll(3) as u16);
            let other = match dice.roll(3) {
                0 => Stmt::Update(1, (0, 1), value),
                1 => Stmt::Cas(1, (0, 1), value, c(3)),
                _ => write(0, value),
            };
            body.insert(at, other);
        }
        threads.push(body);
    }
    let bad = dice.roll(7) as u16;
    let end = vec![read(1, 0), iff(eq(r(1), c(bad)), vec![Stmt::Exit(1)])];
    let mut program = fork_join(threads, end, 2);
    program.memory[0] = dice.roll(3) as u8;
    let main = &mut program.bodies[0];
    for _ in 0..dice.roll(3) {
        let value = c(dice.roll(5) as u16);
        let at = if slip { dice.roll(count) } else { 0 };
        main.insert(at, write(0, value));
    }
    match dice.roll(6) {
        0 | 1 => main.insert(dice.roll(count), Stmt::Update(5, (0, 1), add(r(5), c(3)))),
        // The first thread stores something before the others begin.
        2 => {
            let ends = |s: &Stmt| matches!(s, Stmt::Join(_, 0));
            main.retain(|s| !ends(s));
            let begins = |s: &Stmt| matches!(s, Stmt::Create(0, ..));
            let at = main.iter().position(begins).map_or(0, |at| at + 1);
            main.insert(at, Stmt::Join(9, 0));
            if dice.roll(2) == 0 {
                main.insert(at + 1, write(0, c(dice.roll(5) as u16)));
            }
            program.bodies[1] = vec![write(0, c(dice.roll(5) as u16))];
        }
        _ => {}
    }
    program
}

/// A few statements of [`totals`], of which the first adds to byte 0 or reads it.
fn total_step(dice: &mut Dice, depth: usize, body: &mut Vec<Stmt>) {
    let by = c(1 + dice.roll(2) as u16);
    body.push(match dice.roll(4) {
        0 => read(1, 0),
        1 => Stmt::Update(1, (0, 1), Expr::Sub(Box::new(r(1)), Box::new(by))),
        _ => Stmt::Update(1, (0, 1), add(r(1), by)),
    });
    let bound = c(dice.roll(4) as u16);
    match dice.roll(5) {
        0 => body.push(write(1, bound)),
        1 => body.extend([read(2, 1), Stmt::Assert(ne(r(1), add(r(2), bound)))]),
        2 | 3 if depth == 0 => {
            let mut inner = Vec::new();
            total_step(dice, 1, &mut inner);
            body.push(iff(ult(r(1), bound), inner));
        }
        _ => {}
    }
}

/// Two or three threads that use byte 0 as a lock for the others, some of them wrongly.
pub fn word_lock(seed: u64) -> Program {
    let mut dice = Dice::new(seed);
    let free = dice.roll(4).min(1) as u16;
    let count = 2 + dice.roll(5) / 4;
    let careful = dice.roll(3) > 0;
    let threads = (0..count).map(|thread| {
        let mut body = Vec::new();
        for _ in 0..1 + dice.roll(2) {
            let taken = free + 1 + (dice.roll(2) * thread) as u16;
            word_section(&mut dice, (free, taken), careful, &mut body);
        }
        body
    });
    let threads: Vec<Vec<Stmt>> = threads.collect();
    let end = match dice.roll(2) {
        0 => vec![read(1, 1), Stmt::Assert(ne(r(1), c(dice.roll(4) as u16)))],
        _ => vec![read(1, 1), iff(eq(r(1), c(2)), vec![Stmt::Exit(1)])],
    };
    let mut program = fork_join(threads, end, 3);
    program.memory[0] = free as u8;
    // Main makes the lock free once more, before or while others use it.
    match dice.roll(4) {
        0 => program.bodies[0].insert(0, write(0, c(free))),
        1 if !careful => program.bodies[0].insert(1 + dice.roll(count), write(0, c(free))),
        _ => {}
    }
    program
}

/// A section of the lock, most of the time.
fn word_section(dice: &mut Dice, (free, taken): (u16, u16), careful: bool, body: &mut Vec<Stmt>) {
    let slips = |dice: &mut Dice| !careful && dice.roll(5) == 0;
    let is_free = eq(r(1), c(free));
    body.push(match dice.roll(8) {
        // Whoever takes it waits for it first.
        0 => {
            let take = Stmt::Cas(1, (0, 1), c(free), c(taken));
            Stmt::Await(is_free.clone(), Box::new(take))
        }
        1 | 2 => Stmt::Update(1, (0, 1), c(taken)),
        3 if free == 0 => Stmt::Update(1, (0, 1), add(r(1), c(taken))),
        _ => Stmt::Cas(1, (0, 1), c(free), c(taken)),
    });
    if slips(dice) {
        body.pop();
        body.push(read(1, 0));
        body.push(iff(is_free.clone(), vec![write(0, c(taken))]));
    }
    let mut inner = vec![read(2, 1)];
    if dice.roll(2) == 0 {
        let e = if dice.roll(2) == 0 {
            add(r(2), c(1))
        } else {
            c(dice.roll(3) as u16)
        };
        inner.push(write(1, e));
    }
    if dice.roll(4) == 0 {
        inner.push(Stmt::Cas(3, (0, 1), c(free), c(taken)));
    }
    if dice.roll(3) == 0 {
        inner.extend([read(3, 1), Stmt::Assert(eq(r(2), r(3)))]);
    }
    if !slips(dice) {
        inner.push(match dice.roll(3) {
            0 => Stmt::Update(3, (0, 1), c(free)),
            _ => write(0, c(free)),
        });
    }
    if slips(dice) {
        inner.push(write(0, c(free)));
    }
    let is_free = match slips(dice) {
        true if dice.roll(2) == 0 => ne(r(1), c(free)),
        true => ult(r(1), c(free + 2)),
        false => is_free,
    };
    body.push(iff(is_free, inner));
    if dice.roll(4) == 0 {
        let other = dice.roll(3) as u16;
        body.extend([
            read(3, 1),
            write(2, c(other)),
            iff(eq(r(3), c(1)), vec![read(3, 0)]),
        ]);
    }
    if slips(dice) {
        body.push(write(0, c(free)));
    }
}

impl Writer<'_> {
    fn place(&mut self) -> (u8, u8) {
        match self.menu.wide && self.dice.roll(4) == 0 {
            true => (self.dice.roll(2) as u8, 2),
            false => (self.dice.roll(3) as u8, 1),
        }
    }

    fn reg(&mut self) -> usize {
        self.dice.roll(4)
    }

    fn expr(&mut self) -> Expr {
        match self.dice.roll(6) {
            0 | 1 => c(self.dice.roll(4) as u16),
            2 | 3 => r(self.reg()),
            4 => add(r(self.reg()), c(1 + self.dice.roll(2) as u16)),
            _ => {
                let (a, b) = (Box::new(r(self.reg())), Box::new(r(self.reg())));
                match self.dice.roll(3) {
                    0 => Expr::Sub(a, b),
                    1 => Expr::Mul(a, b),
                    _ => Expr::Xor(a, b),
                }
            }
        }
    }

    fn cond(&mut self) -> Cond {
        let cmp = [Cmp::Eq, Cmp::Ne, Cmp::Ult, Cmp::Sle][self.dice.roll(4)];
        Cond(cmp, r(self.reg()), self.expr())
    }

    fn body(&mut self, budget: usize) -> Vec<Stmt> {
        let mut body = Vec::new();
        for _ in 0..budget {
            self.statement(&mut body);
        }
        body
    }

    fn patience(&mut self) -> Patience {
        [Patience::Waits, Patience::Timed, Patience::Tries][self.dice.roll(3)]
    }

    /// A few statements inside others.
    fn inner(&mut self) -> Vec<Stmt> {
        self.depth += 1;
        let n = self.dice.roll(3);
        let inner = self.body(n);
        self.depth -= 1;
        inner
    }

    fn synchronise(&mut self, body: &mut Vec<Stmt>) {
        let n = self.dice.roll(self.menu.sync.len());
        let reg = self.reg();
        let family = self.menu.sync[n];
        let (take, give) = match family {
            Family::Conditions => return self.condition(reg, body),
            Family::Sections => return self.section(body),
            Family::Pipes => {
                let p = self.dice.roll(2) as u8;
                let count = 1 + self.dice.roll(2) as u8;
                let op = match self.dice.roll(5) {
                    0..3 => Sync::Send(p, self.dice.roll(3) as u8, count),
                    _ => Sync::Receive(p, count),
                };
                return body.push(Stmt::Sync(reg, op));
            }
            Family::Counters => {
                let e = self.dice.roll(2) as u8;
                let op = match self.dice.roll(5) {
                    0..3 => Sync::Add(e, 1 + self.dice.roll(2) as u16),
                    _ => Sync::Take(e),
                };
                return body.push(Stmt::Sync(reg, op));
            }
            Family::Barriers => return body.push(Stmt::Sync(reg, Sync::Barrier(0))),
            Family::Semaphores => {
                let s = self.dice.roll(2) as u8;
                let op = match self.dice.roll(5) {
                    0 | 1 => Sync::SemPost(s),
                    2 | 3 => Sync::SemWait(s, self.patience()),
                    _ => Sync::SemValue(s),
                };
                return body.push(Stmt::Sync(reg, op));
            }
            Family::RwLocks => {
                let (l, patience) = (self.dice.roll(2) as u8, self.patience());
                let op = match self.dice.roll(2) {
                    0 => Sync::Read(l, patience),
                    _ => Sync::Write(l, patience),
                };
                (op, Stmt::Sync(4, Sync::RwUnlock(l)))
            }
            Family::TimedLocks => {
                let m = self.dice.roll(self.menu.locks) as u8;
                (Sync::TimedLock(m), Stmt::Unlock(m))
            }
            Family::Once | Family::Throwing => {
                let o = self.dice.roll(2) as u8;
                body.push(Stmt::Sync(reg, Sync::Once(o)));
                let mut inner = self.inner();
                let returns = family == Family::Once || self.dice.roll(2) == 0;
                inner.push(Stmt::Sync(4, Sync::OnceDone(o, returns)));
                return body.push(Stmt::If(eq(r(reg), c(1)), inner, Vec::new()));
            }
        };
        body.push(Stmt::Sync(reg, take));
        let mut inner = self.inner();
        inner.push(give);
        body.push(Stmt::If(eq(r(reg), c(0)), inner, Vec::new()));
    }

    fn section(&mut self, body: &mut Vec<Stmt>) {
        body.push(Stmt::Sync(4, Sync::Begin));
        for _ in 0..1 + self.dice.roll(3) {
            let (reg, place, value) = (self.reg(), self.place(), self.expr());
            let access = match self.dice.roll(3) {
                0 => Stmt::Read(reg, place),
                1 => Stmt::Write(place, value),
                _ => Stmt::Update(reg, place, value),
            };
            body.push(match self.dice.roll(3) {
                0 => iff(eq(r(reg), c(0)), vec![access]),
                _ => access,
            });
        }
        body.push(Stmt::Sync(4, Sync::End));
    }

    fn condition(&mut self, reg: usize, body: &mut Vec<Stmt>) {
        let condition = self.dice.roll(2) as u8;
        let m = self.dice.roll(self.menu.locks) as u8;
        match self.dice.roll(6) {
            0 | 1 => body.push(Stmt::Sync(reg, Sync::Signal(condition))),
            2 => body.push(Stmt::Sync(reg, Sync::Broadcast(condition))),
            kind => {
                let patience = match self.dice.roll(2) {
                    0 => Patience::Waits,
                    _ => Patience::Timed,
                };
                let wait = Stmt::Sync(reg, Sync::Wait(condition, m, patience));
                body.push(Stmt::Lock(m));
                match kind {
                    3 => body.push(wait),
                    // Only if nobody has written before.
                    _ => {
                        let flag = self.place();
                        let nobody = eq(r(reg), c(0));
                        body.extend([Stmt::Read(reg, flag), iff(nobody, vec![wait])]);
                    }
                }
                body.extend(self.inner());
                body.push(Stmt::Unlock(m));
            }
        }
    }

    /// A loop that ends after so many rounds, or when a read says so.
    fn looped(&mut self, body: &mut Vec<Stmt>) {
        let round = 6 + self.loops;
        self.loops += 1;
        let rounds = 1 + self.dice.roll(2) as u16;
        let n = 1 + self.dice.roll(2);
        // Each round would have inputs of its own.
        let inputs = std::mem::take(&mut self.menu.inputs);
        let mut inner = self.body(n);
        self.menu.inputs = inputs;
        let next = Stmt::Let(round, add(r(round), c(1)));
        match self.dice.roll(2) {
            0 => inner.push(next),
            _ => {
                let (reg, place, cond) = (self.reg(), self.place(), self.cond());
                let enough = Stmt::Let(round, c(9));
                inner.push(Stmt::Read(reg, place));
                inner.push(Stmt::If(cond, vec![enough], vec![next]));
            }
        }
        self.loops -= 1;
        body.push(Stmt::Let(round, c(0)));
        body.push(Stmt::While(ult(r(round), c(rounds)), inner));
    }

    /// Waits for a value, or until a compare-exchange finds one.
    fn await_value(&mut self, body: &mut Vec<Stmt>) {
        let (reg, place) = (self.reg(), self.place());
        let value = c(self.dice.roll(3) as u16);
        let wanted = Cond([Cmp::Eq, Cmp::Ne][self.dice.roll(2)], r(reg), value.clone());
        let access = match self.dice.roll(3) {
            0 => Stmt::Cas(reg, place, value, c(self.dice.roll(3) as u16)),
            _ => Stmt::Read(reg, place),
        };
        body.push(Stmt::Await(wanted, Box::new(access)));
    }

    fn statement(&mut self, body: &mut Vec<Stmt>) {
        if self.menu.guarded && !self.inside {
            body.push(Stmt::Lock(GUARD));
            let n = 1 + self.dice.roll(3);
            self.inside = true;
            body.extend(self.body(n));
            self.inside = false;
            return body.push(Stmt::Unlock(GUARD));
        }
        if self.menu.waits && self.dice.roll(4) == 0 {
            return self.await_value(body);
        }
        if self.menu.loops && self.dice.roll(4) == 0 {
            match self.dice.roll(3) {
                0 if self.loops < 1 && self.depth < 2 => return self.looped(body),
                1 => {
                    let (reg, e) = (self.reg(), self.expr());
                    return body.push(Stmt::ReadAt(reg, e, 3));
                }
                _ => {
                    let (e, value) = (self.expr(), self.expr());
                    return body.push(Stmt::WriteAt(e, 3, value));
                }
            }
        }
        if !self.menu.sync.is_empty() && self.depth < 3 && self.dice.roll(2) == 0 {
            self.synchronise(body);
            return;
        }
        let heavy = self.menu.lock_heavy && self.depth < 2 && self.dice.roll(2) == 0;
        match if heavy { 12 } else { self.dice.roll(19) } {
            0..=2 => {
                let (reg, place) = (self.reg(), self.place());
                body.push(Stmt::Read(reg, place));
            }
            3..=5 => {
                let (place, e) = (self.place(), self.expr());
                body.push(Stmt::Write(place, e));
            }
            6 => {
                let (reg, place) = (self.reg(), self.place());
                body.push(Stmt::Update(reg, place, add(r(reg), c(1))));
            }
            7 => {
                let (reg, place) = (self.reg(), self.place());
                let (expected, new) = (self.expr(), self.expr());
                body.push(Stmt::Cas(reg, place, expected, new));
            }
            8..=10 if self.depth < 2 => {
                self.depth += 1;
                let cond = self.cond();
                let n = 1 + self.dice.roll(2);
                let yes = self.body(n);
                let n = self.dice.roll(2);
                let no = self.body(n);
                self.depth -= 1;
                body.push(Stmt::If(cond, yes, no));
            }
            11 if self.inputs < self.menu.inputs => {
                self.inputs += 1;
                let reg = self.reg();
                body.push(Stmt::Input(reg, INPUT_BOUND));
            }
            12 if self.menu.locks > 0 => {
                let m = self.dice.roll(self.menu.locks) as u8;
                body.push(Stmt::Lock(m));
                let n = 1 + self.dice.roll(2);
                self.depth += 1;
                body.extend(self.body(n));
                self.depth -= 1;
                body.push(Stmt::Unlock(m));
            }
            13 if self.menu.locks > 0 => {
                let (reg, m) = (self.reg(), self.dice.roll(self.menu.locks) as u8);
                body.push(Stmt::TryLock(reg, m));
                let n = self.dice.roll(2);
                let mut inner = self.body(n);
                inner.push(Stmt::Unlock(m));
                // The inner statements may have changed the register: test at once.
                body.push(Stmt::If(eq(r(reg), c(0)), inner, Vec::new()));
            }
            14 if self.menu.nested_threads && self.nested.is_empty() && self.depth < 2 => {
                let menu = self.menu;
                self.menu.nested_threads = false;
                self.menu.inputs = 0;
                let n = 1 + self.dice.roll(2);
                let inner = self.body(n);
                self.menu = menu;
                let id = self.first_nested + self.nested.len();
                self.nested.push(inner);
                let e = self.expr();
                body.push(Stmt::Create(8, id, e));
                if self.dice.roll(3) > 0 {
                    let n = self.dice.roll(2);
                    body.extend(self.body(n));
                    body.push(Stmt::Join(4, 8));
                }
            }
            15 if self.menu.exits && self.dice.roll(2) == 0 => {
                let code = 1 + self.dice.roll(2) as u8;
                let cond = self.cond();
                body.push(iff(cond, vec![Stmt::Exit(code)]));
            }
            16 => {
                let cond = self.cond();
                body.push(Stmt::Assert(cond));
            }
            17 => {
                let cond = self.cond();
                let value = 1 + self.dice.roll(2) as u16;
                body.push(iff(cond, vec![Stmt::Return(value)]));
            }
            18 => {
                let reg = self.reg();
                let e = self.expr();
                body.push(Stmt::ReadAt(reg, e, 3));
            }
            _ => {
                let (reg, e) = (self.reg(), self.expr());
                body.push(Stmt::Let(reg, e));
            }
        }
    }
}
