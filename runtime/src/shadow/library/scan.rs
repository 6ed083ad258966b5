//! scanf and its kin, in the C locale, of integers, characters, words and sets of characters. What the text looks like is decided,
//! the numbers are expressions. As the GNU C library does it (stdio-common/vfscanf-internal.c in
//! version 2.36), which takes "0x" without a digit for 0.

use super::machine::{Machine, Val};
use super::numbers::{digits, is_space};
use raddle_protocol::expr::{Op, Why};

/// One part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    End,
    /// Any amount of white space.
    Space,
    /// This byte.
    Literal(u8),
    Conversion(Conversion),
    /// What is not modelled.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Conversion {
    /// The result is not stored.
    suppressed: bool,
    /// Characters at most; `u64::MAX`: no limit.
    width: u64,
    /// Bytes of the integer.
    size: u8,
    what: u8,
    /// Of `[`: the characters.
    set: Set,
}

/// A set of characters, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Set([u64; 4]);

impl Set {
    const NONE: Set = Set([0; 4]);

    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte) / 64] |= 1 << (byte % 64);
    }

    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte) / 64] >> (byte % 64) & 1 != 0
    }

    /// Decides whether it is in there.
    fn holds(&self, m: &mut impl Machine, byte: Val) -> bool {
        let mut inside = Val::of(1, 0);
        let mut next = 0u16;
        while let Some(first) = (next..256).find(|&c| self.has(c as u8)) {
            let end = (first..256).find(|&c| !self.has(c as u8)).unwrap_or(256);
            let from = m.with(Op::Sub, byte, first.into());
            let there = m.with(Op::Ult, from, u64::from(end - first));
            // All of them are no run that a byte can count.
            inside = match end - first {
                256 => Val::of(1, 1),
                _ => m.choose(there, Val::of(1, 1), inside),
            };
            next = end;
        }
        m.holds(inside)
    }
}

/// Why reading ends early.
enum Stop {
    /// The text is at its end.
    Input,
    /// It is not what the format says.
    Match,
}

/// Can all of the format be modelled?
pub fn knows(m: &mut impl Machine, format: u64) -> bool {
    let mut at = format;
    loop {
        match part(m, &mut at) {
            Part::Unknown => return false,
            Part::End => return true,
            _ => {}
        }
    }
}

/// What is read.
#[derive(Clone, Copy)]
pub struct Text {
    pub start: u64,
    /// Where a stream ends, a NUL behind; a text without it ends with a NUL.
    pub end: Option<u64>,
}

/// How far reading went.
pub struct Progress {
    pub at: u64,
    /// It was seen that there is no more.
    pub saw_end: bool,
}

/// Reads `text` by a format that [`knows`] knows; `places` are the addresses for the results. How
/// many were stored.
pub fn scan(m: &mut impl Machine, text: Text, format: u64, places: &[u64]) -> (Val, Progress) {
    let mut reader = Reader {
        text,
        at: text.start,
        saw_end: false,
    };
    let (mut format, mut places) = (format, places.iter().copied());
    let mut done = 0u64;
    let stop = loop {
        let step = match part(m, &mut format) {
            Part::End | Part::Unknown => break None,
            Part::Space => {
                reader.skip(m);
                Ok(false)
            }
            Part::Literal(byte) => reader.literal(m, byte),
            Part::Conversion(conversion) => {
                let place = match conversion.suppressed {
                    true => None,
                    false => places.next(),
                };
                let read = reader.convert(m, conversion, place);
                read.map(|()| place.is_some() && conversion.what != b'n')
            }
        };
        match step {
            Ok(stored) => done += u64::from(stored),
            Err(stop) => break Some(stop),
        }
    };
    let Reader { at, saw_end, .. } = reader;
    let result = match stop {
        Some(Stop::Input) if done == 0 => Val::of(32, u64::MAX),
        _ => Val::of(32, done),
    };
    (result, Progress { at, saw_end })
}

/// The next part of a format; a symbolic byte of it is decided upon.
fn part(m: &mut impl Machine, at: &mut u64) -> Part {
    let mut next = |m: &mut _| next_byte(m, at);
    let first = next(m);
    match first {
        0 => return Part::End,
        b' ' | 9..=13 => return Part::Space,
        b'%' => {}
        byte => return Part::Literal(byte),
    }
    let mut byte = next(m);
    let suppressed = byte == b'*';
    if suppressed {
        byte = next(m);
    }
    let mut width = 0u64;
    while byte.is_ascii_digit() {
        width = width.saturating_mul(10) + u64::from(byte - b'0');
        byte = next(m);
    }
    let mut size = 4;
    while matches!(byte, b'h' | b'l' | b'j' | b'z' | b't' | b'q' | b'L') {
        size = match (byte, size) {
            (b'h', 2) => 1,
            (b'h', _) => 2,
            _ => 8,
        };
        byte = next(m);
    }
    let mut set = Set::NONE;
    match byte {
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'n' => {}
        b'c' | b's' | b'%' if size == 4 => {}
        b'[' if size == 4 => match set_of(m, at) {
            Some(found) => set = found,
            None => return Part::Unknown,
        },
        _ => return Part::Unknown,
    }
    Part::Conversion(Conversion {
        suppressed: suppressed || byte == b'%',
        width: if width == 0 { u64::MAX } else { width },
        size,
        what: byte,
        set,
    })
}

