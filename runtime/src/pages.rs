//! The shared pages: taken steps, events, counters, drains, the outcome.
//!
//! The target may scribble over the pages. So every length and index is kept here, privately, and
//! only published there.

use crate::gate::{Fatal, Known, LoopState};
use core::fmt::{self, Write};
use core::sync::atomic::Ordering;
use raddle_protocol::Slot;
use raddle_protocol::conflict::{Footprint, MOST_SLEEPERS};
use raddle_protocol::constraint::Constraint;
use raddle_protocol::event::Event;
use raddle_protocol::outcome::{End, MESSAGE, Raw, STACK, WAITS, Wait};
use raddle_protocol::schedule::{CHOICE_BIT, Step};
use raddle_protocol::shared::{
    CONSTRAINTS, CONTROL, Control, INPUTS, JobWords, LOADED_PATH, LOG, Loaded, MOST_LOADED, RANGES,
    SLEEPERS, STEPS, TAKEN, UNCONTROLLED_NAME,
};

/// What the gate needs from the operating system; unit tests have their own.
pub trait Os {
    /// Asks the controller to empty the regions and returns when it has; false: it cannot be
    /// reached.
    fn drain(&mut self, control: &Control) -> bool;
    /// The stack of the caller's caller, innermost first, return addresses.
    fn stack(&mut self, into: &mut [usize; STACK]) -> usize;
    /// Becomes a copy that listens to `slot` ([`raddle_protocol::shared::freeze`]) and returns true
    /// in each clone of it; returns false if that cannot be done. `state`: what to say of it.
    fn freeze(&mut self, control: &Control, slot: u32, state: u32) -> bool;
    /// What the running thread, which called us at `pc`, would go on from, with memory that is
    /// `known` otherwise than it is now; `None`: it cannot be told for sure.
    fn state(&mut self, _pc: usize, _known: Known) -> Option<LoopState> {
        None
    }
    /// Lets so many nanoseconds of real time pass; false if nothing outside can change any more.
    fn rest(&mut self, ns: u64) -> bool;
    /// Has the process children that may still do something?
    fn has_children(&mut self) -> bool {
        false
    }
    /// Has a signal come from another process that no thread has taken in yet?
    fn signalled(&mut self) -> bool {
        false
    }
    /// The step taken next is to take such a signal in.
    fn expect_signal(&mut self) {}
}

/// The runtime's side of the shared pages.
pub struct Pages<O> {
    /// How the controller is reached.
    pub os: O,
    base: *mut u8,
    taken_capacity: usize,
    taken_len: usize,
    /// The last entry of the taken region; count 0: start a new one.
    last: Step,
    log_capacity: usize,
    log_len: usize,
    events: u64,
    recorded: bool,
    failing: Failing,
}

/// Where a failing exit status comes from.
struct Failing {
    thread: Slot,
    /// Of the frames; 0: that is not known.
    len: usize,
    frames: [usize; STACK],
}

impl<O: Os> Pages<O> {
    /// No pages yet.
    pub const fn new(os: O) -> Pages<O> {
        Pages {
            os,
            base: core::ptr::null_mut(),
            taken_capacity: TAKEN.capacity::<Step>(),
            taken_len: 0,
            last: Step { what: 0, count: 0 },
            log_capacity: LOG.capacity::<Event>(),
            log_len: 0,
            events: 0,
            recorded: false,
            failing: Failing {
                thread: 0,
                len: 0,
                frames: [0; STACK],
            },
        }
    }

    /// Uses the mapping at `base`.
    ///
    /// # Safety
    /// `shared::TOTAL` bytes are mapped there for as long as the process lives.
    pub unsafe fn attach(&mut self, base: *mut u8) {
        self.base = base;
    }

    /// Forgets the mapping.
    pub fn detach(&mut self) {
        self.base = core::ptr::null_mut();
    }

