//! Timers in virtual time: `timer_create`, `setitimer`, `alarm`, timer descriptors.
//!
//! As in the C library, a thread of their own waits for all of them: a controlled one that is made
//! when the first timer is armed, in the slot [`slot::TIMERS`]. Its step is an expiry, which can
//! come whenever a time-out could. A timer descriptor is an eventfd to which it writes.

mod table;

use crate::gate::{self, Pending};
use crate::gone::{is_gone, is_missing, needed_at, written_to};
use crate::serial::Serial;
use crate::signals::{self, Signal};
use crate::time::{self, Clock};
use crate::{intercept, numbers, os, sync, threads};
use core::ffi::{c_int, c_uint, c_void};
use libc::{EFAULT, EINVAL, clockid_t, itimerspec, itimerval, pthread_attr_t, timeval};
use raddle_protocol::conflict::kept;
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};
pub use table::MOST;
use table::Schedule;

/// What an expiry does.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// SIGEV_NONE.
    Nothing,
    /// A signal to a thread, or to the process ([`slot::NONE`]).
    Signal { number: c_int, to: Slot },
    /// SIGEV_THREAD.
    Thread {
        routine: threads::Routine,
        attr: *const pthread_attr_t,
    },
    /// Counts in an eventfd.
    Descriptor(c_int),
}

/// What a timer was made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// `timer_create`.
    Posix,
    /// `setitimer` and `alarm`: which one.
    Interval(c_int),
    /// `timerfd_create`: the descriptor.
    Descriptor(c_int),
}

#[derive(Clone, Copy)]
struct Timer {
    origin: Origin,
    clock: Clock,
    action: Action,
    value: u64,
    schedule: Schedule,
}

static TIMERS: Serial<[Option<Timer>; MOST]> = Serial::new([None; MOST]);
static HELPED: Serial<bool> = Serial::new(false);

/// Not to be kept over a switch.
fn timers() -> &'static mut [Option<Timer>; MOST] {
    // SAFETY: the running thread.
    unsafe { TIMERS.get() }
}

/// The address by which events name a timer.
fn object(place: usize) -> u64 {
    &raw const timers()[place] as u64
}

/// Is `s` the thread that waits for the timers?
pub fn is_helper(s: Slot) -> bool {
    s == slot::TIMERS && helpers() == 1
}

/// How many threads are alive that are not the program's.
pub fn helpers() -> usize {
    // SAFETY: the running thread.
    usize::from(unsafe { *HELPED.get() })
}

fn first() -> Option<(usize, u64)> {
    let schedules = timers().iter().enumerate();
    table::first(schedules.filter_map(|(place, t)| Some((place, t.as_ref()?.schedule))))
}

/// The deadline of the thread that waits for the timers.
fn deadline() -> u64 {
    first().map_or(0, |(_, next)| next)
}

/// Its routine.
extern "C-unwind" fn wait_for_expiries(_: *mut c_void) -> *mut c_void {
    loop {
        gate::point(Pending {
            deadline: deadline(),
            ..sync::pending(Kind::TimerExpire, 0, 0)
        });
        match first().filter(|&(_, next)| next <= gate::now()) {
            Some((place, _)) => expire(place),
            None => gate::log(Kind::TimerExpire, 0, gate::now(), 0),
        }
    }
}

/// `si_code` of what the kernel sends of its own accord.
pub const SI_KERNEL: c_int = 0x80;

/// The step of an expiry.
fn expire(place: usize) {
    let now = gate::now();
    gate::log(Kind::TimerExpire, object(place), now, 0);
    let Some(timer) = timers()[place].as_mut() else {
        return;
    };
    let times = timer.schedule.expire(now);
    let timer = *timer;
    match timer.action {
        Action::Nothing => {}
        Action::Signal { number, to } if matches!(timer.origin, Origin::Interval(_)) => {
            signals::post(to, Signal::plain(number, SI_KERNEL));
        }
        Action::Signal { .. } if signals::overrun(place as c_int, times) => {}
        Action::Signal { number, to } => {
            let signal = Signal {
                number,
                code: libc::SI_TIMER,
                value: timer.value,
                sender: place as c_int,
                more: times.saturating_sub(1) as c_int,
            };
            signals::post(to, signal);
        }
        Action::Thread { routine, attr } => threads::spawn_notified(routine, attr, timer.value),
        Action::Descriptor(fd) if is_eventfd(fd) => {
            os::write(fd, &times.to_ne_bytes());
            crate::io::change();
            gate::touch_descriptors();
        }
        Action::Descriptor(_) => timers()[place] = None,
    }
}

