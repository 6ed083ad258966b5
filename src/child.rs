//! Commands that raddle starts for a part of its work: they end when raddle is asked to, and when it is
//! no more.

use crate::error::{Error, Result};
use crate::interrupt::take_signals;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Runs a command of raddle's own to its end; whether raddle was asked to end meanwhile, which the command
/// then was, too.
pub fn attend(command: &mut Command) -> Result<(ExitStatus, bool)> {
    attend_any(command)
        .map_err(|e| Error::operation(format!("the raddle command cannot be started: {e}"), &e))
}

/// The same of any command, which may end before those that it has started. Where raddle was asked to
/// end, these are waited for, too; how they ended.
pub fn attend_family(command: &mut Command) -> io::Result<(ExitStatus, bool, Vec<Option<i32>>)> {
    // SAFETY: a system call. Processes that lose their parent become children of this one.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let (status, asked) = attend_any(command)?;
    let started = Instant::now();
    let mut ended = Vec::new();
    while asked && started.elapsed() < GRACE {
        let mut status = 0;
        // SAFETY: writes one number.
        match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
            0 => std::thread::sleep(Duration::from_millis(10)),
            -1 => break,
            _ => ended.push(ExitStatus::from_raw(status).code()),
        }
    }
    Ok((status, asked, ended))
}

/// So long the tests that cargo ran may take to end.
const GRACE: Duration = Duration::from_secs(5);

fn attend_any(command: &mut Command) -> io::Result<(ExitStatus, bool)> {
    let (asked, child) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicI32::new(0)),
    );
    let take = |signal| {
        let (asked, child) = (asked.clone(), child.clone());
        let pass_on = move || {
            asked.store(true, Ordering::SeqCst);
            // SAFETY: system calls; the child has not been waited for while its number is here.
            unsafe {
                let pid = child.load(Ordering::SeqCst);
                // Ctrl-C comes to all that run in the foreground.
                let came = signal == libc::SIGINT && libc::tcgetpgrp(0) == libc::getpgrp();
                if pid > 0 && !came {
                    libc::kill(pid, signal);
                }
            }
        };
        // SAFETY: the handler makes atomic operations and system calls.
        unsafe { signal_hook::low_level::register(signal, pass_on) }
    };
    let handlers = take_signals(take)?;
    let mut running = end_with_parent(command).spawn()?;
    child.store(running.id() as i32, Ordering::SeqCst);
    if asked.load(Ordering::SeqCst) {
        // Perhaps before its number was known.
        // SAFETY: it has not been waited for.
        unsafe { libc::kill(running.id() as i32, libc::SIGTERM) };
    }
    let status = wait(&mut running, &child);
    for handler in handlers {
        signal_hook::low_level::unregister(handler);
    }
    Ok((status?, asked.load(Ordering::SeqCst)))
}

/// Waits until it has ended, forgets its number, and only then takes its status: the number may be another
/// process's from then on.
fn wait(running: &mut Child, number: &AtomicI32) -> std::io::Result<ExitStatus> {
    // SAFETY: waits for a child of this process, and leaves it to be waited for.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOWAIT;
        while libc::waitid(libc::P_PID, running.id(), &mut info, flags) != 0
            && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
        {}
    }
    number.store(0, Ordering::SeqCst);
    running.wait()
}

/// The command gets SIGTERM when the calling thread is no more.
fn end_with_parent(command: &mut Command) -> &mut Command {
    // SAFETY: one system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        })
    }
}

/// Was this process started by cargo?
pub fn run_by_cargo() -> bool {
    // SAFETY: a system call.
    let parent = unsafe { libc::getppid() };
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm"));
    name.is_ok_and(|name| name.trim_end() == "cargo")
}

/// cargo passes no signals on to the tests that it runs: one that runs under raddle ends with it.
pub fn end_with_cargo() {
    if run_by_cargo() {
        // SAFETY: a system call.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
    }
}

/// What a program prints that is to end by itself.
pub struct Printed {
    pub success: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs it for so long at most; `None`: it did not end, and was killed.
pub fn printed(command: &mut Command, most: Duration) -> std::io::Result<Option<Printed>> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut running = end_with_parent(command.stderr(Stdio::piped())).spawn()?;
    let (sender, receiver) = channel();
    let (out, err) = (running.stdout.take(), running.stderr.take());
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            if let Some(mut pipe) = pipe {
                // What cannot be read was not printed.
                let _ = pipe.read_to_end(&mut all);
            }
            all
        })
    };
    let stdout = read(out.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let stderr = read(err.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    std::thread::spawn(move || {
        let both = (stdout.join(), stderr.join());
        // Nobody listens when it took too long.
        let _ = sender.send(both);
    });
    match receiver.recv_timeout(most) {
        Ok((stdout, stderr)) => Ok(Some(Printed {
            success: running.wait()?.success(),
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
        })),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            running.kill()?;
            running.wait()?;
            Ok(None)
        }
    }
}
