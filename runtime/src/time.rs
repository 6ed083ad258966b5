//! Virtual time: clocks, sleeps, deadlines.
//!
//! Virtual nanoseconds since the start ([`gate::now`]) move when the policy chooses a thread whose
//! time is what it waits for, and by a microsecond when a thread looks at a clock that shows what it
//! showed that thread last: what a thread sees always grows, and loops that poll a clock come to an
//! end. All other looks leave the clock as it is, so their order is all the same.

use crate::foreign::sanitizers;
use crate::gate::{self, Fatal, Interrupt, Pending, Wake, timed};
use crate::gone::{needed_at, written_to};
use crate::numbers::calls::is_clock_of_nobody;
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use crate::{intercept, sync};
use core::ffi::{c_int, c_long, c_uint, c_void};
use libc::{
    CLOCK_BOOTTIME, CLOCK_BOOTTIME_ALARM, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE,
    CLOCK_MONOTONIC_RAW, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME, CLOCK_REALTIME_ALARM,
    CLOCK_REALTIME_COARSE, CLOCK_TAI, CLOCK_THREAD_CPUTIME_ID, EINTR, EINVAL, TIMER_ABSTIME,
    clock_t, clockid_t, time_t, timespec, timeval,
};
use raddle_protocol::conflict::{kept, look};
use raddle_protocol::event::Kind;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::{flags, given};

const SECOND: u64 = 1_000_000_000;
/// How far a look at a clock moves it.
const LOOK: u64 = 1_000;
/// What the monotonic clocks show at the start: a machine that is up for a while, so that
/// programs may subtract from it.
const MONOTONIC_BASE: u64 = 100_000 * SECOND;
/// TAI is ahead of UTC.
const LEAP: u64 = 37 * SECOND;

/// A family of clocks that show the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Since 1970.
    Wall,
    /// Atomic time since 1970.
    Atomic,
    /// Since some moment before the start.
    Monotonic,
    /// Processor time; all of it counts for whoever asks. None is used while all wait.
    Processor,
}

impl Clock {
    /// The clock that the C library calls `id`.
    pub fn of(id: clockid_t) -> Option<Clock> {
        match id {
            CLOCK_REALTIME | CLOCK_REALTIME_COARSE | CLOCK_REALTIME_ALARM => Some(Clock::Wall),
            CLOCK_TAI => Some(Clock::Atomic),
            CLOCK_MONOTONIC
            | CLOCK_MONOTONIC_RAW
            | CLOCK_MONOTONIC_COARSE
            | CLOCK_BOOTTIME
            | CLOCK_BOOTTIME_ALARM => Some(Clock::Monotonic),
            CLOCK_PROCESS_CPUTIME_ID | CLOCK_THREAD_CPUTIME_ID => Some(Clock::Processor),
            // Processor clocks of other processes and threads.
            id if id < 0 => Some(Clock::Processor),
            _ => None,
        }
    }

    /// One of the two clocks that timed waits accept.
    pub fn for_waiting(id: clockid_t) -> Option<Clock> {
        match id {
            CLOCK_REALTIME => Some(Clock::Wall),
            CLOCK_MONOTONIC => Some(Clock::Monotonic),
            _ => None,
        }
    }

    /// What it shows when no virtual time has passed, in nanoseconds.
    fn base(self, wall: u64) -> u64 {
        match self {
            Clock::Wall => wall,
            Clock::Atomic => wall + LEAP,
            Clock::Monotonic => MONOTONIC_BASE,
            Clock::Processor => 0,
        }
    }
}

/// The job's wall clock at the start, in nanoseconds since 1970.
static WALL: Serial<u64> = Serial::new(0);

/// Called once in the process that obeys a job, before the program's first code.
pub fn begin(clock_base: u64) {
    // SAFETY: the running thread.
    unsafe { *WALL.get() = clock_base };
}

fn wall() -> u64 {
    // SAFETY: the running thread.
    unsafe { *WALL.get() }
}

