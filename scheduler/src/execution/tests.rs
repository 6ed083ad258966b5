//! Random pages, and schedules drained in parts.

use super::*;
use nix::sys::eventfd::EfdFlags;
use raddle_protocol::event::Kind;
use raddle_protocol::job::{Job, push_step, total_steps};
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{CHOICE_BIT, Tail};
use raddle_protocol::shared::{self, Control, Region};
use std::sync::atomic::Ordering::SeqCst;

/// xorshift64*: a seed means the same in every build.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Bytes of one of several styles, so that small and valid numbers are as likely as huge ones.
    fn fill(&mut self, place: &mut [u8]) {
        let style = self.below(4);
        for byte in place {
            *byte = match style {
                0 => self.next() as u8,
                1 => 0,
                2 => self.below(5) as u8,
                _ if self.below(6) == 0 => self.next() as u8,
                _ => 0,
            };
        }
    }
}

/// Everything that following an execution needs, without one.
struct Stage {
    pages: Pages,
    notify: EventFd,
    stop: StopFlag,
    limits: Limits,
    output: Output,
}

impl Stage {
    fn new() -> Stage {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        Stage {
            pages: Pages::new().expect("pages"),
            notify: EventFd::from_flags(flags).expect("an eventfd"),
            stop: StopFlag::new().expect("a flag"),
            limits: Limits {
                record_bytes: 8 << 20,
                ..Limits::default()
            },
            output: Output::new(100).expect("output files"),
        }
    }

    fn control(&self) -> *mut Control {
        self.pages.raw().cast()
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= shared::TOTAL);
        // SAFETY: within the mapping.
        unsafe {
            self.pages
                .raw()
                .add(at)
                .copy_from(bytes.as_ptr(), bytes.len())
        };
    }

    fn read(&self, ended: Ended) -> Result<Trace, Trouble> {
        let watch = Watch {
            pages: &self.pages,
            notify: &self.notify,
            stop: &self.stop,
            limits: &self.limits,
            output: Some(&self.output),
            fate: Fate::End,
            patience: None,
        };
        let mut records = Records::default();
        if self.pages.drain_wanted() {
            records.drain(&self.pages, self.limits.record_bytes)?;
            self.pages.drained();
        }
        watch.read(records, ended, None)
    }
}

#[test]
fn random_pages_give_a_trace_or_an_error() {
    let mut stage = Stage::new();
    let mut random = Random(0x5eed);
    let (mut traces, mut corrupt, mut too_many) = (0, 0, 0);
    for _ in 0..6000 {
        let job = Job::new(Tail::RunUntilBlocked);
        stage.pages.write_job(&job, 0, Fate::End).expect("it fits");
        let mut buffer = [0; 600];
        // Every round the start of every region; most rounds the head at large, few its first words.
        for region in [shared::TAKEN, shared::LOG, shared::NODES] {
            let part = &mut buffer[..1 + random.below(599)];
            random.fill(part);
            stage.write(region.offset, part);
        }
        for _ in 0..random.below(4) {
            let head = Region {
                offset: 16,
                size: 400,
            };
            let region = if random.below(2) == 0 {
                head
            } else {
                shared::CONTROL
            };
            let from = region.offset + random.below(region.size - 64);
            let part = &mut buffer[..1 + random.below(63)];
            random.fill(part);
            stage.write(from, part);
        }
        if random.below(3) == 0 {
            let c = stage.control();
            // SAFETY: atomics in the mapped head.
            unsafe {
                (*c).taken_len
                    .store(random.next() >> random.below(64), SeqCst);
                (*c).log_len
                    .store(random.next() >> random.below(64), SeqCst);
                (*c).nodes_len
                    .store(random.next() >> random.below(64), SeqCst);
            }
        }
        match stage.read(Ended::Exit(3)) {
            Ok(trace) => {
                assert_ne!(trace.outcome.end, End::None);
                assert!(validate(&trace.events, &trace.nodes, &trace.taken).is_ok());
                traces += 1;
            }
            Err(Trouble::Corrupt(what)) => {
                assert!(!what.to_string().is_empty());
                corrupt += 1;
            }
            Err(Trouble::TooManyRecords) => too_many += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(
        traces > 200 && corrupt > 200 && too_many > 20,
        "{traces} traces, {corrupt} corrupt, {too_many} too many"
    );
}

#[test]
fn what_a_runtime_writes_comes_back() {
    let mut stage = Stage::new();
    let job = Job::new(Tail::RunUntilBlocked);
    stage.pages.write_job(&job, 0, Fate::End).expect("it fits");
    let event = Event {
        kind: Kind::MutexLock as u8,
        thread: 7,
        object: 8,
        ..Event::default()
    };
    let steps = [Step::thread(1, 5), Step::choice(2)];
    let c = stage.control();
    // SAFETY: the mapped pages, which nobody else uses.
    unsafe {
        stage
            .pages
            .raw()
            .add(shared::LOG.offset)
            .cast::<Event>()
            .write(event);
        stage
            .pages
            .raw()
            .add(shared::TAKEN.offset)
            .cast::<[Step; 2]>()
            .write(steps);
        (*c).log_len.store(1, SeqCst);
        (*c).taken_len.store(2, SeqCst);
        (*c).steps.store(6, SeqCst);
        (*c).threads.store(2, SeqCst);
        (*c).running.store(7, SeqCst);
        (*c).uncontrolled_len.store(1, SeqCst);
        (&raw mut (*c).uncontrolled)
            .cast::<[u8; 4]>()
            .write(*b"fork");
    }
    let trace = stage.read(Ended::Signal(11)).expect("a trace");
    assert_eq!(trace.events, [event]);
    assert_eq!(trace.taken, steps);
    assert_eq!((trace.counters.steps, trace.counters.threads), (6, 2));
    assert_eq!(trace.uncontrolled, ["fork"]);
    assert_eq!(trace.outcome.end, End::Signal);
    assert_eq!((trace.outcome.code, trace.outcome.thread), (11, 7));
    // The next job begins with clean pages.
    stage.pages.write_job(&job, 0, Fate::End).expect("it fits");
    let trace = stage.read(Ended::Exit(0)).expect("a trace");
    assert!(trace.events.is_empty() && trace.taken.is_empty() && trace.uncontrolled.is_empty());
    assert_eq!(trace.counters.steps, 0);
}

#[test]
fn a_drained_schedule_is_the_schedule() {
    let mut random = Random(77);
    for _ in 0..60 {
        let mut whole = Vec::new();
        let mut drained = Vec::new();
        let mut part = Vec::new();
        let mut previous = 0;
        for _ in 0..random.below(2000) {
            // Mostly the same thread, so that runs are long, some longer than a count can say.
            let what = match random.below(12) {
                0 => Step::choice(random.below(3) as u16).what,
                1 => random.below(3) as u16,
                _ => previous,
            };
            if what & CHOICE_BIT == 0 {
                previous = what;
            }
            for _ in 0..if random.below(400) == 0 { 70_000 } else { 1 } {
                push_step(&mut whole, what);
                push_step(&mut part, what);
            }
            if random.below(30) == 0 {
                append_steps(&mut drained, &std::mem::take(&mut part));
            }
        }
        append_steps(&mut drained, &part);
        assert_eq!(total_steps(&drained), total_steps(&whole));
        assert!(
            drained == whole,
            "{} runs, not {}",
            drained.len(),
            whole.len()
        );
    }
}
