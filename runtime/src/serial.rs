//! State that needs no lock because only one thread of the target runs at a time.

use core::cell::UnsafeCell;

/// A global of the serialised world.
pub struct Serial<T>(UnsafeCell<T>);

// SAFETY: the gate lets one thread run at a time, and a switch orders all memory accesses before
// it before those after it.
unsafe impl<T> Sync for Serial<T> {}

impl<T> Serial<T> {
    /// Wraps the initial value.
    pub const fn new(value: T) -> Serial<T> {
        Serial(UnsafeCell::new(value))
    }

    /// The value.
    ///
    /// # Safety
    /// The caller is the running thread, and does not keep the reference over anything that may
    /// switch threads (`gate::point` and its kin) or that takes the same global again.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn get(&self) -> &mut T {
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.0.get() }
    }
}
