//! Read-write locks.
