//! Pipes in the formula: bytes that threads pass on, first in, first out.
//!
//! A pipe is two counts: how many bytes were written, and how many were read. A step finds the sum of
//! what those before it have written or read. So a write puts its bytes at the places that begin with
//! the count that it finds, and a read takes those from its own count on: as many as it asks for, if
//! there are so many, and at least one, for which it waits. What it delivers is how it comes out.
//! Which bytes were seen there before decides: one of these outcomes if its bytes are what was
//! written to the same places, another one, not seen yet, if they are those of none.
//!
//! Event counters are objects like semaphores (`objects`).

use super::circuit::{Bool, all};
use super::forest::{Action, Forest, NodeId};
use super::formula::Formula;
use super::objects::{Result, WIDTH};
use super::places::Place;
use super::vectors::{BV, constant, equal};
use raddle_protocol::descriptor::{What, what_of};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::trace::Trace;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A pipe takes so many bytes without anybody waiting for room, and so many a write puts into it as a
/// whole.
const ROOM: u64 = 4096;
/// Counts must stay below.
const LARGEST: u64 = 1 << (WIDTH - 1);

/// Is this a pipe or an event counter?
pub fn is_channel(object: u64) -> bool {
    matches!(what_of(object), Some(What::Pipe | What::Event))
}

fn is_pipe(object: u64) -> bool {
    what_of(object) == Some(What::Pipe)
}

/// Is it a step on an event counter?
pub fn counts(action: &Action) -> bool {
    transfers(action.kind) && what_of(action.object) == Some(What::Event)
}

/// Does it move bytes?
pub fn transfers(kind: Kind) -> bool {
    matches!(kind, Kind::DescriptorRead | Kind::DescriptorWrite)
}

/// What is known of pipes and event counters besides the trees.
#[derive(Debug, Default)]
pub struct Messages {
    /// What was written or read, each once, by number.
    bytes: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u64>,
    /// How many bytes a read asks for.
    asked: BTreeMap<NodeId, u64>,
    /// Objects with steps whose conditions the formula does not know.
    unfollowed: BTreeSet<u64>,
}

impl Messages {
    fn number(&mut self, bytes: Vec<u8>) -> u64 {
        let next = self.bytes.len() as u64;
        let number = *self.numbers.entry(bytes.clone()).or_insert(next);
        if number == next {
            self.bytes.push(bytes);
        }
        number
    }

    fn bytes(&self, number: u64) -> &[u8] {
        self.bytes.get(number as usize).map_or(&[], Vec::as_slice)
    }

    fn asked(&self, read: NodeId) -> u64 {
        self.asked.get(&read).copied().unwrap_or(ROOM)
    }

    /// Is all known that decides how steps on the object come out?
    pub fn follows(&self, object: u64) -> bool {
        !self.unfollowed.contains(&object)
    }
}

/// What a step has moved.
pub struct Moved {
    /// Bytes that the caller asked for.
    asked: u64,
    bytes: Vec<u8>,
}

/// What the step of record `i` has moved, where that is recorded.
pub fn moved(trace: &Trace, i: usize) -> Option<Moved> {
    let step = trace.events[i];
    let parts = trace.events[i + 1..].iter();
    let parts = parts.take_while(|e| e.kind() == Some(Kind::Moved) && e.thread == step.thread);
    let mut asked = None;
    let mut bytes = Vec::new();
    for part in parts {
        asked = Some(u64::from(part.aux));
        let size = usize::from(part.size).min(24);
        bytes.extend_from_slice(&part.name_bytes()[..size]);
    }
    asked.map(|asked| Moved { asked, bytes })
}

impl Forest {
    /// Notes a step on a pipe or an event counter. The result is what its action says of the bytes,
    /// and how it comes out; `None`: that is not followed.
    pub fn transfer(
        &mut self,
        event: &Event,
        moved: Option<Moved>,
        at: NodeId,
    ) -> Option<(u64, u64)> {
        let kind = event.kind().filter(|kind| transfers(*kind))?;
        let object = event.object;
        if !is_channel(object) {
            return None;
        }
        let known = is_pipe(object) || self.contents.contains_key(&object);
        let Some(moved) = moved.filter(|_| known) else {
            self.messages.unfollowed.insert(object);
            return None;
        };
        let number = match is_pipe(object) {
            true => self.messages.number(moved.bytes),
            false => {
                let mut count = [0; 8];
                let size = moved.bytes.len().min(8);
                count[..size].copy_from_slice(&moved.bytes[..size]);
                u64::from_le_bytes(count)
            }
        };
        if !is_pipe(object) && number >= LARGEST {
            self.messages.unfollowed.insert(object);
            return None;
        }
        match kind {
            Kind::DescriptorRead => {
                self.messages.asked.insert(at, moved.asked);
                Some((0, number))
            }
            _ => Some((number, 0)),
        }
    }
}

