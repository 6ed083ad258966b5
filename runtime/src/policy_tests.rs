use super::*;
use raddle_protocol::schedule::Moment;

/// A world of `n` threads that are ready all the time, unless a test says otherwise.
struct World {
    policy: Policy,
    ready: SlotSet,
    timed: SlotSet,
    announced: SlotSet,
    operations: Vec<Operation>,
    running: Slot,
    kind: Kind,
    step: u64,
    ends_last: bool,
}

impl World {
    fn new(tail: Tail, n: usize) -> World {
        let mut world = World {
            policy: Policy::new(tail.to_words()).unwrap(),
            ready: SlotSet::EMPTY,
            timed: SlotSet::EMPTY,
            announced: SlotSet::EMPTY,
            operations: vec![
                Operation {
                    object: 0,
                    kind: Kind::Write
                };
                n
            ],
            running: 0,
            kind: Kind::MutexLock,
            step: 0,
            ends_last: false,
        };
        for s in 0..n as Slot {
            world.ready.set(s, true);
            world.announced.set(s, true);
            world.policy.created(s);
            world.policy.announced(s);
        }
        world
    }

    /// `s` can go on only by a time-out.
    fn put_to_sleep(&mut self, s: Slot) {
        self.ready.set(s, false);
        self.timed.set(s, true);
    }

    fn pick(&mut self) -> Slot {
        self.step += 1;
        let view = View {
            running: self.running,
            kind: self.kind,
            ready: &self.ready,
            timed: &self.timed,
            earliest: self.timed.next(0).unwrap_or(raddle_protocol::slot::NONE),
            step: self.step,
            ends_last: self.ends_last,
        };
        let operations = &self.operations;
        let next = self
            .policy
            .pick(&view, &self.announced, |s| operations[usize::from(s)]);
        assert!(self.ready.contains(next) || self.timed.contains(next));
        self.running = next;
        self.policy.announced(next);
        next
    }

    fn picks(&mut self, n: usize) -> Vec<Slot> {
        (0..n).map(|_| self.pick()).collect()
    }
}

fn tails() -> [Tail; 7] {
    [
        Tail::RunUntilBlocked,
        Tail::Random { seed: 5 },
        Tail::Pct {
            seed: 5,
            depth: 4,
            steps: 100,
        },
        Tail::Pos { seed: 5 },
        Tail::GiveWay {
            moment: Moment::Changes,
        },
        Tail::GiveWay {
            moment: Moment::Looks,
        },
        Tail::Sparing { threads: 0b10 },
    ]
}

#[test]
fn unknown_words_are_refused() {
    assert!(Policy::new([9, 0, 0, 0]).is_none());
}

#[test]
fn somebody_goes_on_where_the_running_thread_has_ended() {
    for tail in tails() {
        let mut world = World::new(tail, 3);
        world.picks(5);
        world.ready.set(world.running, false);
        world.running = raddle_protocol::slot::NONE;
        world.pick();
    }
}

#[test]
fn equal_seeds_choose_equally_and_others_differently() {
    for tail in tails() {
        let (mut a, mut b) = (World::new(tail, 5), World::new(tail, 5));
        assert_eq!(a.picks(300), b.picks(300), "{tail:?}");
        assert_eq!(a.policy.choose(1000), b.policy.choose(1000));
    }
    let random = |seed| World::new(Tail::Random { seed }, 5).picks(50);
    assert_ne!(random(1), random(2));
    let pos = |seed| World::new(Tail::Pos { seed }, 5).picks(50);
    assert_ne!(pos(1), pos(2));
}

#[test]
fn run_until_blocked_stays_then_goes_round() {
    let mut world = World::new(Tail::RunUntilBlocked, 3);
    assert_eq!(world.picks(3), [0, 0, 0]);
    world.ready.set(0, false);
    assert_eq!(world.picks(2), [1, 1]);
    world.ready.set(0, true);
    world.ready.set(1, false);
    assert_eq!(world.pick(), 2);
    world.ready.set(2, false);
    assert_eq!(world.pick(), 0, "round the corner");
}

