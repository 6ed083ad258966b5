//! How far the accesses of functions of the C library go: [`raddle_protocol::effects::Extent`] on the
//! memory of the program as it is.

use crate::gone::Memory;
use crate::heap;
use crate::os;
use crate::shadow::formats::{self, Arguments, Given, List};
use core::ffi::{c_char, c_int};
use libc::localeconv;
use raddle_protocol::effects::{Effect, Extent, NONE, Place};

/// Most bytes of what a call may write, of which it is not known how many there will be.
const MOST: u64 = 1 << 20;
/// The same where no limit is known.
const UNLIMITED: u64 = 4096;
/// No address of a program is higher.
const HIGHEST: u64 = 1 << 47;

/// Some memory that a call reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub at: u64,
    pub len: u64,
    pub writes: bool,
    /// It is all accessed, and nothing else. If not, it is in conflict with others, but no access.
    pub exact: bool,
}

/// A call: what the rows of the table are about.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub arguments: &'a [u64],
    /// Bit for each argument: it leads to memory that nobody else knows of.
    pub private: u64,
    /// After the call.
    pub result: Option<i64>,
    /// Where the result of such calls led before; 0: it is not known.
    pub own: u64,
    /// Where those of [`Place::Date`] lie; 0: it is not known.
    pub date: u64,
    /// What strtok keeps.
    pub kept: u64,
    /// The kernel makes it, which finds out that memory is not there; and that may be.
    pub kernel: bool,
}

unsafe extern "C" {
    fn strstr(text: *const c_char, what: *const c_char) -> *const c_char;
    fn strcasestr(text: *const c_char, what: *const c_char) -> *const c_char;
    fn wcsstr(text: *const c_int, what: *const c_int) -> *const c_int;
    static optarg: *const c_char;
    static opterr: c_int;
    static optind: c_int;
    static optopt: c_int;
}

/// Characters or elements of `size` bytes.
#[derive(Clone, Copy)]
struct Units {
    at: u64,
    size: u64,
    /// They may not be there; then they end.
    kernel: bool,
}

impl Units {
    /// The one at this place.
    fn get(self, n: u64) -> u32 {
        let at = self.at + n * self.size;
        if self.kernel && !os::try_read(at as usize, &mut [0]) {
            return 0;
        }
        // SAFETY: the function that is called reads the same. Volatile: others may change it.
        unsafe {
            match self.size {
                4 => (at as *const u32).read_volatile(),
                _ => (at as *const u8).read_volatile().into(),
            }
        }
    }

    /// How many there are before the first for which `ends` holds, at most so many.
    fn before(self, most: u64, ends: impl Fn(u64, u32) -> bool) -> u64 {
        let mut n = 0;
        while n < most && !ends(n, self.get(n)) {
            n += 1;
        }
        n
    }

    /// The same, that one included.
    fn up_to(self, most: u64, ends: impl Fn(u64, u32) -> bool) -> u64 {
        let n = self.before(most, ends);
        if n < most { n + 1 } else { n }
    }

    /// A text with its NUL.
    fn text(self, most: u64) -> u64 {
        self.up_to(most, |_, unit| unit == 0)
    }

    fn from(self, n: u64) -> Units {
        Units {
            at: self.at + n * self.size,
            ..self
        }
    }

    fn has(self, unit: u32) -> bool {
        let mut set = (0..).map(|n| self.get(n)).take_while(|&one| one != 0);
        set.any(|one| one == unit)
    }
}

fn is_space(unit: u32) -> bool {
    unit == 32 || (9..14).contains(&unit)
}

fn folded(unit: u32) -> u32 {
    match char::from_u32(unit) {
        Some(c @ 'A'..='Z') => c.to_ascii_lowercase().into(),
        _ => unit,
    }
}