/// Descriptors of timers whose time has come show it, whether or not their expiry had its turn: who
/// has read the clock may rely on that.
pub fn catch_up() {
    if helpers() == 0 {
        return;
    }
    let now = gate::now();
    let mut any = false;
    for timer in timers().iter_mut().flatten() {
        if let Action::Descriptor(fd) = timer.action
            && (1..=now).contains(&timer.schedule.next)
            && is_eventfd(fd)
        {
            os::write(fd, &timer.schedule.expire(now).to_ne_bytes());
            any = true;
        }
    }
    if any {
        crate::io::change();
        if gate::announced(slot::TIMERS).is_some_and(|p| p.kind == Kind::TimerExpire) {
            gate::amend(slot::TIMERS, |p| p.deadline = deadline());
        }
    }
}

/// Is `fd` still what `timerfd_create` made?
fn is_eventfd(fd: c_int) -> bool {
    let mut target = [0u8; 64];
    crate::io::path_of(fd, &mut target) == Some(b"anon_inode:[eventfd]")
}

/// Makes the thread that waits, once.
fn have_helper(pc: usize) {
    if helpers() == 0 && threads::spawn_helper(slot::TIMERS, wait_for_expiries, pc) {
        // SAFETY: the running thread.
        unsafe { *HELPED.get() = true };
    }
}

/// Sets a timer as its own step; what it was set to before.
fn set(place: usize, schedule: Schedule, pc: usize) -> Schedule {
    if schedule.next != 0 {
        have_helper(pc);
    }
    gate::simple(Kind::TimerSet, object(place), pc);
    gate::log(Kind::TimerSet, object(place), schedule.next, pc);
    let Some(timer) = timers()[place].as_mut() else {
        return Schedule::default();
    };
    signals::set_overrun(place as c_int, 0);
    let before = core::mem::replace(&mut timer.schedule, schedule);
    if gate::announced(slot::TIMERS).is_some_and(|p| p.kind == Kind::TimerExpire) {
        gate::amend(slot::TIMERS, |p| p.deadline = deadline());
    }
    before
}

/// A place for a new timer; `None`: there are too many.
fn add(timer: Timer) -> Option<usize> {
    let place = timers().iter().position(Option::is_none)?;
    timers()[place] = Some(timer);
    Some(place)
}

fn find(origin: Origin) -> Option<usize> {
    timers()
        .iter()
        .position(|t| t.is_some_and(|t| t.origin == origin))
}

/// The timer of an id that `timer_create` gave.
fn posix(id: usize) -> Option<usize> {
    let made = |t: &Timer| t.origin == Origin::Posix;
    (id < MOST && timers()[id].as_ref().is_some_and(made)).then_some(id)
}

/// A time of `timer_settime` and its kin; `None`: invalid.
fn schedule(clock: Clock, absolute: bool, new: &itimerspec) -> Option<Schedule> {
    if new.it_interval.tv_sec < 0 || new.it_value.tv_sec < 0 {
        return None;
    }
    let interval = time::nanoseconds(&new.it_interval)?;
    let value = time::nanoseconds(&new.it_value)?;
    let next = match (value, absolute) {
        (0, _) => 0,
        (_, true) => time::deadline(clock, &new.it_value)?,
        (ns, false) => time::deadline_in(ns),
    };
    Some(Schedule { next, interval })
}

/// How long until it expires next, which the program learns; 0: disarmed.
fn remaining(schedule: Schedule) -> u64 {
    match schedule.next {
        0 => 0,
        _ => schedule.remaining(time::told()),
    }
}

