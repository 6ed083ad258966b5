//! From a raw trace to what a witness records: the failure in words, its fingerprint, the events.

use crate::callers::Callers;
use crate::class::Class;
use crate::decisions::{MOST, condition, decisions};
use crate::marks::{all_callers, names};
use crate::objects::{Objects, noun};
use crate::report::Names;
use crate::said::Said;
use crate::same;
use crate::symbols::{Symbols, readable};
use crate::waits;
use crate::watch::Mark;
use raddle_analyzer::bounds::{Point, points};
use raddle_analyzer::stop;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::{Node, Op};
use raddle_protocol::outcome::End;
use raddle_protocol::trace::{Outcome, Trace};
use raddle_protocol::witness::{Access, Creation, Input, NO_OBJECT, Note, Object, Record, Wait};
use raddle_protocol::{Slot, slot};
use raddle_scheduler::signal_name;

/// One failure, in words and places.
#[derive(Clone, Debug)]
pub struct Failure {
    pub class: Class,
    pub message: String,
    pub fingerprint: String,
    pub stack: Vec<u32>,
    pub notes: Vec<Note>,
    /// The two accesses of a race.
    pub accesses: Vec<Access>,
    /// Where the threads that it is about were created.
    pub threads: Vec<Creation>,
    /// The thread that it is about, where that is not the one that ran last.
    pub thread: Option<Slot>,
    /// What was found in the records; `None` for an end that says all.
    pub mark: Option<Mark>,
    /// What a run must record ([`raddle_protocol::shared::flags`]) so that the same failure has the
    /// same fingerprint.
    pub records: u32,
}

impl Failure {
    /// Is it the same failure, in another execution?
    pub fn is_same(&self, other: &Failure) -> bool {
        self.class == other.class && self.fingerprint == other.fingerprint
    }

    /// With what is known of its threads.
    pub fn with(
        mut self,
        accesses: Vec<Access>,
        threads: Vec<Creation>,
        notes: Vec<Note>,
    ) -> Failure {
        self.accesses = accesses;
        self.threads = threads;
        self.notes = notes;
        self
    }
}

/// Describes how a trace failed.
pub fn failure(class: Class, trace: &Trace, symbols: &mut Symbols) -> Failure {
    symbols.enter(&trace.loaded);
    let outcome = &trace.outcome;
    let stack = outcome.stack.iter();
    let stack = stack.filter(|pc| !symbols.is_in_runtime(**pc)).copied();
    let stack: Vec<u64> = stack.collect();
    let stack: Vec<u32> = stack.into_iter().map(|pc| symbols.site(pc)).collect();
    let callers = all_callers(trace);
    let notes = match stack.is_empty() && outcome.end == End::Signal {
        // The kernel ended the process at once.
        true => match same::origin(trace, symbols) {
            (Some(by), places) => at(&format!("sent by {}", name_of(by)), places.first()),
            (None, places) => at(LAST, places.first()),
        },
        false => notes(class, outcome, &callers, symbols),
    };
    let message = panic_message(class, trace).unwrap_or_else(|| message(class, trace));
    let identity = same::identity(class, trace, (&stack, &notes), &message, symbols);
    Failure {
        class,
        message,
        fingerprint: identity.fingerprint,
        stack,
        notes,
        accesses: Vec::new(),
        threads: Vec::new(),
        thread: None,
        mark: None,
        records: identity.records,
    }
}

/// What a Rust program that exited because of a panic wrote about it: the place, and the first line
/// of the text.
fn panic_message(class: Class, trace: &Trace) -> Option<String> {
    if class != Class::Exit || trace.outcome.stack.is_empty() {
        return None;
    }
    let said = String::from_utf8_lossy(&trace.stderr);
    let mut lines = said.lines();
    let (_, place) = lines.find_map(|line| line.split_once(" panicked at "))?;
    let text = lines.next().unwrap_or_default();
    Some(format!("panicked at {place} {text}").trim().to_string())
}

fn message(class: Class, trace: &Trace) -> String {
    let outcome = &trace.outcome;
    let said: Vec<&str> = outcome.message.lines().map(str::trim).collect();
    let said = said.join(" ").trim().to_string();
    let said = match class {
        Class::Deadlock => waits::cycle_message(&outcome.waits).unwrap_or(said),
        _ => said,
    };
    let [address, block, ..] = outcome.detail;
    let default = match (class, outcome.end) {
        (Class::Timeout, _) => "the execution did not end within the time limit".to_string(),
        (_, End::Signal) => {
            let signal = signal_name(outcome.code);
            match outcome.code {
                libc::SIGSEGV | libc::SIGBUS => format!("{signal} at address {address:#x}"),
                _ => signal,
            }
        }
        (_, End::Abort) => "abort() was called".to_string(),
        (Class::Exit, _) => {
            let said = Said::of(&trace.stdout, &trace.stderr).text();
            let said = said.map_or(String::new(), |said| format!(" ({said})"));
            format!("the program ended with exit status {}{said}", outcome.code)
        }
        (Class::Livelock, _) => format!("no end after {address} steps"),
        (Class::UseAfterFree, _) => format!("use of freed memory at {address:#x}"),
        (Class::DoubleFree, _) => format!("block {block:#x} was freed twice"),
        (_, End::HeapOverflow) => format!("write outside of block {block:#x}"),
        (Class::Output, _) => "the program printed something else than expected".to_string(),
        _ => class.name().to_string(),
    };
    match (class, said.is_empty()) {
        (_, true) | (Class::Output, _) => default,
        (Class::Timeout, _) => format!("{default}: {}", readable(&said)),
        // The signal says what the text may not.
        (_, false) if outcome.end == End::Signal && !said.contains(&default) => {
            format!("{default}: {said}")
        }
        (_, false) => said,
    }
}

