//! Programs for the machine: known ones, and random ones.

use crate::machine::{Op, Program};
use Op::*;
use raddle_protocol::update::{Operands, Update};

fn program(threads: &[&[Op]]) -> Program {
    Program {
        threads: threads.iter().map(|lines| lines.to_vec()).collect(),
        tokens: 1,
        rounds: None,
    }
}

/// Name, program, and how many Mazurkiewicz traces it has where that can be counted by hand.
pub fn known() -> Vec<(&'static str, Program, Option<usize>)> {
    let section = [Lock(0), Read(0), Write(0, 1), Unlock(0)];
    vec![
        (
            "independent",
            program(&[&[Write(0, 1)], &[Write(1, 1)]]),
            Some(1),
        ),
        (
            "two writers",
            program(&[&[Write(0, 1)], &[Write(0, 2)]]),
            Some(2),
        ),
        (
            "three writers",
            program(&[&[Write(0, 1)], &[Write(0, 2)], &[Write(0, 3)]]),
            Some(6),
        ),
        // JACM 2017, figure 1: a writer and two readers.
        (
            "writer and readers",
            program(&[&[Write(0, 1)], &[Read(1), Read(0)], &[Read(2), Read(0)]]),
            Some(4),
        ),
        // With several workers the reader that sleeps once hid the other one's early read.
        (
            "two readers and a late writer",
            program(&[&[Read(0)], &[Add(1), Write(0, 1)], &[Read(0)]]),
            Some(4),
        ),
        ("sections", program(&[&section, &section]), Some(2)),
        (
            "three sections",
            program(&[&section, &section, &section]),
            Some(6),
        ),
        (
            "lost update",
            program(&[&[Read(0), Write(0, 1)], &[Read(0), Write(0, 1)]]),
            None,
        ),
        (
            "deadlock",
            program(&[
                &[Lock(0), Lock(1), Unlock(1), Unlock(0)],
                &[Lock(1), Lock(0), Unlock(0), Unlock(1)],
            ]),
            Some(3),
        ),
        (
            "trylock",
            program(&[&[TryLock(0), UnlockIf(0)], &[TryLock(0), UnlockIf(0)]]),
            Some(4),
        ),
        (
            "readers and a writer",
            program(&[
                &[ReadLock(0), RwUnlock(0)],
                &[ReadLock(0), RwUnlock(0)],
                &[WriteLock(0), RwUnlock(0)],
            ]),
            None,
        ),
        (
            "signal",
            program(&[
                &[Lock(0), Wait(0, false), Unlock(0)],
                &[Lock(0), Signal(0), Unlock(0)],
            ]),
            Some(2),
        ),
        (
            "signal of two",
            program(&[
                &[Lock(0), Wait(0, false), Unlock(0)],
                &[Lock(0), Wait(0, false), Unlock(0)],
                &[Lock(0), Signal(0), Unlock(0)],
            ]),
            None,
        ),
        (
            "timed wait",
            program(&[
                &[Lock(0), Wait(0, true), Unlock(0)],
                &[Lock(0), Signal(0), Unlock(0)],
            ]),
            None,
        ),
        (
            "tokens",
            program(&[
                &[SemWait(0), SemPost(0)],
                &[SemWait(0), SemPost(0)],
                &[SemTry(0)],
            ]),
            None,
        ),
        (
            "barrier",
            program(&[
                &[Write(0, 1), Barrier(0), Read(1)],
                &[Write(1, 1), Barrier(0), Read(0)],
            ]),
            Some(2),
        ),
        (
            "exit",
            program(&[&[Write(0, 1), Write(1, 1)], &[Read(0), ExitIf(0), Read(1)]]),
            None,
        ),
        (
            "crash",
            program(&[&[Write(0, 1), Write(1, 1)], &[Read(0), CrashIf(0), Read(1)]]),
            None,
        ),
        // What sees the first write ends the process, with or without the second.
        (
            "crash that a wrong guess hides",
            program(&[
                &[Read(0)],
                &[Write(1, 1), Write(1, 1)],
                &[Write(0, 1), Read(1), CrashIf(1)],
            ]),
            Some(17),
        ),
        // One ends the process whenever it comes, unless the other does: what else has happened by
        // then makes another class. The first ends it only if it comes first.
        (
            "two that end the process at any time",
            program(&[
                &[Read(1), CrashIf(0), Yield],
                &[Add(1), CrashIf(1), Add(1), CrashIf(1), Yield],
                &[Read(0), CrashIf(1), Yield],
            ]),
            Some(20),
        ),
        // The reader ends the process where it comes first, before or after the write of the third:
        // an execution that shows both that write and the read has the sum first.
        (
            "a crash beside a write that the sum covers",
            program(&[
                &[Add(0), Add(0), CrashIf(1), Yield],
                &[Read(0), CrashIf(0), Write(0, 1), Read(1), Yield],
                &[Write(1, 2), Yield],
            ]),
            None,
        ),
        // The reader's round comes before the write, or after it; if before, it is parked.
        ("a flag", program(&[&[Poll(1, 1)], &[Write(0, 1)]]), Some(2)),
        // Neither word, and it is woken by either, before or after the other one changes; or it
        // reads the first before and the second after its change, or the other way round; or both
        // after.
        (
            "two flags",
            program(&[&[Poll(3, 1)], &[Write(0, 1)], &[Write(1, 1)]]),
            None,
        ),
        (
            "a flag that is taken back",
            program(&[&[Poll(1, 1)], &[Write(0, 1), Write(0, 0)]]),
            Some(4),
        ),
        (
            "a flag that is set twice",
            program(&[&[Poll(1, 1)], &[Write(0, 0), Write(0, 1)]]),
            Some(2),
        ),
        // The round comes before the section, which wakes it, or after that.
        (
            "a flag under a lock",
            program(&[
                &[Loop, Lock(0), Read(0), Unlock(0), Retry(3, 1)],
                &[Lock(0), Write(0, 1), Unlock(0)],
            ]),
            Some(2),
        ),
        // The attempt is made before the section, within it or after it; if within, another one is
        // made after it.
        (
            "an attempt again and again",
            program(&[
                &[Loop, TryLock(0), Retry(1, 1), UnlockIf(0)],
                &[Lock(0), Unlock(0)],
            ]),
            Some(3),
        ),
        (
            "a lock held and another one tried",
            program(&[
                &[
                    Loop,
                    Lock(0),
                    TryLock(1),
                    If(0),
                    Unlock(0),
                    Retry(4, 1),
                    UnlockIf(1),
                    Unlock(0),
                ],
                &[Lock(1), Lock(0), Unlock(0), Unlock(1)],
            ]),
            None,
        ),
        ("rounds that are noticed", noticed(), None),
        (
            "sleeps",
            program(&[&[Sleep, Sleep], &[Sleep, Write(0, 1)]]),
            Some(1),
        ),
        (
            "sleeps and a look",
            program(&[&[Sleep, Sleep], &[Sleep, Look]]),
            Some(3),
        ),
        (
            "children",
            program(&[
                &[Create(1), Write(0, 1), Create(2), Join(1), Join(2), Read(0)],
                &[Write(0, 2)],
                &[Write(0, 3)],
            ]),
            Some(3),
        ),
    ]
}

