//! Programs that other tools have instrumented: their hooks, and their runtime libraries beside
//! ours.

pub mod sanitizers;
pub mod tsan;