/// The steps on one pipe that move bytes, by place.
#[derive(Default)]
pub struct Pipe {
    reads: BTreeMap<Place, Vec<NodeId>>,
    writes: BTreeMap<Place, Vec<NodeId>>,
}

/// The pipes whose steps are all followed.
pub type Pipes = BTreeMap<u64, Pipe>;

/// The pipes in the forest.
pub fn collect(forest: &Forest) -> Pipes {
    let mut pipes = Pipes::new();
    for (id, node) in (0..).zip(&forest.nodes) {
        if let Some(action) = node.action()
            && transfers(action.kind)
            && is_pipe(action.object)
            && forest.messages.follows(action.object)
        {
            let pipe = pipes.entry(action.object).or_default();
            let steps = match action.kind {
                Kind::DescriptorRead => &mut pipe.reads,
                _ => &mut pipe.writes,
            };
            steps.entry(forest.place(id)).or_default().push(id);
        }
    }
    pipes
}

fn number(value: u64) -> BV {
    constant(value, WIDTH)
}

/// The truth that a read of the pipe at this place delivers this message.
fn delivers(pipe: u64, place: Place, message: u64) -> Bool {
    let Place { tree, step } = place;
    Bool::new_const(format!("d{tree}_{step}_{message}_{pipe}"))
}

/// The variable of how many bytes a read at this place takes.
fn taken(place: Place) -> BV {
    BV::new_const(format!("t{}_{}", place.tree, place.step), WIDTH.into())
}

