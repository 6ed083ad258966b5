//! The controller's side of the shared pages ([`raddle_protocol::shared`]).
//!
//! The target may write anything anywhere at any time. So no Rust reference is ever made to plain
//! fields: they are read once, volatile, and then checked.

use crate::error::{Corruption, RunError};
use crate::sys;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use raddle_protocol::conflict::{Footprint, MOST_SLEEPERS};
use raddle_protocol::constraint::{self, Constraint};
use raddle_protocol::event::Event;
use raddle_protocol::expr::Node;
use raddle_protocol::job::Job;
use raddle_protocol::outcome::{MESSAGE, STACK, WAITS, Wait};
use raddle_protocol::schedule::Step;
use raddle_protocol::shared::{self, Control, InputHead, JobWords, Region, UNCONTROLLED_NAME};
use raddle_protocol::trace::Counters;
use raddle_protocol::{Slot, VERSION, slot};
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{NonNull, addr_of, addr_of_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// A count that no execution reaches; greater ones are rubbish.
const IMPOSSIBLE: u64 = 1 << 56;
/// Expression nodes beyond this many bytes are given back to the system after an execution.
const KEEP_NODES: usize = 16 << 20;

/// The regions by name, for messages.
const LOG: &str = "the log";
const TAKEN: &str = "the steps taken";
const NODES: &str = "the expressions";

/// The mapped pages.
#[derive(Debug)]
pub struct Pages {
    base: NonNull<u8>,
    file: File,
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Pages {}

/// What is to become of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It ends, and its process with it.
    #[default]
    End,
    /// It becomes a copy.
    Freeze(Freeze),
    /// It ends, and its process is put back to where it was cloned, if that can be.
    Rewind,
}

/// That a job is to become a copy ([`shared::freeze`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// See [`JobWords::freeze_at`].
    pub at: u64,
    /// See [`JobWords::freeze_slot`].
    pub slot: u32,
}

/// What the runtime wrote into the outcome, bounds checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// An [`raddle_protocol::outcome::End`] as a number.
    pub end: u32,
    pub code: i32,
    pub thread: Slot,
    pub detail: [u64; 4],
    pub message: Vec<u8>,
    pub stack: Vec<u64>,
    pub waits: Vec<Wait>,
}

/// What the runtime last said of the running thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its slot.
    pub thread: Slot,
    /// Its last announced operation, a [`raddle_protocol::event::Kind`] as a number.
    pub kind: u32,
    /// Where that was.
    pub pc: u64,
    /// Steps performed so far.
    pub steps: u64,
}

