//! What formats of the printf family ask for.

/// The arguments that a format is applied to, in order.
pub trait Arguments {
    /// The next one, an integer or a pointer: its number, what it is. `None`: there is none.
    fn integer(&mut self) -> Option<(usize, u64)>;
    /// Skips a `double`, or a `long double`.
    fn floating(&mut self, long: bool);
}

/// As a call gives them.
pub struct Given<'a> {
    values: &'a [u64],
    next: usize,
}

impl<'a> Given<'a> {
    /// The first of these is the first one.
    pub fn new(values: &'a [u64]) -> Given<'a> {
        Given { values, next: 0 }
    }
}

impl Arguments for Given<'_> {
    fn integer(&mut self) -> Option<(usize, u64)> {
        let index = self.next;
        self.next += 1;
        self.values.get(index).map(|&value| (index, value))
    }

    fn floating(&mut self, _: bool) {
        self.next += 1;
    }
}

/// A `va_list` (System V ABI for x86-64, section 3.5.7).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct List {
    /// How much of the registers' 48 bytes was used.
    used: u32,
    /// The same of the 128 bytes behind them.
    used_floating: u32,
    stack: *const u64,
    registers: *const u8,
}

/// Bytes of the registers for integers.
const REGISTERS: u32 = 48;
/// Bytes of all registers.
const ALL_REGISTERS: u32 = 176;

impl List {
    /// Of these words, as if none had come in a register.
    pub fn of(words: &[u64]) -> List {
        List {
            used: REGISTERS,
            used_floating: ALL_REGISTERS,
            stack: words.as_ptr(),
            registers: core::ptr::null(),
        }
    }

    /// The integers that are still in registers.
    pub fn in_registers(&self) -> impl Iterator<Item = u64> {
        let words = (self.used.min(REGISTERS)..REGISTERS).step_by(8);
        // SAFETY: within the area.
        words.map(|at| unsafe { self.registers.add(at as usize).cast::<u64>().read() })
    }

    /// What is on the stack.
    ///
    /// # Safety
    /// At most so many words are arguments; what stands above them are frames.
    pub unsafe fn on_stack(&self, count: usize) -> impl Iterator<Item = u64> {
        // SAFETY: by the contract above.
        (0..count).map(|i| unsafe { self.stack.add(i).read() })
    }

    fn pop(&mut self) -> u64 {
        // SAFETY: the format says that there is one more.
        unsafe {
            let word = self.stack.read();
            self.stack = self.stack.add(1);
            word
        }
    }
}

impl Arguments for List {
    fn integer(&mut self) -> Option<(usize, u64)> {
        if self.used >= REGISTERS {
            return Some((0, self.pop()));
        }
        let word = self.in_registers().next();
        self.used += 8;
        word.map(|word| (0, word))
    }

    fn floating(&mut self, long: bool) {
        if long {
            let misaligned = (self.stack as usize / 8) % 2;
            self.stack = self.stack.wrapping_add(misaligned + 2);
        } else if self.used_floating < ALL_REGISTERS {
            self.used_floating += 16;
        } else {
            self.stack = self.stack.wrapping_add(1);
        }
    }
}

/// Calls `text` for each text that the format asks for: the number of its argument, where it lies, how
/// many characters are read at most, and whether they are wide. Is all of the format known? Numbered
/// arguments are not.
pub fn texts(
    format: impl Iterator<Item = u8>,
    given: &mut impl Arguments,
    mut text: impl FnMut(usize, u64, u64, bool),
) -> bool {
    asked(format, given, |index, at, what| {
        if let Asked::Text { most, wide } = what {
            text(index, at, most, wide);
        }
    })
}

/// Calls `count` for each place where the format says to store how much was written: the number of its
/// argument, where it is, its bytes. Is all of the format known? Numbered arguments are not.
pub fn counts(
    format: impl Iterator<Item = u8>,
    given: &mut impl Arguments,
    mut count: impl FnMut(usize, u64, u64),
) -> bool {
    asked(format, given, |index, at, what| {
        if let Asked::Count { size } = what {
            count(index, at, size);
        }
    })
}