/// Two attempts that two rounds of a loop can make fail, but not one.
pub fn noticed() -> Program {
    let attempt = [TryLock(0), If(0), Add(1), UnlockIf(0)];
    let section = [Lock(0), Unlock(0)];
    program(&[
        &[Loop, Lock(0), Read(0), Unlock(0), Retry(3, 1)],
        &[&attempt[..], &section, &attempt, &[Write(0, 1)]].concat(),
    ])
}

/// SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    /// One statement, of one or more lines.
    fn statement(&mut self, lines: &mut Vec<Op>, locked: bool) {
        let object = self.below(2);
        match self.below(21) {
            0 | 1 => lines.push(Read(object)),
            2 | 3 => lines.push(Write(object, 1 + self.below(2) as u64)),
            4 => lines.push(Add(object)),
            5 if !locked => {
                lines.push(Lock(object));
                self.statement(lines, true);
                lines.push(Unlock(object));
            }
            6 => lines.extend([TryLock(object + 2), Read(0), UnlockIf(object + 2)]),
            7 => lines.push(SemWait(object)),
            8 => lines.push(SemPost(object)),
            9 => lines.push(SemTry(object)),
            10 if self.below(2) == 0 => {
                lines.extend([TryRead(object), Read(object), RwUnlockIf(object)]);
            }
            10 => lines.extend([ReadLock(object), Read(object), RwUnlock(object)]),
            11 => lines.extend([WriteLock(object), Write(object, 3), RwUnlock(object)]),
            12 if !locked => {
                lines.extend([Lock(0), Wait(object, self.below(3) == 0), Unlock(0)]);
            }
            13 => lines.push(Signal(object)),
            14 => lines.push(Broadcast(object)),
            15 => lines.push(Barrier(object)),
            16 => lines.push(Sleep),
            17 if self.below(4) == 0 => lines.push(Look),
            18 => lines.extend([Read(object), If(self.below(2) as u64)]),
            19 => lines.push(ExitIf(1 + self.below(3) as u64)),
            20 => lines.push(CrashIf(1 + self.below(3) as u64)),
            _ => lines.push(Yield),
        }
    }
}

