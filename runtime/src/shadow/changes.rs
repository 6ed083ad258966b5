//! Calls of the kernel that give memory another content: for others each is a section in which what lies
//! there then is written.

use super::access::Access;
use super::library::foreign::lose as lose_by;
use super::{atomic, blocks, world};
use crate::{gate, os};
use raddle_protocol::event::Kind;

/// Of more shared bytes in one call nothing is told but that there are some.
const MOST: u64 = 1 << 14;

/// A call begins that changes memory: nobody else goes on until [`end`].
pub fn begin(pc: usize) {
    atomic::enter(pc);
}

/// It is over, and what it has changed was told of.
pub fn end(pc: usize) {
    atomic::leave(pc);
}

/// Do several threads access anything here?
pub fn is_shared(at: u64, len: u64) -> bool {
    world().cells.shared_ranges(at, len).next().is_some()
}

/// Calls `each` for the pieces of what is shared here, and there.
fn each_piece(at: u64, len: u64, mut each: impl FnMut(u64, u64)) {
    let bytes: u64 = world().cells.shared_ranges(at, len).map(|r| r.1).sum();
    if bytes > MOST {
        return gate::uncontrolled("calls that change very much shared memory at a time");
    }
    for (from, len) in world().cells.shared_ranges(at, len) {
        let end = from + len;
        let mut here = from;
        while here < end {
            let page_end = (here & !(os::PAGE as u64 - 1)) + os::PAGE as u64;
            let stop = end.min(page_end);
            if os::try_read(here as usize, &mut [0]) {
                blocks::pieces(here, stop - here, |shared, at, n| {
                    if shared {
                        each(at, n);
                    }
                });
            }
            here = stop;
        }
    }
}

/// These bytes are about to change. `decides`: into what, or what others become, depends on what they hold,
/// and that is decided on.
pub fn will_change(at: u64, len: u64, decides: bool, pc: usize) {
    each_piece(at, len, |at, n| match decides {
        true => {
            Access::new(Kind::Read, at, n as u32, pc).read_and_decide();
        }
        false => Access::new(Kind::Write, at, n as u32, pc).will_be_written(),
    });
}

/// What lay in these pages is not there any more: did anything depend on inputs?
pub fn forget(at: u64, len: u64) -> bool {
    world().cells.forget_pages(at, len)
}

/// The function with this name has done something with what depends on inputs that is not followed.
pub fn lose(name: &str, pc: usize) {
    lose_by(name.as_bytes(), pc);
}

/// They have changed, or are there since the call: for others that is a write. Of bytes that nobody has used
/// yet that is told only if they were `moved` here.
pub fn changed(at: u64, len: u64, moved: bool, pc: usize) {
    each_piece(at, len, |at, n| {
        if moved || world().cells.any_recorded(at, n) {
            let access = Access::new(Kind::Write, at, n as u32, pc);
            access.was_zero();
            access.was_written(true, None);
        }
    });
}