/// Is there anything in the format that could say to store how much was written?
pub fn may_count(format: impl Iterator<Item = u8>) -> bool {
    const BEFORE: &[u8] = b"-+ #0123456789'I.*$hlqjztL";
    let mut left = format.peekable();
    while left.find(|&c| c == b'%').is_some() {
        while left.next_if(|c| BEFORE.contains(c)).is_some() {}
        if left.next() == Some(b'n') {
            return true;
        }
    }
    false
}

/// What a pointer leads to that a format asks for.
enum Asked {
    /// A text, of so many characters at most.
    Text { most: u64, wide: bool },
    /// A number of so many bytes, which becomes how much was written.
    Count { size: u64 },
}

fn asked(
    format: impl Iterator<Item = u8>,
    given: &mut impl Arguments,
    mut each: impl FnMut(usize, u64, Asked),
) -> bool {
    let mut left = format.peekable();
    while let Some(c) = left.next() {
        if c != b'%' {
            continue;
        }
        let (mut most, mut is_wide, mut is_long, mut size) = (None, false, false, 4);
        loop {
            match left.next() {
                Some(b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'\'' | b'I') => {}
                Some(b'h') => size = if size == 2 { 1 } else { 2 },
                Some(b'q' | b'j' | b'z' | b't') => size = 8,
                Some(b'l') => (is_wide, size) = (true, 8),
                Some(b'L') => (is_long, size) = (true, 8),
                Some(b'*') => {
                    given.integer();
                }
                Some(b'.') => most = precision(&mut left, given),
                Some(b'%' | b'm') => break,
                Some(c @ (b's' | b'S')) => {
                    let Some((index, at)) = given.integer() else {
                        return false;
                    };
                    let (most, wide) = (most.unwrap_or(u64::MAX), is_wide || c == b'S');
                    each(index, at, Asked::Text { most, wide });
                    break;
                }
                Some(b'n') => {
                    let Some((index, at)) = given.integer() else {
                        return false;
                    };
                    each(index, at, Asked::Count { size });
                    break;
                }
                Some(b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p') => {
                    given.integer();
                    break;
                }
                Some(b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A') => {
                    given.floating(is_long);
                    break;
                }
                _ => return false,
            }
        }
    }
    true
}

/// Where a format of the scanf family stores something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub at: u64,
    /// Bytes of a unit, and units; of a text at most so many, its NUL included.
    pub size: u64,
    pub units: u64,
    pub is_text: bool,
    /// It is one of those that the result counts.
    pub counts: bool,
}

/// Calls `target` for each place where a format of the scanf family stores something: the number of its
/// argument, and what. Is all of the format known? Numbered arguments are not.
pub fn targets(
    format: impl Iterator<Item = u8>,
    given: &mut impl Arguments,
    mut target: impl FnMut(usize, Target),
) -> bool {
    let mut left = format.peekable();
    while let Some(c) = left.next() {
        if c != b'%' {
            continue;
        }
        let is_stored = left.next_if_eq(&b'*').is_none();
        let mut width = 0u64;
        while let Some(digit) = left.next_if(u8::is_ascii_digit) {
            width = width
                .saturating_mul(10)
                .saturating_add((digit - b'0').into());
        }
        let (mut allocates, mut integer, mut floating, mut character) = (false, 4, 4, 1);
        let conversion = loop {
            match left.next() {
                Some(b'm') => allocates = true,
                Some(b'h') => integer = if integer == 2 { 1 } else { 2 },
                Some(b'l') => (integer, floating, character) = (8, 8, 4),
                Some(b'L') => (integer, floating) = (8, 16),
                Some(b'q' | b'j' | b'z' | b't') => integer = 8,
                Some(c) => break c,
                None => return false,
            }
        };
        let text_units = if width == 0 {
            u64::MAX
        } else {
            width.saturating_add(1)
        };
        let (size, units, is_text) = match conversion {
            b'%' => continue,
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'n' => (integer, 1, false),
            b'p' => (8, 1, false),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => (floating, 1, false),
            b'c' => (character, width.max(1), false),
            b'C' => (4, width.max(1), false),
            b's' => (character, text_units, true),
            b'S' => (4, text_units, true),
            b'[' => {
                left.next_if_eq(&b'^');
                left.next_if_eq(&b']');
                if left.find(|&c| c == b']').is_none() {
                    return false;
                }
                (character, text_units, true)
            }
            _ => return false,
        };
        if !is_stored {
            continue;
        }
        let Some((index, at)) = given.integer() else {
            return false;
        };
        let (size, units, is_text) = if allocates {
            (8, 1, false)
        } else {
            (size, units, is_text)
        };
        target(
            index,
            Target {
                at,
                size,
                units,
                is_text,
                counts: conversion != b'n',
            },
        );
    }
    true
}

