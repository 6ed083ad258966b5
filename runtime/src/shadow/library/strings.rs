//! Memory and strings. Where a function stops is decided byte by byte; what it says of two blocks
//! of known length is one expression.

use super::machine::{Machine, Val};
use raddle_protocol::expr::Op;

/// No limit.
pub const ALL: u64 = u64::MAX;

/// Bytes before the first NUL, `limit` at most.
pub fn length(m: &mut impl Machine, text: u64, limit: u64) -> u64 {
    let mut n = 0;
    while n < limit {
        let byte = m.read(text.wrapping_add(n));
        if m.is(byte, 0) {
            break;
        }
        n += 1;
    }
    n
}

fn difference(m: &mut impl Machine, a: Val, b: Val) -> Val {
    let (a, b) = (m.extend(Op::ZExt, a, 32), m.extend(Op::ZExt, b, 32));
    m.binary(Op::Sub, a, b)
}

/// memcmp, without a decision on the content.
pub fn compare_blocks(m: &mut impl Machine, a: u64, b: u64, len: u64) -> Val {
    let mut result = Val::of(32, 0);
    let mut equal = Val::of(1, 1);
    for i in 0..len {
        let (x, y) = (m.read(a + i), m.read(b + i));
        let by = difference(m, x, y);
        result = m.choose(equal, by, result);
        let same = m.binary(Op::Eq, x, y);
        equal = m.binary(Op::And, equal, same);
        if equal == Val::of(1, 0) {
            break;
        }
    }
    result
}

/// strcmp and its kin: `limit` bytes at most.
pub fn compare(m: &mut impl Machine, a: u64, b: u64, limit: u64, fold: bool) -> Val {
    for i in 0..limit {
        let (mut x, mut y) = (m.read(a + i), m.read(b + i));
        if fold {
            (x, y) = (lower(m, x), lower(m, y));
        }
        if !m.same(x, y) {
            return difference(m, x, y);
        }
        if m.is(x, 0) {
            break;
        }
    }
    Val::of(32, 0)
}

/// The small letter, in the C locale.
fn lower(m: &mut impl Machine, byte: Val) -> Val {
    let from = m.with(Op::Sub, byte, b'A'.into());
    let capital = m.with(Op::Ult, from, 26);
    let small = m.with(Op::Add, byte, 32);
    m.choose(capital, small, byte)
}

/// memchr, `limit` bytes at most; `backwards`: memrchr.
pub fn find(m: &mut impl Machine, block: u64, what: Val, limit: u64, backwards: bool) -> u64 {
    let what = m.low(what, 8);
    let mut place = |i: u64| {
        let byte = m.read(block.wrapping_add(i));
        m.same(byte, what).then(|| block.wrapping_add(i))
    };
    let found = match backwards {
        false => (0..limit).find_map(&mut place),
        true => (0..limit).rev().find_map(&mut place),
    };
    found.unwrap_or(0)
}

/// strchr, strchrnul (`or_end`) and, looking further, strrchr (`last`).
pub fn find_in_text(m: &mut impl Machine, text: u64, what: Val, or_end: bool, last: bool) -> u64 {
    let what = m.low(what, 8);
    let mut found = 0;
    for at in text.. {
        let byte = m.read(at);
        if m.same(byte, what) {
            found = at;
            if !last {
                break;
            }
        }
        if m.is(byte, 0) {
            if or_end && found == 0 {
                found = at;
            }
            break;
        }
    }
    found
}

/// strstr, and strcasestr (`fold`).
pub fn find_text(m: &mut impl Machine, text: u64, what: u64, fold: bool) -> u64 {
    let len = length(m, what, ALL);
    if len == 0 {
        return text;
    }
    for at in text.. {
        let mut same = 0;
        while same < len {
            let (mut x, mut y) = (m.read(at + same), m.read(what + same));
            if fold {
                (x, y) = (lower(m, x), lower(m, y));
            }
            if !m.same(x, y) {
                break;
            }
            same += 1;
        }
        if same == len {
            return at;
        }
        let first = m.read(at);
        if m.is(first, 0) {
            break;
        }
    }
    0
}