/// A duration or a moment in nanoseconds; `None`: the nanoseconds are out of range. What lies
/// before the epoch counts as the epoch.
pub fn nanoseconds(t: &timespec) -> Option<u64> {
    if !(0..SECOND as c_long).contains(&t.tv_nsec) {
        return None;
    }
    let seconds = u64::try_from(t.tv_sec).unwrap_or(0);
    let rest = if t.tv_sec < 0 { 0 } else { t.tv_nsec as u64 };
    Some(seconds.saturating_mul(SECOND).saturating_add(rest))
}

/// A duration or a moment as the C library has it.
pub fn timespec_of(ns: u64) -> timespec {
    timespec {
        tv_sec: (ns / SECOND) as time_t,
        tv_nsec: (ns % SECOND) as c_long,
    }
}

/// A moment of virtual time as [`Pending::deadline`] has it: never 0, which means none.
fn moment(clock: Clock, shown: u64, wall: u64) -> u64 {
    shown.saturating_sub(clock.base(wall)).max(1)
}

/// The deadline for a wait until `clock` shows `at`; `None`: the time is invalid.
pub fn deadline(clock: Clock, at: &timespec) -> Option<u64> {
    let moment = moment(clock, nanoseconds(at)?, wall());
    Some(match clock {
        Clock::Processor => moment.saturating_add(timed::idle()),
        _ => moment,
    })
}

/// The deadline for a wait of so many nanoseconds, which begins now. Where schedules are explored that
/// is a step of its own: what moves the clock may come before it or after it, though the wait itself
/// comes later.
pub fn deadline_in(ns: u64) -> u64 {
    gate::ask(kept::CLOCK, false, 0);
    if gate::flags() & flags::EXHAUSTIVE != 0 {
        gate::log(Kind::ClockRead, 0, look::BEGINS, 0);
    }
    gate::now().saturating_add(ns).max(1)
}

/// The deadline for a wait of the duration `t`; `None`: the duration is invalid.
pub fn deadline_after(t: &timespec) -> Option<u64> {
    if t.tv_sec < 0 {
        return None;
    }
    Some(deadline_in(nanoseconds(t)?))
}

/// What the wall clock showed at the start, in nanoseconds since 1970.
pub fn wall_base() -> u64 {
    wall()
}

/// What the processor's time stamp counter shows: as if it counted nanoseconds.
pub fn stamp() -> u64 {
    look(Clock::Monotonic)
}

/// By thread and clock: the moment of the last look, and 1; 0: there was none.
static LAST_LOOKS: Serial<PerSlot<Looks>> = Serial::new(PerSlot::new());

struct Looks([u64; 4]);

// SAFETY: numbers.
unsafe impl Zero for Looks {}

/// Notes that the running thread looks at a clock, which moves it on if need be; the value of the
/// record.
fn note_look(clock: Clock) -> u64 {
    // SAFETY: the running thread; not kept over a switch.
    let last = unsafe {
        let all = LAST_LOOKS.get();
        all.map();
        &mut all[gate::me()].0[clock as usize]
    };
    let value = match *last {
        0 => look::FIRST,
        then if then == gate::now() + 1 => look::MOVED,
        _ => look::LATER,
    };
    if value == look::MOVED {
        gate::advance_to(gate::now() + LOOK);
    }
    *last = gate::now() + 1;
    value
}

/// [`gate::now`], where what the running thread has just done tells the program of it.
pub fn told() -> u64 {
    gate::gives(given::CLOCK);
    if gate::asking::explores() {
        gate::log(Kind::ClockRead, 0, look::FIRST, 0);
    }
    gate::now()
}

/// What a clock shows now.
fn shown(clock: Clock) -> u64 {
    let idle = match clock {
        Clock::Processor => timed::idle(),
        _ => 0,
    };
    clock.base(wall()) + gate::now().saturating_sub(idle)
}

/// Looks at a clock.
fn look(clock: Clock) -> u64 {
    // That is no place to switch, and nothing that the program learns.
    if sanitizers::reads_clock() {
        return shown(clock);
    }
    gate::ask(kept::CLOCK, false, 0);
    gate::gives(given::CLOCK);
    let value = note_look(clock);
    if gate::asking::explores() {
        gate::log(Kind::ClockRead, 0, value, 0);
    }
    shown(clock)
}

