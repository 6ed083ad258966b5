//! One execution from its first to its last moment: drained, watched, ended, read.

use crate::ended::Ended;
use crate::error::{Corruption, RunError};
use crate::leftovers;
use crate::outcome;
use crate::output::{Output, Written};
use crate::pages::{Fate, Pages};
use crate::server::TICK;
use crate::stop::StopFlag;
use crate::stuck::Stuck;
use crate::sys;
use crate::target::Limits;
use nix::sys::eventfd::EventFd;
use nix::unistd::Pid;
use raddle_protocol::event::Event;
use raddle_protocol::schedule::Step;
use raddle_protocol::shared::freeze;
use raddle_protocol::trace::{Trace, validate};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Records that have been taken out of the pages.
#[derive(Clone, Debug, Default)]
pub struct Records {
    events: Vec<Event>,
    taken: Vec<Step>,
    uncontrolled: Vec<String>,
    stdout: Written,
    stderr: Written,
}

/// What is named where a hash stands for an output and does not know all of it.
const TAKEN_BACK: &str = "ftruncate of a long standard output";

impl Records {
    /// The output that follows comes after what is here.
    pub fn go_on(&self, output: &Output) {
        output.stdout.go_on_from(&self.stdout);
        output.stderr.go_on_from(&self.stderr);
    }

    /// The schedule so far.
    pub fn taken(&self) -> &[Step] {
        &self.taken
    }

    /// Bytes kept.
    fn bytes(&self) -> usize {
        self.events.len() * size_of::<Event>() + self.taken.len() * size_of::<Step>()
    }

    /// Takes all that an execution has left behind so far.
    fn collect(&mut self, watch: &Watch<'_>) -> Result<(), Trouble> {
        for name in watch.pages.uncontrolled()? {
            if !self.uncontrolled.contains(&name) {
                self.uncontrolled.push(name);
            }
        }
        self.drain(watch.pages, watch.limits.record_bytes)?;
        if let Some(output) = watch.output {
            let out = output.stdout.take(&mut self.stdout);
            let both = out.and_then(|()| output.stderr.take(&mut self.stderr));
            both.map_err(|e| Trouble::Os("read the output", e))?;
            let name = TAKEN_BACK.to_string();
            if self.stdout.lost && !self.uncontrolled.contains(&name) {
                self.uncontrolled.push(name);
            }
        }
        Ok(())
    }

    /// Empties the regions, unless more than `limit` bytes would then be kept.
    fn drain(&mut self, pages: &Pages, limit: usize) -> Result<(), Trouble> {
        if self.bytes() + pages.pending_bytes()? > limit {
            return Err(Trouble::TooManyRecords);
        }
        self.events.append(&mut pages.take_events()?);
        append_steps(&mut self.taken, &pages.take_steps()?);
        Ok(())
    }
}

/// Appends one part of a schedule to the earlier ones, run-length coded as if it had been written
/// in one piece, so that a schedule does not show when it was drained.
fn append_steps(all: &mut Vec<Step>, part: &[Step]) {
    if all.is_empty() {
        all.extend_from_slice(part);
        return;
    }
    for &step in part {
        match all.last_mut() {
            Some(last) if last.what == step.what && !step.is_choice() && step.count > 0 => {
                let room = u16::MAX - last.count;
                let moved = room.min(step.count);
                last.count += moved;
                if step.count > moved {
                    all.push(Step::thread(step.what, step.count - moved));
                }
            }
            _ => all.push(step),
        }
    }
}

/// How far an execution was followed.
#[derive(Debug)]
pub enum Followed {
    /// To its end.
    Ended,
    /// Until its time was up; what it was doing then.
    Stuck(Stuck),
    /// It has become a copy; the state that it reports ([`freeze`]).
    Frozen(u32),
    /// To its end, with this status; its process has been put back.
    Rewound(i32),
}

impl Followed {
    /// What it was doing when its time was up.
    pub fn stuck(&self) -> Option<&Stuck> {
        match self {
            Followed::Stuck(stuck) => Some(stuck),
            Followed::Ended | Followed::Frozen(_) | Followed::Rewound(_) => None,
        }
    }
}

/// Why an execution is not followed to its own end.
#[derive(Debug)]
pub enum Trouble {
    Corrupt(Corruption),
    TooManyRecords,
    /// It was to stop; what it was doing then.
    Stopped(Box<Stuck>),
    Os(&'static str, io::Error),
}

impl From<Corruption> for Trouble {
    fn from(c: Corruption) -> Trouble {
        Trouble::Corrupt(c)
    }
}

impl Trouble {
    /// For the caller; `ended`: how the execution has ended by now.
    pub fn into_error(self, ended: Ended, limits: &Limits) -> RunError {
        match self {
            Trouble::Corrupt(what) => RunError::PagesCorrupt { what, ended },
            Trouble::TooManyRecords => RunError::TooManyRecords {
                limit: limits.record_bytes,
            },
            Trouble::Stopped(_) => RunError::Stopped,
            Trouble::Os(action, source) => RunError::Os { action, source },
        }
    }
}

/// What is needed to follow an execution.
pub struct Watch<'s> {
    pub pages: &'s Pages,
    pub notify: &'s EventFd,
    pub stop: &'s StopFlag,
    pub limits: &'s Limits,
    /// `None`: the target writes to files that are not ours.
    pub output: Option<&'s Output>,
    /// What was asked of the execution.
    pub fate: Fate,
    /// An execution that computes for so long without taking a step is followed no further.
    pub patience: Option<Duration>,
}

