//! The state machine of one read-write lock. Which reader holds it how often is kept by
//! [`Readers`], which all locks share.

use super::verdict::{DONE, Verdict};
use core::ffi::c_int;
use libc::{EBUSY, EDEADLK};
use raddle_protocol::Slot;
use raddle_protocol::slot::NONE;

/// Messages of the findings.
pub mod says {
    pub const NOT_HELD: &str = "a read-write lock that nobody holds was unlocked";
    pub const NOT_OWNER: &str = "a read-write lock that other threads hold was unlocked";
    pub const DESTROYED_HELD: &str = "a read-write lock was destroyed while it was locked";
}

/// The end of a list in [`Readers`].
const END: u32 = 0;

/// One read-write lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RwLock {
    /// Who writes; [`NONE`]: nobody.
    pub writer: Slot,
    /// Where the writer entered.
    pub taken_at: usize,
    /// Head of the list of readers.
    readers: u32,
    /// How many read locks are held.
    pub reading: u32,
    /// How many threads wait to write and bar readers meanwhile.
    pub writers_waiting: u32,
}

/// One thread that holds one lock for reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The rest of the list, or of the list of free records.
    next: u32,
    /// Who reads.
    pub who: Slot,
    /// How often it entered.
    pub depth: u32,
    /// Where it entered first.
    pub taken_at: usize,
}

/// The records of the readers of all locks.
pub struct Readers<'a> {
    records: &'a mut [Reader],
    free: u32,
    /// Records from here on were never used; 0 is not a record.
    fresh: u32,
}

impl<'a> Readers<'a> {
    /// Uses the memory for the records.
    pub fn new(records: &'a mut [Reader]) -> Readers<'a> {
        Readers {
            records,
            free: END,
            fresh: 1,
        }
    }

    fn find(&self, head: u32, who: Slot) -> Option<u32> {
        let mut at = head;
        while at != END {
            let reader = &self.records[at as usize];
            if reader.who == who {
                return Some(at);
            }
            at = reader.next;
        }
        None
    }

    fn allocate(&mut self) -> Option<u32> {
        if self.free != END {
            let at = self.free;
            self.free = self.records[at as usize].next;
            return Some(at);
        }
        let at = self.fresh;
        ((at as usize) < self.records.len()).then(|| {
            self.fresh += 1;
            at
        })
    }

    fn enter(&mut self, lock: &mut RwLock, who: Slot, pc: usize) -> bool {
        if let Some(at) = self.find(lock.readers, who) {
            self.records[at as usize].depth += 1;
        } else {
            let Some(at) = self.allocate() else {
                return false;
            };
            self.records[at as usize] = Reader {
                next: lock.readers,
                who,
                depth: 1,
                taken_at: pc,
            };
            lock.readers = at;
        }
        lock.reading += 1;
        true
    }

    fn leave(&mut self, lock: &mut RwLock, who: Slot) -> bool {
        let Some(at) = self.find(lock.readers, who) else {
            return false;
        };
        lock.reading -= 1;
        let reader = &mut self.records[at as usize];
        reader.depth -= 1;
        if reader.depth > 0 {
            return true;
        }
        let next = reader.next;
        reader.next = self.free;
        self.free = at;
        if lock.readers == at {
            lock.readers = next;
            return true;
        }
        let mut before = lock.readers;
        while self.records[before as usize].next != at {
            before = self.records[before as usize].next;
        }
        self.records[before as usize].next = next;
        true
    }

    /// Forgets every reader of the lock.
    pub fn clear(&mut self, lock: &mut RwLock) {
        while lock.readers != END {
            let at = lock.readers;
            lock.readers = self.records[at as usize].next;
            self.records[at as usize].next = self.free;
            self.free = at;
        }
        lock.reading = 0;
    }

    /// The reader that entered last; `who` itself if it reads.
    pub fn some(&self, lock: &RwLock, who: Slot) -> Option<Reader> {
        let at = self.find(lock.readers, who).unwrap_or(lock.readers);
        (at != END).then(|| self.records[at as usize])
    }
}

impl RwLock {
    /// A free lock.
    pub const FREE: RwLock = RwLock {
        writer: NONE,
        taken_at: 0,
        readers: END,
        reading: 0,
        writers_waiting: 0,
    };

    /// Does somebody hold it?
    pub fn held(&self) -> bool {
        self.writer != NONE || self.reading > 0
    }

    /// Can `who` complete a read lock now? `writers_first`: the lock's attribute lets waiting
    /// writers bar new readers.
    pub fn may_read(&self, who: Slot, writers_first: bool) -> bool {
        match self.writer {
            NONE => !(writers_first && self.writers_waiting > 0),
            owner => owner == who,
        }
    }

    /// Can `who` complete a write lock now (be it with an error)?
    pub fn may_write(&self, who: Slot) -> bool {
        !self.held() || self.writer == who
    }

