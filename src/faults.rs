//! Injected faults (`--faults`) in a finding: it must say that it needed them.

use raddle_protocol::event::Kind;
use raddle_protocol::schedule::FACT;
use raddle_protocol::witness::{Note, Record};

/// One note for each fault that the execution had: the choice of another alternative than the
/// usual one, right behind an operation that can come short or be interrupted.
pub fn notes(records: &[Record]) -> Vec<Note> {
    let choice = Kind::Choice as u8;
    let pairs = records.windows(2);
    let injected = 1..u64::from(FACT);
    let faults = pairs.filter(|pair| pair[1].kind == choice && injected.contains(&pair[1].value));
    let note = |pair: &[Record]| {
        let kind = Kind::from_u8(pair[0].kind).filter(|kind| can_fail(*kind))?;
        let how = match (pair[1].value, pair[0].value as i64) {
            (1, 0..) | (1, -4) => "interrupted",
            (1, _) => "finds nothing to do",
            _ => "comes short",
        };
        Some(Note {
            text: format!("it needs an injected fault: {} {how}", kind.text()),
            site: Some(pair[0].site),
        })
    };
    faults.filter_map(note).collect()
}

/// Operations in which the runtime injects faults.
fn can_fail(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        DescriptorRead
            | DescriptorWrite
            | Accept
            | Connect
            | Poll
            | EpollWait
            | QueueSend
            | QueueReceive
            | SemaphoreSet
            | SemWait
            | SemTimedWait
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_from_other_choices() {
        let record = |kind: Kind, value: i64| Record {
            kind: kind as u8,
            thread: 1,
            site: 7,
            object: 0,
            value: value as u64,
            preempts: false,
        };
        let eintr = -i64::from(libc::EINTR);
        let table = [
            (Kind::DescriptorRead, 4, 2, Some("read comes short")),
            (Kind::DescriptorRead, eintr, 1, Some("read interrupted")),
            (Kind::SemWait, 4, 1, Some("sem_wait interrupted")),
            (Kind::SemWait, 4, i64::from(FACT), None),
            (
                Kind::DescriptorWrite,
                -11,
                1,
                Some("write finds nothing to do"),
            ),
            (Kind::DescriptorWrite, 8, 0, None),
            (Kind::CondSignal, 3, 1, None),
            (Kind::Close, 0, 1, None),
        ];
        for (kind, value, picked, expected) in table {
            let notes = notes(&[record(kind, value), record(Kind::Choice, picked)]);
            match expected {
                Some(text) => assert!(notes[0].text.ends_with(text), "{}", notes[0].text),
                None => assert!(notes.is_empty(), "{kind:?}"),
            }
        }
    }
}
