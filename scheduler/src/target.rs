//! What is run, and within which limits.

use crate::stop::StopFlag;
use crate::sys;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One program with everything that it is started with.
#[derive(Clone, Debug)]
pub struct Target {
    /// The executable (a bare name is looked up in `PATH`).
    pub program: PathBuf,
    /// Its `argv[0]`; `None`: as it is named above.
    pub name: Option<OsString>,
    /// Arguments after `argv[0]`.
    pub args: Vec<OsString>,
    /// Variables on top of the controller's own environment.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory; `None`: the controller's.
    pub cwd: Option<PathBuf>,
    /// Standard input of every execution.
    pub stdin: Stdin,
    /// The shim, `libraddle.so`.
    pub runtime: PathBuf,
}

impl Target {
    /// The `argv[0]` of the program.
    pub fn name(&self) -> &OsStr {
        self.name.as_deref().unwrap_or(self.program.as_os_str())
    }
}

/// Limits of one execution.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall-clock time; also the time that the program has from its start to `main`.
    pub wall: Duration,
    /// Bytes kept of standard output, and as many of standard error.
    pub output_bytes: usize,
    /// Bytes of records (events, steps, expressions) kept of one execution.
    pub record_bytes: usize,
    /// What executions may use of earlier ones.
    pub reuse: Reuse,
    /// Exit statuses beside 0 with which all is well.
    pub accepted: Statuses,
}

/// A set of exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Statuses([u128; 2]);

impl Statuses {
    /// Not any.
    pub const NONE: Statuses = Statuses([0; 2]);

    /// Is the status one of them?
    pub fn contains(self, status: i32) -> bool {
        u8::try_from(status).is_ok_and(|s| self.0[usize::from(s >> 7)] >> (s & 127) & 1 == 1)
    }

    /// All of them, in order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |&status| self.contains(status.into()))
    }
}

impl FromIterator<u8> for Statuses {
    fn from_iter<I: IntoIterator<Item = u8>>(statuses: I) -> Statuses {
        let mut set = Statuses::NONE;
        for status in statuses {
            set.0[usize::from(status >> 7)] |= 1 << (status & 127);
        }
        set
    }
}

/// What executions may use of earlier ones; what they do is the same either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reuse {
    /// Each starts at the beginning of the program.
    Nothing,
    /// They may start from copies of earlier ones, each in a process of its own.
    Copies,
    /// The processes of copies may be put back and run the next one. Needs Linux 6.7; where the
    /// kernel cannot do that, it is as with `Copies`.
    Processes,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Duration::from_secs(10),
            output_bytes: 1 << 20,
            record_bytes: 1 << 30,
            reuse: Reuse::Processes,
            accepted: Statuses::NONE,
        }
    }
}

/// Where every execution reads its standard input from, always from the same place on.
#[derive(Clone, Debug)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// A file that each session opens anew, read from `start` on.
    File {
        /// The open file.
        file: Arc<File>,
        /// Offset of the first byte; `None` when the file has no position (a device).
        start: Option<u64>,
    },
}

/// How long [`Stdin::inherit`] reads before it says that it is waiting.
const PATIENCE: Duration = Duration::from_secs(1);

impl Stdin {
    /// What suits the controller's own standard input: a terminal or a closed one becomes
    /// `/dev/null`; a regular file is used itself, from its present position; a pipe or socket is
    /// read to its end, once, so that every execution gets all of it.
    ///
    /// `waiting` is called when the end of a pipe does not come within a second. Fails with
    /// [`io::ErrorKind::Interrupted`] when `stop` is set meanwhile, and with
    /// [`io::ErrorKind::FileTooLarge`] when a pipe has more than `most` bytes.
    pub fn inherit(stop: &StopFlag, most: u64, waiting: impl FnOnce()) -> io::Result<Stdin> {
        let mut stdin = match io::stdin().as_fd().try_clone_to_owned() {
            Ok(fd) => File::from(fd),
            Err(e) if e.raw_os_error() == Some(libc::EBADF) => return Ok(Stdin::Null),
            Err(e) => return Err(e),
        };
        use std::os::unix::fs::FileTypeExt;
        let kind = stdin.metadata()?.file_type();
        if kind.is_file() {
            let start = Some(stdin.stream_position()?);
            let file = Arc::new(stdin);
            return Ok(Stdin::File { file, start });
        }
        if kind.is_fifo() || kind.is_socket() {
            return spool(stdin, stop, most, waiting);
        }
        if kind.is_char_device() && !io::IsTerminal::is_terminal(&stdin) {
            let file = Arc::new(stdin);
            return Ok(Stdin::File { file, start: None });
        }
        Ok(Stdin::Null)
    }

    /// These bytes.
    pub fn bytes(content: &[u8]) -> io::Result<Stdin> {
        let mut file = sys::memory_file(c"raddle-stdin")?;
        file.write_all(content)?;
        Ok(Stdin::File {
            file: Arc::new(file),
            start: Some(0),
        })
    }

    /// A file description of the session's own, at the start position.
    pub(crate) fn open(&self) -> io::Result<File> {
        match self {
            Stdin::Null => File::open("/dev/null"),
            Stdin::File { file, start } => {
                let mut own = File::open(sys::fd_path(file.as_raw_fd()))?;
                if let Some(start) = start {
                    own.seek(SeekFrom::Start(*start))?;
                }
                Ok(own)
            }
        }
    }

    /// Where `open`ed files are to be set back to before an execution.
    pub(crate) fn start(&self) -> Option<u64> {
        match self {
            Stdin::Null => None,
            Stdin::File { start, .. } => *start,
        }
    }
}

/// Reads `pipe`, which has at most `most` bytes, to its end into a memory file.
fn spool(mut pipe: File, stop: &StopFlag, most: u64, waiting: impl FnOnce()) -> io::Result<Stdin> {
    let mut read = 0;
    let mut content = sys::memory_file(c"raddle-stdin")?;
    let mut waiting = Some(waiting);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let patience = waiting.is_some().then_some(PATIENCE);
        let fds: [BorrowedFd; 2] = [pipe.as_fd(), stop.as_fd()];
        let ready = sys::poll_in(fds, patience)?;
        if ready[1] {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if !ready[0] {
            if let Some(tell) = waiting.take() {
                tell();
            }
            continue;
        }
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                read += n as u64;
                if read > most {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                content.write_all(&buffer[..n])?;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(Stdin::File {
        file: Arc::new(content),
        start: Some(0),
    })
}
