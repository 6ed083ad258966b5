//! The analyzer against programs of a toy language, whose behaviour is known by brute force.

mod machine;
mod player;
mod program;
mod races;
mod racing;
mod random;
mod recorder;
mod sync;
mod untested;

mod dfs;
mod frontier;
mod once_wrong;
mod paper;
mod robust;
mod several;
mod shrink;
mod strategies;
