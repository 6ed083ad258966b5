//! The corpus directory (`--corpus`): what runs of a program leave for the runs after them.
//!
//! One SQLite database (`schema.sql` is its format) holds which executions were made, which
//! interleavings and predecessor pairs they showed, and every finding with its witness. It is
//! written in transactions, so that a process that is killed at any moment loses at most what it
//! has not reported; and several processes may use one directory at the same time. What `verify`
//! has executed is in a file of its own (`journal.rs`).

mod batch;
mod database;
mod identity;
mod journal;
mod keeper;
mod locks;
pub mod names;
mod numbers;
mod series;
#[cfg(test)]
mod tests;
mod view;
mod write;

pub use identity::{Key, key, verification};
pub use journal::Journal;
pub use keeper::{Account, Keeper};
pub use names::Names;
pub use series::Verdict;
pub use view::{ProgramView, Seen, View};
pub use write::{Known, NewFinding};

/// Seconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |time| time.as_secs() as i64)
}
