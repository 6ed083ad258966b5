//! How a target is started: descriptors, environment, address layout, and who dies with whom.

use crate::error::StartError;
use crate::inspect::Program;
use crate::sys;
use crate::target::Target;
use raddle_protocol::shared::env;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, mpsc};

/// The descriptors in the target are looked for from here downwards.
const HIGHEST: RawFd = 960;
/// Arguments and environment together are filled up to a multiple of this many bytes, so that the
/// addresses on the stack do not depend on the length of `$PWD`.
const STACK_STEP: usize = 16 << 10;

/// The numbers that `n` descriptors get in the target: high, within the soft limit, not used by
/// anything that the target inherits from us, and none of `sources`.
pub fn free_numbers(n: usize, sources: &[RawFd]) -> Result<Vec<RawFd>, StartError> {
    let failed = |source| StartError::Os {
        action: "read the limit on descriptors",
        source,
    };
    let (soft, _) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)
        .map_err(|e| failed(e.into()))?;
    let top = RawFd::try_from(soft).unwrap_or(RawFd::MAX).min(HIGHEST);
    let free: Vec<RawFd> = (3..top)
        .rev()
        .filter(|fd| !sources.contains(fd) && sys::survives_exec(*fd) != Some(true))
        .take(n)
        .collect();
    match free.len() == n {
        true => Ok(free),
        false => Err(failed(io::Error::from_raw_os_error(libc::EMFILE))),
    }
}

/// Names one session, or one direct start, among all that ever ran on this machine; of fixed
/// length.
pub fn new_token() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    format!("{:010}-{n:010}-{since_1970:012}", std::process::id())
}

/// The complete environment of a target. `eager`: the dynamic linker binds every function before
/// `main`, so that executions do not do it again and again.
pub fn environment(
    target: &Target,
    program: &Program,
    token: &str,
    descriptors: &[(&str, RawFd)],
    eager: bool,
) -> Result<BTreeMap<OsString, OsString>, StartError> {
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    all.extend(target.env.iter().cloned());
    let mut runtime = preloadable(&target.runtime)?;
    if program.sanitizers.thread {
        runtime.push(":");
        runtime.push(preloadable(
            &target.runtime.with_file_name(env::TSAN_LIBRARY),
        )?);
    }
    program.sanitizers.set(&mut all);
    let preload = match all.get(OsStr::new("LD_PRELOAD")) {
        Some(others) if !others.is_empty() => {
            let mut list = runtime;
            list.push(":");
            list.push(others);
            list
        }
        _ => runtime,
    };
    let (dev, inode) = program.file;
    all.insert("LD_PRELOAD".into(), preload);
    all.insert(env::TARGET.into(), format!("{dev}:{inode}").into());
    all.insert(env::SESSION.into(), token.into());
    all.extend(env::CALM.map(|(name, value)| (name.into(), value.into())));
    if let Some(wanted) = all.get_mut(OsStr::new(env::BACKTRACE)) {
        *wanted = "0".into();
    }
    if let (true, Some((name, value))) = (eager, env::EAGER.split_once('=')) {
        all.entry(name.into()).or_insert_with(|| value.into());
    }
    for (name, number) in descriptors {
        all.insert((*name).into(), number.to_string().into());
    }
    fill_up(&mut all, target, program);
    Ok(all)
}

/// `path` as `LD_PRELOAD` takes it: absolute, and checked to be there.
fn preloadable(path: &Path) -> Result<OsString, StartError> {
    let failed = |source| StartError::Runtime {
        path: path.to_owned(),
        source,
    };
    let absolute = std::fs::canonicalize(path).map_err(failed)?;
    File::open(&absolute).map_err(failed)?;
    let separates = |b: &u8| b.is_ascii_whitespace() || matches!(b, b':' | b';' | b'$');
    match absolute.as_os_str().as_bytes().iter().any(separates) {
        false => Ok(absolute.into_os_string()),
        true => Err(failed(io::Error::other(
            "LD_PRELOAD cannot take a path with a space, a colon or a dollar sign; install raddle elsewhere",
        ))),
    }
}

