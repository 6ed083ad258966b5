//! Objects that were destroyed: POSIX lets nothing but an initialisation follow. So a mark is left
//! in them, as glibc leaves one in a mutex, in a word that every way to initialise the object
//! overwrites (the static initialisers, too), and whose content no other function of the C library
//! waits for.

use super::{check_alive, misuse_of};
use crate::gate;

/// No live object has this in its word.
const MARK: u32 = 0xdead_c0d0;

/// A kind of object.
#[derive(Clone, Copy)]
pub struct Kept {
    /// The kind, with its article.
    pub what: &'static str,
    /// Where its word is, in bytes from its beginning.
    pub word: usize,
}

impl Kept {
    /// A use of an object that was destroyed, or lies inside a freed heap block, ends the execution.
    ///
    /// # Safety
    /// `object` is the address of such an object.
    pub unsafe fn check(self, object: u64, pc: usize) {
        check_alive(self.what, object, pc);
        // SAFETY: the caller's promise: within the object, and aligned in it.
        if unsafe { self.word(object).read() } == MARK {
            misuse_of(self.what, "was used after it was destroyed", object, pc);
        }
    }

    /// Marks the object.
    ///
    /// # Safety
    /// As [`Kept::check`].
    pub unsafe fn bury(self, object: u64) {
        let word = self.word(object);
        gate::writes(word as u64, size_of::<u32>() as u64);
        // SAFETY: as in `check`.
        unsafe { word.write(MARK) }
    }

    fn word(self, object: u64) -> *mut u32 {
        (object as usize + self.word) as *mut u32
    }
}
