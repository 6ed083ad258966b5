//! Descriptor operations as steps: announced, chosen when they would not block, done without
//! blocking.

use super::table::{self, Object};
use super::{faults, messages, raw, settle};
use crate::gate::{self, Interrupt, Pending, Wake};
use core::ffi::{c_int, c_short};
use libc::pollfd;
use raddle_protocol::descriptor::{self, What};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// `-errno` of an operation that would have to wait.
pub const WOULD_BLOCK: isize = -(libc::EAGAIN as isize);

/// What must hold before a waiting operation is worth another attempt.
#[derive(Clone, Copy)]
pub enum Condition {
    /// One of the events on one descriptor.
    One(pollfd),
    /// On one of several.
    Many { fds: *mut pollfd, count: usize },
    /// As `select` asks: sets for reading, writing, exceptions, of this many descriptors.
    Sets {
        sets: [*const libc::fd_set; 3],
        count: c_int,
    },
    /// Nothing that can be polled: any change will do.
    Change,
    /// An operation on the object of this number.
    ChangeOf(u64),
    /// What the function says of the number.
    Asked(fn(usize) -> bool, usize),
}

/// A waiting operation; lies on the stack of the thread that waits.
pub struct Waiting {
    pub condition: Condition,
    /// [`table::changes`] at the last attempt, which was in vain; 0: none yet.
    tried: u64,
    /// May another process end the wait?
    pub outside: bool,
    /// The call has a signal mask of its own.
    pub masked: bool,
    /// Who is in the way, and where they came to be.
    pub holder: (Slot, usize),
}

impl Waiting {
    /// For one descriptor.
    pub fn for_one(fd: c_int, events: c_short, object: &Object) -> Waiting {
        let one = pollfd {
            fd,
            events,
            revents: 0,
        };
        Waiting::new(Condition::One(one), object.is_outside())
    }

    pub fn new(condition: Condition, outside: bool) -> Waiting {
        Waiting {
            condition,
            tried: 0,
            outside,
            masked: false,
            holder: (slot::NONE, 0),
        }
    }

    /// For an attempt that failed before anybody could be asked.
    pub fn after_attempt(mut self) -> Waiting {
        self.tried = table::changes();
        self
    }

    /// The descriptor waited for is now called `copy`.
    pub fn moved(&mut self, copy: c_int) {
        if let Condition::One(one) = &mut self.condition {
            one.fd = copy;
        }
    }

    fn is_due(&mut self) -> bool {
        let changed = self.tried != table::changes();
        // What is not followed may have moved bytes, too.
        let looks = |tried: u64| tried == 0 || changed || gate::anything_uncontrolled();
        match &mut self.condition {
            Condition::Change => changed,
            Condition::ChangeOf(object) => {
                self.tried == 0 || table::last_change_of(*object) > self.tried
            }
            Condition::Asked(ask, about) => ask(*about),
            // SAFETY: one entry.
            Condition::One(one) if looks(self.tried) => unsafe { raw::poll(one, 1, 0) > 0 },
            Condition::One(_) => false,
            // SAFETY: the waiting call's array.
            Condition::Many { fds, count } => unsafe { raw::poll(*fds, *count, 0) > 0 },
            // SAFETY: the waiting call's sets.
            Condition::Sets { sets, count } => unsafe { super::select::any(*count, *sets) },
        }
    }
}

/// The waiting operation of an announcement; `None` if it does not wait.
///
/// # Safety
/// The announcement is that of a descriptor operation that is not over.
pub unsafe fn of<'a>(p: &Pending) -> Option<&'a mut Waiting> {
    // SAFETY: `aux` is 0 or the address of a live `Waiting` while the operation is announced.
    unsafe { (p.aux as *mut Waiting).as_mut() }
}

fn ready(p: &Pending, _: Slot) -> bool {
    // SAFETY: asked only while the operation is announced.
    unsafe { of(p) }.is_none_or(Waiting::is_due)
}

fn holder(p: &Pending) -> (Slot, usize) {
    // SAFETY: as above.
    unsafe { of(p) }.map_or((slot::NONE, 0), |w| w.holder)
}

/// One operation of the program.
#[derive(Clone, Copy)]
pub struct Operation {
    pub kind: Kind,
    pub fd: c_int,
    /// Number of the object, 0: none.
    pub object: u64,
    /// Virtual nanoseconds; 0: none.
    pub deadline: u64,
    pub pc: usize,
    /// Is it a cancellation point?
    pub cancellable: bool,
}

impl Operation {
    /// On the object behind `fd`, without a deadline; a cancellation point.
    pub fn on(kind: Kind, fd: c_int, object: &Object, pc: usize) -> Operation {
        Operation {
            kind,
            fd,
            object: object.number,
            deadline: 0,
            pc,
            cancellable: true,
        }
    }

    /// The step of an operation that never waits.
    pub fn at_once(&self, act: impl FnOnce() -> isize) -> isize {
        gate::simple(self.kind, self.object, self.pc);
        crate::timers::catch_up();
        let fault = faults::draw(self, false);
        let result = fault.interrupts().unwrap_or_else(act);
        self.conclude(result);
        fault.write();
        result
    }

