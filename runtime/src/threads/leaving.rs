//! What main does when it leaves by `pthread_exit` while others are at work.
//!
//! In the C library the last thread, whichever that is, then ends the process, with all that the
//! program has asked for at its end. So what a thread does last would depend on who else has ended,
//! and no operation stands for that. Where schedules are explored and not sampled, main stays
//! instead, joins every other thread, and ends the process itself. To the program that looks the
//! same, unless it joins main.

use super::{info, log_join};
use crate::gate::{self, Pending, State};
use crate::{ends, signals, sync, vars};
use raddle_protocol::event::Kind;
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// Does the running thread, which has no more to do, stay until all others have ended? Whether they
/// have by now must not matter.
pub fn stays() -> bool {
    let explored = gate::flags() & flags::EXHAUSTIVE != 0 || vars::symbolic();
    explored && gate::me() == slot::MAIN && !sync::mutex::any_robust()
}

/// Waits until all others have ended, and ends the process.
pub fn outlive_all() {
    signals::while_blocked(0, || {
        let pthread = info(slot::MAIN).pthread;
        if !vars::symbolic() {
            gate::simple(Kind::ThreadLeave, pthread, 0);
        }
        info(slot::MAIN).leaving = true;
        gate::touch(pthread);
        if !vars::symbolic() {
            gate::log(Kind::ThreadLeave, 0, 0, 0);
        }
        join_children_of(slot::MAIN);
        // Those that a timer or a request has made.
        while let Some(s) =
            gate::alive_threads().find(|&s| ![slot::MAIN, slot::TIMERS].contains(&s))
        {
            join(s);
        }
        ends::exit(0)
    });
}

/// Has `s` ended, as far as the program can tell?
pub fn has_ended(s: Slot) -> bool {
    gate::state(s) == State::Ended || info(s).leaving
}

/// The running thread found that `s` has not ended: a loop of such attempts waits for that.
pub fn saw_alive(s: Slot) {
    match s {
        // It leaves before it ends.
        slot::MAIN => gate::changed(),
        _ => gate::saw_state(s),
    }
}

/// Somebody joins `s`: is it main that stays, and needs its stack? Where inputs are explored too, that
/// it has left is no step, so who joins it is not followed.
pub fn note_join_of(s: Slot) -> bool {
    let stays = info(s).leaving;
    if stays && vars::symbolic() {
        gate::uncontrolled("pthread_join of main");
    }
    stays
}

/// The children of a thread as a list, in the order of their creation; main, which is nobody's child,
/// stands for none.
pub(super) struct Family {
    eldest: Slot,
    youngest: Slot,
    /// The next child of the same creator.
    sibling: Slot,
}

/// `creator` has made `child`.
pub(super) fn adopt(creator: Slot, child: Slot) {
    match info(creator).family.youngest {
        slot::MAIN => info(creator).family.eldest = child,
        sibling => info(sibling).family.sibling = child,
    }
    info(creator).family.youngest = child;
}

/// In an order that does not depend on the schedule: a thread that has ended makes no more.
fn join_children_of(creator: Slot) {
    let mut child = info(creator).family.eldest;
    while child != slot::MAIN {
        if child != slot::TIMERS {
            join(child);
            join_children_of(child);
        }
        child = info(child).family.sibling;
    }
}

fn join(s: Slot) {
    gate::point(Pending {
        aux: u64::from(s),
        ready: |p, _| gate::state(p.aux as Slot) == State::Ended,
        holder: |p| (p.aux as Slot, 0),
        ..Pending::always(Kind::ThreadJoin, info(s).pthread, 0)
    });
    log_join(Kind::ThreadJoin, s, 0, 0);
}
