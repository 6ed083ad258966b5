//! Snapshots: executions that stand still where others go on from (DESIGN §5). A prefix that many
//! jobs share runs once.
//!
//! Two sorts are made. One stands before the first step that has an alternative, and serves all
//! jobs of its kind: a long start-up is over by then. The others stand half-way along the prefix of
//! a job of an exhaustive search, which will come back there; they are made where steps are so
//! slow that it pays. Times decide whether a copy is used, never what is run: from a copy an
//! execution is the same as from the start.

use crate::error::RunError;
use crate::execution::{Execution, Records};
use crate::pages::{Freeze, Pages};
use crate::stop::StopFlag;
use crate::sys;
use nix::sys::eventfd::EventFd;
use raddle_protocol::job::{Input, Job};
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::shared::{flags, freeze};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Jobs with these flags always start at the beginning: a debugger, kernel threads that a clone
/// does not have, expressions that refer to each other by number.
const FROM_THE_START: u32 =
    flags::SYMBOLIC | flags::KERNEL_THREADS | flags::DIRECT | flags::TRAP | flags::WATCH_LOOPS;
/// So many executions of a kind begin at the start, in which the zygote learns which threads the
/// program makes, before there is a snapshot.
const LEARNING: u32 = 2;
/// Kinds of jobs that are remembered.
const KINDS: usize = 16;
/// So many clones of a copy are made ready to be put back before it is asked whether they are, and
/// so often each has to be.
const TRIALS: u32 = 2;
const REWINDS: u32 = 4;
/// What a copy half-way has to save, at least.
const WORTHWHILE: Duration = Duration::from_millis(2);

/// What all jobs that may start from the same copy have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    flags: u32,
    inputs: Vec<Input>,
    clock_base: u64,
    entropy: u64,
}

impl Kind {
    fn of(job: &Job) -> Kind {
        Kind {
            flags: job.flags,
            inputs: job.inputs.clone(),
            clock_base: job.clock_base,
            entropy: job.entropy,
        }
    }

    fn is_of(&self, job: &Job) -> bool {
        self.flags == job.flags
            && self.inputs == job.inputs
            && self.clock_base == job.clock_base
            && self.entropy == job.entropy
    }
}

/// What is known of a kind of jobs.
#[derive(Debug)]
struct Known {
    kind: Kind,
    runs: u32,
    /// A snapshot before the first choice was made, or cannot or need not be.
    settled: bool,
    /// Copies can be made at all.
    fit: bool,
}

#[derive(Debug)]
struct Snapshot {
    kind: Kind,
    process: Execution,
    slot: u32,
    /// Before the first choice.
    first: bool,
    /// It knows what constraints may count.
    constraints: bool,
    /// What it left behind before.
    head: Records,
    /// When it was used last.
    used: u64,
    /// A clone of it that was put back and waits for a job.
    rewound: Option<Execution>,
    /// How many clones were to be put back, and how often one was.
    rewinding: u32,
    rewinds: u32,
}

impl Snapshot {
    fn serves(&self, job: &Job) -> bool {
        (self.constraints || job.constraints.is_empty())
            && (self.first || explores(job))
            && self.kind.is_of(job)
            && begins_with(&job.prefix, self.head.taken(), self.first)
    }

    fn depth(&self) -> u64 {
        raddle_protocol::job::total_steps(self.head.taken())
    }
}

/// Is it one of many jobs that differ in the end of their prefixes?
fn explores(job: &Job) -> bool {
    matches!(job.tail, Tail::RunUntilBlocked | Tail::Sparing { .. })
        && job.flags & flags::TOLERANT == 0
        && job.constraints.is_empty()
}

fn entries(steps: &[Step]) -> impl Iterator<Item = u16> + '_ {
    let repeat = |s: &Step| std::iter::repeat_n(s.what, usize::from(s.count));
    steps.iter().flat_map(repeat)
}

/// Does a job with this prefix do what `head` did? `forced`: `head` had no alternatives, so that a
/// prefix may end within it.
fn begins_with(prefix: &[Step], head: &[Step], forced: bool) -> bool {
    let mut prefix = entries(prefix);
    entries(head).all(|done| match prefix.next() {
        Some(wanted) => wanted == done,
        None => forced,
    })
}

/// The copies of one target.
#[derive(Debug, Default)]
pub struct Snapshots {
    all: Vec<Snapshot>,
    known: Vec<Known>,
    uses: u64,
    /// Nanoseconds a step, averaged over the last executions.
    pace: f64,
    /// How many executions were put back.
    rewinds: u64,
}

