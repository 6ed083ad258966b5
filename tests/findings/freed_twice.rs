// One thread frees a block twice, by the same function of the standard library and from two places,
// if another one was early.
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static EARLY: AtomicBool = AtomicBool::new(false);

#[inline(never)]
fn done_with(block: *mut u64) {
    // SAFETY: made by `Box::into_raw`.
    drop(unsafe { Box::from_raw(block) });
}

#[inline(never)]
fn cancelled(block: *mut u64) {
    // SAFETY: none: this is the bug.
    drop(unsafe { Box::from_raw(block) });
}

fn main() {
    let other = thread::spawn(|| EARLY.store(true, Ordering::SeqCst));
    let block = Box::into_raw(Box::new(7));
    done_with(block);
    if EARLY.load(Ordering::SeqCst) {
        cancelled(block);
    }
    other.join().unwrap();
}
