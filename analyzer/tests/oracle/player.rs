//! Plays the runtime (one job to one trace) and the oracle (all schedules, all inputs).

use crate::machine::{Announced, Code, Decision, Ending, Inputs, Machine, record};
use crate::program::Program;
use crate::program::Sync;
use crate::recorder::Recorder;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::{Input, Job, push_step};
use raddle_protocol::outcome::{Divergence, End, Wait};
use raddle_protocol::schedule::{CHOICE_BIT, Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::slot;
use raddle_protocol::trace::{Counters, Outcome, Trace};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Inputs as a job lists them.
#[derive(Debug)]
struct Listed(HashMap<(Slot, u32), u8>);

impl Inputs for Listed {
    fn byte(&self, thread: Slot, index: u32) -> u8 {
        self.0.get(&(thread, index)).copied().unwrap_or(0)
    }
}

fn listed(inputs: &[Input]) -> Rc<dyn Inputs> {
    let bytes = inputs
        .iter()
        .map(|i| ((i.thread, i.index), i.bytes.first().copied().unwrap_or(0)));
    Rc::new(Listed(bytes.collect()))
}

/// One execution.
pub struct Played {
    pub trace: Trace,
    /// How the program ended; `None` when the execution was cut short.
    pub ending: Option<Ending>,
    /// Local path of each thread, as far as it came.
    pub paths: BTreeMap<Slot, Vec<Decision>>,
}

struct Player<'a> {
    machine: Machine,
    rec: Recorder,
    job: &'a Job,
    counters: Counters,
    taken: Vec<Step>,
    last: Slot,
    cut: Option<(End, [u64; 4])>,
}

/// Obeys a job.
pub fn play(program: &Program, job: &Job) -> Played {
    let mut rec = match job.flags & flags::SYMBOLIC {
        0 => Recorder::silent(),
        _ => Recorder::symbolic(&job.ranges),
    };
    let machine = Machine::new(Code::new(program), listed(&job.inputs), &mut rec);
    let mut player = Player {
        machine,
        rec,
        job,
        counters: Counters::default(),
        taken: Vec::new(),
        last: slot::MAIN,
        cut: None,
    };
    player.run();
    player.finish()
}

