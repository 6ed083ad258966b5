//! What Rust's library offers for threads, one mode each; the exit status is the outcome.
use std::sync::atomic::{AtomicU32, AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(5);

/// Threads of a scope borrow from it.
fn scope() -> u32 {
    let sum = Mutex::new(0);
    thread::scope(|s| {
        s.spawn(|| *sum.lock().unwrap() += 1);
        s.spawn(|| *sum.lock().unwrap() += 2);
    });
    sum.into_inner().unwrap()
}

/// A panic with the lock held poisons it: 1 locked before, 2 poisoned.
fn poison() -> u32 {
    let lock = Mutex::new(());
    thread::scope(|s| {
        let other = s.spawn(|| {
            let _hold = lock.lock();
            std::panic::resume_unwind(Box::new(()));
        });
        let seen = match lock.lock() {
            Ok(_) => 1,
            Err(_) => 2,
        };
        other.join().unwrap_err();
        seen
    })
}

/// A panic is the result of the join.
fn panic_value() -> u32 {
    let other = thread::spawn(|| -> u32 { std::panic::resume_unwind(Box::new(7u32)) });
    *other.join().unwrap_err().downcast::<u32>().unwrap()
}

fn park() -> u32 {
    let flag = Arc::new(AtomicBool::new(false));
    let main = thread::current();
    let other = thread::spawn({
        let flag = flag.clone();
        move || {
            flag.store(true, SeqCst);
            main.unpark();
        }
    });
    while !flag.load(SeqCst) {
        thread::park();
    }
    other.join().unwrap();
    1
}

/// A token that came before the wait, or in time, or not.
fn park_timeout() -> u32 {
    let flag = Arc::new(AtomicU32::new(0));
    let main = thread::current();
    let other = thread::spawn({
        let flag = flag.clone();
        move || {
            flag.store(1, SeqCst);
            main.unpark();
        }
    });
    thread::park_timeout(SHORT);
    let seen = flag.load(SeqCst);
    other.join().unwrap();
    seen
}

/// Two senders: whose message is first?
fn channel() -> u32 {
    let (tx, rx) = mpsc::channel();
    let tx2 = tx.clone();
    let a = thread::spawn(move || tx.send(1).unwrap());
    let b = thread::spawn(move || tx2.send(2).unwrap());
    let all: Vec<u32> = rx.iter().collect();
    a.join().unwrap();
    b.join().unwrap();
    all[0] * 10 + all[1]
}

/// A rendezvous: the sender goes on when the message was taken.
fn rendezvous() -> u32 {
    let (tx, rx) = mpsc::sync_channel(0);
    let other = thread::spawn(move || {
        let mut failed = 0;
        for k in 1..=2 {
            failed = failed * 10 + u32::from(tx.send(k).is_err());
        }
        failed
    });
    let first = rx.recv().unwrap();
    drop(rx);
    first * 10 + other.join().unwrap()
}

/// 0 nothing yet, 1 gone, 2 a message.
fn try_receive() -> u32 {
    let (tx, rx) = mpsc::sync_channel::<u32>(1);
    let other = thread::spawn(move || tx.send(2).unwrap());
    let seen = match rx.try_recv() {
        Ok(value) => value,
        Err(TryRecvError::Empty) => 0,
        Err(TryRecvError::Disconnected) => 1,
    };
    let _ = rx.recv();
    other.join().unwrap();
    seen
}

fn receive_timeout() -> u32 {
    let (tx, rx) = mpsc::channel::<u32>();
    let other = thread::spawn(move || tx.send(2).unwrap_or(()));
    let seen = match rx.recv_timeout(SHORT) {
        Ok(value) => value,
        Err(RecvTimeoutError::Timeout) => 0,
        Err(RecvTimeoutError::Disconnected) => 1,
    };
    other.join().unwrap();
    seen
}

/// One of the threads is the leader.
fn barrier() -> u32 {
    let meet = Barrier::new(2);
    thread::scope(|s| {
        let other = s.spawn(|| meet.wait().is_leader());
        let mine = meet.wait().is_leader();
        u32::from(mine) + 2 * u32::from(other.join().unwrap())
    })
}

static ONCE: Once = Once::new();
static CELL: OnceLock<u32> = OnceLock::new();
static MADE: AtomicU32 = AtomicU32::new(0);
static LAZY: LazyLock<u32> = LazyLock::new(|| MADE.fetch_add(1, SeqCst) + 1);

fn once() -> u32 {
    let by = AtomicU32::new(0);
    thread::scope(|s| {
        s.spawn(|| ONCE.call_once(|| by.store(1, SeqCst)));
        ONCE.call_once(|| by.store(2, SeqCst));
        by.load(SeqCst)
    })
}

/// The first call panics; a forced one repairs it.
fn once_poisoned() -> u32 {
    let other = thread::spawn(|| ONCE.call_once(|| std::panic::resume_unwind(Box::new(()))));
    let failed = other.join().is_err();
    let mut poisoned = false;
    ONCE.call_once_force(|state| poisoned = state.is_poisoned());
    u32::from(failed) + 2 * u32::from(poisoned)
}

fn once_lock() -> u32 {
    thread::scope(|s| {
        s.spawn(|| CELL.get_or_init(|| 1));
        *CELL.get_or_init(|| 2)
    })
}

fn lazy() -> u32 {
    thread::scope(|s| {
        s.spawn(|| *LAZY);
        *LAZY
    })
}

fn read_write() -> u32 {
    let lock = RwLock::new(0);
    thread::scope(|s| {
        s.spawn(|| *lock.write().unwrap() = 1);
        let a = lock.read().unwrap();
        let b = lock.try_read().map_or(5, |guard| *guard);
        *a * 10 + b
    })
}

fn condvar() -> u32 {
    let pair = (Mutex::new(0), Condvar::new());
    thread::scope(|s| {
        s.spawn(|| {
            *pair.0.lock().unwrap() = 6;
            pair.1.notify_one();
        });
        *pair.1.wait_while(pair.0.lock().unwrap(), |v| *v == 0).unwrap()
    })
}

/// 0 too late, 1 in time.
fn condvar_timeout() -> u32 {
    let pair = (Mutex::new(false), Condvar::new());
    thread::scope(|s| {
        s.spawn(|| {
            *pair.0.lock().unwrap() = true;
            pair.1.notify_all();
        });
        let guard = pair.0.lock().unwrap();
        let (guard, limit) = pair.1.wait_timeout_while(guard, SHORT, |v| !*v).unwrap();
        assert!(*guard != limit.timed_out());
        u32::from(*guard)
    })
}

struct Count(Arc<AtomicU32>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

thread_local!(static LOCAL: std::cell::RefCell<Option<Count>> = const { std::cell::RefCell::new(None) });

/// Values of thread-local storage are dropped before the join returns.
fn local_dropped() -> u32 {
    let count = Arc::new(AtomicU32::new(0));
    let other = thread::spawn({
        let count = count.clone();
        move || LOCAL.with(|slot| *slot.borrow_mut() = Some(Count(count)))
    });
    other.join().unwrap();
    count.load(SeqCst)
}

/// Upgrading a weak pointer against the last drop: 0 gone, 1 there.
fn weak() -> u32 {
    let strong = Arc::new(1);
    let weak: Weak<u32> = Arc::downgrade(&strong);
    let other = thread::spawn(move || drop(strong));
    let seen = weak.upgrade().map_or(0, |value| *value);
    other.join().unwrap();
    seen
}

/// Named threads, with stacks of their own.
fn builder() -> u32 {
    let other = thread::Builder::new()
        .name("worker".into())
        .stack_size(64 << 10)
        .spawn(|| thread::current().name() == Some("worker"));
    u32::from(other.unwrap().join().unwrap())
}

const MODES: &[(&str, fn() -> u32)] = &[
    ("scope", scope),
    ("poison", poison),
    ("panic_value", panic_value),
    ("park", park),
    ("park_timeout", park_timeout),
    ("channel", channel),
    ("rendezvous", rendezvous),
    ("try_receive", try_receive),
    ("receive_timeout", receive_timeout),
    ("barrier", barrier),
    ("once", once),
    ("once_poisoned", once_poisoned),
    ("once_lock", once_lock),
    ("lazy", lazy),
    ("read_write", read_write),
    ("condvar", condvar),
    ("condvar_timeout", condvar_timeout),
    ("local_dropped", local_dropped),
    ("weak", weak),
    ("builder", builder),
];

fn main() {
    let mode = std::env::args().nth(1);
    for (name, run) in MODES {
        match &mode {
            Some(mode) if mode == name => std::process::exit(run() as i32),
            Some(_) => {}
            None => println!("{name}"),
        }
    }
    std::process::exit(if mode.is_some() { 99 } else { 0 });
}
