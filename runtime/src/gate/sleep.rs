//! Sleep sets at work: threads whose next step leads only to what another execution has (Godefroid,
//! LNCS 1032, 1996, section 5). Whoever sleeps is not chosen until a step that conflicts with its
//! own has been performed; when all that could go on sleep, the execution is given up.

use super::core::{Gate, Stop};
use super::operands::Intents;
use super::{Fatal, Pending};
use crate::pages::Os;
use crate::slots::SlotSet;
use raddle_protocol::conflict::{Footprint, MOST_SLEEPERS, Unrecorded, marks};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::update::Operands;
use raddle_protocol::{Slot, slot};

/// The sleep set of a job. It begins to count where the prefix ends.
pub struct Sleep {
    sleepers: &'static [Footprint],
    /// A bit for each that was woken.
    woken: [u64; MOST_SLEEPERS / 64],
    /// The prefix is used up, and somebody sleeps still.
    active: bool,
    asleep: SlotSet,
    ready: SlotSet,
    timed: SlotSet,
    /// The [`Kind::Operands`] record of the step whose own comes next.
    operands: Option<Event>,
    pub(super) intents: Intents,
}

impl Sleep {
    /// Nobody sleeps.
    pub const NONE: Sleep = Sleep {
        sleepers: &[],
        woken: [0; MOST_SLEEPERS / 64],
        active: false,
        asleep: SlotSet::EMPTY,
        ready: SlotSet::EMPTY,
        timed: SlotSet::EMPTY,
        operands: None,
        intents: Intents::NONE,
    };

    /// Takes the set of a job (the first [`MOST_SLEEPERS`]; fewer sleepers are no mistake).
    pub fn start(&mut self, sleepers: &'static [Footprint]) {
        self.sleepers = &sleepers[..sleepers.len().min(MOST_SLEEPERS)];
        // An execution that begins as a copy of another one may find that one's sleepers here.
        self.woken = [0; MOST_SLEEPERS / 64];
        self.operands = None;
        self.intents.start();
        if self.active {
            self.active = false;
            self.asleep.clear();
        }
    }

    /// Is anybody asleep now?
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Who of the ready ones is awake, and who of those that can let their time run out.
    pub fn awake(&self) -> (&SlotSet, &SlotSet) {
        (&self.ready, &self.timed)
    }

    /// The rest of the job's set is asleep from now on.
    fn begin(&mut self) {
        for sleeper in self.sleepers {
            self.asleep.set(sleeper.thread % slot::COUNT as Slot, true);
        }
        self.active = !self.asleep.is_empty();
        if !self.active {
            self.sleepers = &[];
        }
    }

    /// A step was performed.
    fn performed(&mut self, step: &Footprint) {
        for (i, sleeper) in self.sleepers.iter().enumerate() {
            let (word, bit) = (i / 64, 1 << (i % 64));
            if self.woken[word] & bit == 0 && sleeper.conflicts(step) {
                self.woken[word] |= bit;
                self.asleep.set(sleeper.thread % slot::COUNT as Slot, false);
            }
        }
        if self.asleep.is_empty() {
            (self.active, self.sleepers) = (false, &[]);
        }
    }
}

impl<O: Os> Gate<O> {
    /// To be called when the prefix is used up, before the policy chooses: finds who is awake.
    /// `Err`: nobody is, and the outcome says so.
    #[inline]
    pub(super) fn look_who_sleeps(&mut self) -> Result<(), Stop> {
        match self.sleep.sleepers.is_empty() {
            true => Ok(()),
            false => self.sort_sleepers(),
        }
    }

    #[cold]
    fn sort_sleepers(&mut self) -> Result<(), Stop> {
        if !self.sleep.active {
            self.sleep.begin();
        }
        let Gate {
            ready,
            timed,
            sleep,
            ..
        } = self;
        sleep.ready.difference(ready, &sleep.asleep);
        sleep.timed.difference(timed, &sleep.asleep);
        if !sleep.ready.is_empty() || !sleep.timed.is_empty() {
            return Ok(());
        }
        Err(self.record(&Fatal {
            end: End::Redundant,
            code: 0,
            message: format_args!("what would follow is part of another execution"),
            detail: [0; 4],
            pc: 0,
            stack: false,
        }))
    }

    /// The running thread performed the step of this record (or looked at the clock as part of
    /// it, or lets others go first behind it).
    #[cold]
    pub(super) fn wake_sleepers(&mut self, event: &Event) {
        let kind = event.kind();
        if kind == Some(Kind::Operands) {
            self.sleep.operands = Some(*event);
            return;
        }
        let step = if kind == Some(Kind::PassedOver) && event.value != 0 {
            // Another step has to come next: this one commutes with none.
            Footprint::everything(self.running())
        } else if kind == Some(Kind::ClockRead) {
            Footprint {
                thread: self.running(),
                marks: marks::of_look(event.value),
                about: slot::NONE,
                ..Footprint::default()
            }
        } else if kind.is_some_and(Kind::is_step) {
            let event = Event {
                thread: self.running(),
                ..*event
            };
            let operands = self.sleep.operands.take();
            let beside = beside(self.pending(self.running()), &event, operands);
            Footprint::of(&event, beside).awaiting(self.awaited())
        } else {
            return;
        };
        self.sleep.performed(&step);
    }
}

/// What the record of the operation `p`, just performed, does not say.
fn beside(p: &Pending, event: &Event, operands: Option<Event>) -> Unrecorded {
    let released = p.object != event.object;
    let idle = |record: &Event| match Operands::of_record(record) {
        (operands, Some(found)) => operands.leaves(found, Operands::size_of(event)),
        (_, None) => false,
    };
    Unrecorded {
        mutex: if released { p.object } else { p.aux },
        released,
        idle: operands.as_ref().is_some_and(idle),
    }
}
