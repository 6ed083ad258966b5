//! The state machine of one mutex, apart from who waits and when.

use super::verdict::{DONE, Verdict};
use core::ffi::c_int;
use libc::{EAGAIN, EBUSY, EDEADLK, EINVAL, ENOTRECOVERABLE, EOWNERDEAD, EPERM};
use raddle_protocol::Slot;
use raddle_protocol::slot::NONE;

/// Messages of the findings.
pub mod says {
    pub const NOT_HELD: &str = "a mutex that nobody holds was unlocked";
    pub const NOT_OWNER: &str = "a mutex that another thread holds was unlocked";
    pub const DESTROYED_HELD: &str = "a mutex was destroyed while it was locked";
    pub const DEAD: &str = "a mutex was used after it was destroyed";
    pub const UNINITIALISED: &str = "a mutex was used that is not initialised";
}

/// Name of the attribute that lets other processes use a mutex.
pub const SHARED: &str = "process-shared mutex";

/// What the type attribute decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Also the default and the adaptive type: relocking deadlocks.
    Normal,
    /// The owner may lock again.
    Recursive,
    /// Mistakes are returned as errors.
    ErrorCheck,
}

/// glibc's `__kind` of a mutex, which static initialisers write too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(pub c_int);

impl Kind {
    /// What a destroyed mutex carries.
    pub const DESTROYED: Kind = Kind(-1);
    const ROBUST: c_int = 16;
    const PROTECT: c_int = 64;
    const SHARED: c_int = 128;
    /// The type's two bits, the three attributes above, process-shared, lock elision.
    const KNOWN: c_int = 0x3ff & !(4 | 8);

    /// The type; `None` when no initialiser writes such a kind.
    pub fn mutex_type(self) -> Option<Type> {
        if self.0 & !Kind::KNOWN != 0 {
            return None;
        }
        Some(match self.0 & 3 {
            1 => Type::Recursive,
            2 => Type::ErrorCheck,
            _ => Type::Normal,
        })
    }

    /// May the next locker be told that the owner died?
    pub fn robust(self) -> bool {
        self.0 >= 0 && self.0 & Kind::ROBUST != 0
    }

    /// Keeps glibc a priority ceiling in the upper bits of the lock word?
    pub fn protects(self) -> bool {
        self.0 >= 0 && self.0 & Kind::PROTECT != 0
    }

    /// What the owner of an error-checking mutex gets that tries to lock it again: the C library looks at
    /// whose it is before it tries, or not.
    pub fn relock(self) -> c_int {
        const INHERIT: c_int = 32;
        match self.0 & (Kind::ROBUST | INHERIT | Kind::PROTECT) {
            0 => EBUSY,
            _ => EDEADLK,
        }
    }

    /// May other processes use it? A robust mutex has the bit in any case.
    pub fn shared(self) -> bool {
        self.0 >= 0 && self.0 & Kind::SHARED != 0 && !self.robust()
    }

    /// The attribute that is not modelled, by name. Inheritance of priorities changes nothing where
    /// priorities decide nothing.
    pub fn not_modelled(self) -> Option<&'static str> {
        match self {
            _ if self.protects() => Some("mutex priority ceiling"),
            _ if self.shared() => Some(SHARED),
            _ => None,
        }
    }
}

/// One mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutex {
    /// Who holds it; [`NONE`]: nobody.
    pub owner: Slot,
    /// How many times; 0 when nobody holds it.
    pub depth: u32,
    /// Where it was taken.
    pub taken_at: usize,
    /// Decides how relocking ends.
    pub mutex_type: Type,
    /// What became of it when an owner ended.
    pub health: Health,
}

/// What a robust mutex knows of its owners' ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Not robust: does not care.
    Indifferent,
    /// No owner has ended while it held the mutex.
    Sound,
    /// The owner has ended; the next one to lock is told so.
    Orphaned,
    /// Its owner was told, and has not called `pthread_mutex_consistent`.
    Inconsistent,
    /// Was unlocked while inconsistent: of no use any more.
    Lost,
}

impl Mutex {
    /// A free mutex that is not robust.
    pub const fn free(mutex_type: Type) -> Mutex {
        Mutex {
            owner: NONE,
            depth: 0,
            taken_at: 0,
            mutex_type,
            health: Health::Indifferent,
        }
    }

    /// A free mutex of this kind; `None` when no initialiser writes such a kind.
    pub fn of_kind(kind: Kind) -> Option<Mutex> {
        let mut mutex = Mutex::free(kind.mutex_type()?);
        if kind.robust() {
            mutex.health = Health::Sound;
        }
        Some(mutex)
    }

    /// Does somebody hold it?
    pub fn held(&self) -> bool {
        self.depth > 0
    }

