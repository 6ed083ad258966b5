//! Witness files: everything that is needed to fail in the same way again, and to show the
//! failure without running anything.
//!
//! # Form
//! ```text
//! raddle witness 1
//! {…one line of JSON: a [`Witness`]…}
//! checksum 0123456789abcdef
//! ```
//! The checksum (FNV-1a, 64 bits) covers everything above its own line. A reader decides by the
//! first line whether this is a witness and of which version, by the last whether it is complete,
//! by the checksum whether it is intact.

mod bytes;
mod file;

pub use crate::hash::fnv1a;
pub use bytes::Bytes;
pub use file::{DecodeError, decode, encode};

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the file format that this crate writes. Earlier ones are read too: what they lack is
/// empty.
pub const FORMAT: u32 = 2;

/// The content of a witness file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Version of the command that wrote it.
    pub raddle: String,
    /// How the program was started.
    pub command: Command,
    /// Executable and libraries, the executable first.
    pub modules: Vec<Module>,
    /// What makes the execution repeatable.
    pub recipe: Recipe,
    /// What was found.
    pub finding: Finding,
    /// The places in the program that the rest refers to by index.
    pub sites: Vec<Site>,
    /// The objects that events refer to by index.
    pub objects: Vec<Object>,
    /// The failing execution, see [`Record`].
    pub events: Vec<Record>,
    /// Events left out before the last [`Witness::TAIL`], because there were too many, or no time for them.
    pub events_left_out: u64,
}

impl Witness {
    /// So many events are kept from the start of a very long execution …
    pub const HEAD: usize = 1 << 17;
    /// … and so many from its end.
    pub const TAIL: usize = 1 << 17;

    /// Every index stays within its table, every number is one that this version knows.
    pub(crate) fn consistent(&self) -> Result<(), &'static str> {
        let command = &self.command;
        let mut words = [&command.program, &command.cwd].into_iter();
        let mut listed = command.args.iter().chain(&command.env);
        if words.any(|word| word.0.contains(&0)) || listed.any(|word| word.0.contains(&0)) {
            return Err("a word of its command has a zero byte");
        }
        let site = |i: u32| (i as usize) < self.sites.len();
        let thread = |t: u16| usize::from(t) < crate::slot::COUNT || t == crate::slot::NONE;
        let block_fits = |o: &Object| {
            let block = o.block.as_ref();
            block.is_none_or(|b| site(b.site) && thread(b.thread))
        };
        if !self.objects.iter().all(block_fits) {
            return Err("a block was allocated nowhere");
        }
        let object = |i: u32| i == NO_OBJECT || (i as usize) < self.objects.len();
        if self.modules.is_empty() {
            return Err("it names no program");
        }
        let site_fits = |s: &Site| {
            (s.shown as usize) < s.frames.len()
                && s.module.is_none_or(|m| (m as usize) < self.modules.len())
        };
        if !self.sites.iter().all(site_fits) {
            return Err("a place has no frame or no module");
        }
        if self.recipe.steps.iter().any(|s| s.1 == 0) {
            return Err("a step has a count of 0");
        }
        let inputs = &self.recipe.inputs;
        if !inputs
            .iter()
            .all(|i| thread(i.thread) && i.site.is_none_or(site))
        {
            return Err("an input belongs to no thread or place");
        }
        let fits = |e: &Record| {
            crate::event::Kind::from_u8(e.kind).is_some()
                && thread(e.thread)
                && site(e.site)
                && object(e.object)
        };
        let f = &self.finding;
        let waits_fit = f.waits.iter().all(|w| {
            thread(w.thread)
                && thread(w.holder)
                && site(w.site)
                && w.holder_site.is_none_or(site)
                && object(w.object)
                && crate::event::Kind::from_u8(w.kind).is_some()
                && w.stack.iter().all(|&s| site(s))
                && w.holds.iter().all(|h| {
                    crate::event::Kind::from_u8(h.kind).is_some()
                        && object(h.object)
                        && h.stack.iter().all(|&s| site(s))
                })
                && w.earlier.iter().flatten().all(&fits)
        });
        let notes_fit = f.notes.iter().all(|n| n.site.is_none_or(site));
        let accesses_fit = f
            .accesses
            .iter()
            .all(|a| thread(a.thread) && object(a.object) && a.stack.iter().all(|&s| site(s)));
        let creations_fit = f
            .threads
            .iter()
            .all(|c| thread(c.thread) && thread(c.creator) && c.stack.iter().all(|&s| site(s)));
        if !accesses_fit || !creations_fit {
            return Err("an access or a thread refers to something that is not there");
        }
        let other = f.other.as_ref();
        if other.is_some_and(|o| o.steps.iter().any(|s| s.1 == 0)) {
            return Err("a step has a count of 0");
        }
        if !f.stack.iter().all(|&s| site(s)) || !waits_fit || !notes_fit || !thread(f.thread) {
            return Err("the finding refers to something that is not there");
        }
        if !self.events.iter().all(fits) {
            return Err("an event refers to something that is not there");
        }
        Ok(())
    }
}

