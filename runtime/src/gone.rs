//! Memory that the program hands to the kernel and that is not there: never mapped, unmapped, protected.
//! The kernel finds that out and fails; code of ours that read or wrote it would fault. So such a call is
//! handed on as it is.

use crate::heap::{self, callers};
use crate::os;
use crate::serial::Serial;
use core::ffi::{c_int, c_void};
use libc::EFAULT;
use raddle_protocol::{slot, stack};

/// The program has acted on pages.
static TAKEN: Serial<bool> = Serial::new(false);

/// The program acts on pages: from now on some may not be there of which that was known.
pub fn pages_change() {
    // SAFETY: the running thread; the reference is not kept.
    unsafe { *TAKEN.get() = true };
}

/// Has the program acted on pages?
pub fn have_pages_changed() -> bool {
    // SAFETY: the running thread; the reference is not kept.
    unsafe { *TAKEN.get() }
}

/// Is it known, without asking the kernel, that these bytes are there and can be written: on the stack of the
/// running thread, or in a live block of the heap?
fn is_known(at: usize, last: usize) -> bool {
    if have_pages_changed() {
        return false;
    }
    let here = (&raw const at).addr();
    let on_stack = at >= here && end_of_stack(here).is_some_and(|end| last < end);
    on_stack || heap::block_of(at as u64).is_some() && is_live(at, last)
}

/// How a page was found when the kernel was asked, which lies in the program itself or in a stack: as long as
/// the program does not act on pages it stays so.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Asked(usize);

static ASKED: Serial<[Asked; Asked::MOST]> = Serial::new([Asked(0); Asked::MOST]);

impl Asked {
    const MOST: usize = 64;
    /// In place of the address of a byte of the page.
    const WRITABLE: usize = 1;

    fn new(page: usize, writes: bool) -> Asked {
        Asked(page | if writes { Asked::WRITABLE } else { 0 })
    }

    fn place(page: usize) -> &'static mut Asked {
        // SAFETY: the running thread; the reference is not kept.
        unsafe { &mut ASKED.get()[page / os::PAGE % Asked::MOST] }
    }

    /// Is the page with this byte known to be there?
    fn knows(at: usize, writes: bool) -> bool {
        let page = at & !(os::PAGE - 1);
        let known = *Asked::place(page);
        !have_pages_changed()
            && (known == Asked::new(page, true) || known == Asked::new(page, writes))
    }

    /// The page with this byte is there.
    fn note(at: usize, writes: bool) {
        let page = at & !(os::PAGE - 1);
        if callers::is_program(page) || stack::slot_of(page as u64).is_some() {
            *Asked::place(page) = Asked::new(page, writes);
        }
    }
}

fn is_live(at: usize, last: usize) -> bool {
    heap::check_access(at as u64, (last - at) as u64 + 1).is_ok()
}

/// Where the stack with this address ends, if it is one that we know.
fn end_of_stack(here: usize) -> Option<usize> {
    unsafe extern "C" {
        /// Where the first thread's stack was when the program began.
        static __libc_stack_end: *const c_void;
    }
    match stack::slot_of(here as u64)? {
        // SAFETY: written before any code of ours runs.
        slot::MAIN => Some(unsafe { __libc_stack_end } as usize),
        _ => Some(here.next_multiple_of(stack::SPAN as usize)),
    }
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

    /// Is it not there? Nothing is asked of a null pointer, which often means something, nor of no bytes.
    pub fn is_gone(self) -> bool {
        /// Behind the highest address of programs.
        const END: usize = 1 << 47;
        const FIRST: usize = 4096;
        if self.at == 0 || self.len == 0 {
            return false;
        }
        let last = self.at.saturating_add(self.len - 1);
        if self.at < FIRST || last >= END {
            return true;
        }
        if is_known(self.at, last) {
            return false;
        }
        let ends = [self.at, last];
        // Of what is written all pages count, of what is read those at its ends.
        let pages = last / os::PAGE - self.at / os::PAGE + 1;
        if (pages <= 2 || !self.writes) && ends.iter().all(|&at| Asked::knows(at, self.writes)) {
            return false;
        }
        let is_there = match self.writes {
            true => is_writable(self.at, last),
            false => ends[..pages.min(2)]
                .iter()
                .all(|&at| os::try_read(at, &mut [0])),
        };
        if is_there {
            ends.iter().for_each(|&at| Asked::note(at, self.writes));
        }
        !is_there
    }

    /// Likewise; a null pointer means nothing else.
    pub fn is_missing(self) -> bool {
        self.at == 0 && self.len != 0 || self.is_gone()
    }
}

