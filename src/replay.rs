//! `raddle replay`: the execution of a witness again, compared event by event.

mod several;

pub use several::replay_several;

use crate::class::Class;
use crate::cli::ReplayOptions;
use crate::describe::{self, Failure};
use crate::divergence::{Difference, Divergence, Replayed, first, first_result, in_words};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::formats::Files;
use crate::interrupt::Interrupt;
use crate::marks;
use crate::report::{Names, Style, base_name, report};
use crate::setup::{Setup, limits};
use crate::store::read_witness;
use crate::summary::{Found, Replays, Summary, Verdict};
use crate::symbols::{Symbols, file_identity};
use crate::terminal::{Printed, pass_on, tell, visible};
use crate::triage::{class_of, witness_records};
use crate::trust;
use raddle_protocol::job::{Input, Job};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::{Module, PATH, Recipe, Witness};
use raddle_scheduler::{RunError, StopFlag, direct};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The subcommand for one witness.
pub fn replay(path: &Path, options: &ReplayOptions, files: &Files) -> Result<Exit> {
    if options.times == 0 {
        return Err(Error::usage(
            "`-n 0` asks for no replay at all",
            "give at least 1",
        ));
    }
    let witness = read_witness(path)?;
    let file = std::path::absolute(path).unwrap_or(path.to_path_buf());
    let style = Style::of_stderr();
    trust::check(path, &witness, options)?;
    let interrupt = Interrupt::install()?;
    let (setup, left) = setup(&witness, options)?;
    check_program(path, &witness, &setup)?;
    if options.other {
        return replay_other(path, &witness, &setup, options, files, &interrupt);
    }
    if options.gdb {
        return debug(&witness, &setup, options);
    }
    let mut replayer = Replayer::start(&witness, &setup, &interrupt)?;
    let started = Instant::now();
    let mut summary = Summary::new("replay".to_string(), witness.finding.seed);
    let mut replays = Replays::default();
    for _ in 0..options.times {
        let (label, difference) = match replayer.once()? {
            Some(result) => result,
            None => break,
        };
        summary.executions += 1;
        *summary.outcomes.entry(label).or_default() += 1;
        match difference {
            None => replays.reproduced += 1,
            Some(difference) => {
                replays.divergence.get_or_insert(difference);
            }
        }
    }
    summary.took(started.elapsed(), started.elapsed());
    summary.interrupted = interrupt.requested();
    let rebuilt = setup.program.identity != witness.modules[0].identity;
    summary.verdict = verdict(&witness, &replays, rebuilt);
    if summary.verdict == Verdict::Finding {
        let found = replayer.found(summary.executions, &replays, file);
        summary.findings.push(found);
    }
    if !options.output.quiet && summary.verdict == Verdict::Finding && replays.reproduced > 0 {
        tell(&report(&witness, Some(path), style));
    }
    replayer.output.iter().for_each(pass_on);
    let conclusion = conclusion(&witness, &summary, &replays, replayer.changed(), style);
    tell(&format!("{conclusion}\n"));
    if !left.is_empty() {
        let left = left.join(", ");
        let why = "loaders or interpreters obey them, or they need --trust";
        tell(&format!(
            "  note: not taken from the witness: {left} ({why})\n"
        ));
    }
    let error = match (&summary.verdict, &replays.divergence) {
        (Verdict::Diverged, Some(divergence)) => Some(Error::new(
            Exit::Diverged,
            format!("the replay diverged {divergence}"),
            "",
        )),
        _ => None,
    };
    summary.replay = Some(replays);
    files.write(&summary, error.as_ref())?;
    match error {
        Some(error) => Err(error),
        None => Ok(summary.exit()),
    }
}

/// What the replays show. `rebuilt`: the program is not the one of the witness.
fn verdict(witness: &Witness, replays: &Replays, rebuilt: bool) -> Verdict {
    let is_path = witness.finding.class == PATH;
    match replays.divergence.as_ref().map(|d| &d.difference) {
        Some(Difference::Fails { .. }) => Verdict::Finding,
        None if is_path || replays.reproduced == 0 => Verdict::NothingFound,
        None => Verdict::Finding,
        Some(Difference::NoFailure { .. }) if rebuilt && replays.reproduced == 0 => {
            Verdict::NothingFound
        }
        Some(_) => Verdict::Diverged,
    }
}

