//! Races, threads left behind and inversions of locks in words and places.

use crate::callers::{self, Callers};
use crate::class::Class;
use crate::describe::Failure;
use crate::memory::Memory;
use crate::report::{Names, place};
use crate::same;
use crate::symbols::{Symbols, own_place};
use crate::watch::{Mark, of_class};
use raddle_analyzer::fingerprint;
use raddle_analyzer::leaks::Leak;
use raddle_analyzer::locks::Cycle;
use raddle_analyzer::races::{Access, Race, Subject};
use raddle_protocol::Slot;
use raddle_protocol::descriptor::{What, what_of};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use raddle_protocol::witness::{self, Creation, NO_OBJECT};

/// All failures of one of the classes race and leak that a trace with records shows.
pub fn failures(class: Class, trace: &Trace, symbols: &mut Symbols) -> Vec<Failure> {
    let marks = of_class(class, trace);
    if marks.is_empty() {
        return Vec::new();
    }
    symbols.enter(&trace.loaded);
    let stacks = Stacks::of(trace, &marks, symbols);
    let describe = |mark: Mark| match &mark {
        Mark::Race(race) => describe_race(race, trace, &stacks, symbols),
        Mark::Leak(leak) => describe_leak(leak, trace, &stacks, symbols),
        Mark::Cycle(_) => unreachable!("of another class"),
    };
    marks.into_iter().map(describe).collect()
}

/// Return addresses of the events that matter: the event's own, then its callers'.
struct Stacks {
    callers: callers::At,
    /// For each thread the event that created it.
    created: Vec<(Slot, usize)>,
}

impl Stacks {
    fn of(trace: &Trace, marks: &[Mark], symbols: &Symbols) -> Stacks {
        let events = &trace.events;
        let creates = |(i, e): (usize, &Event)| {
            (e.kind == Kind::ThreadCreate as u8).then_some((e.value as Slot, i))
        };
        let created: Vec<(Slot, usize)> = events.iter().enumerate().filter_map(creates).collect();
        let mut wanted: Vec<usize> = created.iter().map(|c| c.1).collect();
        for mark in marks {
            match mark {
                Mark::Race(race) => {
                    wanted.extend([race.first.event, race.second.event]);
                    wanted.extend(match memory_of(race, events, symbols) {
                        Some(memory) => memory.origin(),
                        None => descriptor_of(race, events).1,
                    });
                }
                Mark::Leak(leak) => wanted.push(leak.created),
                Mark::Cycle(_) => {}
            }
        }
        Stacks {
            callers: callers::at(events, &wanted),
            created,
        }
    }

    /// Sites of the stack of an event, innermost first.
    fn sites(&self, events: &[Event], index: usize, symbols: &mut Symbols) -> Vec<u32> {
        callers::stack(events[index].pc, self.callers.of(index), symbols)
    }

    /// A note on what the call of this event made.
    fn note(
        &self,
        (index, text): (usize, String),
        events: &[Event],
        symbols: &mut Symbols,
    ) -> witness::Note {
        let stack = self.sites(events, index, symbols);
        let site = own_place(&stack, symbols.sites()).or(stack.first().copied());
        witness::Note { text, site }
    }

    fn creation(&self, thread: Slot, trace: &Trace, symbols: &mut Symbols) -> Option<Creation> {
        let &(_, index) = self.created.iter().find(|c| c.0 == thread)?;
        Some(Creation {
            thread,
            creator: trace.events[index].thread,
            stack: self.sites(&trace.events, index, symbols),
        })
    }
}

/// What the accesses of a race touch; `None` of a descriptor.
fn memory_of(race: &Race, events: &[Event], symbols: &Symbols) -> Option<Memory> {
    let of_memory = race.subject != Subject::Descriptor;
    of_memory.then(|| Memory::at(race.address, events, race.second.event, symbols))
}

