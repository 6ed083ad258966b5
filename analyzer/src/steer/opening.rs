//! The executions after the first one: an adversary plays with the steps that it took.
//!
//! A thread gives way at every moment of one sort ([`Moment`]), to who has not run yet, otherwise to
//! who ran last. Creation, join and locks are kept in order; where the program does other things
//! than in its first execution, a step that cannot be taken is passed over
//! ([`raddle_protocol::shared::flags::TOLERANT`]).

use crate::fast::FastMap;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::Step;

/// Steps of the first execution that are played with.
const LONGEST: usize = 20_000;

/// When a thread gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It has changed an object: others come by while its work is half done.
    Changed,
    /// It has read an object, or is about to lock one: what it knows gets old.
    Looked,
}

impl Moment {
    /// Is it come once a step of this kind was taken?
    fn follows(self, kind: Kind) -> bool {
        let only_reads = matches!(
            kind,
            Kind::Read | Kind::AtomicRead | Kind::ReadRange | Kind::RwRead | Kind::RwTryRead
        );
        only_reads == (self == Moment::Looked)
    }

    /// Is it come before such a step?
    fn precedes(self, kind: Kind) -> bool {
        self == Moment::Looked && kind == Kind::MutexLock
    }
}

/// The steps of `events` in the order in which the adversary has them taken. What comes after the
/// first [`LONGEST`] is left out.
pub fn play(events: &[Event], moment: Moment) -> Vec<Step> {
    let mut game = Game::new(events);
    let mut prefix = Vec::new();
    let mut last = 0;
    let mut gives_way = false;
    while let Some(next) = game.next(last, gives_way, moment) {
        push_step(&mut prefix, game.threads[next].slot);
        gives_way = game.take(next, moment);
        last = next;
    }
    prefix
}

/// What one thread has before it.
#[derive(Default)]
struct Thread<'a> {
    slot: Slot,
    steps: Vec<(&'a Event, Kind)>,
    /// How many of them were taken.
    taken: usize,
    /// Not created yet.
    unborn: bool,
    /// Before its next step, once.
    gave_way: bool,
    /// The move in which it took its last step; 0: it has taken none.
    ran: usize,
}

impl<'a> Thread<'a> {
    fn step(&self) -> Option<(&'a Event, Kind)> {
        self.steps.get(self.taken).copied()
    }
}

#[derive(Default)]
struct Game<'a> {
    /// By slot.
    threads: Vec<Thread<'a>>,
    /// Slots' places in there.
    places: FastMap<Slot, usize>,
    /// Who holds a lock.
    holders: FastMap<u64, usize>,
    moves: usize,
}

