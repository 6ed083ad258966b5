//! What carries the target's threads (DESIGN §5): fibers on one kernel thread, or kernel threads
//! that hand a baton round. Lock, wait and join logic stands above and is the same on both.

mod descriptor;
mod fiber;
mod kernel;
mod pool;
mod stacks;
#[cfg(test)]
mod tests;

pub(crate) use fiber::{restore, save};
pub use stacks::slot_of_pthread;

use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use core::ffi::{c_int, c_void};
use libc::{pthread_attr_t, pthread_t};
use raddle_protocol::Slot;

mod real {
    use libc::{pthread_attr_t, pthread_t};
    crate::real! {
        fn pthread_create(
            thread: *mut pthread_t,
            attr: *const pthread_attr_t,
            routine: super::Entry,
            argument: *mut core::ffi::c_void,
        ) -> core::ffi::c_int;
    }
}

/// What a new thread executes, once it is the running thread.
pub type Body = extern "C-unwind" fn() -> *mut c_void;

/// A start routine as the C library calls it.
type Entry = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// What each new thread calls once it runs.
static BODY: Serial<Option<Body>> = Serial::new(None);

/// First code on a new thread, whose context is the argument: it waits until it is first switched
/// to, then runs [`BODY`]. One function for both substrates, so that what it calls has the same
/// addresses on its stack.
extern "C-unwind" fn entry(argument: *mut c_void) -> *mut c_void {
    let context = argument.cast::<Context>();
    if kernel_threads() {
        // SAFETY: contexts are mapped for ever.
        kernel::park(unsafe { &(*context).word });
    } else {
        // SAFETY: the context is the thread's own.
        unsafe { fiber::park(context) };
    }
    // SAFETY: set before the first thread was made.
    match unsafe { *BODY.get() } {
        Some(body) => body(),
        None => crate::os::die("raddle: a thread without a body", b""),
    }
}

/// How threads exist and control passes between them.
trait Substrate {
    /// Makes the thread of `s`, which will run the [`Body`] when it is first switched to.
    fn spawn(&mut self, s: Slot, attr: &Attributes) -> Result<pthread_t, c_int>;
    /// Leaves `from` and goes on in `to`; returns when somebody switches to `from`.
    fn switch(&mut self, from: Slot, to: Slot);
    /// Ends `me` and goes on in `to`.
    fn finish(&mut self, me: Slot, to: Slot) -> !;
}

/// What a program may ask for a thread.
#[derive(Clone, Copy)]
pub struct Attributes {
    /// The program's own, if it gave any.
    pub given: *const pthread_attr_t,
    /// Bytes.
    pub stack: usize,
    /// Bytes.
    pub guard: usize,
    /// The program provides the stack.
    pub user_stack: bool,
    /// Created detached.
    pub detached: bool,
    /// Nothing else but the sizes and the detachment is out of the ordinary.
    plain: bool,
}

impl Attributes {
    /// Decodes; null means the defaults.
    ///
    /// # Safety
    /// `attr` is null or initialised.
    pub unsafe fn read(attr: *const pthread_attr_t) -> Attributes {
        // SAFETY: the C library initialises and reads its own structure.
        unsafe {
            let mut defaults: pthread_attr_t = core::mem::zeroed();
            let readable = if attr.is_null() {
                pthread_getattr_default_np(&mut defaults);
                &raw const defaults
            } else {
                attr
            };
            let (mut low, mut size, mut guard) = (core::ptr::null_mut(), 0usize, 0usize);
            libc::pthread_attr_getstack(readable, &mut low, &mut size);
            // Without a stack of the user's own its top is 0.
            let user_stack = (low as usize).wrapping_add(size) != 0;
            libc::pthread_attr_getstacksize(readable, &mut size);
            libc::pthread_attr_getguardsize(readable, &mut guard);
            let mut detach = 0;
            pthread_attr_getdetachstate(readable, &mut detach);
            Attributes {
                given: attr,
                stack: size,
                guard,
                user_stack,
                detached: detach == libc::PTHREAD_CREATE_DETACHED,
                plain: !user_stack && is_plain(readable, size, guard, detach),
            }
        }
    }

    /// The defaults, but for the size of the stack.
    fn with_stack(stack: usize) -> Attributes {
        let given = core::ptr::null();
        // SAFETY: null.
        Attributes {
            stack,
            ..unsafe { Attributes::read(given) }
        }
    }
}

/// Is `attr` what initialisation and these settings give, byte for byte?
///
/// # Safety
/// `attr` is initialised.
unsafe fn is_plain(attr: *const pthread_attr_t, stack: usize, guard: usize, detach: c_int) -> bool {
    type Bytes = [u8; size_of::<pthread_attr_t>()];
    // SAFETY: the C library initialises its structure, whose first bytes it sets to zero.
    unsafe {
        let (mut own, mut copy): (pthread_attr_t, pthread_attr_t) = (core::mem::zeroed(), *attr);
        for attr in [&mut own, &mut copy] {
            libc::pthread_attr_setstacksize(attr, stack);
            libc::pthread_attr_setguardsize(attr, guard);
            libc::pthread_attr_setdetachstate(attr, detach);
        }
        let (own, copy) = (
            (&raw const own).cast::<Bytes>(),
            (&raw const copy).cast::<Bytes>(),
        );
        *own == *copy
    }
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: *const pthread_attr_t, state: *mut c_int) -> c_int;
    fn pthread_getattr_default_np(attr: *mut pthread_attr_t) -> c_int;
}