/// The characters between brackets; `None`: it does not end.
fn set_of(m: &mut impl Machine, at: &mut u64) -> Option<Set> {
    let mut set = Set::NONE;
    let mut byte = next_byte(m, at);
    let others = byte == b'^';
    if others {
        byte = next_byte(m, at);
    }
    let mut before = 0;
    let mut is_first = true;
    while byte != b']' || is_first {
        let mut ahead = *at;
        let after = next_byte(m, &mut ahead);
        if byte == 0 {
            return None;
        }
        if byte == b'-' && !is_first && !matches!(after, 0 | b']') && before <= after {
            (before..after).for_each(|c| set.add(c));
        } else {
            set.add(byte);
        }
        (before, is_first) = (byte, false);
        byte = next_byte(m, at);
    }
    if others {
        set.0 = set.0.map(|part| !part);
    }
    Some(set)
}

fn next_byte(m: &mut impl Machine, at: &mut u64) -> u8 {
    let byte = m.read(*at);
    *at += 1;
    m.concrete(byte, Why::Size) as u8
}

/// Where the text is read.
struct Reader {
    text: Text,
    at: u64,
    saw_end: bool,
}

impl Reader {
    fn skip(&mut self, m: &mut impl Machine) {
        loop {
            let byte = m.read(self.at);
            if !is_space(m, byte) {
                break;
            }
            self.at += 1;
        }
        self.look();
    }

    /// The next byte of a stream is asked for, if only to be given back.
    fn look(&mut self) -> bool {
        let is_end = Some(self.at) == self.text.end;
        self.saw_end |= is_end;
        is_end
    }

    fn is_at_end(&mut self, m: &mut impl Machine) -> bool {
        if self.text.end.is_some() {
            return self.look();
        }
        let byte = m.read(self.at);
        m.is(byte, 0)
    }

    fn literal(&mut self, m: &mut impl Machine, wanted: u8) -> Result<bool, Stop> {
        let byte = m.read(self.at);
        if m.is(byte, wanted.into()) {
            self.at += 1;
            return Ok(false);
        }
        match self.is_at_end(m) {
            true => Err(Stop::Input),
            false => Err(Stop::Match),
        }
    }

    fn convert(
        &mut self,
        m: &mut impl Machine,
        conversion: Conversion,
        place: Option<u64>,
    ) -> Result<(), Stop> {
        let Conversion { width, size, .. } = conversion;
        if !matches!(conversion.what, b'c' | b'n' | b'[') {
            self.skip(m);
        }
        match conversion.what {
            b'n' => {
                let read = Val::word(self.at - self.text.start);
                store(m, place, read, size);
                return Ok(());
            }
            b'%' => return self.literal(m, b'%').map(|_| ()),
            _ if self.is_at_end(m) => return Err(Stop::Input),
            b'c' => self.characters(m, if width == u64::MAX { 1 } else { width }, place),
            b's' => {
                self.word(m, width, place, |m, byte| !is_space(m, byte));
            }
            b'[' => {
                let set = conversion.set;
                if self.word(m, width, place, |m, byte| set.holds(m, byte)) == 0 {
                    return Err(Stop::Match);
                }
            }
            what => {
                let value = self.number(m, what, width);
                self.look();
                store(m, place, value?, size);
            }
        }
        Ok(())
    }

    fn characters(&mut self, m: &mut impl Machine, width: u64, place: Option<u64>) {
        for i in 0..width {
            if self.is_at_end(m) {
                break;
            }
            let byte = m.read(self.at);
            if let Some(place) = place {
                m.write(place + i, byte);
            }
            self.at += 1;
        }
    }

    /// Reads what belongs to a word; how many bytes.
    fn word<M: Machine>(
        &mut self,
        m: &mut M,
        width: u64,
        place: Option<u64>,
        belongs: impl Fn(&mut M, Val) -> bool,
    ) -> u64 {
        let mut len = 0;
        while len < width && !self.is_at_end(m) {
            let byte = m.read(self.at);
            if !belongs(m, byte) {
                break;
            }
            if let Some(place) = place {
                m.write(place + len, byte);
            }
            len += 1;
            self.at += 1;
        }
        if let Some(place) = place.filter(|_| len > 0) {
            m.write(place + len, Val::byte(0));
        }
        len
    }

    fn number(&mut self, m: &mut impl Machine, what: u8, width: u64) -> Result<Val, Stop> {
        let mut room = width;
        let sign = m.read(self.at);
        let mut negative = m.with(Op::Eq, sign, b'-'.into());
        let plus = m.with(Op::Eq, sign, b'+'.into());
        let signed = m.choose(negative, Val::of(1, 1), plus);
        if m.holds(signed) {
            self.at += 1;
            room -= 1;
        } else {
            negative = Val::of(1, 0);
        }
        let mut base = match what {
            b'i' => 0,
            b'o' => 8,
            b'x' | b'X' => 16,
            _ => 10,
        };
        let mut marked = false;
        if matches!(base, 0 | 16) {
            let zero = m.read(self.at);
            let zero = room > 0 && m.is(zero, b'0'.into());
            let mark = m.read(self.at + u64::from(zero));
            if zero && room > 1 && (m.is(mark, b'x'.into()) || m.is(mark, b'X'.into())) {
                (base, marked) = (16, true);
                self.at += 2;
                room -= 2;
            } else if base == 0 {
                base = if zero { 8 } else { 10 };
            }
        }
        let signed = matches!(what, b'd' | b'i');
        match digits(m, self.at, room, base, negative, signed) {
            Some((value, end)) => {
                self.at = end;
                Ok(value)
            }
            None if marked => Ok(Val::word(0)),
            None => Err(Stop::Match),
        }
    }
}

/// Stores the low bytes of a number.
fn store(m: &mut impl Machine, place: Option<u64>, value: Val, size: u8) {
    if let Some(place) = place {
        let value = m.low(value, 8 * size);
        m.write_value(place, value);
    }
}
