//! One started target and the executions cloned from it.

use crate::ended::Ended;
use crate::error::{RunError, StartError};
use crate::execution::{Execution, Followed, Records, Trouble, Watch};
use crate::inspect::{Program, inspect};
use crate::leftovers;
use crate::modules::{self, Module};
use crate::output::Output;
use crate::pages::{Fate, Pages};
use crate::place;
use crate::server::Server;
use crate::snapshots::Snapshots;
use crate::stop::StopFlag;
use crate::stuck::Stuck;
use crate::target::{Limits, Reuse, Target};
use raddle_protocol::job::Job;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::{BUSY_WAIT, flags};
use raddle_protocol::trace::Trace;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What a program is reported to have done that makes processes.
const MAKES_PROCESSES: &[&str] = &[
    "fork",
    "vfork",
    "clone",
    "posix_spawn",
    "system",
    "popen",
    "daemon",
];

/// A target that has been started up to its `main` and is cloned for every execution.
///
/// A session may be made by one thread and used by another. Dropping it ends everything that came
/// from it; if this process is killed, the kernel does.
#[derive(Debug)]
pub struct Session {
    target: Target,
    program: Program,
    limits: Limits,
    stop: StopFlag,
    pages: Pages,
    output: Output,
    modules: Vec<Module>,
    /// [`place::with_function`] of what was not under control so far.
    named: HashMap<String, String>,
    /// Ended before the server that they come from.
    snapshots: Snapshots,
    /// `None` after it went wrong; the next execution starts a new one.
    server: Option<Server>,
    /// The program waits in loops without operations: every execution is watched for that.
    waits_busily: bool,
    /// What computes for so long without a step is run again, watched; `None`: that would show
    /// nothing.
    patience: Option<Duration>,
    /// The last execution was ended while it computed without taking steps.
    computed: bool,
    /// See [`Session::cut_off`].
    cut_off: Option<Stuck>,
    /// See [`Session::until`].
    deadline: Option<Instant>,
}

/// [`Session::patience`], until the program has shown that it computes for longer; then so many times
/// that.
const PATIENCE: Duration = Duration::from_millis(200);
const MORE_PATIENCE: u32 = 5;

/// An execution that has started.
struct Begun {
    execution: Execution,
    /// What the copy from which it comes did before.
    records: Records,
    fate: Fate,
    copy: Option<usize>,
    /// Its process was put back before.
    again: bool,
}

fn watched(pid: i32) -> Result<Execution, RunError> {
    Execution::new(pid).map_err(|source| RunError::Os {
        action: "watch the execution",
        source,
    })
}

impl Session {
    /// Starts `target` and waits until it stands before its `main`.
    pub fn start(target: &Target, limits: &Limits, stop: &StopFlag) -> Result<Session, StartError> {
        let os = |action| move |source| StartError::Os { action, source };
        let program = inspect(&target.program)?;
        let pages = Pages::new().map_err(os("make the shared pages"))?;
        let output = Output::new(limits.output_bytes).map_err(os("make the output files"))?;
        let mut session = Session {
            target: target.clone(),
            program,
            limits: *limits,
            stop: stop.clone(),
            pages,
            output,
            modules: Vec::new(),
            named: HashMap::new(),
            snapshots: Snapshots::default(),
            server: None,
            waits_busily: false,
            patience: Some(limits.wall.min(PATIENCE)),
            computed: false,
            cut_off: None,
            deadline: None,
        };
        match session.serve() {
            Err(_) if stop.is_set() => Err(StartError::Stopped),
            Err(error) => Err(error),
            Ok(_) => Ok(session),
        }
    }

    /// The running server, started anew if need be.
    fn serve(&mut self) -> Result<&mut Server, StartError> {
        if self.server.is_none() {
            self.snapshots = Snapshots::default();
            let server = match self.start_server(true) {
                // A function that is missing but never called is no fault of the program's.
                Err(StartError::Ended { .. }) => self.start_server(false)?,
                other => other?,
            };
            let os = |action| move |source| StartError::Os { action, source };
            let modules = modules::of_process(server.pid());
            self.modules = modules.map_err(os("read the program's mappings"))?;
            if let Some(module) = self.modules.iter().find(|module| module.stale) {
                return Err(StartError::Stale(module.path.clone()));
            }
            // What constructors wrote is no part of an execution.
            self.output.clear().map_err(os("empty the output files"))?;
            self.server = Some(server);
        }
        self.server.as_mut().ok_or(StartError::Stopped)
    }

    fn start_server(&mut self, eager: bool) -> Result<Server, StartError> {
        self.output.clear().map_err(|source| StartError::Os {
            action: "empty the output files",
            source,
        })?;
        self.pages.prepare();
        Server::start(
            &self.target,
            &self.program,
            &self.limits,
            &self.stop,
            &self.pages,
            &self.output,
            eager,
        )
    }

