//! Requests to cancel threads: where they act, and the records of that.

use super::core::{Gate, Thread};
use super::{Pending, gate, log_full, point, touch_thread};
use crate::pages::Os;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind, PENDING_ENABLED};

/// A request to cancel a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cancel {
    /// None, or the thread has disabled cancellation.
    No = 0,
    /// Acts at the next cancellation point.
    Deferred = 1,
    /// Acts at the next point of any kind.
    Now = 2,
}

impl Thread {
    /// Does a request act on the operation that it has announced?
    #[inline]
    pub(super) fn is_cancelled(&self) -> bool {
        match self.cancel {
            Cancel::No => false,
            Cancel::Deferred => self.pending().cancellable,
            Cancel::Now => true,
        }
    }

    /// Does its operation complete although there is a request, since it can? `me`: its slot. The C
    /// library looks for requests only when a join has to wait.
    #[inline]
    pub(super) fn completes_first(&self, me: Slot) -> bool {
        let p = self.pending();
        let joins = matches!(p.kind, Kind::ThreadJoin | Kind::ThreadTimedJoin);
        joins && self.cancel == Cancel::Deferred && (p.ready)(p, me)
    }
}

impl<O: Os> Gate<O> {
    /// Must the running thread, chosen for something that can always complete, end at once?
    #[inline]
    pub fn cancelled_now(&self) -> bool {
        self.threads[self.running()].cancel == Cancel::Now
    }
}

/// The running thread acts on a request instead of the operation `p`: the record of the step, which a
/// wait for a condition and a sleep make themselves.
#[cold]
pub(super) fn log_cancelled(p: &Pending) {
    if p.cancellable && matches!(p.kind, Kind::CondWake | Kind::Sleep) {
        return;
    }
    let me = gate().running();
    let possible = p.deadline != 0 || (p.ready)(p, me);
    let announced = gate().record_of_announced(me, p);
    let others = announced.aux & !PENDING_ENABLED;
    log_full(Event {
        kind: Kind::Cancelled as u8,
        aux: others | if possible { PENDING_ENABLED } else { 0 },
        ..announced
    });
}

/// The step of a call at `pc` that acts on a request before anything else.
pub fn cancellation_point(pc: usize) {
    let wake = point(Pending {
        cancellable: true,
        ..Pending::always(Kind::CancellationPoint, 0, pc)
    });
    if wake == super::Wake::Cancelled {
        crate::threads::cancel_now();
    }
    super::log(Kind::CancellationPoint, 0, 0, pc);
}

/// Sets or withdraws a request to cancel `s`.
pub fn set_cancel(s: Slot, cancel: Cancel) {
    gate().threads[s].cancel = cancel;
    touch_thread(s);
}

/// Is a request to cancel `s` pending?
pub fn cancel_of(s: Slot) -> Cancel {
    gate().threads[s].cancel
}
