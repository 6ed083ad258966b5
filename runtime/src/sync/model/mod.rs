//! The state machines of the synchronisation objects: plain values and pure transitions. Who is
//! chosen, what is logged and where the states live is the business of the modules above.

pub mod barrier;
pub mod mutex;
pub mod once;
pub mod queue;
pub mod rwlock;
pub mod semaphore;
pub mod spin;
pub mod verdict;