/// How the program was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// As it was given: a path, perhaps relative to `cwd`, or a name that was found in `PATH`.
    pub program: Bytes,
    /// Arguments, without the program's name.
    pub args: Vec<Bytes>,
    /// Its environment, `NAME=value`, without variables whose names look secret.
    pub env: Vec<Bytes>,
    /// Working directory.
    pub cwd: Bytes,
    /// What it read from standard input; `None`: nothing.
    pub stdin: Option<Bytes>,
}

/// One ELF file in the target's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    pub path: Bytes,
    /// What is added to the file's own addresses.
    pub base: u64,
    /// `build-id:…`, or `fnv1a64:…` over the content when it carries none.
    pub identity: String,
    /// Was it built with scheduling points at memory accesses?
    pub instrumented: bool,
}

/// What makes the execution repeatable. The schedule is complete: after it the program ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// [`crate::schedule::Step`]s as (what, count).
    pub steps: Vec<(u16, u16)>,
    pub inputs: Vec<Input>,
    /// [`crate::job::Job::ranges`].
    pub ranges: Vec<(u64, u64)>,
    /// [`crate::shared::flags`], without those that only ask for records.
    pub flags: u32,
    /// Step limit; 0: none.
    pub max_steps: u64,
    /// Wall-clock limit in milliseconds; 0: none.
    pub timeout_ms: u64,
    pub clock_base: u64,
    pub entropy: u64,
    /// With `--same-output`: the hash ([`fnv1a`]) of what the program should have printed.
    pub expected_output: Option<u64>,
    /// Exit statuses beside 0 with which all is well.
    #[serde(default)]
    pub accepted_exits: Vec<u8>,
}

/// One input of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    pub thread: u16,
    /// The how-many-th of that thread, from 0.
    pub index: u32,
    /// What the program calls it.
    pub name: Option<String>,
    /// Little-endian content.
    pub bytes: Bytes,
    /// Where the program asked for it.
    pub site: Option<u32>,
}

/// The class of a witness of an execution that ended well, kept to be replayed as a test.
pub const PATH: &str = "path";

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// "deadlock", "assertion" … or [`PATH`].
    pub class: String,
    /// One line.
    pub message: String,
    /// The same for the same defect, whatever the schedule.
    pub fingerprint: String,
    /// The thread that failed.
    pub thread: u16,
    /// Sites of the stack, innermost first.
    pub stack: Vec<u32>,
    /// Who waits for whom, for a deadlock.
    pub waits: Vec<Wait>,
    /// Further facts, such as where a block was freed.
    pub notes: Vec<Note>,
    /// In which execution it was seen first, from 1.
    pub execution: u64,
    /// Preemptions in the shrunk schedule.
    pub preemptions: u64,
    /// Preemptions before shrinking.
    pub found_preemptions: u64,
    /// All schedules with fewer preemptions were run, and none of them fails in the same way.
    #[serde(default)]
    pub fewest: bool,
    /// False: the same schedule did not fail again, so something is not under control.
    pub reproduced: bool,
    /// Policy and seed that found it.
    pub policy: String,
    pub seed: u64,
    /// What was not controlled in this execution.
    pub uncontrolled: Vec<String>,
    /// Ends of what the program printed.
    pub stdout: Bytes,
    pub stderr: Bytes,
    /// The two accesses of a race, in the order of the execution.
    #[serde(default)]
    pub accesses: Vec<Access>,
    /// Where the threads that the finding is about were created.
    #[serde(default)]
    pub threads: Vec<Creation>,
    /// Another execution that belongs to the finding.
    #[serde(default)]
    pub other: Option<Other>,
    /// It was only seen where a time-out came early, while others could go on: which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_out: Option<Note>,
}

