//! An adversary: threads give way at the moments at which it hurts.

use super::{Operation, PATIENCE, Patience, View, greatest, reads_only};
use crate::slots::PerSlot;
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;
use raddle_protocol::schedule::Moment;

/// So often threads give way. Those that avoid each other (`std::lock`) may do so in lockstep for as
/// long as that goes on.
const MOST: u32 = 4_000;

/// [`raddle_protocol::schedule::Tail::GiveWay`].
pub struct GiveWay {
    moment: Moment,
    patience: Patience,
    /// The step that each thread took last; 0: it has taken none.
    ran: PerSlot<u64>,
    /// The moment has come with the step that was taken last.
    due: bool,
    /// After so many more switches threads do not give way any more.
    left: u32,
}

impl GiveWay {
    pub(super) fn new(moment: Moment) -> GiveWay {
        let mut ran = PerSlot::new();
        ran.map();
        GiveWay {
            moment,
            patience: Patience::new(),
            ran,
            due: false,
            left: MOST,
        }
    }

    pub(super) fn pick(&mut self, view: &View, operation: impl Fn(Slot) -> Operation) -> Slot {
        let next = match self.patience.sleeper(view) {
            Some(sleeper) => sleeper,
            None if self.stays(view, &operation) => view.running,
            None => self.another(view, &operation),
        };
        if next != view.running {
            self.left = self.left.saturating_sub(1);
        }
        let performed = operation(next);
        self.due = follows(self.moment, performed);
        self.ran[next] = view.step;
        self.patience.took(view, next);
        next
    }

    /// Does the running thread go on?
    fn stays(&self, view: &View, operation: impl Fn(Slot) -> Operation) -> bool {
        // Nobody runs where the running thread has ended.
        view.ready.contains(view.running)
            && !self.patience.exhausted(view)
            && !ends(view, &operation, view.running)
            && (self.left == 0 || !self.due && !precedes(self.moment, operation(view.running)))
    }

    /// Who goes before the running thread; that one itself if there is nobody else.
    fn another(&self, view: &View, operation: impl Fn(Slot) -> Operation) -> Slot {
        let other = |s: Slot| (!ends(view, &operation, s), s != view.running);
        let waits = |s: Slot| i64::MAX - self.ran[s] as i64;
        let longest = greatest(view.ready, |s| (other(s), waits(s)));
        let Some(longest) = longest else {
            return view.earliest;
        };
        let ran = self.ran[longest];
        let starves = ran != 0 && ran + u64::from(PATIENCE) < view.step;
        if self.moment == Moment::Changes || starves {
            return longest;
        }
        let newest = greatest(view.ready, |s| (other(s), self.ran[s] == 0, self.ran[s], s));
        newest.unwrap_or(longest)
    }
}

/// Would this thread end the process, and has to let others go first?
fn ends(view: &View, operation: impl Fn(Slot) -> Operation, s: Slot) -> bool {
    view.ends_last && matches!(operation(s).kind, Kind::ProcessEnd | Kind::ExitNext)
}

/// Is the moment come once this was performed?
fn follows(moment: Moment, op: Operation) -> bool {
    op.object != 0 && reads_only(op.kind) == (moment == Moment::Looks)
}

/// Is it come before this is?
fn precedes(moment: Moment, op: Operation) -> bool {
    match moment {
        Moment::Changes => follows(moment, op),
        Moment::Looks => matches!(
            op.kind,
            Kind::MutexLock | Kind::MutexTimedLock | Kind::SpinLock | Kind::RwWrite
        ),
    }
}
