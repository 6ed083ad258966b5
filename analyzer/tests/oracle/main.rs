//! The analyzer against programs of a toy language, whose behaviour is known by brute force.

mod machine;
mod player;
mod program;
mod races;
mod random;
mod recorder;
mod sync;

mod dfs;
mod frontier;
mod paper;
mod robust;
mod shrink;
