//! States that executions came through, and steps from there that were never taken.
//!
//! A state is what a program seems to be in: the last step of every thread on an object by which
//! threads communicate, with what came of it, and the last value of every such object. Threads that
//! are at the same place count as interchangeable. That is less than the whole state, and it only
//! guides: of the threads that could have gone on in a state, one that never did is let go on. So
//! bugs that need many preemptions are come near to one step at a time (the idea is that of explicit
//! state search with hashing, Holzmann 1991, chapter 11; the states are our own).

use super::draw::Draw;
use crate::fast::{FastMap, Multiply};
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::Step;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// States and threads that are remembered; then all are forgotten.
const MEMORY: usize = 1 << 20;
/// Steps never taken that are remembered, as long as executions are short.
const MOST: usize = 1 << 18;
/// Entries of schedules that all of these may hold together.
const ENTRIES: usize = 1 << 24;
/// Looks at a thread in a state that one execution is worth.
const EFFORT: usize = 4096;
/// Threads that are looked at in one state.
const THREADS: usize = 4;

/// A step that was never taken.
struct Missing {
    taken: Arc<[Step]>,
    /// After so many of its steps,
    step: u32,
    /// this thread.
    thread: Slot,
}

/// See the module.
#[derive(Default)]
pub struct States {
    /// States, with the last steps of threads that went on there, or are to.
    tried: FastMap<(u64, u64), ()>,
    missing: Vec<Missing>,
    /// Words in which a thread has found what another one had left.
    shared: FastMap<u64, ()>,
    /// Entries of the longest schedule.
    longest: usize,
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = Multiply::default();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The state as it changes from step to step.
#[derive(Default)]
struct State {
    /// The sum of the hashes of all threads and objects.
    sum: u64,
    threads: FastMap<Slot, u64>,
    objects: FastMap<u64, u64>,
}

impl State {
    /// That this thread goes on.
    fn choice(&self, thread: Slot) -> (u64, u64) {
        (self.sum, self.threads.get(&thread).copied().unwrap_or(0))
    }

    fn perform(&mut self, event: &Event, kind: Kind) {
        let mut set = |part: &mut u64, hash: u64| {
            self.sum = self.sum.wrapping_sub(*part).wrapping_add(hash);
            *part = hash;
        };
        let thread = self.threads.entry(event.thread).or_default();
        set(thread, hash((event.pc, event.value)));
        let written = match kind {
            Kind::Read | Kind::AtomicRead | Kind::ReadRange => return,
            Kind::Write | Kind::AtomicWrite | Kind::Rmw => hash((event.object, event.value)),
            _ => hash((event.object, event.kind, event.value, event.aux)),
        };
        let object = self.objects.entry(event.object).or_default();
        set(object, written);
    }
}

impl States {
    /// Takes in an execution.
    pub fn learn(&mut self, draw: &mut Draw, events: &[Event], taken: &[Step]) {
        if self.tried.len() > MEMORY {
            self.tried.clear();
            self.missing.clear();
        }
        let steps = events
            .iter()
            .filter(|e| e.kind().is_some_and(Kind::is_step));
        self.share(steps.clone());
        let ends = lives(steps.clone());
        let mut state = State::default();
        let mut found: Vec<(u32, Slot)> = Vec::new();
        let mut alive: Vec<Slot> = Vec::new();
        let mut effort = EFFORT;
        for (n, event) in steps.enumerate() {
            stop::point();
            let Some(kind) = event.kind() else { continue };
            self.tried.insert(state.choice(event.thread), ());
            let from = draw.below(alive.len());
            let (before, after) = alive.split_at(from);
            for &thread in after.iter().chain(before).take(THREADS.min(effort)) {
                stop::point();
                effort -= 1;
                if thread != event.thread
                    && let Entry::Vacant(new) = self.tried.entry(state.choice(thread))
                {
                    new.insert(());
                    found.push((n as u32, thread));
                }
            }
            let newcomer = match kind {
                Kind::ThreadCreate => event.value as Slot,
                _ => event.thread,
            };
            if ends.contains_key(&newcomer) && !alive.contains(&newcomer) {
                alive.push(newcomer);
            }
            if ends.get(&event.thread) == Some(&(n as u32)) {
                alive.retain(|&t| t != event.thread);
            }
            if self.shared.contains_key(&(event.object / 4)) {
                state.perform(event, kind);
            }
        }
        self.remember(draw, taken, &found);
    }

    /// Finds by which words threads communicate.
    fn share<'a>(&mut self, steps: impl Iterator<Item = &'a Event>) {
        let mut left: FastMap<u64, Slot> = FastMap::default();
        for event in steps.filter(|event| event.object != 0) {
            stop::point();
            let word = event.object / 4;
            let last = left.get(&word).is_some_and(|&t| t != event.thread);
            let (reads, writes) = match event.kind() {
                Some(Kind::Read | Kind::AtomicRead | Kind::ReadRange) => (true, false),
                Some(Kind::Write | Kind::AtomicWrite | Kind::WriteRange) => (false, true),
                _ => (true, true),
            };
            if last && reads {
                self.shared.insert(word, ());
            }
            if writes {
                left.insert(word, event.thread);
            }
        }
    }

