//! The started target, stopped before its `main`: the fork server from which executions come.

use crate::ended::Ended;
use crate::error::{RunError, StartError};
use crate::inspect::Program;
use crate::launch;
use crate::leftovers;
use crate::output::Output;
use crate::pages::Pages;
use crate::stop::StopFlag;
use crate::sys;
use crate::target::{Limits, Target};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::unistd::Pid;
use raddle_protocol::VERSION;
use raddle_protocol::shared::{MAGIC, command, env};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How often a wait looks whether it still makes sense.
pub const TICK: Duration = Duration::from_millis(100);
/// How long the fork server may take for one clone, if that is more than an execution may take.
const CLONE: Duration = Duration::from_secs(2);

/// A started target; dropping it ends it and all that came from it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    process: OwnedFd,
    control: UnixStream,
    stdin: File,
    start: Option<u64>,
    patience: Duration,
    token: String,
    /// The runtime asks for a drain by it.
    pub notify: EventFd,
}

impl Server {
    /// Starts the target and waits for the shim's first message.
    pub fn start(
        target: &Target,
        program: &Program,
        limits: &Limits,
        stop: &StopFlag,
        pages: &Pages,
        output: &Output,
        eager: bool,
    ) -> Result<Server, StartError> {
        launch::check_fixed_addresses()?;
        let os = |action| move |source| StartError::Os { action, source };
        let (control, theirs) = UnixStream::pair().map_err(os("make a socket"))?;
        control
            .set_read_timeout(Some(TICK))
            .map_err(os("set up a socket"))?;
        let notify = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|e| os("make an eventfd")(e.into()))?;
        let stdin = target.stdin.open().map_err(os("open the standard input"))?;
        let sources = [pages.as_fd(), theirs.as_fd(), notify.as_fd()].map(|fd| fd.as_raw_fd());
        let numbers = launch::free_numbers(sources.len(), &sources)?;
        let names = [env::SHARED_FD, env::CONTROL_FD, env::NOTIFY_FD];
        let token = launch::new_token();
        let variables: Vec<(&str, RawFd)> =
            names.into_iter().zip(numbers.iter().copied()).collect();
        let environment = launch::environment(target, program, &token, &variables, eager)?;
        let inherited: Vec<(RawFd, RawFd)> =
            sources.into_iter().zip(numbers.iter().copied()).collect();
        let mut command = launch::command(target, program, &[], &environment, &inherited, true);
        let own = |file: &File| {
            file.try_clone()
                .map(Stdio::from)
                .map_err(os("duplicate a descriptor"))
        };
        command
            .stdin(own(&stdin)?)
            .stdout(own(&output.stdout.file)?)
            .stderr(own(&output.stderr.file)?);
        let child =
            launch::on_launcher(move || command.spawn())?.map_err(os("start the program"))?;
        drop(theirs);
        let process = match sys::pidfd_open(child.id() as i32) {
            Ok(fd) => fd,
            Err(source) => {
                end(child);
                return Err(os("watch the program")(source));
            }
        };
        let mut server = Server {
            child,
            process,
            control,
            stdin,
            start: target.stdin.start(),
            patience: limits.wall.max(CLONE),
            token,
            notify,
        };
        server.await_hello(limits.wall, stop, output, numbers[1])?;
        Ok(server)
    }

    /// Process id of the started target.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Value of the variable by which everything that came from this server can be found.
    pub fn token(&self) -> &str {
        &self.token
    }

    fn await_hello(
        &mut self,
        limit: Duration,
        stop: &StopFlag,
        output: &Output,
        fd: RawFd,
    ) -> Result<(), StartError> {
        let os = |source| StartError::Os {
            action: "wait for the program",
            source,
        };
        let deadline = Instant::now() + limit;
        let mut hello = [0; 16];
        let mut got = 0;
        while got < hello.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StartError::Silent { limit });
            }
            let fds = [self.control.as_fd(), self.process.as_fd(), stop.as_fd()];
            let [said, ended, stopped] = sys::poll_in(fds, Some(left)).map_err(os)?;
            if stopped {
                return Err(StartError::Stopped);
            }
            let read = said.then(|| self.control.read(&mut hello[got..]).or_else(closed));
            match read {
                Some(Ok(n)) if n > 0 => got += n,
                Some(Err(e)) if is_passing(&e) => {}
                Some(Err(e)) => return Err(os(e)),
                // An end of file comes just before the end of the process.
                Some(Ok(_)) => return Err(self.ended_early(deadline, output)),
                None if ended => return Err(self.ended_early(deadline, output)),
                None => {}
            }
        }
        self.check_hello(&hello, fd)
    }

    fn ended_early(&mut self, deadline: Instant, output: &Output) -> StartError {
        let left = deadline.saturating_duration_since(Instant::now());
        match sys::poll_in([self.process.as_fd()], Some(left)) {
            Ok([true]) => {}
            _ => return StartError::Deaf,
        }
        match self.child.wait() {
            Ok(status) => StartError::Ended {
                ended: Ended::of_status(status),
                stderr: output.first_error_line(),
            },
            Err(source) => StartError::Os {
                action: "wait for the program",
                source,
            },
        }
    }

    fn check_hello(&self, hello: &[u8; 16], fd: RawFd) -> Result<(), StartError> {
        let word =
            |i: usize| u32::from_ne_bytes([hello[i], hello[i + 1], hello[i + 2], hello[i + 3]]);
        if hello[..8] != MAGIC.to_ne_bytes() {
            let what = "not a greeting of the runtime";
            return Err(StartError::Garbage { fd, what });
        }
        if word(8) != VERSION {
            return Err(StartError::Version {
                theirs: word(8),
                ours: VERSION,
            });
        }
        if word(12) != self.child.id() {
            let what = "the greeting of another process";
            return Err(StartError::Garbage { fd, what });
        }
        Ok(())
    }

    /// Has one execution cloned; its pid. The job must lie in the pages.
    pub fn clone_execution(&mut self, stop: &StopFlag) -> Result<i32, RunError> {
        let os = |source| RunError::Os {
            action: "talk to the started program",
            source,
        };
        if let Some(start) = self.start {
            self.stdin
                .seek(SeekFrom::Start(start))
                .map_err(|source| RunError::Os {
                    action: "set back the standard input",
                    source,
                })?;
        }
        match self.control.write_all(&[command::GO]) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Err(self.gone()),
            Err(e) => return Err(os(e)),
        }
        let deadline = Instant::now() + self.patience;
        let mut answer = [0; 4];
        let mut got = 0;
        while got < answer.len() {
            match self.control.read(&mut answer[got..]).or_else(closed) {
                Ok(0) => return Err(self.gone()),
                Ok(n) => got += n,
                Err(e) if is_passing(&e) => {
                    // A descendant may hold the socket open, so the end shows here only.
                    if sys::poll_in([self.process.as_fd()], Some(Duration::ZERO)).map_err(os)?[0] {
                        return Err(self.gone());
                    }
                    if stop.is_set() {
                        return Err(RunError::Stopped);
                    }
                    if Instant::now() > deadline {
                        return Err(RunError::ServerSilent);
                    }
                }
                Err(e) => return Err(os(e)),
            }
        }
        self.child(i32::from_ne_bytes(answer))
    }

    /// The execution that a clone's `answer` names: a pid, or minus an errno.
    pub fn child(&self, answer: i32) -> Result<i32, RunError> {
        match answer {
            pid if pid > 0 => self.own(pid),
            errno => Err(RunError::Clone(io::Error::from_raw_os_error(
                errno.saturating_neg(),
            ))),
        }
    }

    /// How long a clone may take.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// `pid`, if it is a process of this server: what is not must never be killed.
    fn own(&self, pid: i32) -> Result<i32, RunError> {
        let session = nix::unistd::getsid(Some(Pid::from_raw(pid)));
        match pid != self.pid() && session == Ok(Pid::from_raw(self.pid())) {
            true => Ok(pid),
            false => Err(RunError::Garbage),
        }
    }

    /// What became of a server that does not speak any more.
    fn gone(&mut self) -> RunError {
        let already = sys::poll_in([self.process.as_fd()], Some(TICK));
        if !matches!(already, Ok([true])) {
            return RunError::ServerSilent;
        }
        match self.child.wait() {
            Ok(status) => RunError::ServerGone {
                ended: Ended::of_status(status),
            },
            Err(source) => RunError::Os {
                action: "wait for the started program",
                source,
            },
        }
    }
}

/// A read that a signal or its own limit of time has ended may be tried again.
fn is_passing(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// A connection that was reset has ended.
fn closed(e: io::Error) -> io::Result<usize> {
    match e.kind() {
        io::ErrorKind::ConnectionReset => Ok(0),
        _ => Err(e),
    }
}

fn end(mut child: Child) {
    // Both fail only when it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Server {
    fn drop(&mut self) {
        let group = self.pid();
        // Kills and reaps; both fail only when that has happened already.
        let _ = self.child.kill();
        leftovers::kill_group(group);
        let _ = self.child.wait();
        leftovers::reap_group(group);
        leftovers::sweep(&self.token);
    }
}
