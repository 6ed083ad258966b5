//! The shared pages between the controller and one target: one sparse memfd, mapped by both.
//!
//! Every field says who writes and who reads it. A buggy target may overwrite any of it at any
//! time, so the controller checks every count and every number that it reads.
//!
//! # Life of a target
//! 1. The controller starts the program with `LD_PRELOAD=libraddle.so` and the variables of
//!    [`env`]. The shim wakes up in `__libc_start_main`, maps the pages, writes
//!    [`Control::runtime_version`] and sends one [`Hello`] over the control socket. A target that
//!    ends, or closes the socket, without it never loaded the shim.
//! 2. For every [`command::GO`] byte the shim clones itself (raw clone, `CLONE_PARENT | SIGCHLD`:
//!    the execution is a child of the controller) and answers with the child's pid (`i32`, native
//!    order); a negative number is an errno. The child first makes itself the leader of a process
//!    group (`setpgid(0, 0)`) and asks for SIGKILL when its parent dies (`PR_SET_PDEATHSIG`, which
//!    a clone does not inherit), so that nothing is left behind; then it obeys the job that lies
//!    in the pages.
//! 3. While the child runs, the controller waits on its pidfd and on the eventfd
//!    [`env::NOTIFY_FD`]. When a region is full the shim sets [`Control::drain_wanted`], writes
//!    the eventfd and waits by futex until [`Control::drains`] changes; the controller empties the
//!    regions (it resets the three lengths to 0, keeping what it read), increments `drains` and
//!    wakes the futex.
//! 4. [`command::QUIT`] or end of file ends the zygote.
//!
//! With [`flags::DIRECT`] there is no zygote: the process that was started obeys the job itself
//! and uses no socket (debuggers).

use crate::conflict::{Footprint, MOST_SLEEPERS};
use crate::constraint::Constraint;
use crate::outcome::Raw;
use crate::schedule::Step;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

/// First word of the pages: "RADDLE" and two digits.
pub const MAGIC: u64 = u64::from_le_bytes(*b"RADDLE01");

/// Environment variables and descriptors that the controller hands to the target.
pub mod env {
    /// Descriptor number of the shared pages.
    pub const SHARED_FD: &str = "RADDLE_SHARED_FD";
    /// Descriptor number of the control socket (a stream socket).
    pub const CONTROL_FD: &str = "RADDLE_CONTROL_FD";
    /// Descriptor number of the eventfd by which the runtime asks for a drain.
    pub const NOTIFY_FD: &str = "RADDLE_NOTIFY_FD";
    /// `dev:inode` (decimal) of the program: in any other executable the shim stays passive.
    pub const TARGET: &str = "RADDLE_TARGET";
    /// Names the session; the controller finds processes that a target left behind by it.
    pub const SESSION: &str = "RADDLE_SESSION";
    /// `own`: the target is to move into a network of its own, loopback only, before its `main`
    /// (see [`super::flags::OWN_NETWORK`]).
    pub const NETWORK: &str = "RADDLE_NETWORK";
    /// What else than the inputs that the program names is symbolic: lines `kind:length:name`, the
    /// kind one of `arg` (the name is its number), `env` and `file` (standard input has the empty
    /// name).
    pub const SYMBOLIC: &str = "RADDLE_SYMBOLIC";
    /// Makes arguments and environment together a multiple of some KiB, so that the stack does not
    /// move with the length of the user's variables.
    pub const FILL: &str = "RADDLE_FILL";
    /// Names and values: threads of OpenMP's libraries that wait shall sleep at once. A wait in a
    /// busy loop of a library is out of control.
    pub const CALM: [(&str, &str); 3] = [
        ("OMP_WAIT_POLICY", "passive"),
        ("GOMP_SPINCOUNT", "0"),
        ("KMP_BLOCKTIME", "0"),
    ];

    /// Asks Rust programs to write the stack of a panic out, which takes long and is in the report; where
    /// it is set, they are told not to.
    pub const BACKTRACE: &str = "RUST_BACKTRACE";

    /// File name of the runtime, which the controller adds to `LD_PRELOAD`.
    pub const RUNTIME_LIBRARY: &str = "libraddle.so";
    /// File name of the library that takes the place of ThreadSanitizer's; added likewise for
    /// programs that need it.
    pub const TSAN_LIBRARY: &str = "libraddle_tsan.so";
    /// Name and value: the dynamic linker is to bind every function at the start (any value does).
    pub const EAGER: &str = "LD_BIND_NOW=raddle";
}

