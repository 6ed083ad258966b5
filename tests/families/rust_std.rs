// Rust's standard library: channels, barriers, scopes, locks, parking. The mistake: a notification
// without the lock, between the look at the flag and the wait.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread;

static ONCE: Once = Once::new();
static CELL: OnceLock<u32> = OnceLock::new();

fn everything() {
    let (sender, receiver) = channel();
    let (bounded, other) = sync_channel(0);
    let barrier = Barrier::new(2);
    let shared = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            barrier.wait();
            *shared.write().unwrap() += 1;
            sender.send(1).unwrap();
            bounded.send(2).unwrap();
            ONCE.call_once(|| {});
        });
        barrier.wait();
        ONCE.call_once(|| {});
        let sum = receiver.recv().unwrap() + other.recv().unwrap();
        assert_eq!(sum + *shared.read().unwrap(), 4);
        assert_eq!(*CELL.get_or_init(|| 7), 7);
    });
    let parked = thread::spawn(thread::park);
    parked.thread().unpark();
    parked.join().unwrap();
}

fn main() {
    everything();
    let flag = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let theirs = flag.clone();
    let waiter = thread::spawn(move || {
        let mut held = theirs.1.lock().unwrap();
        while !theirs.0.load(Ordering::SeqCst) {
            thread::yield_now();
            held = theirs.2.wait(held).unwrap();
        }
    });
    thread::yield_now();
    {
        #[cfg(fixed)]
        let _held = flag.1.lock().unwrap();
        flag.0.store(true, Ordering::SeqCst);
        flag.2.notify_one();
    }
    waiter.join().unwrap();
}
