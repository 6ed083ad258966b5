//! What a schedule costs under a bound: preemptions or delays.

use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::schedule::CHOICE_BIT;

/// What bounds a search over schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Bound {
    /// Nothing.
    #[default]
    None,
    /// Switches away from a thread that could have gone on and does not wait for anything. At most
    /// so many; `None`: first 0, then 1, and so on without an end (Musuvathi, Qadeer: Iterative
    /// Context Bounding for Systematic Testing of Multithreaded Programs, PLDI 2007, section 3).
    Preemptions(Option<u32>),
    /// Departures, at most so many, from the schedule that runs each thread until it blocks and
    /// then the next one (Emmi, Qadeer, Rakamarić: Delay-Bounded Scheduling, POPL 2011, section 3):
    /// every thread that could have gone on and is passed over is one.
    Delays(u32),
}

impl Bound {
    /// What the search may spend at first; `None`: whatever it likes.
    pub fn limit(self) -> Option<u32> {
        match self {
            Bound::None => None,
            Bound::Preemptions(most) => Some(most.unwrap_or(0)),
            Bound::Delays(most) => Some(most),
        }
    }

    /// Is the limit raised when everything within it was run?
    pub fn deepens(self) -> bool {
        self == Bound::Preemptions(None)
    }

    /// The bound as text; `spent` is the limit that was reached.
    pub fn text(self, spent: u32) -> String {
        let plural = if spent == 1 { "" } else { "s" };
        match self {
            Bound::Delays(_) => format!("at most {spent} delay{plural}"),
            _ => format!("at most {spent} preemption{plural}"),
        }
    }

    /// What it costs to choose `what` at this point.
    pub fn cost(self, point: &Point, what: u16) -> u32 {
        if what & CHOICE_BIT != 0 || self == Bound::None {
            return 0;
        }
        match self {
            Bound::None => 0,
            Bound::Preemptions(_) => u32::from(point.running_goes_on && point.running != what),
            Bound::Delays(_) => {
                let first = point
                    .all
                    .iter()
                    .position(|&t| t >= point.running)
                    .unwrap_or(0);
                // A thread that waits has its turn after those above it.
                let first = match point.all.get(first) {
                    Some(&t) if t == point.running && !point.running_goes_on => first + 1,
                    _ => first,
                };
                // A target that overwrites its records may say that nobody could go on.
                let n = point.all.len().max(1);
                let place = point.all.iter().position(|&t| t == what).unwrap_or(0);
                ((place + n - first % n) % n) as u32
            }
        }
    }
}

/// One decision of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// A thread, or [`CHOICE_BIT`] with an alternative.
    pub taken: u16,
    /// All that could have been taken, lowest first.
    pub all: Vec<u16>,
    /// Who took the step before.
    pub running: Slot,
    /// It could have gone on, and neither yields nor waits.
    pub running_goes_on: bool,
}

impl Point {
    /// Was a thread interrupted that could have gone on?
    pub fn preempts(&self) -> bool {
        Bound::Preemptions(None).cost(self, self.taken) > 0
    }
}

/// The decisions of one execution, in order, from a trace with records of who was enabled.
pub fn points(events: &[Event]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut enabled: Vec<u16> = Vec::new();
    let mut running = 0;
    for event in events {
        stop::point();
        match event.kind() {
            Some(Kind::Enabled) => {
                enabled.extend(event.enabled_slots());
                running = event.thread;
            }
            Some(Kind::Choice) => points.push(Point {
                taken: event.value as u16 | CHOICE_BIT,
                all: (0..event.aux as u16).map(|n| n | CHOICE_BIT).collect(),
                running,
                running_goes_on: false,
            }),
            Some(kind) if kind.is_step() => {
                let all = std::mem::take(&mut enabled);
                let point = Point {
                    taken: event.thread,
                    running_goes_on: all.contains(&running),
                    all,
                    running,
                };
                points.push(point);
            }
            _ => {}
        }
    }
    mark_waits(events, &mut points);
    points
}

/// Corrects [`Point::running_goes_on`] where what the running thread does next yields or waits.
fn mark_waits(events: &[Event], points: &mut [Point]) {
    let next_of = |event: &Event| match event.kind() {
        Some(Kind::Pending) => Kind::from_u8(event.size),
        kind => kind.filter(|kind| kind.is_step()),
    };
    let mut next = std::collections::HashMap::new();
    let mut at = points.len();
    for event in events.iter().rev() {
        stop::point();
        if event.kind() == Some(Kind::Choice) {
            at -= 1;
            continue;
        }
        let Some(kind) = next_of(event) else { continue };
        next.insert(event.thread, kind);
        if event.kind() != Some(Kind::Pending) {
            at -= 1;
            let point = &mut points[at];
            let waits = next
                .get(&point.running)
                .is_some_and(|kind| kind.gives_way());
            point.running_goes_on &= !waits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_while_nobody_was_enabled_has_a_cost() {
        let point = Point {
            taken: 0,
            all: Vec::new(),
            running: 0,
            running_goes_on: false,
        };
        assert_eq!(Bound::Delays(1).cost(&point, 0), 0);
    }

    #[test]
    fn costs() {
        let point = |running, goes_on| Point {
            taken: 1,
            all: vec![0, 1, 4],
            running,
            running_goes_on: goes_on,
        };
        let (preemptions, delays) = (Bound::Preemptions(Some(3)), Bound::Delays(3));
        // Running, does it go on, chosen: preemptions, delays.
        let table = [
            (1, true, 1, 0, 0),
            (1, true, 4, 1, 1),
            (1, true, 0, 1, 2),
            (4, true, 0, 1, 1),
            (1, false, 4, 0, 0),
            (1, false, 0, 0, 1),
            (1, false, 1, 0, 2),
            (2, false, 4, 0, 0),
            (2, false, 1, 0, 2),
            (7, false, 0, 0, 0),
            (1, true, CHOICE_BIT | 1, 0, 0),
        ];
        for (running, goes_on, what, preempts, delayed) in table {
            let point = point(running, goes_on);
            assert_eq!(preemptions.cost(&point, what), preempts, "{running} {what}");
            assert_eq!(delays.cost(&point, what), delayed, "{running} {what}");
            assert_eq!(Bound::None.cost(&point, what), 0);
        }
    }
}
