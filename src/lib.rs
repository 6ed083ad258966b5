//! The raddle command: owns the loop, the options, and what people see.

pub mod class;
pub mod describe;
pub mod error;
pub mod exit;
pub mod objects;
pub mod policy;
pub mod report;
pub mod symbols;
