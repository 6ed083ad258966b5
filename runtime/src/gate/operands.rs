//! What accesses find and compute, for searches that are to miss nothing (`flags::EXHAUSTIVE`): see
//! `raddle_protocol::update`.

use super::Pending;
use super::core::Gate;
use crate::os;
use crate::pages::Os;
use crate::slots::{PerSlot, Zero};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::update::Operands;

/// What a thread is about to do to memory.
pub(super) struct Intent {
    at: u64,
    /// 0: nothing was said yet.
    size: u64,
    operands: core::mem::MaybeUninit<Operands>,
}

// SAFETY: nobody looks at the operands where the size is 0.
unsafe impl Zero for Intent {}

/// The intents of all threads.
pub(super) struct Intents(PerSlot<Intent>);

impl Intents {
    pub(super) const NONE: Intents = Intents(PerSlot::new());

    pub(super) fn start(&mut self) {
        self.0.map();
    }

    /// What `s` computes in the access that it has announced, if it has said that.
    fn of(&self, s: Slot, p: &Pending) -> Option<Operands> {
        let intent = &self.0[s];
        let changes = matches!(p.kind, Kind::Write | Kind::AtomicWrite | Kind::Rmw);
        let this = intent.size != 0 && (intent.at, intent.size) == (p.object, p.aux);
        // SAFETY: written before the size was.
        (changes && this).then(|| unsafe { intent.operands.assume_init() })
    }
}

impl<O: Os> Gate<O> {
    /// The running thread is about to announce an access that computes this.
    pub(super) fn intends(&mut self, at: u64, size: u64, operands: Operands) {
        let me = self.running();
        self.sleep.intents.0[me] = Intent {
            at,
            size,
            operands: core::mem::MaybeUninit::new(operands),
        };
    }

    /// The running thread does not say what it is about to do.
    pub(super) fn intends_something(&mut self) {
        let me = self.running();
        self.sleep.intents.0[me].size = 0;
    }

    /// The record that stands before that of what `s` has announced and did not do, if that may
    /// change memory.
    pub(super) fn announced_operands(&self, s: Slot, p: &Pending) -> Option<Event> {
        let operands = self.sleep.intents.of(s, p)?;
        let mut content = [0; 8];
        let bytes = content.get_mut(..p.aux as usize)?;
        let found = os::try_read(p.object as usize, bytes);
        Some(operands.record(s, found.then(|| u64::from_le_bytes(content))))
    }
}
