//! Virtual time: clocks, sleeps.