/// The descriptor of a race: what it stands for, and the record of its making.
/// What tells a variable in a block of the heap, or in a mapping, from others: where that was made, and
/// which part of it this is. Those of several blocks that were made at one place are one, as are the
/// elements of an array that has a name.
pub fn part_of_block(race: &Race, trace: &Trace, symbols: &mut Symbols) -> Option<String> {
    symbols.enter(&trace.loaded);
    let memory = memory_of(race, &trace.events, symbols)?;
    let made = memory.origin()?;
    let stacks = Stacks::of(trace, &[Mark::Race(*race)], symbols);
    let stack = stacks.sites(&trace.events, made, symbols);
    let text = memory.text(race.address, &trace.events, &names(trace));
    Some(format!(
        "{text} of {}",
        same::names(&stack, symbols).join(" ")
    ))
}

fn descriptor_of(race: &Race, events: &[Event]) -> (&'static str, Option<usize>) {
    let sides = [race.first.event, race.second.event].map(|index| events[index].object);
    let object = sides.into_iter().find(|&object| what_of(object).is_some());
    let made = |e: &Event| e.kind == Kind::DescriptorMade as u8 && Some(e.object) == object;
    let made = events[..race.second.event].iter().rposition(made);
    (object.and_then(what_of).map_or("file", What::text), made)
}

fn describe_race(race: &Race, trace: &Trace, stacks: &Stacks, symbols: &mut Symbols) -> Failure {
    let sides = [&race.first, &race.second];
    let names = names(trace);
    let accesses = sides.map(|side| witness::Access {
        what: what(side, &trace.events),
        thread: side.thread,
        object: NO_OBJECT,
        stack: stacks.sites(&trace.events, side.event, symbols),
    });
    let mut threads: Vec<Slot> = sides.iter().map(|side| side.thread).collect();
    threads.sort_unstable();
    let created = |&thread: &Slot| stacks.creation(thread, trace, symbols);
    let threads = threads.iter().filter_map(created).collect();
    let events = &trace.events;
    let (subject, origin) = match memory_of(race, events, symbols) {
        Some(memory) => {
            let text = |index: usize| memory.origin_text(&events[index], &names);
            let origin = memory.origin().map(|index| (index, text(index)));
            (memory.text(race.address, events, &names), origin)
        }
        None => {
            let (what, made) = descriptor_of(race, events);
            let by = |index: usize| names.of(events[index].thread);
            let origin = made.map(|index| (index, format!("the {what} was made by {}", by(index))));
            (format!("descriptor {} ({what})", race.address), origin)
        }
    };
    let notes = origin.map(|origin| stacks.note(origin, events, symbols));
    let [first, second] = &accesses;
    let message = format!(
        "{} by {} and {} by {} are in no order: {subject}",
        first.what,
        names.of(first.thread),
        second.what,
        names.of(second.thread)
    );
    failure(
        Mark::Race(*race),
        message,
        &[first.stack.clone(), second.stack.clone()],
        symbols,
    )
    .with(accesses.to_vec(), threads, notes.into_iter().collect())
}

fn describe_leak(leak: &Leak, trace: &Trace, stacks: &Stacks, symbols: &mut Symbols) -> Failure {
    let creation = stacks.creation(leak.thread, trace, symbols);
    let names = names(trace);
    let stack: Vec<u32> = creation.iter().flat_map(|c| c.stack.clone()).collect();
    let message = format!(
        "{} was alive at the end of the process, and nobody had joined or detached it",
        names.of(leak.thread)
    );
    let creations = creation.into_iter().collect();
    failure(Mark::Leak(*leak), message, &[stack], symbols).with(Vec::new(), creations, Vec::new())
}

fn failure(mark: Mark, message: String, stacks: &[Vec<u32>], symbols: &mut Symbols) -> Failure {
    let class = mark.class();
    let thread = match &mark {
        Mark::Race(race) => Some(race.second.thread),
        Mark::Leak(leak) => Some(leak.thread),
        Mark::Cycle(_) => None,
    };
    let mut sites = Vec::new();
    let mut records = flags::EVENTS;
    for stack in stacks {
        let own = own_place(stack, symbols.sites());
        if own.is_none() || own != stack.first().copied() {
            records |= flags::STACKS;
        }
        let places = own.map_or_else(|| same::innermost(stack, symbols), |own| vec![own]);
        sites.extend(same::names(&places, symbols));
    }
    Failure {
        class,
        message,
        fingerprint: fingerprint::of(class.name(), &sites),
        stack: Vec::new(),
        notes: Vec::new(),
        accesses: Vec::new(),
        threads: Vec::new(),
        thread,
        mark: Some(mark),
        records,
    }
}

