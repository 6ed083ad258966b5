//! The command line.

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::policy::{Executions, Policy};
use crate::suppress::Suppressions;
use crate::watch::{Treatment, Weight};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// Finds the thread schedule on which a program fails, and plays it again.
///
/// raddle runs a multi-threaded program many times, decides at every lock, wait, atomic and
/// (in programs built with `raddle cc`) memory access which thread goes on, and so reaches the
/// rare interleavings that a stress test misses. Every failure ends in a witness file that
/// fails in the same way each time it is replayed.
#[derive(Debug, Parser)]
#[command(name = "raddle", version, arg_required_else_help = true, after_help = FIRST_STEPS)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const FIRST_STEPS: &str = "\
First steps:
  raddle run -- ./test arg             a thousand different interleavings of ./test
  raddle replay test-deadlock-….raddle the same failure again (--gdb: in the debugger)
  raddle cc -g test.c -o test          scheduling points at every shared memory access, too
  raddle cargo test                    the tests of a Rust package, each under a thousand of them
  raddle verify -- ./test              all interleavings and all inputs, with a proof at the end

Exit codes: 0 nothing found, 66 a finding, 69 nothing found but not all was done that was to be (the
bounds are printed); the README has the whole table.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program under many schedules and look for failures
    Run(RunOptions),
    /// Fail again in the same way as a witness says
    Replay(ReplayOptions),
    /// Print a witness without running anything
    Show(ShowOptions),
    /// Say what a corpus directory holds: coverage, its growth, what may be left, findings
    Coverage(CoverageOptions),
    /// Explore all schedules and inputs of an instrumented program
    Verify(VerifyOptions),
    /// Compile C with scheduling points at memory accesses (clang with raddle's plugin)
    #[command(disable_help_flag = true)]
    Cc(CompilerArgs),
    /// The same for C++
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(CompilerArgs),
    /// Build, run and test Rust with scheduling points at atomic operations (cargo, as it is)
    #[command(disable_help_flag = true)]
    Cargo(CompilerArgs),
    /// Run each test of a Rust or GoogleTest binary under many schedules, as `raddle cargo test` does
    Test(RunOptions),
}

#[derive(Debug, Args)]
pub struct CompilerArgs {
    /// What the compiler or cargo takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

/// What is run, and within which limits.
#[derive(Debug, Args)]
pub struct TargetOptions {
    /// Standard input of every execution (default: what raddle itself is given; nothing on a
    /// terminal)
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,

    /// How threads are switched: `fiber` is fast, `kernel` keeps every thread on a kernel thread
    /// of its own, for programs that depend on that
    #[arg(long, value_enum, default_value_t = Substrate::Fiber)]
    pub threads: Substrate,

    /// Steps after which an execution is cut off, which bounds the verdict; if its threads only come
    /// back to the same states, it is a livelock. 0: no limit (default: 10 million; for verify
    /// 100,000 decisions without a step)
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,

    /// Wall-clock limit of one execution
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub timeout: Duration,

    /// Exit statuses, beside 0, with which all is well
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub accept_exit: Vec<u8>,

    /// Variables of the environment that witnesses keep, besides those that are known to do no harm
    /// (`raddle show` lists what a witness holds)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub keep_env: Vec<OsString>,

    /// Timed waits and sleeps end only when nothing else can run (default: their end is tried
    /// at every moment)
    #[arg(long)]
    pub lazy_time: bool,

    /// Timed waits and timers of over a second may end while others can go on, as shorter ones do
    /// (default: such a time-out is there for when something has gone wrong; exhaustive policies and
    /// `verify` try all ends)
    #[arg(long, conflicts_with = "lazy_time")]
    pub eager_time: bool,

    /// Start every execution at the beginning of the program, also where a copy of an earlier
    /// one would save time
    #[arg(long)]
    pub no_snapshots: bool,

    /// Run every execution in a process of its own, as on kernels before Linux 6.7, also where one
    /// that has ended could be put back
    #[arg(long)]
    pub no_rewind: bool,

    /// Reads, writes and waits for descriptors and semaphores may come short or be interrupted, as
    /// signals make them; at most four times in an execution, and only where the schedule says so
    #[arg(long)]
    pub faults: bool,

