//! Threads of Rust's standard library, which maps a stack for signals for each of them and unmaps it
//! at its end, the main thread's too.

use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let order = Arc::new(Mutex::new(String::new()));
    let threads: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|name| {
            let order = order.clone();
            let work = move || {
                for _ in 0..2 {
                    order.lock().unwrap().push_str(name);
                    thread::yield_now();
                }
            };
            let builder = thread::Builder::new().name(name.into());
            builder.spawn(work).unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", order.lock().unwrap());
}
