//! What a report says of a deadlock: who waits for whom, and the stacks of that.

use super::text::{Names, Style, pad};
use super::{event_words, frames, heading, located, own_part};
use crate::summary::count;
use crate::symbols::own_place;
use raddle_protocol::event::Kind;
use raddle_protocol::slot;
use raddle_protocol::witness::{Frame, Hold, NO_OBJECT, Wait, Witness};
use serde::Serialize;

/// The waits, those of a cycle first.
fn listed(witness: &Witness) -> Vec<&Wait> {
    let mut listed: Vec<&Wait> = witness.finding.waits.iter().collect();
    listed.sort_by_key(|w| (!w.in_cycle, w.thread));
    listed
}

/// "mutex_lock m": the operation in which a thread waits, or by which it took what it holds.
fn operation(kind: u8, object: u32, witness: &Witness) -> String {
    let kind = Kind::from_u8(kind).map_or("?", Kind::text);
    // The second half of a wait is known by its return.
    let kind = kind.strip_suffix(" returns").unwrap_or(kind);
    match witness.objects.get(object as usize) {
        Some(object) => format!("{kind} {}", object.name),
        None => kind.to_string(),
    }
}

/// Who waits in which operation for whom, in lines.
pub fn who_waits(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    if witness.finding.waits.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("who waits for whom", style).to_vec();
    let at = |line: &str, site: u32| located(line, &witness.sites[site as usize], style);
    for wait in listed(witness) {
        let mark = match wait.in_cycle {
            true => style.yellow("»"),
            false => " ".to_string(),
        };
        let line = format!(
            "  {mark} {} waits in {} at ",
            pad(&names.of(wait.thread), 5),
            operation(wait.kind, wait.object, witness)
        );
        lines.push(at(&line, wait.site));
        // Each with the place that it ends with.
        let mut more: Vec<(String, Option<u32>)> = Vec::new();
        let ending = |line: String, how: &str, place: Option<u32>| match place {
            Some(_) => (format!("{line}, {how} at "), place),
            None => (line, None),
        };
        let joins = Kind::from_u8(wait.kind).is_some_and(Kind::joins);
        if joins && wait.holder != slot::NONE {
            more.push((format!("for {} to end", names.of(wait.holder)), None));
        } else if wait.holder != slot::NONE {
            let line = format!("held by {}", names.of(wait.holder));
            more.push(ending(line, "which took it", wait.holder_site));
        }
        for (thread, hold) in other_holders(wait, witness) {
            let line = format!("held by {}, too", names.of(thread));
            more.push(ending(line, "which took it", place_of(hold, witness)));
        }
        more.extend(earlier(wait, witness, names));
        for hold in wait.holds.iter().filter(|h| !is_wanted(h, witness)) {
            let name = &witness.objects[hold.object as usize].name;
            let line = format!("and holds {name}");
            more.push(ending(line, "taken", place_of(hold, witness)));
        }
        lines.extend(more.iter().map(|(line, place)| {
            let line = format!("          {line}");
            place.map_or_else(|| line.clone(), |site| at(&line, site))
        }));
    }
    lines
}

/// Readers that hold what is waited for, besides the one that the wait names.
fn other_holders<'a>(
    wait: &'a Wait,
    witness: &'a Witness,
) -> impl Iterator<Item = (u16, &'a Hold)> {
    let others = witness.finding.waits.iter();
    let others = others.filter(|other| ![wait.holder, wait.thread].contains(&other.thread));
    let holds = others.flat_map(|other| other.holds.iter().map(|hold| (other.thread, hold)));
    let is_named = wait.holder != slot::NONE && wait.object != NO_OBJECT;
    holds.filter(move |(_, hold)| is_named && hold.object == wait.object)
}

/// Does some thread wait for this lock? Then it is named there.
fn is_wanted(hold: &Hold, witness: &Witness) -> bool {
    let mut waits = witness.finding.waits.iter();
    waits.any(|wait| wait.object == hold.object && wait.holder != slot::NONE)
        || hold.object == NO_OBJECT
}

/// Where a lock was taken, by the innermost line of the user's own code.
fn place_of(hold: &Hold, witness: &Witness) -> Option<u32> {
    own_place(&hold.stack, &witness.sites).or(hold.stack.first().copied())
}

