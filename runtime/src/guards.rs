//! The guards of C++ local statics: the library waits by itself (its futex calls are intercepted);
//! here is only recorded who has come through a guard after whom.

use crate::gate;
use core::ffi::c_int;
use raddle_protocol::event::Kind;

type Guard = *mut u64;

mod real {
    use super::Guard;
    use core::ffi::c_int;
    crate::real! {
        fn __cxa_guard_acquire(guard: Guard) -> c_int;
        fn __cxa_guard_release(guard: Guard) -> ();
    }
}

crate::export! {
    /// As the C++ ABI defines it.
    fn __cxa_guard_acquire(guard: Guard) -> c_int = acquire;
    /// As the C++ ABI defines it.
    fn __cxa_guard_release(guard: Guard) = release;
}

fn log(kind: Kind, guard: Guard, pc: usize) {
    if gate::active() && !crate::vars::symbolic() {
        gate::log(kind, guard as u64, 0, pc);
    }
}

unsafe extern "C-unwind" fn acquire(
    guard: Guard,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) -> c_int {
    // SAFETY: the program's guard, passed on.
    let first = unsafe { real::__cxa_guard_acquire(guard) };
    log(Kind::GuardPassed, guard, pc);
    first
}

unsafe extern "C-unwind" fn release(
    guard: Guard,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) {
    log(Kind::GuardOpened, guard, pc);
    // SAFETY: as above.
    unsafe { real::__cxa_guard_release(guard) };
}
