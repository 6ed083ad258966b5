//! Constraints on a few threads that announce one operation each, again and again.

use super::*;
use crate::rng::Rng;

const A: u64 = 100;
const B: u64 = 200;

fn op(thread: Slot, pc: u64) -> Operation {
    Operation {
        thread,
        kind: Kind::Write,
        object: 64,
        pc,
    }
}

fn at(pc: u64) -> Point {
    Point { pc, ..Point::ANY }
}

struct World {
    steer: Box<Steer>,
    announced: Vec<Operation>,
    ready: SlotSet,
}

impl World {
    /// Thread i announces `pcs[i]`.
    fn new(constraints: &[Constraint], pcs: &[u64]) -> World {
        let mut steer = Box::new(Steer::NONE);
        steer.start(constraints);
        let mut world = World {
            steer,
            announced: Vec::new(),
            ready: SlotSet::EMPTY,
        };
        for (thread, &pc) in pcs.iter().enumerate() {
            world.announced.push(op(thread as Slot, pc));
            world.announce(thread as Slot, pc);
        }
        world
    }

    fn announce(&mut self, thread: Slot, pc: u64) {
        let op = op(thread, pc);
        self.announced[usize::from(thread)] = op;
        self.steer.announced(&op);
        self.ready.set(thread, true);
    }

    fn perform(&mut self, thread: Slot) {
        self.steer.performed(&self.announced[usize::from(thread)]);
        self.ready.set(thread, false);
    }

    fn free_with(&mut self, others: bool) -> Vec<Slot> {
        let announced = &self.announced;
        let operation = |s: Slot| announced[usize::from(s)];
        let free = self.steer.free(&self.ready, others, operation);
        free.iter().collect()
    }

    fn free(&mut self) -> Vec<Slot> {
        self.free_with(false)
    }
}

#[test]
fn after_holds_until_another_thread_has_passed() {
    let constraint = Constraint::new(Rule::After, at(A), at(B), 0);
    let mut world = World::new(&[constraint], &[B, A, 1]);
    assert_eq!(world.free(), [1, 2]);
    world.perform(2);
    assert_eq!(world.free(), [1]);
    world.perform(1);
    assert_eq!(world.free(), [0]);
    // Who passed itself does not count.
    let mut world = World::new(&[constraint], &[A, 1]);
    world.perform(0);
    world.announce(0, B);
    assert_eq!(world.free(), [1]);
    world.announce(1, A);
    world.perform(1);
    assert_eq!(world.free(), [0]);
}

#[test]
fn the_so_many_th_is_counted() {
    let second = Point { nth: 2, ..at(A) };
    let third = Point { nth: 3, ..at(B) };
    let mut world = World::new(
        &[Constraint::new(Rule::After, second, third, 0)],
        &[B, A, 1],
    );
    for _ in 0..2 {
        assert_eq!(world.free(), [0, 1, 2]);
        world.perform(0);
        world.announce(0, B);
    }
    assert_eq!(world.free(), [1, 2]);
    world.perform(1);
    world.announce(1, A);
    assert_eq!(world.free(), [1, 2]);
    world.perform(1);
    assert_eq!(world.free(), [0, 2]);
}

#[test]
fn two_threads_take_turns() {
    let first = Constraint {
        credit: 1,
        ..Constraint::new(Rule::InTurn, at(B), at(A), 0)
    };
    let second = Constraint::new(Rule::InTurn, at(A), at(B), 0);
    let mut world = World::new(&[first, second], &[A, B]);
    for turn in 0..20 {
        let thread = turn % 2;
        assert_eq!(world.free(), [thread], "turn {turn}");
        world.perform(thread);
        world.announce(thread, if thread == 0 { A } else { B });
    }
}

