//! The subcommands: from options to an exit code.

use crate::cc::{self, Language, Libraries};
use crate::cli::{
    Cli, Command, CorpusOptions, CoverageOptions, FindingOptions, OutputOptions, RunOptions,
    ShowOptions, VerifyOptions,
};
use crate::corpus::{self, Keeper, Names};
use crate::coverage;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::explore::{Campaign, explore};
use crate::formats::Files;
use crate::frameworks;
use crate::interrupt::Interrupt;
use crate::outputs::Outputs;
use crate::outside;
use crate::progress::Progress;
use crate::replay::{replay, replay_several};
use crate::report::{Style, origin, report};
use crate::rust::{self, suite};
use crate::setup::{self, Setup};
use crate::store::{Place, read_witness, write};
use crate::summary::{Summary, Verdict};
use crate::suppress::Suppressions;
use crate::terminal::{complain, pass_on, print, tell};
use crate::triage::{Effort, Triage, Wishes};
use crate::verify;
use crate::watch::Watch;
use raddle_protocol::shared::flags;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// Does what the command line says.
pub fn run(cli: Cli) -> Result<Exit> {
    let (target, output) = match &cli.command {
        Command::Run(o) | Command::Test(o) => (Some(&o.target), Some(&o.output)),
        Command::Verify(options) => (Some(&options.target), Some(&options.output)),
        _ => (None, None),
    };
    if let (Some(target), Some(output)) = (target, output)
        && let Some(error) = frameworks::answer_list(&target.command, output.quiet)
    {
        return Err(error);
    }
    match cli.command {
        Command::Run(options) => {
            let places = places(&options.output, &options.findings, &options.target.command);
            places.check()?;
            let files = Files::new(&options.output, &options.target.command)?;
            recorded(&files, || run_command(&options, &files))
        }
        Command::Show(options) => show(&options),
        Command::Coverage(options) => coverage_command(&options),
        Command::Replay(options) => match &options.witnesses[..] {
            [witness] => {
                let places = written(&options.output);
                places
                    .read("the witness", Some(witness.as_os_str()))
                    .check()?;
                let files = Files::of_replay(&options.output, witness)?;
                recorded(&files, || replay(witness, &options, &files))
            }
            _ => {
                written(&options.output).check()?;
                replay_several(&options)
            }
        },
        Command::Verify(options) => {
            let places = places(&options.output, &options.findings, &options.target.command);
            places.folder("--keep", &options.keep).check()?;
            let files = Files::new(&options.output, &options.target.command)?;
            recorded(&files, || verify_command(&options, &files))
        }
        Command::Cc(options) => Err(compile(Language::C, &options.args)),
        Command::Cxx(options) => Err(compile(Language::Cxx, &options.args)),
        Command::Cargo(_) => unreachable!("`cargo::requested` comes first"),
        Command::Test(options) => {
            places(&options.output, &options.findings, &options.target.command).check()?;
            let command_line: Vec<OsString> = std::env::args_os().collect();
            crate::child::end_with_cargo();
            suite::run(&command_line, &options)
        }
    }
}

/// Where a command writes its results.
fn written(output: &OutputOptions) -> Outputs<'_> {
    Outputs::default()
        .file("--json", &output.json)
        .file("--junit", &output.junit)
        .file("--sarif", &output.sarif)
}

/// Where a command that runs a program writes.
fn places<'a>(
    output: &'a OutputOptions,
    findings: &'a FindingOptions,
    command: &'a [OsString],
) -> Outputs<'a> {
    written(output)
        .file("-o", &findings.witness)
        .folder("--witness-dir", &findings.witness_dir)
        .read("the program", command.first().map(OsString::as_os_str))
}

/// Runs cargo; its exit status.
pub fn cargo(args: &[OsString]) -> Result<u8> {
    rust::cargo::run(args, &setup::own_command()?, &setup::runtime_library()?)
}

