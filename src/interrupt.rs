//! Ctrl-C, SIGTERM and the limit of time: they end the search at once, and after a short grace, or
//! at the second signal, what comes after it. What was found is told in any case, as it stands then.

use crate::error::{Error, Result};
use crate::exit::Exit;
use raddle_analyzer::stop::Asked;
use raddle_scheduler::StopFlag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What the signals set.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Set by the first signal, or when the time is up: executions under way end, and there are no
    /// further ones.
    pub search: StopFlag,
    /// Set by the first signal.
    asked: Arc<AtomicBool>,
    /// Set by the second signal, or when the search has been over for [`GRACE`]: what is being
    /// looked into is told as it stands.
    pub everything: StopFlag,
}

/// So long after the end of the search, executions that look into what was found may go on.
const GRACE: Duration = Duration::from_millis(1000);
/// How often it is looked whether the time is up.
const LOOK: Duration = Duration::from_millis(20);

/// Has a signal come that [`Interrupt::install`] took?
static CAME: AtomicBool = AtomicBool::new(false);

/// Has a signal asked this command to end? For what waits where no [`Interrupt`] is at hand.
pub fn came() -> bool {
    CAME.load(Ordering::SeqCst)
}

/// Has the limit of time of [`Interrupt::within`] been reached?
static LATE: AtomicBool = AtomicBool::new(false);

/// Is the time up that this command was given? For what waits where no [`Interrupt`] is at hand.
pub fn late() -> bool {
    LATE.load(Ordering::SeqCst)
}

/// The signals that ask a command to end.
const ASKING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

extern "C" fn end(_: libc::c_int) {
    // SAFETY: ends the process, and may be called in a handler.
    unsafe { libc::_exit(Exit::Interrupted.code().into()) };
}

/// What a signal does, as the kernel knows it.
fn action(signal: libc::c_int) -> libc::sighandler_t {
    // SAFETY: only asks; zeros are a value of the structure.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut now);
        now.sa_sigaction
    }
}

/// Those of [`ASKING`] that are taken: whoever starts a command with SIGHUP ignored (`nohup`) wants
/// it to outlive a hangup.
fn asking() -> impl Iterator<Item = libc::c_int> {
    let outlived =
        |signal: &libc::c_int| *signal == libc::SIGHUP && action(*signal) == libc::SIG_IGN;
    ASKING.into_iter().filter(move |signal| !outlived(signal))
}

/// Until anybody else takes them, the signals that ask a command to end do so with the exit code for
/// that.
pub fn end_at_signals() {
    for signal in asking() {
        let end = end as extern "C" fn(libc::c_int);
        // SAFETY: the function may run at any time.
        unsafe { libc::signal(signal, end as libc::sighandler_t) };
    }
}

/// Calls `take` for each signal that asks a command to end, to install another handler. A signal that
/// comes meanwhile comes after that.
pub fn take_signals<T>(take: impl Fn(libc::c_int) -> io::Result<T>) -> io::Result<Vec<T>> {
    let end = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: zeros are a value of the structures; the calls read and write them alone.
    unsafe {
        let mut held: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut held);
        for signal in ASKING {
            libc::sigaddset(&mut held, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &held, &mut before);
        let taken = asking().map(|signal| {
            // The handlers call the one that they find.
            if action(signal) == end {
                libc::signal(signal, libc::SIG_DFL);
            }
            take(signal)
        });
        let taken = taken.collect();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        taken
    }
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
        let take = |signal| {
            let flags = interrupt.clone();
            let count = AtomicU32::new(0);
            let handler = move || {
                CAME.store(true, Ordering::SeqCst);
                flags.asked.store(true, Ordering::SeqCst);
                flags.search.set();
                if count.fetch_add(1, Ordering::SeqCst) > 0 {
                    flags.everything.set();
                }
            };
            // SAFETY: the handler makes atomic operations and `StopFlag::set`, which is documented
            // to be safe in a signal handler.
            unsafe { signal_hook::low_level::register(signal, handler) }
        };
        take_signals(take).map_err(|e| os_error("catch signals", &e))?;
        Ok(interrupt)
    }

    /// Has a signal stopped the search?
    pub fn requested(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Was the search stopped, by a signal or by the limit of time?
    pub fn stopped(&self) -> bool {
        self.search.is_set()
    }

    /// Was it stopped by the limit of time?
    pub fn late(&self) -> bool {
        self.stopped() && !self.requested()
    }

    /// Why the search is to stop, for loops of the analyzer.
    pub fn asked_of_search(&self) -> Arc<Asked> {
        let interrupt = self.clone();
        Arc::new(move || match interrupt.stopped() {
            true if interrupt.late() => Some("the time was limited"),
            true => Some("it was interrupted"),
            false => None,
        })
    }

    /// Why what looks into findings is to stop, likewise.
    pub fn asked_of_all(&self) -> Arc<Asked> {
        let everything = self.everything.clone();
        Arc::new(move || everything.is_set().then_some("the time was limited"))
    }

    /// Calls `work`, and stops the search if that takes longer than `limit` (`None`: for ever), and
    /// all else when the grace after the end of the search, whatever ended it, is over.
    pub fn within<T>(&self, limit: Option<Duration>, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let (done, over) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut stopped: Option<Instant> = None;
                while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    if limit.is_some_and(|limit| started.elapsed() >= limit) {
                        LATE.store(true, Ordering::SeqCst);
                        self.search.set();
                    }
                    if self.stopped() {
                        let since = stopped.get_or_insert_with(Instant::now);
                        if since.elapsed() >= GRACE {
                            self.everything.set();
                        }
                    }
                }
            });
            // Dropped when the work is done, or has panicked.
            let _done = done;
            work()
        })
    }
}

fn os_error(what: &str, error: &std::io::Error) -> Error {
    Error::operation(format!("cannot {what}: {error}"), error)
}
