//! History-aware predecessor sets: which statement ran right before which other one, on the same
//! object and in another thread ("Coverage Guided Systematic Concurrency Testing", ICSE 2011).

mod guide;
pub mod guided;
pub mod knowledge;
pub mod operation;
pub mod pairs;
