//! Semaphores and read-write locks.

use super::{Machine, NOBODY, Op, RWLOCK, SEM, object};
use raddle_protocol::event::{Kind, RW_READ};

impl Machine<'_> {
    pub(super) fn semaphore(&mut self, t: usize, op: Op) {
        let (s, kind, value) = match op {
            Op::SemWait(s) => {
                self.tokens[s] -= 1;
                (s, Kind::SemWait, 0)
            }
            Op::SemTry(s) => {
                let there = self.tokens[s] > 0;
                self.tokens[s] -= u32::from(there);
                self.threads[t].acc = u64::from(there);
                (s, Kind::SemTryWait, if there { 0 } else { 11 })
            }
            Op::SemPost(s) => {
                self.tokens[s] += 1;
                (s, Kind::SemPost, 0)
            }
            _ => unreachable!(),
        };
        self.log(t, kind, object(SEM, s), value, self.tokens[s]);
    }

    pub(super) fn rwlock(&mut self, t: usize, op: Op) {
        let mut aux = 0;
        let (r, kind) = match op {
            Op::ReadLock(r) => {
                self.readers[r].push(t);
                (r, Kind::RwRead)
            }
            Op::WriteLock(r) => {
                self.writers[r] = t;
                (r, Kind::RwWrite)
            }
            Op::RwUnlock(r) | Op::RwUnlockIf(r) => {
                aux = self.unlock_aux(t, r);
                if self.writers[r] == t {
                    self.writers[r] = NOBODY;
                } else if let Some(at) = self.readers[r].iter().position(|&other| other == t) {
                    self.readers[r].remove(at);
                }
                (r, Kind::RwUnlock)
            }
            _ => unreachable!(),
        };
        self.log(t, kind, object(RWLOCK, r), 0, aux);
    }

    /// `aux` of an unlock.
    pub(super) fn unlock_aux(&self, t: usize, r: usize) -> u32 {
        match self.readers[r].contains(&t) {
            true => RW_READ,
            false => 0,
        }
    }

    pub(super) fn rwlock_attempt(&mut self, t: usize, op: Op) {
        let (r, kind, free) = match op {
            Op::TryRead(r) => (r, Kind::RwTryRead, self.writers[r] == NOBODY),
            Op::TryWrite(r) => {
                let free = self.writers[r] == NOBODY && self.readers[r].is_empty();
                (r, Kind::RwTryWrite, free)
            }
            _ => unreachable!(),
        };
        self.threads[t].acc = u64::from(free);
        match kind {
            Kind::RwTryRead if free => self.readers[r].push(t),
            Kind::RwTryWrite if free => self.writers[r] = t,
            _ => {}
        }
        let value = if free { 0 } else { 16 };
        self.log(t, kind, object(RWLOCK, r), value, 0);
    }
}