/// Bytes that the controller sends over the control socket.
pub mod command {
    /// Clone and run the job in the pages.
    pub const GO: u8 = b'G';
    /// End.
    pub const QUIT: u8 = b'Q';
}

/// The shim's first message over the control socket.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Hello {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`crate::VERSION`].
    pub version: u32,
    /// Process id of the zygote.
    pub pid: i32,
}

/// Bits of [`JobWords::flags`].
pub mod flags {
    /// Write event records (otherwise only the taken steps and the counters).
    pub const EVENTS: u32 = 1;
    /// Write [`crate::event::Kind::Enabled`] records before each step (implies EVENTS).
    pub const ENABLED: u32 = 2;
    /// Shared accesses of instrumented code are scheduling points.
    pub const ACCESSES: u32 = 4;
    /// Run the symbolic shadow; implies EVENTS and ACCESSES for the ranges of the job. What a
    /// thread records is then a function of what its own events returned: accesses of the ranges
    /// are steps also while only one thread is alive, and the end of the process is a step
    /// ([`crate::event::Kind::ProcessEnd`]).
    pub const SYMBOLIC: u32 = 8;
    /// A step of the prefix that cannot be taken is skipped instead of ending in a divergence.
    pub const TOLERANT: u32 = 16;
    /// One kernel thread per thread and a baton instead of fibers.
    pub const KERNEL_THREADS: u32 = 32;
    /// No zygote: the started process itself obeys the job.
    pub const DIRECT: u32 = 64;
    /// Raise SIGTRAP at a finding that does not stop by itself (deadlock, misuse): debuggers.
    pub const TRAP: u32 = 128;
    /// Timed waits and sleeps end only when nothing else can run (otherwise their end is a choice
    /// like any other).
    pub const LAZY_TIME: u32 = 256;
    /// Write [`crate::event::Kind::Stack`] records where operations are announced (implies EVENTS).
    pub const STACKS: u32 = 512;
    /// Descriptor operations and semaphore waits may come short or be interrupted: each such fault
    /// is a choice.
    pub const FAULTS: u32 = 1 << 11;
    /// The target is to have a network of its own, which no other process reaches. Whoever starts
    /// the target says so by [`env::NETWORK`]; where the system does not allow it, the runtime
    /// reports that as not controlled.
    pub const OWN_NETWORK: u32 = 1 << 20;
    /// Condition waits may end although nobody signalled: a [`crate::event::Kind::Choice`] behind
    /// the [`crate::event::Kind::CondWait`] says whether (1) or not, for [`super::SPURIOUS_WAKE_UPS`]
    /// waits of an execution at most.
    pub const SPURIOUS: u32 = 1 << 10;
    /// For searches that are to be exhaustive: of a loop that changes nothing only two iterations
    /// are run, also where it is not known what the loop reads
    /// ([`crate::event::Kind::PassedOver`] tells where).
    pub const EXACT_SPINS: u32 = 1 << 13;
    /// Loops that change nothing are run like any others.
    pub const RUN_SPINS: u32 = 1 << 18;
    /// What loops do may depend on what no hook tells (variables of a library): whoever goes round
    /// one lets others go first after some rounds, as in code without hooks, and is never taken for
    /// one that waits for ever.
    pub const DOUBT_SPINS: u32 = 1 << 23;
    /// A timer of CPU time looks for threads that wait in loops without operations, and lets others
    /// go first ([`super::BUSY_WAIT`]). Never together with [`super::JobWords::rewind`], nor in a
    /// copy of an execution.
    pub const WATCH_LOOPS: u32 = 1 << 21;
    /// The return from an operation by which others can go on is a step ([`crate::event::Kind::Return`]):
    /// where accesses to memory are not seen, others may come by before the ones that follow.
    pub const RETURNS: u32 = 1 << 22;
    /// With [`EXHAUSTIVE`], where no code is unseen (which might wait in a loop for the thread): an
    /// assumption that does not hold stops its thread, and the execution only when nobody else can go
    /// on.
    pub const STOPS_THREADS: u32 = 1 << 12;
    /// For searches that are to miss nothing: the end of the process is a step
    /// ([`crate::event::Kind::ProcessEnd`]), accesses are steps from the first creation of a thread
    /// on, even while only one is alive, and what was announced and did not happen is recorded.
    pub const EXHAUSTIVE: u32 = 1 << 14;
    /// A symbolic run goes on where one thread has decided so often without a step that the limit
    /// of steps would end it, and follows expressions no further. To see whether such an execution
    /// ends: it can only be run, not be learnt from.
    pub const LONG_WAYS: u32 = 1 << 24;
    /// A symbolic run takes much longer to suspect that a thread which takes no step waits for another
    /// one, and treats what it reads as shared ([`crate::event::Kind::Shared`]).
    pub const PATIENT: u32 = 1 << 25;
    /// Timed waits and timers of over a second, too, may end while others could go on.
    pub const EAGER_TIME: u32 = 1 << 28;
    /// For searches that draw schedules: a thread that asks to exit, or main that returns, waits as
    /// long as others go on (for a bounded number of steps), so that what they do is seen as well.
    pub const HOLD_ENDS: u32 = 1 << 29;
    /// The order in which threads write to a file that nobody can read by the same descriptor is one
    /// that matters. Without it whoever reads the file by another one is told of ([`super::WRITE_ORDER`]).
    pub const ORDERED_WRITES: u32 = 1 << 26;
    /// No time-out comes early: timed waits and timers, whatever their length, end by their time only
    /// when nobody else can go on, the first deadline first. Sleeps end at any step that does not
    /// take the clock past such a deadline. Above [`EAGER_TIME`] and [`EXHAUSTIVE`].
    pub const LATE_TIMEOUTS: u32 = 1 << 27;
}