fn spec_of(schedule: Schedule) -> itimerspec {
    itimerspec {
        it_interval: time::timespec_of(schedule.interval),
        it_value: time::timespec_of(remaining(schedule)),
    }
}

/// Sets a timer as `timer_settime` does: 0 or an errno.
///
/// # Safety
/// `new` is readable, `old` null or writable.
unsafe fn set_spec(
    place: usize,
    absolute: bool,
    new: *const itimerspec,
    old: *mut itimerspec,
    pc: usize,
) -> c_int {
    let clock = timers()[place].map_or(Clock::Monotonic, |t| t.clock);
    // SAFETY: the caller's promise.
    let Some(wanted) = schedule(clock, absolute, unsafe { &*new }) else {
        return EINVAL;
    };
    let before = set(place, wanted, pc);
    // SAFETY: as above.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = spec_of(before);
    }
    0
}

/// The head of glibc's `struct sigevent`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Event {
    value: u64,
    signal: c_int,
    notify: c_int,
    /// The function of SIGEV_THREAD; the id of SIGEV_THREAD_ID in its low half.
    target: usize,
    attr: *const pthread_attr_t,
}

impl Event {
    /// Nobody is told.
    pub const NONE: Event = Event {
        value: 0,
        signal: 0,
        notify: libc::SIGEV_NONE,
        target: 0,
        attr: core::ptr::null(),
    };
}

/// Tells whom `event` names, as a step: a thread begins, or a signal with this `si_code` is sent.
pub fn notify(event: &Event, code: c_int, pc: usize) {
    match action_of(event) {
        Some(Action::Signal { number, to }) => {
            signals::announce_send(to, number, pc);
            signals::post(
                to,
                Signal {
                    number,
                    code,
                    value: event.value,
                    sender: numbers::PROCESS,
                    more: 0,
                },
            );
        }
        Some(Action::Thread { routine, attr }) => {
            threads::spawn_notified(routine, attr, event.value);
        }
        _ => {}
    }
}

/// Is it one that [`notify`] understands?
pub fn is_valid(event: &Event) -> bool {
    action_of(event).is_some()
}

/// What an expiry is to do; `None`: invalid.
fn action_of(event: &Event) -> Option<Action> {
    let number = event.signal;
    let signal = |to| {
        (1..=64)
            .contains(&number)
            .then_some(Action::Signal { number, to })
    };
    match event.notify {
        libc::SIGEV_NONE => Some(Action::Nothing),
        libc::SIGEV_SIGNAL => signal(slot::NONE),
        libc::SIGEV_THREAD_ID => signal(numbers::thread(event.target as libc::pid_t)?),
        libc::SIGEV_THREAD if event.target != 0 => Some(Action::Thread {
            // SAFETY: the program gave a function that takes one word.
            routine: unsafe { core::mem::transmute::<usize, threads::Routine>(event.target) },
            attr: event.attr,
        }),
        _ => None,
    }
}

/// `timer_create`: 0 or an errno.
///
/// # Safety
/// `event` is null or readable, `id` writable.
unsafe fn create(clock: clockid_t, event: *const Event, id: *mut usize) -> c_int {
    let Some(clock) = Clock::of(clock) else {
        return EINVAL;
    };
    // SAFETY: the caller's promise.
    let event = unsafe { event.as_ref() };
    let action = match event {
        Some(event) => action_of(event),
        None => Some(Action::Signal {
            number: libc::SIGALRM,
            to: slot::NONE,
        }),
    };
    let Some(action) = action else { return EINVAL };
    let timer = Timer {
        origin: Origin::Posix,
        clock,
        action,
        value: event.map_or(0, |event| event.value),
        schedule: Schedule::default(),
    };
    let Some(place) = add(timer) else {
        return libc::EAGAIN;
    };
    if event.is_none()
        && let Some(timer) = timers()[place].as_mut()
    {
        timer.value = place as u64;
    }
    // SAFETY: the caller's promise.
    unsafe { id.write(place) };
    0
}

/// `timer_delete`: 0 or an errno.
fn delete(id: usize, pc: usize) -> c_int {
    let Some(place) = posix(id) else {
        return EINVAL;
    };
    set(place, Schedule::default(), pc);
    timers()[place] = None;
    0
}