    /// Waits until `attempt` has another result than [`WOULD_BLOCK`], or the deadline passes, in
    /// which case that is the result. Each attempt is a step.
    pub fn until_done(&self, mut waiting: Waiting, mut attempt: impl FnMut() -> isize) -> isize {
        loop {
            let fault = match self.arrive(&mut waiting) {
                Wake::Ready => faults::draw(self, true),
                Wake::Interrupted => {
                    let result = -(libc::EINTR as isize);
                    self.conclude(result);
                    return result;
                }
                _ => {
                    self.conclude(WOULD_BLOCK);
                    return WOULD_BLOCK;
                }
            };
            let result = fault.interrupts().unwrap_or_else(&mut attempt);
            if result == WOULD_BLOCK {
                waiting.tried = table::changes();
                self.log(result);
            } else {
                self.conclude(result);
            }
            fault.write();
            if result != WOULD_BLOCK {
                return result;
            }
        }
    }

    /// Announces and waits for the turn. Does not return when the thread is cancelled.
    pub fn arrive(&self, waiting: &mut Waiting) -> Wake {
        super::rearm();
        if waiting.outside {
            gate::expect_outside();
        }
        let wake = gate::point(Pending {
            kind: self.kind,
            object: self.object,
            pc: self.pc,
            aux: waiting as *mut Waiting as u64,
            deadline: self.deadline,
            ready,
            holder,
            cancellable: self.cancellable,
            interrupt: self.interrupt(waiting),
            ..crate::sync::pending(self.kind, self.object, self.pc)
        });
        crate::timers::catch_up();
        if wake == Wake::Cancelled {
            crate::threads::cancel_now();
        }
        wake
    }

    /// What a handler does to it (signal(7)).
    fn interrupt(&self, waiting: &Waiting) -> Interrupt {
        match self.kind {
            _ if waiting.masked => Interrupt::WhileBlocked,
            Kind::Poll | Kind::EpollWait | Kind::SemaphoreSet => Interrupt::Always,
            Kind::QueueSend | Kind::QueueReceive if !is_descriptor(self.object) => {
                Interrupt::Always
            }
            _ => Interrupt::UnlessRestart,
        }
    }

    /// The operation has taken effect: whoever waits may go on.
    pub fn conclude(&self, result: isize) {
        let moves = matches!(
            self.kind,
            Kind::DescriptorRead | Kind::DescriptorWrite | Kind::Close
        );
        // What the analyzer cannot follow of those it names itself.
        let known = moves && is_channel(self.object);
        if gate::flags() & flags::SYMBOLIC != 0 && !known {
            gate::uncontrolled("descriptors, which verify does not model");
        }
        if self.has_found(result) {
            gate::changed();
        }
        settle::settle(self.kind, self.object);
        table::change_of(self.object);
        gate::touch_descriptors();
        self.log(result);
    }

    /// It is one that asks, and there was something.
    fn has_found(&self, result: isize) -> bool {
        match self.kind {
            Kind::DescriptorRead => result != WOULD_BLOCK,
            Kind::Poll | Kind::EpollWait => result != WOULD_BLOCK && result != 0,
            _ => false,
        }
    }

    /// Records a step that found nothing to do.
    pub fn log_in_vain(&self) {
        self.log(WOULD_BLOCK);
    }

    fn log(&self, result: isize) {
        let depends_on_more = match self.kind {
            Kind::QueueSend | Kind::QueueReceive | Kind::SemaphoreSet => {
                self.deadline != 0 || messages::anybody_is_told(self.object)
            }
            _ => false,
        };
        gate::log_full(Event {
            kind: self.kind as u8,
            size: u8::from(depends_on_more),
            aux: self.fd as u32,
            object: self.object,
            value: result as u64,
            pc: self.pc as u64,
            ..Event::default()
        });
    }
}

/// Is it a pipe or an event counter?
fn is_channel(object: u64) -> bool {
    matches!(descriptor::what_of(object), Some(What::Pipe | What::Event))
}

/// Calls that move more bytes are not followed: these lie on the program's stack meanwhile.
pub const FOLLOWED: usize = 1024;

/// Does the analyzer follow a call that waits and moves so many bytes (see [`Kind::Moved`])?
pub fn is_followed(fd: c_int, len: usize) -> bool {
    gate::flags() & flags::SYMBOLIC != 0
        && (1..=FOLLOWED).contains(&len)
        && table::find(fd).is_some_and(|o| is_channel(o.number) && !o.is_outside())
        && raw::status_flags(fd) & (libc::O_NONBLOCK | libc::O_DIRECT) == 0
}

/// Says what such a call, which asked for `asked` bytes, has moved.
pub fn tell_moved(asked: usize, bytes: &[u8]) {
    for record in Event::moved(gate::me(), asked as u32, bytes) {
        gate::log_full(record);
    }
}

/// Has the object descriptors? Those of System V have none.
fn is_descriptor(object: u64) -> bool {
    descriptor::what_of(object) != Some(What::Messages)
}

/// What the C function returns for a result of the kernel's form; sets errno.
pub fn answer(result: isize) -> isize {
    if result < 0 {
        // SAFETY: the calling thread's own errno.
        unsafe { *libc::__errno_location() = -result as c_int };
        return -1;
    }
    result
}
