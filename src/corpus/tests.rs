//! The database layer.