impl Snapshots {
    /// Ends all copies. What is known of the kinds of jobs stays.
    pub fn clear(&mut self) {
        self.all.clear();
        for known in &mut self.known {
            known.settled = false;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many executions were put back so far.
    pub fn rewinds(&self) -> u64 {
        self.rewinds
    }

    /// An execution took so long.
    pub fn took(&mut self, steps: u64, time: Duration) {
        let pace = time.as_nanos() as f64 / steps.max(1) as f64;
        self.pace += (pace - self.pace) / 8.0;
    }

    /// Shall the execution of `job` become a copy first?
    pub fn wish(&mut self, job: &Job) -> Option<Freeze> {
        if job.flags & FROM_THE_START != 0 {
            return None;
        }
        let known = self.known(job);
        known.runs = known.runs.saturating_add(1);
        if !known.fit || known.runs <= LEARNING {
            return None;
        }
        if !known.settled && job.constraints.is_empty() {
            known.settled = true;
            let at = freeze::FIRST_CHOICE;
            return self.slot(&[]).map(|slot| Freeze { at, slot });
        }
        if !explores(job) {
            return None;
        }
        let from = self.find(job);
        let depth = from.map_or(0, |i| self.all[i].depth());
        let gap = raddle_protocol::job::total_steps(&job.prefix).saturating_sub(depth) / 2;
        if (gap as f64) * self.pace < WORTHWHILE.as_nanos() as f64 {
            return None;
        }
        let at = depth + gap;
        let needed: Vec<u32> = from.iter().map(|&i| self.all[i].slot).collect();
        self.slot(&needed).map(|slot| Freeze { at, slot })
    }

    fn known(&mut self, job: &Job) -> &mut Known {
        let index = match self.known.iter().position(|known| known.kind.is_of(job)) {
            Some(index) => index,
            None => {
                if self.known.len() == KINDS {
                    let forgotten = self.known.remove(0);
                    self.all.retain(|snapshot| snapshot.kind != forgotten.kind);
                }
                self.known.push(Known {
                    kind: Kind::of(job),
                    runs: 0,
                    settled: false,
                    fit: true,
                });
                self.known.len() - 1
            }
        };
        &mut self.known[index]
    }

    /// A number for a new copy; the one that was used least recently may have to go, but none of
    /// `needed`.
    fn slot(&mut self, needed: &[u32]) -> Option<u32> {
        let free = (0..freeze::COPIES as u32)
            .find(|slot| self.all.iter().all(|snapshot| snapshot.slot != *slot));
        if free.is_some() {
            return free;
        }
        let others = self.all.iter().enumerate();
        let (oldest, _) = others
            .filter(|(_, snapshot)| !needed.contains(&snapshot.slot))
            .min_by_key(|(_, snapshot)| snapshot.used)?;
        Some(self.all.swap_remove(oldest).slot)
    }

    /// The copy from which most of `job` is done.
    pub fn find(&mut self, job: &Job) -> Option<usize> {
        if job.flags & FROM_THE_START != 0 {
            return None;
        }
        let serving = (0..self.all.len()).filter(|&i| self.all[i].serves(job));
        let best = serving.max_by_key(|&i| self.all[i].depth())?;
        self.uses += 1;
        self.all[best].used = self.uses;
        Some(best)
    }

    /// What the copy did before.
    pub fn head(&self, index: usize) -> &Records {
        &self.all[index].head
    }

    /// Ends a copy.
    pub fn remove(&mut self, index: usize) {
        self.all.swap_remove(index);
    }

    /// The execution of `job` has become a copy. `state`: what it says of itself.
    pub fn add(&mut self, job: &Job, made: Freeze, state: u32, process: Execution, head: Records) {
        self.uses += 1;
        self.all.push(Snapshot {
            kind: Kind::of(job),
            process,
            slot: made.slot,
            first: made.at == freeze::FIRST_CHOICE,
            constraints: state == freeze::FROZEN,
            head,
            used: self.uses,
            rewound: None,
            rewinding: 0,
            rewinds: 0,
        });
    }

    /// Is an execution that starts from the copy to be put back at its end? Making a clone ready for
    /// that costs more than one execution saves.
    pub fn pays(&self, index: usize) -> bool {
        let copy = &self.all[index];
        let paid = copy.rewinds / REWINDS >= copy.rewinding;
        copy.rewound.is_some() || copy.rewinding < TRIALS || paid
    }

    /// Starts the clone of the copy that was put back; `None`: there is none. The job must lie in
    /// the pages.
    pub fn again(&mut self, index: usize, pages: &Pages) -> Option<Execution> {
        let copy = &mut self.all[index];
        let execution = copy.rewound.take()?;
        pages.again(copy.slot);
        Some(execution)
    }

    /// A clone of the copy is made, which is to be put back.
    pub fn rewinding(&mut self, index: usize) {
        self.all[index].rewinding += 1;
    }

    /// A clone of the copy was put back.
    pub fn rewound(&mut self, index: usize, execution: Execution) {
        let copy = &mut self.all[index];
        copy.rewinds = copy.rewinds.saturating_add(1);
        copy.rewound = Some(execution);
        self.rewinds += 1;
    }

    /// The execution of `job` should have become a copy and did not.
    pub fn refused(&mut self, job: &Job, state: u32) {
        if state == freeze::REFUSED {
            self.known(job).fit = false;
        }
    }

    /// Has a copy cloned; the clone's pid, or minus an errno. The job must lie in the pages.
    pub fn thaw(
        &self,
        index: usize,
        pages: &Pages,
        notify: &EventFd,
        stop: &StopFlag,
        patience: Duration,
    ) -> Result<i32, RunError> {
        let snapshot = &self.all[index];
        let os = |source: io::Error| RunError::Os {
            action: "wait for a copy of the program",
            source,
        };
        pages.thaw(snapshot.slot);
        let deadline = Instant::now() + patience;
        loop {
            let answer = pages.thawed();
            if answer != 0 {
                return Ok(answer);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let fds = [notify.as_fd(), snapshot.process.process(), stop.as_fd()];
            let [asked, ended, stopped] = sys::poll_in(fds, Some(left)).map_err(os)?;
            if stopped {
                return Err(RunError::Stopped);
            }
            if ended || left.is_zero() {
                return Err(RunError::ServerSilent);
            }
            if asked {
                // The value says nothing; reading makes it unreadable again.
                let _ = notify.read();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn t(thread: u16, count: u16) -> Step {
        Step::thread(thread, count)
    }

    #[test]
    fn a_prefix_has_to_repeat_what_the_copy_did() {
        let head = [t(0, 3), Step::choice(1)];
        let table: [(&[Step], bool, bool); 7] = [
            (&[], true, false),
            (&[t(0, 2)], true, false),
            (&[t(0, 3), Step::choice(1)], true, true),
            (&[t(0, 1), t(0, 2), Step::choice(1), t(5, 1)], true, true),
            (&[t(0, 4)], false, false),
            (&[t(1, 1)], false, false),
            (&[t(0, 3), Step::choice(0)], false, false),
        ];
        for (prefix, forced, chosen) in table {
            assert_eq!(begins_with(prefix, &head, true), forced, "{prefix:?}");
            assert_eq!(begins_with(prefix, &head, false), chosen, "{prefix:?}");
        }
    }

    #[test]
    fn copies_are_wished_where_they_pay() {
        let mut snapshots = Snapshots::default();
        let job = Job::new(Tail::Random { seed: 1 });
        let wishes: Vec<bool> = (0..5).map(|_| snapshots.wish(&job).is_some()).collect();
        assert_eq!(wishes, [false, false, true, false, false]);
        let symbolic = Job {
            flags: flags::SYMBOLIC,
            ..job.clone()
        };
        assert!((0..5).all(|_| snapshots.wish(&symbolic).is_none()));
        let deep = Job {
            prefix: vec![t(0, 1000)],
            ..Job::new(Tail::RunUntilBlocked)
        };
        assert_eq!(snapshots.wish(&deep), None, "steps take no time");
        snapshots.took(1, Duration::from_millis(1));
        let half = snapshots.wish(&deep).map(|freeze| freeze.at);
        assert_eq!(half, Some(500));
        snapshots.refused(&deep, freeze::REFUSED);
        assert_eq!(snapshots.wish(&deep), None);
    }

    #[test]
    fn clones_are_put_back_while_that_pays() {
        let process = || {
            let child = std::process::Command::new("sleep").arg("600").spawn();
            Execution::new(child.expect("sleep starts").id() as i32).expect("it is there")
        };
        let mut snapshots = Snapshots::default();
        let job = Job::new(Tail::Random { seed: 1 });
        let made = Freeze {
            at: freeze::FIRST_CHOICE,
            slot: 0,
        };
        snapshots.add(&job, made, freeze::FROZEN, process(), Records::default());
        for _ in 0..TRIALS {
            assert!(snapshots.pays(0));
            snapshots.rewinding(0);
        }
        assert!(!snapshots.pays(0), "none was put back");
        snapshots.rewound(0, process());
        assert!(snapshots.pays(0), "one waits");
        for _ in 1..TRIALS * REWINDS {
            snapshots.all[0].rewound = None;
            assert!(!snapshots.pays(0));
            snapshots.rewound(0, process());
        }
        snapshots.all[0].rewound = None;
        assert!(snapshots.pays(0), "they were put back often enough");
        assert_eq!(snapshots.rewinds(), u64::from(TRIALS * REWINDS));
    }
}