/// The program of a seed.
pub fn random(seed: u64) -> Program {
    let mut random = Random(seed);
    let count = 2 + random.below(2);
    let mut threads = Vec::new();
    for _ in 0..count {
        let mut lines = Vec::new();
        for _ in 0..1 + random.below(if count == 2 { 4 } else { 2 }) {
            random.statement(&mut lines, false);
        }
        lines.push(Yield);
        threads.push(lines);
    }
    if random.below(4) == 0 {
        let children = 1..count;
        let mut main: Vec<Op> = children.clone().map(Create).collect();
        main.append(&mut threads[0]);
        main.extend(children.map(Join));
        threads[0] = main;
    }
    Program {
        threads,
        tokens: random.below(2) as u32,
        rounds: None,
    }
}

/// A program of a seed in which threads end the process while others still run.
pub fn abrupt(seed: u64) -> Program {
    let mut random = Random(seed);
    let count = 2 + random.below(2);
    let mut thread = |most: usize| {
        let mut lines = Vec::new();
        for _ in 0..1 + random.below(most) {
            let object = random.below(2);
            let value = random.below(3) as u64;
            match random.below(10) {
                0..3 => lines.push(Write(object, 1 + value % 2)),
                3 => lines.push(Add(object)),
                4 => lines.push(Read(object)),
                5..8 => lines.extend([Read(object), CrashIf(value)]),
                8 => lines.extend([Add(object), CrashIf(value)]),
                _ => lines.extend([Read(object), ExitIf(value)]),
            }
        }
        lines.push(Yield);
        lines
    };
    Program {
        threads: (0..count)
            .map(|_| thread(if count == 2 { 5 } else { 3 }))
            .collect(),
        tokens: 0,
        rounds: None,
    }
}

/// A program of a seed in which threads wait in loops for what others write.
pub fn polling(seed: u64) -> Program {
    let mut random = Random(seed);
    let count = 2 + random.below(2);
    let mut thread = |most: usize| {
        let mut lines = Vec::new();
        for _ in 0..1 + random.below(most) {
            let object = random.below(3);
            let value = random.below(3) as u64;
            match random.below(12) {
                0..4 => lines.push(Write(object, value)),
                4 | 5 => lines.push(Add(object)),
                6..9 => lines.push(Poll(1 + random.below(7) as u8, 1 + value % 2)),
                9 => lines.push(Read(object)),
                10 => lines.extend([Lock(0), Write(object, value), Unlock(0)]),
                _ => lines.extend([Read(object), ExitIf(value)]),
            }
        }
        lines.push(Yield);
        lines
    };
    Program {
        threads: (0..count)
            .map(|_| thread(if count == 2 { 4 } else { 2 }))
            .collect(),
        tokens: 0,
        rounds: None,
    }
}

