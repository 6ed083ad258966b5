//! What it costs to look at an execution for races, orders of locks and threads left behind, in
//! nanoseconds an event: `cargo bench -p raddle-analyzer --bench looking`.

use raddle_analyzer::{leaks, locks, races};
use raddle_protocol::event::{Event, Kind};
use std::hint::black_box;
use std::time::Instant;

const THREADS: u16 = 4;
/// Each measurement is the best of so many.
const TRIES: usize = 15;

fn event(thread: u16, kind: Kind, object: u64, value: u64) -> Event {
    let access = matches!(
        kind,
        Kind::Read | Kind::Write | Kind::Rmw | Kind::AtomicRead
    );
    Event {
        kind: kind as u8,
        size: if access { 8 } else { 0 },
        thread,
        object,
        value,
        pc: 0x400_0000 + u64::from(kind as u8) * 16 + object % 4096,
        ..Event::default()
    }
}

/// An execution without a race: threads take turns under a lock, touch what they share and what is
/// theirs, and count in an atomic.
fn trace(rounds: u64) -> Vec<Event> {
    let mut events: Vec<Event> = (1..=THREADS)
        .map(|t| event(0, Kind::ThreadCreate, 0, u64::from(t)))
        .collect();
    for round in 0..rounds {
        let thread = (round % u64::from(THREADS)) as u16 + 1;
        let (shared, own) = (0x1000_0000, 0x2000_0000 + u64::from(thread) * 0x10_0000);
        events.push(event(thread, Kind::MutexLock, 0x500, 0));
        for n in 0..8 {
            let at = 8 * ((round * 7 + n * 13) % 512);
            events.push(event(thread, Kind::Read, shared + at, 0));
            events.push(event(thread, Kind::Write, own + at, n));
            events.push(event(thread, Kind::Write, shared + at, n));
        }
        events.push(event(thread, Kind::MutexUnlock, 0x500, 0));
        events.push(event(thread, Kind::Rmw, 0x600, round));
    }
    events
}

/// The best time for `work` on this trace, in nanoseconds an event.
fn measure(events: &[Event], work: impl Fn(&[Event])) -> f64 {
    let once = || {
        let started = Instant::now();
        work(black_box(events));
        started.elapsed().as_nanos() as f64 / events.len() as f64
    };
    (0..TRIES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn main() {
    println!(
        "{:>9} {:>7} {:>7} {:>7}",
        "events", "races", "locks", "leaks"
    );
    for rounds in [4, 400, 40_000] {
        let events = trace(rounds);
        assert_eq!(races::distinct(&events), [], "the trace has no race");
        let races = measure(&events, |e| drop(black_box(races::distinct(e))));
        let locks = measure(&events, |e| drop(black_box(locks::cycles(e))));
        let leaks = measure(&events, |e| drop(black_box(leaks::leaks(e))));
        println!("{:>9} {races:>7.1} {locks:>7.1} {leaks:>7.1}", events.len());
    }
}