    /// Does `who` hold it?
    pub fn is_held_by(&self, who: Slot) -> bool {
        self.held() && self.owner == who
    }

    /// Can a lock operation of `who` complete now (be it with an error)?
    pub fn may_lock(&self, who: Slot) -> bool {
        !self.held()
            || self.health == Health::Orphaned
            || self.owner == who && self.mutex_type != Type::Normal
    }

    fn take(&mut self, who: Slot, pc: usize) -> Verdict {
        self.owner = who;
        self.depth = 1;
        self.taken_at = pc;
        DONE
    }

    /// Lock, trylock and a timed lock at the instant when they are tried: EBUSY says that the
    /// caller cannot have the mutex now.
    fn attempt(&mut self, who: Slot, pc: usize, relock: c_int) -> Verdict {
        if self.health == Health::Lost {
            return Verdict::Returns(ENOTRECOVERABLE);
        }
        if self.health == Health::Orphaned {
            self.health = Health::Inconsistent;
            self.take(who, pc);
            return Verdict::Returns(EOWNERDEAD);
        }
        if !self.held() {
            return self.take(who, pc);
        }
        if self.owner != who {
            return Verdict::Returns(EBUSY);
        }
        match self.mutex_type {
            Type::Recursive if self.depth == u32::MAX => Verdict::Returns(EAGAIN),
            Type::Recursive => {
                self.depth += 1;
                DONE
            }
            Type::ErrorCheck => Verdict::Returns(relock),
            Type::Normal => Verdict::Returns(EBUSY),
        }
    }

    /// `who` locks; [`Mutex::may_lock`] holds.
    pub fn lock(&mut self, who: Slot, pc: usize) -> Verdict {
        self.attempt(who, pc, EDEADLK)
    }

    /// `who` tries; `relock`: see [`Kind::relock`].
    pub fn try_lock(&mut self, who: Slot, pc: usize, relock: c_int) -> Verdict {
        self.attempt(who, pc, relock)
    }

    /// `who` unlocks once.
    pub fn unlock(&mut self, who: Slot) -> Verdict {
        if self.depth > 0 && self.owner == who {
            self.depth -= 1;
            if self.depth == 0 {
                self.owner = NONE;
                if self.health == Health::Inconsistent {
                    self.health = Health::Lost;
                }
            }
            return DONE;
        }
        match self.mutex_type {
            Type::Recursive | Type::ErrorCheck => Verdict::Returns(EPERM),
            Type::Normal if self.depth == 0 => Verdict::Misuse(says::NOT_HELD),
            Type::Normal => Verdict::Misuse(says::NOT_OWNER),
        }
    }

    /// `who`, which holds it, has made the state that it guards good again.
    pub fn consistent(&mut self, who: Slot) -> Verdict {
        if self.owner != who || self.health != Health::Inconsistent {
            return Verdict::Returns(EINVAL);
        }
        self.health = Health::Sound;
        DONE
    }

    /// Is it a robust mutex that `who` holds?
    pub fn is_robust_of(&self, who: Slot) -> bool {
        self.held() && self.owner == who && self.health != Health::Indifferent
    }

    /// A robust mutex loses its owner if that is `who`, which ends.
    pub fn orphan(&mut self, who: Slot) -> bool {
        let lost = self.is_robust_of(who);
        if lost {
            self.health = Health::Orphaned;
        }
        lost
    }

