//! Semaphores.