/// A program of a seed in which threads wait in loops that take locks, or try to.
pub fn locking(seed: u64) -> Program {
    let mut random = Random(seed);
    let count = 2 + random.below(2);
    let mut thread = |most: usize| {
        let mut lines = Vec::new();
        for _ in 0..1 + random.below(most) {
            let (m, v) = (random.below(2), random.below(2));
            let value = random.below(3) as u64;
            match random.below(16) {
                0..4 => lines.push(Write(v, value)),
                4 => lines.extend([Lock(m), Write(v, value), Unlock(m)]),
                5 => lines.extend([Lock(1 - m), Lock(m), Unlock(m), Unlock(1 - m)]),
                6 | 7 => lines.extend([TryLock(m), If(1), Write(v, value), UnlockIf(m)]),
                8 => lines.extend([TryLock(m), Add(2), UnlockIf(m), ExitIf(2)]),
                9..13 => lines.extend([Loop, Lock(m), Read(v), Unlock(m), Retry(3, 1 + value % 2)]),
                13 => lines.extend([Loop, TryLock(m), Retry(1, 1), Read(v), UnlockIf(m)]),
                14 => lines.extend([Loop, TryLock(m), Read(v), UnlockIf(m), Retry(3, 1)]),
                _ => {
                    lines.extend([Loop, Lock(m), TryLock(1 - m), If(0), Unlock(m), Retry(4, 1)]);
                    lines.extend([UnlockIf(1 - m), Unlock(m)]);
                }
            }
        }
        lines.push(Yield);
        lines
    };
    Program {
        threads: (0..count).map(|_| thread(4 - count)).collect(),
        tokens: 0,
        rounds: None,
    }
}

/// A program of a seed whose operations often leave things as they were.
pub fn idle(seed: u64, abrupt: bool) -> Program {
    let mut random = Random(seed);
    let count = 2 + random.below(2);
    let waiter = random.below(count);
    let mut thread = |t: usize, most: usize| {
        let mut lines = Vec::new();
        for _ in 0..1 + random.below(most) {
            let v = random.below(2);
            let value = random.below(3) as u64;
            let operands = match random.below(7) {
                0..3 => Operands::compare_exchange(value, random.below(3) as u64),
                3 => Operands::update(Update::Add, value / 2),
                4 => Operands::update(Update::Or, value),
                5 => Operands::update(Update::UMax, value),
                _ => Operands::store(value),
            };
            match random.below(if abrupt { 16 } else { 14 }) {
                0..4 => lines.push(Op::Update(v, operands)),
                4 | 5 => lines.push(Write(v, value)),
                6 => lines.push(Read(v)),
                7 => lines.extend([TryLock(0), Read(v), UnlockIf(0)]),
                8 => lines.push(TryLock(1)),
                9 => lines.push(SemTry(0)),
                10 => lines.push(SemPost(0)),
                11 if t == waiter => lines.extend([Lock(0), Wait(0, false), Unlock(0)]),
                11 => lines.push(Signal(0)),
                12 => lines.push(Broadcast(0)),
                13 => lines.extend([TryWrite(0), Read(v), RwUnlockIf(0)]),
                14 => lines.extend([Op::Update(v, operands), CrashIf(value)]),
                _ => lines.extend([Op::Update(v, operands), ExitIf(value)]),
            }
        }
        lines.push(Yield);
        lines
    };
    Program {
        threads: (0..count).map(|t| thread(t, 5 - count)).collect(),
        tokens: random.below(2) as u32,
        rounds: None,
    }
}

/// So many threads that do the same to one variable.
pub fn alike(count: usize, op: Op) -> Program {
    program(&vec![&[op][..]; count])
}
