//! Two deadlocks inside the standard library's mutex: told apart by the user's own lines.

use std::sync::{Arc, Mutex};
use std::thread;

type Lock = Arc<Mutex<u32>>;

fn cross(a: &Lock, b: &Lock) {
    let (x, y) = (a.clone(), b.clone());
    let first = thread::spawn(move || {
        let one = x.lock().unwrap();
        thread::yield_now();
        let two = y.lock().unwrap();
        *one + *two
    });
    let two = b.lock().unwrap();
    thread::yield_now();
    let one = a.lock().unwrap();
    drop((one, two));
    first.join().unwrap();
}

fn cross_elsewhere(a: &Lock, b: &Lock) {
    let (x, y) = (a.clone(), b.clone());
    let first = thread::spawn(move || {
        let one = x.lock().unwrap();
        thread::yield_now();
        let two = y.lock().unwrap();
        *one + *two
    });
    let two = b.lock().unwrap();
    thread::yield_now();
    let one = a.lock().unwrap();
    drop((one, two));
    first.join().unwrap();
}

fn main() {
    let (a, b) = (Lock::default(), Lock::default());
    cross(&a, &b);
    cross_elsewhere(&a, &b);
}