    fn remember(&mut self, draw: &mut Draw, taken: &[Step], found: &[(u32, Slot)]) {
        self.longest = self.longest.max(taken.len());
        let most = MOST.min(ENTRIES / self.longest.max(1)).max(1);
        self.missing.truncate(most);
        let shared: Arc<[Step]> = taken.into();
        for &(step, thread) in found {
            stop::point();
            let missing = Missing {
                taken: shared.clone(),
                step,
                thread,
            };
            match self.missing.len() < most {
                true => self.missing.push(missing),
                false => self.missing[draw.below(most)] = missing,
            }
        }
    }

    /// Is there a step that was never taken?
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// An execution as far as a state, and a step from there that was never taken.
    pub fn missing(&mut self, draw: &mut Draw) -> Option<Vec<Step>> {
        let chosen = draw.below(self.missing.len());
        if self.missing.is_empty() {
            return None;
        }
        let missing = self.missing.swap_remove(chosen);
        let mut prefix = super::pool::cut(&missing.taken, missing.step);
        push_step(&mut prefix, missing.thread);
        Some(prefix)
    }
}

/// The last step of each thread.
fn lives<'a>(steps: impl Iterator<Item = &'a Event>) -> FastMap<Slot, u32> {
    let mut ends = FastMap::default();
    for (n, event) in steps.enumerate() {
        stop::point();
        ends.insert(event.thread, n as u32);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, thread: Slot, object: u64, value: u64) -> Event {
        Event {
            kind: kind as u8,
            size: 4,
            thread,
            object,
            value,
            pc: 100 * u64::from(thread) + kind as u64,
            ..Event::default()
        }
    }

    fn taken(events: &[Event]) -> Vec<Step> {
        let mut steps = Vec::new();
        events.iter().for_each(|e| push_step(&mut steps, e.thread));
        steps
    }

    fn single(steps: &[Step]) -> Vec<Slot> {
        let repeat = |s: &Step| std::iter::repeat_n(s.what, usize::from(s.count));
        steps.iter().flat_map(repeat).collect()
    }

    /// Two threads that are alive, and what each writes and reads of the other.
    fn execution(order: &[Slot]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut done = [0; 3];
        let mut memory = [0; 2];
        for &thread in order {
            let own = usize::from(thread) - 1;
            let (mine, other) = (64 * u64::from(thread), 64 * u64::from(3 - thread));
            events.push(match done[usize::from(thread)] {
                0 => event(Kind::ThreadStart, thread, 0, 0),
                1 => {
                    memory[own] = 1;
                    event(Kind::Write, thread, mine, 1)
                }
                2 => event(Kind::Read, thread, other, memory[1 - own]),
                _ => event(Kind::ThreadExit, thread, 0, 0),
            });
            done[usize::from(thread)] += 1;
        }
        events
    }

    #[test]
    fn who_could_have_gone_on_is_missing() {
        let did = [1, 2, 1, 1, 1, 2, 2, 2];
        let events = execution(&did);
        let mut draw = Draw::new(1);
        let mut states = States::default();
        states.learn(&mut draw, &events, &taken(&events));
        assert!(states.has_missing());
        while let Some(prefix) = states.missing(&mut draw) {
            let steps = single(&prefix);
            let (last, before) = steps.split_last().expect("a step is missing");
            assert_eq!(before, &did[..before.len()]);
            assert_ne!(*last, did[before.len()], "it was taken");
        }
    }

    #[test]
    fn nothing_is_missing_twice() {
        let one_by_one = execution(&[1, 2, 1, 1, 1, 2, 2, 2]);
        let mut draw = Draw::new(1);
        let mut states = States::default();
        for wanted in [true, false, false] {
            states.learn(&mut draw, &one_by_one, &taken(&one_by_one));
            assert_eq!(states.has_missing(), wanted);
            while states.missing(&mut draw).is_some() {}
        }
    }

    /// Where one thread goes after the other, trying what is missing shows more than that.
    #[test]
    fn another_outcome_is_reached() {
        let mut draw = Draw::new(3);
        let mut states = States::default();
        let mut outcomes = std::collections::BTreeSet::new();
        let mut prefix: Vec<Step> = Vec::new();
        for _ in 0..60 {
            let mut order: Vec<Slot> = Vec::new();
            let mut left = [0, 4, 4];
            let steps = single(&prefix).into_iter();
            for thread in steps.chain([1, 2, 1, 1, 1, 2, 2, 2]) {
                if left[usize::from(thread)] > 0 {
                    left[usize::from(thread)] -= 1;
                    order.push(thread);
                }
            }
            let events = execution(&order);
            let reads = events.iter().filter(|e| e.kind() == Some(Kind::Read));
            let mut seen: Vec<(Slot, u64)> = reads.map(|e| (e.thread, e.value)).collect();
            seen.sort_unstable();
            outcomes.insert(seen);
            states.learn(&mut draw, &events, &taken(&events));
            prefix = states.missing(&mut draw).unwrap_or_default();
        }
        assert!(outcomes.len() > 1);
    }

    /// Whatever bytes come: no panic.
    #[test]
    fn arbitrary_records_are_survived() {
        let mut draw = Draw::new(5);
        let mut states = States::default();
        for _ in 0..200 {
            let mut next = |n: usize| draw.below(n) as u64;
            let events: Vec<Event> = (0..50)
                .map(|_| Event {
                    kind: next(256) as u8,
                    size: next(256) as u8,
                    thread: next(6) as Slot,
                    object: next(5),
                    value: next(3),
                    pc: next(9),
                    ..Event::default()
                })
                .collect();
            states.learn(&mut draw, &events, &taken(&events));
            states.missing(&mut draw);
        }
    }
}