impl Pages {
    /// Makes and maps new pages, with the head filled in. Their size is sealed: the target cannot
    /// cut them short under the controller.
    pub fn new() -> io::Result<Pages> {
        let file = sys::memory_file(c"raddle-pages")?;
        file.set_len(shared::TOTAL as u64)?;
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        let length = NonZeroUsize::new(shared::TOTAL).ok_or(io::ErrorKind::InvalidInput)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new shared mapping at an address of the kernel's choice.
        let base = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, &file, 0)? };
        let base = base.cast();
        Ok(Pages { base, file })
    }

    fn control(&self) -> *mut Control {
        self.base.as_ptr().cast()
    }

    fn region(&self, region: Region) -> *mut u8 {
        // SAFETY: every region lies within the mapping of `shared::TOTAL` bytes.
        unsafe { self.base.as_ptr().add(region.offset) }
    }

    /// Writes `job` with `flags` added, and clears all that an earlier execution left.
    pub fn write_job(&mut self, job: &Job, flags: u32, fate: Fate) -> Result<(), RunError> {
        let fits = |what, given, most| match given > most {
            true => Err(RunError::JobTooBig { what, given, most }),
            false => Ok(()),
        };
        let inputs_len = job.inputs.iter().map(|i| input_size(i.bytes.len())).sum();
        fits("steps", job.prefix.len(), shared::STEPS.capacity::<Step>())?;
        fits("bytes of input", inputs_len, shared::INPUTS.size)?;
        let ranges = shared::RANGES.capacity::<[u64; 2]>();
        fits("shared ranges", job.ranges.len(), ranges)?;
        fits("constraints", job.constraints.len(), constraint::MOST)?;
        fits("sleepers", job.sleepers.len(), MOST_SLEEPERS)?;

        let steps = self.region(shared::STEPS).cast::<Step>();
        // SAFETY: the region holds that many steps (checked above) and is aligned for them.
        unsafe { steps.copy_from_nonoverlapping(job.prefix.as_ptr(), job.prefix.len()) };
        let mut at = self.region(shared::INPUTS);
        for input in &job.inputs {
            let head = InputHead {
                thread: input.thread,
                pad: 0,
                index: input.index,
                len: input.bytes.len() as u32,
                pad2: 0,
            };
            // SAFETY: the sizes of all inputs, heads and padding included, were checked above, and
            // every input begins at a multiple of 8.
            unsafe {
                at.cast::<InputHead>().write(head);
                let content = at.add(size_of::<InputHead>());
                content.copy_from_nonoverlapping(input.bytes.as_ptr(), input.bytes.len());
                at = at.add(input_size(input.bytes.len()));
            }
        }
        let ranges = self.region(shared::RANGES).cast::<[u64; 2]>();
        for (i, &(first, end)) in job.ranges.iter().enumerate() {
            // SAFETY: the number of ranges was checked above.
            unsafe { ranges.add(i).write([first, end]) };
        }
        let constraints = self.region(shared::CONSTRAINTS).cast::<Constraint>();
        // SAFETY: as for the steps; the number was checked above.
        unsafe {
            constraints.copy_from_nonoverlapping(job.constraints.as_ptr(), job.constraints.len())
        };
        let sleepers = self.region(shared::SLEEPERS).cast::<Footprint>();
        // SAFETY: as above.
        unsafe { sleepers.copy_from_nonoverlapping(job.sleepers.as_ptr(), job.sleepers.len()) };
        let freeze = match fate {
            Fate::Freeze(freeze) => Some(freeze),
            Fate::End | Fate::Rewind => None,
        };
        self.reset(&JobWords {
            flags: job.flags | flags,
            steps_len: job.prefix.len() as u32,
            inputs_len: inputs_len as u32,
            ranges_len: job.ranges.len() as u32,
            constraints_len: job.constraints.len() as u32,
            freeze_slot: freeze.map_or(0, |f| f.slot),
            sleepers_len: job.sleepers.len() as u32,
            rewind: u32::from(matches!(fate, Fate::Rewind)),
            freeze_at: freeze.map_or(shared::freeze::NEVER, |f| f.at),
            tail: job.tail.to_words(),
            max_steps: job.max_steps,
            clock_base: job.clock_base,
            entropy: job.entropy,
        });
        Ok(())
    }

    /// Makes the pages fit for a newly started target.
    pub fn prepare(&mut self) {
        self.reset(&JobWords::default());
    }

    fn reset(&mut self, job: &JobWords) {
        let c = self.control();
        // SAFETY: `c` points to the mapped head; only raw places are written and no reference to
        // plain fields is made.
        unsafe {
            addr_of_mut!((*c).magic).write_volatile(shared::MAGIC);
            addr_of_mut!((*c).controller_version).write_volatile(VERSION);
            addr_of_mut!((*c).job).write_volatile(*job);
            for word in [
                &(*c).taken_len,
                &(*c).log_len,
                &(*c).steps,
                &(*c).events,
                &(*c).switches,
                &(*c).preemptions,
                &(*c).threads,
                &(*c).clock,
                &(*c).early,
                &(*c).given,
                &(*c).last_pc,
            ] {
                word.store(0, Relaxed);
            }
            (*c).frozen.store(shared::freeze::RUNNING, Relaxed);
            (*c).thawed.store(0, Relaxed);
            (*c).nodes_len.store(1, Relaxed);
            (*c).drain_wanted.store(0, Relaxed);
            (*c).running.store(0, Relaxed);
            (*c).last_kind.store(0, Relaxed);
            (*c).uncontrolled_len.store(0, Relaxed);
            (*c).loaded_len.store(0, Relaxed);
            let raw = addr_of_mut!((*c).outcome);
            addr_of_mut!((*raw).end).write_volatile(0);
            addr_of_mut!((*raw).code).write_volatile(0);
            addr_of_mut!((*raw).thread).write_volatile(0);
            addr_of_mut!((*raw).detail).write_volatile([0; 4]);
            addr_of_mut!((*raw).message_len).write_volatile(0);
            addr_of_mut!((*raw).stack_len).write_volatile(0);
            addr_of_mut!((*raw).waits_len).write_volatile(0);
        }
    }

    /// Are the words still there that nobody but the controller may write?
    pub fn check_head(&self) -> Result<(), Corruption> {
        let c = self.control();
        // SAFETY: volatile reads of mapped words of which every bit pattern is valid.
        let (magic, version) = unsafe {
            let magic = addr_of!((*c).magic).read_volatile();
            (magic, addr_of!((*c).controller_version).read_volatile())
        };
        match magic == shared::MAGIC && version == VERSION {
            true => Ok(()),
            false => Err(Corruption::Head),
        }
    }

    /// Does the runtime wait for a drain?
    pub fn drain_wanted(&self) -> bool {
        // SAFETY: an atomic in the mapped head.
        unsafe { (*self.control()).drain_wanted.load(SeqCst) != 0 }
    }

    /// Has the execution become a copy? One of [`shared::freeze`]'s states, or rubbish.
    pub fn frozen(&self) -> u32 {
        // SAFETY: an atomic in the mapped head.
        unsafe { (*self.control()).frozen.load(SeqCst) }
    }

    /// Asks the copy that listens to `slot` to clone itself.
    pub fn thaw(&self, slot: u32) {
        // SAFETY: only the place is computed.
        ring(unsafe { addr_of!((*self.control()).thaw) }, slot);
    }

    /// Has the clone of the copy that listens to `slot`, which was put back, obey the job.
    pub fn again(&self, slot: u32) {
        // SAFETY: only the place is computed.
        ring(unsafe { addr_of!((*self.control()).again) }, slot);
    }

    /// The exit status of an execution that was put back.
    pub fn status(&self) -> i32 {
        // SAFETY: an atomic in the mapped head.
        unsafe { (*self.control()).status.load(SeqCst) }
    }

    /// Its answer: a pid or minus an errno; 0: none yet.
    pub fn thawed(&self) -> i32 {
        // SAFETY: an atomic in the mapped head.
        unsafe { (*self.control()).thawed.load(SeqCst) }
    }

    /// Lets the runtime go on after the regions have been emptied.
    pub fn drained(&self) {
        let c = self.control();
        // SAFETY: atomics in the mapped head.
        unsafe {
            (*c).drain_wanted.store(0, SeqCst);
            (*c).drains.fetch_add(1, SeqCst);
            sys::futex_wake_all(addr_of!((*c).drains).cast());
        }
    }

    /// Takes the events out of their region.
    pub fn take_events(&self) -> Result<Vec<Event>, Corruption> {
        // SAFETY: an atomic in the mapped head.
        let length = unsafe { &(*self.control()).log_len };
        self.take(shared::LOG, length, LOG)
    }

    /// Takes the steps out of their region.
    pub fn take_steps(&self) -> Result<Vec<Step>, Corruption> {
        // SAFETY: an atomic in the mapped head.
        let length = unsafe { &(*self.control()).taken_len };
        self.take(shared::TAKEN, length, TAKEN)
    }

    /// Takes the expression nodes; empty when there are none besides the unused first one.
    pub fn take_nodes(&self) -> Result<Vec<Node>, Corruption> {
        // SAFETY: an atomic in the mapped head.
        let length = unsafe { &(*self.control()).nodes_len };
        let mut nodes: Vec<Node> = self.take(shared::NODES, length, NODES)?;
        let bytes = nodes.len() * size_of::<Node>();
        if bytes > KEEP_NODES {
            // SAFETY: the range lies within the mapping; nothing of it is needed any more.
            unsafe { libc::madvise(self.region(shared::NODES).cast(), bytes, libc::MADV_REMOVE) };
        }
        match nodes.first_mut() {
            Some(unused) => *unused = Node::default(),
            None => return Err(Corruption::Length(NODES)),
        }
        if nodes.len() == 1 {
            nodes.clear();
        }
        Ok(nodes)
    }

    /// How many bytes of records lie in the regions.
    pub fn pending_bytes(&self) -> Result<usize, Corruption> {
        let c = self.control();
        // SAFETY: atomics in the mapped head.
        let (events, steps, nodes) = unsafe {
            (
                (*c).log_len.load(Relaxed),
                (*c).taken_len.load(Relaxed),
                (*c).nodes_len.load(Relaxed),
            )
        };
        Ok(bytes::<Event>(events, shared::LOG, LOG)?
            + bytes::<Step>(steps, shared::TAKEN, TAKEN)?
            + bytes::<Node>(nodes, shared::NODES, NODES)?)
    }

    /// Copies the valid entries of a region of plain numbers and sets its length to 0.
    fn take<T: Plain>(
        &self,
        region: Region,
        length: &AtomicU64,
        name: &'static str,
    ) -> Result<Vec<T>, Corruption> {
        let n = length.swap(0, SeqCst);
        bytes::<T>(n, region, name)?;
        let first = self.region(region).cast::<T>();
        let mut out = Vec::with_capacity(n as usize);
        for i in 0..n as usize {
            // SAFETY: i is below the region's capacity; every bit pattern is a valid T; volatile,
            // because another process may write there meanwhile.
            out.push(unsafe { first.add(i).read_volatile() });
        }
        Ok(out)
    }

    /// The counters.
    pub fn counters(&self) -> Result<Counters, Corruption> {
        let c = self.control();
        // SAFETY: atomics in the mapped head.
        let counters = unsafe {
            Counters {
                steps: (*c).steps.load(Relaxed),
                events: (*c).events.load(Relaxed),
                switches: (*c).switches.load(Relaxed),
                preemptions: (*c).preemptions.load(Relaxed),
                threads: (*c).threads.load(Relaxed),
                clock: (*c).clock.load(Relaxed),
                early: (*c).early.load(Relaxed),
                given: (*c).given.load(Relaxed),
            }
        };
        let counts = [
            counters.steps,
            counters.events,
            counters.switches,
            counters.preemptions,
            counters.threads,
            counters.early,
        ];
        match counts.iter().any(|&n| n >= IMPOSSIBLE) {
            true => Err(Corruption::Length("a counter")),
            false => Ok(counters),
        }
    }

    /// What the running thread last announced.
    pub fn progress(&self) -> Progress {
        let c = self.control();
        // SAFETY: atomics in the mapped head.
        unsafe {
            Progress {
                thread: Slot::try_from((*c).running.load(Relaxed)).unwrap_or(slot::NONE),
                kind: (*c).last_kind.load(Relaxed),
                pc: (*c).last_pc.load(Relaxed),
                steps: (*c).steps.load(Relaxed),
            }
        }
    }

    /// Libraries that the program has loaded by itself: [`raddle_protocol::trace::Trace::loaded`].
    pub fn loaded(&self) -> Result<Vec<(u64, Vec<u8>)>, Corruption> {
        let c = self.control();
        // SAFETY: an atomic in the mapped head.
        let n = unsafe { (*c).loaded_len.load(SeqCst) as usize };
        if n > shared::MOST_LOADED {
            return Err(Corruption::Length("the libraries"));
        }
        let library = |i: usize| {
            // SAFETY: a volatile read of mapped bytes, below the table's length.
            let loaded = unsafe { (&raw const (*c).loaded[i]).read_volatile() };
            let path = loaded.path.split(|&b| b == 0).next().unwrap_or_default();
            (loaded.base, path.to_vec())
        };
        Ok((0..n).map(library).collect())
    }

    /// Names of what was not controlled.
    pub fn uncontrolled(&self) -> Result<Vec<String>, Corruption> {
        let c = self.control();
        // SAFETY: an atomic in the mapped head.
        let n = unsafe { (*c).uncontrolled_len.load(SeqCst) as usize };
        if n == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: a volatile read of mapped bytes.
        let names = unsafe { addr_of!((*c).uncontrolled).read_volatile() };
        let names = names.get(..n).ok_or(Corruption::Length("the names"))?;
        let text = |name: &[u8; UNCONTROLLED_NAME]| {
            let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
            String::from_utf8_lossy(&name[..end]).into_owned()
        };
        Ok(names.iter().map(text).filter(|t| !t.is_empty()).collect())
    }

    /// What the runtime wrote of the end.
    pub fn outcome(&self) -> Result<Written, Corruption> {
        // SAFETY: `raw` points into the mapped head; volatile reads of numbers of which every bit
        // pattern is valid.
        unsafe {
            let raw = addr_of!((*self.control()).outcome);
            let message = addr_of!((*raw).message).cast::<u8>();
            let stack = addr_of!((*raw).stack).cast::<u64>();
            let waits = addr_of!((*raw).waits).cast::<Wait>();
            let message_len = addr_of!((*raw).message_len).read_volatile();
            let stack_len = addr_of!((*raw).stack_len).read_volatile();
            let waits_len = addr_of!((*raw).waits_len).read_volatile();
            Ok(Written {
                end: addr_of!((*raw).end).read_volatile(),
                code: addr_of!((*raw).code).read_volatile(),
                thread: addr_of!((*raw).thread).read_volatile(),
                detail: addr_of!((*raw).detail).read_volatile(),
                message: copy(message, message_len, MESSAGE, "the message")?,
                stack: copy(stack, stack_len, STACK, "the stack")?,
                waits: copy(waits, waits_len, WAITS, "the list of waits")?,
            })
        }
    }

    /// Rubbish for tests: the whole mapping.
    #[cfg(test)]
    pub fn raw(&self) -> *mut u8 {
        self.base.as_ptr()
    }
}

