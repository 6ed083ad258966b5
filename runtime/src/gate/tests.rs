//! The whole gate under a fake operating system.

mod facts;
mod rounds;
mod sleep;
mod spin;
mod timed;

use super::cancel::Cancel;
use super::core::{Gate, State, Stop};
use super::{Pending, Wake};
use crate::pages::{Os, Pages};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::{Divergence, End, Raw, STACK, Wait};
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::shared::{self, Control, JobWords, UNCONTROLLED_NAME, flags};
use raddle_protocol::{Slot, slot};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

/// A controller that empties the regions at once and keeps what was in them.
#[derive(Default)]
pub(super) struct Fake {
    base: usize,
    taken: Vec<Step>,
    events: Vec<Event>,
    drains: usize,
    /// The job that the clone of a copy finds.
    thaw: Option<JobWords>,
}

impl Fake {
    fn empty(&mut self, control: &Control) {
        let region = |region: shared::Region| (self.base + region.offset) as *const u8;
        // SAFETY: the mapping of `World::new`; the lengths are the runtime's own.
        unsafe {
            let len = control.taken_len.swap(0, Ordering::Relaxed) as usize;
            let taken = region(shared::TAKEN).cast::<Step>();
            self.taken.extend(std::slice::from_raw_parts(taken, len));
            let len = control.log_len.swap(0, Ordering::Relaxed) as usize;
            let log = region(shared::LOG).cast::<Event>();
            self.events.extend(std::slice::from_raw_parts(log, len));
        }
    }
}

impl Os for Fake {
    fn drain(&mut self, control: &Control) -> bool {
        self.drains += 1;
        self.empty(control);
        true
    }

    fn freeze(&mut self, control: &Control, _: u32, _: u32) -> bool {
        let Some(job) = self.thaw.take() else {
            return false;
        };
        self.empty(control);
        control.steps.store(0, Ordering::Relaxed);
        // SAFETY: the mapping of `World::with`; nobody else looks at the job now.
        unsafe { (*(self.base as *mut Control)).job = job };
        true
    }

    fn stack(&mut self, into: &mut [usize; STACK]) -> usize {
        into[..3].copy_from_slice(&[0x100, 0x200, 0x300]);
        3
    }

    fn rest(&mut self, _: u64) -> bool {
        false
    }
}

thread_local! {
    /// Who holds which lock, for `ready` and `holder`, which are plain functions.
    static LOCKS: RefCell<HashMap<u64, Slot>> = RefCell::default();
}

fn holder_of(object: u64) -> Slot {
    LOCKS.with(|locks| locks.borrow().get(&object).copied().unwrap_or(slot::NONE))
}

pub(super) struct World {
    pub(super) gate: Gate<Fake>,
}

impl World {
    pub(super) fn new(flags: u32, tail: Tail, prefix: &[Step]) -> World {
        World::with(
            JobWords {
                flags,
                tail: tail.to_words(),
                ..JobWords::default()
            },
            prefix,
        )
    }

    fn with(mut job: JobWords, prefix: &[Step]) -> World {
        LOCKS.with(|locks| locks.borrow_mut().clear());
        let base = crate::os::map_memory(shared::TOTAL);
        job.steps_len = prefix.len() as u32;
        let mut gate = Gate::new(Fake {
            base: base as usize,
            ..Fake::default()
        });
        // SAFETY: a fresh mapping of the full size.
        unsafe {
            (*base.cast::<Control>()).job = job;
            let steps = base.add(shared::STEPS.offset).cast::<Step>();
            steps.copy_from_nonoverlapping(prefix.as_ptr(), prefix.len());
            gate.pages.attach(base);
        }
        let begun = gate.begin();
        assert_eq!(begun.is_ok(), Tail::from_words(job.tail).is_some());
        World { gate }
    }

    /// Main creates `n` children, whose slots are 1 to n. No steps.
    pub(super) fn children(mut self, n: usize) -> World {
        assert_eq!(self.gate.running(), slot::MAIN);
        for expected in 1..=n as Slot {
            let s = self.gate.name_child().unwrap();
            assert_eq!(s, expected);
            self.gate
                .add(s, Pending::always(Kind::ThreadStart, 0, 0x10));
        }
        self
    }

