//! Tail rules: who runs once the prefix is used up.