fn fill_up(all: &mut BTreeMap<OsString, OsString>, target: &Target, program: &Program) {
    all.insert(env::FILL.into(), OsString::new());
    let pointer = size_of::<usize>();
    let words = target
        .args
        .iter()
        .map(|a| a.len() + 1 + pointer)
        .sum::<usize>();
    let names = target.name().len() + program.path.as_os_str().len() + 2 + pointer;
    let variables = all.iter().map(|(k, v)| k.len() + v.len() + 2 + pointer);
    let used = words + names + variables.sum::<usize>();
    let missing = used.next_multiple_of(STACK_STEP) - used;
    all.insert(env::FILL.into(), OsString::from_vec(vec![b'.'; missing]));
}

/// The command that starts `program`, behind the words of `wrapper` if there are any.
pub fn command(
    target: &Target,
    program: &Program,
    wrapper: &[OsString],
    environment: &BTreeMap<OsString, OsString>,
    inherited: &[(RawFd, RawFd)],
    dies_with_us: bool,
) -> Command {
    let mut command = match wrapper.split_first() {
        None => {
            let mut command = Command::new(&program.path);
            command.arg0(target.name());
            command
        }
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(&program.path);
            command
        }
    };
    command.args(&target.args).env_clear().envs(environment);
    if let Some(cwd) = &target.cwd {
        command.current_dir(cwd);
    }
    let inherited = inherited.to_vec();
    let parent = std::process::id() as libc::pid_t;
    // SAFETY: between fork and exec the closure makes system calls only; it allocates nothing and
    // takes no lock.
    unsafe {
        command.pre_exec(move || {
            // Whether that is allowed has been checked before.
            let _ = fixed_addresses();
            for &(ours, theirs) in &inherited {
                check(libc::dup2(ours, theirs))?;
            }
            if dies_with_us {
                check(libc::setsid())?;
                check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
                if libc::getppid() != parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
            }
            Ok(())
        });
    }
    command
}

fn check(result: libc::c_int) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Switches address randomisation off for what this thread starts. Only system calls.
fn fixed_addresses() -> io::Result<()> {
    // SAFETY: personality takes numbers; 0xffffffff only asks.
    let now = unsafe { libc::personality(0xffff_ffff) };
    check(now)?;
    if now & libc::ADDR_NO_RANDOMIZE != 0 {
        return Ok(());
    }
    // SAFETY: as above.
    check(unsafe { libc::personality((now | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) })
}

type Task = Box<dyn FnOnce() + Send>;

/// Runs `f` on the launcher: one thread that lives as long as this process.
///
/// PR_SET_PDEATHSIG means the parent *thread*. A session may be made by a worker that ends before
/// the session does, or be handed to another thread; started by the launcher, the targets die
/// when the controller dies and not before.
pub fn on_launcher<R: Send + 'static>(
    f: impl FnOnce() -> R + Send + 'static,
) -> Result<R, StartError> {
    static LAUNCHER: OnceLock<Result<mpsc::Sender<Task>, i32>> = OnceLock::new();
    let failed = |errno| StartError::Os {
        action: "start the thread that starts programs",
        source: io::Error::from_raw_os_error(errno),
    };
    let launcher =
        LAUNCHER.get_or_init(|| launcher().map_err(|e| e.raw_os_error().unwrap_or(libc::EAGAIN)));
    let launcher = launcher.as_ref().map_err(|errno| failed(*errno))?;
    let (answer, result) = mpsc::sync_channel(1);
    let task: Task = Box::new(move || {
        // The one who asked waits below, so this cannot fail.
        let _ = answer.send(f());
    });
    launcher.send(task).map_err(|_| failed(libc::ESRCH))?;
    result.recv().map_err(|_| failed(libc::ESRCH))
}

fn launcher() -> io::Result<mpsc::Sender<Task>> {
    // Orphans of a target become children of this process, which can then end and reap them.
    nix::sys::prctl::set_child_subreaper(true)?;
    let (sender, tasks) = mpsc::channel::<Task>();
    std::thread::Builder::new()
        .name("raddle-launcher".into())
        .spawn(move || tasks.into_iter().for_each(|task| task()))?;
    Ok(sender)
}

/// Fails when this system does not let address randomisation be switched off.
pub fn check_fixed_addresses() -> Result<(), StartError> {
    let result = on_launcher(fixed_addresses)?;
    let off_anyway = || {
        std::fs::read_to_string("/proc/sys/kernel/randomize_va_space")
            .is_ok_and(|level| level.trim() == "0")
    };
    match result {
        Err(e) if !off_anyway() => Err(StartError::Randomisation(e)),
        _ => Ok(()),
    }
}