#[test]
fn others_go_before_those_that_are_spared() {
    let mut world = World::new(Tail::Sparing { threads: 0b110 }, 4);
    assert_eq!(world.picks(2), [0, 0]);
    world.ready.set(0, false);
    assert_eq!(world.picks(2), [3, 3]);
    world.ready.set(3, false);
    assert_eq!(world.picks(2), [1, 1]);
    world.ready.set(0, true);
    assert_eq!(world.pick(), 0, "before the next step of those");
    world.kind = Kind::Yield;
    assert_eq!(world.picks(4), [1, 0, 1, 0], "to whom it gives way");

    let mut world = World::new(Tail::Sparing { threads: 0b100 }, 3);
    world.kind = Kind::Yield;
    let picks = world.picks(PATIENCE as usize + 3);
    let first = picks.iter().position(|&s| s == 2).unwrap();
    assert!(first.abs_diff(PATIENCE as usize) < 3, "{first}: it starves");
}

#[test]
fn run_until_blocked_lets_others_pass_spinners() {
    let mut world = World::new(Tail::RunUntilBlocked, 2);
    world.kind = Kind::Yield;
    assert_eq!(world.picks(4), [1, 0, 1, 0]);
    let mut world = World::new(Tail::RunUntilBlocked, 2);
    let picks = world.picks(3 * PATIENCE as usize);
    let longest = picks
        .chunk_by(|a, b| a == b)
        .map(<[Slot]>::len)
        .max()
        .unwrap();
    assert_eq!(longest, PATIENCE as usize);
}

#[test]
fn sleepers_get_their_turn_under_every_rule_but_rarely() {
    for tail in tails() {
        let mut world = World::new(tail, 3);
        world.put_to_sleep(2);
        let picks = world.picks(20_000);
        let share = picks.iter().filter(|&&s| s == 2).count();
        assert!((1..=1_200).contains(&share), "{tail:?}: {share}");
        world.ready.set(0, false);
        world.ready.set(1, false);
        assert_eq!(world.pick(), 2, "{tail:?}: nobody else is left");
    }
}

#[test]
fn random_is_uniform_over_ready_threads() {
    let mut world = World::new(Tail::Random { seed: 3 }, 4);
    let picks = world.picks(40_000);
    for s in 0..4 {
        let n = picks.iter().filter(|&&p| p == s).count();
        assert!((9_500..10_500).contains(&n), "{s}: {n}");
    }
}

/// With depth 1 there are only initial priorities: one thread runs alone until it blocks.
#[test]
fn pct_of_depth_1_never_preempts() {
    for seed in 0..50 {
        let mut world = World::new(
            Tail::Pct {
                seed,
                depth: 1,
                steps: 500,
            },
            4,
        );
        let picks = world.picks(500);
        assert!(picks.iter().all(|s| *s == picks[0]));
    }
}

/// Depth d has d - 1 change points, all within the given number of steps.
#[test]
fn pct_changes_at_most_depth_minus_1_times() {
    let mut most = 0;
    for seed in 0..200 {
        let mut world = World::new(
            Tail::Pct {
                seed,
                depth: 4,
                steps: 200,
            },
            6,
        );
        let picks = world.picks(800);
        let switches: Vec<usize> = (1..800).filter(|&i| picks[i] != picks[i - 1]).collect();
        assert!(switches.len() <= 3, "{switches:?}");
        assert!(switches.iter().all(|&at| at < 200));
        most = most.max(switches.len());
    }
    assert_eq!(most, 3);
}

/// Every thread is first about equally often: initial priorities are a random order.
#[test]
fn pct_orders_threads_at_random() {
    let mut first = [0; 4];
    for seed in 0..4_000 {
        let mut world = World::new(
            Tail::Pct {
                seed,
                depth: 1,
                steps: 10,
            },
            4,
        );
        first[usize::from(world.pick())] += 1;
    }
    assert!(first.iter().all(|n| (850..1_150).contains(n)), "{first:?}");
}

#[test]
fn pct_demotes_who_yields() {
    let mut world = World::new(
        Tail::Pct {
            seed: 1,
            depth: 1,
            steps: 10,
        },
        3,
    );
    world.kind = Kind::Yield;
    let picks = world.picks(6);
    assert_eq!(picks[..3], picks[3..], "all three in turn");
    assert!(picks[0] != picks[1] && picks[1] != picks[2] && picks[0] != picks[2]);
}

#[test]
fn races_need_the_same_object_and_a_write() {
    let op = |object, kind| Operation { object, kind };
    let (read, write) = (Kind::Read, Kind::Write);
    for (a, b, races) in [
        (op(8, write), op(8, write), true),
        (op(8, read), op(8, write), true),
        (op(8, read), op(8, read), false),
        (op(8, write), op(9, write), false),
        (op(0, write), op(0, write), false),
    ] {
        assert_eq!(a.races(b), races);
        assert_eq!(b.races(a), races);
    }
}

