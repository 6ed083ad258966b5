//! Busy waiting: loops that change nothing and end only when another thread changes what they read.
//!
//! A thread that comes back to the same operation has gone once round a loop. If the iteration
//! wrote nothing, and the thread's registers, stack and thread-local storage are as they were one
//! iteration before, then the next one will be the same, unless something that it read has changed
//! by then: the thread is *parked* until some byte that it read differs. That takes nothing away:
//! every further iteration would have been without effect. If all threads that are not blocked for
//! good go round such loops, the execution is a livelock, whatever is chosen from here on.
//!
//! An iteration may take locks and give them back; it begins where it holds none of them. Another
//! thread can learn of it only by an attempt at such a lock that fails. An iteration during which
//! none did may be left out of any execution, so one more is needed only after one that was noticed
//! so. Attempts of a thread that only goes round itself do not count: what it does may be left out
//! as well. Threads that hold one lock and try another can miss each other for ever, which no
//! parking ends: each wakes the others.
//!
//! What uninstrumented code reads is not known, nor what a function of it that a loop calls changes:
//! whoever tells of a livelock goes on first as if no loop were known ([`flags::DOUBT_SPINS`]). A
//! search that is to end parks loops also then, but where nobody else can go on they are run, one
//! iteration of one thread after the other. Loops of uninstrumented code are never parked, also where
//! they try locks: they may look at something else, too. After some iterations others go first, each
//! time (fairness, as in Musuvathi and Qadeer, PLDI 2008, section 3).

use super::Pending;
use super::asking::asks;
use super::circles::Circle;
use super::core::{Gate, Stop};
use super::foreign::{DEEPEST, Foreign};
use super::rounds::Rounds;
pub use super::seen::Seen;
use super::state::Known;
use crate::pages::Os;
use crate::slots::{PerSlot, SlotSet, Zero};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot, stack};

/// Most reads of an iteration.
const READS: usize = 16;
/// Most operations of an iteration.
const LONGEST: u32 = 64;
/// So many operations are waited for the first one to come back, before another one is taken for the
/// beginning of the loop and twice as many are waited for (Brent, An Improved Monte Carlo
/// Factorization Algorithm, 1980, section 2): compilers peel off first iterations.
const FIRST_WAIT: u32 = 4;
/// Equal iterations of which nothing is known but yields, before others go first.
const PATIENCE: u32 = 50;
/// The same where the search is to end on programs that wait in such loops.
const EXACT_PATIENCE: u32 = 2;
/// Equal iterations that ask for something in vain, before that is taken for what it stays.
const IN_VAIN: u32 = 500;
/// Most locks that an iteration takes.
const LOCKS: usize = 4;
/// After so many iterations at most the state is looked at again.
const LONGEST_PAUSE: u32 = 1024;

/// What a thread would go on from: equal states go on equally, as long as they read the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct State {
    /// Of the calling frame.
    pub registers: [u64; 6],
    /// Of the calling frame.
    pub stack_pointer: u64,
    /// One past the last word of the stack that counts.
    pub stack_end: u64,
    /// Of the stack above it and of thread-local storage; without what others have written there
    /// since the loop began, but with what the thread saw of it in this iteration.
    pub content: u64,
    /// The calling code tells what it reads.
    pub tells: bool,
}

// SAFETY: integers.
unsafe impl Zero for Track {}