fn conclusion(
    witness: &Witness,
    summary: &Summary,
    replays: &Replays,
    changed: &[String],
    style: Style,
) -> String {
    let total = summary.executions;
    let counts = format!(
        "{} of {total} replays in {:.2} s",
        replays.reproduced, summary.seconds
    );
    let is_path = witness.finding.class == PATH;
    let mut text = match summary.verdict {
        Verdict::Finding if is_path => {
            let found = summary.findings.first();
            let what = found.map(|f| visible(&format!("{}: {}", f.class, f.message)));
            let what = what.unwrap_or_default();
            format!("raddle: {}: {what} ({counts} do not)", style.red("failed"))
        }
        Verdict::Finding => {
            let again = style.red("failed again in the same way");
            format!(
                "raddle: {again}: {} ({counts})",
                visible(&witness.finding.class)
            )
        }
        Verdict::Diverged => format!("raddle: {}: {counts} are the same", style.red("diverged")),
        Verdict::NothingFound if total == 0 => "raddle: stopped".to_string(),
        Verdict::NothingFound if is_path => {
            let again = style.green("took the same path again");
            format!("raddle: {again}, without a failure ({counts})")
        }
        _ => format!(
            "raddle: {}: the schedule was followed to its end without a failure",
            style.green("no longer fails")
        ),
    };
    if !changed.is_empty() && summary.verdict != Verdict::Diverged {
        text.push_str(&format!("\n  note: {}", changed.join(", ")));
    }
    text
}

/// What the witness says about the start of the program.
/// Besides the names of the variables that are not taken.
fn setup(witness: &Witness, options: &ReplayOptions) -> Result<(Setup, Vec<String>)> {
    let command = &witness.command;
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let override_program = match &options.program {
        Some(path) => Some(std::path::absolute(path).map_err(|e| Error::file("find", path, &e))?),
        None => None,
    };
    let cwd = PathBuf::from(text(&command.cwd.0));
    if let Err(e) = std::env::set_current_dir(&cwd)
        && override_program.is_none()
    {
        return Err(Error::new(
            Exit::InputOutput,
            format!(
                "cannot enter {}, where the witness was made: {e}",
                cwd.display()
            ),
            "make that directory, or name the program with --program",
        ));
    }
    let name = text(&command.program.0);
    let program = override_program.unwrap_or_else(|| PathBuf::from(&name));
    let taken = trust::environment(witness, options.trust);
    let wall = match witness.recipe.timeout_ms {
        0 => Duration::from_secs(60),
        ms => Duration::from_millis(ms),
    };
    let args: Vec<OsString> = command.args.iter().map(|a| text(&a.0)).collect();
    let stdin = command.stdin.as_ref().map(|content| content.0.as_slice());
    let mut setup = Setup::of_parts(
        program,
        args,
        taken.variables,
        stdin,
        limits(wall, &witness.recipe.accepted_exits),
        job(witness),
    )?;
    // Where the arguments lie depends on its length, and programs look at it.
    setup.target.name = Some(name);
    Ok((setup, taken.left))
}

/// The execution of the witness as a job.
fn job(witness: &Witness) -> Job {
    job_of(&witness.recipe)
}

/// The execution that a recipe repeats.
pub fn job_of(recipe: &Recipe) -> Job {
    let mut job = Job::new(Tail::RunUntilBlocked);
    job.prefix = steps(&recipe.steps);
    job.inputs = recipe
        .inputs
        .iter()
        .map(|input| Input {
            thread: input.thread,
            index: input.index,
            bytes: input.bytes.0.clone(),
        })
        .collect();
    job.ranges = recipe.ranges.clone();
    job.flags = recipe.flags;
    job.max_steps = recipe.max_steps;
    job.clock_base = recipe.clock_base;
    job.entropy = recipe.entropy;
    job
}

/// Refuses a witness of another program; one that was built again is compared all the same.
fn check_program(path: &Path, witness: &Witness, setup: &Setup) -> Result<()> {
    let recorded = &witness.modules[0];
    if recorded.identity == setup.program.identity {
        return Ok(());
    }
    let (theirs, ours) = (
        recorded.path.to_text(),
        setup.program.path.to_string_lossy(),
    );
    match base_name(&theirs) == base_name(&ours) {
        true => Ok(()),
        false => Err(Error::new(
            Exit::BadWitness,
            format!(
                "{}: the witness is for another program: {theirs}, not {ours}",
                path.display()
            ),
            "name the right program with --program",
        )),
    }
}

struct Replayer<'a> {
    witness: &'a Witness,
    session: raddle_scheduler::Session,
    symbols: Symbols,
    job: Job,
    changed: Vec<String>,
    /// How an execution failed whose witness ended well.
    failure: Option<Failure>,
    /// What the first execution printed.
    output: Option<Printed>,
}