    /// The running thread announces something that can always complete.
    pub(super) fn work(&mut self) -> Result<Slot, Stop> {
        self.gate.announce_ready(Kind::Yield, 0, 0x20)
    }

    /// The running thread wants the lock `object`.
    fn lock(&mut self, object: u64) -> Result<Slot, Stop> {
        self.gate.announce(&Pending {
            ready: |p, _| holder_of(p.object) == slot::NONE,
            holder: |p| (holder_of(p.object), 0x77),
            ..Pending::always(Kind::MutexLock, object, 0x30)
        })
    }

    /// The running thread, chosen after `lock`, has it.
    fn acquire(&mut self, object: u64) {
        let me = self.gate.running();
        assert_eq!(self.gate.arrive(), Wake::Ready);
        assert_eq!(holder_of(object), slot::NONE);
        LOCKS.with(|locks| locks.borrow_mut().insert(object, me));
        self.gate.touch(object);
    }

    fn release(&mut self, object: u64) {
        LOCKS.with(|locks| locks.borrow_mut().remove(&object));
        self.gate.touch(object);
    }

    fn sleep(&mut self, deadline: u64) -> Result<Slot, Stop> {
        self.gate.announce(&Pending {
            ready: |_, _| false,
            deadline,
            ..Pending::always(Kind::Sleep, 0, 0x40)
        })
    }

    pub(super) fn wait_forever(&mut self, object: u64, cancellable: bool) -> Result<Slot, Stop> {
        self.gate.announce(&Pending {
            ready: |_, _| false,
            cancellable,
            ..Pending::always(Kind::CondWake, object, 0x50)
        })
    }

    fn outcome(&self) -> &Raw {
        &self.gate.pages.control().outcome
    }

    fn end(&self) -> End {
        End::from_u32(self.outcome().end).unwrap()
    }

    fn message(&self) -> &str {
        let raw = self.outcome();
        std::str::from_utf8(&raw.message[..raw.message_len as usize]).unwrap()
    }

    fn waits(&self) -> &[Wait] {
        let raw = self.outcome();
        &raw.waits[..raw.waits_len as usize]
    }

    fn drained(&mut self) -> &Fake {
        let pages: *mut Pages<Fake> = &mut self.gate.pages;
        // SAFETY: the head and the fake do not overlap.
        unsafe { (*pages).os.empty((*pages).control()) };
        &self.gate.pages.os
    }
}

const fn t(thread: Slot, count: u16) -> Step {
    Step::thread(thread, count)
}

#[test]
fn a_prefix_is_followed_and_recorded() {
    let prefix = [t(0, 2), t(2, 3), t(1, 1), t(0, 1)];
    let mut world = World::new(0, Tail::RunUntilBlocked, &prefix).children(2);
    let chosen: Vec<Slot> = (0..9).map(|_| world.work().unwrap()).collect();
    assert_eq!(chosen[..7], [0, 0, 2, 2, 2, 1, 0]);
    let expected: Vec<Step> = [prefix.to_vec(), vec![t(1, 1), t(2, 1)]].concat();
    assert_eq!(
        world.drained().taken,
        expected,
        "yields go round once the prefix is used up"
    );
    let control = world.gate.pages.control();
    assert_eq!(control.steps.load(Ordering::Relaxed), 9);
    assert_eq!(control.switches.load(Ordering::Relaxed), 5);
    assert_eq!(
        control.preemptions.load(Ordering::Relaxed),
        0,
        "yields give way"
    );
    assert_eq!(control.threads.load(Ordering::Relaxed), 3);
    assert_eq!(control.running.load(Ordering::Relaxed), 2);
}

#[test]
fn who_could_go_on_and_is_passed_over_is_preempted() {
    let prefix = [t(0, 1), t(1, 2), t(0, 1)];
    let mut world = World::new(0, Tail::RunUntilBlocked, &prefix).children(1);
    for (kind, next, preemptions) in [
        (Kind::Write, 0, 0),
        (Kind::Write, 1, 1),
        (Kind::Write, 1, 1),
        (Kind::Yield, 0, 1),
    ] {
        assert_eq!(world.gate.announce_ready(kind, 0, 0x20), Ok(next));
        let control = world.gate.pages.control();
        assert_eq!(control.preemptions.load(Ordering::Relaxed), preemptions);
    }
}