    /// `own`: loopback only, so that no other process is in the way; `host`: that of the machine,
    /// for peers outside; `auto`: own for programs that bind sockets
    #[arg(long, value_enum, default_value_t = Network::Auto)]
    pub network: Network,

    /// What a loop does that changes nothing and waits for another thread's write: `park` lets it
    /// go on only when something that it reads has changed, `run` runs every iteration
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = BusyWaits::Park)]
    pub busy_waits: BusyWaits,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM ARGS")]
    pub command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Substrate {
    Fiber,
    Kernel,
}

/// Which network a target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Network {
    Auto,
    Own,
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BusyWaits {
    Park,
    Run,
}

/// Where results go.
#[derive(Debug, Args)]
pub struct OutputOptions {
    /// Write a summary as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the verdict as JUnit XML, in which the program with its arguments (of a replay, the
    /// witness) is one test
    #[arg(long, value_name = "FILE", overrides_with = "junit")]
    pub junit: Option<PathBuf>,

    /// Write the findings as SARIF 2.1.0
    #[arg(long, value_name = "FILE", overrides_with = "sarif")]
    pub sarif: Option<PathBuf>,

    /// Say the verdict only: no progress, no interleavings
    #[arg(short, long)]
    pub quiet: bool,
}

/// What becomes of findings.
#[derive(Debug, Args)]
pub struct FindingOptions {
    /// Go on after a finding and collect different ones
    #[arg(long, visible_alias = "all")]
    pub keep_going: bool,

    /// Directory for witness files (default: the working directory)
    #[arg(long, value_name = "DIR")]
    pub witness_dir: Option<PathBuf>,

    /// File for the witness of the first finding
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with = "witness_dir")]
    pub witness: Option<PathBuf>,

    /// Keep the schedule as it was found instead of looking for one with fewer preemptions
    #[arg(long)]
    pub no_shrink: bool,

    /// Executions that are spent at most on looking for a schedule of one finding with fewer
    /// preemptions
    #[arg(
        long,
        value_name = "N",
        default_value_t = 15_000,
        conflicts_with = "no_shrink"
    )]
    pub shrink_executions: u64,

    /// Time after which that ends, whatever was reached; the report says so
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration,
          conflicts_with = "no_shrink")]
    pub shrink_time: Duration,
}

#[derive(Debug, Args)]
pub struct RunOptions {
    /// Executions (default: 1000; no limit with --time or an exhaustive policy; 1 with --policy rr)
    #[arg(short = 'n', long, value_name = "N")]
    pub executions: Option<u64>,

    /// Stop after this time, in the middle of an execution if need be: 30s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,

    /// Executions at the same time
    #[arg(short, long, value_name = "J", default_value_t = 1)]
    pub jobs: u16,

    /// Start of the random numbers, those that the program draws, too (default: 1); the same seed
    /// gives the same executions (with -j 1). Exhaustive policies are bounded by a program that draws
    /// random numbers, unless a seed is given: then the verdict is about its numbers
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Which thread goes on: `random` (any), `pct:D` (random priorities, D-1 changes), `pos`
    /// (random priorities of operations), `rr` (run until blocked), `steer` (drives threads to what
    /// was not tested yet), `mix` (random, pct:3 and pos in turn); exhaustive: `dpor` (one
    /// interleaving of each equivalence class; `dpor:source`: by source sets), `pcb:K` (at most K
    /// preemptions; `pcb`: 0, 1, 2 …), `delay:K` (at most K delays), `dfs` (every interleaving),
    /// `hapset`, `hapset:pcb:K` (of those only what shows a pair of statements in a new order),
    /// `pset` (the same, looking at memory alone)
    #[arg(long, value_name = "P", default_value = "steer")]
    pub policy: String,

    /// With `hapset`: tell statements apart by so many callers
    #[arg(long, value_name = "K")]
    pub context: Option<u8>,

    /// With `hapset`: learn from so many random executions first
    #[arg(long, value_name = "N")]
    pub learn: Option<u64>,

    /// Standard output must be the same in every execution; a difference is a finding
    #[arg(long)]
    pub same_output: bool,

