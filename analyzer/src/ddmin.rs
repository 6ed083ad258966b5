//! Which preemptions does a failure need? Delta debugging (Zeller, Hildebrandt: Simplifying and
//! Isolating Failure-Inducing Input, TSE 2002, section 3) over the preemptions of a schedule, as Choi
//! and Zeller do it with thread switches (Isolating Failure-Inducing Thread Schedules, ISSTA 2002).

use crate::bounds::Point;
use raddle_protocol::Slot;
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::{CHOICE_BIT, Step};
use std::collections::{HashMap, HashSet, VecDeque};

/// Search for a schedule with the same failure and fewer preemptions, in large pieces first: of `n`
/// preemptions of which few matter, about as many candidates are needed as those few times the
/// logarithm of `n`.
///
/// A schedule is a list of stretches: what one thread did until another one went on. A candidate
/// leaves out a part of the preemptions, in one of several [ways](Way). Switches from threads that had
/// to wait stay. Candidates are for *tolerant* runs with the tail `RunUntilBlocked`, with records of
/// who was enabled ([`RECORDS`]).
///
/// [`RECORDS`]: crate::fewer::RECORDS
#[derive(Debug)]
pub struct Ddmin {
    stretches: Vec<Stretch>,
    /// The stretches that a preemption ended.
    preempted: Vec<usize>,
    /// Which of these are left out next.
    part: Part,
    way: Way,
    /// This round over all preemptions, one at a time, has found something.
    gained: bool,
    /// Orders of these stretches that were candidates.
    tried: HashSet<Vec<usize>>,
}

/// A part of the preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Those of one thread: the how-many-th in the order of the slots.
    Thread(usize),
    /// So many from this one on.
    Piece { at: usize, size: usize },
}

/// How preemptions are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From the first one to the last one each thread does what it did there without interruption, in
    /// the order in which the threads came first. Behind that all are as far as they were.
    Grouped,
    /// The same in the order in which they came last.
    GroupedByLast,
    /// The thread goes on with its next stretch at once.
    Forward,
    /// The stretch waits for the next one of its thread.
    Backward,
}

#[derive(Debug)]
struct Stretch {
    thread: Slot,
    steps: Vec<u16>,
    preempted: bool,
}

impl Ddmin {
    /// Starts from the decisions of a failing execution.
    pub fn new(points: &[Point]) -> Ddmin {
        let mut search = Ddmin {
            stretches: Vec::new(),
            preempted: Vec::new(),
            part: Part::Thread(0),
            way: Way::Forward,
            gained: false,
            tried: HashSet::new(),
        };
        search.learn(points);
        search
    }

    fn learn(&mut self, points: &[Point]) {
        self.stretches.clear();
        self.tried.clear();
        for point in points {
            let is_choice = point.taken & CHOICE_BIT != 0;
            match self.stretches.last_mut() {
                Some(last) if is_choice || last.thread == point.taken => {
                    last.steps.push(point.taken);
                    continue;
                }
                Some(last) => last.preempted = point.preempts(),
                None => {}
            }
            self.stretches.push(Stretch {
                thread: point.taken,
                steps: vec![point.taken],
                preempted: false,
            });
        }
        let ends = self.stretches.iter().enumerate();
        let ends = ends.filter(|(_, stretch)| stretch.preempted);
        self.preempted = ends.map(|(i, _)| i).collect();
    }

    /// Preemptions that are left.
    pub fn preemptions(&self) -> usize {
        self.preempted.len()
    }

