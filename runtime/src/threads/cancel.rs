//! Cancellation. Requests act at points of the gate; the unwinding is the C library's.

use super::{info, known};
use crate::gate::{self, Cancel};
use core::ffi::{c_int, c_void};
use libc::pthread_t;
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

mod real {
    use libc::pthread_t;
    crate::real! {
        fn pthread_cancel(thread: pthread_t) -> core::ffi::c_int;
        fn pthread_testcancel();
        fn pthread_setcancelstate(
            state: core::ffi::c_int,
            old: *mut core::ffi::c_int,
        ) -> core::ffi::c_int;
        fn pthread_setcanceltype(
            kind: core::ffi::c_int,
            old: *mut core::ffi::c_int,
        ) -> core::ffi::c_int;
    }
}

crate::export! {
    fn pthread_cancel(thread: pthread_t) -> c_int = cancel_from;
    fn pthread_testcancel() = test_from;
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int = set_state_from;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int = set_type_from;
}

/// PTHREAD_CANCEL_ENABLE and PTHREAD_CANCEL_DEFERRED.
const ENABLE: c_int = 0;
/// PTHREAD_CANCEL_DISABLE and PTHREAD_CANCEL_ASYNCHRONOUS.
const DISABLE: c_int = 1;
/// PTHREAD_CANCELED.
const CANCELED: *mut c_void = usize::MAX as *mut c_void;

/// Tells the gate what a request to cancel `s` may do now.
fn update(s: Slot) {
    let info = info(s);
    let cancel = if !info.cancel_requested || info.cancel_disabled || info.exiting {
        Cancel::No
    } else if info.cancel_async {
        Cancel::Now
    } else {
        Cancel::Deferred
    };
    gate::set_cancel(s, cancel);
}

/// The calling thread has begun to end: no cancellation any more.
pub fn disarm() {
    info(gate::me()).exiting = true;
    update(gate::me());
}

/// Acts on a cancellation request: what a model does after [`crate::gate::Wake::Cancelled`].
pub fn cancel_now() -> ! {
    super::exit(CANCELED)
}

unsafe extern "C-unwind" fn cancel_from(thread: pthread_t, pc: usize) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_cancel(thread) };
    }
    known(thread, "pthread_cancel", pc);
    if !super::points::program_cancels() {
        // Then calls that act on requests were no steps.
        gate::uncontrolled("pthread_cancel, which no module refers to by its name");
    }
    gate::simple(Kind::ThreadCancel, thread, pc);
    let target = known(thread, "pthread_cancel", pc);
    gate::log(Kind::ThreadCancel, 0, u64::from(target), pc);
    if super::leaving::has_ended(target) {
        return 0;
    }
    info(target).cancel_requested = true;
    update(target);
    act_at_once();
    gate::returns(pc);
    0
}

/// An asynchronous cancellation of the calling thread by itself, or by a change of its type.
fn act_at_once() {
    if gate::cancel_of(gate::me()) == Cancel::Now {
        cancel_now();
    }
}

unsafe extern "C-unwind" fn test_from(pc: usize) {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_testcancel() };
    }
    // A loop around this must let others go on, or nobody ever sends the request.
    if gate::threads_alive() > 1 {
        gate::simple(Kind::Yield, 0, pc);
        gate::log(Kind::Yield, 0, 0, pc);
    }
    if gate::cancel_of(gate::me()) != Cancel::No {
        cancel_now();
    }
}

/// Exchanges one of the two settings.
///
/// # Safety
/// `old` is null or the program's variable.
unsafe fn set(
    new: c_int,
    old: *mut c_int,
    pick: fn(&mut super::Info) -> &mut bool,
    pc: usize,
) -> c_int {
    if new != ENABLE && new != DISABLE {
        return libc::EINVAL;
    }
    let me = gate::me();
    // Until now a request may come at any moment, so also behind all that the thread has done.
    if info(me).cancel_async && !info(me).cancel_disabled {
        super::points::enter(pc);
    }
    let setting = pick(info(me));
    let former = core::mem::replace(setting, new == DISABLE);
    if !old.is_null() {
        // SAFETY: the caller's promise.
        unsafe { old.write(c_int::from(former)) };
    }
    update(me);
    act_at_once();
    0
}

unsafe extern "C-unwind" fn set_state_from(state: c_int, old: *mut c_int, pc: usize) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_setcancelstate(state, old) };
    }
    // SAFETY: as the function says.
    unsafe { set(state, old, |info| &mut info.cancel_disabled, pc) }
}

unsafe extern "C-unwind" fn set_type_from(kind: c_int, old: *mut c_int, pc: usize) -> c_int {
    if !gate::active() {
        // SAFETY: passed on.
        return unsafe { real::pthread_setcanceltype(kind, old) };
    }
    // SAFETY: as the function says.
    unsafe { set(kind, old, |info| &mut info.cancel_async, pc) }
}