    /// Standard output must be what this file holds; a difference is a finding
    #[arg(long, value_name = "FILE", conflicts_with = "same_output")]
    pub expect_output: Option<PathBuf>,

    /// Anything that is not under control is an error (exit status 68), and the search ends there
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    pub corpus: CorpusOptions,
    #[command(flatten)]
    pub watch: WatchOptions,
    #[command(flatten)]
    pub findings: FindingOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub target: TargetOptions,
}

/// What runs leave for later ones.
#[derive(Debug, Args)]
pub struct CorpusOptions {
    /// Go on from what earlier runs have left in this directory (made if it is not there), and add
    /// to it: executions done, coverage, findings
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,

    /// Do again what earlier runs did of this search; findings and pairs in the corpus stay
    #[arg(long, requires = "corpus")]
    pub corpus_anew: bool,

    /// Findings that the corpus knows are only counted: they neither end the search nor make its
    /// exit code
    #[arg(long, requires = "corpus")]
    pub new_only: bool,
}

#[derive(Debug, Args)]
pub struct CoverageOptions {
    /// The corpus directory
    #[arg(value_name = "DIR")]
    pub corpus: PathBuf,

    /// Write everything as JSON instead, to this file or to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub json: Option<Option<PathBuf>>,
}

/// What executions are looked at for, besides how they end.
#[derive(Debug, Args)]
pub struct WatchOptions {
    #[command(flatten)]
    pub races: RaceOptions,

    /// Threads alive at exit that nobody joined or detached
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Treatment::Report)]
    pub leaked_threads: Treatment,

    /// Failures that were only seen where a timed wait or a timer ran out while others could go on:
    /// `report` them, or `fail` the run for them (default: report; with an exhaustive policy or
    /// --eager-time, fail)
    #[arg(long, value_enum, value_name = "HOW")]
    pub early_timeouts: Option<Weight>,

    /// Do not try to make deadlocks of locks that are taken in different orders
    #[arg(long)]
    pub no_lock_order: bool,

    /// Condition waits may end although nobody signalled (a few in each execution)
    #[arg(long)]
    pub spurious: bool,
}

#[derive(Debug, Args)]
pub struct RaceOptions {
    /// Data races: `report` them, `fail` the run for them, or look for none
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Treatment::Report)]
    pub races: Treatment,

    /// Findings that are to be kept quiet, in ThreadSanitizer's syntax: race:, race_top:, mutex:,
    /// deadlock:, thread:, called_from_lib:
    #[arg(long, value_name = "FILE")]
    pub suppressions: Option<PathBuf>,
}

impl RaceOptions {
    /// What is to be kept quiet.
    ///
    /// # Errors
    /// The file cannot be read, or is no such list.
    pub fn read_suppressions(&self) -> Result<Suppressions> {
        match &self.suppressions {
            Some(path) => Suppressions::read(path),
            None => Ok(Suppressions::default()),
        }
    }
}

#[derive(Debug, Args)]
pub struct ReplayOptions {
    /// The witness file; several are replayed one after the other, with a verdict on each
    #[arg(required = true, value_name = "WITNESS")]
    pub witnesses: Vec<PathBuf>,

    /// Replay so many times and count
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1)]
    pub times: u64,

    /// Stop at the failure in gdb; arguments for gdb may follow after `--`
    #[arg(long)]
    pub gdb: bool,

    /// Replay the other execution of a race or of differing outputs instead
    #[arg(long, conflicts_with = "gdb")]
    pub other: bool,

    /// Run this program instead of the one that the witness names (when it was moved or built again)
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,

    /// Start whatever program the witness names, with all of its environment that loaders and
    /// interpreters do not obey; without it only the very build that the witness is of, below the
    /// working directory
    #[arg(long)]
    pub trust: bool,

    #[command(flatten)]
    pub output: OutputOptions,

    /// Arguments for gdb
    #[arg(last = true, value_name = "GDB ARGS", requires = "gdb")]
    pub gdb_args: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct ShowOptions {
    /// The witness file
    pub witness: PathBuf,

    /// Leave nothing out of a long interleaving
    #[arg(long)]
    pub full: bool,
}

