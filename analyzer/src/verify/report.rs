//! What goes into an exploration and what comes out of it.

use crate::races::Race;
use raddle_protocol::expr::Why;
use raddle_protocol::job::Job;
use raddle_protocol::trace::Corrupt;
use std::time::Duration;

/// How the next path is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Per-thread trees and one query for all frontiers (DESIGN §8). Sound.
    Frontier,
    /// Strategy 1 of papers/mpc.txt, section 3.4.1. Can miss paths; never ends in
    /// [`Verdict::Verified`].
    MpcS1,
    /// Strategy 2 of papers/mpc.txt, section 3.4.2: extends threads by unsatisfiable cores. What it
    /// has left at its end is explored by the question of [`Strategy::Frontier`].
    MpcS2,
    /// Maximal causality reduction (section 2.2): an execution for every combination of values that
    /// the threads' reads can return, with inputs that stay zero.
    Mcr,
}

/// Where exploration stops although something may be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Executions; 0: no limit.
    pub executions: u64,
    /// Time since [`Verifier::new`](super::Verifier::new), solver and executions together.
    pub time: Option<Duration>,
    /// Steps of one execution; 0: no limit.
    pub steps: u64,
    /// Decisions on one local path of a thread; 0: no limit.
    pub branches: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            executions: 0,
            time: None,
            steps: 100_000,
            branches: 256,
        }
    }
}

/// What is claimed at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing unexplored is reachable, under the assumptions of the report.
    Verified,
    /// As `Verified`, but only within the bounds that the text names.
    VerifiedWithinBounds(String),
}

/// Values that had to be made concrete at one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concretised {
    /// Return address into the program.
    pub pc: u64,
    /// Why.
    pub why: Why,
    /// The function whose call it was; empty where it was none.
    pub function: String,
    /// How often, over all executions.
    pub count: u64,
}

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub verdict: Verdict,
    /// Executions that were observed.
    pub executions: u64,
    /// Questions to the solver.
    pub queries: u64,
    /// Questions that another one has answered, or its unsatisfiable core.
    pub spared: u64,
    /// Different complete local paths, summed over the threads.
    pub local_paths: u64,
    /// Time in the solver, in milliseconds.
    pub solver_ms: f64,
    /// Time for making the formulas, in milliseconds.
    pub encoding_ms: f64,
    /// Time between giving a job and observing its execution, in milliseconds.
    pub executing_ms: f64,
    /// The longest single question, in milliseconds.
    pub longest_ms: f64,
    /// What the verdict takes for granted.
    pub assumptions: Vec<String>,
    pub concretised: Vec<Concretised>,
    /// Frontiers that were reachable in the formula but not in the executions that aimed at them.
    pub unreached: Vec<Unreached>,
    /// The statements of the last decisions that were followed: return addresses into the program.
    pub bounded_at: Vec<u64>,
    /// Executions for what [`Strategy::MpcS2`] or [`Strategy::Mcr`] had left.
    pub left_over: u64,
    /// Executions since the exploration last started anew.
    pub settled: u64,
    /// How often the exploration started anew because a location turned out to be shared.
    pub restarts: u64,
    /// Executions that left their schedule.
    pub diverged: u64,
}

/// A frontier that was reachable in the formula but not in the executions that aimed at it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreached {
    /// What was to happen.
    pub what: &'static str,
    /// Where, of each thread that takes part: return addresses into the program.
    pub at: Vec<u64>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run this and [observe](super::Verifier::observe) its trace.
    Run(Job),
    /// The end.
    Done(Report),
}

/// What to do next at the same time.
#[derive(Clone, Debug, PartialEq)]
pub enum Several {
    /// Run these in any order, and observe them in this one.
    Run(Vec<Job>),
    /// The end.
    Done(Report),
}

/// What an observation brought to light, for the progress display and the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// So many ranges were found to be shared; exploration starts anew with them.
    NewShared(usize),
    /// New local paths or decisions.
    NewPaths(u64),
    /// The trace is not well-formed and was not used.
    Corrupt(Corrupt),
    /// The execution left its schedule.
    Diverged,
    /// A data race between two statements that none before it was between; see
    /// [`super::Verifier::look_for_races`].
    Race(Race),
    /// The job was made when less was known to be shared: its trace was not used.
    Stale,
    /// The execution taught nothing new.
    Nothing,
}