/// How many of an execution's condition waits end although nobody signalled, at most
/// ([`flags::SPURIOUS`]).
pub const SPURIOUS_WAKE_UPS: u32 = 4;

/// What an exhaustive search has not tried where a file is read that several threads have written.
pub const WRITE_ORDER: &str = "in which order threads have written to a file";

/// What is not under control where a thread waits in a loop without operations: when others go
/// first is decided by CPU time ([`flags::WATCH_LOOPS`]).
pub const BUSY_WAIT: &str = "a busy wait without instrumentation, switched by CPU time";

/// What an execution learnt that a search gives it as it is, and does not vary: bits of
/// [`Control::given`].
pub mod given {
    /// Random numbers, by what the program drew them; all come from [`super::JobWords::entropy`].
    pub const RANDOM: [(u64, &str); 7] = [
        (GETRANDOM, "getrandom"),
        (GETENTROPY, "getentropy"),
        (ARC4RANDOM, "arc4random"),
        (DEVICE, "/dev/urandom"),
        (PROCESSOR, "rdrand"),
        (RANDOM_DEVICE, "std::random_device"),
        (AUXILIARY, "AT_RANDOM"),
    ];
    pub const GETRANDOM: u64 = 1;
    pub const GETENTROPY: u64 = 1 << 1;
    pub const ARC4RANDOM: u64 = 1 << 2;
    /// `/dev/random`, too.
    pub const DEVICE: u64 = 1 << 3;
    /// `rdseed`, too.
    pub const PROCESSOR: u64 = 1 << 4;
    pub const RANDOM_DEVICE: u64 = 1 << 5;
    pub const AUXILIARY: u64 = 1 << 6;
    /// What a clock shows.
    pub const CLOCK: u64 = 1 << 7;
    /// Memory that lies elsewhere than what was freed before.
    pub const MEMORY: u64 = 1 << 8;
}

/// Copies of a running execution from which others go on ([`JobWords::freeze_at`]).
///
/// A process that is to freeze stops before it chooses a step, sets [`Control::frozen`] and writes
/// the eventfd. From then on it clones itself whenever its word of [`Control::thaw`] changes, puts
/// the clone's pid into [`Control::thawed`] and writes the eventfd again. The clone obeys the job
/// that then lies in the pages, from where its original stopped: as many entries of the prefix as
/// were taken before are left out.
pub mod freeze {
    /// [`super::JobWords::freeze_at`]: never. Any other number but [`FIRST_CHOICE`]: when so many
    /// entries of the schedule (steps and choices) were taken.
    pub const NEVER: u64 = 0;
    /// [`super::JobWords::freeze_at`]: before the first step that has an alternative.
    pub const FIRST_CHOICE: u64 = u64::MAX;
    /// How many copies may exist at a time.
    pub const COPIES: usize = 8;