#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// How paths are chosen: `frontier` takes the fewest executions; for comparison, as the MPC
    /// paper has them, its strategy 1 (which can miss paths), its strategy 2, and maximal causality
    /// reduction (which leaves inputs zero)
    #[arg(long, value_enum, default_value_t = StrategyName::Frontier)]
    pub strategy: StrategyName,

    /// Stop after so many executions (verified within bounds); 0: no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_executions: u64,

    /// Stop after this time (verified within bounds)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,

    /// Start of the random numbers that the program draws (default: 1). A program that draws some
    /// is verified within bounds, unless a seed is given: then the verdict is about its numbers
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Executions at the same time, and questions to the solver, with `--strategy frontier`
    #[arg(short, long, value_name = "J", default_value_t = 1)]
    pub jobs: u16,

    /// Decisions that one thread may take before its path is cut (verified within bounds);
    /// 0: no limit
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub loop_bound: u32,

    /// Condition waits may end although nobody signalled (four in each execution at most); with
    /// `--strategy frontier`
    #[arg(long)]
    pub spurious: bool,

    /// Keep in this directory a witness of each finding and of each execution that took a path not
    /// taken before, as tests: `raddle replay DIR/*`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["witness", "witness_dir"])]
    pub keep: Option<PathBuf>,

    /// Go on from what earlier runs have executed with this directory (made if it is not there),
    /// whatever ended them, and add to it; with `--strategy frontier`
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,

    #[command(flatten)]
    pub outside: OutsideOptions,
    #[command(flatten)]
    pub races: RaceOptions,

    #[command(flatten)]
    pub findings: FindingOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub target: TargetOptions,
}

/// Inputs that the program does not name itself.
#[derive(Debug, Args)]
pub struct OutsideOptions {
    /// Standard input is N bytes that can be anything
    #[arg(long, value_name = "N", conflicts_with = "stdin")]
    pub symbolic_stdin: Option<u64>,

    /// This file holds N bytes (as many as it has) that can be anything, for reads by open, read
    /// and the functions of C streams
    #[arg(long, value_name = "PATH[:N]")]
    pub symbolic_file: Vec<OsString>,

    /// Argument number K (from 1) is N bytes (as many as it has) that can be anything; a zero byte
    /// ends it
    #[arg(long, value_name = "K[:N]")]
    pub symbolic_arg: Vec<OsString>,

    /// This variable of the environment likewise
    #[arg(long, value_name = "NAME[:N]")]
    pub symbolic_env: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    Frontier,
    #[value(name = "mpc-s1")]
    MpcS1,
    #[value(name = "mpc-s2")]
    MpcS2,
    Mcr,
}

impl RunOptions {
    /// What becomes of failures that need an early time-out. Whoever has all ends of waits tried, or
    /// asks for early ones, means them.
    pub fn early_timeouts(&self, policy: Policy) -> Weight {
        let meant = self.target.eager_time || policy.executions() == Some(Executions::All);
        let default = if meant { Weight::Fail } else { Weight::Report };
        self.watch.early_timeouts.unwrap_or(default)
    }

    /// The policy and the number of executions; `None`: no limit.
    pub fn plan(&self) -> Result<(Policy, Option<u64>)> {
        let policy: Policy = self.policy.parse()?;
        let policy = policy.with(self.context, self.learn)?;
        if self.executions == Some(0) {
            return Err(Error::usage(
                "`-n 0` asks for no execution at all",
                "give at least 1, or leave -n out for 1000",
            ));
        }
        if self.jobs == 0 {
            return Err(Error::usage("`-j 0` asks for no worker", "give at least 1"));
        }
        if self.target.lazy_time && policy.is_reduced() {
            return Err(Error::usage(
                format!(
                    "`{policy}` and `--lazy-time` exclude each other: when time passes would \
                         depend on all threads"
                ),
                "leave one of them out",
            ));
        }
        let default = match policy.executions() {
            Some(Executions::All) => None,
            Some(Executions::One) => Some(1),
            None if self.time.is_some() => None,
            None => Some(DEFAULT_EXECUTIONS),
        };
        Ok((policy, self.executions.or(default)))
    }
}

const DEFAULT_EXECUTIONS: u64 = 1000;