/// The place of one of the three interval timers, made if it is not there.
fn interval(which: c_int) -> Option<usize> {
    let (clock, number) = match which {
        libc::ITIMER_REAL => (Clock::Monotonic, libc::SIGALRM),
        libc::ITIMER_VIRTUAL => (Clock::Processor, libc::SIGVTALRM),
        libc::ITIMER_PROF => (Clock::Processor, libc::SIGPROF),
        _ => return None,
    };
    find(Origin::Interval(which)).or_else(|| {
        add(Timer {
            origin: Origin::Interval(which),
            clock,
            action: Action::Signal {
                number,
                to: slot::NONE,
            },
            value: 0,
            schedule: Schedule::default(),
        })
    })
}

fn value_of(schedule: Schedule) -> itimerval {
    let part = |ns: u64| timeval {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_usec: (ns % 1_000_000_000).div_ceil(1_000) as libc::suseconds_t,
    };
    itimerval {
        it_interval: part(schedule.interval),
        it_value: part(remaining(schedule)),
    }
}

/// `setitimer`: 0 or an errno.
///
/// # Safety
/// The pointers are null or as the function says.
unsafe fn set_interval(
    which: c_int,
    new: *const itimerval,
    old: *mut itimerval,
    pc: usize,
) -> c_int {
    let Some(place) = interval(which) else {
        return EINVAL;
    };
    let ns = |t: &timeval| match t.tv_usec {
        0..1_000_000 if t.tv_sec >= 0 => Some(time::microseconds(t)),
        _ => None,
    };
    // SAFETY: the caller's promise.
    let wanted = match unsafe { new.as_ref() } {
        None => Some((0, 0)),
        Some(new) => ns(&new.it_value).zip(ns(&new.it_interval)),
    };
    let Some((value, interval)) = wanted else {
        return EINVAL;
    };
    let next = match value {
        0 => 0,
        ns => time::deadline_in(ns),
    };
    let before = set(place, Schedule { next, interval }, pc);
    // SAFETY: the caller's promise.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = value_of(before);
    }
    0
}

/// `alarm` and `ualarm`: what was left, in nanoseconds.
fn alarm_in(after: u64, every: u64, pc: usize) -> u64 {
    let Some(place) = interval(libc::ITIMER_REAL) else {
        return 0;
    };
    let next = match after {
        0 => 0,
        ns => time::deadline_in(ns),
    };
    let interval = every;
    let before = set(place, Schedule { next, interval }, pc);
    remaining(before)
}

/// `timerfd_create`: a descriptor or -1.
fn create_descriptor(clock: clockid_t, flags: c_int, pc: usize) -> c_int {
    let known = Clock::of(clock).filter(|&c| c != Clock::Processor);
    let Some(clock) = known else {
        return time::errno_result(EINVAL);
    };
    let allowed = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
    if flags & !allowed != 0 {
        return time::errno_result(EINVAL);
    }
    // The flags have the same bits.
    let fd = crate::io::counter(flags, pc);
    if fd < 0 {
        return time::errno_result(-fd);
    }
    closed(fd);
    let added = add(Timer {
        origin: Origin::Descriptor(fd),
        clock,
        action: Action::Descriptor(fd),
        value: 0,
        schedule: Schedule::default(),
    });
    if added.is_none() {
        os::close(fd);
        return time::errno_result(libc::ENFILE);
    }
    fd
}

/// The descriptor was closed: its timer, if it has one, is gone.
pub fn closed(fd: c_int) {
    if let Some(place) = find(Origin::Descriptor(fd)) {
        timers()[place] = None;
    }
}

