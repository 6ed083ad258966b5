//! The C library's `syscall`: futex waits of Rust's std and others.
