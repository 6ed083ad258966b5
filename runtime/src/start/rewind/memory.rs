//! The pages of this process as they were at one moment.
//!
//! A page can be written without a fault only if it is this process's alone, so only such pages
//! are put back, and which ones they are is asked again whenever there was a fault.

use crate::os::{self, PAGE};
use crate::start::effects::each_line;
use core::ffi::c_int;
use core::ops::Range;

/// Most pages of which the content is kept.
const MOST: usize = 2048;
/// Most pages that are known.
const KNOWN: usize = 2 * MOST;
/// Bytes of the whole: the table, then the contents.
pub const BYTES: usize = KNOWN * size_of::<Page>() + MOST * PAGE;

/// A page that is put back, or may have to be.
#[derive(Clone, Copy)]
#[repr(C)]
struct Page {
    address: usize,
    /// Number of its content among those that are kept, from 1; 0: zeros.
    content: u32,
    /// It is this process's alone.
    ours: u32,
}

/// See the module. The table and the contents are read-only while the program runs.
pub struct Memory {
    place: usize,
    /// Not part of the picture.
    except: Range<usize>,
    pages: usize,
    contents: usize,
    /// Hash of the list of mappings.
    mappings: u64,
}

/// A line of the list of mappings.
#[derive(Debug, PartialEq, Eq)]
pub struct Mapping {
    pub range: Range<usize>,
    pub protection: c_int,
    private: bool,
    of_file: bool,
    /// The kernel knows it as the stack, or as something else.
    named: bool,
}

impl Mapping {
    /// Can the program change its content without anybody noticing?
    fn is_writable(&self) -> bool {
        self.private && self.protection & libc::PROT_WRITE != 0
    }

    /// Is it nothing but memory?
    pub fn is_plain(&self) -> bool {
        self.private && !self.of_file && !self.named
    }
}

/// What the kernel says of a page (`/proc/self/pagemap`).
#[derive(Clone, Copy)]
struct Entry(u64);

impl Entry {
    fn is_present(self) -> bool {
        self.0 >> 63 != 0
    }

    fn is_swapped(self) -> bool {
        self.0 >> 62 & 1 != 0
    }

    /// Present, not of a file, and of no other process.
    fn is_ours(self) -> bool {
        let (of_file, exclusive) = (self.0 >> 61 & 1 != 0, self.0 >> 56 & 1 != 0);
        self.is_present() && exclusive && !of_file
    }
}

impl Memory {
    /// Nothing yet; `place`: [`BYTES`] writable bytes.
    pub fn new(place: usize, except: Range<usize>) -> Memory {
        Memory {
            place,
            except,
            pages: 0,
            contents: 0,
            mappings: 0,
        }
    }

    /// Takes the picture, of which `each` sees all mappings; false: it cannot be taken.
    pub fn picture(&mut self, each: impl FnMut(&Mapping)) -> bool {
        let mappings = self.walk(each, |memory, mapping, address, entry| {
            let wanted = entry.is_present() || mapping.of_file;
            !entry.is_swapped() && (!wanted || memory.keep(address, entry.is_ours()))
        });
        self.mappings = mappings.unwrap_or_default();
        self.protect();
        mappings.is_some()
    }

    /// There were faults: finds the pages that became this process's own; false: the memory cannot
    /// be put back.
    pub fn look_again(&mut self) -> bool {
        self.unprotect();
        let nothing = |_: &Mapping| {};
        let mappings = self.walk(nothing, |memory, _, address, entry| {
            !entry.is_swapped() && (!entry.is_present() || memory.note(address, entry.is_ours()))
        });
        self.protect();
        mappings == Some(self.mappings)
    }

    /// The content of a range is gone: what is kept of it has to be put back.
    pub fn fill(&mut self, range: &Range<usize>) {
        let within = |page: &&Page| page.address < range.end;
        let first = self
            .known()
            .partition_point(|page| page.address < range.start);
        let pages = self.known()[first..].iter().take_while(within);
        if pages.clone().all(|page| page.ours != 0) {
            return;
        }
        let end = first + pages.count();
        self.unprotect();
        for at in first..end {
            // SAFETY: below the number of pages.
            unsafe { (*(self.place as *mut Page).add(at)).ours = 1 };
        }
        self.protect();
    }