impl Player<'_> {
    fn run(&mut self) {
        let job = self.job;
        let each = |s: &Step| std::iter::repeat_n(*s, s.count.into());
        let mut prefix = job.prefix.iter().flat_map(each).peekable();
        while let Some(step) = prefix.next() {
            if self.machine.ending.is_some() || self.cut.is_some() {
                return;
            }
            if step.is_choice() {
                self.diverge(step.what, Divergence::KindOfStep);
                continue;
            }
            if !self.machine.enabled().contains(&step.what) {
                self.diverge(step.what, self.reason(step.what));
                continue;
            }
            let choices = self.machine.choices(step.what);
            let choice = prefix.next_if(|s| choices > 1 && s.is_choice());
            let chosen = choice.map_or(0, |c| usize::from(c.what & !CHOICE_BIT));
            if choices > 1 && (chosen >= choices || (choice.is_none() && prefix.peek().is_some())) {
                self.diverge(step.what, Divergence::NoSuchChoice);
            }
            self.take(step.what, chosen.min(choices - 1));
        }
        while self.machine.ending.is_none() && self.cut.is_none() {
            let enabled = self.machine.enabled();
            let hostile = matches!(job.tail, Tail::GiveWay { .. });
            let waits = |s: Slot| (self.gives_way(s), job.tail.spares(s));
            let least = enabled.iter().map(|&s| waits(s)).min();
            let others = enabled.into_iter().filter(|&s| Some(waits(s)) == least);
            let others: Vec<Slot> = others.collect();
            let stays = others.contains(&self.last) && !self.gives_way(self.last) && !hostile;
            let next = match stays {
                true => self.last,
                false => *others
                    .iter()
                    .find(|&&s| s > self.last)
                    .unwrap_or(&others[0]),
            };
            self.take(next, 0);
        }
    }

    /// In a symbolic run, others go first where a thread is about to end the process.
    fn gives_way(&self, slot: Slot) -> bool {
        let t = self.machine.index_of(slot);
        let announced = t.and_then(|t| self.machine.announced(t));
        let ends = announced.is_some_and(|a| a.kind == Kind::ProcessEnd);
        ends && self.job.flags & flags::SYMBOLIC != 0
    }

    fn reason(&self, slot: Slot) -> Divergence {
        match self.machine.index_of(slot) {
            None => Divergence::NoSuchThread,
            Some(t) if self.machine.announced(t).is_none() => Divergence::Ended,
            Some(_) => Divergence::Blocked,
        }
    }

    fn diverge(&mut self, what: u16, why: Divergence) {
        if self.job.flags & flags::TOLERANT == 0 {
            let detail = [
                self.counters.steps,
                what.into(),
                why as u64,
                self.last.into(),
            ];
            self.cut = Some((End::Divergence, detail));
        }
    }

    fn take(&mut self, slot: Slot, choice: usize) {
        let enabled = self.machine.enabled();
        if self.job.flags & flags::ENABLED != 0 {
            self.write_enabled(&enabled);
        }
        if slot != self.last {
            self.counters.switches += 1;
            self.counters.preemptions += u64::from(enabled.contains(&self.last));
        }
        let t = self.machine.index_of(slot).expect("enabled threads exist");
        let announced = self.machine.announced(t).expect("enabled threads announce");
        let choices = self.machine.choices(slot);
        self.machine.step_with(t, choice, &mut self.rec);
        if self.job.flags & flags::SYMBOLIC == 0 {
            self.rec.events.push(Event {
                object: announced.object,
                pc: announced.pc,
                ..record(announced.kind, slot)
            });
        }
        push_step(&mut self.taken, slot);
        if choices > 1 {
            self.taken.push(Step::choice(choice as u16));
        }
        self.last = slot;
        self.counters.steps += 1;
        if self.job.max_steps != 0 && self.counters.steps >= self.job.max_steps {
            self.cut = Some((End::StepLimit, [self.job.max_steps, 0, 0, 0]));
        }
    }

    fn write_enabled(&mut self, enabled: &[Slot]) {
        let mut left = enabled.len();
        for chunk in enabled.chunks(12) {
            left -= chunk.len();
            let mut words = [0u64; 3];
            for (i, slot) in chunk.iter().enumerate() {
                words[i / 4] |= u64::from(*slot) << (16 * (i % 4));
            }
            self.rec.events.push(Event {
                size: chunk.len() as u8,
                aux: left as u32,
                object: words[0],
                value: words[1],
                pc: words[2],
                ..record(Kind::Enabled, self.last)
            });
        }
    }

    fn finish(mut self) -> Played {
        self.rec.finish();
        let mut waits = Vec::new();
        for t in 0..self.machine.threads.len() {
            let Some(pending) = self.machine.announced(t) else {
                continue;
            };
            let slot = self.machine.threads[t].slot;
            let ender = self.machine.ending.as_ref().is_some_and(|e| e.0 == slot);
            let deadlock = match &self.machine.ending {
                Some((_, Ending::Deadlock(stuck) | Ending::Livelock(stuck))) => {
                    Some(stuck.iter().any(|s| s.0 == slot))
                }
                _ => None,
            };
            if self.job.flags & flags::SYMBOLIC != 0 && (!ender || deadlock.is_some()) {
                if pending.object == Sync::Begin.object() {
                    self.rec.events.push(Event {
                        object: pending.object,
                        ..record(Kind::Section, slot)
                    });
                }
                self.rec.events.push(Event {
                    size: pending.kind as u8,
                    aux: pending.aux,
                    object: pending.object,
                    value: pending.value,
                    pc: pending.pc,
                    ..record(Kind::Pending, slot)
                });
            }
            if let Some(in_cycle) = deadlock {
                waits.push(Wait {
                    thread: slot,
                    holder: self.machine.blocker(t).unwrap_or(slot::NONE),
                    kind: pending.kind as u8,
                    in_cycle: u8::from(in_cycle && self.machine.waits_for_itself(t)),
                    object: pending.object,
                    pc: pending.pc,
                    ..Wait::default()
                });
            }
        }
        let ((end, code), detail, thread) = match (&self.cut, &self.machine.ending) {
            (_, Some((slot, ending))) => (ending.end(), [0; 4], *slot),
            (Some((end, detail)), None) => ((*end, 0), *detail, self.last),
            (None, None) => unreachable!("the execution is over"),
        };
        let paths = self.machine.threads.iter();
        let outcome = Outcome {
            thread,
            detail,
            waits,
            ..Outcome::new(end, code)
        };
        Played {
            paths: paths.map(|t| (t.slot, t.path.clone())).collect(),
            ending: self.machine.ending.map(|e| e.1),
            trace: Trace {
                nodes: self.rec.nodes,
                counters: self.counters,
                ..Trace::new(self.rec.events, self.taken, outcome)
            },
        }
    }
}

