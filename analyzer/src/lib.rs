//! Pure functions from traces to new jobs and verdicts. No files, no processes.

pub mod bounds;
pub mod ddmin;
pub mod dfs;
pub mod direct;
pub mod dpor;
pub mod estimate;
pub mod fast;
pub mod fewer;
pub mod fingerprint;
pub mod hapset;
pub mod inputs;
mod inuse;
pub mod leaks;
pub mod locks;
pub mod races;
pub mod sampling;
pub mod search;
pub mod shrink;
pub mod steer;
pub mod stop;
pub mod verify;
pub mod wander;
pub mod words;
