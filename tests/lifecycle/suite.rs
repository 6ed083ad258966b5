//! A test that can be run in many ways.

#[test]
fn goes_on_and_on() {
    let sum = std::sync::Arc::new(std::sync::Mutex::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let sum = sum.clone();
            std::thread::spawn(move || (0..50).for_each(|_| *sum.lock().unwrap() += 1))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*sum.lock().unwrap(), 150);
}
