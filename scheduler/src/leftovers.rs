//! Ends what a target may leave behind.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use raddle_protocol::shared::env;
use std::time::Duration;

/// Waits at most so often for killed processes to be gone …
const ROUNDS: usize = 1000;
/// … and so long each time.
const PAUSE: Duration = Duration::from_millis(1);

/// Kills every process of the group; there may be none.
pub fn kill_group(group: i32) {
    let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
}

/// Reaps the killed members of the group that are (or by then have become) our children.
pub fn reap_group(group: i32) {
    reap(-group);
}

/// `which` as in waitpid(2): a process, or a group as a negative number.
fn reap(which: i32) {
    for _ in 0..ROUNDS {
        // SAFETY: a null status is allowed.
        match unsafe { libc::waitpid(which, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => std::thread::sleep(PAUSE),
            -1 => return,
            _ => {}
        }
    }
}

/// Kills everything that inherited the session's variable, whatever group it moved to, except
/// `spare`. Used where a target is known to have made processes, and at the end of a session.
pub fn sweep_except(token: &str, spare: i32) {
    let mark = format!("{}={token}\0", env::SESSION);
    for _ in 0..ROUNDS {
        let found: Vec<i32> = processes()
            .filter(|&p| p != spare && carries(p, &mark))
            .collect();
        if found.is_empty() {
            return;
        }
        for pid in found {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            reap(pid);
        }
    }
}

/// [`sweep_except`] without an exception.
pub fn sweep(token: &str) {
    sweep_except(token, 0);
}

fn processes() -> impl Iterator<Item = i32> {
    let own = std::process::id() as i32;
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(move |&pid| pid != own)
}

/// Is `mark` in the environment with which `pid` was started? A process that has ended has none.
fn carries(pid: i32, mark: &str) -> bool {
    let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    environment
        .windows(mark.len())
        .any(|part| part == mark.as_bytes())
}
