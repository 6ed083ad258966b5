//! The allocator against a model: random operations, and every fault that it promises to see.

use super::arena::{Arena, Fault, HUGE, Info};
use super::block::State;
use raddle_protocol::Slot;
use std::collections::BTreeMap;

/// A fresh arena; every test has a slot of its own, far from each other.
fn arena(slot: Slot) -> Arena {
    let arena = Arena::of(slot);
    assert!(arena.prepare());
    arena
}

fn allocate(arena: Arena, size: usize, align: usize) -> (usize, bool) {
    arena.allocate(size, align, 3, 0x1234).unwrap().unwrap()
}

fn byte(at: usize) -> &'static mut u8 {
    // SAFETY: the tests pass addresses in mapped parts of their own arena.
    unsafe { &mut *(at as *mut u8) }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn size(&mut self) -> usize {
        match self.below(20) {
            0 => self.below(3 * HUGE),
            1..4 => self.below(80_000),
            _ => self.below(600),
        }
    }
}

/// Blocks never overlap, keep their content, are found from every interior pointer, are zero when
/// they claim to be, and are aligned.
#[test]
fn random_operations_agree_with_a_model() {
    let arena = arena(5000);
    let mut random = Random(88172645463325252);
    let mut model: BTreeMap<usize, (usize, u8)> = BTreeMap::new();
    for round in 0..6_000u32 {
        if random.below(100) < 52 || model.is_empty() {
            let size = random.size();
            let align = 1 << random.below(13);
            let (at, zero) = allocate(arena, size, align);
            assert_eq!(at % align, 0);
            assert_eq!(at % 16, 0);
            if let Some((&before, &(len, _))) = model.range(..=at).next_back() {
                assert!(before + len <= at);
            }
            if let Some((&after, _)) = model.range(at..).next() {
                assert!(at + size <= after);
            }
            if zero {
                assert!((0..size).all(|i| *byte(at + i) == 0));
            }
            for i in 0..size {
                *byte(at + i) = round as u8;
            }
            model.insert(at, (size, round as u8));
        } else {
            let pick = random.below(model.len());
            let (&at, &(size, tag)) = model.iter().nth(pick).unwrap();
            let inside = at + random.below(size.max(1));
            let info = arena.block_of(inside).unwrap().unwrap();
            assert_eq!((info.start, info.size, info.state), (at, size, State::Live));
            assert!((0..size).all(|i| *byte(at + i) == tag));
            let new = random.size();
            if random.below(4) == 0 && arena.resize(at, new).unwrap() {
                let kept = size.min(new);
                assert!((0..kept).all(|i| *byte(at + i) == tag));
                for i in kept..new {
                    *byte(at + i) = tag;
                }
                model.insert(at, (new, tag));
            } else {
                arena.free(at, 4, 0x99).unwrap();
                model.remove(&at);
                let info = arena.block_of(at).unwrap().unwrap();
                assert_ne!(info.state, State::Live);
            }
        }
    }
    arena.verify().unwrap();
}

#[test]
fn addresses_do_not_come_back_while_in_quarantine() {
    let arena = arena(5001);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..20_000 {
        let (at, _) = allocate(arena, 2000, 16);
        assert!(seen.insert(at), "reused below the limit");
        arena.free(at, 0, 0).unwrap();
    }
    let reused = (0..40_000).any(|_| {
        let (at, _) = allocate(arena, 2000, 16);
        arena.free(at, 0, 0).unwrap();
        seen.contains(&at)
    });
    assert!(reused, "memory comes back in the end");
}

#[test]
fn alignments_above_a_chunk() {
    let arena = arena(5002);
    for shift in 17..24 {
        let at = arena.allocate_aligned(1000, 1 << shift, 0, 0).unwrap();
        assert_eq!(at % (1 << shift), 0);
        assert_eq!(arena.block_of(at + 999).unwrap().unwrap().start, at);
        arena.free(at, 0, 0).unwrap();
    }
    assert_eq!(arena.allocate_aligned(1, 1 << 40, 0, 0), None);
    arena.verify().unwrap();
}

