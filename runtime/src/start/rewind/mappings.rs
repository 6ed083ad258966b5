//! Changes of this process's mappings, which are undone at its end.
//!
//! Every call that makes, removes, protects or empties mappings is noted with its pages. To undo it
//! they are made again what they were in the picture: unmapped, mapped anew and filled with what
//! they held, or protected as before. A mapping is mapped anew as a whole, because the kernel does
//! not join a part to the rest. That is known to be the same only for private memory of no file
//! without further properties (`VmFlags` in `/proc/self/smaps`); a call that touches other parts of
//! the picture is not performed here.

use super::memory::{Mapping, Memory, parse};
use crate::os::{self, PAGE};
use crate::start::effects::each_line;
use core::ffi::c_int;
use core::ops::Range;
use libc::{PROT_EXEC, PROT_READ, PROT_WRITE};

/// Most mappings of the picture.
const MOST: usize = 1024;
/// Most changes in one execution.
const CHANGES: usize = 64;
/// So many sets of changes are known to be undone by what undoes them.
const PROVEN: usize = 16;
/// Properties that a mapping made anew has, too: what may be done with it, whether memory is set
/// aside for it, whether its pages may be huge (never here), whether it was written to.
const PLAIN: [&[u8]; 10] = [
    b"rd", b"wr", b"ex", b"mr", b"mw", b"me", b"ac", b"nr", b"nh", b"sd",
];

/// A mapping of the picture.
#[derive(Clone, Copy)]
struct Known {
    start: usize,
    end: usize,
    protection: c_int,
    /// Flags with which it would be made anew; 0: it cannot be.
    flags: c_int,
    /// Memory is set aside for it, as is done for what may be written, or could be before.
    accounted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Mapped or unmapped.
    Mapped,
    Protected,
    Emptied,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    start: usize,
    end: usize,
    how: How,
}

/// See the module. Zeros are a valid content: an empty list.
#[repr(C)]
pub struct Mappings {
    known: [Known; MOST],
    len: usize,
    /// There were more.
    cut: bool,
    /// The flags of the mappings have been asked for.
    asked: bool,
    changes: [Change; CHANGES],
    changed: usize,
    /// Digests of sets of changes after which the list of mappings was as in the picture again.
    proven: [u64; PROVEN],
    next: usize,
}

/// What [`Mappings::undo`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// Nothing, or what did it before.
    AsBefore,
    /// Something that has to be looked at; its digest.
    New(u64),
    Failed,
}

impl Mappings {
    /// Adds a mapping of the picture; they come in order.
    pub fn add(&mut self, mapping: &Mapping) {
        let Some(place) = self.known.get_mut(self.len) else {
            self.cut = true;
            return;
        };
        *place = Known {
            start: mapping.range.start,
            end: mapping.range.end,
            protection: mapping.protection,
            flags: 0,
            accounted: false,
        };
        self.len += 1;
    }

    /// Performs a call that can be undone, and notes it: what the kernel answered. `None`: it is no
    /// such call, and was not performed. `never`: ranges that no such call touches.
    pub fn perform(
        &mut self,
        number: i64,
        args: &[usize; 6],
        never: [Range<usize>; 2],
    ) -> Option<isize> {
        let how = how(number, args)?;
        if self.cut || self.changed == CHANGES || !self.ask() {
            return None;
        }
        let bytes = args[1].checked_next_multiple_of(PAGE)?;
        let range = args[0]..args[0].checked_add(bytes)?;
        let placed = number != libc::SYS_mmap || args[3] as c_int & PLACED != 0;
        let untouched = never.iter().all(|never| !meet(never, &range));
        if !args[0].is_multiple_of(PAGE) || !untouched || placed && !self.may_change(&range) {
            return None;
        }
        let [a, b, c, d, e, f] = *args;
        // SAFETY: the program's call, as the kernel would take it.
        let answer = unsafe { os::syscall(number, a, b, c, d, e, f) };
        let start = match number {
            libc::SYS_mmap if answer < 0 => return Some(answer),
            libc::SYS_mmap => answer as usize,
            // What failed may have been done in part.
            _ => range.start,
        };
        self.note(Change {
            start,
            end: start + bytes,
            how,
        });
        Some(answer)
    }

    fn note(&mut self, change: Change) {
        if !self.changes[..self.changed].contains(&change) {
            self.changes[self.changed] = change;
            self.changed += 1;
        }
    }

