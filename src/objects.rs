//! Names for the objects that events refer to: variables by their own names, everything else by
//! a made-up one that stays the same within a witness.

use crate::symbols::Symbols;
use raddle_protocol::arena;
use raddle_protocol::descriptor::{self, What};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::uses::Uses;
use raddle_protocol::witness::{Block, NO_OBJECT, Object};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Gives names on first use.
#[derive(Default)]
pub struct Objects {
    named: Vec<Object>,
    by_address: HashMap<u64, u32>,
    /// Blocks allocated so far: first address, with the block's number once it has a name.
    blocks: BTreeMap<u64, (Block, Option<usize>)>,
    block_names: usize,
    mapping_names: usize,
    /// Thread-local variables: first address, bytes, base of the module, whose.
    thread_locals: Vec<(u64, u64, u64, String)>,
    /// What stands for words that are futexes: first address, bytes, the word.
    futexes: Vec<(u64, u64, u64)>,
    /// What stands for states of the library, and their names.
    states: Vec<(Range<u64>, String)>,
    /// Where the objects of descriptors were made; their numbers in the place of a size.
    made: BTreeMap<u64, Block>,
    counts: HashMap<&'static str, usize>,
}

impl Objects {
    /// Notes an allocation.
    pub fn allocated(&mut self, event: &Event, site: u32) {
        let block = Block {
            site,
            thread: event.thread,
            size: event.value,
        };
        self.blocks.insert(event.object, (block, None));
    }

    /// Notes thread-local variables ([`Kind::ThreadLocal`]).
    pub fn thread_local(&mut self, event: &Event, owner: String) {
        let one = (event.object, event.value, event.pc, owner);
        self.thread_locals.push(one);
    }

    /// Notes what stands for a futex ([`Kind::Futex`]).
    pub fn futex(&mut self, event: &Event) {
        let one = (event.object, event.aux.into(), event.value);
        self.futexes.push(one);
    }

    /// Notes what stands for a state of the library ([`Kind::State`]).
    pub fn state(&mut self, event: &Event, name: Option<String>) {
        let end = event.object + u64::from(event.aux);
        self.states
            .push((event.object..end, name.unwrap_or_default()));
    }

    /// Notes the making of an object with descriptors ([`Kind::DescriptorMade`]).
    pub fn made(&mut self, event: &Event, site: u32) {
        let made = Block {
            site,
            thread: event.thread,
            size: event.value,
        };
        self.made.insert(event.object, made);
    }

    /// The index of the object that `kind` refers to at `address`; [`NO_OBJECT`] for 0.
    pub fn index(&mut self, kind: Kind, address: u64, symbols: &Symbols) -> u32 {
        if address == 0 {
            return NO_OBJECT;
        }
        if let Some(&known) = self.by_address.get(&address) {
            return known;
        }
        let (name, block) = self.name(kind, address, symbols);
        let index = self.named.len() as u32;
        self.named.push(Object {
            address,
            name,
            block,
        });
        self.by_address.insert(address, index);
        index
    }

    /// The name of the object at an address.
    pub fn name_of(&mut self, kind: Kind, address: u64, symbols: &Symbols) -> String {
        let index = self.index(kind, address, symbols);
        let object = self.named.get(index as usize);
        object.map_or_else(|| format!("{address:#x}"), |object| object.name.clone())
    }

    /// All named objects.
    pub fn into_named(self) -> Vec<Object> {
        self.named
    }

