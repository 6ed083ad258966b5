//! Where and why a replay is not the execution that its witness recorded.

use crate::report::{Names, base_name, event_words, place};
use raddle_protocol::event::Kind;
use raddle_protocol::outcome::{Divergence as Refused, End};
use raddle_protocol::schedule::CHOICE_BIT;
use raddle_protocol::slot;
use raddle_protocol::trace::Outcome;
use raddle_protocol::witness::{Record, Site, Witness};
use serde::Serialize;

/// What is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// Another event happened than the witness has.
    Event { expected: String, got: String },
    /// The thread whose turn it was could not take its step.
    Step { expected: String, refused: String },
    /// The execution ended before the witness does.
    Ended { expected: String },
    /// The execution went on where the witness ends.
    WentOn { got: String },
    /// The same events, but another failure.
    Failure { expected: String, got: String },
    /// The same events, but no failure.
    NoFailure { expected: String },
    /// It fails; the execution of the witness ended well.
    Fails { got: String },
}

/// A replay that is not what its witness says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// Number of the first event that is different, from 1; one more than there are when all are
    /// the same.
    pub event: usize,
    /// Events in the witness.
    pub of: usize,
    pub difference: Difference,
    /// The first event before that whose result is another one than in the witness: where what is not
    /// under control came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Which files have changed since the witness was written, and how.
    pub changed: Vec<String>,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Divergence { event, of, .. } = self;
        match &self.difference {
            Difference::Event { expected, got } => {
                write!(
                    f,
                    "at event {event} of {of}: expected {expected}; got {got}"
                )
            }
            Difference::Step { expected, refused } => {
                write!(
                    f,
                    "at event {event} of {of}: expected {expected}; {refused}"
                )
            }
            Difference::Ended { expected } => write!(
                f,
                "at event {event} of {of}: expected {expected}; the execution had ended"
            ),
            Difference::WentOn { got } => {
                write!(
                    f,
                    "after all {of} events of the witness: it went on with {got}"
                )
            }
            Difference::Failure { expected, got } => write!(
                f,
                "although all {of} events are the same: it failed differently: expected {expected}; got {got}"
            ),
            Difference::NoFailure { expected } => write!(
                f,
                "although all {of} events are the same: it did not fail: expected {expected}"
            ),
            Difference::Fails { got } => write!(f, "it failed: {got}"),
        }?;
        if let Some(result) = &self.result {
            write!(f, "; the first result that differs: {result}")?;
        }
        match self.changed.is_empty() {
            true => write!(
                f,
                "; program and libraries are unchanged, so something is not under control"
            ),
            false => write!(f, "; the reason: {}", self.changed.join(", ")),
        }
    }
}

/// The replayed execution in the witness's terms.
pub struct Replayed<'a> {
    pub records: &'a [Record],
    pub sites: &'a [Site],
    pub outcome: &'a Outcome,
    /// The same program and libraries: places are compared by address, else by function.
    pub unchanged: bool,
}

/// The first difference between the events of a witness and those of a replay; `None`: all the
/// same.
pub fn first(
    witness: &Witness,
    replayed: &Replayed<'_>,
    words: impl Fn(&Record) -> String,
) -> Option<(usize, Difference)> {
    let names = Names::new(&witness.events);
    let expected = |record: &Record| {
        let site = &witness.sites[record.site as usize];
        let thread = names.of(record.thread);
        format!(
            "{} by {thread} at {}",
            event_words(record, witness, &names),
            place(site)
        )
    };
    // What was left out of the middle of a long witness, or of all before its end, cannot be compared.
    let comparable = match witness.events_left_out {
        0 => witness.events.len(),
        _ => witness.events.len().saturating_sub(Witness::TAIL),
    };
    let same = |a: &Record, b: &Record| {
        a.kind == b.kind
            && a.thread == b.thread
            && same_place(
                &witness.sites[a.site as usize],
                &replayed.sites[b.site as usize],
                replayed.unchanged,
            )
    };
    let common = comparable.min(replayed.records.len());
    let pairs = witness.events[..common].iter().zip(replayed.records);
    if let Some((i, (a, b))) = pairs.enumerate().find(|(_, (a, b))| !same(a, b)) {
        let got = words(b);
        let expected = expected(a);
        return Some((i + 1, Difference::Event { expected, got }));
    }
    if let Some(missing) = witness.events[..comparable].get(replayed.records.len()) {
        let expected = expected(missing);
        let difference = match replayed.outcome.end {
            End::Divergence => Difference::Step {
                expected,
                refused: refused(replayed.outcome, &names),
            },
            _ => Difference::Ended { expected },
        };
        return Some((replayed.records.len() + 1, difference));
    }
    let further = replayed.records.get(comparable);
    match further {
        Some(extra) if witness.events_left_out == 0 => {
            let got = words(extra);
            Some((comparable + 1, Difference::WentOn { got }))
        }
        _ => None,
    }
}