/// The loop that a thread may be in.
pub(super) struct Track {
    /// The operation at which an iteration begins; `pc` 0: none.
    pc: usize,
    object: u64,
    /// Operations and reads of this iteration, and locks that it took and did not give back.
    operations: u32,
    /// Operations after which another beginning is tried.
    wait: u32,
    reads: u32,
    locks: i32,
    seen: [Seen; READS],
    /// Locks that it took (an address for each time), or 0.
    taken: [u64; LOCKS],
    /// The lock that it takes in the operation announced last, or 0.
    taking: u64,
    /// Somebody found one of them held, or there is something that it has not read.
    noticed: bool,
    /// It gave back a lock that it did not take.
    anew: bool,
    /// Hooks have told what the thread reads.
    hooked: bool,
    /// What the loop did in this iteration or one before: it took a lock; it tried one in vain.
    pub(super) takes: bool,
    pub(super) tries: bool,
    /// [`Spins::changes`] when the iteration began.
    began: u64,
    /// When the iteration began, if it was looked at.
    state: State,
    has_state: bool,
    /// What was seen in the iteration before that.
    seen_before: [Seen; READS],
    reads_before: u32,
    /// Iterations during which the state is not looked at, now and next time.
    pause: u32,
    next_pause: u32,
    /// Equal iterations in a row.
    rounds: u32,
    pub(super) circle: Circle,
    /// Waits until something that it saw has changed.
    parked: bool,
    /// The operation announced last was announced by a parked thread: so many of `seen` decide
    /// whether it is possible.
    awaited: u32,
    /// [`Spins::changes`] during an iteration without effect, plus one.
    pub(super) idle: u64,
    /// The loop asks for something that no read shows; by descriptors, which others may be behind.
    unseen: bool,
    polls: bool,
    /// The operation announced last changes something.
    changing: bool,
    /// [`Spins::operations`] when it was found waiting without operations; 0: it was not.
    found: u64,
    /// [`Spins::operations`] when it was parked.
    pub(super) since: u64,
    /// The operation is a read that is one of several of one call: its number, from 1. 0: it is not.
    nth: u64,
}

impl Track {
    /// A loop may begin with this operation; see [`FIRST_WAIT`].
    fn begin(&mut self, kind: Kind, pc: usize, object: u64, changes: u64) {
        self.wait = match self.pc {
            0 => FIRST_WAIT,
            _ if self.begins_anew() => self.wait,
            _ => (2 * self.wait).min(LONGEST),
        };
        (self.pc, self.object) = (pc, object);
        self.has_state = false;
        (self.pause, self.next_pause, self.rounds) = (0, 1, 0);
        self.circle.begin();
        (self.takes, self.tries) = (false, false);
        self.iterate(kind, object, changes);
    }

    /// A new iteration begins with this operation.
    fn iterate(&mut self, kind: Kind, object: u64, changes: u64) {
        (self.operations, self.reads) = (0, 0);
        (self.locks, self.taken, self.taking) = (0, [0; LOCKS], 0);
        (self.noticed, self.anew) = (false, false);
        self.add(kind, object);
        self.parked = false;
        self.began = changes;
    }

    /// The iteration goes on with this operation, which is announced; the one before was performed.
    fn add(&mut self, kind: Kind, object: u64) {
        let taking = core::mem::take(&mut self.taking);
        if taking != 0 {
            self.took(taking);
        }
        match role(kind) {
            Role::Lock => self.taking = object,
            Role::Unlock => {
                self.locks -= 1;
                self.anew |= self.locks < 0;
            }
            Role::Neutral | Role::Change => {}
        }
    }

    /// Is a loop to begin with the next operation, since this one began in a section of its own?
    /// A thread of which only calls are seen is not parked, and lets others go from there as well.
    fn begins_anew(&self) -> bool {
        self.anew && self.hooked
    }

    /// It has taken this lock.
    fn took(&mut self, object: u64) {
        self.locks += 1;
        self.takes = true;
        match self.taken.iter_mut().find(|lock| **lock == 0) {
            Some(place) => *place = object,
            None => self.pc = 0,
        }
    }

    /// Which of what was seen makes a whole with this, and the whole.
    fn joined(&self, seen: &Seen) -> Option<(usize, Seen)> {
        let mut known = self.seen[..self.reads as usize].iter().enumerate();
        let whole = |(n, one): (usize, &Seen)| Some((n, one.with(seen)?));
        known.find_map(whole)
    }

    /// `joins`: it may be one with what was seen before beside it.
    fn saw(&mut self, mut seen: Seen, joins: bool) {
        while let Some((n, whole)) = self.joined(&seen).filter(|_| joins) {
            seen = whole;
            self.seen[n..self.reads as usize].rotate_left(1);
            self.reads -= 1;
        }
        if (self.reads as usize) < READS {
            self.seen[self.reads as usize] = seen;
            self.reads += 1;
        } else {
            self.pc = 0;
        }
    }

