//! The raddle command.
