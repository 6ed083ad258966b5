//! Spin locks.