/// The point of POS: a pending event keeps its priority until something races with it.
#[test]
fn pos_redraws_only_what_races() {
    for races in [false, true] {
        let mut world = World::new(Tail::Pos { seed: 11 }, 2);
        // Thread 1 keeps one event pending; thread 0 executes event after event.
        world.operations[0].object = 1;
        world.operations[1].object = if races { 1 } else { 2 };
        world.ready.set(1, false);
        world.ready.set(1, true);
        let Policy::Pos(pos) = &mut world.policy else {
            panic!()
        };
        pos.priorities[1] = 1; // the least
        pos.priorities[0] = 2;
        assert_eq!(world.pick(), 0);
        let Policy::Pos(pos) = &mut world.policy else {
            panic!()
        };
        assert_eq!(pos.priorities[1] == 1, !races);
    }
}

/// Change points that lie within a prefix have no effect after it.
#[test]
fn pct_leaves_out_changes_that_a_prefix_passed() {
    for seed in 0..50 {
        let tail = Tail::Pct {
            seed,
            depth: 4,
            steps: 100,
        };
        let mut world = World::new(tail, 4);
        world.step = 100;
        let picks = world.picks(300);
        assert!(picks.iter().all(|s| *s == picks[0]));
    }
}

fn giving_way(moment: Moment, threads: usize, kind: Kind) -> World {
    let mut world = World::new(Tail::GiveWay { moment }, threads);
    for operation in &mut world.operations {
        *operation = Operation { object: 64, kind };
    }
    world
}

#[test]
fn who_changes_an_object_gives_way_before_and_after_to_who_has_waited_longest() {
    let mut world = giving_way(Moment::Changes, 3, Kind::Write);
    assert_eq!(world.picks(7), [1, 0, 2, 1, 0, 2, 1]);
    let mut world = giving_way(Moment::Changes, 3, Kind::Read);
    world.operations[0].kind = Kind::Write;
    assert_eq!(world.picks(4), [1, 1, 1, 1], "no reader gives way");
    world.ready.set(1, false);
    world.ready.set(2, false);
    assert_eq!(world.picks(2), [0, 0], "to nobody");
}

#[test]
fn who_looks_gives_way_to_the_newest() {
    let mut world = giving_way(Moment::Looks, 3, Kind::Read);
    assert_eq!(world.picks(6), [0, 2, 1, 2, 1, 2]);
    let mut world = giving_way(Moment::Looks, 3, Kind::MutexLock);
    world.operations[2].kind = Kind::MutexUnlock;
    assert_eq!(world.picks(3), [2, 2, 2], "before it locks");
}

#[test]
fn who_ends_the_process_lets_others_go_first_where_that_is_asked_for() {
    for (moment, kind) in [(Moment::Changes, Kind::Write), (Moment::Looks, Kind::Read)] {
        let mut world = giving_way(moment, 3, kind);
        world.operations[2].kind = Kind::ProcessEnd;
        assert!(world.picks(6).contains(&2), "{moment:?}");
        world.ends_last = true;
        world.running = 2;
        assert!(!world.picks(6).contains(&2), "{moment:?}");
        world.ready.set(0, false);
        world.ready.set(1, false);
        assert_eq!(world.picks(2), [2, 2], "nobody else can go");
    }
}

/// Lockstep comes to an end: from some time on a thread goes on for as long as it can.
#[test]
fn threads_do_not_give_way_for_ever() {
    let mut world = giving_way(Moment::Changes, 2, Kind::MutexUnlock);
    let picks = world.picks(10_000);
    let switches = |picks: &[Slot]| picks.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(switches(&picks[..1_000]), 999);
    assert!(switches(&picks[5_000..]) <= 5_000 / PATIENCE as usize);
}

/// Two that look time and again let the third one pass.
#[test]
fn nobody_starves_where_threads_give_way() {
    for moment in [Moment::Changes, Moment::Looks] {
        let mut world = giving_way(moment, 3, Kind::Read);
        let picks = world.picks(5 * PATIENCE as usize);
        for s in 0..3 {
            let times = picks.iter().filter(|&&p| p == s).count();
            assert!(times > 1, "{moment:?}: thread {s} came {times} times");
        }
    }
}