    fn unprotect(&self) {
        os::set_protection(self.place, BYTES, libc::PROT_READ | libc::PROT_WRITE);
    }

    fn protect(&self) {
        os::set_protection(self.place, BYTES, libc::PROT_READ);
    }

    /// Makes all pages as they are in the picture. Nothing may be in use that is part of it.
    pub fn put_back(&self) {
        for page in self.known().iter().filter(|page| page.ours != 0) {
            // SAFETY: mapped and writable, since the mappings are still the same; the other page is
            // not part of the picture.
            unsafe {
                match page.content {
                    0 => os::clear_page(page.address),
                    n => os::copy_page(self.content(n), page.address),
                }
            }
        }
    }

    fn known(&self) -> &[Page] {
        // SAFETY: so many were written.
        unsafe { core::slice::from_raw_parts(self.place as *const Page, self.pages) }
    }

    fn content(&self, n: u32) -> usize {
        self.place + KNOWN * size_of::<Page>() + (n as usize - 1) * PAGE
    }

    fn find(&self, address: usize) -> Result<usize, usize> {
        self.known()
            .binary_search_by_key(&address, |page| page.address)
    }

    fn add(&mut self, page: Page) -> bool {
        let Err(at) = self.find(page.address) else {
            return false;
        };
        if self.pages == KNOWN {
            return false;
        }
        // SAFETY: there is room for one more.
        unsafe {
            let to = (self.place as *mut Page).add(at);
            core::ptr::copy(to, to.add(1), self.pages - at);
            to.write(page);
        }
        self.pages += 1;
        true
    }

    /// Keeps the content of a page; false: there is no room, or it cannot be read.
    fn keep(&mut self, address: usize, ours: bool) -> bool {
        if self.contents == MOST {
            return false;
        }
        self.contents += 1;
        let content = self.contents as u32;
        // SAFETY: room for its content. A file may end before its mapping.
        if !unsafe { os::try_copy_page(address, self.content(content)) } {
            return false;
        }
        let ours = u32::from(ours);
        self.add(Page {
            address,
            content,
            ours,
        })
    }

    /// A page as it is now; false: it has changed although it is not ours.
    fn note(&mut self, address: usize, ours: bool) -> bool {
        match self.find(address) {
            Ok(at) if ours => {
                // SAFETY: below the number of pages.
                unsafe { (*(self.place as *mut Page).add(at)).ours = 1 };
                true
            }
            Ok(at) => {
                let page = self.known()[at];
                page.ours != 0 || self.is_unchanged(&page)
            }
            Err(_) if ours => self.add(Page {
                address,
                content: 0,
                ours: 1,
            }),
            // The kernel's page of zeros.
            Err(_) => true,
        }
    }

    fn is_unchanged(&self, page: &Page) -> bool {
        // SAFETY: mapped pages.
        let words = |at: usize| unsafe { core::slice::from_raw_parts(at as *const u64, PAGE / 8) };
        page.content != 0 && words(page.address) == words(self.content(page.content))
    }

