//! One event in words.

use super::input_text;
use super::text::Names;
use crate::objects::LIBRARY;
use crate::summary::count;
use raddle_protocol::effects::keeps_state;
use raddle_protocol::event::Kind;
use raddle_protocol::schedule::{ARRIVAL, FACT};
use raddle_protocol::slot;
use raddle_protocol::witness::{Input, Record, Witness};
use raddle_scheduler::signal_name;

/// What the event did, with the names of its objects and its result: "mutex_lock m".
pub fn words(record: &Record, witness: &Witness, names: &Names) -> String {
    let Some(kind) = Kind::from_u8(record.kind) else {
        return "?".to_string();
    };
    let object = witness
        .objects
        .get(record.object as usize)
        .map_or("", |o| o.name.as_str());
    let thread = || names.of(record.value as u16);
    let value = record.value;
    let text = kind.text();
    match kind {
        Kind::ThreadStart | Kind::ThreadExit | Kind::ThreadLeave | Kind::Yield | Kind::Return => {
            text.to_string()
        }
        Kind::Cancelled | Kind::CancellationPoint => text.to_string(),
        // `value`: an exit status, or the signal of an abort.
        Kind::ProcessEnd if value > 0 => format!("{text} with {value}"),
        Kind::ExitNext | Kind::AtExit | Kind::Ask => text.to_string(),
        Kind::ThreadCreate | Kind::ThreadDetach | Kind::ThreadCancel => {
            format!("{text} {}", thread())
        }
        kind if kind.joins() => format!("{text} {}", thread()),
        Kind::Read | Kind::AtomicRead => format!("{text} {object} = {}", number(value)),
        Kind::Write | Kind::AtomicWrite | Kind::Rmw => {
            format!("{text} {object} := {}", number(value))
        }
        Kind::MutexLock if object == LIBRARY => format!("{} begins", section(record, witness)),
        Kind::MutexUnlock if object == LIBRARY => format!("{} ends", section(record, witness)),
        Kind::StateUse => call(record, witness).unwrap_or(text).to_string(),
        Kind::ReadRange if object == LIBRARY => format!("looks at {object}"),
        Kind::WriteRange if object == LIBRARY => format!("changes {object}"),
        Kind::ReadRange | Kind::WriteRange => format!("{text} {object}, {}", count(value, "byte")),
        Kind::CondSignal if value == u64::from(slot::NONE) => {
            format!("{text} {object}: wakes nobody")
        }
        Kind::CondSignal => format!("{text} {object}: wakes {}", thread()),
        Kind::CondBroadcast | Kind::FutexWake => format!("{text} {object}: wakes {value}"),
        Kind::CondWait => format!("{text} {object}"),
        Kind::OnceEnter if value == 0 => format!("{text} {object}: already done"),
        Kind::OnceEnter => format!("{text} {object}: runs it"),
        Kind::SignalSend => {
            let to = (value >> 8) as u16;
            let to = if to == slot::NONE {
                "the process".into()
            } else {
                names.of(to)
            };
            format!("{text} {to} with {}", signal(value & 0xff))
        }
        Kind::SignalWait if value == 0 => format!("{text} ends without a signal"),
        Kind::SignalWait => format!("{text} takes {}", signal(value)),
        Kind::SignalHandler => format!("{text} {object} for {}", signal(value)),
        Kind::SignalReturn | Kind::ChildMade => text.to_string(),
        Kind::ChildWait if value == 0 => format!("{text}: nobody"),
        Kind::ChildWait => text.to_string(),
        Kind::TimerSet if value == 0 => format!("{text}: disarmed"),
        Kind::TimerSet | Kind::TimerExpire => format!("{text} at {} ms", value as f64 / 1e6),
        Kind::SemName => format!("{text} {object}"),
        Kind::Sleep => format!("{text} until {} ms", value as f64 / 1e6),
        Kind::FutexWait if value as i32 == libc::EAGAIN => {
            format!("{text} {object}: the value has changed")
        }
        Kind::SemGetValue => format!("{text} {object} = {value}"),
        Kind::Free | Kind::Remap => format!("{text} {object}"),
        Kind::Fence => text.to_string(),
        Kind::Choice => choice(value),
        Kind::Input => input(record, witness),
        Kind::Accept if value < 1 << 31 => format!("{text} {object}: descriptor {value}"),
        kind if kind.is_descriptor() => format!("{text} {object}{}", moved(kind, value as i64)),
        Kind::BarrierLeave => format!("{text} {object}"),
        _ => format!("{text} {object}{}", result(value)),
    }
    .trim_end()
    .to_string()
}

