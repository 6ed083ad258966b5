//! What a call of the C library notes in its caller's frame before it is made, to be told of before the call and
//! behind it.

use super::library::{tell, tell_whole};
use super::spans::Span;
use raddle_protocol::hooks::call::Frame;

/// Bits of the length in [`Frame::list`].
pub const WRITES: u64 = 1 << 63;
const EXACT: u64 = 1 << 62;
/// Bit of the same: what it is, the call will tell.
pub const AFTER: u64 = 1 << 61;
/// Bit of the same: it would be several steps if it were not too long.
pub const WHOLE: u64 = 1 << 60;
/// Bit of the same: it has been told of, and will be behind the call.
pub const BEFORE: u64 = 1 << 59;
const LENGTH: u64 = BEFORE - 1;

/// Notes what is told of before the call. Is there place?
pub fn note(frame: &mut Frame, told: &mut usize, span: Span, how: u64) -> bool {
    let Some(free) = frame.list.get_mut(*told) else {
        return false;
    };
    let flag = |is: bool, bit: u64| if is { bit } else { 0 };
    let flags = flag(span.writes, WRITES) | flag(span.exact, EXACT) | how;
    *free = [span.at, span.len.min(LENGTH) | flags];
    *told += 1;
    true
}

/// Tells of what was noted.
pub fn tell_noted(frame: &Frame, n: usize, pc: usize) {
    match frame.list[n][1] & WHOLE {
        0 => tell(noted(frame, n), pc),
        _ => tell_whole(noted(frame, n), pc),
    }
}

pub fn noted(frame: &Frame, n: usize) -> Span {
    let [at, len] = frame.list[n];
    Span {
        at,
        len: len & LENGTH,
        writes: len & WRITES != 0,
        exact: len & EXACT != 0,
    }
}

/// Is the access at this place one of a write that is noted as well?
pub fn is_covered(frame: &Frame, told: usize, n: usize) -> bool {
    let span = noted(frame, n);
    let covers = |other: Span| {
        other.writes
            && other.exact
            && other.at <= span.at
            && span.at + span.len <= other.at + other.len
    };
    !span.writes && (0..told).any(|other| covers(noted(frame, other)))
}