    fn name(&mut self, kind: Kind, address: u64, symbols: &Symbols) -> (String, Option<Block>) {
        if let Some((_, name)) = self.states.iter().find(|s| s.0.contains(&address)) {
            return (name.clone(), None);
        }
        let mut futexes = self.futexes.iter();
        let futex = futexes.find(|f| address >= f.0 && address - f.0 < f.1);
        if let Some(&(.., word)) = futex {
            return (
                format!("futex {}", self.name_of(Kind::AtomicRead, word, symbols)),
                None,
            );
        }
        // Bytes there stand for it (`runtime/src/access/library.rs`).
        if symbols.is_data_of_runtime(address) || Uses::is_object(address) {
            return (LIBRARY.to_string(), None);
        }
        if let Some((variable, within)) = symbols.variable(address) {
            return (with_offset(variable, within), None);
        }
        let mut locals = self.thread_locals.iter().rev();
        let local = locals.find(|v| address >= v.0 && address - v.0 < v.1);
        if let Some((first, _, base, owner)) = local
            && let Some((variable, within)) = symbols.thread_local(*base, address - first)
        {
            return (with_offset(&format!("{variable} of {owner}"), within), None);
        }
        let block = self
            .blocks
            .range_mut(..=address)
            .next_back()
            .filter(|(start, (block, _))| address - *start < block.size.max(1));
        if let Some((start, (block, number))) = block {
            let (noun, count) = match arena::slot_of(*start) {
                Some(_) => ("heap", &mut self.block_names),
                None => ("mapping", &mut self.mapping_names),
            };
            let number = *number.get_or_insert_with(|| {
                *count += 1;
                *count
            });
            let name = with_offset(&format!("{noun}#{number}"), address - start);
            return (name, Some(block.clone()));
        }
        let noun = match noun(kind) {
            _ if descriptor::what_of(address).is_some() => {
                descriptor::what_of(address).map_or("descriptor", What::text)
            }
            "memory" if arena::slot_of(address).is_some() => "heap?",
            "memory" => "local",
            noun => noun,
        };
        let count = self.counts.entry(noun).or_default();
        *count += 1;
        (format!("{noun}#{count}"), self.made.get(&address).cloned())
    }
}

/// The name of what the C library keeps between calls.
pub const LIBRARY: &str = "what the C library keeps";

fn with_offset(name: &str, within: u64) -> String {
    match within {
        0 => name.to_string(),
        _ => format!("{name}+{within}"),
    }
}

/// What kind of object an operation works on.
pub fn noun(kind: Kind) -> &'static str {
    use Kind::*;
    match kind {
        MutexLock | MutexTryLock | MutexTimedLock | MutexUnlock | MutexInit | MutexDestroy => {
            "mutex"
        }
        CondWait | CondWake | CondSignal | CondBroadcast | CondDestroy | CondLeave => "cond",
        RwRead | RwWrite | RwTryRead | RwTryWrite | RwUnlock | RwDestroy | RwQueue => "rwlock",
        BarrierArrive | BarrierLeave | BarrierDestroy => "barrier",
        SemWait | SemTryWait | SemTimedWait | SemPost | SemGetValue | SemDestroy => "semaphore",
        SpinLock | SpinTryLock | SpinUnlock | SpinDestroy => "spinlock",
        OnceEnter | OnceDone => "once",
        FutexWait | FutexWake | FutexResume => "futex",
        ThreadStart | ThreadExit | ThreadLeave | ThreadCreate | ThreadDetach | ThreadCancel => {
            "thread"
        }
        Cancelled | CancellationPoint => "thread",
        ExitNext | AtExit => "handlers",
        Ask => "setting",
        kind if kind.joins() => "thread",
        _ => "memory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn blocks_and_unknown_objects_get_stable_names() {
        let symbols = Symbols::new(&[], Path::new("/x"));
        let mut objects = Objects::default();
        let malloc = |object, value| Event {
            object,
            value,
            thread: 2,
            ..Event::default()
        };
        objects.allocated(&malloc(arena::BASE + 64, 32), 5);
        objects.allocated(&malloc(arena::BASE + 128, 8), 6);
        let table = [
            (Kind::Read, arena::BASE + 132, "heap#1+4"),
            (Kind::MutexLock, arena::BASE + 64, "heap#2"),
            (Kind::Write, arena::BASE + 95, "heap#2+31"),
            (Kind::Write, arena::BASE + 96, "heap?#1"),
            (Kind::Read, 0x7fff_0000_0000, "local#1"),
            (Kind::MutexLock, 0x7fff_0000_0040, "mutex#1"),
            (Kind::MutexLock, 0x7fff_0000_0080, "mutex#2"),
            (Kind::MutexUnlock, 0x7fff_0000_0040, "mutex#1"),
            (Kind::CondSignal, 0x7fff_0000_00c0, "cond#1"),
        ];
        let indices: Vec<u32> = table
            .iter()
            .map(|row| objects.index(row.0, row.1, &symbols))
            .collect();
        assert_eq!(objects.index(Kind::Yield, 0, &symbols), NO_OBJECT);
        let named = objects.into_named();
        for (row, index) in table.iter().zip(indices) {
            assert_eq!(named[index as usize].name, row.2);
        }
        assert_eq!(named[0].block.as_ref().unwrap().site, 6);
    }
}