    /// [`super::Control::frozen`]: not (yet).
    pub const RUNNING: u32 = 0;
    /// [`super::Control::frozen`]: it waits to be cloned.
    pub const FROZEN: u32 = 1;
    /// [`super::Control::frozen`]: it waits to be cloned, for jobs without constraints only.
    pub const FROZEN_FREE: u32 = 2;
    /// [`super::Control::frozen`]: it went on, because what it did cannot be copied (files that
    /// were written, say).
    pub const REFUSED: u32 = 3;
    /// [`super::Control::frozen`]: the execution has ended, with [`super::Control::status`], and the
    /// process, a clone of a copy, is as it was when it was cloned. It obeys the job in the pages
    /// when the copy's word of [`super::Control::again`] changes, and then puts its own pid into
    /// [`super::Control::thawed`].
    pub const REWOUND: u32 = 4;
}

/// The job's fixed part. Writer: controller, before [`command::GO`]. Reader: runtime.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct JobWords {
    /// See [`flags`].
    pub flags: u32,
    /// Valid entries of the steps region.
    pub steps_len: u32,
    /// Valid bytes of the inputs region.
    pub inputs_len: u32,
    /// Valid entries (pairs of words) of the ranges region.
    pub ranges_len: u32,
    /// Valid entries of the constraints region.
    pub constraints_len: u32,
    /// Which of [`Control::thaw`] a copy made by this job listens to.
    pub freeze_slot: u32,
    /// Valid entries of the sleepers region.
    pub sleepers_len: u32,
    /// Not 0: the clone of a copy is to be put back at its end ([`freeze::REWOUND`]), if it can be.
    pub rewind: u32,
    /// See [`freeze`].
    pub freeze_at: u64,
    /// See [`crate::schedule::Tail::to_words`].
    pub tail: [u64; 4],
    /// End of the execution after so many steps; 0: no limit.
    pub max_steps: u64,
    /// Virtual wall clock at the start, in nanoseconds since 1970.
    pub clock_base: u64,
    /// Seed of everything random that the program asks the system for.
    pub entropy: u64,
}

/// Longest entry of [`Control::uncontrolled`], in bytes.
pub const UNCONTROLLED_NAME: usize = 384;

/// Longest path in a [`Loaded`], with the NUL behind it, in bytes.
pub const LOADED_PATH: usize = 504;
/// Libraries that [`Control::loaded`] has room for; more are not told of.
pub const MOST_LOADED: usize = 64;

/// A library that the program has loaded by itself (dlopen).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Loaded {
    /// What is added to the file's own addresses.
    pub base: u64,
    /// The file, NUL-padded.
    pub path: [u8; LOADED_PATH],
}

/// The head of the shared pages.
#[repr(C)]
pub struct Control {
    /// [`MAGIC`]. Writer: controller, once.
    pub magic: u64,
    /// [`crate::VERSION`] of the controller. Writer: controller, once.
    pub controller_version: u32,
    /// [`crate::VERSION`] of the runtime. Writer: runtime, once.
    pub runtime_version: AtomicU32,
    /// Writer: controller.
    pub job: JobWords,

    /// Valid entries of the taken region. Writer: runtime; the controller resets it in a drain
    /// and before each job (so for all lengths and counters below).
    pub taken_len: AtomicU64,
    /// Valid entries of the log region. Writer: runtime.
    pub log_len: AtomicU64,
    /// Valid nodes, index 0 (never used) included: the controller resets it to 1. Writer: runtime.
    /// Nodes are not drained.
    pub nodes_len: AtomicU64,
    /// 1 while the runtime waits for a drain. Writer: runtime; the controller resets it.
    pub drain_wanted: AtomicU32,
    /// Futex word. Writer: controller.
    pub drains: AtomicU32,

    /// See [`freeze`]. Writer: runtime; the controller resets it before each job.
    pub frozen: AtomicU32,
    /// Pid of a clone of a frozen process, or minus an errno. Writer: runtime; the controller
    /// resets it to 0.
    pub thawed: AtomicI32,
    /// Futex words, one for each frozen process. Writer: controller.
    pub thaw: [AtomicU32; freeze::COPIES],
    /// Futex words, one for the clone of each frozen process that was put back. Writer: controller.
    pub again: [AtomicU32; freeze::COPIES],
    /// Exit status of an execution that was put back. Writer: runtime.
    pub status: AtomicI32,
    #[doc(hidden)]
    pub pad2: u32,

