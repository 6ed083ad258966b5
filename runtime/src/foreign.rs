//! Programs that other tools have instrumented: their hooks, and their runtime libraries beside
//! ours.

mod tsan;