#[test]
fn a_strict_prefix_that_cannot_be_followed_is_a_divergence() {
    let table: [(Step, Divergence, &str); 5] = [
        (
            t(7, 1),
            Divergence::NoSuchThread,
            "thread 7, but it does not exist",
        ),
        (
            t(9999, 1),
            Divergence::NoSuchThread,
            "thread 9999, but it does not exist",
        ),
        (t(2, 1), Divergence::Ended, "thread 2, but it has ended"),
        (t(1, 1), Divergence::Blocked, "thread 1, but it is blocked"),
        (
            Step::choice(1),
            Divergence::KindOfStep,
            "alternative 1, but another kind of step is due",
        ),
    ];
    for (step, why, reason) in table {
        let prefix = [t(1, 1), t(2, 1), t(0, 1), step];
        let mut world = World::new(0, Tail::RunUntilBlocked, &prefix).children(2);
        assert_eq!(world.work(), Ok(1));
        assert_eq!(world.wait_forever(8, false), Ok(2));
        assert_eq!(world.gate.retire(0), Ok(0));
        assert_eq!(world.work(), Err(Stop));
        assert_eq!(world.end(), End::Divergence);
        assert_eq!(
            world.outcome().detail,
            [3, u64::from(step.what), why as u64, 0]
        );
        assert_eq!(
            world.message(),
            format!("step 3: the schedule wants {reason}")
        );
    }
}

#[test]
fn a_tolerant_prefix_is_followed_as_far_as_it_goes() {
    let prefix = [t(7, 5), Step::choice(1), t(1, 1), t(2, 1), t(0, 1)];
    let mut world = World::new(flags::TOLERANT, Tail::RunUntilBlocked, &prefix).children(2);
    assert_eq!(world.work(), Ok(1));
    assert_eq!(world.gate.retire(0), Ok(2));
    assert_eq!(
        world.gate.choose(3, false),
        Ok(0),
        "a thread is due: the first alternative"
    );
    assert_eq!(world.work(), Ok(0));
    assert_eq!(
        world.drained().taken,
        [t(1, 1), t(2, 1), Step::choice(0), t(0, 1)]
    );
}

#[test]
fn choices_follow_the_prefix_and_are_recorded_one_by_one() {
    let prefix = [Step::choice(2), Step::choice(2), t(0, 1), Step::choice(3)];
    let mut world = World::new(0, Tail::RunUntilBlocked, &prefix);
    assert_eq!(world.gate.choose(1, false), Ok(0), "no choice, no entry");
    assert_eq!(world.gate.choose(3, false), Ok(2));
    assert_eq!(world.gate.choose(3, false), Ok(2));
    assert_eq!(world.work(), Ok(0));
    assert_eq!(world.drained().taken, prefix[..3]);
    assert_eq!(world.gate.choose(3, false), Err(Stop));
    assert_eq!(world.outcome().detail[2], Divergence::NoSuchChoice as u64);
    let mut world = World::new(0, Tail::RunUntilBlocked, &[t(0, 1)]);
    assert_eq!(world.gate.choose(2, false), Err(Stop));
    assert_eq!(world.outcome().detail[2], Divergence::KindOfStep as u64);
}

#[test]
fn locks_block_and_wake() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(1);
    assert_eq!(world.lock(8), Ok(0));
    world.acquire(8);
    assert_eq!(world.work(), Ok(1), "a yield");
    assert_eq!(world.lock(8), Ok(0), "blocked: the other goes on");
    world.release(8);
    assert_eq!(world.wait_forever(1, false), Ok(1));
    world.acquire(8);
}