    /// Calls `mappings` for every mapping, and `each` for every page of private writable ones that
    /// the kernel knows of, and for all of those of files. The hash of the list of mappings; `None`:
    /// `each` returned false, or the kernel did not answer.
    fn walk(
        &mut self,
        mut mappings: impl FnMut(&Mapping),
        mut each: impl FnMut(&mut Memory, &Mapping, usize, Entry) -> bool,
    ) -> Option<u64> {
        let map = os::open(c"/proc/self/pagemap");
        if map < 0 {
            return None;
        }
        let (mut hash, mut fine) = (0xcbf2_9ce4_8422_2325u64, true);
        let read = each_line(c"/proc/self/maps", |line| {
            let Some(mapping) = parse(line) else {
                fine = false;
                return;
            };
            if self.except.contains(&mapping.range.start) {
                return;
            }
            for &byte in line {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            mappings(&mapping);
            if fine && mapping.is_writable() {
                fine = entries(map, &mapping, |at, entry| each(self, &mapping, at, entry));
            }
        });
        os::close(map);
        (read.is_some() && fine).then_some(hash)
    }
}

/// A line of `/proc/self/maps`, or one that begins a mapping in `/proc/self/smaps`.
pub fn parse(line: &[u8]) -> Option<Mapping> {
    let mut fields = line.split(|&b| b == b' ');
    let mut ends = fields.next()?.split(|&b| b == b'-').map(hexadecimal);
    let range = ends.next()??..ends.next()??;
    let permissions = fields.next()?;
    let has = |at: usize, letter| permissions.get(at) == Some(&letter);
    let accesses = [
        (b'r', libc::PROT_READ),
        (b'w', libc::PROT_WRITE),
        (b'x', libc::PROT_EXEC),
    ];
    let allowed = (0..)
        .zip(accesses)
        .filter(|&(at, (letter, _))| has(at, letter));
    Some(Mapping {
        range,
        protection: allowed.map(|(_, (_, access))| access).sum(),
        private: has(3, b'p'),
        of_file: fields.nth(2)? != b"0",
        named: fields.any(|field| !field.is_empty()),
    })
}

fn hexadecimal(text: &[u8]) -> Option<usize> {
    let text = core::str::from_utf8(text).ok()?;
    usize::from_str_radix(text, 16).ok()
}

/// Calls `each` for the pages of `mapping` that are present or swapped, or of a file; false: it
/// returned false, or the kernel did not answer.
fn entries(map: c_int, mapping: &Mapping, mut each: impl FnMut(usize, Entry) -> bool) -> bool {
    if mapping.of_file {
        return look_up(map, mapping.range.clone(), &mut each);
    }
    let mut start = mapping.range.start;
    while start < mapping.range.end {
        let mut found = [[0u64; 3]; 32];
        let Some((count, next)) = os::scan_pages(map, start..mapping.range.end, &mut found) else {
            return false;
        };
        let regions = found[..count].iter();
        let mut ranges = regions.map(|&[from, to, _]| from as usize..to as usize);
        if !ranges.all(|range| look_up(map, range, &mut each)) || next <= start {
            return false;
        }
        start = next;
    }
    true
}

/// Calls `each` for all pages of a range.
fn look_up(map: c_int, range: Range<usize>, each: &mut impl FnMut(usize, Entry) -> bool) -> bool {
    let mut at = range.start;
    while at < range.end {
        let mut words = [0u64; 64];
        let count = words.len().min((range.end - at) / PAGE);
        if !os::read_words(map, &mut words[..count], at / PAGE * 8) {
            return false;
        }
        for &word in &words[..count] {
            if !each(at, Entry(word)) {
                return false;
            }
            at += PAGE;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Entry, parse};

    #[test]
    fn lines_of_the_list_of_mappings_are_understood() {
        let stack = "7ffd000-7ffe000 rw-p 00000000 00:00 0                          [stack]";
        let table = [
            (stack, Some((0x7ff_d000..0x7ff_e000, 3, true, false))),
            (
                "1000-2000 rw-p 00001000 fe:00 17 /lib/a.so",
                Some((0x1000..0x2000, 3, true, false)),
            ),
            (
                "1000-2000 rw-s 00000000 00:01 9 /memfd:a",
                Some((0x1000..0x2000, 3, false, false)),
            ),
            (
                "1000-2000 r-xp 00001000 fe:00 17 /lib/a.so",
                Some((0x1000..0x2000, 5, false, false)),
            ),
            (
                "1000-2000 rw-p 00000000 00:00 0 ",
                Some((0x1000..0x2000, 3, true, true)),
            ),
            (
                "1000-2000 ---p 00000000 00:00 0",
                Some((0x1000..0x2000, 0, false, true)),
            ),
            ("1000 rw-p 00000000 00:00 0", None),
            ("Rss:                  12 kB", None),
            ("", None),
        ];
        for (line, expected) in table {
            let found = parse(line.as_bytes());
            let found = found.map(|m| {
                let (writable, plain) = (m.is_writable(), m.is_plain());
                (m.range, m.protection, writable, plain)
            });
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_page_is_ours_if_nobody_else_has_it() {
        let (present, swapped, of_file, exclusive) = (1 << 63, 1 << 62, 1 << 61, 1 << 56);
        assert!(Entry(present | exclusive).is_ours());
        assert!(!Entry(present).is_ours());
        assert!(!Entry(present | of_file | exclusive).is_ours());
        assert!(!Entry(exclusive).is_ours());
        assert!(Entry(swapped).is_swapped() && !Entry(swapped).is_present());
    }
}
