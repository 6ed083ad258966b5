//! What the end-to-end tests share: compiling test programs (once per content) and running the
//! command under a time limit.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Time limit for one command of a test, generous for a machine of two busy cores.
pub const LIMIT: Duration = Duration::from_secs(300);

/// The checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The built command.
pub fn raddle() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_raddle"))
}

/// A place for files of tests; `name` keeps tests apart.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).expect("the scratch directory can be made");
    dir
}

/// The same, without what an earlier run of the tests left there.
pub fn empty(name: &str) -> PathBuf {
    let dir = scratch(name);
    std::fs::remove_dir_all(&dir).expect("the scratch directory can be removed");
    scratch(name)
}

/// What a command left behind.
#[derive(Clone, Debug)]
pub struct Output {
    /// Exit status, or 128 plus the signal's number.
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a command to its end, or kills it after `limit` and fails the test.
pub fn output(command: &mut Command, limit: Duration) -> Output {
    use std::os::unix::process::ExitStatusExt;
    let shown = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{shown}: {error}"));
    let collect = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("the pipe can be read");
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = collect(Box::new(child.stdout.take().expect("it is piped")));
    let stderr = collect(Box::new(child.stderr.take().expect("it is piped")));
    let deadline = Instant::now() + limit;
    let status = loop {
        match child.try_wait().expect("the child can be waited for") {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                child.kill().expect("the child can be killed");
                child.wait().expect("the child can be waited for");
                panic!("{shown}: not done after {limit:?}");
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    Output {
        status: status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        stdout: stdout.join().expect("the reader ends"),
        stderr: stderr.join().expect("the reader ends"),
    }
}

/// Who compiles a test program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compiler {
    Gcc,
    Gxx,
    Rustc,
    RaddleCc,
    RaddleCxx,
}

impl Compiler {
    fn command(self) -> Command {
        let mut command = Command::new(match self {
            Compiler::Gcc => Path::new("gcc"),
            Compiler::Gxx => Path::new("g++"),
            Compiler::Rustc => Path::new("rustc"),
            Compiler::RaddleCc | Compiler::RaddleCxx => raddle(),
        });
        match self {
            Compiler::Gcc => command.args(["-g", "-O1", "-pthread"]),
            Compiler::Gxx => command.args(["-std=c++17", "-g", "-O1", "-pthread"]),
            Compiler::Rustc => command.args(["-g", "--edition", "2024"]),
            Compiler::RaddleCc => command.args(["cc", "-g", "-O1", "-pthread"]),
            Compiler::RaddleCxx => command.args(["c++", "-std=c++17", "-g", "-O1", "-pthread"]),
        };
        command
    }
}

/// Compiles a source file of the checkout and returns the program. A program whose source, headers
/// beside it, flags and compiler are as before is not compiled again.
pub fn compile(compiler: Compiler, source: &str, flags: &[&str]) -> PathBuf {
    static LOCKS: OnceLock<Mutex<BTreeMap<PathBuf, &'static Mutex<()>>>> = OnceLock::new();
    let path = root().join(source);
    let mut hasher = DefaultHasher::new();
    (compiler, flags).hash(&mut hasher);
    hash_file(&path, &mut hasher);
    for header in headers_near(&path) {
        hash_file(&header, &mut hasher);
    }
    if matches!(compiler, Compiler::RaddleCc | Compiler::RaddleCxx) {
        for tool in ["raddle", "libraddle_plugin.so"] {
            let tool = raddle().with_file_name(tool);
            let stamp = std::fs::metadata(&tool).and_then(|data| data.modified());
            format!("{stamp:?}").hash(&mut hasher);
        }
    }
    let stem = path.file_stem().expect("a source file has a name");
    let name = format!("{}-{:016x}", stem.to_string_lossy(), hasher.finish());
    let program = scratch("programs").join(name);

    let lock = *LOCKS
        .get_or_init(Mutex::default)
        .lock()
        .expect("no test panics here")
        .entry(program.clone())
        .or_insert_with(|| Box::leak(Box::default()));
    let _one_at_a_time = lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if program.exists() {
        return program;
    }
    let fresh = program.with_extension(format!("new{}", std::process::id()));
    let mut command = compiler.command();
    command.args(flags).arg(&path).arg("-o").arg(&fresh);
    let result = output(&mut command, LIMIT);
    assert_eq!(result.status, 0, "{command:?}\n{}", result.all());
    std::fs::rename(&fresh, &program).expect("the program can be renamed");
    program
}

fn hash_file(path: &Path, hasher: &mut DefaultHasher) {
    std::fs::read(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .hash(hasher);
}

fn headers_near(source: &Path) -> Vec<PathBuf> {
    let beside = source.parent().expect("a source file has a folder");
    let mut headers: Vec<PathBuf> = [beside.to_path_buf(), root().join("examples/include")]
        .iter()
        .filter_map(|dir| std::fs::read_dir(dir).ok())
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "h"))
        .collect();
    headers.sort();
    headers
}

/// The summary that `--json` writes, as far as tests look at it.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Summary {
    pub verdict: String,
    pub executions: u64,
    pub seconds: f64,
    #[serde(default)]
    pub executions_per_second: f64,
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Races and leaked threads that do not fail the run.
    #[serde(default)]
    pub reports: Vec<Finding>,
    #[serde(default)]
    pub possibilities: Vec<Possibility>,
    /// Rules of a suppression file, with how many findings each kept quiet.
    #[serde(default)]
    pub suppressed: BTreeMap<String, u64>,
    /// How often each outcome was seen: "exit N" or the class of a finding.
    #[serde(default)]
    pub outcomes: BTreeMap<String, u64>,
    /// All that there is was explored.
    #[serde(default)]
    pub complete: Option<bool>,
    /// Mazurkiewicz traces among the executions.
    #[serde(default)]
    pub classes: Option<u64>,
    #[serde(default)]
    pub assumptions: Vec<String>,
    #[serde(default)]
    pub bounds: Vec<String>,
    #[serde(default)]
    pub concretised: Vec<serde_json::Value>,
    #[serde(default)]
    pub queries: Option<u64>,
    #[serde(default)]
    pub local_paths: Option<u64>,
    #[serde(default)]
    pub solver_seconds: f64,
    #[serde(default)]
    pub instrumented: BTreeMap<String, String>,
    #[serde(default)]
    pub notes: Vec<String>,
    /// What was not under control.
    #[serde(default)]
    pub uncontrolled: Vec<String>,
}

