//! Ctrl-C and SIGTERM: the first one ends the search, the second one also what comes after it. A
//! limit of time ends the search alone.

use crate::error::{Error, Result};
use raddle_scheduler::StopFlag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What the signals set.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Set by the first signal, or when the time is up: executions under way end, and there are no
    /// further ones.
    pub search: StopFlag,
    /// Set by the first signal.
    asked: Arc<AtomicBool>,
    /// Set by the second signal: findings are reported as they stand.
    pub everything: StopFlag,
}

impl Interrupt {
    /// Flags that are set by SIGINT, SIGTERM and SIGHUP from now on.
    pub fn install() -> Result<Interrupt> {
        let flag = || StopFlag::new().map_err(|e| os_error("make a stop flag", &e));
        let interrupt = Interrupt {
            search: flag()?,
            asked: Arc::default(),
            everything: flag()?,
        };
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let flags = interrupt.clone();
            let count = AtomicU32::new(0);
            let handler = move || {
                flags.asked.store(true, Ordering::SeqCst);
                flags.search.set();
                if count.fetch_add(1, Ordering::SeqCst) > 0 {
                    flags.everything.set();
                }
            };
            // SAFETY: the handler makes atomic operations and `StopFlag::set`, which is documented
            // to be safe in a signal handler.
            unsafe { signal_hook::low_level::register(signal, handler) }
                .map_err(|e| os_error("catch signals", &e))?;
        }
        Ok(interrupt)
    }

    /// Has a signal stopped the search?
    pub fn requested(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Calls `work`, and stops the search if that takes longer than `limit` (`None`: for ever).
    pub fn within<T>(&self, limit: Option<Duration>, work: impl FnOnce() -> T) -> T {
        let Some(limit) = limit else { return work() };
        let (done, over) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    self.search.set();
                }
            });
            // Dropped when the work is done, or has panicked.
            let _done = done;
            work()
        })
    }
}

fn os_error(what: &str, error: &std::io::Error) -> Error {
    Error::fault(format!("cannot {what}: {error}"))
}