/// Copies a few bytes, a page at most, that may not be there; false: they are not.
pub fn try_read(from: usize, to: &mut [u8]) -> bool {
    let is_there = from != 0 && !Memory::read(from, to.len()).is_gone();
    if is_there {
        // SAFETY: both pages that they can lie in are there, and `to` is ours.
        unsafe { (from as *const u8).copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
    }
    is_there
}

/// Is this memory that the kernel cannot read?
pub fn is_gone<T>(from: *const T) -> bool {
    Memory::read(from as usize, size_of::<T>()).is_gone()
}

/// Likewise; a null pointer means nothing else.
pub fn is_missing<T>(from: *const T) -> bool {
    from.is_null() || is_gone(from)
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

/// Likewise; a null pointer means nothing else.
pub fn needed_at<T>(to: *mut T, made: impl FnOnce(*mut T) -> c_int) -> c_int {
    match (written_to(to, made), to.is_null()) {
        (0, true) => EFAULT,
        (code, _) => code,
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

impl<T: Copy> Argument<T> {
    /// Its bits.
    pub fn number(&self) -> usize {
        let mut bits = [0u8; size_of::<usize>()];
        let len = size_of::<T>().min(bits.len());
        let from = (&raw const self.0).cast::<u8>();
        // SAFETY: so many bytes of an argument, which has no others than those of its value.
        unsafe { bits.as_mut_ptr().copy_from_nonoverlapping(from, len) };
        usize::from_ne_bytes(bits)
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

/// What is to be known of a function's pointers besides their types.
#[derive(Clone, Copy)]
pub struct Known {
    /// The functions' names.
    names: &'static str,
    /// Of these what they write, and bytes that they read, are not asked about: they may wait, or do
    /// something else, before they find that it is not there.
    late: bool,
    /// They read what they write in the end, which is all that is asked about.
    read_first: bool,
    /// The arguments that must not be null.
    needed: &'static [usize],
    /// The argument that leads to an array, and the one with the number of its elements.
    array: Option<(usize, usize)>,
}

const PLAIN: Known = Known {
    names: "",
    late: false,
    read_first: false,
    needed: &[],
    array: None,
};

/// Functions that are not in here look at all their memory at once, which may be null.
const KNOWN: [Known; 10] = [
    Known {
        names: "read __read_chk write recv __recv_chk recvfrom send sendto mq_send mq_timedsend mq_receive \
                mq_timedreceive msgrcv wait waitpid wait3 wait4 waitid accept accept4 epoll_wait epoll_pwait \
                epoll_pwait2 eventfd_read mmap mmap64 splice prlimit prlimit64 mq_setattr",
        late: true,
        ..PLAIN
    },
    Known {
        names: "nanosleep",
        late: true,
        needed: &[0],
        ..PLAIN
    },
    Known {
        names: "clock_nanosleep",
        late: true,
        needed: &[2],
        ..PLAIN
    },
    Known {
        names: "recvmsg sendmsg",
        read_first: true,
        needed: &[1],
        ..PLAIN
    },
    Known {
        names: "recvmmsg sendmmsg",
        read_first: true,
        needed: &[1],
        array: Some((1, 2)),
        ..PLAIN
    },
    Known {
        names: "poll __poll_chk ppoll __ppoll_chk",
        read_first: true,
        needed: &[0],
        array: Some((0, 1)),
        ..PLAIN
    },
    Known {
        names: "readv writev preadv preadv64 preadv2 preadv64v2 pwritev2 pwritev64v2 semop semtimedop",
        read_first: true,
        needed: &[1],
        array: Some((1, 2)),
        ..PLAIN
    },
    Known {
        names: "select pselect",
        read_first: true,
        ..PLAIN
    },
    Known {
        names: "signalfd getrusage",
        needed: &[1],
        ..PLAIN
    },
    Known {
        names: "sysinfo",
        needed: &[0],
        ..PLAIN
    },
];

impl Known {
    /// Of the function with this name.
    pub const fn of(name: &str) -> Known {
        let mut i = 0;
        while i < KNOWN.len() {
            if has_word(KNOWN[i].names.as_bytes(), name.as_bytes()) {
                return KNOWN[i];
            }
            i += 1;
        }
        PLAIN
    }

    /// What the argument leads to, of a call with these arguments; `None`: nothing that is asked about.
    fn asked(&self, memory: Memory, argument: usize, arguments: &[usize]) -> Option<Memory> {
        let mut memory = memory;
        if self.late && (memory.writes || memory.len == 1) {
            return None;
        }
        if let Some((array, count)) = self.array
            && array == argument
        {
            // More than any program has: the kernel says what it thinks of that.
            const MOST: usize = 1 << 24;
            memory.len *= arguments[count].min(MOST);
        }
        memory.writes &= !self.read_first;
        Some(memory)
    }
}

/// Is this one of these words, which spaces separate?
const fn has_word(words: &[u8], word: &[u8]) -> bool {
    let mut from = 0;
    while from < words.len() {
        let mut len = 0;
        let mut same = true;
        while from + len < words.len() && words[from + len] != b' ' {
            same = same && len < word.len() && words[from + len] == word[len];
            len += 1;
        }
        if same && len == word.len() {
            return true;
        }
        from += len + 1;
    }
    false
}

/// Does a call of a function of which this is known find at once that memory is not there, if its
/// `arguments` lead to this?
pub fn any(known: &Known, memory: &[Option<Memory>], arguments: &[usize]) -> bool {
    (0..).zip(memory).any(|(argument, &memory)| {
        let asked = memory.and_then(|memory| known.asked(memory, argument, arguments));
        match asked {
            Some(asked) if asked.at == 0 => asked.len != 0 && known.needed.contains(&argument),
            Some(asked) => asked.is_gone(),
            None => false,
        }
    })
}

/// Can these bytes be written, the last one included?
fn is_writable(first: usize, last: usize) -> bool {
    const PAGE: usize = os::PAGE;
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
    /// 0: not known; 1: the kernel says; 2: it does not.
    static SAYS: Serial<u8> = Serial::new(0);
    // SAFETY: the running thread; the reference is not kept.
    let says = unsafe { SAYS.get() };
    if *says == 0 {
        let own = (&raw const first).addr();
        *says = if can(own, own) { 1 } else { 2 };
    }
    *says == 2 && [first, last].iter().all(|&at| os::try_read(at, &mut [0]))
}
