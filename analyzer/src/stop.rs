//! A request to stop, which every loop that may be long looks at.
//!
//! What is asked to stop unwinds to where it was called under the request, as rust-analyzer gives up
//! queries whose inputs have changed (salsa's `Cancelled`). So nothing on the way has to hand the
//! request on, or knows of it but for a [`point`] in each loop. What was being changed is half done
//! then, and not to be used on.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Says why what is under way is to stop; `None`: it is not. Asked from any thread.
pub type Asked = dyn Fn() -> Option<&'static str> + Send + Sync;

/// What is thrown.
struct Stopped;

thread_local! {
    static ASKED: RefCell<Option<Arc<Asked>>> = const { RefCell::new(None) };
    /// Points that are passed before it is asked again.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    /// How many that were the last time, and when that was.
    static PACE: Cell<(u32, Option<Instant>)> = const { Cell::new((0, None)) };
}

/// It is asked at one point in so many at the least …
const SELDOM: u32 = 256;
/// … and more often where so many take longer than this.
const LONG: Duration = Duration::from_millis(10);

/// Puts back what was asked before.
struct Before(Option<Arc<Asked>>);

impl Drop for Before {
    fn drop(&mut self) {
        ASKED.set(self.0.take());
    }
}

/// Calls `work`, which comes to nothing (`None`) if `asked` has a reason at a [`point`] in it.
pub fn unless<T>(asked: &Arc<Asked>, work: impl FnOnce() -> T) -> Option<T> {
    let _before = Before(ASKED.replace(Some(asked.clone())));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(thrown) if thrown.is::<Stopped>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// What the calling thread is to ask, for a thread that does a part of its work, by [`under`].
pub fn current() -> Option<Arc<Asked>> {
    ASKED.with_borrow(Option::clone)
}

/// Calls `work`, which is a part of what another thread does. If it is stopped, that is to be thrown
/// on there: [`std::thread::JoinHandle::join`] gives it.
pub fn under<T>(asked: Option<Arc<Asked>>, work: impl FnOnce() -> T) -> T {
    let _before = Before(ASKED.replace(asked));
    work()
}

/// A place in a loop that may be long.
#[inline]
pub fn point() {
    let left = LEFT.get();
    LEFT.set(left.wrapping_sub(1));
    if left == 0 {
        LEFT.set(pace());
        ask();
    }
}

/// How many points to pass from here: twice as many as the last time, or, if those took long, as few
/// as would not have.
fn pace() -> u32 {
    let (last, then) = PACE.get();
    let now = Instant::now();
    let took = then.map_or(Duration::ZERO, |then| now.duration_since(then));
    let next = match took > LONG {
        true => (f64::from(last) * LONG.as_secs_f64() / took.as_secs_f64()) as u32,
        false => (last.saturating_mul(2) + 1).min(SELDOM),
    };
    PACE.set((next, Some(now)));
    next
}

#[cold]
fn ask() {
    let asked = ASKED.with_borrow(|asked| asked.as_ref().is_some_and(|asked| asked().is_some()));
    if asked {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn work_is_given_up_at_a_point_in_any_thread() {
        let flag = Arc::new(AtomicBool::new(false));
        let read = flag.clone();
        let asked: Arc<Asked> = Arc::new(move || read.load(Ordering::SeqCst).then_some("asked"));
        let points = |n: u32| (0..n).for_each(|_| point());
        assert_eq!(unless(&asked, || points(10_000)), Some(()));
        flag.store(true, Ordering::SeqCst);
        assert_eq!(unless(&asked, || points(10_000)), None);
        let in_thread = unless(&asked, || {
            let asked = current();
            let part = || under(asked, || points(10_000));
            std::thread::scope(|scope| {
                if let Err(thrown) = scope.spawn(part).join() {
                    resume_unwind(thrown);
                }
            });
        });
        assert_eq!(in_thread, None);
        points(10_000);
    }

    #[test]
    fn slow_rounds_are_asked_more_often() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let asked: Arc<Asked> = Arc::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            None
        });
        let times = |rounds: usize, each: Duration| {
            count.store(0, Ordering::SeqCst);
            unless(&asked, || {
                for _ in 0..rounds {
                    std::thread::sleep(each);
                    point();
                }
            });
            count.load(Ordering::SeqCst)
        };
        let quick = times(100_000, Duration::ZERO);
        assert!(quick >= 100_000 / (SELDOM as usize + 1), "{quick}");
        // The first of these may still be passed at the old pace, and some of the next.
        times(2 * SELDOM as usize, LONG / 10);
        assert!(times(40, LONG * 2) >= 20);
    }
}