const LAST: &str = "its last controlled operation";

fn at(text: &str, site: Option<&u32>) -> Vec<Note> {
    let note = |&site| Note {
        text: text.to_string(),
        site: Some(site),
    };
    site.map(note).into_iter().collect()
}

fn name_of(thread: Slot) -> String {
    match thread {
        slot::MAIN => "main".to_string(),
        slot::TIMERS => "timers".to_string(),
        n => format!("T{n}"),
    }
}

fn notes(class: Class, outcome: &Outcome, callers: &Callers, symbols: &mut Symbols) -> Vec<Note> {
    let cut_off = matches!(outcome.end, End::Signal | End::Exit | End::None);
    if class == Class::Timeout && cut_off && outcome.detail[1] != 0 {
        return at(LAST, Some(&symbols.site(outcome.detail[1])));
    }
    let freed = matches!(outcome.end, End::UseAfterFree | End::DoubleFree);
    let [address, block, freed_at, freed_by] = outcome.detail;
    if !freed || freed_at == 0 {
        return Vec::new();
    }
    let within = address.wrapping_sub(block);
    let thread = name_of(freed_by as Slot);
    let which = match within {
        0 => format!("the block at {block:#x}"),
        _ => format!("the block at {block:#x}, whose byte {within} this is,"),
    };
    let called_from = callers.of_step(freed_by as u16, freed_at, block);
    vec![Note {
        text: format!("{which} was freed by {thread}"),
        site: Some(symbols.site_called_from(freed_at, called_from)),
    }]
}

/// The part of a trace that people and replays look at.
pub struct Story {
    pub records: Vec<Record>,
    pub objects: Vec<Object>,
    pub waits: Vec<Wait>,
    /// What was asked for, as it came.
    pub inputs: Vec<Asked>,
    /// The path condition of a symbolic execution.
    pub path: Vec<Note>,
}

impl Story {
    /// Lets the accesses of a failure refer to the story's objects.
    pub fn place(&self, failure: &mut Failure, trace: &Trace) {
        let Some(Mark::Race(race)) = &failure.mark else {
            return;
        };
        let sides = [race.first.event, race.second.event];
        for (access, event) in failure.accesses.iter_mut().zip(sides) {
            let address = trace.events.get(event).map(|e| e.object);
            let mut objects = self.objects.iter();
            let index = objects.position(|o| Some(o.address) == address);
            access.object = index.map_or(NO_OBJECT, |i| i as u32);
        }
    }
}

/// An input that the program asked for.
pub struct Asked {
    thread: u16,
    index: u32,
    site: u32,
    name: Option<String>,
}

/// Puts events and waits into a witness's form.
pub fn story(trace: &Trace, symbols: &mut Symbols) -> Story {
    symbols.enter(&trace.loaded);
    let mut objects = Objects::default();
    let mut inputs: Vec<Asked> = Vec::new();
    let mut records = Vec::new();
    let names = names(trace);
    let points = points(&trace.events);
    let mut points = points.iter();
    let mut callers = Callers::default();
    let mut before = None;
    for (i, event) in trace.events.iter().enumerate() {
        stop::point();
        let Some(kind) = event.kind() else { continue };
        let named = before.replace(kind);
        match kind {
            Kind::Stack => callers.announced(event),
            Kind::Name if named == Some(Kind::Input) => {
                if let Some(asked) = inputs.last_mut() {
                    asked.name = Event::name_in(&trace.events[i..]);
                }
            }
            Kind::ThreadLocal => objects.thread_local(event, names.of(event.thread)),
            Kind::Futex => objects.futex(event),
            Kind::State => objects.state(event, Event::name_in(&trace.events[i + 1..])),
            Kind::Malloc | Kind::Mapped => {
                let called_from = callers.allocated(event.thread);
                let site = symbols.site_called_from(event.pc, &called_from);
                objects.allocated(event, site);
            }
            Kind::DescriptorMade => {
                let site = symbols.site(event.pc);
                objects.made(event, site);
            }
            _ if kind.is_step() || kind == Kind::Choice || kind == Kind::Input => {
                let site = event_site(kind, event, &mut callers, symbols);
                let record = record(kind, event, site, &mut objects, symbols);
                if kind == Kind::Input {
                    inputs.push(Asked {
                        thread: event.thread,
                        index: event.value as u32,
                        site: record.site,
                        name: None,
                    });
                }
                let point = match kind {
                    Kind::Input => None,
                    _ => points.next(),
                };
                let preempts = point.is_some_and(Point::preempts);
                records.push(Record { preempts, ..record });
            }
            _ => {}
        }
    }
    let waits = waits::describe(trace, &callers, &mut objects, symbols);
    let path = path(trace, &inputs, &names, &mut objects, symbols);
    Story {
        records,
        objects: objects.into_named(),
        waits,
        inputs,
        path,
    }
}