fn what(access: &Access, events: &[Event]) -> String {
    let event = &events[access.event];
    let (what, size) = match access.kind {
        Kind::Free => return "free".to_string(),
        Kind::Malloc => return "allocation".to_string(),
        Kind::ReadRange => ("read", event.value),
        Kind::WriteRange => ("write", event.value),
        Kind::ThreadCreate => ("write", Event::THREAD_NAME),
        Kind::Rmw if !access.write => ("failed atomic update", u64::from(event.size)),
        Kind::Read | Kind::Write | Kind::AtomicRead | Kind::AtomicWrite | Kind::Rmw => {
            (access.kind.text(), u64::from(event.size))
        }
        kind => return kind.text().to_string(),
    };
    match size {
        1 => format!("{what} of 1 byte"),
        n => format!("{what} of {n} bytes"),
    }
}

/// What the threads of an execution are called.
pub fn names(trace: &Trace) -> Names {
    Names::by_creations(trace.events.iter().map(|e| (e.kind, e.thread, e.value)))
}

/// A cycle of locks in one line, and its places.
pub fn describe_cycle(cycle: &Cycle, trace: &Trace, symbols: &mut Symbols) -> (String, Vec<u32>) {
    symbols.enter(&trace.loaded);
    let events = &trace.events;
    let n = cycle.0.len();
    let names = names(trace);
    let held = |i| cycle.held(i);
    let mut wanted: Vec<usize> = cycle.0.iter().map(|nested| nested.wanted.event).collect();
    wanted.extend((0..n).filter_map(held).map(|h| h.event));
    let callers = callers::at(events, &wanted);
    let site = |index: usize, symbols: &mut Symbols| {
        symbols.site_called_from(events[index].pc, callers.of(index))
    };
    let mut parts = Vec::new();
    let mut places = Vec::new();
    for (i, nested) in cycle.0.iter().enumerate() {
        let wants = site(nested.wanted.event, symbols);
        let has = held(i).map(|h| site(h.event, symbols));
        places.extend(has);
        places.push(wants);
        let at = |s: u32| place(&symbols.sites()[s as usize]);
        let taken = has.map_or(String::new(), |s| format!(", taken at {}", at(s)));
        parts.push(format!(
            "{} takes a lock at {} with one held{taken}",
            names.of(nested.thread),
            at(wants),
        ));
    }
    (parts.join("; "), places)
}

/// The stacks of a failure and the names of what it is about, for suppressions.
pub fn of_failure(
    failure: &Failure,
    trace: &Trace,
    symbols: &mut Symbols,
) -> (Vec<Vec<u32>>, Vec<String>) {
    symbols.enter(&trace.loaded);
    let mut names = Vec::new();
    let stacks = match &failure.mark {
        Some(Mark::Race(race)) => {
            let memory = memory_of(race, &trace.events, symbols);
            names.extend(memory.and_then(|m| m.name().map(str::to_string)));
            failure.accesses.iter().map(|a| a.stack.clone()).collect()
        }
        Some(_) => failure.threads.iter().map(|t| t.stack.clone()).collect(),
        None if failure.class == Class::Deadlock => waiting_stacks(trace, symbols),
        None => vec![failure.stack.clone()],
    };
    (stacks, names)
}

/// Where the threads of a deadlock wait and where they took what they hold.
fn waiting_stacks(trace: &Trace, symbols: &mut Symbols) -> Vec<Vec<u32>> {
    let callers = all_callers(trace);
    let mut stacks = Vec::new();
    for wait in &trace.outcome.waits {
        let callers = callers.of_waiting(wait.thread);
        stacks.push(callers::stack(wait.pc, callers, symbols));
        if wait.holder_pc != 0 {
            stacks.push(vec![symbols.site(wait.holder_pc)]);
        }
    }
    stacks
}

/// Who called the operations of this trace, up to its end.
pub fn all_callers(trace: &Trace) -> Callers {
    let mut callers = Callers::default();
    for event in &trace.events {
        callers.learn(event);
    }
    callers
}
