//! Condition variables.