    /// Waits for a change of what was seen elsewhere: see [`super::rounds`].
    pub(super) fn take_over(&mut self, seen: &[Seen]) {
        self.seen[..seen.len()].copy_from_slice(seen);
        self.reads = seen.len() as u32;
    }

    /// Equal iterations in a row.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Has nothing that the iteration read changed since?
    fn is_current(&self) -> bool {
        self.seen[..self.reads as usize]
            .iter()
            .all(Seen::is_current)
    }

    /// Does the loop only count? It reads the same each time, changes nothing, and its state is another one
    /// since some [`LONGEST_PAUSE`] iterations.
    fn counts(&self) -> bool {
        let before = &self.seen_before[..self.reads_before as usize];
        let reads_alike = self.reads > 0 && self.seen[..self.reads as usize] == *before;
        self.next_pause == LONGEST_PAUSE && self.pause > 0 && reads_alike
    }

    /// The iteration is over and changed nothing: did the one before end in the same state?
    /// `look`: what the state is now. What others did meanwhile is no matter: whether a thread is
    /// parked must not depend on steps that nothing orders against its own.
    fn repeats(&mut self, look: impl FnOnce(&[Seen]) -> Option<State>) -> bool {
        if self.locks != 0 || self.pause > 0 {
            self.pause = self.pause.saturating_sub(1);
            self.has_state = false;
            return false;
        }
        let before = self.has_state.then_some(self.state);
        let seen = &self.seen[..self.reads as usize];
        let now = look(seen);
        (self.seen_before, self.reads_before) = (self.seen, self.reads);
        (self.has_state, self.state) = (now.is_some(), now.unwrap_or_default());
        if before.is_none() {
            return false;
        }
        if before != now {
            self.rounds = 0;
            self.has_state = false;
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(LONGEST_PAUSE);
            return false;
        }
        self.next_pause = 1;
        self.rounds += 1;
        true
    }
}

/// The loops of all threads.
pub struct Spins {
    on: bool,
    patience: u32,
    pub(super) tracks: PerSlot<Track>,
    /// Words of the threads' stacks that others have written since the loops began.
    foreign: PerSlot<Foreign>,
    pub(super) rounds: PerSlot<Rounds>,
    /// Threads that are parked or let others go first.
    pub(super) parked: SlotSet,
    /// Operations that changed something, of all threads.
    pub(super) changes: u64,
    /// A thread has gone round without effect since the last look.
    check: bool,
    /// The next operation is to be announced by a thread that lets others go first.
    passes: bool,
    /// The next operation works on what no loop sees: what the C library keeps between calls.
    unseen: bool,
    /// Operations announced by threads that came to them by themselves, plus one.
    pub(super) operations: u64,
    /// Where loops are doubted: iterations without effect since [`Spins::changes`] was that, and who
    /// went round last since nobody else could go on, and what that was then.
    pub(super) doubted: (u64, u32),
    pub(super) doubter: (Slot, u64),
}

impl Spins {
    /// Nothing is tracked.
    pub const fn new() -> Spins {
        Spins {
            on: false,
            patience: PATIENCE,
            tracks: PerSlot::new(),
            foreign: PerSlot::new(),
            rounds: PerSlot::new(),
            parked: SlotSet::EMPTY,
            changes: 0,
            check: false,
            passes: false,
            unseen: false,
            operations: 1,
            doubted: (0, 0),
            doubter: (slot::MAIN, u64::MAX),
        }
    }

    /// Are they tracked?
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// The thread waits until something that it has seen changes. Has nothing changed yet?
    pub(super) fn park(&mut self, s: Slot) -> bool {
        let track = &mut self.tracks[s];
        track.parked = true;
        self.parked.set(s, true);
        track.is_current()
    }
}

/// What an operation means for a loop that only waits.
pub(super) enum Role {
    /// It changes nothing.
    Neutral,
    Lock,
    Unlock,
    Change,
}