impl Formula<'_> {
    /// The sum of amounts of executed steps before `here`, or (`None`) of all.
    fn sum(&self, here: Option<Place>, amounts: &[(Place, Bool, BV)]) -> BV {
        let mut sum = number(0);
        for (place, executed, amount) in amounts {
            let mut counts = vec![executed.clone()];
            if let Some(here) = here {
                if *place == here || !self.coexist(place.tree, here.tree) {
                    continue;
                }
                counts.push(self.precedes(*place, here));
            }
            sum = sum.add(&all(&counts).ite(amount, &number(0)));
        }
        sum
    }

    /// How many bytes were written before `here`.
    fn written(&self, here: Option<Place>, pipe: &Pipe) -> BV {
        let bytes = |id| {
            let action = self.forest.node(id).action();
            let message = action.map_or(0, |a| a.value);
            number(self.forest.messages.bytes(message).len() as u64)
        };
        let amounts = pipe.writes.iter().flat_map(|(&place, nodes)| {
            let amount = move |&id: &NodeId| (place, self.executed(id), bytes(id));
            nodes.iter().map(amount)
        });
        self.sum(here, &amounts.collect::<Vec<_>>())
    }

    /// How many bytes were read before `here`.
    fn read(&self, here: Option<Place>, pipe: &Pipe) -> BV {
        let amounts = pipe.reads.iter();
        let amounts = amounts.map(|(&p, nodes)| (p, self.any_executed(nodes), taken(p)));
        self.sum(here, &amounts.collect::<Vec<_>>())
    }

    /// The constraints of all pipes.
    pub fn pipes(&self) {
        for (&object, pipe) in &self.pipes {
            for (&place, nodes) in &pipe.reads {
                let (written, read) = (
                    self.written(Some(place), pipe),
                    self.read(Some(place), pipe),
                );
                let there = written.sub(&read);
                let taken = taken(place);
                let none = equal(&there, &number(0));
                let executed = self.any_executed(nodes);
                self.solver.assert(&executed.implies(none.not()));
                let some = all(&[equal(&taken, &number(0)).not(), there.ult(&taken).not()]);
                self.solver.assert(&executed.implies(some));
                for &id in nodes.iter().filter(|&&id| !self.forest.node(id).is_stub()) {
                    let asked = number(self.forest.messages.asked(id).min(LARGEST - 1));
                    let most = there.ult(&asked).ite(&there, &asked);
                    let fact = self.executed(id).implies(equal(&taken, &most));
                    self.solver.assert(&fact);
                }
                let seen = nodes.iter().flat_map(|&id| &self.forest.node(id).next);
                let messages: BTreeSet<u64> = seen.map(|n| n.0).collect();
                for message in messages {
                    let finds = self.finds(place, message, pipe);
                    self.solver
                        .assert(&delivers(object, place, message).iff(finds));
                }
            }
        }
    }

    /// How a read of a pipe, or of an event counter that is not followed, comes out.
    pub fn received(&self, id: NodeId, action: &Action) -> Result {
        let seen = self.forest.node(id).next.iter();
        let place = self.forest.place(id);
        match self.pipes.get(&action.object) {
            // What that means is said in the end: it refers to steps that stand later in the list.
            Some(_) => Result::Seen(
                seen.map(|n| (n.0, delivers(action.object, place, n.0)))
                    .collect(),
            ),
            None => {
                let name = format!("f{}_{}", place.tree, place.step);
                let chosen = BV::new_const(name, WIDTH.into());
                let way = |(k, n): (u64, &(u64, NodeId))| (n.0, equal(&chosen, &number(k)));
                Result::Few((0..).zip(seen).map(way).collect())
            }
        }
    }

    /// The bytes of this message are those that a read at the place finds.
    fn finds(&self, place: Place, message: u64, pipe: &Pipe) -> Bool {
        let messages = &self.forest.messages;
        let got = messages.bytes(message);
        let mut parts = vec![equal(&taken(place), &number(got.len() as u64))];
        let first = self.read(Some(place), pipe);
        for (&write, nodes) in &pipe.writes {
            if self.before(place, write) || !self.coexist(place.tree, write.tree) {
                continue;
            }
            let begin = self.written(Some(write), pipe);
            for &id in nodes {
                let action = self.forest.node(id).action();
                let put = messages.bytes(action.map_or(0, |a| a.value));
                for by in clashes(got, put) {
                    let there = begin.add(&number(by as u64 & ((1 << WIDTH) - 1)));
                    let clash = [self.executed(id), equal(&first, &there)];
                    parts.push(all(&clash).not());
                }
            }
        }
        all(&parts)
    }

    /// Nothing is left in the pipe at which the thread stands.
    pub fn is_drained(&self, action: &Action) -> Bool {
        match self.pipes.get(&action.object) {
            Some(pipe) => equal(&self.written(None, pipe), &self.read(None, pipe)),
            None => Bool::from_bool(false),
        }
    }

    /// What of pipes and event counters is beyond the formula.
    pub fn channel_bounds(&self) -> BTreeSet<&'static str> {
        let mut bounds = BTreeSet::new();
        let forest = self.forest;
        let mut most: BTreeMap<u64, BTreeMap<Place, u64>> = BTreeMap::new();
        let mut closes = Vec::new();
        for (id, node) in (0..).zip(&forest.nodes) {
            let Some(action) = node.action().filter(|a| is_channel(a.object)) else {
                continue;
            };
            match action.kind {
                Kind::Close => closes.push(id),
                Kind::DescriptorWrite => {
                    let amount = match is_pipe(action.object) {
                        true => forest.messages.bytes(action.value).len() as u64,
                        false => action.value,
                    };
                    let places = most.entry(action.object).or_default();
                    let largest = places.entry(forest.place(id)).or_default();
                    *largest = amount.max(*largest);
                }
                _ => {}
            }
        }
        for (object, places) in &most {
            let sum: u64 = places.values().sum();
            let first = forest.contents.get(object).copied().unwrap_or(0);
            if is_pipe(*object) && sum > ROOM {
                bounds.insert("more than 4096 bytes in a pipe");
            }
            if sum + first >= LARGEST {
                bounds.insert("an event counter above 32767");
            }
        }
        if closes.into_iter().any(|close| self.is_used_after(close)) {
            bounds.insert("a pipe or event counter that is closed while others use it");
        }
        bounds
    }

    /// Can a step on the object come after this one, which closes a descriptor of it?
    fn is_used_after(&self, close: NodeId) -> bool {
        let forest = self.forest;
        let here = forest.place(close);
        let object = forest.node(close).action().map(|a| a.object);
        (0..forest.nodes.len() as NodeId).any(|id| {
            let place = forest.place(id);
            let action = forest.node(id).action();
            action.is_some_and(|a| transfers(a.kind) && Some(a.object) == object)
                && match place.tree == here.tree {
                    true => forest.is_above(close, id),
                    false => self.coexist(place.tree, here.tree) && !self.before(place, here),
                }
        })
    }
}

/// By how much the first place of what is read may not lie behind that of what is written, because
/// the bytes that lie at the same places then differ.
fn clashes(got: &[u8], put: &[u8]) -> impl Iterator<Item = i64> {
    let (got, put) = (got.to_vec(), put.to_vec());
    let range = 1 - got.len() as i64..put.len() as i64;
    range.filter(move |by| {
        let mut read = (*by..).zip(&got);
        read.any(|(at, byte)| {
            let written = usize::try_from(at).ok().and_then(|at| put.get(at));
            written.is_some_and(|written| written != byte)
        })
    })
}
