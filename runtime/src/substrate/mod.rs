//! What carries the target's threads: see DESIGN §5.