    /// Runs one job to its end, or to the time limit, or until the stop flag is set.
    ///
    /// Whatever comes back, the execution is over and reaped, and so are the processes that it
    /// made. After an error the session can be used on.
    ///
    /// What computes for long may wait in a loop in which no operation is seen, and is then run
    /// again with a timer that looks for such loops; a process with that timer is never put back.
    pub fn run(&mut self, job: &Job) -> Result<Trace, RunError> {
        if job.flags & (flags::KERNEL_THREADS | flags::SYMBOLIC) != 0 {
            return self.run_within(job, None);
        }
        if !self.waits_busily {
            let trace = self.run_within(job, self.patience)?;
            if self.patience.is_none() || !self.computed {
                return Ok(trace);
            }
        }
        let watched = Job {
            flags: job.flags | flags::WATCH_LOOPS,
            ..job.clone()
        };
        let trace = self.run_within(&watched, None)?;
        let names_it = |name: &String| name.starts_with(BUSY_WAIT);
        self.waits_busily |= trace.uncontrolled.iter().any(names_it);
        let more = |patience: Duration| (patience * MORE_PATIENCE).min(self.limits.wall);
        self.patience = match trace.outcome.timed_out {
            true => None,
            false => self.patience.map(more),
        };
        Ok(trace)
    }

    /// As [`Session::run`], once. `patience`: see [`Watch::patience`].
    fn run_within(&mut self, job: &Job, patience: Option<Duration>) -> Result<Trace, RunError> {
        if self.stop.is_set() || self.is_late() {
            return Err(RunError::Stopped);
        }
        match self.run_once(job, patience) {
            // What fails while all is brought to its end says nothing.
            Err(_) if self.stop.is_set() => Err(RunError::Stopped),
            result => result,
        }
    }

    fn run_once(&mut self, job: &Job, patience: Option<Duration>) -> Result<Trace, RunError> {
        self.serve()?;
        if self.limits.reuse >= Reuse::Copies
            && let Some(freeze) = self.snapshots.wish(job)
            && let Some(trace) = self.execute(job, Fate::Freeze(freeze), patience)?
        {
            return Ok(trace);
        }
        if let Some(trace) = self.execute(job, Fate::Rewind, patience)? {
            return Ok(trace);
        }
        self.execute(job, Fate::End, patience)?
            .ok_or(RunError::Garbage)
    }

