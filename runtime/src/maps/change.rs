//! Calls that act on pages, from before they are made until they have returned. In symbolic runs one that
//! gives memory another content is a section, and what lies there then is written.

use super::{Pages, called, changed_by, files, pages_over, whole_step};
use crate::gate;
use crate::serial::Serial;
use crate::shadow::changes;
use core::ffi::c_int;
use raddle_protocol::Slot;
use raddle_protocol::shared::flags::SYMBOLIC;
use raddle_protocol::uses::Uses;

/// A call that is under way.
pub struct Change {
    /// The pages whose content it changes, in symbolic runs.
    changed: [Option<Pages>; 2],
    /// What lies in the first of them then lies elsewhere.
    moves: bool,
    /// Pages that it acts on besides those that its step tells of.
    over: Option<Pages>,
    /// Its section has begun.
    section: bool,
}

/// Object and value of a step on pages, if there is one: see `step_of`.
type Step = Option<(u64, u64)>;

/// The section of a call that was announced: whose, and the step of that.
static BEGUN: Serial<Option<(Slot, Step)>> = Serial::new(None);

/// Does anybody follow what lies in memory?
fn is_symbolic() -> bool {
    gate::flags() & SYMBOLIC != 0 && gate::obeys() && crate::vars::symbolic()
}

/// And may others look, or have they in other executions?
fn is_followed(changed: [Option<Pages>; 2]) -> bool {
    let mut changed = changed.into_iter().flatten().peekable();
    is_symbolic()
        && changed.peek().is_some()
        && (gate::threads_created() > 1 || changed.any(is_shared))
}

fn is_shared((at, len): Pages) -> bool {
    changes::is_shared(at, len as u64)
}

/// Tells of a step that acts on these pages.
fn tell((at, len): Pages, pc: usize) {
    if let Some((at, value)) = super::step_of((at, len), Uses::NONE) {
        gate::remaps(at, value, pc);
    }
}

/// What the kernel does here is not the same each time, or not known.
fn name_what_differs(name: &str, arguments: &[u64]) {
    let argument = |n: usize| arguments.get(n).copied().unwrap_or(0);
    if !gate::exhaustive() && gate::flags() & SYMBOLIC == 0 {
        return;
    }
    match name {
        "madvise" if argument(2) as c_int == libc::MADV_FREE => {
            gate::uncontrolled("when the kernel empties pages (MADV_FREE)");
        }
        // Without a length what is there is there twice.
        "mremap" if argument(1) == 0 => gate::uncontrolled(files::TWICE),
        _ => {}
    }
}

/// This call comes next, and nobody in between: if it changes memory that is followed, its section begins
/// here.
pub fn begins(name: &str, arguments: &[u64], pc: usize) -> bool {
    let changes = is_symbolic() && is_followed(changed_by(name, arguments));
    if changes {
        changes::begin(pc);
        let step = whole_step(name, arguments, Uses::NONE);
        // SAFETY: the running thread; the reference is not kept.
        unsafe { *BEGUN.get() = Some((gate::me(), step)) };
    }
    changes
}

impl Change {
    /// The program calls the function with this name and these arguments.
    pub fn by(name: &'static str, arguments: &[u64], pc: usize) -> Change {
        name_what_differs(name, arguments);
        let changed = match is_symbolic() {
            true => changed_by(name, arguments),
            false => [None; 2],
        };
        let mut change = Change {
            changed,
            moves: name == "mremap" && changed[0].is_some(),
            over: pages_over(name, arguments),
            section: false,
        };
        // SAFETY: the running thread; the reference is not kept.
        let begun = unsafe { BEGUN.get() }.take();
        if let Some((_, step)) = begun.filter(|begun| begun.0 == gate::me()) {
            change.section = step == whole_step(name, arguments, Uses::NONE);
            if !change.section {
                changes::end(pc);
            }
        }
        let follows = is_followed(changed);
        if follows {
            change.begin(pc);
        }
        if let Some(over) = change.over {
            tell(over, pc);
        }
        called(name, arguments, pc);
        if follows {
            // What is moved, or emptied unless others have it too, is decided on.
            let decides = [matches!(name, "madvise" | "mremap"), false];
            for (pages, decides) in changed.into_iter().zip(decides) {
                if let Some((at, len)) = pages {
                    changes::will_change(at, len as u64, decides, pc);
                }
            }
        }
        // Where it has come to lie the result tells.
        if matches!(name, "mmap" | "mmap64" | "shmat") {
            change.changed = [None; 2];
        }
        change
    }

    fn begin(&mut self, pc: usize) {
        if !self.section {
            changes::begin(pc);
            self.section = true;
        }
    }

    /// The call has returned, and these pages are there since then.
    pub fn over(mut self, new: Option<Pages>, pc: usize) {
        if !is_symbolic() {
            if let Some(over) = self.over {
                tell(over, pc);
            }
            return;
        }
        let [first, second] = self.changed;
        let new = new.filter(|&pages| ![first, second].contains(&Some(pages)));
        let all = || [first, second, new].into_iter().flatten();
        if new.is_some_and(is_shared) {
            self.begin(pc);
        }
        if let Some(new) = new.filter(|_| self.moves) {
            tell(new, pc);
        }
        let mut symbolic = false;
        for (at, len) in all() {
            symbolic |= changes::forget(at, len as u64);
        }
        if symbolic && self.moves {
            changes::lose("mremap", pc);
        }
        if self.section {
            for (at, len) in all() {
                changes::changed(at, len as u64, self.moves, pc);
            }
            changes::end(pc);
        }
    }
}
