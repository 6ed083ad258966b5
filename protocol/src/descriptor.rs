//! Stable names of what descriptors stand for: pipes, sockets, event counters.
//!
//! The kernel's own numbers differ from run to run. An *object number* is made of the kind of
//! object, the thread that made it and how many it had made before, so that it depends on that
//! thread's own history only. No memory address of a program lies in this range.

use crate::Slot;

/// First object number.
pub const BASE: u64 = 0x7100_0000_0000_0000;

macro_rules! whats {
    ($($(#[$doc:meta])* $name:ident = $n:literal, $text:literal;)*) => {
        /// What a descriptor stands for. Numbers are part of the format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum What { $($(#[$doc])* $name = $n,)* }

        impl What {
            /// Every kind of object.
            pub const ALL: &'static [What] = &[$(What::$name,)*];

            /// Decodes; `None` for a number that this version does not know.
            pub const fn from_u8(n: u8) -> Option<What> {
                match n { $($n => Some(What::$name),)* _ => None }
            }

            /// What people read.
            pub const fn text(self) -> &'static str {
                match self { $(What::$name => $text,)* }
            }
        }
    };
}

whats! {
    /// pipe, pipe2.
    Pipe = 1, "pipe";
    /// A named pipe.
    Fifo = 2, "FIFO";
    /// Both ends of a socketpair.
    Pair = 3, "socketpair";
    /// A socket of the Internet families.
    Network = 4, "network socket";
    /// A socket of the Unix family that has, or gets, a name.
    Local = 5, "local socket";
    /// eventfd.
    Event = 6, "eventfd";
    /// epoll.
    Epoll = 7, "epoll";
    /// timerfd.
    Timer = 8, "timerfd";
    /// signalfd.
    Signal = 9, "signalfd";
    /// A file that flock or a lock of an open file description locks.
    File = 10, "file lock";
    /// A POSIX message queue.
    Queue = 12, "message queue";
    /// A System V message queue, which has an id, no descriptor.
    Messages = 13, "System V queue";
    /// A System V set of semaphores, which has an id, no descriptor.
    Semaphores = 14, "semaphore set";
    /// inotify, a terminal, and what else can block.
    Other = 11, "descriptor";
}

/// The object number of the `k`-th object of any kind that `thread` made.
pub const fn object(what: What, thread: Slot, k: u32) -> u64 {
    BASE | (what as u64) << 48 | (thread as u64) << 32 | k as u64
}

/// What an object number stands for; `None` when it is none.
pub const fn what_of(object: u64) -> Option<What> {
    if object & 0xff00_0000_0000_0000 != BASE {
        return None;
    }
    What::from_u8((object >> 48) as u8)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn object_numbers_tell_what_they_stand_for_and_differ() {
        let mut seen = std::collections::HashSet::new();
        for &what in What::ALL {
            for (thread, k) in [(0, 0), (0, 1), (8191, 0), (Slot::MAX, u32::MAX)] {
                let number = object(what, thread, k);
                assert_eq!(what_of(number), Some(what));
                assert!(seen.insert(number));
            }
        }
        for other in [0, 8, crate::arena::BASE, 0x7fff_ffff_f000, u64::MAX, BASE] {
            assert_eq!(what_of(other), None, "{other:#x}");
        }
    }
}