/// Decides at once whether blocks are the same.
pub fn are_same(m: &mut impl Machine, a: u64, b: u64, len: u64) -> bool {
    let mut same = Val::of(1, 1);
    for i in 0..len {
        let (x, y) = (m.read(a + i), m.read(b + i));
        let equal = m.binary(Op::Eq, x, y);
        same = m.binary(Op::And, same, equal);
    }
    m.holds(same)
}

/// memmem.
pub fn find_block(m: &mut impl Machine, block: u64, len: u64, what: u64, size: u64) -> u64 {
    let Some(last) = len.checked_sub(size) else {
        return 0;
    };
    let found = (0..=last).find(|&i| are_same(m, block + i, what, size));
    found.map_or(0, |i| block + i)
}

/// memccpy.
pub fn copy_until(m: &mut impl Machine, to: u64, from: u64, what: Val, limit: u64) -> u64 {
    let found = find(m, from, what, limit, false);
    let len = match found {
        0 => limit,
        at => at - from + 1,
    };
    m.copy(to, from, len);
    if found == 0 { 0 } else { to + len }
}

/// How many bytes at the start are (or, `inside` false, are not) in the set.
pub fn span(m: &mut impl Machine, text: u64, set: u64, inside: bool) -> u64 {
    let members = length(m, set, ALL);
    let mut n = 0;
    loop {
        let byte = m.read(text + n);
        if m.is(byte, 0) {
            return n;
        }
        let mut member = Val::of(1, 0);
        for i in 0..members {
            let one = m.read(set + i);
            let same = m.binary(Op::Eq, byte, one);
            member = m.choose(same, Val::of(1, 1), member);
        }
        if m.holds(member) != inside {
            return n;
        }
        n += 1;
    }
}

/// strcpy: copies up to and with the NUL; how many bytes came before it.
pub fn copy_text(m: &mut impl Machine, to: u64, from: u64) -> u64 {
    let len = length(m, from, ALL);
    m.copy(to, from, len + 1);
    len
}

/// strncpy: copies and pads; how many bytes came before the padding.
pub fn copy_padded(m: &mut impl Machine, to: u64, from: u64, size: u64) -> u64 {
    let len = length(m, from, size);
    m.copy(to, from, len);
    m.fill(to + len, Val::byte(0), size - len);
    len
}

/// strcat and strncat.
pub fn append(m: &mut impl Machine, to: u64, from: u64, limit: u64) {
    let end = to + length(m, to, ALL);
    let len = length(m, from, limit);
    m.copy(end, from, len);
    m.write(end + len, Val::byte(0));
}

/// strtok_r. `state` is where the rest of the text is kept; where nothing is kept, it reads at 0 as
/// glibc's does.
pub fn token(m: &mut impl Machine, text: u64, set: u64, state: u64) -> u64 {
    let text = match text {
        0 => m.read_word(state),
        text => text,
    };
    let start = text + span(m, text, set, true);
    let byte = m.read(start);
    if m.is(byte, 0) {
        m.write_word(state, start);
        return 0;
    }
    let end = start + span(m, start, set, false);
    let byte = m.read(end);
    if m.is(byte, 0) {
        m.write_word(state, end);
    } else {
        m.write(end, Val::byte(0));
        m.write_word(state, end + 1);
    }
    start
}

/// strsep.
pub fn field(m: &mut impl Machine, state: u64, set: u64) -> u64 {
    let start = m.read_word(state);
    if start == 0 {
        return 0;
    }
    let end = start + span(m, start, set, false);
    let byte = m.read(end);
    if m.is(byte, 0) {
        m.write_word(state, 0);
    } else {
        m.write(end, Val::byte(0));
        m.write_word(state, end + 1);
    }
    start
}