/// Sleeps until the virtual moment `deadline`. A cancellation point. What is left, in nanoseconds,
/// when the handler of a signal ended it.
pub fn sleep_until(deadline: u64, pc: usize) -> Option<u64> {
    let wake = gate::point(Pending {
        deadline,
        cancellable: true,
        interrupt: Interrupt::Always,
        ..sync::pending(Kind::Sleep, 0, pc)
    });
    gate::log(Kind::Sleep, 0, gate::now(), pc);
    if wake == Wake::Cancelled {
        crate::threads::cancel_now();
    }
    (wake == Wake::Interrupted).then(|| deadline.saturating_sub(told()))
}

/// Lets others go first.
pub fn yield_now(pc: usize) -> c_int {
    gate::simple(Kind::Yield, 0, pc);
    gate::log(Kind::Yield, 0, 0, pc);
    0
}

/// `clock_gettime` as a system call returns it: 0 or a negative errno.
///
/// # Safety
/// `into` is writable.
pub unsafe fn get(id: clockid_t, into: *mut timespec) -> c_int {
    let Some(clock) = Clock::of(id).filter(|_| !is_clock_of_nobody(id)) else {
        return -EINVAL;
    };
    let told = |into: *mut timespec| {
        let now = timespec_of(look(clock));
        // SAFETY: the caller's promise.
        if let Some(into) = unsafe { into.as_mut() } {
            *into = now;
        }
        0
    };
    if clock == Clock::Processor {
        // The library leaves these to the kernel.
        return -needed_at(into, told);
    }
    // SAFETY: the caller's promise; as the kernel's object, which finds nothing out.
    unsafe { into.write_volatile(timespec_of(look(clock))) };
    0
}

/// Sleeps as `clock_nanosleep`: 0 or an errno.
///
/// # Safety
/// `request` is readable, `rest` null or writable.
pub unsafe fn sleep_by(
    id: clockid_t,
    flags: c_int,
    request: *const timespec,
    rest: *mut timespec,
    pc: usize,
) -> c_int {
    let Some(clock) = Clock::of(id).filter(|_| id != CLOCK_THREAD_CPUTIME_ID) else {
        return EINVAL;
    };
    // SAFETY: the caller's promise.
    let request = unsafe { &*request };
    let until = if flags & TIMER_ABSTIME != 0 {
        deadline(clock, request)
    } else {
        deadline_after(request)
    };
    let Some(until) = until else { return EINVAL };
    let Some(left) = sleep_until(until, pc) else {
        return 0;
    };
    // SAFETY: the caller's promise.
    if let Some(rest) = unsafe { rest.as_mut() }
        && flags & TIMER_ABSTIME == 0
    {
        *rest = timespec_of(left);
    }
    EINTR
}

/// Turns an errno into the -1 of most functions.
pub fn errno_result(code: c_int) -> c_int {
    if code == 0 {
        return 0;
    }
    // SAFETY: the calling thread's own errno.
    unsafe { *libc::__errno_location() = code };
    -1
}