/// The first of the events before number `before` (from 1) that gave another result: the same operation
/// at the same place saw or brought about something else.
pub fn first_result(witness: &Witness, replayed: &Replayed<'_>, before: usize) -> Option<String> {
    let both = witness.events.iter().zip(replayed.records);
    let mut both = both.take(before.saturating_sub(1)).enumerate();
    let (i, (was, is)) = both.find(|(_, (was, is))| was.value != is.value)?;
    let names = Names::new(&witness.events);
    let site = &witness.sites[was.site as usize];
    let module = site.module.map(|module| &witness.modules[module as usize]);
    let module = module.map_or(String::new(), |module| {
        format!(" in {}", base_name(&module.path.to_text()))
    });
    Some(format!(
        "{} by {} at {}{module} (event {}), {:#x} instead of {:#x}",
        Kind::from_u8(was.kind).map_or("?", Kind::text),
        names.of(was.thread),
        place(site),
        i + 1,
        is.value,
        was.value,
    ))
}

fn same_place(a: &Site, b: &Site, by_address: bool) -> bool {
    if by_address {
        return a.module.is_some() == b.module.is_some() && a.offset == b.offset;
    }
    let function = |site: &Site| site.frames[site.shown as usize].function.clone();
    function(a) == function(b)
}

/// Why the runtime could not follow the schedule.
fn refused(outcome: &Outcome, names: &Names) -> String {
    let [_, wanted, why, _] = outcome.detail;
    let wanted = wanted as u16;
    let who = match wanted & CHOICE_BIT {
        0 => names.of(wanted),
        _ => format!("alternative {}", wanted & !CHOICE_BIT),
    };
    match Refused::from_u32(why as u32) {
        Some(Refused::NoSuchThread) => format!("{who} does not exist"),
        Some(Refused::Ended) => format!("{who} has ended"),
        Some(Refused::Blocked) => format!("{who} is blocked"),
        Some(Refused::KindOfStep) => "a choice came where a thread was due, or the reverse".into(),
        Some(Refused::NoSuchChoice) => format!("{who} does not exist there"),
        None => "the schedule could not be followed".to_string(),
    }
}