/// The function that keeps something and is called here, as the source names it.
fn call<'a>(record: &Record, witness: &'a Witness) -> Option<&'a str> {
    let source = witness.sites[record.site as usize].source.as_deref();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before_brackets = source?.split('(');
    let mut names = before_brackets.filter_map(|part| part.rsplit(|c| !word(c)).next());
    names.find(|name| keeps_state(name).is_some())
}

/// What nobody comes in between: such a call, or what the program has asked for.
fn section<'a>(record: &Record, witness: &'a Witness) -> &'a str {
    call(record, witness).unwrap_or("an atomic section")
}

fn signal(number: u64) -> String {
    i32::try_from(number).map_or_else(|_| format!("signal {number}"), signal_name)
}

/// A choice, or what another process did.
fn choice(value: u64) -> String {
    let (fact, arrival) = (u64::from(FACT), u64::from(ARRIVAL));
    match value.checked_sub(arrival) {
        Some(0) => "its time runs out".to_string(),
        Some(number) => format!("{} comes from outside", signal(number)),
        None if value >= fact => "as another process has it".to_string(),
        None => format!("chooses alternative {value}"),
    }
}

/// An input with its name and value, as far as they are known.
fn input(record: &Record, witness: &Witness) -> String {
    let mut inputs = witness.recipe.inputs.iter();
    let asked = |i: &&Input| i.thread == record.thread && u64::from(i.index) == record.value;
    match inputs.find(asked) {
        Some(input) => input_text(input),
        None => format!("input {} = 0", record.value + 1),
    }
}

/// The result of an operation that may fail; nothing for success.
fn result(value: u64) -> String {
    match value as i32 {
        0 => String::new(),
        libc::EBUSY => ": busy".to_string(),
        libc::ETIMEDOUT => ": timed out".to_string(),
        libc::EAGAIN => ": would wait".to_string(),
        libc::EOWNERDEAD => ": its owner died".to_string(),
        libc::EDEADLK => ": would wait for itself".to_string(),
        libc::EPERM => ": not permitted".to_string(),
        n => format!(": result {n}"),
    }
}

/// What came of an operation on a descriptor: a count, or minus an errno.
fn moved(kind: Kind, value: i64) -> String {
    let counts = matches!(
        kind,
        Kind::DescriptorRead | Kind::DescriptorWrite | Kind::Transfer | Kind::QueueReceive
    );
    match (value, value.unsigned_abs() as i32) {
        (0, _) if kind == Kind::DescriptorRead => ": the end".to_string(),
        (1.., _) if counts => format!(": {}", count(value as u64, "byte")),
        (0.., _) => String::new(),
        (_, libc::EAGAIN) => ": would wait".to_string(),
        (_, libc::EINTR) => ": interrupted".to_string(),
        (_, libc::EINPROGRESS) => ": under way".to_string(),
        (_, libc::EPIPE) => ": nobody reads".to_string(),
        (_, code) => format!(": errno {code}"),
    }
}

/// Small numbers in decimal, those that look like addresses in hexadecimal.
fn number(value: u64) -> String {
    match value as i64 {
        small @ -65536..=0xffff_ffff => small.to_string(),
        _ => format!("{value:#x}"),
    }
}

/// Does the operation's name say anything that the source line does not?
pub fn is_in_source(record: &Record, source: Option<&str>) -> bool {
    let Some(kind) = Kind::from_u8(record.kind) else {
        return false;
    };
    let says_it = source.is_some_and(|s| s.contains(kind.text()));
    let plain = match kind {
        Kind::ThreadCreate | Kind::CondSignal => false,
        kind if kind.joins() => false,
        Kind::CondBroadcast | Kind::CondWait => true,
        _ => record.value == 0,
    };
    says_it && plain
}