intercept! {
    kernel;
    fn sched_yield() -> c_int, pc => yield_now(pc);
    fn pthread_yield() -> c_int, pc => yield_now(pc);
    fn sleep(seconds: c_uint) -> c_uint, pc => {
        let left = sleep_until(deadline_in(u64::from(seconds) * SECOND), pc);
        left.map_or(0, |ns| ns.div_ceil(SECOND) as c_uint)
    };
    fn usleep(microseconds: c_uint) -> c_int, pc => {
        let left = sleep_until(deadline_in(u64::from(microseconds) * 1_000), pc);
        errno_result(if left.is_some() { EINTR } else { 0 })
    };
    fn nanosleep(request: *const timespec, rest: *mut timespec) -> c_int, pc => {
        errno_result(sleep_by(CLOCK_REALTIME, 0, request, rest, pc))
    };
    fn clock_nanosleep(id: clockid_t, flags: c_int, request: *const timespec, rest: *mut timespec) -> c_int,
        pc => sleep_by(id, flags, request, rest, pc);
    fn clock_gettime(id: clockid_t, into: *mut timespec) -> c_int, pc => errno_result(-get(id, into));
    fn clock_settime(id: clockid_t, to: *const timespec) -> c_int, pc => refuse("clock_settime", pc);
    fn settimeofday(to: *const timeval, zone: *const c_void) -> c_int, pc => refuse("settimeofday", pc);
    fn adjtime(by: *const timeval, old: *mut timeval) -> c_int, pc => match by.is_null() {
        true => real::adjtime(by, old),
        false => refuse("adjtime", pc),
    };
    fn clock_adjtime(id: clockid_t, change: *mut c_void) -> c_int, pc => refuse("clock_adjtime", pc);
    /// There is one processor, whatever carries the threads.
    fn sched_getcpu() -> c_int, pc => 0;
    fn getcpu(processor: *mut c_uint, node: *mut c_uint) -> c_int, pc => {
        for into in [processor, node] {
            if let Some(into) = into.as_mut() {
                *into = 0;
            }
        }
        0
    };
    fn clock_getres(id: clockid_t, into: *mut timespec) -> c_int, pc => resolution(id, into);
    fn gettimeofday(into: *mut timeval, zone: *mut c_void) -> c_int, pc => {
        time_of_day(into);
        // As the C library has it, which knows of no zone here.
        if !zone.is_null() {
            zone.cast::<[c_int; 2]>().write([0; 2]);
        }
        0
    };
    fn time(into: *mut time_t) -> time_t, pc => seconds(into);
    fn clock() -> clock_t, pc => (look(Clock::Processor) / 1_000) as clock_t;
    fn times(into: *mut libc::tms) -> clock_t, pc => ticks(into);
    fn timespec_get(into: *mut timespec, base: c_int) -> c_int, pc => c11_time(into, base);
}

/// The execution ends: time is virtual, and the machine's own clock is not the program's to set
/// while it is tested.
fn refuse(call: &str, pc: usize) -> ! {
    gate::finish(Fatal {
        end: End::Unsupported,
        code: 0,
        message: format_args!("{call} would change the clock of the machine"),
        detail: [0; 4],
        pc,
        stack: true,
    })
}

/// `clock_getres`: all clocks count nanoseconds.
///
/// # Safety
/// `into` is null or writable.
unsafe fn resolution(id: clockid_t, into: *mut timespec) -> c_int {
    if Clock::of(id).is_none() {
        return errno_result(EINVAL);
    }
    errno_result(written_to(into, |into| {
        // SAFETY: the caller's promise.
        if let Some(into) = unsafe { into.as_mut() } {
            *into = timespec_of(1);
        }
        0
    }))
}

/// `gettimeofday`.
///
/// # Safety
/// `into` is null or writable.
pub unsafe fn time_of_day(into: *mut timeval) {
    let now = look(Clock::Wall);
    // SAFETY: the caller's promise.
    if let Some(into) = unsafe { into.as_mut() } {
        *into = timeval_of(now);
    }
}

/// `time`.
///
/// # Safety
/// `into` is null or writable.
pub unsafe fn seconds(into: *mut time_t) -> time_t {
    let now = (look(Clock::Wall) / SECOND) as time_t;
    // SAFETY: the caller's promise.
    if let Some(into) = unsafe { into.as_mut() } {
        *into = now;
    }
    now
}

/// A duration or a moment in microseconds.
pub fn timeval_of(ns: u64) -> timeval {
    timeval {
        tv_sec: (ns / SECOND) as time_t,
        tv_usec: (ns % SECOND / 1_000) as libc::suseconds_t,
    }
}

/// Processor time, by a look at its clock.
pub fn processor_time() -> timeval {
    timeval_of(look(Clock::Processor))
}

/// For how many seconds the machine has been up, by a look at its clock.
pub fn uptime() -> c_long {
    (look(Clock::Monotonic) / SECOND) as c_long
}

/// `times`, in hundredths of a second: all processor time is this process's own, in user mode.
///
/// # Safety
/// `into` is null or writable.
pub unsafe fn ticks(into: *mut libc::tms) -> clock_t {
    const TICK: u64 = SECOND / 100;
    let now = look(Clock::Processor);
    // SAFETY: the caller's promise.
    if let Some(into) = unsafe { into.as_mut() } {
        into.tms_utime = (now / TICK) as clock_t;
        into.tms_stime = 0;
        into.tms_cutime = 0;
        into.tms_cstime = 0;
    }
    (shown(Clock::Monotonic) / TICK) as clock_t
}