#[test]
fn nobody_enabled_is_a_deadlock_with_everybody_listed() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(2);
    assert_eq!(world.wait_forever(0x10, false), Ok(1));
    assert_eq!(world.wait_forever(0x20, true), Ok(2));
    assert_eq!(world.wait_forever(0x30, false), Err(Stop));
    assert_eq!(
        (world.end(), world.message()),
        (End::Deadlock, "all 3 threads wait for ever")
    );
    let seen: Vec<_> = world
        .waits()
        .iter()
        .map(|w| (w.thread, w.object, w.pc, w.holder))
        .collect();
    let none = slot::NONE;
    assert_eq!(
        seen,
        [
            (0, 0x10, 0x50, none),
            (1, 0x20, 0x50, none),
            (2, 0x30, 0x50, none)
        ]
    );
    assert_eq!(world.outcome().thread, 2);
}

#[test]
fn a_cycle_is_reported_when_it_closes_although_others_could_go_on() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(2);
    for (object, next) in [(0xa, 1), (0xb, 2)] {
        let me = world.gate.running();
        assert_eq!(world.lock(object), Ok(me));
        world.acquire(object);
        assert_eq!(world.work(), Ok(next));
    }
    assert_eq!(world.work(), Ok(0));
    assert_eq!(world.lock(0xb), Ok(1), "no cycle yet");
    assert_eq!(world.lock(0xa), Err(Stop));
    assert_eq!(world.end(), End::Deadlock);
    assert_eq!(world.message(), "2 threads wait for each other in a cycle");
    let seen: Vec<_> = world
        .waits()
        .iter()
        .map(|w| (w.thread, w.holder, w.in_cycle, w.holder_pc))
        .collect();
    assert_eq!(seen, [(0, 1, 1, 0x77), (1, 0, 1, 0x77)]);

    let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(1);
    assert_eq!(world.lock(0xa), Ok(0));
    world.acquire(0xa);
    assert_eq!(world.lock(0xa), Err(Stop), "a thread that waits for itself");
    assert_eq!(world.message(), "a thread waits for itself");
}

#[test]
fn a_deadline_or_a_cancellation_is_a_way_out_of_a_cycle() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(1);
    assert_eq!(world.lock(0xa), Ok(0));
    world.acquire(0xa);
    let timed = Pending {
        ready: |p, _| holder_of(p.object) == slot::NONE,
        holder: |p| (holder_of(p.object), 0),
        deadline: 100,
        ..Pending::always(Kind::MutexTimedLock, 0xa, 0)
    };
    assert_eq!(world.gate.announce(&timed), Ok(1));
    assert_eq!(
        world.gate.announce(&Pending {
            cancellable: true,
            ..timed
        }),
        Ok(0)
    );
    assert_eq!(world.gate.arrive(), Wake::TimedOut);
}

#[test]
fn time_moves_only_when_a_wait_runs_out() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(2);
    assert_eq!(world.sleep(500), Ok(1));
    assert_eq!(world.gate.clock(), 0);
    assert_eq!(world.sleep(200), Ok(2));
    assert_eq!(world.sleep(300), Ok(1), "the earliest deadline");
    assert_eq!(
        (world.gate.clock(), world.gate.arrive()),
        (200, Wake::TimedOut)
    );
    assert_eq!(world.sleep(250), Ok(1), "earlier than all others");
    assert_eq!(world.wait_forever(1, false), Ok(2));
    assert_eq!(world.gate.clock(), 300);
    world.gate.advance_to(600);
    assert_eq!(
        world.work(),
        Ok(0),
        "its time has passed: ready like any other"
    );
    assert_eq!(
        (world.gate.clock(), world.gate.arrive()),
        (600, Wake::TimedOut)
    );
    world.gate.advance_to(10);
    assert_eq!(world.gate.clock(), 600, "never backwards");
}

#[test]
fn lazy_time_waits_for_everybody_else() {
    for lazy in [false, true] {
        let flags = if lazy { flags::LAZY_TIME } else { 0 };
        let mut world = World::new(flags, Tail::Random { seed: 3 }, &[]).children(1);
        let mut next = world.work().unwrap();
        while next == 1 {
            next = world.work().unwrap();
        }
        let mut slept = world.sleep(100).unwrap();
        let mut steps = 0;
        while slept == 1 && steps < 2_000 {
            slept = world.work().unwrap();
            steps += 1;
        }
        assert_eq!(slept == 1, lazy);
    }
    let prefix = [t(1, 1), t(0, 1)];
    let mut world = World::new(flags::LAZY_TIME, Tail::RunUntilBlocked, &prefix).children(1);
    assert_eq!(world.sleep(100), Ok(1));
    assert_eq!(world.work(), Err(Stop), "a prefix may not wake it either");
    assert_eq!(world.outcome().detail[2], Divergence::Blocked as u64);
}