impl Summary {
    /// Executions of `dpor` that were given up.
    pub fn given_up(&self) -> u64 {
        let count = |note: &String| {
            let (count, _) = note.split_once(" executions were given up")?;
            count.parse::<u64>().ok()
        };
        self.notes.iter().filter_map(count).sum()
    }
}

/// One finding of a summary.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Finding {
    pub class: String,
    pub message: String,
    /// Only seen where a time-out came early: which one.
    #[serde(default)]
    pub time_out: Option<String>,
    pub fingerprint: String,
    pub execution: u64,
    #[serde(default)]
    pub preemptions: u64,
    /// No schedule with fewer preemptions fails in the same way.
    #[serde(default)]
    pub fewest: bool,
    #[serde(default)]
    pub witness: Option<PathBuf>,
    /// It failed in the same way again, and in so many executions.
    #[serde(default)]
    pub reproduced: bool,
    #[serde(default)]
    pub seen: u64,
    #[serde(default)]
    pub inputs: serde_json::Value,
    /// Of a deadlock.
    #[serde(default)]
    pub waits: serde_json::Value,
}

/// Does the witness of the finding fail again, with these options of `replay`?
pub fn replay_fails(finding: &Finding, options: &[&str]) -> Result<(), String> {
    let witness = finding.witness.as_ref().ok_or("has no witness")?;
    let mut replay = Command::new(raddle());
    let again = output(replay.arg("replay").args(options).arg(witness), LIMIT);
    match again.status {
        66 => Ok(()),
        _ => Err(format!("is not replayed: {}", again.all())),
    }
}

/// Something that may be wrong and that no execution has shown.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Possibility {
    pub class: String,
    pub message: String,
    pub places: Vec<String>,
}

/// What one use of the command gave.
#[derive(Clone, Debug)]
pub struct Run {
    pub output: Output,
    pub summary: Summary,
    /// What it was, for messages.
    pub shown: String,
}

impl Run {
    /// Exit code, findings and reports must be so.
    pub fn expect(&self, status: i32, findings: usize, reports: usize) {
        let summary = &self.summary;
        let got = (
            self.output.status,
            summary.findings.len(),
            summary.reports.len(),
        );
        let all = self.output.all();
        assert_eq!(got, (status, findings, reports), "{}\n{all}", self.shown);
    }
}

/// `raddle COMMAND OPTIONS -- PROGRAM ARGS`, in a folder of its own, with its summary. With
/// `RADDLE_REPLAYS` what was found is replayed so many times, and may never differ.
pub fn run(options: &[&str], program: &Path, args: &[&str]) -> Run {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let dir = scratch(&format!("run-{}-{n}", std::process::id()));
    let json = dir.join("summary.json");
    let mut command = Command::new(raddle());
    command
        .current_dir(&dir)
        // A Rust program that writes a stack out takes thousands of steps for it.
        .env("RUST_BACKTRACE", "0")
        .args(options)
        .arg("--json")
        .arg(&json)
        .arg("--")
        .arg(program)
        .args(args);
    let shown = format!("{command:?}");
    let output = output(&mut command, LIMIT);
    let text = std::fs::read_to_string(&json)
        .unwrap_or_else(|error| panic!("{shown}: no summary: {error}\n{}", output.all()));
    let mut summary: Summary = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{shown}: bad summary: {error}\n{text}"));
    for finding in summary.findings.iter_mut().chain(&mut summary.reports) {
        finding.witness = finding.witness.take().map(|path| dir.join(path));
    }
    if let Ok(times) = std::env::var("RADDLE_REPLAYS") {
        let again = summary.findings.iter().filter(|found| found.reproduced);
        for finding in again.filter(|found| found.witness.is_some()) {
            // One that runs out of time takes all of it each time.
            let times = match &finding.class[..] {
                "timeout" => "3",
                _ => &times[..],
            };
            replay_fails(finding, &["-q", "--trust", "-n", times]).unwrap_or_else(|why| {
                panic!("{shown}: {}: {why}", finding.message);
            });
        }
    }
    Run {
        output,
        summary,
        shown,
    }
}

/// Seeds of random programs: those that `RADDLE_RANDOM_SEEDS=LOW..HIGH` asks for, or else the usual ones.
pub fn random_seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("RADDLE_RANDOM_SEEDS") else {
        return usual;
    };
    let (low, high) = text.split_once("..").expect("LOW..HIGH");
    low.parse().expect("a number")..high.parse().expect("a number")
}

/// Does `work` for every item on as many threads as there are cores, and fails with all that went
/// wrong.
pub fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(message) = work(item) {
                        wrong.lock().expect("no worker panics here").push(message);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no worker panics here");
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} of {} failed:\n{}",
        wrong.len(),
        items.len(),
        wrong.join("\n")
    );
}

/// Random numbers, the same everywhere (SplitMix64: Steele, Lea, Flood, OOPSLA 2014, figure 16).
pub struct Random(pub u64);

impl Random {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    /// One of these.
    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}
