//! Runs one job on one target and hands back its trace. Knows no search.
//!
//! [`inspect`] says whether a program can be run at all. A [`Session`] starts it up to its `main`
//! once and clones it for every execution; [`direct`] prepares one execution without that, for
//! debuggers.

mod direct;
mod elf;
mod ended;
mod error;
mod execution;
mod inspect;
mod launch;
mod leftovers;
mod modules;
mod outcome;
mod output;
mod pages;
mod place;
mod sanitizers;
mod server;
mod session;
mod snapshots;
mod stop;
mod stuck;
mod sys;
mod target;

pub use direct::{Direct, direct};
pub use ended::{Ended, signal_name};
pub use error::{Corruption, RunError, StartError, Unsuitable};
pub use inspect::{Program, inspect};
pub use modules::{Module, Sanitizer};
pub use sanitizers::Sanitizers;
pub use session::Session;
pub use stop::StopFlag;
pub use stuck::Stuck;
pub use target::{Limits, Reuse, Statuses, Stdin, Target};
