//! What an atomic object hands on: release sequences (C11, 5.1.2.4, paragraphs 10 to 12) and the
//! hypothetical ones that a release fence heads (7.17.4, paragraph 2).

use super::clock::Clock;
use std::collections::BTreeMap;

/// The order of an atomic operation, by what it does to the order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    pub acquires: bool,
    pub releases: bool,
}

impl Strength {
    /// From a C11 order's number (`memory_order_relaxed` is 0, `memory_order_seq_cst` 5). Consume is
    /// acquire, as compilers have it. Sequential consistency adds nothing here: its total order is
    /// no part of happens-before.
    pub fn of(order: u64) -> Strength {
        Strength {
            acquires: matches!(order, 1 | 2 | 4) || order >= 5,
            releases: matches!(order, 3 | 4) || order >= 5,
        }
    }
}

/// Heads of the release sequences that the last value written belongs to: who, and what whoever
/// reads that value with acquire then knows.
#[derive(Clone, Debug, Default)]
struct Heads(Vec<(u32, Clock)>);

/// All atomic objects of an execution.
#[derive(Default)]
pub struct Atomics {
    heads: BTreeMap<u64, Heads>,
    /// Last known contents, with their sizes.
    values: BTreeMap<u64, (u8, u64)>,
}

impl Atomics {
    /// `thread` stores. `releases`: what the store itself, or a release fence before it, hands on.
    /// Sequences of other threads end; one of the same thread goes on.
    pub fn store(&mut self, object: u64, thread: u32, releases: Option<&Clock>) {
        let heads = self.heads.entry(object).or_default();
        heads.0.retain(|head| head.0 == thread);
        heads.add(thread, releases);
    }

    /// `thread` updates: all sequences go on.
    pub fn update(&mut self, object: u64, thread: u32, releases: Option<&Clock>) {
        self.heads.entry(object).or_default().add(thread, releases);
    }

    /// A write that is not atomic ends all sequences.
    pub fn plain_write(&mut self, from: u64, to: u64) {
        if self.heads.range(from..to).next().is_none() {
            return;
        }
        let hit: Vec<u64> = self.heads.range(from..to).map(|(&at, _)| at).collect();
        for at in hit {
            self.heads.remove(&at);
        }
    }

    /// What the sequences hand on to whoever reads the object now.
    pub fn handed_on(&self, object: u64) -> impl Iterator<Item = &Clock> {
        let heads = self.heads.get(&object).map(|heads| heads.0.as_slice());
        heads.unwrap_or_default().iter().map(|(_, clock)| clock)
    }

    /// The object holds this now.
    pub fn holds(&mut self, object: u64, size: u8, value: u64) {
        self.values.insert(object, (size, value));
    }

    /// A write that is not atomic: of interest only where an atomic operation has been.
    pub fn changes(&mut self, object: u64, size: u8, value: u64) {
        if let Some(known) = self.values.get_mut(&object) {
            *known = (size, value);
        }
    }

    /// An atomic read found `value`. `false`: nobody was seen to write it, so code that is not
    /// instrumented did.
    pub fn explains(&mut self, object: u64, size: u8, value: u64) -> bool {
        let known = self.values.insert(object, (size, value));
        known.is_none_or(|(width, content)| width != size || content == value)
    }

    /// The memory is another object's now.
    pub fn forget(&mut self, from: u64, to: u64) {
        self.plain_write(from, to);
        let known: Vec<u64> = self.values.range(from..to).map(|(&at, _)| at).collect();
        for at in known {
            self.values.remove(&at);
        }
    }
}

impl Heads {
    fn add(&mut self, thread: u32, releases: Option<&Clock>) {
        let Some(clock) = releases else { return };
        match self.0.iter_mut().find(|head| head.0 == thread) {
            Some(head) => head.1.join(clock),
            None => self.0.push((thread, clock.clone())),
        }
    }
}
