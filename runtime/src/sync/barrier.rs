//! Barriers.
