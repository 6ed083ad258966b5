//! As [`run_until_blocked`], but for some threads that others go before.

use super::{PATIENCE, Patience, View, run_until_blocked};
use raddle_protocol::Slot;
use raddle_protocol::schedule::Tail;

/// [`raddle_protocol::schedule::Tail::Sparing`].
pub struct Sparing {
    tail: Tail,
    patience: Patience,
    /// So many steps others went before them.
    passed_over: u32,
}

impl Sparing {
    pub(super) const fn new(tail: Tail) -> Sparing {
        Sparing {
            tail,
            patience: Patience::new(),
            passed_over: 0,
        }
    }

    pub(super) fn pick(&mut self, view: &View) -> Slot {
        let Some(next) = self.before_them(view) else {
            return run_until_blocked(&mut self.patience, view);
        };
        self.passed_over += 1;
        if self.passed_over == PATIENCE {
            // Others may wait for them without a word.
            self.tail = Tail::RunUntilBlocked;
        }
        self.patience.took(view, next);
        next
    }

    /// Who goes while one of them is ready.
    fn before_them(&self, view: &View) -> Option<Slot> {
        if !view.ready.iter().any(|s| self.tail.spares(s)) {
            return None;
        }
        let stays = !self.patience.exhausted(view);
        let goes = |&s: &Slot| !self.tail.spares(s) && (stays || s != view.running);
        if view.ready.contains(view.running) && goes(&view.running) {
            return Some(view.running);
        }
        let mut others = view.ready.iter().filter(goes);
        let lowest = others.next()?;
        let above = (lowest > view.running).then_some(lowest);
        above
            .or_else(|| others.find(|&s| s > view.running))
            .or(Some(lowest))
    }
}