/// Becomes the compiler; returns only if that is not possible.
pub fn compile(language: Language, args: &[OsString]) -> Error {
    let libraries = || {
        Ok(Libraries {
            plugin: setup::plugin_library()?,
            runtime: setup::runtime_library()?,
        })
    };
    match libraries() {
        Ok(libraries) => cc::run(language, args, &libraries),
        Err(error) => error,
    }
}

/// Runs `command`. Where an error kept it from its end, the files say so.
fn recorded(files: &Files, command: impl FnOnce() -> Result<Exit>) -> Result<Exit> {
    let result = command();
    if let Err(error) = &result {
        files.write_error(error);
    }
    result
}

/// Step limit of `run`, where the options name none.
const MAX_STEPS: u64 = 10_000_000;

fn run_command(options: &RunOptions, files: &Files) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    interrupt.within(options.time, || {
        let result = run_in_time(options, files, &interrupt);
        in_time(result, files, &interrupt, options.output.quiet)
    })
}

/// A command that was to stop before it had a verdict of its own says that it has none.
fn in_time(
    result: Result<Exit>,
    files: &Files,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Exit> {
    match result {
        Err(error) if error.exit == Exit::Interrupted && interrupt.late() => {
            let mut summary = Summary::new(String::new(), 0);
            summary.verdict = Verdict::NothingFoundWithinBounds;
            let note = format!("bound: the time was up (`--time`) before a search began: {error}");
            summary.notes.push(note);
            finish(&summary, None, files, quiet)
        }
        result => result,
    }
}

fn run_in_time(options: &RunOptions, files: &Files, interrupt: &Interrupt) -> Result<Exit> {
    let (policy, executions) = options.plan()?;
    let mut setup = Setup::new(&options.target, MAX_STEPS, options.seed, interrupt)?;
    if options.watch.spurious {
        setup.base.flags |= flags::SPURIOUS;
    }
    let reference = match &options.expect_output {
        Some(path) => Some(Arc::new(setup::expected_output(path)?)),
        None => None,
    };
    let watch = Watch {
        races: options.watch.races.races,
        leaks: options.watch.leaked_threads,
        lock_order: !options.watch.no_lock_order,
        early_timeouts: options.early_timeouts(policy),
    };
    let mut campaign = Campaign {
        policy,
        seed: setup.seed.number,
        executions,
        workers: executions.map_or(options.jobs, |most| {
            options.jobs.min(u16::try_from(most).unwrap_or(u16::MAX))
        }),
        keep_going: options.findings.keep_going,
        same_output: options.same_output,
        reference,
        watch,
        strict: options.strict,
        keeper: None,
    };
    let mut wishes = Wishes {
        watch,
        suppressions: options.watch.races.read_suppressions()?,
        ..wishes(
            &options.findings,
            &options.output,
            policy.to_string(),
            setup.seed.number,
        )
    };
    if let Some(keeper) = keeper(&options.corpus, &setup, &campaign, interrupt)? {
        if let Some(summary) = keeper.remembered(policy.to_string(), setup.seed.number)? {
            return finish(&summary, None, files, options.output.quiet);
        }
        let keeper = Arc::new(keeper);
        wishes.keeper = Some(keeper.clone());
        campaign.keeper = Some(keeper);
    }
    let triage = Triage::new(&setup, wishes, interrupt);
    let progress = Progress::new(executions, options.output.quiet);
    let result = explore(&setup, &campaign, triage, interrupt, &progress);
    progress.done();
    let (mut summary, trouble) = result?;
    if !summary.findings.is_empty() && !setup.program.debug_info {
        summary.notes.push(NO_LINES.to_string());
    }
    let limits = setup.program.sanitizers.notes();
    summary.notes.extend(limits.into_iter().map(String::from));
    finish(&summary, trouble, files, options.output.quiet)
}

/// The corpus that the options name, opened for this campaign.
fn keeper(
    options: &CorpusOptions,
    setup: &Setup,
    campaign: &Campaign,
    interrupt: &Interrupt,
) -> Result<Option<Keeper>> {
    let Some(dir) = &options.corpus else {
        return Ok(None);
    };
    let modules = setup.session(&interrupt.search)?.modules().to_vec();
    let key = corpus::key(setup, campaign, &modules)?;
    let names = Names::new(&modules, &setup.program.path);
    Keeper::open(dir, &key, options, campaign.executions, names).map(Some)
}

fn coverage_command(options: &CoverageOptions) -> Result<Exit> {
    let view = coverage::read(&options.corpus)?;
    let json = || {
        let text = serde_json::to_string_pretty(&view).expect("plain data has a JSON form");
        format!("{text}\n")
    };
    match &options.json {
        Some(Some(file)) => write(file, json().as_bytes())?,
        Some(None) => print(&json()),
        None => print(&coverage::text(&view, Style::of_stdout())),
    }
    Ok(Exit::Clean)
}

const NO_LINES: &str =
    "the program has no line information; build it with -g to see lines of source";

fn verify_command(options: &VerifyOptions, files: &Files) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    interrupt.within(options.time, || {
        let result = verify_in_time(options, files, &interrupt);
        in_time(result, files, &interrupt, options.output.quiet)
    })
}