    /// Can all of the picture that lies in `range` be made anew?
    fn may_change(&self, range: &Range<usize>) -> bool {
        self.touched(range).all(|known| known.flags != 0)
    }

    /// The mappings of the picture of which a part lies in `range`.
    fn touched(&self, range: &Range<usize>) -> impl Iterator<Item = &Known> {
        let Range { start, end } = *range;
        let known = &self.known[..self.len];
        let first = known.partition_point(|known| known.end <= start);
        known[first..].iter().take_while(move |k| k.start < end)
    }

    /// Makes all mappings what they were in the picture, but for the content of `memory`, which is
    /// told what it has to put back.
    pub fn undo(&mut self, memory: &mut Memory) -> Undone {
        let changes = &self.changes[..self.changed];
        // They may come in any order.
        let digests = changes.iter().map(Change::digest);
        let digest = digests.fold(0, u64::wrapping_add);
        // What was unmapped has to be there before it is protected.
        for how in [How::Mapped, How::Protected, How::Emptied] {
            for change in changes.iter().filter(|change| change.how == how) {
                if !self.undo_one(change, memory) {
                    return Undone::Failed;
                }
            }
        }
        let nothing = core::mem::replace(&mut self.changed, 0) == 0;
        let proven = &self.proven[..self.next.min(PROVEN)];
        match nothing || proven.contains(&digest) {
            true => Undone::AsBefore,
            false => Undone::New(digest),
        }
    }

    fn undo_one(&self, change: &Change, memory: &mut Memory) -> bool {
        let range = change.start..change.end;
        let mut touched = self.touched(&range);
        match change.how {
            How::Mapped => {
                os::unmap(range.start as *mut u8, range.end - range.start);
                touched.all(|known| {
                    memory.fill(&(known.start..known.end));
                    known.map_again()
                })
            }
            How::Protected => touched.all(|known| known.protect(&range)),
            How::Emptied => {
                memory.fill(&range);
                true
            }
        }
    }

    /// The mappings are as in the picture after [`Undone::New`].
    pub fn prove(&mut self, digest: u64) {
        self.proven[self.next % PROVEN] = digest;
        self.next += 1;
    }

    /// Asks for the flags, once: nothing has changed yet. False: the kernel does not answer.
    fn ask(&mut self) -> bool {
        if self.asked {
            return true;
        }
        let (mut at, mut plain, mut empty) = (0..0, false, true);
        let read = each_line(c"/proc/self/smaps", |line| {
            if let Some(mapping) = parse(line) {
                plain = mapping.is_plain();
                empty = true;
                at = mapping.range;
            } else if line.starts_with(b"Rss:") || line.starts_with(b"Swap:") {
                empty &= line.ends_with(b" 0 kB");
            } else if let Some(flags) = line.strip_prefix(b"VmFlags:") {
                self.learn(&at, plain, empty, flags);
            }
        });
        self.asked = read.is_some();
        self.asked
    }

    fn learn(&mut self, range: &Range<usize>, plain: bool, empty: bool, flags: &[u8]) {
        let known = &mut self.known[..self.len];
        let Ok(at) = known.binary_search_by_key(&range.start, |known| known.start) else {
            return;
        };
        let known = &mut known[at];
        // Only of what may be written is the content kept.
        let kept = known.protection & PROT_WRITE != 0 || empty;
        if let Some(made) = flags_of(flags).filter(|_| plain && kept && known.end == range.end) {
            known.flags = made;
            known.accounted = flags.split(|&b| b == b' ').any(|word| word == b"ac");
        }
    }
}

impl Known {
    /// Makes the mapping what it is in the picture; false: that failed.
    fn map_again(&self) -> bool {
        let len = self.end - self.start;
        let former = match self.accounted {
            true => self.protection | PROT_WRITE,
            false => self.protection,
        };
        os::map_at(self.start, len, former, self.flags)
            && (former == self.protection || os::set_protection(self.start, len, self.protection))
    }

    /// Protects what lies in `range` as in the picture; false: that failed.
    fn protect(&self, range: &Range<usize>) -> bool {
        let start = self.start.max(range.start);
        let len = self.end.min(range.end) - start;
        if self.protection & PROT_WRITE == 0 {
            // Nothing was there.
            os::forget_memory(start, len);
        }
        os::set_protection(start, len, self.protection)
    }
}

