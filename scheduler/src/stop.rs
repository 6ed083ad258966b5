//! A request to stop, from a signal handler or from another thread.

use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once, seen by every session that holds a clone: their executions are killed and
/// [`crate::Session::run`] returns [`crate::RunError::Stopped`].
#[derive(Clone, Debug)]
pub struct StopFlag(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    set: AtomicBool,
    /// Readable from the moment the flag is set; wakes every thread that polls.
    event: EventFd,
}

impl StopFlag {
    /// A flag that is not set. Fails when the process is out of descriptors.
    pub fn new() -> io::Result<StopFlag> {
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        let set = AtomicBool::new(false);
        Ok(StopFlag(Arc::new(Inner { set, event })))
    }

    /// Sets the flag. Safe in a signal handler: one store and one `write`; keeps `errno`.
    pub fn set(&self) {
        self.0.set.store(true, Ordering::SeqCst);
        let one = 1u64;
        // SAFETY: errno is this thread's own; the write reads the 8 bytes of `one`.
        unsafe {
            let errno = libc::__errno_location();
            let saved = *errno;
            libc::write(self.0.event.as_raw_fd(), (&raw const one).cast(), 8);
            *errno = saved;
        }
    }

    /// Has it been set?
    pub fn is_set(&self) -> bool {
        self.0.set.load(Ordering::SeqCst)
    }
}

impl AsFd for StopFlag {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.event.as_fd()
    }
}