    /// Destruction.
    pub fn destroy(&self) -> Verdict {
        if self.held() {
            return Verdict::Misuse(says::DESTROYED_HELD);
        }
        DONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Slot = 1;
    const OTHER: Slot = 2;

    fn held_by(owner: Slot, depth: u32, mutex_type: Type) -> Mutex {
        Mutex {
            owner,
            depth,
            taken_at: 7,
            mutex_type,
            health: Health::Indifferent,
        }
    }

    #[test]
    fn kinds() {
        for (bits, expected) in [
            (0, Some(Type::Normal)),
            (1, Some(Type::Recursive)),
            (2, Some(Type::ErrorCheck)),
            (3, Some(Type::Normal)),
            (256, Some(Type::Normal)),
            (512 + 1, Some(Type::Recursive)),
            (16 + 2, Some(Type::ErrorCheck)),
            (128, Some(Type::Normal)),
            (-1, None),
            (4, None),
            (0x5a5a_5a5a, None),
        ] {
            assert_eq!(Kind(bits).mutex_type(), expected, "{bits}");
        }
        assert!(Kind(16).robust() && !Kind(32).robust() && !Kind::DESTROYED.robust());
        assert_eq!(Kind(32).not_modelled(), None);
        assert_eq!(Kind(64).not_modelled(), Some("mutex priority ceiling"));
        assert_eq!(Kind(128).not_modelled(), Some(SHARED));
        assert_eq!(Kind(128 + 16).not_modelled(), None);
        assert_eq!(Kind(1).not_modelled(), None);
        assert_eq!(Kind::DESTROYED.not_modelled(), None);
    }

    #[test]
    fn locking() {
        use Type::*;
        // State, may lock, result of lock (where it may), result of trylock, depth after trylock.
        let busy = Verdict::Returns(EBUSY);
        for (state, may, lock, attempt, depth) in [
            (Mutex::free(Normal), true, DONE, DONE, 1),
            (Mutex::free(Recursive), true, DONE, DONE, 1),
            (Mutex::free(ErrorCheck), true, DONE, DONE, 1),
            (held_by(ME, 1, Normal), false, busy, busy, 1),
            (held_by(ME, 1, Recursive), true, DONE, DONE, 2),
            (
                held_by(ME, u32::MAX, Recursive),
                true,
                Verdict::Returns(EAGAIN),
                Verdict::Returns(EAGAIN),
                u32::MAX,
            ),
            (
                held_by(ME, 1, ErrorCheck),
                true,
                Verdict::Returns(EDEADLK),
                busy,
                1,
            ),
            (held_by(OTHER, 1, Normal), false, busy, busy, 1),
            (held_by(OTHER, 1, Recursive), false, busy, busy, 1),
            (held_by(OTHER, 1, ErrorCheck), false, busy, busy, 1),
        ] {
            assert_eq!(state.may_lock(ME), may, "{state:?}");
            let mut m = state;
            assert_eq!(m.lock(ME, 9), lock, "{state:?}");
            let mut m = state;
            assert_eq!(m.try_lock(ME, 9, EBUSY), attempt, "{state:?}");
            assert_eq!(m.depth, depth, "{state:?}");
            if attempt == DONE {
                assert_eq!(m.owner, ME);
            }
        }
    }

    #[test]
    fn unlocking() {
        use Type::*;
        let eperm = Verdict::Returns(EPERM);
        for (state, expected, depth) in [
            (held_by(ME, 1, Normal), DONE, 0),
            (held_by(ME, 2, Recursive), DONE, 1),
            (held_by(ME, 1, ErrorCheck), DONE, 0),
            (Mutex::free(Normal), Verdict::Misuse(says::NOT_HELD), 0),
            (Mutex::free(Recursive), eperm, 0),
            (Mutex::free(ErrorCheck), eperm, 0),
            (
                held_by(OTHER, 1, Normal),
                Verdict::Misuse(says::NOT_OWNER),
                1,
            ),
            (held_by(OTHER, 2, Recursive), eperm, 2),
            (held_by(OTHER, 1, ErrorCheck), eperm, 1),
        ] {
            let mut m = state;
            assert_eq!(m.unlock(ME), expected, "{state:?}");
            assert_eq!(m.depth, depth, "{state:?}");
            assert_eq!(m.held(), m.owner != NONE, "{state:?}");
        }
    }

    #[test]
    fn destroying() {
        assert_eq!(Mutex::free(Type::Normal).destroy(), DONE);
        assert_eq!(
            held_by(OTHER, 1, Type::Recursive).destroy(),
            Verdict::Misuse(says::DESTROYED_HELD)
        );
    }

    #[test]
    fn owners_that_end() {
        let mut m = held_by(ME, 1, Type::Normal);
        assert!(!m.orphan(ME), "not robust");

        let fresh = Mutex::of_kind(Kind(16)).unwrap();
        let mut m = fresh;
        assert!(!m.orphan(ME));
        assert_eq!(m.lock(ME, 9), DONE);
        assert!(!m.orphan(OTHER) && m.orphan(ME));
        assert!(m.may_lock(OTHER));
        assert_eq!(m.lock(OTHER, 9), Verdict::Returns(EOWNERDEAD));
        assert_eq!((m.owner, m.depth), (OTHER, 1));
        let told = m;

        assert_eq!(m.consistent(ME), Verdict::Returns(EINVAL));
        assert_eq!(m.consistent(OTHER), DONE);
        assert_eq!(m.unlock(OTHER), DONE);
        assert_eq!(
            m,
            Mutex {
                taken_at: 9,
                ..fresh
            }
        );

        let mut m = told;
        assert_eq!(m.unlock(OTHER), DONE);
        assert!(m.may_lock(3));
        assert_eq!(m.lock(3, 9), Verdict::Returns(ENOTRECOVERABLE));
        assert_eq!(m.try_lock(3, 9, EBUSY), Verdict::Returns(ENOTRECOVERABLE));
        assert_eq!(m.destroy(), DONE);
    }
}