impl<'a> Game<'a> {
    fn new(events: &'a [Event]) -> Game<'a> {
        let steps = events.iter().filter_map(|e| Some((e, e.kind()?)));
        let steps = steps.filter(|step| step.1.is_step()).take(LONGEST);
        let mut by_slot: std::collections::BTreeMap<Slot, Thread> = Default::default();
        let mut children = Vec::new();
        for (event, kind) in steps {
            let thread = by_slot.entry(event.thread).or_default();
            thread.slot = event.thread;
            thread.steps.push((event, kind));
            if kind == Kind::ThreadCreate {
                children.push(event.value as Slot);
            }
        }
        for child in children {
            if let Some(thread) = by_slot.get_mut(&child) {
                thread.unborn = true;
            }
        }
        let places = by_slot.keys().enumerate().map(|(i, &slot)| (slot, i));
        Game {
            places: places.collect(),
            threads: by_slot.into_values().collect(),
            ..Game::default()
        }
    }

    /// Who takes the next step after thread `last`; `None`: all were taken.
    fn next(&mut self, last: usize, gives_way: bool, moment: Moment) -> Option<usize> {
        let own = self.is_ready(last);
        if own && !gives_way && !self.waits_at(last, moment) {
            return Some(last);
        }
        if own {
            self.threads[last].gave_way = true;
        }
        let left = |&t: &usize| self.threads[t].step().is_some();
        let others = (0..self.threads.len()).filter(|&t| t != last && self.is_ready(t));
        let ran = |t: usize| self.threads[t].ran;
        others
            .max_by_key(|&t| (ran(t) == 0, ran(t), t))
            .or(Some(last).filter(|_| own))
            // What made somebody go on, as a signal, is not part of the game.
            .or_else(|| (0..self.threads.len()).find(left))
    }

    /// Does `t` give way before its next step?
    fn waits_at(&self, t: usize, moment: Moment) -> bool {
        let thread = &self.threads[t];
        let step = thread.step();
        !thread.gave_way && step.is_some_and(|(_, kind)| moment.precedes(kind))
    }

    fn is_ready(&self, t: usize) -> bool {
        let Some((event, kind)) = self.threads.get(t).and_then(Thread::step) else {
            return false;
        };
        let waits = match kind {
            Kind::MutexLock | Kind::MutexTimedLock | Kind::SpinLock | Kind::RwWrite => {
                let holder = self.holders.get(&event.object);
                holder.is_some_and(|&holder| holder != t)
            }
            Kind::ThreadJoin => {
                let joined = self.places.get(&(event.value as Slot));
                joined.is_some_and(|&other| self.threads[other].step().is_some())
            }
            _ => false,
        };
        !waits && !self.threads[t].unborn
    }

    /// `t` takes its next step; does it give way after that?
    fn take(&mut self, t: usize, moment: Moment) -> bool {
        self.moves += 1;
        let thread = &mut self.threads[t];
        let Some((event, kind)) = thread.step() else {
            return false;
        };
        thread.taken += 1;
        thread.gave_way = false;
        thread.ran = self.moves;
        match kind {
            Kind::MutexLock | Kind::MutexTimedLock | Kind::SpinLock | Kind::RwWrite => {
                self.holders.insert(event.object, t);
            }
            Kind::MutexUnlock | Kind::SpinUnlock | Kind::RwUnlock => {
                self.holders.remove(&event.object);
            }
            Kind::CondWait => {
                self.holders.remove(&event.value);
            }
            Kind::ThreadCreate => {
                if let Some(&child) = self.places.get(&(event.value as Slot)) {
                    self.threads[child].unborn = false;
                }
            }
            _ => {}
        }
        event.object != 0 && moment.follows(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: Slot, kind: Kind, object: u64, value: u64) -> Event {
        Event {
            kind: kind as u8,
            thread,
            object,
            value,
            ..Event::default()
        }
    }

    fn slots(events: &[Event], moment: Moment) -> Vec<Slot> {
        let steps = play(events, moment);
        let single = |s: &Step| std::iter::repeat_n(s.what, usize::from(s.count));
        steps.iter().flat_map(single).collect()
    }

    /// Two threads that each read a word and then write it: the second one comes by after the
    /// read, or after the write.
    #[test]
    fn a_thread_gives_way_at_its_moment() {
        let events = [
            event(1, Kind::Read, 64, 0),
            event(1, Kind::Write, 64, 1),
            event(1, Kind::Write, 128, 1),
            event(2, Kind::Read, 64, 1),
            event(2, Kind::Write, 64, 2),
        ];
        assert_eq!(slots(&events, Moment::Looked), [1, 2, 1, 1, 2]);
        assert_eq!(slots(&events, Moment::Changed), [1, 1, 2, 2, 1]);
    }

    /// Who is about to lock lets others come first, the newest one at the head.
    #[test]
    fn locks_are_taken_by_others_first() {
        let mut events = Vec::new();
        for thread in [1, 2, 3] {
            events.push(event(thread, Kind::Yield, 0, 0));
            events.push(event(thread, Kind::MutexLock, 512, 0));
            events.push(event(thread, Kind::MutexUnlock, 512, 0));
        }
        let played = slots(&events, Moment::Looked);
        assert_eq!(played, [1, 3, 2, 3, 3, 2, 2, 1, 1]);
    }

    /// Creation comes before the child's steps and these before the join; nobody takes a lock that
    /// another thread holds.
    #[test]
    fn the_order_that_calls_enforce_is_kept() {
        let mut events = vec![
            event(0, Kind::ThreadCreate, 8, 1),
            event(0, Kind::ThreadCreate, 8, 2),
        ];
        for thread in [1, 2] {
            events.push(event(thread, Kind::MutexLock, 512, 0));
            events.push(event(thread, Kind::Write, 64, 0));
            events.push(event(thread, Kind::MutexUnlock, 512, 0));
        }
        events.push(event(0, Kind::ThreadJoin, 0, 1));
        events.push(event(0, Kind::ThreadJoin, 0, 2));
        for moment in [Moment::Changed, Moment::Looked] {
            let played = slots(&events, moment);
            assert_eq!(played.len(), events.len());
            let children: Vec<Slot> = played.iter().copied().filter(|&s| s != 0).collect();
            // The sections come one after the other, in whichever order.
            let whole = [[1, 1, 1, 2, 2, 2], [2, 2, 2, 1, 1, 1]];
            assert!(
                whole.iter().any(|w| children == w),
                "{moment:?}: {played:?}"
            );
            assert_eq!(played[0], 0, "{moment:?}");
            assert_eq!(played[played.len() - 1], 0, "{moment:?}");
        }
    }

    /// Whatever records come, every step is played once and the order within a thread is kept.
    #[test]
    fn every_step_is_played_once() {
        let mut draw = crate::steer::draw::Draw::new(3);
        for _ in 0..300 {
            let mut next = |n: usize| draw.below(n) as u64;
            let events: Vec<Event> = (0..60)
                .map(|_| {
                    event(
                        next(5) as Slot,
                        KINDS[next(KINDS.len()) as usize],
                        next(4),
                        next(6),
                    )
                })
                .collect();
            for moment in [Moment::Changed, Moment::Looked] {
                let mut played = slots(&events, moment);
                let mut had: Vec<Slot> = events.iter().map(|e| e.thread).collect();
                played.sort_unstable();
                had.sort_unstable();
                assert_eq!(played, had);
            }
        }
    }

    const KINDS: [Kind; 9] = [
        Kind::ThreadCreate,
        Kind::ThreadJoin,
        Kind::MutexLock,
        Kind::MutexUnlock,
        Kind::CondWait,
        Kind::CondWake,
        Kind::Read,
        Kind::Write,
        Kind::Rmw,
    ];
}
