//! What is remembered of every byte: its last accesses, as few as suffice.

use crate::fast::FastMap;
use crate::stop;
use std::collections::BTreeMap;

/// One access as the shadow keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Who, counted as in [`super::clock::Clock`].
    pub thread: u32,
    /// The thread's own time.
    pub time: u32,
    /// Index of the event.
    pub event: u32,
    pub write: bool,
    pub atomic: bool,
}

impl Touch {
    /// Would the two be a race, were they not ordered?
    fn conflicts(&self, other: &Touch) -> bool {
        self.thread != other.thread && (self.write || other.write) && !(self.atomic && other.atomic)
    }

    /// Does everything that conflicts with `old` conflict with `self` too? Then `old` need not be
    /// kept where it is ordered before `self`: an access that comes later and is not ordered after
    /// `old` is not ordered after `self` either.
    fn replaces(&self, old: &Touch) -> bool {
        (self.write || !old.write) && (!self.atomic || old.atomic)
    }
}

/// Accesses of some of the eight bytes of a granule.
#[derive(Clone, Debug)]
struct Part {
    bytes: u8,
    touches: Vec<Touch>,
}

type Granule = Vec<Part>;
/// Granules of a page.
const PAGE: u64 = 64;
type Page = Vec<Granule>;

/// A block of the heap, with its allocation or its release: a write of the whole block, kept here
/// until a byte is accessed.
struct Block {
    end: u64,
    touches: Vec<Touch>,
}

/// The accesses of a whole execution (FastTrack, Flanagan and Freund, PLDI 2009: mostly one per
/// byte, more only where several threads read or update it concurrently).
#[derive(Default)]
pub struct Shadow {
    pages: FastMap<u64, Page>,
    blocks: BTreeMap<u64, Block>,
}

impl Shadow {
    /// Takes in an access of `[from, to)`; `race` is told of every earlier one that conflicts and,
    /// by `ordered`, does not happen before it, with the first byte.
    pub fn access(
        &mut self,
        (from, to): (u64, u64),
        touch: Touch,
        ordered: &impl Fn(&Touch) -> bool,
        race: &mut impl FnMut(&Touch, u64),
    ) {
        let mut at = from;
        while at < to {
            stop::point();
            let granule = at >> 3;
            let end = to.min((granule + 1) << 3);
            let bytes = mask(at, end);
            let page = self.pages.entry(granule / PAGE).or_insert_with(new_page);
            let parts = &mut page[(granule % PAGE) as usize];
            let covered = match parts.as_slice() {
                [part] => part.bytes,
                parts => parts.iter().fold(0, |all, part| all | part.bytes),
            };
            if bytes & !covered != 0 {
                seed(parts, granule, bytes & !covered, &self.blocks);
            }
            visit(parts, granule, bytes, touch, ordered, race);
            at = end;
        }
    }

    /// A block comes into being; what was there before is forgotten.
    pub fn allocated(&mut self, from: u64, to: u64, touch: Touch) {
        self.forget(from, to);
        self.blocks.insert(
            from,
            Block {
                end: to,
                touches: vec![touch],
            },
        );
    }

    /// The memory begins a new life.
    pub fn forget(&mut self, from: u64, to: u64) {
        let stale: Vec<u64> = self.blocks.range(from..to).map(|(&at, _)| at).collect();
        for at in stale {
            self.blocks.remove(&at);
        }
        self.each_granule(from, to, |parts, _, bytes| {
            parts.retain_mut(|part| {
                part.bytes &= !bytes;
                part.bytes != 0
            });
        });
    }

    /// A block goes: a write of all of it.
    pub fn freed(
        &mut self,
        from: u64,
        to: u64,
        touch: Touch,
        ordered: &impl Fn(&Touch) -> bool,
        race: &mut impl FnMut(&Touch, u64),
    ) {
        if let Some(block) = self.blocks.get_mut(&from) {
            add(&mut block.touches, touch, ordered, &mut |old| {
                race(old, from)
            });
        }
        self.each_granule(from, to, |parts, granule, bytes| {
            visit(parts, granule, bytes, touch, ordered, race);
        });
    }

