//! A witness for people: whatever wrote it, its texts are only seen.

use super::shell_word;
use crate::terminal::{visible, visible_lines};
use raddle_protocol::witness::{Bytes, Witness};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

/// The same witness with every text that is shown made visible. `paths`: those of source files, too;
/// whoever makes addresses of them takes them as they are.
pub fn clean(witness: &Witness, paths: bool) -> Witness {
    let mut witness = witness.clone();
    let text = |text: &mut String| *text = visible(text);
    let maybe = |text: &mut Option<String>| *text = text.as_deref().map(visible);
    let name = |bytes: &mut Bytes| *bytes = Bytes(visible(&bytes.to_text()).into_bytes());
    let output = |bytes: &mut Bytes| *bytes = Bytes(visible_lines(&bytes.to_text()).into_bytes());
    name(&mut witness.command.program);
    witness.modules.iter_mut().for_each(|m| name(&mut m.path));
    for input in &mut witness.recipe.inputs {
        maybe(&mut input.name);
    }
    let finding = &mut witness.finding;
    for one in [
        &mut finding.class,
        &mut finding.message,
        &mut finding.fingerprint,
        &mut finding.policy,
    ] {
        text(one);
    }
    finding.uncontrolled.iter_mut().for_each(text);
    let notes = finding.notes.iter_mut().chain(&mut finding.time_out);
    notes.for_each(|note| text(&mut note.text));
    finding.accesses.iter_mut().for_each(|a| text(&mut a.what));
    if let Some(other) = &mut finding.other {
        text(&mut other.what);
    }
    output(&mut finding.stdout);
    output(&mut finding.stderr);
    for site in &mut witness.sites {
        maybe(&mut site.source);
        for frame in &mut site.frames {
            maybe(&mut frame.function);
            if paths {
                maybe(&mut frame.file);
            }
        }
    }
    witness.objects.iter_mut().for_each(|o| text(&mut o.name));
    witness
}

/// How the program of a witness is started, as far as the witness says it.
pub fn origin(witness: &Witness) -> String {
    let command = &witness.command;
    let word = |bytes: &Bytes| shell_word(OsStr::from_bytes(&bytes.0));
    let mut words = vec![word(&command.program)];
    words.extend(command.args.iter().map(word));
    let mut text = format!(
        "its program\n  directory    {}\n  command      {}\n",
        word(&command.cwd),
        words.join(" ")
    );
    for variable in &command.env {
        let _ = writeln!(text, "  environment  {}", visible(&variable.to_text()));
    }
    if let Some(input) = &command.stdin {
        let _ = writeln!(text, "  input        {} bytes", input.0.len());
    }
    text
}
