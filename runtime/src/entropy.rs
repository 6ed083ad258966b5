//! Everything random that the program asks the system for.