    /// All granules of `[from, to)` that were touched, with the bytes within.
    fn each_granule(&mut self, from: u64, to: u64, mut f: impl FnMut(&mut Granule, u64, u8)) {
        if from >= to {
            return;
        }
        let (first, last) = ((from >> 3) / PAGE, ((to - 1) >> 3) / PAGE);
        let mut numbers: Vec<u64> = match last - first < self.pages.len() as u64 {
            true => (first..=last).collect(),
            false => self.pages.keys().copied().collect(),
        };
        numbers.sort_unstable();
        for number in numbers {
            let Some(page) = self.pages.get_mut(&number) else {
                continue;
            };
            for (i, parts) in page.iter_mut().enumerate() {
                let granule = number * PAGE + i as u64;
                let (start, end) = (from.max(granule << 3), to.min((granule + 1) << 3));
                if start < end && !parts.is_empty() {
                    f(parts, granule, mask(start, end));
                }
            }
        }
    }
}

fn new_page() -> Page {
    vec![Granule::new(); PAGE as usize]
}

/// The bytes `[from, to)` of one granule.
fn mask(from: u64, to: u64) -> u8 {
    let (low, high) = (from & 7, (to - 1) & 7);
    ((0xff << low) & (0xff >> (7 - high))) as u8
}

/// Bytes that nobody has accessed are as the allocation of their block left them.
fn seed(parts: &mut Granule, granule: u64, bytes: u8, blocks: &BTreeMap<u64, Block>) {
    let (start, end) = (granule << 3, (granule + 1) << 3);
    let mut rest = bytes;
    for (&from, block) in blocks.range(..end).rev() {
        if block.end <= start {
            break;
        }
        let (low, high) = (from.max(start), block.end.min(end));
        if low >= high {
            continue;
        }
        let within = mask(low, high) & rest;
        if within != 0 {
            rest &= !within;
            parts.push(Part {
                bytes: within,
                touches: block.touches.clone(),
            });
        }
    }
    if rest != 0 {
        parts.push(Part {
            bytes: rest,
            touches: Vec::new(),
        });
    }
}

/// One access of some bytes of a granule: parts that it covers in part only are split.
fn visit(
    parts: &mut Granule,
    granule: u64,
    bytes: u8,
    touch: Touch,
    ordered: &impl Fn(&Touch) -> bool,
    race: &mut impl FnMut(&Touch, u64),
) {
    if let [part] = parts.as_mut_slice()
        && part.bytes == bytes
    {
        let at = (granule << 3) + u64::from(bytes.trailing_zeros());
        return add(&mut part.touches, touch, ordered, &mut |old| race(old, at));
    }
    let mut outside = Vec::new();
    for part in parts.iter_mut() {
        let inside = part.bytes & bytes;
        if inside != 0 && inside != part.bytes {
            outside.push(Part {
                bytes: part.bytes & !bytes,
                touches: part.touches.clone(),
            });
            part.bytes = inside;
        }
        if inside == 0 {
            continue;
        }
        let at = (granule << 3) + u64::from(inside.trailing_zeros());
        add(&mut part.touches, touch, ordered, &mut |old| race(old, at));
    }
    parts.extend(outside);
}

/// Adds an access to those of the same bytes; `race` is told of the earlier ones that it races
/// with, and those that it replaces are dropped.
fn add(
    touches: &mut Vec<Touch>,
    touch: Touch,
    ordered: &impl Fn(&Touch) -> bool,
    race: &mut dyn FnMut(&Touch),
) {
    // Mostly there is one, and it is replaced.
    if let [old] = touches.as_mut_slice()
        && (old.thread == touch.thread || ordered(old))
        && touch.replaces(old)
    {
        *old = touch;
        return;
    }
    touches.retain(|old| {
        stop::point();
        let before = old.thread == touch.thread || ordered(old);
        if !before && old.conflicts(&touch) {
            race(old);
        }
        !(before && touch.replaces(old))
    });
    touches.push(touch);
}