/// Everything that a program can do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    pub endings: BTreeSet<Ending>,
    /// Every prefix of a local path: (thread, decisions).
    pub paths: BTreeSet<(Slot, Vec<Decision>)>,
    /// More waits could end for no reason than may.
    pub leaves_out: bool,
    /// Statements that two threads can stand at, of which one writes what the other accesses, and
    /// one is not atomic: the lower one first.
    pub races: BTreeSet<(u64, u64)>,
}

impl Behaviour {
    pub fn add(&mut self, ending: Option<&Ending>, paths: &BTreeMap<Slot, Vec<Decision>>) {
        if let Some(ending) = ending {
            self.endings.insert(ending.clone());
        }
        for (slot, path) in paths {
            for n in 1..=path.len() {
                self.paths.insert((*slot, path[..n].to_vec()));
            }
        }
    }

    /// How many (thread, local decision outcome) pairs there are.
    pub fn outcomes(&self) -> usize {
        self.paths.len()
    }
}

/// Inputs all of the same value per (thread, index), chosen from outside.
#[derive(Debug)]
struct Chosen(BTreeMap<(Slot, u32), u8>);

impl Inputs for Chosen {
    fn byte(&self, thread: Slot, index: u32) -> u8 {
        self.0.get(&(thread, index)).copied().unwrap_or(0)
    }
}

/// Decisions of one thread: of programs that can have more, the prefixes of all paths are too many to
/// keep.
const LONGEST: usize = 500;

/// All schedules × all values below `bound` of the inputs named; `None` when there are more than
/// `limit` states, or paths of more than [`LONGEST`] decisions.
pub fn brute_force(
    program: &Program,
    inputs: &[(Slot, u32)],
    bound: u8,
    limit: usize,
) -> Option<Behaviour> {
    all_schedules(program, inputs, bound, limit, &Recorder::silent())
}

/// The same; `recorder` says which accesses are steps.
pub fn all_schedules(
    program: &Program,
    inputs: &[(Slot, u32)],
    bound: u8,
    limit: usize,
    recorder: &Recorder,
) -> Option<Behaviour> {
    let code = Code::new(program);
    let mut behaviour = Behaviour::default();
    let mut states = 0;
    for choice in 0..usize::from(bound).pow(inputs.len() as u32) {
        let mut rest = choice;
        let mut values = BTreeMap::new();
        for name in inputs {
            values.insert(*name, (rest % usize::from(bound)) as u8);
            rest /= usize::from(bound);
        }
        let first = Machine::new(code.clone(), Rc::new(Chosen(values)), &mut recorder.clone());
        let mut seen = HashSet::new();
        let mut open = vec![first];
        while let Some(machine) = open.pop() {
            if let Some((_, ending)) = &machine.ending {
                if machine.threads.iter().any(|t| t.path.len() > LONGEST) {
                    return None;
                }
                let paths = machine.threads.iter().map(|t| (t.slot, t.path.clone()));
                behaviour.add(Some(ending), &paths.collect());
                continue;
            }
            behaviour.races.extend(races(&machine));
            for slot in machine.enabled() {
                for choice in 0..machine.choices(slot) {
                    let mut next = machine.clone();
                    let t = next.index_of(slot).expect("enabled threads exist");
                    next.step_with(t, choice, &mut recorder.clone());
                    behaviour.leaves_out |= next.leaves_out();
                    if next.ending.is_some() || seen.insert(next.state()) {
                        states += 1;
                        open.push(next);
                    }
                }
            }
            if states > limit {
                return None;
            }
        }
    }
    Some(behaviour)
}