    /// The next candidate; `None` when leaving out any one preemption makes the failure go away.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Vec<Step>> {
        let order = loop {
            let left_out = self.left_out()?;
            let order = match self.way {
                Way::Grouped => self.grouped(&left_out, false),
                Way::GroupedByLast => self.grouped(&left_out, true),
                Way::Forward => self.joined_forward(&left_out),
                Way::Backward => self.joined_backward(&left_out),
            };
            if !order.is_sorted() && self.tried.insert(order.clone()) {
                break order;
            }
            self.observe(None);
        };
        let mut steps = Vec::new();
        let all = order.iter().flat_map(|&i| &self.stretches[i].steps);
        all.for_each(|&what| push_step(&mut steps, what));
        Some(steps)
    }

    /// What came of the last candidate: the decisions of its execution if it failed in the same way,
    /// and with fewer preemptions.
    pub fn observe(&mut self, better: Option<&[Point]>) {
        if let Some(points) = better {
            // What follows those that were left out is looked at next.
            self.learn(points);
            self.gained = true;
        }
        self.way = match (better, self.way, self.part) {
            (None, Way::Grouped, _) => Way::GroupedByLast,
            (None, Way::GroupedByLast, _) => Way::Forward,
            (None, Way::Forward, _) => Way::Backward,
            (None, Way::Backward, Part::Thread(n)) => {
                self.part = Part::Thread(n + 1);
                Way::Forward
            }
            (None, Way::Backward, Part::Piece { at, size }) => {
                self.part = Part::Piece {
                    at: at + size,
                    size,
                };
                Way::Grouped
            }
            (Some(_), _, Part::Thread(n)) => {
                self.part = Part::Thread(n + 1);
                Way::Forward
            }
            (Some(_), _, Part::Piece { .. }) => Way::Grouped,
        };
    }

    /// The preemptions of the next part that has any.
    fn left_out(&mut self) -> Option<Vec<usize>> {
        loop {
            let n = self.preempted.len();
            match self.part {
                _ if n == 0 => return None,
                Part::Thread(place) => {
                    let mut threads: Vec<Slot> = self.threads();
                    threads.sort_unstable();
                    threads.dedup();
                    let Some(&thread) = threads.get(place) else {
                        self.part = Part::Piece { at: 0, size: n };
                        self.way = Way::Grouped;
                        continue;
                    };
                    let own = |&&i: &&usize| self.stretches[i].thread == thread;
                    return Some(self.preempted.iter().filter(own).copied().collect());
                }
                Part::Piece { at, size } if at < n => {
                    return Some(self.preempted[at..n.min(at + size)].to_vec());
                }
                Part::Piece { size, .. } => {
                    let size = match size.min(n) {
                        1 if self.gained => 1,
                        size => size / 2,
                    };
                    if size == 0 {
                        return None;
                    }
                    self.gained = false;
                    self.part = Part::Piece { at: 0, size };
                }
            }
        }
    }

    /// Whom each preemption interrupted.
    fn threads(&self) -> Vec<Slot> {
        let interrupted = |&i: &usize| self.stretches[i].thread;
        self.preempted.iter().map(interrupted).collect()
    }

    /// [`Way::Grouped`] and [`Way::GroupedByLast`].
    fn grouped(&self, left_out: &[usize], by_last: bool) -> Vec<usize> {
        let n = self.stretches.len();
        let first = left_out.first().map_or(n, |&i| i);
        let end = left_out.last().map_or(n, |&last| match left_out.len() {
            // Up to where the thread goes on again.
            1 => (last + 1..n)
                .find(|&i| self.stretches[i].thread == self.stretches[last].thread)
                .map_or(n, |next| next + 1),
            _ => n.min(last + 2),
        });
        let mut place: HashMap<Slot, usize> = HashMap::new();
        for (i, stretch) in self.stretches[first..end].iter().enumerate() {
            let known = place.entry(stretch.thread).or_insert(i);
            if by_last {
                *known = i;
            }
        }
        let mut within: Vec<usize> = (first..end).collect();
        within.sort_by_key(|&i| place[&self.stretches[i].thread]);
        (0..first).chain(within).chain(end..n).collect()
    }

    /// The order in which a thread goes on where its preemption is left out.
    fn joined_forward(&self, left_out: &[usize]) -> Vec<usize> {
        let stays = |i: usize| !self.stretches[i].preempted || left_out.binary_search(&i).is_err();
        let forward: Vec<usize> = (0..self.stretches.len()).collect();
        self.joined(&forward, |i, _| stays(i))
    }

    /// The order in which a stretch waits for the next one of its thread where the preemption between
    /// them is left out: the same, seen from the end.
    fn joined_backward(&self, left_out: &[usize]) -> Vec<usize> {
        let stays = |i: usize| !self.stretches[i].preempted || left_out.binary_search(&i).is_err();
        let backward: Vec<usize> = (0..self.stretches.len()).rev().collect();
        let mut order = self.joined(&backward, |_, next| next.is_none_or(stays));
        order.reverse();
        order
    }

    /// Goes through the stretches in `direction`; behind a stretch at which a switch stays comes the
    /// thread that did then, otherwise the same thread. `stays` gets the stretch and the next one of
    /// its thread.
    fn joined(
        &self,
        direction: &[usize],
        stays: impl Fn(usize, Option<usize>) -> bool,
    ) -> Vec<usize> {
        let mut left: HashMap<Slot, VecDeque<usize>> = HashMap::new();
        for (place, &i) in direction.iter().enumerate() {
            let own = left.entry(self.stretches[i].thread).or_default();
            own.push_back(place);
        }
        let mut used = vec![false; direction.len()];
        let mut first_left = 0;
        let mut order = Vec::with_capacity(direction.len());
        let mut wanted = None;
        loop {
            let own = wanted.and_then(|thread| left.get_mut(&thread)?.pop_front());
            let place = match own {
                Some(place) => place,
                None => {
                    while used.get(first_left) == Some(&true) {
                        first_left += 1;
                    }
                    let Some(&i) = direction.get(first_left) else {
                        return order;
                    };
                    left.get_mut(&self.stretches[i].thread)
                        .and_then(VecDeque::pop_front)
                        .unwrap_or(first_left)
                }
            };
            used[place] = true;
            let i = direction[place];
            order.push(i);
            let thread = self.stretches[i].thread;
            let next_own = left.get(&thread).and_then(VecDeque::front);
            let next_own = next_own.map(|&place| direction[place]);
            wanted = match stays(i, next_own) {
                true => direction.get(place + 1).map(|&i| self.stretches[i].thread),
                false => Some(thread),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decisions of a schedule of which each letter is a step of a thread; at a capital one the
    /// thread before was interrupted.
    fn decisions(schedule: &str) -> Vec<Point> {
        let thread = |letter: u8| u16::from(letter.to_ascii_lowercase() - b'a');
        let mut running = 0;
        let decide = |letter: u8| {
            let taken = thread(letter);
            let point = Point {
                taken,
                all: Vec::new(),
                running,
                running_goes_on: letter.is_ascii_uppercase(),
            };
            running = taken;
            point
        };
        schedule.bytes().map(decide).collect()
    }

    fn text(steps: &[Step]) -> String {
        let letters = steps
            .iter()
            .map(|s| ((b'a' + s.what as u8) as char, s.count));
        letters
            .flat_map(|(letter, n)| std::iter::repeat_n(letter, n.into()))
            .collect()
    }

    #[test]
    fn candidates() {
        // Schedule; all its candidates where none fails.
        let table: [(&str, &[&str]); 5] = [
            ("aab", &[]),
            ("abab", &[]),
            ("aBa", &["aab", "baa"]),
            // The switch from b to c is no preemption, and c does not go on.
            ("aBcAb", &["aabcb", "bcaab"]),
            (
                "aBABab",
                &[
                    "aaabbb", "bbaaab", "abbaba", "aabbab", "baabab", "aababb", "abbaab", "abaabb",
                    "babaab",
                ],
            ),
        ];
        for (schedule, expected) in table {
            let mut search = Ddmin::new(&decisions(schedule));
            let mut found = Vec::new();
            while let Some(candidate) = search.next() {
                found.push(text(&candidate));
                search.observe(None);
            }
            assert_eq!(found, expected, "{schedule}");
            let sorted = |text: &str| {
                let mut letters: Vec<u8> = text.bytes().collect();
                letters.sort_unstable();
                letters
            };
            for candidate in &found {
                let plain = schedule.to_lowercase();
                assert_eq!(sorted(candidate), sorted(&plain), "{schedule}");
            }
        }
    }

    /// A failure that needs a few of many preemptions: those are left, after few candidates.
    #[test]
    fn few_of_many() {
        const ROUNDS: usize = 256;
        // Thread b is interrupted behind these of its steps.
        let needed = [37, 200];
        let fails = |schedule: &str| {
            let places: Vec<usize> = schedule.match_indices('b').map(|(at, _)| at).collect();
            needed.iter().all(|&k| places[k] + 1 < places[k + 1])
        };
        let interrupted = |plain: &str| {
            let mut before = None;
            let mut marked = String::new();
            for letter in plain.chars() {
                let switches = before.is_some_and(|b| b != letter);
                // A thread that has taken all its steps was not interrupted.
                let over = before.is_some_and(|b| {
                    marked.to_lowercase().matches(b).count() == plain.matches(b).count()
                });
                marked.push(match switches && !over {
                    true => letter.to_ascii_uppercase(),
                    false => letter,
                });
                before = Some(letter);
            }
            marked
        };
        let start = "ba".repeat(ROUNDS);
        assert!(fails(&start));
        let mut search = Ddmin::new(&decisions(&interrupted(&start)));
        let (mut candidates, mut best) = (0, search.preemptions());
        assert_eq!(best, 2 * ROUNDS - 2);
        while let Some(candidate) = search.next() {
            candidates += 1;
            let points = decisions(&interrupted(&text(&candidate)));
            let preemptions = points.iter().filter(|p| p.preempts()).count();
            let better = fails(&text(&candidate)) && preemptions < best;
            if better {
                best = preemptions;
            }
            search.observe(better.then_some(&points));
        }
        assert!(best <= 3, "{best} are left");
        assert!(candidates < 150, "{candidates} candidates");
    }
}