pub(super) fn role(kind: Kind) -> Role {
    match kind {
        Kind::Read | Kind::AtomicRead | Kind::Rmw | Kind::Fence => Role::Neutral,
        Kind::Yield | Kind::Sleep | Kind::Return | Kind::Ask => Role::Neutral,
        Kind::MutexTryLock | Kind::SpinTryLock | Kind::SemTryWait => Role::Neutral,
        Kind::RwTryRead | Kind::RwTryWrite | Kind::SemGetValue => Role::Neutral,
        // One that succeeds is the last one.
        Kind::ThreadTryJoin | Kind::CancellationPoint => Role::Neutral,
        Kind::MutexLock | Kind::SpinLock => Role::Lock,
        Kind::MutexUnlock | Kind::SpinUnlock => Role::Unlock,
        _ => Role::Change,
    }
}

/// May a thread be kept from such an operation, which can block, because it only waits?
pub(super) fn may_wait(p: &Pending) -> bool {
    p.deadline == 0 && matches!(role(p.kind), Role::Lock)
}

/// Can only a thread of the program end a wait in an operation of this kind?
pub(super) fn is_closed(kind: Kind) -> bool {
    let of_threads = (kind as u8) <= Kind::FutexResume as u8 && kind != Kind::SignalWait;
    of_threads || kind == Kind::Assume
}

impl<O: Os> Gate<O> {
    /// Called when the job is known. Symbolic runs know loops that wait by other means
    /// ([`super::rounds`]).
    pub(super) fn begin_spins(&mut self) {
        self.spins.on = self.flags & (flags::SYMBOLIC | flags::RUN_SPINS) == 0;
        self.spins.patience = match self.flags & flags::EXACT_SPINS {
            0 => PATIENCE,
            _ => EXACT_PATIENCE,
        };
        self.spins.tracks.map();
        self.spins.foreign.map();
        if self.flags & flags::SYMBOLIC != 0 {
            self.spins.rounds.map();
        }
    }

    /// The running thread saw `value` at `at` in the operation that it was chosen for, which
    /// changed nothing.
    #[inline]
    pub fn saw(&mut self, at: u64, size: u32, value: u64) {
        if self.spins.on {
            let me = self.running();
            let track = &mut self.spins.tracks[me];
            track.hooked = true;
            if track.pc != 0 {
                let joins = track.nth != 0;
                track.saw(Seen { at, size, value }, joins);
            }
        }
    }

    /// [`Gate::saw`] of where `s` is in its life.
    pub fn saw_state(&mut self, s: Slot) {
        let value = self.threads[s].state as u64;
        self.saw(
            self.place_of_state(s),
            size_of::<super::State>() as u32,
            value,
        );
    }

    fn place_of_state(&self, s: Slot) -> u64 {
        &raw const self.threads[s].state as u64
    }

    /// What is awaited, as records have it: words (address, bytes), threads (slot, 0).
    fn thing(&self, seen: &Seen) -> (u64, u64) {
        let (first, second) = (self.place_of_state(0), self.place_of_state(1));
        let slot = seen.at.wrapping_sub(first) / (second - first);
        match slot < slot::COUNT as u64 && self.place_of_state(slot as Slot) == seen.at {
            true => (slot, 0),
            false => (seen.at, u64::from(seen.size)),
        }
    }

    /// The running thread is about to write so many bytes at `at`. On the stack of another one that
    /// is in a loop, that is to be no matter to whether the loop repeats itself.
    #[inline]
    pub fn writes(&mut self, at: u64, size: u64) {
        if self.spins.on
            && let Some(owner) = stack::slot_of(at)
            && owner != self.running()
        {
            self.writes_elsewhere(owner, at, size);
        }
    }

    #[cold]
    fn writes_elsewhere(&mut self, owner: Slot, at: u64, size: u64) {
        if !self.is_alive(owner) {
            return;
        }
        let track = &mut self.spins.tracks[owner];
        if size > DEEPEST as u64 {
            track.pc = 0;
        }
        if track.pc == 0 {
            return;
        }
        let mut word = at & !7;
        while word < at.saturating_add(size) {
            if self.spins.foreign[owner].add(word) && track.has_state {
                let seen = &track.seen_before[..track.reads_before as usize];
                track.state.forget(word, seen);
            }
            word += 8;
        }
    }