/// "30s", "10m", "2h", "500ms", "90" (seconds).
fn duration(text: &str) -> std::result::Result<Duration, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("write for example 30s, 10m or 2h".to_string()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "write for example 30s, 10m or 2h".to_string())?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        Ok(_) => Err("the time must be more than nothing".to_string()),
        Err(_) if number < 0.0 => Err("the time must be more than nothing".to_string()),
        Err(_) => Err("no time is as long as that".to_string()),
    }
}

/// Reads the command line. `Err` holds what is to be printed and the exit code: help is no error.
pub fn parse(args: impl Iterator<Item = OsString>) -> std::result::Result<Cli, Stop> {
    let args: Vec<OsString> = args.collect();
    let command = args.get(1).cloned().unwrap_or_default();
    Cli::try_parse_from(args).map_err(|e| {
        use clap::error::ErrorKind::*;
        match e.kind() {
            DisplayHelp | DisplayVersion => Stop::Help(e, Exit::Clean),
            DisplayHelpOnMissingArgumentOrSubcommand => Stop::Help(e, Exit::Usage),
            _ => Stop::Error(usage_error(&e, &command)),
        }
    })
}

/// Why there is nothing to do.
#[derive(Debug)]
pub enum Stop {
    /// Help or version text.
    Help(clap::Error, Exit),
    Error(Error),
}

/// clap's message as one line. `command`: the first word, perhaps the name of a command.
fn usage_error(error: &clap::Error, command: &OsStr) -> Error {
    let text = error.to_string();
    let paragraph: Vec<&str> = text
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .map(str::trim)
        .collect();
    let cause = paragraph.join(" ");
    let cause = cause.strip_prefix("error: ").unwrap_or(&cause).to_string();
    let unknown = match error.get(clap::error::ContextKind::InvalidArg) {
        Some(clap::error::ContextValue::String(argument)) => argument.as_str(),
        _ => "",
    };
    let runs = ["run", "verify", "test"]
        .iter()
        .any(|name| command == *name);
    let remedy = match error.kind() {
        clap::error::ErrorKind::UnknownArgument if runs && !unknown.starts_with('-') => {
            "write `--` before the program and its arguments"
        }
        _ => "`raddle help` and `raddle run --help` say what is possible",
    };
    Error::usage(cause, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times() {
        let table = [
            ("30s", Some(30_000)),
            ("10m", Some(600_000)),
            ("2h", Some(7_200_000)),
            ("250ms", Some(250)),
            ("1.5s", Some(1500)),
            ("7", Some(7000)),
            ("", None),
            ("s", None),
            ("3d", None),
            ("0s", None),
            ("-1s", None),
        ];
        for (text, expected) in table {
            let got = duration(text).ok().map(|d| d.as_millis());
            assert_eq!(got, expected, "{text}");
        }
    }

    fn run(args: &[&str]) -> std::result::Result<RunOptions, Stop> {
        let all = ["raddle", "run"].iter().chain(args).map(OsString::from);
        match parse(all)?.command {
            Command::Run(options) => Ok(options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn how_many_executions() {
        let table: [(&[&str], Option<u64>); 6] = [
            (&[], Some(1000)),
            (&["-n", "5"], Some(5)),
            (&["--time", "1s"], None),
            (&["--time", "1s", "-n", "7"], Some(7)),
            (&["--policy", "dfs"], None),
            (&["--policy", "rr"], Some(1)),
        ];
        for (args, expected) in table {
            let args = [args, &["--", "prog"]].concat();
            assert_eq!(run(&args).unwrap().plan().unwrap().1, expected, "{args:?}");
        }
    }

    #[test]
    fn wrong_usage_is_one_line() {
        let table: [&[&str]; 6] = [
            &["--frobnicate", "--", "x"],
            &["-n", "many", "--", "x"],
            &["--time", "soon", "--", "x"],
            &[],
            &["--threads", "green", "--", "x"],
            &["-n", "0", "--", "x"],
        ];
        for args in table {
            let error = match run(args) {
                Err(Stop::Error(e)) => e,
                Ok(options) => options.plan().unwrap_err(),
                other => panic!("{args:?}: {other:?}"),
            };
            assert_eq!(error.exit, Exit::Usage, "{args:?}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}