/// What follows a point: a number, none, which is 0, or an argument; `None`: a negative one, as if
/// there were no point.
fn precision(
    left: &mut core::iter::Peekable<impl Iterator<Item = u8>>,
    given: &mut impl Arguments,
) -> Option<u64> {
    if left.next_if_eq(&b'*').is_some() {
        let value = given.integer().map_or(0, |(_, value)| value as i32);
        return u64::try_from(value).ok();
    }
    let mut number = 0u64;
    while let Some(digit) = left.next_if(u8::is_ascii_digit) {
        let digit = u64::from(digit - b'0');
        number = number.saturating_mul(10).saturating_add(digit);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::CStr;
    use std::vec::Vec;

    const ALL: u64 = u64::MAX;

    #[test]
    fn where_scanf_stores() {
        /// Argument, where, size, units, is it a text.
        type Targets = &'static [(usize, u64, u64, u64, bool)];
        let table: &[(&str, Targets, bool)] = &[
            ("", &[], true),
            (
                "%d %*d %ld%%",
                &[(0, 10, 4, 1, false), (1, 11, 8, 1, false)],
                true,
            ),
            (
                "%hhd%hu%llx",
                &[
                    (0, 10, 1, 1, false),
                    (1, 11, 2, 1, false),
                    (2, 12, 8, 1, false),
                ],
                true,
            ),
            (
                "%f%lf%Lf",
                &[
                    (0, 10, 4, 1, false),
                    (1, 11, 8, 1, false),
                    (2, 12, 16, 1, false),
                ],
                true,
            ),
            (
                "%s%3s%ls",
                &[
                    (0, 10, 1, ALL, true),
                    (1, 11, 1, 4, true),
                    (2, 12, 4, ALL, true),
                ],
                true,
            ),
            (
                "%[^]a-z]%c%4c",
                &[
                    (0, 10, 1, ALL, true),
                    (1, 11, 1, 1, false),
                    (2, 12, 1, 4, false),
                ],
                true,
            ),
            (
                "%ms %n",
                &[(0, 10, 8, 1, false), (1, 11, 4, 1, false)],
                true,
            ),
            ("%2$d", &[], false),
            ("%[a", &[], false),
            (
                "%d%d%d%d",
                &[
                    (0, 10, 4, 1, false),
                    (1, 11, 4, 1, false),
                    (2, 12, 4, 1, false),
                ],
                false,
            ),
        ];
        for (format, wanted, known) in table {
            let mut found = Vec::new();
            let mut given = Given::new(&[10, 11, 12]);
            let all = targets(format.bytes(), &mut given, |index, t| {
                found.push((index, t.at, t.size, t.units, t.is_text));
            });
            assert_eq!((&found[..], all), (*wanted, *known), "{format}");
        }
    }

    #[test]
    fn where_printf_stores_counts() {
        /// Argument, where, bytes.
        type Counts = &'static [(usize, u64, u64)];
        let table: &[(&str, Counts, bool)] = &[
            ("%s %d", &[], true),
            ("a%n%s%hhn", &[(0, 10, 4), (2, 12, 1)], true),
            (
                "%hn %ln%%n %zn",
                &[(0, 10, 2), (1, 11, 8), (2, 12, 8)],
                true,
            ),
            ("%n %1$n", &[(0, 10, 4)], false),
            ("%1$d%%n", &[], false),
        ];
        for (format, wanted, known) in table {
            let (mut found, mut given) = (Vec::new(), Given::new(&[10, 11, 12]));
            let all = counts(format.bytes(), &mut given, |i, at, size| {
                found.push((i, at, size));
            });
            assert_eq!((&found[..], all), (*wanted, *known), "{format}");
            assert_eq!(may_count(format.bytes()), !wanted.is_empty(), "{format}");
        }
    }

    #[test]
    fn arguments_of_calls() {
        /// Argument, where, at most.
        type Texts = &'static [(usize, u64, u64)];
        let table: &[(&str, &[u64], Texts, bool)] = &[
            ("", &[], &[], true),
            ("no %% text %d", &[7], &[], true),
            ("%s", &[7], &[(0, 7, ALL)], true),
            (
                "%d: %-8s, %5.3s|%lu",
                &[1, 2, 3, 4],
                &[(1, 2, ALL), (2, 3, 3)],
                true,
            ),
            (
                "%*d %.*s %s",
                &[1, 2, 5, 7, 8],
                &[(3, 7, 5), (4, 8, ALL)],
                true,
            ),
            ("%.*s", &[-1i32 as u32 as u64, 7], &[(1, 7, ALL)], true),
            ("%.s %Lf %m %s", &[6, 0, 7], &[(0, 6, 0), (2, 7, ALL)], true),
            ("%s %2$s", &[7, 8], &[(0, 7, ALL)], false),
            ("%ls %s", &[7, 8], &[(0, 7, ALL), (1, 8, ALL)], true),
            ("%n%s", &[7, 8], &[(1, 8, ALL)], true),
            ("%s", &[], &[], false),
            ("%", &[7], &[], false),
        ];
        for (format, given, wanted, known) in table {
            let mut found = Vec::new();
            let all = texts(format.bytes(), &mut Given::new(given), |i, at, most, _| {
                found.push((i, at, most));
            });
            assert_eq!((&found[..], all), (*wanted, *known), "{format}");
        }
    }

    fn in_list(format: &CStr, mut list: List) -> Vec<u64> {
        let mut found = Vec::new();
        let format = format.to_bytes().iter().copied();
        assert!(texts(format, &mut list, |_, at, _, _| found.push(at)));
        found
    }

    #[test]
    fn arguments_of_lists() {
        // As a callee with three named arguments finds them, of which two integers and two floating
        // ones are still in registers.
        let mut registers = [0u64; 22];
        (registers[4], registers[5]) = (11, 12);
        let stack = [21u64, 22, 23];
        let table: &[(&CStr, &[u64])] = &[
            (c"%s %s %s", &[11, 12, 21]),
            (c"%f %s %d %g %s %s", &[11, 21, 22]),
            (c"%d %s %e %f %g %s", &[12, 22]),
            (c"%s %.2s %.*s", &[11, 12, 22]),
        ];
        for (format, wanted) in table {
            let list = List {
                used: 32,
                used_floating: 144,
                stack: stack.as_ptr(),
                registers: registers.as_ptr().cast(),
            };
            assert_eq!(in_list(format, list), *wanted, "{format:?}");
        }
        // A long double lies at a multiple of 16 bytes.
        #[repr(align(16))]
        struct Stack([u64; 8]);
        let stack = Stack([51, 0, 0, 0, 52, 0, 0, 0]);
        assert_eq!(in_list(c"%s %Lf %s", List::of(&stack.0)), [51, 52]);
    }
}
