//! The stack of a guided search: the decisions of one execution and what else is to be tried there.

use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::{CHOICE_BIT, Step};

/// One decision: an abstract state `s` of the paper's search stack.
#[derive(Clone, Debug)]
pub struct Point {
    /// What was taken: a thread, or a choice with its bit.
    pub taken: u16,
    /// What could be taken.
    pub enabled: Vec<u16>,
    /// `s.backtrack`, without what is in `done`.
    pub backtrack: Vec<u16>,
    /// `s.done`.
    pub done: Vec<u16>,
    /// Who had run before.
    running: Slot,
    /// Index of the first step of a thread from here on.
    pub step: usize,
}

impl Point {
    /// Marks `what` as to be tried.
    pub fn add(&mut self, what: u16) {
        if !self.done.contains(&what) && !self.backtrack.contains(&what) {
            self.backtrack.push(what);
        }
    }

    /// Does taking `what` interrupt a thread that could go on?
    pub fn preempts(&self, what: u16) -> bool {
        what & CHOICE_BIT == 0 && what != self.running && self.enabled.contains(&self.running)
    }
}

/// The decisions of an execution that has [`Kind::Enabled`] records.
pub fn points(events: &[Event]) -> Vec<Point> {
    let mut points = Vec::new();
    let mut enabled: Vec<u16> = Vec::new();
    let mut running = raddle_protocol::slot::NONE;
    let mut step = 0;
    for event in events {
        let (taken, among) = match event.kind() {
            Some(Kind::Enabled) => {
                running = event.thread;
                enabled.extend(event.enabled_slots());
                continue;
            }
            Some(Kind::Choice) => {
                let all = (0..event.aux as u16).map(|n| n | CHOICE_BIT).collect();
                (event.value as u16 | CHOICE_BIT, all)
            }
            Some(kind) if kind.is_step() => (event.thread, std::mem::take(&mut enabled)),
            _ => continue,
        };
        let is_choice = taken & CHOICE_BIT != 0;
        let mut point = Point {
            taken,
            enabled: among,
            backtrack: Vec::new(),
            done: vec![taken],
            running,
            step,
        };
        if is_choice {
            // What a choice changes is nobody's statement: all of it is tried.
            point.enabled.clone().into_iter().for_each(|n| point.add(n));
        }
        step += usize::from(!is_choice);
        points.push(point);
    }
    points
}

/// Takes back decisions until one has something left to try, and takes that; `None` when nothing is
/// left. The prefix that leads there.
pub fn backtrack(points: &mut Vec<Point>) -> Option<Vec<Step>> {
    loop {
        let last = points.last_mut()?;
        if let Some(next) = last.backtrack.pop() {
            last.taken = next;
            last.done.push(next);
            break;
        }
        points.pop();
    }
    let mut prefix = Vec::new();
    for point in points.iter() {
        push_step(&mut prefix, point.taken);
    }
    Some(prefix)
}