/// Changes one of the mapped `words` and wakes who waits for that.
fn ring(words: *const [AtomicU32; shared::freeze::COPIES], slot: u32) {
    let slot = slot as usize % shared::freeze::COPIES;
    // SAFETY: atomics in the mapped head; the index is below the table's length.
    unsafe {
        let word = words.cast::<AtomicU32>().add(slot);
        (*word).fetch_add(1, SeqCst);
        sys::futex_wake_all(word.cast());
    }
}

/// What `n` entries occupy of their region.
fn bytes<T>(n: u64, region: Region, name: &'static str) -> Result<usize, Corruption> {
    match usize::try_from(n) {
        Ok(n) if n <= region.capacity::<T>() => Ok(n * size_of::<T>()),
        _ => Err(Corruption::Length(name)),
    }
}

/// # Safety
/// `first` must point to `most` readable values.
unsafe fn copy<T: Plain>(
    first: *const T,
    n: u32,
    most: usize,
    name: &'static str,
) -> Result<Vec<T>, Corruption> {
    if n as usize > most {
        return Err(Corruption::Length(name));
    }
    // SAFETY: n is at most `most`.
    Ok((0..n as usize)
        .map(|i| unsafe { first.add(i).read_volatile() })
        .collect())
}

/// Types of which every bit pattern is valid.
trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for u64 {}
impl Plain for Event {}
impl Plain for Step {}
impl Plain for Node {}
impl Plain for Wait {}

/// Bytes of one input in its region.
fn input_size(content: usize) -> usize {
    size_of::<InputHead>() + content.next_multiple_of(8)
}

impl AsFd for Pages {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `new` with this length and nothing points into it.
        let _ = unsafe { munmap(self.base.cast(), shared::TOTAL) };
    }
}