#[test]
fn cancellation_acts_at_cancellation_points_or_anywhere() {
    let table = [
        (Cancel::No, true, None),
        (Cancel::Deferred, false, None),
        (Cancel::Deferred, true, Some(Wake::Cancelled)),
        (Cancel::Now, false, Some(Wake::Cancelled)),
    ];
    for (request, cancellable, wake) in table {
        let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(1);
        assert_eq!(world.wait_forever(8, cancellable), Ok(1));
        world.gate.threads[0].cancel = request;
        world.gate.touch_thread(0);
        let next = world.wait_forever(9, false);
        match wake {
            None => assert_eq!((next, world.end()), (Err(Stop), End::Deadlock)),
            Some(wake) => {
                assert_eq!(next, Ok(0));
                assert_eq!(world.gate.arrive(), wake);
            }
        }
    }
}

#[test]
fn the_step_limit_ends_the_execution() {
    let job = JobWords {
        max_steps: 5,
        ..JobWords::default()
    };
    let mut world = World::with(job, &[]);
    for _ in 0..5 {
        assert_eq!(world.work(), Ok(0));
    }
    assert_eq!(world.work(), Err(Stop));
    assert_eq!(
        (world.end(), world.outcome().detail[0]),
        (End::StepLimit, 5)
    );
    assert_eq!(world.message(), "still running after 5 steps (--max-steps)");
}

#[test]
fn full_regions_lose_nothing() {
    let mut world = World::new(flags::EVENTS, Tail::Random { seed: 9 }, &[]).children(3);
    world.gate.pages.shrink(7, 5);
    let mut chosen = Vec::new();
    for i in 0..1_000 {
        chosen.push(world.work().unwrap());
        world.gate.log(Event {
            kind: Kind::Yield as u8,
            value: i,
            ..Event::default()
        });
    }
    let fake = world.drained();
    assert!(fake.drains > 150);
    let unrolled: Vec<Slot> = fake
        .taken
        .iter()
        .flat_map(|s| vec![s.what; usize::from(s.count)])
        .collect();
    assert_eq!(unrolled, chosen);
    assert!(fake.events.iter().map(|e| e.value).eq(0..1_000));
    assert!(fake.events.iter().map(|e| e.thread).eq(chosen));
    assert_eq!(world.gate.events(), 1_000);
}

#[test]
fn long_runs_are_split_where_the_count_ends() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]);
    for _ in 0..70_000 {
        world.gate.announce_ready(Kind::MutexLock, 8, 0).unwrap();
    }
    assert_eq!(
        world.drained().taken,
        [t(0, u16::MAX), t(0, 70_000u32 as u16 + 1)]
    );
}

#[test]
fn enabled_records_list_all_candidates() {
    let flags = flags::EVENTS | flags::ENABLED;
    let mut world = World::new(flags, Tail::RunUntilBlocked, &[]).children(14);
    world.gate.amend(3, |p| p.ready = |_, _| false);
    world.work().unwrap();
    let events = &world.drained().events;
    assert_eq!(events.len(), 2);
    assert!(
        events
            .iter()
            .all(|e| e.kind() == Some(Kind::Enabled) && e.thread == 0)
    );
    assert_eq!(
        (events[0].size, events[0].aux, events[1].size, events[1].aux),
        (12, 2, 2, 0)
    );
    let listed: Vec<Slot> = events.iter().flat_map(Event::enabled_slots).collect();
    assert!(listed.iter().copied().eq((0..15).filter(|&s| s != 3)));
}

