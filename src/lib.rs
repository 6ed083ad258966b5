//! The raddle command: owns the loop, the options, and what people see.

pub mod callers;
pub mod cc;
pub mod class;
pub mod cli;
pub mod commands;
pub mod corpus;
pub mod coverage;
pub mod describe;
pub mod divergence;
pub mod error;
pub mod exit;
pub mod explore;
pub mod interrupt;
pub mod objects;
pub mod policy;
pub mod progress;
pub mod replay;
pub mod report;
pub mod setup;
pub mod store;
pub mod summary;
pub mod symbols;
pub mod terminal;
pub mod triage;
pub mod verify;