    /// The running thread found a lock (or a semaphore) taken that it tried to take.
    pub fn found_held(&mut self, object: u64) {
        if !self.spins.on {
            return;
        }
        let me = self.running();
        let track = &mut self.spins.tracks[me];
        track.tries = true;
        if track.pc != 0 && track.rounds > 0 {
            return;
        }
        let mut next = self.next_alive(0);
        while let Some(s) = next {
            next = self.next_alive(s + 1);
            let track = &mut self.spins.tracks[s];
            track.noticed |= s != me && track.taken.contains(&object);
        }
    }

    /// The running thread tried to take a lock, whose first word was `free` before, and has it now.
    pub fn took(&mut self, object: u64, free: u32) {
        if self.spins.on {
            let me = self.running();
            let track = &mut self.spins.tracks[me];
            if track.pc != 0 {
                track.tries = true;
                track.took(object);
                let seen = Seen {
                    at: object,
                    size: size_of::<u32>() as u32,
                    value: free.into(),
                };
                track.saw(seen, false);
            }
        }
    }

    /// The operation that the running thread announces next works on what the C library keeps.
    pub fn works_unseen(&mut self) {
        self.spins.unseen = self.spins.on;
    }

    /// The next read of the running thread is the `nth` of one call, from 1, or, 0, of none: no round
    /// of a loop lies between two of these.
    pub fn within_call(&mut self, nth: u64) {
        if self.spins.on {
            let me = self.running();
            self.spins.tracks[me].nth = nth;
        }
    }

    /// The operation that the running thread was chosen for changed something that others may see.
    #[inline]
    pub fn changed(&mut self) {
        if self.spins.on {
            let me = self.running();
            self.spins.changes += 1;
            self.spins.tracks[me].pc = 0;
        }
    }

    /// The running thread has announced its next operation: must it wait for a change, or let
    /// others go first (if it `may_wait` at all)?
    #[inline]
    pub(super) fn spins_at(&mut self, kind: Kind, object: u64, pc: usize, may_wait: bool) -> bool {
        let me = self.running();
        if !self.spins.on {
            return self.waits_after_round(me) && may_wait;
        }
        let spins = &mut self.spins;
        let object = match (kind, spins.tracks[me].nth) {
            // No address is as high.
            (Kind::Read, nth) => object ^ nth << 48,
            _ => object,
        };
        // A loop that asks for it may still only wait: that is doubted where it matters.
        let exact = self.flags & flags::EXACT_SPINS != 0;
        let unseen = core::mem::take(&mut spins.unseen) || exact && asks(me, kind, object);
        let polls = kind.is_descriptor();
        let kind = if unseen { Kind::Fence } else { kind };
        let track = &mut spins.tracks[me];
        track.awaited = 0;
        track.unseen |= unseen;
        track.polls |= polls;
        if core::mem::take(&mut spins.passes) {
            (track.pc, track.parked, track.found) = (0, false, spins.operations);
            self.lets_others_go(me, true, pc);
            return may_wait;
        }
        spins.operations += 1;
        track.found = 0;
        if core::mem::take(&mut track.changing) {
            spins.changes += 1;
        }
        if matches!(role(kind), Role::Change) {
            (track.pc, track.changing) = (0, true);
            spins.changes += 1;
        } else if track.pc == 0 || track.begins_anew() || track.operations > track.wait {
            // At the end of a sleep time has passed, which is nothing to wait for.
            if kind != Kind::Sleep {
                track.begin(kind, pc, object, spins.changes);
                (track.unseen, track.polls) = (unseen, polls);
                spins.foreign[me].clear();
            }
        } else if track.pc == pc && track.object == object {
            return self.iterated(me, kind, object, pc, may_wait);
        } else {
            // A call counts once.
            track.operations += u32::from(track.nth <= 1);
            track.add(kind, object);
        }
        false
    }

