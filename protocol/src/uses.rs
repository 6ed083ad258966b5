//! What one call does to the states that the C library and the kernel keep
//! ([`crate::effects::State`]), and to the objects behind descriptors that others may wait for, in two
//! words: so a call is one step, whatever it uses.

use crate::conflict::Access;

/// The places that stand for states are below this one; those of objects behind descriptors follow.
pub const OBJECTS: usize = 288;
/// One past the last place.
pub const PLACES: usize = 1 << PLACE_BITS;

const PLACE_BITS: u32 = 9;
/// Bits of one entry: a place, what is done to it; 0: none.
const BITS: u32 = PLACE_BITS + 2;
const ENTRY: u64 = (1 << BITS) - 1;
/// Entries in a word.
const IN_WORD: u32 = 5;
/// Bits of a number of pages, beside which there is room for three entries.
const PAGES_BITS: u32 = 31;
/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// In the top bits of the first word, so that it is no address.
const TAG: u64 = 0x72 << 56;
const TAGGED: u64 = 0xff << 56;
/// Instead of the second word: there is no place for all of them.
const TOO_MANY: u64 = 1 << (BITS * IN_WORD);

/// The place of an object behind a descriptor ([`crate::descriptor`]).
pub const fn place_of_object(object: u64) -> usize {
    let mixed = object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    OBJECTS + mixed as usize % (PLACES - OBJECTS)
}

/// What one call uses: at most ten places, or an unknown number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    words: [u64; 2],
}

impl Uses {
    /// Nothing.
    pub const NONE: Uses = Uses { words: [0; 2] };

    /// Just one.
    pub fn one(place: usize, access: Access) -> Uses {
        let mut uses = Uses::NONE;
        uses.add(place, access);
        uses
    }

    /// Adds a place below [`PLACES`]; one that is there already is changed if both differ.
    pub fn add(&mut self, place: usize, access: Access) {
        let place = (place % PLACES) as u64;
        for word in &mut self.words {
            for n in 0..IN_WORD {
                let shift = n * BITS;
                let entry = *word >> shift & ENTRY;
                let known = entry >> 2 == place && entry != 0;
                if entry == 0 || known {
                    let before = Access::of((entry & 3) as u32).filter(|_| known);
                    let access = before.map_or(access, |before| before.and(access));
                    *word &= !(ENTRY << shift);
                    *word |= (place << 2 | access as u64) << shift;
                    return;
                }
            }
        }
        self.words[1] |= TOO_MANY;
    }

    /// All of another call's, too.
    pub fn join(&mut self, other: Uses) {
        for (place, access) in other.iter() {
            self.add(place, access);
        }
        self.words[1] |= other.words[1] & TOO_MANY;
    }

    pub const fn is_empty(self) -> bool {
        self.words[0] == 0
    }

    /// As a record has it: its object and its value.
    pub const fn record(self) -> (u64, u64) {
        (self.words[0] | TAG, self.words[1])
    }

    /// Inverse of [`Uses::record`].
    pub const fn of_record(object: u64, value: u64) -> Uses {
        Uses {
            words: [object & !TAGGED, value],
        }
    }

    /// The `value` of a record of a call that acts on so many pages ([`crate::event::Kind::Remap`]) and has
    /// these uses; `None`: there is no room for them.
    pub const fn with_pages(self, pages: u64) -> Option<u64> {
        let fits = self.words[1] == 0 && self.words[0] >> (64 - PAGES_BITS) == 0;
        let most = (1 << PAGES_BITS) - 1;
        let pages = if pages < most { pages } else { most };
        if fits {
            Some(pages | self.words[0] << PAGES_BITS)
        } else {
            None
        }
    }

    /// Inverse of [`Uses::with_pages`]: how many bytes these pages have, and the uses.
    pub const fn of_pages(value: u64) -> (u64, Uses) {
        let pages = value & ((1 << PAGES_BITS) - 1);
        let uses = Uses {
            words: [value >> PAGES_BITS, 0],
        };
        (pages * PAGE, uses)
    }

    /// Is this the object of such a record?
    pub const fn is_object(object: u64) -> bool {
        object & TAGGED == TAG
    }

    /// Both words; the second one is larger than the first, which is not so where there are too many.
    pub(crate) const fn as_range(self) -> Option<(u64, u64)> {
        match self.words[1] & TOO_MANY {
            0 => Some((self.words[0], self.words[1] | 1 << 63)),
            _ => None,
        }
    }

    pub(crate) const fn of_range(first: u64, end: u64) -> Uses {
        Uses {
            words: [first, end & !(1 << 63)],
        }
    }

    /// What is used, and how.
    pub fn iter(self) -> impl Iterator<Item = (usize, Access)> {
        let entries = self
            .words
            .into_iter()
            .flat_map(|word| (0..IN_WORD).map(move |n| word >> (n * BITS) & ENTRY));
        entries.filter_map(|entry| Some(((entry >> 2) as usize, Access::of((entry & 3) as u32)?)))
    }

    /// Is anything changed or added to?
    pub fn changes(self) -> bool {
        self.words[1] & TOO_MANY != 0 || self.iter().any(|(_, access)| !access.is_look())
    }

    /// Does the order of two such calls matter?
    pub fn conflicts(self, other: Uses) -> bool {
        (self.words[1] | other.words[1]) & TOO_MANY != 0
            || self.iter().any(|(place, access)| {
                let same = |&(its, _): &(usize, Access)| its == place;
                other
                    .iter()
                    .find(same)
                    .is_some_and(|(_, its)| access.conflicts(its))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Access::{Adds, Changes, Looks};

    #[test]
    fn what_is_added_is_there_once() {
        let mut uses = Uses::NONE;
        assert!(uses.is_empty() && !uses.changes());
        for n in 0..10 {
            uses.add(n * 51, Looks);
        }
        assert!(!uses.changes() && uses.iter().count() == 10);
        uses.add(51, Adds);
        uses.add(102, Looks);
        let (object, value) = uses.record();
        assert!(Uses::is_object(object) && !Uses::is_object(value));
        let uses = Uses::of_record(object, value);
        let changed: [(usize, Access); 1] = [(51, Changes)];
        assert!(uses.iter().filter(|one| one.1 != Looks).eq(changed));
        let (first, end) = uses.as_range().expect("there is place");
        assert!(first < end && Uses::of_range(first, end) == uses);
    }

    #[test]
    fn only_looks_and_only_additions_commute() {
        let table = [
            (Looks, Looks, false),
            (Looks, Adds, true),
            (Looks, Changes, true),
            (Adds, Adds, false),
            (Adds, Changes, true),
            (Changes, Changes, true),
        ];
        for (a, b, expected) in table {
            for (a, b) in [(a, b), (b, a)] {
                assert_eq!(
                    Uses::one(7, a).conflicts(Uses::one(7, b)),
                    expected,
                    "{a:?} {b:?}"
                );
                assert!(!Uses::one(7, a).conflicts(Uses::one(8, b)));
            }
        }
    }

    #[test]
    fn too_many_meet_everything() {
        let mut uses = Uses::NONE;
        for n in 0..11 {
            uses.add(n, Looks);
        }
        assert!(uses.changes() && uses.as_range().is_none());
        let (object, value) = uses.record();
        assert!(Uses::of_record(object, value).conflicts(Uses::one(500, Looks)));
    }

    #[test]
    fn objects_have_places_of_their_own() {
        for k in 0..1000 {
            let place = place_of_object(0x7101_0000_0000_0000 + k);
            assert!((OBJECTS..PLACES).contains(&place));
        }
    }
}