#[test]
fn exhaustion_is_none() {
    let arena = arena(5003);
    for size in [usize::MAX, usize::MAX / 2, 1 << 33, (1 << 32) - 1] {
        assert_eq!(arena.allocate(size, 16, 0, 0), Ok(None));
    }
    let mut taken = 0;
    while arena.allocate(100 << 20, 16, 0, 0).unwrap().is_some() {
        taken += 1;
    }
    assert!((38..=40).contains(&taken), "{taken}");
    assert!(arena.allocate(10, 16, 0, 0).unwrap().is_some());
}

fn freed(arena: Arena, at: usize) -> Info {
    arena.block_of(at).unwrap().unwrap()
}

#[test]
fn faults_are_seen() {
    let arena = arena(5004);
    for size in [0, 1, 24, 100, 5000, 40_000, HUGE + 5] {
        let (at, _) = allocate(arena, size, 16);
        let block = freed(arena, at);
        *byte(at + size + 3) ^= 1;
        let overflow = Fault::Overflow {
            block,
            at: at + size + 3,
        };
        assert_eq!(arena.free(at, 1, 2), Err(overflow));
        assert_eq!(arena.verify(), Err(overflow));
        *byte(at + size + 3) ^= 1;
        *byte(at - 5) ^= 1;
        assert!(matches!(arena.free(at, 1, 2), Err(Fault::Header { .. })));
        *byte(at - 5) ^= 1;
        assert_eq!(arena.free(at + 1, 1, 2), Err(Fault::Interior(block)));
        assert_eq!(arena.free(at, 1, 0x4242), Ok(size));
        let block = freed(arena, at);
        assert_eq!(
            (block.state, block.slot, block.place),
            (State::Freed, 1, 0x4242)
        );
        assert_eq!(arena.free(at, 1, 2), Err(Fault::Freed(block)));
        assert_eq!(arena.resize(at, 10), Err(Fault::Freed(block)));
        if size > 0 && size < HUGE {
            let wrong = at + size.min(4000) - 1;
            *byte(wrong) = 0;
            assert_eq!(
                arena.verify(),
                Err(Fault::WrittenAfterFree { block, at: wrong })
            );
            *byte(wrong) = super::block::FREED;
        }
        assert_eq!(arena.verify(), Ok(()));
    }
    assert_eq!(
        arena.free(Arena::of(5004).end() - 64, 0, 0),
        Err(Fault::Wild)
    );
}

#[test]
fn accesses_are_checked() {
    let arena = arena(5006);
    let (at, _) = allocate(arena, 24, 16);
    let live = freed(arena, at);
    let behind = |n| {
        Err(Fault::Overflow {
            block: live,
            at: at + n,
        })
    };
    let before = Err(Fault::Overflow {
        block: live,
        at: at - 4,
    });
    for (from, len, expected) in [
        (at, 24, Ok(())),
        (at + 23, 1, Ok(())),
        (at + 20, 8, behind(24)),
        (at + 26, 1, behind(26)),
        (at - 4, 8, before),
    ] {
        assert_eq!(arena.check_access(from, len), expected);
    }
    arena.free(at, 1, 2).unwrap();
    let gone = freed(arena, at);
    assert_eq!(arena.check_access(at + 8, 4), Err(Fault::Freed(gone)));
}

/// A write after free is found when the block leaves quarantine, too.
#[test]
fn written_after_free_on_the_way_out() {
    let arena = arena(5005);
    let (at, _) = allocate(arena, 64, 16);
    arena.free(at, 7, 8).unwrap();
    *byte(at + 10) = 1;
    let mut found = None;
    for _ in 0..100 {
        let (big, _) = allocate(arena, 1 << 20, 16);
        if let Err(fault) = arena.free(big, 0, 0) {
            found = Some(fault);
            break;
        }
    }
    let Some(Fault::WrittenAfterFree { block, at: wrong }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(
        (block.start, block.slot, block.place, wrong),
        (at, 7, 8, at + 10)
    );
}
