//! Programs of a few instructions a thread, run in memory with the records that a search needs.

use raddle_analyzer::hapset::knowledge::{Line, Places};
use raddle_analyzer::search::{Next, Plan, Search};
use raddle_protocol::conflict::{Footprint, Unrecorded};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::{Outcome, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// One instruction; the last three are no steps. The line of an instruction is its pc.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    Lock(u64),
    Unlock(u64),
    /// Into the thread's register.
    Read(u64),
    Write(u64, u64),
    /// Register plus this number.
    WriteSum(u64, u64),
    /// To the instruction of this number if the register is not 0.
    JumpIf(usize),
    /// The thread ends if the register is 0.
    EndIfZero,
    /// Fails if the register is 0.
    Assert,
}

use Instruction::*;

/// A program: per thread its instructions and their lines.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<(u64, Instruction)>>,
    pub memory: BTreeMap<u64, u64>,
}

struct State<'a> {
    program: &'a Program,
    at: Vec<usize>,
    registers: Vec<u64>,
    memory: BTreeMap<u64, u64>,
    locks: BTreeMap<u64, usize>,
    failed: bool,
}

impl State<'_> {
    /// Goes over what is no step.
    fn settle(&mut self, t: usize) {
        while let Some(&(_, instruction)) = self.program.threads[t].get(self.at[t]) {
            match instruction {
                JumpIf(target) if self.registers[t] != 0 => self.at[t] = target,
                JumpIf(_) => self.at[t] += 1,
                EndIfZero if self.registers[t] == 0 => self.at[t] = self.program.threads[t].len(),
                EndIfZero => self.at[t] += 1,
                Assert => {
                    self.failed |= self.registers[t] == 0;
                    self.at[t] += 1;
                }
                _ => return,
            }
        }
    }

    fn enabled(&self, t: usize) -> bool {
        match self.program.threads[t].get(self.at[t]) {
            None => false,
            Some(&(_, Lock(lock))) => !self.locks.contains_key(&lock),
            Some(_) => true,
        }
    }

    fn step(&mut self, t: usize) -> Event {
        let (pc, instruction) = self.program.threads[t][self.at[t]];
        self.at[t] += 1;
        let (kind, object) = match instruction {
            Lock(lock) => {
                self.locks.insert(lock, t);
                (Kind::MutexLock, lock)
            }
            Unlock(lock) => {
                self.locks.remove(&lock);
                (Kind::MutexUnlock, lock)
            }
            Read(x) => {
                self.registers[t] = self.memory.get(&x).copied().unwrap_or(0);
                (Kind::Read, x)
            }
            Write(x, value) => {
                self.memory.insert(x, value);
                (Kind::Write, x)
            }
            WriteSum(x, more) => {
                self.memory.insert(x, self.registers[t] + more);
                (Kind::Write, x)
            }
            JumpIf(_) | EndIfZero | Assert => unreachable!("settled"),
        };
        Event {
            kind: kind as u8,
            size: 4,
            thread: t as u16,
            object,
            pc,
            ..Event::default()
        }
    }
}

/// So many steps in a row, then others go first.
const PATIENCE: usize = 20;

