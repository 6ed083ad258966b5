//! Ordering constraints: which thread is held back until which other one has passed. They are
//! data in the job and executed in the shim at every choice of a thread; no round trip.
//!
//! A constraint never takes part in a deadlock: where only held threads could go on, and after
//! [`Constraint::patience`] steps, it is given up. What was taken is recorded as ever, so that
//! a witness needs no constraints.

use crate::Slot;
use crate::event::Kind;
use crate::slot;

/// Most constraints of a job.
pub const MOST: usize = 32;

/// Which operations: every field that is given must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Point {
    /// Return address of the call or hook ([`crate::event::Event::pc`]); 0: any.
    pub pc: u64,
    /// Address of the object; 0: any.
    pub object: u64,
    /// Only the so-many-th that agrees in the rest, from 1, counted over all threads that the
    /// point names; 0: every one.
    pub nth: u32,
    /// Who; [`slot::NONE`]: any thread.
    pub thread: Slot,
    /// A [`Kind`] as a number; 0: any.
    pub kind: u8,
    #[doc(hidden)]
    pub pad: u8,
}

impl Point {
    /// Every operation of every thread.
    pub const ANY: Point = Point {
        pc: 0,
        object: 0,
        nth: 0,
        thread: slot::NONE,
        kind: 0,
        pad: 0,
    };

    /// Does it name this operation, apart from `nth`?
    #[inline]
    pub fn agrees(&self, thread: Slot, kind: Kind, object: u64, pc: u64) -> bool {
        (self.pc == 0 || self.pc == pc)
            && (self.object == 0 || self.object == object)
            && (self.thread == slot::NONE || self.thread == thread)
            && (self.kind == 0 || self.kind == kind as u8)
    }
}

/// When an operation that [`Constraint::then`] names may be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Rule {
    /// Once another thread has performed a `first`.
    After = 0,
    /// As often as `first` has been performed, and [`Constraint::credit`] times more: with two
    /// of them two threads take turns.
    InTurn = 1,
    /// While the last operation on its object was another thread's `first`.
    RightAfter = 2,
    /// While the last operation on its object was not another thread's `first`.
    NotRightAfter = 3,
    /// As [`Rule::After`], and at once: while somebody is held, the thread that `first` names goes
    /// before all others if it can, and as soon as it has passed, who was held goes on.
    AtOnce = 4,
}

impl Rule {
    /// Decodes; unknown numbers are `None`.
    pub const fn from_u32(n: u32) -> Option<Rule> {
        Some(match n {
            0 => Rule::After,
            1 => Rule::InTurn,
            2 => Rule::RightAfter,
            3 => Rule::NotRightAfter,
            4 => Rule::AtOnce,
            _ => return None,
        })
    }
}

/// One ordering constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Constraint {
    /// Who has to pass before.
    pub first: Point,
    /// Who is held back.
    pub then: Point,
    /// A [`Rule`] as a number.
    pub rule: u32,
    /// [`Rule::InTurn`]: how often `then` may be performed beforehand.
    pub credit: u32,
    /// After so many steps during which it held somebody it is given up; 0: never.
    pub patience: u32,
    #[doc(hidden)]
    pub pad: u32,
}

impl Constraint {
    /// `then` waits for `first` in the manner of `rule`.
    pub const fn new(rule: Rule, first: Point, then: Point, patience: u32) -> Constraint {
        Constraint {
            first,
            then,
            rule: rule as u32,
            credit: 0,
            patience,
            pad: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_names_what_agrees_in_all_that_is_given() {
        let exact = Point {
            pc: 7,
            object: 8,
            thread: 2,
            kind: Kind::Read as u8,
            ..Point::ANY
        };
        let table = [
            (Point::ANY, true),
            (exact, true),
            (Point { pc: 9, ..exact }, false),
            (Point { object: 9, ..exact }, false),
            (Point { thread: 0, ..exact }, false),
            (
                Point {
                    kind: Kind::Write as u8,
                    ..exact
                },
                false,
            ),
            (Point { nth: 5, ..exact }, true),
        ];
        for (point, expected) in table {
            assert_eq!(point.agrees(2, Kind::Read, 8, 7), expected, "{point:?}");
        }
    }

    #[test]
    fn rules_survive_their_numbers() {
        for n in 0..8 {
            let rule = Rule::from_u32(n);
            assert_eq!(rule.is_some(), n < 5);
            assert!(rule.is_none_or(|r| r as u32 == n));
        }
    }
}