    /// A read lock at the instant when it is tried: 0, EBUSY, EDEADLK; `None`: out of records.
    pub fn read(&mut self, readers: &mut Readers, who: Slot, pc: usize) -> Option<c_int> {
        match self.writer {
            NONE => readers.enter(self, who, pc).then_some(0),
            owner if owner == who => Some(EDEADLK),
            _ => Some(EBUSY),
        }
    }

    /// A write lock at the instant when it is tried: 0, EBUSY or EDEADLK.
    pub fn write(&mut self, who: Slot, pc: usize) -> c_int {
        if self.writer == who {
            return EDEADLK;
        }
        if self.held() {
            return EBUSY;
        }
        self.writer = who;
        self.taken_at = pc;
        0
    }

    /// `who` unlocks once.
    pub fn unlock(&mut self, readers: &mut Readers, who: Slot) -> Verdict {
        if self.writer == who {
            self.writer = NONE;
            return DONE;
        }
        if readers.leave(self, who) {
            return DONE;
        }
        Verdict::Misuse(if self.held() {
            says::NOT_OWNER
        } else {
            says::NOT_HELD
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: Reader = Reader {
        next: END,
        who: NONE,
        depth: 0,
        taken_at: 0,
    };

    #[test]
    fn readers_share_and_writers_exclude() {
        let mut records = [EMPTY; 8];
        let mut readers = Readers::new(&mut records);
        let mut lock = RwLock::FREE;
        assert!(lock.may_read(1, true) && lock.may_write(1));
        for who in [1, 2, 1] {
            assert_eq!(lock.read(&mut readers, who, 9), Some(0));
        }
        assert_eq!(lock.reading, 3);
        for who in [1, 3] {
            assert!(!lock.may_write(who));
            assert_eq!(lock.write(who, 9), EBUSY);
        }
        assert_eq!(readers.some(&lock, 1).unwrap().depth, 2);
        assert_eq!(readers.some(&lock, 3).unwrap().who, 2);
        for who in [1, 2, 1] {
            assert_eq!(lock.unlock(&mut readers, who), DONE);
        }
        assert_eq!(lock, RwLock::FREE);
        assert_eq!(lock.write(3, 9), 0);
        assert!(!lock.may_read(1, false) && !lock.may_write(1));
        assert_eq!(lock.read(&mut readers, 1, 9), Some(EBUSY));
        assert_eq!(lock.write(1, 9), EBUSY);
        assert!(lock.may_read(3, false) && lock.may_write(3));
        assert_eq!(lock.read(&mut readers, 3, 9), Some(EDEADLK));
        assert_eq!(lock.write(3, 9), EDEADLK);
        assert_eq!(lock.unlock(&mut readers, 3), DONE);
    }

    #[test]
    fn waiting_writers_bar_readers_only_where_asked() {
        for (reading, waiting, first, expected) in [
            (0, 0, true, true),
            (1, 1, false, true),
            (1, 0, true, true),
            (1, 1, true, false),
            (0, 1, true, false),
        ] {
            let lock = RwLock {
                reading,
                writers_waiting: waiting,
                ..RwLock::FREE
            };
            assert_eq!(lock.may_read(5, first), expected);
        }
    }

    #[test]
    fn strangers_must_not_unlock() {
        let mut records = [EMPTY; 4];
        let mut readers = Readers::new(&mut records);
        let mut lock = RwLock::FREE;
        assert_eq!(
            lock.unlock(&mut readers, 1),
            Verdict::Misuse(says::NOT_HELD)
        );
        assert_eq!(lock.read(&mut readers, 1, 9), Some(0));
        assert_eq!(
            lock.unlock(&mut readers, 2),
            Verdict::Misuse(says::NOT_OWNER)
        );
        assert_eq!(lock.unlock(&mut readers, 1), DONE);
        assert_eq!(lock.write(1, 9), 0);
        assert_eq!(
            lock.unlock(&mut readers, 2),
            Verdict::Misuse(says::NOT_OWNER)
        );
    }

    #[test]
    fn records_are_reused_and_can_run_out() {
        let mut records = [EMPTY; 3];
        let mut readers = Readers::new(&mut records);
        let mut lock = RwLock::FREE;
        for _ in 0..5 {
            assert_eq!(lock.read(&mut readers, 1, 9), Some(0));
            assert_eq!(lock.read(&mut readers, 2, 9), Some(0));
            assert_eq!(lock.read(&mut readers, 3, 9), None);
            assert_eq!(lock.unlock(&mut readers, 1), DONE);
            assert_eq!(lock.read(&mut readers, 3, 9), Some(0));
            readers.clear(&mut lock);
            assert_eq!(lock, RwLock::FREE);
        }
    }
}
