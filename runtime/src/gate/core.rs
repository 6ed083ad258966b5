//! The state machine behind the gate: no threads, no system calls, so that unit tests can drive
//! all of it.

use super::children::Children;
use super::ending::Ending;
use super::facts::Facts;
use super::freeze::Freeze;
use super::prefix::Prefix;
use super::section::Section;
use super::sleep::Sleep;
use super::spin::Spins;
use super::steer::{self, Steer};
use super::timed::{Hurry, Patient};
use super::{Fatal, Pending, Wake};
use crate::pages::{Os, Pages};
use crate::policy::{self, Operation, Policy, View};
use crate::slots::{PerSlot, SlotSet, Zero};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// The execution is over: the outcome has been written, the process must end.
#[derive(Debug, PartialEq, Eq)]
pub struct Stop;

/// Where a thread is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// The slot was never used.
    Free = 0,
    /// It has announced an operation (and runs, if it is the running thread).
    Alive = 1,
    /// It has taken its last step.
    Ended = 2,
}

/// What the gate knows of a thread.
pub struct Thread {
    /// Initialised when `state` is not [`State::Free`].
    pending: MaybeUninit<Pending>,
    pub state: State,
    pub cancel: super::Cancel,
    /// How many threads it has created.
    children: u32,
    /// The how-many-th of all it is.
    pub(super) number: u64,
    /// A signal is due: see [`Gate::set_signalled`].
    pub(super) signalled: bool,
    /// What it waits for ends by its time only where nobody else can go on.
    pub(super) patient: bool,
    /// What the clock showed when it began to wait for its time.
    pub(super) since: u64,
}

// SAFETY: the enums have a 0, the rest is plain.
unsafe impl Zero for Thread {}

impl Thread {
    pub(super) fn pending(&self) -> &Pending {
        assert!(self.state != State::Free);
        // SAFETY: written before the state left Free.
        unsafe { self.pending.assume_init_ref() }
    }
}

/// With these flags something is recorded at every step.
const GUIDED: u32 = flags::ENABLED | flags::STACKS | flags::EXHAUSTIVE;

/// Entries of the table of interest.
const INTEREST: usize = 512;

fn interest_in(object: u64) -> usize {
    (object >> 3 ^ object >> 12) as usize % INTEREST
}

/// See the module.
pub struct Gate<O: Os> {
    pub pages: Pages<O>,
    pub threads: PerSlot<Thread>,
    /// Alive threads.
    alive: SlotSet,
    /// Alive threads whose announced operation can complete (stale for the running thread).
    pub(super) ready: SlotSet,
    /// Alive threads that can go on only by letting their time run out, and may.
    pub(super) timed: SlotSet,
    /// Those that may not yet.
    pub(super) patient: Patient,
    no_one: SlotSet,
    /// Threads that wait for child processes.
    pub(super) children: Children,
    pub(super) facts: Facts,
    /// How many parked threads (alive, not running) have announced an operation on an object of
    /// this hash: lets [`Gate::touch`] end at once for an object that nobody waits at.
    interest: [u16; INTEREST],
    running: Slot,
    pub(super) prefix: Prefix,
    pub(super) policy: Policy,
    pub(super) ending: Ending,
    pub(super) steer: Steer,
    pub(super) freeze: Freeze,
    pub(super) section: Section,
    pub(super) sleep: Sleep,
    pub flags: u32,
    /// Are events recorded?
    pub(super) logging: bool,
    /// The record of the step that was taken last is still missing.
    pub(super) owed: bool,
    pub(super) spins: Spins,
    /// The next step needs more than the policy: a prefix, records of who is enabled or calls.
    guided: bool,
    /// Steps after which the execution ends.
    pub(super) limit: u64,
    /// Steps after which somebody looks outside (`outside.rs`).
    look: u64,
    pub(super) choices: u64,
    pub(super) steps: u64,
    pub(super) switches: u64,
    preemptions: u64,
    pub(super) created: u64,
    /// See [`Gate::several`].
    pub(super) alone: u32,
    pub(super) clock: u64,
    /// See [`Gate::oversleeps`].
    pub(super) ticked: u64,
    /// See [`Hurry`].
    pub(super) hurry: Hurry,
    /// Bits of [`raddle_protocol::shared::given`], so far.
    given: u64,
}

