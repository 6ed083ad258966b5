//! Memory that the program hands to the kernel and that is not there: never mapped, unmapped, protected.
//! The kernel finds that out and fails; code of ours that read or wrote it would fault. So such a call is
//! handed on as it is.

use crate::os;
use crate::serial::Serial;
use core::ffi::c_int;
use libc::EFAULT;

/// The program has acted on pages.
static TAKEN: Serial<bool> = Serial::new(false);

/// The program acts on pages: from now on some may not be there.
pub fn pages_change() {
    // SAFETY: the running thread; the reference is not kept.
    unsafe { *TAKEN.get() = true };
}

/// What an argument of a call leads to.
#[derive(Clone, Copy)]
pub struct Memory {
    at: usize,
    len: usize,
    writes: bool,
}

impl Memory {
    /// What the call reads.
    pub fn read(at: usize, len: usize) -> Memory {
        Memory {
            at,
            len,
            writes: false,
        }
    }

    /// What it writes.
    pub fn written(at: usize, len: usize) -> Memory {
        Memory {
            at,
            len,
            writes: true,
        }
    }

    /// Is it not there? Nothing is asked of a null pointer, which often means something.
    pub fn is_gone(self) -> bool {
        /// Behind the highest address of programs.
        const END: usize = 1 << 47;
        const FIRST: usize = 4096;
        let last = self.at.saturating_add(self.len.max(1) - 1);
        if self.at == 0 {
            return false;
        }
        if self.at < FIRST || last >= END {
            return true;
        }
        // SAFETY: the running thread; the reference is not kept.
        let changed = unsafe { *TAKEN.get() };
        changed
            && match self.writes {
                true => !is_writable(self.at, last),
                false => [self.at, last]
                    .iter()
                    .any(|&at| !os::try_read(at, &mut [0])),
            }
    }
}

/// Is this memory that the kernel cannot read?
pub fn is_gone<T>(from: *const T) -> bool {
    Memory::read(from as usize, size_of::<T>()).is_gone()
}

/// The errno of a call, `made` with where it writes: null, and `EFAULT` in the end, if that is not there.
pub fn written_to<T>(to: *mut T, made: impl FnOnce(*mut T) -> c_int) -> c_int {
    if !Memory::written(to as usize, size_of::<T>()).is_gone() {
        return made(to);
    }
    match made(core::ptr::null_mut()) {
        0 => EFAULT,
        errno => errno,
    }
}

/// An argument of an intercepted function.
pub struct Argument<T>(pub T);

impl<T> Argument<*const T> {
    /// What it leads to.
    pub fn memory(&self) -> Option<Memory> {
        Some(Memory::read(self.0 as usize, size_of::<T>()))
    }
}

impl<T> Argument<*mut T> {
    /// What it leads to.
    pub fn memory(&self) -> Option<Memory> {
        Some(Memory::written(self.0 as usize, size_of::<T>()))
    }
}

/// Arguments that are no pointers.
pub trait Value {
    /// They lead nowhere.
    fn memory(&self) -> Option<Memory> {
        None
    }
}

impl<T> Value for Argument<T> {}

/// Of these what they write, and bytes that they read, are not asked about: they may wait, or do something
/// else, before they find that it is not there.
const LATE: &str = "read __read_chk write recv __recv_chk recvfrom send sendto mq_send mq_timedsend \
     mq_receive mq_timedreceive msgrcv wait waitpid wait3 wait4 waitid nanosleep clock_nanosleep accept \
     accept4 epoll_wait epoll_pwait epoll_pwait2 eventfd_read prlimit prlimit64 mq_setattr";

/// Does the function with this name find at once that some of this is not there?
pub fn any(name: &str, memory: &[Option<Memory>]) -> bool {
    memory.iter().flatten().any(|memory| {
        let is_late = memory.writes || memory.len == 1;
        memory.is_gone() && !(is_late && LATE.split_ascii_whitespace().any(|late| late == name))
    })
}

/// Can these bytes be written, the last one included?
fn is_writable(first: usize, last: usize) -> bool {
    const PAGE: usize = 4096;
    let can = |from: usize, last: usize| {
        let (from, end) = (from & !(PAGE - 1), (last & !(PAGE - 1)) + PAGE);
        // SAFETY: it changes no byte; the pages are about to be written.
        unsafe {
            os::syscall(
                libc::SYS_madvise,
                from,
                end - from,
                os::MADV_POPULATE_WRITE,
                0,
                0,
                0,
            ) == 0
        }
    };
    if can(first, last) {
        return true;
    }
    /// 0: not known; 1: the kernel can be asked; 2: it cannot.
    static ASKED: Serial<u8> = Serial::new(0);
    // SAFETY: the running thread; the reference is not kept.
    let asked = unsafe { ASKED.get() };
    if *asked == 0 {
        let own = (&raw const first).addr();
        *asked = if can(own, own) { 1 } else { 2 };
    }
    *asked == 2 && [first, last].iter().all(|&at| os::try_read(at, &mut [0]))
}
