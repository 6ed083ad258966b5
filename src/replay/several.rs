//! `raddle replay` of several witnesses: each in a process of its own, since each enters the
//! working directory of its program.

use crate::child::attend;
use crate::cli::ReplayOptions;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::formats::Merge;
use crate::setup::own_command;
use crate::terminal::{tell, visible};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// Replays all of them, with a verdict on each. The result is a finding where one failed, else
/// the first that is not [`Exit::Clean`].
///
/// # Errors
/// Options that are for one witness; raddle itself cannot be started.
pub fn replay_several(options: &ReplayOptions) -> Result<Exit> {
    let single = [
        (options.gdb, "--gdb"),
        (options.other, "--other"),
        (options.output.json.is_some(), "--json"),
    ];
    if let Some((_, option)) = single.iter().find(|(given, _)| *given) {
        return Err(Error::usage(
            format!("{option} is for one witness, and there are several"),
            "name one",
        ));
    }
    let mut files = Merge::new(&options.output, OsStr::new("raddle replay"))?;
    let mut exits = Vec::new();
    for witness in &options.witnesses {
        tell(&format!("{}\n", visible(&witness.to_string_lossy())));
        let (exit, asked) = one(options, &files.options(), witness)?;
        files.take(&witness.to_string_lossy(), exit)?;
        exits.push(exit);
        if asked || matches!(exit, Exit::Interrupted | Exit::Usage) {
            break;
        }
    }
    tell(&format!("raddle: {}\n", told(&exits)));
    Ok(worst(&exits))
}

/// Replays one witness, with its verdict alone as output. Whether raddle was asked to end.
fn one(options: &ReplayOptions, files: &[OsString], witness: &Path) -> Result<(Exit, bool)> {
    let mut command = Command::new(own_command()?);
    command.args(["replay", "--quiet", "-n", &options.times.to_string()]);
    if options.trust {
        command.arg("--trust");
    }
    if let Some(program) = &options.program {
        command.arg("--program").arg(program);
    }
    // Its name may look like an option.
    let witness = std::path::absolute(witness).map_err(|e| Error::file("find", witness, &e))?;
    let (status, asked) = attend(command.args(files).arg(witness))?;
    Ok((Exit::of_code(status.code()), asked))
}

fn told(exits: &[Exit]) -> String {
    let kinds: [(&str, &[Exit]); 3] = [
        ("without a failure", &[Exit::Clean]),
        ("failed", &[Exit::Finding]),
        ("went another way", &[Exit::Diverged]),
    ];
    let number = |of: &[Exit]| exits.iter().filter(|exit| of.contains(exit)).count();
    let mut parts = vec![format!("{} witnesses", exits.len())];
    let mut left = exits.len();
    for (what, of) in kinds {
        let n = number(of);
        left -= n;
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    }
    if left > 0 {
        parts.push(format!("{left} could not be replayed"));
    }
    parts.join(", ")
}

fn worst(exits: &[Exit]) -> Exit {
    let bad = |exit: &&Exit| **exit != Exit::Clean;
    match exits.contains(&Exit::Finding) {
        true => Exit::Finding,
        false => exits.iter().find(bad).copied().unwrap_or(Exit::Clean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_outweighs_all_and_the_first_trouble_the_rest() {
        use Exit::*;
        let table: [(&[Exit], Exit); 5] = [
            (&[Clean, Clean], Clean),
            (&[Clean, Diverged, BadWitness], Diverged),
            (&[BadWitness, Clean, Diverged], BadWitness),
            (&[Diverged, Finding, Unsupported], Finding),
            (&[], Clean),
        ];
        for (exits, expected) in table {
            assert_eq!(worst(exits), expected, "{exits:?}");
        }
        assert_eq!(
            told(&[Clean, Finding, Clean, Diverged, ToolFault]),
            "5 witnesses, 2 without a failure, 1 failed, 1 went another way, 1 could not be replayed"
        );
    }
}