    /// `me` has come round: must it wait for a change?
    #[cold]
    fn iterated(&mut self, me: Slot, kind: Kind, object: u64, pc: usize, may_wait: bool) -> bool {
        let (changes, patience) = (self.spins.changes, self.spins.patience);
        let exact = self.flags & flags::EXACT_SPINS != 0;
        let doubted = self.flags & flags::DOUBT_SPINS != 0 && !exact;
        let near = self.is_near_the_limit();
        let os = &mut self.pages.os;
        let track = &mut self.spins.tracks[me];
        let foreign = &self.spins.foreign[me];
        if near {
            let seen = &track.seen[..track.reads as usize];
            track.circle.iterated(os.state(pc, Known { seen, foreign }));
        }
        let counts = exact && track.state.tells && track.counts();
        let same = track.repeats(|seen| os.state(pc, Known { seen, foreign }));
        let tells = track.reads > 0 && track.state.tells;
        // What such an operation asks for is changed where no read of the loop shows it.
        let unseen = exact && track.unseen;
        let known = tells && !doubted && !unseen;
        let parks = same && known && !track.noticed && may_wait;
        // Where all schedules are tried, a loop of calls that take locks is run: it conflicts with
        // others' calls.
        let passes = same && !known && track.rounds >= patience && may_wait;
        let passes = (passes || counts && may_wait) && !(exact && matches!(role(kind), Role::Lock));
        let current = track.is_current();
        // What it asks for by a descriptor somebody outside may change.
        let in_vain = !unseen || !track.polls && track.rounds > IN_VAIN;
        if same && tells && in_vain && current && track.began == changes {
            track.idle = changes + 1;
            self.spins.check = true;
        }
        if !parks {
            track.iterate(kind, object, changes);
        }
        track.parked = parks;
        if parks {
            track.since = self.spins.operations;
            self.parks(me, pc);
        } else if passes {
            self.lets_others_go(me, true, pc);
        }
        passes || (parks && current)
    }

    /// `me` is parked, and says what it read.
    fn parks(&mut self, me: Slot, pc: usize) {
        let track = &mut self.spins.tracks[me];
        track.awaited = track.reads;
        self.spins.parked.set(me, true);
        for n in 0..track.reads as usize {
            let seen = self.spins.tracks[me].seen[n];
            let (object, size) = self.thing(&seen);
            self.log(Event {
                kind: Kind::Parked as u8,
                size: size as u8,
                object,
                value: seen.value,
                pc: pc as u64,
                ..Event::default()
            });
        }
        if self.flags & flags::DOUBT_SPINS != 0 {
            // Iterations that are left out may have an effect.
            self.lets_others_go(me, false, pc);
        }
    }

