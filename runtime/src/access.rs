//! Scheduling hooks of instrumented code.
