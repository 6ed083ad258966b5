//! One execution without a fork server, for debuggers: the process that is started obeys the job.

use crate::ended::Ended;
use crate::error::{RunError, StartError};
use crate::execution::{Records, Trouble, Watch};
use crate::inspect::{Program, inspect};
use crate::launch;
use crate::leftovers;
use crate::pages::{Fate, Pages};
use crate::stop::StopFlag;
use crate::sys;
use crate::target::{Limits, Target};
use nix::sys::eventfd::{EfdFlags, EventFd};
use raddle_protocol::job::Job;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::{env, flags};
use raddle_protocol::trace::Trace;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::process::{Child, Command};

/// Everything that is prepared for one direct execution.
#[derive(Debug)]
pub struct Direct {
    target: Target,
    program: Program,
    limits: Limits,
    stop: StopFlag,
    pages: Pages,
    notify: EventFd,
    token: String,
    environment: BTreeMap<OsString, OsString>,
    inherited: Vec<(RawFd, RawFd)>,
    /// The process that is followed is a debugger, whose end says nothing about the program's.
    debugged: bool,
}

/// Prepares `job` for a start of `target` without a fork server. Of `limits`, the time plays no
/// role here.
pub fn direct(
    target: &Target,
    job: &Job,
    limits: &Limits,
    stop: &StopFlag,
) -> Result<Direct, RunError> {
    let os = |action| move |source| RunError::Os { action, source };
    launch::check_fixed_addresses()?;
    let program = inspect(&target.program).map_err(StartError::from)?;
    let mut pages = Pages::new().map_err(os("make the shared pages"))?;
    pages.write_job(job, flags::DIRECT, Fate::End)?;
    let notify = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
        .map_err(|e| os("make an eventfd")(e.into()))?;
    let sources = [pages.as_fd(), notify.as_fd()].map(|fd| fd.as_raw_fd());
    let numbers = launch::free_numbers(sources.len(), &sources)?;
    let names = [env::SHARED_FD, env::NOTIFY_FD];
    let variables: Vec<(&str, RawFd)> = names.into_iter().zip(numbers.iter().copied()).collect();
    let token = launch::new_token();
    let environment = launch::environment(target, &program, &token, &variables, false)?;
    Ok(Direct {
        target: target.clone(),
        program,
        limits: *limits,
        stop: stop.clone(),
        pages,
        notify,
        token,
        environment,
        inherited: sources.into_iter().zip(numbers).collect(),
        debugged: false,
    })
}

impl Direct {
    /// Starts the program itself, on the caller's own standard streams.
    pub fn command(&self) -> Command {
        launch::command(
            &self.target,
            &self.program,
            &[],
            &self.environment,
            &self.inherited,
            false,
        )
    }

    /// Starts the debugger `gdb` on the program, with `commands` to execute first and further
    /// `options` of gdb's behind them. The program is started, without a shell, by the debugger's
    /// own `run`.
    pub fn debugger(&mut self, gdb: &OsStr, commands: &[&str], options: &[OsString]) -> Command {
        self.debugged = true;
        let preload = OsStr::new("LD_PRELOAD");
        let mut environment = self.environment.clone();
        let mut words: Vec<OsString> = vec![gdb.to_owned()];
        let mut execute = |command: OsString| words.extend(["-ex".into(), command]);
        execute("set startup-with-shell off".into());
        // The runtime is for the program, not for the debugger; and what the debugger would add
        // to the environment would move the program's stack.
        for name in ["LINES", "COLUMNS"] {
            if !environment.contains_key(OsStr::new(name)) {
                execute(format!("unset environment {name}").into());
            }
        }
        if let Some(libraries) = environment.remove(preload) {
            let mut command = OsString::from("set environment LD_PRELOAD ");
            command.push(libraries);
            execute(command);
        }
        commands.iter().for_each(|c| execute(c.into()));
        words.extend(options.iter().cloned());
        words.push("--args".into());
        launch::command(
            &self.target,
            &self.program,
            &words,
            &environment,
            &self.inherited,
            false,
        )
    }

    /// Waits for the started command, emptying the shared regions meanwhile, and reads the trace
    /// (without output, which went to the caller's streams). `None`: the program did not come as
    /// far as its `main`, or in a debugger not to its end.
    pub fn follow(self, mut child: Child) -> Result<Option<Trace>, RunError> {
        let os = |action| move |source| RunError::Os { action, source };
        let pid = child.id() as i32;
        let process = sys::pidfd_open(pid).map_err(os("watch the program"))?;
        let watch = Watch {
            pages: &self.pages,
            notify: &self.notify,
            stop: &self.stop,
            limits: &self.limits,
            output: None,
            fate: Fate::End,
            patience: None,
        };
        let mut records = Records::default();
        let followed = watch.follow(process.as_fd(), pid, None, &mut records);
        if followed.is_err() {
            // Fails only when it has ended already.
            let _ = child.kill();
        }
        let status = child.wait().map_err(os("wait for the program"))?;
        leftovers::sweep(&self.token);
        let ended = Ended::of_status(status);
        let wrapped = |_| -> Result<Option<Trace>, Trouble> {
            let seen = self.pages.outcome()?.end != End::None as u32;
            let started = self.pages.counters()?.threads > 0;
            match seen || (started && !self.debugged) {
                true => watch.read(records, ended, None).map(Some),
                false => Ok(None),
            }
        };
        followed
            .and_then(wrapped)
            .map_err(|trouble| trouble.into_error(ended, &self.limits))
    }
}
