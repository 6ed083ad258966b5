//! From options to what the scheduler needs: the target, its limits, the fixed part of each job.

use crate::cli::{BusyWaits, Network, Substrate, TargetOptions};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::limits::Seed;
use crate::outside;
use crate::store;
use crate::terminal::tell;
use crate::triage::Reference;
use crate::trust;
use raddle_protocol::job::Job;
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::{env, flags};
use raddle_protocol::trace::output_hash;
use raddle_protocol::witness::{Bytes, Command};
use raddle_scheduler::{Limits, Program, Reuse, Session, Stdin, StopFlag, Target, inspect};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One program with all that its executions have in common.
pub struct Setup {
    pub target: Target,
    pub limits: Limits,
    pub program: Program,
    /// A job with an empty prefix; its tail is for the search to choose.
    pub base: Job,
    /// Of the numbers that the program draws; in a replay the job alone has it.
    pub seed: Seed,
    /// Variables that witnesses keep besides those that are known to do no harm.
    kept: Vec<OsString>,
}

/// Bytes kept of standard output, and as many of standard error.
const OUTPUT_BYTES: usize = 16 << 20;
/// Bytes of records kept of one execution.
const RECORD_BYTES: usize = 1 << 30;
/// A witness keeps standard input up to so many bytes.
const STDIN_IN_WITNESS: u64 = 64 << 20;

impl Setup {
    /// Checks the program and opens what it reads. `default_steps`: the step limit where the
    /// options name none; `seed`: from `--seed`.
    pub fn new(
        options: &TargetOptions,
        default_steps: u64,
        seed: Option<u64>,
        interrupt: &Interrupt,
    ) -> Result<Setup> {
        let (program, args) = options
            .command
            .split_first()
            .ok_or_else(|| Error::usage("no program is named", "put it after `--`"))?;
        let program = Path::new(program);
        let inspected = inspect(program)?;
        let seed = Seed::new(seed);
        let mut base = Job::new(Tail::RunUntilBlocked);
        base.entropy = seed.number;
        base.max_steps = options.max_steps.unwrap_or(default_steps);
        if options.threads == Substrate::Kernel {
            base.flags |= flags::KERNEL_THREADS;
        }
        if options.faults {
            base.flags |= flags::FAULTS;
        }
        let own = match options.network {
            Network::Auto => inspected.serves,
            Network::Own => true,
            Network::Host => false,
        };
        if own {
            base.flags |= flags::OWN_NETWORK;
        }
        if options.lazy_time {
            base.flags |= flags::LAZY_TIME;
        }
        if options.eager_time {
            base.flags |= flags::EAGER_TIME;
        }
        if options.busy_waits == BusyWaits::Run {
            base.flags |= flags::RUN_SPINS;
        }
        Ok(Setup {
            target: Target {
                program: program.to_owned(),
                name: None,
                args: args.to_vec(),
                env: network(&base).into_iter().collect(),
                cwd: None,
                stdin: stdin(options.stdin.as_deref(), interrupt)?,
                runtime: runtime_library()?,
            },
            limits: Limits {
                reuse: match (options.no_snapshots, options.no_rewind) {
                    (true, _) => Reuse::Nothing,
                    (false, true) => Reuse::Copies,
                    (false, false) => Reuse::Processes,
                },
                ..limits(options.timeout, &options.accept_exit)
            },
            program: inspected,
            base,
            seed,
            kept: kept(&options.keep_env)?,
        })
    }

    /// A program whose start is known in every detail.
    pub fn of_parts(
        program: PathBuf,
        args: Vec<OsString>,
        mut env: Vec<(OsString, OsString)>,
        stdin: Option<&[u8]>,
        limits: Limits,
        base: Job,
    ) -> Result<Setup> {
        let stdin = match stdin {
            Some(content) => Stdin::bytes(content)
                .map_err(|e| Error::file("write", Path::new("standard input"), &e))?,
            None => Stdin::Null,
        };
        env.extend(network(&base));
        Ok(Setup {
            program: inspect(&program)?,
            target: Target {
                program,
                name: None,
                args,
                env,
                cwd: None,
                stdin,
                runtime: runtime_library()?,
            },
            limits,
            base,
            seed: Seed::new(None),
            kept: Vec::new(),
        })
    }

    /// Starts the program up to its main.
    pub fn session(&self, stop: &StopFlag) -> Result<Session> {
        Ok(Session::start(&self.target, &self.limits, stop)?)
    }

    /// How the program was started, for a witness.
    pub fn command(&self) -> Result<Command> {
        let bytes = |text: &OsString| Bytes(text.as_bytes().to_vec());
        let cwd = std::env::current_dir()
            .map_err(|e| Error::file("find", Path::new("the working directory"), &e))?;
        let env = std::env::vars_os()
            .filter(|(name, _)| trust::is_allowed(name) || self.kept.contains(name))
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .chain(outside::kept(&self.target.env))
            .map(Bytes)
            .collect();
        Ok(Command {
            program: Bytes(self.target.program.as_os_str().as_bytes().to_vec()),
            args: self.target.args.iter().map(bytes).collect(),
            env,
            cwd: Bytes(cwd.as_os_str().as_bytes().to_vec()),
            stdin: self.stdin_content()?.map(Bytes),
        })
    }

    /// All that an execution reads from standard input; `None` when that is nothing, or a device.
    pub fn stdin_content(&self) -> Result<Option<Vec<u8>>> {
        stdin_content(&self.target.stdin)
    }
}