    /// What decides whether the running thread could take its step, if it was parked before it, as
    /// [`Gate::thing`] says.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let me = self.running();
        let track = self.spins.on.then(|| &self.spins.tracks[me]);
        let seen = track.map_or(&[][..], |t| &t.seen[..t.awaited as usize]);
        seen.iter().map(|seen| self.thing(seen))
    }

    /// `next`: the next step is another thread's, if there is one.
    fn lets_others_go(&mut self, me: Slot, next: bool, pc: usize) {
        self.spins.parked.set(me, true);
        self.log(Event {
            kind: Kind::PassedOver as u8,
            value: next.into(),
            pc: pc as u64,
            ..Event::default()
        });
    }

    /// See [`super::pass_over`].
    pub fn pass_over(&mut self) {
        self.spins.passes = self.spins.on;
    }

    /// May `s`, whose operation could otherwise complete, not go on because it would only spin?
    #[inline]
    pub(super) fn is_spinning(&self, s: Slot) -> bool {
        self.spins.parked.contains(s) && self.spins.tracks[s].parked
    }

    /// Could `s` take its step if it were not parked? Whoever recorded the schedule may have known less
    /// of the loop, or doubted it ([`flags::DOUBT_SPINS`]): another iteration takes nothing away. Not
    /// where a search is to end because no thread goes round in vain.
    pub(super) fn only_spins(&self, s: Slot) -> bool {
        let exact = self.flags & flags::EXACT_SPINS != 0;
        let free = self.in_section().is_none_or(|owner| owner == s);
        let parked = !exact && free && self.spins.parked.contains(s) && self.is_alive(s);
        parked && (self.pending(s).ready)(self.pending(s), s)
    }

    /// Has what `s` waits for in its loop not changed?
    pub(super) fn still_spins(&self, s: Slot) -> bool {
        self.is_spinning(s) && (self.spins.tracks[s].is_current() || self.comes_after_doubter(s))
    }

    /// Does another thread go round only since nobody else could go on? The locks that it takes
    /// meanwhile are nothing to go on for.
    fn comes_after_doubter(&self, s: Slot) -> bool {
        let (doubter, changes) = self.spins.doubter;
        changes == self.spins.changes
            && s != doubter
            && self.is_alive(doubter)
            && !self.is_spinning(doubter)
    }

    /// Before a step is chosen: who spins may go on if something has changed.
    #[inline]
    pub(super) fn look_at_spinners(&mut self) -> Result<(), Stop> {
        let check = core::mem::take(&mut self.spins.check);
        let check = check && !self.prescribes_spinner();
        if check && self.nothing_will_change() && !self.doubts() && !self.pages.os.has_children() {
            return Err(self.livelock());
        }
        if !self.spins.parked.is_empty() {
            self.evaluate_spinners();
        }
        Ok(())
    }

    /// Nobody can go on: whoever let others go first has to. Is there one? The running thread comes last:
    /// what the others wait for may have been changed where no hook is.
    pub(super) fn goes_on_in_vain(&mut self) -> bool {
        let me = self.running();
        self.evaluate_if(|s, _| s != me) || self.evaluate_if(|_, _| true)
    }

    /// Whoever spins may go on if something has changed.
    fn evaluate_spinners(&mut self) {
        let (me, operations) = (self.running(), self.spins.operations);
        // If nobody has done anything since it was found waiting, it is of no use.
        self.evaluate_if(|s, found| s != me && found != operations);
    }

    /// Looks at those who spin again, if `wanted` (who, and [`Track::found`]). Has any of them only let
    /// others go first?
    fn evaluate_if(&mut self, wanted: impl Fn(Slot, u64) -> bool) -> bool {
        let mut any = false;
        let mut next = self.spins.parked.next(0);
        while let Some(s) = next {
            next = self.spins.parked.next(s + 1);
            if !wanted(s, self.spins.tracks[s].found) || !self.is_alive(s) {
                continue;
            }
            if !self.spins.tracks[s].parked {
                self.spins.parked.set(s, false);
                any = true;
            }
            self.evaluate(s);
        }
        any
    }

    /// `s` is to look at the world again whatever it read (a signal, a cancellation), once it is
    /// parked or now.
    pub(super) fn look_anew(&mut self, s: Slot) {
        if self.spins.on {
            self.spins.tracks[s].noticed = true;
        }
        self.unpark(s);
    }

    /// `s` goes on.
    #[inline]
    pub(super) fn unpark(&mut self, s: Slot) {
        if !self.spins.parked.is_empty() && self.spins.parked.contains(s) {
            self.spins.parked.set(s, false);
            let (pending, changes) = (self.pending(s), self.spins.changes);
            let (kind, object) = (pending.kind, pending.object);
            self.spins.tracks[s].iterate(kind, object, changes);
        }
    }

    /// Could another thread than the running one go on?
    pub fn others_ready(&self) -> bool {
        let me = self.running();
        self.alive_threads().any(|s| s != me && self.is_ready(s))
    }

    /// Does `s` only let others go first?
    pub(super) fn lets_others(&self, s: Slot) -> bool {
        self.spins.parked.contains(s) && !self.spins.tracks[s].parked
    }

    /// Is anybody parked?
    pub(super) fn anybody_spins(&self) -> bool {
        let mut parked = self.spins.parked.iter();
        parked.any(|s| self.is_alive(s) && self.is_spinning(s))
    }
}