#[test]
fn right_after_and_not_right_after_look_at_the_last_operation_on_the_object() {
    let right = Constraint::new(Rule::RightAfter, at(A), at(B), 0);
    let mut world = World::new(&[right], &[B, A, 1]);
    assert_eq!(world.free(), [1, 2]);
    world.perform(1);
    assert_eq!(world.free(), [0, 2]);
    world.perform(2);
    world.announce(1, A);
    assert_eq!(world.free(), [1], "another operation came between");
    let never = Constraint::new(Rule::NotRightAfter, at(A), at(B), 0);
    let mut world = World::new(&[never], &[B, A, 1]);
    assert_eq!(world.free(), [0, 1, 2]);
    world.perform(1);
    assert_eq!(world.free(), [2]);
    world.perform(2);
    assert_eq!(world.free(), [0]);
}

#[test]
fn a_constraint_is_given_up_rather_than_everybody_held() {
    let mutual = [
        Constraint::new(Rule::After, at(A), at(B), 0),
        Constraint::new(Rule::After, at(B), at(A), 0),
    ];
    let mut world = World::new(&mutual, &[A, B]);
    // The last one goes first; the other still holds.
    assert_eq!(world.free(), [0]);
    world.perform(0);
    assert_eq!(world.free(), [1]);
    // Somebody else, who waits for time to pass, can go on.
    let mut world = World::new(&mutual, &[A, B]);
    assert!(world.free_with(true).is_empty());
}

#[test]
fn patience_ends() {
    let constraint = Constraint::new(Rule::After, at(A), at(B), 3);
    let mut world = World::new(&[constraint], &[B, 1]);
    for _ in 0..4 {
        assert_eq!(world.free(), [1]);
    }
    assert_eq!(world.free(), [0, 1]);
}

#[test]
fn unknown_rules_are_left_out() {
    let odd = Constraint {
        rule: 77,
        ..Constraint::new(Rule::After, at(A), at(B), 0)
    };
    let world = World::new(&[odd; 100], &[B]);
    assert!(!world.steer.is_active());
}

/// Whatever constraints there are: somebody may always go on, and held threads come free in the
/// end.
#[test]
fn arbitrary_constraints_never_stop_everybody() {
    let mut rng = Rng::new(1);
    for _ in 0..300 {
        let mut small = |n: usize| rng.below(n) as u32;
        let mut constraints = Vec::new();
        for _ in 0..1 + small(8) {
            let mut point = || Point {
                pc: u64::from(small(4)),
                object: 64 * u64::from(small(2)),
                nth: small(3),
                thread: [0, 1, 2, slot::NONE][small(4) as usize],
                kind: [0, Kind::Write as u8, 200][small(3) as usize],
                pad: 0,
            };
            let (first, then) = (point(), point());
            constraints.push(Constraint {
                first,
                then,
                rule: small(5),
                credit: [0, 1, u32::MAX][small(3) as usize],
                patience: small(50),
                pad: 0,
            });
        }
        let mut world = World::new(&constraints, &[1, 2, 3]);
        for _ in 0..200 {
            let free = world.free();
            assert!(!free.is_empty(), "{constraints:?}");
            let next = free[small(free.len()) as usize];
            world.perform(next);
            world.announce(next, u64::from(small(4)));
        }
    }
}

/// Thread 2 is let go first, then thread 0, which it waited for; thread 1 comes last.
#[test]
fn at_once_leads_to_the_first_and_back_to_who_was_held() {
    let first = Point { thread: 2, ..at(A) };
    let held = Point {
        thread: 0,
        ..Point::ANY
    };
    let constraint = Constraint::new(Rule::AtOnce, first, held, 0);
    let mut world = World::new(&[constraint], &[B, 1, 1]);
    assert_eq!(world.free(), [2]);
    world.perform(2);
    // Who goes first is blocked: others may go on.
    assert_eq!(world.free(), [1]);
    world.announce(2, A);
    assert_eq!(world.free(), [2]);
    world.perform(2);
    world.announce(2, A);
    assert_eq!(world.free(), [0]);
    assert_eq!(world.free(), [0, 1, 2]);
    // Where only the held thread can go on, the constraint is given up.
    let mut world = World::new(&[constraint], &[B, 1, A]);
    world.ready.set(1, false);
    world.ready.set(2, false);
    assert_eq!(world.free(), [0]);
    world.ready.set(2, true);
    assert_eq!(world.free(), [0, 2]);
}