/// A thread that does not run.
#[repr(C)]
struct Context {
    /// Fibers: the stack pointer; callee-saved registers lie above it.
    rsp: u64,
    /// Fibers: base of the FS segment, which on x86-64 glibc is the `pthread_t`.
    fs: u64,
    /// Fibers: not 0 until the kernel thread that made it is gone. Baton: 1 when it may run.
    word: core::sync::atomic::AtomicU32,
    /// Fibers: bytes of the stack if it was made ahead of time, else 0.
    pooled: u64,
}

// SAFETY: integers.
unsafe impl Zero for Context {}

static CONTEXTS: Serial<PerSlot<Context>> = Serial::new(PerSlot::new());
static KERNEL_THREADS: Serial<bool> = Serial::new(false);

fn context(s: Slot) -> *mut Context {
    // SAFETY: a pointer only; each field's users are serialised or atomic.
    unsafe { CONTEXTS.get().at(s) }
}

/// Prepares for threads; `kernel`: one kernel thread each. To be called in the process that obeys
/// the job.
pub fn begin(kernel: bool) {
    // SAFETY: only one thread exists.
    unsafe { *KERNEL_THREADS.get() = kernel };
    if kernel {
        kernel::begin();
    } else {
        fiber::begin();
    }
}

/// Are threads kernel threads?
pub fn kernel_threads() -> bool {
    // SAFETY: as above.
    unsafe { *KERNEL_THREADS.get() }
}

/// Makes the thread of `s`; see [`Substrate::spawn`].
pub fn spawn(s: Slot, attr: &Attributes) -> Result<pthread_t, c_int> {
    if kernel_threads() {
        kernel::Baton.spawn(s, attr)
    } else {
        fiber::Fibers.spawn(s, attr)
    }
}

/// Goes on in `to`; see [`Substrate::switch`].
#[inline]
pub fn switch(from: Slot, to: Slot) {
    if kernel_threads() {
        kernel::Baton.switch(from, to);
    } else {
        fiber::Fibers.switch(from, to);
    }
}

/// The thread with this descriptor takes its last step. If its stack is the program's own, that may
/// put the memory to another use, so the C library must not know the descriptor any more.
pub fn ends(thread: pthread_t) {
    if stacks::slot_of_pthread(thread).is_none() {
        descriptor::unlink(thread);
    }
}

/// Gives back memory of `s`, a thread that has ended and been joined. A kernel thread may still be
/// on its way out on its stack, for an instant. What was made ahead of time is there anyway.
pub fn release(s: Slot, thread: pthread_t) {
    let own_stack = stacks::slot_of_pthread(thread) == Some(s);
    let made_ahead = pool::occupies(s);
    if own_stack && !made_ahead && (!kernel_threads() || descriptor::has_left(thread)) {
        stacks::release(s, thread);
    }
    if !own_stack && kernel_threads() {
        descriptor::has_left(thread);
    }
}

/// Ends `me`, goes on in `to`.
pub fn finish(me: Slot, to: Slot) -> ! {
    if kernel_threads() {
        kernel::Baton.finish(me, to)
    } else {
        fiber::Fibers.finish(me, to)
    }
}

/// To be called once before the process is cloned. Every thread will run `body`.
pub fn prepare(body: Body) {
    // SAFETY: only one thread exists.
    unsafe {
        descriptor::find();
        descriptor::find_robust_list();
        CONTEXTS.get().map();
        *BODY.get() = Some(body);
    }
}

/// To be called once in a process that will be cloned for each execution.
pub fn begin_zygote() {
    pool::begin();
}

/// To be called in that process before each clone: makes threads ahead of time.
pub fn before_clone() {
    pool::fill();
}

/// Puts right what a raw clone leaves wrong: the C library's idea of the thread's id.
pub fn after_clone() {
    // SAFETY: only one thread exists.
    descriptor::set_thread_id(unsafe { libc::pthread_self() }, crate::os::thread_id());
}

pub use descriptor::robust_list;

/// Calls `ask`, which queries the C library about `thread`, as if `id` were the number of the
/// thread's kernel thread.
pub fn asking<R>(thread: pthread_t, id: libc::pid_t, ask: impl FnOnce() -> R) -> R {
    if kernel_threads() {
        return ask();
    }
    let former = descriptor::set_thread_id(thread, id);
    let result = ask();
    if let Some(former) = former {
        descriptor::set_thread_id(thread, former);
    }
    result
}