#[test]
fn callers_are_recorded_when_an_operation_is_announced() {
    let announce = |flags: u32, pc| {
        let mut world = World::new(flags, Tail::RunUntilBlocked, &[]);
        world.gate.announce_ready(Kind::Yield, 0, pc).unwrap();
        world
            .gate
            .announce(&Pending::always(Kind::Yield, 0, pc))
            .unwrap();
        world.drained().events.clone()
    };
    let table: [(usize, &[u64]); 4] = [
        (0x100, &[0x200, 0x300]),
        (0x200, &[0x300]),
        (0x300, &[]),
        (0x999, &[]),
    ];
    for (pc, expected) in table {
        let events = announce(flags::STACKS, pc);
        assert_eq!(events.len(), 2, "one record for each announcement");
        for event in events {
            assert_eq!((event.kind(), event.thread), (Some(Kind::Stack), 0));
            assert!(event.callers().eq(expected.iter().copied()), "{event:?}");
        }
    }
    assert!(announce(flags::EVENTS, 0x100).is_empty());
}

#[test]
fn children_are_named_by_their_parents_and_probe_when_taken() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]).children(1);
    world.gate.impersonate(1);
    let first = slot::preferred(1, 0);
    assert_eq!(world.gate.name_child(), Some(first));
    world
        .gate
        .add(first, Pending::always(Kind::ThreadStart, 0, 0));
    let second = slot::preferred(1, 1);
    world
        .gate
        .add(second, Pending::always(Kind::ThreadStart, 0, 0));
    assert_eq!(
        world.gate.name_child(),
        Some(second + 1),
        "taken: the next one"
    );
    for s in slot::FIRST_NESTED..slot::COUNT as Slot {
        if world.gate.threads[s].state == State::Free {
            world.gate.threads[s].state = State::Ended;
        }
    }
    assert_eq!(world.gate.name_child(), None, "all taken");
}

#[test]
fn the_first_outcome_stands() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]);
    let fatal = |end, text: std::fmt::Arguments<'static>| super::Fatal {
        end,
        code: 3,
        message: text,
        detail: [1, 2, 3, 4],
        pc: 0x200,
        stack: true,
    };
    world
        .gate
        .record(&fatal(End::Assertion, format_args!("x > 0")));
    world.gate.record(&fatal(End::Abort, format_args!("again")));
    let raw = world.outcome();
    assert_eq!(
        (world.end(), world.message(), raw.code),
        (End::Assertion, "x > 0", 3)
    );
    assert_eq!((raw.detail, raw.stack_len), ([1, 2, 3, 4], 2));
    assert_eq!(
        raw.stack[..2],
        [0x200, 0x300],
        "frames of the runtime are left out"
    );
}

#[test]
fn a_symbolic_run_ends_with_what_was_announced() {
    type Announced = (Slot, Kind, u64);
    let ends: [(u32, bool, &[Announced]); 3] = [
        (0, false, &[]),
        (
            shared::flags::SYMBOLIC,
            false,
            &[(0, Kind::CondWake, 8), (2, Kind::ThreadStart, 0)],
        ),
        (
            shared::flags::SYMBOLIC,
            true,
            &[(0, Kind::CondWake, 8), (1, Kind::CondWake, 9)],
        ),
    ];
    for (flags, deadlock, expected) in ends {
        let children = if deadlock { 1 } else { 2 };
        let mut world = World::new(flags, Tail::RunUntilBlocked, &[]).children(children);
        assert_eq!(world.wait_forever(8, false), Ok(1));
        if deadlock {
            assert_eq!(world.wait_forever(9, false), Err(Stop));
        } else {
            world.gate.record(&super::Fatal {
                end: End::Exit,
                code: 0,
                message: format_args!(""),
                detail: [0; 4],
                pc: 0,
                stack: false,
            });
        }
        let events = &world.drained().events;
        let announced: Vec<(Slot, Kind, u64)> = events
            .iter()
            .filter(|e| e.kind() == Some(Kind::Pending))
            .map(|e| (e.thread, Kind::from_u8(e.size).unwrap(), e.object))
            .collect();
        assert_eq!(announced, expected);
    }
}