impl<O: Os> Gate<O> {
    /// Idle: [`Gate::begin`] starts it.
    pub const fn new(os: O) -> Gate<O> {
        Gate {
            pages: Pages::new(os),
            threads: PerSlot::new(),
            alive: SlotSet::EMPTY,
            ready: SlotSet::EMPTY,
            timed: SlotSet::EMPTY,
            patient: Patient::NOBODY,
            no_one: SlotSet::EMPTY,
            children: Children::NOTHING,
            facts: Facts::NONE,
            interest: [0; INTEREST],
            running: slot::MAIN,
            prefix: Prefix::EMPTY,
            policy: Policy::idle(),
            ending: Ending::NONE,
            steer: Steer::NONE,
            freeze: Freeze::NEVER,
            section: Section::NONE,
            sleep: Sleep::NONE,
            flags: 0,
            logging: false,
            owed: false,
            spins: Spins::new(),
            guided: false,
            limit: u64::MAX,
            look: u64::MAX,
            steps: 0,
            choices: 0,
            switches: 0,
            preemptions: 0,
            created: 0,
            alone: 0,
            clock: 0,
            ticked: 0,
            hurry: Hurry::NONE,
            given: 0,
        }
    }

    /// Obeys the job in the pages from now on; the caller is main. `Err`: the job is malformed.
    pub fn begin(&mut self) -> Result<(), Stop> {
        self.threads.map();
        self.obey()?;
        self.add(slot::MAIN, Pending::always(Kind::ThreadStart, 0, 0));
        Ok(())
    }

    /// Obeys the job in the pages from the next choice on.
    pub(super) fn obey(&mut self) -> Result<(), Stop> {
        let job = self.pages.job();
        self.flags = job.flags;
        let records = flags::EVENTS | flags::ENABLED | flags::STACKS | flags::SYMBOLIC;
        self.logging = job.flags & records != 0;
        self.owed = false;
        self.limit = if job.max_steps == 0 {
            u64::MAX
        } else {
            job.max_steps
        };
        self.prefix = Prefix::new(self.pages.steps(job.steps_len as usize));
        self.steer
            .start(self.pages.constraints(job.constraints_len as usize));
        self.sleep
            .start(self.pages.sleepers(job.sleepers_len as usize));
        self.ending.start();
        self.begin_freeze(job.freeze_at, job.freeze_slot);
        self.guided = job.steps_len != 0 || self.is_guided();
        match Policy::new(job.tail) {
            Some(policy) => self.policy = policy,
            None => {
                let message = format_args!("the job has the unknown tail rule {}", job.tail[0]);
                return Err(self.fault(End::ToolFault, message, [0; 4]));
            }
        }
        self.begin_spins();
        Ok(())
    }

    /// Do steps after the prefix need more than the policy?
    fn is_guided(&self) -> bool {
        self.flags & GUIDED != 0 || self.freeze.is_due()
    }

    /// How many entries of the schedule were taken: steps and choices.
    pub(super) fn entries(&self) -> u64 {
        self.steps + self.choices
    }

    /// So many entries of the prefix were taken before.
    pub(super) fn skip(&mut self, entries: u64) {
        self.prefix.skip(entries);
    }

    /// The running thread.
    #[inline]
    pub fn running(&self) -> Slot {
        self.running
    }

    /// Has `s` been created and not ended?
    pub(super) fn is_alive(&self, s: Slot) -> bool {
        self.alive.contains(s)
    }

    /// Can what `s` announced complete?
    pub(super) fn is_ready(&self, s: Slot) -> bool {
        self.ready.contains(s)
    }