/// The path condition, decision by decision.
fn path(
    trace: &Trace,
    inputs: &[Asked],
    names: &Names,
    objects: &mut Objects,
    symbols: &mut Symbols,
) -> Vec<Note> {
    let decided = decisions(&trace.events);
    let Some(left_out) = (!decided.is_empty()).then(|| decided.len().saturating_sub(MOST)) else {
        return Vec::new();
    };
    let title = match left_out {
        0 => "the path condition:".to_string(),
        _ => format!(
            "the path condition, the last {MOST} of {} decisions:",
            decided.len()
        ),
    };
    let mut notes = vec![Note {
        text: title,
        site: None,
    }];
    for event in &decided[left_out..] {
        let mut leaf = |node: &Node| match (node.op(), trace.events.get(node.a as usize)) {
            (Some(Op::Read), Some(read)) => {
                let kind = read.kind().unwrap_or(Kind::Read);
                objects.name_of(kind, read.object, symbols)
            }
            _ => part_of_input(node, inputs),
        };
        let text = condition(&trace.nodes, event, &mut leaf);
        notes.extend(text.map(|text| Note {
            text: format!("  {}: {text}", names.of(event.thread)),
            site: Some(symbols.site(event.pc)),
        }));
    }
    notes
}

/// The name of an input, and which of its bytes these are, if they are not all.
fn part_of_input(node: &Node, inputs: &[Asked]) -> String {
    let asked = |a: &&Asked| a.thread == node.extra && a.index == node.a;
    let name = match inputs.iter().find(asked) {
        Some(found) if found.name.is_some() => {
            let same: Vec<&Asked> = inputs.iter().filter(|a| a.name == found.name).collect();
            let number = same.iter().position(|a| std::ptr::eq(*a, found));
            let name = found.name.clone().unwrap_or_default();
            match number {
                Some(number) if same.len() > 1 => format!("{name}#{}", number + 1),
                _ => name,
            }
        }
        _ => format!("input {}", node.a + 1),
    };
    let (first, bytes) = (node.b, u32::from(node.width / 8));
    match (first, bytes) {
        (0, all) if all == node.c => name,
        (_, 1) => format!("{name}[{first}]"),
        _ => format!("{name}[{first}..{}]", first + bytes),
    }
}

fn event_site(kind: Kind, event: &Event, callers: &mut Callers, symbols: &mut Symbols) -> u32 {
    let called_from = match kind.is_step() {
        true => callers.stepped(event),
        false => &[],
    };
    match kind {
        // The start routine's own first line says more than the call inside the library.
        Kind::ThreadStart => symbols.site(event.object.wrapping_add(1)),
        // The end of a thread is nowhere in the program.
        Kind::ThreadExit | Kind::ThreadLeave => symbols.site(0),
        _ => symbols.site_called_from(event.pc, called_from),
    }
}

/// A step in a witness's form.
pub fn record(
    kind: Kind,
    event: &Event,
    site: u32,
    objects: &mut Objects,
    symbols: &mut Symbols,
) -> Record {
    let names_object = !matches!(kind, Kind::Choice) && noun(kind) != "thread";
    Record {
        kind: event.kind,
        thread: event.thread,
        site,
        object: match names_object {
            true => objects.index(kind, event.object, symbols),
            false => NO_OBJECT,
        },
        value: event.value,
        preempts: false,
    }
}

/// The inputs of a job, with the places that asked for them.
pub fn inputs(job: &[raddle_protocol::job::Input], asked: &[Asked]) -> Vec<Input> {
    let asked_for = |thread, index| {
        asked
            .iter()
            .find(|a| a.thread == thread && a.index == index)
    };
    job.iter()
        .map(|input| {
            let asked = asked_for(input.thread, input.index);
            Input {
                thread: input.thread,
                index: input.index,
                name: asked.and_then(|a| a.name.clone()),
                bytes: raddle_protocol::witness::Bytes(input.bytes.clone()),
                site: asked.map(|a| a.site),
            }
        })
        .collect()
}
