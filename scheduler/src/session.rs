//! One started target and the executions cloned from it.

use crate::error::{RunError, StartError};
use crate::execution::{Execution, Records, Watch};
use crate::inspect::{Program, inspect};
use crate::leftovers;
use crate::modules::{self, Module};
use crate::output::Output;
use crate::pages::Pages;
use crate::server::Server;
use crate::stop::StopFlag;
use crate::target::{Limits, Target};
use raddle_protocol::job::Job;
use raddle_protocol::trace::Trace;

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
    /// `None` after it went wrong; the next execution starts a new one.
    server: Option<Server>,
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
            server: None,
        };
        session.serve()?;
        Ok(session)
    }

    /// The running server, started anew if need be.
    fn serve(&mut self) -> Result<&mut Server, StartError> {
        if self.server.is_none() {
            let server = match self.start_server(true) {
                // A function that is missing but never called is no fault of the program's.
                Err(StartError::Ended { .. }) => self.start_server(false)?,
                other => other?,
            };
            let os = |action| move |source| StartError::Os { action, source };
            let modules = modules::of_process(server.pid());
            self.modules = modules.map_err(os("read the program's mappings"))?;
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
    pub fn run(&mut self, job: &Job) -> Result<Trace, RunError> {
        if self.stop.is_set() {
            return Err(RunError::Stopped);
        }
        self.serve()?;
        self.pages.write_job(job, 0)?;
        let Some(mut server) = self.server.take() else {
            return Err(RunError::ServerSilent);
        };
        // Put back at the end: an error on the way to the execution costs the server.
        let pid = server.clone_execution(&self.stop)?;
        let execution = Execution::new(pid).map_err(|source| RunError::Os {
            action: "watch the execution",
            source,
        })?;
        let watch = Watch {
            pages: &self.pages,
            notify: &server.notify,
            stop: &self.stop,
            limits: &self.limits,
            output: Some(&self.output),
        };
        let mut records = Records::default();
        let followed = watch.follow(
            execution.process(),
            pid,
            Some(self.limits.wall),
            &mut records,
        );
        let ended = execution.finish().map_err(|source| RunError::Os {
            action: "reap the execution",
            source,
        })?;
        let trace = followed.and_then(|stuck| watch.read(records, ended, stuck.as_ref()));
        let made_processes = |t: &Trace| {
            let makes = |name: &String| MAKES_PROCESSES.iter().any(|m| name.starts_with(m));
            t.uncontrolled.iter().any(makes)
        };
        if trace.as_ref().map_or(true, made_processes) {
            leftovers::sweep_except(server.token(), server.pid());
        }
        if trace.is_err() {
            // What was written stands for nothing; the next execution begins with empty files.
            let _ = self.output.clear();
        }
        self.server = Some(server);
        trace.map_err(|trouble| trouble.into_error(ended, &self.limits))
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
