//! The guards of C++'s function-local variables: once controls of the compiler's own (Itanium C++
//! ABI, section 3.3.3). The first byte says that the variable is initialised.

use super::once;
use crate::intercept;
use core::ffi::c_int;

intercept! {
    fn __cxa_guard_acquire(guard: *mut u64) -> c_int, pc => c_int::from(once::acquire(guard, pc));
    fn __cxa_guard_release(guard: *mut u64) -> (), pc => once::release(guard, true, pc);
    fn __cxa_guard_abort(guard: *mut u64) -> (), pc => once::release(guard, false, pc);
}
