//! Ctrl-C and SIGTERM: the first one ends the search, the second one also what comes after it.

use crate::error::{Error, Result};
use raddle_scheduler::StopFlag;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the signals set.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Set by the first signal: no further executions.
    pub search: StopFlag,
    /// Set by the second signal: findings are reported as they stand.
    pub everything: StopFlag,
}

impl Interrupt {
    /// Flags that are set by SIGINT, SIGTERM and SIGHUP from now on.
    pub fn install() -> Result<Interrupt> {
        let flag = || StopFlag::new().map_err(|e| os_error("make a stop flag", &e));
        let interrupt = Interrupt {
            search: flag()?,
            everything: flag()?,
        };
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let flags = interrupt.clone();
            let count = AtomicU32::new(0);
            let handler = move || {
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

    /// Has the search been stopped?
    pub fn requested(&self) -> bool {
        self.search.is_set()
    }
}

fn os_error(what: &str, error: &std::io::Error) -> Error {
    Error::fault(format!("cannot {what}: {error}"))
}
