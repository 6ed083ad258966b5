//! Calls of the kernel that give pages another content: for others that is a write of what lies there then.

use super::access::Access;
use super::{atomic, blocks, touch, world};
use crate::{gate, os};
use raddle_protocol::event::Kind;

/// Of longer blocks only what is shared already is told of.
const LONGEST: u64 = 1 << 20;

/// A call begins that changes pages: nobody else goes on until [`end_change`].
pub fn begin_change(pc: usize) {
    atomic::enter(pc);
}

/// It is over, and what it has changed was told of.
pub fn end_change(pc: usize) {
    atomic::leave(pc);
}

/// Do several threads access anything here?
pub fn is_shared(at: u64, len: u64) -> bool {
    world().cells.any_known_shared(at, len)
}

/// What will lie in these pages, or in others, depends on what lies there now: decides on that.
pub fn will_change(at: u64, len: u64, pc: usize) {
    let shared = is_shared(at, len);
    // Memory that cannot be read is moved as it is.
    let there = |at: u64| os::try_read(at as usize, &mut [0]);
    let pages = (0..len).step_by(os::PAGE).map(|offset| at + offset);
    match len <= LONGEST {
        true => pages
            .filter(|&page| there(page))
            .for_each(|page| blocks::will_read(page, os::PAGE as u64, pc)),
        false if shared => {
            gate::uncontrolled("what lies in very many pages that are moved or emptied")
        }
        false => {}
    }
}

/// This is their content now. `old`: they were there before.
pub fn changed(at: u64, len: u64, old: bool, pc: usize) {
    for offset in (0..len).step_by(os::PAGE) {
        let page = at + offset;
        let shared = is_shared(page, os::PAGE as u64);
        let looked_at = shared || old && len <= LONGEST;
        if !looked_at || !os::try_read(page as usize, &mut [0]) {
            continue;
        }
        for word in (page..page + os::PAGE as u64).step_by(8) {
            if is_shared(word, 8) {
                Access::new(Kind::Write, word, 8, pc).was_written(true, None);
            } else {
                touch(word, 8, true, pc);
                world().cells.forget(word, 8);
            }
        }
    }
}