    /// What `s` announced.
    pub(super) fn pending(&self, s: Slot) -> &Pending {
        self.threads[s].pending()
    }

    /// The lowest alive thread from `s` on.
    pub(super) fn next_alive(&self, s: Slot) -> Option<Slot> {
        self.alive.next(s)
    }

    /// All alive threads, lowest first.
    pub(super) fn alive_threads(&self) -> impl Iterator<Item = Slot> + '_ {
        self.alive.iter()
    }

    /// Makes `s` pass for the running thread, so that what is allocated is its own.
    pub fn impersonate(&mut self, s: Slot) -> Slot {
        core::mem::replace(&mut self.running, s)
    }

    /// How many threads are alive.
    #[inline]
    pub fn alive(&self) -> usize {
        self.alive.len()
    }

    /// Virtual nanoseconds since the start.
    #[inline]
    pub fn clock(&self) -> u64 {
        self.clock
    }

    pub(super) fn set_clock(&mut self, ns: u64) {
        self.clock = ns;
    }

    /// Records written so far.
    pub fn events(&self) -> u64 {
        self.pages.events()
    }

    /// Names the next child of the running thread; `None` when all slots are taken.
    pub fn name_child(&mut self) -> Option<Slot> {
        let parent = self.running;
        let k = self.threads[parent].children;
        self.threads[parent].children += 1;
        let mut s = slot::preferred(parent, k);
        let first = s;
        while self.threads[s].state != State::Free {
            s = if usize::from(s) + 1 == slot::COUNT {
                slot::FIRST_NESTED
            } else {
                s + 1
            };
            if s == first || first < slot::FIRST_NESTED {
                return None;
            }
        }
        Some(s)
    }

    /// Brings `s` to life with its first announcement.
    pub fn add(&mut self, s: Slot, first: Pending) {
        let thread = &mut self.threads[s];
        thread.pending.write(first);
        thread.state = State::Alive;
        self.alive.set(s, true);
        self.alone = 0;
        if s != self.running {
            self.interest[interest_in(first.object)] += 1;
        }
        self.created += 1;
        self.threads[s].number = self.created;
        self.pages
            .control()
            .threads
            .store(self.created, Ordering::Relaxed);
        self.introduce(s);
        self.evaluate(s);
        self.update_mode();
    }

    /// The running thread announces `p`; the result is who takes the next step.
    #[inline]
    pub fn announce(&mut self, p: &Pending) -> Result<Slot, Stop> {
        let me = self.running;
        self.publish(p.kind, p.pc);
        if self.guided {
            self.log_callers(p.pc);
        }
        self.threads[me].pending.write(*p);
        self.announced_to_policy(me);
        self.spins_at(p.kind, p.object, p.pc, super::spin::may_wait(p));
        self.children.announced(me, p.outside);
        if p.deadline != 0 {
            self.measure(me);
        }
        if p.kind == Kind::Sleep {
            self.ticked = self.steps;
        }
        if !self.evaluate(me) && p.deadline == 0 {
            self.check_cycle(me)?;
        }
        self.next_step()
    }

    /// [`Gate::announce`] of [`Pending::always`], with less work; of an access to so many bytes.
    #[inline]
    pub fn announce_access(
        &mut self,
        kind: Kind,
        object: u64,
        bytes: u64,
        pc: usize,
    ) -> Result<Slot, Stop> {
        let me = self.running;
        self.publish(kind, pc);
        if self.guided {
            self.log_callers(pc);
        }
        self.threads[me].pending.write(Pending {
            aux: bytes,
            ..Pending::always(kind, object, pc)
        });
        self.announced_to_policy(me);
        let spins = self.spins_at(kind, object, pc, true);
        self.ready.set(me, !spins);
        self.timed.set(me, false);
        self.next_step()
    }

    /// Tells the policy and the constraints of a thread and what it has announced.
    pub(super) fn introduce(&mut self, s: Slot) {
        self.policy.created(s);
        self.announced_to_policy(s);
    }

    #[inline]
    fn announced_to_policy(&mut self, s: Slot) {
        self.policy.announced(s);
        if self.steer.is_active() {
            self.steer_announced(s);
        }
    }

    /// Tells the watchdog what the running thread is about to do.
    #[inline]
    fn publish(&self, kind: Kind, pc: usize) {
        let control = self.pages.control();
        control.last_kind.store(kind as u32, Ordering::Relaxed);
        control.last_pc.store(pc as u64, Ordering::Relaxed);
    }

    /// The running thread has taken its last step; those who wait for `object` may be ready. The
    /// result is who goes on.
    pub fn retire(&mut self, object: u64) -> Result<Slot, Stop> {
        let me = self.running;
        self.threads[me].state = State::Ended;
        self.alive.set(me, false);
        self.ready.set(me, false);
        self.timed.set(me, false);
        self.running = slot::NONE;
        self.may_be_alone();
        self.touch(object);
        self.next_step()
    }

    /// Sorts an alive thread into the sets; true if it is ready.
    #[inline]
    pub(super) fn evaluate(&mut self, s: Slot) -> bool {
        let thread = &self.threads[s];
        let p = thread.pending();
        let goes_on = (p.ready)(p, s) && !self.still_spins(s);
        let ready = goes_on || thread.signalled || thread.is_cancelled() || self.expired(p);
        let timed = !ready && p.deadline != 0;
        self.ready.set(s, ready);
        self.wait_for_time(s, timed);
        ready
    }

    /// See [`super::touch`].
    #[inline]
    pub fn touch(&mut self, object: u64) {
        if self.interest[interest_in(object)] != 0 {
            self.touch_all(object);
        }
    }

    fn touch_all(&mut self, object: u64) {
        let mut next = self.alive.next(0);
        while let Some(s) = next {
            if s != self.running && self.threads[s].pending().object == object {
                self.evaluate(s);
            }
            next = self.alive.next(s + 1);
        }
    }

    /// Has `s` announced an operation of this kind on `object`?
    pub fn announced(&self, s: Slot, kind: Kind, object: u64) -> bool {
        let p = self.threads[s].pending();
        s != self.running && p.kind == kind && p.object == object
    }

    /// See [`super::touch_thread`].
    pub fn touch_thread(&mut self, s: Slot) {
        if s != self.running && self.alive.contains(s) {
            self.look_anew(s);
            self.evaluate(s);
        }
    }

    /// See [`super::amend`].
    pub fn amend(&mut self, s: Slot, change: impl FnOnce(&mut Pending)) {
        if s != self.running && self.alive.contains(s) {
            let mut pending = *self.pending(s);
            self.interest[interest_in(pending.object)] -= 1;
            let before = pending.deadline;
            change(&mut pending);
            self.interest[interest_in(pending.object)] += 1;
            self.threads[s].pending.write(pending);
            if pending.deadline != before {
                self.wait_for_time(s, false);
                self.measure(s);
            }
            if self.steer.is_active() {
                self.steer_announced(s);
            }
            self.evaluate(s);
        }
    }

    /// Evaluates anew the thread that ran last, which has announced its next operation.
    pub(super) fn evaluate_last(&mut self) {
        self.evaluate(self.running);
    }

    /// Can nobody's operation complete?
    pub(super) fn nobody_is_ready(&self) -> bool {
        self.ready.is_empty()
    }

    /// [`Gate::look_outside`] is due after so many more steps.
    pub(super) fn look_after(&mut self, steps: u64) {
        self.look = self.look.min(self.steps + steps);
    }

    /// May `s` be chosen now?
    pub(super) fn enabled(&self, s: Slot) -> bool {
        if let Some(owner) = self.in_section() {
            return s == owner;
        }
        if self.ready.contains(s) {
            return true;
        }
        let lazy = self.flags & flags::LAZY_TIME != 0;
        self.timed.contains(s)
            && (!lazy || (self.ready.is_empty() && s == self.earliest()) || self.oversleeps(s))
            && !self.overtakes(s)
    }

    #[inline]
    fn next_step(&mut self) -> Result<Slot, Stop> {
        if !self.children.is_empty() {
            self.look_at_children();
        }
        self.look_at_spinners()?;
        if self.steps >= self.limit.min(self.look) || self.ready.is_empty() {
            self.check_end()?;
        }
        let next = match self.guided {
            true => self.guided_step()?,
            false => self.ask_policy(),
        };
        self.commit(next);
        Ok(next)
    }

    /// Is there a next step at all?
    #[cold]
    fn check_end(&mut self) -> Result<(), Stop> {
        self.look = u64::MAX;
        let prescribed = self.outside_is_prescribed();
        if !prescribed {
            self.look_outside();
        }
        self.end_patience();
        let nobody = self.ready.is_empty() && self.timed.is_empty() && !prescribed;
        let nobody = nobody && !self.prescribes_spinner();
        let nobody = nobody && !self.goes_on_in_vain() && !self.looks_again();
        if nobody && !self.await_signals() {
            return Err(match self.anybody_spins() {
                true => self.livelock(),
                false => self.deadlock(),
            });
        }
        if self.steps >= self.limit {
            let limit = self.limit;
            let message = format_args!("still running after {limit} steps (--max-steps)");
            return Err(self.fault(
                End::StepLimit,
                message,
                [limit, 0, self.comes_back().into(), 0],
            ));
        }
        Ok(())
    }

    fn guided_step(&mut self) -> Result<Slot, Stop> {
        if self.freeze.is_due() {
            self.look_whether_to_freeze(true)?;
        }
        if self.flags & flags::ENABLED != 0 {
            self.log_enabled();
        }
        let next = match self.follow_prefix()? {
            Some(next) => next,
            None => {
                self.guided = self.is_guided();
                self.look_who_sleeps()?;
                self.ask_policy()
            }
        };
        self.log_timed(next);
        Ok(next)
    }

    #[inline]
    fn ask_policy(&mut self) -> Slot {
        // Where there is one thread there is nothing to decide, and no policy learns of it: a copy
        // made before the second thread serves jobs of every policy.
        if let (1, Some(s)) = (self.alive.len(), self.alive.next(0)) {
            return s;
        }
        if let Some(owner) = self.in_section() {
            return owner;
        }
        if self.ending.is_asked_for() {
            self.hold_ends();
        }
        let (mut lazy, mut earliest) = (false, slot::NONE);
        let (all_ready, all_timed) = match self.sleep.is_active() {
            true => self.sleep.awake(),
            false => (self.ending.others().unwrap_or(&self.ready), &self.timed),
        };
        if !all_timed.is_empty() {
            earliest = self.earliest_of(all_timed);
            lazy = self.flags & flags::LAZY_TIME != 0;
            let in_order = lazy || self.flags & flags::LATE_TIMEOUTS != 0;
            if (in_order && self.ready.is_empty()) || self.oversleeps(earliest) {
                return earliest;
            }
            lazy |= self.overtakes(earliest);
        }
        let (running, threads) = (self.running, &self.threads);
        let alive = self.alive.contains(running);
        let timed = if lazy { &self.no_one } else { all_timed };
        let ready = match self.steer.is_active() {
            true => self.steer.free(all_ready, !timed.is_empty(), |s| {
                steer::operation(s, threads[s].pending())
            }),
            false => all_ready,
        };
        let view = View {
            running,
            kind: if alive {
                policy::taken_for(threads[running].pending().kind, self.flags)
            } else {
                Kind::ThreadExit
            },
            ready,
            timed,
            earliest: if lazy { slot::NONE } else { earliest },
            step: self.steps + 1,
            ends_last: policy::ends_last(self.flags),
        };
        self.policy.pick(&view, &self.alive, |s| {
            let p = threads[s].pending();
            Operation {
                object: p.object,
                kind: p.kind,
            }
        })
    }

    /// `next` takes a step.
    #[inline]
    fn commit(&mut self, next: Slot) {
        self.pages.take(next);
        self.unpark(next);
        self.steps += 1;
        if self.alone != 0 {
            self.step_alone();
        }
        self.owed = true;
        if self.steer.is_active() {
            self.steer_performed(next);
        }
        let control = self.pages.control();
        control.steps.store(self.steps, Ordering::Relaxed);
        self.hurry.steps(next);
        if next == self.running {
            if self.timed.contains(next) {
                self.let_time_pass(next);
            }
            return;
        }
        self.section.step(next);
        self.switches += 1;
        control.switches.store(self.switches, Ordering::Relaxed);
        let running = self.running;
        if self.ready.contains(running) && !self.threads[running].pending().kind.gives_way() {
            self.preemptions += 1;
            control
                .preemptions
                .store(self.preemptions, Ordering::Relaxed);
        }
        if self.alive.contains(self.running) {
            let parked = self.threads[self.running].pending().object;
            self.interest[interest_in(parked)] += 1;
        }
        self.running = next;
        let p = self.threads[next].pending();
        let (object, deadline) = (p.object, p.deadline);
        self.interest[interest_in(object)] -= 1;
        self.publish(p.kind, p.pc);
        self.pages
            .control()
            .running
            .store(u32::from(next), Ordering::Relaxed);
        if deadline != 0 && self.timed.contains(next) {
            self.let_time_pass(next);
        }
    }

    /// The program learns something that the search does not vary (a bit of
    /// [`raddle_protocol::shared::given`]).
    pub fn gives(&mut self, what: u64) {
        if self.given & what == 0 {
            self.given |= what;
            let given = &self.pages.control().given;
            given.store(self.given, Ordering::Relaxed);
        }
    }

    /// Writes all counters again: the controller has set them to 0.
    pub(super) fn publish_all(&self) {
        let control = self.pages.control();
        for (word, value) in [
            (&control.steps, self.steps),
            (&control.switches, self.switches),
            (&control.preemptions, self.preemptions),
            (&control.threads, self.created),
            (&control.clock, self.clock),
            (&control.early, self.hurry.early),
            (&control.given, self.given),
        ] {
            word.store(value, Ordering::Relaxed);
        }
        control
            .running
            .store(u32::from(self.running), Ordering::Relaxed);
    }

    /// Why the running thread, just chosen, goes on.
    #[inline]
    pub fn arrive(&mut self) -> Wake {
        let thread = &self.threads[self.running];
        let p = thread.pending();
        if thread.is_cancelled() && !thread.completes_first(self.running) {
            Wake::Cancelled
        } else if p.deadline != 0 && !(p.ready)(p, self.running) {
            self.note_early();
            Wake::TimedOut
        } else {
            Wake::Ready
        }
    }

    /// Records an event of the running thread.
    #[inline]
    pub fn log(&mut self, event: Event) {
        if self.logging {
            self.owed &= !event.kind().is_some_and(Kind::is_step);
            if self.sleep.is_active() {
                self.wake_sleepers(&event);
            }
            self.pages.log(Event {
                thread: self.running,
                ..event
            });
            if !self.facts.late.is_empty() {
                self.log_late();
            }
        }
    }

    pub(super) fn fault(
        &mut self,
        end: End,
        message: core::fmt::Arguments,
        detail: [u64; 4],
    ) -> Stop {
        let pc = match self.alive.contains(self.running) {
            true => self.threads[self.running].pending().pc,
            false => 0,
        };
        let fatal = Fatal {
            end,
            code: 0,
            message,
            detail,
            pc,
            stack: true,
        };
        self.log_announced(true);
        self.pages.record(&fatal, self.running, core::iter::empty());
        Stop
    }

    /// Writes the outcome, unless there is one.
    pub fn record(&mut self, outcome: &Fatal) -> Stop {
        let running = self.running;
        self.log_owed();
        self.log_announced(false);
        self.pages.record(outcome, running, core::iter::empty());
        Stop
    }
}