    /// Makes the regions small, so that tests fill them.
    #[cfg(test)]
    pub fn shrink(&mut self, taken: usize, log: usize) {
        (self.taken_capacity, self.log_capacity) = (taken, log);
    }

    /// Is there a controller's mapping?
    pub fn attached(&self) -> bool {
        !self.base.is_null()
    }

    #[inline]
    fn pointer(&self) -> *mut Control {
        // SAFETY: within the mapping.
        unsafe { self.base.add(CONTROL.offset) }.cast()
    }

    /// The head. Only its atomics may change while the target runs.
    #[inline]
    pub fn control(&self) -> &Control {
        // SAFETY: mapped for ever, aligned to a page.
        unsafe { &*self.pointer() }
    }

    /// A private copy of the job's fixed part.
    pub fn job(&self) -> JobWords {
        // SAFETY: as above; volatile because another process wrote it.
        unsafe { (&raw const (*self.pointer()).job).read_volatile() }
    }

    /// The prefix, `len` entries of it at most.
    pub fn steps(&self, len: usize) -> &'static [Step] {
        let len = len.min(STEPS.capacity::<Step>());
        // SAFETY: within the mapping; any bits are a Step.
        unsafe { core::slice::from_raw_parts(self.base.add(STEPS.offset).cast(), len) }
    }

    /// The inputs region, `len` bytes of it at most.
    pub fn inputs(&self, len: usize) -> &'static [u8] {
        // SAFETY: within the mapping.
        unsafe { core::slice::from_raw_parts(self.base.add(INPUTS.offset), len.min(INPUTS.size)) }
    }

    /// The known shared ranges, `len` of them at most.
    pub fn ranges(&self, len: usize) -> &'static [[u64; 2]] {
        let len = len.min(RANGES.capacity::<[u64; 2]>());
        // SAFETY: within the mapping.
        unsafe { core::slice::from_raw_parts(self.base.add(RANGES.offset).cast(), len) }
    }

    /// The ordering constraints, `len` of them at most.
    pub fn constraints(&self, len: usize) -> &'static [Constraint] {
        let len = len.min(CONSTRAINTS.capacity::<Constraint>());
        // SAFETY: within the mapping; any bits are a Constraint.
        unsafe { core::slice::from_raw_parts(self.base.add(CONSTRAINTS.offset).cast(), len) }
    }

    /// See [`Os::freeze`].
    pub fn freeze(&mut self, slot: u32, state: u32) -> bool {
        // SAFETY: mapped for ever; borrowed apart from `os`.
        let control = unsafe { &*self.pointer() };
        self.os.freeze(control, slot, state)
    }

    /// The regions are empty again, and the process is another: a copy goes on.
    pub fn restart(&mut self) {
        (self.taken_len, self.log_len) = (0, 0);
        self.last.count = 0;
        self.control().events.store(self.events, Ordering::Relaxed);
    }

    /// Who sleeps where the prefix ends, `len` threads at most.
    pub fn sleepers(&self, len: usize) -> &'static [Footprint] {
        let len = len.min(MOST_SLEEPERS);
        // SAFETY: within the mapping; the controller, which wrote it just now, writes valid ones.
        unsafe { core::slice::from_raw_parts(self.base.add(SLEEPERS.offset).cast(), len) }
    }

    /// Records that `what` (a slot or a choice) was taken.
    #[inline]
    pub fn take(&mut self, what: u16) {
        if self.last.what == what
            && (1..u16::MAX).contains(&self.last.count)
            && what & CHOICE_BIT == 0
        {
            self.last.count += 1;
            self.put_taken(self.taken_len - 1);
        } else {
            self.take_new(what);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_new(&mut self, what: u16) {
        if self.taken_len == self.taken_capacity {
            self.drain();
        }
        self.last = Step { what, count: 1 };
        self.put_taken(self.taken_len);
        self.taken_len += 1;
        self.control()
            .taken_len
            .store(self.taken_len as u64, Ordering::Release);
    }

    #[inline]
    fn put_taken(&mut self, index: usize) {
        // SAFETY: the index is below the region's capacity.
        unsafe {
            self.base
                .add(TAKEN.offset)
                .cast::<Step>()
                .add(index)
                .write(self.last)
        }
    }

    /// Appends an event record.
    #[inline]
    pub fn log(&mut self, event: Event) {
        if self.log_len == self.log_capacity {
            self.drain();
        }
        // SAFETY: the index is below the region's capacity.
        unsafe {
            self.base
                .add(LOG.offset)
                .cast::<Event>()
                .add(self.log_len)
                .write(event)
        };
        self.log_len += 1;
        self.events += 1;
        let control = self.control();
        control
            .log_len
            .store(self.log_len as u64, Ordering::Release);
        control.events.store(self.events, Ordering::Relaxed);
    }

    /// How many records there are, drained ones included.
    #[inline]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Has the controller empty the regions. Nothing is lost: this returns only when there is room.
    #[cold]
    #[inline(never)]
    fn drain(&mut self) {
        // SAFETY: mapped for ever; borrowed apart from `os`.
        let control = unsafe { &*self.pointer() };
        if !self.os.drain(control) {
            let outcome = Fatal {
                end: End::Unsupported,
                code: 0,
                message: format_args!("the program closed a descriptor of the runtime's"),
                detail: [0; 4],
                pc: 0,
                stack: false,
            };
            let thread = control.running.load(Ordering::Relaxed) as Slot;
            self.record(&outcome, thread, core::iter::empty());
            crate::os::exit_group(crate::gate::EXIT_STATUS);
        }
        (self.taken_len, self.log_len) = (0, 0);
        self.last.count = 0;
    }

    /// Names something that is not controlled, once.
    pub fn uncontrolled(&mut self, name: &str) {
        let control = self.control();
        let mut entry = [0u8; UNCONTROLLED_NAME];
        let len = name.len().min(entry.len());
        entry[..len].copy_from_slice(&name.as_bytes()[..len]);
        let all = control.uncontrolled.len();
        let known = (control.uncontrolled_len.load(Ordering::Relaxed) as usize).min(all);
        // SAFETY: within the mapping.
        let table =
            unsafe { &raw mut (*self.pointer()).uncontrolled }.cast::<[u8; UNCONTROLLED_NAME]>();
        for i in 0..known {
            // SAFETY: below the table's length.
            if unsafe { table.add(i).read() } == entry {
                return;
            }
        }
        if known < all {
            // SAFETY: below the table's length.
            unsafe { table.add(known).write(entry) };
            control
                .uncontrolled_len
                .store(known as u32 + 1, Ordering::Release);
        }
    }

    /// Tells of a library that the program has loaded by itself, once.
    pub fn loaded(&mut self, base: u64, path: &[u8]) {
        let mut library = Loaded {
            base,
            path: [0; LOADED_PATH],
        };
        if path.len() >= LOADED_PATH {
            return;
        }
        library.path[..path.len()].copy_from_slice(path);
        let control = self.control();
        let known = control.loaded_len.load(Ordering::Relaxed) as usize;
        let known = known.min(MOST_LOADED);
        let same = |l: &Loaded| l.base == base && l.path == library.path;
        if control.loaded[..known].iter().any(same) || known == MOST_LOADED {
            return;
        }
        // SAFETY: below the table's length, within the mapping.
        unsafe { (&raw mut (*self.pointer()).loaded[known]).write(library) };
        let len = known as u32 + 1;
        control.loaded_len.store(len, Ordering::Release);
    }

    /// Is there an entry about `name` (with what else is known, in parentheses)?
    pub fn names_uncontrolled(&self, name: &str) -> bool {
        let control = self.control();
        let all = control.uncontrolled.len();
        let known = (control.uncontrolled_len.load(Ordering::Relaxed) as usize).min(all);
        control.uncontrolled[..known].iter().any(|entry| {
            let rest = entry.strip_prefix(name.as_bytes());
            rest.is_some_and(|rest| rest.starts_with(b" (") || rest.starts_with(b"\0"))
        })
    }

    /// Has anything been done that is not under control?
    pub fn names_any_uncontrolled(&self) -> bool {
        self.control().uncontrolled_len.load(Ordering::Relaxed) > 0
    }

    /// Do some of these bytes belong to the pages?
    pub fn holds(&self, at: usize, len: usize) -> bool {
        let base = self.base as usize;
        base != 0 && at < base + raddle_protocol::shared::TOTAL && base < at.saturating_add(len)
    }

    /// Has an outcome been written?
    pub fn recorded(&self) -> bool {
        self.recorded
    }

    /// A panic of `thread` begins to unwind, or it asks to exit with a failing status. If the
    /// execution ends with such a status, the first of these says where that comes from.
    pub fn fails_here(&mut self, thread: Slot) {
        if self.failing.len == 0 {
            self.failing.thread = thread;
            self.failing.len = self.os.stack(&mut self.failing.frames);
        }
    }

    /// Writes the outcome unless there is one. `waits`: the threads of a deadlock.
    pub fn record(&mut self, outcome: &Fatal, thread: Slot, waits: impl Iterator<Item = Wait>) {
        if self.base.is_null() || core::mem::replace(&mut self.recorded, true) {
            return;
        }
        // SAFETY: within the mapping.
        let raw: *mut Raw = unsafe { &raw mut (*self.pointer()).outcome };
        let mut frames = [0usize; STACK];
        let known = outcome.end == End::Exit && outcome.code != 0 && self.failing.len != 0;
        let (mut len, thread) = if known {
            frames = self.failing.frames;
            (self.failing.len, self.failing.thread)
        } else if outcome.stack {
            (self.os.stack(&mut frames), thread)
        } else {
            (0, thread)
        };
        let mut first = 0;
        if outcome.pc != 0 && !known {
            // The unwinder knows the instruction of a fault, we the byte after its first.
            let fault = outcome.pc - 1;
            match frames[..len]
                .iter()
                .position(|&f| f == outcome.pc || f == fault)
            {
                Some(i) => (first, frames[i]) = (i, outcome.pc),
                None => (frames[0], len) = (outcome.pc, 1),
            }
        }
        // SAFETY: mapped for ever; only this thread writes here.
        unsafe {
            (*raw).code = outcome.code;
            (*raw).thread = thread;
            (*raw).detail = outcome.detail;
            for (i, &frame) in frames[first..len].iter().enumerate() {
                (&raw mut (*raw).stack)
                    .cast::<u64>()
                    .add(i)
                    .write(frame as u64);
            }
            (*raw).stack_len = (len - first) as u32;
            let mut count = 0;
            for wait in waits.take(WAITS) {
                (&raw mut (*raw).waits)
                    .cast::<Wait>()
                    .add(count)
                    .write(wait);
                count += 1;
            }
            (*raw).waits_len = count as u32;
            let mut text = Text { raw, len: 0 };
            let _ = text.write_fmt(outcome.message);
            (*raw).message_len = text.len as u32;
            let end = (&raw mut (*raw).end).cast::<core::sync::atomic::AtomicU32>();
            (*end).store(outcome.end as u32, Ordering::Release);
        }
    }
}

/// The message, cut at its greatest length.
struct Text {
    raw: *mut Raw,
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for &byte in s.as_bytes() {
            if self.len == MESSAGE {
                break;
            }
            // SAFETY: below the buffer's length.
            unsafe {
                (&raw mut (*self.raw).message)
                    .cast::<u8>()
                    .add(self.len)
                    .write(byte)
            };
            self.len += 1;
        }
        Ok(())
    }
}
