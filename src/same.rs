//! When two failures are the same: by places that stay the same in other interleavings, after a
//! rebuild, and wherever the program was built.

use crate::callers::{self, Callers};
use crate::class::Class;
use crate::marks::all_callers;
use crate::report::base_name;
use crate::said::Said;
use crate::symbols::{Symbols, is_own};
use raddle_analyzer::fingerprint;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::{Note, Site};

/// How many frames of the user's own code decide whether two failures are the same.
const FRAMES: usize = 3;

/// The name of a failure.
pub struct Identity {
    pub fingerprint: String,
    /// What a run must record ([`flags`]) so that the same failure has the same name.
    pub records: u32,
}

/// The name of the failure of this class that ended an execution. `stack`: of that end, without the
/// runtime's own frames; `message`: what is said of it.
pub fn identity(
    class: Class,
    trace: &Trace,
    (stack, notes): (&[u32], &[Note]),
    message: &str,
    symbols: &mut Symbols,
) -> Identity {
    let outcome = &trace.outcome;
    let mut texts: Vec<String> = Vec::new();
    let mut deep = false;
    match class {
        _ if class == Class::Deadlock || outcome.end == End::Livelock => {
            let callers = all_callers(trace);
            let cycle = outcome.waits.iter().any(|w| w.in_cycle != 0);
            for wait in outcome.waits.iter().filter(|w| !cycle || w.in_cycle != 0) {
                let called_from = callers.of_waiting(wait.thread);
                let places = match class {
                    // Programs have functions of their own that take locks: who calls these counts.
                    Class::Deadlock => {
                        deep = true;
                        innermost(&callers::stack(wait.pc, called_from, symbols), symbols)
                    }
                    _ => {
                        deep |= is_in_library(wait.pc, symbols);
                        operation(wait.pc, called_from, symbols)
                    }
                };
                texts.extend(names(&places, symbols));
            }
        }
        // Where such a run happens to be cut off says nothing.
        Class::Livelock | Class::Timeout | Class::Output => {}
        Class::Exit => {
            texts.push(format!("status {}", outcome.code));
            let here = std::env::current_dir().unwrap_or_default();
            texts.extend(Said::of(&trace.stdout, &trace.stderr).stable(&here));
            let mut places = innermost(stack, symbols);
            if !places.iter().any(|&site| is_the_users(site, symbols)) {
                deep = true;
                places = last_step(trace, symbols);
            }
            texts.extend(names(&places, symbols));
        }
        // A signal for which the kernel ended the process at once.
        _ if stack.is_empty() && outcome.end == End::Signal => {
            deep = true;
            let (_, places) = origin(trace, symbols);
            texts.extend(names(&places, symbols));
        }
        _ => {
            let places = innermost(stack, symbols);
            texts.extend(names(&places, symbols));
            let site = |&site: &u32| &symbols.sites()[site as usize];
            // Without lines, several may lie in one place.
            let lineless = places.iter().map(site).all(|site| file_of(site).is_none());
            if lineless && says_what(class) {
                texts.push(crate::said::masked(message));
            }
            let further = notes.iter().filter_map(|n| n.site);
            texts.extend(further.flat_map(|site| names(&[site], symbols)));
            let freed_at = outcome.detail[2];
            if !notes.is_empty() && freed_at != 0 {
                deep |= is_in_library(freed_at, symbols);
            }
        }
    }
    if texts.is_empty() && says_what(class) {
        texts.push(crate::said::masked(message));
    }
    Identity {
        fingerprint: fingerprint::of(class.name(), &texts),
        records: match deep {
            true => flags::EVENTS | flags::STACKS,
            false => 0,
        },
    }
}

/// Does the message of such a failure say what was wrong?
fn says_what(class: Class) -> bool {
    matches!(class, Class::Assertion | Class::Crash | Class::Misuse)
}

/// Must its callers be known to tell this place from others?
fn is_in_library(pc: u64, symbols: &mut Symbols) -> bool {
    let plain = symbols.site(pc);
    !is_own(&symbols.sites()[plain as usize])
}

/// The places by which an operation is known: the user's own line, or, where there are no lines,
/// the innermost functions of the user's own code.
fn operation(pc: u64, called_from: &[u64], symbols: &mut Symbols) -> Vec<u32> {
    let site = symbols.site_called_from(pc, called_from);
    if is_own(&symbols.sites()[site as usize]) {
        return vec![site];
    }
    let stack = callers::stack(pc, called_from, symbols);
    innermost(&stack, symbols)
}

