//! What makes two runs runs of the same test.

use crate::error::{Error, Result};
use crate::explore::Campaign;
use crate::policy::{Executions, Policy};
use crate::report::shell_word;
use crate::setup::Setup;
use crate::symbols::{file_identity, is_of_system};
use raddle_scheduler::Module;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Names a test and a search in a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The program's file.
    pub program: String,
    /// Of the program, the libraries that belong to it, and raddle itself: with another raddle the
    /// same numbers may mean other schedules.
    pub build: String,
    /// Of all else that an execution depends on.
    pub circumstances: String,
    /// For people.
    pub command: String,
    pub policy: String,
    pub seed: u64,
    /// The search ends by itself: it has a frontier, and no numbers that others could share.
    pub exhaustive: bool,
}

/// The key of a campaign on a target with these modules.
pub fn key(setup: &Setup, campaign: &Campaign, modules: &[Module]) -> Result<Key> {
    let program = std::fs::canonicalize(&setup.program.path)
        .map_err(|e| Error::file("find", &setup.program.path, &e))?;
    let exhaustive = campaign.policy.executions() == Some(Executions::All);
    let parts = std::iter::once(setup.target.program.as_os_str())
        .chain(setup.target.args.iter().map(|arg| arg.as_os_str()));
    let words: Vec<String> = parts.map(shell_word).collect();
    Ok(Key {
        build: build(&program, &setup.target.runtime, modules)?,
        program: program.to_string_lossy().into_owned(),
        circumstances: circumstances(setup, campaign)?,
        command: words.join(" "),
        policy: policy(campaign.policy),
        // Of an exhaustive search its circumstances say it.
        seed: if exhaustive { 0 } else { campaign.seed },
        exhaustive,
    })
}

/// The search, with the options that its name does not have.
fn policy(policy: Policy) -> String {
    match policy {
        Policy::Guided(settings) if (settings.context, settings.learn) != (0, 0) => format!(
            "{policy} --context {} --learn {}",
            settings.context, settings.learn
        ),
        _ => policy.to_string(),
    }
}

/// Identifies the content of the program, of its own libraries and of raddle.
fn build(program: &Path, runtime: &Path, modules: &[Module]) -> Result<String> {
    let raddle = std::env::current_exe()
        .map_err(|e| Error::file("find", Path::new("the raddle command"), &e))?;
    let mut files = vec![program, &raddle, runtime];
    files.extend(
        modules
            .iter()
            .filter(|m| is_own(m))
            .map(|m| m.path.as_path()),
    );
    files.sort();
    files.dedup();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file_identity(file)?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Is this code the user's, not the system's?
fn is_own(module: &Module) -> bool {
    module.instrumented || !is_of_system(&module.path)
}

/// Names a search of `verify` with these bounds on a target with these modules.
pub fn verification(setup: &Setup, modules: &[Module], bounds: impl Hash) -> Result<u64> {
    let program = std::fs::canonicalize(&setup.program.path)
        .map_err(|e| Error::file("find", &setup.program.path, &e))?;
    let mut hasher = execution(setup)?;
    program.hash(&mut hasher);
    build(&program, &setup.target.runtime, modules)?.hash(&mut hasher);
    // What of its input is symbolic is said in its environment.
    setup.target.env.hash(&mut hasher);
    (bounds, setup.base.entropy).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Arguments, standard input, and options that change what an execution does or how it is judged.
fn circumstances(setup: &Setup, campaign: &Campaign) -> Result<String> {
    let mut hasher = execution(setup)?;
    (campaign.same_output, campaign.expected_output()).hash(&mut hasher);
    if campaign.policy.executions() == Some(Executions::All) {
        (setup.seed.number, setup.seed.chosen).hash(&mut hasher);
    }
    format!("{:?}", campaign.watch).hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// What an execution depends on beside the program.
fn execution(setup: &Setup) -> Result<DefaultHasher> {
    let base = &setup.base;
    let mut hasher = DefaultHasher::new();
    let bytes = |text: &OsStr| text.as_bytes().to_vec();
    let args: Vec<Vec<u8>> = setup.target.args.iter().map(|a| bytes(a)).collect();
    args.hash(&mut hasher);
    setup.stdin_content()?.hash(&mut hasher);
    (base.flags, base.max_steps, base.clock_base).hash(&mut hasher);
    (setup.limits.wall, setup.limits.accepted).hash(&mut hasher);
    Ok(hasher)
}