/// What tells the runtime about the network of the job's target.
fn network(job: &Job) -> Option<(OsString, OsString)> {
    let own = job.flags & flags::OWN_NETWORK != 0;
    own.then(|| (env::NETWORK.into(), "own".into()))
}

/// The standard output that a file holds, for `--expect-output`.
pub fn expected_output(path: &Path) -> Result<Reference> {
    let (content, rest) = store::read_long(path, OUTPUT_BYTES as u64)?;
    Ok(Reference {
        what: format!("the content of {}", path.display()),
        hash: output_hash(&content, &rest),
        stdout: Some(content),
        taken: Vec::new(),
    })
}

/// The limits of one execution.
pub fn limits(wall: std::time::Duration, accepted: &[u8]) -> Limits {
    Limits {
        wall,
        output_bytes: OUTPUT_BYTES,
        record_bytes: RECORD_BYTES,
        reuse: Reuse::Processes,
        accepted: accepted.iter().copied().collect(),
    }
}

/// The variables that the user wants witnesses to keep.
///
/// # Errors
/// One that loaders, shells or interpreters obey: no replay would take it. What can be no name.
fn kept(names: &[OsString]) -> Result<Vec<OsString>> {
    let is_none = |name: &&OsString| name.is_empty() || name.as_encoded_bytes().contains(&b'=');
    if let Some(name) = names.iter().find(is_none) {
        return Err(Error::usage(
            format!("`{}` is no name of a variable", name.display()),
            "name one that is set; its value is taken from the environment",
        ));
    }
    match names.iter().find(|name| trust::is_obeyed(name)) {
        Some(name) => Err(Error::usage(
            format!(
                "{} never goes into a witness: loaders or interpreters obey it",
                name.display()
            ),
            "set it for the replay as well",
        )),
        None => Ok(names.to_vec()),
    }
}

fn stdin(file: Option<&Path>, interrupt: &Interrupt) -> Result<Stdin> {
    let Some(path) = file else {
        let waiting = || tell("raddle: reading standard input to its end …\n");
        let inherited = Stdin::inherit(&interrupt.search, STDIN_IN_WITNESS, waiting);
        return inherited.map_err(|e| match e.kind() {
            std::io::ErrorKind::FileTooLarge => too_much(&format!("more than {STDIN_IN_WITNESS}")),
            std::io::ErrorKind::Interrupted => Error::new(
                Exit::Interrupted,
                "stopped while reading standard input",
                "",
            ),
            _ => Error::file("read", Path::new("standard input"), &e),
        });
    };
    let failed = |e: std::io::Error| Error::file("read", path, &e);
    match store::Named::open(path)?.regular().map_err(failed)? {
        Ok(file) => Ok(Stdin::File {
            file: Arc::new(file),
            start: Some(0),
        }),
        Err(other) => {
            let content = store::read_all(other, path, STDIN_IN_WITNESS)?;
            Stdin::bytes(&content).map_err(failed)
        }
    }
}

/// Standard input has so many `bytes`.
fn too_much(bytes: &str) -> Error {
    Error::new(
        Exit::InputOutput,
        format!("standard input has {bytes} bytes, a witness holds {STDIN_IN_WITNESS}"),
        "let the program read a file by name instead",
    )
}

/// All that an execution reads; `None` when that is nothing, or a device.
fn stdin_content(stdin: &Stdin) -> Result<Option<Vec<u8>>> {
    let Stdin::File {
        file,
        start: Some(start),
    } = stdin
    else {
        return Ok(None);
    };
    let failed = |e: std::io::Error| Error::file("read", Path::new("standard input"), &e);
    let len = file
        .metadata()
        .map_err(failed)?
        .len()
        .saturating_sub(*start);
    if len > STDIN_IN_WITNESS {
        return Err(too_much(&len.to_string()));
    }
    let mut content = vec![0; len as usize];
    file.read_exact_at(&mut content, *start).map_err(failed)?;
    Ok(Some(content))
}

/// `libraddle.so`, beside this executable or in `../lib/raddle` from it.
pub fn runtime_library() -> Result<PathBuf> {
    beside("libraddle.so")
}

/// `libraddle_plugin.so`, in the same places.
pub fn plugin_library() -> Result<PathBuf> {
    beside("libraddle_plugin.so")
}

/// The executable of this command.
pub fn own_command() -> Result<PathBuf> {
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    own.map_err(|e| Error::file("find", Path::new("the raddle command"), &e))
}

/// A library of raddle's own.
fn beside(name: &str) -> Result<PathBuf> {
    let own = own_command()?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(name), folder.join("../lib/raddle").join(name)];
    let found = places.iter().find(|place| place.is_file()).cloned();
    found.ok_or_else(|| {
        Error::new(
            Exit::ToolFault,
            format!(
                "{name} is neither in {0} nor in {0}/../lib/raddle",
                folder.display()
            ),
            "build the whole workspace, or install raddle again",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn standard_input_is_read_from_where_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("in");
        std::fs::write(&path, "0123456789").unwrap();
        let file = Arc::new(File::open(&path).unwrap());
        let at = |start| Stdin::File {
            file: file.clone(),
            start,
        };
        assert_eq!(stdin_content(&at(Some(4))).unwrap().unwrap(), b"456789");
        assert_eq!(stdin_content(&at(Some(99))).unwrap().unwrap(), b"");
        assert_eq!(stdin_content(&at(None)).unwrap(), None);
        assert_eq!(stdin_content(&Stdin::Null).unwrap(), None);
    }
}