/// C11's `timespec_get`: the base, or 0 for one that is not known.
///
/// # Safety
/// `into` is writable.
unsafe fn c11_time(into: *mut timespec, base: c_int) -> c_int {
    const TIME_UTC: c_int = 1;
    if base != TIME_UTC {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { into.write(timespec_of(look(Clock::Wall))) };
    base
}

/// A duration in nanoseconds.
pub fn microseconds(t: &timeval) -> u64 {
    let whole = u64::try_from(t.tv_sec).unwrap_or(0).saturating_mul(SECOND);
    whole.saturating_add(u64::try_from(t.tv_usec).unwrap_or(0).saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALL: u64 = 1_700_000_000 * SECOND;

    fn at(tv_sec: time_t, tv_nsec: c_long) -> timespec {
        timespec { tv_sec, tv_nsec }
    }

    #[test]
    fn times_are_read_as_posix_says() {
        for (t, expected) in [
            (at(0, 0), Some(0)),
            (at(1, 5), Some(SECOND + 5)),
            (at(0, 999_999_999), Some(SECOND - 1)),
            (at(0, 1_000_000_000), None),
            (at(0, -1), None),
            (at(-3, 7), Some(0)),
            (at(time_t::MAX, 0), Some(u64::MAX)),
        ] {
            assert_eq!(nanoseconds(&t), expected, "{} {}", t.tv_sec, t.tv_nsec);
        }
    }

    #[test]
    fn clocks_and_their_bases() {
        for (id, clock) in [
            (CLOCK_REALTIME, Some(Clock::Wall)),
            (CLOCK_REALTIME_COARSE, Some(Clock::Wall)),
            (CLOCK_TAI, Some(Clock::Atomic)),
            (CLOCK_MONOTONIC, Some(Clock::Monotonic)),
            (CLOCK_BOOTTIME, Some(Clock::Monotonic)),
            (CLOCK_THREAD_CPUTIME_ID, Some(Clock::Processor)),
            (-6, Some(Clock::Processor)),
            (77, None),
        ] {
            assert_eq!(Clock::of(id), clock, "{id}");
        }
        for (id, clock) in [
            (CLOCK_REALTIME, Some(Clock::Wall)),
            (CLOCK_MONOTONIC, Some(Clock::Monotonic)),
            (CLOCK_BOOTTIME, None),
        ] {
            assert_eq!(Clock::for_waiting(id), clock, "{id}");
        }
        assert_eq!(Clock::Wall.base(WALL), WALL);
        assert_eq!(Clock::Atomic.base(WALL) - WALL, LEAP);
    }

    #[test]
    fn moments_are_relative_to_the_start_and_never_zero() {
        for (clock, shown, expected) in [
            (Clock::Wall, WALL + 5, 5),
            (Clock::Wall, WALL, 1),
            (Clock::Wall, 0, 1),
            (Clock::Monotonic, MONOTONIC_BASE + 9, 9),
            (Clock::Monotonic, u64::MAX, u64::MAX - MONOTONIC_BASE),
            (Clock::Processor, 3, 3),
        ] {
            assert_eq!(moment(clock, shown, WALL), expected, "{clock:?} {shown}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(deadline_after(&at(-1, 0)), None);
        assert_eq!(deadline_after(&at(0, -1)), None);
        assert_eq!(deadline_after(&at(0, 0)), Some(deadline_in(0)));
        assert_eq!(
            microseconds(&timeval {
                tv_sec: 2,
                tv_usec: 3
            }),
            2 * SECOND + 3_000
        );
        assert_eq!(
            microseconds(&timeval {
                tv_sec: -2,
                tv_usec: 3
            }),
            3_000
        );
    }

    #[test]
    fn timespecs_come_back() {
        for ns in [0, 1, SECOND - 1, SECOND, WALL + 123] {
            assert_eq!(nanoseconds(&timespec_of(ns)), Some(ns));
        }
    }
}
