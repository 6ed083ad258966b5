//! Descriptors that can block, between the threads of the target and towards the outside.
//!
//! Every operation on a pipe, a socket, an eventfd and the like is a step: announced, chosen when
//! the kernel says that it would not block, and done without blocking ([`wait`]). Regular files and
//! devices are left alone. What an operation changes may let others go on, so all that wait are
//! polled again after each one. When nobody can go on, and nobody outside of the process can change
//! that, it is a deadlock; else the execution waits for real ([`outside`]) and is "not closed".

mod asynchronous;
mod credentials;
mod descriptors;
mod direct;
mod faults;
mod fifo;
mod functions;
mod locks;
mod messages;
mod multiplex;
pub mod names;
mod outside;
mod places;
mod random;
mod raw;
mod requests;
mod select;
mod settle;
pub mod shared_memory;
mod signal;
mod six;
mod sockets;
mod stat;
pub mod stream_locks;
mod streams;
mod system_v;
mod table;
mod transfer;
mod wait;

pub use descriptors::counter;
pub use direct::perform;
pub use faults::interrupts_wait;
pub use fifo::here as open;
pub use functions::read;
pub use outside::{Watch, real_time};
pub use places::remember_directory;
pub use random::opened_directory;
pub use raw::path_of;
pub use raw::{stat as status, stat_path as status_at};
pub use requests::linux;
pub use settle::under_way;
pub use signal::refresh as signals_changed;
pub use stat::begin;
pub use streams::{dispatched, letting_through, rearm, thread_begins};

/// Are operations on this descriptor steps?
pub fn is_followed(fd: core::ffi::c_int) -> bool {
    table::find(fd).is_some()
}

/// The number of the object behind this descriptor, if operations on it are steps.
pub fn object_of(fd: core::ffi::c_int) -> Option<u64> {
    table::find(fd).map(|object| object.number)
}

/// The file status flags; `None` for a descriptor that is not open.
pub fn status_flags(fd: core::ffi::c_int) -> Option<core::ffi::c_int> {
    let flags = raw::fcntl(fd, libc::F_GETFL, 0);
    (flags >= 0).then_some(flags as core::ffi::c_int)
}
pub use table::{change, share_all};
pub use wait::answer;