/// Sets a timer descriptor: expiries that nobody has read are forgotten.
///
/// # Safety
/// As [`set_spec`].
unsafe fn set_descriptor(
    fd: c_int,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
    pc: usize,
) -> Option<c_int> {
    let place = find(Origin::Descriptor(fd))?;
    let absolute = flags & libc::TFD_TIMER_ABSTIME != 0;
    // SAFETY: the caller's promise.
    let code = unsafe { set_spec(place, absolute, new, old, pc) };
    if code == 0 {
        let mut count = 0u64;
        let mut poll = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: both are ours; the descriptor is read only when it has something.
        unsafe {
            let at = &raw mut poll as usize;
            if os::syscall(libc::SYS_poll, at, 1, 0, 0, 0, 0) == 1 {
                let into = &raw mut count as usize;
                os::syscall(libc::SYS_read, fd as usize, into, 8, 0, 0, 0);
            }
        }
    }
    Some(time::errno_result(code))
}

/// Writes there, if it is not null: 0.
///
/// # Safety
/// It can be written then.
unsafe fn filled<T>(into: *mut T, value: T) -> c_int {
    // SAFETY: the caller's promise.
    if let Some(into) = unsafe { into.as_mut() } {
        *into = value;
    }
    0
}

fn posix_or_einval(id: usize, then: impl FnOnce(usize) -> c_int) -> c_int {
    time::errno_result(posix(id).map_or(EINVAL, then))
}

const SECOND: u64 = 1_000_000_000;

intercept! {
    fn timer_create(clock: clockid_t, event: *const Event, id: *mut usize) -> c_int,
        pc => time::errno_result(create(clock, event, id));
    fn timer_settime(id: usize, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int,
        pc => posix_or_einval(id, |place| match is_gone(new) {
            true => EFAULT,
            false if new.is_null() => EINVAL,
            false => written_to(old, |old| set_spec(place, flags & libc::TIMER_ABSTIME != 0, new, old, pc)),
        });
    fn timer_gettime(id: usize, into: *mut itimerspec) -> c_int, pc => posix_or_einval(id, |place| {
        gate::ask(kept::TIMERS, false, pc);
        let schedule = timers()[place].map_or(Schedule::default(), |t| t.schedule);
        needed_at(into, |into| filled(into, spec_of(schedule)))
    });
    fn timer_getoverrun(id: usize) -> c_int, pc => match posix(id) {
        Some(place) => {
            gate::ask(kept::TIMERS, false, pc);
            signals::overrun_of(place as c_int)
        }
        None => time::errno_result(EINVAL),
    };
    fn timer_delete(id: usize) -> c_int, pc => time::errno_result(delete(id, pc));
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int,
        pc => time::errno_result(match is_gone(new) {
            true => EFAULT,
            false => written_to(old, |old| set_interval(which, new, old, pc)),
        });
    fn getitimer(which: c_int, into: *mut itimerval) -> c_int, pc => match interval(which) {
        Some(place) => {
            gate::ask(kept::TIMERS, false, pc);
            let schedule = timers()[place].map_or(Schedule::default(), |t| t.schedule);
            time::errno_result(needed_at(into, |into| filled(into, value_of(schedule))))
        }
        None => time::errno_result(EINVAL),
    };
    fn alarm(seconds: c_uint) -> c_uint,
        pc => alarm_in(u64::from(seconds) * SECOND, 0, pc).div_ceil(SECOND) as c_uint;
    fn ualarm(after: c_uint, every: c_uint) -> c_uint,
        pc => alarm_in(u64::from(after) * 1_000, u64::from(every) * 1_000, pc).div_ceil(1_000) as c_uint;
    fn timerfd_create(clock: clockid_t, flags: c_int) -> c_int, pc => create_descriptor(clock, flags, pc);
    fn timerfd_settime(fd: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int,
        pc => match is_missing(new).then(|| time::errno_result(EFAULT)).or_else(|| {
            set_descriptor(fd, flags, new, old, pc)
        }) {
            Some(result) => result,
            None => real::timerfd_settime(fd, flags, new, old),
        };
    fn timerfd_gettime(fd: c_int, into: *mut itimerspec) -> c_int, pc => match find(Origin::Descriptor(fd)) {
        Some(place) => {
            gate::ask(kept::TIMERS, false, pc);
            let schedule = timers()[place].map_or(Schedule::default(), |t| t.schedule);
            time::errno_result(needed_at(into, |into| filled(into, spec_of(schedule))))
        }
        None => real::timerfd_gettime(fd, into),
    };
}