impl Change {
    fn digest(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for word in [self.start, self.end, self.how as usize] {
            hash = (hash ^ word as u64).wrapping_mul(0x0000_0100_0000_01b3);
            hash ^= hash >> 29;
        }
        hash
    }
}

const PLACED: c_int = libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE;

/// What kind of a change a call is; `None`: one that is not undone.
fn how(number: i64, args: &[usize; 6]) -> Option<How> {
    const ACCESS: usize = (PROT_READ | PROT_WRITE | PROT_EXEC) as usize;
    const WANTED: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    const ALLOWED: c_int = WANTED | PLACED | libc::MAP_NORESERVE | libc::MAP_STACK;
    let flags = args[3] as c_int;
    match number {
        libc::SYS_mmap if args[2] & !ACCESS == 0 => {
            (flags & WANTED == WANTED && flags & !ALLOWED == 0).then_some(How::Mapped)
        }
        libc::SYS_munmap => Some(How::Mapped),
        libc::SYS_mprotect => (args[2] & !ACCESS == 0).then_some(How::Protected),
        libc::SYS_madvise => (args[2] == libc::MADV_DONTNEED as usize).then_some(How::Emptied),
        _ => None,
    }
}

/// The flags of a call that makes a mapping with such `VmFlags`; `None`: there is none that is
/// known to.
fn flags_of(text: &[u8]) -> Option<c_int> {
    let mut flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    for word in text.split(|&b| b == b' ').filter(|word| !word.is_empty()) {
        if !PLAIN.contains(&word) {
            return None;
        }
        match word {
            b"nr" => flags |= libc::MAP_NORESERVE,
            b"nh" => flags |= libc::MAP_STACK,
            _ => {}
        }
    }
    Some(flags)
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::{How, flags_of, how};
    use libc::{MAP_ANONYMOUS, MAP_FIXED, MAP_NORESERVE, MAP_PRIVATE, MAP_SHARED, MAP_STACK};

    #[test]
    fn calls_that_can_be_undone_are_told_from_others() {
        let own = (MAP_PRIVATE | MAP_ANONYMOUS) as usize;
        let table = [
            (libc::SYS_mmap, [3, own], Some(How::Mapped)),
            (
                libc::SYS_mmap,
                [3, own | MAP_STACK as usize],
                Some(How::Mapped),
            ),
            (libc::SYS_mmap, [3, MAP_PRIVATE as usize], None),
            (
                libc::SYS_mmap,
                [3, (MAP_SHARED | MAP_ANONYMOUS) as usize],
                None,
            ),
            (
                libc::SYS_mmap,
                [3, own | libc::MAP_GROWSDOWN as usize],
                None,
            ),
            (libc::SYS_mmap, [3, own | libc::MAP_LOCKED as usize], None),
            (libc::SYS_munmap, [0, 0], Some(How::Mapped)),
            (libc::SYS_mprotect, [1, 0], Some(How::Protected)),
            (libc::SYS_mprotect, [libc::PROT_GROWSDOWN as usize, 0], None),
            (
                libc::SYS_madvise,
                [libc::MADV_DONTNEED as usize, 0],
                Some(How::Emptied),
            ),
            (libc::SYS_madvise, [libc::MADV_FREE as usize, 0], None),
            (libc::SYS_madvise, [libc::MADV_DONTFORK as usize, 0], None),
            (libc::SYS_mremap, [0, 0], None),
            (libc::SYS_brk, [0, 0], None),
        ];
        for (number, [third, fourth], expected) in table {
            let found = how(number, &[0x1000, 0x1000, third, fourth, 0, 0]);
            assert_eq!(
                found, expected,
                "call {number} with {third:#x}, {fourth:#x}"
            );
        }
    }

    #[test]
    fn only_plain_memory_is_mapped_anew() {
        let base = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
        let table = [
            (" rd wr mr mw me ac sd ", Some(base)),
            (" mr mw me nr nh sd", Some(base | MAP_NORESERVE | MAP_STACK)),
            (" rd wr mr mw me gd ac", None),
            (" rd wr mr mw me lo ac", None),
            (" rd wr mr mw me ac dd sd", None),
            (" rd wr mr mw me ac wf", None),
        ];
        for (text, expected) in table {
            assert_eq!(flags_of(text.as_bytes()), expected, "{text}");
        }
    }
}
