//! What an execution was doing when its time was up.

use crate::pages::Progress;
use crate::place;
use raddle_protocol::event::Kind;
use raddle_protocol::slot;
use std::fmt;
use std::time::Duration;
use syscalls::Sysno;

/// Looks this many times, so that a loop of short system calls is not taken for a block.
const SAMPLES: usize = 5;
/// How the place of an instruction of the shim ends.
const RUNTIME: &str = " in libraddle.so";
const BETWEEN: Duration = Duration::from_millis(2);

/// Seen from outside just before the kill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// What the runtime knew last.
    pub progress: Progress,
    /// What the kernel said.
    pub doing: Doing,
    /// Did the step counter move while it was looked at?
    pub moving: bool,
    /// The function and module of the instruction that it executes or that called the kernel.
    pub place: Option<String>,
    /// The address of that instruction.
    pub address: Option<u64>,
    /// Does the runtime wait for something outside of the process, since nobody can go on?
    pub waits_outside: bool,
}

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Computing, or a mix of things.
    Computing,
    /// Blocked in this system call at every look.
    Blocked(u64),
    /// Stopped by a signal.
    Stopped,
    /// It cannot be seen.
    Unknown,
}

impl Stuck {
    /// Looks at the process `pid`; `progress` reads the pages.
    pub fn look(pid: i32, progress: impl Fn() -> Progress) -> Stuck {
        let before = progress();
        let mut task = look_once(pid);
        for _ in 1..SAMPLES {
            std::thread::sleep(BETWEEN);
            let now = look_once(pid);
            if now.doing != task.doing {
                task = Task {
                    doing: Doing::Computing,
                    ..now
                };
            }
        }
        let doing = task.doing;
        let address = match doing {
            Doing::Computing => place::instruction(task.id),
            _ => task.caller,
        };
        let progress = progress();
        let place = address.and_then(|address| place::describe(pid, address));
        let in_runtime = place.as_ref().is_some_and(|p| p.ends_with(RUNTIME));
        let waits_outside = in_runtime && doing == Doing::Blocked(libc::SYS_poll as u64);
        let place = match in_runtime {
            // The operation is the program's, or it is named by the runtime.
            true if waits_outside => place::describe(pid, progress.pc.saturating_sub(1)),
            true => None,
            false => place,
        };
        Stuck {
            place,
            address: address.filter(|_| !in_runtime),
            progress,
            doing,
            moving: progress.steps - before.steps > SAMPLES as u64,
            waits_outside,
        }
    }

    /// The instruction by which the execution is best told: of the step that was announced last where
    /// steps go on, or of what it executes now.
    pub fn pc(&self) -> u64 {
        match self.address {
            Some(address) if !self.moving => address,
            _ => self.progress.pc,
        }
    }

    /// Does it compute without taking steps?
    pub fn computes(&self) -> bool {
        self.doing == Doing::Computing && !self.moving
    }

    /// [`raddle_protocol::trace::Outcome::detail`] of an execution that ran out of time.
    pub fn detail(&self) -> [u64; 4] {
        let call = match self.doing {
            Doing::Blocked(number) => number,
            _ => u64::MAX,
        };
        let Progress {
            kind, pc, steps, ..
        } = self.progress;
        [u64::from(kind), pc, call, steps]
    }
}

/// What stays the same when it happens again: place and number of steps are in the detail.
impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.moving {
            return write!(f, "its threads go on taking steps");
        }
        let Progress { thread, kind, .. } = self.progress;
        match thread {
            slot::MAIN => write!(f, "main ")?,
            thread => write!(f, "T{thread} ")?,
        }
        match self.waits_outside {
            true => write!(f, "waits for something outside of the process since ")?,
            false => write!(f, "is in uncontrolled code since ")?,
        }
        match u8::try_from(kind).ok().and_then(Kind::from_u8) {
            Some(kind) => write!(f, "its {}", kind.text())?,
            None => write!(f, "its start")?,
        }
        match self.doing {
            _ if self.waits_outside => {}
            Doing::Computing => write!(f, ", computing")?,
            Doing::Blocked(number) => match Sysno::new(number as usize) {
                Some(call) => write!(f, ", blocked in the system call {call}")?,
                None => write!(f, ", blocked in system call {number}")?,
            },
            Doing::Stopped => write!(f, ", stopped by a signal")?,
            Doing::Unknown => {}
        }
        match &self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

/// What was seen of one task of the process.
#[derive(Clone, Copy)]
struct Task {
    id: i32,
    doing: Doing,
    /// Behind the instruction that called the kernel.
    caller: Option<u64>,
}

/// With kernel threads, all but one wait for their turn in the runtime's futex; so the task that
/// does something else is the one to look at.
fn look_once(pid: i32) -> Task {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"));
    let tasks: Vec<Task> = entries
        .into_iter()
        .flatten()
        .filter_map(|task| look_at_task(&task.ok()?.path()))
        .collect();
    let waits_its_turn = |t: &&Task| t.doing == Doing::Blocked(libc::SYS_futex as u64);
    let computing = tasks.iter().find(|t| t.doing == Doing::Computing);
    let other = tasks.iter().find(|t| !waits_its_turn(t));
    let nothing = Task {
        id: pid,
        doing: Doing::Unknown,
        caller: None,
    };
    *computing.or(other).or(tasks.first()).unwrap_or(&nothing)
}

fn look_at_task(task: &std::path::Path) -> Option<Task> {
    let id = task.file_name()?.to_str()?.parse().ok()?;
    let stat = std::fs::read_to_string(task.join("stat")).ok()?;
    // The name in parentheses may hold anything; the state follows the last one.
    let rest = stat.rsplit(')').next()?.trim_start();
    let (doing, caller) = match rest.chars().next() {
        Some('R') => (Doing::Computing, None),
        Some('T' | 't') => (Doing::Stopped, None),
        Some('S' | 'D') => {
            let call = std::fs::read_to_string(task.join("syscall")).unwrap_or_default();
            let number = call.split_whitespace().next().and_then(|n| n.parse().ok());
            let pc = call.split_whitespace().last();
            let pc = pc.and_then(|pc| u64::from_str_radix(pc.strip_prefix("0x")?, 16).ok());
            (number.map_or(Doing::Unknown, Doing::Blocked), pc)
        }
        _ => (Doing::Unknown, None),
    };
    Some(Task { id, doing, caller })
}
