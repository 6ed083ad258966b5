//! How one execution ended, as the runtime writes it and the controller reads it.

/// Longest message, in bytes.
pub const MESSAGE: usize = 1024;
/// Most return addresses of a stack.
pub const STACK: usize = 64;
/// Most threads in a deadlock report.
pub const WAITS: usize = 256;

macro_rules! ends {
    ($($(#[$doc:meta])* $name:ident = $n:literal;)*) => {
        /// How an execution ended, seen from inside. Numbers are part of the format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum End { $($(#[$doc])* $name = $n,)* }

        impl End {
            /// Every way to end.
            pub const ALL: &'static [End] = &[$(End::$name,)*];
            /// Decodes; unknown numbers are `None`.
            pub const fn from_u32(n: u32) -> Option<End> {
                match n { $($n => Some(End::$name),)* _ => None }
            }
        }
    };
}

ends! {
    /// Nothing was written: the target ended behind the runtime's back (look at the wait status).
    None = 0;
    /// exit, _exit or a return from main. `code`: the status.
    Exit = 1;
    /// `__assert_fail` and its kin. `message`: the assertion.
    Assertion = 2;
    /// abort() without an assertion. `message`: what is known.
    Abort = 3;
    /// A fatal signal. `code`: its number; `detail[0]`: faulting address.
    Signal = 4;
    /// No thread can ever run again, or some wait for each other in a cycle. `waits` lists them.
    Deadlock = 5;
    /// Wrong use of a synchronisation object. `detail[0]`: the object.
    Misuse = 6;
    /// `detail[0]`: address; `detail[1]`: block; `detail[2]`: pc of the free; `detail[3]`: slot
    /// that freed.
    UseAfterFree = 7;
    /// Fields as UseAfterFree.
    DoubleFree = 8;
    /// A write outside a block was found. Fields as UseAfterFree.
    HeapOverflow = 9;
    /// The step limit was reached. `detail[0]`: the limit; `detail[1]`: 1 when it was reached by
    /// decisions and inputs since the last step (symbolic runs); `detail[2]`: 1 when all threads
    /// have come back to the same states again and again.
    StepLimit = 10;
    /// The run left its schedule. `detail[0]`: step; `detail[1]`: wanted thread or choice;
    /// `detail[2]`: a [`Divergence`]; `detail[3]`: thread that was running.
    Divergence = 11;
    /// `raddle_assume` did not hold: the execution counts for nothing.
    Assumed = 12;
    /// Something that the runtime cannot control. `message` names it.
    Unsupported = 13;
    /// The runtime found itself broken. `message` says how.
    ToolFault = 14;
    /// Every thread that is not blocked for good goes round a loop that changes nothing and that
    /// only a change would end. `waits` lists all threads.
    Livelock = 20;
    /// Every thread that could go on was in the job's sleep set: another execution has what would
    /// follow.
    Redundant = 21;
}

/// Why a step of the prefix could not be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Divergence {
    /// The thread does not exist (yet).
    NoSuchThread = 1,
    /// The thread has ended.
    Ended = 2,
    /// The thread is blocked.
    Blocked = 3,
    /// A thread step was due, the schedule has a choice, or the reverse.
    KindOfStep = 4,
    /// The chosen alternative does not exist.
    NoSuchChoice = 5,
}

impl Divergence {
    /// Decodes; unknown numbers are `None`.
    pub const fn from_u32(n: u32) -> Option<Divergence> {
        Some(match n {
            1 => Divergence::NoSuchThread,
            2 => Divergence::Ended,
            3 => Divergence::Blocked,
            4 => Divergence::KindOfStep,
            5 => Divergence::NoSuchChoice,
            _ => return None,
        })
    }
}

/// One waiting thread of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Wait {
    /// Who waits.
    pub thread: u16,
    /// Who holds what it waits for; [`crate::slot::NONE`] when nobody does.
    pub holder: u16,
    /// The [`crate::event::Kind`] of the announced operation.
    pub kind: u8,
    /// 1 when this thread is part of the cycle.
    pub in_cycle: u8,
    #[doc(hidden)]
    pub pad: u16,
    /// The object.
    pub object: u64,
    /// Where it waits.
    pub pc: u64,
    /// Where the holder took the object; 0 when unknown.
    pub holder_pc: u64,
}

/// The outcome's form in the shared pages. Writer: runtime. Reader: controller, which trusts
/// nothing in it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Raw {
    /// An [`End`] as a number; written last.
    pub end: u32,
    /// See [`End`].
    pub code: i32,
    /// Who was running.
    pub thread: u16,
    #[doc(hidden)]
    pub pad: [u16; 3],
    /// See [`End`].
    pub detail: [u64; 4],
    /// Valid bytes of `message`.
    pub message_len: u32,
    /// Valid entries of `stack`.
    pub stack_len: u32,
    /// Valid entries of `waits`.
    pub waits_len: u32,
    #[doc(hidden)]
    pub pad2: u32,
    /// UTF-8 where the program's own text was.
    pub message: [u8; MESSAGE],
    /// Return addresses, innermost first.
    pub stack: [u64; STACK],
    /// See [`Wait`].
    pub waits: [Wait; WAITS],
}