/// An event of the replay in words.
pub fn in_words(record: &Record, sites: &[Site], names: &Names) -> String {
    let site = &sites[record.site as usize];
    let kind = Kind::from_u8(record.kind).map_or("?", Kind::text);
    let child = match record.kind == Kind::ThreadCreate as u8 && record.value as u16 != slot::NONE {
        true => format!(" of {}", names.of(record.value as u16)),
        false => String::new(),
    };
    format!(
        "{kind}{child} by {} at {}",
        names.of(record.thread),
        place(site)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn outcome(end: End, detail: [u64; 4]) -> Outcome {
        Outcome {
            detail,
            ..Outcome::new(end, 0)
        }
    }

    /// What changes in the replay, how it ends, the first different event and what is said.
    type Row = (
        fn(&mut Vec<Record>, &mut Vec<Site>),
        (End, [u64; 4]),
        Option<(usize, &'static str)>,
    );

    #[test]
    fn the_first_difference_is_named() {
        let fine = (End::Exit, [0; 4]);
        let refused = |why: Refused| (End::Divergence, [3, 1, why as u64, 0]);
        let table: [Row; 8] = [
            (|_, _| {}, fine, None),
            (
                |r, _| r[1].thread = 0,
                fine,
                Some((2, "got thread starts by main")),
            ),
            (
                |r, _| r[2].kind = Kind::MutexUnlock as u8,
                fine,
                Some((3, "expected mutex_lock m by T1 at a.c:20; got mutex_unlock")),
            ),
            (
                |_, s| s[2].offset += 1,
                fine,
                Some((3, "expected mutex_lock m")),
            ),
            (
                |r, _| r.truncate(2),
                fine,
                Some((3, "the execution had ended")),
            ),
            (
                |r, _| r.truncate(2),
                refused(Refused::Blocked),
                Some((3, "T1 is blocked")),
            ),
            (
                |r, _| r.truncate(1),
                refused(Refused::NoSuchThread),
                Some((2, "T1 does not exist")),
            ),
            (
                |r, _| r.extend_from_within(..1),
                fine,
                Some((5, "it went on with pthread_create")),
            ),
        ];
        let witness = sample();
        for (i, (spoil, (end, detail), expected)) in table.into_iter().enumerate() {
            let (mut records, mut sites) = (witness.events.clone(), witness.sites.clone());
            spoil(&mut records, &mut sites);
            let outcome = outcome(end, detail);
            let replayed = Replayed {
                records: &records,
                sites: &sites,
                outcome: &outcome,
                unchanged: true,
            };
            let names = Names::new(&records);
            let got = first(&witness, &replayed, |r| in_words(r, &sites, &names));
            let got = got.map(|(event, difference)| {
                let divergence = Divergence {
                    event,
                    of: witness.events.len(),
                    difference,
                    result: None,
                    changed: Vec::new(),
                };
                (event, divergence.to_string())
            });
            match (&got, expected) {
                (None, None) => {}
                (Some((event, text)), Some((at, part))) => {
                    assert_eq!(*event, at, "case {i}: {text}");
                    assert!(text.contains(part), "case {i}: {text}");
                    assert!(text.contains("not under control"), "case {i}: {text}");
                }
                _ => panic!("case {i}: {got:?}"),
            }
        }
    }

    /// Of what was left out before the end of an execution nothing is known.
    #[test]
    fn the_end_alone_is_not_compared() {
        let mut witness = sample();
        let records = witness.events.clone();
        witness.events.drain(..1);
        let outcome = outcome(End::Exit, [0; 4]);
        let sites = witness.sites.clone();
        let replayed = Replayed {
            records: &records,
            sites: &sites,
            outcome: &outcome,
            unchanged: true,
        };
        let differs = |witness: &Witness| first(witness, &replayed, |_| String::new()).is_some();
        assert!(differs(&witness));
        witness.events_left_out = 1;
        assert!(!differs(&witness));
    }

    #[test]
    fn the_first_result_that_differs_is_named() {
        let witness = sample();
        let outcome = outcome(End::Exit, [0; 4]);
        let mut records = witness.events.clone();
        let result = |records: &[Record], before| {
            let replayed = Replayed {
                records,
                sites: &witness.sites,
                outcome: &outcome,
                unchanged: true,
            };
            first_result(&witness, &replayed, before)
        };
        assert_eq!(result(&records, 5), None);
        records[2].value = 16;
        records[3].value = 17;
        let said = result(&records, 5).expect("two differ");
        let (was, kind) = (witness.events[2].value, "mutex_lock by T1 at a.c:20");
        assert!(said.starts_with(kind), "{said}");
        assert!(
            said.ends_with(&format!("(event 3), 0x10 instead of {was:#x}")),
            "{said}"
        );
        assert_eq!(result(&records, 3), None, "only what came before counts");
    }

    #[test]
    fn a_changed_program_is_compared_by_functions() {
        let witness = sample();
        let mut sites = witness.sites.clone();
        for site in &mut sites {
            site.offset += 64;
        }
        let outcome = outcome(End::Exit, [0; 4]);
        let differs = |sites: &[Site], unchanged| {
            let replayed = Replayed {
                records: &witness.events,
                sites,
                outcome: &outcome,
                unchanged,
            };
            first(&witness, &replayed, |_| String::new()).is_some()
        };
        assert!(!differs(&sites, false));
        assert!(differs(&sites, true));
        sites[2].frames[0].function = Some("other".into());
        assert!(differs(&sites, false));
    }
}