    /// Runs `job`; `None`: it has become a copy, or the process that was put back did not start, or
    /// failed, which counts only in a process that nothing has run in before.
    fn execute(
        &mut self,
        job: &Job,
        fate: Fate,
        patience: Option<Duration>,
    ) -> Result<Option<Trace>, RunError> {
        let Begun {
            execution,
            mut records,
            fate,
            copy,
            again,
        } = self.begin(job, fate)?;
        records.go_on(&self.output);
        let started = Instant::now();
        let server = self.server.as_ref().ok_or(RunError::ServerSilent)?;
        let watch = Watch {
            pages: &self.pages,
            notify: &server.notify,
            stop: &self.stop,
            limits: &self.limits,
            output: Some(&self.output),
            fate,
            patience,
        };
        let left = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(started));
        let limit = left.map_or(self.limits.wall, |left| left.min(self.limits.wall));
        let pid = execution.pid();
        let mut followed = watch.follow(execution.process(), pid, Some(limit), &mut records);
        if let (Ok(Followed::Stuck(stuck)), true) = (&followed, self.is_late()) {
            followed = Err(Trouble::Stopped(Box::new(stuck.clone())));
        }
        self.cut_off = match &followed {
            Err(Trouble::Stopped(stuck)) => Some(Stuck::clone(stuck)),
            _ => None,
        };
        let stuck = followed.as_ref().ok().and_then(Followed::stuck);
        self.computed = stuck.is_some_and(Stuck::computes);
        let head_only = |trouble: Trouble| trouble.into_error(Ended::Exit(0), &self.limits);
        if let (Ok(Followed::Frozen(state)), Fate::Freeze(freeze)) = (&followed, fate) {
            let head = watch.read_copy(records).map_err(head_only)?;
            self.snapshots.add(job, freeze, *state, execution, head);
            return Ok(None);
        }
        if again && self.pages.thawed() == 0 && followed.is_ok() {
            return Ok(None);
        }
        let mut rewound = None;
        let ended = match &followed {
            Ok(Followed::Rewound(status)) => {
                rewound = Some(execution);
                Ended::Exit(*status)
            }
            _ => execution.finish().map_err(|source| RunError::Os {
                action: "reap the execution",
                source,
            })?,
        };
        let mut trace = followed.and_then(|followed| watch.read(records, ended, followed.stuck()));
        for name in trace.iter_mut().flat_map(|t| &mut t.uncontrolled) {
            let known = self.named.get(name).cloned();
            *name = known.unwrap_or_else(|| {
                let full = place::with_function(name, &self.modules);
                self.named.insert(name.clone(), full.clone());
                full
            });
        }
        let made_processes = |t: &Trace| {
            let makes = |name: &String| MAKES_PROCESSES.iter().any(|m| name.starts_with(m));
            t.uncontrolled.iter().any(makes)
        };
        let doubtful = again && trace.as_ref().is_ok_and(is_doubtful);
        if trace.as_ref().map_or(true, made_processes) {
            self.snapshots.clear();
            leftovers::sweep_except(server.token(), server.pid());
        } else if let (Some(copy), Some(execution), false) = (copy, rewound, doubtful) {
            self.snapshots.rewound(copy, execution);
        }
        match &trace {
            Ok(trace) => self.snapshots.took(trace.counters.steps, started.elapsed()),
            // What was written stands for nothing; the next execution begins with empty files.
            Err(_) => drop(self.output.clear()),
        }
        if doubtful {
            drop(self.output.clear());
            return Ok(None);
        }
        if let Fate::Freeze(_) = fate {
            self.snapshots.refused(job, self.pages.frozen());
        }
        let trace = trace.map_err(|trouble| trouble.into_error(ended, &self.limits));
        trace.map(Some)
    }

    /// Starts an execution of `job`, from a copy where there is one that serves it.
    fn begin(&mut self, job: &Job, fate: Fate) -> Result<Begun, RunError> {
        let copy = self.snapshots.find(job);
        let may_rewind = self.limits.reuse == Reuse::Processes;
        let fate = match (fate, copy) {
            (Fate::Rewind, Some(copy)) if may_rewind && self.snapshots.pays(copy) => fate,
            (Fate::Rewind, _) => Fate::End,
            _ => fate,
        };
        self.pages.write_job(job, 0, fate)?;
        // Put back at the end: an error on the way to the execution costs the server.
        let Some(mut server) = self.server.take() else {
            return Err(RunError::ServerSilent);
        };
        if let Some(copy) = copy {
            match self.begin_in_copy(&server, copy, fate) {
                Ok(begun) => {
                    self.server = Some(server);
                    return Ok(begun);
                }
                Err(RunError::Stopped) => return Err(RunError::Stopped),
                Err(_) => {
                    self.snapshots.remove(copy);
                    self.pages.write_job(job, 0, fate)?;
                }
            }
        }
        let pid = server.clone_execution(&self.stop)?;
        self.server = Some(server);
        Ok(Begun {
            execution: watched(pid)?,
            records: Records::default(),
            fate,
            copy: None,
            again: false,
        })
    }

    /// Starts the execution in the pages from a copy, in a clone that was put back or a new one.
    fn begin_in_copy(
        &mut self,
        server: &Server,
        copy: usize,
        fate: Fate,
    ) -> Result<Begun, RunError> {
        let records = self.snapshots.head(copy).clone();
        if fate == Fate::Rewind {
            if let Some(execution) = self.snapshots.again(copy, &self.pages) {
                return Ok(Begun {
                    execution,
                    records,
                    fate,
                    copy: Some(copy),
                    again: true,
                });
            }
            self.snapshots.rewinding(copy);
        }
        let (pages, patience) = (&self.pages, server.patience());
        let answer = self
            .snapshots
            .thaw(copy, pages, &server.notify, &self.stop, patience)?;
        Ok(Begun {
            execution: watched(server.child(answer)?)?,
            records,
            fate,
            copy: Some(copy),
            again: false,
        })
    }

    /// Until another moment is given, executions are stopped at this one, as by the stop flag.
    pub fn until(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// What the last execution was doing when the stop flag ended it; `None` where it came to an end
    /// of its own.
    pub fn cut_off(&self) -> Option<&Stuck> {
        self.cut_off.as_ref()
    }

    /// How many copies of executions stand ready.
    pub fn snapshots(&self) -> usize {
        self.snapshots.len()
    }

    /// How many executions ended without their process: it was put back for the next one.
    pub fn rewinds(&self) -> u64 {
        self.snapshots.rewinds()
    }

    /// What [`inspect`] says about the target.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The executable mappings of the target when it stood before its `main`; libraries that it
    /// loads later are not among them.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }
}

/// Is this an end that must not be believed of a process that was put back?
fn is_doubtful(trace: &Trace) -> bool {
    let outcome = &trace.outcome;
    match outcome.end {
        End::Exit => !outcome.is_success(),
        End::Redundant | End::Assumed => false,
        _ => true,
    }
}