fn verify_in_time(options: &VerifyOptions, files: &Files, interrupt: &Interrupt) -> Result<Exit> {
    let mut setup = Setup::new(&options.target, verify::MAX_STEPS, options.seed, interrupt)?;
    outside::apply(&options.outside, &mut setup)?;
    if options.spurious {
        setup.base.flags |= flags::SPURIOUS;
    }
    let seed = setup.seed.number;
    let mut wishes = wishes(
        &options.findings,
        &options.output,
        "verify".to_string(),
        seed,
    );
    wishes.watch.races = options.races.races;
    wishes.suppressions = options.races.read_suppressions()?;
    if let Some(dir) = &options.keep {
        // What is kept is to pass, or to be mended.
        wishes.reports = Some(wishes.place);
        wishes.place = Place::Folder(dir.clone());
    }
    let triage = Triage::new(&setup, wishes, interrupt);
    let progress = Progress::new(None, options.output.quiet);
    let result = verify::verify(&setup, options, triage, interrupt, &progress);
    progress.done();
    let (summary, trouble) = result?;
    finish(&summary, trouble, files, options.output.quiet)
}

/// What the options say about findings.
fn wishes(findings: &FindingOptions, output: &OutputOptions, policy: String, seed: u64) -> Wishes {
    let place = match &findings.witness {
        Some(file) => Place::File(file.clone()),
        None => {
            let folder = findings.witness_dir.as_deref();
            Place::Folder(folder.unwrap_or(Path::new(".")).to_owned())
        }
    };
    Wishes {
        place,
        reports: None,
        shrink: Effort {
            executions: match findings.no_shrink {
                true => 0,
                false => findings.shrink_executions,
            },
            time: findings.shrink_time,
        },
        print: !output.quiet,
        style: Style::of_stderr(),
        policy,
        seed,
        keeper: None,
        watch: Watch::OFF,
        suppressions: Suppressions::default(),
    }
}

/// Says and writes the summary, and passes on what the program printed. Trouble with a file outweighs
/// the verdict, which is told all the same: what was asked for is not there.
fn finish(summary: &Summary, trouble: Option<Error>, files: &Files, quiet: bool) -> Result<Exit> {
    summary.output.iter().for_each(pass_on);
    // Of a run that an error kept from its first execution there is nothing to claim.
    if summary.executions > 0 || trouble.is_none() {
        tell(&summary.text(Style::of_stderr(), !quiet));
    }
    let written = files.write(summary, trouble.as_ref());
    let exit = match trouble {
        Some(error) => complain(&error),
        None => summary.exit(),
    };
    written.map(|()| exit)
}

fn show(options: &ShowOptions) -> Result<Exit> {
    let witness = read_witness(&options.witness)?;
    let style = Style {
        full: options.full,
        ..Style::of_stdout()
    };
    print(&report(&witness, Some(&options.witness), style));
    print(&format!("\n{}", origin(&witness)));
    Ok(Exit::Clean)
}