/// What was last done by which the thread could have gone on, and where.
fn earlier(wait: &Wait, witness: &Witness, names: &Names) -> Vec<(String, Option<u32>)> {
    let Some(earlier) = &wait.earlier else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for record in earlier {
        let (who, did) = (names.of(record.thread), event_words(record, witness, names));
        lines.push((format!("last by {who}: {did} at "), Some(record.site)));
    }
    let gives = |kind: Option<Kind>| {
        use Kind::{CondBroadcast, CondSignal, FutexWake, SemPost};
        matches!(kind, Some(CondBroadcast | CondSignal | FutexWake | SemPost))
    };
    if !earlier.iter().any(|r| gives(Kind::from_u8(r.kind))) {
        let what = match Kind::from_u8(wait.kind) {
            Some(Kind::CondWait | Kind::CondWake) => "signalled",
            Some(Kind::SemWait | Kind::SemTimedWait) => "posted",
            _ => "woken",
        };
        lines.push((format!("nobody has {what} it"), None));
    }
    lines
}

/// A wait of a deadlock as the summary says it.
#[derive(Clone, Debug, Serialize)]
pub struct FoundWait {
    pub thread: String,
    /// What it waits in, with the name of the object.
    pub operation: String,
    /// `file:line`, innermost first.
    pub stack: Vec<String>,
    /// Part of the cycle of threads that wait for each other.
    pub in_cycle: bool,
    /// Who holds the object, or has to end; `null` where nobody in particular does.
    pub holder: Option<String>,
    pub holds: Vec<FoundHold>,
}

/// A lock that a waiting thread holds.
#[derive(Clone, Debug, Serialize)]
pub struct FoundHold {
    /// By which it was taken, with the name of the lock.
    pub operation: String,
    /// `file:line` of that, innermost first.
    pub stack: Vec<String>,
}

/// The waits of a finding, those of a cycle first.
pub fn found_waits(witness: &Witness) -> Vec<FoundWait> {
    let names = Names::new(&witness.events);
    let places = |stack: &[u32]| {
        let sites = own_part(stack, witness).iter();
        let frames = sites.flat_map(|&s| &witness.sites[s as usize].frames);
        let place = |frame: &Frame| Some(format!("{}:{}", frame.file.as_deref()?, frame.line?));
        frames.filter_map(place).collect()
    };
    let found = |wait: &Wait| FoundWait {
        thread: names.of(wait.thread),
        operation: operation(wait.kind, wait.object, witness),
        stack: places(&wait.stack),
        in_cycle: wait.in_cycle,
        holder: (wait.holder != slot::NONE).then(|| names.of(wait.holder)),
        holds: wait
            .holds
            .iter()
            .map(|hold| FoundHold {
                operation: operation(hold.kind, hold.object, witness),
                stack: places(&hold.stack),
            })
            .collect(),
    };
    listed(witness).into_iter().map(found).collect()
}

/// Of more threads than this stacks are left out.
const MOST_STACKS: usize = 8;

/// The threads whose stacks are shown: those of the cycle, if there is one.
fn with_stacks(witness: &Witness) -> impl Iterator<Item = &Wait> {
    let cycle = witness.finding.waits.iter().any(|w| w.in_cycle);
    let listed = listed(witness).into_iter();
    listed.filter(move |w| (w.in_cycle || !cycle) && !w.stack.is_empty())
}

/// How many of them.
fn most_stacks(style: Style) -> usize {
    match style.full {
        true => usize::MAX,
        false => MOST_STACKS,
    }
}

/// Is the stack of this thread among those of the waits?
pub fn shows_stack_of(thread: u16, witness: &Witness, style: Style) -> bool {
    let mut shown = with_stacks(witness).take(most_stacks(style));
    shown.any(|wait| wait.thread == thread)
}

/// Where each thread waits, and where it took what it holds.
pub fn stacks(witness: &Witness, names: &Names, style: Style) -> Vec<String> {
    let most = most_stacks(style);
    let mut lines = Vec::new();
    for wait in with_stacks(witness).take(most) {
        let who = names.of(wait.thread);
        let mut part = |title: String, stack: &[u32]| {
            lines.extend(heading(&title, style));
            lines.extend(frames(stack, witness, style));
        };
        let waits = operation(wait.kind, wait.object, witness);
        part(format!("{who} waits in {waits}"), &wait.stack);
        for hold in &wait.holds {
            let took = operation(hold.kind, hold.object, witness);
            part(format!("{who} took what it holds: {took}"), &hold.stack);
        }
    }
    let left_out = with_stacks(witness).count().saturating_sub(most);
    if left_out > 0 {
        let more = count(left_out as u64, "more thread");
        let line = format!("    and {more} (raddle show --full)");
        lines.extend([String::new(), style.dim(&line)]);
    }
    lines
}