impl Watch<'_> {
    /// Follows the process `pid` until it has ended, its time is up, or it has become a copy or has
    /// been put back.
    /// `limit`: `None` for no end.
    pub fn follow(
        &self,
        process: BorrowedFd<'_>,
        pid: i32,
        limit: Option<Duration>,
        records: &mut Records,
    ) -> Result<Followed, Trouble> {
        let os = |action| move |e| Trouble::Os(action, e);
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut next = limit.map_or(TICK, |limit| limit.min(TICK));
        let mut quiet = (self.pages.progress().steps, Instant::now());
        loop {
            // Looked at first: whoever waited for the clone may have read the eventfd.
            match (self.fate, self.pages.frozen()) {
                (Fate::Freeze(_), state @ (freeze::FROZEN | freeze::FROZEN_FREE)) => {
                    return Ok(Followed::Frozen(state));
                }
                (Fate::Rewind, freeze::REWOUND) => {
                    return Ok(Followed::Rewound(self.pages.status() & 0xff));
                }
                _ => {}
            }
            let fds = [process, self.notify.as_fd(), self.stop.as_fd()];
            let [ended, asked, stopped] =
                sys::poll_in(fds, Some(next)).map_err(os("wait for the execution"))?;
            if stopped {
                let stuck = Stuck::look(pid, || self.pages.progress());
                return Err(Trouble::Stopped(Box::new(stuck)));
            }
            if asked {
                // The value says nothing; reading makes it unreadable again.
                let _ = self.notify.read();
            }
            if self.pages.drain_wanted() {
                records.drain(self.pages, self.limits.record_bytes)?;
                self.pages.drained();
            }
            if ended {
                return Ok(Followed::Ended);
            }
            if let (Some(output), false) = (self.output, asked) {
                output.trim().map_err(os("limit the output"))?;
            }
            if let Some(end) = deadline {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    let progress = || self.pages.progress();
                    return Ok(Followed::Stuck(Stuck::look(pid, progress)));
                }
                next = left.min(TICK);
            }
            if let Some(patience) = self.patience
                && let Some(stuck) = self.computes(pid, patience, &mut quiet)
            {
                return Ok(Followed::Stuck(stuck));
            }
        }
    }

    /// Has the process computed for this long without a step? `quiet`: how many steps it has taken,
    /// and since when there was no other.
    fn computes(&self, pid: i32, patience: Duration, quiet: &mut (u64, Instant)) -> Option<Stuck> {
        let steps = self.pages.progress().steps;
        if steps != quiet.0 {
            *quiet = (steps, Instant::now());
        }
        if quiet.1.elapsed() < patience {
            return None;
        }
        quiet.1 = Instant::now();
        let stuck = Stuck::look(pid, || self.pages.progress());
        stuck.computes().then_some(stuck)
    }

    /// Makes the trace of an execution that has `ended`.
    pub fn read(
        &self,
        mut records: Records,
        ended: Ended,
        stuck: Option<&Stuck>,
    ) -> Result<Trace, Trouble> {
        let pages = self.pages;
        pages.check_head()?;
        let written = pages.outcome()?;
        let running = pages.progress().thread;
        let outcome = outcome::join(written, ended, running, stuck, self.limits.accepted)?;
        let counters = pages.counters()?;
        records.collect(self)?;
        let nodes = pages.take_nodes()?;
        validate(&records.events, &nodes, &records.taken).map_err(Corruption::Record)?;
        Ok(Trace {
            nodes,
            counters,
            uncontrolled: records.uncontrolled,
            loaded: pages.loaded()?,
            stdout: records.stdout.kept,
            stderr: records.stderr.kept,
            stdout_rest: records.stdout.rest,
            ..Trace::new(records.events, records.taken, outcome)
        })
    }

    /// Takes what an execution left behind that has become a copy, up to there.
    pub fn read_copy(&self, mut records: Records) -> Result<Records, Trouble> {
        self.pages.check_head()?;
        records.collect(self)?;
        Ok(records)
    }
}

/// A running execution, a child of this process; dropping it kills and reaps it and its group.
#[derive(Debug)]
pub struct Execution {
    pid: i32,
    process: OwnedFd,
    reaped: bool,
}

impl Execution {
    /// Takes charge of the child `pid`. It makes itself the leader of a process group: the kernel
    /// does not let its parent, in another session, do that for it.
    pub fn new(pid: i32) -> io::Result<Execution> {
        Ok(Execution {
            pid,
            process: sys::pidfd_open(pid)?,
            reaped: false,
        })
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Readable once it has ended.
    pub fn process(&self) -> BorrowedFd<'_> {
        self.process.as_fd()
    }

    /// Kills what is left of it (perhaps nothing) and says how it ended.
    pub fn finish(mut self) -> io::Result<Ended> {
        self.end()
    }

    fn end(&mut self) -> io::Result<Ended> {
        self.reaped = true;
        // While it is not reaped its number cannot belong to anybody else. It may have been killed
        // before it had a group of its own, so it is named as well.
        let pid = Pid::from_raw(self.pid);
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        leftovers::kill_group(self.pid);
        let ended = sys::reap(self.process.as_fd());
        leftovers::reap_group(self.pid);
        ended
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.end();
        }
    }
}

#[cfg(test)]
mod tests;