#[test]
fn in_a_symbolic_run_others_go_before_the_end_of_the_process() {
    for (flags, next) in [(0, 0), (shared::flags::SYMBOLIC, 1)] {
        let mut world = World::new(flags, Tail::RunUntilBlocked, &[]).children(1);
        let end = world.gate.announce_ready(Kind::ProcessEnd, 0, 0x20);
        assert_eq!(end, Ok(next));
    }
}

#[test]
fn a_long_message_is_cut() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]);
    let long = "ä".repeat(2_000);
    world.gate.record(&super::Fatal {
        end: End::Abort,
        code: 0,
        message: format_args!("{long}"),
        detail: [0; 4],
        pc: 0x999,
        stack: false,
    });
    assert_eq!(world.outcome().message_len, 1024);
    assert_eq!(
        (world.outcome().stack_len, world.outcome().stack[0]),
        (1, 0x999)
    );
}

#[test]
fn an_unknown_tail_rule_is_refused() {
    let world = World::with(
        JobWords {
            tail: [77, 0, 0, 0],
            ..JobWords::default()
        },
        &[],
    );
    assert_eq!(world.end(), End::ToolFault);
    assert_eq!(world.message(), "the job has the unknown tail rule 77");
}

#[test]
fn what_is_not_controlled_is_named_once() {
    let mut world = World::new(0, Tail::RunUntilBlocked, &[]);
    for name in ["fork", "vfork", "fork", &"x".repeat(2 * UNCONTROLLED_NAME)] {
        world.gate.pages.uncontrolled(name);
    }
    for i in 0..100 {
        world.gate.pages.uncontrolled(&format!("call {i}"));
    }
    let control = world.gate.pages.control();
    assert_eq!(control.uncontrolled_len.load(Ordering::Relaxed), 64);
    assert_eq!(&control.uncontrolled[0][..5], b"fork\0");
    assert_eq!(&control.uncontrolled[1][..6], b"vfork\0");
    assert_eq!(control.uncontrolled[2], [b'x'; UNCONTROLLED_NAME]);
}

/// The target may scribble over the pages: nothing that was written there is believed.
#[test]
fn scribbled_lengths_are_not_believed() {
    let mut world = World::new(flags::EVENTS, Tail::RunUntilBlocked, &[]);
    world.work().unwrap();
    let control = world.gate.pages.control();
    control.taken_len.store(u64::MAX, Ordering::Relaxed);
    control.log_len.store(u64::MAX, Ordering::Relaxed);
    control.uncontrolled_len.store(u32::MAX, Ordering::Relaxed);
    control.steps.store(99, Ordering::Relaxed);
    world.gate.log(Event::default());
    world.gate.pages.uncontrolled("fork");
    world.work().unwrap();
    let control = world.gate.pages.control();
    assert_eq!(control.log_len.load(Ordering::Relaxed), 1);
    assert_eq!(control.steps.load(Ordering::Relaxed), 2);
}

#[test]
fn a_clone_of_a_copy_goes_on_as_if_it_had_begun_with_its_own_job() {
    let tails = [
        Tail::Random { seed: 5 },
        Tail::Pos { seed: 5 },
        Tail::Pct {
            seed: 5,
            depth: 3,
            steps: 20,
        },
    ];
    let play = |mut world: World| {
        world.work().unwrap();
        let mut world = world.children(2);
        let order: Vec<Slot> = (0..12).map(|_| world.work().unwrap()).collect();
        (order, world)
    };
    for tail in tails {
        let (expected, mut plain) = play(World::new(0, tail, &[]));
        let mut copied = World::with(
            JobWords {
                freeze_at: shared::freeze::FIRST_CHOICE,
                ..JobWords::default()
            },
            &[],
        );
        copied.gate.pages.os.thaw = Some(JobWords {
            tail: tail.to_words(),
            ..JobWords::default()
        });
        let (order, mut copied) = play(copied);
        assert_eq!(order, expected, "{tail:?}");
        assert!(copied.gate.pages.os.thaw.is_none());
        assert_eq!(copied.drained().taken, plain.drained().taken);
        let steps = |world: &World| world.gate.pages.control().steps.load(Ordering::Relaxed);
        assert_eq!(steps(&copied), steps(&plain));
    }
}
