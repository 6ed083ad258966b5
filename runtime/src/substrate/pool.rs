//! Threads made ahead of time, in the zygote: their memory survives the clone, and memory is all
//! that a fiber needs. Making a thread costs the kernel much more than running a short test, so
//! the zygote learns from each execution which threads the program makes.

use super::{Attributes, context, fiber};
use crate::os;
use crate::serial::Serial;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use raddle_protocol::{Slot, slot};

/// Most threads that are made ahead of time.
const MOST: usize = 256;

/// What executions tell the zygote; shared by all of them. A program may scribble over it.
struct Wanted {
    len: AtomicU32,
    /// A slot in the low 16 bits, the stack's size in pages above.
    threads: [AtomicU64; MOST],
}

static WANTED: Serial<Option<&'static Wanted>> = Serial::new(None);

fn wanted() -> Option<&'static Wanted> {
    // SAFETY: written once, before there are threads.
    unsafe { *WANTED.get() }
}

/// To be called in the zygote, once.
pub fn begin() {
    let page = os::map_shared_memory(size_of::<Wanted>());
    // SAFETY: zeroed memory is an empty list; only one thread exists.
    unsafe { *WANTED.get() = Some(&*page.cast::<Wanted>()) };
}

/// The thread of `s` had to be made from nothing: the zygote shall have it ready next time.
pub fn want(s: Slot, attr: &Attributes) {
    let Some(wanted) = wanted() else { return };
    let index = wanted.len.load(Ordering::Relaxed) as usize;
    if attr.plain && index < MOST {
        let pages = (attr.stack / os::PAGE) as u64;
        wanted.threads[index].store(pages << 16 | u64::from(s), Ordering::Relaxed);
        wanted.len.store(index as u32 + 1, Ordering::Relaxed);
    }
}

/// Makes what the last execution wanted. To be called in the zygote.
pub fn fill() {
    let Some(wanted) = wanted() else { return };
    let len = (wanted.len.swap(0, Ordering::Relaxed) as usize).min(MOST);
    let alone = single_threaded();
    for thread in &wanted.threads[..len] {
        let thread = thread.load(Ordering::Relaxed);
        let (s, pages) = (thread as u16, (thread >> 16) as usize);
        // SAFETY: the zygote alone uses the counter.
        let made = unsafe { MADE.get() };
        let known = usize::from(s) < slot::COUNT && s != slot::MAIN;
        if !known || pages > super::stacks::MOST_PAGES || *made == MOST {
            continue;
        }
        let attributes = Attributes::with_stack(pages * os::PAGE);
        // SAFETY: the context is ours.
        let pooled = unsafe { &mut (*context(s)).pooled };
        if *pooled == 0 && crate::gate::as_thread(s, || fiber::create(s, &attributes)).is_ok() {
            *pooled = attributes.stack as u64;
            *made += 1;
        }
    }
    set_single_threaded(alone);
}

unsafe extern "C" {
    /// glibc tells libraries by this whether there has ever been a second thread.
    static mut __libc_single_threaded: core::ffi::c_char;
}

fn single_threaded() -> bool {
    // SAFETY: a plain byte that the C library defines.
    unsafe { __libc_single_threaded != 0 }
}

/// The program shall not notice whether its threads were made ahead of time.
fn set_single_threaded(alone: bool) {
    // SAFETY: as above; written by the running thread only.
    unsafe { __libc_single_threaded = core::ffi::c_char::from(alone) };
}

static MADE: Serial<usize> = Serial::new(0);

/// Takes the thread of `s`, if it was made ahead of time just as the program wants it.
pub fn take(s: Slot, attr: &Attributes) -> bool {
    // SAFETY: serialised.
    let pooled = unsafe { (*context(s)).pooled };
    let fits = pooled != 0 && attr.plain && attr.stack as u64 == pooled;
    if fits {
        set_single_threaded(false);
    }
    fits
}

/// Does something that was made ahead of time lie where the stack of `s` belongs?
pub fn occupies(s: Slot) -> bool {
    // SAFETY: serialised.
    unsafe { (*context(s)).pooled != 0 }
}
