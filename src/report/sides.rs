//! What a report says of races and of threads that were left behind.

use super::text::{Names, Style};
use super::{frames, heading};
use raddle_protocol::witness::Witness;

/// The two accesses of a race, each with its stack.
pub fn accesses(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for access in &witness.finding.accesses {
        let object = witness.objects.get(access.object as usize);
        let object = object.map_or(String::new(), |o| format!(" at {}", o.name));
        let title = format!("{}{object} by {}", access.what, names.of(access.thread));
        lines.extend(heading(&title, style));
        lines.extend(frames(&access.stack, witness, style));
    }
    lines
}

/// Where the threads came from that a finding is about.
pub fn threads(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for creation in &witness.finding.threads {
        let title = format!(
            "{} was created by {}",
            names.of(creation.thread),
            names.of(creation.creator)
        );
        lines.extend(heading(&title, style));
        lines.extend(frames(&creation.stack, witness, style));
    }
    lines
}