/// Units that are looked at to read a whole number.
fn number(text: Units, base: u64) -> u64 {
    let mut n = text.before(u64::MAX, |_, unit| !is_space(unit));
    if matches!(text.get(n), 43 | 45) {
        n += 1;
    }
    let is_prefix = |n: u64| text.get(n) == 48 && matches!(text.get(n + 1), 88 | 120);
    let base = match base {
        0 | 16 if is_prefix(n) => {
            n += 2;
            16
        }
        0 if text.get(n) == 48 => 8,
        0 => 10,
        base => base as u32,
    };
    let is_digit = |unit: u32| char::from_u32(unit).is_some_and(|c| c.is_digit(base.clamp(2, 36)));
    n + text.from(n).up_to(u64::MAX, |_, unit| !is_digit(unit))
}

/// The same of a floating-point number (C17, 7.22.1.3).
fn floating(text: Units) -> u64 {
    // SAFETY: a text of the library's own.
    let point = unsafe { *(*localeconv()).decimal_point } as u8;
    let is = |n: u64, one: u8| folded(text.get(n)) == u32::from(one);
    // As far as the text is the same as this one.
    let word = |n: u64, word: &[u8]| {
        (0..)
            .zip(word)
            .take_while(|&(k, &one)| is(n + k, one))
            .count() as u64
    };
    let digits = |n: u64, base: u32| {
        let is_digit = |unit: u32| char::from_u32(unit).is_some_and(|c| c.is_digit(base));
        n + text.from(n).before(u64::MAX, |_, unit| !is_digit(unit))
    };
    let signed = |n: u64| n + u64::from(is(n, b'+') || is(n, b'-'));
    let start = signed(text.before(u64::MAX, |_, unit| !is_space(unit)));
    let rest = text.from(start);
    let end = match (word(start, b"infinity"), word(start, b"nan")) {
        (0, 3) if is(start + 3, b'(') => {
            let is_name = |unit: u32| {
                char::from_u32(unit).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            start + 4 + rest.from(4).before(u64::MAX, |_, unit| !is_name(unit))
        }
        (0, 0) => {
            let hexadecimal = is(start, b'0') && is(start + 1, b'x');
            let (base, exponent) = if hexadecimal { (16, b'p') } else { (10, b'e') };
            let mut end = digits(start + if hexadecimal { 2 } else { 0 }, base);
            if is(end, point) {
                end = digits(end + 1, base);
            }
            match is(end, exponent) {
                true => digits(signed(end + 1), 10),
                false => end,
            }
        }
        (infinity, nan) => start + infinity.max(nan),
    };
    end + 1
}

/// Units up to the end of a text in this one, or all of it.
fn find(text: Units, what: Units, fold: bool) -> u64 {
    // SAFETY: the function that is called reads the same.
    let found = unsafe {
        match (text.size, fold) {
            (4, _) => wcsstr(text.at as *const c_int, what.at as *const c_int) as u64,
            (_, true) => strcasestr(text.at as *const c_char, what.at as *const c_char) as u64,
            _ => strstr(text.at as *const c_char, what.at as *const c_char) as u64,
        }
    };
    match found {
        0 => text.text(u64::MAX),
        found => (found - text.at) / text.size + what.text(u64::MAX) - 1,
    }
}

/// A number of so many bytes in memory; 0 behind a null pointer, or where it is not.
fn number_at(at: u64, bytes: u8) -> u64 {
    if Memory::read(at as usize, bytes.into()).is_gone() {
        return 0;
    }
    // SAFETY: the function that is called reads the same.
    unsafe {
        match (at, bytes) {
            (0, _) => 0,
            (_, 4) => (at as *const u32).read_volatile().into(),
            _ => (at as *const u64).read_volatile(),
        }
    }
}

/// Bytes from here on that a call may write if no limit is known.
fn room(at: u64) -> u64 {
    match heap::block_of(at) {
        Some(Ok(block)) => (block.start + block.size) as u64 - at,
        _ => UNLIMITED,
    }
}

/// Most bytes of the name of a time zone.
const LONGEST_NAME: u64 = 64;
/// Most texts of an array.
const MOST_TEXTS: u64 = 1024;
/// Bytes of an option with a long name.
const OPTION: u64 = 32;

/// Bytes of a header of a message with the length behind it.
const MESSAGE: u64 = 64;

/// The fields of a vector, in turn; of one that was filled, as many bytes as the result says.
fn vector(vector: u64, count: u64, result: Option<i64>, mut tell: impl FnMut(u64, u64)) {
    let mut left = result.map_or(u64::MAX, |result| result.max(0) as u64);
    for n in 0..count.min(1024) {
        if !is_address(vector) {
            break;
        }
        let field = vector + 16 * n;
        let (at, len) = (number_at(field, 8), number_at(field + 8, 8).min(left));
        tell(at, len);
        left -= len;
    }
}

impl Call<'_> {
    fn argument(&self, n: u8) -> u64 {
        self.arguments.get(usize::from(n)).copied().unwrap_or(0)
    }

    /// A limit or a size.
    fn number(&self, n: u8) -> u64 {
        match n {
            NONE => u64::MAX,
            n => self.argument(n),
        }
    }

    fn is_private(&self, argument: u8) -> bool {
        argument < 32 && self.private >> argument & 1 != 0
    }

    /// Where the access begins; 0: nowhere.
    fn start(&self, place: Place) -> u64 {
        let pointer = |at: u64| if is_address(at) { number_at(at, 8) } else { 0 };
        match place {
            Place::Argument(n) if self.is_private(n) => 0,
            Place::Argument(n) => self.argument(n),
            Place::Behind(n) => pointer(self.argument(n)),
            Place::Either(first, second) => match self.argument(first) {
                0 => pointer(self.argument(second)),
                at => at,
            },
            Place::Kept(n) => match self.argument(n) {
                0 => self.kept,
                at => at,
            },
            Place::Own => self.result.map_or(self.own, |result| result as u64),
            Place::Date => self.date,
            Place::Options => 0,
        }
    }

    /// Where the text ends that a call of strtok is given, or goes on with.
    pub fn text_end(&self) -> u64 {
        match self.start(Place::Kept(0)) {
            at if is_address(at) => {
                at + Units {
                    at,
                    size: 1,
                    kernel: false,
                }
                .text(u64::MAX)
                    - 1
            }
            _ => 0,
        }
    }

    /// Where the next one will go on, after this call, in a text that ended there.
    pub fn goes_on(&self, end: u64) -> u64 {
        match self.result {
            Some(at) if at != 0 => {
                let at = at as u64;
                end.min(
                    at + Units {
                        at,
                        size: 1,
                        kernel: false,
                    }
                    .text(u64::MAX),
                )
            }
            _ => end,
        }
    }

    /// Calls `each` for what an effect is on. Is all of it known?
    ///
    /// # Safety
    /// The call is about to be made, or has just been made.
    pub unsafe fn spans(&self, effect: &Effect, mut each: impl FnMut(Span)) -> bool {
        if self
            .result
            .is_some_and(|result| !effect.result.holds(result))
        {
            return true;
        }
        let sure = !effect.may && (self.result.is_some() || !effect.is_after());
        let mut tell_as = |exact: bool, at: u64, len: u64| {
            if len > 0 && is_address(at) {
                each(Span {
                    at,
                    len,
                    writes: effect.writes,
                    exact,
                });
            }
        };
        let mut tell = |at: u64, len: u64| tell_as(sure, at, len);
        if effect.place == Place::Options {
            tell(&raw const optind as u64, 4);
            if effect.writes {
                tell(&raw const optarg as u64, 8);
                tell(&raw const optopt as u64, 4);
            } else {
                tell(&raw const opterr as u64, 4);
            }
            return true;
        }
        if let Some(first) = effect.variadic() {
            let mut given = Given::new(self.arguments.get(first.into()..).unwrap_or_default());
            return self.formatted(effect, first, &mut given, tell);
        }
        if let Some(list) = effect.list() {
            // SAFETY: by the contract above; the list stays as it is.
            let mut given = unsafe { (self.argument(list) as *const List).read() };
            return self.formatted(effect, NONE, &mut given, tell);
        }
        let at = self.start(effect.place);
        if !is_address(at) {
            return true;
        }
        match effect.extent {
            Extent::Vector(count) => {
                let count = self.argument(count);
                vector(at, count, self.result.filter(|_| effect.writes), tell);
            }
            Extent::Message => self.message(at, self.result, effect.writes, &mut tell),
            Extent::Messages(count) => {
                let count = self.argument(count).min(1024);
                let got = match self.result {
                    Some(result) if effect.writes => (result.max(0) as u64).min(count),
                    _ => count,
                };
                for n in 0..got {
                    let header = at + MESSAGE * n;
                    let len = self.result.map(|_| number_at(header + 56, 4) as i64);
                    self.message(header, len, effect.writes, &mut tell);
                }
            }
            Extent::TextAt(offset) => {
                self.text_behind(at + u64::from(offset), true, tell);
            }
            Extent::Texts(count) => self.texts(at, self.number(count), tell),
            Extent::LongOptions => self.long_options(at, effect.writes, tell),
            Extent::TokenEnd(_) | Extent::FieldEnd(_) | Extent::Append(..) => {
                let (offset, len) = self.behind(effect, at);
                tell(at + offset, len);
            }
            _ if effect.begins => {
                let len = self.length(effect, at);
                let first = len.min(effect.unit.into());
                tell_as(true, at, first);
                tell_as(false, at + first, len - first);
            }
            _ => tell(at, self.length(effect, at)),
        }
        true
    }

    /// Bytes at `at`.
    fn length(&self, effect: &Effect, at: u64) -> u64 {
        let size = u64::from(effect.unit);
        let kernel = self.kernel;
        let text = Units { at, size, kernel };
        let other = |n: u8| Units {
            at: self.argument(n),
            size,
            kernel,
        };
        let units = match effect.extent {
            Extent::Size(n) => return n.into(),
            Extent::Product(a, b) => return self.number(a).saturating_mul(self.number(b)),
            Extent::Family(n) => return if self.argument(n) == 2 { 4 } else { 16 },
            Extent::SizeAt(n, bytes) => number_at(self.argument(n), bytes).min(MOST),
            Extent::Bytes(n) => self.number(n),
            // Of the library's own, before the call: as far as one goes that is there.
            Extent::Text(most) => text.text(self.number(most)),
            Extent::TextUntil(stop) => {
                let stop = self.argument(stop) as u32;
                let stop = if size == 1 { stop & 0xff } else { stop };
                text.up_to(u64::MAX, |_, unit| unit == 0 || unit == stop)
            }
            Extent::Until(value, most) => self.until(text, value, most),
            Extent::CopyUntil(from, value, most) => self.until(other(from), value, most),
            Extent::Common(to, most) | Extent::CommonFolded(to, most) => {
                let (to, folds) = (other(to), matches!(effect.extent, Extent::CommonFolded(..)));
                let fold = |unit: u32| if folds { folded(unit) } else { unit };
                text.up_to(self.number(most), |n, unit| {
                    unit == 0 || fold(unit) != fold(to.get(n))
                })
            }
            Extent::Copy(from, most) => other(from).text(self.number(most)),
            Extent::Without(set) => {
                let set = other(set);
                text.up_to(u64::MAX, |_, unit| unit == 0 || set.has(unit))
            }
            Extent::Within(set) => {
                let set = other(set);
                text.up_to(u64::MAX, |_, unit| !set.has(unit))
            }
            Extent::Find(what) => find(text, other(what), false),
            Extent::FindFolded(what) => find(text, other(what), true),
            Extent::Number(base) => number(
                text,
                if base == NONE {
                    10
                } else {
                    self.argument(base)
                },
            ),
            Extent::Floating => floating(text),
            Extent::Token(set) => {
                let (skipped, len) = token(text, other(set));
                skipped + len + 1
            }
            Extent::Field(set) => {
                let set = other(set);
                text.up_to(u64::MAX, |_, unit| unit == 0 || set.has(unit))
            }
            Extent::Result(most) => match self.result {
                Some(result) => result.max(0) as u64,
                None if most == NONE => 16,
                None => self.number(most).min(MOST),
            },
            Extent::ResultTimes(times, most) => {
                let times = self.number(times);
                return match self.result {
                    Some(result) => times.saturating_mul(result.max(0) as u64),
                    None => times.saturating_mul(self.number(most)).min(MOST),
                };
            }
            Extent::ResultAndOne => match self.result {
                Some(result) => (result + 1).max(0) as u64,
                None => return room(at),
            },
            Extent::Cleared(limit) => self.number(limit).min(1),
            Extent::Printed(most) => match self.result {
                Some(result) => self.number(most).min((result + 1).max(0) as u64),
                None => self.at_most(most, at, size),
            },
            Extent::Line(_) if self.result == Some(0) => 0,
            Extent::Written(most) | Extent::Line(most) => match self.result {
                Some(_) => text.text(self.number(most)),
                None => self.at_most(most, at, size),
            },
            Extent::Append(..)
            | Extent::TokenEnd(_)
            | Extent::FieldEnd(_)
            | Extent::Format(_)
            | Extent::List(_)
            | Extent::Counts(_)
            | Extent::CountsList(_)
            | Extent::Scanned(_)
            | Extent::ScannedList(_)
            | Extent::Vector(_)
            | Extent::Message
            | Extent::Messages(_)
            | Extent::TextAt(_)
            | Extent::Texts(_)
            | Extent::LongOptions => 0,
        };
        units.saturating_mul(size)
    }

    /// Units that may be written up to this limit.
    fn at_most(&self, most: u8, at: u64, size: u64) -> u64 {
        match most {
            NONE => room(at).min(UNLIMITED) / size,
            most => self.number(most).min(MOST),
        }
    }

    fn until(&self, text: Units, value: u8, most: u8) -> u64 {
        let stop = self.argument(value) as u32;
        let stop = if text.size == 1 { stop & 0xff } else { stop };
        text.up_to(self.number(most), |_, unit| unit == stop)
    }

    /// What is written behind other units of a text: from where on, how many bytes.
    fn behind(&self, effect: &Effect, at: u64) -> (u64, u64) {
        let size = u64::from(effect.unit);
        let kernel = self.kernel;
        let text = Units { at, size, kernel };
        let other = |n: u8| Units {
            at: self.argument(n),
            size,
            kernel,
        };
        let (offset, units) = match effect.extent {
            Extent::TokenEnd(set) => {
                let (skipped, len) = token(text, other(set));
                let end = skipped + len;
                (end, u64::from(len > 0 && text.get(end) != 0))
            }
            Extent::FieldEnd(set) => {
                let set = other(set);
                let end = text.before(u64::MAX, |_, unit| unit == 0 || set.has(unit));
                (end, u64::from(text.get(end) != 0))
            }
            Extent::Append(from, most) => {
                let (from, most) = (other(from), self.number(most));
                let len = from.text(most);
                let cut = len == most && (len == 0 || from.get(len - 1) != 0);
                (text.text(u64::MAX) - 1, len + u64::from(cut))
            }
            _ => (0, 0),
        };
        (offset * size, units * size)
    }

    /// The text that a pointer there leads to, and the pointer. `false`: it is null. `unset`: it may be that
    /// nobody has set it, and that the call does not follow it.
    fn text_behind(&self, at: u64, unset: bool, mut tell: impl FnMut(u64, u64)) -> bool {
        tell(at, 8);
        let text = Units {
            at: number_at(at, 8),
            size: 1,
            kernel: self.kernel || unset,
        };
        let is_there = || !text.kernel || os::try_read(text.at as usize, &mut [0]);
        if is_address(text.at) && is_there() {
            let most = if unset { LONGEST_NAME } else { u64::MAX };
            tell(text.at, text.text(most));
        }
        text.at != 0
    }

    /// An array of so many texts, or up to a null pointer.
    fn texts(&self, at: u64, count: u64, mut tell: impl FnMut(u64, u64)) {
        (0..count.min(MOST_TEXTS)).all(|n| self.text_behind(at + 8 * n, false, &mut tell));
    }

    /// What getopt_long is given as `struct option`.
    fn long_options(&self, at: u64, writes: bool, mut tell: impl FnMut(u64, u64)) {
        for option in (0..MOST_TEXTS).map(|n| at + OPTION * n) {
            if writes {
                tell(number_at(option + 16, 8), 4);
            } else {
                tell(option + 8, OPTION - 8);
                self.text_behind(option, false, &mut tell);
            }
            if number_at(option, 8) == 0 {
                break;
            }
        }
    }

    /// What the header of a message leads to; it was got with so many bytes.
    fn message(&self, at: u64, len: Option<i64>, writes: bool, mut tell: impl FnMut(u64, u64)) {
        /// No address is longer (`struct sockaddr_storage`).
        const LONGEST: u64 = 128;
        let field = |offset: u64, bytes: u8| number_at(at + offset, bytes);
        let got = len.filter(|_| writes);
        if got.is_none_or(|len| len >= 0) {
            tell(field(0, 8), field(8, 4).min(LONGEST));
        }
        vector(field(16, 8), field(24, 8), got, &mut tell);
        if got.is_none_or(|len| len >= 0) {
            tell(field(32, 8), field(40, 8).min(MOST));
        }
    }

    /// What a format asks for, whose arguments begin with number `first` ([`NONE`]: they are in a list).
    fn formatted(
        &self,
        effect: &Effect,
        first: u8,
        given: &mut impl Arguments,
        mut tell: impl FnMut(u64, u64),
    ) -> bool {
        let Place::Argument(argument) = effect.place else {
            return false;
        };
        let size = u64::from(effect.unit);
        let format = Units {
            at: self.argument(argument),
            size,
            kernel: false,
        };
        if !is_address(format.at) {
            return true;
        }
        let private =
            |index: usize| first != NONE && self.is_private(first.saturating_add(index as u8));
        let units = (0..).map(|n| format.get(n)).take_while(|&unit| unit != 0);
        let characters = units.map(|unit| u8::try_from(unit).unwrap_or(b'?'));
        if matches!(effect.extent, Extent::Counts(_) | Extent::CountsList(_)) {
            let known = formats::counts(characters.clone(), given, |index, at, size| {
                if !private(index) {
                    tell(at, size);
                }
            });
            return known || !formats::may_count(characters);
        }
        if effect.writes {
            let mut stored = 0;
            return formats::targets(characters, given, |index, target| {
                stored += 1;
                if private(index)
                    || self
                        .result
                        .is_some_and(|result| target.counts && stored > result)
                {
                    return;
                }
                let text = Units {
                    at: target.at,
                    size: target.size,
                    kernel: false,
                };
                let len = match (self.result, target.is_text) {
                    (_, false) => target.units,
                    (Some(_), true) => text.text(target.units),
                    (None, true) => target.units.min(room(target.at)),
                };
                tell(target.at, len.saturating_mul(target.size));
            });
        }
        if !self.is_private(argument) {
            tell(format.at, format.text(u64::MAX) * size);
        }
        formats::texts(characters, given, |index, at, most, wide| {
            if !private(index) && is_address(at) {
                let text = Units {
                    at,
                    size: if wide { 4 } else { 1 },
                    kernel: false,
                };
                tell(at, text.text(most) * text.size);
            }
        })
    }
}

/// Units before a token, and of it.
fn token(text: Units, set: Units) -> (u64, u64) {
    let skipped = text.before(u64::MAX, |_, unit| unit == 0 || !set.has(unit));
    let rest = text.from(skipped);
    (
        skipped,
        rest.before(u64::MAX, |_, unit| unit == 0 || set.has(unit)),
    )
}

/// Can it be the address of memory of the program?
pub fn is_address(at: u64) -> bool {
    (4096..HIGHEST).contains(&at)
}
