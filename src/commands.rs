//! The subcommands: from options to an exit code.

use crate::cc::{self, Language, Libraries};
use crate::cli::{
    Cli, Command, FindingOptions, OutputOptions, RunOptions, ShowOptions, VerifyOptions,
};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::explore::{Campaign, explore};
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::replay::replay;
use crate::report::{Style, report};
use crate::setup::{self, Setup};
use crate::store::{Place, read_witness};
use crate::summary::Summary;
use crate::terminal::{complain, print};
use crate::triage::{Triage, Wishes};
use crate::verify;
use std::ffi::OsString;

/// Does what the command line says.
pub fn run(cli: Cli) -> Result<Exit> {
    match cli.command {
        Command::Run(options) => recorded(&options.output, || run_command(&options)),
        Command::Show(options) => show(&options),
        Command::Replay(options) => recorded(&options.output, || replay(&options)),
        Command::Verify(options) => recorded(&options.output, || verify_command(&options)),
        Command::Cc(options) => Err(compile(Language::C, &options.args)),
        Command::Cxx(options) => Err(compile(Language::Cxx, &options.args)),
    }
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

/// Runs `command`. Where an error kept it from its end, the summary file says so.
fn recorded(output: &OutputOptions, command: impl FnOnce() -> Result<Exit>) -> Result<Exit> {
    let path = output
        .json
        .as_deref()
        .and_then(|p| std::path::absolute(p).ok());
    let result = command();
    if let (Err(error), Some(path)) = (&result, path)
        && let Some(summary) = Summary::of_error(error)
    {
        summary.write(&path)?;
    }
    result
}

/// Step limit of `run`, where the options name none.
const MAX_STEPS: u64 = 10_000_000;

fn run_command(options: &RunOptions) -> Result<Exit> {
    let (policy, executions) = options.plan()?;
    let interrupt = Interrupt::install()?;
    let setup = Setup::new(&options.target, MAX_STEPS, &interrupt)?;
    let expected_output = match &options.expect_output {
        Some(path) => Some(setup::expected_output(path)?),
        None => None,
    };
    let campaign = Campaign {
        policy,
        seed: options.seed,
        executions,
        time: options.time,
        workers: options.jobs,
        keep_going: options.findings.keep_going,
        same_output: options.same_output,
        expected_output,
    };
    let style = Style::of_stdout();
    let wishes = wishes(
        &options.findings,
        &options.output,
        policy.to_string(),
        options.seed,
    );
    let triage = Triage::new(&setup, wishes, &interrupt);
    let progress = Progress::new(executions, options.output.quiet);
    let result = explore(&setup, &campaign, triage, &interrupt, &progress);
    progress.done();
    let (mut summary, trouble) = result?;
    if !summary.findings.is_empty() && !setup.program.debug_info {
        summary.notes.push(NO_LINES.to_string());
    }
    finish(&summary, trouble, &options.output, style)
}

const NO_LINES: &str =
    "the program has no line information; build it with -g to see lines of source";

fn verify_command(options: &VerifyOptions) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let setup = Setup::new(&options.target, verify::MAX_STEPS, &interrupt)?;
    let style = Style::of_stdout();
    let wishes = wishes(&options.findings, &options.output, "verify".to_string(), 0);
    let triage = Triage::new(&setup, wishes, &interrupt);
    let progress = Progress::new(None, options.output.quiet);
    let result = verify::verify(&setup, options, triage, &interrupt, &progress);
    progress.done();
    let (summary, trouble) = result?;
    finish(&summary, trouble, &options.output, style)
}

/// What the options say about findings.
fn wishes(findings: &FindingOptions, output: &OutputOptions, policy: String, seed: u64) -> Wishes {
    let place = match &findings.witness {
        Some(file) => Place::File(file.clone()),
        None => Place::Folder(findings.witness_dir.clone()),
    };
    Wishes {
        place,
        shrink: !findings.no_shrink,
        print: !output.quiet,
        style: Style::of_stdout(),
        policy,
        seed,
    }
}

/// Prints and writes the summary. Trouble with a file outweighs the verdict: what was asked for is
/// not there.
fn finish(
    summary: &Summary,
    trouble: Option<Error>,
    output: &OutputOptions,
    style: Style,
) -> Result<Exit> {
    print(&summary.text(style, !output.quiet));
    if let Some(path) = &output.json {
        summary.write(path)?;
    }
    Ok(match trouble {
        Some(error) => complain(&error),
        None => summary.exit(),
    })
}

fn show(options: &ShowOptions) -> Result<Exit> {
    let witness = read_witness(&options.witness)?;
    let style = Style {
        full: options.full,
        ..Style::of_stdout()
    };
    print(&report(&witness, Some(&options.witness), style));
    Ok(Exit::Clean)
}