    /// Steps performed so far. Writer: runtime. Also the watchdog's sign of life.
    pub steps: AtomicU64,
    /// Event records written so far, drained ones included. Writer: runtime.
    pub events: AtomicU64,
    /// Thread switches. Writer: runtime.
    pub switches: AtomicU64,
    /// Switches away from a thread that was still enabled. Writer: runtime.
    pub preemptions: AtomicU64,
    /// Threads created, main included. Writer: runtime.
    pub threads: AtomicU64,
    /// Virtual nanoseconds since the start. Writer: runtime.
    pub clock: AtomicU64,
    /// Waits that ended by their time though others could go on ([`crate::event::Kind::Early`]).
    /// Writer: runtime.
    pub early: AtomicU64,
    /// See [`given`]. Writer: runtime.
    pub given: AtomicU64,
    /// Slot of the running thread. Writer: runtime; for the watchdog's report.
    pub running: AtomicU32,
    /// [`crate::event::Kind`] of the running thread's last announced operation. Writer: runtime.
    pub last_kind: AtomicU32,
    /// Its pc. Writer: runtime.
    pub last_pc: AtomicU64,

    /// Valid entries of `uncontrolled`. Writer: runtime.
    pub uncontrolled_len: AtomicU32,
    /// Valid entries of `loaded`. Writer: runtime.
    pub loaded_len: AtomicU32,
    /// What was not controlled, NUL-padded: its name, then who did it, in parentheses ("fork (run in
    /// libjobs.so, thread T2)"). Writer: runtime.
    pub uncontrolled: [[u8; UNCONTROLLED_NAME]; 64],
    /// In the order in which they were loaded; also those that are not there any more. Writer:
    /// runtime.
    pub loaded: [Loaded; MOST_LOADED],

    /// Writer: runtime. Reader: controller, after the end.
    pub outcome: Raw,
}

/// One region of the shared pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Bytes from the start of the pages.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

impl Region {
    const fn after(previous: Region, size: usize) -> Region {
        Region {
            offset: previous.offset + previous.size,
            size,
        }
    }

    /// One past the last byte.
    pub const fn end(self) -> usize {
        self.offset + self.size
    }

    /// How many `T` fit.
    pub const fn capacity<T>(self) -> usize {
        self.size / core::mem::size_of::<T>()
    }
}

const MIB: usize = 1 << 20;

/// [`Control`].
pub const CONTROL: Region = Region {
    offset: 0,
    size: MIB / 4,
};
/// The schedule's prefix, [`Step`]s. Writer: controller.
pub const STEPS: Region = Region::after(CONTROL, 64 * MIB);
/// Inputs; see [`InputHead`]. Writer: controller.
pub const INPUTS: Region = Region::after(STEPS, MIB);
/// Address ranges known to be shared: pairs of u64 (first, one past the last), sorted, disjoint.
/// Writer: controller.
pub const RANGES: Region = Region::after(INPUTS, 4 * MIB);
/// The steps that were taken, [`Step`]s, run-length coded. Writer: runtime.
pub const TAKEN: Region = Region::after(RANGES, 16 * MIB);
/// [`crate::event::Event`]s. Writer: runtime.
pub const LOG: Region = Region::after(TAKEN, 32 * MIB);
/// [`crate::expr::Node`]s. Writer: runtime.
pub const NODES: Region = Region::after(LOG, 512 * MIB);
/// [`Constraint`]s. Writer: controller.
pub const CONSTRAINTS: Region = Region::after(NODES, MIB / 16);
/// The sleep set, [`Footprint`]s. Writer: controller.
pub const SLEEPERS: Region = Region::after(CONSTRAINTS, MIB / 16);
/// Bytes of the whole mapping (sparse: only what is touched costs memory).
pub const TOTAL: usize = SLEEPERS.end();

const _: () = assert!(core::mem::size_of::<Control>() <= CONTROL.size);
const _: () = assert!(CONSTRAINTS.capacity::<Constraint>() >= crate::constraint::MOST);
const _: () = assert!(SLEEPERS.capacity::<Footprint>() >= MOST_SLEEPERS);
const _: () = assert!(STEPS.capacity::<Step>() <= u32::MAX as usize);

/// Head of one input in the inputs region; `len` bytes follow, padded to a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct InputHead {
    /// Who asks for it.
    pub thread: u16,
    #[doc(hidden)]
    pub pad: u16,
    /// The how-many-th input of that thread, from 0.
    pub index: u32,
    /// Bytes.
    pub len: u32,
    #[doc(hidden)]
    pub pad2: u32,
}
