//! Rust's standard library under raddle, unmodified: threads, `Mutex`, `Condvar`, `mpsc`. It is
//! right under every schedule; with `--cfg bug` the waiter does not ask whether it is too late.
//!
//! ```text
//! rustc -g pipeline.rs && raddle run -n 1000 -- ./pipeline
//! ```
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;

/// A gate that opens once.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    #[cfg(not(bug))]
    fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }

    #[cfg(bug)]
    fn pass(&self) {
        let open = self.open.lock().unwrap();
        drop(self.opened.wait(open).unwrap());
    }
}

fn main() {
    let gate = Arc::new(Gate::default());
    let total = Arc::new(Mutex::new(0));
    let (sender, receiver) = mpsc::channel::<u32>();

    let workers: Vec<_> = (0..2)
        .map(|i| {
            let (gate, sender) = (Arc::clone(&gate), sender.clone());
            thread::spawn(move || {
                gate.pass();
                sender.send(i + 1).unwrap();
            })
        })
        .collect();
    drop(sender);

    let sum = Arc::clone(&total);
    let adder = thread::spawn(move || {
        for value in receiver {
            *sum.lock().unwrap() += value;
        }
    });

    gate.open();
    for worker in workers {
        worker.join().unwrap();
    }
    adder.join().unwrap();
    assert_eq!(*total.lock().unwrap(), 3);
    println!("all is well");
}
