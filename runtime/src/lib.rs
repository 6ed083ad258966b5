//! The shim inside the target: obeys the job, switches threads, records events.
//!
//! See `README.md` in this crate's folder for how the parts work together.
#![cfg_attr(
    test,
    allow(
        dead_code,
        reason = "unit tests have no exports, which is where all calls come from"
    )
)]
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the runtime supports x86-64 Linux only");

mod export;
mod intercept;
mod real;

mod access;
mod blocks;
mod busy;
mod c11;
mod ends;
mod entropy;
mod fenv;
mod foreign;
mod futex;
mod gate;
mod gone;
mod heap;
mod io;
mod keys;
mod machine;
mod maps;
mod numbers;
mod objects;
mod openmp;
mod os;
mod pages;
mod passed;
mod policy;
mod process;
mod raw;
mod rng;
mod serial;
mod shadow;
mod signals;
mod slots;
mod spare;
mod start;
mod states;
mod substrate;
mod sync;
mod temporary;
mod threads;
mod time;
mod timers;
mod vars;
