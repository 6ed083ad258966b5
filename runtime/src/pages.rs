//! The shared pages: log, taken steps, drains, outcome.
