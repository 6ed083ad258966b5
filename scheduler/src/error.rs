//! What can go wrong, each as one line: the cause and the way out.

use crate::ended::Ended;
use raddle_protocol::trace::Corrupt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a program cannot be run under control.
#[derive(Debug, thiserror::Error)]
pub enum Unsuitable {
    /// No such file, or nothing of that name in `PATH`.
    #[error("{}: no such program{}", .0.display(), path_hint(.0))]
    NotFound(PathBuf),
    /// A directory, a device …
    #[error("{}: is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// No execute permission for this user.
    #[error("{path}: is not executable (chmod +x {path})", path = .0.display())]
    NotExecutable(PathBuf),
    /// A script.
    #[error("{}: is a script for {interpreter}; put `raddle run --` inside it, before the program that it starts, or name that program here", .path.display())]
    Script {
        /// The script.
        path: PathBuf,
        /// What its first line names.
        interpreter: String,
    },
    /// Neither ELF nor script.
    #[error("{}: is not an ELF program ({why})", .path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A 32-bit program.
    #[error("{}: is a 32-bit program; build it for x86-64 (-m64)", .0.display())]
    Bits32(PathBuf),
    /// For another processor.
    #[error("{}: is built for another processor than x86-64", .0.display())]
    Machine(PathBuf),
    /// Statically linked: nothing can be loaded into it.
    #[error("{}: is statically linked, so its calls cannot be intercepted; link it dynamically (without -static)", .0.display())]
    Static(PathBuf),
    /// A shared library or an object file.
    #[error("{}: is a library or an object file; name a program", .0.display())]
    Library(PathBuf),
    /// Its dynamic linker is not glibc's.
    #[error("{}: uses the dynamic linker {interpreter}; only programs for glibc's ld-linux-x86-64.so.2 can be run", .path.display())]
    Interpreter {
        /// The program.
        path: PathBuf,
        /// Its `PT_INTERP`.
        interpreter: String,
    },
    /// Its dynamic linker is not there.
    #[error("{}: its dynamic linker {interpreter} does not exist; install it, or link the program for this system", .path.display())]
    MissingInterpreter {
        /// The program.
        path: PathBuf,
        /// Its `PT_INTERP`.
        interpreter: String,
    },
    /// Set-uid or set-gid: the dynamic linker ignores LD_PRELOAD.
    #[error("{}: is set-uid or set-gid, so nothing may be loaded into it; run a copy without these bits (chmod ug-s)", .0.display())]
    SetId(PathBuf),
    /// Has file capabilities: the dynamic linker ignores LD_PRELOAD.
    #[error("{}: has file capabilities, so nothing may be loaded into it; run a copy without them", .0.display())]
    Capabilities(PathBuf),
    /// A sanitizer whose runtime cannot be beside ours.
    #[error("{}: contains the runtime of {name}, which cannot run under control; {}", .path.display(), instead_of(.name))]
    Sanitizer {
        /// The program.
        path: PathBuf,
        /// Which.
        name: &'static str,
    },
    /// It cannot be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Unreadable {
        /// The program.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What to do about a sanitizer.
fn instead_of(name: &str) -> &'static str {
    match name.ends_with("ThreadSanitizer") {
        true => {
            "build it by gcc 12 with -fsanitize=thread, or link the objects (clang's too) with `raddle cc`, without -fsanitize"
        }
        false => "build it without, or with AddressSanitizer",
    }
}