impl<'a> Replayer<'a> {
    fn start(witness: &'a Witness, setup: &Setup, interrupt: &Interrupt) -> Result<Replayer<'a>> {
        let session = setup.session(&interrupt.search)?;
        let symbols = Symbols::new(session.modules(), &setup.program.path);
        let changed = changed(&witness.modules, &symbols.modules());
        let mut job = setup.base.clone();
        job.flags |= witness_records(&job.prefix);
        Ok(Replayer {
            witness,
            session,
            symbols,
            job,
            changed,
            failure: None,
            output: None,
        })
    }

    fn changed(&self) -> &[String] {
        &self.changed
    }

    /// What the replays show for a finding.
    fn found(&self, executions: u64, replays: &Replays, file: PathBuf) -> Found {
        let mut found = Found::new(self.witness, Some(file));
        found.seen = replays.reproduced;
        if let Some(failure) = &self.failure {
            found.class = failure.class.to_string();
            found.message.clone_from(&failure.message);
            found.time_out = None;
            found.fingerprint.clone_from(&failure.fingerprint);
            found.seen = executions - replays.reproduced;
        }
        found
    }

    /// One replay: how it ended, and what is different. `None`: it was stopped.
    fn once(&mut self) -> Result<Option<(String, Option<Divergence>)>> {
        let trace = match self.session.run(&self.job) {
            Ok(trace) => trace,
            Err(RunError::Stopped) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        self.output.get_or_insert_with(|| Printed::of(&trace));
        let label = crate::class::label(&trace.outcome);
        Ok(Some((label, self.compare(&trace))))
    }

    /// What of the witness's class the execution shows, or how it failed otherwise.
    fn shown(&mut self, trace: &Trace) -> Vec<Failure> {
        match Class::from_name(&self.witness.finding.class) {
            Some(class @ (Class::Race | Class::Leak)) => {
                marks::failures(class, trace, &mut self.symbols)
            }
            _ => {
                let class = class_of(trace, self.witness.recipe.expected_output);
                let failure = class.map(|c| describe::failure(c, trace, &mut self.symbols));
                failure.into_iter().collect()
            }
        }
    }

    fn compare(&mut self, trace: &Trace) -> Option<Divergence> {
        let finding = &self.witness.finding;
        let story = describe::story(trace, &mut self.symbols);
        let shown = self.shown(trace);
        let replayed = Replayed {
            records: &story.records,
            sites: self.symbols.sites(),
            outcome: &trace.outcome,
            unchanged: self.changed.is_empty(),
        };
        let names = Names::new(&story.records);
        let sites = self.symbols.sites();
        let words = |record: &_| in_words(record, sites, &names);
        let endless = |f: &Failure| f.class == Class::Timeout && f.class.name() == finding.class;
        let of = self.witness.events.len();
        let diverged = |event, difference| Divergence {
            event,
            of,
            difference,
            result: first_result(self.witness, &replayed, event),
            changed: self.changed.clone(),
        };
        if finding.class == PATH
            && let Some(failure) = shown.first()
        {
            let got = format!("{}: {}", failure.class, failure.message);
            self.failure.get_or_insert(failure.clone());
            return Some(diverged(of + 1, Difference::Fails { got }));
        }
        // How far an execution gets within a time limit is not the program's doing.
        if !shown.iter().any(endless)
            && let Some((event, difference)) = first(self.witness, &replayed, words)
        {
            return Some(diverged(event, difference));
        }
        let same = |f: &Failure| match self.changed.is_empty() {
            true => f.fingerprint == finding.fingerprint,
            false => f.class.name() == finding.class,
        };
        let again = finding.class == PATH && crate::class::label(&trace.outcome) == finding.message;
        if again || shown.iter().any(same) {
            return None;
        }
        let expected = format!("{}: {}", finding.class, finding.message);
        let difference = match (shown.first(), trace.outcome.end) {
            (Some(other), _) => Difference::Failure {
                expected,
                got: format!("{}: {}", other.class, other.message),
            },
            (None, End::Divergence) => Difference::Step {
                expected,
                refused: "the schedule could not be followed".to_string(),
            },
            (None, _) => Difference::NoFailure { expected },
        };
        Some(diverged(of + 1, difference))
    }
}

/// Runs the other execution that a witness holds, and says how it ended.
fn replay_other(
    path: &Path,
    witness: &Witness,
    setup: &Setup,
    options: &ReplayOptions,
    files: &Files,
    interrupt: &Interrupt,
) -> Result<Exit> {
    let other = witness.finding.other.as_ref();
    let Some(other) = other.filter(|other| !other.steps.is_empty()) else {
        return Err(Error::usage(
            format!("{}: there is no other execution in it", path.display()),
            "leave --other out",
        ));
    };
    let mut session = setup.session(&interrupt.search)?;
    let mut job = setup.base.clone();
    job.prefix = steps(&other.steps);
    let started = Instant::now();
    let mut summary = Summary::new("replay".to_string(), witness.finding.seed);
    for _ in 0..options.times {
        let trace = match session.run(&job) {
            Ok(trace) => trace,
            Err(RunError::Stopped) => break,
            Err(error) => return Err(error.into()),
        };
        summary.executions += 1;
        let label = crate::class::label(&trace.outcome);
        *summary.outcomes.entry(label).or_default() += 1;
        if trace.outcome.end == End::Divergence {
            summary.verdict = Verdict::Diverged;
        }
        if summary.executions == 1 {
            pass_on(&Printed::of(&trace));
        }
    }
    summary.took(started.elapsed(), started.elapsed());
    summary.interrupted = interrupt.requested();
    let ends: Vec<&str> = summary.outcomes.keys().map(String::as_str).collect();
    let what = visible(&other.what);
    tell(&format!("raddle: {what}: {}\n", ends.join(", ")));
    files.write(&summary, None)?;
    Ok(summary.exit())
}

fn steps(pairs: &[(u16, u16)]) -> Vec<Step> {
    let step = |&(what, count): &(u16, u16)| Step { what, count };
    pairs.iter().map(step).collect()
}

/// Which modules of the witness are not what they were.
fn changed(then: &[Module], now: &[Module]) -> Vec<String> {
    let name = |module: &Module| visible(base_name(&module.path.to_text()));
    let mut changes = Vec::new();
    for (i, old) in then.iter().enumerate() {
        // The runtime itself may be another build: it does as the schedule says.
        if name(old) == "libraddle.so" {
            continue;
        }
        let new = match i {
            0 => now.first(),
            _ => now.iter().find(|new| name(new) == name(old)),
        };
        match new {
            // The program loads it by itself, later.
            None if is_there(old) => {}
            None => changes.push(format!("{} is not loaded any more", name(old))),
            Some(new) if new.identity != old.identity => changes.push(format!(
                "{} has changed since the witness was written ({} then, {} now)",
                name(old),
                visible(&short(&old.identity)),
                visible(&short(&new.identity))
            )),
            Some(_) => {}
        }
    }
    changes
}

/// Is the file of this module as it was?
fn is_there(module: &Module) -> bool {
    let path = PathBuf::from(OsStr::from_bytes(&module.path.0));
    file_identity(&path).is_ok_and(|now| now == module.identity)
}

fn short(identity: &str) -> String {
    let most = identity.find(':').map_or(0, |colon| colon + 1) + 8;
    identity.chars().take(most).collect()
}

/// Stops at the failure in gdb.
fn debug(witness: &Witness, setup: &Setup, options: &ReplayOptions) -> Result<Exit> {
    let mut job = setup.base.clone();
    // One kernel thread per thread, so that the debugger sees all of them.
    job.flags |= flags::KERNEL_THREADS | flags::TRAP;
    // Ctrl-C is for the debugger.
    let never =
        StopFlag::new().map_err(|e| Error::operation(format!("cannot make a flag: {e}"), &e))?;
    let mut direct = direct(&setup.target, &job, &setup.limits, &never)?;
    let mut commands = vec!["set breakpoint pending on", "set print thread-events off"];
    if witness.finding.class == Class::Exit.name() {
        commands.push("catch syscall exit_group");
    }
    let content = witness.command.stdin.as_ref();
    let input = content
        .map(|content| InputFile::new(&content.0))
        .transpose()?;
    let run = match &input {
        Some(file) => {
            // Only a shell redirects.
            commands.push("set startup-with-shell on");
            format!("run < {}", file.0.path().display())
        }
        None => "run".to_string(),
    };
    commands.push(&run);
    let gdb = std::env::var_os("RADDLE_GDB").unwrap_or_else(|| "gdb".into());
    let mut command = direct.debugger(&gdb, &commands, &options.gdb_args);
    let child = command.spawn().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::new(
            Exit::MissingTool,
            format!("{} is not installed", gdb.to_string_lossy()),
            "install gdb (Debian: apt-get install gdb), or replay without --gdb",
        ),
        _ => Error::new(Exit::MissingTool, format!("gdb cannot be started: {e}"), ""),
    })?;
    // Whoever debugs may also have led the program to another end, or to none.
    let trace = direct.follow(child)?;
    let failed = trace.is_some_and(|trace| class_of(&trace, None).is_some());
    Ok(match failed {
        true => Exit::Finding,
        false => Exit::Clean,
    })
}

/// Standard input of the program in a file of its own.
struct InputFile(tempfile::NamedTempFile);

impl InputFile {
    fn new(content: &[u8]) -> Result<InputFile> {
        let failed = |e: std::io::Error| Error::file("write", Path::new("a temporary file"), &e);
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        std::io::Write::write_all(&mut file, content).map_err(failed)?;
        Ok(InputFile(file))
    }
}