impl Program {
    /// Runs the prefix, then run-until-blocked or (any other tail) a random walk of those that are
    /// awake. The final memory and how it ended make the outcome.
    pub fn run(&self, plan: &Plan) -> (Trace, String) {
        let threads = self.threads.len();
        let mut state = State {
            program: self,
            at: vec![0; threads],
            registers: vec![0; threads],
            memory: self.memory.clone(),
            locks: BTreeMap::new(),
            failed: false,
        };
        let repeat = |s: &Step| vec![usize::from(s.what); usize::from(s.count)];
        let mut wanted = plan.prefix.iter().flat_map(repeat);
        let tolerant = plan.flags & flags::TOLERANT != 0;
        let mut asked = wanted.clone().count();
        let mut sleepers = plan.sleepers.clone();
        let (mut events, mut taken) = (Vec::new(), Vec::new());
        let (mut running, mut consecutive, mut steps) = (0, 0, 0u64);
        let mut redundant = false;
        (0..threads).for_each(|t| state.settle(t));
        loop {
            let enabled: Vec<usize> = (0..threads).filter(|&t| state.enabled(t)).collect();
            if enabled.is_empty() || state.failed || steps > 2000 {
                break;
            }
            let asleep = |t: &usize| sleepers.iter().any(|s| usize::from(s.thread) == *t);
            let awake: Vec<usize> = enabled.iter().copied().filter(|t| !asleep(t)).collect();
            let begins = asked == 0;
            asked = asked.saturating_sub(1);
            if begins && awake.is_empty() {
                redundant = true;
                break;
            }
            let prescribed = wanted.by_ref().find(|t| !tolerant || enabled.contains(t));
            let next = prescribed.unwrap_or_else(|| match plan.tail {
                Tail::RunUntilBlocked if awake.contains(&running) && consecutive < PATIENCE => {
                    running
                }
                Tail::RunUntilBlocked => {
                    let after = awake.iter().find(|&&t| t > running);
                    *after.unwrap_or(&awake[0])
                }
                random => {
                    let bits = raddle_analyzer::sampling::seed_of(random.to_words()[1], steps);
                    awake[bits as usize % awake.len()]
                }
            });
            assert!(
                enabled.contains(&next),
                "the prefix asks for a blocked thread"
            );
            events.push(record(running, &enabled));
            consecutive = if next == running { consecutive + 1 } else { 1 };
            running = next;
            let event = state.step(next);
            if begins {
                let done = Footprint::of(&event, Unrecorded::default());
                sleepers.retain(|s| !s.conflicts(&done));
            }
            events.push(event);
            push_step(&mut taken, next as u16);
            state.settle(next);
            steps += 1;
        }
        let finished = (0..threads).all(|t| state.at[t] >= self.threads[t].len());
        let end = match (state.failed, finished) {
            _ if redundant => End::Redundant,
            (true, _) => End::Assertion,
            (false, true) => End::Exit,
            (false, false) => End::Deadlock,
        };
        let result = format!("{end:?} {:?}", state.memory);
        (trace(events, taken, end, steps), result)
    }

    /// Lets a search run to its end, or for so many executions: how many there were, and all
    /// outcomes.
    pub fn search(&self, search: &mut dyn Search, most: u64) -> (u64, BTreeSet<String>) {
        let mut outcomes = BTreeSet::new();
        for n in 0..most {
            let plan = match search.next(n) {
                Next::Run(plan) => plan,
                Next::Done => return (n, outcomes),
                Next::Wait => panic!("nothing is under way"),
            };
            let (trace, outcome) = self.run(&plan);
            if trace.outcome.end != End::Redundant {
                outcomes.insert(outcome);
            }
            search.observe(n, &trace);
        }
        (most, outcomes)
    }
}

fn record(running: usize, enabled: &[usize]) -> Event {
    let words = |part: usize| {
        let slots = enabled.iter().skip(4 * part).take(4).enumerate();
        slots.fold(0, |word, (i, &t)| word | (t as u64) << (16 * i))
    };
    Event {
        kind: Kind::Enabled as u8,
        size: enabled.len() as u8,
        thread: running as u16,
        object: words(0),
        value: words(1),
        pc: words(2),
        ..Event::default()
    }
}

fn trace(events: Vec<Event>, taken: Vec<Step>, end: End, steps: u64) -> Trace {
    let mut trace = Trace::new(events, taken, Outcome::new(end, 0));
    trace.counters.steps = steps;
    trace
}

/// The line of an address is the address.
pub struct Lines;

impl Places for Lines {
    fn line(&mut self, pc: u64) -> Line {
        Line {
            file: "paper".to_string(),
            line: pc as u32,
            function: String::new(),
        }
    }
}