/// One of two accesses that race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// "write of 4 bytes", "atomic read of 8 bytes", "free" …
    pub what: String,
    pub thread: u16,
    /// What is accessed.
    pub object: u32,
    /// Sites of the stack, innermost first.
    pub stack: Vec<u32>,
}

/// The creation of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Creation {
    pub thread: u16,
    pub creator: u16,
    /// Sites of the stack, innermost first.
    pub stack: Vec<u32>,
}

/// An execution to compare the finding with, of the same program with the same inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// What it is, in words: "the accesses in the other order".
    pub what: String,
    /// As [`Recipe::steps`].
    pub steps: Vec<(u16, u16)>,
    /// What it printed, if that is what differs.
    pub stdout: Option<Bytes>,
}

/// One waiting thread of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    pub thread: u16,
    /// [`crate::slot::NONE`]: nobody holds it.
    pub holder: u16,
    /// [`crate::event::Kind`].
    pub kind: u8,
    pub in_cycle: bool,
    pub object: u32,
    pub site: u32,
    /// Where the holder took it.
    pub holder_site: Option<u32>,
    /// Sites of the stack, innermost first.
    #[serde(default)]
    pub stack: Vec<u32>,
    /// The locks that the thread holds, in the order in which it took them.
    #[serde(default)]
    pub holds: Vec<Hold>,
    /// Of an object that nobody holds (a condition variable, a semaphore, a futex): the last
    /// operations by which it lets a thread go on, or by which a thread took what this one waits
    /// for. Empty: there were none. `None`: not known.
    #[serde(default)]
    pub earlier: Option<Vec<Record>>,
}

/// A lock that a thread holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The [`crate::event::Kind`] by which it was taken.
    pub kind: u8,
    pub object: u32,
    /// Sites of the stack of that, innermost first.
    pub stack: Vec<u32>,
}

/// A further fact about a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub text: String,
    pub site: Option<u32>,
}

/// A place in the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// Index of the module; `None`: no module holds this address.
    pub module: Option<u32>,
    /// The return address, relative to the module's base (absolute without a module).
    pub offset: u64,
    /// Never empty; several where calls were inlined, innermost first. Where all of these are a
    /// library's, its callers follow as far as the user's own code, if they are known.
    pub frames: Vec<Frame>,
    /// Which frame people want to see first (the innermost one of their own code).
    pub shown: u32,
    /// Text of the shown line, as it was in the source file.
    pub source: Option<String>,
}

/// One (perhaps inlined) function at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// An object that events refer to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Object {
    pub address: u64,
    /// A variable's name, or one that was made up ("mutex#1").
    pub name: String,
    /// A block of the heap: where it was allocated, by whom, its size.
    pub block: Option<Block>,
}

/// A block of the heap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    pub site: u32,
    pub thread: u16,
    /// Bytes.
    pub size: u64,
}

/// "No object" in [`Record::object`].
pub const NO_OBJECT: u32 = u32::MAX;

/// One event of the failing execution: the steps of the schedule, choices, inputs. An array in
/// the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RecordTuple", into = "RecordTuple")]
pub struct Record {
    /// [`crate::event::Kind`].
    pub kind: u8,
    pub thread: u16,
    pub site: u32,
    /// [`NO_OBJECT`]: none.
    pub object: u32,
    pub value: u64,
    /// The thread that ran before was still able to go on, and was made to wait.
    pub preempts: bool,
}

type RecordTuple = (u8, u16, u32, u32, u64, u8);

impl From<RecordTuple> for Record {
    fn from(t: RecordTuple) -> Record {
        Record {
            kind: t.0,
            thread: t.1,
            site: t.2,
            object: t.3,
            value: t.4,
            preempts: t.5 != 0,
        }
    }
}

impl From<Record> for RecordTuple {
    fn from(r: Record) -> RecordTuple {
        (
            r.kind,
            r.thread,
            r.site,
            r.object,
            r.value,
            u8::from(r.preempts),
        )
    }
}
