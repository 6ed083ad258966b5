//! Pseudo-random numbers.