/// Why a target did not get as far as its `main`.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program cannot be run under control at all.
    #[error(transparent)]
    Unsuitable(#[from] Unsuitable),
    /// The shim is not there.
    #[error("{}: the runtime library cannot be read: {source}; it must lie beside raddle", .path.display())]
    Runtime {
        /// Where it was looked for.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Address randomisation cannot be switched off.
    #[error(
        "address randomisation cannot be switched off ({0}); in a container allow personality(2) (docker: --security-opt seccomp=unconfined), or set kernel.randomize_va_space=0"
    )]
    Randomisation(#[source] io::Error),
    /// The program ended before its `main`.
    #[error("the program ended before its main ({ended}); {}", hint(.stderr))]
    Ended {
        /// How.
        ended: Ended,
        /// First line that it wrote to standard error; empty when there was none.
        stderr: String,
    },
    /// Nothing came from the program in time.
    #[error(
        "the program did not reach its main within {limit:?}: a constructor may wait or loop; raise the time limit"
    )]
    Silent {
        /// The limit.
        limit: Duration,
    },
    /// The first message was not one of the shim's.
    #[error(
        "the program wrote to descriptor {fd}, which belongs to raddle ({what}); it must leave descriptors alone that it did not open"
    )]
    Garbage {
        /// Number in the target.
        fd: i32,
        /// What was wrong.
        what: &'static str,
    },
    /// The program goes on without the control socket.
    #[error(
        "the program closed the descriptors that belong to raddle before its main; it must leave descriptors alone that it did not open"
    )]
    Deaf,
    /// Command and shim are of different versions.
    #[error(
        "the runtime library speaks version {theirs}, this command version {ours}; use the libraddle.so that was built with this raddle"
    )]
    Version {
        /// The shim's.
        theirs: u32,
        /// The controller's.
        ours: u32,
    },
    /// The hooks of this file mean something else.
    #[error("{}: was built by another version of raddle cc; build it anew with this one", .0.display())]
    Stale(PathBuf),
    /// The stop flag was set.
    #[error("stopped")]
    Stopped,
    /// A system call failed.
    #[error("cannot {action}: {source}")]
    Os {
        /// What was to be done.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

fn path_hint(program: &Path) -> &'static str {
    match program.components().count() {
        1 => " in PATH (for one in this directory write ./NAME)",
        _ => "",
    }
}

fn hint(stderr: &str) -> String {
    if stderr.is_empty() {
        "run it without raddle to see why".to_owned()
    } else {
        format!("it said: {stderr}")
    }
}

/// Why a job gave no trace.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The stop flag was set; the execution has been killed.
    #[error("stopped")]
    Stopped,
    /// The job does not fit into the shared pages.
    #[error("the job has {given} {what}, at most {most} fit; shorten it")]
    JobTooBig {
        /// Of what.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many fit.
        most: usize,
    },
    /// The program's own memory errors hit the pages that it shares with the controller.
    #[error(
        "the program overwrote raddle's shared pages ({what}; it {ended}): a wild write; look for it with AddressSanitizer"
    )]
    PagesCorrupt {
        /// What was found.
        what: Corruption,
        /// How the execution ended.
        ended: Ended,
    },
    /// More records than the caller wants to keep.
    #[error(
        "the execution recorded more than {limit} bytes of events and steps; set a limit on its steps, or raise the limit on records"
    )]
    TooManyRecords {
        /// [`crate::Limits::record_bytes`].
        limit: usize,
    },
    /// The fork server is gone.
    #[error(
        "the started program, from which executions are cloned, is gone ({ended}); the next execution starts it again"
    )]
    ServerGone {
        /// How it ended.
        ended: Ended,
    },
    /// The fork server does not answer.
    #[error(
        "the started program, from which executions are cloned, does not answer; the next execution starts it again"
    )]
    ServerSilent,
    /// What the fork server answered is not the number of an execution.
    #[error(
        "the program wrote to a descriptor that belongs to raddle; it must leave descriptors alone that it did not open"
    )]
    Garbage,
    /// The fork server could not clone itself.
    #[error("the program cannot be cloned: {0}; a limit on processes or memory may be too low")]
    Clone(#[source] io::Error),
    /// The fork server had to be started again, and that failed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A system call failed.
    #[error("cannot {action}: {source}")]
    Os {
        /// What was to be done.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

/// What was wrong with the shared pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Corruption {
    /// The first word or the version.
    #[error("their first words are gone")]
    Head,
    /// A length that is greater than its region.
    #[error("the length of {0} is impossible")]
    Length(&'static str),
    /// The outcome.
    #[error("the outcome is malformed: {0}")]
    Outcome(&'static str),
    /// A record.
    #[error("{0}")]
    Record(Corrupt),
}
