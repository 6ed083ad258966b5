//! Mutexes.
