//! Both substrates on real threads of the test process.

use super::{Attributes, begin, prepare, spawn, switch};
use core::ffi::c_void;
use raddle_protocol::Slot;
use std::arch::asm;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

/// Bodies have no argument: what they shall do lies here. The tests are one test, so that it
/// belongs to one at a time.
static ME: AtomicUsize = AtomicUsize::new(0);
static PARTNER: AtomicUsize = AtomicUsize::new(0);
static ROUNDS: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static LOCAL: Cell<u64> = const { Cell::new(0) };
}

fn rounding() -> u32 {
    let mut control = 0u32;
    // SAFETY: stores the register.
    unsafe { asm!("stmxcsr [{}]", in(reg) &mut control) };
    control >> 13 & 3
}

fn set_rounding(mode: u32) {
    let mut control = 0u32;
    // SAFETY: rounding modes change no result that a test looks at.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &mut control);
        control = control & !(3 << 13) | mode << 13;
        asm!("ldmxcsr [{}]", in(reg) &control);
    }
}

extern "C-unwind" fn body() -> *mut c_void {
    let (me, partner) = (ME.load(SeqCst) as Slot, PARTNER.load(SeqCst) as Slot);
    // SAFETY: asks for the caller's own id.
    SEEN.store(unsafe { libc::pthread_self() }, SeqCst);
    set_rounding(1);
    LOCAL.set(1000);
    loop {
        LOCAL.set(LOCAL.get() + 1);
        ROUNDS.store(LOCAL.get(), SeqCst);
        // SAFETY: errno of this thread.
        unsafe { *libc::__errno_location() = 7 };
        switch(me, partner);
        assert_eq!(rounding(), 1);
        // SAFETY: as above.
        assert_eq!(unsafe { *libc::__errno_location() }, 7);
    }
}

fn goes_to_and_fro(me: Slot, other: Slot, kernel: bool) {
    begin(kernel);
    ME.store(usize::from(other), SeqCst);
    PARTNER.store(usize::from(me), SeqCst);
    // SAFETY: null means the defaults.
    let attributes = unsafe { Attributes::read(std::ptr::null()) };
    let thread = spawn(other, &attributes).unwrap();
    assert_eq!(super::slot_of_pthread(thread), Some(other));
    LOCAL.set(5);
    for round in 1..=10_000 {
        // SAFETY: errno of this thread.
        unsafe { *libc::__errno_location() = 3 };
        switch(me, other);
        // SAFETY: as above.
        assert_eq!(unsafe { *libc::__errno_location() }, 3);
        assert_eq!(
            (ROUNDS.load(SeqCst), LOCAL.get(), rounding()),
            (1000 + round, 5, 0)
        );
    }
    assert_eq!(
        SEEN.load(SeqCst),
        thread,
        "the descriptor is the new thread's own"
    );
}

#[test]
fn threads_keep_their_registers_and_their_storage() {
    prepare(body);
    goes_to_and_fro(0, 1, false);
    goes_to_and_fro(2, 3, true);
}

#[test]
fn attributes_are_plain_unless_something_is_out_of_the_ordinary() {
    // SAFETY: the attributes are initialised before they are used.
    unsafe {
        assert!(Attributes::read(std::ptr::null()).plain);
        let mut attr = std::mem::zeroed();
        libc::pthread_attr_init(&mut attr);
        libc::pthread_attr_setstacksize(&mut attr, 1 << 20);
        libc::pthread_attr_setdetachstate(&mut attr, libc::PTHREAD_CREATE_DETACHED);
        let read = Attributes::read(&attr);
        assert!(read.plain && read.detached && !read.user_stack);
        assert_eq!((read.stack, read.guard), (1 << 20, crate::os::PAGE));
        let mut stack = vec![0u8; 1 << 20];
        libc::pthread_attr_setstack(&mut attr, stack.as_mut_ptr().cast(), 1 << 20);
        let read = Attributes::read(&attr);
        assert!(read.user_stack && !read.plain);
        libc::pthread_attr_init(&mut attr);
        libc::pthread_attr_setinheritsched(&mut attr, libc::PTHREAD_EXPLICIT_SCHED);
        assert!(!Attributes::read(&attr).plain);
    }
}
