//! A thread panics, and another one joins it. With an argument, as under RUST_BACKTRACE=1.

fn main() {
    if let Some(value) = std::env::args().nth(1) {
        // SAFETY: there is one thread.
        unsafe { std::env::set_var("RUST_BACKTRACE", value) };
    }
    let thread = std::thread::spawn(|| panic!("on purpose"));
    assert!(thread.join().is_err());
}