/// Where the thread that ended the process did its last step, if that was recorded.
fn last_step(trace: &Trace, symbols: &mut Symbols) -> Vec<u32> {
    let thread = trace.outcome.thread;
    let is_step = |e: &Event| e.kind().is_some_and(|kind| kind.is_step());
    let last = |e: &Event| e.thread == thread && e.pc != 0 && is_step(e);
    place_of_last(last, trace, symbols).map_or(Vec::new(), |(_, places)| places)
}

/// What brought the signal about for which the kernel ended the process at once, if that was
/// recorded: the call that sent it, and by whom, or else the last step of the thread that it met.
pub fn origin(trace: &Trace, symbols: &mut Symbols) -> (Option<Slot>, Vec<u32>) {
    let signal = trace.outcome.code as u64;
    let sends = |e: &Event| e.kind() == Some(Kind::SignalSend) && e.value & 0xff == signal;
    if let Some((by, places)) = place_of_last(sends, trace, symbols) {
        return (Some(by), places);
    }
    // Where a timer's signal meets a thread says nothing.
    let of_timers = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];
    match of_timers.contains(&trace.outcome.code) {
        true => (None, Vec::new()),
        false => (None, last_step(trace, symbols)),
    }
}

/// The places of the last such record by which it is known, and whose it is.
fn place_of_last(
    is_one: impl Fn(&Event) -> bool,
    trace: &Trace,
    symbols: &mut Symbols,
) -> Option<(Slot, Vec<u32>)> {
    let at = trace.events.iter().rposition(is_one)?;
    let mut callers = Callers::default();
    trace.events[..=at]
        .iter()
        .for_each(|event| callers.learn(event));
    let event = &trace.events[at];
    let called_from = callers
        .of_step(event.thread, event.pc, event.object)
        .to_vec();
    let stack = callers::stack(event.pc, &called_from, symbols);
    Some((event.thread, innermost(&stack, symbols)))
}

/// The innermost places of a stack by which it is told from others: in the user's own code, by
/// lines if it has any; else those that have a line at all; else any.
pub fn innermost(stack: &[u32], symbols: &Symbols) -> Vec<u32> {
    let of = |site: u32| &symbols.sites()[site as usize];
    let choices: [&dyn Fn(u32) -> bool; 4] = [
        &|site| is_own(of(site)),
        &|site| is_the_users(site, symbols),
        &|site| file_of(of(site)).is_some(),
        &|_| true,
    ];
    let chosen = choices.into_iter().map(|choice| {
        let fitting = stack.iter().copied().filter(|&site| choice(site));
        fitting.take(FRAMES).collect::<Vec<u32>>()
    });
    chosen
        .into_iter()
        .find(|some| !some.is_empty())
        .unwrap_or_default()
}

/// Is this place in the user's own code, with a line or without?
fn is_the_users(site: u32, symbols: &Symbols) -> bool {
    let site = &symbols.sites()[site as usize];
    is_own(site) || (file_of(site).is_none() && symbols.is_own_module(site.module))
}

fn file_of(site: &Site) -> Option<&String> {
    site.frames[site.shown as usize].file.as_ref()
}

/// Names of the places of a stack, innermost first, that survive a rebuild, of other files too, and
/// one in another directory: lines; without them functions, and the place within the first one; in
/// a file without symbols the place within that.
pub fn names(places: &[u32], symbols: &Symbols) -> Vec<String> {
    let name = |(n, &site): (usize, &u32)| name(&symbols.sites()[site as usize], n == 0, symbols);
    places.iter().enumerate().map(name).collect()
}

fn name(site: &Site, exact: bool, symbols: &Symbols) -> String {
    let frame = &site.frames[site.shown as usize];
    let function = frame.function.as_deref().map(without_hash);
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => {
            format!("{}:{line}:{}", base_name(file), function.unwrap_or("?"))
        }
        (Some(file), None) => format!("{}:{}", base_name(file), function.unwrap_or("?")),
        (None, _) => {
            let module = symbols.stable_module_name(site.module);
            let distance = symbols.distance_from_symbol(site).filter(|_| exact);
            match (function, distance) {
                (Some(function), Some(distance)) => format!("{module}:{function}+{distance:#x}"),
                (Some(function), None) => format!("{module}:{function}"),
                (None, _) => format!("{module}+{:#x}", site.offset),
            }
        }
    }
}

/// A function's name without the hash that Rust appends, which depends on where it was built.
pub fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((head, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            head
        }
        _ => name,
    }
}