/// The races of threads that can go on.
fn races(machine: &Machine) -> Vec<(u64, u64)> {
    let enabled = machine.enabled().into_iter();
    let at = enabled.filter_map(|slot| machine.announced(machine.index_of(slot)?));
    let accesses = at.filter(|a| matches!(a.kind, Kind::Read | Kind::Write | Kind::Rmw));
    let accesses: Vec<Announced> = accesses.collect();
    let mut races = Vec::new();
    for (i, a) in accesses.iter().enumerate() {
        for b in &accesses[i + 1..] {
            let kinds = (a.kind, b.kind);
            let harmless = [(Kind::Read, Kind::Read), (Kind::Rmw, Kind::Rmw)];
            if a.object == b.object && !harmless.contains(&kinds) {
                races.push((a.pc.min(b.pc), a.pc.max(b.pc)));
            }
        }
    }
    races
}

/// All interleavings, each as its list of threads, and how each ends. No inputs.
pub fn interleavings(program: &Program) -> Vec<(Vec<Slot>, Ending)> {
    let first = Machine::new(Code::new(program), listed(&[]), &mut Recorder::silent());
    let mut all = Vec::new();
    let mut open = vec![(first, Vec::new())];
    while let Some((machine, order)) = open.pop() {
        if let Some((_, ending)) = &machine.ending {
            all.push((order, ending.clone()));
            continue;
        }
        for slot in machine.enabled() {
            let mut next = machine.clone();
            let t = next.index_of(slot).expect("enabled threads exist");
            next.step(t, &mut Recorder::silent());
            let order = order.iter().copied().chain([slot]).collect();
            open.push((next, order));
        }
    }
    all
}

/// The fewest preemptions with which the program can end like this.
pub fn fewest_preemptions(program: &Program, wanted: &Ending) -> Option<u64> {
    let first = Machine::new(Code::new(program), listed(&[]), &mut Recorder::silent());
    let mut level = vec![(first, slot::MAIN)];
    let mut seen = HashSet::new();
    let mut preemptions = 0;
    while !level.is_empty() {
        let mut later = Vec::new();
        while let Some((machine, last)) = level.pop() {
            if let Some((_, ending)) = &machine.ending {
                if ending == wanted {
                    return Some(preemptions);
                }
                continue;
            }
            if !seen.insert((machine.state(), last)) {
                continue;
            }
            let enabled = machine.enabled();
            for &slot in &enabled {
                let mut next = machine.clone();
                let t = next.index_of(slot).expect("enabled threads exist");
                next.step(t, &mut Recorder::silent());
                let preempts = slot != last && enabled.contains(&last);
                let list = if preempts { &mut later } else { &mut level };
                list.push((next, slot));
            }
        }
        level = later;
        preemptions += 1;
    }
    None
}

/// A job without symbolic shadow that follows a prefix.
pub fn plain_job(prefix: Vec<Step>, extra: u32) -> Job {
    let mut job = Job::new(Tail::RunUntilBlocked);
    job.prefix = prefix;
    job.flags |= flags::EVENTS | extra;
    job
}
