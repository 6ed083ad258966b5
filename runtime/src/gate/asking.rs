//! Steps by which a thread looks at what is kept of threads, signals and timers, or by the C library.

use super::{Pending, access, gate, log, log_full, simple, threads_created};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, stack};

/// Where schedules are explored: the running thread looks at something that is kept of threads, signals
/// or timers ([`raddle_protocol::conflict::kept`]), or changes it, which others may come before.
pub fn ask(about: u64, changes: bool, pc: usize) {
    if super::flags() & flags::EXHAUSTIVE != 0 && threads_created() > 1 {
        asked(about, changes, pc);
    }
}

/// [`ask`] about what `verify` does not follow: it says so.
pub fn ask_unfollowed(about: u64, changes: bool, pc: usize) {
    if explores() && threads_created() > 1 {
        asked(about, changes, pc);
    }
}

fn asked(about: u64, changes: bool, pc: usize) {
    simple(Kind::Ask, about, pc);
    log(Kind::Ask, about, u64::from(changes), pc);
}

/// Does such an operation of `me` only ask, unless it finds something (then whoever performs it says so,
/// [`changed`](super::changed)), or tell the answer on the thread's own stack?
pub(super) fn asks(me: Slot, kind: Kind, object: u64) -> bool {
    match kind {
        Kind::DescriptorRead | Kind::Poll | Kind::EpollWait => true,
        Kind::Write | Kind::WriteRange => stack::slot_of(object) == Some(me),
        _ => false,
    }
}

/// An access, one step with its record, to what the C library keeps between calls, or to what it may read.
/// No loop sees that: one that asks for it in each round may only wait all the same.
pub fn access_unseen(kind: Kind, at: u64, bytes: u64, pc: usize) {
    gate().works_unseen();
    access_of_call(kind, at, bytes, pc);
}

fn access_of_call(kind: Kind, object: u64, bytes: u64, pc: usize) {
    access(kind, object, bytes, pc);
    log_full(Event {
        kind: kind as u8,
        size: Event::NO_ACCESS,
        object,
        value: bytes,
        pc: pc as u64,
        ..Event::default()
    });
}

/// Where schedules are explored: the running thread is about to initialise an object of so many bytes,
/// which those may come before who use it.
pub fn renews(object: u64, bytes: usize, pc: usize) {
    if super::flags() & flags::EXHAUSTIVE != 0 && threads_created() > 1 {
        access_of_call(Kind::WriteRange, object, bytes as u64, pc);
    }
}

/// Is no schedule to be missed, be it by an exhaustive search or by `verify`?
pub fn explores() -> bool {
    super::flags() & (flags::EXHAUSTIVE | flags::SYMBOLIC) != 0
}

/// Where schedules are explored: the running thread is about to call what acts on these pages, which those
/// may come before who use them. `value`: see [`Kind::Remap`].
pub fn remaps(at: u64, value: u64, pc: usize) {
    if explores() && threads_created() > 1 {
        super::point(Pending {
            aux: value,
            ..Pending::always(Kind::Remap, at, pc)
        });
        log(Kind::Remap, at, value, pc);
    }
}

/// The program learns something that the search does not vary: see [`core::Gate::gives`](super::core::Gate::gives).
pub fn gives(what: u64) {
    gate().gives(what);
}

/// Where all schedules are run: the running thread goes no further, since an assumption does not hold.
/// What others do all the same they might have done before, and the assumption is no step that they could
/// be in conflict with. When nobody can go on the execution ends as one that is given up.
pub fn gives_up(pc: usize) -> ! {
    loop {
        super::point(Pending {
            ready: |_, _| false,
            ..Pending::always(Kind::Assume, 0, pc)
        });
    }
}

/// How often one thread has followed another.
pub fn switches() -> u64 {
    gate().switches
}

/// See [`core::Gate::within_call`](super::core::Gate::within_call).
pub fn within_call(nth: u64) {
    gate().within_call(nth);
}
